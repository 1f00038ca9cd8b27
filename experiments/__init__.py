"""The paper's experiment: its printed tables and claims, compared with a run of `frri.compare`.

This folder is part of the repository, not of the installed package. `python -m experiments` runs it from
a checkout; `python -m experiments --docs FILE` writes the page of the reproduction.
"""

from experiments.printed import LEARNERS, find_misprints
from experiments.reproduction import reproduction_page

__all__ = ["LEARNERS", "find_misprints", "reproduction_page"]

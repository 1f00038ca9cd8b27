"""The paper's experiment: what it printed, what it claims, and both next to a run of `frri.compare`.

This folder belongs to the repository and not to the installed package. `python -m experiments` runs it from
a checkout; `python -m experiments --docs FILE` writes the page of the reproduction.
"""

from experiments.printed import LEARNERS, slips
from experiments.reproduction import reproduction_page

__all__ = ["LEARNERS", "reproduction_page", "slips"]

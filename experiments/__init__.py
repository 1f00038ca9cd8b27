"""The paper's experiment: what it printed, what it claims, and both next to a run of `frri.compare`.

This folder belongs to the repository and not to the installed package. `frri bench --paper` finds it
from a checkout, and runs with it; `frri bench --paper --docs FILE` writes the page of the reproduction.
"""

from experiments.printed import LEARNERS, slips
from experiments.reproduction import reproduction_page

__all__ = ["LEARNERS", "reproduction_page", "slips"]

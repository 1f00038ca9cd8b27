"""What a search for a minimum cover found, and what is proved about it."""

from dataclasses import dataclass
from typing import Literal

from frri._util import Ints

Status = Literal["optimal", "feasible"]


@dataclass(frozen=True)
class Cover:
    """A complete cover and what is proved about it.

    Attributes
    ----------
    selected : ndarray of int64
        The chosen candidates, ascending.
    status : "optimal" or "feasible"
        Optimal only if no cover has fewer candidates, proved.
    lower_bound : int
        Proved: every cover has at least so many candidates.
    cost : int
        Total cost of the chosen candidates.
    cost_status : "optimal" or "feasible"
        Optimal only if no cover of as few candidates costs less, proved.
    settled : bool
        Whether `selected` is the first in order of all covers optimal in number and cost, made of
        undominated candidates: the one answer every solver has to give.
    stopped_by : None, "effort", "time", "gap", "memory" or "interrupt"
        What ended the search before everything was proved.
    solver : str
    nodes, pivots, steps : int
        Work done: nodes of the search tree, simplex pivots, steps of local search.
    effort : int
        Work done, in the units of the limit.
    seconds : float
    """

    selected: Ints
    status: Status
    lower_bound: int
    cost: int
    cost_status: Status
    settled: bool
    stopped_by: str | None
    solver: str
    nodes: int
    pivots: int
    steps: int
    effort: int
    seconds: float

    def __len__(self) -> int:
        return len(self.selected)

    @property
    def gap(self) -> float:
        """The share of the candidates chosen that is not proved necessary."""
        n = len(self.selected)
        return 0.0 if n == 0 else (n - self.lower_bound) / n

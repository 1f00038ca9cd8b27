"""Solve a problem whose pairs fit into lists: forced candidates, components, three objectives."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from frri._util import Flags, Ints
from frri.cover.budget import Exhausted, Work
from frri.cover.component import Component
from frri.cover.highs import HighsComponent
from frri.cover.matrix import CoverLists, greedy_cover
from frri.cover.reduce import LARGEST_DENSE, components, forced

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
        Proven lower bound of the number of candidates of any cover.
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


@dataclass(frozen=True, eq=False)
class CoverOutcome:
    """A complete cover, ascending, and what is proved about it."""

    selected: Ints
    lower_bound: int
    cost_proved: bool
    settled: bool


class Problem:
    """Forced candidates, connected parts, and how far each of them has come.

    Parameters
    ----------
    matrix : sparse matrix, candidates x objects
    costs : ndarray of int64
    tie_break : bool
        Whether the second and third objective are asked for.
    judged : bool
        Whether dominated candidates are gone already.
    """

    def __init__(
        self, matrix: sparse.csr_array, costs: Ints, *, tie_break: bool, judged: bool = False
    ) -> None:
        self.matrix = matrix
        self.tie_break = tie_break
        self.judged = judged
        # Without the second objective, dominance need not respect costs.
        self.costs = costs if tie_break else np.zeros_like(costs)
        self.coverable = np.bincount(matrix.indices, minlength=matrix.shape[1]) > 0
        self.forced = np.flatnonzero(forced(matrix))
        self.parts: list[Component | HighsComponent] = []
        self.split_up = False

    def run(self, work: Work, solver: str = "branching") -> None:
        """Go through the objectives; on `Exhausted`, `outcome` is as good as it got."""
        if solver == "highs":
            self.hand_over(work)
        else:
            self.split(work)
            self.search(work)

    def split(self, work: Work) -> None:
        """Divide what the forced candidates leave into connected parts."""
        done = self._covered_by(self.forced)
        matrix = self.matrix[:, np.flatnonzero(self.coverable & ~done)]
        objects_left = np.flatnonzero(self.coverable & ~done)
        for candidates, objects in components(matrix):
            work.check_time()
            rows = self.matrix[candidates]
            columns = np.unique(rows.indices)
            whole = rows[:, columns]
            if whole.shape[0] * whole.shape[1] <= LARGEST_DENSE:
                whole = whole.toarray() > 0
            left = np.searchsorted(columns, objects_left[objects])
            costs = self.costs[candidates]
            part = Component(
                candidates, whole, left, costs, work, tie_break=self.tie_break, judged=self.judged
            )
            self.parts.append(part)
        self.split_up = True

    def hand_over(self, work: Work) -> None:
        """Leave everything to the general solver, as one part."""
        part = HighsComponent(self.matrix, self.costs, work)
        self.parts, self.forced, self.split_up = [part], self.forced[:0], True
        part.run(tie_break=self.tie_break)

    def search(self, work: Work) -> None:
        """Take all parts through one objective before any goes on to the next."""
        stages = [(Component.minimise_count, 2 / 3)]
        if self.tie_break:
            stages += [(Component.minimise_cost, 2 / 3), (Component.settle, 1.0)]
        for stage, share in stages:
            parts = [part for part in self.parts if isinstance(part, Component)]
            for part in parts:
                work.allow(share if part is parts[-1] else share / 2)
                try:
                    stage(part, work)
                except Exhausted:
                    if work.stopped_by != "effort":
                        raise

    def outcome(self) -> CoverOutcome:
        """Return what is known, completed where the search was stopped before it had a cover."""
        chosen = [self.forced, *(part.cover for part in self.parts)]
        selected = np.sort(np.concatenate(chosen)).astype(np.int64)
        missing = self.coverable & ~self._covered_by(selected)
        if missing.any():  # stopped before every part had a cover
            more = greedy_cover(CoverLists.of(self.matrix), self.costs, missing)
            selected = np.sort(np.concatenate((selected, more)))
        bound = len(self.forced) + sum(len(p.taken) + p.lower_bound for p in self.parts)
        judged = self.tie_break and bound == len(selected) and self.split_up
        cost_proved = judged and all(part.cost_proved for part in self.parts)
        settled = cost_proved and all(part.settled for part in self.parts)
        return CoverOutcome(selected, bound, cost_proved, settled)

    def _covered_by(self, candidates: Ints) -> Flags:
        covered = np.zeros(self.matrix.shape[1], dtype=bool)
        covered[self.matrix[candidates].indices] = True
        return covered

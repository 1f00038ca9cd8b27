"""Solve a problem whose pairs fit into lists, for three objectives in turn.

1. The fewest candidates: all reductions, a greedy cover, local search, branch and bound.
2. Among those the smallest total cost: the same with the number of candidates given.
3. Among those the first in order: a dive along the candidates that tests, one by one, whether an
   optimal cover contains it.

For each objective the problem is reduced and divided into connected components. Only undominated
candidates take part from the second objective on, so that the answer is a property of the problem
and not of the way it was found.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from frri._util import Ints
from frri.cover.bounds import subgradient_bound
from frri.cover.branch_and_bound import BranchAndBound
from frri.cover.budget import Work
from frri.cover.local_search import LocalSearch
from frri.cover.matrix import CoverLists, CoverMatrix, greedy_cover
from frri.cover.reduce import components, reduce, undominated

if TYPE_CHECKING:
    from collections.abc import Callable

Status = Literal["optimal", "feasible"]

# Cells up to which a component is solved by branch and bound.
LARGEST_TABLEAU = 1_200_000


@dataclass(frozen=True)
class Cover:
    """A complete cover and what is proven about it.

    Attributes
    ----------
    selected : ndarray of int64
        The chosen candidates, ascending.
    status : "optimal" or "feasible"
        Optimal only if it is proven that no cover has fewer candidates.
    lower_bound : int
        Proven lower bound of the number of candidates of any cover.
    cost : int
        Total cost of the chosen candidates.
    cost_status : "optimal" or "feasible"
        Optimal only if it is proven that no cover of that size costs less.
    settled : bool
        Whether `selected` is the first in order of all covers optimal in number and cost, made of
        undominated candidates: the same answer from every solver.
    stopped_by : None, "effort", "time", "gap", "memory" or "interrupt"
        Limit that ended the search before everything was proven.
    solver : str
    nodes, pivots, steps : int
        Nodes of the search tree, simplex pivots, steps of local search.
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
        """Fraction of the chosen candidates that is not proven necessary."""
        n = len(self.selected)
        return 0.0 if n == 0 else (n - self.lower_bound) / n


class Problem:
    """A whole problem, its components, and the best cover known.

    Parameters
    ----------
    matrix : sparse matrix, candidates x objects
    costs : ndarray of int64
    tie_break : bool
        Whether the second and third objective matter.
    has_dominated : bool
        Whether candidates may be dominated.

    Attributes
    ----------
    lower_bound : int
        Proven lower bound on the number of candidates.
    """

    def __init__(
        self, matrix: sparse.csr_array, costs: Ints, *, tie_break: bool, has_dominated: bool = True
    ) -> None:
        coverable = np.bincount(matrix.indices, minlength=matrix.shape[1]) > 0
        self.matrix = matrix[:, np.flatnonzero(coverable)]
        self.tie_break, self.has_dominated = tie_break, has_dominated
        # Without the second objective, dominance need not respect costs.
        self.costs = costs if tie_break else np.zeros_like(costs)
        self.lower_bound = int(coverable.any())
        self.stage = 0
        self._division: tuple[Ints, list[Component]] = costs[:0], []

    @property
    def cover(self) -> Ints:
        """The best complete cover known, ascending."""
        if not self.stage:  # stopped before there was any
            return greedy_cover(CoverMatrix.from_sparse(self.matrix), self.costs, Work(0, None))
        taken, parts = self._division
        return np.sort(np.concatenate([taken, *(part.ids[part.inside] for part in parts)]))

    @property
    def cost_proved(self) -> bool:
        """Whether no cover of the minimum size costs less."""
        parts = self._division[1]
        if self.stage == 2:
            return all(part.proved for part in parts)
        return self.stage == 3 and all(part.ready for part in parts)

    @property
    def settled(self) -> bool:
        """Whether all three objectives are proven."""
        return self.stage == 3 and all(part.proved for part in self._division[1])

    def run(self, work: Work) -> None:
        """Solve for all objectives; on `Exhausted`, the results are as good as they got."""
        ids = np.arange(self.matrix.shape[0])
        if self.tie_break and self.has_dominated:
            ids = np.flatnonzero(undominated(self.matrix, self.costs, work))
        # Any minimum cover will do at first; all of them are wanted to break ties.
        self._divide(ids, work, keep_all=False)
        try:
            self._solve_parts(Component.minimize_count, 2 / 3, work)
        finally:
            taken, parts = self._division
            self.lower_bound = len(taken) + sum(part.lower_bound for part in parts)
        if not self.tie_break:
            return
        self._divide(ids, work)
        self._solve_parts(Component.minimize_cost, 2 / 3, work)
        taken, parts = self._division
        self._divide(np.sort(np.concatenate([taken, *(part.optimal for part in parts)])), work)
        self._solve_parts(Component.find_first, 1.0, work)

    def _divide(self, ids: Ints, work: Work, *, keep_all: bool = True) -> None:
        """Reduce the problem of some candidates and divide it into connected components."""
        matrix = self.matrix[ids]
        costs = None if keep_all else np.zeros(len(ids), dtype=np.int64)
        taken, candidates, objects = reduce(matrix, costs, work)
        matrix, ids, taken = matrix[candidates][:, objects], ids[candidates], ids[taken]
        chosen, unproved = np.zeros((2, self.matrix.shape[0]), dtype=bool)
        if self.stage:
            chosen[self.cover] = True
            for part in self._division[1]:
                unproved[part.ids] = not part.proved
        parts = []
        for rows, columns in components(matrix):
            work.check_time()
            own, relation = ids[rows], matrix[rows][:, columns]
            part = Component(own, relation, self.costs[own], ready=not unproved[own].any())
            part.inside = (
                np.flatnonzero(chosen[own])
                if self.stage
                else greedy_cover(CoverMatrix.from_sparse(relation), part.costs, work)
            )
            parts.append(part)
        self._division = taken, parts
        self.stage += 1

    def _solve_parts(
        self, solve: "Callable[[Component, Work], None]", fraction: float, work: Work
    ) -> None:
        """Solve all components for one objective, each with a fraction of the remaining work."""
        parts = [part for part in self._division[1] if part.ready]
        for part in parts:
            with work.portion(work.left * (fraction if part is parts[-1] else fraction / 2)):
                solve(part, work)


class Component:
    """Connected candidates and objects, and the best cover known.

    Parameters
    ----------
    ids : ndarray of int64
        The candidates, ascending, as the problem numbers them.
    matrix : sparse matrix, candidates x objects
    costs : ndarray of int64
    ready : bool
        Whether the earlier objectives are proven.

    Attributes
    ----------
    inside : ndarray of int64
        The best cover known, ascending.
    lower_bound : int
        Proven bound on its size.
    proved : bool
        Whether the objective that was solved for last is proven.
    optimal : ndarray of int64
        The candidates that may occur in optimal covers, as the problem numbers them.
    """

    def __init__(self, ids: Ints, matrix: sparse.csr_array, costs: Ints, *, ready: bool) -> None:
        self.ids, self.matrix, self.costs, self.ready = ids, matrix, costs, ready
        self.inside = np.arange(len(ids))
        self.optimal = ids
        self.lower_bound = 1
        self.proved = False

    def minimize_count(self, work: Work) -> None:
        """Solve for the first objective."""
        matrix, costs, start = self.matrix, self.costs, self.inside
        taken, candidates = np.zeros(0, dtype=np.int64), np.arange(len(self.ids))
        if not _has_tableau(matrix):
            taken, candidates, matrix = self._shrink(work)
            if self.proved or not _has_tableau(matrix):
                return
            costs = self.costs[candidates]
            start = greedy_cover(CoverMatrix.from_sparse(matrix), costs, work)
        lists, ones = CoverLists.of(matrix), np.ones(len(candidates), dtype=np.int64)
        search = BranchAndBound(lists, ones, len(self.inside) - len(taken), work)
        try:
            root = search.start()
            proved = 0 if root.closed else math.ceil(root.bound)
            if not root.closed:
                local = LocalSearch(lists, costs, start)
                local.run(proved, work, 200 + 10 * sum(matrix.shape))
                self._improve(np.concatenate((taken, candidates[local.cover()])))
                search.upper = len(self.inside) - len(taken)
            if not work.near_enough(len(self.inside), len(taken) + proved):
                search.finish(root)
        finally:
            if search.best is not None:
                self._improve(np.concatenate((taken, candidates[search.best])))
            bound = min(search.lower_bound(), search.upper)
            self._raise_bound(len(taken) + math.ceil(bound))

    def minimize_cost(self, work: Work) -> None:
        """Solve for the second objective, among covers of the proven size."""
        if len(np.unique(self.costs)) == 1:
            self.proved = True
            return
        if not _has_tableau(self.matrix):
            return
        lists, upper = CoverLists.of(self.matrix), int(self.costs[self.inside].sum())
        ties = np.zeros(len(self.ids), dtype=bool)
        ties[self.inside] = True
        search = BranchAndBound(lists, self.costs, upper, work, len(self.inside), ties)
        try:
            root = search.start()
            if not root.closed:
                local = LocalSearch(lists, self.costs, self.inside, hold=True)
                local.run(math.ceil(root.bound), work, 200 + 5 * sum(self.matrix.shape))
                search.offer(local.cover())
            search.finish(root)
            self.proved = True
        finally:
            if search.best is not None:
                self._improve(search.best)
        if search.support is not None:
            self.optimal = self.ids[search.support]

    def find_first(self, work: Work) -> None:
        """Solve for the third objective, among covers of the proven size and cost."""
        if not _has_tableau(self.matrix):
            return
        uniform = len(np.unique(self.costs)) == 1
        costs = np.ones_like(self.costs) if uniform else self.costs
        upper, size = int(costs[self.inside].sum()) + 1, None if uniform else len(self.inside)
        search = BranchAndBound(CoverLists.of(self.matrix), costs, upper, work, size)
        self.inside = search.first_in_order(self.inside)
        self.proved = True

    def _shrink(self, work: Work) -> tuple[Ints, Ints, sparse.csr_array]:
        """Search and bound without a tableau; return what neither excludes.

        Returns
        -------
        taken, candidates : ndarray of int64
            Candidates of all smaller covers, and those that remain.
        matrix : sparse matrix
            Of the remaining candidates and objects.
        """
        relaxed = subgradient_bound(self.matrix, len(self.inside), work)
        self._raise_bound(math.ceil(min(relaxed.bound, len(self.inside))))
        local = LocalSearch(CoverLists.of(self.matrix), self.costs, self.inside)
        local.run(self.lower_bound, work, min(2_000_000, 100 * sum(self.matrix.shape)))
        self._improve(local.cover())
        self._raise_bound(self.lower_bound)
        keep = np.flatnonzero(relaxed.reduced <= len(self.inside) - 1 - relaxed.bound)
        matrix = self.matrix[keep]
        if not np.bincount(matrix.indices, minlength=matrix.shape[1]).all():
            self._raise_bound(len(self.inside))  # nothing smaller covers everything
        if self.proved:
            return keep[:0], keep, matrix
        taken, left, objects = reduce(matrix, np.zeros(len(keep), dtype=np.int64), work)
        if len(left) == 0:
            self._improve(keep[taken])
            self._raise_bound(len(self.inside))
        return keep[taken], keep[left], matrix[left][:, objects]

    def _improve(self, cover: Ints) -> None:
        """Keep a cover if it is smaller, or cheaper and not larger."""
        cover = np.sort(cover)
        ours = len(self.inside), int(self.costs[self.inside].sum())
        if (len(cover), int(self.costs[cover].sum())) < ours:
            self.inside = cover

    def _raise_bound(self, bound: int) -> None:
        self.lower_bound = max(self.lower_bound, min(bound, len(self.inside)))
        self.proved = len(self.inside) == self.lower_bound


def _has_tableau(matrix: sparse.csr_array) -> bool:
    return bool(matrix.shape[0] * matrix.shape[1] <= LARGEST_TABLEAU)

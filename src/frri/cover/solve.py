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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from frri._util import Ints
from frri.cover.bounds import subgradient_bound
from frri.cover.branch_and_bound import BranchAndBound
from frri.cover.budget import CELLS, Work
from frri.cover.local_search import LocalSearch
from frri.cover.matrix import CoverLists, CoverMatrix, greedy_cover, pairs_of
from frri.cover.reduce import components, find_forced, label_components, reduce, undominated

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
    solver : "branching"
    nodes, pivots, steps : int
        Nodes of the search tree, simplex pivots, steps of local search.
    effort : int
        Work done, in the units of the limit.
    seconds : float

    Examples
    --------
    >>> from frri import minimum_cover
    >>> cover = minimum_cover(CoverMatrix.from_dense([[1, 1, 0], [0, 1, 1], [0, 0, 1]]))
    >>> cover.selected.tolist(), cover.status, cover.lower_bound
    ([0, 1], 'optimal', 2)
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

    @classmethod
    def of(cls, problem: Any, costs: Ints, work: Work) -> "Cover":
        """Return the results of a problem after it was run."""
        selected, bound = problem.cover, problem.lower_bound
        return cls(
            selected=selected,
            status="optimal" if bound == len(selected) else "feasible",
            lower_bound=bound,
            cost=int(costs[selected].sum()),
            cost_status="optimal" if problem.cost_proved else "feasible",
            settled=problem.settled,
            stopped_by=work.stopped_by,
            solver="branching",
            nodes=work.nodes,
            pivots=work.pivots,
            steps=work.steps,
            effort=-(-work.spent // CELLS),
            seconds=work.seconds,
        )

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
    cost_proved, settled : bool
        Whether the second, and all three objectives are proven.
    """

    def __init__(
        self, matrix: sparse.csr_array, costs: Ints, *, tie_break: bool, has_dominated: bool = True
    ) -> None:
        self.matrix = matrix[:, np.flatnonzero(np.bincount(matrix.indices))]
        self.tie_break, self.has_dominated = tie_break, has_dominated
        # Without the second objective, dominance need not respect costs.
        self.costs = costs if tie_break else np.zeros_like(costs)
        self.forced = find_forced(*pairs_of(self.matrix))
        self.lower_bound = len(self.forced)
        self.cost_proved = self.settled = self.has_cover = False
        candidates, objects = (np.arange(size) for size in self.matrix.shape)
        self._division = Division(self.forced[:0], candidates, objects, [])

    @property
    def cover(self) -> Ints:
        """The best complete cover known, ascending."""
        if not self.has_cover:  # stopped before there was one
            left = self.matrix[:, self._left_by_forced()]
            more = greedy_cover(CoverMatrix.from_pairs(*pairs_of(left), left.shape), self.costs)
            self._division = self._division._replace(taken=np.concatenate((self.forced, more)))
            self.has_cover = True
        return self._division.cover

    def run(self, work: Work) -> None:
        """Solve for all objectives; on `Exhausted`, the results are as good as they got."""
        tied = self._division
        if self.tie_break and self.has_dominated:
            keep = undominated(*pairs_of(self.matrix), self.costs, work)
            tied = tied._replace(ids=np.flatnonzero(keep))
        if self.tie_break:
            tied = self._divide(tied, work)
        # Any minimum cover will do at first; to break ties, all of them are needed.
        self._division = self._divide(tied, work, keep_all=False)
        self.has_cover = True
        try:
            self._solve_parts(Component.minimize_count, 2 / 3, work)
        finally:
            bounds = [part.lower_bound for part in self._division.parts]
            self.lower_bound = len(self._division.taken) + sum(bounds)
        if not self.tie_break:
            return
        self._start_from(self._choose_covers(tied), tied)
        self.cost_proved = self._solve_parts(Component.minimize_cost, 2 / 3, work)
        ids = np.sort(np.concatenate([tied.ids[:0], *(part.optimal for part in tied.parts)]))
        self._start_from(self.cover, self._divide(tied._replace(ids=ids), work))
        self.settled = self._solve_parts(Component.find_first, 1.0, work)

    def _divide(self, division: "Division", work: Work, *, keep_all: bool = True) -> "Division":
        """Reduce the problem that a division leaves, and divide it into connected components."""
        matrix = self.matrix[division.ids][:, division.objects]
        costs = None if keep_all else np.zeros(len(division.ids), dtype=np.int64)
        forced, candidates, objects = reduce(matrix, costs, work)
        matrix, ids = matrix[candidates][:, objects], division.ids[candidates]
        parts = []
        for rows, columns in components(matrix):
            work.check_time()
            relation, prices = matrix[rows][:, columns], self.costs[ids[rows]]
            covers = CoverMatrix.from_pairs(*pairs_of(relation), relation.shape)
            parts.append(Component(ids[rows], relation, prices, greedy_cover(covers, prices)))
        taken = np.concatenate((division.taken, division.ids[forced]))
        return Division(taken, ids, division.objects[objects], parts)

    def _choose_covers(self, division: "Division") -> Ints:
        """Return the better of the known cover and that of a division, by components."""
        labels, n_labels = label_components(self.matrix[:, self._left_by_forced()])
        known, rival = self.cover, division.cover
        (size, cost), (size_of_rival, cost_of_rival) = (
            (
                np.bincount(labels[cover], minlength=n_labels),
                np.bincount(labels[cover], self.costs[cover], minlength=n_labels),
            )
            for cover in (known, rival)
        )
        keep = (size < size_of_rival) | ((size == size_of_rival) & (cost < cost_of_rival))
        # Components without remaining candidates were minimized by reduction.
        keep |= np.bincount(labels[self._division.ids], minlength=n_labels) == 0
        return np.concatenate((known[keep[labels[known]]], rival[~keep[labels[rival]]]))

    def _start_from(self, cover: Ints, division: "Division") -> None:
        """Go on to the next objective with a division and a cover."""
        chosen, unproved = np.zeros((2, self.matrix.shape[0]), dtype=bool)
        chosen[cover] = True
        for part in self._division.parts:
            unproved[part.ids] = not part.proved
        for part in division.parts:
            part.inside = np.flatnonzero(chosen[part.ids])
            part.ready = not unproved[part.ids].any()
        self._division = division

    def _left_by_forced(self) -> Ints:
        """Return the objects that no forced candidate covers."""
        return np.setdiff1d(np.arange(self.matrix.shape[1]), self.matrix[self.forced].indices)

    def _solve_parts(
        self, solve: Callable[["Component", Work], None], fraction: float, work: Work
    ) -> bool:
        """Solve all components for one objective, each with a fraction of the remaining work.

        Return whether it is proven.
        """
        parts = [part for part in self._division.parts if part.ready]
        for part in parts:
            with work.portion(work.left * (fraction if part is parts[-1] else fraction / 2)):
                solve(part, work)
        return all(part.proved for part in self._division.parts)


class Division(NamedTuple):
    """Candidates of all minimum covers, what they leave, and the components of that."""

    taken: Ints
    ids: Ints
    objects: Ints
    parts: "list[Component]"

    @property
    def cover(self) -> Ints:
        """The best cover known, ascending."""
        inside = (part.ids[part.inside] for part in self.parts)
        return np.sort(np.concatenate([self.taken, *inside]))


class Component:
    """Connected candidates and objects, and the best cover known.

    Parameters
    ----------
    ids : ndarray of int64
        The candidates, ascending, as the problem numbers them.
    matrix : sparse matrix, candidates x objects
    costs : ndarray of int64
    inside : ndarray of int64
        The best cover known, ascending.

    Attributes
    ----------
    ready : bool
        Whether the earlier objectives are proven.
    lower_bound : int
        Proven bound on the size of a cover.
    proved : bool
        Whether the objective that was solved for last is proven.
    optimal : ndarray of int64
        The candidates that may occur in optimal covers, as the problem numbers them.
    """

    def __init__(self, ids: Ints, matrix: sparse.csr_array, costs: Ints, inside: Ints) -> None:
        self.ids, self.matrix, self.costs, self.inside = ids, matrix, costs, inside
        self.optimal, self.ready = ids, True
        self.lower_bound, self.proved = 1, False

    def minimize_count(self, work: Work) -> None:
        """Solve for the first objective."""
        matrix, costs, start = self.matrix, self.costs, self.inside
        taken, candidates = np.zeros(0, dtype=np.int64), np.arange(len(self.ids))
        if not _has_tableau(matrix):
            taken, candidates, matrix = self._shrink(work)
            if self.proved or not _has_tableau(matrix):
                return
            costs = self.costs[candidates]
            start = greedy_cover(CoverMatrix.from_pairs(*pairs_of(matrix), matrix.shape), costs)
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
        bound, reduced, _ = subgradient_bound(self.matrix, len(self.inside), work)
        self._raise_bound(math.ceil(min(bound, len(self.inside))))
        local = LocalSearch(CoverLists.of(self.matrix), self.costs, self.inside)
        local.run(self.lower_bound, work, min(2_000_000, 100 * sum(self.matrix.shape)))
        self._improve(local.cover())
        self._raise_bound(self.lower_bound)
        keep = np.flatnonzero(reduced <= len(self.inside) - 1 - bound)
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
        self.inside = better_cover(self.inside, np.sort(cover), self.costs)

    def _raise_bound(self, bound: int) -> None:
        self.lower_bound = max(self.lower_bound, min(bound, len(self.inside)))
        self.proved = len(self.inside) == self.lower_bound


def better_cover(known: Ints, cover: Ints, costs: Ints) -> Ints:
    """Return the smaller of two covers, the cheaper of equal ones, else the known one."""
    return min((known, cover), key=lambda one: (len(one), int(costs[one].sum())))


def _has_tableau(matrix: sparse.csr_array) -> bool:
    return bool(matrix.shape[0] * matrix.shape[1] <= LARGEST_TABLEAU)

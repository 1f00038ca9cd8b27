"""Partial covers: candidates that are worth having, when an object may be left out.

A candidate has a price, in objects: it must newly cover more than that to be worth it. The choice
that is worth most (objects covered less prices) is an integer programme, solved by SciPy (HiGHS)
with a proof. With a price of zero and a limit on the candidates it is the choice that covers most;
with prices above all objects and a limit on the objects left out, the fewest that cover enough.
"""

import math
import time
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from frri._util import Floats, Ints
from frri.cover.matrix import CoverMatrix
from frri.cover.reduce import LARGEST_DENSE, to_sparse, undominated
from frri.cover.solve import Cover, Status

UNITS_PER_NODE = 1_000
"""Units of work for a node of the general solver's tree, which is dear."""


@dataclass(frozen=True)
class PartialCover:
    """Candidates that cover many objects, and what is proved about them.

    Attributes
    ----------
    selected : ndarray of int64
        The chosen candidates, ascending.
    n_covered : int
        How many objects they cover.
    worth : int
        The objects covered less the prices of the candidates chosen.
    bound : int
        Proved: no choice is worth more.
    status : "optimal" or "feasible"
        Optimal only if `worth` equals `bound`.
    stopped_by : None, "effort" or "time"
        What ended the search before that was proved.
    nodes : int
        Nodes of the search tree.
    seconds : float
    """

    selected: Ints
    n_covered: int
    worth: int
    bound: int
    status: Status
    stopped_by: str | None
    nodes: int
    seconds: float

    def __len__(self) -> int:
        return len(self.selected)


def partial_cover(
    covers: CoverMatrix,
    prices: ArrayLike,
    groups: ArrayLike,
    *,
    costs: ArrayLike | None = None,
    at_most: int | None = None,
    left_out: ArrayLike | None = None,
    work_limit: int,
    time_limit: float | None = None,
) -> PartialCover:
    """Choose the candidates that are worth most: objects covered less a price for each candidate.

    Parameters
    ----------
    covers : CoverMatrix
        Who covers whom. Objects covered by nobody are ignored.
    prices : array of nonnegative whole numbers
        What each candidate costs, in objects.
    groups : array of int
        The group of each candidate. Every group that has candidates keeps one at least, and no
        object is covered from two groups.
    costs : array of nonnegative whole numbers, optional
        Of two candidates that cover the same, which is preferred: the cheaper.
    at_most : int, optional
        The most candidates there may be; a group's first one does not count as one too many.
    left_out : array of int, optional
        How many objects of each group may be left uncovered, by group number.
    work_limit : int
        Limit on the work, in units of about half a millisecond.
    time_limit : float, optional
        Limit in seconds, on top of that.

    Returns
    -------
    PartialCover

    Examples
    --------
    >>> covers = CoverMatrix.from_dense([[1, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]])
    >>> cover = partial_cover(covers, [1, 1, 1], [0, 0, 0], work_limit=60)
    >>> cover.selected, cover.n_covered, cover.worth, cover.status
    (array([0]), 3, 2, 'optimal')
    """
    start = time.perf_counter()
    price, group = np.asarray(prices, dtype=np.int64), np.asarray(groups, dtype=np.int64)
    cost = np.zeros_like(price) if costs is None else np.asarray(costs, dtype=np.int64)
    order = price * (int(cost.max(initial=0)) + 1) + cost
    matrix = to_sparse(covers)
    small = matrix.shape[0] * matrix.shape[1] <= LARGEST_DENSE
    useful = undominated(matrix.toarray() > 0 if small else matrix, order) & (covers.sizes() > 0)
    parts = [np.flatnonzero(useful & (group == g)) for g in np.unique(group[useful])]
    most = None if at_most is None else max(at_most, len(parts))
    if most is not None and parts:
        parts = [np.concatenate(parts)]  # one limit binds all groups together
    allowed = None if left_out is None else np.asarray(left_out, dtype=np.int64)
    chosen, bound, nodes = [], 0, 0
    stopped_by: str | None = None
    for ids in parts:
        left = None if time_limit is None else max(time_limit - (time.perf_counter() - start), 0.01)
        part = _Part(matrix[ids], price[ids], group[ids], most, allowed)
        found = part.solve(work_limit, left)
        chosen.append(ids[found])
        bound += part.bound
        nodes += part.nodes
        stopped_by = part.stopped_by or stopped_by
    selected = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
    # Where enough must be covered, every object counts.
    least = np.zeros_like(price) if left_out is not None else price
    selected = _needed(matrix, np.sort(selected), group, least)
    n_covered = len(np.unique(matrix[selected].indices))
    worth = n_covered - int(price[selected].sum())
    return PartialCover(
        selected=selected,
        n_covered=n_covered,
        worth=worth,
        bound=bound,
        status="optimal" if worth == bound else "feasible",
        stopped_by=None if worth == bound else stopped_by,
        nodes=nodes,
        seconds=time.perf_counter() - start,
    )


def _needed(matrix: sparse.csr_array, selected: Ints, groups: Ints, least: Ints) -> Ints:
    """Remove candidates that alone cover no more than `least`, except the last of a group."""
    rows = matrix[selected]
    times = np.bincount(rows.indices, minlength=matrix.shape[1])
    kept = np.ones(len(selected), dtype=bool)
    for i in np.argsort(np.diff(rows.indptr), kind="stable").tolist():
        mine = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
        last = np.count_nonzero(groups[selected[kept]] == groups[selected[i]]) == 1
        alone = np.count_nonzero(times[mine] == 1)
        if not last and alone <= least[selected[i]]:
            kept[i] = False
            times[mine] -= 1
    return selected[kept]


class _Part:
    """A problem whose groups are bound together, or of a single group.

    Objects that the same candidates cover are one object that counts as many.
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        prices: Ints,
        groups: Ints,
        most: int | None,
        allowed: Ints | None,
    ) -> None:
        objects = np.unique(matrix.indices)
        columns = sparse.csc_array(matrix[:, objects])
        keys: dict[bytes, int] = {}
        kinds = np.array(
            [
                keys.setdefault(np.sort(columns.indices[low:high]).tobytes(), len(keys))
                for low, high in zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
            ],
            dtype=np.int64,
        )
        first = np.unique(kinds, return_index=True)[1]
        self.coverers = sparse.csr_array(columns[:, first].T.astype(np.float64))
        self.counts = np.bincount(kinds)
        self.prices, self.groups = prices, groups
        self.most, self.allowed = most, allowed
        self.bound, self.nodes = 0, 0
        self.stopped_by: str | None = None

    def solve(self, work_limit: int, time_limit: float | None) -> Ints:
        """Return the best choice found; `bound` is what is proved about it."""
        n, k = len(self.prices), len(self.counts)
        total = int(self.counts.sum())
        quick = self._greedy()
        if work_limit == 0:
            self.bound, self.stopped_by = total, "effort"
            return quick
        nodes = max(1, work_limit // UNITS_PER_NODE)
        options: dict[str, float] = {"mip_rel_gap": 0.0, "node_limit": nodes}
        if time_limit is not None:
            options["time_limit"] = time_limit
        answer = milp(
            np.concatenate([self.prices, self.counts]).astype(np.float64),
            integrality=np.concatenate([np.ones(n), np.zeros(k)]),
            bounds=Bounds(0, 1),
            constraints=self._constraints(),
            options=options,
        )
        self.nodes = int(answer.mip_node_count or 0)
        known = answer.mip_dual_bound
        # Prices and counts are whole numbers, and so is what they come to.
        least = math.ceil(known - 1e-6) if known is not None and math.isfinite(known) else 0
        self.bound = total - least
        self.stopped_by = None if answer.status == 0 else "time" if answer.status == 1 else "effort"
        if answer.status == 1 and time_limit is None:
            self.stopped_by = "effort"
        if answer.x is None:
            return quick
        exact = np.flatnonzero(answer.x[:n] > 0.5)
        return max(exact, quick, key=self._worth)

    def _constraints(self) -> list[LinearConstraint]:
        n, k = len(self.prices), len(self.counts)
        covered = sparse.hstack([self.coverers, sparse.eye_array(k)], format="csc")
        rows = [LinearConstraint(covered, 1.0, np.inf)]
        for g in np.unique(self.groups):
            mine = np.concatenate([self.groups == g, np.zeros(k)])[None]
            rows.append(LinearConstraint(mine.astype(np.float64), 1.0, np.inf))
            if self.allowed is not None:
                inside = self.counts * (self.coverers @ (self.groups == g) > 0)
                without = np.concatenate([np.zeros(n), inside])[None]
                rows.append(LinearConstraint(without, -np.inf, float(self.allowed[g])))
        if self.most is not None:
            every = np.concatenate([np.ones(n), np.zeros(k)])[None]
            rows.append(LinearConstraint(every, 0.0, float(self.most)))
        return rows

    def _greedy(self) -> Ints:
        """Choose one of each group, what `allowed` asks for, then what is worth most."""
        matrix = sparse.csr_array(self.coverers.T)
        left = self.counts.astype(np.float64)
        chosen: list[int] = []
        for first in chain(np.unique(self.groups).tolist(), repeat(None)):
            gain = matrix @ left - self.prices
            gain[chosen] = -np.inf
            g = self._wanting(left) if first is None else first
            best = int(np.where((self.groups == g) | (g is None), gain, -np.inf).argmax())
            if g is None and (gain[best] <= 0 or len(chosen) == self.most):
                break
            chosen.append(best)
            left[matrix.indices[matrix.indptr[best] : matrix.indptr[best + 1]]] = 0.0
        return np.array(sorted(chosen), dtype=np.int64)

    def _wanting(self, left: Floats) -> int | None:
        """Return a group of which too many objects are left out."""
        if self.allowed is None:
            return None
        for g in np.unique(self.groups):
            inside = self.coverers @ (self.groups == g) > 0
            if left[inside].sum() > self.allowed[g]:
                return int(g)
        return None

    def _worth(self, chosen: Ints) -> float:
        covered = self.counts[np.unique(sparse.csr_array(self.coverers.T)[chosen].indices)].sum()
        return float(covered - self.prices[chosen].sum())


def multiple_cover(
    covers: CoverMatrix,
    times: int,
    costs: ArrayLike | None = None,
    *,
    work_limit: int,
    time_limit: float | None = None,
) -> Cover:
    """Choose the fewest candidates that cover every object `times` times, or as often as possible.

    Parameters
    ----------
    covers : CoverMatrix
        Who covers whom. An object that fewer candidates cover needs them all.
    times : int
        How often each object is to be covered.
    costs : array of nonnegative whole numbers, optional
        What each candidate costs; the second objective. All equal unless given.
    work_limit : int
        Limit on the work, in units of about half a millisecond.
    time_limit : float, optional
        Limit in seconds, on top of that.

    Returns
    -------
    Cover

    Examples
    --------
    >>> covers = CoverMatrix.from_dense([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> cover = multiple_cover(covers, 2, costs=[1, 1, 1, 9], work_limit=60_000)
    >>> cover.selected, cover.status, cover.cost
    (array([0, 1, 2]), 'optimal', 3)
    """
    start = time.perf_counter()
    price = np.zeros(len(covers)) if costs is None else np.asarray(costs, dtype=np.float64)
    problem = _Problem(to_sparse(covers), times, price)
    if work_limit > 0:
        deadline = None if time_limit is None else start + time_limit
        problem.solve(max(1, work_limit // UNITS_PER_NODE), deadline)
    proved = problem.bound == len(problem.chosen)
    return Cover(
        selected=problem.chosen,
        status="optimal" if proved else "feasible",
        lower_bound=problem.bound,
        cost=int(price[problem.chosen].sum()),
        cost_status="optimal" if problem.cost_proved else "feasible",
        settled=False,
        stopped_by=None if proved else problem.stopped_by,
        solver="highs",
        nodes=problem.nodes,
        pivots=0,
        steps=0,
        effort=min(work_limit, problem.nodes * UNITS_PER_NODE),
        seconds=time.perf_counter() - start,
    )


class _Problem:
    """What is to be covered how often, and the best choice so far with what is proved about it."""

    def __init__(self, matrix: sparse.csr_array, times: int, costs: Floats) -> None:
        by_object = sparse.csc_array(matrix)
        # Columns with the same candidates are one object; those with none are no object.
        keys = {
            np.sort(by_object.indices[low:high]).tobytes(): j
            for j, (low, high) in enumerate(
                zip(by_object.indptr[:-1], by_object.indptr[1:], strict=True)
            )
            if high > low
        }
        objects = [keys[key] for key in sorted(keys)]  # in whatever order they come
        self.coverers = sparse.csr_array(by_object[:, objects].T.astype(np.float64))
        self.wanted = np.minimum(np.diff(self.coverers.indptr), times).astype(np.float64)
        self.costs = costs
        self.chosen = self._greedy()
        # No candidate covers more than all objects once.
        self.bound = int(self.wanted.max(initial=0))
        self.cost_proved = not len(self.chosen)
        self.nodes, self.stopped_by = 0, "effort"

    def solve(self, nodes: int, deadline: float | None) -> None:
        """Find the fewest, and of these the cheapest, as far as the limits allow."""
        if not len(self.chosen):
            return
        if self.bound < len(self.chosen):
            found, bound = self._fewest(np.ones(len(self.costs)), None, nodes, deadline)
            self.bound = max(self.bound, bound)
            if found is not None and len(found) < len(self.chosen):
                self.chosen = found
        if self.bound < len(self.chosen):
            return
        # Fewer rules matter more than shorter ones.
        found, bound = self._fewest(self.costs, len(self.chosen), max(1, nodes // 10), deadline)
        if found is not None and self.costs[found].sum() < self.costs[self.chosen].sum():
            self.chosen = found
        self.cost_proved = bool(self.costs[self.chosen].sum() <= bound)

    def _fewest(
        self, prices: Floats, at_most: int | None, nodes: int, deadline: float | None
    ) -> tuple[Ints | None, int]:
        """Return a cheapest choice, None if none was found, and the proved bound on its cost."""
        rows = [LinearConstraint(sparse.csc_array(self.coverers), self.wanted, np.inf)]
        if at_most is not None:
            rows.append(LinearConstraint(np.ones((1, len(prices))), 0.0, at_most))
        options: dict[str, float] = {"mip_rel_gap": 0.0, "node_limit": nodes}
        if deadline is not None:
            options["time_limit"] = max(deadline - time.perf_counter(), 0.01)
        answer = milp(
            prices,
            integrality=np.ones(len(prices)),
            bounds=Bounds(0, 1),
            constraints=rows,
            options=options,
        )
        self.nodes += int(answer.mip_node_count or 0)
        if answer.status == 1 and deadline is not None and time.perf_counter() >= deadline:
            self.stopped_by = "time"
        known = answer.mip_dual_bound
        # Prices are whole numbers, and so is what they come to.
        bound = math.ceil(known - 1e-6) if known is not None and math.isfinite(known) else 0
        return None if answer.x is None else np.flatnonzero(answer.x > 0.5), bound

    def _greedy(self) -> Ints:
        """Choose what covers most, the cheaper first, and remove what is redundant."""
        matrix, left = sparse.csr_array(self.coverers.T), self.wanted.copy()
        free = np.ones(matrix.shape[0], dtype=np.bool_)
        chosen: list[int] = []
        while (left > 0).any():
            gain = np.where(free, matrix @ (left > 0), -1.0)
            best = int(np.lexsort((self.costs, -gain))[0])
            free[best] = False
            chosen.append(best)
            left -= matrix[[best]].toarray()[0]
        for j in chosen[::-1]:
            without = left + matrix[[j]].toarray()[0]
            if (without <= 0).all():
                chosen.remove(j)
                left = without
        return np.array(sorted(chosen), dtype=np.int64)

"""Partial covers by SciPy's solver for integer programs (HiGHS).

In a *partial* cover, objects may be left out. A candidate has a price, in objects: it must newly
cover more than that to be worth it. The choice that is worth most (objects covered less prices) is
an integer program. With a price of zero and a limit on the candidates it is the choice that covers
most; with prices above all objects and a limit on the objects left out, the fewest that cover
enough.
"""

import math
import time
from dataclasses import dataclass
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from frri._util import Floats, Ints
from frri.cover.budget import Work
from frri.cover.matrix import CoverMatrix, pairs_of
from frri.cover.reduce import to_sparse, undominated
from frri.cover.solve import Status

# Units of work for a node of the general solver's tree, which is expensive.
UNITS_PER_NODE = 1_000


@dataclass(frozen=True)
class PartialCover:
    """Candidates that cover many objects, and what is proven about them.

    Attributes
    ----------
    n_covered : int
        Number of objects that the chosen candidates cover.
    worth : int
        The objects covered less the prices of the chosen candidates.
    bound : int
        Proven upper bound on the worth of any choice.
    status : "optimal" or "feasible"
        Optimal only if `worth` equals `bound`.
    selected, stopped_by, nodes, seconds
        As in `frri.Cover`.
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
        The cover relation. Objects that no candidate covers are ignored.
    prices : array of nonnegative integers
        Price of each candidate, in objects.
    groups : array of int
        The group of each candidate. Every group that has candidates keeps one at least, and no
        object is covered from two groups.
    costs : array of nonnegative integers, optional
        The cheaper one of two candidates that cover the same objects is preferred.
    at_most : int, optional
        Maximum number of candidates, raised to the number of groups.
    left_out : array of int, optional
        Maximum number of objects of each group that are left uncovered, by group number.
    work_limit, time_limit
        See `frri.cover.minimum_cover`.

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
    deadline = None if time_limit is None else start + time_limit
    price, group = np.asarray(prices, dtype=np.int64), np.asarray(groups, dtype=np.int64)
    cost = np.zeros_like(price) if costs is None else np.asarray(costs, dtype=np.int64)
    order = price * (int(cost.max(initial=0)) + 1) + cost
    matrix = to_sparse(covers)
    useful = undominated(*pairs_of(matrix), order, Work(0, None))
    parts = [np.flatnonzero(useful & (group == g)) for g in np.unique(group[useful])]
    most = None if at_most is None else max(at_most, len(parts))
    if most is not None and parts:
        parts = [np.concatenate(parts)]  # one limit binds all groups together
    allowed = None if left_out is None else np.asarray(left_out, dtype=np.int64)
    known = [(matrix[ids], price[ids], group[ids], most, allowed) for ids in parts]
    answers = [_PartialProgram(*part).solve(work_limit, deadline) for part in known]
    found = [ids[answer.chosen] for ids, answer in zip(parts, answers, strict=True)]
    bound = sum(answer.bound for answer in answers)
    ended = next((answer.ended for answer in answers[::-1] if answer.ended), None)
    # Where enough must be covered, every object counts.
    least = np.zeros_like(price) if left_out is not None else price
    selected = np.sort(np.concatenate([group[:0], *found]))
    selected = _remove_unneeded(matrix, selected, group, least)
    n_covered = len(np.unique(matrix[selected].indices))
    worth = n_covered - int(price[selected].sum())
    return PartialCover(
        selected=selected,
        n_covered=n_covered,
        worth=worth,
        bound=bound,
        status="optimal" if worth == bound else "feasible",
        stopped_by=None if worth == bound else ended,
        nodes=sum(answer.nodes for answer in answers),
        seconds=time.perf_counter() - start,
    )


def _remove_unneeded(matrix: sparse.csr_array, selected: Ints, groups: Ints, least: Ints) -> Ints:
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


class _Answer(NamedTuple):
    """The candidates chosen, the proven bound, the nodes, and the limit that ended the search."""

    chosen: Ints
    bound: int
    nodes: int
    ended: str | None


class _PartialProgram:
    """The integer program of one group, or of all groups bound together by a limit.

    Objects that the same candidates cover are merged and counted.
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        prices: Ints,
        groups: Ints,
        most: int | None,
        allowed: Ints | None,
    ) -> None:
        alike: dict[tuple[int, ...], list[int]] = {}
        for j, coverers in enumerate(sparse.lil_array(matrix.T).rows):
            if coverers:
                alike.setdefault(tuple(coverers), []).append(j)
        first = [same[0] for same in alike.values()]
        self.matrix = sparse.csr_array(matrix[:, first].astype(np.float64))
        self.counts = np.array([len(same) for same in alike.values()], dtype=np.int64)
        self.prices, self.groups = prices, groups
        self.object_groups = groups[[coverers[0] for coverers in alike]]
        self.most, self.allowed = most, allowed

    def solve(self, work_limit: int, deadline: float | None) -> _Answer:
        """Return the best choice found, and the proven bound on the worth of all choices."""
        n, k = self.matrix.shape
        total = int(self.counts.sum())
        chosen = self._choose_greedily()
        if work_limit == 0:
            return _Answer(chosen, total, 0, "effort")
        options = {"mip_rel_gap": 0.0, "node_limit": max(1, work_limit // UNITS_PER_NODE)}
        if deadline is not None:
            options["time_limit"] = max(deadline - time.perf_counter(), 0.01)
        answer = milp(
            np.concatenate([self.prices, self.counts]).astype(np.float64),
            integrality=np.repeat([1.0, 0.0], [n, k]),
            bounds=Bounds(0, 1),
            constraints=self._constraints(),
            options=options,
        )
        if answer.x is not None:
            found = np.flatnonzero(answer.x[:n] > 0.5)
            too_many = self.most is not None and len(chosen) > self.most
            chosen = found if too_many else max(found, chosen, key=self._worth)
        known = answer.mip_dual_bound
        least = math.ceil(known - 1e-6) if known is not None and math.isfinite(known) else 0
        limit = "time" if answer.status == 1 and deadline is not None else "effort"
        ended = None if answer.status == 0 else limit
        return _Answer(chosen, total - least, int(answer.mip_node_count or 0), ended)

    def _constraints(self) -> list[LinearConstraint]:
        n, k = self.matrix.shape
        covered = sparse.hstack([self.matrix.T, sparse.eye_array(k)], format="csc")
        rows = [LinearConstraint(covered, 1.0, np.inf)]
        for g in np.unique(self.groups):
            mine = np.concatenate([self.groups == g, np.zeros(k)])[None]
            rows.append(LinearConstraint(mine.astype(np.float64), 1.0, np.inf))
            if self.allowed is not None:
                inside = self.counts * (self.object_groups == g)
                without = np.concatenate([np.zeros(n), inside])[None]
                rows.append(LinearConstraint(without, -np.inf, float(self.allowed[g])))
        if self.most is not None:
            every = np.concatenate([np.ones(n), np.zeros(k)])[None]
            rows.append(LinearConstraint(every, 0.0, float(self.most)))
        return rows

    def _choose_greedily(self) -> Ints:
        """Choose one of each group, then enough for `allowed`, then what is worth most."""
        matrix, left = self.matrix, self.counts.astype(np.float64)
        chosen: list[int] = []
        for first in chain(np.unique(self.groups).tolist(), repeat(None)):
            gain = matrix @ left - self.prices
            gain[chosen] = -np.inf
            g = self._find_uncovered_group(left) if first is None else first
            best = int(np.where((self.groups == g) | (g is None), gain, -np.inf).argmax())
            if g is None and (gain[best] <= 0 or len(chosen) == self.most):
                break
            chosen.append(best)
            left[matrix.indices[matrix.indptr[best] : matrix.indptr[best + 1]]] = 0.0
        return np.array(sorted(chosen), dtype=np.int64)

    def _find_uncovered_group(self, left: Floats) -> int | None:
        """Return a group of which too many objects are left out."""
        if self.allowed is None:
            return None
        left_out = np.bincount(self.object_groups, left, len(self.allowed))
        return next(iter(np.flatnonzero(left_out > self.allowed).tolist()), None)

    def _worth(self, chosen: Ints) -> float:
        covered = self.counts[np.unique(self.matrix[chosen].indices)].sum()
        return float(covered - self.prices[chosen].sum())

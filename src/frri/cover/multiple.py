"""Multiple covers: every object is to be covered so many times, by as few candidates as possible.

Two objectives, one after the other: the fewest candidates, then the smallest total cost. Both are integer
programmes, solved by SciPy (HiGHS) with a proof. No candidate makes another one superfluous here, because
both may be needed; objects that the same candidates cover are one.
"""

import math
import time

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from frri._util import Floats, Ints
from frri.cover._reduce.dominance import to_sparse
from frri.cover.matrix import CoverMatrix
from frri.cover.partial import UNITS_PER_NODE
from frri.cover.result import Cover


def multiple_cover(
    covers: CoverMatrix,
    times: int,
    costs: ArrayLike | None = None,
    *,
    effort: int,
    time_limit: float | None = None,
) -> Cover:
    """Choose the fewest candidates that cover every object so many times, or as often as can be.

    Parameters
    ----------
    covers : CoverMatrix
        Who covers whom. An object that fewer candidates cover needs them all.
    times : int
        How often each object is to be covered.
    costs : array of nonnegative whole numbers, optional
        What each candidate costs; the second objective. All equal unless given.
    effort : int
        Limit on the work, in units of about half a millisecond.
    time_limit : float, optional
        Limit in seconds, on top of that.

    Returns
    -------
    Cover

    Examples
    --------
    >>> covers = CoverMatrix.from_dense([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> cover = multiple_cover(covers, 2, costs=[1, 1, 1, 9], effort=60_000)
    >>> cover.selected, cover.status, cover.cost
    (array([0, 1, 2]), 'optimal', 3)
    """
    start = time.perf_counter()
    price = np.zeros(len(covers)) if costs is None else np.asarray(costs, dtype=np.float64)
    problem = _Problem(to_sparse(covers), times, price)
    if effort > 0:
        deadline = None if time_limit is None else start + time_limit
        problem.solve(max(1, effort // UNITS_PER_NODE), deadline)
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
        effort=min(effort, problem.nodes * UNITS_PER_NODE),
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
        """The fewest, and of these the cheapest, as far as the limits allow."""
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
        """A cheapest choice, None if none was found, and the proved bound on what it comes to."""
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
        """What covers most of what is wanting, the cheaper first; then without what is superfluous."""
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

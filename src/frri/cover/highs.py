"""A second opinion: SciPy's solver for integer programmes (HiGHS) on the same three objectives."""

import math
import time

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from frri._util import Floats, Ints
from frri.cover.budget import Exhausted, Work
from frri.cover.matrix import CoverLists, greedy_cover
from frri.cover.reduce import LARGEST_DENSE, undominated


class HighsComponent:
    """A whole problem, solved by a general solver.

    Parameters
    ----------
    matrix : sparse matrix, candidates x objects
    costs : ndarray of int64
    work : Work
        Only its time limit counts here.

    Attributes
    ----------
    cover : ndarray of int64
    lower_bound : int
    taken : ndarray of int64
        Empty: nothing is decided beforehand.
    cost_proved, settled : bool
    """

    def __init__(self, matrix: sparse.csr_array, costs: Ints, work: Work) -> None:
        small = matrix.shape[0] * matrix.shape[1] <= LARGEST_DENSE
        self.ids = np.flatnonzero(undominated(matrix.toarray() > 0 if small else matrix, costs))
        rows = matrix[self.ids]
        self.matrix = rows[:, np.unique(rows.indices)]
        self.costs = costs[self.ids]
        self.work = work
        self.taken = np.zeros(0, dtype=np.int64)
        self.inside = greedy_cover(CoverLists.of(self.matrix), self.costs)
        self.lower_bound = min(1, len(self.inside))
        self.cost_proved = self.settled = False

    @property
    def cover(self) -> Ints:
        """The best complete cover known, ascending."""
        return self.ids[self.inside]

    def run(self, *, tie_break: bool) -> None:
        """Take the problem through the objectives."""
        n = len(self.ids)
        free = np.zeros(n), np.ones(n)
        if n:
            self.inside, self.lower_bound = self._solve(np.ones(n), free)
            if self.lower_bound < len(self.inside):
                raise Exhausted
        if not tie_break:
            return
        if n:
            self.inside, bound = self._solve(self.costs.astype(float), free, self.lower_bound)
            if bound < self.costs[self.inside].sum():
                raise Exhausted
        self.cost_proved = True
        self._settle()
        self.settled = True

    def _settle(self) -> None:
        """Ask of one candidate after the other whether an optimal cover takes it."""
        low, high = np.zeros(len(self.ids)), np.ones(len(self.ids))
        costs = self.costs.astype(float)
        total = int(self.costs[self.inside].sum())
        for j in range(len(self.ids)):
            low[j] = 1.0
            if j in self.inside:
                continue
            found, bound = self._solve(costs, (low, high), self.lower_bound)
            if len(found) and bound <= total and self.costs[found].sum() == total:
                self.inside = found
            else:
                low[j] = high[j] = 0.0

    def _solve(
        self, costs: Floats, limits: tuple[Floats, ...], at_most: int = -1
    ) -> tuple[Ints, int]:
        """Return a cheapest cover, empty if there is none, and the proved bound on its cost."""
        rows = [LinearConstraint(sparse.csc_array(self.matrix.T.astype(float)), 1.0, np.inf)]
        if at_most >= 0:
            rows.append(LinearConstraint(np.ones((1, len(costs))), 0.0, at_most))
        options: dict[str, float] = {"mip_rel_gap": 0.0}
        if self.work.deadline is not None:
            options["time_limit"] = max(self.work.deadline - time.perf_counter(), 0.01)
        answer = milp(
            costs,
            integrality=np.ones(len(costs)),
            bounds=Bounds(*limits),
            constraints=rows,
            options=options,
        )
        self.work.spend(0 if self.work.budget else 1)
        if answer.x is None:
            return np.zeros(0, dtype=np.int64), 0
        return np.flatnonzero(answer.x > 0.5), math.ceil(answer.mip_dual_bound - 1e-6)

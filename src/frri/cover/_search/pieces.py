"""A connected piece of the small problem that stands for a large one: searched, bounded, perhaps proved."""

import math

import numpy as np
from scipy import sparse

from frri._util import Floats, Ints
from frri.cover._bound.lagrangian import subgradient_bound
from frri.cover._reduce.core import Core
from frri.cover._search import local_search
from frri.cover._search.greedy import Lists, greedy_cover
from frri.cover._search.parts import LARGEST_TABLEAU, STEP_SECONDS, Part
from frri.cover.budget import Exhausted, Work

PROMISING = 0.3
"""Reduced cost below which local search may choose a candidate."""

FIRST_PROVED, JOINING = 0.4, 10
"""Branch and bound begins with so large a part of the objects that count; at least so many join a time."""

STEPS, ITERATIONS = 4, 200
"""Steps of local search per candidate and object, and iterations of the bound, in a round."""


class Piece:
    """Candidates and objects that hang together, the best cover and the bound proved.

    Parameters
    ----------
    matrix : sparse matrix, candidates x objects
    ids, names : ndarray of int64
        The candidates and objects as the large problem numbers them.
    costs, sizes : ndarray of int64
        Of the candidates, in the large problem.
    cover : ndarray of int64
        A complete cover.
    """

    def __init__(
        self,
        matrix: sparse.csr_array,
        ids: Ints,
        names: Ints,
        costs: Ints,
        sizes: Ints,
        cover: Ints,
    ) -> None:
        self.matrix, self.ids, self.names, self.costs, self.sizes = matrix, ids, names, costs, sizes
        greedy = greedy_cover(Lists.of(matrix), costs)
        self.cover = greedy if len(greedy) < len(cover) else cover
        self.lower_bound = 1

    def search(self, multipliers: Floats, work: Work) -> None:
        """Local search among promising candidates, and a bound; the multipliers are brought up to date."""
        warm = multipliers[self.names]
        relaxed = subgradient_bound(
            self.matrix,
            len(self.cover),
            work,
            ITERATIONS,
            np.maximum(warm, 0.0) if (warm > 0.0).any() else None,
        )
        multipliers[self.names] = relaxed.multipliers
        self.lower_bound = max(1, math.ceil(min(relaxed.bound, len(self.cover))))
        promising = relaxed.reduced < PROMISING
        promising[self.cover] = True
        keep = np.flatnonzero(promising)
        lists, start = Lists.of(self.matrix[keep]), np.searchsorted(keep, self.cover)
        state = local_search.State(lists, self.costs[keep], start)
        steps = STEPS * sum(self.matrix.shape)
        search_on(state, start, self.lower_bound, work, steps)
        self.cover = keep[state.cover()]

    def prove(self, multipliers: Floats, work: Work, cells: int) -> None:
        """Branch and bound on the objects that matter most; those its cover leaves out join them.

        Parameters
        ----------
        multipliers : ndarray of float64
            Of all objects of the large problem.
        work : Work
        cells : int
            How much may be spent.
        """
        limit = work.limit
        work.limit = min(limit, work.spent + cells)
        degree = np.bincount(self.matrix.indices, minlength=self.matrix.shape[1])
        weights = multipliers[self.names]
        ranks = np.empty(len(degree), dtype=np.int64)
        ranks[np.lexsort((degree, -weights))] = np.arange(len(degree))
        objects = np.flatnonzero(
            ranks < max(1, int(FIRST_PROVED * np.count_nonzero(weights > 0.0)))
        )
        try:
            while len(self.cover) > self.lower_bound and len(objects):
                objects = self._solve(objects, ranks, work)
        except Exhausted:
            if work.stopped_by != "effort":
                raise
            work.stopped_by = None
        work.limit = max(limit, work.spent)

    def _solve(self, objects: Ints, ranks: Ints, work: Work) -> Ints:
        """Solve the piece of some objects; those to take next time, none if there is no sense in it."""
        small = Core(self.matrix[:, objects], self.sizes, work)
        n, m = small.matrix.shape
        if n * m > LARGEST_TABLEAU:
            return objects[:0]
        zeros = np.zeros(n, dtype=np.int64)
        dense = small.matrix.toarray() > 0
        part = Part(np.arange(n), dense, np.arange(m), zeros, work, tie_break=False)
        try:
            part.minimise_count(work)
        finally:
            proved = len(part.taken) + part.lower_bound
            self.lower_bound = max(self.lower_bound, min(proved, len(self.cover)))
        cover = small.candidates[part.cover]
        missing = np.bincount(self.matrix[cover].indices, minlength=self.matrix.shape[1]) == 0
        if not missing.any():
            self.cover = min(np.sort(cover), self.cover, key=len)
            return objects[:0]
        if not part.count_proved:
            return objects[:0]
        missed = np.flatnonzero(missing)
        missed = missed[np.argsort(ranks[missed])]
        return np.union1d(objects, missed[: max(JOINING, len(objects) // 10)])


def search_on(state: local_search.State, cover: Ints, enough: int, work: Work, steps: int) -> None:
    """Go on with a local search until the cover's size is `enough` or so many steps are done."""
    lists = state.lists
    sizes, degree = np.diff(lists.objects_from), np.diff(lists.coverers_from)
    price = 3000 + 20 * int(sizes[cover].mean()) + 60 * int(degree.mean())
    stride = max(10, 400_000_000 // price)
    try:
        while steps > 0 and state.reached > enough:
            kernels = work.kernels(local_search, ahead=steps * STEP_SECONDS)
            now = min(stride, steps)
            for part in work.glances(now, STEP_SECONDS):
                if state.reached > enough:
                    kernels.search(*state.arrays(), part, enough)
            steps -= now
            work.steps += now
            work.spend(now * price)
    except Exhausted:  # the cover holds; the next to ask for work will stop
        pass

"""Solve a problem that is too large for lists, through its hard objects.

Few objects decide how many candidates are needed, and few candidates are promising. Rounds
alternate: a bound from the hard objects and all candidates, whose reduced costs show which
candidates are promising; and local search for all objects among these, whose weights show which
objects are hard. Every bound from some objects is a bound for all.

For a proof, the hardest objects and all candidates that cover any of them are a smaller problem.
Its cover may leave objects uncovered, and the hardest of these join it until none is left; the
cover is completed after every round, so that there is always a complete one.
"""

import math
import sys

import numpy as np

from frri._util import Floats, Ints
from frri.cover.bounds import subgradient_bound
from frri.cover.budget import CELLS, Work
from frri.cover.local_search import LocalSearch
from frri.cover.matrix import (
    CoverLists,
    CoverMatrix,
    elements,
    greedy_cover,
    greedy_order,
    packed,
    without_redundant,
)
from frri.cover.reduce import components, pack_objects, to_sparse, undominated_rows
from frri.cover.solve import Problem, better_cover

# Maximum number of pairs of candidate and object of the smaller problem.
LARGEST_CORE = 4_000_000
# Its number of pairs at first, per object of the whole.
FIRST_PAIRS = 10
# Maximum number of pairs up to which ties between covers are broken.
LARGEST_TIES = 1 << 20
# Fraction of the work for better covers; the rest is for branch and bound.
SEARCH_FRACTION = 0.5
# Units of work for branch and bound, and cells per pair for the reduction of a smaller problem.
LONGEST_PROOF, REDUCTION = 10_000, 200
# Iterations of the first bound, regardless of the limits, and of the bound in a round.
QUICK_ITERATIONS, ITERATIONS = 100, 300
# Length of the first step from known multipliers.
WARM_STEP = 0.1
# Reduced cost below which local search may choose a candidate, and its steps per candidate and
# object in a round.
PROMISING, STEPS = 0.3, 4
# Rounds without success, each of twice as many steps, after which the search ends.
PATIENCE = 5


class LargeProblem:
    """A problem as rows of words, and the best cover and bound known.

    Costs, `tie_break` and the results are those of `frri.cover.solve.Problem`.
    """

    def __init__(self, covers: CoverMatrix, costs: Ints, *, tie_break: bool) -> None:
        self.covers, self.costs, self.tie_break = covers, costs, tie_break
        self.lower_bound = 0
        self.cost_proved = self.settled = False
        self.sizes = covers.sizes()
        self.degree = np.zeros(0, dtype=np.int64)
        self.owner = np.zeros(covers.n_objects, dtype=np.int64)  # a candidate of some cover
        self.multipliers = np.full(covers.n_objects, -1.0)  # of the objects of the last bound
        self._cover: Ints | None = None

    @property
    def cover(self) -> Ints:
        """The best complete cover known, ascending."""
        if self._cover is None:  # stopped before there was one
            self._cover = greedy_cover(self.covers, self.costs)
        return self._cover

    def run(self, work: Work) -> None:
        """Find a cover and a first bound in any case, then better ones within the limits."""
        limit, work.limit = work.limit, sys.maxsize
        try:
            self._start(work)
        finally:
            work.limit = limit
        work.spend(1)
        objects = self._minimize_count(work)
        if self.tie_break and len(self.cover) == self.lower_bound:
            self._break_ties(objects, work)

    def _start(self, work: Work) -> None:
        """Find a greedy cover and a bound from the hardest objects."""
        self.degree = self.covers.counts()[: self.covers.n_objects]
        work.check_time()
        self._cover = greedy_cover(self.covers, self.costs, packed(self.degree[None] > 0)[0])
        self.lower_bound = min(1, len(self.cover))
        work.check_time()
        self._set_owners(self.cover)
        if len(self.cover):
            pairs = len(self.covers) + self.covers.n_objects
            objects = self._find_hardest(np.flatnonzero(self.degree), pairs)
            self._bound_by(objects, QUICK_ITERATIONS, work)

    def _minimize_count(self, work: Work) -> Ints:
        """Solve for the first objective; return the objects of the last smaller problem."""
        room = min(FIRST_PAIRS * self.covers.n_objects, LARGEST_CORE // 4)
        objects = self._find_hardest(np.flatnonzero(self.degree), room)
        weights = np.ones(self.covers.n_objects, dtype=np.int64)
        failures = 0
        with work.portion(SEARCH_FRACTION * work.left):
            while failures < PATIENCE and not work.near_enough(len(self.cover), self.lower_bound):
                size = len(self.cover)
                reduced = self._bound_by(objects, ITERATIONS, work)
                self._search_among(self._find_promising(reduced), weights, work, 2**failures)
                objects = self._find_resisting(objects, weights, room)
                failures = 0 if len(self.cover) < size else failures + 1
        with work.portion(LONGEST_PROOF * CELLS):
            while work.left and not work.near_enough(len(self.cover), self.lower_bound):
                before = len(self.cover), len(objects)
                objects = self._prove_by(objects, work)
                if before == (len(self.cover), len(objects)):
                    break
        return objects

    def _find_hardest(self, objects: Ints, pairs: int) -> Ints:
        """Return the objects of fewest coverers, up to a number of pairs.

        Half of the pairs are of the hardest of all; the other half of the hardest that each
        candidate of a cover has, so that not all of them come from one region.
        """
        order = objects[np.argsort(self.degree[objects], kind="stable")]
        grouped = order[np.argsort(self.owner[order], kind="stable")]
        starts = np.flatnonzero(np.diff(self.owner[grouped], prepend=-1))
        places = np.arange(len(grouped)) - np.repeat(starts, np.diff(starts, append=len(grouped)))
        spread = grouped[np.lexsort((self.degree[grouped], places))]
        chosen = [
            ranking[np.cumsum(self.degree[ranking]) <= pairs // 2] for ranking in (order, spread)
        ]
        return np.unique(np.concatenate(chosen))

    def _bound_by(self, objects: Ints, iterations: int, work: Work) -> Floats:
        """Bound from some objects; return the reduced costs of all candidates."""
        matrix = to_sparse(self.covers, objects, work)
        touching = np.flatnonzero(np.diff(matrix.indptr))
        matrix = matrix[touching]
        known = self.multipliers[objects]
        warm = (known > 0.0).any()
        start = np.maximum(known, 0.0) if warm else None
        step = WARM_STEP if warm else 1.0
        _, costs, weights = subgradient_bound(
            matrix, len(self.cover), work, iterations, start, step
        )
        self.multipliers[:] = -1.0
        self.multipliers[objects] = weights
        bounds = [
            math.ceil(weights[columns].sum() + np.minimum(costs[rows], 0.0).sum())
            for rows, columns in components(matrix)
        ]
        self._raise_bound(sum(bounds))
        reduced = np.ones(len(self.covers))
        reduced[touching] = costs
        return reduced

    def _find_promising(self, reduced: Floats) -> Ints:
        """Return the candidates of low reduced cost that fit, and those of the best cover."""
        order = np.argsort(reduced, kind="stable")
        order = order[reduced[order] < PROMISING]
        order = order[np.cumsum(self.sizes[order]) <= LARGEST_CORE]
        return np.union1d(order, self.cover)

    def _search_among(self, candidates: Ints, weights: Ints, work: Work, effort: int) -> None:
        """Search locally for all objects among some candidates; the weights of objects grow."""
        everyone = np.flatnonzero(self.degree)
        matrix = to_sparse(self.covers.take(candidates), everyone, work)
        start = np.searchsorted(candidates, self.cover)
        local = LocalSearch(
            CoverLists.of(matrix), np.zeros_like(candidates), start, weights=weights[everyone]
        )
        local.run(self.lower_bound, work, STEPS * effort * sum(matrix.shape))
        weights[everyone] = local.arrays.weights
        self._improve(candidates[local.cover()])

    def _find_resisting(self, objects: Ints, weights: Ints, room: int) -> Ints:
        """Return the objects that were hardest to cover, and those that the bound rests on."""
        order = np.argsort(-weights, kind="stable")
        order = order[(weights[order] > 1) & (self.degree[order] > 0)]
        heavy = order[np.cumsum(self.degree[order]) <= room]
        return np.union1d(heavy, objects[self.multipliers[objects] > 0.0])

    def _prove_by(self, objects: Ints, work: Work) -> Ints:
        """Solve for some objects and complete the cover; return the objects to go on with."""
        matrix = to_sparse(self.covers, objects, work)
        work.spend(REDUCTION * matrix.nnz)
        touching = np.flatnonzero(np.diff(matrix.indptr))
        problem = Problem(matrix[touching], self.costs[touching], tie_break=False)
        try:
            problem.run(work)
        finally:
            self._raise_bound(problem.lower_bound)
        found = touching[problem.cover]
        missing = self._find_missing(found)
        if len(missing):
            table = pack_objects(missing, self.covers.n_objects)
            more = greedy_order(self.covers, self.costs, table)
            self._set_owners(more)
            found = np.concatenate((found, more))
        self._improve(without_redundant(self.covers, self.costs, found))
        return self._join(objects, missing)

    def _break_ties(self, objects: Ints, work: Work) -> None:
        """Solve for the second and third objective, with the minimum size known."""
        keep = undominated_rows(self.covers, self.costs, self.degree, work, LARGEST_CORE)
        if keep is None:
            return
        while self.degree[objects].sum() <= LARGEST_TIES:
            matrix = to_sparse(self.covers, objects, work)[keep]
            useful = np.flatnonzero(np.diff(matrix.indptr))
            ids = keep[useful]
            costs = self.costs[ids]
            problem = Problem(matrix[useful], costs, tie_break=True, has_dominated=False)
            problem.run(work)
            if not problem.cost_proved:
                return
            cover = ids[problem.cover]
            missing = self._find_missing(cover)
            if len(missing) == 0:
                self._cover, self.cost_proved, self.settled = cover, True, problem.settled
                return
            self._set_owners(self.cover)
            n_objects, objects = len(objects), self._join(objects, missing)
            if len(objects) == n_objects:  # no room
                return

    def _find_missing(self, cover: Ints) -> Ints:
        """Return the objects that a cover leaves uncovered."""
        covered = self.covers.take(cover).union()
        return np.flatnonzero(~covered & (self.degree > 0))

    def _set_owners(self, candidates: Ints) -> None:
        """Record a candidate that covers each object."""
        some = self.covers.take(candidates)
        members = elements(some.words, some.bits)
        self.owner[members] = np.repeat(candidates, self.sizes[candidates])  # the last one stays

    def _join(self, objects: Ints, missing: Ints) -> Ints:
        """Return some objects and hard missing ones, as far as there is room for these."""
        if len(missing) == 0:
            return objects
        pairs = int(self.degree[objects].sum())
        few = pairs // 4 + int(self.degree[missing].min()) * 2
        return np.union1d(objects, self._find_hardest(missing, min(few, LARGEST_CORE - pairs)))

    def _raise_bound(self, bound: int) -> None:
        self.lower_bound = max(self.lower_bound, min(bound, len(self.cover)))

    def _improve(self, cover: Ints) -> None:
        self._cover = better_cover(self.cover, cover, self.costs)

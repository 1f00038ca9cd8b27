"""A problem too large to be written out: its hard objects stand for all.

Few objects decide how many candidates are needed, and few candidates are promising. So rounds take
turns: a bound from the hard objects and all candidates, which says by its reduced costs which
candidates promise anything; and local search for all objects among these, which says by the weights
that objects have grown to which of them are hard. Every bound on some objects is a bound on the
whole.

For a proof, the hardest objects and all candidates that cover any of them are a small problem in
place of the whole one. Its cover may leave objects uncovered, and the hardest of these join it
until none is left; the cover is completed after every round, so that there is always a whole one.
"""

import math
import sys

import numpy as np

from frri._util import Flags, Floats, Ints, Words
from frri.cover import local_search, word_sets
from frri.cover import reduce as core
from frri.cover.bounds import subgradient_bound
from frri.cover.budget import CELLS, Exhausted, Work
from frri.cover.component import PROMISING, STEPS, CoreComponent, search_on
from frri.cover.matrix import CoverLists, CoverMatrix
from frri.cover.reduce import components
from frri.cover.solve import CoverOutcome, Problem

LARGEST_CORE = 4_000_000
"""Pairs of candidate and object that the small problem may have."""

FIRST_PAIRS = 10
"""Pairs per object of the whole that it has at first."""

LARGEST_TIES = 1 << 20
"""Pairs up to which ties between covers are broken."""

SEARCH_SHARE = 0.5
"""Of the effort, to be spent on better covers; the rest is for branch and bound."""

GREEDY_SECONDS = 1e-5
"""What a candidate takes in the greedy cover, interpreted."""

REDUNDANT_SECONDS = 5e-5
"""What a candidate takes to be found redundant or not, interpreted."""

QUICK_ITERATIONS = 100
"""Iterations that the first bound takes, whatever the effort."""

LONGEST_PROOF, SMALLER_SHARE = 10_000, 0.5
"""Units of work for branch and bound, and the fraction of the rest for one component."""

ITERATIONS, WARM_STEP = 300, 0.1
"""Iterations of the bound in a round, and the step length from known multipliers."""

PATIENCE = 5
"""Rounds without success, each of twice as many steps, after which the search ends."""


class LargeProblem:
    """Who covers whom as words, and the best cover and bound known.

    Parameters
    ----------
    covers : CoverMatrix
    costs : ndarray of int64
    tie_break : bool
        Whether the second and third objective are asked for.
    """

    def __init__(self, covers: CoverMatrix, costs: Ints, *, tie_break: bool) -> None:
        self.covers = covers
        self.costs = costs
        self.tie_break = tie_break
        self.sizes = covers.sizes()
        self.cover = np.zeros(0, dtype=np.int64)
        self.complete = False
        self.lower_bound = 0
        self.cost_proved = self.settled = False
        self.degree = np.zeros(0, dtype=np.int64)
        self.owner = np.zeros(covers.n_objects, dtype=np.int64)  # a candidate of some cover
        self.multipliers = np.full(covers.n_objects, -1.0)  # of objects that have one yet

    def outcome(self) -> CoverOutcome:
        """Return what is known, in any case a complete cover."""
        if not self.complete:  # stopped before there was one
            self.cover = greedy_on_words(self.covers, self.costs, Work(0, None))
        return CoverOutcome(self.cover, self.lower_bound, self.cost_proved, self.settled)

    def run(self, work: Work, solver: str = "branching") -> None:  # noqa: ARG002 - as elsewhere
        """Find a cover and a first bound in any case, then better ones within the limits."""
        work.limit = sys.maxsize
        self.degree = core.degrees(self.covers, work)
        missing = core.packed_set(np.flatnonzero(self.degree), self.covers.n_objects)
        chosen = in_greedy_order(self.covers, self.costs, missing, self.sizes.copy(), work)
        self.cover = without_redundant(self.covers, self.costs, chosen, work)
        self.complete, self.lower_bound = True, min(1, len(self.cover))
        work.check_time()
        self._bound_quickly(work)
        work.allow(1.0)
        work.spend(1)
        objects = self._minimise_count(work)
        if self.tie_break and len(self.cover) == self.lower_bound:
            self._break_ties(objects, work)

    def _bound_quickly(self, work: Work) -> None:
        everyone = np.flatnonzero(self.degree)
        self._note_owners(self.cover)
        objects = self._hardest(everyone, len(self.covers) + self.covers.n_objects)
        matrix = core.restricted(self.covers, objects, work)
        matrix = matrix[np.flatnonzero(np.diff(matrix.indptr))]
        if len(objects):
            upper = len(self.cover)
            relaxed = subgradient_bound(matrix, upper, work, QUICK_ITERATIONS)
            self.lower_bound = math.ceil(min(relaxed.bound, upper))
            self.multipliers[objects] = relaxed.multipliers

    def _hardest(self, objects: Ints, pairs: int) -> Ints:
        """Those of fewest coverers among some objects, together of so many pairs at most.

        Half of the room is for the hardest of all; the other half for the hardest that each
        candidate of a cover has, lest all of them come from one corner.
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

    def _minimise_count(self, work: Work) -> Ints:
        """First objective; the objects that have stood for all in the end."""
        room = min(FIRST_PAIRS * self.covers.n_objects, LARGEST_CORE // 4)
        objects = self._hardest(np.flatnonzero(self.degree), room)
        weights = np.ones(self.covers.n_objects, dtype=np.int64)
        patience = 0
        work.allow(SEARCH_SHARE)
        try:
            while patience < PATIENCE and not self._near_enough(work):
                size = len(self.cover)
                reduced = self._bound_by(objects, work)
                self._search_among(self._promising(reduced), weights, work, 2**patience)
                objects = self._resisting(objects, weights, room)
                patience = 0 if len(self.cover) < size else patience + 1
        except Exhausted:
            if work.stopped_by != "effort":
                raise
            work.stopped_by = None
        work.allow(1.0)
        end = work.spent + LONGEST_PROOF * CELLS
        while not self._near_enough(work) and work.spent < end:
            before = len(self.cover), len(objects)
            objects = self._round(objects, work, end - work.spent)
            if before == (len(self.cover), len(objects)):
                break
        return objects

    def _bound_by(self, objects: Ints, work: Work) -> Floats:
        """Bound from some objects; return the reduced costs of all candidates."""
        matrix = core.restricted(self.covers, objects, work)
        touching = np.flatnonzero(np.diff(matrix.indptr))
        matrix = matrix[touching]
        known = self.multipliers[objects]
        warm = (known > 0.0).any()
        start = np.maximum(known, 0.0) if warm else None
        step = WARM_STEP if warm else 1.0
        relaxed = subgradient_bound(matrix, len(self.cover), work, ITERATIONS, start, step)
        self.multipliers[:] = -1.0
        self.multipliers[objects] = relaxed.multipliers
        parts = (
            relaxed.multipliers[columns].sum() + np.minimum(relaxed.reduced[rows], 0.0).sum()
            for rows, columns in components(matrix)
        )
        bound = sum(math.ceil(part) for part in parts)  # no candidate is of two parts
        self.lower_bound = max(self.lower_bound, min(bound, len(self.cover)))
        reduced = np.ones(len(self.covers))
        reduced[touching] = relaxed.reduced
        return reduced

    def _promising(self, reduced: Floats) -> Ints:
        """Return the candidates of low reduced cost that fit, and those of the best cover."""
        order = np.argsort(reduced, kind="stable")
        order = order[reduced[order] < PROMISING]
        order = order[np.cumsum(self.sizes[order]) <= LARGEST_CORE]
        return np.union1d(order, self.cover)

    def _search_among(self, candidates: Ints, weights: Ints, work: Work, effort: int) -> None:
        """Local search of the whole among some candidates; the weights of objects grow."""
        everyone = np.flatnonzero(self.degree)
        matrix = core.restricted(self.covers.take(candidates), everyone, work)
        start = np.searchsorted(candidates, self.cover)
        state = local_search.LocalSearch(
            CoverLists.of(matrix), np.zeros_like(candidates), start, weights=weights[everyone]
        )
        steps = STEPS * effort * sum(matrix.shape)
        search_on(state, start, self.lower_bound, work, steps)
        weights[everyone] = state.arrays.weights
        self._improve(candidates[state.cover()])

    def _resisting(self, objects: Ints, weights: Ints, room: int) -> Ints:
        """Return the objects that were hardest to cover, and those of the bound."""
        order = np.argsort(-weights, kind="stable")
        order = order[(weights[order] > 1) & (self.degree[order] > 0)]
        heavy = order[np.cumsum(self.degree[order]) <= room]
        return np.union1d(heavy, objects[self.multipliers[objects] > 0.0])

    def _near_enough(self, work: Work) -> bool:
        return work.near_enough(len(self.cover), self.lower_bound)

    def _round(self, objects: Ints, work: Work, proof: int) -> Ints:
        """Search, bound and prove with some objects; return the objects to go on with."""
        matrix = core.restricted(self.covers, objects, work)
        touching = np.flatnonzero(np.diff(matrix.indptr))
        small = core.Core(matrix[touching], self.sizes[touching], work)
        ids = touching[small.candidates]
        known = self._as_known(touching, small)
        alone, pieces = [], []
        for candidates, columns in components(small.matrix):
            own = ids[candidates]
            if len(own) == 1:
                alone.append(own)
                continue
            part = small.matrix[candidates][:, columns]
            names = objects[small.objects[columns]]
            start = np.flatnonzero(known[candidates])
            pieces.append(CoreComponent(part, own, names, self.costs[own], self.sizes[own], start))
        for piece in pieces:
            piece.search(self.multipliers, work)
        self._raise_bound(len(alone), pieces)
        end = work.spent + proof
        for piece in pieces:
            share = 1.0 if piece is pieces[-1] else SMALLER_SHARE
            try:
                piece.prove(self.multipliers, work, int(share * (end - work.spent)))
            finally:
                self._raise_bound(len(alone), pieces)
        chosen = [
            np.zeros(0, dtype=np.int64),
            *alone,
            *(piece.ids[piece.cover] for piece in pieces),
        ]
        found = np.sort(np.concatenate(chosen))
        missing = self._missing(found)
        self._improve(self._completed(found, missing, work))
        return self._joined(objects, objects[small.objects], missing)

    def _raise_bound(self, alone: int, pieces: list[CoreComponent]) -> None:
        bound = alone + sum(piece.lower_bound for piece in pieces)
        self.lower_bound = max(self.lower_bound, min(bound, len(self.cover)))

    def _as_known(self, touching: Ints, small: core.Core) -> Flags:
        """Return the known cover in terms of the candidates of a small problem."""
        places = np.full(len(self.covers), -1, dtype=np.int64)
        places[touching] = small.stands_for
        known = np.zeros(len(small.candidates) + 1, dtype=bool)  # the last one: of no candidate
        known[places[self.cover]] = True
        return known[:-1]

    def _missing(self, cover: Ints) -> Ints:
        times = core.times_covered(self.covers, cover)
        return np.flatnonzero((times == 0) & (self.degree > 0))

    def _completed(self, cover: Ints, missing: Ints, work: Work) -> Ints:
        if len(missing) == 0:
            return cover
        table = core.packed_set(missing, self.covers.n_objects)
        more = in_greedy_order(
            self.covers, self.costs, table, self.covers.sizes_within(table), work
        )
        self._note_owners(more)
        return without_redundant(self.covers, self.costs, np.concatenate((cover, more)), work)

    def _note_owners(self, candidates: Ints) -> None:
        """Who covers what, in the end."""
        some = self.covers.take(candidates)
        members = core.elements(some.words, some.bits)
        self.owner[members] = np.repeat(candidates, self.sizes[candidates])  # the last one stays

    def _joined(self, objects: Ints, needed: Ints, missing: Ints) -> Ints:
        """Add hard missing objects; without room for them, keep only the `needed` ones."""
        if len(missing) == 0:
            return objects
        few = self.degree[objects].sum() // 4 + int(self.degree[missing].min()) * 2
        room = LARGEST_CORE - int(self.degree[objects].sum())
        if few > room:
            objects = needed
            room = LARGEST_CORE - int(self.degree[objects].sum())
        return np.union1d(objects, self._hardest(missing, min(int(few), room)))

    def _improve(self, cover: Ints) -> None:
        ours = len(self.cover), int(self.costs[self.cover].sum())
        if (len(cover), int(self.costs[cover].sum())) < ours:
            self.cover = cover

    def _break_ties(self, objects: Ints, work: Work) -> None:
        """Second and third objective, with the fewest candidates known."""
        keep = core.undominated_rows(self.covers, self.costs, self.degree, work, LARGEST_CORE)
        if keep is None:
            return
        while self.degree[objects].sum() <= LARGEST_TIES:
            matrix = core.restricted(self.covers, objects, work)[keep]
            useful = np.flatnonzero(np.diff(matrix.indptr))
            ids = keep[useful]
            problem = Problem(matrix[useful], self.costs[ids], tie_break=True, judged=True)
            problem.run(work)
            outcome = problem.outcome()
            if not outcome.cost_proved:
                return
            cover = ids[outcome.selected]
            missing = self._missing(cover)
            if len(missing) == 0:
                self.cover = cover
                self.cost_proved, self.settled = True, outcome.settled
                return
            self._note_owners(self.cover)
            objects = self._joined(objects, objects, missing)


def greedy_on_words(covers: CoverMatrix, costs: Ints, work: Work) -> Ints:
    """Return an irredundant cover, ascending: largest gain, then lower cost, then first.

    Examples
    --------
    >>> covers = CoverMatrix.from_dense([[1, 1, 0], [0, 1, 1], [1, 1, 1]])
    >>> greedy_on_words(covers, np.array([0, 0, 0]), Work(0, None))
    array([2])
    """
    chosen = in_greedy_order(covers, costs, covers.table(), covers.sizes(), work)
    return without_redundant(covers, costs, chosen, work)


def in_greedy_order(
    covers: CoverMatrix, costs: Ints, missing: Words, gains: Ints, work: Work
) -> Ints:
    """Return candidates that cover what is missing, in the order of `word_sets.greedy`."""
    kernels = work.kernels(word_sets, ahead=GREEDY_SECONDS * len(covers))
    preferred = np.argsort(costs, kind="stable")
    heap = word_sets.greedy_keys(gains, preferred)
    chosen: Ints = kernels.greedy(
        covers.indptr, covers.words, covers.bits, preferred, heap, missing
    )
    return chosen


def without_redundant(covers: CoverMatrix, costs: Ints, chosen: Ints, work: Work) -> Ints:
    """Remove redundant candidates, expensive and late ones first; return the rest, ascending."""
    some = covers.take(chosen)
    kernels = work.kernels(word_sets, ahead=REDUNDANT_SECONDS * len(chosen))
    counts = np.zeros(-(-covers.n_objects // 64) * 64, dtype=np.int64)
    kernels.count(some.words, some.bits, counts)
    order = np.lexsort((-np.arange(len(chosen)), -costs[chosen]))
    needed = kernels.needed(some.indptr, some.words, some.bits, order, counts)
    return np.sort(chosen[order[needed]])

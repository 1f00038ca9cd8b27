"""Lower bounds on the errors of subsets, by matching corrected samples with harmed ones.

A subset x (0 or 1 for each candidate) raises a sample to a level; odd levels are errors (see
`frri.pareto.best_subset`). Let u(i, l) be 1 if sample i is at level l or above, else 0. Then the
errors are a constant, less u of even levels, plus u of odd ones, where an odd level may be left
out together with the even one above it. Let R(l) be the candidates that reach a level. For every
subset,

- an even level e is reached by one of R(e): u(e) <= 1 and u(e) <= sum of x over R(e),
- a candidate that reaches e but not the odd level o is outside R(o):
  u(e) <= u(o) + sum of x over R(e) - R(o),
- a candidate that reaches o raises it: u(o) >= x of each in R(o) and, for at most K candidates,
  u(o) >= sum of x over R(o) / K.

Use each even level once (in one of the first three inequalities) and each odd one at most once,
and add up: the errors are at least constant - A - sum of g x, with a number g for each candidate,
so at least constant - A - the K largest g. The third inequality makes the difference. Without it,
the relaxation of an integer program corrects a sample by fractions of many candidates, each of
which does only its fraction of harm; with it, a sample is corrected without cost only by
candidates that do not harm its partner.

The assignment of even to odd levels is an assignment problem for every x; its solution is a *cut*,
A and g. The x where the highest cut is lowest is the solution of a small linear program, and the
next x is on the way there. Every matching is valid, and so is every mean of cuts, so that the
proof does not depend on a solver: A and g are multiples of a power of two, means use multiples of
another, and these are so coarse that every sum is exact in float64.
"""

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, linprog

from frri._util import Flags, Floats, Ints

Levels = NDArray[np.uint16]

# Coefficients of a mean of cuts are multiples of this.
UNIT = 2.0**-20
# Gains are multiples of 1 / PARTS.
PARTS = 1024
# Number of errors above which sums of products of both would be rounded.
LARGEST = 2.0**20
# Maximum number of odd levels to match, those of the greatest weight under x.
EVENTS = 1200
# Candidates with a smaller part of x are ignored when matching.
TINY = 1e-3
# The ascent ends after this number of rounds with less than this progress.
PATIENCE, PROGRESS = 20, 0.05
# Part of the way that x moves to where the cuts are lowest.
REACH = 0.3
# Maximum number of cuts kept.
KEPT = 80
# Rounds of matching for samples of different weights, each with the remaining weights.
ROUNDS = 3


class Cut(NamedTuple):
    """A bound for subsets of at most some size: errors >= constant - sum of the selected gains."""

    at_most: int
    constant: float
    gains: Floats

    def bound(self, at_most: int) -> int:
        """Return the lower bound on the errors of subsets of at most some size."""
        return max(0, int(np.ceil(self.least(at_most))))

    def least(self, at_most: int) -> float:
        """Return the same, not rounded to an integer."""
        return self.constant - self._largest_sum(at_most)

    def possible(self, at_most: int, errors: int) -> Flags:
        """Return the candidates that a subset with fewer errors may contain."""
        with_each = self.constant - self._largest_sum(at_most - 1) - self.gains
        return np.asarray(np.ceil(with_each) < errors)

    def relaxed(self, x: Floats) -> float:
        """Return the bound for a fractional subset."""
        return float(self.constant - self.gains @ x)

    def _largest_sum(self, number: int) -> float:
        """Return the sum of the largest positive gains."""
        if number <= 0:
            return 0.0
        return float(np.sort(np.maximum(self.gains, 0.0))[::-1][:number].sum())


class MatchingBound:
    """Cuts for one maximum size after another, the largest first: they hold for smaller ones too.

    `levels`, `start` and `counts` are those of `frri.pareto.best_subset.LevelTable`.
    """

    def __init__(self, levels: Levels, start: Levels, counts: Floats) -> None:
        self.levels, self.counts = levels, counts
        self.odd = (levels & 1).astype(bool) & (levels > start)
        self.wrong = np.flatnonzero(start)
        self.errors = float(counts[self.wrong].sum())
        self.cuts: list[Cut] = []

    def ascend(
        self, chosen: list[int], errors: int, at_most: int, deadline: float
    ) -> tuple[Cut | None, Floats]:
        """Return the best cut for subsets of at most some size, and the x of the least relaxation.

        The ascent begins at a good subset and ends when the bound reaches the errors of that.
        """
        x = np.zeros(len(self.levels))
        x[chosen] = 1.0
        center, least, best, idle = x, np.inf, None, 0
        if self.counts.sum() > LARGEST or not len(self.levels):
            return None, x
        x = (x + at_most / len(x)) / 2.0
        while idle < PATIENCE and time.perf_counter() < deadline:
            self.cuts.append(self.make_cut(x, at_most))
            if self.cuts[-1].relaxed(x) < least:
                least, center = self.cuts[-1].relaxed(x), x
            lowest, shares = _minimize_cuts(self.cuts, at_most)
            mean = average_cuts(self.cuts, shares)
            progress = np.inf if best is None else mean.least(at_most) - best.least(at_most)
            best = mean if progress > 0 else best
            idle = 0 if progress > PROGRESS else idle + 1
            if best is None or best.bound(at_most) >= min(errors, np.ceil(least - PROGRESS)):
                break
            x = REACH * lowest + (1.0 - REACH) * center
            heaviest = np.sort(np.argsort(-shares, kind="stable")[:KEPT])
            self.cuts = [self.cuts[t] for t in heaviest.tolist()]
        return best, center

    def make_cut(self, x: Floats, at_most: int) -> Cut:
        """Return the cut of the best matching for an x."""
        some = np.flatnonzero(x > TINY)
        part = x[some]
        samples, odd = self._find_odd_levels(some, part)
        # Misclassified samples have an even level of their own; every odd one has that above it.
        of_even = np.concatenate([self.wrong, samples])
        even = np.concatenate([np.full(len(self.wrong), 2), odd + 1])
        rises = (self.levels[np.ix_(some, of_even)] >= even).T.astype(np.float64)
        harms = (self.levels[np.ix_(some, samples)] >= odd).T.astype(np.float64)
        sums = rises @ part
        single = (harms * part).max(axis=1, initial=0.0)
        shared = harms @ part / at_most
        saved = np.minimum(sums, 1.0)[:, None] - sums[:, None] + (rises * part) @ harms.T
        saved -= np.maximum(single, shared)
        left_even, left_odd = self.counts[of_even], self.counts[samples]
        gains = np.zeros(len(x))
        for _ in range(ROUNDS):
            e, o = _match_levels(saved, left_even, left_odd)
            if not len(e):
                break
            flow = np.minimum(left_even[e], left_odd[o])
            left_even[e] -= flow
            left_odd[o] -= flow
            reaches = self.levels[:, of_even[e]] >= even[e]
            gains += (reaches & (self.levels[:, samples[o]] < odd[o])) @ flow
        sure = left_even * (sums >= 1.0)
        left_even -= sure
        gains += self._add_weights(of_even, even, left_even)
        by_all = left_odd * (shared > single)
        # Each of at most K candidates has its part of the harm; rounded down, to be valid.
        parts = self._add_weights(samples, odd, by_all).astype(np.int64) * PARTS // at_most
        gains -= parts / PARTS
        by_one = np.flatnonzero((left_odd > by_all) & (single > 0.0))
        if len(by_one):
            strongest = some[(harms[by_one] * part).argmax(axis=1)]
            np.subtract.at(gains, strongest, left_odd[by_one])
        return Cut(at_most, self.errors - float(sure.sum()), gains)

    def _find_odd_levels(self, some: Ints, part: Floats) -> tuple[Ints, Ints]:
        """Return the samples and odd levels to which x raises the greatest weight."""
        rows, samples = np.nonzero(self.odd[some])
        odd = self.levels[some[rows], samples].astype(np.int64)
        keys, places = np.unique(samples << 16 | odd, return_inverse=True)
        weight = np.bincount(places.ravel(), part[rows] * self.counts[samples], len(keys))
        keys = keys[np.sort(np.argsort(-weight, kind="stable")[:EVENTS])]
        return keys >> 16, keys & 0xFFFF

    def _add_weights(self, samples: Ints, levels: Ints, weights: Floats) -> Floats:
        """Return the sum of the weights of the levels that each candidate reaches."""
        here = np.flatnonzero(weights)
        return np.asarray((self.levels[:, samples[here]] >= levels[here]) @ weights[here])


def average_cuts(cuts: list[Cut], shares: Floats) -> Cut:
    """Return a mean of cuts by multiples of the unit that add up to 1, without any rounding."""
    whole = np.floor(shares / max(float(shares.sum()), UNIT) / UNIT)
    whole[whole.argmax()] += 1.0 / UNIT - whole.sum()
    used = np.flatnonzero(whole).tolist()
    gains = sum((whole[t] * UNIT) * cuts[t].gains for t in used)
    constant = sum(whole[t] * UNIT * cuts[t].constant for t in used)
    return Cut(min(cuts[t].at_most for t in used), constant, np.asarray(gains))


def _minimize_cuts(cuts: list[Cut], at_most: int) -> tuple[Floats, Floats]:
    """Return the x where the highest cut is lowest, and the dual coefficient of each cut."""
    gains = np.array([cut.gains for cut in cuts])
    here = np.flatnonzero((gains > 0.0).any(axis=0))
    rows = np.column_stack([-gains[:, here], -np.ones(len(cuts))])
    total = np.append(np.ones(len(here)), 0.0)
    answer = linprog(
        np.append(np.zeros(len(here)), 1.0),
        A_ub=np.vstack([rows, total]),
        b_ub=np.append([-cut.constant for cut in cuts], at_most),
        bounds=[(0.0, 1.0)] * len(here) + [(None, None)],
        method="highs-ds",
    )
    x, shares = np.zeros(gains.shape[1]), np.ones(len(cuts))
    if answer.x is not None:
        x[here] = answer.x[:-1]
        shares = np.maximum(-answer.ineqlin.marginals[:-1], 0.0)
    return x, shares


def _match_levels(saved: Floats, left_even: Floats, left_odd: Floats) -> tuple[Ints, Ints]:
    """Return the pairs of remaining even and odd levels that save most together."""
    saved = saved * np.minimum(left_even[:, None], left_odd)
    rows = np.flatnonzero(saved.max(axis=1, initial=0.0) > TINY)
    columns = np.flatnonzero(saved.max(axis=0, initial=0.0) > TINY)
    gain = np.maximum(saved[np.ix_(rows, columns)], 0.0)
    e, o = linear_sum_assignment(gain, maximize=True)
    good = gain[e, o] > TINY
    return rows[e[good]], columns[o[good]]

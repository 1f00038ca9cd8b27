"""Lower bounds for candidates that compete: objects that are put right are matched with those that are harmed.

A choice x (0 or 1 for each candidate) lifts an object to a level; odd levels are errors (see `winner`). Let
u(i, l) say whether object i is at level l or above. Then the errors are a constant, less u of even levels,
plus u of odd ones, where an odd level may be left out together with the even one above it. Whatever the choice,

- an even level e is reached by someone who reaches it: u(e) <= 1 and u(e) <= sum of x over R(e),
- who does not reach the odd level o as well must be outside R(o): u(e) <= u(o) + sum of x over R(e) - R(o),
- who reaches o lifts it: u(o) >= x of each in R(o), and, if there are at most K, u(o) >= sum of x over R(o) / K.

Use each even level once (for one of the first three) and each odd one at most once, and add up: the errors are
at least constant - A - sum of g x, with a number g for each candidate, so at least constant - A - the K
largest of g. The third inequality makes the difference. Without it, the relaxation of an integer programme puts an
object right by fractions of many candidates, each of which does only its fraction of harm; with it, an object
is put right for nothing only by those who do not harm its partner.

Which even level is matched with which odd one is an assignment problem for every x; its answer is a *cut*, A and
g. The x where all cuts so far are lowest is a small linear programme, and the next x is on the way there. Any
matching is valid, and so is any mean of cuts, so no solver is trusted: A and g are multiples of a power of two,
means are taken by multiples of another, and these are so coarse that every sum is exact in float64.
"""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, linprog

from frri._util import Flags, Floats, Ints

Levels = NDArray[np.uint16]

UNIT = 2.0**-20
"""Shares of cuts are multiples of this."""

PARTS = 1024
"""Gains are whole numbers of such parts."""

LARGEST = 2.0**20
"""Above so many errors sums of products of both would be rounded."""

EVENTS = 1200
"""Odd levels that are matched, those of the greatest weight under x."""

TINY = 1e-3
"""Candidates with less of x are not looked at to find a matching."""

PATIENCE, PROGRESS = 20, 0.05
"""Rounds without so much progress after which the ascent ends."""

REACH = 0.3
"""How far x goes to where the cuts are lowest."""

KEPT = 80
"""How many cuts are kept."""

TURNS = 3
"""Objects that weigh different amounts are matched so often, each time with what is left of them."""


@dataclass(frozen=True)
class Cut:
    """Valid for all choices of at most so many: errors >= constant - sum of the gains of the chosen.

    Attributes
    ----------
    at_most : int
    constant : float
    gains : ndarray of float64
    """

    at_most: int
    constant: float
    gains: Floats

    def bound(self, at_most: int) -> int:
        """What no choice of at most so many can be below."""
        return max(0, int(np.ceil(self.least(at_most))))

    def possible(self, at_most: int, errors: int) -> Flags:
        """The candidates that a choice of at most so many with fewer errors may have."""
        with_it = self.constant - self._most(at_most - 1) - self.gains
        return np.asarray(np.ceil(with_it) < errors)

    def least(self, at_most: int) -> float:
        """The same, not rounded to a whole number."""
        return self.constant - self._most(at_most)

    def relaxed(self, x: Floats) -> float:
        """Errors of a choice by halves, about."""
        return float(self.constant - self.gains @ x)

    def _most(self, number: int) -> float:
        """The most that so many gain together."""
        if number <= 0:
            return 0.0
        return float(np.sort(np.maximum(self.gains, 0.0))[::-1][:number].sum())


class Ascent:
    """Bounds for one number of candidates after the other, from the largest on: what is valid for more is for fewer.

    Parameters
    ----------
    levels : ndarray of uint16, shape (n_candidates, n_objects)
        Levels to which candidates lift objects, 0 where they change nothing.
    start : ndarray of uint16, shape (n_objects,)
        Their levels without anyone, 0 or 1.
    counts : ndarray of float64, shape (n_objects,)
        What objects weigh, whole numbers.
    """

    def __init__(self, levels: Levels, start: Levels, counts: Floats) -> None:
        self.levels, self.start, self.counts = levels, start, counts
        self.cuts: list[Cut] = []

    def bounded(
        self, chosen: list[int], errors: int, at_most: int, deadline: float | None
    ) -> tuple[Cut | None, Floats]:
        """The best cut found for choices of at most so many, and the x where the relaxation is least.

        Parameters
        ----------
        chosen : list of int
            A good choice, to begin with.
        errors : int
            Its errors; a bound of as many ends the ascent.
        at_most : int
        deadline : float, optional
            By `time.perf_counter`.
        """
        x = np.zeros(len(self.levels))
        x[chosen] = 1.0
        centre, least, best, idle = x, np.inf, None, 0
        if self.counts.sum() > LARGEST or not len(self.levels):
            return None, x
        matcher = _Matcher(self.levels, self.start, self.counts, at_most)
        x = (x + at_most / len(x)) / 2.0
        while idle < PATIENCE and (deadline is None or time.perf_counter() < deadline):
            self.cuts.append(matcher.cut(x))
            if self.cuts[-1].relaxed(x) < least:
                least, centre = self.cuts[-1].relaxed(x), x
            lowest, shares = _lowest(self.cuts, at_most)
            mean = _mean(self.cuts, shares)
            progress = np.inf if best is None else mean.least(at_most) - best.least(at_most)
            best = mean if progress > 0 else best
            idle = 0 if progress > PROGRESS else idle + 1
            if best is None or best.bound(at_most) >= min(errors, np.ceil(least - PROGRESS)):
                break
            x = REACH * lowest + (1.0 - REACH) * centre
            heaviest = np.sort(np.argsort(-shares, kind="stable")[:KEPT])
            self.cuts = [self.cuts[t] for t in heaviest.tolist()]
        return best, centre


def _lowest(cuts: list[Cut], at_most: int) -> tuple[Floats, Floats]:
    """The x where the highest of the cuts is lowest, and how much of each of them makes it so."""
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


def _mean(cuts: list[Cut], shares: Floats) -> Cut:
    """A mean of cuts by multiples of the unit that add up to 1, so that no sum is rounded."""
    whole = np.floor(shares / max(float(shares.sum()), UNIT) / UNIT)
    whole[whole.argmax()] += 1.0 / UNIT - whole.sum()
    used = np.flatnonzero(whole)
    gains = sum((whole[t] * UNIT) * cuts[t].gains for t in used.tolist())
    constant = sum(whole[t] * UNIT * cuts[t].constant for t in used.tolist())
    return Cut(min(cuts[t].at_most for t in used.tolist()), constant, np.asarray(gains))


class _Matcher:
    """Cuts for choices of at most so many candidates."""

    def __init__(self, levels: Levels, start: Levels, counts: Floats, at_most: int) -> None:
        self.levels, self.counts, self.at_most = levels, counts, at_most
        self.odd = (levels & 1).astype(bool) & (levels > start)
        self.wrong = np.flatnonzero(start)
        self.errors = float(counts[self.wrong].sum())

    def cut(self, x: Floats) -> Cut:
        """The cut of the best matching for an x."""
        some = np.flatnonzero(x > TINY)
        part = x[some]
        objects, odd = self._odd_levels(some, part)
        # Those that are wrong at first have an even level of their own, every odd one has that above it.
        of_even = np.concatenate([self.wrong, objects])
        even = np.concatenate([np.full(len(self.wrong), 2), odd + 1])
        rises = (self.levels[np.ix_(some, of_even)] >= even).T.astype(np.float64)
        harms = (self.levels[np.ix_(some, objects)] >= odd).T.astype(np.float64)
        sums = rises @ part
        single = (harms * part).max(axis=1, initial=0.0)
        shared = harms @ part / self.at_most
        saved = np.minimum(sums, 1.0)[:, None] - sums[:, None] + (rises * part) @ harms.T
        saved -= np.maximum(single, shared)
        left_even, left_odd = self.counts[of_even], self.counts[objects]
        gains = np.zeros(len(x))
        for _ in range(TURNS):
            e, o = _matched(saved, left_even, left_odd)
            if not len(e):
                break
            flow = np.minimum(left_even[e], left_odd[o])
            left_even[e] -= flow
            left_odd[o] -= flow
            outside = (self.levels[:, of_even[e]] >= even[e]) & (
                self.levels[:, objects[o]] < odd[o]
            )
            gains += outside @ flow
        sure = left_even * (sums >= 1.0)
        left_even -= sure
        gains += self._at(of_even, even, left_even)
        by_all = left_odd * (shared > single)
        # Each of at most so many has its part of the harm; rounded down, to be safe.
        parts = self._at(objects, odd, by_all).astype(np.int64) * PARTS // self.at_most
        gains -= parts / PARTS
        by_one = np.flatnonzero((left_odd > by_all) & (single > 0.0))
        if len(by_one):
            strongest = some[(harms[by_one] * part).argmax(axis=1)]
            np.subtract.at(gains, strongest, left_odd[by_one])
        return Cut(self.at_most, self.errors - float(sure.sum()), gains)

    def _odd_levels(self, some: Ints, part: Floats) -> tuple[Ints, Ints]:
        """The odd levels to which x lifts objects most."""
        rows, objects = np.nonzero(self.odd[some])
        odd = self.levels[some[rows], objects].astype(np.int64)
        keys, places = np.unique(objects << 16 | odd, return_inverse=True)
        weight = np.bincount(places.ravel(), part[rows] * self.counts[objects], len(keys))
        keys = keys[np.sort(np.argsort(-weight, kind="stable")[:EVENTS])]
        return keys >> 16, keys & 0xFFFF

    def _at(self, objects: Ints, levels: Ints, weights: Floats) -> Floats:
        """What the levels weigh to which each candidate lifts objects."""
        here = np.flatnonzero(weights)
        lifted = self.levels[:, objects[here]] >= levels[here]
        return np.asarray(lifted @ weights[here])


def _matched(saved: Floats, left_even: Floats, left_odd: Floats) -> tuple[Ints, Ints]:
    """Pairs of an even and an odd level, of those left, that save most together."""
    saved = saved * np.minimum(left_even[:, None], left_odd)
    rows = np.flatnonzero(saved.max(axis=1, initial=0.0) > TINY)
    columns = np.flatnonzero(saved.max(axis=0, initial=0.0) > TINY)
    gain = np.maximum(saved[np.ix_(rows, columns)], 0.0)
    e, o = linear_sum_assignment(gain, maximize=True)
    good = gain[e, o] > TINY
    return rows[e[good]], columns[o[good]]

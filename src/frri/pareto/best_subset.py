"""Candidates that compete: the one with the highest score decides about an object, rightly or wrongly.

The fewest errors that so many candidates can make are searched by adding and swapping, and then proved by
going through all choices but those that cannot be better. Where there is no time for that, it is proved
that no choice has fewer errors than a number below: the search for less is the shorter one.

What matters of the scores are *levels*. An object without any candidate has level 0 if it is right then and
1 if it is wrong. Above that, going from low scores to high ones, the level rises by one whenever candidates
change sides. So a choice has for each object the highest level of its candidates, and an odd level is an
error.

Before that, objects that are put right are matched with objects that are harmed (`_bound.matching`). That gives a
bound for every number of candidates, and says which of them no better choice can have.
"""

import time
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frri._util import Flags, Floats, Ints
from frri.cover.solve import Status
from frri.pareto.matching_bound import Ascent, Cut

Levels = NDArray[np.uint16]
Found = tuple[int, list[int]]
"""Errors and the candidates that make them."""

BLOCK = 1 << 20
"""Elements of a block of bounds."""

FEW = 20_000
"""Choices that are gone through without looking for a bound first."""

KICKS, QUICK = 20, 10_000_000
"""How often a choice is tried again, at most; fewer times where there are more levels than a part of this."""

SHORT = 8
"""Errors (the heaviest ones) between the bound and the best choice from which on the whole way is tried."""


@dataclass(frozen=True)
class WinnerChoice:
    """The best choice found of at most so many candidates, and what is proved about it.

    Attributes
    ----------
    at_most : int
        How many candidates there may be.
    selected : ndarray of int64
        The chosen candidates, ascending.
    errors : int
        Objects that are decided wrongly, or what they weigh.
    bound : int
        Proved: no choice of at most so many candidates makes fewer errors.
    """

    at_most: int
    selected: Ints
    errors: int
    bound: int

    @property
    def status(self) -> Status:
        """Whether the bound proves that nothing better can be had."""
        return "optimal" if self.errors == self.bound else "feasible"


def fewest_errors(
    scores: ArrayLike,
    says: ArrayLike,
    classes: ArrayLike,
    sizes: ArrayLike,
    *,
    default: int = -1,
    weights: ArrayLike | None = None,
    time_limit: float | None = None,
) -> tuple[WinnerChoice, ...]:
    """Choose the candidates that make the fewest errors, for each number of them.

    Parameters
    ----------
    scores : array of shape (n_candidates, n_objects)
        The highest one of the chosen decides; of equal ones that of the first class. A candidate has
        nothing to say about an object where its score is 0 or less.
    says : array of int, shape (n_candidates,)
        The class that each candidate says.
    classes : array of int, shape (n_objects,)
        The class that is right.
    sizes : array of int
        How many candidates there may be, ascending.
    default : int
        The class of objects about which no candidate has anything to say; -1 if that is always wrong.
    weights : array of whole numbers above 0, shape (n_objects,), optional
        What an error about each object counts; 1 unless given. Together at most 2 ** 53.
    time_limit : float, optional
        Limit in seconds for the proofs, shared among the sizes; by default all is proved.

    Returns
    -------
    tuple of WinnerChoice
        One for each size.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.0, 0.7], [0.0, 0.0, 0.6, 0.8], [0.5, 0.5, 0.5, 0.5]]
    >>> for choice in fewest_errors(scores, [0, 1, 0], [0, 0, 1, 1], [1, 2], default=1):
    ...     print(choice.selected, choice.errors, choice.status)
    [0] 1 optimal
    [0 1] 0 optimal
    """
    start = time.perf_counter()
    right = np.asarray(classes)
    contest = _Contest(
        np.asarray(scores, dtype=np.float64),
        np.asarray(says),
        right,
        default,
        np.ones(len(right)) if weights is None else np.asarray(weights, dtype=np.float64),
    )
    limits = np.asarray(sizes, dtype=np.int64).tolist()
    found: list[Found] = []
    for most in limits:
        found.append(contest.kicked(found[-1][1] if found else [], most))
    bounds, cuts = _bounded(contest, limits, found, start, time_limit)
    for place, most in enumerate(limits):
        if place:
            more = contest.improved(found[place - 1][1], most)
            found[place] = min(found[place], (contest.errors(more), more), key=_errors)
        left = None
        if time_limit is not None:
            # Half of what is left for each but the last: few candidates are quick, many hopeless.
            left = max(0.0, time_limit - (time.perf_counter() - start))
            left /= 2 if place < len(limits) - 1 else 1
        possible = np.ones(len(contest.levels), dtype=bool)
        for cut in cuts:
            if cut.at_most >= most:
                possible &= cut.possible(most, found[place][0])
        best, bounds[place] = contest.proved(found[place], most, bounds[place], possible, left)
        # What at most so many can do, more can as well.
        found[place:] = [min(best, other, key=_errors) for other in found[place:]]
    # And what more cannot, fewer cannot.
    bounds = np.maximum.accumulate(bounds[::-1])[::-1].tolist()
    return tuple(
        WinnerChoice(most, np.array(sorted(rules), dtype=np.int64), errors, bound)
        for most, (errors, rules), bound in zip(limits, found, bounds, strict=True)
    )


def _errors(one: Found) -> int:
    return one[0]


def _bounded(
    contest: "_Contest",
    limits: list[int],
    found: list[Found],
    start: float,
    time_limit: float | None,
) -> tuple[list[int], list[Cut]]:
    """Bounds by matching, where going through all choices would take long, with the cuts that prove them.

    What is found on the way that is better takes its place among the choices.
    """
    ascent = Ascent(contest.levels, contest.start, contest.counts)
    cuts: list[Cut] = []
    for place in reversed(range(len(limits))):
        most = limits[place]
        if comb(len(contest.levels), most) <= FEW:
            continue
        deadline = None
        if time_limit is not None:
            # Half of the time for all sizes, and half of what is left of it for each: the next one begins
            # with the cuts of this one.
            now = time.perf_counter()
            deadline = now + max(0.0, start + time_limit / 2.0 - now) / 2.0
        cut, x = ascent.bounded(found[place][1], found[place][0], most, deadline)
        if cut is None:
            continue
        cuts.append(cut)
        near = contest.improved(np.argsort(-x, kind="stable")[:most].tolist(), most)
        found[place] = min(found[place], (contest.errors(near), near), key=_errors)
    return [
        max((cut.bound(most) for cut in cuts if cut.at_most >= most), default=0) for most in limits
    ], cuts


class _Contest:
    """The levels of all candidates; objects that all candidates treat alike are one that counts as many."""

    def __init__(
        self,
        scores: Floats,
        says: NDArray[np.int_],
        classes: NDArray[np.int_],
        default: int,
        weights: Floats,
    ) -> None:
        start = (classes != default).astype(np.uint16)
        levels = np.array(
            [
                _levels(scores[:, i], says, int(classes[i]), int(start[i]))
                for i in range(len(classes))
            ],
            dtype=np.uint16,
        ).reshape(len(classes), len(says))
        alike, kinds = np.unique(np.column_stack([start, levels]), axis=0, return_inverse=True)
        self.says = np.asarray(says, dtype=np.intp)
        self.start: Levels = np.ascontiguousarray(alike[:, 0])
        self.levels: Levels = np.ascontiguousarray(alike[:, 1:].T)
        self.heaviest = weights.max(initial=0.0)
        self.counts = np.bincount(kinds.ravel(), weights, len(alike)).astype(np.float64)

    def errors(self, chosen: list[int]) -> int:
        return int((self._state(chosen) & 1) @ self.counts)

    def improved(self, chosen: list[int], most: int) -> list[int]:
        """Candidates added and swapped one at a time, as long as that leaves fewer errors."""
        chosen = list(chosen)
        now = self.errors(chosen)
        while True:
            before = now
            while len(chosen) < most:
                errors = self._with_each(self._state(chosen))
                if not len(errors) or errors.min() >= now:
                    break
                chosen.append(int(errors.argmin()))
                now = int(errors.min())
            for place in range(len(chosen)):
                errors = self._with_each(self._state(chosen[:place] + chosen[place + 1 :]))
                if errors.min() < now:
                    chosen[place], now = int(errors.argmin()), int(errors.min())
            if now == before:
                return chosen

    def kicked(self, chosen: list[int], most: int) -> Found:
        """A choice with few errors: added and swapped, then again without two of it, as often as is quick."""
        best = self.improved(chosen, most)
        random = np.random.default_rng(0)
        for _ in range(min(KICKS, QUICK // max(self.levels.size, 1)) if most > 2 else 0):
            kept = random.permutation(best)[2:].tolist()
            best = min(best, self.improved(kept, most), key=self.errors)
        return self.errors(best), best

    def proved(
        self,
        best: Found,
        most: int,
        bound: int,
        possible: Flags,
        time_limit: float | None,
    ) -> tuple[Found, int]:
        """The best choice after all, and what no choice can be below, of those that are possible for fewer errors."""
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        search = _Search(self, best, possible, deadline)
        while bound < search.best[0]:
            # A quarter of the way to the best choice, and the rest at once when it is short.
            gap = search.best[0] - bound
            short = gap <= SHORT * self.heaviest
            target = bound + (gap if short or deadline is None else gap // 4)
            if not search.finished(most, target):
                break
            bound = min(target, search.best[0])
        return search.best, bound

    def _state(self, chosen: list[int]) -> Levels:
        """The highest level of each object."""
        return np.asarray(self.levels[chosen].max(axis=0, initial=0).clip(self.start))

    def _with_each(self, state: Levels, first: int = 0) -> Floats:
        """Errors with one candidate more, for each from the first on."""
        return (np.maximum(self.levels[first:], state) & 1) @ self.counts


def _levels(scores: Floats, says: NDArray[np.int_], own: int, start: int) -> Levels:
    """The level of every candidate for an object; 0 where it changes nothing."""
    speaking = np.flatnonzero(scores > 0.0)
    order = speaking[np.lexsort((-says[speaking], scores[speaking]))]
    sides = np.concatenate([[start], says[order] != own])
    rises = np.cumsum(sides[1:] != sides[:-1])
    level = np.zeros(len(scores), dtype=np.uint16)
    level[order] = np.where(rises > 0, start + rises, 0)
    return level


class _Search:
    """All choices, one after another, but for those that cannot have fewer errors than the best.

    Three things are known about what may follow a candidate that is added to a choice. Whoever follows
    puts right at most the errors that it would put right at once: nothing that is right becomes more so.
    What the candidate does harm to stays wrong if all that follow say the same class, and so does what
    harm they add to it. And an object stays wrong, whoever follows, where none of them is above it.
    """

    def __init__(
        self, contest: _Contest, best: Found, possible: Flags, deadline: float | None
    ) -> None:
        self.best, self.target = best, best[0]
        self.counts, self.start = contest.counts, contest.start
        # Those that put most right go first: the later ones are soon known not to be enough.
        mended = (contest.start & ~np.maximum(contest.levels, contest.start) & 1) @ contest.counts
        order = np.argsort(-mended, kind="stable")
        self.order = order[possible[order]]
        self.levels = np.ascontiguousarray(contest.levels[self.order])
        self.says = contest.says[self.order]
        self.own = self.says == np.arange(self.says.max(initial=0) + 1)[:, None]
        right = np.where(self.levels % 2 == 0, self.levels, 0)
        self.rescue = np.maximum.accumulate(right[::-1], axis=0)[::-1]
        self.deadline = deadline

    def finished(self, most: int, target: int) -> bool:
        """Whether there was time to look for choices of at most so many with fewer errors than that."""
        self.target = target
        try:
            self._go(self.start, [], 0, most)
        except TimeoutError:
            return False
        return True

    def _go(self, state: Levels, chosen: list[int], first: int, left: int) -> None:
        """All choices that add at most so many candidates from the first on."""
        if self.deadline is not None and time.perf_counter() > self.deadline:
            raise TimeoutError
        if first == len(self.levels):
            return
        after = np.maximum(self.levels[first:], state)
        wrong = after & 1
        errors = wrong @ self.counts
        if errors.min() < self.best[0]:
            one = first + int(errors.argmin())
            self.best = int(errors.min()), self.order[[*chosen, one]].tolist()
            self.target = min(self.target, self.best[0])
        if left == 1 or len(after) == 1:
            return
        was = state & 1
        now, mended = was @ self.counts, (was & ~wrong) @ self.counts
        same, others = self._most_later(mended, first)
        alike = errors[:-1] - (left - 1) * same
        mixed = now - mended[:-1] - others - (left - 2) * np.maximum(same, others)
        harm = errors - now + mended
        rows = np.flatnonzero(np.minimum(alike, mixed) < self.target)
        step = max(1, BLOCK // (len(after) + len(state)))
        for some in (rows[start : start + step] for start in range(0, len(rows), step)):
            lost = wrong[some] & (after[some] > self.rescue[first + 1 + some])
            either = mixed[some] + (lost & ~was) @ self.counts
            # If all say the same, a later one does anew what harm it does beyond that of this one.
            more = np.where(
                (self.says[first:] == self.says[first + some, None])
                & (np.arange(len(after)) > some[:, None]),
                mended - np.maximum(harm - harm[some, None], 0.0),
                0.0,
            ).max(axis=1)
            same_class = errors[some] - more - (left - 2) * same[some]
            least = np.maximum(np.minimum(same_class, either), lost @ self.counts)
            for i, errors_left in zip(some.tolist(), least.tolist(), strict=True):
                if errors_left < self.target:
                    self._go(after[i], [*chosen, first + i], first + i + 1, left - 1)

    def _most_later(self, mended: Floats, first: int) -> tuple[Floats, Floats]:
        """For each but the last, the most that a later one puts right: of the same class, of another."""
        by_class = np.where(self.own[:, first:], mended, 0.0)
        later = np.maximum.accumulate(by_class[:, ::-1], axis=1)[:, ::-1][:, 1:]
        places, says = np.arange(later.shape[1]), self.says[first:-1]
        same = later[says, places].copy()
        later[says, places] = 0.0
        return same, later.max(axis=0)

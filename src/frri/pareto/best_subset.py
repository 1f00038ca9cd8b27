"""Best subsets of candidates that compete: the one with the highest score decides about a sample.

The fewest errors that N candidates can make are searched for by local search, and then proven by
branch and bound over all subsets. Where the time limit does not allow for that, the branch and
bound proves a lower bound on the errors, because excluding fewer errors takes less time.

Only the *levels* of the scores matter. A sample without any candidate has level 0 if it is
classified correctly then, and 1 if it is misclassified. From low scores to high ones, the level
increases by one wherever candidates change between correct and wrong. So a subset gives each
sample the highest level of its candidates, and an odd level is an error.

Before the branch and bound, corrected samples are matched with harmed ones
(`frri.pareto.matching_bound`), which gives a lower bound for every number of candidates and
excludes candidates that no better subset contains.
"""

import math
import time
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from frri._util import Flags, Floats, Ints
from frri.pareto.matching_bound import Cut, Levels, MatchingBound

# Errors, and the candidates that make them.
Found = tuple[int, list[int]]

# Elements of a block of bounds.
BLOCK = 1 << 20
# Number of subsets up to which a branch and bound needs no other bound first.
FEW = 20_000
# Restarts of the local search; fewer where the number of levels exceeds QUICK / RESTARTS.
RESTARTS, QUICK = 20, 10_000_000
# Distance between bound and errors, in the largest weights, from which it is closed in one step.
SHORT = 8


class BestSubset(NamedTuple):
    """The best subset found of a maximum size, and the proven bound on its errors."""

    at_most: int
    selected: Ints  # ascending
    errors: int  # misclassified samples, or the sum of their weights
    bound: int  # on the errors of all subsets of at most that size


def find_best_subsets(
    scores: ArrayLike,
    predicted: ArrayLike,
    classes: ArrayLike,
    sizes: ArrayLike,
    *,
    default: int = -1,
    weights: ArrayLike | None = None,
    time_limit: float | None = None,
) -> tuple[BestSubset, ...]:
    """Select the candidates that make the fewest errors, for each maximum number of them.

    Parameters
    ----------
    scores : array of shape (n_candidates, n_samples)
        The highest one of the selected candidates decides; of equal ones that of the first class.
        A candidate has no effect on a sample where its score is 0 or less.
    predicted : array of int, shape (n_candidates,)
        Class that each candidate predicts.
    classes : array of int, shape (n_samples,)
        True classes.
    sizes : array of int
        Maximum numbers of candidates, ascending.
    default : int
        Class of samples on which no candidate has an effect; -1 if that is always wrong.
    weights : array of positive integers, shape (n_samples,), optional
        Weight of an error on each sample; by default 1. Together at most 2 ** 53.
    time_limit : float, optional
        Limit in seconds for the proofs, shared among the sizes; by default none.

    Returns
    -------
    tuple of BestSubset
        One for each size.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.0, 0.7], [0.0, 0.0, 0.6, 0.8], [0.5, 0.5, 0.5, 0.5]]
    >>> for subset in find_best_subsets(scores, [0, 1, 0], [0, 0, 1, 1], [1, 2], default=1):
    ...     print(subset.selected, subset.errors, subset.bound)
    [0] 1 1
    [0 1] 0 0
    """
    start = time.perf_counter()
    true = np.asarray(classes)
    counts = np.ones(len(true)) if weights is None else np.asarray(weights, dtype=np.float64)
    table = LevelTable(np.asarray(scores, np.float64), np.asarray(predicted), true, default, counts)
    limits = np.asarray(sizes, dtype=np.int64).tolist()
    found: list[Found] = []
    for most in limits:
        found.append(table.search(found[-1][1] if found else [], most))
    seconds = math.inf if time_limit is None else time_limit
    deadline = start + seconds
    cuts = _find_cuts(table, limits, found, start + seconds / 2)
    bounds = []
    for place, most in enumerate(limits):
        if place:
            found[place] = table.improve(found[place - 1][1], most, found[place])
        valid = [cut for cut in cuts if cut.at_most >= most]
        possible = np.ones(len(table.levels), dtype=bool)
        for cut in valid:
            possible &= cut.possible(most, found[place][0])
        # Half of the time left for each size but the last: small sizes are fast, large ones slow.
        until = deadline if place == len(limits) - 1 else _halve_time(deadline)
        bound = max((cut.bound(most) for cut in valid), default=0)
        best, bound = _SubsetSearch(table, found[place], possible, until).prove(most, bound)
        bounds.append(bound)
        # A subset is also one of at most more candidates.
        found[place:] = [min(best, other, key=itemgetter(0)) for other in found[place:]]
    # A bound for more candidates also holds for fewer.
    bounds = np.maximum.accumulate(bounds[::-1])[::-1].tolist()
    return tuple(
        BestSubset(most, np.array(sorted(rules), dtype=np.int64), errors, bound)
        for most, (errors, rules), bound in zip(limits, found, bounds, strict=True)
    )


def _halve_time(deadline: float) -> float:
    """Return the middle of the time left until a deadline."""
    now = time.perf_counter()
    return now + max(0.0, deadline - now) / 2.0


def _find_cuts(
    table: "LevelTable", limits: list[int], found: list[Found], deadline: float
) -> list[Cut]:
    """Find cuts by matching where a branch and bound alone would be slow; improve `found`."""
    matching = MatchingBound(table.levels, table.start, table.counts)
    cuts: list[Cut] = []
    for place in reversed(range(len(limits))):
        most = limits[place]
        if math.comb(len(table.levels), most) <= FEW:
            continue
        # The next size begins with the cuts of this one.
        cut, x = matching.ascend(found[place][1], found[place][0], most, _halve_time(deadline))
        if cut is not None:
            cuts.append(cut)
            near = np.argsort(-x, kind="stable")[:most].tolist()
            found[place] = table.improve(near, most, found[place])
    return cuts


class LevelTable:
    """The levels of all candidates; samples with equal levels are merged and add their weights.

    `levels` has a row for each candidate and a column for each merged sample, `start` the levels
    without any candidate, and `counts` the weights.
    """

    def __init__(
        self, scores: Floats, predicted: Ints, classes: Ints, default: int, weights: Floats
    ) -> None:
        start = (classes != default).astype(np.uint16)
        levels = np.array(
            [
                _find_levels(scores[:, i], predicted, int(classes[i]), int(start[i]))
                for i in range(len(classes))
            ],
            dtype=np.uint16,
        ).reshape(len(classes), len(predicted))
        merged, kinds = np.unique(np.column_stack([start, levels]), axis=0, return_inverse=True)
        self.predicted = np.asarray(predicted, dtype=np.intp)
        self.start: Levels = np.ascontiguousarray(merged[:, 0])
        self.levels: Levels = np.ascontiguousarray(merged[:, 1:].T)
        self.heaviest = weights.max(initial=0.0)
        self.counts = np.bincount(kinds.ravel(), weights, len(merged)).astype(np.float64)

    def errors(self, chosen: list[int]) -> int:
        """Return the errors of a subset."""
        return int((self._state(chosen) & 1) @ self.counts)

    def improve(self, chosen: list[int], most: int, best: Found | None = None) -> Found:
        """Add and swap candidates while the errors decrease; return that or a better `best`."""
        chosen = list(chosen)
        now = self.errors(chosen)
        before = now + 1
        while now < before:
            before = now
            while len(chosen) < most:
                errors = self._errors_with_each(chosen)
                if not len(errors) or errors.min() >= now:
                    break
                chosen.append(int(errors.argmin()))
                now = int(errors.min())
            for place in range(len(chosen)):
                errors = self._errors_with_each(chosen[:place] + chosen[place + 1 :])
                if errors.min() < now:
                    chosen[place], now = int(errors.argmin()), int(errors.min())
        return min(best or (now, chosen), (now, chosen), key=itemgetter(0))

    def search(self, chosen: list[int], most: int) -> Found:
        """Search locally, and again after removing two random candidates, while that is fast."""
        best = self.improve(chosen, most)
        random = np.random.default_rng(0)
        for _ in range(min(RESTARTS, QUICK // max(self.levels.size, 1)) if most > 2 else 0):
            best = self.improve(random.permutation(best[1])[2:].tolist(), most, best)
        return best

    def _state(self, chosen: list[int]) -> Levels:
        """Return the highest level of each sample."""
        return np.asarray(self.levels[chosen].max(axis=0, initial=0).clip(self.start))

    def _errors_with_each(self, chosen: list[int]) -> Floats:
        """Return the errors of a subset with one more candidate, for each of them."""
        return (np.maximum(self.levels, self._state(chosen)) & 1) @ self.counts


def _find_levels(scores: Floats, predicted: Ints, own: int, start: int) -> Levels:
    """Return the level of every candidate for one sample; 0 where it has no effect."""
    active = np.flatnonzero(scores > 0.0)
    order = active[np.lexsort((-predicted[active], scores[active]))]
    wrong = np.concatenate([[start], predicted[order] != own])
    rises = np.cumsum(wrong[1:] != wrong[:-1])
    levels = np.zeros(len(scores), dtype=np.uint16)
    levels[order] = np.where(rises > 0, start + rises, 0)
    return levels


class _SubsetSearch:
    """Branch and bound over all subsets that may have fewer errors than the best one.

    Three facts bound the effect of the candidates that follow one in a subset. Each of them
    corrects at most the errors that it would correct at once. If all of them predict the same
    class, the harm done by the candidate and the harm that they add remain. A sample remains
    misclassified where no later candidate has a higher level.
    """

    def __init__(self, table: LevelTable, best: Found, possible: Flags, deadline: float) -> None:
        self.best, self.target = best, best[0]
        self.counts, self.start, self.heaviest = table.counts, table.start, table.heaviest
        # Candidates that correct most come first: the later ones are soon known to be too weak.
        corrected = (table.start & ~np.maximum(table.levels, table.start) & 1) @ table.counts
        order = np.argsort(-corrected, kind="stable")
        self.order = order[possible[order]]
        self.levels = np.ascontiguousarray(table.levels[self.order])
        self.predicted = table.predicted[self.order]
        self.own = self.predicted == np.arange(self.predicted.max(initial=0) + 1)[:, None]
        correct = np.where(self.levels % 2 == 0, self.levels, 0)
        self.highest_correct = np.maximum.accumulate(correct[::-1], axis=0)[::-1]
        self.deadline = deadline

    def prove(self, most: int, bound: int) -> tuple[Found, int]:
        """Return the best subset of at most `most` candidates, and the bound proven in time."""
        while bound < self.best[0]:
            # Close a quarter of the gap, and all of it when it is short.
            gap = self.best[0] - bound
            short = gap <= SHORT * self.heaviest
            self.target = bound + (gap if short or self.deadline == math.inf else gap // 4)
            target = self.target
            try:
                self._branch(self.start, [], 0, most)
            except TimeoutError:
                break
            bound = min(target, self.best[0])
        return self.best, bound

    def _branch(self, state: Levels, chosen: list[int], first: int, left: int) -> None:
        """Try all subsets that add at most `left` candidates from `first` on."""
        if time.perf_counter() > self.deadline:
            raise TimeoutError
        if first == len(self.levels):
            return
        after = np.maximum(self.levels[first:], state)
        wrong = after & 1
        errors = wrong @ self.counts
        if errors.min() < self.best[0]:
            last = first + int(errors.argmin())
            self.best = int(errors.min()), self.order[[*chosen, last]].tolist()
            self.target = min(self.target, self.best[0])
        if left == 1 or len(after) == 1:
            return
        was = state & 1
        now, corrected = was @ self.counts, (was & ~wrong) @ self.counts
        same, others = self._largest_later(corrected, first)
        alike = errors[:-1] - (left - 1) * same
        mixed = now - corrected[:-1] - others - (left - 2) * np.maximum(same, others)
        harm = errors - now + corrected
        rows = np.flatnonzero(np.minimum(alike, mixed) < self.target)
        step = max(1, BLOCK // (len(after) + len(state)))
        for some in (rows[start : start + step] for start in range(0, len(rows), step)):
            lost = wrong[some] & (after[some] > self.highest_correct[first + 1 + some])
            either = mixed[some] + (lost & ~was) @ self.counts
            # If all predict the same class, a later one adds its harm beyond that of this one.
            more = np.where(
                (self.predicted[first:] == self.predicted[first + some, None])
                & (np.arange(len(after)) > some[:, None]),
                corrected - np.maximum(harm - harm[some, None], 0.0),
                0.0,
            ).max(axis=1)
            same_class = errors[some] - more - (left - 2) * same[some]
            least = np.maximum(np.minimum(same_class, either), lost @ self.counts)
            for i, bound in zip(some.tolist(), least.tolist(), strict=True):
                if bound < self.target:
                    self._branch(after[i], [*chosen, first + i], first + i + 1, left - 1)

    def _largest_later(self, corrected: Floats, first: int) -> tuple[Floats, Floats]:
        """Return the most that a later candidate corrects, of the same class and of another."""
        by_class = np.where(self.own[:, first:], corrected, 0.0)
        later = np.maximum.accumulate(by_class[:, ::-1], axis=1)[:, ::-1][:, 1:]
        places, predicted = np.arange(later.shape[1]), self.predicted[first:-1]
        same = later[predicted, places].copy()
        later[predicted, places] = 0.0
        return same, later.max(axis=0)

"""The steps of induction in numpy, for small tables and for decisions that agree by degrees.

The sides of all boxes are placed among the ranks of each feature, and samples beyond a side are
sets of bits: words of 64 samples, of shape (n_features, n_words, n_boxes). A type is 1 for a box
that is bounded above, 2 for one bounded below, 3 for both.

Decisions such as numbers agree by degrees: that of `v` agrees with the rule of `u` to the degree
max(0, 1 - |y(v) - y(u)| / tau). A rule keeps its confidence, less this degree, away from every
sample: limits are by pair, so that all pairs are compared.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from frri._util import Flags, Floats, Ints, Types, Words, map_threads
from frri.cover.matrix import ALL, NONE, CoverMatrix, packed
from frri.cover.memory_bounded import Source
from frri.induction.class_layout import TOLERANCE, ClassLayout, ConditionType

# Size of one block of boxes, in words of 64 bits unless that is too few rows, and of one block of
# distances, which should stay in the cache.
BLOCK_WORDS = 1 << 20
LEAST_ROWS = 128
BLOCK_DISTANCES = 1 << 15
# Pairs of samples with decisions by degrees that are compared at a time, for the same reason.
BLOCK_PAIRS = 1 << 16


def distances(points: Floats, types: Types, columns: Floats, rigid: Flags | None = None) -> Floats:
    """Return by how much samples fail the worst condition of boxes, boxes x samples.

    Boxes have a center and types each, or the same types; `columns` are the values of samples by
    feature. A missing value (NaN) fails no condition and has none. Different values of a `rigid`
    feature fail by 1.

    Examples
    --------
    >>> columns = np.array([[0.2, 1.0], [0.75, np.nan]])
    >>> distances(np.array([[0.5, 0.5]]), np.array([[1, 3]], dtype=np.int8), columns)
    array([[0.25, 0.5 ]])
    """
    found = np.zeros((len(points), columns.shape[1]))
    differences = np.empty_like(found)
    for k, column in enumerate(columns):
        kinds = set(types[:, k].tolist())
        for sides in kinds - {ConditionType.UNUSED}:
            boxes = slice(None) if len(kinds) == 1 else np.flatnonzero(types[:, k] == sides)
            centers = points[boxes, k, None]
            difference = np.subtract(column, centers, out=differences[: len(centers)])
            if sides == ConditionType.SIMILAR:
                np.abs(difference, out=difference)
                if rigid is not None and rigid[k]:
                    np.greater(difference, 0.0, out=difference)
            elif sides == ConditionType.AT_LEAST:
                np.negative(difference, out=difference)
            # A difference to a missing value is missing; fmax passes over it.
            if len(kinds) == 1:
                np.fmax(found, difference, out=found)
            else:
                found[boxes] = np.fmax(found[boxes], difference, out=difference)
    return found


class NumpyBackend:
    """The steps of induction on a table, in numpy."""

    def __init__(self, layout: ClassLayout) -> None:
        self.layout = layout

    @cached_property
    def ranking(self) -> "Ranking":
        """Ranks of the values of every feature."""
        return Ranking(self.layout.columns)

    def confidences(self) -> Floats:
        """Return the distance of every row to the nearest one of another class, at most 1.

        Each pair of classes is compared in blocks, for both directions.
        """
        points, columns = self.layout.points, self.layout.columns
        upward = self.layout.initial[None]
        # The same conditions seen from the other sample.
        downward = (upward >> 1) | ((upward & 1) << 1)
        n_rows = len(points)
        found = np.ones(n_rows)
        for start, end in pairwise(self.layout.first_row):
            for left in range(end, n_rows, BLOCK_DISTANCES):
                others = slice(left, min(left + BLOCK_DISTANCES, n_rows))
                height = max(1, BLOCK_DISTANCES // (others.stop - others.start))
                for top in range(start, end, height):
                    own = slice(top, min(top + height, end))
                    forth = back = distances(points[own], upward, columns[:, others])
                    if (upward != downward).any():
                        back = distances(points[own], downward, columns[:, others])
                    found[own] = np.minimum(found[own], forth.min(axis=1))
                    found[others] = np.minimum(found[others], back.min(axis=0))
        return found

    def shorten(self, confidence: Floats, orders: Ints) -> Types:
        """Return the condition types of every row's rule, shortened in the orders of features."""
        layout, ranking = self.layout, self.ranking
        limits = confidence - TOLERANCE
        n_rows, n_features = layout.points.shape
        types = np.zeros((n_rows, n_features), dtype=np.int8)
        upper, lower = ranking.place(limits, layout.initial[:, None], closed=True)
        for code, (start, end) in enumerate(pairwise(layout.first_row)):
            others = np.concatenate((np.arange(start), np.arange(end, n_rows)))
            if start == end or not len(others):
                continue
            bits = layout.bits[others]
            bits[start:] -= 64 * (layout.first_word[code + 1] - layout.first_word[code])
            everybody = np.zeros(((int(bits[-1]) >> 6) + 1, 1), dtype=np.uint64)
            np.add.at(everybody[:, 0], bits >> 6, single_bits(bits))
            unknown = ranking.missing_sets(others, bits)
            for block in _blocks(start, end, 3 * n_features * len(everybody)):
                not_above, below = ranking.lowest(others, bits, upper[:, block], lower[:, block])
                if unknown is not None:
                    not_above |= unknown
                own = orders if len(orders) == 1 else orders[block]
                types[block] = prune(not_above, below, everybody, own, layout.rigid)
        types[limits < 0] = 0
        return types

    def covers(self, confidence: Floats, types: Types) -> CoverMatrix:
        """Return the samples in the box of every sample, in the order of the table."""
        layout, ranking = self.layout, self.ranking
        limits = confidence - TOLERANCE
        upper, lower = ranking.place(limits, types.T, closed=False)
        by_class = []
        for start, end in pairwise(layout.first_row):
            if start == end:
                continue
            own, n_words = np.arange(start, end), (end - start + 63) >> 6
            unknown = ranking.missing_sets(own, own - start)
            parts = []
            for block in _blocks(start, end, 2 * types.shape[1] * n_words):
                inside, below = ranking.lowest(own, own - start, upper[:, block], lower[:, block])
                if unknown is not None:
                    inside |= unknown
                inside &= np.invert(below, out=below)
                by_row = np.ascontiguousarray(np.bitwise_and.reduce(inside, axis=0).T)
                by_row[limits[block] <= 0] = NONE
                parts.append(CoverMatrix.from_words(by_row, 64 * n_words))
            by_class.append(CoverMatrix.below(parts))
        return CoverMatrix.beside(by_class).take(layout.rows)

    def source(self, confidence: Floats, types: Types) -> Source:
        """Return a function to what some samples' boxes cover: see `frri.cover.memory_bounded`."""
        whole = self.covers(confidence, types)

        def find(candidates: Ints | None, wanted: Words | None = None) -> CoverMatrix:
            some = whole if candidates is None else whole.take(candidates)
            return some if wanted is None else some.within(wanted)

        return find


class Ranking:
    """Values of every feature in ascending order, missing ones last, and sets of the lowest."""

    def __init__(self, columns: Floats) -> None:
        self.columns, self.missing = columns, np.isnan(columns)
        n_features, n_rows = columns.shape
        by_rank = np.argsort(columns, axis=1, kind="stable")
        self.ranks = np.empty(columns.shape, dtype=np.int64)
        np.put_along_axis(self.ranks, by_rank, np.arange(n_rows)[None], axis=1)
        # Infinite values fill every column up to a power of two, for the search by halving.
        self.width = 1 << n_rows.bit_length()
        self.ascending = np.full((n_features, self.width), np.inf)
        self.ascending[:, :n_rows] = np.take_along_axis(columns, by_rank, axis=1)

    def place(self, limits: Floats, types: Types, *, closed: bool) -> tuple[Ints, Ints]:
        """Return how many values are not above, and how many are below, the box of each row.

        Types are of shape (n_features, n_rows or 1). A box is open where it has no side, and where
        its row misses the value; a `closed` one contains the samples at distance `limits`.
        """
        upper = self._count(limits, inclusive=closed)
        lower = self._count(-limits, inclusive=not closed)
        upper[((types & 1) == 0) | self.missing] = len(limits)
        lower[np.broadcast_to((types & 2) == 0, lower.shape)] = 0
        return upper, lower

    def _count(self, bounds: Floats, *, inclusive: bool) -> Ints:
        """Return, by feature and row, how many values exceed the row's by less than its bound.

        The rounded difference itself is compared, as in the definitions. It grows with the value,
        so that the search by halving is exact. A missing value exceeds nothing and is exceeded by
        nothing.
        """
        compare = np.less_equal if inclusive else np.less
        origin = np.arange(0, self.ascending.size, self.width)[:, None]
        counts = np.repeat(origin, self.columns.shape[1], axis=1)
        step = self.width // 2
        while step:
            values = self.ascending.take(counts + (step - 1), mode="clip")
            values -= self.columns
            counts += step * compare(values, bounds)
            step //= 2
        return counts - origin

    def lowest(self, targets: Ints, bits: Ints, *counts: Ints) -> list[Words]:
        """Return the sets of those target rows that are among the lowest of each feature.

        `bits` are the ascending positions of the targets in the sets. For each array of counts, of
        shape (n_features, n_boxes), an array of shape (n_features, n_words, n_boxes).
        """
        n_features, n_rows = self.columns.shape
        n_words = (int(bits[-1]) >> 6) + 1
        # One slot per count that occurs; a target enters at the first count above its rank.
        occurs = np.zeros((n_features, n_rows + 1), dtype=np.int8)
        origin = np.arange(0, occurs.size, n_rows + 1)[:, None]
        for count in counts:
            occurs.ravel()[origin + count] = 1
        slots = np.cumsum(occurs, axis=1, dtype=np.int64)
        entry = slots.ravel().take(origin + self.ranks[:, targets])
        sets = np.zeros((n_features, n_words, int(slots[:, -1].max()) + 1), dtype=np.uint64)
        entry += (np.arange(n_features)[:, None] * n_words + (bits >> 6)) * sets.shape[2]
        np.add.at(sets.reshape(-1), entry.ravel(), np.tile(single_bits(bits), n_features))
        np.bitwise_or.accumulate(sets, axis=2, out=sets)
        found = []
        for count in counts:
            chosen = np.empty((n_features, n_words, count.shape[1]), dtype=np.uint64)
            slot = slots.ravel().take(origin + count) - 1
            for k in range(n_features):
                np.take(sets[k], slot[k], axis=1, out=chosen[k], mode="clip")
            found.append(chosen)
        return found

    def missing_sets(self, targets: Ints, bits: Ints) -> Words | None:
        """Return which target rows miss each feature, of shape (n_features, n_words, 1), if any."""
        if not self.missing.any():
            return None
        words = np.zeros((len(self.columns), (int(bits[-1]) >> 6) + 1, 1), dtype=np.uint64)
        feature, target = np.nonzero(self.missing[:, targets])
        np.add.at(words[:, :, 0], (feature, bits[target] >> 6), single_bits(bits[target]))
        return words


def prune(not_above: Words, below: Words, others: Words, orders: Ints, rigid: Flags) -> Types:
    """Shorten a block of rules (RULE_PRUNE of the paper); overwrite the sets given.

    While the features to come are all SIMILAR, a sample of another class is critical for a feature
    if neither a condition already kept nor a feature to come discerns it. The feature is bounded
    above iff a critical sample lies above, and below iff one lies below; a rigid feature on both
    sides if on either. Sets are of shape (n_features, n_words, n_rows); others, orders and rigid
    features may be given once for all rows.
    """
    if len(orders) > 1:  # in the order of each row
        places = orders.T[:, None]
        not_above = np.take_along_axis(not_above, places, axis=0)
        below = np.take_along_axis(below, places, axis=0)
        found = prune(not_above, below, others, np.arange(len(rigid))[None], rigid[orders.T])
        types = np.empty(orders.shape, dtype=np.int8)
        np.put_along_axis(types, orders, found, axis=1)
        return types
    order, (n_features, _, n_rows) = orders[0], not_above.shape
    types = np.empty((n_features, n_rows), dtype=np.int8)
    # Samples discerned by none of the features to come, for each feature.
    later = np.empty_like(not_above)
    later[order[-1]] = others
    for feature, following in zip(order[-2::-1], order[:0:-1], strict=True):
        np.invert(below[following], out=later[feature])
        later[feature] &= not_above[following]
        later[feature] &= later[following]
    above = np.invert(not_above, out=not_above)
    alive = np.broadcast_to(others, above.shape[1:]).copy()
    for feature in order:
        critical = np.bitwise_and(later[feature], alive, out=later[feature])
        bounded_above = np.bitwise_or.reduce(critical & above[feature], axis=0) != NONE
        bounded_below = np.bitwise_or.reduce(critical & below[feature], axis=0) != NONE
        both = (bounded_above | bounded_below) & rigid[feature]
        bounded_above |= both
        bounded_below |= both
        types[feature] = bounded_above + 2 * bounded_below.view(np.int8)
        # A side that is kept discerns the samples beyond it.
        above[feature] &= np.where(bounded_above, ALL, NONE)
        below[feature] &= np.where(bounded_below, ALL, NONE)
        alive &= ~(above[feature] | below[feature])
    return types.T


def single_bits(bits: Ints) -> Words:
    """Return words with one bit each."""
    return np.left_shift(np.uint64(1), (bits & 63).astype(np.uint64))


def _blocks(start: int, end: int, words_per_row: int) -> Iterator[slice]:
    """Yield slices of rows that need a bounded number of words."""
    height = max(LEAST_ROWS, BLOCK_WORDS // words_per_row)
    for low in range(start, end, height):
        yield slice(low, min(low + height, end))


# --- Decisions that agree by degrees
class Graded(NamedTuple):
    """Numbers as decisions: they agree the more the nearer they are, from `tau` on not at all.

    Parameters
    ----------
    numbers : array-like of float, shape (n_samples,)
    tau : float
        Above 0.

    Examples
    --------
    >>> Graded([10.0, 12.0, 20.0], 4.0).agreement().tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    numbers: ArrayLike
    tau: float

    def agreement(self, own: slice = slice(None)) -> Floats:
        """Return D(u, v) = max(0, 1 - |y(v) - y(u)| / tau) for some samples u and all v."""
        y = np.asarray(self.numbers, dtype=np.float64)
        return np.maximum(0.0, 1.0 - np.abs(y - y[own, None]) / self.tau)


class FuzzyBackend(NumpyBackend):
    """The steps of induction on a table with graded decisions: a layout of a single class."""

    def __init__(self, layout: ClassLayout, decisions: Graded, n_jobs: int | None = None) -> None:
        super().__init__(layout)
        self.decisions, self.n_jobs = decisions, n_jobs

    def confidences(self) -> Floats:
        """Return the minimum of distance and agreement over all samples, at most 1."""
        layout = self.layout

        def nearest(own: slice) -> Floats:
            found = distances(layout.points[own], layout.initial[None], layout.columns)
            found += self.decisions.agreement(own)
            least: Floats = found.min(axis=1)
            return np.minimum(1.0, least)

        return np.concatenate(self._map_blocks(nearest))

    def shorten(self, confidence: Floats, orders: Ints) -> Types:
        """Return the condition types of every sample's rule, shortened in some feature orders."""
        layout, limits = self.layout, confidence - TOLERANCE

        def shorten_rows(own: slice) -> Types:
            limit = limits[own, None] - self.decisions.agreement(own)
            not_above, below = [], []
            for column, sides in zip(layout.columns, layout.initial, strict=True):
                difference = column - column[own, None]
                not_above.append(packed(~((sides & 1 > 0) & (difference > limit))).T)
                below.append(packed((sides & 2 > 0) & (difference < -limit)).T)
            order = orders if len(orders) == 1 else orders[own]
            others = packed(limit >= 0).T
            return prune(np.stack(not_above), np.stack(below), others, order, layout.rigid)

        return np.concatenate(self._map_blocks(shorten_rows))

    def covers(self, confidence: Floats, types: Types) -> CoverMatrix:
        """Return the samples in the box of every sample."""
        return replace(super().covers(confidence, types), n_objects=len(confidence))

    def _map_blocks(self, work: Callable[[slice], Any]) -> list[Any]:
        """Return the results of a function for blocks of samples."""
        n = len(self.layout.points)
        height = max(1, BLOCK_PAIRS // n)
        blocks = [(low, min(low + height, n)) for low in range(0, n, height)]
        return map_threads(lambda low, high: work(slice(low, high)), blocks, self.n_jobs)

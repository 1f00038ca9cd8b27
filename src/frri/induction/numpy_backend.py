"""The steps of induction in numpy, for small tables.

The sides of all boxes are placed among the ranks of each feature, and samples beyond a side are
sets of bits: words of 64 samples, of shape (n_features, n_words, n_boxes). A type is 1 for a box
that is bounded above, 2 for one bounded below, 3 for both.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from frri.cover.matrix import CoverMatrix
from frri.induction.class_layout import BOTH_SIDES, TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from frri._util import Flags, Floats, Ints, Types, Words
    from frri.induction.class_layout import ClassLayout

# Size of one block of boxes, in words of 64 bits unless that is too few rows, and of one block of
# distances, which should stay in the cache.
BLOCK_WORDS = 1 << 20
LEAST_ROWS = 128
BLOCK_DISTANCES = 1 << 15

NONE = np.uint64(0)
ALL = ~np.uint64(0)


def pairwise_distances(
    columns: Floats, rows: slice | Ints, others: slice | Ints, types: Sequence[int]
) -> Floats:
    """Return by how much some samples fail the worst condition of boxes around some rows.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_features, n_samples)
        NaN where missing: such a value fails no condition.
    rows, others : slice or ndarray of int
        Centers of the boxes, and samples.
    types : sequence of int
        Type of the condition on each feature.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_others)

    Examples
    --------
    >>> pairwise_distances(np.array([[0.0, 0.5, 1.0]]), slice(0, 2), slice(0, 3), [3])
    array([[0. , 0.5, 1. ],
           [0.5, 0. , 0.5]])
    """
    found = np.zeros((len(columns[0, rows]), len(columns[0, others])))
    difference = np.empty_like(found)
    for column, kept in zip(columns, types, strict=True):
        if not kept:
            continue
        np.subtract(column[others], column[rows, None], out=difference)
        if kept == BOTH_SIDES:
            np.abs(difference, out=difference)
        elif kept == 2:
            np.negative(difference, out=difference)
        # A difference to a missing value is missing; fmax passes over it.
        np.fmax(found, difference, out=found)
    return found


def box_distances(
    points: Floats, types: Types, columns: Floats, rigid: Flags | None = None
) -> Floats:
    """Return by how much samples fail the worst condition of boxes that have types of their own.

    Parameters
    ----------
    points, types : ndarray of shape (n_boxes, n_features)
        Center of each box, and types of its conditions.
    columns : ndarray of float64, shape (n_features, n_samples)
    rigid : ndarray of bool, shape (n_features,), optional
        Nominal features, of which different values fail by 1.

    Returns
    -------
    ndarray of float64, shape (n_boxes, n_samples)

    Examples
    --------
    >>> columns = np.array([[0.2, 1.0], [0.75, np.nan]])
    >>> box_distances(np.array([[0.5, 0.5]]), np.array([[1, 3]]), columns)
    array([[0.25, 0.5 ]])
    """
    nominal = [False] * len(columns) if rigid is None else rigid.tolist()
    found = np.zeros((len(points), columns.shape[1]))
    for row, point, kept in zip(found, points.tolist(), types, strict=True):
        for k in np.flatnonzero(kept).tolist():
            difference = columns[k] - point[k]
            if nominal[k]:
                difference = (np.abs(difference) > 0.0).astype(np.float64)
            elif kept[k] == BOTH_SIDES:
                np.abs(difference, out=difference)
            elif kept[k] == 2:
                np.negative(difference, out=difference)
            np.fmax(row, difference, out=row)
    return found


class NumpyBackend:
    """The steps of induction on a table, in numpy.

    Parameters
    ----------
    layout : ClassLayout
    """

    def __init__(self, layout: ClassLayout) -> None:
        self.layout = layout

    @cached_property
    def ranking(self) -> Ranking:
        """Ranks of the values of every feature."""
        return Ranking(self.layout.columns, self.layout.missing)

    def confidences(self) -> Floats:
        """Return the distance of every row to the nearest one of another class, at most 1.

        Each pair of classes is compared in blocks, for both directions.
        """
        columns, types = self.layout.columns, self.layout.initial.tolist()
        symmetric = set(types) <= {0, BOTH_SIDES}
        n_rows = columns.shape[1]
        found = np.ones(n_rows)
        for start, end in pairwise(self.layout.first_row):
            for left in range(end, n_rows, BLOCK_DISTANCES):
                others = slice(left, min(left + BLOCK_DISTANCES, n_rows))
                height = max(1, BLOCK_DISTANCES // (others.stop - others.start))
                for top in range(start, end, height):
                    own = slice(top, min(top + height, end))
                    forth = pairwise_distances(columns, own, others, types)
                    back = forth.T if symmetric else None
                    if back is None:
                        back = pairwise_distances(columns, others, own, types)
                    found[own] = np.minimum(found[own], forth.min(axis=1))
                    found[others] = np.minimum(found[others], back.min(axis=1))
        return found

    def shorten(self, confidence: Floats, orders: Ints) -> Types:
        """Return the condition types of every row's rule, shortened in the orders of features."""
        layout, ranking = self.layout, self.ranking
        limits = confidence - TOLERANCE
        n_features, n_rows = ranking.columns.shape
        types = np.zeros((n_rows, n_features), dtype=np.int8)
        not_above = ranking.count(limits, inclusive=True)
        below = ranking.count(-limits, inclusive=False)
        if ranking.missing is not None:
            not_above[ranking.missing] = n_rows
        not_above[(layout.initial & 1) == 0] = n_rows
        below[(layout.initial & 2) == 0] = 0
        rigid = layout.rigid if layout.rigid.any() else None
        for code, (start, end) in enumerate(pairwise(layout.first_row)):
            others = np.concatenate((np.arange(start), np.arange(end, n_rows)))
            if start == end or not len(others):
                continue
            places = layout.bits[others]
            places[start:] -= 64 * (layout.first_word[code + 1] - layout.first_word[code])
            everybody = np.zeros((int(places[-1] >> 6) + 1, 1), dtype=np.uint64)
            np.add.at(everybody[:, 0], places >> 6, single_bits(places))
            unknown = ranking.missing_sets(others, places)
            for block in _blocks(start, end, 3 * n_features * len(everybody)):
                high, low = ranking.lowest(others, places, not_above[:, block], below[:, block])
                if unknown is not None:
                    high |= unknown
                if len(orders) == 1:
                    whole = None if rigid is None else rigid[:, None]
                    types[block] = prune(high, low, everybody, orders[0], whole)
                else:
                    chosen = orders[block].T[:, None]
                    high = np.take_along_axis(high, chosen, axis=0)
                    low = np.take_along_axis(low, chosen, axis=0)
                    whole = None if rigid is None else rigid[orders[block].T]
                    found = prune(high, low, everybody, np.arange(n_features), whole)
                    np.put_along_axis(types[block], orders[block], found, axis=1)
        types[limits < 0] = 0
        return types

    def covers(self, confidence: Floats, types: Types) -> CoverMatrix:
        """Return the samples in the box of every sample, in the order of the table."""
        layout, ranking = self.layout, self.ranking
        limits = confidence - TOLERANCE
        n_features, n_rows = ranking.columns.shape
        by_feature = types.T
        inner = ranking.count(limits, inclusive=False)
        outer = ranking.count(-limits, inclusive=True)
        if ranking.missing is not None:
            inner[ranking.missing] = n_rows
        inner[(by_feature & 1) == 0] = n_rows
        outer[(by_feature & 2) == 0] = 0
        inner[:, limits <= 0] = 0
        indptr = np.zeros(n_rows + 1, dtype=np.int64)
        words, bits = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.uint64)]
        for code, (start, end) in enumerate(pairwise(layout.first_row)):
            if start == end:
                continue
            own = np.arange(start, end)
            places = layout.bits[own] - 64 * layout.first_word[code]
            n_words = layout.first_word[code + 1] - layout.first_word[code]
            unknown = ranking.missing_sets(own, places)
            for block in _blocks(start, end, 2 * n_features * n_words):
                lower, lowest = ranking.lowest(own, places, inner[:, block], outer[:, block])
                if unknown is not None:
                    lower |= np.where(limits[block] > 0, unknown, NONE)
                outside = np.bitwise_or.reduce(lowest, axis=0)
                inside = np.bitwise_and.reduce(lower, axis=0)
                inside &= np.invert(outside, out=outside)
                by_row = np.ascontiguousarray(inside.T)
                row, word = np.nonzero(by_row)
                indptr[1 + block.start : 1 + block.stop] = np.bincount(row, minlength=len(by_row))
                words.append((word + layout.first_word[code]).astype(np.int32))
                bits.append(by_row[row, word])
        np.cumsum(indptr, out=indptr)
        n_bits = 64 * layout.first_word[-1]
        covers = CoverMatrix(indptr, np.concatenate(words), np.concatenate(bits), n_bits)
        return covers.take(layout.rows)


class Ranking:
    """Values of every feature in ascending order, and the sets of the lowest of them.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_features, n_rows)
    missing : ndarray of bool of the same shape, optional
        Missing values, if any: they rank last.
    """

    def __init__(self, columns: Floats, missing: Flags | None = None) -> None:
        self.columns = columns
        self.missing = missing
        n_features, n_rows = columns.shape
        by_rank = np.argsort(columns, axis=1, kind="stable")
        by_rank += np.arange(0, columns.size, n_rows)[:, None]
        self.ranks = np.empty(columns.shape, dtype=np.int64)
        self.ranks.reshape(-1)[by_rank] = np.arange(n_rows)
        # Infinite values fill every column up to a power of two, for the search by halving.
        self.width = 1 << n_rows.bit_length()
        self.ascending = np.full((n_features, self.width), np.inf)
        self.ascending[:, :n_rows] = columns.reshape(-1)[by_rank]

    def count(self, bounds: Floats, *, inclusive: bool) -> Ints:
        """Return, by feature and row, how many values exceed the row's by less than its bound.

        The rounded difference itself is compared, as in the definitions. It grows with the value,
        so that the search by halving is exact. A missing value exceeds nothing and is exceeded by
        nothing.
        """
        compare = np.less_equal if inclusive else np.less
        origin = np.arange(0, self.ascending.size, self.width)[:, None]
        counts = np.repeat(origin, self.columns.shape[1], axis=1)
        probed = np.empty_like(counts)
        values = np.empty_like(self.columns)
        below = np.empty(counts.shape, dtype=bool)
        step = self.width // 2
        while step:
            np.add(counts, step - 1, out=probed)
            np.take(self.ascending, probed, out=values, mode="clip")
            np.subtract(values, self.columns, out=values)
            compare(values, bounds, out=below)
            np.multiply(below, step, out=probed)
            counts += probed
            step //= 2
        counts -= origin
        return counts

    def lowest(self, targets: Ints, bits: Ints, *counts: Ints) -> list[Words]:
        """Return the sets of those target rows that are among the lowest of each feature.

        `bits` are the ascending positions of the targets in the sets. For each array of counts, of
        shape (n_features, n_boxes), an array of shape (n_features, n_words, n_boxes).
        """
        n_features, n_rows = self.columns.shape
        n_words = (int(bits[-1]) >> 6) + 1
        # One slot per count that occurs; a target enters at the first count above its rank.
        origin = np.arange(0, n_features * (n_rows + 1), n_rows + 1)[:, None]
        wanted = [origin + count for count in counts]
        occurs = np.zeros(n_features * (n_rows + 1), dtype=np.int8)
        for index in wanted:
            occurs[index] = 1
        slots = np.cumsum(occurs.reshape(n_features, -1), axis=1, dtype=np.int64)
        n_slots = int(slots[:, -1].max()) + 1
        entry = slots.reshape(-1)[origin + self.ranks[:, targets]]
        entry += (np.arange(n_features)[:, None] * n_words + (bits >> 6)) * n_slots
        sets = np.zeros((n_features, n_words, n_slots), dtype=np.uint64)
        np.add.at(sets.reshape(-1), entry.reshape(-1), np.tile(single_bits(bits), n_features))
        np.bitwise_or.accumulate(sets, axis=2, out=sets)
        planes = []
        for index in wanted:
            slot = slots.reshape(-1)[index] - 1
            plane = np.empty((n_features, n_words, index.shape[1]), dtype=np.uint64)
            for feature in range(n_features):
                np.take(sets[feature], slot[feature], axis=1, out=plane[feature], mode="clip")
            planes.append(plane)
        return planes

    def missing_sets(self, targets: Ints, bits: Ints) -> Words | None:
        """Return which target rows miss each feature, of shape (n_features, n_words, 1)."""
        if self.missing is None:
            return None
        words = np.zeros((len(self.columns), (int(bits[-1]) >> 6) + 1, 1), dtype=np.uint64)
        feature, target = np.nonzero(self.missing[:, targets])
        np.add.at(words[:, :, 0], (feature, bits[target] >> 6), single_bits(bits[target]))
        return words


def prune(
    not_above: Words, below: Words, others: Words, order: Ints, rigid: Flags | None = None
) -> Types:
    """Shorten a block of rules (RULE_PRUNE of the paper); overwrite the sets given.

    While the features to come are all SIMILAR, a sample of another class is critical for a feature
    if neither a condition already kept nor a feature to come discerns it. The feature is bounded
    above iff a critical sample lies above, and below iff one lies below; on both sides if it is
    `rigid`, of shape (n_features, n_rows or 1), and either is needed.
    """
    n_features, _, n_rows = not_above.shape
    types = np.empty((n_features, n_rows), dtype=np.int8)
    # Samples discerned by none of the features to come, for each feature.
    later = np.empty_like(not_above)
    later[order[-1]] = others
    for feature, following in zip(order[-2::-1], order[:0:-1], strict=True):
        np.invert(below[following], out=later[feature])
        later[feature] &= not_above[following]
        later[feature] &= later[following]
    above = np.invert(not_above, out=not_above)
    alive = np.repeat(others, n_rows, axis=1)
    scratch = np.empty_like(alive)
    for feature in order:
        alive_later = later[feature]
        alive_later &= alive
        np.bitwise_and(alive_later, above[feature], out=scratch)
        bounded_above = np.bitwise_or.reduce(scratch, axis=0) != NONE
        np.bitwise_and(alive_later, below[feature], out=scratch)
        bounded_below = np.bitwise_or.reduce(scratch, axis=0) != NONE
        if rigid is not None:
            whole = (bounded_above | bounded_below) & rigid[feature]
            bounded_above |= whole
            bounded_below |= whole
        types[feature] = bounded_above + 2 * bounded_below.view(np.int8)
        # A side that is kept discerns the samples beyond it.
        above[feature] &= np.where(bounded_above, ALL, NONE)
        below[feature] &= np.where(bounded_below, ALL, NONE)
        np.bitwise_or(above[feature], below[feature], out=scratch)
        alive &= np.invert(scratch, out=scratch)
    return types.T


def single_bits(bits: Ints) -> Words:
    """Return words with one bit each."""
    return np.left_shift(np.uint64(1), (bits & 63).astype(np.uint64))


def _blocks(start: int, end: int, words_per_row: int) -> Iterator[slice]:
    """Yield slices of rows that need a bounded number of words."""
    height = max(LEAST_ROWS, BLOCK_WORDS // words_per_row)
    for low in range(start, end, height):
        yield slice(low, min(low + height, end))

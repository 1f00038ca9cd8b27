"""The steps of induction in plain numpy: for small tables, and where there is no compiler.

Distances come in blocks of pairs. Boxes are sets of bits: in the ranking of an attribute's values
the objects below a side of a box are so many lowest ones, and the sets of the so many lowest are
made for all sides of a block of boxes at once.

Missing values (NaN) are beyond no side of any box, and a box around one is open on both sides.
`initial` has the sides that a box may have, by attribute: 1 for above, 2 for below, 3 for both.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Types, Words

# Size of one block of boxes, in words of 64 bits unless that is too few rows, and of one block of
# distances, which should stay in the cache.
BLOCK_WORDS = 1 << 20
LEAST_ROWS = 128
BLOCK_DISTANCES = 1 << 15

NONE = np.uint64(0)
ALL = ~np.uint64(0)


# --- Distances


def nearest(columns: Floats, first_row: list[int]) -> Floats:
    """Chebyshev distance of every row to the nearest one of another class, infinite without one.

    `columns` has one row per attribute and the objects grouped by class, the classes beginning at
    `first_row`. Each pair of enemies is looked at once, for both of them.
    """
    n_rows = columns.shape[1]
    found = np.full(n_rows, np.inf)
    for start, end in pairwise(first_row):
        for left in range(end, n_rows, BLOCK_DISTANCES):
            others = slice(left, min(left + BLOCK_DISTANCES, n_rows))
            height = max(1, BLOCK_DISTANCES // (others.stop - others.start))
            distances = np.empty((height, others.stop - others.start))
            differences = np.empty_like(distances)
            for top in range(start, end, height):
                own = slice(top, min(top + height, end))
                distance, difference = distances[: own.stop - top], differences[: own.stop - top]
                np.subtract(columns[0, own, None], columns[0, others], out=distance)
                np.abs(distance, out=distance)
                for column in columns[1:]:
                    np.subtract(column[own, None], column[others], out=difference)
                    np.abs(difference, out=difference)
                    np.maximum(distance, difference, out=distance)
                found[own] = np.minimum(found[own], distance.min(axis=1))
                found[others] = np.minimum(found[others], distance.min(axis=0))
    return found


def nearest_of_sides(columns: Floats, first_row: list[int], initial: Types) -> Floats:
    """The same as `nearest` where values are missing or boxes have only one side.

    The distance from a row to another then differs from the one back.
    """
    n_rows = columns.shape[1]
    found = np.full(n_rows, np.inf)
    mutual = bool((initial == 3).all())
    for start, end in pairwise(first_row):
        for left in range(end, n_rows, BLOCK_DISTANCES):
            others = slice(left, min(left + BLOCK_DISTANCES, n_rows))
            height = max(1, BLOCK_DISTANCES // (others.stop - others.start))
            for top in range(start, end, height):
                own = slice(top, min(top + height, end))
                forth = np.zeros((own.stop - top, others.stop - others.start))
                back = forth if mutual else np.zeros_like(forth)
                difference = np.empty_like(forth)
                for column, kept in zip(columns, initial, strict=True):
                    np.subtract(column[others], column[own, None], out=difference)
                    if kept == 3:
                        np.abs(difference, out=difference)
                    elif kept == 2:
                        np.negative(difference, out=difference)
                    # A difference to a missing value is missing; fmax passes over it.
                    np.fmax(forth, difference, out=forth)
                    if not mutual:
                        if kept != 3:
                            np.negative(difference, out=difference)
                        np.fmax(back, difference, out=back)
                found[own] = np.minimum(found[own], forth.min(axis=1))
                found[others] = np.minimum(found[others], back.min(axis=0))
    return found


# --- Boxes


class Ranking:
    """The values of every attribute in ascending order, and the sets of the lowest of them.

    Parameters
    ----------
    columns : ndarray of float64, shape (n_attributes, n_rows)
    missing : ndarray of bool of the same shape, optional
        Where values are missing, if any are. They rank last.
    """

    def __init__(self, columns: Floats, missing: Flags | None = None) -> None:
        self.columns = columns
        self.missing = missing
        n_attributes, n_rows = columns.shape
        by_rank = np.argsort(columns, axis=1, kind="stable")
        by_rank += np.arange(0, columns.size, n_rows)[:, None]
        self.ranks = np.empty(columns.shape, dtype=np.int64)
        self.ranks.reshape(-1)[by_rank] = np.arange(n_rows)
        # Infinite values fill every column up to a power of two, for the search by halving.
        self.width = 1 << n_rows.bit_length()
        self.ascending = np.full((n_attributes, self.width), np.inf)
        self.ascending[:, :n_rows] = columns.reshape(-1)[by_rank]

    def count(self, bounds: Floats, *, inclusive: bool) -> Ints:
        """For every attribute and row, how many values exceed the row's by less than its bound.

        The rounded difference itself is compared, as the definitions do. It grows with the value,
        so the search by halving is exact. A missing value exceeds nothing and is exceeded by nothing.
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
        """Which target rows are among the so many lowest of each attribute.

        `bits` are the ascending positions of the targets in the sets. For each array of counts, of
        shape (n_attributes, n_boxes), an array of shape (n_attributes, n_words, n_boxes).
        """
        n_attributes, n_rows = self.columns.shape
        n_words = (int(bits[-1]) >> 6) + 1
        # One slot per count that occurs; a target enters at the first count above its rank.
        origin = np.arange(0, n_attributes * (n_rows + 1), n_rows + 1)[:, None]
        wanted = [origin + count for count in counts]
        occurs = np.zeros(n_attributes * (n_rows + 1), dtype=np.int8)
        for index in wanted:
            occurs[index] = 1
        slots = np.cumsum(occurs.reshape(n_attributes, -1), axis=1, dtype=np.int64)
        n_slots = int(slots[:, -1].max()) + 1
        entry = slots.reshape(-1)[origin + self.ranks[:, targets]]
        entry += (np.arange(n_attributes)[:, None] * n_words + (bits >> 6)) * n_slots
        sets = np.zeros((n_attributes, n_words, n_slots), dtype=np.uint64)
        np.add.at(sets.reshape(-1), entry.reshape(-1), np.tile(single(bits), n_attributes))
        np.bitwise_or.accumulate(sets, axis=2, out=sets)
        planes = []
        for index in wanted:
            slot = slots.reshape(-1)[index] - 1
            plane = np.empty((n_attributes, n_words, index.shape[1]), dtype=np.uint64)
            for attribute in range(n_attributes):
                np.take(sets[attribute], slot[attribute], axis=1, out=plane[attribute], mode="clip")
            planes.append(plane)
        return planes

    def unknown(self, targets: Ints, bits: Ints) -> Words:
        """Which target rows miss each attribute, of shape (n_attributes, n_words, 1)."""
        assert self.missing is not None  # noqa: S101
        words = np.zeros((len(self.columns), (int(bits[-1]) >> 6) + 1, 1), dtype=np.uint64)
        attribute, target = np.nonzero(self.missing[:, targets])
        np.add.at(words[:, :, 0], (attribute, bits[target] >> 6), single(bits[target]))
        return words


def single(bits: Ints) -> Words:
    """Words with one bit each."""
    return np.left_shift(np.uint64(1), (bits & 63).astype(np.uint64))


def blocks(start: int, end: int, words_per_row: int) -> Iterator[slice]:
    """Slices of rows that need a bounded number of words."""
    height = max(LEAST_ROWS, BLOCK_WORDS // words_per_row)
    for low in range(start, end, height):
        yield slice(low, min(low + height, end))


# --- Shortening


def shorten(
    ranking: Ranking,
    bits: Ints,
    first_row: list[int],
    first_word: list[int],
    limits: Floats,
    orders: Ints,
    initial: Types | None = None,
    rigid: Flags | None = None,
) -> Types:
    """Condition types of every row's rule, in the attribute order of its row of `orders`.

    `bits` are the positions of the rows; classes begin at words `first_word`. Boxes have both sides
    unless `initial` says otherwise; `rigid` attributes keep both or none of them.
    """
    n_attributes, n_rows = ranking.columns.shape
    types = np.zeros((n_rows, n_attributes), dtype=np.int8)
    not_above = ranking.count(limits, inclusive=True)
    below = ranking.count(-limits, inclusive=False)
    if ranking.missing is not None:
        not_above[ranking.missing] = n_rows
    if initial is not None:
        not_above[(initial & 1) == 0] = n_rows
        below[(initial & 2) == 0] = 0
    for code, (start, end) in enumerate(pairwise(first_row)):
        enemies = np.concatenate((np.arange(start), np.arange(end, n_rows)))
        if start == end or not len(enemies):
            continue
        places = bits[enemies]
        places[start:] -= 64 * (first_word[code + 1] - first_word[code])
        everybody = np.zeros((int(places[-1] >> 6) + 1, 1), dtype=np.uint64)
        np.add.at(everybody[:, 0], places >> 6, single(places))
        unknown = None if ranking.missing is None else ranking.unknown(enemies, places)
        for block in blocks(start, end, 3 * n_attributes * len(everybody)):
            high, low = ranking.lowest(enemies, places, not_above[:, block], below[:, block])
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
                found = prune(high, low, everybody, np.arange(n_attributes), whole)
                np.put_along_axis(types[block], orders[block], found, axis=1)
    types[limits < 0] = 0
    return types


def prune(
    not_above: Words,
    below: Words,
    enemies: Words,
    order: Ints,
    rigid: Flags | None = None,
) -> Types:
    """RULE_PRUNE for a block of rows at once; overwrites the sets it is given.

    While the attributes to come are all SIMILAR, an enemy is critical for an attribute if neither
    a condition already kept nor an attribute to come discerns it. The attribute is bounded above
    iff a critical enemy lies above, and below iff one lies below; on both sides if it is `rigid`, of
    shape (n_attributes, n_rows or 1), and either is needed.
    """
    n_attributes, _, n_rows = not_above.shape
    types = np.empty((n_attributes, n_rows), dtype=np.int8)
    # Enemies discerned by none of the attributes to come, for each attribute.
    later = np.empty_like(not_above)
    later[order[-1]] = enemies
    for attribute, following in zip(order[-2::-1], order[:0:-1], strict=True):
        np.invert(below[following], out=later[attribute])
        later[attribute] &= not_above[following]
        later[attribute] &= later[following]
    above = np.invert(not_above, out=not_above)
    alive = np.repeat(enemies, n_rows, axis=1)
    scratch = np.empty_like(alive)
    for attribute in order:
        alive_later = later[attribute]
        alive_later &= alive
        np.bitwise_and(alive_later, above[attribute], out=scratch)
        bounded_above = np.bitwise_or.reduce(scratch, axis=0) != NONE
        np.bitwise_and(alive_later, below[attribute], out=scratch)
        bounded_below = np.bitwise_or.reduce(scratch, axis=0) != NONE
        if rigid is not None:
            whole = (bounded_above | bounded_below) & rigid[attribute]
            bounded_above |= whole
            bounded_below |= whole
        types[attribute] = bounded_above + 2 * bounded_below.view(np.int8)
        # A side that is kept takes the enemies beyond it out of play.
        above[attribute] &= np.where(bounded_above, ALL, NONE)
        below[attribute] &= np.where(bounded_below, ALL, NONE)
        np.bitwise_or(above[attribute], below[attribute], out=scratch)
        alive &= np.invert(scratch, out=scratch)
    return types.T


# --- Covers


def covered(
    ranking: Ranking,
    bits: Ints,
    first_row: list[int],
    first_word: list[int],
    limits: Floats,
    types: Types,
) -> tuple[Ints, list[tuple[NDArray[np.int32], Words]]]:
    """Objects covered by every row's rule: words per row, then words and their bits in parts."""
    n_attributes, n_rows = ranking.columns.shape
    by_attribute = types.T
    inner = ranking.count(limits, inclusive=False)
    outer = ranking.count(-limits, inclusive=True)
    if ranking.missing is not None:
        inner[ranking.missing] = n_rows
    inner[(by_attribute & 1) == 0] = n_rows
    outer[(by_attribute & 2) == 0] = 0
    inner[:, limits <= 0] = 0
    lengths, parts = [], []
    for code, (start, end) in enumerate(pairwise(first_row)):
        if start == end:
            continue
        own = np.arange(start, end)
        places = bits[own] - 64 * first_word[code]
        n_words = first_word[code + 1] - first_word[code]
        unknown = None if ranking.missing is None else ranking.unknown(own, places)
        for block in blocks(start, end, 2 * n_attributes * n_words):
            lower, lowest = ranking.lowest(own, places, inner[:, block], outer[:, block])
            if unknown is not None:
                lower |= np.where(limits[block] > 0, unknown, NONE)
            outside = np.bitwise_or.reduce(lowest, axis=0)
            inside = np.bitwise_and.reduce(lower, axis=0)
            inside &= np.invert(outside, out=outside)
            by_row = np.ascontiguousarray(inside.T)
            row, word = np.nonzero(by_row)
            lengths.append(np.bincount(row, minlength=len(by_row)))
            parts.append(((word + first_word[code]).astype(np.int32), by_row[row, word]))
    return np.concatenate(lengths), parts

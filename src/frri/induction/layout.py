"""A table laid out for the kernels: objects grouped by class, each class in whole words of 64 bits."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from frri.cover.matrix import CoverMatrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from frri._util import Flags, Floats, Ints, Types, Words

    WordRun = tuple[NDArray[np.int32], Words]

# Classes of more objects than this are put in an order that keeps neighbours in the same word.
CLUSTERED_FROM = 1024

# The sides that a box may have are flags: 1 for above, 2 for below.
NO_SIDE, BOTH_SIDES = 0, 3


class ClassLayout:
    """Objects grouped by class, each class in whole words of 64 bits.

    *Rows* count the objects in this grouping, *bits* are their positions in sets; the two differ
    by the bits left unused at the end of each class.

    `initial` (what sides boxes may have, by attribute), `rigid` (which attributes have both sides or
    none) and `missing` (a mask like `columns`) are None where there is nothing to say: both sides for
    all, nothing rigid, nothing missing.
    """

    def __init__(
        self,
        values: ArrayLike,
        classes: ArrayLike,
        initial: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
    ) -> None:
        matrix = np.asarray(values, dtype=np.float64)
        self.initial, self.rigid = declared(initial, rigid)
        if self.initial is not None:
            # What is always 0 is never needed.
            matrix = np.where(self.initial == NO_SIDE, 0.0, matrix)
        incomplete = bool(np.isnan(matrix.sum()))
        codes = np.asarray(classes)
        self.first_row = [0, *np.cumsum(np.bincount(codes)).tolist()]
        self.objects = np.argsort(codes, kind="stable")
        for start, end in pairwise(self.first_row):
            if end - start > CLUSTERED_FROM:
                members = self.objects[start:end]
                points = matrix[members]
                if incomplete or self.rigid is not None:
                    points = _comparable(points)
                members[:] = members[_clustered(points)]
        self.points = matrix.take(self.objects, axis=0)
        self._number()

    def _number(self) -> None:
        """What follows from the points and their order."""
        n, sizes = len(self.points), np.diff(self.first_row)
        self.first_word = [0, *np.cumsum((sizes + 63) >> 6).tolist()]
        self.columns = np.ascontiguousarray(self.points.T)
        self.missing = np.isnan(self.columns) if np.isnan(self.points.sum()) else None
        gaps = 64 * np.array(self.first_word[:-1]) - np.array(self.first_row[:-1])
        self.bits = np.arange(n) + np.repeat(gaps, sizes)
        self.rows = np.empty(n, dtype=np.int64)
        self.rows[self.objects] = np.arange(n)
        self.positions = self.bits[self.rows]

    def __getstate__(self) -> dict[str, Any]:
        """What the rest follows from: half as much to send."""
        kept = ("points", "objects", "first_row", "initial", "rigid")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._number()

    @property
    def mutual(self) -> bool:
        """Whether any two objects are equally far from each other: no single sides, nothing missing."""
        return self.initial is None and self.missing is None

    @property
    def scaled(self) -> bool:
        """Whether no value exceeds 1, as codes of categories do."""
        return bool(self.points.max(initial=0.0) <= 1)

    @property
    def all_initial(self) -> Types:
        """The sides that boxes may have, said in any case."""
        if self.initial is None:
            return np.full(len(self.columns), BOTH_SIDES, dtype=np.int8)
        return self.initial

    def orders(self, order: ArrayLike) -> Ints:
        """The attribute order of each row, or a single one for all."""
        orders = np.array(order, dtype=np.int64, ndmin=2)
        return orders if len(orders) == 1 else np.ascontiguousarray(orders[self.objects])

    def by_object(self, by_row: NDArray[Any]) -> NDArray[Any]:
        """What is known by row in the order of the objects."""
        return by_row.take(self.rows, axis=0)

    def cover_matrix(self, lengths: Ints, parts: list[WordRun]) -> CoverMatrix:
        """Who covers whom by object from the words per row and all words in parts; consumes the parts."""
        indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths[self.rows], out=indptr[1:])
        words = np.empty(indptr[-1], dtype=np.int32)
        sets = np.empty(indptr[-1], dtype=np.uint64)
        ends = np.cumsum(lengths)
        shifts = indptr[self.objects] - ends + lengths
        row = done = 0
        parts.reverse()
        while parts:
            some_words, some_sets = parts.pop()
            last = int(np.searchsorted(ends, done + len(some_words), side="right"))
            target = np.repeat(shifts[row:last], lengths[row:last])
            target += np.arange(done, done + len(some_words))
            words[target], sets[target] = some_words, some_sets
            row, done = last, done + len(some_words)
        return CoverMatrix(indptr, words, sets, 64 * self.first_word[-1])


def declared(
    initial: ArrayLike | None, rigid: ArrayLike | None
) -> tuple[Types | None, Flags | None]:
    """What is declared about attributes as arrays, None where it is what holds for all anyway."""
    types = None if initial is None else np.asarray(initial, dtype=np.int8)
    flags = None if rigid is None else np.asarray(rigid, dtype=np.bool_)
    if types is not None and flags is not None:
        # A single side is kept or not in any case.
        flags = flags & (types == BOTH_SIDES)
    if types is not None and (types == BOTH_SIDES).all():
        types = None
    if flags is not None and not flags.any():
        flags = None
    return types, flags


def _comparable(points: Floats) -> Floats:
    """Points without missing values, all attributes in [0, 1]: only their rough place matters."""
    filled = np.nan_to_num(points, nan=0.5)
    filled /= np.maximum(filled.max(axis=0), 1.0)
    return filled


def _clustered(points: Floats) -> Ints:
    """Order points so that every run of 64 is a leaf of a k-d tree.

    Splits halve the words along the attribute of largest variance; within a leaf the points keep
    their order. Ties are split by index, so the order depends on nothing but the points.
    """
    ranks = np.stack([_ranks(column) for column in points.T])
    ordered = np.arange(len(points))
    pending = [(0, len(points))]
    while pending:
        start, end = pending.pop()
        left = (end - start + 63) // 128 * 64
        if not left:
            continue
        members = ordered[start:end]
        sample = points[members[:: 1 + len(members) // 256]]
        sample -= sample.mean(axis=0)
        keys = ranks[np.einsum("ij,ij->j", sample, sample).argmax()][members]
        smaller = keys < np.partition(keys, left)[left]
        ordered[start:end] = np.concatenate((members[smaller], members[~smaller]))
        pending += [(start, start + left), (start + left, end)]
    return ordered


def _ranks(column: Floats) -> NDArray[np.int32]:
    """The place of each value among all, equal ones by index."""
    values = np.ascontiguousarray(column)
    order = np.argsort(values)  # the quickest way, which leaves open where equal values come
    ascending = values[order]
    if (ascending[1:] == ascending[:-1]).any():
        order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values), dtype=np.int32)
    ranks[order] = np.arange(len(values), dtype=np.int32)
    return ranks

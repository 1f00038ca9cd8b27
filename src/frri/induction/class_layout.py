"""Tables in the order of the backends: samples grouped by class, each class in whole words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from frri._util import Flags, Floats, Ints, Types

# Shortening asks for failures above `confidence - TOLERANCE`, covering for distances below it.
TOLERANCE = 1e-6

# Classes of more samples than this are sorted so that neighbors are in the same word.
CLUSTERED_FROM = 1024

# The sides that a box may have are flags: 1 for above, 2 for below.
NO_SIDE, BOTH_SIDES = 0, 3


class ClassLayout:
    """Samples grouped by class, each class in whole words of 64 bits.

    *Rows* number the samples in this order, *bits* are their positions in sets; the two differ by
    the bits left unused at the end of each class.

    Parameters
    ----------
    values : array-like of float, shape (n_samples, n_features)
        NaN where missing.
    classes : array-like of int, shape (n_samples,)
    initial : array-like of int, shape (n_features,), optional
        Sides that boxes may have; both by default.
    rigid : array-like of bool, shape (n_features,), optional
        Features of which boxes have both sides or none.
    """

    def __init__(
        self,
        values: ArrayLike,
        classes: ArrayLike,
        initial: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
    ) -> None:
        matrix = np.asarray(values, dtype=np.float64)
        self.initial, self.rigid = declared_types(matrix.shape[1], initial, rigid)
        if (self.initial == NO_SIDE).any():
            # A feature that is always 0 is never needed.
            matrix = np.where(self.initial == NO_SIDE, 0.0, matrix)
        mixed = bool(np.isnan(matrix.sum()) or self.rigid.any())
        codes = np.asarray(classes)
        self.first_row = [0, *np.cumsum(np.bincount(codes)).tolist()]
        self.samples = np.argsort(codes, kind="stable")
        for start, end in pairwise(self.first_row):
            if end - start > CLUSTERED_FROM:
                members = self.samples[start:end]
                points = matrix[members]
                members[:] = members[_cluster(_comparable(points) if mixed else points)]
        self.points = matrix.take(self.samples, axis=0)
        self._number()

    def _number(self) -> None:
        """Set everything that follows from the points and their order."""
        n, sizes = len(self.points), np.diff(self.first_row)
        self.first_word = [0, *np.cumsum((sizes + 63) >> 6).tolist()]
        self.columns = np.ascontiguousarray(self.points.T)
        self.missing = np.isnan(self.columns) if np.isnan(self.points.sum()) else None
        gaps = 64 * np.array(self.first_word[:-1]) - np.array(self.first_row[:-1])
        self.bits = np.arange(n) + np.repeat(gaps, sizes)
        self.rows = np.empty(n, dtype=np.int64)
        self.rows[self.samples] = np.arange(n)
        self.positions = self.bits[self.rows]

    def __getstate__(self) -> dict[str, Any]:
        """Return what the rest follows from: half as much to send."""
        kept = ("points", "samples", "first_row", "initial", "rigid")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._number()

    def orders(self, order: ArrayLike) -> Ints:
        """Return the feature order of each row, or a single one for all."""
        orders = np.array(order, dtype=np.int64, ndmin=2)
        return orders if len(orders) == 1 else self.by_row(orders)

    def by_row(self, by_sample: ArrayLike) -> NDArray[Any]:
        """Put an array of all samples into the order of rows."""
        return np.asarray(by_sample).take(self.samples, axis=0)

    def by_sample(self, by_row: NDArray[Any]) -> NDArray[Any]:
        """Put an array of all rows into the order of samples."""
        return by_row.take(self.rows, axis=0)


class GivenLayout:
    """Samples in the order of the table, with the interface of `ClassLayout`."""

    def __init__(self, n_samples: int) -> None:
        self.positions = np.arange(n_samples)

    def orders(self, order: ArrayLike) -> Ints:
        """Return the feature order of each sample, or a single one for all."""
        return np.array(order, dtype=np.int64, ndmin=2)

    def by_row(self, by_sample: ArrayLike) -> NDArray[Any]:
        """Return an array of all samples as it is."""
        return np.asarray(by_sample)

    def by_sample(self, by_row: NDArray[Any]) -> NDArray[Any]:
        """Return an array of all samples as it is."""
        return by_row


def declared_types(
    n_features: int, initial: ArrayLike | None, rigid: ArrayLike | None
) -> tuple[Types, Flags]:
    """Return initial types and rigid features as arrays; a single side is never rigid."""
    types = np.full(n_features, BOTH_SIDES, dtype=np.int8)
    if initial is not None:
        types[:] = initial
    if rigid is None:
        return types, np.zeros(n_features, dtype=np.bool_)
    return types, np.asarray(rigid, dtype=np.bool_) & (types == BOTH_SIDES)


def _comparable(points: Floats) -> Floats:
    """Return points without missing values, all features in [0, 1], roughly in place."""
    filled = np.nan_to_num(points, nan=0.5)
    filled /= np.maximum(filled.max(axis=0), 1.0)
    return filled


def _cluster(points: Floats) -> Ints:
    """Order points so that every run of 64 is a leaf of a k-d tree.

    Splits halve the words along the feature of largest variance; within a leaf the points keep
    their order. Ties are split by index, so that the order depends on nothing but the points.
    """
    ranks = np.stack([_rank(column) for column in points.T])
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


def _rank(column: Floats) -> NDArray[np.int32]:
    """Return the place of each value among all, equal ones by index."""
    values = np.ascontiguousarray(column)
    order = np.argsort(values)  # the quickest way, which leaves open where equal values come
    ascending = values[order]
    if (ascending[1:] == ascending[:-1]).any():
        order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values), dtype=np.int32)
    ranks[order] = np.arange(len(values), dtype=np.int32)
    return ranks

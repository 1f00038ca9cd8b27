"""Tables in the order of the backends: samples grouped by class, each class in whole words."""

import enum
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frri._util import Flags, Floats, Ints

# Shortening asks for failures above `confidence - TOLERANCE`, covering for distances below it.
TOLERANCE = 1e-6

# Classes of more samples than this are sorted so that neighbors are in the same word.
CLUSTERED_FROM = 1024


class ConditionType(enum.IntEnum):
    """How a rule uses a feature: a flag for each side of the sample's value that is bounded.

    Examples
    --------
    >>> ConditionType.AT_MOST | ConditionType.AT_LEAST == ConditionType.SIMILAR
    True
    """

    UNUSED = 0
    AT_MOST = 1  # smaller than or similar: the paper's DOMINANT
    AT_LEAST = 2  # greater than or similar: the paper's DOMINATED
    SIMILAR = 3


class ClassLayout:
    """Samples grouped by class, each class in whole words of 64 bits.

    *Rows* number the samples in this order, *bits* are their positions in sets; the two differ by
    the bits left unused at the end of each class. A pickled layout contains the table only, unless
    other attributes have been used.

    `initial` has the sides that boxes may have, `rigid` the features of which they have both sides
    or none; a single side is never rigid.
    """

    def __init__(
        self,
        values: ArrayLike,
        classes: ArrayLike,
        initial: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
    ) -> None:
        matrix = np.asarray(values, dtype=np.float64)
        start = ConditionType.SIMILAR if initial is None else initial
        self.initial = np.full(matrix.shape[1], start, dtype=np.int8)
        both_sides = self.initial == ConditionType.SIMILAR
        self.rigid: Flags = both_sides & (False if rigid is None else rigid)
        # A feature that is always 0 is never needed.
        matrix = np.where(self.initial == ConditionType.UNUSED, 0.0, matrix)
        codes = np.asarray(classes)
        self.first_row = [0, *np.cumsum(np.bincount(codes)).tolist()]
        self.samples = np.argsort(codes, kind="stable")
        for start, end in pairwise(self.first_row):
            if CLUSTERED_FROM < end - start < len(matrix):
                members = self.samples[start:end]
                members[:] = members[_cluster(matrix[members])]
        self.points = matrix[self.samples]

    @cached_property
    def columns(self) -> Floats:
        """Values by feature."""
        return np.ascontiguousarray(self.points.T)

    @cached_property
    def missing(self) -> Flags:
        """Which values are missing, by feature."""
        return np.isnan(self.columns)

    @cached_property
    def first_word(self) -> list[int]:
        """First word of each class, and the number of words."""
        return [0, *np.cumsum((np.diff(self.first_row) + 63) >> 6).tolist()]

    @cached_property
    def bits(self) -> Ints:
        """Position of each row in sets."""
        unused = 64 * np.array(self.first_word[:-1]) - np.array(self.first_row[:-1])
        skipped: Ints = np.repeat(unused, np.diff(self.first_row))
        return np.arange(len(self.points)) + skipped

    @cached_property
    def rows(self) -> Ints:
        """Row of each sample."""
        return np.argsort(self.samples)

    @property
    def positions(self) -> Ints:
        """Position of each sample in sets."""
        return self.bits[self.rows]

    def orders(self, order: ArrayLike) -> Ints:
        """Return the feature order of each row, or a single one for all."""
        orders = np.array(order, dtype=np.int64, ndmin=2)
        return orders if len(orders) == 1 else self.by_row(orders)

    def by_row(self, by_sample: ArrayLike) -> NDArray[Any]:
        """Put an array of all samples into the order of rows."""
        return np.asarray(by_sample)[self.samples]

    def by_sample(self, by_row: NDArray[Any]) -> NDArray[Any]:
        """Put an array of all rows into the order of samples."""
        return by_row[self.rows]


def _cluster(points: Floats) -> Ints:
    """Order points so that every run of 64 is a leaf of a k-d tree.

    Splits halve the words along the feature of largest variance; within a leaf the points keep
    their order. Ties are split by index, so that the order depends on nothing but the points.
    Missing values and codes of categories are put roughly in place.
    """
    filled = np.nan_to_num(points, nan=0.5)
    filled /= np.maximum(filled.max(axis=0), 1.0)
    columns = np.ascontiguousarray(filled.T)
    ordered = np.arange(len(points))
    pending = [(0, len(points))]
    while pending:
        start, end = pending.pop()
        left = (end - start + 63) // 128 * 64
        if not left:
            continue
        members = ordered[start:end]
        sample = filled[members[:: 1 + len(members) // 256]]
        sample -= sample.mean(axis=0)
        keys = columns[np.einsum("ij,ij->j", sample, sample).argmax()][members]
        smaller = keys < (pivot := np.partition(keys, left)[left])
        smaller[np.flatnonzero(keys == pivot)[: left - np.count_nonzero(smaller)]] = True
        ordered[start:end] = np.concatenate((members[smaller], members[~smaller]))
        pending += [(start, start + left), (start + left, end)]
    return ordered

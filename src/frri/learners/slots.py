"""Elementary tests of a table, and the slots between them.

Elementary tests are `a < cut` and `a >= cut` for numeric attributes and `a = value` for nominal ones.
For the search values are replaced by *slots*: the cuts of a numeric attribute divide its values into
slots in ascending order, every category of a nominal attribute is a slot of its own, and each
attribute ends with a slot for missing values, which satisfy no test. All slots of a table are numbered
through. Test k of a numeric attribute is the pair "in one of its first k + 1 slots" (below) and "in a
later one" (above); that of a nominal attribute is "in slot k" alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from frri.data import Attribute
    from frri.kernels.choosing import Floats, Grid, Integers, Slots


class ElementaryTest(NamedTuple):
    """`attribute < bound` (below) or `attribute >= bound`; for a nominal attribute `= bound`."""

    attribute: int
    bound: float
    below: bool


@dataclass(frozen=True, eq=False)
class SlottedTable:
    """A table with its values replaced by slots.

    Attributes
    ----------
    slots : array of shape (n_objects, n_attributes)
    grid : tuple of arrays
        For each attribute its first slot, the end of its slots for known values, the number of its
        first test (with the number of all tests at the end), and whether it is nominal.
    bounds : array
        The cut or the category of each test.
    """

    slots: Slots
    grid: Grid
    bounds: Floats

    @classmethod
    def of(
        cls, values: NDArray[np.float64], classes: NDArray[np.intp], attributes: Sequence[Attribute]
    ) -> SlottedTable:
        """Find the cuts of every attribute and put every value in its slot.

        Examples
        --------
        >>> from frri.data import Attribute
        >>> values = np.array([[1.0], [2.0], [np.nan], [4.0], [4.0]])
        >>> table = SlottedTable.of(values, np.array([0, 0, 1, 0, 1]), [Attribute("a")])
        >>> table.bounds
        array([3.])
        >>> table.slots.T
        array([[0, 0, 2, 1, 1]], dtype=int32)
        """
        n_objects, n_attributes = values.shape
        slots = np.empty((n_objects, n_attributes), dtype=np.int32)
        nominal = np.array([attribute.kind == "nominal" for attribute in attributes])
        first = np.zeros(n_attributes, dtype=np.int64)
        end = np.zeros(n_attributes, dtype=np.int64)
        bounds: list[Floats] = []
        start = 0
        for j, attribute in enumerate(attributes):
            column = values[:, j]
            if nominal[j]:
                bounds.append(np.arange(float(len(attribute.categories or ()))))
                inside, n_slots = np.nan_to_num(column).astype(np.intp), len(bounds[-1])
            else:
                bounds.append(cut_points(column, classes))
                inside, n_slots = np.searchsorted(bounds[-1], column, "right"), len(bounds[-1]) + 1
            first[j], end[j] = start, start + n_slots
            slots[:, j] = np.where(np.isnan(column), end[j], start + inside)
            start += n_slots + 1
        test_start = np.cumsum([0, *map(len, bounds)], dtype=np.int64)
        return cls(slots, (first, end, test_start, nominal), np.concatenate(bounds))

    @property
    def n_slots(self) -> int:
        """How many slots all attributes have together."""
        return int(self.grid[1][-1]) + 1

    def conditions(
        self, rules: Sequence[Sequence[Sequence[ElementaryTest]]]
    ) -> tuple[Integers, Integers]:
        """Where the conditions of each rule start, and the slots of each condition."""
        start = np.cumsum([0, *map(len, rules)], dtype=np.int64)
        ranges = [self._slot_range(tests) for rule in rules for tests in rule]
        return start, np.array(ranges, dtype=np.int64).reshape(-1, 3)

    def _slot_range(self, tests: Sequence[ElementaryTest]) -> tuple[int, int, int]:
        """Attribute and range of slots of a condition."""
        first, end, test_start, nominal = self.grid
        j = tests[0].attribute
        bounds = self.bounds[test_start[j] : test_start[j + 1]]
        low, high = int(first[j]), int(end[j])
        for test in tests:
            after = int(first[j] + np.searchsorted(bounds, test.bound)) + 1
            if test.below or nominal[j]:
                high = min(high, after)
            if not test.below or nominal[j]:
                low = max(low, after - 1 if nominal[j] else after)
        return j, low, high


def cut_points(column: NDArray[np.float64], classes: NDArray[np.intp]) -> Floats:
    """Midpoints between neighbouring values, unless all objects with either are of one class.

    Examples
    --------
    >>> cut_points(np.array([1.0, 2.0, 3.0, np.nan]), np.array([0, 0, 1, 1]))
    array([2.5])
    """
    known = ~np.isnan(column)
    order = np.argsort(column[known], kind="stable")
    ascending, labels = column[known][order], classes[known][order]
    starts = np.flatnonzero(np.diff(ascending, prepend=np.nan) != 0)
    if len(starts) < 2:
        return np.empty(0)
    distinct = ascending[starts]
    lowest, highest = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    separate = (lowest[:-1] != highest[1:]) | (highest[:-1] != lowest[1:])
    low, high = distinct[:-1][separate], distinct[1:][separate]
    middle = (low + high) / 2
    # Between neighbouring numbers there is none: the upper one then takes the part of the cut.
    return np.asarray(np.where(middle > low, middle, high))

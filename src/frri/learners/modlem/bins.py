"""Elementary tests of a table, and the bins between them.

Elementary tests are `a < cut` and `a >= cut` for numeric attributes and `a = value` for nominal ones.
For the search values are replaced by *bins*: the cuts of a numeric attribute divide its values into
bins in ascending order, every category of a nominal attribute is a bin of its own, and each
attribute ends with a bin for missing values, which satisfy no test. All bins of a table are numbered
through. Test k of a numeric attribute is the pair "in one of its first k + 1 bins" (below) and "in a
later one" (above); that of a nominal attribute is "in bin k" alone. A conjunction of tests of one
attribute is a range of bins.

Compiled loops count objects in *buckets*: bins, or runs of 2, 4, 8, ... bins where an attribute has
many. Neighbouring buckets make a *group*; the last group of an attribute is for missing values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from frri.learners.modlem._split_search_kernels import GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri._util import Flags, Floats, Ints, Positions
    from frri.learners.modlem._split_search_kernels import (
        Bins,
        Codes,
        Places,
    )
    from frri.table import Attribute

    # First bin, end of the bins of known values, number of the first test (m + 1), nominal or not.
    Grid = tuple[Ints, Ints, Ints, Flags]

# Buckets of an attribute, apart from missing values: their counts should stay in fast memory.
MOST_BUCKETS = 1024


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """A table with its values replaced by bins.

    Attributes
    ----------
    bins : array of shape (n_objects, n_attributes)
    places : tuple of arrays
        Where each bin starts in the second array: all objects in the order of bins, attribute by
        attribute.
    grid : tuple of arrays
        For each attribute its first bin, the end of its bins for known values, the number of its
        first test (with the number of all tests at the end), and whether it is nominal.
    bounds : array
        The cut or the category of each test.
    ranks : array of shape (n_attributes, n_objects)
        The different values of each attribute numbered in ascending order, missing ones last.
    """

    bins: Bins
    places: Places
    grid: Grid
    bounds: Floats
    ranks: Ints

    @classmethod
    def of(cls, values: Floats, classes: Positions, attributes: Sequence[Attribute]) -> BinnedTable:
        """Find the cuts of every attribute and put every value in its bin.

        A cut is the midpoint between neighbouring values, unless all objects with either are of one
        class.

        Examples
        --------
        >>> from frri.table import Attribute
        >>> values = np.array([[1.0], [2.0], [np.nan], [4.0], [4.0]])
        >>> table = BinnedTable.of(values, np.array([0, 0, 1, 0, 1]), [Attribute("a")])
        >>> table.bounds
        array([3.])
        >>> table.bins.T
        array([[0, 0, 2, 1, 1]], dtype=int32)
        """
        nominal = np.array([attribute.kind == "nominal" for attribute in attributes])
        categories = np.array([len(attribute.categories or ()) for attribute in attributes])
        order, group, starts, value = _equal_values(values)
        attribute = starts // len(values)
        cut = _cuts(classes[order].ravel(), starts, attribute) & ~np.isnan(value)
        cut &= ~nominal[attribute]

        # Bins: the number of cuts passed within the attribute, or the category.
        n_cuts = np.bincount(attribute[cut], minlength=len(nominal))
        n_tests = np.where(nominal, categories, n_cuts)
        n_bins = np.where(nominal, categories, n_cuts + 1)
        end = np.cumsum(n_bins + 1) - 1
        first = end - n_bins
        passed = np.cumsum(cut) - (np.cumsum(n_cuts) - n_cuts)[attribute]
        inside = np.where(nominal[attribute], value, passed)
        number = np.where(np.isnan(value), end[attribute], first[attribute] + inside)

        bins = np.ascontiguousarray(number.astype(np.int32)[group].T)
        sizes = np.bincount(bins.ravel(), minlength=end[-1] + 1)
        bin_starts = np.concatenate([[0], np.cumsum(sizes)])
        test_start = np.concatenate([[0], np.cumsum(n_tests)])
        bounds = np.arange(float(test_start[-1])) - np.repeat(test_start[:-1], n_tests)
        upper = np.flatnonzero(cut)
        bounds[~np.repeat(nominal, n_tests)] = _middles(value[upper - 1], value[upper])
        return cls(
            bins,
            (bin_starts, order.ravel().astype(np.uint32)),
            (first, end, test_start, nominal),
            bounds,
            group - group.min(axis=1, keepdims=True),
        )

    @cached_property
    def layout(self) -> tuple[Ints, Codes]:
        """What compiled loops want to know of each attribute (see `frri.learners.modlem._split_search_kernels`).

        And the bucket of each value.
        """
        first, end, test_start, nominal = self.grid
        widths = np.ceil(np.log2(np.maximum((end - first) / MOST_BUCKETS, 1.0))).astype(np.int64)
        n_buckets = -(-(end - first) >> widths)
        n_groups = -(-n_buckets // GROUP)
        last_group = np.cumsum(n_groups + 1) - 1
        first_group = last_group - n_groups
        code = np.arange(end[-1] + 1) - np.repeat(first, end - first + 1)
        code >>= np.repeat(widths, end - first + 1)
        code += np.repeat(GROUP * first_group, end - first + 1)
        code[end] = GROUP * last_group
        tests = test_start[:-1], np.diff(test_start)
        layout = np.stack([first, end, *tests, nominal, first_group, last_group, widths], axis=1)
        return layout, code.astype(np.uint32)[self.bins]

    def intervals(self, conditions: Ints) -> tuple[Floats, Floats]:
        """Lower and upper bounds of conditions: an attribute and a range of its bins each.

        Examples
        --------
        >>> from frri.table import Attribute
        >>> values = np.array([[1.0], [2.0], [3.0]])
        >>> table = BinnedTable.of(values, np.array([0, 1, 0]), [Attribute("a")])
        >>> table.intervals(np.array([[0, 0, 1], [0, 1, 2]]))
        (array([-inf,  1.5]), array([1.5, 2.5]))
        """
        first, end, test_start, _ = self.grid
        j, low, high = conditions.T
        bounds = np.append(self.bounds, np.nan)  # an open side may ask for a test that is not there
        before = test_start[j] - first[j] - 1
        return (
            np.where(low > first[j], bounds[before + low], -np.inf),
            np.where(high < end[j], bounds[before + high], np.inf),
        )


def _equal_values(values: Floats) -> tuple[Ints, Ints, Ints, Floats]:
    """Objects in ascending order of every attribute (missing values last), and groups of equal values.

    Returns
    -------
    order, group : arrays of shape (n_attributes, n_objects)
        The objects in ascending order; the group of every object.
    starts, value : arrays of shape (n_groups,)
        Where a group starts in the order, all attributes one after another; its value.
    """
    columns = np.ascontiguousarray(values.T)
    order = columns.argsort(axis=1)
    places = (order + np.arange(0, columns.size, len(values))[:, None]).ravel()
    ascending = columns.ravel()[places].reshape(columns.shape)
    new = np.ones(columns.shape, dtype=bool)
    known = ~np.isnan(ascending[:, :-1])
    np.logical_and(ascending[:, 1:] != ascending[:, :-1], known, out=new[:, 1:])
    group = np.empty(columns.size, dtype=np.int64)
    group[places] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    return order, group.reshape(columns.shape), starts, ascending.ravel()[starts]


def _cuts(labels: Ints, starts: Ints, attribute: Ints) -> Flags:
    """Which groups of equal values differ in class from the group before, of the same attribute."""
    lowest, highest = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    differs = (lowest[:-1] != highest[1:]) | (highest[:-1] != lowest[1:])
    return np.append(False, differs & (attribute[1:] == attribute[:-1]))


def _middles(low: Floats, high: Floats) -> Floats:
    middle = (low + high) / 2
    # Between neighbouring numbers there is none: the upper one then takes the part of the cut.
    return np.where(middle > low, middle, high)

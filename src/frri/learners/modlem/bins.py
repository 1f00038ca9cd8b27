"""Bins: the values of a table between the thresholds of its elementary tests.

Elementary tests are `a < cut` and `a >= cut` for numeric features and `a = value` for nominal ones.
The cuts of a numeric feature divide its values into bins in ascending order, every category of a
nominal feature is a bin of its own, and each feature ends with a bin for missing values, which
satisfy no test. The bins of all features are numbered consecutively. Bin b of a numeric feature
stands for the pair of tests "at most bin b" (below) and "above bin b", bin b of a nominal feature
for the test "in bin b". A conjunction of tests of one feature is a range of bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Positions
    from frri.table import Attribute

    # A feature, the first bin that satisfies the condition, and the end of these bins.
    BinRange = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """A table with its values replaced by bins.

    Attributes
    ----------
    bins : ndarray of int, shape (n_samples, n_features)
    first, end : ndarray of int, shape (n_features,)
        First bin of each feature, and the bin of its missing values, which comes after all others.
    nominal : ndarray of bool, shape (n_features,)
    upper : ndarray of float, shape (n_bins,)
        Cut above each bin; infinite where there is none.
    ranks : ndarray of int, shape (n_features, n_samples)
        Distinct values of each feature numbered in ascending order, missing values last.
    """

    bins: NDArray[np.int32]
    first: Ints
    end: Ints
    nominal: Flags
    upper: Floats
    ranks: Ints

    @classmethod
    def of(cls, values: Floats, classes: Positions, attributes: Sequence[Attribute]) -> BinnedTable:
        """Find the cuts of every feature and put every value in its bin.

        A cut is the midpoint between neighboring values, unless all samples with either value are
        of one class.

        Examples
        --------
        >>> from frri.table import Attribute
        >>> values = np.array([[1.0], [2.0], [np.nan], [4.0], [4.0]])
        >>> table = BinnedTable.of(values, np.array([0, 0, 1, 0, 1]), [Attribute("a")])
        >>> table.upper
        array([ 3., inf, inf])
        >>> table.bins.T
        array([[0, 0, 2, 1, 1]], dtype=int32)
        """
        nominal = np.array([attribute.kind == "nominal" for attribute in attributes])
        categories = np.array([len(attribute.categories or ()) for attribute in attributes])
        order, group, starts, value = _equal_values(values)
        feature = starts // len(values)
        cut = _class_changes(classes[order].ravel(), starts, feature) & ~np.isnan(value)
        cut &= ~nominal[feature]

        # The bin of a value: the number of cuts passed within the feature, or the category.
        n_cuts = np.bincount(feature[cut], minlength=len(nominal))
        n_bins = np.where(nominal, categories, n_cuts + 1)
        end = np.cumsum(n_bins + 1) - 1
        first = end - n_bins
        passed = np.cumsum(cut) - (np.cumsum(n_cuts) - n_cuts)[feature]
        inside = np.where(nominal[feature], value, passed)
        number = np.where(np.isnan(value), end[feature], first[feature] + inside).astype(np.int32)

        above = np.flatnonzero(cut)
        upper = np.full(end[-1] + 1, np.inf)
        upper[number[above] - 1] = _midpoints(value[above - 1], value[above])
        ranks = group - group.min(axis=1, keepdims=True)
        return cls(np.ascontiguousarray(number[group].T), first, end, nominal, upper, ranks)

    def covered(self, conditions: Iterable[BinRange]) -> Flags:
        """Return which samples satisfy all conditions."""
        holds = np.ones(len(self.bins), dtype=np.bool_)
        for j, low, high in conditions:
            holds &= self.inside(slice(None), j, low, high)
        return holds

    def inside(self, rows: Positions | slice, j: int, low: int, high: int) -> Flags:
        """Return which of some samples satisfy a condition."""
        bins = self.bins[rows, j]
        return np.asarray((bins >= low) & (bins < high))

    def interval(self, condition: BinRange) -> tuple[float, float]:
        """Return the lower and upper bound of a condition on a numeric feature.

        Examples
        --------
        >>> from frri.table import Attribute
        >>> values = np.array([[1.0], [2.0], [3.0]])
        >>> table = BinnedTable.of(values, np.array([0, 1, 0]), [Attribute("a")])
        >>> table.interval((0, 0, 1)), table.interval((0, 1, 2))
        ((-inf, 1.5), (1.5, 2.5))
        """
        j, low, high = condition
        lower = float(self.upper[low - 1]) if low > self.first[j] else -np.inf
        return lower, float(self.upper[high - 1])


def _equal_values(values: Floats) -> tuple[Ints, Ints, Ints, Floats]:
    """Sort the samples by every feature (missing values last) and group equal values.

    Returns
    -------
    order, group : ndarray of int, shape (n_features, n_samples)
        Samples in ascending order, and the group of every sample.
    starts, value : ndarray of shape (n_groups,)
        Where a group starts in the order, all features one after another, and its value.
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


def _class_changes(labels: Ints, starts: Ints, feature: Ints) -> Flags:
    """Return which groups of equal values differ in class from the group before."""
    lowest, highest = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    differs = (lowest[:-1] != highest[1:]) | (highest[:-1] != lowest[1:])
    return np.append(False, differs & (feature[1:] == feature[:-1]))


def _midpoints(low: Floats, high: Floats) -> Floats:
    middle = (low + high) / 2
    # There is no number between two neighboring ones: the upper one then serves as the cut.
    return np.where(middle > low, middle, high)

"""Columns of a training table for additive rules, and the gains of all possible conditions.

A condition "at most t" is a ramp: 1 up to t - 1, 0 from t + 1, linear between, where values are in
units of the column's half-width; "at least t" is its complement. With degrees mu of the conditions
so far, gradients g and curvatures h, a rule of degree mu times ramp has

    G = sum g mu ramp,    H = sum h (mu ramp)^2,    M = sum of memberships.

Between two breakpoints the ramp is linear, so G and M are linear and H is quadratic in sums over
*bins*, the intervals between all breakpoints of a column. One pass over the samples fills the bins;
running sums over the bins give all thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frri._reproducible import total
from frri.rules import NominalCondition, NumericCondition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from frri._util import Flags, Floats
    from frri.rules import Condition
    from frri.table import Attribute

    Integers = NDArray[np.integer]

# The most thresholds of a column: with 64 of them the number of a bin is one byte.
MOST_THRESHOLDS = 64

# Kinds of tests; the first two are the sides of a threshold, in the order in which equal gains are
# decided.
AT_MOST, AT_LEAST, ONE_OF = range(3)


class SoftTest(NamedTuple):
    """One condition of a rule, in terms of the training table.

    `which` numbers the threshold; a test `ONE_OF` has the codes of its categories instead.
    """

    attribute: int
    side: int
    which: int = 0
    categories: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class SoftColumns:
    """The columns of a training table, ready to be scanned for conditions.

    Values of a column with an order are kept in units of its ramp's half-width and counted from its
    median: sums of squares over a ramp then keep their precision whatever the user's units. Only
    columns that take two values at least are kept.

    Parameters
    ----------
    ordered : ndarray of int, shape (n_ordered,)
        The attributes with an order, in order.
    values : ndarray of float, shape (n_ordered, n_samples)
        0 where missing.
    bins : ndarray of int, same shape
        Between which breakpoints (the ends of all ramps) a value lies; missing values in the last.
    first, last : ndarray of int, shape (n_ordered, n_thresholds)
        How many bins lie before the beginning and before the end of each ramp.
    thresholds : ndarray of float, same shape
        Ascending, in the units of `values`; NaN after a column's last.
    cuts : ndarray of float, same shape
        The same in the user's units.
    halves : ndarray of float, shape (n_ordered,)
        Half-widths in the user's units.
    nominal : ndarray of int, shape (n_nominal,)
        The nominal attributes, in order.
    n_categories : ndarray of int, shape (n_nominal,)
    codes : ndarray of int, shape (n_nominal, n_samples)
        Categories; one past the last where missing.
    known : ndarray of bool, shape (n_attributes, n_samples)
        Where there is a value.
    """

    ordered: Integers
    values: Floats
    bins: Integers
    first: Integers
    last: Integers
    thresholds: Floats
    cuts: Floats
    halves: Floats
    nominal: Integers
    n_categories: Integers
    codes: Integers
    known: Flags

    @classmethod
    def of(
        cls, table: Floats, attributes: Sequence[Attribute], weights: Floats, width: float
    ) -> SoftColumns:
        """Lay out a table.

        Parameters
        ----------
        table : ndarray of float, shape (n_samples, n_attributes)
        attributes : sequence of Attribute
        weights : ndarray of float, shape (n_samples,)
        width : float
            Half-width of ramps, in standard deviations of their column.

        Returns
        -------
        SoftColumns
        """
        known = ~np.isnan(table.T)
        varied = [len(np.unique(x[k])) > 1 for x, k in zip(table.T, known, strict=True)]
        named = [attribute.kind == "nominal" for attribute in attributes]
        nominal = np.flatnonzero(np.logical_and(varied, named))
        ordered = np.flatnonzero(np.logical_and(varied, np.logical_not(named)))
        counts = np.array(
            [len(attributes[j].categories or ()) for j in nominal.tolist()], dtype=np.intp
        )
        codes = np.where(known[nominal], np.nan_to_num(table.T[nominal]), counts[:, None])
        columns = [
            _OrderedColumn.of(table[known[j], j], weights[known[j]], width)
            for j in ordered.tolist()
        ]
        longest = max((len(column.cuts) for column in columns), default=1)
        thresholds, cuts = np.full((2, len(columns), longest), np.nan)
        first, last = np.zeros((2, len(columns), longest), dtype=np.intp)
        values = np.zeros((len(columns), len(table)))
        bins = np.full(values.shape, 2 * longest + 1, dtype=np.uint8)
        for k, (j, column) in enumerate(zip(ordered.tolist(), columns, strict=True)):
            n_cuts = len(column.cuts)
            cuts[k, :n_cuts], thresholds[k, :n_cuts] = column.cuts, column.thresholds
            values[k, known[j]] = column.values
            starts, ends = column.thresholds - 1.0, column.thresholds + 1.0
            breaks = np.sort(np.concatenate((starts, ends)))
            first[k, :n_cuts] = breaks.searchsorted(starts, side="right")
            last[k, :n_cuts] = breaks.searchsorted(ends, side="right")
            bins[k, known[j]] = breaks.searchsorted(column.values)
        return cls(
            ordered=ordered,
            values=values,
            bins=bins,
            first=first,
            last=last,
            thresholds=thresholds,
            cuts=cuts,
            halves=np.array([column.half for column in columns]),
            nominal=nominal,
            n_categories=counts,
            codes=codes.astype(np.intp),
            known=known,
        )

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.known.shape[1])

    @property
    def n_bins(self) -> int:
        """Number of bins of a column, the one of missing values included."""
        return int(2 * self.thresholds.shape[1] + 2)

    def part(self, start: int, end: int) -> SoftColumns:
        """Return some of the samples, laid out in the same way."""
        rows = slice(start, end)
        return replace(
            self,
            values=self.values[:, rows],
            bins=self.bins[:, rows],
            codes=self.codes[:, rows],
            known=self.known[:, rows],
        )

    def from_bins(self, sums: Floats) -> Floats:
        """Return G, H and M of rules with one more condition, for every threshold and side.

        Parameters
        ----------
        sums : ndarray of float, shape (7, n_rules, n_ordered, n_bins)
            Sums of `_bin_kernels` for each rule.

        Returns
        -------
        ndarray of float, shape (3, n_rules, n_ordered, n_thresholds, 2)
            NaN where there is no such threshold.
        """
        n_sums, n_rules = sums.shape[:2]
        # Missing values, in the last bin, satisfy no test.
        running = np.cumsum(sums[..., :-1], axis=-1)
        flat = running.reshape(n_sums, n_rules, running.shape[2] * running.shape[3])
        below, upto = (flat.take(places, axis=-1) for places in self._places)
        whole = running[..., -1:]
        ramp = upto - below
        level, tilted, bend = ramp[:3], ramp[3:6], ramp[6]
        result = np.empty((3, n_rules, 2, *self.thresholds.shape))
        for side, flank, edge, half in (
            (AT_MOST, below[:3], self.thresholds + 1.0, 0.5),
            (AT_LEAST, whole[:3] - upto[:3], self.thresholds - 1.0, -0.5),
        ):
            line = edge * level - tilted
            bent = edge * (line[1] - tilted[1]) + bend
            line *= half
            line[1] = bent * 0.25
            np.add(flank, line, out=result[:, :, side])
        return np.moveaxis(result, 2, -1)

    @cached_property
    def _places(self) -> Integers:
        """Positions of the running sums up to the starts and ends of ramps."""
        offsets = (np.arange(len(self.ordered)) * (self.n_bins - 1))[:, None] - 1
        return np.stack((self.first, self.last)) + offsets

    def membership(self, test: SoftTest) -> Floats:
        """Return the degree to which each sample satisfies a test; 0 where the value is missing."""
        if test.side == ONE_OF:
            codes = self.codes[self.nominal.searchsorted(test.attribute)]
            return np.isin(codes, test.categories).astype(np.float64)
        k = self.ordered.searchsorted(test.attribute)
        inside = self.thresholds[k, test.which] - self.values[k]
        ramp = np.clip(0.5 + (inside if test.side == AT_MOST else -inside) / 2.0, 0.0, 1.0)
        return np.where(self.known[test.attribute], ramp, 0.0)

    def conditions(
        self, tests: Sequence[SoftTest], attributes: Sequence[Attribute]
    ) -> tuple[Condition, ...]:
        """Return tests in the user's units."""
        return tuple(self._condition(test, attributes[test.attribute]) for test in tests)

    def _condition(self, test: SoftTest, attribute: Attribute) -> Condition:
        if test.side == ONE_OF:
            assert attribute.categories is not None  # noqa: S101 - only names are in a set
            names = frozenset(attribute.categories[code] for code in test.categories)
            return NominalCondition(attribute.name, names)
        k = self.ordered.searchsorted(test.attribute)
        cut, half = float(self.cuts[k, test.which]), float(self.halves[k])
        if test.side == AT_MOST:
            return NumericCondition(attribute.name, core_high=cut - half, support_high=cut + half)
        return NumericCondition(attribute.name, support_low=cut - half, core_low=cut + half)


class _OrderedColumn(NamedTuple):
    """The known values of one column and its thresholds, in units of the half-width."""

    values: Floats
    cuts: Floats
    thresholds: Floats
    half: float

    @classmethod
    def of(cls, x: Floats, weights: Floats, width: float) -> _OrderedColumn:
        low, high = x.min(), x.max()
        scaled = (x - low) / (high - low)
        mean = total(scaled * weights) / total(weights)
        spread = np.sqrt(total((scaled - mean) ** 2 * weights) / total(weights))
        half = float(width * spread * (high - low))
        middle = np.median(x)
        cuts = midpoints(x, weights, MOST_THRESHOLDS)
        return cls((x - middle) / half, cuts, (cuts - middle) / half, half)


def midpoints(values: Floats, weights: Floats, most: int) -> Floats:
    """Return midpoints of neighboring distinct values; of more than `most`, about equal quantiles.

    The quantile of a midpoint is the fraction of the weight below it; of two equally near midpoints
    the lower one is taken.

    Examples
    --------
    >>> midpoints(np.array([1.0, 2.0, 2.0, 4.0]), np.ones(4), 64)
    array([1.5, 3. ])
    >>> midpoints(np.arange(100.0), np.ones(100), 3)
    array([24.5, 49.5, 74.5])
    """
    distinct, place = np.unique(values, return_inverse=True)
    middles = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2.0
    if len(middles) <= most:
        return middles
    below = np.bincount(place, weights).cumsum()
    wanted = np.arange(1, most + 1) * below[-1] / (most + 1)
    right = below[:-1].searchsorted(wanted).clip(1, len(middles) - 1)
    nearest = np.where(wanted - below[right - 1] <= below[right] - wanted, right - 1, right)
    return np.asarray(middles[np.unique(nearest)])

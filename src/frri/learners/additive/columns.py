"""Columns of a training table for additive rules, and the sums that decide about conditions.

A condition "at most t" is a ramp: 1 up to t - h, 0 from t + h, linear between; "at least t" is its
complement. The half-width h is a number of standard deviations of the column, or less so that both
ends lie within the range of its values. With degrees mu of the conditions
so far, gradients g and curvatures h, a rule of degree mu times ramp has

    G = sum g mu ramp,    H = sum h (mu ramp)^2,    M = sum of memberships.

Between two breakpoints the ramp is linear, so G and M are linear and H is quadratic in sums over
*bins*, the intervals between all breakpoints of a column. One pass over the samples fills the bins;
running sums over the bins give all thresholds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frri._compile import either
from frri._reproducible import total
from frri._util import Flags, Floats
from frri.rules import Condition, NominalCondition, NumericCondition
from frri.table import Attribute

Integers = NDArray[np.integer]

# Maximum number of thresholds of a column: with 64 of them the number of a bin is one byte.
MAX_THRESHOLDS = 64
# Fraction of the room between a threshold and the ends of the range that a ramp may take: less than
# all, so that no value lies exactly at its end.
ROOM = 0.99
# Smallest half-width of a ramp, in units of the column: sums over narrower ones are not precise.
LEAST_HALF_WIDTH = 1e-4
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
    """The columns of a training table that have two values at least, ready for the search.

    Values of a column with an order are in units of the half-width of most of its ramps and
    relative to its median: sums of squares over a ramp are then precise whatever the user's units.
    """

    # Features with an order; their values (0 where missing) and bins (the last one where missing)
    # by column and sample.
    ordered: Integers
    values: Floats
    bins: Integers
    # By column and threshold: number of bins before the beginning and the end of each ramp, the
    # threshold in the units of `values` and of the user, and the half-width of the ramp; NaN after
    # the last of a column.
    first: Integers
    last: Integers
    thresholds: Floats
    cuts: Floats
    half_widths: Floats
    # Unit of the values of each column.
    units: Floats
    # Nominal features, and their codes by column and sample; one past the last where missing.
    nominal: Integers
    n_categories: Integers
    codes: Integers
    # Where there is a value, by feature and sample.
    known: Flags

    @classmethod
    def of(
        cls, table: Floats, attributes: Sequence[Attribute], weights: Floats, width: float
    ) -> "SoftColumns":
        """Lay out a table of shape (n_samples, n_features).

        `width` is the half-width of ramps, in standard deviations of their column.
        """
        known = ~np.isnan(table.T)
        varied = [len(np.unique(x[k])) > 1 for x, k in zip(table.T, known, strict=True)]
        named = [attribute.kind == "nominal" for attribute in attributes]
        nominal = np.flatnonzero(np.logical_and(varied, named))
        ordered = np.flatnonzero(np.logical_and(varied, np.logical_not(named)))
        n_categories = np.array(
            [len(attributes[j].categories or ()) for j in nominal.tolist()], dtype=np.intp
        )
        codes = np.where(known[nominal], np.nan_to_num(table.T[nominal]), n_categories[:, None])
        shape = (len(ordered), MAX_THRESHOLDS)
        thresholds, cuts, half_widths = np.full((3, *shape), np.nan)
        first, last = np.zeros((2, *shape), dtype=np.intp)
        values, units = np.zeros((len(ordered), len(table))), np.empty(len(ordered))
        bins = np.full(values.shape, -1)
        for k, j in enumerate(ordered.tolist()):
            x, there = table[known[j], j], known[j]
            units[k], middle = _half_width(x, weights[there], width), np.median(x)
            found = midpoints(x, weights[there], MAX_THRESHOLDS)
            own, n_cuts = (found - middle) / units[k], len(found)
            room = np.minimum(found - x.min(), x.max() - found) / units[k]
            half = np.clip(ROOM * room, LEAST_HALF_WIDTH, 1.0)
            breaks = np.sort(np.concatenate((own - half, own + half)))
            cuts[k, :n_cuts], thresholds[k, :n_cuts], half_widths[k, :n_cuts] = found, own, half
            first[k, :n_cuts] = breaks.searchsorted(own - half, side="right")
            last[k, :n_cuts] = breaks.searchsorted(own + half, side="right")
            values[k, there] = (x - middle) / units[k]
            bins[k, there] = breaks.searchsorted(values[k, there])
        longest = max(1, np.isfinite(cuts).sum(axis=1).max(initial=0))
        bins[bins < 0] = 2 * longest + 1
        return cls(
            ordered=ordered,
            values=values,
            bins=bins.astype(np.uint8),
            first=first[:, :longest],
            last=last[:, :longest],
            thresholds=thresholds[:, :longest],
            cuts=cuts[:, :longest],
            half_widths=half_widths[:, :longest],
            units=units,
            nominal=nominal,
            n_categories=n_categories,
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

    def part(self, rows: slice) -> "SoftColumns":
        """Return some of the samples, laid out in the same way."""
        names = "values", "bins", "codes", "known"
        return replace(self, **{name: getattr(self, name)[:, rows] for name in names})

    def from_bins(self, sums: Floats) -> Floats:
        """Return the lanes G, H and M of rules with one more condition, from the sums of bins.

        The result has the shape (n_lanes, n_ordered, n_thresholds, 2), NaN where there is no such
        threshold. See `binned` for the sums.
        """
        n_scores = (len(sums) - 2) // 5
        curved, n_lanes = slice(n_scores, 2 * n_scores), 2 * n_scores + 1
        # Missing values, in the last bin, satisfy no test.
        running = np.cumsum(sums[..., :-1], axis=-1)
        flat = running.reshape(len(sums), running.shape[1] * running.shape[2])
        below, upto = (flat.take(places, axis=-1) for places in self._places)
        whole = running[..., -1:]
        level, tilted, bend = np.split(upto - below, [n_lanes, 2 * n_lanes])
        result = np.empty((n_lanes, 2, *self.thresholds.shape))
        low, high = self.thresholds - self.half_widths, self.thresholds + self.half_widths
        rise = 0.5 / self.half_widths
        for side, flank, edge, slope in (
            (AT_MOST, below[:n_lanes], high, rise),
            (AT_LEAST, whole[:n_lanes] - upto[:n_lanes], low, -rise),
        ):
            line = edge * level - tilted
            bent = edge * (line[curved] - tilted[curved]) + bend
            line *= slope
            line[curved] = bent * (slope * slope)
            np.add(flank, line, out=result[:, side])
        return np.moveaxis(result, 1, -1)

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
        inside = (self.thresholds[k, test.which] - self.values[k]) / self.half_widths[k, test.which]
        ramp = np.clip(0.5 + (inside if test.side == AT_MOST else -inside) / 2.0, 0.0, 1.0)
        return np.where(self.known[test.attribute], ramp, 0.0)

    def conditions(
        self, tests: Sequence[SoftTest], attributes: Sequence[Attribute]
    ) -> tuple[Condition, ...]:
        """Return tests in the user's units."""
        return tuple(self._condition(test, attributes[test.attribute]) for test in tests)

    def _condition(self, test: SoftTest, attribute: Attribute) -> Condition:
        if test.side == ONE_OF:
            names = attribute.categories or ()
            excludes = 2 * len(test.categories) > len(names)
            listed = (n for c, n in enumerate(names) if (c in test.categories) != excludes)
            return NominalCondition(attribute.name, frozenset(listed), excludes=excludes)
        k = self.ordered.searchsorted(test.attribute)
        cut = float(self.cuts[k, test.which])
        half = float(self.half_widths[k, test.which] * self.units[k])
        if test.side == AT_MOST:
            return NumericCondition(attribute.name, core_high=cut - half, support_high=cut + half)
        return NumericCondition(attribute.name, support_low=cut - half, core_low=cut + half)


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


def _half_width(x: Floats, weights: Floats, width: float) -> float:
    """Return a number of standard deviations of values that are not all equal."""
    low, high = x.min(), x.max()
    scaled, weight = (x - low) / (high - low), total(weights)
    mean = total(scaled * weights) / weight
    return float(width * np.sqrt(total((scaled - mean) ** 2 * weights) / weight) * (high - low))


def _binned_arrays(values: Floats, bins: Integers, n_bins: int, lanes: Floats) -> Floats:
    """Add up the bins of every column, in shape (5 * n_scores + 2, n_columns, n_bins).

    A lane has a term for each sample: for each score the gradient times the degree of the rule,
    then for each score the curvature times the squared degree, then the membership. The sums are
    those of the lanes, of the lanes times the value, and of the curvatures times its square. The
    two forms, array operations and loops for the compiler, agree bit for bit: both add the terms of
    a bin in the order of the samples.
    """
    n_columns, n_scores = len(values), len(lanes) // 2
    keys = (bins + np.arange(n_columns)[:, None] * n_bins).ravel()
    summed = [np.broadcast_to(lane, values.shape) for lane in lanes]
    summed += [values * lane for lane in lanes]
    squares = values * values
    summed += [squares * lane for lane in lanes[n_scores:-1]]
    found: Floats = np.empty((len(summed), n_columns * n_bins))
    for k, one in enumerate(summed):
        found[k] = np.bincount(keys, one.ravel(), n_columns * n_bins)
    return found.reshape(len(summed), n_columns, n_bins)


def _binned_loops(values: Floats, bins: Integers, n_bins: int, lanes: Floats) -> Floats:
    n_columns, n_scores, n_lanes = len(values), len(lanes) // 2, len(lanes)
    result = np.zeros((2 * n_lanes + n_scores, n_columns, n_bins))
    sums = np.zeros((n_bins, 7))
    m = lanes[n_lanes - 1]
    for r in range(n_scores):
        g, h = lanes[r], lanes[n_scores + r]
        for j in range(n_columns):
            sums[:, :] = 0.0
            for i in range(len(m)):
                if m[i] > 0.0:
                    z, s = values[j, i], sums[bins[j, i]]
                    s[0] += g[i]
                    s[1] += h[i]
                    s[2] += z * g[i]
                    s[3] += z * h[i]
                    s[4] += z * z * h[i]
                    if r == 0:
                        s[5] += m[i]
                        s[6] += z * m[i]
            for b in range(n_bins):
                result[r, j, b] = sums[b, 0]
                result[n_scores + r, j, b] = sums[b, 1]
                result[n_lanes + r, j, b] = sums[b, 2]
                result[n_lanes + n_scores + r, j, b] = sums[b, 3]
                result[2 * n_lanes + r, j, b] = sums[b, 4]
                if r == 0:
                    result[n_lanes - 1, j, b] = sums[b, 5]
                    result[2 * n_lanes - 1, j, b] = sums[b, 6]
    return result


binned = either(interpreted=_binned_arrays, loops=_binned_loops)

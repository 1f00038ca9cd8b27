"""Columns of a training table for additive rules, and the sums that decide about conditions.

A condition "at most t" is a ramp: 1 up to t - h, 0 from t + h, linear between; "at least t" is its
complement. The half-width h is a number of standard deviations of the column, or less so that both
ends lie within the range of its values. The ends are rounded to few digits, those of a column of
integers to integers, and a ramp that no value lies on is a crisp bound. With degrees mu of the
conditions so far, gradients g and curvatures h, a rule of degree mu times ramp has

    G = sum g mu ramp,    H = sum h (mu ramp)^2,    M = sum of memberships.

Between two breakpoints the ramp is linear, so G and M are linear and H is quadratic in sums over
*bins*, the intervals between all breakpoints of a column. One pass over the samples fills the bins;
running sums over the bins give all thresholds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import floor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frri._compile import either, kernel
from frri._reproducible import total
from frri._util import Flags, Floats
from frri.learners.training_table import are_integers
from frri.rules import Condition, NominalCondition, NumericCondition
from frri.rules.condition import join_ranges
from frri.table import Attribute

Integers = NDArray[np.integer]

# Maximum number of thresholds of a column: with 64 of them the number of a bin is one byte.
MAX_THRESHOLDS = 64
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
    # threshold and the half-width of the ramp, and by side the ends of core and support in the
    # user's units; NaN after the last of a column.
    first: Integers
    last: Integers
    thresholds: Floats
    half_widths: Floats
    cores: Floats
    supports: Floats
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
        thresholds, half_widths = np.full((2, *shape), np.nan)
        cores, supports = np.full((2, *shape, 2), np.nan)
        first, last = np.zeros((2, *shape), dtype=np.intp)
        values, bins = np.zeros((len(ordered), len(table))), np.full((len(ordered), len(table)), -1)
        for k, j in enumerate(ordered.tolist()):
            x, there = table[known[j], j], known[j]
            unit, middle = _half_width(x, weights[there], width), np.median(x)
            ramps = _ramps(x, midpoints(x, weights[there], MAX_THRESHOLDS), unit)
            some = slice(len(ramps))
            cores[k, some] = [ramp.cores for ramp in ramps]
            supports[k, some] = [ramp.supports for ramp in ramps]
            low, high = (np.array([ramp.ends for ramp in ramps]).T - middle) / unit
            thresholds[k, some], half_widths[k, some] = (low + high) / 2.0, (high - low) / 2.0
            breaks = np.sort(np.concatenate((low, high)))
            first[k, some] = breaks.searchsorted(low, side="right")
            last[k, some] = breaks.searchsorted(high, side="right")
            values[k, there] = (x - middle) / unit
            bins[k, there] = breaks.searchsorted(values[k, there])
        longest = max(1, np.isfinite(thresholds).sum(axis=1).max(initial=0))
        bins[bins < 0] = 2 * longest + 1
        return cls(
            ordered=ordered,
            values=values,
            bins=bins.astype(np.uint8),
            first=first[:, :longest],
            last=last[:, :longest],
            thresholds=thresholds[:, :longest],
            half_widths=half_widths[:, :longest],
            cores=cores[:, :longest],
            supports=supports[:, :longest],
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

    def part(self, rows: slice | Integers) -> "SoftColumns":
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
        offsets = (np.arange(len(self.ordered)) * (self.n_bins - 1))[:, None] - 1
        below, upto = (flat.take(ends + offsets, axis=-1) for ends in (self.first, self.last))
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
        """Return tests in the user's units; both sides of a feature are one range."""
        return join_ranges(self._condition(test, attributes[test.attribute]) for test in tests)

    def _condition(self, test: SoftTest, attribute: Attribute) -> Condition:
        if test.side == ONE_OF:
            names = attribute.categories or ()
            excludes = 2 * len(test.categories) > len(names)
            listed = (n for c, n in enumerate(names) if (c in test.categories) != excludes)
            return NominalCondition(attribute.name, frozenset(listed), excludes=excludes)
        place = self.ordered.searchsorted(test.attribute), test.which, test.side
        core, support = float(self.cores[place]), float(self.supports[place])
        if attribute.is_flag and core == support == test.side:
            return NumericCondition(attribute.name, core, core, core, core)
        if test.side == AT_MOST:
            return NumericCondition(attribute.name, core_high=core, support_high=support)
        return NumericCondition(attribute.name, support_low=support, core_low=core)

    def may_join(self, test: SoftTest) -> Flags:
        """Return the thresholds of the other side of a feature whose cores do not cross a test's.

        A rule with both sides then has one range in which it holds fully.
        """
        k = self.ordered.searchsorted(test.attribute)
        own, others = self.cores[k, test.which, test.side], self.cores[k, :, 1 - test.side]
        return np.asarray(others <= own if test.side == AT_MOST else others >= own)


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


class _Ramp(NamedTuple):
    """Ends of a ramp, and by side the ends of core and support: the same if no value lies on it."""

    ends: tuple[float, float]
    cores: tuple[float, float]
    supports: tuple[float, float]


def _ramps(x: Floats, cuts: Floats, usual: float) -> list[_Ramp]:
    """Return ramps around cuts between values, all different, within the range of the values.

    Ends are rounded to a tenth or less of the width, those of a column of integers to integers. If
    no value lies on a ramp, it is a crisp bound between two values: of integers "at most k" or "at
    least k + 1", of other numbers the one with the fewest digits.
    """
    distinct = np.unique(x)
    is_integer = are_integers(distinct)
    least, most = float(distinct[0]), float(distinct[-1])
    found: dict[tuple[float, float], _Ramp] = {}
    for cut in cuts.tolist():
        half = min(usual, cut - least, most - cut)
        if half < LEAST_HALF_WIDTH * usual:
            continue
        exponent = Decimal(2.0 * half).adjusted() - 1
        digits = -max(exponent, 0) if is_integer else -exponent
        low, high = max(round(cut - half, digits), least), min(round(cut + half, digits), most)
        place = int(distinct.searchsorted(cut, side="right"))
        below, above = float(distinct[place - 1]), float(distinct[place])
        ramp = _Ramp((low, high), (low, high), (high, low))
        if below <= low and high <= above:
            bounds = (float(floor(cut)), floor(cut) + 1.0) if is_integer else _between(below, above)
            quarter = (above - below) / 4.0
            ramp = _Ramp((below + quarter, above - quarter), bounds, bounds)
        found.setdefault(ramp.cores, ramp)
    return [*found.values()]


def _between(below: float, above: float) -> tuple[float, float]:
    """Return twice the number with the fewest digits between two, or both if there is none.

    Examples
    --------
    >>> _between(0.31, 0.4525)
    (0.4, 0.4)
    """
    middle, exponent = below + (above - below) / 2.0, Decimal(above - below).adjusted() + 1
    for digits in range(-exponent, 20 - exponent):
        shortest = round(middle, digits)
        if below < shortest < above:
            return shortest, shortest
    return below, above


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
    used = np.flatnonzero(lanes[-1])  # samples outside the rule add nothing
    values, bins, lanes = values.take(used, axis=1), bins.take(used, axis=1), lanes[:, used]
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
    n_sums = 2 * n_lanes + n_scores
    result = np.zeros((n_sums, n_columns, n_bins))
    g, h, m = lanes[0], lanes[n_scores], lanes[n_lanes - 1]
    used = np.flatnonzero(m > 0.0) if n_scores > 1 else np.zeros(0, dtype=np.intp)
    terms = lanes[:, used].T.copy()
    for j in range(n_columns):
        sums = np.zeros((n_bins, n_sums))
        for i in range(len(m) if n_scores == 1 else 0):
            if m[i] > 0.0:
                z, s = values[j, i], sums[bins[j, i]]
                s[0] += g[i]
                s[1] += h[i]
                s[2] += m[i]
                s[3] += z * g[i]
                s[4] += z * h[i]
                s[5] += z * m[i]
                s[6] += z * z * h[i]
        for i in range(len(used)):
            z, b = values[j, used[i]], bins[j, used[i]]
            for k in range(n_lanes):
                sums[b, k] += terms[i, k]
                sums[b, n_lanes + k] += z * terms[i, k]
            for k in range(n_scores):
                sums[b, 2 * n_lanes + k] += z * z * terms[i, n_scores + k]
        result[:, j] = sums.T
    return result


binned = either(interpreted=_binned_arrays, loops=_binned_loops)


@kernel
def threshold_gains(sums: Floats, ramps: Any, terms: Any) -> Floats:
    """Return the gains of conditions by column, threshold and side, from the sums of bins.

    They are those of `StagewiseInduction._gains` and `SoftColumns.from_bins`, bit for bit.
    """
    (first, last, thresholds, half_widths), (penalty, weight, sign, least) = ramps, terms
    n_scores = (len(sums) - 2) // 5
    n_lanes = 2 * n_scores + 1
    gains, lanes = np.zeros((*thresholds.shape, 2)), np.zeros(n_lanes)
    for j in range(len(thresholds)):
        running = sums[:, j, :-1].T.copy()
        for b in range(1, len(running)):
            for k in range(len(sums)):
                running[b, k] += running[b - 1, k]
        for i in range(np.isfinite(half_widths[j]).sum()):
            below, upto, half = running[first[j, i] - 1], running[last[j, i] - 1], half_widths[j, i]
            for side in range(2):
                slope, edge = (0.5 - side) / half, thresholds[j, i] + (1.0 - 2.0 * side) * half
                for k in range(n_lanes):
                    level, tilted = upto[k] - below[k], upto[n_lanes + k] - below[n_lanes + k]
                    line, factor = edge * level - tilted, slope
                    if n_scores <= k < 2 * n_scores:
                        place = 2 * n_lanes - n_scores + k
                        line = edge * (line - tilted) + (upto[place] - below[place])
                        factor = slope * slope
                    lanes[k] = (running[-1, k] - upto[k] if side else below[k]) + line * factor
                if lanes[-1] >= least and (sign == 0 or sign * lanes[0] > 0.0):
                    for k in range(n_scores):
                        curved = lanes[n_scores + k] - lanes[-1] * lanes[-1] / weight
                        gains[j, i, side] += lanes[k] * lanes[k] / (2.0 * (curved + penalty))
    return gains

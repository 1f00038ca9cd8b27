"""A training table laid out for additive rules, and what every possible condition would make of a rule.

A condition "at most t" is a ramp: 1 up to t - 1, 0 from t + 1, linear between, where values are in units
of the column's half-width; "at least t" is its complement. With degrees mu of the conditions so far,
gradients g and curvatures h, a rule of degree mu times ramp has

    G = sum g mu ramp,    H = sum h (mu ramp)^2,    M = sum of memberships.

Between two breakpoints the ramp is linear, so G and M are linear and H is quadratic in sums over *bins*,
the stretches between all breakpoints of a column. One pass over the objects fills the bins; running sums
over the bins give all thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from frri._compile import compiled, pays
from frri._reproducible import total
from frri._util import map_threads
from frri.learners.additive import _bin_kernels as kernels
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

# From this many values on the compiled kernel pays: compiled first, left by an earlier process, at hand.
COMPILED_FROM = 300_000
LOADED_FROM = 60_000
USED_FROM = 2_000
# From this many on columns are worth threads of their own.
THREADS_FROM = 1_000_000

# Objects of a block: a table of more than one is taken in blocks.
BLOCK = 65_536

# What a test says of its attribute; the first two are the sides of a threshold, in the order in which
# equal gains are decided.
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
    values : ndarray of float, shape (n_ordered, n_objects)
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
    codes : ndarray of int, shape (n_nominal, n_objects)
        Categories; one past the last where missing.
    known : ndarray of bool, shape (n_attributes, n_objects)
        Where there is a value.
    n_jobs : int, optional
        How many threads scan a large table.
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
    n_jobs: int | None = None
    _memberships: dict[SoftTest, Floats] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        table: Floats,
        attributes: Sequence[Attribute],
        weights: Floats,
        width: float,
        n_jobs: int | None = None,
    ) -> SoftColumns:
        """Lay out a table.

        Parameters
        ----------
        table : ndarray of float, shape (n_objects, n_attributes)
        attributes : sequence of Attribute
        weights : ndarray of float, shape (n_objects,)
        width : float
            Half-width of ramps, in standard deviations of their column.
        n_jobs : int, optional

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
            n_jobs=n_jobs,
        )

    @property
    def n_objects(self) -> int:
        """How many objects the table has."""
        return int(self.known.shape[1])

    @property
    def in_blocks(self) -> bool:
        """Whether there are so many objects that blocks of them are asked for their sums."""
        return self.n_objects > BLOCK

    @property
    def n_bins(self) -> int:
        """How many bins a column has, the one of missing values counted."""
        return int(2 * self.thresholds.shape[1] + 2)

    def part(self, start: int, end: int) -> SoftColumns:
        """Some of the objects, laid out as all are."""
        rows = slice(start, end)
        return replace(
            self,
            values=self.values[:, rows],
            bins=self.bins[:, rows],
            codes=self.codes[:, rows],
            known=self.known[:, rows],
            _memberships={},
        )

    def scan(self, terms: Floats) -> Floats:
        """G, H and M of rules with one more condition, for every threshold and side.

        Parameters
        ----------
        terms : ndarray of float, shape (3, n_rules, n_objects)
            Gradients times degree, curvatures times squared degree, memberships of each rule.

        Returns
        -------
        ndarray of float, shape (3, n_rules, n_ordered, n_thresholds, 2)
            NaN where there is no such threshold.
        """
        return self._scan_compiled(terms) if self.is_compiled else self._scan_sparse(terms)

    def _scan_compiled(self, terms: Floats) -> Floats:
        scan = compiled(kernels).scan

        def part(start: int, end: int) -> Floats:
            rows = slice(start, end)
            columns = self.values[rows], self.bins[rows], self.first[rows], self.last[rows]
            return np.stack(
                [scan(*columns, self.thresholds[rows], *one) for one in terms.swapaxes(0, 1)],
                axis=1,
            )

        n_columns = len(self.ordered)
        if self.values.size < THREADS_FROM:
            return part(0, n_columns)
        parts = [(k, k + 1) for k in range(n_columns)]
        return np.concatenate(map_threads(part, parts, self.n_jobs), axis=2)

    def _scan_sparse(self, terms: Floats) -> Floats:
        """The same by sparse products: quick enough for small tables."""
        plain, squares = self._incidence
        n_rules, shape = terms.shape[1], (len(self.ordered), self.n_bins)
        sums = np.empty((*shape, kernels.SUMS, n_rules))
        six = plain @ np.ascontiguousarray(terms.reshape(-1, self.n_objects).T)
        sums[:, :, :3], sums[:, :, 3:6] = six.reshape(2, *shape, 3, n_rules)
        for r, curvature in enumerate(terms[1]):
            sums[:, :, 6, r] = (squares @ curvature).reshape(shape)
        return self.from_bins(sums)

    def from_bins(self, sums: Floats) -> Floats:
        """What `scan` finds, from the sums over bins.

        Parameters
        ----------
        sums : ndarray of float, shape (n_ordered, n_bins, 7, n_rules)
            As of `_bin_kernels`, for each rule.

        Returns
        -------
        ndarray of float, shape (3, n_rules, n_ordered, n_thresholds, 2)
        """
        *shape, n_sums, n_rules = sums.shape
        lanes = n_sums * n_rules
        # Running sums of pairs, as complex numbers, take half the time of those of single numbers.
        running = np.zeros((*shape, lanes + lanes % 2))
        running[..., :lanes] = sums.reshape(*shape, lanes)
        running[:, -1] = 0.0  # missing values: satisfied by nothing
        pairs = running.view(np.complex128)
        np.cumsum(pairs, axis=1, out=pairs)
        at = running.reshape(-1, running.shape[-1]).take(self._places, axis=0)[..., :lanes]
        at = np.ascontiguousarray(at.transpose(0, 3, 1, 2))
        below, upto, total = at.reshape(3, n_sums, n_rules, *self.thresholds.shape)
        ramp = upto - below
        level, tilted, bend = ramp[:3], ramp[3:6], ramp[6]
        result = np.empty((3, n_rules, 2, *self.thresholds.shape))
        for side, flank, edge, half in (
            (AT_MOST, below[:3], self.thresholds + 1.0, 0.5),
            (AT_LEAST, total[:3] - upto[:3], self.thresholds - 1.0, -0.5),
        ):
            line = edge * level - tilted
            bent = edge * (line[1] - tilted[1]) + bend
            line *= half
            line[1] = bent * 0.25
            np.add(flank, line, out=result[:, :, side])
        return np.moveaxis(result, 2, -1)

    @cached_property
    def is_compiled(self) -> bool:
        """Whether the table is large enough for compiled kernels."""
        return pays(
            kernels,
            self.values.size,
            compiled_from=COMPILED_FROM,
            loaded_from=LOADED_FROM,
            used_from=USED_FROM,
        )

    @cached_property
    def _incidence(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Which object lies in which bin of which column: as ones above values, and as squares."""
        n_rows = len(self.ordered) * self.n_bins
        rows = self.bins + (np.arange(len(self.ordered)) * self.n_bins)[:, None]
        objects = np.broadcast_to(np.arange(self.n_objects), rows.shape).ravel()
        x = self.values.ravel()
        both = np.concatenate((rows.ravel(), rows.ravel() + n_rows)), np.tile(objects, 2)
        plain = sparse.csr_array(
            (np.concatenate((np.ones_like(x), x)), both), shape=(2 * n_rows, self.n_objects)
        )
        squares = sparse.csr_array((x * x, (rows.ravel(), objects)), shape=(n_rows, self.n_objects))
        return plain, squares

    @cached_property
    def _places(self) -> Integers:
        """Where the running sums up to the beginnings and ends of ramps, and of all bins, stand."""
        offsets = (np.arange(len(self.ordered)) * self.n_bins)[:, None] - 1
        ends = np.broadcast_to(self.n_bins, self.first.shape)
        return np.stack((self.first, self.last, ends)) + offsets

    def membership(self, test: SoftTest) -> Floats:
        """To which degree each object satisfies a test; 0 where the value is missing."""
        if test not in self._memberships:
            self._memberships[test] = self._membership(test)
        return self._memberships[test]

    def _membership(self, test: SoftTest) -> Floats:
        if test.side == ONE_OF:
            codes = self.codes[self.nominal.searchsorted(test.attribute)]
            return np.isin(codes, test.categories).astype(np.float64)
        k = self.ordered.searchsorted(test.attribute)
        inside = self.thresholds[k, test.which] - self.values[k]
        ramp = np.clip(0.5 + (inside if test.side == AT_MOST else -inside) / 2.0, 0.0, 1.0)
        return np.where(self.known[test.attribute], ramp, 0.0)

    def condition(self, test: SoftTest, attribute: Attribute) -> Condition:
        """The test in the user's units."""
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
    """Midpoints of neighbouring distinct values; of more than `most`, those nearest to equal shares.

    The share of a midpoint is what the objects below it weigh; of two equally near ones the lower
    is taken.

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

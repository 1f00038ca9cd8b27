"""A training table sorted by every feature, to grow and to prune single rules (Cohen 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from frri._compile import compiled, pays
from frri.learners.ripper import _grow_kernels as kernels
from frri.learners.ripper._grow_kernels import AT_LEAST, AT_MOST, Columns, satisfies
from frri.learners.training_table import Weights
from frri.rules import NominalCondition, NumericCondition

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    from frri._util import Flags, Floats
    from frri.learners.training_table import TrainingTable
    from frri.rules import Condition
    from frri.table import Attribute

    # One row (feature, comparison, value) for each test; see `_grow_kernels`.
    Tests = Floats
    # Some of the samples in the order of each feature; see `_grow_kernels`.
    Codes = NDArray[np.uint32]

# From this many values on a fit takes longer interpreted than it takes to compile the kernels, or,
# where an earlier process has left them compiled, to load them.
COMPILED_FROM = 300_000
LOADED_FROM = 30_000

# Binary logarithm of the maximum number of units: their sums are exact as floating-point numbers.
EXACT_UNITS = 52
# Weight of all samples up to which the logarithms of its parts are kept in a table.
LARGEST_TABLE = 1 << 22

NO_TESTS = np.empty((0, 3))


class CrispTest(NamedTuple):
    """A comparison of one feature with a value of the training table."""

    attribute: int
    comparison: int
    value: float

    def condition(self, attribute: Attribute) -> Condition:
        """Return the test as a crisp condition of the rule model."""
        name, value = attribute.name, self.value
        if self.comparison == AT_MOST:
            return NumericCondition(name, core_high=value, support_high=value)
        if self.comparison == AT_LEAST:
            return NumericCondition(name, support_low=value, core_low=value)
        return NominalCondition(name, frozenset({(attribute.categories or ())[int(value)]}))


@dataclass(frozen=True, eq=False)
class SortedColumns:
    """The values of a table by feature, each feature sorted, and the weights of the samples.

    Parameters
    ----------
    columns : Columns
    order : ndarray of uint32, shape (n_features, n_samples)
        Sample numbers by ascending value, missing values last.
    n_tests : int
        Number of distinct tests: two for each distinct value of a numeric feature, one for each
        category of a nominal one.
    """

    columns: Columns
    order: NDArray[np.uint32]
    n_tests: int

    @classmethod
    def of(cls, table: TrainingTable) -> SortedColumns:
        """Sort a training table."""
        values = np.ascontiguousarray(table.values.T) + 0.0  # -0 equals 0: a threshold is never -0
        order = values.argsort(axis=1, kind="stable")
        ascending = np.take_along_axis(values, order, axis=1)
        nominal = np.array([attribute.kind == "nominal" for attribute in table.attributes])
        steps = ascending[:, 1:] > ascending[:, :-1]  # a comparison with NaN is false
        distinct = np.count_nonzero(steps, axis=1) + ~np.isnan(ascending[:, 0])
        n_tests = int(np.where(nominal, distinct, 2 * distinct).sum())
        units, unit, total = np.empty(0, dtype=np.int64), 1.0, len(table.values)
        if table.weights is not None:
            weights = Weights.of(table.weights, EXACT_UNITS)
            units, unit, total = weights.units, weights.unit, int(weights.units.sum())
        tabled = not len(units) or (unit == 1.0 and total <= LARGEST_TABLE)
        logs = np.log2(np.arange(1, total + 2 if tabled else 1, dtype=np.float64))
        columns = Columns(values, nominal, units, unit, logs)
        return cls(columns, order.astype(np.uint32), n_tests)

    @property
    def values(self) -> Floats:
        """Return the values, features x samples."""
        return self.columns.values

    @property
    def n_samples(self) -> int:
        """Return the number of samples."""
        return len(self.order[0])

    @property
    def weights(self) -> Floats:
        """Return the weight of each sample."""
        units = self.columns.units
        weights = units * self.columns.unit if len(units) else np.ones(self.n_samples)
        return np.asarray(weights, dtype=np.float64)

    def coded(self, positive: Flags, rows: Flags) -> Codes:
        """Return some samples with a mark for positives, as the kernels need them."""
        codes = 2 * self.order + positive[self.order]
        return self.restrict(codes, rows)

    def restrict(self, coded: Codes, rows: Flags) -> Codes:
        """Keep only the samples whose flag is set."""
        codes: Codes = self._kernels().restrict(coded, rows)
        return codes

    def covered(self, tests: Tests) -> Flags:
        """Return which samples satisfy all tests; a missing value satisfies none."""
        kept = np.ones(self.n_samples, dtype=np.bool_)
        for column, comparison, value in tests:
            kept &= satisfies(self.values[int(column)], comparison, value)
        return kept

    def weight(self, rows: Flags | NDArray[np.intp]) -> float:
        """Return the weight of some samples, given by flags or by numbers."""
        if len(self.columns.units):
            return float(self.columns.units[rows].sum() * self.columns.unit)
        return int(np.count_nonzero(rows)) if rows.dtype == np.bool_ else len(rows)

    def tally(
        self, first: NDArray[np.integer], rows: Flags, positive: Flags, n_rules: int
    ) -> Floats:
        """Sum the weights of samples, and of positives, that each rule is the first to cover.

        Parameters
        ----------
        first : ndarray of int, shape (n_samples,)
            The first rule that covers each sample, `n_rules` if none does.
        rows, positive : ndarray of bool, shape (n_samples,)
            The samples to count, and which samples are positive.
        n_rules : int

        Returns
        -------
        ndarray of float, shape (n_rules + 1, 2)
            The last row is for the samples that no rule covers.
        """
        codes = 2 * first[rows].astype(np.intp) + positive[rows]
        units = self.columns.units[rows] if len(self.columns.units) else None
        counts = np.bincount(codes, units, 2 * n_rules + 2).reshape(-1, 2) * self.columns.unit
        counts[:, 0] += counts[:, 1]
        return np.asarray(counts, dtype=np.float64)

    def grow(
        self,
        coded: Codes,
        rows: Flags,
        tests: Tests = NO_TESTS,
        *,
        min_weight: float = 2.0,
        most: int | None = None,
    ) -> Tests:
        """Add tests to a rule, each the one of greatest information gain, until it is pure.

        Parameters
        ----------
        coded : ndarray of uint32, shape (n_features, any)
        rows : ndarray of bool, shape (n_samples,)
            Which of the coded samples to grow on.
        tests : ndarray of float, shape (n_tests, 3)
            Tests of the rule so far; all samples to grow on must satisfy them.
        min_weight : float
            A test that positives of a smaller weight satisfy is not added and ends the growth.
        most : int, optional
            Maximum number of tests in the end.
        """
        added = self._kernels().grow(
            coded, rows, self.columns, float(min_weight) / self.columns.unit
        )
        # Every test is the best after those before it, so that the first ones are those of a
        # shorter rule.
        added = added[: None if most is None else max(0, most - len(tests))]
        return np.concatenate((tests, added)) if len(tests) else added

    def prune(
        self,
        rows: Flags,
        positive: Flags,
        tests: Tests,
        *,
        worth: Literal["precision", "accuracy"],
        keep_hopeless: bool,
    ) -> Tests:
        """Cut a rule to the prefix of greatest worth.

        Parameters
        ----------
        rows, positive : ndarray of bool, shape (n_samples,)
            The samples to prune on, and which samples are of the rule's class.
        tests : ndarray of float, shape (n_tests, 3)
        worth : {"precision", "accuracy"}
            Fraction of positives among the samples covered, smoothed: (p + 1) / (t + 2); or the
            fraction of all samples classified correctly, covered positives and negatives that are
            not covered.
        keep_hopeless : bool
            If True, a rule of which no prefix is worth more than no rule at all stays as it is;
            otherwise it loses all its tests.

        Returns
        -------
        ndarray of float, shape (n_kept, 3)
            The shortest of the best prefixes. Without samples to prune on, the rule as it is.
        """
        left = np.flatnonzero(rows)
        total, total_positive = self.weight(left), self.weight(left[positive[left]])
        if not total:
            return tests
        best, length = (total_positive + 1) / (total + 2), 0
        for k, (column, comparison, value) in enumerate(tests, 1):
            left = left[satisfies(self.values[int(column)][left], comparison, value)]
            t, p = self.weight(left), self.weight(left[positive[left]])
            if worth == "precision":
                merit = (p + 1) / (t + 2)
            else:
                merit = (p + (total - total_positive) - (t - p)) / total
            if merit > best:
                best, length = merit, k
        return tests if not length and keep_hopeless else tests[:length]

    def _kernels(self) -> Any:
        return kernels_for(kernels, self.values.size) if len(self.columns.logs) else kernels


def without_redundant(tests: Tests) -> tuple[CrispTest, ...]:
    """Keep the last of the tests of one feature in one direction, in the place of the first.

    Tests are added to what earlier ones leave, so the last is the tightest.

    Examples
    --------
    >>> without_redundant(np.array([[0, 1, 5.0], [1, 2, 0.5], [0, 1, 3.0]]))
    (CrispTest(attribute=0, comparison=1, value=3.0),
     CrispTest(attribute=1, comparison=2, value=0.5))
    """
    kept = {(test[0], test[1]): test for test in tests.tolist()}
    return tuple(CrispTest(int(j), int(side), value) for j, side, value in kept.values())


def kernels_for(module: ModuleType, n_values: int) -> Any:
    """Return compiled kernels for a large table; a small one must not wait for a compiler."""
    limits = {"compiled_from": COMPILED_FROM, "loaded_from": LOADED_FROM}
    return compiled(module) if pays(module, n_values, **limits) else module

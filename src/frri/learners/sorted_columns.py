"""A training table sorted once, by every attribute, for the search of thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri.compiling import cached_on_disk, compiled, compiled_before, numba_installed
from frri.kernels import thresholds
from frri.rules import NominalCondition, NumericCondition

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from frri.data import Attribute
    from frri.rules import Condition

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

# From this many values on a fit takes longer interpreted than it takes to compile the kernels, or,
# where an earlier process has left them compiled, to load them.
COMPILED_FROM = 400_000
LOADED_FROM = 100_000


class Test(NamedTuple):
    """A comparison of one attribute with a value seen in training."""

    attribute: int
    comparison: int  # AT_MOST, AT_LEAST or EQUAL of frri.kernels.thresholds
    value: float

    def condition(self, attribute: Attribute) -> Condition:
        """The test as a crisp condition of the rule model."""
        if attribute.categories is not None:
            return NominalCondition(
                attribute.name, frozenset({attribute.categories[int(self.value)]})
            )
        if self.comparison == thresholds.AT_MOST:
            return NumericCondition(attribute.name, core_high=self.value, support_high=self.value)
        return NumericCondition(attribute.name, support_low=self.value, core_low=self.value)


class Found(NamedTuple):
    """The best test of a search, and the positives and objects that satisfy it."""

    test: Test
    positives: int
    objects: int


@dataclass(frozen=True, eq=False)
class SortedColumns:
    """The values of a table by attribute, each attribute sorted.

    Parameters
    ----------
    values : ndarray of float, shape (n_attributes, n_objects)
        One contiguous row per attribute; NaN where missing.
    order : ndarray of int32, same shape
        Object numbers by ascending value, missing ones last.
    ascending : ndarray of float, same shape
        The values in that order.
    nominal : ndarray of bool, shape (n_attributes,)
    n_tests : int
        How many different tests there are: two per distinct value of a numeric attribute, one per
        distinct value of a nominal one.
    logs : ndarray of float
        Binary logarithms of 0 (as -inf), 1, ..., n_objects + 1.
    kernels : module
        `frri.kernels.thresholds` or its compiled twin.
    """

    values: Floats
    order: NDArray[np.int32]
    ascending: Floats
    nominal: Flags
    n_tests: int
    logs: Floats
    kernels: Any

    @classmethod
    def of(cls, table: Floats, attributes: Sequence[Attribute]) -> SortedColumns:
        """Sort a table of shape (n_objects, n_attributes)."""
        values = np.ascontiguousarray(table.T)
        order = values.argsort(axis=1, kind="stable")
        ascending = np.take_along_axis(values, order, axis=1)
        nominal = np.array([a.categories is not None for a in attributes], dtype=np.bool_)
        steps = ascending[:, 1:] > ascending[:, :-1]  # a comparison with NaN is false
        distinct = np.count_nonzero(steps, axis=1) + ~np.isnan(ascending[:, 0])
        n_tests = int(np.where(nominal, distinct, 2 * distinct).sum())
        with np.errstate(divide="ignore"):
            logs = np.log2(np.arange(len(table) + 2, dtype=np.float64))
        kernels = kernels_for(values.size)
        return cls(values, order.astype(np.int32), ascending, nominal, n_tests, logs, kernels)

    @property
    def n_objects(self) -> int:
        """How many objects the table has."""
        return self.values.shape[1]

    def covered(self, tests: Iterable[Test]) -> Flags:
        """Which objects satisfy all tests; a missing value satisfies none."""
        kept = np.ones(self.n_objects, dtype=np.bool_)
        for test in tests:
            kept &= satisfies(self.values[test.attribute], test)
        return kept

    def part(self, rows: Flags) -> Part:
        """The columns with only some of the objects."""
        return Part(self, *self.kernels.restrict(self.order, self.ascending, rows))


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the objects of sorted columns."""

    columns: SortedColumns
    order: NDArray[np.int32]
    ascending: Floats

    def satisfying(self, test: Test) -> Part:
        """The objects that satisfy a test."""
        kept = satisfies(self.columns.values[test.attribute], test)
        restrict = self.columns.kernels.restrict
        return Part(self.columns, *restrict(self.order, self.ascending, kept))

    def best_test(self, positive: Flags, log_share: float) -> Found | None:
        """The test of greatest information gain, None if no test has any.

        Parameters
        ----------
        positive : ndarray of bool, shape (n_objects,)
        log_share : float
            Binary logarithm of the share of positives among these objects.
        """
        kernels = self.columns.kernels
        column, value, positives, objects = kernels.value_counts(
            self.order, self.ascending, positive
        )
        k, comparison, p, t = kernels.best_test(
            column, positives, objects, self.columns.nominal, self.columns.logs, log_share
        )
        if comparison == thresholds.NOTHING:
            return None
        return Found(Test(int(column[k]), int(comparison), float(value[k])), int(p), int(t))


def satisfies(values: Floats, test: Test) -> Flags:
    """Which values of its attribute satisfy a test."""
    if test.comparison == thresholds.AT_MOST:
        return values <= test.value
    if test.comparison == thresholds.AT_LEAST:
        return values >= test.value
    return values == test.value


def without_redundant(tests: Iterable[Test]) -> tuple[Test, ...]:
    """Of the tests of one attribute in one direction keep the last, in the place of the first.

    Tests are added to what earlier ones left over, so the last is the tightest.

    Examples
    --------
    >>> without_redundant([Test(0, 1, 5.0), Test(1, 2, 0.5), Test(0, 1, 3.0)])
    (Test(attribute=0, comparison=1, value=3.0), Test(attribute=1, comparison=2, value=0.5))
    """
    return tuple({(test.attribute, test.comparison): test for test in tests}.values())


def kernels_for(n_values: int) -> Any:
    """Interpreted kernels for a small table, which must not wait for a compiler; else compiled ones."""
    if compiled_before(thresholds):
        return compiled(thresholds)
    limit = LOADED_FROM if cached_on_disk(thresholds) else COMPILED_FROM
    return compiled(thresholds) if n_values >= limit and numba_installed() else thresholds

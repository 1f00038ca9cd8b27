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
COMPILED_FROM = 100_000
LOADED_FROM = 30_000


class CrispTest(NamedTuple):
    """A comparison of one attribute with a value seen in training."""

    attribute: int
    comparison: int  # AT_MOST, AT_LEAST or EQUAL of frri.kernels.thresholds
    value: float

    def condition(self, attribute: Attribute) -> Condition:
        """The test as a crisp condition of the rule model."""
        name, value = attribute.name, self.value
        if self.comparison == thresholds.AT_MOST:
            return NumericCondition(name, core_high=value, support_high=value)
        if self.comparison == thresholds.AT_LEAST:
            return NumericCondition(name, support_low=value, core_low=value)
        assert attribute.categories is not None  # noqa: S101 - only names are tested to be equal
        return NominalCondition(name, frozenset({attribute.categories[int(value)]}))


class Found(NamedTuple):
    """The best test of a search, and the positives and objects that satisfy it."""

    test: CrispTest
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
        How many different tests there are: two per distinct value of an attribute with an order, one
        per distinct value of a nominal one.
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
        nominal = np.array([attribute.kind == "nominal" for attribute in attributes])
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
        return len(self.values[0])

    def covered(self, tests: Iterable[CrispTest]) -> Flags:
        """Which objects satisfy all tests; a missing value satisfies none."""
        kept = np.ones(self.n_objects, dtype=np.bool_)
        for test in tests:
            kept &= satisfies(self.values[test.attribute], test)
        return kept

    def part(self, positive: Flags) -> Part:
        """All objects, for the search of tests that single out the positives."""
        return Part(self, self.order, self.ascending, positive[self.order])


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the objects of sorted columns, with a flag for the positives in the same order."""

    columns: SortedColumns
    order: NDArray[np.int32]
    ascending: Floats
    positive: Flags

    def restricted(self, rows: Flags) -> Part:
        """Only the objects whose flag is set."""
        restrict = self.columns.kernels.restrict
        return Part(self.columns, *restrict(self.order, self.ascending, self.positive, rows))

    def satisfying(self, test: CrispTest) -> Part:
        """Only the objects that satisfy a test."""
        return self.restricted(satisfies(self.columns.values[test.attribute], test))

    def best_test(self, log_share: float) -> Found | None:
        """The test of greatest information gain, None if no test has any.

        Parameters
        ----------
        log_share : float
            Binary logarithm of the (smoothed) share of positives among these objects.
        """
        columns = self.columns
        column, comparison, value, p, t = columns.kernels.best_test(
            self.ascending, self.positive, columns.nominal, columns.logs, log_share
        )
        if comparison == thresholds.NOTHING:
            return None
        return Found(CrispTest(column, comparison, value), p, t)


def satisfies(values: Floats, test: CrispTest) -> Flags:
    """Which values of its attribute satisfy a test."""
    if test.comparison == thresholds.AT_MOST:
        return values <= test.value
    if test.comparison == thresholds.AT_LEAST:
        return values >= test.value
    return np.equal(values, test.value)


def without_redundant(tests: Iterable[CrispTest]) -> tuple[CrispTest, ...]:
    """Of the tests of one attribute in one direction keep the last, in the place of the first.

    Tests are added to what earlier ones left over, so the last is the tightest.

    Examples
    --------
    >>> without_redundant([CrispTest(0, 1, 5.0), CrispTest(1, 2, 0.5), CrispTest(0, 1, 3.0)])
    (CrispTest(attribute=0, comparison=1, value=3.0), CrispTest(attribute=1, comparison=2, value=0.5))
    """
    return tuple({(test.attribute, test.comparison): test for test in tests}.values())


def kernels_for(n_values: int) -> Any:
    """Interpreted kernels for a small table, which must not wait for a compiler; else compiled ones."""
    if compiled_before(thresholds):
        return compiled(thresholds)
    limit = LOADED_FROM if cached_on_disk(thresholds) else COMPILED_FROM
    return compiled(thresholds) if n_values >= limit and numba_installed() else thresholds

"""A training table sorted once, by every attribute, for the search of thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._compile import compiled, pays
from frri.learners.ripper import _description_length_kernels as description_length
from frri.learners.ripper import _threshold_kernels as thresholds
from frri.rules import NominalCondition, NumericCondition

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from frri._util import Flags, Floats
    from frri.rules import Condition
    from frri.table import Attribute

    Integers = NDArray[np.integer]
    # Objects and positives, one row for each rule: numbers, or what they weigh.
    Amounts = NDArray[np.generic]
    # One row (attribute, comparison, value) per test, as frri.learners.ripper._threshold_kernels has them.
    Tests = Floats

# From this many values on a fit takes longer interpreted than it takes to compile the kernels, or,
# where an earlier process has left them compiled, to load them.
COMPILED_FROM = 300_000
LOADED_FROM = 30_000

NO_TESTS = np.empty((0, 3))


class CrispTest(NamedTuple):
    """A comparison of one attribute with a value seen in training."""

    attribute: int
    comparison: int  # AT_MOST, AT_LEAST or EQUAL of frri.learners.ripper._threshold_kernels
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


@dataclass(frozen=True, eq=False)
class SortedColumns:
    """The values of a table by attribute, each attribute sorted.

    Parameters
    ----------
    values : ndarray of float, shape (n_attributes, n_objects)
        One contiguous row per attribute; NaN where missing.
    order : ndarray of uint32, same shape
        Object numbers by ascending value, missing ones last.
    nominal : ndarray of bool, shape (n_attributes,)
    n_tests : int
        How many different tests there are: two per distinct value of an attribute with an order, one
        per distinct value of a nominal one.
    logs : ndarray of float
        Binary logarithms of 0 (as -inf), 1, ..., n_objects + 1.
    thresholds, description_length : module
        The kernels of these names, compiled where that pays.
    """

    values: Floats
    order: NDArray[np.uint32]
    nominal: Flags
    n_tests: int
    logs: Floats
    thresholds: Any
    description_length: Any

    @classmethod
    def of(cls, table: Floats, attributes: Sequence[Attribute]) -> SortedColumns:
        """Sort a table of shape (n_objects, n_attributes)."""
        values = np.ascontiguousarray(table.T) + 0.0  # -0 equals 0: a threshold is never -0
        order = values.argsort(axis=1, kind="stable")
        ascending = np.take_along_axis(values, order, axis=1)
        nominal = np.array([attribute.kind == "nominal" for attribute in attributes])
        steps = ascending[:, 1:] > ascending[:, :-1]  # a comparison with NaN is false
        distinct = np.count_nonzero(steps, axis=1) + ~np.isnan(ascending[:, 0])
        n_tests = int(np.where(nominal, distinct, 2 * distinct).sum())
        with np.errstate(divide="ignore"):
            logs = np.log2(np.arange(len(table) + 2, dtype=np.float64))
        return cls(
            values,
            order.astype(np.uint32),
            nominal,
            n_tests,
            logs,
            thresholds=kernels_for(thresholds, values.size),
            description_length=kernels_for(description_length, values.size),
        )

    @property
    def n_objects(self) -> int:
        """How many objects the table has."""
        return len(self.values[0])

    def covered(self, tests: Tests) -> Flags:
        """Which objects satisfy all tests; a missing value satisfies none."""
        return np.asarray(self.thresholds.covered(self.values, tests))

    @property
    def weights(self) -> Floats:
        """What each object counts."""
        return np.ones(self.n_objects)

    def total(self, rows: Flags) -> float:
        """What the objects whose flag is set count together."""
        return int(np.count_nonzero(rows))

    def beginnings(self, tests: Tests, rows: Flags, positive: Flags) -> list[list[float]]:
        """What satisfies the first 0, 1, ..., all tests, objects and positives."""
        counts = self.thresholds.beginnings(self.values, tests, rows, positive)
        return counts.tolist()  # type: ignore[no-any-return]

    def tally(self, first: Integers, rows: Flags, positive: Flags, n_rules: int) -> Amounts:
        """What each rule is the first to cover, objects and positives; in the end what none covers."""
        counts: Amounts = self.description_length.tally(first, rows, positive, n_rules)
        return counts

    def list_length(
        self,
        problem: tuple[float, float, float],
        covers: Flags,
        rows: Flags,
        positive: Flags,
        later: Integers,
        bits: Floats,
        position: int,
    ) -> float:
        """Bits for the exceptions to a list: see `_description_length_kernels.list_length`."""
        length = self.description_length.list_length(
            problem, covers, rows, positive, later, bits, position
        )
        return float(length)

    def grown(self, coded: NDArray[np.uint32], rows: Flags, min_weight: float) -> Tests:
        """Tests that narrow objects down to positives: see `_threshold_kernels.grow`."""
        tests: Tests = self.thresholds.grow(
            coded, rows, self.values, self.nominal, self.logs, min_weight
        )
        return tests

    def part(self, positive: Flags) -> Part:
        """All objects, for the search of tests that single out the positives."""
        return Part(self, 2 * self.order + positive[self.order])


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the objects of sorted columns, with a mark for the positives.

    Parameters
    ----------
    columns : SortedColumns
    coded : ndarray of uint32, shape (n_attributes, any)
        The objects in the order of each attribute, coded as `frri.learners.ripper._threshold_kernels` has them.
    """

    columns: SortedColumns
    coded: NDArray[np.uint32]

    @property
    def n_objects(self) -> int:
        """How many objects these are."""
        return len(self.coded[0])

    def restricted(self, rows: Flags) -> Part:
        """Only the objects whose flag is set."""
        return Part(self.columns, self.columns.thresholds.restrict(self.coded, rows))

    def grown(self, rows: Flags, min_weight: float) -> Tests:
        """Tests that narrow the objects whose flag is set down to positives."""
        return self.columns.grown(self.coded, rows, float(min_weight))


def without_redundant(tests: Tests) -> tuple[CrispTest, ...]:
    """Of the tests of one attribute in one direction keep the last, in the place of the first.

    Tests are added to what earlier ones left over, so the last is the tightest.

    Examples
    --------
    >>> without_redundant(np.array([[0, 1, 5.0], [1, 2, 0.5], [0, 1, 3.0]]))
    (CrispTest(attribute=0, comparison=1, value=3.0), CrispTest(attribute=1, comparison=2, value=0.5))
    """
    kept = {(test[0], test[1]): test for test in tests.tolist()}
    return tuple(CrispTest(int(j), int(side), value) for j, side, value in kept.values())


def kernels_for(module: ModuleType, n_values: int) -> Any:
    """Interpreted kernels for a small table, which must not wait for a compiler; else compiled ones."""
    limits = {"compiled_from": COMPILED_FROM, "loaded_from": LOADED_FROM}
    return compiled(module) if pays(module, n_values, **limits) else module

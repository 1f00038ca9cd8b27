"""Rules for one class against the rest: build a list, then improve it (Cohen 1995).

RIPPER and FURIA share this machinery. They differ in how a rule is grown while the list is built
and in what happens to a rule that pruning cannot help: the two switches of `Strategy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, log2, nan
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from frri._compile import compiled, pays
from frri.learners.ripper import _kernels as kernels
from frri.learners.ripper._kernels import AT_LEAST, AT_MOST, Columns, satisfies
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
    from collections.abc import Iterable


# From this many values on a fit takes longer interpreted than it takes to compile the kernels, or,
# where an earlier process has left them compiled, to load them.
COMPILED_FROM = 300_000
LOADED_FROM = 30_000

# Binary logarithm of the maximum number of units: their sums are exact as floating-point numbers.
EXACT_UNITS = 52
# Weight of all samples up to which the logarithms of its parts are kept in a table.
LARGEST_TABLE = 1 << 22

NO_TESTS = np.empty((0, 3))


@dataclass(frozen=True)
class Strategy:
    """How rules are found.

    Parameters
    ----------
    folds : int
        One sample in so many is kept for pruning.
    min_weight : float
        A test that positives of a smaller weight satisfy ends the growth of a rule.
    optimizations : int
        Number of passes over the finished list to improve its rules.
    prune_building : bool
        If True, a rule added to the list is pruned on samples set apart; otherwise it is grown on
        all.
    keep_hopeless : bool
        If True, a rule of which no prefix is worth anything stays whole; otherwise it loses all its
        tests.
    max_conditions : int, optional
        Maximum number of tests of a rule.
    """

    folds: int
    min_weight: float
    optimizations: int
    prune_building: bool
    keep_hopeless: bool
    max_conditions: int | None = None


class CrispRule(NamedTuple):
    """The tests of a rule, the samples that satisfy them all, and the bits to send them."""

    tests: Tests
    covers: Flags
    bits: float


class Remaining(NamedTuple):
    """The samples that the rules so far leave over, coded together with at most as many others."""

    rows: Flags
    coded: Codes

    def without(self, covered: Flags, columns: SortedColumns) -> Remaining:
        """Return what is left when a rule covers some of them."""
        rows = self.rows & ~covered
        few = 2 * np.count_nonzero(rows) < self.coded.shape[1]
        return Remaining(rows, columns.restrict(self.coded, rows) if few else self.coded)


class Place(NamedTuple):
    """The place of a rule in a list.

    Parameters
    ----------
    position : int
    later : ndarray of int, shape (n_samples,)
        The first rule after it that covers each sample; the number of rules stands for none.
    bits : ndarray of float
        Lengths of the rules of the list.
    left : Remaining
        Samples that the rules before it leave over.
    """

    position: int
    later: NDArray[np.unsignedinteger]
    bits: Floats
    left: Remaining


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """The samples of one class among others.

    Parameters
    ----------
    columns : SortedColumns
    classes : ndarray of int, shape (n_samples,)
    own : int
        The class.
    rows : ndarray of bool, shape (n_samples,)
        The samples that take part.
    false_share : float
        Expected fraction of covered negatives among all errors.
    strategy : Strategy
    random : RandomState
    """

    columns: SortedColumns
    classes: NDArray[np.integer]
    own: int
    rows: Flags
    false_share: float
    strategy: Strategy
    random: np.random.RandomState

    def rules(self) -> list[CrispRule]:
        """Return the rules of the class, in order."""
        rules = self._build()
        for _ in range(self.strategy.optimizations):
            rules = self._optimize(rules)
        return rules

    @cached_property
    def positive(self) -> Flags:
        """Return which samples are of the class."""
        return np.asarray((self.classes == self.own) & self.rows)

    @cached_property
    def length(self) -> DescriptionLength:
        """Return the description length of lists of rules for the class."""
        sizes = self.columns.weight(self.rows), self.columns.weight(self.positive)
        return DescriptionLength(self.columns.n_tests, *sizes, self.false_share)

    @cached_property
    def _everything(self) -> Remaining:
        return Remaining(self.rows, self.columns.coded(self.positive, self.rows))

    # ------------------------------------------------------------------ building

    def _build(self) -> list[CrispRule]:
        """Add rules, each on the samples that are left, until the list becomes too long."""
        rules: list[CrispRule] = []
        left, seen, budget = self._everything, Coverage(0, 0), Budget(self.length)
        while seen.positives < self.length.positives:
            rule = self._additional(left)
            coverage = self._coverage(rule, left)
            if not budget.admits(seen, CountedRule(coverage, rule.bits)):
                break
            rules.append(rule)
            seen, left = seen.plus(coverage), left.without(rule.covers, self.columns)
        return rules

    def _additional(self, left: Remaining) -> CrispRule:
        if not self.strategy.prune_building:
            return self._rule(self._grown(left, left.rows))
        grow, prune = self._split(left)
        return self._rule(self._pruned(self._grown(left, grow), prune, "precision"))

    # ------------------------------------------------------------------ improving

    def _optimize(self, rules: list[CrispRule]) -> list[CrispRule]:
        """Pass over the list once: a better version of each rule, further rules, needless ones out.

        When the positives run out before the rules do, the first rule not reached is lost; the
        others stay for the deletion to judge.
        """
        rules, bits = list(rules), np.array([rule.bits for rule in rules])
        later = first_later([rule.covers for rule in rules])
        left, seen, budget = self._everything, Coverage(0, 0), Budget(self.length)
        position = 0
        while seen.positives < self.length.positives:
            if position < len(later):
                place = Place(position, later[position], bits, left)
                rule = rules[position] = self._improved(rules[position], place)
                coverage = self._coverage(rule, left)
            else:
                rule = self._additional(left)
                coverage = self._coverage(rule, left)
                if not budget.admits(seen, CountedRule(coverage, rule.bits)):
                    break
                rules.append(rule)
            seen, left = seen.plus(coverage), left.without(rule.covers, self.columns)
            position += 1
        del rules[position : position + 1]
        counted = self._counted(rules)
        total = Coverage(0, 0)
        for each in counted:
            total = total.plus(each.coverage)
        kept, _ = self.length.delete_needless(total, reversed(counted))
        return [rule for rule, keep in zip(rules, reversed(kept), strict=True) if keep]

    def _improved(self, old: CrispRule, place: Place) -> CrispRule:
        """Return the best of the rule as it is, grown further, and grown from nothing."""
        left = place.left
        if not np.any(old.covers & left.rows):
            return old
        grow, prune = self._split(left)
        prune &= place.later == len(place.bits)
        replacement = self._rule(self._pruned(self._grown(left, grow), prune, "accuracy"))
        further = self._grown(left, grow & old.covers, old.tests)
        tests = self._pruned(further, prune, "accuracy")
        revision = old if len(tests) == len(old.tests) else self._rule(tests)

        # The length without any of the three is common to them and need not be subtracted.
        as_it_is, renewed = (self._length_with(rule, place) for rule in (old, replacement))
        revised = as_it_is if revision is old else self._length_with(revision, place)
        if as_it_is < revised + TOLERANCE and as_it_is < renewed + TOLERANCE:
            return old
        return revision if revised < renewed + TOLERANCE else replacement

    def _length_with(self, rule: CrispRule, place: Place) -> float:
        """Return the bits for a rule and for the errors of the list in which it takes a place."""
        bits, rows = place.bits.tolist(), place.left.rows & ~rule.covers
        *counts, rest = self.columns.tally(place.later, rows, self.positive, len(bits)).tolist()
        total = Coverage(self.length.total, self.length.positives).minus(Coverage(*rest))
        later = slice(place.position + 1, None)
        rules = [
            CountedRule(Coverage(*c), b) for c, b in zip(counts[later], bits[later], strict=True)
        ]
        return self.length.delete_needless(total, rules)[1] + rule.bits

    # ------------------------------------------------------------------ single rules

    def _split(self, left: Remaining) -> tuple[Flags, Flags]:
        return split(self.classes, left.rows, self.strategy.folds, self.random)

    def _grown(self, left: Remaining, rows: Flags, tests: Tests = NO_TESTS) -> Tests:
        min_weight, most = self.strategy.min_weight, self.strategy.max_conditions
        return self.columns.grow(left.coded, rows, tests, min_weight=min_weight, most=most)

    def _pruned(self, tests: Tests, rows: Flags, worth: Literal["precision", "accuracy"]) -> Tests:
        keep = self.strategy.keep_hopeless
        return self.columns.prune(rows, self.positive, tests, worth=worth, keep_hopeless=keep)

    def _rule(self, tests: Tests) -> CrispRule:
        return CrispRule(tests, self.columns.covered(tests), self.length.of_rule(len(tests)))

    # ------------------------------------------------------------------ counting

    def _coverage(self, rule: CrispRule, left: Remaining) -> Coverage:
        covered = rule.covers & left.rows
        return Coverage(self.columns.weight(covered), self.columns.weight(covered & self.positive))

    def _counted(self, rules: list[CrispRule]) -> list[CountedRule]:
        """Count each rule on the samples that it is the first to cover."""
        first = np.full(len(self.rows), len(rules), dtype=np.min_scalar_type(len(rules)))
        for k in reversed(range(len(rules))):
            first[rules[k].covers] = k
        counts = self.columns.tally(first, self.rows, self.positive, len(rules))
        return [
            CountedRule(Coverage(*pair), rule.bits)
            for pair, rule in zip(counts[:-1].tolist(), rules, strict=True)
        ]


def first_later(covers: list[Flags]) -> list[NDArray[np.unsignedinteger]]:
    """Return, for each rule of a list, the first rule after it that covers each sample.

    The number of rules stands for none.

    Examples
    --------
    >>> first_later([np.array([True, True]), np.array([False, True])])
    [array([2, 1], dtype=uint8), array([2, 2], dtype=uint8)]
    """
    number = np.min_scalar_type(len(covers)).type
    result = [np.full_like(covered, len(covers), dtype=number) for covered in covers[-1:]]
    for k in range(len(covers) - 1, 0, -1):
        result.append(np.where(covers[k], number(k), result[-1]))
    return result[::-1]


def split(
    classes: NDArray[np.integer], rows: Flags, folds: int, random: np.random.RandomState
) -> tuple[Flags, Flags]:
    """Divide samples at random, class by class, into those to grow and those to prune a rule with.

    The samples of each class are dealt onto piles in turn; the last part of all piles in a row is
    for pruning.

    Parameters
    ----------
    classes : ndarray of int, shape (n_samples,)
    rows : ndarray of bool, shape (n_samples,)
        The samples to divide.
    folds : int
        One part in so many is for pruning.
    random : RandomState

    Returns
    -------
    grow, prune : ndarray of bool, shape (n_samples,)

    Examples
    --------
    >>> classes, everything = np.array([0, 0, 0, 1, 1, 1]), np.ones(6, dtype=bool)
    >>> grow, prune = split(classes, everything, 3, np.random.RandomState(0))
    >>> classes[grow], classes[prune]
    (array([0, 0, 1, 1]), array([0, 1]))
    """
    shuffled = random.permutation(np.flatnonzero(rows))
    by_class = shuffled[classes[shuffled].argsort(kind="stable")]
    dealt = np.concatenate([by_class[pile::folds] for pile in range(folds)])
    n_grow = len(dealt) * (folds - 1) // folds
    grow, prune = np.zeros((2, len(classes)), dtype=np.bool_)
    grow[dealt[:n_grow]] = True
    prune[dealt[n_grow:]] = True
    return grow, prune


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


# Differences of lengths below this count as none.
TOLERANCE = 1e-6
# Tests are not independent, so the code for them is longer than needed.
REDUNDANCY = 0.5
# Number of bits by which a list may exceed its shortest length while rules are added.
SLACK = 64.0


class Coverage(NamedTuple):
    """Weight of the samples covered, and of the positives among them."""

    covered: float
    positives: float

    @property
    def mostly_wrong(self) -> bool:
        """Return whether at least half of the samples covered are negatives."""
        return self.covered > 0 and 2 * self.positives <= self.covered

    def plus(self, other: Coverage) -> Coverage:
        """Return the coverage of both, if nothing is covered by both."""
        return Coverage(self.covered + other.covered, self.positives + other.positives)

    def minus(self, other: Coverage) -> Coverage:
        """Return the coverage without a part of it."""
        return Coverage(self.covered - other.covered, self.positives - other.positives)


class CountedRule(NamedTuple):
    """A rule as the description length sees it: its coverage, and the bits for its tests."""

    coverage: Coverage
    bits: float


@dataclass(frozen=True)
class DescriptionLength:
    """Lengths of rules and of their errors in the problem of telling one class from the rest.

    Parameters
    ----------
    n_tests : int
        Number of distinct tests that a rule could use.
    total, positives : float
        Weight of all samples, and of those of the class.
    false_share : float
        Expected fraction of covered negatives among all errors.
    """

    n_tests: int
    total: float
    positives: float
    false_share: float

    def of_errors(self, total: Coverage) -> float:
        """Return the bits for the exceptions to rules with a total coverage."""
        uncovered = self.total - total.covered
        false, missed = total.covered - total.positives, self.positives - total.positives
        length = log2(self.total + 1)
        if total.covered > uncovered:
            expected = self.false_share * (false + missed) / total.covered
            length += subset_length(total.covered, false, expected)
            if uncovered:
                length += subset_length(uncovered, missed, missed / uncovered)
            return length
        if total.covered:
            length += subset_length(total.covered, false, false / total.covered)
        if uncovered:
            expected = (1.0 - self.false_share) * (false + missed) / uncovered
            length += subset_length(uncovered, missed, expected)
        return length

    def of_rule(self, n_tests: int) -> float:
        """Return the bits for a rule with some tests."""
        if n_tests == 0:
            return 0.0
        number = log2(n_tests)
        if n_tests > 1:
            number += 2.0 * log2(number)
        return REDUNDANCY * (number + subset_length(self.n_tests, n_tests, n_tests / self.n_tests))

    def added(self, before: Coverage, rule: CountedRule) -> float:
        """Return by how much a rule at the end of a list makes the whole longer."""
        after = before.plus(rule.coverage)
        return self.of_errors(after) + rule.bits - self.of_errors(before)

    def delete_needless(
        self, total: Coverage, rules: Iterable[CountedRule]
    ) -> tuple[list[bool], float]:
        """Delete rules one after another that save no bits or are wrong at least half of the time.

        Parameters
        ----------
        total : Coverage
            Of the whole list.
        rules : iterable of CountedRule
            Rules of the list that may go, in the order in which they are tried.

        Returns
        -------
        kept : list of bool
        bits : float
            Bits for the exceptions to the rest, less the bits saved.
        """
        kept, errors, saved = [], self.of_errors(total), 0.0
        for rule in rules:
            without = total.minus(rule.coverage)
            errors_without = self.of_errors(without)
            saving = errors + rule.bits - errors_without
            needless = saving > -TOLERANCE or rule.coverage.mostly_wrong
            if needless:
                total, errors = without, errors_without
                saved += saving
            kept.append(not needless)
        return kept, errors - saved


def subset_length(n: float, k: float, share: float) -> float:
    """Return the bits to single out k of n things, each chosen with an expected probability.

    A probability above 1, which comes from an expectation that the counts contradict, has no
    length: the result is NaN and no comparison with it holds.

    Examples
    --------
    >>> subset_length(8, 4, 0.5)
    8.0
    >>> subset_length(8, 0, 0.0)
    0.0
    """
    if share > 1.0:
        return nan
    chosen = -k * log2(share) if share > 0.0 else 0.0
    if n == k:
        return chosen
    return chosen - (n - k) * log2(1.0 - share) if share < 1.0 else inf


class Budget:
    """Limit on the length of a list while rules are added: 64 bits more than its shortest length.

    Examples
    --------
    >>> length = DescriptionLength(20, 100, 50, 0.5)
    >>> budget = Budget(length)
    >>> budget.admits(Coverage(0, 0), CountedRule(Coverage(40, 40), length.of_rule(2)))
    True
    >>> budget.admits(Coverage(40, 40), CountedRule(Coverage(10, 5), length.of_rule(2)))
    False
    """

    def __init__(self, length: DescriptionLength) -> None:
        self.length = length
        self.running = self.shortest = length.of_errors(Coverage(0, 0))

    def admits(self, before: Coverage, rule: CountedRule) -> bool:
        """Add a rule to the account and return whether the list may have it."""
        self.running += self.length.added(before, rule)
        self.shortest = min(self.shortest, self.running)
        return (
            not self.running > self.shortest + SLACK + TOLERANCE
            and rule.coverage.positives > 0
            and not rule.coverage.mostly_wrong
        )

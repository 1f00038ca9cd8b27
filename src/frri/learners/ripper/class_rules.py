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
from frri.learners.ripper._kernels import AT_LEAST, AT_MOST, satisfies
from frri.learners.rule_limits import LimitedRuleClassifier
from frri.learners.validation import check_amount, check_count
from frri.rules import NominalCondition, NumericCondition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Positions
    from frri.learners.ripper._kernels import SortedColumns
    from frri.rules import Condition
    from frri.table import Attribute

    # One row (feature, comparison, value) for each test; see `_kernels`.
    Tests = Floats
    # Some of the samples in the order of each feature; see `_kernels`.
    Codes = NDArray[np.uint32]

# From this many values on a fit takes longer interpreted than it takes to compile the kernels, or,
# where an earlier process has left them compiled, to load them.
COMPILED_FROM = 300_000
LOADED_FROM = 30_000

# Rules change in the first few passes only; more than this is a mistake.
MOST_OPTIMIZATIONS = 10_000

# Differences of description lengths below this count as none.
TOLERANCE = 1e-6
# Tests are not independent, so the code for them is longer than needed.
REDUNDANCY = 0.5
# Number of bits by which a list may exceed its shortest length while rules are added.
SLACK = 64.0

NO_TESTS = np.empty((0, 3))


class GrownRuleClassifier(LimitedRuleClassifier):
    """Base of RIPPER and FURIA."""

    # Parameters of both.
    folds: int
    min_weight: float
    optimizations: int

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("folds", self.folds, least=2)
        check_count("optimizations", self.optimizations, most=MOST_OPTIMIZATIONS)
        check_amount("min_weight", self.min_weight)


@dataclass(frozen=True)
class Strategy:
    """Switches and limits of the search for rules.

    Parameters
    ----------
    folds : int
        One sample in `folds` is kept for pruning.
    min_weight : float
        A test that positives of a smaller weight satisfy ends the growth of a rule.
    optimizations : int
        Number of passes over the finished list to improve its rules.
    prune_building : bool
        If True, a rule added to the list is pruned on samples set apart; otherwise it is grown on
        all.
    keep_hopeless : bool
        If True, a rule of which no prefix is worth more than no rule at all stays whole; otherwise
        it loses all its tests.
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


class Place(NamedTuple):
    """The place of a rule in a list.

    Parameters
    ----------
    position : int
    later : ndarray of int, shape (n_samples,)
        The first rule after it that covers each sample; the number of rules stands for none.
    bits : list of float
        Lengths of the rules of the list.
    left : ndarray of bool, shape (n_samples,)
        Samples that the rules before it leave over.
    counts : ndarray of float, shape (n_rules + 1, 2)
        Weights of these samples by their first later rule: see `ClassProblem._tally`.
    """

    position: int
    later: NDArray[np.unsignedinteger]
    bits: list[float]
    left: Flags
    counts: Floats


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
        rules = self._pass_over([])
        for _ in range(self.strategy.optimizations):
            rules = self._delete_needless(self._pass_over(rules))
        return rules

    @cached_property
    def positive(self) -> Flags:
        """Return which samples are of the class."""
        return np.asarray((self.classes == self.own) & self.rows)

    @cached_property
    def length(self) -> DescriptionLength:
        """Return the description length of lists of rules for the class."""
        return DescriptionLength(
            self.columns.n_tests, *self._weights(np.flatnonzero(self.rows)), self.false_share
        )

    @cached_property
    def everything(self) -> Remaining:
        """Return all samples that take part."""
        order = self.columns.order
        coded = self._kernels.restrict(2 * order + self.positive[order], self.rows)
        return Remaining(self.rows, coded)

    @cached_property
    def _kernels(self) -> Any:
        return kernels_for(self.columns)

    def _pass_over(self, rules: list[CrispRule]) -> list[CrispRule]:
        """Improve each rule of a list, then add rules until the list becomes too long.

        When the positives run out before the rules do, the first rule not reached is lost; the
        others stay for the deletion to judge.
        """
        rules, later = list(rules), first_later([rule.covers for rule in rules])
        left, covered, positives, position = self.everything, 0.0, 0.0, 0
        running = shortest = self.length.of_errors(covered, positives)
        while positives < self.length.positives:
            added = position == len(rules)
            if added:
                rules.append(self._additional(left))
            else:
                rules[position] = self._improve(rules, position, later[position], left)
            rule = rules[position]
            t, p = self._weights(np.flatnonzero(rule.covers & left.rows))
            if added:
                after = self.length.of_errors(covered + t, positives + p)
                running += after + rule.bits - self.length.of_errors(covered, positives)
                shortest = min(shortest, running)
                too_long = running > shortest + SLACK + TOLERANCE
                if too_long or p <= 0 or _mostly_wrong(t, p):
                    break
            covered, positives = covered + t, positives + p
            left = self._without(left, rule.covers)
            position += 1
        del rules[position : position + 1]
        return rules

    def _additional(self, left: Remaining) -> CrispRule:
        """Return a new rule for the samples that are left."""
        if not self.strategy.prune_building:
            return self._rule(self._grow(left, left.rows))
        grow, prune = self._split(left)
        return self._rule(self._prune(self._grow(left, grow), prune, "precision"))

    def _improve(
        self,
        rules: list[CrispRule],
        position: int,
        later: NDArray[np.unsignedinteger],
        left: Remaining,
    ) -> CrispRule:
        """Return the best of the rule as it is, grown further, and grown from nothing."""
        old = rules[position]
        if not np.any(old.covers & left.rows):
            return old
        grow, prune = self._split(left)
        prune &= later == len(rules)
        replacement = self._rule(self._prune(self._grow(left, grow), prune, "accuracy"))
        further = self._grow(left, grow & old.covers, old.tests)
        tests = self._prune(further, prune, "accuracy")

        # The length without any of the three is common to them and need not be subtracted.
        place = self._place(rules, position, later, left.rows)
        as_it_is, renewed = self._length_with(old, place), self._length_with(replacement, place)
        revision, revised = old, as_it_is
        if len(tests) != len(old.tests):
            revision = self._rule(tests)
            revised = self._length_with(revision, place)
        if as_it_is < revised + TOLERANCE and as_it_is < renewed + TOLERANCE:
            return old
        return revision if revised < renewed + TOLERANCE else replacement

    def _place(
        self,
        rules: list[CrispRule],
        position: int,
        later: NDArray[np.unsignedinteger],
        left: Flags,
    ) -> Place:
        counts = self._tally(later, np.flatnonzero(left), len(rules))
        return Place(position, later, [rule.bits for rule in rules], left, counts)

    def _length_with(self, rule: CrispRule, place: Place) -> float:
        """Return the bits for a rule and for the errors of the list in which it takes a place."""
        covered = np.flatnonzero(rule.covers & place.left)
        counts = place.counts - self._tally(place.later, covered, len(place.bits))
        *each, (missed, missed_positives) = counts.tolist()
        total = self.length.total - missed, self.length.positives - missed_positives
        later = slice(place.position + 1, None)
        rules = [(t, p, bits) for (t, p), bits in zip(each[later], place.bits[later], strict=True)]
        return self.length.delete_needless(*total, rules)[1] + rule.bits

    def _delete_needless(self, rules: list[CrispRule]) -> list[CrispRule]:
        """Delete rules, from the last to the first, without which the description is shorter."""
        counted = self._counted(rules)
        covered, positives = (sum(rule[k] for rule in counted) for k in (0, 1))
        kept, _ = self.length.delete_needless(covered, positives, reversed(counted))
        return [rule for rule, keep in zip(rules, reversed(kept), strict=True) if keep]

    # ------------------------------------------------------------------ single rules

    def _split(self, left: Remaining) -> tuple[Flags, Flags]:
        return split(self.classes, left.rows, self.strategy.folds, self.random)

    def _grow(self, left: Remaining, rows: Flags, tests: Tests = NO_TESTS) -> Tests:
        """Add tests to a rule, each the one of greatest information gain, until it is pure.

        Parameters
        ----------
        left : Remaining
        rows : ndarray of bool, shape (n_samples,)
            Which of these samples to grow on; all must satisfy the tests.
        tests : ndarray of float, shape (n_tests, 3)
            Tests of the rule so far.
        """
        min_units = float(self.strategy.min_weight) / self.columns.unit
        added = self._kernels.grow(left.coded, rows, self.columns, min_units)
        most = self.strategy.max_conditions
        # Every test is the best after those before it, so that the first ones are those of a
        # shorter rule.
        added = added[: None if most is None else max(0, most - len(tests))]
        return np.concatenate((tests, added))

    def _prune(self, tests: Tests, rows: Flags, worth: Literal["precision", "accuracy"]) -> Tests:
        """Cut a rule to the shortest prefix of greatest worth.

        Parameters
        ----------
        tests : ndarray of float, shape (n_tests, 3)
        rows : ndarray of bool, shape (n_samples,)
            The samples to prune on; without any the rule stays as it is.
        worth : {"precision", "accuracy"}
            Fraction of positives among the samples covered, smoothed: (p + 1) / (t + 2); or the
            fraction of all samples classified correctly, covered positives and negatives that are
            not covered.
        """
        left = np.flatnonzero(rows)
        total, total_positive = self._weights(left)
        if not total:
            return tests
        best, length = (total_positive + 1) / (total + 2), 0
        for k, (column, comparison, value) in enumerate(tests, 1):
            left = left[satisfies(self.columns.values[int(column)][left], comparison, value)]
            t, p = self._weights(left)
            if worth == "precision":
                merit = (p + 1) / (t + 2)
            else:
                merit = (p + (total - total_positive) - (t - p)) / total
            if merit > best:
                best, length = merit, k
        return tests if not length and self.strategy.keep_hopeless else tests[:length]

    def _rule(self, tests: Tests) -> CrispRule:
        """Return a rule with the samples that satisfy its tests; a missing value satisfies none."""
        covers = np.ones(len(self.rows), dtype=np.bool_)
        for column, comparison, value in tests:
            covers &= satisfies(self.columns.values[int(column)], comparison, value)
        return CrispRule(tests, covers, self.length.of_rule(len(tests)))

    # ------------------------------------------------------------------ samples

    def _without(self, left: Remaining, covered: Flags) -> Remaining:
        """Return the samples that are left when a rule covers some of them."""
        rows = left.rows & ~covered
        few = 2 * np.count_nonzero(rows) < left.coded.shape[1]
        return Remaining(rows, self._kernels.restrict(left.coded, rows) if few else left.coded)

    def _weights(self, rows: Positions) -> tuple[float, float]:
        """Return the weight of some samples, and of the positives among them."""
        weights = self.columns.weights[rows]
        return float(weights.sum()), float(weights[self.positive[rows]].sum())

    def _tally(self, first: NDArray[np.integer], rows: Positions, n_rules: int) -> Floats:
        """Sum the weights of samples, and of positives, that each rule is the first to cover.

        Parameters
        ----------
        first : ndarray of int, shape (n_samples,)
            The first rule that covers each sample, `n_rules` if none does.
        rows : ndarray of int
            The samples to count.
        n_rules : int

        Returns
        -------
        ndarray of float, shape (n_rules + 1, 2)
            The last row is for the samples that no rule covers.
        """
        codes = 2 * first[rows].astype(np.intp) + self.positive[rows]
        counts = np.bincount(codes, self.columns.weights[rows], 2 * n_rules + 2).reshape(-1, 2)
        counts[:, 0] += counts[:, 1]
        return np.asarray(counts, dtype=np.float64)

    def _counted(self, rules: list[CrispRule]) -> list[tuple[float, float, float]]:
        """Return weight, weight of positives and bits of each rule where it is the first."""
        first = np.full(len(self.rows), len(rules), dtype=np.min_scalar_type(len(rules)))
        for k in reversed(range(len(rules))):
            first[rules[k].covers] = k
        counts = self._tally(first, np.flatnonzero(self.rows), len(rules))
        return [(t, p, rule.bits) for (t, p), rule in zip(counts[:-1].tolist(), rules, strict=True)]


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


def kernels_for(columns: SortedColumns) -> Any:
    """Return compiled kernels for a large table; a small one must not wait for a compiler."""
    limits = {"compiled_from": COMPILED_FROM, "loaded_from": LOADED_FROM}
    # Compiled kernels look logarithms up.
    large = len(columns.logs) > 0 and pays(kernels, columns.values.size, **limits)
    return compiled(kernels) if large else kernels


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
        One part in `folds` is for pruning.
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
    small = classes.astype(np.min_scalar_type(classes.max()))  # small integers sort faster
    by_class = shuffled[small[shuffled].argsort(kind="stable")]
    dealt = np.concatenate([by_class[pile::folds] for pile in range(folds)])
    n_grow = len(dealt) * (folds - 1) // folds
    grow, prune = np.zeros((2, len(classes)), dtype=np.bool_)
    grow[dealt[:n_grow]] = True
    prune[dealt[n_grow:]] = True
    return grow, prune


@dataclass(frozen=True)
class DescriptionLength:
    """Number of bits to send a list of rules and then the samples that they misclassify.

    A list is judged by weights alone: of the samples that each rule covers among those that earlier
    rules left, and of the positives among them. Lengths are compared with a tolerance, so that the
    last bit of a logarithm decides nothing (Cohen 1995; Quinlan 1995).

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

    def of_errors(self, covered: float, positives: float) -> float:
        """Return the bits for the exceptions to rules that cover samples and positives."""
        uncovered = self.total - covered
        false, missed = covered - positives, self.positives - positives
        length = log2(self.total + 1)
        if covered > uncovered:
            expected = self.false_share * (false + missed) / covered
            length += subset_length(covered, false, expected)
            if uncovered:
                length += subset_length(uncovered, missed, missed / uncovered)
            return length
        if covered:
            length += subset_length(covered, false, false / covered)
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

    def delete_needless(
        self, covered: float, positives: float, rules: Iterable[tuple[float, float, float]]
    ) -> tuple[list[bool], float]:
        """Delete rules one after another that save no bits or are wrong at least half of the time.

        Parameters
        ----------
        covered, positives : float
            Weight of the samples that the whole list covers, and of the positives among them.
        rules : iterable of tuple
            Rules of the list that may go, in the order in which they are tried: the weight of the
            samples that each is the first to cover, of the positives among them, and its bits.

        Returns
        -------
        kept : list of bool
        bits : float
            Bits for the exceptions to the rest, less the bits saved.
        """
        kept, errors, saved = [], self.of_errors(covered, positives), 0.0
        for t, p, bits in rules:
            errors_without = self.of_errors(covered - t, positives - p)
            saving = errors + bits - errors_without
            needless = saving > -TOLERANCE or _mostly_wrong(t, p)
            if needless:
                covered, positives, errors = covered - t, positives - p, errors_without
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


def _mostly_wrong(covered: float, positives: float) -> bool:
    """Return whether at least half of the samples covered are negatives."""
    return covered > 0 and 2 * positives <= covered

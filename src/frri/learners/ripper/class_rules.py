"""Rules for one class against the rest: build a list, then improve it (Cohen 1995).

RIPPER and FURIA share this machinery. They differ in how a rule is grown while the list is built
and in what happens to a rule that pruning cannot help: the two switches of `Strategy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from frri._compile import compiled, pays
from frri.learners.ripper import _kernels as kernels
from frri.learners.ripper._kernels import AT_LEAST, AT_MOST
from frri.learners.ripper.description_length import (
    TOLERANCE,
    DescriptionLength,
    length_of_errors,
    length_of_rule,
    mostly_wrong,
)
from frri.learners.rule_limits import LimitedRuleClassifier
from frri.learners.validation import check_amount, check_count
from frri.rules import NominalCondition, NumericCondition

if TYPE_CHECKING:
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
    left : ndarray of bool, shape (n_samples,)
        Samples that the rules before it leave over.
    rules : ndarray of float, shape (n_rules + 1, 3)
        Weights of these samples, and of the positives, by their first later rule, and the bits of
        each rule; at the end those without a rule.
    """

    position: int
    later: NDArray[np.unsignedinteger]
    left: Flags
    rules: Floats


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """The samples of one class among others.

    Parameters
    ----------
    columns : SortedColumns
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
        return np.asarray((self.columns.classes == self.own) & self.rows)

    @cached_property
    def length(self) -> DescriptionLength:
        """Return the quantities that description lengths depend on."""
        total, positives = self._weights(np.flatnonzero(self.rows))
        return DescriptionLength(float(total), float(positives), float(self.false_share))

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
        running = shortest = length_of_errors(self.length, covered, positives)
        while positives < self.length.positives:
            added = position == len(rules)
            if added:
                rules.append(self._additional(left))
            else:
                rules[position] = self._improve(rules, position, later[position], left)
            rule = rules[position]
            t, p = self._weights(np.flatnonzero(rule.covers & left.rows))
            if added:
                after = length_of_errors(self.length, covered + t, positives + p)
                running += after + rule.bits - length_of_errors(self.length, covered, positives)
                shortest = min(shortest, running)
                too_long = running > shortest + SLACK + TOLERANCE
                if too_long or p <= 0 or mostly_wrong(t, p):
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
        return Place(position, later, left, self._counted(rules, later, left))

    def _length_with(self, rule: CrispRule, place: Place) -> float:
        """Return the bits for a rule and for the errors of the list in which it takes a place."""
        covered = np.flatnonzero(rule.covers & place.left)
        rules = place.rules.copy()
        rules[:, :2] -= self._tally(place.later, covered, len(rules) - 1)
        total, positives = self.length.total - rules[-1, 0], self.length.positives - rules[-1, 1]
        later = rules[place.position + 1 : -1]
        _, bits = self._kernels.delete_needless(self.length, total, positives, later)
        return float(bits) + rule.bits

    def _delete_needless(self, rules: list[CrispRule]) -> list[CrispRule]:
        """Delete rules, from the last to the first, without which the description is shorter."""
        first = np.full(len(self.rows), len(rules), dtype=np.min_scalar_type(len(rules)))
        for k in reversed(range(len(rules))):
            first[rules[k].covers] = k
        counted = self._counted(rules, first, self.rows)[:-1]
        total, positives, _ = counted.sum(axis=0).tolist()
        known = self.length, total, positives, counted[::-1].copy()
        kept, _ = self._kernels.delete_needless(*known)
        return [rule for rule, keep in zip(rules, kept[::-1].tolist(), strict=True) if keep]

    # ------------------------------------------------------------------ single rules

    def _split(self, left: Remaining) -> tuple[Flags, Flags]:
        return split(self.columns.classes, left.rows, self.strategy.folds, self.random)

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
        counts = self._kernels.prefix_weights(self.columns, tests, rows, self.positive)
        (total, positives), *prefixes = counts.tolist()
        if not total:
            return tests
        best, length = (positives + 1) / (total + 2), 0
        for k, (t, p) in enumerate(prefixes, 1):
            if worth == "precision":
                merit = (p + 1) / (t + 2)
            else:
                merit = (p + (total - positives) - (t - p)) / total
            if merit > best:
                best, length = merit, k
        return tests if not length and self.strategy.keep_hopeless else tests[:length]

    def _rule(self, tests: Tests) -> CrispRule:
        covers = self._kernels.covered(self.columns, tests)
        return CrispRule(tests, covers, length_of_rule(len(tests), self.columns.n_tests))

    # ------------------------------------------------------------------ samples

    def _without(self, left: Remaining, covered: Flags) -> Remaining:
        """Return the samples that are left when a rule covers some of them."""
        rows = left.rows & ~covered
        few = 2 * np.count_nonzero(rows) < left.coded.shape[1]
        return Remaining(rows, self._kernels.restrict(left.coded, rows) if few else left.coded)

    def _weights(self, rows: Positions) -> tuple[float, float]:
        """Return the weight of some samples, and of the positives among them."""
        positive = self.positive.take(rows)
        if self.columns.units is None:
            return len(rows), int(np.count_nonzero(positive))
        weights = self.columns.weights[rows]
        return float(weights.sum()), float(weights[positive].sum())

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
        codes = 2 * first.take(rows).astype(np.intp) + self.positive.take(rows)
        weights = None if self.columns.units is None else self.columns.weights[rows]
        counts = np.bincount(codes, weights, 2 * n_rules + 2).reshape(-1, 2)
        counts[:, 0] += counts[:, 1]
        return np.asarray(counts, dtype=np.float64)

    def _counted(self, rules: list[CrispRule], first: NDArray[np.integer], rows: Flags) -> Floats:
        """Return, for each rule and for none, the sums of `_tally` and the bits of the rule."""
        counts = self._tally(first, np.flatnonzero(rows), len(rules))
        return np.column_stack([counts, [*(rule.bits for rule in rules), 0.0]])


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
    by_class = shuffled[classes[shuffled].argsort(kind="stable")]
    dealt = np.concatenate([by_class[pile::folds] for pile in range(folds)])
    n_grow = len(dealt) * (folds - 1) // folds
    grow, prune = np.zeros((2, len(classes)), dtype=np.bool_)
    grow[dealt[:n_grow]] = True
    prune[dealt[n_grow:]] = True
    return grow, prune

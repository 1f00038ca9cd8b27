"""RIPPER: an ordered list of crisp rules with a default (Cohen 1995).

`ClassProblem` finds rules for one class against the rest: it builds a list, then improves it. FURIA
uses it as well. The two differ in how a rule is grown while the list is built and in what happens
to a rule that pruning cannot help: the switches of `GrownRuleClassifier`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frri._compile import compiled, pays
from frri._util import Flags, Floats
from frri.learners.ripper import _kernels as kernels
from frri.learners.ripper._kernels import AT_LEAST, AT_MOST, SortedColumns
from frri.learners.ripper.description_length import (
    TOLERANCE,
    DescriptionLength,
    length_of_errors,
    length_of_rule,
    mostly_wrong,
)
from frri.learners.rule_limits import LimitedRuleClassifier, MeasuredRule
from frri.learners.training_table import TrainingTable
from frri.learners.validation import check_amount, check_boolean, check_count, random_numbers
from frri.rules import Condition, NominalCondition, NumericCondition, Rule, RuleSet
from frri.rules.condition import join_ranges

# One row (feature, comparison, value) for each test; see `_kernels`.
Tests = Floats
# Some of the samples in the order of each feature; see `_kernels`.
Codes = NDArray[np.uint32]
# First rule of a list that covers each sample.
Firsts = NDArray[np.unsignedinteger]

# From this many values on a fit takes longer interpreted than it takes to compile the kernels, or,
# where an earlier process has left them compiled, to load them.
COMPILED_FROM = 300_000
LOADED_FROM = 30_000

# Rules change in the first few passes only; more than this is a mistake.
MOST_OPTIMIZATIONS = 10_000

# Largest sum of integer weights up to which samples are repeated.
MOST_COPIES = 100_000

# Number of bits by which a list may exceed its shortest length while rules are added.
SLACK = 64.0

NO_TESTS = np.empty((0, 3))


@dataclass(kw_only=True, eq=False, repr=False)
class GrownRuleClassifier(LimitedRuleClassifier):
    """Base of RIPPER and FURIA."""

    folds: int = 3
    min_weight: float = 2
    optimizations: int = 2
    class_weight: Any = None
    random_state: int | np.random.RandomState | None = None

    # Whether a rule added to the list is pruned on samples set apart, or grown on all.
    prune = False
    # Whether a rule of which no prefix is worth more than no rule at all stays whole.
    keeps_hopeless = False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("folds", self.folds, least=2)
        check_count("optimizations", self.optimizations, most=MOST_OPTIMIZATIONS)
        check_amount("min_weight", self.min_weight)

    def _with_copies(self, table: TrainingTable) -> TrainingTable:
        """Repeat samples as often as integer weights state, and sort a table with equal samples.

        The division of samples then depends neither on the form in which a table has equal samples
        nor on their order. Weights of classes do not repeat samples, which would be pruned with
        copies of those that they are grown with.
        """
        weights, rows = table.weights, np.arange(len(table.values))
        if weights is not None and self.class_weight is None and weights.sum() <= MOST_COPIES:
            copies = weights.astype(np.intp)
            if (copies == weights).all():
                table, rows = replace(table, weights=None), rows.repeat(copies)
        first, inverse, _ = table.equal_rows
        if len(first) == len(rows):
            return table
        return table.take(rows[inverse[rows].argsort(kind="stable")])


@dataclass(kw_only=True, eq=False, repr=False)
class RIPPERClassifier(GrownRuleClassifier):
    """RIPPER, a decision list of few and short rules.

    Classes are taken from the rarest to the most frequent, which gets the default rule at the end.
    For each class rules are added one by one: a random part of the samples serves to grow a rule by
    information gain, the rest to prune it. The list ends when its description length has grown too
    much. The list is then improved: each rule is compared with a new one and with an extension
    of itself, positives left over get further rules, and rules that do not shorten the description
    are deleted. The first rule that holds decides.

    Numeric features are compared with values seen in training (`<=` or `>=`), nominal ones
    (columns of text in a data frame) are tested for one value. A test of a missing value fails.

    Samples are drawn at random to grow and to prune rules. One with an integer weight stands for
    as many equal samples, which are drawn one by one (up to a sum of 100,000); other weights, and
    those of classes, count in every sum. Rules from a table with equal samples do not depend on its
    order. Time grows about linearly with the number of samples.

    Parameters
    ----------
    {folds, min_weight}
    optimizations : int, default=2
        Number of passes over the rules of each class to improve them; 0 gives IREP*.
    prune : bool, default=True
        If True, rules are pruned. If False, they are grown on all samples and not improved.
    max_rules : int, optional
        Maximum number of rules, including the default rule, which always stays. Rules are removed
        one at a time, each time the one whose removal reduces training accuracy least.
    {max_conditions, min_support, class_weight, missing}
    random_state : int, RandomState or None, default=None
        Random seed of the division of samples and of the order of equally frequent classes.
    {calibrate, decision, n_jobs, verbose}

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        The rules in order, the default rule (without conditions) last. A rule concludes the class
        most frequent among the training samples that it decides; its weight is the fraction of that
        class among them.
    {n_features_in_, feature_names_in_}

    References
    ----------
    W. W. Cohen, "Fast Effective Rule Induction", Proceedings of ICML, 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ripper = RIPPERClassifier(random_state=0).fit(X, y)
    >>> print(ripper.ruleset_)
    IF petal width (cm) >= 1.8 THEN target = 2   [weight 0.98, covers 46 of 150, precision 0.98]
    IF petal length (cm) >= 5 THEN target = 2   [weight 0.67, covers 46 of 150, precision 0.96]
    IF petal length (cm) >= 3 THEN target = 1   [weight 0.98, covers 100 of 150, precision 0.50]
    OTHERWISE target = 0   [weight 1.00, covers 150 of 150, precision 0.33]
    >>> ripper.predict(X[:2])
    array([0, 0])
    """

    prune: bool = True

    def _learn(self, table: TrainingTable) -> None:
        table = self._with_copies(table)
        crisp = self._decision_list(table)

        def made(some: "Sequence[CrispRule]") -> RuleSet:
            found = list(_rules(some, table))
            return self._measured(table, found, combination="first", fallback="priors")

        self.ruleset_ = self._within_limits(crisp, made, table)

    def _decision_list(self, table: TrainingTable) -> "list[CrispRule]":
        """Find the rules of all classes but the most frequent, and the default rule."""
        columns, random = SortedColumns.of(table), random_numbers(self.random_state)
        counts = np.array(table.class_counts)
        shuffled = random.permutation(len(counts))
        ascending = shuffled[counts[shuffled].argsort(kind="stable")]
        everything = np.ones(len(table.values), dtype=np.bool_)
        left, rules = everything, []
        for k, own in enumerate(ascending[:-1]):
            false_share = counts[own] / counts[ascending[k:]].sum()
            problem = ClassProblem(self, columns, own, left, false_share, random)
            with self._step(f"rules for {table.labels[own]!r}"):
                found = problem.rules(self.optimizations if self.prune else 0)
            for rule in found:
                left = left & ~rule.covers
            rules += found
        return [*rules, CrispRule(NO_TESTS, everything, 0.0)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_boolean("prune", self.prune)


def _rules(crisp: "Sequence[CrispRule]", table: TrainingTable) -> Iterator[MeasuredRule]:
    """Yield each rule, with the class fractions of what it is first to cover, and all it covers."""
    weights, left = table.all_weights, np.ones(len(table.classes), dtype=np.bool_)
    for rule in crisp:
        decided, left = left & rule.covers, left & ~rule.covers
        # A rule with nothing left to decide, such as a default that is never needed, has the
        # distribution of all samples.
        rows = decided if decided.any() else slice(None)
        counts = np.bincount(table.classes[rows], weights[rows], len(table.labels))
        shares = counts / counts.sum()
        own = int(shares.argmax())
        tests = without_redundant(rule.tests)
        conditions = join_ranges(test.condition(table) for test in tests)
        label, distribution = table.labels[own], tuple(shares.tolist())
        made = Rule(conditions, label, float(shares[own]), distribution=distribution)
        yield made, np.flatnonzero(rule.covers)


class CrispRule(NamedTuple):
    """The tests of a rule, the samples that satisfy them all, and the bits to send them."""

    tests: Tests
    covers: Flags
    bits: float


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """The samples of one class among others.

    Attributes
    ----------
    learner : GrownRuleClassifier
        The estimator, for its parameters.
    columns : SortedColumns
    own : int
        The class.
    rows : ndarray of bool, shape (n_samples,)
        The samples that take part.
    false_share : float
        Expected fraction of covered negatives among all errors.
    random : RandomState
    """

    learner: GrownRuleClassifier
    columns: SortedColumns
    own: int
    rows: Flags
    false_share: float
    random: np.random.RandomState

    def rules(self, optimizations: int) -> list[CrispRule]:
        """Return the rules of the class, in order, after passes to improve them."""
        rules = self._pass_over([])
        for _ in range(optimizations):
            rules = self._delete_needless(self._pass_over(rules))
        return rules

    @cached_property
    def positive(self) -> Flags:
        """Return which samples are of the class."""
        return np.asarray((self.columns.classes == self.own) & self.rows)

    @cached_property
    def length(self) -> DescriptionLength:
        """Return the quantities that description lengths depend on."""
        return DescriptionLength(*self._weights(self.rows), float(self.false_share))

    @cached_property
    def coded(self) -> Codes:
        """Return all samples that take part, in the order of each feature."""
        order = self.columns.order
        found: Codes = self._kernels.restrict(2 * order + self.positive[order], self.rows)
        return found

    @cached_property
    def _kernels(self) -> Any:
        return kernels_for(self.columns)

    def _pass_over(self, rules: list[CrispRule]) -> list[CrispRule]:
        """Improve each rule of a list, then add rules until the list becomes too long.

        When the positives run out before the rules do, the first rule not reached is lost; the
        others stay for the deletion to judge.
        """
        rules, later = list(rules), first_later([rule.covers for rule in rules])
        left, covered, positives, position = self.rows, 0.0, 0.0, 0
        running = shortest = length_of_errors(self.length, covered, positives)
        while positives < self.length.positives:
            added = position == len(rules)
            if added:
                rules.append(self._additional(left))
            else:
                rules[position] = self._improve(rules, position, later[position], left)
            rule = rules[position]
            t, p = self._weights(rule.covers & left)
            if added:
                after = length_of_errors(self.length, covered + t, positives + p)
                running += after + rule.bits - length_of_errors(self.length, covered, positives)
                shortest = min(shortest, running)
                too_long = running > shortest + SLACK + TOLERANCE
                if too_long or p <= 0 or mostly_wrong(t, p):
                    break
            covered, positives = covered + t, positives + p
            left = left & ~rule.covers
            position += 1
        del rules[position : position + 1]
        return rules

    def _additional(self, left: Flags) -> CrispRule:
        """Return a new rule for the samples that are left."""
        if not self.learner.prune:
            return self._rule(self._grow(left))
        grow, prune = self._split(left)
        return self._rule(self._prune(self._grow(grow), prune, "precision"))

    def _improve(
        self, rules: list[CrispRule], position: int, later: Firsts, left: Flags
    ) -> CrispRule:
        """Return the best of the rule as it is, grown further, and grown from nothing."""
        old = rules[position]
        if not np.any(old.covers & left):
            return old
        grow, prune = self._split(left)
        prune &= later == len(rules)
        replacement = self._rule(self._prune(self._grow(grow), prune, "accuracy"))
        further = self._grow(grow & old.covers, old.tests)
        tests = self._prune(further, prune, "accuracy")

        # The length without any of the three is common to them and need not be subtracted.
        known = position, later, left, self._counted(rules, later, left)
        as_it_is, renewed = (self._length_with(rule, *known) for rule in (old, replacement))
        revision, revised = old, as_it_is
        if len(tests) != len(old.tests):
            revision = self._rule(tests)
            revised = self._length_with(revision, *known)
        if as_it_is < revised + TOLERANCE and as_it_is < renewed + TOLERANCE:
            return old
        return revision if revised < renewed + TOLERANCE else replacement

    def _length_with(
        self, rule: CrispRule, position: int, later: Firsts, left: Flags, counted: Floats
    ) -> float:
        """Return the bits for a rule and for the errors of the list in which it takes a place.

        `later` is the first rule after it that covers each sample, `left` what the rules before it
        leave over, and `counted` what the later rules cover of that: see `_counted`.
        """
        rules = counted.copy()
        rules[:, :2] -= self._tally(later, rule.covers & left, len(rules) - 1)
        missed, missed_positives, _ = rules[-1].tolist()
        covered = self.length.total - missed, self.length.positives - missed_positives
        known = self.length, *covered, rules[position + 1 : -1]
        return float(self._kernels.delete_needless(*known)[1]) + rule.bits

    def _delete_needless(self, rules: list[CrispRule]) -> list[CrispRule]:
        """Delete rules, from the last to the first, without which the description is shorter."""
        first = np.full(len(self.rows), len(rules), dtype=np.min_scalar_type(len(rules)))
        for k in reversed(range(len(rules))):
            first[rules[k].covers] = k
        counted = self._counted(rules, first, self.rows)[:-1]
        total, positives, _ = counted.sum(axis=0).tolist()
        known = self.length, total, positives, counted[::-1]
        kept, _ = self._kernels.delete_needless(*known)
        return [rule for rule, keep in zip(rules, kept[::-1], strict=True) if keep]

    # ------------------------------------------------------------------ single rules
    def _split(self, left: Flags) -> tuple[Flags, Flags]:
        return split(self.columns.classes, left, self.learner.folds, self.random)

    def _grow(self, rows: Flags, tests: Tests = NO_TESTS) -> Tests:
        """Add tests to a rule, each the one of greatest information gain, until it is pure.

        It is grown on some samples, which satisfy the tests so far.
        """
        min_units = float(self.learner.min_weight) / self.columns.unit
        added = self._kernels.grow(self.coded, rows, self.columns, min_units)
        most = self.learner.max_conditions
        # Every test is the best after those before it, so that the first ones are those of a
        # shorter rule.
        added = added[: None if most is None else max(0, most - len(tests))]
        return np.concatenate((tests, added))

    def _prune(self, tests: Tests, rows: Flags, worth: Literal["precision", "accuracy"]) -> Tests:
        """Cut a rule to the shortest prefix of greatest worth on some samples.

        "precision" is the fraction of positives among the samples covered, smoothed: (p + 1) / (t +
        2); "accuracy" the fraction of all samples classified correctly, covered positives and
        negatives that are not covered. Without samples the rule stays as it is.
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
        return tests if not length and self.learner.keeps_hopeless else tests[:length]

    def _rule(self, tests: Tests) -> CrispRule:
        covers = self._kernels.covered(self.columns, tests)
        return CrispRule(tests, covers, length_of_rule(len(tests), self.columns.n_tests))

    # ------------------------------------------------------------------ samples
    def _weights(self, rows: Flags) -> tuple[float, float]:
        """Return the weight of some samples, and of the positives among them."""
        known = rows, self.positive, self.columns.units
        total, positives = self._kernels.flagged_weights(*known)
        return total * self.columns.unit, positives * self.columns.unit

    def _tally(self, first: NDArray[np.integer], rows: Flags, n_rules: int) -> Floats:
        """Sum the weights of samples, and of positives, that each rule is the first to cover.

        `first` is the first rule that covers each sample of the table, `n_rules` if none does; the
        last row of the result is for the samples that no rule covers. Only flagged samples count.
        """
        known = rows, self.positive, self.columns.units
        counts: Floats = self._kernels.tally(first, *known, n_rules + 1) * self.columns.unit
        return counts

    def _counted(self, rules: list[CrispRule], first: NDArray[np.integer], rows: Flags) -> Floats:
        """Return, for each rule and for none, the sums of `_tally` and the bits of the rule."""
        counts = self._tally(first, rows, len(rules))
        return np.concatenate((counts, [*([rule.bits] for rule in rules), [0.0]]), axis=1)


class CrispTest(NamedTuple):
    """A comparison of one feature with a value of the training table."""

    column: int
    comparison: int
    value: float

    def condition(self, table: TrainingTable, end: float = nan) -> Condition:
        """Return the test as a condition of the rule model; its support ends at `end`, if any.

        A slope between neighboring integers is a crisp bound in a column of integers. In a column
        of 0 and 1 the value is tested for equality.
        """
        attribute, core = table.attributes[self.column], self.value
        if self.comparison not in {AT_MOST, AT_LEAST}:
            category = (attribute.categories or ())[int(core)]
            return NominalCondition(attribute.name, frozenset({category}))
        is_integer = bool(table.integer_columns[self.column])
        if isnan(end) or (is_integer and abs(end - core) <= 1.0):
            end = core
        if is_integer and attribute.is_flag and core == (self.comparison == AT_LEAST):
            return NumericCondition(attribute.name, core, core, core, core)
        if self.comparison == AT_MOST:
            return NumericCondition(attribute.name, core_high=core, support_high=end)
        return NumericCondition(attribute.name, support_low=end, core_low=core)


def without_redundant(tests: Tests) -> tuple[CrispTest, ...]:
    """Keep the last of the tests of one feature in one direction, in the place of the first.

    Tests are added to what earlier ones leave, so the last is the tightest.
    """
    kept = {(test[0], test[1]): test for test in tests.tolist()}
    return tuple(CrispTest(int(j), int(side), value) for j, side, value in kept.values())


def kernels_for(columns: SortedColumns, module: ModuleType = kernels) -> Any:
    """Return compiled kernels for a large table; a small one must not wait for a compiler."""
    limits = {"compiled_from": COMPILED_FROM, "loaded_from": LOADED_FROM}
    # Compiled kernels look logarithms up.
    large = len(columns.logs) > 0 and pays(kernels, columns.values.size, **limits)
    return compiled(module) if large else module


def first_later(covers: list[Flags]) -> list[Firsts]:
    """Return, for each rule of a list, the first rule after it that covers each sample.

    The number of rules stands for none.
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

    The samples of each class are dealt onto `folds` piles in turn; the last part of all piles in a
    row is for pruning.
    """
    shuffled = random.permutation(rows.nonzero()[0])
    by_class = shuffled.take(classes.take(shuffled).argsort(kind="stable"))
    dealt = np.concatenate([by_class[pile::folds] for pile in range(folds)])
    grow = np.zeros(len(classes), dtype=np.bool_)
    grow[dealt[: len(dealt) * (folds - 1) // folds]] = True
    return grow, rows & ~grow

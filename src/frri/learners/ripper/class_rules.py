"""Rules for one class against the rest: build a list, then improve it (Cohen 1995).

RIPPER and FURIA share this machinery. They differ in how a rule is grown while the list is built and in
what happens to a rule that pruning cannot help: the two switches of `Strategy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from frri.learners.ripper._description_length_kernels import TOLERANCE
from frri.learners.ripper.description_length import Budget, Counted, Counts, DescriptionLength
from frri.learners.ripper.grow import NO_TESTS
from frri.learners.validation import check_amount, check_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frri._util import Flags, Floats
    from frri.learners.ripper.grow import Part, SortedColumns, Tests


# Rules change in the first few rounds only; more than this is a slip of the pen.
MOST_OPTIMIZATIONS = 10_000


@dataclass(frozen=True)
class Strategy:
    """How rules are found.

    Parameters
    ----------
    folds : int
        One object in so many is kept for pruning.
    min_weight : float
        A test that fewer positives satisfy ends the growth of a rule.
    optimizations : int
        How often the finished list is gone through for improvements.
    prune_building : bool
        Whether a rule added to the list is pruned on objects set apart, or grown on all and left.
    keep_hopeless : bool
        Whether a rule of which no beginning is worth anything stays whole, or loses all its tests.
    max_conditions : int, optional
        The most tests of a rule.
    """

    folds: int
    min_weight: float
    optimizations: int
    prune_building: bool
    keep_hopeless: bool
    max_conditions: int | None = None

    def __post_init__(self) -> None:
        """One sentence about the first parameter that makes no sense."""
        check_count("folds", self.folds, least=2)
        check_count("optimizations", self.optimizations, most=MOST_OPTIMIZATIONS)
        check_amount("min_weight", self.min_weight)


class CrispRule(NamedTuple):
    """The tests of a rule, the objects that satisfy them all, and the bits it takes to send them."""

    tests: Tests
    covers: Flags
    bits: float


class Remaining(NamedTuple):
    """The objects that the rules so far leave over, and a part that holds them and not many more."""

    rows: Flags
    part: Part

    def without(self, covered: Flags) -> Remaining:
        """What is left when a rule covers some of them."""
        rows = self.rows & ~covered
        few = 2 * np.count_nonzero(rows) < self.part.n_objects
        return Remaining(rows, self.part.restricted(rows) if few else self.part)


class Place(NamedTuple):
    """Where a rule stands in a list.

    Parameters
    ----------
    position : int
    later : ndarray of int, shape (n_objects,)
        Which of the rules after it is the first to cover each object; their number stands for none.
    bits : ndarray of float
        Lengths of the rules of the list.
    left : Remaining
        What the rules before it leave over.
    """

    position: int
    later: NDArray[np.unsignedinteger]
    bits: Floats
    left: Remaining


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """The objects of one class among others.

    Parameters
    ----------
    columns : SortedColumns
    classes : ndarray of int, shape (n_objects,)
    rows, positive : ndarray of bool, shape (n_objects,)
        The objects that take part, and those that are of the class.
    length : DescriptionLength
    strategy : Strategy
    random : RandomState
    """

    columns: SortedColumns
    classes: NDArray[np.integer]
    rows: Flags
    positive: Flags
    length: DescriptionLength
    strategy: Strategy
    random: np.random.RandomState

    @classmethod
    def of_class(
        cls,
        columns: SortedColumns,
        classes: NDArray[np.integer],
        own: int,
        *,
        rows: Flags,
        false_share: float,
        strategy: Strategy,
        random: np.random.RandomState,
    ) -> ClassProblem:
        """The problem of telling a class from the others among some objects."""
        positive = (classes == own) & rows
        classes = classes.astype(np.min_scalar_type(classes.max()))  # small numbers sort faster
        length = DescriptionLength(
            columns.n_tests, columns.total(rows), columns.total(positive), false_share
        )
        return cls(columns, classes, rows, positive, length, strategy, random)

    def rules(self) -> list[CrispRule]:
        """The rules of the class, in order."""
        rules = self._built()
        for _ in range(self.strategy.optimizations):
            rules = self._optimized(rules)
        return rules

    # ------------------------------------------------------------------ building

    def _built(self) -> list[CrispRule]:
        """Rule after rule, each on what the earlier ones left, until the list becomes too long."""
        rules: list[CrispRule] = []
        left, seen, budget = self._everything, Counts(0, 0), Budget(self.length)
        while seen.positives < self.length.n_positives:
            rule = self._additional(left)
            counts = self._counts(rule, left)
            if not budget.admits(seen, Counted(counts, rule.bits)):
                break
            rules.append(rule)
            seen, left = seen.plus(counts), left.without(rule.covers)
        return rules

    def _additional(self, left: Remaining) -> CrispRule:
        if not self.strategy.prune_building:
            return self._rule(self._grown(left, left.rows))
        grow, prune = self._split(left)
        return self._rule(self._pruned(self._grown(left, grow), prune, "precision"))

    # ------------------------------------------------------------------ improving

    def _optimized(self, rules: list[CrispRule]) -> list[CrispRule]:
        """Go through the list once: a better version of each rule, further rules, needless ones out.

        When the positives run out before the rules do, the first rule not reached is lost; the others
        stay for the deletion to judge.
        """
        rules, bits = list(rules), np.array([rule.bits for rule in rules])
        later = first_later([rule.covers for rule in rules])
        left, seen, budget = self._everything, Counts(0, 0), Budget(self.length)
        position = 0
        while seen.positives < self.length.n_positives:
            if position < len(later):
                place = Place(position, later[position], bits, left)
                rule = rules[position] = self._improved(rules[position], place)
                counts = self._counts(rule, left)
            else:
                rule = self._additional(left)
                counts = self._counts(rule, left)
                if not budget.admits(seen, Counted(counts, rule.bits)):
                    break
                rules.append(rule)
            seen, left = seen.plus(counts), left.without(rule.covers)
            position += 1
        del rules[position : position + 1]
        return [rules[k] for k in self.length.kept(self._counted(rules))]

    def _improved(self, old: CrispRule, place: Place) -> CrispRule:
        """The best of the rule as it is, one grown further from it, and one grown from nothing."""
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
        """Bits for a rule and for the errors of the list in which it takes a place."""
        errors = self.columns.list_length(
            self.length.problem,
            rule.covers,
            place.left.rows,
            self.positive,
            place.later,
            place.bits,
            place.position,
        )
        return errors + rule.bits

    # ------------------------------------------------------------------ single rules

    @cached_property
    def _everything(self) -> Remaining:
        return Remaining(self.rows, self.columns.part(self.positive).restricted(self.rows))

    def _split(self, left: Remaining) -> tuple[Flags, Flags]:
        folds = self.strategy.folds
        return split(self.columns, self.classes, left.rows, folds, self.random)

    def _grown(self, left: Remaining, rows: Flags, tests: Tests = NO_TESTS) -> Tests:
        limits = self.strategy.min_weight, self.strategy.max_conditions
        return grow(left.part, rows, tests, min_weight=limits[0], most=limits[1])

    def _pruned(self, tests: Tests, rows: Flags, worth: Worth) -> Tests:
        keep = self.strategy.keep_hopeless
        return prune(self.columns, rows, self.positive, tests, worth=worth, keep_hopeless=keep)

    def _rule(self, tests: Tests) -> CrispRule:
        return CrispRule(tests, self.columns.covered(tests), self.length.of_rule(len(tests)))

    # ------------------------------------------------------------------ counting

    def _counts(self, rule: CrispRule, left: Remaining) -> Counts:
        covered = rule.covers & left.rows
        return Counts(self.columns.total(covered), self.columns.total(covered & self.positive))

    def _counted(self, rules: list[CrispRule]) -> list[Counted]:
        """Each rule on the objects that it is the first to cover."""
        first = np.full(len(self.rows), len(rules), dtype=np.min_scalar_type(len(rules)))
        for k in reversed(range(len(rules))):
            first[rules[k].covers] = k
        counts = self.columns.tally(first, self.rows, self.positive, len(rules))
        return [
            Counted(Counts(*pair), rule.bits)
            for pair, rule in zip(counts[:-1].tolist(), rules, strict=True)
        ]


def first_later(covers: list[Flags]) -> list[NDArray[np.unsignedinteger]]:
    """For each rule of a list: which of the rules after it is the first to cover each object.

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


Worth = Literal["precision", "accuracy"]


def split(
    columns: SortedColumns,
    classes: NDArray[np.integer],
    rows: Flags,
    folds: int,
    random: np.random.RandomState,
) -> tuple[Flags, Flags]:
    """Divide objects at random, class by class, into those to grow and those to prune a rule with.

    Parameters
    ----------
    columns : SortedColumns
    classes : ndarray of int, shape (n_objects,)
    rows : ndarray of bool, shape (n_objects,)
        The objects to divide.
    folds : int
        One part in so many is for pruning.
    random : RandomState

    Returns
    -------
    grow, prune : ndarray of bool, shape (n_objects,)

    Examples
    --------
    >>> from frri.table import Attribute
    >>> from frri.learners.ripper.grow import SortedColumns
    >>> columns = SortedColumns.of(np.arange(6.0)[:, None], [Attribute("a")])
    >>> classes, everything = np.array([0, 0, 0, 1, 1, 1]), np.ones(6, dtype=bool)
    >>> grow, prune = split(columns, classes, everything, 3, np.random.RandomState(0))
    >>> classes[grow], classes[prune]
    (array([0, 0, 1, 1]), array([0, 1]))
    """
    shuffled = random.permutation(np.flatnonzero(rows))
    grow, prune = columns.description_length.deal(shuffled, classes, folds)
    return grow, prune


def grow(
    part: Part,
    rows: Flags,
    tests: Tests = NO_TESTS,
    *,
    min_weight: float = 2.0,
    most: int | None = None,
) -> Tests:
    """Add tests to a rule, each the one of greatest information gain, until it is pure.

    Parameters
    ----------
    part : Part
    rows : ndarray of bool, shape (n_objects,)
        Which objects of the part to grow on.
    tests : ndarray of float, shape (n_tests, 3)
        What the rule consists of so far; all objects to grow on must satisfy it.
    min_weight : float
        A test that fewer positives satisfy is not added and ends the growth.
    most : int, optional
        How many tests there are in the end at most.
    """
    # Every test is the best after those before it, so that the first ones are those of a shorter rule.
    added = part.grown(rows, min_weight)[: None if most is None else max(0, most - len(tests))]
    return np.concatenate((tests, added)) if len(tests) else added


def prune(
    columns: SortedColumns,
    rows: Flags,
    positive: Flags,
    tests: Tests,
    *,
    worth: Worth,
    keep_hopeless: bool,
) -> Tests:
    """Cut a rule to its beginning of greatest worth.

    Parameters
    ----------
    columns : SortedColumns
    rows, positive : ndarray of bool, shape (n_objects,)
        The objects to prune on, and which objects are of the rule's class.
    tests : ndarray of float, shape (n_tests, 3)
    worth : {"precision", "accuracy"}
        The share of positives among the objects it covers, smoothed: (p + 1) / (t + 2); or the share
        of all objects that it decides rightly, covered positives and negatives that are not covered.
    keep_hopeless : bool
        What to do with a rule of which no beginning is worth more than having no rule at all: leave
        it as it is, or drop all its tests.

    Returns
    -------
    ndarray of float, shape (n_kept, 3)
        The shortest of the best beginnings. Without objects to judge by, the rule as it is.
    """
    (n_objects, n_positives), *beginnings = columns.beginnings(tests, rows, positive)
    if not n_objects:
        return tests
    best, length = (n_positives + 1) / (n_objects + 2), 0
    for k, (t, p) in enumerate(beginnings, 1):
        if worth == "precision":
            value = (p + 1) / (t + 2)
        else:
            value = (p + (n_objects - n_positives) - (t - p)) / n_objects
        if value > best:
            best, length = value, k
    return tests if not length and keep_hopeless else tests[:length]

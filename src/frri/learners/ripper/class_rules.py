"""Rules for one class against the rest: build a list, then improve it (Cohen 1995).

RIPPER and FURIA share this machinery. They differ in how a rule is grown while the list is built
and in what happens to a rule that pruning cannot help: the two switches of `Strategy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from frri.learners.ripper.description_length import (
    TOLERANCE,
    Budget,
    CountedRule,
    Coverage,
    DescriptionLength,
)
from frri.learners.ripper.grow import NO_TESTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frri._util import Flags, Floats
    from frri.learners.ripper.grow import Codes, SortedColumns, Tests


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

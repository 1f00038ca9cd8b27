"""Rules for one class against the rest: build a list, then improve it (Cohen 1995).

RIPPER and FURIA share this machinery. They differ in how a rule is grown while the list is built and in
what happens to a rule that pruning cannot help: the two switches of `Strategy`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri.learners import growing
from frri.learners.description_length import (
    TOLERANCE,
    Budget,
    Counted,
    Counts,
    DescriptionLength,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frri.learners.growing import Tests, Worth
    from frri.learners.sorted_columns import Part, SortedColumns

    Flags = NDArray[np.bool_]


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
    """

    folds: int
    min_weight: float
    optimizations: int
    prune_building: bool
    keep_hopeless: bool

    def __post_init__(self) -> None:
        """One sentence about the first parameter that makes no sense."""
        for name, least in (("folds", 2), ("optimizations", 0)):
            value: Any = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
                raise ValueError(f"{name} must be a whole number from {least} on, got {value!r}.")
        weight: Any = self.min_weight
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= float(weight) < inf:
            raise ValueError(f"min_weight must be a number from 0 on, got {weight!r}.")

    @property
    def parameters(self) -> dict[str, int | float]:
        """What a user can set, in plain numbers."""
        return {
            "folds": int(self.folds),
            "min_weight": float(self.min_weight),
            "optimizations": int(self.optimizations),
        }


class CrispRule(NamedTuple):
    """The tests of a rule and the objects that satisfy them all."""

    tests: Tests
    covers: Flags


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
            columns.n_tests, int(np.sum(rows)), int(np.sum(positive)), false_share
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
        left, seen, budget = self.rows, Counts(0, 0), Budget(self.length)
        while np.any(left & self.positive):
            rule = self._additional(left)
            counts = self._counts(rule, left)
            if not budget.admits(seen, Counted(counts, len(rule.tests))):
                break
            rules.append(rule)
            seen, left = seen.plus(counts), left & ~rule.covers
        return rules

    def _additional(self, left: Flags) -> CrispRule:
        if not self.strategy.prune_building:
            return self._rule(self._grown(left))
        grow, prune = self._split(left)
        return self._pruned(self._grown(grow), prune, "precision")

    # ------------------------------------------------------------------ improving

    def _optimized(self, rules: list[CrispRule]) -> list[CrispRule]:
        """Go through the list once: a better version of each rule, further rules, needless ones out.

        When the positives run out before the rules do, the first rule not reached is lost; the others
        stay for the deletion to judge.
        """
        rules = list(rules)
        left, seen, budget = self.rows, Counts(0, 0), Budget(self.length)
        position = 0
        while np.any(left & self.positive):
            if position < len(rules):
                rules[position] = self._improved(rules, position, left, seen)
                counts = self._counts(rules[position], left)
            else:
                rule = self._additional(left)
                counts = self._counts(rule, left)
                if not budget.admits(seen, Counted(counts, len(rule.tests))):
                    break
                rules.append(rule)
            seen, left = seen.plus(counts), left & ~rules[position].covers
            position += 1
        del rules[position : position + 1]
        counted = self._counted(rules, self.rows)
        return [rules[k] for k in self.length.kept(counted)]

    def _improved(
        self, rules: list[CrispRule], position: int, left: Flags, seen: Counts
    ) -> CrispRule:
        """The best of the rule as it is, one grown further from it, and one grown from nothing."""
        old, later = rules[position], rules[position + 1 :]
        if not np.any(old.covers & left):
            return old
        grow, prune = self._split(left)
        for rule in later:
            prune &= ~rule.covers
        replacement = self._pruned(self._grown(grow), prune, "accuracy")
        revision = self._pruned(self._grown(grow & old.covers, old.tests), prune, "accuracy")

        # The length without any of the three is common to them and need not be subtracted.
        lengths = [
            self._length_with(rule, later, left, seen) for rule in (old, revision, replacement)
        ]
        if lengths[0] < lengths[1] + TOLERANCE and lengths[0] < lengths[2] + TOLERANCE:
            return old
        return revision if lengths[1] < lengths[2] + TOLERANCE else replacement

    def _length_with(
        self, rule: CrispRule, later: list[CrispRule], left: Flags, seen: Counts
    ) -> float:
        """Bits for a rule and for the errors of the list it stands in."""
        counted = self._counted([rule, *later], left)
        total = seen
        for each in counted:
            total = total.plus(each.counts)
        return self.length.settled(total, counted[1:]) + self.length.of_rule(len(rule.tests))

    # ------------------------------------------------------------------ single rules

    def _split(self, left: Flags) -> tuple[Flags, Flags]:
        return growing.split(self.classes, left, self.strategy.folds, self.random)

    @cached_property
    def _part(self) -> Part:
        return self.columns.part(self.positive).restricted(self.rows)

    def _grown(self, rows: Flags, tests: Tests = ()) -> Tests:
        part = self._part.restricted(rows)
        return growing.grow(part, tests, min_weight=self.strategy.min_weight)

    def _pruned(self, tests: Tests, rows: Flags, worth: Worth) -> CrispRule:
        keep = self.strategy.keep_hopeless
        return self._rule(
            growing.prune(self.columns, rows, self.positive, tests, worth=worth, keep_hopeless=keep)
        )

    def _rule(self, tests: Tests) -> CrispRule:
        return CrispRule(tests, self.columns.covered(tests))

    # ------------------------------------------------------------------ counting

    def _counts(self, rule: CrispRule, rows: Flags) -> Counts:
        covered = rule.covers & rows
        n_covered, n_positives = (
            np.count_nonzero(covered),
            np.count_nonzero(covered & self.positive),
        )
        return Counts(int(n_covered), int(n_positives))

    def _counted(self, rules: list[CrispRule], rows: Flags) -> list[Counted]:
        """Each rule on the objects that the earlier ones leave."""
        result = []
        for rule in rules:
            result.append(Counted(self._counts(rule, rows), len(rule.tests)))
            rows = rows & ~rule.covers
        return result

"""Description length of a list of rules for one class (Cohen 1995; Quinlan 1995).

What it takes, in bits, to send the rules and then the objects which they get wrong. A list is judged by
counts alone: how many objects each rule covers among those that earlier rules left, and how many of
them are positives.
"""

from dataclasses import dataclass
from math import inf, log2, nan
from typing import NamedTuple

# Differences of lengths below this count as none.
TOLERANCE = 1e-6

# Tests are not independent, so the code for them is longer than needed.
REDUNDANCY = 0.5


class Counts(NamedTuple):
    """Objects covered, and how many of these are positives."""

    covered: int
    positives: int

    @property
    def mostly_wrong(self) -> bool:
        """Whether at least half of what is covered are negatives."""
        return self.covered > 0 and 2 * self.positives <= self.covered

    def plus(self, other: "Counts") -> "Counts":
        """What both cover, if nothing is covered by both."""
        return Counts(self.covered + other.covered, self.positives + other.positives)

    def minus(self, other: "Counts") -> "Counts":
        """What is left when a part is taken away."""
        return Counts(self.covered - other.covered, self.positives - other.positives)


class Counted(NamedTuple):
    """A rule as the description length sees it."""

    counts: Counts
    n_tests: int


def subset_length(n: int, k: int, share: float) -> float:
    """Bits to single out k of n things when each is expected to be chosen with a probability.

    A probability above 1, which comes from an expectation that the counts contradict, has no length:
    the result is NaN and no comparison with it holds.

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


@dataclass(frozen=True)
class DescriptionLength:
    """Lengths of rules and of their errors in the problem of telling one class from the rest.

    Parameters
    ----------
    n_tests : int
        How many different tests a rule could use.
    n_objects, n_positives : int
        Size of the problem.
    false_share : float
        Which share of all errors is expected to be covered negatives.
    """

    n_tests: int
    n_objects: int
    n_positives: int
    false_share: float

    def of_errors(self, total: Counts) -> float:
        """Bits for the exceptions to rules that cover so much in all."""
        covered, uncovered = total.covered, self.n_objects - total.covered
        false, missed = total.covered - total.positives, self.n_positives - total.positives
        length = log2(self.n_objects + 1)
        if covered > uncovered:
            length += subset_length(covered, false, self.false_share * (false + missed) / covered)
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
        """Bits for a rule with so many tests."""
        if n_tests == 0:
            return 0.0
        number = log2(n_tests)
        if n_tests > 1:
            number += 2.0 * log2(number)
        return REDUNDANCY * (number + subset_length(self.n_tests, n_tests, n_tests / self.n_tests))

    def added(self, before: Counts, rule: Counted) -> float:
        """By how much a rule at the end of a list makes the whole longer."""
        after = before.plus(rule.counts)
        return self.of_errors(after) + self.of_rule(rule.n_tests) - self.of_errors(before)

    def settled(self, total: Counts, later: list[Counted]) -> float:
        """Bits for the exceptions to a list once needless later rules are gone.

        Going through the later rules in order, each one that is `needless` is taken out of the total
        and the bits this saves are taken off.
        """
        errors, saved = self.of_errors(total), 0.0
        for rule in later:
            without = total.minus(rule.counts)
            errors_without = self.of_errors(without)
            saving = errors + self.of_rule(rule.n_tests) - errors_without
            if needless(saving, rule):
                total, errors = without, errors_without
                saved += saving
        return errors - saved

    def kept(self, rules: list[Counted]) -> list[int]:
        """Positions of the rules that remain when needless ones are deleted, the last one first."""
        total = Counts(0, 0)
        for rule in rules:
            total = total.plus(rule.counts)
        kept = []
        for k in reversed(range(len(rules))):
            without = total.minus(rules[k].counts)
            saving = (
                self.of_errors(total) + self.of_rule(rules[k].n_tests) - self.of_errors(without)
            )
            if needless(saving, rules[k]):
                total = without
            else:
                kept.append(k)
        return kept[::-1]


def needless(saving: float, rule: Counted) -> bool:
    """Whether a rule can go: nothing is lost by it, or it is wrong at least every other time."""
    return saving > -TOLERANCE or rule.counts.mostly_wrong


class Budget:
    """How long a list may become while rules are added: 64 bits more than it was at its shortest.

    Examples
    --------
    >>> budget = Budget(DescriptionLength(20, 100, 50, 0.5))
    >>> budget.admits(Counts(0, 0), Counted(Counts(40, 40), 2))
    True
    >>> budget.admits(Counts(40, 40), Counted(Counts(10, 5), 2))
    False
    """

    SLACK = 64.0

    def __init__(self, length: DescriptionLength) -> None:
        self.length = length
        self.running = self.shortest = length.of_errors(Counts(0, 0))

    def admits(self, before: Counts, rule: Counted) -> bool:
        """Add a rule to the account and tell whether the list may have it."""
        self.running += self.length.added(before, rule)
        self.shortest = min(self.shortest, self.running)
        return (
            not self.running > self.shortest + self.SLACK + TOLERANCE
            and rule.counts.positives > 0
            and not rule.counts.mostly_wrong
        )

"""Description length of a list of rules for one class (Cohen 1995; Quinlan 1995).

What it takes, in bits, to send the rules and then the objects which they get wrong. A list is judged by
counts alone: how many objects each rule covers among those that earlier rules left, and how many of
them are positives.
"""

from dataclasses import dataclass
from math import log2
from typing import NamedTuple

from frri.learners.ripper._description_length_kernels import (
    TOLERANCE,
    errors_length,
    needless,
    subset_length,
)

# Tests are not independent, so the code for them is longer than needed.
REDUNDANCY = 0.5


class Counts(NamedTuple):
    """Objects covered, and how many of these are positives; or what they weigh."""

    covered: float
    positives: float

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
    """A rule as the description length sees it: what it covers, and the bits for its tests."""

    counts: Counts
    bits: float


@dataclass(frozen=True)
class DescriptionLength:
    """Lengths of rules and of their errors in the problem of telling one class from the rest.

    Parameters
    ----------
    n_tests : int
        How many different tests a rule could use.
    n_objects, n_positives : float
        Size of the problem, in objects or in what they weigh.
    false_share : float
        Which share of all errors is expected to be covered negatives.
    """

    n_tests: int
    n_objects: float
    n_positives: float
    false_share: float

    @property
    def problem(self) -> tuple[float, float, float]:
        """What `frri.learners.ripper._description_length_kernels` has to know."""
        return self.n_objects, self.n_positives, self.false_share

    def of_errors(self, total: Counts) -> float:
        """Bits for the exceptions to rules that cover so much in all."""
        return errors_length(self.problem, *total)

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
        return self.of_errors(after) + rule.bits - self.of_errors(before)

    def kept(self, rules: list[Counted]) -> list[int]:
        """Positions of the rules that remain when needless ones are deleted, the last one first."""
        total = Counts(0, 0)
        for rule in rules:
            total = total.plus(rule.counts)
        kept = []
        for k in reversed(range(len(rules))):
            without = total.minus(rules[k].counts)
            saving = self.of_errors(total) + rules[k].bits - self.of_errors(without)
            if needless(saving, *rules[k].counts):
                total = without
            else:
                kept.append(k)
        return kept[::-1]


class Budget:
    """How long a list may become while rules are added: 64 bits more than it was at its shortest.

    Examples
    --------
    >>> length = DescriptionLength(20, 100, 50, 0.5)
    >>> budget = Budget(length)
    >>> budget.admits(Counts(0, 0), Counted(Counts(40, 40), length.of_rule(2)))
    True
    >>> budget.admits(Counts(40, 40), Counted(Counts(10, 5), length.of_rule(2)))
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

"""Description length of a list of rules for one class (Cohen 1995; Quinlan 1995).

The number of bits to send the rules and then the samples that they misclassify. A list is judged by
weights alone: of the samples that each rule covers among those that earlier rules left, and of the
positives among them. Lengths are compared with a tolerance, so that the last bit of a logarithm
decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log2, nan
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

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

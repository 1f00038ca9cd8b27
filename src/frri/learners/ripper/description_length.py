"""Description length of a list of rules for one class (Cohen 1995; Quinlan 1995).

The number of bits to send the rules and then the samples that they misclassify. A list is judged by
weights alone: of the samples that each rule covers among those that earlier rules left, and of the
positives among them. Lengths are compared with a tolerance, so that the last bit of a logarithm
decides nothing.
"""

from math import inf, log2, nan
from typing import NamedTuple

import numpy as np

from frri._compile import inner_kernel, kernel
from frri._util import Flags, Floats

# Differences of lengths below this count as none.
TOLERANCE = 1e-6
# Tests are not independent, so the code for them is longer than needed.
REDUNDANCY = 0.5


class DescriptionLength(NamedTuple):
    """The problem of telling one class from the rest, as description lengths see it.

    Attributes
    ----------
    total, positives : float
        Weight of all samples, and of those of the class.
    false_share : float
        Expected fraction of covered negatives among all errors.
    """

    total: float
    positives: float
    false_share: float


@inner_kernel
def length_of_errors(problem: DescriptionLength, covered: float, positives: float) -> float:
    """Return the bits for the exceptions to rules that cover samples and positives."""
    uncovered = problem.total - covered
    false, missed = covered - positives, problem.positives - positives
    length = log2(problem.total + 1)
    if covered > uncovered:
        expected = problem.false_share * (false + missed) / covered
        length += subset_length(covered, false, expected)
        if uncovered:
            length += subset_length(uncovered, missed, missed / uncovered)
        return length
    if covered:
        length += subset_length(covered, false, false / covered)
    if uncovered:
        expected = (1.0 - problem.false_share) * (false + missed) / uncovered
        length += subset_length(uncovered, missed, expected)
    return length


def length_of_rule(n_tests: int, n_possible: int) -> float:
    """Return the bits for a rule with some of the possible tests."""
    if n_tests == 0:
        return 0.0
    number = log2(n_tests)
    if n_tests > 1:
        number += 2.0 * log2(number)
    return REDUNDANCY * (number + subset_length(n_possible, n_tests, n_tests / n_possible))


@kernel
def delete_needless(
    problem: DescriptionLength, covered: float, positives: float, rules: Floats
) -> tuple[Flags, float]:
    """Delete rules one after another that save no bits or are wrong at least half of the time.

    The whole list covers samples, and positives among them, of the given weights. A row of `rules`
    has the weight of the samples that a rule is the first to cover, of the positives among them,
    and its bits. The result is which rules are kept, and the bits for the exceptions to these, less
    the bits saved.
    """
    kept, saved = np.ones(len(rules), dtype=np.bool_), 0.0
    errors = length_of_errors(problem, covered, positives)
    for k in range(len(rules)):
        t, p, bits = float(rules[k, 0]), float(rules[k, 1]), float(rules[k, 2])
        errors_without = length_of_errors(problem, covered - t, positives - p)
        saving = errors + bits - errors_without
        if saving > -TOLERANCE or mostly_wrong(t, p):
            kept[k] = False
            covered, positives, errors = covered - t, positives - p, errors_without
            saved += saving
    return kept, errors - saved


@inner_kernel
def mostly_wrong(covered: float, positives: float) -> bool:
    """Return whether at least half of the samples covered are negatives."""
    return covered > 0 and 2 * positives <= covered


@inner_kernel
def subset_length(n: float, k: float, share: float) -> float:
    """Return the bits to single out k of n things, each chosen with an expected probability.

    A probability above 1, which comes from an expectation that the counts contradict, has no
    length: the result is NaN and no comparison with it holds.
    """
    if share > 1.0:
        return nan
    chosen = -k * log2(share) if share > 0.0 else 0.0
    if n == k:
        return chosen
    return chosen - (n - k) * log2(1.0 - share) if share < 1.0 else inf

"""FURIA: fuzzy rules for every class, without order and without a default."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats
from frri.learners.ripper import ripper
from frri.learners.ripper._kernels import AT_MOST, EQUAL, SortedColumns, satisfies
from frri.learners.ripper.ripper import ClassProblem, CrispTest, GrownRuleClassifier
from frri.learners.rule_limits import MeasuredRule
from frri.learners.training_table import TrainingTable
from frri.learners.validation import check_choice, random_numbers
from frri.rules import Rule
from frri.rules.matching import COVERS

# Numbers of samples.
Rows = NDArray[np.integer]

# Purities that differ by less are equal: sums of memberships are rounded.
TIE = 1e-12

FALLBACKS: dict[str, Literal["stretched", "priors"]] = {"stretch": "stretched", "priors": "priors"}


@dataclass(kw_only=True, eq=False, repr=False)
class FURIAClassifier(GrownRuleClassifier):
    """FURIA, fuzzy unordered rule induction.

    Every class gets rules of its own, learned against all other samples by the algorithm of RIPPER.
    The thresholds of the finished rules are then turned into slopes: each test may reach out as far
    as that makes the rule purer. For a new sample the rules that cover it vote by degree times
    certainty. Where none does, every rule is shortened before its first failing test and votes with
    the rest (rule stretching).

    Numeric features are compared with values seen in training (`<=` or `>=`, with a slope),
    nominal ones (columns of text in a data frame) are tested for one value and stay crisp. A test
    of a missing value fails.

    Samples are drawn at random to grow and to prune rules, and their weights count, as in
    `RIPPERClassifier`. Time grows a little faster than the number of samples.

    Parameters
    ----------
    {folds, min_weight, optimizations}
    t_norm : {"product", "minimum"}, default="product"
        T-norm that combines the memberships of a rule's tests.
    fallback : {"stretch", "priors"}, default="stretch"
        Decision for a sample that no rule covers: by rule stretching, or the most frequent class.
    {max_rules, max_conditions, min_support, class_weight, missing}
    random_state : int, RandomState or None, default=None
        Random seed of the division of samples.
    {calibrate, decision, n_jobs, verbose}
    uncovered : {"stretch", "priors"}
        Former name of `fallback`; removed in 0.4.

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        The rules; the weight of a rule is its certainty factor. A rule without conditions has
        weight 0: it does not vote.
    {n_features_in_, feature_names_in_}

    References
    ----------
    J. Hühn, E. Hüllermeier, "FURIA: an algorithm for unordered fuzzy rule induction", Data Mining
    and Knowledge Discovery 19, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> furia = FURIAClassifier(random_state=0).fit(X, y)
    >>> from frri.rules.text import rule_text
    >>> print(rule_text(furia.ruleset_, furia.ruleset_[0])[:57])
    IF petal length (cm) <= 1.9 (partly to 3) THEN target = 0
    >>> furia.predict(X[:2])
    array([0, 0])
    """

    t_norm: Literal["product", "minimum"] = "product"
    fallback: Literal["stretch", "priors"] = "stretch"
    uncovered: str = "deprecated"

    keeps_hopeless = True

    def _learn(self, table: TrainingTable) -> None:
        table = self._with_copies(table)
        meaning: dict[str, Any] = {"t_norm": self.t_norm, "fallback": FALLBACKS[self._fallback()]}
        made = partial(self._measured, table, combination="sum", **meaning)
        self.ruleset_ = self._within_limits(list(self._fuzzy_rules(table)), made, table)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("t_norm", self.t_norm, ("product", "minimum"))
        if self.uncovered != "deprecated":
            message = "The parameter uncovered is now called fallback and will be removed in 0.4."
            warnings.warn(message, FutureWarning, stacklevel=3)
            check_choice("uncovered", self.uncovered, tuple(FALLBACKS))
        check_choice("fallback", self._fallback(), tuple(FALLBACKS))

    def _fallback(self) -> str:
        return self.fallback if self.uncovered == "deprecated" else self.uncovered

    def _fuzzy_rules(self, table: TrainingTable) -> Iterator[MeasuredRule]:
        """Find the rules of every class against all other samples, and what they cover."""
        columns, random = SortedColumns.of(table), random_numbers(self.random_state)
        everything = np.ones(len(table.values), dtype=np.bool_)
        for own, label in enumerate(table.labels):
            false_share = table.class_counts[own] / columns.weights.sum()
            problem = ClassProblem(self, columns, own, everything, false_share, random)
            with self._step(f"rules for {label!r}"):
                rules = problem.rules(self.optimizations)
            for crisp in rules:
                tests = ripper.without_redundant(crisp.tests)
                supports = widen(columns, problem.positive, tests)
                degrees = prefix_degrees(columns.values, tests, supports, self.t_norm)
                factors = certainties(degrees, problem.positive, columns.weights)
                ends = zip(tests, supports.tolist(), strict=True)
                conditions = tuple(test.condition(table, end) for test, end in ends)
                # Where no rule covers a sample, the first k of m tests vote with their certainty
                # times (k + 1) / (m + 2), and no test does not vote.
                m, votes = len(tests), enumerate(factors)
                parts = tuple((k + 1) / (m + 2) * factor if k else 0.0 for k, factor in votes)
                weight = factors[-1] if tests else 0.0
                rule = Rule(conditions, label, weight, partial_weights=parts if tests else ())
                yield rule, np.flatnonzero(degrees[-1] * rule.weight > COVERS)


def widen(columns: SortedColumns, positive: Flags, tests: Sequence[CrispTest]) -> Floats:
    """Return the end of the support of each test of a rule, NaN for a test that stays crisp.

    In each round every test that is not settled yet proposes the support of greatest purity, given
    the others as they are; the purest proposal is adopted. This ends when the rule was purer
    before. Then every test that is still crisp reaches to the nearest value outside.
    """
    outside = [_beyond(columns, test) for test in tests]
    # Number of tests that each sample fails.
    failed = np.zeros(columns.values.shape[1], dtype=np.int32)
    for column, comparison, value in tests:
        failed += ~satisfies(columns.values[column], comparison, value)
    supports, left, purest = np.full(len(tests), np.nan), list(range(len(tests))), 0.0
    while left:
        found = [purest_support(columns, tests[k], outside[k], failed, positive) for k in left]
        best = max(purity for purity, _ in found)
        place = next(i for i, (purity, _) in enumerate(found) if purity >= best - TIE)
        (purity, end), k = found[place], left.pop(place)
        if purity < purest - TIE:
            break  # the other tests have no better proposal, and nothing has changed for them
        if not isnan(end):
            purest, supports[k] = purity, end
            column, core = columns.values[tests[k].column], tests[k].value
            failed -= (column > min(core, end)) & (column < max(core, end))
    for k, (test, rows) in enumerate(zip(tests, outside, strict=True)):
        if isnan(supports[k]) and len(rows):
            supports[k] = columns.values[test.column, rows[0]]
    return supports


def _beyond(columns: SortedColumns, test: CrispTest) -> Rows:
    """Return the samples with known values that fail a test `<=` or `>=`, the nearest first."""
    column = columns.values[test.column]
    order: Rows = columns.order[test.column]
    if test.comparison == EQUAL:
        return order[:0]
    n_inside = np.count_nonzero(satisfies(column, test.comparison, test.value))
    n_known = len(column) - np.count_nonzero(np.isnan(column))
    if test.comparison == AT_MOST:
        return order[n_inside:n_known]
    return order[: n_known - n_inside][::-1]


def purest_support(
    columns: SortedColumns, test: CrispTest, outward: Rows, failed: Rows, positive: Flags
) -> tuple[float, float]:
    """Return the greatest purity that a support gives a test, and the widest such support.

    Purity is the fraction of positives in the sum of the test's memberships, over the samples that
    fail no other test. Candidates are their values among the samples `outward` of the test, the
    nearest first; without any the result is 0 and NaN. `failed` is the number of tests of the rule
    that each sample fails.
    """
    outward = outward[failed[outward] == 1]
    if not len(outward):
        return 0.0, np.nan
    inside, weights = failed == 0, columns.weights
    values, weight = columns.values[test.column, outward], weights[outward]
    own = positive[outward] * weight
    new = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    # A sample at distance d has membership 1 - d / reach while it is within: sums of d are enough.
    distance = np.abs(values - test.value)
    reach = distance[new]
    before = np.zeros((4, len(outward) + 1))
    sums = [weight, weight * distance, own, own * distance]
    np.cumsum(sums, axis=1, out=before[:, 1:])
    within, lost, p_within, p_lost = before[:, new]
    total = weights[inside].sum() + within - lost / reach
    p_total = weights[inside & positive].sum() + p_within - p_lost / reach
    purity = np.divide(p_total, total, out=np.zeros(len(new)), where=total > 0.0)
    best = np.flatnonzero(purity >= purity.max() - TIE)[-1]
    return float(purity[best]), float(values[new[best]])


def prefix_degrees(
    values: Floats, tests: Sequence[CrispTest], supports: Floats, t_norm: str
) -> Floats:
    """Return the degrees to which samples satisfy the first 0, 1, ..., all tests of a rule."""
    join = np.multiply if t_norm == "product" else np.minimum
    degrees = np.ones((len(tests) + 1, values.shape[1]))
    for k, ((column, comparison, value), end) in enumerate(zip(tests, supports, strict=True)):
        x = values[column]
        membership = satisfies(x, comparison, value).astype(np.float64)
        if not isnan(end):
            fading = (x > min(value, end)) & (x < max(value, end))
            np.divide(end - x, end - value, out=membership, where=fading)
        join(degrees[k], membership, out=degrees[k + 1])
    return degrees


def certainties(degrees: Floats, positive: Flags, weights: Floats) -> list[float]:
    """Return the certainty factors of a rule's first 0, 1, ..., all tests.

    The fraction of positives in the sum of degrees, with two virtual samples added that are
    positive as often as those of the table, so that a rule that covers little has little weight.
    """
    own = np.flatnonzero(positive)
    expected = 2.0 * weights[own].sum() / weights.sum()
    counted = degrees * weights
    factors = (expected + counted.take(own, axis=1).sum(axis=1)) / (2.0 + counted.sum(axis=1))
    return list(factors.tolist())

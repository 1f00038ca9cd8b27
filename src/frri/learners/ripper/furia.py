"""FURIA: fuzzy rules for every class, without order and without a default."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any, Literal

import numpy as np

from frri._util import Flags, Floats
from frri.learners.ripper import _support_kernels as support_kernels
from frri.learners.ripper import ripper
from frri.learners.ripper._kernels import SortedColumns, satisfies
from frri.learners.ripper.ripper import ClassProblem, CrispTest, GrownRuleClassifier
from frri.learners.rule_limits import MeasuredRule
from frri.learners.training_table import TrainingTable
from frri.learners.validation import check_choice, random_numbers
from frri.rules import Rule
from frri.rules.matching import COVERS

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
        kernels = ripper.kernels_for(columns, support_kernels)
        for own, label in enumerate(table.labels):
            false_share = table.class_counts[own] / columns.weights.sum()
            problem = ClassProblem(self, columns, own, everything, false_share, random)
            with self._step(f"rules for {label!r}"):
                rules = problem.rules(self.optimizations)
            for rule in rules:
                tests = ripper.without_redundant(rule.tests)
                ends = kernels.widen(columns, problem.positive, np.array(tests).reshape(-1, 3))
                slopes = list(zip(tests, ends.tolist(), strict=True))
                degrees = prefix_degrees(columns.values, slopes, self.t_norm)
                factors = certainties(degrees, problem.positive, columns.weights)
                conditions = tuple(test.condition(table, end) for test, end in slopes)
                # Where no rule covers a sample, the first k of m tests vote with their certainty
                # times (k + 1) / (m + 2), and no test does not vote.
                m, votes = len(tests), enumerate(factors)
                parts = tuple((k + 1) / (m + 2) * factor if k else 0.0 for k, factor in votes)
                weight = factors[-1] if tests else 0.0
                made = Rule(conditions, label, weight, partial_weights=parts if tests else ())
                yield made, np.flatnonzero(degrees[-1] * weight > COVERS)


def prefix_degrees(
    values: Floats, slopes: Sequence[tuple[CrispTest, float]], t_norm: str
) -> Floats:
    """Return the degrees to which samples satisfy the first 0, 1, ..., all tests of a rule.

    Each test comes with the end of its support, NaN if it is crisp.
    """
    join = np.multiply if t_norm == "product" else np.minimum
    degrees = np.ones((len(slopes) + 1, values.shape[1]))
    for k, ((column, comparison, value), end) in enumerate(slopes):
        x = values[column]
        membership = satisfies(x, comparison, value)
        if not isnan(end):
            with np.errstate(over="ignore"):  # a very steep slope
                # A missing value has the membership 0, to which fmax turns NaN.
                membership = np.fmin(np.fmax((end - x) / (end - value), 0.0), 1.0)
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

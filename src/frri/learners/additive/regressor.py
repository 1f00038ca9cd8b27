"""Additive rules for regression: a dozen soft rules whose contributions are added to a base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from frri._reproducible import snap, total
from frri.learners.additive.blocks import SampleBlocks, SummingBlock
from frri.learners.additive.classifier import AdditiveRules, upward_sides
from frri.learners.additive.columns import SoftColumns
from frri.learners.additive.search import StagewiseInduction
from frri.learners.base import RuleRegressor, standardised
from frri.learners.size_cv import choose_size
from frri.rules import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from frri.learners.training_table import NumberTable

# Half-width of a ramp, in standard deviations of its feature.
WIDTH = 1.0
# Penalty of a squared contribution, in standard deviations of the target.
PENALTY = 4.0
# The usual number of rules, and the gain in half the squared error that each must promise, in
# variances of the residuals.
RULES = 14
LEAST_GAIN = 0.5
# Additions per rule allowed: a steep function takes a few steep rules, which are found again until
# the penalty no longer holds them back.
ADDITIONS = 8
# Minimum and maximum number of rules of a path.
PATH = (2, 42)


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveRulesRegressor(AdditiveRules, RuleRegressor):
    """Additive rules for regression: a base value plus the contributions of a dozen soft rules.

    A rule is a box with most sides open and soft edges: "at most t" holds fully up to one standard
    deviation of the feature below t and fades out linearly until one above it. The degree of a rule
    is the product of its conditions, two of which may bound the same side of a feature: then the
    rule fades along a curve. It adds its number times its degree to the base value.

    Rules are added one at a time, as in `AdditiveRulesClassifier`, by the gain on the squared error
    G^2 / (2 (H + lambda)), H about its mean because the base is fitted along; then all numbers and
    the base are fitted again by ridge regression (lambda = 4, target in standard deviations). There
    is no randomness.

    Parameters
    ----------
    max_rules : int, "auto" or "1se", default="auto"
        Maximum number of rules; "auto" is 14. A rule must promise to lower the squared error by the
        variance of the residuals; by less in proportion where more rules than by default are
        allowed. "1se" is the smallest number whose R2 in five-fold cross-validation is within one
        standard error of the best.
    max_conditions : int, default=4
        Maximum number of conditions of a rule.
    min_support : float, default=0.0
        Fraction of all samples that a rule must cover, degrees added up, to be added.
    {monotonic_cst}
    {refine}
    calibration_fraction : float, default=0.0
        Fraction of the samples, drawn once, that no rules are learned from: errors there make
        `predict_interval` hold its level.
    {missing}
    n_jobs : int, optional
        Threads for large tables and for prediction; all cores by default.
    {verbose}

    Attributes
    ----------
    ruleset_ : RuleSet
        Rules in the order in which they were added, with the semantics "added-contributions". The
        consequent of a rule is the number that it adds, in the units of the target.
    {path_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    frri.AdditiveRulesClassifier : The same for classes.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> additive = AdditiveRulesRegressor(max_rules=4).fit(X, y)
    >>> len(additive.ruleset_)
    4
    >>> additive.score(X, y) > 0.4
    True
    """

    calibration_fraction: float = 0.0

    def _learn_numbers(self, table: NumberTable) -> None:
        size = choose_size(self, table, RULES, *PATH)
        with self._step("rules one after another"):
            (self.ruleset_,) = self._rulesets(table, [size])

    def _rulesets(self, table: NumberTable, sizes: Sequence[int]) -> Iterator[RuleSet]:
        """Yield a rule set for each of the ascending maximum sizes; each extends the one before."""
        weights, weight = table.all_weights, float(total(table.all_weights))
        middle, unit, scaled = standardised(table.numbers, weights)
        columns = SoftColumns.of(table.values, table.attributes, weights, WIDTH)
        upward = upward_sides(self.monotonic_cst, table.attributes)
        voices = (0,) if upward is None else (1, -1)
        induction = StagewiseInduction(
            columns=columns,
            blocks=SampleBlocks.of(
                SummingBlock, columns, self.n_jobs, weights=weights, target=scaled
            ),
            voices=voices,
            penalty=PENALTY,
            weight=weight,
            usual=RULES,
            least_gain=LEAST_GAIN,
            max_conditions=self.max_conditions,
            refine=self.refine,
            additions=ADDITIONS,
            least_cover=dict.fromkeys(voices, self.min_support * weight),
            allowed=None if upward is None else {1: upward, -1: upward[:, ::-1]},
            signed=upward is None,
            squared=True,
        )
        for model in induction.path(sizes):
            contributions = unit * snap(model.weights)
            yield RuleSet(
                rules=tuple(
                    Rule(columns.conditions(found.tests, table.attributes), float(number))
                    for found, number in zip(model.rules, contributions, strict=True)
                ),
                attributes=table.attributes,
                target=table.target,
                semantics="added-contributions",
                t_norm="product",
                clip=True,
                missing=self._missing_in_rules,
                base=(float(middle + unit * snap(model.base[0])),),
                about=self._about(table),
            )

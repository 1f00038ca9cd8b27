"""Additive rules for regression and ordinal classification: contributions are added to a base.

For ordinal classification the sum is a score that is cut into classes.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frri._reproducible import exp, log, snap, total
from frri._util import Floats, Positions
from frri.learners.additive.blocks import SampleBlocks, SummingBlock
from frri.learners.additive.classifier import MOST_RULES, AdditiveRules, upward_sides
from frri.learners.additive.columns import SoftColumns
from frri.learners.additive.search import PathsOfFolds, StagewiseInduction
from frri.learners.classification import OrderedRuleClassifier
from frri.learners.regression import RuleRegressor, standardised
from frri.learners.size_cv import Folds, SizePath, searched_samples
from frri.learners.training_table import TrainingTable
from frri.learners.validation import directions, monotone_claim
from frri.rules import Rule, RuleSet

# Half-width of a ramp, in standard deviations of its feature.
WIDTH = 1.0
# Penalty of a squared contribution, in standard deviations of the target.
PENALTY = 4.0
# Number of rules where there are too few samples to choose it, and the gain in half the squared
# error that each must promise, in variances of the residuals.
RULES = 14
LEAST_GAIN = 0.2
# How often rules may be added again: a steep function takes a few steep rules, which are found
# again until the penalty no longer holds them back.
REPEATS = 100
# Scores that differ by less are the same: sums are rounded.
SAME = 1e-9
# Distance beyond all scores of a cut that no sample, or every sample, passes.
BEYOND = 1.0
# Costs that differ by less are equal, as fractions of the total weight.
TIE = 1e-12
# Slopes that are tried, times the usual one of a logistic distribution with the residuals' spread.
SLOPES = np.sqrt(np.sqrt(np.ldexp(1.0, np.arange(-8, 9))))
USUAL_SLOPE = np.pi / np.sqrt(3.0)
# Minimum spread of residuals, in classes.
LEAST_SPREAD = 0.1


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveRulesRegressor(AdditiveRules, RuleRegressor):
    """Additive rules for regression: a base value plus the contributions of a few soft rules.

    A rule is a box with most sides open and soft edges: "at most t" holds fully up to one standard
    deviation of the feature below t and fades out linearly until one above it, or less so that both
    ends lie within the range of the values. The degree of a rule is the product of its conditions.
    It adds its number times its degree to the base value.

    Rules are added one at a time, as in `AdditiveRulesClassifier`, by the gain on the squared error
    G^2 / (2 (H + lambda)), H about its mean because the base is fitted along; then all numbers and
    the base are fitted again by ridge regression (lambda = 4, target in standard deviations).

    The time for a rule grows about linearly with samples and features. With more than 32,768
    samples, conditions are searched for in about that many. With ``max_rules="auto"`` `fit` learns
    up to five more paths of rules, on at most 10,000 samples; with a number it fits once. Only
    `calibration_fraction` is random (fixed seed). References: see `AdditiveRulesClassifier`.

    Parameters
    ----------
    max_rules : int or "auto", default="auto"
        Maximum number of rules; "auto" is the smallest number, up to 40, whose R² on held-out
        samples differs from the best by at most half a standard error of the difference (14 with
        fewer than 20 distinct samples). A number gives the first rules of the same path. A rule
        must promise to lower the squared error by 0.4 variances of the residuals.
    max_conditions, max_categories, min_support
        See `AdditiveRulesClassifier`.
    {monotonic_cst, calibration_fraction, missing, n_jobs, verbose}

    Attributes
    ----------
    ruleset_ : RuleSet
        Rules in the order in which they were added, with the semantics "added-contributions". The
        consequent of a rule is the number that it adds, in the units of the target.
    {path_, n_features_in_, feature_names_in_}

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

    def _learn(self, table: TrainingTable) -> None:
        folds, most = Folds(table), RULES if self.max_rules == "auto" else int(self.max_rules)
        self.path_ = None
        if self.max_rules == "auto" and folds.suffice:
            with self._step("cross-validation"):
                self.path_ = self._cross_validate(folds)
            most = self.path_.chosen
        weights = table.all_weights
        middle, unit, scaled = standardised(table.numbers, weights)
        columns = SoftColumns.of(table.values, table.attributes, weights, WIDTH)
        rows, own = searched_samples(table, weights)
        induction = self._induction(table, columns.part(rows), own, scaled[rows])
        with self._step("rules one after another"):
            *_, model = induction.path(most)
            model = induction.merge_similar(model)
            model = self._induction(table, columns, weights, scaled).finish(model)
        numbers = unit * snap(model.weights[0])
        rules = [
            Rule(columns.conditions(found.tests, table.attributes), float(number))
            for found, number in zip(model.rules, numbers, strict=False)
        ]
        base = (float(middle + numbers[-1]),)
        meaning: dict[str, Any] = {"semantics": "added-contributions", "t_norm": "product"}
        self.ruleset_ = self._build_ruleset(table, rules, base=base, clip=True, **meaning)

    def _cross_validate(self, folds: Folds) -> SizePath:
        """Measure the R² of numbers of rules on samples that the rules were not fitted to."""
        table, weights = folds.table, folds.weights
        _, _, scaled = standardised(table.numbers, weights)
        columns = SoftColumns.of(table.values, table.attributes, weights, WIDTH)
        inductions = [
            self._induction(table, columns, np.where(mask, 0.0, weights), scaled)
            for mask in folds.held_out
        ]
        low, high = scaled.min(), scaled.max()

        def explained(scores: Floats) -> Floats:
            """Return 1 minus the squared error in variances; its mean is R²."""
            return np.asarray(1.0 - (np.clip(scores[0], low, high) - scaled) ** 2)

        return PathsOfFolds(folds, inductions, MOST_RULES, explained, weights).choose("R2", 1)

    def _induction(
        self, table: TrainingTable, columns: SoftColumns, weights: Floats, target: Floats
    ) -> StagewiseInduction:
        """Return the search for rules; samples of weight 0 have no influence."""
        weight = float(total(weights))
        upward = upward_sides(self.monotonic_cst, table.attributes)
        return StagewiseInduction(
            columns=columns,
            blocks=SampleBlocks.of(
                SummingBlock, columns, self.n_jobs, weights=weights, target=target
            ),
            n_scores=1,
            penalty=PENALTY,
            weight=weight,
            least_gain=LEAST_GAIN,
            max_conditions=self.max_conditions,
            max_categories=self.max_categories,
            repeats=REPEATS,
            least_cover=self.min_support * weight,
            allowed=None if upward is None else {1: upward, -1: upward[:, ::-1]},
            squared=True,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveRulesOrdinalClassifier(AdditiveRules, OrderedRuleClassifier):
    """Additive rules for ordinal classification: a few soft rules add up to a score that is cut.

    The rules are those of `AdditiveRulesRegressor`, learned from the numbers of the classes: 0 for
    the lowest, 1 for the next, and so on. Their sum is a score, and between two classes there is a
    cut. The cuts minimize the mean absolute error of the training samples, in classes. The distance
    of a score from a cut, times a slope that makes the training classes most probable, is the log
    odds of at least the class above the cut (a proportional odds model). The predicted class is the
    last one that has, like all below it, a probability above one half.

    Time, refits (none with a number as `max_rules`) and references are those of
    `AdditiveRulesRegressor`. There is no randomness.

    Parameters
    ----------
    {class_order, monotonic_cst}
    max_rules : int or "auto", default="auto"
        Maximum number of rules, as in `AdditiveRulesRegressor`; R² is that of the scores.
    max_conditions, max_categories, min_support
        See `AdditiveRulesClassifier`.
    {missing, n_jobs, verbose}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, the lowest first.
    ruleset_ : RuleSet
        Rules in the order in which they were added, with the semantics "cumulative-logits". The
        consequent of a rule is what it adds to the log odds of every class, which start from the
        base.
    {path_, n_features_in_, feature_names_in_}

    See Also
    --------
    frri.FRRIOrdinalClassifier : Rules "at least" and "at most" a class, a minimum-size set.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> additive = AdditiveRulesOrdinalClassifier(max_rules=3).fit(X, y)
    >>> print(additive.ruleset_)
    IF petal width (cm) <= 0.4 (partly to 1.9) THEN target -15.53   [covers 116 of 150, median 1]
    IF petal length (cm) <= 4.6 (partly to 6.9) AND petal width (cm) <= 1.6 (partly to 2.5) AND ...
    IF petal length (cm) <= 2 (partly to 5.5) THEN target -13.93   [covers 122 of 150, median 1]
    BASE target at least 1: +28.38, at least 2: +11.20
    >>> additive.score(X, y) > 0.9
    True
    """

    class_order: Any = None

    def _learn(self, table: TrainingTable) -> None:
        parameters, numbers = self.get_params(), table.classes.astype(np.float64)
        del parameters["class_order"]
        regressor = AdditiveRulesRegressor(**parameters)
        one_class = replace(table, classes=np.zeros_like(table.classes), labels=(), numbers=numbers)
        regressor._learn(one_class)  # noqa: SLF001 - the two are one thing
        self.path_ = regressor.path_
        self.ruleset_ = self._with_statistics(self._cut(regressor.ruleset_, table), table)

    def _cut(self, summed: RuleSet, table: TrainingTable) -> RuleSet:
        """Turn rules for scores into rules for classes."""
        weights = table.all_weights
        scores = summed.predict(table.encoded, n_jobs=self.n_jobs)
        cuts = fit_cuts(scores, table.classes, weights, len(table.labels))
        slope = fit_slope(scores, table.classes, weights, cuts)
        claim = monotone_claim(directions(self.monotonic_cst, table.attributes), table.attributes)
        rules = (
            replace(rule, consequent=float(snap(slope * float(rule.consequent)))) for rule in summed
        )
        semantics = replace(summed.semantics, name="cumulative-logits")
        base = tuple(snap(slope * (summed.base[0] - cuts)).tolist())
        about = self._about(table) | ({"monotone": claim} if claim else {})
        meaning: dict[str, Any] = {"semantics": semantics, "missing": summed.missing, "base": base}
        return self._build_ruleset(table, rules, about=about, **meaning)


def fit_cuts(scores: Floats, classes: Positions, weights: Floats, n: int) -> Floats:
    """Return the cuts between `n` ordinal classes with the least mean absolute error.

    The error of a sample is the number of cuts on whose wrong side it is, so every cut can be
    chosen by itself; and as a higher class has fewer members, the first of its best cuts is never
    lower than that of a lower one. Cuts lie halfway between neighboring scores.

    Returns
    -------
    ndarray of shape (n - 1,)
        Not falling. A sample passes a cut if its score is above it.

    Examples
    --------
    >>> fit_cuts(np.array([0.0, 1.0, 1.5, 3.0]), np.array([0, 1, 1, 2]), np.ones(4), 3)
    array([0.5 , 2.25])
    """
    order = scores.argsort(kind="stable")
    ranked = scores[order]
    starts = np.concatenate(([True], np.diff(ranked) > SAME))
    low, high = ranked[starts], ranked[np.append(starts[1:], True)]
    places = np.concatenate(
        ([low[0] - BEYOND], high[:-1] + (low[1:] - high[:-1]) / 2.0, [high[-1] + BEYOND])
    )
    cuts = np.empty(n - 1)
    for t in range(1, n):
        # Cost of a cut that moves past a sample of at least this class, or gain past another.
        lost = np.where(classes[order] >= t, weights[order], -weights[order])
        groups = np.bincount(np.cumsum(starts) - 1, lost, len(low))
        cost = np.concatenate(([0.0], np.cumsum(groups)))
        cuts[t - 1] = places[(cost <= cost.min() + TIE * total(weights)).argmax()]
    return np.maximum.accumulate(cuts)


def fit_slope(scores: Floats, classes: Positions, weights: Floats, cuts: Floats) -> float:
    """Return the log odds per unit of the score that make the classes most probable."""
    spread = float(np.sqrt(total((classes - scores) ** 2 * weights) / total(weights)))
    best, found = np.inf, 1.0
    for slope in SLOPES * (USUAL_SLOPE / max(spread, LEAST_SPREAD)):
        reached = 1.0 / (1.0 + exp(np.minimum(slope * (cuts - scores[:, None]), 700.0)))
        reached = np.pad(reached, ((0, 0), (1, 1)), constant_values=((0, 0), (1.0, 0.0)))
        rows = np.arange(len(scores))
        shares = reached[rows, classes] - reached[rows, classes + 1]
        loss = -float(total(weights * log(np.maximum(shares, 1e-300))))
        if loss < best - SAME * total(weights):
            best, found = loss, float(slope)
    return found

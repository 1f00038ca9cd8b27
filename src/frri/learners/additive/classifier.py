"""Additive rules for classes: a dozen soft rules whose votes are summed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from frri._reproducible import exp, product, solve, total
from frri._util import Flags, Floats, Positions
from frri.learners.additive.blocks import SampleBlocks, VotingBlock, vote_curvature
from frri.learners.additive.columns import AT_LEAST, AT_MOST, SoftColumns
from frri.learners.additive.search import BASE_PENALTY, StagewiseInduction
from frri.learners.base import RuleClassifier, RuleLearner
from frri.learners.calibration import HeldOut
from frri.learners.size_cv import choose_size
from frri.learners.training_table import TrainingTable, check_class_weight, class_factors
from frri.learners.validation import check_count, check_share, directions
from frri.rules import Rule, RuleSet
from frri.table import Attribute, EncodedTable

# Half-width of a ramp, in standard deviations of its feature.
WIDTH = 0.48
# Penalty of a squared vote, divided by the number of classes.
PENALTY = 8.0
# In a table of fewer samples than this a rule may promise less, in proportion.
SMALL = 50.0
# Parameters that count for a rule in calibration: its vote, and what its search was free to choose.
PARAMETERS = 6.0
# Meaning of voting rules.
VOTES: dict[str, Any] = {"semantics": "softmax-votes", "t_norm": "product", "clip": True}
# Largest number of rules or conditions allowed.
MOST = 10_000


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveRules(RuleLearner):
    """Base of the estimators that add rules one at a time."""

    max_rules: int | Literal["auto", "1se"] = "auto"
    max_conditions: int = 4
    min_support: float = 0.0
    monotonic_cst: Mapping[str, int] | None = None
    refine: int = 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_size(self.max_rules, self.max_conditions, ["auto", "1se"])
        check_count("refine", self.refine, 0)
        check_share("min_support", self.min_support)

    def _name(self) -> str:
        return "Additive rules"


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveRulesClassifier(AdditiveRules, RuleClassifier):
    """Additive rules: a dozen soft rules that vote, added one at a time.

    A rule is a box with most sides open and soft edges: "at most t" holds fully up to a little
    below t and fades out linearly a little above it, by 0.48 standard deviations of the feature
    each way. The degree of a rule is the product of its conditions. A rule votes for one class by
    its degree times its weight; the votes for a class are added to its base score, and a softmax of
    the sums gives the probabilities.

    Rules are added one at a time. For every class a rule is grown from nothing by the condition
    that gains most; then each condition is removed and the best one put in its place. The gain is
    that of a Newton step on the logarithmic loss, G^2 / (2 (H + lambda)); a condition must multiply
    it by 1.15, and the best rule of all classes is added. Then the votes of all rules and the bases
    are fitted together again: the minimum of the loss plus lambda / 2 times the squared votes, with
    votes of at least 0 and lambda = 8 / number of classes. There is no randomness.

    At the end all votes and bases are multiplied by one number, from 1/2 to 4 (temperature
    scaling). It changes no decision and has the least logarithmic loss on the training samples,
    the scores of each without the influence of the sample on the votes.

    Thresholds lie halfway between neighboring values, at most 64 for a feature. A nominal feature
    (a column of text in a data frame) is tested for a set of categories.

    A table is split into blocks of 16,384 samples, whose sums are added in their order: the rules
    do not depend on the number of threads.

    Parameters
    ----------
    max_rules : int, "auto" or "1se", default="auto"
        Maximum number of rules; "auto" is 2 K + 6 for K classes. A rule must promise to lower the
        loss by 1; by less in proportion where more rules than by default are allowed, and with
        fewer than 50 samples. "1se" is the smallest number whose balanced accuracy in five-fold
        cross-validation is within one standard error of the best.
    max_conditions : int, default=4
        Maximum number of conditions of a rule.
    min_support : float, default=0.0
        Fraction of its class that a rule must cover, degrees added up, to be added.
    class_weight : "balanced", None or mapping, default="balanced"
        Weights of classes in the loss: the same total weight for every class, the same weight for
        every sample, or as in the mapping (1 for a class that it lacks). Imputed values, thresholds
        and statistics use sample weights only, so {c: 3} differs from a sample weight of 3.
    monotonic_cst : mapping of str to {1, -1}, optional
        Features with which the probability of the second class (in the order of `classes_`) must
        not fall (1) or not rise (-1). Rules for that class then use only "at least", rules for the
        other only "at most" (or the other way round), so that no sample can be an exception.
        Only with two classes.
    {refine}
    {missing}
    calibrate : bool, default=True
        If True, probabilities are calibrated on at most 1,000 distinct samples, without a further
        fit. If False, they are shrunk towards class frequencies by a fixed amount. Predicted
        classes are the same.
    n_jobs : int, optional
        Threads for large tables and for prediction; all cores by default.
    {verbose}

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        Rules in the order in which they were added, with the semantics "softmax-votes". The weight
        of a rule is its vote.
    {path_}
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    frri.AdditiveRulesRegressor : The same for regression.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> additive = AdditiveRulesClassifier(max_rules=4).fit(X, y)
    >>> len(additive.ruleset_)
    4
    >>> additive.predict(X[:2])
    array([0, 0])
    """

    _class_weight_of_objects = False

    class_weight: Literal["balanced"] | Mapping[Any, float] | None = "balanced"
    calibrate: bool = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self.class_weight)

    def _learn(self, table: TrainingTable) -> None:
        n_classes = len(table.labels)
        size = choose_size(self, table, 2 * n_classes + 6, n_classes, 8 * n_classes + 10)
        with self._step("rules one after another"):
            (ruleset,) = self._rulesets(table, [size])
        weighted = replace(table, weights=table.all_weights)
        self.ruleset_ = self._with_statistics(ruleset, weighted)

    def _rulesets(self, table: TrainingTable, sizes: Sequence[int]) -> Iterator[RuleSet]:
        """Yield a rule set for each of the ascending maximum sizes; each extends the one before."""
        for rules, base in self.induce(table, table.all_weights, sizes):
            yield self._made(table, rules, base=tuple(base.tolist()), **VOTES)

    def induce(
        self, table: TrainingTable, weights: Floats, sizes: Sequence[int]
    ) -> Iterator[tuple[tuple[Rule, ...], Floats]]:
        """Yield the rules of a checked training table and the base of every class, by size."""
        n_classes = len(table.labels)
        counts = np.bincount(table.classes, weights, n_classes).astype(np.float64)
        factors = class_factors(self.class_weight, table.labels, counts, table.target)
        columns = SoftColumns.of(table.values, table.attributes, weights, WIDTH)
        loss_weights = weights * factors[table.classes]
        blocks = self._blocks(
            columns, weights=weights, classes=table.classes, loss_weights=loss_weights
        )
        weight = float(total(counts))
        induction = StagewiseInduction(
            columns=columns,
            blocks=blocks,
            voices=tuple(range(n_classes)),
            penalty=PENALTY / n_classes,
            weight=weight,
            usual=2 * n_classes + 6,
            least_gain=min(1.0, weight / SMALL),
            max_conditions=self.max_conditions,
            refine=self.refine,
            least_cover=dict(enumerate((self.min_support * counts).tolist())),
            allowed=self._allowed(table),
        )
        for model in induction.path(sizes):
            rules = (
                Rule(
                    conditions=columns.conditions(found.tests, table.attributes),
                    consequent=table.labels[found.voice],
                    weight=float(vote),
                )
                for found, vote in zip(model.rules, model.weights, strict=True)
            )
            yield tuple(rules), model.base

    def _blocks(self, columns: SoftColumns, **arrays: Any) -> SampleBlocks:
        """Split the table into blocks."""
        return SampleBlocks.of(VotingBlock, columns, self.n_jobs, **arrays)

    def _allowed(self, table: TrainingTable) -> dict[int, Flags] | None:
        """Return the sides of features that the rules of each class may use."""
        upward = upward_sides(self.monotonic_cst, table.attributes)
        if upward is None:
            return None
        if len(table.labels) > 2:
            raise ValueError(
                f"monotonic_cst states how one class gets more likely, but {table.target!r} has "
                f"{len(table.labels)} classes; leave monotonic_cst out or predict two classes."
            )
        return {0: upward[:, ::-1], 1: upward}

    def _held_out(self, table: TrainingTable, samples: HeldOut) -> tuple[Floats, Positions]:
        """Return probabilities and decisions without the influence of samples on the votes."""
        classes, sizes = table.classes[samples.rows], np.array(table.class_counts)
        factors = class_factors(self.class_weight, table.labels, sizes, table.target)
        weights = table.all_weights[samples.rows]
        scale = factors * sizes / np.bincount(classes, weights, len(sizes))
        scores = held_out_scores(
            self.ruleset_,
            table.encoded.take(samples.rows),
            classes,
            weights * scale[classes],
            (factors * samples.weight)[classes],
        )
        return softmax(scores).T, scores.argmax(axis=0)


def check_size(max_rules: Any, max_conditions: Any, words: Sequence[str]) -> None:
    """Raise an error for sizes that make no sense.

    Examples
    --------
    >>> check_size("all", 4, ["auto"])
    Traceback (most recent call last):
        ...
    ValueError: max_rules must be a whole number from 1 on or "auto", got 'all'.
    """
    check_count("max_rules", max_rules, 1, MOST, words)
    check_count("max_conditions", max_conditions, 1, MOST)


def upward_sides(monotonic_cst: Any, attributes: Sequence[Attribute]) -> Flags | None:
    """Return the sides of features that a rule that adds may use; None without any restriction.

    Examples
    --------
    >>> from frri.table import Attribute
    >>> upward_sides({"age": 1}, [Attribute("age"), Attribute("dose")])
    array([[False,  True],
           [ True,  True]])
    """
    declared = directions(monotonic_cst, attributes)
    if not declared.any():
        return None
    allowed = np.ones((len(attributes), 2), dtype=np.bool_)
    allowed[declared > 0, AT_MOST] = False
    allowed[declared < 0, AT_LEAST] = False
    return allowed


def held_out_scores(
    ruleset: RuleSet, table: EncodedTable, classes: Positions, weights: Floats, units: Floats
) -> Floats:
    """Return the scores of samples without the influence of each sample on the votes.

    Without a sample the votes would differ by about H^-1 g, where g is the gradient of its loss and
    H the second derivatives of the loss of all samples. The search for conditions has fitted the
    sample, too, so that this counts `PARAMETERS` times. `weights` are those in the loss of all
    samples, `units` those of the samples themselves.
    """
    n_classes, n_samples = len(ruleset.classes), len(classes)
    degrees = np.concatenate((ruleset.degrees(table).T, np.ones((n_classes, n_samples))))
    voices = np.array(
        [*(ruleset.classes.index(rule.consequent) for rule in ruleset), *range(n_classes)]
    )
    scores = ruleset.scores(table).T.copy()
    errors = softmax(scores)
    second = vote_curvature(degrees, voices, weights, errors)
    penalties = np.full(len(voices), PENALTY / n_classes)
    penalties[len(ruleset) :] = BASE_PENALTY
    errors[classes, np.arange(n_samples)] -= 1.0
    inverse = solve(second + np.diag(penalties), np.eye(len(voices)))
    change = product(inverse, degrees * (units * errors)[voices])
    np.add.at(scores, voices, PARAMETERS * degrees * change)
    return scores


def softmax(scores: Floats) -> Floats:
    """Return the probabilities of scores of shape (n_classes, n_samples)."""
    powers = exp(scores - scores.max(axis=0))
    return np.asarray(powers / powers.sum(axis=0))

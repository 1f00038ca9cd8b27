"""Additive rules for classes: a dozen soft rules whose votes are summed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from frri._reproducible import exp, log, snap, total
from frri._util import Flags, Floats
from frri.learners.additive.blocks import SampleBlocks, VotingBlock
from frri.learners.additive.columns import AT_LEAST, AT_MOST, SoftColumns
from frri.learners.additive.search import PathsOfFolds, StagewiseInduction
from frri.learners.base import RuleLearner
from frri.learners.calibration import SCALES, Calibration, least_loss
from frri.learners.classification import RuleClassifier
from frri.learners.size_cv import Folds, measure_name, searched_samples
from frri.learners.training_table import TrainingTable, check_class_weight, class_factors
from frri.learners.validation import check_count, check_share, directions
from frri.rules import Rule
from frri.rules.ruleset import decision_costs
from frri.table import Attribute

# Half-width of a ramp, in standard deviations of its feature.
WIDTH = 0.48
# Penalty of a squared vote, divided by the number of classes.
PENALTY = 8.0
# Gain that a rule must promise; less in proportion in a table of fewer samples than given.
LEAST_GAIN = 0.3
SMALL = 50.0
# Maximum number of rules that cross-validation chooses.
MOST_RULES = 40
# Meaning of voting rules.
VOTES: dict[str, Any] = {"semantics": "softmax-votes", "t_norm": "product", "clip": True}
# Largest number of rules or conditions allowed.
MOST = 10_000


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveRules(RuleLearner):
    """Base of the estimators that add rules one at a time."""

    _algorithm = "Additive rules"

    max_rules: int | Literal["auto"] = "auto"
    max_conditions: int = 4
    max_categories: int = 8
    min_support: float = 0.0
    monotonic_cst: Mapping[str, int] | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_size(self.max_rules, self.max_conditions)
        check_count("max_categories", self.max_categories, 1)
        check_share("min_support", self.min_support)


@dataclass(kw_only=True, eq=False, repr=False)
class AdditiveRulesClassifier(AdditiveRules, RuleClassifier):
    """Additive rules: a few soft rules that vote, added one at a time.

    A rule is a box with most sides open and soft edges: "at most t" holds fully up to a little
    below t and fades out linearly a little above it, by 0.48 standard deviations of the feature
    each way, or less so that both ends lie within the range of the values. The degree of a rule is
    the product of its conditions. With two classes a rule votes for one of them; with more, it
    votes for some classes and against others. Votes times degrees are added to the base scores of
    the classes, and a softmax of the sums gives the probabilities.

    Rules are added one at a time. A rule is grown from nothing by the condition that gains most;
    then each condition is removed and the best one put in its place. The gain is that of a Newton
    step on the logarithmic loss, G^2 / (2 (H + lambda)), added up over the classes; a condition
    must multiply it by 1.15. Then the votes of all rules and the bases are fitted together again:
    the minimum of the loss plus lambda / 2 times the squared votes, lambda = 8 / number of classes.
    At the end, two rules with the same sides of the same features that vote for the same class are
    merged if the loss rises by less than a rule must promise.

    The number of rules is chosen by cross-validation: the smallest number whose accuracy on
    held-out samples differs from the best by at most half a standard error of the difference.
    Held-out scores also calibrate the probabilities: all votes and bases are multiplied by one
    number (temperature scaling), and probabilities are shrunk towards the class priors. For this,
    `fit` learns up to five more paths of rules, each without one fold of at most about 10,000
    samples. It fits once with a number as `max_rules` and ``calibrate=False``. There is no
    randomness, and the order of the samples does not matter.

    Thresholds lie halfway between neighboring values, at most 64 for a feature. A nominal feature
    (a column of text in a data frame) is tested for a set of categories. Such a set must gain more
    than the logarithm of the number of sets of its size. A set of more than half of the categories
    is written as an exclusion ("not in"), which categories unseen in training satisfy.

    The time for a rule grows about linearly with samples and features. With more than 32,768
    samples, conditions are searched for in about that many, at least 1,000 of each class, and the
    votes are fitted to all. Sums are added in blocks of 16,384 samples, in a fixed order, so that
    the rules do not depend on the number of threads.

    Parameters
    ----------
    max_rules : int or "auto", default="auto"
        Maximum number of rules; "auto" chooses up to 40 by cross-validation (2 * n_classes + 6 with
        fewer than 20 distinct samples). A number gives the first rules of the same path. A rule
        must promise to lower the loss by 0.3, by less in proportion with fewer than 50 samples.
    max_conditions : int, default=4
        Maximum number of conditions of a rule.
    {max_categories}
    min_support : float, default=0.0
        Fraction of all samples that a rule must cover, degrees added up, to be added.
    class_weight : "balanced", None or mapping, default=None
        Weights of classes in the loss: the same total weight for every class, the same weight for
        every sample, or as in the mapping (1 for a class that it lacks). Usually `decision` is the
        better choice; weights help with very rare classes. Imputed values, thresholds and
        statistics use sample weights only, so {c: 3} differs from a sample weight of 3.
    {decision}
    monotonic_cst : mapping of str to {1, -1}, optional
        Features with which the probability of the second class (in the order of `classes_`) must
        not fall (1) or not rise (-1). Rules for that class then use only "at least", rules for the
        other only "at most" (or the other way round), so that no sample can be an exception.
        Only with two classes.
    {missing}
    calibrate : bool, default=True
        If True, probabilities are calibrated by held-out scores. If False, they are shrunk towards
        class frequencies by a fixed amount, and with a number as `max_rules` there is a single fit.
        Predicted classes are the same.
    {n_jobs, verbose}

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        Rules in the order in which they were added, with the semantics "softmax-votes". With two
        classes the weight of a rule is its vote; with more, a rule has `votes` for all classes.
    {path_, n_features_in_, feature_names_in_}

    See Also
    --------
    frri.AdditiveRulesRegressor : The same for regression.

    References
    ----------
    K. Dembczyński, W. Kotłowski, R. Słowiński, "ENDER: a statistical framework for boosting
    decision rules", Data Mining and Knowledge Discovery 21, 2010: a related boosting of rules.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> additive = AdditiveRulesClassifier(max_rules=4).fit(X, y)
    >>> len(additive.ruleset_)
    3
    >>> additive.predict(X[:2])
    array([0, 0])
    """

    _class_weight_of_objects = False

    class_weight: Literal["balanced"] | Mapping[Any, float] | None = None
    calibrate: bool = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self.class_weight)

    def _learn(self, table: TrainingTable) -> Calibration | None:
        folds, n_classes, is_auto = Folds(table), len(table.labels), self.max_rules == "auto"
        most = 2 * n_classes + 6 if is_auto else int(self.max_rules)
        self.path_ = calibration = None
        if folds.suffice and n_classes > 1 and (is_auto or self.calibrate):
            with self._step("cross-validation"):
                paths = self._paths_of_folds(folds, MOST_RULES if is_auto else most)
            if is_auto:
                self.path_ = paths.choose(measure_name(self), n_classes - 1)
                most = self.path_.chosen
            if self.calibrate:
                shares = softmax(class_scores(paths.scores(most))).T
                known = shares, shares.argmax(axis=1), folds.join_all(folds.table.classes)
                sizes, weights = np.array(table.class_counts), folds.join_all(folds.weights)
                surprise = float(folds.weights.mean())
                calibration = least_loss(*known, sizes, weights, surprise, SCALES)
        with self._step("rules one after another"):
            rules, base = self.induce(table, table.all_weights, most)
        ruleset = self._build_ruleset(table, rules, base=tuple(base.tolist()), **VOTES)
        weighted = replace(table, weights=table.all_weights)
        self.ruleset_ = self._with_statistics(ruleset, weighted)
        return calibration

    def induce(
        self, table: TrainingTable, weights: Floats, most: int
    ) -> tuple[tuple[Rule, ...], Floats]:
        """Return the rules of a checked training table and the base of every class."""
        if len(table.labels) == 1:
            return (), np.zeros(1)
        columns = SoftColumns.of(table.values, table.attributes, weights, WIDTH)
        rows, own = searched_samples(table, weights)
        split = partial(SampleBlocks.of, VotingBlock, n_jobs=self.n_jobs)
        searched = self._induction(table.take(rows), columns.part(rows), own, split)
        *_, model = searched.path(most)
        model = searched.merge_similar(model)
        model = self._induction(table, columns, weights, self._blocks).finish(model)
        votes = class_scores(snap(model.weights))
        rules = []
        for found, vote in zip(model.rules, votes.T, strict=False):
            conditions = columns.conditions(found.tests, table.attributes)
            label = table.labels[int(vote.argmax())]
            if len(votes) > 2:
                rules.append(Rule(conditions, label, votes=tuple(vote.tolist())))
            else:
                rules.append(Rule(conditions, label, weight=float(abs(vote[-1]))))
        return tuple(rules), votes[:, -1]

    def _paths_of_folds(self, folds: Folds, most: int) -> PathsOfFolds:
        """Learn rules without each fold, one at a time, and decide about its samples."""
        table, weights = folds.table, folds.weights
        columns = SoftColumns.of(table.values, table.attributes, weights, WIDTH)
        split = partial(SampleBlocks.of, VotingBlock, n_jobs=self.n_jobs)
        inductions = [
            self._induction(table, columns, np.where(mask, 0.0, weights), split)
            for mask in folds.held_out
        ]
        costs = decision_costs(self.decision, table.labels, table.class_counts)
        factors = np.array(costs or (1.0,) * len(table.labels))

        def is_correct(scores: Floats) -> Floats:
            decided = (class_scores(scores) + log(factors)[:, None]).argmax(axis=0)
            return np.asarray(decided == table.classes, dtype=np.float64)

        return PathsOfFolds(folds, inductions, most, is_correct, weights * factors[table.classes])

    def _induction(
        self,
        table: TrainingTable,
        columns: SoftColumns,
        weights: Floats,
        split: Callable[..., SampleBlocks],
    ) -> StagewiseInduction:
        """Return the search for rules; samples of weight 0 have no influence."""
        n_classes = len(table.labels)
        counts = np.bincount(table.classes, weights, n_classes).astype(np.float64)
        factors = class_factors(self.class_weight, table.labels, counts, table.target)
        arrays = {"classes": table.classes, "loss_weights": weights * factors[table.classes]}
        weight = float(total(counts))
        n_scores = 1 if n_classes == 2 else n_classes
        return StagewiseInduction(
            columns=columns,
            blocks=split(columns, n_scores=n_scores, weights=weights, **arrays),
            n_scores=n_scores,
            # The log odds of two classes are twice a score: the penalty of both is the same.
            penalty=PENALTY / n_classes / (2.0 if n_scores == 1 else 1.0),
            weight=weight,
            least_gain=LEAST_GAIN * min(1.0, weight / SMALL),
            max_conditions=self.max_conditions,
            max_categories=self.max_categories,
            least_cover=self.min_support * weight,
            allowed=self._allowed(table),
        )

    def _blocks(self, columns: SoftColumns, **arrays: Any) -> SampleBlocks:
        """Split the table into blocks."""
        return SampleBlocks.of(VotingBlock, columns, self.n_jobs, **arrays)

    def _allowed(self, table: TrainingTable) -> dict[int, Flags] | None:
        """Return the sides of features that rules for each class may use."""
        upward = upward_sides(self.monotonic_cst, table.attributes)
        if upward is None:
            return None
        if len(table.labels) > 2:
            raise ValueError(
                f"monotonic_cst states how one class gets more likely, but {table.target!r} has "
                f"{len(table.labels)} classes; leave monotonic_cst out or predict two classes."
            )
        return {-1: upward[:, ::-1], 1: upward}


def class_scores(scores: Floats) -> Floats:
    """Return a score for each class: with two, log odds of the second, and 0 for the first."""
    return np.concatenate([np.zeros_like(scores), scores]) if len(scores) == 1 else scores


def check_size(max_rules: Any, max_conditions: Any) -> None:
    """Raise an error for sizes that make no sense.

    Examples
    --------
    >>> check_size("all", 4)
    Traceback (most recent call last):
        ...
    ValueError: max_rules must be an integer from 1 on or "auto", got 'all'.
    """
    check_count("max_rules", max_rules, 1, MOST, ["auto"])
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


def softmax(scores: Floats) -> Floats:
    """Return the probabilities of scores of shape (n_classes, n_samples)."""
    powers = exp(scores - scores.max(axis=0))
    return np.asarray(powers / powers.sum(axis=0))

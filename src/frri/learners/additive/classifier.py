"""Additive rules for classes: a dozen soft rules whose votes are summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from frri._reproducible import exp, product, solve, total
from frri.learners.additive.blocks import SampleBlocks, VotingBlock, vote_curvature
from frri.learners.additive.columns import AT_LEAST, AT_MOST, SoftColumns
from frri.learners.additive.losses import BASE_PENALTY, SoftmaxLoss
from frri.learners.additive.search import RuleSearch, StagewiseInduction, run_all
from frri.learners.base import RuleClassifier
from frri.learners.size_cv import class_path
from frri.learners.training_table import check_class_weight, class_factors
from frri.learners.validation import check_count, check_share, directions
from frri.rules import Rule, RuleSet
from frri.rules.rule_statistics import statistics_from_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from frri._util import Flags, Floats, Positions
    from frri.learners.additive.search import AdditiveRules
    from frri.learners.calibration import HeldOut
    from frri.learners.training_table import TrainingTable
    from frri.table import Attribute, EncodedTable

# Half-width of a ramp, in standard deviations of its attribute.
WIDTH = 0.48
# Penalty of a squared vote, divided by the number of classes.
PENALTY = 8.0
# In a table of fewer objects than this a rule may promise less, in proportion.
SMALL = 50.0
# Parameters that count for a rule in calibration: its vote, and what its search was free to choose.
PARAMETERS = 6.0
# Meaning of voting rules.
VOTES: dict[str, Any] = {"semantics": "softmax-votes", "t_norm": "product", "clip": True}
# Largest number of rules or conditions allowed.
MOST = 10_000


class AdditiveRulesClassifier(RuleClassifier):
    """Additive rules: a dozen soft rules that vote, added one at a time.

    A rule is a box with most sides open and soft edges: "at most t" holds fully up to a little
    below t and fades out linearly a little above it, by 0.48 standard deviations of the attribute
    each way. The degree of a rule is the product of its conditions. A rule votes for one class by
    its degree times its weight; the votes for a class are added to its base score, and a softmax of
    the sums gives the probabilities.

    Rules are added one at a time. For every class a rule is grown from nothing by the condition
    that gains most, and polished: each condition is taken out and the best one put in its place.
    The gain is that of a Newton step on the logarithmic loss, G^2 / (2 (H + lambda)); a condition
    must multiply it by 1.15, and the best rule of all classes is added. Then the votes of all rules
    and the bases are fitted together anew: the minimum of the loss plus lambda / 2 times the
    squared votes, with votes of at least 0 and lambda = 8 / number of classes. There is no
    randomness.

    At the end all votes and bases are multiplied by one number, from 1/2 to 4 (temperature
    scaling). It changes no decision and has the least logarithmic loss on the training samples,
    the scores of each without the influence of the sample on the votes.

    Thresholds lie halfway between neighbouring values, at most 64 for an attribute. A nominal
    attribute (a column of text in a data frame) is tested for a set of categories.

    A table is split into blocks of 16,384 samples, whose sums are added in their order: the rules
    do not depend on the number of threads.

    Parameters
    ----------
    max_rules : int, "auto" or "1se", default="auto"
        The most rules; by default 2 K + 6 for K classes. A rule must promise to lower the loss by
        1; by less in proportion where more rules than by default are allowed, and with fewer than
        50 objects. "1se" takes the fewest whose balanced accuracy in five-fold cross-validation is
        within one standard error of the best.
    max_conditions : int, default=4
        The most conditions of a rule.
    min_support : float, default=0.0
        The share of its class that a rule must cover, degrees added up, to be added.
    class_weight : "balanced", None or mapping, default="balanced"
        How much the objects of a class count: all classes the same, every object the same, or as
        the mapping of classes says (1 for a class that it lacks). The loss goes by it; typical
        values, thresholds and statistics go by sample weights alone, so {c: 3} is not a sample
        weight of 3.
    monotonic_cst : mapping of str to {1, -1}, optional
        Attributes with which the probability of the second class (in the order of `classes_`) must
        not fall (1) or not rise (-1). Rules for that class then use only "at least", rules for the
        other only "at most" (or the other way round), so that no object can be an exception.
        Only with two classes.
    refine : int, default=0
        How often the rules are gone through again, each kept, dropped or replaced.
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
        The rules in the order in which they were added, with the semantics "softmax-votes". A
        rule's weight is its vote.
    path_ : SizePath or None
        With ``max_rules="1se"``: `sizes` from few rules to many, their `scores` and standard
        `errors`, and the size `chosen`; `to_frame` makes a table of it.
    {n_features_in_}
    {feature_names_in_}

    See Also
    --------
    frri.AdditiveRulesRegressor : The same for numbers.

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

    def __init__(
        self,
        *,
        max_rules: int | Literal["auto", "1se"] = "auto",
        max_conditions: int = 4,
        min_support: float = 0.0,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = "balanced",
        monotonic_cst: Mapping[str, int] | None = None,
        refine: int = 0,
        missing: str = "typical",
        calibrate: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.class_weight = class_weight
        self.monotonic_cst = monotonic_cst
        self.refine = refine
        self.missing = missing
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, table: TrainingTable) -> None:
        self.path_ = class_path(self, table) if self.max_rules == "1se" else None
        with self._step("rules one after another"):
            (self.ruleset_,) = self._rulesets(table, [self._most_rules(table)])

    def _rulesets(self, table: TrainingTable, sizes: Sequence[int]) -> Iterator[RuleSet]:
        """Yield a rule set for each of the ascending maximum sizes; each extends the one before."""
        for rules, base in self._induce(table, table.all_weights, sizes):
            yield self._made(table, rules, base=tuple(base.tolist()), **VOTES)

    def induce(self, table: TrainingTable, weights: Floats) -> tuple[tuple[Rule, ...], Floats]:
        """Return the rules of a checked training table and the base of every class."""
        return next(self._induce(table, weights, [self._most_rules(table)]))

    def _induce(
        self, table: TrainingTable, weights: Floats, sizes: Sequence[int]
    ) -> Iterator[tuple[tuple[Rule, ...], Floats]]:
        counts = np.bincount(table.classes, weights, len(table.labels)).astype(np.float64)
        columns = SoftColumns.of(table.values, table.attributes, weights, WIDTH)
        factors = class_factors(self.class_weight, table.labels, counts, table.target)
        loss_weights = weights * factors[table.classes]
        blocks = self._blocks(
            columns, weights=weights, classes=table.classes, loss_weights=loss_weights
        )
        inductions = [self._induction(table, columns, blocks, counts, k) for k in sizes]
        for model in run_all(inductions):
            yield tuple(_rules(table, columns, blocks, model, counts)), model.fitted.base

    def _held_out(self, table: TrainingTable, samples: HeldOut) -> tuple[Floats, Positions]:
        """Return probabilities without the influence of each sample on its own votes."""
        classes, sizes = table.classes[samples.rows], np.array(table.class_counts)
        factors = class_factors(self.class_weight, table.labels, sizes, table.target)
        weights = table.all_weights[samples.rows]
        counted = np.bincount(classes, weights, len(sizes))
        encoded = table.encoded.take(samples.rows)
        scores = held_out_scores(
            self.ruleset_,
            encoded,
            classes,
            weights * (factors * sizes / counted)[classes],
            (factors * samples.weight)[classes],
        )
        powers = exp(scores - scores.max(axis=0))
        return (powers / powers.sum(axis=0)).T, scores.argmax(axis=0)

    def _blocks(self, columns: SoftColumns, **arrays: Any) -> SampleBlocks:
        """Split the table into blocks."""
        return SampleBlocks.of(VotingBlock, columns, self.n_jobs, **arrays)

    def _most_rules(self, table: TrainingTable) -> int:
        if isinstance(self.max_rules, str):
            return _usual(table) if self.path_ is None else self.path_.chosen
        return int(self.max_rules)

    def _induction(
        self,
        table: TrainingTable,
        columns: SoftColumns,
        blocks: SampleBlocks,
        sizes: Floats,
        max_rules: int,
    ) -> StagewiseInduction:
        penalty, weight = PENALTY / len(table.labels), float(total(sizes))
        loss = SoftmaxLoss(
            blocks=blocks,
            voices=tuple(range(len(table.labels))),
            penalty=penalty,
            least=min(1.0, _usual(table) / max_rules) * min(1.0, weight / SMALL),
            allowed=self._allowed(table),
        )
        search = RuleSearch(columns, blocks, weight, penalty, self.max_conditions)
        least = self.min_support * sizes
        return StagewiseInduction(
            search, loss, max_rules, self.refine, lambda voice: float(least[voice])
        )

    def _allowed(self, table: TrainingTable) -> tuple[Flags, ...] | None:
        """Return the sides of attributes that the rules of each class may use."""
        upward = upward_sides(self.monotonic_cst, table.attributes)
        if upward is None:
            return None
        if len(table.labels) > 2:
            raise ValueError(
                f"monotonic_cst states how one class gets more likely, but {table.target!r} has "
                f"{len(table.labels)} classes; leave monotonic_cst out or predict two classes."
            )
        return upward[:, ::-1], upward

    def _name(self) -> str:
        return "Additive rules"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_size(self.max_rules, self.max_conditions, ["auto", "1se"])
        check_count("refine", self.refine, 0)
        check_share("min_support", self.min_support)
        check_class_weight(self.class_weight)


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
    """Return the sides of attributes that a rule that adds may use; None without any restriction.

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
    sample, too, so that this counts `PARAMETERS` times.

    Parameters
    ----------
    ruleset : RuleSet
        Rules that vote.
    table : EncodedTable
    classes : ndarray of int, shape (n_samples,)
    weights : ndarray of float, shape (n_samples,)
        Weights in the loss of all samples.
    units : ndarray of float, shape (n_samples,)
        Weights of the samples themselves.

    Returns
    -------
    ndarray of float, shape (n_classes, n_samples)
    """
    n_classes, n_samples = len(ruleset.classes), len(classes)
    degrees = np.concatenate((ruleset.degrees(table).T, np.ones((n_classes, n_samples))))
    voices = np.array(
        [*(ruleset.classes.index(rule.consequent) for rule in ruleset), *range(n_classes)]
    )
    scores = ruleset.scores(table).T.copy()
    powers = exp(scores - scores.max(axis=0))
    errors = powers / powers.sum(axis=0)
    second = vote_curvature(degrees, voices, weights, errors)
    penalties = np.full(len(voices), PENALTY / n_classes)
    penalties[len(ruleset) :] = BASE_PENALTY
    errors[classes, np.arange(n_samples)] -= 1.0
    inverse = solve(second + np.diag(penalties), np.eye(len(voices)))
    change = product(inverse, degrees * (units * errors)[voices])
    np.add.at(scores, voices, PARAMETERS * degrees * change)
    return scores


def _usual(table: TrainingTable) -> int:
    """Return the usual number of rules."""
    return 2 * len(table.labels) + 6


def _rules(
    table: TrainingTable,
    columns: SoftColumns,
    blocks: SampleBlocks,
    model: AdditiveRules,
    sizes: Floats,
) -> Iterator[Rule]:
    """Yield the rules in the user's units, with statistics of their coverage."""
    votes = model.fitted.weights
    counts = blocks.added("counted", model.fitted.model)
    support, alone = np.split(counts, [len(votes) * len(sizes)])
    voices = np.array([added.voice for added in model.rules], dtype=np.intp)
    support = support.reshape(len(votes), len(sizes))
    statistics = statistics_from_counts(voices, support, alone, sizes)
    for added, vote, known in zip(model.rules, votes, statistics, strict=True):
        yield Rule(
            conditions=columns.conditions(added.rule.tests, table.attributes),
            consequent=table.labels[added.voice],
            weight=float(vote),
            statistics=known,
        )

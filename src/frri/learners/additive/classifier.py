"""Additive rules for classes: a dozen soft rules whose votes are summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from frri.learners.additive._blocked import BlockSearch, BlockSoftmaxLoss
from frri.learners.additive._columns import SoftColumns
from frri.learners.additive._growing import Search
from frri.learners.additive._induction import Induction, runs
from frri.learners.additive._losses import SoftmaxLoss
from frri.learners.additive._settings import VOTES, check_size, upward_sides
from frri.learners.additive.blocks import Blocks, VotingBlock
from frri.learners.base import RuleClassifier
from frri.learners.size_cv import class_path
from frri.learners.training import check_class_weight, class_factors
from frri.learners.validation import check_count, check_share
from frri.rules import Rule, RuleSet
from frri.rules.rule_statistics import statistics_from_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from frri._util import Flags, Floats
    from frri.learners.additive._induction import Additive
    from frri.learners.additive._losses import Loss
    from frri.learners.training import TrainingTable

# Half-width of a ramp, in standard deviations of its attribute.
WIDTH = 0.48
# Penalty of a squared vote, divided by the number of classes.
PENALTY = 8.0
# In a table of fewer objects than this a rule may promise less, in proportion.
SMALL = 50.0


class AdditiveRulesClassifier(RuleClassifier):
    """Additive rules: a dozen soft rules that vote, added one at a time.

    A rule is a box with most sides open and soft edges: "at most t" holds fully up to a little below
    t and fades out linearly a little above it, by 0.48 standard deviations of the attribute each way.
    The degree of a rule is the product of its conditions. A rule votes for one class by its degree
    times its weight; the votes for a class are added to its base score, and a softmax of the sums
    gives the probabilities.

    Rules are added one at a time. For every class a rule is grown from nothing by the condition that
    gains most, and polished: each condition is taken out and the best one put in its place. The
    gain is that of a Newton step on the logarithmic loss, G^2 / (2 (H + lambda)); a condition must
    multiply it by 1.15, and the best rule of all classes is added. Then the votes of all rules and
    the bases are fitted together anew: the minimum of the loss plus lambda / 2 times the squared
    votes, with votes of at least 0 and lambda = 8 / number of classes. There is no randomness.

    In the end all votes and bases are multiplied by one number, from 1/2 to 4, which changes no decision
    but makes the probabilities better: that which suits each half of the objects best in the votes of
    rules learned from the other half.

    Thresholds lie halfway between neighbouring values, at most 64 for an attribute. A nominal
    attribute (a column of text in a data frame) is tested for a set of categories.

    A table of more than 65,536 objects is taken in blocks of so many, whose sums are added in their
    order. The rules are the same, and they do not depend on the number of threads.

    Parameters
    ----------
    max_rules : int, "auto" or "1se", default="auto"
        The most rules; by default 2 K + 6 for K classes. A rule must promise to lower the loss by 1;
        by less in proportion where more rules than by default are allowed, and with fewer than 50
        objects. "1se" takes the fewest whose balanced accuracy in five-fold cross-validation is within
        one standard error of the best.
    max_conditions : int, default=4
        The most conditions of a rule.
    min_support : float, default=0.0
        The share of its class that a rule must cover, degrees added up, to be added.
    class_weight : "balanced", None or mapping, default="balanced"
        How much the objects of a class count: all classes the same, every object the same, or as
        the mapping of classes says (1 for a class that it lacks). The loss goes by it; typical values,
        thresholds and statistics go by sample weights alone, so {c: 3} is not a sample weight of 3.
    monotonic_cst : mapping of str to {1, -1}, optional
        Attributes with which the probability of the second class (in the order of `classes_`) must
        not fall (1) or not rise (-1). Rules for that class then use only "at least", rules for the
        other only "at most" (or the other way round), so that no object can be an exception.
        Only with two classes.
    refine : int, default=0
        How often the rules are gone through again, each kept, dropped or replaced.
    {missing}
    n_jobs : int, optional
        Threads for large tables and for prediction; all cores by default.
    {verbose}

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        The rules in the order in which they were added, with the semantics "softmax-votes". A rule's
        weight is its vote.
    path_ : SizePath or None
        With ``max_rules="1se"``: `sizes` from few rules to many, their `scores` and standard `errors`,
        and the size `chosen`; `to_frame` makes a table of it.
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
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, table: TrainingTable) -> None:
        self.path_ = class_path(self, table) if self.max_rules == "1se" else None
        with self._step("rules one after another"):
            (self.ruleset_,) = self._rulesets(table, [self._most_rules(table)])

    def _rulesets(self, table: TrainingTable, sizes: Sequence[int]) -> Iterator[RuleSet]:
        """At most so many rules, for each of the ascending sizes: the same, and further ones."""
        weights = table.all_weights
        for rules, base in self._induced(table, weights, sizes):
            yield self._made(table, rules, base=tuple(base.tolist()), **VOTES)

    def induced(self, table: TrainingTable, weights: Floats) -> tuple[tuple[Rule, ...], Floats]:
        """The rules of a checked training table, and the base of every class."""
        return next(self._induced(table, weights, [self._most_rules(table)]))

    def _induced(
        self, table: TrainingTable, weights: Floats, sizes: Sequence[int]
    ) -> Iterator[tuple[tuple[Rule, ...], Floats]]:
        counts = np.bincount(table.classes, weights, len(table.labels)).astype(np.float64)
        columns = SoftColumns.of(table.values, table.attributes, weights, WIDTH, self.n_jobs)
        factors = class_factors(self.class_weight, table.labels, counts, table.target)
        objects: dict[str, Any] = {
            "weights": weights,
            "classes": table.classes,
            "loss_weights": weights * factors[table.classes],
        }
        blocks = self._blocks(columns, objects) if columns.in_blocks else None
        inductions = [self._induction(table, columns, objects, blocks, k) for k in sizes]
        for model in runs(inductions):
            yield tuple(_rules(table, inductions[0].search, model, counts)), model.fitted.base

    def _blocks(self, columns: SoftColumns, objects: Mapping[str, Any]) -> Blocks:
        """A large table in blocks, wherever they are."""
        return Blocks.of(VotingBlock, columns, **objects)

    def _most_rules(self, table: TrainingTable) -> int:
        if isinstance(self.max_rules, str):
            return _usual(table) if self.path_ is None else self.path_.chosen
        return int(self.max_rules)

    def _induction(
        self,
        table: TrainingTable,
        columns: SoftColumns,
        objects: Mapping[str, Any],
        blocks: Blocks | None,
        max_rules: int,
    ) -> Induction:
        weights, n_classes = objects["weights"], len(table.labels)
        sizes = np.bincount(table.classes, weights, n_classes)
        penalty = PENALTY / n_classes
        shared: dict[str, Any] = {
            "voices": tuple(range(n_classes)),
            "penalty": penalty,
            "worth": min(1.0, _usual(table) / max_rules) * min(1.0, float(sizes.sum()) / SMALL),
            "allowed": self._allowed(table),
        }
        limits = columns, weights, penalty, False, self.max_conditions, table.classes
        loss: Loss
        if blocks is None:
            loss = SoftmaxLoss(table.classes, weights=objects["loss_weights"], **shared)
            search = Search(*limits)
        else:
            loss = BlockSoftmaxLoss(blocks, **shared)
            search = BlockSearch(*limits, blocks=blocks)
        least = self.min_support * sizes
        return Induction(search, loss, max_rules, self.refine, lambda voice: float(least[voice]))

    def _allowed(self, table: TrainingTable) -> tuple[Flags, ...] | None:
        """For each class the sides of attributes that its rules may use."""
        upward = upward_sides(self.monotonic_cst, table.attributes)
        if upward is None:
            return None
        if len(table.labels) > 2:
            raise ValueError(
                f"monotonic_cst says how one class gets more likely, but {table.target!r} has "
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


def _usual(table: TrainingTable) -> int:
    """The usual number of rules."""
    return 2 * len(table.labels) + 6


def _rules(table: TrainingTable, search: Search, model: Additive, sizes: Floats) -> Iterator[Rule]:
    """The rules in the user's units, with what they cover."""
    votes = model.fitted.weights
    support, alone = search.counted([s.rule for s in model.rules], votes, len(sizes))
    voices = np.array([spoken.voice for spoken in model.rules], dtype=np.intp)
    statistics = statistics_from_counts(voices, support, alone, sizes)
    for spoken, vote, known in zip(model.rules, votes, statistics, strict=True):
        yield Rule(
            conditions=tuple(
                search.columns.condition(test, table.attributes[test.attribute])
                for test in spoken.rule.tests
            ),
            consequent=table.labels[spoken.voice],
            weight=float(vote),
            statistics=known,
        )

"""QuickRules: fuzzy-rough rules taken on the way to a reduct (Jensen and Cornelis 2009)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from frri import fuzzy
from frri.learners.quickrules.positive_region import (
    TIES,
    TOLERANCE,
    PositiveRegion,
    greedy_reduct,
    total,
)
from frri.learners.rule_limits import LimitedRuleClassifier
from frri.learners.validation import check_choice
from frri.rules import NominalCondition, NumericCondition, Rule, RuleSet
from frri.table.checks import check_complete

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sklearn.utils import Tags

    from frri._util import Flags, Floats, Positions
    from frri.learners.training_table import TrainingTable
    from frri.rules import Condition

# Where a relation comes this near to 1 it may be meant to be 1.
_ALMOST = 1e-12
# Degrees of coverage that are kept; those of further rules are computed again when they are needed.
_KEPT_DEGREES = 1 << 25
# Degrees of the relation that are computed at a time.
_BLOCK = 1 << 18


class QuickRulesClassifier(LimitedRuleClassifier):
    """QuickRules, rules of similarity from a fuzzy-rough feature selection.

    Features are added one by one, always the one that enlarges the positive region most (as in
    `QuickReduct`). For every set of features tried on the way and every sample that is not yet
    covered, the sample makes a rule if these features tell it from the other classes as well as
    all features do. The rule says "similar to this sample in these features"; what it covers is
    a fuzzy set of samples. A rule that covers no more than another one is dropped. Rules of a class
    add up.

    Numeric features are similar to the degree `1 - |x - y| / range`, nominal ones (columns of
    text in a data frame) if they are equal. Constant features are left out.

    Sample weights count in the size of the positive region, in probabilities and in the statistics
    of rules: a sample of weight 3 counts as three equal ones.

    Parameters
    ----------
    t_norm : str, default="lukasiewicz"
        T-norm that joins the similarities in several features, in training and prediction:
        "minimum", "product", "lukasiewicz", "hamacher", "drastic" or "nilpotent_minimum".
    implicator : str, default="kleene_dienes"
        Implicator that turns similarity to samples of other classes into certainty: "lukasiewicz",
        "kleene_dienes", "reichenbach" (these three agree, since classes are crisp), "goedel" or
        "goguen" (a sample is certain only if it is not similar to a sample of another class at
        all).
    coverage_test : {"at_least", "close"}, default="at_least"
        Condition for a sample to be covered: if the degree to which rules cover it is at least its
        degree in the positive region, or if the two are close. The latter is a defect: the sample
        that a rule is made from is covered to the degree 1, more than its degree in the positive
        region, so it goes on making rules, in the end more of them than there are samples.
    ties : {"first", "last"}, default="last"
        Choice among several equally good features.
    {max_rules}
    max_conditions : int, optional
        Maximum number of features of a rule; samples that need more get no rule.
    {min_support}
    {class_weight}
    missing : {"typical", "error"}, default="typical"
        Treatment of missing values in training and prediction: imputed (median, or most frequent
        category), or refused.
    {calibrate}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    {classes_}
    reduct_ : ndarray of int
        The features added to the set, in this order. Rules may also use others that were tried.
    ruleset_ : RuleSet
        The rules in order of creation, each with the training sample it was made from (`source`).
        Where no rule fires the nearest one decides.
    {n_features_in_}
    {feature_names_in_}

    Notes
    -----
    The QuickRules that FRRI was compared with is `QuickRulesClassifier(t_norm="minimum",
    coverage_test="close", ties="first")`: hundreds of rules, and poor predictions for joining
    similarities by the minimum.

    References
    ----------
    R. Jensen, C. Cornelis and Q. Shen, "Hybrid fuzzy-rough rule induction and feature selection",
    Proceedings of FUZZ-IEEE, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> quickrules = QuickRulesClassifier().fit(X, y)
    >>> len(quickrules.ruleset_)
    53
    >>> quickrules.ruleset_[0].attributes
    ('petal width (cm)', 'petal length (cm)', 'sepal length (cm)')
    >>> quickrules.predict(X[:2])
    array([0, 0])
    """

    _missing_choices = ("typical", "error")

    reduct_: Positions

    def __init__(
        self,
        *,
        t_norm: str = "lukasiewicz",
        implicator: str = "kleene_dienes",
        coverage_test: Literal["at_least", "close"] = "at_least",
        ties: Literal["first", "last"] = "last",
        missing: str = "typical",
        max_rules: int | None = None,
        max_conditions: int | None = None,
        min_support: float = 0.0,
        class_weight: Any = None,
        calibrate: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.t_norm = t_norm
        self.implicator = implicator
        self.coverage_test = coverage_test
        self.ties = ties
        self.missing = missing
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, table: TrainingTable) -> None:
        check_complete(table.values, table.attributes)
        known = table.values, table.classes, table.attributes, self.t_norm, self.implicator
        region = PositiveRegion(*known, weights=table.weights)
        collection = _Collection(region, close=self.coverage_test == "close")
        with self._step("attributes one after another"):
            found = greedy_reduct(region, self.ties, collection, self.max_conditions)
        self.reduct_ = np.array(found, dtype=np.intp)
        meaning = {"t_norm": self.t_norm, "combination": "sum", "fallback": "nearest"}

        def made(some: Sequence[Rule]) -> RuleSet:
            return self._made(table, some, **meaning)

        ruleset = self._within_limits(tuple(_rules(table, collection)), made, table)
        self.ruleset_ = self._with_statistics(ruleset, table)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("t_norm", self.t_norm, tuple(fuzzy.T_NORMS))
        check_choice("implicator", self.implicator, tuple(fuzzy.IMPLICATORS))
        check_choice("coverage_test", self.coverage_test, ("at_least", "close"))
        check_choice("ties", self.ties, TIES)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Two attributes and clear classes leave two or three rules that reach far into each other.
        tags.classifier_tags.poor_score = True
        return tags


class _Collection:
    """The rules found so far: pairs of an object and a set of attributes."""

    def __init__(self, region: PositiveRegion, *, close: bool) -> None:
        n_objects = len(region.values)
        self.region = region
        self.close = close
        self.rules: dict[int, tuple[int, tuple[int, ...]]] = {}
        self.covered = np.zeros(n_objects)
        self._degrees: dict[int, Floats] = {}
        self._created = 0
        # Rules by the objects that they (almost) fully cover, and by the object they are made from.
        self._covering: list[list[int]] = [[] for _ in range(n_objects)]
        self._made_from: list[list[int]] = [[] for _ in range(n_objects)]

    def visit(self, attributes: Sequence[int], degrees: Floats) -> None:
        """Offer the rules of all samples that these features tell from the other classes."""
        able = degrees >= (1.0 - TOLERANCE) * self.region.full
        if not self.close:
            able &= ~self._done()
        rows = np.flatnonzero(able)
        height = max(1, _BLOCK // len(self.covered))
        for start in range(0, len(rows), height):
            block = rows[start : start + height]
            relation = self.region.relation(block, attributes)
            amounts = np.cumsum(relation, axis=1)[:, -1].tolist()
            for row, coverage, amount in zip(block.tolist(), relation, amounts, strict=True):
                if not self._one_done(row):
                    self._offer(row, tuple(attributes), coverage, amount)

    def satisfied(self) -> bool:
        """Whether every object is covered."""
        return bool(self._done().all())

    def _one_done(self, row: int) -> bool:
        covered, wanted = float(self.covered[row]), float(self.region.full[row])
        if self.close:
            return abs(covered - wanted) <= TOLERANCE * max(covered, wanted)
        return covered >= wanted

    def _done(self) -> Flags:
        covered, wanted = self.covered, self.region.full
        if self.close:
            difference = np.abs(covered - wanted)
            return np.asarray(difference <= TOLERANCE * np.maximum(covered, wanted))
        return np.asarray(covered >= wanted)

    def _offer(
        self, row: int, attributes: tuple[int, ...], coverage: Floats, amount: float
    ) -> None:
        """Add a rule unless another covers as much, and drop those that cover no more than it."""
        # A rule fully covers the object it is made from, so only such rules can contain this one;
        # those made from the same object are the most likely.
        for rule in chain(self._made_from[row], self._covering[row]):
            if rule in self.rules and _common(coverage, self._coverage(rule)) == amount:
                return
        fully = np.flatnonzero(coverage >= 1.0 - _ALMOST).tolist()
        for rule in [rule for other in fully for rule in self._made_from[other]]:
            if rule in self.rules:
                smaller = self._coverage(rule)
                if _common(coverage, smaller) == total(smaller):
                    del self.rules[rule]
                    self._degrees.pop(rule, None)
        rule, self._created = self._created, self._created + 1
        self.rules[rule] = row, attributes
        if len(self._degrees) * len(coverage) < _KEPT_DEGREES:
            self._degrees[rule] = coverage.copy()
        self._made_from[row].append(rule)
        for other in fully:
            self._covering[other].append(rule)
        np.maximum(self.covered, coverage, out=self.covered)

    def _coverage(self, rule: int) -> Floats:
        if rule in self._degrees:
            return self._degrees[rule]
        row, attributes = self.rules[rule]
        return np.asarray(self.region.relation([row], attributes)[0])


def _common(coverage: Floats, other: Floats) -> float:
    """Return the size of the intersection: it equals that of a fuzzy set contained in the other."""
    return total(np.minimum(coverage, other))


def _rules(table: TrainingTable, collection: _Collection) -> Iterator[Rule]:
    for row, attributes in collection.rules.values():
        conditions = tuple(_condition(table, row, a) for a in attributes)
        yield Rule(conditions, table.labels[table.classes[row]], source=row)


def _condition(table: TrainingTable, row: int, a: int) -> Condition:
    """Similar to the object in this attribute."""
    attribute, value = table.attributes[a], float(table.values[row, a])
    if attribute.kind == "nominal":
        assert attribute.categories is not None  # noqa: S101
        return NominalCondition(attribute.name, frozenset({attribute.categories[int(value)]}))
    width = attribute.width
    return NumericCondition(attribute.name, value - width, value, value, value + width)

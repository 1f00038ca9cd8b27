"""QuickRules: fuzzy-rough rules taken on the way to a reduct (Jensen and Cornelis 2009).

Two values of a numeric feature are similar to the degree `1 - |x - y| / width`, those of a nominal
one if they are equal; a t-norm of `frri.fuzzy` joins the degrees in several features, in the order
given, in the arithmetic in which rules are matched.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import chain
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from frri import fuzzy
from frri import table as data
from frri._util import Flags, Floats, Positions
from frri.learners.rule_limits import LimitedRuleClassifier
from frri.learners.training_table import TrainingTable, plain_labels
from frri.learners.validation import check_choice
from frri.rules import Condition, NominalCondition, NumericCondition, Rule
from frri.rules.rule import as_labels
from frri.table import Attribute
from frri.table.checks import check_complete

# Degrees and sums that differ by a smaller fraction are the same.
TOLERANCE = 1e-9
TIES = ("first", "last")
# Where a relation comes this near to 1 it may be meant to be 1.
_ALMOST = 1e-12
# Degrees of the relation that are computed at a time, for rules and for positive regions; the
# latter are about what the second-level cache holds.
_BLOCK, _SMALL_BLOCK = 1 << 18, 1 << 15


@dataclass(kw_only=True, eq=False, repr=False)
class QuickRulesClassifier(LimitedRuleClassifier):
    """QuickRules, rules of similarity from a fuzzy-rough feature selection.

    Features are added one by one, always the one that enlarges the positive region most (as in
    `QuickReduct`). For every set of features tried on the way and every sample that is not yet
    covered, the sample makes a rule if these features tell it from the other classes as well as
    all features do. The rule is "similar to this sample in these features"; it covers a
    fuzzy set of samples. A rule that covers no more than another one is dropped. Rules of a class
    add up.

    Numeric features are similar to the degree `1 - |x - y| / range`, nominal ones (columns of
    text in a data frame) if they are equal. Constant features are left out.

    Sample weights count in the size of the positive region, in probabilities and in the statistics
    of rules: a sample of weight 3 counts as three equal ones. There is no randomness. All pairs of
    samples are compared: time and memory grow quadratically.

    Parameters
    ----------
    t_norm : str, default="lukasiewicz"
        T-norm that combines the similarities in several features, in training and prediction:
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
    {min_support, class_weight}
    missing : {"typical", "error"}, default="typical"
        Treatment of missing values in training and prediction: imputed (median, or most frequent
        category), or refused.
    {calibrate, decision, n_jobs, verbose}

    Attributes
    ----------
    {classes_}
    reduct_ : ndarray of int
        The features added to the set, in this order. Rules may also use others that were tried.
    ruleset_ : RuleSet
        The rules in order of creation, each with the training sample it was made from (`source`).
        Where no rule fires the nearest one decides.
    {n_features_in_, feature_names_in_}

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

    t_norm: str = "lukasiewicz"
    implicator: str = "kleene_dienes"
    coverage_test: Literal["at_least", "close"] = "at_least"
    ties: Literal["first", "last"] = "last"
    class_weight: Any = None

    _missing_choices = ("typical", "error")

    def _learn(self, table: TrainingTable) -> None:
        check_complete(table.values, table.attributes)
        known = table.values, table.classes, table.attributes, self.t_norm, self.implicator
        region = PositiveRegion(*known, table.weights)
        collection = _Collection(region, close=self.coverage_test == "close")
        with self._step("features one after another"):
            found = greedy_reduct(region, self.ties, collection, self.max_conditions)
        self.reduct_ = np.array(found, dtype=np.intp)
        meaning: dict[str, Any] = {"combination": "sum", "fallback": "nearest"}
        build = partial(self._build_ruleset, table, t_norm=self.t_norm, **meaning)
        rules = []
        for row, attributes, _ in collection.rules.values():
            conditions = tuple(_condition(table, row, a) for a in attributes)
            rules.append(Rule(conditions, table.labels[table.classes[row]], source=row))
        ruleset = self._within_limits(rules, build, table)
        self.ruleset_ = self._with_statistics(ruleset, table)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("coverage_test", self.coverage_test, ("at_least", "close"))
        check_choice("ties", self.ties, TIES)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Two attributes and clear classes leave two or three rules that reach far into each other.
        tags.classifier_tags.poor_score = True
        return tags


class _Collection:
    """The rules found so far: a sample, a set of features, and the degrees of coverage."""

    def __init__(self, region: "PositiveRegion", *, close: bool) -> None:
        n_samples = len(region.values)
        self.region = region
        self.close = close
        self.rules: dict[int, tuple[int, tuple[int, ...], Floats]] = {}
        self.covered = np.zeros(n_samples)
        self._created = 0
        # Rules by the samples that they (almost) fully cover, and by the sample they are made from.
        self._covering: list[list[int]] = [[] for _ in range(n_samples)]
        self._made_from: list[list[int]] = [[] for _ in range(n_samples)]

    def visit(self, attributes: Sequence[int], degrees: Floats) -> None:
        """Offer the rules of all samples that these features tell from the other classes."""
        able = degrees >= (1.0 - TOLERANCE) * self.region.full
        if not self.close:
            able &= ~self._done()
        rows = np.flatnonzero(able)
        height, values = max(1, _BLOCK // len(self.covered)), self.region.values
        for start in range(0, len(rows), height):
            block = rows[start : start + height]
            relation = self.region.relation(values[block], values, attributes)
            amounts = np.cumsum(relation, axis=1)[:, -1].tolist()
            for row, coverage, amount in zip(block.tolist(), relation, amounts, strict=True):
                if not self._done(row):
                    self._offer(row, tuple(attributes), coverage, amount)

    def satisfied(self) -> bool:
        """Return whether every sample is covered."""
        return bool(self._done().all())

    def _done(self, rows: Any = slice(None)) -> Any:
        """Return which samples are covered."""
        covered, wanted = self.covered[rows], self.region.full[rows]
        if self.close:
            return np.abs(covered - wanted) <= TOLERANCE * np.maximum(covered, wanted)
        return covered >= wanted

    def _offer(
        self, row: int, attributes: tuple[int, ...], coverage: Floats, amount: float
    ) -> None:
        """Add a rule unless another covers as much, and drop those that cover no more than it."""
        # A rule fully covers the sample it is made from, so only such rules can contain this one;
        # those made from the same sample are the most likely. The intersection is then as large.
        for rule in chain(self._made_from[row], self._covering[row]):
            if rule in self.rules and total(np.minimum(coverage, self.rules[rule][2])) == amount:
                return
        fully = np.flatnonzero(coverage >= 1.0 - _ALMOST).tolist()
        for rule in [rule for other in fully for rule in self._made_from[other]]:
            if rule in self.rules:
                smaller = self.rules[rule][2]
                if total(np.minimum(coverage, smaller)) == total(smaller):
                    del self.rules[rule]
        rule, self._created = self._created, self._created + 1
        self.rules[rule] = row, attributes, coverage.copy()
        self._made_from[row].append(rule)
        for other in fully:
            self._covering[other].append(rule)
        np.maximum(self.covered, coverage, out=self.covered)


def _condition(table: TrainingTable, row: int, a: int) -> Condition:
    """Return the condition "similar to the sample in this feature"."""
    attribute, value = table.attributes[a], float(table.values[row, a])
    if attribute.kind == "nominal":
        category = (attribute.categories or ())[int(value)]
        return NominalCondition(attribute.name, frozenset({category}))
    width = attribute.width
    return NumericCondition(attribute.name, value - width, value, value, value + width)


@dataclass(kw_only=True, eq=False, repr=False)
class QuickReduct(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose few features that tell the classes apart as well as all features do.

    The positive region is the certainty of the class of each sample: one minus its similarity to
    the most similar sample of another class. QuickReduct starts without features and adds, one at
    a time, the one that enlarges the positive region most, until it is as large as that of all
    features. The result need not be the smallest such set. Similarity in a feature is
    `1 - |x - y| / range`; constant features are never chosen. All pairs of samples of different
    classes are compared: time grows quadratically with samples, and up to quadratically with
    features. There is no randomness, and `fit` runs once.

    Parameters
    ----------
    t_norm : str, default="lukasiewicz"
    implicator : str, default="kleene_dienes"
        See `QuickRulesClassifier`.
    ties : {"first", "last"}, default="first"
        Choice among several equally good features.

    Attributes
    ----------
    reduct_ : ndarray of int
        The chosen features in the order in which they were added.
    dependency_ : float
        Mean certainty of the class over the chosen features.
    full_dependency_ : float
        The same over all features.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if the table has names for its columns.

    References
    ----------
    R. Jensen and Q. Shen, "Fuzzy-rough attribute reduction with application to web categorization",
    Fuzzy Sets and Systems 141, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> reduct = QuickReduct().fit(X, y)
    >>> reduct.transform(X).shape
    (178, 12)
    >>> X.columns[reduct.reduct_[0]]
    'proline'
    """

    t_norm: str = "lukasiewicz"
    implicator: str = "kleene_dienes"
    ties: Literal["first", "last"] = "first"

    n_features_in_: int = field(init=False)
    reduct_: Positions = field(init=False)

    def fit(self, X: Any, y: Any) -> "QuickReduct":
        """Choose the features.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers only.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        check_choice("ties", self.ties, TIES)
        data.check_numbers(X)
        y = y if y is None else as_labels(y)
        values, y = validate_data(self, X, y, dtype=np.float64)
        y = plain_labels(y)
        check_classification_targets(y)
        _, classes = np.unique(y, return_inverse=True)
        attributes = data.describe_columns(values, map(str, range(values.shape[1])))
        region = PositiveRegion(values, classes, attributes, self.t_norm, self.implicator)
        self.reduct_ = np.array(greedy_reduct(region, self.ties), dtype=np.intp)
        self.full_dependency_ = total(region.full) / len(values)
        self.dependency_ = self.full_dependency_
        if len(self.reduct_):
            reached = region.extended(self.reduct_[:-1].tolist(), self.reduct_[-1:].tolist())
            self.dependency_ = total(reached[0]) / len(values)
        return self

    def _get_support_mask(self) -> Flags:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.reduct_] = True
        return mask

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class PositiveRegion:
    """Certainty of the class of each sample, over any set of features.

    Names of t-norm and implicator are those of `frri.fuzzy`; weights count in the size of a
    positive region. Only features that are not constant are considered (`informative`); `full` is
    the positive region over all of them.

    Examples
    --------
    >>> from frri.table import describe_columns
    >>> values = np.array([[0.0, 7.0], [0.5, 7.0], [1.0, 7.0]])
    >>> attributes = describe_columns(values, "ab")
    >>> region = PositiveRegion(values, np.array([0, 0, 1]), attributes, "minimum", "kleene_dienes")
    >>> region.informative, region.full
    ([0], array([1. , 0.5, 0.5]))
    """

    def __init__(
        self,
        values: Floats,
        classes: Positions,
        attributes: Sequence[Attribute],
        t_norm: str,
        implicator: str,
        weights: Floats | None = None,
    ) -> None:
        check_choice("t_norm", t_norm, tuple(fuzzy.T_NORMS))
        check_choice("implicator", implicator, tuple(fuzzy.IMPLICATORS))
        self.weights = weights
        self.values = np.ascontiguousarray(values)
        self.classes, self.attributes = classes, attributes
        self.t_norm = fuzzy.T_NORMS[t_norm]
        self.implicator = fuzzy.IMPLICATORS[implicator]
        self.informative = np.flatnonzero((values != values[:1]).any(axis=0)).tolist()
        # Without any feature, all samples are completely similar.
        self.full = self.implicator(np.full(len(values), float(len(set(classes)) > 1)), 0.0)
        if self.informative:
            (self.full,) = self.extended(self.informative[:-1], self.informative[-1:])

    def extended(self, chosen: Sequence[int], candidates: Sequence[int]) -> Floats:
        """Return the positive regions over the chosen features and each candidate."""
        nearest = np.zeros((len(candidates), len(self.values)))
        for c in np.unique(self.classes):
            own, others = np.flatnonzero(self.classes == c), self.values[self.classes != c]
            height = max(1, _SMALL_BLOCK // max(1, len(others)))
            for start in range(0, len(own) if len(others) else 0, height):
                block = own[start : start + height]
                rows = self.values[block]
                base = self.relation(rows, others, chosen)
                for k, a in enumerate(candidates):
                    degrees = self._similarity(rows, others, a)
                    joined = self.t_norm(base, degrees) if chosen else degrees
                    nearest[k, block] = joined.max(axis=1)
        # The classes are crisp: only the most similar sample of another class counts.
        return self.implicator(nearest, 0.0)

    def size(self, degrees: Floats) -> float:
        """Return the sum of degrees of all samples, times their weights."""
        return total(degrees if self.weights is None else degrees * self.weights)

    def relation(self, rows: Floats, others: Floats, attributes: Sequence[int]) -> Floats:
        """Return how similar the rows of two tables are over a set of features."""
        if not attributes:
            return np.ones((len(rows), len(others)))
        return reduce(self.t_norm, (self._similarity(rows, others, a) for a in attributes))

    def _similarity(self, rows: Floats, others: Floats, a: int) -> Floats:
        if self.attributes[a].kind == "nominal":
            return np.equal(rows[:, a, None], others[None, :, a]).astype(np.float64)
        difference = np.subtract(rows[:, a, None], others[None, :, a])
        np.abs(difference, out=difference)
        difference /= self.attributes[a].width
        return np.subtract(1.0, difference, out=difference)


def total(degrees: Floats) -> float:
    """Return the sum of degrees from first to last: it is the same on every machine."""
    return float(np.cumsum(degrees)[-1])


def greedy_reduct(
    region: PositiveRegion, ties: str, visitor: _Collection | None = None, most: int | None = None
) -> list[int]:
    """Add the feature that enlarges the positive region most until it is that of all features.

    Of equally good features the first or the last is added, at most `most` of them. The visitor
    sees every set of features that is tried, in order. The result is in the order of addition.
    """
    chosen: list[int] = []
    enough = (1.0 - TOLERANCE) * region.size(region.full)
    best = -1.0
    while True:
        candidates = [a for a in region.informative if a not in chosen]
        if not candidates or len(chosen) == most:
            return chosen
        degrees = region.extended(chosen, candidates)
        sums = [region.size(row) for row in degrees]
        if visitor is not None:
            for a, row in zip(candidates, degrees, strict=True):
                visitor.visit([*chosen, a], row)
        if max(sums) < best:
            return chosen  # what is left adds nothing but rounding
        best = max(sums)
        equal = [a for a, value in zip(candidates, sums, strict=True) if value == best]
        chosen.append(equal[0] if ties == "first" else equal[-1])
        if best >= enough or (visitor is not None and visitor.satisfied()):
            return chosen

"""Stability of rules: which of them are found again in resamples of the training data.

Rules of two fits are never equal to the last digit, so bounds are compared by the decile of their
column in which they lie. A condition becomes *marks*: one for each bounded side (feature, side,
decile), one for a set of categories.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state, resample

from frri._util import Floats
from frri.rules import NominalCondition, Rule, RuleSet
from frri.table import to_matrix

Deciles = Mapping[str, Floats]
# Feature, side, and the decile or the categories.
Mark = tuple[str, str, Any]


@dataclass(frozen=True)
class Stability:
    """Similarity of the rules of resamples, and how often each rule is found again.

    Attributes
    ----------
    ruleset : RuleSet
        Learned from all samples, or given.
    similarity : float
        Dice's coefficient of the conditions of two resamples, 2 |A and B| / (|A| + |B|), averaged
        over all pairs; conditions are equal if their bounds lie in the same deciles.
    returns : tuple of float
        For each rule the fraction of the resamples with a rule for the same class (or of the same
        sign) on the same sides of the same features, every bound at most one decile apart.
    n_resamples : int
    """

    ruleset: RuleSet
    similarity: float
    returns: tuple[float, ...]
    n_resamples: int

    def __str__(self) -> str:
        pairs = zip(self.returns, self.ruleset, strict=True)
        ordered = sorted(pairs, key=lambda pair: -pair[0])
        rows = [f"{found:6.0%}  {str(rule).partition('   [')[0]}" for found, rule in ordered]
        head = f"{self.n_resamples} resamples; similarity of their conditions {self.similarity:.2f}"
        return "\n".join([head, *rows])


def stability(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_resamples: int = 20,
    random_state: Any = 0,
    ruleset: RuleSet | None = None,
) -> Stability:
    """Fit an estimator on all samples and on bootstrap resamples, and compare the rules.

    Parameters
    ----------
    estimator : classifier or regressor of this package
    X : data frame or array of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    n_resamples : int
        Number of bootstrap resamples, at least 2; stratified by class.
    random_state : int, RandomState or None
    ruleset : RuleSet, optional
        Rules to find again; by default those learned from all samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from frri import RIPPERClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = stability(RIPPERClassifier(random_state=0), X, y, n_resamples=5)
    >>> print(found)
    5 resamples; similarity of their conditions ...
    """
    if n_resamples < 2:
        raise ValueError(f"n_resamples must be at least 2, got {n_resamples}.")
    whole: RuleSet = clone(estimator).fit(X, y).ruleset_ if ruleset is None else ruleset
    deciles = find_deciles(whole, X)
    random = check_random_state(random_state)
    estimator = clone(estimator)
    if "calibrate" in estimator.get_params():
        estimator.set_params(calibrate=False)  # probabilities are not compared, and take more fits
    found: list[list[tuple[Any, frozenset[Mark]]]] = []
    for _ in range(n_resamples):
        strata = None if whole.task == "regression" else y
        drawn = resample(X, y, random_state=random, stratify=strata)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # shown for all samples before
            model = clone(estimator).fit(*drawn)
        found.append([_describe_rule(rule, deciles, whole.task) for rule in model.ruleset_])
    conditions = [frozenset().union(*(marks for _, marks in rules)) for rules in found]
    returns = tuple(
        sum(any(_is_similar(meaning, other) for other in rules) for rules in found) / n_resamples
        for meaning in (_describe_rule(rule, deciles, whole.task) for rule in whole)
    )
    return Stability(whole, similarity(conditions), returns, n_resamples)


def similarity(found: Sequence[frozenset[Any]]) -> float:
    """Return Dice's coefficient of two sets of marks, averaged over all pairs."""
    pairs = [(len(a & b), len(a) + len(b)) for a, b in combinations(found, 2)]
    return float(np.mean([2.0 * both / total if total else 1.0 for both, total in pairs]))


def find_marks(ruleset: RuleSet, X: Any) -> frozenset[Mark]:
    """Return the marks of the conditions of rules, by the deciles of a table."""
    deciles = find_deciles(ruleset, X)
    return frozenset().union(*(_rule_marks(rule, deciles) for rule in ruleset))


def find_deciles(ruleset: RuleSet, X: Any) -> Deciles:
    """Return the deciles (fewer where some are equal) of each feature with an order."""
    matrix = to_matrix(X, ruleset.attributes)
    return {
        attribute.name: np.unique(np.nanquantile(column, np.arange(1, 10) / 10))
        for attribute, column in zip(ruleset.attributes, matrix.T, strict=True)
        if attribute.kind != "nominal" and not np.isnan(column).all()
    }


def _describe_rule(rule: Rule, deciles: Deciles, task: str) -> tuple[Any, frozenset[Mark]]:
    """Return the class (or sign) of a rule, and the marks of its conditions."""
    purpose: Any = rule.consequent
    if rule.relation != "is":
        purpose = rule.relation, rule.consequent
    elif not isinstance(purpose, str) and task != "classification":
        purpose = purpose * rule.weight > 0
    return purpose, _rule_marks(rule, deciles)


def _rule_marks(rule: Rule, deciles: Deciles) -> frozenset[Mark]:
    marks: set[Mark] = set()
    for one in rule.conditions:
        name, known = one.attribute, deciles.get(one.attribute, np.empty(0))
        if isinstance(one, NominalCondition):
            marks.add((name, "not in" if one.excludes else "in", tuple(sorted(one.values))))
        for side in one.sides:
            # The place of a slope is its middle.
            place = int(known.searchsorted((side.support + side.core) / 2.0))
            marks.add((name, ">=" if side.end == "low" else "<=", place))
    return frozenset(marks)


def _is_similar(one: tuple[Any, frozenset[Mark]], other: tuple[Any, frozenset[Mark]]) -> bool:
    """Return whether two rules are equal up to one decile."""
    if one[0] != other[0] or len(one[1]) != len(other[1]):
        return False
    places = {(name, side): place for name, side, place in other[1]}
    pairs = [(place, places.get((name, side))) for name, side, place in one[1]]
    return all(
        found is not None
        and (place == found if isinstance(place, tuple) else abs(place - found) <= 1)
        for place, found in pairs
    )

"""How stable rules are: which of them come back when the rows are drawn anew.

Rules of two fits are never equal to the last digit, so bounds are compared by where they lie among the
values of their column, in tenths of the rows. What a condition says of its attribute becomes *marks*: one
for each side that is bounded (attribute, side, tenth), one for a set of categories.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations
from math import isinf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state, resample

from frri.rules import NumericCondition
from frri.table import to_matrix

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from frri._util import Floats
    from frri.rules import Rule, RuleSet

    Tenths = Mapping[str, Floats]


class Mark(NamedTuple):
    """What a condition says of one side of an attribute; `place` is a tenth, or the categories."""

    attribute: str
    side: str
    place: Any


@dataclass(frozen=True)
class Stability:
    """How alike the rules of resamples are, and which rules come back.

    Attributes
    ----------
    ruleset : RuleSet
        Learned from all rows, or given.
    similarity : float
        Dice's coefficient of the conditions of two resamples, 2 |A and B| / (|A| + |B|), averaged over
        all pairs; conditions count as equal if their bounds lie in the same tenth of the rows.
    returns : tuple of float
        For each rule the share of the resamples that have a rule for the same class (or of the same
        sign) on the same sides of the same attributes, every bound at most a tenth apart.
    n_resamples : int
    """

    ruleset: RuleSet
    similarity: float
    returns: tuple[float, ...]
    n_resamples: int

    def __str__(self) -> str:
        rows = [
            f"{share:6.0%}  {str(rule).partition('   [')[0]}"
            for share, rule in sorted(
                zip(self.returns, self.ruleset, strict=True), key=lambda row: -row[0]
            )
        ]
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
    """Fit a learner on all rows and on rows drawn anew, and compare the rules.

    Parameters
    ----------
    estimator : classifier or regressor of this package
    X : data frame or array of shape (n_rows, n_attributes)
    y : array-like of shape (n_rows,)
    n_resamples : int
        How often as many rows as there are are drawn with replacement; at least 2.
    random_state : int, RandomState or None
    ruleset : RuleSet, optional
        The rules that may come back; by default those learned from all rows.

    Returns
    -------
    Stability

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
    tenths = tenths_of(whole, X)
    random = check_random_state(random_state)
    found: list[list[tuple[Any, frozenset[Mark]]]] = []
    for _ in range(n_resamples):
        # Classes keep their sizes; numbers are drawn freely.
        strata = None if whole.task == "regression" else y
        drawn = resample(X, y, random_state=random, stratify=strata)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said of all rows before
            model = clone(estimator).fit(*drawn)
        found.append([_meaning(rule, tenths, whole.task) for rule in model.ruleset_])
    conditions = [frozenset().union(*(marks for _, marks in rules)) for rules in found]
    returns = tuple(
        sum(any(_alike(meaning, other) for other in rules) for rules in found) / n_resamples
        for meaning in (_meaning(rule, tenths, whole.task) for rule in whole)
    )
    return Stability(whole, similarity(conditions), returns, n_resamples)


def similarity(found: Sequence[frozenset[Any]]) -> float:
    """Dice's coefficient of two sets of marks, averaged over all pairs; nothing differs from nothing.

    Examples
    --------
    >>> similarity([frozenset("ab"), frozenset("ab"), frozenset("bc")])
    0.666...
    """
    return float(np.mean([_dice(a, b) for a, b in combinations(found, 2)]))


def marks_of(ruleset: RuleSet, X: Any) -> frozenset[Mark]:
    """What the conditions of rules say, by tenths of the rows of a table.

    Examples
    --------
    >>> from frri import Attribute, Rule, RuleSet
    >>> rule = Rule((NumericCondition("age", 30.0, 30.0),), "old")
    >>> rules = RuleSet((rule,), (Attribute("age", 0, 40),), ("old", "young"))
    >>> sorted(marks_of(rules, [[age] for age in range(41)]))
    [Mark(attribute='age', side='>=', place=7)]
    """
    tenths = tenths_of(ruleset, X)
    return frozenset(
        mark
        for rule in ruleset
        for condition in rule.conditions
        for mark in _marks(condition, tenths)
    )


def tenths_of(ruleset: RuleSet, X: Any) -> Tenths:
    """The nine values (fewer where some are equal) that cut the rows into tenths, for each attribute with an order."""
    matrix = to_matrix(X, ruleset.attributes)
    return {
        attribute.name: np.unique(np.nanquantile(column, np.arange(1, 10) / 10))
        for attribute, column in zip(ruleset.attributes, matrix.T, strict=True)
        if attribute.kind != "nominal" and not np.isnan(column).all()
    }


def _meaning(rule: Rule, tenths: Tenths, task: str) -> tuple[Any, frozenset[Mark]]:
    """What a rule is for, and the marks of its conditions."""
    purpose: Any = rule.consequent
    if rule.relation != "is":
        purpose = rule.relation, rule.consequent
    elif not isinstance(purpose, str) and task != "classification":
        purpose = purpose * rule.weight > 0
    return purpose, frozenset(
        mark for condition in rule.conditions for mark in _marks(condition, tenths)
    )


def _marks(condition: Any, tenths: Tenths) -> Iterable[Mark]:
    name = condition.attribute
    if not isinstance(condition, NumericCondition):
        yield Mark(name, "in", tuple(sorted(condition.values, key=str)))
        return
    low, high = condition.support_low, condition.support_high
    for side, bound, core in ((">=", low, condition.core_low), ("<=", high, condition.core_high)):
        if not isinf(bound):
            # A fading side counts as lying where it holds by half.
            place = tenths[name].searchsorted((bound + core) / 2.0) if name in tenths else 0
            yield Mark(name, side, int(place))


def _dice(a: frozenset[Mark], b: frozenset[Mark]) -> float:
    """1 for two empty sets: nothing differs."""
    return 2.0 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


def _alike(one: tuple[Any, frozenset[Mark]], other: tuple[Any, frozenset[Mark]]) -> bool:
    """Whether two rules say the same but for a tenth."""
    if one[0] != other[0] or len(one[1]) != len(other[1]):
        return False
    places = {(mark.attribute, mark.side): mark.place for mark in other[1]}
    return all(
        (mark.attribute, mark.side) in places
        and _near(mark.place, places[mark.attribute, mark.side])
        for mark in one[1]
    )


def _near(a: Any, b: Any) -> bool:
    return bool(abs(a - b) <= 1) if isinstance(a, int) and isinstance(b, int) else bool(a == b)

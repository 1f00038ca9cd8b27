"""Contributions of rules to predictions, and the importance of features."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from frri._util import Floats
from frri.rules.inference import Decision
from frri.rules.rule import as_labels
from frri.rules.ruleset import RuleSet
from frri.table import EncodedTable, to_matrix


def compute_mean_fractions(ruleset: RuleSet, matrix: Floats) -> Floats:
    """Return samples x rules: the fraction of each rule in a weighted mean, with sum 1 in each row.

    Where no rule fires, all of it is the nearest rule's; where there is none, rows are 0.
    """
    decision = Decision(ruleset, matrix)
    weighted = decision.degrees * ruleset.arrays.weights
    total = weighted.sum(axis=1, keepdims=True)
    fractions = np.asarray(weighted / np.where(total > 0.0, total, 1.0))
    decided = np.flatnonzero(decision.deciding >= 0)
    fractions[decided, decision.deciding[decided]] = 1.0
    return fractions


def feature_importances(ruleset: RuleSet) -> Floats:
    """Return the importance of each feature in the rules; no data are needed.

    A rule has its weight times the samples it covered in training, or, where it adds a number,
    times the absolute value of that number. It is divided evenly among the features that the rule
    uses.

    Parameters
    ----------
    ruleset : RuleSet

    Returns
    -------
    ndarray of shape (n_features,)
        Sums to 1; all 0 if no rule with a weight has a condition.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> a, b = (NumericCondition.below(name, 3) for name in "ab")
    >>> rules = (Rule((a,), 0, 0.5), Rule((a, b), 1))
    >>> feature_importances(RuleSet(rules, (Attribute("a"), Attribute("b")), (0, 1))).round(2)
    array([0.67, 0.33])
    """
    place = {attribute.name: j for j, attribute in enumerate(ruleset.attributes)}
    meaning = ruleset.semantics.meaning
    adds = meaning.adds and meaning.says == "number"
    shares = np.zeros(len(place))
    for rule in ruleset:
        size = 1.0 if rule.statistics is None else rule.statistics.covered
        size = abs(float(rule.consequent)) if adds else size
        for name in rule.attributes:
            shares[place[name]] += rule.weight * size / len(rule.attributes)
    total = shares.sum()
    return np.asarray(shares / total) if total > 0.0 else shares


@dataclass(frozen=True)
class AttributeImportance:
    """Permutation importance of one feature.

    `rules` is the number of rules that use it, `drop` the mean loss of accuracy (or R²) when its
    values are shuffled, and `spread` the standard deviation of the loss.
    """

    attribute: str
    rules: int
    drop: float
    spread: float


def permutation_importance(
    ruleset: RuleSet, X: Any, y: Any, *, repeats: int = 5, seed: int = 0
) -> tuple[AttributeImportance, ...]:
    """Return the features by the accuracy, or R², lost when their values are shuffled.

    Parameters
    ----------
    ruleset : RuleSet
    X, y : table and labels, or numbers
    repeats : int
        Number of times that the values of each feature are shuffled.
    seed : int

    Returns
    -------
    tuple of AttributeImportance
        The greatest loss first.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> bounds = NumericCondition.below("a", 3), NumericCondition("a", 3, 3)
    >>> low, high = (Rule((bound,), c) for c, bound in enumerate(bounds))
    >>> rules = RuleSet((low, high), (Attribute("a"), Attribute("b")), (0, 1))
    >>> found = permutation_importance(rules, [[i, 0] for i in range(6)], [0, 0, 0, 1, 1, 1])
    >>> found[0].attribute, found[0].drop > 0, found[1].drop
    ('a', True, 0.0)
    """
    matrix = to_matrix(X, ruleset.attributes, ruleset.used_attributes)
    truth = as_labels(y)
    if not isinstance(repeats, int) or repeats < 1:
        raise ValueError(f"repeats must be an integer from 1 on, not {repeats!r}.")
    if not len(matrix):
        raise ValueError("There are no rows whose values could be shuffled.")
    if ruleset.task != "regression" and not set(ruleset.classes).intersection(truth.tolist()):
        raise ValueError(
            f"None of the labels, such as {truth.tolist()[0]!r}, is one of the model's classes, "
            f"such as {ruleset.classes[0]!r}."
        )

    def measure(rows: Floats) -> float:
        return ruleset.score(EncodedTable(rows, ruleset.attributes), truth)

    generator = np.random.default_rng(seed)
    whole, result = measure(matrix), []
    # R² of a target that is constant has nothing to lose.
    varies = ruleset.task != "regression" or bool((truth != truth[:1]).any())
    for j, attribute in enumerate(ruleset.attributes):
        users = sum(attribute.name in rule.attributes for rule in ruleset)
        drops = np.zeros(repeats)
        for repeat in range(repeats if users and varies else 0):
            shuffled = matrix.copy()
            shuffled[:, j] = generator.permutation(matrix[:, j])
            drops[repeat] = whole - measure(shuffled)
        loss = float(drops.mean()), float(drops.std())
        result.append(AttributeImportance(attribute.name, users, *loss))
    return tuple(sorted(result, key=lambda one: -one.drop))

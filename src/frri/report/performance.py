"""How well rules decide labelled rows, with how few of them, and which attributes that depends on."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri.rules import RuleSet

# Rows that are enough for a curve, its points, and the repetitions that are enough to rank attributes.
ENOUGH_ROWS = 1_000
CURVE_POINTS = 25
REPEATS = 3
# Rows x rules x attributes that shuffling may take; a wait of a few seconds.
EFFORT = 3_000_000


def performance(
    classes: NDArray[np.intp], decided: NDArray[np.intp], n_classes: int
) -> dict[str, Any]:
    """Accuracy, balanced accuracy (mean recall of the classes that occur) and the confusion matrix.

    Parameters
    ----------
    classes, decided : ndarray of int
        Positions of the true and of the decided classes.
    n_classes : int

    Returns
    -------
    dict
        `confusion` lists the cells that are not 0 as [true, decided, rows].

    Examples
    --------
    >>> performance(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2)
    {'accuracy': 0.75, 'balanced_accuracy': 0.75, 'confusion': [[0, 0, 1], [0, 1, 1], [1, 1, 2]]}
    """
    cells, counts = np.unique(classes * n_classes + decided, return_counts=True)
    sizes = np.bincount(classes, minlength=n_classes)
    right = np.bincount(classes[classes == decided], minlength=n_classes)
    occurring = sizes > 0
    return {
        "accuracy": float(right.sum() / len(classes)),
        "balanced_accuracy": float((right[occurring] / sizes[occurring]).mean()),
        "confusion": [
            [int(cell) // n_classes, int(cell) % n_classes, int(count)]
            for cell, count in zip(cells, counts, strict=True)
        ],
    }


def accuracy_by_size(
    ruleset: RuleSet,
    matrix: NDArray[np.float64],
    classes: NDArray[np.intp],
    covers: NDArray[np.bool_],
) -> list[dict[str, float]]:
    """Accuracy and coverage with the first 0, 1, 2, ... rules, at `CURVE_POINTS` sizes or fewer.

    A decision list is cut at its end (a rule without conditions at the very end stays); of other
    rules the one that covers most rows not covered yet comes next. Of many rows, `ENOUGH_ROWS` are
    counted: they must be in no particular order.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1),
    ...                 fallback="priors", class_counts=(1, 2))
    >>> rows = np.array([[1.0], [4.0]])
    >>> accuracy_by_size(rules, rows, np.array([0, 1]), rules.covers(rows))
    [{'n_rules': 0, 'accuracy': 0.5, 'coverage': 0.0}, {'n_rules': 1, 'accuracy': 1.0, 'coverage': 0.5}]
    """
    order, always = _order(ruleset, covers)
    matrix, classes, covers = matrix[:ENOUGH_ROWS], classes[:ENOUGH_ROWS], covers[:ENOUGH_ROWS]
    sizes = np.unique(np.linspace(0, len(order), CURVE_POINTS).round().astype(int))
    curve = []
    for size in sizes:
        kept = [*order[:size], *always]
        part = replace(ruleset, rules=tuple(ruleset[r] for r in kept))
        curve.append(
            {
                "n_rules": len(kept),
                "accuracy": float((part.predict_index(matrix) == classes).mean()),
                "coverage": float(covers[:, kept].any(axis=1).mean()),
            }
        )
    return curve


def importances(
    ruleset: RuleSet, matrix: NDArray[np.float64], classes: NDArray[np.intp], seed: int
) -> list[float]:
    """How much accuracy is lost when the values of one attribute are shuffled among the rows.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0), Rule((), 1, 0.5)),
    ...                 (Attribute("a"), Attribute("b")), (0, 1))
    >>> lost = importances(rules, np.array([[1.0, 0], [4, 0]] * 50), np.array([0, 1] * 50), seed=0)
    >>> lost[0] > 0.3, lost[1]
    (True, 0.0)
    """
    random = np.random.default_rng(seed)
    used = {name for rule in ruleset for name in rule.attributes}
    affordable = EFFORT // max(len(ruleset) * len(used), 1)
    chosen = random.permutation(len(matrix))[: min(ENOUGH_ROWS, max(affordable, 100))]
    matrix, classes = matrix[chosen], classes[chosen]
    intact = (ruleset.predict_index(matrix) == classes).mean()
    losses = []
    for j, attribute in enumerate(ruleset.attributes):
        lost = 0.0
        if attribute.name in used:
            for _ in range(REPEATS):
                shuffled = matrix.copy()
                random.shuffle(shuffled[:, j])
                lost += intact - (ruleset.predict_index(shuffled) == classes).mean()
        losses.append(float(lost / REPEATS))
    return losses


def _order(ruleset: RuleSet, covers: NDArray[np.bool_]) -> tuple[Sequence[int], Sequence[int]]:
    """Rules in the order in which they are added, and those that are always there."""
    n_rules = len(ruleset)
    if ruleset.combination == "first":
        last = n_rules > 0 and not ruleset[n_rules - 1].conditions
        return range(n_rules - last), range(n_rules - last, n_rules)
    left, order = list(range(n_rules)), []
    uncovered = np.ones(len(covers), dtype=bool)
    while left:
        gains = covers[uncovered][:, left].sum(axis=0)
        if not gains.any():
            break
        order.append(left.pop(int(gains.argmax())))
        uncovered &= ~covers[:, order[-1]]
    return [*order, *left], ()

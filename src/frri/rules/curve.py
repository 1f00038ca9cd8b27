"""How good fewer rules would be: accuracy or error, and coverage, by the number of rules."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats
from frri.rules.measures import accuracy, coverage
from frri.table import EncodedTable

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

# Sizes of rulesets at which the accuracy is measured, at most.
CURVE_POINTS = 25
# Rows that are enough to measure it.
MOST_ROWS = 1_000


def quality_by_size(
    ruleset: "RuleSet", matrix: Floats, truth: NDArray[Any], covers: Flags
) -> list[dict[str, float]]:
    """Accuracy, or mean absolute error, and coverage with the first 0, 1, 2, ... rules, at `CURVE_POINTS` sizes or fewer.

    A decision list is cut at its end (a rule without conditions at the very end stays); of other
    rules the one that covers most rows not covered yet comes next.

    Parameters
    ----------
    ruleset : RuleSet
    matrix : ndarray of float64
        Encoded values. Of more than `MOST_ROWS` rows the first are counted; they must be in no particular
        order.
    truth : ndarray
        Positions of the classes, or the numbers that are to be predicted.
    covers : ndarray of bool
        Rows x rules.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1),
    ...                 fallback="priors", class_counts=(1, 2))
    >>> rows = np.array([[1.0], [4.0]])
    >>> quality_by_size(rules, rows, np.array([0, 1]), rules.covers(rows))
    [{'n_rules': 0, 'accuracy': 0.5, 'coverage': 0.0}, {'n_rules': 1, 'accuracy': 1.0, 'coverage': 0.5}]
    """
    rows, truth = EncodedTable(matrix[:MOST_ROWS], ruleset.attributes), truth[:MOST_ROWS]
    order, always = adding_order(ruleset, covers)
    points = []
    for size in np.unique(np.linspace(0, len(order), CURVE_POINTS).round().astype(int)):
        kept = [*order[:size], *always]
        part = replace(ruleset, rules=tuple(ruleset[r] for r in kept))
        if ruleset.task == "regression":
            measured = {"mae": float(np.abs(part.predict(rows) - truth).mean())}
        else:
            measured = {"accuracy": accuracy(truth, part.predict_index(rows.matrix))}
        covered = coverage(covers[:MOST_ROWS, kept])
        points.append({"n_rules": len(part), **measured, "coverage": covered})
    return points


def adding_order(ruleset: "RuleSet", covers: Flags) -> tuple[Sequence[int], Sequence[int]]:
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

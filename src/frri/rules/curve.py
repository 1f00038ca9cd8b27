"""How good fewer rules would be: accuracy or error, and coverage, by the number of rules."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from frri.rules.measures import accuracy, coverage
from frri.table import EncodedTable

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

# Sizes of rulesets at which the accuracy is measured, at most.
CURVE_POINTS = 25


def accuracy_by_size(
    ruleset: "RuleSet",
    matrix: NDArray[np.float64],
    classes: NDArray[np.intp],
    covers: NDArray[np.bool_],
    most_rows: int = 1_000,
) -> list[dict[str, float]]:
    """Accuracy and coverage with the first 0, 1, 2, ... rules, at `CURVE_POINTS` sizes or fewer.

    A decision list is cut at its end (a rule without conditions at the very end stays); of other
    rules the one that covers most rows not covered yet comes next.

    Parameters
    ----------
    ruleset : RuleSet
    matrix : ndarray of float64
        Encoded values.
    classes : ndarray of int
        Positions of the classes.
    covers : ndarray of bool
        Rows x rules.
    most_rows : int
        Of more rows than these, the first are counted; they must be in no particular order.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1),
    ...                 fallback="priors", class_counts=(1, 2))
    >>> rows = np.array([[1.0], [4.0]])
    >>> accuracy_by_size(rules, rows, np.array([0, 1]), rules.covers(rows))
    [{'n_rules': 0, 'accuracy': 0.5, 'coverage': 0.0}, {'n_rules': 1, 'accuracy': 1.0, 'coverage': 0.5}]
    """
    rows, classes = matrix[:most_rows], classes[:most_rows]
    return [
        {
            "n_rules": len(part),
            "accuracy": accuracy(classes, part.predict_index(rows)),
            "coverage": covered,
        }
        for part, covered in _by_size(ruleset, covers, most_rows)
    ]


def error_by_size(
    ruleset: "RuleSet",
    matrix: NDArray[np.float64],
    truth: NDArray[np.float64],
    covers: NDArray[np.bool_],
    most_rows: int = 1_000,
) -> list[dict[str, float]]:
    """Mean absolute error and coverage with the first 0, 1, 2, ... rules that predict numbers.

    Parameters
    ----------
    ruleset : RuleSet
    matrix : ndarray of float64
        Encoded values.
    truth : ndarray of float64
        The numbers that are to be predicted.
    covers : ndarray of bool
        Rows x rules.
    most_rows : int
        Of more rows than these, the first are counted; they must be in no particular order.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 5.0),), (Attribute("a"),),
    ...                 semantics="added-contributions", base=(1,))
    >>> rows = np.array([[1.0], [4.0]])
    >>> error_by_size(rules, rows, np.array([6.0, 1.0]), rules.covers(rows))
    [{'n_rules': 0, 'mae': 2.5, 'coverage': 0.0}, {'n_rules': 1, 'mae': 0.0, 'coverage': 0.5}]
    """
    rows, truth = EncodedTable(matrix[:most_rows], ruleset.attributes), truth[:most_rows]
    return [
        {
            "n_rules": len(part),
            "mae": float(np.abs(part.predict(rows) - truth).mean()),
            "coverage": covered,
        }
        for part, covered in _by_size(ruleset, covers, most_rows)
    ]


def _by_size(
    ruleset: "RuleSet", covers: NDArray[np.bool_], most_rows: int
) -> Iterator[tuple["RuleSet", float]]:
    """The first so many rules, and the share of the rows that they cover."""
    order, always = adding_order(ruleset, covers)
    for size in np.unique(np.linspace(0, len(order), CURVE_POINTS).round().astype(int)):
        kept = [*order[:size], *always]
        part = replace(ruleset, rules=tuple(ruleset[r] for r in kept))
        yield part, coverage(covers[:most_rows, kept])


def adding_order(
    ruleset: "RuleSet", covers: NDArray[np.bool_]
) -> tuple[Sequence[int], Sequence[int]]:
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

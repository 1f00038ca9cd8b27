"""Which rule decides about which row, and how good the whole is beside an answer that asks no rule."""

from typing import Any

import numpy as np

from frri._util import Flags, Positions
from frri.rules import RuleSet
from frri.rules.contributions import find_largest_contributor
from frri.rules.inference import Decision
from frri.rules.measures import wilson


def deciding_rules(decision: Decision) -> Positions:
    """The rule that decides about each row or carries its answer, -1 where none does.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a", 0, 9),), (0, 1))
    >>> deciding_rules(rules.decide([[1.0], [4.0]]))
    array([ 0, -1])
    """
    carrying = find_largest_contributor(decision.ruleset, decision.matrix)
    return np.where(decision.silent, -1, decision.deciding) if carrying is None else carrying


def decided_rows(n_rules: int, deciding: Positions, right: Flags | None) -> list[dict[str, Any]]:
    """For each rule how many rows it decides, and how many of them rightly, with an interval.

    Examples
    --------
    >>> decided_rows(2, np.array([1, 1, -1]), np.array([True, False, True]))[0]
    {'rows': 0, 'right': 0, 'interval': None}
    """
    found: list[dict[str, Any]] = []
    for r in range(n_rules):
        own = deciding == r
        rows = int(own.sum())
        if right is None:
            found.append({"rows": rows, "right": None, "interval": None})
            continue
        hits = int(right[own].sum())
        found.append(
            {"rows": rows, "right": hits, "interval": list(wilson(hits, rows)) if rows else None}
        )
    return found


def beside(
    ruleset: RuleSet, classes: Positions, decided: Positions, uncovered: int
) -> dict[str, Any]:
    """How sure the accuracy is, what always answering the commonest class would reach, rows without a rule.

    Examples
    --------
    >>> rules = RuleSet((), (), ("no", "yes"), class_counts=(1, 2))
    >>> found = beside(rules, np.array([1, 1, 0]), np.array([1, 1, 1]), 3)
    >>> found["always"], [round(end, 2) for end in found["interval"]]
    ([1, 0.666...], [0.21, 0.94])
    """
    commonest = int(np.argmax(ruleset.class_counts))
    if len(set(ruleset.class_counts)) == 1:
        # Nothing is known about training, or the classes are level: the rows tell.
        commonest = int(np.bincount(classes, minlength=len(ruleset.classes)).argmax())
    hits = int((classes == decided).sum())
    return {
        "interval": list(wilson(hits, len(classes))),
        "always": [commonest, float((classes == commonest).mean())],
        "uncovered": uncovered,
    }

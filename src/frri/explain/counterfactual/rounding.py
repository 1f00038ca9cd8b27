"""A change in the user's units: values as short as they can be while they still alter the decision."""

from collections.abc import Iterator
from math import floor, isfinite, log10

import numpy as np

from frri._util import Floats
from frri.explain.counterfactual.bounds import Goal, alters, goal_or_other_class
from frri.rules.ruleset import RuleSet
from frri.table import Attribute

# Steps of a rounded date: a day, an hour, a minute, a second, a microsecond.
TIMES = (1.0, 1 / 24, 1 / 1440, 1 / 86_400, 1 / 86_400e6)
# A rounded number moves at most this share of the training range.
COARSEST = 0.02


def round_change(
    ruleset: RuleSet, row: Floats, changed: Floats, goal: Goal | None = None
) -> Floats:
    """Round the changed values of a row away from the old ones, as far as the decision stays altered.

    With a goal, as far as it is reached.

    Examples
    --------
    >>> from frri import NumericCondition, Rule
    >>> below = NumericCondition.below("a", 131.417)
    >>> rules = RuleSet((Rule((below,), 1), Rule((), 0, 0.5)), (Attribute("a", 44, 199),), (0, 1))
    >>> round_change(rules, np.array([170.0]), np.array([131.4169999]))
    array([131.])
    """
    goal = goal_or_other_class(ruleset, row, goal)
    result = changed.copy()
    for j in np.flatnonzero(~((changed == row) | (np.isnan(changed) & np.isnan(row)))):
        attribute = ruleset.attributes[j]
        if attribute.categories is not None:
            continue
        for value in _rounded(attribute, float(row[j]), float(changed[j])):
            candidate = result.copy()
            candidate[j] = value
            if alters(ruleset, candidate[None, :], goal)[0]:
                result = candidate
                break
    return result


def python_value(attribute: Attribute, value: float) -> float | str | None:
    """An encoded value as a table would hold it: a number, an ISO date, a category; None if missing.

    Examples
    --------
    >>> python_value(Attribute("day", 19000, 20000, kind="date"), 19358.5)
    '2023-01-01T12:00:00'
    """
    if np.isnan(value):
        return None
    if attribute.categories is not None:
        return attribute.show(value)
    if attribute.kind == "date":
        moment = np.datetime64(0, "us") + np.timedelta64(round(value * 86_400e6), "us")
        shown = str(moment).removesuffix(".000000")
        return shown.removesuffix("T00:00:00")
    return value


def _rounded(attribute: Attribute, before: float, after: float) -> Iterator[float]:
    """Ever less rounded values beyond `after`, within the range, seen from `before`."""
    steps = TIMES if attribute.kind == "date" else _decimal_steps(attribute)
    for step in steps:
        if step > COARSEST * attribute.width:
            continue
        # Beyond the border, or on it if that is where rounding leads.
        away = np.ceil if after > before else np.floor
        for towards in (np.round,) if np.isnan(before) else (np.round, away):
            value = _multiple(towards(after / step), step)
            if attribute.low <= value <= attribute.high and value != before:
                yield value


def _multiple(count: float, step: float) -> float:
    """Steps of 1/10 as a division: 7 / 10, not 7 * 0.1, is 0.7."""
    return float(count * step if step >= 1 else count / round(1 / step)) + 0.0


def _decimal_steps(attribute: Attribute) -> Iterator[float]:
    if not isfinite(attribute.width):
        return
    start = floor(log10(COARSEST * attribute.width))
    for exponent in range(start, max(start - 12, -300), -1):
        yield 10.0**exponent

"""Two rules of one consequent made into one that holds wherever either does."""

from collections.abc import Sequence
from math import inf

from frri.rules.condition import Condition, NominalCondition, NumericCondition
from frri.rules.rule import Rule
from frri.table import Attribute


def hull(
    first: Rule, second: Rule, attributes: Sequence[Attribute]
) -> tuple[NumericCondition | NominalCondition, ...]:
    """The narrowest conditions, one for each attribute, that hold wherever those of either rule do.

    Attributes that only one of the rules looks at have none, nor have those where nothing is left out.

    Examples
    --------
    >>> low, high = NumericCondition("a", 0, 1, 2, 3), NumericCondition("a", 1, 2, 4, 6)
    >>> only = NumericCondition("b", 5, 5)
    >>> hull(Rule((low, only), 0), Rule((high,), 0), (Attribute("a"), Attribute("b")))
    (NumericCondition(attribute='a', support_low=0, core_low=1, core_high=4, support_high=6),)
    """
    shared = set(first.attributes) & set(second.attributes)
    joined = (
        _nominal(first, second, attribute)
        if attribute.kind == "nominal"
        else _numeric(first, second, attribute)
        for attribute in attributes
        if attribute.name in shared
    )
    return tuple(condition for condition in joined if condition is not None)


def _numeric(first: Rule, second: Rule, attribute: Attribute) -> NumericCondition | None:
    sides = []
    for rule in (first, second):
        own = [c for c in _conditions(rule, attribute) if isinstance(c, NumericCondition)]
        below = max(c.support_low for c in own), max(c.core_low for c in own)
        above = min(c.core_high for c in own), min(c.support_high for c in own)
        sides.append((*below, *above))
    (low_1, core_1, top_1, high_1), (low_2, core_2, top_2, high_2) = sides
    # Several conditions of one rule on an attribute may leave nothing in which all of them hold fully.
    core_low, core_high = sorted((min(core_1, core_2), max(top_1, top_2)))
    low, high = min(low_1, low_2, core_low), max(high_1, high_2, core_high)
    if (low, high) == (-inf, inf):
        return None
    return NumericCondition(attribute.name, low, core_low, core_high, high)


def _nominal(first: Rule, second: Rule, attribute: Attribute) -> NominalCondition | None:
    values: set[str] = set()
    for rule in (first, second):
        own = [c.values for c in _conditions(rule, attribute) if isinstance(c, NominalCondition)]
        values |= own[0].intersection(*own[1:]) or own[0]
    if values >= set(attribute.categories or ()):
        return None
    return NominalCondition(attribute.name, frozenset(values))


def _conditions(rule: Rule, attribute: Attribute) -> list[Condition]:
    return [c for c in rule.conditions if c.attribute == attribute.name]

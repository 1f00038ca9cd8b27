"""Boxes around samples: scaled tables, and the sides of boxes as conditions."""

from typing import Any

import numpy as np

from frri._util import Flags, Floats, Ints, Types
from frri.fuzzy import Scaling
from frri.induction import ConditionType
from frri.learners.training_table import NumberTable, TrainingTable
from frri.rules import Condition, Label, NominalCondition, NumericCondition, Rule


def box_rule(
    table: TrainingTable | NumberTable,
    u: int,
    types: Types,
    radius: float,
    consequent: Label | float,
    **known: Any,
) -> Rule:
    """Return the rule of a box around a sample; its degree falls with the distance."""
    return Rule(
        conditions=box_conditions(table, int(u), types, radius),
        consequent=consequent,
        weight=float(radius),
        source=int(u),
        **known,
    )


def box_conditions(
    table: TrainingTable | NumberTable, u: int, types: Types, radius: float
) -> tuple[Condition, ...]:
    """Return the conditions of a box around a sample.

    Numeric features are trapezoids, 1 at the sample and 0 where the rule stops covering; nominal
    features are the category of the sample.
    """
    conditions: list[Condition] = []
    # Plain numbers: numpy asks a lot of an enumeration before it compares with it.
    for attribute, value, kind in zip(
        table.attributes, table.values[u].tolist(), types.tolist(), strict=True
    ):
        if kind == ConditionType.UNUSED:
            continue
        if attribute.kind == "nominal":
            category = (attribute.categories or ())[int(value)]
            conditions.append(NominalCondition(attribute.name, frozenset({category})))
            continue
        x, reach = value, float(radius) * (attribute.high - attribute.low)
        if kind == ConditionType.SIMILAR:
            conditions.append(NumericCondition(attribute.name, x - reach, x, x, x + reach))
        elif kind == ConditionType.AT_MOST:
            conditions.append(NumericCondition(attribute.name, core_high=x, support_high=x + reach))
        elif kind == ConditionType.AT_LEAST:
            conditions.append(NumericCondition(attribute.name, support_low=x - reach, core_low=x))
    return tuple(conditions)


def lengths_of(types: Types) -> Ints:
    """Return the number of conditions of each box.

    Examples
    --------
    >>> lengths_of(np.array([[0, 3, 1], [0, 0, 2]], dtype=np.int8))
    array([2, 1])
    """
    return np.asarray((types != ConditionType.UNUSED).sum(axis=1))


def scaled_values(table: TrainingTable | NumberTable) -> tuple[Floats, Flags | None]:
    """Return the values, numeric features scaled to [0, 1], and which features are nominal."""
    nominal = np.array([attribute.kind == "nominal" for attribute in table.attributes])
    low = np.array([attribute.low for attribute in table.attributes])
    high = np.array([attribute.high for attribute in table.attributes])
    if not nominal.any():
        return Scaling(low, high).transform(table.values), None
    low[nominal] = high[nominal] = 0.0
    values = Scaling(low, high).transform(table.values)
    values[:, nominal] = table.values[:, nominal]
    return values, nominal

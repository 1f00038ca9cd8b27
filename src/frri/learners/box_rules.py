"""Boxes as rules: those around samples, and the leaves of trees."""

from collections.abc import Iterator
from math import inf, nextafter
from typing import Any

import numpy as np

from frri._util import Flags, Floats, Ints, Types
from frri.fuzzy import Scaling
from frri.induction import ConditionType
from frri.learners.training_table import NumberTable, TrainingTable
from frri.rules import Condition, Label, NominalCondition, NumericCondition, Rule, RuleSet
from frri.table import column_names, describe_columns


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
    # Plain numbers, which are compared with an enumeration much faster than those of numpy.
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
    """Return the number of conditions of each box."""
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


def tree_rules(model: Any, X: Any, y: Any) -> RuleSet:
    """Return a rule for every leaf of a scikit-learn tree or forest, each once.

    A rule predicts the majority class of its leaf. The rules are candidates for `frontier`,
    where the best one decides; only those of a single tree decide as it does. A tree rounds values
    to single precision before it compares them and a rule does not, so a value that is nearly a
    threshold may be on the other side of it.

    Parameters
    ----------
    model : fitted DecisionTreeClassifier, RandomForestClassifier or ExtraTreesClassifier
    X, y : table of numbers and labels
        Those that it was fitted to, for names, ranges and statistics.

    Returns
    -------
    RuleSet

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[["petal width (cm)"]], y)
    >>> print(tree_rules(tree, X[["petal width (cm)"]], y))
    IF petal width (cm) <= 0.8 THEN target = 0   [confidence 1.00, covers 50 of 150, precision 1.00]
    IF petal width (cm) > 0.8 THEN target = 1   [confidence 1.00, covers 100 of 150, precision 0.50]
    """
    trees = [model] if hasattr(model, "tree_") else np.ravel(getattr(model, "estimators_", []))
    if not len(trees) or not all(hasattr(tree, "tree_") for tree in trees):
        raise ValueError(
            f"{type(model).__name__} has no leaves; give a fitted tree or forest of scikit-learn."
        )
    matrix = np.asarray(X, dtype=np.float64)
    names = column_names(X) or [f"x{j}" for j in range(matrix.shape[1])]
    classes = np.asarray(model.classes_).tolist()
    rules = {
        Rule(conditions, classes[own]): None
        for tree in trees
        for conditions, own in _leaves(tree.tree_, names)
    }
    found = RuleSet(
        tuple(rules),
        describe_columns(matrix, names),
        tuple(classes),
        str(getattr(y, "name", None) or "class"),
        fallback="priors",
        class_counts=tuple(float((np.asarray(y) == label).sum()) for label in classes),
    )
    return found.with_statistics(X, y)


def _leaves(tree: Any, names: list[str]) -> Iterator[tuple[tuple[NumericCondition, ...], int]]:
    """Yield the conditions on the way to each leaf, one for a feature, and its majority class."""
    waiting: list[tuple[int, dict[int, tuple[float, float]]]] = [(0, {})]
    while waiting:
        node, bounds = waiting.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            conditions = tuple(_condition(names[j], *bounds[j]) for j in sorted(bounds))
            yield conditions, int(tree.value[node].argmax())
            continue
        j, cut = int(tree.feature[node]), float(tree.threshold[node])
        low, high = bounds.get(j, (-inf, inf))
        waiting.append((right, bounds | {j: (max(low, cut), high)}))
        waiting.append((left, bounds | {j: (low, min(high, cut))}))


def _condition(name: str, low: float, high: float) -> NumericCondition:
    """Return the condition "above one number and at most another"."""
    core = low if low == -inf else nextafter(low, inf)
    return NumericCondition(name, low, core, high, high)

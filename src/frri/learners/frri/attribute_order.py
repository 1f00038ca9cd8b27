"""In which order a rule's conditions are opened, and the type from which each starts."""

from collections.abc import Mapping, Sequence
from math import fsum, log
from numbers import Integral
from typing import Any

import numpy as np

from frri import induction
from frri._util import Floats, Positions, Types, did_you_mean, short_repr
from frri.induction import ConditionType
from frri.induction.minimal_rules import discerning_power
from frri.learners.quickrules import PositiveRegion, greedy_reduct
from frri.learners.training_table import TrainingTable
from frri.learners.validation import check_choice, random_numbers
from frri.table import Attribute, EncodedTable
from frri.table.impute import impute_missing

# What `conditions` may say about an attribute, and the type from which it then starts.
RESTRICTIONS = {
    "any": ConditionType.SIMILAR,
    "at most": ConditionType.AT_MOST,
    "at least": ConditionType.AT_LEAST,
    "never": ConditionType.UNUSED,
}


def initial_types(conditions: Mapping[Any, Any], attributes: Sequence[Attribute]) -> Types | None:
    """Return the initial type of each feature, None without conditions."""
    if not conditions:
        return None
    positions = {attribute.name: j for j, attribute in enumerate(attributes)}
    initial = np.full(len(attributes), ConditionType.SIMILAR, dtype=np.int8)
    for key, restriction in conditions.items():
        j = _position(key, positions)
        place = f"conditions[{short_repr(key)}]"
        if not isinstance(restriction, str) or restriction not in RESTRICTIONS:
            raise ValueError(
                f"{place} must be 'any', 'at most', 'at least' or 'never', "
                f"got {short_repr(restriction)}."
            )
        if attributes[j].kind == "nominal" and restriction in {"at most", "at least"}:
            raise ValueError(
                f"{place} must be 'any' or 'never', got {restriction!r}: "
                "the categories of this column have no order."
            )
        initial[j] = RESTRICTIONS[restriction]
    return initial


def _position(key: Any, positions: Mapping[str, int]) -> int:
    """Return the column that a key of `conditions` names."""
    if str(key) in positions:
        return positions[str(key)]
    if isinstance(key, Integral) and str(key).isdecimal() and int(key) < len(positions):
        return int(key)
    raise ValueError(
        f"conditions names {short_repr(key)}, but the table has no such column; "
        f"{did_you_mean(short_repr(key), positions)}"
    )


# The orders that have a name: any learner has the first two, those that learn classes the others.
PLAIN_ORDERS = ("given", "random")
NAMED_ORDERS = (*PLAIN_ORDERS, "mutual-information", "dependency", "discerning", "shortest")

# Numbers are cut into so many parts of equal size before their mutual information is counted.
PARTS = 10


def attribute_orders(
    order: Any, shape: tuple[int, ...], random_state: Any, names: Sequence[str] = PLAIN_ORDERS
) -> Positions:
    """Return the permutation, or one per sample, of a parameter."""
    n_attributes = shape[1]
    if not isinstance(order, str):
        return _given_orders(order, shape)
    check_choice("attribute_order", order, names, ", a permutation or one per object")
    if order == "random":
        shuffled: Positions = random_numbers(random_state).permutation(n_attributes)
        return shuffled
    return np.arange(n_attributes)


def class_orders(
    order: Any,
    table: TrainingTable,
    values: Floats,
    initial: Types | None,
    random_state: Any,
) -> Positions | None:
    """Return the order for classes, which may rank features; None for the shortest rules.

    What comes first is dropped first: the attributes that tell least about the classes.
    """
    if not isinstance(order, str) or order not in NAMED_ORDERS[len(PLAIN_ORDERS) :]:
        return attribute_orders(order, values.shape, random_state, NAMED_ORDERS)
    if order == "shortest":
        return None
    # Equal rows count once, so that an object that weighs 2 is the same as two objects.
    rows = np.column_stack((np.nan_to_num(values, nan=-1.0), table.classes))
    _, once, copy_of = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    distinct, classes = values[once], table.classes[once]
    if order == "dependency":
        return _by_dependency(EncodedTable(table.values[once], table.attributes), classes)
    if order == "discerning":
        confidence = induction.confidences(distinct, classes, initial=initial)
        power = discerning_power(distinct, classes, confidence, initial=initial)
        return np.argsort(power[copy_of.reshape(-1)], axis=1, kind="stable")
    told = [
        mutual_information(column, classes, nominal=attribute.kind == "nominal")
        for column, attribute in zip(distinct.T, table.attributes, strict=True)
    ]
    return np.argsort(told, kind="stable")


def mutual_information(column: Floats, classes: Positions, *, nominal: bool = False) -> float:
    """How much an attribute tells about the class, in nats.

    Numbers are cut into tenths by how many values are smaller, so that equal values stay together;
    a missing value is one more part.

    Examples
    --------
    >>> mutual_information(np.array([0.1, 0.2, 0.8, 0.9]), np.array([0, 0, 1, 1]))
    0.6931...
    >>> mutual_information(np.array([0.1, 0.2, 0.1, 0.2]), np.array([0, 0, 1, 1]))
    0.0
    """
    known = ~np.isnan(column)
    parts = np.full(len(column), -1, dtype=np.int64)
    smaller = np.searchsorted(np.sort(column[known]), column[known])
    parts[known] = column[known] if nominal else PARTS * smaller // max(known.sum(), 1)
    _, codes = np.unique(parts, return_inverse=True)
    n_classes = int(classes.max()) + 1
    counts = np.bincount(codes * n_classes + classes).tolist()
    of_part, of_class = np.bincount(codes).tolist(), np.bincount(classes).tolist()
    n = len(column)
    # Added exactly, so that equal columns tell the same in any order of their parts.
    return fsum(
        k / n * log(k * n / (of_part[i // n_classes] * of_class[i % n_classes]))
        for i, k in enumerate(counts)
        if k
    )


def _by_dependency(table: EncodedTable, classes: Positions) -> Positions:
    """Order features: those that QuickReduct leaves out, then those it takes, the first last."""
    matrix = np.nan_to_num(impute_missing(table).matrix)
    region = PositiveRegion(matrix, classes, table.attributes, "minimum", "kleene_dienes")
    reduct = greedy_reduct(region, "first")
    rest = [a for a in range(len(table.attributes)) if a not in reduct]
    return np.array([*rest, *reversed(reduct)], dtype=np.intp)


def _given_orders(order: Any, shape: tuple[int, ...]) -> Positions:
    """Check a permutation, or one for each sample."""
    n_objects, n_attributes = shape
    try:
        array = np.asarray(order)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.shape not in {(n_attributes,), (n_objects, n_attributes)}:
        raise ValueError(
            f"attribute_order must have shape ({n_attributes},) or ({n_objects}, {n_attributes}), "
            f"got {short_repr(array.shape)}."
        )
    rows = np.atleast_2d(array)
    wrong = np.zeros(1, dtype=np.intp)
    if array.dtype.kind in "iu":
        wrong = np.flatnonzero((np.sort(rows, axis=1) != np.arange(n_attributes)).any(axis=1))
    if len(wrong):
        raise ValueError(
            f"attribute_order must be a permutation of 0 to {n_attributes - 1}, "
            f"got {short_repr(rows[wrong[0]].tolist())}."
        )
    return array.astype(np.intp)

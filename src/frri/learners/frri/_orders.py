"""In which order a rule's conditions are opened, and the type from which each starts."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util.names import nearest, shown
from frri.induction import ConditionType
from frri.learners._parameters import random_numbers
from frri.table import Attribute

# What `conditions` may say about an attribute, and the type from which it then starts.
RESTRICTIONS = {
    "any": ConditionType.SIMILAR,
    "at most": ConditionType.AT_MOST,
    "at least": ConditionType.AT_LEAST,
    "never": ConditionType.UNUSED,
}


def initial_types(
    conditions: Mapping[Any, Any], attributes: Sequence[Attribute]
) -> NDArray[np.int8] | None:
    """The type from which each attribute starts, None if nothing is said about any."""
    if not conditions:
        return None
    positions = {attribute.name: j for j, attribute in enumerate(attributes)}
    initial = np.full(len(attributes), ConditionType.SIMILAR, dtype=np.int8)
    for key, restriction in conditions.items():
        j = _position(key, positions)
        place = f"conditions[{shown(key)}]"
        if not isinstance(restriction, str) or restriction not in RESTRICTIONS:
            raise ValueError(
                f"{place} must be 'any', 'at most', 'at least' or 'never', got {shown(restriction)}."
            )
        if attributes[j].kind == "nominal" and restriction in {"at most", "at least"}:
            raise ValueError(
                f"{place} must be 'any' or 'never', got {restriction!r}: "
                "the categories of this column have no order."
            )
        initial[j] = RESTRICTIONS[restriction]
    return initial


def _position(key: Any, positions: Mapping[str, int]) -> int:
    """The column that a key of `conditions` means."""
    if str(key) in positions:
        return positions[str(key)]
    if isinstance(key, Integral) and str(key).isdecimal() and int(key) < len(positions):
        return int(key)
    raise ValueError(
        f"conditions names {shown(key)}, but the table has no such column; "
        f"{nearest(shown(key), positions)}"
    )


def attribute_orders(order: Any, shape: tuple[int, ...], random_state: Any) -> NDArray[np.intp]:
    """The permutation, or one per object, that a parameter stands for."""
    n_objects, n_attributes = shape
    if isinstance(order, str):
        if order == "given":
            return np.arange(n_attributes)
        if order == "random":
            shuffled: NDArray[np.intp] = random_numbers(random_state).permutation(n_attributes)
            return shuffled
        raise ValueError(
            "attribute_order must be 'given', 'random', a permutation or one per object, "
            f"got {shown(order)}."
        )
    try:
        array = np.asarray(order)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.shape not in {(n_attributes,), (n_objects, n_attributes)}:
        raise ValueError(
            f"attribute_order must have shape ({n_attributes},) or ({n_objects}, {n_attributes}), "
            f"got {shown(array.shape)}."
        )
    rows = np.atleast_2d(array)
    wrong = np.zeros(1, dtype=np.intp)
    if array.dtype.kind in "iu":
        wrong = np.flatnonzero((np.sort(rows, axis=1) != np.arange(n_attributes)).any(axis=1))
    if len(wrong):
        raise ValueError(
            f"attribute_order must be a permutation of 0 to {n_attributes - 1}, "
            f"got {shown(rows[wrong[0]].tolist())}."
        )
    return array.astype(np.intp)

"""Attributes with which answers must not fall, or not rise, and the sentence that says it is proved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import find_name, short_repr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from frri.table import Attribute


def directions(monotone: Any, attributes: Sequence[Attribute]) -> NDArray[np.int8]:
    """For each attribute 1 if answers must not fall with it, -1 if they must not rise, otherwise 0.

    Parameters
    ----------
    monotone : mapping of str to {1, -1} or None
        What is declared.
    attributes : sequence of Attribute

    Examples
    --------
    >>> from frri.table import Attribute
    >>> directions({"age": 1}, [Attribute("age"), Attribute("dose")])
    array([1, 0], dtype=int8)
    """
    found = np.zeros(len(attributes), dtype=np.int8)
    if monotone is None:
        return found
    if not isinstance(monotone, Mapping):
        raise ValueError(  # noqa: TRY004 - scikit-learn's convention for parameters
            f"monotone must map attributes to +1 or -1, such as {{'age': 1}}, got {short_repr(monotone)}."
        )
    names = [attribute.name for attribute in attributes]
    for name, direction in monotone.items():
        place = names.index(find_name(str(name), names, "The table"))
        if attributes[place].kind == "nominal":
            raise ValueError(
                f"monotone names {name!r}, whose categories have no order; "
                "make it an ordered column or leave it out."
            )
        if isinstance(direction, bool | np.bool_) or direction not in (1, -1):
            raise ValueError(f"monotone of {name!r} must be +1 or -1, got {short_repr(direction)}.")
        found[place] = direction
    return found


def monotone_claim(declared: NDArray[np.int8], attributes: Sequence[Attribute]) -> str:
    """What is proved about rules whose sides obey the directions; nothing without any.

    Examples
    --------
    >>> from frri.table import Attribute
    >>> monotone_claim(np.array([1, 0, -1]), [Attribute("age"), Attribute("dose"), Attribute("price")])
    'Proved: no answer falls as age rises or price falls, all else being equal.'
    """
    ways = [
        f"{attribute.name} {'rises' if direction > 0 else 'falls'}"
        for attribute, direction in zip(attributes, declared.tolist(), strict=True)
        if direction
    ]
    if not ways:
        return ""
    return f"Proved: no answer falls as {' or '.join(ways)}, all else being equal."

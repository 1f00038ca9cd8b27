"""What the additive learners share: checks of their parameters, monotone attributes."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util.names import find_name, shown
from frri.learners.additive._columns import AT_LEAST, AT_MOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from frri.table import Attribute

# More rules or conditions than this nobody reads.
MOST = 10_000


def check_count(name: str, value: Any, least: int, words: Sequence[str] = ()) -> None:
    """Complain about a parameter that is not a whole number, or one of the words allowed.

    Examples
    --------
    >>> check_count("max_rules", 0, 1, ["auto"])
    Traceback (most recent call last):
        ...
    ValueError: max_rules must be a whole number of at least 1 or "auto", got 0.
    """
    if isinstance(value, str) and value in words:
        return
    if not isinstance(value, Integral) or value is True or value < least:
        also = "".join(f' or "{word}"' for word in words)
        raise ValueError(
            f"{name} must be a whole number of at least {least}{also}, got {shown(value)}."
        )
    if int(value) > MOST:
        raise ValueError(f"{name} must be {MOST} at most, got {shown(value)}.")


def upward_sides(monotone: Any, attributes: Sequence[Attribute]) -> NDArray[np.bool_] | None:
    """Attributes x sides: what a rule that pulls upwards may use; None without any restriction.

    Examples
    --------
    >>> from frri.table import Attribute
    >>> upward_sides({"age": 1}, [Attribute("age"), Attribute("dose")])
    array([[False,  True],
           [ True,  True]])
    """
    if monotone is None:
        return None
    if not isinstance(monotone, Mapping):
        raise ValueError(  # noqa: TRY004 - scikit-learn's convention for parameters
            f"monotone must map attributes to +1 or -1, such as {{'age': 1}}, got {shown(monotone)}."
        )
    allowed = np.ones((len(attributes), 2), dtype=np.bool_)
    names = [attribute.name for attribute in attributes]
    for name, direction in monotone.items():
        place = names.index(find_name(str(name), names, "The table"))
        if attributes[place].kind == "nominal":
            raise ValueError(
                f"monotone names {name!r}, whose categories have no order; "
                "make it an ordered column or leave it out."
            )
        if isinstance(direction, bool | np.bool_) or direction not in (1, -1):
            raise ValueError(f"monotone of {name!r} must be +1 or -1, got {shown(direction)}.")
        allowed[place, AT_MOST if direction > 0 else AT_LEAST] = False
    return allowed if monotone else None

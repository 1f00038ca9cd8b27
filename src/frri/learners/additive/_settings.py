"""What the additive learners share: what their votes mean, how many rules, monotone attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util.names import find_name, shown
from frri.learners._parameters import check_count
from frri.learners.additive._columns import AT_LEAST, AT_MOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from frri.table import Attribute

# How the degrees of voting rules become an answer.
VOTES: dict[str, Any] = {"semantics": "softmax-votes", "t_norm": "product", "clip": True}
# More rules or conditions than this nobody reads.
MOST = 10_000


def check_size(max_rules: Any, max_conditions: Any, words: Sequence[str]) -> None:
    """Complain about sizes that make no sense.

    Examples
    --------
    >>> check_size("all", 4, ["auto"])
    Traceback (most recent call last):
        ...
    ValueError: max_rules must be a whole number from 1 on or "auto", got 'all'.
    """
    check_count("max_rules", max_rules, 1, MOST, words)
    check_count("max_conditions", max_conditions, 1, MOST)


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

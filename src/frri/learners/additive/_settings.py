"""What the additive learners share: what their votes mean, how many rules, monotone attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frri.learners.additive._columns import AT_LEAST, AT_MOST
from frri.learners.validation import check_count, directions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri._util import Flags
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


def upward_sides(monotonic_cst: Any, attributes: Sequence[Attribute]) -> Flags | None:
    """Attributes x sides: what a rule that pulls upwards may use; None without any restriction.

    Examples
    --------
    >>> from frri.table import Attribute
    >>> upward_sides({"age": 1}, [Attribute("age"), Attribute("dose")])
    array([[False,  True],
           [ True,  True]])
    """
    declared = directions(monotonic_cst, attributes)
    if not declared.any():
        return None
    allowed = np.ones((len(attributes), 2), dtype=np.bool_)
    allowed[declared > 0, AT_MOST] = False
    allowed[declared < 0, AT_LEAST] = False
    return allowed

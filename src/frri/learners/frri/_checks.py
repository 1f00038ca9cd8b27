"""Complaints about parameters that the learners of FRRI have in common."""

from collections.abc import Mapping
from math import inf
from numbers import Real
from typing import Any

from frri._util.names import shown
from frri.learners._parameters import LARGEST_AMOUNT, check_count

# More steps than any search takes in a year.
MOST_EFFORT = 10**18


def check_search(effort: Any, time_limit: Any) -> None:
    """Complain about limits of the search for the fewest rules.

    Examples
    --------
    >>> check_search(60_000, -1)
    Traceback (most recent call last):
        ...
    ValueError: time_limit must be a number of seconds, 0 or more, got -1.
    """
    check_count("effort", effort, most=MOST_EFFORT)
    if time_limit is None:
        return
    number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
    if not (number and (0 <= time_limit <= LARGEST_AMOUNT or time_limit == inf)):
        raise ValueError(
            f"time_limit must be a number of seconds, 0 or more, got {shown(time_limit)}."
        )


def check_conditions(conditions: Any) -> None:
    """Complain about what is no mapping from columns to the conditions they may have.

    Examples
    --------
    >>> check_conditions("at most")
    Traceback (most recent call last):
        ...
    ValueError: conditions must be a mapping from columns to 'any', 'at most', 'at least' or 'never', got 'at most'.
    """
    if conditions is not None and not isinstance(conditions, Mapping):
        raise ValueError(
            "conditions must be a mapping from columns to 'any', 'at most', 'at least' or 'never', "
            f"got {shown(conditions)}."
        )

"""What the learners of FRRI have in common: parameters, the time that is left, and what is proved."""

import warnings
from collections.abc import Iterable, Mapping
from math import inf
from numbers import Real
from typing import Any

from sklearn.utils import Bunch

from frri._util import Ints, short_repr
from frri.cover import Cover, PartialCover
from frri.learners.base import RuleLearner
from frri.learners.frri.selection import Limits, unproved
from frri.learners.validation import LARGEST_AMOUNT, check_count, random_numbers

# More steps than any search takes in a year.
MOST_EFFORT = 10**18


class FRRILearner(RuleLearner):
    """Base of the learners that keep the fewest of the rules around objects."""

    _missing_choices = ("typical", "similar", "error")
    # What shares in limits are taken of, in words.
    _shares_of = "class"

    # Parameters of all of them, but for the last one.
    effort: int
    time_limit: float | None
    random_state: Any
    conditions: Any = None

    selection_: Bunch

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_search(self.effort, self.time_limit)
        random_numbers(self.random_state)
        self._limits().check()
        check_conditions(self.conditions)

    def _limits(self) -> Limits:
        """The limits among the parameters."""
        known = {name: getattr(self, name) for name in Limits._fields[:-1] if hasattr(self, name)}
        return Limits(**known, of=self._shares_of)

    def _time_left(self, spent: float) -> float | None:
        """The seconds that remain for the choice of rules."""
        return None if self.time_limit is None else max(0.0, self.time_limit - spent)

    def _meaning(self) -> dict[str, Any]:
        """How rules read values: as in training, where the ends of a range stand for what is beyond."""
        return {"clip": True, "missing": "typical" if self.missing == "typical" else "similar"}

    def _certified(
        self, cover: Cover | PartialCover, lengths: Ints, n_objects: int, **known: Any
    ) -> Bunch:
        """What is known of the rules chosen, and proved."""
        limits = self._limits()
        return Bunch(
            **limits.certificate(cover, n_objects)
            | {
                "claim": limits.claim,
                "n_rules": len(cover.selected),
                "n_conditions": int(lengths[cover.selected].sum()),
            }
            | known
        )

    def _certificate(self) -> dict[str, Any]:
        """What rules say about how they were chosen: not how long it took."""
        return {key: value for key, value in self.selection_.items() if key != "seconds"}

    def _warn_if_unproved(self) -> None:
        if self.selection_.status != "optimal" and self.selection_.stopped_by != "gap":
            warnings.warn(unproved(self.selection_), UserWarning, stacklevel=4)


def first_rows(rows: Iterable[int]) -> str:
    """Rows for people, counted from 1, not too many.

    Examples
    --------
    >>> first_rows([0, 2]), first_rows(range(12))
    ('1, 3', '1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...')
    """
    numbers = [str(row + 1) for row in rows]
    return ", ".join([*numbers[:10], "..."] if len(numbers) > 10 else numbers)


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
            f"time_limit must be a number of seconds, 0 or more, got {short_repr(time_limit)}."
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
            f"got {short_repr(conditions)}."
        )

"""What is said about a table and about the rules found in it."""

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from frri.learners._base import TrainingTable
from frri.learners.frri._limits import unproved

# More rules than this share of the objects, of so many at least, remember objects more than they tell.
MANY_RULES, ENOUGH_OBJECTS = 1 / 3, 50


class ManyRulesWarning(UserWarning):
    """The classes overlap so much that FRRI needs nearly as many rules as there are objects."""


def too_many_rules(n_rules: int, n_objects: int) -> bool:
    """Whether there are so many rules that another learner should be asked.

    Examples
    --------
    >>> too_many_rules(40, 100), too_many_rules(9, 150)
    (True, False)
    """
    return n_objects >= ENOUGH_OBJECTS and n_rules > MANY_RULES * n_objects


def warn_if_one_class(table: TrainingTable) -> None:
    """One rule says it all."""
    if len(table.labels) == 1:
        warnings.warn(
            f"All objects have the class {table.labels[0]!r}: one rule without conditions says it all.",
            UserWarning,
            stacklevel=3,
        )


def warn_if_many(learner: str, n_rules: int, n_objects: int) -> None:
    """Other learners need fewer rules."""
    if too_many_rules(n_rules, n_objects):
        warnings.warn(
            f"{learner} needs {n_rules} rules for {n_objects} objects, because classes "
            "overlap; CompactFRRIClassifier, RIPPERClassifier or AdditiveRulesClassifier needs fewer "
            "and may predict better.",
            ManyRulesWarning,
            stacklevel=4,
        )


def warn_about_results(
    table: TrainingTable,
    selection: Bunch,
    hopeless: NDArray[np.int64],
    *,
    restricted: bool,
) -> None:
    """Too many rules, objects that no candidate covers, limits that were reached."""
    values = table.values
    warn_if_many("FRRI", selection.n_rules, len(values))
    if len(hopeless):
        reason = "the same or nearly the same values"
        reason += ", missing ones left aside" if np.isnan(values).any() else ""
        reason += ", as far as conditions on them are allowed" if restricted else ""
        empty = "".join(
            f" Row {row + 1} is empty and so like all others: drop it."
            for row in np.flatnonzero(np.isnan(values).all(axis=1))[:1]
        )
        shown = ", ".join(map(str, hopeless[:10] + 1))
        more = ", ..." if len(hopeless) > 10 else ""
        warnings.warn(
            f"{len(hopeless)} of {len(values)} objects are covered by no rule, because an "
            f"object of another class has {reason}: rows {shown}{more}.{empty}",
            UserWarning,
            stacklevel=3,
        )
    if selection.get("n_incomplete"):
        warnings.warn(
            f"{selection.n_incomplete} of {len(values)} objects have more than "
            f"{selection.max_candidates} minimal rules, of which only so many were looked at; a larger "
            "max_candidates may need fewer rules.",
            UserWarning,
            stacklevel=3,
        )
    if selection.status != "optimal" and selection.stopped_by != "gap":
        warnings.warn(unproved(selection), UserWarning, stacklevel=3)

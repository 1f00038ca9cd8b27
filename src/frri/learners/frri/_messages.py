"""What is said about one class, and about many rules."""

import warnings

from frri.learners.training import TrainingTable

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

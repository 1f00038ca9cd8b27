"""Growing and pruning a single rule, and splitting objects for the two (Cohen 1995)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from frri.learners.ripper._sorted_columns import NO_TESTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frri._util import Flags
    from frri.learners.ripper._sorted_columns import Part, SortedColumns, Tests

Worth = Literal["precision", "accuracy"]


def split(
    columns: SortedColumns,
    classes: NDArray[np.integer],
    rows: Flags,
    folds: int,
    random: np.random.RandomState,
) -> tuple[Flags, Flags]:
    """Divide objects at random, class by class, into those to grow and those to prune a rule with.

    Parameters
    ----------
    columns : SortedColumns
    classes : ndarray of int, shape (n_objects,)
    rows : ndarray of bool, shape (n_objects,)
        The objects to divide.
    folds : int
        One part in so many is for pruning.
    random : RandomState

    Returns
    -------
    grow, prune : ndarray of bool, shape (n_objects,)

    Examples
    --------
    >>> from frri.table import Attribute
    >>> from frri.learners.ripper._sorted_columns import SortedColumns
    >>> columns = SortedColumns.of(np.arange(6.0)[:, None], [Attribute("a")])
    >>> classes, everything = np.array([0, 0, 0, 1, 1, 1]), np.ones(6, dtype=bool)
    >>> grow, prune = split(columns, classes, everything, 3, np.random.RandomState(0))
    >>> classes[grow], classes[prune]
    (array([0, 0, 1, 1]), array([0, 1]))
    """
    shuffled = random.permutation(np.flatnonzero(rows))
    grow, prune = columns.description_length.deal(shuffled, classes, folds)
    return grow, prune


def grow(
    part: Part,
    rows: Flags,
    tests: Tests = NO_TESTS,
    *,
    min_weight: float = 2.0,
    most: int | None = None,
) -> Tests:
    """Add tests to a rule, each the one of greatest information gain, until it is pure.

    Parameters
    ----------
    part : Part
    rows : ndarray of bool, shape (n_objects,)
        Which objects of the part to grow on.
    tests : ndarray of float, shape (n_tests, 3)
        What the rule consists of so far; all objects to grow on must satisfy it.
    min_weight : float
        A test that fewer positives satisfy is not added and ends the growth.
    most : int, optional
        How many tests there are in the end at most.
    """
    # Every test is the best after those before it, so that the first ones are those of a shorter rule.
    added = part.grown(rows, min_weight)[: None if most is None else max(0, most - len(tests))]
    return np.concatenate((tests, added)) if len(tests) else added


def prune(
    columns: SortedColumns,
    rows: Flags,
    positive: Flags,
    tests: Tests,
    *,
    worth: Worth,
    keep_hopeless: bool,
) -> Tests:
    """Cut a rule to its beginning of greatest worth.

    Parameters
    ----------
    columns : SortedColumns
    rows, positive : ndarray of bool, shape (n_objects,)
        The objects to prune on, and which objects are of the rule's class.
    tests : ndarray of float, shape (n_tests, 3)
    worth : {"precision", "accuracy"}
        The share of positives among the objects it covers, smoothed: (p + 1) / (t + 2); or the share
        of all objects that it decides rightly, covered positives and negatives that are not covered.
    keep_hopeless : bool
        What to do with a rule of which no beginning is worth more than having no rule at all: leave
        it as it is, or drop all its tests.

    Returns
    -------
    ndarray of float, shape (n_kept, 3)
        The shortest of the best beginnings. Without objects to judge by, the rule as it is.
    """
    (n_objects, n_positives), *beginnings = columns.beginnings(tests, rows, positive)
    if not n_objects:
        return tests
    best, length = (n_positives + 1) / (n_objects + 2), 0
    for k, (t, p) in enumerate(beginnings, 1):
        if worth == "precision":
            value = (p + 1) / (t + 2)
        else:
            value = (p + (n_objects - n_positives) - (t - p)) / n_objects
        if value > best:
            best, length = value, k
    return tests if not length and keep_hopeless else tests[:length]

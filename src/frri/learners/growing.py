"""Growing and pruning a single rule, and splitting objects for the two (Cohen 1995)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from frri.learners.sorted_columns import CrispTest, satisfies

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frri.learners.sorted_columns import Part, SortedColumns

    Flags = NDArray[np.bool_]
    Tests = tuple[CrispTest, ...]

Worth = Literal["precision", "accuracy"]


def split(
    classes: NDArray[np.integer], rows: Flags, folds: int, random: np.random.RandomState
) -> tuple[Flags, Flags]:
    """Divide objects at random, class by class, into those to grow and those to prune a rule with.

    Parameters
    ----------
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
    >>> classes, everything = np.array([0, 0, 0, 1, 1, 1]), np.ones(6, dtype=bool)
    >>> grow, prune = split(classes, everything, 3, np.random.RandomState(0))
    >>> classes[grow], classes[prune]
    (array([0, 0, 1, 1]), array([0, 1]))
    """
    shuffled = random.permutation(np.flatnonzero(rows))
    bags = shuffled[classes[shuffled].argsort(kind="stable")]
    dealt = np.concatenate([bags[fold::folds] for fold in range(folds)])
    n_grow = len(dealt) * (folds - 1) // folds
    grow, prune = np.zeros_like(rows), np.zeros_like(rows)
    grow[dealt[:n_grow]] = True
    prune[dealt[n_grow:]] = True
    return grow, prune


def grow(part: Part, tests: Tests = (), *, min_weight: float = 2.0) -> Tests:
    """Add tests to a rule, each the one of greatest information gain, until it is pure.

    Parameters
    ----------
    part : Part
        The objects to grow on.
    tests : tuple of CrispTest
        What the rule consists of so far; all objects of the part must satisfy it.
    min_weight : float
        A test that fewer positives satisfy is not added and ends the growth.
    """
    logs = part.columns.logs
    n_objects, n_positives = len(part.order[0]), int(np.count_nonzero(part.positive[0]))
    while n_positives < n_objects:
        found = part.best_test(logs[n_positives + 1] - logs[n_objects + 1])
        if found is None or found.positives < min_weight:
            break
        tests = (*tests, found.test)
        n_objects, n_positives = found.objects, found.positives
        if n_positives < n_objects:
            part = part.satisfying(found.test)
    return tests


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
    tests : tuple of CrispTest
    worth : {"precision", "accuracy"}
        The share of positives among the objects it covers, smoothed: (p + 1) / (t + 2); or the share
        of all objects that it decides rightly, covered positives and negatives that are not covered.
    keep_hopeless : bool
        What to do with a rule of which no beginning is worth more than having no rule at all: leave
        it as it is, or drop all its tests.

    Returns
    -------
    tuple of CrispTest
        The shortest of the best beginnings. Without objects to judge by, the rule as it is.
    """
    objects = np.flatnonzero(rows)
    n_objects, n_positives = len(objects), np.count_nonzero(positive[objects])
    if not n_objects:
        return tests
    best, length = (n_positives + 1) / (n_objects + 2), 0
    for k, test in enumerate(tests, 1):
        objects = objects[satisfies(columns.values[test.attribute][objects], test)]
        t, p = len(objects), np.count_nonzero(positive[objects])
        if worth == "precision":
            value = (p + 1) / (t + 2)
        else:
            value = (p + (n_objects - n_positives) - (t - p)) / n_objects
        if value > best:
            best, length = value, k
    return tests if not length and keep_hopeless else tests[:length]

"""What rules cover in a labelled table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri.rules.rule import RuleStatistics

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet


def rule_statistics(
    ruleset: "RuleSet", matrix: NDArray[np.float64], labels: Any
) -> tuple[RuleStatistics, ...]:
    """Support, precision, lift and what each rule alone covers, for encoded (and clipped) values."""
    classes = _positions(ruleset, labels, len(matrix))
    support, alone = _count(ruleset, matrix, classes)
    position = {label: c for c, label in enumerate(ruleset.classes)}
    own = np.array([position[rule.consequent] for rule in ruleset], dtype=np.intp)
    sizes = np.bincount(classes, minlength=len(ruleset.classes))
    return statistics_of_counts(own, support, alone, sizes)


def statistics_of_counts(
    own: NDArray[np.intp],
    support: NDArray[Any],
    alone: NDArray[Any],
    class_sizes: NDArray[Any],
) -> tuple[RuleStatistics, ...]:
    """The statistics of rules whose covered objects are counted already.

    Parameters
    ----------
    own : array of shape (n_rules,)
        The class of each rule.
    support : array of shape (n_rules, n_classes)
        Objects of each class under each rule, or what they weigh.
    alone : array of shape (n_rules,)
        Those under this rule and no other.
    class_sizes : array of shape (n_classes,)
        Those of each class in the whole table.
    """
    shares = (class_sizes / (class_sizes.sum() or 1))[own]
    covered = support.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = support[np.arange(len(own)), own] / covered
        lift = precision / shares
    return tuple(
        RuleStatistics(
            tuple(counts),
            part if whole else None,
            above if whole and share else None,
            single,
        )
        for counts, whole, part, share, above, single in zip(
            *(array.tolist() for array in (support, covered, precision, shares, lift, alone)),
            strict=True,
        )
    )


def statistics_of_covers(
    own: Sequence[int],
    covers: Sequence[NDArray[np.bool_]],
    classes: NDArray[np.intp],
    n_classes: int,
) -> tuple[RuleStatistics, ...]:
    """The statistics of rules of which it is known which objects they cover.

    Parameters
    ----------
    own : sequence of int
        The class of each rule.
    covers : sequence of array of bool, shape (n_objects,)
        For each rule, which objects it covers.
    classes : array of int, shape (n_objects,)
    n_classes : int

    Examples
    --------
    >>> covers = [np.array([True, True, False]), np.array([False, True, True])]
    >>> statistics_of_covers([0, 1], covers, np.array([0, 1, 1]), 2)[1]
    RuleStatistics(support=(0, 2), precision=1.0, lift=1.5, alone=1)
    """
    together = np.zeros(len(classes), dtype=np.int64)
    for covered in covers:
        together += covered
    once = together == 1
    support = np.zeros((len(covers), n_classes), dtype=np.int64)
    alone = np.zeros(len(covers), dtype=np.int64)
    for r, covered in enumerate(covers):
        support[r] = np.bincount(classes[covered], minlength=n_classes)
        alone[r] = np.count_nonzero(covered & once)
    sizes = np.bincount(classes, minlength=n_classes)
    return statistics_of_counts(np.array(own, dtype=np.intp), support, alone, sizes)


def _count(
    ruleset: "RuleSet", matrix: NDArray[np.float64], classes: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Objects of each class under each rule, and those under no other rule."""
    from frri.rules.ruleset import COVERS  # noqa: PLC0415 - ruleset imports this module

    matcher = ruleset._matcher  # noqa: SLF001 - the two share one package
    support = np.zeros((len(ruleset), len(ruleset.classes)), dtype=np.int64)
    alone = np.zeros(len(ruleset), dtype=np.int64)
    for block in matcher.blocks(len(matrix)):
        covers = matcher.matching(matrix[block]) * matcher.weights > COVERS
        for c in range(len(ruleset.classes)):
            support[:, c] += covers[classes[block] == c].sum(axis=0)
        alone += covers[covers.sum(axis=1) == 1].sum(axis=0)
    return support, alone


def _positions(ruleset: "RuleSet", labels: Any, n_rows: int) -> NDArray[np.intp]:
    """Labels as positions in the ruleset's classes."""
    values = np.asarray(labels)
    if values.shape != (n_rows,):
        raise ValueError(f"Expected {n_rows} labels, one per row, got shape {values.shape}.")
    position = {label: c for c, label in enumerate(ruleset.classes)}
    try:
        return np.array([position[label] for label in values.tolist()], dtype=np.intp)
    except KeyError as error:
        known = ", ".join(map(repr, ruleset.classes))
        raise ValueError(f"Label {error.args[0]!r} is none of the classes {known}.") from None

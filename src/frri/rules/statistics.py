"""What each rule covers in a labelled table: support, precision, lift, and what no other rule covers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, Positions
from frri.rules.rule import RuleStatistics, given_labels

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet


def rule_statistics(
    ruleset: "RuleSet", matrix: Floats, labels: Any, weights: Any = None
) -> tuple[RuleStatistics, ...]:
    """Support, precision, lift and what each rule alone covers, for encoded (and clipped) values."""
    classes = class_positions(ruleset, labels, len(matrix))
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    support, alone = _count(ruleset, matrix, classes, weights)
    sizes = np.bincount(classes, weights, len(ruleset.classes))
    return statistics_of_counts(ruleset.arrays.holds_for, support, alone, sizes)


def statistics_of_counts(
    own: Positions | Flags, support: NDArray[Any], alone: NDArray[Any], class_sizes: NDArray[Any]
) -> tuple[RuleStatistics, ...]:
    """The statistics of rules whose covered objects are counted already.

    Parameters
    ----------
    own : array of int, shape (n_rules,), or of bool, shape (n_rules, n_classes)
        The class of each rule, or those of which it says the truth.
    support : array of shape (n_rules, n_classes)
        Objects of each class under each rule, or what they weigh.
    alone : array of shape (n_rules,)
        Those under this rule and no other.
    class_sizes : array of shape (n_classes,)
        Those of each class in the whole table.
    """
    holds = own if own.ndim == 2 else own[:, None] == np.arange(len(class_sizes))
    shares = holds @ class_sizes / (class_sizes.sum() or 1)
    covered = support.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.where(holds, support, 0).sum(axis=1) / covered
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
    covers: Sequence[Flags],
    classes: Positions,
    n_classes: int,
    weights: Floats | None = None,
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
    weights : array of float, shape (n_objects,), optional
        What the objects weigh, where they are not just counted.

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
    counts = np.ones(len(classes), dtype=np.int64) if weights is None else weights
    support = np.zeros((len(covers), n_classes), dtype=counts.dtype)
    alone = np.zeros(len(covers), dtype=counts.dtype)
    for r, covered in enumerate(covers):
        weight = None if weights is None else weights[covered]
        support[r] = np.bincount(classes[covered], weight, n_classes)
        alone[r] = counts[covered & once].sum()
    sizes = np.bincount(classes, weights, n_classes)
    return statistics_of_counts(np.array(own, dtype=np.intp), support, alone, sizes)


def _count(
    ruleset: "RuleSet", matrix: Floats, classes: Positions, weights: Floats | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Objects of each class under each rule, and those under no other rule; or what they weigh."""
    matcher = ruleset.arrays.matcher
    kind = np.int64 if weights is None else np.float64
    support = np.zeros((len(ruleset), len(ruleset.classes)), dtype=kind)
    alone = np.zeros(len(ruleset), dtype=kind)
    for block in matcher.blocks(len(matrix)):
        covers = matcher.covers(matrix[block])
        counted = covers if weights is None else covers * weights[block, None]
        for c in range(len(ruleset.classes)):
            support[:, c] += counted[classes[block] == c].sum(axis=0)
        alone += counted[covers.sum(axis=1) == 1].sum(axis=0)
    return support, alone


def class_positions(ruleset: "RuleSet", labels: Any, n_rows: int) -> Positions:
    """Labels as positions in the ruleset's classes.

    Examples
    --------
    >>> from frri import RuleSet
    >>> class_positions(RuleSet((), (), ("no", "yes")), ["yes", "no"], 2)
    array([1, 0])
    """
    values = given_labels(labels)
    if values.shape != (n_rows,):
        raise ValueError(f"Expected {n_rows} labels, one per row, got shape {values.shape}.")
    position = {label: c for c, label in enumerate(ruleset.classes)}
    try:
        return np.array([position[label] for label in values.tolist()], dtype=np.intp)
    except KeyError as error:
        known = ", ".join(map(repr, ruleset.classes))
        raise ValueError(f"Label {error.args[0]!r} is none of the classes {known}.") from None

"""What rules cover in a labelled table."""

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
    return statistics_of_counts(
        ruleset, support, alone, np.bincount(classes, minlength=len(ruleset.classes))
    )


def statistics_of_counts(
    ruleset: "RuleSet",
    support: NDArray[np.int64],
    alone: NDArray[np.int64],
    class_sizes: NDArray[np.int64],
) -> tuple[RuleStatistics, ...]:
    """The statistics of rules whose covered objects are counted already.

    Parameters
    ----------
    ruleset : RuleSet
    support : array of shape (n_rules, n_classes)
        Objects of each class under each rule.
    alone : array of shape (n_rules,)
        Objects under this rule and no other.
    class_sizes : array of shape (n_classes,)
        Objects of each class in the whole table.
    """
    shares = class_sizes / max(class_sizes.sum(), 1)
    own_class = {label: c for c, label in enumerate(ruleset.classes)}
    result = []
    for r, rule in enumerate(ruleset):
        own = own_class[rule.consequent]
        covered = int(support[r].sum())
        precision = float(support[r, own] / covered) if covered else None
        lift = float(precision / shares[own]) if precision is not None and shares[own] else None
        counts = tuple(int(count) for count in support[r])
        result.append(RuleStatistics(counts, precision, lift, int(alone[r])))
    return tuple(result)


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

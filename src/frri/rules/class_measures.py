"""How well each class is told from the others, and how good the probabilities are.

What is asked of a model as a whole stands in `frri.rules.measures`.
"""

from dataclasses import dataclass

import numpy as np

from frri._util import Flags, Floats, Positions


@dataclass(frozen=True)
class ClassQuality:
    """One class on one table; None where there is nothing to divide by.

    Parameters
    ----------
    rows, decided : int
        Rows of the class, and rows that are taken for it.
    precision : float or None
        Share of the rows taken for it that are of it.
    recall : float or None
        Share of its rows that are taken for it.
    f1 : float or None
        Harmonic mean of the two.
    auc : float or None
        How often a row of it gets a higher probability of it than another row does; a tie counts half.
    """

    rows: int
    decided: int
    precision: float | None
    recall: float | None
    f1: float | None
    auc: float | None


def class_qualities(
    classes: Positions, decided: Positions, probabilities: Floats
) -> tuple[ClassQuality, ...]:
    """Precision, recall, F1 and AUC of every class.

    Parameters
    ----------
    classes, decided : ndarray of int
        Positions of the true and of the decided classes.
    probabilities : ndarray of shape (n_rows, n_classes)

    Examples
    --------
    >>> shares = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]])
    >>> class_qualities(np.array([0, 0, 1]), np.array([0, 1, 1]), shares)[1]
    ClassQuality(rows=1, decided=2, precision=0.5, recall=1.0, f1=0.666..., auc=1.0)
    """
    found = []
    for c, shares in enumerate(probabilities.T):
        own = classes == c
        rows, taken = int(own.sum()), int((decided == c).sum())
        hits = int((own & (decided == c)).sum())
        found.append(
            ClassQuality(
                rows,
                taken,
                _ratio(hits, taken),
                _ratio(hits, rows),
                _ratio(2 * hits, rows + taken),
                area_under_curve(own, shares),
            )
        )
    return tuple(found)


def area_under_curve(own: Flags, scores: Floats) -> float | None:
    """Share of the pairs, one row of the class and one of another, in which the first scores higher.

    Examples
    --------
    >>> area_under_curve(np.array([True, False, False]), np.array([0.5, 0.5, 0.1]))
    0.75
    """
    n_own = int(own.sum())
    n_others = len(own) - n_own
    if not n_own or not n_others:
        return None
    _, place, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[place]
    return float((ranks[own].sum() - n_own * (n_own + 1) / 2) / (n_own * n_others))


def brier_score(classes: Positions, probabilities: Floats) -> float:
    """Mean squared distance between the probabilities and what happened: 0 is perfect.

    Squares are added over the classes; of two classes, whose squares are equal, one is counted.

    Examples
    --------
    >>> brier_score(np.array([0, 1]), np.array([[1.0, 0.0], [0.5, 0.5]]))
    0.125
    """
    happened = np.zeros_like(probabilities)
    happened[np.arange(len(classes)), classes] = 1.0
    squares = ((probabilities - happened) ** 2).sum(axis=1)
    return float(squares.mean()) / (2 if probabilities.shape[1] == 2 else 1)


def majority(classes: Positions, weights: Floats | None = None) -> tuple[int, float]:
    """The commonest class, by numbers of rows or by what they weigh, and the accuracy of answering it.

    Examples
    --------
    >>> majority(np.array([1, 0, 1, 1]))
    (1, 0.75)
    >>> majority(np.array([1, 0, 1, 1]), np.array([1.0, 9.0, 1.0, 1.0]))
    (0, 0.75)
    """
    counts = np.bincount(classes, weights)
    return int(counts.argmax()), float(counts.max() / counts.sum())


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None

"""How far answers are off where classes are ordered."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from frri._util import Floats, Positions

# How often rows are drawn again for an interval, and where from.
DRAWS, SEED = 400, 0


@dataclass(frozen=True)
class OrderedQuality:
    """Answers for ordered classes, beside always giving the median.

    Attributes
    ----------
    mae : float
        By how many classes answers are off, in the mean.
    mae_interval : tuple of float
        Where that lies for other rows of the kind, at 95% (bootstrap).
    median : int
        The position of the median class.
    median_mae : float
        By how many classes it is off.
    kappa : float
        Agreement beyond chance, squared distances weighted: 1 is perfect, 0 is no better than chance.
    kappa_interval : tuple of float

    Examples
    --------
    >>> found = ordered_quality(np.array([0, 1, 2, 2]), np.array([0, 1, 1, 2]), 3)
    >>> found.mae, round(found.kappa, 3), found.median_mae
    (0.25, 0.8, 0.75)
    """

    mae: float
    mae_interval: tuple[float, float]
    median: int
    median_mae: float
    kappa: float
    kappa_interval: tuple[float, float]


def ordered_quality(
    classes: Positions, decided: Positions, n_classes: int, weights: Any = None
) -> OrderedQuality:
    """How far answers are off.

    Parameters
    ----------
    classes, decided : ndarray of int, shape (n_rows,)
        Positions of the true and of the decided classes, the lowest first.
    n_classes : int
    weights : ndarray of float, shape (n_rows,), optional
    """
    shares = np.ones(len(classes)) if weights is None else np.asarray(weights, dtype=np.float64)
    generator = np.random.default_rng(SEED)
    rows = generator.integers(len(classes), size=(DRAWS, len(classes)))
    drawn = [(classes[own], decided[own], shares[own]) for own in rows]
    passed = np.cumsum(np.bincount(classes, shares, n_classes))
    median = int((passed >= passed[-1] / 2.0).argmax())
    return OrderedQuality(
        mae=error_in_classes(classes, decided, shares),
        mae_interval=_middle([error_in_classes(*one) for one in drawn]),
        median=median,
        median_mae=error_in_classes(classes, np.full_like(classes, median), shares),
        kappa=quadratic_kappa(classes, decided, n_classes, shares),
        kappa_interval=_middle([quadratic_kappa(a, b, n_classes, w) for a, b, w in drawn]),
    )


def error_in_classes(classes: Positions, decided: Positions, weights: Floats) -> float:
    """By how many classes answers are off, in the mean."""
    return float(np.average(np.abs(classes - decided), weights=weights))


def quadratic_kappa(
    classes: Positions, decided: Positions, n_classes: int, weights: Floats | None = None
) -> float:
    """Cohen's kappa with squared distances as weights; 0 where all are, and are said to be, the same.

    Examples
    --------
    >>> quadratic_kappa(np.array([0, 1, 2]), np.array([0, 1, 2]), 3)
    1.0
    """
    true = np.bincount(classes, weights, n_classes).astype(np.float64)
    told = np.bincount(decided, weights, n_classes).astype(np.float64)
    squares = (np.arange(n_classes)[:, None] - np.arange(n_classes)) ** 2.0
    by_chance = float(true @ squares @ told) / float(true.sum())
    off = (classes - decided) ** 2.0
    found = float(off.sum() if weights is None else weights @ off)
    return 1.0 - found / by_chance if by_chance > 0.0 else 0.0


def _middle(values: list[float]) -> tuple[float, float]:
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)

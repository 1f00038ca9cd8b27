"""How well rules decide, each of them and all together, in a labelled table.

Everybody who shows such a figure takes it from here: learners, command line, page and comparison. What a
rule covers is counted in `frri.rules.rule_statistics`.
"""

import warnings
from dataclasses import dataclass
from importlib import import_module
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, Positions
from frri.rules.rule import as_labels
from frri.table.targets import check_quantities

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet


def accuracy(truth: NDArray[Any], decided: NDArray[Any]) -> float:
    """Share of the rows that are decided as they are.

    Examples
    --------
    >>> accuracy(np.array(["a", "a", "b", "b"]), np.array(["a", "a", "b", "a"]))
    0.75
    """
    return float((truth == decided).mean())


def score(ruleset: "RuleSet", X: Any, y: Any, weights: Any = None) -> float:
    """Accuracy on a labelled table, or R squared where numbers are predicted: see `RuleSet.score`."""
    answers, truth = ruleset.predict(X), as_labels(y)
    if truth.shape != answers.shape:
        raise ValueError(
            f"Expected {len(answers)} labels, one per row, got the shape {truth.shape}."
        )
    if ruleset.task != "regression":
        return float(np.average(truth == answers, weights=weights))
    numbers = check_quantities(truth, ruleset.target)
    wrong = np.average((numbers - answers) ** 2, weights=weights)
    spread = np.average((numbers - np.average(numbers, weights=weights)) ** 2, weights=weights)
    # As in scikit-learn: numbers that are all the same are predicted exactly, or not at all.
    return float(1.0 - wrong / spread) if spread > 0.0 else float(not wrong > 0.0)


def balanced_accuracy(
    truth: NDArray[Any], decided: NDArray[Any], weights: Floats | None = None
) -> float:
    """Mean recall of the classes that occur; rows may weigh more or less.

    Examples
    --------
    >>> balanced_accuracy(np.array(["a", "a", "b"]), np.array(["a", "b", "b"]))
    0.75
    """
    counts = recall_counts(truth, decided, weights).values()
    return float(np.mean([hits / members for hits, members in counts if members]))


def recall_counts(
    truth: NDArray[Any], decided: NDArray[Any], weights: Floats | None = None
) -> dict[Any, tuple[float, float]]:
    """For every class that occurs: how many of its rows were recognised, and how many there are.

    Examples
    --------
    >>> recall_counts(np.array(["a", "a", "b"]), np.array(["a", "b", "b"]))
    {'a': (1, 2), 'b': (1, 1)}
    """
    present, codes = np.unique(truth, return_inverse=True)
    right = truth == decided
    members = np.bincount(codes, weights, len(present))
    hits = np.bincount(codes[right], None if weights is None else weights[right], len(present))
    counts = zip(hits.tolist(), members.tolist(), strict=True)
    return dict(zip(present.tolist(), counts, strict=True))


def confusion(classes: Positions, decided: Positions) -> list[list[int]]:
    """How often each class was taken for each: [true, decided, rows] where that is not 0.

    Parameters
    ----------
    classes, decided : ndarray of int
        Positions of the true and of the decided classes.

    Examples
    --------
    >>> confusion(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    [[0, 0, 1], [0, 1, 1], [1, 1, 2]]
    """
    pairs, counts = np.unique(np.column_stack([classes, decided]), axis=0, return_counts=True)
    cells: list[list[int]] = np.column_stack([pairs, counts]).tolist()
    return cells


def wilson(hits: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's confidence interval for a share; 0 to 1 without trials.

    Examples
    --------
    >>> low, high = wilson(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    """
    if trials <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = hits / trials
    centre = share + z * z / (2 * trials)
    spread = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


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


def measure_classes(
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
    >>> measure_classes(np.array([0, 0, 1]), np.array([0, 1, 1]), shares)[1]
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


# How often rows are drawn again for an interval, and where from.
DRAWS, SEED = 400, 0


@dataclass(frozen=True)
class OrdinalQuality:
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
    >>> found = measure_ordinal(np.array([0, 1, 2, 2]), np.array([0, 1, 1, 2]), 3)
    >>> found.mae, round(found.kappa, 3), found.median_mae
    (0.25, 0.8, 0.75)
    """

    mae: float
    mae_interval: tuple[float, float]
    median: int
    median_mae: float
    kappa: float
    kappa_interval: tuple[float, float]


def measure_ordinal(
    classes: Positions, decided: Positions, n_classes: int, weights: Any = None
) -> OrdinalQuality:
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
    return OrdinalQuality(
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


@dataclass(frozen=True)
class RegressionQuality:
    """Predicted numbers on one table.

    Parameters
    ----------
    rows : int
    mean : float
        Of the true numbers: what the errors are compared with.
    r2, r2_interval : float, (low, high)
        Share of the squared error of always answering that mean which is gone, and where that share lies
        on other rows of the kind; at most 1, below 0 where the mean is better.
    rmse, rmse_interval : float, (low, high)
        Root of the mean squared error.
    mae, mae_interval : float, (low, high)
        Mean absolute error: by how much a prediction is off on average.
    mean_rmse, mean_mae : float
        The same of always answering the mean.
    """

    rows: int
    mean: float
    r2: float
    r2_interval: tuple[float, float]
    rmse: float
    rmse_interval: tuple[float, float]
    mae: float
    mae_interval: tuple[float, float]
    mean_rmse: float
    mean_mae: float


def measure_regression(
    truth: Floats, answers: Floats, weights: Floats | None = None, *, confidence: float = 0.95
) -> RegressionQuality:
    """R squared, root mean squared error and mean absolute error, with intervals.

    Parameters
    ----------
    truth, answers : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,), optional
        How much every row counts.
    confidence : float
        Of the intervals.

    Examples
    --------
    >>> found = measure_regression(np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 5.0]))
    >>> found.r2, found.mae, found.mean, found.mean_mae
    (0.857..., 0.5, 3.0, 1.5)
    """
    shares = np.full(len(truth), 1.0) if weights is None else np.asarray(weights, dtype=np.float64)
    shares = shares / shares.sum()
    wrong = truth - answers
    mean = float(shares @ truth)
    error, spread = float(shares @ wrong**2), float(shares @ (truth - mean) ** 2)
    rmse, mae = sqrt(error), float(shares @ np.abs(wrong))
    # As in scikit-learn: numbers that are all the same are predicted exactly, or not at all.
    r2 = 1.0 - error / spread if spread > 0.0 else float(not error > 0.0)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)

    def interval(figure: float, parts: Floats, highest: float) -> tuple[float, float]:
        """Around a figure that changes with each row as much as its part says."""
        reach = z * sqrt(float(shares**2 @ (parts - shares @ parts) ** 2))
        return figure - reach, min(figure + reach, highest)

    against = wrong**2 - (1.0 - r2) * (truth - mean) ** 2
    low, high = interval(rmse, wrong**2 / (2 * rmse) if rmse else wrong, np.inf)
    lowest, highest = interval(mae, np.abs(wrong), np.inf)
    return RegressionQuality(
        rows=len(truth),
        mean=mean,
        r2=r2,
        r2_interval=interval(r2, against / spread, 1.0) if spread > 0.0 else (r2, r2),
        rmse=rmse,
        rmse_interval=(max(low, 0.0), high),
        mae=mae,
        mae_interval=(max(lowest, 0.0), highest),
        mean_rmse=sqrt(spread),
        mean_mae=float(shares @ np.abs(truth - mean)),
    )


_MOVED = {
    "coverage": "rule_statistics.coverage",
    "importance": "contributions.permutation_importance",
    "overlap": "rule_statistics.overlap",
    "quality": "rule_statistics.quality",
    "to_frame": "rule_statistics.to_frame",
}


def __getattr__(name: str) -> Any:
    """Return what earlier versions had in this module, with a warning."""
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, new = _MOVED[name].partition(".")
    warnings.warn(
        f"{__name__}.{name} is now frri.rules.{module}.{new}; the old name goes in version 0.4.",
        FutureWarning,
        stacklevel=2,
    )
    return getattr(import_module(f"frri.rules.{module}"), new)

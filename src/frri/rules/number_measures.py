"""How far predicted numbers are from the true ones.

Intervals are of large-sample theory: the standard error of a figure is that of the mean of what each row
has to do with it (the delta method), without drawing lots.
"""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np

from frri._util import Floats


@dataclass(frozen=True)
class NumberQuality:
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


def number_quality(
    truth: Floats, answers: Floats, weights: Floats | None = None, *, confidence: float = 0.95
) -> NumberQuality:
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
    >>> found = number_quality(np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 2.0, 4.0, 5.0]))
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
    return NumberQuality(
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

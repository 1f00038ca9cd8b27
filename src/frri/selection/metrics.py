"""Metrics of predictions on held-out samples, by name."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats
from frri.rules import measures

# Metrics by task, the default first, with their names in messages.
METRICS = {
    "classification": {
        "accuracy": "accuracy",
        "balanced_accuracy": "balanced accuracy",
        "log_loss": "log loss",
        "roc_auc": "ROC AUC",
        "f1": "F1",
        "cost": "cost",
    },
    "ordinal": {"kappa": "kappa"},
    "regression": {"r2": "R2"},
}
LOWER_IS_BETTER = {"log_loss", "cost"}
# Metrics that give every class the same importance, and those that need probabilities.
BALANCED, OF_PROBABILITIES = {"balanced_accuracy", "f1"}, {"log_loss", "roc_auc"}


class Predictions(NamedTuple):
    """Truth and predictions: positions of classes, or the numbers of a regression.

    Probabilities have a column for each class; there is a cost for each class.
    """

    true: NDArray[Any]
    predicted: NDArray[Any]
    weights: Floats | None
    probabilities: Floats
    costs: Floats

    def of(self, rows: Any) -> "Predictions":
        """Return those of some samples."""
        weights = None if self.weights is None else self.weights[rows]
        known = self.true[rows], self.predicted[rows], weights, self.probabilities[rows]
        return Predictions(*known, self.costs)

    def measure(self, metric: str) -> float:
        """Return a metric by its name, to 12 decimals: further ones may depend on the machine.

        Examples
        --------
        >>> codes = np.array([0, 0, 1]), np.array([0, 1, 1])
        >>> Predictions(*codes, None, np.eye(3, 2), np.array([1.0, 5.0])).measure("cost")
        0.333333333333
        """
        return round(float(_MEASURES[metric](self)), 12)


def _log_loss(given: Predictions) -> Any:
    known = given.probabilities[np.arange(len(given.true)), given.true]
    return -np.average(np.log(np.maximum(known, 1e-15)), weights=given.weights)


def _roc_auc(given: Predictions) -> Any:
    """Return the mean area of the classes that occur, each against the others."""
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - slow to import

    classes = np.unique(given.true)
    if len(classes) < 2:
        return 0.5
    areas = [
        roc_auc_score(given.true == c, given.probabilities[:, c], sample_weight=given.weights)
        for c in (classes[1:] if len(given.costs) == 2 else classes)
    ]
    return np.mean(areas)


def _f1(given: Predictions) -> Any:
    """Return the mean F1 of the classes that occur."""
    from sklearn.metrics import f1_score  # noqa: PLC0415 - slow to import

    options = {"labels": np.unique(given.true), "sample_weight": given.weights}
    return f1_score(given.true, given.predicted, average="macro", zero_division=0, **options)


_MEASURES: dict[str, Callable[[Predictions], Any]] = {
    "accuracy": lambda p: np.average(p.true == p.predicted, weights=p.weights),
    "balanced_accuracy": lambda p: measures.balanced_accuracy(p.true, p.predicted, p.weights),
    "log_loss": _log_loss,
    "roc_auc": _roc_auc,
    "f1": _f1,
    "cost": lambda p: np.average(p.costs[p.true] * (p.true != p.predicted), weights=p.weights),
    "kappa": lambda p: measures.quadratic_kappa(p.true, p.predicted, len(p.costs), p.weights),
    "r2": lambda p: measures.measure_regression(p.true, p.predicted, p.weights)["r2"],
}

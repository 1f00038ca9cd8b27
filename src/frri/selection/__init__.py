"""Choose an estimator for a table, and estimate how it does on held-out rows."""

from frri.selection.auto import EstimatorChoice, choose_estimator, compare_estimators
from frri.selection.holdout import Holdout, HoldoutResult
from frri.selection.leakage import find_leakage

__all__ = [
    "EstimatorChoice",
    "Holdout",
    "HoldoutResult",
    "choose_estimator",
    "compare_estimators",
    "find_leakage",
]

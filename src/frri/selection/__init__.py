"""Choose an estimator for a table, and estimate how it does on held-out rows."""

from frri.selection.auto import EstimatorChoice, choose_estimator, compare_estimators
from frri.selection.holdout import Holdout, HoldoutResult

__all__ = ["EstimatorChoice", "Holdout", "HoldoutResult", "choose_estimator", "compare_estimators"]

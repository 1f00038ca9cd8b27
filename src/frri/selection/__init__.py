"""Choose an estimator for a table, and estimate how it does on held-out rows."""

from frri.selection.auto import Choice, choose_estimator, compare_estimators
from frri.selection.holdout import Holdout, HoldoutResult

__all__ = ["Choice", "Holdout", "HoldoutResult", "choose_estimator", "compare_estimators"]

"""Choose an estimator for a table, and estimate how it does on held-out rows."""

from frri.selection.auto import AutoRulesClassifier, AutoRulesOrdinalClassifier, AutoRulesRegressor
from frri.selection.holdout import Holdout, HoldoutResult
from frri.selection.leakage import find_leakage

__all__ = [
    "AutoRulesClassifier",
    "AutoRulesOrdinalClassifier",
    "AutoRulesRegressor",
    "Holdout",
    "HoldoutResult",
    "find_leakage",
]

"""Additive rules: soft boxes that vote for classes or add up to numbers, added one at a time."""

from frri.learners.additive.bagged import AdditiveRulesBaggingClassifier
from frri.learners.additive.classifier import AdditiveRulesClassifier
from frri.learners.additive.regressor import AdditiveRulesOrdinalClassifier, AdditiveRulesRegressor

__all__ = [
    "AdditiveRulesBaggingClassifier",
    "AdditiveRulesClassifier",
    "AdditiveRulesOrdinalClassifier",
    "AdditiveRulesRegressor",
]

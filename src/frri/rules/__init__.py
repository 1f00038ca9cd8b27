"""The rule model: the result of every estimator, and the input of everything downstream."""

from frri.rules.condition import Condition, NominalCondition, NumericCondition
from frri.rules.measures import EditEffect, compare
from frri.rules.rule import Label, Rule, RuleStatistics
from frri.rules.ruleset import RuleSet

__all__ = [
    "Condition",
    "EditEffect",
    "Label",
    "NominalCondition",
    "NumericCondition",
    "Rule",
    "RuleSet",
    "RuleStatistics",
    "compare",
]

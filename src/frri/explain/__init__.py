"""Explanations of single predictions: the rules behind one, and a counterfactual explanation.

Everything is computed from the rule set alone: a saved file is enough. The counterfactual
explanation (`frri.explain.counterfactual`) changes as few features as possible, with the least sum
of changes. Changes are measured as in Gower's distance: in fractions of the training ranges, and a
new category, or a value instead of a missing one, costs 1. The report page does the same. Values
stay within the training range, and every reported change has been checked on the rule set.
"""

from frri.explain.explanation import AttributeChange, Change, Explanation, explain
from frri.explain.matches import ConditionMatch, Obstacle, Rival, RuleMatch, Step

__all__ = [
    "AttributeChange",
    "Change",
    "ConditionMatch",
    "Explanation",
    "Obstacle",
    "Rival",
    "RuleMatch",
    "Step",
    "explain",
]

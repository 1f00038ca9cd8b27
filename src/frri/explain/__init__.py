"""Why a ruleset decides as it does about one row, and what would change its mind.

Everything comes from the ruleset alone: a saved file is enough. The smallest change is searched for by
`frri.explain.counterfactual`: as few attributes as possible, then the least sum of changes in shares of the training
ranges (a new category, or a value instead of a missing one, costs 1). Values stay within the training
range, and every reported change has been tried on the ruleset.
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

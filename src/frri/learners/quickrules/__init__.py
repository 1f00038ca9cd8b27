"""QuickRules, rules taken on the way to a fuzzy-rough reduct, and QuickReduct, the reduct itself."""

from frri.learners.quickrules.quickreduct import QuickReduct
from frri.learners.quickrules.quickrules import QuickRulesClassifier

__all__ = ["QuickReduct", "QuickRulesClassifier"]

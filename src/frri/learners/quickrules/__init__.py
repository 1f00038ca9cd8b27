"""QuickRules, rules found on the way to a fuzzy-rough reduct, and QuickReduct, the reduct."""

from frri.learners.quickrules.quickreduct import QuickReduct
from frri.learners.quickrules.quickrules import QuickRulesClassifier

__all__ = ["QuickReduct", "QuickRulesClassifier"]

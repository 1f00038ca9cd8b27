# Public names for type checkers and editors; __init__.py imports them at first use.

from frri.cover import Cover, CoverMatrix, minimum_cover
from frri.explain import Explanation
from frri.induction import ConditionType
from frri.learners.additive.bagged import AdditiveRulesBaggingClassifier
from frri.learners.additive.classifier import AdditiveRulesClassifier
from frri.learners.additive.regressor import AdditiveRulesOrdinalClassifier, AdditiveRulesRegressor
from frri.learners.compact import CompactFRRIClassifier
from frri.learners.frri import (
    FRRIBaggingClassifier,
    FRRIClassifier,
    FRRIOrdinalClassifier,
    FRRIRegressor,
)
from frri.learners.modlem import MODLEMClassifier
from frri.learners.quickrules import QuickReduct, QuickRulesClassifier
from frri.learners.ripper.furia import FURIAClassifier
from frri.learners.ripper.ripper import RIPPERClassifier
from frri.pareto import frontier, tree_rules
from frri.readers import read_table
from frri.report import write_report
from frri.rules import Condition, NominalCondition, NumericCondition, Rule, RuleSet, RuleStatistics
from frri.selection import AutoRulesClassifier, AutoRulesOrdinalClassifier, AutoRulesRegressor
from frri.table import Attribute

__version__: str

__all__ = [
    "AdditiveRulesBaggingClassifier",
    "AdditiveRulesClassifier",
    "AdditiveRulesOrdinalClassifier",
    "AdditiveRulesRegressor",
    "Attribute",
    "AutoRulesClassifier",
    "AutoRulesOrdinalClassifier",
    "AutoRulesRegressor",
    "CompactFRRIClassifier",
    "Condition",
    "ConditionType",
    "Cover",
    "CoverMatrix",
    "Explanation",
    "FRRIBaggingClassifier",
    "FRRIClassifier",
    "FRRIOrdinalClassifier",
    "FRRIRegressor",
    "FURIAClassifier",
    "MODLEMClassifier",
    "NominalCondition",
    "NumericCondition",
    "QuickReduct",
    "QuickRulesClassifier",
    "RIPPERClassifier",
    "Rule",
    "RuleSet",
    "RuleStatistics",
    "frontier",
    "minimum_cover",
    "read_table",
    "tree_rules",
    "write_report",
]

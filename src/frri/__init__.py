"""Fuzzy-rough rule induction: small, readable, provably minimal sets of IF-THEN rules."""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frri.cover import Cover, CoverMatrix, minimum_cover
    from frri.explain import Explanation
    from frri.induction import ConditionType
    from frri.learners.additive.bagged import AdditiveRulesBaggingClassifier
    from frri.learners.additive.classifier import AdditiveRulesClassifier
    from frri.learners.additive.regressor import (
        AdditiveRulesOrdinalClassifier,
        AdditiveRulesRegressor,
    )
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
    from frri.rules import (
        Condition,
        NominalCondition,
        NumericCondition,
        Rule,
        RuleSet,
        RuleStatistics,
    )
    from frri.table import Attribute

__version__ = "0.2.0"

# Imported at first use: predicting with saved rules needs neither scikit-learn nor scipy.
_HOMES = {
    "AdditiveRulesClassifier": "learners.additive",
    "AdditiveRulesOrdinalClassifier": "learners.additive",
    "AdditiveRulesRegressor": "learners.additive",
    "Attribute": "table",
    "AdditiveRulesBaggingClassifier": "learners.additive",
    "CompactFRRIClassifier": "learners.compact",
    "Condition": "rules",
    "ConditionType": "induction",
    "Cover": "cover",
    "CoverMatrix": "cover",
    "Explanation": "explain",
    "FRRIBaggingClassifier": "learners.frri",
    "FRRIClassifier": "learners.frri",
    "FRRIOrdinalClassifier": "learners.frri",
    "FRRIRegressor": "learners.frri",
    "FURIAClassifier": "learners.ripper",
    "MODLEMClassifier": "learners.modlem",
    "NominalCondition": "rules",
    "NumericCondition": "rules",
    "QuickReduct": "learners.quickrules",
    "QuickRulesClassifier": "learners.quickrules",
    "RIPPERClassifier": "learners.ripper",
    "Rule": "rules",
    "RuleSet": "rules",
    "RuleStatistics": "rules",
    "frontier": "pareto",
    "minimum_cover": "cover",
    "read_table": "readers",
    "tree_rules": "pareto",
    "write_report": "report",
}

__all__ = [
    "AdditiveRulesBaggingClassifier",
    "AdditiveRulesClassifier",
    "AdditiveRulesOrdinalClassifier",
    "AdditiveRulesRegressor",
    "Attribute",
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


# Names of earlier versions, with those that took their place: see "Deprecation" in CONTRIBUTING.md.
_RENAMED = {"Covers": "CoverMatrix"}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        warnings.warn(
            f"frri.{name} is now called frri.{_RENAMED[name]}; the old name goes in version 0.4.",
            FutureWarning,
            stacklevel=2,
        )
        name = _RENAMED[name]
    if name in _HOMES:
        return getattr(import_module(f"frri.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'frri' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, "__version__"])

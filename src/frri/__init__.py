"""Fuzzy-rough rule induction: small, readable, provably minimal sets of IF-THEN rules."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frri.cover import Cover, Covers, minimum_cover
    from frri.data import Attribute
    from frri.explain import Explanation
    from frri.induction import ConditionType
    from frri.learners.frri import FRRIClassifier
    from frri.learners.furia import FURIAClassifier
    from frri.learners.modlem import MODLEMClassifier
    from frri.learners.quickreduct import QuickReduct
    from frri.learners.quickrules import QuickRulesClassifier
    from frri.learners.ripper import RIPPERClassifier
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

__version__ = "0.1.0"

# Loaded at first use: applying saved rules needs neither scikit-learn nor scipy, and `frri --help` nothing.
_HOMES = {
    "Attribute": "data",
    "Condition": "rules",
    "ConditionType": "induction",
    "Cover": "cover",
    "Covers": "cover",
    "Explanation": "explain",
    "FRRIClassifier": "learners.frri",
    "FURIAClassifier": "learners.furia",
    "MODLEMClassifier": "learners.modlem",
    "NominalCondition": "rules",
    "NumericCondition": "rules",
    "QuickReduct": "learners.quickreduct",
    "QuickRulesClassifier": "learners.quickrules",
    "RIPPERClassifier": "learners.ripper",
    "Rule": "rules",
    "RuleSet": "rules",
    "RuleStatistics": "rules",
    "minimum_cover": "cover",
    "read_table": "readers",
    "write_report": "report",
}

__all__ = [
    "Attribute",
    "Condition",
    "ConditionType",
    "Cover",
    "Covers",
    "Explanation",
    "FRRIClassifier",
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
    "minimum_cover",
    "read_table",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"frri.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'frri' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_HOMES, "__version__"])

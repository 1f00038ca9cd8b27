"""Fuzzy-rough rule induction: small, readable, provably minimal sets of IF-THEN rules."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from frri.data import Attribute
from frri.rules import Condition, NominalCondition, NumericCondition, Rule, RuleSet, RuleStatistics

if TYPE_CHECKING:
    from frri.cover import Cover, Covers, minimum_cover
    from frri.induction import ConditionType
    from frri.learners.frri import FRRIClassifier

__version__ = "0.1.0"

__all__ = [
    "Attribute",
    "Condition",
    "ConditionType",
    "Cover",
    "Covers",
    "FRRIClassifier",
    "NominalCondition",
    "NumericCondition",
    "Rule",
    "RuleSet",
    "RuleStatistics",
    "minimum_cover",
]

# Loaded at first use, so that applying saved rules needs neither scikit-learn nor scipy.
_LATER = {
    "ConditionType": "frri.induction",
    "Cover": "frri.cover",
    "Covers": "frri.cover",
    "FRRIClassifier": "frri.learners.frri",
    "minimum_cover": "frri.cover",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'frri' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""Interpretable rule-based models for tabular data, compatible with scikit-learn."""

import warnings
from importlib import import_module
from typing import Any

__version__ = "0.2.0"

# The public names by module; `__init__.pyi` declares them for type checkers. They are imported at
# first use: predicting with saved rules needs neither scikit-learn nor scipy.
_NAMES = {
    "learners.additive": "AdditiveRulesBaggingClassifier AdditiveRulesClassifier "
    "AdditiveRulesOrdinalClassifier AdditiveRulesRegressor",
    "table": "Attribute",
    "learners.compact": "CompactFRRIClassifier",
    "rules": "Condition NominalCondition NumericCondition Rule RuleSet RuleStatistics",
    "induction": "ConditionType",
    "cover": "Cover CoverMatrix minimum_cover",
    "explain": "Explanation",
    "learners.frri": "FRRIBaggingClassifier FRRIClassifier FRRIOrdinalClassifier FRRIRegressor",
    "learners.ripper": "FURIAClassifier RIPPERClassifier",
    "learners.modlem": "MODLEMClassifier",
    "learners.quickrules": "QuickReduct QuickRulesClassifier",
    "pareto": "frontier tree_rules",
    "readers": "read_table",
    "report": "write_report",
    "selection": "AutoRulesClassifier AutoRulesOrdinalClassifier AutoRulesRegressor",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = list(_MODULES)

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
    if name in _MODULES:
        return getattr(import_module(f"frri.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'frri' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_MODULES, "__version__"])

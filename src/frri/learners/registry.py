"""The estimators by task and name; each is imported when it is needed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from frri.rules import RuleSet
from frri.rules.json_format import About


@dataclass(frozen=True)
class Learner:
    """An estimator with a name.

    Attributes
    ----------
    name : str
        Its name on the command line and in results files.
    label : str
        Its name in tables and figures.
    where : str
        Module and class of the estimator.
    parameters : mapping
        Those that differ from the defaults; an estimator that has some is a variant.
    rules : bool
        Whether it ends in a `RuleSet`.
    nominal, missing, weights : bool
        Whether it takes columns of categories, missing values and weights of samples.
    scaled : bool
        Whether features are scaled to [0, 1] first, by their ranges in training.

    Examples
    --------
    >>> LEARNERS["modlem-entropy"].make()
    MODLEMClassifier(criterion='entropy')
    >>> LEARNERS["frri"].make(attribute_order="random")
    FRRIClassifier(attribute_order='random')
    """

    name: str
    label: str
    where: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rules: bool = True
    nominal: bool = True
    missing: bool = True
    weights: bool = False
    scaled: bool = False

    def make(self, **parameters: Any) -> Any:
        """Return a new estimator; an ImportError states what is missing."""
        module, _, kind = self.where.rpartition(".")
        try:
            estimator = getattr(import_module(module), kind)(**{**self.parameters, **parameters})
        except (ImportError, AttributeError, TypeError) as reason:
            raise ImportError(f"the learner {self.name!r} is not available: {reason}") from None
        if not self.scaled:
            return estimator
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415 - slow to import
        from sklearn.preprocessing import MinMaxScaler  # noqa: PLC0415

        return make_pipeline(MinMaxScaler(clip=True), estimator)


def _rules(
    name: str, label: str, where: str, *, weights: bool = True, **parameters: Any
) -> Learner:
    """Return an estimator of the package; most take weights of samples."""
    return Learner(name, label, f"frri.{where}", parameters, weights=weights)


def _other(name: str, label: str, where: str, **abilities: Any) -> Learner:
    """Return an estimator of scikit-learn, to compare with."""
    return Learner(name, label, f"sklearn.{where}", rules=False, nominal=False, **abilities)


def _by_name(*learners: Learner) -> dict[str, Learner]:
    return {learner.name: learner for learner in learners}


_PAPER: dict[str, Any] = {"t_norm": "minimum", "coverage_test": "close", "ties": "first"}

# The classifiers.
LEARNERS = _by_name(
    _rules("frri", "FRRI", "FRRIClassifier"),
    _rules("compact", "CompactFRRI", "CompactFRRIClassifier"),
    _rules("ripper", "RIPPER", "RIPPERClassifier"),
    _rules("furia", "FURIA", "FURIAClassifier"),
    _rules("modlem", "MODLEM", "MODLEMClassifier"),
    _rules("modlem-entropy", "MODLEM (entropy)", "MODLEMClassifier", criterion="entropy"),
    _rules("additive", "Additive rules", "AdditiveRulesClassifier"),
    _rules("bagged", "Bagged rules", "AdditiveRulesBaggingClassifier", weights=False),
    _rules("frri-bags", "FRRI on bags", "FRRIBaggingClassifier"),
    _rules("quickrules", "QuickRules", "QuickRulesClassifier"),
    _rules("quickrules-paper", "QuickRules (paper)", "QuickRulesClassifier", **_PAPER),
    _other("tree", "decision tree", "tree.DecisionTreeClassifier", weights=True),
    _other("forest", "random forest", "ensemble.RandomForestClassifier", weights=True),
    _other(
        "knn", "5-nearest neighbors", "neighbors.KNeighborsClassifier", missing=False, scaled=True
    ),
)

# The regressors.
REGRESSORS = _by_name(
    _rules("additive", "Additive rules", "AdditiveRulesRegressor"),
    _rules("frri", "FRRI for numbers", "FRRIRegressor"),
)

# The ordinal classifiers.
ORDINAL = _by_name(
    _rules("frri", "FRRI", "FRRIOrdinalClassifier"),
    _rules("additive", "Additive rules", "AdditiveRulesOrdinalClassifier"),
)

# The estimators of each task.
TASKS = {"classification": LEARNERS, "ordinal": ORDINAL, "regression": REGRESSORS}


def rule_learners(task: str) -> tuple[str, ...]:
    """Return the names of the estimators of a task that give rules, without variants."""
    return tuple(one.name for one in TASKS[task].values() if one.rules and not one.parameters)


RULE_LEARNERS = rule_learners("classification")


def learner_of(ruleset: RuleSet) -> Any:
    """Return a new estimator with the parameters of the one that fitted a rule set.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from frri import RIPPERClassifier
    >>> rules = RIPPERClassifier(random_state=1).fit(*load_iris(return_X_y=True)).ruleset_
    >>> learner_of(rules)
    RIPPERClassifier(random_state=1)
    """
    name, parameters = ruleset.about.get("learner"), ruleset.about.get("parameters")
    known = [one for one in TASKS[ruleset.task].values() if one.rules and one.label == name]
    if not known or not isinstance(parameters, Mapping):
        told = "says no learner" if name is None else f"was learned by {name!r}"
        raise ValueError(
            f"The model for {ruleset.target!r} {told}, which cannot be run again by its name; "
            "fit the learner in Python and use frri.compare.stability."
        )
    estimator = known[0].make()
    kept = {key: value for key, value in parameters.items() if key in estimator.get_params()}
    return estimator.set_params(**About(kept).plain())

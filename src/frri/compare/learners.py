"""The learners of the comparison, by name; each is imported only when it is asked for."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler


@dataclass(frozen=True)
class Learner:
    """A learner under a name.

    Attributes
    ----------
    name : str
        Its name on the command line and in results files.
    label : str
        Its name in tables and figures.
    where : str
        Module and class of the estimator.
    parameters : mapping
        What differs from the estimator's defaults.
    scaled : bool
        Whether attributes are brought to [0, 1] first, by their ranges in training.
    """

    name: str
    label: str
    where: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    scaled: bool = False

    def make(self) -> BaseEstimator:
        """A new estimator; an ImportError says in one sentence what is missing."""
        module, _, kind = self.where.rpartition(".")
        try:
            estimator = getattr(import_module(module), kind)(**self.parameters)
        except (ImportError, AttributeError, TypeError) as reason:
            raise ImportError(f"the learner {self.name!r} is not available: {reason}") from None
        return make_pipeline(MinMaxScaler(clip=True), estimator) if self.scaled else estimator


_KNOWN = {
    learner.name: learner
    for learner in (
        Learner("frri", "FRRI", "frri.learners.frri.FRRIClassifier"),
        Learner("modlem", "MODLEM", "frri.learners.modlem.modlem.MODLEMClassifier"),
        Learner(
            "modlem-entropy",
            "MODLEM (entropy)",
            "frri.learners.modlem.modlem.MODLEMClassifier",
            {"criterion": "entropy"},
        ),
        Learner(
            "quickrules", "QuickRules", "frri.learners.quickrules.quickrules.QuickRulesClassifier"
        ),
        Learner(
            "quickrules-paper",
            "QuickRules (paper)",
            "frri.learners.quickrules.quickrules.QuickRulesClassifier",
            {"t_norm": "minimum", "coverage_test": "close", "ties": "first"},
        ),
        Learner("furia", "FURIA", "frri.learners.ripper.furia.FURIAClassifier"),
        Learner("ripper", "RIPPER", "frri.learners.ripper.ripper.RIPPERClassifier"),
        Learner("tree", "decision tree", "sklearn.tree.DecisionTreeClassifier"),
        Learner("forest", "random forest", "sklearn.ensemble.RandomForestClassifier"),
        Learner(
            "knn", "5-nearest neighbours", "sklearn.neighbors.KNeighborsClassifier", scaled=True
        ),
    )
}

LEARNERS = tuple(_KNOWN)
"""The names of the learners that come with the benchmark."""

PAPER_LEARNERS = ("frri", "modlem", "quickrules-paper", "furia", "ripper")
"""The five learners of the paper, in the order of its tables."""

_added: dict[str, BaseEstimator] = {}


def learner(name: str) -> BaseEstimator:
    """A new estimator by its name.

    Parameters
    ----------
    name : str
        One of `LEARNERS`, a name given to `add_learner`, or the full name of a classifier class that
        needs no arguments, such as ``"sklearn.naive_bayes.GaussianNB"``.

    Examples
    --------
    >>> learner("tree")
    DecisionTreeClassifier()
    >>> learner("sklearn.naive_bayes.GaussianNB")
    GaussianNB()
    >>> learner("riper")
    Traceback (most recent call last):
        ...
    ValueError: there is no learner 'riper'; did you mean 'ripper'?
    """
    if name in _added:
        return clone(_added[name])
    if name in _KNOWN:
        return _KNOWN[name].make()
    if "." in name:
        estimator = Learner(name, name, name).make()
        if not is_classifier(estimator):
            raise ValueError(f"{name!r} is not a classifier")
        return estimator
    close = difflib.get_close_matches(name, [*_KNOWN, *_added], n=1, cutoff=0)
    raise ValueError(f"there is no learner {name!r}; did you mean {close[0]!r}?")


def add_learner(name: str, estimator: BaseEstimator) -> None:
    """Make a classifier available by name.

    Parameters
    ----------
    name : str
    estimator : scikit-learn classifier
        Cloned for every fold. Every parameter called `random_state` is set to the seed of the run.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> add_learner("stump", DecisionTreeClassifier(max_depth=1))
    >>> learner("stump")
    DecisionTreeClassifier(max_depth=1)
    """
    _added[name] = estimator


def label(name: str) -> str:
    """The name of a learner in tables and figures.

    Examples
    --------
    >>> label("modlem-entropy"), label("sklearn.naive_bayes.GaussianNB")
    ('MODLEM (entropy)', 'GaussianNB')
    """
    return _KNOWN[name].label if name in _KNOWN else name.rpartition(".")[2]


def seeded(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """A clone in which every `random_state`, also of nested estimators, is the seed.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> seeded(DecisionTreeClassifier(), 7)
    DecisionTreeClassifier(random_state=7)
    """
    fresh = clone(estimator)
    random = [p for p in fresh.get_params() if p.rpartition("__")[2] == "random_state"]
    return fresh.set_params(**dict.fromkeys(random, seed)) if random else fresh


def definition(estimator: BaseEstimator) -> str:
    """What a learner is, in one line that changes with any of its settings.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> definition(DecisionTreeClassifier(max_depth=1))
    'DecisionTreeClassifier(max_depth=1)'
    """
    shown: str = " ".join(estimator.__repr__(N_CHAR_MAX=10**6).split())
    return shown

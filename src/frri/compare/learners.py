"""The learners of a comparison: those of the registry, classes by their full names, and your own."""

from sklearn.base import BaseEstimator, clone, is_classifier

from frri._util import find_name
from frri.compare.datasets import Dataset
from frri.learners import registry

LEARNERS = tuple(registry.LEARNERS)
"""The names of the learners that come with the comparison."""

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
    ValueError: The comparison has no learner 'riper'; did you mean 'ripper'?
    """
    if name in _added:
        return clone(_added[name])
    if "." in name:
        estimator = registry.Learner(name, name, name).make()
        if not is_classifier(estimator):
            raise ValueError(f"{name!r} is not a classifier")
        return estimator
    find_name(name, [*registry.LEARNERS, *_added], "The comparison", "learner")
    return registry.LEARNERS[name].make()


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
    known = registry.LEARNERS.get(name)
    return name.rpartition(".")[2] if known is None else known.label


def obstacle(data: Dataset, name: str, estimator: BaseEstimator) -> str | None:
    """Why a learner of the registry cannot be run on a table; None if it can, or if it may try.

    Examples
    --------
    >>> import pandas as pd
    >>> from frri.compare import dataset
    >>> X = pd.DataFrame({"age": [31, None, 40], "sex": ["f", "m", "f"]})
    >>> patients = dataset((X, ["low", "high", "low"]), name="patients")
    >>> obstacle(patients, "tree", learner("tree"))
    "not run: decision tree takes numbers only, and 'sex' holds others"
    >>> ages = dataset((X[["age"]], ["low", "high", "low"]), name="ages")
    >>> obstacle(ages, "knn", learner("knn"))
    "not run: 5-nearest neighbours takes no missing values, and 'age' has some"
    >>> obstacle(patients, "frri", learner("frri"))
    """
    known = registry.LEARNERS.get(name)
    if known is None or definition(estimator) != definition(known.make()):
        return None
    if not known.nominal and data.not_numeric:
        columns = _listing(data.not_numeric, "holds", "hold")
        return f"not run: {known.label} takes numbers only, and {columns} others"
    if not known.missing and data.with_gaps:
        columns = _listing(data.with_gaps, "has", "have")
        return f"not run: {known.label} takes no missing values, and {columns} some"
    return None


def _listing(columns: list[str], one: str, several: str) -> str:
    if len(columns) == 1:
        return f"{columns[0]!r} {one}"
    shown = ", ".join(map(repr, columns[:3]))
    return f"{shown}{f' and {len(columns) - 3} more' if len(columns) > 3 else ''} {several}"


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

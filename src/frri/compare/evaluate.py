"""One cell of a comparison: an estimator fitted on all folds but one, and tested on that one.

The module also has the metrics of a cell, and the learners that take part, by name. A cell depends
on data, estimator, folds and seed only, except for its ``"cost"``, the seconds to fit and predict.
"""

import warnings
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import f1_score, roc_auc_score

from frri._util import Floats, Positions, find_name, join_names
from frri.compare.datasets import Dataset
from frri.compare.stability import find_marks
from frri.learners import registry
from frri.pareto import find_trees, paths_to_leaves
from frri.rules import NominalCondition, RuleSet
from frri.rules.measures import accuracy, balanced_accuracy, recall_counts

FULL = -1
"""In place of a fold: fitted on all samples, described by its size only."""

Cell = dict[str, Any]


class Task(NamedTuple):
    """A cell to be evaluated: the names of dataset and learner, and the fold that is tested."""

    dataset: str
    learner: str
    fold: int

    def cell(self, **content: Any) -> Cell:
        """Return the cell of a task."""
        return {**self._asdict(), **content}


def evaluate(
    data: Dataset,
    folds: Positions,
    estimator: BaseEstimator,
    task: Task,
    metrics: "Iterable[Metric]",
    seed: int,
) -> Cell:
    """Fit a clone of an estimator, with every `random_state` set to the seed, and test it.

    The cell has plain JSON values. If the estimator raises an exception, ``"failure"`` is the only
    result.
    """
    cell = task.cell()
    test = np.arange(0) if task.fold == FULL else np.flatnonzero(folds == task.fold)
    with warnings.catch_warnings(record=True) as caught, record_failure(cell):
        warnings.simplefilter("always")
        cell |= _fit_and_measure(data, test, clone_with_seed(estimator, seed), metrics)
    notes = {shorten_message(warning.message) for warning in caught}
    if notes:
        cell["notes"] = sorted(notes)[:3]
    return cell


def _fit_and_measure(
    data: Dataset, test: Positions, model: BaseEstimator, metrics: "Iterable[Metric]"
) -> Cell:
    training = np.setdiff1d(np.arange(len(data.y)), test)
    X, y = data.X.iloc[training], data.y[training]
    start = perf_counter()
    model.fit(X, y)
    cost = {"fit_seconds": perf_counter() - start}
    truth = data.y[test]
    predicted, probabilities = truth, None
    if len(test):
        new = data.X.iloc[test]
        start = perf_counter()
        predicted = np.asarray(model.predict(new)).astype(np.str_)
        cost["predict_seconds"] = perf_counter() - start
        if hasattr(model, "predict_proba"):
            probabilities = np.asarray(model.predict_proba(new))
    size = measure_size(model)
    outcome = Outcome(model, truth, predicted, probabilities, size)
    values = {m.name: m.function(outcome) for m in metrics if m.of_model or len(test)}
    cell: Cell = {"scores": {name: None if v is None else float(v) for name, v in values.items()}}
    if len(test):
        cell["recalls"] = {c: list(n) for c, n in recall_counts(truth, predicted).items()}
    if size is not None:
        cell["lengths"] = np.bincount(size.conditions).tolist()
    if hasattr(model, "ruleset_"):
        # Checksums of the marks are enough to compare the rules of two folds.
        marks = (repr(mark).encode() for mark in find_marks(model.ruleset_, data.X))
        cell["marks"] = sorted(map(crc32, marks))
    selection = getattr(model, "selection_", None)
    if selection is not None:
        cell["selection"] = {k: selection[k] for k in ("status", "lower_bound") if k in selection}
    cell["cost"] = cost
    return cell


def record_failure(cell: Cell) -> "ExitStack[bool]":
    """Return a context manager that stores an exception under ``"failure"`` of a cell.

    It takes every exception: whatever an estimator of other authors raises is a result.
    """

    def store(kind: object, error: BaseException | None, place: object) -> bool:  # noqa: ARG001
        if isinstance(error, Exception):
            cell["failure"] = shorten_message(error)
        return isinstance(error, Exception)

    stack: ExitStack[bool] = ExitStack()
    stack.push(store)
    return stack


def shorten_message(error: BaseException | str) -> str:
    """Return an exception or warning in one line of moderate length."""
    text = " ".join(str(error).split())
    if isinstance(error, BaseException) and not isinstance(error, Warning):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."


# ------------------------------------------------------------------ metrics
@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model and its predictions for the samples of a fold.

    Attributes
    ----------
    model : scikit-learn classifier
        Fitted on the other folds.
    truth, predicted : array of str
        True and predicted classes of the samples of the fold.
    probabilities : array of shape (n_samples, n_classes), optional
        In the order of `model.classes_`, if the model has them.
    size : Size, optional
        If the model consists of rules.
    """

    model: Any
    truth: NDArray[np.str_]
    predicted: NDArray[np.str_]
    probabilities: Floats | None = None
    size: "Size | None" = None


Function = Callable[[Outcome], float | None]


@dataclass(frozen=True)
class Metric:
    """A metric under a name.

    Attributes
    ----------
    name : str
        Name in results files.
    label : str
        Name in tables and figures.
    function : callable
        From an `Outcome` to a number, or None where it does not apply.
    higher_is_better : bool
    digits : int
        Decimals shown.
    of_model : bool
        Whether it depends on the model only and needs no test samples.
    """

    name: str
    label: str
    function: Function
    higher_is_better: bool = True
    digits: int = 3
    of_model: bool = False


def _decision_metric(name: str, label: str, measure: Callable[[Any, Any], float]) -> Metric:
    return Metric(name, label, lambda outcome: measure(outcome.truth, outcome.predicted))


def _macro_f1(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    labels = np.unique(truth)
    return float(f1_score(truth, predicted, labels=labels, average="macro", zero_division=0))


def _auroc(outcome: Outcome) -> float | None:
    """Return the mean area under the ROC curve of each class of the fold against the rest."""
    present = np.unique(outcome.truth)
    if outcome.probabilities is None or len(present) < 2:
        return None
    columns = dict(zip(map(str, outcome.model.classes_), outcome.probabilities.T, strict=True))
    # A class that is not in the training data is never expected.
    never = np.zeros(len(outcome.truth))
    areas = [roc_auc_score(outcome.truth == c, columns.get(c, never)) for c in present]
    return float(np.mean(areas))


def _size_metric(name: str, label: str, digits: int) -> Metric:
    def measure(outcome: Outcome) -> float | None:
        if outcome.size is None:
            return None
        return outcome.size.rules if name == "rules" else outcome.size.mean(name)

    return Metric(name, label, measure, higher_is_better=False, digits=digits, of_model=True)


_builtin = [
    _decision_metric("balanced_accuracy", "balanced accuracy", balanced_accuracy),
    _decision_metric("accuracy", "accuracy", accuracy),
    _decision_metric("macro_f1", "macro F1", _macro_f1),
    Metric("auroc", "AUROC", _auroc),
    _size_metric("rules", "rules", 1),
    _size_metric("conditions", "conditions per rule", 2),
    _size_metric("attributes", "attributes per rule", 2),
    _size_metric("bounds", "one-sided bounds per rule", 2),
]
_metrics = {metric.name: metric for metric in _builtin}

METRICS = tuple(_metrics)
"""The names of the metrics that come with the benchmark."""


def metric(name: str) -> Metric:
    """Return a metric by its name.

    Examples
    --------
    >>> metric("rules").higher_is_better
    False
    >>> metric("auc")
    Traceback (most recent call last):
        ...
    ValueError: The comparison has no metric 'auc'; did you mean 'auroc'?
    """
    return _metrics[find_name(name, _metrics, "The comparison", "metric")]


def add_metric(
    name: str, function: Function, *, higher_is_better: bool = True, digits: int = 3
) -> None:
    """Make a metric available by name; every later run measures it.

    Parameters
    ----------
    name : str
    function : callable
        From an `Outcome` to a number, or None where it does not apply.
    higher_is_better : bool, default=True
    digits : int, default=3
        Decimals shown.

    Examples
    --------
    >>> add_metric("errors", lambda o: float(sum(o.truth != o.predicted)), higher_is_better=False)
    >>> metric("errors").label
    'errors'
    """
    _metrics[name] = Metric(name, name, function, higher_is_better, digits)


def select_metrics(names: Iterable[str] | None = None) -> tuple[Metric, ...]:
    """Return the named metrics; by default all, with those that were added."""
    return tuple(metric(name) for name in (names or _metrics))


@dataclass(frozen=True)
class Size:
    """Numbers of conditions, features and one-sided bounds, for each rule.

    A default rule without conditions has 0.
    """

    conditions: tuple[int, ...]
    attributes: tuple[int, ...]
    bounds: tuple[int, ...]

    @property
    def rules(self) -> int:
        """Number of rules, with a default rule."""
        return len(self.conditions)

    def mean(self, unit: str) -> float | None:
        """Return the mean length of the rules that have conditions; None if there are none."""
        lengths = [n for n in getattr(self, unit) if n]
        return float(np.mean(lengths)) if lengths else None


def measure_size(model: Any) -> Size | None:
    """Return the size of a fitted model; None if it does not consist of rules.

    A decision tree has a rule per leaf, a forest the rules of all its trees, and a pipeline those
    of its last step.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> measure_size(tree)
    Size(conditions=(1, 2, 2), attributes=(1, 1, 1), bounds=(1, 2, 2))
    """
    steps = getattr(model, "steps", None)
    if steps:
        return measure_size(steps[-1][1])
    ruleset = getattr(model, "ruleset_", None)
    if isinstance(ruleset, RuleSet):
        rules = []
        for rule in ruleset:
            # Numbers of conditions, features and bounds; a set of categories counts as one.
            nominal = [one for one in rule.conditions if isinstance(one, NominalCondition)]
            n_bounds = len(nominal) + sum(len(one.sides) for one in rule.conditions)
            rules.append((len(rule.conditions), len(rule.attributes), n_bounds))
    else:
        trees = find_trees(model)
        if not trees:
            return None
        rules = [
            (len(path), len({tree.feature[node] for node, _ in path}), len(path))
            for tree in trees
            for _, path in paths_to_leaves(tree)
        ]
    return Size(*zip(*rules, strict=True)) if rules else Size((), (), ())


# ------------------------------------------------------------------ learners
LEARNERS = tuple(registry.LEARNERS)
"""The names of the learners that come with the comparison."""


def learner(name: str) -> BaseEstimator:
    """Return a new estimator by its name.

    Parameters
    ----------
    name : str
        One of `LEARNERS`, or the full name of a classifier class that needs no arguments, such as
        ``"sklearn.naive_bayes.GaussianNB"``.

    Examples
    --------
    >>> learner("tree")
    DecisionTreeClassifier()
    >>> learner("riper")
    Traceback (most recent call last):
        ...
    ValueError: The comparison has no learner 'riper'; did you mean 'ripper'?
    """
    if "." in name:
        estimator = registry.Learner(name, name, name).make()
        if not is_classifier(estimator):
            raise ValueError(f"{name!r} is not a classifier")
        return estimator
    find_name(name, registry.LEARNERS, "The comparison", "learner")
    return registry.LEARNERS[name].make()


def label(name: str) -> str:
    """Return the name of a learner in tables and figures."""
    known = registry.LEARNERS.get(name)
    return name.rpartition(".")[2] if known is None else known.label


def find_obstacle(data: Dataset, name: str, estimator: BaseEstimator) -> str | None:
    """Return why a learner of the registry cannot be run on a table; None if it can, or may try.

    Examples
    --------
    >>> import pandas as pd
    >>> from frri.compare import dataset
    >>> X = pd.DataFrame({"age": [31, None, 40], "sex": ["f", "m", "f"]})
    >>> patients = dataset((X, ["low", "high", "low"]), name="patients")
    >>> find_obstacle(patients, "tree", learner("tree"))
    "not run: decision tree takes numbers only, and 'sex' holds others"
    >>> find_obstacle(patients, "frri", learner("frri"))
    """
    known = registry.LEARNERS.get(name)
    if known is None or describe_estimator(estimator) != describe_estimator(known.make()):
        return None
    for able, columns, takes, has, have in (
        (known.nominal, data.not_numeric, "numbers only", "holds others", "hold others"),
        (known.missing, data.with_missing, "no missing values", "has some", "have some"),
    ):
        if columns and not able:
            listing, verb = join_names(map(repr, columns), 3), has if len(columns) == 1 else have
            return f"not run: {known.label} takes {takes}, and {listing} {verb}"
    return None


def clone_with_seed(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """Return a clone in which every `random_state`, also of nested estimators, is the seed."""
    fresh = clone(estimator)
    random = [p for p in fresh.get_params() if p.rpartition("__")[2] == "random_state"]
    return fresh.set_params(**dict.fromkeys(random, seed)) if random else fresh


def describe_estimator(estimator: BaseEstimator) -> str:
    """Return an estimator with all its settings in one line."""
    return " ".join(estimator.__repr__(N_CHAR_MAX=10**6).split())

"""Metrics: functions of the outcome of one fold."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score, roc_auc_score

from frri._util import Floats, find_name
from frri.rules import NumericCondition, Rule, RuleSet
from frri.rules.measures import accuracy, balanced_accuracy


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
    known = [str(c) for c in outcome.model.classes_]
    # A class that is not in the training data is never expected.
    never = np.zeros(len(outcome.truth))
    areas = [
        roc_auc_score(
            outcome.truth == c, outcome.probabilities[:, known.index(c)] if c in known else never
        )
        for c in present
    ]
    return float(np.mean(areas))


def _size_metric(name: str, label: str, digits: int) -> Metric:
    def measure(outcome: Outcome) -> float | None:
        if outcome.size is None:
            return None
        return float(outcome.size.rules) if name == "rules" else outcome.size.mean(name)

    return Metric(name, label, measure, higher_is_better=False, digits=digits, of_model=True)


_KNOWN = {
    metric.name: metric
    for metric in (
        _decision_metric("balanced_accuracy", "balanced accuracy", balanced_accuracy),
        _decision_metric("accuracy", "accuracy", accuracy),
        _decision_metric("macro_f1", "macro F1", _macro_f1),
        Metric("auroc", "AUROC", _auroc),
        _size_metric("rules", "rules", 1),
        _size_metric("conditions", "conditions per rule", 2),
        _size_metric("attributes", "attributes per rule", 2),
        _size_metric("bounds", "one-sided bounds per rule", 2),
    )
}

METRICS = tuple(_KNOWN)
"""The names of the metrics that come with the benchmark."""

_added: dict[str, Metric] = {}


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
    everything = _KNOWN | _added
    return everything[find_name(name, everything, "The comparison", "metric")]


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
    _added[name] = Metric(name, name, function, higher_is_better, digits)


def select_metrics(names: Iterable[str] | None = None) -> tuple[Metric, ...]:
    """Return the named metrics; by default all, with those that were added."""
    return tuple(metric(name) for name in (names or {**_KNOWN, **_added}))


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
        rules = [_rule_size(rule) for rule in ruleset]
    else:
        trees = [model] if hasattr(model, "tree_") else np.ravel(getattr(model, "estimators_", []))
        if not len(trees) or not all(hasattr(one, "tree_") for one in trees):
            return None
        rules = [leaf for one in trees for leaf in _leaf_sizes(one.tree_)]
    return Size(*zip(*rules, strict=True)) if rules else Size((), (), ())


def _rule_size(rule: Rule) -> tuple[int, int, int]:
    """Return the numbers of conditions, features and one-sided bounds (1 for categories)."""
    bounds = sum(
        (one.core_low > -inf) + (one.core_high < inf) if isinstance(one, NumericCondition) else 1
        for one in rule.conditions
    )
    return len(rule.conditions), len({one.attribute for one in rule.conditions}), bounds


def _leaf_sizes(tree: Any) -> list[tuple[int, int, int]]:
    """Return depth, number of features and depth again of every leaf."""
    found = []
    stack: list[tuple[int, Sequence[int]]] = [(0, ())]
    while stack:
        node, path = stack.pop()
        if tree.children_left[node] < 0:
            found.append((len(path), len(set(path)), len(path)))
            continue
        path = (*path, int(tree.feature[node]))
        stack += [(tree.children_right[node], path), (tree.children_left[node], path)]
    return found

"""Candidates for a table, and the CPU seconds that a model of the work expects of them.

The model depends on the table alone, so that the same candidates are compared, on the same folds,
on every machine.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from math import sqrt
from typing import Any

from frri.learners.registry import TASKS
from frri.selection.holdout import Holdout, HoldoutResult
from frri.selection.metrics import BALANCED
from frri.table import EncodedTable, encode_frame
from frri.table.columns import column_names

# Expected CPU seconds of evaluating and fitting all candidates.
BUDGET = 20.0

# Candidates for every table, and those that compete where there is time.
CANDIDATES = {
    "classification": (("ripper", "additive"), ("furia", "compact", "frri")),
    "ordinal": (("additive",), ("frri",)),
    "regression": (("additive",), ("frri",)),
}

# Models that are not readable, to compare with.
REFERENCES = {"random forest": "RandomForest", "gradient boosting": "HistGradientBoosting"}
# Categories of a column that gradient boosting takes as such.
MOST_CATEGORIES = 255


def make_estimator(name: str, *, task: str = "classification", **parameters: Any) -> Any:
    """Return a registered estimator with the parameters that it has; others, and None, are dropped.

    Examples
    --------
    >>> make_estimator("ripper", random_state=1), make_estimator("compact", random_state=1)
    (RIPPERClassifier(random_state=1), CompactFRRIClassifier())
    """
    estimator = TASKS[task][name].make()
    known = estimator.get_params()
    wanted = {key: v for key, v in parameters.items() if key in known and v is not None}
    return estimator.set_params(**wanted)


def decision_parameters(
    name: str, metric: str, costs: Mapping[Any, float] | None
) -> dict[str, Any]:
    """Return the parameters by which the predictions of an estimator follow a metric.

    The first rule that covers a sample decides, or a rule that was pruned for one class: such rules
    need weights of classes in training. Other rules are weighed at prediction.

    Examples
    --------
    >>> decision_parameters("additive", "balanced_accuracy", None)
    {'decision': 'balanced'}
    >>> decision_parameters("ripper", "cost", {"yes": 5})
    {'decision': {'yes': 5}, 'class_weight': {'yes': 5}}
    """
    wanted = "balanced" if metric in BALANCED else costs
    names = ("decision", "class_weight") if name in {"ripper", "furia"} else ("decision",)
    return {} if wanted is None else dict.fromkeys(names, wanted)


def expected_seconds(name: str, n_samples: int, n_features: int, n_classes: int) -> float:
    """Return the CPU seconds that a fit takes, roughly, on a machine of 2024.

    Examples
    --------
    >>> round(expected_seconds("ripper", 100_000, 10, 2), 1)
    1.1
    """
    n, values, scores = n_samples, n_samples * n_features, max(n_classes, 2) - (n_classes <= 2)
    # Additive rules: one path of rules for each of its folds, and one of all samples.
    n_paths = 1.0 + 5.0 * min(1.0, 2_000 / n, 6.0 / max(n_classes, 1))
    few, deep = min(1.0, n / 1_000), values * max(1.0, values / 200_000)
    known = {
        "ripper": 0.06 + 1e-6 * values + 0.015 * scores,
        "furia": 0.08 + 5e-6 * values + 0.02 * scores,
        "additive": n_paths * (few * (0.1 + 0.08 * scores) + 3e-6 * deep * (1.0 + scores / 4.0)),
        "compact": 0.2 + 2.5e-4 * n + 3e-9 * n * values,
        "random forest": 0.12 + 4.5e-5 * n * sqrt(n_features),
        "gradient boosting": 0.15 * scores + 3e-6 * values,
    }
    return known.get(name, 0.3 + 1e-5 * n * n + 1e-8 * n * values)


def plan(
    names: Sequence[str], further: Sequence[str], n_splits: int, size: tuple[int, int, int]
) -> tuple[dict[str, float], int]:
    """Return the estimators to evaluate with their seconds per fit, and the number of splits.

    Those of `names` are evaluated on as many splits as the budget allows, at least one and at most
    `n_splits`; those of `further` on the same splits, in their order, as long as the budget lasts.
    The size consists of the numbers of samples, features and classes.

    Examples
    --------
    >>> [*plan(["ripper", "additive"], ["furia", "frri"], 5, (200, 5, 2))[0]]
    ['ripper', 'additive', 'furia', 'frri']
    >>> names, n_splits = plan(["ripper", "additive"], ["furia", "frri"], 5, (20_000, 90, 8))
    >>> [*names], n_splits
    (['ripper', 'additive'], 1)
    """
    kept = {name: expected_seconds(name, *size) for name in names}
    each = sum(kept.values())
    left = BUDGET - max(kept.values())  # of the fit to all samples
    n_splits = max(1, min(n_splits, int(left / each)))
    left -= n_splits * each
    for name in further:
        seconds = expected_seconds(name, *size)
        if n_splits * seconds <= left:
            kept[name] = seconds
            left -= n_splits * seconds
    return kept, n_splits


def evaluate_reference(name: str, holdout: Holdout, random_state: int) -> HoldoutResult | None:
    """Evaluate a random forest or gradient boosting of scikit-learn on the splits of a table.

    Categories are numbered, which gradient boosting is told; both take missing values. Classes have
    balanced weights if the metric gives every class the same importance.
    """
    from sklearn import ensemble  # noqa: PLC0415 - slow to import
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    one = copy(holdout)
    kind = "Regressor" if one.task == "regression" else "Classifier"
    options: dict[str, Any] = {"random_state": random_state}
    if one.metric in BALANCED:
        options["class_weight"] = "balanced"
    if isinstance(one.X, EncodedTable) or column_names(one.X) is not None:
        table = one.X if isinstance(one.X, EncodedTable) else encode_frame(one.X)
        one.X = table.matrix
        if name == "gradient boosting":
            sizes = [len(a.categories or ()) * (a.kind == "nominal") for a in table.attributes]
            options["categorical_features"] = [0 < size <= MOST_CATEGORIES for size in sizes]
    with threadpool_limits(1):  # threads that wait for each other would take most of the time
        return one.evaluate(getattr(ensemble, REFERENCES[name] + kind)(**options))

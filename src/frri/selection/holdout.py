"""Evaluate estimators on held-out samples, by cross-validation or with one test set."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from frri._util import Flags, Floats, Positions, find_name, report_progress
from frri.learners.training_table import take_rows
from frri.rules import measures
from frri.rules.ruleset import decision_costs
from frri.table.columns import plain_table

# Metrics by task, the default first, with their names in messages.
METRICS = {
    "classification": {
        "accuracy": "accuracy",
        "balanced_accuracy": "balanced accuracy",
        "log_loss": "log loss",
        "roc_auc": "ROC AUC",
        "f1": "F1",
        "cost": "cost",
    },
    "ordinal": {"kappa": "kappa"},
    "regression": {"r2": "R2"},
}
LOWER_IS_BETTER = {"log_loss", "cost"}
# Metrics that give every class the same importance, and those that need probabilities.
BALANCED, OF_PROBABILITIES = {"balanced_accuracy", "f1"}, {"log_loss", "roc_auc"}

FOLDS = 5

# Of a larger table, this number of samples is drawn to be split.
MAX_SAMPLES = 20_000

# A cross-validation of fewer samples has next to no information.
FEWEST_SAMPLES = 20

# Groups of samples that are left out in turn for a standard error (jackknife).
PARTS = 50

# A candidate loses if it is worse than the best one by more than this, and than 3 standard errors.
HOPELESS = 0.02


class Holdout:
    """A table that is split into training and held-out samples, once for all estimators.

    Parameters
    ----------
    X : data frame or array of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Classes, or the target of a regression.
    task : {"classification", "regression", "ordinal"}, default="classification"
    class_order : sequence of labels, optional
        Classes from the lowest to the highest, for `task="ordinal"`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of samples, for learning and for the metric. Samples of weight 0 are left out.
    groups : array-like of shape (n_samples,), optional
        Samples of the same group are held out together.
    cv : int, splitter or iterable of (train, test), optional
        Number of folds of a cross-validation, by default 5; with 0 no sample is held out. By
        default at most 20,000 samples are used, drawn at random. A splitter of scikit-learn, or its
        splits, may be given instead.
    test_size : float, optional
        Fraction of the samples in a single test set, instead of a cross-validation.
    metric : str, optional
        By default accuracy, in regression R² ("r2"), for ordinal classes quadratic kappa ("kappa").
        For classes also "balanced_accuracy", "log_loss", "roc_auc" (the mean of all classes, each
        against the others), "f1" (the mean of all classes) and "cost".
    costs : mapping of labels to float, optional
        Cost of misclassifying a sample of each class, for `metric="cost"`.
    random_state : int, default=0
        Random seed of the splits.

    Attributes
    ----------
    splits : list of (train, test)
        Positions of samples; empty if the table cannot be split.
    reason : str
        Why there are no splits; empty if there are some, if none are wanted, or if there is only
        one class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from frri import RIPPERClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> result = Holdout(X, y).evaluate(RIPPERClassifier(random_state=0))
    >>> round(result.score, 2), result.baseline[1]
    (0.92, 0.333333333)
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        task: str = "classification",
        class_order: Sequence[Any] | None = None,
        sample_weight: Any = None,
        groups: Any = None,
        cv: Any = None,
        test_size: float | None = None,
        metric: str | None = None,
        costs: Mapping[Any, float] | None = None,
        random_state: int = 0,
    ) -> None:
        X = plain_table(X)
        X = X if hasattr(X, "shape") else np.asarray(X)
        labels = np.asarray(y).ravel()
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        kept = np.arange(len(labels)) if weight is None else np.flatnonzero(weight > 0)
        if groups is not None and len(groups) != len(labels):
            expected = f"one entry for each of the {len(labels)} samples"
            raise ValueError(f"groups must have {expected}, got {len(groups)}.")
        asked = cv is not None or test_size is not None
        if len(kept) > MAX_SAMPLES and not asked:
            order = np.random.default_rng(random_state).permutation(len(kept))
            kept = kept[np.sort(order[:MAX_SAMPLES])]
        if len(kept) < len(labels):
            X, labels = take_rows(X, kept), labels[kept]
        self.X, self.y = X, labels
        self.sample_weight = None if weight is None else weight[kept]
        self.task, self.class_order = task, class_order
        self.metric = str(metric or next(iter(METRICS[task])))
        find_name(self.metric, METRICS[task], f"frri for {task}", "metric")
        self.classes = np.array([]) if task == "regression" else np.unique(labels)
        self.costs = () if costs is None else decision_costs(costs, self.classes.tolist(), ())
        self.splits: list[tuple[Positions, Positions]] = []
        self.reason = ""
        if len(np.unique(labels.astype(str))) < 2 or (isinstance(cv, Integral) and cv == 0):
            return
        if cv is not None and not isinstance(cv, Integral):
            self.splits = _given_splits(cv, y, groups, kept)
            return
        owners = None
        if groups is not None:
            owners = np.unique(np.asarray(groups)[kept].astype(str), return_inverse=True)[1]
        folds = None if test_size is not None else int(cv or FOLDS)
        self.reason = self._find_obstacle(folds, owners, asked=asked)
        if self.reason:
            return
        if test_size is not None and owners is None:
            self._split_once(test_size, random_state)
            return
        n_folds = folds or max(2, round(1.0 / (test_size or 1.0)))
        by_class: Any = {"stratified": task != "regression", "groups": owners}
        fold = assign_folds(labels, n_folds, random_state, **by_class)
        used = range(folds or 1)
        self.splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in used]

    def _find_obstacle(self, folds: int | None, owners: Positions | None, *, asked: bool) -> str:
        """Return why the samples cannot be split, empty if they can; owners are their groups."""
        n, least, n_groups = len(self.y), folds or 0, folds or 2
        largest = np.unique(self.y.astype(str), return_counts=True)[1].max()
        reasons = {
            f"no class has {folds} rows": self.task != "regression" and largest < least,
            f"there are fewer than {folds} rows": n < least,
            f"there are fewer than {n_groups} groups": owners is not None
            and owners.max() + 1 < n_groups,
            f"only {n} rows": n < FEWEST_SAMPLES and not asked,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def _split_once(self, test_size: float, random_state: int) -> None:
        """Hold out one test set, with the fractions of the classes if these are large enough."""
        from sklearn import model_selection as ways  # noqa: PLC0415 - slow to import

        labels = self.y.astype(str)
        smallest = np.unique(labels, return_counts=True)[1].min()
        is_stratified = self.task != "regression" and smallest > 1
        kind = ways.StratifiedShuffleSplit if is_stratified else ways.ShuffleSplit
        splitter = kind(1, test_size=test_size, random_state=random_state)
        with suppress(ValueError):
            self.splits = list(splitter.split(self.y, labels))
        if not self.splits:
            few = "leaves too few to learn from or to test; use a cross-validation"
            self.reason = f"a test set of {test_size:g} of {len(labels)} rows {few}"

    def evaluate(
        self,
        estimator: Any,
        *,
        leader: "HoldoutResult | None" = None,
        deadline: float = float("inf"),
    ) -> "HoldoutResult | None":
        """Fit clones of an estimator and predict the samples that are held out from them.

        Probabilities are calibrated only if the predicted classes or the metric depend on them.

        Parameters
        ----------
        estimator : estimator
        leader : HoldoutResult, optional
            The best result so far: once the estimator cannot reach it, the remaining splits are
            left out. It cannot if it is worse by more than 0.02 and by more than three standard
            errors of the difference.
        deadline : float, optional
            Time of `time.perf_counter` at which no further split is begun.

        Returns
        -------
        HoldoutResult or None
            None if there was no time for a split.
        """
        result, parts, sizes = None, [], []
        for train, test in self.splits:
            if perf_counter() > deadline or (result is not None and result.is_hopeless(leader)):
                break
            model, y = clone(estimator), self.y[train]
            for name in ("decision", "class_weight"):  # a class may be absent
                given = getattr(model, name, None)
                if isinstance(given, Mapping):
                    known = {str(label) for label in np.unique(y)}
                    setattr(model, name, {c: v for c, v in given.items() if str(c) in known})
            is_plain = getattr(model, "decision", None) == "accuracy"
            if is_plain and hasattr(model, "calibrate") and self.metric not in OF_PROBABILITIES:
                model.calibrate = False
            weight = self.sample_weight
            extra = {} if weight is None else {"sample_weight": weight[train]}
            with warnings.catch_warnings():
                # The fit to the whole table has the same warnings.
                warnings.simplefilter("ignore")
                model.fit(take_rows(self.X, train), y, **extra)
                parts.append((test, *self._predict(model, take_rows(self.X, test))))
            if getattr(model, "selection_", {}).get("stopped_by") == "interrupt":
                raise KeyboardInterrupt
            rules = getattr(model, "ruleset_", ())
            sizes.append((len(rules), sum(len(rule.conditions) for rule in rules)))
            result = self._result(parts, sizes)
            report_progress(len(parts), len(self.splits))
        return result

    def _predict(self, model: Any, X: Any) -> tuple[NDArray[Any], Floats | None]:
        """Return predictions and, if the metric needs them, probabilities of all classes."""
        predictions = model.predict(X)
        if self.metric not in OF_PROBABILITIES:
            return predictions, None
        found: Floats = np.zeros((len(predictions), len(self.classes)))
        found[:, np.searchsorted(self.classes, model.classes_)] = model.predict_proba(X)
        return predictions, found

    def _result(self, parts: Sequence[Any], sizes: Sequence[Any]) -> "HoldoutResult":
        tested = np.concatenate([part[0] for part in parts])
        probabilities = [part[2] for part in parts]
        n_rules, n_conditions = np.mean(sizes, axis=0).tolist()
        return HoldoutResult(
            self.y[tested],
            np.concatenate([part[1] for part in parts]),
            np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts]),
            n_rules,
            n_conditions,
            sample_weight=None if self.sample_weight is None else self.sample_weight[tested],
            task=self.task,
            metric=self.metric,
            classes=tuple(self.class_order or self.classes.tolist()),
            costs=self.costs,
            probabilities=None if probabilities[0] is None else np.concatenate(probabilities),
        )


def assign_folds(
    y: NDArray[Any], n_folds: int, seed: int, *, stratified: bool = True, groups: Any = None
) -> Positions:
    """Return the fold in which each sample is tested, at random by the seed.

    Stratified folds have about the same fraction of every class; a class with fewer samples than
    folds is absent from some. Samples of a group are in the same fold.
    """
    from sklearn import model_selection as ways  # noqa: PLC0415 - slow to import

    labels = y.astype(str) if stratified else np.zeros(len(y), dtype=np.intp)
    kind = ways.StratifiedKFold if stratified else ways.KFold
    kind = kind if groups is None else ways.StratifiedGroupKFold
    splitter = kind(n_folds, shuffle=True, random_state=seed)
    folds = np.empty(len(y), dtype=np.intp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes smaller than the folds
        for fold, (_, test) in enumerate(splitter.split(folds, labels, groups)):
            folds[test] = fold
    return folds


def _given_splits(
    cv: Any, y: Any, groups: Any, kept: Positions
) -> list[tuple[Positions, Positions]]:
    """Return the splits of a splitter, or those given, with positions among the samples kept."""
    from sklearn.model_selection import check_cv  # noqa: PLC0415 - slow to import

    place = np.full(len(y), -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    parts = [
        tuple(place[rows][place[rows] >= 0] for rows in pair)
        for pair in check_cv(cv).split(place, y, groups)
    ]
    return [(train, test) for train, test in parts if len(train) and len(test)]


# ------------------------------------------------------------------ metrics
class Predictions(NamedTuple):
    """Truth and predictions: positions of classes, or the numbers of a regression.

    Probabilities have a column for each class; there is a cost for each class.
    """

    true: NDArray[Any]
    predicted: NDArray[Any]
    weights: Floats | None
    probabilities: Floats
    costs: Floats

    def of(self, rows: Any) -> "Predictions":
        """Return those of some samples."""
        weights = None if self.weights is None else self.weights[rows]
        known = self.true[rows], self.predicted[rows], weights, self.probabilities[rows]
        return Predictions(*known, self.costs)

    def measure(self, metric: str) -> float:
        """Return a metric by its name, to 12 decimals: further ones may depend on the machine.

        Examples
        --------
        >>> codes = np.array([0, 0, 1]), np.array([0, 1, 1])
        >>> Predictions(*codes, None, np.eye(3, 2), np.array([1.0, 5.0])).measure("cost")
        0.333333333333
        """
        return round(float(_MEASURES[metric](self)), 12)


def _log_loss(given: Predictions) -> Any:
    known = given.probabilities[np.arange(len(given.true)), given.true]
    return -np.average(np.log(np.maximum(known, 1e-15)), weights=given.weights)


def _roc_auc(given: Predictions) -> Any:
    """Return the mean area of the classes that occur, each against the others."""
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - slow to import

    classes = np.unique(given.true)
    if len(classes) < 2:
        return 0.5
    areas = [
        roc_auc_score(given.true == c, given.probabilities[:, c], sample_weight=given.weights)
        for c in (classes[1:] if len(given.costs) == 2 else classes)
    ]
    return np.mean(areas)


def _f1(given: Predictions) -> Any:
    """Return the mean F1 of the classes that occur."""
    from sklearn.metrics import f1_score  # noqa: PLC0415 - slow to import

    options = {"labels": np.unique(given.true), "sample_weight": given.weights}
    return f1_score(given.true, given.predicted, average="macro", zero_division=0, **options)


_MEASURES: dict[str, Callable[[Predictions], Any]] = {
    "accuracy": lambda p: np.average(p.true == p.predicted, weights=p.weights),
    "balanced_accuracy": lambda p: measures.balanced_accuracy(p.true, p.predicted, p.weights),
    "log_loss": _log_loss,
    "roc_auc": _roc_auc,
    "f1": _f1,
    "cost": lambda p: np.average(p.costs[p.true] * (p.true != p.predicted), weights=p.weights),
    "kappa": lambda p: measures.quadratic_kappa(p.true, p.predicted, len(p.costs), p.weights),
    "r2": lambda p: measures.measure_regression(p.true, p.predicted, p.weights)["r2"],
}


# ------------------------------------------------------------------ results
@dataclass(frozen=True, eq=False)
class HoldoutResult:
    """Predictions of held-out samples, and how good they are.

    Attributes
    ----------
    truth, predictions : ndarray of shape (n_held_out,)
    fold : ndarray of int, shape (n_held_out,)
        The split that held a sample out.
    n_rules, n_conditions : float
        Mean numbers of rules and of their conditions.
    sample_weight : ndarray of shape (n_held_out,), optional
    task : {"classification", "regression", "ordinal"}, default="classification"
    metric : str
        A name of the metrics of `Holdout`.
    classes : sequence of labels
        All classes; for `task="ordinal"` from the lowest to the highest.
    costs : sequence of float
        Costs of misclassifying a sample of each class; empty if all are 1.
    probabilities : ndarray of shape (n_held_out, n_classes), optional
    """

    truth: NDArray[Any]
    predictions: NDArray[Any]
    fold: Positions
    n_rules: float
    n_conditions: float = 0.0
    sample_weight: Floats | None = None
    task: str = "classification"
    metric: str = "accuracy"
    classes: Sequence[Any] = ()
    costs: Sequence[float] = ()
    probabilities: Floats | None = None

    @property
    def score(self) -> float:
        """Metric of the predictions, weighted."""
        return self._encoded.measure(self.metric)

    @property
    def measure(self) -> str:
        """Name of the score in messages."""
        return METRICS[self.task][self.metric]

    @property
    def baseline(self) -> tuple[str, float]:
        """Best constant prediction (majority class, mean or median class), and its score."""
        value = self._constant.predicted[0]
        text = f"the mean ({value:.6g})" if self.task == "regression" else self._classes[int(value)]
        return text, round(self._constant.measure(self.metric), 9) + 0.0

    @property
    def beats_baseline(self) -> bool:
        """Whether the score is better than that of the best constant prediction."""
        lead = self.score - self.baseline[1]
        return lead < 0.0 if self.metric in LOWER_IS_BETTER else lead > 0.0

    @property
    def is_constant(self) -> bool:
        """Whether all predictions are the same."""
        return len(set(self.predictions.tolist())) < 2

    def loss(self, best: "HoldoutResult", rows: Any = slice(None)) -> float:
        """Return by how much the score is worse than another one, on the same samples."""
        both = self._encoded, best._encoded.of(slice(len(self.truth)))  # noqa: SLF001 - same class
        own, other = (one.of(rows).measure(self.metric) for one in both)
        return own - other if self.metric in LOWER_IS_BETTER else other - own

    def is_close(self, best: "HoldoutResult", most: float) -> bool:
        """Return whether the score differs from a better one by chance, and by at most `most`.

        By chance means: by at most one standard error of the difference.
        """
        lost = self.loss(best)
        return lost <= 0.0 or lost <= min(most, self._error_of_loss(best))

    def is_hopeless(self, leader: "HoldoutResult | None") -> bool:
        """Return whether the score is far below that of another result on the same samples."""
        if leader is None or len(leader.truth) < len(self.truth):
            return False
        lost = self.loss(leader)
        return lost > HOPELESS and lost > 3.0 * self._error_of_loss(leader)

    def _error_of_loss(self, best: "HoldoutResult") -> float:
        """Return the standard error of the difference of scores, by the jackknife."""
        return _jackknife(len(self.truth), lambda rows: self.loss(best, rows))

    def plain(self) -> dict[str, Any]:
        """Return the score, its 95 % interval and the baseline as JSON values, for a model.

        They have nine digits, which are the same on every machine. For classes there is also the
        confusion matrix, as [true, predicted, samples] by the positions of the classes.
        """
        always, baseline = self.baseline
        found = self._mean_error(self._encoded) | {
            "measure": self.measure,
            "score": self.score,
            "interval": [round(float(end), 9) for end in self._interval()],
            "rows": len(self.truth),
            "folds": int(self.fold.max()) + 1,
            "baseline": {"answer": always, "score": baseline} | self._mean_error(self._constant),
        }
        if self.task != "regression":
            found["confusion"] = measures.confusion(*self._encoded[:2])
        return found

    def __str__(self) -> str:
        """Describe the score, its spread and the baseline in one line."""
        error = {
            "regression": ", mean absolute error {error:.4g}",
            "ordinal": ", mean absolute error {error:.2f} classes",
        }.get(self.task, "")
        own, n_splits = self._encoded, int(self.fold.max()) + 1
        if n_splits > 1:
            kind = f"{n_splits}-fold cross-validation"
            scores = [own.of(self.fold == k).measure(self.metric) for k in range(n_splits)]
            spread = f"{min(scores):.2f} to {max(scores):.2f}"
        else:
            kind, (low, high) = f"Test set of {len(self.truth)} rows", self._interval()
            spread = f"95 % interval {low:.2f} to {high:.2f}"
        score, is_worse = self.score, not self.beats_baseline
        constant = {"regression": "mean", "ordinal": "median-class"}.get(
            self.task, "majority-class"
        )
        return (
            f"{kind}: {self.measure} {score:.2f} ({spread})"
            f"{error.format(**self._mean_error(own))}; {constant} baseline {self.baseline[1]:.2f}"
            f"{error.format(**self._mean_error(self._constant))}"
            f"{', not better than the baseline' * is_worse}"
        )

    @cached_property
    def _classes(self) -> list[str]:
        """Classes as strings, in their order."""
        found = {str(label) for part in (self.truth, self.predictions) for label in part.tolist()}
        return [str(label) for label in self.classes] or sorted(found)

    @cached_property
    def _encoded(self) -> Predictions:
        """Truth and predictions as numbers: positions of classes, or those of a regression."""
        codes: list[NDArray[Any]] = [self.truth, self.predictions]
        shares = self.probabilities
        if self.task != "regression":
            position = {label: c for c, label in enumerate(self._classes)}
            codes = [
                np.array([position[str(label)] for label in labels.tolist()], dtype=np.intp)
                for labels in codes
            ]
        shares = np.empty((len(self.truth), 0)) if shares is None else shares
        costs = np.array(self.costs or [1.0] * len(self._classes))
        return Predictions(codes[0], codes[1], self.sample_weight, shares, costs)

    @cached_property
    def _constant(self) -> Predictions:
        """The best constant prediction, for each sample: mean, median or majority class."""
        known = self._encoded
        true, weight = known.true, known.weights
        if self.task == "regression":
            constant = np.average(true, weights=weight)
            return known._replace(predicted=np.full(len(true), constant))
        counts = np.bincount(true, weight, len(known.costs))
        if self.task == "ordinal":
            passed = np.cumsum(counts)
            constant = (passed >= passed[-1] / 2.0).argmax()
        else:
            constant = (counts * (known.costs if self.metric == "cost" else 1.0)).argmax()
        shares = np.tile(counts / counts.sum(), (len(true), 1))
        return known._replace(predicted=np.full(len(true), constant), probabilities=shares)

    def _mean_error(self, given: Predictions) -> dict[str, float]:
        """Return the mean absolute error of encoded predictions, nothing for classes."""
        if self.task == "classification":
            return {}
        difference = np.abs(given.true - given.predicted)
        return {"error": float(f"{np.average(difference, weights=given.weights):.9g}")}

    def _interval(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of the score."""
        known, n = self._encoded, len(self.truth)
        if self.task == "regression":
            found = measures.measure_regression(*known[:3])
            low, high = found["r2_interval"]
        elif self.task == "ordinal":
            found = measures.measure_ordinal(*known[:2], len(self._classes), known.weights)
            low, high = found["kappa_interval"]
        elif self.metric == "accuracy":
            low, high = measures.wilson(self.score * n, n)
        else:
            error = 1.96 * _jackknife(n, lambda rows: known.of(rows).measure(self.metric))
            low, high = self.score - error, self.score + error
        return low, high


def _jackknife(n_samples: int, statistic: Callable[[Flags], float]) -> float:
    """Return the standard error of a statistic: groups of samples are left out in turn."""
    part = np.random.default_rng(0).permutation(n_samples) % PARTS
    found = [statistic(part != k) for k in range(min(n_samples, PARTS))]
    return round(float(np.std(found) * np.sqrt(max(len(found) - 1, 1))), 12)

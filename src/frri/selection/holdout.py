"""Evaluate estimators on held-out samples, by cross-validation or with one test set."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, Positions
from frri.rules import measures

FOLDS = 5

# A larger table has one test set, of this fraction of its samples, instead of folds.
MANY_SAMPLES, TEST_SIZE = 5_000, 0.2

# A cross-validation of fewer samples has next to no information.
FEWEST_SAMPLES = 20


class Holdout:
    """A table that is split into training and held-out samples, once for all estimators.

    Parameters
    ----------
    X : data frame or array of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Classes, or the target of a regression.
    task : {"classification", "regression", "ordinal"}, default="classification"
        It decides the measure: accuracy, R² or quadratic kappa.
    class_order : sequence of labels, optional
        Classes from the lowest to the highest, for `task="ordinal"`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of samples, for learning and for the measure. Samples of weight 0 are left out.
    cv : int, optional
        Number of folds of a cross-validation; with 0 no sample is held out. By default 5, unless
        `test_size` is given or the table has more than 5,000 samples, which have one test set of
        20 %.
    test_size : float, optional
        Fraction of the samples in a single test set, instead of a cross-validation.
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
        cv: int | None = None,
        test_size: float | None = None,
        random_state: int = 0,
    ) -> None:
        X = X if hasattr(X, "shape") else np.asarray(X)
        labels = np.asarray(y)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weight is not None and not weight.all():
            # A fold of samples without weight could not be measured.
            X, labels, weight = _take(X, weight > 0), labels[weight > 0], weight[weight > 0]
        self.X, self.y, self.sample_weight = X, labels, weight
        self.task, self.class_order = task, class_order
        self.splits: list[tuple[Positions, Positions]] = []
        self.reason = ""
        counts = np.unique(labels.astype(str), return_counts=True)[1]
        if len(counts) < 2 or cv == 0:
            return
        asked = cv is not None or test_size is not None
        if not asked and len(labels) > MANY_SAMPLES:
            test_size = TEST_SIZE
        folds = cv or FOLDS
        if test_size is None and task != "regression" and counts.max() < folds:
            self.reason = f"no class has {folds} rows"
        elif test_size is None and len(labels) < folds:
            self.reason = f"there are fewer than {folds} rows"
        elif len(labels) < FEWEST_SAMPLES and not asked:
            self.reason = f"{len(labels)} rows are too few"
        elif test_size is None:
            fold = assign_folds(labels, folds, random_state, stratified=task != "regression")
            self.splits = [
                (np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)
            ]
        else:
            from sklearn.model_selection import train_test_split  # noqa: PLC0415 - slow to import

            strata = labels.astype(str) if task != "regression" and counts.min() > 1 else None
            options = {"test_size": test_size, "random_state": random_state, "stratify": strata}
            try:
                self.splits = [tuple(train_test_split(np.arange(len(labels)), **options))]
            except ValueError:
                self.reason = (
                    f"a test set of {test_size:g} of {len(labels)} rows leaves too few to learn "
                    "from or to test; use a cross-validation"
                )

    def evaluate(
        self, estimator: Any, *, time_limit: float = float("inf")
    ) -> "HoldoutResult | None":
        """Fit clones of an estimator and predict the samples that are held out from them.

        The result is None if all splits would take more seconds of computing than the limit, as
        far as the first ones show.
        """
        from sklearn.base import clone  # noqa: PLC0415 - slow to import

        start = process_time()
        predictions, sizes, weight = [], [], self.sample_weight
        for k, (train, test) in enumerate(self.splits, start=1):
            extra = {} if weight is None else {"sample_weight": weight[train]}
            with warnings.catch_warnings():
                # The fit to the whole table has the same warnings.
                warnings.simplefilter("ignore")
                model = clone(estimator).fit(_take(self.X, train), self.y[train], **extra)
                predictions.append(model.predict(_take(self.X, test)))
            if getattr(model, "selection_", {}).get("stopped_by") == "interrupt":
                raise KeyboardInterrupt
            sizes.append(len(model.ruleset_))
            expected = (process_time() - start) / k * len(self.splits)
            if k < len(self.splits) and expected > time_limit:
                return None
        tested = np.concatenate([test for _, test in self.splits])
        return HoldoutResult(
            self.y[tested],
            np.concatenate(predictions),
            np.repeat(np.arange(len(self.splits)), [len(test) for _, test in self.splits]),
            float(np.mean(sizes)),
            None if weight is None else weight[tested],
            self.task,
            self.class_order or (),
        )


def assign_folds(y: NDArray[Any], n_folds: int, seed: int, *, stratified: bool = True) -> Positions:
    """Return the fold in which each sample is tested, at random by the seed.

    Stratified folds have about the same fraction of every class; a class with fewer samples than
    folds is absent from some.
    """
    from sklearn.model_selection import KFold, StratifiedKFold  # noqa: PLC0415 - slow to import

    splitter = (StratifiedKFold if stratified else KFold)(n_folds, shuffle=True, random_state=seed)
    folds = np.empty(len(y), dtype=np.intp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes smaller than the folds
        for fold, (_, test) in enumerate(splitter.split(folds, y.astype(str))):
            folds[test] = fold
    return folds


def _take(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


@dataclass(frozen=True, eq=False)
class HoldoutResult:
    """Predictions of held-out samples, and how good they are.

    Attributes
    ----------
    truth, predictions : ndarray of shape (n_held_out,)
    fold : ndarray of int, shape (n_held_out,)
        The split that held a sample out.
    n_rules : float
        Mean number of rules.
    sample_weight : ndarray of shape (n_held_out,), optional
    task : {"classification", "regression", "ordinal"}, default="classification"
    class_order : sequence of labels
        Classes from the lowest to the highest, for `task="ordinal"`.
    """

    truth: NDArray[Any]
    predictions: NDArray[Any]
    fold: Positions
    n_rules: float
    sample_weight: Floats | None = None
    task: str = "classification"
    class_order: Sequence[Any] = ()

    @property
    def score(self) -> float:
        """Accuracy, R² or quadratic kappa of the predictions, weighted: higher is better."""
        return self._measure(self._encoded[1])[0]

    @property
    def measure(self) -> str:
        """Name of the score."""
        return {"regression": "R2", "ordinal": "kappa"}.get(self.task, "accuracy")

    @property
    def baseline(self) -> tuple[str, float]:
        """Best constant prediction (majority class, mean or median class), and its score."""
        value = self._constant[0]
        text = f"the mean ({value:.6g})" if self.task == "regression" else self._classes[int(value)]
        return text, round(self._measure(self._constant)[0], 9) + 0.0

    @property
    def correct(self) -> Flags:
        """Flags of the samples whose prediction is the truth."""
        return np.asarray(self.truth == self.predictions)

    def is_close(self, best: "HoldoutResult", most: float) -> bool:
        """Return whether the score differs from a better one by chance, and by at most `most`.

        By chance means: by at most one standard error of the difference. That is computed for
        classes; for other tasks the difference alone counts.
        """
        lost = best.score - self.score
        if self.task != "classification" or not 0.0 < lost <= most:
            return lost <= most
        difference = best.correct.astype(float) - self.correct
        return bool(lost <= difference.std() / sqrt(len(difference)))

    def plain(self) -> dict[str, Any]:
        """Return the score, its 95 % interval and the baseline as JSON values, for a model."""
        always, baseline = self.baseline
        error = (
            {} if self.task == "classification" else {"error": self._measure(self._encoded[1])[1]}
        )
        return error | {
            "measure": self.measure,
            "score": self.score,
            "interval": [*map(float, self._interval())],
            "rows": len(self.truth),
            "folds": int(self.fold.max()) + 1,
            "baseline": {"answer": always, "score": baseline},
        }

    def __str__(self) -> str:
        """Describe the score, its spread and the baseline in one line."""
        off_by = {
            "regression": ", off by {:.4g} on average",
            "ordinal": ", off by {:.2f} classes on average",
        }.get(self.task, "")
        own = self._encoded[1]
        if self.fold.max() > 0:
            scores = [self._measure(own, self.fold == k)[0] for k in range(self.fold.max() + 1)]
            spread = f"{min(scores):.2f} to {max(scores):.2f} in {len(scores)} folds"
        else:
            low, high = self._interval()
            spread = f"{len(self.truth)} rows, 95% interval {low:.2f} to {high:.2f}"
        score, error = self._measure(own)
        always, baseline = self.baseline
        return (
            f"{self.measure} {score:.2f} ({spread}){off_by.format(error)}; "
            f"always answering {always} has {baseline:.2f}"
            f"{off_by.format(self._measure(self._constant)[1])}"
            f"{'' if score > baseline else ': no better than that'}"
        )

    @cached_property
    def _classes(self) -> list[str]:
        """Classes as strings: in their order, or sorted."""
        found = {str(label) for part in (self.truth, self.predictions) for label in part.tolist()}
        return [str(label) for label in self.class_order] or sorted(found)

    @cached_property
    def _encoded(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Truth and predictions as numbers: positions of classes, or those of a regression."""
        if self.task == "regression":
            return self.truth, self.predictions
        position = {label: c for c, label in enumerate(self._classes)}
        labels = [*self.truth.tolist(), *self.predictions.tolist()]
        codes = np.array([position[str(label)] for label in labels], dtype=np.intp)
        return codes[: len(self.truth)], codes[len(self.truth) :]

    @cached_property
    def _constant(self) -> NDArray[Any]:
        """The best constant prediction, for each sample: mean, median or majority class."""
        true, weight = self._encoded[0], self.sample_weight
        if self.task == "regression":
            constant = np.average(true, weights=weight)
        elif self.task == "ordinal":
            passed = np.cumsum(np.bincount(true, weight))
            constant = (passed >= passed[-1] / 2.0).argmax()
        else:
            constant = measures.majority(true, weight)[0]
        return np.full(len(true), constant)

    def _measure(
        self, predicted: NDArray[Any], rows: Flags | slice = slice(None)
    ) -> tuple[float, float]:
        """Return the score of encoded predictions, and their mean error (not of classes)."""
        true, predicted = self._encoded[0][rows], predicted[rows]
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        if self.task == "regression":
            score = float(measures.measure_regression(true, predicted, weight)["r2"])
        elif self.task == "ordinal":
            score = measures.quadratic_kappa(true, predicted, len(self._classes), weight)
        else:
            score = float(np.average(true == predicted, weights=weight))
        return score, float(np.average(np.abs(true - predicted), weights=weight))

    def _interval(self) -> tuple[float, float]:
        """Return the 95% confidence interval of the score."""
        (true, predicted), weight = self._encoded, self.sample_weight
        if self.task == "regression":
            low, high = measures.measure_regression(true, predicted, weight)["r2_interval"]
        elif self.task == "ordinal":
            found = measures.measure_ordinal(true, predicted, len(self._classes), weight)
            low, high = found["kappa_interval"]
        else:
            low, high = measures.wilson(self.score * len(true), len(true))
        return low, high

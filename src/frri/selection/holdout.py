"""Evaluate estimators on held-out samples, by cross-validation or with one test set."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, Positions
from frri.rules.measures import (
    majority,
    measure_ordinal,
    measure_regression,
    quadratic_kappa,
    wilson,
)

FOLDS = 5

# A larger table has one test set, of this fraction of its samples, instead of folds.
MANY_SAMPLES, TEST_SIZE = 5_000, 0.2

# A cross-validation of fewer samples has next to no information.
FEWEST_SAMPLES = 20

# Lead in accuracy, and in standard errors, that makes an estimator clearly better.
MARGIN, ERRORS = 0.02, 2.5


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
        Number of folds of a cross-validation. By default 5, unless `test_size` is given or the
        table has more than 5,000 samples, which have one test set of 20 %.
    test_size : float, optional
        Fraction of the samples in a single test set, instead of a cross-validation.
    random_state : int, default=0
        Random seed of the splits.

    Attributes
    ----------
    splits : list of (train, test)
        Positions of samples; empty if the table cannot be split.
    reason : str
        Why there are no splits; empty if there are some, or if there is only one class.

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
        self.measure = Measure(task, class_order)
        self._stratified = task != "regression"
        asked = cv is not None or test_size is not None
        if not asked and len(labels) > MANY_SAMPLES:
            test_size = TEST_SIZE
        self.splits: list[tuple[Positions, Positions]] = []
        self.reason = ""
        if len(np.unique(labels.astype(str))) > 1:
            self.reason = self._obstacle(cv or FOLDS, test_size, asked=asked)
            if not self.reason:
                self._split(cv or FOLDS, test_size, random_state)

    def evaluate(
        self, estimator: Any, *, time_limit: float = float("inf"), weighted: bool = True
    ) -> "HoldoutResult | None":
        """Fit clones of an estimator and predict the samples that are held out from them.

        Parameters
        ----------
        estimator : estimator
        time_limit : float, optional
            Seconds of computing that all splits may take, as far as the first ones show.
        weighted : bool, default=True
            If False, fit without `sample_weight`.

        Returns
        -------
        HoldoutResult or None
            None if the splits would take longer than the limit.
        """
        from sklearn.base import clone  # noqa: PLC0415 - slow to import

        start = process_time()
        predictions, folds, sizes = [], [], []
        for k, (train, test) in enumerate(self.splits):
            one = clone(estimator)
            extra = {}
            if weighted and self.sample_weight is not None:
                extra["sample_weight"] = self.sample_weight[train]
            with warnings.catch_warnings():
                # The fit to the whole table has the same warnings.
                warnings.simplefilter("ignore")
                one.fit(_take(self.X, train), self.y[train], **extra)
                predictions.append(one.predict(_take(self.X, test)))
            if getattr(one, "selection_", {}).get("stopped_by") == "interrupt":
                raise KeyboardInterrupt
            folds.append(np.full(len(test), k))
            sizes.append(len(one.ruleset_))
            expected = (process_time() - start) / (k + 1) * len(self.splits)
            if k + 1 < len(self.splits) and expected > time_limit:
                return None
        tested = np.concatenate([test for _, test in self.splits])
        return HoldoutResult(
            self.y[tested],
            np.concatenate(predictions),
            np.concatenate(folds),
            float(np.mean(sizes)),
            None if self.sample_weight is None else self.sample_weight[tested],
            self.measure,
        )

    def _obstacle(self, folds: int, test_size: float | None, *, asked: bool) -> str:
        """Return why the table cannot be split; an empty string if it can."""
        n_samples = len(self.y)
        if (
            self._stratified
            and test_size is None
            and np.unique(self.y.astype(str), return_counts=True)[1].max() < folds
        ):
            return f"no class has {folds} rows"
        if n_samples < folds and test_size is None:
            return f"there are fewer than {folds} rows"
        if n_samples < FEWEST_SAMPLES and not asked:
            return f"{n_samples} rows are too few"
        return ""

    def _split(self, folds: int, test_size: float | None, seed: int) -> None:
        """Split the samples, with about the same fraction of every class in all parts."""
        from sklearn.model_selection import (  # noqa: PLC0415 - slow to import
            KFold,
            StratifiedKFold,
            train_test_split,
        )

        rows, classes = np.arange(len(self.y)), self.y.astype(str)
        if test_size is None:
            kind = StratifiedKFold if self._stratified else KFold
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # classes smaller than the folds
                splitter = kind(folds, shuffle=True, random_state=seed)
                self.splits = list(splitter.split(rows, classes))
            return
        stratify = self._stratified and np.unique(classes, return_counts=True)[1].min() > 1
        try:
            split = train_test_split(
                rows,
                test_size=test_size,
                random_state=seed,
                stratify=classes if stratify else None,
            )
            self.splits = [tuple(split)]
        except ValueError:
            self.reason = (
                f"a test set of {test_size:g} of {len(rows)} rows leaves too few to learn from or "
                "to test; use a cross-validation"
            )


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
    measure : Measure
    """

    truth: NDArray[Any]
    predictions: NDArray[Any]
    fold: Positions
    n_rules: float
    sample_weight: Floats | None
    measure: "Measure"

    @property
    def score(self) -> float:
        """Weighted score of the predictions: higher is better."""
        return self.measure.score(Predictions(self.truth, self.predictions, self.sample_weight))

    @property
    def baseline(self) -> tuple[str, float]:
        """Best constant prediction (majority class, mean or median class), and its score."""
        _, text = self.measure.constant(self.truth, self.sample_weight)
        return text, round(self.measure.score(self._constant()), 9) + 0.0

    @property
    def correct(self) -> Flags:
        """Flags of the samples whose prediction is the truth."""
        return np.asarray(self.truth == self.predictions)

    def clearly_better(self, other: "HoldoutResult") -> bool:
        """Return whether more predictions are correct, significantly (McNemar) and relevantly.

        Examples
        --------
        >>> truth, fold = np.ones(100), np.zeros(100, dtype=np.intp)
        >>> def of(n): return HoldoutResult(truth, np.arange(100) < n, fold, 5.0, None, Measure())
        >>> of(90).clearly_better(of(70)), of(90).clearly_better(of(87))
        (True, False)
        """
        ahead = int((self.correct & ~other.correct).sum())
        behind = int((other.correct & ~self.correct).sum())
        gain = ahead - behind
        return gain >= MARGIN * len(self.truth) and gain >= ERRORS * sqrt(ahead + behind)

    def __str__(self) -> str:
        """Describe the score, its spread and the baseline in one line."""
        measure, weight = self.measure, self.sample_weight
        own = Predictions(self.truth, self.predictions, weight)
        if self.fold.max() > 0:
            scores = [measure.score(own.take(self.fold == k)) for k in range(self.fold.max() + 1)]
            spread = f"{min(scores):.2f} to {max(scores):.2f} in {len(scores)} folds"
        else:
            low, high = measure.interval(own)
            spread = f"{len(self.truth)} rows, 95% interval {low:.2f} to {high:.2f}"
        always, baseline = self.baseline
        return (
            f"{measure.name} {self.score:.2f} ({spread}){measure.error_text(own)}; "
            f"always answering {always} has {baseline:.2f}{measure.error_text(self._constant())}"
            f"{'' if self.score > baseline else ': no better than that'}"
        )

    def _constant(self) -> "Predictions":
        constant, _ = self.measure.constant(self.truth, self.sample_weight)
        always = np.full(len(self.truth), constant, dtype=self.truth.dtype)
        return Predictions(self.truth, always, self.sample_weight)


class Predictions(NamedTuple):
    """True values of samples, predictions for them, and their weights."""

    truth: NDArray[Any]
    predictions: NDArray[Any]
    weight: Floats | None

    def take(self, rows: Flags) -> "Predictions":
        """Return some of the samples."""
        weight = None if self.weight is None else self.weight[rows]
        return Predictions(self.truth[rows], self.predictions[rows], weight)


class Measure:
    """The score of a task: accuracy, R² of a regression, or quadratic kappa of ordered classes.

    Parameters
    ----------
    task : {"classification", "regression", "ordinal"}
    class_order : sequence of labels, optional
        Classes from the lowest to the highest, for `task="ordinal"`.
    """

    def __init__(
        self, task: str = "classification", class_order: Sequence[Any] | None = None
    ) -> None:
        self.task = task
        self.name = {"regression": "R2", "ordinal": "kappa"}.get(task, "accuracy")
        self._place = {str(label): c for c, label in enumerate(class_order or ())}

    def score(self, of: Predictions) -> float:
        """Return the score: higher is better."""
        if self.task == "regression":
            return measure_regression(*of).r2
        if self.task == "ordinal":
            return quadratic_kappa(*self._places(of), len(self._place), of.weight)
        return float(np.average(of.truth == of.predictions, weights=of.weight))

    def interval(self, of: Predictions) -> tuple[float, float]:
        """Return the 95% confidence interval of the score."""
        if self.task == "regression":
            return measure_regression(*of).r2_interval
        if self.task == "ordinal":
            quality = measure_ordinal(*self._places(of), len(self._place), of.weight)
            return quality.kappa_interval
        return wilson(self.score(of) * len(of.truth), len(of.truth))

    def constant(self, truth: NDArray[Any], weight: Floats | None) -> tuple[Any, str]:
        """Return the best constant prediction and its text: mean, median or majority class."""
        if self.task == "regression":
            mean = float(np.average(truth, weights=weight))
            return mean, f"the mean ({mean:.6g})"
        if self.task == "ordinal":
            classes, _ = self._places(Predictions(truth, truth, weight))
            passed = np.cumsum(np.bincount(classes, weight, len(self._place)))
            row = (classes == (passed >= passed[-1] / 2.0).argmax()).argmax()
        else:
            _, first, classes = np.unique(truth.astype(str), return_index=True, return_inverse=True)
            row = first[majority(classes, weight)[0]]
        return truth[row], str(truth[row])

    def error_text(self, of: Predictions) -> str:
        """Return the mean error as the end of a phrase, where errors have a size."""
        if self.task == "regression":
            return f", off by {measure_regression(*of).mae:.4g} on average"
        if self.task == "ordinal":
            true, predicted = self._places(of)
            mae = np.average(np.abs(true - predicted), weights=of.weight)
            return f", off by {mae:.2f} classes on average"
        return ""

    def _places(self, of: Predictions) -> tuple[Positions, Positions]:
        true, predicted = (
            np.array([self._place[str(label)] for label in labels.tolist()], dtype=np.intp)
            for labels in (of.truth, of.predictions)
        )
        return true, predicted

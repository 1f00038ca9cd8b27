"""Measures of predictions in a labelled table: classification, ordinal classification, regression.

Estimators, command line, report and comparison take every measure from here. Statistics of single
rules are in `frri.rules.rule_statistics`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, Positions
from frri.rules.json_format import About
from frri.rules.rule import as_labels
from frri.table import EncodedTable

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

# Bootstrap samples of an interval, and their random seed.
N_BOOTSTRAP, SEED = 400, 0


# ---------------------------------------------------------------- classification
def accuracy(truth: NDArray[Any], decided: NDArray[Any]) -> float:
    """Return the fraction of samples that are classified correctly.

    Examples
    --------
    >>> accuracy(np.array(["a", "a", "b", "b"]), np.array(["a", "a", "b", "a"]))
    0.75
    """
    return float((truth == decided).mean())


def balanced_accuracy(
    truth: NDArray[Any], decided: NDArray[Any], weights: Floats | None = None
) -> float:
    """Return the mean recall of the classes that occur; samples may have weights.

    Examples
    --------
    >>> balanced_accuracy(np.array(["a", "a", "b"]), np.array(["a", "b", "b"]))
    0.75
    """
    counts = recall_counts(truth, decided, weights).values()
    return float(np.mean([hits / members for hits, members in counts if members]))


def recall_counts(
    truth: NDArray[Any], decided: NDArray[Any], weights: Floats | None = None
) -> dict[Any, tuple[float, float]]:
    """Count, for every class that occurs, its correctly classified samples and all its samples."""
    present, codes = np.unique(truth, return_inverse=True)
    right = truth == decided
    members = np.bincount(codes, weights, len(present))
    hits = np.bincount(codes[right], None if weights is None else weights[right], len(present))
    counts = zip(hits.tolist(), members.tolist(), strict=True)
    return dict(zip(present.tolist(), counts, strict=True))


def confusion(classes: Positions, decided: Positions) -> list[list[int]]:
    """Return the confusion matrix as [true, predicted, samples] where that is not 0."""
    pairs, counts = np.unique(np.column_stack([classes, decided]), axis=0, return_counts=True)
    return list(np.column_stack([pairs, counts]).tolist())


def majority(classes: Positions) -> tuple[int, float]:
    """Return the majority class, and the accuracy of that baseline."""
    counts = np.bincount(classes)
    return int(counts.argmax()), float(counts.max() / counts.sum())


def brier_score(classes: Positions, probabilities: Floats) -> float:
    """Return the mean squared error of probabilities: 0 is perfect.

    Squares are added over the classes; of two classes, whose squares are equal, one is counted.
    """
    happened = np.zeros_like(probabilities)
    happened[np.arange(len(classes)), classes] = 1.0
    squares = ((probabilities - happened) ** 2).sum(axis=1)
    return float(squares.mean()) / (2 if probabilities.shape[1] == 2 else 1)


def measure_classes(
    classes: Positions, decided: Positions, probabilities: Floats
) -> list[dict[str, Any]]:
    """Measure each class: samples of it and predicted as it, precision, recall, F1, AUC.

    None where there is nothing to divide by. AUC is the area under the ROC curve of the
    probability of the class, against all other classes.
    """
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - prediction needs numpy alone

    found = []
    for c, shares in enumerate(probabilities.T):
        own, taken = classes == c, decided == c
        rows, predicted, hits = int(own.sum()), int(taken.sum()), int((own & taken).sum())
        ratios = (hits, predicted), (hits, rows), (2 * hits, rows + predicted)
        precision, recall, f1 = (a / b if b else None for a, b in ratios)
        auc = float(roc_auc_score(own, shares)) if 0 < rows < len(own) else None
        measured = {"precision": precision, "recall": recall, "f1": f1, "auc": auc}
        found.append({"rows": rows, "decided": predicted, **measured})
    return found


# ---------------------------------------------------------------- ordinal classification
def measure_ordinal(
    classes: Positions, decided: Positions, n_classes: int, weights: Any = None
) -> dict[str, Any]:
    """Measure predictions of ordinal classes, given by positions, lowest first.

    `mae` is the mean absolute error in classes, `kappa` has quadratic weights, and the baseline is
    the median class. Intervals are bootstrap intervals of 95 %.
    """
    shares = np.ones(len(classes)) if weights is None else np.asarray(weights, dtype=np.float64)
    generator = np.random.default_rng(SEED)
    rows = generator.integers(len(classes), size=(N_BOOTSTRAP, len(classes)))
    drawn = [(classes[own], decided[own], shares[own]) for own in rows]
    passed = np.cumsum(np.bincount(classes, shares, n_classes))
    median = int((passed >= passed[-1] / 2.0).argmax())

    def error(true: Positions, answers: Positions, counted: Floats) -> float:
        return float(np.average(np.abs(true - answers), weights=counted))

    def middle(values: list[float]) -> tuple[float, float]:
        low, high = np.quantile(values, (0.025, 0.975))
        return float(low), float(high)

    return {
        "mae": error(classes, decided, shares),
        "mae_interval": middle([error(*one) for one in drawn]),
        "median": median,
        "median_mae": error(classes, np.full_like(classes, median), shares),
        "kappa": quadratic_kappa(classes, decided, n_classes, shares),
        "kappa_interval": middle([quadratic_kappa(a, b, n_classes, w) for a, b, w in drawn]),
    }


def quadratic_kappa(
    classes: Positions, decided: Positions, n_classes: int, weights: Floats | None = None
) -> float:
    """Return Cohen's kappa with quadratic weights; 0 where there is only one class."""
    true = np.bincount(classes, weights, n_classes).astype(np.float64)
    predicted = np.bincount(decided, weights, n_classes).astype(np.float64)
    squares = (np.arange(n_classes)[:, None] - np.arange(n_classes)) ** 2.0
    by_chance = float(true @ squares @ predicted) / float(true.sum())
    off = (classes - decided) ** 2.0
    found = float(off.sum() if weights is None else weights @ off)
    return 1.0 - found / by_chance if by_chance > 0.0 else 0.0


# ---------------------------------------------------------------- regression
def measure_regression(
    truth: Floats, answers: Floats, weights: Floats | None = None
) -> dict[str, Any]:
    """Measure R², root mean squared error and mean absolute error, beside those of the mean.

    Intervals of 95 % are those of large samples: the standard error of a measure is that of the
    mean of what each sample contributes to it (the delta method).
    """
    shares = np.full(len(truth), 1.0) if weights is None else np.asarray(weights, dtype=np.float64)
    shares = shares / shares.sum()
    wrong = truth - answers
    mean = float(shares @ truth)
    error, spread = float(shares @ wrong**2), float(shares @ (truth - mean) ** 2)
    rmse, mae = sqrt(error), float(shares @ np.abs(wrong))
    # As in scikit-learn: numbers that are all the same are predicted exactly, or not at all.
    r2 = 1.0 - error / spread if spread > 0.0 else float(not error > 0.0)
    z = NormalDist().inv_cdf(0.975)

    def interval(value: float, parts: Floats, low: float, high: float) -> tuple[float, float]:
        """Return the interval around a measure that changes with each sample by its part."""
        reach = z * sqrt(float(shares**2 @ (parts - shares @ parts) ** 2))
        return max(value - reach, low), min(value + reach, high)

    against = wrong**2 - (1.0 - r2) * (truth - mean) ** 2
    return {
        "rows": len(truth),
        "mean": mean,
        "r2": r2,
        "r2_interval": interval(r2, against / spread, -np.inf, 1.0) if spread > 0.0 else (r2, r2),
        "rmse": rmse,
        "rmse_interval": interval(rmse, wrong**2 / (2 * rmse) if rmse else wrong, 0.0, np.inf),
        "mae": mae,
        "mae_interval": interval(mae, np.abs(wrong), 0.0, np.inf),
        "mean_rmse": sqrt(spread),
        "mean_mae": float(shares @ np.abs(truth - mean)),
    }


# ---------------------------------------------------------------- proportions
def wilson(hits: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's confidence interval for a proportion; 0 to 1 without trials."""
    if trials <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = hits / trials
    centre = share + z * z / (2 * trials)
    spread = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


# ---------------------------------------------------------------- held-out estimates
def evaluation_of(ruleset: "RuleSet") -> dict[str, Any] | None:
    """Return the held-out estimate of a rule set, None if it has none; a file may hold anything.

    Examples
    --------
    >>> from frri import RuleSet
    >>> evaluation_of(RuleSet((), (), ("no", "yes"))) is None
    True
    """
    found: Any = About(ruleset.about).plain().get("evaluation")
    try:
        baseline = found["baseline"]
        numbers = [found["score"], *found["interval"], baseline["score"], found["rows"]]
        numbers += [one.get("error", 0.0) for one in (found, baseline)]
        valid = len(numbers) == 7 and all(map(isfinite, numbers))
        cells, known = found.get("confusion", [(0, 0, 1)]), range(max(len(ruleset.classes), 1))
        valid &= bool(cells) and all(a in known and b in known and n > 0 for a, b, n in cells)
        return {**found, "measure": str(found["measure"])} if valid else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def evaluation_text(estimate: Mapping[str, Any]) -> str:
    """Return a held-out estimate as a sentence.

    Examples
    --------
    >>> baseline = {"answer": "no", "score": 0.65}
    >>> estimate = {"score": 0.741, "interval": [0.71, 0.77], "rows": 768, "baseline": baseline}
    >>> print(evaluation_text(estimate | {"measure": "accuracy"}))
    On held-out rows: accuracy 0.74 (95 % interval 0.71 to 0.77, 768 rows); majority class no: 0.65.
    """
    low, high = estimate["interval"]
    baseline, measure = estimate["baseline"], estimate["measure"]
    constant = "majority class" if measure == "accuracy" else "constant prediction"
    error = f", mean absolute error {estimate['error']:.4g}" if "error" in estimate else ""
    return (
        f"On held-out rows: {measure} {estimate['score']:.2f} "
        f"(95 % interval {low:.2f} to {high:.2f}, {estimate['rows']:,} rows){error}; "
        f"{constant} {baseline.get('answer')}: {baseline['score']:.2f}."
    )


# ---------------------------------------------------------------- edits
def coverage(covers: Flags) -> float:
    """Return the fraction of samples that any rule covers, from a matrix of samples x rules."""
    return float(covers.any(axis=1).mean())


@dataclass(frozen=True)
class EditEffect:
    """The effect of an edit on a labelled table; pairs are (before, after).

    Parameters
    ----------
    accuracy, balanced_accuracy : tuple of float
    coverage : tuple of float
        Fraction of the samples that some rule covers.
    changed : tuple of int
        The rows whose prediction changed.
    corrected, broken : int
        Numbers of these that were wrong and are correct now, and the other way round.
    """

    accuracy: tuple[float, float]
    balanced_accuracy: tuple[float, float]
    coverage: tuple[float, float]
    changed: tuple[int, ...]
    corrected: int
    broken: int

    def __str__(self) -> str:
        measures = ("accuracy", "balanced_accuracy", "coverage")
        pairs = [(name.replace("_", " "), *getattr(self, name)) for name in measures]
        lines = [f"{name} {before:.3f} -> {after:.3f}" for name, before, after in pairs]
        rows = f"{len(self.changed)} prediction{'' if len(self.changed) == 1 else 's'} changed"
        return "\n".join([*lines, f"{rows}: {self.corrected} corrected, {self.broken} broken"])


def compare(before: "RuleSet", after: "RuleSet", X: Any, y: Any) -> EditEffect:
    """Compare two rule sets on the same labelled table.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
    >>> better = rules.with_rule(Rule((NumericCondition("a", 3, 3),), 1))
    >>> print(compare(rules, better, [[1], [2], [3], [4]], [0, 0, 1, 1]))
    accuracy 0.500 -> 1.000
    balanced accuracy 0.500 -> 1.000
    coverage 0.500 -> 1.000
    2 predictions changed: 2 corrected, 0 broken
    """
    tables = EncodedTable.of(X, before.attributes), EncodedTable.of(X, after.attributes)
    old, new = before.predict(tables[0]), after.predict(tables[1])
    labels = as_labels(y, len(old))
    if not len(labels):
        raise ValueError("Expected labels, one per row and at least one, got none.")
    right = old == labels, new == labels
    return EditEffect(
        accuracy=(accuracy(labels, old), accuracy(labels, new)),
        balanced_accuracy=(balanced_accuracy(labels, old), balanced_accuracy(labels, new)),
        coverage=(coverage(before.covers(tables[0])), coverage(after.covers(tables[1]))),
        changed=tuple(np.flatnonzero(old != new).tolist()),
        corrected=int((~right[0] & right[1]).sum()),
        broken=int((right[0] & ~right[1]).sum()),
    )

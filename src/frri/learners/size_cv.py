"""Cross-validation of the number of rules: the fewest that are as good as the best."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from frri._reproducible import total
from frri._util import Floats, Positions, import_optional
from frri.learners.calibration import MIN_SAMPLES, evenly_chosen
from frri.learners.training_table import TrainingTable

# Number of folds. Of large tables, only as many folds are held out as have this number of samples,
# and with more than this number of classes, for which a path takes longer, fewer folds.
FOLDS = 5
HELD_OUT_SAMPLES = 2_000
MANY_CLASSES = 6
# Standard errors by which a score may differ from the best.
CLOSE = 0.5
# Maximum number of samples used to choose a size, and to find the conditions of rules; of each
# class, the minimum number for the latter, if there are so many.
MAX_SAMPLES = 10_000
SEARCHED_SAMPLES = 32_768
LEAST_OF_CLASS = 1_000


@dataclass(frozen=True)
class SizePath:
    """Cross-validated scores for several maximum numbers of rules.

    Attributes
    ----------
    sizes : tuple of int
        Maximum numbers of rules, ascending.
    scores, errors : tuple of float
        Mean score of the held-out samples, and its standard error.
    chosen : int
        The smallest size whose score differs from the best by at most half a standard error of the
        difference.
    measure : str
        Name of the score.

    Examples
    --------
    >>> correct = [[1, 0, 0, 0, 0], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0]]  # by size and sample
    >>> path = SizePath.of((2, 5, 12), correct, np.ones(5), "R2")
    >>> path.chosen, path.scores
    (5, (0.2, 0.8, 0.8))
    >>> print(path)
    At most 5 rules: the fewest within half a standard error of the best R2 (0.80 with 5).
    """

    sizes: tuple[int, ...]
    scores: tuple[float, ...]
    errors: tuple[float, ...]
    chosen: int
    measure: str

    @classmethod
    def of(
        cls, sizes: Sequence[int], values: Any, weights: Floats, measure: str, fewest: int = 0
    ) -> "SizePath":
        """Choose a size by the values of held-out samples (columns) at each size (rows)."""
        values, weight = np.asarray(values), float(total(weights))
        means = total(values * weights) / weight
        errors = _errors(values - means[:, None], weights)
        best = int(means.argmax())
        lost = means[best] - means
        near = lost <= CLOSE * _errors(values[best] - values - lost[:, None], weights)
        chosen = next((k for k, size in enumerate(sizes) if near[k] and size >= fewest), best)
        known = tuple(means.tolist()), tuple(errors.tolist()), int(sizes[chosen])
        return cls(tuple(sizes), *known, measure)

    @property
    def best(self) -> int:
        """Return the size of the highest score, of equal ones the smallest."""
        return self.sizes[self.scores.index(max(self.scores))]

    def score_of(self, size: int) -> float:
        """Return the score of one of the sizes."""
        return self.scores[self.sizes.index(size)]

    def to_frame(self) -> Any:
        """Return a data frame of pandas with a row for each size."""
        pandas = import_optional("pandas", "A table of sizes", "tables")
        table = {"size": self.sizes, "score": self.scores, "error": self.errors}
        return pandas.DataFrame(table | {"chosen": [size == self.chosen for size in self.sizes]})

    def __str__(self) -> str:
        reached = f"{self.score_of(self.best):.2f} with {self.best}"
        if self.best != self.chosen:
            reached = f"{self.score_of(self.chosen):.2f}; {reached}"
        return (
            f"At most {self.chosen} rules: the fewest within half a standard error of the best "
            f"{self.measure} ({reached})."
        )


def _errors(deviations: Floats, weights: Floats) -> Floats:
    """Return the standard errors of weighted means, from deviations (rows) of the samples."""
    return np.asarray(np.sqrt(total(deviations * deviations * weights)) / total(weights))


def searched_samples(table: TrainingTable, weights: Floats) -> tuple[Positions, Floats]:
    """Return samples in which conditions are searched for, and weights as if they were all.

    They depend on values and targets only, as in `Folds`.
    """
    if len(weights) <= SEARCHED_SAMPLES:
        return np.arange(len(weights)), weights
    first, inverse, _ = table.equal_rows
    summed, own = np.bincount(inverse, weights), table.classes[first]
    _, kept = evenly_chosen(own, SEARCHED_SAMPLES, LEAST_OF_CLASS)
    factors = np.bincount(own, summed) / np.bincount(own, summed * kept)
    return first[kept], (summed * factors[own])[kept]


class Folds:
    """The distinct samples of a table in folds, some of which are held out to choose a size.

    Samples and folds depend on values and targets only, not on the order of the samples or on how
    often they occur: a repeated sample is the same as a weight of 2.

    Attributes
    ----------
    table : TrainingTable
        The samples, each once, with the sum of its weights.
    weights : ndarray of float
        Their weights.
    held_out : list of ndarray of bool
        Which of them are held out, for each fold.
    suffice : bool
        Whether there are enough samples.
    """

    def __init__(self, table: TrainingTable) -> None:
        first, inverse, _ = table.equal_rows
        weights: Floats = np.bincount(inverse, table.all_weights).astype(np.float64)
        own = table.classes[first]
        rank, kept = evenly_chosen(own, MAX_SAMPLES)
        self.table = replace(table.take(first[kept]), weights=weights[kept])
        self.weights = weights[kept]
        fold = ((rank + own) % FOLDS)[kept]
        shares = 1.0, HELD_OUT_SAMPLES / len(fold), MANY_CLASSES / len(np.unique(own))
        parts = [fold == k for k in range(ceil(FOLDS * min(shares)))]
        self.held_out = [part for part in parts if part.any()]
        self.suffice = len(fold) >= MIN_SAMPLES and not self.held_out[0].all()

    def join(self, parts: Sequence[Any]) -> Any:
        """Return arrays of the samples, of each fold those held out, one fold after the other."""
        pairs = zip(parts, self.held_out, strict=True)
        return np.concatenate([part[..., mask] for part, mask in pairs], axis=-1)

    def join_all(self, array: Any) -> Any:
        """Return an array that is the same for all folds, in the same order."""
        return self.join([array] * len(self.held_out))


def measure_name(learner: Any) -> str:
    """Return what a classifier's size is chosen by."""
    names = {"accuracy": "accuracy", "balanced": "balanced accuracy"}
    decision = learner.decision
    return names[decision] if isinstance(decision, str) else "accuracy weighted by costs"

"""Cross-validation along the path of additive rules: one path of rules without each fold.

All paths use the columns of the whole table (thresholds, widths and imputed values, which do not
depend on the target); samples of the fold that is held out have weight 0.
"""

from collections.abc import Callable, Sequence

import numpy as np

from frri._reproducible import total
from frri._util import Floats
from frri.learners.additive.search import FittedRules, StagewiseInduction
from frri.learners.size_cv import Folds, SizePath

# Paths end when this number of further rules has not improved the mean score.
PATIENCE = 10


class PathsOfFolds:
    """Paths of rules, each learned without one fold, and their values for the held-out samples.

    Parameters
    ----------
    folds : Folds
    inductions : sequence of StagewiseInduction
        One for each fold, with its samples on this machine.
    most : int
        Maximum number of rules.
    value_of : callable
        Returns the value (larger is better) of each sample from the scores of all.
    weights : ndarray of float
        Weights of the samples in the mean value.
    """

    def __init__(
        self,
        folds: Folds,
        inductions: Sequence[StagewiseInduction],
        most: int,
        value_of: Callable[[Floats], Floats],
        weights: Floats,
    ) -> None:
        self.folds, self.inductions = folds, inductions
        self.weights = folds.join([weights] * len(inductions))
        self.models: list[list[FittedRules]] = []
        self.values: list[Floats] = []
        paths = [induction.path(most) for induction in inductions]
        models, means = [next(path) for path in paths], []
        for size in range(most + 1):
            self.models.append(models)
            self.values.append(folds.join([*map(value_of, self._scores_of_all(models))]))
            means.append(float(total(self.values[-1] * self.weights)))
            if size - int(np.argmax(means)) >= PATIENCE:
                break
            models = [next(path, model) for path, model in zip(paths, models, strict=True)]
            if all(a is b for a, b in zip(models, self.models[-1], strict=True)):
                break

    def choose(self, measure: str, fewest: int) -> SizePath:
        """Return the sizes and their scores, with the size that is chosen."""
        first = min(1, len(self.values) - 1)  # a model without rules is no choice
        sizes = range(first, len(self.values))
        return SizePath.of(sizes, self.values[first:], self.weights, measure, fewest)

    def scores(self, size: int) -> Floats:
        """Return the scores of the held-out samples by rules of a size."""
        models = self.models[min(size, len(self.models) - 1)]
        return np.asarray(self.folds.join(self._scores_of_all(models)))

    def _scores_of_all(self, models: Sequence[FittedRules]) -> list[Floats]:
        """Return the scores of all samples by the rules of each fold."""
        return [
            np.concatenate([b.scores(model.model) for b in induction.blocks.blocks], axis=1)
            for induction, model in zip(self.inductions, models, strict=True)
        ]

"""What a run consists of: data sets, learners, folds, seed and metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from frri.compare.datasets import Dataset
from frri.compare.evaluation import FULL, Task, assign_folds
from frri.compare.metrics import all_metrics


@dataclass
class Grid:
    """What to run.

    Attributes
    ----------
    data : dict
        The data sets by name.
    learners : dict
        The estimators by name.
    n_folds : int
    seed : int
        For the folds and for every learner's `random_state`.
    full : bool
        Whether each learner is fitted on all objects as well, for the size of its model there.
    metrics : sequence of str, optional
        By default all there are.
    """

    data: Mapping[str, Dataset]
    learners: Mapping[str, BaseEstimator]
    n_folds: int = 10
    seed: int = 0
    full: bool = False
    metrics: Sequence[str] | None = None
    folds: dict[str, NDArray[np.intp]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for name, data in self.data.items():
            self.folds[name] = assign_folds(data, self.n_folds, self.seed)

    def tasks(self) -> list[Task]:
        """All cells, in the order in which they are begun."""
        folds = [*range(self.n_folds), *([FULL] if self.full else [])]
        return [Task(d, l, f) for d in self.data for l in self.learners for f in folds]  # noqa: E741

    def settings(self) -> dict[str, Any]:
        """What has to be the same for results to belong together."""
        names = [metric.name for metric in all_metrics(self.metrics)]
        return {"folds": self.n_folds, "seed": self.seed, "metrics": ", ".join(names)}

"""What a run consists of: data sets, learners, folds, seed and metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import BaseEstimator

from frri._util import Positions
from frri.compare.datasets import Dataset
from frri.compare.evaluation import FULL, Cell, Task, evaluate
from frri.compare.folds import assign_folds
from frri.compare.learners import obstacle
from frri.compare.metrics import Metric, all_metrics


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
    metric_names : sequence of str, optional
        By default all there are.
    not_run : dict
        Pairs of data set and learner that do not go together, and why.
    """

    data: Mapping[str, Dataset]
    learners: Mapping[str, BaseEstimator]
    n_folds: int = 10
    seed: int = 0
    full: bool = False
    metric_names: Sequence[str] | None = None
    metrics: tuple[Metric, ...] = field(init=False)
    folds: dict[str, Positions] = field(init=False)
    not_run: dict[tuple[str, str], str] = field(init=False)

    def __post_init__(self) -> None:
        self.metrics = all_metrics(self.metric_names)
        self.folds = {
            name: assign_folds(data, self.n_folds, self.seed) for name, data in self.data.items()
        }
        self.not_run = {
            (d, name): reason
            for d, data in self.data.items()
            for name, estimator in self.learners.items()
            if (reason := obstacle(data, name, estimator)) is not None
        }

    def tasks(self) -> list[Task]:
        """All cells, in the order in which they are begun."""
        folds = [*range(self.n_folds), *([FULL] if self.full else [])]
        pairs = [(d, name) for d in self.data for name in self.learners]
        return [Task(*pair, fold) for pair in pairs if pair not in self.not_run for fold in folds]

    def do(self, task: Task) -> Cell:
        """One cell."""
        data, estimator = self.data[task.dataset], self.learners[task.learner]
        return evaluate(data, self.folds[task.dataset], estimator, task, self.metrics, self.seed)

    def settings(self) -> dict[str, Any]:
        """What has to be the same for results to belong together."""
        names = ", ".join(metric.name for metric in self.metrics)
        return {"folds": self.n_folds, "seed": self.seed, "metrics": names}

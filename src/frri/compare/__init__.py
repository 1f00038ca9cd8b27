"""Fair comparisons of learners on identical folds, and the data sets of the paper's experiment.

>>> import frri.compare as bench
>>> results = bench.run(["wine"], ["frri", "tree"], n_folds=3, workers=0)
>>> results.means("rules").round(0)
      frri  tree
wine   6.0   7.0
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frri.compare.datasets import NAMES, Dataset, load
    from frri.compare.learners import LEARNERS, add_learner, learner
    from frri.compare.metrics import METRICS, Metric, Outcome, add_metric, metric
    from frri.compare.resampling import Stability, stability
    from frri.compare.results import Results
    from frri.compare.running import run
    from frri.compare.sources import add_dataset, dataset
    from frri.compare.statistics import Comparison, compare

__all__ = [
    "LEARNERS",
    "METRICS",
    "NAMES",
    "Comparison",
    "Dataset",
    "Metric",
    "Outcome",
    "Results",
    "Stability",
    "add_dataset",
    "add_learner",
    "add_metric",
    "compare",
    "dataset",
    "learner",
    "load",
    "metric",
    "run",
    "stability",
]

# Loaded at first use: a command line that only shows its help needs none of it.
_LATER = {
    "LEARNERS": "learners",
    "METRICS": "metrics",
    "NAMES": "datasets",
    "Comparison": "statistics",
    "Dataset": "datasets",
    "Metric": "metrics",
    "Outcome": "metrics",
    "Results": "results",
    "Stability": "resampling",
    "add_dataset": "sources",
    "add_learner": "learners",
    "add_metric": "metrics",
    "compare": "statistics",
    "dataset": "sources",
    "learner": "learners",
    "load": "datasets",
    "metric": "metrics",
    "run": "running",
    "stability": "resampling",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"frri.compare.{_LATER[name]}"), name)
    raise AttributeError(f"module 'frri.compare' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

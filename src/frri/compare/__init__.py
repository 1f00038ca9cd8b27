"""Fair comparisons of estimators on identical folds, and the datasets of the paper's experiment.

>>> import frri.compare as bench
>>> results = bench.run(["wine"], ["frri", "tree"], n_folds=3, workers=0)
>>> results.means("rules").round(0)
      frri  tree
wine   6.0   7.0
"""

from frri.compare.datasets import NAMES, Dataset, dataset, load
from frri.compare.evaluate import LEARNERS, METRICS, Metric, Outcome, add_metric, learner, metric
from frri.compare.journal import Results
from frri.compare.run import run
from frri.compare.stability import Stability, stability
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
    "add_metric",
    "compare",
    "dataset",
    "learner",
    "load",
    "metric",
    "run",
    "stability",
]

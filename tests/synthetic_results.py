"""Artificial results of runs."""

import numpy as np

from frri.compare import NAMES, dataset
from frri.compare.journal import Results


def results_of(names, learners, *, full=False, seed=0):
    """Return artificial cells in the form that a run stores."""
    random = np.random.default_rng(seed)
    cells = []
    for name in names:
        for i, learner in enumerate(learners):
            for fold in [0, 1, *([-1] if full else [])]:
                scores = {
                    "balanced_accuracy": random.uniform(0.5, 1),
                    "rules": float(random.integers(3, 90) * (i + 1)),
                    "conditions": random.uniform(1, 6),
                }
                cells.append(
                    {
                        "dataset": name,
                        "learner": learner,
                        "fold": fold,
                        "scores": scores,
                        "recalls": {"a": [3, 4], "b": [1, 2]},
                        "lengths": [1, 4, 5, 2],
                        "cost": {
                            "fit_seconds": 0.1,
                            "predict_seconds": 0.01,
                        },
                    }
                )
    data = {name: dataset(name) if name in NAMES else tiny(name) for name in names}
    settings = {"folds": 2, "seed": seed, "metrics": "balanced_accuracy, rules, conditions"}
    return Results(data, list(learners), cells, settings, {"frri": "0.1.0", "python": "3.11"})


def tiny(name):
    return dataset(([[1.0], [2.0], [3.0], [4.0]], list("abab")), name=name)

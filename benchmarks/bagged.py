"""Bagged additive rules beside a random forest: the first three of the ten given folds of the 18 sets.

    python -m benchmarks.bagged [SET ...]

Balanced and plain accuracy, and CPU seconds of a fit.
"""

import sys
import warnings
from time import process_time

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from frri import BaggedRulesClassifier
from frri.compare.datasets import NAMES, load
from frri.compare.folds import assign_folds
from frri.rules.measures import accuracy, balanced_accuracy

FOLDS = 3
LEARNERS = {
    "bagged": lambda: BaggedRulesClassifier(random_state=0, n_jobs=1),
    "bagged, balanced": lambda: BaggedRulesClassifier(
        class_weight="balanced", random_state=0, n_jobs=1
    ),
    "bagged, no class weights": lambda: BaggedRulesClassifier(
        class_weight=None, random_state=0, n_jobs=1
    ),
    "forest": lambda: RandomForestClassifier(random_state=0, n_jobs=1),
}


def main(names=()):
    found = {learner: [] for learner in LEARNERS}
    for name in names or NAMES:
        for learner, make in LEARNERS.items():
            found[learner].append(measured(make, load(name)))
        row = "".join("  {:.3f} {:.3f} {:.1f}".format(*rows[-1]) for rows in found.values())
        print(f"{name:<18}{row}", flush=True)
    for learner, rows in found.items():
        print(f"{learner:<28}{{:.3f}} {{:.3f}} {{:.1f}}".format(*np.mean(rows, axis=0)))


def measured(make, data):
    X, y = data.X.to_numpy(), data.y
    folds = assign_folds(data, 10, 0)
    rows = []
    for fold in range(FOLDS):
        test, start = folds == fold, process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = make().fit(X[~test], y[~test]).predict(X[test])
        seconds = process_time() - start
        rows.append([balanced_accuracy(y[test], said), accuracy(y[test], said), seconds])
    return np.mean(rows, axis=0)


if __name__ == "__main__":
    main(sys.argv[1:])

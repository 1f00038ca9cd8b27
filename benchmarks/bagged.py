"""Bagged additive rules and a random forest on the first five of ten folds of the 18 datasets.

    python -m benchmarks.bagged [SET ...] [--only=LEARNER,...]

Columns: balanced accuracy, accuracy, log loss and CPU seconds of a fit. Datasets are in the order of the expected
time; the last lines have the means.
"""

import sys
import warnings
from time import process_time

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from frri import AdditiveRulesBaggingClassifier
from frri.compare.datasets import NAMES, load
from frri.compare.run import assign_folds
from frri.rules.measures import accuracy, balanced_accuracy

FOLDS = 5
LEARNERS = {
    "bagged": lambda: AdditiveRulesBaggingClassifier(random_state=0, n_jobs=1),
    "bagged, balanced": lambda: AdditiveRulesBaggingClassifier(
        class_weight="balanced", random_state=0, n_jobs=1
    ),
    "bagged, no class weights": lambda: AdditiveRulesBaggingClassifier(
        class_weight=None, random_state=0, n_jobs=1
    ),
    "forest": lambda: RandomForestClassifier(random_state=0, n_jobs=1),
}


def main(names=(), only=tuple(LEARNERS)):
    found = {learner: [] for learner in only}
    tables = [load(name) for name in names or NAMES]
    for data in sorted(tables, key=lambda data: len(data.y) * len(np.unique(data.y)) ** 2):
        for learner in only:
            found[learner].append(measure(LEARNERS[learner], data))
        row = "".join("  {:.3f} {:.3f} {:.3f} {:.1f}".format(*rows[-1]) for rows in found.values())
        print(f"{data.name:<18}{row}", flush=True)
    for learner, rows in found.items():
        print(f"{learner:<28}{{:.3f}} {{:.3f}} {{:.3f}} {{:.1f}}".format(*np.mean(rows, axis=0)))


def measure(make, data):
    X, y = data.X.to_numpy(), data.y
    folds = assign_folds(data, 10, 0)
    rows = []
    for fold in range(FOLDS):
        test, start = folds == fold, process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = make().fit(X[~test], y[~test])
        seconds = process_time() - start
        probabilities = fit.predict_proba(X[test])
        predicted = fit.classes_[probabilities.argmax(axis=1)]
        own = (probabilities * (y[test][:, None] == fit.classes_)).sum(axis=1)
        loss = -np.log(np.clip(own, 1e-15, 1.0)).mean()
        rows.append(
            [balanced_accuracy(y[test], predicted), accuracy(y[test], predicted), loss, seconds]
        )
    return np.mean(rows, axis=0)


if __name__ == "__main__":
    options = [a.partition("=")[2].split(",") for a in sys.argv[1:] if a.startswith("--only=")]
    main([a for a in sys.argv[1:] if not a.startswith("-")], *options)

"""Attribute orders and all-minimal candidates of FRRI: rules, length and accuracy on the 18 datasets.

    python -m benchmarks.orders [FOLDS]    results/orders.csv, with every dataset

The first FOLDS of ten folds are measured (default: all), except those that are in the file. Every search for a
minimum-size rule set has the same work limit, which takes a few seconds; *proved* is the fraction of fits in which it
was enough for a proof.
"""

import csv
import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np

from frri import FRRIClassifier
from frri.compare.datasets import NAMES, load
from frri.compare.run import assign_folds
from frri.rules.measures import accuracy, balanced_accuracy

FILE = Path(__file__).parent / "results" / "orders.csv"
EFFORT = 5_000
ALL = {"candidates": "all-minimal"}
LEARNERS = {
    "given": {},
    "random": {"attribute_order": "random", "random_state": 0},
    "mutual-information": {"attribute_order": "mutual-information"},
    "shortest": {"attribute_order": "shortest"},
    "all-minimal": ALL,
    "all-minimal, at most 20 an object": ALL | {"max_candidates": 20},
    "given, each newly covers 3 %": {"min_new_coverage": 0.03},
    "all-minimal, each newly covers 3 %": ALL | {"min_new_coverage": 0.03},
}
FIELDS = (
    "candidates",
    "set",
    "folds",
    "balanced",
    "plain",
    "rules",
    "conditions",
    "proved",
    "seconds",
)


def main(folds=10):
    with FILE.open(newline="", encoding="utf-8") as file:
        rows = {tuple(row[:3]): row[3:] for row in csv.reader(file)}
    print(f"{'':<38}" + "".join(f"{field:>11}" for field in FIELDS[3:]))
    for name, parameters in LEARNERS.items():
        keys = [(name, data, str(folds)) for data in NAMES]
        for key in keys:
            if key not in rows:
                means = _means(parameters, load(key[1]), folds)
                rows[key] = [f"{value:.4f}" for value in means]
                with FILE.open("w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows([*key, *row] for key, row in rows.items())
        means = np.mean([[float(value) for value in rows[key]] for key in keys], axis=0)
        cells = "{:>11.3f}{:>11.3f}{:>11.1f}{:>11.2f}{:>11.2f}{:>11.2f}"
        print(f"{name:<38}" + cells.format(*means), flush=True)


def _means(parameters, data, folds):
    """Return balanced accuracy, accuracy, rules, conditions per rule, proven fraction and seconds of a fit."""
    X, y = data.X.to_numpy(), data.y
    fold_of = assign_folds(data, 10, 0)
    rows = []
    for fold in range(folds):
        test = fold_of == fold
        model = FRRIClassifier(work_limit=EFFORT, **parameters)
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[~test], y[~test])
        seconds = process_time() - start
        predicted, found = model.predict(X[test]), model.selection_
        rows.append(
            [
                balanced_accuracy(y[test], predicted),
                accuracy(y[test], predicted),
                found.n_rules,
                found.n_conditions / found.n_rules,
                found.status == "optimal",
                seconds,
            ]
        )
    return np.mean(rows, axis=0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

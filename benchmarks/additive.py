"""Additive rules on the paper's 18 datasets: sizes, and an ablation of every default.

    python -m benchmarks.additive                      default size, nine datasets, three random splits
    python -m benchmarks.additive --ablation           every default changed, one at a time
    python -m benchmarks.additive --sizes              small, default, mid, large, without class weights
    python -m benchmarks.additive --sets all --folds DIR      the folds in DIR/NAME.csv (row, fold)

The defaults were tuned on nine datasets (TUNED) and confirmed on the other nine. Balanced accuracy is the mean
recall of the classes that occur in the test fold, averaged over folds and datasets.
"""

import argparse
import csv
import warnings
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from unittest.mock import patch

import numpy as np
from sklearn.model_selection import StratifiedKFold

from frri import AdditiveRulesClassifier
from frri._compile import compiled
from frri.compare.datasets import NAMES, load
from frri.learners.additive import classifier, columns, search

TUNED = [
    "australian",
    "bupa",
    "cleveland",
    "dermatology",
    "glass",
    "pima",
    "sonar",
    "vowel",
    "wine",
]
SETS = {"tuned": TUNED, "others": [n for n in NAMES if n not in TUNED], "all": list(NAMES)}

# Maximum number of rules for K classes.
SIZES = {
    "small, K + 3.5": (lambda k: {"max_rules": round(k + 3.5)}, ()),
    "default, 2K + 6": (lambda _: {}, ()),
    "mid, 4K + 4": (lambda k: {"max_rules": 4 * k + 4}, ()),
    "large, 8K + 10": (lambda k: {"max_rules": 8 * k + 10}, ()),
    "default, no class weights": (lambda _: {"class_weight": None}, ()),
}

ABLATION = {
    "default": (lambda _: {}, ()),
    "no base scores": (lambda _: {}, ((search, "BASE_PENALTY", 1e9),)),
    "crisp bounds": (lambda _: {}, ((classifier, "WIDTH", 1e-6),)),
    "half the ramp width": (lambda _: {}, ((classifier, "WIDTH", 0.24),)),
    "twice the ramp width": (lambda _: {}, ((classifier, "WIDTH", 0.96),)),
    "lambda 2 / K": (lambda _: {}, ((classifier, "PENALTY", 2.0),)),
    "lambda 32 / K": (lambda _: {}, ((classifier, "PENALTY", 32.0),)),
    "no refinement of conditions": (lambda _: {}, ((search, "POLISHES", 0),)),
    "gain of a condition 1.05": (lambda _: {}, ((search, "LEAST_FACTOR", 1.05),)),
    "gain of a condition 1.3": (lambda _: {}, ((search, "LEAST_FACTOR", 1.3),)),
    "16 thresholds": (lambda _: {}, ((columns, "MAX_THRESHOLDS", 16),)),
    "membership of at least 5": (lambda _: {}, ((search, "LEAST_MEMBERSHIP", 5.0),)),
    "2 conditions": (lambda _: {"max_conditions": 2}, ()),
    "3 conditions": (lambda _: {"max_conditions": 3}, ()),
    "6 conditions": (lambda _: {"max_conditions": 6}, ()),
    "no class weights": (lambda _: {"class_weight": None}, ()),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", choices=SETS, default="tuned")
    parser.add_argument("--splits", type=int, default=3, help="number of random splits")
    parser.add_argument(
        "--folds", type=Path, help="folder of given folds, instead of random splits"
    )
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--only", help="variants whose name contains this")
    arguments = parser.parse_args()
    compiled(columns)  # also for small tables
    variants = (
        ABLATION
        if arguments.ablation
        else SIZES
        if arguments.sizes
        else {"default": ABLATION["default"]}
    )
    variants = {label: one for label, one in variants.items() if (arguments.only or "") in label}
    tables = {name: load(name) for name in SETS[arguments.sets]}
    print(f"{'':<28}balanced  plain  rules  conditions  log loss  CPU s a fit")
    for label, (parameters, changes) in variants.items():
        with changed(changes):
            results = [measure(table, parameters, arguments) for table in tables.values()]
        mean = np.mean(results, axis=0)
        print(
            f"{label:<28}{mean[0]:8.4f} {mean[1]:6.4f} {mean[2]:6.2f} {mean[3]:11.2f} "
            f"{mean[4]:9.3f} {mean[5]:12.3f}",
            flush=True,
        )
        if len(variants) == 1:
            for name, row in zip(tables, results, strict=True):
                print(f"  {name:<26}{row[0]:8.4f} {row[1]:6.4f} {row[2]:6.2f} {row[3]:11.2f}")


@contextmanager
def changed(changes):
    patches = [patch.object(*change) for change in changes]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def measure(table, parameters, arguments):
    """Return the mean results of one dataset."""
    X, y = table.X.to_numpy(float), table.y
    options = parameters(len(np.unique(y)))
    rows = []
    for train, test in folds(table, arguments):
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = AdditiveRulesClassifier(**options, n_jobs=1).fit(X[train], y[train])
        seconds = process_time() - start
        probabilities = fit.predict_proba(X[test])
        answers, truth = fit.classes_[probabilities.argmax(axis=1)], y[test]
        own = np.zeros(len(truth))
        for c, label in enumerate(fit.classes_):
            own[truth == label] = probabilities[truth == label, c]
        rules = fit.ruleset_.rules
        rows.append(
            (
                np.mean([np.mean(answers[truth == c] == c) for c in np.unique(truth)]),
                np.mean(answers == truth),
                len(rules),
                np.mean([len(rule.conditions) for rule in rules]) if rules else 0.0,
                -np.log(np.maximum(own, 1e-15)).mean(),
                seconds,
            )
        )
    return np.mean(rows, axis=0)


def folds(table, arguments):
    """Yield training and test rows."""
    if arguments.folds:
        with (arguments.folds / f"{table.name}.csv").open() as file:
            fold = np.array([int(row["fold"]) for row in csv.DictReader(file)])
        for k in np.unique(fold):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        return
    for split in range(arguments.splits):
        shuffled = StratifiedKFold(10, shuffle=True, random_state=split)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes with fewer than ten rows
            yield from shuffled.split(table.X, table.y)


if __name__ == "__main__":
    main()

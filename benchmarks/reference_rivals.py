"""RIPPER and FURIA compared with their Java originals: accuracy, number of rules and length.

Ten-fold cross-validation on the folds of the originals, averaged over five seeds (different ones in every fold: a
seed also determines the order of equally frequent classes). The results of the originals (several seeds, mean and
standard deviation of the ten-fold means) are in tests/reference/ripper_furia.csv. "!" marks differences beyond the
tolerance: balanced accuracy 2.5 standard deviations or 0.02, rules 15 %, length 10 %; for the mean over the datasets
0.01, 5 % and 5 %.

    python benchmarks/reference_rivals.py [RIPPER] [FURIA] [dataset ...]
"""

import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

from frri.compare.datasets import load
from frri.learners.ripper.furia import FURIAClassifier
from frri.learners.ripper.ripper import RIPPERClassifier

LEARNERS = {"RIPPER": RIPPERClassifier, "FURIA": FURIAClassifier}
REFERENCE = Path(__file__).parents[1] / "tests" / "reference" / "ripper_furia.csv"
SEEDS = 5


def main(arguments=()):
    algorithms = [name for name in LEARNERS if name in arguments] or list(LEARNERS)
    chosen = [name for name in arguments if name not in LEARNERS]
    with REFERENCE.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if not chosen or row["dataset"] in chosen]
    for algorithm in algorithms:
        compare(algorithm, [row for row in rows if row["algorithm"] == algorithm])


def compare(algorithm, rows):
    print(
        f"\n{algorithm:16} balanced accuracy          rules                 length              fit s"
    )
    means = []
    for row in rows:
        ours = cross_validate(LEARNERS[algorithm], load(row["dataset"]))
        theirs = {name: float(row[name]) for name in ("bacc", "bacc_sd", "rules", "length")}
        means.append([*ours, theirs["bacc"], theirs["rules"], theirs["length"]])
        show(row["dataset"], ours, theirs, (max(2.5 * theirs["bacc_sd"], 0.02), 0.15, 0.10))
    mean = np.mean(means, axis=0)
    theirs = {"bacc": mean[4], "bacc_sd": np.nan, "rules": mean[5], "length": mean[6]}
    show("mean", mean[:4], theirs, (0.01, 0.05, 0.05))


def cross_validate(learner, dataset):
    """Return mean balanced accuracy, rules, length and fit time over ten folds and five seeds."""
    X, y = dataset.X, dataset.y
    results = []
    warnings.filterwarnings("ignore", "y_pred contains classes not in y_true|The least populated")
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(folds):
        for seed in range(SEEDS):
            model = learner(random_state=10 * seed + fold)
            start = time.perf_counter()
            model.fit(X.iloc[train], y[train])
            seconds = time.perf_counter() - start
            accuracy = balanced_accuracy_score(y[test], model.predict(X.iloc[test]))
            lengths = [len(rule.conditions) for rule in model.ruleset_ if rule.conditions]
            length = np.mean(lengths) if lengths else 0.0
            results.append([accuracy, len(model.ruleset_), length, seconds])
    return np.mean(results, axis=0)


def show(name, ours, theirs, tolerances):
    is_close = [
        abs(ours[0] - theirs["bacc"]) <= tolerances[0],
        abs(ours[1] / theirs["rules"] - 1) <= tolerances[1],
        abs(ours[2] / theirs["length"] - 1) <= tolerances[2],
    ]
    marks = [" " if close else "!" for close in is_close]
    print(
        f"{name:16} {ours[0]:.3f} ({theirs['bacc']:.3f} +- {theirs['bacc_sd']:.3f}){marks[0]}  "
        f"{ours[1]:6.2f} ({theirs['rules']:6.2f}){marks[1]}  "
        f"{ours[2]:5.2f} ({theirs['length']:5.2f}){marks[2]}  {ours[3]:.4f}",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:])

"""FRRI bagging, FRRI, Compact FRRI and additive rules on the 18 datasets.

    python -m benchmarks bagging                 means; bagging.csv has the results of every dataset
    python -m benchmarks.bagging [LEARNER ...]   only these estimators; rows of others in bagging.csv are kept

The first three of ten folds are measured. The search for a minimum-size rule set has the same work limit in FRRI
and in the pool, so that the results do not depend on the machine. Times are CPU seconds of one thread.
"""

import csv
import sys
from pathlib import Path

import numpy as np

from benchmarks.sizes import means
from frri import (
    AdditiveRulesClassifier,
    CompactFRRIClassifier,
    FRRIBaggingClassifier,
    FRRIClassifier,
)
from frri.compare.datasets import NAMES, load

FILE = Path(__file__).with_name("bagging.csv")
FOLDS, EFFORT = 3, 2_000
BAGS = {"random_state": 0, "n_jobs": 1}

LEARNERS = {
    "FRRI": lambda _: FRRIClassifier(work_limit=EFFORT, n_jobs=1),
    "FRRI on bags, pooled": lambda _: FRRIBaggingClassifier(work_limit=EFFORT, **BAGS),
    "compact FRRI": lambda _: CompactFRRIClassifier(n_jobs=1),
    "additive": lambda _: AdditiveRulesClassifier(n_jobs=1),
}
FIELDS = ("learner", "set", "balanced", "plain", "rules", "conditions", "seconds")


def main(learners=()):
    """Measure some or all estimators, and print the means of all measured ones."""
    known = {}
    if FILE.exists():
        with FILE.open(encoding="utf-8") as file:
            known = {(row[0], row[1]): row[2:] for row in list(csv.reader(file))[1:]}
    for learner in learners or LEARNERS:
        means(LEARNERS[learner], load(NAMES[0]), 1)  # compiles the kernels
        for name in NAMES:
            row = means(LEARNERS[learner], load(name), FOLDS)
            known[learner, name] = [f"{value:.4f}" for value in row]
    with FILE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([FIELDS, *([*key, *row] for key, row in known.items())])
    print(f"{'':<40}{'balanced':>9}{'plain':>8}{'rules':>9}{'conditions':>12}{'seconds':>9}")
    for learner in LEARNERS:
        rows = [row for (one, _), row in known.items() if one == learner]
        if rows:
            cells = "{:>9.3f}{:>8.3f}{:>9.1f}{:>12.2f}{:>9.3f}"
            print(f"{learner:<40}" + cells.format(*np.mean(np.array(rows, float), axis=0)))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Additive rules and compact FRRI from 10,000 to 1,000,000 rows of 10 attributes, beside scikit-learn's tree.

The table is that of `growth`, with every tenth label drawn at random: *noisy* classes, of which a dozen rules
is what a person wants. CPU seconds of all threads, as a ratio to the unpruned tree of the same task in the
same run; memory beyond what the process had before the fit (the table included in that); accuracy (R2 for
numbers) on 50,000 further rows, which the tree has learned by heart for its own.

    python -m benchmarks few_rules_growth
    python -m benchmarks.few_rules_growth [rows ...]
    python -m benchmarks.few_rules_growth small      1,000 rows beside RIPPER, the least of eight fits each
"""

import json
import subprocess
import sys
import time

from sklearn.datasets import make_classification

from frri import AdditiveRulesClassifier, CompactFRRIClassifier, RIPPERClassifier

SIZES = (10_000, 100_000, 1_000_000)
CODE = """
import json, resource, sys, time, warnings
import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from frri import AdditiveRulesClassifier, AdditiveRulesRegressor, CompactFRRIClassifier
warnings.simplefilter("ignore")
n, name = int(sys.argv[1]), sys.argv[2]
X, y = make_classification(1_050_000, 10, n_informative=6, n_redundant=2, flip_y=0.1, class_sep=1.5, random_state=0)
if name in ("regressor", "tree of numbers"):
    y = 2 * X[:, 0] + abs(X[:, 3]) * X[:, 4] + np.random.default_rng(0).normal(size=len(X))
learner = {
    "tree": DecisionTreeClassifier(random_state=0),
    "additive": AdditiveRulesClassifier(max_rules=14),
    "compact": CompactFRRIClassifier(),
    "tree of numbers": DecisionTreeRegressor(random_state=0),
    "regressor": AdditiveRulesRegressor(max_rules=14),
}[name]
learner.fit(X[:70_000], y[:70_000])  # loads or compiles the kernels
test, table, labels = slice(-50_000, None), X[:n].copy(), y[:n].copy()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.process_time()
learner.fit(table, labels)
seconds = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": seconds, "before": before / 1024, "peak": peak / 1024,
                  "rules": len(getattr(learner, "ruleset_", ())), "score": learner.score(X[test], y[test])}))
"""
OPPONENTS = {"tree": ("additive", "compact"), "tree of numbers": ("regressor",)}


def main(sizes=SIZES):
    print(
        f"{'rows':>9}  {'':<16}{'CPU s':>8}{'x tree':>8}{'before MB':>11}{'peak MB':>9}{'rules':>7}{'score':>8}"
    )
    for n in sizes:
        for tree, learners in OPPONENTS.items():
            unit = None
            for name in (tree, *learners):
                output = subprocess.run(
                    [sys.executable, "-c", CODE, str(n), name],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                r = json.loads(output.stdout)
                unit = unit or r["seconds"]
                print(
                    f"{n:>9}  {name:<16}{r['seconds']:>8.2f}{r['seconds'] / unit:>8.2f}{r['before']:>11.0f}"
                    f"{r['peak']:>9.0f}{r['rules']:>7}{r['score']:>8.3f}",
                    flush=True,
                )


def small():
    """1,000 rows of two and of three classes, as ratios to RIPPER."""
    print(f"{'classes':>7}  {'':<10}{'CPU s':>8}{'x RIPPER':>10}{'rules':>7}")
    for k in (2, 3):
        X, y = make_classification(
            1_000, 10, n_informative=6, n_redundant=2, n_classes=k, flip_y=0.1, random_state=0
        )
        unit = None
        for learner in (
            RIPPERClassifier(random_state=0),
            AdditiveRulesClassifier(),
            CompactFRRIClassifier(),
        ):
            seconds = []
            for _ in range(8):
                start = time.process_time()
                learner.fit(X, y)
                seconds.append(time.process_time() - start)
            unit = unit or min(seconds)
            name = type(learner).__name__.removesuffix("Classifier")[:9]
            print(
                f"{k:>7}  {name:<10}{min(seconds):>8.3f}{min(seconds) / unit:>10.2f}{len(learner.ruleset_):>7}",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:] == ["small"]:
        small()
    else:
        main([int(size) for size in sys.argv[1:]] or SIZES)

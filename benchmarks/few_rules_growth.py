"""Additive rules and Compact FRRI from 1,000 to 1,000,000 rows, beside RIPPER and scikit-learn's tree.

1,000 rows of 10 columns beside RIPPER, the least of eight fits in turns; 1,320 rows of 58 columns with 32
classes; the prediction of 1,000,000 rows by 10 additive rules beside a tree; then 10,000 to 1,000,000 rows of
the table of `growth`, with every tenth label drawn at random. CPU seconds of all threads, as a ratio to the
unpruned tree of the same task in the same run; memory beyond what the process had before the fit (the table
included in that); accuracy (R2 of regression) on 50,000 further rows. Estimators have their defaults.

    python -m benchmarks few_rules_growth
    python -m benchmarks.few_rules_growth [rows ...]
    python -m benchmarks.few_rules_growth small      only 1,000 rows, many classes and prediction
"""

import json
import subprocess
import sys
import time

from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

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
    "additive": AdditiveRulesClassifier(),
    "compact": CompactFRRIClassifier(),
    "tree of numbers": DecisionTreeRegressor(random_state=0),
    "regressor": AdditiveRulesRegressor(),
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
    small()
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
    """Fits of 1,000 rows, a fit with many classes, and prediction."""
    shape = {"n_informative": 6, "n_redundant": 2, "flip_y": 0.1, "random_state": 0}
    few = AdditiveRulesClassifier(), CompactFRRIClassifier()
    for k in (2, 3):
        X, y = make_classification(1_000, 10, n_classes=k, **shape)
        fits = [lambda m=m, X=X, y=y: m.fit(X, y) for m in (RIPPERClassifier(random_state=0), *few)]
        show(f"fit of 1,000 x 10, {k} classes", ("RIPPER", "additive", "compact"), fits)
    tree = DecisionTreeClassifier(random_state=0)
    many = {"n_classes": 32, "n_clusters_per_class": 1, "class_sep": 1.5, "random_state": 0}
    X, y = make_classification(1_320, 58, n_informative=20, n_redundant=10, **many)
    fits = [lambda m=m: m.fit(X, y) for m in (tree, few[0])]
    show("fit of 1,320 x 58, 32 classes", ("tree", "additive"), fits, 2)
    X, y = make_classification(1_000_000, 10, class_sep=1.5, **shape)
    learned = slice(100_000)
    models = tree.fit(X[learned], y[learned]), AdditiveRulesClassifier(max_rules=10)
    models[1].fit(X[learned], y[learned])
    show(
        "prediction of 1,000,000 rows",
        ("tree", "10 rules"),
        [lambda m=m: m.predict(X) for m in models],
        3,
    )


def show(title, names, works, times=8):
    """Print the least CPU seconds of some works, done in turns, and ratios to the first."""
    seconds = [float("inf")] * len(works)
    for _ in range(times):
        for k, work in enumerate(works):
            start = time.process_time()
            work()
            seconds[k] = min(seconds[k], time.process_time() - start)
    pairs = zip(names, seconds, strict=True)
    told = ", ".join(f"{name} {s:.3f} s ({s / seconds[0]:.2f} x)" for name, s in pairs)
    print(f"{title}: {told}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["small"]:
        small()
    else:
        main([int(size) for size in sys.argv[1:]] or SIZES)

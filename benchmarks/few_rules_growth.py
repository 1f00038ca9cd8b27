"""Time and memory of additive rules and Compact FRRI for 1,000 to 1,000,000 rows, compared with RIPPER and trees.

- 1,000 rows of 10 columns, compared with RIPPER (the shortest of eight fits in turns);
- 1,320 rows of 58 columns with 32 classes, compared with a tree;
- the prediction of 1,000,000 rows by 10 additive rules, compared with a tree;
- 10,000 to 1,000,000 rows of the table of `growth`, with every tenth label random.

Times are CPU seconds of all threads, and ratios to the unpruned tree of the same task in the same run. Memory is that
of the process before the fit, with the table, and its peak. The score is accuracy (R² of regression) on 50,000 further
rows. Estimators have their default parameters.

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
if name in ("regressor", "regression tree"):
    y = 2 * X[:, 0] + abs(X[:, 3]) * X[:, 4] + np.random.default_rng(0).normal(size=len(X))
learner = {
    "tree": DecisionTreeClassifier(random_state=0),
    "additive": AdditiveRulesClassifier(),
    "compact": CompactFRRIClassifier(),
    "regression tree": DecisionTreeRegressor(random_state=0),
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
BASELINES = {"tree": ("additive", "compact"), "regression tree": ("regressor",)}


def main(sizes=SIZES):
    small()
    print(
        f"{'rows':>9}  {'':<16}{'CPU s':>8}{'x tree':>8}{'before MB':>11}{'peak MB':>9}{'rules':>7}{'score':>8}"
    )
    for n in sizes:
        for tree, learners in BASELINES.items():
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
    """Measure fits of 1,000 rows, a fit with many classes, and prediction."""
    shape = {"n_informative": 6, "n_redundant": 2, "flip_y": 0.1, "random_state": 0}
    estimators = AdditiveRulesClassifier(), CompactFRRIClassifier()
    for k in (2, 3):
        X, y = make_classification(1_000, 10, n_classes=k, **shape)
        fits = [
            lambda m=m, X=X, y=y: m.fit(X, y)
            for m in (RIPPERClassifier(random_state=0), *estimators)
        ]
        show(f"fit of 1,000 x 10, {k} classes", ("RIPPER", "additive", "compact"), fits)
    tree = DecisionTreeClassifier(random_state=0)
    many = {"n_classes": 32, "n_clusters_per_class": 1, "class_sep": 1.5, "random_state": 0}
    X, y = make_classification(1_320, 58, n_informative=20, n_redundant=10, **many)
    fits = [lambda m=m: m.fit(X, y) for m in (tree, estimators[0])]
    show("fit of 1,320 x 58, 32 classes", ("tree", "additive"), fits, 2)
    X, y = make_classification(1_000_000, 10, class_sep=1.5, **shape)
    training_rows = slice(100_000)
    models = tree.fit(X[training_rows], y[training_rows]), AdditiveRulesClassifier(max_rules=10)
    models[1].fit(X[training_rows], y[training_rows])
    show(
        "prediction of 1,000,000 rows",
        ("tree", "10 rules"),
        [lambda m=m: m.predict(X) for m in models],
        3,
    )


def show(title, names, calls, times=8):
    """Print the minimum CPU seconds of some calls, made in turns, and their ratios to the first."""
    seconds = [float("inf")] * len(calls)
    for _ in range(times):
        for k, call in enumerate(calls):
            start = time.process_time()
            call()
            seconds[k] = min(seconds[k], time.process_time() - start)
    pairs = zip(names, seconds, strict=True)
    times_shown = ", ".join(f"{name} {s:.3f} s ({s / seconds[0]:.2f} x)" for name, s in pairs)
    print(f"{title}: {times_shown}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["small"]:
        small()
    else:
        main([int(size) for size in sys.argv[1:]] or SIZES)

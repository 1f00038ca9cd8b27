"""Accuracy by number of rules: all estimators on the same folds of the 18 datasets, and a figure.

    python -m benchmarks.sizes [LEARNER ...]            the means; sizes.csv has the results of every dataset
    python -m benchmarks.sizes --folds 3 [--two]        first folds (and datasets with two classes) only, compared with
                                                        others.csv; no file is written
    python -m benchmarks.sizes --draw FILE              the figure, from sizes.csv and others.csv

K is the number of classes. A tree has one rule per leaf; five-fold cross-validation of the training rows selects the
leaves of a tuned tree, at most 2K + 6. The settings of Compact FRRI and of additive rules were tuned on nine of the
datasets (see `benchmarks/small_rulesets.py`).
"""

import csv
import warnings
from argparse import ArgumentParser
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from frri import (
    AdditiveRulesBaggingClassifier,
    AdditiveRulesClassifier,
    CompactFRRIClassifier,
    FRRIClassifier,
    FURIAClassifier,
    MODLEMClassifier,
    RIPPERClassifier,
)
from frri.compare.datasets import NAMES, load
from frri.compare.evaluate import measure_size
from frri.compare.run import assign_folds
from frri.rules.measures import accuracy, balanced_accuracy

FILE = Path(__file__).with_name("sizes.csv")
OTHERS = Path(__file__).with_name("others.csv")
TIME_LIMIT = 5.0  # seconds for the proof of a partial cover

ADDITIVE = {
    "K + 3.5": lambda k: round(k + 3.5),
    "2K + 6": lambda k: 2 * k + 6,
    "4K + 4": lambda k: 4 * k + 4,
    "8K + 10": lambda k: 8 * k + 10,
}
LEARNERS = {
    ("FRRI", "all"): lambda _: FRRIClassifier(time_limit=TIME_LIMIT),
    ("FRRI", "newly 3 %"): lambda _: FRRIClassifier(min_new_coverage=0.03, time_limit=TIME_LIMIT),
    ("compact FRRI", "K + 6"): lambda k: CompactFRRIClassifier(max_rules=k + 6),
    ("compact FRRI", "2K + 6"): lambda _: CompactFRRIClassifier(),
    **{
        ("additive", name): lambda k, size=size: AdditiveRulesClassifier(max_rules=size(k))
        for name, size in ADDITIVE.items()
    },
    ("additive, no class weights", "2K + 6"): lambda _: AdditiveRulesClassifier(class_weight=None),
    ("RIPPER", ""): lambda _: RIPPERClassifier(random_state=0),
    ("FURIA", ""): lambda _: FURIAClassifier(random_state=0),
    ("MODLEM", ""): lambda _: MODLEMClassifier(),
    **{
        ("balanced tree", f"{n} leaves"): lambda _, n=n: DecisionTreeClassifier(
            max_leaf_nodes=n, class_weight="balanced", random_state=0
        )
        for n in (8, 14, 28)
    },
    ("tuned tree", "2K + 6"): lambda k: TunedTree(2 * k + 6),
    ("forest", "100 trees"): lambda _: RandomForestClassifier(random_state=0, n_jobs=1),
    ("bagged", "20 bags"): lambda _: AdditiveRulesBaggingClassifier(random_state=0, n_jobs=1),
}
HEADER = f"{'':<40}{'balanced':>9}{'plain':>8}{'rules':>9}{'conditions':>12}{'seconds':>9}"
FIELDS = ("learner", "size", "set", "balanced", "plain", "rules", "conditions", "seconds")


class TunedTree:
    """A decision tree whose number of leaves is chosen by cross-validation."""

    def __init__(self, max_leaves):
        self.max_leaves = max_leaves

    def fit(self, X, y):
        """Return the tree."""
        tree = DecisionTreeClassifier(class_weight="balanced", random_state=0)
        sizes = {"max_leaf_nodes": range(2, self.max_leaves + 1)}
        return GridSearchCV(tree, sizes, scoring="balanced_accuracy").fit(X, y).best_estimator_


def main(learners=()):
    """Measure some or all estimators; rows of others in sizes.csv are kept."""
    chosen = {key: make for key, make in LEARNERS.items() if not learners or key[0] in learners}
    old = []
    if FILE.exists():
        with FILE.open(encoding="utf-8") as file:
            old = [row for row in csv.reader(file) if (row[0], row[1]) not in chosen][1:]
    print(HEADER)
    for (learner, size), make in chosen.items():
        rows = [means(make, load(name)) for name in NAMES]
        for name, row in zip(NAMES, rows, strict=True):
            old.append([learner, size, name, *(f"{value:.4f}" for value in row)])
        with FILE.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([FIELDS, *old])
        print(line(learner, size, rows), flush=True)


def first_folds(n_folds, *, two, learners=()):
    """Measure the first folds, and print the results of other packages on these folds and datasets."""
    sets = [name for name in NAMES if not two or len(np.unique(load(name).y)) == 2]
    print(HEADER)
    for (learner, size), make in LEARNERS.items():
        if not learners or learner in learners:
            rows = [means(make, load(name), n_folds) for name in sets]
            print(line(learner, size, rows), flush=True)
    others = {}
    with OTHERS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if int(row["folds"]) == n_folds and row["set"] in sets:
                values = [float(row[field]) for field in FIELDS[3:]]
                others.setdefault((row["learner"], row["size"]), []).append(values)
    for (learner, size), rows in others.items():
        note = "" if len(rows) == len(sets) else f"  ({len(rows)} of {len(sets)} datasets)"
        print(line(learner, size, rows) + note)


def line(learner, size, rows):
    """Return a line with the means over datasets."""
    cells = "{:>9.3f}{:>8.3f}{:>9.1f}{:>12.2f}{:>9.3f}".format(*np.mean(rows, axis=0))
    return f"{learner:<28}{size:<12}{cells}"


def means(make, data, n_folds=10):
    """Return mean balanced accuracy, accuracy, rules, conditions per rule and seconds of a fit, over the first folds."""
    X, y = data.X.to_numpy(), data.y
    folds = assign_folds(data, 10, 0)
    rows = []
    for fold in range(n_folds):
        test = folds == fold
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make(len(np.unique(y))).fit(X[~test], y[~test])
        seconds = process_time() - start
        predicted, size = model.predict(X[test]), measure_size(model)
        rows.append(
            [
                balanced_accuracy(y[test], predicted),
                accuracy(y[test], predicted),
                len(size.conditions),
                np.mean([n for n in size.conditions if n]),  # without a default rule
                seconds,
            ]
        )
    return np.mean(rows, axis=0)


def draw(path):
    """Draw balanced accuracy by number of rules; estimators with several sizes are lines.

    Models of other packages are gray; models without rules are dashed horizontal lines. Models that were not
    measured on all datasets are left out.
    """
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    from frri.plots import COLORS, GRAY, MARKERS

    mpl.rcParams["svg.hashsalt"] = "frri"
    points = {}
    for source in (FILE, OTHERS):
        with source.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                is_partial = int(row.get("folds", 10)) < 10
                name = f"{row['learner']} ({row['folds']} folds)" if is_partial else row["learner"]
                point = points.setdefault(name, {}).setdefault(row["size"], [])
                point.append((float(row["rules"]), float(row["balanced"])))
    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    own = sorted({name for name, _ in LEARNERS if "tree" not in name and "forest" not in name})
    for name, sizes in points.items():
        if any(len(rows) < len(NAMES) for rows in sizes.values()):
            continue
        x, y = np.array(sorted(np.mean(rows, axis=0).tolist() for rows in sizes.values())).T
        if np.isnan(x).any():
            axes.axhline(y[0], color=GRAY, linestyle="--", linewidth=0.8)
            place = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom"}
            axes.annotate(name, (0.99, y[0]), fontsize=8, **place)
            continue
        place = own.index(name) if name in own else None
        color = GRAY if place is None else COLORS[place % len(COLORS)]
        marker = "x" if place is None else MARKERS[place % len(MARKERS)]
        axes.plot(x, y, color=color, marker=marker, label=name)
        axes.annotate(
            name, (x[-1], y[-1]), (6, 0), textcoords="offset points", va="center", fontsize=8
        )
    axes.set(
        xscale="log",
        xlabel="rules (a leaf of a tree is one)",
        ylabel="balanced accuracy, mean of 18 datasets",
    )
    axes.margins(x=0.18)
    axes.grid(alpha=0.3)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("learners", nargs="*")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--two", action="store_true")
    parser.add_argument("--draw", metavar="FILE")
    options = parser.parse_args()
    if options.draw:
        draw(options.draw)
    elif options.folds < 10 or options.two:
        first_folds(options.folds, two=options.two, learners=options.learners)
    else:
        main(options.learners)

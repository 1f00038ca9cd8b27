"""What people would take instead, from other packages, on the same folds: rows for `sizes.csv`.

These packages want versions of their own, so the tables go to an environment of theirs as arrays:

    python benchmarks/other_packages.py --tables DIRECTORY      in this environment
    pip install imodels interpret-core six                      in another one
    python benchmarks/other_packages.py DIRECTORY [LEARNER ...] in that one: others.csv with versions

Learners of two classes learn each class against the rest, and share the 2K + 6 rules that the additive
learner has for K classes. A rule is a leaf of a tree (FIGS), a rule
with a coefficient that is not 0 (RuleFit) or a stump (BoostedRules); models without rules have none.
"""

import csv
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from time import process_time

import numpy as np

FILE = Path(__file__).with_name("others.csv")
FIELDS = (
    "learner", "size", "set", "balanced", "plain", "rules", "conditions", "seconds", "package",
)  # fmt: skip


def tables(directory):
    """Every set with its folds, as the other benchmarks have them."""
    from frri.compare.datasets import NAMES, load
    from frri.compare.folds import assign_folds

    Path(directory).mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        data = load(name)
        classes = np.unique(data.y, return_inverse=True)[1]
        folds = assign_folds(data, 10, 0)
        np.savez(Path(directory) / name, X=data.X.to_numpy(), y=classes, folds=folds)


def learners():
    """Name, size and package, how it is made for so many classes, and how large it is."""
    from imodels import BoostedRulesClassifier, FIGSClassifier, RuleFitClassifier
    from interpret.glassbox import ExplainableBoostingClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier

    return {
        ("FIGS", "2K + 6", "imodels"): (
            lambda k: one_against_rest(FIGSClassifier(max_rules=share(k)), k),
            leaves,
        ),
        ("BoostedRules", "2K + 6", "imodels"): (
            lambda k: one_against_rest(
                BoostedRulesClassifier(n_estimators=share(k), random_state=0), k
            ),
            stumps,
        ),
        ("RuleFit", "2K + 6", "imodels"): (
            lambda k: one_against_rest(RuleFitClassifier(max_rules=share(k), random_state=0), k),
            linear_rules,
        ),
        ("EBM", "no limit", "interpret-core"): (
            lambda _: ExplainableBoostingClassifier(random_state=0, n_jobs=1, outer_bags=2),
            None,
        ),
        ("gradient boosting", "no limit", "scikit-learn"): (
            lambda _: HistGradientBoostingClassifier(max_iter=60, random_state=0),
            None,
        ),
    }


def share(n_classes):
    """The rules of each model: all of them, or as many for every class."""
    rules = 2 * n_classes + 6
    return rules if n_classes == 2 else round(rules / n_classes)


def one_against_rest(model, n_classes):
    """A learner of two classes, for as many as there are."""
    from sklearn.multiclass import OneVsRestClassifier

    return model if n_classes == 2 else OneVsRestClassifier(model)


def leaves(model):
    """Conditions of every leaf of trees that are added up."""
    found = []

    def walk(node, depth):
        if node.left is None and node.right is None:
            found.append(depth)
            return
        walk(node.left, depth + 1)
        walk(node.right, depth + 1)

    for tree in model.trees_:
        walk(tree, 0)
    return found


def linear_rules(model):
    """Conditions of every rule with a coefficient; a linear term counts as a rule with one."""
    table = model.visualize()
    return [str(rule).count(" and ") + 1 for rule in table["rule"]]


def stumps(model):
    """One condition for every stump."""
    return [1] * len(model.estimators_)


def main(directory, chosen):
    """Measure the learners named, or all; what others.csv has of others stays there."""
    old = []
    if FILE.exists():
        with FILE.open(encoding="utf-8") as file:
            old = list(csv.reader(file))[1:]
    for (name, size, package), (make, count) in learners().items():
        if chosen and name not in chosen:
            continue
        old = [row for row in old if row[:2] != [name, size]]
        for path in sorted(Path(directory).glob("*.npz")):
            row = means(make, count, np.load(path))
            known = f"{package} {version(package)}"
            old.append([name, size, path.stem, *(f"{value:.4f}" for value in row), known])
            print(*old[-1], flush=True)
        with FILE.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([FIELDS, *old])


def means(make, count, data):
    """Balanced and plain accuracy, rules, conditions per rule and seconds of a fit, over the folds."""
    from sklearn.metrics import recall_score

    X, y, folds = data["X"], data["y"], data["folds"]
    rows = []
    for fold in range(10):
        test = folds == fold
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make(len(np.unique(y))).fit(X[~test], y[~test])
        seconds = process_time() - start
        said = model.predict(X[test])
        recalls = recall_score(y[test], said, labels=np.unique(y[test]), average=None)
        sizes = [np.nan]
        if count is not None:
            parts = (
                getattr(model, "estimators_", [model]) if hasattr(model, "multilabel_") else [model]
            )
            sizes = [n for part in parts for n in count(part)]
        rules = len(sizes) if count is not None else np.nan
        length = np.mean(sizes) if sizes else np.nan
        rows.append([recalls.mean(), (said == y[test]).mean(), rules, length, seconds])
    return np.nanmean(rows, axis=0)


if __name__ == "__main__":
    if sys.argv[1] == "--tables":
        tables(sys.argv[2])
    else:
        main(sys.argv[1], sys.argv[2:])

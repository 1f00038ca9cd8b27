"""1,000,000 rows against about 100 rules, next to scikit-learn's tree and forest on the same data."""

import warnings

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import best
from frri import FRRIClassifier


def main():
    X, y = make_classification(
        1_000_000, 10, n_informative=6, n_redundant=2, flip_y=0.02, random_state=3
    )
    rows = slice(0, 1700)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = FRRIClassifier().fit(X[rows], y[rows])
    tree = DecisionTreeClassifier(random_state=0).fit(X[rows], y[rows])
    forest = RandomForestClassifier(100, random_state=0, n_jobs=-1).fit(X[rows], y[rows])
    conditions = sum(len(rule.conditions) for rule in clf.ruleset_)
    silent = np.mean(clf.ruleset_.scores(X[:100_000]).max(axis=1) <= 0)
    clf.predict(X)  # loads or compiles the kernel
    print(
        f"{len(clf.ruleset_)} rules with {conditions} conditions, {silent:.1%} of the rows under no rule;"
    )
    print(f"tree with {tree.get_n_leaves()} leaves; forest of 100 trees on all cores")
    seconds = {
        "frri": best(lambda: clf.predict(X)),
        "tree": best(lambda: tree.predict(X)),
        "forest": best(lambda: forest.predict(X), 1),
    }
    for name, value in seconds.items():
        print(
            f"{name:<8}{value:.3f} s, accuracy {_accuracy({'frri': clf, 'tree': tree, 'forest': forest}[name], X, y):.3f}"
        )
    print(f"frri / tree: {seconds['frri'] / seconds['tree']:.2f} (at most 1.5 wanted)")
    print(f"frri / forest: {seconds['frri'] / seconds['forest']:.3f} (at most 0.1 wanted)")


def _accuracy(model, X, y):
    return np.mean(model.predict(X[:20_000]) == y[:20_000])

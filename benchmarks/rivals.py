"""Fit times of RIPPER, FURIA, MODLEM and QuickRules, compared with wittgenstein and WEKA's JRip, on 18 datasets.

Every fit uses all rows; times are the best of several runs. wittgenstein supports two classes only and is fitted
one-vs-rest where there are more. JRip runs in a warm Java virtual machine; its start and the transfer of the data are
not measured.
"""

import warnings
from time import perf_counter

import numpy as np
from sklearn.datasets import make_classification

from benchmarks.timing import best
from benchmarks.weka_learners import instances, java
from frri.compare.datasets import NAMES, load
from frri.learners.modlem import MODLEMClassifier
from frri.learners.quickrules import QuickRulesClassifier
from frri.learners.ripper.furia import FURIAClassifier
from frri.learners.ripper.ripper import RIPPERClassifier

LARGEST = {"winequality-red", "yeast", "vowel"}


def main():
    jrip = _JRip()
    learners = {
        "RIPPER": RIPPERClassifier(random_state=0),
        "FURIA": FURIAClassifier(random_state=0),
        "MODLEM": MODLEMClassifier(),
        "QuickRules": QuickRulesClassifier(),
    }
    names = [*learners, "JRip", "wittgenstein"]
    X, y = make_classification(30_000, 10, random_state=0)
    for name in ("RIPPER", "FURIA", "MODLEM"):
        learners[name].fit(X, y)  # loads the compiled kernels
    print(f"{'set':<16}" + "".join(f"{name:>13}" for name in names) + "   seconds")
    rows = []
    for round_ in ("warm-up", "timed"):
        for name in NAMES:
            data = load(name)
            X, y = data.X.to_numpy(), data.y
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seconds = [
                    best(lambda c=clf: c.fit(X, y), 1 if name in LARGEST else 3)  # noqa: B023
                    for clf in learners.values()
                ]
                if round_ == "warm-up":
                    jrip.seconds(X, y, 3)
                    continue
                seconds += [jrip.seconds(X, y, 5), _wittgenstein(data.X, y)]
            rows.append(seconds)
            print(f"{name:<16}" + "".join(f"{s:>13.4f}" for s in seconds), flush=True)
    mean = dict(zip(names, np.mean(rows, axis=0), strict=True))
    print(f"{'mean':<16}" + "".join(f"{mean[name]:>13.4f}" for name in names))
    print(
        f"wittgenstein / RIPPER: {mean['wittgenstein'] / mean['RIPPER']:.0f} (target: at least 20)"
    )
    print(f"RIPPER / JRip: {mean['RIPPER'] / mean['JRip']:.2f} (target: at most 1)")
    print(f"FURIA / RIPPER: {mean['FURIA'] / mean['RIPPER']:.1f} (target: at most 3)")
    print(f"MODLEM / RIPPER: {mean['MODLEM'] / mean['RIPPER']:.2f} (target: at most 1)")
    slow = [
        name
        for name, row in zip(NAMES, rows, strict=True)
        if name not in LARGEST and row[names.index("QuickRules")] >= 1
    ]
    print(f"QuickRules above one second, without the three largest datasets: {slow or 'none'}")


def _wittgenstein(frame, y):
    """Return the fit time of one RIPPER of wittgenstein per class (one-vs-rest), or of one for two classes."""
    import wittgenstein

    classes = np.unique(y)
    total = 0.0
    for label in classes[: 1 if len(classes) == 2 else None]:
        start = perf_counter()
        wittgenstein.RIPPER(random_state=0).fit(frame, y == label)
        total += perf_counter() - start
    return total


class _JRip:
    """WEKA's JRip in a Java virtual machine."""

    def __init__(self):
        self.learner = java()("weka.classifiers.rules.JRip")

    def seconds(self, X, y, repeats):
        classes, codes = np.unique(y, return_inverse=True)
        data = instances(X, codes, classes)
        return best(lambda: self.learner().buildClassifier(data), repeats)

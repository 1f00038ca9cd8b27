"""RIPPER next to wittgenstein and WEKA's JRip, and the other learners next to RIPPER, on 18 sets.

Every fit is on the full data, best of a few runs. wittgenstein knows two classes only and is fitted
once per class against the rest where there are more. JRip runs in one warm Java machine; starting it
and handing over the data is not counted.
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
        learners[name].fit(X, y)  # large enough to load the compiled kernels: Java is warm as well
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
        f"wittgenstein / RIPPER: {mean['wittgenstein'] / mean['RIPPER']:.0f} (at least 20 wanted)"
    )
    print(f"RIPPER / JRip: {mean['RIPPER'] / mean['JRip']:.2f} (at most 1 wanted)")
    print(f"FURIA / RIPPER: {mean['FURIA'] / mean['RIPPER']:.1f} (at most 3 wanted)")
    print(f"MODLEM / RIPPER: {mean['MODLEM'] / mean['RIPPER']:.2f} (at most 1 wanted)")
    slow = [
        name
        for name, row in zip(NAMES, rows, strict=True)
        if name not in LARGEST and row[names.index("QuickRules")] >= 1
    ]
    print(f"QuickRules over a second, apart from the three largest sets: {slow or 'none'}")


def _wittgenstein(frame, y):
    """One RIPPER of wittgenstein per class against the rest, or one if there are two classes."""
    import wittgenstein

    classes = np.unique(y)
    total = 0.0
    for label in classes[: 1 if len(classes) == 2 else None]:
        start = perf_counter()
        wittgenstein.RIPPER(random_state=0).fit(frame, y == label)
        total += perf_counter() - start
    return total


class _JRip:
    """WEKA's JRip in a Java machine of its own."""

    def __init__(self):
        self.learner = java()("weka.classifiers.rules.JRip")

    def seconds(self, X, y, repeats):
        classes, codes = np.unique(y, return_inverse=True)
        data = instances(X, codes, classes)
        return best(lambda: self.learner().buildClassifier(data), repeats)

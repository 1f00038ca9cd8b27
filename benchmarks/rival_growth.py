"""Fit times and exponents of RIPPER, FURIA, MODLEM and QuickRules for 1,000 to 100,000 rows of 10 columns.

There are two tables with two classes; larger samples contain the smaller ones.

- *clear*: clusters around the corners of a cube (make_classification of scikit-learn: six informative columns, two
  combinations of them, two irrelevant columns) without label noise. More rows lead to more detailed rules.
- *noisy*: exclusive or of a threshold and an oblique plane, seven irrelevant columns, every tenth label wrong. Models
  that overfit have a number of rules in proportion to the rows.

Accuracy is that on 1,000 further rows (at most 0.9 for *noisy*). Kernels are loaded before; times below half a second
are the best of five. The exponent is the slope of a straight line through the logarithms, from 1,000 rows and from
10,000 rows. MODLEM with the entropy criterion and QuickRules, which compares all pairs of rows, are measured up to
10,000 rows.

    python -m benchmarks rival_growth
    python -m benchmarks.rival_growth [learner ...] [clear] [noisy]
"""

import sys
import warnings

import numpy as np
from sklearn.datasets import make_classification

from benchmarks.timing import best
from frri.learners.modlem import MODLEMClassifier
from frri.learners.quickrules import QuickRulesClassifier
from frri.learners.ripper.furia import FURIAClassifier
from frri.learners.ripper.ripper import RIPPERClassifier

SIZES = (1_000, 10_000, 100_000)
LEARNERS = {
    "RIPPER": (RIPPERClassifier(random_state=0), SIZES),
    "FURIA": (FURIAClassifier(random_state=0), SIZES),
    "MODLEM": (MODLEMClassifier(), SIZES),
    "MODLEM-entropy": (MODLEMClassifier(criterion="entropy"), SIZES[:2]),
    "QuickRules": (QuickRulesClassifier(), SIZES[:2]),
}
# Numbers of rows from which estimators load their compiled kernels.
WARM_UP = {"QuickRules": 6_000}


def main(arguments=()):
    for name in [name for name in TABLES if name in arguments] or TABLES:
        X, y = TABLES[name](110_000)
        print(f"{name:<16}{'rows':>8}{'seconds':>10}{'rules':>8}{'accuracy':>10}")
        for learner in [name for name in LEARNERS if name in arguments] or LEARNERS:
            measure_growth(learner, X, y)


def measure_growth(learner, X, y):
    model, sizes = LEARNERS[learner]
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm_up = WARM_UP.get(learner, 30_000)
        model.fit(X[:warm_up], y[:warm_up])
        for n in sizes:
            seconds.append(time_of_fit(model, X[:n], y[:n]))
            accuracy = model.score(X[-1_000:], y[-1_000:])
            results = f"{n:>8,}{seconds[-1]:>10.3f}{len(model.ruleset_):>8}{accuracy:>10.3f}"
            print(f"{learner:<16}{results}", flush=True)
    text = f"exponent {exponent(sizes, seconds):.2f}"
    if len(sizes) > 2:
        text += f", from {sizes[1]:,} rows {exponent(sizes[1:], seconds[1:]):.2f}"
    if learner == "RIPPER":
        text += f"; {sizes[-1]:,} rows in {seconds[-1]:.1f} s (target: at most 10)"
    print(f"{learner:<16}{text}", flush=True)


def time_of_fit(model, X, y):
    once = best(lambda: model.fit(X, y), 1)
    return once if once > 0.5 else min(once, best(lambda: model.fit(X, y), 4))


def exponent(sizes, seconds):
    return np.polyfit(np.log(sizes), np.log(seconds), 1)[0]


def clear(n):
    return make_classification(
        n, 10, n_informative=6, n_redundant=2, flip_y=0.0, class_sep=1.5, random_state=0
    )


def noisy(n):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 10))
    return X, (X[:, 0] > 0) ^ (X[:, 1] + X[:, 2] > 0.5) ^ (random.random(n) < 0.1)


TABLES = {"clear": clear, "noisy": noisy}

if __name__ == "__main__":
    main(sys.argv[1:])

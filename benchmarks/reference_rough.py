"""MODLEM and QuickRules compared with their originals, fold by fold, and their fit times.

Ten-fold cross-validation on the folds of the originals; their results on twelve of the 18 datasets are in
tests/reference/rough.csv. For each algorithm and dataset, the first columns have the number of folds (of ten) with the
same number of rules, the same mean length (six decimals) and the same balanced accuracy (three decimals). The others
have the means of balanced accuracy, rules, length and fit time.

MODLEM has the rules of its original on all datasets but ionosphere, where KEEL's file has negative zeros: the original
treats -0.0 as a value below 0.0, frri as the same number (30.1 rules against 29.7).

The originals of QuickRules round the Łukasiewicz t-norm differently. Ties that rounding breaks change the number of
rules by one on datasets of integers (dermatology, wisconsin). They also decide by sums in which rounding breaks exact
ties, and the variant of the paper ("close") does not clip similarities at 0 outside the training range. The column
"same accuracy" repeats this arithmetic (tests/naive_rough.py). The column "own accuracy" is that of `predict`, with
uncovered objects counted as wrong.

    python benchmarks/reference_rough.py [algorithm ...] [dataset ...]
"""

import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from frri.compare.datasets import NAMES, load
from frri.learners.modlem import MODLEMClassifier
from frri.learners.quickrules import QuickRulesClassifier

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))
import naive_rough as naive  # noqa: E402 - found only now

LEARNERS = {
    "MODLEM": MODLEMClassifier,
    "MODLEM-entropy": lambda: MODLEMClassifier(criterion="entropy"),
    "QuickRules": QuickRulesClassifier,
    "QuickRules-close": lambda: QuickRulesClassifier(
        t_norm="minimum", coverage_test="close", ties="first"
    ),
}


def main(arguments=()):
    warnings.filterwarnings("ignore", "The least populated class")
    with (TESTS / "reference" / "rough.csv").open(encoding="utf-8") as file:
        reference = list(csv.DictReader(file))
    for learner in [name for name in LEARNERS if name in arguments] or LEARNERS:
        print(f"\n{learner:16} same rules  same length  same accuracy  own accuracy", end="")
        print("     accuracy   rules  length   fit s")
        means = []
        for dataset in [name for name in NAMES if name in arguments] or NAMES:
            expected = [
                row
                for row in reference
                if row["algorithm"] == learner and row["dataset"] == dataset
            ]
            means.append(compare(learner, dataset, expected))
        show("mean", None, np.mean(means, axis=0))


def compare(learner, dataset, expected):
    data = load(dataset)
    X, y = data.X.to_numpy(), parse_labels(data.y)
    same, results = np.zeros(4, dtype=int), []
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, data.y)
    for k, (train, test) in enumerate(folds):
        start = time.perf_counter()
        model = LEARNERS[learner]().fit(X[train], y[train])
        seconds = time.perf_counter() - start
        rules = len(model.ruleset_)
        length = np.mean([len(rule.conditions) for rule in model.ruleset_])
        own = own_accuracy(model, X[test], y[test])
        results.append((own, rules, length, seconds))
        if not expected:
            continue
        theirs = {name: float(expected[k][name]) for name in ("n_rules", "mean_length")}
        accuracy = float(expected[k]["balanced_accuracy"])
        exact = own if learner.startswith("MODLEM") else repeat_original(model, X, y, train, test)
        same += [
            rules == theirs["n_rules"],
            abs(length - theirs["mean_length"]) < 1e-6,
            abs(exact - accuracy) < 5e-4,
            abs(own - accuracy) < 5e-4,
        ]
    mean = np.mean(results, axis=0)
    show(dataset, same if expected else None, mean)
    return mean


def show(name, same, mean):
    counts = "     ".join(f"{count:8}" for count in (["-"] * 4 if same is None else same))
    print(
        f"{name:16}{counts}       {mean[0]:.4f} {mean[1]:7.1f} {mean[2]:7.3f} {mean[3]:7.4f}",
        flush=True,
    )


def parse_labels(labels):
    """Return numeric labels as numbers, so that 10 comes after 9, and other labels unchanged."""
    try:
        return labels.astype(float)
    except ValueError:
        return labels


def balanced_accuracy(predicted, y):
    is_correct = np.array([a == b for a, b in zip(predicted, y, strict=True)])
    return np.mean([is_correct[y == c].mean() for c in np.unique(y)])


def own_accuracy(model, X, y):
    predicted = list(model.predict(X))
    if model.ruleset_.combination == "sum":
        fires = model.ruleset_.scores(X).max(axis=1) > 0
        predicted = [
            label if fired else None for label, fired in zip(predicted, fires, strict=True)
        ]
    return balanced_accuracy(predicted, y)


def repeat_original(model, X, y, train, test):
    """Return the balanced accuracy in the arithmetic of the original."""
    names = [attribute.name for attribute in model.ruleset_.attributes]
    rules = [(r.source, [names.index(a) for a in r.attributes]) for r in model.ruleset_]
    close = model.coverage_test == "close"
    sums = naive.class_sums(
        rules,
        X[train].tolist(),
        y[train].tolist(),
        X[test].tolist(),
        model.t_norm,
        cut=not close,
    )
    return balanced_accuracy(
        (naive.fraction_decisions if close else naive.sum_decisions)(sums), y[test]
    )


if __name__ == "__main__":
    main(sys.argv[1:])

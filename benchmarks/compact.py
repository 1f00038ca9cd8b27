"""Compact FRRI: an ablation of every default, and an exact selection of rules.

    python -m benchmarks.compact                  every default changed, one at a time; nine datasets, three splits
    python -m benchmarks.compact --only NAME      variants whose name contains this
    python -m benchmarks.compact --exact          at most 3 rules, selected greedily or with the fewest errors

Balanced accuracy is the mean recall of the classes that occur in the test fold, averaged over folds, splits and
datasets. The nine datasets are those that the defaults were tuned on (`benchmarks/small_rulesets.py`).
"""

import argparse
import warnings

import numpy as np

from benchmarks.additive import TUNED, changed, folds
from frri import CompactFRRIClassifier
from frri.compare.datasets import load
from frri.learners.compact import candidates, classifier, tune_bounds
from frri.learners.compact.candidates import RuleSelection, find_fewest_errors
from frri.rules.measures import accuracy, balanced_accuracy


def _skip(_self):
    """Replace a step that is left out."""


VARIANTS = {
    "default": ({}, ()),
    "nearest neighbor": ({"kth_neighbor": 1}, ()),
    "third nearest neighbor": ({"kth_neighbor": 3}, ()),
    "eighth nearest neighbor": ({"kth_neighbor": 8}, ()),
    "radius 0.25": ({"radius_factor": 0.25}, ()),
    "radius 0.6": ({"radius_factor": 0.6}, ()),
    "radius 0.75": ({"radius_factor": 0.75}, ()),
    "impurity 0.1": ({"max_impurity": 0.1}, ()),
    "impurity 0.5": ({"max_impurity": 0.5}, ()),
    "support 0.01": ({"min_support": 0.01}, ()),
    "support 0.06": ({"min_support": 0.06}, ()),
    "3 conditions": ({"max_conditions": 3}, ()),
    "no cost of features": ({}, ((classifier, "PRICE", 0.0),)),
    "cost of features 0.004": ({}, ((classifier, "PRICE", 0.004),)),
    "no swaps": ({}, ((RuleSelection, "_swap", _skip),)),
    "no trimming": ({}, ((RuleSelection, "_trim", _skip),)),
    "bounds not fine-tuned": ({}, ((tune_bounds, "STEPS", 0),)),
    "half the prior deviation": ({}, ((tune_bounds, "SPREAD", 0.075),)),
    "twice the prior deviation": ({}, ((tune_bounds, "SPREAD", 0.3),)),
    "twice as many steps": ({}, ((tune_bounds, "STEPS", 120),)),
    "half the temperature": ({}, ((tune_bounds, "TEMPERATURE", 0.2),)),
    "twice the temperature": ({}, ((tune_bounds, "TEMPERATURE", 0.8),)),
    "more shrinkage of precisions": ({}, ((candidates, "PRIOR_SAMPLES", 10.0),)),
    "no class weights": ({"class_weight": None}, ()),
}


# Datasets of at most three classes, and time limit in seconds of the exact selection.
FEW_CLASSES = ["australian", "bupa", "pima", "sonar", "wine"]
TIME_LIMIT = 3.0


def _select_fewest_errors(self, most):
    """Replace `RuleSelection.search`: select the rules with the fewest errors, and one for every class."""
    found = find_fewest_errors(self.samples, self.candidates, most, TIME_LIMIT)
    self.rules = found.selected.tolist()
    proofs.append(found.errors == found.bound)
    classes = self.candidates.classes
    for rule in self.best_of_each_class():
        if classes[rule] not in classes[self.rules]:
            self.rules.append(rule)


proofs = []
EXACT = {
    "greedy, with swaps": ({"max_rules": 3}, ()),
    "fewest errors": ({"max_rules": 3}, ((RuleSelection, "search", _select_fewest_errors),)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3, help="number of random splits")
    parser.add_argument("--only", default="", help="variants whose name contains this")
    parser.add_argument("--sets", nargs="+", default=TUNED, help="names of datasets")
    parser.add_argument("--exact", action="store_true", help="compare with the exact selection")
    arguments = parser.parse_args()
    arguments.folds = None
    tables = [load(name) for name in (FEW_CLASSES if arguments.exact else arguments.sets)]
    print(f"{'':<28}balanced  plain  rules  conditions")
    for label, (parameters, changes) in (EXACT if arguments.exact else VARIANTS).items():
        if arguments.only in label:
            with changed(changes):
                means = [measure(table, parameters, arguments) for table in tables]
            print(
                "{:<28}{:8.4f} {:6.4f} {:6.2f} {:11.2f}".format(label, *np.mean(means, axis=0)),
                flush=True,
            )
    if proofs:
        print(f"{sum(proofs)} of {len(proofs)} exact selections are proven optimal")


def measure(table, parameters, arguments):
    """Return the mean results of one dataset."""
    X, y = table.X.to_numpy(float), table.y
    rows = []
    for train, test in folds(table, arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = CompactFRRIClassifier(**parameters, n_jobs=1)
            # Calibration, which `fit` adds, does not change predictions.
            fit._learn(fit._training_table(X[train], y[train]))
        predicted, lengths = fit.predict(X[test]), [len(rule.conditions) for rule in fit.ruleset_]
        rows.append(
            (
                balanced_accuracy(y[test], predicted),
                accuracy(y[test], predicted),
                len(lengths),
                np.mean(lengths),
            )
        )
    return np.mean(rows, axis=0)


if __name__ == "__main__":
    main()

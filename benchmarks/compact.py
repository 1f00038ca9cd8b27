"""Compact FRRI: what each default is worth, and what was tried instead.

    python -m benchmarks.compact                  every default changed, one at a time; nine sets, three splits
    python -m benchmarks.compact --only NAME      variants whose name contains this
    python -m benchmarks.compact --exact          at most 3 rules: added and swapped, or those with most hits

Balanced accuracy is taken fold by fold over the classes present, then averaged over folds, splits and sets.
The nine sets are those that the defaults were chosen on (`benchmarks/small_rulesets.py`).
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


def _nothing(_self):
    """In the place of a step that is left out."""


VARIANTS = {
    "default": ({}, ()),
    "the nearest enemy": ({"kth_neighbor": 1}, ()),
    "third nearest enemy": ({"kth_neighbor": 3}, ()),
    "eighth nearest enemy": ({"kth_neighbor": 8}, ()),
    "radius .25": ({"radius_factor": 0.25}, ()),
    "radius .6": ({"radius_factor": 0.6}, ()),
    "radius .75": ({"radius_factor": 0.75}, ()),
    "share of enemies .1": ({"max_impurity": 0.1}, ()),
    "share of enemies .5": ({"max_impurity": 0.5}, ()),
    "support .01": ({"min_support": 0.01}, ()),
    "support .06": ({"min_support": 0.06}, ()),
    "3 sides": ({"max_conditions": 3}, ()),
    "free attributes": ({}, ((classifier, "PRICE", 0.0),)),
    "attributes twice as dear": ({}, ((classifier, "PRICE", 0.004),)),
    "no swaps": ({}, ((RuleSelection, "_swap", _nothing),)),
    "no trimming": ({}, ((RuleSelection, "_trim", _nothing),)),
    "sides stay": ({}, ((tune_bounds, "STEPS", 0),)),
    "sides move half as far": ({}, ((tune_bounds, "SPREAD", 0.075),)),
    "sides move twice as far": ({}, ((tune_bounds, "SPREAD", 0.3),)),
    "twice as many steps": ({}, ((tune_bounds, "STEPS", 120),)),
    "half the temperature": ({}, ((tune_bounds, "TEMPERATURE", 0.2),)),
    "twice the temperature": ({}, ((tune_bounds, "TEMPERATURE", 0.8),)),
    "smoother precision": ({}, ((candidates, "PRIOR_SAMPLES", 10.0),)),
    "no class weights": ({"class_weight": None}, ()),
}


# Sets of at most three classes, and seconds for the rules with most hits.
FEW_CLASSES = ["australian", "bupa", "pima", "sonar", "wine"]
PATIENCE = 3.0


def _most_hits(self, most):
    """In the place of `RuleSelection.search`: the rules that hit most; every class has one."""
    found = find_fewest_errors(self.samples, self.candidates, most, PATIENCE)
    self.rules = found.selected.tolist()
    proofs.append(found.errors == found.bound)
    classes = self.candidates.classes
    for rule in self.best_of_each_class():
        if classes[rule] not in classes[self.rules]:
            self.rules.append(rule)


proofs = []
EXACT = {
    "added and swapped": ({"max_rules": 3}, ()),
    "most hits": ({"max_rules": 3}, ((RuleSelection, "search", _most_hits),)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=3, help="how many random splits")
    parser.add_argument("--only", default="", help="variants whose name contains this")
    parser.add_argument("--sets", nargs="+", default=TUNED, help="other sets")
    parser.add_argument("--exact", action="store_true", help="the choice with most hits instead")
    arguments = parser.parse_args()
    arguments.folds = None
    tables = [load(name) for name in (FEW_CLASSES if arguments.exact else arguments.sets)]
    print(f"{'':<28}balanced  plain  rules  conditions")
    for label, (parameters, changes) in (EXACT if arguments.exact else VARIANTS).items():
        if arguments.only in label:
            with changed(changes):
                means = [measured(table, parameters, arguments) for table in tables]
            print(
                "{:<28}{:8.4f} {:6.4f} {:6.2f} {:11.2f}".format(label, *np.mean(means, axis=0)),
                flush=True,
            )
    if proofs:
        print(f"{sum(proofs)} of {len(proofs)} choices with most hits are proved")


def measured(table, parameters, arguments):
    """Mean figures of one set."""
    X, y = table.X.to_numpy(float), table.y
    rows = []
    for train, test in folds(table, arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = CompactFRRIClassifier(**parameters, n_jobs=1)
            fit._learn(fit._training_table(X[train], y[train]))  # trust changes no answer
        said, lengths = fit.predict(X[test]), [len(rule.conditions) for rule in fit.ruleset_]
        rows.append(
            (
                balanced_accuracy(y[test], said),
                accuracy(y[test], said),
                len(lengths),
                np.mean(lengths),
            )
        )
    return np.mean(rows, axis=0)


if __name__ == "__main__":
    main()

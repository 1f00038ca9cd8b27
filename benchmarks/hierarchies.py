"""Accuracy of smaller rule sets: merged rules (hierarchies) and the rules with the most coverage, on the 18 datasets.

    python -m benchmarks.hierarchies [FOLDS]

The first FOLDS of ten folds are measured (default: all). Every rule set is reduced to fractions of its size, by
merging rules and by keeping the rules that newly cover the most training rows. Where merging ends earlier, both have
the size at which it ends. Columns: mean number of rules, then balanced accuracy on test rows and conditions per rule,
for merged and for kept rules.
"""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from frri import FRRIClassifier, FURIAClassifier, RIPPERClassifier, RuleSet
from frri.compare.datasets import NAMES, load
from frri.compare.run import assign_folds
from frri.rules.measures import balanced_accuracy

FRACTIONS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.0)
LEARNERS = {
    "FRRI": lambda: FRRIClassifier(work_limit=5_000),
    "FURIA": lambda: FURIAClassifier(random_state=0),
    "RIPPER": lambda: RIPPERClassifier(random_state=0),
}


def order_by_coverage(ruleset: RuleSet, covers: np.ndarray) -> tuple[Sequence[int], Sequence[int]]:
    """Return the rules in the order in which they are added, and the rules that are always kept."""
    n_rules = len(ruleset)
    if ruleset.combination == "first":
        last = n_rules > 0 and not ruleset[n_rules - 1].conditions
        return range(n_rules - last), range(n_rules - last, n_rules)
    left, order = list(range(n_rules)), []
    uncovered = np.ones(len(covers), dtype=bool)
    while left:
        gains = covers[uncovered][:, left].sum(axis=0)
        if not gains.any():
            break
        order.append(left.pop(int(gains.argmax())))
        uncovered &= ~covers[:, order[-1]]
    return [*order, *left], ()


def main(folds=10):
    for name, make in LEARNERS.items():
        rows = np.array(
            [
                np.mean([_measure(make(), data, fold) for fold in range(folds)], axis=0)
                for data in map(load, NAMES)
            ]
        )
        print(f"{name:<10}{'rules':>8}{'merged':>9}{'conditions':>12}{'kept':>9}{'conditions':>12}")
        for fraction, row in zip(FRACTIONS, rows.mean(axis=0), strict=True):
            label = f"{fraction:.0%}" if fraction else "fewest"
            print(
                f"{label:<10}{row[0]:>8.1f}{row[1]:>9.3f}{row[2]:>12.2f}{row[3]:>9.3f}{row[4]:>12.2f}"
            )
        sys.stdout.flush()


def _measure(model, data, fold):
    """Return a row for each fraction: rules, then accuracy and conditions of merged and of kept rules."""
    X, y = data.X.to_numpy(), data.y
    test = assign_folds(data, 10, 0) == fold
    train = X[~test], y[~test]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rules = model.fit(*train).ruleset_
    tree = rules.hierarchy(*train)
    order, always = order_by_coverage(rules, rules.covers(train[0]))
    rows = []
    for fraction in FRACTIONS:
        size = max(tree.sizes[0], round(fraction * len(rules)))
        kept = sorted([*order[: size - len(always)], *always])
        row = [size]
        for smaller in (tree.cut(size), replace(rules, rules=tuple(rules[r] for r in kept))):
            row += [
                balanced_accuracy(y[test], smaller.predict(X[test])),
                np.mean([len(rule.conditions) for rule in smaller]),
            ]
        rows.append(row)
    return rows


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""How accuracy falls as rulesets shrink: hierarchies cut and the rules that cover most, on the 18 sets.

    python -m benchmarks.hierarchies [FOLDS]

Of ten folds the first FOLDS are measured, by default all. Every ruleset is cut to shares of its size,
once by merging its rules and once by keeping those that newly cover most training objects; where merging
ends earlier, both keep as many rules as it leaves. Columns have the mean number of rules, then balanced
accuracy on test objects, and conditions per rule, of both.
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

SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.0)
LEARNERS = {
    "FRRI": lambda: FRRIClassifier(work_limit=5_000),
    "FURIA": lambda: FURIAClassifier(random_state=0),
    "RIPPER": lambda: RIPPERClassifier(random_state=0),
}


def order_by_coverage(ruleset: RuleSet, covers: np.ndarray) -> tuple[Sequence[int], Sequence[int]]:
    """Return the rules in the order in which they are added, and those that are always there."""
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
                np.mean([_curve(make(), data, fold) for fold in range(folds)], axis=0)
                for data in map(load, NAMES)
            ]
        )
        print(f"{name:<10}{'rules':>8}{'merged':>9}{'conditions':>12}{'kept':>9}{'conditions':>12}")
        for share, row in zip(SHARES, rows.mean(axis=0), strict=True):
            label = f"{share:.0%}" if share else "fewest"
            print(
                f"{label:<10}{row[0]:>8.1f}{row[1]:>9.3f}{row[2]:>12.2f}{row[3]:>9.3f}{row[4]:>12.2f}"
            )
        sys.stdout.flush()


def _curve(model, data, fold):
    """A row for each share: rules, then accuracy and conditions of merged and of kept ones."""
    X, y = data.X.to_numpy(), data.y
    test = assign_folds(data, 10, 0) == fold
    train = X[~test], y[~test]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rules = model.fit(*train).ruleset_
    tree = rules.hierarchy(*train)
    order, always = order_by_coverage(rules, rules.covers(train[0]))
    rows = []
    for share in SHARES:
        size = max(tree.sizes[0], round(share * len(rules)))
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

"""Accuracy of all treatments of missing values by every estimator, compared with an imputer on the same folds.

    python -m benchmarks.missing [--quick] [--rows=500] [--learners=A,B] [--docs=FILE]

Missing values are real (the tables of `benchmarks.messy` that have some) or random, in 5, 10, 20 and 40 % of the
cells of the paper's 18 datasets. At most ROWS rows are sampled from each table; accuracy is the mean of three folds.
The imputer is scikit-learn's SimpleImputer (median, most frequent category) before the same estimator.
"""

import re
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold

from benchmarks import messy
from frri.compare import NAMES
from frri.compare.datasets import load
from frri.learners.registry import LEARNERS

POLICIES = {
    "compact": ("typical", "fails"),
    "additive": ("typical", "fails"),
    "ripper": ("typical", "fails"),
    "furia": ("typical", "fails"),
    "modlem": ("typical", "fails"),
    "frri": ("typical", "similar"),
    "quickrules": ("typical",),
}
FRACTIONS = (0.05, 0.1, 0.2, 0.4)
ROWS, FOLDS = 500, 3
QUICK = ("wine", "heart", "glass", "pima")


def main(learners=tuple(POLICIES), *, rows=ROWS, quick=False, docs=None):
    names, fractions = (QUICK, FRACTIONS[1::2]) if quick else (NAMES, FRACTIONS)
    observed, simulated = find_real(rows), remove_random(names, fractions, rows)
    lines = [*HEAD]
    print("\n".join(HEAD), flush=True)
    for name in learners:
        for row in rows_of(name, observed, simulated):
            lines.append(row)
            print(row, flush=True)
    if docs:
        write_table(Path(docs), "missing", "\n".join(lines))


HEAD = (
    "| model | missing | 5 % | 10 % | 20 % | 40 % | real | difference to imputer | worst dataset | below majority |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
)


def rows_of(name, observed, simulated):
    """Yield one row of the table for each treatment of missing values, then one for the imputer."""
    tables = {**simulated, **{(key, None): table for key, table in observed.items()}}
    majority = {
        key: np.unique(y, return_counts=True)[1].max() / len(y) for key, (_, y) in tables.items()
    }
    default = LEARNERS[name].make().missing
    measured = {
        policy: {key: accuracy(name, policy, *table) for key, table in tables.items()}
        for policy in (*POLICIES[name], "imputer")
    }
    for policy, accuracies in measured.items():
        by_fraction = defaultdict(list)
        for (_, fraction), score in accuracies.items():
            by_fraction[fraction].append(score)
        cells = [
            f"{np.mean(by_fraction[s]):.3f}" if s in by_fraction else "" for s in (*FRACTIONS, None)
        ]
        gain = {key: accuracies[key] - measured["imputer"][key] for key in accuracies}
        worst = min(gain, key=gain.get)
        removed = "" if worst[1] is None else f", {worst[1]:.0%}"
        below = [key for key in accuracies if accuracies[key] < majority[key]]
        against = (
            ("", "")
            if policy == "imputer"
            else (
                f"{np.mean(list(gain.values())):+.4f}",
                f"{gain[worst]:+.3f} ({worst[0]}{removed})",
            )
        )
        mark = f"**{policy}**" if policy == default else policy
        cells = [name, mark, *cells, *against, f"{len(below)} of {len(accuracies)}"]
        yield f"| {' | '.join(cells)} |"


def accuracy(name, policy, X, y):
    """Return the cross-validated accuracy of an estimator."""
    learner = LEARNERS[name].make()
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    if policy != "imputer":
        learner.set_params(missing=policy)
    n_correct = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
            train_part, test_part = X.iloc[train], X.iloc[test]
            if policy == "imputer":
                train_part, test_part = impute(train_part, test_part)
            n_correct += (learner.fit(train_part, y[train]).predict(test_part) == y[test]).sum()
    return n_correct / len(y)


def impute(train_part, test_part):
    """Impute the missing values of two tables by the medians and most frequent categories of the first."""
    train_part, test_part = train_part.copy(), test_part.copy()
    for column in train_part:
        numeric = train_part[column].dtype.kind in "iuf"
        if train_part[column].isna().all() or not (numeric or train_part[column].dtype == object):
            continue
        for table in (train_part, test_part):
            table[column] = table[column].where(table[column].notna(), np.nan if numeric else None)
        imputer = SimpleImputer(
            missing_values=np.nan if numeric else None,
            strategy="median" if numeric else "most_frequent",
        )
        imputer.fit(train_part[[column]])
        for table in (train_part, test_part):
            table[column] = imputer.transform(table[[column]])[:, 0]
    return train_part, test_part


def remove_random(names, fractions, rows):
    """Return samples of the paper's datasets with missing values in random cells."""
    found = {}
    for name in names:
        table = load(name)
        X, y = sample(table.X, table.y, rows)
        for fraction in fractions:
            random = np.random.default_rng(round(1000 * fraction))
            found[name, fraction] = X.mask(random.random(X.shape) < fraction), y
    return found


def find_real(rows):
    """Return samples of the tables of `benchmarks.messy` that have missing values."""
    found = {}
    for table in messy.TABLES:
        X, y = table.training()
        if X.isna().any(axis=None):
            found[table.name] = sample(X, y, rows)
    return found


def sample(X, y, n_rows):
    """Sample rows, without classes that have fewer rows than there are folds."""
    kept = np.sort(np.random.default_rng(0).permutation(len(y))[:n_rows])
    labels, counts = np.unique(y[kept], return_counts=True)
    kept = kept[np.isin(y[kept], labels[counts >= FOLDS])]
    return X.iloc[kept].reset_index(drop=True), y[kept]


def write_table(page, name, table):
    """Write a table between the comments of a page with its name."""
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    pattern = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
    page.write_text(pattern.sub(lambda _: f"{begin}{table}\n{end}", text), encoding="utf-8")


if __name__ == "__main__":
    options = dict(a.removeprefix("--").split("=") for a in sys.argv[1:] if "=" in a)
    chosen = options["learners"].split(",") if "learners" in options else tuple(POLICIES)
    main(
        chosen,
        rows=int(options.get("rows", ROWS)),
        quick="--quick" in sys.argv,
        docs=options.get("docs"),
    )

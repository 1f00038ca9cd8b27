"""What a missing value had better count as: every learner's policies beside an imputer, on the same folds.

    python -m benchmarks.missing [--quick] [--rows=500] [--learners=A,B] [--docs=FILE]

Gaps are real (the tables of `benchmarks.messy` that have some) or made at random in 5, 10, 20 and 40 % of the
cells of the paper's eighteen sets. Of each table so many rows are drawn; accuracy is that of three
folds. The imputer is scikit-learn's SimpleImputer (median, commonest category) before the same learner.
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
SHARES = (0.05, 0.1, 0.2, 0.4)
ROWS, FOLDS = 500, 3
QUICK = ("wine", "heart", "glass", "pima")


def main(learners=tuple(POLICIES), *, rows=ROWS, quick=False, docs=None):
    names, shares = (QUICK, SHARES[1::2]) if quick else (NAMES, SHARES)
    real, made = real_gaps(rows), random_gaps(names, shares, rows)
    lines = [*HEAD]
    print("\n".join(HEAD), flush=True)
    for name in learners:
        for row in rows_of(name, real, made):
            lines.append(row)
            print(row, flush=True)
    if docs:
        written(Path(docs), "missing", "\n".join(lines))


HEAD = (
    "| learner | a gap | 5 % | 10 % | 20 % | 40 % | real gaps | against the imputer | worst set | below majority |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
)


def rows_of(name, real, made):
    """The lines of a learner: one per policy, then the imputer's."""
    tables = {**made, **{(key, None): table for key, table in real.items()}}
    always = {
        key: np.unique(y, return_counts=True)[1].max() / len(y) for key, (_, y) in tables.items()
    }
    default = LEARNERS[name].make().missing
    reached = {
        policy: {key: accuracy(name, policy, *table) for key, table in tables.items()}
        for policy in (*POLICIES[name], "imputer")
    }
    for policy, figures in reached.items():
        by_share = defaultdict(list)
        for (_, share), figure in figures.items():
            by_share[share].append(figure)
        cells = [f"{np.mean(by_share[s]):.3f}" if s in by_share else "" for s in (*SHARES, None)]
        gain = {key: figures[key] - reached["imputer"][key] for key in figures}
        worst = min(gain, key=gain.get)
        gaps = "" if worst[1] is None else f", {worst[1]:.0%}"
        below = [key for key in figures if figures[key] < always[key]]
        against = (
            ("", "")
            if policy == "imputer"
            else (f"{np.mean(list(gain.values())):+.4f}", f"{gain[worst]:+.3f} ({worst[0]}{gaps})")
        )
        mark = f"**{policy}**" if policy == default else policy
        cells = [name, mark, *cells, *against, f"{len(below)} of {len(figures)}"]
        yield f"| {' | '.join(cells)} |"


def accuracy(name, policy, X, y):
    """The share of rows that a learner gets right in three folds."""
    learner = LEARNERS[name].make()
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    if policy != "imputer":
        learner.set_params(missing=policy)
    right = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
            known, asked = X.iloc[train], X.iloc[test]
            if policy == "imputer":
                known, asked = imputed(known, asked)
            right += (learner.fit(known, y[train]).predict(asked) == y[test]).sum()
    return right / len(y)


def imputed(known, asked):
    """Both tables with the gaps filled as the first one says."""
    known, asked = known.copy(), asked.copy()
    for column in known:
        numeric = known[column].dtype.kind in "iuf"
        if known[column].isna().all() or not (numeric or known[column].dtype == object):
            continue
        for table in (known, asked):
            table[column] = table[column].where(table[column].notna(), np.nan if numeric else None)
        imputer = SimpleImputer(
            missing_values=np.nan if numeric else None,
            strategy="median" if numeric else "most_frequent",
        )
        imputer.fit(known[[column]])
        for table in (known, asked):
            table[column] = imputer.transform(table[[column]])[:, 0]
    return known, asked


def random_gaps(names, shares, rows):
    """The paper's sets, some cells of which are empty."""
    found = {}
    for name in names:
        table = load(name)
        X, y = drawn(table.X, table.y, rows)
        for share in shares:
            lots = np.random.default_rng(round(1000 * share))
            found[name, share] = X.mask(lots.random(X.shape) < share), y
    return found


def real_gaps(rows):
    """Tables of people that have gaps: numbers, and texts of which gaps are None."""
    found = {}
    for table in messy.TABLES:
        X, y = table.training()
        if X.isna().any(axis=None):
            found[table.name] = drawn(X, y, rows)
    return found


def drawn(X, y, rows):
    """At most so many rows, without classes that have fewer rows than there are folds."""
    kept = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
    labels, counts = np.unique(y[kept], return_counts=True)
    kept = kept[np.isin(y[kept], labels[counts >= FOLDS])]
    return X.iloc[kept].reset_index(drop=True), y[kept]


def written(page, name, table):
    """Put a table between the comments of a page that bear its name."""
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

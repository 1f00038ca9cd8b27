"""Time of predictions: 1,000,000 rows with 100 rules, compared with a tree and a forest; mixed data; single rows."""

import warnings

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.timing import best
from frri import Attribute, FRRIClassifier, NominalCondition, NumericCondition, Rule, RuleSet


def main():
    _compare_models()
    _mixed()
    _single_rows()


def _compare_models():
    X, y = make_classification(
        1_000_000, 10, n_informative=6, n_redundant=2, flip_y=0.02, random_state=3
    )
    rows = slice(0, 1700)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = FRRIClassifier().fit(X[rows], y[rows])
    tree = DecisionTreeClassifier(random_state=0).fit(X[rows], y[rows])
    forest = RandomForestClassifier(100, random_state=0, n_jobs=-1).fit(X[rows], y[rows])
    conditions = sum(len(rule.conditions) for rule in clf.ruleset_)
    uncovered = np.mean(clf.ruleset_.scores(X[:100_000]).max(axis=1) <= 0)
    clf.predict(X)  # loads or compiles the kernel
    print(
        f"{len(clf.ruleset_)} rules with {conditions} conditions, {uncovered:.1%} of the rows uncovered;"
    )
    print(f"tree with {tree.get_n_leaves()} leaves; forest of 100 trees on all cores")
    models = {"frri": clf, "tree": tree, "forest": forest}
    seconds = {
        name: best(lambda model=model: model.predict(X), 1 if name == "forest" else 5)
        for name, model in models.items()
    }
    for name, model in models.items():
        score = np.mean(model.predict(X[:20_000]) == y[:20_000])
        print(f"{name:<8}{seconds[name]:.3f} s, accuracy {score:.3f}")
    print(f"frri / tree: {seconds['frri'] / seconds['tree']:.2f} (target: at most 1.0)")
    print(f"frri / forest: {seconds['frri'] / seconds['forest']:.3f} (target: at most 0.1)")


def _artificial_model(n_rules, n_columns, *, nominal, missing, seed=0):
    """Return artificial rules around points of the unit cube; the last column may have six categories."""
    rng = np.random.default_rng(seed)
    numbers = n_columns - nominal
    table = [Attribute(f"a{j}", 0.0, 1.0, typical=0.5) for j in range(numbers)]
    table += [Attribute(f"a{numbers}", categories=tuple("uvwxyz"), typical="v")] * nominal
    rules = []
    for _ in range(n_rules):
        conditions = []
        for j in rng.choice(n_columns, 8, replace=False):
            if j == numbers:
                conditions.append(NominalCondition(f"a{j}", frozenset("uvwxyz"[rng.integers(6)])))
                continue
            centre = rng.random()
            bounds = centre + np.array([-0.5, -0.2, 0.2, 0.5])
            conditions.append(NumericCondition(f"a{j}", *bounds.tolist()))
        rules.append(Rule(tuple(conditions), int(rng.integers(3)), float(rng.uniform(0.5, 1))))
    return RuleSet(tuple(rules), tuple(table), (0, 1, 2), clip=True, missing=missing)


def _mixed():
    """Measure the same rows with numeric columns only, with a nominal column, and with missing values."""
    rng = np.random.default_rng(1)
    matrix = rng.random((50_000, 30))
    mixed = matrix.copy()
    mixed[:, -1] = rng.integers(-1, 6, len(mixed))
    is_missing = rng.random(matrix.shape) < 0.05
    with_missing, both = (np.where(is_missing, np.nan, values) for values in (matrix, mixed))
    tasks = {
        name: (_artificial_model(1010, 30, nominal=nominal, missing=missing), values)
        for name, nominal, missing, values in (
            ("numeric only", False, "typical", matrix),
            ("one nominal column", True, "typical", mixed),
            ("5 % missing, imputed", False, "typical", with_missing),
            ("5 % missing, fails", False, "fails", with_missing),
            ("5 % missing, similar", False, "similar", with_missing),
            ("nominal and missing", True, "typical", both),
        )
    }
    seconds = dict.fromkeys(tasks, np.inf)
    for _ in range(6):  # in turns; the first loads or compiles the kernel
        for name, (ruleset, values) in tasks.items():
            once = best(lambda r=ruleset, v=values: r.predict_index(v), 1)
            seconds[name] = min(seconds[name], once)
    for name, found in seconds.items():
        ratio = found / seconds["numeric only"]
        print(
            f"50,000 x 30, 1,010 rules, {name:<22}{found:.3f} s, {ratio:.2f} x numeric only "
            "(target: at most 1.3)"
        )


def _single_rows():
    """Measure the prediction of one row by a loaded model, for every type of input."""
    ruleset = RuleSet.from_json(
        _artificial_model(100, 10, nominal=True, missing="typical").to_json()
    )
    names = [attribute.name for attribute in ruleset.attributes]
    values = [*np.random.default_rng(2).random(9).tolist(), "w"]
    array = np.array([values], dtype=object)
    frame = pd.DataFrame([dict(zip(names, values, strict=True))])
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.random((300, 9)), columns=names[:9])
    X[names[9]] = rng.choice([*"uvwxyz"], 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = FRRIClassifier().fit(X, (X["a0"] + X["a1"] + rng.normal(0, 0.2, 300) > 1).astype(int))
    one, numbers = X.iloc[[0]], rng.random((300, 9))
    plain = FRRIClassifier().fit(numbers, (numbers[:, :2].sum(axis=1) > 1).astype(int))
    for name, work in (
        ("RuleSet, dict", lambda: ruleset.predict(dict(zip(names, values, strict=True)))),
        ("RuleSet, list of lists", lambda: ruleset.predict([values])),
        ("RuleSet, array", lambda: ruleset.predict(array)),
        ("RuleSet, data frame", lambda: ruleset.predict(frame)),
        (f"estimator, {len(plain.ruleset_)} rules, array", lambda: plain.predict(numbers[:1])),
        (f"estimator, {len(clf.ruleset_)} rules, data frame", lambda: clf.predict(one)),
    ):
        work()
        seconds = min(best(lambda w=work: [w() for _ in range(100)]) / 100, best(work))
        print(f"one row, {name:<34}{1e3 * seconds:.3f} ms (target: 0.3)", flush=True)

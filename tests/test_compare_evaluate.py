"""One cell: metrics, sizes, folds, and failures of estimators."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet
from frri.compare import METRICS, Dataset, dataset, learner, load, metric
from frri.compare.evaluate import (
    FULL,
    Outcome,
    Task,
    clone_with_seed,
    describe_estimator,
    evaluate,
    measure_size,
    select_metrics,
)
from frri.compare.run import assign_folds, describe_small_classes

WINE = load("wine")


def cell_of(estimator, fold=0, data=WINE, n_folds=5):
    folds = assign_folds(data, n_folds, seed=0)
    names = [metric(name) for name in METRICS]
    return evaluate(data, folds, estimator, Task(data.name, "learner", fold), names, seed=0)


def test_scores_agree_with_scikit_learn():
    folds = assign_folds(WINE, 5, seed=0)
    cell = cell_of(KNeighborsClassifier(), fold=2)
    train, test = folds != 2, folds == 2
    model = KNeighborsClassifier().fit(WINE.X[train], WINE.y[train])
    truth, predicted = WINE.y[test], model.predict(WINE.X[test])
    scores = cell["scores"]
    assert scores["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, predicted))
    assert scores["accuracy"] == pytest.approx((truth == predicted).mean())
    assert scores["macro_f1"] == pytest.approx(f1_score(truth, predicted, average="macro"))
    chances = model.predict_proba(WINE.X[test])
    assert scores["auroc"] == pytest.approx(roc_auc_score(truth, chances, multi_class="ovr"))
    assert scores["rules"] is scores["conditions"] is None
    assert sum(hits for hits, _ in cell["recalls"].values()) == (truth == predicted).sum()
    assert cell["cost"]["fit_seconds"] > 0
    json.dumps(cell)


def test_classes_absent_from_a_fold_or_from_training():
    model = DummyClassifier().fit([[0], [0]], ["a", "b"])
    truth, predicted = np.array(["a", "a", "c"]), np.array(["a", "b", "b"])
    outcome = Outcome(model, truth, predicted, np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]))
    assert metric("balanced_accuracy").function(outcome) == 0.25
    # Class a is ranked correctly in one of two cases; class c, which never occurs, is at chance level.
    assert metric("auroc").function(outcome) == pytest.approx((0.5 + 0.5) / 2)
    alone = Outcome(model, truth[:2], predicted[:2], outcome.probabilities[:2])
    assert metric("auroc").function(alone) is None


def test_rules_are_counted_in_three_ways():
    rules = RuleSet(
        rules=(
            Rule((NumericCondition("a", 0, 1, 2, 3), NominalCondition("b", frozenset("x"))), "p"),
            Rule((NumericCondition.below("a", 5), NumericCondition("a", 1, 2)), "p"),
            Rule((), "q"),
        ),
        attributes=(Attribute("a", 0, 9), Attribute("b", categories=("x", "y"))),
        classes=("p", "q"),
    )

    class Model:
        ruleset_ = rules

    size = measure_size(Model())
    assert (size.conditions, size.attributes, size.bounds) == ((2, 2, 0), (2, 1, 0), (3, 2, 0))
    assert size.rules == 3
    assert (size.mean("conditions"), size.mean("attributes"), size.mean("bounds")) == (2, 1.5, 2.5)


def test_leaves_of_trees_are_rules():
    X, y = WINE.X, WINE.y
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    size = measure_size(
        make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)).fit(X, y)
    )
    assert size.rules == tree.get_n_leaves()
    assert max(size.conditions) == tree.get_depth()
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    assert measure_size(forest).rules == sum(t.get_n_leaves() for t in forest.estimators_)


def test_a_model_of_all_objects_has_sizes_only():
    cell = cell_of(DecisionTreeClassifier(), fold=FULL)
    assert set(cell["scores"]) == {"rules", "conditions", "attributes", "bounds"}
    assert "recalls" not in cell
    assert cell["lengths"][0] == 0
    assert sum(cell["lengths"]) == cell["scores"]["rules"]


def test_frri_reports_whether_its_selection_is_proven():
    cell = cell_of(learner("frri"))
    assert cell["selection"]["status"] == "optimal"
    assert cell["selection"]["lower_bound"] == cell["scores"]["rules"]
    json.dumps(cell)


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):  # noqa: ARG002
        raise RuntimeError("out of\nluck")


def test_a_learner_that_raises_is_a_result():
    cell = cell_of(Failing())
    assert cell["failure"] == "RuntimeError: out of luck"
    assert "scores" not in cell


def test_scaling_sees_the_training_part_only():
    seen = {}

    class Recording(DummyClassifier):
        def fit(self, X, y):
            seen["range"] = X.min(), X.max()
            return super().fit(X, y)

    scaler = learner("knn").steps[0][1]
    X = pd.DataFrame({"a": [*range(9), 100.0]})
    data = Dataset("d", X, np.array(["x", "y"] * 5), "c", np.array([0] * 9 + [1]))
    evaluate(data, data.folds, make_pipeline(scaler, Recording()), Task("d", "w", 1), [], 0)
    assert seen["range"] == (0, 1)


def test_seeds_reach_nested_estimators():
    forest = make_pipeline(StandardScaler(), RandomForestClassifier(3))
    assert clone_with_seed(forest, 5).steps[1][1].random_state == 5
    assert describe_estimator(forest) == (
        "Pipeline(steps=[('standardscaler', StandardScaler()), ('randomforestclassifier', "
        "RandomForestClassifier(n_estimators=3))])"
    )
    assert clone_with_seed(learner("ripper"), 3).random_state == 3


def test_folds_that_cannot_be_made_are_refused_with_the_remedy():
    few = dataset(([[i] for i in range(6)], list("aaabbb")), name="few")
    with pytest.raises(ValueError, match=r"no class has 4 members, .* ask for 3 or fewer"):
        assign_folds(few, 4, 0)
    one = dataset(([[1.0], [2.0]], ["a", "a"]), name="one")
    with pytest.raises(ValueError, match="all samples have the same class"):
        assign_folds(one, 2, 0)
    own = Dataset("own", few.X, few.y, "c", np.array([0, 1, 2] * 2))
    assert assign_folds(own, 3, 0) is own.folds
    with pytest.raises(ValueError, match="own comes with 3 folds of its own, not 10"):
        assign_folds(own, 10, 0)


def test_small_classes_are_reported():
    assert "class 'imL' has 2 members" in describe_small_classes(load("ecoli"), 10)
    assert describe_small_classes(WINE, 10) is None


def test_a_metric_that_is_unknown_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="no metric 'acuracy'; did you mean 'accuracy'"):
        select_metrics(["acuracy"])

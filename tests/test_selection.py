"""Choosing an estimator, and scores on held-out samples, as a library."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

from frri import (
    AdditiveRulesClassifier,
    AutoRulesClassifier,
    AutoRulesOrdinalClassifier,
    AutoRulesRegressor,
    FRRIClassifier,
    RIPPERClassifier,
    RuleSet,
)
from frri.cli import main
from frri.learners import calibration
from frri.rules.measures import evaluation_of
from frri.selection import Holdout, HoldoutResult, find_leakage
from frri.selection import holdout as holdout_module
from frri.selection.auto import (
    BUDGET,
    CANDIDATES,
    REFERENCES,
    choose_result,
    expected_seconds,
    plan,
)
from frri.selection.holdout import METRICS

X, Y = load_iris(return_X_y=True)


class Refusing(BaseEstimator):
    """An estimator that accepts no table."""

    def fit(self, *_):
        raise ValueError("no")


# Few rules and folds are enough.
FEW = {"max_rules": 2, "references": False, "cv": 2}


@parametrize_with_checks(
    [
        AutoRulesClassifier(estimators=["ripper", "additive"], **FEW),
        AutoRulesRegressor(estimators=["additive"], **FEW),
        AutoRulesOrdinalClassifier(estimators=["additive"], **FEW),
    ]
)
@pytest.mark.usefixtures("_short_paths")
@pytest.mark.filterwarnings("ignore:All samples have the class")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_weights_are_repetitions_for_all_candidates():
    model = AutoRulesClassifier(references=False)
    check_sample_weight_equivalence_on_dense_data("AutoRulesClassifier", model)


def test_arrays_lists_and_frames_are_split_alike():
    results = [
        Holdout(table, labels, cv=3).evaluate(RIPPERClassifier(random_state=0))
        for table, labels in ((X, Y), (X.tolist(), Y.tolist()), (pd.DataFrame(X), pd.Series(Y)))
    ]
    for result in results:
        assert result.predictions.tolist() == results[0].predictions.tolist()
        assert result.fold.tolist() == results[0].fold.tolist()
        assert result.score == pytest.approx((result.truth == result.predictions).mean())


def test_every_sample_is_held_out_once_or_a_fraction_of_them():
    tested = [test for _, test in Holdout(X, Y).splits]
    assert sorted(np.concatenate(tested)) == list(range(150))
    assert len(tested) == 5
    ((train, test),) = Holdout(X, Y, test_size=0.3).splits
    assert (len(train), len(test)) == (105, 45)


def test_splits_can_be_given():
    weight = np.where(np.arange(150) < 10, 0.0, 1.0)
    splitter = KFold(3, shuffle=True, random_state=1)
    for cv in (splitter, list(splitter.split(X))):
        holdout = Holdout(X, Y, sample_weight=weight, cv=cv)
        for (train, test), given in zip(holdout.splits, splitter.split(X), strict=True):
            assert [(part + 10).tolist() for part in (train, test)] == [
                part[part >= 10].tolist() for part in given
            ]


def test_of_a_large_table_a_sample_is_split(monkeypatch):
    monkeypatch.setattr(holdout_module, "MAX_SAMPLES", 100)
    weight = np.where(np.arange(150) % 10 == 0, 0.0, 1.0)
    few = Holdout(X, Y, sample_weight=weight)
    assert few.X.shape == (100, 4)
    assert len(few.sample_weight) == 100
    assert few.sample_weight.all()
    assert len(Holdout(X, Y, cv=5).y) == 150


@pytest.mark.parametrize("options", [{}, {"test_size": 0.25}, {"cv": 3}, {"task": "regression"}])
def test_groups_are_held_out_together(options):
    groups = np.arange(150) // 7
    splits = Holdout(X, Y, groups=groups, **options).splits
    assert len(splits) == (1 if "test_size" in options else options.get("cv", 5))
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == 150
    assert "fewer than 5 groups" in Holdout(X, Y, groups=np.arange(150) % 4).reason


def test_samples_without_weight_are_left_out_and_others_count():
    weight = np.where(Y == 2, 0.0, 1.0 + (Y == 1))
    holdout = Holdout(X, Y, sample_weight=weight)
    assert set(holdout.y) == {0, 1}
    result = holdout.evaluate(FRRIClassifier())
    assert result.baseline == ("1", pytest.approx(2 / 3))
    assert result.score == pytest.approx(
        np.average(result.truth == result.predictions, weights=1.0 + (result.truth == 1))
    )


@pytest.mark.parametrize(
    ("n", "options", "reason"),
    [
        (18, {}, "only 18 rows"),
        (150, {"cv": 60}, "no class has 60 rows"),
        (4, {"cv": 5, "task": "regression"}, "there are fewer than 5 rows"),
        (60, {"test_size": 0.001}, "a test set of 0.001 of 60 rows leaves too few"),
    ],
)
def test_a_table_that_cannot_be_split_has_a_reason(n, options, reason):
    rows = np.linspace(0, 149, n).astype(int)
    holdout = Holdout(X[rows], Y[rows], **options)
    assert holdout.splits == []
    assert reason in holdout.reason


def test_one_class_is_not_split_without_a_reason():
    holdout = Holdout(X[:40], Y[:40])
    assert (holdout.splits, holdout.reason) == ([], "")


def test_no_split_is_begun_after_the_deadline():
    assert Holdout(X, Y).evaluate(FRRIClassifier(), deadline=0.0) is None


def test_a_candidate_that_cannot_win_is_given_up():
    holdout = Holdout(X, Y)
    leader = holdout.evaluate(AdditiveRulesClassifier(max_rules=4))
    weak = holdout.evaluate(AdditiveRulesClassifier(max_rules=1), leader=leader)
    assert weak.fold.max() < 4
    assert weak.is_hopeless(leader)
    assert not leader.is_hopeless(weak)
    again = holdout.evaluate(AdditiveRulesClassifier(max_rules=4), leader=leader)
    assert again.predictions.tolist() == leader.predictions.tolist()


def test_the_choice_is_fitted_to_all_samples_and_has_its_score():
    model = AutoRulesClassifier(max_rules=4).fit(X, Y)
    assert model.best_name_ == "additive"
    alone = AdditiveRulesClassifier(max_rules=4).fit(X, Y)
    assert model.predict_proba(X).tolist() == alone.predict_proba(X).tolist()
    board = {one["name"]: one for one in model.leaderboard_}
    assert set(board) == {*sum(CANDIDATES["classification"], ()), *REFERENCES}
    assert [*board][-2:] == sorted(REFERENCES, key=lambda name: -board[name]["score"])
    result = Holdout(X, Y).evaluate(AdditiveRulesClassifier(max_rules=4))
    known = evaluation_of(model.ruleset_)
    assert known["score"] == board["additive"]["score"] == result.score
    assert known["leaderboard"] == model.leaderboard_
    assert board["additive"]["conditions"] == result.n_conditions
    assert RuleSet.from_json(model.ruleset_.to_json()).about["evaluation"]["folds"] == 5
    matrix = metrics.confusion_matrix(
        result.truth, result.predictions, labels=model.ruleset_.classes
    )
    expected = [[*cell, int(n)] for cell, n in np.ndenumerate(matrix) if n]
    assert known["confusion"] == expected


def test_the_command_and_the_estimator_are_the_same(tmp_path, capsys):
    data = load_breast_cancer(as_frame=True)
    frame = data.frame.iloc[::6, [*range(4), -1]].rename(
        columns=lambda name: name.replace(" ", "_")
    )
    frame.to_csv(tmp_path / "x.csv", index=False)
    model = str(tmp_path / "m.json")
    options = ["--metric", "balanced_accuracy", "--groups", "mean_radius", "--seed", "3"]
    fit = ["fit", str(tmp_path / "x.csv"), "--target", "target", "-o", model]
    assert main([*fit, *options]) == 0
    frame = pd.read_csv(tmp_path / "x.csv")
    features = frame.drop(columns=["target", "mean_radius"])
    one = AutoRulesClassifier(metric="balanced_accuracy", random_state=3)
    one.fit(features, frame["target"], groups=frame["mean_radius"])
    written, known = RuleSet.load(model), one.ruleset_
    assert written.rules == known.rules
    assert written.about["evaluation"] == known.about["evaluation"]
    assert "balanced accuracy 0." in capsys.readouterr().err
    assert "mean_radius" not in {a.name for a in written.attributes}


def test_without_splits_the_choice_is_frri_or_additive_rules():
    few = AutoRulesClassifier().fit(X[::10], Y[::10])
    assert (few.best_name_, few.holdout_result_, few.reason_) == ("frri", None, "only 15 rows")
    assert few.leaderboard_ == []
    assert AutoRulesClassifier(cv=0).fit(X, Y).best_name_ == "additive"
    numbers = AutoRulesRegressor().fit(X[::15], X[::15, 0])
    assert numbers.best_name_ == "additive"


def test_a_time_limit_leaves_the_first_candidate_or_those_that_were_evaluated():
    model = AutoRulesClassifier(time_limit=0).fit(X, Y)
    assert (model.best_name_, model.reason_) == ("ripper", "the time limit was reached")
    assert "evaluation" not in model.ruleset_.about
    with pytest.warns(UserWarning, match="was stopped by `time_limit`"):
        one = AutoRulesClassifier(estimators=["frri"], time_limit=1e-9).fit(X, Y)
    assert one.best_estimator_.time_limit == 0.0
    assert one.leaderboard_ == []
    with pytest.raises(ValueError, match="time_limit must be None or a number from 0 on, got -1"):
        AutoRulesClassifier(time_limit=-1).fit(X, Y)


def test_estimators_that_fail_are_left_out_of_a_comparison():
    both = {"no": Refusing(), "yes": RIPPERClassifier(random_state=0)}
    model = AutoRulesClassifier(estimators=both, references=False).fit(X, Y)
    assert [one["name"] for one in model.leaderboard_] == ["yes"]
    with pytest.raises(ValueError, match="None of the estimators a, b can be fitted"):
        AutoRulesClassifier(estimators={"a": Refusing(), "b": Refusing()}).fit(X, Y)


@pytest.mark.parametrize("given", ["ripper", [], {}, ["riper"], 3])
def test_estimators_are_checked(given):
    with pytest.raises(ValueError, match=r"estimators must be|no estimator 'riper'; did you mean"):
        AutoRulesClassifier(estimators=given).fit(X, Y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_rules": 0}, "max_rules must be an integer from 1 on, got 0"),
        ({"max_conditions": "x"}, "max_conditions must be an integer from 1 on, got 'x'"),
        ({"min_support": 7}, "min_support must be a fraction from 0 to 1, got 7"),
        ({"test_size": np.nan}, "test_size must be a fraction above 0 and below 1, got nan"),
        ({"test_size": "half"}, "test_size must be a fraction above 0 and below 1, got 'half'"),
        ({"cv": -1}, "cv must be an integer from 0 on, got -1"),
        ({"cv": True}, "cv must be an integer from 0 on, got True"),
        ({"cv": 10**30}, "cv must be .* at most, got 10"),
        ({"costs": "balanced"}, "costs must be None or a mapping .*, got 'balanced'"),
        ({"metric": "cost"}, "must come with costs"),
    ],
)
def test_parameters_are_checked_before_anything_is_fitted(parameters, message):
    with pytest.raises(ValueError, match=message):
        AutoRulesClassifier(estimators={"no": Refusing()}, **parameters).fit(X, Y)


def test_groups_must_have_one_entry_for_each_sample():
    with pytest.raises(ValueError, match=r"groups must have one entry .* samples, got 3\."):
        AutoRulesClassifier().fit(X, Y, groups=[1, 2, 3])


def test_intervals_of_a_regression_come_from_held_out_errors():
    X, y = load_diabetes(return_X_y=True)
    model = AutoRulesRegressor(max_rules=3, references=False).fit(X[:200], y[:200])
    low, high = model.predict_interval(X[200:], 0.9).T
    assert ((low <= y[200:]) & (y[200:] <= high)).mean() > 0.8


@pytest.mark.parametrize(
    ("metric", "decision", "n_calibrations"),
    [("accuracy", "accuracy", 0), ("log_loss", "accuracy", 3), ("accuracy", "balanced", 3)],
)
def test_probabilities_are_calibrated_only_if_they_matter(
    metric, decision, n_calibrations, monkeypatch
):
    calls, cross_fit = [], calibration.cross_fit
    monkeypatch.setattr(calibration, "cross_fit", lambda *a: calls.append(a) or cross_fit(*a))
    estimator = RIPPERClassifier(decision=decision, random_state=0)
    holdout = Holdout(X, Y, cv=3, metric=metric)
    found = holdout.evaluate(estimator)
    assert len(calls) == n_calibrations
    assert estimator.calibrate
    expected = [clone(estimator).fit(X[a], Y[a]).predict(X[b]) for a, b in holdout.splits]
    assert found.predictions.tolist() == np.concatenate(expected).tolist()


def test_predictions_follow_the_metric():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::2, :5], y[::2]
    both = {"estimators": ["ripper", "additive"], "references": False}
    costly = AutoRulesClassifier(costs={0: 20}, **both).fit(X, y)
    assert costly.ruleset_.about["evaluation"]["measure"] == "cost"
    assert costly.ruleset_.costs
    plain = AutoRulesClassifier(**both).fit(X, y)
    missed = [int((one.predict(X)[y == 0] == 1).sum()) for one in (costly, plain)]
    assert missed[0] < missed[1]
    with pytest.raises(ValueError, match="costs must come with metric"):
        AutoRulesClassifier(costs={0: 5}, metric="f1").fit(X, y)
    with pytest.raises(ValueError, match="no metric 'acuracy'; did you mean 'accuracy'"):
        AutoRulesClassifier(metric="acuracy").fit(X, y)


def test_the_plan_depends_on_the_size_and_keeps_to_the_budget():
    always, further = CANDIDATES["classification"]
    for size in ((100, 4, 2), (3_000, 20, 3), (20_000, 30, 2), (20_000, 200, 20)):
        known, n_splits = plan(always, further, 5, size)
        assert set(always) <= set(known)
        assert 1 <= n_splits <= 5
        whole = n_splits * sum(known.values()) + max(known[name] for name in always)
        assert whole <= BUDGET or (n_splits == 1 and set(known) == set(always))
        assert known == {name: expected_seconds(name, *size) for name in known}
    assert plan(always, further, 5, (100, 4, 2))[1] == 5


def test_fewer_conditions_are_preferred_among_those_about_as_good_as_the_best():
    def result(n_correct, n_conditions, first=0):
        correct = (np.arange(1000) >= first) & (np.arange(1000) < first + n_correct)
        truth = np.arange(1000) % 2
        predicted = np.where(correct, truth, 1 - truth)
        return HoldoutResult(truth, predicted, np.zeros(1000, int), 9.0, n_conditions)

    best = result(902, 20.0)
    # 2 further correct samples are significant if none is lost; 1 is not if 60 are lost.
    assert choose_result({"a": best, "b": result(900, 4.0)}) == "a"
    assert choose_result({"a": best, "b": result(901, 4.0, first=60)}) == "b"
    assert choose_result({"a": best, "b": result(899, 4.0, first=60)}) == "a"  # above 0.002


def test_additive_rules_lead_unless_another_candidate_is_clearly_better():
    def result(wrong, n_conditions):
        truth = np.arange(1000) % 2
        predicted = np.where(np.isin(np.arange(1000), wrong), 1 - truth, truth)
        return HoldoutResult(truth, predicted, np.zeros(1000, int), 9.0, n_conditions)

    additive = result(range(200), 9.0)
    by_chance, clearly = result(range(100, 292), 20.0), result(range(40, 192), 20.0)
    assert choose_result({"additive": additive, "b": by_chance}) == "additive"
    assert choose_result({"a": additive, "b": by_chance}) == "b"
    assert choose_result({"additive": additive, "b": clearly}) == "b"


def test_where_nothing_beats_the_majority_class_the_simplest_is_chosen():
    truth = np.arange(1000) < 900

    def result(n_wrong, n_conditions):
        predicted = np.arange(1000) >= n_wrong
        return HoldoutResult(truth, predicted, np.zeros(1000, int), 9.0, n_conditions)

    assert not result(0, 18.0).beats_baseline
    assert choose_result({"a": result(0, 18.0), "b": result(4, 2.0)}) == "b"
    assert choose_result({"a": result(0, 18.0), "b": result(6, 2.0)}) == "a"


def test_many_rules_are_not_chosen_if_there_are_fewer():
    X = np.linspace(0, 1, 600)[:, None]
    stripes = (X[:, 0] * 60).astype(int) % 2
    both = {"frri": FRRIClassifier(), "additive": AdditiveRulesClassifier(max_rules=3)}
    model = AutoRulesClassifier(estimators=both, references=False).fit(X, stripes)
    first, second = model.leaderboard_
    assert first["name"] == "frri"
    assert first["rules"] > 40
    assert first["score"] > second["score"] + 0.2
    assert model.best_name_ == "additive"


def test_metrics_are_those_of_scikit_learn():
    generator = np.random.default_rng(0)
    for n_classes in (2, 4):
        true, predicted = generator.integers(n_classes, size=(2, 80))
        shares = generator.dirichlet(np.ones(n_classes), 80)
        weight, costs = generator.random(80), generator.random(n_classes)
        by = {"sample_weight": weight}
        one_hot = np.eye(n_classes)[true]
        expected = {
            "accuracy": metrics.accuracy_score(true, predicted, **by),
            "balanced_accuracy": metrics.balanced_accuracy_score(true, predicted, **by),
            "log_loss": metrics.log_loss(true, shares, **by),
            "roc_auc": metrics.roc_auc_score(one_hot, shares, **by),
            "f1": metrics.f1_score(true, predicted, average="macro", **by),
            "cost": np.average(np.where(true == predicted, 0.0, costs[true]), weights=weight),
        }
        assert set(expected) == set(METRICS["classification"])
        for metric, value in expected.items():
            result = HoldoutResult(
                true,
                predicted,
                np.zeros(80, int),
                1.0,
                sample_weight=weight,
                metric=metric,
                classes=range(n_classes),
                costs=tuple(costs),
                probabilities=shares,
            )
            assert result.score == pytest.approx(value), metric
            low, high = result.plain()["interval"]
            assert low < value < high
            assert result.loss(result) == 0.0


def test_the_jackknife_is_the_standard_error_of_a_mean():
    generator = np.random.default_rng(0)
    errors = []
    for _ in range(30):
        right = generator.random((2, 500)) < np.array([[0.8], [0.7]])
        a, b = (
            HoldoutResult(np.ones(500), one.astype(float), np.zeros(500, int), 1.0) for one in right
        )
        exact = np.std(right[0].astype(float) - right[1]) / np.sqrt(500)
        errors.append(b._error_of_loss(a) / exact)
    assert 0.95 < np.mean(errors) < 1.05


def test_kappa_and_r2_are_those_of_scikit_learn():
    generator = np.random.default_rng(0)
    true, predicted = generator.integers(4, size=(2, 50))
    weight = generator.random(50)

    def result(true, predicted, weight, task):
        known = {"task": task, "metric": next(iter(METRICS[task])), "classes": range(4)}
        fold = np.zeros(len(true), int)
        return HoldoutResult(true, predicted, fold, 1.0, sample_weight=weight, **known)

    kappa = metrics.cohen_kappa_score(true, predicted, weights="quadratic", sample_weight=weight)
    assert result(true, predicted, weight, "ordinal").score == pytest.approx(kappa)
    assert result(true, predicted, weight, "regression").score == pytest.approx(
        metrics.r2_score(true, predicted, sample_weight=weight)
    )
    ordered = np.array([0, 1, 1, 3, 3])
    assert result(ordered, ordered, None, "ordinal").baseline[0] == "1"


def leaking(n):
    """A table with columns that are functions of the target, or are not, and its numbers."""
    generator = np.random.default_rng(0)
    target = generator.random(n)
    frame = pd.DataFrame(
        {
            "age": generator.integers(18, 90, n),
            "scaled": 100 - 3 * target,
            "missing": np.where(target > 0.4, np.nan, 1.0),
            "word": np.where(target > 0.4, "u", np.where(target > 0.2, "v", "w")),
            "noisy": target + generator.normal(0, 0.2, n),
            "constant": 1,
            "empty": np.nan,
        }
    )
    return frame, target


@pytest.mark.parametrize("task", ["classification", "ordinal"])
def test_columns_that_alone_predict_the_class_are_found(task):
    frame, target = leaking(300)
    found = find_leakage(frame, np.where(target > 0.4, "yes", "no"), task=task)
    assert set(found) == {"scaled", "missing", "word"}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert min(found.values()) >= 0.98


def test_columns_that_alone_predict_the_number_are_found():
    frame, target = leaking(300)
    assert list(find_leakage(frame, target, task="regression")) == ["scaled"]


def test_no_leakage_where_nothing_can_be_concluded():
    frame, target = leaking(300)
    assert find_leakage(frame[:49], target[:49] > 0.4) == {}
    assert find_leakage(frame, target > 0.97) == {}  # the majority class is as accurate
    assert find_leakage(frame, np.zeros(300)) == {}
    assert find_leakage(frame[["age", "noisy", "empty"]], target > 0.4) == {}
    many = pd.DataFrame({"name": [f"n{i % 150}" for i in range(300)]})
    assert find_leakage(many, np.arange(300) % 2) == {}
    assert find_leakage(pd.DataFrame(X, columns=list("abcd")), Y) == {}


def test_groups_are_not_split_in_the_search_for_leakage():
    groups = np.repeat(np.arange(30), 20)
    frame, target = pd.DataFrame({"code": groups}), np.random.default_rng(0).random(30)[groups]
    assert find_leakage(frame, target > 0.5) == {"code": 1.0}
    assert find_leakage(frame, target > 0.5, groups=groups) == {}
    assert find_leakage(frame, target > 0.5, groups=groups % 3) == {}


def test_leakage_is_found_in_a_sample_of_a_large_table():
    frame, target = leaking(20_000)
    assert set(find_leakage(frame, target > 0.4)) == {"scaled", "missing", "word"}

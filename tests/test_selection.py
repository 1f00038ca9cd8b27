"""Choosing an estimator, and scores on held-out samples, as a library."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris

from frri import FRRIClassifier, RIPPERClassifier
from frri.selection import (
    Holdout,
    HoldoutResult,
    auto,
    choose_estimator,
    compare_estimators,
    find_leakage,
)
from frri.selection.holdout import MANY_SAMPLES, TEST_SIZE

X, Y = load_iris(return_X_y=True)


class Refusing(BaseEstimator):
    """An estimator that takes no table."""

    def fit(self, *_):
        raise ValueError("no")


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
    many = np.arange(MANY_SAMPLES + 1.0)
    ((_, test),) = Holdout(many[:, None], many % 2).splits
    assert len(test) == round(TEST_SIZE * len(many)) + 1


def test_samples_without_weight_are_left_out_and_others_count():
    weight = np.where(Y == 2, 0.0, 1.0 + (Y == 1))
    holdout = Holdout(X, Y, sample_weight=weight)
    assert set(holdout.y) == {0, 1}
    result = holdout.evaluate(FRRIClassifier())
    assert result.baseline == ("1", pytest.approx(2 / 3))
    assert result.score == pytest.approx(
        np.average(result.correct, weights=1.0 + (result.truth == 1))
    )


@pytest.mark.parametrize(
    ("n", "options", "reason"),
    [
        (18, {}, "18 rows are too few"),
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


def test_one_class_is_not_split_without_a_word():
    holdout = Holdout(X[:40], Y[:40])
    assert (holdout.splits, holdout.reason) == ([], "")


def test_what_takes_too_long_has_no_result():
    assert Holdout(X, Y).evaluate(FRRIClassifier(), time_limit=0.0) is None


def test_the_choice_is_an_estimator_with_its_limits_and_its_result():
    choice = choose_estimator(Holdout(X, Y), limits={"max_rules": 4, "max_conditions": None})
    assert choice.name == "additive"
    assert choice.estimator.max_rules == 4
    assert choice.reason.startswith("Chosen: additive, accuracy 0.9")
    assert choice.result.n_rules <= 4
    assert set(choice.results) == {"ripper", "additive", "compact", "frri"}
    assert len(choice.estimator.fit(X, Y).ruleset_) <= 4


def test_without_splits_the_choice_is_frri_or_additive_rules():
    few = Holdout(X[::15], Y[::15])
    assert choose_estimator(few).name == "frri"
    assert choose_estimator(few).result is None
    numbers = Holdout(X[::15], X[::15, 0], task="regression")
    assert choose_estimator(numbers).name == "additive"


def test_estimators_that_fail_are_left_out_of_a_comparison():
    found = compare_estimators(Holdout(X, Y), {"no": Refusing(), "yes": RIPPERClassifier()})
    assert list(found) == ["yes"]


def test_fewer_rules_are_preferred_among_those_about_as_good_as_the_best():
    def result(n_correct, n_rules, first=0):
        correct = (np.arange(1000) >= first) & (np.arange(1000) < first + n_correct)
        predicted = correct.astype(float)
        return HoldoutResult(np.ones(1000), predicted, np.zeros(1000, int), n_rules)

    best = result(904, 20.0)
    # 4 samples more are more than chance if none is lost, but not if 60 are.
    assert auto._choose({"a": best, "b": result(900, 4.0)}, 1000) == "a"
    assert auto._choose({"a": best, "b": result(900, 4.0, first=60)}, 1000) == "b"
    assert auto._choose({"a": best, "b": result(898, 4.0, first=60)}, 1000) == "a"  # above 0.005
    assert auto._choose({"a": result(904, 900.0), "b": result(700, 4.0)}, 1000) == "b"  # readable


def test_kappa_and_r_squared_are_those_of_scikit_learn():
    from sklearn.metrics import cohen_kappa_score, r2_score

    generator = np.random.default_rng(0)
    true, predicted = generator.integers(4, size=(2, 50))
    weight = generator.random(50)

    def result(true, predicted, weight, task):
        return HoldoutResult(true, predicted, np.zeros(len(true), int), 1.0, weight, task, range(4))

    kappa = cohen_kappa_score(true, predicted, weights="quadratic", sample_weight=weight)
    assert result(true, predicted, weight, "ordinal").score == pytest.approx(kappa)
    assert result(true, predicted, weight, "regression").score == pytest.approx(
        r2_score(true, predicted, sample_weight=weight)
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


def test_leakage_is_found_in_a_sample_of_a_large_table():
    frame, target = leaking(20_000)
    assert set(find_leakage(frame, target > 0.4)) == {"scaled", "missing", "word"}

"""Sizes of rulesets: all of them from one run, against one fit for each size, and the one that is taken."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from frri import AdditiveRulesClassifier, AdditiveRulesRegressor, CompactFRRIClassifier
from frri.learners import size_cv
from frri.learners.size_cv import SizePath, sizes_between

# Typical values are those of the whole table, also in its parts; without them nothing is shared.
CLASSIFIERS = [
    CompactFRRIClassifier(missing="fails"),
    AdditiveRulesClassifier(missing="fails"),
    AdditiveRulesClassifier(missing="fails", refine=1, class_weight=None),
    CompactFRRIClassifier(missing="fails", class_weight={"Barolo": 3}),
]


@pytest.fixture
def few(monkeypatch):
    """Fewer sizes and parts: as good a test, and quicker."""
    monkeypatch.setattr(size_cv, "SIZES", 3)
    monkeypatch.setattr(size_cv, "FOLDS", 3)


def mixed_table(n=48):
    """Categories, dates, ties, duplicates, a constant column, contradictions, and a class of three."""
    rng = np.random.default_rng(3)
    size = rng.integers(0, 6, n) / 2
    colour = rng.choice(["red", "blue", "green"], n)
    X = pd.DataFrame(
        {
            "size": size,
            "colour": colour,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 40, n), "D"),
            "gap": np.where(rng.random(n) < 0.3, np.nan, rng.random(n) * 1e6),
            "constant": 1.0,
        }
    )
    y = np.where((colour == "red") & (size > 1), "Barolo", "Barbera").astype(object)
    y[rng.random(n) < 0.15] = "Barolo"
    y[[5, 20, 40]] = "Dolcetto"
    return X, y


def one_fit_for_each_size(estimator, X, y, folds, scoring):
    """What scikit-learn measures, the learner being fitted anew at every size."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(
            [
                cross_val_score(estimator.set_params(max_rules=k), X, y, cv=folds, scoring=scoring)
                for k in estimator.path_.sizes
            ]
        )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_a_path_of_classes_is_a_fit_for_each_size(estimator):
    X, y = mixed_table()
    estimator.set_params(max_rules="1se").fit(X, y)
    path, chosen = estimator.path_, estimator.ruleset_
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = one_fit_for_each_size(estimator, X, y, folds, "balanced_accuracy")
    assert path.sizes == sizes_between(3, 34)
    assert path.scores == tuple(scores.mean(axis=1))
    assert path.errors == tuple(scores.std(axis=1, ddof=1) / np.sqrt(3))
    alone = estimator.set_params(max_rules=path.chosen).fit(X, y)
    assert alone.ruleset_.rules == chosen.rules
    assert alone.path_ is None


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("refine", [0, 1])
def test_a_path_of_numbers_is_a_fit_for_each_size(refine):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X, y = X[:60], y[:60] * 1e9
    estimator = AdditiveRulesRegressor(max_rules="1se", refine=refine).fit(X, y)
    path, chosen = estimator.path_, estimator.ruleset_
    folds = KFold(3, shuffle=True, random_state=0)
    scores = one_fit_for_each_size(estimator, X, y, folds, "r2")
    assert path.measure == "R2"
    assert path.sizes == (2, 9, 42)
    assert path.scores == pytest.approx(scores.mean(axis=1), rel=1e-12)
    assert estimator.set_params(max_rules=path.chosen).fit(X, y).ruleset_.rules == chosen.rules


def test_the_fewest_within_one_standard_error_of_the_best_are_taken():
    scores = [[0.5, 0.70, 0.80, 0.90, 0.90], [0.5, 0.80, 0.90, 0.80, 0.80]]
    path = SizePath.of((2, 3, 5, 8, 13), scores, "R2")
    assert (path.best, path.chosen) == (5, 5)  # 0.85 with an error of 0.05; 0.75 is too far away
    wide = SizePath.of(
        (2, 3, 5, 8, 13), [[0.5, 0.7, 0.7, 1.0, 0.9], [0.5, 0.8, 0.9, 0.6, 0.7]], "R2"
    )
    assert (wide.best, wide.chosen) == (5, 3)
    assert wide.to_frame()["chosen"].tolist() == [False, True, False, False, False]
    assert wide.to_frame()["score"].tolist() == list(wide.scores)
    assert str(wide) == (
        "At most 3 rules: the fewest within one standard error of the best R2 (0.75; 0.80 with 5)."
    )


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("learner", [CompactFRRIClassifier, AdditiveRulesClassifier])
def test_a_path_with_weights_and_typical_values(learner):
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X.iloc[::4, :4].copy(), y[::4]
    X.iloc[::5, 1] = np.nan
    weights = 1.0 + np.arange(len(y)) % 3
    clf = learner(max_rules="1se", missing="typical").fit(X, y, sample_weight=weights)
    assert len(clf.ruleset_) <= clf.path_.chosen
    tenfold = learner(max_rules="1se", missing="typical").fit(X, y, sample_weight=10 * weights)
    assert tenfold.path_.sizes == clf.path_.sizes
    assert np.isfinite(clf.path_.scores).all()


@pytest.mark.parametrize("learner", [CompactFRRIClassifier, AdditiveRulesClassifier])
def test_a_path_of_one_class_is_short(learner):
    clf = learner(max_rules="1se").fit([[1.0], [2.0], [3.0]], ["a"] * 3)
    assert clf.path_.chosen == 1
    assert clf.predict([[2.0]]).tolist() == ["a"]


@pytest.mark.parametrize(
    ("learner", "y", "least"),
    [
        (CompactFRRIClassifier, [0, 1, 2], "a class with 2 samples"),
        (AdditiveRulesClassifier, [0, 1, 2], "a class with 2 samples"),
        (AdditiveRulesRegressor, [0.0, 1.0, 2.0], "4 samples"),
    ],
)
def test_too_few_objects_for_a_path_are_refused(learner, y, least):
    with pytest.raises(ValueError, match=f"needs {least} at least; give max_rules a number"):
        learner(max_rules="1se").fit([[1.0], [2.0], [3.0]], y)


@pytest.mark.parametrize(
    "learner", [CompactFRRIClassifier, AdditiveRulesClassifier, AdditiveRulesRegressor]
)
def test_other_words_for_a_size_are_refused(learner):
    with pytest.raises(ValueError, match=r"max_rules must be a whole number .* got '2se'"):
        learner(max_rules="2se").fit([[1.0], [2.0]], [0, 1])

"""Number of rules by cross-validation: one run, compared with one fit per size, and the chosen size."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from frri import AdditiveRulesClassifier, AdditiveRulesRegressor, CompactFRRIClassifier
from frri.learners import size_cv
from frri.learners.additive import classifier, regressor
from frri.learners.additive.classifier import WIDTH
from frri.learners.additive.columns import SoftColumns
from frri.learners.additive.search import StagewiseInduction
from frri.learners.size_cv import Folds, SizePath, searched_samples
from frri.learners.training_table import TrainingTable
from frri.table import Attribute


def mixed_table(n=48):
    """Return categories, dates, ties, duplicates, a constant column, contradictions, and a class of three rows."""
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


@pytest.mark.parametrize(
    "estimator",
    [
        AdditiveRulesClassifier(),
        AdditiveRulesClassifier(decision="balanced", class_weight={"Barolo": 3}),
        AdditiveRulesRegressor(),
    ],
    ids=repr,
)
def test_a_path_is_a_fit_without_each_fold(estimator, monkeypatch):
    """Held-out values are those of rules that were fitted with the held-out samples at weight 0."""
    for module in (classifier, regressor):  # paths are shorter than others
        monkeypatch.setattr(module, "MOST_RULES", 6)
    X, y = mixed_table()
    if isinstance(estimator, AdditiveRulesRegressor):
        y = X["size"].to_numpy() + (y == "Barolo")
    estimator.fit(X, y)
    path, chosen = estimator.path_, estimator.ruleset_
    again = clone(estimator).set_params(max_rules=path.chosen).fit(X, y)
    assert again.ruleset_.rules == chosen.rules
    assert again.path_ is None
    assert path.sizes == tuple(range(1, len(path.sizes) + 1))
    shuffled = np.random.default_rng(0).permutation(len(X))
    other = clone(estimator).fit(X.iloc[shuffled], np.asarray(y)[shuffled])
    assert other.path_.chosen == path.chosen
    np.testing.assert_allclose(other.path_.scores, path.scores)
    doubled = clone(estimator).fit(X, y, sample_weight=np.full(len(X), 2.0))
    repeated = clone(estimator).fit(pd.concat([X, X]), np.concatenate([y, y]))
    assert doubled.path_ == repeated.path_


def test_scores_of_a_path_are_those_of_fits_on_the_other_folds():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 3))
    classes = (values[:, 0] + rng.normal(size=60) > 0).astype(int)
    table = AdditiveRulesClassifier()._training_table(values, classes)
    folds = Folds(table)
    assert len(folds.held_out) == 5
    assert (np.sum(folds.held_out, axis=0) == 1).all()
    assert all(0 < m.sum() <= 14 for m in folds.held_out)
    clf = AdditiveRulesClassifier(max_rules=3, calibrate=False)
    paths = clf._paths_of_folds(folds, 3)
    columns = SoftColumns.of(folds.table.values, folds.table.attributes, folds.weights, WIDTH)
    for k, mask in enumerate(folds.held_out):
        kept = np.flatnonzero(~mask)
        induction = clf._induction(
            folds.table.take(kept),
            replace(
                columns,
                **{
                    name: getattr(columns, name)[:, kept]
                    for name in ("values", "bins", "codes", "known")
                },
            ),
            np.ones(len(kept)),
            clf._blocks,
        )
        for size, model in enumerate(induction.path(3)):
            fitted = paths.models[size][k]
            assert fitted.rules == model.rules
            np.testing.assert_allclose(fitted.weights, model.weights, rtol=1e-6, atol=1e-9)


def test_many_samples_need_fewer_folds():
    rng = np.random.default_rng(0)
    sizes = {}
    for n in (500, 6_000, 30_000):
        table = AdditiveRulesClassifier()._training_table(rng.random((n, 1)), rng.integers(0, 2, n))
        folds = Folds(table)
        sizes[n] = len(folds.weights), len(folds.held_out)
    assert sizes == {
        500: (500, 5),
        6_000: (6_000, 2),
        30_000: (10_001, 1),
    }  # rounded up in both classes


def test_the_fewest_within_one_standard_error_of_the_difference_are_taken():
    """The error is that of the difference to the best size, sample by sample."""
    correct = np.zeros((3, 100))
    correct[0, :60], correct[1, 10:88], correct[2, :78] = 1, 1, 1
    correct[2, 99] = 1
    path = SizePath.of((2, 3, 5), correct, np.ones(100), "accuracy")
    difference = correct[2] - correct[1]
    assert 0 < difference.mean() <= 0.5 * difference.std() / 10
    assert (path.best, path.chosen) == (5, 3)
    assert path.errors == pytest.approx(correct.std(axis=1) / 10)
    assert SizePath.of((2, 3, 5), correct, np.ones(100), "R2", fewest=4).chosen == 5
    nested = correct.copy()
    nested[2] = np.maximum(nested[1], nested[2])  # no sample is lost
    assert SizePath.of((2, 3, 5), nested, np.ones(100), "R2").chosen == 5
    assert path.to_frame()["chosen"].tolist() == [False, True, False]
    assert path.to_frame()["score"].tolist() == list(path.scores)
    assert str(path) == (
        "At most 3 rules: the fewest within half a standard error of the best accuracy "
        "(0.78; 0.79 with 5)."
    )


def test_a_path_with_weights_and_typical_values():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X.iloc[::4, :4].copy(), y[::4]
    X.iloc[::5, 1] = np.nan
    weights = 1.0 + np.arange(len(y)) % 3
    clf = AdditiveRulesClassifier().fit(X, y, sample_weight=weights)
    assert len(clf.ruleset_) <= clf.path_.chosen
    tenfold = AdditiveRulesClassifier().fit(X, y, sample_weight=10 * weights)
    assert tenfold.path_.sizes[:5] == clf.path_.sizes[:5]
    assert np.isfinite(clf.path_.scores).all()


@pytest.mark.parametrize(
    ("learner", "y"),
    [
        (AdditiveRulesClassifier, ["a", "a", "a"]),
        (AdditiveRulesClassifier, [0, 1, 2]),
        (AdditiveRulesRegressor, [0.0, 1.0, 2.0]),
    ],
)
def test_few_samples_have_no_path(learner, y):
    clf = learner().fit([[1.0], [2.0], [3.0]], y)
    assert clf.path_ is None
    assert clf.predict([[2.0]])[0] in y or learner is AdditiveRulesRegressor


@pytest.mark.parametrize(
    "learner", [CompactFRRIClassifier, AdditiveRulesClassifier, AdditiveRulesRegressor]
)
def test_other_strings_for_a_size_are_refused(learner):
    with pytest.raises(ValueError, match=r"max_rules must be an integer .* got '2se'"):
        learner(max_rules="2se").fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(("n", "n_classes", "n_folds"), [(60, 3, 5), (60, 12, 3), (5000, 3, 2)])
def test_fewer_folds_are_held_out_of_many_samples_or_classes(n, n_classes, n_folds):
    table = TrainingTable(
        values=np.arange(n, dtype=float)[:, None],
        classes=np.arange(n) % n_classes,
        labels=tuple(range(n_classes)),
        attributes=(Attribute("x"),),
        target="class",
    )
    assert len(Folds(table).held_out) == n_folds


def test_conditions_of_large_tables_are_searched_for_in_some_samples(monkeypatch):
    """The sample keeps weights of classes and all rows of rare classes; the order is irrelevant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3)).round(1)
    y = np.where(X[:, 0] + rng.normal(size=900) > 0, "b", "a")
    y[:40] = "rare"
    weights = rng.integers(1, 4, 900).astype(float)
    table = AdditiveRulesClassifier()._training_table(X, y)
    rows, own = searched_samples(table, weights)
    assert rows.tolist() == list(range(900))
    assert own is weights
    monkeypatch.setattr(size_cv, "SEARCHED_SAMPLES", 300)
    monkeypatch.setattr(size_cv, "LEAST_OF_CLASS", 50)
    rows, own = searched_samples(table, weights)
    assert 300 <= len(rows) < 350
    expected = np.bincount(table.classes, weights)
    np.testing.assert_allclose(np.bincount(table.classes[rows], own), expected)
    rare = table.classes == 2
    assert len(np.unique(X[rare], axis=0)) == rare[rows].sum()

    def conditions(order):
        clf = AdditiveRulesClassifier(max_rules=4, calibrate=False).fit(X[order], y[order])
        return [
            [(c.attribute, *np.round(c.trapezoid, 9)) for c in r.conditions] for r in clf.ruleset_
        ]

    found = conditions(np.arange(900))
    assert found == conditions(rng.permutation(900))
    monkeypatch.undo()
    assert found != conditions(np.arange(900))


def test_votes_of_large_tables_are_fitted_to_all_samples(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2))
    y = X[:, 0] * X[:, 1] + rng.normal(size=600) > 0
    monkeypatch.setattr(size_cv, "SEARCHED_SAMPLES", 200)
    monkeypatch.setattr(size_cv, "LEAST_OF_CLASS", 0)
    # A merged rule has half the penalty.
    monkeypatch.setattr(StagewiseInduction, "merge_similar", lambda _, model: model)
    found = AdditiveRulesClassifier(max_rules=3, calibrate=False).fit(X, y).ruleset_
    assert len(found) == 3  # no two are merged: a merged rule would have half the penalty
    z = found.decide(X).degrees
    # The gradient of the penalized loss by every vote is 0.
    shares = 1.0 / (1.0 + np.exp(-np.diff(found.scores(X))[:, 0]))
    votes = np.array([r.weight if r.consequent else -r.weight for r in found])
    assert np.abs(z.T @ (y - shares) - 2.0 * votes).max() < 1e-3
    number = X[:, 0] + rng.normal(size=600)
    regressor = AdditiveRulesRegressor(max_rules=3).fit(X, number)
    left = number - regressor.predict(X)
    degrees, unit = regressor.ruleset_.decide(X).degrees, number.std()
    added = np.array([r.consequent for r in regressor.ruleset_])
    slope = (degrees.T @ left - 4.0 * added) / unit
    assert np.abs(slope).max() < 1e-3


def test_a_class_may_be_held_out_completely():
    """Balanced weights of a fold leave out a class that only the held-out samples have."""
    X, y = mixed_table()
    y[5] = "Freisa"
    model = AdditiveRulesClassifier(class_weight="balanced").fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()

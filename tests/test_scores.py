"""Decision function, importances, score, progress and probabilities of estimators."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score

import frri
import naive_semantics
from frri import (
    AdditiveRulesRegressor,
    Attribute,
    FRRIClassifier,
    MODLEMClassifier,
    NumericCondition,
    Rule,
    RuleSet,
)
from frri import _util as progress
from frri.learners.calibration import MAX_SAMPLES, HeldOut
from frri.learners.registry import LEARNERS, RULE_LEARNERS
from frri.rules.contributions import feature_importances
from frri.rules.inference import shrink_to_priors
from thorough import often

IRIS = load_iris(return_X_y=True, as_frame=True)
every = pytest.mark.parametrize("name", RULE_LEARNERS)


def fitted(name, X, y, **parameters):
    seeded = {"random_state": 0} if name in {"ripper", "furia", "bagged", "frri-bags"} else {}
    seeded |= {"n_estimators": 3} if name == "bagged" else {}
    seeded |= {"n_estimators": 3} if name == "frri-bags" else {}
    with warnings.catch_warnings(action="ignore"):
        return LEARNERS[name].make(**seeded, **parameters).fit(X, y)


# ---------------------------------------------------------------- decision function


@every
def test_the_decision_function_decides_as_predict_does(name):
    X, y = load_wine(return_X_y=True)
    model = fitted(name, X[::2], y[::2])
    found = model.decision_function(X)
    assert found.shape == (len(X), 3)
    assert (model.classes_[found.argmax(axis=1)] == model.predict(X)).all()
    two = fitted(name, X[::2], np.where(y[::2] == 1, "yes", "no"))
    found = two.decision_function(X)
    assert found.shape == (len(X),)
    assert (two.classes_[(found > 0).astype(int)] == two.predict(X)).all()
    assert (np.abs(found) <= 1).all()


# ---------------------------------------------------------------- importances


@every
def test_importances_are_fractions_for_the_attributes_that_rules_use(name):
    X, y = IRIS
    model = fitted(name, X.assign(constant=1.0), y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[4] == 0
    assert (model.feature_importances_ >= 0).all()
    assert not hasattr(LEARNERS[name].make(), "feature_importances_")
    with pytest.raises(NotFittedError):
        LEARNERS[name].make().feature_importances_  # noqa: B018 - reading it is what is tested


def test_importances_from_the_definition():
    X, y = IRIS
    rules = fitted("ripper", X, y).ruleset_
    expected = dict.fromkeys((a.name for a in rules.attributes), 0.0)
    for rule in rules:
        for condition in rule.conditions:
            covered = sum(rule.statistics.support)
            used = {c.attribute for c in rule.conditions}
            again = [c.attribute for c in rule.conditions].count(condition.attribute)
            expected[condition.attribute] += rule.weight * covered / len(used) / again
    total = sum(expected.values())
    assert feature_importances(rules) == pytest.approx([v / total for v in expected.values()])


def test_importances_where_numbers_are_added_and_where_nothing_is_used():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    shares = AdditiveRulesRegressor(max_rules=4).fit(X, y).feature_importances_
    assert shares.sum() == pytest.approx(1)
    small = [Rule((NumericCondition.below(name, 0),), size) for name, size in (("a", -3), ("b", 1))]
    rules = RuleSet(tuple(small), (Attribute("a"), Attribute("b")), semantics="added-contributions")
    assert feature_importances(rules).tolist() == [0.75, 0.25]
    nothing = RuleSet((Rule((), 0),), (Attribute("a"),), (0, 1))
    assert feature_importances(nothing).tolist() == [0.0]


# ---------------------------------------------------------------- score


@pytest.mark.parametrize("name", ["frri", "ripper", "additive"])
def test_a_rule_set_has_a_score(name):
    X, y = IRIS
    model = fitted(name, X[::3], y[::3])
    weights = np.arange(150)
    assert model.ruleset_.score(X, y) == pytest.approx(model.score(X, y))
    expected = accuracy_score(y, model.predict(X), sample_weight=weights)
    assert model.ruleset_.score(X, y, weights) == pytest.approx(expected)


def test_the_score_of_regression_is_r2():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    rules = AdditiveRulesRegressor(max_rules=4).fit(X, y).ruleset_
    weights = np.arange(len(y))
    assert rules.score(X, y) == pytest.approx(r2_score(y, rules.predict(X)))
    expected = r2_score(y, rules.predict(X), sample_weight=weights)
    assert rules.score(X, y, weights) == pytest.approx(expected)
    constant = RuleSet((Rule((), 2.5),), (Attribute("a"),), semantics="weighted-mean")
    assert constant.score([[1], [2]], [2.5, 2.5]) == 1.0
    assert constant.score([[1], [2]], [3, 3]) == 0.0


def test_labels_must_be_as_many_as_rows():
    rules = RuleSet((Rule((), 0),), (Attribute("a"),), (0, 1))
    with pytest.raises(ValueError, match=r"Expected 2 labels, one per row, got the shape \(1,\)"):
        rules.score([[1], [2]], [0])


# ---------------------------------------------------------------- progress


@every
def test_progress_is_printed_on_request(name, capsys):
    X, y = IRIS
    fitted(name, X, y)
    assert capsys.readouterr() == ("", "")
    verbose = fitted(name, X, y, verbose=1)
    output = capsys.readouterr()
    assert not output.out
    # Slow machines also show progress within a step.
    assert re.search(rf"^{verbose._name()}: .*: \d+\.\d s$", output.err, re.MULTILINE)
    with pytest.raises(ValueError, match="verbose must be an integer from 0 on, got 'much'"):
        fitted(name, X, y, verbose="much")


def test_progress_of_a_regression(capsys):
    frame = pd.DataFrame({"a": np.random.default_rng(0).random(40).round(1)})
    AdditiveRulesRegressor(verbose=True).fit(frame, (frame.a**2).rename("b"))
    assert "rules one after another" in capsys.readouterr().err


def test_progress_is_printed_within_long_steps(capsys):
    with progress.Progress("working", 0.01):
        progress.time.sleep(0.1)
    assert capsys.readouterr().err.startswith("working ... 0 s\n")


# ---------------------------------------------------------------- probabilities


def overlapping(n, seed=0):
    """Return two weak features of three classes of different sizes."""
    random = np.random.default_rng(seed)
    y = random.choice(3, n, p=[0.6, 0.3, 0.1])
    return (random.normal(size=(n, 2)) + y[:, None]).round(1), y


def loss(shares, y):
    return -np.log(np.clip(shares[np.arange(len(y)), y], 1e-15, 1)).mean()


@every
def test_probabilities_beat_the_sizes_of_classes_where_these_overlap(name):
    X, y = overlapping(200)
    new, truth = overlapping(1000, seed=1)
    model = fitted(name, X, y)
    shares = model.predict_proba(new)
    priors = np.tile(np.bincount(y) / len(y), (len(new), 1))
    if name not in {"additive", "bagged"}:  # its votes are fitted as probabilities
        by_rules = replace(model.ruleset_, trust=1.0).predict_proba(new)
        assert loss(shares, truth) < loss(by_rules, truth)
    if name == "quickrules":  # always predicts the majority class here, and is shrunk completely
        assert loss(shares, truth) <= loss(priors, truth)
    else:
        assert loss(shares, truth) < loss(priors, truth)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(new)).all()
    assert shares.sum(axis=1) == pytest.approx(1)


@every
def test_separable_classes_are_not_shrunk_and_random_classes_are(name):
    random = np.random.default_rng(0)
    X = random.random((120, 2)).round(2)
    assert fitted(name, X + (X[:, :1] > 0.5), X[:, 0] > 0.5).ruleset_.trust >= 0.95
    chance = fitted(name, X, random.random(120) > 0.5)
    # Temperature scaling of additive rules does a part of it.
    limit = 0.6 if name == "additive" else 0.5
    assert chance.ruleset_.trust <= limit
    assert np.abs(chance.predict_proba(X) - 0.5).mean() < 0.25


def test_shrinkage_depends_on_objects_only():
    """It does not depend on order, repetitions or equivalent weights, unless the rules do."""
    X, y = overlapping(60)
    trust = fitted("modlem", X, y).ruleset_.trust
    assert fitted("modlem", X[::-1], y[::-1]).ruleset_.trust == trust
    times = np.arange(60) % 3
    weighted = MODLEMClassifier().fit(X, y, sample_weight=times).ruleset_
    repeated = MODLEMClassifier().fit(X.repeat(times, axis=0), y.repeat(times)).ruleset_
    assert weighted == repeated


def test_halves_are_stratified_and_keep_equal_objects_together():
    X, y = overlapping(2500)
    X[::50] = -0.0
    X[1::50] = 0.0
    table = LEARNERS["modlem"].make()._training_table(X, y)
    rows, half, n_distinct, _ = HeldOut.of(table)
    places = {}
    for row, side in zip(rows.tolist(), half.tolist(), strict=True):
        places.setdefault((*X[row] + 0.0, y[row]), set()).add(side)
    assert all(len(sides) == 1 for sides in places.values())
    assert len(places) == n_distinct <= MAX_SAMPLES + 3
    for c in range(3):
        first, second = (sum(k[2] == c and s == {v} for k, s in places.items()) for v in (0, 1))
        assert abs(first - second) <= 1


@every
def test_few_objects_and_rare_classes_have_probabilities_too(name):
    X, y = overlapping(40)
    y[:3] = [7, 8, 8]
    assert fitted(name, X, y).predict_proba(X).shape == (40, 5)
    few = fitted(name, X[3:12], y[3:12])
    assert few.ruleset_.trust == 9 / (9 + len(few.classes_))


def test_an_order_for_every_object_goes_with_it():
    X, y = overlapping(60)
    orders = np.tile([1, 0], (60, 1))
    assert fitted("frri", X, y, attribute_order=orders).ruleset_ == (
        fitted("frri", X, y, attribute_order=[1, 0]).ruleset_
    )


def test_weights_of_classes_change_probabilities():
    X, y = overlapping(100)
    plain = fitted("frri", X, y)
    heavy = FRRIClassifier().fit(X, y, sample_weight=np.where(y == 2, 20.0, 1.0))
    assert heavy.predict_proba(X)[:, 2].mean() > plain.predict_proba(X)[:, 2].mean()
    assert heavy.predict(X).tolist() == plain.predict(X).tolist()


@settings(max_examples=often(120), deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([0.0, 0.3, 0.9]))
def test_classes_ahead_are_leveled_by_the_definition(seed, n_classes, trust):
    random = np.random.default_rng(seed)
    shares = random.integers(0, 4, (5, n_classes)) + 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    sizes = random.integers(0, 9, n_classes) + 0.5
    decided = shares.argmax(axis=1)
    found = shrink_to_priors(shares, decided, trust, sizes)
    for row, own, mine in zip(shares.tolist(), decided.tolist(), found, strict=True):
        model = {"trust": trust, "classes": list(range(n_classes)), "class_counts": sizes.tolist()}
        expected = naive_semantics.shrink(model, {"answer": own, "probabilities": row})
        np.testing.assert_allclose(mine, expected, atol=1e-12)
        assert mine.max() <= mine[own] + 1e-12


@pytest.mark.parametrize(
    ("trust", "more", "message"),
    [
        (1.5, {}, "The trust in the rules must be from 0 to 1, got 1.5"),
        (float("nan"), {}, "must be from 0 to 1"),
        (0.5, {"semantics": "at-least-class"}, "must be 1 in at-least-class, got 0.5"),
    ],
)
def test_shrinkage_is_checked(trust, more, message):
    with pytest.raises(ValueError, match=message):
        RuleSet((), (Attribute("a"),), (0, 1), trust=trust, **more)


def test_shrinkage_is_saved():
    rules = RuleSet((Rule((), 0),), (Attribute("a"),), (0, 1), class_counts=(1, 3), trust=0.25)
    assert RuleSet.from_json(rules.to_json()) == rules
    assert rules.predict_proba([[1]]).tolist() == [[0.5, 0.5]]
    assert "trust" not in replace(rules, trust=1.0).to_dict()


def test_additive_rules_fit_once_with_calibration(monkeypatch):
    X, y = load_iris(return_X_y=True)
    kind = frri.AdditiveRulesClassifier
    fits, learn = [], kind._learn
    monkeypatch.setattr(kind, "_learn", lambda self, *args: fits.append(1) or learn(self, *args))
    kind().fit(X, y)
    assert len(fits) == 1


@pytest.mark.parametrize("name", ["AdditiveRulesClassifier", "FRRIClassifier", "RIPPERClassifier"])
def test_without_calibration_fit_fits_once(name, monkeypatch):
    X, y = load_iris(return_X_y=True)
    kind = getattr(frri, name)
    seeded = {"random_state": 0} if "random_state" in kind().get_params() else {}
    usual = kind(**seeded).fit(X, y)
    fits, learn = [], kind._learn
    monkeypatch.setattr(kind, "_learn", lambda self, *args: fits.append(1) or learn(self, *args))
    quick = kind(calibrate=False, **seeded).fit(X, y)
    assert len(fits) == 1
    assert quick.ruleset_.trust == pytest.approx(147 / 150, abs=0.01)
    assert quick.predict(X).tolist() == usual.predict(X).tolist()

"""Bagged additive rules: the averaged rule set, and predictions of the bags for out-of-bag samples."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

from frri import AdditiveRulesBaggingClassifier, AdditiveRulesClassifier, RuleSet
from frri.learners.calibration import SCALES


@parametrize_with_checks([AdditiveRulesBaggingClassifier(n_estimators=3, max_rules=4)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def bagged(wine):
    """Return a model and its bags."""
    bags = []

    class Recording(AdditiveRulesBaggingClassifier):
        def _bag(self, *given):
            found = super()._bag(*given)
            bags.append(SimpleNamespace(ruleset=found[0], unseen=found[2]))
            return found

    return Recording(n_estimators=6, random_state=1, n_jobs=1).fit(*wine), bags


def vote_factor(model, bags):
    """Return the factor of the votes of the bags."""
    stretches = np.array(SCALES)
    found = model.ruleset_[0].votes[0] * len(bags) / bags[0].ruleset[0].votes[0]
    return stretches[np.abs(stretches - found).argmin()]


def test_the_rule_set_is_the_mean_of_the_bags(bagged, wine):
    model, bags = bagged
    X, _ = wine
    together = np.mean([bag.ruleset.scores(X) for bag in bags], axis=0)
    stretch = vote_factor(model, bags)
    assert stretch in SCALES
    # Votes and bases are multiples of 2**-40.
    tolerance = 1e-12 + len(model.ruleset_) * 2.0**-41
    np.testing.assert_allclose(model.ruleset_.scores(X), stretch * together, rtol=0, atol=tolerance)
    assert len(model.ruleset_) == sum(len(bag.ruleset) for bag in bags)


def test_out_of_bag_predictions(bagged, wine):
    model, bags = bagged
    X, y = wine
    trust, sizes = model.ruleset_.trust, np.bincount(y)
    right = []
    for i in range(len(X)):
        votes = [bag.ruleset.scores(X.iloc[[i]])[0] for bag in bags if bag.unseen[i]]
        if not votes:
            assert np.isnan(model.oob_decision_function_[i]).all()
            continue
        powers = np.exp(vote_factor(model, bags) * np.mean(votes, axis=0))
        shares = trust * powers / powers.sum() + (1 - trust) * sizes / sizes.sum()
        assert shares.argmax() == powers.argmax()
        np.testing.assert_allclose(model.oob_decision_function_[i], shares, atol=1e-12)
        right.append(powers.argmax() == y[i])
    assert model.oob_score_ == np.mean(right)


def test_bags_see_other_objects_and_use_some_attributes(bagged, wine):
    _, bags = bagged
    assert len({bag.unseen.tobytes() for bag in bags}) == len(bags)
    for bag in bags:
        assert 0.2 < bag.unseen.mean() < 0.55
        used = {name for rule in bag.ruleset for name in rule.attributes}
        assert len(used) <= round(0.7 * wine[0].shape[1])


def test_one_bag_of_all_samples_and_features_is_an_additive_model(wine, monkeypatch):
    class FullSample:
        def integers(self, n, size):
            assert n == size
            return np.arange(n)

        def permutation(self, m):
            return np.arange(m)

    monkeypatch.setattr(np.random, "default_rng", lambda _: FullSample())
    model = AdditiveRulesBaggingClassifier(
        n_estimators=1, max_features=1.0, class_weight="balanced"
    )
    model.fit(*wine)
    single = AdditiveRulesClassifier(max_rules=12, class_weight="balanced").fit(*wine)
    assert [r.conditions for r in model.ruleset_] == [r.conditions for r in single.ruleset_]
    votes, single_votes = (np.array([r.votes for r in m.ruleset_]) for m in (model, single))
    stretch = single_votes[0, 0] / votes[0, 0]
    np.testing.assert_allclose(single_votes, stretch * votes, atol=1e-10)
    assert np.isnan(model.oob_score_)


def test_threads_change_nothing(wine):
    one, two = (
        AdditiveRulesBaggingClassifier(n_estimators=4, random_state=3, n_jobs=n).fit(*wine)
        for n in (1, 2)
    )
    assert one.ruleset_ == two.ruleset_
    other = AdditiveRulesBaggingClassifier(n_estimators=4, random_state=4).fit(*wine)
    assert one.ruleset_ != other.ruleset_


def test_a_class_of_one_object_is_in_every_bag():
    X, y = load_iris(return_X_y=True)
    X, y = X[:101], y[:101]
    model = AdditiveRulesBaggingClassifier(n_estimators=8, random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (101, 3)
    assert np.isnan(model.oob_decision_function_[100]).all()


def test_missing_values_categories_and_a_file(tmp_path):
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    X = pd.DataFrame({"x": random.normal(size=80), "kind": random.choice(["a", "b", "c"], 80)})
    y = np.where((X["kind"] == "a") | (X["x"] > 1), "yes", "no")
    X.loc[::7, "x"], X.loc[::9, "kind"] = np.nan, None
    for missing in ("fails", "typical"):
        model = AdditiveRulesBaggingClassifier(n_estimators=5, random_state=0, missing=missing).fit(
            X, y
        )
        model.ruleset_.save(tmp_path / "rules.json")
        loaded = RuleSet.load(tmp_path / "rules.json")
        assert loaded.missing == missing
        assert loaded.predict(X).tolist() == model.predict(X).tolist()
        assert model.score(X, y) > 0.8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an integer from 1 on, got 0"),
        ({"max_features": 0.0}, "max_features must be a fraction above 0 up to 1"),
        ({"class_weight": "even"}, "class_weight must be"),
        ({"class_weight": 3}, "class_weight must be"),
        ({"missing": "similar"}, "missing must be"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        AdditiveRulesBaggingClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_weights_are_refused():
    with pytest.raises(TypeError, match="drawn at random"):
        AdditiveRulesBaggingClassifier().fit([[0.0], [1.0]], [0, 1], sample_weight=[1, 2])

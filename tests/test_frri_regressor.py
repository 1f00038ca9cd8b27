"""FRRIRegressor: rules, consequents, multiple covers, and coverage of prediction intervals."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
import naive_regression
from frri import AdditiveRulesRegressor, FRRIRegressor, RuleSet
from frri.learners.regression import standardised
from frri.rules.conformal import half_widths
from thorough import often


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([FRRIRegressor()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X[["bmi", "bp", "s3", "s5"]][:150], y.rename("progress")[:150]


@pytest.fixture(scope="module")
def fitted(diabetes):
    return FRRIRegressor().fit(*diabetes)


# --- against the definitions


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    X = rng.integers(0, draw(st.integers(2, 6)), (n, m)) * draw(st.sampled_from([1.0, 1e-3, 1e6]))
    y = rng.integers(-2, 3, n) * draw(st.sampled_from([1.0, 1e-9, 1e12]))
    return X, y, draw(st.sampled_from([0.5, 1.5]))


@settings(max_examples=often(160), deadline=None)
@given(table=tables())
def test_rules_and_predictions_by_definition(table):
    X, y, tau = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reg = FRRIRegressor(tau=tau).fit(X, y)
    # The same units, so that equal confidences have equal bits.
    middle, unit, numbers = standardised(y, np.ones(len(y)))
    np.testing.assert_allclose([middle, unit], [y.mean(), np.std(y) or 1.0], rtol=1e-9, atol=1e-20)
    values = naive.scale(X)
    confidence = naive_regression.confidences(values, numbers, tau)
    np.testing.assert_array_equal(reg.confidence_, confidence)
    kinds = [
        naive_regression.shorten(values, numbers, tau, u, confidence[u], range(X.shape[1]))
        for u in range(len(X))
    ]
    # The minimum number of distinct rules that cover every object, proven.
    table = naive.covering_table(values, y, confidence, kinds)
    different = {
        (confidence[u], *zip(kinds[u], np.where(np.array(kinds[u]) == "UNUSED", 0, values[u]), strict=True)): u
        for u in range(len(X))
    }.values()  # fmt: skip
    # Among minimum-size covers, one with the most coverage.
    left_out = len(X) - table.sum(axis=1)
    different = list(different)
    fewest, cost = naive_regression.fewest_rows(table[different], left_out[different])
    assert reg.selection_.status == reg.selection_.breadth_status == "optimal"
    assert (reg.selection_.n_rules, left_out[reg.selected_].sum()) == (fewest, cost)
    assert reg.selection_.lower_bound == fewest
    covered = table[reg.selected_].any(axis=0)
    assert reg.uncovered_.tolist() == np.flatnonzero(~covered).tolist()

    def answers(numbers, values):
        """Return the mean weighted by covering degrees, or the consequent of the nearest rule."""
        if not len(numbers):
            return np.full(len(values), y.mean())
        near = np.array(
            [
                [confidence[u] - naive.distance(kinds[u], scaled(X)[u], v) for u in reg.selected_]
                for v in values
            ]
        )
        # Rounding decides between equally near rules.
        silent = np.sort(near[near.max(axis=1) <= 0], axis=1)
        assume(near.shape[1] < 2 or (np.diff(silent[:, -2:]) > 1e-9).all())
        return naive_regression.normalised_degrees(np.maximum(near, 0.0), near) @ numbers

    def scaled(rows):
        return naive.scale(X, rows)

    own = y[reg.selected_]
    if len(own):
        shares = np.column_stack([answers(row, values) for row in np.eye(len(own))])
        gram = shares.T @ shares + np.eye(len(own))
        own = y.mean() + np.linalg.solve(gram, shares.T @ (y - y.mean()))
    numbers = np.array([rule.consequent for rule in reg.ruleset_])
    np.testing.assert_allclose(numbers, own, atol=1e-7 * max(abs(y).max(), 1e-300), rtol=1e-7)
    new = X + np.ptp(X, axis=0) * 0.1
    np.testing.assert_allclose(
        reg.predict(new), answers(numbers, scaled(new)), atol=1e-6 * max(abs(y).max(), 1e-300)
    )


# --- results


def test_every_object_is_covered_and_what_covers_it_agrees(diabetes, fitted):
    X, y = diabetes
    covers = fitted.ruleset_.covers(X)
    assert covers.any(axis=1).all()
    own = y.to_numpy()[fitted.selected_]
    apart = np.abs(own[None, :] - y.to_numpy()[:, None]) / y.std(ddof=0)
    assert (apart[covers] < 1.5).all()
    assert fitted.selection_.claim == "the fewest"
    assert fitted.ruleset_.about["learner"] == "FRRI for numbers"
    assert own.tolist() == sorted(own)


def test_limits_hold(diabetes):
    X, y = diabetes
    reg = FRRIRegressor(max_rules=4, max_conditions=2, min_support=0.1).fit(X, y)
    assert len(reg.ruleset_) == 4
    assert all(len({c.attribute for c in rule.conditions}) <= 2 for rule in reg.ruleset_)
    assert (reg.ruleset_.covers(X).mean(axis=0) >= 0.1).all()
    assert reg.selection_.claim == "those that cover most"


def test_mixed_tables_missing_values_and_files(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "kind": rng.choice(["x", "y", "z"], 60)})
    y = X.a + (X.kind == "x")
    X.loc[::7, "a"] = np.nan
    with pytest.warns(UserWarning, match="as far as they are known and conditions on them allowed"):
        reg = FRRIRegressor(missing="similar", conditions={"a": "at most"}).fit(X, y)
    sides = [c for rule in reg.ruleset_ for c in rule.conditions if c.attribute == "a"]
    assert sides
    assert all(c.core_low == -np.inf for c in sides)
    reg.ruleset_.save(tmp_path / "m.json")
    again = RuleSet.load(tmp_path / "m.json")
    assert again == reg.ruleset_
    assert again.predict(X).tolist() == reg.predict(X).tolist()
    with pytest.raises(ValueError, match="Missing values"):
        FRRIRegressor(missing="error").fit(X, y)


def test_weights_change_consequents_and_repeat_rows(diabetes):
    X, y = diabetes[0][:60], diabetes[1][:60]
    weights = np.arange(60) % 3
    weighted = FRRIRegressor().fit(X, y, sample_weight=weights)
    repeated = FRRIRegressor().fit(X.loc[X.index.repeat(weights)], y.repeat(weights))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))
    assert not np.allclose(weighted.predict(X), FRRIRegressor().fit(X, y).predict(X))


def test_contradictions_and_constants():
    with pytest.warns(UserWarning, match="2 of 3 samples are covered by no rule.*rows 1, 2"):
        reg = FRRIRegressor(tau=0.5).fit([[1.0], [1.0], [3.0]], [0.0, 9.0, 4.0])
    assert reg.uncovered_.tolist() == [0, 1]
    same = FRRIRegressor().fit([[1.0], [2.0]], [7.0, 7.0])
    assert len(same.ruleset_) == 1
    assert same.predict([[9.0]]).tolist() == [7.0]
    with pytest.warns(UserWarning, match="covered by no rule"):
        none = FRRIRegressor(tau=0.5).fit([[1.0], [1.0]], [0.0, 9.0])
    assert none.predict([[1.0]]).tolist() == [4.5]


def test_an_unproven_selection_is_reported(diabetes):
    with pytest.warns(UserWarning, match="not proven optimal: at least"):
        reg = FRRIRegressor(tau=1, work_limit=0).fit(*diabetes)
    assert reg.selection_.status == "feasible"
    assert reg.selection_.gap > 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tau": 0}, "tau must be a number of standard deviations"),
        ({"tau": "wide"}, "tau must be a number"),
        ({"calibration_fraction": 1.5}, "calibration_fraction must be a fraction from 0 to 1"),
        ({"calibration_fraction": 0.99}, "leaves no rows to learn from"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        FRRIRegressor(**parameters).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])


# --- intervals


@pytest.mark.parametrize(
    "learner",
    [
        FRRIRegressor(calibration_fraction=0.3),
        AdditiveRulesRegressor(max_rules=2, calibration_fraction=0.3),
    ],
)
def test_intervals_hold_their_level(learner):
    """Average coverage over training tables is 0.9, or slightly more because ranks are rounded up."""
    shares = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(560, 2))
        y = X[:, 0] ** 2 + rng.standard_t(3, size=560)
        learner.fit(X[:60], y[:60])
        low, high = learner.predict_interval(X[60:], 0.9).T
        shares.append(((low <= y[60:]) & (y[60:] <= high)).mean())
    error = np.std(shares) / 5
    assert 0.9 - 2.5 * error <= np.mean(shares) <= 0.9 + 1 / 19 + 2.5 * error


def test_intervals_are_kept_in_the_file_and_lost_by_edits(diabetes):
    X, y = diabetes
    reg = AdditiveRulesRegressor(max_rules=3, calibration_fraction=0.2).fit(X, y)
    again = RuleSet.from_json(reg.ruleset_.to_json())
    np.testing.assert_array_equal(again.predict_interval(X), reg.predict_interval(X))
    assert again.about["rows"] == 120
    assert again.about["intervals"]["rows"] == 30
    with pytest.raises(ValueError, match="have no intervals: learn them with calibration"):
        again.without_rule(0).predict_interval(X)
    with pytest.raises(ValueError, match=r"level must be one of 0\.5"):
        again.predict_interval(X, 0.42)
    with pytest.raises(ValueError, match=r"0\.99 needs more than the 30 rows"):
        again.predict_interval(X, 0.99)


def test_half_widths_are_ranks():
    errors = np.random.default_rng(0).normal(size=99)
    kept = dict(half_widths(errors)["half_widths"])
    assert kept[0.9] == np.sort(np.abs(errors))[89]
    assert kept[0.99] == np.abs(errors).max()
    assert 0.99 not in dict(half_widths(errors[:98])["half_widths"])

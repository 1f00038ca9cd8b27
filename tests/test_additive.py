"""Additive rules: comparison with a reference implementation, scikit-learn checks and results."""

import pickle
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, load_wine, make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive_additive as naive
from frri._compile import compiled
from frri.learners.additive import blocks as blocks_module
from frri.learners.additive import columns as kernels
from frri.learners.additive import search
from frri.learners.additive.blocks import (
    AdditiveModel,
    Block,
    SampleBlocks,
    SummingBlock,
    VotingBlock,
)
from frri.learners.additive.classifier import AdditiveRulesClassifier
from frri.learners.additive.columns import (
    AT_LEAST,
    AT_MOST,
    ONE_OF,
    SoftColumns,
    SoftTest,
    midpoints,
)
from frri.learners.additive.regressor import AdditiveRulesRegressor
from frri.learners.additive.search import FoundRule, StagewiseInduction
from frri.learners.calibration import SCALES
from frri.rules import NominalCondition, RuleSet
from frri.rules.text import condition_texts
from frri.table import Attribute
from thorough import often

WIDTH = 0.48
SIDES = {AT_MOST: "<=", AT_LEAST: ">="}


@pytest.mark.usefixtures("_short_paths")
@parametrize_with_checks(
    [
        AdditiveRulesClassifier(),
        AdditiveRulesClassifier(class_weight="balanced", max_rules=2, calibrate=False),
        AdditiveRulesRegressor(max_rules=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- tables


@st.composite
def tables(draw, n_max=24):
    """Values with ties, duplicates, constant columns, missing values, categories and extreme scales; weights."""
    n, m = draw(st.integers(1, n_max)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.integers(0, draw(st.integers(1, 9)), (n, m)).astype(float)
    smooth = rng.random(m) < 0.4
    values[:, smooth] += rng.normal(size=(n, smooth.sum()))
    nominal = (rng.random(m) < 0.3) & ~smooth
    for j in np.flatnonzero(~nominal):
        values[:, j] *= 10.0 ** draw(st.integers(-9, 9))
        values[:, j] += draw(st.sampled_from([0.0, 0.0, 1e3, -1e-3]))
    if m > 1 and draw(st.booleans()):
        values[:, 0], nominal[0] = values[:, -1], nominal[-1]
    if draw(st.booleans()):
        values[rng.random((n, m)) < 0.2] = np.nan
    weights = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    return values, nominal, weights, rng


def attributes_of(nominal):
    return [
        Attribute(f"a{j}", categories=tuple(str(c) for c in range(9)))
        if named
        else Attribute(f"a{j}")
        for j, named in enumerate(nominal)
    ]


def both_searches(values, nominal, weights, penalty, squared=False):
    columns = SoftColumns.of(values, attributes_of(nominal), weights, WIDTH)
    listed = [[None if np.isnan(x) else x for x in column] for column in values.T.tolist()]
    slow = naive.Search(listed, nominal, weights.tolist(), penalty, WIDTH, 3, squared)
    return induction(columns, None, weights.sum(), penalty, squared=squared), slow


def induction(columns, blocks, weight, penalty, **options):
    usual = {"n_scores": 3, "least_gain": 0.3, "max_conditions": 3}
    return StagewiseInduction(
        columns=columns, blocks=blocks, weight=weight, penalty=penalty, **usual | options
    )


@contextmanager
def exact():
    """Fit weights up to rounding while rules are added, so that both implementations break ties equally.

    Weights and gains are exact to about 1e-10. Relative to the difference between a gain and the price of
    a set of categories, this may be 1e-8.
    """
    steps = {"TOLERANCE": 1e-15, "PATH_TOLERANCE": 1e-15, "MAX_STEPS": 3_000}
    with patch.multiple(search, EQUAL=1e-6, **steps), patch.object(naive, "EQUAL", 1e-6):
        yield


@pytest.fixture
def _exact():
    with exact():
        yield


def last(path, fast):
    *_, model = path
    return fast.finish(fast.merge_similar(model))


def as_naive(columns, test):
    if test.side == ONE_OF:
        return test.attribute, "in", frozenset(map(float, test.categories))
    k = columns.ordered.tolist().index(test.attribute)
    return test.attribute, SIDES[test.side], tuple(columns.cores[k, test.which].tolist())


def listed(fast, found):
    return [(s.sign, [as_naive(fast.columns, t) for t in s.tests], s.times) for s in found.rules]


# ---------------------------------------------------------------- parts, compared with the reference implementation


@settings(max_examples=often(120), deadline=None)
@given(tables())
def test_the_scan_agrees_with_brute_force(table):
    values, nominal, weights, rng = table
    fast, slow = both_searches(values, nominal, weights, 1.0)
    g, h = rng.normal(size=len(values)), rng.random(len(values))
    mu = rng.random(len(values)) * (rng.random(len(values)) < 0.7)
    columns = fast.columns
    # With a second score, because all scores are searched together.
    other = rng.random((2, len(values)))
    lanes = np.array([other[0], g * mu, other[1], h * mu * mu, weights * mu])
    sums = kernels.binned(columns.values, columns.bins, columns.n_bins, lanes)
    _, G, _, H, M = columns.from_bins(sums)
    for k, j in enumerate(columns.ordered.tolist()):
        n_ramps = len(slow.ramps[j])
        assert [*map(tuple, columns.cores[k, :n_ramps].tolist())] == [*slow.ramps[j]]
        assert np.isnan(columns.cores[k, n_ramps:]).all()
        for t, bounds in enumerate(slow.ramps[j]):
            for side, sign in SIDES.items():
                ramp = [naive.membership((j, sign, bounds), x, slow.ramps) for x in slow.rows]
                degree = mu * ramp
                scale = 1e-9 * (1e-300 + np.abs(g * mu).sum())
                assert G[k, t, side] == pytest.approx(sum(g * degree), abs=scale)
                assert H[k, t, side] == pytest.approx(sum(h * degree**2), abs=1e-9 * sum(h * mu**2))
                assert M[k, t, side] == pytest.approx(
                    sum(weights * degree), abs=1e-9 * sum(weights * mu)
                )


@settings(max_examples=often(60), deadline=None)
@given(tables(n_max=60))
def test_the_compiled_kernel_adds_the_same(table):
    values, nominal, weights, rng = table
    columns = SoftColumns.of(values, attributes_of(nominal), weights, WIDTH)
    if not len(columns.ordered):
        return
    layout = columns.values, columns.bins, columns.n_bins
    n_scores = int(rng.integers(1, 4))
    lanes = rng.normal(size=(2 * n_scores + 1, len(values))) * (rng.random(len(values)) < 0.7)
    lanes[n_scores:] = np.abs(lanes[n_scores:])
    arrays = kernels.binned(*layout, lanes)
    np.testing.assert_array_equal(compiled(kernels).binned(*layout, lanes), arrays)
    squared, sign = bool(rng.random() < 0.3), int(rng.integers(-1, 2))
    fast = induction(columns, None, weights.sum(), 0.5, n_scores=n_scores, squared=squared)
    ramps = columns.first, columns.last, columns.thresholds, columns.half_widths
    terms = 0.5, weights.sum() if squared else np.inf, sign, search.LEAST_MEMBERSHIP
    gains = compiled(kernels).threshold_gains(arrays, ramps, terms)
    np.testing.assert_array_equal(gains, fast._gains(columns.from_bins(arrays), sign))


@pytest.mark.parametrize("n", [2, 65, 66, 300])
def test_thresholds_are_the_midpoints_nearest_to_equal_fractions(n):
    rng = np.random.default_rng(n)
    for values in (rng.random(n), rng.integers(0, 150, n).astype(float), rng.random(n) ** 8):
        weights = rng.integers(1, 4, n).astype(float)
        expected = naive.thresholds(values.tolist(), weights.tolist())
        assert midpoints(values, weights, 64).tolist() == expected


@dataclass(eq=False)
class FixedBlock(Block):
    """A block whose gradients and curvatures are given, by score and sample."""

    g: np.ndarray = field(kw_only=True)
    h: np.ndarray = field(kw_only=True)

    def _derivatives(self, _):
        return self.g.T, self.h.T


@settings(max_examples=often(120), deadline=None)
@given(tables(), st.sampled_from([-1, 0, 1]), st.booleans(), st.sampled_from([1, 2, 3, 8]))
def test_the_search_for_a_rule_agrees_with_the_naive_search(table, sign, squared, n_scores):
    values, nominal, weights, rng = table
    n_scores = 1 if sign or squared else n_scores
    fast, slow = both_searches(values, nominal, weights, 0.5, squared)
    g = rng.normal(size=(len(values), n_scores))
    h = weights[:, None] * rng.random(n_scores)
    g -= g.mean(axis=0) if squared else 0.0
    allowed = rng.random((values.shape[1], 2)) < 0.8
    sides = {j: [SIDES[s] for s in np.flatnonzero(row)] for j, row in enumerate(allowed)}
    lanes = [{"g": g[:, c].tolist(), "h": h[:, c].tolist()} for c in range(n_scores)]
    pull = slow.main({"lanes": lanes, "sign": sign, "sides": sides if sign else {}})
    blocks = SampleBlocks.of(FixedBlock, fast.columns, weights=weights, g=g, h=h)
    fast = replace(
        fast, blocks=blocks, n_scores=n_scores, allowed={sign: allowed} if sign else None
    )
    found = fast.best_rule(AdditiveModel((), ()), sign)
    expected = slow.best_rule(pull)
    assert [as_naive(fast.columns, test) for test in found.tests] == expected
    assert found.gain == pytest.approx(slow.gain(expected, pull), rel=1e-9, abs=1e-12)


def both_votes(values, nominal, weights, classes, n_classes=3, least=0.0):
    def enough(rule):
        covered = sum(w * mu for w, mu in zip(weights, slow.degree(rule), strict=True))
        return covered >= least * sum(weights)

    fast, slow = both_searches(values, nominal, weights, 8 / 3)
    arrays = {"weights": weights * 1.0, "classes": classes, "loss_weights": weights * 1.0}
    blocks = SampleBlocks.of(VotingBlock, fast.columns, **arrays)
    n_scores = 1 if n_classes == 2 else n_classes
    fast = replace(fast, blocks=blocks, n_scores=n_scores, least_cover=least * weights.sum())
    twin = naive.Softmax(classes.tolist(), n_classes, weights.tolist(), 8 / 3, 0.3)
    return fast, last(fast.path(5), fast), naive.induce(slow, twin, 5, enough)


@pytest.mark.usefixtures("_exact")
@pytest.mark.parametrize("seed", [0, 1])
def test_rules_that_cover_too_little_are_refused(seed):
    rng = np.random.default_rng(seed)
    values, classes = rng.integers(0, 5, (18, 2)).astype(float), rng.integers(0, 3, 18)
    weights = rng.integers(1, 4, 18).astype(float)
    nominal = np.array([False, seed % 2 == 1])
    lengths = []
    for least in (0.0, 0.5):
        fast, found, (rules, _) = both_votes(values, nominal, weights, classes, least=least)
        assert listed(fast, found) == rules
        lengths.append([rule.tests for rule in found.rules])
    assert lengths[0] != lengths[1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_are_fitted_to_rounding(n_classes, monkeypatch):
    """At the minimum the gradient is 0, also where rules are equal."""
    monkeypatch.setattr(search, "TOLERANCE", 1e-15)
    monkeypatch.setattr(search, "MAX_STEPS", 3_000)
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, n_rules = rng.integers(3, 17), rng.integers(1, 6)
        degrees = rng.random((n_rules, n)) * (rng.random((n_rules, n)) < 0.6)
        degrees[-1] = degrees[0]
        classes, weights = (rng.integers(0, k, n) for k in (n_classes, 3))
        columns = SoftColumns.of(np.zeros((n, 0)), [], np.ones(n), WIDTH)
        columns = replace(columns, known=np.ones((1, n), dtype=bool))
        block = VotingBlock(columns, np.ones(n), False, classes=classes, loss_weights=weights + 1.0)
        rules = [(SoftTest(r, AT_MOST),) for r in range(n_rules)]
        block._degrees.update(zip(rules, degrees, strict=True))
        found = tuple(FoundRule(0, rule, 0.0) for rule in rules)
        n_scores = 1 if n_classes == 2 else n_classes
        fast = induction(columns, SampleBlocks([block]), n, 2.0, n_scores=n_scores)
        fit = fast.fit(found, np.zeros((n_scores, n_rules + 1)))
        slope = 2.0 * fit.weights[:, :-1] - block._derivatives(fit.model)[0] @ degrees.T
        assert np.abs(slope).max() < 1e-6


@pytest.mark.usefixtures("_exact")
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tables(n_max=16), st.integers(2, 3))
def test_voting_rules_are_those_of_the_naive_induction(table, n_classes):
    values, nominal, weights, rng = table
    classes = rng.integers(0, n_classes, len(values))
    fast, found, (rules, fitted) = both_votes(values, nominal, weights, classes, n_classes)
    assert listed(fast, found) == rules
    np.testing.assert_allclose(found.weights[:, :-1], fitted["weights"][:, :-1], atol=1e-5)
    np.testing.assert_allclose(found.weights[:, -1], fitted["weights"][:, -1], atol=1e-3)


@settings(max_examples=20, deadline=None)
@given(tables(n_max=16), st.booleans())
def test_sums_of_rules_are_those_of_the_naive_induction(table, directed):
    values, nominal, weights, rng = table
    target = rng.normal(size=len(values))
    fast, slow = both_searches(values, nominal, weights, 1.0, squared=True)
    up = np.ones((values.shape[1], 2), dtype=bool)
    up[0] = False, True
    allowed = {1: up, -1: up[:, ::-1]} if directed else None
    sides = {1: {0: [">="]}, -1: {0: ["<="]}} if directed else None
    blocks = SampleBlocks.of(SummingBlock, fast.columns, weights=weights, target=target)
    options = {"n_scores": 1, "least_gain": 0.05, "allowed": allowed, "repeats": 10}
    fast = replace(fast, blocks=blocks, **options)
    found = last(fast.path(5), fast)
    twin = naive.Squares(target.tolist(), weights.tolist(), 1.0, 0.05, sides)
    rules, fitted = naive.induce(slow, twin, 5, repeats=10)
    assert listed(fast, found) == rules
    np.testing.assert_allclose(found.weights, fitted["weights"], rtol=1e-6, atol=1e-9)


def test_rounding_errors_at_the_end_of_a_slope_add_no_category():
    """The degree of the sixth sample is 4e-16, and its category must not be a candidate."""
    gap = np.nan
    values = np.array(
        [
            [gap, 23970555.40389401, 2.0],
            [6.902106693072952, 11456194.07785506, 1.0],
            [gap, 27921168.705142237, 0.0],
            [gap, gap, 6.0],
            [gap, 77898844.86706048, 6.0],
            [6.8092031214823985, 8201235.335648929, 5.0],
            [1.7013105651898488, 59871119.31315609, gap],
            [4.4354766038496845, gap, 4.0],
        ]
    )
    target = np.array(
        [
            1.0781743474352106,
            -1.6377985158335673,
            -3.2465409245889494,
            -1.1581677708685443,
            2.0173950235685347,
            0.27240650489405105,
            -1.505076531877045,
            -0.6006075620112901,
        ]
    )
    given = SimpleNamespace(normal=lambda size: target[:size])
    table = values, np.array([False, False, True]), np.ones(8), given
    test_sums_of_rules_are_those_of_the_naive_induction.hypothesis.inner_test(table, True)


def test_similar_rules_are_merged_where_that_costs_nothing():
    values, ones = np.linspace(0, 1, 60)[:, None], np.ones(60)
    fast, _ = both_searches(values, [False], ones, 4.0)

    def sizes(classes, *tests):
        arrays = {"weights": ones, "classes": classes, "loss_weights": ones}
        blocks = SampleBlocks.of(VotingBlock, fast.columns, **arrays)
        one = replace(fast, blocks=blocks, n_scores=1)
        rules = tuple(FoundRule(0, (SoftTest(0, *test),), 1.0) for test in tests)
        return [rule.times for rule in one.merge_similar(one.fit(rules, np.zeros((1, 3)))).rules]

    step = (values[:, 0] > 0.5).astype(int)
    assert sizes(step, (AT_LEAST, 28), (AT_LEAST, 30)) == [2]
    assert sizes(step, (AT_LEAST, 28), (AT_MOST, 30)) == [1, 1]  # other sides
    peak = (np.abs(values[:, 0] - 0.5) < 0.25).astype(int)
    assert sizes(peak, (AT_LEAST, 12), (AT_LEAST, 46)) == [1, 1]  # other votes


# ---------------------------------------------------------------- the classifier


def noisy(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["age", "dose", "noise", "rate"])
    score = X["age"] + 0.8 * X["dose"] - X["rate"] + rng.normal(size=n)
    return X, np.where(score > 0.3, "yes", "no")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_rule_set_has_the_fitted_predictions(n_classes):
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X[y < n_classes], y[y < n_classes].to_numpy()
    fit = AdditiveRulesClassifier(max_rules=6).fit(X, y)
    rules = fit.ruleset_
    assert len(rules) <= 6
    assert max(len(rule.conditions) for rule in rules) <= 4
    assert (rules.semantics.name, rules.t_norm, rules.clip) == ("softmax-votes", "product", True)
    columns = SoftColumns.of(X.to_numpy(), rules.attributes, np.ones(len(y)), WIDTH)
    arrays = {"weights": np.ones(len(y)), "classes": y, "loss_weights": np.ones(len(y))}
    blocks = SampleBlocks.of(VotingBlock, columns, **arrays)
    options = {"max_conditions": 4, "n_scores": 1 if n_classes == 2 else n_classes}
    penalty = 8 / 3 if n_classes == 3 else 2.0
    fast = induction(columns, blocks, len(y), penalty, **options)
    model = last(fast.path(6), fast)
    expected = blocks.blocks[0].scores(model.model)
    expected = np.vstack([0.0 * expected, expected]) if n_classes == 2 else expected
    scores = rules.scores(X)
    leads, expected_leads = scores[:, 1] - scores[:, 0], expected[1] - expected[0]
    scale = float(np.median(leads / expected_leads))
    assert np.isclose(scale, SCALES).any()
    np.testing.assert_allclose(leads, scale * expected_leads, atol=1e-6)
    np.testing.assert_allclose(fit.predict_proba(X).sum(axis=1), 1.0)
    assert (fit.predict(X) == fit.predict_proba(X).argmax(axis=1)).all()
    for rule, covered in zip(rules, rules.covers(X).T, strict=True):
        assert rule.statistics.support == tuple(np.bincount(y[covered], minlength=n_classes))


def test_rules_are_printed_with_their_contributions():
    X, y = load_iris(return_X_y=True, as_frame=True)
    votes = AdditiveRulesClassifier(max_rules=1).fit(X, y.map({0: "setosa", 1: "v", 2: "v"}))
    text, base = str(votes.ruleset_).splitlines()
    scores = votes.ruleset_.base
    assert base == f"BASE target = setosa: {scores[0]:+.2f}, v: {scores[1]:+.2f}"
    assert text.endswith(
        f"THEN target = setosa: {votes.ruleset_[0].weight:+.2f}   [covers 51 of 150, precision 0.98]"
    )
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    sums = AdditiveRulesRegressor(max_rules=1).fit(X, y).ruleset_
    text, base = str(sums).splitlines()
    known = f"   [covers {sums[0].statistics.covered} of 442, mean "
    assert f" THEN target {sums[0].consequent:+.3g}{known}" in text
    assert base == f"BASE target {sums.base[0]:.4g}"


def by_rules(fit, X):
    """Return probabilities by votes only, without priors."""
    return replace(fit.ruleset_, trust=1.0).predict_proba(X)


def test_balanced_classes_count_the_same_and_bases_are_priors_otherwise():
    X = np.zeros((10, 1))
    y = np.repeat([0, 1], [8, 2])
    balanced = AdditiveRulesClassifier(class_weight="balanced").fit(X, y)
    assert len(balanced.ruleset_) == 0
    np.testing.assert_allclose(by_rules(balanced, X)[0], [0.5, 0.5])
    plain = AdditiveRulesClassifier().fit(X, y)
    np.testing.assert_allclose(by_rules(plain, X)[0], [0.8, 0.2], atol=1e-3)
    given = AdditiveRulesClassifier(class_weight={1: 16.0}).fit(X, y)
    np.testing.assert_allclose(by_rules(given, X)[0], [0.2, 0.8], atol=1e-3)


@pytest.mark.parametrize("class_weight", ["balanced", None])
def test_weights_are_repetitions(class_weight):
    X, y = noisy(120)
    weights = np.random.default_rng(1).integers(0, 4, 120)
    learner = AdditiveRulesClassifier(class_weight=class_weight, max_rules=5)
    weighted = learner.fit(X, y, sample_weight=weights).ruleset_
    repeated = clone(learner).fit(X.loc[X.index.repeat(weights)], y.repeat(weights)).ruleset_
    assert str(weighted) == str(repeated)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_max_rules_is_respected():
    X, y = make_classification(400, 8, n_informative=6, n_classes=3, random_state=0)
    for max_rules in (1, 3, 30):
        rules = AdditiveRulesClassifier(max_rules=max_rules, max_conditions=2).fit(X, y).ruleset_
        assert len(rules) <= max_rules
        assert all(len(rule.conditions) <= 2 for rule in rules)
    assert len(rules) > 12


def test_rules_are_distinct():
    X, y = load_iris(return_X_y=True)
    rules = AdditiveRulesClassifier(max_rules=20).fit(X, y).ruleset_.rules
    assert len({(frozenset(rule.conditions), rule.consequent) for rule in rules}) == len(rules)


def test_monotone_models_are_monotone_everywhere():
    X, y = noisy()
    free = AdditiveRulesClassifier(max_rules=14).fit(X, y)
    fit = AdditiveRulesClassifier(monotonic_cst={"noise": 1, "rate": -1}, max_rules=14).fit(X, y)
    rng = np.random.default_rng(2)
    rows = pd.DataFrame(rng.uniform(-5, 5, (500, 4)), columns=X.columns)
    for name, direction in (("noise", 1), ("rate", -1)):
        higher = rows.assign(**{name: rows[name] + rng.exponential(1, 500)})
        change = direction * (fit.predict_proba(higher) - fit.predict_proba(rows))[:, 1]
        assert (change >= -1e-12).all()
    change = free.predict_proba(rows.assign(noise=9.0)) - free.predict_proba(rows.assign(noise=-9))
    assert change[:, 1].min() < 0  # not monotone without the constraint
    for rule in fit.ruleset_:
        for condition in rule.conditions:
            if condition.attribute == "noise":
                assert (condition.core_high == np.inf) == (rule.consequent == "yes")


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", "grey"], 200),
            "size": pd.Categorical(
                rng.choice(["S", "M", "L"], 200), categories=["S", "M", "L"], ordered=True
            ),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 200), "D"),
            "dose": rng.normal(size=200),
        }
    )
    y = np.where(frame["colour"].isin(["red", "blue"]) & (frame["size"] > "S"), "yes", "no")
    frame.loc[rng.random(200) < 0.1, ["colour", "dose"]] = None
    fit = AdditiveRulesClassifier().fit(frame, y)
    assert fit.score(frame, y) > 0.9
    sets = [c.values for r in fit.ruleset_ for c in r.conditions if isinstance(c, NominalCondition)]
    assert frozenset({"red", "blue"}) in sets
    assert RuleSet.from_json(fit.ruleset_.to_json()) == fit.ruleset_
    with pytest.raises(ValueError, match="have no order"):
        AdditiveRulesClassifier(monotonic_cst={"colour": 1}).fit(frame, y)


def test_large_sets_of_categories_are_written_as_exclusions(monkeypatch):
    rng = np.random.default_rng(0)
    colours = rng.choice(["red", "green", "blue", "grey"], 200)
    frame = pd.DataFrame({"colour": colours, "dose": rng.normal(size=200)})
    y = np.where((frame["colour"] != "red") & (frame["dose"] > 0), "yes", "no")
    condition_of = SoftColumns._condition

    def as_set(columns, test, attribute):
        if test.side != ONE_OF:
            return condition_of(columns, test, attribute)
        return NominalCondition("colour", {attribute.categories[c] for c in test.categories})

    fit = AdditiveRulesClassifier(max_rules=2).fit(frame, y)
    monkeypatch.setattr(SoftColumns, "_condition", as_set)
    plain = clone(fit).fit(frame, y)
    assert condition_texts(fit.ruleset_, fit.ruleset_[0])[1] == "colour != red"
    assert condition_texts(plain.ruleset_, plain.ruleset_[0])[1] == "colour in {blue, green, grey}"
    assert np.array_equal(fit.predict_proba(frame), plain.predict_proba(frame))
    new = pd.DataFrame({"colour": ["violet", "grey", "red"], "dose": 2.0})
    assert fit.predict(new).tolist() == ["yes", "yes", "no"]
    assert plain.predict(new).tolist() == ["no", "yes", "no"]


@pytest.mark.parametrize("most", [1, 3, 8])
def test_a_condition_lists_few_categories(most):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 40, 1_500)
    frame = pd.DataFrame(
        {"town": [f"t{code:02}" for code in codes], "dose": rng.normal(size=1_500)}
    )
    noise, few = rng.random(1_500) < 0.05, (codes >= 5) & (frame["dose"] > 0).to_numpy()
    for y in ((codes < 12) ^ noise, (codes < 20) ^ noise, few ^ noise):
        fit = AdditiveRulesClassifier(max_rules=6, max_categories=most).fit(frame, y)
        sets = [
            condition
            for rule in fit.ruleset_
            for condition in rule.conditions
            if isinstance(condition, NominalCondition)
        ]
        assert sets
        assert max(len(condition.values) for condition in sets) <= most
    assert any(condition.excludes for condition in sets) or most < 5


def test_polars_and_pandas_give_the_same_rules():
    X, y = noisy(100)
    fit = AdditiveRulesClassifier(max_rules=4).fit(X, y)
    assert clone(fit).fit(pl.from_pandas(X), y).ruleset_ == fit.ruleset_


def test_compiled_and_interpreted_fits_agree(monkeypatch):
    X, y = make_classification(500, 6, n_informative=4, n_classes=3, random_state=0)
    monkeypatch.setattr("frri.learners.additive.classifier.MOST_RULES", 10)
    rulesets = []
    for is_compiled in (False, True):
        monkeypatch.setattr(blocks_module, "pays", lambda *_, paying=is_compiled, **__: paying)
        rulesets.append(AdditiveRulesClassifier(n_jobs=2).fit(X, y).ruleset_)
    assert rulesets[0].rules == rulesets[1].rules  # to the last bit
    assert rulesets[0].base == rulesets[1].base


def test_degenerate_tables():
    one = AdditiveRulesClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert one.predict([[5.0]]).tolist() == ["a"]
    alone = AdditiveRulesClassifier().fit([[1.0]], [7])
    assert alone.predict_proba([[0.0]]).tolist() == [[1.0]]
    for values in (np.arange(20.0) * 1e-300, (np.arange(20.0) - 10) * 1e299):
        fit = AdditiveRulesClassifier(max_rules=4).fit(values[:, None], np.arange(20) > 9)
        assert fit.score(values[:, None], np.arange(20) > 9) == 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"max_rules": 0},
            'max_rules must be an integer from 1 on or "auto", got 0',
        ),
        ({"max_rules": "many"}, "max_rules must be"),
        ({"max_conditions": 1.5}, "max_conditions must be an integer from 1 on, got 1.5"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"class_weight": "even"}, "class_weight must be"),
        ({"class_weight": {"perhaps": 1.0}}, "names the class 'perhaps', which 'class' does not"),
        ({"class_weight": {"yes": 0.0}}, "class_weight of 'yes' is 0"),
        ({"monotonic_cst": {"agee": 1}}, "has no column 'agee'; did you mean 'age'"),
        ({"monotonic_cst": {"age": 2}}, "monotonic_cst of 'age' must be"),
        ({"monotonic_cst": ["age"]}, "monotonic_cst must map"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        AdditiveRulesClassifier(**parameters).fit(*noisy(30))


def test_monotone_needs_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="'class' has 3 classes; leave monotonic_cst out"):
        AdditiveRulesClassifier(monotonic_cst={"x0": 1}).fit(X, y)


def test_tools_of_scikit_learn():
    X, y = noisy(150)
    search = GridSearchCV(AdditiveRulesClassifier(), {"max_rules": [2, 6]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.7
    fit = make_pipeline(StandardScaler(), AdditiveRulesClassifier(max_rules=3)).fit(X, y)
    assert (pickle.loads(pickle.dumps(fit)).predict_proba(X) == fit.predict_proba(X)).all()
    few = AdditiveRulesClassifier(max_rules=6, calibrate=False)
    scores = cross_val_score(few, *load_wine(return_X_y=True), cv=5)
    assert scores.mean() > 0.93


# ---------------------------------------------------------------- the regressor


def test_the_sum_of_contributions_is_the_fitted_value():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    fit = AdditiveRulesRegressor().fit(X, y)
    rules = fit.ruleset_
    assert len(rules) == fit.path_.chosen <= 40
    assert (rules.semantics.name, rules.task) == ("added-contributions", "regression")
    columns = SoftColumns.of(X.to_numpy(), rules.attributes, np.ones(len(y)), 1.0)
    scaled = ((y - y.mean()) / y.std(ddof=0)).to_numpy()
    blocks = SampleBlocks.of(SummingBlock, columns, weights=np.ones(len(y)), target=scaled)
    options = {"max_conditions": 4, "least_gain": 0.2, "n_scores": 1, "squared": True}
    fast = induction(columns, blocks, len(y), 4.0, **options)
    expected = blocks.blocks[0].scores(last(fast.path(len(rules)), fast).model)[0]
    expected = expected * y.std(ddof=0) + y.mean()
    np.testing.assert_allclose(fit.predict(X), expected, rtol=1e-9)
    np.testing.assert_allclose(rules.predict(X), expected, rtol=1e-9)
    assert RuleSet.from_json(rules.to_json()) == rules
    assert 0.4 < cross_val_score(AdditiveRulesRegressor(), X, y, cv=2).mean() < fit.score(X, y)


def test_predictions_follow_the_units_of_the_target():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    fit = AdditiveRulesRegressor(max_rules=3).fit(X, y)
    for scale, shift in ((1e-200, 0.0), (1e90, -5e92), (1e-3, 7.0)):
        again = clone(fit).fit(X, y * scale + shift)
        np.testing.assert_allclose(
            (again.predict(X) - shift) / scale, fit.predict(X), rtol=1e-6, atol=1e-6
        )


def test_weights_are_repetitions_in_regression_too():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = AdditiveRulesRegressor().fit(X, y, sample_weight=weights)
    repeated = AdditiveRulesRegressor().fit(X.loc[X.index.repeat(weights)], y.repeat(weights))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_monotone_numbers():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    fit = AdditiveRulesRegressor(monotonic_cst={"bmi": 1, "s3": -1, "age": 1}).fit(X, y)
    assert fit.score(X, y) > 0.4
    for name, direction in (("bmi", 1), ("s3", -1), ("age", 1)):
        change = fit.predict(X.assign(**{name: X[name] + 0.02})) - fit.predict(X)
        assert (direction * change >= -1e-9).all()


def test_constant_and_single_numbers():
    assert AdditiveRulesRegressor().fit([[1.0], [2.0]], [3.0, 3.0]).predict([[9.0]]) == [3.0]
    assert AdditiveRulesRegressor().fit([[1.0]], [-2]).predict([[0.0]]) == [-2.0]
    steps = np.arange(20.0)
    exact = AdditiveRulesRegressor().fit(steps[:, None], (steps > 9) * 1.0)
    assert exact.score(steps[:, None], (steps > 9) * 1.0) > 0.6


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (["1", "many"], "'target' holds 'many' in row 2, which is not a number"),
        ([1.0, 1e305], "holds 1e\\+305 in row 2"),
        ([1.0, None], "has no value"),
    ],
)
def test_targets_that_are_not_numeric(numbers, message):
    with pytest.raises(ValueError, match=message):
        AdditiveRulesRegressor().fit([[1.0], [2.0]], np.array(numbers, dtype=object))


@pytest.mark.parametrize("learner", [AdditiveRulesClassifier, AdditiveRulesRegressor])
def test_missing_values_are_treated_as_the_parameter_states(learner):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(size=60).round(2), "b": random.choice(["u", "v"], 60)})
    y = (X["a"] > 0).astype(int).to_numpy()
    X = X.mask(random.random(X.shape) < 0.3).astype({"b": object})
    X["b"] = X["b"].where(X["b"].notna(), None)
    full = X.fillna({"a": X["a"].median(), "b": X["b"].mode()[0]})
    typical, filled = learner(missing="typical").fit(X, y), learner().fit(full, y)
    assert typical.ruleset_.missing == "typical"
    assert typical.ruleset_.rules == filled.ruleset_.rules
    np.testing.assert_array_equal(typical.predict(X), filled.predict(full))
    assert learner(missing="fails").fit(X, y).ruleset_.missing == "fails"
    with pytest.raises(ValueError, match="Missing values"):
        learner(missing="error").fit(X, y)
    with pytest.raises(ValueError, match="missing must be one of"):
        learner(missing="similar").fit(X, y)

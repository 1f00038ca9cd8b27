"""Sample weights: integers compared with repeated rows, fractions with the definition, bad weights."""

import math
import warnings
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

import naive_rough as naive
from frri import MODLEMClassifier, RuleSet
from frri.learners.registry import LEARNERS
from frri.learners.training_table import Weights
from thorough import often

IRIS = load_iris(return_X_y=True, as_frame=True)
WEIGHTS = np.random.default_rng(0).integers(0, 4, 150)


def quietly(learner, *table, **extra):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # columns that may be identifiers
        return learner.fit(*table, **extra)


# --- against repeated rows, and against the definition


@st.composite
def frames(draw):
    """Return numbers and strings with ties, duplicates, contradictions and missing values, and labels."""
    n = draw(st.integers(2, 12))
    columns = {}
    for j in range(draw(st.integers(1, 3))):
        texts = draw(st.booleans())
        values = ["p", "q", "r", None] if texts else [0.0, 0.5, 2.0, 7.0, math.nan]
        column = draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
        columns[f"a{j}"] = pd.Series(column, dtype=object if texts else float)
    labels = draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=n, max_size=n))
    return pd.DataFrame(columns), np.array(labels, dtype=object)


learners = st.builds(
    MODLEMClassifier,
    criterion=st.sampled_from(["laplace", "entropy"]),
    approximation=st.sampled_from(["lower", "upper", "none"]),
    missing=st.sampled_from(["typical", "fails"]),
)


@settings(deadline=None, max_examples=often(150))
@given(frames(), learners, st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_integer_weights_are_repeated_rows(table, learner, weights):
    X, y = table
    weights = weights[: len(X)]
    assume(any(weights))
    weighted = quietly(learner, X, y, sample_weight=weights).ruleset_
    rows = np.repeat(np.arange(len(X)), weights)
    assert weighted == quietly(learner, X.iloc[rows], y[rows]).ruleset_


@pytest.mark.parametrize("criterion", ["laplace", "entropy"])
def test_integer_weights_are_repeated_rows_in_large_tables(criterion):
    random = np.random.default_rng(1)
    X = random.normal(size=(800, 6)).round(2)
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0.4) ^ (random.random(800) < 0.1)
    weights = random.integers(0, 4, 800)
    learner = MODLEMClassifier(criterion=criterion)
    weighted = learner.fit(X, y, sample_weight=weights).ruleset_
    assert weighted == learner.fit(X.repeat(weights, axis=0), y.repeat(weights)).ruleset_


@settings(deadline=None, max_examples=often(100))
@given(frames(), learners)
def test_equal_weights_have_no_effect(table, learner):
    X, y = table
    plain = quietly(learner, X, y).ruleset_
    assert quietly(learner, X, y, sample_weight=np.ones(len(X))).ruleset_ == plain


def integer_bounds(low, high, column):
    """Bounds of a column of integers: 1.5 <= x < 4.5 is 2 <= x <= 4."""
    low, high = np.ceil(low), np.ceil(high) - 1
    is_flag = {*column[~np.isnan(column)]} == {0, 1}
    return (max(low, 0), min(high, 1)) if is_flag else (low, high)


@settings(deadline=None, max_examples=often(100))
@given(st.integers(0, 2**32 - 1), learners, st.sampled_from([0.01, 1.0, 100.0]))
def test_fractions_follow_the_definition(seed, learner, scale):
    random = np.random.default_rng(seed)
    weights = (random.random(12) * scale).tolist()
    X = random.integers(0, 5, (12, 2)).astype(float)
    X[random.random(X.shape) < 0.1] = np.nan
    y = random.integers(0, 3, 12)
    classes, codes = np.unique(y, return_inverse=True)
    rows, codes, n_classes = X.tolist(), codes.tolist(), len(classes)
    kind = learner.approximation
    rules = learner.set_params(missing="fails").fit(X, y, sample_weight=weights).ruleset_
    expected = naive.modlem(
        rows, codes, n_classes, [False] * 2, learner.criterion, kind, dict(enumerate(weights))
    )
    assert [
        (rule.consequent, {c.attribute: (c.support_low, c.support_high) for c in rule.conditions})
        for rule in rules
    ] == [
        (classes[c], {f"x{a}": integer_bounds(*bounds, X[:, a]) for a, bounds in own.items()})
        for c, own in expected
    ]
    for rule, (c, conditions) in zip(rules, expected, strict=True):
        target = naive.approximation(rows, codes, c, kind)
        assert rule.weight == pytest.approx(naive.m_estimate(rows, target, conditions, weights))
        covered = [
            i
            for i, row in enumerate(rows)
            if all(naive.holds(row[a], k) for a, k in conditions.items())
        ]
        assert rule.statistics.covered == pytest.approx(float(naive.weigh(covered, weights)))
    scores = np.array(
        [naive.modlem_scores(expected, rows, codes, n_classes, kind, row, weights) for row in rows]
    )
    shares = scores / scores.sum(axis=1, keepdims=True)
    by_rules = replace(rules, trust=1.0)
    np.testing.assert_allclose(by_rules.predict_proba(X), shares, atol=1e-12)


def test_rows_of_weight_0_are_ignored():
    X = pd.DataFrame({"a": [1.0, np.inf, 2.0, 3.0], "b": ["p", 5, "q", "p"]})
    y = ["no", None, "yes", "yes"]
    left_out = MODLEMClassifier().fit(X, y, sample_weight=[1, 0, 1, 1])
    kept = [0, 2, 3]
    assert left_out.ruleset_ == MODLEMClassifier().fit(X.iloc[kept], [y[i] for i in kept]).ruleset_
    assert left_out.classes_.tolist() == ["no", "yes"]


def test_a_heavy_object_changes_the_rule():
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
    light = MODLEMClassifier(approximation="none").fit(X, y)
    heavy = MODLEMClassifier(approximation="none").fit(X, y, sample_weight=[1, 9, 1, 1])
    assert light.predict([[2.5]]) != heavy.predict([[2.5]]) or light.ruleset_ != heavy.ruleset_
    rule = next(rule for rule in heavy.ruleset_ if rule.statistics.support[1] >= 9)
    assert rule.weight == pytest.approx((9 + 3 * 10 / 12) / (9 + 3))


def test_statistics_are_sums_of_weights():
    X, y = IRIS
    rules = MODLEMClassifier().fit(X, y, sample_weight=WEIGHTS / 4).ruleset_
    assert rules.class_counts == tuple(WEIGHTS[y == c].sum() / 4 for c in range(3))
    covers = rules.covers(X)
    for r, rule in enumerate(rules):
        own = covers[:, r]
        support = tuple(WEIGHTS[own & (y == c)].sum() / 4 for c in range(3))
        assert rule.statistics.support == support
        assert rule.statistics.alone == WEIGHTS[own & (covers.sum(axis=1) == 1)].sum() / 4
        assert rule.statistics.precision == support[rule.consequent] / sum(support)
    assert RuleSet.from_json(rules.to_json()) == rules
    whole = MODLEMClassifier().fit(X, y, sample_weight=WEIGHTS).ruleset_
    assert all(type(count) is int for rule in whole for count in rule.statistics.support)


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=50))
def test_sums_are_exact_in_any_order(weights):
    found = Weights.of(np.array(weights))
    assert found.units.min() >= 1
    total = found.worth(found.units.sum())
    assert total == pytest.approx(math.fsum(weights), rel=1e-15)


def test_extreme_weights():
    assert Weights.of(np.array([5e-324, 5e-324])).units.tolist() == [1, 1]
    far_apart = Weights.of(np.array([1e-300, 1.0]))
    assert far_apart.units[0] == 1
    assert far_apart.worth(far_apart.units[1]) == 1.0
    assert Weights.of(np.array([1e300, 1e300])).unit > 1
    X, y = IRIS
    for scale in (1e-300, 1e-6, 1e9, 1e300):
        model = MODLEMClassifier(criterion="entropy").fit(X, y, sample_weight=np.full(150, scale))
        assert model.score(X, y) > 0.95


# --- how they are given


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        lambda w: w.astype(np.float32),
        lambda w: w.astype(object),
        lambda w: pd.Series(w, index=range(900, 1050)),
        lambda w: pd.Series(w, dtype="Int64"),
        pl.Series,
        pa.array,
        lambda w: [Decimal(int(x)) for x in w],
    ],
)
def test_weights_in_any_form(form):
    X, y = IRIS
    expected = MODLEMClassifier().fit(X, y, sample_weight=WEIGHTS).ruleset_
    assert MODLEMClassifier().fit(X, y, sample_weight=form(WEIGHTS)).ruleset_ == expected


@pytest.mark.parametrize(
    "form",
    [
        lambda X, y: (X.to_numpy().tolist(), y.tolist()),
        lambda X, y: (X.set_index(X.index + 7), y),
        lambda X, y: (pl.from_pandas(X), pl.Series("target", y)),
        lambda X, y: (pa.Table.from_pandas(X), pa.chunked_array([y.to_numpy()])),
        lambda X, y: (X, y.to_frame()),
    ],
)
def test_tables_in_any_form(form):
    X, y = IRIS
    expected = MODLEMClassifier().fit(X, y, sample_weight=WEIGHTS).ruleset_
    found = MODLEMClassifier().fit(*form(X, y), sample_weight=WEIGHTS).ruleset_
    assert found.predict(X.to_numpy()).tolist() == expected.predict(X).tolist()
    assert found.class_counts == expected.class_counts


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"sample_weight has the shape \(2,\), but the table has 3 rows; give one"),
        ([[1], [2], [3]], r"the shape \(3, 1\), but the table has 3 rows"),
        (2.0, r"the shape \(\), but the table has 3 rows"),
        ([1, -2, 3], r"holds -2 in row 2 \(1 of 3 rows\); weights must be 0 or more and finite"),
        ([1, math.nan, math.nan], r"holds nan in row 2 \(2 of 3 rows\)"),
        ([1, None, 1], "holds nan in row 2"),
        ([1, 2, math.inf], "holds inf in row 3"),
        ([0, 0, 0], "is zero in every row; give at least one row a weight above 0"),
        (["1", "2", "3"], "holds '1' in row 1, which is not a number"),
        ([1, 2j, 3], "in row 1, which is not a number"),
        ([1e308, 1e308, 1e308], "sum of sample_weight is infinite; divide all weights"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message) as caught:
        MODLEMClassifier().fit([[1.0], [2.0], [3.0]], [0, 1, 1], sample_weight=weights)
    assert len(str(caught.value).splitlines()) == 1


def test_errors_number_rows_as_they_were_given():
    X, y = [[1.0], [2.0], [3.0]], ["a", "b", None]
    with pytest.raises(ValueError, match="in row 3"):
        MODLEMClassifier().fit(X, y, sample_weight=[0, 1, 1])


# --- scikit-learn, and the other learners


def test_weights_are_routed():
    X, y = IRIS
    assert has_fit_parameter(MODLEMClassifier(), "sample_weight")
    expected = MODLEMClassifier().fit(X, y, sample_weight=WEIGHTS)
    pipeline = make_pipeline(MODLEMClassifier())
    pipeline.fit(X, y, modlemclassifier__sample_weight=WEIGHTS)
    assert pipeline[-1].ruleset_ == expected.ruleset_
    with sklearn.config_context(enable_metadata_routing=True):
        learner = MODLEMClassifier().set_fit_request(sample_weight=True)
        learner.set_score_request(sample_weight=True)
        assert (
            make_pipeline(learner).fit(X, y, sample_weight=WEIGHTS)[-1].ruleset_
            == expected.ruleset_
        )
        scores = cross_val_score(learner, X, y, params={"sample_weight": WEIGHTS})
    assert scores.mean() > 0.8


NAMES = ["frri", "compact", "ripper", "furia", "modlem", "additive", "quickrules"]


def made(name, **parameters):
    seeded = {"random_state": 0} if name in {"ripper", "furia"} else {}
    return LEARNERS[name].make(**seeded, **parameters)


@pytest.mark.parametrize("name", ["ripper", "furia", "quickrules"])
def test_weights_of_classes_are_weights_of_their_objects(name):
    X, y = IRIS
    X, y = X[30:], y[30:]
    weights = y.map({0: 3.0, 1: 1.0, 2: 0.5}).to_numpy()
    expected = quietly(made(name), X, y, sample_weight=weights).ruleset_
    assert quietly(made(name, class_weight={0: 3, 2: 0.5}), X, y).ruleset_ == expected
    both = made(name, class_weight={0: 3})
    rest = np.where(y == 2, 0.5, 1.0)
    assert quietly(both, X, y, sample_weight=rest).ruleset_ == expected
    even = quietly(made(name, class_weight="balanced"), X, y, sample_weight=rest).ruleset_
    assert even.class_counts == pytest.approx([rest.sum() / 3] * 3)


@pytest.mark.parametrize("name", NAMES)
def test_statistics_of_rules_are_sums_of_weights(name):
    X, y = IRIS
    model = quietly(made(name), X, y, sample_weight=WEIGHTS / 4)
    rules = model.ruleset_
    kept = WEIGHTS > 0
    assert rules.class_counts == pytest.approx([WEIGHTS[y == c].sum() / 4 for c in range(3)])
    found = rules.statistics(X[kept], y[kept], WEIGHTS[kept] / 4)
    for rule, known in zip(rules, found, strict=True):
        assert rule.statistics.support == pytest.approx(known.support)
        assert rule.statistics.alone == pytest.approx(known.alone)
        assert rule.statistics.precision == pytest.approx(known.precision)
    assert RuleSet.from_json(rules.to_json()) == rules


def test_rules_of_frri_do_not_depend_on_weights():
    X, y = IRIS
    plain = quietly(made("frri"), X, y).ruleset_
    weighted = quietly(made("frri"), X, y, sample_weight=1 + WEIGHTS).ruleset_
    assert [(rule.conditions, rule.weight) for rule in weighted] == [
        (rule.conditions, rule.weight) for rule in plain
    ]
    assert weighted.predict(X).tolist() == plain.predict(X).tolist()


@pytest.mark.parametrize("parameters", [{}, {"coverage_test": "close", "ties": "first"}])
def test_repeated_rows_of_quickrules_are_weights(parameters):
    X, y = IRIS
    often = np.repeat(np.arange(150), WEIGHTS.astype(int))
    model = made("quickrules", **parameters)
    weighted = quietly(clone(model), X, y, sample_weight=WEIGHTS)
    repeated = quietly(clone(model), X.iloc[often], y.iloc[often])
    assert weighted.reduct_.tolist() == repeated.reduct_.tolist()
    assert [(rule.conditions, rule.consequent) for rule in weighted.ruleset_] == [
        (rule.conditions, rule.consequent) for rule in repeated.ruleset_
    ]


@pytest.mark.parametrize("name", ["frri", "frri-bags", "modlem"])
def test_no_class_weights_where_they_would_change_no_rule(name):
    with pytest.raises(ImportError, match="class_weight"):
        made(name, class_weight="balanced")


@pytest.mark.parametrize("name", ["ripper", "furia"])
def test_a_heavy_class_is_predicted_more_often(name):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3)).round(1)
    y = (X[:, 0] + random.normal(size=300) > 1.2).astype(int)
    plain = quietly(made(name), X, y).predict(X).sum()
    assert quietly(made(name, class_weight={1: 10}), X, y).predict(X).sum() > plain


@pytest.mark.parametrize("name", ["ripper", "furia"])
def test_equal_weights_have_no_effect_where_objects_are_drawn(name):
    """Compare the weighted search with the compiled or unweighted one."""
    X, y = IRIS
    plain = made(name).fit(X, y).ruleset_
    assert made(name).fit(X, y, sample_weight=np.ones(150)).ruleset_ == plain
    with_gaps = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
    plain = made(name).fit(with_gaps, y).ruleset_
    assert made(name).fit(with_gaps, y, sample_weight=np.ones(150)).ruleset_ == plain


@pytest.mark.parametrize("name", ["compact", "ripper", "furia", "additive", "quickrules"])
@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("even", "class_weight must be \"balanced\", None or a mapping of classes, got 'even'"),
        ({"perhaps": 2}, "class_weight names the class 'perhaps', which 'target' does not have"),
        ({1: 0}, "class_weight of 1 is 0; give it a finite number above 0"),
        ({1: "x"}, "class_weight of 1 is 'x'; give it a finite number above 0"),
    ],
)
def test_bad_weights_of_classes(name, class_weight, message):
    with pytest.raises(ValueError, match=message):
        quietly(made(name, class_weight=class_weight), *IRIS)


@pytest.mark.parametrize("name", NAMES)
def test_every_learner_takes_weights_by_that_name_only(name):
    assert has_fit_parameter(made(name), "sample_weight")
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        made(name).fit(*IRIS, weights=WEIGHTS)

"""Ordinal classifiers: comparison with their definitions, monotone attributes, and use."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import naive
import naive_ordinal
from frri import (
    AdditiveRulesOrdinalClassifier,
    Attribute,
    FRRIOrdinalClassifier,
    NumericCondition,
    Rule,
    RuleSet,
)
from frri.explain import explain
from frri.learners.additive.regressor import fit_cuts
from frri.learners.classification import ordered_positions
from frri.table import EncodedTable
from thorough import often

LEARNERS = [FRRIOrdinalClassifier(), AdditiveRulesOrdinalClassifier(max_rules=4)]


@pytest.mark.filterwarnings(
    "ignore"
)  # about contradictory rows and single classes, which occur here
@parametrize_with_checks(LEARNERS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def quiet(learner, X, y, **extra):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(X, y, **extra)


@st.composite
def tables(draw):
    """Return tables with ties, duplicates, contradictory rows, a constant column, one class, missing values."""
    n = draw(st.integers(1, 9))
    m = draw(st.integers(1, 3))
    scale = draw(st.sampled_from([1.0, 1e-6, 1e8]))
    cell = st.sampled_from([0.0, 1.0, 2.0, 3.0, 4.5])
    values = np.array([[draw(cell) * scale for _ in range(m)] for _ in range(n)])
    if draw(st.booleans()):
        values[:, 0] = scale
    classes = [draw(st.integers(0, 3)) for _ in range(n)]
    directions = [draw(st.sampled_from([-1, 0, 1])) for _ in range(m)]
    return values, classes, directions


def declared(directions):
    return {f"x{j}": d for j, d in enumerate(directions) if d} or None


# ---------------------------------------------------------------- FRRI


@settings(max_examples=often(120), deadline=None)
@given(tables(), st.booleans(), st.booleans())
def test_frri_is_its_definition(case, with_gaps, with_categories):
    X, y, directions = case
    labels, classes = np.unique(y, return_inverse=True)
    table, nominal = X.copy(), ()
    if with_gaps and len(X) > 1:
        table[::3, -1] = np.nan
    frame = pd.DataFrame(table, columns=[f"x{j}" for j in range(X.shape[1])])
    if with_categories and X.shape[1] > 1:
        nominal, directions = (0,), [0, *directions[1:]]
        _, table[:, 0] = np.unique(X[:, 0], return_inverse=True)
        frame["x0"] = [chr(ord("a") + int(code)) for code in table[:, 0]]
    missing = "similar" if with_gaps else "typical"
    monotone = declared(directions)
    learner = FRRIOrdinalClassifier(monotonic_cst=monotone, min_support=0, missing=missing)
    found = quiet(learner, frame, pd.Series(y))
    values = naive.scale(table, nominal=nominal)
    order = range(X.shape[1])
    expected = naive_ordinal.fit(values, classes, len(labels), directions, order, nominal)

    def key(rule):
        return rule["rising"], rule["bound"], rule["anchor"]

    mine = zip(found.ruleset_, found.selected_, strict=True)
    mine = sorted(
        (rule.relation == "at least", labels.tolist().index(rule.consequent), int(u), rule.weight)
        for rule, u in mine
    )
    theirs = sorted(expected, key=key)
    assert [one[:3] for one in mine] == [key(rule) for rule in theirs]
    assert [one[3] for one in mine] == pytest.approx([rule["confidence"] for rule in theirs])
    assert found.selection_.status == "optimal"
    assert found.selection_.lower_bound == len(expected) == found.selection_.n_rules

    for row, passed in zip(values, found.ruleset_.scores(frame), strict=True):
        margins = naive_ordinal.margins(expected, len(labels), row, nominal)
        for share, (pro, contra) in zip(passed[1:], margins, strict=True):
            if max(pro, contra) > -np.inf and abs(pro - contra) > 1e-9:
                assert (share > 0.5) == (pro > contra)


@pytest.mark.parametrize("learner", LEARNERS, ids=["frri", "additive"])
def test_a_weight_of_k_equals_k_rows(learner):
    X, y = load_iris(return_X_y=True)
    X, y, weights = X[::3], y[::3], np.arange(len(y[::3])) % 3
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = quiet(learner, X, y, sample_weight=weights).ruleset_
    repeated = quiet(learner, X[rows], y[rows]).ruleset_
    assert weighted.class_counts == repeated.class_counts
    assert len(weighted) == len(repeated)
    table = EncodedTable(X, weighted.attributes)
    np.testing.assert_allclose(weighted.scores(table), repeated.scores(table), atol=1e-9)


def test_objects_without_rules_are_reported():
    X = [[1.0], [1.0], [2.0], [3.0]]
    with pytest.warns(UserWarning, match="2 of 4 samples contradict others.*: rows 1, 2[.]"):
        found = FRRIOrdinalClassifier().fit(X, [0, 2, 1, 2])
    assert found.uncovered_.tolist() == [0, 1]
    # Not worse than an object of a higher class, and therefore without a rule against it.
    with pytest.warns(UserWarning, match="same or nearly the same or better values.*: rows 3, 4"):
        FRRIOrdinalClassifier(monotonic_cst={"x0": 1}).fit(
            [[1.0], [2.0], [3.0], [4.0]], [0, 1, 2, 1]
        )
    with pytest.warns(UserWarning, match="All samples have the class 7: the only rule is empty"):
        assert FRRIOrdinalClassifier().fit(X, [7, 7, 7, 7]).predict([[0]]).tolist() == [7]


def test_limits_of_frri():
    X, y = load_iris(return_X_y=True, as_frame=True)
    whole = FRRIOrdinalClassifier(min_support=0).fit(X, y)
    fewer = FRRIOrdinalClassifier(min_new_coverage=0.05).fit(X, y)
    assert len(fewer.ruleset_) < len(whole.ruleset_) == whole.selection_.lower_bound
    assert "newly covers 5% of its union" in fewer.selection_.claim
    assert len(quiet(FRRIOrdinalClassifier(max_rules=4), X, y).ruleset_) == 4
    short = quiet(FRRIOrdinalClassifier(max_conditions=1, min_support=0.1), X, y).ruleset_
    sizes = {("at least", 1): 100, ("at least", 2): 50, ("at most", 0): 50, ("at most", 1): 100}
    for rule in short:
        assert len(rule.conditions) == 1
        assert rule.statistics.covered >= 0.1 * sizes[rule.relation, rule.consequent]
        assert rule.statistics.precision == 1.0


# ---------------------------------------------------------------- cuts


@settings(max_examples=often(200), deadline=None)
@given(st.data())
def test_cuts_have_the_minimum_error(data):
    n, n_classes = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 4))
    scores = [data.draw(st.sampled_from([-1.0, 0.0, 0.25, 2.0, 5.0])) for _ in range(n)]
    classes = [data.draw(st.integers(0, n_classes - 1)) for _ in range(n)]
    weights = [data.draw(st.sampled_from([1.0, 2.0, 0.5])) for _ in range(n)]
    cuts = fit_cuts(np.array(scores), np.array(classes), np.array(weights), n_classes)
    best = naive_ordinal.best_cuts(scores, classes, weights, n_classes)
    assert (np.diff(cuts) >= 0).all()
    wrong = naive_ordinal.error(scores, classes, weights, cuts)
    assert wrong == naive_ordinal.error(scores, classes, weights, best)


# ---------------------------------------------------------------- monotone attributes


@pytest.mark.parametrize("learner", LEARNERS, ids=["frri", "additive"])
@settings(max_examples=often(120), deadline=None)
@given(case=tables(), seed=st.integers(0, 2**16))
def test_predictions_are_monotone_in_monotone_attributes(learner, case, seed):
    X, y, directions = case
    found = quiet(learner.set_params(monotonic_cst=declared(directions)), X, y)
    random = np.random.default_rng(seed)
    low, high = X.min(axis=0), X.max(axis=0)
    worse = low + (high - low) * random.choice([-0.5, 0.0, 0.3, 0.5, 1.0, 1.5], (60, X.shape[1]))
    step = (high - low) * random.choice([0.0, 0.1, 0.5, 3.0], worse.shape)
    better = worse + step * directions
    scores = [
        found.ruleset_.scores(EncodedTable(Z, found.ruleset_.attributes)) for Z in (worse, better)
    ]
    assert (scores[0] <= scores[1]).all()
    assert (found.predict(worse) <= found.predict(better)).all()
    learner.set_params(monotonic_cst=None)


def test_proofs_are_reported_until_rules_are_edited():
    X, y = load_iris(return_X_y=True, as_frame=True)
    name = "petal width (cm)"
    for learner in LEARNERS:
        rules = quiet(learner.set_params(monotonic_cst={name: 1}), X, y).ruleset_
        learner.set_params(monotonic_cst=None)
        assert (
            rules.about["monotone"]
            == f"Proven: no prediction falls as {name} rises, other features unchanged."
        )
        assert RuleSet.from_json(rules.to_json()).about == rules.about
        assert "monotone" not in rules.without_rule(0).about
        assert "monotone" not in quiet(learner, X, y).ruleset_.about
        with pytest.raises(
            ValueError, match=r"monotonic_cst of 'petal width.*must be [+]1 or -1, got 2"
        ):
            learner.set_params(monotonic_cst={name: 2}).fit(X, y)
        learner.set_params(monotonic_cst=None)


# ---------------------------------------------------------------- classes


@pytest.mark.parametrize("learner", LEARNERS, ids=["frri", "additive"])
def test_the_order_of_classes(learner):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    order = ["low", "middle", "high"]
    y = pd.Series(["low", "low", "middle", "middle", "high", "high"], name="level")
    with pytest.warns(
        UserWarning, match="ordered alphabetically: 'high' < 'low' < 'middle'; give class_"
    ):
        quiet_learner = learner.fit(X, y)
    assert quiet_learner.classes_.tolist() == ["high", "low", "middle"]
    fitted = quiet(learner.set_params(class_order=[*order, "never seen"]), X, y)
    assert fitted.classes_.tolist() == list(fitted.ruleset_.classes) == order
    assert fitted.predict(X).tolist() == y.tolist()
    assert (
        fitted.predict_proba(X).argmax(axis=1) == fitted.decision_function(X).argmax(axis=1)
    ).all()
    learner.set_params(class_order=None)
    ordered = y.astype(pd.CategoricalDtype(order, ordered=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert learner.fit(X, ordered).ruleset_ == fitted.ruleset_


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("low", "must list the classes from the lowest to the highest, got 'low'"),
        (["low"], "lacks 'high', a class of 'level'; add it in its place"),
        (["low", "high", "low"], "has 'low' twice; name every class once"),
    ],
)
def test_invalid_orders(order, message):
    with pytest.raises(ValueError, match=message):
        ordered_positions(order, ("high", "low"), "level")


# ---------------------------------------------------------------- explanations


def test_the_smallest_change_to_at_least_a_class():
    """The search and brute force find the same."""
    attributes = Attribute("a", 0, 8), Attribute("b", 0, 8)
    rules = (
        Rule((NumericCondition("a", 2, 5),), "good", 0.8, relation="at least"),
        Rule((NumericCondition("a", 1, 3),), "fair", 0.6, relation="at least"),
        Rule(
            (NumericCondition("b", core_high=1, support_high=4),), "poor", 0.7, relation="at most"
        ),
    )
    bounds = RuleSet(
        rules, attributes, ("poor", "fair", "good"), semantics="at-least-class", fallback="nearest"
    )
    sums = RuleSet(
        (Rule(rules[0].conditions, 2.0), Rule(rules[2].conditions, -1.5)),
        attributes,
        ("poor", "fair", "good"),
        semantics="cumulative-logits",
        base=(0.5, -0.75),
        t_norm="product",
    )
    grid = np.linspace(0, 8, 161)
    for ruleset, row in product((bounds, sums), ([1.0, 0.5], [2.5, 2.0], [8.0, 8.0])):
        for goal in ("fair", "good"):
            found = explain(ruleset, row, at_least=goal)
            wanted = ruleset.classes.index(goal)
            if ruleset.classes.index(found.decision) >= wanted:
                assert f"It is at least {goal} already." in str(found)
                continue
            costs = []
            for j in range(2):
                tried = np.tile(row, (len(grid), 1))
                tried[:, j] = grid
                reached = ruleset.predict_index(tried) >= wanted
                costs += (np.abs(grid - row[j])[reached] / 8).tolist()
            if costs:
                assert f"leads to at least {goal}" in str(found)
                assert len(found.change.changes) == 1
                assert found.change.proved
                assert min(costs) - 0.05 / 8 <= found.change.cost <= min(costs) + 1e-9
                changed = list(row)
                for one in found.change.changes:
                    changed["ab".index(one.attribute)] = one.after
                assert ruleset.predict_index(np.array([changed]))[0] >= wanted
    nominal = RuleSet((), attributes, ("no", "yes"))
    with pytest.raises(ValueError, match="The classes of 'class' have no order; leave at_least"):
        explain(nominal, [1, 1], at_least="yes")
    with pytest.raises(
        ValueError, match="at_most must be one of 'poor', 'fair', 'good', got 'bad'"
    ):
        explain(bounds, [1, 1], at_most="bad")
    with pytest.raises(ValueError, match="two goals"):
        explain(bounds, [1, 1], at_most="fair", at_least="fair")

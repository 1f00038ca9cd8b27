"""Attribute orders and all minimal rules in FRRI, compared with their definitions."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

import naive
import naive_orders
from frri import ConditionType, FRRIClassifier
from frri.learners.frri.pipeline import NAMED_ORDERS, class_orders, mutual_information
from frri.learners.training_table import TrainingTable, scaled_values
from frri.table.encode import describe_columns
from thorough import often

quiet = pytest.mark.filterwarnings("ignore::UserWarning")


@settings(max_examples=often(120), deadline=None)
@given(st.data(), st.booleans())
def test_mutual_information_by_definition(data, nominal):
    n = data.draw(st.integers(1, 25))
    values = st.sampled_from(
        [0.0, 1.0, 2.0, 5.0, np.nan] if nominal else [-1e9, 0.1, 0.3, 7, np.nan]
    )
    column = data.draw(st.lists(values, min_size=n, max_size=n))
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    found = mutual_information(np.array(column), np.array(labels), nominal=nominal)
    assert found == naive_orders.mutual_information(column, labels, nominal=nominal)


def test_tenths_of_many_values():
    rng = np.random.default_rng(0)
    column, labels = rng.random(97).round(2), rng.integers(0, 3, 97)
    expected = naive_orders.mutual_information(column.tolist(), labels.tolist())
    assert mutual_information(column, labels) == expected


@st.composite
def tables(draw):
    """Return tables with ties, duplicates, contradictory rows, constant columns, one class, one row."""
    n, m = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    number = st.sampled_from([0.0, 0.25, 0.5, 1.0, 0.3])
    rows = draw(st.lists(st.lists(number, min_size=m, max_size=m), min_size=n, max_size=n))
    scale = draw(st.sampled_from([1.0, 1e-200, 1e200]))
    labels = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return np.array(rows) * scale, np.array(labels)


@settings(max_examples=often(80), deadline=None)
@given(tables())
def test_orders_by_definition(table):
    X, y = table
    labels, classes = np.unique(y, return_inverse=True)
    attributes = describe_columns(X, map(str, range(X.shape[1])))
    trained = TrainingTable(X, classes, tuple(labels.tolist()), attributes, "class")
    values, _ = scaled_values(trained)
    columns = range(X.shape[1])

    def found(order):
        return class_orders(order, trained, values, 0, initial=None).tolist()

    # Equal rows are counted once.
    pairs = zip(X.tolist(), classes.tolist(), strict=True)
    once = sorted({(tuple(row), c): u for u, (row, c) in enumerate(pairs)}.items())
    few = [c for (_, c), _ in once]
    scaled = [values[u].tolist() for _, u in once]
    information = [
        naive_orders.mutual_information(column, few) for column in zip(*scaled, strict=True)
    ]
    assert found("mutual-information") == sorted(columns, key=lambda a: information[a])
    assert found("given") == list(columns)
    assert sorted(found("random")) == list(columns)


@quiet
@settings(max_examples=often(60), deadline=None)
@given(tables(), st.sampled_from(NAMED_ORDERS))
def test_all_minimal_rules_need_the_fewest_by_brute_force(table, order):
    X, y = table
    values, classes = naive.scale(X), np.unique(y, return_inverse=True)[1]
    confidence = naive.confidences(values, classes)
    pool = [
        (u, kinds)
        for u in range(len(X))
        for kinds in sorted(naive_orders.minimal_rules(values, classes, u, confidence[u]))
    ]
    covers = [
        [naive.covers(kinds, values[u], confidence[u], v) for v in values] for u, kinds in pool
    ]
    costs = [naive_orders.length(kinds)[0] for _, kinds in pool]
    best = naive.minimum_cover(covers, costs)
    fitted = FRRIClassifier(candidates="all-minimal").fit(X, y)
    chosen = fitted.selection_
    assert (chosen.status, chosen.n_rules) == ("optimal", len(best))
    assert chosen.n_conditions == sum(costs[j] for j in best)
    assert (chosen.n_incomplete, chosen.max_candidates) == (0, 100)
    one_each = FRRIClassifier(attribute_order=order, random_state=0).fit(X, y)
    assert chosen.n_rules <= one_each.selection_.n_rules
    np.testing.assert_array_equal(one_each.uncovered_, fitted.uncovered_)


@pytest.fixture(scope="module")
def rounded_wines():
    """Return wines rounded to few values, so that classes overlap, with a category and missing values."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.iloc[::3, :5].round(0)
    X["colour"] = np.where(X["malic_acid"] > 2, "dark", "light")
    X.iloc[::9, 1] = np.nan
    return X, y.iloc[::3].map({0: "a", 1: "b", 2: "c"})


@quiet
@pytest.mark.parametrize("order", NAMED_ORDERS)
def test_rules_of_any_order_hold_without_exception(rounded_wines, order):
    X, y = rounded_wines
    for missing in ("typical", "similar"):
        fitted = FRRIClassifier(attribute_order=order, missing=missing, random_state=0).fit(X, y)
        assert fitted.selection_.status == "optimal"
        for statistics in fitted.ruleset_.statistics(X, y):
            assert statistics.precision == 1.0
        covered = fitted.ruleset_.covers(X).any(axis=1)
        assert np.flatnonzero(~covered).tolist() == fitted.uncovered_.tolist()


@quiet
def test_an_object_that_weighs_2_is_two_objects(rounded_wines):
    X, y = rounded_wines
    order = "mutual-information"
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    again = np.repeat(np.arange(len(X)), weights)
    models = (
        FRRIClassifier(attribute_order=order).fit(X, y, sample_weight=weights),
        FRRIClassifier(attribute_order=order).fit(X.iloc[again], y.iloc[again]),
    )
    one, other = ({(r.conditions, r.consequent) for r in model.ruleset_} for model in models)
    assert one == other


@quiet
def test_all_minimal_rules_of_a_mixed_table(rounded_wines):
    X, y = rounded_wines
    few = FRRIClassifier(candidates="all-minimal").fit(X, y)
    many = FRRIClassifier().fit(X, y)
    assert few.selection_.n_rules < many.selection_.n_rules
    assert few.selection_.n_candidates > many.selection_.n_rules
    np.testing.assert_array_equal(few.condition_types_, many.condition_types_)
    assert [rule.source for rule in few.ruleset_] == few.selected_.tolist()
    found = few.ruleset_.statistics(X, y)
    assert [rule.statistics for rule in few.ruleset_] == list(found)
    shortest = FRRIClassifier(attribute_order="shortest").fit(X, y)
    lengths = [
        (model.condition_types_ != ConditionType.UNUSED).sum(axis=1) for model in (shortest, many)
    ]
    assert (lengths[0] <= lengths[1]).all()
    assert (lengths[0] < lengths[1]).any()


def test_limits_on_rules_of_all_minimal_ones():
    X, y = load_iris(return_X_y=True)
    for limits in (
        {"max_rules": 4},
        {"coverage": 0.9},
        {"min_new_coverage": 0.1},
        {"max_conditions": 2},
    ):
        few = FRRIClassifier(candidates="all-minimal", **limits).fit(X, y)
        many = FRRIClassifier(**limits).fit(X, y)
        worth = [
            (model.ruleset_.covers(X).any(axis=1).sum(), -len(model.ruleset_))
            for model in (few, many)
        ]
        if "coverage" in limits:
            assert len(few.ruleset_) <= len(many.ruleset_)
        elif "min_new_coverage" in limits:
            assert few.selection_.worth >= many.selection_.worth
        else:
            assert worth[0][0] >= worth[1][0]
            assert all(
                len(rule.attributes) <= limits.get("max_conditions", 4) for rule in few.ruleset_
            )


def test_a_limit_that_is_reached_is_reported():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="samples have more than 1 minimal rules.* max_candidates"):
        one = FRRIClassifier(candidates="all-minimal", max_candidates=1).fit(X, y)
    assert one.selection_.n_incomplete > 0
    assert one.ruleset_.rules == FRRIClassifier().fit(X, y).ruleset_.rules
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FRRIClassifier(candidates="all-minimal").fit(X, y)


def test_an_order_of_one_column_and_one_class():
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    for order in NAMED_ORDERS:
        with pytest.warns(UserWarning, match="All samples have the class"):
            fitted = FRRIClassifier(attribute_order=order, candidates="all-minimal").fit(
                frame, ["x", "x"]
            )
        assert len(fitted.ruleset_) == 1

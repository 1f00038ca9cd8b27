"""Explanations: the facts, and the smallest change against brute force."""

import itertools
import json
from math import inf, nextafter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet, fuzzy
from frri.changes import smallest_change
from frri.data import to_matrix

A = Attribute("a", -2.0, 2.0)
B = Attribute("b", 0.0, 1.0)
COLOUR = Attribute("colour", categories=("blue", "green", "red"))
SIZE = Attribute("size", categories=("S", "M", "L", "XL"), kind="ordinal")
ATTRIBUTES = (A, B, COLOUR, SIZE)

DIABETES = RuleSet(
    (
        Rule((NumericCondition("glucose", core_high=105, support_high=191),), "no", 0.9),
        Rule((NumericCondition("glucose", 100, 180), NumericCondition("age", 20, 40)), "yes", 0.8),
    ),
    (Attribute("glucose", 44, 199), Attribute("age", 20, 80)),
    ("no", "yes"),
    target="diabetes",
)


@st.composite
def ordered_conditions(draw, name, bounds):
    ends = sorted(draw(st.lists(st.sampled_from(bounds), min_size=4, max_size=4)))
    ends[0] = draw(st.sampled_from([ends[0], ends[1]]))
    ends[3] = draw(st.sampled_from([ends[3], ends[2]]))
    if draw(st.booleans()):
        ends[0] = ends[1] = -inf
    if draw(st.booleans()):
        ends[2] = ends[3] = inf
    return NumericCondition(name, *ends)


conditions = st.one_of(
    ordered_conditions("a", [i / 4 for i in range(-8, 9)]),
    ordered_conditions("b", [i / 8 for i in range(9)]),
    ordered_conditions("size", [i / 2 for i in range(7)]),
    st.builds(
        NominalCondition,
        st.just("colour"),
        st.frozensets(st.sampled_from(COLOUR.categories), min_size=1, max_size=2),
    ),
)


@st.composite
def rulesets(draw):
    rules = []
    for _ in range(draw(st.integers(1, 5))):
        chosen = tuple(draw(st.lists(conditions, max_size=3)))
        weights = st.sampled_from([0.1, 0.5, 0.7, 1.0])
        rules.append(
            Rule(
                chosen,
                draw(st.sampled_from("xyz")),
                draw(st.sampled_from([0.25, 0.5, 0.9, 1.0])),
                distribution=draw(st.sampled_from([None, None, (0.5, 0.25, 0.25)])),
                partial_weights=tuple(draw(weights) for _ in range(1 << len(chosen))),
            )
        )
    return RuleSet(
        tuple(rules),
        ATTRIBUTES,
        ("x", "y", "z"),
        t_norm=draw(st.sampled_from(["minimum", *sorted(fuzzy.T_NORMS)])),
        combination=draw(st.sampled_from(["best", "sum", "first"])),
        fallback=draw(st.sampled_from(["nearest", "stretched", "partial", "priors"])),
        clip=draw(st.booleans()),
        missing=draw(st.sampled_from(["fails", "holds"])),
        class_counts=(3.0, 5.0, 2.0),
    )


rows = st.fixed_dictionaries(
    {
        "a": st.one_of(st.none(), st.integers(-10, 10).map(lambda i: i / 4)),
        "b": st.one_of(st.none(), st.integers(0, 16).map(lambda i: i / 16)),
        "colour": st.sampled_from(["blue", "green", "red", "never seen", None]),
        "size": st.sampled_from(["S", "M", "L", "XL", "never seen", None]),
    }
)


def brute_force(ruleset, row, changeable):
    """Fewest attributes and least cost over a grid that has every bound and its neighbours on it."""
    values = []
    for j, attribute in enumerate(ruleset.attributes):
        own = row[j]
        places = []
        if j in changeable and attribute.categories is not None:
            places = [float(code) for code in range(len(attribute.categories))]
        elif j in changeable:
            reach = [attribute.low, attribute.high] + ([] if np.isnan(own) else [own])
            bounds = [
                near
                for rule in ruleset
                for c in rule.conditions
                if c.attribute == attribute.name
                for bound in c.trapezoid
                for near in (nextafter(bound, -inf), bound, nextafter(bound, inf))
                if min(reach) <= near <= max(reach)
            ]
            places = [*np.linspace(min(reach), max(reach), 17), *bounds]
        values.append([own, *sorted({place for place in places if place != own})])
    grid = np.array(list(itertools.product(*values)))
    decided = ruleset.predict_index(row[None, :])[0]
    altered = grid[ruleset.predict_index(grid) != decided]
    keys = [measure(ruleset, row, point) for point in altered]
    return min(keys, default=None)


def measure(ruleset, row, point):
    """How many attributes change, and the sum of their changes in shares of the ranges."""
    count, cost = 0, 0.0
    for attribute, old, new in zip(ruleset.attributes, row, point, strict=True):
        if old == new or (np.isnan(old) and np.isnan(new)):
            continue
        count += 1
        unknown = np.isnan(old) or (attribute.categories is not None and old < 0)
        nominal = attribute.kind == "nominal"
        cost += 1.0 if nominal or unknown else abs(new - old) / attribute.width
    return count, cost


@settings(max_examples=150, deadline=None)
@given(rulesets(), rows, st.sets(st.sampled_from(range(4))))
def test_no_point_of_a_grid_is_a_smaller_change(ruleset, row, unchangeable):
    encoded = to_matrix(pd.DataFrame([row]), ATTRIBUTES)[0]
    changeable = set(range(4)) - unchangeable
    found = smallest_change(ruleset, encoded, changeable, 3000)
    expected = brute_force(ruleset, encoded, changeable)
    if found.row is None:
        assert expected is None or not found.proved
        return
    assert ruleset.predict_index(found.row[None, :]) != ruleset.predict_index(encoded[None, :])
    count, cost = measure(ruleset, encoded, found.row)
    assert cost == pytest.approx(found.cost)
    for j in unchangeable:
        assert found.row[j] == encoded[j] or np.isnan(found.row[j])
    if found.proved and expected is not None:
        assert count <= expected[0]
        assert count < expected[0] or cost <= expected[1] + 1e-8
    assert found.bound <= found.cost


@settings(max_examples=100, deadline=None)
@given(rulesets(), rows, st.sets(st.sampled_from(["a", "colour"])))
def test_a_reported_change_really_changes_the_decision(ruleset, row, unchangeable):
    explanation = ruleset.explain(row, unchangeable=unchangeable, effort=1000)
    assert explanation.decision == ruleset.predict(pd.DataFrame([row]))[0]
    np.testing.assert_allclose(explanation.shares, ruleset.predict_proba(pd.DataFrame([row]))[0])
    assert json.loads(json.dumps(explanation.to_dict()))["target"] == "class"
    assert str(explanation)
    if explanation.change is not None:
        changed = row | {c.attribute: c.after for c in explanation.change.changes}
        assert not unchangeable & {c.attribute for c in explanation.change.changes}
        after = ruleset.predict(pd.DataFrame([changed]))[0]
        assert after == explanation.change.decision != explanation.decision


def test_the_smallest_change_crosses_the_border_between_two_slopes():
    found = smallest_change(DIABETES, np.array([170.0, 50.0]), {0})
    # 0.9 (191 - x) / 86 = 0.8 (x - 100) / 80
    border = (0.9 * 191 / 86 + 1.0) / (0.9 / 86 + 0.01)
    assert found.row[0] == pytest.approx(border)
    assert found.proved


def test_a_change_of_two_attributes_is_solved_as_a_linear_program():
    low = NumericCondition("a", -2, 2), NumericCondition("b", 0, 1)
    rules = RuleSet((Rule(low, "x"), Rule((), "y", 0.6)), (A, B), ("y", "x"))
    found = smallest_change(rules, np.array([-2.0, 0.0]), {0, 1})
    assert found.proved
    assert found.cost == pytest.approx(1.2, abs=1e-7)
    assert found.row == pytest.approx([0.4, 0.6], abs=1e-6)


def test_degenerate_borders_are_proved_too():
    """Along the border any mixture of the two changes costs the same, after a third has been made."""
    attributes = tuple(Attribute(name, 0.0, 1.0) for name in "uvw")
    rules = (
        Rule((NumericCondition("u", 0, 1), NumericCondition("w", 0.5, 0.5)), "x"),
        Rule((NumericCondition("v", 0, 1),), "y"),
    )
    found = smallest_change(
        RuleSet(rules, attributes, ("x", "y")), np.array([0.2, 0.7, 0.0]), {0, 1, 2}
    )
    assert found.proved
    assert found.cost <= 1.0


def test_nothing_alters_a_constant():
    rules = RuleSet(
        (Rule((), "x"), Rule((NumericCondition("a", 0, 1),), "y", 0.5)), (A,), ("x", "y")
    )
    explanation = rules.explain([1.0])
    assert explanation.change is None
    assert explanation.unalterable
    assert "No change" in str(explanation)


def test_all_kinds_of_rows_are_understood():
    row = {"glucose": 170, "age": 60}
    expected = DIABETES.explain(row)
    frame = pd.DataFrame([{"extra": 1} | row])
    for given_row in (
        [170, 60],
        np.array([170.0, 60.0]),
        np.array([[170.0, 60.0]]),
        pd.Series(row),
        frame,
        pl.DataFrame(frame),
    ):
        assert DIABETES.explain(given_row) == expected


def test_the_facts_of_an_explanation():
    explanation = DIABETES.explain({"glucose": 170, "age": 60})
    assert explanation.decision == "yes"
    assert explanation.fallback is None
    assert [rule.index for rule in explanation.firing] == [1, 0]
    assert explanation.deciding.weakest.attribute == "glucose"
    assert explanation.deciding.contribution == pytest.approx(0.7)
    (rival,) = explanation.rivals
    assert (rival.label, rival.rule.index) == ("no", 0)
    assert rival.obstacles[0].needed == "at most 124.1"
    assert list(explanation.to_frame()["role"]) == ["decides", "decides", "fires"]
    (change,) = explanation.change.changes
    assert (change.attribute, change.before, change.after) == ("glucose", 170.0, 146.0)
    assert "glucose were 146 instead of 170" in str(explanation)


def test_unchangeable_attributes_stay():
    explanation = DIABETES.explain([170, 60], unchangeable=["glucose"])
    assert [c.attribute for c in explanation.change.changes] == ["age"]
    with pytest.raises(ValueError, match="'weight', which is not an attribute"):
        DIABETES.explain([170, 60], unchangeable=["weight"])


def test_a_saved_file_is_enough(tmp_path):
    DIABETES.save(tmp_path / "rules.json")
    assert RuleSet.load(tmp_path / "rules.json").explain([170, 60]) == DIABETES.explain([170, 60])


def test_dates_categories_and_missing_values_are_shown_as_such():
    attributes = (Attribute("day", 19000, 20000, kind="date"), COLOUR, SIZE)
    rules = RuleSet(
        (
            Rule(
                (
                    NumericCondition("day", core_high=19358, support_high=19358),
                    NominalCondition("colour", frozenset({"red"})),
                    NumericCondition("size", core_high=1, support_high=1),
                ),
                "y",
            ),
        ),
        attributes,
        ("x", "y"),
        combination="first",
        fallback="priors",
    )
    row = {"day": "2023-06-01", "colour": "pink", "size": None}
    explanation = rules.explain(row)
    changes = {c.attribute: (c.before, c.after) for c in explanation.change.changes}
    assert changes["day"] == ("2023-06-01", "2023-01-01")
    assert changes["colour"] == ("pink", "red")
    assert changes["size"][0] is None
    assert changes["size"][1] in {"S", "M"}
    assert explanation.change.cost == pytest.approx(151 / 1000 + 2)
    assert explanation.fallback == "priors"
    assert "colour = pink, needed red" in str(explanation)


@pytest.mark.parametrize("effort", [1, 3, 30])
def test_without_effort_nothing_is_claimed(effort):
    generator = np.random.default_rng(0)
    attributes = tuple(Attribute(f"x{j}", 0.0, 1.0) for j in range(6))
    rules = [
        Rule(
            tuple(NumericCondition(f"x{j}", v - 0.3, v, v, v + 0.3) for j, v in enumerate(values)),
            int(generator.integers(2)),
            0.5,
        )
        for values in generator.random((20, 6))
    ]
    ruleset = RuleSet(tuple(rules), attributes, (0, 1), combination="sum", t_norm="product")
    row = generator.random(6)
    found = smallest_change(ruleset, row, range(6), effort)
    whole = smallest_change(ruleset, row, range(6), 20_000)
    assert not found.proved or found.cost == pytest.approx(whole.cost)
    if found.row is not None:
        assert ruleset.predict_index(found.row[None, :]) != ruleset.predict_index(row[None, :])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"glucose": 1}, "no value for 'age'"),
        ([[1, 2], [3, 4]], "One row is explained at a time, got 2"),
        ([1, 2, 3], "Expected a table of 2 columns"),
    ],
)
def test_rows_that_do_not_fit(row, message):
    with pytest.raises(ValueError, match=message):
        DIABETES.explain(row)

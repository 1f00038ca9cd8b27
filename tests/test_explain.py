"""Explanations: their content, and counterfactuals compared with brute force."""

import contextlib
import itertools
import json
import sqlite3
from dataclasses import replace
from decimal import Decimal
from math import inf, nextafter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet, fuzzy
from frri.cli import main
from frri.explain.counterfactual import find_counterfactual
from frri.table import to_matrix
from thorough import often

A = Attribute("a", -2.0, 2.0, typical=0.5)
B = Attribute("b", 0.0, 1.0)
COLOUR = Attribute("colour", categories=("blue", "green", "red"), typical="green")
SIZE = Attribute("size", categories=("S", "M", "L", "XL"), kind="ordinal", typical="M")
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
        st.booleans(),
    ),
)


@st.composite
def rulesets(draw):
    name = draw(st.sampled_from(["best-rule", "added-votes", "first-match", "softmax-votes"]))
    fallbacks = ["nearest", "stretched", "partial", "priors"]
    votes, base, rules = [None], (), []
    if name == "softmax-votes":
        fallbacks, base = ["base"], draw(st.sampled_from([(), (0.25, 0.0, -0.25)]))
        votes += [(1.0, 0.0, -0.5), (-1.0, 0.25, 0.25)]
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
                votes=draw(st.sampled_from(votes)),
            )
        )
    found = RuleSet(
        tuple(rules),
        ATTRIBUTES,
        ("x", "y", "z"),
        t_norm=draw(st.sampled_from(["minimum", *sorted(fuzzy.T_NORMS)])),
        semantics=name,
        base=base,
        fallback=draw(st.sampled_from(fallbacks)),
        clip=draw(st.booleans()),
        missing=draw(st.sampled_from(["typical", "fails", "similar"])),
        class_counts=(3.0, 5.0, 2.0),
    )
    decisions = ["accuracy", "balanced", {"x": 3}, {"y": 0.3, "z": 2}, {"z": 1e6}]
    return found.with_decision(draw(st.sampled_from(decisions)))


rows = st.fixed_dictionaries(
    {
        "a": st.one_of(st.none(), st.integers(-10, 10).map(lambda i: i / 4)),
        "b": st.one_of(st.none(), st.integers(0, 16).map(lambda i: i / 16)),
        "colour": st.sampled_from(["blue", "green", "red", "never seen", None]),
        "size": st.sampled_from(["S", "M", "L", "XL", "never seen", None]),
    }
)


def brute_force(ruleset, row, changeable):
    """Minimum number of attributes and minimum cost over a grid of all bounds and neighboring values."""
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
    """Number of changed attributes, and the sum of changes as fractions of the ranges."""
    count, cost = 0, 0.0
    for attribute, old, new in zip(ruleset.attributes, row, point, strict=True):
        if old == new or (np.isnan(old) and np.isnan(new)):
            continue
        count += 1
        unknown = np.isnan(old) or (attribute.categories is not None and old < 0)
        nominal = attribute.kind == "nominal"
        cost += 1.0 if nominal or unknown else abs(new - old) / attribute.width
    return count, cost


@settings(max_examples=often(150), deadline=None)
@given(rulesets(), rows, st.sets(st.sampled_from(range(4))))
def test_no_point_of_a_grid_is_a_smaller_change(ruleset, row, unchangeable):
    encoded = to_matrix(pd.DataFrame([row]), ATTRIBUTES)[0]
    changeable = set(range(4)) - unchangeable
    found = find_counterfactual(ruleset, encoded, changeable, 3000)
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


@settings(max_examples=often(100), deadline=None)
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


def test_a_counterfactual_crosses_the_border_between_two_slopes():
    found = find_counterfactual(DIABETES, np.array([170.0, 50.0]), {0})
    # 0.9 (191 - x) / 86 = 0.8 (x - 100) / 80
    border = (0.9 * 191 / 86 + 1.0) / (0.9 / 86 + 0.01)
    assert found.row[0] == pytest.approx(border)
    assert found.proved


def test_a_change_of_two_attributes_is_solved_as_a_linear_program():
    low = NumericCondition("a", -2, 2), NumericCondition("b", 0, 1)
    rules = RuleSet((Rule(low, "x"), Rule((), "y", 0.6)), (A, B), ("y", "x"))
    found = find_counterfactual(rules, np.array([-2.0, 0.0]), {0, 1})
    assert found.proved
    assert found.cost == pytest.approx(1.2, abs=1e-7)
    assert found.row == pytest.approx([0.4, 0.6], abs=1e-6)


def test_degenerate_borders_are_proved_too():
    """After a third change, all mixtures of two changes along the border have the same cost."""
    attributes = tuple(Attribute(name, 0.0, 1.0) for name in "uvw")
    rules = (
        Rule((NumericCondition("u", 0, 1), NumericCondition("w", 0.5, 0.5)), "x"),
        Rule((NumericCondition("v", 0, 1),), "y"),
    )
    found = find_counterfactual(
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


@pytest.mark.parametrize("trust", [1.0, 0.8])
def test_calibrated_probabilities_are_stated_and_others_are_not(trust):
    ruleset, row = replace(DIABETES, trust=trust), {"glucose": 170, "age": 50}
    text = str(ruleset.explain(row, effort=0))
    share = ruleset.predict_proba(pd.DataFrame([row])).max()
    assert (f"= yes with probability {share:.2f} because rule 2" in text) == (trust < 1.0)
    assert ("probability" in text) == (trust < 1.0)


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
        pl.DataFrame(frame).row(0, named=True),
        pl.DataFrame(frame).select("glucose", "age").row(0),
        pl.Series([170.0, 60.0]),
        pa.Table.from_pandas(frame),
        pa.RecordBatch.from_pandas(frame),
        pa.StructArray.from_arrays([pa.array([170]), pa.array([60])], ["glucose", "age"])[0],
        pa.array([170, 60]),
        next(frame.itertuples()),
        frame.to_records()[0],
        np.ma.array([170, 60]),
        [[170, 60]],
        (Decimal(170), np.float32(60)),
        {"age": 60, "glucose": pa.scalar(170)},
        pd.Series([60, 170], index=["age", "glucose"], dtype="Int64"),
        database_row("SELECT 170 AS glucose, 60 AS age"),
    ):
        assert DIABETES.explain(given_row) == expected


def database_row(query):
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.row_factory = sqlite3.Row
        return database.execute(query).fetchone()


def test_masked_values_of_a_row_are_missing():
    expected = DIABETES.explain([None, 60])
    assert expected.rivals[0].rule.conditions[0].value == "missing"
    assert DIABETES.explain(np.ma.array([170, 60], mask=[True, False])) == expected
    assert DIABETES.explain({"glucose": np.ma.masked, "age": 60}) == expected


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
    assert rival.aim == "score as much as rule 2 does now (0.70)"
    table = explanation.to_frame()
    assert list(table["role"]) == ["decides", "decides", "fires", "decides after the change"]
    assert list(table["rule"]) == [2, 2, 1, 1]
    assert list(table["value"]) == ["170", "60", "170", "146"]
    (change,) = explanation.change.changes
    assert (change.attribute, change.before, change.after) == ("glucose", 170.0, 146.0)
    assert "'no' by rule 1 if glucose were 146 instead of 170" in str(explanation)


def test_the_rule_behind_a_counterfactual_is_named():
    """It need not be the best rule of its class for the row as it is."""
    rules = RuleSet(
        (
            Rule((), "x", 0.5),
            Rule((NumericCondition("a", 1.9, 1.9), NumericCondition("b", 0.9, 0.9)), "y", 0.9),
            Rule((NumericCondition("a", core_high=-1.5, support_high=-1.5),), "y", 0.8),
        ),
        (A, B),
        ("x", "y"),
    )
    explanation = rules.explain([1.8, 0.85])
    (rival,) = explanation.rivals
    change = explanation.change
    assert (rival.rule.index, change.deciding.index, change.fallback) == (1, 2, None)
    assert change.deciding.conditions[0].value == "-1.5"
    assert explanation.to_dict()["change"]["deciding"]["index"] == 2
    assert str(explanation).endswith("'y' by rule 3 if a were -1.5 instead of 1.8.")
    assert explanation.to_frame()["rule"].iloc[-1] == 3


@pytest.mark.parametrize(
    ("fallback", "sentence"),
    [
        ("nearest", "; no rule fires then and the nearest rule decides, here rule 2."),
        ("priors", "; no rule fires then and the class with the highest prior is predicted."),
    ],
)
def test_a_change_after_which_no_rule_fires_is_reported(fallback, sentence):
    rules = RuleSet(
        (
            Rule((NumericCondition("a", -1, -1, 0, 0),), "x"),
            Rule((NumericCondition("a", 2, 2),), "y", 0.5),
        ),
        (A,),
        ("x", "y"),
        fallback=fallback,
        class_counts=(1, 2),
    )
    explanation = rules.explain([0.0], effort=1000)
    assert explanation.change.fallback == fallback
    assert str(explanation).endswith(sentence)


@pytest.mark.parametrize(
    ("change", "aim"),
    [
        ({}, "; to score as much as rule 2 does now (0.70): "),
        ({"t_norm": "product"}, "; to hold fully: "),
        ({"combination": "sum"}, "; to hold fully: "),
    ],
)
def test_needed_values_are_explained(change, aim):
    rules = replace(DIABETES, **change)
    assert aim in str(rules.explain([170, 60]))
    if not change:
        # With exactly that value, the rule has exactly that degree.
        (rival,) = rules.explain([170, 60]).rivals
        needed = 191 - (0.7 / 0.9) * 86
        assert rival.obstacles[0].needed == f"at most {needed:.1f}"
        assert rules.scores([[needed, 60]])[0, 0] == pytest.approx(0.7)


def test_a_rule_that_does_not_fire_lists_its_failing_conditions():
    rules = RuleSet(
        (Rule((NumericCondition("a", 1, 1.5),), "y"),), (A,), ("x", "y"), fallback="priors"
    )
    text = str(rules.explain([0.0]))
    assert "For 'y', rule 1 does not fire; to fire: a = 0, needed more than 1." in text
    assert rules.explain([1.01]).decision == "y"


def test_a_rule_may_decide_for_another_class_than_its_own():
    rules = (Rule((), "x", distribution=(0.25, 0.75)),)
    found = RuleSet(rules, (A,), ("x", "y"), combination="first").explain([0])
    assert found.decision == "y"
    assert found.rivals[0].reason == "rule 1 decides, and most of its share is of another class"


def test_unchangeable_attributes_stay():
    explanation = DIABETES.explain([170, 60], unchangeable=["glucose"])
    assert [c.attribute for c in explanation.change.changes] == ["age"]
    with pytest.raises(ValueError, match="'weight', which is not an attribute"):
        DIABETES.explain([170, 60], unchangeable=["weight"])


def test_one_unchangeable_attribute_may_be_given_by_its_name():
    expected = DIABETES.explain([170, 60], unchangeable=["glucose"])
    assert DIABETES.explain([170, 60], unchangeable="glucose") == expected
    letters = RuleSet((), tuple(Attribute(name, 0, 1) for name in ("a", "b", "ab")), ("x",))
    assert letters.explain([0, 0, 0], unchangeable="ab").unchangeable == ("ab",)


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


def test_explanations_of_exclusions():
    exclusion = NominalCondition("colour", frozenset({"red", "blue"}), excludes=True)
    settings = {"combination": "first", "fallback": "priors"}
    rules = RuleSet((Rule((exclusion,), "y"),), (COLOUR,), ("x", "y"), **settings)
    explanation = rules.explain({"colour": "red"})
    assert [(c.before, c.after) for c in explanation.change.changes] == [("red", "green")]
    assert "colour = red, needed other than blue or red" in str(explanation)
    assert rules.explain({"colour": "pink"}).decision == "y"


@pytest.mark.parametrize("effort", [1, 3, 30])
def test_without_a_search_nothing_is_claimed(effort):
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
    found = find_counterfactual(ruleset, row, range(6), effort)
    whole = find_counterfactual(ruleset, row, range(6), 20_000)
    assert not found.proved or found.cost == pytest.approx(whole.cost)
    if found.row is not None:
        assert ruleset.predict_index(found.row[None, :]) != ruleset.predict_index(row[None, :])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"glucose": 1}, "no value for 'age'"),
        ([[1, 2], [3, 4]], "One row is explained at a time, got 2"),
        ([1, 2, 3], "Expected a table of 2 columns"),
        (5, "A row is a mapping from column names .*, got 5."),
        (np.array(5.0), "A row is a mapping from column names"),
        ("170", "A row is a mapping from column names .*, got '170'."),
        ({170, 60}, "A row is a mapping from column names"),
        (None, "A row is a mapping from column names .*, got None."),
        (pd.Series([170, 60]), "no value for 'glucose'; give None"),
        (pd.Series([1, 2, 3], index=["glucose", "age", "age"]), "more than one value for 'age'"),
        (pa.table({"age": [1]}), "no column 'glucose'"),
        ({"glucose": "high", "age": 3}, "Column 'glucose' holds 'high'"),
        ([inf, 60], r"Column 'glucose' holds inf \(infinity\)"),
        ({"glucose": -inf, "age": 3}, r"Column 'glucose' holds -inf \(infinity\)"),
    ],
)
def test_rows_that_do_not_fit(row, message):
    with pytest.raises(ValueError, match=message):
        DIABETES.explain(row)


def test_imputed_values_are_shown():
    attributes = (Attribute("glucose", 44, 199, typical=120.0), Attribute("age", 20, 80))
    typical = replace(DIABETES, attributes=attributes, missing="typical")
    text = str(typical.explain({"glucose": None, "age": 50}))
    assert "glucose is missing: counted as 120" in text
    assert typical.explain({"glucose": None, "age": 50}).decision == "no"
    assert "counted as" not in str(typical.explain({"glucose": 120, "age": None}))
    assert "counted as" not in str(DIABETES.explain({"glucose": None, "age": 50}))


def prices():
    """Return a regression model whose rules add contributions to a base."""
    rules = (
        Rule((NumericCondition("age", 60, 60),), -30.0),
        Rule((NumericCondition("rooms", 2, 6),), 40.0, 2.0),
        Rule((NumericCondition("rooms", core_high=2, support_high=2),), -10.0),
    )
    attributes = (Attribute("age", 0, 150), Attribute("rooms", 1, 9))
    return RuleSet(rules, attributes, (), "price", semantics="added-contributions", base=(200.0,))


def test_a_number_is_the_sum_of_its_contributions():
    found = prices().explain({"age": 75, "rooms": 5})
    assert str(found).split("\n") == [
        "Predicted price = 230:",
        "    +200  base",
        "     +60  rule 2, which holds to 0.75: rooms >= 6 (partly from 2) (rooms = 5)",
        "     -30  rule 1: age >= 60 (age = 75)",
    ]
    assert (found.decision, found.scores, found.base) == (230.0, (230.0,), 200.0)
    assert (found.shares, found.classes, found.change, found.unalterable) == ((), (), None, False)
    assert [rule.contribution for rule in found.firing] == [60.0, -30.0]
    assert found.to_frame()["contribution"].tolist() == [60.0, -30.0]
    assert str(prices().explain([10, 2])).split("\n")[0] == "Predicted price = 190:"
    with pytest.raises(ValueError, match=r"predict numbers, .* leave unchangeable out"):
        prices().explain([75, 5], unchangeable="age")


def test_a_class_leads_by_the_sum_of_its_votes():
    rules = (
        Rule((NumericCondition("glucose", 100, 180),), "yes", 1.5),
        Rule((NumericCondition("age", core_high=40, support_high=40),), "no", 0.4),
    )
    ruleset = RuleSet(
        rules,
        DIABETES.attributes,
        ("no", "yes", "perhaps"),
        "diabetes",
        semantics="softmax-votes",
        base=(0.5, 0.0, -1.0),
    )
    found = ruleset.explain({"glucose": 180, "age": 30})
    assert str(found).split("\n") == [
        "Predicted diabetes = yes with probability 0.61, by 0.60 more votes than for 'no':",
        "    -0.50  base",
        "    +1.50  rule 1: glucose >= 180 (partly from 100) (glucose = 180)",
        "    -0.40  rule 2: age <= 40 (age = 30)",
        "For 'no', votes come to +0.90, most of them by rule 2 (+0.40).",
        "For 'perhaps', votes come to -1.00, and no rule votes for it here.",
        "The smallest change that alters the decision: 'no' if glucose were 148 instead of 180.",
    ]
    assert found.change.proved
    assert found.change.cost == pytest.approx(32 / 155)
    assert found.firing[1].contribution == -0.4


def test_the_command_explains_regression_too(tmp_path, capsys):
    model = tmp_path / "model.json"
    prices().save(model)
    assert main(["explain", str(model), "age=75", "rooms=5"]) == 0
    assert capsys.readouterr().out == f"{prices().explain([75, 5])}\n"
    assert main(["explain", str(model), "age=75", "rooms=5", "--keep", "age"]) == 2
    assert "a smallest change needs a goal" in capsys.readouterr().err


def test_votes_that_nothing_can_change():
    ruleset = RuleSet(
        (Rule((NumericCondition("a", 0, 1),), "x", 0.25),),
        (A,),
        ("x", "y"),
        semantics="softmax-votes",
        base=(0.0, 1.0),
    )
    assert ruleset.explain([0.5]).unalterable
    # The first class wins ties if no rule fires.
    tie = replace(ruleset, rules=(Rule((), "x", 0.0),), base=(0.0, 0.0))
    assert tie.explain([0.5]).unalterable

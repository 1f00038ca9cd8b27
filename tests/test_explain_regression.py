"""Explanations of regression, and counterfactuals for a target value, compared with brute force on a grid."""

import itertools
import json
from math import inf, nextafter
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet
from frri.cli import main
from frri.explain.counterfactual import Goal, find_counterfactual
from frri.table import to_matrix
from thorough import often

ATTRIBUTES = (
    Attribute("a", 0.0, 2.0),
    Attribute("b", -1.0, 1.0),
    Attribute("colour", categories=("blue", "red")),
)
BOUNDS = st.lists(
    st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0]), min_size=4, max_size=4
)
CONDITIONS = st.one_of(
    st.builds(
        lambda name, bounds, shape: NumericCondition(
            name, *{"both": sorted(bounds), "low": [*sorted(bounds)[:2], inf, inf]}[shape]
        ),
        st.sampled_from("ab"),
        BOUNDS,
        st.sampled_from(["both", "low"]),
    ),
    st.builds(
        NominalCondition,
        st.just("colour"),
        st.frozensets(st.sampled_from(["blue", "red"]), min_size=1, max_size=1),
        st.booleans(),
    ),
)  # fmt: skip
ROWS = st.fixed_dictionaries(
    {
        "a": st.one_of(st.none(), st.sampled_from([0.0, 0.3, 1.0, 1.9, 2.5])),
        "b": st.sampled_from([-1.0, -0.2, 0.5]),
        "colour": st.sampled_from(["blue", "red", "never seen"]),
    }
)


@st.composite
def rulesets(draw):
    name = draw(st.sampled_from(["weighted-mean", "added-contributions"]))
    rules = [
        Rule(
            tuple(draw(st.lists(CONDITIONS, max_size=2))),
            draw(st.sampled_from([-3.0, 0.0, 1.0, 2.0, 5.0])),
            draw(st.sampled_from([0.0, 0.25, 1.0])),
        )
        for _ in range(draw(st.integers(0, 4)))
    ]
    fallback = draw(st.sampled_from(["nearest", "base"])) if name == "weighted-mean" else "base"
    return RuleSet(
        tuple(rules),
        ATTRIBUTES,
        semantics=name,
        t_norm=draw(st.sampled_from(["minimum", "product"])),
        fallback=fallback,
        clip=draw(st.booleans()),
        missing=draw(st.sampled_from(["fails", "similar"])),
        base=(draw(st.sampled_from([0.0, 1.5])),),
    )


def numbers(ruleset, matrix):
    """Return predictions for encoded rows, by a table of their values."""
    names = ["blue", "red"]
    frame = pd.DataFrame(matrix, columns=["a", "b", "colour"])
    codes = frame["colour"]
    frame["colour"] = [names[int(c)] if c >= 0 else "never seen" for c in codes]
    return ruleset.predict(frame)


def brute_force(ruleset, row, goal):
    """Minimum number of attributes and minimum cost over a grid of all bounds and neighboring values."""
    values = []
    for j, attribute in enumerate(ATTRIBUTES[:2]):
        reach = [attribute.low, attribute.high, *([] if np.isnan(row[j]) else [row[j]])]
        bounds = [
            near
            for rule in ruleset
            for c in rule.conditions
            if c.attribute == attribute.name
            for bound in c.trapezoid
            for near in (nextafter(bound, -inf), bound, nextafter(bound, inf))
            if min(reach) <= near <= max(reach)
        ]
        places = {*np.linspace(min(reach), max(reach), 15).tolist(), *bounds}
        values.append([row[j], *sorted(places)])
    values.append([row[2], 0.0, 1.0])
    grid = np.array(list(itertools.product(*values)))
    reached = goal.reached(numbers(ruleset, grid))
    return min((cost(row, point) for point in grid[reached]), default=None)


def cost(row, point):
    changed = ~((row == point) | (np.isnan(row) & np.isnan(point)))
    sizes = np.abs(point - row) / [2.0, 2.0, 1.0]
    sizes[np.isnan(sizes) | (np.arange(3) == 2)] = 1.0
    return int(changed.sum()), float(sizes[changed].sum())


@settings(max_examples=often(200), deadline=None)
@given(rulesets(), ROWS, st.sampled_from([-2.0, 0.5, 1.0, 1.7, 4.0]), st.booleans())
def test_no_point_of_a_grid_reaches_the_goal_more_cheaply(ruleset, row, number, at_least):
    encoded = to_matrix(pd.DataFrame([row]), ATTRIBUTES)[0]
    goal = Goal.at_least(number) if at_least else Goal.at_most(number)
    if goal.reached(numbers(ruleset, encoded[None, :]))[0]:
        side = {"at_least": number} if at_least else {"at_most": number}
        assert ruleset.explain(row, **side).goal.endswith("already")
        return
    found = find_counterfactual(ruleset, encoded, range(3), 1500, goal)
    expected = brute_force(ruleset, encoded, goal)
    if found.row is None:
        assert expected is None or not found.proved
        return
    assert goal.reached(numbers(ruleset, found.row[None, :]))[0]
    assert cost(encoded, found.row)[1] == pytest.approx(found.cost)
    if found.proved and expected is not None:
        count, price = cost(encoded, found.row)
        assert count <= expected[0]
        assert count < expected[0] or price <= expected[1] + 1e-8


LARGE = Rule((NumericCondition("a", 0.5, 1.5),), 80.0)
BLUE = Rule((NominalCondition("colour", frozenset({"blue"})),), 20.0, 0.5)
MEAN = RuleSet((LARGE, BLUE), ATTRIBUTES, target="price", semantics="weighted-mean")
ROW = {"a": 1.0, "b": 0.0, "colour": "blue"}


@pytest.mark.parametrize("semantics", ["added-contributions", "weighted-mean", "best-rule"])
def test_notebooks_show_sentences_and_a_table_with_escaped_names(semantics):
    numbers = semantics != "best-rule"
    consequents = [3.0, -1.0] if numbers else ["<i>", "b"]
    conditions = [(NumericCondition("x < y", core_high=5, support_high=5),), ()]
    rules = tuple(Rule(one, value) for one, value in zip(conditions, consequents, strict=True))
    classes = () if numbers else ("<i>", "b")
    ruleset = RuleSet(rules, (Attribute("x < y", 0, 9),), classes, "<script>", semantics=semantics)
    explanation = ruleset.explain({"x < y": 2})
    page = explanation._repr_html_()
    document = ET.fromstring(f"<div>{page}</div>")
    assert {one.tag for one in document.iter()} <= {"div", "p", "table", "tbody", "tr", "td"}
    shown = ["  ".join(row.itertext()) for row in document.iter() if row.tag in {"p", "tr"}]
    assert shown == [line.strip() for line in str(explanation).split("\n")]
    assert len(document.findall("table")) == numbers
    assert repr(explanation) == str(explanation)


def test_a_mean_is_explained_by_the_fractions_of_its_rules():
    explanation = MEAN.explain(ROW)
    assert explanation.decision == 50.0
    assert [rule.contribution for rule in explanation.firing] == [0.5, 0.5]
    shares = sum(rule.contribution * rule.consequent for rule in explanation.firing)
    assert shares == explanation.decision
    assert str(explanation).splitlines()[0] == "Predicted price = 50, the weighted mean of 2 rules:"
    alone = MEAN.explain(ROW | {"colour": "red"})
    assert str(alone).splitlines() == [
        "Predicted price = 80, by one rule:",
        "   100%  80  rule 1, which holds to 0.50: a >= 1.5 (partly from 0.5) (a = 1)",
    ]


def test_the_nearest_rule_is_shown_if_no_rule_fires():
    silent = MEAN.explain({"a": 0.4, "b": 0.0, "colour": "red"})
    assert silent.deciding.index == 0
    assert str(silent).startswith(
        "Predicted price = 80 although no rule fires: the nearest rule decides, here rule 1 (it lacks a >= 1.5"
    )
    nothing = RuleSet((), ATTRIBUTES, target="price", semantics="weighted-mean", base=(7.0,))
    assert str(nothing.explain(ROW)) == (
        "Predicted price = 7 although no rule fires: the base is predicted."
    )


def test_a_goal_is_reached_by_a_counterfactual_or_proven_unreachable():
    change = MEAN.explain(ROW, at_least=60).change
    assert change.proved
    assert [(c.attribute, c.after) for c in change.changes] == [("a", 1.5)]
    assert change.decision >= 60
    assert "The smallest change that leads to at least 60: 60 if a were 1.5" in str(
        MEAN.explain(ROW, at_least=60)
    )
    kept = MEAN.explain(ROW, at_least=60, unchangeable=["a"]).change
    assert [c.attribute for c in kept.changes] == ["colour"]
    never = MEAN.explain(ROW, at_most=10)
    assert never.unalterable
    assert "within its range leads to at most 10" in str(never)
    assert MEAN.explain(ROW).change is None


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"at_least": 1, "at_most": 2}, "are two goals; give one of them"),
        ({"at_least": "much"}, "at_least must be a number, got 'much'"),
        ({"at_most": float("nan")}, "at_most must be a number"),
        ({"unchangeable": ["a"]}, "a smallest change needs a goal"),
    ],
)
def test_invalid_goals(goal, message):
    with pytest.raises(ValueError, match=message):
        MEAN.explain(ROW, **goal)


def test_the_command_takes_goals(tmp_path, capsys):
    model = str(tmp_path / "m.json")
    MEAN.save(model)
    row = ["a=1", "b=0", "colour=blue"]
    assert main(["explain", model, *row, "--at-least", "60", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["goal"] == "at least 60"
    assert main(["explain", model, *row, "--at-most", "little"]) == 2
    assert capsys.readouterr().err == "frri: at_most must be a number, got 'little'.\n"

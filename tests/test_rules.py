"""The rule model: conditions, rules and rule sets, with text, statistics and JSON."""

import copy
import itertools
import json
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from math import inf, nextafter
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frri import (
    Attribute,
    FRRIClassifier,
    NominalCondition,
    NumericCondition,
    QuickReduct,
    Rule,
    RuleSet,
    RuleStatistics,
    fuzzy,
)
from frri.rules import _predict_kernels as bulk
from frri.rules import compare
from frri.rules.contributions import permutation_importance
from frri.rules.inference import Decision
from frri.rules.text import condition_text, ruleset_html
from frri.table import number_text
from thorough import often

AGE = Attribute("age", 0.0, 100.0)
SIZE = Attribute("size", -1.0, 1.0)
COLOUR = Attribute("colour", categories=("blue", "green", "red"))


# ---------------------------------------------------------------- reference implementations


def naive_membership(condition, value):
    """Return the degree to which a value satisfies a condition; missing values (None or NaN) satisfy none."""
    if isinstance(condition, NominalCondition):
        inside = value in condition.values
        holds = not inside and value is not None if condition.excludes else inside
        return 1.0 if holds else 0.0
    if value is None or np.isnan(value):
        return 0.0
    s_low, c_low, c_high, s_high = condition.trapezoid
    if c_low <= value <= c_high:
        return 1.0
    if value < c_low:
        return 0.0 if value <= s_low else (value - s_low) / (c_low - s_low)
    return 0.0 if value >= s_high else (s_high - value) / (s_high - c_high)


def naive_degree(ruleset, rule, row):
    """The t-norm of the memberships of one row, given as a dict."""
    degree = 1.0
    for condition in rule.conditions:
        value = row[condition.attribute]
        attribute = next(a for a in ruleset.attributes if a.name == condition.attribute)
        if ruleset.clip and attribute.kind == "numeric":
            value = min(max(value, attribute.low), attribute.high)
        membership = naive_membership(condition, value)
        degree = float(fuzzy.T_NORMS[ruleset.t_norm](degree, membership))
    return degree


def naive_scores(ruleset, row):
    degrees = [naive_degree(ruleset, rule, row) for rule in ruleset]
    if ruleset.combination == "first":
        for rule, degree in zip(ruleset, degrees, strict=True):
            if degree > 0:
                shares = rule.distribution
                return list(shares or [float(c == rule.consequent) for c in ruleset.classes])
        return [0.0] * len(ruleset.classes)
    scores = []
    for label in ruleset.classes:
        votes = [
            rule.weight * degree
            for rule, degree in zip(ruleset, degrees, strict=True)
            if rule.consequent == label
        ]
        total = max(votes, default=0.0) if ruleset.combination == "best" else sum(votes)
        scores.append(total)
    return scores


def naive_stretching(ruleset, row):
    """Truncate each rule before its first failing condition, and weight the rest."""
    best = dict.fromkeys(ruleset.classes, 0.0)
    for rule in ruleset:
        kept = list(
            itertools.takewhile(
                lambda c: naive_membership(c, row[c.attribute]) > 0, rule.conditions
            )
        )
        if kept and rule.partial_weights:
            degree = naive_degree(ruleset, Rule(tuple(kept), rule.consequent), row)
            value = degree * rule.partial_weights[len(kept)]
            best[rule.consequent] = max(best[rule.consequent], value)
    return list(best.values())


def naive_partial(ruleset, row):
    """The weight of the subset of conditions that hold."""
    best = dict.fromkeys(ruleset.classes, 0.0)
    for rule in ruleset:
        holds = [naive_membership(c, row[c.attribute]) > 0 for c in rule.conditions]
        if any(holds) and rule.partial_weights:
            subset = sum(1 << i for i, held in enumerate(holds) if held)
            best[rule.consequent] = max(best[rule.consequent], rule.partial_weights[subset])
    return list(best.values())


# ---------------------------------------------------------------- random rule sets

finite = st.integers(-8, 8).map(lambda i: i / 4)
COLOURS = ["blue", "green", "red", "never seen", None]


@st.composite
def numeric_conditions(draw, name="size"):
    s_low, c_low, c_high, s_high = sorted(draw(st.lists(finite, min_size=4, max_size=4)))
    if draw(st.booleans()):
        s_low = c_low = -inf
    if draw(st.booleans()):
        s_high = c_high = inf
    return NumericCondition(name, s_low, c_low, c_high, s_high)


nominal_conditions = st.builds(
    NominalCondition,
    st.just("colour"),
    st.frozensets(st.sampled_from(COLOUR.categories), min_size=1),
    st.booleans(),
)
conditions = st.one_of(numeric_conditions(), numeric_conditions("age"), nominal_conditions)


@st.composite
def rulesets(draw, **fixed):
    rules = []
    for _ in range(draw(st.integers(0, 5))):
        chosen = tuple(draw(st.lists(conditions, max_size=4)))
        rules.append(
            Rule(
                chosen,
                draw(st.sampled_from(["a", "b", "c"])),
                draw(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])),
                partial_weights=tuple(draw(st.floats(0, 1)) for _ in range(1 << len(chosen))),
                distribution=draw(st.sampled_from([None, (0.5, 0.25, 0.25)])),
            )
        )
    settings_ = {
        "t_norm": draw(st.sampled_from(sorted(fuzzy.T_NORMS))),
        "combination": draw(st.sampled_from(["best", "sum", "first"])),
        "fallback": draw(st.sampled_from(["nearest", "stretched", "partial", "priors"])),
        "clip": draw(st.booleans()),
        "class_counts": (3.0, 5.0, 2.0),
    } | fixed
    return RuleSet(tuple(rules), (AGE, COLOUR, SIZE), ("a", "b", "c"), **settings_)


rows = st.fixed_dictionaries(
    {
        "age": finite,
        "colour": st.sampled_from(COLOURS),
        "size": finite,
    }
)


@settings(max_examples=often(400), deadline=None)
@given(rulesets(), st.lists(rows, min_size=1, max_size=6))
def test_scores_agree_with_the_definition(ruleset, table):
    expected = np.array([naive_scores(ruleset, row) for row in table])
    np.testing.assert_allclose(ruleset.scores(pd.DataFrame(table)), expected, atol=1e-12)


@settings(max_examples=often(400), deadline=None)
@given(rulesets(), st.lists(rows, min_size=1, max_size=6))
def test_probabilities_sum_to_one_and_agree_with_the_decision(ruleset, table):
    frame = pd.DataFrame(table)
    shares = ruleset.predict_proba(frame)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()
    assert ruleset.predict(frame).tolist() == [ruleset.classes[i] for i in shares.argmax(axis=1)]


@settings(max_examples=often(300), deadline=None)
@given(rulesets(clip=False, fallback="stretched", combination="sum"), rows)
def test_stretching_agrees_with_the_definition(ruleset, row):
    if max(naive_scores(ruleset, row), default=0) > 0:
        return
    expected = np.array(naive_stretching(ruleset, row))
    shares = expected / expected.sum() if expected.sum() > 0 else np.array([0.3, 0.5, 0.2])
    np.testing.assert_allclose(ruleset.predict_proba(pd.DataFrame([row]))[0], shares, atol=1e-12)


@settings(max_examples=often(300), deadline=None)
@given(rulesets(clip=False, fallback="partial", combination="best"), rows)
def test_partial_matching_agrees_with_the_definition(ruleset, row):
    if max(naive_scores(ruleset, row), default=0) > 0:
        return
    expected = np.array(naive_partial(ruleset, row))
    shares = expected / expected.sum() if expected.sum() > 0 else np.array([0.3, 0.5, 0.2])
    np.testing.assert_allclose(ruleset.predict_proba(pd.DataFrame([row]))[0], shares, atol=1e-12)


@settings(max_examples=often(300), deadline=None)
@given(rulesets())
def test_json_round_trip_loses_nothing(ruleset):
    assert RuleSet.from_json(ruleset.to_json()) == ruleset
    assert RuleSet.from_dict(json.loads(json.dumps(ruleset.to_dict()))) == ruleset


@settings(max_examples=often(100), deadline=None)
@given(st.data(), st.integers(1, 3000))
def test_compiled_prediction_is_bit_equal(data, n_objects):
    """Numbers and categories, some of them unseen or missing."""
    missing = data.draw(st.sampled_from(["typical", "fails", "similar"]))
    ruleset = data.draw(
        rulesets(t_norm="minimum", combination="best", fallback="nearest", missing=missing).filter(
            lambda r: all(rule.weight for rule in r) and len(r)
        )
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    matrix = rng.integers(-9, 10, (n_objects, 3)) / 4
    if data.draw(st.booleans()):  # fewer ties
        matrix = rng.normal(0, 1.5, (n_objects, 3))
    matrix[:, 1] = rng.integers(-1, 3, n_objects)
    matrix[rng.random(matrix.shape) < data.draw(st.sampled_from([0.0, 0.3]))] = np.nan
    assert_compiled_is_plain(ruleset, matrix)


def assert_compiled_is_plain(ruleset, matrix):
    with patch.object(bulk, "COLD", np.inf), patch.object(bulk, "WARM", np.inf):
        plain = Decision(ruleset, matrix)
        expected = plain.scores, plain.index
    decided, scores = bulk.decide(ruleset.arrays, ruleset.arrays.filled(matrix))
    assert np.array_equal(scores, expected[0])
    assert np.array_equal(decided, expected[1])


@pytest.mark.parametrize("missing", ["typical", "fails", "similar"])
def test_compiled_prediction_takes_more_categories_than_a_byte_holds(missing):
    names = tuple(f"c{i:03}" for i in range(700))
    town = Attribute("town", categories=names, typical="c005")
    rng = np.random.default_rng(3)
    rules = [
        Rule((NominalCondition("town", frozenset(chosen)), NumericCondition("size", 0.0, low)), c)
        for chosen, low, c in (
            ({"c003"}, 0.5, "a"),
            ({"c003", "c257"}, 0.25, "b"),
            (set(names[::3]), 0.75, "c"),
            ({"unheard of"}, 0.5, "a"),
        )
    ]
    ruleset = RuleSet(tuple(rules), (town, SIZE), ("a", "b", "c"), missing=missing)
    codes = rng.choice([-1, 3, 257, 511, np.nan, *range(700)], 5000)
    matrix = np.column_stack([codes, rng.integers(-2, 6, 5000) / 4])
    assert_compiled_is_plain(ruleset, matrix)


def test_compiled_prediction_of_many_rules_and_several_blocks():
    """Adjacent strips of the plane, and a few orthogonal ones."""
    rules = []
    for i in range(150):
        strip = NumericCondition("age", i / 10 - 0.05, i / 10, i / 10 + 0.08, i / 10 + 0.1)
        rules.append(Rule((strip,), "abc"[i // 50], 0.5 + i % 7 / 20))
    rules += [Rule((NumericCondition.below("size", 0.1 * i),), "abc"[i], 0.6) for i in range(3)]
    ruleset = RuleSet(tuple(rules), (AGE, SIZE), ("a", "b", "c"))
    rng = np.random.default_rng(4)
    matrix = np.column_stack([rng.uniform(-1, 16, 9000), rng.uniform(0, 2, 9000)])
    assert_compiled_is_plain(ruleset, matrix)


# ---------------------------------------------------------------- conditions


@given(numeric_conditions(), st.lists(finite, min_size=1))
def test_membership_agrees_with_the_definition(condition, values):
    expected = [naive_membership(condition, value) for value in values]
    assert condition.membership(values).tolist() == expected


@given(nominal_conditions, st.lists(st.sampled_from(COLOURS), min_size=1))
def test_membership_of_categories_agrees_with_the_definition(condition, values):
    expected = [naive_membership(condition, value) for value in values]
    assert condition.membership(values).tolist() == expected
    ruleset = RuleSet((Rule((condition,), 0),), (COLOUR,), (0, 1), missing="fails")
    assert ruleset.scores(pd.DataFrame({"colour": values}))[:, 0].tolist() == expected


@pytest.mark.parametrize("missing", ["typical", "fails", "similar"])
def test_an_exclusion_holds_for_all_known_values_but_its_own(missing):
    condition = NominalCondition("colour", frozenset({"red"}), excludes=True)
    colour = replace(COLOUR, typical="red")
    ruleset = RuleSet((Rule((condition,), 0),), (colour,), (0, 1), missing=missing)
    degrees = ruleset.scores([["red"], ["blue"], ["never seen"], [None]])[:, 0]
    assert degrees.tolist() == [0, 1, 1, missing == "similar"]
    assert str(ruleset[0]).startswith("IF colour != red THEN")
    content = ruleset.to_dict()["rules"][0]["if"]
    assert content == [{"attribute": "colour", "values": ["red"], "excludes": True}]
    with pytest.raises(ValueError, match="'colour' excludes no value at all"):
        NominalCondition("colour", frozenset(), excludes=True)


@pytest.mark.parametrize("bound", [0.0, 1.0, -3.5, 5e-324, 1e300])
def test_a_strict_bound_excludes_exactly_itself(bound):
    condition = NumericCondition.below("x", bound)
    below = nextafter(bound, -inf)
    assert condition.membership([below, bound, nextafter(bound, inf)]).tolist() == [1, 0, 0]
    rules = RuleSet((Rule((condition,), 1),), (Attribute("x"),), (0, 1), fallback="priors")
    assert rules.covers([[below], [bound]]).tolist() == [[True], [False]]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ((3, 2, 4, 5), "must ascend"),
        ((float("nan"), 2, 4, 5), "must ascend"),
        ((-inf, 2, 4, 5), "cannot fade towards infinity"),
        ((inf, inf, inf, inf), "no finite value"),
    ],
)
def test_impossible_trapezoids_are_refused(bounds, message):
    with pytest.raises(ValueError, match=message):
        NumericCondition("x", *bounds)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (NumericCondition("age", core_high=30, support_high=30), "age <= 30"),
        (NumericCondition("age", 30, 30), "age >= 30"),
        (NumericCondition.below("age", 30), "age < 30"),
        (NumericCondition("age", 20, 20, nextafter(30, 0), 30), "20 <= age < 30"),
        (NumericCondition("age", 20, nextafter(20, 30), 30, 30), "20 < age <= 30"),
        (NumericCondition("age", 20, nextafter(20, 30)), "age > 20"),
        (NumericCondition("age", 30, 30, 30, 30), "age = 30"),
        (NumericCondition("age", 20, 30, 30, 44), "age = 30 (partly from 20 to 44)"),
        (NumericCondition("age", core_high=30, support_high=44), "age <= 30 (partly to 44)"),
        (NumericCondition("age"), "age is anything"),
    ],
)
def test_conditions_read_as_phrases(condition, expected):
    assert condition_text(condition, AGE) == expected


def test_an_end_that_clipped_values_never_reach_is_not_printed():
    condition = NumericCondition("age", core_high=90, support_high=120)
    assert condition_text(condition, AGE, clip=True) == "age <= 90 (partly above)"
    assert condition_text(condition, AGE, clip=False) == "age <= 90 (partly to 120)"


def test_a_rule_alone_reads_as_a_sentence():
    colour = NominalCondition("colour", frozenset({"red", "blue"}))
    size = NumericCondition("size", 0.1 + 0.2, 12345678, 12345679.1, 2e9)
    seen = RuleStatistics((3, 1), 0.75, 1.5, 2)
    rule = Rule((colour, NumericCondition.below("age", 30), size), "no", 0.9, statistics=seen)
    assert str(rule) == (
        "IF colour in {blue, red} AND age < 30 AND 12345678 <= size <= 12345679 "
        "(partly from 0.3 to 2000000000) THEN no   [weight 0.90, covers 4, precision 0.75]"
    )
    assert str(Rule((), 1)) == "ALWAYS 1   [weight 1.00]"
    assert repr(rule).startswith("Rule(conditions=(NominalCondition(attribute='colour'")


@given(st.floats(-1e300, 1e300))
def test_numbers_without_a_range_are_shown_to_six_digits(value):
    shown = condition_text(NumericCondition("a", value, value))
    assert shown.startswith("a >= ")
    assert float(shown[5:]) == pytest.approx(value, rel=5.1e-6)


def test_sets_of_values_read_as_phrases():
    assert condition_text(NominalCondition("colour", frozenset({"red"})), COLOUR) == "colour = red"
    two = NominalCondition("colour", frozenset({"red", "blue"}))
    assert condition_text(two, COLOUR) == "colour in {blue, red}"


@given(st.floats(-1e12, 1e12), st.sampled_from([1e-9, 1e-3, 0.5, 1.0, 92.0, 1e6]))
def test_shown_numbers_are_within_a_thousandth_of_the_range(value, width):
    assert abs(float(number_text(value, width)) - value) <= max(width / 500, abs(value) * 1e-15)


# ---------------------------------------------------------------- rule sets


def example():
    return RuleSet(
        rules=(
            Rule((NumericCondition("age", core_high=30, support_high=50),), "no", 0.9),
            Rule((NumericCondition("age", 40, 60), NumericCondition("size", 0, 0)), "yes", 0.8),
        ),
        attributes=(AGE, SIZE),
        classes=("no", "yes"),
        target="ill",
        clip=True,
        class_counts=(3.0, 2.0),
    )


def test_statistics_count_what_the_rules_cover():
    X = [[20, 0], [45, 1], [45, 1], [70, 1], [80, -1]]
    y = ["no", "no", "yes", "yes", "yes"]
    first, second = example().with_statistics(X, y)
    assert first.statistics == RuleStatistics((2, 1), 2 / 3, (2 / 3) / 0.4, 1)
    assert second.statistics == RuleStatistics((1, 2), 2 / 3, (2 / 3) / 0.6, 1)
    assert first.statistics.covered == 3
    assert first.statistics.share_alone == pytest.approx(1 / 3)


def test_statistics_may_be_weights_shown_with_few_digits():
    first, second = example()
    weighted = replace(first, statistics=RuleStatistics((7.50000001, 0.0), 1.0, 1.5, 2.25))
    many = replace(second, statistics=RuleStatistics((0, 1234567), 1.0, 1.5, 0))
    rules = replace(example(), rules=(weighted, many), class_counts=(1e6, 1234567.5))
    lines = str(rules).splitlines()
    assert "covers 7.5 of 2234568" in lines[0]
    assert "covers 1234567 of" in lines[1]
    assert "covers 1234567 of 1234567" in str(replace(rules, class_counts=(0.0, 1234567.0)))
    loaded = RuleSet.from_json(rules.to_json())
    assert loaded == rules
    assert [type(n) for n in loaded[1].statistics.support] == [int, int]


def test_a_rule_that_covers_nothing_has_no_precision_to_show():
    rules = example().with_statistics([[50, 0.5]], ["no"])
    never = [rule for rule in rules if not rule.statistics.covered]
    assert never
    assert all("precision" not in str(rule) for rule in never)
    assert '<td style="text-align:left"></td>' in ruleset_html(rules)


def test_without_pandas_the_remedy_is_named():
    with (
        patch.dict(sys.modules, {"pandas": None}),
        pytest.raises(ImportError, match=r"pip install 'frri\[tables\]'"),
    ):
        example().to_frame()


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.0, "m"), (0.5, "between s and m"), (-0.5, "below s"), (2.5, "above l"), (-3.0, "below s")],
)
def test_bounds_between_ordered_categories_are_put_into_words(value, shown):
    size = Attribute("size", categories=("s", "m", "l"), kind="ordinal")
    assert size.show(value) == shown


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"kind": "colourful"}, "'a' is of unknown kind 'colourful'"),
        ({"kind": "ordinal"}, "categories do not go with kind 'ordinal'"),
        ({"kind": "ordinal", "categories": ()}, "'a' is ordinal and has no categories"),
        ({"kind": "date", "high": 1e14}, r"dates up to 1e\+14 days from 1970"),
    ],
)
def test_attributes_that_cannot_be_are_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        Attribute("a", **parts)


def test_tiny_ranges_and_huge_numbers_are_shown_by_their_digits():
    assert number_text(1.23456789e-15, 1e-15) == "1.23457e-15"
    assert number_text(1.23456789e20, 1.0) == "1.23457e+20"


def test_statistics_of_a_rule_that_covers_nothing():
    first, _ = example().statistics([[99, 0]], ["no"])
    assert first == RuleStatistics((0, 0), None, None, 0)
    assert first.share_alone == 0


def test_frames_are_read_by_name_whatever_their_order_and_kind():
    frame = pd.DataFrame({"other": ["x", "y"], "size": [0.0, 1.0], "age": [20, 70]})
    expected = ["no", "yes"]
    assert example().predict(frame).tolist() == expected
    assert example().predict(pl.from_pandas(frame)).tolist() == expected
    assert example().predict(frame[["age", "size"]].to_numpy()).tolist() == expected


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"age": [1]}), "no column 'size'"),
        (pd.DataFrame({"age": ["old"], "size": [1]}), "Column 'age' holds 'old' in row 1"),
        ([[1, 2, 3]], r"Expected a table of 2 columns \(age, size\)"),
        ([1, 2], "Expected a table of 2 columns"),
    ],
)
def test_tables_that_do_not_fit_get_one_sentence(table, message):
    with pytest.raises(ValueError, match=message):
        example().predict(table)


def test_no_rules_at_all_fall_back_on_the_priors():
    rules = RuleSet((), (AGE,), ("no", "yes"), class_counts=(1.0, 3.0))
    assert rules.predict_proba([[1], [2]]).tolist() == [[0.25, 0.75]] * 2
    assert rules.predict([[1]]).tolist() == ["yes"]
    assert len(rules) == 0
    assert str(rules) == ""
    assert rules.degrees([[1]]).shape == (1, 0)


def test_views_of_a_rule_set():
    rules = example().with_statistics([[20, 0], [70, 1]], ["no", "yes"])
    assert str(rules).splitlines()[0] == (
        "IF age <= 30 (partly to 50) THEN ill = no   [weight 0.90, covers 1 of 5, precision 1.00]"
    )
    assert repr(rules) == "<RuleSet: 2 rules with 3 conditions for 'ill'>"
    frame = rules.to_frame()
    assert frame["then"].tolist() == ["no", "yes"]
    assert frame["conditions"].tolist() == [1, 2]
    assert "<table>" in rules._repr_html_()


def test_hostile_names_stay_text_in_a_notebook():
    name = "<script>alert('x')</script>"
    rules = RuleSet(
        (Rule((NumericCondition(name, 1, 1),), name),), (Attribute(name, 0, 2),), (name,), name
    )
    assert "<script>" not in rules._repr_html_()


def test_rules_without_conditions_are_put_into_words():
    rules = RuleSet((Rule((), "no"),), (AGE,), ("no",), target="ill")
    assert str(rules).startswith("ALWAYS ill = no")
    as_list = RuleSet((Rule((), "no"),), (AGE,), ("no",), target="ill", combination="first")
    assert str(as_list).startswith("OTHERWISE ill = no")


def test_numbers_of_any_type_in_an_object_column_are_numbers():
    values = [np.float64(20), np.int8(20), 20, 20.0, "20"]
    frame = pd.DataFrame({"age": pd.Series(values, dtype=object), "size": 0.0})
    assert example().degrees(frame)[:, 0].tolist() == [1.0] * 5


def test_every_kind_of_missing_value_is_missing():
    values = [None, np.nan, pd.NA, pd.NaT, np.float64("nan")]
    frame = pd.DataFrame({"age": pd.Series(values, dtype=object), "size": 0.0})
    assert not example().covers(frame).any()


@pytest.mark.parametrize(
    ("categories", "allowed", "values"),
    [
        (("3", "5"), {"3"}, [3, "3", 3.0, "3.0", np.int8(3), "03", 5, None, np.nan, True]),
        (("False", "True"), {"True"}, [True, 1, "true", "TRUE", 1.0, False, 0, "no", pd.NA]),
        (("blue", "red"), {"red"}, ["red", "Red", np.str_("red"), "blue", 1, pd.NaT]),
        (("0", "1"), {"0"}, [0, -0.0, "-0.0", False, 1]),
    ],
)
def test_conditions_and_rule_sets_agree_on_values(categories, allowed, values):
    condition = NominalCondition("c", frozenset(allowed))
    rules = RuleSet((Rule((condition,), 1),), (Attribute("c", categories=categories),), (1,))
    column = pd.Series(values, dtype=object)
    membership = condition.membership(column)
    assert membership.tolist() == rules.degrees(pd.DataFrame({"c": column}))[:, 0].tolist()
    assert 0 < membership.sum() < len(values)


def test_missing_values_fail_or_hold():
    nan = float("nan")
    assert example().covers([[nan, 0]]).tolist() == [[False, False]]
    kind = RuleSet(example().rules, (AGE, SIZE), ("no", "yes"), missing="holds")
    assert kind.covers([[nan, 0]]).tolist() == [[True, True]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attributes": (AGE, AGE)}, "same name"),
        ({"attributes": (AGE,)}, "Rule 2 uses 'size'"),
        ({"classes": ("no",), "class_counts": (1.0,)}, "Rule 2 concludes 'yes'"),
        ({"classes": ("no", "no")}, "distinct"),
        ({"class_counts": (0.0, 0.0)}, "not all 0"),
        ({"t_norm": "maximum"}, "t_norm must be one of minimum"),
        ({"combination": "worst"}, "combination must be one of"),
        ({"fallback": "hope"}, "fallback must be one of"),
        ({"rules": (Rule((), "no", -1.0),)}, "weight -1.0"),
        ({"rules": (Rule((), "no", distribution=(1.0,)),)}, "one share per class"),
        ({"rules": (Rule((NominalCondition("age", frozenset("a")),), "no"),)}, "does not fit"),
    ],
)
def test_inconsistent_rule_sets_are_refused(change, message):
    fields = {
        name: getattr(example(), name)
        for name in (
            "rules",
            "attributes",
            "classes",
            "t_norm",
            "combination",
            "fallback",
            "class_counts",
        )
    }
    with pytest.raises(ValueError, match=message):
        RuleSet(**{**fields, **change})


def test_save_is_all_or_nothing(tmp_path):
    path = tmp_path / "rules.json"
    example().save(path)
    assert RuleSet.load(path) == example()
    before = path.read_text()
    with (
        patch("pathlib.Path.replace", side_effect=OSError("disk full")),
        pytest.raises(OSError, match="disk full"),
    ):
        RuleSet((), (AGE,), ("no",)).save(path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a saved rule set"),
        ('{"format": "frri-ruleset", "version": 99}', "format version 99"),
        ('{"format": "frri-ruleset", "version": 1}', "lacks 'target'"),
        ('{"format": "frri-ruleset", "version": 2}', "lacks 'task'"),
    ],
)
def test_invalid_files_get_one_sentence(content, message):
    with pytest.raises(ValueError, match=message):
        RuleSet.from_json(content)


@settings(max_examples=often(300), deadline=None)
@given(st.data())
def test_damaged_files_never_crash(data):
    """After any change of a saved model, loading succeeds or raises an error with one sentence."""
    content = example().with_statistics([[20, 0]], ["no"]).to_dict()
    path, node = [], content
    while isinstance(node, dict | list) and node:
        keys = sorted(node) if isinstance(node, dict) else range(len(node))
        path.append((node, data.draw(st.sampled_from(list(keys)))))
        node = path[-1][0][path[-1][1]]
        if data.draw(st.booleans()):
            break
    parent, key = path[-1]
    parent[key] = data.draw(
        st.sampled_from([None, -1, 0, 1e308, "", "x", [], {}, [[]], True, [None] * 4, {"a": 1}])
    )
    try:
        loaded = RuleSet.from_dict(content)
    except ValueError:
        return
    loaded.predict([[1.0] * len(loaded.attributes)])


def test_pickle_and_equality():
    rules = example()
    rules.predict([[1, 1]])
    assert pickle.loads(pickle.dumps(rules)) == rules


def test_a_rule_set_copies_mutable_arguments():
    about = {"learner": "by hand", "settings": {"depth": [1, 2.5, None, {"a": True}]}}
    parts = {"rules": list(example()), "attributes": [AGE, SIZE], "classes": ["no", "yes"]}
    rules = RuleSet(**parts, about=about)
    before = rules.to_json()
    about["settings"]["depth"].append("changed")
    about["new"] = 1
    for part in parts.values():
        part.clear()
    assert rules.to_json() == before
    with pytest.raises(TypeError):
        rules.about["new"] = 1
    with pytest.raises(TypeError):
        rules.about["settings"]["depth"][0] = 2
    plain = rules.to_dict()["about"]
    assert plain == {"learner": "by hand", "settings": {"depth": [1, 2.5, None, {"a": True}]}}
    assert type(plain["settings"]) is dict
    assert type(plain["settings"]["depth"]) is list
    assert rules.about == plain


@settings(max_examples=often(100), deadline=None)
@given(rulesets())
def test_equal_rule_sets_have_equal_hashes(ruleset):
    about = {"learner": "by hand", "list": [1, {"a": None}]}
    ruleset = replace(ruleset, about=about)
    twins = [
        replace(ruleset),
        replace(ruleset, about=dict(reversed(about.items()))),
        RuleSet.from_json(ruleset.to_json()),
        pickle.loads(pickle.dumps(ruleset)),
        copy.deepcopy(ruleset),
    ]
    assert {ruleset, *twins} == {ruleset}
    # Equal rules of another estimator or date are equal; only the provenance differs.
    elsewhere = replace(ruleset, about={"learner": "another"})
    assert elsewhere == ruleset
    assert hash(elsewhere) == hash(ruleset)
    assert elsewhere.about != ruleset.about
    assert all(twin.about == ruleset.about for twin in twins)
    assert {hash(twin.about) for twin in twins} == {hash(ruleset.about)}
    assert {len(twin.about) for twin in twins} == {2}
    assert ruleset.about != 1


@pytest.mark.parametrize("value", [object(), inf, 10**50, {1: 2}, "\ud800", {"a"}, np.zeros(2)])
def test_a_description_holds_plain_json_values_only(value):
    with pytest.raises(ValueError, match="where a plain JSON value of moderate depth belongs"):
        RuleSet((), (AGE,), ("no",), about={"settings": [value]})


def test_numpys_numbers_and_lists_become_plain():
    parts = ((), np.array([1, 2]), {"learned": np.float64(0.5), "n": [np.int8(3), np.str_("a")]})
    rules = RuleSet([Rule([], np.int64(1), distribution=[0, 1])], [AGE], parts[1], about=parts[2])
    assert RuleSet.from_json(rules.to_json()) == rules
    assert hash(rules[0]) == hash(Rule((), 1, distribution=(0.0, 1.0)))
    assert hash(NominalCondition("a", {"b"})) == hash(NominalCondition("a", frozenset("b")))
    with pytest.raises(TypeError, match="'a' takes a set of values, got the string 'red'"):
        NominalCondition("a", "red")


def test_applying_saved_rules_needs_no_learner(tmp_path):
    path = tmp_path / "rules.json"
    example().save(path)
    code = (
        "import sys; from frri import RuleSet; "
        f"print(RuleSet.load({str(path)!r}).predict([[20, 0]])); "
        "heavy = {'sklearn', 'numba', 'scipy', 'pandas'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_category_of_an_ordered_attribute_is_missing():
    size = Attribute("size", categories=("small", "medium", "large"), kind="ordinal")
    at_most = Rule((NumericCondition("size", core_high=1, support_high=1),), "no")
    for missing, expected in (("fails", False), ("holds", True)):
        rules = RuleSet((at_most,), (size,), ("no",), missing=missing)
        table = pd.DataFrame({"size": ["medium", "large", "gigantic"]})
        assert rules.covers(table)[:, 0].tolist() == [True, False, expected]


def test_labels_keep_their_types():
    rules = RuleSet((Rule((), np.int64(1)),), (Attribute("a"),), (1, "x"))
    assert rules.predict([[0.0]]).tolist() == [1]
    assert RuleSet.from_json(rules.to_json()) == rules


def test_labels_keep_null_characters_at_their_ends():
    labels = ["a\0", "a", "a\0\0", "\0"]
    table = [[0.0], [1.0], [2.0], [3.0]]
    rules = RuleSet(
        tuple(
            Rule((NumericCondition("n", x, x, x, x),), y)
            for (x,), y in zip(table, labels, strict=True)
        ),
        (Attribute("n", 0, 3),),
        tuple(labels),
    )
    assert rules.predict(table).tolist() == labels
    assert [s.precision for s in rules.statistics(table, labels)] == [1.0] * 4
    assert compare(rules, rules, table, labels).accuracy == (1.0, 1.0)
    assert compare(rules, rules.without_rule(0), table, labels).accuracy == (1.0, 0.75)
    assert permutation_importance(rules, table, labels)[0].drop > 0
    for y in (labels, tuple(labels), pd.Series(labels), pl.Series(labels)):
        learner = FRRIClassifier().fit(table, y)
        assert learner.predict(table).tolist() == labels
        assert learner.score(table, np.array(labels, dtype=object)) == 1.0
        assert learner.ruleset_.classes == ("\0", "a", "a\0", "a\0\0")
    reduct = QuickReduct().fit([[0.0, 1.0], [1.0, 1.0]], ["a", "a\0"])
    assert reduct.reduct_.tolist() == [0]


@pytest.mark.parametrize("text", ["20200125", "now", "2020"])
def test_strings_that_are_not_iso_dates_are_refused(text):
    day = Attribute("day", 18000, 19000, kind="date")
    rules = RuleSet((Rule((NumericCondition("day", 1, 1),), "no"),), (day,), ("no",))
    with pytest.raises(ValueError, match="Column 'day' does not hold dates"):
        rules.predict(pd.DataFrame({"day": [text]}))


@pytest.mark.parametrize(
    ("fallback", "n_weights", "allowed"),
    [("nearest", 2, "0 or 3 or 4"), ("stretched", 5, "0 or 3 or 4"), ("partial", 3, "0 or 4")],
)
def test_partial_weights_are_counted(fallback, n_weights, allowed):
    conditions = (NumericCondition.below("age", 3), NumericCondition("age", 1, 1))
    rule = Rule(conditions, "no", partial_weights=(0.5,) * n_weights)
    attributes = (Attribute("age", 0, 9),)
    message = f"Rule 1 has 2 conditions with {n_weights} partial weights; there must be {allowed}."
    with pytest.raises(ValueError, match=re.escape(message)):
        RuleSet((rule,), attributes, ("no",), fallback=fallback)
    for n in map(int, allowed.split(" or ")):
        fitting = replace(rule, partial_weights=(0.5,) * n)
        assert len(RuleSet((fitting,), attributes, ("no",), fallback=fallback)) == 1

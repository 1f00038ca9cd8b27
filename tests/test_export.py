"""Exports: all exported programs have the predictions of the library."""

import ast
import csv
import io
import json
import re
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from math import inf, nextafter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet, fuzzy, read_table
from frri.export import (
    FORMATS,
    sql,
    to_csv,
    to_javascript,
    to_latex,
    to_markdown,
    to_python,
    to_sql,
    to_text,
)
from frri.export.sql_dialects import DIALECTS
from frri.rules import RuleStatistics
from frri.rules.semantics import MEANINGS
from frri.rules.text import ruleset_html
from programs import (
    agree,
    duck_answers,
    python_module,
    sqlite_answers,
)
from thorough import often

HOSTILE = (
    'a"b',
    "it's",
    "x'; DROP TABLE people; --",
    "two\nlines\r\n",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "=HYPERLINK(1)",
    "@sum",
    "\\input{/etc/passwd}",
    "100% of $5 & #1_a^b~{c}",
    "| a | `b` | *c* | [d](http://e)",
    '"""\nimport os',
    "*/ alert(1) /*",
    "${alert(1)}",
    "\u2028\u2029\u202e\x1b[31m",
    "__proto__",
    "constructor",
    "{0}{target}",
    "%s",
    "naïve ß 漢 🐍",
    " ",
)


# ---------------------------------------------------------------- random rule sets and tables

grid = st.one_of(
    st.integers(-20, 20).map(lambda i: i / 10), st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0])
)
weights = st.one_of(st.sampled_from([0.25, 0.5, 0.9, 1.0, 1 / 3, 1.5]), st.floats(0.01, 1.0))
shares = st.floats(0.0, 1.0)
texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=6)).filter(lambda t: "\0" not in t)
labels = st.one_of(
    st.lists(texts, min_size=1, max_size=4, unique=True),
    st.lists(st.integers(-5, 2**53), min_size=1, max_size=4, unique=True),
    st.lists(grid, min_size=1, max_size=4, unique=True),
    st.just([False, True]),
)


def in_ascii(name):
    """Return a name in the form that databases compare."""
    return name.lower()


@st.composite
def attributes(draw):
    names = draw(
        st.lists(
            texts.filter(lambda t: t and in_ascii(t) != "row_number"),
            min_size=1,
            max_size=5,
            unique_by=in_ascii,
        )
    )
    result = []
    for name in names:
        kind = draw(st.sampled_from(["numeric", "numeric", "date", "ordinal", "nominal"]))
        if kind in {"ordinal", "nominal"}:
            categories = tuple(draw(st.lists(texts, min_size=1, max_size=4, unique=True)))
            typical = draw(st.sampled_from([None, *categories]))
            result.append(Attribute(name, categories=categories, kind=kind, typical=typical))
        else:
            low, high = sorted([draw(grid), draw(grid)])
            shift = 19000.0 if kind == "date" else 0.0
            typical = draw(st.sampled_from([None, low + shift, high + shift]))
            result.append(Attribute(name, low + shift, high + shift, kind=kind, typical=typical))
    return tuple(result)


@st.composite
def conditions(draw, attribute):
    if attribute.kind == "nominal":
        values = st.frozensets(st.sampled_from(attribute.categories), min_size=1)
        return NominalCondition(attribute.name, draw(values), excludes=draw(st.booleans()))
    shift = 19000.0 if attribute.kind == "date" else 0.0
    bounds = sorted(draw(grid) + shift for _ in range(4))
    shape = draw(st.sampled_from(["any", "crisp", "strict", "triangle"]))
    if shape == "crisp":
        bounds = [bounds[1], bounds[1], bounds[2], bounds[2]]
    elif shape == "strict":
        low, high = bounds[0] - 0.05, bounds[3]
        bounds = [low, nextafter(low, inf), nextafter(high, -inf), high]
    elif shape == "triangle":
        bounds[2] = bounds[1]
    if draw(st.booleans()):
        bounds[:2] = -inf, -inf
    if draw(st.booleans()):
        bounds[2:] = inf, inf
    return NumericCondition(attribute.name, *bounds)


@st.composite
def rulesets(draw):
    table = draw(attributes())
    classes = tuple(draw(labels))
    fallback = draw(st.sampled_from(["nearest", "stretched", "partial", "priors"]))
    rules = []
    for _ in range(draw(st.integers(0, 6))):
        used = draw(st.lists(st.sampled_from(table), max_size=4))
        chosen = tuple(draw(conditions(attribute)) for attribute in used)
        size = {"stretched": len(chosen) + 1, "partial": 1 << len(chosen)}.get(fallback, 0)
        parts = tuple(draw(shares) for _ in range(size)) if chosen and draw(st.booleans()) else ()
        distribution = tuple(draw(shares) for _ in classes) if draw(st.booleans()) else None
        weight = 0.0 if draw(st.integers(0, 9)) == 0 else draw(weights)
        rules.append(
            Rule(
                chosen,
                draw(st.sampled_from(classes)),
                weight,
                distribution=distribution,
                partial_weights=parts,
            )
        )
    return RuleSet(
        tuple(rules),
        table,
        classes,
        target=draw(texts),
        t_norm=draw(st.sampled_from(["minimum", "product", *fuzzy.T_NORMS])),
        combination=draw(st.sampled_from(["best", "sum", "first"])),
        fallback=fallback,
        clip=draw(st.booleans()),
        missing=draw(st.sampled_from(["typical", "fails", "similar"])),
        class_counts=tuple(float(draw(st.integers(1, 9))) for _ in classes),
    )


def random_rows(ruleset, seed, n_rows):
    """Return values on, near and far from the bounds, known and unknown categories, and missing values."""
    random = np.random.default_rng(seed)
    columns = {}
    for attribute in ruleset.attributes:
        if attribute.categories is not None:
            pool = [*attribute.categories, "never seen", "Never Seen", "'"]
            values = [pool[i] for i in random.integers(0, len(pool), n_rows)]
        else:
            exact = random.integers(-25, 26, n_rows) / 10
            rough = random.normal(0, 1.5, n_rows)
            values = np.where(random.random(n_rows) < 0.7, exact, rough)
            if attribute.kind == "date":
                moments = np.datetime64("2022-01-08T00:00:00.000000") + (values * 86_400e6).astype(
                    "timedelta64[us]"
                )
                values = [str(moment) for moment in moments]
                values = [v[:10] if v.endswith("T00:00:00.000000") else v for v in values]
            else:
                values = values.tolist()
        missing = random.random(n_rows) < 0.15
        shown = [None if gone else value for value, gone in zip(values, missing, strict=True)]
        numeric = attribute.kind == "numeric"
        columns[attribute.name] = pd.Series(shown, dtype="float64" if numeric else "object")
    return pd.DataFrame(columns)


@settings(
    max_examples=often(150),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(ruleset=rulesets(), seed=st.integers(0, 2**32))
def test_all_programs_agree_on_ten_thousand_rows(ruleset, seed, duck, bare_python, node):
    agree(ruleset, random_rows(ruleset, seed, 67), duck, bare_python, node)


# ---------------------------------------------------------------- SQL


def many_rules(n_rules, n_conditions, **options):
    """Return rules over six attributes, with slopes of different widths."""
    random = np.random.default_rng(1)
    table = tuple(Attribute(f"a{j}", 0.0, 1.0) for j in range(6))
    rules = []
    for _ in range(n_rules):
        chosen = []
        for j in random.choice(6, n_conditions, replace=False):
            bounds = np.sort(random.random(4) * 1.6 - 0.3).tolist()
            chosen.append(NumericCondition(f"a{j}", *bounds))
        rules.append(Rule(tuple(chosen), "abc"[random.integers(3)], random.random()))
    return RuleSet(tuple(rules), table, ("a", "b", "c"), **options)


@pytest.mark.parametrize(
    ("n_rules", "n_conditions", "options"),
    [
        (410, 5, {"clip": True}),
        (150, 5, {"combination": "sum", "t_norm": "product", "fallback": "priors"}),
        (150, 5, {"combination": "first", "t_norm": "lukasiewicz", "fallback": "priors"}),
        (1010, 1, {"combination": "sum", "fallback": "priors"}),
    ],
)
def test_hundreds_of_rules_fit_into_a_query(n_rules, n_conditions, options, duck):
    """More than 400 rules of a portion, 1000 levels of an expression, or 2000 columns of a table."""
    ruleset = many_rules(n_rules, n_conditions, **options)
    frame = pd.DataFrame(np.random.default_rng(0).random((60, 6)) * 1.2, columns=[*"012345"])
    frame.columns = [attribute.name for attribute in ruleset.attributes]
    expected = ruleset.predict(frame).tolist()
    assert [answer[1] for answer in sqlite_answers(ruleset, frame)] == expected
    assert [answer[1] for answer in duck_answers(duck, ruleset, frame)] == expected


@pytest.mark.parametrize(
    "semantics", ["softmax-votes", "added-contributions", "weighted-mean", "at-least-class"]
)
def test_portions_of_rules_add_up(semantics, monkeypatch, duck):
    monkeypatch.setattr(sql, "BLOCK", 4)
    monkeypatch.setattr(sql, "PORTION", 30)
    random = np.random.default_rng(4)
    numbers = MEANINGS[semantics].task == "regression"
    rules = []
    for rule in many_rules(13, 2):
        vote = {
            "softmax-votes": {"votes": tuple(random.normal(size=3))},
            "at-least-class": {"relation": ["at least", "at most"][random.integers(2)]},
        }.get(semantics, {})
        label = float(random.normal()) if numbers else rule.consequent
        rules.append(Rule(rule.conditions, label, rule.weight, **vote))
    table = many_rules(1, 1).attributes
    classes = () if numbers else ("a", "b", "c")
    ruleset = RuleSet(tuple(rules), table, classes, semantics=semantics, clip=True)
    frame = pd.DataFrame(random.random((40, 6)) * 1.2, columns=[a.name for a in table])
    expected = ruleset.predict(frame).tolist()
    assert len(set(expected)) > 2
    assert [answer[1] for answer in sqlite_answers(ruleset, frame)] == expected
    assert [answer[1] for answer in duck_answers(duck, ruleset, frame)] == expected


def long_rule(n_conditions, t_norm, fallback, n_attributes=None):
    names = [f"a{j}" for j in range(n_attributes or n_conditions)]
    cores = [0.2 + k // len(names) / 1000 for k in range(n_conditions)]
    return RuleSet(
        (
            Rule(
                tuple(
                    NumericCondition(names[k % len(names)], 0.0, core, 0.5, 0.9)
                    for k, core in enumerate(cores)
                ),
                "in",
                0.5,
                partial_weights=tuple(np.linspace(0.1, 0.6, n_conditions + 1).tolist())
                if fallback == "stretched"
                else (),
            ),
            Rule((NumericCondition("a0", 0.5, 0.7, 0.8, 1.0),), "out", 0.3),
        ),
        tuple(Attribute(name, 0, 1) for name in names),
        ("out", "in"),
        t_norm=t_norm,
        fallback=fallback,
        class_counts=(2, 1),
    )


@pytest.mark.parametrize("fallback", ["nearest", "stretched"])
@pytest.mark.parametrize("t_norm", ["minimum", "product", "lukasiewicz"])
def test_work_and_text_are_proportional_to_the_length_of_rules(t_norm, fallback):
    work, texts = [], []
    for n_conditions in (50, 100, 200):
        ruleset, calls = long_rule(n_conditions, t_norm, fallback), 0

        def count(*_):
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            texts.append(len(to_sql(ruleset, dialect="duckdb")))
        finally:
            sys.setprofile(None)
        work.append(calls)
    for short, middle, long in (work, texts):
        # Only names of columns may grow faster.
        assert long - middle < 2.1 * (middle - short)


@pytest.mark.parametrize("fallback", ["nearest", "stretched"])
@pytest.mark.parametrize("t_norm", ["minimum", "product", "lukasiewicz"])
def test_long_rules_run_in_databases(t_norm, fallback, duck):
    """Databases that copy an expression where it is used would copy the last one 2 ** 30 times."""
    ruleset = long_rule(30, t_norm, fallback)
    rows = np.random.default_rng(1).uniform(0.1, 0.6, (40, 30))
    rows[::2] = 0.3
    rows[np.arange(0, 40, 4), np.arange(0, 30, 3)] = 0.95
    rows[:5, 0] = 0.75
    frame = pd.DataFrame(rows, columns=[a.name for a in ruleset.attributes])
    expected = [python_module(ruleset).explain(row) for row in frame.to_dict("records")]
    assert len({(answer["prediction"], answer["rule"]) for answer in expected}) > 1
    for answers in (sqlite_answers(ruleset, frame), duck_answers(duck, ruleset, frame)):
        assert [a[1:3] for a in answers] == [(e["prediction"], e["rule"]) for e in expected]
        np.testing.assert_allclose([a[3] for a in answers], ruleset.scores(frame).max(axis=1))


@pytest.mark.parametrize(("t_norm", "fallback"), [("minimum", "nearest"), ("product", "stretched")])
def test_a_rule_may_have_more_conditions_than_an_expression_is_deep(t_norm, fallback, duck):
    ruleset = long_rule(1010, t_norm, fallback, 40)
    rows = np.full((3, 40), 0.3)
    rows[1, 39], rows[2, 0] = 0.95, 0.75
    rows[1:, 7] = 0.1
    frame = pd.DataFrame(rows, columns=[a.name for a in ruleset.attributes])
    expected = [python_module(ruleset).explain(row) for row in frame.to_dict("records")]
    for answers in (sqlite_answers(ruleset, frame), duck_answers(duck, ruleset, frame)):
        assert [a[1:3] for a in answers] == [(e["prediction"], e["rule"]) for e in expected]
        np.testing.assert_allclose([a[3] for a in answers], ruleset.scores(frame).max(axis=1))


def test_a_rule_that_is_too_long_for_a_database_gets_one_sentence():
    with pytest.raises(
        ValueError, match=r"at most 2000 columns in a query, and the rules need more;"
    ):
        to_sql(long_rule(1100, "lukasiewicz", "nearest"))


def test_one_column_to_keep_may_be_given_by_its_name():
    ruleset = long_rule(1, "minimum", "nearest")
    assert to_sql(ruleset, keep="id") == to_sql(ruleset, keep=["id"])


def test_only_the_columns_that_rules_use_are_needed(duck, bare_python, node):
    ruleset = RuleSet(
        (Rule((NumericCondition.below("n", 3),), "low"), Rule((), "any", 0.5)),
        (Attribute("d", kind="date"), Attribute("n"), Attribute("c", categories=("x",))),
        ("any", "low"),
        missing="typical",
    )
    assert ruleset.used_attributes == ("n",)
    for frame in (
        pd.DataFrame({"n": [1.0, 5.0, None]}),
        pd.DataFrame({"n": [1.0, 5.0, None], "d": "never"}),
    ):
        agree(ruleset, frame, duck, bare_python, node)
    assert ruleset.predict({"n": 1}).tolist() == ["low"]
    with pytest.raises(ValueError, match="The table has no column 'n'; it has d"):
        ruleset.predict({"d": 1})
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE data AS SELECT 1 AS n")
    assert database.execute(to_sql(ruleset)).fetchall() == [(1, "low", 1, 1.0)]
    database.close()


@pytest.mark.parametrize(
    ("categories", "written"),
    [
        (("no", "yes"), ["yes", "no", "no", "yes"]),
        (("No", "Yes"), ["Yes", "No", "Yes", "Yes"]),
        (("no", "unknown", "yes"), ["yes", "no", "no", "yes"]),
        (("F", "M"), ["F", "F"]),
        (("f", "t"), ["t", "f"]),
        (("False", "True"), ["true", "false"]),
        (("0", "1"), ["1", "0"]),
    ],
)
def test_databases_keep_the_meaning_of_categories_in_files(categories, written, tmp_path, duck):
    """DuckDB reads yes and no, t and f as booleans; rules have them as strings."""
    rules = tuple(
        Rule((NominalCondition("c", frozenset({category})),), category) for category in categories
    )
    table = (Attribute("c", categories=categories), Attribute("id"))
    ruleset = RuleSet(rules, table, (*categories, "none"), fallback="priors",
                      class_counts=(*[1] * len(categories), 9))  # fmt: skip
    path = tmp_path / "new.csv"
    path.write_text("id,c\n" + "".join(f"{i},{text}\n" for i, text in enumerate(written)))
    expected = ruleset.predict(read_table(path, {"c": categories})).tolist()
    assert "none" not in expected
    duck.execute("CREATE OR REPLACE TABLE read AS SELECT * FROM read_csv(?)", [str(path)])
    for table in (str(path), "read"):
        query = to_sql(ruleset, table, dialect="duckdb", keep="id")
        assert [row[1] for row in sorted(duck.execute(query).fetchall())] == expected
    # The same values, as booleans, in a data frame.
    held = duck.execute("SELECT c FROM read_csv(?)", [str(path)]).df()
    assert ruleset.predict(held.assign(id=0)).tolist() == expected


def test_words_for_booleans_mean_1_and_0_where_training_had_these(duck, bare_python, node):
    """A file may contain yes where the training table had 1; other words are not numbers."""
    flag = Rule((NumericCondition("smoker", core_low=1.0, support_low=1.0),), "ill")
    attributes = (Attribute("smoker", 0.0, 1.0), Attribute("age", 18.0, 90.0))
    ruleset = RuleSet((flag,), attributes, ("ill", "well"), fallback="priors", class_counts=(1, 9))
    written = ["yes", " No", "TRUE", "false", "1", "0.0", None]
    expected = ["ill", "well", "ill", "well", "ill", "well", "well"]
    frame = pd.DataFrame({"smoker": pd.Series(written, dtype=object), "age": 40.0})
    assert ruleset.predict(frame).tolist() == expected
    evaluator = python_module(ruleset)
    rows = [{"smoker": text, "age": 40.0} for text in written]
    assert [evaluator.predict(row) for row in rows] == expected
    assert [row[1] for row in sqlite_answers(ruleset, frame)] == expected
    assert [row[1] for row in duck_answers(duck, ruleset, frame)] == expected
    for program, source in ((bare_python, to_python(ruleset)), (node, to_javascript(ruleset))):
        assert [a[0] for a in program.run(source, rows)] == expected
    for answer in (ruleset.predict, evaluator.predict):
        with pytest.raises(ValueError, match="'smoker' holds 'maybe'"):
            answer({"smoker": "maybe", "age": 40.0})
    old = replace(
        ruleset, rules=(Rule((NumericCondition("age", core_low=60.0, support_low=60.0),), "ill"),)
    )
    for answer in (old.predict, python_module(old).predict):
        with pytest.raises(ValueError, match="'age' holds 'yes'"):
            answer({"smoker": 1, "age": "yes"})


# Names of tables and columns in queries of this and earlier versions.
TABLES = [
    "encoded",
    "Clipped",
    "memberships",
    "joined",
    "votes",
    "MERGED",
    "scores",
    "tops",
    "silent",
]
COLUMNS = ["one", "T", "k1", "x1", "m1", "j1", "r1", "v1", "t1", "u1", "s1", "n1", "b1", "top"]


@pytest.mark.parametrize("combination", ["sum", "first"])
def test_a_query_has_no_name_in_common_with_its_table(combination, duck):
    names = [*COLUMNS, "first_rule", "frri_scores", "FRRI2_votes"]
    rules = tuple(
        Rule(
            tuple(NumericCondition(name, 0.0, 0.2, 0.5, 0.9) for name in names[j : j + 2]),
            ("a", "b", "c")[j % 3],
            (j + 1) / 20,
            partial_weights=(0.0, 0.4, 0.5),
        )
        for j in range(0, 16, 5)
    )
    table = tuple(Attribute(name, 0, 1) for name in names)
    ruleset = RuleSet(
        rules,
        table,
        ("a", "b", "c"),
        t_norm="lukasiewicz",
        combination=combination,
        fallback="stretched",
        class_counts=(1, 1, 1),
    )
    frame = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (30, len(names))), columns=names)
    expected = ruleset.predict(frame).tolist()
    assert len(set(expected)) == 3
    frame.insert(0, "id", range(30))
    own = set(re.findall(r"\bfrri\w*", to_sql(long_rule(3, "minimum", "nearest"))))
    assert len(own) > 3
    # Kept columns and columns of results may also have any name.
    options = {"keep": ["id", "top", "k1"], "names": ("s1", "n1", "one")}
    with closing(sqlite3.connect(":memory:")) as database:
        for name in [*TABLES, *own, *map(str.upper, own)]:
            frame.to_sql(name, database, index=False)
            found = database.execute(to_sql(ruleset, name, **options)).fetchall()
            database.execute(f'DROP TABLE "{name}"')
            assert [row[3] for row in sorted(found)] == expected, name
    duck.register("frame", frame)
    for name in ["scores", "Encoded", *sorted(own)[:1]]:
        duck.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM frame')
        found = duck.execute(to_sql(ruleset, name, dialect="duckdb", **options)).fetchall()
        duck.execute(f'DROP TABLE "{name}"')
        assert [row[3] for row in sorted(found)] == expected, name
    duck.unregister("frame")


def test_numbers_are_read_back_to_the_last_bit(duck):
    random = np.random.default_rng(0)
    numbers = [
        *(random.random(2000) * 10.0 ** random.integers(-9, 9, 2000)).tolist(),
        *(float(f"{x:.6g}") for x in -random.random(4000)),
        *[0.1, 1 / 3, 5e-324, 1e-310, 2.2250738585072014e-308, 1e22, 1e23, 2.0**62 + 1024, 1e305],
        *[0.0, 1.0, -2.0, 1e14, 123456789012345680.0, inf, -inf],
    ]
    database = sqlite3.connect(":memory:")
    for name, run in (("sqlite", database), ("duckdb", duck), ("ansi", duck)):
        for start in range(0, len(numbers), 500):
            part = numbers[start : start + 500]
            shown = ", ".join(map(DIALECTS[name].number, part))
            assert (
                list(run.execute(f"SELECT {shown} FROM (SELECT 1.0 AS one)").fetchall()[0]) == part
            )
    database.close()


def test_thresholds_decide_their_own_value_alike(duck):
    """A value on a crisp bound belongs to it, whatever its decimal places."""
    random = np.random.default_rng(0)
    for bound in np.round(random.random(50), 6).tolist():
        rules = (Rule((NumericCondition("a", bound, bound),), "in"), Rule((), "out", 0.5))
        ruleset = RuleSet(rules, (Attribute("a"),), ("in", "out"))
        frame = pd.DataFrame({"a": [bound, nextafter(bound, -1)]})
        assert ruleset.predict(frame).tolist() == ["in", "out"]
        assert [answer[1] for answer in sqlite_answers(ruleset, frame)] == ["in", "out"]
        assert [answer[1] for answer in duck_answers(duck, ruleset, frame)] == ["in", "out"]


@pytest.mark.parametrize("dialect", ["duckdb", "ansi"])
@pytest.mark.parametrize("t_norm", sorted(fuzzy.T_NORMS))
def test_a_condition_may_be_repeated(t_norm, dialect, duck):
    """DuckDB refuses to compare a column with itself where it copies an expression."""
    thrice = (NumericCondition("n", 0.0, 4.0, 5.0, 9.0),) * 3
    rules = (Rule(thrice, "a", 0.9), Rule((*thrice, NumericCondition.below("n", 3)), "b"))
    ruleset = RuleSet(rules, (Attribute("n", 0, 9),), ("a", "b"), t_norm=t_norm)
    frame = pd.DataFrame({"n": np.linspace(-1, 10, 23)})
    expected = ruleset.predict(frame).tolist()
    assert [answer[1] for answer in duck_answers(duck, ruleset, frame, dialect)] == expected
    assert [answer[1] for answer in sqlite_answers(ruleset, frame)] == expected


@settings(max_examples=often(80), deadline=None, derandomize=True)
@given(ruleset=rulesets(), seed=st.integers(0, 2**32))
def test_standard_sql_agrees_in_a_database_that_supports_it(ruleset, seed, duck):
    frame = random_rows(ruleset, seed, 25)
    try:
        answers = duck_answers(duck, ruleset, frame, dialect="ansi")
    except ValueError as error:
        assert "backslash" in str(error)  # noqa: PT017 - either outcome is right
        return
    assert [answer[1] for answer in answers] == ruleset.predict(frame).tolist()


MIXED = RuleSet(
    rules=(
        Rule((NumericCondition("n", 1, 3),), "up"),
        Rule((NominalCondition("b", frozenset({"True"})),), "yes", 0.9),
        Rule((NumericCondition("d", 19000, 19000.5, 19001, 19003),), "new", 0.8),
        Rule((NumericCondition("o", 0, 1, 1, 3),), "mid", 0.1),
    ),
    attributes=(
        Attribute("n", 0, 9),
        Attribute("b", categories=("False", "True")),
        Attribute("d", 18000, 20000, kind="date"),
        Attribute("o", categories=("low", "mid", "high", "top"), kind="ordinal"),
    ),
    classes=("up", "yes", "new", "mid"),
    fallback="priors",
    class_counts=(1, 1, 1, 5),
)


def test_column_types_of_databases(duck, bare_python, node):
    frame = pd.DataFrame(
        {
            "n": [2, 0, 0, 0, 0],
            "b": [False, True, False, False, False],
            "d": pd.to_datetime(
                ["2020-01-01", "2020-01-01", "2022-01-09 06:30:00.123456", None, None],
                format="ISO8601",
            ),
            "o": ["low", "low", "low", "high", "never"],
        }
    )
    expected = ["up", "yes", "new", "mid", "mid"]
    assert MIXED.predict(frame).tolist() == expected
    degree = MIXED.degrees(frame)[0, 0]
    answers = duck_answers(duck, MIXED, frame)
    assert [answer[1] for answer in answers] == expected
    assert answers[0][3] == degree == 0.5
    assert [answer[2] for answer in answers] == [1, 2, 3, 4, None]

    dates = (
        frame["d"]
        .dt.strftime("%Y-%m-%dT%H:%M:%S.%f")
        .astype(object)
        .where(frame["d"].notna(), None)
    )
    texts = frame.assign(d=dates, b=frame["b"].astype(object), n=["2", "0.0", " 0 ", "0", 0])
    texts = texts.astype(object)
    assert [answer[1:] for answer in sqlite_answers(MIXED, texts)] == [a[1:] for a in answers]
    rows = texts.to_dict("records")
    for program, source in ((bare_python, to_python(MIXED)), (node, to_javascript(MIXED))):
        assert [answer[0] for answer in program.run(source, rows)] == expected


def test_days_and_moments_without_a_time_zone(duck):
    ruleset = replace(MIXED, rules=MIXED.rules[2:3])
    duck.execute("CREATE OR REPLACE TABLE t AS SELECT DATE '2022-01-10' AS d, 1 AS id")
    frame = pd.DataFrame({"n": [0], "b": [None], "d": ["2022-01-10"], "o": ["low"]})
    (answer,) = duck.execute(to_sql(ruleset, "t", dialect="duckdb", keep=["id"])).fetchall()
    assert answer == (1, "new", 1, ruleset.scores(frame)[0, 2])


# The categories in training, values at prediction, and which category each of them is.
FORMS = [
    (
        ("False", "True"),
        [True, False, 1, 0, 1.0, 0.0, -0.0, "True", "FALSE", "true", "1", "0.0", "yes", 2, "T", None],
        [1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, -1, -1, None],
    ),
    (("no", "yes"), [True, False, 1, 0.0, "Yes", "NO", "true", "1", "maybe", "t"],
     [1, 0, 1, 0, 1, 0, 1, 1, -1, -1]),
    (("F", "T"), [True, False, "t", "f", "no", 1], [1, 0, 1, 0, 0, 1]),
    (("No",), [False, "no", True, "yes"], [0, 0, -1, -1]),
    # A boolean is the category with its name, also among others; a string is not.
    (("no", "unknown", "yes"), [True, False, "no", "true", "Yes", 1], [2, 0, 0, -1, -1, -1]),
    (("0", "1", "2"), [True, False, "true", 1.0], [1, 0, -1, 1]),
    (("True",), [True, 1, False, 0, "TRUE"], [0, 0, -1, -1, 0]),
    # Not all categories are booleans: strings stay strings.
    (("False", "True", "maybe"), [True, False, "true", 1, "maybe"], [1, 0, -1, -1, 2]),
    (("true", "yes"), [True, 1, "True", "TRUE", "true", "yes"], [-1, -1, -1, -1, 0, 1]),
    (("0", "1"), [True, False, 1, 0.0, "1.0", -0.0, "no"], [1, 0, 1, 0, 1, 0, 0]),
    # Floats in training are integers or strings in prediction, and vice versa.
    (("-2.0", "1.0", "2.5"), [1, 1.0, "1", "1.0", -2, 2.5, "2.5", "01", "1.00"],
     [1, 1, 1, 1, 0, 2, 2, -1, -1]),
    (("-7", "3"), [3.0, -7.0, 3, "3.0", 3.5, None], [1, 0, 1, 1, -1, None]),
    (("007", "x1"), [7, "7", "007", 7.0, "x1.0"], [-1, -1, 0, -1, -1]),
    # Categories that differ in training always differ.
    (("1", "1.0", "3"), ["1", "1.0", "3.0"], [0, 1, 2]),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
@pytest.mark.parametrize(("categories", "values", "codes"), FORMS)
def test_a_category_is_recognized_in_any_form(
    kind, categories, values, codes, duck, bare_python, node
):
    """True, 1 and "true", 3 and 3.0 are one value, for every type of column."""
    attribute = Attribute("n", categories=categories, kind=kind)
    labels = (*map(str, range(len(categories))), "none")
    rules = tuple(
        Rule(
            (
                NominalCondition("n", frozenset({category}))
                if kind == "nominal"
                else NumericCondition("n", code, code, code, code),
            ),
            labels[code],
        )
        for code, category in enumerate(categories)
    )
    ruleset = RuleSet(
        rules, (attribute,), labels, fallback="priors", class_counts=(*[1] * len(categories), 2)
    )
    expected = ["none" if code in {None, -1} else str(code) for code in codes]
    evaluator = python_module(ruleset)
    for value, label in zip(values, expected, strict=True):
        # Every value in a column of its own type, as in a data frame, and among others.
        for column in (pd.Series([value]), pd.Series([value, "?"], dtype=object)):
            frame = pd.DataFrame({"n": column})
            assert ruleset.predict(frame)[0] == label, value
            # SQLite has no booleans: its tables contain 1 and 0.
            held = evaluator.predict({"n": int(value)}) if isinstance(value, bool) else label
            assert sqlite_answers(ruleset, frame)[0][1] == held, value
        assert ruleset.predict(pl.DataFrame({"n": [value]}))[0] == label
        table = pd.DataFrame({"n": pd.Series([value])})
        assert duck_answers(duck, ruleset, table)[0][1] == label, value
        assert evaluator.predict({"n": value}) == label
    rows = [{"n": value} for value in values]
    assert [a[0] for a in bare_python.run(to_python(ruleset), rows)] == expected
    assert [a[0] for a in node.run(to_javascript(ruleset), rows)] == expected


def test_values_that_are_not_numeric_are_missing(duck):
    ruleset = RuleSet(
        (Rule((NumericCondition("n", core_high=1, support_high=1),), "low"),),
        (Attribute("n"),),
        ("none", "low"),
        fallback="priors",
    )
    odd = pd.DataFrame({"n": ["abc", "", "1", b"1", 1, None]}, dtype=object)
    answers = sqlite_answers(ruleset, odd)
    assert [answer[1] for answer in answers] == ["none", "none", "low", "none", "low", "none"]
    texts = odd.iloc[[0, 1, 2, 5]].reset_index(drop=True)
    assert [a[1] for a in duck_answers(duck, ruleset, texts)] == ["none", "none", "low", "none"]
    nan = pd.DataFrame({"n": [np.nan, 0.0, inf, -inf]})
    duck.execute("CREATE OR REPLACE TABLE t (id INTEGER, n DOUBLE)")
    duck.executemany("INSERT INTO t VALUES (?, ?)", [*enumerate(nan["n"].tolist())])
    query = to_sql(ruleset, "t", dialect="duckdb", keep=["id"])
    found = [answer[1] for answer in sorted(duck.execute(query).fetchall())]
    assert found == ["none", "low", "none", "low"]
    finite = nan.replace([inf, -inf], [1e300, -1e300])
    assert ruleset.predict(finite).tolist() == found


def test_infinite_values_are_far_from_everything(duck, bare_python, node):
    """The library refuses them in a table; a database or a program with one row cannot raise an error."""
    rules = (
        Rule((NumericCondition("n", -1, -1, 1, 2),), "b"),
        Rule((NumericCondition("m", 5, 5),), "c"),
    )
    ruleset = RuleSet(rules, (Attribute("n"), Attribute("m")), ("a", "b", "c"))
    frame = pd.DataFrame({"n": [inf, inf, 9.0, 0.0], "m": [1.0, -inf, -inf, -inf]})
    expected = ["c", "a", "b", "b"]
    with pytest.raises(ValueError, match=r"Column 'n' holds inf \(infinity\) in row 1"):
        ruleset.predict(frame)
    with np.errstate(invalid="ignore"):
        decided = ruleset.predict_index(frame.to_numpy())
    assert [ruleset.classes[c] for c in decided] == expected
    rows = json.loads(
        json.dumps(frame.to_dict("records")).replace("Infinity", '"Infinity"').replace('-"', '"-')
    )
    assert [a[1] for a in sqlite_answers(ruleset, frame)] == expected
    assert [a[1] for a in duck_answers(duck, ruleset, frame)] == expected
    assert [a[0] for a in bare_python.run(to_python(ruleset), rows)] == expected
    assert [a[0] for a in node.run(to_javascript(ruleset), rows)] == expected


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"dialect": "oracle"}, "no dialect 'oracle'"),
        ({}, {"names": ("N", "r", "s")}, "would have one name"),
        ({}, {"keep": ["id", "ID"]}, "would have one name"),
        ({"classes": ("a\0a", "b")}, {}, "cannot hold the text"),
        ({"classes": ("a\\", "b")}, {"dialect": "ansi"}, "differ in how they read the backslash"),
        ({"classes": (2**70, 1)}, {}, "does not fit into an integer"),
        ({"attributes": (Attribute("n"), Attribute("N"))}, {"keep": []}, "would have one name"),
        ({"attributes": (Attribute(""),)}, {"dialect": "duckdb"}, "without a name"),
        ({}, {"keep": [f"c{i}" for i in range(1990)]}, "at most 2000 columns"),
    ],
)
def test_rules_that_sql_cannot_express_get_one_sentence(change, options, message):
    fields = {"attributes": (Attribute("n"),), "classes": ("a", "b")} | change
    condition = NumericCondition(fields["attributes"][0].name, core_high=1, support_high=1)
    ruleset = RuleSet((Rule((condition,), fields["classes"][0]),), **fields)
    with pytest.raises(ValueError, match=message):
        to_sql(ruleset, **options)


# ---------------------------------------------------------------- programs


def test_python_modules_explain_unreadable_values():
    evaluator = python_module(MIXED)
    row = {"n": 1.5, "b": False, "d": "2022-01-09", "o": "mid"}
    known = evaluator.degrees(row)
    assert known == MIXED.degrees(row)[0].tolist() == evaluator.degrees(list(row.values()))
    assert evaluator.degrees(row | {"n": np.float64(1.5), "o": np.str_("mid")}) == known
    moment = datetime(2022, 1, 9, 2, tzinfo=timezone(timedelta(hours=2)))
    for day in (moment, date(2022, 1, 9), "2022-01-09T00:00:00Z", "2022-01-08T22:00-02:00", 19001):
        assert evaluator.degrees(row | {"d": day}) == known
    for bad, message in (
        ({}, "no column 'n'"),
        (row | {"n": "x"}, "not a number"),
        (row | {"d": "2022-02-30"}, "out of range"),
        (row | {"d": "yesterday"}, "not a date"),
        ([1], "Expected 4 values"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluator.predict(bad)


def test_modules_accept_what_a_file_contains(bare_python, node):
    """Empty strings are missing as in a CSV file, and dates may have a time zone."""
    row = {"n": "", "b": "", "d": "", "o": ""}
    gone = dict.fromkeys(row)
    for ruleset in (MIXED, replace(MIXED, semantics=replace(MIXED.semantics, missing="similar"))):
        known = ruleset.degrees(gone)[0].tolist()
        moments = [
            "2022-01-09T07:03:59Z",
            "2022-01-09T09:03:59+02:00",
            "2022-01-09 07:03:59.0000001",
        ]
        days = [gone | {"d": text} for text in moments]
        day = ruleset.degrees(gone | {"d": "2022-01-09T07:03:59"})[0].tolist()
        expected = [known, known, day, day, day]
        for program, export in ((bare_python, to_python), (node, to_javascript)):
            answers = program.run(export(ruleset), [row, gone, *days], ["degrees"])
            assert [answer[0] for answer in answers] == expected
    empty = RuleSet(
        (Rule((NominalCondition("c", frozenset({""})),), "in"),),
        (Attribute("c", categories=("", "x")),),
        ("in", "out"),
        fallback="priors",
        class_counts=(1, 2),
    )
    for program, export in ((bare_python, to_python), (node, to_javascript)):
        answers = program.run(export(empty), [{"c": ""}, {"c": None}, {"c": "x"}])
        assert [answer[0] for answer in answers] == ["in", "out", "out"]


def test_numbers_that_javascript_cannot_hold_are_refused():
    ruleset = RuleSet((), (Attribute("n"),), (2**53 + 1, 1))
    with pytest.raises(ValueError, match="cannot hold"):
        to_javascript(ruleset)


# ---------------------------------------------------------------- hostile names


def hostile_ruleset():
    table = tuple(
        Attribute(name, categories=(*HOSTILE, f"plain {name}"))
        if j % 2
        else Attribute(name, -1.0, 1.0)
        for j, name in enumerate(HOSTILE)
    )
    rules = tuple(
        Rule(
            (
                NominalCondition(attribute.name, frozenset(HOSTILE[: j + 1]))
                if attribute.categories
                else NumericCondition(attribute.name, -0.5, 0.1 * j),
            ),
            HOSTILE[j],
            0.5 + j / 100,
        )
        for j, attribute in enumerate(table)
    )
    ruleset = RuleSet(rules, table, HOSTILE, target=HOSTILE[4])
    frame = random_rows(ruleset, 0, 50)
    return ruleset.with_statistics(frame, ruleset.predict(frame)), frame


def test_hostile_names_predict_as_any_others(duck, bare_python, node):
    ruleset, frame = hostile_ruleset()
    agree(ruleset, frame, duck, bare_python, node)


def test_hostile_names_stay_cells_of_a_csv_file():
    ruleset, _ = hostile_ruleset()
    rows = list(csv.reader(io.StringIO(to_csv(ruleset), newline="")))
    assert len(rows) == len(ruleset) + 1
    for row, rule in zip(rows[1:], ruleset, strict=True):
        assert len(row) == len(rows[0]) == 8
        assert row[2] in {rule.consequent, f"'{rule.consequent}"}
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)
    number = RuleSet((Rule((), -1),), (Attribute("n"),), (-1, 1))
    assert to_csv(number).splitlines()[1] == "1,,-1,1.0"


def test_hostile_names_stay_cells_of_a_markdown_table():
    ruleset, _ = hostile_ruleset()
    lines = to_markdown(ruleset).split("\n")
    assert len(lines) == len(to_markdown(ruleset).splitlines()) == len(ruleset) + 2
    for line in lines:
        assert line.replace("\\\\", "").replace("\\|", "").count("|") == 9
        assert "<" not in line
        assert "://" not in line
        plain = line.replace("\\\\", "")
        for mark in "`*_[]$":
            assert plain.count(mark) == plain.count("\\" + mark)


def test_hostile_names_stay_cells_of_a_latex_table():
    ruleset, _ = hostile_ruleset()
    lines = to_latex(ruleset).split("\n")
    body = [line for line in lines if line.endswith(r" \\")]
    assert len(body) == len(ruleset) + 1
    commands = set()
    for line in body:
        rest = line.removesuffix(r" \\")
        for known in (r"\{", r"\}", r"\$", r"\&", r"\#", r"\%", r"\_", r"$\leq$", r"$\geq$"):
            rest = rest.replace(known, "")
        assert rest.count("&") == 7
        assert not set('$#%_^~"<>|`') & set(rest)
        assert rest.count("{") == rest.count("}")
        commands |= {word.split("{")[0] for word in rest.split("\\")[1:]}
    assert commands <= {
        "textbackslash",
        "textasciitilde",
        "textasciicircum",
        "textless",
        "textgreater",
        "textbar",
        "textasciigrave",
        "symbol",
    }


def test_hostile_names_stay_literals_of_programs():
    ruleset, _ = hostile_ruleset()
    source = to_python(ruleset)
    assert source.isascii()
    tree = ast.parse(source, feature_version=(3, 8))
    kinds = {type(node) for node in tree.body[1:]}
    assert kinds == {ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert len(imports) == 4
    script = to_javascript(ruleset)
    assert script.isascii()
    for mark in ("</", "<!--", "<script"):
        assert mark not in script
    assert max(map(len, to_sql(ruleset).splitlines())) > 0
    for name, export in FORMATS.items():
        if name not in {"json", "csv", "dbt"}:  # the last one refuses line breaks
            assert not set(export(ruleset)) & {"\x1b", "\u2028", "\r"} or name == "sql"


def test_an_empty_rule_set_can_be_exported(duck, bare_python, node):
    ruleset = RuleSet((), (Attribute("n", 0, 1),), (1, 2), class_counts=(1, 2))
    for export in FORMATS.values():
        assert isinstance(export(ruleset), str | bytes)
    agree(ruleset, pd.DataFrame({"n": [1.0, np.nan]}), duck, bare_python, node)


@pytest.mark.parametrize("export", [to_markdown, to_latex, RuleSet._repr_html_])
def test_predicted_numbers_are_shown_to_six_digits(export):
    rules = tuple(Rule((), number) for number in (-1234.5678, 0.0123456789))
    text = export(RuleSet(rules, (), (), "price", semantics="weighted-mean"))
    assert "-1234.57" in text
    assert "0.0123457" in text


def test_tables_have_the_weights_of_rules():
    known = RuleStatistics((51.0, 2.5), 0.95, 1.2, 51.0)
    vote = Rule((NumericCondition.below("age", 30),), "no", 1.25, statistics=known)
    votes = RuleSet((vote,), (Attribute("age"),), ("no", "yes"), semantics="softmax-votes")
    assert to_markdown(votes).split("\n")[::2] == [
        "| rule | if | class | vote | covers | precision | lift | alone |",
        "| 1 | age &lt; 30 | no | +1.25 | 53.5 | 0.95 | 1.20 | 51 |",
    ]
    assert r"1 & age \textless{} 30 & no & +1.25 & 53.5 & 0.95 & 1.20 & 51 \\" in to_latex(votes)
    assert to_csv(votes).split("\n")[0] == "rule,if,class,vote,covers,precision,lift,alone"
    assert '<td style="text-align:left">51</td>' in ruleset_html(votes)
    assert votes.to_frame()["vote"].tolist() == [1.25]
    numbers = RuleSet(
        (Rule((), -30.0, 2.0),), (), (), "covers", semantics="added-contributions", base=(7.0,)
    )
    assert to_markdown(numbers).split("\n")[::2] == [
        "| rule | if | contribution |",
        "| 1 |  | -60 |",
    ]
    assert to_csv(numbers) == "rule,if,contribution\n1,,-60.0\n"
    assert to_text(numbers) == "ALWAYS covers -60\nBASE covers 7"


def test_a_class_named_like_a_column_is_no_number_of_rows():
    rules = RuleSet((Rule((), 0.123456789),), (), (0.123456789,), "covers")
    assert to_markdown(rules).endswith("| 1 |  | 0.123457 | 1.00 |")

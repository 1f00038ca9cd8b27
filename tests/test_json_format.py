"""Saved rule sets: the published schema, and damaged or malicious files."""

import json
import os
import random
import re
import sys
import threading
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings

from call_counts import calls
from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet, export
from frri.cli.files import load_model
from frri.report.facts import facts
from frri.rules import json_format
from test_export import rulesets
from thorough import often

VALIDATOR = jsonschema.Draft202012Validator(json_format.schema())


def example():
    """Return a rule set with every feature that can be saved."""
    ruleset = RuleSet(
        rules=(
            Rule(
                (
                    NumericCondition("age", 18, 20.5, 30, 40),
                    NominalCondition("colour", frozenset({"red", "blue"})),
                ),
                "no",
                0.9,
                source=3,
                partial_weights=(0.1, 0.2, 0.3, 0.4),
            ),
            Rule((NumericCondition("size", core_high=1, support_high=2),), "yes", origin="written"),
            Rule((), "yes", 0.5, distribution=(0.25, 0.75)),
            Rule((NominalCondition("colour", frozenset({"green"}), excludes=True),), "no"),
        ),
        attributes=(
            Attribute("age", 0, 99),
            Attribute("colour", categories=("blue", "green", "red")),
            Attribute("size", categories=("s", "m", "l"), kind="ordinal"),
            Attribute("day", 18000, 19000, kind="date"),
        ),
        classes=("no", "yes"),
        target="answer",
        fallback="partial",
        class_counts=(3, 4),
        about={"learner": "FRRI", "settings": {"depth": [1, 2.5, None, True]}},
    )
    rows = [[25, "red", "m", "2020-01-01"], [50, "green", "l", None]]
    return ruleset.with_statistics(rows, ["no", "yes"])


# ---------------------------------------------------------------- the schema


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(json_format.schema())


@settings(max_examples=often(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rulesets())
def test_whatever_is_saved_fits_the_schema_and_comes_back(ruleset):
    VALIDATOR.validate(json.loads(ruleset.to_json()))
    again = RuleSet.from_json(ruleset.to_json())
    assert again == ruleset
    assert again.about == ruleset.about


def test_the_example_fits_the_schema_and_comes_back(tmp_path):
    content = json.loads(example().to_json())
    VALIDATOR.validate(content)
    VALIDATOR.validate(content | {"$schema": "urn:frri:ruleset:2"})
    assert RuleSet.from_dict(content | {"$schema": "urn:frri:ruleset:2"}) == example()
    path = tmp_path / "rules.json"
    path.write_text(example().to_json(), encoding="utf-8-sig")
    assert RuleSet.load(path) == example()
    assert RuleSet.load(path).about == example().about


def changed(path, value):
    """Return the JSON of the example with one value replaced, or removed if the value is `...`."""
    content = json.loads(example().to_json())
    node = content
    for key in path[:-1]:
        node = node[key]
    if value is ...:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return content


FAR = {"attribute": "day", "trapezoid": [None, None, 1e14, 1e14]}
BY_SCHEMA = [
    (["format"], "other", "not a saved rule set"),
    (["version"], 3, "format version 3"),
    (["version"], True, "format version True"),
    (["rules"], "abc", "'abc' where a list belongs"),
    (["classes"], "ab", "'ab' where a list belongs"),
    (["classes"], [], "at least one"),
    (["classes", 0], None, "where a class label belongs"),
    (["semantics", "clip"], 1, "1 where true or false belongs"),
    (["semantics", "missing"], "maybe", "missing must be one of"),
    (["semantics", "t_norm"], [], "where a text belongs"),
    (["semantics", "name"], "worst-rule", "semantics must be one of"),
    (["semantics", "fallback"], ..., "lacks 'fallback' in the semantics"),
    (["semantics", "link"], "x", "'link' in the semantics, which is not part"),
    (["semantics"], "best-rule", "where a semantics belongs"),
    (["task"], "regression", "'best-rule' is for classification"),
    (["task"], ..., "lacks 'task'"),
    (["base"], [None], "where a number belongs"),
    (["rules", 0, "votes"], ["a"], "where a number belongs"),
    (["rules", 0, "relation"], "about", "relation 'about'; in best-rule it must be 'is'"),
    (["extra"], 1, "'extra' in the rule set, which is not part"),
    (["class_counts"], [], "one count per class"),
    (["class_counts", 0], -1, "count of 0 or more"),
    (["target"], ..., "lacks 'target'"),
    (["about"], [], "where a description belongs"),
    (["attributes", 0], 7, "7 where an attribute belongs"),
    (["attributes", 0, "kind"], "", "unknown kind ''"),
    (["attributes", 0, "low"], ..., "lacks 'low' in an attribute"),
    (["attributes", 0, "categories"], ["a"], "'low' in an attribute, which is not part"),
    (["attributes", 1, "categories"], ["a", "a"], "has a category twice"),
    (["attributes", 2, "categories"], [], "'size' is ordinal and has no categories"),
    (["attributes", 3, "low"], -1e14, "'day' holds dates up to 1e\\+14 days from 1970"),
    (["rules", 0], None, "where a rule belongs"),
    (["rules", 0, "weight"], "1", "'1' where a number belongs"),
    (["rules", 0, "weight"], -1, "must be 0, or from 1e-300"),
    (["rules", 0, "weight"], 10**400, "where a number belongs"),
    (["rules", 0, "wieght"], 1, "'wieght' in a rule, which is not part"),
    (["rules", 0, "origin"], "stolen", "origin"),
    (["rules", 0, "source"], -1, "where a count belongs"),
    (["rules", 0, "source"], 2**64, "where a count belongs"),
    (["rules", 0, "statistics", "alone"], -1, "where a count belongs"),
    (["rules", 0, "statistics", "alone"], -1.5, "where a count belongs"),
    (["rules", 0, "statistics", "alone"], 1e306, "where a count belongs"),
    (["rules", 0, "if", 0, "trapezoid"], [1, 2, 3], "four bounds"),
    (["rules", 0, "if", 0, "trapezoid", 0], 1e306, "where a number belongs"),
    (["rules", 0, "if", 1, "values"], [], "allows no value"),
    (["rules", 0, "partial_weights", 1], -1.5, "Rule 1 must have partial weights of 0 or more"),
    (["rules", 2, "distribution", 0], -0.5, "Rule 3 must have shares of 0 or more"),
    (["rules", 0, "if", 0], {"attribute": "age"}, "lacks 'trapezoid'"),
]
BY_HAND = [
    (["rules", 0, "weight"], 5e-324, "must be 0, or from 1e-300"),
    (["attributes", 0, "low"], 100, "ranges from 100.0 down to 99.0"),
    (["attributes", 0, "name"], "colour", "same name"),
    (["rules", 2, "if"], [FAR], "Rule 3 has a condition on 'day' beyond .* 1e\\+14 days"),
    (["rules", 0, "then"], "perhaps", "not a class"),
    (["rules", 0, "votes"], [1.0, 2.0], "votes, which have no meaning in best-rule"),
    (["rules", 0, "relation"], "at least", "must be 'is'"),
    (["base"], [1.0], "The base of best-rule must be 0 numbers"),
    (["semantics", "fallback"], "base", "fallback must be one of nearest"),
    (["task"], "ordinal", "'best-rule' is for classification"),
    (["rules", 0, "if", 0, "attribute"], "weight", "not an attribute"),
    (["rules", 0, "if", 0, "trapezoid", 0], 21, "must ascend"),
    (["rules", 0, "partial_weights"], [0.1] * 3, "2 conditions with 3 partial weights"),
    (["rules", 0, "partial_weights"], [0.1] * 65536, "with 65536 partial weights"),
    (["rules", 2, "distribution"], [1.0], "one share per class"),
    (["rules", 0, "statistics", "support"], [1], "one count per class"),
    (["target"], "\ud800", "where a text belongs"),
    (["about", "deep"], json.loads("[" * 40 + "]" * 40), "moderate depth"),
]


@pytest.mark.parametrize(("path", "value", "message"), BY_SCHEMA + BY_HAND)
def test_invalid_content_gets_one_sentence(path, value, message):
    with pytest.raises(ValueError, match=message) as caught:
        RuleSet.from_dict(changed(path, value))
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(("path", "value", "message"), BY_SCHEMA)
def test_the_schema_refuses_the_same(path, value, message):
    del message
    assert not VALIDATOR.is_valid(changed(path, value))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"weight": 0.9', '"weight": NaN', "'NaN' where a number belongs"),
        ('"weight": 0.9', '"weight": -Infinity', "'-Infinity' where a number belongs"),
        ('"weight": 0.9', '"weight": 1e999', "inf where a number belongs"),
        ('"weight": 0.9', f'"weight": {"9" * 5000}', "a number of 5000 digits"),
        ('"weight": 0.9', '"weight": 1, "weight": 2', "'weight' twice in one object"),
        ('"target": "answer"', '"target": "\\ud800"', "where a text belongs"),
        ('"about": {', '"about": {"x": ' + "[" * 100_000, "nested too deeply"),
        ('"target"', "target", "not JSON"),
    ],
)
def test_invalid_json_gets_one_sentence(old, new, message):
    text = example().to_json()
    assert old in text
    with pytest.raises(ValueError, match=message):
        RuleSet.from_json(text.replace(old, new, 1))


def test_invalid_files_get_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "rules.json"
    path.write_bytes(b"\x80\x81\xff")
    with pytest.raises(ValueError, match="not a text file"):
        RuleSet.load(path)
    example().save(path)
    monkeypatch.setattr(json_format, "LARGEST_FILE", 100)
    with pytest.raises(ValueError, match="too large: at most 100 bytes"):
        RuleSet.load(path)


def endless(pipe):
    """Write opening brackets until the reader closes the pipe."""
    with suppress(BrokenPipeError), pipe.open("wb", buffering=0) as file:
        while True:
            file.write(b"[" * 2**16)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_reading_an_endless_stream_stops_at_the_maximum_size(tmp_path, monkeypatch):
    monkeypatch.setattr(json_format, "LARGEST_FILE", 3 * 2**20)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for read in (RuleSet.load, load_model):
        writer = threading.Thread(target=endless, args=(pipe,))
        writer.start()
        with pytest.raises(ValueError, match="pipe is too large"):
            read(str(pipe))
        writer.join()
        with pytest.raises(ValueError, match="/dev/zero is too large"):
            read("/dev/zero")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 60_000_000, "more than 4,194,304 parts"),
        ('{"about": ' * 20 + "0" + "}" * 20, "not a saved rule set: it lacks"),
        ("[" * 1_000_000, "nested too deeply"),
        ("[" + "[]," * 5_000_000, "more than 4,194,304 parts"),
        ('{"a": "' + "[" * 1000 + '\\\\"' + "[" * 100, "not JSON"),
        ('{"a": "' + "[" * 1000 + '\\""}', "not a saved rule set: it lacks"),
        ("]" * 100, "not JSON"),
    ],
)
def test_brackets_are_counted_before_anything_is_made_of_them(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        RuleSet.from_json(text)
    assert len(str(caught.value)) < 200


def test_library_and_command_line_read_a_model_alike(tmp_path):
    path = tmp_path / "rules.json"
    for content in (b"", b" \n", b"\xff", b"[" * 100, b"{}", b"\xef\xbb\xbf{", b"null"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=re.escape(str(path))) as library:
            RuleSet.load(path)
        with pytest.raises(ValueError, match=re.escape(str(path))) as command:
            load_model(str(path))
        assert str(command.value) == str(library.value)


def test_reading_takes_work_in_proportion_to_the_file():
    """Read many equal elements with an error at the end."""
    names = ", ".join(f'"k{i}": 1' for i in range(200_000))
    with pytest.raises(ValueError, match="'k0' twice"):
        RuleSet.from_json(f'{{{names}, "k0": 1}}')
    Name.compared = 0
    pairs = [(Name(f"k{i % 999}"), 1) for i in range(1_000)]
    with pytest.raises(ValueError, match="'k0' twice"):
        json_format._without_duplicates(pairs)
    assert Name.compared < 10 * len(pairs)
    content = json.loads(example().to_json())

    def read_many(n):
        with pytest.raises(ValueError, match="where a rule belongs"):
            RuleSet.from_dict(content | {"rules": content["rules"][:1] * n + [None]})

    few, many = (calls(lambda n=n: read_many(n)) for n in (200, 800))
    assert many < 4.5 * few


class Name(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)


# ---------------------------------------------------------------- ten thousand mutations

JUNK = (
    *(1e14, -1e14, 1e8, 1e300, 1e305, -1.5, "date", "ordinal", "nominal", "product", "drastic"),
    *("lukasiewicz", "sum", "first", "stretched", "priors", "holds", "fails", "edited"),
    *(None, True, False, 0, -1, 1, 2, 1e308, -1e308, 5e-324, 10**30, 10**400, 0.5, float("nan")),
    *("", "x", "no", "age", "\ud800", "\0", "a" * 500, "best", "numeric", "1e5"),
    *([], [[]], [None] * 4, [1, 2, 3, 4], [0.5] * 2000, {}, {"a": {}}, {"if": []}, [[[[[]]]]]),
)
TOKENS = (
    *("{", "}", "[", "]", ",", ":", '"', "null", "NaN", "-", "1e999", "0", "\\", "\\ud800"),
    *("\n", "\0", "/*", '"a": 1,', "[[[[[[", "1" * 400, "true", "\ufeff", "é"),
)


def mutated_content(content, chance):
    """Return JSON with one to three nested values replaced, removed, doubled or renamed."""
    for _ in range(chance.randint(1, 3)):
        parent, key, node = None, None, content
        while isinstance(node, dict | list) and node and (parent is None or chance.random() < 0.8):
            parent = node
            key = (
                chance.choice(list(node)) if isinstance(node, dict) else chance.randrange(len(node))
            )
            node = node[key]
        action = chance.random()
        if action < 0.6:
            parent[key] = deepcopy(chance.choice(JUNK))
        elif action < 0.75:
            del parent[key]
        elif isinstance(parent, list):
            parent.extend(parent[-1:] * chance.choice([1, 2, 300]))
        else:
            parent[chance.choice(["x", "if", "values", "low", key * 2])] = deepcopy(parent[key])
    return json.dumps(content)


def mutated_text(text, chance):
    """Return text with characters changed, cut, doubled or inserted."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) + 1)
        end = min(len(text), at + chance.choice([1, 1, 3, 40]))
        action = chance.randrange(5)
        if action == 0:
            text = text[:at] + text[end:]
        elif action == 1:
            text = text[:at] + chance.choice(TOKENS) + text[at:]
        elif action == 2:
            text = text[:at] + chance.choice(TOKENS) + text[end:]
        elif action == 3:
            text = text[:end] + text[at:]
        elif chance.random() < 0.2:
            text = text[:at]
    return text


def peak_memory():
    """Return the peak memory in KiB, or 0 if the system does not provide it."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 2**10 if sys.platform == "darwin" else peak


SOURCES = (
    example(),
    replace(example(), fallback="nearest", combination="first"),
    replace(example(), fallback="stretched", combination="sum", clip=True, missing="holds"),
    RuleSet((), (Attribute("n"),), (1, 2)),
    *(
        RuleSet.load(Path(__file__).with_name("golden") / "v2" / f"{name}.json")
        for name in ("softmax-votes", "at-least-class", "weighted-mean", "added-contributions")
    ),
)


def use(ruleset):
    """Call the main methods of a rule set."""
    row = {
        attribute.name: attribute.categories[0] if attribute.categories else None
        for attribute in ruleset.attributes
    }
    numbers = {a.name: 1.0 for a in ruleset.attributes if a.kind == "numeric"}
    dates = {a.name: "2020-01-01" for a in ruleset.attributes if a.kind == "date"}
    table = pd.DataFrame([row, row | numbers | dates], columns=list(row), dtype=object)
    if ruleset.task == "regression":
        assert np.isfinite(ruleset.predict(table)).all()
    else:
        shares = ruleset.predict_proba(table)
        assert (shares >= 0).all()
        assert shares.sum(axis=1) == pytest.approx(1)
        assert set(ruleset.predict(table).tolist()) <= set(ruleset.classes)
    assert [str(rule) for rule in ruleset]
    assert len(ruleset.to_frame()) == len(ruleset)
    assert str(ruleset.without_rule(0)) in str(ruleset)
    assert str(ruleset.explain(row, effort=100))
    json.dumps(facts(ruleset), allow_nan=False)
    for write in export.FORMATS.values():
        with suppress(ValueError):  # features that a format cannot express
            assert write(ruleset)


@pytest.mark.filterwarnings("error")
def test_whatever_is_loaded_can_be_used():
    chance = random.Random(1)
    used = 0
    while used < often(75):
        content = json.loads(chance.choice(SOURCES).to_json())
        try:
            ruleset = RuleSet.from_json(mutated_content(content, chance))
        except ValueError:
            continue
        if len(ruleset):
            use(ruleset)
            used += 1


def test_ten_thousand_mutated_files_never_crash_hang_or_fill_the_memory():
    chance = random.Random(0)
    sources = [ruleset.to_json() for ruleset in SOURCES]
    loaded = 0
    before = peak_memory()
    for number in range(10_000):
        source = sources[number % len(sources)]
        if number % 2:
            text = mutated_text(source, chance)
        else:
            text = mutated_content(json.loads(source), chance)
        try:
            ruleset = RuleSet.from_json(text)
        except ValueError as error:
            assert 10 < len(str(error)) < 1000  # noqa: PT017 - an outcome among others
        else:
            loaded += 1
            assert RuleSet.from_json(ruleset.to_json()) == ruleset
            if loaded % 10 == 0:
                VALIDATOR.validate(json.loads(text))
    assert 500 < loaded < 9_500
    assert peak_memory() - before < 200 * 2**10

"""DMN run by feelin and dmn-eval-js, JDM run by zen-engine: predictions equal those of the library."""

import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import zen

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet
from frri.export.decision_tables import NAMESPACE, to_dmn, to_jdm
from frri.table import to_matrix
from programs import required
from random_models import random_models, random_rows
from test_conformance import FRAME, RULESETS, every
from test_export import hostile_ruleset

ROOT = Path(__file__).parents[1]
MODULES = ROOT / ".venv" / "axe" / "node_modules"
RUNNER = [
    MODULES / "feelin" / "dist" / "index.js",
    MODULES / "@hbtgmbh" / "dmn-eval-js" / "index.js",
]


def records(ruleset, frame):
    """Return rows in the format of rule engines: dates in days, null for missing values."""
    matrix = to_matrix(frame, ruleset.attributes)
    columns = {}
    for j, attribute in enumerate(ruleset.attributes):
        values = matrix[:, j] if attribute.categories is None else frame[attribute.name]
        columns[attribute.name] = [None if pd.isna(value) else value for value in values.tolist()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def agree(ruleset, frame, answers):
    decision = ruleset.decide(frame)
    answers = [a if isinstance(a, dict) else {"prediction": a} for a in answers]
    found = [answer["prediction"] for answer in answers]
    if ruleset.classes:
        assert found == decision.answers.tolist()
    else:
        np.testing.assert_allclose(found, decision.answers, rtol=1e-12, atol=1e-12)
    if "rule" in answers[0]:
        assert [answer["rule"] for answer in answers] == (decision.deciding + 1).tolist()


# ---------------------------------------------------------------- ZEN

ENGINE = zen.ZenEngine()


def zen_answers(ruleset, frame):
    decision = ENGINE.create_decision(to_jdm(ruleset))
    return [decision.evaluate(row)["result"] for row in records(ruleset, frame)]


@every
def test_zen_agrees_on_the_conformance_table(ruleset, expected):
    del expected
    if ruleset.semantics.name == "cumulative-logits":
        with pytest.raises(ValueError, match="no exponential function"):
            to_jdm(ruleset)
    else:
        agree(ruleset, FRAME, zen_answers(ruleset, FRAME))


def test_zen_agrees_on_random_rows():
    random = np.random.default_rng(3)
    rows = random_rows(random, 200)
    for model in random_models(random):
        if model.semantics.name != "cumulative-logits":
            agree(model, rows, zen_answers(model, rows))


def test_hostile_names_predict_as_any_others():
    ruleset, frame = hostile_ruleset()
    text = to_jdm(ruleset)
    ET.fromstring(to_dmn(ruleset))
    inputs = [
        data.get("name")
        for data in ET.fromstring(to_dmn(ruleset)).iter(f"{{{NAMESPACE}}}inputData")
    ]
    rows = [dict(zip(inputs, row.values(), strict=True)) for row in records(ruleset, frame)]
    decision = ENGINE.create_decision(text)
    agree(ruleset, frame, [decision.evaluate(row)["result"] for row in rows])


# ---------------------------------------------------------------- FEEL


@pytest.fixture(scope="module")
def node():
    """One process of Node.js for all tests."""
    required("feelin and dmn-eval-js", all(path.exists() for path in RUNNER))
    command = ["node", ROOT / "tests" / "dmn_runner.mjs", *RUNNER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(list(map(str, command)), **pipes, encoding="utf-8")

    def answer(**request):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield answer
    process.communicate(timeout=10)


@pytest.fixture(scope="module")
def feelin(node):
    def answer(ruleset, frame, rows=None):
        rows = rows or records(ruleset, frame)
        return node(decisions=decisions_of(to_dmn(ruleset)), rows=rows)

    return answer


def decisions_of(text):
    """Return the decisions of a DMN file as plain values, in their order."""
    root, dmn = ET.fromstring(text), f"{{{NAMESPACE}}}"
    found = []
    for decision in root.iter(f"{dmn}decision"):
        name = {"name": decision.get("name")}
        table = decision.find(f"{dmn}decisionTable")
        context = decision.find(f"{dmn}context")
        if table is not None:
            rules = [
                [
                    [e.findtext(f"{dmn}text") for e in rule.iter(f"{dmn}{tag}Entry")]
                    for tag in ("input", "output")
                ]
                for rule in table.iter(f"{dmn}rule")
            ]
            inputs = [e.findtext(f"{dmn}text") for e in table.iter(f"{dmn}inputExpression")]
            outputs = [e.get("name") for e in table.iter(f"{dmn}output")]
            name |= {"kind": "table", "policy": table.get("hitPolicy")}
            name |= {"inputs": inputs, "outputs": outputs, "rules": rules}
        elif context is not None:
            entries = [(e.find(f"{dmn}variable"), e.find(f".//{dmn}text").text) for e in context]
            name |= {"kind": "context"}
            name["entries"] = [["" if v is None else v.get("name"), text] for v, text in entries]
        else:
            name |= {"kind": "literal", "text": decision.find(f".//{dmn}text").text}
        found.append(name)
    return found


# One rule set of every semantics and fallback: feelin takes a second for some of them.
CHOSEN = {(ruleset.semantics.name, ruleset.fallback): ruleset for ruleset, _ in reversed(RULESETS)}


@pytest.mark.parametrize("kind", CHOSEN, ids=", ".join)
def test_feel_agrees_on_the_conformance_table(kind, feelin):
    agree(CHOSEN[kind], FRAME, feelin(CHOSEN[kind], FRAME))


# ---------------------------------------------------------------- tables

ATTRIBUTES = (
    Attribute("age (years)", 18, 90, typical=50.0),
    Attribute("smoker", categories=("no", "yes"), typical="no"),
    Attribute("size", categories=("s", "m", "l"), kind="ordinal", typical="l"),
    Attribute("color", categories=("blue", "red"), typical="red"),
)
CONDITIONS = (
    (NumericCondition("age (years)", 43, 43), NominalCondition("smoker", ("yes",))),
    (
        NumericCondition("age (years)", 20, 20, 30.5, 30.5),
        NominalCondition("color", ("red",), excludes=True),
    ),
    (NumericCondition("size", 1, 1),),
    (NumericCondition.below("age (years)", 25),),
    (),
)


def crisp(semantics, missing):
    """Return crisp rules of a semantics that tables can express."""
    settings = {"semantics": semantics, "missing": missing}
    if semantics == "added-contributions":
        rules = tuple(Rule(c, 0.1 * k) for k, c in enumerate(CONDITIONS, start=1))
        return RuleSet(rules, ATTRIBUTES, base=(0.7,), **settings)
    labels = ("high", "low", "high", "low", "mid")
    rules = tuple(Rule(c, label, 0.9) for c, label in zip(CONDITIONS, labels, strict=True))
    base = {"base": (0.1, 0.2, 0.3)} if semantics == "softmax-votes" else {}
    if semantics == "first-match":
        base = {"fallback": "priors", "class_counts": (1.0, 3.0, 2.0)}
        rules = rules[:-1]
    return RuleSet(rules, ATTRIBUTES, ("high", "low", "mid"), **settings, **base)


def table_rows(n=300):
    random = np.random.default_rng(5)
    columns = {
        "age (years)": random.choice([18.0, 20.0, 24.9, 25.0, 30.5, 31.0, 43.0, 60.0, None], n),
        "smoker": random.choice(["no", "yes", "TRUE", "0", "other", None], n),
        "size": random.choice(["s", "m", "l", "huge", None], n),
        "color": random.choice(["blue", "red", "green", None], n),
    }
    return pd.DataFrame(columns)


TABLES = pytest.mark.parametrize("missing", ["fails", "typical", "similar"])


@TABLES
@pytest.mark.parametrize("semantics", ["first-match", "softmax-votes", "added-contributions"])
def test_tables_agree_in_all_engines(semantics, missing, feelin):
    ruleset, rows = crisp(semantics, missing), table_rows()
    kinds = {decision.get("policy") for decision in decisions_of(to_dmn(ruleset))}
    assert kinds & {"FIRST", "COLLECT"}
    decision = ENGINE.create_decision(to_jdm(ruleset))
    named = renamed(ruleset, rows)
    agree(ruleset, rows, [decision.evaluate(row)["result"] for row in named])
    agree(ruleset, rows[:30], feelin(ruleset, rows[:30], named[:30]))


def renamed(ruleset, rows):
    names = {"age (years)": "age__years_"}
    return [{names.get(k, k): v for k, v in row.items()} for row in records(ruleset, rows)]


@pytest.mark.parametrize("semantics", ["first-match", "softmax-votes", "added-contributions"])
def test_a_dmn_engine_agrees_on_rows_without_missing_values(semantics, node):
    ruleset, rows = crisp(semantics, "fails"), table_rows().dropna()
    xml = to_dmn(ruleset).replace(NAMESPACE, "http://www.omg.org/spec/DMN/20151101/dmn.xsd")

    def answers(name):
        return node(xml=xml, name=name, rows=renamed(ruleset, rows))

    if semantics == "first-match":
        agree(ruleset, rows, answers("prediction"))
    elif semantics == "added-contributions":
        agree(
            ruleset,
            rows,
            [sum(hit["prediction"] for hit in hits) for hits in answers("prediction")],
        )
    else:
        names = [f"_votes_{c}" for c in (1, 2, 3)]
        sums = [[sum(hit[name] for hit in hits) for hits in answers(name)] for name in names]
        agree(ruleset, rows, np.array(ruleset.classes)[np.argmax(sums, axis=0)].tolist())


def test_a_condition_that_nothing_satisfies_becomes_an_expression():
    size = Attribute("size", categories=("s", "m"), kind="ordinal")
    never = NumericCondition("size", 0.4, 0.4, 0.6, 0.6)
    ruleset = RuleSet(
        (Rule((never,), "x"), Rule((), "y")), (size,), ("x", "y"), semantics="first-match"
    )
    frame = pd.DataFrame({"size": ["s", "m", "huge", None]})
    assert [decision["kind"] for decision in decisions_of(to_dmn(ruleset))] == ["context"]
    agree(ruleset, frame, zen_answers(ruleset, frame))

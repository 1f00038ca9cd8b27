"""PMML: documents that fit the standard's schema and predict what the library predicts.

The standard's rules of scoring are repeated here in their slow and obvious form; a program of others (pmml4s,
through pypmml) is asked where there is Java.
"""

import zipfile
from dataclasses import replace
from math import inf, nextafter
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frri import Attribute, NominalCondition, NumericCondition, RIPPERClassifier, Rule, RuleSet
from frri.export import to_pmml
from frri.export.evaluator import Evaluator
from frri.rules.condition import is_strict
from frri.table import to_matrix
from programs import PMML_PACKAGES, records, required
from test_export import HOSTILE, random_rows, rulesets

NAMESPACE = "{http://www.dmg.org/PMML-4_4}"


# ---------------------------------------------------------------- the standard, read slowly


class NaiveScorer:
    """A RuleSetModel as the standard describes it, for documents such as ours."""

    def __init__(self, document):
        root = ET.fromstring(document)
        for element in root.iter():
            element.tag = element.tag.removeprefix(NAMESPACE)
        self.types = {f.get("name"): f.get("dataType") for f in root.iter("DataField")}
        self.valid = {
            f.get("name"): {v.get("value") for v in f.findall("Value")}
            for f in root.iter("DataField")
        }
        self.schema = [f for f in root.iter("MiningField") if f.get("usageType") != "target"]
        (self.target,) = (
            f.get("name") for f in root.iter("MiningField") if f.get("usageType") == "target"
        )
        self.rules = root.find("RuleSetModel/RuleSet")
        (method,) = self.rules.findall("RuleSelectionMethod")
        assert method.get("criterion") == "firstHit"

    def score(self, row):
        """The prediction, and the id of the rule that fired."""
        row = {field.get("name"): self.prepared(field, row) for field in self.schema}
        for rule in self.rules.findall("SimpleRule"):
            if self.holds(rule[0], row) is True:
                return self.typed(rule.get("score")), rule.get("id")
        return self.typed(self.rules.get("defaultScore")), None

    def prepared(self, field, row):
        name = field.get("name")
        value = row[name]
        if value is None:
            return None
        if self.types[name] == "double":
            if field.get("outliers") == "asExtremeValues":
                low, high = field.get("lowValue", "-inf"), field.get("highValue", "inf")
                value = min(max(value, float(low)), float(high))
            return value
        if self.valid[name] and value not in self.valid[name]:
            assert field.get("invalidValueTreatment") in {"asIs", "asMissing"}
            return None if field.get("invalidValueTreatment") == "asMissing" else value
        return value

    def holds(self, predicate, row):  # noqa: PLR0911 - a case of the standard each
        """True, False or None (unknown)."""
        if predicate.tag in {"True", "False"}:
            return predicate.tag == "True"
        if predicate.tag == "CompoundPredicate":
            assert len(predicate) > 1
            parts = [self.holds(part, row) for part in predicate]
            decisive = predicate.get("booleanOperator") == "or"
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        name, value = predicate.get("field"), row[predicate.get("field")]
        if predicate.get("operator") in {"isMissing", "isNotMissing"}:
            return (value is None) == (predicate.get("operator") == "isMissing")
        if value is None:
            return None
        if predicate.tag == "SimpleSetPredicate":
            (array,) = predicate
            texts = array.text.split(" ")
            assert len(texts) == int(array.get("n"))
            return value in texts
        bound = predicate.get("value")
        bound = float(bound) if self.types[name] == "double" else bound
        return {
            "equal": lambda: value == bound,
            "lessThan": lambda: value < bound,
            "lessOrEqual": lambda: value <= bound,
            "greaterThan": lambda: value > bound,
            "greaterOrEqual": lambda: value >= bound,
        }[predicate.get("operator")]()

    def typed(self, label):
        kind = self.types[self.target]
        if kind == "boolean":
            return {"true": True, "false": False}[label]
        return {"string": str, "integer": int, "double": float}[kind](label)


@pytest.fixture(scope="module")
def schema():
    """The XML schema of PMML 4.4, out of a package that carries it."""
    from lxml import etree

    jars = sorted(PMML_PACKAGES.glob("sklearn2pmml/resources/pmml-model-[0-9]*.jar"))
    required("the schema of PMML (make pmml)", jars)
    with zipfile.ZipFile(jars[-1]).open("pmml.xsd") as file:
        return etree.XMLSchema(etree.parse(file))


# ---------------------------------------------------------------- random crisp rulesets


def crisp(ruleset):
    """The same without slopes, in the words of PMML."""
    rules = []
    for rule in ruleset:
        conditions = []
        for c in rule.conditions:
            if isinstance(c, NumericCondition):
                s_low, c_low, c_high, s_high = c.trapezoid
                s_low = s_low if is_strict(c_low, s_low) else c_low
                s_high = s_high if is_strict(c_high, s_high) else c_high
                conditions.append(NumericCondition(c.attribute, s_low, c_low, c_high, s_high))
            else:
                conditions.append(c)
        rules.append(replace(rule, conditions=tuple(conditions), partial_weights=()))
    combination = "best" if ruleset.combination == "sum" else ruleset.combination
    return replace(
        ruleset,
        rules=tuple(rules),
        target="the target",
        combination=combination,
        fallback="priors",
    )


def document_of(ruleset):
    """The PMML of a ruleset, None if it has a character that XML does not."""
    try:
        return to_pmml(ruleset)
    except ValueError as error:
        assert "XML cannot hold" in str(error)  # noqa: PT017 - either outcome is right
        return None


def pmml_rows(ruleset, frame):
    """Rows as PMML wants them: dates as days, everything else as it is."""
    frame = frame.copy()
    for attribute in ruleset.attributes:
        if attribute.kind == "date":
            frame[attribute.name] = to_matrix(frame[[attribute.name]], [attribute])[:, 0]
    return records(frame)


def deciding_rules(ruleset, frame):
    """The numbers of the rules that decide, as texts; None where none fires."""
    evaluator = Evaluator(ruleset.to_dict())
    found = [evaluator.explain(row) for row in records(frame)]
    return [str(answer["rule"]) if answer["score"] > 0 else None for answer in found]


random_crisp = rulesets().map(crisp)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(ruleset=random_crisp, seed=st.integers(0, 2**32))
def test_documents_predict_what_the_rules_predict(ruleset, seed):
    document = document_of(ruleset)
    if document is None:
        return
    frame = random_rows(ruleset, seed, 30)
    scorer = NaiveScorer(document)
    answers = [scorer.score(row) for row in pmml_rows(ruleset, frame)]
    assert [answer[0] for answer in answers] == as_pmml(ruleset)(ruleset.predict(frame).tolist())
    zeros = any(not max(rule.distribution or (1,)) > 0 for rule in ruleset)
    if not zeros:
        assert [answer[1] for answer in answers] == deciding_rules(ruleset, frame)


def as_pmml(ruleset):
    """Labels as the document has them: whole numbers beyond 32 bits are texts."""
    large = all(type(label) is int for label in ruleset.classes) and any(
        not -(2**31) <= label < 2**31 for label in ruleset.classes
    )
    return lambda labels: [str(label) for label in labels] if large else labels


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(ruleset=random_crisp)
def test_documents_fit_the_schema(ruleset, schema):
    from lxml import etree

    document = document_of(ruleset)
    if document is not None:
        schema.assertValid(etree.fromstring(document))


@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(ruleset=random_crisp, seed=st.integers(0, 2**32))
def test_another_program_predicts_what_the_rules_predict(ruleset, seed, pmml4s):
    # pmml4s takes an empty text for a missing one.
    empty = any("" in (attribute.categories or ()) for attribute in ruleset.attributes)
    document = document_of(ruleset)
    if document is None or empty or "" in ruleset.classes:
        return
    frame = random_rows(ruleset, seed, 20)
    answers = pmml4s.run(document, pmml_rows(ruleset, frame), ["prediction"])
    assert [label for (label,) in answers] == as_pmml(ruleset)(ruleset.predict(frame).tolist())


# ---------------------------------------------------------------- by hand

AGE = Attribute("age", 18, 90)
COLOUR = Attribute("colour", categories=("blue", "green", "dark red"))
SIZE = Attribute("size", categories=("S", "M", "L"), kind="ordinal")
DAY = Attribute("day", 19000, 20000, kind="date")
TABLE = (AGE, COLOUR, SIZE, DAY)


def rule_of(*conditions, **options):
    """What a single rule is written as."""
    rules = RuleSet((Rule(conditions, "yes"),), TABLE, ("no", "yes"), fallback="priors", **options)
    document = to_pmml(rules)
    start = document.index("<SimpleRule")
    lines = document[start : document.index("</SimpleRule>")].splitlines()[1:]
    return " ".join(line.strip() for line in lines if line.strip())


def test_bounds_are_written_to_the_last_bit_and_as_strict_as_they_are():
    third = 1 / 3
    assert rule_of(NumericCondition("age", third, third, 0.7, 0.7)) == (
        '<CompoundPredicate booleanOperator="and"> '
        '<SimplePredicate field="age" operator="greaterOrEqual" value="0.3333333333333333" /> '
        '<SimplePredicate field="age" operator="lessOrEqual" value="0.7" /> </CompoundPredicate>'
    )
    strict = NumericCondition("age", 20.0, nextafter(20.0, inf), nextafter(30.5, -inf), 30.5)
    assert 'operator="greaterThan" value="20.0"' in rule_of(strict)
    assert 'operator="lessThan" value="30.5"' in rule_of(strict)


def test_sets_are_lists_where_they_need_no_quotes():
    plain = NominalCondition("colour", frozenset({"blue", "green"}))
    assert rule_of(plain) == (
        '<SimpleSetPredicate field="colour" booleanOperator="isIn"> '
        '<Array type="string" n="2">blue green</Array> </SimpleSetPredicate>'
    )
    spaced = NominalCondition("colour", frozenset({"blue", "dark red"}))
    assert rule_of(spaced) == (
        '<CompoundPredicate booleanOperator="or"> '
        '<SimplePredicate field="colour" operator="equal" value="blue" /> '
        '<SimplePredicate field="colour" operator="equal" value="dark red" /> '
        "</CompoundPredicate>"
    )


def test_ordered_categories_are_sets_whatever_lies_between_them():
    fading = NumericCondition("size", core_high=1, support_high=2)
    assert '<Array type="string" n="2">S M</Array>' in rule_of(fading)
    half = NumericCondition("size", core_high=0, support_high=2)
    with pytest.raises(ValueError, match="rule 1 fades on 'size'"):
        rule_of(half)


def test_conditions_on_missing_values_that_hold_say_so():
    old = NumericCondition("age", 60, 60)
    assert rule_of(old) == (
        '<SimplePredicate field="age" operator="greaterOrEqual" value="60.0" />'
    )
    assert rule_of(old, missing="holds") == (
        '<CompoundPredicate booleanOperator="or"> '
        '<SimplePredicate field="age" operator="isMissing" /> '
        '<SimplePredicate field="age" operator="greaterOrEqual" value="60.0" /> '
        "</CompoundPredicate>"
    )
    assert 'operator="isNotMissing"' in rule_of(NumericCondition("age"))
    assert rule_of(NumericCondition("age"), missing="holds") == "<True />"


CRISP = RuleSet(
    (
        Rule((NumericCondition("age", 60, 60),), "yes", 0.9),
        Rule((NominalCondition("colour", frozenset({"blue"})),), "no", 0.8),
    ),
    TABLE,
    ("no", "yes"),
    fallback="priors",
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"rules": (Rule((NumericCondition("age", 50, 60),), "yes"),)},
            "PMML knows only conditions that hold or not, and rule 1 fades on 'age'; export to SQL",
        ),
        ({"fallback": "nearest"}, r"one fixed class where no rule fires.*\(fallback 'nearest'\)"),
        ({"fallback": "partial"}, r"\(fallback 'partial'\); export to SQL, Python or JavaScript"),
        ({"combination": "sum"}, "settle ties between sums of votes in different ways"),
        ({"target": "age"}, "target and a column are both named 'age'"),
        ({"target": ""}, "a name for every column and for the target"),
        ({"target": "a\x1bb"}, r"XML cannot hold the character '\\x1b'"),
        ({"classes": ("no", "yes", "a\0"), "class_counts": ()}, "XML cannot hold the character"),
        ({"classes": ("no", "yes", "1", 1), "class_counts": ()}, "cannot tell the classes"),
    ],
)
def test_what_pmml_cannot_say_gets_one_sentence(change, message):
    with pytest.raises(ValueError, match=message) as caught:
        to_pmml(replace(CRISP, **change))
    assert len(str(caught.value).splitlines()) == 1


def test_a_rule_that_always_fires_needs_no_fallback():
    always = replace(CRISP, rules=(*CRISP.rules, Rule((), "yes", 0.1)), fallback="nearest")
    frame = random_rows(always, 0, 200)
    scorer = NaiveScorer(to_pmml(always))
    answers = [scorer.score(row)[0] for row in pmml_rows(always, frame)]
    assert answers == always.predict(frame).tolist()
    assert len(set(answers)) == 2
    weightless = replace(CRISP, rules=(Rule((), "yes", 0.0), *CRISP.rules), fallback="nearest")
    with pytest.raises(ValueError, match="fallback 'nearest'"):
        to_pmml(weightless)


def test_output_fields_do_not_take_names_of_columns():
    named = replace(
        CRISP,
        attributes=(*TABLE, Attribute("rule"), Attribute("prediction"), Attribute("rule_")),
    )
    names = [
        field.get("name") for field in ET.fromstring(to_pmml(named)).iter(f"{NAMESPACE}OutputField")
    ]
    assert names == ["prediction_", "rule__"]


def test_truth_values_are_recognised_in_the_usual_spellings():
    flag = Attribute("flag", categories=("False", "True"))
    rule = Rule((NominalCondition("flag", frozenset({"True"})),), 1)
    rules = RuleSet((rule,), (flag,), (0, 1), fallback="priors")
    scorer = NaiveScorer(to_pmml(rules))
    spelled = ["True", "true", "TRUE", "1", "1.0", "False", "false", "0", "maybe", None]
    assert [scorer.score({"flag": text})[0] for text in spelled] == [1] * 5 + [0] * 5
    assert rules.predict(pd.DataFrame({"flag": spelled})).tolist() == [1] * 5 + [0] * 5


def test_hostile_names_stay_values_of_attributes(schema, pmml4s):
    from lxml import etree

    names = [name for name in HOSTILE if "\x1b" not in name]
    table = tuple(
        Attribute(name, categories=(*names, f"plain {name}")) if j % 2 else Attribute(name, -1, 1)
        for j, name in enumerate(names)
    )
    rules = tuple(
        Rule(
            (
                NominalCondition(attribute.name, frozenset(names[: j + 1]))
                if attribute.categories
                else NumericCondition(attribute.name, 0.1 * j, 0.1 * j),
            ),
            names[j],
        )
        for j, attribute in enumerate(table)
    )
    ruleset = RuleSet(
        rules, table, tuple(names), target="'\"<target>&", combination="first", fallback="priors"
    )
    document = to_pmml(ruleset)
    schema.assertValid(etree.fromstring(document))
    frame = random_rows(ruleset, 0, 100)
    expected = ruleset.predict(frame).tolist()
    assert len(set(expected)) > 5
    scorer = NaiveScorer(document)
    assert [scorer.score(row)[0] for row in pmml_rows(ruleset, frame)] == expected
    answers = pmml4s.run(document, pmml_rows(ruleset, frame), ["prediction"])
    assert [label for (label,) in answers] == expected


def test_what_ripper_learns_can_always_be_written():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": random.random(200), "b": random.random(200), "c": random.choice([*"xyz"], 200)}
    )
    y = np.select([frame["a"] > 0.7, (frame["b"] < 0.3) & (frame["c"] != "x")], ["p", "q"], "r")
    ruleset = RIPPERClassifier(random_state=0).fit(frame, y).ruleset_
    assert len(ruleset) >= 3
    scorer = NaiveScorer(to_pmml(ruleset))
    frame.loc[::7, "a"] = None
    frame.loc[::11, "c"] = "never seen"
    answers = [scorer.score(row) for row in records(frame)]
    assert [answer[0] for answer in answers] == ruleset.predict(frame).tolist()
    assert [answer[1] for answer in answers] == deciding_rules(ruleset, frame)

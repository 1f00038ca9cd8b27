"""The rule that carries an answer: against the definition, on rules with ties, gaps and no rules at all."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frri import Attribute, NumericCondition, Rule, RuleSet
from frri.report.facts import count_decided
from frri.rules.contributions import find_largest_contributor
from frri.rules.semantics import MEANINGS
from naive_semantics import carrying
from thorough import often

SHARED = (
    "softmax-votes",
    "at-least-class",
    "cumulative-logits",
    "added-contributions",
    "weighted-mean",
)
# Quarters add up without rounding, so that ties are ties.
QUARTERS = st.integers(-8, 8).map(lambda k: k / 4)


@st.composite
def models(draw, name):
    classes = ("x", "y", "z")[: draw(st.integers(1, 3))]
    rules = []
    for _ in range(draw(st.integers(0, 5))):
        low = draw(st.integers(0, 8))
        conditions = [NumericCondition("a", low - 1, low, low + 2, low + 4)]
        conditions += [NumericCondition.below("b", 5.0)] * draw(st.booleans())
        votes, relation = None, "is"
        said = draw(QUARTERS)
        if name == "softmax-votes":
            said = draw(st.sampled_from(classes))
            votes = draw(st.none() | st.tuples(*[QUARTERS] * len(classes)))
        if name == "at-least-class":
            said = draw(st.sampled_from(classes))
            relation = draw(st.sampled_from(["at least", "at most"]))
        weight = draw(st.integers(0, 4)) / 2
        rules.append(Rule(tuple(conditions), said, weight, votes=votes, relation=relation))
    number = {
        "softmax-votes": len(classes),
        "cumulative-logits": len(classes) - 1,
        "at-least-class": 0,
    }.get(name, 1)
    base = tuple(sorted(draw(st.tuples(*[QUARTERS] * number)), reverse=True))
    if name in {"weighted-mean", "added-contributions"}:
        classes = ()
    attributes = (Attribute("a", 0, 9), Attribute("b", 0, 9))
    return RuleSet(tuple(rules), attributes, classes, semantics=name, base=base)


@pytest.mark.parametrize("name", SHARED)
@settings(max_examples=often(160), suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_the_rule_with_the_largest_part_carries(name, data):
    ruleset = data.draw(models(name))
    rows = np.array([[a, b] for a in (0, 1.5, 2, 4, 7.25, 9, np.nan) for b in (2.0, 7.0)])
    found = find_largest_contributor(ruleset, rows)
    model = json.loads(ruleset.to_json())
    for row, carried in zip(rows.tolist(), found.tolist(), strict=True):
        values = [None if np.isnan(value) else value for value in row]
        expected = carrying(model, dict(zip("ab", values, strict=True)))
        assert carried == (-1 if expected is None else expected)
    counts = count_decided(len(ruleset), found, None)
    assert sum(count["rows"] for count in counts) == (found >= 0).sum()


def test_where_one_rule_decides_none_carries():
    others = set(MEANINGS) - set(SHARED)
    for name in others:
        ruleset = RuleSet((), (Attribute("a", 0, 9),), ("x", "y"), semantics=name)
        assert find_largest_contributor(ruleset, np.zeros((3, 1))) is None


def test_many_rows_are_looked_at_in_blocks(monkeypatch):
    rules = tuple(Rule((NumericCondition("a", k, k),), 1.0 + k) for k in range(3))
    ruleset = RuleSet(rules, (Attribute("a", 0, 9),), semantics="added-contributions", base=(0,))
    rows = np.arange(20.0).reshape(-1, 1) / 4
    whole = find_largest_contributor(ruleset, rows)
    monkeypatch.setattr("frri.rules.contributions.BLOCK", 7)
    assert np.array_equal(find_largest_contributor(ruleset, rows), whole)
    assert set(whole.tolist()) == {0, 1, 2}

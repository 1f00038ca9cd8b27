"""Rules without bounds outside the data, contradictions, or fractions of integers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frri
from frri import NumericCondition, Rule, RuleSet
from frri.table import Attribute
from sensible_rules import senseless_conditions
from thorough import often

LEARNERS = {
    "additive": frri.AdditiveRulesClassifier,
    "bagged": lambda: frri.AdditiveRulesBaggingClassifier(n_estimators=2, random_state=0),
    "compact": frri.CompactFRRIClassifier,
    "ripper": lambda: frri.RIPPERClassifier(random_state=0),
    "furia": lambda: frri.FURIAClassifier(random_state=0),
    "modlem": frri.MODLEMClassifier,
    "regressor": lambda: frri.AdditiveRulesRegressor(max_rules=6),
    "ordinal": lambda: frri.AdditiveRulesOrdinalClassifier(max_rules=6),
}
# Slopes of the algorithms of the paper end as in the paper.
EXACT = {"frri": frri.FRRIClassifier, "quickrules": frri.QuickRulesClassifier}


def table(seed, n=160, missing=False):
    """Return many types of columns, and three classes that depend on ranges, years, flags and integers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "flag": rng.integers(0, 2, n),
            "rare": (rng.random(n) < 0.05).astype(int),
            "grade": rng.integers(1, 6, n),
            "age": rng.integers(18, 90, n),
            "year": rng.choice([1999, 2008], n),
            "income": rng.lognormal(10, 1, n).round(),
            "ratio": rng.random(n),
            "dose": rng.normal(3, 20, n),
        }
    ).astype(float)
    score = (np.abs(frame["age"] - 50) < 15) + 2.0 * frame["flag"] + (frame["year"] > 2000)
    score += 2 * ((frame["dose"] > -5) & (frame["dose"] < 12)) + (frame["grade"] == 4)
    y = pd.cut(score + rng.normal(0, 0.7, n), [-9, 1.5, 3, 99], labels=False)
    if missing:
        frame = frame.mask(rng.random(frame.shape) < 0.1)
    return frame, y


def fitted(learner, frame, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner().fit(frame, y).ruleset_


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", [*LEARNERS, *EXACT])
def test_rules_make_sense(name, missing):
    frame, y = table(0, missing=missing)
    rules = fitted({**LEARNERS, **EXACT}[name], frame, y)
    assert sum(len(rule.conditions) for rule in rules) > 2
    assert senseless_conditions(rules, frame, is_exact=name in EXACT) == []


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(8, 60))
    columns = {}
    for j in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["flag", "integers", "few", "decimals", "numbers", "wide"]))
        columns[f"{kind} {j}"] = {
            "flag": rng.integers(0, 2, n),
            "integers": rng.integers(-5, 40, n),
            "few": rng.choice([1999, 2003, 2008], n),
            "decimals": rng.integers(0, 30, n) / 10,
            "numbers": rng.normal(size=n),
            "wide": rng.lognormal(0, 4, n),
        }[kind].astype(float)
    frame = pd.DataFrame(columns)
    if draw(st.booleans()):
        frame = frame.mask(rng.random(frame.shape) < 0.15).fillna(
            {c: 0.0 for c in frame if frame[c].isna().all()}
        )
    first = frame.iloc[:, 0].rank().fillna(0)
    return frame, (np.abs(first - n / 2) + rng.normal(0, n / 8, n) > n / 4).astype(int)


@pytest.mark.parametrize("name", ["additive", "compact", "ripper", "furia", "modlem", "regressor"])
@settings(max_examples=often(25), deadline=None)
@given(tables())
def test_rules_of_random_tables_make_sense(name, drawn):
    frame, y = drawn
    assert senseless_conditions(fitted(LEARNERS[name], frame, y), frame) == []


@pytest.mark.parametrize(
    ("conditions", "complaint"),
    [
        ([NumericCondition("week", 49, 55.5)], "outside the data"),
        (
            [
                NumericCondition("week", 10, 20),
                NumericCondition("week", core_high=9, support_high=15),
            ],
            "contradiction",
        ),
        ([NumericCondition("week", 4.5, 4.5)], "fraction"),
        ([NumericCondition("flag", core_high=0, support_high=0.7)], "fraction"),
        ([NumericCondition("flag", 1, 1)], "instead of"),
        ([NumericCondition("week", 4, 5), NumericCondition("week", 6, 7)], "two conditions"),
    ],
)
def test_senseless_conditions_are_found(conditions, complaint):
    frame = pd.DataFrame({"week": [1, 20, 52], "flag": [0, 1, 1]})
    attributes = Attribute("week", 1, 52), Attribute("flag", 0, 1)
    rules = RuleSet((Rule(tuple(conditions), "yes"),), attributes, ("no", "yes"))
    assert any(complaint in one for one in senseless_conditions(rules, frame))

"""The report page of ordinal classification: rules for bounds of classes and rules that move a score."""

import json

import numpy as np
import pandas as pd
import pytest

from browser_pages import download, edit_rule, settle, shown
from frri import Attribute, NumericCondition, Rule, RuleSet
from frri.report import facts

ATTRIBUTES = (Attribute("a", 0, 10), Attribute("b", 0, 1))
CLASSES = ("low", "mid", "high")
BOUNDS = RuleSet(
    (
        Rule((NumericCondition("a", 3, 5),), "mid", 0.8, relation="at least"),
        Rule(
            (NumericCondition("a", 7, 8), NumericCondition("b", 0.2, 0.5)),
            "high",
            0.9,
            relation="at least",
        ),
        Rule((NumericCondition("a", core_high=4, support_high=6),), "low", 0.7, relation="at most"),
        Rule(
            (NumericCondition("b", core_high=0.3, support_high=0.6),),
            "mid",
            0.5,
            relation="at most",
        ),
    ),
    ATTRIBUTES,
    CLASSES,
    "risk",
    semantics="at-least-class",
    class_counts=(4.0, 4.0, 4.0),
)
MOVES = RuleSet(
    (
        Rule((NumericCondition("a", 2, 6),), 2.5),
        Rule((NumericCondition("b", 0.1, 0.9),), -1.5, 0.5),
    ),
    ATTRIBUTES,
    CLASSES,
    "risk",
    semantics="cumulative-logits",
    base=(-0.5, -2.0),
    class_counts=(4.0, 4.0, 4.0),
)
X = pd.DataFrame(
    [[a, b] for a in (1.0, 4.5, 5.5, 7.5, 9.0) for b in (0.1, 0.45, 0.8)], columns=["a", "b"]
)
Y = np.array(["low", "mid", "high"])[np.clip((X["a"] // 3).to_numpy().astype(int), 0, 2)]


@pytest.mark.parametrize(
    ("ruleset", "text"),
    [(BOUNDS, "≥ mid"), (MOVES, "+2.50")],
    ids=["at least", "moves"],
)
def test_ordinal_rules_are_shown_applied_and_edited(pages, ruleset, text, tmp_path):
    page = pages.report(ruleset, X, Y)
    assert sorted(shown(page)) == list(range(1, len(ruleset) + 1))
    page.click("[data-rule='1'] .opener")
    assert " ".join(page.inner_text("[data-rule='1'] .col-then").split()) == text
    known = facts(ruleset, X, Y)
    assert known["performance"]["accuracy"] == (ruleset.predict(X) == Y).mean()
    assert page.locator(".col-decides").count() == 0
    assert page.inner_text("[data-rule='1'] .col-coverage").endswith(" %")
    page.click("#tab-what-if")
    answers = ruleset.predict(X)
    for i in range(0, len(X), 4):
        page.fill("#row-number", str(i + 1))
        page.press("#row-number", "Enter")
        assert page.inner_text(".decision") == answers[i]
        settle(page)
    # Scores of ordinal classes are not calibrated probabilities, and therefore not percentages.
    page.click("text=How it is computed")
    assert "%" not in page.inner_text(".scores")
    assert page.inner_text(".sure").startswith("Of ")
    strips = page.evaluate(
        "async (i) => JSON.stringify([...(await frri.allClassStrips(frri.facts.model, frri.store.rows.at(i)))])",
        i,
    )
    for j, pieces in json.loads(strips):
        for piece in pieces:
            trials = np.tile(X.iloc[i].to_numpy(), (2, 1))
            trials[:, j] = piece["from"], piece["to"]
            assert ruleset.predict_index(trials).tolist() == [piece["decided"]] * 2
    for name in ("cases", "overview", "rules"):
        page.click(f"#tab-{name}")
        assert "undefined" not in page.inner_text("main")
        assert "NaN" not in page.inner_text("main")
    weight = edit_rule(page, 1).get_by_label("Weight")
    weight.fill("0.6")
    weight.press("Enter")
    page.wait_for_selector("#edit-bar:visible")
    page.click("text=New rule")
    page.wait_for_function("() => frri.store.steps.length === 2")
    edited = download(page, tmp_path)
    assert len(edited) == len(ruleset) + 1
    assert edited[0].weight == 0.6
    right = 100 * (edited.predict(X) == Y).mean()
    assert f"Accuracy on 15 given rows: {right:.0f} % (was" in page.inner_text("#opening")

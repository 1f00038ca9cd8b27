"""What-if in the browser: strips, what would change the decision, rules that come near, pins and links."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from browser_pages import settle
from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet
from frri.table import to_matrix
from random_models import for_browser, random_ordered_ruleset, random_rows, random_ruleset


@pytest.fixture(scope="module")
def page(pages, wine):
    page = pages.report(*wine, viewport={"width": 1400, "height": 900})
    page.click("#tab-what-if")
    return page


def strips(page, ruleset, row):
    """The pieces of each attribute, by its position."""
    found = page.evaluate(
        """async (text) => {
             const [model, row] = JSON.parse(text);
             const encoded = row.map((value, j) =>
               model.attributes[j].kind === "date" && value !== null ? Date.parse(value) / 864e5 : value);
             return JSON.stringify([...(await frri.allClassStrips(model, encoded))]); }""",
        json.dumps([ruleset.to_dict(), row]),
    )
    return dict(json.loads(found))


def test_strips_say_what_python_decides_at_every_value(page):
    random = np.random.default_rng(1)
    rows = random_rows(random, 400)
    rows = rows[rows["colour"] != "never seen"].reset_index(drop=True)
    settings = [
        *product(
            ("best", "sum", "first"), ("nearest", "stretched", "partial", "priors"), ["minimum"]
        )
    ]
    settings += [("best", "nearest", norm) for norm in ("product", "lukasiewicz", "drastic")]
    settings += [("bounds", "nearest", "minimum"), ("bounds", "priors", "product")]
    settings += [("bounds", "nearest", "product"), ("moves", "base", "minimum")]
    borders = 0
    for k, (combination, fallback, norm) in enumerate(5 * settings):
        if combination in {"bounds", "moves"}:
            ruleset = random_ordered_ruleset(random, combination, fallback, norm)
        else:
            ruleset = random_ruleset(random, combination, fallback, norm)
        # Two slopes on one attribute are searched, not proved.
        rules = tuple(
            r for r in ruleset if len({c.attribute for c in r.conditions}) == len(r.conditions)
        )
        ruleset = replace(ruleset, rules=rules)
        if ruleset.task == "classification" and k % 2:
            ruleset = ruleset.with_decision({"x": 2.5, "y": 0.4})
        row = rows.iloc[[k]]
        for j, pieces in strips(page, ruleset, for_browser(row)[0]).items():
            attribute = ruleset.attributes[j]
            places, expected = [], []
            for before, piece in zip([None, *pieces], pieces, strict=False):
                inside = np.linspace(piece["from"], piece["to"], 7)
                if attribute.categories is None and before is not None:
                    assert np.nextafter(before["to"], np.inf) == piece["from"]
                    assert before["decided"] != piece["decided"]
                    borders += 1
                places += inside.tolist()
                expected += [piece["decided"]] * len(inside)
            trials = np.tile(to_matrix(row, ruleset.attributes), (len(places), 1))
            trials[:, j] = places
            assert ruleset.predict_index(trials).tolist() == expected
    assert borders > 40


def test_changes_of_one_attribute_are_those_that_python_proves(page, wine):
    ruleset, X, _ = wine
    rows = list(range(0, 178, 13))
    found = json.loads(
        page.evaluate(
            """async (rows) => {
                 const { model } = frri.facts;
                 const answers = [];
                 for (const i of rows) for (const locked of [[], [0]]) {
                   const values = frri.store.rows.at(i);
                   const strips = await frri.allClassStrips(model, values);
                   answers.push([...frri.singleChanges(model, values, strips, new Set(locked)).values()]);
                 }
                 return JSON.stringify(answers); }""",
            rows,
        )
    )
    n_single = 0
    for (row, kept), changes in zip(product(rows, ((), ("alcohol",))), found, strict=True):
        proved = ruleset.explain(X.iloc[row], unchangeable=kept).change
        if proved is None or len(proved.changes) > 1:
            assert changes == []
            continue
        assert proved.proved
        n_single += 1
        first, (only,) = changes[0], proved.changes
        j = list(X.columns).index(only.attribute)
        assert first["changed"] == [j]
        assert first["values"][j] == only.after
        assert first["prediction"] == proved.decision
        assert first["rule"] == proved.deciding.index + 1
        assert first["silent"] == (proved.fallback is not None)
        assert abs(first["cost"] - proved.cost) <= 1e-9
        for other in changes[1:]:
            assert ruleset.predict([other["values"]])[0] == other["prediction"]
            assert other["cost"] >= first["cost"]
    assert n_single > 15


def test_what_would_change_it_is_said_kept_and_made(page, wine):
    ruleset, X, _ = wine
    page.fill("#row-number", "71")
    page.press("#row-number", "Enter")
    settle(page)
    change = ruleset.explain(X.iloc[70]).change
    (only,) = change.changes
    said = page.locator(".changes li p").first.text_content()
    assert said.startswith(
        f"It would be {change.decision} if {only.attribute} were {only.after:g} instead"
    )
    rule = f"rule {change.deciding.index + 1}"
    nearest = f"; no rule covers it then, and {rule} is the nearest."
    assert said.endswith(nearest if change.fallback else f" ({rule}).")
    assert "proved" in page.inner_text(".change")
    keep = page.get_by_role("button", name=f"Keep {only.attribute} as it is")
    keep.click()
    settle(page)
    assert only.attribute not in page.locator(".changes").inner_text()
    keep.click()
    settle(page)
    page.locator(".changes button").first.click()
    assert page.inner_text(".decision") == change.decision


def test_two_cases_side_by_side_and_a_link_to_one(pages, page, wine):
    _, X, _ = wine
    for number in (1, 80):
        page.fill("#row-number", str(number))
        page.press("#row-number", "Enter")
        page.click("text=Pin this case")
    page.fill("#row-number", "150")
    page.press("#row-number", "Enter")
    heads = page.locator(".pins thead th").all_inner_texts()
    assert [head.split(" use")[0] for head in heads] == ["Row 1", "Row 80", "This case"]
    proline = page.locator(".pins tr", has_text="proline").locator("td").all_inner_texts()
    assert [float(text) for text in proline] == X["proline"].iloc[[0, 79, 149]].tolist()
    page.click("text=Link to it")
    page.wait_for_function("location.hash.startsWith('#case=')")
    other = pages.page()
    other.goto(page.url)
    assert other.is_visible("#panel-what-if")
    assert other.inner_text(".decision") == page.inner_text(".decision")
    assert float(other.get_attribute("#value-12", "title")) == X["proline"].iloc[149]
    other.goto(page.url.split("#")[0] + "#case=[1,2")
    other.reload()
    assert other.is_visible("#panel-rules")


def test_on_a_phone_the_decision_stays_in_view(pages, wine):
    page = pages.report(*wine, viewport={"width": 390, "height": 844})
    page.click("#tab-what-if")
    settle(page)
    page.locator(".values .value").last.scroll_into_view_if_needed()
    box = page.locator(".decision").bounding_box()
    assert 0 <= box["y"] < 844
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_rules_that_nearly_hold_are_shown_with_what_fails(pages):
    attributes = (Attribute("a", 0, 9), Attribute("b", categories=("p", "q")))
    first = Rule((NumericCondition("a", 3, 4, 5, 6), NominalCondition("b", frozenset("q"))), "x")
    second = Rule((NumericCondition("a", 7, 8),), "y")
    rows = [[6.5, "q"], [4.5, "p"], [4.5, "q"]]
    page = pages.report(RuleSet((first, second), attributes, ("x", "y")), rows, ["x", "y", "x"])
    page.click("#tab-what-if")
    text = page.inner_text(".firing")
    assert "None covers this row." in text
    nearest = RuleSet((first, second), attributes, ("x", "y")).decide(rows).deciding[0]
    assert f"Rule {nearest + 1}" in text
    assert "fails: it is 6.5" in text
    page.locator(".firing .link").first.click()
    assert page.is_visible(f"#rule-{nearest + 1}-opened")
    rules = (first, second, Rule((), "y"))
    page = pages.report(
        RuleSet(rules, attributes, ("x", "y"), combination="first", fallback="priors"),
        rows,
        ["x", "y", "x"],
    )
    page.click("#tab-what-if")
    page.fill("#row-number", "2")
    page.press("#row-number", "Enter")
    text = page.inner_text(".firing")
    assert "Narrowly failed before it" in text
    assert "b = q fails: it is p" in text
    assert "a ≥ 8" in text
    page.fill("#row-number", "3")
    page.press("#row-number", "Enter")
    assert "Narrowly" not in page.inner_text(".firing")


def test_costs_are_shown_and_counted(visit):
    rules = (
        Rule((NumericCondition("a", core_high=2, support_high=6),), "no", 0.9),
        Rule((NumericCondition("a", 3, 8),), "yes", 0.8),
    )
    ruleset = RuleSet(rules, (Attribute("a", 0, 10),), ("no", "yes")).with_decision({"yes": 3})
    page = visit.report(ruleset, [[4.5], [9.0]], ["yes", "yes"])
    page.click("#tab-what-if")
    settle(page)
    assert page.inner_text(".decision") == "yes"
    reason = page.inner_text(".reason")
    assert "rule 2 holds to degree 0.30 and counts 0.72" in reason
    assert "rule 1 for no counts 0.34" in reason
    assert "0.30 × 0.80 × cost = 0.72" in page.inner_text(".fired-rules")
    page.click("#tab-overview")
    shown = page.inner_text("#overview-view")
    assert "Cost of misclassifying" in shown
    assert "no 1, yes 3" in shown

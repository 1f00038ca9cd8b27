"""What-if in the browser: strips, what would change the decision, rules that come near, links."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from browser_pages import settle
from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet
from frri.report import report_html
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
                   answers.push(frri.singleChanges(model, values, strips, new Set(locked), 2).found);
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
    offered = page.locator(".changes li p").all_text_contents()
    assert len(offered) == 2
    said = offered[0]
    assert said.startswith(
        f"It would be {change.decision} if {only.attribute} were {only.after:g} instead"
    )
    rule = f"rule {change.deciding.index + 1}"
    nearest = f"; no rule covers it then, and {rule} is the nearest."
    assert said.endswith(nearest if change.fallback else f" ({rule}).")
    assert "proven" in page.inner_text(".change")
    keep = page.get_by_role("button", name=f"Fix {only.attribute}")
    keep.click()
    settle(page)
    assert only.attribute not in page.locator(".changes").inner_text()
    # It stays fixed over a reload, until it is released.
    page.reload()
    keep = page.get_by_role("button", name=f"Fix {only.attribute}")
    assert keep.get_attribute("aria-pressed") == "true"
    keep.click()
    page.fill("#row-number", "71")
    page.press("#row-number", "Enter")
    settle(page)
    page.locator(".changes button").first.click()
    assert page.inner_text(".decision") == change.decision


def test_declared_columns_are_fixed_and_typical_values_are_the_start(pages, wine, tmp_path):
    ruleset, X, y = wine
    path = tmp_path / "fixed.html"
    path.write_text(report_html(ruleset, X, y, fixed=["alcohol"]), encoding="utf-8")
    page = pages.open(path)
    page.click("#tab-what-if")
    pressed = page.locator(".lock[aria-pressed=true]")
    assert pressed.get_attribute("aria-label") == "Fix alcohol"
    typical = [attribute.typical for attribute in ruleset.attributes]
    values = [float(page.get_attribute(f"#value-{j}", "title")) for j in range(len(typical))]
    assert values == typical
    assert page.inner_text(".decision") == ruleset.predict([typical])[0]
    assert page.inner_text(".truth") == "Your own case."
    slider = page.get_by_label("proline, slider")
    slider.fill("900")
    assert slider.get_attribute("aria-valuetext") == "900"
    page.click("text=Random row")
    page.click("text=Typical values")
    assert page.inner_text(".truth") == "Your own case."


def test_a_link_leads_to_a_case(pages, page, wine):
    _, X, _ = wine
    page.fill("#row-number", "150")
    page.press("#row-number", "Enter")
    page.locator(".start-row").get_by_role("button", name="Copy link").click()
    page.wait_for_function("() => location.hash.startsWith('#case=')")
    other = pages.page()
    other.goto(page.url)
    assert other.is_visible("#panel-what-if")
    assert other.inner_text(".decision") == page.inner_text(".decision")
    assert float(other.get_attribute("#value-12", "title")) == X["proline"].iloc[149]
    other.goto(page.url.split("#")[0] + "#case=[1,2")
    other.reload()
    assert other.is_visible("#panel-rules")


CERTAIN = (
    Rule((NumericCondition("a", core_high=4, support_high=4),), "no", 0.9),
    Rule((NumericCondition("a", 4, 6),), "yes", 0.8),
)


def test_one_number_says_how_sure_a_decision_is(pages):
    """Rows that the same rule decides, or a probability that is calibrated; no other percentage."""
    X = np.linspace(0, 10, 21)[:, None]
    y = np.where(X[:, 0] + np.tile([0, 3, -3], 7) > 5, "yes", "no")
    ruleset = RuleSet(CERTAIN, (Attribute("a", 0, 10),), ("no", "yes"))
    decided = ruleset.decide(X).deciding
    page = pages.report(ruleset, X, y)
    page.click("#tab-what-if")
    for row in (2, 19):
        page.fill("#row-number", str(row + 1))
        page.press("#row-number", "Enter")
        settle(page)
        own = decided == decided[row]
        answer = ruleset.predict(X)[row]
        right = (y[own] == answer).sum()
        assert page.inner_text(".sure") == (
            f"Of {own.sum()} rows that rule {decided[row] + 1} decides {right} are {answer} "
            f"({100 * right / own.sum():.0f} %)."
        )
    page.click("text=How it is computed")
    assert "%" not in page.inner_text(".firing")
    calibrated = replace(ruleset, trust=0.7)
    page = pages.report(calibrated, X, y)
    page.click("#tab-what-if")
    page.fill("#row-number", "20")
    page.press("#row-number", "Enter")
    settle(page)
    likely = calibrated.predict_proba(X)
    like = (calibrated.predict(X) == "yes") & (abs(likely[:, 1] - likely[19, 1]) <= 0.05)
    assert page.inner_text(".sure") == (
        f"Probability {100 * likely[19, 1]:.0f} %: of {like.sum()} given rows with about this "
        f"probability {(y[like] == 'yes').sum()} are yes."
    )


def test_on_a_phone_the_decision_stays_in_view(pages, wine):
    page = pages.report(*wine, viewport={"width": 390, "height": 844})
    page.click("#tab-what-if")
    settle(page)
    page.locator(".values .value").last.scroll_into_view_if_needed()
    box = page.locator(".decision").bounding_box()
    assert 0 <= box["y"] < 844
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_nearest_rule_is_shown_with_what_fails(pages):
    attributes = (Attribute("a", 0, 9), Attribute("b", categories=("p", "q")))
    first = Rule((NumericCondition("a", 3, 4, 5, 6), NominalCondition("b", frozenset("q"))), "x")
    second = Rule((NumericCondition("a", 7, 8),), "y")
    rows = [[6.5, "q"], [4.5, "p"], [4.5, "q"]]
    page = pages.report(RuleSet((first, second), attributes, ("x", "y")), rows, ["x", "y", "x"])
    page.click("#tab-what-if")
    page.fill("#row-number", "1")
    page.press("#row-number", "Enter")
    page.click("text=How it is computed")
    text = page.inner_text(".firing")
    assert "No rule covers this row." in text
    nearest = RuleSet((first, second), attributes, ("x", "y")).decide(rows).deciding[0]
    assert f"Rule {nearest + 1}" in text
    assert "fails: it is 6.5" in text
    page.locator(".firing .link").first.click()
    assert page.is_visible(f"#rule-{nearest + 1}-opened")


def test_costs_are_shown_and_counted(visit):
    rules = (
        Rule((NumericCondition("a", core_high=2, support_high=6),), "no", 0.9),
        Rule((NumericCondition("a", 3, 8),), "yes", 0.8),
    )
    ruleset = RuleSet(rules, (Attribute("a", 0, 10),), ("no", "yes")).with_decision({"yes": 3})
    page = visit.report(ruleset, [[4.5], [9.0]], ["yes", "yes"])
    page.click("#tab-what-if")
    page.fill("#row-number", "1")
    page.press("#row-number", "Enter")
    settle(page)
    page.click("text=How it is computed")
    assert page.inner_text(".decision") == "yes"
    assert "Rule 2 decides:" in page.inner_text(".reason")
    computed = page.inner_text(".firing")
    assert "0.30 × 0.80 × cost = 0.72" in computed
    assert "0.38 × 0.90 × cost = 0.34" in computed
    page.click("#tab-overview")
    shown = page.inner_text("#overview-view")
    assert "Cost of misclassifying" in shown
    assert "no 1, yes 3" in shown

"""What-if view in the browser: strips, counterfactuals, nearest rules, links."""

import json
import re
from dataclasses import replace
from itertools import product
from math import inf
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import frri
from browser_pages import download, settle, typed, violations
from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet
from frri.explain.explanation import FALLBACKS
from frri.report import report_html, write_report
from frri.rules.semantics import MEANINGS
from frri.table import to_matrix
from random_models import for_browser, random_ordered_ruleset, random_rows, random_ruleset
from test_conformance import ROWS, RULESETS, page_values


@pytest.fixture(scope="module")
def page(pages, wine):
    page = pages.report(*wine, viewport={"width": 1400, "height": 900})
    page.click("#tab-what-if")
    return page


def strips(page, ruleset, row):
    """Return the segments of each attribute, by its position."""
    found = page.evaluate(
        """async (text) => {
             const [model, row] = JSON.parse(text);
             return JSON.stringify([...(await frri.allClassStrips(model, row))]); }""",
        json.dumps([ruleset.to_dict(), row]),
    )
    return dict(json.loads(found))


def test_strips_have_the_decisions_of_python_at_every_value(page):
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
                   answers.push(frri.singleChanges({ model, values, locked: new Set(locked) }, strips, 2).found);
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


def test_counterfactuals_are_shown_kept_and_applied(page, wine):
    ruleset, X, _ = wine
    page.fill("#row-number", "71")
    page.press("#row-number", "Enter")
    settle(page)
    change = ruleset.explain(X.iloc[70]).change
    (only,) = change.changes
    offered = page.locator(".changes li p").all_text_contents()
    assert len(offered) == 2
    sentence = offered[0]
    assert sentence.startswith(
        f"It would be {change.decision} if {only.attribute} were {only.after:g} instead"
    )
    rule = f"rule {change.deciding.index + 1}"
    nearest = f"; no rule covers it then, and {rule} is the nearest."
    assert sentence.endswith(nearest if change.fallback else f" ({rule}).")
    assert "proven" in page.inner_text(".change")
    keep = page.get_by_role("button", name=f"Fix {only.attribute}")
    keep.click()
    settle(page)
    assert only.attribute not in page.locator(".changes").inner_text()
    # It stays fixed after a reload, until it is released.
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


def test_one_number_shows_the_certainty_of_a_decision(pages):
    """Precision on rows of the same deciding rule, or a calibrated probability; no other percentage."""
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
    percent = f"{100 * likely[19, 1]:.0f}"
    assert page.inner_text(".sure") == (
        f"Probability {percent} %: about {percent} of 100 such rows are yes."
    )
    # The number follows from the other numbers on the page.
    page.click("text=How it is computed")
    score, other = (
        float(text.split()[-1]) for text in page.locator(".scores li").all_inner_texts()[::-1]
    )
    numbers = re.findall(r"\d[\d.]*", page.locator(".firing > .muted").last.inner_text())
    raw, trust, raw_again, rest, frequency, result = map(float, numbers)
    assert (trust, rest, raw) == (0.7, 0.3, raw_again)
    assert raw == pytest.approx(100 * score / (score + other), abs=0.6)
    assert result == pytest.approx(trust * raw + rest * frequency, abs=0.11)
    assert result == pytest.approx(100 * likely[19, 1], abs=0.06)


def test_pasted_dates_and_categories_are_read_as_in_python(page):
    attributes = (
        Attribute("day", 18262, 18278, kind="date"),
        Attribute("flag", categories=("False", "True")),
        Attribute("code", categories=("1", "2")),
    )
    ruleset = RuleSet((), attributes, ("a", "b"))
    good = ("2020-01-09", "2020-01-09T06:30", "2020-01-09 06:30:15.5")
    for text in good:
        row = {"day": text, "flag": True, "code": 1.0}
        script = "([model, text]) => frri.parseRow(model, text)"
        found = page.evaluate(script, [ruleset.to_dict(), json.dumps(row)])
        assert found == page_values(ruleset, row | {"flag": "True", "code": "1"})
    for text in ("2020-02-30", "2020-13", "9.1.2020", "2020-01-09T24:00"):
        script = "([model, text]) => { try { frri.parseRow(model, text); } catch (error) { return error.message; } }"
        message = page.evaluate(script, [ruleset.to_dict(), f"{text};True;1"])
        assert message == f"day must be a date, not “{text}”."


def test_on_a_phone_the_decision_stays_in_view(pages, wine):
    page = pages.report(*wine, viewport={"width": 390, "height": 844})
    page.click("#tab-what-if")
    settle(page)
    page.locator(".values .value").last.scroll_into_view_if_needed()
    box = page.locator(".decision").bounding_box()
    assert 0 <= box["y"] < 844
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_nearest_rule_is_shown_with_its_failing_conditions(pages):
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


# ------------------------------------------------------------------ explanations as in Python

EXPLAINED = """([model, rows]) => rows.map((row) => {
  const { prediction, rule, fired, held, added, base, total, second } = frri.explanationOf(model, row);
  const memberships = model.rules.map((one) => frri.membershipsOf(model, one, row));
  return { prediction, rule, fired, held, added, base, total, second, memberships };
})"""
WORDED = """(model) => model.rules.map((rule) => rule.if.map((condition) => {
  const attribute = model.attributes.find(({ name }) => name === condition.attribute);
  const parts = frri.conditionParts(condition, attribute, model.semantics.clip);
  return parts.map((part) => part.name ?? part).join("");
}))"""


def check_explanations(page, ruleset, rows):
    """Check that the page explains rows with the numbers and words of `RuleSet.explain`."""
    model, meaning = ruleset.to_dict(), ruleset.semantics.meaning
    values = [page_values(ruleset, row) for row in rows]
    texts = [[typed(text) for text in rule] for rule in page.evaluate(WORDED, model)]
    for row, found in zip(rows, page.evaluate(EXPLAINED, [model, values]), strict=True):
        expected = ruleset.explain(row, effort=0)
        deciding = expected.deciding
        if ruleset.classes:
            assert found["prediction"] == expected.decision
        else:
            assert found["prediction"] == pytest.approx(expected.decision, abs=1e-12)
        assert found["rule"] == (None if deciding is None else deciding.index + 1)
        counted = {r - 1 for r in found["fired"] if meaning.is_list or ruleset[r - 1].weight > 0}
        assert counted == {match.index for match in expected.firing}
        for match in (*expected.firing, *([deciding] if deciding else [])):
            r = match.index
            assert found["held"][r] == pytest.approx(match.degree, abs=1e-12)
            assert texts[r] == [condition.condition for condition in match.conditions]
            degrees = [condition.membership for condition in match.conditions]
            assert found["memberships"][r] == pytest.approx(degrees, abs=1e-12)
            # In a list, and if no rule fires, the weight of a rule does not decide.
            if not meaning.is_list and match in expected.firing:
                assert found["added"][r] == pytest.approx(match.contribution, abs=1e-12)
        if meaning.adds:
            parts = sum(match.contribution for match in expected.firing)
            # The page omits the steps between ordinal classes.
            base = 0.0 if meaning.task == "ordinal" else expected.base
            assert found["base"] == pytest.approx(base, abs=1e-12)
            assert found["total"] == pytest.approx(base + parts, abs=1e-12)
            if expected.rivals:
                assert found["second"] == expected.rivals[0].label


@pytest.mark.parametrize("semantics", MEANINGS)
def test_explanations_are_those_of_python(page, semantics):
    own = [ruleset for ruleset, _ in RULESETS if ruleset.semantics.name == semantics]
    assert own
    for ruleset in own:
        check_explanations(page, ruleset, ROWS)


@pytest.mark.parametrize("semantics", MEANINGS)
def test_explanations_of_edited_rules_are_those_of_python(pages, semantics, tmp_path):
    """Check words and numbers of a rule that was edited on the page."""
    ruleset = next(one for one, _ in RULESETS if one.semantics.name == semantics and len(one) > 1)
    frame = pd.DataFrame(ROWS)
    page = pages.report(ruleset, frame, ruleset.predict(frame))
    number = next(r + 1 for r, rule in enumerate(ruleset) if rule.conditions)
    page.evaluate(
        """(number) => frri.store.apply(number, (rule) => {
          const first = { attribute: "x", trapezoid: [1.25, 2.75, null, null] };
          const { votes, distribution, partial_weights, statistics, ...kept } = rule;
          return { ...kept, if: [first, ...rule.if.slice(1)], weight: 0.75, origin: "edited" };
        }, "changed")""",
        number,
    )
    edited = download(page, tmp_path)
    assert edited[number - 1].conditions != ruleset[number - 1].conditions
    check_explanations(page, edited, ROWS)
    shown = page.locator(f"[data-rule='{number}'] .ifs li").all_inner_texts()
    assert "x ≥ 2.75 (partly from 1.25)" in shown[0]
    page.click("#tab-what-if")
    for i in (0, 2, 9):
        page.fill("#row-number", str(i + 1))
        page.press("#row-number", "Enter")
        expected = edited.explain(ROWS[i], effort=0)
        reason = page.inner_text(".reason")
        if expected.fallback is not None and expected.base is None:
            assert f"No rule fires: {FALLBACKS[expected.fallback]}" in reason
        elif expected.base is None:
            matches = [expected.deciding] if edited.semantics.meaning.decides else expected.firing
            for match in matches[:3]:
                assert f"Rule {match.index + 1}" in reason
        if edited.classes:
            assert page.inner_text(".decision") == str(expected.decision)


# ------------------------------------------------------------------ a list of rules about patients


@pytest.fixture(scope="module")
def patients(pages):
    """Return RIPPER rules of the patients of `frri example`, whose age and sex cannot change."""
    X = pd.read_csv(Path(frri.__file__).parent / "cli" / "patients.csv").drop(columns="visit")
    y = X.pop("risk")
    attributes = [
        Attribute(name, column.min(), column.max())
        if column.dtype.kind in "if"
        else Attribute(name, categories=tuple(sorted(set(column))))
        for name, column in X.items()
    ]
    above = {
        name: NumericCondition(name, bound, bound)
        for name, bound in (("age", 43), ("glucose", 156), ("pressure", 144))
    }
    smokes = NominalCondition("smoker", frozenset({"yes"}))
    rules = (
        Rule((above["glucose"], above["age"]), "high"),
        Rule((smokes, above["pressure"]), "high"),
        Rule((), "low"),
    )
    counts = tuple(float((y == label).sum()) for label in ("high", "low"))
    ruleset = RuleSet(
        rules,
        tuple(attributes),
        ("high", "low"),
        "risk",
        class_counts=counts,
        semantics="first-match",
    )
    path = pages.folder / "patients.html"
    write_report(ruleset, path, X, y, fixed=["age", "sex"], unit="patients")
    return ruleset, X, pages.open(path, viewport={"width": 1280, "height": 800})


def test_two_changes_are_offered_also_where_one_column_is_not_enough_for_both(patients):
    ruleset, X, page = patients
    page.click("#tab-what-if")
    row = X.iloc[[0]].assign(age=54, glucose=136, pressure=138, smoker="no")
    page.locator(".pasting summary").click()
    page.fill("#pasted", row.to_csv(index=False))
    page.click("text=Use it")
    settle(page)
    assert ruleset.predict(row)[0] == page.inner_text(".decision") == "low"
    first, second = page.locator(".changes li p").all_inner_texts()
    assert "high if glucose were 156 instead of 136 (rule 1)" in " ".join(first.split())
    assert " smoker were yes instead of no" in second
    assert " pressure were 144 instead of 138" in " ".join(second.split())
    assert "age" not in second
    page.get_by_role("button", name="Make this change").nth(1).click()
    settle(page)
    assert page.inner_text(".decision") == "high"
    assert "Rule 2 is the first in the list that holds" in page.inner_text(".reason")


NEAREST = """async ([rows, locked, goal]) => {
  const { model } = frri.facts;
  const target = goal ? { side: goal[0], value: goal[1] } : null;
  const answers = [];
  for (const i of rows) {
    const search = { model, values: frri.store.rows.at(i), locked: new Set(locked), target };
    const strips = await frri.allClassStrips(model, search.values, target);
    const { found } = frri.singleChanges(search, strips, 1);
    answers.push(found[0] ?? (await frri.pairChanges(search, 1))[0] ?? null);
  }
  return answers;
}"""


def test_changes_of_one_or_two_columns_are_those_of_python(patients):
    """Distance and order are the same: fewer columns first, and another category costs a full range."""
    ruleset, X, page = patients
    names, n_pairs = list(X.columns), 0
    for fixed in ((), ("age", "sex")):
        rows = list(range(0, 200, 3))
        locked = [names.index(name) for name in fixed]
        for i, found in zip(rows, page.evaluate(NEAREST, [rows, locked, None]), strict=True):
            change = ruleset.explain(X.iloc[i], unchangeable=fixed).change
            assert change.proved
            changed = {one.attribute: one.after for one in change.changes}
            assert {names[j]: found["values"][j] for j in found["changed"]} == changed
            assert found["prediction"] == change.decision
            assert found["cost"] == pytest.approx(change.cost, abs=1e-9)
            n_pairs += len(changed) == 2
    assert n_pairs > 15


def test_values_that_are_outside_the_training_data_or_no_numbers_are_named(patients, page, wine):
    for ruleset, shown in ((patients[0], patients[2]), (wine[0], page)):
        shown.click("#tab-what-if")
        shown.evaluate("frri.actions.tryRow(0)")
        j = next(j for j, one in enumerate(ruleset.attributes) if one.categories is None)
        low, high = (
            ruleset.attributes[j].show(getattr(ruleset.attributes[j], end))
            for end in ("low", "high")
        )
        field, note = f"#value-{j}", f"#value-{j}-note"
        settle(shown)
        before = shown.inner_text(".decision")
        assert not shown.is_visible(note)
        shown.fill(field, "9999")
        ending = f" and counts as {high}" if ruleset.clip else "; the model extrapolates"
        message = f"9999 is outside the training data ({low} to {high}){ending}."
        assert shown.inner_text(note) == message
        shown.fill(field, "abc")
        assert shown.inner_text(note) == "'abc' is not a number."
        assert shown.inner_text(".decision") == "–"
        assert shown.inner_text(".reason") == shown.inner_text(".change") == ""
        # Another value alone does not make the row valid.
        shown.locator(".lock").first.click()
        shown.locator(".lock").first.click()
        assert shown.inner_text(".decision") == "–"
        assert violations(shown) == []
        shown.evaluate("frri.actions.tryRow(0)")
        settle(shown)
        assert shown.inner_text(".decision") == before
        assert not shown.is_visible(note)
    assert {patients[0].clip, wine[0].clip} == {False, True}


def test_the_last_rule_of_a_list_does_not_count_as_covering(patients):
    ruleset, X, page = patients
    page.click("#tab-rules")
    covers = ruleset.covers(X)
    for r in (0, 1):
        page.locator(f"[data-rule='{r + 1}'] .opener").click()
        n = int((covers[:, r] & ~covers[:, 1 - r]).sum())
        assert n > 1
        text = page.inner_text(f"#rule-{r + 1}-opened")
        assert f"{n} rows no other rule with conditions covers." in text
        assert "cover all of them" not in text


def test_categories_have_a_direction_and_the_rarest_class_is_positive(patients):
    _, _, page = patients
    page.click("#tab-rules")
    page.wait_for_function(
        "() => [...document.querySelectorAll('#matters .direction')].every((one) => one.textContent)"
    )
    found = dict(
        line.inner_text().split("\t")[::2] for line in page.locator("#matters tr").all()[1:]
    )
    assert found["smoker"] in {"if yes, more often high", "if no, more often low"}
    assert found["glucose"] == "if higher, more often high"
    page.click("#tab-overview")
    page.wait_for_selector(".cutoff table")
    chosen = page.locator("#positive-class option:checked").inner_text()
    assert chosen == "high"


def test_few_rules_are_reasons_and_short_names_are_not_broken(pages):
    bounds = [(k, k, inf, inf) for k in range(1, 7)]
    rules = tuple(
        Rule((NumericCondition("a", *b),), "negative", relation="at least") for b in bounds
    )
    classes = ("absent", "negative", "positive")
    ruleset = RuleSet(rules, (Attribute("a", 0, 9),), classes, semantics="at-least-class")
    X = np.arange(10.0)[:, None]
    page = pages.report(ruleset, X, ruleset.predict(X), viewport={"width": 390, "height": 800})
    page.click("#tab-what-if")
    page.fill("#row-number", "9")
    page.press("#row-number", "Enter")
    settle(page)
    assert page.locator(".reason .fired").count() == 3
    assert "and 3 more rules" in page.inner_text(".reason")
    for tab in ("overview", "cases", "rules"):
        page.click(f"#tab-{tab}")
        heights = page.locator(f"#panel-{tab} .class .name").evaluate_all(
            "(names) => names.map((name) => name.getClientRects().length && name.getBoundingClientRect().height)"
        )
        assert heights
        assert max(heights) < 30

"""The report page in a browser: its use, and equal predictions in Python."""

import importlib
import inspect
import json
import pkgutil
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import frri.learners
from browser_pages import (
    download,
    edit_rule,
    figure,
    open_history,
    remove_rule,
    settle,
    shown,
    typed,
    violations,
)
from frri import Attribute, FRRIClassifier, NominalCondition, NumericCondition, Rule, RuleSet
from frri.fuzzy import T_NORMS
from frri.learners.classification import RuleClassifier
from frri.report import facts, write_report
from frri.rules.semantics import Semantics
from frri.rules.text import condition_text, condition_texts
from random_models import for_browser, random_models, random_rows, random_ruleset

HOSTILE = '</script><script>document.title="owned"</script><img src=x onerror=alert(2)>"\'&\u202e'


@pytest.fixture(scope="session")
def large(tmp_path_factory):
    """500 rules over 5,000 rows, on disk."""
    random = np.random.default_rng(0)
    X = random.normal(size=(5_000, 12)).round(3)
    y = (X[:, :3].sum(axis=1) > 0).astype(int) + (X[:, 3] > 1)
    rules = []
    for row in random.integers(0, len(X), 500):
        columns = random.choice(12, random.integers(2, 6), replace=False)
        conditions = [around(f"sensor {j}", X[row, j], random) for j in columns]
        rules.append(Rule(tuple(conditions), int(y[row]), float(random.uniform(0.2, 1))))
    attributes = tuple(Attribute(f"sensor {j}", X[:, j].min(), X[:, j].max()) for j in range(12))
    ruleset = RuleSet(tuple(rules), attributes, (0, 1, 2), clip=True)
    path = tmp_path_factory.mktemp("large") / "report.html"
    write_report(ruleset, path, X, y)
    return path


def around(name, value, random):
    near, far = (float(width) for width in np.sort(random.uniform(0.1, 2, 2)))
    kind, x = random.integers(3), float(value)
    if kind == 0:
        return NumericCondition(name, x - far, x - near, x + near, x + far)
    if kind == 1:
        return NumericCondition(name, core_high=x + near, support_high=x + far)
    return NumericCondition(name, support_low=x - far, core_low=x - near)


# ------------------------------------------------------------------ rules


def test_search_and_sort(visit, wine):
    ruleset, X, y = wine
    page = visit.report(ruleset, X, y)
    known = facts(ruleset, X, y)["rules"]
    # Rules are numbered in the displayed order, which is that of the model.
    everything = list(range(1, len(ruleset) + 1))
    assert shown(page) == everything

    for text, name in (("proline", "proline"), ("hue >=", "hue ≥"), ("HUE <=", "hue ≤")):
        page.fill("#search", name)
        expected = shown(page)
        page.fill("#search", text)
        assert shown(page) == expected
        assert 0 < len(expected) < len(ruleset)
    for number in ("2", "rule 2", "#2"):
        page.fill("#search", number)
        assert shown(page) == [2]
    page.fill("#search", "proline")
    uses = [r for r in everything if "proline" in ruleset[r - 1].attributes]
    assert shown(page) == uses
    assert page.inner_text("#rule-count") == f"{len(uses)} of {len(ruleset)} rules"
    page.fill("#search", "Barolo")
    assert shown(page) == [r for r in everything if ruleset[r - 1].consequent == "Barolo"]
    page.fill("#search", "no such thing")
    assert shown(page) == []
    page.click("text=Show all rules")
    assert shown(page) == everything

    for name, value in (
        ("weight", lambda r: -ruleset[r - 1].weight),
        ("coverage", lambda r: -known[r - 1]["covered"]),
        ("rows decided", lambda r: -known[r - 1]["decides"]["rows"]),
        ("number of conditions", lambda r: len(ruleset[r - 1].conditions)),
        ("number", lambda r: r),
    ):
        page.select_option("#order", label=f"by {name}")
        assert shown(page) == sorted(everything, key=lambda r: (value(r), r))
    heading = page.get_by_role("columnheader", name="Decides")
    heading.get_by_role("button").click()
    way, order = heading.get_attribute("aria-sort"), shown(page)
    heading.get_by_role("button").click()
    assert {way, heading.get_attribute("aria-sort")} == {"ascending", "descending"}
    assert shown(page)[0] != order[0]


def test_rules_are_in_words_with_a_bar_below_each_condition(visit, wine):
    ruleset, X, y = wine
    page = visit.report(ruleset, X, y)
    for r, rule in enumerate(ruleset):
        row = page.locator(f"[data-rule='{r + 1}']")
        words = row.locator(".ifs > li > .name").all_inner_texts()
        assert [typed(text) for text in words] == condition_texts(ruleset, rule)
        assert row.locator(".ifs .range").count() == len(rule.conditions)
        assert row.locator(".col-then").inner_text() == rule.consequent


def test_an_opened_rule_shows_all_details(visit, wine):
    ruleset, X, y = wine
    known, covers = facts(ruleset, X, y)["rules"], ruleset.covers(X)
    page = visit.report(ruleset, X, y)
    for r, rule in enumerate(ruleset):
        page.locator("tr.rule .opener").nth(r).click()
        opened = page.locator(f"#rule-{r + 1}-opened")
        text = opened.inner_text()
        assert f"{known[r]['covered']} rows of 178" in text
        decides = known[r]["decides"]
        assert f"It decides {decides['rows']} rows, {decides['right']} of them correctly" in text
        if known[r]["alone"]:
            assert f"{known[r]['alone']} row" in text
        errors = np.flatnonzero(covers[:, r] & (y != rule.consequent)).tolist()
        if errors:
            assert f"{len(errors)} row" in text
        rows = [int(row) - 1 for row in opened.locator("table .link").all_text_contents()]
        assert rows == errors[:8]


def test_edited_conditions_are_worded_as_learned_ones(visit):
    random = np.random.default_rng(0)
    attributes = [
        Attribute("age", 0, 92),
        Attribute("tiny", 0, 3e-9),
        Attribute("huge", -1e7, 1e7),
        Attribute("day", 19000, 20000, kind="date"),
        Attribute("open"),
        Attribute("size", categories=("S", "M", "L", "XL"), kind="ordinal"),
        Attribute("colour", categories=("red", "green", "\U0001f600", "\uffee")),
    ]
    cases = []
    for attribute, clip in product(attributes, (False, True)):
        for _ in range(40):
            if attribute.kind == "nominal":
                values = random.choice(attribute.categories, random.integers(1, 5), replace=False)
                excludes = bool(random.integers(2))
                condition = NominalCondition(attribute.name, frozenset(values.tolist()), excludes)
                cases.append((condition, attribute, clip))
                continue
            low = attribute.low if np.isfinite(attribute.low) else -5
            bounds = np.sort(low + attribute.width * random.choice(41, 4) / 37).tolist()
            conditions = [
                NumericCondition(attribute.name, *bounds),
                NumericCondition(attribute.name, bounds[0], bounds[1]),
                NumericCondition(attribute.name, bounds[1], bounds[1], bounds[2], bounds[2]),
                NumericCondition(attribute.name, core_high=bounds[2], support_high=bounds[2]),
                NumericCondition.below(attribute.name, bounds[1]),
                NumericCondition(attribute.name, bounds[1], bounds[1], bounds[1], bounds[1]),
                NumericCondition(attribute.name),
            ]
            cases += [(condition, attribute, clip) for condition in conditions]
    found = worded(visit.report(RuleSet((), (), (0, 1))), cases)
    for (condition, attribute, clip), text in zip(cases, found, strict=True):
        assert typed(text) == condition_text(condition, attribute, clip)


def worded(page, cases):
    sent = []
    for condition, attribute, clip in cases:
        model = RuleSet((Rule((condition,), 0),), (attribute,), (0,)).to_dict()
        sent.append([model["rules"][0]["if"][0], model["attributes"][0], clip])
    return page.evaluate(
        """(text) => JSON.parse(text).map(([condition, attribute, clip]) =>
             frri.conditionParts(condition, attribute, clip)
               .map((part) => part.name ?? part).join(""))""",
        json.dumps(sent),
    )


def test_partial_membership_is_described(visit):
    age = Attribute("age", 20, 80)
    size = Attribute("size", categories=("small", "mid", "large"), kind="ordinal")
    cases = [
        ((25, 30), age, "age ≥ 30 (partly from 25)"),
        ((12, 30), age, "age ≥ 30 (partly below)"),
        ((12, 30, 40, 50), age, "30 ≤ age ≤ 40 (partly below and to 50)"),
        ((-np.inf, -np.inf, 40, 55.5), age, "age ≤ 40 (partly to 55.5)"),
        ((25, 30, 40, 50), age, "30 ≤ age ≤ 40 (partly from 25 to 50)"),
        ((25, 30, 30, 35), age, "age = 30 (partly from 25 to 35)"),
        ((0.5, 2), size, "size = large (mid to 0.33)"),
        ((-np.inf, -np.inf, 0, 0.7), size, "size = small"),
    ]
    conditions = [(NumericCondition(a.name, *bounds), a, True) for bounds, a, _ in cases]
    found = worded(visit.report(RuleSet((), (), (0, 1))), conditions)
    assert found == [text for _, _, text in cases]
    assert [typed(text) for text in found] == [condition_text(*one) for one in conditions]


def test_keyboard_alone_is_enough(visit, wine):
    page = visit.report(*wine)
    page.focus("#tab-rules")
    for name in ("what-if", "cases", "overview", "rules"):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.id") == f"tab-{name}"
        assert page.is_visible(f"#panel-{name}")
    page.locator("tr.rule .opener").first.focus()
    opened = f"#rule-{shown(page)[0]}-opened"
    page.keyboard.press("Enter")
    assert page.is_visible(opened)
    page.keyboard.press("Enter")
    assert not page.is_visible(opened)


# ------------------------------------------------------------------ what-if


def test_what_if_follows_rows_sliders_and_pasted_text(visit, wine):
    ruleset, X, y = wine
    page = visit.report(ruleset, X, y)
    page.click("#tab-what-if")
    wrong = np.flatnonzero(ruleset.predict(X) != y)
    for row in (0, 77, 177, *wrong[:2]):
        page.fill("#row-number", str(row + 1))
        page.press("#row-number", "Enter")
        assert page.inner_text(".decision") == ruleset.predict(X.iloc[[row]])[0]
        assert ("the decision is wrong" in page.inner_text(".truth")) == (row in wrong)
        assert page.inner_text(".truth").startswith(f"Row {row + 1}")

    slider = page.get_by_label("proline, slider")
    position = list(X.columns).index("proline")
    for value in (300, 900, 1500):
        slider.fill(str(value))
        values = X.iloc[[int(wrong[1])]].copy() if len(wrong) > 1 else X.iloc[[177]].copy()
        values["proline"] = float(value)
        assert page.inner_text(".decision") == ruleset.predict(values)[0]
        assert page.input_value(f"#value-{position}") == str(value)

    page.click("text=Paste a row")
    for row, text in (
        (5, ",".join(map(str, X.iloc[5]))),
        (80, "\t".join(X.columns) + "\n" + "\t".join(map(str, X.iloc[80]))),
        (150, X.iloc[150].to_json()),
    ):
        page.fill("#pasted", text)
        page.click("text=Use it")
        assert page.inner_text(".decision") == ruleset.predict(X.iloc[[row]])[0]
    page.fill("#pasted", "1,2,3")
    page.click("text=Use it")
    assert "Expected 13 values" in page.inner_text(".start-note")


VOTES = RuleSet(
    (
        Rule((NumericCondition("a", 1, 3),), "x", 1.5),
        Rule((NominalCondition("b", frozenset("q")),), "y", 0.5),
        Rule((NumericCondition("a", 0, 6),), "z", 2.0, votes=(0.25, -0.5, 0.125)),
    ),
    (Attribute("a", 0, 9, typical=2.0), Attribute("b", categories=("p", "q"), typical="q")),
    ("x", "y", "z"),
    "answer",
    semantics=Semantics("softmax-votes", missing="typical"),
    base=(0.0, 0.25, -0.5),
)


def test_votes_are_added_up_as_in_python(visit, tmp_path):
    rows = [[a, b] for a in (0.0, 2.0, 5.0, 9.0) for b in "pq"]
    labels = ["y", "x"] * 4
    page = visit.report(VOTES, rows, labels)
    thens = page.locator("td.col-then").all_inner_texts()
    assert [" ".join(text.split()) for text in thens] == ["x +1.50", "y +0.50", "x +0.50"]
    assert page.inner_text("th.col-then button") == "Votes"
    assert page.inner_text(".rules tbody tr:last-child") == "Base: x +0.00, y +0.25, z −0.50"
    assert page.locator(".col-decides").count() == 0
    page.click("#tab-what-if")
    page.click("text=How it is computed")
    for number, row in enumerate(rows):
        page.fill("#row-number", str(number + 1))
        page.press("#row-number", "Enter")
        found = VOTES.explain(row, effort=0)
        assert page.inner_text(".decision") == found.decision
        lead = found.base + sum(rule.contribution for rule in found.firing)
        assert f"the lead of {found.decision} over {found.rivals[0].label}:" in (
            page.inner_text(".reason")
        )
        # Contributions of columns: of the first and third rule, and of the second.
        parts = [0.0, 0.0]
        for rule in found.firing:
            parts[VOTES[rule.index].attributes == ("b",)] += rule.contribution
        steps = page.locator(".contributions li").all_inner_texts()
        texts = [steps[0].split()[-1], steps[-1].split()[-1]]
        assert texts == [signed(found.base), signed(lead)]
        for name, value, part in zip("ab", row, parts, strict=True):
            shown_value = f"{value:g}" if name == "a" else value
            line = [one for one in steps if one.startswith(f"{name} = {shown_value}")]
            assert bool(line) == (part != 0)
            assert not line or line[0].endswith(signed(part))
        listed = page.locator(".firing .fired").all_inner_texts()
        assert [text.split()[1] for text in listed] == [str(r.index + 1) for r in found.firing]
        for text, rule in zip(listed, found.firing, strict=True):
            assert text.endswith(signed(rule.contribution))
        scores = page.locator(".scores li").all_inner_texts()
        assert [text.split()[-1] for text in scores] == [signed(score) for score in found.scores]
        settle(page)
        likely = VOTES.predict_proba([row]).max()
        sure = page.inner_text(".sure")
        hundred = f"about {100 * likely:.0f} of 100 such rows are {found.decision}."
        assert sure == f"Probability {100 * likely:.0f} %: {hundred}"
        powers = np.exp(found.scores)
        assert powers.max() / powers.sum() == pytest.approx(likely)
        sentence = f"the sum of exp(score) over all classes, {100 * likely:.1f} %."
        assert page.inner_text(".firing").endswith(sentence)
    page.click("#tab-overview")
    assert "x +0.00, y +0.25, z −0.50" in page.inner_text("#overview-view")
    field = edit_rule(page, 1).get_by_label("Vote")
    field.fill("0.25")
    field.press("Enter")
    page.wait_for_selector("#edit-bar:visible")
    edited = download(page, tmp_path)
    assert edited.rules[0].weight == 0.25
    check_overview(page, edited, pd.DataFrame(rows, columns=["a", "b"]), np.array(labels))
    page.click("#tab-what-if")
    assert violations(page) == []


def signed(value):
    return f"{value:+.2f}".replace("-", "−")


def test_imputed_values_are_shown(visit):
    page = visit.report(VOTES, [[None, None]], ["x"])
    page.click("#tab-what-if")
    assert [page.input_value(f"#value-{j}") for j in (0, 1)] == ["2", "1"]
    page.click("text=Random row")
    assert page.get_attribute("#value-0", "placeholder") == "missing: counts as 2"
    assert page.locator("#value-1 option:checked").inner_text() == "missing: counts as q"
    page = visit.report(replace(VOTES, missing="fails"), [[None, None]], ["x"])
    page.click("#tab-what-if")
    page.click("text=Random row")
    assert page.get_attribute("#value-0", "placeholder") == "missing"


# ------------------------------------------------------------------ edit


def test_unedited_model_is_downloaded_as_it_was(visit, wine, tmp_path):
    page = visit.report(*wine)
    page.click("#tab-overview")
    with page.expect_download() as expected:
        page.get_by_role("button", name="Download model").click()
    expected.value.save_as(tmp_path / "model.json")
    assert RuleSet.load(tmp_path / "model.json") == wine[0]


def test_edits_take_effect_at_once_can_be_undone_and_downloaded(visit, wine, tmp_path):
    ruleset, X, y = wine
    page = visit.report(ruleset, X, y, viewport={"width": 1400, "height": 1800})
    start = f"{round(100 * (ruleset.predict(X) == y).mean())} %"

    def check(n_rules):
        page.wait_for_selector("body:not([aria-busy])")
        model = download(page, tmp_path)
        assert len(model) == n_rules
        assert figure(page, "Accuracy") == percent((model.predict(X) == y).mean())
        assert figure(page, "Coverage") == percent(model.covers(X).any(axis=1).mean())
        assert figure(page, "Conditions") == str(sum(len(rule.conditions) for rule in model))
        return model

    weight = edit_rule(page, 1).get_by_label("Weight")
    weight.fill("0.05")
    weight.press("Enter")
    page.wait_for_selector("#edit-bar:visible")
    weaker = check(len(ruleset))
    assert [rule.origin for rule in weaker][:2] == ["edited", "learned"]
    assert "selection" not in weaker.about
    assert weaker.about["edits"] == 1
    page.click("[aria-controls=history]")

    remove_rule(page, 3)
    removed = check(len(ruleset) - 1)
    assert ruleset[2] not in removed.rules
    page.click("[aria-controls=history]")

    page.click("text=New rule")
    number = len(ruleset) + 1
    opened = page.locator(f"#rule-{number}-opened")
    opened.get_by_label("Then cultivar is").select_option(label="Grignolino")
    opened.get_by_label("Further condition on").select_option(label="hue")
    opened.get_by_role("button", name="Add condition").click()
    added = check(len(ruleset))
    assert added[len(added) - 1].origin == "written"
    assert added[len(added) - 1].attributes == ("alcohol", "hue")
    assert added[len(added) - 1].consequent == "Grignolino"
    page.click("[aria-controls=history]")

    field = opened.get_by_label("holds from").first
    field.fill("12.5")
    field.press("Enter")
    bounds = check(len(ruleset))[len(added) - 1].conditions[0].trapezoid
    assert bounds[:2] == (12.5, 12.5)
    opened.get_by_label("holds from").first.fill("99")
    opened.get_by_label("holds from").first.press("Enter")
    assert "must ascend" in opened.locator(".error").inner_text()

    # The history returns to any step, and keeps undone steps.
    steps = page.locator("#history ol .link")
    assert steps.count() == 7
    steps.nth(1).click()
    page.wait_for_selector("#history .undone")
    assert download(page, tmp_path) == weaker
    assert page.locator("#history [aria-current]").inner_text() == "Rule 1: weight 0.05"
    bar = page.locator("#edit-bar")
    bar.get_by_role("button", name="Undo", exact=True).click()
    assert figure(page, "Accuracy") == start
    assert download(page, tmp_path) == ruleset
    bar.get_by_role("button", name="Redo").click()
    assert download(page, tmp_path) == weaker
    steps.last.click()
    page.select_option("#compared-with", "2")
    row = page.locator(".effects tr", has_text="Rules").locator("td").all_inner_texts()
    assert row[1:] == [str(len(ruleset) - 1), str(len(ruleset))]


def percent(share):
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 else f"{int(100 * share + 0.5)} %"


def table_of(page, card):
    """Return the rows of the table in a card of the overview, as strings."""
    section = page.locator(
        ".overview .card", has=page.get_by_role("heading", name=card, exact=True)
    )
    return section.evaluate(
        """(card) => {
             for (const folded of card.querySelectorAll("details")) folded.open = true;
             return [...card.querySelectorAll("tbody tr")].map((row) =>
               [...row.querySelectorAll("th, td")].map((cell) => cell.innerText)); }"""
    )


def check_overview(page, model, X, y):
    """Check that the page shows the results of Python for the displayed model."""
    page.click("#tab-overview")
    page.wait_for_selector(".overview:not(:has([aria-busy]))")
    expected = facts(model, X, y)
    n_conditions = expected["overview"]["n_conditions"]
    measured = expected["performance"]
    assert page.inner_text(".overview .figure") == percent(measured["accuracy"])
    balanced = page.locator("dt", has_text="Balanced accuracy").locator("+ dd").inner_text()
    assert abs(float(balanced[:-2]) - 100 * measured["balanced_accuracy"]) <= 0.5
    conditions = page.locator("dt", has_text="Conditions").locator("+ dd").first.inner_text()
    total, _, mean = conditions.partition(", ")
    assert total == str(n_conditions)
    assert not mean or abs(float(mean.split()[0]) - n_conditions / len(model)) < 0.051
    counts = np.zeros((len(model.classes), len(model.classes)), dtype=int)
    for truth, decided, n in expected["performance"]["confusion"]:
        counts[truth, decided] = n
    cells = table_of(page, "Confusion matrix")
    # After an edit, the change follows the number.
    shown = [[int(cell.split()[0]) for cell in row[1:-3]] for row in cells]
    assert shown == counts.tolist()
    for c, row in enumerate(cells):
        others = np.delete(counts, c, axis=0)
        hits = counts[c, c], np.delete(others, c, axis=1).sum(), counts[c, c]
        rows = counts[c].sum(), others.sum(), counts[:, c].sum()
        for text, right, n in zip(row[-3:], hits, rows, strict=True):
            share = text.split(" %")[0]
            assert share == "–" if not n else abs(float(share) - 100 * right / n) <= 0.5
    used = {attribute["name"]: attribute["n_rules"] for attribute in expected["attributes"]}
    for row in table_of(page, "Columns"):
        assert int(row[-1]) == used[row[0]]


def test_results_belong_to_the_displayed_rules(visit, wine, tmp_path):
    ruleset, X, y = wine
    page = visit.report(ruleset, X, y)
    check_overview(page, ruleset, X, y)
    opening = page.inner_text("#opening")
    assert "No set of fewer than" in page.inner_text("#overview-view")
    assert not page.is_visible("#edited")

    def edit(number):
        remove_rule(page, number)
        model = download(page, tmp_path)
        check_overview(page, model, X, y)
        was, accuracy = (percent((one.predict(X) == y).mean()) for one in (ruleset, model))
        assert page.inner_text("#opening") == (
            f"Edited: {len(model)} rule{'s' * (len(model) != 1)}, as learned {len(ruleset)}. "
            f"Accuracy on 178 given rows: {accuracy} (was {was})."
        )
        everything = page.inner_text("body")
        assert "proved" not in everything
        assert "fewest" not in everything
        assert page.is_visible("#edited")
        return model

    removed = edit(1)
    assert removed == ruleset.without_rule(0)
    assert {k: v for k, v in removed.about.items() if k != "log"} == ruleset.without_rule(0).about
    edit(2)
    again = edit(3)
    assert again.about["edits"] == 3
    assert again.rules == ruleset.rules[3:]
    # A page of the downloaded model shows the same.
    check_overview(visit.report(again, X, y), again, X, y)
    for _ in range(3):
        page.locator("#edit-bar").get_by_role("button", name="Undo").click()
    assert page.inner_text("#opening") == opening
    check_overview(page, ruleset, X, y)
    for number in range(1, len(ruleset) + 1):
        edit(number)


def test_an_edit_in_python_takes_the_proof_off_the_page(visit, wine):
    ruleset, X, y = wine
    edited = ruleset.without_rule(0)
    page = visit.report(edited, X, y)
    check_overview(page, edited, X, y)
    everything = page.inner_text("body")
    assert "proved" not in everything
    assert "fewest" not in everything
    assert page.is_visible("#edited")
    assert "Edits since" in page.inner_text("#overview-view")


# Edits on the page, and the same edits in Python.
CHANGES = {
    "bound": lambda rules: rules.with_changed_rule(
        0, conditions=(NumericCondition("n", 1.0, 2.5, 4.0, 5.0), *rules[0].conditions[1:])
    ),
    "class": lambda rules: rules.with_changed_rule(0, consequent="b"),
    "weight": lambda rules: rules.with_changed_rule(0, weight=0.25),
    "condition": lambda rules: rules.without_condition(0, 0),
    "rule": lambda rules: rules.without_rule(0),
}


def change_in_page(page, what):
    if what == "rule":
        remove_rule(page, 1)
        return
    opened = edit_rule(page, 1)
    field = {
        "bound": opened.get_by_label("holds from").first,
        "weight": opened.get_by_label("Weight"),
    }.get(what)
    if field is not None:
        field.fill("2.5" if what == "bound" else "0.25")
        field.press("Enter")
    elif what == "class":
        opened.get_by_label("Then class is").select_option(label="b")
    else:
        opened.get_by_role("button", name="Drop the condition on n").click()
    page.wait_for_selector("body:not([aria-busy])")


@pytest.mark.parametrize("fallback", ["stretched", "partial", "priors"])
def test_edits_do_what_they_do_in_python(visit, tmp_path, fallback):
    size = {"stretched": 3, "partial": 4}.get(fallback, 0)
    parts = tuple(k / 10 for k in range(size))
    first = (NumericCondition("n", 1.0, 2.0, 4.0, 5.0), NumericCondition("m", 0.0, 1.0, 6.0, 7.0))
    rules = tuple(
        Rule(conditions, label, 0.5, partial_weights=parts, distribution=shares)
        for conditions, label, shares in (
            (first, "a", (0.75, 0.25) if fallback == "priors" else None),
            (first[::-1], "b", None),
        )
    )
    ruleset = RuleSet(
        rules,
        (Attribute("n", 0, 9), Attribute("m", 0, 9)),
        ("a", "b"),
        combination="first" if fallback == "priors" else "sum",
        fallback=fallback,
        about={"learner": "somebody", "selection": {"status": "optimal"}, "edits": 4},
    )
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(0, 9, (60, 2)), columns=["n", "m"])
    y = np.where(random.random(60) < 0.5, "a", "b")
    training = replace(ruleset, class_counts=tuple(float((y == c).sum()) for c in "ab"))
    training = training.with_statistics(X, y)
    sizes = {rule.statistics.covered for rule in training}
    assert min(sizes) > 0
    # The fallback does not depend on the rows.
    others = ((X[:40], y[:40]), ()) if fallback == "priors" else ()
    for table in ((X, y), *others):
        page = visit.report(training, *table)
        for what, change in CHANGES.items():
            change_in_page(page, what)
            found, expected = download(page, tmp_path), change(training)
            # If all training rows are embedded, the page counts again.
            if len(table) and len(table[0]) == len(X):
                expected = expected.with_statistics(X, y)
            (entry,) = found.about["log"]
            assert entry["edit"].startswith(("Rule 1", "Removed rule 1")), what
            expected = replace(expected, about={**expected.about, "log": found.about["log"]})
            assert found.to_dict() == expected.to_dict(), what
            assert found.about["edits"] == 5
            if len(table) and len(table[0]) == len(X):
                check_overview(page, found, *table)
            page.locator("#edit-bar").get_by_role("button", name="Undo").click()


def test_an_edit_that_changes_nothing_is_none(visit, wine, tmp_path):
    page = visit.report(*wine)
    page.evaluate("frri.store.apply(1, (rule) => rule, 'nothing')")
    fields = edit_rule(page, 1).get_by_label("holds").all()
    field = next(one for one in fields if one.input_value())
    value = field.input_value()
    for text in (value + "0", value):
        field.fill(text)
        field.press("Enter")
    page.wait_for_selector("body:not([aria-busy])")
    assert not page.is_visible("#edit-bar")
    assert download(page, tmp_path).about == wine[0].about


def test_keys_undo_and_the_focus_stays(visit, wine):
    page = visit.report(*wine)
    remove_rule(page, 2)
    page.wait_for_selector("#edit-bar:visible")
    assert 2 not in shown(page)
    page.locator("body").press("Control+z")
    assert 2 in shown(page)
    weight = edit_rule(page, 2).get_by_label("Weight")
    weight.fill("0.5")
    page.keyboard.press("Enter")
    page.wait_for_selector("#edit-bar:visible")
    page.wait_for_selector("body:not([aria-busy])")
    assert page.evaluate("document.activeElement.id") == "weight-2"
    page.fill("#search", "edited")
    assert shown(page) == [2]


def test_nominal_conditions_are_edited_by_ticking(visit, tmp_path):
    colour = Attribute("colour", categories=("blue", "green", "red"))
    rules = (Rule((NominalCondition("colour", frozenset({"red"})),), "yes"), Rule((), "no", 0.5))
    page = visit.report(
        RuleSet(rules, (colour,), ("no", "yes")), [["red"], ["blue"]], ["yes", "no"]
    )
    edit_rule(page, 1)
    page.get_by_label("green").check()
    page.wait_for_selector("body:not([aria-busy])")
    edited = download(page, tmp_path)
    assert edited[0].conditions[0].values == {"red", "green"}
    page.get_by_label("red").uncheck()
    page.get_by_label("green").click()
    assert "One value at least" in page.locator(".error").inner_text()


def test_exclusions_are_shown_edited_and_dropped(visit, tmp_path):
    colour = Attribute("colour", categories=("blue", "green", "red"))
    exclusion = NominalCondition("colour", frozenset({"red"}), excludes=True)
    ruleset = RuleSet((Rule((exclusion,), "yes"), Rule((), "no", 0.5)), (colour,), ("no", "yes"))
    page = visit.report(ruleset, [["red"], ["blue"], ["pink"]], ["no", "yes", "yes"])
    row = page.locator("[data-rule='1']")
    assert row.locator(".range rect:not(.rail)").count() == 2
    assert "colour ≠ red" in row.inner_text()
    edit_rule(page, 1)
    assert page.locator(".choices legend").inner_text() == "is none of"
    page.get_by_label("green").check()
    page.wait_for_selector("body:not([aria-busy])")
    (edited,) = download(page, tmp_path)[0].conditions
    assert edited == NominalCondition("colour", frozenset({"red", "green"}), excludes=True)
    page.get_by_label("Drop the condition on colour").click()
    page.wait_for_selector("body:not([aria-busy])")
    assert not download(page, tmp_path)[0].conditions


# ------------------------------------------------------------------ the same decisions as in Python


def compare(page, ruleset, rows):
    answer = page.evaluate(
        """(text) => {
             const [model, rows] = JSON.parse(text);
             return JSON.stringify([
               rows.map((row) => frri.predict(model, row)),
               rows.map((row) => frri.scores(model, row)),
               rows.map((row) => frri.probabilities(model, row))]);
           }""",
        json.dumps([ruleset.to_dict(), for_browser(rows)]),
    )
    decided, scores, shares = json.loads(answer)
    assert np.abs(np.array(scores) - ruleset.scores(rows)).max() <= 1e-9
    assert np.abs(np.array(shares) - ruleset.predict_proba(rows)).max() <= 1e-9
    assert decided == ruleset.predict(rows).tolist()


def test_decisions_of_models_of_all_kinds_equal_python(visit):
    random = np.random.default_rng(0)
    page = visit.report(RuleSet((), (), (0, 1)))
    rows = random_rows(random, 2_000)
    fallbacks = ("nearest", "stretched", "partial", "priors")
    for combination, fallback in product(("best", "sum", "first"), fallbacks):
        ruleset = random_ruleset(random, combination, fallback, "minimum")
        compare(page, ruleset, rows)
        compare(page, replace(ruleset, trust=0.7).with_decision({"x": 3, "z": 0.6}), rows)
    for t_norm in T_NORMS:
        compare(page, random_ruleset(random, "best", "nearest", t_norm), rows[:200])


def test_decisions_of_models_of_all_learners_equal_python(visit, wine):
    _, X, y = wine
    learners = {}
    packages = pkgutil.iter_modules(frri.learners.__path__, "frri.learners.")
    for module in (one for one in packages if one.ispkg):
        for _, thing in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(thing, RuleClassifier):
                learners[thing.__name__] = thing
    assert "FRRIClassifier" in learners
    random = np.random.default_rng(0)
    spread = X.max() - X.min()
    rows = (
        X.min()
        - 0.2 * spread
        + 1.4 * spread * pd.DataFrame(random.random((500, 13)), columns=X.columns)
    )
    page = visit.report(RuleSet((), (), (0, 1)))
    for learner in learners.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bags = {"n_estimators": 3} if "Bagging" in learner.__name__ else {}
            ruleset = learner(**bags).fit(X[::2], y[::2]).ruleset_
        compare(page, ruleset, rows)
        compare(page, ruleset.with_decision({"Barolo": 5}), rows)
        opened = visit.report(ruleset, X, y)
        assert f"{len(ruleset)} rule" in opened.inner_text("#rule-count"), learner
        opened.click("#tab-overview")
        assert ruleset.about["learner"] in opened.inner_text("#overview-view")


# ------------------------------------------------------------------ surroundings


def test_filter_keystrokes_redraw_little_with_many_rules_and_rows(visit, large):
    assert large.stat().st_size < 2_000_000
    page = visit.open(large, viewport={"width": 1400, "height": 900})
    drawn = page.evaluate(
        """async () => {
             const search = document.getElementById("search");
             const drawn = [];
             const made = document.createElement.bind(document);
             document.createElement = (tag) => {
               if (tag === "tr") drawn[drawn.length - 1] += 1;
               return made(tag);
             };
             for (const text of ["s", "se", "sen", "sensor 1", "sensor 11", "", "3", "37", "is 2", "x", ""]) {
               drawn.push(0);
               search.value = text;
               search.dispatchEvent(new Event("input"));
               await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
             }
             return drawn;
           }"""
    )
    assert 0 < max(drawn) < 100, drawn
    assert page.inner_text("#rule-count") == "500 rules"
    for row in (9, 19, 29):
        page.locator("tr.rule").nth(row).scroll_into_view_if_needed()
    assert page.locator("tr.rule").count() < 100


def test_print_shows_every_rule(visit, wine, large):
    page = visit.open(large)
    assert page.locator("tr.rule").count() < 100
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("tr.rule").count() == 500
    page = visit.report(*wine)
    assert len(page.pdf(format="A4")) > 10_000
    assert page.locator(".overview .card").count() == 7
    page.emulate_media(media="print")
    assert page.is_visible("#panel-overview")
    assert not page.is_visible("#search")


@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_edits_are_accessible(visit, wine, look):
    size = {"width": 390, "height": 844} if look == "narrow" else {"width": 1400, "height": 900}
    page = visit.report(*wine, viewport=size, color_scheme="dark" if look == "dark" else "light")
    edit_rule(page, 1)
    remove_rule(page, 3)
    open_history(page)
    # The dark and the light page differ in colors.
    assert violations(page, ["color-contrast"] if look == "dark" else None) == []
    if look == "narrow":
        page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


# Each piece of a name between its separators is on one line.
BROKEN = """() => [...document.querySelectorAll("main .short, .matters .short")].flatMap((name) =>
  [...name.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).filter((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
  }).map((node) => node.textContent))"""


def models_of_every_kind():
    """Yield models of two classes, of many classes, and of every semantics, with long names of classes."""
    at_least = [NumericCondition("a", bound, bound + 1) for bound in range(15)]
    names = [f"not_recommended_{k}" for k in range(15)]
    for n in (2, 15):
        rules = tuple(Rule((at_least[k],), names[k], 0.9 - k / 20) for k in range(n))
        attributes, counts = (Attribute("a", 0, 20),), tuple(range(1, n + 1))
        yield RuleSet(rules, attributes, names[:n], "v", class_counts=counts, trust=0.8)
    yield from random_models(np.random.default_rng(3))


@pytest.mark.parametrize("k", range(10))
def test_every_kind_is_accessible_in_light_and_dark_and_on_phones(pages, k):
    ruleset = [*models_of_every_kind()][k]
    X = random_rows(np.random.default_rng(0), 40) if k > 1 else np.arange(40.0)[:, None] / 2
    page = pages.report(ruleset, X, np.roll(ruleset.predict(X), 3))
    page.locator("tr.rule .opener").first.click()
    for name in ("what-if", "cases", "overview"):
        page.click(f"#tab-{name}")
    # All views at once.
    page.evaluate(
        "document.querySelectorAll('[role=tabpanel]').forEach((view) => { view.hidden = false; })"
    )
    page.evaluate("document.body.dataset.view = 'rules'")
    settle(page)
    page.wait_for_selector("body:not(:has(.overview [aria-busy]))")
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(BROKEN) == []
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, ["color-contrast"]) == []


def test_colors_follow_the_system_until_the_button_is_pressed(visit, wine):
    page = visit.report(*wine, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    light = page.evaluate(background)
    assert dark != light
    page.reload()
    assert page.evaluate(background) == light


def test_without_scripts_the_rules_can_be_read(visit, wine):
    page = visit.report(wine[0], java_script_enabled=False)
    assert page.locator("#plain-rules li").all_inner_texts() == [
        " ".join(line.split()) for line in str(wine[0]).splitlines()
    ]


def test_hostile_names_are_shown_as_they_are(visit):
    long = "c" * 10_000
    attributes = (Attribute(HOSTILE, 0, 9), Attribute("b", categories=(HOSTILE, long)))
    conditions = (
        NumericCondition(HOSTILE, 1, 2),
        NominalCondition("b", frozenset({HOSTILE, long})),
    )
    rules = (Rule(conditions, HOSTILE), Rule((NominalCondition("b", frozenset({long})),), "y"))
    ruleset = RuleSet(rules, attributes, (HOSTILE, "y"), target=HOSTILE, about={"learner": HOSTILE})
    rows = [[3, HOSTILE], [4, long], [5, HOSTILE]]
    page = visit.report(ruleset, rows, [HOSTILE, "y", "y"], viewport={"width": 800, "height": 900})
    assert page.title() == f"Rules for {HOSTILE}"
    assert page.locator("h1 bdi").text_content() == HOSTILE
    assert HOSTILE in page.locator(".ifs").first.text_content()
    page.locator("tr.rule .opener").first.click()
    for name in ("what-if", "overview", "rules"):
        page.click(f"#tab-{name}")
        assert HOSTILE in page.locator(f"#panel-{name}").text_content()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    edit_rule(page, 1).get_by_label("Weight").fill("0.5")
    page.keyboard.press("Enter")
    page.wait_for_selector("#edit-bar:visible")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("img").count() == 0
    assert page.title() == f"Rules for {HOSTILE}"


def simple(**changes):
    settings = {
        "rules": (Rule((NumericCondition("a", 1, 2, 3, 4),), "x", 0.9),),
        "attributes": (Attribute("a", 0, 9), Attribute("b", categories=("p", "q"))),
        "classes": ("x", "y"),
    } | changes
    return RuleSet(**settings)


MANY = tuple(f"class {k}" for k in range(300))


@pytest.mark.parametrize(
    ("ruleset", "X", "y", "text"),
    [
        (simple(rules=()), None, None, "This model has no rules"),
        (simple(rules=()), [[1, "p"]], ["x"], "This model has no rules"),
        (simple(), None, None, "1 rule"),
        (simple(), [[1, "p"], [2, "q"]], None, "1 rule"),
        (simple(rules=(Rule((), "x"),), classes=("x",)), [[1, "p"]], ["x"], "1 rule"),
        (simple(attributes=(Attribute("a"),)), None, None, "1 rule"),
        (
            RuleSet(
                tuple(
                    Rule((NumericCondition("a", k, k, k + 0.5, k + 1),), c)
                    for k, c in enumerate(MANY)
                ),
                (Attribute("a", 0, 300),),
                MANY,
            ),
            np.arange(300.0).reshape(-1, 1) + 1,
            MANY,
            "300 rules",
        ),
    ],
)
def test_unusual_models_have_a_sensible_page(visit, ruleset, X, y, text):
    page = visit.report(ruleset, X, y)
    assert text in page.inner_text("#rule-count")
    if len(ruleset):
        page.locator("tr.rule .opener").first.click()
    page.click("#tab-what-if")
    settle(page)
    values = [page.get_attribute(f"#value-{j}", "title") for j in range(len(ruleset.attributes))]
    assert page.inner_text(".decision") in ruleset.classes
    assert len(values) == len(ruleset.attributes)
    page.click("#tab-overview")
    assert "undefined" not in page.inner_text("main")
    assert "NaN" not in page.inner_text("main")
    page.click("#tab-rules")
    page.click("text=New rule")
    page.wait_for_selector("#edit-bar:visible")
    remove_rule(page, len(ruleset) + 1)


def test_sampled_rows_are_described_as_such(visit, wine, tmp_path):
    ruleset, X, y = wine
    write_report(ruleset, tmp_path / "sample.html", X, y, max_rows=40)
    page = visit.open(tmp_path / "sample.html")
    assert "40 of 178 rows are embedded" in page.inner_text("footer")
    page.click("#tab-what-if")
    assert "random sample of 40 of 178 rows" in page.inner_text(".starters")
    page.click("text=Random row")
    row = int(page.input_value("#row-number")) - 1
    assert page.inner_text(".truth").startswith(f"Row {row + 1}")
    assert float(page.input_value("#value-0")) == X.iloc[row, 0]
    page.press("#row-number", "Enter")
    assert page.inner_text(".truth").startswith(f"Row {row + 1}")
    remove_rule(page, 1)
    # The statistics of an edited model are those of the embedded rows.
    assert "Accuracy on 40 embedded rows: " in page.inner_text("#opening")
    page.click("#tab-overview")
    text = page.inner_text(".overview")
    assert "of 40 embedded new rows are classified correctly. As learned: " in text


def test_notebooks_show_the_page_and_cannot_break_it(visit, wine):
    page = visit.page(viewport={"width": 900, "height": 900})
    page.set_content(
        "<style>* { color: red !important; display: inline !important }</style>"
        f"<div>{wine[0]._repr_html_()}</div>"
    )
    frame = page.frame_locator("iframe")
    frame.locator("tr.rule").first.wait_for()
    assert frame.locator("tr.rule .opener").count() == len(wine[0])
    frame.locator("tr.rule .opener").first.click()
    assert frame.locator(".opened-rule").first.is_visible()
    assert frame.locator("h1").evaluate("node => getComputedStyle(node).color") != "rgb(255, 0, 0)"
    # At the width of a notebook, rules are rows of a table, unlike on a phone.
    assert frame.locator(".rules thead").is_visible()
    frame.locator("#tab-what-if").click()
    assert frame.locator(".decision").inner_text() in wine[0].classes


def test_a_fitted_learner_shows_its_rules_and_is_reported_on(wine, tmp_path):
    _, X, y = wine
    learner = FRRIClassifier()
    assert "iframe" not in learner._repr_mimebundle_()["text/html"]
    learner.fit(X[::2], y[::2])
    shown = learner._repr_mimebundle_()
    assert shown["text/html"] == learner.ruleset_._repr_html_()
    assert shown["text/plain"] == repr(learner)
    write_report(learner, tmp_path / "report.html", X, y)
    assert "89 rows" in (tmp_path / "report.html").read_text()

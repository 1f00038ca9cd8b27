"""The report page: rules in words, sizes, names, addresses, right-to-left names and numbers."""

import json
import re
from dataclasses import replace
from io import BytesIO
from math import inf
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest

from browser_pages import edit_rule, remove_rule, shown
from frri import (
    AdditiveRulesClassifier,
    AdditiveRulesRegressor,
    Attribute,
    CompactFRRIClassifier,
    NumericCondition,
    RIPPERClassifier,
    Rule,
    RuleSet,
)
from frri.compare import stability
from frri.report import facts, write_report

LAPTOP = {"width": 1440, "height": 900}
IN_SIGHT = """() => [...document.querySelectorAll("tr.rule")]
  .filter((row) => row.getBoundingClientRect().bottom <= window.innerHeight).length"""


@pytest.fixture(scope="module")
def page(pages, wine):
    return pages.report(*wine, viewport=LAPTOP)


def test_layers_count_rows_as_numpy_does(page, wine):
    ruleset, X, y = wine
    covers, classes = ruleset.covers(X), np.searchsorted(ruleset.classes, y)
    for r, rule in enumerate(ruleset):
        for k, condition in enumerate(rule.conditions):
            others = tuple(c for i, c in enumerate(rule.conditions) if i != k)
            alone = RuleSet(
                (Rule(others, rule.consequent),), ruleset.attributes, ruleset.classes, clip=True
            )
            meets = alone.decide(X).degrees[:, 0] > 0
            found = page.evaluate(
                """([r, k]) => { const entry = frri.store.state.entries[r];
                     return JSON.stringify(frri.countLayers(frri.store, entry.rule, k, entry.cover)); }""",
                [r, k],
            )
            found = json.loads(found)
            column = X[condition.attribute].to_numpy()
            a = next(a for a in ruleset.attributes if a.name == condition.attribute)
            bins = np.minimum((np.clip(column, a.low, a.high) - a.low) / (a.high - a.low) * 24, 23)
            bins = bins.astype(int)
            assert found["all"] == np.bincount(bins, minlength=24).tolist()
            for name, rows in (("meeting", meets), ("covered", covers[:, r])):
                expected = [
                    np.bincount(bins[rows & (classes == c)], minlength=24).tolist()
                    for c in range(len(ruleset.classes))
                ]
                assert found[name] == expected


def test_print_has_every_rule_in_words(pages, wine):
    from pypdf import PdfReader

    page = pages.report(*wine)
    printed = PdfReader(BytesIO(page.pdf(format="A4"))).pages
    # Fonts join letters such as "fl", and lines end anywhere.
    joined = normalize("NFKC", " ".join(sheet.extract_text() for sheet in printed))
    text = " ".join(joined.split())
    assert page.inner_text("#opening") in text
    for words in page.locator(".ifs > li > .name").all_inner_texts():
        assert words in text
    # Headings are not split, and the matrix is not clipped.
    assert "Rule If Then Decides Correct" in text
    assert re.search(
        r"decided → .* recall specificity precision Barbera (\d+ ){3}(\d+ % \d+–\d+ ){3}", text
    )


def test_the_overview_can_be_printed_before_it_is_opened(pages):
    learner = AdditiveRulesRegressor(max_rules=3).fit([[i, -i % 7] for i in range(60)], range(60))
    page = pages.report(learner.ruleset_, [[i, -i % 7] for i in range(60)], list(range(60)))
    page.wait_for_function("() => document.querySelectorAll('#overview-view .effect').length > 0")
    assert page.locator("#panel-overview").is_hidden()


def test_important_columns_are_at_the_top_with_their_directions(page, wine):
    ruleset, X, y = wine
    known = {a["name"]: a["importance"] for a in facts(ruleset, X, y)["attributes"]}
    rows = page.locator("#matters tbody tr")
    names = rows.locator("th").all_inner_texts()
    assert len(names) == 5
    assert names == sorted(names, key=lambda name: -known[name])
    assert min(known[name] for name in names) >= sorted(known.values())[-5]
    page.wait_for_function(
        "() => [...document.querySelectorAll('#matters .direction')].some((one) => one.textContent)"
    )
    page.wait_for_timeout(500)
    chosen = X.iloc[[k * len(X) // 60 for k in range(60)]]
    for name, direction in zip(names, rows.locator(".direction").all_inner_texts(), strict=True):
        bounds = {
            bound
            for rule in ruleset
            for one in rule.conditions
            if one.attribute == name
            for bound in (one.support_low, one.core_low, one.core_high, one.support_high)
        }
        low, high = X[name].min(), X[name].max()
        places = {*np.linspace(low, high, 17), *(one for one in bounds if low < one < high)}
        curves = np.array(
            [
                ruleset.predict_proba(chosen.assign(**{name: value})).mean(axis=0)
                for value in sorted(places)
            ]
        )
        if not direction:
            assert np.ptp(curves, axis=0).max() < 0.02
            continue
        label = re.sub("^if higher, more often |: .*$", "", direction)
        along = curves[:, ruleset.classes.index(label)]
        fall, rise = ((np.maximum.accumulate(way * along) - way * along).max() for way in (1, -1))
        turn = max(0.02, 0.1 * np.ptp(along))
        if direction.startswith("if higher"):
            assert label == ruleset.classes[(curves[-1] - curves[0]).argmax()]
            assert rise >= turn > fall
        else:
            assert (rise >= turn) == ("rises" in direction)
            assert fall >= turn


def test_directions_follow_the_whole_curve(pages):
    between = {"a": [(3, 6)], "b": [(-inf, 2), (6, inf)], "c": [(1, 3), (5, 7)], "d": [(5, inf)]}
    rules = [
        Rule((NumericCondition(name, low, low, high, high),), "yes")
        for name, bounds in between.items()
        for low, high in bounds
    ]
    attributes = tuple(Attribute(name, 0, 9) for name in between)
    ruleset = RuleSet((*rules, Rule((), "no", 0.5)), attributes, ("no", "yes"), class_counts=(9, 1))
    X = np.random.default_rng(0).uniform(0, 9, (200, 4))
    page = pages.report(ruleset, X, ruleset.predict(X), viewport=LAPTOP)
    page.wait_for_function(
        "() => [...document.querySelectorAll('#matters .direction')].every((one) => one.textContent)"
    )
    lines = page.locator("#matters tbody tr").all_inner_texts()
    assert dict(line.split("\t")[::2] for line in lines) == {
        "a": "yes: rises, then falls",
        "b": "yes: falls, then rises",
        "c": "yes: mixed",
        "d": "if higher, more often yes",
    }


def test_many_rules_and_columns_fit_on_a_laptop(pages):
    random = np.random.default_rng(0)
    attributes = tuple(Attribute(f"gene {j}", 0, 1) for j in range(200))
    rules = tuple(
        Rule(
            tuple(
                NumericCondition(
                    f"gene {j}", support_low=0.2, core_low=float(random.random() / 2 + 0.3)
                )
                for j in random.choice(30, 3, replace=False)
            ),
            int(random.integers(2)),
        )
        for _ in range(60)
    )
    X = random.random((40, 200))
    page = pages.report(RuleSet(rules, attributes, (0, 1)), X, X[:, 0] > 0.5, viewport=LAPTOP)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    # On a small laptop, six rules of three conditions fit below the head.
    page.set_viewport_size({"width": 1366, "height": 768})
    box = page.locator("#opening").bounding_box()
    assert box["y"] + box["height"] < 240
    assert page.evaluate(IN_SIGHT) >= 6
    assert page.locator(".rule.idle").count() > 0
    assert "nothing" in page.locator(".rule.idle .col-decides").first.inner_text()


def test_sizes_and_stability_are_shown(pages, wine, tmp_path):
    _, X, y = wine
    X, y = X[::3], y[::3]
    learner = AdditiveRulesClassifier().fit(X, y)
    found = stability(learner, X, y, n_resamples=2)
    write_report(learner, tmp_path / "report.html", X, y, stability=found)
    page = pages.open(tmp_path / "report.html", viewport=LAPTOP)
    for r, share in enumerate(found.returns):
        shares = page.inner_text(f"[data-rule='{r + 1}'] .col-returns")
        assert shares == f"{100 * share:.0f} %"
    page.get_by_role("columnheader", name="Returns").get_by_role("button").click()
    assert shown(page)[0] - 1 == int(np.argmax(found.returns))
    page.locator("tr.rule .opener").first.click()
    times = round(2 * max(found.returns))
    assert f"was learned from {times} of 2 resamples" in page.inner_text(".opened-rule")
    page.click("#tab-overview")
    card = page.locator(".card", has=page.get_by_role("heading", name="Size by cross-validation"))
    assert f"Chosen: at most {learner.path_.chosen} rules" in card.inner_text()
    path = learner.path_
    lines = [row.split("\t") for row in card.locator("tbody tr").all_inner_texts()]
    found = zip(path.sizes, path.scores, path.errors, strict=True)
    assert lines == [[str(size), f"{score:.3f}", f"{error:.3f}"] for size, score, error in found]
    assert card.locator(".chosen-size td").first.inner_text() == str(path.chosen)


def test_compared_algorithms_are_in_the_overview(pages, wine):
    ruleset, X, y = wine
    estimate = {
        "measure": "accuracy",
        "score": 0.9,
        "interval": [0.8, 0.95],
        "rows": 89,
        "folds": 5,
        "baseline": {"score": 0.4},
        "leaderboard": [
            {"name": "additive", "score": 0.91, "rules": 6.5},
            {"name": "random forest", "score": 0.95},
            {"name": "broken", "score": None},
        ],
    }
    about = {**ruleset.about, "evaluation": estimate}
    page = pages.report(replace(ruleset, about=about), X[::2], y[::2], viewport=LAPTOP)
    assert page.inner_text("#opening") == (
        "5 rules from 89 rows. On new data about 90 of 100 rows are classified correctly "
        "(80 to 95); majority class: 40."
    )
    page.click("#tab-overview")
    right = f"{100 * (ruleset.predict(X[::2]) == y[::2]).mean():.0f} %"
    card = page.locator(".card", has=page.get_by_role("heading", name="Accuracy"))
    assert card.locator(".figure").inner_text() == "90 %"
    sentence = f"on new data (5-fold cross-validation); {right} on the 89 training rows."
    assert card.locator(".figure + p").inner_text() == sentence
    card = page.locator(".card", has=page.get_by_role("heading", name="Compared algorithms"))
    lines = [row.split("\t") for row in card.locator("tr").all_inner_texts()]
    assert lines == [
        ["Algorithm", "Accuracy", "Rules"],
        ["additive", "0.910", "6.5"],
        ["random forest", "0.950", "–"],
    ]


def test_the_held_out_matrix_comes_first(pages):
    ruleset = RuleSet(
        (Rule((NumericCondition("a", 2, 3),), "yes"), Rule((), "no", 0.5)),
        (Attribute("a", 0, 9),),
        ("no", "yes"),
    )
    # The score is another measure, so that the accuracy is that of the matrix.
    estimate = {"measure": "log loss", "score": 0.4, "interval": [0.3, 0.5], "rows": 50, "folds": 5}
    estimate |= {
        "baseline": {"score": 0.7},
        "confusion": [[0, 0, 30], [0, 1, 2], [1, 0, 6], [1, 1, 12]],
    }
    ruleset = replace(ruleset, about={"evaluation": estimate})
    for rows in ((), ([[1], [2], [8]], ["no", "yes", "yes"])):
        page = pages.report(ruleset, *rows, viewport=LAPTOP)
        page.click("#tab-overview")
        card = page.locator(".card", has=page.get_by_role("heading", name="Accuracy"))
        assert card.locator(".figure").inner_text() == "84 %"
        assert card.locator("dd").first.inner_text() == "80 %"
        card = page.locator(".card", has=page.get_by_role("heading", name="Confusion matrix"))
        assert "Of 50 rows, on new data (5-fold cross-validation)." in card.inner_text()
        tables = card.locator("table").all()
        cells = [row.split()[1:] for row in tables[0].locator("tbody tr").all_inner_texts()]
        shares = [[cell for cell in row if cell != "%" and "–" not in cell] for row in cells]
        assert shares == [["30", "2", "94", "67", "83"], ["6", "12", "67", "94", "86"]]
        assert tables[0].locator("button").count() == 0
        assert len(tables) == 1 + bool(rows)
    card.locator("summary").click()
    tables[1].locator("button").first.click()
    assert page.is_visible("#panel-cases")


def test_results_on_training_rows_are_named_as_such(pages):
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=80), random.integers(0, 3, 80)]).round(2)
    y = np.where(X[:, 0] + random.normal(size=80) > 0, "yes", "no")
    ruleset = RIPPERClassifier().fit(X, y).ruleset_
    for rows, labels, header, basis in (
        (X, y, "Correct (training rows)", "80 training rows; expect lower values on new data."),
        (X[::2], y[::2], "Correct", "40 new rows."),
    ):
        page = pages.report(ruleset, rows, labels, viewport=LAPTOP)
        assert page.locator("th.col-right button").inner_text() == header
        page.click("#tab-overview")
        page.wait_for_selector(".cutoff table")
        for title in ("Cut-off", "Results by subgroup", "Confusion matrix"):
            card = page.locator(".card", has=page.get_by_role("heading", name=title))
            assert f"Computed on the {basis}" in card.inner_text()


def test_rows_that_no_rule_covers_are_one_row_of_the_table(pages):
    rules = tuple(Rule((NumericCondition("a", k, k, k + 3, k + 3),), "xy"[k % 2]) for k in (1, 2))
    ruleset = RuleSet(rules, (Attribute("a", 0, 9),), ("x", "y"))
    X = np.arange(10.0)[:, None]
    page = pages.report(ruleset, X, ruleset.predict(X), viewport=LAPTOP)
    assert page.locator("tr.nobody").count() == 1
    for _ in range(2):
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.locator("tr.rule .opener").first.click()
        page.evaluate("frri.actions.openRule(2)")
    assert page.locator("tr.nobody").count() == 1


# ------------------------------------------------------------------ sizes of text, names and controls

TABS = ("rules", "what-if", "cases", "overview")
PHONE = {"width": 390, "height": 844}
# Elements of visible cards that reach beyond their right edge, except in places that scroll.
STICKING_OUT = """() => [...document.querySelectorAll(".card")].flatMap((card) => {
  const end = card.getBoundingClientRect().right + 1;
  return [...card.querySelectorAll("*")]
    .filter((one) => !one.closest(".scroll, .hidden") && one.getBoundingClientRect().right > end)
    .filter((one) => one.closest("td, th, label") === null)
    .map((one) => `${one.tagName} ${one.textContent.slice(0, 40)}`);
})"""
SMALL_TEXTS = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = new Set();
  while (walk.nextNode()) {
    const [text, parent] = [walk.currentNode.data.trim(), walk.currentNode.parentElement];
    if (!text || !parent.getClientRects().length || parent.closest(".hidden, .print-title, title")) continue;
    const scale = parent.closest("svg") ? parent.getScreenCTM().a : 1;
    const size = scale * parseFloat(getComputedStyle(parent).fontSize);
    if (size < 11.9) small.add(`${text} ${size.toFixed(1)}`);
  }
  return [...small];
}"""
SMALL_TARGETS = """() => [...document.querySelectorAll("button, input, select, summary, .grip")]
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([one, { width, height }]) => width && !one.closest(".hidden") && Math.min(width, height) < 23.5)
  .map(([one, { width, height }]) => `${one.outerHTML.slice(0, 60)} ${width} ${height}`)"""


@pytest.fixture(scope="module")
def long_names():
    random = np.random.default_rng(0)
    long = "a_very_long_name_without_any_end_" * 3
    X = pd.DataFrame(
        random.normal(size=(120, 6)).round(3), columns=[f"{long}{j}" for j in range(6)]
    )
    y = np.where(X.sum(axis=1) > 0, f"high_{long}", f"low_{long}")
    return (
        CompactFRRIClassifier().fit(X, y).ruleset_,
        X,
        y,
        [f"row_{long}{i}"[-50:] for i in range(120)],
    )


def test_long_names_keep_to_their_places(pages, long_names):
    ruleset, X, y, names = long_names
    path = pages.folder / "long.html"
    write_report(ruleset, path, X, y, names=names)
    for size in (PHONE, LAPTOP):
        page = pages.open(path, viewport=size)
        for name in TABS:
            page.click(f"#tab-{name}")
            if name == "rules":
                page.locator("tr.rule .opener").first.click()
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
            assert page.evaluate(STICKING_OUT) == []
        page.click("#tab-overview")
        for one in page.locator(".flow text").all():
            box, frame = (
                one.bounding_box(),
                one.locator("xpath=..").locator("xpath=..").bounding_box(),
            )
            if box:
                assert box["x"] >= frame["x"] - 1
                assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
        page.click("#tab-cases")
        row = page.locator(".cases tbody tr").first
        name, chip = (row.locator(what).first.bounding_box() for what in (".link", ".class"))
        assert name["x"] + name["width"] <= chip["x"] - 4


@pytest.mark.parametrize("size", [PHONE, LAPTOP])
def test_text_is_legible_and_controls_are_large_enough(pages, wine, size):
    page = pages.report(*wine, viewport=size)
    for name in TABS:
        page.click(f"#tab-{name}")
        tab = page.locator(f"#tab-{name}").bounding_box()
        assert tab["x"] + tab["width"] <= size["width"]
        if name == "rules":
            page.locator("tr.rule .opener").first.click()
        assert page.evaluate(SMALL_TEXTS) == []
        if size is PHONE:
            assert page.evaluate(SMALL_TARGETS) == []


def test_print_shows_each_column_head_once(pages, wine):
    page = pages.report(*wine, viewport=LAPTOP)
    page.emulate_media(media="print")
    heads = page.locator(".rules th[data-key]")
    assert heads.count() > 3
    for head in heads.all():
        assert not head.locator("button").is_visible()
        paper = head.locator(".paper")
        assert paper.evaluate("node => node.scrollWidth <= node.clientWidth")


# ------------------------------------------------------------------ addresses and reloads


def test_views_and_rules_have_addresses_to_go_back_to(pages, wine):
    page = pages.report(*wine, viewport=LAPTOP)
    page.click("#tab-overview")
    page.locator(".flow [data-number='2'] text").first.click()
    assert page.url.endswith("#rule-2")
    assert page.is_visible("#rule-2-opened")
    page.click("#tab-cases")
    assert page.url.endswith("#cases")
    page.go_back()
    assert page.is_visible("#panel-rules")
    page.go_back()
    assert page.is_visible("#panel-overview")
    page.go_back()
    assert page.is_visible("#panel-rules")
    assert page.url.endswith(".html")
    page.go_forward()
    assert page.is_visible("#panel-overview")
    other = pages.page()
    other.goto(page.url.split("#")[0] + "#rule-3")
    assert other.is_visible("#rule-3-opened")
    other.goto(page.url.split("#")[0] + "#overview")
    assert other.is_visible("#panel-overview")
    other.click("#tab-rules")
    other.locator("#rule-3-opened").get_by_role("button", name="Copy link").click()
    other.wait_for_function("() => location.hash === '#rule-3'")


def test_a_reload_keeps_edits(pages, wine):
    page = pages.report(*wine, viewport=LAPTOP)
    page.on("dialog", lambda dialog: dialog.accept())
    weight = edit_rule(page, 1).get_by_label("Weight")
    weight.fill("0.5")
    weight.press("Enter")
    page.wait_for_selector("#edit-bar:visible")
    page.click("text=New rule")
    page.wait_for_function("() => frri.store.steps.length === 2")
    remove_rule(page, 3)
    page.evaluate("frri.store.undo()")
    page.evaluate("frri.store.explainStep(0, 'too narrow')")
    look = "() => [frri.store.state.model, frri.store.steps, [...frri.store.state.decided]]"
    before = page.evaluate(look)
    assert len(before[1]) == 3
    page.reload()
    # A change of no rule comes after those that are under way.
    page.evaluate("frri.store.apply(-1, (rule) => rule, '')")
    assert page.evaluate("frri.store.current") == 2
    assert page.evaluate(look) == before
    page.evaluate("frri.store.redo()")
    assert page.evaluate("frri.store.current") == 3
    assert 3 not in page.evaluate("frri.store.state.entries.map(({ number }) => number)")
    page.evaluate("frri.store.goTo(0)")
    page.reload()
    page.evaluate("frri.store.apply(-1, (rule) => rule, '')")
    assert page.evaluate("frri.store.current") == 0
    assert len(page.evaluate("frri.store.steps")) == 3


def test_leaving_with_edits_asks_first_and_undo_returns_to_the_rule(pages, wine):
    page = pages.report(*wine)
    remove_rule(page, 3)
    page.wait_for_selector("#edit-bar:visible")
    assert page.inner_text("#opening").startswith(f"Edited: {len(wine[0]) - 1} rules, as learned")
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.close(run_before_unload=True)
    page.wait_for_timeout(200)
    assert asked == ["beforeunload"]
    page.locator("#edit-bar").get_by_role("button", name="Undo").click()
    assert 3 in shown(page)


# ------------------------------------------------------------------ right-to-left names and numbers

# Pieces of a text in the order of the page, from left to right and line by line.
IN_ORDER = """(node, pieces) => {
  const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const letters = [];
  while (walk.nextNode())
    for (let i = 0; i < walk.currentNode.data.length; i += 1) letters.push([walk.currentNode, i]);
  const text = letters.map(([one, i]) => one.data[i]).join("");
  const range = document.createRange();
  let from = 0;
  const places = pieces.map((piece) => {
    const at = text.indexOf(piece, from);
    from = at + piece.length;
    if (at < 0) throw new Error(`${piece} is not in ${text}`);
    range.setStart(...letters[at]);
    const [last, end] = letters[at + piece.length - 1];
    range.setEnd(last, end + 1);
    const { left, top } = range.getBoundingClientRect();
    return Math.round(top / 8) * 10000 + left;
  });
  return places.every((place, k) => !k || places[k - 1] < place);
}"""


def test_right_to_left_names_do_not_reorder_adjacent_text(pages):
    age, weight, ill, well = "גיל", "عمر", "חולה", "בריא"
    rules = (
        Rule((NumericCondition(age, core_high=-0.52, support_high=-0.1),), ill),
        Rule((NumericCondition(age, core_high=-0.72, support_high=-0.2),), ill),
        Rule((NumericCondition(weight, -3, -0.5),), well, 0.5),
    )
    attributes = (Attribute(age, -3, 3), Attribute(weight, -3, 3))
    ruleset = RuleSet(rules, attributes, (well, ill), target="מצב")
    X = np.column_stack([np.linspace(-3, 3, 40), np.linspace(3, -3, 40)])
    page = pages.report(ruleset, X, ruleset.predict(X), viewport=LAPTOP)
    assert page.locator(".opening").evaluate(IN_ORDER, ["majority class", well, ":", "."])
    words = page.locator("[data-rule='1'] .ifs li").first
    assert words.evaluate(IN_ORDER, [age, "≤", "−0.52", "("])
    page.evaluate("document.getElementById('plain-rules').hidden = false")
    plain = page.locator("#plain-rules li").first
    assert plain.evaluate(IN_ORDER, ["IF", age, "<=", "-0.52", "(", "THEN", ill])
    page.click("#tab-overview")
    flow = page.locator(".flow text", has_text=ill).first
    assert "".join(flow.evaluate("node => node.firstChild.data")).startswith("\u2068")


def test_numbers_have_one_minus_sign(pages):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(200, 3)).round(3), columns=list("abc"))
    y = 10 * X["a"] - 7 * X["b"] + random.normal(size=200)
    ruleset = AdditiveRulesRegressor(max_rules=5).fit(X, y).ruleset_
    page = pages.report(ruleset, X, y, viewport=LAPTOP)
    page.locator("tr.rule .opener").first.click()
    for name in TABS:
        page.click(f"#tab-{name}")
        shown = page.inner_text("#app")
        assert not re.findall(r"(?<![\w-])-\d[\d.]*", shown)
    # Typed numbers can be copied to other programs.
    page.click("#tab-what-if")
    page.fill("#value-0", "−0.25")
    page.press("#value-0", "Enter")
    assert page.get_attribute("#value-0", "aria-invalid") is None
    page.fill("#row-number", str(int(X["a"].argmin()) + 1))
    page.press("#row-number", "Enter")
    assert float(page.input_value("#value-0")) == X["a"].min()

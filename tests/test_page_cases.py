"""Cases, the flow of rows through rules, fewer rules, and edits with their consequences."""

import ast
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from browser_pages import download, settle, violations
from frri import Attribute, FRRIClassifier, NumericCondition, Rule, RuleSet
from frri.learners.registry import LEARNERS
from frri.report import facts, report_html
from frri.report.charts import project_on_plane
from frri.rules import compare
from frri.table import to_matrix


@pytest.fixture(scope="module")
def model(wine):
    """Rules with wrong decisions, contested rows and rows that no rule covers."""
    ruleset, X, y = wine
    random = np.random.default_rng(0)
    rows = (X + random.normal(0, X.std() * 0.6, X.shape)).round(2)
    return ruleset, rows, y


@pytest.fixture(scope="module")
def page(pages, model):
    ruleset, X, y = model
    path = pages.folder / "named.html"
    path.write_text(report_html(ruleset, X, y, names=[f"wine {i}" for i in range(len(X))]))
    return pages.open(path, viewport={"width": 1400, "height": 900})


def listed(page):
    while page.is_visible("text=More rows"):
        page.click("text=More rows")
    return [int(name.split()[1]) for name in page.locator(".cases td .link").all_inner_texts()]


def test_rows_are_filtered_by_what_was_decided(page, model):
    ruleset, X, y = model
    decision, covers = ruleset.decide(X), ruleset.covers(X)
    decided = decision.answers
    says = np.array([rule.consequent for rule in ruleset])
    contested = (covers & (says != decided[:, None])).any(axis=1)
    page.click("#tab-cases")
    assert listed(page) == list(range(len(X)))
    for name, expected in (
        ("wrong", decided != y),
        ("uncovered", ~covers.any(axis=1)),
        ("contested", contested),
    ):
        page.select_option("#case-filter", name)
        assert listed(page) == np.flatnonzero(expected).tolist()
        assert 0 < expected.sum() < len(X)
        assert page.locator(".wrong-row").count() == (expected & (decided != y)).sum()
    page.select_option("#case-filter", "all")
    page.select_option("#case-rule", "2")
    assert listed(page) == np.flatnonzero((decision.deciding == 1) & ~decision.silent).tolist()
    page.click("text=All of them")
    page.select_option("#case-rule", "")


def test_cells_of_the_confusion_matrix_open_their_rows(page, model):
    ruleset, X, y = model
    wrong = np.flatnonzero(ruleset.predict(X) != y)
    truth, decided = y.iloc[wrong[0]], ruleset.predict(X)[wrong[0]]
    page.click("#tab-overview")
    page.get_by_role("button", name=f"{truth} decided as {decided}").click()
    expected = np.flatnonzero((ruleset.predict(X) == decided) & (y == truth))
    assert listed(page) == expected.tolist()
    assert f"{truth} taken for {decided}" in page.inner_text("#cases-view .count")
    page.locator(".cases td .link").first.click()
    assert page.inner_text(".truth").startswith(f"Row wine {expected[0]} is {truth}")
    page.click("#tab-cases")
    page.click("text=All of them")


def test_the_map_shows_the_plane_that_numpy_finds(page, model):
    ruleset, X, _ = model
    plane = project_on_plane(to_matrix(X, ruleset.attributes), ruleset.attributes)
    widths = [attribute.width for attribute in ruleset.attributes]
    scaled = (X - X.mean()).to_numpy() / widths
    _, vectors = np.linalg.eigh(scaled.T @ scaled)
    for k in range(2):
        along = scaled @ vectors[:, -1 - k]
        assert abs(np.corrcoef(along, plane[:, k])[0, 1]) > 1 - 1e-9
    found = json.loads(
        page.evaluate("JSON.stringify(frri.store.rows.plane.map((one) => [...one]))")
    )
    np.testing.assert_allclose(np.array(found).T, plane, atol=5.1e-5)
    page.click("#tab-cases")
    squares = page.locator(".map .dots").evaluate_all(
        "all => all.map((one) => one.getAttribute('d').split('M').length - 1)"
    )
    assert sum(squares) == len(X)
    # At first it shows the two attributes that matter most, on which the rules can be seen.
    used = {name for rule in ruleset for name in rule.attributes}
    first = {page.locator(f"#map-{axis} option:checked").inner_text() for axis in "xy"}
    assert first <= used
    assert page.locator(".map .box.core").count()
    page.select_option("#map-x", label="alcohol")
    page.select_option("#map-y", label="hue")
    uses = [rule for rule in ruleset if {"alcohol", "hue"} & set(rule.attributes)]
    assert page.locator(".map .box.core").count() == len(uses)
    box = page.locator(".map").bounding_box()
    i = int(np.argmax(X["alcohol"]))
    a, b = (next(one for one in ruleset.attributes if one.name == n) for n in ("alcohol", "hue"))
    places = [np.clip((X[one.name][i] - one.low) / one.width, 0, 1) for one in (a, b)]
    unit = box["width"] / 432
    page.locator(".map").click(
        position={"x": (6 + 420 * places[0]) * unit, "y": (6 + 420 * (1 - places[1])) * unit}
    )
    assert page.is_visible("#panel-what-if")


def test_rules_are_merged_as_in_python(page, model):
    ruleset, X, y = model
    roots = ruleset.hierarchy(X, y).to_dict()["roots"]
    page.click("#tab-overview")
    branches = page.locator(".merged > .tree > li")
    assert branches.count() == len(roots)
    for branch, root in zip(branches.all(), roots, strict=True):
        head = branch.locator("summary, div").first
        shown = head.inner_text()
        assert root["text"] in shown
        assert f"{round(root['covered'])} row" in shown
        assert branch.locator("button").count() == len(root["rules"])
        assert not root["children"] or not branch.locator("button").first.is_visible()
    merged = next(k for k, root in enumerate(roots) if root["children"])
    first = branches.nth(merged)
    while not first.locator("button").first.is_visible():
        for one in first.locator("summary:visible").all():
            if one.evaluate("node => !node.parentElement.open"):
                one.click()
    first.locator("button").first.click()
    assert page.is_visible("#panel-rules")


def test_rows_flow_through_the_rules_that_decide_them(page, model):
    ruleset, X, y = model
    decision = ruleset.decide(X)
    wrong = decision.answers != y
    page.click("#tab-overview")
    titles = set(page.locator(".flow path title").all_text_contents())
    expected = {
        f"rule {r + 1}: {own.sum()} row{'s' * int(own.sum() != 1)}, {(own & wrong).sum()} wrong"
        for r in range(len(ruleset))
        if (own := (decision.deciding == r) & ~decision.silent).any()
    }
    silent = decision.silent
    expected.add(f"no rule: {silent.sum()} rows, {(silent & wrong).sum()} wrong")
    assert titles == expected


def test_fewer_rules_are_tried_on_the_curve_and_kept_as_an_edit(pages, model, tmp_path):
    ruleset, X, y = model
    page = pages.report(*model)
    page.click("#tab-overview")
    curve = facts(ruleset, X, y)["curve"]
    for point in curve:
        page.locator("#keep-rules").fill(str(point["n_rules"]))
        page.wait_for_function(
            "n => document.querySelector('.trimmer [role=status]').textContent.startsWith(n + ' rule')"
            " && document.querySelector('.pointer circle')",
            arg=point["n_rules"],
        )
        said = page.inner_text(".trimmer [role=status]")
        assert (
            f"right on {percent(point['accuracy'])}, {percent(point['coverage'])} covered" in said
        )
    page.locator("#keep-rules").fill("2")
    page.click("text=Keep these, remove the others")
    page.wait_for_selector("#edit-bar:visible")
    page.click("#tab-edit")
    kept = download(page, tmp_path)
    assert len(kept) == 2
    assert (kept.predict(X) == y).mean() == curve[2]["accuracy"]


def percent(share):
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 else f"{int(100 * share + 0.5)} %"


def test_bounds_are_dragged_and_consequences_listed(pages, model, tmp_path):
    ruleset, X, y = model
    page = pages.report(*model, viewport={"width": 1400, "height": 900})
    page.click("#tab-edit")
    page.select_option("#edit-rule", "2")
    handle = page.locator(".handle.core").first
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 8, steps=3)
    before = page.inner_text(".history")
    page.mouse.up()
    page.wait_for_selector("#edit-bar:visible")
    assert "Nothing was edited" in before
    page.click("text=Remove rule")
    page.wait_for_function("document.querySelectorAll('.history li').length === 2")
    page.fill("#reason-1", "not plausible")
    page.locator("#reason-1").press("Enter")
    page.fill("#edit-author", "Ada")
    edited = download(page, tmp_path)
    effect = compare(ruleset, edited, X, y)
    aside = page.get_by_role("complementary").inner_text()
    assert f"{effect.corrected} corrected" in aside or not effect.corrected
    assert f"{effect.broken} broken" in aside
    log = edited.about["log"]
    assert [entry["edit"] for entry in log][1] == "Removed rule 2"
    assert log[0]["edit"].startswith("Rule 2: ")
    assert [entry["reason"] for entry in log] == ["", "not plausible"]
    assert {entry["author"] for entry in log} == {"Ada"}
    page.locator(".changed-cases .link").first.click()
    assert page.is_visible("#panel-what-if")
    settle(page)
    page.click("#tab-overview")
    shown = page.locator(".difference").all_inner_texts()
    assert sum(int(text.replace("−", "-")) for text in shown) == 0
    # A page about the downloaded model tells what was done to it, and goes on from there.
    again = RuleSet.from_dict(edited.to_dict()).without_rule(0)
    assert again.about["log"] == log
    other = pages.report(again, X, y)
    other.click("#tab-overview")
    assert "Log: 2 edits" in other.inner_text("#overview-view")


def test_names_must_fit_the_rows(model):
    ruleset, X, y = model
    with pytest.raises(ValueError, match="Expected 178 names, one per row, got 2"):
        facts(ruleset, X, y, names=["a", "b"])
    found = facts(ruleset, X, y, names=range(178), max_rows=20)["data"]
    assert len(found["names"]) == 20


def test_a_plane_needs_two_directions():
    assert (
        project_on_plane(
            np.ones((3, 2)), FRRIClassifier().fit([[0, 1], [1, 0]], [0, 1]).ruleset_.attributes
        )
        is None
    )


# ------------------------------------------------------------------ cut-off of two classes


def two_class_models():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[:, :8], pd.Series(np.where(y, "benign", "malignant"), name="tumor")
    for name in ("additive", "compact", "ripper", "frri"):
        ruleset = LEARNERS[name].make().fit(X[::3], y[::3]).ruleset_
        rows = X[1::2], y[1::2].to_numpy()
        yield name, ruleset, *rows
        if name != "frri":
            yield name, ruleset.with_decision({"malignant": 5}), *rows


def cut_off_figures(truth, called):
    hits, misses = (called & truth).sum(), (~called & truth).sum()
    alarms, rest = (called & ~truth).sum(), (~called & ~truth).sum()
    pairs = {
        "Sensitivity": (hits, hits + misses),
        "Specificity": (rest, rest + alarms),
        "Positive predictive value": (hits, hits + alarms),
        "Negative predictive value": (rest, rest + misses),
        "Accuracy": (hits + rest, len(truth)),
    }
    return [
        [name, percent(count / of) if of else "–", f"{count} of {of}"]
        for name, (count, of) in pairs.items()
    ]


def shown_figures(page):
    rows = page.locator(".cutoff tr")
    return [rows.nth(k).locator("th, td").all_inner_texts() for k in range(rows.count())]


def set_cut_off(page, cut):
    page.locator("#cut-off").evaluate(
        "(node, cut) => { node.value = cut; node.dispatchEvent(new Event('input')); }", cut
    )


@pytest.mark.filterwarnings("ignore")
def test_a_cut_off_has_the_figures_of_python_and_costs_that_keep_it(visit):
    for name, ruleset, X, y in two_class_models():
        page = visit.report(ruleset, X, y)
        page.click("#tab-overview")
        page.wait_for_selector(".cutoff table")
        n_kept = 0
        for position, label in enumerate(ruleset.classes):
            page.select_option("#positive-class", label=label)
            assert shown_figures(page) == cut_off_figures(y == label, ruleset.predict(X) == label)
            assert "This is the cut-off of the model" in page.inner_text(".cutoff")
            equal = ruleset.with_decision("accuracy")
            likely = equal.predict_proba(X)[:, position]
            for cut in (0.07, 0.31, 0.62, 0.93):
                set_cut_off(page, cut)
                called = likely >= cut
                assert shown_figures(page) == cut_off_figures(y == label, called), (name, cut)
                codes = page.locator(".cutoff code").all_inner_texts()
                if not codes:
                    assert "No costs" in page.inner_text(".cutoff")
                    continue
                n_kept += 1
                costs = ast.literal_eval(codes[0].removeprefix("ruleset.with_decision(")[:-1])
                kept = ruleset.with_decision(costs)
                assert ((kept.predict(X) == label) == called).all(), (name, cut, costs)
                given = dict(pair.split("=") for pair in codes[1].split()[1].split(","))
                assert {key: float(cost) for key, cost in given.items()} == costs
        # Costs do not alter what the nearest rule or rules of one class decide.
        assert n_kept >= {"additive": 8, "ripper": 4}.get(name, 0)
        page.click("text=Model's decision")
        assert "This is the cut-off of the model" in page.inner_text(".cutoff")


@pytest.mark.filterwarnings("ignore")
def test_the_cheapest_cut_off_is_that_of_all_cut_offs(visit):
    _, ruleset, X, y = next(two_class_models())
    likely, truth = ruleset.predict_proba(X)[:, 1], y == ruleset.classes[1]
    decided = ruleset.predict(X) == ruleset.classes[1]
    page = visit.report(ruleset, X, y)
    page.click("#tab-overview")
    page.wait_for_selector(".cutoff table")
    for alarm, miss in ((1, 1), (1, 20), (7, 0.5)):

        def cost(cut, alarm=alarm, miss=miss):
            called = decided if cut == 0.5 else likely >= cut
            return (alarm * (called & ~truth).sum() + miss * (~called & truth).sum()) / len(truth)

        page.fill("#cost-false-positive", str(alarm))
        page.fill("#cost-false-negative", str(miss))
        page.click(".cutoff .link")
        cut = float(page.inner_text(".cutoff output"))
        least = min(cost(one) for one in [0.0, *likely])
        assert cost(cut) == pytest.approx(least)
        assert f"mean cost of {least:.3g} per row" in page.inner_text(".cutoff")
        called = decided if cut == 0.5 else likely >= cut
        assert shown_figures(page) == cut_off_figures(truth, called)
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.fill("#cost-false-negative", "")
    assert "Give both costs" in page.inner_text(".cutoff")


def test_only_two_classes_have_a_cut_off(page):
    page.click("#tab-overview")
    assert page.locator(".cutoff").count() == 0


# ------------------------------------------------------------------ classes and subgroups


def test_recall_and_precision_of_each_class_are_those_of_scikit_learn(page, model):
    ruleset, X, y = model
    decided = ruleset.predict(X)
    page.click("#tab-overview")
    rows = page.locator(".confusion tbody tr")
    for k, label in enumerate(ruleset.classes):
        cells = [text.split("\n")[0] for text in rows.nth(k).locator(".recall").all_inner_texts()]
        right = ((decided == label) & (y == label)).sum()
        expected = [percent(right / (y == label).sum()), percent(right / (decided == label).sum())]
        assert [cell[: len(text)] for cell, text in zip(cells, expected, strict=True)] == expected


def subgroup_rows(page):
    rows = page.locator(".subgroups tbody tr")
    return [rows.nth(k).locator("td").all_inner_texts() for k in range(rows.count())]


def test_subgroups_of_a_column_are_measured_and_small_ones_marked(visit):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(size=200).round(2), "sex": random.choice(["f", "m"], 200)})
    X.loc[:9, "sex"] = None
    X["n"] = random.integers(0, 5, 200)
    y = np.where(X["a"] + random.normal(size=200) > 0, "yes", "no")
    rules = (Rule((NumericCondition("a", -0.2, 0.2),), "yes"), Rule((), "no", 0.4))
    attributes = (
        Attribute("a", -4, 4),
        Attribute("sex", categories=("f", "m")),
        Attribute("n", 0, 4),
    )
    ruleset = RuleSet(rules, attributes, ("no", "yes"))
    page = visit.report(ruleset, X, y, viewport={"width": 1400, "height": 900})
    page.click("#tab-overview")
    assert page.locator("#subgroup-column option").all_inner_texts() == ["sex", "n"]
    right = pd.Series(ruleset.predict(X) == y)
    for column, values in (("sex", ["f", "m", "missing"]), ("n", ["0", "1", "2", "3", "4"])):
        page.select_option("#subgroup-column", label=column)
        found = subgroup_rows(page)
        keys = X[column].map(str).where(X[column].notna(), "missing")
        assert [row[0] for row in found] == values
        for name, rows, accuracy, *recalls in found:
            own = keys == name
            assert rows == f"{own.sum()}{' few' if own.sum() < 30 else ''}"
            parts = [own, *(own & (y == label) for label in ruleset.classes)]
            for text, part in zip([accuracy, *recalls], parts, strict=True):
                assert text.startswith(percent(right[part].mean()))
    assert violations(page) == []

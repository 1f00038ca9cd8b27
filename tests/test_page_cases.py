"""The report page: cases, the flow of rows through rules, and effects of edits."""

import ast

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from browser_pages import download, edit_rule, open_history, remove_rule, settle, violations
from frri import Attribute, NumericCondition, Rule, RuleSet
from frri.learners.registry import LEARNERS
from frri.report import facts, report_html
from frri.rules import compare


@pytest.fixture(scope="module")
def model(wine):
    """Return rules with errors, contested rows and uncovered rows."""
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
    decided, covers = ruleset.predict(X), ruleset.covers(X)
    page.click("#tab-cases")
    assert listed(page) == list(range(len(X)))
    for name, expected in (("wrong", decided != y), ("uncovered", ~covers.any(axis=1))):
        page.select_option("#case-filter", name)
        assert listed(page) == np.flatnonzero(expected).tolist()
        assert 0 < expected.sum() < len(X)
        assert page.locator(".wrong-row").count() == (expected & (decided != y)).sum()
    # Cells of the confusion matrix, in words.
    options = page.locator("#case-filter option").all_inner_texts()
    for truth in ruleset.classes:
        for called in set(ruleset.classes) - {truth}:
            rows = np.flatnonzero((y == truth) & (decided == called)).tolist()
            title = f"{truth} called {called} ({len(rows)})"
            assert (title in options) == bool(rows)
            if rows:
                page.select_option("#case-filter", label=title)
                assert listed(page) == rows
    page.select_option("#case-filter", "all")


def test_rows_are_searched_by_name_and_sorted_by_any_column(page, model):
    ruleset, X, _ = model
    page.click("#tab-cases")
    page.fill("#case-search", "WINE 17")
    assert listed(page) == [17, *range(170, 178)]
    page.fill("#case-search", "")
    page.get_by_role("button", name="alcohol").click()
    assert page.evaluate("document.activeElement.textContent").startswith("alcohol")
    assert listed(page) == np.argsort(-X["alcohol"], kind="stable").tolist()
    page.get_by_role("button", name="alcohol (descending)").click()
    assert listed(page) == np.argsort(X["alcohol"], kind="stable").tolist()
    page.get_by_role("button", name="Decided", exact=True).click()
    codes = np.searchsorted(ruleset.classes, ruleset.predict(X))
    assert listed(page) == np.argsort(-codes, kind="stable").tolist()
    page.get_by_role("button", name="Row", exact=True).click()
    assert listed(page) == list(range(len(X)))


def test_cells_of_the_confusion_matrix_open_their_rows(page, model):
    ruleset, X, y = model
    wrong = np.flatnonzero(ruleset.predict(X) != y)
    truth, decided = y.iloc[wrong[0]], ruleset.predict(X)[wrong[0]]
    page.click("#tab-overview")
    page.get_by_role("button", name=f"{truth} decided as {decided}").click()
    expected = np.flatnonzero((ruleset.predict(X) == decided) & (y == truth))
    assert listed(page) == expected.tolist()
    chosen = page.locator("#case-filter option:checked").inner_text()
    assert chosen == f"{truth} called {decided} ({len(expected)})"
    page.locator(".cases td .link").first.click()
    text = page.inner_text(".truth")
    assert text == f"Row wine {expected[0]} is {truth} in the data: the decision is wrong."
    page.click("#tab-cases")
    page.select_option("#case-filter", "all")


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


def percent(share):
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 else f"{int(100 * share + 0.5)} %"


def test_bounds_are_dragged_and_consequences_listed(pages, model, tmp_path):
    ruleset, X, y = model
    page = pages.report(*model, viewport={"width": 1400, "height": 1500})
    opened = edit_rule(page, 2)
    handle = opened.locator(".handle.core").first
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 8, steps=3)
    page.wait_for_selector("#edit-bar:visible")
    # The effect is shown before the bound is released.
    assert page.locator("#edit-bar [role=status]").inner_text().startswith("if you let go")
    assert page.evaluate("frri.store.steps.length") == 0
    page.mouse.up()
    page.wait_for_function("() => frri.store.steps.length === 1")
    remove_rule(page, 2)
    open_history(page)
    page.fill("#reason-1", "not plausible")
    page.locator("#reason-1").press("Enter")
    page.fill("#edit-author", "Ada")
    edited = download(page, tmp_path)
    effect = compare(ruleset, edited, X, y)
    listed = page.inner_text("#history")
    assert f"{effect.corrected} corrected" in listed or not effect.corrected
    assert f"{effect.broken} broken" in listed
    log = edited.about["log"]
    assert [entry["edit"] for entry in log][1] == "Removed rule 2"
    assert log[0]["edit"].startswith("Rule 2: ")
    assert [entry["reason"] for entry in log] == ["", "not plausible"]
    assert {entry["author"] for entry in log} == {"Ada"}
    page.locator(".changed-rows .link").first.click()
    assert page.is_visible("#panel-what-if")
    settle(page)
    page.click("#tab-overview")
    shown = page.locator(".difference").all_inner_texts()
    assert sum(int(text.replace("−", "-")) for text in shown) == 0
    # A page of the downloaded model shows its history of edits, and continues it.
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


def cut_off_measures(truth, called):
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


def shown_measures(page):
    return page.locator(".cutoff tr").evaluate_all(
        "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText))"
    )


def set_cut_off(page, cut):
    page.locator("#cut-off").evaluate(
        "(node, cut) => { node.value = cut; node.dispatchEvent(new Event('input')); }", cut
    )


@pytest.mark.filterwarnings("ignore")
def test_a_cut_off_has_the_measures_of_python_and_costs_that_keep_it(visit):
    for name, ruleset, X, y in two_class_models():
        page = visit.report(ruleset, X, y)
        page.click("#tab-overview")
        page.wait_for_selector(".cutoff table")
        n_kept = 0
        for position, label in enumerate(ruleset.classes):
            page.select_option("#positive-class", label=label)
            assert shown_measures(page) == cut_off_measures(y == label, ruleset.predict(X) == label)
            assert "This is the cut-off of the model" in page.inner_text(".cutoff")
            equal = ruleset.with_decision("accuracy")
            likely = equal.predict_proba(X)[:, position]
            for cut in (0.07, 0.31, 0.62, 0.93):
                set_cut_off(page, cut)
                called = likely >= cut
                assert shown_measures(page) == cut_off_measures(y == label, called), (name, cut)
                codes = page.locator(".cutoff code").all_inner_texts()
                if not codes:
                    assert "No costs" in page.inner_text(".cutoff")
                    continue
                n_kept += 1
                costs = ast.literal_eval(codes[0].removeprefix("ruleset.with_decision(")[:-1])
                kept = ruleset.with_decision(costs)
                assert ((kept.predict(X) == label) == called).all(), (name, cut, costs)
        # Costs do not change predictions by the nearest rule or by rules of one class.
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
        assert shown_measures(page) == cut_off_measures(truth, called)
    assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.fill("#cost-false-negative", "")
    assert "Give both costs" in page.inner_text(".cutoff")


def test_only_two_classes_have_a_cut_off(page):
    page.click("#tab-overview")
    assert page.locator(".cutoff").count() == 0


# ------------------------------------------------------------------ classes and subgroups


def test_recall_specificity_and_precision_of_each_class_are_counted(page, model):
    ruleset, X, y = model
    decided = ruleset.predict(X)
    page.click("#tab-overview")
    rows = page.locator(".confusion tbody tr")
    for k, label in enumerate(ruleset.classes):
        cells = [text.split("\n")[0] for text in rows.nth(k).locator(".recall").all_inner_texts()]
        own = y == label
        shares = (decided[own] == label).mean(), (decided[~own] != label).mean()
        expected = [percent(share) for share in (*shares, own[decided == label].mean())]
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

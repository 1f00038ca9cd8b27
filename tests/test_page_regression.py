"""The page of rules that predict numbers: what it shows is what Python predicts and measures."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

from browser_pages import download, figure, settle, shown, violations
from frri import (
    AdditiveRulesRegressor,
    Attribute,
    FRRIRegressor,
    NominalCondition,
    NumericCondition,
    Rule,
    RuleSet,
)
from frri.cli import main
from frri.report import facts, report_html
from frri.report.charts import find_levels
from frri.rules.conformal import half_width
from frri.rules.contributions import (
    compute_mean_fractions,
    find_largest_contributor,
    permutation_importance,
)
from frri.rules.measures import measure_regression
from frri.table import to_matrix

# A third of the rows is enough to tell numbers apart, and learned in a tenth of the time.
X, Y = (
    table[::3].reset_index(drop=True) for table in load_diabetes(return_X_y=True, as_frame=True)
)
SHOW = Attribute("target", Y.min(), Y.max()).show
PHONE = {"width": 390, "height": 844}


@pytest.fixture(
    scope="module",
    params=[AdditiveRulesRegressor(calibration_fraction=0.25), FRRIRegressor(tau=2.0)],
    ids=["added", "mean"],
)
def shown_model(request, pages):
    """A model and its page, opened once."""
    ruleset = request.param.fit(X, Y).ruleset_
    return ruleset, pages.report(ruleset, X, Y)


def number(text):
    return float(text.replace("−", "-"))


def said_by(ruleset):
    if ruleset.semantics.meaning.adds:
        return [rule.weight * rule.consequent for rule in ruleset]
    return [rule.consequent for rule in ruleset]


def test_the_head_says_how_far_off_it_is(shown_model):
    ruleset, page = shown_model
    found = SimpleNamespace(**measure_regression(Y.to_numpy(), ruleset.predict(X)))
    assert page.inner_text("#opening") == (
        f"{len(ruleset)} rules, off by {SHOW(found.mae)} on average on {len(X)} given rows (R2 {found.r2:.2f}); "
        f"always answering the mean {SHOW(found.mean)}: off by {SHOW(found.mean_mae)}. "
        "If the rules were learned from these rows, others will be predicted less well."
    )
    assert page.inner_text("[data-figure='off by'] .big") == SHOW(found.mae)
    carrying = find_largest_contributor(ruleset, to_matrix(X, ruleset.attributes))
    strands = page.locator("#glance .flow path title").all_text_contents()
    drawn = {int(one.split()[1][:-1]): int(one.split()[2]) for one in strands if one[:5] == "rule "}
    assert len(drawn) >= min(6, len(set(carrying.tolist()) - {-1}))
    assert all((carrying == r - 1).sum() == rows for r, rows in drawn.items())
    assert page.locator("[role=tab]").all_inner_texts() == [
        "Rules",
        "What-if",
        "Cases",
        "Overview",
        "Edit",
    ]


def test_the_matrix_is_ordered_by_rows_carried_or_by_what_rules_say(shown_model):
    ruleset, page = shown_model
    page.click("#tab-rules")
    carrying = find_largest_contributor(ruleset, to_matrix(X, ruleset.attributes))
    carried = np.array([(carrying == r).sum() for r in range(len(ruleset))])
    assert shown(page) == (np.argsort(-carried, kind="stable") + 1).tolist()
    assert page.locator(".nobody").count() == int((carrying < 0).any())
    page.click("th.col-then button")
    said = said_by(ruleset)
    size = np.abs(said) if ruleset.semantics.meaning.adds else np.array(said)
    assert shown(page) == (np.argsort(-size, kind="stable") + 1).tolist()
    sign = "+" if ruleset.semantics.meaning.adds else ""
    edges = facts(ruleset)["numbers"]["said"] if sign else np.quantile(Y, [0.2, 0.4, 0.6, 0.8])
    for r, level in enumerate(find_levels(np.array(said), list(edges))):
        row = page.locator(f"[data-rule='{r + 1}']")
        shortly = f"{'+' if sign and said[r] >= 0 else ''}{SHOW(said[r])}"
        expected = shortly.replace("-", "−")
        assert row.locator(".col-then").inner_text() == expected
        covers = ruleset.covers(X)[:, r].mean()
        assert abs(number(row.locator(".col-coverage").inner_text()[:-2]) - 100 * covers) < 0.51
        assert row.locator(f".range .c-{level}").count() >= 1
    page.click("[data-rule='1'] .opener")
    opened = page.locator("#rule-1-opened")
    # As in the column of what rules say.
    shortly = page.locator("[data-rule='1'] .col-then").inner_text()
    sentence = opened.locator(".sentence").inner_text()
    assert sentence.endswith(f"target {'' if sign else 'is '}{shortly}.")
    covered = Y[ruleset.covers(X)[:, 0]]
    assert f"are {SHOW(covered.mean())} on average" in opened.inner_text()
    assert violations(page) == []


def test_what_if_predicts_and_explains_as_python_does(shown_model):
    ruleset, page = shown_model
    page.click("#tab-what-if")
    answers = ruleset.predict(X)
    for i in (0, 17, 123):
        page.fill("#row-number", str(i + 1))
        page.press("#row-number", "Enter")
        assert page.inner_text(".decision") == SHOW(answers[i])
        assert page.inner_text(".truth").startswith(f"Row {i + 1} is {SHOW(Y[i])} in the data")
    settle(page)
    if ruleset.semantics.meaning.adds:
        reach = half_width(ruleset, 0.9)
        ends = f"{SHOW(answers[i] - reach)} to {SHOW(answers[i] + reach)}"
        assert page.inner_text(".interval-text") == f"90 % interval: {ends}".replace("-", "−")
        steps = page.locator(".waterfall .number").all_inner_texts()
        assert (steps[0], steps[-1]) == (SHOW(ruleset.base[0]), SHOW(answers[i]))
        total = sum(number(step) for step in steps[:-1])
        assert total == pytest.approx(answers[i], abs=0.05 * len(steps))
    else:
        assert page.inner_text(".interval-text") == ""
        shares = compute_mean_fractions(ruleset, to_matrix(X.iloc[[i]], ruleset.attributes))[0]
        listed = page.locator(".shares li").all_inner_texts()
        assert len(listed) == (shares > 0).sum()
        for text in listed:
            r, share, said = re.match(r"rule (\d+)\s+([\d.]+) %\s+of (.+)", text).groups()
            assert float(share) == pytest.approx(100 * shares[int(r) - 1], abs=0.51)
            assert said == SHOW(ruleset[int(r) - 1].consequent)
    # The curve of an attribute, at its lowest and highest point.
    name, low, at, high, there = re.match(
        r"(\w+): (\S+) at (\S+) to (\S+) at (\S+)", page.inner_text(".reach li >> nth=0")
    ).groups()
    trials = pd.concat([X.iloc[[i]]] * 2)
    trials[name] = [number(at), number(there)]
    assert ruleset.predict(trials) == pytest.approx([number(low), number(high)], abs=0.2)
    page.click("text=Pin this case")
    page.click("text=The one off by most")
    worst = int(np.abs(answers - Y).argmax())
    assert page.input_value("#row-number") == str(worst + 1)
    pinned = page.locator(".pins tbody tr").first.locator("td").all_inner_texts()
    assert pinned == [SHOW(answers[i]), SHOW(answers[worst])]
    settle(page)
    assert violations(page) == []


def test_cases_are_ordered_by_how_far_off_they_are(shown_model):
    ruleset, page = shown_model
    page.click("#tab-cases")
    errors = ruleset.predict(X) - Y.to_numpy()
    first = page.locator("#cases-view tbody tr").first.locator("td").all_inner_texts()
    worst = int(np.abs(errors).argmax())
    assert first[0] == str(worst + 1)
    assert first[1:3] == [SHOW(Y[worst]), SHOW(Y[worst] + errors[worst])]
    assert number(first[3]) == pytest.approx(errors[worst], abs=0.051)
    for filtered, rows in (("high", errors > 0), ("low", errors < 0), ("all", errors > -np.inf)):
        page.select_option("#case-filter", filtered)
        assert page.inner_text("#cases-view .count").split()[0] == str(rows.sum())
    page.select_option("#case-filter", "uncovered")
    uncovered = (~ruleset.covers(X).any(axis=1)).sum()
    assert page.inner_text("#cases-view .count") == f"{uncovered} of {len(X)} rows"
    page.select_option("#case-filter", "far")
    page.locator("#cases-view tbody button").first.click()
    assert page.input_value("#row-number") == str(worst + 1)
    if ruleset.semantics.meaning.adds:  # the view is the same for both
        page.click("#tab-cases")
        assert violations(page) == []


def test_the_overview_has_the_measures_and_fits_a_phone_in_the_dark(shown_model):
    ruleset, page = shown_model
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    page.click("#tab-overview")
    found = SimpleNamespace(**measure_regression(Y.to_numpy(), ruleset.predict(X)))
    told = dict(
        zip(
            *(page.locator(f".errors {part}").all_inner_texts() for part in ("dt", "dd")),
            strict=True,
        )
    )
    low, high = found.r2_interval
    assert told["R2"] == f"{found.r2:.2f}, 95 % interval {low:.2f} to {high:.2f}"
    low, high = map(SHOW, found.rmse_interval)
    assert told["Root mean squared error"] == f"{SHOW(found.rmse)}, 95 % interval {low} to {high}"
    squares = page.locator("#overview-view .scatter .dots").evaluate_all(
        "all => all.map(e => e.getAttribute('d'))"
    )
    assert sum(path.count("M") for path in squares) == len(X)
    for name in ("rules", "what-if", "cases", "overview", "edit"):
        page.click(f"#tab-{name}")
        if name == "rules":
            page.click("#glance-title")  # folded, as on a phone that opens the page
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        text = page.inner_text("main")
        assert "undefined" not in text
        assert "NaN" not in text
    assert violations(page) == []
    page.emulate_media(media="print")
    assert page.locator("#panel-rules").is_visible()
    assert page.locator("#panel-overview").is_visible()


def test_edits_are_measured_listed_logged_and_undone(shown_model, tmp_path):
    ruleset, page = shown_model
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size({"width": 1400, "height": 900})
    as_learned, before = page.inner_text("#opening"), ruleset.predict(X)
    page.click("#tab-edit")

    def check():
        page.wait_for_selector("body:not([aria-busy])")
        edited = download(page, tmp_path)
        answers = edited.predict(X)
        found = SimpleNamespace(**measure_regression(Y.to_numpy(), answers))
        assert figure(page, "Off by") == SHOW(found.mae)
        assert figure(page, "Root mean squared error") == SHOW(found.rmse)
        assert f"off by {SHOW(found.mae)} on average (was" in page.inner_text("#opening")
        gained = np.abs(before - Y) - np.abs(answers - Y)
        lists = {"nearer": gained > 1e-7, "farther": gained < -1e-7}
        for name, rows in lists.items():
            if rows.any():
                assert page.inner_text(f".changed-{name}") == f"{rows.sum()} {name}"
        assert "intervals" not in edited.about
        return edited

    page.fill("#edit-number", "12.5")
    page.press("#edit-number", "Enter")
    edited = check()
    assert said_by(edited)[0] == pytest.approx(12.5)
    assert edited.rules[1:] == ruleset.rules[1:]
    for label in ("holds from", "holds to"):
        field = page.get_by_label(label).first
        if field.input_value():
            break
    field.fill("0.01" if label == "holds to" else "-0.01")
    field.press("Enter")
    page.fill("#reason-0", "a guess")
    page.press("#reason-0", "Enter")
    edited = check()
    assert edited[0].conditions[0] != ruleset[0].conditions[0]
    assert [entry["reason"] for entry in edited.about["log"]] == ["a guess", ""]
    page.click("#tab-rules")
    carrying = find_largest_contributor(edited, to_matrix(X, edited.attributes))
    for r in range(len(edited)):
        carried = page.inner_text(f"[data-rule='{r + 1}'] .col-decides")
        assert carried == str((carrying == r).sum())
    page.click("#tab-what-if")
    settle(page)
    assert page.inner_text(".interval-text") == ""
    page.click("#tab-overview")
    quality = measure_regression(Y.to_numpy(), edited.predict(X))
    assert page.inner_text(".errors .figure") == SHOW(quality["mae"])
    page.click("#tab-cases")
    page.select_option("#case-filter", "high")
    high = (edited.predict(X) > Y).sum()
    assert page.inner_text("#cases-view .count").split()[0] == str(high)
    page.click("#tab-edit")
    page.click("text=New rule")
    page.wait_for_selector("body:not([aria-busy])")
    assert page.evaluate("document.activeElement.id") == "edit-number"
    assert len(check()) == len(ruleset) + 1
    if ruleset.semantics.meaning.adds:
        assert violations(page) == []
    page.get_by_role("button", name="Undo all").click()
    assert page.inner_text("#opening") == as_learned
    assert download(page, tmp_path) == ruleset


MIXED = RuleSet(
    (
        Rule((NumericCondition("a", 1, 2),), 4.0),
        Rule((NominalCondition("b", frozenset({"q"})),), -2.0, 0.5),
    ),
    (Attribute("a", 0, 9), Attribute("b", categories=("p", "q"))),
    semantics="added-contributions",
    base=(10,),
)
ROWS = pd.DataFrame({"a": [0.0, 3.0, np.nan], "b": ["q", "p", "q"]})


def test_categories_gaps_and_rows_without_numbers(pages):
    # A file may say anything about intervals.
    page = pages.report(replace(MIXED, about={"intervals": {"half_widths": [3, ["x", 1]]}}), ROWS)
    assert (
        page.inner_text("#opening")
        == "2 rules; how good they are can be told with rows whose number is known."
    )
    page.click("#tab-cases")
    assert page.locator("#cases-view tbody td:nth-child(2)").all_inner_texts() == ["9", "14", "9"]
    page.click("#tab-what-if")
    settle(page)
    assert page.inner_text(".interval-text") == ""
    assert page.inner_text(".reach li >> nth=0") == "a: 9 at 0 to 13 at 2"
    assert page.inner_text(".reach li >> nth=1") == "b: 9 at q to 10 at p"
    page.click("#tab-overview")
    assert "Unknown: give the report rows whose number is known" in page.inner_text("main")


def test_facts_of_numbers_are_checked_and_measured():
    truth = [9.0, 15.0, 9.5]
    known = facts(MIXED, ROWS, truth)
    assert known["performance"]["mae"] == pytest.approx(0.5)
    assert known["coloured"] == [0, 1, 2, 3, 4]
    counts = np.array(known["attributes"][1]["histogram"]["counts"])
    assert counts.sum(axis=0).tolist() == [1, 2]
    assert known["attributes"][0]["importance"] > known["attributes"][1]["importance"]
    # A constant number has no R squared to lose.
    assert {one.drop for one in permutation_importance(MIXED, ROWS, np.ones(3))} == {0.0}
    with pytest.raises(ValueError, match="Expected 3 numbers, one per row, got 2"):
        facts(MIXED, ROWS, truth[:2])
    with pytest.raises(ValueError, match="holds 'many' in row 1, which is not a number"):
        facts(MIXED, ROWS, ["many", 1, 2])
    empty = RuleSet((), MIXED.attributes, semantics="weighted-mean", base=(3,))
    assert facts(empty, ROWS, truth)["performance"]["mean"] == pytest.approx(np.mean(truth))
    assert "0 rules; how good" in report_html(empty)


def test_from_a_table_of_numbers_to_its_page(tmp_path, capsys):
    table, model, page = (tmp_path / name for name in ("t.csv", "m.json", "r.html"))
    X.assign(progression=Y).head(120).to_csv(table, index=False)
    learn = [
        "fit",
        table,
        "--target",
        "progression",
        "--task",
        "regression",
        "--learner",
        "additive",
    ]
    assert main([*map(str, learn), "-o", str(model)]) == 0
    assert main(["report", str(model), str(table), "-o", str(page)]) == 0
    assert "Wrote" in capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    assert re.search(r"On held-out rows: R2 0\.\d\d .* 120 rows\), off by [\d.]+ on average;", text)
    assert "on average on 120 given rows" not in text

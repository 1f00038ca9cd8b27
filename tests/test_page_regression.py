"""The report page of regression: equal predictions and measures in Python."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

from browser_pages import download, edit_rule, figure, open_history, settle, shown, violations
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
from frri.rules.conformal import half_width
from frri.rules.contributions import compute_mean_fractions, permutation_importance
from frri.rules.measures import measure_regression
from frri.table import to_matrix
from test_page_whatif import NEAREST

# A third of the rows is enough, and takes a tenth of the time.
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
    """Return a model and its page, opened once."""
    ruleset = request.param.fit(X, Y).ruleset_
    return ruleset, pages.report(ruleset, X, Y)


def number_of(text):
    return float(text.replace("−", "-"))


def consequents_of(ruleset):
    if ruleset.semantics.meaning.adds:
        return [rule.weight * rule.consequent for rule in ruleset]
    return [rule.consequent for rule in ruleset]


def test_the_head_has_the_error(shown_model):
    ruleset, page = shown_model
    found = SimpleNamespace(**measure_regression(Y.to_numpy(), ruleset.predict(X)))
    assert page.inner_text("#opening") == (
        f"{len(ruleset)} rules from {ruleset.about['rows']} rows. On the {len(X)} new rows the mean absolute "
        f"error is {SHOW(found.mae)} (R² {found.r2:.2f}); predicting the mean {SHOW(found.mean)}: "
        f"{SHOW(found.mean_mae)}."
        if ruleset.semantics.meaning.adds
        else f"{len(ruleset)} rules from {ruleset.about['rows']} rows. Accuracy on new data is unknown: "
        "these are the training rows, whose results are in Overview."
    )
    page.click("#tab-overview")
    whose = "new" if ruleset.semantics.meaning.adds else "training"
    assert f"mean absolute error on {len(X)} {whose} rows" in page.inner_text(".errors")
    assert page.locator("[role=tab]").all_inner_texts() == ["Rules", "What-if", "Cases", "Overview"]


def test_the_held_out_error_comes_first(pages):
    ruleset = FRRIRegressor(tau=2.0).fit(X, Y).ruleset_
    estimate = {"measure": "R2", "score": 0.4, "interval": [0.3, 0.5], "rows": 148, "folds": 5}
    estimate |= {"error": 51.5, "baseline": {"score": 0.0, "error": 66.0}}
    page = pages.report(replace(ruleset, about={**ruleset.about, "evaluation": estimate}), X, Y)
    page.click("#tab-overview")
    assert page.inner_text(".errors .figure") == "51.5"
    mae = SHOW(np.abs(ruleset.predict(X) - Y).mean())
    text = page.inner_text(".errors")
    basis = f"on new data (5-fold cross-validation); {mae} on {len(X)} training rows;"
    assert f"mean absolute error {basis}" in text
    assert f"Computed on the {len(X)} training rows; expect larger errors on new data." in text


def test_rules_are_ordered_by_their_consequents(shown_model):
    ruleset, page = shown_model
    page.click("#tab-rules")
    assert shown(page) == list(range(1, min(len(ruleset), 20) + 1))
    if ruleset.semantics.meaning.adds:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        base = SHOW(ruleset.base[0]).replace("-", "−")
        assert page.inner_text(".rules tbody tr:last-child") == f"Base: {base}"
        assert page.inner_text("th.col-then button") == f"Adds to {ruleset.target}"
    page.click("th.col-then button")
    consequents = consequents_of(ruleset)
    order = (np.argsort(-np.array(consequents), kind="stable") + 1).tolist()
    assert shown(page) == order[: len(shown(page))]
    sign = "+" if ruleset.semantics.meaning.adds else ""
    edges = facts(ruleset)["numbers"]["said"] if sign else np.quantile(Y, [0.2, 0.4, 0.6, 0.8])
    levels = np.searchsorted(edges, consequents, side="right")
    for number in shown(page):
        r = number - 1
        row = page.locator(f"[data-rule='{number}']")
        shortly = f"{'+' if sign and consequents[r] >= 0 else ''}{SHOW(consequents[r])}"
        assert row.locator(".col-then").inner_text() == shortly.replace("-", "−")
        covers = ruleset.covers(X)[:, r].mean()
        assert abs(number_of(row.locator(".col-coverage").inner_text()[:-2]) - 100 * covers) < 0.51
        assert row.locator(f".range .c-{levels[r]}").count() >= 1
    page.select_option("#order", label="by number")
    page.click("[data-rule='1'] .opener")
    opened = page.locator("#rule-1-opened")
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
        assert page.inner_text(".sure") == f"90 % interval: {ends}".replace("-", "−")
        # Contributions of columns, each with the value of the row.
        degrees = ruleset.decide(X.iloc[[i]]).degrees[0]
        parts = {}
        for rule, degree, consequent in zip(ruleset, degrees, consequents_of(ruleset), strict=True):
            key = tuple(sorted(set(rule.attributes)))
            parts[key] = parts.get(key, 0.0) + degree * consequent
        parts = {key: part for key, part in parts.items() if part}
        lines = page.locator(".contributions li").all_inner_texts()
        assert lines[0].split()[-1] == SHOW(ruleset.base[0])
        assert lines[-1].split()[-1] == SHOW(answers[i])
        listed = [number_of(line.split()[-1]) for line in lines[1:-1]]
        expected = sorted(parts.values(), key=lambda part: -abs(part))
        if len(expected) > 10:
            expected = [*expected[:10], sum(expected[10:])]
        assert listed == pytest.approx(expected, abs=0.06)
        (first,) = (key for key, part in parts.items() if part == expected[0])
        assert all(f"{name} = " in lines[1] for name in first)
    else:
        assert page.inner_text(".sure") == ""
        shares = compute_mean_fractions(ruleset, to_matrix(X.iloc[[i]], ruleset.attributes))[0]
        listed = page.locator(".reason .fired").all_inner_texts()
        assert len(listed) == min((shares > 0).sum(), 12)
        for text in listed:
            r, fraction, consequent = re.search(
                r"Rule (\d+)\s.*?([\d.]+) % of (\S+)", text, re.DOTALL
            ).groups()
            assert float(fraction) == pytest.approx(100 * shares[int(r) - 1], abs=0.51)
            assert consequent == SHOW(ruleset[int(r) - 1].consequent)
    # Below each column: the change of the prediction by this column alone.
    for j, name in enumerate(X.columns):
        if name not in ruleset.used_attributes:
            continue
        grid = np.linspace(X[name].min(), X[name].max(), 200)
        along = ruleset.predict(pd.concat([X.iloc[[i]]] * 200).assign(**{name: grid}))
        effect = page.locator(".value", has=page.locator(f"#value-{j}")).locator(".reach")
        if np.ptp(along) < 1e-9:
            assert effect.inner_text() == "no effect here"
        else:
            low, high = re.match(r"Prediction (\S+) to (\S+)", effect.inner_text()).groups()
            expected = [along.min(), along.max()]
            assert [number_of(low), number_of(high)] == pytest.approx(expected, abs=1.5)
    assert violations(page) == []


def test_changes_that_reach_a_target_are_those_of_python(shown_model):
    ruleset, page = shown_model
    answers, names, n_found = ruleset.predict(X), list(X.columns), 0
    rows = [0, 17, 123]
    for side, value in (("at_least", 150.0), ("at_most", 120.0)):
        goal = [side.replace("_", " "), value]
        found = page.evaluate(NEAREST, [rows, [0], goal])
        for i, nearest in zip(rows, found, strict=True):
            if (answers[i] >= value) == (side == "at_least"):
                continue
            own = {side: value, "unchangeable": "age", "effort": 2_000}
            change = ruleset.explain(X.iloc[i], **own).change
            if change is None or len(change.changes) > 2:
                assert nearest is None
                continue
            n_found += 1
            assert nearest["prediction"] == pytest.approx(ruleset.predict([nearest["values"]])[0])
            reached = nearest["prediction"] - value
            assert (reached >= 0) if side == "at_least" else (reached <= 0)
            assert len(nearest["changed"]) == len(change.changes)
            # The searches of two columns, on the page and in Python, need not find the minimum.
            assert nearest["cost"] <= change.cost * 1.01
            assert nearest["cost"] >= change.bound - 1e-9
            if len(change.changes) == 1:
                (only,) = change.changes
                assert change.proved
                assert nearest["changed"] == [names.index(only.attribute)]
                assert nearest["values"][nearest["changed"][0]] == only.after
    assert n_found > 2


def test_a_target_is_asked_for_and_reached(shown_model):
    ruleset, page = shown_model
    page.click("#tab-what-if")
    row = int(np.argmax(ruleset.predict(X)))
    answer = ruleset.predict(X)[row]
    page.evaluate(f"frri.actions.tryRow({row})")
    settle(page)
    # The next quintile towards the median, until another number is entered.
    assert page.input_value("#target-side") == "at most"
    assert page.input_value("#target") == SHOW(np.quantile(Y, 0.8))
    assert 1 <= page.locator(".changes li").count() <= 2
    page.fill("#target", str(answer + 1))
    settle(page)
    assert page.inner_text(".change") == f"It is at most {SHOW(answer + 1)} already."
    page.fill("#target", "much")
    assert page.get_attribute("#target", "aria-invalid") == "true"
    settle(page)
    assert page.inner_text(".change") == "Give a number to reach."
    page.fill("#target", f"{answer - 5:.3f}")
    settle(page)
    page.locator(".changes button").first.click()
    settle(page)
    assert number_of(page.inner_text(".decision")) <= answer - 4.9
    assert page.inner_text(".change").endswith("already.")
    page.fill("#target", "")
    page.locator("#target").blur()


def test_a_side_that_is_chosen_first_stays(shown_model):
    ruleset, page = shown_model
    page.reload()
    page.click("#tab-what-if")
    answers = ruleset.predict(X)
    row = int(np.argsort(answers)[len(answers) // 4])  # in the second fifth
    page.evaluate(f"frri.actions.tryRow({row})")
    settle(page)
    assert page.input_value("#target-side") == "at least"
    page.select_option("#target-side", "at most")
    settle(page)
    assert page.input_value("#target-side") == "at most"
    assert page.input_value("#target") == SHOW(np.quantile(Y, 0.2))
    page.fill("#target", f"{answers[row] - 1:.3f}")
    settle(page)
    assert page.input_value("#target-side") == "at most"
    assert page.locator(".changes li").count() >= 1


def test_cases_are_ordered_by_their_errors(shown_model):
    ruleset, page = shown_model
    page.click("#tab-cases")
    errors = ruleset.predict(X) - Y.to_numpy()
    first = page.locator("#cases-view tbody tr").first.locator("td").all_inner_texts()
    worst = int(np.abs(errors).argmax())
    assert first[0] == str(worst + 1)
    assert first[1:3] == [SHOW(Y[worst]), SHOW(Y[worst] + errors[worst])]
    assert number_of(first[3]) == pytest.approx(errors[worst], abs=0.051)
    for filtered, rows in (("high", errors > 0), ("low", errors < 0), ("all", errors > -np.inf)):
        page.select_option("#case-filter", filtered)
        assert page.inner_text("#cases-view .count").split()[0] == str(rows.sum())
    page.select_option("#case-filter", "uncovered")
    uncovered = (~ruleset.covers(X).any(axis=1)).sum()
    assert page.inner_text("#cases-view .count") == f"{uncovered} of {len(X)} rows"
    page.select_option("#case-filter", "all")
    page.locator("#cases-view tbody button").first.click()
    assert page.input_value("#row-number") == str(worst + 1)
    if ruleset.semantics.meaning.adds:  # the view is the same for both
        page.click("#tab-cases")
        assert violations(page) == []


def test_effects_of_columns_are_means_over_rows(shown_model):
    ruleset, page = shown_model
    page.click("#tab-overview")
    page.wait_for_selector(f".effect >> nth={min(6, len(ruleset.used_attributes)) - 1}")
    chosen = X.iloc[[k * len(X) // 60 for k in range(60)]]
    for label in page.locator(".effect").evaluate_all("all => all.map(e => e.ariaLabel)"):
        name, low, high = re.match(r"(\w+): between (\S+) and (\S+)", label).groups()
        grid = np.linspace(X[name].min(), X[name].max(), 25)
        means = [ruleset.predict(chosen.assign(**{name: value})).mean() for value in grid]
        expected = [number_of(low), number_of(high)]
        assert [min(means), max(means)] == pytest.approx(expected, abs=0.06)


def test_the_overview_has_the_measures_and_fits_a_phone_in_the_dark(shown_model):
    ruleset, page = shown_model
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    page.click("#tab-overview")
    found = SimpleNamespace(**measure_regression(Y.to_numpy(), ruleset.predict(X)))
    measures = dict(
        zip(
            *(page.locator(f".errors {part}").all_inner_texts() for part in ("dt", "dd")),
            strict=True,
        )
    )
    low, high = found.r2_interval
    assert measures["R²"] == f"{found.r2:.2f}, 95 % interval {low:.2f} to {high:.2f}"
    low, high = map(SHOW, found.rmse_interval)
    assert (
        measures["Root mean squared error"] == f"{SHOW(found.rmse)}, 95 % interval {low} to {high}"
    )
    squares = page.locator("#overview-view .scatter .dots").evaluate_all(
        "all => all.map(e => e.getAttribute('d'))"
    )
    assert sum(path.count("M") for path in squares) == len(X)
    for name in ("rules", "what-if", "cases", "overview"):
        page.click(f"#tab-{name}")
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
    page.set_viewport_size({"width": 1400, "height": 1500})
    as_learned, before = page.inner_text("#opening"), ruleset.predict(X)

    def check():
        page.wait_for_selector("body:not([aria-busy])")
        edited = download(page, tmp_path)
        answers = edited.predict(X)
        found = SimpleNamespace(**measure_regression(Y.to_numpy(), answers))
        assert figure(page, "Mean absolute error") == SHOW(found.mae)
        assert figure(page, "Root mean squared error") == SHOW(found.rmse)
        sentence = f"Mean absolute error on {len(X)} given rows: {SHOW(found.mae)} (was"
        assert sentence in page.inner_text("#opening")
        gained = np.abs(before - Y) - np.abs(answers - Y)
        lists = {"nearer": gained > 1e-7, "farther": gained < -1e-7}
        for name, rows in lists.items():
            if rows.any():
                assert page.inner_text(f".changed-{name}") == f"{rows.sum()} {name}"
        assert "intervals" not in edited.about
        return edited

    opened = edit_rule(page, 1)
    field = page.locator("#number-1")
    field.fill("12.5")
    field.press("Enter")
    page.wait_for_selector("#edit-bar:visible")
    edited = check()
    assert consequents_of(edited)[0] == pytest.approx(12.5)
    assert edited.rules[1:] == ruleset.rules[1:]
    page.fill("#reason-0", "a guess")
    page.press("#reason-0", "Enter")
    page.click("[aria-controls=history]")
    for label in ("holds from", "holds to"):
        field = opened.get_by_label(label).first
        if field.input_value():
            break
    field.fill("0.01" if label == "holds to" else "-0.01")
    field.press("Enter")
    edited = check()
    assert edited[0].conditions[0] != ruleset[0].conditions[0]
    assert [entry["reason"] for entry in edited.about["log"]] == ["a guess", ""]
    page.click("[aria-controls=history]")
    page.click("#tab-what-if")
    settle(page)
    assert page.inner_text(".sure") == ""
    page.click("#tab-overview")
    quality = measure_regression(Y.to_numpy(), edited.predict(X))
    assert page.inner_text(".errors .figure") == SHOW(quality["mae"])
    page.click("#tab-cases")
    page.select_option("#case-filter", "high")
    high = (edited.predict(X) > Y).sum()
    assert page.inner_text("#cases-view .count").split()[0] == str(high)
    page.click("#tab-rules")
    page.click("text=New rule")
    page.wait_for_selector(f"#number-{len(ruleset) + 1}")
    assert len(check()) == len(ruleset) + 1
    if ruleset.semantics.meaning.adds:
        assert violations(page) == []
    open_history(page)
    page.locator("#history").get_by_role("button", name="As learned").click()
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


def test_categories_missing_values_and_rows_without_target(pages):
    # A file may contain any value for intervals.
    page = pages.report(replace(MIXED, about={"intervals": {"half_widths": [3, ["x", 1]]}}), ROWS)
    assert (
        page.inner_text("#opening")
        == "2 rules. Add rows with target values to measure the accuracy."
    )
    page.click("#tab-cases")
    assert page.locator("#cases-view tbody td:nth-child(2)").all_inner_texts() == ["9", "14", "9"]
    page.click("#tab-what-if")
    page.fill("#row-number", "1")
    page.press("#row-number", "Enter")
    settle(page)
    assert page.inner_text(".sure") == ""
    assert page.locator(".reach").all_inner_texts() == ["Prediction 9 to 13", "Prediction 9 to 10"]
    page.click("#tab-overview")
    assert "Unknown: give the report rows whose number is known" in page.inner_text("main")


def test_data_of_regression_reports_are_checked_and_measured():
    truth = [9.0, 15.0, 9.5]
    known = facts(MIXED, ROWS, truth)
    assert known["performance"]["mae"] == pytest.approx(0.5)
    assert known["coloured"] == [0, 1, 2, 3, 4]
    counts = np.array(known["attributes"][1]["histogram"]["counts"])
    assert counts.sum(axis=0).tolist() == [1, 2]
    assert known["attributes"][0]["importance"] > known["attributes"][1]["importance"]
    # R² of a constant target is undefined; the importance is 0.
    assert {one.drop for one in permutation_importance(MIXED, ROWS, np.ones(3))} == {0.0}
    with pytest.raises(ValueError, match="Expected 3 labels, one per row, got the shape"):
        facts(MIXED, ROWS, truth[:2])
    with pytest.raises(ValueError, match="holds 'many' in row 1, which is not a number"):
        facts(MIXED, ROWS, ["many", 1, 2])
    empty = RuleSet((), MIXED.attributes, semantics="weighted-mean", base=(3,))
    assert facts(empty, ROWS, truth)["performance"]["mean"] == pytest.approx(np.mean(truth))
    assert "0 rules. Add rows with target values" in report_html(empty)


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
    pattern = r"On new data predictions are off by [\d.]+ on average \(predicting the mean: [\d.]+\); R² 0\.\d\d \([^)]+\)\."
    assert re.search(pattern, text)
    assert "On the 120 given rows" not in text

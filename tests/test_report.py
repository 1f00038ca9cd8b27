"""The data of the report, its HTML, and the commands that write it."""

import base64
import json
import re
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from browser_pages import embedded
from frri import Attribute, FRRIClassifier, NominalCondition, NumericCondition, Rule, RuleSet
from frri.cli import main
from frri.report import facts, report_html, write_report
from frri.report.facts import encode_codes, encode_numbers
from frri.report.page import headline
from frri.rules.text import condition_texts

REPORT = Path(facts.__code__.co_filename).parent
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\u2028"


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    y = pd.Series(np.array(["Barolo", "Grignolino", "Barbera"])[y], name="cultivar")
    return FRRIClassifier().fit(X, y).ruleset_, X, y


@pytest.fixture(scope="module")
def wine_facts(wine):
    return facts(*wine)


def small(**changes):
    settings = {
        "rules": (
            Rule((NumericCondition("a", 1, 2, 3, 4),), "x", 0.9),
            Rule((NumericCondition("a", 3, 4), NominalCondition("b", frozenset({"q"}))), "y", 0.8),
        ),
        "attributes": (Attribute("a", 0, 9), Attribute("b", categories=("p", "q"))),
        "classes": ("x", "y"),
    } | changes
    return RuleSet(**settings)


ROWS = [[2.5, "p"], [3.5, "q"], [8, "q"], [8, "p"], [0, "p"]]
LABELS = ["x", "x", "y", "x", "y"]


def unpack(encoded):
    numbers = np.frombuffer(base64.b64decode(encoded["data"]), dtype=f"<{encoded['type']}")
    if "places" in encoded:
        return (encoded["least"] + numbers.astype(float)) / 10 ** encoded["places"]
    if "values" in encoded:
        return np.array([np.nan if v is None else v for v in encoded["values"]])[numbers]
    return numbers


# ------------------------------------------------------------------ data of the report


def test_report_data_are_plain_json(wine_facts):
    assert json.loads(json.dumps(wine_facts, allow_nan=False)) == wine_facts


def test_report_data_contain_the_saved_model(wine, wine_facts):
    assert RuleSet.from_dict(wine_facts["model"]) == wine[0]
    assert RuleSet.from_dict(wine_facts["model"]).about == wine[0].about


def test_rule_statistics_are_those_of_the_rules(wine, wine_facts):
    ruleset, X, y = wine
    for known, found in zip(ruleset.statistics(X, y), wine_facts["rules"], strict=True):
        assert found["support"] == list(known.support)
        assert (found["precision"], found["lift"]) == (known.precision, known.lift)
        assert (found["covered"], found["alone"]) == (known.covered, known.alone)


def test_the_overview_has_estimator_and_proof(wine_facts):
    overview = wine_facts["overview"]
    assert overview["learner"] == "FRRI"
    proof = wine_facts["model"]["about"]["selection"]
    assert proof["status"] == "optimal"
    assert proof["n_rules"] == overview["n_rules"] == 8
    assert overview["is_training"] is True


def test_deciding_rules_are_shown_separately_from_covering_rules(wine):
    ruleset, X, y = wine
    rows = X + np.random.default_rng(0).normal(0, X.std() / 2, X.shape)
    found, decision = facts(ruleset, rows, y), ruleset.decide(rows)
    right = decision.answers == y
    for r, known in enumerate(found["rules"]):
        own = (decision.deciding == r) & ~decision.silent
        assert known["decides"]["rows"] == own.sum() <= known["covered"]
        assert known["decides"]["right"] == (own & right).sum()
    decided = sum(known["decides"]["rows"] for known in found["rules"])
    assert 0 < len(y) - decided == decision.silent.sum()
    deciding = unpack(found["data"]["deciding"]).astype(int) - 1
    assert np.array_equal(deciding, np.where(decision.silent, -1, decision.deciding))


def test_the_page_begins_with_the_held_out_score(wine, wine_facts):
    ruleset, X, y = wine
    assert headline(wine_facts) == (
        "8 rules from 178 rows. Accuracy on new data is unknown: these are the training "
        "rows, whose results are in Overview."
    )
    assert headline(facts(small())) == ("2 rules. Add rows with labels to measure the accuracy.")
    new = X + np.random.default_rng(0).normal(0, X.std() / 2, X.shape)
    right = (ruleset.predict(new) == y).mean()
    printed = headline(facts(ruleset, new, y))
    assert f"On the 178 new rows {100 * right:.0f} of 100 are classified correctly (" in printed
    assert f"majority class Grignolino: {100 * (y == 'Grignolino').mean():.0f}." in printed
    estimate = {
        "measure": "accuracy",
        "score": 0.744,
        "interval": [0.71, 0.77],
        "rows": 178,
        "baseline": {"answer": "Grignolino", "score": 0.4},
    }
    measured = replace(ruleset, about={**ruleset.about, "evaluation": estimate})
    page = report_html(measured, X, y, title="Which wine?", unit="bottles")
    assert (
        "8 rules from 178 bottles. On new data about 74 of 100 bottles are classified correctly "
        "(71 to 77); majority class Grignolino: 40." in page
    )
    assert "<title>Which wine?</title>" in page
    numbers = facts(replace(NUMBERS, about={"evaluation": R2}), [[1.0], [6.0]], [10.0, 15.0])
    assert headline(numbers) == (
        "1 rule. On new data predictions are off by 1.5 on average (predicting the mean: 2.5); "
        "R² 0.50 (0.40 to 0.60)."
    )
    at_least = Rule((NumericCondition("a", 3, 5),), "y", relation="at least")
    ordered = small(rules=(at_least,), semantics="at-least-class")
    ordered = replace(ordered, about={"evaluation": R2 | {"measure": "kappa"}})
    assert headline(facts(ordered)).endswith(
        "On new data predictions are off by 1.50 classes on average (predicting the median class: "
        "2.50 classes); kappa 0.50 (0.40 to 0.60)."
    )


NUMBERS = RuleSet(
    (Rule((NumericCondition("a", 3, 5),), 4.0),),
    (Attribute("a", 0, 9),),
    semantics="added-contributions",
    base=(10,),
)
R2 = {
    "measure": "R2",
    "score": 0.5,
    "interval": [0.4, 0.6],
    "rows": 90,
    "error": 1.5,
    "baseline": {"answer": 12.5, "score": -0.01, "error": 2.5},
}


def test_conditions_are_worded_by_python(wine, wine_facts):
    for rule, known in zip(wine[0], wine_facts["rules"], strict=True):
        texts = condition_texts(wine[0], rule)
        assert known["words"] == [[text, [k]] for k, text in enumerate(texts)]
    low, high = NumericCondition("a", 1, 2), NumericCondition("a", core_high=5, support_high=6)
    both = (low, NominalCondition("b", frozenset({"q"})), high)
    found = facts(small(rules=(Rule(both, "x"),)))["rules"][0]["words"]
    assert found == [["2 <= a <= 5 (partly from 1 to 6)", [0, 2]], ["b = q", [1]]]


def test_columns_that_cannot_change_are_columns_of_the_model():
    assert facts(small(), fixed=["b"])["fixed"] == ["b"]
    with pytest.raises(ValueError, match="fixed has 'c', which is no column of the model"):
        facts(small(), fixed=["b", "c"])


def test_only_the_first_rules_are_listed_for_readers_without_scripts():
    page = report_html(many_classes(130))
    assert page.count("<li>IF") == 100
    assert "and 30 more rules" in page


def test_accuracy_and_confusion_are_those_of_predict(wine, wine_facts):
    ruleset, X, y = wine
    held_out = X + np.random.default_rng(0).normal(0, X.std() / 2, X.shape)
    found = facts(ruleset, held_out, y)
    decided = ruleset.predict(held_out)
    assert found["performance"]["accuracy"] == (decided == y).mean()
    assert sum(n for _, _, n in found["performance"]["confusion"]) == len(y)
    right = sum(n for truth, printed, n in found["performance"]["confusion"] if truth == printed)
    assert right == (decided == y).sum()
    assert found["overview"]["is_training"] is False
    assert wine_facts["performance"]["accuracy"] == 1.0


def test_the_overview_leaves_out_what_was_not_set():
    about = {"learner": "L", "parameters": {"n_jobs": None, "effort": 0, "kinds": {"a": None}}}
    assert facts(small(about=about))["overview"]["settings"] == [["effort", "0"]]


def test_unused_attributes_are_unimportant(wine, wine_facts):
    used = {name for rule in wine[0] for name in rule.attributes}
    for attribute in wine_facts["attributes"]:
        assert (attribute["n_rules"] > 0) == (attribute["name"] in used)
        if attribute["name"] not in used:
            assert attribute["importance"] == 0.0


def test_histograms_count_every_known_row(wine, wine_facts):
    y = wine[2]
    sizes = y.value_counts()
    for attribute in wine_facts["attributes"]:
        totals = [sum(series) for series in attribute["histogram"]["counts"]]
        assert totals == [sizes[label] for label in sorted(sizes.index)]


def test_embedded_rows_are_exact(wine, wine_facts):
    _, X, _ = wine
    for j, encoded in enumerate(wine_facts["data"]["columns"]):
        assert np.array_equal(unpack(encoded), X.iloc[:, j])


def test_further_rows_are_sampled_with_a_note(wine):
    ruleset, X, y = wine
    found = facts(ruleset, X, y, max_rows=50)
    data = found["data"]
    assert (data["sampled"], data["n_rows"], data["n_embedded"]) == (True, 178, 50)
    rows = unpack(data["rows"])
    assert np.array_equal(unpack(data["columns"][0]), X.iloc[rows, 0])
    assert found == facts(ruleset, X, y, max_rows=50)
    assert found["performance"]["accuracy"] == 1.0
    assert "50 of 178 rows are embedded" in report_html(ruleset, X, y, max_rows=50)


def test_wide_tables_embed_fewer_rows_and_stay_below_two_megabytes():
    random = np.random.default_rng(0)
    X = random.normal(size=(5_000, 120))
    attributes = tuple(Attribute(f"x{j}", -5, 5) for j in range(120))
    rules = (Rule((NumericCondition.below("x0", 0),), 0), Rule((NumericCondition("x0", -1, 0),), 1))
    ruleset = RuleSet(rules, attributes, (0, 1))
    page = report_html(ruleset, X, (X[:, 0] > 0).astype(int))
    assert len(page.encode()) < 2_000_000
    assert "rows are embedded, drawn at random" in page


def test_rows_without_labels():
    found = facts(small(), ROWS)
    assert found["performance"] is None
    assert [rule["covered"] for rule in found["rules"]] == [2, 2]
    assert found["rules"][0]["precision"] is None
    assert len(found["attributes"][0]["histogram"]["counts"]) == 1


def test_without_rows_the_statistics_of_the_model_are_shown():
    known = small().with_statistics(ROWS, LABELS)
    found = facts(known)
    assert found["data"] is None
    assert found["rules"][1]["support"] == [1, 1]
    assert facts(small())["rules"][1]["support"] is None


def test_missing_and_unseen_values():
    rows = pd.DataFrame({"a": [1.0, np.nan, 5.0], "b": ["p", None, "never seen"]})
    found = facts(small(), rows, ["x", "y", "x"])
    assert [attribute["missing"] for attribute in found["attributes"]] == [1, 1]
    assert found["attributes"][1]["histogram"]["counts"] == [[1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (None, [1], "give X as well"),
        (pd.DataFrame({"a": [1]}), ["x"], "no column 'b'"),
        ([[1, 2, 3]], ["x"], "table of 2 columns"),
        (ROWS, ["x"], "Expected 5 labels"),
        (ROWS, ["x", "x", "y", "x", "z"], "Label 'z' is none of the classes"),
        (np.empty((0, 2)), [], "no rows"),
        ([["a lot", "p"]], None, "'a lot' in row 1, which is not a number"),
    ],
)
def test_data_that_do_not_fit_are_explained(X, y, message):
    with pytest.raises(ValueError, match=message):
        facts(small(), X, y)


def test_max_rows_is_checked():
    with pytest.raises(ValueError, match="max_rows must be 1 or more"):
        facts(small(), ROWS, LABELS, max_rows=0)


# ------------------------------------------------------------------ packing


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(0).normal(size=300),
        np.random.default_rng(0).normal(size=300).astype(np.float32).astype(float),
        np.random.default_rng(0).normal(size=300).round(3),
        np.random.default_rng(0).integers(0, 3, 300).astype(float),
        np.array([np.nan, 1.5, np.nan]),
        np.array([-0.0, 1.0]),
        np.array([1e300, -1e-300, 0.1 + 0.2]),
        np.array([np.inf, -np.inf, 0.0]),
        np.array([1e9 - 1, -(1e9 - 1), 0.1234]),
        np.arange(5000) / 100,
    ],
)
def test_packed_numbers_come_back_to_the_last_bit(column):
    encoded = json.loads(json.dumps(encode_numbers(column), allow_nan=False))
    found = unpack(encoded).astype(float)
    assert np.array_equal(found, column, equal_nan=True)
    assert np.array_equal(np.signbit(found), np.signbit(column))


def test_packed_decimals_are_short():
    assert len(encode_numbers(np.arange(5000) / 100)["data"]) < 14_000


def test_packed_codes_take_as_few_bytes_as_they_need():
    assert [encode_codes(np.array([n]))["type"] for n in (255, 256, 70_000)] == ["u1", "u2", "u4"]


# ------------------------------------------------------------------ the HTML


def test_page_is_one_small_file_with_everything(wine):
    page = report_html(*wine)
    assert len(page.encode()) < 200_000
    assert embedded(page)["model"] == wine[0].to_dict()
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)
    for sentence in str(wine[0]).splitlines():
        assert sentence.replace("<", "&lt;").replace(">", "&gt;") in page


def test_policy_allows_the_script_and_nothing_else(wine):
    page = report_html(*wine)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_hostile_names_stay_text():
    attributes = (Attribute(HOSTILE, 0, 9), Attribute("b", categories=(HOSTILE, "c" * 10_000)))
    conditions = (
        NumericCondition(HOSTILE, 1, 2),
        NominalCondition("b", frozenset({HOSTILE, "c" * 10_000})),
    )
    ruleset = RuleSet(
        (Rule(conditions, HOSTILE),),
        attributes,
        (HOSTILE, "y"),
        target=HOSTILE,
        about={"learner": HOSTILE, HOSTILE: HOSTILE},
    )
    page = report_html(ruleset, [[3, HOSTILE], [4, "c" * 10_000]], [HOSTILE, "y"])
    assert page.count("<script") == 2
    assert "<img" not in page
    assert embedded(page)["model"] == ruleset.to_dict()
    assert "<script" not in ruleset._repr_html_()


def test_scripts_never_insert_strings_as_markup():
    script = (REPORT / "page.js").read_text(encoding="utf-8")
    for dangerous in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert dangerous not in script
    assert not re.search(
        r"fetch\(|XMLHttpRequest|WebSocket|https?://(?!www\.w3\.org/2000/svg)", script
    )


def test_the_script_is_small():
    assert len((REPORT / "page.js").read_bytes()) <= 120_000


def test_the_bundled_page_is_current():
    """`make page` writes the files; without esbuild, this test is skipped."""
    folder = Path(__file__).parents[1] / ".ci"
    spec = spec_from_file_location("bundle_page", folder / "bundle_page.py")
    bundle_page = module_from_spec(spec)
    spec.loader.exec_module(bundle_page)
    if not bundle_page.ESBUILD.exists():
        pytest.skip("esbuild is not installed")
    assert bundle_page.is_current()


def many_classes(n):
    attributes = (Attribute("a", 0, n),)
    rules = tuple(
        Rule((NumericCondition("a", k, k, k + 0.5, k + 1),), f"class {k}") for k in range(n)
    )
    return RuleSet(rules, attributes, tuple(f"class {k}" for k in range(n)))


@pytest.mark.parametrize(
    ("ruleset", "X", "y"),
    [
        (small(rules=()), ROWS, LABELS),
        (small(rules=()), None, None),
        (small(rules=small().rules[:1]), ROWS, LABELS),
        (small(rules=(Rule((), "x"),), classes=("x",)), ROWS, ["x"] * 5),
        (many_classes(300), np.arange(300.0).reshape(-1, 1), [f"class {k}" for k in range(300)]),
        (RuleSet((Rule((), 1),), (), (0, 1)), None, None),
        (small(attributes=(Attribute("a"), Attribute("b", categories=("p", "q")))), None, None),
    ],
)
def test_unusual_models_have_a_page(ruleset, X, y):
    page = report_html(ruleset, X, y)
    assert embedded(page)["overview"]["n_rules"] == len(ruleset)


def test_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "report.html"
    write_report(small(), path, ROWS, LABELS)
    before = path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="none of the classes"):
        write_report(small(), path, ROWS, ["nobody"] * 5)
    assert path.read_text(encoding="utf-8") == before
    assert [child.name for child in tmp_path.iterdir()] == ["report.html"]


def test_notebooks_show_the_page_in_a_frame_and_fall_back_to_the_table(monkeypatch):
    assert small()._repr_html_().startswith("<iframe")
    numbers = RuleSet((Rule((), 2.5),), (), (), "price", semantics="added-contributions", base=(1,))
    assert numbers._repr_html_().startswith("<iframe")
    assert "<li>ALWAYS price +2.5</li>" in report_html(numbers)
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    assert small()._repr_html_().startswith("<p>2 rules")
    with pytest.raises(ImportError, match=r"pip install 'frri\[report\]'"):
        report_html(small())


# ------------------------------------------------------------------ the commands


@pytest.fixture
def files(tmp_path):
    small().save(tmp_path / "model.json")
    table = pd.DataFrame(ROWS, columns=["a", "b"]).assign(**{"class": LABELS})
    table.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr()


def test_command_writes_a_report(files, capsys):
    output = files / "page.html"
    code, printed = run(capsys, "report", files / "model.json", files / "data.csv", "-o", output)
    assert (code, printed.out, printed.err) == (0, "", f"Wrote {output}.\n")
    found = embedded(output.read_text(encoding="utf-8"))
    assert found["performance"] == facts(small(), ROWS, LABELS)["performance"]
    code, printed = run(capsys, "report", files / "model.json", files / "data.csv", "-o", "-")
    assert printed.out == output.read_text(encoding="utf-8")


def test_command_works_without_data_and_without_labels(files, capsys):
    output = files / "page.html"
    assert run(capsys, "report", files / "model.json", "-o", output)[0] == 0
    pd.DataFrame(ROWS, columns=["a", "b"]).to_csv(files / "bare.csv", index=False)
    code, printed = run(capsys, "report", files / "model.json", files / "bare.csv", "-o", output)
    assert code == 0
    assert "no column 'class'" in printed.err
    assert embedded(output.read_text(encoding="utf-8"))["data"]["n_rows"] == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,d,class\n1,2,x\n", "no column 'b'"),
        ("a,b,class\n1,p,z\n", "'z' in row 1, which is none of the model's classes"),
        ("a,b,class\nmany,p,x\n", "'many' in row 1, which is not a number"),
        ("a,b,class\n1,p,\n", "no class in row 1"),
        ("", "empty"),
        ("a,b,class\n", "no rows"),
    ],
)
def test_command_explains_bad_data_in_one_sentence(files, capsys, content, message):
    (files / "bad.csv").write_text(content)
    output = files / "page.html"
    code, printed = run(capsys, "report", files / "model.json", files / "bad.csv", "-o", output)
    assert code == 2
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert not output.exists()


def test_command_explains_bad_arguments(files, capsys):
    model, data = files / "model.json", files / "data.csv"
    for arguments, message in (
        ((files / "nowhere.json",), "no file"),
        ((data,), "is a table, not a model"),
        ((model, files / "nowhere.csv"), "no file"),
        ((model, data, "--target", "t"), "no column 't'"),
        ((model, data, "--max-rows", "0"), "max_rows"),
        ((model, data, "--fixed", "b,c"), "fixed has 'c'"),
        ((model, data, "--names", "who"), "has no column 'who'; it has"),
        ((model, data, "-o", data), "would overwrite"),
    ):
        code, printed = run(capsys, "report", *arguments)
        assert code == 2
        assert message in printed.err


def test_view_opens_the_browser(files, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    code, printed = run(capsys, "view", files / "model.json", files / "data.csv")
    assert code == 0
    assert f"Wrote {opened[0].removeprefix('file://')}." in printed.err
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert "No browser" in run(capsys, "view", files / "model.json")[1].err


def test_labels_are_matched_by_their_text(files, capsys):
    numbered = replace(small(), classes=(0, 1.5), rules=(Rule((), 0),))
    numbered.save(files / "model.json")
    (files / "data.csv").write_text("a;b;class\n1;p;0.0\n?;q;1.50\n")
    output = files / "page.html"
    assert run(capsys, "report", files / "model.json", files / "data.csv", "-o", output)[0] == 0
    assert embedded(output.read_text(encoding="utf-8"))["performance"]["accuracy"] == 0.5

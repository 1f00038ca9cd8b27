"""Tables, figures and pages: correct, self-contained and safe for hostile names."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from browser_pages import violations
from experiments.reproduction import mean_length, pooled_balanced_accuracy
from frri.compare.figures import Painter, pareto_front
from frri.compare.journal import Results
from frri.compare.page import Table, make_report, overview, page_html, write_report
from synthetic_results import results_of

DOCS = Path(__file__).parent.parent / "docs"
HOSTILE = "<script>alert('|&_')</script>"


def test_the_best_of_a_row_is_bold_as_shown():
    table = Table(
        "T", ["d", "x", "y"], [["r", 0.5004, 0.4996], ["average rank", 1.5, 2.5]], best="high"
    )
    assert table.markdown().splitlines()[2:] == [
        "| r | **0.500** | **0.500** |",
        "| average rank | **1.500** | 2.500 |",
    ]
    low = Table("T", ["d", "x", "y", "z"], [["r", 3.0, None, float("nan")]], best="low")
    assert low.markdown().splitlines()[2] == "| r | 3.000 | - | - |"


def test_csv_and_bars():
    table = Table(HOSTILE, ["d", HOSTILE], [[HOSTILE, 1 / 3]], digits=2, best="high")
    assert table.csv().splitlines()[1].endswith(",0.3333333333333333")
    assert table.markdown().count("|") == 3 * 3 + 2 * 1  # the bars within the names are escaped
    assert "\\|" in table.markdown()


def test_a_report_is_complete_and_its_page_self_contained(tmp_path):
    report = make_report(results_of(["wine", "heart", HOSTILE], ["frri", "tree", "knn"], full=True))
    page = write_report(report, tmp_path)
    text = page.read_text()
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", text)
    assert "url(" not in text
    # Three datasets are too few for a diagram of ranks.
    names = {p.stem for p in (tmp_path / "figures").glob("*.svg")}
    assert names == {"trade_off"}
    for name in names:
        root = ET.parse(tmp_path / "figures" / f"{name}.svg").getroot()
        assert root.tag.endswith("svg")
        assert text.count("data:image/svg+xml") == len(names)
    assert pd.read_csv(tmp_path / "tables" / "rules.csv")["dataset"].tolist()[-1] == "average rank"
    frame = pd.read_csv(tmp_path / "results.csv")
    assert len(frame) == 3 * 3 * 3
    assert set(frame["fold"]) == {"0", "1", "all"}


@pytest.fixture(scope="module")
def report():
    return make_report(results_of(["wine", "heart", "bupa"], ["frri", "tree", "knn"]))


def test_pairs_are_one_square_on_the_page_and_sections_fold(report):
    text = page_html(report)
    assert text.count("Pair by pair") == sum(len(c.pairs) > 0 for c in report.comparisons.values())
    pairs = report.comparisons["balanced_accuracy"].pairs
    for _, pair in pairs.iterrows():
        for won, lost in ((pair["wins"], pair["losses"]), (pair["losses"], pair["wins"])):
            assert f"{won} : {lost}, p " in text
    # All sections except the first are folded.
    assert (
        text.count('<details name="results"><summary><h2>')
        == text.count('<section class="card"') - 1
    )
    assert "prefers-color-scheme: dark" in text


def test_the_page_is_accessible_and_short_before_details(visit, report):
    path = visit.folder / "comparison.html"
    path.write_text(page_html(report), encoding="utf-8")
    page = visit.open(path, viewport={"width": 1280, "height": 800}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollHeight") < 3 * 800
    # The main table is first, has the full width, and a bar below each number.
    table = page.locator("#s1 .scroll")
    assert table.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert table.bounding_box()["y"] < page.locator("#s1 figure").first.bounding_box()["y"]
    shown = overview(report.results).rows
    widths = table.locator("tbody td:nth-child(2) rect").evaluate_all(
        "all => all.map((one) => Number(one.getAttribute('width')))"
    )
    assert widths == [round(100 * row[1] / shown[0][1]) for row in shown]
    assert table.locator("table").evaluate("node => node.clientWidth") > 1000
    # A link opens its section.
    page.get_by_role("link", name="Cost").click()
    assert page.get_by_role("heading", name="Seconds to fit").is_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    table.evaluate("node => { node.scrollLeft = 200; }")
    assert table.locator("tbody th").first.bounding_box()["x"] > 0
    page.locator("details").evaluate_all(
        "all => all.forEach((one) => { one.removeAttribute('name'); one.open = true; })"
    )
    assert violations(page) == []


def test_an_estimator_keeps_its_color_in_all_comparisons():
    few, many = (
        Painter({name: name for name in names}, "")
        for names in (["tree", "own"], ["frri", "ripper", "tree", "other", "own"])
    )
    assert few._look("tree") == many._look("tree")
    looks = {many._look(name) for name in many.labels}
    assert len(looks) == len(many.labels)


def test_every_figure_has_its_provenance(monkeypatch):
    captions = []
    from matplotlib.figure import Figure

    monkeypatch.setattr(Figure, "supxlabel", lambda _, text, **__: captions.append(text))
    # Ranks are drawn from six datasets on.
    for n, n_pictures in ((5, 1), (6, 4)):
        captions.clear()
        report = make_report(results_of([*"abcdef"[:n]], ["frri", "tree", "ripper"], seed=7))
        assert len(captions) == len(report.pictures) == n_pictures
    assert all("2 folds, seed 7; frri 0.1.0, python 3.11" in text for text in captions)


def test_figures_are_reproducible(report):
    again = make_report(results_of(["wine", "heart", "bupa"], ["frri", "tree", "knn"]))
    assert [p.svg for p in again.pictures] == [p.svg for p in report.pictures]


def test_one_dataset_and_one_learner_are_enough(tmp_path):
    report = make_report(results_of([HOSTILE], ["tree"]))
    write_report(report, tmp_path)
    assert {p.name for p in report.pictures} == {"trade_off"}


def test_failures_are_on_the_page_and_do_not_spoil_the_rest():
    results = results_of(["wine", "heart"], ["frri", "tree", "knn"])
    results.cells[0].clear()
    results.cells[0].update(dataset="wine", learner="frri", fold=0, failure=HOSTILE)
    page = page_html(make_report(results))
    assert "Failures" in page
    assert HOSTILE not in page
    assert np.isnan(results.means("rules").loc["wine", "frri"])
    means = [row[1] for row in overview(results).rows]
    assert means == sorted(means, reverse=True)
    for cell in results.cells:
        if cell["learner"] == "frri":
            cell["failure"] = "always"
    rows = {row[0]: row for row in overview(results).rows}
    assert list(rows)[-1] == "FRRI"
    assert np.isnan(rows["FRRI"][1])
    (tree,) = (row for name, row in rows.items() if "tree" in name.lower())
    assert tree[1] == pytest.approx(results.means("balanced_accuracy")["tree"].mean())
    nothing = Results(results.data, ["frri"], [dict(results.cells[0])], results.settings, {})
    assert "Failures" in page_html(make_report(nothing))
    unknown = pytest.approx(np.nan, nan_ok=True)
    assert overview(nothing).rows == [["FRRI", unknown, unknown]]


def test_the_front_of_equal_points():
    assert pareto_front(np.array([[1, 0.5], [1, 0.5], [2, 0.5], [1, 0.6]])).tolist() == [3]


def test_accuracy_and_length_are_computed_as_in_the_paper():
    results = results_of(["wine"], ["ripper"], full=True)
    pooled = results.summarize(pooled_balanced_accuracy)
    assert pooled.loc["wine", "ripper"] == (0.75 + 0.5) / 2
    lengths = results.summarize(mean_length, full=True)
    assert lengths.loc["wine", "ripper"] == (1 + 4 + 5 * 2 + 2 * 3) / 12


def test_the_snippets_of_the_documentation_are_short():
    """A custom model, dataset and metric take fewer than twenty lines together; test_docs runs them."""
    text = (DOCS / "guides" / "compare.md").read_text()
    [own] = [s for s in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "add_metric" in s]
    assert "bench.dataset(" in own
    assert "DecisionTreeClassifier(" in own
    assert len(own.splitlines()) < 20

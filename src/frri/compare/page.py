"""Tables, tests, figures and one page of the results of a comparison."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isnan
from pathlib import Path
from typing import Any

from frri._util import import_optional
from frri.compare.datasets import Dataset
from frri.compare.evaluate import METRICS, Metric, label, metric
from frri.compare.figures import Painter, Picture
from frri.compare.journal import Results
from frri.compare.statistics import Comparison, compare
from frri.export.text_formats import csv_text
from frri.table.columns import Column, Frame

# Title and decimals.
COST_TABLES = {
    "fit_seconds": ("Seconds to fit", 3),
    "predict_seconds": ("Seconds to predict a fold", 4),
}
PAGE = "report.html"
# Ranks of learners on fewer datasets say little.
ENOUGH_DATASETS = 6

Value = float | int | str | None


@dataclass(frozen=True)
class Table:
    """Rows of numbers under headings.

    Attributes
    ----------
    title : str
    columns : sequence of str
        Headings; the first is that of the names of the rows.
    rows : sequence of sequences
        Each begins with the name of the row. Numbers keep their full precision; None or nan is
        shown as a dash.
    digits : int or sequence of int
        Decimals shown, for all columns or for each after the first.
    best : {"high", "low", None}
        Which number of a row is bold, compared as shown.
    summary : int
        Number of last rows that are summaries, set apart by a line.

    Examples
    --------
    >>> table = Table("Accuracy", ["data", "a", "b"], [["wine", 0.91234, 0.8]], best="high")
    >>> print(table.markdown())
    | data | a | b |
    |---|--:|--:|
    | wine | **0.912** | 0.800 |
    >>> print(table.csv())
    data,a,b
    wine,0.91234,0.8
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    digits: int | Sequence[int] = 3
    best: str | None = None
    summary: int = 0

    def markdown(self) -> str:
        """Return a Markdown table, without the title."""
        lines = [self.columns, ["---", *("---" if t else "--:" for t in self.text_columns())]]
        lines += [[f"**{s}**" if b else s for s, b in self.cells(row)] for row in self.rows]
        bars = [[cell.replace("|", "\\|") for cell in line] for line in lines]
        shown = [f"| {' | '.join(line)} |" for line in bars]
        shown[1] = shown[1].replace(" ", "")
        return "\n".join(shown)

    def csv(self) -> str:
        """Return comma-separated values in full precision."""
        rows = [[None if _missing(value) else value for value in row] for row in self.rows]
        return csv_text([self.columns, *rows]).rstrip("\n")

    def text_columns(self) -> list[bool]:
        """Return which columns after the first contain words and are aligned left."""
        cells = zip(*(row[1:] for row in self.rows), strict=True)
        found = [any(isinstance(v, str) and v[:1].isalpha() for v in column) for column in cells]
        return found or [False] * (len(self.columns) - 1)

    def fractions(self, row: Sequence[Value]) -> list[int]:
        """Return each number of a row as a percentage of the largest of its column."""
        found = [0]
        for column, value in zip(list(zip(*self.rows, strict=True))[1:], row[1:], strict=True):
            known = [float(v) for v in column if not (_missing(v) or isinstance(v, str))]
            number = 0.0 if _missing(value) or isinstance(value, str) else float(value or 0.0)
            found.append(round(100 * max(number, 0.0) / max([*known, 1e-300])))
        return found

    def cells(self, row: Sequence[Value]) -> list[tuple[str, bool]]:
        """Return the cells of a row as shown, and which of them are bold."""
        digits = self.digits
        if isinstance(digits, int):
            digits = [digits] * (len(row) - 1)
        shown = [str(row[0]), *(show(v, d) for v, d in zip(row[1:], digits, strict=True))]
        numbers = {
            i: float(shown[i])
            for i, value in enumerate(row)
            if i and not _missing(value) and not isinstance(value, str)
        }
        if self.best is None or len(numbers) < 2:
            return [(text, False) for text in shown]
        # A lower average rank is better, whatever is ranked.
        lower = self.best == "low" or str(row[0]) == "average rank"
        goal = min(numbers.values()) if lower else max(numbers.values())
        return [(text, numbers.get(i) == goal) for i, text in enumerate(shown)]


@dataclass(frozen=True, eq=False)
class Report:
    """Tables by the names of their files, tests by metric, and figures of a run."""

    results: Results
    tables: dict[str, Table] = field(default_factory=dict)
    comparisons: dict[str, Comparison] = field(default_factory=dict)
    pictures: list[Picture] = field(default_factory=list)

    @property
    def credit(self) -> str:
        """Settings, versions and seed in one line."""
        results, settings = self.results, self.results.settings
        versions = ", ".join(f"{name} {version}" for name, version in results.versions.items())
        return (
            f"{len(results.data)} datasets, {settings['folds']} folds, seed {settings['seed']}; "
            f"{versions}"
        )


def make_report(results: Results, *, remarks: Mapping[str, str] | None = None) -> Report:
    """Summarize, test and draw the results of a comparison.

    Parameters
    ----------
    results : Results
    remarks : mapping, optional
        Remarks beside the shapes of datasets, by their names.
    """
    report = Report(results)
    tables = report.tables
    tables["datasets"] = dataset_table(results.data, remarks or {})
    for name in _metric_names(results):
        measured, means = metric(name), results.means(name)
        if means.isna().all(axis=None):
            continue
        # Without learners to which the metric does not apply, such as rules to nearest neighbors.
        measurable, higher = means.dropna(axis=1, how="all"), measured.higher_is_better
        found = report.comparisons[name] = compare(measurable, higher_is_better=higher)
        title = f"{_capitalize(measured.label)}, mean over the folds"
        best = "high" if higher else "low"
        ranks = [found.ranks.reindex(means.columns).rename("average rank")]
        ranks = ranks if found.n_datasets else []
        tables[name] = _mean_table(title, means, measured.digits, best, *ranks)
        if len(found.pairs):
            tables[f"{name}_pairs"] = _pairs_table(measured, found)
    for name, (title, digits) in COST_TABLES.items():
        means = results.means(name)
        if not means.isna().all(axis=None):
            tables[name] = _mean_table(title, means, digits, "low")
    report.pictures.extend(_pictures(report))
    return report


def write_report(report: Report, out: Path) -> Path:
    """Write the tables as CSV, the figures as SVG and the page; return the path of the page."""
    for kind in ("tables", "figures"):
        (out / kind).mkdir(parents=True, exist_ok=True)
    for name, table in report.tables.items():
        (out / "tables" / f"{name}.csv").write_text(table.csv() + "\n", encoding="utf-8")
    for name, found in report.comparisons.items():
        found.pairs.to_csv(out / "tables" / f"{name}_tests.csv", index=False)
    for picture in report.pictures:
        (out / "figures" / f"{picture.name}.svg").write_bytes(picture.svg)
    report.results.frame().to_csv(out / "results.csv", index=False)
    page = out / PAGE
    page.write_text(page_html(report), encoding="utf-8")
    return page


def page_html(report: Report) -> str:
    """Return one self-contained page: no other file, no network."""
    jinja2 = import_optional("jinja2", "The page of a comparison", "bench")
    results = report.results
    loader = jinja2.PackageLoader("frri.compare", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True)
    page: str = environment.get_template("report.html").render(
        credit=report.credit,
        sections=list(_sections(report)),
        failures=results.failures,
        not_run=results.not_run,
        proofs=[(label(name), *results.proved(name)) for name in results.learners],
    )
    return page


def dataset_table(data: Mapping[str, Dataset], remarks: Mapping[str, str]) -> Table:
    """Return the shapes of datasets, with what was left out of them and further remarks.

    Examples
    --------
    >>> from frri.compare import load
    >>> print(dataset_table({"wine": load("wine")}, {"wine": "red and white"}).markdown())
    | dataset | attributes | objects | classes | imbalance ratio | remark |
    |---|--:|--:|--:|--:|---|
    | wine | 13 | 178 | 3 | 1.48 | red and white |
    """
    rows: list[list[Value]] = [
        [name, *one.shape.values(), "; ".join(filter(None, [*one.notes, remarks.get(name)]))]
        for name, one in data.items()
    ]
    columns = ["dataset", "attributes", "objects", "classes", "imbalance ratio", "remark"]
    return Table("Data sets", columns, rows, digits=[0, 0, 0, 2, 0])


def overview(results: Results) -> Table:
    """Return one row per learner: means over the datasets on which no learner has failed.

    A learner that has failed everywhere has no means and does not exclude datasets.
    """
    names = ["balanced_accuracy", "accuracy", "macro_f1", "auroc", "rules", "conditions"]
    names = [name for name in names if name in _metric_names(results)]
    failures = {(c["dataset"], c["learner"]) for c in results.failures} | set(results.not_run)
    hopeless = {n for n in results.learners if all((d, n) in failures for d in results.data)}
    failed = {dataset for dataset, name in failures if name not in hopeless}
    tables = [results.means(name) for name in names]
    tables += [results.stability(), results.means("fit_seconds")]
    tables = [table.drop(index=failed) for table in tables]
    rows: list[list[Value]] = [
        [label(name), *(float(table[name].mean()) for table in tables)] for name in results.learners
    ]
    # The best learner first, those without a mean last.
    rows.sort(key=lambda row: inf if _missing(row[1]) else -float(row[1] or 0.0))
    digits = [metric(name).digits for name in names]
    labels = (metric(name).label for name in names)
    columns = ["learner", *labels, "alike in folds", "seconds to fit"]
    return Table("Means over the datasets", columns, rows, digits=[*digits, 2, 3])


def show(value: Value, digits: int) -> str:
    """Return a number with the given decimals, a dash for a missing one."""
    if _missing(value):
        return "-"
    return value if isinstance(value, str) else f"{value:.{digits}f}"


def format_p_value(p: float) -> str:
    """Return a p-value to three decimals."""
    return "-" if isnan(p) else "<0.001" if p < 0.0005 else f"{p:.3f}"


def _missing(value: Value) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _metric_names(results: Results) -> list[str]:
    """Return the metrics that were measured, in the order in which they are shown."""
    found = {name for cell in results.cells for name in cell.get("scores", {})}
    return [*(n for n in METRICS if n in found), *sorted(found.difference(METRICS))]


def _mean_table(title: str, means: Frame, digits: int, best: str, *further: Column) -> Table:
    """Return datasets x learners, with the mean of each learner and further summaries below."""
    summaries = [means.mean().rename("mean"), *further]
    named = [*means.iterrows(), *((one.name, one) for one in summaries)]
    rows: list[list[Value]] = [[str(name), *map(float, one)] for name, one in named]
    columns = ["dataset", *map(label, means.columns)]
    return Table(title, columns, rows, digits, best, len(summaries))


def _capitalize(text: str) -> str:
    return text[0].upper() + text[1:]


def _pairs_table(measured: Metric, found: Comparison) -> Table:
    """Return all tests of pairs in one square: wins of the row, and p-values of both tests."""
    names = list(found.ranks.index)
    cells = {}
    for pair in found.pairs.to_dict("records"):
        first, second, p = pair["first"], pair["second"], f"p {format_p_value(pair['two-sided'])}"
        if found.conover is not None:
            p += f" / {format_p_value(found.conover.loc[first, second])}"
        cells[first, second] = f"{pair['wins']} : {pair['losses']}, {p}"
        cells[second, first] = f"{pair['losses']} : {pair['wins']}, {p}"
    rows: list[list[Value]] = [[label(a), *(cells.get((a, b), "") for b in names)] for a in names]
    title = "Pair by pair: datasets won and lost by the row, p-value of Wilcoxon's signed ranks"
    if found.friedman is not None:
        statistic, p_value = found.friedman
        title += f" / of Conover's comparison ({found.correction} correction); "
        title += f"Friedman's chi-squared {statistic:.2f}, p {format_p_value(p_value)}"
    return Table(title, [measured.label, *map(label, names)], rows)


def _pictures(report: Report) -> Iterator[Picture]:
    results = report.results
    painter = Painter({name: label(name) for name in results.learners}, report.credit)
    for name in ("balanced_accuracy", "rules", "conditions"):
        found = report.comparisons.get(name)
        if found is not None and found.conover is not None and found.n_datasets >= ENOUGH_DATASETS:
            yield painter.critical_difference(f"ranks_{name}", found, metric(name).label)
    if "balanced_accuracy" in report.tables:
        accuracy, rules = results.means("balanced_accuracy"), results.means("rules")
        if not rules.isna().all(axis=None):
            yield painter.trade_off(accuracy.mean(), rules.mean())


def _sections(report: Report) -> Iterator[dict[str, Any]]:
    """Yield the sections of the page; every table and picture once.

    A section has a title, tables, pictures and `folded` tables, which open by a click.
    """
    encoded = {p.name: (p.caption, base64.b64encode(p.svg).decode()) for p in report.pictures}

    def pictures(*names: str) -> list[tuple[str, str]]:
        return [encoded[name] for name in names if name in encoded]

    def tables(*names: str) -> list[Table]:
        return [report.tables[name] for name in names if name in report.tables]

    whole = [overview(report.results)]
    yield {"title": "At a glance", "tables": whole, "pictures": pictures("trade_off")}
    for name in report.comparisons:
        drawn, folded = pictures(f"ranks_{name}"), tables(f"{name}_pairs")
        title = _capitalize(metric(name).label)
        yield {"title": title, "tables": tables(name), "pictures": drawn, "folded": folded}
    yield {"title": "Cost", "tables": tables(*COST_TABLES)}
    yield {"title": "Data", "tables": tables("datasets")}

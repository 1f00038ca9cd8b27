"""From results to files: tables, tests, figures and one page with all of it."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from html import escape
from math import isnan
from typing import TYPE_CHECKING

from frri._util import import_optional
from frri.compare.evaluate import label
from frri.compare.figures import Painter, Picture
from frri.compare.metrics import METRICS, Metric, metric
from frri.compare.statistics import Comparison, compare
from frri.export.text_formats import csv_text, latex_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from frri.compare.datasets import Dataset
    from frri.compare.results import Results


COST_TABLES = {
    "fit_seconds": ("Seconds to fit", 3),
    "predict_seconds": ("Seconds to predict a fold", 4),
    "peak_memory_mb": ("Peak memory of a fit, megabytes", 1),
}
PAGE = "report.html"


@dataclass(frozen=True, eq=False)
class Report:
    """Everything there is to show about a run, ready to be written.

    Attributes
    ----------
    results : Results
    tables : dict
        By the names of their files.
    comparisons : dict
        The tests, by metric.
    pictures : list of Picture
    """

    results: Results
    tables: dict[str, Table] = field(default_factory=dict)
    comparisons: dict[str, Comparison] = field(default_factory=dict)
    pictures: list[Picture] = field(default_factory=list)

    @property
    def credit(self) -> str:
        """Settings, versions and seed in one line."""
        results = self.results
        settings = results.settings
        versions = ", ".join(f"{name} {version}" for name, version in results.versions.items())
        return (
            f"{len(results.data)} data sets, {settings['folds']} folds, seed {settings['seed']}; "
            f"{versions}"
        )


def make_report(
    results: Results, *, bookkeeping: bool = False, remarks: Mapping[str, str] | None = None
) -> Report:
    """Summarise, test and draw.

    Parameters
    ----------
    results : Results
    bookkeeping : bool, default=False
        Whether to add the tables that the paper's own bookkeeping would give.
    remarks : mapping, optional
        What to say beside the shapes of data sets, by their names.

    Returns
    -------
    Report
    """
    report = Report(results)
    report.tables["datasets"] = dataset_table(results.data, remarks or {})
    for name in _metric_names(results):
        measured = metric(name)
        means = results.means(name)
        if means.isna().all(axis=None):
            continue
        # Without learners to which the metric does not apply, such as rules to nearest neighbours.
        judged = means.dropna(axis=1, how="all")
        report.comparisons[name] = found = compare(
            judged, higher_is_better=measured.higher_is_better
        )
        report.tables[name] = _score_table(measured, means, found)
        if found.conover is not None:
            report.tables[f"{name}_conover"] = _conover_table(measured, found)
        if len(found.pairs):
            report.tables[f"{name}_pairs"] = _pairs_table(measured, found)
    for name, (title, digits) in COST_TABLES.items():
        costs = results.means(name)
        if not costs.isna().all(axis=None):
            report.tables[name] = _mean_table(title, costs, digits, "low")
    if bookkeeping:
        report.tables.update(_bookkeeping_tables(results))
    report.pictures.extend(_pictures(report))
    return report


def write_report(report: Report, out: Path) -> Path:
    """Write all tables, figures and the page; returns the path of the page.

    Parameters
    ----------
    report : Report
    out : Path
        A directory.
    """
    for kind in ("tables", "figures"):
        (out / kind).mkdir(parents=True, exist_ok=True)
    for name, table in report.tables.items():
        base = out / "tables" / name
        base.with_suffix(".md").write_text(table.markdown() + "\n", encoding="utf-8")
        base.with_suffix(".tex").write_text(table.latex() + "\n", encoding="utf-8")
        base.with_suffix(".csv").write_text(table.csv() + "\n", encoding="utf-8")
    for picture in report.pictures:
        base = out / "figures" / picture.name
        base.with_suffix(".svg").write_bytes(picture.svg)
        base.with_suffix(".png").write_bytes(picture.png)
    report.results.frame().to_csv(out / "results.csv", index=False)
    page = out / PAGE
    page.write_text(page_html(report), encoding="utf-8")
    return page


def page_html(report: Report) -> str:
    """One self-contained page: no file beside it, no network."""
    jinja2 = import_optional("jinja2", "The page of a comparison", "bench")
    results = report.results
    loader = jinja2.PackageLoader("frri.compare", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True)
    page: str = environment.get_template("report.html").render(
        credit=report.credit,
        overview=overview(results),
        sections=list(_sections(report)),
        failures=results.failures,
        not_run=results.not_run,
        proofs=[(label(name), *results.proved(name)) for name in results.learners],
    )
    return page


def dataset_table(data: Mapping[str, Dataset], remarks: Mapping[str, str]) -> Table:
    """The shapes of data sets, with what was left out of them and what else there is to say.

    Examples
    --------
    >>> from frri.compare import load
    >>> print(dataset_table({"wine": load("wine")}, {"wine": "red and white"}).markdown())
    | data set | attributes | objects | classes | imbalance ratio | remark |
    |---|--:|--:|--:|--:|---|
    | wine | 13 | 178 | 3 | 1.48 | red and white |
    """
    rows: list[list[Value]] = []
    for name, one in data.items():
        said = [*one.notes, *([remarks[name]] if name in remarks else [])]
        rows.append([name, *one.shape.values(), "; ".join(said)])
    columns = ["data set", "attributes", "objects", "classes", "imbalance ratio", "remark"]
    return Table("Data sets", columns, rows, digits=[0, 0, 0, 2, 0])


def overview(results: Results) -> Table:
    """One row per learner: means over the data sets on which no learner has failed.

    A learner that has failed everywhere has no means, and takes none from the others.
    """
    names = ["balanced_accuracy", "accuracy", "macro_f1", "auroc", "rules", "conditions"]
    names = [name for name in names if name in _metric_names(results)]
    failures = {(c["dataset"], c["learner"]) for c in results.failures} | set(results.not_run)
    hopeless = {n for n in results.learners if all((d, n) in failures for d in results.data)}
    failed = {dataset for dataset, name in failures if name not in hopeless}
    tables = {name: results.means(name).drop(index=failed) for name in names}
    tables["stability"] = results.stability().drop(index=failed)
    tables["fit_seconds"] = results.means("fit_seconds").drop(index=failed)
    rows: list[list[Value]] = [
        [label(name), *(float(table[name].mean()) for table in tables.values())]
        for name in results.learners
    ]
    digits = [metric(name).digits for name in names]
    labels = (metric(name).label for name in names)
    columns = ["learner", *labels, "alike in folds", "seconds to fit"]
    return Table("Means over the data sets", columns, rows, digits=[*digits, 2, 3])


def _metric_names(results: Results) -> list[str]:
    """Those measured, in the order in which they are shown."""
    found = {name for cell in results.cells for name in cell.get("scores", {})}
    return [*(n for n in METRICS if n in found), *sorted(found.difference(METRICS))]


def _mean_table(
    title: str,
    means: pd.DataFrame,
    digits: int,
    best: str,
    *further: pd.Series[float],
) -> Table:
    """Data sets x learners, with the mean of each learner and further summaries below."""
    columns = list(means.columns)
    rows: list[list[Value]] = [
        [str(name), *map(float, values)]
        for name, values in zip(means.index, means.to_numpy(), strict=True)
    ]
    summaries = [means.mean().rename("mean"), *further]
    rows += [[str(one.name), *map(float, one[columns])] for one in summaries]
    return Table(title, ["data set", *map(label, columns)], rows, digits, best, len(summaries))


def _score_table(measured: Metric, means: pd.DataFrame, found: Comparison) -> Table:
    title = f"{measured.label[0].upper()}{measured.label[1:]}, mean over the folds"
    best = "high" if measured.higher_is_better else "low"
    ranks = [found.ranks.reindex(means.columns).rename("average rank")] if found.n_datasets else []
    return _mean_table(title, means, measured.digits, best, *ranks)


def _conover_table(measured: Metric, found: Comparison) -> Table:
    assert found.conover is not None  # noqa: S101
    assert found.friedman is not None  # noqa: S101
    names = list(found.conover.columns)
    rows = [
        [label(a), *(p_value(found.conover.loc[a, b]) if b != a else None for b in names)]
        for a in names
    ]
    title = (
        f"{measured.label}: p-values of Conover's comparison of pairs ({found.correction} correction); "
        f"Friedman's chi-squared {found.friedman[0]:.2f}, p {p_value(found.friedman[1])}"
    )
    return Table(title, ["", *map(label, names)], rows)


def _pairs_table(measured: Metric, found: Comparison) -> Table:
    rows = [
        [
            f"{label(pair['first'])} and {label(pair['second'])}",
            f"{pair['wins']} / {pair['ties']} / {pair['losses']}",
            *(p_value(pair[side]) for side in ("two-sided", "better", "worse")),
        ]
        for _, pair in found.pairs.iterrows()
    ]
    columns = ["pair", "wins / ties / losses", "two-sided", "first better", "first worse"]
    return Table(f"{measured.label}: pairs by Wilcoxon's signed ranks, p-values", columns, rows)


def _pairs_matrix(measured: Metric, found: Comparison) -> Table:
    """All tests of pairs in one square: how often the row wins, and p-values of both tests.

    The upper half is the mirror of the lower one, so only that is filled.
    """
    names = list(found.ranks.index)
    cells: dict[tuple[str, str], str] = {}
    for _, pair in found.pairs.iterrows():
        text = f"{pair['wins']} : {pair['losses']}, p {p_value(pair['two-sided'])}"
        if found.conover is not None:
            text += f" / {p_value(found.conover.loc[pair['first'], pair['second']])}"
        cells[pair["first"], pair["second"]] = text
        mirrored = f"{pair['losses']} : {pair['wins']}{text[text.index(',') :]}"
        cells[pair["second"], pair["first"]] = mirrored
    rows: list[list[Value]] = [[label(a), *(cells.get((a, b), "") for b in names)] for a in names]
    both = " / of Conover's comparison" if found.conover is not None else ""
    friedman = (
        ""
        if found.friedman is None
        else f"; Friedman's chi-squared {found.friedman[0]:.2f}, p {p_value(found.friedman[1])}"
    )
    title = (
        f"Pair by pair: data sets won and lost by the row, p-value of Wilcoxon's signed ranks{both}"
        f"{friedman}"
    )
    return Table(title, [measured.label, *map(label, names)], rows)


def _bookkeeping_tables(results: Results) -> dict[str, Table]:
    """What the paper's bookkeeping of its three rivals from WEKA gives."""
    longest = "Conditions per rule of one model of all objects, a default rule counted as one"
    tables = {
        "pooled_balanced_accuracy": (
            "Balanced accuracy from pooled recalls",
            results.pooled_balanced_accuracy(),
            3,
            "high",
        ),
        "full_rules": ("Rules of one model of all objects", results.full("rules"), 0, "low"),
        "full_length": (longest, results.length_with_default(), 2, "low"),
    }
    return {
        name: _mean_table(*described)
        for name, described in tables.items()
        if not described[1].isna().all(axis=None)
    }


def _pictures(report: Report) -> Iterator[Picture]:
    results = report.results
    painter = Painter({name: label(name) for name in results.learners}, report.credit)
    for name in ("balanced_accuracy", "rules", "conditions"):
        found = report.comparisons.get(name)
        if found is not None and found.conover is not None:
            yield painter.critical_difference(f"ranks_{name}", found, metric(name).label)
    if "balanced_accuracy" not in report.tables:
        return
    accuracy = results.means("balanced_accuracy")
    yield painter.dots("balanced_accuracy", accuracy, "balanced accuracy")
    rules = results.means("rules")
    if not rules.isna().all(axis=None):
        yield painter.trade_off("trade_off", accuracy.mean(), rules.mean(), "balanced accuracy")
    lengths = {name: results.lengths(name) for name in results.learners}
    if any(count[1:].sum() for count in lengths.values()):
        yield painter.lengths("lengths", lengths)


@dataclass(frozen=True)
class _Section:
    """What stands below a heading; `folded` tables open by a click."""

    title: str
    tables: list[Table]
    pictures: list[tuple[str, str]]
    folded: tuple[Table, ...] = ()


def _sections(report: Report) -> Iterator[_Section]:
    """The page from top to bottom; every table and picture once."""
    pictures = {p.name: (p.caption, base64.b64encode(p.svg).decode()) for p in report.pictures}
    everything = ["trade_off", "balanced_accuracy"]
    yield _Section(
        "At a glance",
        [overview(report.results)],
        [pictures[n] for n in everything if n in pictures],
    )
    for name in report.comparisons:
        found = report.comparisons[name]
        folded = [_pairs_matrix(metric(name), found)] if len(found.pairs) else []
        drawn = [f"ranks_{name}"] + (["lengths"] if name == "conditions" else [])
        title = metric(name).label
        yield _Section(
            title[0].upper() + title[1:],
            [report.tables[name]],
            [pictures[n] for n in drawn if n in pictures],
            tuple(folded),
        )
    rest = [report.tables[name] for name in COST_TABLES if name in report.tables]
    yield _Section("Cost", rest, [])
    paper = ("pooled_balanced_accuracy", "full_rules", "full_length")
    kept = [report.tables[name] for name in paper if name in report.tables]
    if kept:
        yield _Section("The paper's bookkeeping", kept, [])
    yield _Section("Data", [report.tables["datasets"]], [])


Value = float | int | str | None


@dataclass(frozen=True)
class Table:
    """Rows of numbers under headings.

    Attributes
    ----------
    title : str
    columns : sequence of str
        The headings; the first is that of the names of the rows.
    rows : sequence of sequences
        Each begins with the name of the row. Numbers keep their full precision; None or nan shows as
        a dash.
    digits : int or sequence of int
        Decimals shown, for all columns or for each after the first.
    best : {"high", "low", None}
        Which number of a row is set in bold, compared as shown.
    summary : int
        How many of the last rows are summaries, set apart by a line.

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
        """A Markdown table, without the title."""
        lines = [
            _bar([_pipes(c) for c in self.columns]),
            "|---|" + "".join("---|" if t else "--:|" for t in self._text_columns()),
        ]
        for row in self.rows:
            shown, bold = self._shown(row), self._bold(row)
            cells = [f"**{s}**" if b else s for s, b in zip(map(_pipes, shown), bold, strict=True)]
            lines.append(_bar(cells))
        return "\n".join(lines)

    def latex(self) -> str:
        """A LaTeX table by booktabs, the best of each row in bold."""
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{l{''.join('rl'[text] for text in self._text_columns())}}}",
            r"\toprule",
            " & ".join(map(latex_text, self.columns)) + r" \\",
            r"\midrule",
        ]
        for i, row in enumerate(self.rows):
            if self.summary and i == len(self.rows) - self.summary:
                lines.append(r"\midrule")
            cells = zip(map(latex_text, self._shown(row)), self._bold(row), strict=True)
            lines.append(" & ".join(rf"\textbf{{{s}}}" if b else s for s, b in cells) + r" \\")
        lines += [
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{latex_text(self.title)}}}",
            r"\end{table}",
        ]
        return "\n".join(lines)

    def csv(self) -> str:
        """Comma-separated values in full precision."""
        rows = [[None if _missing(value) else value for value in row] for row in self.rows]
        return csv_text(self.columns, rows).rstrip("\n")

    def html(self) -> str:
        """An HTML table; every text is escaped."""
        head = "".join(f'<th scope="col">{escape(c)}</th>' for c in self.columns)
        body = []
        for i, row in enumerate(self.rows):
            name, *cells = map(escape, self._shown(row))
            _, *bold = self._bold(row)
            marked = [f"<b>{s}</b>" if b else s for s, b in zip(cells, bold, strict=True)]
            kind = ' class="summary"' if i >= len(self.rows) - self.summary else ""
            tds = "".join(
                f'<td class="text">{s}</td>' if text else f"<td>{s}</td>"
                for s, text in zip(marked, self._text_columns(), strict=True)
            )
            body.append(f'<tr{kind}><th scope="row">{name}</th>{tds}</tr>')
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"

    def _text_columns(self) -> list[bool]:
        """Which columns after the first hold words, and are set to the left."""
        cells = zip(*(row[1:] for row in self.rows), strict=True)
        found = [any(isinstance(v, str) and v[:1].isalpha() for v in column) for column in cells]
        return found or [False] * (len(self.columns) - 1)

    def _shown(self, row: Sequence[Value]) -> list[str]:
        n = len(row) - 1
        digits = [self.digits] * n if isinstance(self.digits, int) else list(self.digits)
        return [str(row[0]), *(show(v, d) for v, d in zip(row[1:], digits, strict=True))]

    def _bold(self, row: Sequence[Value]) -> list[bool]:
        flags = [False] * len(row)
        if self.best is None:
            return flags
        # An average rank is better when lower, whatever is ranked.
        lower = self.best == "low" or str(row[0]) == "average rank"
        numbers = {
            i: float(text)
            for i, (text, value) in enumerate(zip(self._shown(row), row, strict=True))
            if i and not _missing(value) and not isinstance(value, str)
        }
        if len(numbers) < 2:
            return flags
        goal = min(numbers.values()) if lower else max(numbers.values())
        return [numbers.get(i) == goal for i in range(len(row))]


def show(value: Value, digits: int) -> str:
    """A number with so many decimals, a dash where there is none.

    Examples
    --------
    >>> show(0.12345, 3), show(7, 0), show(float("nan"), 3)
    ('0.123', '7', '-')
    """
    if _missing(value):
        return "-"
    return value if isinstance(value, str) else f"{value:.{digits}f}"


def p_value(p: float) -> str:
    """A p-value to three decimals.

    Examples
    --------
    >>> p_value(0.04567), p_value(0.00001)
    ('0.046', '<0.001')
    """
    return "-" if isnan(p) else "<0.001" if p < 0.0005 else f"{p:.3f}"


def _missing(value: Value) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _bar(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _pipes(text: str) -> str:
    return text.replace("|", "\\|")

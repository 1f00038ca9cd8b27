"""Tables of numbers for people: Markdown, LaTeX, CSV and HTML from one description."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isnan

from frri.export.csv import csv_text
from frri.export.latex import latex_text

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

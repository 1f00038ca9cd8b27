"""Rules as plain text, Markdown, LaTeX and CSV."""

import csv
import re
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from frri._util import one_line
from frri.rules.rule import Label
from frri.rules.ruleset import RuleSet
from frri.rules.text import cell_text, decision_text, rule_columns

Cell = Label | None


def to_text(ruleset: RuleSet) -> str:
    r"""Return one line per rule; line breaks and terminal codes in names become spaces.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> print(to_text(RuleSet((rule,), (Attribute("age"),), ("no", "yes"))))
    IF age < 30 THEN class = no   [weight 0.90]
    """
    return str(ruleset)


_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]~$|#!(){}@])")


def to_markdown(ruleset: RuleSet) -> str:
    """Return a table with a row per rule; markup in names is escaped.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> print(to_markdown(RuleSet((rule,), (Attribute("age"),), ("no", "yes"))))
    | rule | if | class | weight |
    | --- | --- | --- | --- |
    | 1 | age &lt; 30 | no | 0.90 |
    """
    rows = _table(ruleset, cell_text)
    lines = [f"| {' | '.join(map(_markdown_cell, cells))} |" for cells in rows]
    lines.insert(1, f"|{' --- |' * len(rows[0])}")
    costs = ["", _markdown_cell(decision_text(ruleset))] if ruleset.costs else []
    return "\n".join([*lines, *costs])


def _markdown_cell(cell: str) -> str:
    # Entities where some readers of Markdown know no backslash; a colon that makes no link.
    shown = one_line(cell).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return (
        _MARKDOWN_SPECIAL.sub(r"\\\1", shown).replace("://", "&#58;//").replace("www.", "www&#46;")
    )


_COMMANDS = {
    **{character: f"\\{character}" for character in "{}$&#%_"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<=": r"$\leq$",
    ">=": r"$\geq$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    '"': r"{\symbol{34}}",
    "`": r"\textasciigrave{}",
    # Ligatures and the optional argument of a line's end.
    "--": "-{}-",
    "''": "'{}'",
    "[": "{[}",
    "]": "{]}",
}
_LATEX_SPECIAL = re.compile("|".join(re.escape(text) for text in sorted(_COMMANDS, key=len)[::-1]))


def to_latex(ruleset: RuleSet) -> str:
    r"""Return a `tabular` with a row per rule, for documents that use the package booktabs.

    Every character that LaTeX would act on is escaped. Letters beyond Latin ones need a document
    compiled by LuaLaTeX or XeLaTeX with a font that has them.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "100%", 0.9)
    >>> print(to_latex(RuleSet((rule,), (Attribute("age"),), ("100%",))))
    \begin{tabular}{rp{0.5\linewidth}lr}
    \toprule
    rule & if & class & weight \\
    \midrule
    1 & age \textless{} 30 & 100\% & 0.90 \\
    \bottomrule
    \end{tabular}
    """
    rows = _table(ruleset, cell_text)
    titles, *lines = [" & ".join(map(escape_latex, cells)) + r" \\" for cells in rows]
    columns = "rp{0.5\\linewidth}l" + "r" * (len(rows[0]) - 3)
    head = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", titles, r"\midrule"]
    costs = ["", escape_latex(decision_text(ruleset))] if ruleset.costs else []
    return "\n".join([*head, *lines, r"\bottomrule", r"\end{tabular}", *costs])


def escape_latex(text: str) -> str:
    """Return a string on one line without LaTeX commands."""
    return _LATEX_SPECIAL.sub(lambda found: _COMMANDS[found.group()], one_line(text))


# What makes spreadsheets take a text for a formula, unless it is a number. Apostrophes before it
# are counted in, so that taking one away always gives the text.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def to_csv(ruleset: RuleSet) -> str:
    """Return a header and a row per rule; numbers in full precision.

    A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or
    a line break) gets an apostrophe in front. Numbers stay as they are.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "=1+1", 0.9)
    >>> print(to_csv(RuleSet((rule,), (Attribute("age"),), ("=1+1", "yes"))), end="")
    rule,if,class,weight
    1,age < 30,'=1+1,0.9
    """
    return csv_text(_table(ruleset, lambda _, cell: cell))


def csv_text(rows: Iterable[Iterable[Cell]]) -> str:
    r"""Return comma-separated values whose cells are read back unchanged.

    Except for what looks like a formula: there, one apostrophe in front is to be taken away.

    Examples
    --------
    >>> csv_text([["class"], ["one\rtwo"], ["=1+1"], ["-1"], [""], [None, 1]])
    'class\n"one\rtwo"\n\'=1+1\n-1\n""\n,1\n'
    """
    lines: list[str] = []
    # With this end of lines the csv module puts both of its characters in quotes, wherever they
    # are.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    writer.writerows([_csv_cell(cell) for cell in row] for row in rows)
    bare = (line.removesuffix("\r\n") for line in lines)
    # Readers would skip a line of nothing but spaces.
    return "".join(f"{row}\n" if row.strip() else f'"{row}"\n' for row in bare)


def _csv_cell(cell: Cell) -> Cell:
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def _table(ruleset: RuleSet, form: Callable[[str, Any], Any]) -> list[list[Any]]:
    """Return titles, and a row per rule: number, conditions, class, weight, statistics."""
    columns = rule_columns(ruleset)
    del columns["conditions"]
    titles = ["rule", *(ruleset.target if title == "then" else title for title in columns)]
    rows = [
        [form("rule", number), *(form(title, of(rule)) for title, of in columns.items())]
        for number, rule in enumerate(ruleset, start=1)
    ]
    return [[form("", title) for title in titles], *rows]

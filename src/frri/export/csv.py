"""Comma-separated values: rules, for spreadsheets and scripts, and the one way to write such a file."""

import csv
import re
from collections.abc import Iterable, Sequence
from itertools import chain

from frri.export.rows import Cell, table_rows
from frri.rules.ruleset import RuleSet

# What makes spreadsheets take a text for a formula, unless it is a number. Apostrophes before it are
# counted in, so that taking one away always gives the text.
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def to_csv(ruleset: RuleSet) -> str:
    """A header and a row per rule; numbers in full precision.

    A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or a
    line break) gets an apostrophe in front. Numbers stay as they are.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "=1+1", 0.9)
    >>> print(to_csv(RuleSet((rule,), (Attribute("age"),), ("=1+1", "yes"))), end="")
    rule,if,class,confidence
    1,age < 30,'=1+1,0.9
    """
    titles, rows = table_rows(ruleset)
    return csv_text(titles, rows)


def csv_text(titles: Iterable[str], rows: Iterable[Sequence[Cell]]) -> str:
    r"""A file of comma-separated values whose cells are read back as they were.

    Except for what looks like a formula: there, one apostrophe in front is to be taken away.

    Examples
    --------
    >>> csv_text(["class"], [["one\rtwo"], ["=1+1"], ["-1"], [""]])
    'class\n"one\rtwo"\n\'=1+1\n-1\n""\n'
    """
    return csv_lines(chain([titles], rows))


def csv_lines(rows: Iterable[Iterable[Cell]]) -> str:
    r"""Some rows of such a file.

    Examples
    --------
    >>> csv_lines([["a", 1], ["b", None]])
    'a,1\nb,\n'
    """
    lines = _Lines()
    # With this end of lines the csv module puts both of its characters in quotes, wherever they are.
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return "".join(lines)


class _Lines(list[str]):
    """Takes what a writer writes, row by row; readers would pass over a row of nothing but spaces."""

    def write(self, line: str) -> None:
        row = line.removesuffix("\r\n")
        self.append(f"{row}\n" if row.strip() else f'"{row}"\n')


def _cell(cell: Cell) -> Cell:
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"

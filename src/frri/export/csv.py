"""Rules as comma-separated values, for spreadsheets and scripts."""

import csv
import io

from frri.export.rows import Cell, table_rows
from frri.rules.ruleset import RuleSet

# What makes spreadsheets take a text for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def to_csv(ruleset: RuleSet) -> str:
    """A header and a row per rule; numbers in full precision.

    A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or a
    line break) gets an apostrophe in front, which spreadsheets do not show. Numbers stay as they are.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "=1+1", 0.9)
    >>> print(to_csv(RuleSet((rule,), (Attribute("age"),), ("=1+1", "yes"))), end="")
    rule,if,class,confidence
    1,age < 30,'=1+1,0.9
    """
    titles, rows = table_rows(ruleset)
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow([_cell(title) for title in titles])
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return output.getvalue()


def _cell(cell: Cell) -> Cell:
    # The csv module refuses what a quote cannot protect: a null character.
    text = cell.replace("\0", " ") if isinstance(cell, str) else cell
    return f"'{text}" if isinstance(text, str) and text.startswith(_FORMULA) else text

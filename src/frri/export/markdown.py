"""Rules as a Markdown table."""

import re

from frri.export.quoting import one_line
from frri.export.rows import shown_rows
from frri.rules.ruleset import RuleSet

_SPECIAL = re.compile(r"([\\`*_\[\]~$|#!(){}@])")


def to_markdown(ruleset: RuleSet) -> str:
    """A table with a row per rule; whatever names contain is shown and never acts as markup.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> print(to_markdown(RuleSet((rule,), (Attribute("age"),), ("no", "yes"))))
    | rule | if | class | confidence |
    | --- | --- | --- | --- |
    | 1 | age &lt; 30 | no | 0.90 |
    """
    titles, rows = shown_rows(ruleset)
    lines = [_line(titles), _line_of(["---"] * len(titles)), *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return _line_of([_cell(cell) for cell in cells])


def _line_of(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: str) -> str:
    # Entities where some readers of Markdown know no backslash; a colon that makes no link.
    shown = one_line(cell).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", shown).replace("://", "&#58;//").replace("www.", "www&#46;")

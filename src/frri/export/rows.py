"""What tables of rules have in common: a row per rule, cells of text or numbers."""

from collections.abc import Callable
from typing import Any, TypeVar

from frri.rules.rule import Label
from frri.rules.ruleset import RuleSet
from frri.rules.text import cell_text, rule_columns

Cell = Label | None
CellT = TypeVar("CellT")


def table_rows(ruleset: RuleSet) -> tuple[list[str], list[list[Cell]]]:
    """Column titles, and a row per rule: number, conditions, class, confidence, statistics.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> table_rows(RuleSet((rule,), (Attribute("age"),), ("no", "yes"), "answer"))
    (['rule', 'if', 'answer', 'confidence'], [[1, 'age < 30', 'no', 0.9]])
    """
    return _table(ruleset, lambda _, cell: cell)


def shown_rows(ruleset: RuleSet) -> tuple[list[str], list[list[str]]]:
    """The same for people.

    Examples
    --------
    >>> from frri import Rule
    >>> shown_rows(RuleSet((Rule((), -1234.5678),), (), (), "price", semantics="weighted-mean"))[1]
    [['1', '', '-1234.57', '1.00']]
    """
    return _table(ruleset, cell_text)


def _table(
    ruleset: RuleSet, form: Callable[[str, Any], CellT]
) -> tuple[list[str], list[list[CellT]]]:
    columns = rule_columns(ruleset)
    del columns["conditions"]
    titles = [ruleset.target if title == "then" else title for title in columns]
    rows = [
        [form("rule", number), *(form(title, of(rule)) for title, of in columns.items())]
        for number, rule in enumerate(ruleset, start=1)
    ]
    return ["rule", *titles], rows

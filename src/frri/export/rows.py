"""What tables of rules have in common: a row per rule, cells of text or numbers."""

from frri.rules.rule import Label
from frri.rules.ruleset import RuleSet
from frri.rules.text import conclusion, conclusion_shown, condition_texts

Cell = str | Label | None


def table_rows(ruleset: RuleSet) -> tuple[list[str], list[list[Cell]]]:
    """Column titles, and a row per rule: number, conditions, class, confidence, statistics.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> table_rows(RuleSet((rule,), (Attribute("age"),), ("no", "yes"), "answer"))
    (['rule', 'if', 'answer', 'confidence'], [[1, 'age < 30', 'no', 0.9]])
    """
    titles = ["rule", "if", ruleset.target, "confidence"]
    known = any(rule.statistics is not None for rule in ruleset)
    if known:
        titles += ["covers", "precision", "lift", "alone"]
    rows: list[list[Cell]] = []
    for number, rule in enumerate(ruleset, start=1):
        conditions = " AND ".join(condition_texts(ruleset, rule))
        row: list[Cell] = [number, conditions, conclusion(ruleset, rule), rule.weight]
        found = rule.statistics
        if found is not None:
            row += [found.covered, found.precision, found.lift, found.alone]
        elif known:
            row += [None] * 4
        rows.append(row)
    return titles, rows


def shown_rows(ruleset: RuleSet) -> tuple[list[str], list[list[Cell]]]:
    """The same for people: what rules say as a text.

    Examples
    --------
    >>> from frri import Rule
    >>> shown_rows(RuleSet((Rule((), -1234.5678),), (), (), "price", semantics="weighted-mean"))[1]
    [[1, '', '-1234.57', 1.0]]
    """
    titles, rows = table_rows(ruleset)
    return titles, [
        [*row[:2], conclusion_shown(conclusion(ruleset, rule)), *row[3:]]
        for row, rule in zip(rows, ruleset, strict=True)
    ]

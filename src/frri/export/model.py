"""The parts that all exports share: model literals, quoting, and the rows of tables."""

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any, TypeVar

from frri.rules.rule import Label
from frri.rules.ruleset import RuleSet
from frri.rules.text import cell_text, rule_columns

_OF_RULES = ("if", "then", "weight", "distribution", "partial_weights", "votes", "relation")


def model_to_evaluate(ruleset: RuleSet) -> dict[str, Any]:
    """Return the saved form without provenance and statistics.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9, source=7)
    >>> model_to_evaluate(RuleSet((rule,), (Attribute("age"),), ("no", "yes")))["rules"][0].keys()
    dict_keys(['if', 'then', 'weight'])
    """
    content = ruleset.to_dict()
    del content["about"]
    content["rules"] = [
        {key: rule[key] for key in _OF_RULES if key in rule} for rule in content["rules"]
    ]
    return content


def format_model(content: dict[str, Any], write: Any) -> str:
    """Return a dictionary literal with an attribute and a rule per line, values by `write`.

    Examples
    --------
    >>> print(format_model({"target": "class", "rules": [1, 2]}, repr))
    {
      'target': 'class',
      'rules': [
        1,
        2,
      ],
    }
    """
    lines = ["{"]
    for key, value in content.items():
        if key in {"attributes", "rules"} and value:
            lines.append(f"  {write(key)}: [")
            lines += [f"    {write(item)}," for item in value]
            lines.append("  ],")
        else:
            lines.append(f"  {write(key)}: {write(value)},")
    return "\n".join([*lines, "}"])


# Ends a script element, opens one, or starts a comment in a page around the script.
_MARKUP = re.compile(r"<(?=[/!?a-zA-Z])")


def one_line(text: str) -> str:
    r"""Replace line breaks and other control characters by spaces.

    Examples
    --------
    >>> one_line("red\nDROP\x1b[31m")
    'red DROP [31m'
    """
    control = {"Cc", "Zl", "Zp", "Cs"}
    return "".join(" " if unicodedata.category(c) in control else c for c in text)


def escape_text(text: str) -> str:
    r"""Return a string in ASCII and one line, for comments of programs and literals of scripts.

    Examples
    --------
    >>> escape_text("a <= 5\n</script>")
    'a <= 5\\n\\u003c/script>'
    """
    return escape_json(text)[1:-1]


def escape_json(value: object) -> str:
    r"""Return JSON that is safe inside a JavaScript file and a script element of a page.

    Examples
    --------
    >>> escape_json("</script>\u2028")
    '"\\u003c/script>\\u2028"'
    """
    return _MARKUP.sub(r"\\u003c", json.dumps(value, allow_nan=False))


Cell = Label | None
CellT = TypeVar("CellT")


def rule_rows(ruleset: RuleSet) -> tuple[list[str], list[list[Cell]]]:
    """Return column titles, and a row per rule: number, conditions, class, weight, statistics.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> rule_rows(RuleSet((rule,), (Attribute("age"),), ("no", "yes"), "answer"))
    (['rule', 'if', 'answer', 'confidence'], [[1, 'age < 30', 'no', 0.9]])
    """
    return _table(ruleset, lambda _, cell: cell)


def display_rows(ruleset: RuleSet) -> tuple[list[str], list[list[str]]]:
    """Return the same, rounded for display.

    Examples
    --------
    >>> from frri import Rule
    >>> rules = Rule((), -1234.5678),
    >>> display_rows(RuleSet(rules, (), (), "price", semantics="weighted-mean"))[1]
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

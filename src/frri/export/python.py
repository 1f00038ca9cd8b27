"""Rules as a Python module without dependencies, printed from the scoring program."""

from typing import Any, ClassVar

from frri.export.lowering import lower
from frri.export.program import Branch
from frri.export.script import ScriptPrinter, escape_text
from frri.rules.ruleset import RuleSet


class PythonPrinter(ScriptPrinter):
    """Python 3.8 or later."""

    choice, sequence, find = "{1} if {0} else {2}", "({})", "{1}.index({0})"
    assign = result = "{} = {}"
    comment, contains = "  # {}", "{} in {}"
    missing: ClassVar = {"text": "{} is None", "number": "isnan({})"}
    template, indent, table = "module.py.txt", "    ", "{} = {}\n"
    readers: ClassVar = {
        "numeric": ("_number",),
        "date": ("_days",),
        "ordinal": ("_position",),
        "nominal": ("_category",),
    }

    def literal(self, value: Any) -> str:
        """Return a value in ASCII."""
        return ascii(value)

    def branch(self, step: Branch, holds: list[str], fails: list[str]) -> list[str]:
        """Return if and else."""
        return [f"if {self.expression(step.test)}:", *holds, "else:", *fails]


def to_python(ruleset: RuleSet) -> str:
    """Return the source of a module with `predict(row)`, `scores(row)`, `explain(row)` and more.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> source = to_python(RuleSet((rule,), (Attribute("age"),), ("no", "yes")))
    >>> [line.strip() for line in source.splitlines() if line.startswith("    c1 =")]
    ['c1 = x1 < 30.0  # age < 30']
    >>> module = {}
    >>> exec(source, module)
    >>> module["predict"]({"age": 25})
    'no'
    """
    target = escape_text(ruleset.target).replace("\\", "\\\\").replace('"', "'")
    return PythonPrinter(lower(ruleset)).module(target).rstrip() + "\n"

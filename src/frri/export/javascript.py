"""Rules as a JavaScript module without dependencies, printed from the scoring program."""

from typing import Any, ClassVar

from frri.export.lowering import lower
from frri.export.program import Branch
from frri.export.script import SIGNS, ScriptPrinter, escape_json, escape_text
from frri.rules.ruleset import RuleSet

# Beyond this JavaScript's numbers are not exact integers.
_LARGEST_INTEGER = 2**53


class JavaScriptPrinter(ScriptPrinter):
    """ES2020 or later: browsers, Node, Deno."""

    signs: ClassVar = {**SIGNS, "all": "&&", "any": "||", "==": "===", "!=": "!=="}
    functions: ClassVar = {op: f"Math.{op}({{}})" for op in ("min", "max", "exp")}
    choice, find = "{0} ? {1} : {2}", "{1}.indexOf({0})"
    assign, result = "const {} = {};", "{} = {};"
    comment, contains = " // {}", "{1}.includes({0})"
    missing: ClassVar = {"text": "{} === null", "number": "Number.isNaN({})"}
    template, indent, table = "module.mjs.txt", "  ", "const {} = new Map({});\n"
    readers: ClassVar = {
        "numeric": ("readNumber",),
        "date": ("readDays",),
        "ordinal": ("readCategory", "readPosition"),
        "nominal": ("readCategory",),
    }

    def literal(self, value: Any) -> str:
        """Return a value in ASCII; a mapping as a list of pairs."""
        if isinstance(value, float):
            return repr(value).replace("inf", "Infinity")
        return escape_json(list(value.items()) if isinstance(value, dict) else value)

    def branch(self, step: Branch, holds: list[str], fails: list[str]) -> list[str]:
        """Return declarations, if and else."""
        names = ", ".join(name for name, _, _ in step.results)
        test = self.expression(step.test)
        return [f"let {names};", f"if ({test}) {{", *holds, "} else {", *fails, "}"]


def to_javascript(ruleset: RuleSet) -> str:
    """Return an ES module with `predict(row)`, `scores(row)`, `explain(row)` and more.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> module = to_javascript(RuleSet((rule,), (Attribute("age"),), ("no", "yes")))
    >>> "export const predict" in module
    True
    """
    for label in ruleset.classes:
        if isinstance(label, int) and abs(label) > _LARGEST_INTEGER:
            raise ValueError(
                f"JavaScript cannot hold the class {label} exactly; make the classes strings."
            )
    target = escape_text(ruleset.target).replace("*/", "* /")
    return JavaScriptPrinter(lower(ruleset)).module(target)

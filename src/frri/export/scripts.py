"""Rules as modules without dependencies in Python and JavaScript, from the scoring program."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from frri.export.lowering import lower
from frri.export.program import SIGNS, Assignment, ExpressionPrinter, Step
from frri.rules.ruleset import RuleSet
from frri.table import Attribute
from frri.table.encode import FLAGS, category_texts, folding

# Ends a script element, opens one, or starts a comment in a page around the script.
_MARKUP = re.compile(r"<(?=[/!?a-zA-Z])")
# Beyond this JavaScript's numbers are not exact integers.
_LARGEST_INTEGER = 2**53


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


class ScriptPrinter(ExpressionPrinter):
    """A module that runs a program; a subclass per language.

    Attributes
    ----------
    assign, result, comment : str
        Templates of assignments and of results of a branch (name, value), and of comments.
    branch : tuple
        Templates of the lines before, between and after the two sides of a branch (names, test).
    template, indent, table : str
        The file of the module around the steps, in the folder `templates`, the indentation of
        steps, and the template of a table of texts (name, table).
    readers : mapping
        For each kind of column the functions of this file that are needed to read it, the last of
        which reads it.
    """

    assign: ClassVar[str]
    result: ClassVar[str]
    comment: ClassVar[str]
    branch: ClassVar[tuple[Sequence[str], str, Sequence[str]]]
    template: ClassVar[str]
    indent: ClassVar[str]
    table: ClassVar[str]
    readers: ClassVar[Mapping[str, tuple[str, ...]]]

    def column(self, position: int) -> str:
        """Return a call of the function that reads a column."""
        attribute = self.program.ruleset.attributes[position]
        arguments = ["row", self.literal(attribute.name)]
        if _column_texts(attribute):
            arguments.append(f"_X{position + 1}")
            if attribute.categories and folding(attribute.categories) is str.lower:
                arguments.append(self.literal(True))
        return f"{self.readers[attribute.kind][-1]}({', '.join(arguments)})"

    def module(self, target: str) -> str:
        """Return the whole source; the target is shown in a comment."""
        program, ruleset = self.program, self.program.ruleset
        self.comments = program.comments
        tables = {f"_X{j + 1}": _column_texts(attribute) for _, j, attribute in program.columns}
        given = ((name, self.literal(texts)) for name, texts in tables.items() if texts)
        kinds = dict.fromkeys(attribute.kind for _, _, attribute in program.columns)
        readers = dict.fromkeys(name for kind in kinds for name in self.readers[kind])
        parts = _read_parts(self.template)
        texts = {
            "target": target,
            "classes": self.literal(list(ruleset.classes)),
            "columns": self.literal([attribute.name for attribute in ruleset.attributes]),
            "tables": "".join(self.table.format(*pair) for pair in given),
            "readers": "".join(map(parts.__getitem__, readers)),
        }
        for name in ("steps", "probability_steps"):
            lines = self.lines(getattr(program, name))
            texts[name] = "\n".join(f"{self.indent}{line}" for line in lines)
        for name in ("prediction", "rule", "score"):
            texts[name] = self.expression(getattr(program, name))
        for name in ("scores", "degrees", "probabilities"):
            texts[name] = self.several([*map(self.expression, getattr(program, name))])
        return parts["module"].rstrip().format(**texts)

    def lines(self, steps: Sequence[Step]) -> list[str]:
        """Return the lines of steps, with their meanings in comments."""
        lines: list[str] = []
        for step in steps:
            if isinstance(step, Assignment):
                line = self.assign.format(step.name, self.expression(step.value))
                text = self.comments.get(step.name)
                lines.append(line + (self.comment.format(escape_text(text)) if text else ""))
                continue
            sides = self.lines(step.holds), self.lines(step.fails)
            for name, *values in step.results:
                for side, value in zip(sides, values, strict=True):
                    side.append(self.result.format(name, self.expression(value)))
            holds, fails = ([f"{self.indent}{line}" for line in side] for side in sides)
            before, between, after = self.branch
            names = ", ".join(name for name, _, _ in step.results)
            head = [one.format(names=names, test=self.expression(step.test)) for one in before]
            lines += [*head, *holds, between, *fails, *after]
        return lines


class PythonPrinter(ScriptPrinter):
    """Python 3.8 or later."""

    choice, sequence, find = "{1} if {0} else {2}", "({})", "{1}.index({0})"
    assign = result = "{} = {}"
    comment, contains = "  # {}", "{} in {}"
    branch = (("if {test}:",), "else:", ())
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


class JavaScriptPrinter(ScriptPrinter):
    """ES2020 or later: browsers, Node, Deno."""

    signs: ClassVar = {**SIGNS, "all": "&&", "any": "||", "==": "===", "!=": "!=="}
    functions: ClassVar = {op: f"Math.{op}({{}})" for op in ("min", "max", "exp")}
    choice, find = "{0} ? {1} : {2}", "{1}.indexOf({0})"
    assign, result = "const {} = {};", "{} = {};"
    comment, contains = " // {}", "{1}.includes({0})"
    branch = (("let {names};", "if ({test}) {{"), "} else {", ("}",))
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


@cache
def _read_parts(template: str) -> dict[str, str]:
    """Return the parts of a file of the folder `templates`, each begun by a line with its name."""
    text = files("frri.export").joinpath("templates", template).read_text(encoding="utf-8")
    names_and_parts = re.split(r"^\S+ --- (\w+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(names_and_parts[::2], names_and_parts[1::2], strict=True))


def _column_texts(attribute: Attribute) -> dict[str, Any]:
    """Return what has to be looked up among the texts of a column's values."""
    if attribute.is_flag:
        return dict(FLAGS)
    categories = attribute.categories or ()
    texts = category_texts(categories)
    if attribute.kind == "ordinal":
        return {text: float(categories.index(c)) for text, c in texts.items()}
    if folding(categories) is str and "" not in texts:
        return {text: c for text, c in texts.items() if text != c}
    return dict(texts)


def escape_text(text: str) -> str:
    """Return a string in ASCII and one line, for comments of programs and literals of scripts."""
    return escape_json(text)[1:-1]


def escape_json(value: object) -> str:
    r"""Return JSON that is safe inside a JavaScript file and a script element of a page.

    Examples
    --------
    >>> escape_json("</script>\u2028")
    '"\\u003c/script>\\u2028"'
    """
    return _MARKUP.sub(r"\\u003c", json.dumps(value, allow_nan=False))

"""What languages have in common in which a scoring program is printed."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from frri.export.program import Assignment, Branch, Expr, Program, Step
from frri.table import Attribute
from frri.table.encode import FLAGS, category_texts, folding

# Binding strength of operators, the same in all languages; everything else is closed.
_LEVELS = {"if": 0, "any": 1, "all": 2, "compare": 3, "among": 3}
_LEVELS |= {"add": 4, "sub": 4, "mul": 5, "div": 5}
_CLOSED = 9
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "all": "and", "any": "or"}
# Ends a script element, opens one, or starts a comment in a page around the script.
_MARKUP = re.compile(r"<(?=[/!?a-zA-Z])")


class ExpressionPrinter:
    """Expressions of a program as source code; a subclass per language.

    Attributes
    ----------
    signs : mapping
        Operators between arguments, and comparisons that are written in another way.
    functions : mapping
        Templates of calls of functions.
    missing : mapping
        Templates of tests whether a number or a text is missing.
    choice, sequence, find, pick, contains : str
        Templates of `if` (test, value, other value), of several values, of the position of a value
        (value, values), of the value at a position (position, values), and of the test whether a
        value is one of several (value, values).
    """

    signs: ClassVar[Mapping[str, str]] = SIGNS
    functions: ClassVar[Mapping[str, str]] = {"min": "min({})", "max": "max({})", "exp": "exp({})"}
    missing: ClassVar[Mapping[str, str]]
    choice: ClassVar[str]
    sequence: ClassVar[str] = "[{}]"
    contains: ClassVar[str]
    find: ClassVar[str]
    pick: ClassVar[str] = "{1}[{0}]"

    def __init__(self, program: Program) -> None:
        self.program = program

    def literal(self, value: Any) -> str:
        """Return a number, string or boolean as source code."""
        raise NotImplementedError

    def column(self, position: int) -> str:
        """Return the reading of a column."""
        raise NotImplementedError

    def name(self, name: str) -> str:
        """Return the name of a step."""
        return name

    def compare(self, node: Expr) -> str:
        """Return a comparison."""
        sign = self.signs.get(node.value, node.value)
        return f" {sign} ".join(self.expression(arg, _LEVELS["compare"] + 1) for arg in node.args)

    def among(self, value: str, categories: Sequence[str]) -> str:
        """Return whether a category is one of several."""
        texts = [self.literal(category) for category in categories]
        if len(texts) == 1:
            return f"{value} {self.signs.get('==', '==')} {texts[0]}"
        return self.contains.format(value, self.several(texts))

    def first(self, tests: Sequence[str]) -> str:
        """Return the position of the first test that holds."""
        true = self.literal(True)
        return self.find.format(true, self.several([*tests, true]))

    def index(self, value: str, values: Sequence[str]) -> str:
        """Return the position of a value."""
        return self.find.format(value, self.several(values))

    def several(self, values: Sequence[str]) -> str:
        """Return several values as one."""
        is_tuple = self.sequence[0] == "("
        return self.sequence.format(", ".join(values) + "," * (is_tuple and len(values) == 1))

    def expression(self, node: Expr, level: int = 0) -> str:
        """Return an expression, in parentheses if it binds more weakly than the level."""
        op, args, value = node
        own = _LEVELS.get(op, _CLOSED)
        if not args:
            shown = self._leaf(op, value)
        elif op == "if":
            shown = self.choice.format(*(self.expression(a, k < 2) for k, a in enumerate(args)))
        elif op == "compare":
            shown = self.compare(node)
        elif op in self.signs:
            # From left to right: an equally strong argument needs parentheses unless it is first.
            parts = [self.expression(arg, own + (k > 0)) for k, arg in enumerate(args)]
            shown = f" {self.signs[op]} ".join(parts)
        else:
            shown = self._call(node)
        return f"({shown})" if own < level else shown

    def _leaf(self, op: str, value: Any) -> str:
        if op == "name":
            return self.name(value)
        return self.column(value) if op == "column" else self.literal(value)

    def _call(self, node: Expr) -> str:
        op, args, value = node
        first, *others = texts = [self.expression(arg) for arg in args]
        special: Mapping[str, Callable[[], str]] = {
            "missing": lambda: self.missing[self.program.kind(args[0])].format(first),
            "among": lambda: self.among(first, value),
            "pick": lambda: self.pick.format(first, self.several(others)),
            "index": lambda: self.index(first, others),
            "first": lambda: self.first(texts),
        }
        return special[op]() if op in special else self.functions[op].format(", ".join(texts))


class ScriptPrinter(ExpressionPrinter):
    """A module that runs a program; a subclass per language.

    Attributes
    ----------
    assign, result, comment : str
        Templates of assignments and of results of a branch (name, value), and of comments.
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
    template: ClassVar[str]
    indent: ClassVar[str]
    table: ClassVar[str]
    readers: ClassVar[Mapping[str, tuple[str, ...]]]

    def branch(self, step: Branch, holds: list[str], fails: list[str]) -> list[str]:
        """Return two lists of indented lines behind a test."""
        raise NotImplementedError

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
        kinds = dict.fromkeys(attribute.kind for _, _, attribute in program.columns)
        readers = dict.fromkeys(name for kind in kinds for name in self.readers[kind])
        parts = _read_parts(self.template)
        return (
            parts["module"]
            .rstrip()
            .format(
                target=target,
                classes=self.literal(list(ruleset.classes)),
                columns=self.literal([attribute.name for attribute in ruleset.attributes]),
                tables="".join(
                    self.table.format(name, self.literal(t)) for name, t in tables.items() if t
                ),
                steps=self._indented(program.steps),
                prediction=self.expression(program.prediction),
                rule=self.expression(program.rule),
                score=self.expression(program.score),
                scores=self._expressions(program.scores),
                degrees=self._expressions(program.degrees),
                probability_steps=self._indented(program.probability_steps),
                probabilities=self._expressions(program.probabilities),
                readers="".join(map(parts.__getitem__, readers)),
            )
        )

    def _expressions(self, nodes: Sequence[Expr]) -> str:
        return self.several([self.expression(node) for node in nodes])

    def _indented(self, steps: Sequence[Step]) -> str:
        return "\n".join(f"{self.indent}{line}" for line in self.lines(steps))

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
            lines += self.branch(step, holds, fails)
        return lines


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

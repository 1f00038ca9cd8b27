"""What printing a scoring program as Python and as JavaScript has in common."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from frri.export.program import Assignment, Branch, Expr, Program, Step

# Binding strength of operators, the same in both languages; everything else is closed.
_LEVELS = {"if": 0, "any": 1, "all": 2, "compare": 3, "among": 3}
_LEVELS |= {"add": 4, "sub": 4, "mul": 5, "div": 5}
_CLOSED = 9
# Ends a script element, opens one, or starts a comment in a page around the script.
_MARKUP = re.compile(r"<(?=[/!?a-zA-Z])")


class ScriptPrinter:
    """Expressions and steps of a program as source code; a subclass per language.

    Attributes
    ----------
    signs : mapping
        Operators between arguments, and comparisons that are written in another way.
    functions : mapping
        Names of functions.
    choice, sequence, find, assign, result, comment : str
        Templates of `if` (test, value, other value), of several values, of the position of a value
        (value, values), of assignments and of results of a branch (name, value), of comments.
    """

    signs: ClassVar[Mapping[str, str]]
    functions: ClassVar[Mapping[str, str]]
    choice: ClassVar[str]
    sequence: ClassVar[str]
    find: ClassVar[str]
    assign: ClassVar[str]
    result: ClassVar[str]
    comment: ClassVar[str]

    def __init__(self, program: Program) -> None:
        self.program = program

    def literal(self, value: Any) -> str:
        """Return a number, string or boolean as source code."""
        raise NotImplementedError

    def column(self, position: int) -> str:
        """Return the reading of a column."""
        raise NotImplementedError

    def missing(self, value: str, kind: str) -> str:
        """Return whether a number or a text is missing."""
        raise NotImplementedError

    def among(self, value: str, categories: Sequence[str]) -> str:
        """Return whether a category is one of several."""
        raise NotImplementedError

    def branch(self, step: Branch, holds: list[str], fails: list[str]) -> list[str]:
        """Return two lists of lines behind a test."""
        raise NotImplementedError

    def several(self, nodes: Sequence[Expr]) -> str:
        """Return several values as one."""
        return self._several([self.expression(node) for node in nodes])

    def _several(self, values: Sequence[str]) -> str:
        return self.sequence.format(", ".join(values) + ("," if len(values) == 1 else ""))

    def expression(self, node: Expr, level: int = 0) -> str:
        """Return an expression, in parentheses if it binds more weakly than the level."""
        op, args, value = node
        own = _LEVELS.get(op, _CLOSED)
        if not args:
            shown = self._leaf(op, value)
        elif op == "if":
            shown = self.choice.format(*(self.expression(a, k < 2) for k, a in enumerate(args)))
        elif op == "compare":
            sign = self.signs.get(value, value)
            shown = f" {sign} ".join(self.expression(arg, own + 1) for arg in args)
        elif op in self.signs:
            # From left to right: an equally strong argument needs parentheses unless it is first.
            parts = [self.expression(arg, own + (k > 0)) for k, arg in enumerate(args)]
            shown = f" {self.signs[op]} ".join(parts)
        else:
            shown = self._call(node)
        return f"({shown})" if own < level else shown

    def _leaf(self, op: str, value: Any) -> str:
        if op == "name":
            return str(value)
        return self.column(value) if op == "column" else self.literal(value)

    def _call(self, node: Expr) -> str:
        op, args, value = node
        first, *others = (self.expression(arg) for arg in args)
        special: Mapping[str, Callable[[], str]] = {
            "missing": lambda: self.missing(first, self.program.kind(args[0])),
            "among": lambda: self.among(first, value),
            "pick": lambda: f"{self._several(others)}[{first}]",
            "index": lambda: self.find.format(first, self._several(others)),
            "first": lambda: self.find.format(
                self.literal(True), self._several([first, *others, self.literal(True)])
            ),
        }
        if op in special:
            return special[op]()
        return f"{self.functions[op]}({', '.join([first, *others])})"

    def lines(self, steps: Sequence[Step]) -> list[str]:
        """Return the lines of steps, with their meanings in comments."""
        lines: list[str] = []
        for step in steps:
            if isinstance(step, Assignment):
                line = self.assign.format(step.name, self.expression(step.value))
                comment = self.comment.format(escape_text(step.comment)) if step.comment else ""
                lines.append(line + comment)
                continue
            sides = self.lines(step.holds), self.lines(step.fails)
            for name, *values in step.results:
                for side, value in zip(sides, values, strict=True):
                    side.append(self.result.format(name, self.expression(value)))
            lines += self.branch(step, *sides)
        return lines


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

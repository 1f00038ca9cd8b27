"""What printing a scoring program as Python and as JavaScript has in common."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from frri.export.program import Assignment, Branch, Expr, Program, Step
from frri.table import Attribute
from frri.table.encode import FLAGS, category_texts, folding

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
    template, indent, table : str
        The module around the steps, the indentation of steps, and the template of a table of texts
        (name, table).
    readers : mapping
        For each kind of column the function that reads it, and the parts of the module that define
        this function.
    """

    signs: ClassVar[Mapping[str, str]]
    functions: ClassVar[Mapping[str, str]]
    choice: ClassVar[str]
    sequence: ClassVar[str]
    find: ClassVar[str]
    assign: ClassVar[str]
    result: ClassVar[str]
    comment: ClassVar[str]
    template: ClassVar[str]
    indent: ClassVar[str]
    table: ClassVar[str]
    readers: ClassVar[Mapping[str, tuple[str, ...]]]

    def __init__(self, program: Program) -> None:
        self.program = program

    def literal(self, value: Any) -> str:
        """Return a number, string or boolean as source code."""
        raise NotImplementedError

    def missing(self, value: str, kind: str) -> str:
        """Return whether a number or a text is missing."""
        raise NotImplementedError

    def among(self, value: str, categories: Sequence[str]) -> str:
        """Return whether a category is one of several."""
        raise NotImplementedError

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
        return f"{self.readers[attribute.kind][0]}({', '.join(arguments)})"

    def module(self, target: str) -> str:
        """Return the whole source; the target is shown in a comment."""
        program, ruleset = self.program, self.program.ruleset
        tables = {f"_X{j + 1}": _column_texts(attribute) for _, j, attribute in program.columns}
        kinds = dict.fromkeys(attribute.kind for _, _, attribute in program.columns)
        readers = dict.fromkeys(part for kind in kinds for part in self.readers[kind][1:])
        return self.template.format(
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
            scores=self.several(program.scores),
            degrees=self.several(program.degrees),
            probability_steps=self._indented(program.probability_steps),
            probabilities=self.several(program.probabilities),
            readers="".join(readers),
        )

    def _indented(self, steps: Sequence[Step]) -> str:
        return "\n".join(f"{self.indent}{line}" for line in self.lines(steps))

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
            holds, fails = ([f"{self.indent}{line}" for line in side] for side in sides)
            lines += self.branch(step, holds, fails)
        return lines


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

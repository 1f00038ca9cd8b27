"""Rule sets as Excel workbooks: cases to fill in, live formulas, and rules with editable cells.

The sheet `Cases` has a row of inputs and results for each case, `Rules` the bounds, weights and
numbers of the rules as cells that may be edited, and `Failed` the conditions of every rule that
fail. The hidden sheet `Steps` has a column for each step of the scoring program, and `Numbers` its
constants in full precision, which formulas of Excel do not have.

The program is lowered from a copy of the rules in which every editable number is a placeholder;
where a placeholder occurs in the program, the formula refers to its cell.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from math import inf, nextafter
from typing import Any

import numpy as np

from frri._util import import_optional, one_line
from frri.export.program import Assignment, Expr, Step, expressions, lower
from frri.rules.condition import Condition, NumericCondition, is_strict
from frri.rules.rule import Rule
from frri.rules.ruleset import RuleSet
from frri.rules.text import condition_text
from frri.table import Attribute, to_matrix
from frri.table.encode import category_spellings

# Day 0 of 1970 in the numbers of Excel.
EPOCH = 25_569
# Longer lists of arguments are written to cells of their own, and longer numbers too.
FEW, DIGITS = 30, 15
# Longer formulas are never written into others.
SHORT = 500
SIDES = ("partly from", "from", "to", "partly to")
# Names and categories are never formulas or links.
OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
# Stands for the number of the row in formulas.
ROW = "\0"
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
FUNCTIONS = {"min": "MIN", "max": "MAX", "all": "AND", "any": "OR", "exp": "EXP", "if": "IF"}


def to_excel(ruleset: RuleSet, X: Any = None, n_cases: int = 50) -> bytes:
    """Return a workbook that predicts cases by live formulas.

    Parameters
    ----------
    ruleset : RuleSet
    X : data frame, optional
        Samples to fill in as the first cases.
    n_cases : int, default=50
        Number of rows of the sheet `Cases` that have formulas, at least those of X.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> to_excel(RuleSet((rule,), (Attribute("age"),), ("no", "yes"), fallback="priors"))[:2]
    b'PK'
    """
    content = BytesIO()
    writer = import_optional("xlsxwriter", "An Excel workbook", "excel")
    with writer.Workbook(content, OPTIONS) as book:
        _Writer(ruleset, book, max(n_cases, 0 if X is None else len(X))).write(X)
    return content.getvalue()


class _Formula(str):
    """A formula that uses no recent function.

    xlsxwriter would look for all of them unless it finds the prefix of one, for most of the time.
    """

    __slots__ = ()

    def __contains__(self, text: object) -> bool:
        return text == "_xlfn." or (isinstance(text, str) and text in str(self))


class _Writer:
    """A workbook in the making."""

    def __init__(self, ruleset: RuleSet, book: Any, n_cases: int) -> None:
        self.ruleset, self.n_cases = ruleset, n_cases
        names = ("Cases", "Rules", "Failed", "Steps", "Numbers")
        self.sheets = {name: book.add_worksheet(name) for name in names}
        self.bold = book.add_format({"bold": True})
        self.input = book.add_format(
            {"bg_color": "#FFF9DB", "border": 1, "border_color": "#DDDDDD"}
        )
        self.day = book.add_format({"bg_color": "#FFF9DB", "num_format": "yyyy-mm-dd"})
        self.cells: dict[float, str] = {}
        self.texts: list[list[str]] = []
        self.refs: dict[str, str] = {}
        self.spans: dict[tuple[str, ...], str] = {}
        self.n_steps = self.n_numbers = 0
        self.random = np.random.default_rng(0)

    def write(self, X: Any) -> None:
        """Write the rules, the steps of the program and the results."""
        rules = tuple(self._write_rules())
        self.program = program = lower(replace(self.ruleset, rules=rules))
        codes = [a.categories or () for a in self.ruleset.attributes if a.kind == "nominal"]
        every = dict.fromkeys(text for categories in codes for text in categories)
        self.codes = {text: code for code, text in enumerate(every, start=1)}
        inputs = [attribute for _, _, attribute in program.columns]
        self.inputs = {a.name: f"Cases!${_letters(k)}{ROW}" for k, a in enumerate(inputs)}
        steps = [*program.steps, *program.probability_steps]
        self.uses = Counter(name for node in expressions(steps) for name in node.names)
        self._write_steps(steps)
        results = {"prediction": program.prediction, "rule": program.rule}
        labels = [f"probability {label}" for label in self.ruleset.classes]
        results |= dict(zip(labels, program.probabilities, strict=True))
        self.filled = "OR(" + ",".join(f'{cell}<>""' for cell in self.inputs.values()) + ")"
        sheet = self.sheets["Cases"]
        sheet.write_row(0, 0, [*self.inputs, *results], self.bold)
        for k, (_, j, attribute) in enumerate(program.columns):
            format_ = self.day if attribute.kind == "date" else self.input
            values = [] if X is None else _values(X, self.ruleset.attributes, j)
            for row in range(1, self.n_cases + 1):
                value = values[row - 1] if row <= len(values) else None
                sheet.write(row, k, value, format_)
        for k, node in enumerate(results.values(), start=len(inputs)):
            shown = self._text(node) if inputs else "TRUE"
            self._fill("Cases", k, f'IF({self.filled},{shown},"")' if inputs else shown)
        self._write_failed(program.steps)
        sheet.set_column(0, len(inputs) + len(results), 14)
        sheet.freeze_panes(1, 0)
        self.sheets["Steps"].hide()
        self.sheets["Numbers"].hide()

    # ---------------------------------------------------------------- rules

    def _write_rules(self) -> Iterator[Rule]:
        """Write the rules, and yield them with placeholders in the place of numbers."""
        sheet, row = self.sheets["Rules"], 1
        sheet.write_row(0, 0, ["rule", "condition", *SIDES, "then", "weight"], self.bold)
        attributes = {a.name: a for a in self.ruleset.attributes}
        for r, rule in enumerate(self.ruleset, start=1):
            weight, said = rule.weight, rule.consequent
            sheet.write_row(row, 0, [r, "" if rule.conditions else "always"])
            if weight > 0.0:
                weight = self._editable(row, 7, weight)
                self.cells[min(1.0 - 1.0 / weight, 0.0)] = f"MIN(1-1/{self.cells[weight]},0)"
            if self.ruleset.semantics.meaning.says == "number":
                said = self._editable(row, 6, float(said))
            else:
                words = "" if rule.relation == "is" else f"{rule.relation} "
                sheet.write(row, 6, f"{words}{said}")
            conditions: list[Condition] = []
            self.texts.append([])
            for condition in rule.conditions:
                attribute = attributes[condition.attribute]
                text = condition_text(condition, attribute, self.ruleset.clip)
                sheet.write_string(row, 1, text)
                self.texts[-1].append(f"Rules!$B${row + 1}")
                if isinstance(condition, NumericCondition):
                    condition = self._write_bounds(row, condition, attribute)  # noqa: PLW2901
                    self._write_condition(row, condition, attribute)
                conditions.append(condition)
                row += 1
            row += not rule.conditions
            yield replace(rule, conditions=tuple(conditions), weight=weight, consequent=said)
        sheet.set_column(1, 1, 45)

    def _write_bounds(
        self, row: int, condition: NumericCondition, attribute: Attribute
    ) -> NumericCondition:
        """Write the bounds of a condition; a crisp bound is one cell."""
        sides = (
            (condition.support_low, condition.core_low, 2, 3),
            (condition.support_high, condition.core_high, 5, 4),
        )
        bounds = sorted(self.random.uniform(1e6, 9e6, 4).tolist())
        found: dict[str, Any] = {}
        for (support, core, far, near), place, side in zip(
            sides, ((0, 1), (3, 2)), ("low", "high"), strict=True
        ):
            if abs(core) == inf:
                found |= {f"core_{side}": core, f"support_{side}": support}
                continue
            inner, crisp = bounds[place[1]], core == support or is_strict(core, support)
            end = inner if crisp else bounds[place[0]]
            shown = support if crisp else core
            self._editable(row, near, shown, attribute, inner)
            if not crisp:
                self._editable(row, far, support, attribute, end)
                width = f"ABS({self.cells[inner]}-{self.cells[end]})"
                self.cells[abs(inner - end)] = width
            outer = inf if side == "low" else -inf
            if crisp and core != support:  # the neighbour of a strict bound is the same cell
                self.cells[nextafter(inner, outer)] = self.cells[inner]
                inner = nextafter(inner, outer)
            found |= {f"core_{side}": inner, f"support_{side}": end}
        return replace(condition, **found)

    def _editable(
        self,
        row: int,
        column: int,
        value: float,
        attribute: Attribute | None = None,
        mark: float | None = None,
    ) -> float:
        """Write a number that may be edited, and return its placeholder."""
        is_date = attribute is not None and attribute.kind == "date"
        days = EPOCH if is_date else 0
        self.sheets["Rules"].write_number(
            row, column, value + days, self.day if is_date else self.input
        )
        mark = self.random.uniform(0.1, 0.9) if mark is None else mark
        cell = f"Rules!${_letters(column)}${row + 1}"
        self.cells[mark] = f"({cell}-{EPOCH})" if is_date else cell
        return mark

    def _write_condition(self, row: int, condition: NumericCondition, attribute: Attribute) -> None:
        """Write the text of a condition as a formula of its bounds."""
        if attribute.kind == "ordinal":
            return
        cells = [f"{letter}{row + 1}" for letter in "CDEF"]
        if attribute.kind == "date":
            cells = [f'TEXT({cell},"yyyy-mm-dd")' for cell in cells]
        parts, name = [], one_line(attribute.name).replace('"', '""')
        for core, support, (near, far), words in (
            (condition.core_low, condition.support_low, (1, 0), (">", "from")),
            (condition.core_high, condition.support_high, (2, 3), ("<", "to")),
        ):
            if abs(core) == inf:
                continue
            strict = core != support and is_strict(core, support)
            text = f'"{name} {words[0]}{"" if strict else "="} "&{cells[near]}'
            if core != support and not strict:
                text += f'&" (partly {words[1]} "&{cells[far]}&")"'
            parts.append(text)
        if parts:
            self.sheets["Rules"].write_formula(row, 1, "=" + '&" and "&'.join(parts))

    def _write_failed(self, steps: Sequence[Step]) -> None:
        """Write the conditions of each rule that fail for a case."""
        sheet, numbers = self.sheets["Failed"], iter(range(1, len(steps)))
        sheet.write_row(0, 0, [f"rule {r}" for r in range(1, len(self.ruleset) + 1)], self.bold)
        names: dict[Any, str] = {}
        for r, rule in enumerate(self.program.ruleset):
            tests = []
            for condition, text in zip(rule.conditions, self.texts[r], strict=True):
                if condition not in names:
                    names[condition] = f"c{next(numbers)}"
                holds, kind = self.refs[names[condition]], self.program.kinds[names[condition]]
                tests.append(f'IF({holds}{"" if kind == "truth" else ">0"},"",{text}&"; ")')
            if tests:
                self._fill("Failed", r, f'IF({self.filled},{"&".join(tests)},"")')
        sheet.set_column(0, len(self.ruleset), 30)
        sheet.freeze_panes(1, 0)

    # ---------------------------------------------------------------- formulas

    def _fill(self, sheet: str, column: int, formula: str) -> None:
        for row in range(1, self.n_cases + 1):
            text = _Formula(formula.replace(ROW, str(row + 1)))
            self.sheets[sheet].write_formula(row, column, text, None, "")

    def _step(self, formula: str, title: str = "") -> str:
        """Write a column of formulas, and return the reference to it."""
        self._fill("Steps", self.n_steps, formula)
        self.sheets["Steps"].write_string(0, self.n_steps, title)
        self.n_steps += 1
        return f"Steps!${_letters(self.n_steps - 1)}{ROW}"

    def _numbers(self, values: Sequence[Any]) -> str:
        """Write constants below each other, and return the reference to them."""
        start = self.n_numbers + 1
        self.sheets["Numbers"].write_column(self.n_numbers, 0, values)
        self.n_numbers += len(values)
        end = f":$A${self.n_numbers}" if len(values) > 1 else ""
        return f"Numbers!$A${start}{end}"

    def _write_steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            if isinstance(step, Assignment):
                text = self._text(step.value)
                # The sheet `Failed` refers to conditions, and tests for missing values to columns.
                is_cell = self.uses[step.name] > 1 or len(text) > SHORT or step.name[0] in "cxy"
                self.refs[step.name] = self._step(text, step.name) if is_cell else text
                continue
            test = self._step(self._text(step.test))
            self._write_steps(step.holds)
            self._write_steps(step.fails)
            for name, yes, no in step.results:
                formula = f"IF({test},{self._text(yes)},{self._text(no)})"
                self.refs[name] = self._step(formula, name)

    def _text(self, node: Expr) -> str:
        """Return the formula of an expression."""
        op, args, value = node
        if not args:
            return self._leaf(op, value)
        if op == "pick" and all(arg.op in {"const", "label", "place"} for arg in args[1:]):
            choices = [arg.value for arg in args[1:]]
            if not any(choice in self.cells for choice in choices):
                return f"INDEX({self._numbers(choices)},{self._text(args[0])}+1)"
        texts = [self._text(arg) for arg in args]
        if op == "compare":
            guards = [t for t, a in zip(texts, args, strict=True) if str(a.value)[:1] in {"x", "y"}]
            test = f"({texts[0]}{ {'==': '=', '!=': '<>'}.get(value, value) }{texts[1]})"
            return f"IF(ISNUMBER({guards[0]}),{test},FALSE)" if guards else test
        if op in FUNCTIONS and len(texts) <= FEW:
            return f"{FUNCTIONS[op]}({','.join(texts)})"
        if op in SIGNS:
            return f"({SIGNS[op].join(texts)})"
        return self._list(op, texts, value)

    def _list(self, op: str, texts: list[str], value: Any) -> str:
        """Return the formula of a test of a category, or of an operation on adjacent cells."""
        if op in {"missing", "among"}:
            wanted = ['""'] if op == "missing" else [self.codes[one] for one in value]
            return "OR(" + ",".join(f"{texts[0]}={one}" for one in wanted) + ")"
        listed = {"first": [*texts, "TRUE"], "index": texts[1:], "pick": texts[1:]}.get(op, texts)
        if tuple(listed) not in self.spans:
            cells = [self._step(text) for text in listed]
            self.spans[tuple(listed)] = f"{cells[0]}:{cells[-1].partition('!')[2]}"
        span = self.spans[tuple(listed)]
        if op == "first":
            return f"(MATCH(TRUE,{span},0)-1)"
        if op == "index":
            return f"(MATCH({texts[0]},{span},0)-1)"
        return f"INDEX({span},{texts[0]}+1)" if op == "pick" else f"{FUNCTIONS[op]}({span})"

    def _leaf(self, op: str, value: Any) -> str:
        """Return the formula of a column, a name or a constant."""
        if op == "column":
            return self._read(self.ruleset.attributes[value])
        if op in {"label", "text", "truth"}:
            texts = {"text": self.codes.get(value), "truth": "TRUE" if value else "FALSE"}
            return str(texts[op]) if op in texts else self._numbers([value])
        if op == "name" or value in self.cells:
            return self.refs[value] if op == "name" else self.cells[value]
        if abs(value) == inf:
            return "1E+300" if value > 0 else "(-1E+300)"
        text = repr(value)
        return (
            f"({text})"
            if len(text.strip("-").replace(".", "")) <= DIGITS
            else self._numbers([value])
        )

    def _read(self, attribute: Attribute) -> str:
        """Return the formula of a value as programs read it; empty where it is missing."""
        cell = self.inputs[attribute.name]
        if attribute.kind == "date":
            return f'IF({cell}="","",IF(ISNUMBER({cell}),{cell},DATEVALUE({cell}))-{EPOCH})'
        if attribute.categories is None:
            return f'IF({cell}="","",{cell}*1)'
        spellings = category_spellings(attribute.categories)
        places = {text: k for k, text in enumerate(attribute.categories, start=1)}
        codes = self.codes if attribute.kind == "nominal" else places
        texts = self._numbers(list(spellings))
        numbers = self._numbers([codes[category] for category in spellings.values()])
        found = f'SUMPRODUCT(EXACT({texts},{cell}&"")*{numbers})'
        if attribute.kind == "nominal":
            return f'IF({cell}="","",{found})'
        return f'IF({cell}="","",IF({found}=0,"",{found}-1))'


def _values(X: Any, attributes: Sequence[Attribute], j: int) -> list[Any]:
    """Return the values of a column as a person types them, None where they are missing."""
    matrix, attribute = to_matrix(X, attributes, [attributes[j].name]), attributes[j]
    values = (matrix[:, j] + (EPOCH if attribute.kind == "date" else 0)).tolist()
    texts = list(X[attribute.name]) if attribute.categories is not None else values
    known = ~np.isnan(matrix[:, j]) | [isinstance(text, str) for text in texts]
    return [value if holds else None for value, holds in zip(texts, known, strict=True)]


def _letters(column: int) -> str:
    """Return the name of a column, from 0."""
    name = ""
    while column >= 0:
        column, rest = divmod(column, 26)
        name, column = chr(65 + rest) + name, column - 1
    return name

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
from frri.export.lowering import lower
from frri.export.program import Expr, flatten
from frri.rules.condition import Condition
from frri.rules.rule import Rule
from frri.rules.ruleset import RuleSet
from frri.rules.text import UP_TO, condition_text
from frri.table import Attribute, to_matrix
from frri.table.encode import category_spellings

NEED = ("An Excel workbook", "excel")
# Day 0 of 1970 in the numbers of Excel.
EPOCH = 25_569
# Longer lists of arguments are written to cells of their own, and longer numbers too.
FEW, DIGITS = 30, 15
# Longer formulas are never written into others.
SHORT = 500
# The columns of the sheet `Rules` with the bounds of a condition: for each side those of core and
# support, and the direction from one to the other.
SIDES = ("partly from", "from", "to", "partly to")
BOUNDS = {"low": (3, 2, inf), "high": (4, 5, -inf)}
# Names and categories are never formulas or links.
OPTIONS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
# Stands for the number of the row in formulas.
ROW = "\0"
TRUE = Expr("truth", (), True)
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
LISTS = {"first", "index", "pick"}
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
    writer = import_optional("xlsxwriter", *NEED)
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
        self.letters = import_optional("xlsxwriter.utility", *NEED).xl_col_to_name
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
        self.spans: dict[tuple[Expr, ...], str] = {}
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
        self.inputs = {a.name: f"Cases!${self.letters(k)}{ROW}" for k, a in enumerate(inputs)}
        steps = list(flatten((*program.steps, *program.probability_steps)))
        self.values = dict(steps)
        self.uses = Counter(name for value in self.values.values() for name in value.names)
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
        self._write_failed()
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
                cell, weight = self._editable(row, 7, weight)
                self.cells[min(1.0 - 1.0 / weight, 0.0)] = f"MIN(1-1/{cell},0)"
            if self.ruleset.semantics.meaning.says == "number":
                _, said = self._editable(row, 6, float(said))
            else:
                words = "" if rule.relation == "is" else f"{rule.relation} "
                sheet.write(row, 6, f"{words}{said}")
            conditions: list[Condition] = []
            self.texts.append([])
            for condition in rule.conditions:
                attribute = attributes[condition.attribute]
                self.texts[-1].append(f"Rules!$B${row + 1}")
                conditions.append(self._write_condition(row, condition, attribute))
                row += 1
            row += not rule.conditions
            yield replace(rule, conditions=tuple(conditions), weight=weight, consequent=said)
        sheet.set_column(1, 1, 45)

    def _write_condition(self, row: int, condition: Condition, attribute: Attribute) -> Condition:
        """Write the text and the bounds of a condition, and return it with placeholders."""
        texts, marks = list[str](), dict[str, Any]()
        name = one_line(attribute.name).replace('"', '""')
        for side in condition.sides:
            near, far, inwards = BOUNDS[side.end]
            cell, core = self._editable(row, near, side.bound, attribute)
            text, support = f'"{name} {side.sign} "&{cell}', core
            if side.is_strict:  # the neighbor of a strict bound is the same cell
                core = nextafter(support, inwards)
                self.cells[core] = self.cells[support]
            elif not side.is_crisp:
                cell, support = self._editable(row, far, side.support, attribute)
                self.cells[abs(core - support)] = f"ABS({self.cells[core]}-{self.cells[support]})"
                text += f'&" (partly {UP_TO[side.end]} "&{cell}&")"'
            texts.append(text)
            marks |= {f"core_{side.end}": core, f"support_{side.end}": support}
        if texts and attribute.kind != "ordinal":
            text = '&" and "&'.join(texts)
            self.sheets["Rules"].write_formula(row, 1, _Formula(text))
        else:
            text = condition_text(condition, attribute, self.ruleset.clip)
            self.sheets["Rules"].write_string(row, 1, text)
        return replace(condition, **marks)

    def _editable(
        self, row: int, column: int, value: float, attribute: Attribute | None = None
    ) -> tuple[str, float]:
        """Write a number that may be edited, and return its cell as text and its placeholder.

        Placeholders of bounds ascend as their columns do; others are between 0 and 1.
        """
        cell, mark = f"Rules!${self.letters(column)}${row + 1}", self.random.uniform(0.1, 0.9)
        if attribute is not None:
            mark = 1e6 * (column + mark)
        is_date = attribute is not None and attribute.kind == "date"
        format_, value = (self.day, value + EPOCH) if is_date else (self.input, value)
        self.sheets["Rules"].write_number(row, column, value, format_)
        self.cells[mark] = f"({cell}-{EPOCH})" if is_date else cell
        return f'TEXT({cell},"yyyy-mm-dd")' if is_date else cell, mark

    def _write_failed(self) -> None:
        """Write the conditions of each rule that fail for a case."""
        sheet, program = self.sheets["Failed"], self.program
        sheet.write_row(0, 0, [f"rule {r}" for r in range(1, len(self.ruleset) + 1)], self.bold)
        for r, rule in enumerate(program.ruleset):
            tests = []
            for condition, text in zip(rule.conditions, self.texts[r], strict=True):
                node = program.conditions[condition]
                holds = "" if node.kind == "truth" else ">0"
                tests.append(f'IF({self._text(node)}{holds},"",{text}&"; ")')
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
        return f"Steps!${self.letters(self.n_steps - 1)}{ROW}"

    def _numbers(self, values: Sequence[Any]) -> str:
        """Write constants below each other, and return the reference to them."""
        start = self.n_numbers + 1
        self.sheets["Numbers"].write_column(self.n_numbers, 0, values)
        self.n_numbers += len(values)
        end = f":$A${self.n_numbers}" if len(values) > 1 else ""
        return f"Numbers!$A${start}{end}"

    def _ref(self, name: str) -> str:
        """Return the value of a step, which is written where it is first needed."""
        if name not in self.refs:
            text = self._text(self.values[name])
            # Conditions are shown in two sheets, and tests for missing values refer to columns.
            is_cell = self.uses[name] > 1 or len(text) > SHORT or name[0] in "cxy"
            self.refs[name] = self._step(text, name) if is_cell else text
        return self.refs[name]

    def _span(self, nodes: tuple[Expr, ...]) -> str:
        """Return the reference to adjacent cells with the values of expressions."""
        if nodes not in self.spans:
            names = [node.value if node.op == "name" else "" for node in nodes]
            waiting = [self.values[n] if n and n not in self.refs else None for n in names]
            texts = [self._text(value or node) for value, node in zip(waiting, nodes, strict=True)]
            cells = [self._step(text, name) for text, name in zip(texts, names, strict=True)]
            self.refs = dict(zip(names, cells, strict=True)) | self.refs
            self.spans[nodes] = f"{cells[0]}:{cells[-1].partition('!')[2]}"
        return self.spans[nodes]

    def _text(self, node: Expr) -> str:
        """Return the formula of an expression."""
        op, args, value, _ = node
        if not args:
            return self._leaf(op, value)
        if op == "pick" and all(arg.op in {"const", "label", "place"} for arg in args[1:]):
            choices = [arg.value for arg in args[1:]]
            if not any(choice in self.cells for choice in choices):
                return f"INDEX({self._numbers(choices)},{self._text(args[0])}+1)"
        has_cells = op == "max" and {arg.op for arg in args} == {"name"}
        if has_cells or op in LISTS or (op in FUNCTIONS and len(args) > FEW):
            return self._list(node)
        texts = [self._text(arg) for arg in args]
        if op in {"missing", "among"}:
            wanted = ['""'] if op == "missing" else [self.codes[one] for one in value]
            return "OR(" + ",".join(f"{texts[0]}={one}" for one in wanted) + ")"
        if op == "compare":
            test = f"({texts[0]}{ {'==': '=', '!=': '<>'}.get(value, value) }{texts[1]})"
            # A missing value is a text, and spreadsheets order texts after all numbers.
            is_column = str(args[0].value)[:1] in {"x", "y"}
            guarded = is_column and value in {">", ">="}
            return f"IF(ISNUMBER({texts[0]}),{test},FALSE)" if guarded else test
        return (
            f"({SIGNS[op].join(texts)})" if op in SIGNS else f"{FUNCTIONS[op]}({','.join(texts)})"
        )

    def _list(self, node: Expr) -> str:
        """Return the formula of an operation on adjacent cells."""
        op, args, *_ = node
        if op == "first":
            return f"(MATCH(TRUE,{self._span((*args, TRUE))},0)-1)"
        if op in FUNCTIONS:
            return f"{FUNCTIONS[op]}({self._span(args)})"
        first, span = self._text(args[0]), self._span(args[1:])
        return f"(MATCH({first},{span},0)-1)" if op == "index" else f"INDEX({span},{first}+1)"

    def _leaf(self, op: str, value: Any) -> str:
        """Return the formula of a column, a name or a constant."""
        if op == "column":
            return self._read(self.ruleset.attributes[value])
        if op in {"label", "text", "truth"}:
            texts = {"text": self.codes.get(value), "truth": "TRUE" if value else "FALSE"}
            return str(texts[op]) if op in texts else self._numbers([value])
        if op == "name" or value in self.cells:
            return self._ref(value) if op == "name" else self.cells[value]
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

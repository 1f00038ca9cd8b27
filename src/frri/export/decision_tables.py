"""What the formats of rule engines have in common: names, decision tables and expressions.

Lists of crisp rules become a decision table with hit policy FIRST. Crisp rules that add votes or
numbers become tables with hit policy COLLECT and the sum as aggregation, one for each class. All
other rule sets become expressions, printed from the scoring program.

Inputs have the names of the columns; other characters than letters, digits and underscores become
underscores. Dates are days since 1970. A missing value is null.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frri._util import one_line
from frri.export.program import Expr, Program, flatten
from frri.export.script import ExpressionPrinter
from frri.rules.condition import Condition, NominalCondition, NumericCondition, is_strict
from frri.rules.inference import last_resort
from frri.rules.text import rule_text
from frri.table import Attribute
from frri.table.encode import category_spellings

# Infinity in languages without it.
FARTHEST = Decimal(10) ** 27
# Words of the two languages that no column can be called.
RESERVED = {
    *("and", "date", "else", "every", "exp", "false", "for", "if", "in", "index", "list", "lower"),
    *("max", "min", "not", "null", "or", "return", "some", "sum", "then", "time", "true"),
}


class Language(ExpressionPrinter):
    """Unary tests, constants and expressions; `prefix` is written before names of steps.

    `anything` is the unary test that always holds, `exclude` the template of the one that a value
    is none of several.
    """

    anything: ClassVar[str]
    exclude: ClassVar[str]

    def __init__(self, program: Program, names: Mapping[int, str], prefix: str = "") -> None:
        super().__init__(program)
        self.names, self.prefix = names, prefix

    def quote(self, text: str) -> str:
        """Return a string in quotes."""
        raise NotImplementedError

    def literal(self, value: Any) -> str:
        """Return a constant: a number, a boolean or a string."""
        if isinstance(value, str):
            return self.quote(value)
        return _number(value) if isinstance(value, float) else json.dumps(value)

    def name(self, name: str) -> str:
        """Return the name of a step."""
        return f"{self.prefix}_{name}"

    def column(self, position: int) -> str:
        """Return a column's value: the category, or the position of ordered ones."""
        attribute, name = self.program.ruleset.attributes[position], self.names[position]
        if attribute.categories is None:
            return name
        spellings = category_spellings(attribute.categories)
        text = name if attribute.kind == "nominal" else "null"
        for place, category in reversed([*enumerate(attribute.categories)]):
            texts = [one for one, c in spellings.items() if c == category]
            if attribute.kind == "ordinal" or texts != [category]:
                value = self.literal(category) if attribute.kind == "nominal" else str(place)
                text = self.choice.format(self.among(name, texts), value, text)
        return text


def identifiers(program: Program) -> dict[int, str]:
    """Return the names of inputs by column."""
    names: dict[int, str] = {}
    for _, j, attribute in program.columns:
        name = re.sub(r"\W", "_", attribute.name, flags=re.ASCII)
        if not name[:1].isalpha() or name in RESERVED or name == "prediction":
            name = f"column_{name}"
        while name in names.values():
            name += "_2"
        names[j] = name
    return names


class DecisionTable(NamedTuple):
    """Rows of cells, outputs and a comment; columns by position."""

    name: str
    policy: str
    columns: list[int]
    outputs: list[str]
    rows: list[tuple[list[str], list[str], str]]


def decision_tables(language: "Language") -> Iterator[DecisionTable]:
    """Yield the tables that express a rule set of crisp rules, none where they cannot."""
    program, ruleset = language.program, language.program.ruleset
    name, columns = ruleset.semantics.name, [j for _, j, _ in program.columns]
    conditions = [condition for rule in ruleset for condition in rule.conditions]
    lengths = [len(rule.conditions) == len(set(rule.attributes)) for rule in ruleset]
    crisp = [program.kind(program.conditions[condition]) == "truth" for condition in conditions]
    if ruleset.clip or not all(crisp) or not all(lengths):
        return
    cells: list[list[Any]] = []
    for rule in ruleset:
        own = {c.attribute: c for c in rule.conditions}
        used = [(own.get(ruleset.attributes[j].name), ruleset.attributes[j]) for j in columns]
        cells.append([
            _cell(c, a, ruleset.missing, language) if c else language.anything for c, a in used
        ])  # fmt: skip
    if any(None in row for row in cells):
        return
    texts = [one_line(rule_text(ruleset, rule)) for rule in ruleset]
    always = [language.anything] * len(columns)
    by_priors = last_resort(ruleset) == "priors"
    if name == "first-match":
        amounts = ruleset.arrays.says * ruleset.score_factors
        if (amounts <= 0.0).all(axis=1).any() or not (by_priors or always in cells):
            return
        labels = [ruleset.classes[c] for c in amounts.argmax(axis=1)]
        rows = [
            (cell, [language.literal(label), str(r)], text)
            for r, (cell, label, text) in enumerate(zip(cells, labels, texts, strict=True), start=1)
        ]
        prior = language.literal(ruleset.classes[int(np.argmax(ruleset.priors))])
        rows.append((always, [prior, "0"], "no rule holds"))
        last = cells.index(always) + 1 if always in cells else len(rows)
        yield DecisionTable("prediction", "FIRST", columns, ["prediction", "rule"], rows[:last])
        return
    if name in {"added-contributions", "softmax-votes"}:
        for c, base in enumerate(ruleset.base):
            amounts = ruleset.arrays.weights * ruleset.arrays.says[:, c]
            rows = [(always, [language.literal(base)], "base")]
            for cell, amount, text in zip(cells, amounts.tolist(), texts, strict=True):
                rows += [(cell, [language.literal(amount)], text)] if amount else []
            title = f"_votes_{c + 1}" if ruleset.classes else "prediction"
            yield DecisionTable(title, "COLLECT", columns, [title], rows)


def class_with_most_votes(program: Program, tables: Sequence[DecisionTable]) -> Expr:
    """Return the class with the most votes, the first of equal ones."""
    votes = tuple(Expr("name", (), table.name[1:]) for table in tables)
    labels = tuple(Expr("label", (), label) for label in program.ruleset.classes)
    most = Expr("max", votes)
    return Expr("pick", (Expr("index", (most, *votes)), *labels))


def _cell(
    condition: Condition, attribute: Attribute, missing: str, language: "Language"
) -> str | None:
    """Return the unary tests of a crisp condition; None if no value satisfies it."""

    def holds(value: Any) -> bool:
        if isinstance(condition, NominalCondition):
            return condition.allows(value)
        return bool(condition.membership([value])[0] > 0.0)

    is_nominal = isinstance(condition, NominalCondition)
    typical = attribute.typical if is_nominal else attribute.typical_code
    known = missing == "similar"
    known |= missing == "typical" and attribute.typical is not None and holds(typical)
    if isinstance(condition, NumericCondition) and attribute.categories is None:
        return f"{'null, ' if known else ''}{_interval(*condition.trapezoid)}"
    # Unseen values of ordered categories are missing, others satisfy exclusions only.
    excludes = condition.excludes if isinstance(condition, NominalCondition) else known
    codes = enumerate(attribute.categories or ())
    listed = {c for k, c in codes if holds(c if is_nominal else float(k)) != excludes}
    spellings = category_spellings(attribute.categories or ()).items()
    texts = ["null"] * (known != excludes) + [
        language.literal(t) for t, c in spellings if c in listed
    ]
    if excludes:
        return language.exclude.format(", ".join(texts)) if texts else language.anything
    return ", ".join(texts) or None


def _interval(low: float, core_low: float, core_high: float, high: float) -> str:
    opens, closes = is_strict(core_low, low), is_strict(core_high, high)
    if abs(core_high) == inf:
        return f"{'>' if opens else '>='} {_number(low)}"
    if abs(core_low) == inf:
        return f"{'<' if closes else '<='} {_number(high)}"
    return f"{'[('[opens]}{_number(low)}..{_number(high)}{'])'[closes]}"


def _number(value: float) -> str:
    """Return a number without an exponent."""
    exact = Decimal(repr(value)) if abs(value) < inf else FARTHEST.copy_sign(Decimal(value))
    return f"{exact:f}".removesuffix(".0")


def output_nodes(program: Program) -> list[tuple[str, Expr]]:
    """Return the names and expressions of the results."""
    return [("prediction", program.prediction), ("rule", program.rule), ("score", program.score)]


def entries(language: Language) -> list[tuple[str, str]]:
    """Return names and expressions of the steps."""
    steps = flatten(language.program.steps)
    return [(f"_{step.name}", language.expression(step.value)) for step in steps]

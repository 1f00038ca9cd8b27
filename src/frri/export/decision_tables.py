"""Rule sets for rule engines: DMN 1.3 (XML), and JSON decision models (JDM) of GoRules ZEN.

Lists of crisp rules become a decision table with hit policy FIRST. Crisp rules that add votes or
numbers become tables with hit policy COLLECT and the sum as aggregation, one for each class. All
other rule sets become expressions, printed from the scoring program.

Inputs have the names of the columns; other characters than letters, digits and underscores become
underscores. Dates are days since 1970. A missing value is null.
"""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from decimal import Decimal
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frri._util import one_line
from frri.export.lowering import lower
from frri.export.program import SIGNS, Expr, ExpressionPrinter, Program, flatten
from frri.rules.condition import Condition, NominalCondition, NumericCondition, Side
from frri.rules.inference import last_resort
from frri.rules.ruleset import RuleSet
from frri.rules.text import rule_text
from frri.table import Attribute
from frri.table.encode import category_spellings

NAMESPACE = "https://www.omg.org/spec/DMN/20191111/MODEL/"
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

    def __init__(self, program: Program, prefix: str = "") -> None:
        super().__init__(program)
        self.prefix = prefix
        # Names of inputs by column.
        self.names: dict[int, str] = {}
        for _, j, attribute in program.columns:
            name = re.sub(r"\W", "_", attribute.name, flags=re.ASCII)
            if not name[:1].isalpha() or name in RESERVED or name == "prediction":
                name = f"column_{name}"
            while name in self.names.values():
                name += "_2"
            self.names[j] = name

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

    def steps(self) -> list[tuple[str, str]]:
        """Return names and expressions of the steps."""
        steps = flatten(self.program.steps)
        return [(f"_{step.name}", self.expression(step.value)) for step in steps]

    def results(self) -> list[tuple[str, str]]:
        """Return names and expressions of the results."""
        names = ("prediction", "rule", "score")
        return [(name, self.expression(getattr(self.program, name))) for name in names]

    def class_with_most_votes(self, tables: Sequence["DecisionTable"]) -> str:
        """Return the expression of the class with the most votes, the first of equal ones."""
        votes = tuple(Expr("name", (), table.name[1:]) for table in tables)
        labels = tuple(Expr("label", (), label) for label in self.program.ruleset.classes)
        most = Expr("max", votes)
        return self.expression(Expr("pick", (Expr("index", (most, *votes)), *labels)))


class DecisionTable(NamedTuple):
    """Rows of cells, one for each column that rules use, of outputs and a comment."""

    name: str
    policy: str
    outputs: list[str]
    rows: list[tuple[list[str], list[str], str]]


def decision_tables(language: Language) -> Iterator[DecisionTable]:
    """Yield the tables that express a rule set of crisp rules, none where they cannot."""
    program, ruleset = language.program, language.program.ruleset
    name, columns = ruleset.semantics.name, [j for _, j, _ in program.columns]
    conditions = [condition for rule in ruleset for condition in rule.conditions]
    lengths = [len(rule.conditions) == len(set(rule.attributes)) for rule in ruleset]
    crisp = [program.conditions[condition].kind == "truth" for condition in conditions]
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
        yield DecisionTable("prediction", "FIRST", ["prediction", "rule"], rows[:last])
        return
    if name in {"added-contributions", "softmax-votes"}:
        for c, base in enumerate(ruleset.base):
            amounts = ruleset.arrays.weights * ruleset.arrays.says[:, c]
            rows = [(always, [language.literal(base)], "base")]
            for cell, amount, text in zip(cells, amounts.tolist(), texts, strict=True):
                rows += [(cell, [language.literal(amount)], text)] if amount else []
            title = f"_votes_{c + 1}" if ruleset.classes else "prediction"
            yield DecisionTable(title, "COLLECT", [title], rows)


def _cell(
    condition: Condition, attribute: Attribute, missing: str, language: Language
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
        return f"{'null, ' if known else ''}{_interval(condition.sides)}"
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


def _interval(sides: Sequence[Side]) -> str:
    ends = [_number(side.support) for side in sides]
    if len(sides) < 2:
        return f"{sides[0].sign} {ends[0]}" if sides else f">= {_number(-inf)}"
    opens, closes = (side.is_strict for side in sides)
    return f"{'[('[opens]}{'..'.join(ends)}{'])'[closes]}"


def _number(value: float) -> str:
    """Return a number without an exponent."""
    exact = Decimal(repr(value)) if abs(value) < inf else FARTHEST.copy_sign(Decimal(value))
    return f"{exact:f}".removesuffix(".0")


# --- DMN
def to_dmn(ruleset: RuleSet) -> str:
    """Return a rule set as DMN 1.3; the decision is called `prediction`.

    A table of first matches has the outputs `prediction` and `rule`; an expression is a context of
    `prediction`, `rule` (0 without one) and `score`; sums are the number or the class alone.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = Rule((NumericCondition.below("age", 30),), "no"), Rule((), "yes")
    >>> attributes, classes = (Attribute("age"),), ("no", "yes")
    >>> print(to_dmn(RuleSet(rules, attributes, classes, semantics="first-match"))[:54])
    <definitions xmlns="https://www.omg.org/spec/DMN/20191
    """
    feel, root = Feel(lower(ruleset)), ET.Element("definitions", xmlns=NAMESPACE)
    name, names = one_line(ruleset.target), feel.names
    root.attrib |= {"id": "rules", "name": name, "namespace": "https://frri/rules"}
    for name, (_, _, attribute) in zip(names.values(), feel.program.columns, strict=True):
        data = _add(root, "inputData", id=name, name=name, label=one_line(attribute.name))
        kind = "number" if attribute.categories is None else "string"
        _add(data, "variable", id=f"{name}_variable", name=name, typeRef=kind)
    tables = list(decision_tables(feel))
    if tables:
        for table in tables:
            _add_table(root, table, [*names.values()])
        if tables[0].name != "prediction":
            votes = [table.name for table in tables]
            decision = _add_decision(root, "prediction", votes, "Decision")
            choice = _add(decision, "literalExpression", id="choice")
            _add(choice, "text", feel.class_with_most_votes(tables))
    else:
        decision = _add_decision(root, "prediction", list(names.values()), "Input")
        context = _add(decision, "context", id="steps")
        found = ", ".join(f"{name}: {text}" for name, text in feel.results())
        for k, (name, text) in enumerate([*feel.steps(), ("", f"{{{found}}}")]):
            entry = _add(context, "contextEntry", id=f"entry_{k}")
            if name:  # the last entry is the result
                _add(entry, "variable", id=f"variable_{k}", name=name)
            _add(_add(entry, "literalExpression", id=f"text_{k}"), "text", text)
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


class Feel(Language):
    """The expressions of DMN, in which comparisons with null fail by themselves."""

    anything, exclude, contains = "-", "not({})", "list contains({1}, {0})"
    missing: ClassVar = dict.fromkeys(("text", "number"), "({} = null)")
    signs: ClassVar = {**SIGNS, "==": "="}
    choice, find = "(if {0} then {1} else {2})", "(index of({1}, {0})[1] - 1)"
    pick = "{1}[{0} + 1]"

    def quote(self, text: str) -> str:
        """Return a string of JSON with escapes for what is not printable."""
        quoted = json.dumps(text, ensure_ascii=False)
        return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in quoted)


def _add(parent: ET.Element, tag: str, text: str | None = None, **attributes: str) -> ET.Element:
    found = ET.SubElement(parent, tag, attributes)
    found.text = text
    return found


def _add_decision(root: ET.Element, name: str, needs: Sequence[str], kind: str) -> ET.Element:
    decision = _add(root, "decision", id=name, name=name)
    _add(decision, "variable", id=f"{name}_value", name=name)
    for k, need in enumerate(needs):
        requirement = _add(decision, "informationRequirement", id=f"{name}_needs_{k}")
        _add(requirement, f"required{kind}", href=f"#{need}")
    return decision


def _add_table(root: ET.Element, table: DecisionTable, inputs: Sequence[str]) -> None:
    decision = _add_decision(root, table.name, inputs, "Input")
    more = {"aggregation": "SUM"} if table.policy == "COLLECT" else {}
    identity = {"id": f"{table.name}_table", "hitPolicy": table.policy}
    grid = _add(decision, "decisionTable", **identity, **more)
    for name in inputs:
        column = _add(grid, "input", id=f"{table.name}_{name}", label=name)
        expression = _add(column, "inputExpression", id=f"{table.name}_{name}_value")
        _add(expression, "text", name)
    for output in table.outputs:
        _add(grid, "output", id=f"{table.name}_{output}_output", name=output)
    for r, (cells, outputs, comment) in enumerate(table.rows):
        rule = _add(grid, "rule", id=f"{table.name}_rule_{r}")
        _add(rule, "description", comment)
        for tag, texts in (("inputEntry", cells), ("outputEntry", outputs)):
            for k, text in enumerate(texts):
                _add(_add(rule, tag, id=f"{table.name}_{tag}_{r}_{k}"), "text", text)


# --- JDM
def to_jdm(ruleset: RuleSet) -> str:
    """Return a rule set as a JSON decision model of GoRules ZEN: `prediction`, `rule` and `score`.

    ZEN has no exponential function, so "cumulative-logits" cannot be expressed.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = Rule((NumericCondition.below("age", 30),), "no"), Rule((), "yes")
    >>> attributes, classes = (Attribute("age"),), ("no", "yes")
    >>> jdm = to_jdm(RuleSet(rules, attributes, classes, semantics="first-match"))
    >>> [node["type"] for node in json.loads(jdm)["nodes"]]
    ['inputNode', 'decisionTableNode', 'outputNode']
    """
    program = lower(ruleset)
    zen = Zen(program)
    tables = list(decision_tables(zen))
    if ruleset.semantics.name == "cumulative-logits":
        raise ValueError("JDM has no exponential function for cumulative-logits; export DMN.")
    contents = [("decisionTable", _jdm_table(table, [*zen.names.values()])) for table in tables]
    if tables and tables[0].policy == "COLLECT":
        sums = [(t.name, f"sum(map({t.name}, #.{t.outputs[0]}))") for t in tables]
        contents.append(("expression", _expressions(sums)))
        if tables[0].name != "prediction":
            chosen = [("prediction", zen.class_with_most_votes(tables))]
            contents.append(("expression", _expressions(chosen)))
    elif not tables:
        steps = Zen(program, "$.").steps()
        contents += [("expression", _expressions(some)) for some in (steps, zen.results())]
    kinds = [("input", {}), *contents, ("output", {})]
    nodes = [
        {"id": f"node_{k}", "name": f"{kind} {k}", "type": f"{kind}Node", "content": content}
        | {"position": {"x": 250 * k, "y": 100}}
        for k, (kind, content) in enumerate(kinds)
    ]
    edges = [
        {"id": f"edge_{k}", "type": "edge", "sourceId": f"node_{k}", "targetId": f"node_{k + 1}"}
        for k in range(len(kinds) - 1)
    ]
    head = {"contentType": "application/vnd.gorules.decision", "name": ruleset.target}
    return json.dumps(head | {"nodes": nodes, "edges": edges}, indent=1) + "\n"


class Zen(Language):
    """The expressions of GoRules ZEN."""

    anything, exclude, contains = "", "not in [{}]", "({} in {})"
    missing: ClassVar = dict.fromkeys(("text", "number"), "({} == null)")
    functions: ClassVar = {"min": "min([{}])", "max": "max([{}])"}
    choice = "({0} ? {1} : {2})"

    def quote(self, text: str) -> str:
        """Return a string between quotes that it does not contain: ZEN has no escapes."""
        for quote in "\"'`":
            if quote not in text:
                return f"{quote}{text}{quote}"
        problem = "which has three kinds of quotes; rename it"
        raise ValueError(f"JDM cannot express {text!r}, {problem}.")

    def compare(self, node: Expr) -> str:
        """Return a comparison that fails where a column is missing."""
        columns = [n for arg in node.args for n in arg.names if re.fullmatch(r"[xy]\d+", n)]
        known = [f"{self.name(column)} != null and " for column in columns]
        return f"({''.join(known)}{super().compare(node)})"

    def first(self, tests: Sequence[str]) -> str:
        """Return a chain of conditional expressions."""
        return f"({''.join(f'{test} ? {k} : ' for k, test in enumerate(tests))}{len(tests)})"

    def index(self, value: str, values: Sequence[str]) -> str:
        """Return a chain of conditional expressions."""
        return self.first([f"{value} == {other}" for other in values[:-1]])


def _jdm_table(table: DecisionTable, fields: Sequence[str]) -> dict[str, Any]:
    rules = [
        dict(zip([*(f"in_{f}" for f in fields), *(f"out_{o}" for o in table.outputs)],
                 [*cells, *outputs], strict=True)) | {"_id": f"rule_{r}", "_description": comment}
        for r, (cells, outputs, comment) in enumerate(table.rows)
    ]  # fmt: skip
    return {
        "hitPolicy": table.policy.lower(),
        "inputs": [{"id": f"in_{f}", "name": f, "field": f} for f in fields],
        "outputs": [{"id": f"out_{o}", "name": o, "field": o} for o in table.outputs],
        "rules": rules,
    } | ({"passThrough": True, "outputPath": table.name} if table.policy == "COLLECT" else {})


def _expressions(pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    found = [{"id": f"x_{k}", "key": name, "value": text} for k, (name, text) in enumerate(pairs)]
    return {"expressions": found}

"""Rule sets as DMN 1.3 (XML): decision tables, or a boxed context of FEEL."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import ClassVar

from frri._util import one_line
from frri.export.decision_tables import (
    DecisionTable,
    Language,
    class_with_most_votes,
    decision_tables,
    entries,
    identifiers,
    output_nodes,
)
from frri.export.lowering import lower
from frri.export.script import SIGNS
from frri.rules.ruleset import RuleSet

NAMESPACE = "https://www.omg.org/spec/DMN/20191111/MODEL/"


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
    program, root = lower(ruleset), ET.Element("definitions", xmlns=NAMESPACE)
    name = one_line(ruleset.target)
    root.attrib |= {"id": "rules", "name": name, "namespace": "https://frri/rules"}
    names = identifiers(program)
    feel = Feel(program, names)
    for name, (_, _, attribute) in zip(names.values(), program.columns, strict=True):
        data = _add(root, "inputData", id=name, name=name, label=one_line(attribute.name))
        kind = "number" if attribute.categories is None else "string"
        _add(data, "variable", id=f"{name}_variable", name=name, typeRef=kind)
    tables = list(decision_tables(feel))
    if tables:
        for table in tables:
            _add_table(root, table, names)
        if tables[0].name != "prediction":
            votes = [table.name for table in tables]
            decision = _add_decision(root, "prediction", votes, "Decision")
            text = feel.expression(class_with_most_votes(program, tables))
            _add(_add(decision, "literalExpression", id="choice"), "text", text)
    else:
        decision = _add_decision(root, "prediction", list(names.values()), "Input")
        context = _add(decision, "context", id="steps")
        steps = entries(feel)
        found = ", ".join(
            f"{name}: {feel.expression(node)}" for name, node in output_nodes(program)
        )
        for k, (name, text) in enumerate([*steps, ("", f"{{{found}}}")]):
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


def _add_table(root: ET.Element, table: DecisionTable, names: Mapping[int, str]) -> None:
    decision = _add_decision(root, table.name, [names[j] for j in table.columns], "Input")
    more = {"aggregation": "SUM"} if table.policy == "COLLECT" else {}
    identity = {"id": f"{table.name}_table", "hitPolicy": table.policy}
    grid = _add(decision, "decisionTable", **identity, **more)
    for j in table.columns:
        column = _add(grid, "input", id=f"{table.name}_{names[j]}", label=names[j])
        expression = _add(column, "inputExpression", id=f"{table.name}_{names[j]}_value")
        _add(expression, "text", names[j])
    for output in table.outputs:
        _add(grid, "output", id=f"{table.name}_{output}_output", name=output)
    for r, (cells, outputs, comment) in enumerate(table.rows):
        rule = _add(grid, "rule", id=f"{table.name}_rule_{r}")
        _add(rule, "description", comment)
        for tag, texts in (("inputEntry", cells), ("outputEntry", outputs)):
            for k, text in enumerate(texts):
                _add(_add(rule, tag, id=f"{table.name}_{tag}_{r}_{k}"), "text", text)

"""Rule sets as JSON decision models (JDM) of GoRules ZEN: decision tables, or expressions."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

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
from frri.export.program import Expr
from frri.rules.ruleset import RuleSet


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
    names = identifiers(program)
    zen = Zen(program, names)
    tables = list(decision_tables(zen))
    if ruleset.semantics.name == "cumulative-logits":
        raise ValueError("JDM has no exponential function for cumulative-logits; export DMN.")
    contents = [("decisionTable", _jdm_table(table, names)) for table in tables]
    if tables and tables[0].policy == "COLLECT":
        sums = [(t.name, f"sum(map({t.name}, #.{t.outputs[0]}))") for t in tables]
        contents.append(("expression", _expressions(sums)))
        if tables[0].name != "prediction":
            chosen = [("prediction", zen.expression(class_with_most_votes(program, tables)))]
            contents.append(("expression", _expressions(chosen)))
    elif not tables:
        steps = entries(Zen(program, names, "$."))
        contents.append(("expression", _expressions(steps)))
        outputs = [(name, zen.expression(node)) for name, node in output_nodes(program)]
        contents.append(("expression", _expressions(outputs)))
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


def _jdm_table(table: DecisionTable, names: Mapping[int, str]) -> dict[str, Any]:
    fields = [names[j] for j in table.columns]
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

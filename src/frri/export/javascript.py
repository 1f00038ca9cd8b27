"""Rules as a JavaScript module without dependencies, for browsers and Node."""

import re
from pathlib import Path

from frri.export.model import escape_json, escape_text, format_model, model_to_evaluate
from frri.export.text_formats import numbered_lines
from frri.rules.ruleset import RuleSet

# Beyond this JavaScript's numbers are not exact integers.
_LARGEST_INTEGER = 2**53

_MODULE = """\
/**
 * Rules for {target}, as an ES module without dependencies.
 *
 * predict(row), scores(row), probabilities(row), degrees(row) and explain(row) take an object
 * with a property per column; null is missing. explain(row) also returns the deciding rule,
 * numbered from 1.
 */
{rules}

const evaluator = (() => {{
{evaluator}
return {{ prepare, encode, degrees, scores, probabilities, predict, explain }};
}})();

export const model = {model};

const prepared = evaluator.prepare(model);

export const predict = (row) => evaluator.predict(prepared, row);
export const explain = (row) => evaluator.explain(prepared, row);
export const scores = (row) => evaluator.scores(prepared, row);
export const probabilities = (row) => evaluator.probabilities(prepared, row);
export const degrees = (row) => evaluator.degrees(prepared, row);
"""


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
                f"JavaScript cannot hold the class {label} exactly; make the classes texts."
            )
    rules = "\n".join(f"// {escape_text(line)}" for line in numbered_lines(ruleset))
    return _MODULE.format(
        target=escape_text(ruleset.target).replace("*/", "* /"),
        rules=rules,
        evaluator=re.sub(r"^export ", "", evaluator_source(), flags=re.MULTILINE).rstrip(),
        model=format_model(model_to_evaluate(ruleset), escape_json),
    )


def evaluator_source() -> str:
    """Return the JavaScript file that evaluates any saved rule set."""
    return Path(__file__).with_name("evaluator.js").read_text(encoding="utf-8")

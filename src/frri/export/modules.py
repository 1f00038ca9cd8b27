"""Rules as modules of Python and JavaScript without dependencies."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from frri.export.text_formats import numbered_lines
from frri.rules.inference import last_resort
from frri.rules.ruleset import RuleSet
from frri.table import Attribute
from frri.table.encode import category_texts, folding

_PYTHON = '''\
"""Rules for {target}, as a module without dependencies (Python 3.8 or later).

predict(row), scores(row), probabilities(row) and degrees(row) take a mapping from column names to
values; None is missing. explain(row) also returns the deciding rule, numbered from 1:

{rules}
"""

{evaluator}

MODEL = {model}

_EVALUATOR = Evaluator(MODEL)
predict = _EVALUATOR.predict
explain = _EVALUATOR.explain
scores = _EVALUATOR.scores
probabilities = _EVALUATOR.probabilities
degrees = _EVALUATOR.degrees
'''

_JAVASCRIPT = """\
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

# Beyond this JavaScript's numbers are not exact integers.
_LARGEST_INTEGER = 2**53
# Keys of a rule in a saved model that decide.
_OF_RULES = ("if", "then", "weight", "distribution", "partial_weights", "votes", "relation")
# Ends a script element, opens one, or starts a comment in a page around the script.
_MARKUP = re.compile(r"<(?=[/!?a-zA-Z])")


def to_python(ruleset: RuleSet) -> str:
    """Return the source of a module with `predict(row)`, `scores(row)`, `explain(row)` and more.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> module = {}
    >>> exec(to_python(RuleSet((rule,), (Attribute("age"),), ("no", "yes"))), module)
    >>> module["predict"]({"age": 25})
    'no'
    """
    # Without the example in the docstring of the evaluator, which needs the library.
    source = evaluator_source("evaluator.py").partition("from __future__")[2]
    start, _, rest = source.partition("    Examples\n")
    end = '    """\n'
    return _PYTHON.format(
        target=_in_docstring(ruleset.target),
        rules="\n".join(map(_in_docstring, numbered_lines(ruleset))),
        evaluator=f"from __future__{start.rstrip()}\n{end}{rest.partition(end)[2]}",
        model=_format_model(evaluator_model(ruleset), ascii),
    )


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
                f"JavaScript cannot hold the class {label} exactly; make the classes strings."
            )
    content = ruleset.to_dict()
    del content["about"]
    content["rules"] = [
        {key: rule[key] for key in _OF_RULES if key in rule} for rule in content["rules"]
    ]
    source = evaluator_source("evaluator.js")
    return _JAVASCRIPT.format(
        target=escape_text(ruleset.target).replace("*/", "* /"),
        rules="\n".join(f"// {escape_text(line)}" for line in numbered_lines(ruleset)),
        evaluator=re.sub(r"^export ", "", source, flags=re.MULTILINE).rstrip(),
        model=_format_model(content, escape_json),
    )


def evaluator_source(name: str) -> str:
    """Return the file of this package that evaluates rules: evaluator.py or evaluator.js."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def evaluator_model(ruleset: RuleSet) -> dict[str, Any]:
    """Return the rules as `frri.export.evaluator.Evaluator` needs them.

    Values are looked up by their texts, a condition is a column with its allowed codes, or with
    trapezoid and slopes, and everything else that `frri.rules` derives from rules is done.
    """
    arrays, m = ruleset.arrays, ruleset.arrays
    names_numbers = ruleset.semantics.meaning.says == "number"
    trapezoids = [m.support_low, m.core_low, m.core_high, m.support_high, m.slope_low, m.slope_high]
    conditions: list[tuple[Any, ...]] = [
        (j, *ends)
        for j, ends in zip(m.columns.tolist(), np.transpose(trapezoids).tolist(), strict=True)
    ]
    for k in m.nominal_at.tolist():
        start = m.code_0[k]
        allowed = m.allowed[start - 1 : start + m.n_codes[k]]
        codes = [float(code) for code, inside in enumerate(allowed, -1) if inside]
        conditions[k] = conditions[k][0], codes
    return {
        "target": ruleset.target,
        "semantics": ruleset.semantics.name,
        "t_norm": ruleset.t_norm,
        "fallback": last_resort(ruleset),
        "missing_holds": m.missing_holds,
        "classes": list(ruleset.classes),
        "priors": ruleset.priors.tolist(),
        "costs": ruleset.score_factors.tolist(),
        "base": list(ruleset.base),
        "trust": ruleset.trust,
        "attributes": [
            _attribute_model(attribute, attribute.name in ruleset.used_attributes)
            | {"low": m.lows.item(j), "high": m.highs.item(j), "imputed": m.typical.item(j)}
            for j, attribute in enumerate(ruleset.attributes)
        ],
        "rules": [
            {
                "weight": rule.weight,
                "class": 0 if names_numbers else int(arrays.classes[r]),
                "says": arrays.says[r].tolist(),
                "rising": rule.relation == "at least",
                "partial": list(rule.partial_weights) if rule.conditions else [],
                "outside": float(m.outside[m.indptr[r]]),
                "conditions": conditions[m.indptr[r] : m.indptr[r + 1]] if rule.conditions else [],
            }
            for r, rule in enumerate(ruleset)
        ],
    }


def _attribute_model(attribute: Attribute, used: bool) -> dict[str, Any]:
    """Return what is needed to encode the values of a feature."""
    codes, categories = None, attribute.categories
    if categories is not None:
        place = {category: float(code) for code, category in enumerate(categories)}
        codes = {text: place[category] for text, category in category_texts(categories).items()}
    return {
        "name": attribute.name,
        "kind": attribute.kind,
        "used": used,
        "is_flag": attribute.is_flag,
        "codes": codes,
        "lower": folding(categories or ()) is str.lower,
    }


def _format_model(content: dict[str, Any], write: Any) -> str:
    """Return a dictionary literal with an attribute and a rule per line, values by `write`."""
    lines = ["{"]
    for key, value in content.items():
        if key in {"attributes", "rules"} and value:
            lines.append(f"  {write(key)}: [")
            lines += [f"    {write(item)}," for item in value]
            lines.append("  ],")
        else:
            lines.append(f"  {write(key)}: {write(value)},")
    return "\n".join([*lines, "}"])


def _in_docstring(text: str) -> str:
    """Return ASCII without quotes and backslashes that could end or change the docstring."""
    return escape_text(text).replace("\\", "\\\\").replace('"', "'")


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

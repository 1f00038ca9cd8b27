"""Rules as modules of Python and JavaScript without dependencies."""

import json
import re
from pathlib import Path
from typing import Any

from frri.export.text_formats import numbered_lines
from frri.rules.ruleset import RuleSet

_HEAD = '''\
"""Rules for {target}, as a module without dependencies (Python 3.8 or later).

predict(row), scores(row), probabilities(row) and degrees(row) take a mapping from column names to
values; None is missing. explain(row) also returns the deciding rule, numbered from 1:

{rules}
"""
'''

_TAIL = '''

MODEL = {model}

_EVALUATOR = Evaluator(MODEL)


def predict(row):
    """Return the class of a row."""
    return _EVALUATOR.predict(row)


def explain(row):
    """Return the class, the deciding rule, the score of the class, and all fired rules."""
    return _EVALUATOR.explain(row)


def scores(row):
    """Return the score of each class of MODEL["classes"]; all 0 where no rule fires."""
    return _EVALUATOR.scores(row)


def probabilities(row):
    """Return the probabilities of the classes of MODEL["classes"]."""
    return _EVALUATOR.probabilities(row)


def degrees(row):
    """Return the degree of each rule."""
    return _EVALUATOR.degrees(row)
'''


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
    rules = "\n".join(map(_in_docstring, numbered_lines(ruleset)))
    head = _HEAD.format(target=_in_docstring(ruleset.target), rules=rules)
    source = Path(__file__).with_name("evaluator.py").read_text(encoding="utf-8")
    # Without the example in the docstring of the evaluator, which needs the library.
    start, _, rest = source[source.index("from __future__") :].partition("    Examples\n")
    end = '    """\n'
    evaluator = f"{start.rstrip()}\n{end}{rest.partition(end)[2]}"
    model = format_model(model_to_evaluate(ruleset), ascii)
    return head + "\n" + evaluator.rstrip() + _TAIL.format(model=model)


def _in_docstring(text: str) -> str:
    """Return ASCII without quotes and backslashes that could end or change the docstring."""
    return escape_text(text).replace("\\", "\\\\").replace('"', "'")


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


_OF_RULES = ("if", "then", "weight", "distribution", "partial_weights", "votes", "relation")


def model_to_evaluate(ruleset: RuleSet) -> dict[str, Any]:
    """Return the saved form without provenance and statistics.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9, source=7)
    >>> model_to_evaluate(RuleSet((rule,), (Attribute("age"),), ("no", "yes")))["rules"][0].keys()
    dict_keys(['if', 'then', 'weight'])
    """
    content = ruleset.to_dict()
    del content["about"]
    content["rules"] = [
        {key: rule[key] for key in _OF_RULES if key in rule} for rule in content["rules"]
    ]
    return content


def format_model(content: dict[str, Any], write: Any) -> str:
    """Return a dictionary literal with an attribute and a rule per line, values by `write`.

    Examples
    --------
    >>> print(format_model({"target": "class", "rules": [1, 2]}, repr))
    {
      'target': 'class',
      'rules': [
        1,
        2,
      ],
    }
    """
    lines = ["{"]
    for key, value in content.items():
        if key in {"attributes", "rules"} and value:
            lines.append(f"  {write(key)}: [")
            lines += [f"    {write(item)}," for item in value]
            lines.append("  ],")
        else:
            lines.append(f"  {write(key)}: {write(value)},")
    return "\n".join([*lines, "}"])


# Ends a script element, opens one, or starts a comment in a page around the script.
_MARKUP = re.compile(r"<(?=[/!?a-zA-Z])")


def escape_text(text: str) -> str:
    r"""Return a string in ASCII and one line, for comments of programs and literals of scripts.

    Examples
    --------
    >>> escape_text("a <= 5\n</script>")
    'a <= 5\\n\\u003c/script>'
    """
    return escape_json(text)[1:-1]


def escape_json(value: object) -> str:
    r"""Return JSON that is safe inside a JavaScript file and a script element of a page.

    Examples
    --------
    >>> escape_json("</script>\u2028")
    '"\\u003c/script>\\u2028"'
    """
    return _MARKUP.sub(r"\\u003c", json.dumps(value, allow_nan=False))

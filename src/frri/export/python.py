"""Rules as a Python module without dependencies."""

from pathlib import Path

from frri.export.model import escape_text, format_model, model_to_evaluate
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

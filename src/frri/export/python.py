"""Rules as a Python module of their own, which needs nothing but Python."""

from pathlib import Path

from frri.export.model import evaluated_model, script_text, written_model
from frri.export.text_formats import numbered_lines
from frri.rules.ruleset import RuleSet

_HEAD = '''\
"""Rules for {target}, as a module without dependencies (Python 3.8 or later).

predict(row), scores(row), probabilities(row) and degrees(row) take a mapping from column names to
values; None is missing. explain(row) also names the rule that decided, numbered from 1:

{rules}
"""
'''

_TAIL = '''

MODEL = {model}

_EVALUATOR = Evaluator(MODEL)


def predict(row):
    """The class of a row."""
    return _EVALUATOR.predict(row)


def explain(row):
    """The class, the rule that decided, its class's score, and the numbers of all rules that fired."""
    return _EVALUATOR.explain(row)


def scores(row):
    """What the rules that fire say for each class of MODEL["classes"]; all 0 where none does."""
    return _EVALUATOR.scores(row)


def probabilities(row):
    """The shares of the classes of MODEL["classes"]."""
    return _EVALUATOR.probabilities(row)


def degrees(row):
    """To which degree the conditions of each rule hold."""
    return _EVALUATOR.degrees(row)
'''


def to_python(ruleset: RuleSet) -> str:
    """The source of a module with `predict(row)`, `scores(row)`, `explain(row)` and more.

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
    # Of the evaluator's own docstring nothing is said here: it is about the library.
    body = source[source.index("from __future__") :].split("    Examples\n", 1)
    example, rest = body[1].split('    """\n', 1)
    del example
    evaluator = f'{body[0].rstrip()}\n    """\n{rest}'
    model = written_model(evaluated_model(ruleset), ascii)
    return head + "\n" + evaluator.rstrip() + _TAIL.format(model=model)


def _in_docstring(text: str) -> str:
    """ASCII without quotes and backslashes that could end or bend the docstring."""
    return script_text(text).replace("\\", "\\\\").replace('"', "'")

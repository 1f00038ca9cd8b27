"""Rules as a Python module without dependencies, printed from the scoring program."""

from typing import Any, ClassVar

from frri.export.lowering import lower
from frri.export.program import Branch
from frri.export.script import ScriptPrinter, escape_text
from frri.rules.ruleset import RuleSet

_MODULE = '''\
"""Rules for {target}, as a module without dependencies (Python 3.8 or later).

predict(row), scores(row), probabilities(row), degrees(row) and explain(row) take a mapping from
column names to values, or a sequence in the order of COLUMNS. None, NaN and empty strings are
missing. Dates are dates, strings like 2024-05-17T12:00:00Z, or days since 1970. explain(row)
returns prediction, deciding rule (from 1, None where no single rule decides), its score and all
rules that fire.
"""

import datetime as dt
import re
from collections.abc import Mapping
from math import exp, inf, isnan, nan

CLASSES = {classes}
COLUMNS = {columns}
{tables}

def predict(row):
    """Return the predicted class or number."""
    return _apply(row)[0]


def explain(row):
    """Return prediction, deciding rule, its score (0 where a fallback decides), fired rules."""
    prediction, rule, score, _, held = _apply(row)
    fired = [r for r, degree in enumerate(held, 1) if degree > 0.0]
    return {{"prediction": prediction, "rule": rule or None, "score": score, "fired": fired}}


def scores(row):
    """Return the score of each class (all 0 where no rule fires), or the predicted number."""
    return list(_apply(row)[3])


def degrees(row):
    """Return the degree to which each rule holds."""
    return list(_apply(row)[4])


def probabilities(row):
    """Return the class probabilities, in the order of CLASSES."""
    if not CLASSES:
        raise ValueError("These rules predict numbers and know no classes; use predict.")
    return list(_apply(row, True))


def _apply(row, to_probabilities=False):
    if not isinstance(row, Mapping):
        if len(row) != len(COLUMNS):
            raise ValueError("Expected %d values, got %d." % (len(COLUMNS), len(row)))
        row = dict(zip(COLUMNS, row))
{steps}
    if not to_probabilities:
        return {prediction}, {rule}, {score}, {scores}, {degrees}
{probability_steps}
    return {probabilities}


def _value(row, name):
    """Return a value as text, number or date; None where it is missing."""
    try:
        value = row[name]
    except KeyError:
        raise ValueError("The row has no column %r." % (name,)) from None
    # NaN of any library differs from itself; the comparison may give a boolean of numpy or pandas.
    if value is None or str(value != value) != "False":
        return None
    return value

{readers}'''

_NUMBER = """
def _number(row, name, words={}):
    value = row.get(name)
    if type(value) is float or type(value) is int:
        return float(value)
    value = _value(row, name)
    if isinstance(value, str):
        value = words.get(value.strip().lower(), value.strip())
    if value is None or isinstance(value, str) and not value:
        return nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError("Column %r holds %r, which is not a number." % (name, value)) from None

"""

_CATEGORY = '''
def _category(row, name, texts={}, lower=False):
    """Return the category that a value is written like; a text of its own if there is none."""
    value = row.get(name)
    if type(value) is not str:
        value = _value(row, name)
        if value is None:
            return None
        value = str(value)
    if not value and "" not in texts:
        return None
    return texts.get(value.lower() if lower else value, value)

'''

_POSITION = '''
def _position(row, name, texts, lower=False):
    """Return the position of an ordered category, NaN if it has none."""
    value = _value(row, name)
    if value is None:
        return nan
    return texts.get(str(value).lower() if lower else str(value), nan)

'''

_DAYS = '''
_DATE = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:[T ]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})"
    r"(?:[.]([0-9]{1,6})[0-9]*)?)?)?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?)?)?"
)
_UTC = dt.timezone.utc


def _days(row, name):
    """Return days since 1970-01-01, in UTC."""
    value = _value(row, name)
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(_UTC).replace(tzinfo=None)
    if isinstance(value, dt.date):
        value = value.isoformat()
    if value is None or isinstance(value, str) and value.strip() in ("", "NaT"):
        return nan
    if isinstance(value, (int, float)):
        return float(value)
    found = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError("Column %r holds %r, which is not a date." % (name, value))
    parts = [int(part or default) for part, default in zip(found.groups(), (0, 1, 1, 0, 0, 0))]
    zone = (found.group(8) or "Z").replace(":", "").replace("Z", "+0000").ljust(5, "0")
    offset = dt.timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[3:]))
    micros = int((found.group(7) or "").ljust(6, "0"))
    try:
        moment = dt.datetime(*parts, micros, _UTC) - offset
    except (ValueError, OverflowError) as error:
        raise ValueError("Column %r holds %r: %s." % (name, value, error)) from None
    since = moment - dt.datetime(1970, 1, 1, tzinfo=_UTC)
    return float(since // dt.timedelta(microseconds=1)) / 86400e6

'''


class PythonPrinter(ScriptPrinter):
    """Python 3.8 or later."""

    choice, sequence, find = "{1} if {0} else {2}", "({})", "{1}.index({0})"
    assign = result = "{} = {}"
    comment, contains = "  # {}", "{} in {}"
    missing: ClassVar = {"text": "{} is None", "number": "isnan({})"}
    template, indent, table = _MODULE, "    ", "{} = {}\n"
    readers: ClassVar = {
        "numeric": ("_number", _NUMBER),
        "date": ("_days", _DAYS),
        "ordinal": ("_position", _POSITION),
        "nominal": ("_category", _CATEGORY),
    }

    def literal(self, value: Any) -> str:
        """Return a value in ASCII."""
        return ascii(value)

    def branch(self, step: Branch, holds: list[str], fails: list[str]) -> list[str]:
        """Return if and else."""
        return [f"if {self.expression(step.test)}:", *holds, "else:", *fails]


def to_python(ruleset: RuleSet) -> str:
    """Return the source of a module with `predict(row)`, `scores(row)`, `explain(row)` and more.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> source = to_python(RuleSet((rule,), (Attribute("age"),), ("no", "yes")))
    >>> [line.strip() for line in source.splitlines() if line.startswith("    c1 =")]
    ['c1 = x1 < 30.0  # age < 30']
    >>> module = {}
    >>> exec(source, module)
    >>> module["predict"]({"age": 25})
    'no'
    """
    target = escape_text(ruleset.target).replace("\\", "\\\\").replace('"', "'")
    return PythonPrinter(lower(ruleset)).module(target).rstrip() + "\n"

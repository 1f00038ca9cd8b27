"""Rule sets for other programs: functions that take a `RuleSet` and return a string."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from frri.export.javascript import to_javascript
from frri.export.python import to_python
from frri.export.sql import to_sql
from frri.export.text_formats import to_csv, to_latex, to_markdown, to_text
from frri.rules.ruleset import RuleSet

__all__ = [
    "FORMATS",
    "to_csv",
    "to_javascript",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_python",
    "to_sql",
    "to_text",
]


to_json = RuleSet.to_json

_EXPORTS = (to_text, to_markdown, to_latex, to_csv, to_sql, to_python, to_javascript, to_json)
FORMATS: Mapping[str, Callable[[RuleSet], str]] = MappingProxyType(
    {export.__name__.removeprefix("to_"): export for export in _EXPORTS}
)
"""Every export by name."""

"""Rule sets for other programs: functions that take a `RuleSet` and return a string or bytes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from frri.export.decision_tables import to_dmn, to_jdm
from frri.export.excel import to_excel
from frri.export.onnx import to_onnx
from frri.export.scripts import to_javascript, to_python
from frri.export.sql import to_dbt, to_sql
from frri.export.text_formats import to_csv, to_latex, to_markdown, to_text
from frri.rules.ruleset import RuleSet

__all__ = [
    "FORMATS",
    "Format",
    "to_csv",
    "to_dbt",
    "to_dmn",
    "to_excel",
    "to_javascript",
    "to_jdm",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_onnx",
    "to_python",
    "to_sql",
    "to_text",
]


to_json = RuleSet.to_json


@dataclass(frozen=True)
class Format:
    """An export of `frri export --to`; calling it returns the export of a rule set.

    Parameters
    ----------
    write : callable
    file : str
        Usual name of the file.
    about : str
        What reads it.
    expresses : str
        What it can express.
    extra : str
        The extra of this package that it needs, if any.
    """

    write: Callable[[RuleSet], str | bytes]
    file: str
    about: str
    expresses: str = "predictions of every semantics"
    extra: str = ""

    def __call__(self, ruleset: RuleSet) -> str | bytes:
        """Return the export of a rule set."""
        return self.write(ruleset)


_TO_READ = "rules to read, no predictions"
_SCORES = "predictions of every semantics, without probabilities"
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "text": Format(to_text, "rules.txt", "people", _TO_READ),
        "markdown": Format(to_markdown, "rules.md", "documents in Markdown", _TO_READ),
        "latex": Format(to_latex, "rules.tex", "documents in LaTeX", _TO_READ),
        "csv": Format(to_csv, "rules.csv", "spreadsheets", _TO_READ),
        "sql": Format(to_sql, "rules.sql", "databases, by --dialect", _SCORES),
        "dbt": Format(lambda ruleset: to_dbt(ruleset)[0], "rules.sql, rules.yml", "dbt projects",
                      _SCORES),
        "python": Format(to_python, "rules.py", "Python 3.8 or later, without packages"),
        "javascript": Format(to_javascript, "rules.mjs", "browsers and Node, without packages"),
        "onnx": Format(to_onnx, "rules.onnx", "ONNX Runtime and other engines", extra="onnx"),
        "excel": Format(to_excel, "rules.xlsx", "Excel and LibreOffice, with editable rules",
                        extra="excel"),
        "dmn": Format(to_dmn, "rules.dmn", "rule engines that read DMN 1.3", _SCORES),
        "jdm": Format(to_jdm, "rules.json", "GoRules ZEN", f"{_SCORES}, not cumulative-logits"),
        "json": Format(to_json, "rules.json", "this package, and other programs by the schema"),
    }
)  # fmt: skip
"""Every export by name."""

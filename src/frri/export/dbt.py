"""Rules as a dbt model: a query over `{{ ref() }}`, and a schema file with tests."""

import json
import re
from collections.abc import Sequence

from frri.export.sql import SqlTable, to_sql
from frri.export.sql_dialects import find_dialect
from frri.rules.ruleset import RuleSet

# What dbt would take for its own language.
_JINJA = re.compile(r"\{[{%#]|[}%#]\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def to_dbt(
    ruleset: RuleSet,
    table: str = "data",
    *,
    source: str | None = None,
    dialect: str = "postgresql",
    name: str = "predictions",
    keep: str | Sequence[str] | None = None,
) -> tuple[str, str]:
    """Return a dbt model and its schema file, the contents of `name.sql` and `name.yml`.

    The schema file describes the columns. Its tests check that predictions are never NULL, and that
    they are classes of the rule set.

    Parameters
    ----------
    ruleset : RuleSet
    table : str
        The model to read, as in `{{ ref('table') }}`.
    source : str, optional
        If given, the table is one of this source: `{{ source('source', 'table') }}`.
    dialect : str
        The database of the dbt project; see `to_sql`.
    name : str
        The name of the new model.
    keep : str or sequence of str, optional
        Columns to show beside the prediction, such as a key; by default those that rules use.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> ruleset = RuleSet((rule,), (Attribute("age"),), ("no", "yes"))
    >>> model, schema = to_dbt(ruleset, "people", dialect="duckdb", keep="id")
    >>> "FROM {{ ref('people') }} AS t" in model
    True
    """
    for part in (table, name, *([source] if source else [])):
        if not _NAME.fullmatch(part):
            raise ValueError(f"A name in dbt has letters, digits and _ only, got {part!r}.")
    place = f"source('{source}', '{table}')" if source else f"ref('{table}')"
    query = to_sql(ruleset, SqlTable("{{ " + place + " }}"), dialect=dialect, keep=keep)
    if "\r" in query:
        raise ValueError("dbt changes the line breaks in a name or class; rename it without them.")
    if _JINJA.search(query.replace("{{ " + place + " }}", "")):
        start, end = "{% raw %}", "{% endraw %}"
        query = query.replace("{{ " + place + " }}", f"{end}{{{{ {place} }}}}{start}")
        query = f"{start}{query}{end}\n"
    return query, _schema(ruleset, name, find_dialect(dialect).name)


def _schema(ruleset: RuleSet, name: str, dialect: str) -> str:
    """Return YAML; strings are JSON, which is YAML too."""
    checks: list[object] = ["not_null"]
    if ruleset.classes:
        text = isinstance(ruleset.classes[0], str)
        checks.append({"accepted_values": {"values": list(ruleset.classes), "quote": text}})
    about = f"{len(ruleset)} rules for {ruleset.target}, exported by frri for {dialect}."
    columns: tuple[tuple[str, str, list[object]], ...] = (
        ("prediction", f"Predicted {ruleset.target}.", checks),
        ("rule", "Number of the deciding rule, from 1; NULL where no single rule decides.", []),
        ("score", "Score of the prediction; 0 where no rule fires.", ["not_null"]),
    )
    lines = ["version: 2", "models:", f"  - name: {name}"]
    lines += [f"    description: {_quoted(about)}", "    columns:"]
    for column, description, tests in columns:
        lines += [f"      - name: {column}", f"        description: {_quoted(description)}"]
        lines += [f"        data_tests: {json.dumps(tests)}"] if tests else []
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a string that neither YAML nor Jinja acts on."""
    return json.dumps(_JINJA.sub(lambda found: " ".join(found.group()), text))

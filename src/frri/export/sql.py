"""Rules as a query that predicts inside a database."""

from collections.abc import Sequence
from math import inf

import numpy as np

from frri.export.model import escape_text
from frri.export.sql_answers import Answers
from frri.export.sql_dialects import DIALECTS
from frri.export.sql_rules import Query
from frri.export.text_formats import numbered_lines
from frri.rules.rule import Label
from frri.rules.ruleset import RuleSet
from frri.rules.semantics import Support

SUPPORTED = Support("SQL export", "export to Python instead")


def to_sql(
    ruleset: RuleSet,
    table: str | Sequence[str] = "data",
    *,
    dialect: str = "sqlite",
    as_view: str | None = None,
    keep: str | Sequence[str] | None = None,
    names: tuple[str, str, str] = ("prediction", "rule", "score"),
) -> str:
    """Return a SELECT, or a view, with the prediction for every row of a table.

    The predictions are those of `ruleset.predict`, ties included, with the number of the deciding
    rule (from 1) and the score of its class. Where no rule fires the score is 0 and the rule is the
    one that the fallback uses, if any. Where rules are added up the rule is NULL; a predicted
    number is its own score.

    The table needs the columns that rules use. NULL is missing (NaN too, where a database has it),
    an unseen category is a category of its own, and dates may be DATE, TIMESTAMP or ISO strings. A
    string in a numeric column is read as a number; in SQLite and DuckDB another string is missing.
    Where the training data had yes and no, a BOOLEAN of a database has the same meaning.

    Parameters
    ----------
    ruleset : RuleSet
    table : str or sequence of str
        The table's name; as a sequence with its schema first.
    dialect : {"sqlite", "duckdb", "ansi"}
        SQLite 3.35 or later, DuckDB, or standard SQL with LEAST and GREATEST such as PostgreSQL's.
    as_view : str, optional
        Create a view of this name instead of selecting.
    keep : str or sequence of str, optional
        Columns of the table to show beside the prediction; by default the attributes that rules
        use. A database returns rows in any order: keep a key to identify them.
    names : tuple of str
        The names of the three new columns.

    Examples
    --------
    >>> import sqlite3
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("age", 30),), "no", 0.9)
    >>> rules = RuleSet((rule,), (Attribute("age"),), ("yes", "no"), fallback="priors")
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE people (age REAL)")
    >>> _ = database.execute("INSERT INTO people VALUES (25), (35)")
    >>> database.execute(to_sql(rules, "people")).fetchall()
    [(25.0, 'no', 1, 0.9), (35.0, 'yes', None, 0.0)]
    >>> database.close()
    """
    SUPPORTED.require(ruleset.semantics)
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r}.")
    words = DIALECTS[dialect]
    kept = ruleset.used_attributes if keep is None else keep
    columns = [kept] if isinstance(kept, str) else list(kept)
    attributes = [attribute.name for attribute in ruleset.attributes]
    _check_names([*columns, *names])
    _check_names(attributes)
    parts = [table] if isinstance(table, str) else list(table)
    place = ".".join(words.identifier(part) for part in parts)
    query = Query(words, _prefix([*parts, *columns, *names, *attributes, as_view or ""]))
    labels = [words.label(label) for label in _unify_labels(ruleset.classes)]
    encoded, carried = _encode(ruleset, query, place, columns)
    results = []
    for source, *answer, where in Answers(ruleset, query, carried, labels).of(encoded):
        shown = [*(f"k{i + 1}" for i in range(len(columns))), *answer]
        named = zip(shown, [*columns, *names], strict=True)
        selected = ",\n  ".join(f"{column} AS {words.identifier(name)}" for column, name in named)
        condition = f"\nWHERE {where}" if where else ""
        results.append(f"SELECT\n  {selected}\nFROM {source}{condition}")
    comments = "".join(f"-- {escape_text(line)}\n" for line in numbered_lines(ruleset))
    # Readers of standard SQL may interpret a backslash even here.
    comments = comments if dialect != "ansi" else comments.replace("\\", "/")
    head = f"CREATE VIEW {words.identifier(as_view)} AS\n" if as_view is not None else ""
    last = "\nUNION ALL\n".join(results)
    return f"{comments}{head}{query.text()}\n{last}\n"


def _encode(
    ruleset: RuleSet, query: Query, place: str, keep: list[str]
) -> tuple[str, tuple[str, ...]]:
    """Add a table of encoded columns, and return its name and its columns."""
    dialect = query.dialect
    used = [j for j, a in enumerate(ruleset.attributes) if a.name in ruleset.used_attributes]
    shown = [f"k{i + 1}" for i in range(len(keep))]
    columns = [f"{dialect.number(1.0)} AS one"]
    columns += [f"t.{dialect.identifier(name)} AS {k}" for name, k in zip(keep, shown, strict=True)]
    # In a table of its own: a number may be written by means of the column `one`.
    prepared = ["one", *shown]
    for j in used:
        x, attribute = f"x{j + 1}", ruleset.attributes[j]
        value = dialect.encode(attribute, f"t.{dialect.identifier(attribute.name)}")
        columns.append(f"{value} AS {x}")
        ends = ""
        if ruleset.missing == "typical" and attribute.typical is not None:
            ends = f"WHEN {x} IS NULL THEN {dialect.imputed(attribute)} "
        if ruleset.clip and attribute.kind != "nominal":
            for sign, end in (("<", attribute.low), (">", attribute.high)):
                if abs(end) < inf:
                    bound = dialect.number(end)
                    ends += f"WHEN {x} {sign} {bound} THEN {bound} "
        prepared.append(f"CASE {ends}ELSE {x} END AS {x}" if ends else x)
    source = query.add("encoded", columns, f"{place} AS t")
    if used and (ruleset.clip or ruleset.missing == "typical"):
        source = query.add("prepared", prepared, source)
    return source, ("one", *shown, *(f"x{j + 1}" for j in used))


def _unify_labels(labels: tuple[Label, ...]) -> Sequence[Label]:
    """Return labels of one type: strings if there is one, otherwise as numpy joins numbers."""
    kinds = {type(label) for label in labels}
    if str in kinds:
        return [str(label) for label in labels]
    return labels if kinds == {int} else np.asarray(labels).tolist()


def _prefix(given: list[str]) -> str:
    """Return a prefix that no name has, regardless of case."""
    prefix, number = "frri_", 1
    while any(name.lower().startswith(prefix) for name in given):
        number += 1
        prefix = f"frri{number}_"
    return prefix


def _check_names(names: list[str]) -> None:
    """Refuse names that differ in case only: databases do not distinguish them."""
    known: dict[str, str] = {}
    for name in names:
        folded = name.lower()
        if folded in known:
            raise ValueError(
                f"The columns {known[folded]!r} and {name!r} would have one name in SQL; "
                "choose other columns to keep, or other names."
            )
        known[folded] = name

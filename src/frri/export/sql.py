"""Rules as a query that predicts inside a database, printed from the scoring program; dbt models.

A query is a chain of common table expressions, each with columns computed from the one before. The
first one has the columns to be shown `k1, k2, ...`, those that rules use `x1, x2, ...`, and `one`,
which is 1.0. The steps of the program follow in portions, because databases limit the number of
columns: values of single rules are computed in each portion that needs them, and only what results
from blocks of rules (the strongest, the first, a sum) is kept for the next portion.

Columns have the names of the program. A name that is used once is no column: its expression is
written where it is used, as far as databases allow.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from frri.export.lowering import lower
from frri.export.program import NO_RULE, Expr, Program, flatten
from frri.export.scripts import escape_text
from frri.export.sql_dialects import Dialect, find_dialect
from frri.rules.inference import LARGEST_EXPONENT
from frri.rules.rule import Label
from frri.rules.ruleset import RuleSet

# Names of values of one rule: conditions, degrees, strengths, votes of a fallback and their parts.
OF_RULES = re.compile(r"[cdvnju][0-9]+")
# Rules in a block, steps in a portion, and terms in an expression: databases limit their depth.
BLOCK, PORTION, DEPTH = 20, 1500, 200
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "all": "AND", "any": "OR"}
COMPARISONS = {"==": "=", "!=": "<>"}


class SqlTable(str):
    """A table that is written as it is, such as a query in parentheses."""

    __slots__ = ()


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

    The table needs the columns that rules use. NULL and empty strings are missing (NaN too, where a
    database has it), an unseen category is a category of its own, and dates may be DATE, TIMESTAMP
    or ISO strings. A string in a numeric column is read as a number; another string is missing,
    except in standard SQL. Where the training data had yes and no, a BOOLEAN of a database has the
    same meaning.

    Parameters
    ----------
    ruleset : RuleSet
    table : str or sequence of str
        The table's name; as a sequence with its schema first.
    dialect : str
        One of sqlite, duckdb, postgresql, mysql (MariaDB too), which run in the tests, and
        sqlserver, bigquery, snowflake, spark, which are only parsed there; or ansi, standard SQL
        with LEAST and GREATEST. Usual spellings such as postgres, mssql or databricks are accepted.
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
    words = find_dialect(dialect)
    kept = ruleset.used_attributes if keep is None else keep
    columns = [kept] if isinstance(kept, str) else list(kept)
    attributes = [attribute.name for attribute in ruleset.attributes]
    _check_names([*columns, *names])
    _check_names(attributes)
    parts = [table] if isinstance(table, str) else list(table)
    place = ".".join(words.identifier(part) for part in parts)
    place = table if isinstance(table, SqlTable) else place
    prefix = _prefix([*parts, *columns, *names, *attributes, as_view or ""])
    query = _Query(lower(ruleset, BLOCK), words, prefix, len(columns))
    source, answers = query.answers(place, columns)
    named = zip([*query.always[1:], *answers], [*columns, *names], strict=True)
    selected = ",\n  ".join(f"{value} AS {words.identifier(name)}" for value, name in named)
    lines = enumerate(str(ruleset).splitlines(), start=1)
    numbered = (f"{r}. {line}" if r <= len(ruleset) else line for r, line in lines)
    comments = "".join(f"-- {escape_text(line)}\n" for line in numbered)
    # Readers of standard SQL may interpret a backslash even here.
    comments = comments if words.backslashes else comments.replace("\\", "/")
    head = f"CREATE VIEW {words.identifier(as_view)} AS\n" if as_view is not None else ""
    tables = ",\n".join(query.tables)
    return f"{comments}{head}WITH {tables}\nSELECT\n  {selected}\nFROM {source}\n"


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
    seen: dict[str, str] = {}
    for name in names:
        if name.lower() in seen:
            raise ValueError(
                f"The columns {seen[name.lower()]!r} and {name!r} would have one name in SQL; "
                "choose other columns to keep, or other names."
            )
        seen[name.lower()] = name


class _Query:
    """Common table expressions in the making, which all have the columns `always`.

    Their names begin with a prefix that no name of the user's has: a database takes the expression
    where a table has the same name.
    """

    def __init__(self, program: Program, dialect: Dialect, prefix: str, n_shown: int) -> None:
        self.program, self.dialect, self.prefix = program, dialect, prefix
        self.always = ["one", *(f"k{k + 1}" for k in range(n_shown))]
        classes = program.ruleset.classes
        self.labels = dict(zip(classes, map(dialect.label, _unify_labels(classes)), strict=True))
        self.tables: list[str] = []
        steps = [step for step in flatten(program.steps) if step.value.op != "column"]
        self.definitions = {step.name: step.value for step in steps}
        self.needs = {step.name: step.value.names for step in steps}
        # Names that are written as their definitions.
        self.inlined: set[str] = set()

    def answers(self, place: str, keep: Sequence[str]) -> tuple[str, list[str]]:
        """Return the last table, and the expressions of prediction, rule and score."""
        program = self.program
        self._encode(place, keep)
        outputs = [program.prediction, program.rule, program.score]
        self._compute([name for node in outputs for name in node.names])
        prediction, rule, score = map(self._value, outputs)
        no_rule = f"CAST(NULL AS {self.dialect.integer})"
        rule = no_rule if program.rule == NO_RULE else f"NULLIF({rule}, {NO_RULE.value})"
        return self._name(len(self.tables)), [prediction, rule, score]

    # ---------------------------------------------------------------- tables

    def _name(self, number: int) -> str:
        return f"{self.prefix}{number}"

    def _add(self, columns: Sequence[str], source: str = "") -> None:
        """Append a table with columns computed from the last one, or from a source."""
        number, shown = len(self.tables) + 1, ",\n    ".join(columns)
        source = source or self._name(number - 1)
        body = f"  SELECT\n    {shown}\n  FROM {source}{self.dialect.barrier}"
        self.tables.append(f"{self._name(number)} {self.dialect.materialized} (\n{body}\n)")

    def _encode(self, place: str, keep: Sequence[str]) -> None:
        """Add a table with the columns to be shown and those that rules use."""
        dialect = self.dialect
        values = [dialect.number(1.0), *(f"t.{dialect.identifier(name)}" for name in keep)]
        columns = [f"{value} AS {name}" for value, name in zip(values, self.always, strict=True)]
        for x, _, attribute in self.program.columns:
            value = dialect.encode(attribute, f"t.{dialect.identifier(attribute.name)}")
            columns.append(f"{value} AS {x}")
        self._add(columns, f"{place} AS t")

    def _compute(self, wanted: Sequence[str]) -> None:
        """Add tables, portion by portion of the steps; the last one has the wanted columns."""
        columns = [x for x, _, _ in self.program.columns]
        steps = self._closure(wanted, columns)
        waiting = self._find_kept(steps)
        limit = self.dialect.most_columns
        while waiting:
            room = limit - 20 - len(columns) - len(self.always)
            portion, own = list[str](), set[str]()
            for name in waiting:
                more = own | self._closure([name], columns).difference(columns)
                if len(more) > (min(room, PORTION) if portion else room):
                    break
                portion, own = [*portion, name], more
            if not portion:
                raise ValueError(
                    f"{self.dialect.name} allows at most {limit} columns in a query, and the rules "
                    "need more; keep fewer columns or shorten the rules."
                )
            waiting = waiting[len(portion) :]
            later = self._closure([*wanted, *waiting], {*columns, *portion})
            kept = [name for name in (*columns, *portion) if name in later]
            self._assign(columns, [name for name in self.definitions if name in own], kept)
            columns = kept

    def _find_kept(self, steps: Collection[str]) -> list[str]:
        """Return what is kept for later portions: numbers that rules result in.

        They are ordered by the last value of a rule that they need.
        """
        kept, order = list[str](), dict[str, int]()
        for k, (name, needs) in enumerate(self.needs.items()):
            is_of_rule = OF_RULES.fullmatch(name) is not None
            order[name] = max([k * is_of_rule, *(order.get(need, 0) for need in needs)])
            if name in steps and not is_of_rule and self.definitions[name].kind != "truth":
                kept.append(name)
        return sorted(kept, key=order.__getitem__)

    def _closure(self, wanted: Iterable[str], ends: Collection[str]) -> set[str]:
        """Return names and all that they depend on, but not what the ends depend on."""
        found, queue = set[str](), list(wanted)
        while queue:
            name = queue.pop()
            if name not in found:
                found.add(name)
                queue += () if name in ends else self.needs[name]
        return found

    def _assign(self, columns: Sequence[str], names: Sequence[str], kept: Sequence[str]) -> None:
        """Add tables with names as columns; tests, and names that are used once, are inlined."""
        count = Counter([*kept, *kept, *(need for name in names for need in self.needs[name])])
        levels, depths = Counter[str](), Counter[str]()
        stages: dict[int, list[str]] = {}
        self.inlined = set()
        for name in names:
            value, needs = self.definitions[name], self.needs[name]
            level = max((levels[n] for n in needs), default=0)
            depth = max((depths[n] for n in needs), default=0)
            depth += len(value.args) if value.op in SIGNS else 1
            if value.kind == "truth" or (count[name] < 2 and depth < DEPTH):
                self.inlined.add(name)
                levels[name], depths[name] = level, depth
            else:
                levels[name] = level + 1
                stages.setdefault(level, []).append(name)
        before = [*self.always, *map(_column, columns)]
        for _, stage in sorted(stages.items()):
            new = [f"{self._value(self.definitions[name])} AS {_column(name)}" for name in stage]
            self._add([*before, *new])
            before = ["*"]

    # ---------------------------------------------------------------- expressions

    def _value(self, node: Expr) -> str:
        """Return the expression of a number, position, label or category."""
        op, args, value, _ = node
        if op == "if":
            cases = []
            while node.op == "if":
                cases.append((self._test(node.args[0]), self._value(node.args[1])))
                node = node.args[2]
            return _case("", cases, self._value(node))
        if not args:
            return self._leaf(op, value)
        if op == "first":
            cases = [(self._test(arg), str(k)) for k, arg in enumerate(args)]
            return _case("", cases, str(len(args)))
        texts = [self._value(arg) for arg in args]
        if op in SIGNS:
            return f"({f' {SIGNS[op]} '.join(texts)})"
        if op in {"index", "pick"}:
            cases = [(text, str(k)) for k, text in enumerate(texts[1:])]
            usual = "NULL"
            if op == "pick":
                [(usual, _)] = Counter(texts[1:]).most_common(1)
                cases = [(k, text) for text, k in cases if text != usual]
            return _case(texts[0], cases, usual)
        # Smaller exponents make no difference, and are an error in some databases.
        texts += [self.dialect.number(-LARGEST_EXPONENT)] if op == "exp" else []
        function = self.dialect.least if op == "min" else self.dialect.greatest
        found = self.dialect.extreme(function, texts)
        return f"EXP({found})" if op == "exp" else found

    def _leaf(self, op: str, value: Any) -> str:
        if op == "name":
            return self._value(self.definitions[value]) if value in self.inlined else _column(value)
        if op == "label":
            return self.labels[value]
        if op == "const":
            return self.dialect.number(value)
        return self.dialect.text(value) if op == "text" else str(int(value))

    def _test(self, node: Expr) -> str:
        """Return a test that is false or NULL where it fails; there is no NOT."""
        op, args, value, _ = node
        if op == "name":
            return self._test(self.definitions[value])
        if op in {"truth", "if"}:
            return f"{self._value(node)} = 1"
        if op in {"all", "any"}:
            tests = [self._test(arg) for arg in args]
            while len(tests) > 1:
                parts = [tests[i : i + DEPTH] for i in range(0, len(tests), DEPTH)]
                tests = [f"({f' {SIGNS[op]} '.join(part)})" for part in parts]
            return tests[0]
        texts = [self._value(arg) for arg in args]
        if op == "compare":
            return f"{texts[0]} {COMPARISONS.get(value, value)} {texts[1]}"
        if op == "missing":
            return f"{texts[0]} IS NULL"
        return f"{texts[0]} IN ({', '.join(map(self.dialect.text, value))})" if value else "1 = 0"


def _case(column: str, cases: Iterable[tuple[str, str]], default: str = "NULL") -> str:
    branches = "".join(f" WHEN {key} THEN {value}" for key, value in cases)
    start = f"CASE {column}" if column else "CASE"
    return f"{start}{branches} ELSE {default} END" if branches else default


def _column(name: str) -> str:
    """Return a name of the program as a column: no word of SQL ends with an underscore."""
    return f"{name}_" if name.isalpha() else name


# ---------------------------------------------------------------- dbt
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

"""Rules as a query that predicts inside a database, printed from the scoring program.

A query is a chain of common table expressions, each with columns computed from the one before:

- `encoded`, `prepared`: the columns to be shown `k1, k2, ...`, the columns that rules use
  `x1, x2, ...`, imputed and clipped `y1, y2, ...`, and `one`, which is 1.0,
- `rules`: values of single rules, in portions, because databases limit the number of columns,
- `merged`, `folded`: what is computed from many rules (the strongest, the first, a sum) is combined
  with the values of a portion, which are dropped then,
- `steps`: what is computed from these; `chosen`, `joined`: the rows of each side of a branch, and
  the rows of both.

Columns have the names of the program. A name that is used once is no column: its expression is
written where it is used, as far as databases allow.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from frri.export.program import NO_RULE, Assignment, Branch, Expr, Program, Step, lower
from frri.export.script import escape_text
from frri.export.sql_dialects import Dialect, find_dialect
from frri.export.text_formats import numbered_lines
from frri.rules.inference import LARGEST_EXPONENT
from frri.rules.rule import Label
from frri.rules.ruleset import RuleSet

# Names of values of one rule: conditions, degrees, strengths, votes of a fallback and their parts.
OF_RULES = re.compile(r"[cdvnju][0-9]+")
# Rules at a time, and terms in an expression: well below the depth that databases allow.
PORTION, DEPTH = 400, 200
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
    query = _Query(lower(ruleset), words, prefix, len(columns))
    source, answers = query.answers(place, columns)
    named = zip([*query.always[1:], *answers], [*columns, *names], strict=True)
    selected = ",\n  ".join(f"{value} AS {words.identifier(name)}" for value, name in named)
    comments = "".join(f"-- {escape_text(line)}\n" for line in numbered_lines(ruleset))
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
    folded = [name.lower() for name in names]
    for i, name in enumerate(names):
        first = folded.index(folded[i])
        if first < i:
            raise ValueError(
                f"The columns {names[first]!r} and {name!r} would have one name in SQL; "
                "choose other columns to keep, or other names."
            )


# ---------------------------------------------------------------- the query


class _Source(NamedTuple):
    """A common table expression, and the names of the program among its columns."""

    name: str
    columns: tuple[str, ...]


class _Fold(NamedTuple):
    """A value computed from many rules: their max, add or first, or the index of their max.

    `most` is the name of that maximum.
    """

    op: str
    terms: tuple[Expr, ...]
    most: str = ""


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
        self.used = Counter[str]()
        # Expressions and folds by name, and the names on which each name depends.
        self.definitions: dict[str, Expr] = {}
        self.folds: dict[str, _Fold] = {}
        self.fold_names: dict[tuple[str, tuple[Expr, ...]], str] = {}
        self.needs: dict[str, list[str]] = {}
        # Names that are assigned so far, and names that are written as their definitions.
        self.known: set[str] = set()
        self.inlined: set[str] = set()

    def answers(self, place: str, keep: Sequence[str]) -> tuple[str, list[str]]:
        """Return the last table, and the expressions of prediction, rule and score."""
        program = self.program
        steps = self._define(program.steps)
        table = self._encode(place, keep)
        outputs = [self._split(node) for node in (program.prediction, program.rule, program.score)]
        table = self._run(steps, table, [name for node in outputs for name in node.names])
        prediction, rule, score = map(self._value, outputs)
        no_rule = f"CAST(NULL AS {self.dialect.integer})"
        rule = no_rule if program.rule == NO_RULE else f"NULLIF({rule}, {NO_RULE.value})"
        return table.name, [prediction, rule, score]

    # ---------------------------------------------------------------- definitions

    def _define(self, steps: Sequence[Step]) -> list[Step]:
        """Return steps with folds in the place of operations on many rules."""
        found: list[Step] = []
        for step in steps:
            if isinstance(step, Branch):
                holds, fails = tuple(self._define(step.holds)), tuple(self._define(step.fails))
                results = [(n, self._split(a), self._split(b)) for n, a, b in step.results]
                test = self._split(step.test)
                found.append(Branch(test, holds, fails, tuple(results)))
                self.needs |= {n: [*test.names, *a.names, *b.names] for n, a, b in results}
                continue
            name, value = step.name, step.value
            value = value if OF_RULES.fullmatch(name) else self._split(value, name)
            found.append(Assignment(name, value))
            if name not in self.folds:
                self.definitions[name], self.needs[name] = value, value.names
        return found

    def _split(self, node: Expr, name: str = "") -> Expr:
        """Return an expression in which operations on values of rules are names of folds."""
        op, args, value = node
        own = tuple(arg for arg in args if _is_of_rules(arg))
        if not own:
            return self._fold("max", (node,), name) if _is_of_rules(node) else node
        if op == "index":
            return self._fold(op, args[1:], name, self._fold("max", args[1:]).value)
        if op == "max" and len(own) < len(args):
            return Expr(op, (*(arg for arg in args if arg not in own), self._fold(op, own)))
        if op in {"max", "first"}:
            return self._fold(op, args, name)
        if op == "add":
            start = self.folds.get(args[0].value)
            return self._fold(op, (*start.terms, *args[1:]) if start else args, name)
        return Expr(op, tuple(map(self._split, args)), value)

    def _fold(self, op: str, terms: tuple[Expr, ...], name: str = "", most: str = "") -> Expr:
        """Return the name of a fold, the same one for equal folds."""
        if (op, terms) not in self.fold_names:
            name = name or f"r{len(self.folds) + 1}"
            self.fold_names[op, terms] = name
            self.folds[name] = _Fold(op, terms, most)
            self.needs[name] = [n for term in terms for n in term.names] + [most] * bool(most)
        return Expr("name", (), self.fold_names[op, terms])

    def _closure(self, wanted: Iterable[str], *columns: Iterable[str]) -> dict[str, None]:
        """Return names and all that they depend on, but not what columns depend on."""
        found, queue = dict[str, None](), list(wanted)
        ends = {name for several in columns for name in several}
        while queue:
            name = queue.pop()
            if name not in found:
                found[name] = None
                queue += () if name in ends else self.needs[name]
        return found

    # ---------------------------------------------------------------- tables

    def _select(self, columns: Sequence[str], source: str, end: str = "") -> str:
        shown = ",\n    ".join(columns)
        return f"  SELECT\n    {shown}\n  FROM {source}{end}"

    def _add(self, name: str, *selected: str) -> str:
        """Append a table of all selected rows, and return its name, made unique by a number."""
        self.used[name] += 1
        number = self.used[name] if self.used[name] > 1 else ""
        body = "\n  UNION ALL\n".join(selected)
        body += self.dialect.barrier if len(selected) == 1 else ""
        self.tables.append(f"{self.prefix}{name}{number} {self.dialect.materialized} (\n{body}\n)")
        return f"{self.prefix}{name}{number}"

    def _list(self, names: Iterable[str]) -> list[str]:
        return [*self.always, *map(_column, names)]

    def _named(self, name: str) -> str:
        return f"{self._value(self.definitions[name])} AS {_column(name)}"

    def _encode(self, place: str, keep: Sequence[str]) -> _Source:
        """Add tables with the columns that rules use: encoded, then imputed and clipped."""
        dialect, names = self.dialect, list[str]()
        values = [dialect.number(1.0), *(f"t.{dialect.identifier(name)}" for name in keep)]
        columns = [f"{value} AS {name}" for value, name in zip(values, self.always, strict=True)]
        for x, j, attribute in self.program.columns:
            value = dialect.encode(attribute, f"t.{dialect.identifier(attribute.name)}")
            columns.append(f"{value} AS {x}")
            names.append(f"y{j + 1}" if f"y{j + 1}" in self.definitions else x)
        source = self._add("encoded", self._select(columns, f"{place} AS t"))
        prepared = [self._named(name) if name[0] == "y" else name for name in names]
        if prepared != names:
            # In a table of its own: a number may be written by means of the column `one`.
            source = self._add("prepared", self._select([*self.always, *prepared], source))
        return _Source(source, tuple(names))

    def _run(self, steps: Sequence[Step], table: _Source, wanted: Sequence[str]) -> _Source:
        """Add the tables of steps; the last one has the wanted names as columns."""
        for at, step in enumerate(steps):
            if isinstance(step, Assignment):
                self.known.add(step.name)
                continue
            needed = self._closure(wanted, table.columns)
            live = [name for name, _, _ in step.results if name in needed]
            table = self._compute(table, [name for name in needed if self._is_ready(name)])
            after = self._closure(wanted, table.columns, live)
            carried = [name for name in table.columns if name in after]
            sides = [self._side(step, holds, table, carried, live) for holds in (True, False)]
            self.known |= {*live}
            table = _Source(self._add("joined", *sides), (*carried, *live))
            return self._run(steps[at + 1 :], table, wanted)
        return self._compute(table, wanted)

    def _side(
        self, branch: Branch, holds: bool, table: _Source, carried: list[str], live: list[str]
    ) -> str:
        """Add the tables of one side of a branch, and return the selection of its results."""
        values = {name: yes if holds else no for name, yes, no in branch.results if name in live}
        wanted = [*carried, *(name for value in values.values() for name in value.names)]
        needed = self._closure(wanted, table.columns)
        columns = tuple(name for name in table.columns if name in needed)
        where = f"\n  WHERE CASE WHEN {self._test(branch.test)} THEN 1 ELSE 0 END = {holds:d}"
        source = self._add("chosen", self._select(self._list(columns), table.name, where))
        steps = branch.holds if holds else branch.fails
        found = self._run(steps, _Source(source, columns), wanted)
        results = [f"{self._value(value)} AS {_column(name)}" for name, value in values.items()]
        return self._select([*self._list(carried), *results], found.name)

    def _is_ready(self, name: str) -> bool:
        """Return whether a value of all rules depends on nothing that is assigned later."""
        if name in self.folds:
            return all(n in self.known or n in self.folds for n in self.needs[name])
        is_column = not OF_RULES.fullmatch(name) and self.program.kinds[name] != "truth"
        return is_column and name in self.known

    def _compute(self, table: _Source, wanted: Sequence[str]) -> _Source:
        """Add tables with values of all rules: folds first, then what is computed from these."""
        needed = self._closure(wanted, table.columns).keys() - {*table.columns}
        folds = [name for name in self.folds if name in needed]
        table = self._compute_folds(table, folds) if folds else table
        several = [name for name in self.definitions if name in needed]
        several = [name for name in several if not OF_RULES.fullmatch(name)]
        return self._assign("steps", table, several, [*wanted, *wanted])

    def _assign(
        self, title: str, table: _Source, names: Sequence[str], uses: Iterable[str]
    ) -> _Source:
        """Add tables with names as columns; tests, and names that are used once, are inlined."""
        count = Counter([*uses, *(needed for name in names for needed in self.needs[name])])
        levels, depths = Counter[str](), Counter[str]()
        stages: dict[int, list[str]] = {}
        self.inlined = set()
        for name in names:
            value, needs = self.definitions[name], self.needs[name]
            level = max((levels[n] for n in needs), default=0)
            depth = max((depths[n] for n in needs), default=0)
            depth += len(value.args) if value.op in SIGNS else 1
            if self.program.kinds[name] == "truth" or (count[name] < 2 and depth < DEPTH):
                self.inlined.add(name)
                levels[name], depths[name] = level, depth
            else:
                levels[name] = level + 1
                stages.setdefault(level, []).append(name)
        for _, stage in sorted(stages.items()):
            source = self._add(title, self._select(["*", *map(self._named, stage)], table.name))
            table = _Source(source, (*table.columns, *stage))
        return table

    # ---------------------------------------------------------------- folds

    def _compute_folds(self, table: _Source, folds: Sequence[str]) -> _Source:
        """Add tables with folds, portion by portion of the rules."""
        columns, order = table.columns, {name: k for k, name in enumerate(self.definitions)}
        # Each term is added with the last value that it needs.
        terms: dict[str, list[tuple[str, Expr]]] = {}
        for fold in folds:
            for term in self.folds[fold].terms:
                last = max(term.names, key=order.__getitem__, default="")
                terms.setdefault(last, []).append((fold, term))
        limit = self.dialect.most_columns
        room = inf if limit is None else limit - 20 - len(self._list(columns)) - 3 * len(folds)
        portion, own = terms.pop("", []), dict[str, None]()
        n_rules = 0
        for last in sorted(terms, key=order.__getitem__):
            more = self._closure([last], columns, own)
            if n_rules == PORTION or len(own) + len(more) > room:
                table = self._fold_portion(table, columns, portion, own)
                portion, own, n_rules = [], {}, 0
                more = self._closure([last], columns)
            if len(more) > room:
                raise ValueError(
                    f"{self.dialect.name} allows at most {limit} columns in a query, and "
                    f"rule {last[1:]} needs more; keep fewer columns or shorten the rule."
                )
            portion, own, n_rules = [*portion, *terms[last]], own | more, n_rules + 1
        return self._fold_portion(table, columns, portion, own)

    def _fold_portion(
        self,
        table: _Source,
        columns: Sequence[str],
        portion: Sequence[tuple[str, Expr]],
        own: Mapping[str, None],
    ) -> _Source:
        """Add tables that combine folds with the terms of a portion; other columns are dropped."""
        names = [name for name in self.definitions if name in own and name not in columns]
        uses = [name for _, term in portion for name in term.names]
        source = self._assign("rules", table, names, uses).name
        state = {name: _column(name) for name in table.columns if name not in columns}
        terms: dict[str, list[Expr]] = {}
        for fold, term in portion:
            terms.setdefault(fold, []).append(term)
        folded = {name: self._folded(name, several) for name, several in terms.items()}
        # A maximum is needed before its index.
        merged = [name for name in folded if name in {self.folds[fold].most for fold in folded}]
        if merged:
            shown = [f"{folded[name]} AS m_{name}" for name in merged]
            source = self._add("merged", self._select(["*", *shown], source))
            folded |= {name: f"m_{name}" for name in merged}
        state |= {name: f"{text} AS {_column(name)}" for name, text in folded.items()}
        source = self._add("folded", self._select([*self._list(columns), *state.values()], source))
        return _Source(source, (*columns, *state))

    def _folded(self, name: str, terms: Sequence[Expr]) -> str:
        """Return the value of a fold with some more terms."""
        fold, column = self.folds[name], _column(name)
        start = fold.terms.index(terms[0])
        texts = [self._test(term) if fold.op == "first" else self._value(term) for term in terms]
        before = [column] if start else []
        if fold.op == "max":
            return self.dialect.extreme(self.dialect.greatest, [*before, *texts])
        if fold.op == "add":
            return " + ".join([*before, *texts])
        cases = [(text, str(k)) for k, text in enumerate(texts, start)]
        if fold.op == "index":
            return _case(f"m_{fold.most}", [(_column(fold.most), c) for c in before] + cases)
        cases = [(f"{c} < {start}", c) for c in before] + cases
        return _case("", cases, str(start + len(texts)))

    # ---------------------------------------------------------------- expressions

    def _value(self, node: Expr) -> str:
        """Return the expression of a number, position, label or category."""
        op, args, value = node
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
        op, args, value = node
        if op == "name":
            return self._test(self.definitions[value])
        if op in {"truth", "if"}:
            return f"{self._value(node)} = 1"
        if op in {"all", "any"}:
            tests = [self._test(arg) for arg in args]
            while len(tests) > 1:
                parts = [tests[i : i + PORTION] for i in range(0, len(tests), PORTION)]
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


def _is_of_rules(node: Expr) -> bool:
    return any(map(OF_RULES.fullmatch, node.names))

"""Rules as a query that predicts inside a database."""

from collections.abc import Iterable, Sequence
from math import inf

import numpy as np

from frri.export.quoting import script_text
from frri.export.sql_answers import Answers
from frri.export.sql_dialect import DIALECTS, Dialect
from frri.export.sql_rules import Folding, Query
from frri.export.text import numbered_lines
from frri.rules.rule import Label
from frri.rules.ruleset import RuleSet
from frri.rules.semantics import CLASS_RULES, Support

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
    """A SELECT, or a view, with the prediction for every row of a table.

    It gives what `ruleset.predict` gives, ties included, with the number of the rule that decided
    (counted from 1) and the score of its class. Where no rule fires the score is 0 and the rule the
    one that the fallback went by, if any. Where rules answer together the rule is NULL; a predicted
    number is its own score.

    The table needs the columns that rules use. NULL is missing (NaN too, where a database has it), a
    category never seen in training is one, and dates may be DATE, TIMESTAMP or ISO texts. A text in a
    numeric column is read as a number; SQLite and DuckDB take one that is none for missing. Truth values
    are recognised: where training had yes and no, a BOOLEAN that a database has made of them means the
    same.

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
        Columns of the table to show beside the prediction, such as its key; by default the attributes
        that rules use. A database returns rows in any order: without a key nothing tells whose
        prediction is whose.
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
    _check_names([*columns, *names])
    _check_names([attribute.name for attribute in ruleset.attributes])
    parts = [table] if isinstance(table, str) else list(table)
    place = ".".join(words.identifier(part) for part in parts)
    given = [*parts, *columns, *names, *(a.name for a in ruleset.attributes), as_view or ""]
    writer = _Writer(ruleset, words, columns, names, _prefix(given))
    comments = "".join(f"-- {script_text(line)}\n" for line in numbered_lines(ruleset))
    # The generic dialect's readers may take a backslash for something else even here.
    comments = comments if dialect != "ansi" else comments.replace("\\", "/")
    head = f"CREATE VIEW {words.identifier(as_view)} AS\n" if as_view is not None else ""
    return f"{comments}{head}{writer.query(place)}\n"


class _Writer:
    """The steps of the query: encode, let the rules vote, decide; then again where none fired."""

    def __init__(
        self,
        ruleset: RuleSet,
        dialect: Dialect,
        keep: list[str],
        names: tuple[str, str, str],
        prefix: str,
    ) -> None:
        self.ruleset = ruleset
        self.dialect = dialect
        self.keep = keep
        self.names = names
        self.labels = [dialect.label(label) for label in _of_one_type(ruleset.classes)]
        used = ruleset.used_attributes
        self.used = [j for j, a in enumerate(ruleset.attributes) if a.name in used]
        self.shown = [f"k{i + 1}" for i in range(len(keep))]
        self.carried = ("one", *self.shown, *(f"x{j + 1}" for j in self.used))
        self.tables = Query(dialect, prefix)

    def query(self, place: str) -> str:
        """The whole SELECT."""
        encoded = self._encode(place)
        if self.ruleset.semantics.name not in CLASS_RULES:
            answers = Answers(self.ruleset, self.tables, self.carried, self.labels).of(encoded)
            results = [self._result(*answer) for answer in answers]
        elif not len(self.ruleset):
            results = [self._result(encoded, *self._priors())]
        else:
            covered, silent = self._covered(encoded)
            results = [covered, self._silent(silent)]
        last = "\nUNION ALL\n".join(results)
        return f"{self.tables.text()}\n{last}"

    def _encode(self, place: str) -> str:
        quoted = self.dialect.identifier
        columns = [f"{self.dialect.number(1.0)} AS one"]
        columns += [f"t.{quoted(name)} AS k{i + 1}" for i, name in enumerate(self.keep)]
        for j in self.used:
            attribute = self.ruleset.attributes[j]
            value = self.dialect.encoded(attribute, f"t.{quoted(attribute.name)}")
            columns.append(f"{value} AS x{j + 1}")
        source = self.tables.add("encoded", columns, f"{place} AS t")
        # In a table of its own: a number may be written by means of the column `one`.
        prepared = ["one", *self.shown]
        for j in self.used:
            x, attribute = f"x{j + 1}", self.ruleset.attributes[j]
            ends = ""
            if self.ruleset.missing == "typical" and attribute.typical is not None:
                ends = f"WHEN {x} IS NULL THEN {self.dialect.typical(attribute)} "
            if self.ruleset.clip and attribute.kind != "nominal":
                for sign, end in (("<", attribute.low), (">", attribute.high)):
                    if abs(end) < inf:
                        bound = self.dialect.number(end)
                        ends += f"WHEN {x} {sign} {bound} THEN {bound} "
            prepared.append(f"CASE {ends}ELSE {x} END AS {x}" if ends else x)
        if not self.ruleset.clip and self.ruleset.missing != "typical":
            return source
        return self.tables.add("prepared", prepared, source) if self.used else source

    def _covered(self, source: str) -> tuple[str, str]:
        """The result for rows where a rule fires, and the table of the others."""
        if self.ruleset.combination == "first":
            folding = Folding(self.ruleset, self.tables, self.carried, "degree", "first")
            source, _ = folding.run(source)
            return self._first(source)
        combination = self.ruleset.combination
        folding = Folding(self.ruleset, self.tables, self.carried, "score", combination)
        source, found = folding.run(source)
        source = self._top(source, found)
        silent = self.tables.add("silent", self.carried, source, "NOT top > 0")
        decided = self._decision(found)
        return self._result(source, *decided, "top", where="top > 0"), silent

    def _first(self, source: str) -> tuple[str, str]:
        """Each rule of a list has its class and score at once; one without any decides nothing."""
        labels: dict[int, list[int]] = {}
        scores: dict[float, list[int]] = {}
        for r, rule in enumerate(self.ruleset):
            own = self.ruleset.classes.index(rule.consequent)
            shares = rule.distribution
            score = 1.0 if shares is None else max(shares)
            if score > 0.0:
                decided = own if shares is None else shares.index(score)
                labels.setdefault(decided, []).append(r + 1)
                scores.setdefault(score, []).append(r + 1)
        valid = _among(sorted(r for rules in labels.values() for r in rules))
        where = f"first_rule IS NULL OR NOT ({valid})"
        silent = self.tables.add("silent", self.carried, source, where)
        label = _cases((_among(rules), self.labels[c]) for c, rules in labels.items())
        score_of = _cases((_among(rules), self.dialect.number(s)) for s, rules in scores.items())
        return self._result(source, label, "first_rule", score_of, where=valid), silent

    def _silent(self, source: str) -> str:
        """The result for rows where no rule fires."""
        fallback = self.ruleset.fallback
        nothing = self.dialect.number(0.0)
        weightless = not any(rule.weight > 0.0 for rule in self.ruleset)
        if fallback == "priors" or (fallback == "nearest" and weightless):
            return self._result(source, *self._priors())
        folding = Folding(self.ruleset, self.tables, self.carried, fallback, "best")
        source, found = folding.run(source)
        source = self._top(source, found)
        label, rule = self._decision(found)
        if fallback == "nearest":
            if 0 not in found:
                # Where everything is infinitely far, the first class decides, even without rules.
                end = f"top = {self.dialect.number(-inf)}"
                label, rule = (
                    f"CASE WHEN {end} THEN {self.labels[0]} ELSE {label} END",
                    f"CASE WHEN {end} THEN NULL ELSE {rule} END",
                )
            return self._result(source, label, rule, nothing)
        prior, none, _ = self._priors()
        label = f"CASE WHEN top > 0 THEN {label} ELSE {prior} END"
        rule = f"CASE WHEN top > 0 THEN {rule} ELSE {none} END"
        return self._result(source, label, rule, nothing)

    def _top(self, source: str, found: dict[int, tuple[str, str]]) -> str:
        scores = [found[c][0] for c in sorted(found)]
        return self.tables.add("tops", ["*", f"{self.dialect.greatest(scores)} AS top"], source)

    def _decision(self, found: dict[int, tuple[str, str]]) -> tuple[str, str]:
        """Label and rule number of the first class with the top score."""
        order = sorted(found)
        label = " ".join(f"WHEN {found[c][0]} THEN {self.labels[c]}" for c in order)
        rule = " ".join(f"WHEN {found[c][0]} THEN {found[c][1]}" for c in order)
        return f"CASE top {label} END", f"CASE top {rule} END"

    def _priors(self) -> tuple[str, str, str]:
        label = self.labels[int(np.argmax(self.ruleset.class_counts))]
        return label, "CAST(NULL AS INTEGER)", self.dialect.number(0.0)

    def _result(self, source: str, label: str, rule: str, score: str, where: str = "") -> str:
        quoted = self.dialect.identifier
        columns = [
            f"{column} AS {quoted(name)}"
            for column, name in zip(
                [*self.shown, label, rule, score], [*self.keep, *self.names], strict=True
            )
        ]
        where = f"\nWHERE {where}" if where else ""
        return "SELECT\n  " + ",\n  ".join(columns) + f"\nFROM {source}{where}"


def _among(rules: list[int]) -> str:
    return f"first_rule IN ({', '.join(map(str, rules))})" if rules else "1 = 0"


def _cases(pairs: Iterable[tuple[str, str]]) -> str:
    branches = " ".join(f"WHEN {test} THEN {value}" for test, value in pairs)
    return f"CASE {branches} END" if branches else "NULL"


def _of_one_type(labels: tuple[Label, ...]) -> Sequence[Label]:
    """A column holds one type: texts where there is one, otherwise what numpy makes of numbers."""
    kinds = {type(label) for label in labels}
    if str in kinds:
        return [str(label) for label in labels]
    return labels if kinds == {int} else np.asarray(labels).tolist()


def _prefix(given: list[str]) -> str:
    """What no name of the user's begins with; databases do not tell small letters from capitals."""
    prefix, number = "frri_", 1
    while any(name.lower().startswith(prefix) for name in given):
        number += 1
        prefix = f"frri{number}_"
    return prefix


def _check_names(names: list[str]) -> None:
    """Databases take names that differ in case only for the same."""
    known: dict[str, str] = {}
    for name in names:
        folded = name.lower()
        if folded in known:
            raise ValueError(
                f"The columns {known[folded]!r} and {name!r} would have one name in SQL; "
                "choose other columns to keep, or other names."
            )
        known[folded] = name

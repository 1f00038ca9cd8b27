"""Rules as a query that predicts inside a database."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from frri.export.script import escape_text
from frri.export.sql_dialects import find_dialect
from frri.export.sql_rules import Query, VoteQuery, case
from frri.export.text_formats import numbered_lines
from frri.rules.inference import ABOVE_HALF, LARGEST_EXPONENT, last_resort
from frri.rules.rule import Label
from frri.rules.ruleset import RuleSet


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
    query = Query(words, _prefix([*parts, *columns, *names, *attributes, as_view or ""]))
    encoded, carried = _encode(ruleset, query, place, columns)
    results = []
    for source, *answer, where in _Answers(ruleset, query, carried).of(encoded):
        shown = [*(f"k{i + 1}" for i in range(len(columns))), *answer]
        named = zip(shown, [*columns, *names], strict=True)
        selected = ",\n  ".join(f"{column} AS {words.identifier(name)}" for column, name in named)
        condition = f"\nWHERE {where}" if where else ""
        results.append(f"SELECT\n  {selected}\nFROM {source}{condition}")
    comments = "".join(f"-- {escape_text(line)}\n" for line in numbered_lines(ruleset))
    # Readers of standard SQL may interpret a backslash even here.
    comments = comments if words.backslashes else comments.replace("\\", "/")
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
    folded = [name.lower() for name in names]
    for i, name in enumerate(names):
        first = folded.index(folded[i])
        if first < i:
            raise ValueError(
                f"The columns {names[first]!r} and {name!r} would have one name in SQL; "
                "choose other columns to keep, or other names."
            )


# A table, and the expressions of a prediction, the number of a rule, a score and a WHERE clause.
Answer = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class _Answers:
    """The steps of a query from encoded columns to predictions; some columns are carried along."""

    ruleset: RuleSet
    query: Query
    carried: tuple[str, ...]

    @cached_property
    def labels(self) -> list[str]:
        """The classes as literals."""
        return [self.query.dialect.label(label) for label in _unify_labels(self.ruleset.classes)]

    @property
    def no_rule(self) -> str:
        """The number of a rule where none decides."""
        return f"CAST(NULL AS {self.query.dialect.integer})"

    def of(self, source: str) -> list[Answer]:
        """Return the answers of the semantics, from a table of encoded columns."""
        steps = {
            "softmax-votes": self._votes,
            "added-contributions": self._contributions,
            "weighted-mean": self._mean,
            "at-least-class": self._thresholds,
            "cumulative-logits": self._logits,
        }
        return steps.get(self.ruleset.semantics.name, self._class_rules)(source)

    def _vote_query(self, vote: str = "score") -> VoteQuery:
        return VoteQuery(self.ruleset, self.query, self.carried, vote)

    # ---------------------------------------------------------------- classes

    def _class_rules(self, source: str) -> list[Answer]:
        """Return the class of the best or the first rule; the fallback where no rule fires."""
        if not len(self.ruleset):
            return [self._priors(source)]
        if self.ruleset.combination == "first":
            source, rule = self._vote_query("degree").first(source), "first_rule"
            # The class with the largest proportion; a rule without any decides nothing.
            says = self.ruleset.arrays.says * self.ruleset.score_factors
            numbers = [str(r + 1) for r in range(len(says))]
            decided = [self.labels[c] for c in says.argmax(axis=1).tolist()]
            scores = map(self.query.dialect.number, says.max(axis=1).tolist())
            label = case(rule, zip(numbers, decided, strict=True))
            top = case(rule, zip(numbers, scores, strict=True), self.query.dialect.number(0.0))
        else:
            add = self.ruleset.combination == "sum"
            source, found = self._vote_query().scores(source, add=add)
            label, rule, top = self._highest(self._times_costs(found))
        source = self.query.add("tops", ["*", f"{top} AS highest_score"], source)
        uncovered = self.query.add("uncovered", self.carried, source, "NOT highest_score > 0")
        return [
            (source, label, rule, "highest_score", "highest_score > 0"),
            self._fallback(uncovered),
        ]

    def _fallback(self, source: str) -> Answer:
        """Return the answer for rows where no rule fires."""
        kind, number = last_resort(self.ruleset), self.query.dialect.number
        if kind == "priors":
            return self._priors(source)
        source, found = self._vote_query(kind).scores(source)
        label, rule, top = self._highest(found if kind == "nearest" else self._times_costs(found))
        source = self.query.add("tops", ["*", f"{top} AS highest_score"], source)
        test, other = "NOT highest_score > 0", self._priors(source)[1]
        if kind == "nearest":
            # Where everything is infinitely far, the first class decides, even without rules.
            test, other = f"highest_score = {number(-inf)}", self.labels[0]
        if kind != "nearest" or 0 not in found:
            label = f"CASE WHEN {test} THEN {other} ELSE {label} END"
            rule = f"CASE WHEN {test} THEN {self.no_rule} ELSE {rule} END"
        return source, label, rule, number(0.0), ""

    def _times_costs(self, found: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
        """Return the scores of classes times their costs, and their best rules."""
        if not self.ruleset.costs:
            return found
        costs = [self.query.dialect.number(cost) for cost in self.ruleset.costs]
        return {c: (f"{score} * {costs[c]}", rule) for c, (score, rule) in found.items()}

    def _highest(self, found: dict[int, tuple[str, str]]) -> tuple[str, str, str]:
        """Return label and rule of the first class with the top score, and that score."""
        label = case("highest_score", ((score, self.labels[c]) for c, (score, _) in found.items()))
        scores = [score for score, _ in found.values()]
        return label, case("highest_score", found.values()), self.query.dialect.greatest(scores)

    def _priors(self, source: str) -> Answer:
        label = self.labels[int(np.argmax(self.ruleset.priors))]
        return source, label, self.no_rule, self.query.dialect.number(0.0), ""

    # ---------------------------------------------------------------- sums and means

    def _votes(self, source: str) -> list[Answer]:
        """Return the first class with the highest sum of votes."""
        source = self._sums(source, self.ruleset.base)
        sums = [f"a{c + 1}" for c in range(len(self.labels))]
        top = self.query.dialect.greatest(sums)
        source = self.query.add("tops", ["*", f"{top} AS highest_score"], source)
        label = case("highest_score", zip(sums, self.labels, strict=True))
        return [(source, label, self.no_rule, "highest_score", "")]

    def _contributions(self, source: str) -> list[Answer]:
        return [(self._sums(source, self.ruleset.base), "a1", self.no_rule, "a1", "")]

    def _sums(self, source: str, starts: Sequence[float]) -> str:
        return self._vote_query().sums(source, starts, self.ruleset.arrays.says.tolist())

    def _mean(self, source: str) -> list[Answer]:
        """Return the weighted mean of the rules; where none fires, the nearest rule or the base."""
        numbers, number = self.ruleset.arrays.says[:, 0].tolist(), self.query.dialect.number
        source = self._vote_query().sums(source, (0.0, 0.0), [(1.0, value) for value in numbers])
        covered = (source, "a2 / a1", self.no_rule, "a2 / a1", "a1 > 0")
        if last_resort(self.ruleset) == "base":
            base = number(self.ruleset.base[0])
            return [covered, (source, base, self.no_rule, base, "NOT a1 > 0")]
        uncovered = self.query.add("uncovered", self.carried, source, "NOT a1 > 0")
        uncovered, found = self._vote_query("nearest").scores(uncovered)
        rule = found[0][1]
        value = case(rule, ((str(r), number(said)) for r, said in enumerate(numbers, start=1)))
        return [covered, (uncovered, value, rule, value, "")]

    # ---------------------------------------------------------------- ordered classes

    def _logits(self, source: str) -> list[Answer]:
        """Return decisions by one sum, with a base for each class but the first."""
        dialect, number = self.query.dialect, self.query.dialect.number
        source, shares = self._sums(source, (0.0,)), []
        for base in self.ruleset.base:
            odds = dialect.least([f"-(a1 + {number(base)})", number(LARGEST_EXPONENT)])
            # Smaller exponents make no difference, and are an error in some databases.
            odds = dialect.greatest([odds, number(-LARGEST_EXPONENT)])
            share = f"{number(1.0)} / ({number(1.0)} + EXP({odds}))"
            # Above one half exactly where the sum is above 0: the sign decides, not the last bit.
            above = dialect.greatest([share, number(ABOVE_HALF)])
            below = dialect.least([share, number(0.5)])
            shares.append(f"CASE WHEN {odds} < {number(0.0)} THEN {above} ELSE {below} END")
        return self._steps(source, shares)

    def _steps(self, source: str, shares: Sequence[str]) -> list[Answer]:
        """Return the last class that has, like all before it, a fraction above one half."""
        columns = [f"{share} AS share{t}" for t, share in enumerate(shares, start=1)]
        source = self.query.add("shares", ["*", *columns], source)
        passed = self._count(f"share{{}} > {self.query.dialect.number(0.5)}")
        source = self.query.add("passed", ["*", f"{passed} AS passed"], source)
        one = self.query.dialect.number(1.0)
        share = self._by_place("passed", [one, *(f"share{t}" for t in self._upper_classes)])
        return [(source, self._by_place("passed", self.labels), self.no_rule, share, "")]

    def _thresholds(self, source: str) -> list[Answer]:
        """Return decisions by "at least" and "at most" rules: see `frri.rules.inference`."""
        one, nothing = self.query.dialect.number(1.0), self.query.dialect.number(0.0)
        source = self._apply_fallback(self._add_votes(source))
        shares = [
            f"CASE WHEN for{t} > 0 THEN {one} / ({one} + against{t} / for{t}) ELSE {nothing} END"
            for t in self._upper_classes
        ]
        return self._steps(source, shares)

    def _add_votes(self, source: str) -> str:
        """Add the votes for and against each threshold, and the classes that they leave."""
        columns, found = self.carried, dict[int, tuple[str, str]]()
        if last_resort(self.ruleset) == "nearest":
            source, near = self._vote_query("nearest").scores(source)
            sides = self._sides(near, -inf, ("near", "opposed"))
            source = self.query.add("nearest", [*columns, *sides], source)
            columns += tuple(
                f"{side}{t}" for t in self._upper_classes for side in ("near", "opposed")
            )
        if len(self.ruleset):
            source, found = VoteQuery(self.ruleset, self.query, columns).scores(source)
        sides = self._sides(found, 0.0, ("pro", "contra"))
        source = self.query.add("spoken", [*columns, *sides], source)
        last = self.query.dialect.number(len(self.labels) - 1.0)
        left = [
            f"{self._count('pro{} > 0')} AS lowest",
            f"{last} - ({self._count('contra{} > 0')}) AS highest",
        ]
        return self.query.add("classes_left", ["*", *left], source)

    def _sides(
        self, found: dict[int, tuple[str, str]], nothing: float, names: tuple[str, str]
    ) -> list[str]:
        """Return the largest vote for each threshold, and the largest against it."""
        n, columns = len(self.labels), []
        for t in self._upper_classes:
            for side, groups in zip(names, (range(t, n), range(n, n + t)), strict=True):
                scores = [found[group][0] for group in groups if group in found]
                most = self.query.dialect.greatest(scores or [self.query.dialect.number(nothing)])
                columns.append(f"{most} AS {side}{t}")
        return columns

    def _apply_fallback(self, source: str) -> str:
        """Decide thresholds without a vote by the nearest rules, or by the priors.

        Classes without any prior have equal ones.
        """
        dialect, number = self.query.dialect, self.query.dialect.number
        sizes = [number(size) for size in (0.0, *np.cumsum(self.ruleset.class_counts).tolist())]
        below = self._by_place("lowest", sizes[:-1])
        up_to = self._by_place("highest", sizes[1:])
        source = self.query.add("sizes", ["*", f"{below} AS below", f"{up_to} AS up_to"], source)
        columns = []
        for t in self._upper_classes:
            here = number(float(t))
            silent = f"WHEN lowest < {here} AND highest >= {here}"
            equal = f"highest + {number(1.0)} - {here}"
            for name, side, other, share, alike in (
                ("for", "pro", "opposed", f"up_to - {sizes[t]}", equal),
                ("against", "contra", "near", f"{sizes[t]} - below", f"{here} - lowest"),
            ):
                cases = f"{silent} AND up_to > below THEN {share} {silent} THEN {alike}"
                if last_resort(self.ruleset) == "nearest":
                    known = f"{dialect.greatest([f'near{t}', f'opposed{t}'])} > {number(-inf)}"
                    far = dialect.greatest([f"-{other}{t}", number(0.0)])
                    cases = f"{silent} AND {known} THEN {far} {cases}"
                columns.append(f"CASE {cases} ELSE {side}{t} END AS {name}{t}")
        return self.query.add("sides", ["*", *columns], source)

    @property
    def _upper_classes(self) -> range:
        return range(1, len(self.labels))

    def _count(self, test: str) -> str:
        """Return for how many thresholds a test holds."""
        one, nothing = self.query.dialect.number(1.0), self.query.dialect.number(0.0)
        tests = [test.format(t) for t in self._upper_classes]
        return " + ".join(f"CASE WHEN {t} THEN {one} ELSE {nothing} END" for t in tests) or nothing

    def _by_place(self, place: str, values: Sequence[str]) -> str:
        """Return the value at the position that a column contains."""
        number = self.query.dialect.number
        return case(place, ((number(float(c)), value) for c, value in enumerate(values)))

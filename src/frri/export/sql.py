"""Rules as a query that predicts inside a database."""

from collections.abc import Iterable, Sequence
from math import inf

import numpy as np

from frri.export.model import escape_text
from frri.export.sql_dialects import DIALECTS, Dialect
from frri.export.sql_rules import Query, VoteQuery
from frri.export.text_formats import numbered_lines
from frri.rules.inference import last_resort
from frri.rules.rule import Label
from frri.rules.ruleset import RuleSet
from frri.rules.scores import ABOVE_HALF, LARGEST_EXPONENT
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
    _check_names([*columns, *names])
    _check_names([attribute.name for attribute in ruleset.attributes])
    parts = [table] if isinstance(table, str) else list(table)
    place = ".".join(words.identifier(part) for part in parts)
    given = [*parts, *columns, *names, *(a.name for a in ruleset.attributes), as_view or ""]
    writer = _Writer(ruleset, words, columns, names, _prefix(given))
    comments = "".join(f"-- {escape_text(line)}\n" for line in numbered_lines(ruleset))
    # The generic dialect's readers may take a backslash for something else even here.
    comments = comments if dialect != "ansi" else comments.replace("\\", "/")
    head = f"CREATE VIEW {words.identifier(as_view)} AS\n" if as_view is not None else ""
    return f"{comments}{head}{writer.query(place)}\n"


class _Writer:
    """The steps of the query: encode, score the rules, decide; again where no rule fires."""

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
        self.labels = [dialect.label(label) for label in _unify_labels(ruleset.classes)]
        used = ruleset.used_attributes
        self.used = [j for j, a in enumerate(ruleset.attributes) if a.name in used]
        self.shown = [f"k{i + 1}" for i in range(len(keep))]
        self.carried = ("one", *self.shown, *(f"x{j + 1}" for j in self.used))
        self.tables = Query(dialect, prefix)

    def query(self, place: str) -> str:
        """Return the complete SELECT."""
        encoded = self._encode(place)
        if self.ruleset.semantics.name not in CLASS_RULES:
            answers = SumQuery(self.ruleset, self.tables, self.carried, self.labels).of(encoded)
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
            value = self.dialect.encode(attribute, f"t.{quoted(attribute.name)}")
            columns.append(f"{value} AS x{j + 1}")
        source = self.tables.add("encoded", columns, f"{place} AS t")
        # In a table of its own: a number may be written by means of the column `one`.
        prepared = ["one", *self.shown]
        for j in self.used:
            x, attribute = f"x{j + 1}", self.ruleset.attributes[j]
            ends = ""
            if self.ruleset.missing == "typical" and attribute.typical is not None:
                ends = f"WHEN {x} IS NULL THEN {self.dialect.imputed(attribute)} "
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
        """Return the result for rows where a rule fires, and the table of the others."""
        if self.ruleset.combination == "first":
            votes = VoteQuery(self.ruleset, self.tables, self.carried, "degree", "first")
            source, _ = votes.scores(source)
            return self._first(source)
        combination = self.ruleset.combination
        votes = VoteQuery(self.ruleset, self.tables, self.carried, "score", combination)
        source, found = votes.scores(source)
        source = self._top(source, found)
        silent = self.tables.add("silent", self.carried, source, "NOT top > 0")
        decided = self._decision(found)
        return self._result(source, *decided, "top", where="top > 0"), silent

    def _first(self, source: str) -> tuple[str, str]:
        """Return the same for a rule list; a rule without class probabilities decides nothing."""
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
        valid = _is_rule(sorted(r for rules in labels.values() for r in rules))
        where = f"first_rule IS NULL OR NOT ({valid})"
        silent = self.tables.add("silent", self.carried, source, where)
        label = _cases((_is_rule(rules), self.labels[c]) for c, rules in labels.items())
        score_of = _cases((_is_rule(rules), self.dialect.number(s)) for s, rules in scores.items())
        return self._result(source, label, "first_rule", score_of, where=valid), silent

    def _silent(self, source: str) -> str:
        """Return the result for rows where no rule fires."""
        fallback = self.ruleset.fallback
        nothing = self.dialect.number(0.0)
        weightless = not any(rule.weight > 0.0 for rule in self.ruleset)
        if fallback == "priors" or (fallback == "nearest" and weightless):
            return self._result(source, *self._priors())
        votes = VoteQuery(self.ruleset, self.tables, self.carried, fallback, "best")
        source, found = votes.scores(source)
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
        """Return label and rule number of the first class with the top score."""
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


def _is_rule(rules: list[int]) -> str:
    return f"first_rule IN ({', '.join(map(str, rules))})" if rules else "1 = 0"


def _cases(pairs: Iterable[tuple[str, str]]) -> str:
    branches = " ".join(f"WHEN {test} THEN {value}" for test, value in pairs)
    return f"CASE {branches} END" if branches else "NULL"


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


# A table, and the expressions of a prediction, the number of a rule, a score and a WHERE clause.
Answer = tuple[str, str, str, str, str]


class SumQuery:
    """The steps from encoded columns to predictions, for semantics that add or order rules.

    Parameters
    ----------
    ruleset : RuleSet
    query : Query
    carried : tuple of str
        Columns to carry along.
    labels : list of str
        The classes as literals.
    """

    def __init__(
        self, ruleset: RuleSet, query: Query, carried: tuple[str, ...], labels: list[str]
    ) -> None:
        self.ruleset, self.query, self.carried, self.labels = ruleset, query, carried, labels
        self.dialect = query.dialect

    def of(self, source: str) -> list[Answer]:
        """Return the answers of the semantics, from a table of encoded columns."""
        steps = {
            "softmax-votes": self._votes,
            "added-contributions": self._contributions,
            "weighted-mean": self._mean,
            "at-least-class": self._thresholds,
            "cumulative-logits": self._logits,
        }
        return steps[self.ruleset.semantics.name](source)

    def _vote_query(self, vote: str = "score") -> VoteQuery:
        return VoteQuery(self.ruleset, self.query, self.carried, vote, "best")

    @property
    def _no_rule(self) -> str:
        return "CAST(NULL AS INTEGER)"

    def _votes(self, source: str) -> list[Answer]:
        """Return the first class with the highest sum of votes."""
        said = self.ruleset.arrays.says.tolist()
        source = self._vote_query().sums(source, self.ruleset.base, said)
        sums = [f"a{c + 1}" for c in range(len(self.labels))]
        top = f"{self.dialect.greatest(sums)} AS top"
        source = self.query.add("tops", ["*", top], source)
        cases = " ".join(
            f"WHEN {name} THEN {label}" for name, label in zip(sums, self.labels, strict=True)
        )
        return [(source, f"CASE top {cases} END", self._no_rule, "top", "")]

    def _contributions(self, source: str) -> list[Answer]:
        said = self.ruleset.arrays.says.tolist()
        source = self._vote_query().sums(source, self.ruleset.base, said)
        return [(source, "a1", self._no_rule, "a1", "")]

    def _mean(self, source: str) -> list[Answer]:
        """Return the weighted mean of the rules; where none fires, the nearest rule or the base."""
        numbers = self.ruleset.arrays.says[:, 0].tolist()
        source = self._vote_query().sums(source, (0.0, 0.0), [(1.0, number) for number in numbers])
        covered = (source, "a2 / a1", self._no_rule, "a2 / a1", "a1 > 0")
        near = self.ruleset.fallback == "nearest"
        if not near or not any(rule.weight > 0.0 for rule in self.ruleset):
            base = self.dialect.number(self.ruleset.base[0])
            return [covered, (source, base, self._no_rule, base, "NOT a1 > 0")]
        silent = self.query.add("silent", self.carried, source, "NOT a1 > 0")
        silent, found = self._vote_query("nearest").scores(silent)
        rule = found[0][1]
        cases = " ".join(
            f"WHEN {r + 1} THEN {self.dialect.number(number)}" for r, number in enumerate(numbers)
        )
        number = f"CASE {rule} {cases} END"
        return [covered, (silent, number, rule, number, "")]

    def _thresholds(self, source: str) -> list[Answer]:
        """Return decisions by "at least" and "at most" rules: see `frri.rules.inference`."""
        one, nothing = self.dialect.number(1.0), self.dialect.number(0.0)
        source = self._apply_fallback(self._add_votes(source))
        shares = [
            f"CASE WHEN for{t} > 0 THEN {one} / ({one} + against{t} / for{t}) ELSE {nothing} END"
            for t in self._upper_classes
        ]
        return self._steps(source, shares)

    def _logits(self, source: str) -> list[Answer]:
        """One sum for all classes; each but the first has a base of its own."""
        one, number = self.dialect.number(1.0), self.dialect.number
        said = self.ruleset.arrays.says.tolist()
        source = self._vote_query().sums(source, (0.0,), said)
        odds = [
            self.dialect.least([f"-(a1 + {number(base)})", number(LARGEST_EXPONENT)])
            for base in self.ruleset.base
        ]
        shares = []
        for value in odds:
            share = f"{one} / ({one} + EXP({value}))"
            # Above one half exactly where the sum is above 0: the sign decides, not the last bit.
            above = self.dialect.greatest([share, number(ABOVE_HALF)])
            below = self.dialect.least([share, number(0.5)])
            shares.append(f"CASE WHEN {value} < {number(0.0)} THEN {above} ELSE {below} END")
        return self._steps(source, shares)

    def _steps(self, source: str, shares: Sequence[str]) -> list[Answer]:
        """Return the last class that has, like all before it, a fraction above one half."""
        one = self.dialect.number(1.0)
        columns = [f"{share} AS share{t}" for t, share in enumerate(shares, start=1)]
        source = self.query.add("shares", ["*", *columns], source)
        passed = self._count(f"share{{}} > {self.dialect.number(0.5)}")
        source = self.query.add("passed", ["*", f"{passed} AS passed"], source)
        label = self._by_place("passed", self.labels)
        share = self._by_place("passed", [one, *(f"share{t}" for t in self._upper_classes)])
        return [(source, label, self._no_rule, share, "")]

    def _add_votes(self, source: str) -> str:
        """Add the votes for and against each threshold, and the classes that they leave."""
        n = len(self.labels)
        columns = [*self.carried]
        if self._uses_nearest:
            source, found = self._vote_query("nearest").scores(source)
            sides = self._sides(found, -inf, ("near", "opposed"))
            source = self.query.add("nearest", [*self.carried, *sides], source)
            columns += [f"{side}{t}" for t in self._upper_classes for side in ("near", "opposed")]
        found = {}
        if len(self.ruleset):
            votes = VoteQuery(self.ruleset, self.query, tuple(columns), "score", "best")
            source, found = votes.scores(source)
        source = self.query.add(
            "spoken", [*columns, *self._sides(found, 0.0, ("pro", "contra"))], source
        )
        lowest = self._count("pro{} > 0")
        highest = f"{self.dialect.number(n - 1.0)} - ({self._count('contra{} > 0')})"
        columns = [f"{lowest} AS lowest", f"{highest} AS highest"]
        return self.query.add("classes_left", ["*", *columns], source)

    def _sides(
        self, found: dict[int, tuple[str, str]], nothing: float, names: tuple[str, str]
    ) -> list[str]:
        """Return the largest vote for each threshold, and the largest against it."""
        n, columns = len(self.labels), []
        for t in self._upper_classes:
            for side, groups in zip(names, (range(t, n), range(n, n + t)), strict=True):
                scores = [found[group][0] for group in groups if group in found]
                most = self.dialect.greatest(scores or [self.dialect.number(nothing)])
                columns.append(f"{most} AS {side}{t}")
        return columns

    @property
    def _uses_nearest(self) -> bool:
        return last_resort(self.ruleset) == "nearest"

    def _apply_fallback(self, source: str) -> str:
        """Decide thresholds without a vote by the nearest rules, or by the priors.

        Classes without any prior have equal ones.
        """
        number = self.dialect.number
        sizes = [number(size) for size in (0.0, *np.cumsum(self.ruleset.class_counts).tolist())]
        below = self._by_place("lowest", sizes[:-1])
        up_to = self._by_place("highest", sizes[1:])
        source = self.query.add("sizes", ["*", f"{below} AS below", f"{up_to} AS up_to"], source)
        columns = []
        for t in self._upper_classes:
            here = number(float(t))
            silent = f"WHEN lowest < {here} AND highest >= {here}"
            for name, side, other, share, equal in (
                (
                    "for",
                    "pro",
                    "opposed",
                    f"up_to - {sizes[t]}",
                    f"highest + {number(1.0)} - {here}",
                ),
                ("against", "contra", "near", f"{sizes[t]} - below", f"{here} - lowest"),
            ):
                cases = f"{silent} AND up_to > below THEN {share} {silent} THEN {equal}"
                if self._uses_nearest:
                    known = f"{self.dialect.greatest([f'near{t}', f'opposed{t}'])} > {number(-inf)}"
                    far = self.dialect.greatest([f"-{other}{t}", number(0.0)])
                    cases = f"{silent} AND {known} THEN {far} {cases}"
                columns.append(f"CASE {cases} ELSE {side}{t} END AS {name}{t}")
        return self.query.add("sides", ["*", *columns], source)

    @property
    def _upper_classes(self) -> range:
        return range(1, len(self.labels))

    def _count(self, test: str) -> str:
        """Return for how many thresholds a test holds."""
        one, nothing = self.dialect.number(1.0), self.dialect.number(0.0)
        tests = [test.format(t) for t in self._upper_classes]
        return " + ".join(f"CASE WHEN {t} THEN {one} ELSE {nothing} END" for t in tests) or nothing

    def _by_place(self, place: str, values: Sequence[str]) -> str:
        """Return the value at the position that a column contains."""
        cases = [f"WHEN {self.dialect.number(float(c))} THEN {v}" for c, v in enumerate(values)]
        return f"CASE {place} {' '.join(cases)} END"

"""Rules as a query that predicts inside a database."""

from collections.abc import Iterable, Sequence
from math import inf

import numpy as np

from frri.export.modules import escape_text
from frri.export.sql_dialects import DIALECTS
from frri.export.sql_rules import Query, VoteQuery
from frri.export.text_formats import numbered_lines
from frri.rules.inference import ABOVE_HALF, LARGEST_EXPONENT, last_resort
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


# A table, and the expressions of a prediction, the number of a rule, a score and a WHERE clause.
Answer = tuple[str, str, str, str, str]

NO_RULE = "CAST(NULL AS INTEGER)"


class Answers:
    """The steps of a query from encoded columns to predictions.

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
            "best-rule": self._class_rules,
            "added-votes": self._class_rules,
            "first-match": self._rule_list,
            "softmax-votes": self._votes,
            "added-contributions": self._contributions,
            "weighted-mean": self._mean,
            "at-least-class": self._thresholds,
            "cumulative-logits": self._logits,
        }
        return steps[self.ruleset.semantics.name](source)

    def _class_rules(self, source: str) -> list[Answer]:
        """Return the class with the highest score; the fallback where no rule fires."""
        if not len(self.ruleset):
            return [(source, *self._priors(), "")]
        source, found = self._vote_query("score", self.ruleset.combination).scores(source)
        source = self._add_top(source, [score for score, _ in found.values()])
        uncovered = self.query.add("uncovered", self.carried, source, "NOT top > 0")
        covered = (source, *self._decision(found), "top", "top > 0")
        return [covered, self._fallback(uncovered)]

    def _rule_list(self, source: str) -> list[Answer]:
        """Return the class of the first rule; one without class probabilities decides nothing."""
        if not len(self.ruleset):
            return [(source, *self._priors(), "")]
        source, _ = self._vote_query("degree", "first").scores(source)
        labels: dict[str, list[int]] = {}
        scores: dict[str, list[int]] = {}
        for r, rule in enumerate(self.ruleset, start=1):
            decided = self.ruleset.classes.index(rule.consequent)
            score = 1.0
            if rule.distribution is not None:
                score = max(rule.distribution)
                decided = rule.distribution.index(score)
            if score > 0.0:
                labels.setdefault(self.labels[decided], []).append(r)
                scores.setdefault(self.dialect.number(score), []).append(r)
        valid = _is_rule(sorted(r for rules in labels.values() for r in rules))
        uncovered = self.query.add(
            "uncovered", self.carried, source, f"first_rule IS NULL OR NOT ({valid})"
        )
        label, score_of = (
            _case("", ((_is_rule(rules), value) for value, rules in known.items()))
            for known in (labels, scores)
        )
        return [(source, label, "first_rule", score_of, valid), self._fallback(uncovered)]

    def _fallback(self, source: str) -> Answer:
        """Return the answer for rows where no rule fires."""
        fallback, nothing = self.ruleset.fallback, self.dialect.number(0.0)
        weightless = not any(rule.weight > 0.0 for rule in self.ruleset)
        if fallback == "priors" or (fallback == "nearest" and weightless):
            return (source, *self._priors(), "")
        source, found = self._vote_query(fallback).scores(source)
        source = self._add_top(source, [score for score, _ in found.values()])
        label, rule = self._decision(found)
        prior, _, _ = self._priors()
        test = "NOT top > 0"
        if fallback == "nearest":
            # Where everything is infinitely far, the first class decides, even without rules.
            prior, test = self.labels[0], f"top = {self.dialect.number(-inf)}"
        if fallback != "nearest" or 0 not in found:
            label = f"CASE WHEN {test} THEN {prior} ELSE {label} END"
            rule = f"CASE WHEN {test} THEN {NO_RULE} ELSE {rule} END"
        return source, label, rule, nothing, ""

    def _vote_query(self, vote: str = "score", fold: str = "best") -> VoteQuery:
        return VoteQuery(self.ruleset, self.query, self.carried, vote, fold)

    def _add_top(self, source: str, scores: Sequence[str]) -> str:
        return self.query.add("tops", ["*", f"{self.dialect.greatest(scores)} AS top"], source)

    def _decision(self, found: dict[int, tuple[str, str]]) -> tuple[str, str]:
        """Return label and rule number of the first class with the top score."""
        order = sorted(found)
        label = _case("top", ((found[c][0], self.labels[c]) for c in order))
        return label, _case("top", (found[c] for c in order))

    def _priors(self) -> tuple[str, str, str]:
        label = self.labels[int(np.argmax(self.ruleset.class_counts))]
        return label, NO_RULE, self.dialect.number(0.0)

    def _votes(self, source: str) -> list[Answer]:
        """Return the first class with the highest sum of votes."""
        source = self._sums(source, self.ruleset.base)
        sums = [f"a{c + 1}" for c in range(len(self.labels))]
        source = self._add_top(source, sums)
        label = _case("top", zip(sums, self.labels, strict=True))
        return [(source, label, NO_RULE, "top", "")]

    def _contributions(self, source: str) -> list[Answer]:
        return [(self._sums(source, self.ruleset.base), "a1", NO_RULE, "a1", "")]

    def _sums(self, source: str, starts: Sequence[float]) -> str:
        return self._vote_query().sums(source, starts, self.ruleset.arrays.says.tolist())

    def _mean(self, source: str) -> list[Answer]:
        """Return the weighted mean of the rules; where none fires, the nearest rule or the base."""
        numbers = self.ruleset.arrays.says[:, 0].tolist()
        source = self._vote_query().sums(source, (0.0, 0.0), [(1.0, number) for number in numbers])
        covered = (source, "a2 / a1", NO_RULE, "a2 / a1", "a1 > 0")
        near = self.ruleset.fallback == "nearest"
        if not near or not any(rule.weight > 0.0 for rule in self.ruleset):
            base = self.dialect.number(self.ruleset.base[0])
            return [covered, (source, base, NO_RULE, base, "NOT a1 > 0")]
        uncovered = self.query.add("uncovered", self.carried, source, "NOT a1 > 0")
        uncovered, found = self._vote_query("nearest").scores(uncovered)
        rule = found[0][1]
        written = enumerate(map(self.dialect.number, numbers), start=1)
        number = _case(rule, ((str(r), value) for r, value in written))
        return [covered, (uncovered, number, rule, number, "")]

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
        """Return decisions by one sum, with a base for each class but the first."""
        one, number = self.dialect.number(1.0), self.dialect.number
        source = self._sums(source, (0.0,))
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
        return [(source, label, NO_RULE, share, "")]

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
        number, one = self.dialect.number, self.dialect.number(1.0)
        sizes = [number(size) for size in (0.0, *np.cumsum(self.ruleset.class_counts).tolist())]
        below = self._by_place("lowest", sizes[:-1])
        up_to = self._by_place("highest", sizes[1:])
        source = self.query.add("sizes", ["*", f"{below} AS below", f"{up_to} AS up_to"], source)
        columns = []
        for t in self._upper_classes:
            here = number(float(t))
            silent = f"WHEN lowest < {here} AND highest >= {here}"
            for name, side, other, share, equal in (
                ("for", "pro", "opposed", f"up_to - {sizes[t]}", f"highest + {one} - {here}"),
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
        return _case(place, ((self.dialect.number(float(c)), v) for c, v in enumerate(values)))


def _is_rule(rules: list[int]) -> str:
    return f"first_rule IN ({', '.join(map(str, rules))})" if rules else "1 = 0"


def _case(column: str, pairs: Iterable[tuple[str, str]]) -> str:
    branches = " ".join(f"WHEN {test} THEN {value}" for test, value in pairs)
    return f"CASE {column} {branches} END" if branches else "NULL"

"""Rules as expressions of SQL: from columns to memberships, to what each rule counts, to scores.

A query is a chain of common table expressions, each a few short columns computed from the one before:

- `x1, x2, ...` the encoded attributes that rules use, `k1, k2, ...` the columns to be shown, `one` 1.0,
- `m1, m2, ...` memberships, one column for all rules that share a condition,
- `j1, j2, ...` memberships joined one after another (for t-norms that are no single expression),
- `v1, v2, ...` what each rule counts,
- `s1, s2, ...` the score of each class, `n1, n2, ...` the number of its strongest rule.

Rules are taken in portions, because databases limit the number of columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Literal

from frri.export.sql_dialect import Dialect
from frri.rules.condition import Condition, NominalCondition, NumericCondition, is_strict
from frri.rules.rule import Rule
from frri.rules.ruleset import RuleSet
from frri.table import Attribute

# Rules at a time: sums of so many terms stay well below the depth that databases allow.
PORTION = 400

Vote = Literal["score", "degree", "nearest", "stretched", "partial"]
Fold = Literal["best", "sum", "first"]


@dataclass
class Query:
    """Common table expressions in the making; each reads the one before."""

    dialect: Dialect
    tables: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, columns: Sequence[str], source: str, where: str = "") -> str:
        """Append one; its name is made unique by a number."""
        number = sum(known.rstrip("0123456789") == name for known, _ in self.tables) + 1
        unique = f"{name}{number}" if number > 1 else name
        shown = ",\n    ".join(columns)
        where = f"\n  WHERE {where}" if where else ""
        self.tables.append((unique, f"  SELECT\n    {shown}\n  FROM {source}{where}"))
        return unique

    def text(self) -> str:
        """The WITH clause."""
        word = self.dialect.materialized
        return "WITH " + ",\n".join(f"{name} {word} (\n{body}\n)" for name, body in self.tables)


@dataclass(frozen=True)
class Folding:
    """All rules' votes of one kind, brought together class by class.

    Parameters
    ----------
    ruleset : RuleSet
    query : Query
    kept : sequence of str
        Columns to carry along.
    vote : {"score", "degree", "nearest", "stretched", "partial"}
        What each rule counts.
    fold : {"best", "sum", "first"}
        How the votes of a class come together; "first" only keeps the number of the first rule.
    """

    ruleset: RuleSet
    query: Query
    kept: tuple[str, ...]
    vote: Vote
    fold: Fold

    def run(self, source: str) -> tuple[str, dict[int, tuple[str, str]]]:
        """The last table, and per class (by position) the columns of its score and rule number."""
        found: dict[int, tuple[str, str]] = {}
        strengths: dict[int, str] = {}
        started = False
        for portion in self._portions():
            source, votes = self._votes(source, portion)
            if self.fold == "first":
                first = "WHEN first_rule IS NOT NULL THEN first_rule " if started else ""
                cases = " ".join(f"WHEN {vote} > 0 THEN {r + 1}" for r, vote in votes.items())
                columns = [*self.kept, f"CASE {first}{cases} END AS first_rule"]
                source, started = self.query.add("firsts", columns, source), True
            else:
                source = self._merge(source, votes, found, strengths)
        return source, found

    def _merge(
        self,
        source: str,
        votes: dict[int, str],
        found: dict[int, tuple[str, str]],
        strengths: dict[int, str],
    ) -> str:
        """Add the votes of a portion to the scores of their classes."""
        most = self.query.dialect.greatest
        own: dict[int, list[int]] = {}
        for r in votes:
            own.setdefault(self.ruleset.classes.index(self.ruleset[r].consequent), []).append(r)
        columns = ["*"]
        for c, rules in own.items():
            names = [votes[r] for r in rules]
            columns.append(f"{most([*filter(None, [strengths.get(c)]), *names])} AS t{c + 1}")
            if self.fold == "sum":
                before = [found[c][0]] if c in found else []
                columns.append(f"{' + '.join([*before, *names])} AS u{c + 1}")
        source = self.query.add("merged", columns, source)
        state = list(self.kept)
        for c in range(len(self.ruleset.classes)):
            if c not in own:
                state += self._columns(c) if c in found else []
                continue
            cases = " ".join(f"WHEN {votes[r]} THEN {r + 1}" for r in own[c])
            number = f"CASE t{c + 1} {cases} END"
            if c in found:
                number = f"CASE WHEN t{c + 1} > {strengths[c]} THEN {number} ELSE n{c + 1} END"
            score, rule, *strength = self._columns(c)
            state += [f"{'u' if strength else 't'}{c + 1} AS {score}", f"{number} AS {rule}"]
            state += [f"t{c + 1} AS {name}" for name in strength]
            found[c], strengths[c] = (score, rule), (strength or [score])[0]
        return self.query.add("scores", state, source)

    def _columns(self, c: int) -> list[str]:
        names = [f"s{c + 1}", f"n{c + 1}"]
        return [*names, f"b{c + 1}"] if self.fold == "sum" else names

    def _portions(self) -> Iterator[list[int]]:
        """Numbers of rules, so many at a time that their columns fit beside the others."""
        limit = self.query.dialect.most_columns
        room = inf if limit is None else limit - 20 - len(self.kept) - 6 * len(self.ruleset.classes)
        portion: list[int] = []
        known: set[tuple[Condition, ...]] = set()
        for r, rule in enumerate(self.ruleset):
            lengths = range(1, len(rule.conditions) + 1)
            new = {(c,) for c in rule.conditions} | {rule.conditions[:k] for k in lengths if k > 1}
            if portion and (len(known | new) + len(portion) + 1 > room or len(portion) == PORTION):
                yield portion
                portion, known = [], set()
            if len(new) + 1 > room:
                raise ValueError(
                    f"{self.query.dialect.name} allows at most {limit} columns in a query, and "
                    f"rule {r + 1} needs more; keep fewer columns or shorten the rule."
                )
            portion.append(r)
            known |= new
        if portion:
            yield portion

    def _votes(self, source: str, portion: list[int]) -> tuple[str, dict[int, str]]:
        """Columns with what each rule of a portion counts."""
        members: dict[Condition, str] = {}
        for r in portion:
            for condition in self.ruleset[r].conditions:
                members.setdefault(condition, f"m{len(members) + 1}")
        columns = [f"{self._membership(c)} AS {name}" for c, name in members.items()]
        if columns:
            source = self.query.add("memberships", ["*", *columns], source)
        joins = Joins(self.ruleset.t_norm, self.query, members)
        if self.vote not in {"nearest", "partial"}:
            source = joins.stages(source, [self.ruleset[r] for r in portion])
        votes = {r: f"v{r + 1}" for r in portion}
        columns = [f"{self._vote(self.ruleset[r], joins)} AS {votes[r]}" for r in portion]
        return self.query.add("votes", ["*", *columns], source), votes

    def _membership(self, condition: Condition) -> str:
        """A condition's membership; for the nearest rule uncut, NULL where nothing is near."""
        number = self.query.dialect.number
        position = next(
            j for j, a in enumerate(self.ruleset.attributes) if a.name == condition.attribute
        )
        x, attribute = f"x{position + 1}", self.ruleset.attributes[position]
        uncut = self.vote == "nearest"
        fails = "NULL" if uncut else number(0.0)
        missing = number(1.0) if self.ruleset.missing == "holds" else fails
        if isinstance(condition, NominalCondition):
            known = sorted(condition.values & set(attribute.categories or ()))
            values = ", ".join(map(self.query.dialect.text, known))
            inside = f"WHEN {x} IN ({values}) THEN {number(1.0)} " if known else ""
            return f"CASE WHEN {x} IS NULL THEN {missing} {inside}ELSE {fails} END"
        assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds
        inside = self._trapezoid(condition, attribute, x, uncut=uncut)
        return f"CASE WHEN {x} IS NULL THEN {missing} ELSE {inside} END"

    def _trapezoid(
        self, condition: NumericCondition, attribute: Attribute, x: str, *, uncut: bool
    ) -> str:
        """1 inside the core, falling outside it, at a crisp end with the range of the attribute."""
        number = self.query.dialect.number
        support_low, core_low, core_high, support_high = condition.trapezoid
        steps, slopes = [], []
        for core, support, outside, distance in (
            (core_low, support_low, "<", f"{x} - {{}}"),
            (core_high, support_high, ">", f"{{}} - {x}"),
        ):
            if abs(core) == inf:
                continue
            sloped = core != support and not is_strict(core, support)
            slope = abs(core - support) if sloped else attribute.width
            value = f"({distance.format(number(support))}) / {number(slope)}"
            if sloped:
                # Inside the core this is at least 1 in floating point too, by monotonicity.
                slopes.append(value)
            else:
                fading = value if uncut else number(0.0)
                steps.append(f"WHEN {x} {outside} {number(core)} THEN {fading} ")
        full = number(1.0)
        if slopes:
            full = self.query.dialect.least([full, *slopes])
            full = full if uncut else self.query.dialect.greatest([number(0.0), full])
        return f"CASE {''.join(steps)}ELSE {full} END" if steps else full

    def _vote(self, rule: Rule, joins: "Joins") -> str:
        if self.vote == "degree":
            return joins.of(rule.conditions)
        if self.vote == "score":
            return f"{self.query.dialect.number(rule.weight)} * {joins.of(rule.conditions)}"
        names = [joins.members[condition] for condition in rule.conditions]
        if self.vote == "nearest":
            return self._nearness(rule, names)
        if not rule.partial_weights or not names:
            return self.query.dialect.number(0.0)
        if self.vote == "partial":
            return self._satisfied(rule, names)
        ends = "".join(
            f"WHEN {name} <= 0 THEN {self._part(rule, k, joins)} " for k, name in enumerate(names)
        )
        return f"CASE {ends}ELSE {self._part(rule, len(names), joins)} END"

    def _nearness(self, rule: Rule, names: list[str]) -> str:
        """Weight times the worst uncut value; a rule without weight is never near."""
        dialect = self.query.dialect
        if not rule.weight > 0.0:
            return dialect.number(-inf)
        full = dialect.number(1.0)
        worst = [f"COALESCE({name}, {full})" for name in names]
        if names:
            # Nothing near: what makes the weighted value weight - 1, as far as that is below 0.
            outside = dialect.number(min(1.0 - 1.0 / rule.weight, 0.0))
            lost = " OR ".join(f"{name} IS NULL" for name in names)
            worst.append(f"CASE WHEN {lost} THEN {outside} ELSE {full} END")
        return f"{dialect.number(rule.weight)} * {dialect.least(worst or [full])}"

    def _satisfied(self, rule: Rule, names: list[str]) -> str:
        """The weight of the subset of conditions that hold."""
        number = self.query.dialect.number
        bits = [f"CASE WHEN {name} > 0 THEN {1 << k} ELSE 0 END" for k, name in enumerate(names)]
        weights = "".join(
            f"WHEN {subset} THEN {number(weight)} "
            for subset, weight in enumerate(rule.partial_weights)
            if subset and weight
        )
        nothing = number(0.0)
        return f"CASE {' + '.join(bits)} {weights}ELSE {nothing} END" if weights else nothing

    def _part(self, rule: Rule, kept: int, joins: "Joins") -> str:
        """The first conditions of a rule, times the weight of that beginning."""
        if not kept or kept >= len(rule.partial_weights):
            return self.query.dialect.number(0.0)
        weight = self.query.dialect.number(rule.partial_weights[kept])
        return f"{joins.of(rule.conditions[:kept])} * {weight}"


@dataclass
class Joins:
    """Memberships joined by a t-norm, each expression once."""

    t_norm: str
    query: Query
    members: dict[Condition, str]
    columns: dict[tuple[Condition, ...], str] = field(default_factory=dict)

    def of(self, conditions: tuple[Condition, ...]) -> str:
        """The degree of some conditions together."""
        names = [self.members[condition] for condition in conditions]
        if not names:
            return self.query.dialect.number(1.0)
        if self.t_norm == "minimum":
            return self.query.dialect.least(names)
        if self.t_norm == "product":
            return " * ".join(names)
        return self.columns[conditions] if len(names) > 1 else names[0]

    def stages(self, source: str, rules: Sequence[Rule]) -> str:
        """Columns for the beginnings of rules, shortest first, where a t-norm needs them."""
        if self.t_norm in {"minimum", "product"}:
            return source
        for length in range(2, max(len(rule.conditions) for rule in rules) + 1):
            columns = ["*"]
            for rule in rules:
                beginning = rule.conditions[:length]
                if len(beginning) == length and beginning not in self.columns:
                    joined = self._join(self.of(beginning[:-1]), self.members[beginning[-1]])
                    self.columns[beginning] = f"j{len(self.columns) + 1}"
                    columns.append(f"{joined} AS {self.columns[beginning]}")
            source = self.query.add("joined", columns, source)
        return source

    def _join(self, a: str, b: str) -> str:
        dialect = self.query.dialect
        smaller, larger = dialect.least([a, b]), dialect.greatest([a, b])
        nothing, one = dialect.number(0.0), dialect.number(1.0)
        if self.t_norm == "lukasiewicz":
            return dialect.greatest([f"{smaller} - ({one} - {larger})", nothing])
        if self.t_norm == "hamacher":
            ratio = f"{larger} / ({larger} + {smaller} * ({one} - {larger}))"
            return f"CASE WHEN {larger} > 0 THEN {smaller} * ({ratio}) ELSE {nothing} END"
        holds = f"{larger} = 1" if self.t_norm == "drastic" else f"{smaller} > {one} - {larger}"
        return f"CASE WHEN {holds} THEN {smaller} ELSE {nothing} END"

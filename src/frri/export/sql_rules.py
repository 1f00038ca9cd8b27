"""Rules as expressions of SQL: from columns to memberships, votes of rules, and scores.

A query is a chain of common table expressions, each a few short columns computed from the one
before:

- `x1, x2, ...` the encoded attributes, `k1, k2, ...` the columns to be shown, `one` 1.0,
- `m1, m2, ...` memberships, one column for all rules that share a condition,
- `r1, r2, ...` lengths of the longest prefixes that hold (for stretched rules),
- `j1, j2, ...` prefixes of rules (for t-norms that are no single expression),
- `v1, v2, ...` the vote of each rule,
- `p1, p2, ...` prefixes of long products,
- `s1, s2, ...` the score of each group of rules (of a class), `n1, n2, ...` its strongest rule,
- `a1, a2, ...` sums of votes times the numbers of rules.

Rules are processed in portions, because databases limit the number of columns.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import inf

from frri.export.sql_dialects import Dialect
from frri.rules.condition import Condition, NominalCondition, NumericCondition, is_strict
from frri.rules.rule import Rule
from frri.rules.ruleset import RuleSet
from frri.table import Attribute

# Rules at a time, and factors in an expression: so many stay well below the depth that databases
# allow.
PORTION = 400


@dataclass
class Query:
    """Common table expressions in the making; each reads the one before.

    Their names begin with a prefix that no name of the user's has: a database takes the expression
    where a table has the same name.
    """

    dialect: Dialect
    prefix: str
    tables: list[tuple[str, str]] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, columns: Sequence[str], source: str, where: str = "") -> str:
        """Append a table; a number makes its name unique."""
        self.used[name] += 1
        number = self.used[name]
        unique = f"{self.prefix}{name}{number if number > 1 else ''}"
        shown = ",\n    ".join(columns)
        where = f"\n  WHERE {where}" if where else ""
        self.tables.append((unique, f"  SELECT\n    {shown}\n  FROM {source}{where}"))
        return unique

    def text(self) -> str:
        """Return the WITH clause."""
        word = self.dialect.materialized
        return "WITH " + ",\n".join(f"{name} {word} (\n{body}\n)" for name, body in self.tables)


@dataclass(frozen=True)
class VoteQuery:
    """All rules' votes of one kind, brought together class by class, or group by group.

    Rules that say numbers are one group; of those that say "at least" or "at most" a class, the
    groups of the latter come after the former.

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
    vote: str
    fold: str

    def scores(self, source: str) -> tuple[str, dict[int, tuple[str, str]]]:
        """Return the last table, and per group the columns of its score and rule number."""
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
                source = self._merge_portion(source, votes, found, strengths)
        return source, found

    def sums(self, source: str, starts: Sequence[float], said: Sequence[Sequence[float]]) -> str:
        """Return a table with a sum for every start: start plus votes times numbers of rules."""
        number = self.query.dialect.number
        sums = [number(start) for start in starts]
        names = [f"a{c + 1}" for c in range(len(starts))]
        for portion in [*self._portions()] or [[]]:
            source, votes = self._votes(source, portion) if portion else (source, {})
            columns = []
            for c, total in enumerate(sums):
                terms = [total]
                terms += [f"{v} * {number(said[r][c])}" for r, v in votes.items() if said[r][c]]
                columns.append(f"{' + '.join(terms)} AS {names[c]}")
            source, sums = self.query.add("added", [*self.kept, *columns], source), names
        return source

    def _merge_portion(
        self,
        source: str,
        votes: dict[int, str],
        found: dict[int, tuple[str, str]],
        strengths: dict[int, str],
    ) -> str:
        """Add the votes of a portion to the scores of their groups."""
        most = self.query.dialect.greatest
        own: dict[int, list[int]] = {}
        for r in votes:
            own.setdefault(self._groups[r], []).append(r)
        columns = ["*"]
        for c, rules in own.items():
            names = [votes[r] for r in rules]
            columns.append(f"{most([*filter(None, [strengths.get(c)]), *names])} AS t{c + 1}")
            if self.fold == "sum":
                before = [found[c][0]] if c in found else []
                columns.append(f"{' + '.join([*before, *names])} AS u{c + 1}")
        source = self.query.add("merged", columns, source)
        state = list(self.kept)
        for c in sorted({*found, *own}):
            if c not in own:
                state += self._columns(c)
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
        """Yield numbers of rules whose columns fit into a table beside the others."""
        limit = self.query.dialect.most_columns
        room = inf if limit is None else limit - 20 - len(self.kept) - 6 * len(self.ruleset.classes)
        portion: list[int] = []
        taken = 0
        for r, rule in enumerate(self.ruleset):
            # Memberships, prefixes of rules or of long products, the vote and the longest prefix.
            n = len(rule.conditions)
            own = n + (n if self._joined else n // PORTION) + (2 if self.vote == "stretched" else 1)
            if own > room:
                raise ValueError(
                    f"{self.query.dialect.name} allows at most {limit} columns in a query, and "
                    f"rule {r + 1} needs more; keep fewer columns or shorten the rule."
                )
            if portion and (taken + own > room or len(portion) == PORTION):
                yield portion
                portion, taken = [], 0
            portion.append(r)
            taken += own
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
        joins = TNormJoins(self.ruleset.t_norm, self.query, members)
        degrees = {r: [members[c] for c in self.ruleset[r].conditions] for r in portion}
        if self._joined:
            source = joins.add_stages(source, [self.ruleset[r] for r in portion])
        elif self.vote == "stretched":
            columns = [f"{_prefix_length(names)} AS r{r + 1}" for r, names in degrees.items()]
            source = self.query.add("prefixes", ["*", *columns], source)
            degrees = {r: self._prefix_degrees(r, names) for r, names in degrees.items()}
        if self.ruleset.t_norm == "product":
            source = self._shorten_products(source, degrees)
        votes = {r: f"v{r + 1}" for r in portion}
        columns = [f"{self._vote(r, joins, degrees[r])} AS {votes[r]}" for r in portion]
        return self.query.add("votes", ["*", *columns], source), votes

    def _prefix_degrees(self, r: int, names: list[str]) -> list[str]:
        """Return memberships in the longest prefix of a rule that holds, 1 after it."""
        full = self.query.dialect.number(1.0)
        return [f"CASE WHEN r{r + 1} > {k} THEN {m} ELSE {full} END" for k, m in enumerate(names)]

    def _shorten_products(self, source: str, degrees: dict[int, list[str]]) -> str:
        """Add a table with the prefixes of long products, which replace them."""
        count = 0
        while columns := [r for r, factors in degrees.items() if len(factors) > PORTION]:
            products = ["*"]
            for r in columns:
                count += 1
                products.append(f"{' * '.join(degrees[r][:PORTION])} AS p{count}")
                degrees[r] = [f"p{count}", *degrees[r][PORTION:]]
            source = self.query.add("products", products, source)
        return source

    def _membership(self, condition: Condition) -> str:
        """Return the membership of a condition; for the nearest rule unclipped or NULL."""
        number = self.query.dialect.number
        position = self._positions[condition.attribute]
        x, attribute = f"x{position + 1}", self.ruleset.attributes[position]
        uncut = self.vote == "nearest"
        fails = "NULL" if uncut else number(0.0)
        missing = number(1.0) if self.ruleset.missing == "similar" else fails
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
        """Return 1 in the core, falling outside it."""
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

    def _vote(self, r: int, joins: "TNormJoins", degrees: list[str]) -> str:
        rule = self.ruleset[r]
        if self.vote in {"degree", "score"}:
            weight = f"{self.query.dialect.number(rule.weight)} * " if self.vote == "score" else ""
            joined = joins.prefixes(rule)[-1:] if self._joined else [joins.join_all(degrees)]
            return f"{weight}{(joined or [joins.join_all([])])[0]}"
        names = [joins.members[condition] for condition in rule.conditions]
        if self.vote == "nearest":
            return self._nearness(rule, names)
        if not rule.partial_weights or not names:
            return self.query.dialect.number(0.0)
        if self.vote == "partial":
            return self._subset_weight(rule, names)
        if self._joined:
            return self._longest_prefix(rule, joins)
        return f"{joins.join_all(degrees)} * {self._prefix_weight(rule, f'r{r + 1}')}"

    def _nearness(self, rule: Rule, names: list[str]) -> str:
        """Return weight times the lowest value; a rule without weight is never near."""
        dialect = self.query.dialect
        if not rule.weight > 0.0:
            return dialect.number(-inf)
        full = dialect.number(1.0)
        worst = [f"COALESCE({name}, {full})" for name in names]
        if names:
            # Nothing near: what makes the weighted value weight - 1, as far as that is below 0.
            outside = dialect.number(min(1.0 - 1.0 / rule.weight, 0.0))
            lost = _any_of([f"{name} IS NULL" for name in names])
            worst.append(f"CASE WHEN {lost} THEN {outside} ELSE {full} END")
        return f"{dialect.number(rule.weight)} * {dialect.least(worst or [full])}"

    def _subset_weight(self, rule: Rule, names: list[str]) -> str:
        """Return the weight of the subset of conditions that hold."""
        number = self.query.dialect.number
        bits = [f"CASE WHEN {name} > 0 THEN {1 << k} ELSE 0 END" for k, name in enumerate(names)]
        weights = "".join(
            f"WHEN {subset} THEN {number(weight)} "
            for subset, weight in enumerate(rule.partial_weights)
            if subset and weight
        )
        nothing = number(0.0)
        return f"CASE {' + '.join(bits)} {weights}ELSE {nothing} END" if weights else nothing

    def _longest_prefix(self, rule: Rule, joins: "TNormJoins") -> str:
        """Return the degree of the longest prefix of a rule that holds, times its weight."""
        number = self.query.dialect.number
        holding = joins.prefixes(rule)
        parts = [number(0.0)] * (len(holding) + 1)
        for k, weight in enumerate(rule.partial_weights[1 : len(parts)], start=1):
            parts[k] = f"{holding[k - 1]} * {number(weight)}"
        names = (joins.members[condition] for condition in rule.conditions)
        ends = "".join(
            f"WHEN {name} <= 0 THEN {part} " for name, part in zip(names, parts[:-1], strict=True)
        )
        return f"CASE {ends}ELSE {parts[-1]} END"

    def _prefix_weight(self, rule: Rule, length: str) -> str:
        """Return the weight of a prefix of a rule, given the column of its length."""
        number = self.query.dialect.number
        weights = "".join(
            f"WHEN {k} THEN {number(weight)} "
            for k, weight in enumerate(rule.partial_weights[: len(rule.conditions) + 1])
            if k and weight
        )
        nothing = number(0.0)
        return f"CASE {length} {weights}ELSE {nothing} END" if weights else nothing

    @property
    def _joined(self) -> bool:
        """Whether prefixes of rules need columns of their own."""
        whole = self.ruleset.t_norm in {"minimum", "product"}
        return not whole and self.vote not in {"nearest", "partial"}

    @cached_property
    def _groups(self) -> list[int]:
        """The group of each rule."""
        place = {label: c for c, label in enumerate(self.ruleset.classes)}
        if self.ruleset.semantics.meaning.says == "number":
            return [0] * len(self.ruleset)
        falling = [rule.relation == "at most" for rule in self.ruleset]
        return [
            place[rule.consequent] + down * len(place)
            for rule, down in zip(self.ruleset, falling, strict=True)
        ]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {attribute.name: j for j, attribute in enumerate(self.ruleset.attributes)}


def _any_of(tests: list[str]) -> str:
    """Return whether one of many tests holds, in an expression that is not deep."""
    while len(tests) > 1:
        parts = [tests[i : i + PORTION] for i in range(0, len(tests), PORTION)]
        tests = [f"({' OR '.join(part)})" for part in parts]
    return tests[0]


def _prefix_length(names: list[str]) -> str:
    """Return the number of memberships above 0 before the first that is not."""
    ends = [f"WHEN {name} <= 0 THEN {k}" for k, name in enumerate(names)]
    return f"CASE {' '.join(ends)} ELSE {len(ends)} END" if ends else "0"


@dataclass
class TNormJoins:
    """Memberships joined by a t-norm, each expression once.

    `columns` knows the column of a beginning of rules by that of the beginning without its last
    condition, and that condition's: nothing here grows faster than the rules.
    """

    t_norm: str
    query: Query
    members: dict[Condition, str]
    columns: dict[tuple[str, str], str] = field(default_factory=dict)

    def join_all(self, degrees: list[str]) -> str:
        """Degrees joined in one expression, where a t-norm has one."""
        if not degrees:
            return self.query.dialect.number(1.0)
        least = self.query.dialect.least
        return least(degrees) if self.t_norm == "minimum" else " * ".join(degrees)

    def prefixes(self, rule: Rule) -> list[str]:
        """Return the columns of the prefixes of a rule."""
        names = [self.members[condition] for condition in rule.conditions]
        return list(accumulate(names, lambda before, name: self.columns[before, name]))

    def add_stages(self, source: str, rules: Sequence[Rule]) -> str:
        """Columns for the prefixes of rules, shortest first."""
        stages: list[list[str]] = []
        for rule in rules:
            names = [self.members[condition] for condition in rule.conditions]
            before = names[0] if names else ""
            for depth, name in enumerate(names[1:]):
                if depth == len(stages):
                    stages.append(["*"])
                if (before, name) not in self.columns:
                    column = f"j{len(self.columns) + 1}"
                    stages[depth].append(f"{self._join(before, name)} AS {column}")
                    self.columns[before, name] = column
                before = self.columns[before, name]
        for columns in stages:
            source = self.query.add("joined", columns, source)
        return source

    def _join(self, a: str, b: str) -> str:
        dialect = self.query.dialect
        smaller, larger = dialect.least([a, b]), dialect.greatest([a, b])
        nothing, one = dialect.number(0.0), dialect.number(1.0)
        if self.t_norm in {"minimum", "product"}:
            return self.join_all([a, b])
        if self.t_norm == "lukasiewicz":
            return dialect.greatest([f"{smaller} - ({one} - {larger})", nothing])
        if self.t_norm == "hamacher":
            ratio = f"{larger} / ({larger} + {smaller} * ({one} - {larger}))"
            return f"CASE WHEN {larger} > 0 THEN {smaller} * ({ratio}) ELSE {nothing} END"
        holds = f"{larger} = 1" if self.t_norm == "drastic" else f"{smaller} > {one} - {larger}"
        return f"CASE WHEN {holds} THEN {smaller} ELSE {nothing} END"

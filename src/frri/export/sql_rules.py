"""Rules as expressions of SQL: from columns to memberships, votes of rules, and scores.

A query is a chain of common table expressions, each a few short columns computed from the one
before:

- `x1, x2, ...` the encoded features, `k1, k2, ...` the columns to be shown, `one` 1.0,
- `m1, m2, ...` memberships, one column for all rules that share a condition,
- `r1, r2, ...` lengths of the longest prefixes of rules that hold (for stretched rules),
- `j1, j2, ...` joined prefixes of rules that one expression cannot join,
- `v1, v2, ...` the vote of each rule,
- `b1, b2, ...` the largest vote of each group of rules (of a class), `n1, n2, ...` its rule,
  `s1, s2, ...` the sum of its votes; `t1, t2, ...` and `u1, u2, ...` while they are merged,
- `a1, a2, ...` sums of votes times the numbers of rules.

Rules are processed in portions, because databases limit the number of columns.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from frri.export.sql_dialects import Dialect
from frri.rules.condition import Condition, NominalCondition, NumericCondition, is_strict
from frri.rules.rule import Rule
from frri.rules.ruleset import RuleSet
from frri.table import Attribute

# Rules at a time, and factors in an expression: well below the depth that databases allow.
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
        """Append a table and return its name, made unique by a number."""
        self.used[name] += 1
        number = self.used[name]
        unique = f"{self.prefix}{name}{number if number > 1 else ''}"
        shown = ",\n    ".join(columns)
        where = f"\n  WHERE {where}" if where else ""
        body = f"  SELECT\n    {shown}\n  FROM {source}{where}{self.dialect.barrier}"
        self.tables.append((unique, body))
        return unique

    def text(self) -> str:
        """Return the WITH clause."""
        word = self.dialect.materialized
        return "WITH " + ",\n".join(f"{name} {word} (\n{body}\n)" for name, body in self.tables)


@dataclass(frozen=True)
class VoteQuery:
    """Votes of one kind of all rules, brought together class by class, or group by group.

    Rules that predict numbers are one group. Of rules for "at least" or "at most" a class, the
    groups of the latter come after those of the former. A vote is a weighted degree ("score"), a
    degree, or the value of a rule in a fallback. The columns `kept` are carried along.
    """

    ruleset: RuleSet
    query: Query
    kept: tuple[str, ...]
    vote: str = "score"

    def scores(self, source: str, *, add: bool = False) -> tuple[str, dict[int, tuple[str, str]]]:
        """Return the last table, and per group the columns of its score and of its best rule.

        The score is the largest vote, or the sum of all votes if `add` is True.
        """
        found: set[int] = set()
        for portion in self._portions():
            source, votes = self._votes(source, portion)
            own: dict[int, list[tuple[str, str]]] = {}
            for r, vote in votes.items():
                c = self._groups[r] + 1
                before = [(f"b{c}", f"n{c}")] if c in found else []
                own.setdefault(c, before).append((vote, str(r + 1)))
            merged, state = ["*"], list(self.kept)
            for c in sorted({*found, *own}):
                best, rule, total = f"b{c}", f"n{c}", f"s{c}"
                if c in own:
                    names = [vote for vote, _ in own[c]]
                    merged.append(f"{self.query.dialect.greatest(names)} AS t{c}")
                    terms = [total if name == best else name for name in names]
                    merged += [f"{' + '.join(terms)} AS u{c}"] if add else []
                    best, rule = f"t{c} AS {best}", f"{case(f't{c}', own[c])} AS {rule}"
                    total = f"u{c} AS {total}"
                state += [best, rule, total] if add else [best, rule]
            source = self.query.add("merged", merged, source)
            source = self.query.add("scores", state, source)
            found |= own.keys()
        return source, {c - 1: (f"{'s' if add else 'b'}{c}", f"n{c}") for c in sorted(found)}

    def first(self, source: str) -> str:
        """Return a table with the number of the first rule that fires as `first_rule`, or NULL."""
        before = ""
        for portion in self._portions():
            source, votes = self._votes(source, portion)
            cases = " ".join(f"WHEN {vote} > 0 THEN {r + 1}" for r, vote in votes.items())
            columns = [*self.kept, f"CASE {before}{cases} END AS first_rule"]
            source = self.query.add("firsts", columns, source)
            before = "WHEN first_rule IS NOT NULL THEN first_rule "
        return source

    def sums(self, source: str, starts: Sequence[float], said: Sequence[Sequence[float]]) -> str:
        """Return a table with a sum for every start: start plus votes times numbers of rules."""
        number = self.query.dialect.number
        columns = [f"{number(start)} AS a{c}" for c, start in enumerate(starts, start=1)]
        source = self.query.add("bases", [*self.kept, *columns], source)
        for portion in self._portions():
            source, votes = self._votes(source, portion)
            columns = []
            for c in range(len(starts)):
                terms = [f"{v} * {number(said[r][c])}" for r, v in votes.items() if said[r][c]]
                columns.append(f"{' + '.join([f'a{c + 1}', *terms])} AS a{c + 1}")
            source = self.query.add("added", [*self.kept, *columns], source)
        return source

    def _portions(self) -> Iterator[list[int]]:
        """Yield numbers of rules whose columns fit into a table beside the others."""
        limit = self.query.dialect.most_columns
        room = inf if limit is None else limit - 20 - len(self.kept) - 6 * len(self.ruleset.classes)
        portion: list[int] = []
        taken = 0
        for r, rule in enumerate(self.ruleset):
            # Memberships, joined prefixes, the vote and the length of the longest prefix.
            own = len(rule.conditions) * (1 if self._most_joined > 2 else 2) + 2
            own += len(rule.conditions) // PORTION
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
        """Add a table with the votes of the rules of a portion, and return their columns."""
        rules = {r: self.ruleset[r] for r in portion}
        conditions = dict.fromkeys(c for rule in rules.values() for c in rule.conditions)
        members = {condition: f"m{i}" for i, condition in enumerate(conditions, start=1)}
        columns = [f"{self._membership(c)} AS {name}" for c, name in members.items()]
        if columns:
            source = self.query.add("memberships", ["*", *columns], source)
        degrees = {r: [members[c] for c in rule.conditions] for r, rule in rules.items()}
        if self.vote == "nearest":
            votes = {r: self._nearness(rule, degrees[r]) for r, rule in rules.items()}
        elif self.vote == "partial":
            votes = {r: self._subset_weight(rule, degrees[r]) for r, rule in rules.items()}
        else:
            if self.vote == "stretched":
                source, degrees = self._cut_to_prefixes(source, degrees)
            source, votes = self._join(source, degrees)
            if self.vote != "degree":
                votes = {r: f"{vote} * {self._weight(r)}" for r, vote in votes.items()}
        columns = [f"{vote} AS v{r + 1}" for r, vote in votes.items()]
        return self.query.add("votes", ["*", *columns], source), {r: f"v{r + 1}" for r in portion}

    # ---------------------------------------------------------------- memberships

    def _membership(self, condition: Condition) -> str:
        """Return the membership of a condition; for the nearest rule uncut or NULL."""
        number = self.query.dialect.number
        position = self._positions[condition.attribute]
        x, attribute = f"x{position + 1}", self.ruleset.attributes[position]
        fails = "NULL" if self.vote == "nearest" else number(0.0)
        missing = number(1.0) if self.ruleset.missing == "similar" else fails
        if isinstance(condition, NominalCondition):
            known = sorted(condition.values & set(attribute.categories or ()))
            values = ", ".join(map(self.query.dialect.text, known))
            listed, other = number(1.0), fails
            if condition.excludes:
                listed, other = other, listed
            inside = f"WHEN {x} IN ({values}) THEN {listed} " if known else ""
            return f"CASE WHEN {x} IS NULL THEN {missing} {inside}ELSE {other} END"
        assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds
        inside = self._trapezoid(condition, attribute, x)
        return f"CASE WHEN {x} IS NULL THEN {missing} ELSE {inside} END"

    def _trapezoid(self, condition: NumericCondition, attribute: Attribute, x: str) -> str:
        """Return 1 in the core, falling outside it."""
        number, uncut = self.query.dialect.number, self.vote == "nearest"
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

    # ---------------------------------------------------------------- t-norms

    @property
    def _most_joined(self) -> int:
        """The number of degrees that one expression can join."""
        return {"minimum": 1 << 30, "product": PORTION}.get(self.ruleset.t_norm, 2)

    def _join(self, source: str, degrees: dict[int, list[str]]) -> tuple[str, dict[int, str]]:
        """Join the degrees of each rule to one expression, after tables with joined prefixes."""
        most, count = self._most_joined, 0
        while columns := [r for r, own in degrees.items() if len(own) > most]:
            prefixes = ["*"]
            for r in columns:
                count += 1
                prefixes.append(f"{self._join_few(degrees[r][:most])} AS j{count}")
                degrees[r] = [f"j{count}", *degrees[r][most:]]
            source = self.query.add("joined", prefixes, source)
        return source, {r: self._join_few(own) for r, own in degrees.items()}

    def _join_few(self, degrees: list[str]) -> str:
        """Return an expression that joins degrees by the t-norm."""
        dialect, t_norm = self.query.dialect, self.ruleset.t_norm
        nothing, one = dialect.number(0.0), dialect.number(1.0)
        if t_norm == "product" or len(degrees) < 2:
            return " * ".join(degrees) or one
        smaller, larger = dialect.least(degrees), dialect.greatest(degrees)
        if t_norm == "minimum":
            return smaller
        if t_norm == "lukasiewicz":
            return dialect.greatest([f"{smaller} - ({one} - {larger})", nothing])
        if t_norm == "hamacher":
            ratio = f"{larger} / ({larger} + {smaller} * ({one} - {larger}))"
            return f"CASE WHEN {larger} > 0 THEN {smaller} * ({ratio}) ELSE {nothing} END"
        holds = f"{larger} = 1" if t_norm == "drastic" else f"{smaller} > {one} - {larger}"
        return f"CASE WHEN {holds} THEN {smaller} ELSE {nothing} END"

    # ---------------------------------------------------------------- weights and fallbacks

    def _weight(self, r: int) -> str:
        """Return the weight of a rule, or of its longest prefix that holds."""
        rule = self.ruleset[r]
        if self.vote == "score":
            return self.query.dialect.number(rule.weight)
        return self._look_up(f"r{r + 1}", rule.partial_weights[: len(rule.conditions) + 1])

    def _cut_to_prefixes(
        self, source: str, degrees: dict[int, list[str]]
    ) -> tuple[str, dict[int, list[str]]]:
        """Add the lengths of the longest prefixes that hold; after these, degrees become 1."""
        one, lengths, cut = self.query.dialect.number(1.0), ["*"], {}
        for r, names in degrees.items():
            n = f"r{r + 1}"
            ends = [f"WHEN {name} <= 0 THEN {k}" for k, name in enumerate(names)]
            length = f"CASE {' '.join(ends)} ELSE {len(ends)} END" if ends else "0"
            lengths.append(f"{length} AS {n}")
            cut[r] = [f"CASE WHEN {n} > {k} THEN {m} ELSE {one} END" for k, m in enumerate(names)]
        return self.query.add("prefixes", lengths, source), cut

    def _subset_weight(self, rule: Rule, names: list[str]) -> str:
        """Return the weight of the subset of conditions that hold."""
        bits = [f"CASE WHEN {name} > 0 THEN {1 << k} ELSE 0 END" for k, name in enumerate(names)]
        return self._look_up(" + ".join(bits), rule.partial_weights if names else ())

    def _look_up(self, place: str, weights: Sequence[float]) -> str:
        """Return the weight at a place, 0 at place 0 and beyond the last."""
        number = self.query.dialect.number
        pairs = [(str(k), number(weight)) for k, weight in enumerate(weights) if k and weight]
        return case(place, pairs, number(0.0)) if pairs else number(0.0)

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

    @cached_property
    def _groups(self) -> list[int]:
        """The group of each rule."""
        if self.ruleset.semantics.meaning.says == "number":
            return [0] * len(self.ruleset)
        n_classes, classes = len(self.ruleset.classes), self.ruleset.arrays.classes.tolist()
        falling = [rule.relation == "at most" for rule in self.ruleset]
        return [c + down * n_classes for c, down in zip(classes, falling, strict=True)]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {attribute.name: j for j, attribute in enumerate(self.ruleset.attributes)}


def case(column: str, pairs: Iterable[tuple[str, str]], default: str = "NULL") -> str:
    """Return the value whose key a column equals.

    Examples
    --------
    >>> case("n1", [("1", "'no'"), ("2", "'yes'")])
    "CASE n1 WHEN 1 THEN 'no' WHEN 2 THEN 'yes' ELSE NULL END"
    """
    branches = " ".join(f"WHEN {key} THEN {value}" for key, value in pairs)
    return f"CASE {column} {branches} ELSE {default} END" if branches else default


def _any_of(tests: list[str]) -> str:
    """Return whether one of many tests holds, in an expression that is not deep."""
    while len(tests) > 1:
        parts = [tests[i : i + PORTION] for i in range(0, len(tests), PORTION)]
        tests = [f"({' OR '.join(part)})" for part in parts]
    return tests[0]

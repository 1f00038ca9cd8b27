"""Answers of SQL in which all rules have their part: sums of votes and of numbers, means, thresholds."""

from collections.abc import Sequence
from math import inf

import numpy as np

from frri.export.sql_rules import Folding, Query
from frri.rules.inference import last_resort
from frri.rules.ordered import LARGEST_EXPONENT
from frri.rules.ruleset import RuleSet

# A table, and the expressions of a prediction, the number of a rule, a score and the rows these are for.
Answer = tuple[str, str, str, str, str]


class Answers:
    """The steps of a query from encoded columns to answers, for what is not about rules of a class.

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
        """By the name of the semantics, from a table of encoded columns."""
        steps = {
            "softmax-votes": self._votes,
            "added-contributions": self._contributions,
            "weighted-mean": self._mean,
            "at-least-class": self._thresholds,
            "cumulative-logits": self._logits,
        }
        return steps[self.ruleset.semantics.name](source)

    def _folding(self, vote: str = "score") -> Folding:
        return Folding(self.ruleset, self.query, self.carried, vote, "best")

    @property
    def _nobody(self) -> str:
        return "CAST(NULL AS INTEGER)"

    def _votes(self, source: str) -> list[Answer]:
        """The first class with the highest sum of votes."""
        said = self.ruleset.arrays.says.tolist()
        source = self._folding().added(source, self.ruleset.base, said)
        sums = [f"a{c + 1}" for c in range(len(self.labels))]
        top = f"{self.dialect.greatest(sums)} AS top"
        source = self.query.add("tops", ["*", top], source)
        cases = " ".join(
            f"WHEN {name} THEN {label}" for name, label in zip(sums, self.labels, strict=True)
        )
        return [(source, f"CASE top {cases} END", self._nobody, "top", "")]

    def _contributions(self, source: str) -> list[Answer]:
        said = self.ruleset.arrays.says.tolist()
        source = self._folding().added(source, self.ruleset.base, said)
        return [(source, "a1", self._nobody, "a1", "")]

    def _mean(self, source: str) -> list[Answer]:
        """The mean of what rules say where one counts; elsewhere what the nearest says, or the base."""
        numbers = self.ruleset.arrays.says[:, 0].tolist()
        source = self._folding().added(source, (0.0, 0.0), [(1.0, number) for number in numbers])
        covered = (source, "a2 / a1", self._nobody, "a2 / a1", "a1 > 0")
        near = self.ruleset.fallback == "nearest"
        if not near or not any(rule.weight > 0.0 for rule in self.ruleset):
            base = self.dialect.number(self.ruleset.base[0])
            return [covered, (source, base, self._nobody, base, "NOT a1 > 0")]
        silent = self.query.add("silent", self.carried, source, "NOT a1 > 0")
        silent, found = self._folding("nearest").run(silent)
        rule = found[0][1]
        cases = " ".join(
            f"WHEN {r + 1} THEN {self.dialect.number(number)}" for r, number in enumerate(numbers)
        )
        number = f"CASE {rule} {cases} END"
        return [covered, (silent, number, rule, number, "")]

    def _thresholds(self, source: str) -> list[Answer]:
        """Is it at least the second class, the third, and so on: see `frri.rules.inference`."""
        one, nothing = self.dialect.number(1.0), self.dialect.number(0.0)
        source = self._where_none_speaks(self._spoken(source))
        shares = [
            f"CASE WHEN for{t} > 0 THEN {one} / ({one} + against{t} / for{t}) ELSE {nothing} END"
            for t in self._asked
        ]
        return self._steps(source, shares)

    def _logits(self, source: str) -> list[Answer]:
        """One sum for all classes; each but the first has a base of its own."""
        one, number = self.dialect.number(1.0), self.dialect.number
        said = self.ruleset.arrays.says.tolist()
        source = self._folding().added(source, (0.0,), said)
        odds = [
            self.dialect.least([f"-(a1 + {number(base)})", number(LARGEST_EXPONENT)])
            for base in self.ruleset.base
        ]
        return self._steps(source, [f"{one} / ({one} + EXP({value}))" for value in odds])

    def _steps(self, source: str, shares: Sequence[str]) -> list[Answer]:
        """The last class that has, like all before it, a share above one half; the first has all of it."""
        one = self.dialect.number(1.0)
        columns = [f"{share} AS share{t}" for t, share in enumerate(shares, start=1)]
        source = self.query.add("shares", ["*", *columns], source)
        passed = self._count(f"share{{}} > {self.dialect.number(0.5)}")
        source = self.query.add("passed", ["*", f"{passed} AS passed"], source)
        label = self._by_place("passed", self.labels)
        share = self._by_place("passed", [one, *(f"share{t}" for t in self._asked)])
        return [(source, label, self._nobody, share, "")]

    def _spoken(self, source: str) -> str:
        """What speaks for and against each threshold, and the classes that are left by it."""
        n = len(self.labels)
        columns = [*self.carried]
        if self._asks_nearest:
            source, found = self._folding("nearest").run(source)
            sides = self._sides(found, -inf, ("near", "opposed"))
            source = self.query.add("nearest", [*self.carried, *sides], source)
            columns += [f"{side}{t}" for t in self._asked for side in ("near", "opposed")]
        found = {}
        if len(self.ruleset):
            folding = Folding(self.ruleset, self.query, tuple(columns), "score", "best")
            source, found = folding.run(source)
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
        """The largest vote for each threshold, and the largest against it."""
        n, columns = len(self.labels), []
        for t in self._asked:
            for side, groups in zip(names, (range(t, n), range(n, n + t)), strict=True):
                scores = [found[group][0] for group in groups if group in found]
                most = self.dialect.greatest(scores or [self.dialect.number(nothing)])
                columns.append(f"{most} AS {side}{t}")
        return columns

    @property
    def _asks_nearest(self) -> bool:
        return last_resort(self.ruleset) == "nearest"

    def _where_none_speaks(self, source: str) -> str:
        """There the nearest rules do, or the shares in training, of the classes that are left.

        If these have none, they have equal ones.
        """
        number = self.dialect.number
        sizes = [number(size) for size in (0.0, *np.cumsum(self.ruleset.class_counts).tolist())]
        below = self._by_place("lowest", sizes[:-1])
        up_to = self._by_place("highest", sizes[1:])
        source = self.query.add("sizes", ["*", f"{below} AS below", f"{up_to} AS up_to"], source)
        columns = []
        for t in self._asked:
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
                if self._asks_nearest:
                    known = f"{self.dialect.greatest([f'near{t}', f'opposed{t}'])} > {number(-inf)}"
                    far = self.dialect.greatest([f"-{other}{t}", number(0.0)])
                    cases = f"{silent} AND {known} THEN {far} {cases}"
                columns.append(f"CASE {cases} ELSE {side}{t} END AS {name}{t}")
        return self.query.add("sides", ["*", *columns], source)

    @property
    def _asked(self) -> range:
        return range(1, len(self.labels))

    def _count(self, test: str) -> str:
        """For how many thresholds a test holds."""
        one, nothing = self.dialect.number(1.0), self.dialect.number(0.0)
        tests = [test.format(t) for t in self._asked]
        return " + ".join(f"CASE WHEN {t} THEN {one} ELSE {nothing} END" for t in tests) or nothing

    def _by_place(self, place: str, values: Sequence[str]) -> str:
        """The value in the place that a column names."""
        cases = [f"WHEN {self.dialect.number(float(c))} THEN {v}" for c, v in enumerate(values)]
        return f"CASE {place} {' '.join(cases)} END"

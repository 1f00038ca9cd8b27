"""Answers of SQL in which all rules have their part: sums of votes and of numbers, means, thresholds."""

import numpy as np

from frri.export.sql_rules import Folding, Query
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
        }
        return steps[self.ruleset.semantics.name](source)

    def _folding(self, vote: str = "score") -> Folding:
        return Folding(self.ruleset, self.query, self.carried, vote, "best")

    @property
    def _nobody(self) -> str:
        return "CAST(NULL AS INTEGER)"

    def _votes(self, source: str) -> list[Answer]:
        """The first class with the highest sum of votes."""
        said = self.ruleset._says.tolist()  # noqa: SLF001 - the rule model's own arrays
        source = self._folding().added(source, self.ruleset.base, said)
        sums = [f"a{c + 1}" for c in range(len(self.labels))]
        top = f"{self.dialect.greatest(sums)} AS top"
        source = self.query.add("tops", ["*", top], source)
        cases = " ".join(
            f"WHEN {name} THEN {label}" for name, label in zip(sums, self.labels, strict=True)
        )
        return [(source, f"CASE top {cases} END", self._nobody, "top", "")]

    def _contributions(self, source: str) -> list[Answer]:
        said = self.ruleset._says.tolist()  # noqa: SLF001
        source = self._folding().added(source, self.ruleset.base, said)
        return [(source, "a1", self._nobody, "a1", "")]

    def _mean(self, source: str) -> list[Answer]:
        """The mean of what rules say where one counts; elsewhere what the nearest says, or the base."""
        numbers = self.ruleset._says[:, 0].tolist()  # noqa: SLF001
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
        """Is it at least the second class, the third, and so on: see `frri.rules.decision`."""
        number, n = self.dialect.number, len(self.labels)
        one, nothing, asked = number(1.0), number(0.0), range(1, n)
        source, found = self._folding().run(source) if len(self.ruleset) else (source, {})
        scores = {group: name for group, (name, _) in found.items()}
        columns = [*self.carried]
        for t in asked:
            pro = [scores[k] for k in range(t, n) if k in scores]
            contra = [scores[n + k] for k in range(t) if n + k in scores]
            columns += [
                f"{self.dialect.greatest(pro or [nothing])} AS pro{t}",
                f"{self.dialect.greatest(contra or [nothing])} AS contra{t}",
            ]
        source = self.query.add("thresholds", columns, source)

        def count(test: str) -> str:
            terms = [f"CASE WHEN {test.format(t)} THEN {one} ELSE {nothing} END" for t in asked]
            return " + ".join(terms) or nothing

        # Where no rule speaks, what speaks are the shares of the classes from `lowest` to `highest`.
        columns = [f"{count('pro{} > 0')} AS lowest"]
        columns += [f"{number(n - 1.0)} - ({count('contra{} > 0')}) AS highest"]
        source = self.query.add("left_open", ["*", *columns], source)
        before = [0.0, *np.cumsum(self.ruleset.class_counts).tolist()]
        places = [f"WHEN {number(float(c))} THEN {{}}" for c in range(n)]
        below = " ".join(p.format(number(before[c])) for c, p in enumerate(places))
        up_to = " ".join(p.format(number(before[c + 1])) for c, p in enumerate(places))
        columns = [f"CASE lowest {below} END AS below", f"CASE highest {up_to} END AS up_to"]
        source = self.query.add("sizes", ["*", *columns], source)
        columns = []
        for t in asked:
            here, size = number(float(t)), number(before[t])
            silent = f"WHEN lowest < {here} AND highest >= {here}"
            for name, side, sizes, places_left in (
                ("for", "pro", f"up_to - {size}", f"highest + {one} - {here}"),
                ("against", "contra", f"{size} - below", f"{here} - lowest"),
            ):
                shares = f"{silent} AND up_to > below THEN {sizes} {silent} THEN {places_left}"
                columns.append(f"CASE {shares} ELSE {side}{t} END AS {name}{t}")
        source = self.query.add("sides", ["*", *columns], source)
        columns = [
            f"CASE WHEN for{t} > 0 THEN {one} / ({one} + against{t} / for{t}) ELSE {nothing} END "
            f"AS share{t}"
            for t in asked
        ]
        source = self.query.add("shares", ["*", *columns], source)
        half = number(0.5)
        source = self.query.add(
            "passed", ["*", f"{count(f'share{{}} > {half}')} AS passed"], source
        )
        label = " ".join(p.format(self.labels[c]) for c, p in enumerate(places))
        share = " ".join(p.format(f"share{c}" if c else one) for c, p in enumerate(places))
        return [(source, f"CASE passed {label} END", self._nobody, f"CASE passed {share} END", "")]

"""Predictions in SQL: from the votes of rules to the answers of each semantics."""

from collections.abc import Iterable, Sequence
from math import inf

import numpy as np

from frri.export.sql_rules import Query, VoteQuery
from frri.rules.inference import ABOVE_HALF, LARGEST_EXPONENT, last_resort
from frri.rules.ruleset import RuleSet

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

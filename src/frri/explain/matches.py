"""What the rules of a ruleset say about one row."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np

from frri._util import Floats
from frri.rules import Label, RuleSet
from frri.rules.condition import Condition, NominalCondition, NumericCondition
from frri.rules.inference import Decision, last_resort
from frri.rules.semantics import ADDITIVE, ORDINAL, Support
from frri.rules.text import condition_text


@dataclass(frozen=True)
class ConditionMatch:
    """One condition and the row: its text, the row's value, how far it holds."""

    attribute: str
    condition: str
    value: str
    membership: float


@dataclass(frozen=True)
class RuleMatch:
    """One rule and the row.

    Parameters
    ----------
    index : int
        Its position in the ruleset.
    consequent : label
    degree, weight : float
        How far its conditions hold together, and what a full match counts.
    contribution : float
        What it adds to its class: weight times degree, in a list 1 for the rule that decides; in a
        weighted mean its share. Where
        rules add to a base: what it adds to the number predicted, or to the lead of the class decided
        for over the next one (see `Explanation.base`).
    conditions : tuple of ConditionMatch
    """

    index: int
    consequent: Label
    degree: float
    weight: float
    contribution: float
    conditions: tuple[ConditionMatch, ...]

    @property
    def weakest(self) -> ConditionMatch | None:
        """The condition that holds least; None for a rule without conditions."""
        return min(self.conditions, key=lambda c: c.membership, default=None)


@dataclass(frozen=True)
class Obstacle:
    """A condition that holds too little: the row's value, and the value needed (see `Rival.aim`)."""

    attribute: str
    value: str
    needed: str


@dataclass(frozen=True)
class Rival:
    """Another class: its best rule for the row, and what keeps that rule from winning.

    Parameters
    ----------
    label : label
    score : float
    rule : RuleMatch or None
        Its best rule; None if no rule speaks for it.
    reason : str
        How that rule stands.
    aim : str
        What the values of `obstacles` are needed for: to fire, to hold fully, or to count as much as
        the rule that decided does now. They look at this rule alone. A smaller change may do, because
        the rule that decided may count less after it, or because another rule takes over: see `Change`.
    obstacles : tuple of Obstacle
        Empty where no value of a single attribute stands in the way.
    """

    label: Label
    score: float
    rule: RuleMatch | None
    reason: str
    aim: str = ""
    obstacles: tuple[Obstacle, ...] = ()


@dataclass(frozen=True)
class Step:
    """A class of several ordered ones: how probable it is to be at least this one, and why."""

    label: Label
    share: float
    why: str


class Facts:
    """What the rules say about one row."""

    def __init__(self, ruleset: RuleSet, matrix: Floats, shown: list[str]) -> None:
        SUPPORTED.require(ruleset.semantics)
        self.ruleset, self.shown = ruleset, shown
        decision = Decision(ruleset, matrix)
        self.scores, self.decider = decision.scores[0], int(decision.deciding[0])
        self.silent = bool(decision.silent[0])
        self.fallback = last_resort(ruleset)
        self.decided, self.shares = -1, np.empty(0)
        if ruleset.classes:
            self.decided, self.shares = int(decision.index[0]), decision.probabilities[0]
        self.answer = ruleset.classes[self.decided] if ruleset.classes else float(self.scores[0])
        self.meaning, matcher = ruleset.semantics.meaning, ruleset.arrays.matcher
        self.row = matcher.clipped(matrix)[0]
        self.memberships = np.maximum(matcher.uncut(self.row[None, :])[0], 0.0)
        self.degrees = matcher.matching(self.row[None, :])[0]
        self.weighted = self.degrees * matcher.weights
        self.near = matcher.nearness(self.row[None, :])[0]
        self.first = int((self.degrees > 0.0).argmax()) if len(self.degrees) else -1
        self.base, self.contributions = self._contributions()

    def _contributions(self) -> tuple[float | None, Floats]:
        """The base if there is one, and what each rule counts for the answer."""
        if self.meaning.is_list:
            counts = np.arange(len(self.degrees)) == self.first
            return None, np.where(counts, float(not self.silent), 0.0)
        if self.meaning.combination == "mean":
            total = self.weighted.sum()
            return None, self.weighted / total if total > 0.0 else self.weighted
        if not self.meaning.adds:
            return None, self.weighted
        if self.meaning.task == "ordinal":
            return odds(self)
        says, base = self.ruleset.arrays.says, np.array(self.ruleset.base)
        own = max(self.decided, 0)
        lead, start = says[:, own].copy(), base[own]
        if len(base) > 1:
            second = self._others()[0]
            lead, start = lead - says[:, second], start - base[second]
        return float(start), self.weighted * lead

    def _others(self) -> list[int]:
        """The classes not decided for, the highest score first."""
        order = np.argsort(-self.scores, kind="stable").tolist() if self.ruleset.classes else []
        return [c for c in order if c != self.decided]

    def match(self, r: int) -> RuleMatch:
        """Rule `r` in all detail."""
        rule, matcher = self.ruleset[r], self.ruleset.arrays.matcher
        start = int(matcher.indptr[r])
        conditions = tuple(
            ConditionMatch(
                c.attribute,
                self._text(c),
                self.shown[self._column(c)],
                float(self.memberships[start + k]),
            )
            for k, c in enumerate(rule.conditions)
        )
        counts = float(self.contributions[r])
        degree = float(self.degrees[r])
        return RuleMatch(r, rule.consequent, degree, rule.weight, counts, conditions)

    def firing(self) -> tuple[RuleMatch, ...]:
        """The rules that fire, those of a list in its order, others by what they count."""
        fires = self.degrees > 0.0
        order = np.arange(len(fires))
        if not self.meaning.is_list:
            fires = self.weighted > 0.0
            order = np.argsort(-np.abs(self.contributions), kind="stable")
        return tuple(self.match(r) for r in order.tolist() if fires[r])

    def deciding(self) -> RuleMatch | None:
        """The rule that decided."""
        decider = self.decider
        if self.silent and self.meaning.combination == "mean" and self.fallback == "nearest":
            decider = int(self.near.argmax())
        return None if decider < 0 else self.match(decider)

    def rivals(self) -> tuple[Rival, ...]:
        """The other classes with their best rules; ordered ones have `steps` instead."""
        if self.meaning.task == "ordinal":
            return ()
        rival = self._outvoted if self.meaning.adds else self._rival
        return tuple(rival(c) for c in self._others())

    def steps(self) -> tuple[Step, ...]:
        """Of ordered classes, each but the first."""
        return steps(self) if self.meaning.task == "ordinal" else ()

    def _outvoted(self, c: int) -> Rival:
        """A class whose votes come to less."""
        label, score = self.ruleset.classes[c], float(self.scores[c])
        votes = self.weighted * self.ruleset.arrays.says[:, c]
        best = int(votes.argmax()) if len(votes) else -1
        if best < 0 or votes[best] <= 0.0:
            return Rival(
                label, score, None, f"votes come to {score:+.2f}, and no rule votes for it here"
            )
        reason = f"votes come to {score:+.2f}, most of them by rule {best + 1} ({votes[best]:+.2f})"
        return Rival(label, score, self.match(best), reason)

    def _rival(self, c: int) -> Rival:
        label, score = self.ruleset.classes[c], float(self.scores[c])
        own = np.flatnonzero(self.ruleset.arrays.classes == c)
        if not len(own):
            return Rival(label, score, None, "no rule speaks for it")
        fires = self.weighted[own].max() > 0.0
        r = int(own[(self.weighted if fires else self.near)[own].argmax()])
        rule = self.match(r)
        level, aim, reason = self._level(r)
        obstacles = () if level is None else self._obstacles(r, level)
        if not reason and rule.degree <= 0.0:
            reason = f"rule {r + 1} does not fire"
        elif not reason:
            reason = f"rule {r + 1} counts {rule.contribution:.2f}"
        return Rival(label, score, rule, reason, aim if obstacles else "", obstacles)

    def _level(self, r: int) -> tuple[float | None, str, str]:
        """How far every condition of a rule must hold, what for, or why that would not help."""
        if self.silent:
            return 0.0, "fire", ""
        return _LEVELS[self.ruleset.semantics.name](self, r)

    def to_be_first(self, r: int) -> tuple[float | None, str, str]:
        """The level at which a rule of a list decides."""
        if r < self.first:
            return 0.0, "fire", ""
        if r == self.first:
            return None, "", f"rule {r + 1} decides, and most of its share is of another class"
        quiet = ", which does not fire" if self.degrees[r] <= 0.0 else ""
        return None, "", f"rule {self.first + 1} comes before rule {r + 1}{quiet}"

    def to_add_most(self, r: int) -> tuple[float | None, str, str]:
        """The level at which a rule adds what it can."""
        del r
        return 1.0, "hold fully", ""

    def to_be_best(self, r: int) -> tuple[float | None, str, str]:
        """The level at which a rule counts as much as the one that decided."""
        best, weight = float(self.scores[self.decided]), self.ruleset[r].weight
        if weight < best:
            own, other = format_distinct(weight, best)
            return None, "", f"rule {r + 1} counts at most {own}, less than {other}"
        if not self.ruleset.semantics.is_max_min:
            return self.to_add_most(r)
        aim = f"count as much as rule {self.decider + 1} does now ({best:.2f})"
        return best / weight, aim, ""

    def _obstacles(self, r: int, level: float) -> tuple[Obstacle, ...]:
        start = int(self.ruleset.arrays.matcher.indptr[r])
        result = []
        for k, condition in enumerate(self.ruleset[r].conditions):
            held = self.memberships[start + k]
            if held < level or held <= 0.0:
                column = self._column(condition)
                needed = self._needed(condition, float(self.row[column]), level)
                result.append(Obstacle(condition.attribute, self.shown[column], needed))
        return tuple(result)

    def _needed(self, condition: Condition, value: float, level: float) -> str:
        """The values for which a condition holds to a level, seen from the row's value."""
        if isinstance(condition, NominalCondition):
            return " or ".join(sorted(condition.values))
        assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds of conditions
        show = self.ruleset.attributes[self._column(condition)].show
        phrases = []
        for words, core, support, concerns in (
            (
                ("at least", "more than"),
                condition.core_low,
                condition.support_low,
                not value >= condition.core_low,
            ),
            (
                ("at most", "less than"),
                condition.core_high,
                condition.support_high,
                not value <= condition.core_high,
            ),
        ):
            if concerns and abs(core) < inf:
                open_end = level <= 0.0 and core != support
                phrases.append(f"{words[open_end]} {show(support + level * (core - support))}")
        return " and ".join(phrases) or "any value"

    def _column(self, condition: Condition) -> int:
        names = [attribute.name for attribute in self.ruleset.attributes]
        return names.index(condition.attribute)

    def _text(self, condition: Condition) -> str:
        attribute = self.ruleset.attributes[self._column(condition)]
        return condition_text(condition, attribute, self.ruleset.clip)


_LEVELS = {
    "best-rule": Facts.to_be_best,
    "added-votes": Facts.to_add_most,
    "first-match": Facts.to_be_first,
}

SUPPORTED = Support(
    "An explanation",
    "see by RuleSet.decide or frri predict --rules what fires",
    ADDITIVE | ORDINAL | frozenset(_LEVELS) | {"weighted-mean"},
)


def format_distinct(a: float, b: float) -> tuple[str, str]:
    """Two different numbers, to as many decimals as it takes to see which is larger, at least two.

    Examples
    --------
    >>> format_distinct(0.89, 0.8912), format_distinct(0.5, 0.75)
    (('0.890', '0.891'), ('0.50', '0.75'))
    """
    decimals = next((d for d in range(2, 17) if f"{a:.{d}f}" != f"{b:.{d}f}"), 17)
    return f"{a:.{decimals}f}", f"{b:.{decimals}f}"


def steps(facts: "Facts") -> tuple[Step, ...]:
    """For each class but the first: how probable it is to be at least this one, and why."""
    why = _why_by_rules if facts.meaning.says == "bound" else _why_by_sum
    classes = facts.ruleset.classes
    return tuple(
        Step(classes[t], float(facts.scores[t]), why(facts, t)) for t in range(1, len(classes))
    )


def odds(facts: "Facts") -> tuple[float, Floats]:
    """Log odds of "at least the class decided for", or the second where that is the first.

    They are the base and what each rule adds.
    """
    base = facts.ruleset.base
    start = base[max(facts.decided, 1) - 1] if base else 0.0
    return float(start), facts.weighted * facts.ruleset.arrays.says[:, 0]


def _why_by_sum(facts: "Facts", t: int) -> str:
    total = float(facts.contributions.sum())
    return f"log odds of {facts.ruleset.base[t - 1] + total:+.2f}"


def _why_by_rules(facts: "Facts", t: int) -> str:
    """The strongest rules for and against a class, or who speaks where none of these fires."""
    pro, contra = (_best(facts, t, side, facts.weighted) for side in (True, False))
    if max(_value(pro), _value(contra)) > 0.0:
        first, second = sorted((pro, contra), key=_value, reverse=True)
        against = f" against {_said(facts, second, _counts)}" if _value(second) > 0.0 else ""
        return f"by {_said(facts, first, _counts)}{against}"
    near = [_best(facts, t, side, facts.near) for side in (True, False)]
    near = sorted((one for one in near if _value(one) > -np.inf), key=_value, reverse=True)
    if facts.ruleset.fallback == "nearest" and near:
        said = ", before ".join(_said(facts, one, _away) for one in near)
        return f"about which no rule speaks; the nearest is {said}"
    return "about which no rule speaks; the sizes of the classes that are left decide"


_Found = tuple[int, float] | None


def _best(facts: "Facts", t: int, rising: bool, votes: Floats) -> _Found:
    """The first of the strongest rules for, or against, "at least class t"."""
    k, side = facts.ruleset.arrays.classes, facts.ruleset.arrays.rising
    own = np.flatnonzero(side & (k >= t) if rising else ~side & (k < t))
    if not len(own):
        return None
    best = int(own[votes[own].argmax()])
    return best, float(votes[best])


def _value(found: _Found) -> float:
    return -np.inf if found is None else found[1]


def _said(facts: "Facts", found: _Found, amount: Callable[[float], str]) -> str:
    assert found is not None  # noqa: S101 - who is nobody says nothing
    rule = facts.ruleset[found[0]]
    return f"rule {found[0] + 1} ({rule.relation} {rule.consequent}, {amount(found[1])})"


def _counts(value: float) -> str:
    return f"counts {value:.2f}"


def _away(value: float) -> str:
    return f"{max(-value, 0.0):.2f} away"

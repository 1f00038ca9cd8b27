"""How the rules of a rule set match one row: which fire, what each contributes, what rivals lack."""

from dataclasses import dataclass
from math import inf

import numpy as np

from frri._util import Floats
from frri.rules import Label, RuleSet
from frri.rules.condition import Condition, NominalCondition, NumericCondition
from frri.rules.inference import Decision, last_resort
from frri.rules.semantics import Support
from frri.rules.text import condition_text


@dataclass(frozen=True)
class ConditionMatch:
    """One condition and the row: its text, the row's value, its membership degree."""

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
        Its position in the rule set.
    consequent : label
    degree, weight : float
        Degree to which its conditions hold together, and what a full match counts.
    contribution : float
        Weight times degree; 1 for the rule of a decision list that decides; in a weighted mean its
        fraction. Where rules add to a base: what it adds to the number predicted, or to the lead of
        the predicted class over the next one (see `Explanation.base`).
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
        """Return the condition that holds least; None for a rule without conditions."""
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
        Its best rule; None if no rule predicts it.
    reason : str
        Why that rule does not win.
    aim : str
        What the values of `obstacles` are needed for: to fire, to hold fully, or to count as much as
        the rule that decided does now. They concern this rule alone. A smaller change may do, because
        the rule that decided may count less after it, or another rule may take over: see `Change`.
    obstacles : tuple of Obstacle
        Empty where no value of a single feature stands in the way.
    """

    label: Label
    score: float
    rule: RuleMatch | None
    reason: str
    aim: str = ""
    obstacles: tuple[Obstacle, ...] = ()


@dataclass(frozen=True)
class Step:
    """One of several ordered classes: the probability of at least this class, and why."""

    label: Label
    share: float
    why: str


class RowMatches:
    """All rules of a rule set and one row.

    Parameters
    ----------
    ruleset : RuleSet
    matrix : ndarray of shape (1, n_features)
        The encoded row.
    shown : list of str
        Its values as they are shown.
    """

    def __init__(self, ruleset: RuleSet, matrix: Floats, shown: list[str]) -> None:
        SUPPORTED.require(ruleset.semantics)
        self.ruleset, self.shown = ruleset, shown
        self.meaning, matcher = ruleset.semantics.meaning, ruleset.arrays.matcher
        decision = Decision(ruleset, matrix)
        self.scores, self.decider = decision.scores[0], int(decision.deciding[0])
        self.silent, self.fallback = bool(decision.silent[0]), last_resort(ruleset)
        self.decided, self.shares = -1, np.empty(0)
        if ruleset.classes:
            self.decided, self.shares = int(decision.index[0]), decision.probabilities[0]
        self.answer = ruleset.classes[self.decided] if ruleset.classes else float(self.scores[0])
        clipped = matcher.clipped(matrix)
        self.row = clipped[0]
        self.memberships = np.maximum(matcher.uncut(clipped)[0], 0.0)
        self.degrees, self.near = matcher.matching(clipped)[0], matcher.nearness(clipped)[0]
        self.weighted = self.degrees * matcher.weights
        self.first = int((self.degrees > 0.0).argmax()) if len(self.degrees) else -1
        self.base, self.contributions = self._contributions()

    def _contributions(self) -> tuple[float | None, Floats]:
        """Return the base if there is one, and what each rule contributes to the prediction."""
        if self.meaning.is_list:
            counts = np.arange(len(self.degrees)) == self.first
            return None, np.where(counts, float(not self.silent), 0.0)
        if self.meaning.combination == "mean":
            total = self.weighted.sum()
            return None, self.weighted / total if total > 0.0 else self.weighted
        if not self.meaning.adds:
            return None, self.weighted
        says, base = self.ruleset.arrays.says, np.array(self.ruleset.base)
        if self.meaning.task == "ordinal":
            start = base[max(self.decided, 1) - 1] if len(base) else 0.0
            return float(start), self.weighted * says[:, 0]
        own = max(self.decided, 0)
        lead, start = says[:, own], base[own]
        if len(base) > 1:
            second = self._others()[0]
            lead, start = lead - says[:, second], start - base[second]
        return float(start), self.weighted * lead

    def _others(self) -> list[int]:
        """Return the classes that are not predicted, the highest score first."""
        order = np.argsort(-self.scores, kind="stable").tolist() if self.ruleset.classes else []
        return [c for c in order if c != self.decided]

    def match(self, r: int) -> RuleMatch:
        """Return rule `r` in all detail."""
        rule, start = self.ruleset[r], int(self.ruleset.arrays.matcher.indptr[r])
        conditions = []
        for k, condition in enumerate(rule.conditions):
            j, held = self._column(condition), float(self.memberships[start + k])
            shown = condition_text(condition, self.ruleset.attributes[j], self.ruleset.clip)
            conditions.append(ConditionMatch(condition.attribute, shown, self.shown[j], held))
        counts, degree = float(self.contributions[r]), float(self.degrees[r])
        return RuleMatch(r, rule.consequent, degree, rule.weight, counts, tuple(conditions))

    def firing(self) -> tuple[RuleMatch, ...]:
        """Return the rules that fire, those of a list in its order, others by their contribution."""
        if self.meaning.is_list:
            return tuple(self.match(r) for r in np.flatnonzero(self.degrees > 0.0).tolist())
        order = np.argsort(-np.abs(self.contributions), kind="stable").tolist()
        return tuple(self.match(r) for r in order if self.weighted[r] > 0.0)

    def deciding(self) -> RuleMatch | None:
        """Return the rule that decided."""
        decider = self.decider
        if self.silent and self.meaning.combination == "mean" and self.fallback == "nearest":
            decider = int(self.near.argmax())
        return None if decider < 0 else self.match(decider)

    def rivals(self) -> tuple[Rival, ...]:
        """Return the other classes with their best rules; ordered ones have `steps` instead."""
        if self.meaning.task == "ordinal":
            return ()
        rival = self._outvoted if self.meaning.adds else self._rival
        return tuple(
            rival(c, self.ruleset.classes[c], float(self.scores[c])) for c in self._others()
        )

    def _outvoted(self, c: int, label: Label, score: float) -> Rival:
        votes = self.weighted * self.ruleset.arrays.says[:, c]
        best = int(votes.argmax()) if len(votes) else -1
        reason = f"votes come to {score:+.2f}"
        if best < 0 or votes[best] <= 0.0:
            return Rival(label, score, None, f"{reason}, and no rule votes for it here")
        reason += f", most of them by rule {best + 1} ({votes[best]:+.2f})"
        return Rival(label, score, self.match(best), reason)

    def _rival(self, c: int, label: Label, score: float) -> Rival:
        own = np.flatnonzero(self.ruleset.arrays.classes == c)
        if not len(own):
            return Rival(label, score, None, "no rule speaks for it")
        values = (self.weighted if self.weighted[own].max() > 0.0 else self.near)[own]
        r = int(own[values.argmax()])
        rule = self.match(r)
        level, aim, reason = self._level(r)
        obstacles = () if level is None else self._obstacles(r, level)
        fires = f"counts {rule.contribution:.2f}" if rule.degree > 0.0 else "does not fire"
        reason = reason or f"rule {r + 1} {fires}"
        return Rival(label, score, rule, reason, aim if obstacles else "", obstacles)

    def _level(self, r: int) -> tuple[float | None, str, str]:
        """Return how far conditions of a rule must hold, what for, or why that would not help."""
        if self.silent or (self.meaning.is_list and r < self.first):
            return 0.0, "fire", ""
        if self.meaning.is_list:
            if r == self.first:
                return None, "", f"rule {r + 1} decides, and most of its share is of another class"
            quiet = ", which does not fire" if self.degrees[r] <= 0.0 else ""
            return None, "", f"rule {self.first + 1} comes before rule {r + 1}{quiet}"
        if self.meaning.combination == "best":
            best, weight = float(self.scores[self.decided]), self.ruleset[r].weight
            if weight < best:
                own, other = format_distinct(weight, best)
                return None, "", f"rule {r + 1} counts at most {own}, less than {other}"
            if self.ruleset.semantics.is_max_min:
                aim = f"count as much as rule {self.decider + 1} does now ({best:.2f})"
                return best / weight, aim, ""
        return 1.0, "hold fully", ""

    def _obstacles(self, r: int, level: float) -> tuple[Obstacle, ...]:
        start = int(self.ruleset.arrays.matcher.indptr[r])
        result = []
        for k, condition in enumerate(self.ruleset[r].conditions):
            held = self.memberships[start + k]
            if held < level or held <= 0.0:
                j = self._column(condition)
                needed = self._needed(condition, j, level)
                result.append(Obstacle(condition.attribute, self.shown[j], needed))
        return tuple(result)

    def _needed(self, condition: Condition, j: int, level: float) -> str:
        """Return the values for which a condition holds to a level, seen from the row's value."""
        if isinstance(condition, NominalCondition):
            return " or ".join(sorted(condition.values))
        assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds of conditions
        value, show = float(self.row[j]), self.ruleset.attributes[j].show
        support_low, core_low, core_high, support_high = condition.trapezoid
        phrases = []
        for words, core, support, met in (
            (("at least", "more than"), core_low, support_low, value >= core_low),
            (("at most", "less than"), core_high, support_high, value <= core_high),
        ):
            if not met and abs(core) < inf:
                open_end = level <= 0.0 and core != support
                phrases.append(f"{words[open_end]} {show(support + level * (core - support))}")
        return " and ".join(phrases) or "any value"

    def _column(self, condition: Condition) -> int:
        names = [attribute.name for attribute in self.ruleset.attributes]
        return names.index(condition.attribute)

    def steps(self) -> tuple[Step, ...]:
        """Return, of ordered classes, each but the first."""
        if self.meaning.task != "ordinal":
            return ()
        labels = enumerate(self.ruleset.classes[1:], 1)
        return tuple(Step(c, float(self.scores[t]), self._reason(t)) for t, c in labels)

    def _reason(self, t: int) -> str:
        """Return the log odds of "at least class t", or the strongest rules for and against it."""
        if self.meaning.adds:
            total = float(self.contributions.sum())
            return f"log odds of {self.ruleset.base[t - 1] + total:+.2f}"
        fires = self._strongest(t, self.weighted, 0.0)
        if fires:
            counts = (f"{self._named(r)}, counts {value:.2f})" for r, value in fires)
            return f"by {' against '.join(counts)}"
        near = self._strongest(t, self.near, -inf) if self.ruleset.fallback == "nearest" else []
        if near:
            away = (f"{self._named(r)}, {max(-value, 0.0):.2f} away)" for r, value in near)
            return f"about which no rule speaks; the nearest is {', before '.join(away)}"
        return "about which no rule speaks; the sizes of the classes that are left decide"

    def _strongest(self, t: int, votes: Floats, above: float) -> list[tuple[int, float]]:
        """Return the first of the strongest rules for "at least class t" and of those against it."""
        k, rising = self.ruleset.arrays.classes, self.ruleset.arrays.rising
        sides = (np.flatnonzero(side) for side in (rising & (k >= t), ~rising & (k < t)))
        best = [int(own[votes[own].argmax()]) for own in sides if len(own)]
        found = [(r, float(votes[r])) for r in best if votes[r] > above]
        return sorted(found, key=lambda pair: -pair[1])

    def _named(self, r: int) -> str:
        rule = self.ruleset[r]
        return f"rule {r + 1} ({rule.relation} {rule.consequent}"


SUPPORTED = Support("An explanation", "see by RuleSet.decide or frri predict --rules what fires")


def format_distinct(a: float, b: float) -> tuple[str, str]:
    """Return two different numbers with the decimals needed to see which is larger, at least two.

    Examples
    --------
    >>> format_distinct(0.89, 0.8912), format_distinct(0.5, 0.75)
    (('0.890', '0.891'), ('0.50', '0.75'))
    """
    decimals = next((d for d in range(2, 17) if f"{a:.{d}f}" != f"{b:.{d}f}"), 17)
    return f"{a:.{decimals}f}", f"{b:.{decimals}f}"

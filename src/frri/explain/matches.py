"""The match between one row and the rules of a rule set."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from frri._util import Floats
from frri.rules import Label, RuleSet
from frri.rules.condition import Condition, NominalCondition
from frri.rules.inference import Decision, last_resort
from frri.rules.text import condition_text


@dataclass(frozen=True)
class ConditionMatch:
    """One condition as text, the row's value, and the degree to which the condition holds."""

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
        Position in the rule set.
    consequent : label
    degree : float
        Degree to which all conditions hold together.
    weight : float
        Contribution of a full match.
    contribution : float
        Contribution to the class: weight times degree (times the cost of the class, if it has
        one); in a list, 1 for the rule that decides; in a weighted mean, the rule's fraction of the
        mean. Where rules add to a base, the addition to the predicted number, or to the lead of the
        predicted class over the next one (see `Explanation.base`).
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
        """The condition with the lowest membership; None for a rule without conditions."""
        return min(self.conditions, key=lambda c: c.membership, default=None)


@dataclass(frozen=True)
class Obstacle:
    """A condition with too low a membership: the row's value and the one needed (`Rival.aim`)."""

    attribute: str
    value: str
    needed: str


@dataclass(frozen=True)
class Rival:
    """Another class: its best rule for the row, and what prevents that rule from winning.

    Parameters
    ----------
    label : label
    score : float
    rule : RuleMatch or None
        Its best rule; None if no rule predicts it.
    reason : str
        State of that rule.
    aim : str
        Purpose of the values of `obstacles`: to fire, to hold fully, or to score as much as the
        deciding rule does now. They concern this rule alone. A smaller change may suffice, because
        the deciding rule may count less after it, or because another rule becomes the best: see
        `Change`.
    obstacles : tuple of Obstacle
        Empty where no value of a single feature is in the way.
    """

    label: Label
    score: float
    rule: RuleMatch | None
    reason: str
    aim: str = ""
    obstacles: tuple[Obstacle, ...] = ()


@dataclass(frozen=True)
class Step:
    """One of several ordinal classes: the probability of at least this one, and the reason."""

    label: Label
    share: float
    why: str


class RowDecision:
    """The decision about one encoded row, whose values are `shown`, and the rules behind it."""

    def __init__(self, ruleset: RuleSet, matrix: Floats, shown: list[str]) -> None:
        self.ruleset, self.shown = ruleset, shown
        self.meaning = ruleset.semantics.meaning
        decision = Decision(ruleset, matrix)
        self.scores, self.decider = decision.scores[0], int(decision.deciding[0])
        # The fallback decides where no rule fires.
        self.fallback = last_resort(ruleset) if decision.silent[0] else None
        self.decided, self.shares = -1, np.empty(0)
        if ruleset.classes:
            self.decided, self.shares = int(decision.index[0]), decision.probabilities[0]
        self.answer = ruleset.classes[self.decided] if ruleset.classes else float(self.scores[0])
        self.arrays = arrays = ruleset.arrays
        row = arrays.clipped(matrix)
        self.row, uncut = row[0], arrays.uncut(row)
        self.memberships = np.maximum(uncut[0], 0.0)
        self.degrees = arrays.join(self.memberships[None, :])[0]
        self.weighted = self.degrees * arrays.weights
        self.near = arrays.join_nearness(uncut)[0]
        self.first = int((self.degrees > 0.0).argmax()) if len(self.degrees) else -1
        self.base, self.contributions = self._contributions()

    def firing(self) -> tuple[RuleMatch, ...]:
        """Return the rules that fire: those of a list in order, others by contribution."""
        fires, order = self.degrees > 0.0, np.arange(len(self.degrees))
        if not self.meaning.is_list:
            fires = self.weighted > 0.0
            order = np.argsort(-np.abs(self.contributions), kind="stable")
        return tuple(self._match(r) for r in order.tolist() if fires[r])

    def deciding(self) -> RuleMatch | None:
        """Return the rule that decided."""
        return None if self.decider < 0 else self._match(self.decider)

    def rivals(self) -> tuple[Rival, ...]:
        """Return the other classes with their best rules; ordinal models have `steps` instead."""
        if self.meaning.task == "ordinal":
            return ()
        describe = self._describe_votes if self.meaning.adds else self._describe_best_rule
        return tuple(describe(c) for c in self._other_classes())

    def steps(self) -> tuple[Step, ...]:
        """Return every ordered class but the first, with the probability of at least this one."""
        if self.meaning.task != "ordinal":
            return ()
        return tuple(
            Step(label, float(self.scores[t]), self._explain_step(t))
            for t, label in enumerate(self.ruleset.classes[1:], start=1)
        )

    def _contributions(self) -> tuple[float | None, Floats]:
        """Return the base, if there is one, and the contribution of each rule."""
        if self.meaning.is_list:
            decides = np.arange(len(self.degrees)) == self.first
            return None, np.where(decides, float(self.fallback is None), 0.0)
        if self.meaning.combination == "mean":
            total = self.weighted.sum()
            return None, self.weighted / total if total > 0.0 else self.weighted
        if not self.meaning.adds:
            return None, self.weighted * self.ruleset.score_factors[self.arrays.classes]
        says, base = self.arrays.says, self.ruleset.base
        if self.meaning.task == "ordinal":
            start = base[max(self.decided, 1) - 1] if base else 0.0
            return float(start), self.weighted * says[:, 0]
        own = max(self.decided, 0)
        lead, start = says[:, own], base[own]
        if len(base) > 1:
            second = self._other_classes()[0]
            lead, start = lead - says[:, second], start - base[second]
        return float(start), self.weighted * lead

    def _other_classes(self) -> list[int]:
        """Return the classes that were not predicted, the highest score first."""
        order = np.argsort(-self.scores, kind="stable").tolist() if self.ruleset.classes else []
        return [c for c in order if c != self.decided]

    def _match(self, r: int) -> RuleMatch:
        """Describe how the row matches one rule."""
        rule = self.ruleset[r]
        conditions = []
        for c, j, membership in self._conditions(r):
            text = condition_text(c, self.ruleset.attributes[j], self.ruleset.clip)
            conditions.append(ConditionMatch(c.attribute, text, self.shown[j], membership))
        contribution, degree = float(self.contributions[r]), float(self.degrees[r])
        return RuleMatch(r, rule.consequent, degree, rule.weight, contribution, tuple(conditions))

    def _conditions(self, r: int) -> Iterator[tuple[Condition, int, float]]:
        """Yield the conditions of a rule with their feature and their membership."""
        for k, condition in enumerate(self.ruleset[r].conditions, int(self.arrays.indptr[r])):
            yield condition, int(self.arrays.columns[k]), float(self.memberships[k])

    def _describe_votes(self, c: int) -> Rival:
        """Describe a class that has fewer votes."""
        label, score = self.ruleset.classes[c], float(self.scores[c])
        votes = self.weighted * self.arrays.says[:, c]
        best = int(votes.argmax()) if len(votes) else -1
        head = f"votes come to {score:+.2f}"
        if best < 0 or votes[best] <= 0.0:
            return Rival(label, score, None, f"{head}, and no rule votes for it here")
        reason = f"{head}, most of them by rule {best + 1} ({votes[best]:+.2f})"
        return Rival(label, score, self._match(best), reason)

    def _describe_best_rule(self, c: int) -> Rival:
        """Describe the best rule of a class, and the values that it needs."""
        label, score = self.ruleset.classes[c], float(self.scores[c])
        own = np.flatnonzero(self.arrays.classes == c)
        if not len(own):
            return Rival(label, score, None, "no rule speaks for it")
        fires = self.weighted[own].max() > 0.0
        r = int(own[(self.weighted if fires else self.near)[own].argmax()])
        rule = self._match(r)
        level, aim, reason = self._find_level(r)
        obstacles = tuple(
            Obstacle(one.attribute, self.shown[j], self._needed_values(one, j, level))
            for one, j, membership in self._conditions(r)
            if level is not None and (membership < level or membership <= 0.0)
        )
        counts = f"scores {rule.contribution:.2f}" if rule.degree > 0.0 else "does not fire"
        reason = reason or f"rule {r + 1} {counts}"
        return Rival(label, score, rule, reason, aim if obstacles else "", obstacles)

    def _find_level(self, r: int) -> tuple[float | None, str, str]:
        """Return the membership that every condition of a rule needs, its aim, or an objection."""
        is_list, combination = self.meaning.is_list, self.meaning.combination
        if self.fallback is not None or (is_list and r < self.first):
            return 0.0, "fire", ""
        if is_list and r == self.first:
            return None, "", f"rule {r + 1} decides, and most of its share is of another class"
        if is_list:
            state = ", which does not fire" if self.degrees[r] <= 0.0 else ""
            return None, "", f"rule {self.first + 1} comes before rule {r + 1}{state}"
        best = float(self.scores[self.decided])
        weight = self.ruleset[r].weight * float(self.ruleset.score_factors[self.arrays.classes[r]])
        if combination == "best" and weight < best:
            # As many decimals as distinguish them, and at least two.
            digits = next((d for d in range(2, 17) if f"{weight:.{d}f}" != f"{best:.{d}f}"), 17)
            own, other = f"{weight:.{digits}f}", f"{best:.{digits}f}"
            return None, "", f"rule {r + 1} scores at most {own}, less than {other}"
        if self.ruleset.semantics.is_max_min:
            aim = f"score as much as rule {self.decider + 1} does now ({best:.2f})"
            return best / weight, aim, ""
        return 1.0, "hold fully", ""

    def _needed_values(self, condition: Condition, j: int, level: float) -> str:
        """Describe the values at which a condition holds to a level, seen from the row's value."""
        if isinstance(condition, NominalCondition):
            prefix = "other than " if condition.excludes else ""
            return prefix + " or ".join(sorted(condition.values))
        value, show = float(self.row[j]), self.ruleset.attributes[j].show
        phrases = []
        for side in condition.sides:
            low, core, support = side.end == "low", side.core, side.support
            if not (value >= core if low else value <= core):
                words = ("at least", "more than") if low else ("at most", "less than")
                open_end = level <= 0.0 and core != support
                phrases.append(f"{words[open_end]} {show(support + level * (core - support))}")
        return " and ".join(phrases) or "any value"

    def _explain_step(self, t: int) -> str:
        """Explain the probability of at least class t: its log odds, or the strongest rules."""
        if self.meaning.says != "bound":
            total = float(self.contributions.sum())
            return f"log odds of {self.ruleset.base[t - 1] + total:+.2f}"
        firing = self._strongest_rules(t, self.weighted, 0.0)
        if firing:
            names = [self._name_rule(r, f"scores {value:.2f}") for r, value in firing]
            return f"by {' against '.join(names)}"
        nearest = self._strongest_rules(t, self.near, -inf)
        if self.ruleset.fallback == "nearest" and nearest:
            names = [self._name_rule(r, f"{max(-v, 0.0):.2f} away") for r, v in nearest]
            return f"about which no rule speaks; the nearest is {', before '.join(names)}"
        return "about which no rule speaks; the sizes of the classes that are left decide"

    def _strongest_rules(self, t: int, votes: Floats, above: float) -> list[tuple[int, float]]:
        """Return the strongest rule for and that against "at least class t", with their votes."""
        classes, rising = self.arrays.classes, self.arrays.rising
        sides = (
            np.flatnonzero(side) for side in (rising & (classes >= t), ~rising & (classes < t))
        )
        best = [int(own[votes[own].argmax()]) for own in sides if len(own)]
        found = [(r, float(votes[r])) for r in best if votes[r] > above]
        return sorted(found, key=lambda one: -one[1])

    def _name_rule(self, r: int, amount: str) -> str:
        rule = self.ruleset[r]
        return f"rule {r + 1} ({rule.relation} {rule.consequent}, {amount})"

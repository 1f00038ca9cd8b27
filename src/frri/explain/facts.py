"""What the rules of a ruleset say about one row."""

from math import inf

import numpy as np
from numpy.typing import NDArray

from frri.explain.explanation import ConditionMatch, Obstacle, Rival, RuleMatch
from frri.rules import RuleSet
from frri.rules.condition import Condition, NominalCondition, NumericCondition
from frri.rules.decision import Decision
from frri.rules.semantics import CLASS_RULES, Support
from frri.rules.text import condition_text

SUPPORTED = Support(
    "An explanation", "see by RuleSet.decide or frri predict --rules what fires", CLASS_RULES
)


class Facts:
    """What the rules say about one row."""

    def __init__(self, ruleset: RuleSet, matrix: NDArray[np.float64], shown: list[str]) -> None:
        SUPPORTED.require(ruleset.semantics)
        self.ruleset, self.shown = ruleset, shown
        decision = Decision(ruleset, matrix)
        self.decided, self.decider = int(decision.index[0]), int(decision.deciding[0])
        self.scores, self.shares = decision.scores[0], decision.probabilities[0]
        self.silent = bool(decision.silent[0])
        matcher = ruleset._matcher  # noqa: SLF001 - the rule model's own arrays
        self.row = matcher.clipped(matrix)[0]
        self.classes = ruleset._rule_classes  # noqa: SLF001
        self.memberships = np.maximum(matcher.uncut(self.row[None, :])[0], 0.0)
        self.degrees = matcher.matching(self.row[None, :])[0]
        self.weighted = self.degrees * matcher.weights
        self.near = matcher.nearness(self.row[None, :])[0]
        self.first = int((self.degrees > 0.0).argmax()) if len(self.degrees) else -1

    def match(self, r: int) -> RuleMatch:
        """Rule `r` in all detail."""
        rule, matcher = self.ruleset[r], self.ruleset._matcher  # noqa: SLF001
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
        contribution = float(self.weighted[r])
        if self.ruleset.combination == "first":
            contribution = float(r == self.first and not self.silent)
        degree = float(self.degrees[r])
        return RuleMatch(r, rule.consequent, degree, rule.weight, contribution, conditions)

    def firing(self) -> tuple[RuleMatch, ...]:
        """The rules that fire."""
        if self.ruleset.combination == "first":
            return tuple(self.match(r) for r in np.flatnonzero(self.degrees > 0.0).tolist())
        order = np.argsort(-self.weighted, kind="stable")
        return tuple(self.match(r) for r in order.tolist() if self.weighted[r] > 0.0)

    def deciding(self) -> RuleMatch | None:
        """The rule that decided."""
        return None if self.decider < 0 else self.match(self.decider)

    def rivals(self) -> tuple[Rival, ...]:
        """The other classes with their best rules."""
        result = [self._rival(c) for c in range(len(self.scores)) if c != self.decided]
        return tuple(sorted(result, key=lambda rival: -rival.score))

    def _rival(self, c: int) -> Rival:
        label, score = self.ruleset.classes[c], float(self.scores[c])
        own = np.flatnonzero(self.classes == c)
        if not len(own):
            return Rival(label, score, None, "no rule speaks for it")
        fires = self.weighted[own].max() > 0.0
        r = int(own[(self.weighted if fires else self.near)[own].argmax()])
        rule = self.match(r)
        level, aim, reason = self._level(r)
        obstacles = () if level is None else self._obstacles(r, level)
        if not reason:
            verb = "counts" if self.ruleset.combination != "first" else "holds to"
            amount = rule.contribution if self.ruleset.combination != "first" else rule.degree
            reason = (
                f"rule {r + 1} {verb} {amount:.2f}"
                if rule.degree > 0.0
                else f"rule {r + 1} does not fire"
            )
        return Rival(label, score, rule, reason, aim if obstacles else "", obstacles)

    def _level(self, r: int) -> tuple[float | None, str, str]:
        """How far every condition of a rule must hold, what for, or why that would not help."""
        kind, weight = self.ruleset.combination, self.ruleset[r].weight
        if self.silent or (kind == "first" and self.degrees[r] <= 0.0):
            if kind == "first" and not self.silent and r > self.first:
                reason = f"rule {self.first + 1} comes before rule {r + 1}, which does not fire"
                return None, "", reason
            return 0.0, "fire", ""
        if kind == "first":
            return None, "", f"rule {self.first + 1} comes before rule {r + 1}"
        best = float(self.scores[self.decided])
        if kind == "best" and weight < best:
            return None, "", f"rule {r + 1} counts at most {weight:.2f}, less than {best:.2f}"
        if kind == "sum" or self.ruleset.t_norm != "minimum":
            return 1.0, "hold fully", ""
        winner = self.deciding()
        assert winner is not None  # noqa: S101 - its score is not 0
        aim = f"count as much as rule {winner.index + 1} does now ({best:.2f})"
        return best / weight, aim, ""

    def _obstacles(self, r: int, level: float) -> tuple[Obstacle, ...]:
        start = int(self.ruleset._matcher.indptr[r])  # noqa: SLF001
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

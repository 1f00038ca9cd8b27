"""Bounds on what a rule set can predict anywhere in a box of samples.

A box gives every feature an interval. In it, the membership degree of a condition lies between its
values at the two ends, and 1 if the core is met. T-norms, weights, maxima and sums keep that order, so
the scores of the classes have bounds too. Where one class beats the others by its bounds, it is
predicted in the whole box.

A sum of contributions lies between the sums of the least and of the greatest ones. A weighted mean is at
least a number `g` where the sum of weights times (number - g) is at least 0: a sum of the same kind.
Where no rule may fire, every rule that may be the nearest one is considered.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from frri._util import Flags, Floats
from frri.explain.counterfactual.space import Space
from frri.rules.inference import last_resort, scores_of
from frri.rules.matching import Matcher
from frri.rules.ordered import at_least_class
from frri.rules.ruleset import RuleSet
from frri.table import EncodedTable

# Sums that differ by less than this fraction of what they add up are too close to call.
HAIR = 1e-12

# Fallbacks turn values into probabilities, where differences of a few last digits can vanish.
ROUNDING = 1e-15


class NumberGoal(NamedTuple):
    """A number that is to be reached from below, or from above.

    Examples
    --------
    >>> NumberGoal(20.0, at_least=True).reached(np.array([19.0, 20.0, 21.0])).tolist()
    [False, True, True]
    """

    number: float
    at_least: bool

    @property
    def sign(self) -> float:
        """Return 1 where more is better, -1 where less is."""
        return 1.0 if self.at_least else -1.0

    def reached(self, numbers: Floats) -> Flags:
        """Return which numbers are on the right side, the border included."""
        return np.asarray(self.sign * numbers >= self.sign * self.number)


# What a change is to bring about: a number, or a class other than those at these positions.
Goal = range | NumberGoal


def goal_or_other_class(ruleset: RuleSet, row: Floats, goal: Goal | None) -> Goal:
    """Return a goal; if there is none, any class other than the one predicted."""
    if goal is not None:
        return goal
    decided = int(ruleset.predict_index(row[None, :])[0])
    return range(decided, decided + 1)


def alters(ruleset: RuleSet, matrix: Floats, goal: Goal) -> Flags:
    """Return which (encoded) samples reach the goal."""
    if isinstance(goal, NumberGoal):
        return goal.reached(ruleset.decide(EncodedTable(matrix, ruleset.attributes)).answers)
    decided = ruleset.predict_index(matrix)
    return (decided < goal.start) | (decided >= goal.stop)


class Survey(NamedTuple):
    """Bounds over some boxes."""

    at_low: Floats  # boxes x conditions: uncut value in the lower corner
    at_high: Floats  # and in the upper corner
    lower: Floats  # least uncut value anywhere in the box
    upper: Floats  # and greatest
    sure: Flags  # boxes: the goal is reached nowhere
    covered: Flags  # boxes: some rule fires everywhere

    def box(self, i: int) -> "Survey":
        """Return the survey of one box."""
        return Survey._make(part[i : i + 1] for part in self)


@dataclass(frozen=True, eq=False)
class DecisionBounds:
    """Bounds on the predictions of a rule set, and whether they exclude a goal.

    Parameters
    ----------
    ruleset : RuleSet
    space : Space
        Coordinates of the boxes.
    goal : range or NumberGoal
        Positions of the classes to be left (one class unless they are ordered), or a number.
    """

    ruleset: RuleSet
    space: Space
    goal: Goal

    def alters(self, matrix: Floats) -> Flags:
        """Return which (encoded) samples reach the goal."""
        return alters(self.ruleset, matrix, self.goal)

    @property
    def decision(self) -> int:
        """Return the position of the class to be left."""
        return self.goal.start if isinstance(self.goal, range) else -1

    @property
    def matcher(self) -> Matcher:
        """The conditions as arrays."""
        return self.ruleset.arrays.matcher

    @property
    def one_function(self) -> bool:
        """Whether one formula, the best uncut value, decides inside and outside the rules' supports."""
        return last_resort(self.ruleset) == "nearest" and self.ruleset.semantics.is_max_min

    def survey(self, low: Floats, high: Floats) -> Survey:
        """Survey boxes, given as rows of lower and upper coordinates."""
        at_low, at_high, lower, upper = self._uncut(low, high)
        sure, silent = self._settle(lower, upper)
        return Survey(at_low, at_high, lower, upper, sure, ~silent)

    def _settle(self, lower: Floats, upper: Floats) -> tuple[Flags, Flags]:
        """Return where the goal is out of reach, and where no rule may fire and that matters."""
        never = np.zeros(len(lower), dtype=bool)
        if self.one_function:
            return self._fallback_sure(lower, upper), never
        join = self.matcher.join
        degrees = join(np.maximum(lower, 0.0)), join(np.maximum(upper, 0.0))
        meaning = self.ruleset.semantics.meaning
        if isinstance(self.goal, NumberGoal):
            return self._number_sure(self.goal, lower, upper, *degrees)
        if meaning.task == "ordinal":
            return self._steps_sure(self.goal, lower, upper, *degrees), never
        if meaning.adds:
            return self._lead_sure(*degrees), never
        if meaning.is_list:
            sure, silent = self._first_sure(*degrees)
        else:
            least, most = (scores_of(self.ruleset, d) for d in degrees)
            silent = ~(least.max(axis=1, initial=0.0) > 0.0)
            sure = self._beats(least, most, 0.0) | ~(most.max(axis=1, initial=0.0) > 0.0)
        asked = np.flatnonzero(silent & sure)
        sure[asked] = self._fallback_sure(lower[asked], upper[asked])
        return sure, silent

    def active(self, survey: Survey) -> Flags:
        """Boxes x conditions: those that vary, of rules on which the decision can still hang."""
        return self.relevant(survey)[:, self.matcher.rule_of] & (survey.lower < survey.upper)

    def relevant(self, survey: Survey) -> Flags:
        """Boxes x rules: the rules on which the decision can still hang."""
        matcher = self.matcher
        everything = np.ones((len(survey.sure), matcher.n_rules), dtype=bool)
        if not self.ruleset.semantics.is_max_min:
            return everything
        least, most = self._nearness(survey.lower), self._nearness(survey.upper)
        own = self.ruleset.arrays.classes == self.decision
        standing = np.where(own, least, -np.inf).max(axis=1, keepdims=True)
        rivals = ~own & (most >= standing - ROUNDING)
        threat = np.where(rivals, least, np.inf).min(axis=1, keepdims=True)
        known = (rivals | (own & (most >= threat - ROUNDING))) & (matcher.weights > 0.0)
        return np.where(survey.covered[:, None], known, everything)

    def fallback_values(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Boxes x rules: bounds on what each rule counts where none fires."""
        matcher, kind = self.matcher, last_resort(self.ruleset)
        starts = matcher.indptr
        if kind == "nearest":
            return self._nearness(lower), self._nearness(upper)
        part = _stretched if kind == "stretched" else _partial
        pairs = [
            part(
                np.maximum(lower[:, start:end], 0.0),
                np.maximum(upper[:, start:end], 0.0),
                self.ruleset.arrays.partial_weights[r],
                matcher,
            )
            for r, (start, end) in enumerate(pairwise(starts))
        ]
        return (
            np.column_stack([least for least, _ in pairs]),
            np.column_stack([most for _, most in pairs]),
        )

    def _uncut(self, low: Floats, high: Floats) -> tuple[Floats, ...]:
        """Uncut values in both corners, and their least and greatest values in between."""
        matcher = self.matcher
        low_values = matcher.clipped(self.space.decode(low))
        high_values = matcher.clipped(self.space.decode(high))
        at_low, at_high = matcher.uncut(low_values), matcher.uncut(high_values)
        lower, upper = np.minimum(at_low, at_high), np.maximum(at_low, at_high)
        columns = matcher.columns
        core = low_values[:, columns] <= matcher.core_high
        core &= high_values[:, columns] >= matcher.core_low
        for k, _ in matcher.nominal:
            core[:, k] = False
            values, held = self.space.held[k]
            first, last = (end[:, columns[k]].astype(np.intp) for end in (low, high))
            count = held[last + 1] - held[first]
            lower[:, k] = np.where(count == last + 1 - first, values.max(), values.min())
            upper[:, k] = np.where(count > 0, values.max(), values.min())
        upper[core] = 1.0
        return at_low, at_high, lower, upper

    def _nearness(self, uncut: Floats) -> Floats:
        """Boxes x rules: weight times the worst uncut value; rules without weight are never near."""
        matcher = self.matcher
        values = np.minimum.reduceat(uncut, matcher.indptr[:-1], axis=1) * matcher.weights
        return np.where(matcher.weights > 0.0, values, -np.inf)

    def _first_sure(self, degree_low: Floats, degree_high: Floats) -> tuple[Flags, Flags]:
        """Whether every rule of the list that can be the first says the same; whether none may fire."""
        shares = self.ruleset.arrays.says
        speaks = shares.max(axis=1, initial=0.0) > 0.0
        fires = degree_low > 0.0
        before = np.logical_or.accumulate(fires, axis=1)
        before = np.column_stack([np.zeros(len(fires), dtype=bool), before])
        possible = (degree_high > 0.0) & ~before[:, :-1]
        wrong = speaks & (shares.argmax(axis=1) != self.decision)
        silent = ~before[:, -1] | possible[:, ~speaks].any(axis=1)
        return np.asarray(~possible[:, wrong].any(axis=1)), silent

    def _steps_sure(
        self, goal: range, lower: Floats, upper: Floats, degree_low: Floats, degree_high: Floats
    ) -> Flags:
        """Whether all classes up to the first in question pass, and none after the last, at the worst.

        The worst for higher classes is what rules for them count at least and others at most.
        """
        rising, near = self.ruleset.arrays.rising, last_resort(self.ruleset) == "nearest"

        def shares(*, least: bool) -> Floats:
            degrees = np.where(rising == least, degree_low, degree_high)
            if not near:
                return scores_of(self.ruleset, degrees)
            low, high = self._nearness(lower), self._nearness(upper)
            return at_least_class(self.ruleset, degrees, np.where(rising == least, low, high))

        passes = (shares(least=True)[:, 1 : goal.start + 1] > 0.5).all(axis=1)
        return np.asarray(passes & (shares(least=False)[:, goal.stop :] <= 0.5).all(axis=1))

    def _lead_sure(self, degree_low: Floats, degree_high: Floats) -> Flags:
        """Whether the class in question leads every other one, though each rule do its worst."""
        base, says = np.array(self.ruleset.base), self.ruleset.arrays.says
        lead = (says[:, [self.decision]] - says) * self.matcher.weights[:, None]
        least = base[self.decision] - base
        size = 1.0 + np.abs(base).max() + np.abs(says * self.matcher.weights[:, None]).sum()
        worst = least + degree_low @ np.maximum(lead, 0.0) + degree_high @ np.minimum(lead, 0.0)
        # A lead on which no rule that varies has a say is the same everywhere, though it be a tie.
        fixed = ~((degree_low < degree_high) @ (lead != 0.0))
        kept = self._kept(degree_low)
        return np.asarray(((worst > HAIR * size) | (fixed & kept)).all(axis=1))

    def _kept(self, degrees: Floats) -> Flags:
        """Boxes x classes: whether the class in question wins against each, or ties before it."""
        scores = scores_of(self.ruleset, degrees)
        own = scores[:, [self.decision]]
        earlier = np.arange(scores.shape[1]) < self.decision
        return np.where(earlier, own > scores, own >= scores)

    def _number_sure(
        self,
        goal: NumberGoal,
        lower: Floats,
        upper: Floats,
        degree_low: Floats,
        degree_high: Floats,
    ) -> tuple[Flags, Flags]:
        """Return where a number is out of reach, and where no rule of a mean may fire."""
        weights, adds = self.matcher.weights, self.ruleset.semantics.meaning.adds
        numbers = goal.sign * self.ruleset.arrays.says[:, 0]
        number, base = goal.sign * goal.number, goal.sign * self.ruleset.base[0]
        amounts = (numbers if adds else numbers - number) * weights
        start = base - number if adds else 0.0
        up, down = np.maximum(amounts, 0.0), np.minimum(amounts, 0.0)
        most = start + degree_high @ up + degree_low @ down
        sure = most < -HAIR * (abs(base) + abs(number) + np.abs(amounts).sum())
        if adds:
            return sure, np.zeros(len(lower), dtype=bool)
        silent = ~((degree_low * weights).max(axis=1, initial=0.0) > 0.0)
        # A mean of numbers that all fall short does so too, however little they count.
        helping = numbers >= number - HAIR * (abs(number) + np.abs(numbers))
        short = ~((degree_high * weights)[:, helping].max(axis=1, initial=0.0) > 0.0)
        return (sure | short) & ~(silent & self._fallback_reaches(goal, lower, upper)), silent

    def _fallback_reaches(self, goal: NumberGoal, lower: Floats, upper: Floats) -> Flags:
        """Whether what is predicted without any rule that fires may reach the goal."""
        if last_resort(self.ruleset) == "base":
            return np.full(len(lower), bool(goal.reached(np.array(self.ruleset.base))[0]))
        least, most = self._nearness(lower), self._nearness(upper)
        # A hair, for nearness is computed anew where it decides.
        standing = least.max(axis=1, keepdims=True)
        possible = most >= standing - HAIR * (1.0 + np.abs(standing))
        reaches = goal.reached(self.ruleset.arrays.says[:, 0])
        return np.asarray((possible & reaches).any(axis=1))

    def _fallback_sure(self, lower: Floats, upper: Floats) -> Flags:
        """Whether the fallback decides alike everywhere."""
        n_classes, kind = len(self.ruleset.classes), last_resort(self.ruleset)
        usual = int(np.argmax(self.ruleset.class_counts)) == self.decision
        if kind == "priors":
            return np.full(len(lower), usual)
        nothing = -np.inf if kind == "nearest" else 0.0
        classes = self.ruleset.arrays.classes
        least, most = (
            np.column_stack(
                [values[:, classes == c].max(axis=1, initial=nothing) for c in range(n_classes)]
            )
            for values in self.fallback_values(lower, upper)
        )
        if kind == "nearest":
            return self._beats(least, most, -np.inf)
        # Where nothing counts at all, the shares of the classes in training decide.
        settled = (least.max(axis=1) > 0.0) | usual
        counts = most.max(axis=1) > 0.0
        return np.where(counts, self._beats(least, most, 0.0) & settled, usual)

    def _beats(self, least: Floats, most: Floats, nothing: float) -> Flags:
        """Whether the class in question has the highest score wherever any exceeds `nothing`."""
        own = least[:, self.decision, None]
        earlier = np.arange(least.shape[1]) < self.decision
        above = own > most + ROUNDING * (1.0 + np.abs(np.maximum(most, -1e300)))
        beaten = np.where(earlier, above, own >= most) | (most <= nothing)
        beaten[:, self.decision] = True
        return np.asarray(beaten.all(axis=1))


def _stretched(
    lower: Floats, upper: Floats, weights: Floats, matcher: Matcher
) -> tuple[Floats, Floats]:
    """Bounds over all beginnings of a rule that may be the longest that holds."""
    n_boxes, length = lower.shape
    least, most = np.full(n_boxes, np.inf), np.zeros(n_boxes)
    may_hold = np.logical_and.accumulate(upper > 0.0, axis=1)
    for kept in range(length + 1):
        possible = may_hold[:, kept - 1] if kept else np.ones(n_boxes, dtype=bool)
        if kept < length:
            possible = possible & (lower[:, kept] <= 0.0)
        if not 0 < kept < len(weights):
            low = high = np.zeros(n_boxes)
        else:
            low = matcher.join_one(lower[:, :kept]) * weights[kept]
            high = matcher.join_one(upper[:, :kept]) * weights[kept]
        least = np.where(possible, np.minimum(least, low), least)
        most = np.where(possible, np.maximum(most, high), most)
    return least, most


def _partial(
    lower: Floats, upper: Floats, weights: Floats, matcher: Matcher
) -> tuple[Floats, Floats]:
    """Bounds over all subsets of a rule's conditions that may be the ones that hold."""
    del matcher
    if len(weights) < 1 << lower.shape[1]:
        return np.zeros(len(lower)), np.zeros(len(lower))
    bits = 1 << np.arange(lower.shape[1])
    sure, may = (lower > 0.0) @ bits, (upper > 0.0) @ bits
    subsets = np.arange(1 << lower.shape[1])
    possible = (sure[:, None] & ~subsets == 0) & (subsets & ~may[:, None] == 0)
    values = np.where(subsets > 0, weights, 0.0)
    least = np.where(possible, values, np.inf).min(axis=1)
    return least, np.where(possible, values, -np.inf).max(axis=1)

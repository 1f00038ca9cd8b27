"""What number a ruleset can predict anywhere in a box of objects.

A sum of contributions lies between its sums of the least and of the greatest ones. A weighted mean is at least
a number `g` where the sum of what rules count times the distance of their numbers from `g` is at least 0: a sum
of the same kind. Where no rule may fire, every rule that may be the nearest one there has its say.
"""

from dataclasses import dataclass, field

import numpy as np

from frri._util import Flags, Floats
from frri.explain.counterfactual.bounds import HAIR, DecisionBounds, Survey
from frri.explain.counterfactual.goal import NumberGoal, altered
from frri.rules.inference import last_resort
from frri.rules.semantics import MEANINGS, Support

SUPPORTED = Support(
    "The search for the smallest change to a number",
    "compare numbers by RuleSet.predict instead",
    frozenset(name for name, meaning in MEANINGS.items() if meaning.task == "regression"),
)


@dataclass(frozen=True, eq=False)
class NumberBounds(DecisionBounds):
    """Bounds on the number that a ruleset predicts, and whether they keep it from a goal.

    Parameters
    ----------
    goal : NumberGoal
        What is to be reached.
    """

    goal: NumberGoal = field(kw_only=True)

    def __post_init__(self) -> None:
        SUPPORTED.require(self.ruleset.semantics)

    def alters(self, matrix: Floats) -> Flags:
        """Which (encoded) objects reach the goal."""
        return altered(self.ruleset, matrix, self.goal)

    def survey(self, low: Floats, high: Floats) -> Survey:
        """Look at boxes, given as rows of lower and upper coordinates."""
        matcher, sign = self.matcher, self.goal.sign
        at_low, at_high, lower, upper = self._uncut(low, high)
        degree_low = matcher.join(np.maximum(lower, 0.0))
        degree_high = matcher.join(np.maximum(upper, 0.0))
        numbers = sign * self.ruleset.arrays.says[:, 0]
        goal, base = sign * self.goal.number, sign * self.ruleset.base[0]
        adds = self.ruleset.semantics.meaning.adds
        amounts = (numbers if adds else numbers - goal) * matcher.weights
        start = base - goal if adds else 0.0
        most = (
            start + degree_high @ np.maximum(amounts, 0.0) + degree_low @ np.minimum(amounts, 0.0)
        )
        size = abs(base) + abs(goal) + np.abs(amounts).sum()
        sure = most < -HAIR * size
        silent = np.zeros(len(low), dtype=bool)
        if not adds:
            silent = ~((degree_low * matcher.weights).max(axis=1, initial=0.0) > 0.0)
            # A mean of numbers that all fall short does so too, however little they count.
            helping = numbers >= goal - HAIR * (abs(goal) + np.abs(numbers))
            short = ~((degree_high * matcher.weights)[:, helping].max(axis=1, initial=0.0) > 0.0)
            sure = (sure | short) & ~(silent & self._fallback_reaches(lower, upper))
        return Survey(at_low, at_high, lower, upper, sure, ~silent)

    def _fallback_reaches(self, lower: Floats, upper: Floats) -> Flags:
        """Whether what is predicted without any rule that fires may reach the goal."""
        if last_resort(self.ruleset) == "base":
            return np.full(len(lower), bool(self.goal.reached(np.array(self.ruleset.base))[0]))
        least, most = self._nearness(lower), self._nearness(upper)
        # A hair, for nearness is computed anew where it decides.
        standing = least.max(axis=1, keepdims=True)
        possible = most >= standing - HAIR * (1.0 + np.abs(standing))
        reaches = self.goal.reached(self.ruleset.arrays.says[:, 0])
        return np.asarray((possible & reaches).any(axis=1))

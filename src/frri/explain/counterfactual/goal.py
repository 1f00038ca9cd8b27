"""What a change is to bring about: another class, or a number on the other side of a border."""

from typing import NamedTuple

import numpy as np

from frri._util import Flags, Floats
from frri.rules.ruleset import RuleSet
from frri.table import EncodedTable


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
        """1 where more is better, -1 where less is."""
        return 1.0 if self.at_least else -1.0

    def reached(self, numbers: Floats) -> Flags:
        """Which numbers are on the right side, the border included."""
        return np.asarray(self.sign * numbers >= self.sign * self.number)


def altered(ruleset: RuleSet, matrix: Floats, stays: range | NumberGoal) -> Flags:
    """Which (encoded) objects get another class than those in question, or reach the goal."""
    if isinstance(stays, NumberGoal):
        return stays.reached(ruleset.decide(EncodedTable(matrix, ruleset.attributes)).answers)
    decided = ruleset.predict_index(matrix)
    return (decided < stays.start) | (decided >= stays.stop)

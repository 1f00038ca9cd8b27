"""The cheapest way to hit every one of some sets, for sets so few that a general solver is a detour.

As in `_minimal_kernels`, sets are *clauses* and what they are hit with are *sides*, of which attribute `a` has
2a and 2a + 1. The search takes the first clause not hit yet and tries its sides in turn, those that hit most
clauses first; a side that was tried is not used by those tried after it. It leaves a choice that cannot
become cheaper than the best one known: clauses without a common attribute need a side each. Sets of clauses,
of attributes and of sides are the bits of whole numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from frri._util import Flags

# Choices that are looked at, in about a tenth of a second, before the problem is left to a general solver.
MOST = 20_000


class _Choice(NamedTuple):
    """Some sides, what they cost, and what they leave."""

    clauses: int  # not hit yet
    attributes: int  # used
    cost: int
    sides: tuple[int, ...]
    tried: int  # sides that are not to be used


def cheapest_choice(clauses: Flags, most: int = MOST) -> tuple[int, ...] | None:
    """The sides that hit all clauses with the fewest attributes, and of these with the fewest sides.

    Parameters
    ----------
    clauses : ndarray of bool, shape (n_clauses, n_sides)
        Which sides hit each clause: at least one. Short clauses should come first.
    most : int
        How many choices may be looked at.

    Returns
    -------
    tuple of int or None
        None if `most` were not enough.

    Examples
    --------
    >>> cheapest_choice(np.array([[1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 1, 0]], dtype=bool))
    (1, 0)
    """
    problem = _HittingSet(clauses)
    best = problem.greedy()
    waiting = [problem.nothing]
    for _ in range(most):
        if not waiting:
            return best.sides
        choice = waiting.pop()
        if not problem.may_beat(choice, best.cost):
            continue
        if choice.clauses:
            waiting.extend(problem.longer(choice))
        else:
            best = choice
    return None


class _HittingSet:
    """The clauses, side by side."""

    def __init__(self, clauses: Flags) -> None:
        n_clauses, n_sides = clauses.shape
        bits = np.packbits(clauses.T, axis=1, bitorder="little")
        self.hit = [int.from_bytes(row.tobytes(), "little") for row in bits]
        self.nothing = _Choice((1 << n_clauses) - 1, 0, 0, (), 0)
        # An attribute costs more than all sides together.
        self.price = n_sides + 1
        self.sides = [
            sorted(np.flatnonzero(clause).tolist(), key=lambda side: -self.hit[side].bit_count())
            for clause in clauses
        ]
        # The attributes of each clause, and the clauses that have none of them.
        self.attributes, self.apart = [], []
        for sides in self.sides:
            attributes = touched = 0
            for side in sides:
                attributes |= 1 << (side >> 1)
                touched |= self.hit[side] | self.hit[side ^ 1]
            self.attributes.append(attributes)
            self.apart.append(~touched)

    def greedy(self) -> _Choice:
        """The side that hits most clauses again and again, of equal ones that of a used attribute."""
        choice = self.nothing
        while choice.clauses:
            left, used = choice.clauses, choice.attributes
            worth = [
                ((hit & left).bit_count(), used >> (side >> 1) & 1)
                for side, hit in enumerate(self.hit)
            ]
            choice = self.with_side(choice, worth.index(max(worth)))
        return choice

    def with_side(self, choice: _Choice, side: int) -> _Choice:
        """A choice with one more side."""
        attribute = 1 << (side >> 1)
        price = 1 if choice.attributes & attribute else 1 + self.price
        return _Choice(
            choice.clauses & ~self.hit[side],
            choice.attributes | attribute,
            choice.cost + price,
            (*choice.sides, side),
            choice.tried,
        )

    def may_beat(self, choice: _Choice, cost: int) -> bool:
        """Whether it can be completed for less than so much, as far as clauses apart tell."""
        left, least = choice.clauses, choice.cost
        while left and least < cost:
            clause = _first(left)
            least += 1 if self.attributes[clause] & choice.attributes else 1 + self.price
            left &= self.apart[clause]
        return least < cost

    def longer(self, choice: _Choice) -> list[_Choice]:
        """With each side of the first clause that is not hit; the one to look at first comes last."""
        tried, found = choice.tried, []
        for side in self.sides[_first(choice.clauses)]:
            if not tried >> side & 1:
                found.append(self.with_side(choice._replace(tried=tried), side))
                tried |= 1 << side
        return found[::-1]


def _first(bits: int) -> int:
    return (bits & -bits).bit_length() - 1

"""Minimum and minimal hitting sets: the fewest sides of a box that suffice, or all such sets.

Sets that are to be hit are *clauses*: for a sample of another class, the sides of the box beyond
which it lies. Feature `a` has the sides 2a and 2a + 1.

`cheapest_choice` finds a hitting set with the fewest features, where a general solver would be a
detour. It takes the first clause not hit yet and tries its sides in turn, those that hit most
clauses first; a side that was tried is not used by those tried after it. It leaves a choice that
cannot become cheaper than the best one known: clauses without a common feature need a side each.
Sets are bits of integers.

`minimal_choices` finds all minimal hitting sets (Murakami and Uno's MMCS). A choice of sides is
minimal if every side in it is *critical*: the only one chosen that hits some clause. The search
takes the first clause not hit yet and tries its sides in turn; a side that was tried may be used
again only by those tried after it, so that no choice is found twice. A choice in which some side
has ceased to be critical cannot become minimal again and is left at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frri._compile import inner_kernel, kernel

if TYPE_CHECKING:
    from frri._util import Flags, Ints

# Choices that are tried, in about a tenth of a second, before a general solver takes over.
MOST = 20_000

NOBODY = -1


def cheapest_choice(clauses: Flags, most: int = MOST) -> tuple[int, ...] | None:
    """Return sides that hit all clauses with the fewest features, and of these the fewest sides.

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


class _Choice(NamedTuple):
    """Some sides, what they cost, and what they leave."""

    clauses: int  # not hit yet
    attributes: int  # used
    cost: int
    sides: tuple[int, ...]
    tried: int  # sides that are not to be used


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
        """Choose sides that hit most clauses one by one, in ties those of used features."""
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
        """Return a choice with one more side."""
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
        """Return the choice with each side of its first clause not hit, the first one last."""
        tried, found = choice.tried, []
        for side in self.sides[_first(choice.clauses)]:
            if not tried >> side & 1:
                found.append(self.with_side(choice._replace(tried=tried), side))
                tried |= 1 << side
        return found[::-1]


def _first(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


# --- All minimal hitting sets


@kernel
def minimal_choices(  # noqa: C901, PLR0912, PLR0915 - one loop
    clauses: Flags, preference: Ints, limit: int
) -> tuple[Flags, bool]:
    """Return the minimal choices of sides that hit all clauses, and whether these are all.

    Parameters
    ----------
    clauses : array of bool, shape (n_clauses, n_sides)
        Which sides hit each clause: at least one.
    preference : array of int, shape (n_sides,)
        The sides in the order in which they are tried.
    limit : int
        The most choices to be found.

    Examples
    --------
    >>> clauses = np.array([[True, True, False], [False, True, True]])
    >>> minimal_choices(clauses, np.arange(3), 10)
    (array([[ True, False,  True],
           [False,  True, False]]), True)
    >>> minimal_choices(clauses, np.arange(3), 1)[1]
    False
    """
    n_clauses, n_sides = clauses.shape
    sides = np.empty((n_clauses, n_sides), dtype=np.int64)  # of each clause
    n_own = np.zeros(n_clauses, dtype=np.int64)
    hit_by = np.empty((n_sides, n_clauses), dtype=np.int64)  # the clauses of each side
    n_hit = np.zeros(n_sides, dtype=np.int64)
    for clause in range(n_clauses):
        for side in preference:
            if clauses[clause, side]:
                sides[clause, n_own[clause]] = side
                hit_by[side, n_hit[side]] = clause
                n_own[clause] += 1
                n_hit[side] += 1

    hits = np.zeros(n_clauses, dtype=np.int64)
    hitters = np.zeros(n_clauses, dtype=np.int64)  # sum of the chosen sides that hit a clause
    critical = np.zeros(n_sides, dtype=np.int64)  # clauses that a side alone hits
    level_of = np.full(n_sides, NOBODY)  # the level at which a side waits for its turn
    chosen = np.full(n_clauses + 1, NOBODY)  # by level
    branching = np.zeros(n_clauses + 1, dtype=np.int64)  # the clause of each level
    turn = np.zeros(n_clauses + 1, dtype=np.int64)
    found = np.zeros((limit, n_sides), dtype=np.bool_)
    n_found = 0
    if n_clauses == 0:  # nothing is to be hit
        return found[:1], True

    level = 0
    for k in range(n_own[0]):
        level_of[sides[0, k]] = 0
    while level >= 0:
        side = chosen[level]
        if side != NOBODY:
            _take_back(side, hit_by[side, : n_hit[side]], hits, hitters, critical)
            level_of[side] = chosen[level] = NOBODY
        clause = branching[level]
        while turn[level] < n_own[clause] and level_of[sides[clause, turn[level]]] != level:
            turn[level] += 1
        if turn[level] == n_own[clause]:
            level -= 1
            continue
        side = chosen[level] = sides[clause, turn[level]]
        turn[level] += 1
        _choose(side, hit_by[side, : n_hit[side]], hits, hitters, critical)
        if critical[chosen[: level + 1]].min() == 0:
            continue
        clause += 1
        while clause < n_clauses and hits[clause] > 0:
            clause += 1
        if clause == n_clauses:
            if n_found == limit:
                return found, False
            found[n_found][chosen[: level + 1]] = True
            n_found += 1
            continue
        level += 1
        branching[level], turn[level] = clause, 0
        for k in range(n_own[clause]):
            if level_of[sides[clause, k]] == NOBODY:
                level_of[sides[clause, k]] = level
    return found[:n_found], True


@inner_kernel
def _choose(side: int, clauses: Ints, hits: Ints, hitters: Ints, critical: Ints) -> None:
    for clause in clauses:
        if hits[clause] == 0:
            critical[side] += 1
        elif hits[clause] == 1:
            critical[hitters[clause]] -= 1
        hits[clause] += 1
        hitters[clause] += side


@inner_kernel
def _take_back(side: int, clauses: Ints, hits: Ints, hitters: Ints, critical: Ints) -> None:
    for clause in clauses:
        hits[clause] -= 1
        hitters[clause] -= side
        if hits[clause] == 0:
            critical[side] -= 1
        elif hits[clause] == 1:
            critical[hitters[clause]] += 1

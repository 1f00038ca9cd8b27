"""All minimal ways to hit every one of some sets, one after another.

Sets that are to be hit are *clauses*, what they are hit with are *sides*. A choice of sides is minimal
if every side in it is *critical*: the only one chosen that hits some clause. The search (Murakami and
Uno's MMCS) takes the first clause not hit yet and tries its sides in turn; a side that was tried may be
used again only by those tried after it, so that no choice is found twice. A choice in which some side
has ceased to be critical cannot become minimal again and is left at once.
"""

import numpy as np

from frri._compile import inner_kernel, kernel
from frri._util import Flags, Ints

NOBODY = -1


@kernel
def minimal_choices(clauses: Flags, preference: Ints, limit: int) -> tuple[Flags, bool]:
    """The minimal choices of sides that hit all clauses, and whether these are all of them.

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

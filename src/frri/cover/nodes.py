"""One node of the search tree: solve its programme, fix what follows, say how to divide it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._compile import either, inner_kernel, kernel
from frri._util import Flags, Floats, Ints
from frri.cover import simplex
from frri.cover.bounds import exact_bound
from frri.cover.simplex import child, extend, missing, penalties, reoptimise

Bytes = NDArray[np.int8]

OPEN, CLOSED, PAUSED, DOUBTFUL = 0, 1, 2, 3
"""What has become of a node; doubtful if its tableau says more than can be proved from it."""

KEEP, AT_ZERO, AT_ONE, IDLE = simplex.KEEP, simplex.AT_ZERO, simplex.AT_ONE, simplex.IDLE
LP_OPTIMAL, LP_INFEASIBLE, LP_PAUSED = simplex.OPTIMAL, simplex.INFEASIBLE, simplex.PAUSED
INTEGRAL = simplex.INTEGRAL


CHOSEN, FREE, EXCLUDED = 1, 0, -1


def _lessen_interpreted(counts: Ints, members: Ints) -> None:
    counts[members] -= 1


def _lessen_loops(counts: Ints, members: Ints) -> None:
    for k in members:
        counts[k] -= 1


_lessen = either(interpreted=_lessen_interpreted, loops=_lessen_loops, inner=True)


def _useless_interpreted(members: Ints, gain: Ints, state: Bytes) -> Ints:
    useless: Ints = members[(gain[members] == 0) & (state[members] == FREE)]
    return useless


def _useless_loops(members: Ints, gain: Ints, state: Bytes) -> Ints:
    found = np.empty(len(members), dtype=np.int64)
    n = 0
    for k in members:
        if gain[k] == 0 and state[k] == FREE:
            found[n] = k
            n += 1
    return found[:n]


_useless = either(interpreted=_useless_interpreted, loops=_useless_loops, inner=True)


@inner_kernel
def propagate(  # noqa: C901, PLR0912 - one loop, all in one kernel
    objects_from: Ints,
    objects: Ints,
    coverers_from: Ints,
    coverers: Ints,
    state: Bytes,
    uncovered: Flags,
    degree: Ints,
    gain: Ints,
    chosen: Ints,
    excluded: Ints,
) -> bool:
    """Choose and exclude candidates and all that follows; whether it is possible at all.

    Parameters
    ----------
    state : ndarray of int8
        Per candidate; changed, as are the next three.
    uncovered : ndarray of bool
        Per object: whether no chosen candidate covers it.
    degree : ndarray of int64
        Per uncovered object: its coverers that are not excluded.
    gain : ndarray of int64
        Per candidate: the uncovered objects it covers.
    """
    queue = np.empty(len(gain) + len(chosen), dtype=np.int64)
    np.positive(chosen, queue[: len(chosen)])
    end = len(chosen)
    for j in chosen:
        state[j] = CHOSEN
    for j in excluded:
        state[j] = EXCLUDED
        members = objects[objects_from[j] : objects_from[j + 1]]
        _lessen(degree, members)
    for j in excluded:
        for i in objects[objects_from[j] : objects_from[j + 1]]:
            if uncovered[i] and degree[i] <= 1:
                for k in coverers[coverers_from[i] : coverers_from[i + 1]]:
                    if state[k] == FREE:
                        queue[end] = k
                        end += 1
                        state[k] = CHOSEN
                    if state[k] == CHOSEN:
                        break
                else:
                    return False
    start = 0
    while start < end:
        j = queue[start]
        start += 1
        for i in objects[objects_from[j] : objects_from[j + 1]]:
            if uncovered[i]:
                uncovered[i] = False
                members = coverers[coverers_from[i] : coverers_from[i + 1]]
                _lessen(gain, members)
                for k in _useless(members, gain, state):
                    state[k] = EXCLUDED
    return True


class Domains:
    """The state of all candidates and objects in one node of a search."""

    __slots__ = ("degree", "gain", "state", "uncovered")

    def __init__(self, state: Bytes, uncovered: Flags, degree: Ints, gain: Ints) -> None:
        self.state = state
        self.uncovered = uncovered
        self.degree = degree
        self.gain = gain

    def copy(self) -> "Domains":
        """An independent copy."""
        return Domains(
            self.state.copy(), self.uncovered.copy(), self.degree.copy(), self.gain.copy()
        )

    def arrays(self) -> tuple[Any, ...]:
        """The arguments of `propagate`, in its order."""
        return self.state, self.uncovered, self.degree, self.gain


def _action_interpreted(
    state: Bytes, applied: Bytes, turned: Flags, uncovered: Flags, extra: int
) -> Bytes:
    n, m = len(state), len(uncovered)
    action = np.zeros(n + m + extra, dtype=np.int8)
    action[:n] = np.where(state == applied, KEEP, np.where((state == 1) ^ turned, AT_ONE, AT_ZERO))
    action[n : n + m] = np.where(uncovered, KEEP, IDLE)
    return action


def _action_loops(
    state: Bytes, applied: Bytes, turned: Flags, uncovered: Flags, extra: int
) -> Bytes:
    n, m = len(state), len(uncovered)
    action = np.zeros(n + m + extra, dtype=np.int8)
    for j in range(n):
        if state[j] != applied[j]:
            action[j] = AT_ONE if (state[j] == 1) != turned[j] else AT_ZERO
    for i in range(m):
        if not uncovered[i]:
            action[n + i] = IDLE
    return action


actions = either(interpreted=_action_interpreted, loops=_action_loops, inner=True)
"""What becomes of every variable when a tableau catches up with what has been fixed."""


@inner_kernel
def _multipliers(
    table: Floats,
    basic: Ints,
    nonbasic: Ints,
    n: int,
    n_rows: int,
    infeasible: int,
    upper: float,
) -> Floats:
    """The multipliers of all rows, as the tableau has them."""
    surplus = np.flatnonzero(nonbasic >= n)
    where = nonbasic[surplus] - n
    y: Any = np.bincount(where, table[-1][surplus], n_rows)
    if infeasible >= 0:
        # The row that cannot be repaired proves any bound, given enough of it.
        line = table[infeasible]
        enough = (upper + table[-1, -1] + 1.0) / -line[-1]
        y += np.bincount(where, enough * line[surplus], n_rows)
        if basic[infeasible] >= n:
            y[basic[infeasible] - n] += enough
    return y  # type: ignore[no-any-return]


@kernel
def fix(
    objects_from: Ints,
    objects: Ints,
    coverers_from: Ints,
    coverers: Ints,
    size: int,
    state: Bytes,
    uncovered: Flags,
    degree: Ints,
    gain: Ints,
    chosen: Ints,
    excluded: Ints,
) -> bool:
    """Fix candidates and all that follows; whether that is possible within the size."""
    possible = propagate(
        objects_from,
        objects,
        coverers_from,
        coverers,
        state,
        uncovered,
        degree,
        gain,
        chosen,
        excluded,
    )
    if not possible:
        return False
    if size < 0:
        return True
    taken = np.count_nonzero(state == 1)
    return bool(taken < size or (taken == size and not uncovered.any()))


@kernel
def settle(  # noqa: C901, PLR0915 - one loop, all in one kernel
    objects_from: Ints,
    objects: Ints,
    coverers_from: Ints,
    coverers: Ints,
    costs: Floats,
    size: int,
    upper: int,
    state: Bytes,
    uncovered: Flags,
    degree: Ints,
    gain: Ints,
    applied: Bytes,
    turned: Flags,
    table: Floats,
    basic: Ints,
    nonbasic: Ints,
    weights: Floats,
    bound: float,
    fresh: bool,
    cells: int,
) -> tuple[int, float, Bytes, Floats, Ints, Ints, Floats, int, int]:
    """Solve the node's programme and fix by reduced cost until nothing changes.

    Parameters
    ----------
    costs : ndarray of float64
        Whole numbers.
    size : int
        The number of candidates to choose, or -1.
    upper : int
        The node is closed once covers below this cost are excluded.
    state, uncovered, degree, gain : ndarray
        What is fixed, see `propagation`; changed in place.
    applied, turned, table, basic, nonbasic, weights : ndarray
        The tableau, see `frri.cover._bound.simplex`, and what it knows of `state`.
    bound : float
        What has been proved already.
    fresh : bool
        Whether the tableau was made from the data for this node: then it is believed to be optimal,
        though never to be a proof.
    cells : int
        About how many cells of tableaus may be rewritten before a pause.

    Returns
    -------
    outcome, bound, applied, table, basic, nonbasic, weights, pivots, spent
    """
    n, m = len(state), len(uncovered)
    extra = 0 if size < 0 else 2
    droppable = np.array([n, n + m])
    stop_above = upper - 1 + 1e-7
    pivots, spent, outcome = 0, 0, OPEN
    while True:
        if (state != applied).any():
            action = actions(state, applied, turned, uncovered, extra)
            spent += table.size
            table, basic, nonbasic, weights = child(
                table, basic, nonbasic, weights, action, droppable
            )
            applied = state.copy()
        limit = max(1, (cells - spent) // table.size)
        status, steps, row = reoptimise(
            table, basic, nonbasic, weights, applied, turned, n, stop_above, limit
        )
        pivots += steps
        spent += steps * table.size
        if status == LP_PAUSED:
            outcome = PAUSED
            break
        infeasible = row if status == LP_INFEASIBLE else -1
        y = _multipliers(table, basic, nonbasic, n, m + extra, infeasible, upper)
        proved, reduced = exact_bound(objects_from, objects, y, costs, state, size)
        bound = max(bound, proved)
        if bound > upper - 1:
            outcome = CLOSED
            break
        room = upper - 1 - proved
        free = state == 0
        excluded = np.flatnonzero(free & (reduced > room))
        chosen = np.flatnonzero(free & (-reduced > room))
        if len(excluded) + len(chosen) > 0:
            if not fix(
                objects_from, objects, coverers_from, coverers, size,
                state, uncovered, degree, gain, chosen, excluded,
            ):  # fmt: skip
                outcome = CLOSED
                break
            ahead = state != applied
            structural = basic[basic < n]
            if ahead[structural].any() or (ahead & (turned | (state == 1))).any():
                continue
        if status == LP_OPTIMAL:
            rows = missing(
                table, basic, nonbasic, applied, turned, objects_from, objects, uncovered
            )
            if len(rows) == 0:
                break
            table, basic, weights = extend(
                table, basic, nonbasic, weights, applied, turned, coverers_from, coverers, rows
            )
            spent += table.size
        elif not fresh:
            outcome = DOUBTFUL
            break
        elif status == LP_INFEASIBLE or stop_above == np.inf:
            break
        else:
            stop_above = np.inf
    return outcome, bound, applied, table, basic, nonbasic, weights, pivots, spent


@kernel
def divide(
    table: Floats,
    basic: Ints,
    state: Bytes,
    turned: Flags,
    gains: Floats,
    tries: Floats,
    room: float,
) -> tuple[int, float]:
    """The candidate to branch on, -1 if none is fractional, and its value.

    It promises to raise the bound most on both sides, by the next pivot or by what earlier branches on
    it have gained.
    """
    rows = np.flatnonzero(basic < len(state))
    rows = rows[state[basic[rows]] == 0]
    values = table[:, -1][rows]
    between = (values > INTEGRAL) & (values < 1.0 - INTEGRAL)
    rows, values = rows[between], values[between]
    if len(rows) == 0:
        return -1, 0.0
    ids = basic[rows]
    first, second = penalties(table, rows)
    swap = turned[ids]
    down = np.where(swap, second, first)
    up = np.where(swap, first, second)
    values = np.where(swap, 1.0 - values, values)
    down = np.maximum(down, gains[0][ids] / np.maximum(tries[0][ids], 1.0)) * values
    up = np.maximum(up, gains[1][ids] / np.maximum(tries[1][ids], 1.0)) * (1.0 - values)
    merit = np.maximum(np.minimum(down, room), 1e-3) * np.maximum(np.minimum(up, room), 1e-3)
    best = np.argmax(merit)
    return ids[best], values[best]

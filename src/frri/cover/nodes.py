"""Kernels for one node of the search tree: solve its program, fix candidates, choose a branch."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frri._compile import inner_kernel, kernel
from frri._util import Flags, Floats, Ints
from frri.cover import simplex
from frri.cover.bounds import exact_bound
from frri.cover.matrix import CoverLists, shift
from frri.cover.simplex import Relaxation, child, extend, penalties, reoptimize, violated

Bytes = NDArray[np.int8]

OPEN, CLOSED, PAUSED, DOUBTFUL = 0, 1, 2, 3
"""Outcomes of `settle`; doubtful if the tableau suggests more than can be proved from it."""

CHOSEN, FREE, EXCLUDED = 1, 0, -1

KEEP, AT_ZERO, AT_ONE, IDLE = simplex.KEEP, simplex.AT_ZERO, simplex.AT_ONE, simplex.IDLE
LP_OPTIMAL, LP_INFEASIBLE, LP_PAUSED = simplex.OPTIMAL, simplex.INFEASIBLE, simplex.PAUSED
INTEGRAL = simplex.INTEGRAL

MINUS: Any = np.int64(-1)
"""Not a literal: for one, the kernel would be compiled once more."""

PROBED, PROBE_PIVOTS = 8, 30
"""Candidates probed by strong branching, and the pivots that each side of one may take."""


class CoverGoal(NamedTuple):
    """The covers that a search looks for.

    Attributes
    ----------
    costs : ndarray of float64
        Integers.
    size : int
        The number of candidates to choose, or -1.
    upper : int
        Only covers that cost less are of interest.
    """

    costs: Floats
    size: int
    upper: int


class Domains(NamedTuple):
    """The state of all candidates and objects in one node of a search.

    Attributes
    ----------
    state : ndarray of int8
        Per candidate: CHOSEN, FREE or EXCLUDED.
    uncovered : ndarray of bool
        Per object: whether no chosen candidate covers it.
    degree : ndarray of int64
        Per uncovered object: its coverers that are not excluded.
    gain : ndarray of int64
        Per candidate: the uncovered objects that it covers.
    """

    state: Bytes
    uncovered: Flags
    degree: Ints
    gain: Ints

    def copy(self) -> "Domains":
        """Return an independent copy."""
        state, uncovered, degree, gain = self
        return Domains(state.copy(), uncovered.copy(), degree.copy(), gain.copy())


class Pseudocosts(NamedTuple):
    """Gains of the objective per unit, from pushing candidates down (0) or up (1), and counts."""

    gains: Floats
    tries: Floats


@inner_kernel
def _propagate(  # noqa: C901, PLR0912 - one loop, all in one kernel
    lists: CoverLists, domains: Domains, chosen: Ints, excluded: Ints
) -> bool:
    """Choose and exclude candidates and all that follows; return whether that is possible.

    An object with one coverer left forces it; a candidate that covers nothing uncovered is
    excluded.
    """
    state, uncovered, degree, gain = domains
    queue = np.empty(len(gain) + len(chosen), dtype=np.int64)
    np.positive(chosen, queue[: len(chosen)])
    end = len(chosen)
    for j in chosen:
        state[j] = CHOSEN
    for j in excluded:
        state[j] = EXCLUDED
        shift(degree, lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]], MINUS)
    for j in excluded:
        for i in lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]]:
            if uncovered[i] and degree[i] <= 1:
                for k in lists.coverers[lists.coverers_from[i] : lists.coverers_from[i + 1]]:
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
        for i in lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]]:
            if uncovered[i]:
                uncovered[i] = False
                members = lists.coverers[lists.coverers_from[i] : lists.coverers_from[i + 1]]
                shift(gain, members, MINUS)
                for k in members[(gain[members] == 0) & (state[members] == FREE)]:
                    state[k] = EXCLUDED
    return True


@kernel
def fix(lists: CoverLists, size: int, domains: Domains, chosen: Ints, excluded: Ints) -> bool:
    """Fix candidates and all that follows; return whether that is possible within the size."""
    if not _propagate(lists, domains, chosen, excluded):
        return False
    if size < 0:
        return True
    taken = np.count_nonzero(domains.state == CHOSEN)
    return bool(taken < size or (taken == size and not domains.uncovered.any()))


@inner_kernel
def _actions(domains: Domains, lp: Relaxation, extra: int) -> Bytes:
    """Return what becomes of every variable when a tableau takes in what has been fixed."""
    state, n, m = domains.state, len(domains.state), len(domains.uncovered)
    action = np.zeros(n + m + extra, dtype=np.int8)
    for j in np.flatnonzero(state != lp.fixed):
        action[j] = AT_ONE if (state[j] == CHOSEN) != lp.flipped[j] else AT_ZERO
    action[n + np.flatnonzero(~domains.uncovered)] = IDLE
    return action


@inner_kernel
def _multipliers(lp: Relaxation, n_rows: int, infeasible: int, upper: float) -> Floats:
    """Return the multipliers of all rows, as the tableau has them."""
    n = len(lp.fixed)
    surplus = np.flatnonzero(lp.nonbasic >= n)
    where = lp.nonbasic[surplus] - n
    y: Any = np.bincount(where, lp.table[-1][surplus], n_rows)
    if infeasible >= 0:
        # The row that cannot be repaired proves any bound, given enough of it.
        line = lp.table[infeasible]
        enough = (upper + lp.table[-1, -1] + 1.0) / -line[-1]
        y += np.bincount(where, enough * line[surplus], n_rows)
        if lp.basic[infeasible] >= n:
            y[lp.basic[infeasible] - n] += enough
    return y  # type: ignore[no-any-return]


@kernel
def settle(  # noqa: C901 - one loop, all in one kernel
    lists: CoverLists,
    goal: CoverGoal,
    domains: Domains,
    lp: Relaxation,
    bound: float,
    fresh: bool,
    cells: int,
) -> tuple[int, float, Relaxation, int, int]:
    """Solve the node's program and fix by reduced cost until nothing changes.

    Parameters
    ----------
    lists : CoverLists
    goal : CoverGoal
        The node is closed once covers below its upper limit are excluded.
    domains : Domains
        Changed in place; may be ahead of `lp`.
    lp : Relaxation
    bound : float
        The bound proved so far.
    fresh : bool
        Whether the tableau was made from the data for this node: then it is believed to be optimal,
        though never to be a proof.
    cells : int
        About how many cells of tableaus may be rewritten before a pause.

    Returns
    -------
    outcome, bound, lp, pivots, spent
    """
    state, n, m = domains.state, len(domains.state), len(domains.uncovered)
    upper, extra = goal.upper, 0 if goal.size < 0 else 2
    droppable = np.array([n, n + m])
    stop_above = upper - 1 + 1e-7
    pivots, spent, outcome = 0, 0, OPEN
    while True:
        if (state != lp.fixed).any():
            spent += lp.table.size
            lp = child(lp, _actions(domains, lp, extra), state.copy(), droppable)
        limit = max(1, (cells - spent) // lp.table.size)
        status, steps, row = reoptimize(lp, stop_above, limit)
        pivots += steps
        spent += steps * lp.table.size
        if status == LP_PAUSED:
            outcome = PAUSED
            break
        infeasible = row if status == LP_INFEASIBLE else -1
        y = _multipliers(lp, m + extra, infeasible, upper)
        proved, reduced = exact_bound(lists, y, goal.costs, state, goal.size)
        bound = max(bound, proved)
        if bound > upper - 1:
            outcome = CLOSED
            break
        room = upper - 1 - proved
        free = state == FREE
        excluded = np.flatnonzero(free & (reduced > room))
        chosen = np.flatnonzero(free & (-reduced > room))
        if len(excluded) + len(chosen) > 0:
            if not fix(lists, goal.size, domains, chosen, excluded):
                outcome = CLOSED
                break
            ahead = state != lp.fixed
            structural = lp.basic[lp.basic < n]
            if ahead[structural].any() or (ahead & (lp.flipped | (state == CHOSEN))).any():
                continue
        if status == LP_OPTIMAL:
            rows = violated(lp, lists, domains.uncovered)
            if len(rows) == 0:
                break
            lp = extend(lp, lists, rows)
            spent += lp.table.size
        elif not fresh:
            outcome = DOUBTFUL
            break
        elif status == LP_INFEASIBLE or stop_above == np.inf:
            break
        else:
            stop_above = np.inf
    return outcome, bound, lp, pivots, spent


@kernel
def choose_branch(
    lp: Relaxation, state: Bytes, costs: Pseudocosts, bound: float, upper: int
) -> tuple[int, float, int, int]:
    """Choose the candidate to branch on: the one expected to raise the bound most on both sides.

    The promise is the gain of the next pivot or, if larger, the mean gain of earlier branches on
    it. The most promising candidates that were never branched on are probed first (strong
    branching).

    Returns
    -------
    candidate, value, pivots, spent
        The candidate is -1 if none is fractional.
    """
    rows = np.flatnonzero(lp.basic < len(state))
    rows = rows[state[lp.basic[rows]] == FREE]
    values = lp.table[:, -1][rows]
    between = (values > INTEGRAL) & (values < 1.0 - INTEGRAL)
    rows, values = rows[between], values[between]
    pivots, spent = 0, 0
    if len(rows) == 0:
        return -1, 0.0, pivots, spent
    ids = lp.basic[rows]
    down, up = penalties(lp.table, rows)
    for k in np.flatnonzero(lp.flipped[ids]):
        values[k] = 1.0 - values[k]
        down[k], up[k] = up[k], down[k]
    merit = _merit(down, up, ids, values, costs, upper - bound)
    for _ in range(min(PROBED, len(merit))):
        k = np.argmax(merit)
        merit[k] = -np.inf
        for side in range(2):
            if costs.tries[side, ids[k]] == 0.0:
                gain, steps, size = _probe(lp, ids[k], side, upper)
                distance = 1.0 - values[k] if side else values[k]
                costs.gains[side, ids[k]] = gain / distance
                costs.tries[side, ids[k]] = 1.0
                pivots += steps
                spent += (steps + 1) * size
    best = np.argmax(_merit(down, up, ids, values, costs, upper - bound))
    return ids[best], values[best], pivots, spent


@inner_kernel
def _merit(
    down: Floats, up: Floats, ids: Ints, values: Floats, costs: Pseudocosts, room: float
) -> Floats:
    """Return the product of the gains that candidates promise on both sides."""
    gains, tries = costs.gains, costs.tries
    fall = np.maximum(down, gains[0][ids] / np.maximum(tries[0][ids], 1.0)) * values
    rise = np.maximum(up, gains[1][ids] / np.maximum(tries[1][ids], 1.0)) * (1.0 - values)
    product: Floats = np.maximum(np.minimum(fall, room), 1e-3)
    product *= np.maximum(np.minimum(rise, room), 1e-3)
    return product


@inner_kernel
def _probe(lp: Relaxation, candidate: int, side: int, upper: int) -> tuple[float, int, int]:
    """Return the gain of the objective from fixing a candidate, after a few pivots."""
    variables = np.concatenate((lp.basic, lp.nonbasic))
    action = np.zeros(variables.max() + 1, dtype=np.int8)
    action[candidate] = AT_ONE if (side == 1) != lp.flipped[candidate] else AT_ZERO
    fixed = lp.fixed.copy()
    fixed[candidate] = CHOSEN if side else EXCLUDED
    trial = child(lp, action, fixed, np.zeros(2, dtype=np.int64))
    trial = Relaxation(
        trial.table, trial.basic, trial.nonbasic, trial.weights, fixed, lp.flipped.copy()
    )
    status, pivots, _ = reoptimize(trial, upper - 1 + 1e-7, PROBE_PIVOTS)
    reached = upper if status == LP_INFEASIBLE else min(-trial.table[-1, -1], upper)
    return max(reached + lp.table[-1, -1], 0.0), pivots, trial.table.size

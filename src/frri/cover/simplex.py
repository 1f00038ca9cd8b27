"""Dual simplex on a dense, condensed tableau: the linear program behind every bound.

A tableau of `r` basic and `c` nonbasic variables is an array of shape (r + 1, c + 1): row `i`
states that the basic variable is `table[i, c]` minus `table[i, :c]` times the nonbasic ones; the
last row holds the reduced costs and, in its last column, minus the value of the objective.
Variables `0 .. n - 1` are the candidates, `n + i` is the surplus of row `i` (how often its object
is covered beyond once).

All decisions rest on elementwise operations in a fixed order, so that interpreted and compiled
kernels make exactly the same pivots. Proofs do not rely on the tableau: see `frri.cover.bounds`.
"""

from typing import NamedTuple

import numpy as np

from frri._compile import either, inner_kernel
from frri._util import Flags, Floats, Ints
from frri.cover.matrix import Bytes, CoverLists, shift

OPTIMAL, ABOVE, INFEASIBLE, PAUSED = 0, 1, 2, 3
# A variable in a child is kept, fixed, or (a surplus) no longer a restriction.
KEEP, AT_ZERO, AT_ONE, IDLE = 0, 1, 2, 3

FEASIBLE = 1e-9
SMALLEST_PIVOT = 1e-7
TIE = 1e-10
INTEGRAL = 1e-6
VIOLATED = 1e-6
AMPLE = 0.3
LARGEST_WEIGHT = 1e6


class Relaxation(NamedTuple):
    """The linear program of a node."""

    table: Floats  # the tableau
    basic: Ints  # variables of its rows
    nonbasic: Ints  # variables of its columns; -1 for a column that is empty
    weights: Floats  # of its rows in the Devex rule
    fixed: Bytes  # candidates fixed in the tableau: 1 chosen, 0 free, -1 excluded
    flipped: Flags  # candidates that the tableau contains as one minus themselves


@inner_kernel
def reoptimize(  # noqa: C901 - one loop, all in one kernel
    lp: Relaxation, stop_above: float, max_pivots: int
) -> tuple[int, int, int]:
    """Pivot until primal feasible, above `stop_above`, provably stuck, or `max_pivots` are spent.

    Rows leave by the Devex rule; among near ties in the ratio test the largest pivot enters. A
    fixed variable that leaves never comes back: its column is emptied. Candidates may be taken at
    most once.

    Returns
    -------
    status, pivots, row
        `row` is the one without an entering column if the status is INFEASIBLE.
    """
    table, basic, nonbasic, weights, fixed, _ = lp
    n_candidates = len(fixed)
    pivots = 0
    if len(weights) > 0 and weights.max() > LARGEST_WEIGHT:
        weights[:] = 1.0
    held = np.flatnonzero(basic < n_candidates)
    held = held[fixed[basic[held]] != 0]
    while True:
        for i in held:
            # Neither above nor below its value: from above, the row is mirrored.
            if table[i, -1] > FEASIBLE and basic[i] < n_candidates and fixed[basic[i]]:
                line = table[i]
                line *= -1.0
        row = _leaving(table, weights)
        if row < 0 and _flip_above_one(lp):
            row = _leaving(table, weights)
        if row < 0:
            return OPTIMAL, pivots, row
        if pivots >= max_pivots:
            return PAUSED, pivots, row
        column = _entering(table, row)
        if column < 0:
            return INFEASIBLE, pivots, row
        _pivot(table, weights, row, column)
        pivots += 1
        leaves = basic[row]
        basic[row] = nonbasic[column]
        nonbasic[column] = leaves
        if leaves < n_candidates and fixed[leaves]:
            table[:, column] = 0.0
            nonbasic[column] = -1
        if -table[-1, -1] > stop_above:
            return ABOVE, pivots, row


@inner_kernel
def _leaving(table: Floats, weights: Floats) -> int:
    """Return the row to leave, -1 if all are feasible."""
    if len(weights) == 0:
        return -1
    rhs = table[:-1, -1]
    merit = (rhs < -FEASIBLE) * (rhs * rhs / weights)
    row = merit.argmax()
    return row if merit[row] > 0.0 else -1  # type: ignore[return-value]


@inner_kernel
def _entering(table: Floats, row: int) -> int:
    """Return the column to enter, -1 if there is none."""
    able = np.flatnonzero(table[row, :-1] < -SMALLEST_PIVOT)
    if len(able) == 0:
        return -1
    size = -table[row][able]
    ratio = np.maximum(table[-1][able], 0.0) / size
    return able[((ratio <= ratio.min() + TIE) * size).argmax()]  # type: ignore[no-any-return]


def _pivot_arrays(table: Floats, weights: Floats, row: int, column: int) -> None:
    pivot = table[row, column]
    line = table[row] / pivot
    quotient = table[:, column] / pivot
    reference = weights[row]
    np.maximum(weights, quotient[:-1] * quotient[:-1] * reference, out=weights)
    weights[row] = max(reference / (pivot * pivot), 1.0)
    rows = np.flatnonzero(table[:, column])
    if 2 * len(rows) > len(table):
        table -= np.multiply.outer(table[:, column], line)
    else:
        table[rows] -= np.multiply.outer(table[rows, column], line)
    table[:, column] = -quotient
    table[row] = line
    table[row, column] = 1.0 / pivot


def _pivot_loops(table: Floats, weights: Floats, row: int, column: int) -> None:
    n_rows, n_columns = table.shape
    pivot = table[row, column]
    line = table[row] / pivot
    reference = weights[row]
    for i in range(n_rows):
        factor = table[i, column]
        if i == row or factor == 0.0:
            continue
        for k in range(n_columns):
            table[i, k] -= factor * line[k]
        quotient = factor / pivot
        table[i, column] = -quotient
        if i < n_rows - 1:
            weights[i] = max(weights[i], quotient * quotient * reference)
    weights[row] = max(reference / (pivot * pivot), 1.0)
    for k in range(n_columns):
        table[row, k] = line[k]
    table[row, column] = 1.0 / pivot


_pivot = either(interpreted=_pivot_arrays, loops=_pivot_loops, inner=True)


@inner_kernel
def _flip_above_one(lp: Relaxation) -> bool:
    """Mirror the candidates that are taken more than once; return whether there were any."""
    any_above = False
    n_candidates = len(lp.fixed)
    for i in np.flatnonzero(lp.table[:-1, -1] > 1.0 + FEASIBLE):
        candidate = lp.basic[i]
        if candidate < n_candidates and not lp.fixed[candidate]:
            line = lp.table[i]
            line *= -1.0
            line[-1] += 1.0
            lp.flipped[candidate] = not lp.flipped[candidate]
            any_above = True
    return any_above


@inner_kernel
def child(lp: Relaxation, action: Bytes, fixed: Bytes, droppable: Ints) -> Relaxation:
    """Fix some variables and leave out the columns and rows that no longer matter.

    A variable fixed at one moves the right-hand sides, its own by one if it is basic: from then on
    it is the amount by which it exceeds one. Basic variables that are fixed leave at the next
    pivots. Rows of the `droppable` range of variables that hold amply are left out until `violated`
    finds them violated.
    """
    table, basic, nonbasic, weights = lp.table, lp.basic, lp.nonbasic, lp.weights
    what = action[nonbasic]
    what[nonbasic < 0] = AT_ZERO
    base = action[basic]
    last = np.array([len(nonbasic)])
    columns = np.concatenate((np.flatnonzero((what == KEEP) | (what == IDLE)), last))
    ample = (basic >= droppable[0]) & (basic < droppable[1]) & (table[:-1, -1] > AMPLE)
    kept = np.flatnonzero((base != IDLE) & ~ample)
    some = table[np.concatenate((kept, np.array([len(basic)])))]
    smaller = np.ascontiguousarray(some[:, columns])
    for k in np.flatnonzero(what == AT_ONE):
        smaller[:, -1] -= some[:, k]
    for i in np.flatnonzero(base[kept] == AT_ONE):
        smaller[i, -1] -= 1.0
    return Relaxation(
        smaller, basic[kept], nonbasic[columns[:-1]], weights[kept], fixed, lp.flipped
    )


@inner_kernel
def penalties(table: Floats, rows: Ints) -> tuple[Floats, Floats]:
    """Return the least gain of the objective, per unit, from pushing basic variables down or up."""
    down, up = np.full(len(rows), np.inf), np.full(len(rows), np.inf)
    costs = np.maximum(table[-1], 0.0)
    for r in range(len(rows)):
        entries = table[rows[r], :-1]
        for gains, signed in ((down, entries), (up, -entries)):
            able = np.flatnonzero(signed > SMALLEST_PIVOT)
            if len(able) > 0:
                gains[r] = (costs[able] / signed[able]).min()
    return down, up


@inner_kernel
def violated(lp: Relaxation, lists: CoverLists, uncovered: Flags) -> Ints:
    """Return the objects whose rows were left out and which the solution does not cover."""
    n, m = len(lp.fixed), len(uncovered)
    rows = np.flatnonzero(lp.basic < n)
    rows = rows[lp.fixed[lp.basic[rows]] == 0]
    covered = np.zeros(m)
    for row in rows:
        j = lp.basic[row]
        value = lp.table[row, -1]
        members = lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]]
        shift(covered, members, 1.0 - value if lp.flipped[j] else value)
    for j in lp.nonbasic:
        if 0 <= j < n and lp.flipped[j] and lp.fixed[j] == 0:
            shift(covered, lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]], 1.0)
    present = np.zeros(m + n + 2, dtype=np.bool_)
    present[lp.basic] = True
    present[lp.nonbasic[lp.nonbasic >= 0]] = True
    return np.flatnonzero(uncovered & ~present[n : n + m] & (covered < 1.0 - VIOLATED))


@inner_kernel
def extend(lp: Relaxation, lists: CoverLists, rows: Ints) -> Relaxation:
    """Add the rows of some objects, expressed in the nonbasic variables."""
    n, height, width = len(lp.fixed), len(lp.basic), len(lp.nonbasic)
    place = np.zeros(n, dtype=np.int64)
    for i in range(height):
        if lp.basic[i] < n:
            place[lp.basic[i]] = i + 1
    for k in range(width):
        if 0 <= lp.nonbasic[k] < n:
            place[lp.nonbasic[k]] = -k - 1
    larger = np.zeros((height + len(rows) + 1, width + 1))
    np.positive(lp.table[:height], larger[:height])
    np.positive(lp.table[-1], larger[-1])
    for k in range(len(rows)):
        line = larger[height + k]
        line[width] = -1.0
        for j in lists.coverers[lists.coverers_from[rows[k]] : lists.coverers_from[rows[k] + 1]]:
            if lp.fixed[j] != 0 or place[j] == 0:
                continue
            sign = -1.0 if lp.flipped[j] else 1.0
            if lp.flipped[j]:
                line[width] += 1.0
            if place[j] > 0:
                line += sign * lp.table[place[j] - 1]
            else:
                line[-place[j] - 1] -= sign
    basic = np.concatenate((lp.basic, rows + n))
    weights = np.concatenate((lp.weights, np.ones(len(rows))))
    return Relaxation(larger, basic, lp.nonbasic, weights, lp.fixed, lp.flipped)

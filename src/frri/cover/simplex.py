"""Dual simplex on a dense, condensed tableau: the linear programme behind every bound.

A tableau of `r` basic and `c` nonbasic variables is an array of shape (r + 1, c + 1): row `i` says that
the basic variable is `table[i, c]` minus `table[i, :c]` times the nonbasic ones; the last row holds the
reduced costs and, in its last column, minus the value of the objective. Variables `0 .. n - 1` are the
candidates, `n + i` is the surplus of row `i` (by how much it is covered more often than once).

All decisions rest on elementwise operations in a fixed order, so that the interpreted and the compiled
form walk through exactly the same pivots. Nothing here is trusted as a proof: see `bounds`.
"""

import numpy as np
from numpy.typing import NDArray

from frri._compile import either, inner_kernel
from frri._util import Flags, Floats, Ints

Bytes = NDArray[np.int8]
Tableau = tuple[Floats, Ints, Ints, Floats]
"""The table, its basic and nonbasic variables, and the weights of its rows in the Devex rule."""

OPTIMAL, ABOVE, INFEASIBLE, PAUSED = 0, 1, 2, 3
KEEP, AT_ZERO, AT_ONE, IDLE = 0, 1, 2, 3
"""What becomes of a variable in a child: stays, is fixed, or (a surplus) no longer restricts anything."""

FEASIBLE = 1e-9
SMALLEST_PIVOT = 1e-7
TIE = 1e-10
INTEGRAL = 1e-6
VIOLATED = 1e-6
AMPLE = 0.3
LARGEST_WEIGHT = 1e6


def _leaving_interpreted(table: Floats, weights: Floats) -> int:
    rhs = table[:-1, -1]
    merit = np.where(rhs < -FEASIBLE, rhs * rhs / weights, -1.0)
    row = int(merit.argmax()) if len(merit) else -1
    return row if row >= 0 and merit[row] >= 0.0 else -1


def _leaving_loops(table: Floats, weights: Floats) -> int:
    last = table.shape[1] - 1
    best, row = -1.0, -1
    for i in range(table.shape[0] - 1):
        rhs = table[i, last]
        if rhs < -FEASIBLE:
            merit = rhs * rhs / weights[i]
            if merit > best:
                best = merit
                row = i
    return row


_leaving = either(interpreted=_leaving_interpreted, loops=_leaving_loops, inner=True)


def _entering_interpreted(table: Floats, row: int) -> int:
    line = table[row, :-1]
    able = np.flatnonzero(line < -SMALLEST_PIVOT)
    if len(able) == 0:
        return -1
    size = -line[able]
    ratio = np.maximum(table[-1, able], 0.0) / size
    near = ratio <= ratio.min() + TIE
    return int(able[np.where(near, size, 0.0).argmax()])


def _entering_loops(table: Floats, row: int) -> int:
    last = table.shape[0] - 1
    least = np.inf
    for k in range(table.shape[1] - 1):
        if table[row, k] < -SMALLEST_PIVOT:
            least = min(least, max(table[last, k], 0.0) / -table[row, k])
    column, largest = -1, 0.0
    for k in range(table.shape[1] - 1):
        size = -table[row, k]
        if (
            size > SMALLEST_PIVOT
            and size > largest
            and max(table[last, k], 0.0) / size <= least + TIE
        ):
            column = k
            largest = size
    return column


_entering = either(interpreted=_entering_interpreted, loops=_entering_loops, inner=True)


def _pivot_interpreted(table: Floats, weights: Floats, row: int, column: int) -> None:
    pivot = table[row, column]
    line = table[row] / pivot
    factors = table[:, column].copy()
    rows = np.flatnonzero(factors)
    quotient = factors / pivot
    reference = weights[row]
    np.maximum(weights, quotient[:-1] * quotient[:-1] * reference, out=weights)
    weights[row] = max(reference / (pivot * pivot), 1.0)
    if 2 * len(rows) > len(factors):
        table -= factors[:, None] * line
    else:
        table[rows] -= factors[rows, None] * line
    table[:, column] = -quotient
    table[row] = line
    table[row, column] = 1.0 / pivot


def _pivot_loops(table: Floats, weights: Floats, row: int, column: int) -> None:
    n_rows, n_columns = table.shape
    pivot = table[row, column]
    line = table[row] / pivot
    busy = np.flatnonzero(line)
    sparse = 3 * len(busy) < n_columns
    reference = weights[row]
    for i in range(n_rows):
        factor = table[i, column]
        if i == row or factor == 0.0:
            continue
        if sparse:
            for busy_column in busy:
                table[i, busy_column] -= factor * line[busy_column]
        else:
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


_pivot = either(interpreted=_pivot_interpreted, loops=_pivot_loops, inner=True)


@inner_kernel
def _turn_those_above_one(
    table: Floats, basic: Ints, fixed: Bytes, turned: Flags, n_candidates: int
) -> bool:
    """Count candidates taken more than once from one downwards; whether there were any."""
    any_above = False
    for i in np.flatnonzero(table[:-1, -1] > 1.0 + FEASIBLE):
        if basic[i] < n_candidates and not fixed[basic[i]]:
            line = table[i]
            line *= -1.0
            line[-1] += 1.0
            turned[basic[i]] = not turned[basic[i]]
            any_above = True
    return any_above


@inner_kernel
def reoptimise(  # noqa: C901 - one loop, all in one kernel
    table: Floats,
    basic: Ints,
    nonbasic: Ints,
    weights: Floats,
    fixed: Bytes,
    turned: Flags,
    n_candidates: int,
    stop_above: float,
    max_pivots: int,
) -> tuple[int, int, int]:
    """Pivot until primal feasible, above `stop_above`, provably stuck, or `max_pivots` are spent.

    Rows leave by the Devex rule; among near ties in the ratio test the largest pivot enters. A fixed
    variable that leaves never comes back: its column is emptied. Candidates may be taken at most once;
    a `turned` one stands in the tableau for one minus itself.

    Returns
    -------
    status, pivots, row
        `row` is the one without an entering column if the status is INFEASIBLE.
    """
    last_row = table.shape[0] - 1
    last_column = table.shape[1] - 1
    pivots = 0
    if len(weights) > 0 and weights.max() > LARGEST_WEIGHT:
        weights[:] = 1.0
    held = np.flatnonzero(basic < n_candidates)
    held = held[fixed[basic[held]] != 0]
    while True:
        for i in held:
            # Neither above nor below its value: from above, the row is turned round.
            if table[i, last_column] > FEASIBLE and basic[i] < n_candidates and fixed[basic[i]]:
                line = table[i]
                line *= -1.0
        row = _leaving(table, weights)
        if row < 0 and _turn_those_above_one(table, basic, fixed, turned, n_candidates):
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
        if -table[last_row, last_column] > stop_above:
            return ABOVE, pivots, row


def _child_interpreted(
    table: Floats, basic: Ints, nonbasic: Ints, weights: Floats, action: Bytes, droppable: Ints
) -> Tableau:
    what = np.where(nonbasic >= 0, action[nonbasic], AT_ZERO)
    base = action[basic]
    last = table.shape[1] - 1
    columns = np.append(np.flatnonzero((what == KEEP) | (what == IDLE)), last)
    ample = (basic >= droppable[0]) & (basic < droppable[1]) & (table[:-1, last] > AMPLE)
    rows = np.append(np.flatnonzero((base != IDLE) & ~ample), len(basic))
    child = table[rows][:, columns]
    for k in np.flatnonzero(what == AT_ONE):
        child[:, -1] -= table[rows, k]
    kept = base[rows[:-1]]
    ones = np.flatnonzero(kept == AT_ONE)
    child[ones, -1] -= 1.0
    return child, basic[rows[:-1]], nonbasic[columns[:-1]], weights[rows[:-1]]


def _child_loops(  # noqa: C901 - one pass over everything
    table: Floats, basic: Ints, nonbasic: Ints, weights: Floats, action: Bytes, droppable: Ints
) -> Tableau:
    n_rows, n_columns = len(basic), len(nonbasic)
    columns = np.empty(n_columns + 1, dtype=np.int64)
    ones = np.empty(n_columns, dtype=np.int64)
    width, n_ones = 0, 0
    for k in range(n_columns):
        what = action[nonbasic[k]] if nonbasic[k] >= 0 else AT_ZERO
        if what in (KEEP, IDLE):
            columns[width] = k
            width += 1
        elif what == AT_ONE:
            ones[n_ones] = k
            n_ones += 1
    columns[width] = n_columns
    height = 0
    kept = np.ones(n_rows + 1, dtype=np.bool_)
    for i in range(n_rows):
        ample = basic[i] >= droppable[0] and basic[i] < droppable[1] and table[i, n_columns] > AMPLE
        kept[i] = not ample and action[basic[i]] != IDLE
        height += kept[i]
    child = np.empty((height + 1, width + 1))
    basis = np.empty(height, dtype=np.int64)
    measure = np.empty(height)
    row = 0
    for i in range(n_rows + 1):
        what = KEEP
        if not kept[i]:
            continue
        if i < n_rows:
            what = action[basic[i]]
            basis[row] = basic[i]
            measure[row] = weights[i]
        for k in range(width + 1):
            child[row, k] = table[i, columns[k]]
        for k in range(n_ones):
            child[row, width] -= table[i, ones[k]]
        if what == AT_ONE:
            child[row, width] -= 1.0
        row += 1
    return child, basis, nonbasic[columns[:width]], measure


child = either(interpreted=_child_interpreted, loops=_child_loops, inner=True)
"""The tableau after fixing some variables, without the columns and rows that no longer matter.

A variable fixed at one moves the right-hand sides, its own by one if it is basic: from then on it stands
for what it exceeds one by. Basic variables that are fixed leave at the next pivots. Rows of the
`droppable` range of variables that hold amply are left out until `missing` finds them violated.
"""


def _penalties_interpreted(table: Floats, rows: Ints) -> tuple[Floats, Floats]:
    costs = np.maximum(table[-1, :-1], 0.0)
    down = np.full(len(rows), np.inf)
    up = np.full(len(rows), np.inf)
    for k, row in enumerate(rows):
        line = table[row, :-1]
        falls = line > SMALLEST_PIVOT
        if falls.any():
            down[k] = (costs[falls] / line[falls]).min()
        rises = line < -SMALLEST_PIVOT
        if rises.any():
            up[k] = (costs[rises] / -line[rises]).min()
    return down, up


def _penalties_loops(table: Floats, rows: Ints) -> tuple[Floats, Floats]:
    last = table.shape[0] - 1
    down = np.full(len(rows), np.inf)
    up = np.full(len(rows), np.inf)
    for r in range(len(rows)):
        row = rows[r]
        for k in range(table.shape[1] - 1):
            entry = table[row, k]
            if entry > SMALLEST_PIVOT:
                down[r] = min(down[r], max(table[last, k], 0.0) / entry)
            elif entry < -SMALLEST_PIVOT:
                up[r] = min(up[r], max(table[last, k], 0.0) / -entry)
    return down, up


penalties = either(interpreted=_penalties_interpreted, loops=_penalties_loops, inner=True)
"""What the objective gains at least per unit, at the next pivot, by pushing a basic variable down or up."""


def _missing_interpreted(
    table: Floats,
    basic: Ints,
    nonbasic: Ints,
    state: Bytes,
    turned: Flags,
    objects_from: Ints,
    objects: Ints,
    uncovered: Flags,
) -> Ints:
    n, m = len(state), len(uncovered)
    rows = np.flatnonzero(basic < n)
    rows = rows[state[basic[rows]] == 0]
    up = np.flatnonzero(nonbasic >= 0)
    up = nonbasic[up[nonbasic[up] < n]]
    up = up[turned[up] & (state[up] == 0)]
    values = table[rows, -1]
    values = np.concatenate((np.where(turned[basic[rows]], 1.0 - values, values), np.ones(len(up))))
    ids = np.concatenate((basic[rows], up))
    sizes = objects_from[ids + 1] - objects_from[ids]
    ends = np.cumsum(sizes)
    source = np.repeat(objects_from[ids] - ends + sizes, sizes) + np.arange(sizes.sum())
    met = np.bincount(objects[source], weights=np.repeat(values, sizes), minlength=m)
    present = np.zeros(m + n + 2, dtype=np.bool_)
    present[basic] = True
    present[nonbasic[nonbasic >= 0]] = True
    return np.flatnonzero(uncovered & ~present[n : n + m] & (met < 1.0 - VIOLATED))


def _missing_loops(
    table: Floats,
    basic: Ints,
    nonbasic: Ints,
    state: Bytes,
    turned: Flags,
    objects_from: Ints,
    objects: Ints,
    uncovered: Flags,
) -> Ints:
    n, m = len(state), len(uncovered)
    last = table.shape[1] - 1
    met = np.zeros(m)
    present = np.zeros(m + n + 2, dtype=np.bool_)
    for i in range(len(basic)):
        j = basic[i]
        present[j] = True
        if j < n and state[j] == 0:
            value = 1.0 - table[i, last] if turned[j] else table[i, last]
            for k in range(objects_from[j], objects_from[j + 1]):
                met[objects[k]] += value
    for i in range(len(nonbasic)):
        j = nonbasic[i]
        if j < 0:
            continue
        present[j] = True
        if j < n and turned[j] and state[j] == 0:
            for k in range(objects_from[j], objects_from[j + 1]):
                met[objects[k]] += 1.0
    found = np.empty(m, dtype=np.int64)
    count = 0
    for i in range(m):
        if uncovered[i] and not present[n + i] and met[i] < 1.0 - VIOLATED:
            found[count] = i
            count += 1
    return found[:count]


missing = either(interpreted=_missing_interpreted, loops=_missing_loops, inner=True)
"""The objects whose rows were left out and which the solution does not cover."""


@inner_kernel
def extend(
    table: Floats,
    basic: Ints,
    nonbasic: Ints,
    weights: Floats,
    state: Bytes,
    turned: Flags,
    coverers_from: Ints,
    coverers: Ints,
    rows: Ints,
) -> tuple[Floats, Ints, Floats]:
    """The tableau with the rows of some objects, expressed in its nonbasic variables."""
    n, height, width = len(state), len(basic), len(nonbasic)
    place = np.zeros(n, dtype=np.int64)
    for i in range(height):
        if basic[i] < n:
            place[basic[i]] = i + 1
    for k in range(width):
        if 0 <= nonbasic[k] < n:
            place[nonbasic[k]] = -k - 1
    larger = np.zeros((height + len(rows) + 1, width + 1))
    np.positive(table[:height], larger[:height])
    np.positive(table[-1], larger[-1])
    for k in range(len(rows)):
        line = larger[height + k]
        line[width] = -1.0
        for j in coverers[coverers_from[rows[k]] : coverers_from[rows[k] + 1]]:
            if state[j] != 0 or place[j] == 0:
                continue
            sign = -1.0 if turned[j] else 1.0
            if turned[j]:
                line[width] += 1.0
            if place[j] > 0:
                line += sign * table[place[j] - 1]
            else:
                line[-place[j] - 1] -= sign
    basis = np.concatenate((basic, rows + n))
    return larger, basis, np.concatenate((weights, np.ones(len(rows))))

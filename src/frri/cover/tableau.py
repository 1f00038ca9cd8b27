"""Dual simplex on a dense, condensed tableau: the linear programme behind every bound.

A tableau of `r` basic and `c` nonbasic variables is an array of shape (r + 1, c + 1): row `i` says that
the basic variable is `table[i, c]` minus `table[i, :c]` times the nonbasic ones; the last row holds the
reduced costs and, in its last column, minus the value of the objective. Variables `0 .. n - 1` are the
candidates, `n + i` is the surplus of row `i` (by how much it is covered more often than once).

All decisions rest on elementwise operations in a fixed order, so that the interpreted and the compiled
form walk through exactly the same pivots. Nothing here is trusted as a proof: see `bounds`.
"""

import numpy as np

from frri.compiling import either, kernel

OPTIMAL, ABOVE, INFEASIBLE, PAUSED = 0, 1, 2, 3
KEEP, AT_ZERO, AT_ONE, IDLE = 0, 1, 2, 3
"""What becomes of a variable in a child: stays, is fixed, or (a surplus) no longer restricts anything."""

FEASIBLE = 1e-9
SMALLEST_PIVOT = 1e-7
TIE = 1e-10
INTEGRAL = 1e-6


def _leaving_interpreted(table, weights):
    rhs = table[:-1, -1]
    merit = np.where(rhs < -FEASIBLE, rhs * rhs / weights, -1.0)
    row = int(merit.argmax()) if len(merit) else -1
    return row if row >= 0 and merit[row] > 0.0 else -1


def _leaving_loops(table, weights):
    last = table.shape[1] - 1
    best, row = 0.0, -1
    for i in range(table.shape[0] - 1):
        rhs = table[i, last]
        if rhs < -FEASIBLE:
            merit = rhs * rhs / weights[i]
            if merit > best:
                best = merit
                row = i
    return row


_leaving = either(interpreted=_leaving_interpreted, loops=_leaving_loops)


def _entering_interpreted(table, row):
    line = table[row, :-1]
    able = np.flatnonzero(line < -SMALLEST_PIVOT)
    if len(able) == 0:
        return -1
    size = -line[able]
    ratio = np.maximum(table[-1, able], 0.0) / size
    near = ratio <= ratio.min() + TIE
    return int(able[np.where(near, size, 0.0).argmax()])


def _entering_loops(table, row):
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


_entering = either(interpreted=_entering_interpreted, loops=_entering_loops)


def _pivot_interpreted(table, weights, row, column):
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


def _pivot_loops(table, weights, row, column):
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
            for k in busy:
                table[i, k] -= factor * line[k]
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


_pivot = either(interpreted=_pivot_interpreted, loops=_pivot_loops)


@kernel
def _turn_those_above_one(table, basic, fixed, turned, n_candidates):
    """Count candidates taken more than once from one downwards; whether there were any."""
    last = table.shape[1] - 1
    any_above = False
    for i in np.flatnonzero(table[:-1, -1] > 1.0 + FEASIBLE):
        if basic[i] < n_candidates and not fixed[basic[i]]:
            table[i] = -table[i]
            table[i, last] += 1.0
            turned[basic[i]] = not turned[basic[i]]
            any_above = True
    return any_above


@kernel
def reoptimise(table, basic, nonbasic, weights, fixed, turned, n_candidates, stop_above, max_pivots):
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
    held = np.flatnonzero(fixed[basic])
    while True:
        for i in held:
            # Neither above nor below its value: from above, the row is turned round.
            if table[i, last_column] > FEASIBLE and fixed[basic[i]]:
                table[i] = -table[i]
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
        if leaves < 0 or fixed[leaves]:
            table[:, column] = 0.0
            nonbasic[column] = -1
        if -table[last_row, last_column] > stop_above:
            return ABOVE, pivots, row


def _child_interpreted(table, basic, nonbasic, weights, action):
    what = np.where(nonbasic >= 0, action[nonbasic], AT_ZERO)
    base = action[basic]
    last = table.shape[1] - 1
    columns = np.append(np.flatnonzero((what == KEEP) | (what == IDLE)), last)
    rows = np.append(np.flatnonzero(base != IDLE), len(basic))
    child = table[rows][:, columns]
    for k in np.flatnonzero(what == AT_ONE):
        child[:, -1] -= table[rows, k]
    kept = base[rows[:-1]]
    ones = np.flatnonzero(kept == AT_ONE)
    child[ones, -1] -= 1.0
    return child, basic[rows[:-1]], nonbasic[columns[:-1]], weights[rows[:-1]]


def _child_loops(table, basic, nonbasic, weights, action):
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
    for i in range(n_rows):
        height += action[basic[i]] != IDLE
    child = np.empty((height + 1, width + 1))
    basis = np.empty(height, dtype=np.int64)
    measure = np.empty(height)
    row = 0
    for i in range(n_rows + 1):
        what = KEEP
        if i < n_rows:
            what = action[basic[i]]
            if what == IDLE:
                continue
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


child = either(interpreted=_child_interpreted, loops=_child_loops)
"""The tableau after fixing some variables, without the columns and rows that no longer matter.

A variable fixed at one moves the right-hand sides, its own by one if it is basic: from then on it stands
for what it exceeds one by. Basic variables that are fixed leave at the next pivots.
"""


def _penalties_interpreted(table, rows):
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


def _penalties_loops(table, rows):
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


penalties = either(interpreted=_penalties_interpreted, loops=_penalties_loops)
"""What the objective gains at least per unit, at the next pivot, by pushing a basic variable down or up."""

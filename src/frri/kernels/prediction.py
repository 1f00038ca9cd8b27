"""Many objects against many rules: numeric conditions, the minimum as t-norm, the best rule wins.

Objects go through in blocks that stay in the cache, column by column, rule by rule. Which objects of a
block can be inside a rule's support at all is asked of values rounded to one byte: rounding down onto a
grid keeps the order, so nobody is lost, and the compiler compares 32 bytes at a time. Degrees are then
computed, in the arithmetic of `frri.rules.matching`, for the few objects that are left.
"""

import numpy as np

from frri.compiling import kernel

BLOCK = 512


@kernel
def on_grid(x, origin, cells_per_unit):
    """A number as a cell of a column's grid of 256; never out of order."""
    cell = (x - origin) * cells_per_unit
    if cell >= 255.0:
        return np.uint8(255)
    if cell > 0.0:
        return np.uint8(cell)
    return np.uint8(0)


@kernel
def grids(n_columns, columns, support_low, support_high):
    """Origin and fineness of a grid over the bounds in each column."""
    lowest = np.full(n_columns, np.inf)
    highest = np.full(n_columns, -np.inf)
    for k in range(len(columns)):
        j = columns[k]
        for bound in (support_low[k], support_high[k]):
            if np.isfinite(bound):
                lowest[j] = min(lowest[j], bound)
                highest[j] = max(highest[j], bound)
    fineness = np.zeros(n_columns)
    for j in range(n_columns):
        width = highest[j] - lowest[j]
        if 0.0 < width and np.isfinite(254.0 / width):
            fineness[j] = 254.0 / width
        if not np.isfinite(lowest[j]):
            lowest[j] = 0.0
    return lowest, fineness


@kernel
def lower(degree, inside, n_left, support, core, slope, sign):
    """Lower degrees to what one side of a condition allows; the left side is the right one mirrored."""
    for s in range(n_left):
        x = sign * inside[s]
        value = (support - x) / slope
        value = value if x > core else 1.0
        degree[s] = value if value < degree[s] else degree[s]


@kernel
def inside_supports(cells, columns, supports, possible, left):
    """The objects of a block that may be inside all supports of a rule: how many, their places in `left`."""
    support_low, support_high = supports
    possible[:] = 1
    for k in range(len(columns)):
        j = columns[k]
        for i in range(BLOCK):
            cell = cells[j, i]
            possible[i] &= np.uint8(cell >= support_low[k]) & np.uint8(cell <= support_high[k])
    eight = possible.view(np.uint64)
    n_left = 0
    for word in range(BLOCK // 8):
        if eight[word]:
            for i in range(8 * word, 8 * word + 8):
                left[n_left] = i
                n_left += possible[i]
    return n_left


@kernel
def best_values(
    values,
    start,
    stop,
    lows,
    highs,
    conditions,
    indptr,
    columns,
    weights,
    rule_classes,
    uncut,
    best,
):
    """Raise `best[start:stop]` to the best weight x degree of every class.

    With `uncut`, every rule counts for every object, by its uncut value (start from minus infinity);
    otherwise only the rules inside whose support an object may lie (start from 0).
    """
    support_low, core_low, core_high, support_high, slope_low, slope_high = conditions
    n_columns = values.shape[1]
    origin, fineness = grids(n_columns, columns, support_low, support_high)
    cell_low = np.zeros(len(columns), dtype=np.uint8)
    cell_high = np.full(len(columns), 255, dtype=np.uint8)
    for k in range(len(columns)):
        j = columns[k]
        if support_low[k] > -np.inf:
            cell_low[k] = on_grid(support_low[k], origin[j], fineness[j])
        if support_high[k] < np.inf:
            cell_high[k] = on_grid(support_high[k], origin[j], fineness[j])
    block = np.empty((n_columns, BLOCK))
    cells = np.zeros((n_columns, BLOCK), dtype=np.uint8)
    possible = np.empty(BLOCK, dtype=np.uint8)
    left = np.empty(BLOCK + 1, dtype=np.int64)
    inside = np.empty(BLOCK)
    degree = np.empty(BLOCK)
    for first in range(start, stop, BLOCK):
        size = min(BLOCK, stop - first)
        for i in range(size):
            for j in range(n_columns):
                block[j, i] = min(max(values[first + i, j], lows[j]), highs[j])
        for j in range(n_columns):
            for i in range(size):
                cells[j, i] = on_grid(block[j, i], origin[j], fineness[j])
        for r in range(len(weights)):
            begin, end = indptr[r], indptr[r + 1]
            if uncut:
                n_left = size
                for i in range(size):
                    left[i] = i
            else:
                supports = cell_low[begin:end], cell_high[begin:end]
                n_left = inside_supports(cells, columns[begin:end], supports, possible, left)
                while n_left and left[n_left - 1] >= size:
                    n_left -= 1
            for s in range(n_left):
                degree[s] = 1.0
            for k in range(begin, end):
                for s in range(n_left):
                    inside[s] = block[columns[k], left[s]]
                if support_low[k] > -np.inf:
                    lower(degree, inside, n_left, -support_low[k], -core_low[k], slope_low[k], -1.0)
                if support_high[k] < np.inf:
                    lower(degree, inside, n_left, support_high[k], core_high[k], slope_high[k], 1.0)
            c = rule_classes[r]
            for s in range(n_left):
                row = first + left[s]
                value = weights[r] * degree[s]
                if value > best[row, c]:
                    best[row, c] = value

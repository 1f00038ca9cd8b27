"""Values rounded to one byte, their *cells*, and which cells conditions allow.

Rounding down onto a grid keeps the order: an object whose cell is outside the cells of a support is outside
the support, and one whose cell is strictly between them is inside.

The cell of a category is its code, wrapped around where there are very many; a missing value has a cell
of its own, which is in no support.
"""

import numpy as np

from frri._compile import inner_kernel

# Cells: numbers lie from 0 to the last one of the grid, codes before a category never seen.
LAST = 254
NEVER_SEEN = 254
MISSING = 255
N_CELLS = 256


@inner_kernel
def on_grid(x, origin, cells_per_unit):
    """A number as a cell of a column's grid; never out of order."""
    cell = (x - origin) * cells_per_unit
    if cell >= LAST:
        return np.uint8(LAST)
    if cell > 0.0:
        return np.uint8(cell)
    return np.uint8(0)


@inner_kernel
def of_code(code):
    """The cell of a category."""
    return np.uint8(code % NEVER_SEEN) if code >= 0 else np.uint8(NEVER_SEEN)


@inner_kernel
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
        if 0.0 < width and np.isfinite((LAST - 1.0) / width):
            fineness[j] = (LAST - 1.0) / width
        if not np.isfinite(lowest[j]):
            lowest[j] = 0.0
    return lowest, fineness


@inner_kernel
def supports(n_columns, rules):
    """The grids of the columns, and the bounds of the conditions in cells."""
    conditions, sets, gaps, _, columns, _, _ = rules
    support_low, support_high = conditions[0], conditions[3]
    allowed, code_0 = sets
    always = gaps[2]
    origin, fineness = grids(n_columns, columns, support_low, support_high)
    nominal = np.zeros(n_columns, dtype=np.bool_)
    low = np.zeros(len(columns), dtype=np.uint8)
    high = np.full(len(columns), LAST, dtype=np.uint8)
    end = len(allowed) + 1
    for k in range(len(columns) - 1, -1, -1):
        j = columns[k]
        if always[k]:
            high[k] = MISSING
        elif code_0[k] >= 0:
            nominal[j] = True
            low[k], high[k] = cells_of_codes(allowed, code_0[k], end - 1)
            end = code_0[k]
        else:
            if support_low[k] > -np.inf:
                low[k] = on_grid(support_low[k], origin[j], fineness[j])
            if support_high[k] < np.inf:
                high[k] = on_grid(support_high[k], origin[j], fineness[j])
    return (origin, fineness, nominal), low, high


@inner_kernel
def cells_of_codes(allowed, begin, end):
    """The least and the greatest cell of the codes that a condition allows, from begin to end."""
    low, high = np.uint8(NEVER_SEEN), np.uint8(0)
    for place in range(begin, end):
        if allowed[place]:
            cell = of_code(place - begin)
            low, high = min(low, cell), max(high, cell)
    return low, max(low, high)

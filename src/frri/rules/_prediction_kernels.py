"""Many objects against many rules: the minimum as t-norm, the best rule wins.

Objects go through in blocks that stay in the cache, column by column, rule by rule. Which objects of a
block can be inside a rule's support at all is asked of values rounded to one byte, their *cells*:
rounding down onto a grid keeps the order, so nobody is lost, and 64 bytes are compared at a time. Degrees
are then computed, in the arithmetic of `frri.rules.matching`, for the few objects that are left.

The cell of a category is its code, wrapped around where there are very many; a missing value has a cell
of its own, which is in no support.
"""

from typing import Any

import numpy as np

from frri._twins import companion, kernel
from frri._twins import vectors as _vectors

vectors: Any = companion(_vectors, of=__name__)
lowest, within = vectors.lowest, vectors.within

WORD = _vectors.WORD
NONE, ONE, ALL = _vectors.NONE, _vectors.ONE, _vectors.ALL

BLOCK = 4096
# Rows that are turned into columns together.
TILE = 64


# Cells: numbers lie from 0 to the last one of the grid, codes before a category never seen.
LAST = 254
NEVER_SEEN = 254
MISSING = 255


@kernel
def on_grid(x, origin, cells_per_unit):
    """A number as a cell of a column's grid; never out of order."""
    cell = (x - origin) * cells_per_unit
    if cell >= LAST:
        return np.uint8(LAST)
    if cell > 0.0:
        return np.uint8(cell)
    return np.uint8(0)


@kernel
def of_code(code):
    """The cell of a category."""
    return np.uint8(code % NEVER_SEEN) if code >= 0 else np.uint8(NEVER_SEEN)


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
        if 0.0 < width and np.isfinite((LAST - 1.0) / width):
            fineness[j] = (LAST - 1.0) / width
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
def inside_supports(cells, begin, end, columns, low, high, left):
    """The objects of a block that may be inside the supports of conditions begin to end.

    Returns how many they are, and writes their places into `left`.
    """
    n_left = 0
    for first in range(0, BLOCK, WORD):
        possible = ALL
        for k in range(begin, end):
            possible &= within(cells, columns[k], first, low[k], high[k])
        while possible != NONE:
            left[n_left] = first + lowest(possible)
            n_left += 1
            possible &= possible - ONE
    return n_left


@kernel
def inside_or_missing(cells, begin, end, columns, low, high, left):
    """The same where conditions hold for missing values."""
    n_left = 0
    missing = np.uint8(MISSING)
    for first in range(0, BLOCK, WORD):
        possible = ALL
        for k in range(begin, end):
            inside = within(cells, columns[k], first, low[k], high[k])
            possible &= inside | within(cells, columns[k], first, missing, missing)
        while possible != NONE:
            left[n_left] = first + lowest(possible)
            n_left += 1
            possible &= possible - ONE
    return n_left


@kernel
def load(values, rows, size, lows, highs, block):
    """Bring some rows into a block, column by column, clipped to the training range."""
    for first in range(0, size, TILE):
        for j in range(values.shape[1]):
            for i in range(first, min(first + TILE, size)):
                x = values[rows[i], j]
                x = lows[j] if x < lows[j] else x
                block[j, i] = highs[j] if x > highs[j] else x


@kernel
def fill_cells(block, size, grid, cells):
    """The cells of a block."""
    origin, fineness, nominal = grid
    for j in range(len(block)):
        if nominal[j]:
            for i in range(size):
                x = block[j, i]
                cells[j, i] = MISSING if np.isnan(x) else of_code(int(x))
        else:
            for i in range(size):
                x = block[j, i]
                cell = on_grid(x, origin[j], fineness[j])
                cells[j, i] = MISSING if np.isnan(x) else cell


@kernel
def holds(x, rules, k):
    """Whether nominal condition k holds for a code."""
    allowed, code_0 = rules[1]
    if np.isnan(x):
        return rules[2][0]
    return allowed[code_0[k] + int(x)]


@kernel
def lower_to(degree, inside, n_left, conditions, k):
    """Lower degrees to what condition k allows."""
    support_low, core_low, core_high, support_high, slope_low, slope_high = conditions
    if support_low[k] > -np.inf:
        lower(degree, inside, n_left, -support_low[k], -core_low[k], slope_low[k], -1.0)
    if support_high[k] < np.inf:
        lower(degree, inside, n_left, support_high[k], core_high[k], slope_high[k], 1.0)


@kernel
def raise_best(block, rules, r, left, n_left, inside, degree, best):
    """Raise `best` to weight x degree of rule r, for the objects of a block named in `left`.

    What is missing there is excused, and lowers nothing.
    """
    conditions, sets, _, indptr, columns, weights, rule_classes = rules
    code_0 = sets[1]
    for s in range(n_left):
        degree[s] = 1.0
    for k in range(indptr[r], indptr[r + 1]):
        for s in range(n_left):
            inside[s] = block[columns[k], left[s]]
        if code_0[k] < 0:
            lower_to(degree, inside, n_left, conditions, k)
            continue
        for s in range(n_left):
            if not holds(inside[s], rules, k):
                degree[s] = 0.0
    c = rule_classes[r]
    for s in range(n_left):
        best[left[s], c] = max(best[left[s], c], weights[r] * degree[s])


@kernel
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


@kernel
def cells_of_codes(allowed, begin, end):
    """The least and the greatest cell of the codes that a condition allows, from begin to end."""
    low, high = np.uint8(NEVER_SEEN), np.uint8(0)
    for place in range(begin, end):
        if allowed[place]:
            cell = of_code(place - begin)
            low, high = min(low, cell), max(high, cell)
    return low, max(low, high)


@kernel
def decide_silent(values, rows, n_silent, lows, highs, rules, block, degree, nearest, decided):
    """Give the objects that no rule covers the class of the nearest rule."""
    conditions, sets, gaps, indptr, columns, weights, rule_classes = rules
    code_0 = sets[1]
    missing_holds, outside, always = gaps
    load(values, rows, n_silent, lows, highs, block)
    incomplete = np.zeros(len(block), dtype=np.bool_)
    for j in range(len(block)):
        for i in range(n_silent):
            incomplete[j] |= np.isnan(block[j, i])
    nearest[:] = -np.inf
    for r in range(len(weights)):
        for i in range(n_silent):
            degree[i] = 1.0
        for k in range(indptr[r], indptr[r + 1]):
            column = block[columns[k]]
            if code_0[k] >= 0:
                for i in range(n_silent):
                    if not holds(column[i], rules, k):
                        degree[i] = min(degree[i], outside[k])
                continue
            lower_to(degree, column, n_silent, conditions, k)
            if incomplete[columns[k]] and not missing_holds and not always[k]:
                for i in range(n_silent):
                    if np.isnan(column[i]):
                        degree[i] = min(degree[i], outside[k])
        c = rule_classes[r]
        for i in range(n_silent):
            nearest[c, i] = max(nearest[c, i], weights[r] * degree[i])
    for i in range(n_silent):
        decided[rows[i]] = np.argmax(nearest[:, i])


@kernel
def best_values(values, start, stop, lows, highs, rules, n_classes, decided, scores):
    """Scores of the rows from start to stop, and the class that each is decided for.

    Where no rule fires, the class of the nearest rule. `scores` is filled only if it has rows at all.
    """
    _, _, gaps, indptr, columns, weights, _ = rules
    n_columns = values.shape[1]
    grid, low, high = supports(n_columns, rules)
    # Places after the last object are looked at too: they hold a code that there is.
    block = np.zeros((n_columns, BLOCK))
    cells = np.zeros((n_columns, BLOCK), dtype=np.uint8)
    left = np.empty(BLOCK + 1, dtype=np.int64)
    rows = np.empty(BLOCK, dtype=np.int64)
    silent = np.empty(2 * BLOCK, dtype=np.int64)
    n_silent = 0
    inside = np.empty(BLOCK)
    degree = np.empty(BLOCK)
    best = np.empty((BLOCK, n_classes))
    nearest = np.empty((n_classes, BLOCK))
    for first in range(start, stop, BLOCK):
        size = min(BLOCK, stop - first)
        for i in range(size):
            rows[i] = first + i
        load(values, rows, size, lows, highs, block)
        fill_cells(block, size, grid, cells)
        best[:] = 0.0
        for r in range(len(weights)):
            begin, end = indptr[r], indptr[r + 1]
            if gaps[0]:
                n_left = inside_or_missing(cells, begin, end, columns, low, high, left)
            else:
                n_left = inside_supports(cells, begin, end, columns, low, high, left)
            raise_best(block, rules, r, left, n_left, inside, degree, best)
        if len(scores):
            for i in range(size):
                scores[first + i] = best[i]
        for i in range(size):
            c = 0
            for other in range(1, n_classes):
                c = other if best[i, other] > best[i, c] else c
            decided[first + i] = c
            silent[n_silent] = first + i
            n_silent += not best[i, c] > 0.0
        if n_silent >= BLOCK:
            decide_silent(
                values, silent, BLOCK, lows, highs, rules, block, degree, nearest, decided
            )
            for s in range(BLOCK, n_silent):
                silent[s - BLOCK] = silent[s]
            n_silent -= BLOCK
    decide_silent(values, silent, n_silent, lows, highs, rules, block, degree, nearest, decided)

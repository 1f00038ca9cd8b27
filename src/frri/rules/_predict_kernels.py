"""Many objects against many rules: the minimum as t-norm, the best rule wins.

Where only classes are wanted, most objects are settled by `frri.rules._lookup_kernels`. The others, or all if
scores are wanted, go through in blocks that stay in the cache, column by column, rule by rule. Which objects
of a block can be inside a rule's support at all is asked of their *cells* (`frri.rules._quantize_kernels`), of
which 64 are compared at a time. Degrees are then computed, in the arithmetic of `frri.rules.matching`, for
the few objects that are left.
"""

import numpy as np

from frri._compile import inner_kernel, kernel
from frri._words import ALL, NONE, ONE, WORD, lowest
from frri.rules._lookup_kernels import NOBODY, classes_of_rows, fill_rows, tables
from frri.rules._quantize_kernels import MISSING, of_code, on_grid, supports

BLOCK = 4096
# Not literals: for each of these the compiler would do everything once more.
WHOLE, ZERO = np.int64(BLOCK), np.int64(0)
# Rows that are turned into columns together.
TILE = 64


@inner_kernel
def lower(degree, inside, n_left, support, core, slope, sign):
    """Lower degrees to what one side of a condition allows; the left side is the right one mirrored."""
    for s in range(n_left):
        x = sign * inside[s]
        value = (support - x) / slope
        value = value if x > core else 1.0
        degree[s] = np.minimum(degree[s], value)


@inner_kernel
def within(cells, j, first, low, high):
    """Return the set of those 64 samples, from `first` on, whose byte in row `j` is from `low` to `high`."""
    found = NONE
    for i in range(WORD):
        inside = low <= cells[j, first + i] <= high
        found |= np.uint64(inside) << np.uint64(i)
    return found


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


@inner_kernel
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


@inner_kernel
def load(values, rows, size, lows, highs, block):
    """Bring some rows into a block, column by column, clipped to the training range."""
    for first in range(0, size, TILE):
        for j in range(values.shape[1]):
            for i in range(first, min(first + TILE, size)):
                x = values[rows[i], j]
                x = lows[j] if x < lows[j] else x
                block[j, i] = highs[j] if x > highs[j] else x


@inner_kernel
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


@inner_kernel
def holds(x, rules, k):
    """Whether nominal condition k holds for a code."""
    allowed, code_0 = rules[1]
    if np.isnan(x):
        return rules[2][0]
    return allowed[code_0[k] + int(x)]


@inner_kernel
def lower_to(degree, inside, n_left, conditions, k):
    """Lower degrees to what condition k allows."""
    support_low, core_low, core_high, support_high, slope_low, slope_high = conditions
    if support_low[k] > -np.inf:
        lower(degree, inside, n_left, -support_low[k], -core_low[k], slope_low[k], -1.0)
    if support_high[k] < np.inf:
        lower(degree, inside, n_left, support_high[k], core_high[k], slope_high[k], 1.0)


@inner_kernel
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


@inner_kernel
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
def sure_tables(n_columns, n_classes, rules):
    """What `frri.rules._lookup_kernels` reads the classes of objects off."""
    grid, low, high = supports(n_columns, rules)
    return tables(n_columns, n_classes, rules, grid, (low, high))


@inner_kernel
def weigh(values, rows, size, lows, highs, rules, room, decided, scores, silent, n_silent):
    """Decide about some rows by the degrees of rules.

    Those that no rule covers are added to the `n_silent` ones in `silent`; returns how many there are then.
    """
    _, _, gaps, indptr, columns, weights, _ = rules
    grid, low, high, block, cells, left, inside, degree, best = room
    n_classes = best.shape[1]
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
            for c in range(n_classes):
                scores[rows[i], c] = best[i, c]
    for i in range(size):
        c = 0
        for other in range(1, n_classes):
            c = other if best[i, other] > best[i, c] else c
        decided[rows[i]] = c
        silent[n_silent] = rows[i]
        n_silent += not best[i, c] > 0.0
    return n_silent


@inner_kernel
def take_first(queue, n):
    """Leave away the first block of a queue of n rows; returns how many are left."""
    for s in range(BLOCK, n):
        queue[s - BLOCK] = queue[s]
    return n - BLOCK


@kernel
def best_values(values, start, stop, lows, highs, rules, sure, n_classes, decided, scores):
    """Scores of the rows from start to stop, and the class that each is decided for.

    Where no rule fires, the class of the nearest rule. `scores` is filled only if it has rows at all;
    `sure` is empty where it does not pay, or scores are wanted.
    """
    n_columns = values.shape[1]
    grid, low, high = supports(n_columns, rules)
    # Places after the last object are looked at too: they hold a code that there is.
    block = np.zeros((n_columns, BLOCK))
    cells = np.zeros((n_columns, BLOCK), dtype=np.uint8)
    left = np.empty(BLOCK + 1, dtype=np.int64)
    inside = np.empty(BLOCK)
    degree = np.empty(BLOCK)
    best = np.empty((BLOCK, n_classes))
    room = grid, low, high, block, cells, left, inside, degree, best
    nearest = np.empty((n_classes, BLOCK))
    by_row = np.empty((BLOCK, n_columns), dtype=np.uint8)
    found = np.empty(BLOCK, dtype=np.int64)
    fires = np.empty(BLOCK, dtype=np.bool_)
    unsure = np.empty(2 * BLOCK, dtype=np.int64)
    silent = np.empty(3 * BLOCK, dtype=np.int64)
    n_unsure = n_silent = ZERO
    pays = len(sure[0]) > 0
    for first in range(start, stop, BLOCK):
        size = min(BLOCK, stop - first)
        if pays:
            fill_rows(values, first, size, lows, highs, grid, by_row)
            classes_of_rows(by_row, size, sure, rules[6], found, fires)
            before = n_unsure
            for i in range(size):
                settled = fires[i] and found[i] >= 0
                nobody = found[i] == NOBODY
                decided[first + i] = found[i]
                silent[n_silent] = unsure[n_unsure] = first + i
                n_silent += nobody
                n_unsure += not (settled or nobody)
            pays = n_unsure - before < size // 2
        else:
            for i in range(size):
                unsure[n_unsure + i] = first + i
            n_unsure += size
        if n_unsure >= BLOCK:
            n_silent = weigh(
                values, unsure, WHOLE, lows, highs, rules, room, decided, scores, silent, n_silent
            )
            n_unsure = take_first(unsure, n_unsure)
        if n_silent >= BLOCK:
            decide_silent(
                values, silent, WHOLE, lows, highs, rules, block, degree, nearest, decided
            )
            n_silent = take_first(silent, n_silent)
    n_silent = weigh(
        values, unsure, n_unsure, lows, highs, rules, room, decided, scores, silent, n_silent
    )
    while n_silent > 0:
        size = min(n_silent, BLOCK)
        decide_silent(values, silent, size, lows, highs, rules, block, degree, nearest, decided)
        n_silent = take_first(silent, n_silent)

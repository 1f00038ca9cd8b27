"""Classes of objects that are sure before any degree is computed.

Where all rules that an object can be under are of one class, and it is under one of them for certain, this
class is decided, whatever the degrees. Which rules these are is read off the cells of its values: for every
column and cell there is the set of rules that allow it, and the set of those that hold there for certain.
"""

import numpy as np

from frri._compile import inner_kernel
from frri._words import ALL, NONE, ONE, WORD, lowest
from frri.rules._quantize_kernels import LAST, MISSING, N_CELLS, NEVER_SEEN, of_code

# What is found about an object that no rule can cover, and about one that rules of several classes may.
NOBODY = -1
SEVERAL = -2

# Far from where a product of a weight and a degree would be 0 by underflow.
TINY = 1e-280


@inner_kernel
def cells_of_numbers(k, rules, grid, bounds, weight):
    """The cells that numeric condition k allows, and those for all of whose values it holds.

    From and to a cell each.
    """
    support_low, _, _, support_high, slope_low, slope_high = rules[0]
    low, high = int(bounds[0][k]), int(bounds[1][k])
    fineness = grid[1][rules[4][k]]
    first, last = 0, LAST
    if support_low[k] > -np.inf:
        first = low + 1 if weight > TINY * (fineness * slope_low[k]) else N_CELLS
    if support_high[k] < np.inf:
        last = high - 1 if weight > TINY * (fineness * slope_high[k]) else -1
    return low, high, first, last


@inner_kernel
def forbid_codes(allowing, bit, allowed):
    """Take a rule from the sets of those cells whose codes its condition does not allow."""
    for cell in range(NEVER_SEEN + 1):
        some, every = False, True
        if cell < NEVER_SEEN:
            for code in range(cell, len(allowed), NEVER_SEEN):
                some |= allowed[code]
                every &= allowed[code]
        if not some:
            allowing[2 * cell] &= ~bit
        if not (some and every):
            allowing[2 * cell + 1] &= ~bit


@inner_kernel
def tables(n_columns, n_classes, rules, grid, bounds):
    """Words of rules x columns x cells: who may hold there, and who does. And the rules of each class."""
    _, sets, gaps, indptr, columns, weights, rule_classes = rules
    allowed, code_0 = sets
    missing_holds, _, always = gaps
    n_rules = len(weights)
    n_words = -(-n_rules // WORD)
    table = np.full((n_words, n_columns, 2 * N_CELLS), ALL)
    of_class = np.zeros((n_words, n_classes), dtype=np.uint64)
    if n_rules % WORD:
        table[n_words - 1] = (ONE << np.uint64(n_rules % WORD)) - ONE
    end = len(allowed) + 1
    for r in range(n_rules - 1, -1, -1):
        w, bit = r // WORD, ONE << np.uint64(r % WORD)
        of_class[w, rule_classes[r]] |= bit
        for k in range(indptr[r + 1] - 1, indptr[r] - 1, -1):
            if always[k]:
                continue
            allowing = table[w, columns[k]]
            if not missing_holds:
                allowing[2 * MISSING] &= ~bit
                allowing[2 * MISSING + 1] &= ~bit
            if code_0[k] >= 0:
                forbid_codes(allowing, bit, allowed[code_0[k] : end - 1])
                end = code_0[k]
                continue
            low, high, first, last = cells_of_numbers(k, rules, grid, bounds, weights[r])
            for cell in range(LAST + 1):
                if not low <= cell <= high:
                    allowing[2 * cell] &= ~bit
                if not first <= cell <= last:
                    allowing[2 * cell + 1] &= ~bit
    return table.reshape(n_words, n_columns * 2 * N_CELLS), of_class


@inner_kernel
def fill_rows(values, first, size, lows, highs, grid, cells):
    """The cells of some rows, clipped to the training range."""
    origin, fineness, nominal = grid
    n_columns = values.shape[1]
    for i in range(size):
        for j in range(n_columns):
            x = values[first + i, j]
            x = lows[j] if x < lows[j] else x
            x = highs[j] if x > highs[j] else x
            cell = (x - origin[j]) * fineness[j]
            cell = cell if cell < LAST else float(LAST)
            cell = cell if cell > 0.0 else 0.0
            cells[i, j] = np.uint8(np.int32(cell)) if x == x else np.uint8(MISSING)  # noqa: PLR0124
    for j in range(n_columns):
        if nominal[j]:
            for i in range(size):
                x = values[first + i, j]
                cells[i, j] = MISSING if np.isnan(x) else of_code(int(x))


@inner_kernel
def classes_of_rows(cells, size, sure, rule_classes, found, fires):
    """Of each row the one class whose rules can cover it, if it is one, and whether one does."""
    table, of_class = sure
    n_columns = cells.shape[1]
    found[:size] = NOBODY
    fires[:size] = False
    for w in range(len(table)):
        allowing = table[w]
        for i in range(size):
            possible = certain = ALL
            for j in range(n_columns):
                place = 2 * N_CELLS * j + 2 * int(cells[i, j])
                possible &= allowing[place]
                certain &= allowing[place + 1]
            # Without branches, which nobody could foresee; of no rule at all, the first is looked at.
            c = rule_classes[w * WORD + lowest(possible)]
            before = found[i]
            several = (possible & ~of_class[w, c] != NONE) | ((before != NOBODY) & (before != c))
            now = SEVERAL if several else c
            found[i] = before if possible == NONE else now
            fires[i] |= certain != NONE

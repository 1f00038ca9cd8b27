"""Search for the best test `value <= v`, `value >= v` or `value = v` in sorted columns.

A table is kept as two arrays of shape (n_columns, n_objects): `order`, the object numbers of each
column by ascending value (missing values, NaN, last), and `values`, the values in that order. A
part of the table is the same pair with fewer objects, so nothing is ever sorted again.

Interpreted, the kernels are array operations; compiled, they are loops. Counts are integers and the
gain is computed from the same logarithms in the same order, so both forms agree bit for bit.
"""

import numpy as np
from numpy.typing import NDArray

from frri.compiling import either

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Objects = NDArray[np.int32]
Flags = NDArray[np.bool_]

# How a test compares; a search that finds nothing answers NOTHING.
NOTHING, AT_MOST, AT_LEAST, EQUAL = range(4)


# --- restrict: the same columns with fewer objects


def _restrict_interpreted(order: Objects, values: Floats, kept: Flags) -> tuple[Objects, Floats]:
    """Keep the objects whose flag is set, in every column's order."""
    positions = np.flatnonzero(kept[order])
    shape = (len(order), -1 if positions.size else 0)
    return (
        order.ravel().take(positions).reshape(shape),
        values.ravel().take(positions).reshape(shape),
    )


def _restrict_loops(order: Objects, values: Floats, kept: Flags) -> tuple[Objects, Floats]:
    n_columns, n_objects = order.shape
    n_kept = 0
    if n_columns > 0:
        for i in range(n_objects):
            n_kept += kept[order[0, i]]
    kept_order = np.empty((n_columns, n_kept), dtype=np.int32)
    kept_values = np.empty((n_columns, n_kept), dtype=np.float64)
    for j in range(n_columns):
        k = 0
        for i in range(n_objects):
            row = order[j, i]
            if kept[row]:
                kept_order[j, k] = row
                kept_values[j, k] = values[j, i]
                k += 1
    return kept_order, kept_values


restrict = either(interpreted=_restrict_interpreted, loops=_restrict_loops)


# --- value_counts: positives and objects up to every distinct value


def _value_counts_interpreted(
    order: Objects, values: Floats, positive: Flags
) -> tuple[Integers, Floats, Integers, Integers]:
    """Count, for every distinct value of every column, what lies at or below it.

    Parameters
    ----------
    order, values : ndarray, shape (n_columns, n_objects)
        Sorted columns.
    positive : ndarray of bool
        A flag for every object number.

    Returns
    -------
    column : ndarray of int
        One entry per column and distinct value, columns in order, values ascending; missing values
        are left out.
    value : ndarray of float
    positives, objects : ndarray of int
        How many positives and how many objects of the column have at most this value.
    """
    n_columns, n_objects = order.shape
    last = values == values  # noqa: PLR0124 - not missing
    if n_objects:
        last[:, :-1] &= values[:, 1:] != values[:, :-1]
    ends = np.flatnonzero(last)
    column = np.repeat(np.arange(n_columns), np.count_nonzero(last, axis=1))
    positives = positive[order].cumsum(axis=1).ravel().take(ends)
    return column, values.ravel().take(ends), positives, ends - column * n_objects + 1


def _value_counts_loops(
    order: Objects, values: Floats, positive: Flags
) -> tuple[Integers, Floats, Integers, Integers]:
    n_columns, n_objects = order.shape
    column = np.empty(n_columns * n_objects, dtype=np.int64)
    value = np.empty(n_columns * n_objects, dtype=np.float64)
    positives = np.empty(n_columns * n_objects, dtype=np.int64)
    objects = np.empty(n_columns * n_objects, dtype=np.int64)
    k = 0
    for j in range(n_columns):
        p = 0
        for i in range(n_objects):
            v = values[j, i]
            if np.isnan(v):
                break
            p += positive[order[j, i]]
            if i + 1 == n_objects or values[j, i + 1] != v:
                column[k] = j
                value[k] = v
                positives[k] = p
                objects[k] = i + 1
                k += 1
    return column[:k].copy(), value[:k].copy(), positives[:k].copy(), objects[:k].copy()


value_counts = either(interpreted=_value_counts_interpreted, loops=_value_counts_loops)


# --- best_test: the test of greatest information gain


def _best_test_interpreted(
    column: Integers,
    positives: Integers,
    objects: Integers,
    nominal: Flags,
    logs: Floats,
    base: float,
) -> tuple[int, int, int, int]:
    """Find the test of greatest gain `p * (log2((p + 1) / (t + 1)) - base)`.

    Here t objects satisfy the test, p of them positive. The gain must be above 0; of several equal
    ones the first counts, in the order of columns and values, and at one value `>=` before `<=`.

    Parameters
    ----------
    column, positives, objects : ndarray of int
        Counts as `value_counts` gives them.
    nominal : ndarray of bool, shape (n_columns,)
        Where values are names, for which only `value = v` is a test.
    logs : ndarray of float
        Binary logarithms of the numbers from 0.
    base : float
        Binary logarithm of the share of positives before the test.

    Returns
    -------
    index : int
        The position among the counts.
    comparison : int
        AT_MOST, AT_LEAST or EQUAL; NOTHING if no test has a gain.
    p, t : int
        Positives and objects that satisfy the test.
    """
    if not len(column):
        return 0, NOTHING, 0, 0
    first = np.empty(len(column), dtype=np.bool_)
    first[0] = True
    first[1:] = column[1:] != column[:-1]
    p_below, t_below = np.zeros_like(positives), np.zeros_like(objects)
    p_below[1:], t_below[1:] = positives[:-1], objects[:-1]
    p_below[first] = t_below[first] = 0
    p_all, t_all = np.zeros(len(nominal), dtype=np.int64), np.zeros(len(nominal), dtype=np.int64)
    p_all[column], t_all[column] = positives, objects  # the last one of each column stays
    named = nominal[column]
    p_up = np.where(named, positives, p_all[column]) - p_below
    t_up = np.where(named, objects, t_all[column]) - t_below
    gain_up = p_up * ((logs[p_up + 1] - logs[t_up + 1]) - base)
    gain_down = positives * ((logs[positives + 1] - logs[objects + 1]) - base)
    gain_down[named] = -np.inf
    best = int(np.maximum(gain_up, gain_down).argmax())
    if gain_down[best] > gain_up[best]:
        if gain_down[best] > 0.0:
            return best, AT_MOST, int(positives[best]), int(objects[best])
    elif gain_up[best] > 0.0:
        return best, EQUAL if named[best] else AT_LEAST, int(p_up[best]), int(t_up[best])
    return 0, NOTHING, 0, 0


def _best_test_loops(
    column: Integers,
    positives: Integers,
    objects: Integers,
    nominal: Flags,
    logs: Floats,
    base: float,
) -> tuple[int, int, int, int]:
    index, comparison, best_p, best_t = 0, NOTHING, 0, 0
    best = 0.0
    p_all = np.zeros(len(nominal), dtype=np.int64)
    t_all = np.zeros(len(nominal), dtype=np.int64)
    for k in range(len(column)):
        p_all[column[k]] = positives[k]
        t_all[column[k]] = objects[k]
    p_below, t_below = 0, 0
    for k in range(len(column)):
        j = column[k]
        if k == 0 or column[k - 1] != j:
            p_below, t_below = 0, 0
        p, t = positives[k], objects[k]
        if nominal[j]:
            side, p_up, t_up = EQUAL, p - p_below, t - t_below
        else:
            side, p_up, t_up = AT_LEAST, p_all[j] - p_below, t_all[j] - t_below
        gain = p_up * ((logs[p_up + 1] - logs[t_up + 1]) - base)
        if not nominal[j]:
            down = p * ((logs[p + 1] - logs[t + 1]) - base)
            if down > gain:
                gain, side, p_up, t_up = down, AT_MOST, p, t
        if gain > best:
            best = gain
            index, comparison, best_p, best_t = k, side, p_up, t_up
        p_below, t_below = p, t
    return index, comparison, best_p, best_t


best_test = either(interpreted=_best_test_interpreted, loops=_best_test_loops)

"""Search for the best test `value <= v`, `value >= v` or `value = v` in sorted columns.

A table is kept as three arrays of shape (n_columns, n_objects): `order`, the object numbers of each
column by ascending value (missing values, NaN, last), `values`, the values in that order, and
`positive`, whether the objects in that order belong to the class in question. A part of the table is
the same with fewer objects, so nothing is ever sorted again.

Interpreted, the kernels are array operations; compiled, they are loops. Counts are integers and gains
are computed from the same logarithms in the same order, so both forms agree bit for bit.
"""

import numpy as np

from frri.compiling import either

# How a test compares; a search that finds nothing answers NOTHING.
NOTHING, AT_MOST, AT_LEAST, EQUAL = range(4)


def value_counts(values, positive):
    """Count, for every distinct value of every column, what lies at or below it.

    Parameters
    ----------
    values, positive : ndarray of float and of bool, shape (n_columns, n_objects)
        Sorted columns.

    Returns
    -------
    column : ndarray of int
        One entry per column and distinct value, columns in order, values ascending; missing values
        are left out.
    value : ndarray of float
    positives, objects : ndarray of int
        How many positives and how many objects of the column have at most this value.

    Examples
    --------
    >>> value_counts(np.array([[1.0, 1.0, 3.0, np.nan]]), np.array([[True, False, True, True]]))
    (array([0, 0]), array([1., 3.]), array([1, 2]), array([2, 3]))
    """
    n_columns, n_objects = values.shape
    last = values == values  # noqa: PLR0124 - not missing
    if n_objects:
        last[:, :-1] &= values[:, 1:] != values[:, :-1]
    ends = np.flatnonzero(last)
    column = np.repeat(np.arange(n_columns), np.count_nonzero(last, axis=1))
    positives = positive.cumsum(axis=1).ravel().take(ends)
    return column, values.ravel().take(ends), positives, ends - column * n_objects + 1


# --- restrict: the same columns with fewer objects


def _restrict_interpreted(order, values, positive, kept):
    """Keep the objects whose flag is set, in every column's order."""
    positions = np.flatnonzero(kept[order])
    shape = (len(order), len(positions) // len(order))
    return (
        order.ravel().take(positions).reshape(shape),
        values.ravel().take(positions).reshape(shape),
        positive.ravel().take(positions).reshape(shape),
    )


def _restrict_loops(order, values, positive, kept):
    n_columns, n_objects = order.shape
    n_kept = 0
    for i in range(n_objects):
        n_kept += kept[order[0, i]]
    kept_order = np.empty((n_columns, n_kept), dtype=np.int32)
    kept_values = np.empty((n_columns, n_kept), dtype=np.float64)
    kept_positive = np.empty((n_columns, n_kept), dtype=np.bool_)
    for j in range(n_columns):
        k = 0
        for i in range(n_objects):
            if k == n_kept:
                break
            # Written in any case and overwritten by the next: a branch could not be predicted.
            row = order[j, i]
            kept_order[j, k] = row
            kept_values[j, k] = values[j, i]
            kept_positive[j, k] = positive[j, i]
            k += kept[row]
    return kept_order, kept_values, kept_positive


restrict = either(interpreted=_restrict_interpreted, loops=_restrict_loops)


# --- best_test: the test of greatest information gain


def _best_test_interpreted(values, positive, nominal, logs, base):
    """Find the test of greatest gain `p * (log2((p + 1) / (t + 1)) - base)`.

    Here t objects satisfy the test, p of them positive. The gain must be above 0; of several equal
    ones the first counts, in the order of columns and values, and at one value `>=` before `<=`.

    Parameters
    ----------
    values, positive : ndarray of float and of bool, shape (n_columns, n_objects)
        Sorted columns.
    nominal : ndarray of bool, shape (n_columns,)
        Where values are names, for which only `value = v` is a test.
    logs : ndarray of float
        Binary logarithms of the numbers from 0 to n_objects + 1 at least.
    base : float
        Binary logarithm of the share of positives before the test; 0 or less.

    Returns
    -------
    column : int
    comparison : int
        AT_MOST, AT_LEAST or EQUAL; NOTHING if no test has a gain.
    value : float
    p, t : int
        Positives and objects that satisfy the test.
    """
    column, value, positives, objects = value_counts(values, positive)
    if not len(column):
        return 0, NOTHING, 0.0, 0, 0
    p_below, t_below = np.zeros((2, len(column)), dtype=np.int64)
    same = column[1:] == column[:-1]
    np.multiply(positives[:-1], same, out=p_below[1:])
    np.multiply(objects[:-1], same, out=t_below[1:])
    p_all, t_all = np.zeros((2, len(nominal)), dtype=np.int64)
    p_all[column], t_all[column] = positives, objects  # the last entry of each column stays
    p_up, t_up = p_all[column] - p_below, t_all[column] - t_below
    gains_down = positives * ((logs[positives + 1] - logs[objects + 1]) - base)
    if nominal.any():
        named = nominal[column]
        gains_down[named] = -np.inf
        p_up[named] = (positives - p_below)[named]
        t_up[named] = (objects - t_below)[named]
    gains_up = p_up * ((logs[p_up + 1] - logs[t_up + 1]) - base)
    k = int(np.maximum(gains_up, gains_down).argmax())
    j, v = int(column[k]), float(value[k])
    if gains_down[k] > gains_up[k]:
        if gains_down[k] > 0.0:
            return j, AT_MOST, v, int(positives[k]), int(objects[k])
    elif gains_up[k] > 0.0:
        return j, EQUAL if nominal[j] else AT_LEAST, v, int(p_up[k]), int(t_up[k])
    return 0, NOTHING, 0.0, 0, 0


def _best_test_loops(values, positive, nominal, logs, base):
    n_columns, n_objects = values.shape
    best, best_column, comparison, value, best_p, best_t = 0.0, 0, NOTHING, 0.0, 0, 0
    for j in range(n_columns):
        t_all = n_objects
        while t_all > 0 and np.isnan(values[j, t_all - 1]):
            t_all -= 1
        p_all = 0
        for i in range(t_all):
            p_all += positive[j, i]
        p, p_below, t_below = 0, 0, 0
        for i in range(t_all):
            p += positive[j, i]
            if i + 1 < t_all and values[j, i + 1] == values[j, i]:
                continue
            t = i + 1
            if nominal[j]:
                side, p_up, t_up = EQUAL, p - p_below, t - t_below
            else:
                side, p_up, t_up = AT_LEAST, p_all - p_below, t_all - t_below
            # No gain exceeds p * -base: most logarithms need not be looked up.
            gain = 0.0
            if p_up * -base > best:
                gain = p_up * ((logs[p_up + 1] - logs[t_up + 1]) - base)
            if p * -base > best and not nominal[j]:
                down = p * ((logs[p + 1] - logs[t + 1]) - base)
                if down > gain:
                    gain, side, p_up, t_up = down, AT_MOST, p, t
            if gain > best:
                best = gain
                best_column, comparison, value = j, side, values[j, i]
                best_p, best_t = p_up, t_up
            p_below, t_below = p, t
    return best_column, comparison, value, best_p, best_t


best_test = either(interpreted=_best_test_interpreted, loops=_best_test_loops)

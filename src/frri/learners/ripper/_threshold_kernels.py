"""Search for tests `value <= v`, `value >= v` or `value = v` that single out the objects of a class.

A table is an array `values` of shape (n_columns, n_objects). Some of its objects are an array of the same
number of columns, `coded`: each column names the objects by ascending value (missing values, NaN, last),
an object as twice its number, and one more if it is of the class in question, a *positive*. Fewer objects
are the same with fewer entries, so nothing is ever sorted again. Several tests are a matrix, one row
`(column, comparison, value)` for each.

Interpreted, the kernels are array operations; compiled, some are loops. Counts are integers and gains
are computed from the same logarithms in the same order, so both forms agree bit for bit.
"""

import numpy as np

from frri._compile import either, inner_kernel, kernel

# How a test compares; a search that finds nothing answers NOTHING.
NOTHING, AT_MOST, AT_LEAST, EQUAL = range(4)

# Unsigned like the codes: the compiler need not think of negative positions.
ONE = np.uint32(1)

# Objects that are passed over together where no test among them can be the best.
BLOCK = 64


@inner_kernel
def satisfies(values, comparison, value):
    """Which values satisfy a test; a missing one satisfies none.

    Examples
    --------
    >>> satisfies(np.array([1.0, 2.0, np.nan]), AT_LEAST, 2.0)
    array([False,  True, False])
    """
    if comparison == AT_MOST:
        return values <= value
    if comparison == AT_LEAST:
        return values >= value
    return values == value


@kernel
def covered(values, tests):
    """Which objects satisfy all tests.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 3.0], [5.0, 4.0, np.nan]])
    >>> covered(values, np.array([[0, AT_LEAST, 2.0], [1, AT_MOST, 5.0]]))
    array([False,  True, False])
    """
    kept = np.ones(values.shape[1], dtype=np.bool_)
    for k in range(len(tests)):
        kept &= satisfies(values[int(tests[k, 0])], tests[k, 1], tests[k, 2])
    return kept


# --- beginnings: what the first tests of a rule leave


def _beginnings_interpreted(values, tests, rows, positive):
    """Count the objects, and the positives among them, that satisfy the first 0, 1, ..., all tests.

    Parameters
    ----------
    values : ndarray of float, shape (n_columns, n_objects)
    tests : ndarray of float, shape (n_tests, 3)
    rows, positive : ndarray of bool, shape (n_objects,)
        The objects to count, and which objects are positive.

    Returns
    -------
    ndarray of int, shape (n_tests + 1, 2)
    """
    left = np.flatnonzero(rows)
    counts = [(len(left), np.count_nonzero(positive[left]))]
    for column, comparison, value in tests:
        left = left[satisfies(values[int(column)][left], comparison, value)]
        counts.append((len(left), np.count_nonzero(positive[left])))
    return np.array(counts)


def _beginnings_loops(values, tests, rows, positive):
    counts = np.zeros((len(tests) + 1, 2), dtype=np.int64)
    left = rows.copy()
    holds = rows
    for k in range(len(tests) + 1):
        if k > 0:
            holds = satisfies(values[int(tests[k - 1, 0])], tests[k - 1, 1], tests[k - 1, 2])
        t, p = 0, 0
        for i in range(len(left)):
            left[i] &= holds[i]
            t += left[i]
            p += left[i] & positive[i]
        counts[k, 0], counts[k, 1] = t, p
    return counts


beginnings = either(interpreted=_beginnings_interpreted, loops=_beginnings_loops)


# --- restrict: the same columns with fewer objects


def _restrict_interpreted(coded, kept):
    """Keep the objects whose flag is set, in every column's order."""
    positions = np.flatnonzero(kept.take(coded >> ONE))
    return coded.ravel().take(positions).reshape(len(coded), len(positions) // len(coded))


def _restrict_loops(coded, kept):
    n_columns, n_objects = coded.shape
    n_kept = 0
    for i in range(n_objects):
        n_kept += kept[coded[0, i] >> ONE]
    result = np.empty((n_columns + 1, n_kept), dtype=np.uint32)
    for j in range(n_columns if n_kept else 0):
        row, k = result[j], np.uint64(0)
        for i in range(n_objects):
            # Written in any case and overwritten by the next, at the end of a column by the next column:
            # a branch could not be predicted.
            row[k] = coded[j, i]
            k += np.uint64(kept[coded[j, i] >> ONE])
    return result[:n_columns]


restrict = either(interpreted=_restrict_interpreted, loops=_restrict_loops)


# --- best_test: the test of greatest information gain


def value_counts(values, positive):
    """Count, for every distinct value of every column, what lies at or below it.

    Parameters
    ----------
    values, positive : ndarray of float and of bool, shape (n_columns, n_objects)
        Ascending values of each column, and the positives in the same order.

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
    n_objects = max(1, values.shape[1])
    last = values == values  # noqa: PLR0124 - not missing
    last[:, :-1] &= values[:, 1:] != values[:, :-1]
    ends = np.flatnonzero(last)
    column = ends // n_objects
    positives = positive.cumsum(axis=1).ravel().take(ends)
    return column, values.ravel().take(ends), positives, ends - column * n_objects + 1


def _best_test_interpreted(coded, values, nominal, logs, base):
    """Find the test of greatest gain `p * (log2((p + 1) / (t + 1)) - base)`.

    Here t objects satisfy the test, p of them positive. The gain must be above 0; of several equal
    ones the first counts, in the order of columns and values, and at one value `>=` before `<=`.

    Parameters
    ----------
    coded : ndarray of int32, shape (n_columns, any)
        The objects at hand.
    values : ndarray of float, shape (n_columns, n_objects)
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
    positives : int
        How many positives satisfy the test.
    start, stop : int
        Where the objects that satisfy it stand in their column.
    """
    columns_start = np.arange(0, values.size, values.shape[1])
    ascending = values.ravel().take((coded >> ONE) + columns_start[:, None])
    column, value, positives, objects = value_counts(ascending, (coded & ONE).astype(np.bool_))
    if not len(column):
        return 0, NOTHING, 0.0, 0, 0, 0
    p_below, t_below = np.zeros((2, len(column)), dtype=np.int64)
    same = column[1:] == column[:-1]
    np.multiply(positives[:-1], same, out=p_below[1:])
    np.multiply(objects[:-1], same, out=t_below[1:])
    p_all, t_all = np.zeros((2, len(nominal)), dtype=np.int64)
    p_all[column], t_all[column] = positives, objects  # the last entry of each column stays
    p_up, end_up = p_all.take(column) - p_below, t_all.take(column)
    gains_down = positives * ((logs.take(positives + 1) - logs.take(objects + 1)) - base)
    if nominal.any():
        named = nominal[column]
        gains_down[named] = -np.inf
        p_up[named] = (positives - p_below)[named]
        end_up[named] = objects[named]
    gains_up = p_up * ((logs.take(p_up + 1) - logs.take(end_up - t_below + 1)) - base)
    k = int(np.maximum(gains_up, gains_down).argmax())
    j, v = int(column[k]), float(value[k])
    if gains_down[k] > gains_up[k]:
        if gains_down[k] > 0.0:
            return j, AT_MOST, v, int(positives[k]), 0, int(objects[k])
    elif gains_up[k] > 0.0:
        side = EQUAL if nominal[j] else AT_LEAST
        return j, side, v, int(p_up[k]), int(t_below[k]), int(end_up[k])
    return 0, NOTHING, 0.0, 0, 0, 0


@inner_kernel
def _gain(p, t, logs, base):
    return p * ((logs[p + 1] - logs[t + 1]) - base)


@inner_kernel
def _positives(codes):
    total = 0
    for i in range(len(codes)):
        total += codes[i] & ONE
    return total


@inner_kernel
def _differ(code, other, column):
    return column[code >> ONE] != column[other >> ONE]


@inner_kernel
def _best_name(codes, column, logs, base, best):
    """The best test `=` of a sorted column: gain, value, positives, start and stop; above `best` only."""
    found = (best, 0.0, 0, 0, 0)
    start, p = 0, 0
    for i in range(len(codes)):
        p += codes[i] & ONE
        value = column[codes[i] >> ONE]
        if i + 1 == len(codes) or column[codes[i + 1] >> ONE] != value:
            gain = _gain(p, i + 1 - start, logs, base)
            if gain > found[0]:
                found = (gain, value, p, start, i + 1)
            start, p = i + 1, 0
    return found


def _best_test_loops(coded, values, nominal, logs, base):
    n_columns, n_objects = coded.shape
    best = 0.0
    found = (0, NOTHING, 0.0, 0, 0, 0)
    for j in range(n_columns):
        column = values[j]
        t_all = n_objects
        while t_all > 0 and np.isnan(column[coded[j, t_all - 1] >> ONE]):
            t_all -= 1
        codes = coded[j, :t_all]
        if nominal[j]:
            gain, value, p, start, stop = _best_name(codes, column, logs, base, best)
            if gain > best:
                best = gain
                found = (j, EQUAL, value, p, start, stop)
            continue
        p, p_all = 0, _positives(codes)
        for first in range(0, t_all, BLOCK):
            stop = min(first + BLOCK, t_all)
            p_stop = p + _positives(codes[first:stop])
            # More positives and fewer negatives never lower a gain: no test `<=` that ends in this block
            # exceeds all positives up to its end with the negatives before it, no test `>=` that starts
            # here all positives from its start with the negatives after it.
            t_down = p_stop + (first - p)
            p_up = p_all - p
            t_up = p_up + (t_all - p_all) - (stop - p_stop)
            if _gain(p_stop, t_down, logs, base) <= best and _gain(p_up, t_up, logs, base) <= best:
                p = p_stop
                continue
            for i in range(first, stop):
                # Values are looked up only where it matters whether the neighbour has the same.
                p_up = p_all - p
                gain = _gain(p_up, t_all - i, logs, base)
                if gain > best and (i == 0 or _differ(codes[i - 1], codes[i], column)):
                    best = gain
                    found = (j, AT_LEAST, column[codes[i] >> ONE], p_up, i, t_all)
                p += codes[i] & ONE
                gain = _gain(p, i + 1, logs, base)
                if gain > best and (i + 1 == t_all or _differ(codes[i], codes[i + 1], column)):
                    best = gain
                    found = (j, AT_MOST, column[codes[i] >> ONE], p, 0, i + 1)
    return found


best_test = either(interpreted=_best_test_interpreted, loops=_best_test_loops)


@kernel
def grow(coded, kept, values, nominal, logs, min_weight):
    """Find tests one after another, each the best for the objects left, until these are pure.

    Parameters
    ----------
    coded, values, nominal, logs
        As for `best_test`.
    kept : ndarray of bool, shape (n_objects,)
        Which of the objects at hand to start with.
    min_weight : float
        A test that fewer positives satisfy is not added and ends the growth.

    Returns
    -------
    ndarray of float, shape (n_tests, 3)
    """
    coded = restrict(coded, kept)
    n_objects, n_positives = coded.shape[1], np.int64((coded[0] & ONE).sum())
    left = np.zeros(values.shape[1], dtype=np.bool_)
    tests, n_tests = np.empty((n_objects, 3)), 0  # every test takes at least one object away
    while n_positives < n_objects:
        base = logs[n_positives + 1] - logs[n_objects + 1]
        found = best_test(coded, values, nominal, logs, base)
        column, comparison, value, n_positives, start, stop = found
        if comparison == NOTHING or n_positives < min_weight:
            break
        tests[n_tests, 0], tests[n_tests, 1], tests[n_tests, 2] = column, comparison, value
        n_tests += 1
        n_objects = stop - start
        if n_positives < n_objects:
            inside = coded[column, start:stop] >> ONE
            left[inside] = True
            coded = restrict(coded, left)
            left[inside] = False
    return tests[:n_tests].copy()

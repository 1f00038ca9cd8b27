"""Search for tests `value <= v`, `value >= v` or `value = v` that single out a class.

Some of the samples of a table are an array `coded` with a row for each feature: it lists the
samples by ascending value (missing values last), a sample as twice its number, plus one if it is of
the class in question, a *positive*. A subset of the samples is the same array with fewer entries,
so that nothing is sorted again. Several tests are a matrix with one row `(feature, comparison,
value)` for each.

Interpreted, the kernels are array operations; compiled, some are loops. Weights are counted in
integer units and gains are computed from the same table of logarithms in the same order, so that
both forms agree bit for bit.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frri._compile import either, inner_kernel, kernel
from frri._reproducible import log2
from frri._util import Flags, Floats, Ints
from frri.learners.ripper.description_length import delete_needless  # noqa: F401 - compiled too
from frri.learners.training_table import TrainingTable, Weights

# How a test compares; a search that finds nothing returns NOTHING.
NOTHING, AT_MOST, AT_LEAST, EQUAL = range(4)

# Unsigned like the codes: the compiler need not consider negative positions.
ONE = np.uint32(1)

# Number of samples that are skipped together where no test among them can be the best.
BLOCK = 64


# Binary logarithm of the maximum number of units: their sums are exact as floating-point numbers.
EXACT_UNITS = 52
# Weight of all samples up to which the logarithms of its parts are kept in a table.
LARGEST_TABLE = 1 << 22


class SortedColumns(NamedTuple):
    """A training table: its values sorted by every feature, classes and weights of the samples.

    Attributes
    ----------
    values : ndarray of float, shape (n_features, n_samples)
        NaN where missing.
    order : ndarray of uint32, shape (n_features, n_samples)
        Sample numbers by ascending value, missing values last.
    nominal : ndarray of bool, shape (n_features,)
    n_tests : int
        Number of distinct tests: two for each distinct value of a numeric feature, one for each
        category of a nominal one.
    classes : ndarray of int, shape (n_samples,)
        In the smallest type, which is sorted fastest.
    weights : ndarray of float, shape (n_samples,)
        Weights of the samples; all sums of them are exact.
    units : ndarray of int, shape (n_samples,), or None
        Weights in integer units; None if all are 1, for which kernels are compiled on their own.
    unit : float
        Weight of a unit, a power of 2.
    logs : ndarray of float
        Binary logarithms of 1, 2, ..., up to 1 plus the weight of all samples; empty, for
        interpreted kernels only, if weights are not moderate integers.
    """

    values: Floats
    order: NDArray[np.uint32]
    nominal: Flags
    n_tests: int
    classes: NDArray[np.unsignedinteger]
    weights: Floats
    units: Ints | None
    unit: float
    logs: Floats

    @classmethod
    def of(cls, table: TrainingTable) -> "SortedColumns":
        """Sort a training table."""
        values = np.ascontiguousarray(table.values.T) + 0.0  # -0 equals 0: a threshold is never -0
        order = values.argsort(axis=1, kind="stable")
        ascending = np.take_along_axis(values, order, axis=1)
        nominal = np.array([attribute.kind == "nominal" for attribute in table.attributes])
        steps = ascending[:, 1:] > ascending[:, :-1]  # a comparison with NaN is false
        distinct = np.count_nonzero(steps, axis=1) + ~np.isnan(ascending[:, 0])
        n_tests = int(np.where(nominal, distinct, 2 * distinct).sum())
        classes = table.classes.astype(np.min_scalar_type(len(table.labels)))
        weights, units, unit = table.all_weights, None, 1.0
        if table.weights is not None:
            rounded = Weights.of(table.weights, EXACT_UNITS)
            units, unit = rounded.units, rounded.unit
            weights = np.asarray(units * unit, dtype=np.float64)
        total = int(weights.sum())
        tabled = units is None or (unit == 1.0 and total <= LARGEST_TABLE)
        logs = log2(np.arange(1, total + 2 if tabled else 1, dtype=np.float64))
        known = values, order.astype(np.uint32), nominal, n_tests
        return cls(*known, classes, weights, units, unit, logs)


@inner_kernel
def satisfies(values: Any, comparison: float, value: float) -> Any:
    """Return which values satisfy a test; a missing value satisfies none."""
    if comparison == AT_MOST:
        return values <= value
    if comparison == AT_LEAST:
        return values >= value
    return values == value


@kernel
def covered(columns, tests):
    """Return which samples satisfy all tests."""
    kept = np.ones(columns.values.shape[1], dtype=np.bool_)
    for k in range(len(tests)):
        kept &= satisfies(columns.values[int(tests[k, 0])], tests[k, 1], tests[k, 2])
    return kept


@kernel
def prefix_weights(columns, tests, rows, positive):
    """Sum the weights of samples, and of positives, that satisfy the first 0, 1, ..., all tests."""
    sums, left = np.empty((len(tests) + 1, 2)), rows.copy()
    for k in range(len(tests) + 1):
        if k > 0:
            values = columns.values[int(tests[k - 1, 0])]
            left &= satisfies(values, tests[k - 1, 1], tests[k - 1, 2])
        sums[k, 0], sums[k, 1] = flagged_weights(left, positive, columns.units)
    return sums * columns.unit


@kernel
def grow(coded, kept, columns, min_units):
    """Find tests one after another, each the best for the samples left, until these are pure.

    It starts with the coded samples whose flag is set in `kept`. A test that positives of a weight
    below `min_units` satisfy is not added and ends the growth.
    """
    coded = restrict(coded, kept)
    p, t = weights_of(coded[0], columns.units)
    left = np.zeros(columns.values.shape[1], dtype=np.bool_)
    # Every test excludes at least one sample.
    tests, n_tests = np.empty((coded.shape[1], 3)), 0
    while p < t:
        column, comparison, value, p, t, start, stop = best_test(coded, columns, p, t)
        if comparison == NOTHING or p < min_units:
            break
        tests[n_tests, 0], tests[n_tests, 1], tests[n_tests, 2] = column, comparison, value
        n_tests += 1
        if p < t:
            inside = coded[column, start:stop] >> ONE
            left[inside] = True
            coded = restrict(coded, left)
            left[inside] = False
    return tests[:n_tests].copy()


# --- restrict: the same columns with fewer samples
def _restrict_interpreted(coded, kept):
    """Keep the samples whose flag is set, in the order of every feature."""
    positions = kept.take(coded >> ONE).ravel().nonzero()[0]
    return coded.ravel().take(positions).reshape(len(coded), len(positions) // len(coded))


def _restrict_loops(coded, kept):
    n_features, n_coded = coded.shape
    n_kept = 0
    for i in range(n_coded):
        n_kept += kept[coded[0, i] >> ONE]
    # Every code is written and overwritten by the next unless it is kept, because a branch could
    # not be predicted; one place more is for the last.
    result, k = np.empty(n_features * n_kept + 1, dtype=np.uint32), np.uint64(0)
    for j in range(n_features):
        for i in range(n_coded):
            result[k] = coded[j, i]
            k += np.uint64(kept[coded[j, i] >> ONE])
    return result[:-1].reshape(n_features, n_kept)


restrict = either(interpreted=_restrict_interpreted, loops=_restrict_loops)


# --- weights_of: positives and all samples
def _weights_interpreted(codes, units):
    """Return the weight of the positives and of all samples, in units."""
    positive = codes & ONE
    if units is None:
        return int(positive.sum()), len(codes)
    weights = units.take(codes >> ONE)
    return int(weights[positive > 0].sum()), int(weights.sum())


def _weights_loops(codes, units):
    p, t = 0, 0
    for i in range(len(codes)):
        weight = _weight(codes[i], units)
        p += weight * (codes[i] & ONE)
        t += weight
    return p, t


@inner_kernel
def _weight(code, units):
    if units is None:
        return 1
    return units[code >> ONE]


weights_of = either(interpreted=_weights_interpreted, loops=_weights_loops)


# --- flagged_weights: positives and all samples, from flags
def _flagged_weights_interpreted(rows, positive, units):
    """Return the weight of the samples with a flag, and of the positives among them, in units."""
    own = rows & positive
    if units is None:
        return np.count_nonzero(rows), np.count_nonzero(own)
    return int(units[rows].sum()), int(units[own].sum())


def _flagged_weights_loops(rows, positive, units):
    t, p = 0, 0
    for i in range(len(rows)):
        weight = 1 if units is None else units[i]
        t += weight * rows[i]
        p += weight * (rows[i] & positive[i])
    return t, p


flagged_weights = either(interpreted=_flagged_weights_interpreted, loops=_flagged_weights_loops)


# --- best_test: the test of greatest information gain
def _best_test_interpreted(coded, columns, positives, total):
    """Find the test of greatest gain `p * (log2((p + 1) / (t + 1)) - log2((P + 1) / (T + 1)))`.

    Here samples of weight t satisfy the test, positives of weight p among them; T and P are the
    same before the test. The gain must be above 0; of several equal ones the first is taken, in the
    order of features and values, and at one value `>=` before `<=`. The factor p is in units, which
    does not change the order.

    Returns
    -------
    column, comparison, value
        The test; the comparison is NOTHING if no test has a gain.
    positives, total : int
        Weight of the positives and of all samples that satisfy the test, in units.
    start, stop : int
        Positions of these samples in the order of the feature.
    """
    values, nominal, units = columns.values, columns.nominal, columns.units
    n = max(1, coded.shape[1])
    rows = coded >> ONE
    ascending = values.ravel().take(rows + np.arange(0, values.size, values.shape[1])[:, None])
    last = ascending == ascending  # noqa: PLR0124 - not missing
    last[:, :-1] &= ascending[:, 1:] != ascending[:, :-1]
    ends = last.ravel().nonzero()[0]
    if not len(ends):
        return 0, NOTHING, 0.0, 0, 0, 0, 0
    # One entry for every feature and distinct value: what is at most this value, and what is below.
    column = ends // n
    stop = ends - column * n + 1
    positive = (coded & ONE).astype(np.bool_)
    if units is not None:
        weights = units.take(rows)
        p = (weights * positive).cumsum(axis=1).ravel().take(ends)
        t = weights.cumsum(axis=1).ravel().take(ends)
    else:
        p, t = positive.cumsum(axis=1).ravel().take(ends), stop
    same = column[1:] == column[:-1]
    p_below, t_below, start = np.zeros((3, len(ends)), dtype=np.int64)
    for before, until in ((p_below, p), (t_below, t), (start, stop)):
        np.multiply(until[:-1], same, out=before[1:])
    final = (np.bincount(column, minlength=len(coded)).cumsum() - 1).take(column)
    some_nominal = nominal.any()
    if some_nominal:
        final = np.where(nominal[column], np.arange(len(column)), final)
    p_up, t_up = p.take(final) - p_below, t.take(final) - t_below
    base = _log_ratio(positives, total, columns)
    gains_up = p_up * (_log_ratio(p_up, t_up, columns) - base)
    gains_down = p * (_log_ratio(p, t, columns) - base)
    if some_nominal:
        gains_down[nominal[column]] = -np.inf
    k = int(np.maximum(gains_up, gains_down).argmax())
    j, v = int(column[k]), float(ascending.ravel()[ends[k]])
    if gains_down[k] > gains_up[k]:
        if gains_down[k] > 0.0:
            return j, AT_MOST, v, int(p[k]), int(t[k]), 0, int(stop[k])
    elif gains_up[k] > 0.0:
        side = EQUAL if nominal[j] else AT_LEAST
        return j, side, v, int(p_up[k]), int(t_up[k]), int(start[k]), int(stop[final[k]])
    return 0, NOTHING, 0.0, 0, 0, 0, 0


def _log_ratio(p, t, columns):
    if len(columns.logs):
        return columns.logs.take(p) - columns.logs.take(t)
    return log2(p * columns.unit + 1.0) - log2(t * columns.unit + 1.0)


def _best_test_loops(coded, columns, positives, total):
    units, logs = columns.units, columns.logs
    base = logs[positives] - logs[total]
    best = 0.0
    found = (0, NOTHING, 0.0, 0, 0, 0, 0)
    for j in range(len(coded)):
        column = columns.values[j]
        n_known = coded.shape[1]
        while n_known > 0 and np.isnan(column[coded[j, n_known - 1] >> ONE]):
            n_known -= 1
        codes = coded[j, :n_known]
        if columns.nominal[j]:
            gain, value, p, t, start, stop = _best_category(codes, column, units, logs, base)
            if gain > best:
                best = gain
                found = (j, EQUAL, value, p, t, start, stop)
            continue
        p, t = 0, 0
        p_all, t_all = weights_of(codes, units)
        for first in range(0, n_known, BLOCK):
            stop = min(first + BLOCK, n_known)
            p_block, t_block = weights_of(codes[first:stop], units)
            # More positives and fewer negatives never lower a gain: no test `<=` that ends in this
            # block exceeds all positives up to its end with the negatives before it, no test `>=`
            # that starts here all positives from its start with the negatives after it.
            p_down, p_up = p + p_block, p_all - p
            t_down, t_up = p_down + (t - p), p_up + (t_all - p_all) - (t + t_block - p_down)
            if _gain(p_down, t_down, logs, base) <= best and _gain(p_up, t_up, logs, base) <= best:
                p, t = p_down, t + t_block
                continue
            for i in range(first, stop):
                # Values are looked up only where it matters whether the neighbor has the same.
                gain = _gain(p_all - p, t_all - t, logs, base)
                if gain > best and (i == 0 or _differ(codes[i - 1], codes[i], column)):
                    best = gain
                    value = column[codes[i] >> ONE]
                    found = (j, AT_LEAST, value, p_all - p, t_all - t, i, n_known)
                weight = _weight(codes[i], units)
                p += weight * (codes[i] & ONE)
                t += weight
                gain = _gain(p, t, logs, base)
                if gain > best and (i + 1 == n_known or _differ(codes[i], codes[i + 1], column)):
                    best = gain
                    found = (j, AT_MOST, column[codes[i] >> ONE], p, t, 0, i + 1)
    return found


@inner_kernel
def _best_category(codes, column, units, logs, base):
    """Return the best test `=` of a feature: gain, value, positives, total, start and stop."""
    best = 0.0
    found = (best, 0.0, 0, 0, 0, 0)
    start, p, t = 0, 0, 0
    for i in range(len(codes)):
        weight = _weight(codes[i], units)
        p += weight * (codes[i] & ONE)
        t += weight
        if i + 1 == len(codes) or _differ(codes[i], codes[i + 1], column):
            gain = _gain(p, t, logs, base)
            if gain > best:
                best = gain
                found = (gain, column[codes[i] >> ONE], p, t, start, i + 1)
            start, p, t = i + 1, 0, 0
    return found


@inner_kernel
def _gain(p, t, logs, base):
    # Unsigned, for the compiler need not consider negative positions.
    return p * ((logs[np.uint64(p)] - logs[np.uint64(t)]) - base)


@inner_kernel
def _differ(code, other, column):
    return column[code >> ONE] != column[other >> ONE]


best_test = either(interpreted=_best_test_interpreted, loops=_best_test_loops)


# --- tally: weights of groups of samples
def _tally_interpreted(groups, rows, positive, units, n_groups):
    """Sum the weights of samples with a flag, and of positives among them, by group, in units."""
    counted = rows.nonzero()[0]
    codes = 2 * groups.take(counted).astype(np.intp) + positive.take(counted)
    weights = None if units is None else units.take(counted)
    sums = np.bincount(codes, weights, 2 * n_groups).astype(np.int64).reshape(-1, 2)
    sums[:, 0] += sums[:, 1]
    return sums


def _tally_loops(groups, rows, positive, units, n_groups):
    sums = np.zeros((n_groups, 2), dtype=np.int64)
    for i in range(len(rows)):
        weight = 1 if units is None else units[i]
        sums[groups[i], 0] += weight * rows[i]
        sums[groups[i], 1] += weight * (rows[i] & positive[i])
    return sums


tally = either(interpreted=_tally_interpreted, loops=_tally_loops)

"""Compiled prediction for large tables: the best rule by the minimum t-norm, else the nearest rule.

The results are those of `frri.rules.inference`, bit for bit. Samples are taken in blocks that stay
in the cache, feature by feature, rule by rule. Values are quantized to one byte, their *bin*,
which keeps their order: a value whose bin is outside the bins of a support is outside the support.
Degrees are computed for the few samples of a block that may be inside all supports of a rule.
Samples that no rule covers get the class of the nearest rule.
"""

import sys
from collections import namedtuple
from typing import NamedTuple

import numpy as np

from frri._compile import compiled, inner_kernel, kernel
from frri._util import Floats, Positions, map_threads, n_threads
from frri.rules.matching import RuleArrays

# Samples x conditions from which compiled kernels pay: first in a process, and once they are
# loaded.
COLD = 50_000_000
WARM = 500_000
# Samples whose degrees are computed together, and those that are turned into columns together.
BLOCK = 4096
TILE = 64

# Bins: values lie from 0 to LAST.
LAST = 254
MISSING = 255

# How samples are scored; variables, because a literal argument would compile a kernel once more.
BY_DEGREE, BY_NEARNESS = np.int64(0), np.int64(1)

# What `RuleArrays` holds under the same names.
RuleTable = namedtuple(  # noqa: PYI024 - numba needs no types
    "RuleTable",
    "classes support_low core_low core_high support_high slope_low slope_high columns indptr "
    "weights allowed code_0 outside always missing_holds lows highs",
)
# How the values of each feature become bins, and the bins of the support of each condition.
Grid = namedtuple("Grid", "origin fineness low high")  # noqa: PYI024
# Memory for a block of samples: features x samples, whether a feature has missing values, bins,
# samples that fit a rule as flags and as positions, their values and degrees, samples x classes,
# and whether a rule covers a sample.
Buffers = namedtuple(  # noqa: PYI024
    "Buffers", "block incomplete bins fits left inside degree best covered"
)


class BulkPredictions(NamedTuple):
    """The class of each sample, and samples x classes scores."""

    decided: Positions
    scores: Floats


def decide(arrays: RuleArrays, values: Floats, n_jobs: int | None = None) -> BulkPredictions:
    """Return the position of each sample's class, and scores."""
    kernels = compiled(sys.modules[__name__])
    values, n_samples = np.ascontiguousarray(values), len(values)
    rules = RuleTable(*(getattr(arrays, name) for name in RuleTable._fields))
    grid = _make_grid(arrays, values.shape[1])
    scores = np.empty((n_samples, len(arrays.labels)))
    results = BulkPredictions(np.empty(n_samples, dtype=np.intp), scores)

    def work(start: int, end: int) -> None:
        kernels.decide_rows(values, start, end, rules, grid, results)

    step = max(BLOCK, -(-n_samples // (4 * n_threads(n_jobs))))
    parts = [(start, min(start + step, n_samples)) for start in range(0, n_samples, step)]
    work(0, 0)  # compiles what is not yet compiled in this thread, where Ctrl-C ends it
    map_threads(work, parts, n_jobs)
    return results


def _make_grid(arrays: RuleArrays, n_columns: int) -> Grid:
    """Return bins over the bounds of the conditions on each feature, and those of each support."""
    columns, lows, highs = arrays.columns, arrays.support_low.copy(), arrays.support_high.copy()
    for k in arrays.nominal_at:  # the codes of categories are numbers, too, from -1 on
        codes = np.flatnonzero(arrays.allowed[arrays.code_0[k] - 1 :][: arrays.n_codes[k] + 1]) - 1
        lows[k], highs[k] = (codes[0], codes[-1]) if len(codes) else (-np.inf, np.inf)
    origin, highest = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    for bounds in (lows, highs):
        finite = np.isfinite(bounds)
        np.minimum.at(origin, columns[finite], bounds[finite])
        np.maximum.at(highest, columns[finite], bounds[finite])
    origin, highest = (np.where(np.isfinite(ends), ends, 0.0) for ends in (origin, highest))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        fineness = (LAST - 1.0) / (highest - origin)
        fineness[~np.isfinite(fineness)] = 0.0
        places = (np.stack([lows, highs]) - origin[columns]) * fineness[columns]
    places = np.fmax(np.fmin(places, LAST), 0.0)
    low = np.where(lows > -np.inf, places[0], 0)
    high = np.where(arrays.always, MISSING, np.where(highs < np.inf, places[1], LAST))
    return Grid(origin, fineness, low.astype(np.uint8), high.astype(np.uint8))


@kernel
def decide_rows(values, start, stop, rules, grid, results):
    """Decide about the samples from start to stop."""
    n_columns, n_classes = values.shape[1], results.scores.shape[1]
    # Places after the last sample are looked at too: they hold a code that exists.
    buffers = Buffers(
        np.zeros((n_columns, BLOCK)),
        np.empty(n_columns, dtype=np.bool_),
        np.zeros((n_columns, BLOCK), dtype=np.uint8),
        np.zeros(BLOCK, dtype=np.bool_),
        np.empty(BLOCK + 1, dtype=np.int64),
        np.empty(BLOCK),
        np.empty(BLOCK),
        np.empty((BLOCK, n_classes)),
        np.empty(BLOCK, dtype=np.bool_),
    )
    rows = np.empty(BLOCK + 1, dtype=np.int64)
    for first in range(start, stop, BLOCK):
        size, n_silent = min(BLOCK, stop - first), 0
        for i in range(size):
            rows[i] = first + i
        score_rows(values, rows[:size], rules, grid, buffers, BY_DEGREE, results)
        for i in range(size):
            rows[n_silent] = first + i
            n_silent += not buffers.covered[i]
        score_rows(values, rows[:n_silent], rules, grid, buffers, BY_NEARNESS, results)


# ---------------------------------------------------------------- degrees
@inner_kernel
def score_rows(values, rows, rules, grid, buffers, mode, results):
    """Decide about some samples by the best degree, or by the nearest of all rules."""
    size, best, left, degree = len(rows), buffers.best, buffers.left, buffers.degree
    load(values, rows, rules, buffers)
    if mode == BY_DEGREE:
        quantize_block(size, grid, buffers)
    for i in range(size):
        left[i] = i
    n_left = size
    best[:size] = 0.0 if mode == BY_DEGREE else -np.inf
    for r in range(len(rules.weights)):
        if mode == BY_DEGREE:
            n_left = find_inside(size, r, rules, grid, buffers)
        compute_degrees(r, n_left, rules, buffers)
        c, weight = rules.classes[r], rules.weights[r]
        for s in range(n_left):
            best[left[s], c] = max(best[left[s], c], weight * degree[s])
    for i in range(size):
        c = 0
        for other in range(1, best.shape[1]):
            c = other if best[i, other] > best[i, c] else c
        results.decided[rows[i]] = c
        buffers.covered[i] = best[i, c] > 0.0
        for c in range(best.shape[1] if mode == BY_DEGREE else 0):
            results.scores[rows[i], c] = best[i, c]


@inner_kernel
def load(values, rows, rules, buffers):
    """Bring some samples into a block, feature by feature, clipped to the training range."""
    block, incomplete = buffers.block, buffers.incomplete
    incomplete[:] = False
    for first in range(0, len(rows), TILE):
        for j in range(values.shape[1]):
            low, high, missing = rules.lows[j], rules.highs[j], False
            for i in range(first, min(first + TILE, len(rows))):
                x = values[rows[i], j]
                x = low if x < low else x
                block[j, i] = high if x > high else x
                missing |= np.isnan(x)
            incomplete[j] |= missing


@inner_kernel
def quantize_block(size, grid, buffers):
    """Fill in the bins of a block: of numbers and of codes of categories, never out of order."""
    for j in range(len(buffers.block)):
        column, bins = buffers.block[j], buffers.bins[j]
        origin, fineness = grid.origin[j], grid.fineness[j]
        for i in range(size):
            place = (column[i] - origin) * fineness
            place = place if place < LAST else float(LAST)
            place = place if place > 0.0 else 0.0
            missing = np.isnan(column[i])
            bins[i] = np.uint8(MISSING) if missing else np.uint8(np.int32(place))


@inner_kernel
def find_inside(size, r, rules, grid, buffers):
    """Find the samples of a block that may be inside the support of rule r; return their number."""
    begin, end = rules.indptr[r], rules.indptr[r + 1]
    left, inside = buffers.left, buffers.fits
    for k in range(begin, end):
        bins, low, high = buffers.bins[rules.columns[k]], grid.low[k], grid.high[k]
        also = np.uint8(MISSING) if rules.missing_holds else high
        if k == begin:
            for i in range(size):
                inside[i] = (low <= bins[i]) & (bins[i] <= high) | (bins[i] == also)
        else:
            for i in range(size):
                inside[i] &= (low <= bins[i]) & (bins[i] <= high) | (bins[i] == also)
    inside[size:] = False
    n_left = 0
    eights = inside.view(np.uint64)
    for e in range(-(-size // 8)):
        if eights[e]:
            for i in range(8 * e, 8 * e + 8):
                left[n_left] = i
                n_left += inside[i]
    return n_left


@inner_kernel
def compute_degrees(r, n_left, rules, buffers):
    """Compute the uncut degrees of rule r for the samples of a block that are left."""
    left, inside, degree = buffers.left, buffers.inside, buffers.degree
    degree[:n_left] = 1.0
    for k in range(rules.indptr[r], rules.indptr[r + 1]):
        j, outside = rules.columns[k], rules.outside[k]
        column = buffers.block[j]
        for s in range(n_left):
            inside[s] = column[left[s]]
        if rules.code_0[k] >= 0:
            for s in range(n_left):
                if not allows(inside[s], k, rules):
                    degree[s] = min(degree[s], outside)
            continue
        if rules.support_low[k] > -np.inf:
            support, core = -rules.support_low[k], -rules.core_low[k]
            lower(degree, inside, n_left, support, core, rules.slope_low[k], -1.0)
        if rules.support_high[k] < np.inf:
            support, core = rules.support_high[k], rules.core_high[k]
            lower(degree, inside, n_left, support, core, rules.slope_high[k], 1.0)
        if buffers.incomplete[j] and not rules.missing_holds and not rules.always[k]:
            for s in range(n_left):
                if np.isnan(inside[s]):
                    degree[s] = min(degree[s], outside)


@inner_kernel
def lower(degree, inside, n_left, support, core, slope, sign):
    """Lower degrees to what one side of a condition allows; the left side is mirrored."""
    for s in range(n_left):
        x = sign * inside[s]
        value = (support - x) / slope
        value = value if x > core else 1.0
        degree[s] = np.minimum(degree[s], value)


@inner_kernel
def allows(x, k, rules):
    """Return whether nominal condition k holds for a code."""
    if np.isnan(x):
        return rules.missing_holds
    return rules.allowed[rules.code_0[k] + int(x)]

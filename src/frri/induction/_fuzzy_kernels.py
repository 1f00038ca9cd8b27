"""Kernels for decisions that agree by degrees, as array operations and as loops.

Both forms give the same results to the last bit. Missing values (NaN) fail no condition and a
condition on one is failed by nobody: no comparison with them holds. Kernels work on the rows from
`low` on, as many as their output has.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"

from typing import Any, NamedTuple

import numpy as np

from frri._bitsets import ONE
from frri._compile import either, inner_kernel
from frri.cover.matrix import packed
from frri.induction.numpy_backend import box_distances, pairwise_distances

# Pairs of samples that array operations take at a time: they should stay in the cache.
BLOCK_PAIRS = 1 << 16


class GradedTable(NamedTuple):
    """A table with graded decisions, in the order of its samples."""

    points: Any  # (n_samples, n_features), NaN where missing
    numbers: Any  # (n_samples,)
    tau: Any
    initial: Any  # (n_features,): sides that a box may have, 1 for above and 2 for below
    rigid: Any  # (n_features,): whether it has all of them or none


@inner_kernel
def agreement(table, u, v):
    """Return the degree to which the decision of one sample agrees with the rule of another."""
    return max(0.0, 1.0 - abs(table.numbers[v] - table.numbers[u]) / table.tau)


@inner_kernel
def fails(difference, sides, limit):
    """Return whether a value with this difference to the center fails by more than a limit."""
    return (sides & 1 and difference > limit) or (sides & 2 and -difference > limit)


def _blocks(low, n_rows, n_samples):
    """Return the rows, as many at a time as their pairs allow."""
    height = max(1, BLOCK_PAIRS // max(n_samples, 1))
    high = low + n_rows
    return [np.arange(top, min(top + height, high)) for top in range(low, high, height)]


def _agreements(table, rows):
    differences = np.abs(table.numbers[None, :] - table.numbers[rows, None])
    return np.maximum(0.0, 1.0 - differences / table.tau)


def _beyond(columns, rows, features, sides, limits):
    """Return the samples above, and those below, the boxes of rows with a feature each."""
    differences = columns[features] - columns[features, rows][:, None]
    above = (differences > limits) & ((sides & 1) > 0)[:, None]
    below = (-differences > limits) & ((sides & 2) > 0)[:, None]
    return above, below


# --- Confidences


def _nearest_arrays(table, low, out):
    columns, everyone = table.points.T, slice(None)
    for rows in _blocks(low, len(out), len(table.points)):
        found = pairwise_distances(columns, rows, everyone, table.initial.tolist())
        found += _agreements(table, rows)
        out[rows - low] = np.minimum(1.0, found.min(axis=1))


def _nearest_loops(table, low, out):
    points, initial = table.points, table.initial
    n, m = points.shape
    for u in range(low, low + len(out)):
        best = 1.0
        for v in range(n):
            found = agree = agreement(table, u, v)
            distance = 0.0
            for k in range(m):
                if found >= best:
                    break
                difference = points[v, k] - points[u, k]
                if initial[k] & 1 and difference > distance:
                    distance = difference
                elif initial[k] & 2 and -difference > distance:
                    distance = -difference
                found = distance + agree
            best = min(best, found)
        out[u - low] = best


nearest = either(interpreted=_nearest_arrays, loops=_nearest_loops)
"""Find the minimum of distance and agreement over all samples, at most 1: the confidence."""


# --- Shortening


def _prune_arrays(table, limits, orders, low, out):
    columns, m = np.ascontiguousarray(table.points.T), table.points.shape[1]
    initial = table.initial
    for rows in _blocks(low, len(out), len(table.points)):
        own = rows - low
        order = orders[own] if len(orders) > 1 else np.repeat(orders, len(rows), axis=0)
        limit = limits[own, None] - _agreements(table, rows)
        last = np.full(limit.shape, -1)
        for j in range(m - 1, -1, -1):
            above, below = _beyond(columns, rows, order[:, j], initial[order[:, j]], limit)
            last[(above | below) & (last < 0)] = j
        alive = limit >= 0
        for j in range(m):
            k = order[:, j]
            above, below = _beyond(columns, rows, k, initial[k], limit)
            critical = alive & (last == j)
            types = (critical & above).any(axis=1) + 2 * (critical & below).any(axis=1)
            types = np.where((types > 0) & table.rigid[k], initial[k], types)
            out[own, k] = types
            alive &= ~((above & ((types & 1) > 0)[:, None]) | (below & ((types & 2) > 0)[:, None]))


def _prune_loops(table, limits, orders, low, out):
    points, initial = table.points, table.initial
    n, m = points.shape
    # Samples that the same feature is the last to discern, as linked lists.
    first, following = np.empty(m, dtype=np.int64), np.empty(n, dtype=np.int64)
    limit = np.empty(n)
    for u in range(low, low + len(out)):
        order = orders[u - low] if len(orders) > 1 else orders[0]
        kept = out[u - low]
        first[:] = -1
        for v in range(n):
            limit[v] = limits[u - low] - agreement(table, u, v)
            if limit[v] < 0:
                continue
            for j in range(m - 1, -1, -1):
                k = order[j]
                if fails(points[v, k] - points[u, k], initial[k], limit[v]):
                    following[v] = first[j]
                    first[j] = v
                    break
        for j in range(m):
            k = order[j]
            types = 0
            v = first[j]
            while v >= 0 and types != initial[k]:
                alive = True
                for i in range(j):
                    f = order[i]
                    if fails(points[v, f] - points[u, f], kept[f], limit[v]):
                        alive = False
                        break
                if alive:
                    above = points[v, k] - points[u, k] > limit[v] and initial[k] & 1
                    types |= initial[k] if table.rigid[k] else 1 if above else 2
                v = following[v]
            kept[k] = types


prune = either(interpreted=_prune_arrays, loops=_prune_loops)
"""Find the sides that each box keeps: those needed by samples that only one feature discerns."""


# --- Covering


def _cover_arrays(points, limits, types, low, out):
    columns = np.ascontiguousarray(points.T)
    for rows in _blocks(low, len(out), len(points)):
        own = rows - low
        inside = box_distances(points[rows], types[own], columns) < limits[own, None]
        out[own] = packed(inside)


def _cover_loops(points, limits, types, low, out):
    n, m = points.shape
    for a in range(len(out)):
        u = low + a
        out[a] = 0
        if limits[a] <= 0:
            continue
        for v in range(n):
            inside = True
            for k in range(m):
                difference = points[v, k] - points[u, k]
                over = types[a, k] & 1 and difference >= limits[a]
                if over or (types[a, k] & 2 and -difference >= limits[a]):
                    inside = False
                    break
            if inside:
                out[a, v >> 6] |= ONE << np.uint64(v & 63)


cover = either(interpreted=_cover_arrays, loops=_cover_loops)
"""Find the samples in the box of each row, as words of 64 bits."""

"""The steps of induction where decisions agree by degrees: numbers, and classes as a special case.

The decision of `v` agrees with the rule of `u` to the degree `max(0, 1 - |y(v) - y(u)| / tau)`. What a rule
must keep away from by its confidence is then every object, less the degree to which that agrees: thresholds
are by pair, so that all pairs are looked at. Array operations and loops give the same to the last bit.

Missing values (NaN) fail no condition and a condition on one is failed by nobody: no comparison with them
holds. `initial` has the sides that a box may have, by attribute: 1 for above, 2 for below, 3 for both; a
`rigid` attribute has all of them or none. Work is done on the rows from `low` to `high`.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"

import numpy as np

from frri._compile import either, inner_kernel

ONE = np.uint64(1)

# Pairs of objects that array operations take at a time: they should stay in the cache.
BLOCK_PAIRS = 1 << 16


@inner_kernel
def agreement(numbers, tau, u, v):
    """The degree to which the decision of one object agrees with the rule of another."""
    return max(0.0, 1.0 - abs(numbers[v] - numbers[u]) / tau)


@inner_kernel
def fails(difference, sides, limit):
    """Whether a value that differs so much from the anchor's fails by more than a limit."""
    return (sides & 1 and difference > limit) or (sides & 2 and -difference > limit)


def _blocks(low, high, n):
    """The rows, as many at a time as their pairs allow."""
    height = max(1, BLOCK_PAIRS // max(n, 1))
    return [np.arange(top, min(top + height, high)) for top in range(low, high, height)]


def _agreements(numbers, tau, rows):
    return np.maximum(0.0, 1.0 - np.abs(numbers[None, :] - numbers[rows, None]) / tau)


def _beyond(columns, rows, attributes, sides, limits):
    """Which objects lie above, and which below, the boxes of some rows, each of an attribute of its own."""
    differences = columns[attributes] - columns[attributes, rows][:, None]
    above = (differences > limits) & ((sides & 1) > 0)[:, None]
    below = (-differences > limits) & ((sides & 2) > 0)[:, None]
    return above, below


# --- Confidences


def _nearest_interpreted(points, numbers, tau, initial, low, high, out):
    columns = points.T
    for rows in _blocks(low, high, len(points)):
        distance = np.zeros((len(rows), len(points)))
        for column, sides in zip(columns, initial.tolist(), strict=True):
            difference = column[None, :] - column[rows, None]
            if sides == 3:
                np.fmax(distance, np.abs(difference), out=distance)
            elif sides:
                np.fmax(distance, difference if sides == 1 else -difference, out=distance)
        distance += _agreements(numbers, tau, rows)
        out[rows] = np.minimum(1.0, distance.min(axis=1))


def _nearest_loops(points, numbers, tau, initial, low, high, out):
    n, m = points.shape
    for u in range(low, high):
        best = 1.0
        for v in range(n):
            found = agree = agreement(numbers, tau, u, v)
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
        out[u] = best


nearest = either(interpreted=_nearest_interpreted, loops=_nearest_loops)
"""The least sum of distance and agreement with any object, at most 1: how sure a rule can be."""


# --- Shortening


def _prune_interpreted(points, numbers, tau, initial, rigid, limits, orders, low, high, out):
    columns, m = np.ascontiguousarray(points.T), points.shape[1]
    for rows in _blocks(low, high, len(points)):
        order = orders[rows] if len(orders) > 1 else np.repeat(orders, len(rows), axis=0)
        limit = limits[rows, None] - _agreements(numbers, tau, rows)
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
            types = np.where((types > 0) & rigid[k], initial[k], types)
            out[rows, k] = types
            alive &= ~((above & ((types & 1) > 0)[:, None]) | (below & ((types & 2) > 0)[:, None]))


def _prune_loops(points, numbers, tau, initial, rigid, limits, orders, low, high, out):
    n, m = points.shape
    # The objects whose last attribute that tells them apart is the same, as linked lists.
    first, following = np.empty(m, dtype=np.int64), np.empty(n, dtype=np.int64)
    limit = np.empty(n)
    for u in range(low, high):
        order = orders[u] if len(orders) > 1 else orders[0]
        first[:] = -1
        for v in range(n):
            limit[v] = limits[u] - agreement(numbers, tau, u, v)
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
                    kept = order[i]
                    if fails(points[v, kept] - points[u, kept], out[u, kept], limit[v]):
                        alive = False
                        break
                if alive:
                    above = points[v, k] - points[u, k] > limit[v] and initial[k] & 1
                    types |= initial[k] if rigid[k] else 1 if above else 2
                v = following[v]
            out[u, k] = types


prune = either(interpreted=_prune_interpreted, loops=_prune_loops)
"""The sides that each box keeps: an object that only one attribute tells apart is critical for it."""


# --- Covering


def _cover_interpreted(points, limits, types, low, high, out):
    columns = points.T
    n = len(points)
    for rows in _blocks(low, high, n):
        limit = limits[rows, None]
        inside = np.repeat(limit > 0, n, axis=1)
        for column, kinds in zip(columns, types[rows].T, strict=True):
            difference = column[None, :] - column[rows, None]
            inside &= ~((difference >= limit) & ((kinds & 1) > 0)[:, None])
            inside &= ~((-difference >= limit) & ((kinds & 2) > 0)[:, None])
        octets = np.zeros((len(rows), out.shape[1] * 8), dtype=np.uint8)
        packed = np.packbits(inside, axis=1, bitorder="little")
        octets[:, : packed.shape[1]] = packed
        out[rows] = octets.view("<u8")


def _cover_loops(points, limits, types, low, high, out):
    n, m = points.shape
    for u in range(low, high):
        out[u] = 0
        if limits[u] <= 0:
            continue
        for v in range(n):
            inside = True
            for k in range(m):
                difference = points[v, k] - points[u, k]
                over = types[u, k] & 1 and difference >= limits[u]
                if over or (types[u, k] & 2 and -difference >= limits[u]):
                    inside = False
                    break
            if inside:
                out[u, v >> 6] |= ONE << np.uint64(v & 63)


cover = either(interpreted=_cover_interpreted, loops=_cover_loops)
"""The objects in the box of each row, as words of 64 bits."""

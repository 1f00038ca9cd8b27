"""Boxes around objects: how far they reach, and the sides that keep enemies out, as loops and as arrays.

Values are scaled to [0, 1]; columns of categories hold codes and are *rigid*: equal or not. Weights are
whole numbers kept as floats, small enough that their sums are exact in any order: the two forms of a
kernel agree bit for bit. A missing value (NaN) differs from nothing where distances are measured, and
satisfies no side.
"""

import numpy as np

from frri._twins import either, kernel

# A side holds where it fails by less than the radius, less this: as in the induction of FRRI.
TOLERANCE = 1e-6
# Elements of a block of the array forms.
BLOCK = 1 << 20
AT_MOST, AT_LEAST = 1, 2


def weighted_radii(values, classes, rigid, anchors, k, counts):
    """The smallest distance from each anchor within which enemies count at least k, or the farthest."""
    n, m = values.shape
    found = np.ones(len(anchors))
    step = max(1, BLOCK // max(1, n * m))
    for start in range(0, len(anchors), step):
        some = anchors[start : start + step]
        apart = np.abs(values[None] - values[some, None])
        apart[:, :, rigid] = apart[:, :, rigid] > 0.0
        distance = np.where(np.isnan(apart), 0.0, apart).max(axis=2, initial=0.0)
        for i, u in enumerate(some):
            enemies = np.flatnonzero(classes != classes[u])
            if len(enemies):
                order = enemies[distance[i, enemies].argsort(kind="stable")]
                place = np.searchsorted(np.cumsum(counts[order]), k)
                found[start + i] = distance[i, order[min(place, len(order) - 1)]]
    return found


def _radii_arrays(values, classes, rigid, anchors, k):
    """The distance from each anchor to its k-th nearest enemy, or the farthest if there are fewer."""
    return weighted_radii(values, classes, rigid, anchors, k, np.ones(len(values)))


def _radii_loops(values, classes, rigid, anchors, k):
    n, m = values.shape
    found = np.ones(len(anchors))
    nearest = np.empty(k)
    for i in range(len(anchors)):
        u = anchors[i]
        nearest[:] = np.inf
        for v in range(n):
            if classes[v] == classes[u]:
                continue
            distance = 0.0
            for a in range(m):
                apart = abs(values[v, a] - values[u, a])
                if rigid[a] and apart > 0.0:
                    apart = 1.0
                if apart > distance:
                    distance = apart
                    if distance >= nearest[k - 1]:
                        break
            if distance < nearest[k - 1]:
                place = k - 1
                while place > 0 and nearest[place - 1] > distance:
                    nearest[place] = nearest[place - 1]
                    place -= 1
                nearest[place] = distance
        last = k - 1
        while last > 0 and nearest[last] == np.inf:
            last -= 1
        if nearest[last] < np.inf:
            found[i] = nearest[last]
    return found


radii = either(interpreted=_radii_arrays, loops=_radii_loops)


def _grow_arrays(values, classes, weights, rigid, anchors, reach, share, most, types):
    """Add the side of best gain until few enemies are inside; `types` gets the sides of each box."""
    n, m = values.shape
    step = max(1, BLOCK // max(1, 2 * n * m))
    for start in range(0, len(anchors), step):
        some, limits = anchors[start : start + step], reach[start : start + step] - TOLERANCE
        block = types[start : start + step]
        apart = (values[None] - values[some, None]).transpose(0, 2, 1)
        sides = np.empty((len(some), m, 2, n))
        sides[:, :, 0] = apart < limits[:, None, None]
        sides[:, :, 1] = -apart < limits[:, None, None]
        sides[:, rigid, 0] = sides[:, rigid, 1] = apart[:, rigid] == 0.0
        sides = sides.reshape(len(some), 2 * m, n)
        own = (classes[None] == classes[some, None]) * weights
        parts = np.stack([own, weights - own], axis=2)
        inside = parts.sum(axis=1)
        unused = np.ones((len(some), 2 * m), dtype=np.bool_)
        left = np.arange(len(some))
        for _ in range(most):
            left = left[inside[left, 1] > share * inside[left, 0]]
            if not len(left):
                break
            now = sides[left] @ parts[left]
            gain = np.where(unused[left], _gain(now, inside[left]), 0.0)
            best = gain.argmax(axis=1)
            better = gain[np.arange(len(left)), best] > 0.0
            left, best, now = left[better], best[better], now[better]
            parts[left] *= sides[left, best][:, :, None]
            inside[left] = now[np.arange(len(left)), best]
            attribute, side = best // 2, np.where(rigid[best // 2], 3, 1 + best % 2)
            block[left, attribute] |= side.astype(np.int8)
            unused[left, best] = False
            unused[left, 2 * attribute + 1] &= ~rigid[attribute]


def _gain(now, before):
    """FOIL's gain, as the two forms compute it: own weight times what the share of it gains."""
    own, other = now[..., 0], now[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        base = np.log(before[:, 0] / (before[:, 0] + before[:, 1]))[:, None]
        return np.where(own > 0.0, own * (np.log(own / (own + other)) - base), 0.0)


def _grow_loops(values, classes, weights, rigid, anchors, reach, share, most, types):
    # Column by column and with whole numbers, so that the compiler makes vector instructions of it. The
    # objects still inside are moved together after every side.
    n, m = values.shape
    columns = np.empty((m, n))
    for a in range(m):
        for v in range(n):
            columns[a, v] = values[v, a]
    inside = np.empty((m, n))
    rows = np.empty(n, dtype=np.int64)
    whole, mine = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(len(anchors)):
        u, limit = anchors[i], reach[i] - TOLERANCE
        own, all_, count, moved = 0, 0, n, False
        for v in range(n):
            whole[v] = np.int64(weights[v])
            mine[v] = whole[v] if classes[v] == classes[u] else 0
            own += mine[v]
            all_ += whole[v]
        for _ in range(most):
            if not float(all_ - own) > share * own:
                break
            base, best = np.log(own / all_), 0.0
            best_a, best_side, best_own, best_all = -1, 0, 0, 0
            for a in range(m):
                x = inside[a] if moved else columns[a]
                sums = _weighed(x, values[u, a], rigid[a], limit, count, mine, whole)
                for side in range(1, 3):
                    if types[i, a] & side or (rigid[a] and side == AT_LEAST):
                        continue
                    own_1, all_1 = sums[2 * side - 2], sums[2 * side - 1]
                    if own_1 > 0:
                        gain = own_1 * (np.log(own_1 / all_1) - base)
                        if gain > best:
                            best, best_a, best_side = gain, a, side
                            best_own, best_all = own_1, all_1
            if best_a < 0:
                break
            x, kept = inside[best_a] if moved else columns[best_a], 0
            for v in range(count):
                if _holds(x[v] - values[u, best_a], best_side, rigid[best_a], limit):
                    rows[kept] = v
                    kept += 1
            for a in range(m):
                x = inside[a] if moved else columns[a]
                for k in range(kept):
                    inside[a, k] = x[rows[k]]
            for k in range(kept):
                whole[k], mine[k] = whole[rows[k]], mine[rows[k]]
            count, own, all_, moved = kept, best_own, best_all, True
            types[i, best_a] |= 3 if rigid[best_a] else best_side


@kernel
def _weighed(x, anchor, rigid, limit, count, mine, whole):
    """What lies on each side: own objects and all, of "at most", then of "at least"."""
    own_1, all_1, own_2, all_2 = 0, 0, 0, 0
    if rigid:
        for v in range(count):
            if x[v] - anchor == 0.0:
                own_1 += mine[v]
                all_1 += whole[v]
    else:
        for v in range(count):
            apart = x[v] - anchor
            own_1 += mine[v] if apart < limit else 0
            all_1 += whole[v] if apart < limit else 0
            own_2 += mine[v] if -apart < limit else 0
            all_2 += whole[v] if -apart < limit else 0
    return own_1, all_1, own_2, all_2


@kernel
def _holds(apart, side, rigid, limit):
    if rigid:
        return apart == 0.0
    return (apart if side == AT_MOST else -apart) < limit


grow = either(interpreted=_grow_arrays, loops=_grow_loops)

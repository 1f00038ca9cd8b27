"""Boxes of objects as bitmaps: nearest enemies, shortened conditions and covers of large tables.

Every attribute is cut into bins at some of its values. For each cut there is a bitmap of the
objects at or above it, so that "all objects within this box" is the conjunction of two bitmaps per
attribute, in blocks of words of 64 objects. Where a side of the box falls inside a bin, the
bitmaps give a set that is too large and a set that is too small; the objects in between are looked
at one by one, with the very float64 comparison of the definition. Results are exact.

Names used throughout: objects are numbered by *row*, grouped by class; the classes begin at whole
words, `rows` has the first row of each word and `fence` the first and last word of its class. `u`
is the row whose box it is. `fine` is indexed by cut, block and word; `first` is the first cut of
each attribute; `box` holds four cuts per attribute, see `place`.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"
# ruff: noqa: ANN001, ANN201, D103

import numpy as np

from frri.compiling import kernel

BUCKETS = 1024
STRIP = 512
# Words in a block: a line of the cache.
BLOCK = 8

NONE = np.uint64(0)
ONE = np.uint64(1)
ALL = ~np.uint64(0)

# The position of the single bit in a word, by a multiplication (a de Bruijn sequence).
SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
SHIFT = np.uint64(58)
POSITION = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    POSITION[(0x03F79D71B4CB0A89 << _bit & 0xFFFFFFFFFFFFFFFF) >> 58] = _bit


@kernel
def lowest(bits):
    """Position of the lowest bit set."""
    return POSITION[((bits & (~bits + ONE)) * SEQUENCE) >> SHIFT]


# --- The table


@kernel
def bins(ascending, most):
    """Cut every attribute at distinct quantiles, at all of its values if there are few.

    Values that fill a bin by themselves are a bin by themselves. Each attribute ends with an
    infinite cut that no object reaches.
    """
    m, n = ascending.shape
    total = 0
    first = np.empty(m + 1, dtype=np.int32)
    cuts = np.empty(m * (2 * most + 2))
    tops = np.empty(m * (2 * most + 2))
    for k in range(m):
        first[k] = total
        column = ascending[k]
        distinct = 1
        for r in range(1, n):
            if column[r] != column[r - 1]:
                distinct += 1
        everything = distinct <= most
        begun, group, r = -1, 0, 0
        alone = False
        while group < n:
            r = group + 1
            while r < n and column[r] == column[group]:
                r += 1
            crowd = (r - group) * most >= n
            quantile = group * most // n
            if everything or alone or crowd or quantile > begun:
                cuts[total] = column[group]
                total += 1
                begun = quantile
            tops[total - 1] = column[group]
            alone = crowd
            group = r
        cuts[total] = np.inf
        tops[total] = np.inf
        total += 1
    first[m] = total
    return first, cuts[:total].copy(), tops[:total].copy()


@kernel
def bucket(value):
    return min(max(int(value * BUCKETS), 0), BUCKETS - 1)


@kernel
def buckets(first, cuts):
    """For every attribute and bucket of [0, 1], the first cut in it or after it."""
    m = len(first) - 1
    starts = np.empty((m, BUCKETS + 1), dtype=np.int32)
    for k in range(m):
        cut = first[k]
        for b in range(BUCKETS + 1):
            while cut < first[k + 1] - 1 and bucket(cuts[cut]) < b:
                cut += 1
            starts[k, b] = cut
    return starts


@kernel
def search(cuts, starts, k, value):
    """First cut of attribute `k` above the value, or one a few before it."""
    b = bucket(value)
    low, high = starts[k, b], starts[k, b + 1]
    while high - low > 4:
        middle = (low + high) >> 1
        if cuts[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def fill(columns, bits, first, cuts, starts, fine):
    """Set the bitmaps of all cuts, given as zeros."""
    m, n = columns.shape
    n_blocks = fine.shape[1]
    for k in range(m):
        for r in range(n):
            cut = search(cuts, starts, k, columns[k, r])
            while cuts[cut] <= columns[k, r]:
                cut += 1
            cut -= 1
            fine[cut, (bits[r] >> 6) // BLOCK, (bits[r] >> 6) % BLOCK] |= ONE << np.uint64(bits[r] & 63)
        for cut in range(first[k + 1] - 2, first[k] - 1, -1):
            for b in range(n_blocks):
                for i in range(BLOCK):
                    fine[cut, b, i] |= fine[cut + 1, b, i]


@kernel
def enemies(fine, own_start, own_end, blocks, sets):
    """Blocks with objects outside a class, and the objects; returns how many blocks."""
    count = 0
    for b in range(fine.shape[1]):
        found = NONE
        for i in range(BLOCK):
            w = BLOCK * b + i
            sets[count, i] = NONE if own_start <= w < own_end else fine[0, b, i]
            found |= sets[count, i]
        if found != NONE:
            blocks[count] = b
            count += 1
    return count


# --- Boxes


@kernel
def first_beyond(cuts, starts, first, k, a, bound, inclusive):
    """First cut of attribute `k` that differs from `a` by more than the bound (or by the bound).

    The rounded difference itself is compared, as the definitions do; it grows with the cut.
    """
    cut = search(cuts, starts, k, a + bound)
    # Two steps without a branch: whether they are taken cannot be predicted.
    if inclusive:
        cut += cuts[cut] - a <= bound
        cut += cuts[cut] - a <= bound
        while cuts[cut] - a <= bound:
            cut += 1
        while cut > first[k] and cuts[cut - 1] - a > bound:
            cut -= 1
    else:
        cut += cuts[cut] - a < bound
        cut += cuts[cut] - a < bound
        while cuts[cut] - a < bound:
            cut += 1
        while cut > first[k] and cuts[cut - 1] - a >= bound:
            cut -= 1
    return cut


@kernel
def place(cuts, tops, starts, first, k, a, limit, closed, box, j):
    """Put the two sides of a box around `a` among the cuts of attribute `k`.

    Entries 0 and 1 of `box[j]`: objects at or above are certainly, are possibly above the box.
    Entries 2 and 3: objects below are certainly, are possibly below the box. A closed box contains
    the objects at distance `limit`, an open one does not.
    """
    cut = first_beyond(cuts, starts, first, k, a, limit, closed)
    box[j, 0] = cut
    if cut > first[k]:
        d = tops[cut - 1] - a
        if d > limit or (d == limit and not closed):
            cut -= 1
    box[j, 1] = cut
    cut = first_beyond(cuts, starts, first, k, a, -limit, not closed)
    box[j, 3] = cut
    if cut > first[k]:
        d = tops[cut - 1] - a
        if d > -limit or (d == -limit and closed):
            cut -= 1
    box[j, 2] = cut


# --- Confidences


@kernel
def pairs(columns, first_row, low, high, out):
    """Smallest distances, given as infinite, between rows from `low` to `high` and later classes.

    Both rows of a pair take note. Every pair is looked at: for small tables, where this is faster
    than bitmaps. Indices are unsigned, or the compiler would not use vector instructions.
    """
    m, n = columns.shape
    distances = np.empty(STRIP)
    smallest = np.empty(8)
    for code in range(len(first_row) - 1):
        end = first_row[code + 1]
        for start in range(end, n, STRIP):
            left = np.uint64(start)
            width = np.uint64(min(STRIP, n - start))
            distances[:] = np.inf
            for u in range(max(low, first_row[code]), min(high, end)):
                a = columns[0, u]
                for i in range(width):
                    distances[i] = abs(columns[0, left + i] - a)
                for k in range(1, m):
                    a = columns[k, u]
                    for i in range(width):
                        d, e = abs(columns[k, left + i] - a), distances[i]
                        distances[i] = d if d > e else e
                for i in range(width):
                    d, e = distances[i], out[left + i]
                    out[left + i] = d if d < e else e
                smallest[:] = out[u]
                for i in range(0, STRIP, 8):
                    for j in range(8):
                        d, e = distances[i + j], smallest[j]
                        smallest[j] = d if d < e else e
                for j in range(8):
                    out[u] = min(out[u], smallest[j])


@kernel
def distance(points, u, v, enough):
    """Chebyshev distance of two rows, or anything not below `enough`."""
    largest = 0.0
    for k in range(points.shape[1]):
        largest = max(largest, abs(points[v, k] - points[u, k]))
        if largest >= enough:
            break
    return largest


@kernel
def nearest(points, bits, rows, fence, fine, first, cuts, tops, starts, low, high, out):
    """Distance to the nearest enemy, infinite without one, for the rows from `low` to `high`."""
    n_blocks = fine.shape[1]
    n_words = len(fence)
    m = points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    blocks = np.empty(n_blocks, dtype=np.int32)
    sets = np.empty((n_blocks + 1, BLOCK), dtype=np.uint64)
    inside = np.empty(BLOCK, dtype=np.uint64)
    count, class_start, last = 0, -1, -1
    for u in range(low, high):
        own_start, own_end = fence[bits[u] >> 6, 0], fence[bits[u] >> 6, 1]
        if own_start != class_start:
            class_start = own_start
            count = enemies(fine, own_start, own_end, blocks, sets)
        best = np.inf
        # The word that held the nearest enemy of the previous object gives a first bound.
        if last >= 0 and (last < own_start or last >= own_end):
            for v in range(rows[last], rows[last + 1]):
                best = min(best, distance(points, u, v, best))
        else:
            for w in range(n_words):
                if w < own_start or w >= own_end:
                    d = distance(points, u, rows[w], best)
                    if d < best:
                        best, last = d, w
        stale = True
        for s in range(count):
            b = blocks[s]
            if stale:
                for k in range(m):
                    place(cuts, tops, starts, first, k, points[u, k], best, False, box, k)
                stale = False
            found = NONE
            for i in range(BLOCK):
                inside[i] = sets[s, i] & fine[box[0, 2], b, i] & ~fine[box[0, 0], b, i]
                found |= inside[i]
            for k in range(1, m):
                if found == NONE:
                    break
                found = NONE
                for i in range(BLOCK):
                    inside[i] &= fine[box[k, 2], b, i] & ~fine[box[k, 0], b, i]
                    found |= inside[i]
            if found == NONE:
                continue
            for i in range(BLOCK):
                while inside[i] != NONE:
                    w = BLOCK * b + i
                    d = distance(points, u, rows[w] + lowest(inside[i]), best)
                    inside[i] &= inside[i] - ONE
                    if d < best:
                        best, last = d, w
                        stale = True
        out[u] = best


# --- Shortening


@kernel
def critical(points, u, v, limit, order, types, j):
    """Whether neither the conditions kept before place `j` nor the attributes after it discern v."""
    for i in range(len(order)):
        if i == j:
            continue
        k = order[i]
        d = points[v, k] - points[u, k]
        if d > limit:
            if i > j or types[k] & 1:
                return False
        elif d < -limit:
            if i > j or types[k] & 2:
                return False
    return True


@kernel
def prune(
    points, bits, rows, fence, fine, first, cuts, tops, starts,
    limits, orders, exact, low, high, out,
):  # fmt: skip
    """Condition types, given as zeros, for the rows from `low` to `high`.

    From the last attribute backwards, list the blocks of enemies that the attributes from there on
    do not discern. Then forwards: an enemy in the list of the attributes to come that no condition
    kept so far discerns needs the side of the attribute it lies beyond. Conditions kept are applied
    to a block when it is looked at.
    """
    n_blocks = fine.shape[1]
    m = points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    counts = np.zeros(m + 1, dtype=np.int32)
    blocks = np.empty((m + 1, n_blocks + 1), dtype=np.int32)
    later = np.empty((m + 1, n_blocks + 1, BLOCK), dtype=np.uint64)
    alive = np.empty((n_blocks, BLOCK), dtype=np.uint64)
    applied = np.empty(n_blocks, dtype=np.int32)
    kept = np.empty((m, 2), dtype=np.int32)
    hits = np.empty(BLOCK, dtype=np.uint64)
    class_start = -1
    for u in range(low, high):
        limit = limits[u]
        own_start, own_end = fence[bits[u] >> 6, 0], fence[bits[u] >> 6, 1]
        if own_start != class_start:
            class_start = own_start
            counts[m] = enemies(fine, own_start, own_end, blocks[m], later[m])
        if limit < 0 or counts[m] == 0:
            continue
        order = orders[u if len(orders) > 1 else 0]
        for j in range(m):
            k = order[j]
            place(cuts, tops, starts, first, k, points[u, k], limit, True, box, j)
        for j in range(m - 1, 0, -1):
            inner, outer = box[j, 2], box[j, 0]
            count = 0
            for s in range(counts[j + 1]):
                b = blocks[j + 1, s]
                found = NONE
                for i in range(BLOCK):
                    x = later[j + 1, s, i] & fine[inner, b, i] & ~fine[outer, b, i]
                    later[j, count, i] = x
                    found |= x
                blocks[j, count] = b
                if found != NONE:
                    count += 1
            counts[j] = count
        for b in range(n_blocks):
            applied[b] = -1
        n_kept = 0
        for j in range(m):
            k = order[j]
            a = points[u, k]
            above, below = False, False
            for s in range(counts[j + 1]):
                b = blocks[j + 1, s]
                if applied[b] < n_kept:
                    if applied[b] < 0:
                        for i in range(BLOCK):
                            alive[b, i] = ALL
                        applied[b] = 0
                    found = ALL
                    for c in range(applied[b], n_kept):
                        found = NONE
                        for i in range(BLOCK):
                            alive[b, i] &= fine[kept[c, 1], b, i] & ~fine[kept[c, 0], b, i]
                            found |= alive[b, i]
                        if found == NONE:
                            break
                    applied[b] = n_kept if found != NONE else m + 1
                if applied[b] > m:
                    continue
                want_above = NONE if above else ALL
                want_below = NONE if below else ALL
                found = NONE
                for i in range(BLOCK):
                    beyond = (fine[box[j, 1], b, i] & want_above) | (
                        ~fine[box[j, 3], b, i] & want_below
                    )
                    hits[i] = alive[b, i] & later[j + 1, s, i] & beyond
                    found |= hits[i]
                if found == NONE:
                    continue
                for i in range(BLOCK):
                    if above:
                        hits[i] &= ~fine[box[j, 3], b, i]
                    if below:
                        hits[i] &= fine[box[j, 1], b, i]
                    while hits[i] != NONE:
                        v = rows[BLOCK * b + i] + lowest(hits[i])
                        hits[i] &= hits[i] - ONE
                        d = points[v, k] - a
                        if d > limit:
                            if exact or critical(points, u, v, limit, order, out[u], j):
                                above = True
                                hits[i] &= ~fine[box[j, 3], b, i]
                        elif d < -limit:
                            if exact or critical(points, u, v, limit, order, out[u], j):
                                below = True
                                hits[i] &= fine[box[j, 1], b, i]
                if above and below:
                    break
            out[u, k] = above + 2 * below
            if above or below:
                kept[n_kept, 0] = box[j, 0] if above else first[k + 1] - 1
                kept[n_kept, 1] = box[j, 2] if below else first[k]
                n_kept += 1


# --- Covers


@kernel
def within(points, u, v, limit, types):
    """Whether the rule of row u covers row v."""
    for k in range(len(types)):
        d = points[v, k] - points[u, k]
        if (types[k] & 1 and d >= limit) or (types[k] & 2 and d <= -limit):
            return False
    return True


@kernel
def cover(
    points, bits, rows, fence, fine, first, cuts, tops, starts,
    limits, conditions, low, high, lengths, words, sets,
):  # fmt: skip
    """Words and sets covered by the rules of the rows from `low` to `high`; returns how many."""
    m = points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    possible = np.empty(BLOCK, dtype=np.uint64)
    filled = 0
    for u in range(low, high):
        limit = limits[u]
        if limit <= 0:
            lengths[u] = 0
            continue
        before = filled
        own_start, own_end = fence[bits[u] >> 6, 0], fence[bits[u] >> 6, 1]
        used = 0
        for k in range(m):
            if conditions[u, k]:
                place(cuts, tops, starts, first, k, points[u, k], limit, False, box, used)
                if not conditions[u, k] & 1:
                    box[used, 0] = box[used, 1] = first[k + 1] - 1
                if not conditions[u, k] & 2:
                    box[used, 2] = box[used, 3] = first[k]
                used += 1
        for b in range(own_start // BLOCK, (own_end - 1) // BLOCK + 1):
            for i in range(BLOCK):
                possible[i] = fine[0, b, i]
            found = ALL
            for c in range(used):
                found = NONE
                for i in range(BLOCK):
                    possible[i] &= fine[box[c, 2], b, i] & ~fine[box[c, 0], b, i]
                    found |= possible[i]
                if found == NONE:
                    break
            if found == NONE:
                continue
            for i in range(BLOCK):
                w = BLOCK * b + i
                if possible[i] == NONE or w < own_start or w >= own_end:
                    continue
                certain = possible[i]
                for c in range(used):
                    certain &= fine[box[c, 3], b, i] & ~fine[box[c, 1], b, i]
                doubtful = possible[i] & ~certain
                while doubtful != NONE:
                    p = lowest(doubtful)
                    doubtful &= doubtful - ONE
                    if within(points, u, rows[w] + p, limit, conditions[u]):
                        certain |= ONE << np.uint64(p)
                if certain != NONE:
                    words[filled] = w
                    sets[filled] = certain
                    filled += 1
        lengths[u] = filled - before
    return filled

"""Boxes of objects as bitmaps: nearest enemies, shortened conditions and covers of large tables.

Every attribute is cut into bins at some of its values. For each cut there is a bitmap of the
objects at or above it, so that "all objects within this box" is the conjunction of two bitmaps per
attribute, in blocks of words of 64 objects. Where a side of the box falls inside a bin, the
bitmaps give a set that is too large and a set that is too small; the objects in between are looked
at one by one, with the very float64 comparison of the definition. Results are exact.

Smaller bitmaps, with one bit per block, tell for each cut which blocks have *some* object and which
have *every* object at or above it: most blocks are ruled out by them.

An attribute with missing values (NaN) has its cuts twice. In the bitmaps of the first copy, which
serve for the lower sides of boxes, those objects are at or above every cut; in the bitmaps of the
second, which serve for the upper sides, above none. So they are beyond neither side.

Names used throughout: objects are numbered by *row*, grouped by class; the classes begin at whole
words, `rows` has the first row of each word and `fence` the first and last word of its class. `u`
is the row whose box it is. `fine` is indexed by cut, block and word; `first` is the first cut of
each attribute and `shift` the distance to the copy of its cuts, 0 if it has none; `box` holds four
cuts per attribute, see `place`. `sides` has the sides that a box may have, by attribute: 1 for above,
2 for below, 3 for both; it is None if all have both and no value is missing, and what is there for
other tables is then left out by the compiler.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"

from typing import Any

import numpy as np

from frri._twins import companion, kernel
from frri._twins import vectors as _vectors

vectors: Any = companion(_vectors, of=__name__)
lowest, narrow, beyond = vectors.lowest, vectors.narrow, vectors.beyond

BLOCK = _vectors.BLOCK
BUCKETS = 1024

NONE, ONE, ALL = _vectors.NONE, _vectors.ONE, _vectors.ALL


@kernel
def span(q, start, end):
    """The bits from `start` to `end` that are in word `q`."""
    low = max(start - 64 * q, 0)
    high = min(end - 64 * q, 64)
    if high <= low:
        return NONE
    return (ALL >> np.uint64(64 - high + low)) << np.uint64(low)


# --- The table


@kernel
def bins(ascending, most):
    """Cut every attribute at distinct quantiles, at all of its values if there are few.

    Values that fill a bin by themselves are a bin by themselves. Each attribute ends with an
    infinite cut that no object reaches. Missing values come last in a column and do not count.
    """
    m = len(ascending)
    total = 0
    first = np.empty(m + 1, dtype=np.int32)
    cuts = np.empty(m * (2 * most + 2))
    tops = np.empty(m * (2 * most + 2))
    for k in range(m):
        first[k] = total
        column = ascending[k]
        n = ascending.shape[1]
        while n > 0 and np.isnan(column[n - 1]):
            n -= 1
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
def buckets(first, shift, cuts):
    """For every attribute and bucket of [0, 1], the first cut in it or after it."""
    m = len(first) - 1
    starts = np.empty((m, BUCKETS + 1), dtype=np.int32)
    for k in range(m):
        cut = first[k]
        for b in range(BUCKETS + 1):
            while cut < first[k + 1] - shift[k] - 1 and bucket(cuts[cut]) < b:
                cut += 1
            starts[k, b] = cut
    return starts


@kernel
def fill(columns, bits, first, shift, cuts, starts, fine, some, every):
    """Set the bitmaps of all cuts, given as zeros."""
    m, n = columns.shape
    n_blocks = fine.shape[1]
    for k in range(m):
        infinite = first[k + 1] - shift[k] - 1
        for r in range(n):
            a = columns[k, r]
            b, i = (bits[r] >> 6) // BLOCK, (bits[r] >> 6) % BLOCK
            one = ONE << np.uint64(bits[r] & 63)
            if np.isnan(a):
                fine[infinite, b, i] |= one
                continue
            cut, end = starts[k, bucket(a)], starts[k, bucket(a) + 1]
            while end - cut > 4:
                middle = (cut + end) >> 1
                if cuts[middle] <= a:
                    cut = middle
                else:
                    end = middle
            while cuts[cut] <= a:
                cut += 1
            fine[cut - 1, b, i] |= one
        for cut in range(infinite - 1, first[k] - 1, -1):
            for b in range(n_blocks):
                for i in range(BLOCK):
                    fine[cut, b, i] |= fine[cut + 1, b, i]
        for cut in range(infinite + 1, first[k + 1]):
            for b in range(n_blocks):
                for i in range(BLOCK):
                    fine[cut, b, i] = fine[cut - shift[k], b, i] & ~fine[infinite, b, i]
        for cut in range(first[k], first[k + 1] - 1):
            for b in range(n_blocks):
                found, missing = NONE, NONE
                for i in range(BLOCK):
                    found |= fine[cut, b, i]
                    missing |= fine[first[k], b, i] & ~fine[cut, b, i]
                some[cut, b >> 6] |= np.uint64(found != NONE) << np.uint64(b & 63)
                every[cut, b >> 6] |= np.uint64(missing == NONE) << np.uint64(b & 63)


@kernel
def enemies(fine, own_start, own_end, live, sets):
    """The objects outside a class, and the blocks they are in."""
    live[:] = NONE
    for b in range(fine.shape[1]):
        found = NONE
        for i in range(BLOCK):
            own = own_start <= BLOCK * b + i < own_end
            sets[b, i] = NONE if own else fine[0, b, i]
            found |= sets[b, i]
        live[b >> 6] |= np.uint64(found != NONE) << np.uint64(b & 63)


# --- Boxes


@kernel
def place(points, first, cuts, tops, starts, u, limit, closed, attributes, count, box):
    """Put the sides of a box around row `u` among the cuts of its first `count` attributes.

    Entries 0 and 1 of `box[j]`: objects at or above are certainly, are possibly above the box.
    Entries 2 and 3: objects below are certainly, are possibly below the box. A closed box contains
    the objects at distance `limit`, an open one does not.

    The rounded difference itself is compared with the limit, as the definitions do; it grows with
    the value, so all cuts before one that is not beyond a side are not beyond it either.

    Where values are missing or boxes have only one side, `open_sides` has to follow.
    """
    for j in range(count):
        k = attributes[j]
        a = points[u, k]
        if np.isnan(a):
            continue
        for side in range(2):
            bound = -limit if side else limit
            inclusive = not closed if side else closed
            b = bucket(a + bound)
            cut, end = starts[k, b], starts[k, b + 1]
            while end - cut > 4:
                middle = (cut + end) >> 1
                if cuts[middle] - a < bound:
                    cut = middle
                else:
                    end = middle
            # Two steps without a branch: whether they are taken cannot be predicted.
            for _ in range(2):
                d = cuts[cut] - a
                cut += (d < bound) | ((d == bound) & inclusive)
            d = cuts[cut] - a
            while d < bound or (d == bound and inclusive):
                cut += 1
                d = cuts[cut] - a
            while cut > first[k]:
                d = cuts[cut - 1] - a
                if d < bound or (d == bound and inclusive):
                    break
                cut -= 1
            other = cut
            if cut > first[k]:
                d = tops[cut - 1] - a
                if d > bound or (d == bound and not inclusive):
                    other -= 1
            box[j, 3 if side else 0] = cut
            box[j, 2 if side else 1] = other


@kernel
def open_sides(points, first, shift, sides, u, attributes, count, box):
    """Open the sides that a box must not have, all sides where row `u` misses the value.

    The remaining upper sides go to the copy of the cuts that is made for them.
    """
    for j in range(count):
        k = attributes[j]
        bounded = 0 if np.isnan(points[u, k]) else sides[k]
        if bounded & 1:
            box[j, 0] += shift[k]
            box[j, 1] += shift[k]
        else:
            box[j, 0] = box[j, 1] = first[k + 1] - 1
        if not bounded & 2:
            box[j, 2] = box[j, 3] = first[k]


# --- Confidences


@kernel
def distance(points, sides, u, v, enough):
    """Chebyshev distance from row `u` to row `v`, or anything not below `enough`."""
    largest = 0.0
    for k in range(points.shape[1]):
        d = points[v, k] - points[u, k]
        if sides is None:
            largest = max(largest, abs(d))
        elif d > largest:
            if sides[k] & 1:
                largest = d
        elif -d > largest:
            if sides[k] & 2:
                largest = -d
        if largest >= enough:
            break
    return largest


@kernel
def nearest(
    points, bits, rows, fence, fine, some, every, first, shift, cuts, tops, starts, sides,
    low, high, out,
):  # fmt: skip
    """Distance to the nearest enemy, infinite without one, for the rows from `low` to `high`."""
    n_blocks = fine.shape[1]
    flat = fine.reshape(-1, BLOCK)
    n_words = len(fence)
    m = points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    inside = np.empty((1, BLOCK), dtype=np.uint64)
    attributes = np.arange(m)
    last = -1
    for u in range(low, high):
        own_start, own_end = fence[bits[u] >> 6, 0], fence[bits[u] >> 6, 1]
        best = np.inf
        # The word that held the nearest enemy of the previous object gives a first bound.
        if last >= 0 and (last < own_start or last >= own_end):
            for v in range(rows[last], rows[last + 1]):
                best = min(best, distance(points, sides, u, v, best))
        else:
            for w in range(n_words):
                if w < own_start or w >= own_end:
                    d = distance(points, sides, u, rows[w], best)
                    if d < best:
                        best, last = d, w
        stale = best < np.inf
        for q in range(some.shape[1] if stale else 0):
            live = span(q, 0, n_blocks) & ~span(q, -(-own_start // BLOCK), own_end // BLOCK)
            k = 0
            while live != NONE:
                if stale:
                    place(points, first, cuts, tops, starts, u, best, False, attributes, m, box)
                    if sides is not None:
                        open_sides(points, first, shift, sides, u, attributes, m, box)
                    stale = False
                    k = 0
                while k < m:
                    live &= some[box[k, 2], q] & ~every[box[k, 0], q]
                    k += 1
                if live == NONE:
                    break
                b = 64 * q + lowest(live)
                live &= live - ONE
                for i in range(BLOCK):
                    inside[0, i] = ALL
                if BLOCK * b < own_end and BLOCK * (b + 1) > own_start:
                    for i in range(BLOCK):
                        if own_start <= BLOCK * b + i < own_end:
                            inside[0, i] = NONE
                found = True
                for c in range(m):
                    inner, outer = box[c, 2] * n_blocks + b, box[c, 0] * n_blocks + b
                    found = narrow(inside, 0, inside, 0, flat, inner, outer)
                    if not found:
                        break
                if not found:
                    continue
                for i in range(BLOCK):
                    while inside[0, i] != NONE:
                        w = BLOCK * b + i
                        d = distance(points, sides, u, rows[w] + lowest(inside[0, i]), best)
                        inside[0, i] &= inside[0, i] - ONE
                        if d < best:
                            best, last = d, w
                            stale = True
        out[u] = best


# --- Shortening


@kernel
def critical(points, u, v, limit, orders, types, j):
    """Whether neither the conditions kept before place `j` nor the attributes after it discern v.

    Attributes after it still have their first types.
    """
    o = u if len(orders) > 1 else 0
    for i in range(orders.shape[1]):
        if i == j:
            continue
        k = orders[o, i]
        d = points[v, k] - points[u, k]
        if d > limit:
            if types[u, k] & 1:
                return False
        elif d < -limit:
            if types[u, k] & 2:
                return False
    return True


@kernel
def confirm(points, rows, fine, u, limit, orders, types, j, b, box, hits, above, below):
    """Whether enemies among the hits in block `b` make either side needed that was not before."""
    k = orders[u if len(orders) > 1 else 0, j]
    for i in range(BLOCK):
        while True:
            # A bin may reach from one side of the box to the other: look beyond sides in question.
            beyond = NONE if above else fine[box[j, 1], b, i]
            beyond |= NONE if below else ~fine[box[j, 3], b, i]
            hits[i] &= beyond
            if hits[i] == NONE:
                break
            v = rows[BLOCK * b + i] + lowest(hits[i])
            hits[i] &= hits[i] - ONE
            d = points[v, k] - points[u, k]
            if d > limit:
                if not above and types[u, k] & 1:
                    above = critical(points, u, v, limit, orders, types, j)
            elif d < -limit:
                if not below and types[u, k] & 2:
                    below = critical(points, u, v, limit, orders, types, j)
    return above, below


@kernel
def prune(
    points, bits, rows, fence, fine, some, every, first, shift, cuts, tops, starts, sides,
    rigid, limits, orders, exact, low, high, out,
):  # fmt: skip
    """Condition types, given as those that rules start from, for the rows from `low` to `high`.

    From the last attribute backwards, find the enemies that the attributes from there on do not
    discern. Then forwards: an enemy that neither the attributes to come nor the conditions kept so
    far discern needs the side of the attribute it lies beyond. Conditions kept are applied to a
    block when it is looked at. A `rigid` attribute keeps both sides or none.
    """
    n_blocks, n_coarse = fine.shape[1], some.shape[1]
    m = points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    flat = fine.reshape(-1, BLOCK)
    live = np.empty((m + 1, n_coarse), dtype=np.uint64)
    later = np.empty(((m + 1) * n_blocks, BLOCK), dtype=np.uint64)
    alive = np.empty((n_blocks, BLOCK), dtype=np.uint64)
    alive_blocks = np.empty(n_coarse, dtype=np.uint64)
    applied = np.empty(n_blocks, dtype=np.int32)
    kept = np.empty((m, 2), dtype=np.int32)
    hits = np.empty(BLOCK, dtype=np.uint64)
    class_start = -1
    for u in range(low, high):
        limit = limits[u]
        own_start, own_end = fence[bits[u] >> 6, 0], fence[bits[u] >> 6, 1]
        if limit < 0 or own_end - own_start == len(fence):
            out[u] = 0
            continue
        if own_start != class_start:
            class_start = own_start
            enemies(fine, own_start, own_end, live[m], later[m * n_blocks :])
        order = orders[u if len(orders) > 1 else 0]
        place(points, first, cuts, tops, starts, u, limit, True, order, m, box)
        if sides is not None:
            open_sides(points, first, shift, sides, u, order, m, box)
        for j in range(m - 1, 0, -1):
            outer, inner = box[j, 0], box[j, 2]
            for q in range(n_coarse):
                todo = live[j + 1, q] & some[inner, q] & ~every[outer, q]
                live[j, q] = NONE
                while todo != NONE:
                    b = 64 * q + lowest(todo)
                    todo &= todo - ONE
                    here, after = j * n_blocks + b, (j + 1) * n_blocks + b
                    cuts_here = inner * n_blocks + b, outer * n_blocks + b
                    found = narrow(later, here, later, after, flat, cuts_here[0], cuts_here[1])
                    live[j, q] |= np.uint64(found) << np.uint64(b & 63)
        for b in range(n_blocks):
            applied[b] = -1
        for q in range(n_coarse):
            alive_blocks[q] = ALL
        n_kept = 0
        for j in range(m):
            k = order[j]
            above, below = False, False
            for q in range(n_coarse):
                todo = live[j + 1, q] & alive_blocks[q]
                todo &= some[box[j, 1], q] | ~every[box[j, 3], q]
                while todo != NONE:
                    b = 64 * q + lowest(todo)
                    todo &= todo - ONE
                    if applied[b] < 0:
                        applied[b] = 0
                        for i in range(BLOCK):
                            alive[b, i] = ALL
                    found = True
                    for c in range(applied[b], n_kept):
                        inner, outer = kept[c, 1] * n_blocks + b, kept[c, 0] * n_blocks + b
                        found = narrow(alive, b, alive, b, flat, inner, outer)
                        if not found:
                            break
                    applied[b] = n_kept
                    if not found:
                        alive_blocks[q] &= ~(ONE << np.uint64(b & 63))
                        continue
                    inner, outer = box[j, 3] * n_blocks + b, box[j, 1] * n_blocks + b
                    after = (j + 1) * n_blocks + b
                    over, under = beyond(alive, b, later, after, flat, inner, outer)
                    if exact:
                        above |= over
                        below |= under
                    elif (over and not above) or (under and not below):
                        for i in range(BLOCK):
                            hits[i] = alive[b, i] & later[after, i]
                        above, below = confirm(
                            points, rows, fine, u, limit, orders, out, j, b, box, hits, above, below
                        )
                    if above and below:
                        break
                if above and below:
                    break
            if sides is not None:
                if rigid[k]:
                    above = below = above or below
            out[u, k] = above + 2 * below
            if above or below:
                outer = kept[n_kept, 0] = box[j, 0] if above else first[k + 1] - 1
                inner = kept[n_kept, 1] = box[j, 2] if below else first[k]
                for q in range(n_coarse):
                    alive_blocks[q] &= some[inner, q] & ~every[outer, q]
                n_kept += 1


# --- Covers


@kernel
def is_inside(points, u, v, limit, conditions, attributes, used):
    """Whether row `v` is inside the open box of row `u`."""
    for c in range(used):
        k = attributes[c]
        d = points[v, k] - points[u, k]
        if conditions[u, k] & 1 and d >= limit:
            return False
        if conditions[u, k] & 2 and d <= -limit:
            return False
    return True


@kernel
def cover(
    points, bits, rows, fence, fine, some, every, first, shift, cuts, tops, starts, sides,
    limits, conditions, low, high, lengths, words, sets,
):  # fmt: skip
    """Words and sets covered by the rules of the rows from `low` to `high`; returns how many."""
    m = points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    attributes = np.empty(m + 1, dtype=np.int64)
    n_blocks = fine.shape[1]
    flat = fine.reshape(-1, BLOCK)
    possible, certain = np.empty((2, 1, BLOCK), dtype=np.uint64)
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
            attributes[used] = k
            used += conditions[u, k] != 0
        place(points, first, cuts, tops, starts, u, limit, False, attributes, used, box)
        if sides is not None:
            open_sides(points, first, shift, sides, u, attributes, used, box)
        for c in range(used):
            k = attributes[c]
            if not conditions[u, k] & 1:
                box[c, 0] = box[c, 1] = first[k + 1] - 1
            if not conditions[u, k] & 2:
                box[c, 2] = box[c, 3] = first[k]
        own_blocks = own_start // BLOCK, (own_end - 1) // BLOCK + 1
        for q in range(own_blocks[0] >> 6, ((own_blocks[1] - 1) >> 6) + 1):
            live = span(q, own_blocks[0], own_blocks[1])
            for c in range(used):
                live &= some[box[c, 2], q] & ~every[box[c, 0], q]
            while live != NONE:
                b = 64 * q + lowest(live)
                live &= live - ONE
                for i in range(BLOCK):
                    possible[0, i] = fine[0, b, i]
                found = True
                for c in range(used):
                    inner, outer = box[c, 2] * n_blocks + b, box[c, 0] * n_blocks + b
                    found = narrow(possible, 0, possible, 0, flat, inner, outer)
                    if not found:
                        break
                if not found:
                    continue
                for i in range(BLOCK):
                    certain[0, i] = possible[0, i]
                for c in range(used):
                    inner, outer = box[c, 3] * n_blocks + b, box[c, 1] * n_blocks + b
                    narrow(certain, 0, certain, 0, flat, inner, outer)
                for i in range(max(own_start - BLOCK * b, 0), min(own_end - BLOCK * b, BLOCK)):
                    w = BLOCK * b + i
                    inside = certain[0, i]
                    doubtful = possible[0, i] & ~inside
                    while doubtful != NONE:
                        p = lowest(doubtful)
                        doubtful &= doubtful - ONE
                        v = rows[w] + p
                        found = is_inside(points, u, v, limit, conditions, attributes, used)
                        inside |= np.uint64(found) << np.uint64(p)
                    if inside != NONE:
                        words[filled] = w
                        sets[filled] = inside
                        filled += 1
        lengths[u] = filled - before
    return filled


@kernel
def arrange(some_words, some_sets, starts, lengths, low, high, words, sets):
    """Put what `cover` has found for the rows from `low` to `high` where each of them starts."""
    filled = 0
    for u in range(low, high):
        start = starts[u]
        for i in range(lengths[u]):
            words[start + i] = some_words[filled + i]
            sets[start + i] = some_sets[filled + i]
        filled += lengths[u]

"""Nearest enemies, shortened conditions and covered objects of large tables, from bitmaps of boxes.

`frri.induction._box_kernels` says how boxes are kept, and what the arrays are called.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"

import numpy as np

from frri._compile import inner_kernel, kernel
from frri._words import ALL, NONE, ONE, lowest
from frri.induction._box_kernels import (
    BLOCK,
    beyond,
    byte_distance,
    enemies,
    narrow,
    open_sides,
    place,
    span,
)

# Not literals: for these the compiler would do everything once more. Whether a box is closed remains one: boxes
# are placed in the innermost loops.
NO, ZERO = np.bool_(False), np.int64(0)
# Words that held the nearest enemies of the objects before, and how many objects that are.
RECENT = 8
SIGHT = np.uint64(64 * RECENT)


# --- Confidences


@inner_kernel
def distance(points, initial, u, v, enough):
    """Chebyshev distance from row `u` to row `v`, or anything not below `enough`."""
    largest = 0.0
    for k in range(points.shape[1]):
        d = points[v, k] - points[u, k]
        if initial is None:
            largest = max(largest, abs(d))
        elif d > largest:
            if initial[k] & 1:
                largest = d
        elif -d > largest:
            if initial[k] & 2:
                largest = -d
        if largest >= enough:
            break
    return largest


@inner_kernel
def remember(levels, start, end, slot, members, near):
    """Put the rows of a word, its last one as often as it takes, among those that are looked at first."""
    for i in range(64):
        v = min(start + i, end - 1)
        members[64 * slot + i] = v
        for k in range(len(levels)):
            near[k, 64 * slot + i] = levels[k, v]


@inner_kernel
def first_bound(points, initial, levels, u, members, near, gaps):
    """Distance to one of the rows remembered, in levels the nearest of them, and its place."""
    for i in range(SIGHT):
        gaps[i] = 0
    for k in range(0, len(levels), 4):
        a, b, c, d = levels[k, u], levels[k + 1, u], levels[k + 2, u], levels[k + 3, u]
        for i in range(SIGHT):
            one = max(byte_distance(a, near[k, i]), byte_distance(b, near[k + 1, i]))
            other = max(byte_distance(c, near[k + 2, i]), byte_distance(d, near[k + 3, i]))
            gaps[i] = max(gaps[i], one, other)
    least = gaps[0]
    for i in range(SIGHT):
        least = min(least, gaps[i])
    place = 0
    while gaps[place] != least:
        place += 1
    return distance(points, initial, u, members[place], np.inf), place


@kernel
def nearest(
    levels, points, bits, rows, fence, fine, some, every, first, shift, cuts, tops, starts, initial,
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
    members = np.empty(64 * RECENT, dtype=np.int64)
    near = np.empty((len(levels), 64 * RECENT), dtype=np.uint8)
    gaps = np.empty(64 * RECENT, dtype=np.uint8)
    recent = np.empty(RECENT, dtype=np.int64)
    class_start, oldest = -1, 0
    for u in range(low, high):
        own_start, own_end = fence[bits[u] >> 6, 0], fence[bits[u] >> 6, 1]
        best, last = np.inf, -1
        if own_start != class_start:
            class_start = own_start
            for w in range(n_words):
                if w < own_start or w >= own_end:
                    d = distance(points, initial, u, rows[w], best)
                    if d < best or last < 0:
                        best, last = d, w
            for slot in range(RECENT if last >= 0 else 0):
                recent[slot] = last
                remember(levels, rows[last], rows[last + 1], slot, members, near)
        # Words that held the nearest enemies of the objects before give a first bound.
        if own_end - own_start < n_words:
            d, i = first_bound(points, initial, levels, u, members, near, gaps)
            if d < best or last < 0:
                best, last = d, recent[i >> 6]
        stale = best < np.inf
        for q in range(some.shape[1] if stale else 0):
            live = span(q, ZERO, n_blocks) & ~span(q, -(-own_start // BLOCK), own_end // BLOCK)
            k = 0
            while live != NONE:
                if stale:
                    place(points, first, cuts, tops, starts, u, best, False, attributes, m, box)
                    if initial is not None:
                        open_sides(points, first, shift, initial, u, attributes, m, box)
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
                        d = distance(points, initial, u, rows[w] + lowest(inside[0, i]), best)
                        inside[0, i] &= inside[0, i] - ONE
                        if d < best:
                            best, last = d, w
                            stale = True
        out[u] = best
        known = last < 0
        for slot in range(RECENT):
            known |= recent[slot] == last
        if not known:
            recent[oldest] = last
            remember(levels, rows[last], rows[last + 1], oldest, members, near)
            oldest = (oldest + 1) % RECENT


# --- Shortening


@inner_kernel
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


@inner_kernel
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
    points, bits, rows, fence, fine, some, every, first, shift, cuts, tops, starts, initial,
    rigid, limits, orders, exact, low, high, out,
):  # fmt: skip
    """Condition types, given as those that rules start from, for the rows from `low` to `high`.

    From the last attribute backwards, find the enemies that the attributes from there on do not
    discern. Then forwards: an enemy that neither the attributes to come nor the conditions kept so
    far discern needs the side of the attribute it lies beyond. Block after block without a branch is
    quicker than only those that are asked for. A `rigid` attribute keeps both sides or none.
    """
    n_blocks, n_coarse = fine.shape[1], some.shape[1]
    m = points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    flat = fine.reshape(-1, BLOCK)
    live = np.empty((m + 1, n_coarse), dtype=np.uint64)
    later = np.empty(((m + 1) * n_blocks, BLOCK), dtype=np.uint64)
    alive_blocks = np.empty(n_coarse, dtype=np.uint64)
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
        if initial is not None:
            open_sides(points, first, shift, initial, u, order, m, box)
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
        # Where the enemies are that the conditions kept so far do not discern: from the first one on, in front.
        source = m * n_blocks
        for q in range(n_coarse):
            alive_blocks[q] = live[m, q]
        for j in range(m):
            k = order[j]
            above, below = NO, NO
            for q in range(n_coarse):
                todo = live[j + 1, q] & alive_blocks[q]
                todo &= some[box[j, 1], q] | ~every[box[j, 3], q]
                while todo != NONE:
                    b = 64 * q + lowest(todo)
                    todo &= todo - ONE
                    inner, outer = box[j, 3] * n_blocks + b, box[j, 1] * n_blocks + b
                    after = (j + 1) * n_blocks + b
                    over, under = beyond(later, source + b, later, after, flat, inner, outer)
                    if exact:
                        above |= over
                        below |= under
                    elif (over and not above) or (under and not below):
                        for i in range(BLOCK):
                            hits[i] = later[source + b, i] & later[after, i]
                        above, below = confirm(
                            points, rows, fine, u, limit, orders, out, j, b, box, hits, above, below
                        )
                    if above and below:
                        break
                if above and below:
                    break
            if initial is not None:
                if rigid[k]:
                    above = below = above or below
            out[u, k] = above + 2 * below
            if above or below:
                outer = box[j, 0] if above else first[k + 1] - 1
                inner = box[j, 2] if below else first[k]
                for q in range(n_coarse):
                    todo = alive_blocks[q] & some[inner, q] & ~every[outer, q]
                    alive_blocks[q] = NONE
                    while todo != NONE:
                        b = 64 * q + lowest(todo)
                        todo &= todo - ONE
                        cuts_here = inner * n_blocks + b, outer * n_blocks + b
                        found = narrow(
                            later, b, later, source + b, flat, cuts_here[0], cuts_here[1]
                        )
                        alive_blocks[q] |= np.uint64(found) << np.uint64(b & 63)
                source = 0


# --- Covers


@inner_kernel
def is_inside(points, u, v, limit, types, attributes, used):
    """Whether row `v` is inside the open box of row `u`."""
    for c in range(used):
        k = attributes[c]
        d = points[v, k] - points[u, k]
        if types[u, k] & 1 and d >= limit:
            return False
        if types[u, k] & 2 and d <= -limit:
            return False
    return True


@kernel
def covered(
    points, bits, rows, fence, fine, some, every, first, shift, cuts, tops, starts, initial,
    limits, types, asked, wanted, low, high, lengths, words, sets,
):  # fmt: skip
    """Words and sets that the rules of the rows `asked[low:high]` cover of the objects wanted.

    Returns how many words there are.
    """
    m = points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    attributes = np.empty(m + 1, dtype=np.int64)
    n_blocks = fine.shape[1]
    flat = fine.reshape(-1, BLOCK)
    possible, certain = np.empty((2, 1, BLOCK), dtype=np.uint64)
    filled = 0
    for a in range(low, high):
        u = asked[a]
        limit = limits[u]
        if limit <= 0:
            lengths[a] = 0
            continue
        before = filled
        own_start, own_end = fence[bits[u] >> 6, 0], fence[bits[u] >> 6, 1]
        used = ZERO
        for k in range(m):
            attributes[used] = k
            used += types[u, k] != 0
        place(points, first, cuts, tops, starts, u, limit, False, attributes, used, box)
        if initial is not None:
            open_sides(points, first, shift, initial, u, attributes, used, box)
        for c in range(used):
            k = attributes[c]
            if not types[u, k] & 1:
                box[c, 0] = box[c, 1] = first[k + 1] - 1
            if not types[u, k] & 2:
                box[c, 2] = box[c, 3] = first[k]
        own_blocks = own_start // BLOCK, (own_end - 1) // BLOCK + 1
        for q in range(own_blocks[0] >> 6, ((own_blocks[1] - 1) >> 6) + 1):
            live = span(q, own_blocks[0], own_blocks[1])
            for c in range(used):
                live &= some[box[c, 2], q] & ~every[box[c, 0], q]
            while live != NONE:
                b = 64 * q + lowest(live)
                live &= live - ONE
                any_wanted = NONE
                for i in range(BLOCK):
                    possible[0, i] = wanted[b, i]
                    any_wanted |= wanted[b, i]
                found = any_wanted != NONE
                for c in range(used if found else 0):
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
                        found = is_inside(points, u, v, limit, types, attributes, used)
                        inside |= np.uint64(found) << np.uint64(p)
                    if inside != NONE:
                        words[filled] = w
                        sets[filled] = inside
                        filled += 1
        lengths[a] = filled - before
    return filled


@kernel
def arrange(some_words, some_sets, starts, lengths, low, high, words, sets):
    """Put what `covered` has found for `asked[low:high]` where each of them starts."""
    filled = 0
    for a in range(low, high):
        start = starts[a]
        for i in range(lengths[a]):
            words[start + i] = some_words[filled + i]
            sets[start + i] = some_sets[filled + i]
        filled += lengths[a]

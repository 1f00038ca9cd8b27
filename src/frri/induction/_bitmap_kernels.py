"""Kernels on bitmaps: nearest samples of other classes, shortened conditions, coverage.

Every feature is cut into bins at some of its values. For each cut there is a bitmap of the samples
at or above it, so that "all samples within this box" is the conjunction of two bitmaps per feature,
in blocks of words of 64 samples. Where a side of the box falls inside a bin, the bitmaps give a set
that is too large and a set that is too small; the samples in between are compared one by one, as in
the definition. Results are exact.

Smaller bitmaps, with one bit per block, contain for each cut the blocks with *some* sample and
those with *every* sample at or above it: most blocks are ruled out by them.

A feature with missing values (NaN) has its cuts twice. In the bitmaps of the first copy, which
serve for the lower sides of boxes, samples without a value are at or above every cut; in those of
the second, which serve for the upper sides, above none. So they are beyond neither side.

Names: `u` is the row whose box it is, `v` another row. Kernels work on the rows from `low` on, as
many as their output has.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"

from typing import Any, NamedTuple

import numpy as np

from frri._compile import inner_kernel, kernel
from frri.cover.matrix import ALL, NONE, ONE, lowest

# Words in a block: a line of the cache.
BLOCK = 8


class Bitmaps(NamedTuple):
    """A table for the kernels; rows are grouped by class, and classes begin at whole words."""

    points: Any  # (n_rows, n_features)
    bits: Any  # (n_rows,): position of each row
    rows: Any  # (n_words + 1,): first row of each word
    fence: Any  # (n_words, 2): first and last word of the class of a word
    fine: Any  # (n_cuts, n_blocks, BLOCK): samples at or above each cut
    flat: Any  # (n_cuts * n_blocks, BLOCK): the same
    some: Any  # (n_cuts, n_coarse): blocks with some of these
    every: Any  # (n_cuts, n_coarse): blocks with nothing else
    first: Any  # (n_features + 1,): first cut of each feature
    shift: Any  # (n_features,): distance to the copy of its cuts, 0 without one
    cuts: Any  # (n_cuts,): lowest value of each bin
    tops: Any  # (n_cuts,): highest value of each bin
    initial: Any  # (n_features,): sides that a box may have
    rigid: Any  # (n_features,): whether it has all of them or none


@inner_kernel
def span(q, start, end):
    """Return the bits from `start` to `end` that are in word `q`."""
    low = max(start - 64 * q, 0)
    high = min(end - 64 * q, 64)
    if high <= low:
        return NONE
    return (ALL >> np.uint64(64 - high + low)) << np.uint64(low)


@inner_kernel
def narrow(out, o, sets, s, table, inner, outer):
    """Put the samples of a set that are at or above the cut `inner` and not `outer` into `out[o]`.

    Return whether there are any.
    """
    found = NONE
    for i in range(BLOCK):
        out[o, i] = sets[s, i] & table[inner, i] & ~table[outer, i]
        found |= out[o, i]
    return found != NONE


@inner_kernel
def narrow_blocks(table, sides, live, left, sets, source, target):
    """Put the samples of live blocks between two cuts, `sides`, into other sets; find who is left.

    Sets of blocks are those from `source` on, and from `target` on.
    """
    inner, outer = sides
    n_blocks = table.fine.shape[1]
    for q in range(len(live)):
        todo = live[q] & table.some[inner, q] & ~table.every[outer, q]
        left[q] = NONE
        while todo != NONE:
            b = 64 * q + lowest(todo)
            todo &= todo - ONE
            cuts = inner * n_blocks + b, outer * n_blocks + b
            found = narrow(sets, target + b, sets, source + b, table.flat, cuts[0], cuts[1])
            left[q] |= np.uint64(found) << np.uint64(b & 63)


@inner_kernel
def narrow_to_box(table, box, n_features, certain, b, inside):
    """Keep the samples of block `b` that are possibly, or certainly, in a box; return if any."""
    n_blocks = table.fine.shape[1]
    for c in range(n_features):
        inner, outer = box[c, 2 + certain] * n_blocks + b, box[c, certain] * n_blocks + b
        if not narrow(inside, 0, inside, 0, table.flat, inner, outer):
            return False
    return True


@inner_kernel
def beyond(sets, s, others, o, table, inner, outer):
    """Return whether samples of both sets are at or above `outer`, and whether below `inner`."""
    above, below = NONE, NONE
    for i in range(BLOCK):
        both = sets[s, i] & others[o, i]
        above |= both & table[outer, i]
        below |= both & ~table[inner, i]
    return above != NONE, below != NONE


@inner_kernel
def place(table, u, limit, closed, features, box):
    """Put the sides of a box around row `u` among the cuts of some features.

    Entries 0 and 1 of `box[j]`: samples at or above are certainly, are possibly above the box.
    Entries 2 and 3: samples below are certainly, are possibly below the box. A closed box contains
    the samples at distance `limit`, an open one does not. Sides that a box must not have are open,
    all of them where the row misses the value.

    The rounded difference itself is compared with the limit, as in the definitions; it grows with
    the value, so that all cuts before one that is not beyond a side are not beyond it either.
    """
    first, cuts = table.first, table.cuts
    for j in range(len(features)):
        k = features[j]
        a = table.points[u, k]
        bounded = 0 if np.isnan(a) else table.initial[k]
        if not bounded & 1:
            box[j, 0] = box[j, 1] = first[k + 1] - 1
        if not bounded & 2:
            box[j, 2] = box[j, 3] = first[k]
        for side in range(2):
            if not bounded & (1 + side):
                continue
            bound = -limit if side else limit
            inclusive = not closed if side else closed
            cut, end = first[k], first[k + 1] - table.shift[k] - 1
            while cut < end:
                middle = (cut + end) >> 1
                d = cuts[middle] - a
                if d < bound or (d == bound and inclusive):
                    cut = middle + 1
                else:
                    end = middle
            other = cut
            if cut > first[k]:
                d = table.tops[cut - 1] - a
                if d > bound or (d == bound and not inclusive):
                    other -= 1
            # Upper sides use the copy of the cuts that is made for them.
            copy = 0 if side else table.shift[k]
            box[j, 3 if side else 0] = cut + copy
            box[j, 2 if side else 1] = other + copy


# Not literals: for these the compiler would do everything once more. Whether a box is closed
# remains one: boxes are placed in the innermost loops.
NO, ZERO = np.bool_(False), np.int64(0)
POSSIBLY, CERTAINLY = np.int64(0), np.int64(1)
# Samples that were nearest to the rows before.
RECENT = 16


class CoverWords(NamedTuple):
    """Output of `cover`: number of words of each row, words and their bits."""

    lengths: Any
    words: Any
    sets: Any


class PrunedRule(NamedTuple):
    """A rule while it is shortened: row, limit, feature order and the sides kept so far."""

    u: Any
    limit: Any
    order: Any
    kept: Any


# --- Confidences


@inner_kernel
def distance(table, u, v, enough):
    """Return the Chebyshev distance from row `u` to row `v`, or anything not below `enough`."""
    points, initial = table.points, table.initial
    largest = 0.0
    for k in range(points.shape[1]):
        d = points[v, k] - points[u, k]
        if d > largest:
            if initial[k] & 1:
                largest = d
        elif -d > largest:
            if initial[k] & 2:
                largest = -d
        if largest >= enough:
            break
    return largest


@kernel
def nearest(table, low, out):
    """Find the distance to the nearest sample of another class, infinite without one."""
    fence, rows = table.fence, table.rows
    n_blocks, n_words = table.fine.shape[1], len(table.fence)
    m = table.points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    inside = np.empty((1, BLOCK), dtype=np.uint64)
    features = np.arange(m)
    recent = np.zeros(RECENT, dtype=np.int64)
    class_start, oldest = -1, 0
    for u in range(low, low + len(out)):
        own = table.bits[u] >> 6
        own_start, own_end = fence[own, 0], fence[own, 1]
        out[u - low] = best = np.inf
        if own_end - own_start == n_words:
            continue
        last = 0
        if own_start != class_start:
            class_start = own_start
            for w in range(n_words):
                if w < own_start or w >= own_end:
                    d = distance(table, u, rows[w], best)
                    if d < best:
                        best, last = d, rows[w]
            recent[:] = last
        # The nearest samples of the rows before give a first bound.
        for i in range(RECENT):
            d = distance(table, u, recent[i], best)
            if d < best:
                best, last = d, recent[i]
        stale = True
        for q in range(table.some.shape[1]):
            live = span(q, ZERO, n_blocks) & ~span(q, -(-own_start // BLOCK), own_end // BLOCK)
            k = 0
            while live != NONE:
                if stale:
                    place(table, u, best, False, features, box)
                    stale = False
                    k = 0
                while k < m:
                    live &= table.some[box[k, 2], q] & ~table.every[box[k, 0], q]
                    k += 1
                if live == NONE:
                    break
                b = 64 * q + lowest(live)
                live &= live - ONE
                for i in range(BLOCK):
                    inside[0, i] = NONE if own_start <= BLOCK * b + i < own_end else ALL
                if not narrow_to_box(table, box, m, POSSIBLY, b, inside):
                    continue
                for i in range(BLOCK):
                    while inside[0, i] != NONE:
                        v = rows[BLOCK * b + i] + lowest(inside[0, i])
                        d = distance(table, u, v, best)
                        inside[0, i] &= inside[0, i] - ONE
                        if d < best:
                            best, last = d, v
                            stale = True
        out[u - low] = best
        if not (recent == last).any():
            recent[oldest] = last
            oldest = (oldest + 1) % RECENT


# --- Shortening


@inner_kernel
def other_classes(fine, own_start, own_end, live, sets):
    """Find the samples outside a class, and the blocks they are in."""
    live[:] = NONE
    for b in range(fine.shape[1]):
        found = NONE
        for i in range(BLOCK):
            own = own_start <= BLOCK * b + i < own_end
            sets[b, i] = NONE if own else fine[0, b, i]
            found |= sets[b, i]
        live[b >> 6] |= np.uint64(found != NONE) << np.uint64(b & 63)


@inner_kernel
def is_critical(points, rule, v, j):
    """Return whether neither conditions kept before place `j` nor features after it discern `v`.

    Features after it still have their initial types.
    """
    for i in range(len(rule.order)):
        if i == j:
            continue
        k = rule.order[i]
        d = points[v, k] - points[rule.u, k]
        if d > rule.limit:
            if rule.kept[k] & 1:
                return False
        elif d < -rule.limit:
            if rule.kept[k] & 2:
                return False
    return True


@inner_kernel
def confirm(table, rule, box, j, b, hits, above, below):
    """Return which sides samples among the hits in block `b` need, besides those needed before."""
    k = rule.order[j]
    for i in range(BLOCK):
        while True:
            # A bin may reach from one side of the box to the other: look beyond sides in question.
            outside = NONE if above else table.fine[box[j, 1], b, i]
            outside |= NONE if below else ~table.fine[box[j, 3], b, i]
            hits[i] &= outside
            if hits[i] == NONE:
                break
            v = table.rows[BLOCK * b + i] + lowest(hits[i])
            hits[i] &= hits[i] - ONE
            d = table.points[v, k] - table.points[rule.u, k]
            if d > rule.limit:
                if not above and rule.kept[k] & 1:
                    above = is_critical(table.points, rule, v, j)
            elif d < -rule.limit:
                if not below and rule.kept[k] & 2:
                    below = is_critical(table.points, rule, v, j)
    return above, below


@kernel
def prune(table, limits, orders, low, out):
    """Find condition types, given as those that rules start from.

    From the last feature backwards, find the samples that the features from there on do not
    discern. Then forwards: a sample that neither the features to come nor the conditions kept so
    far discern needs the side of the feature it lies beyond. If bins have one value each, no sample
    need be compared. A rigid feature keeps both sides or none.
    """
    some, every, first, fence = table.some, table.every, table.first, table.fence
    n_blocks, n_coarse = table.fine.shape[1], some.shape[1]
    m = table.points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    live = np.empty((m + 1, n_coarse), dtype=np.uint64)
    later = np.empty(((m + 1) * n_blocks, BLOCK), dtype=np.uint64)
    alive_blocks = np.empty(n_coarse, dtype=np.uint64)
    hits = np.empty(BLOCK, dtype=np.uint64)
    exact = (table.cuts == table.tops).all()
    class_start = -1
    for u in range(low, low + len(out)):
        limit, kept = limits[u - low], out[u - low]
        own = table.bits[u] >> 6
        own_start, own_end = fence[own, 0], fence[own, 1]
        if limit < 0 or own_end - own_start == len(fence):
            out[u - low] = 0
            continue
        if own_start != class_start:
            class_start = own_start
            other_classes(table.fine, own_start, own_end, live[m], later[m * n_blocks :])
        order = orders[u - low if len(orders) > 1 else 0]
        rule = PrunedRule(u, limit, order, kept)
        place(table, u, limit, True, order, box)
        for j in range(m - 1, 0, -1):
            here, after = j * n_blocks, (j + 1) * n_blocks
            sides = box[j, 2], box[j, 0]
            narrow_blocks(table, sides, live[j + 1], live[j], later, after, here)
        # Samples that the conditions kept so far do not discern are in front from the first one on.
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
                    over, under = beyond(later, source + b, later, after, table.flat, inner, outer)
                    if exact:
                        above |= over
                        below |= under
                    elif (over and not above) or (under and not below):
                        for i in range(BLOCK):
                            hits[i] = later[source + b, i] & later[after, i]
                        above, below = confirm(table, rule, box, j, b, hits, above, below)
                    if above and below:
                        break
                if above and below:
                    break
            if table.rigid[k]:
                above = below = above or below
            kept[k] = above + 2 * below
            if above or below:
                outer = box[j, 0] if above else first[k + 1] - 1
                inner = box[j, 2] if below else first[k]
                sides = inner, outer
                narrow_blocks(table, sides, alive_blocks, alive_blocks, later, source, ZERO)
                source = 0


# --- Covers


@inner_kernel
def is_inside(points, u, v, limit, types, features):
    """Return whether row `v` is inside the open box of row `u`."""
    for k in features:
        d = points[v, k] - points[u, k]
        if types[k] & 1 and d >= limit:
            return False
        if types[k] & 2 and d <= -limit:
            return False
    return True


@kernel
def cover(table, asked, limits, types, wanted, out):
    """Find the words and sets that the rules of some rows cover of the samples wanted.

    Return the number of words.
    """
    first, fence = table.first, table.fence
    m = table.points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    used = np.empty(m + 1, dtype=np.int64)
    possible, certain = np.empty((2, 1, BLOCK), dtype=np.uint64)
    filled = 0
    for a in range(len(asked)):
        u, limit = asked[a], limits[a]
        if limit <= 0:
            out.lengths[a] = 0
            continue
        before = filled
        own = table.bits[u] >> 6
        own_start, own_end = fence[own, 0], fence[own, 1]
        n_used = ZERO
        for k in range(m):
            used[n_used] = k
            n_used += types[a, k] != 0
        features = used[:n_used]
        place(table, u, limit, False, features, box)
        for c in range(n_used):
            k = features[c]
            if not types[a, k] & 1:
                box[c, 0] = box[c, 1] = first[k + 1] - 1
            if not types[a, k] & 2:
                box[c, 2] = box[c, 3] = first[k]
        own_blocks = own_start // BLOCK, (own_end - 1) // BLOCK + 1
        for q in range(own_blocks[0] >> 6, ((own_blocks[1] - 1) >> 6) + 1):
            live = span(q, own_blocks[0], own_blocks[1])
            for c in range(n_used):
                live &= table.some[box[c, 2], q] & ~table.every[box[c, 0], q]
            while live != NONE:
                b = 64 * q + lowest(live)
                live &= live - ONE
                any_wanted = NONE
                for i in range(BLOCK):
                    possible[0, i] = wanted[b, i]
                    any_wanted |= wanted[b, i]
                if any_wanted == NONE:
                    continue
                if not narrow_to_box(table, box, n_used, POSSIBLY, b, possible):
                    continue
                for i in range(BLOCK):
                    certain[0, i] = possible[0, i]
                narrow_to_box(table, box, n_used, CERTAINLY, b, certain)
                for i in range(max(own_start - BLOCK * b, 0), min(own_end - BLOCK * b, BLOCK)):
                    w = BLOCK * b + i
                    inside = certain[0, i]
                    doubtful = possible[0, i] & ~inside
                    while doubtful != NONE:
                        p = lowest(doubtful)
                        doubtful &= doubtful - ONE
                        v = table.rows[w] + p
                        found = is_inside(table.points, u, v, limit, types[a], features)
                        inside |= np.uint64(found) << np.uint64(p)
                    if inside != NONE:
                        out.words[filled] = w
                        out.sets[filled] = inside
                        filled += 1
        out.lengths[a] = filled - before
    return filled

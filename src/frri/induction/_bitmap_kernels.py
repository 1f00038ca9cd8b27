"""Kernels on bitmaps: nearest samples of other classes, shortened conditions, coverage.

Every feature is cut into bins at some of its values. For each cut there is a bitmap of the samples
at or above it, so that "all samples within this box" is the conjunction of two bitmaps per feature,
in words of 64 samples. Where a side of the box falls inside a bin, the bitmaps give a set that is
too large and a set that is too small; the samples in between are compared one by one, as in the
definition. Results are exact.

Smaller bitmaps, with one bit per word, contain for each cut the words with *some* sample and those
with *every* sample at or above it: most words are ruled out by them. One of their words stands for
a *group* of 64 words.

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


class Bitmaps(NamedTuple):
    """A table for the kernels; rows are grouped by class, and classes begin at whole words."""

    points: Any  # (n_rows, n_features)
    bits: Any  # (n_rows,): position of each row
    rows: Any  # (n_words + 1,): first row of each word
    fence: Any  # (n_words, 2): first and last word of the class of a word
    fine: Any  # (n_cuts, n_words): samples at or above each cut
    some: Any  # (n_cuts, n_groups): words with some of these
    every: Any  # (n_cuts, n_groups): words with nothing else
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
def narrow(fine, sides, live, left, source, target):
    """Put the samples of a set that are between two cuts, `sides`, into another; find words left.

    `live` and `left` are the words of the two sets, `source` and `target`, that are not empty.
    """
    inner, outer = fine[sides[0]], fine[sides[1]]
    for q in range(len(live)):
        found = NONE
        if live[q] != NONE:
            start = np.uint64(64 * q)
            for i in range(np.uint64(min(64, len(source) - 64 * q))):
                word = source[start + i] & inner[start + i] & ~outer[start + i]
                target[start + i] = word
                found |= np.uint64(word != NONE) << i
        left[q] = found


@inner_kernel
def place(table, u, limit, closed, features, box):
    """Put the sides of a box around row `u` among the cuts of some features.

    Entries 0 and 1 of `box[j]`: samples at or above are certainly, are possibly above the box.
    Entries 2 and 3: samples below are certainly, are possibly below the box. A closed box contains
    the samples at distance `limit`, an open one does not. Sides that a box must not have are open,
    all of them where the row misses the value.

    The rounded difference itself is compared with the limit, as in the definitions; it grows with
    the value, so that cuts up to a side are as many as cuts with small differences.
    """
    upper, lower = limit, -limit  # largest differences that are not above the box, that are below
    if closed:
        lower = np.nextafter(lower, -np.inf)
    else:
        upper = np.nextafter(upper, -np.inf)
    cuts, tops = table.cuts, table.tops
    for j in range(len(features)):
        k = features[j]
        a = table.points[u, k]
        bounded = 0 if np.isnan(a) else table.initial[k]
        start, last, shift = table.first[k], table.first[k + 1] - 1, table.shift[k]
        begin, n_above, n_below = np.uint64(start), 0, 0
        for i in range(np.uint64(last - shift - start)):
            d = cuts[begin + i] - a
            n_above += d <= upper
            n_below += d <= lower
        # Upper sides use the copy of the cuts that is made for them.
        above, below = start + shift + n_above, start + n_below
        reaches_above = n_above > 0 and tops[above - 1] - a > upper
        reaches_below = n_below > 0 and tops[below - 1] - a > lower
        box[j, 0] = above if bounded & 1 else last
        box[j, 1] = above - reaches_above if bounded & 1 else last
        box[j, 2] = below - reaches_below if bounded & 2 else start
        box[j, 3] = below if bounded & 2 else start


# Not literals: for these the compiler would do everything once more. Whether a box is closed
# remains one: boxes are placed in the innermost loops.
NO, ZERO = np.bool_(False), np.int64(0)
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
def distance(points, initial, u, v, enough):
    """Return the Chebyshev distance from row `u` to row `v`, or anything not below `enough`."""
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
    fine, some, every = table.fine, table.some, table.every
    fence, rows, points, initial = table.fence, table.rows, table.points, table.initial
    n_words, m = len(fence), points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
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
                    d = distance(points, initial, u, rows[w], best)
                    if d < best:
                        best, last = d, rows[w]
            recent[:] = last
        # The nearest samples of the rows before give a first bound.
        for i in range(RECENT):
            d = distance(points, initial, u, recent[i], best)
            if d < best:
                best, last = d, recent[i]
        stale = True
        for q in range(some.shape[1]):
            live = span(q, ZERO, n_words) & ~span(q, own_start, own_end)
            k = 0
            while live != NONE:
                if stale:
                    place(table, u, best, False, features, box)
                    stale = False
                    k = 0
                while k < m:
                    live &= some[box[k, 2], q] & ~every[box[k, 0], q]
                    k += 1
                if live == NONE:
                    break
                w = 64 * q + lowest(live)
                live &= live - ONE
                inside = ALL
                for c in range(m):
                    inside &= fine[box[c, 2], w] & ~fine[box[c, 0], w]
                    if inside == NONE:
                        break
                while inside != NONE:
                    v = rows[w] + lowest(inside)
                    d = distance(points, initial, u, v, best)
                    inside &= inside - ONE
                    if d < best:
                        best, last = d, v
                        stale = True
        out[u - low] = best
        if not (recent == last).any():
            recent[oldest] = last
            oldest = (oldest + 1) % RECENT


# --- Shortening
@inner_kernel
def needed_side(points, rule, v, j):
    """Return the side of the feature at place `j` that discerns `v`, 0 unless it alone does.

    Other features discern `v` by conditions kept before place `j`, or after it by their initial
    types.
    """
    needed = 0
    for i in range(len(rule.order)):
        k = rule.order[i]
        d = points[v, k] - points[rule.u, k]
        side = rule.kept[k] & (1 if d > rule.limit else 2 if d < -rule.limit else 0)
        if i == j:
            needed = side
        elif side:
            return 0
    return needed


@kernel
def prune(table, limits, orders, low, out):
    """Find condition types, given as those that rules start from.

    From the last feature backwards, find the samples that the features from there on do not
    discern. Then forwards: a sample that neither the features to come nor the conditions kept so
    far discern needs the side of the feature it lies beyond. If bins have one value each, no sample
    need be compared. A rigid feature keeps both sides or none.
    """
    fine, some, every = table.fine, table.some, table.every
    first, fence = table.first, table.fence
    n_words, n_groups = len(fence), some.shape[1]
    m = table.points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    live = np.empty((m + 1, n_groups), dtype=np.uint64)
    later = np.empty((m + 2, n_words), dtype=np.uint64)
    alive = np.empty(n_groups, dtype=np.uint64)
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
            for w in range(n_words):
                later[m, w] = NONE if own_start <= w < own_end else fine[0, w]
            for q in range(n_groups):
                live[m, q] = span(q, ZERO, n_words) & ~span(q, own_start, own_end)
        order = orders[u - low if len(orders) > 1 else 0]
        rule = PrunedRule(u, limit, order, kept)
        place(table, u, limit, True, order, box)
        for j in range(m - 1, 0, -1):
            sides = box[j, 2], np.int64(box[j, 0])  # of the same types as below
            narrow(fine, sides, live[j + 1], live[j], later[j + 1], later[j])
        # Samples that the conditions kept so far do not discern are in the first or the last set.
        source = m
        for q in range(n_groups):
            alive[q] = live[m, q]
        for j in range(m):
            k = order[j]
            above, below = NO, NO
            for q in range(n_groups):
                todo = live[j + 1, q] & alive[q]
                todo &= some[box[j, 1], q] | ~every[box[j, 3], q]
                while todo != NONE and not (above and below):
                    w = 64 * q + lowest(todo)
                    todo &= todo - ONE
                    hits = later[source, w] & later[j + 1, w]
                    over, under = hits & fine[box[j, 1], w], hits & ~fine[box[j, 3], w]
                    if exact:
                        above |= over != NONE
                        below |= under != NONE
                        continue
                    # A bin may reach from one side of the box to the other.
                    hits = (NONE if above else over) | (NONE if below else under)
                    while hits != NONE:
                        v = table.rows[w] + lowest(hits)
                        hits &= hits - ONE
                        side = needed_side(table.points, rule, v, j)
                        above |= side == 1
                        below |= side == 2
                        hits &= (NONE if above else over) | (NONE if below else under)
            if table.rigid[k]:
                above = below = above or below
            kept[k] = above + 2 * below
            if above or below:
                outer = box[j, 0] if above else first[k + 1] - 1
                inner = box[j, 2] if below else first[k]
                sides = inner, outer
                target = m + 1 if source == 0 else ZERO
                narrow(fine, sides, alive, alive, later[source], later[target])
                source = target


# --- Covers
@kernel
def cover(table, asked, limits, types, wanted, out):
    """Find the words and sets that the rules of some rows cover of the samples wanted.

    Return the number of words.
    """
    fine, first, fence = table.fine, table.first, table.fence
    points, m = table.points, table.points.shape[1]
    box = np.empty((m, 4), dtype=np.int32)
    used = np.empty(m + 1, dtype=np.int64)
    possible, certain = np.empty((2, 64), dtype=np.uint64)
    filled = 0
    for a in range(len(asked)):
        u, limit, kept = asked[a], limits[a], types[a]
        if limit <= 0:
            out.lengths[a] = 0
            continue
        before = filled
        own = table.bits[u] >> 6
        own_start, own_end = fence[own, 0], fence[own, 1]
        n_used = ZERO
        for k in range(m):
            used[n_used] = k
            n_used += kept[k] != 0
        features = used[:n_used]
        place(table, u, limit, False, features, box)
        for c in range(n_used):
            k = features[c]
            if not kept[k] & 1:
                box[c, 0] = box[c, 1] = first[k + 1] - 1
            if not kept[k] & 2:
                box[c, 2] = box[c, 3] = first[k]
        for q in range(own_start >> 6, ((own_end - 1) >> 6) + 1):
            live = span(q, own_start, own_end)
            for c in range(n_used):
                live &= table.some[box[c, 2], q] & ~table.every[box[c, 0], q]
            if live == NONE:
                continue
            start, n = np.uint64(64 * q), np.uint64(min(64, len(fence) - 64 * q))
            for i in range(n):
                possible[i] = certain[i] = wanted[start + i]
            for c in range(n_used):
                above, maybe_above, below, maybe_below = box[c, 0], box[c, 1], box[c, 2], box[c, 3]
                for i in range(n):
                    w = start + i
                    possible[i] &= fine[below, w] & ~fine[above, w]
                    certain[i] &= fine[maybe_below, w] & ~fine[maybe_above, w]
            while live != NONE:
                i = lowest(live)
                live &= live - ONE
                inside, doubtful = certain[i], possible[i] & ~certain[i]
                while doubtful != NONE:
                    p = lowest(doubtful)
                    doubtful &= doubtful - ONE
                    v = table.rows[64 * q + i] + p
                    found = ONE
                    for c in range(n_used):
                        k = features[c]
                        d = points[v, k] - points[u, k]
                        if (kept[k] & 1 and d >= limit) or (kept[k] & 2 and d <= -limit):
                            found = NONE
                            break
                    inside |= found << np.uint64(p)
                if inside != NONE:
                    out.words[filled] = 64 * q + i
                    out.sets[filled] = inside
                    filled += 1
        out.lengths[a] = filled - before
    return filled

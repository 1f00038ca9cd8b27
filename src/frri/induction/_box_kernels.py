"""Boxes of objects as bitmaps, for the steps in `frri.induction._bitmap_kernels`.

Every attribute is cut into bins at some of its values. For each cut there is a bitmap of the
objects at or above it, so that "all objects within this box" is the conjunction of two bitmaps per
attribute, in blocks of words of 64 objects. Where a side of the box falls inside a bin, the
bitmaps give a set that is too large and a set that is too small; the objects in between are looked
at one by one, with the very float64 comparison of the definition. Results are exact.

Smaller bitmaps, with one bit per block, tell for each cut which blocks have *some* object and which
have *every* object at or above it: most blocks are ruled out by them.

An attribute with missing values (NaN) has its cuts twice. In the bitmaps of the first copy, which
serve for the lower sides of boxes, those objects are at or above every cut; in the bitmaps of the
second, which serve for the upper initial, above none. So they are beyond neither side.

Names used throughout: objects are numbered by *row*, grouped by class; the classes begin at whole
words, `rows` has the first row of each word and `fence` the first and last word of its class. `u`
is the row whose box it is. `fine` is indexed by cut, block and word; `first` is the first cut of
each attribute and `shift` the distance to the copy of its cuts, 0 if it has none; `box` holds four
cuts per attribute, see `place`. `initial` has the sides that a box may have, by attribute: 1 for above,
2 for below, 3 for both; `types` those that each rule keeps; it is None if all have both and no value is missing, and what is there for
other tables is then left out by the compiler.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"

import numpy as np

from frri._compile import inner_kernel, kernel
from frri._words import ALL, NONE, ONE

# Words in a block: a line of the cache.
BLOCK = 8
BUCKETS = 1024


@inner_kernel
def span(q, start, end):
    """The bits from `start` to `end` that are in word `q`."""
    low = max(start - 64 * q, 0)
    high = min(end - 64 * q, 64)
    if high <= low:
        return NONE
    return (ALL >> np.uint64(64 - high + low)) << np.uint64(low)


@inner_kernel
def byte_distance(one, other):
    """Return how far apart two bytes are."""
    return np.uint8(max(one, other) - min(one, other))


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
def beyond(sets, s, others, o, table, inner, outer):
    """Return whether samples of both sets are at or above the cut `outer`, and whether below `inner`."""
    above, below = NONE, NONE
    for i in range(BLOCK):
        both = sets[s, i] & others[o, i]
        above |= both & table[outer, i]
        below |= both & ~table[inner, i]
    return above != NONE, below != NONE


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


@inner_kernel
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


@inner_kernel
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


@inner_kernel
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


@inner_kernel
def open_sides(points, first, shift, initial, u, attributes, count, box):
    """Open the sides that a box must not have, all sides where row `u` misses the value.

    The remaining upper sides go to the copy of the cuts that is made for them.
    """
    for j in range(count):
        k = attributes[j]
        bounded = 0 if np.isnan(points[u, k]) else initial[k]
        if bounded & 1:
            box[j, 0] += shift[k]
            box[j, 1] += shift[k]
        else:
            box[j, 0] = box[j, 1] = first[k + 1] - 1
        if not bounded & 2:
            box[j, 2] = box[j, 3] = first[k]

"""Bitmaps of the samples beyond the sides of boxes, for the kernels of induction.

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
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"

from typing import Any, NamedTuple

import numpy as np

from frri._bitsets import ALL, NONE, ONE
from frri._compile import inner_kernel, kernel

# Words in a block: a line of the cache.
BLOCK = 8
BUCKETS = 1024


class Bitmaps(NamedTuple):
    """A table for the kernels; rows are grouped by class, and classes begin at whole words."""

    points: Any  # (n_rows, n_features)
    bits: Any  # (n_rows,): position of each row
    rows: Any  # (n_words + 1,): first row of each word
    fence: Any  # (n_words, 2): first and last word of the class of a word
    fine: Any  # (n_cuts, n_blocks, BLOCK): samples at or above each cut
    some: Any  # (n_cuts, n_coarse): blocks with some of these
    every: Any  # (n_cuts, n_coarse): blocks with nothing else
    first: Any  # (n_features + 1,): first cut of each feature
    shift: Any  # (n_features,): distance to the copy of its cuts, 0 without one
    cuts: Any  # (n_cuts,): lowest value of each bin
    tops: Any  # (n_cuts,): highest value of each bin
    starts: Any  # (n_features, BUCKETS + 1): first cut of each bucket of [0, 1]
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
def beyond(sets, s, others, o, table, inner, outer):
    """Return whether samples of both sets are at or above `outer`, and whether below `inner`."""
    above, below = NONE, NONE
    for i in range(BLOCK):
        both = sets[s, i] & others[o, i]
        above |= both & table[outer, i]
        below |= both & ~table[inner, i]
    return above != NONE, below != NONE


# --- The table


@kernel
def cut_into_bins(ascending, most):
    """Cut every feature at distinct quantiles, at all of its values if there are few.

    Values that fill a bin by themselves are a bin by themselves. Each feature ends with an infinite
    cut that no sample reaches. Missing values come last in a column and do not count.
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
    """Return the bucket of a value."""
    return min(max(int(value * BUCKETS), 0), BUCKETS - 1)


@kernel
def first_cuts(first, shift, cuts):
    """Return, for every feature and bucket of [0, 1], the first cut in it or after it."""
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
def fill(table, columns):
    """Set the bitmaps of all cuts, given as zeros."""
    first, cuts, starts, fine = table.first, table.cuts, table.starts, table.fine
    m, n = columns.shape
    n_blocks = fine.shape[1]
    for k in range(m):
        infinite = first[k + 1] - table.shift[k] - 1
        for r in range(n):
            a = columns[k, r]
            word = table.bits[r] >> 6
            b, i = word // BLOCK, word % BLOCK
            one = ONE << np.uint64(table.bits[r] & 63)
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
                    fine[cut, b, i] = fine[cut - table.shift[k], b, i] & ~fine[infinite, b, i]
        for cut in range(first[k], first[k + 1] - 1):
            for b in range(n_blocks):
                found, lacking = NONE, NONE
                for i in range(BLOCK):
                    found |= fine[cut, b, i]
                    lacking |= fine[first[k], b, i] & ~fine[cut, b, i]
                table.some[cut, b >> 6] |= np.uint64(found != NONE) << np.uint64(b & 63)
                table.every[cut, b >> 6] |= np.uint64(lacking == NONE) << np.uint64(b & 63)


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
            b = bucket(a + bound)
            cut, end = table.starts[k, b], table.starts[k, b + 1]
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
                d = table.tops[cut - 1] - a
                if d > bound or (d == bound and not inclusive):
                    other -= 1
            # Upper sides use the copy of the cuts that is made for them.
            copy = 0 if side else table.shift[k]
            box[j, 3 if side else 0] = cut + copy
            box[j, 2 if side else 1] = other + copy

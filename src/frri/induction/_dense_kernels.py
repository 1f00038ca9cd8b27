"""Confidences, shortened conditions and covers of small tables, compiled.

As in `frri.induction._box_kernels` there is a bitmap of the objects at or above each cut, but every value of
an attribute is a cut. So the bitmaps tell exactly what lies beyond a side of a box, and the sides of
all boxes, once found among the cuts, serve for shortening and covering alike. For n objects and m
attributes the bitmaps take up to m n^2 / 8 bytes, which is why large tables have fewer cuts.

All values are in [0, 1] and none is missing. The names are those of `frri.induction._box_kernels`; an array
`cutoffs` holds, by row and attribute, the first cut that is beyond the upper side of a closed box and
the first that is not beyond its lower side.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"

import numpy as np

from frri._compile import inner_kernel, kernel
from frri._words import NONE, ONE
from frri.induction._box_kernels import BLOCK, beyond, byte_distance, narrow

BUCKETS = 1024

# Not literals: for each of these the compiler would do everything once more.
NO, YES = np.bool_(False), np.bool_(True)

# Distances are first counted in levels, for this many objects at a time.
LEVELS = 255
STRIP = 256
# Bytes of such distances that are kept, rather than counted again.
KEPT = 1 << 22


# --- Confidences


@inner_kernel
def apart(levels, u, left, out):
    """Levels between row `u` and the rows of the strip that begins at `left`.

    Four attributes at a time: those that are lacking have been filled up.
    """
    for i in range(np.uint64(STRIP)):
        out[i] = 0
    for k in range(0, len(levels), 4):
        a, b, c, d = levels[k, u], levels[k + 1, u], levels[k + 2, u], levels[k + 3, u]
        for i in range(np.uint64(STRIP)):
            v = left + i
            one = max(byte_distance(a, levels[k, v]), byte_distance(b, levels[k + 1, v]))
            other = max(byte_distance(c, levels[k + 2, v]), byte_distance(d, levels[k + 3, v]))
            out[i] = max(out[i], one, other)


@inner_kernel
def distance(points, u, v, enough):
    """Chebyshev distance from row `u` to row `v`, or anything not below `enough`."""
    largest = 0.0
    for k in range(points.shape[1]):
        largest = max(largest, abs(points[v, k] - points[u, k]))
        if largest >= enough:
            break
    return largest


@inner_kernel
def facing(first_row, code, earlier):
    """The rows of all classes before one, or of all classes after it."""
    return (0, first_row[code]) if earlier else (first_row[code + 1], first_row[-1])


@inner_kernel
def count_strips(first_row, earlier):
    """In how many strips each row faces the classes before its own, or after it."""
    total = 0
    for code in range(len(first_row) - 1):
        start, end = facing(first_row, code, earlier)
        total += (first_row[code + 1] - first_row[code]) * -(-(end - start) // STRIP)
    return total


@kernel
def nearest(points, columns, first_row, out):
    """Distance to the nearest enemy, infinite without one.

    Every pair of enemies is looked at, but in levels of one byte, of which a vector holds many. A
    distance of `q` levels is one of more than `q - 1` and less than `q + 1` of them, but for rounding:
    only who is at most two levels farther than the nearest can be nearer.
    """
    m, n = columns.shape
    levels = np.zeros((-(-m // 4) * 4, n + STRIP), dtype=np.uint8)
    for k in range(m):
        for r in range(n):
            levels[k, r] = np.uint8(columns[k, r] * LEVELS)
    earlier = count_strips(first_row, YES) < count_strips(first_row, NO)
    n_strips = count_strips(first_row, earlier)
    kept = n_strips * STRIP <= KEPT
    distances = np.empty((n_strips if kept else 1, STRIP), dtype=np.uint8)
    near = np.full(n + STRIP, LEVELS, dtype=np.uint8)
    strip = 0
    for code in range(len(first_row) - 1):
        start, end = facing(first_row, code, earlier)
        for left in range(np.uint64(start), np.uint64(end), np.uint64(STRIP)):
            for u in range(first_row[code], first_row[code + 1]):
                row = distances[strip]
                strip += kept
                apart(levels, u, left, row)
                row[end - left :] = LEVELS
                smallest = near[u]
                for i in range(np.uint64(STRIP)):
                    smallest = min(smallest, row[i])
                    near[left + i] = min(near[left + i], row[i])
                near[u] = smallest
    for r in range(np.uint64(n)):
        near[r] = min(near[r], np.uint8(LEVELS - 2)) + np.uint8(2)

    out[:] = np.inf
    flags = np.empty(STRIP, dtype=np.uint8)
    eights = flags.view(np.uint64)
    strip = 0
    for code in range(len(first_row) - 1):
        start, end = facing(first_row, code, earlier)
        for left in range(np.uint64(start), np.uint64(end), np.uint64(STRIP)):
            for u in range(first_row[code], first_row[code + 1]):
                row = distances[strip]
                strip += kept
                if not kept:
                    apart(levels, u, left, row)
                within = near[u]
                for i in range(np.uint64(STRIP)):
                    flags[i] = row[i] <= max(within, near[left + i])
                for e in range(STRIP // 8):
                    if eights[e] != NONE:
                        for i in range(8 * e, min(8 * e + 8, end - left)):
                            if flags[i]:
                                v = left + i
                                d = distance(points, u, v, max(out[u], out[v]))
                                out[u] = min(out[u], d)
                                out[v] = min(out[v], d)


# --- The table


@inner_kernel
def bucket(value):
    return min(max(int(value * BUCKETS), 0), BUCKETS - 1)


@inner_kernel
def sort(column, ends, rows):
    """Rows by value: first into buckets, then by insertion, for which little is left to do."""
    n = len(column)
    ends[:] = 0
    for r in range(n):
        ends[bucket(column[r])] += 1
    total = 0
    for b in range(BUCKETS):
        total += ends[b]
        ends[b] = total
    for r in range(n - 1, -1, -1):
        b = bucket(column[r])
        ends[b] -= 1
        rows[ends[b]] = r
    for i in range(1, n):
        r = rows[i]
        j = i
        while j > 0 and column[rows[j - 1]] > column[r]:
            rows[j] = rows[j - 1]
            j -= 1
        rows[j] = r


@kernel
def tabulate(columns, bits, first, cuts, starts, fine):
    """Cut every attribute at all of its values and at infinity; returns the number of cuts.

    `starts` has, for every attribute and bucket, the first cut in it or after it.
    """
    m, n = columns.shape
    n_blocks = fine.shape[1]
    everything = np.zeros((n_blocks, BLOCK), dtype=np.uint64)
    for r in range(n):
        everything[bits[r] >> 9, (bits[r] >> 6) & 7] |= ONE << np.uint64(bits[r] & 63)
    current = np.empty_like(everything)
    ends = np.empty(BUCKETS, dtype=np.int32)
    rows = np.empty(n, dtype=np.int32)
    cut = 0
    for k in range(m):
        column = columns[k]
        sort(column, ends, rows)
        first[k] = cut
        np.positive(everything, current)
        reached = r = 0
        while r < n:
            a = column[rows[r]]
            while reached <= bucket(a):
                starts[k, reached] = cut
                reached += 1
            cuts[cut] = a
            np.positive(current, fine[cut])
            cut += 1
            while r < n and column[rows[r]] == a:
                bit = bits[rows[r]]
                current[bit >> 9, (bit >> 6) & 7] ^= ONE << np.uint64(bit & 63)
                r += 1
        starts[k, reached:] = cut
        cuts[cut] = np.inf
        np.positive(current, fine[cut])
        cut += 1
    first[m] = cut
    return cut


# --- Boxes


@kernel
def place(points, limits, first, cuts, starts, cutoffs):
    """Put the sides of the boxes of all rows among the cuts.

    The rounded difference itself is compared with the limit, as the definitions do; it grows with the
    value. One step from the first cut of the bucket is mostly enough, and is made without a branch.
    """
    n, m = points.shape
    for u in range(n):
        limit = limits[u]
        for k in range(m):
            a = points[u, k]
            cut = starts[k, bucket(a + limit)]
            cut += cuts[cut] - a <= limit
            while cuts[cut] - a <= limit:
                cut += 1
            while cut > first[k] and cuts[cut - 1] - a > limit:
                cut -= 1
            cutoffs[u, k, 0] = cut
            cut = starts[k, bucket(a - limit)]
            cut += cuts[cut] - a < -limit
            while cuts[cut] - a < -limit:
                cut += 1
            while cut > first[k] and cuts[cut - 1] - a >= -limit:
                cut -= 1
            cutoffs[u, k, 1] = cut


@kernel
def prune(first_row, first_word, fine, n_blocks, first, cutoffs, limits, orders, out):
    """Condition types of all rows, found as in `frri.induction._bitmap_kernels.prune`."""
    m = cutoffs.shape[1]
    later = np.empty(((m + 1) * n_blocks, BLOCK), dtype=np.uint64)
    alive = np.empty((n_blocks, BLOCK), dtype=np.uint64)
    enemies = later[m * n_blocks :]
    everything, nothing = 0, (first[1] - 1) * n_blocks
    for code in range(len(first_row) - 1):
        own_start, own_end = first_word[code], first_word[code + 1]
        for b in range(n_blocks):
            for i in range(BLOCK):
                own = own_start <= BLOCK * b + i < own_end
                enemies[b, i] = NONE if own else fine[b, i]
        # The blocks that are not wholly of this class, as far as they are the first or the last.
        low = own_end // BLOCK if own_start == 0 else 0
        high = -(-own_start // BLOCK) if own_end == first_word[-1] else n_blocks
        for u in range(first_row[code], first_row[code + 1]):
            if limits[u] < 0:
                out[u] = 0
                continue
            o = u if len(orders) > 1 else 0
            for j in range(m - 1, 0, -1):
                k = orders[o, j]
                outer, inner = cutoffs[u, k, 0] * n_blocks, cutoffs[u, k, 1] * n_blocks
                for b in range(low, high):
                    here, after = j * n_blocks + b, (j + 1) * n_blocks + b
                    narrow(later, here, later, after, fine, inner + b, outer + b)
            for b in range(low, high):
                narrow(alive, b, enemies, b, fine, everything + b, nothing + b)
            for j in range(m):
                k = orders[o, j]
                outer, inner = cutoffs[u, k, 0] * n_blocks, cutoffs[u, k, 1] * n_blocks
                above, below = False, False
                for b in range(low, high):
                    after = (j + 1) * n_blocks + b
                    over, under = beyond(alive, b, later, after, fine, inner + b, outer + b)
                    above |= over
                    below |= under
                out[u, k] = above + 2 * below
                if above or below:
                    outer = outer if above else (first[k + 1] - 1) * n_blocks
                    inner = inner if below else first[k] * n_blocks
                    for b in range(low, high):
                        narrow(alive, b, alive, b, fine, inner + b, outer + b)


@kernel
def covered(
    points, bits, rows, word_class, first_word, fine, n_blocks, first, cuts, cutoffs, limits, types,
    ends, words, sets,
):  # fmt: skip
    """Words and sets covered by the rules, in the order `rows`; returns how many.

    Covering asks for open boxes: objects at the very limit are beyond their sides.
    """
    m = points.shape[1]
    box = np.empty((m, 2), dtype=np.int64)
    possible = np.empty((1, BLOCK), dtype=np.uint64)
    filled = 0
    for position in range(len(rows)):
        u = rows[position]
        limit = limits[u]
        if limit > 0:
            used = 0
            for k in range(m):
                outer, inner = first[k + 1] - 1, first[k]
                if types[u, k] & 1:
                    outer = cutoffs[u, k, 0]
                    while outer > first[k] and cuts[outer - 1] - points[u, k] == limit:
                        outer -= 1
                if types[u, k] & 2:
                    inner = cutoffs[u, k, 1]
                    while cuts[inner] - points[u, k] == -limit:
                        inner += 1
                box[used, 0], box[used, 1] = outer * n_blocks, inner * n_blocks
                used += types[u, k] != 0
            code = word_class[bits[u] >> 6]
            own_start, own_end = first_word[code], first_word[code + 1]
            for b in range(own_start // BLOCK, (own_end - 1) // BLOCK + 1):
                # Without conditions, the box is that of an attribute with no sides.
                narrow(possible, 0, fine, b, fine, box[0, 1] + b, box[0, 0] + b)
                for c in range(1, used):
                    narrow(possible, 0, possible, 0, fine, box[c, 1] + b, box[c, 0] + b)
                for i in range(max(own_start - BLOCK * b, 0), min(own_end - BLOCK * b, BLOCK)):
                    words[filled] = BLOCK * b + i
                    sets[filled] = possible[0, i]
                    filled += possible[0, i] != NONE
        ends[position] = filled
    return filled

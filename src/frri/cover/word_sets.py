"""Kernels that count, choose and compare sets kept as sparse rows of 64-bit words."""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frri._bitsets import ONE, count_ones, lowest
from frri._compile import either, kernel
from frri._util import Flags, Ints, Words

Indices = NDArray[np.int32]


class WordRows(NamedTuple):
    """Rows of words, as a `CoverMatrix` has them."""

    indptr: Ints
    words: Indices
    bits: Words


RANKS = 32
"""Bits of a key that tell rows of equal gains apart."""

LAST = (1 << RANKS) - 1


def _count_interpreted(words: Indices, bits: Words, counts: Ints) -> None:
    for start in range(0, len(bits), 1 << 14):
        octets = np.ascontiguousarray(bits[start : start + (1 << 14)].astype("<u8")).view(np.uint8)
        where = np.flatnonzero(np.unpackbits(octets, bitorder="little"))
        members = (words[start + (where >> 6)].astype(np.int64) << 6) + (where & 63)
        counts += np.bincount(members, minlength=len(counts))


def _count_loops(words: Indices, bits: Words, counts: Ints) -> None:
    """Count 64 elements at a time, one binary digit of all of them in a word."""
    digits = np.zeros((len(counts) >> 6, 32), dtype=np.uint64)
    for k in range(len(bits)):
        own, carry, d = digits[words[k]], bits[k], 0
        while carry:
            both = own[d] & carry
            own[d] ^= carry
            carry = both
            d += 1
    for w in range(len(digits)):
        for d in range(32):
            for i in range(64 if digits[w, d] else 0):
                one = (digits[w, d] >> np.uint64(i)) & np.uint64(1)
                counts[64 * w + i] += np.int64(one) << d


count = either(interpreted=_count_interpreted, loops=_count_loops)
"""Add to `counts` how often each element occurs in the words given."""


def _needed_interpreted(
    indptr: Ints, words: Indices, bits: Words, order: Ints, counts: Ints
) -> Flags:
    needed = np.zeros(len(order), dtype=np.bool_)
    for place, j in enumerate(order):
        part = slice(indptr[j], indptr[j + 1])
        octets = np.ascontiguousarray(bits[part].astype("<u8")).view(np.uint8)
        where = np.flatnonzero(np.unpackbits(octets, bitorder="little"))
        members = (words[part][where >> 6].astype(np.int64) << 6) + (where & 63)
        needed[place] = counts[members].min(initial=2) == 1
        if not needed[place]:
            counts[members] -= 1
    return needed


def _needed_loops(indptr: Ints, words: Indices, bits: Words, order: Ints, counts: Ints) -> Flags:
    """Keep one bit for who is covered once beside the counts."""
    once = np.zeros(len(counts) >> 6, dtype=np.uint64)
    for i in range(len(counts)):
        if counts[i] == 1:
            once[i >> 6] |= ONE << np.uint64(i & 63)
    needed = np.zeros(len(order), dtype=np.bool_)
    for place in range(len(order)):
        j = order[place]
        for k in range(indptr[j], indptr[j + 1]):
            if bits[k] & once[words[k]]:
                needed[place] = True
                break
        if needed[place]:
            continue
        for k in range(indptr[j], indptr[j + 1]):
            base, rest = np.int64(words[k]) << 6, bits[k]
            while rest:
                element = base + lowest(rest)
                counts[element] -= 1
                if counts[element] == 1:
                    once[words[k]] |= rest & (~rest + ONE)
                rest &= rest - ONE
    return needed


needed = either(interpreted=_needed_interpreted, loops=_needed_loops)
"""Return which rows are needed, asked in that order; one that covers nothing alone is removed.

`counts` says how often each element occurs in the rows of `order`, and is overwritten.
"""


def _greedy_interpreted(
    indptr: Ints, words: Indices, bits: Words, preferred: Ints, heap: Ints, missing: Words
) -> Ints:
    left = int(np.bitwise_count(missing).sum())
    keys = (-heap).tolist()
    chosen = []
    while left:
        last = -keys[0] & LAST
        j = int(preferred[len(preferred) - 1 - last])
        own, mine = words[indptr[j] : indptr[j + 1]], bits[indptr[j] : indptr[j + 1]]
        gain = int(np.bitwise_count(mine & missing[own]).sum())
        heapq.heapreplace(keys, -(gain << RANKS | last))
        if -keys[0] == gain << RANKS | last:
            chosen.append(j)
            missing[own] &= ~mine
            left -= gain
    return np.array(chosen, dtype=np.int64)


def _greedy_loops(
    indptr: Ints, words: Indices, bits: Words, preferred: Ints, heap: Ints, missing: Words
) -> Ints:
    left = 0
    for k in range(len(missing)):
        left += count_ones(missing[k])
    n = len(heap)
    chosen = np.empty(n, dtype=np.int64)
    n_chosen = 0
    while left > 0:
        last = heap[0] & LAST
        j = preferred[n - 1 - last]
        gain = 0
        for k in range(indptr[j], indptr[j + 1]):
            gain += count_ones(bits[k] & missing[words[k]])
        key = (gain << RANKS) | last
        place, child = 0, 1
        while child < n:  # let it sink
            if child + 1 < n:
                child += heap[child + 1] > heap[child]
            if heap[child] < key:
                break
            heap[place] = heap[child]
            place, child = child, 2 * child + 1
        heap[place] = key
        if place == 0:
            chosen[n_chosen] = j
            n_chosen += 1
            left -= gain
            for k in range(indptr[j], indptr[j + 1]):
                missing[words[k]] &= ~bits[k]
    return chosen[:n_chosen]


greedy = either(interpreted=_greedy_interpreted, loops=_greedy_loops)
"""Rows in the order in which the largest gain chooses them, of equal ones the first of `preferred`.

`missing` are the elements to cover and `heap` the keys of all rows, descending, see `greedy_keys`;
both are overwritten. Gains only fall: a row that stays in front with its new gain is the best one.
"""


def greedy_keys(gains: Ints, preferred: Ints) -> Ints:
    """Return a sort key for each row: its elements, then how many rows `preferred` has after it.

    Examples
    --------
    >>> greedy_keys(np.array([1, 2]), np.array([1, 0])) >> RANKS
    array([2, 1])
    """
    keys = (gains[preferred] << RANKS) | np.arange(len(gains))[::-1]
    keys.sort()
    return keys[::-1].copy()


def _rarest_interpreted(
    indptr: Ints, words: Indices, bits: Words, counts: Ints, first: int, rarest: Ints
) -> None:
    for j in range(len(indptr) - 1):
        lo, hi = indptr[j] - first, indptr[j + 1] - first
        octets = np.ascontiguousarray(bits[lo:hi].astype("<u8")).view(np.uint8)
        where = np.flatnonzero(np.unpackbits(octets, bitorder="little"))
        members = (words[lo + (where >> 6)].astype(np.int64) << 6) + (where & 63)
        if len(members):
            rarest[j] = members[counts[members].argmin()]


def _rarest_loops(
    indptr: Ints, words: Indices, bits: Words, counts: Ints, first: int, rarest: Ints
) -> None:
    for j in range(len(indptr) - 1):
        least = np.int64(1) << 62
        for k in range(indptr[j] - first, indptr[j + 1] - first):
            base = np.int64(words[k]) << 6
            rest = bits[k]
            while rest:
                i = base + lowest(rest)
                if counts[i] < least:
                    least = counts[i]
                    rarest[j] = i
                rest &= rest - ONE


rarest = either(interpreted=_rarest_interpreted, loops=_rarest_loops)
"""The first of the least frequent elements of each row (unchanged where a row is empty)."""


def _contained_arrays(j: int, k: int, rows: WordRows) -> bool | np.bool_:
    indptr, words, bits = rows
    ours, theirs = slice(indptr[j], indptr[j + 1]), slice(indptr[k], indptr[k + 1])
    if indptr[k] == indptr[k + 1]:
        return bool(indptr[j] == indptr[j + 1])
    where = np.searchsorted(words[theirs], words[ours])
    where[where == indptr[k + 1] - indptr[k]] = 0
    same = words[theirs][where] == words[ours]
    return bool(same.all()) and not (bits[ours] & ~bits[theirs][where]).any()


def _contained_loops(j: int, k: int, rows: WordRows) -> bool | np.bool_:
    other, end = rows.indptr[k], rows.indptr[k + 1]
    for own in range(rows.indptr[j], rows.indptr[j + 1]):
        while other < end and rows.words[other] < rows.words[own]:
            other += 1
        if other == end or rows.words[other] != rows.words[own]:
            return False
        if rows.bits[own] & ~rows.bits[other]:
            return False
        other += 1
    return True


_contained = either(interpreted=_contained_arrays, loops=_contained_loops, inner=True)
"""Whether row `j` is a subset of row `k`."""


class RowComparison(NamedTuple):
    """Rows that are compared, and what decides between a row and a superset of it.

    Attributes
    ----------
    rows : WordRows
    ranks, costs : ndarray of int64
        Of a row and a superset of it, the one of lower rank and no higher cost is kept.
    rarest, owners_from, owners : ndarray of int64
        All supersets of row `j` are among `owners[owners_from[i]:owners_from[i + 1]]`, `i =
        rarest[j]`.
    drop_larger : bool
        Whether the superset is dropped (the subset then has the lower rank), or the subset.
    """

    rows: WordRows
    ranks: Ints
    costs: Ints
    rarest: Ints
    owners_from: Ints
    owners: Ints
    drop_larger: bool


@kernel
def compare(task: RowComparison, start: int, work: int, dropped_by: Ints) -> tuple[int, int]:
    """Drop rows that another one makes superfluous.

    Parameters
    ----------
    task : RowComparison
    start, work : int
        The row to begin with, and about how many words to look at.
    dropped_by : ndarray of int64
        Set to the row that made one superfluous; -1 so far.

    Returns
    -------
    row, work : int
        The row to go on with, and what is left of `work`.
    """
    j = start
    while j < len(task.ranks) and work > 0:
        if dropped_by[j] < 0:
            i = task.rarest[j]
            for q in range(task.owners_from[i], task.owners_from[i + 1]):
                k = task.owners[q]
                work -= 2
                keeper, loser = (j, k) if task.drop_larger else (k, j)
                if (
                    dropped_by[loser] >= 0
                    or task.ranks[keeper] >= task.ranks[loser]
                    or task.costs[keeper] > task.costs[loser]
                ):
                    continue
                work -= 10
                if _contained(j, k, task.rows):
                    dropped_by[loser] = keeper
                    if not task.drop_larger:
                        break
        j += 1
    return j, work

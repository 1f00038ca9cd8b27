"""The cover relation in two forms: sparse rows of 64-bit words, and lists in both directions.

A set of objects is a row of words, object `i` being bit `i % 64` of word `i // 64`.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from frri._compile import either, inner_kernel
from frri._util import Flags, Floats, Ints, Words
from frri.cover.budget import Work

Bytes = NDArray[np.int8]
Indices = NDArray[np.int32]

# Words counted at a time.
CHUNK = 1 << 20
# Interpreted seconds for a word to be counted, and for a candidate in a greedy cover.
COUNT_SECONDS, GREEDY_SECONDS = 3e-7, 1e-5


@dataclass(frozen=True, eq=False)
class CoverMatrix:
    """Which candidate covers which objects.

    Candidate `i` covers object `64 * words[k] + b` iff bit `b` of `bits[k]` is set, for a `k` in
    `indptr[i]:indptr[i + 1]`. Words within a row ascend; empty words are left out.

    Parameters
    ----------
    indptr : ndarray of int64, shape (n_candidates + 1,)
    words : ndarray of int32
    bits : ndarray of uint64
    n_objects : int

    Examples
    --------
    >>> covers = CoverMatrix.from_dense([[True, False, True], [False, True, False]])
    >>> len(covers), covers.n_objects
    (2, 3)
    >>> covers.sizes()
    array([2, 1])
    """

    indptr: Ints
    words: Indices
    bits: Words
    n_objects: int

    @classmethod
    def from_dense(cls, matrix: object) -> "CoverMatrix":
        """Build from a boolean matrix, candidates x objects."""
        dense = np.asarray(matrix, dtype=bool)
        return cls.from_words(packed(dense), dense.shape[1])

    @classmethod
    def from_words(cls, table: Words, n_objects: int) -> "CoverMatrix":
        """Build from all words of all candidates, candidates x words."""
        rows, words = np.nonzero(table)
        indptr = _starts(np.bincount(rows, minlength=len(table)))
        return cls(indptr, words.astype(np.int32), table[rows, words], n_objects)

    @classmethod
    def from_sparse(cls, matrix: sparse.csr_array) -> "CoverMatrix":
        """Build from a sparse matrix, candidates x objects, with ascending indices."""
        n, objects = matrix.shape[0], matrix.indices.astype(np.int64)
        keys = np.repeat(np.arange(n), np.diff(matrix.indptr)) << 32 | objects >> 6
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        bits = np.uint64(1) << (objects & 63).astype(np.uint64)
        bits = np.bitwise_or.reduceat(bits, first) if len(keys) else bits
        indptr = _starts(np.bincount(keys[first] >> 32, minlength=n))
        return cls(indptr, (keys[first] & 0xFFFFFFFF).astype(np.int32), bits, matrix.shape[1])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def to_dense(self) -> Flags:
        """Return the boolean matrix, candidates x objects."""
        dense = np.zeros((len(self), self.n_objects), dtype=bool)
        rows = np.repeat(np.arange(len(self)), self.sizes())
        dense[rows, elements(self.words, self.bits)] = True
        return dense

    def sizes(self, within: Words | None = None) -> Ints:
        """Count the objects that each candidate covers, of all or of a set given as words."""
        sums = np.zeros(len(self), dtype=np.int64)
        filled = np.flatnonzero(np.diff(self.indptr))
        # Some rows at a time: the counts of all words would take too much memory.
        ends = np.searchsorted(self.indptr[filled], np.arange(0, len(self.bits) + CHUNK, CHUNK))
        for rows in (filled[low:high] for low, high in pairwise(ends) if low < high):
            start, end = self.indptr[rows[0]], self.indptr[rows[-1] + 1]
            bits = self.bits[start:end]
            if within is not None:
                bits = bits & within[self.words[start:end]]
            ones = np.bitwise_count(bits)
            sums[rows] = np.add.reduceat(ones, self.indptr[rows] - start, dtype=np.int64)
        return sums

    def union(self) -> Flags:
        """Return which objects are covered by any candidate."""
        table = self.table().astype("<u8", copy=False)
        covered = np.unpackbits(table.view(np.uint8), bitorder="little", count=self.n_objects)
        return covered.astype(bool)

    def table(self) -> Words:
        """Return the objects covered by any candidate, as words."""
        table = np.zeros(-(-self.n_objects // 64), dtype=np.uint64)
        np.bitwise_or.at(table, self.words, self.bits)
        return table

    def take(self, candidates: NDArray[np.integer]) -> "CoverMatrix":
        """Return the rows of some candidates only."""
        lengths = np.diff(self.indptr)[candidates]
        indptr = _starts(lengths)
        source = np.repeat(self.indptr[candidates] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return CoverMatrix(indptr, self.words[source], self.bits[source], self.n_objects)

    def only(self, kept: Flags) -> "CoverMatrix":
        """Return the same candidates, of which all but those kept cover nothing."""
        lengths = np.diff(self.indptr)
        entries = np.repeat(kept, lengths)
        indptr = _starts(lengths * kept)
        return CoverMatrix(indptr, self.words[entries], self.bits[entries], self.n_objects)

    def within(self, table: Words) -> "CoverMatrix":
        """Return what the candidates cover of a set given as words.

        Examples
        --------
        >>> covers = CoverMatrix.from_dense([[True, True, False], [False, True, False]])
        >>> covers.within(np.array([1], dtype=np.uint64)).to_dense()
        array([[ True, False, False],
               [False, False, False]])
        """
        bits = self.bits & table[self.words]
        kept = np.flatnonzero(bits)
        indptr = np.searchsorted(kept, self.indptr).astype(np.int64)
        return CoverMatrix(indptr, self.words[kept], bits[kept], self.n_objects)

    @classmethod
    def below(cls, parts: Sequence["CoverMatrix"]) -> "CoverMatrix":
        """Stack the candidates of several matrices over the same objects.

        Examples
        --------
        >>> one = CoverMatrix.from_dense([[True, False]])
        >>> CoverMatrix.below([one, one]).to_dense()
        array([[ True, False],
               [ True, False]])
        """
        return cls(
            _starts(np.concatenate([np.diff(part.indptr) for part in parts])),
            np.concatenate([part.words for part in parts]),
            np.concatenate([part.bits for part in parts]),
            parts[0].n_objects,
        )

    @classmethod
    def beside(cls, parts: Sequence["CoverMatrix"]) -> "CoverMatrix":
        """Join several problems that share neither candidates nor objects.

        The objects of each begin at a multiple of 64; bits in between belong to no object.

        Examples
        --------
        >>> one = CoverMatrix.from_dense([[True, True]])
        >>> CoverMatrix.beside([one, one]).to_dense()[:, [0, 1, 64, 65]]
        array([[ True,  True, False, False],
               [False, False,  True,  True]])
        """
        n_words = np.cumsum([0, *(-(-part.n_objects // 64) for part in parts)])
        words = [part.words + start for part, start in zip(parts, n_words, strict=False)]
        return cls(
            _starts(np.concatenate([[], *(np.diff(part.indptr) for part in parts)])),
            np.concatenate([[], *words]).astype(np.int32),
            np.concatenate([np.zeros(0, np.uint64), *(part.bits for part in parts)]),
            int(n_words[-1]) * 64,
        )


class CoverLists(NamedTuple):
    """The cover relation as lists in both directions.

    Candidate `j` covers `objects[objects_from[j]:objects_from[j + 1]]`; object `i` is covered by
    `coverers[coverers_from[i]:coverers_from[i + 1]]`; both ascend.
    """

    objects_from: Ints
    objects: Ints
    coverers_from: Ints
    coverers: Ints

    @classmethod
    def of(cls, matrix: Any) -> "CoverLists":
        """Build from a boolean or sparse matrix, candidates x objects (indices ascending)."""
        rows = sparse.csr_array(matrix)
        turned = sparse.csr_array(rows.T)
        parts = (rows.indptr, rows.indices, turned.indptr, turned.indices)
        return cls(*(part.astype(np.int64) for part in parts))


def packed(flags: Flags) -> Words:
    """Pack rows of flags into rows of words, flag `i` as bit `i % 64` of word `i // 64`.

    Examples
    --------
    >>> packed(np.array([[True, False, True]]))
    array([[5]], dtype=uint64)
    """
    n_rows, n_flags = flags.shape
    octets = np.zeros((n_rows, -(-n_flags // 64) * 8), dtype=np.uint8)
    some = np.packbits(flags, axis=1, bitorder="little")
    octets[:, : some.shape[1]] = some
    return octets.view("<u8").astype(np.uint64, copy=False)


def elements(words: Indices, bits: Words) -> Ints:
    """Return the objects of some words, one after the other."""
    octets = np.ascontiguousarray(bits.astype("<u8")).view(np.uint8)
    where = np.flatnonzero(np.unpackbits(octets, bitorder="little"))
    return np.asarray((words[where >> 6].astype(np.int64) << 6) + (where & 63))


def _starts(lengths: NDArray[Any]) -> Ints:
    """Return where each of some consecutive rows begins, and the end of the last one."""
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


# ------------------------------------------------------------------ greedy covers
def greedy_cover(covers: CoverMatrix, costs: Ints, work: Work) -> Ints:
    """Return a cover without redundant candidates, ascending.

    Costs break ties between equal gains, before the order of the candidates does.

    Examples
    --------
    >>> covers = CoverMatrix.from_dense([[1, 1, 0], [0, 1, 1], [1, 1, 1]])
    >>> greedy_cover(covers, np.array([0, 0, 0]), Work(0, None))
    array([2])
    """
    return without_redundant(covers, costs, greedy_order(covers, costs, work), work)


def greedy_order(
    covers: CoverMatrix, costs: Ints, work: Work, missing: Words | None = None
) -> Ints:
    """Return candidates that cover all objects, or those of a set, in the order of their choice.

    The largest gain is chosen first, among equal ones the lowest cost, then the first candidate.
    """
    gains = covers.sizes(missing)
    missing = covers.table() if missing is None else missing.copy()
    preferred = np.argsort(costs, kind="stable")
    keys = (gains[preferred] << RANKS) | np.arange(len(gains))[::-1]
    heap = np.sort(keys)[::-1].copy()
    kernels = work.kernels(HERE, ahead=GREEDY_SECONDS * len(covers))
    chosen: Ints = kernels.greedy(
        covers.indptr, covers.words, covers.bits, preferred, heap, missing
    )
    return chosen


def without_redundant(covers: CoverMatrix, costs: Ints, chosen: Ints, work: Work) -> Ints:
    """Remove redundant candidates, expensive and late ones first; return the rest, ascending."""
    some = covers.take(chosen)
    counts = np.zeros(-(-covers.n_objects // 64) * 64, dtype=np.int64)
    work.kernels(HERE, ahead=COUNT_SECONDS * len(some.bits)).count(some.words, some.bits, counts)
    once = packed(counts[None] == 1)[0]
    kept = []
    for j in np.lexsort((-np.arange(len(chosen)), -costs[chosen])).tolist():
        part = slice(some.indptr[j], some.indptr[j + 1])
        words, bits = some.words[part], some.bits[part]
        if (bits & once[words]).any():
            kept.append(j)
            continue
        members = elements(words, bits)
        counts[members] -= 1
        members = members[counts[members] == 1]
        np.bitwise_or.at(once, members >> 6, np.uint64(1) << (members & 63).astype(np.uint64))
    return np.sort(chosen[np.array(kept, dtype=np.int64)])


# ------------------------------------------------------------------ kernels
HERE = sys.modules[__name__]
NONE, ONE, ALL = np.uint64(0), np.uint64(1), ~np.uint64(0)
# A de Bruijn sequence: shifted by 0 to 63 places, its first six bits take every value once.
SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
SHIFT = np.uint64(58)
POSITIONS = np.zeros(64, dtype=np.int64)
POSITIONS[[int(SEQUENCE) * 2**bit % 2**64 >> 58 for bit in range(64)]] = np.arange(64)
# Bits of a key of the greedy cover that rank candidates of equal gains.
RANKS = 32
LAST = (1 << RANKS) - 1
# Number of candidates whose gains the interpreted greedy cover counts together.
FRONT = 128


@inner_kernel
def lowest(bits: np.uint64) -> int:
    """Return the position of the lowest bit set, 0 where there is none."""
    single = bits & (~bits + ONE)
    return POSITIONS[(single * SEQUENCE) >> SHIFT]  # type: ignore[no-any-return]


@inner_kernel
def count_ones(word: np.uint64) -> int:
    """Return the number of bits set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    total = (word * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return np.int64(total)  # type: ignore[return-value]


def _shift_arrays(values: Ints | Floats, members: Ints, amount: float) -> None:
    values[members] += amount


def _shift_loops(values: Ints | Floats, members: Ints, amount: float) -> None:
    for k in members:
        values[k] += amount


# Add an amount to the values of some members, each of which occurs once.
shift = either(interpreted=_shift_arrays, loops=_shift_loops, inner=True)


def _count_arrays(words: Indices, bits: Words, counts: Ints) -> None:
    for start in range(0, len(bits), 1 << 14):
        part = slice(start, start + (1 << 14))
        counts += np.bincount(elements(words[part], bits[part]), minlength=len(counts))


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


# Add to `counts` how often each element occurs in the words given.
count = either(interpreted=_count_arrays, loops=_count_loops)


def _greedy_arrays(
    indptr: Ints, words: Indices, bits: Words, preferred: Ints, heap: Ints, missing: Words
) -> Ints:
    left = int(np.bitwise_count(missing).sum())
    chosen, n_front = [], FRONT
    while left:
        front = heap[:n_front]
        rows = preferred[len(heap) - 1 - (front & LAST)]
        lengths = indptr[rows + 1] - indptr[rows]
        places = np.repeat(indptr[rows] - np.cumsum(lengths) + lengths, lengths)
        places += np.arange(len(places))
        counts = np.bitwise_count(bits[places] & missing[words[places]])
        gains = np.bincount(np.repeat(np.arange(len(rows)), lengths), counts, len(rows))
        front[:] = (gains.astype(np.int64) << RANKS) | (front & LAST)
        best = int(front.argmax())
        n_front *= 2
        if front[best] >= heap[len(front) :].max(initial=0):
            j, n_front = int(rows[best]), FRONT
            chosen.append(j)
            missing[words[indptr[j] : indptr[j + 1]]] &= ~bits[indptr[j] : indptr[j + 1]]
            left -= int(gains[best])
        heap[:] = np.sort(heap)[::-1]
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


# Return the rows in the order of `greedy_order`. `missing` are the elements to cover and `heap`
# the keys of all rows, descending: gain, then how many rows `preferred` has after it; both are
# overwritten. Gains only fall: a row that stays in front with its new gain is the best one.
greedy = either(interpreted=_greedy_arrays, loops=_greedy_loops)

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

from frri._compile import compiled, either, inner_kernel, pays
from frri._util import Flags, Floats, Ints, Words

Bytes = NDArray[np.int8]
Indices = NDArray[np.int32]

# Words counted at a time, and those unpacked to be counted by object.
CHUNK, UNPACKED = 1 << 20, 1 << 14
# Numbers of words from which objects are counted by a kernel: one to be compiled, one to be loaded.
COMPILED_FROM, LOADED_FROM = 20_000_000, 2_000_000
# In a greedy cover: bits of a key for the rank among candidates of equal gains, and number of
# candidates whose gains are counted together.
RANKS, FRONT = 32, 64
LARGEST_RANK = (1 << RANKS) - 1


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
    def from_pairs(cls, rows: Ints, columns: Ints, shape: tuple[int, int]) -> "CoverMatrix":
        """Build from ascending pairs of a candidate (row) and an object (column)."""
        first = np.flatnonzero(np.diff(rows << 32 | columns >> 6, prepend=-1))
        bits = np.uint64(1) << (columns & 63).astype(np.uint64)
        bits = np.bitwise_or.reduceat(bits, first) if len(first) else bits
        indptr = _starts(np.bincount(rows[first], minlength=shape[0]))
        return cls(indptr, (columns[first] >> 6).astype(np.int32), bits, shape[1])

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

    def counts(self) -> Ints:
        """Count the candidates that cover each object; whole words."""
        counts = np.zeros(-(-self.n_objects // 64) * 64, dtype=np.int64)
        module = sys.modules[__name__]
        fast = pays(module, len(self.bits), compiled_from=COMPILED_FROM, loaded_from=LOADED_FROM)
        form: Any = compiled(module) if fast else module
        form.add_counts(self.words, self.bits, counts)
        return counts

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


def pairs_of(matrix: sparse.csr_array) -> tuple[Ints, Ints]:
    """Return the row and the column of each pair of a sparse matrix, by rows."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, matrix.indices.astype(np.int64)


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
    where = np.flatnonzero(np.unpackbits(octets, bitorder="little").view(np.bool_))
    return np.asarray((words[where >> 6].astype(np.int64) << 6) + (where & 63))


def _starts(lengths: NDArray[Any]) -> Ints:
    """Return where each of some consecutive rows begins, and the end of the last one."""
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


# ------------------------------------------------------------------ greedy covers
def greedy_cover(covers: CoverMatrix, costs: Ints, coverable: Words | None = None) -> Ints:
    """Return a cover without redundant candidates, ascending.

    Costs break ties between equal gains, before the order of the candidates does. The objects that
    any candidate covers are found if they are not given (words).

    Examples
    --------
    >>> covers = CoverMatrix.from_dense([[1, 1, 0], [0, 1, 1], [1, 1, 1]])
    >>> greedy_cover(covers, np.array([0, 0, 0]))
    array([2])
    """
    return without_redundant(covers, costs, greedy_order(covers, costs, coverable))


def greedy_order(covers: CoverMatrix, costs: Ints, missing: Words | None = None) -> Ints:
    """Return candidates that cover all objects, or those of a set, in the order of their choice.

    The largest gain is chosen first, among equal ones the lowest cost, then the first candidate.
    """
    indptr, words, bits = covers.indptr, covers.words, covers.bits
    gains = covers.sizes(missing)
    missing = covers.table() if missing is None else missing.copy()
    # Candidates by gain, then by rank, ascending. Gains only fall: a candidate that stays last with
    # its new gain is the best one.
    ranked = np.argsort(costs, kind="stable")[::-1]
    keys = np.sort(gains[ranked] << RANKS | np.arange(len(ranked)))
    keys = keys[keys > LARGEST_RANK]
    chosen, n_front = [], FRONT
    while len(keys):
        rest, ranks = keys[:-n_front], keys[-n_front:] & LARGEST_RANK
        rows = ranked[ranks]
        lengths = indptr[rows + 1] - indptr[rows]
        starts = np.cumsum(lengths) - lengths
        places = np.repeat(indptr[rows] - starts, lengths)
        places += np.arange(len(places))
        counts = np.bitwise_count(bits.take(places) & missing.take(words.take(places)))
        front = np.sort(np.add.reduceat(counts, starts, dtype=np.int64) << RANKS | ranks)
        front = front[front > LARGEST_RANK]
        n_front *= 2
        if len(front) and front[-1] >= rest[-1:].max(initial=0):
            j = ranked[front[-1] & LARGEST_RANK]
            chosen.append(j)
            missing[words[indptr[j] : indptr[j + 1]]] &= ~bits[indptr[j] : indptr[j + 1]]
            front, n_front = front[:-1], FRONT
        keys = np.sort(np.concatenate((rest, front)), kind="stable")
    return np.array(chosen, dtype=np.int64)


def without_redundant(covers: CoverMatrix, costs: Ints, chosen: Ints) -> Ints:
    """Remove redundant candidates, expensive and late ones first; return the rest, ascending."""
    some = covers.take(chosen)
    counts = some.counts()
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
NONE, ONE, ALL = np.uint64(0), np.uint64(1), ~np.uint64(0)
# A de Bruijn sequence: shifted by 0 to 63 places, its first six bits take every value once.
SEQUENCE = np.uint64(0x03F79D71B4CB0A89)
SHIFT = np.uint64(58)
POSITIONS = np.zeros(64, dtype=np.int64)
POSITIONS[[int(SEQUENCE) * 2**bit % 2**64 >> 58 for bit in range(64)]] = np.arange(64)


@inner_kernel
def lowest(bits: np.uint64) -> int:
    """Return the position of the lowest bit set, 0 where there is none."""
    single = bits & (~bits + ONE)
    return POSITIONS[(single * SEQUENCE) >> SHIFT]  # type: ignore[no-any-return]


def _add_counts_arrays(words: Indices, bits: Words, counts: Ints) -> None:
    """Add to counts how often each object is in a word."""
    for start in range(0, len(bits), UNPACKED):
        members = elements(words[start : start + UNPACKED], bits[start : start + UNPACKED])
        counts += np.bincount(members, minlength=len(counts))


def _add_counts_loops(words: Indices, bits: Words, counts: Ints) -> None:
    for k in range(len(bits)):
        rest = bits[k]
        while rest != NONE:
            counts[64 * words[k] + lowest(rest)] += 1
            rest &= rest - ONE


add_counts = either(interpreted=_add_counts_arrays, loops=_add_counts_loops)


def _shift_arrays(values: Ints | Floats, members: Ints, amount: float) -> None:
    values[members] += amount


def _shift_loops(values: Ints | Floats, members: Ints, amount: float) -> None:
    for k in members:
        values[k] += amount


# Add an amount to the values of some members, each of which occurs once.
shift = either(interpreted=_shift_arrays, loops=_shift_loops, inner=True)

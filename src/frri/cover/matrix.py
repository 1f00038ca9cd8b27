"""Who covers whom, in two forms: sparse rows of 64-bit words, and lists in both directions."""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from frri._compile import either
from frri._util import Flags, Floats, Ints, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

CHUNK = 1 << 20
"""Words counted at a time."""


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
    words: NDArray[np.int32]
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
        n_candidates = len(table)
        rows, words = np.nonzero(table)
        indptr = np.zeros(n_candidates + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=n_candidates), out=indptr[1:])
        return cls(indptr, words.astype(np.int32), table[rows, words], n_objects)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def to_dense(self) -> Flags:
        """Return the boolean matrix, candidates x objects."""
        n_words = -(-self.n_objects // 64)
        table = np.zeros((len(self), n_words), dtype="<u8")
        rows = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        table[rows, self.words] = self.bits
        dense = np.unpackbits(table.view(np.uint8), axis=1, bitorder="little", count=self.n_objects)
        return dense.astype(bool)

    def sizes(self) -> Ints:
        """Count the objects that each candidate covers."""
        return self._summed(None)

    def sizes_within(self, table: Words) -> Ints:
        """Count the objects of a set, given as words, that each candidate covers."""
        return self._summed(table)

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
        indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        source = np.repeat(self.indptr[candidates] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return CoverMatrix(indptr, self.words[source], self.bits[source], self.n_objects)

    def only(self, kept: Flags) -> "CoverMatrix":
        """Return the same candidates, of which all but those kept cover nothing."""
        lengths = np.diff(self.indptr)
        entries = np.repeat(kept, lengths)
        indptr = np.concatenate(([0], np.cumsum(lengths * kept))).astype(np.int64)
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
    def below(cls, parts: "Sequence[CoverMatrix]") -> "CoverMatrix":
        """Stack the candidates of several matrices over the same objects.

        Examples
        --------
        >>> one = CoverMatrix.from_dense([[True, False]])
        >>> CoverMatrix.below([one, one]).to_dense()
        array([[ True, False],
               [ True, False]])
        """
        lengths = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls(
            np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            np.concatenate([part.words for part in parts]),
            np.concatenate([part.bits for part in parts]),
            parts[0].n_objects,
        )

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.indptr.nbytes + self.words.nbytes + self.bits.nbytes

    @classmethod
    def beside(cls, parts: "Sequence[CoverMatrix]") -> "CoverMatrix":
        """Join several problems into one: neither candidates nor objects have anything in common.

        Objects of each begin at a multiple of 64; bits in between stand for none.

        Examples
        --------
        >>> one = CoverMatrix.from_dense([[True, True]])
        >>> CoverMatrix.beside([one, one]).to_dense()[:, [0, 1, 64, 65]]
        array([[ True,  True, False, False],
               [False, False,  True,  True]])
        """
        n_words = np.cumsum([0, *(-(-part.n_objects // 64) for part in parts)])
        ends = np.cumsum([0, *(len(part.bits) for part in parts)])
        indptr = [part.indptr[1:] + end for part, end in zip(parts, ends, strict=False)]
        words = [part.words + start for part, start in zip(parts, n_words, strict=False)]
        return cls(
            np.concatenate([[0], *indptr]).astype(np.int64),
            np.concatenate([[], *words]).astype(np.int32),
            np.concatenate([np.zeros(0, np.uint64), *(part.bits for part in parts)]),
            int(n_words[-1]) * 64,
        )

    def _summed(self, table: Words | None) -> Ints:
        sums = np.zeros(len(self), dtype=np.int64)
        filled = np.flatnonzero(np.diff(self.indptr))
        # Some rows at a time: numbers of bits need not be there for all words at once.
        ends = np.searchsorted(self.indptr[filled], np.arange(0, len(self.bits) + CHUNK, CHUNK))
        for rows in (filled[low:high] for low, high in pairwise(ends) if low < high):
            start, end = self.indptr[rows[0]], self.indptr[rows[-1] + 1]
            bits = self.bits[start:end]
            if table is not None:
                bits = bits & table[self.words[start:end]]
            ones = np.bitwise_count(bits)
            sums[rows] = np.add.reduceat(ones, self.indptr[rows] - start, dtype=np.int64)
        return sums


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


class CoverLists(NamedTuple):
    """Who covers whom, as lists in both directions.

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
        if sparse.issparse(matrix):
            turned = sparse.csr_array(matrix.T)
            parts = (matrix.indptr, matrix.indices, turned.indptr, turned.indices)
            return cls(*(part.astype(np.int64) for part in parts))
        candidates, objects = matrix.nonzero()
        order = np.argsort(objects, kind="stable")
        return cls(
            _starts(candidates, matrix.shape[0]),
            objects.astype(np.int64),
            _starts(objects, matrix.shape[1]),
            candidates[order].astype(np.int64),
        )


def greedy_cover(lists: CoverLists, costs: Ints, needed: Flags | None = None) -> Ints:
    """Return a cover without redundant candidates, ascending.

    Parameters
    ----------
    lists : CoverLists
    costs : ndarray of int64
        Breaks ties between equal gains, before the order of the candidates does.
    needed : ndarray of bool, optional
        The objects to cover (all that can be, unless told).

    Examples
    --------
    >>> lists = CoverLists.of(np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1]], dtype=bool))
    >>> greedy_cover(lists, np.array([0, 0, 0]))
    array([2])
    """
    degrees = np.diff(lists.coverers_from)
    missing = degrees > 0 if needed is None else needed & (degrees > 0)
    left = int(np.count_nonzero(missing))
    gains = np.zeros(len(costs), dtype=np.int64)
    source = np.repeat(np.arange(len(costs)), np.diff(lists.objects_from))
    gains += np.bincount(source[missing[lists.objects]], minlength=len(costs))
    scale = int(costs.max(initial=0)) + 1
    merit = gains * scale - costs
    chosen: list[int] = []
    times = np.zeros(len(degrees), dtype=np.int64)
    times[~missing] = 2  # nothing depends on them
    while left:
        best = int(merit.argmax())
        chosen.append(best)
        objects = lists.objects[lists.objects_from[best] : lists.objects_from[best + 1]]
        for i in objects[missing[objects]].tolist():
            merit[lists.coverers[lists.coverers_from[i] : lists.coverers_from[i + 1]]] -= scale
            left -= 1
        missing[objects] = False
        times[objects] += 1
    return np.sort(np.array(_without_redundant(lists, costs, chosen, times), dtype=np.int64))


def _without_redundant(lists: CoverLists, costs: Ints, chosen: list[int], times: Ints) -> list[int]:
    kept = []
    dearest_and_latest = sorted(enumerate(chosen), key=lambda pair: (-costs[pair[1]], -pair[0]))
    for _, j in dearest_and_latest:
        objects = lists.objects[lists.objects_from[j] : lists.objects_from[j + 1]]
        if times[objects].min() > 1:
            times[objects] -= 1
        else:
            kept.append(j)
    return kept


def _starts(owners: NDArray[np.integer], n: int) -> Ints:
    return np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=n)))).astype(np.int64)


def _shift_arrays(values: Ints | Floats, members: Ints, amount: float) -> None:
    values[members] += amount


def _shift_loops(values: Ints | Floats, members: Ints, amount: float) -> None:
    for k in members:
        values[k] += amount


shift = either(interpreted=_shift_arrays, loops=_shift_loops, inner=True)
"""Add an amount to the values of some members, each of which occurs once."""

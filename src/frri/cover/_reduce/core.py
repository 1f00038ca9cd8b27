"""Pieces of a problem that is too large to be written out: rows of words in, small matrices out."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from frri._util import Ints, Words
from frri.cover._reduce import word_sets
from frri.cover.budget import Work
from frri.cover.matrix import CoverMatrix

CHUNK = 1 << 20
"""Words looked at between two glances at the clock."""

COMPARED = 250_000
"""The same for comparisons of rows."""

COUNT_SECONDS, COMPARE_SECONDS = 3e-7, 2e-6
"""What a word takes to be counted interpreted, and a word to be compared."""


def degrees(covers: CoverMatrix, work: Work) -> Ints:
    """By how many candidates each object is covered."""
    counts = np.zeros(-(-covers.n_objects // 64) * 64, dtype=np.int64)
    for start in range(0, len(covers.bits), CHUNK):
        kernels = work.kernels(word_sets, ahead=COUNT_SECONDS * (len(covers.bits) - start))
        part = slice(start, start + CHUNK)
        kernels.count(covers.words[part], covers.bits[part], counts)
        work.spend(60 * len(covers.bits[part]))
    return counts[: covers.n_objects]


def times_covered(covers: CoverMatrix, candidates: Ints) -> Ints:
    """How many of some candidates cover each object."""
    counts = np.zeros(-(-covers.n_objects // 64) * 64, dtype=np.int64)
    few = max(1, CHUNK // max(1, len(covers.bits) // max(1, len(covers))))
    for start in range(0, len(candidates), few):
        rows = covers.take(candidates[start : start + few])
        word_sets.count(rows.words, rows.bits, counts)
    return counts[: covers.n_objects]


def restricted(covers: CoverMatrix, objects: Ints, work: Work) -> sparse.csr_array:
    """The matrix, all candidates x some objects (ascending)."""
    mask = packed_set(objects, covers.n_objects)
    places = np.zeros(len(mask) * 64, dtype=np.int32)
    places[objects] = np.arange(len(objects))
    columns: list[NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
    lengths = np.zeros(len(covers))
    for start in range(0, len(covers.bits), CHUNK):
        words = covers.words[start : start + CHUNK]
        common = covers.bits[start : start + CHUNK] & mask[words]
        hit = np.flatnonzero(common)
        words, bits = words[hit], common[hit]
        rows = np.searchsorted(covers.indptr, start + hit, side="right") - 1
        lengths += np.bincount(rows, np.bitwise_count(bits), minlength=len(covers))
        columns.append(places[elements(words, bits)])
        work.spend(20 * len(common) + 40 * len(columns[-1]))
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    indices = np.concatenate(columns)
    data = np.ones(len(indices), dtype=np.uint8)
    return sparse.csr_array((data, indices, indptr), shape=(len(covers), len(objects)))


def packed_set(objects: Ints, n_objects: int) -> Words:
    """A set of objects as words."""
    table = np.zeros(-(-n_objects // 64), dtype=np.uint64)
    np.bitwise_or.at(table, objects >> 6, np.uint64(1) << (objects & 63).astype(np.uint64))
    return table


def elements(words: NDArray[np.int32], bits: Words) -> Ints:
    """What the words contain, one after the other."""
    octets = np.ascontiguousarray(bits.astype("<u8")).view(np.uint8)
    where = np.flatnonzero(np.unpackbits(octets, bitorder="little"))
    return np.asarray((words[where >> 6].astype(np.int64) << 6) + (where & 63))


def packed(matrix: sparse.csr_array) -> CoverMatrix:
    """The rows of a sparse matrix (indices ascending) as rows of words."""
    n = matrix.shape[0]
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    keys = (rows << 32) | (matrix.indices >> 6)
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else keys
    single = np.uint64(1) << (matrix.indices & 63).astype(np.uint64)
    bits = np.bitwise_or.reduceat(single, first) if len(keys) else single
    counts = np.bincount(keys[first] >> 32, minlength=n)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return CoverMatrix(indptr, (keys[first] & 0xFFFFFFFF).astype(np.int32), bits, matrix.shape[1])


def superfluous(
    rows: CoverMatrix,
    ranks: Ints,
    costs: Ints,
    rare: Ints,
    owners: tuple[Ints, Ints],
    work: Work,
    *,
    drop_larger: bool = False,
) -> Ints:
    """Which row makes each row superfluous (see `word_sets.compare`); -1 if none, an empty one itself."""
    by = np.where(np.diff(rows.indptr) == 0, np.arange(len(rows)), -1)
    ahead = COMPARE_SECONDS * int(np.diff(owners[0])[rare].sum())
    j = 0
    while j < len(rows):
        kernels = work.kernels(word_sets, ahead=ahead)
        j, left = kernels.compare(
            rows.indptr, rows.words, rows.bits, ranks, costs, rare, *owners, j, COMPARED, drop_larger,
            by,
        )  # fmt: skip
        work.spend(4 * (COMPARED - left))
    return by


def undominated(
    covers: CoverMatrix, costs: Ints, degree: Ints, work: Work, limit: int
) -> Ints | None:
    """The candidates no other one dominates; None if finding out takes more than `limit` pairs."""
    rare = np.zeros(len(covers), dtype=np.int64)
    few = max(1, CHUNK // max(1, len(covers.bits) // max(1, len(covers))))
    for start in range(0, len(covers), few):
        end = min(start + few, len(covers))
        lo, hi = int(covers.indptr[start]), int(covers.indptr[end])
        kernels = work.kernels(word_sets, ahead=COUNT_SECONDS * (len(covers.bits) - lo))
        kernels.rarest(
            covers.indptr[start : end + 1], covers.words[lo:hi], covers.bits[lo:hi], degree, lo,
            rare[start:end],
        )  # fmt: skip
        work.spend(60 * (hi - lo))
    objects = np.unique(rare)
    if degree[objects].sum() > limit:
        return None
    owners = sparse.csr_array(restricted(covers, objects, work).T)
    ranks = np.empty(len(covers), dtype=np.int64)
    ranks[np.lexsort((costs, -covers.sizes()))] = np.arange(len(covers))
    lists = owners.indptr.astype(np.int64), owners.indices.astype(np.int64)
    by = superfluous(covers, ranks, costs, np.searchsorted(objects, rare), lists, work)
    return np.flatnonzero(by < 0)


class Core:
    """Candidates and objects of a sparse matrix that have the same minimum as all of them.

    Parameters
    ----------
    matrix : sparse matrix, candidates x objects
    merit : ndarray of int64
        Of two equal candidates the one of more merit stays.
    work : Work

    Attributes
    ----------
    matrix : sparse matrix
    candidates, objects : ndarray of int64
        What its rows and columns are in the matrix given.
    stands_for : ndarray of int64
        A remaining candidate (by its row) that covers what each of those given covers of the remaining
        objects; -1 if that is nothing.
    """

    def __init__(self, matrix: sparse.csr_array, merit: Ints, work: Work) -> None:
        candidates, objects = np.arange(matrix.shape[0]), np.arange(matrix.shape[1])
        better = np.arange(matrix.shape[0])
        while True:
            before = matrix.shape
            work.spend(150 * len(matrix.indices))
            sizes, degree = np.diff(matrix.indptr), np.bincount(matrix.indices, minlength=before[1])
            order = np.lexsort((-merit[candidates], -sizes))
            by = _superfluous(matrix, order, degree, work)
            empty = sizes == 0
            better[candidates] = np.where(by < 0, candidates, candidates[by])
            better[candidates[empty]] = -1
            matrix, candidates = matrix[np.flatnonzero(by < 0)], candidates[by < 0]
            turned = sparse.csr_array(matrix.T)
            order = np.argsort(np.diff(turned.indptr), kind="stable")
            by = _superfluous(turned, order, np.diff(matrix.indptr), work, drop_larger=True)
            matrix, objects = matrix[:, np.flatnonzero(by < 0)], objects[by < 0]
            if matrix.shape == before:
                break
        self.matrix, self.candidates, self.objects = matrix, candidates, objects
        self.stands_for = _resolved(better, candidates)


def _resolved(better: Ints, candidates: Ints) -> Ints:
    """Follow every candidate to the remaining one that has taken its place."""
    while True:
        further = np.where(better >= 0, better[better], -1)
        if (further == better).all():
            break
        better = further
    places = np.full(len(better) + 1, -1, dtype=np.int64)  # the last one: of no candidate
    places[candidates] = np.arange(len(candidates))
    return places[better]


def _superfluous(
    matrix: sparse.csr_array, order: Ints, sizes: Ints, work: Work, *, drop_larger: bool = False
) -> Ints:
    rows = packed(matrix)
    owners = sparse.csr_array(matrix.T)
    n = len(rows)
    ranks, rare = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    ranks[order] = np.arange(n)
    padded = np.zeros(-(-matrix.shape[1] // 64) * 64, dtype=np.int64)
    padded[: len(sizes)] = sizes
    kernels = work.kernels(word_sets, ahead=COUNT_SECONDS * len(rows.bits))
    kernels.rarest(rows.indptr, rows.words, rows.bits, padded, 0, rare)
    lists = owners.indptr.astype(np.int64), owners.indices.astype(np.int64)
    costs = np.zeros(n, dtype=np.int64)
    return superfluous(rows, ranks, costs, rare, lists, work, drop_larger=drop_larger)

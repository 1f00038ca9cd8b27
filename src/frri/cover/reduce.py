"""Smaller problems with the same answer: dominance among candidates and among objects.

A candidate is dominated if another covers all it covers, costs no more and comes first in a fixed
order; an object is implied if all coverers of some other object cover it too. Both questions ask
for the supersets of a set, and those are the intersection of the lists its elements stand in: a few
big-integer operations, since with the rarest element first the intersection is soon empty.

A problem is a boolean matrix, candidates x objects; one too large for that stays a sparse one.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from frri._util import Flags, Ints, Words
from frri.cover import word_sets
from frri.cover.budget import Work
from frri.cover.matrix import CoverMatrix

Matrix: TypeAlias = Flags | sparse.csr_array

LARGEST_DENSE = 1 << 25
"""Cells up to which a matrix is written out."""

CHUNK = 1 << 20
"""Words looked at between two glances at the clock."""

COMPARED = 250_000
"""The same for comparisons of rows."""

COUNT_SECONDS, COMPARE_SECONDS = 3e-7, 2e-6
"""What a word takes to be counted interpreted, and a word to be compared."""


def to_sparse(covers: CoverMatrix) -> sparse.csr_array:
    """Unpack all pairs of candidate and object."""
    columns = []
    for start in range(0, len(covers.bits), 1 << 16):
        bits = np.ascontiguousarray(covers.bits[start : start + (1 << 16)].astype("<u8"))
        where = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
        columns.append((covers.words[start + (where >> 6)].astype(np.int64) << 6) + (where & 63))
    objects = np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64)
    indptr = np.concatenate(([0], np.cumsum(covers.sizes())))
    data = np.ones(len(objects), dtype=np.uint8)
    return sparse.csr_array((data, objects, indptr), shape=(len(covers), covers.n_objects))


def forced(matrix: sparse.csr_array) -> Flags:
    """Return which candidates are the only ones to cover some object."""
    single = np.bincount(matrix.indices, minlength=matrix.shape[1]) == 1
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    flags = np.zeros(matrix.shape[0], dtype=bool)
    flags[rows[single[matrix.indices]]] = True
    return flags


def components(matrix: sparse.csr_array) -> Iterator[tuple[Ints, Ints]]:
    """Yield the candidates and objects of every connected component, small ones first."""
    n_candidates, n_objects = matrix.shape
    graph = sparse.csr_array(
        (
            matrix.data,
            matrix.indices + n_candidates,
            np.concatenate((matrix.indptr, np.full(n_objects, matrix.indptr[-1]))),
        ),
        shape=(n_candidates + n_objects, n_candidates + n_objects),
    )
    n_parts, labels = csgraph.connected_components(graph, directed=False)
    candidates = _members(labels[:n_candidates], n_parts)
    objects = _members(labels[n_candidates:], n_parts)
    order = np.argsort([len(c) * len(o) for c, o in zip(candidates, objects, strict=True)])
    for part in order.tolist():
        if len(candidates[part]) and len(objects[part]):
            yield candidates[part], objects[part]


def undominated(matrix: Matrix, costs: Ints, work: Work | None = None) -> Flags:
    """Return which candidates no other one dominates (a fixed set, whatever the order of work)."""
    sizes = np.asarray(matrix.sum(axis=1, dtype=np.int64))
    degrees = np.asarray(matrix.sum(axis=0, dtype=np.int64))
    order = np.lexsort((costs, -sizes))
    if not isinstance(matrix, np.ndarray):
        return _dropped_by(matrix, order, degrees, work or Work(LARGEST_DENSE, None), costs) < 0
    keep = np.zeros(len(matrix), dtype=bool)
    ranked = matrix[np.ix_(order, np.argsort(degrees, kind="stable"))]
    keep[order] = _find_undominated(ranked, costs[order], work)
    return keep


def necessary(matrix: Matrix, work: Work | None = None) -> Flags:
    """Return which objects are left once those implied by another are gone."""
    sizes = np.asarray(matrix.sum(axis=1, dtype=np.int64))
    order = np.argsort(np.asarray(matrix.sum(axis=0, dtype=np.int64)), kind="stable")
    if not isinstance(matrix, np.ndarray):
        turned = sparse.csr_array(matrix.T)
        return (
            _dropped_by(turned, order, sizes, work or Work(LARGEST_DENSE, None), drop_larger=True)
            < 0
        )
    keep = np.zeros(matrix.shape[1], dtype=bool)
    keep[order] = _find_necessary(matrix[np.ix_(np.argsort(sizes, kind="stable"), order)], work)
    return keep


def reduce(matrix: Matrix, costs: Ints | None, work: Work | None = None) -> tuple[Ints, Ints, Ints]:
    """Return forced candidates, remaining candidates and remaining objects, at a fixpoint.

    Parameters
    ----------
    matrix : boolean matrix, candidates x objects
        Every object is covered by some candidate.
    costs : ndarray of int64 or None
        With costs, dominated candidates go too; without, candidates only go once they cover nothing
        that is left, so that all minimum covers by the given candidates remain.
    work : Work, optional
        Whose clock to look at now and then.
    """
    candidates, objects = np.arange(matrix.shape[0]), np.arange(matrix.shape[1])
    taken: list[Ints] = []
    while len(objects):
        before = len(candidates), len(objects)
        if costs is not None:
            keep = np.flatnonzero(undominated(matrix, costs[candidates], work))
            candidates, matrix = candidates[keep], matrix[keep]
        keep = np.flatnonzero(necessary(matrix, work))
        objects, matrix = objects[keep], matrix[:, keep]
        single = np.flatnonzero(np.asarray(matrix.sum(axis=0, dtype=np.int64)) == 1)
        if len(single):
            sole = np.unique(_rows_of(matrix[:, single]))
            taken.append(candidates[sole])
            done = np.asarray(matrix[sole].sum(axis=0)) > 0
            objects, matrix = objects[~done], matrix[:, np.flatnonzero(~done)]
        useful = np.flatnonzero(np.asarray(matrix.sum(axis=1)) > 0)
        candidates, matrix = candidates[useful], matrix[useful]
        if (len(candidates), len(objects)) == before:
            break
    return np.concatenate([np.zeros(0, dtype=np.int64), *taken]), candidates, objects


def _now_and_then(k: int, work: Work | None) -> None:
    if work is not None and k % 256 == 255:
        work.check_time()


def _members(labels: NDArray[np.int32], n_parts: int) -> list[Ints]:
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_parts))
    return np.split(order, ends[:-1])


def _rows_of(matrix: Matrix) -> Ints:
    return np.asarray(matrix.nonzero()[0], dtype=np.int64)


def _bitsets(matrix: Flags) -> list[int]:
    packed = np.packbits(matrix, axis=1, bitorder="little")
    width, octets = packed.shape[1], packed.tobytes()
    return [
        int.from_bytes(octets[k : k + width], "little")
        for k in range(0, len(octets), max(width, 1))
    ]


def _lists(matrix: Flags) -> Iterator[list[int]]:
    rows, columns = matrix.nonzero()
    members = columns.tolist()
    start = 0
    for end in np.cumsum(np.bincount(rows, minlength=len(matrix))).tolist():
        yield members[start:end]
        start = end


def _find_undominated(matrix: Flags, costs: Ints, work: Work | None) -> Flags:
    """Return the rows of which no earlier row of at most the same cost is a superset."""
    coverers = _bitsets(np.ascontiguousarray(matrix.T))
    affordable: dict[int, int] = {}
    uniform = len(costs) == 0 or bool((costs == costs[0]).all())
    if not uniform:
        for cost in np.unique(costs).tolist():
            affordable[cost] = _bitsets((costs <= cost)[None, :])[0]
    keep = np.zeros(len(matrix), dtype=bool)
    for j, (cost, members) in enumerate(zip(costs.tolist(), _lists(matrix), strict=True)):
        _now_and_then(j, work)
        supersets = (1 << j) - 1
        if not uniform:
            supersets &= affordable[cost]
        for i in members:
            supersets &= coverers[i]
            if not supersets:
                keep[j] = True
                break
    return keep


def _find_necessary(matrix: Flags, work: Work | None) -> Flags:
    """Return the columns that contain no earlier column."""
    rows = _bitsets(matrix)
    gone = 0
    for i, members in enumerate(_lists(np.ascontiguousarray(matrix.T))):
        _now_and_then(i, work)
        if gone >> i & 1:
            continue
        implied = -1 << (i + 1)
        for j in members:
            implied &= rows[j]
            if not implied:
                break
        gone |= implied
    octets = gone.to_bytes(matrix.shape[1] // 8 + 1, "little")
    flags = np.unpackbits(
        np.frombuffer(octets, dtype=np.uint8), bitorder="little", count=matrix.shape[1]
    )
    return np.asarray(flags == 0)


def degrees(covers: CoverMatrix, work: Work) -> Ints:
    """Count the candidates that cover each object."""
    counts = np.zeros(-(-covers.n_objects // 64) * 64, dtype=np.int64)
    for start in range(0, len(covers.bits), CHUNK):
        kernels = work.kernels(word_sets, ahead=COUNT_SECONDS * (len(covers.bits) - start))
        part = slice(start, start + CHUNK)
        kernels.count(covers.words[part], covers.bits[part], counts)
        work.spend(60 * len(covers.bits[part]))
    return counts[: covers.n_objects]


def times_covered(covers: CoverMatrix, candidates: Ints) -> Ints:
    """Count how many of some candidates cover each object."""
    counts = np.zeros(-(-covers.n_objects // 64) * 64, dtype=np.int64)
    few = max(1, CHUNK // max(1, len(covers.bits) // max(1, len(covers))))
    for start in range(0, len(candidates), few):
        rows = covers.take(candidates[start : start + few])
        word_sets.count(rows.words, rows.bits, counts)
    return counts[: covers.n_objects]


def restricted(covers: CoverMatrix, objects: Ints, work: Work) -> sparse.csr_array:
    """Return the matrix, all candidates x some objects (ascending)."""
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
    """Return a set of objects as words."""
    table = np.zeros(-(-n_objects // 64), dtype=np.uint64)
    np.bitwise_or.at(table, objects >> 6, np.uint64(1) << (objects & 63).astype(np.uint64))
    return table


def elements(words: NDArray[np.int32], bits: Words) -> Ints:
    """Return the elements of words, one after the other."""
    octets = np.ascontiguousarray(bits.astype("<u8")).view(np.uint8)
    where = np.flatnonzero(np.unpackbits(octets, bitorder="little"))
    return np.asarray((words[where >> 6].astype(np.int64) << 6) + (where & 63))


def pack_rows(matrix: sparse.csr_array) -> CoverMatrix:
    """Pack the rows of a sparse matrix (indices ascending) into words."""
    n = matrix.shape[0]
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    keys = (rows << 32) | (matrix.indices >> 6)
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else keys
    single = np.uint64(1) << (matrix.indices & 63).astype(np.uint64)
    bits = np.bitwise_or.reduceat(single, first) if len(keys) else single
    counts = np.bincount(keys[first] >> 32, minlength=n)
    indptr = np.concatenate(([0], np.cumsum(counts)))
    return CoverMatrix(indptr, (keys[first] & 0xFFFFFFFF).astype(np.int32), bits, matrix.shape[1])


def find_superfluous(task: word_sets.RowComparison, work: Work) -> Ints:
    """Return which row makes each row superfluous; -1 if none, an empty one itself."""
    n = len(task.ranks)
    dropped_by = np.where(np.diff(task.rows.indptr) == 0, np.arange(n), -1)
    ahead = COMPARE_SECONDS * int(np.diff(task.owners_from)[task.rarest].sum())
    j = 0
    while j < n:
        kernels = work.kernels(word_sets, ahead=ahead)
        j, left = kernels.compare(task, j, COMPARED, dropped_by)
        work.spend(4 * (COMPARED - left))
    return dropped_by


def undominated_rows(
    covers: CoverMatrix, costs: Ints, degree: Ints, work: Work, limit: int
) -> Ints | None:
    """Return the undominated candidates; None if that takes more than `limit` pairs."""
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
    task = word_sets.RowComparison(
        word_sets.WordRows(covers.indptr, covers.words, covers.bits),
        ranks,
        costs,
        np.searchsorted(objects, rare),
        owners.indptr.astype(np.int64),
        owners.indices.astype(np.int64),
        drop_larger=False,
    )
    return np.flatnonzero(find_superfluous(task, work) < 0)


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
        A remaining candidate (by its row) that covers what each of those given covers of the
        remaining objects; -1 if that is nothing.
    """

    def __init__(self, matrix: sparse.csr_array, merit: Ints, work: Work) -> None:
        candidates, objects = np.arange(matrix.shape[0]), np.arange(matrix.shape[1])
        better = np.arange(matrix.shape[0])
        while True:
            before = matrix.shape
            work.spend(150 * len(matrix.indices))
            sizes, degree = np.diff(matrix.indptr), np.bincount(matrix.indices, minlength=before[1])
            order = np.lexsort((-merit[candidates], -sizes))
            by = _dropped_by(matrix, order, degree, work)
            empty = sizes == 0
            better[candidates] = np.where(by < 0, candidates, candidates[by])
            better[candidates[empty]] = -1
            matrix, candidates = matrix[np.flatnonzero(by < 0)], candidates[by < 0]
            turned = sparse.csr_array(matrix.T)
            order = np.argsort(np.diff(turned.indptr), kind="stable")
            by = _dropped_by(turned, order, np.diff(matrix.indptr), work, drop_larger=True)
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


def _dropped_by(
    matrix: sparse.csr_array,
    order: Ints,
    sizes: Ints,
    work: Work,
    costs: Ints | None = None,
    *,
    drop_larger: bool = False,
) -> Ints:
    """Return which row makes each row of a sparse matrix superfluous, see `find_superfluous`."""
    rows, n = pack_rows(matrix), matrix.shape[0]
    owners = sparse.csr_array(matrix.T)
    ranks, rare = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    ranks[order] = np.arange(n)
    padded = np.zeros(-(-matrix.shape[1] // 64) * 64, dtype=np.int64)
    padded[: len(sizes)] = sizes
    kernels = work.kernels(word_sets, ahead=COUNT_SECONDS * len(rows.bits))
    kernels.rarest(rows.indptr, rows.words, rows.bits, padded, 0, rare)
    task = word_sets.RowComparison(
        word_sets.WordRows(rows.indptr, rows.words, rows.bits),
        ranks,
        np.zeros(n, dtype=np.int64) if costs is None else costs,
        rare,
        owners.indptr.astype(np.int64),
        owners.indices.astype(np.int64),
        drop_larger,
    )
    return find_superfluous(task, work)

"""Smaller problems with the same answer: dominance among candidates and among objects.

A candidate is dominated if another one covers all that it covers, costs no more and comes first in
a fixed order; an object is implied if all coverers of another object cover it, too. Both questions
ask for the supersets of a set. All of them contain its rarest element, which leaves few pairs of
sets, and these are compared word by word.

Problems are sparse matrices, candidates x objects, with ascending indices.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from frri._util import Flags, Ints, Words
from frri.cover.budget import Work
from frri.cover.matrix import CoverMatrix, elements, pairs_of

# Words unpacked, and pairs of rows compared, between two checks of the time.
CHUNK, PAIRS = 1 << 16, 1 << 18
# Number of pairs of row and element from which they are sorted by counting.
MANY_PAIRS = 1 << 13


def to_sparse(
    covers: CoverMatrix, objects: Ints | None = None, work: Work | None = None
) -> sparse.csr_array:
    """Return the matrix of all candidates and all or some (ascending) objects."""
    mask = None if objects is None else pack_objects(objects, covers.n_objects)
    columns = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(covers.bits), CHUNK):
        words, bits = covers.words[start : start + CHUNK], covers.bits[start : start + CHUNK]
        if mask is not None:
            bits = bits & mask[words]
            hit = np.flatnonzero(bits)
            words, bits = words[hit], bits[hit]
        columns.append(elements(words, bits))
        if work is not None:
            work.spend(20 * CHUNK + 40 * len(columns[-1]))
    indices = np.concatenate(columns)
    n_columns = covers.n_objects
    if objects is not None:
        indices, n_columns = np.searchsorted(objects, indices), len(objects)
    indptr = np.concatenate(([0], np.cumsum(covers.sizes(mask))))
    data = np.ones(len(indices), dtype=np.uint8)
    return sparse.csr_array((data, indices, indptr), shape=(len(covers), n_columns))


def pack_objects(objects: Ints, n_objects: int) -> Words:
    """Return a set of objects as words."""
    table = np.zeros(-(-n_objects // 64), dtype=np.uint64)
    np.bitwise_or.at(table, objects >> 6, np.uint64(1) << (objects & 63).astype(np.uint64))
    return table


def components(matrix: sparse.csr_array) -> Iterator[tuple[Ints, Ints]]:
    """Yield the candidates and objects of every connected component, small ones first."""
    labels, n_parts = label_components(matrix)
    candidates = _members(labels[: matrix.shape[0]], n_parts)
    objects = _members(labels[matrix.shape[0] :], n_parts)
    order = np.argsort([len(c) * len(o) for c, o in zip(candidates, objects, strict=True)])
    for part in order.tolist():
        if len(candidates[part]) and len(objects[part]):
            yield candidates[part], objects[part]


def label_components(matrix: sparse.csr_array) -> tuple[NDArray[np.int32], int]:
    """Return the component of each candidate, then of each object, and their number."""
    (n, m), (rows, columns) = matrix.shape, pairs_of(matrix)
    graph = sparse.coo_array((matrix.data, (rows, n + columns)), shape=(n + m, n + m))
    n_parts, labels = csgraph.connected_components(graph, directed=False)
    return labels, n_parts


def _members(labels: NDArray[np.int32], n_parts: int) -> list[Ints]:
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.searchsorted(labels[order], np.arange(1, n_parts)))


def reduce(matrix: sparse.csr_array, costs: Ints | None, work: Work) -> tuple[Ints, Ints, Ints]:
    """Return forced candidates, remaining candidates and remaining objects, at a fixpoint.

    Parameters
    ----------
    matrix : sparse matrix, candidates x objects
        Every object is covered by some candidate.
    costs : ndarray of int64 or None
        With costs, dominated candidates are removed; without, candidates are only removed once
        they cover no remaining object, so that all minimum covers by the given candidates remain.
    work : Work
        Its time limit is checked.
    """
    rows, columns = pairs_of(matrix)
    taken, before = [np.zeros(0, dtype=np.int64)], 0
    while len(rows) != before:
        before = len(rows)
        if costs is not None:
            kept = undominated(rows, columns, costs, work)[rows]
            rows, columns = rows[kept], columns[kept]
        kept = necessary(rows, columns, matrix.shape[1], work)[columns]
        rows, columns = rows[kept], columns[kept]
        forced = find_forced(rows, columns)
        taken.append(forced)
        left = ~np.isin(columns, columns[np.isin(rows, forced)])
        rows, columns = rows[left], columns[left]
    return np.concatenate(taken), _distinct(rows), _distinct(columns)


def find_forced(rows: Ints, columns: Ints) -> Ints:
    """Return the candidates (rows) that are the only ones to cover some object (column)."""
    return _distinct(rows[(np.bincount(columns) == 1)[columns]])


def _distinct(numbers: Ints) -> Ints:
    return np.flatnonzero(np.bincount(numbers))


def undominated(rows: Ints, columns: Ints, costs: Ints, work: Work) -> Flags:
    """Return which candidates no other one dominates."""
    return ~_find_superfluous(*_prepare_rows(rows, columns, costs), costs, work)


def necessary(rows: Ints, columns: Ints, n_columns: int, work: Work) -> Flags:
    """Return which objects remain once those implied by another one are removed."""
    costs = np.zeros(n_columns, dtype=np.int64)
    prepared = _prepare_rows(columns, rows, costs, small_first=True)
    return ~_find_superfluous(*prepared, costs, work, drop_supersets=True)


def undominated_rows(
    covers: CoverMatrix, costs: Ints, degree: Ints, work: Work, limit: int
) -> Ints | None:
    """Return the undominated candidates of rows of words; None if that takes too many pairs.

    `degree` is the number of candidates that cover each object, `limit` the maximum number of pairs
    of candidates and rarest objects.
    """
    sizes = covers.sizes()
    rarest = np.zeros(len(covers), dtype=np.int64)
    filled = np.flatnonzero(sizes)
    few = max(1, CHUNK * len(covers) // max(1, len(covers.bits)))
    for start in range(0, len(filled), few):
        rows = filled[start : start + few]
        part = covers.take(rows)
        members = elements(part.words, part.bits)
        starts = np.cumsum(sizes[rows]) - sizes[rows]
        rarest[rows] = np.minimum.reduceat(degree[members] << 32 | members, starts) & 0xFFFFFFFF
        work.spend(60 * len(part.bits))
    objects = np.unique(rarest[filled])
    if degree[objects].sum() > limit:
        return None
    order = np.lexsort((costs, -sizes))
    owners = _sort_owners(*pairs_of(to_sparse(covers, objects, work)), order)
    rarest = np.searchsorted(objects, rarest)
    return np.flatnonzero(~_find_superfluous(covers, rarest, owners, order, costs, work))


def _prepare_rows(
    rows: Ints, columns: Ints, costs: Ints, *, small_first: bool = False
) -> tuple[CoverMatrix, Ints, Ints, Ints]:
    """Return rows as words, the rarest element of each, the owners of elements, and the order.

    Elements are numbered again, rare ones first, so that the first word refutes most supersets.
    """
    degree = np.bincount(columns)
    rank = np.empty_like(degree)
    rank[np.argsort(degree, kind="stable")] = np.arange(len(degree))
    columns = rank[columns]
    sizes = np.bincount(rows, minlength=len(costs))
    order = np.lexsort((costs, sizes if small_first else -sizes))
    pairs = _sort_pairs(rows, columns)
    covers = CoverMatrix.from_pairs(pairs >> 32, pairs & 0xFFFFFFFF, (len(costs), len(degree)))
    rarest = np.zeros(len(costs), dtype=np.int64)
    first = np.flatnonzero(np.diff(pairs >> 32, prepend=-1))
    rarest[pairs[first] >> 32] = pairs[first] & 0xFFFFFFFF
    return covers, rarest, _sort_owners(rows, columns, order), order


def _sort_owners(rows: Ints, columns: Ints, order: Ints) -> Ints:
    """Return pairs of an element and the place of a row in the order, ascending."""
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return _sort_pairs(columns, place[rows])


def _sort_pairs(first: Ints, second: Ints) -> Ints:
    """Return pairs as `first << 32 | second` in ascending order."""
    if len(first) < MANY_PAIRS:
        return np.sort(first << 32 | second)
    second, first = _sort_by_counting(second, first)
    first, second = _sort_by_counting(first, second)
    return first << 32 | second


def _sort_by_counting(numbers: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Return small numbers in ascending order, and others in the same order; in linear time."""
    row = sparse.csr_array((others, numbers, [0, len(numbers)]), shape=(1, int(numbers.max()) + 1))
    columns = row.tocsc()
    return np.repeat(np.arange(row.shape[1]), np.diff(columns.indptr)), columns.data


def _find_superfluous(
    rows: CoverMatrix,
    rarest: Ints,
    owners: Ints,
    order: Ints,
    costs: Ints,
    work: Work,
    *,
    drop_supersets: bool = False,
) -> Flags:
    """Return which rows are empty or superfluous because of another one.

    Parameters
    ----------
    rows : CoverMatrix
    rarest : ndarray of int64
        All supersets of row `j` are among the owners of `rarest[j]`.
    owners : ndarray of int64
        The elements and the places in `order` of the rows that contain them: see `_sort_owners`.
    order, costs : ndarray of int64
        Of a row and a superset of it, the earlier one of no higher cost is kept.
    work : Work
        Its time limit is checked.
    drop_supersets : bool
        Whether the superset is dropped (the subset is the earlier one then), or the subset.
    """
    # From here on, rows have their places in the order as numbers.
    rarest, costs = rarest[order], costs[order]
    dropped: Flags = (np.diff(rows.indptr) == 0)[order]
    words = np.repeat(np.arange(len(rows)) << 32, np.diff(rows.indptr)) | rows.words
    own = np.searchsorted(owners, rarest << 32 | np.arange(len(order)))
    ends, sign = np.searchsorted(owners, rarest + drop_supersets << 32), 2 * drop_supersets - 1
    n_others = sign * (ends - own) - drop_supersets
    active = np.flatnonzero((n_others > 0) & ~dropped)
    done, width = 0, 1
    while len(active):  # the nearest rows first: they are often equal
        step = max(1, PAIRS // width)
        for start in range(0, len(active), step):
            work.check_time()
            some = active[start : start + step]
            some = some[~dropped[some]]
            counts = np.minimum(n_others[some] - done, width)
            subset = np.repeat(some, counts)
            offsets = np.arange(len(subset)) - np.repeat(np.cumsum(counts) - counts, counts)
            superset = owners[own[subset] + sign * (done + 1 + offsets)] & 0xFFFFFFFF
            keeper, loser = (subset, superset) if drop_supersets else (superset, subset)
            pairs = np.flatnonzero((costs[keeper] <= costs[loser]) & ~dropped[loser])
            is_subset = _is_subset(rows, words, order[subset[pairs]], order[superset[pairs]])
            dropped[loser[pairs[is_subset]]] = True
        done, width = done + width, 2 * width
        active = active[~dropped[active] & (n_others[active] > done)]
    result = np.empty_like(dropped)
    result[order] = dropped
    return result


def _is_subset(rows: CoverMatrix, places: Ints, subset: Ints, superset: Ints) -> Flags:
    """Return for each pair of rows whether the first is a subset of the second.

    `places` are the row and the place of every word, ascending.
    """
    place, end = rows.indptr[subset], rows.indptr[subset + 1]
    left = np.arange(len(subset))
    refuted = np.zeros(len(subset), dtype=bool)
    while len(left):
        own = place[left]
        wanted = superset[left] << 32 | rows.words[own]
        other = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
        bits = np.where(places[other] == wanted, rows.bits[other], np.uint64(0))
        outside = (rows.bits[own] & ~bits) != 0
        refuted[left[outside]] = True
        left = left[~outside]
        place[left] += 1
        left = left[place[left] < end[left]]
    return ~refuted

"""A complete cover at once: the largest gain first, then whatever has become redundant goes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from frri._util import Flags, Ints


@dataclass(frozen=True, eq=False)
class Lists:
    """Who covers whom, as lists in both directions.

    Candidate `j` covers `objects[objects_from[j]:objects_from[j + 1]]`; object `i` is covered by
    `coverers[coverers_from[i]:coverers_from[i + 1]]`; both ascend.
    """

    objects_from: Ints
    objects: Ints
    coverers_from: Ints
    coverers: Ints

    @classmethod
    def of(cls, matrix: Any) -> "Lists":
        """From a boolean or sparse matrix, candidates x objects (indices ascending)."""
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


def greedy_cover(lists: Lists, costs: Ints, needed: Flags | None = None) -> Ints:
    """A cover without redundant candidates, ascending.

    Parameters
    ----------
    lists : Lists
    costs : ndarray of int64
        Breaks ties between equal gains, before the order of the candidates does.
    needed : ndarray of bool, optional
        The objects to cover (all that can be, unless told).

    Examples
    --------
    >>> lists = Lists.of(np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1]], dtype=bool))
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


def _without_redundant(lists: Lists, costs: Ints, chosen: list[int], times: Ints) -> list[int]:
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

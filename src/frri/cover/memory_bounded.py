"""Problems whose pairs of candidate and object exceed the memory: broad candidates come first.

A few broad candidates cover most objects, and most pairs are pairs with such objects. The covers
of a sample of the candidates are built, a greedy cover by these is begun, and as soon as the
remaining objects have few enough pairs, those are built for all candidates: an ordinary problem.
Its lower bound holds for the whole problem, which has more objects to cover.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from frri._util import Ints, Words
from frri.cover.matrix import CoverMatrix, greedy_order, without_redundant
from frri.cover.solve import Cover

# Bytes of a word of a `CoverMatrix`: its place and its bits.
BYTES_PER_WORD = 12
# Number of candidates from which the memory of all is estimated.
SAMPLE = 2048
# At most one candidate in LEAST_STEP is built at first, within BROAD_FRACTION of the memory.
LEAST_STEP, BROAD_FRACTION = 4, 0.25


# The cover relation, computed on request: what some candidates (None: all of them) cover of all
# objects, or of those wanted (words), if these are the second argument.
Source = Callable[..., CoverMatrix]


class Preselection(NamedTuple):
    """Candidates selected in advance, the objects that they leave (words), and the relation."""

    first: Ints
    left: Words | None
    source: Source


def preselect(source: Source, neighbors: Ints, costs: Ints, room: int) -> Preselection | None:
    """Select a few candidates in advance if the covers exceed the memory, else return None.

    Parameters
    ----------
    source : Source
    neighbors : ndarray of int64
        All candidates, in an order in which similar ones are near each other.
    costs : ndarray of int64
        The cheaper one of two equally broad candidates is selected.
    room : int
        Memory for the covers in bytes.

    Examples
    --------
    >>> from frri.cover.matrix import CoverMatrix
    >>> broad, narrow = np.ones((4, 640), bool), np.eye(640, dtype=bool)[:60]
    >>> whole = CoverMatrix.from_dense(np.concatenate((broad, narrow)))
    >>> def source(candidates, wanted=None):
    ...     some = whole.take(candidates)
    ...     return some if wanted is None else some.within(wanted)
    >>> preselected = preselect(source, np.arange(64), np.zeros(64, dtype=np.int64), room=800)
    >>> preselected.first, source(np.arange(64), preselected.left).sizes().sum()
    (array([0]), np.int64(0))
    """
    n = len(neighbors)
    sample = source(neighbors[:: -(-n // SAMPLE)]) if n else source(neighbors)
    needed = BYTES_PER_WORD * len(sample.bits) / max(1, len(sample)) * n
    if needed <= room:
        return None
    step = max(LEAST_STEP, -int(-needed // max(1, int(BROAD_FRACTION * room))))
    first: list[Ints] = [neighbors[:0]]
    left: Words | None = None
    for offset in range(step):
        # Other candidates every time: the earlier ones cover too little of the remaining objects.
        broad = neighbors[offset::step]
        some = source(broad, left)
        if BYTES_PER_WORD * len(some.bits) <= room // step:
            break
        chosen, left = _begin_cover(some, costs[broad], left, room // step)
        first.append(broad[chosen])
        del some
    return Preselection(np.concatenate(first), left, source)


def _begin_cover(
    some: CoverMatrix, costs: Ints, left: Words | None, room: int
) -> tuple[Ints, Words]:
    """Return the start of a greedy cover after which the rest fits, and the remaining objects."""
    chosen = greedy_order(some, costs)
    before = np.full(-(-some.n_objects // 64), ~np.uint64(0)) if left is None else left

    def left_by(n_first: int) -> Words:
        return np.asarray(before & ~some.take(chosen[:n_first]).table())

    def is_enough(n_first: int) -> bool:
        pairs = some.bits & left_by(n_first)[some.words]
        return bool(BYTES_PER_WORD * np.count_nonzero(pairs) <= room)

    n_first = bisect_left(range(len(chosen)), True, key=is_enough)
    return chosen[:n_first], left_by(n_first)


def join_covers(preselected: Preselection, rest: Cover, costs: Ints) -> Cover:
    """Join the candidates selected in advance and a cover of the remaining objects.

    Costs are those of all candidates.
    """
    both = np.concatenate((preselected.first, rest.selected))
    covers, everyone = preselected.source(both), np.arange(len(both))
    selected = np.sort(both[without_redundant(covers, costs[both], everyone)])
    return replace(
        rest,
        selected=selected,
        status="optimal" if rest.lower_bound == len(selected) else "feasible",
        cost=int(costs[selected].sum()),
        cost_status="feasible",
        settled=False,
        stopped_by=rest.stopped_by or "memory",
    )

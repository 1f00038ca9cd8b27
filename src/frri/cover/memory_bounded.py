"""Problems whose pairs do not fit into memory: broad candidates first, then what they leave.

A few broad candidates cover most objects, and most pairs of candidate and object are pairs with
such objects. So one candidate of a few neighbours is written out, a greedy cover by these is begun,
and as soon as the objects that it leaves have few enough pairs, those are written out for all
candidates: an ordinary problem. What is proved to be necessary for it is necessary for the whole,
which has more objects to cover.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from frri.cover.budget import Work
from frri.cover.solve_large import in_greedy_order, without_redundant

if TYPE_CHECKING:
    from frri._util import Ints, Words
    from frri.cover.matrix import CoverMatrix
    from frri.cover.solve import Cover

BYTES_PER_WORD = 12
"""What a word of a `CoverMatrix` takes: its place and its bits."""

SAMPLE = 2048
"""Candidates that tell how much all of them take."""

LEAST_STEP, BROAD_SHARE = 4, 0.25
"""One of at least so many neighbours is written out at first, in so large a part of the room."""


class Source(Protocol):
    """Who covers whom, found out when asked."""

    def __call__(self, candidates: Ints, wanted: Words | None = None) -> CoverMatrix:
        """Return what some candidates cover of all objects, or of those wanted (words)."""


class Peeled(NamedTuple):
    """Candidates chosen first, and who tells what candidates cover."""

    first: Ints
    source: Source


def written_out(
    source: Source, neighbours: Ints, costs: Ints, room: int
) -> tuple[CoverMatrix, Peeled | None]:
    """Return what all candidates cover, or, for want of memory, of what a few chosen first leave.

    Parameters
    ----------
    source : Source
    neighbours : ndarray of int64
        All candidates, in an order in which similar ones are near each other.
    costs : ndarray of int64
        Of equally broad candidates the cheaper one is chosen.
    room : int
        Bytes.

    Returns
    -------
    covers : CoverMatrix
        Of all candidates.
    peeled : Peeled or None
        None if nothing is left out.

    Examples
    --------
    >>> from frri.cover.matrix import CoverMatrix
    >>> broad, narrow = np.ones((4, 640), bool), np.eye(640, dtype=bool)[:60]
    >>> whole = CoverMatrix.from_dense(np.concatenate((broad, narrow)))
    >>> def source(candidates, wanted=None):
    ...     some = whole.take(candidates)
    ...     return some if wanted is None else some.within(wanted)
    >>> costs = np.zeros(64, dtype=np.int64)
    >>> covers, peeled = written_out(source, np.arange(64), costs, room=800)
    >>> peeled.first, covers.sizes().sum()
    (array([0]), np.int64(0))
    """
    everyone, begun = np.arange(len(neighbours)), choose_first(source, neighbours, costs, room)
    if begun is None:
        return source(everyone), None
    return source(everyone, begun.left), Peeled(begun.first, source)


class Begun(NamedTuple):
    """Candidates chosen first, and the objects that they leave, as words."""

    first: Ints
    left: Words | None


def choose_first(source: Source, neighbours: Ints, costs: Ints, room: int) -> Begun | None:
    """Choose a few candidates first if what all cover does not fit into memory, else return None.

    Parameters
    ----------
    source, neighbours, costs, room
        As for `written_out`.
    """
    n = len(neighbours)
    sample = source(neighbours[:: -(-n // SAMPLE)]) if n else source(neighbours)
    needed = BYTES_PER_WORD * len(sample.bits) / max(1, len(sample)) * n
    if needed <= room:
        return None
    step = max(LEAST_STEP, -int(-needed // max(1, int(BROAD_SHARE * room))))
    first: list[Ints] = [neighbours[:0]]
    left: Words | None = None
    for offset in range(step):
        # Other candidates every time: those that have been looked at know too little of what they
        # leave.
        broad = neighbours[offset::step]
        some = source(broad, left)
        if BYTES_PER_WORD * len(some.bits) <= room // step:
            break
        chosen, left = _begun(some, costs[broad], left, room // step)
        first.append(broad[chosen])
        del some
    return Begun(np.concatenate(first), left)


def _begun(some: CoverMatrix, costs: Ints, left: Words | None, room: int) -> tuple[Ints, Words]:
    """Return the fewest of a greedy cover that leave what fits, and the objects that they leave."""
    everything = some.table()
    chosen = in_greedy_order(some, costs, everything.copy(), some.sizes(), Work(0, None))
    before = np.full_like(everything, ~np.uint64(0)) if left is None else left
    low, high = 0, len(chosen)
    while low < high:
        middle = (low + high) // 2
        after = before & ~some.take(chosen[:middle]).table()
        if BYTES_PER_WORD * np.count_nonzero(some.bits & after[some.words]) <= room:
            high = middle
        else:
            low = middle + 1
    return chosen[:low], before & ~some.take(chosen[:low]).table()


def join_covers(peeled: Peeled, rest: Cover, costs: Ints) -> Cover:
    """Join the candidates chosen first and a cover of what they leave.

    Parameters
    ----------
    peeled : Peeled
    rest : Cover
    costs : ndarray of int64
        Of all candidates.
    """
    both = np.concatenate((peeled.first, rest.selected))
    covers, everyone = peeled.source(both), np.arange(len(both))
    kept = without_redundant(covers, costs[both], everyone, Work(0, None))
    selected = np.sort(both[kept])
    proved = rest.lower_bound == len(selected)
    return replace(
        rest,
        selected=selected,
        status="optimal" if proved else "feasible",
        cost=int(costs[selected].sum()),
        cost_status="feasible",
        settled=False,
        stopped_by=rest.stopped_by or "memory",
    )

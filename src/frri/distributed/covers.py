"""Covers of candidate rules in blocks on the workers, and the selection of rules there."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from frri.cover import LARGEST_EXPANDED, Cover, CoverMatrix, minimum_cover
from frri.cover.budget import Work
from frri.cover.solve_large import greedy_on_words
from frri.distributed.cluster import ended_with

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Types, Words
    from frri.cover import PartialCover
    from frri.distributed.cluster import Cluster, Future
    from frri.induction.bitmap_backend import BitmapBackend
    from frri.induction.class_layout import ClassLayout
    from frri.learners.frri.selection import Limits, SearchLimits

# Memory of a selection, in sizes of its covers: measured, and rounded up.
COPIES = 4
# Sums of reciprocals are rounded.
ROUNDING = 1e-6
# Reasons to stop a search, the most important first.
REASONS = ("interrupt", "time", "memory", "effort", "gap")


class RemoteRules:
    """Rules of all samples on the workers, block by block, whose covers are computed on demand.

    Parameters
    ----------
    cluster : Cluster
    sent : future
        `BitmapBackend` on all workers.
    layout : ClassLayout
    ranges : list of (int, int)
        Rows of each block.
    confidences, types : list of futures
        Of these rows.
    """

    def __init__(
        self,
        cluster: Cluster,
        sent: Future,
        layout: ClassLayout,
        ranges: Sequence[tuple[int, int]],
        confidences: list[Future],
        types: list[Future],
    ) -> None:
        self.cluster, self.layout, self.ranges = cluster, layout, ranges
        self.blocks = [
            (sent, low, near, kept)
            for (low, _), near, kept in zip(ranges, confidences, types, strict=True)
        ]
        self.n_bits = 64 * int(layout.first_word[-1])
        self.n_requests = 0

    def __call__(self, candidates: Ints, wanted: Words | None = None) -> CoverMatrix:
        """Return what some candidates cover of all samples or of those wanted, here."""
        self.n_requests += 1
        places, rows, order = _by_block(self.layout.rows[candidates], self.ranges)
        wanted = None if wanted is None else self.cluster.send(wanted)
        known = [(*self.blocks[i], wanted, some) for i, some in zip(places, rows, strict=True)]
        phase = f"some{self.n_requests}"
        parts = self.cluster.map(phase, _cover_block, *zip(*known, strict=True))
        return _in_order(self.cluster.gather(parts), order, self.n_bits)

    def covers(self, wanted: Words | None = None) -> RemoteCovers:
        """Return what all of them cover, left on the workers."""
        wanted = None if wanted is None else self.cluster.send(wanted)
        known = zip(*((*block, wanted) for block in self.blocks), strict=True)
        found = self.cluster.map("covers", _cover_block, *known)
        return RemoteCovers(self.cluster, found, self.ranges, self.layout.samples, self.n_bits)


class RemoteCovers:
    """A `frri.cover.CoverMatrix` in blocks on the workers.

    Parameters
    ----------
    cluster : Cluster
    blocks : list of futures
        `CoverMatrix` of the rules of some rows.
    ranges : list of (int, int)
        Rows of each block.
    samples : ndarray of int
        Sample of each row.
    n_objects : int
        Number of bits.
    """

    def __init__(
        self,
        cluster: Cluster,
        blocks: list[Future],
        ranges: Sequence[tuple[int, int]],
        samples: Ints,
        n_objects: int,
    ) -> None:
        self.room = cluster.room()
        self.cluster = cluster
        self.blocks = blocks
        self.ranges = ranges
        self.samples = samples
        self.n_objects = n_objects
        self._searches: dict[int, Future] = {}

    @cached_property
    def rows(self) -> Ints:
        """Row of each sample."""
        return np.argsort(self.samples)

    @cached_property
    def _measured(self) -> list[tuple[Ints, int]]:
        found: list[tuple[Ints, int]] = self.cluster.gather(
            self.cluster.map("sizes", _sizes, self.blocks)
        )
        return found

    @property
    def nbytes(self) -> int:
        """Memory of all blocks, in bytes."""
        return sum(n for _, n in self._measured)

    def sizes(self) -> Ints:
        """Return how many samples each candidate covers."""
        return np.concatenate([sizes for sizes, _ in self._measured])[self.rows]

    @cached_property
    def _union(self) -> Flags:
        tables = self.cluster.map("unions", CoverMatrix.table, self.blocks)
        table = np.bitwise_or.reduce(self.cluster.gather(tables))
        return CoverMatrix.from_words(table[None, :], self.n_objects).union()

    def union(self) -> Flags:
        """Return which samples any candidate covers."""
        return self._union

    def take(self, candidates: Ints) -> CoverMatrix:
        """Return what some candidates cover, here."""
        places, rows, order = _by_block(self.rows[candidates], self.ranges)
        local = [some - self.ranges[i][0] for i, some in zip(places, rows, strict=True)]
        blocks = [self.blocks[i] for i in places]
        parts = self.cluster.gather(self.cluster.map("chosen", CoverMatrix.take, blocks, local))
        return _in_order(parts, order, self.n_objects)

    def only(self, kept: Flags) -> RemoteCovers:
        """Return the same candidates, of which all but those kept cover nothing."""
        by_row = kept[self.samples]
        flags = [by_row[low:high] for low, high in self.ranges]
        blocks = self.cluster.map("allowed", CoverMatrix.only, self.blocks, flags)
        known = self.ranges, self.samples, self.n_objects
        return RemoteCovers(self.cluster, blocks, *known)

    def select(self, limits: Limits, *known: Any) -> Cover | PartialCover:
        """Return what `limits.select` finds, computed on workers.

        Classes have nothing in common, so that each is searched where its blocks are brought
        together, at the same time as the others. A selection that is proved for all classes is the
        one that any machine finds. Otherwise it depends on how the effort is divided, so that the
        whole is searched as on one machine, if a worker can hold it.

        Parameters
        ----------
        limits : Limits
        *known
            Costs, groups, sizes and `SearchLimits`, as for `Limits.select`.
        """
        try:
            return self._select(limits, *known)
        except KeyboardInterrupt:
            if not limits.is_complete:  # nothing is found before all is done
                raise
            self.cluster.end()  # a second one is not held back
            return self._select(limits, *known)

    def _select(
        self, limits: Limits, costs: Ints, groups: Ints, sizes: Ints, search: SearchLimits
    ) -> Cover | PartialCover:
        start = perf_counter()
        fits = COPIES * self.nbytes <= self.room
        provable = search.work_limit > 0 and self.sizes().sum() <= LARGEST_EXPANDED
        if limits.is_complete and (provable or not fits):
            found = self._by_class(costs, groups, search)
            done = not fits or all(part.settled for part in found)
            if done or any(part.stopped_by in ("interrupt", "time") for part in found):
                return replace(_joined(found), seconds=perf_counter() - start)
        if search.time_limit is not None:
            left = max(0.0, search.time_limit - (perf_counter() - start))
            search = search._replace(time_limit=left)
        known = limits, self.blocks, self.rows, costs, groups, sizes, search
        whole: Cover | PartialCover = self.cluster.gather(self._search(-1, _whole, *known))
        return whole

    def _search(self, number: int, work: Callable[..., Any], *known: Any) -> Future:
        """Start a search for the fewest once; it ends early with the fit."""
        if number not in self._searches:
            name = self.cluster.name
            task = self.cluster.submit("selection", number, _ended_with, name, work, *known)
            self._searches[number] = task
        return self._searches[number]

    def _by_class(self, lengths: Ints, groups: Ints, search: SearchLimits) -> list[Cover]:
        """Return the cover of each class, by candidates as they are numbered in all."""
        costs = lengths[self.samples]
        own = groups[self.samples[[low for low, _ in self.ranges]]]
        tasks, members = [], []
        data: tuple[Any, ...]
        codes = np.unique(own)
        if search.time_limit is not None:  # some may have to wait for others
            rounds = -(-len(codes) // sum(self.cluster.threads().values()))
            search = search._replace(time_limit=search.time_limit / rounds)
        for code in codes:
            places = np.flatnonzero(own == code).tolist()
            blocks = [self.blocks[i] for i in places]
            low, high = self.ranges[places[0]][0], self.ranges[places[-1]][1]
            order = np.argsort(self.samples[low:high])
            members.append(self.samples[low:high][order])
            # Proportional shares of a limit that must not be exceeded in all.
            known = search._replace(
                work_limit=search.work_limit * (high - low) // len(self.samples)
            )
            if COPIES * sum(self._measured[i][1] for i in places) <= self.room:
                data = (_one_class, blocks, order, costs[low:high][order], known)
            else:
                prices = [costs[slice(*self.ranges[i])] for i in places]
                data = (_second_round, *self._proposals(int(code), blocks, prices, order), known)
            tasks.append(self._search(int(code), *data))
        found: list[Cover] = self.cluster.gather(tasks)
        return [
            replace(cover, selected=own_members[cover.selected])
            for cover, own_members in zip(found, members, strict=True)
        ]

    def _proposals(
        self,
        code: int,
        blocks: list[Future],
        prices: list[Ints],
        order: Ints,
    ) -> tuple[Any, ...]:
        """Return the proposals of all blocks for a second round, and a bound for the class."""
        proposed = self.cluster.map(f"proposal{code}", _proposal, blocks, prices)
        largest = self.cluster.map(f"largest{code}", _largest, blocks)
        both = self.cluster.submit(f"widest{code}", 0, np.maximum.reduce, largest)
        widest = self.cluster.gather(both)
        bound = ceil(float((1 / widest[widest > 0]).sum()) - ROUNDING)
        ends = np.cumsum([0, *map(len, prices)])[:-1].tolist()
        return proposed, ends, order, bound


def _by_block(rows: Ints, ranges: Sequence[tuple[int, int]]) -> tuple[list[int], list[Ints], Ints]:
    """Return the blocks of some rows, the rows in each, and the order that this puts them in."""
    order = np.argsort(rows, kind="stable")
    ends = np.searchsorted(rows[order], [high for _, high in ranges])
    parts = np.split(rows[order], ends[:-1])
    places = [i for i, some in enumerate(parts) if len(some)]
    return places, [parts[i] for i in places], order


def _in_order(parts: list[CoverMatrix], order: Ints, n_objects: int) -> CoverMatrix:
    """Return the answers of blocks in the order of the request."""
    if not parts:
        return CoverMatrix.from_dense(np.zeros((0, n_objects), dtype=bool))
    return CoverMatrix.below(parts).take(np.argsort(order, kind="stable"))


# --- On the workers


def _cover_block(
    table: BitmapBackend,
    low: int,
    confidence: Floats,
    types: Types,
    wanted: Words | None = None,
    rows: Ints | None = None,
) -> CoverMatrix:
    """Return what the rules of a block from row `low` on cover, or those of some of its rows."""
    rows = np.arange(low, low + len(confidence)) if rows is None else rows
    return table.cover_rows(rows, confidence[rows - low], types[rows - low], wanted)


def _ended_with(name: str, work: Callable[..., Any], *known: Any) -> Any:
    with ended_with(name):
        return work(*known)


def _sizes(block: CoverMatrix) -> tuple[Ints, int]:
    return block.sizes(), block.nbytes


def _whole(
    limits: Limits, blocks: list[CoverMatrix], rows: Ints, *known: Any
) -> Cover | PartialCover:
    return limits.select(CoverMatrix.below(blocks).take(rows), *known)


def _one_class(
    blocks: list[CoverMatrix],
    order: Ints,
    costs: Ints,
    search: SearchLimits,
) -> Cover:
    return minimum_cover(CoverMatrix.below(blocks).take(order), costs, **search._asdict())


def _proposal(block: CoverMatrix, costs: Ints) -> tuple[Ints, CoverMatrix, Ints]:
    """Return a cover of all that a block covers, by its own rules."""
    chosen = greedy_on_words(block, costs, Work(0, None))
    return chosen, block.take(chosen), costs[chosen]


def _largest(block: CoverMatrix) -> NDArray[np.int32]:
    """Return the size of the widest rule of a block that covers each sample; 0 without one."""
    widest = np.zeros(64 * -(-block.n_objects // 64), dtype=np.int32).reshape(-1, 64)
    sizes, ends = block.sizes().astype(np.int32), block.indptr
    for row in np.argsort(sizes, kind="stable"):
        words, bits = block.words[ends[row] : ends[row + 1]], block.bits[ends[row] : ends[row + 1]]
        octets = bits.astype("<u8").view(np.uint8).reshape(-1, 8)
        inside = np.unpackbits(octets, axis=1, bitorder="little").astype(bool)
        # The widest rule comes last.
        widest[words] = np.where(inside, sizes[row], widest[words])
    return widest.reshape(-1)


def _second_round(
    proposed: list[tuple[Ints, CoverMatrix, Ints]],
    ends: list[int],
    order: Ints,
    bound: int,
    search: SearchLimits,
) -> Cover:
    """Return the fewest of the proposed rules; a proof for these does not hold for all rules."""
    rows = np.concatenate(
        [chosen + end for (chosen, _, _), end in zip(proposed, ends, strict=True)]
    )
    candidates = np.argsort(order)[rows]
    by_object = np.argsort(candidates)
    covers = CoverMatrix.below([part for _, part, _ in proposed]).take(by_object)
    costs = np.concatenate([prices for *_, prices in proposed])[by_object]
    cover = minimum_cover(covers, costs, **search._asdict())
    proved = len(cover) == bound
    return replace(
        cover,
        selected=candidates[by_object][cover.selected],
        lower_bound=min(bound, len(cover)),
        status="optimal" if proved else "feasible",
        cost_status="feasible",
        settled=False,
        stopped_by=_first(cover.stopped_by, "memory"),
    )


def _joined(found: list[Cover]) -> Cover:
    """Return the covers of all classes as one."""
    optimal = all(part.status == "optimal" for part in found)
    cheapest = optimal and all(part.cost_status == "optimal" for part in found)
    return Cover(
        selected=np.sort(np.concatenate([part.selected for part in found])),
        status="optimal" if optimal else "feasible",
        lower_bound=sum(part.lower_bound for part in found),
        cost=sum(part.cost for part in found),
        cost_status="optimal" if cheapest else "feasible",
        settled=all(part.settled for part in found),
        stopped_by=_first(*(part.stopped_by for part in found)),
        solver=found[0].solver,
        nodes=sum(part.nodes for part in found),
        pivots=sum(part.pivots for part in found),
        steps=sum(part.steps for part in found),
        effort=sum(part.effort for part in found),
        seconds=0.0,
    )


def _first(*stopped_by: str | None) -> str | None:
    """Return the most important of several reasons to stop."""
    return next((reason for reason in REASONS if reason in stopped_by), None)

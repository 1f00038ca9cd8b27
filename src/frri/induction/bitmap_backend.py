"""The steps of induction in compiled kernels on bitmaps, for large tables, in several threads."""

import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from frri._compile import compiled
from frri._util import Floats, Ints, Types, Words, map_threads
from frri.cover.matrix import CoverMatrix, packed
from frri.cover.memory_bounded import Source
from frri.induction import _bitmap_kernels as kernels
from frri.induction._bitmap_kernels import Bitmaps, CoverWords
from frri.induction.class_layout import TOLERANCE, ClassLayout
from frri.induction.numpy_backend import single_bits

# Rows of one call of a kernel; fewer than two such chunks stay in one thread.
CHUNK = 512
# Cuts per feature at least, and more while samples x cuts is small: more cuts leave fewer samples
# to be compared one by one, but the bitmaps no longer fit into the caches.
CUTS = 128
CELLS = 1 << 20
# Rows in a block that is sent to a worker, and number of blocks from which they become larger.
BLOCK_ROWS, MOST_BLOCKS = 4096, 1024


class BitmapBackend:
    """The steps of induction on a table, for all rows or for some of them.

    A block of rows needs the whole table and nothing else, so that blocks can be processed
    anywhere. A pickled backend contains only the table; bitmaps are built at the first step, once
    per process.

    Examples
    --------
    >>> from frri.induction.class_layout import ClassLayout
    >>> layout = ClassLayout([[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 1, 0])
    >>> backend = BitmapBackend(layout, n_jobs=1)
    >>> layout.samples.tolist(), backend.blocks()
    ([0, 2, 1], [(0, 2), (2, 3)])
    >>> confidence = backend.nearest_rows(0, 2)
    >>> confidence
    array([0.25, 0.75])
    >>> types = backend.shorten_rows(0, confidence, np.array([[0, 1]]))
    >>> types
    array([[1, 0],
           [2, 0]], dtype=int8)
    >>> backend.cover_rows(np.arange(2), confidence, types).sizes()
    array([1, 1])
    """

    def __init__(self, layout: ClassLayout, n_jobs: int | None = None) -> None:
        self.layout = layout
        self.n_jobs = n_jobs
        self._table: Bitmaps | None = None

    def blocks(self) -> list[tuple[int, int]]:
        """Return ranges of rows of one class each, which depend on the class sizes alone."""
        size = max(BLOCK_ROWS, -(-len(self.layout.points) // MOST_BLOCKS))
        return [
            (low, min(low + size, end))
            for start, end in pairwise(self.layout.first_row)
            for low in range(start, end, size)
        ]

    # --- All rows
    def confidences(self) -> Floats:
        """Return the distance of every row to the nearest one of another class, at most 1."""
        return np.concatenate(self._map_chunks(self.nearest_rows, len(self.layout.points)))

    def shorten(self, confidence: Floats, orders: Ints) -> Types:
        """Return the condition types of every row's rule, shortened in the orders of features."""

        def work(low: int, high: int) -> Types:
            own = orders if len(orders) == 1 else orders[low:high]
            return self.shorten_rows(low, confidence[low:high], own)

        return np.concatenate(self._map_chunks(work, len(confidence)))

    def source(self, confidence: Floats, types: Types) -> Source:
        """Return a function to what some samples' boxes cover: see `frri.cover.memory_bounded`."""

        def find(candidates: Ints | None, wanted: Words | None = None) -> CoverMatrix:
            rows = self.layout.rows if candidates is None else self.layout.rows[candidates]
            return self.cover_rows(rows, confidence[rows], types[rows], wanted)

        return find

    # --- Some rows
    def nearest_rows(self, low: int, high: int) -> Floats:
        """Return the confidences of the rows from `low` to `high`."""
        found = np.empty(high - low)
        compiled(kernels).nearest(self.table, low, found)
        return np.minimum(found, 1, out=found)

    def shorten_rows(self, low: int, confidence: Floats, orders: Ints) -> Types:
        """Return the shortened types of the rows from `low` on, one for each confidence."""
        types = np.tile(self.layout.initial, (len(confidence), 1))
        compiled(kernels).prune(self.table, confidence - TOLERANCE, orders, low, types)
        return types

    def cover_rows(
        self, rows: Ints, confidence: Floats, types: Types, wanted: Words | None = None
    ) -> CoverMatrix:
        """Return what the boxes of some rows cover (of a set of samples wanted), in their order."""
        table = self.table
        order = np.argsort(rows, kind="stable")  # neighbors look at the same blocks
        among = table.fine[0].copy()
        if wanted is not None:
            among[: len(wanted)] &= wanted
        asked, limits, kept = rows[order], (confidence - TOLERANCE)[order], types[order]
        n_own_words = np.diff(table.fence, axis=1)[self.layout.bits[asked] >> 6, 0]

        def find(low: int, high: int) -> CoverWords:
            own, most = slice(low, high), int(n_own_words[low:high].sum())
            lengths = np.zeros(high - low, dtype=np.int64)
            out = CoverWords(lengths, np.empty(most, np.int32), np.empty(most, np.uint64))
            n = compiled(kernels).cover(table, asked[own], limits[own], kept[own], among, out)
            return CoverWords(lengths, out.words[:n].copy(), out.sets[:n].copy())

        parts = self._map_chunks(find, len(rows))
        indptr = np.zeros(len(rows) + 1, dtype=np.int64)
        indptr[1 + order] = np.concatenate([part.lengths for part in parts])
        np.cumsum(indptr, out=indptr)
        words = np.empty(indptr[-1], dtype=np.int32)
        sets = np.empty(indptr[-1], dtype=np.uint64)
        for low, high in reversed(_chunks(len(rows))):
            part = parts.pop()  # what is in its place takes no memory twice
            begins = indptr[order[low:high]] - np.cumsum(part.lengths) + part.lengths
            places = np.arange(len(part.words)) + np.repeat(begins, part.lengths)
            words[places], sets[places] = part.words, part.sets
        return CoverMatrix(indptr, words, sets, 64 * self.layout.first_word[-1])

    def _map_chunks(self, work: Callable[[int, int], Any], n_rows: int) -> list[Any]:
        # Kernels are compiled on no rows at all, in this thread, where Ctrl-C finds the compiler.
        work(0, 0)
        return map_threads(work, _chunks(n_rows), self.n_jobs)

    @property
    def table(self) -> Bitmaps:
        """The bitmaps, built by the first thread that asks."""
        with _building:
            if self._table is None:
                self._table = _build(self.layout)
            return self._table


# Held while bitmaps are built.
_building = threading.Lock()


def _chunks(n_rows: int) -> list[tuple[int, int]]:
    """Return ranges of rows for one call of a kernel each."""
    if n_rows < 2 * CHUNK:
        return [(0, n_rows)]
    return [(start, min(start + CHUNK, n_rows)) for start in range(0, n_rows, CHUNK)]


def _build(layout: ClassLayout) -> Bitmaps:
    """Return the bitmaps of a table."""
    most = max(CUTS, CELLS // len(layout.points))
    shift, cuts, tops, fine, some, every = [], [], [], [], [], []
    for column, missing in zip(layout.columns, layout.missing, strict=True):
        lowest, highest = _bins(column[~missing], most)
        above = np.zeros((len(lowest), layout.first_word[-1]), dtype=np.uint64)
        # Missing values are put at the last cut, which is infinite.
        entry = np.searchsorted(lowest, column, side="right") - 1
        np.add.at(above, (entry, layout.bits >> 6), single_bits(layout.bits))
        above = np.bitwise_or.accumulate(above[::-1], axis=0)[::-1]
        everybody, n_copies = above[0], 1 + int(missing.any())
        if n_copies == 2:
            above = np.concatenate((above, above & ~above[-1]))
        shift.append(len(lowest) * (n_copies - 1))
        cuts += [lowest] * n_copies
        tops += [highest] * n_copies
        fine.append(above)
        some.append(packed(above != 0))
        every.append(packed(above == everybody))
    fence = np.repeat(list(pairwise(layout.first_word)), np.diff(layout.first_word), axis=0)
    return Bitmaps(
        points=layout.points,
        bits=layout.bits,
        rows=np.searchsorted(layout.bits, 64 * np.arange(len(fence) + 1)),
        fence=fence,
        fine=np.concatenate(fine),
        some=np.concatenate(some),
        every=np.concatenate(every),
        first=np.cumsum([0, *map(len, fine)]).astype(np.int32),
        shift=np.array(shift, dtype=np.int32),
        cuts=np.concatenate(cuts),
        tops=np.concatenate(tops),
        initial=layout.initial,
        rigid=layout.rigid,
    )


def _bins(known: Floats, most: int) -> tuple[Floats, Floats]:
    """Return the lowest and the highest value of every bin of a feature.

    Bins begin at distinct quantiles, at all values if there are few. Values that fill a bin by
    themselves are a bin by themselves. The last bin begins at infinity, so that it is empty.
    """
    values, counts = np.unique(known, return_counts=True)
    crowd = counts * most >= len(known)
    quantile = (np.cumsum(counts) - counts) * most // max(len(known), 1)
    begins = crowd | (len(values) <= most)
    begins[:1] = True
    begins[1:] |= crowd[:-1] | (np.diff(quantile) > 0)
    ends = np.append(begins[1:], True)
    return np.append(values[begins], np.inf), np.append(values[ends[: len(values)]], np.inf)

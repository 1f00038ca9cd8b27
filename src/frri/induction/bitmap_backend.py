"""The steps of induction in compiled kernels on bitmaps, for large tables, in several threads."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._compile import compiled
from frri._util import map_threads
from frri.cover.matrix import CoverMatrix
from frri.induction import _bitmap_kernels as kernels
from frri.induction._bitmap_kernels import BLOCK, Bitmaps, CoverWords
from frri.induction.class_layout import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Types, Words
    from frri.induction.class_layout import ClassLayout

# Rows of one call of a kernel; fewer than two such chunks stay in one thread.
CHUNK = 512
# Cuts per feature at least, and more while samples x cuts is small: more cuts leave fewer samples
# to be compared one by one, but the bitmaps no longer fit into the caches.
CUTS = 128
CELLS = 1 << 21
# Rows in a block that is sent to a worker, and number of blocks from which they become larger.
BLOCK_ROWS, MOST_BLOCKS = 4096, 1024


class BitmapBackend:
    """The steps of induction on a table, for all rows or for some of them.

    A block of rows needs the whole table and nothing else, so that blocks can be processed
    anywhere. A pickled backend contains only the table; bitmaps are built at the first step, once
    per process.

    Parameters
    ----------
    layout : ClassLayout
    n_jobs : int, optional
        Number of threads.

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
        self._set_up()

    def _set_up(self) -> None:
        self._building = threading.Lock()
        self._table: Bitmaps | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"layout": self.layout, "n_jobs": self.n_jobs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._set_up()

    @property
    def nbytes(self) -> int:
        """Size of a pickled backend."""
        return int(self.layout.points.nbytes + self.layout.samples.nbytes)

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

    def covers(self, confidence: Floats, types: Types) -> CoverMatrix:
        """Return the samples in the box of every sample, in the order of the table."""
        rows = self.layout.rows
        return self.cover_rows(rows, confidence[rows], types[rows])

    # --- Some rows

    def nearest_rows(self, low: int, high: int) -> Floats:
        """Return the confidences of the rows from `low` to `high`."""
        found = np.empty(high - low)
        compiled(kernels).nearest(self.table, self._levels, low, found)
        return np.minimum(found, 1, out=found)

    def shorten_rows(self, low: int, confidence: Floats, orders: Ints) -> Types:
        """Return the shortened types of the rows from `low` on, one for each confidence."""
        types = np.tile(self.layout.initial, (len(confidence), 1))
        limits = confidence - TOLERANCE
        compiled(kernels).prune(self.table, self._exact, limits, orders, low, types)
        return types

    def cover_rows(
        self, rows: Ints, confidence: Floats, types: Types, wanted: Words | None = None
    ) -> CoverMatrix:
        """Return what the boxes of some rows cover, in their order.

        Parameters
        ----------
        rows : ndarray of int
        confidence, types : ndarray
            Of these rows.
        wanted : ndarray of uint64, optional
            Set of samples to be covered; all by default.
        """
        order = np.argsort(rows, kind="stable")  # neighbors look at the same blocks
        among = self.table.fine[0].copy()
        if wanted is not None:
            among.reshape(-1)[: len(wanted)] &= wanted
        asked, limits, kept = rows[order], (confidence - TOLERANCE)[order], types[order]
        fast = compiled(kernels)

        def find(low: int, high: int) -> CoverWords:
            most = int(self._n_own_words[asked[low:high]].sum())
            lengths = np.zeros(high - low, dtype=np.int64)
            out = CoverWords(lengths, np.empty(most, np.int32), np.empty(most, np.uint64))
            n = fast.cover(
                self.table, asked[low:high], limits[low:high], kept[low:high], among, out
            )
            return CoverWords(lengths, out.words[:n].copy(), out.sets[:n].copy())

        parts = self._map_chunks(find, len(rows))
        lengths = np.concatenate([part.lengths for part in parts])
        indptr = np.zeros(len(rows) + 1, dtype=np.int64)
        indptr[1 + order] = lengths
        np.cumsum(indptr, out=indptr)
        starts = indptr[order]
        words = np.empty(indptr[-1], dtype=np.int32)
        sets = np.empty(indptr[-1], dtype=np.uint64)
        chunks = dict(zip(_chunks(len(rows)), parts, strict=True))
        parts.clear()

        def arrange(low: int, high: int) -> None:
            fast.arrange(chunks.pop((low, high)), starts[low:high], words, sets)

        map_threads(arrange, list(chunks), self.n_jobs)
        return CoverMatrix(indptr, words, sets, 64 * self.layout.first_word[-1])

    def _map_chunks(self, work: Callable[[int, int], Any], n_rows: int) -> list[Any]:
        # Kernels are compiled on no rows at all, in this thread, where Ctrl-C finds the compiler.
        work(0, 0)
        return map_threads(work, _chunks(n_rows), self.n_jobs)

    # --- Bitmaps

    @property
    def table(self) -> Bitmaps:
        """The bitmaps, built by the first thread that asks."""
        with self._building:
            if self._table is None:
                self._table = self._build()
            return self._table

    def _build(self) -> Bitmaps:
        layout, build = self.layout, compiled(kernels)
        n_rows = len(layout.points)
        first_word = np.array(layout.first_word)
        n_words = int(first_word[-1])
        word_class = np.repeat(np.arange(len(first_word) - 1), np.diff(first_word))
        fence = np.stack((first_word[word_class], first_word[word_class + 1]), axis=1)
        starts = np.arange(n_words) * 64 - 64 * first_word[word_class]
        rows = np.append(starts + np.array(layout.first_row)[word_class], n_rows)
        most = max(CUTS, CELLS // n_rows)
        first, cuts, tops = build.cut_into_bins(np.sort(layout.columns, axis=1), most)
        shift = np.zeros_like(first[1:])
        if layout.missing is not None:
            first, shift, cuts, tops = _copy_cuts(first, cuts, tops, layout.missing)
        n_blocks = -(-n_words // BLOCK)
        some = np.zeros((len(cuts), -(-n_blocks // 64)), dtype=np.uint64)
        table = Bitmaps(
            points=layout.points,
            bits=layout.bits,
            rows=rows,
            fence=fence,
            fine=np.zeros((len(cuts), n_blocks, BLOCK), dtype=np.uint64),
            some=some,
            every=np.zeros_like(some),
            first=first,
            shift=shift,
            cuts=cuts,
            tops=tops,
            starts=build.first_cuts(first, shift, cuts),
            initial=layout.initial,
            rigid=layout.rigid,
        )
        build.fill(table, layout.columns)
        self._exact = bool(np.array_equal(cuts, tops))
        self._n_own_words = np.diff(fence, axis=1)[layout.bits >> 6, 0]
        # Values in a byte each, for a rough distance; features are filled up to fours.
        m, n = layout.columns.shape
        self._levels = np.zeros((-(-m // 4) * 4, n), dtype=np.uint8)
        with np.errstate(invalid="ignore"):
            self._levels[:m] = np.fmin(255 * layout.columns, 255)
        return table


def _chunks(n_rows: int) -> list[tuple[int, int]]:
    """Return ranges of rows for one call of a kernel each."""
    if n_rows < 2 * CHUNK:
        return [(0, n_rows)]
    return [(start, min(start + CHUNK, n_rows)) for start in range(0, n_rows, CHUNK)]


def _copy_cuts(
    first: NDArray[np.int32], cuts: Floats, tops: Floats, missing: Flags
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats, Floats]:
    """Repeat the cuts of incomplete features; return the distance from each cut to its copy."""
    counts = np.diff(first)
    twice: Flags = np.logical_or.reduce(missing, axis=1)
    shift = np.where(twice, counts, np.int32(0))
    ends = zip(first[:-1], first[1:], twice, strict=True)
    index = np.concatenate([np.tile(np.arange(low, high), 1 + again) for low, high, again in ends])
    starts = np.concatenate((first[:1], np.cumsum(counts + shift, dtype=np.int32)))
    return starts, shift, cuts[index], tops[index]

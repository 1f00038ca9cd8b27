"""Three ways to do the steps of the induction on a table laid out: plain, small and large.

All give the same results to the last bit, by rows of the layout; covers by object.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from frri._compile import compiled
from frri._util import map_threads
from frri.cover import memory_bounded
from frri.cover.matrix import CoverMatrix
from frri.induction import _bitmap_kernels as bitmap
from frri.induction import _box_kernels as boxes
from frri.induction import _dense_kernels as dense
from frri.induction import numpy_backend

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Types, Words
    from frri.cover.memory_bounded import Peeled
    from frri.induction.layout import ClassLayout, WordRun

# Bytes of bitmaps for every value of a table, up to which it is a small one.
DENSE_UP_TO = 1 << 25
# Up to this many objects the compiled paths find the nearest enemy by looking at all pairs.
PAIRS_UP_TO = 8_000

# Rows that one call of a kernel for large tables works off; fewer than two of them stay in one thread.
CHUNK = 512
# Such a bitmap has at least this many cuts per attribute, and more while objects x cuts is small: more cuts
# leave fewer objects to be looked at one by one, but the bitmaps no room in the caches.
CUTS = 128
CELLS = 1 << 21


class Path(Protocol):
    """The three steps."""

    def confidences(self) -> Floats:
        """Distance to the nearest enemy, at most 1."""

    def shorten(self, limits: Floats, orders: Ints) -> Types:
        """The sides that each row's box keeps, by attribute."""

    def covered(self, limits: Floats, types: Types) -> CoverMatrix:
        """The objects in the box of every object."""


def is_small(layout: ClassLayout) -> bool:
    """Whether a bitmap for every value pays; then no value is missing and no attribute is special."""
    n, m = layout.points.shape
    few = m * n * n <= 8 * DENSE_UP_TO
    return few and layout.mutual and layout.rigid is None and layout.scaled


def written_out(
    path: Path, limits: Floats, types: Types, objects: Ints, room: int | None
) -> tuple[CoverMatrix, Peeled | None]:
    """Covers by object in so much room, as `frri.cover.memory_bounded` has it; only a large table is divided."""
    if room is None or not isinstance(path, Large):
        return path.covered(limits, types), None
    rows = path.layout.rows

    def source(candidates: Ints, wanted: Words | None = None) -> CoverMatrix:
        return path.covered_by(limits, types, rows[candidates], wanted)

    costs = np.count_nonzero(types, axis=1)[rows]
    return memory_bounded.written_out(source, objects, costs, room)


class Plain:
    """The steps in numpy."""

    def __init__(self, layout: ClassLayout) -> None:
        self.layout = layout

    @cached_property
    def ranking(self) -> numpy_backend.Ranking:
        """Rank the values of every attribute."""
        return numpy_backend.Ranking(self.layout.columns, self.layout.missing)

    def confidences(self) -> Floats:
        """Return the distance of every row to the nearest enemy, at most 1."""
        layout = self.layout
        if layout.mutual:
            found = numpy_backend.nearest(layout.columns, layout.first_row)
        else:
            found = numpy_backend.nearest_of_sides(
                layout.columns, layout.first_row, layout.all_initial
            )
        return np.minimum(found, 1, out=found)

    def shorten(self, limits: Floats, orders: Ints) -> Types:
        """Return the sides that each row's box keeps, by attribute."""
        layout = self.layout
        return numpy_backend.shorten(
            self.ranking, layout.bits, layout.first_row, layout.first_word, limits, orders,
            layout.initial, layout.rigid,
        )  # fmt: skip

    def covered(self, limits: Floats, types: Types) -> CoverMatrix:
        """Return the objects in the box of every object."""
        layout = self.layout
        found = numpy_backend.covered(
            self.ranking, layout.bits, layout.first_row, layout.first_word, limits, types
        )
        return layout.cover_matrix(*found)


class Small:
    """The steps in compiled kernels, with a bitmap for every value."""

    def __init__(self, layout: ClassLayout) -> None:
        self.layout = layout
        self.kernels = compiled(dense)
        self.first_row, self.first_word = np.array(layout.first_row), np.array(layout.first_word)
        self.n_blocks = -(-layout.first_word[-1] // boxes.BLOCK)
        self.placed: tuple[Floats, NDArray[np.int32]] | None = None

    @cached_property
    def table(self) -> tuple[Words, NDArray[np.int32], Floats, NDArray[np.int32]]:
        """Bitmaps, first cuts, cuts, and where to begin to look for one."""
        m, n = self.layout.columns.shape
        first, cuts = np.empty(m + 1, dtype=np.int32), np.empty(m * (n + 1))
        starts = np.empty((m, dense.BUCKETS + 1), dtype=np.int32)
        fine = np.empty((len(cuts), self.n_blocks, boxes.BLOCK), dtype=np.uint64)
        self.kernels.tabulate(self.layout.columns, self.layout.bits, first, cuts, starts, fine)
        return fine.reshape(-1, boxes.BLOCK), first, cuts, starts

    def confidences(self) -> Floats:
        """Return the distance of every row to the nearest enemy, at most 1."""
        found = np.empty(len(self.layout.points))
        self.kernels.nearest(self.layout.points, self.layout.columns, self.first_row, found)
        return np.minimum(found, 1, out=found)

    def cutoffs(self, limits: Floats) -> NDArray[np.int32]:
        """The sides of all boxes among the cuts; shortening and covering mostly ask for the same."""
        if self.placed is None or self.placed[0] is not limits:
            cutoffs = np.empty((*self.layout.points.shape, 2), dtype=np.int32)
            self.kernels.place(self.layout.points, limits, *self.table[1:], cutoffs)
            self.placed = limits, cutoffs
        return self.placed[1]

    def shorten(self, limits: Floats, orders: Ints) -> Types:
        """Return the sides that each row's box keeps, by attribute."""
        fine, first, *_ = self.table
        types = np.empty(self.layout.points.shape, dtype=np.int8)
        self.kernels.prune(
            self.first_row, self.first_word, fine, self.n_blocks, first, self.cutoffs(limits), limits,
            orders, types,
        )  # fmt: skip
        return types

    def covered(self, limits: Floats, types: Types) -> CoverMatrix:
        """Return the objects in the box of every object."""
        layout = self.layout
        fine, first, cuts, _ = self.table
        sizes = np.diff(self.first_word)
        word_class = np.repeat(np.arange(len(sizes)), sizes)
        most = int(np.diff(self.first_row) @ sizes) + 1
        indptr = np.zeros(len(layout.points) + 1, dtype=np.int64)
        words, sets = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.uint64)
        n = self.kernels.covered(
            layout.points, layout.bits, layout.rows, word_class, self.first_word, fine, self.n_blocks,
            first, cuts, self.cutoffs(limits), limits, types, indptr[1:], words, sets,
        )  # fmt: skip
        return CoverMatrix(indptr, words[:n].copy(), sets[:n].copy(), 64 * layout.first_word[-1])


class Large:
    """The steps in compiled kernels, with bitmaps for some values, in several threads."""

    def __init__(self, layout: ClassLayout, n_jobs: int | None = None) -> None:
        self.kernels = compiled(bitmap)
        self.layout = layout
        self.n_jobs = n_jobs
        initial = None if layout.mutual and layout.rigid is None else layout.all_initial
        self.rigid = layout.rigid
        if initial is not None and self.rigid is None:
            self.rigid = np.zeros(len(initial), dtype=np.bool_)
        self.n_rows = len(layout.points)
        first_word = np.array(layout.first_word)
        n_words = int(first_word[-1])
        word_of_class = np.repeat(np.arange(len(first_word) - 1), np.diff(first_word))
        fence = np.stack((first_word[word_of_class], first_word[word_of_class + 1]), axis=1)
        word_starts = np.append(
            np.arange(n_words) * 64
            - 64 * first_word[word_of_class]
            + np.array(layout.first_row)[word_of_class],
            self.n_rows,
        )
        most = max(CUTS, CELLS // self.n_rows)
        first, cuts, tops = compiled(boxes).bins(np.sort(layout.columns, axis=1), most)
        shift = np.zeros_like(first[1:])
        if layout.missing is not None:
            first, shift, cuts, tops = _with_copies(first, cuts, tops, layout.missing)
        starts = compiled(boxes).buckets(first, shift, cuts)
        n_blocks = -(-n_words // boxes.BLOCK)
        fine = np.zeros((len(cuts), n_blocks, boxes.BLOCK), dtype=np.uint64)
        some = np.zeros((len(cuts), -(-n_blocks // 64)), dtype=np.uint64)
        every = np.zeros_like(some)
        compiled(boxes).fill(
            layout.columns, layout.bits, first, shift, cuts, starts, fine, some, every
        )
        self.exact = bool(np.array_equal(cuts, tops))
        self.every_row = np.arange(self.n_rows)
        self.n_own_words = np.diff(fence, axis=1)[layout.bits >> 6, 0]
        self.arrays = (
            layout.points, layout.bits, word_starts, fence, fine, some, every, first, shift, cuts, tops,
            starts, initial,
        )  # fmt: skip

    @cached_property
    def levels(self) -> NDArray[np.uint8]:
        """Values in a byte each, which tell roughly who is near; attributes are filled up to fours."""
        m, n = self.layout.columns.shape
        levels = np.zeros((-(-m // 4) * 4, n), dtype=np.uint8)
        with np.errstate(invalid="ignore"):
            levels[:m] = np.fmin(255 * self.layout.columns, 255)
        return levels

    def confidences(self) -> Floats:
        """Return the distance of every row to the nearest enemy, at most 1."""
        layout = self.layout
        found = np.empty(self.n_rows)
        if self.n_rows <= PAIRS_UP_TO and layout.mutual and layout.scaled:
            first_row = np.array(layout.first_row)
            compiled(dense).nearest(layout.points, layout.columns, first_row, found)
        else:
            self.run(lambda low, high: self.some_nearest(low, high, found))
            del self.levels  # not needed twice
        return np.minimum(found, 1, out=found)

    def some_nearest(self, low: int, high: int, found: Floats) -> None:
        """Distance to the nearest enemy of some rows."""
        self.kernels.nearest(self.levels, *self.arrays, low, high, found)

    def shorten(self, limits: Floats, orders: Ints) -> Types:
        """Return the sides that each row's box keeps, by attribute."""
        types = np.empty(self.layout.points.shape, dtype=np.int8)
        self.run(lambda low, high: self.some_shortened(limits, orders, low, high, types))
        return types

    def some_shortened(
        self, limits: Floats, orders: Ints, low: int, high: int, types: Types
    ) -> None:
        """The sides that the boxes of some rows keep."""
        types[low:high] = self.layout.all_initial
        self.kernels.prune(*self.arrays, self.rigid, limits, orders, self.exact, low, high, types)

    def covered(self, limits: Floats, types: Types) -> CoverMatrix:
        """Return the objects in the box of every object."""
        return self.covered_by(limits, types, self.layout.rows)

    def covered_by(
        self,
        limits: Floats,
        types: Types,
        asked: Ints,
        wanted: Words | None = None,
    ) -> CoverMatrix:
        """What the boxes of some rows contain, in their order, of the objects wanted (as words) or of all."""
        order = np.argsort(asked, kind="stable")  # neighbours look at the same blocks
        in_order, among = asked[order], self.arrays[4][0].copy()
        if wanted is not None:
            among.reshape(-1)[: len(wanted)] &= wanted
        lengths = np.zeros(len(asked), dtype=np.int64)
        chunks = self.chunks(0, len(asked))
        parts = self.run(
            lambda low, high: self.some_covered(limits, types, low, high, lengths, in_order, among),
            chunks,
        )
        indptr = np.zeros(len(asked) + 1, dtype=np.int64)
        indptr[1 + order] = lengths
        np.cumsum(indptr, out=indptr)
        starts = indptr[order]
        words = np.empty(indptr[-1], dtype=np.int32)
        sets = np.empty(indptr[-1], dtype=np.uint64)

        def arrange(low: int, high: int) -> None:
            part, parts[low // CHUNK] = parts[low // CHUNK], ()  # not needed twice
            self.kernels.arrange(*part, starts, lengths, low, high, words, sets)

        map_threads(arrange, chunks, self.n_jobs)
        return CoverMatrix(indptr, words, sets, 64 * self.layout.first_word[-1])

    def some_covered(
        self,
        limits: Floats,
        types: Types,
        low: int,
        high: int,
        lengths: Ints,
        asked: Ints | None = None,
        among: Words | None = None,
    ) -> WordRun:
        """The words that the rules of some rows cover; notes how many are of each row.

        The rows from `low` to `high` of all, or of those asked for; of the objects in a set, or of all.
        """
        asked = self.every_row if asked is None else asked
        among = self.arrays[4][0] if among is None else among
        most = int(self.n_own_words[asked[low:high]].sum())
        words, sets = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.uint64)
        n = self.kernels.covered(
            *self.arrays, limits, types, asked, among, low, high, lengths, words, sets
        )
        return words[:n].copy(), sets[:n].copy()

    def run(
        self, work: Callable[[int, int], Any], chunks: list[tuple[int, int]] | None = None
    ) -> list[Any]:
        """The work on all rows, or what takes their place, chunk by chunk."""
        # Kernels are compiled on no rows at all, in this thread: only here Ctrl-C finds the compiler.
        work(0, 0)
        return map_threads(work, self.chunks() if chunks is None else chunks, self.n_jobs)

    def chunks(self, low: int = 0, high: int | None = None) -> list[tuple[int, int]]:
        """The rows, or some of them, as many at a time as one call works off."""
        end = self.n_rows if high is None else high
        if end - low < 2 * CHUNK:
            return [(low, end)]
        return [(start, min(start + CHUNK, end)) for start in range(low, end, CHUNK)]


def _with_copies(
    first: NDArray[np.int32], cuts: Floats, tops: Floats, missing: Flags
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats, Floats]:
    """Incomplete attributes with their cuts twice, and how far the copies are from the originals."""
    counts = np.diff(first)
    twice: Flags = np.logical_or.reduce(missing, axis=1)
    shift = np.where(twice, counts, np.int32(0))
    ends = zip(first[:-1], first[1:], twice, strict=True)
    index = np.concatenate([np.tile(np.arange(low, high), 1 + again) for low, high, again in ends])
    starts = np.concatenate((first[:1], np.cumsum(counts + shift, dtype=np.int32)))
    return starts, shift, cuts[index], tops[index]

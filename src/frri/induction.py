"""From a scaled table to candidate rules: confidences, shortened conditions, covered objects.

The three steps of FRRI before the selection of rules. Every object owns a box around itself that
no *enemy* (object of another class) enters; its half-width is the object's confidence. Shortening
opens sides of that box as long as it stays free of enemies; what the opened box then contains is
what the object's rule covers.

Attributes are numbers scaled to [0, 1], unless they are declared otherwise:

- A missing value (NaN) is similar to everything: it fails no condition, and a condition on it is
  failed by nobody, so that no rule uses what its own object misses.
- `initial` has the type from which each attribute starts in every rule. AT_MOST and AT_LEAST take
  the place of SIMILAR, in the confidences as well; UNUSED leaves the attribute out.
- `rigid` attributes are used as they start or not at all. A nominal attribute is a rigid column of
  category codes 0, 1, 2 and so on: since distances count up to 1, different categories fail by 1.

All three ask which objects lie beyond a side of a box, for every object and attribute. Objects are
therefore bits, grouped by class in words of 64, and the answers come as whole words. A small table
is worked in plain numpy (`frri.kernels.plain`), so that it never waits for a compiler; a large one
in compiled kernels (`frri.kernels.bitmap`) if numba is installed. Both give the same results to the
last bit.
"""

from __future__ import annotations

import enum
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri.compiling import compiled as compiled_twin
from frri.compiling import numba_installed
from frri.cover.covers import Covers
from frri.kernels import bitmap, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Part = tuple[NDArray[np.int32], NDArray[np.uint64]]

# Shortening asks for failures above `confidence - TOLERANCE`, covering for distances below it.
TOLERANCE = 1e-6

# Tables of more objects than this are worth waiting for the compiler.
COMPILED_FROM = 10_000

# Classes of more objects than this are put in an order that keeps neighbours in the same word.
_CLUSTERED_FROM = 1024
# Rows that one call of a compiled kernel works off; fewer rows than two of them stay in one thread.
_CHUNK = 512
# A bitmap has at least this many cuts per attribute, and more while objects x cuts is small.
_CUTS = 64
_CELLS = 1 << 19
# Up to this many objects the compiled path finds the nearest enemy by looking at all pairs.
_PAIRS_UP_TO = 8_000


class ConditionType(enum.IntEnum):
    """How a rule uses an attribute: a flag for each side of the anchor's value that is bounded.

    Examples
    --------
    >>> ConditionType.AT_MOST | ConditionType.AT_LEAST == ConditionType.SIMILAR
    True
    """

    UNUSED = 0
    AT_MOST = 1  # smaller than or similar: the paper's DOMINANT
    AT_LEAST = 2  # greater than or similar: the paper's DOMINATED
    SIMILAR = 3


class Candidates(NamedTuple):
    """What `induce` returns: one candidate rule per object, and what each of them covers."""

    confidence: Floats
    types: NDArray[np.int8]
    covers: Covers
    positions: Integers
    seconds: dict[str, float]  # per step


def confidences(
    values: ArrayLike,
    classes: ArrayLike,
    *,
    initial: ArrayLike | None = None,
    compiled: bool | None = None,
) -> Floats:
    """Membership of every object in the lower approximation of its own class.

    With the minimum t-norm over the attributes this is the Chebyshev distance to the nearest enemy,
    or 1 if that is less.

    Parameters
    ----------
    values : array-like of float, shape (n_objects, n_attributes)
        Scaled to [0, 1], codes of nominal attributes excepted; NaN where missing.
    classes : array-like of int, shape (n_objects,)
        Class codes from 0.
    initial : array-like of int, shape (n_attributes,), optional
        Codes of `ConditionType`, SIMILAR throughout if left out.
    compiled : bool, optional
        Force or forbid the compiled kernels; left out, `use_compiled` decides.

    Returns
    -------
    ndarray of float64, shape (n_objects,)
        1 for every object if there is only one class.

    Examples
    --------
    >>> confidences([[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 0, 1])
    array([1.  , 0.75, 0.75])
    >>> confidences([[0, 0.5], [2, np.nan], [2, 0.0]], [0, 0, 1])  # the first attribute is nominal
    array([1., 0., 0.])
    """
    table = _Table(values, classes, initial)
    return table.by_object(table.steps("confidences", compiled).confidences())


def shorten(
    values: ArrayLike,
    classes: ArrayLike,
    confidence: ArrayLike,
    order: ArrayLike,
    *,
    initial: ArrayLike | None = None,
    rigid: ArrayLike | None = None,
    compiled: bool | None = None,
) -> NDArray[np.int8]:
    """Shortened conditions of every object's rule (RULE_PRUNE of the paper).

    Starting from SIMILAR throughout, each attribute in turn gets the first of UNUSED, AT_MOST,
    AT_LEAST and SIMILAR under which every enemy still fails some condition by more than
    `confidence - TOLERANCE`. An attribute that starts from another type gets UNUSED or that one, a
    rigid one UNUSED or SIMILAR.

    Parameters
    ----------
    values, classes : array-like
        As for `confidences`.
    confidence : array-like of float, shape (n_objects,)
        At most the distance to the nearest enemy, as `confidences` gives it.
    order : array-like of int, shape (n_attributes,) or (n_objects, n_attributes)
        The order in which attributes are tried; one for all objects or one for each.
    initial : array-like of int, shape (n_attributes,), optional
        As for `confidences`.
    rigid : array-like of bool, shape (n_attributes,), optional
        Which attributes are used as they start or not at all; none if left out.
    compiled : bool, optional
        As for `confidences`.

    Returns
    -------
    ndarray of int8, shape (n_objects, n_attributes)
        Codes of `ConditionType`. An object with a confidence below the tolerance uses no attribute.

    Examples
    --------
    >>> values, classes = [[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 0, 1]
    >>> shorten(values, classes, confidences(values, classes), [0, 1])
    array([[1, 0],
           [1, 0],
           [2, 0]], dtype=int8)
    """
    table = _Table(values, classes, initial, rigid)
    limits = table.limits(np.asarray(confidence, dtype=np.float64)[table.objects])
    orders = table.orders(order)
    return table.by_object(table.steps("shorten", compiled).shorten(limits, orders))


def covers(
    values: ArrayLike,
    classes: ArrayLike,
    confidence: ArrayLike,
    types: ArrayLike,
    *,
    compiled: bool | None = None,
) -> tuple[Covers, Integers]:
    """Which objects the rule of every object covers.

    A rule covers the objects whose distance to its anchor, under its conditions, is below
    `confidence - TOLERANCE`. All of them are of its own class.

    Parameters
    ----------
    values, classes, confidence : array-like
        As for `shorten`.
    types : array-like of int, shape (n_objects, n_attributes)
        Codes of `ConditionType`, as `shorten` gives them.
    compiled : bool, optional
        As for `confidences`.

    Returns
    -------
    covers : Covers
        Candidate `i` is the rule of object `i`. A void rule, whose confidence does not exceed the
        tolerance, covers nothing.
    positions : ndarray of int64, shape (n_objects,)
        The bit that stands for each object. Classes begin at multiples of 64; bits that stand for
        no object are covered by nobody.

    Examples
    --------
    >>> values, classes = [[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 0, 1]
    >>> confidence = confidences(values, classes)
    >>> types = shorten(values, classes, confidence, [0, 1])
    >>> covered, positions = covers(values, classes, confidence, types)
    >>> covered.to_dense()[:, positions]
    array([[ True,  True, False],
           [ True,  True, False],
           [False, False,  True]])
    """
    table = _Table(values, classes)
    limits = table.limits(np.asarray(confidence, dtype=np.float64)[table.objects])
    conditions = np.ascontiguousarray(np.asarray(types, dtype=np.int8)[table.objects])
    found = table.steps("covers", compiled).cover(limits, conditions)
    return table.covers(*found), table.positions


def induce(
    values: ArrayLike,
    classes: ArrayLike,
    order: ArrayLike,
    *,
    initial: ArrayLike | None = None,
    rigid: ArrayLike | None = None,
    compiled: bool | None = None,
) -> Candidates:
    """All three steps, with what they have in common done once.

    Parameters
    ----------
    values, classes, order, initial, rigid : array-like
        As for `shorten`.
    compiled : bool, optional
        As for `confidences`.

    Returns
    -------
    Candidates
        `confidence`, `types`, `covers` and `positions`, as the single steps give them, and the
        `seconds` that each took.

    Examples
    --------
    >>> found = induce([[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 0, 1], [0, 1])
    >>> found.confidence
    array([1.  , 0.75, 0.75])
    >>> found.covers.sizes()
    array([2, 2, 1])
    """
    laps = [perf_counter()]
    table = _Table(values, classes, initial, rigid)
    steps = table.steps("induce", compiled)
    confidence = steps.confidences()
    laps.append(perf_counter())
    limits = table.limits(confidence)
    types = steps.shorten(limits, table.orders(order))
    laps.append(perf_counter())
    covered = table.covers(*steps.cover(limits, types))
    laps.append(perf_counter())
    lengths = (end - start for start, end in pairwise(laps))
    seconds = dict(zip(("confidences", "shortening", "covering"), lengths, strict=True))
    return Candidates(
        table.by_object(confidence), table.by_object(types), covered, table.positions, seconds
    )


_compiled_before: set[str] = set()


def use_compiled(n_objects: int, step: str = "induce") -> bool:
    """Whether the compiled kernels do a step on a table of this size.

    They do when the table is worth the wait for the compiler, or when there is no wait because they
    have done the same step before in this process.

    Examples
    --------
    >>> use_compiled(100, "a step never done before")
    False
    """
    worth_it = n_objects > COMPILED_FROM or step in _compiled_before
    return worth_it and numba_installed()


# --- The table


class _Table:
    """Objects grouped by class, each class in whole words of 64 bits.

    *Rows* count the objects in this grouping, *bits* are their positions in sets; the two differ
    by the bits left unused at the end of each class.

    `initial`, `rigid` and `missing` (a mask like `columns`) are None where there is nothing to say:
    no type but SIMILAR, nothing rigid, nothing missing.
    """

    def __init__(
        self,
        values: ArrayLike,
        classes: ArrayLike,
        initial: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
    ) -> None:
        matrix = np.asarray(values, dtype=np.float64)
        self.initial, self.rigid = _declared(initial, rigid)
        if self.initial is not None:
            # What is always 0 is never needed.
            matrix = np.where(self.initial == ConditionType.UNUSED, 0.0, matrix)
        incomplete = bool(np.isnan(matrix.sum()))
        codes = np.asarray(classes)
        sizes = np.bincount(codes)
        ends = np.cumsum(sizes)
        self.first_row = [0, *ends.tolist()]
        self.first_word = [0, *np.cumsum((sizes + 63) >> 6).tolist()]
        self.objects = np.argsort(codes, kind="stable")
        for start, end in pairwise(self.first_row):
            if end - start > _CLUSTERED_FROM:
                members = self.objects[start:end]
                points = matrix[members]
                if incomplete or self.rigid is not None:
                    points = _comparable(points)
                members[:] = members[_clustered(points)]
        self.points = np.ascontiguousarray(matrix[self.objects])
        self.columns = np.ascontiguousarray(self.points.T)
        self.missing = np.isnan(self.columns) if incomplete else None
        gaps = 64 * np.array(self.first_word[:-1]) - np.array(self.first_row[:-1])
        self.bits = np.arange(len(matrix)) + np.repeat(gaps, sizes)
        self.rows = np.empty(len(matrix), dtype=np.int64)
        self.rows[self.objects] = np.arange(len(matrix))
        self.positions = self.bits[self.rows]

    def steps(self, step: str, compiled: bool | None) -> _Plain | _Compiled:
        """The path to take."""
        # What one kind of table has compiled is of no use to another.
        if self.initial is not None or self.missing is not None:
            step = f"{step} with open sides"
        elif self.rigid is not None:
            step = f"{step} with rigid attributes"
        if compiled is None:
            compiled = use_compiled(len(self.points), step)
        if not compiled:
            return _Plain(self)
        _compiled_before.add(step)
        return _Compiled(self)

    def limits(self, confidence: Floats) -> Floats:
        """How far from the anchor of each row its box reaches."""
        return confidence - TOLERANCE

    def orders(self, order: ArrayLike) -> Integers:
        """The attribute order of each row, or a single one for all."""
        orders = np.array(order, dtype=np.int64, ndmin=2)
        return orders if len(orders) == 1 else np.ascontiguousarray(orders[self.objects])

    def by_object(self, by_row: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(by_row)[self.rows]

    def covers(self, lengths: Integers, parts: list[Part]) -> Covers:
        """Covers by object from the words per row and all words in parts; consumes the parts."""
        indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths[self.rows], out=indptr[1:])
        words = np.empty(indptr[-1], dtype=np.int32)
        sets = np.empty(indptr[-1], dtype=np.uint64)
        ends = np.cumsum(lengths)
        shifts = indptr[self.objects] - ends + lengths
        row = done = 0
        parts.reverse()
        while parts:
            some_words, some_sets = parts.pop()
            last = int(np.searchsorted(ends, done + len(some_words), side="right"))
            target = np.repeat(shifts[row:last], lengths[row:last])
            target += np.arange(done, done + len(some_words))
            words[target], sets[target] = some_words, some_sets
            row, done = last, done + len(some_words)
        return Covers(indptr, words, sets, 64 * self.first_word[-1])


def _declared(
    initial: ArrayLike | None, rigid: ArrayLike | None
) -> tuple[NDArray[np.int8] | None, NDArray[np.bool_] | None]:
    """What is declared about attributes as arrays, None where it is what holds for all anyway."""
    types = None if initial is None else np.asarray(initial, dtype=np.int8)
    flags = None if rigid is None else np.asarray(rigid, dtype=np.bool_)
    if types is not None and flags is not None:
        # A single side is kept or not in any case.
        flags = flags & (types == ConditionType.SIMILAR)
    if types is not None and (types == ConditionType.SIMILAR).all():
        types = None
    if flags is not None and not flags.any():
        flags = None
    return types, flags


def _comparable(points: Floats) -> Floats:
    """Points without missing values, all attributes in [0, 1]: only their rough place matters."""
    filled = np.nan_to_num(points, nan=0.5)
    filled /= np.maximum(filled.max(axis=0), 1.0)
    return filled


def _clustered(points: Floats) -> Integers:
    """Order points so that every run of 64 is a leaf of a k-d tree.

    Splits halve the words along the attribute of largest variance; within a leaf the points keep
    their order. Ties are split by index, so the order depends on nothing but the points.
    """
    ranks = np.empty(points.shape, dtype=np.int32)
    by_rank = np.argsort(points, axis=0, kind="stable")
    np.put_along_axis(ranks, by_rank, np.arange(len(points), dtype=np.int32)[:, None], axis=0)
    ordered = np.arange(len(points))
    pending = [(0, len(points))]
    while pending:
        start, end = pending.pop()
        left = (end - start + 63) // 128 * 64
        if not left:
            continue
        members = ordered[start:end]
        sample = points[members[:: 1 + len(members) // 256]]
        keys = ranks[members, sample.var(axis=0).argmax()]
        smaller = keys < np.partition(keys, left)[left]
        ordered[start:end] = np.concatenate((members[smaller], members[~smaller]))
        pending += [(start, start + left), (start + left, end)]
    return ordered


# --- The two paths, by rows


class _Plain:
    """The steps in numpy."""

    def __init__(self, table: _Table) -> None:
        self.table = table

    @cached_property
    def ranking(self) -> plain.Ranking:
        return plain.Ranking(self.table.columns, self.table.missing)

    def confidences(self) -> Floats:
        table = self.table
        if table.initial is None and table.missing is None:
            found = plain.nearest(table.columns, table.first_row)
        else:
            sides = _sides(table)
            found = plain.nearest_of_sides(table.columns, table.first_row, sides)
        return np.minimum(found, 1, out=found)

    def shorten(self, limits: Floats, orders: Integers) -> NDArray[np.int8]:
        table = self.table
        return plain.shorten(
            self.ranking, table.bits, table.first_row, table.first_word, limits, orders,
            table.initial, table.rigid,
        )  # fmt: skip

    def cover(self, limits: Floats, types: NDArray[np.int8]) -> tuple[Integers, list[Part]]:
        table = self.table
        return plain.cover(
            self.ranking, table.bits, table.first_row, table.first_word, limits, types
        )


def _sides(table: _Table) -> NDArray[np.int8]:
    """The type from which each attribute starts, which says what sides a box may have."""
    if table.initial is None:
        return np.full(len(table.columns), ConditionType.SIMILAR, dtype=np.int8)
    return table.initial


class _Compiled:
    """The steps in compiled kernels, large tables in several threads."""

    def __init__(self, table: _Table) -> None:
        self.kernels = compiled_twin(bitmap)
        self.initial = _sides(table)
        self.mutual = table.initial is None and table.missing is None
        sides = None if self.mutual and table.rigid is None else self.initial
        self.rigid = table.rigid
        if sides is not None and self.rigid is None:
            self.rigid = np.zeros(len(sides), dtype=np.bool_)
        self.n_rows = len(table.points)
        self.columns = table.columns
        self.first_row = np.array(table.first_row)
        first_word = np.array(table.first_word)
        n_words = int(first_word[-1])
        word_of_class = np.repeat(np.arange(len(first_word) - 1), np.diff(first_word))
        fence = np.stack((first_word[word_of_class], first_word[word_of_class + 1]), axis=1)
        word_starts = np.append(
            np.arange(n_words) * 64
            - 64 * first_word[word_of_class]
            + np.array(table.first_row)[word_of_class],
            self.n_rows,
        )
        most = max(_CUTS, _CELLS // self.n_rows)
        first, cuts, tops = self.kernels.bins(np.sort(table.columns, axis=1), most)
        shift = np.zeros_like(first[1:])
        if table.missing is not None:
            first, shift, cuts, tops = _with_copies(first, cuts, tops, table.missing)
        starts = self.kernels.buckets(first, shift, cuts)
        n_blocks = -(-n_words // bitmap.BLOCK)
        fine = np.zeros((len(cuts), n_blocks, bitmap.BLOCK), dtype=np.uint64)
        some = np.zeros((len(cuts), -(-n_blocks // 64)), dtype=np.uint64)
        every = np.zeros_like(some)
        self.kernels.fill(table.columns, table.bits, first, shift, cuts, starts, fine, some, every)
        self.exact = bool(np.array_equal(cuts, tops))
        self.n_own_words = np.diff(fence, axis=1)[table.bits >> 6, 0]
        self.arrays = (
            table.points, table.bits, word_starts, fence, fine, some, every, first, shift, cuts, tops,
            starts, sides,
        )  # fmt: skip

    def confidences(self) -> Floats:
        if self.n_rows <= _PAIRS_UP_TO and self.mutual:
            found = self.pairs()
        else:
            found = np.empty(self.n_rows)
            self.run(lambda low, high: self.kernels.nearest(*self.arrays, low, high, found))
            # No rows at all: small tables to come shall find this kernel compiled as well.
            self.kernels.pairs(self.columns, self.first_row, 0, 0, found)
        return np.minimum(found, 1, out=found)

    def pairs(self) -> Floats:
        def some_rows(low: int, high: int) -> Floats:
            found = np.full(self.n_rows, np.inf)
            self.kernels.pairs(self.columns, self.first_row, low, high, found)
            return found

        found: Floats = np.minimum.reduce(self.run(some_rows))
        return found

    def shorten(self, limits: Floats, orders: Integers) -> NDArray[np.int8]:
        types = np.empty((self.n_rows, len(self.initial)), dtype=np.int8)
        types[:] = self.initial
        self.run(
            lambda low, high: self.kernels.prune(
                *self.arrays, self.rigid, limits, orders, self.exact, low, high, types
            )
        )
        return types

    def cover(self, limits: Floats, types: NDArray[np.int8]) -> tuple[Integers, list[Part]]:
        lengths = np.empty(self.n_rows, dtype=np.int64)

        def some_rows(low: int, high: int) -> Part:
            most = int(self.n_own_words[low:high].sum())
            words, sets = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.uint64)
            n = self.kernels.cover(
                *self.arrays, self.columns, limits, types, low, high, lengths, words, sets
            )
            return words[:n].copy(), sets[:n].copy()

        return lengths, self.run(some_rows)

    def run(self, work: Callable[[int, int], Any]) -> list[Any]:
        """The work on all rows, chunk by chunk."""
        if self.n_rows < 2 * _CHUNK:
            return [work(0, self.n_rows)]
        lows = range(0, self.n_rows, _CHUNK)
        highs = [min(low + _CHUNK, self.n_rows) for low in lows]
        with ThreadPoolExecutor(_n_threads()) as pool:
            return list(pool.map(work, lows, highs))


def _with_copies(
    first: NDArray[np.int32], cuts: Floats, tops: Floats, missing: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats, Floats]:
    """Incomplete attributes with their cuts twice, and how far the copies are from the originals."""
    counts = np.diff(first)
    twice: NDArray[np.bool_] = np.logical_or.reduce(missing, axis=1)
    shift = np.where(twice, counts, np.int32(0))
    ends = zip(first[:-1], first[1:], twice, strict=True)
    index = np.concatenate([np.tile(np.arange(low, high), 1 + again) for low, high, again in ends])
    starts = np.concatenate((first[:1], np.cumsum(counts + shift, dtype=np.int32)))
    return starts, shift, cuts[index], tops[index]


def _n_threads() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1

"""The steps of induction for some objects of a large table at a time, wherever the table has been sent.

A block of objects needs the whole table and nothing else: what is near an object, what its box may contain
and what it covers does not depend on the boxes of others.
"""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from frri.induction import limits_of
from frri.induction.backends import Large, is_small
from frri.induction.layout import ClassLayout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from frri._util import Floats, Ints, Types, Words
    from frri.cover.matrix import CoverMatrix

# Objects in a block, and how many blocks there are at most before they become larger.
BLOCK, MOST_BLOCKS = 4096, 1024


class RowBlocks:
    """A table whose objects are worked off in blocks.

    Objects are counted as *rows*, class by class and within a class near to near; `objects` says which
    object a row is. Bitmaps are made at the first step, once in every process that a table is sent to.

    Parameters
    ----------
    values, classes, initial, rigid : array-like
        As for `frri.induction.shorten`.

    Examples
    --------
    >>> values, classes = [[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 1, 0]
    >>> table = RowBlocks(values, classes)
    >>> table.objects.tolist(), table.ranges()
    ([0, 2, 1], [(0, 2), (2, 3)])
    >>> confidence = table.confidences(0, 2)
    >>> confidence
    array([0.25, 0.75])
    >>> types = table.shorten(0, 2, confidence, np.array([[0, 1]]))
    >>> types
    array([[1, 0],
           [2, 0]], dtype=int8)
    >>> table.covers(0, 2, confidence, types).sizes()
    array([1, 1])
    """

    def __init__(
        self,
        values: ArrayLike,
        classes: ArrayLike,
        initial: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
    ) -> None:
        self.layout = ClassLayout(values, classes, initial, rigid)
        self._path: Large | None = None
        self._making = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"layout": self.layout}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.layout = state["layout"]
        self._path, self._making = None, threading.Lock()

    @property
    def objects(self) -> Ints:
        """The object of each row."""
        return self.layout.objects

    @property
    def nbytes(self) -> int:
        """How much is sent with it."""
        return int(self.layout.points.nbytes + self.layout.objects.nbytes)

    @property
    def is_small(self) -> bool:
        """Whether one machine would have room for whatever it covers."""
        return is_small(self.layout)

    def ranges(self) -> list[tuple[int, int]]:
        """The rows of each block, all of one class; they depend on the sizes of the classes alone."""
        size = max(BLOCK, -(-len(self.objects) // MOST_BLOCKS))
        return [
            (low, min(low + size, end))
            for start, end in pairwise(self.layout.first_row)
            for low in range(start, end, size)
        ]

    def confidences(self, low: int, high: int) -> Floats:
        """The confidences of some rows."""
        found = np.empty(self.path.n_rows)
        self.path.some_nearest(low, high, found)
        return np.minimum(found[low:high], 1)

    def shorten(self, low: int, high: int, confidence: Floats, orders: Ints) -> Types:
        """The conditions of some rows, whose confidences and orders (or the one of all) are given."""
        types = np.empty(self.layout.points.shape, dtype=np.int8)
        if len(orders) > 1:
            orders = self._spread(orders, low, high)
        self.path.some_shortened(self._limits(confidence, low, high), orders, low, high, types)
        return types[low:high].copy()

    def covers(
        self,
        low: int,
        high: int,
        confidence: Floats,
        types: Types,
        wanted: Words | None = None,
        asked: Ints | None = None,
    ) -> CoverMatrix:
        """What the rules of some rows cover: all of them, or those asked for; of objects wanted, or of all."""
        path, limits = self.path, self._limits(confidence, low, high)
        rows = np.arange(low, high) if asked is None else asked
        return path.covered_by(limits, self._spread(types, low, high), rows, wanted)

    @property
    def path(self) -> Large:
        """The bitmaps, with the kernels that read them; made by the first thread that asks."""
        with self._making:
            if self._path is None:
                self._path = Large(self.layout, n_jobs=1)
        return self._path

    def _limits(self, confidence: Floats, low: int, high: int) -> Floats:
        return self._spread(limits_of(confidence), low, high)

    def _spread(self, some: NDArray[Any], low: int, high: int) -> NDArray[Any]:
        """An array for all rows of which those from `low` to `high` are known; no others are read."""
        spread = np.empty((len(self.objects), *some.shape[1:]), dtype=some.dtype)
        spread[low:high] = some
        return spread

"""The steps of induction for decisions that agree by degrees, on a table as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._compile import compiled as compiled_kernels
from frri._compile import pays
from frri._util import map_threads
from frri.cover.matrix import CoverMatrix
from frri.induction import _fuzzy_decision_kernels as kernels
from frri.induction.layout import BOTH_SIDES, NO_SIDE, declared

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from frri._util import Floats, Ints, Types

# Pairs of objects x attributes that are worth waiting for the compiler, or loading what it has left.
COMPILED_FROM, LOADED_FROM = 1_000_000_000, 50_000_000

# Rows that one call of a compiled kernel works off.
CHUNK = 512


class Graded(NamedTuple):
    """Decisions that are numbers: these agree the more the nearer they are, from `tau` on not at all.

    Parameters
    ----------
    numbers : array-like of float, shape (n_objects,)
    tau : float
        Above 0.

    Examples
    --------
    >>> Graded([10.0, 12.0, 20.0], 4.0).agreement().tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    numbers: ArrayLike
    tau: float

    def agreement(self) -> Floats:
        """D(u, v) = max(0, 1 - |y(v) - y(u)| / tau) for all pairs of objects."""
        y = np.asarray(self.numbers, dtype=np.float64)
        return np.maximum(0.0, 1.0 - np.abs(y[None, :] - y[:, None]) / self.tau)


class GradedTable:
    """A table in the order of its objects, with the steps on it: layout and path in one.

    The names are those of `frri.induction.layout.ClassLayout` and `frri.induction.backends.Path`.
    """

    def __init__(
        self,
        values: ArrayLike,
        decisions: Graded,
        initial: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
    ) -> None:
        self.points = np.array(values, dtype=np.float64, order="C")
        n, m = self.points.shape
        types, flags = declared(initial, rigid)
        self.initial = np.full(m, BOTH_SIDES, dtype=np.int8) if types is None else types
        self.rigid = np.zeros(m, dtype=np.bool_) if flags is None else flags
        self.points[:, self.initial == NO_SIDE] = 0.0
        self.numbers = np.asarray(decisions.numbers, dtype=np.float64)
        self.tau = float(decisions.tau)
        self.objects = self.positions = np.arange(n)
        self.kernels: Any = kernels
        self.n_jobs: int | None = 1

    def choose(self, compiled: bool | None, n_jobs: int | None) -> GradedTable:
        """Itself, with the kernels that pay unless these are forced or forbidden."""
        n, m = self.points.shape
        worth = pays(kernels, m * n * n, compiled_from=COMPILED_FROM, loaded_from=LOADED_FROM)
        if worth if compiled is None else compiled:
            self.kernels, self.n_jobs = compiled_kernels(kernels), n_jobs
        return self

    def orders(self, order: ArrayLike) -> Ints:
        """The attribute order of each object, or a single one for all."""
        return np.array(order, dtype=np.int64, ndmin=2)

    def by_object(self, by_row: NDArray[Any]) -> NDArray[Any]:
        """What is known, in the order of the objects: as it is."""
        return by_row

    def confidences(self) -> Floats:
        """The least sum of distance and agreement, at most 1."""
        found = np.empty(len(self.points))
        self._run(
            lambda low, high: self.kernels.nearest(
                self.points, self.numbers, self.tau, self.initial, low, high, found
            )
        )
        return found

    def shorten(self, limits: Floats, orders: Ints) -> Types:
        """The sides that each object's box keeps, by attribute."""
        types = np.zeros(self.points.shape, dtype=np.int8)
        self._run(
            lambda low, high: self.kernels.prune(
                self.points, self.numbers, self.tau, self.initial, self.rigid, limits, orders, low, high,
                types,
            )
        )  # fmt: skip
        return types

    def covered(self, limits: Floats, types: Types) -> CoverMatrix:
        """The objects in the box of every object."""
        n = len(self.points)
        table = np.zeros((n, -(-n // 64)), dtype=np.uint64)
        self._run(
            lambda low, high: self.kernels.cover(self.points, limits, types, low, high, table)
        )
        return CoverMatrix.from_words(table, n)

    def _run(self, work: Callable[[int, int], Any]) -> None:
        work(0, 0)  # compiled in this thread, where Ctrl-C finds the compiler
        n = len(self.points)
        map_threads(work, [(low, min(low + CHUNK, n)) for low in range(0, n, CHUNK)], self.n_jobs)

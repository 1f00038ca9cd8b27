"""The steps of induction for decisions that agree by degrees, such as numbers.

The decision of `v` agrees with the rule of `u` to the degree max(0, 1 - |y(v) - y(u)| / tau). A
rule keeps its confidence, less this degree, away from every sample: limits are by pair, so that all
pairs are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._compile import compiled as compiled_kernels
from frri._compile import pays
from frri._util import map_threads
from frri.cover.matrix import CoverMatrix
from frri.induction import _fuzzy_kernels as kernels
from frri.induction._fuzzy_kernels import GradedTable
from frri.induction.class_layout import NO_SIDE, TOLERANCE, GivenLayout, declared_types

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from frri._util import Floats, Ints, Types

# Pairs of samples x features that are worth waiting for the compiler, or loading compiled kernels.
COMPILED_FROM, LOADED_FROM = 1_000_000_000, 50_000_000

# Rows of one call of a compiled kernel.
CHUNK = 512


class Graded(NamedTuple):
    """Numbers as decisions: they agree the more the nearer they are, from `tau` on not at all.

    Parameters
    ----------
    numbers : array-like of float, shape (n_samples,)
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
        """Return D(u, v) = max(0, 1 - |y(v) - y(u)| / tau) for all pairs of samples."""
        y = np.asarray(self.numbers, dtype=np.float64)
        return np.maximum(0.0, 1.0 - np.abs(y[None, :] - y[:, None]) / self.tau)


class FuzzyBackend:
    """The steps of induction on a table with graded decisions.

    Parameters
    ----------
    values : array-like of float, shape (n_samples, n_features)
    decisions : Graded
    initial, rigid : array-like, optional
        As for `frri.induction.shorten`.
    compiled : bool, optional
        Force or forbid compiled kernels; by default they are used where they pay.
    n_jobs : int, optional
    """

    def __init__(
        self,
        values: ArrayLike,
        decisions: Graded,
        initial: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
        compiled: bool | None = None,
        n_jobs: int | None = None,
    ) -> None:
        points = np.array(values, dtype=np.float64, order="C")
        n, m = points.shape
        types, flags = declared_types(m, initial, rigid)
        points[:, types == NO_SIDE] = 0.0
        numbers = np.asarray(decisions.numbers, dtype=np.float64)
        self.layout = GivenLayout(n)
        self.table = GradedTable(points, numbers, float(decisions.tau), types, flags)
        if compiled is None:
            compiled = pays(
                kernels, m * n * n, compiled_from=COMPILED_FROM, loaded_from=LOADED_FROM
            )
        self.kernels: Any = compiled_kernels(kernels) if compiled else kernels
        self.n_jobs = n_jobs if compiled else 1

    def confidences(self) -> Floats:
        """Return the minimum of distance and agreement over all samples, at most 1."""
        found = np.empty(len(self.table.points))
        self._run(lambda low, high: self.kernels.nearest(self.table, low, found[low:high]))
        return found

    def shorten(self, confidence: Floats, orders: Ints) -> Types:
        """Return the condition types of every sample's rule, shortened in some feature orders."""
        types = np.zeros(self.table.points.shape, dtype=np.int8)
        limits = confidence - TOLERANCE

        def work(low: int, high: int) -> None:
            own = orders if len(orders) == 1 else orders[low:high]
            self.kernels.prune(self.table, limits[low:high], own, low, types[low:high])

        self._run(work)
        return types

    def covers(self, confidence: Floats, types: Types) -> CoverMatrix:
        """Return the samples in the box of every sample."""
        n = len(confidence)
        words = np.zeros((n, -(-n // 64)), dtype=np.uint64)
        limits = confidence - TOLERANCE
        points = self.table.points

        def work(low: int, high: int) -> None:
            own = slice(low, high)
            self.kernels.cover(points, limits[own], types[own], low, words[own])

        self._run(work)
        return CoverMatrix.from_words(words, n)

    def _run(self, work: Callable[[int, int], Any]) -> None:
        work(0, 0)  # compiled in this thread, where Ctrl-C finds the compiler
        n = len(self.table.points)
        chunks = [(low, min(low + CHUNK, n)) for low in range(0, n, CHUNK)]
        map_threads(work, chunks, self.n_jobs)

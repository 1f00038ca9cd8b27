"""The steps of induction for decisions that agree by degrees, such as numbers.

The decision of `v` agrees with the rule of `u` to the degree max(0, 1 - |y(v) - y(u)| / tau). A
rule keeps its confidence, less this degree, away from every sample: limits are by pair, so that all
pairs are compared.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from frri._util import Floats, Ints, Types, map_threads
from frri.cover.matrix import CoverMatrix, packed
from frri.induction.class_layout import TOLERANCE, ClassLayout
from frri.induction.numpy_backend import NumpyBackend, distances, prune

# Pairs of samples that are compared at a time: they should stay in the cache.
BLOCK_PAIRS = 1 << 16


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

    def agreement(self, own: slice = slice(None)) -> Floats:
        """Return D(u, v) = max(0, 1 - |y(v) - y(u)| / tau) for some samples u and all v."""
        y = np.asarray(self.numbers, dtype=np.float64)
        return np.maximum(0.0, 1.0 - np.abs(y - y[own, None]) / self.tau)


class FuzzyBackend(NumpyBackend):
    """The steps of induction on a table with graded decisions: a layout of a single class."""

    def __init__(
        self,
        values: ArrayLike,
        decisions: Graded,
        initial: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        one_class = np.zeros(len(np.asarray(decisions.numbers)), dtype=np.intp)
        super().__init__(ClassLayout(values, one_class, initial, rigid))
        self.decisions = decisions
        self.n_jobs = n_jobs

    def confidences(self) -> Floats:
        """Return the minimum of distance and agreement over all samples, at most 1."""
        layout = self.layout

        def nearest(own: slice) -> Floats:
            found = distances(layout.points[own], layout.initial[None], layout.columns)
            found += self.decisions.agreement(own)
            least: Floats = found.min(axis=1)
            return np.minimum(1.0, least)

        return np.concatenate(self._map_blocks(nearest))

    def shorten(self, confidence: Floats, orders: Ints) -> Types:
        """Return the condition types of every sample's rule, shortened in some feature orders."""
        layout, limits = self.layout, confidence - TOLERANCE

        def shorten_rows(own: slice) -> Types:
            limit = limits[own, None] - self.decisions.agreement(own)
            not_above, below = [], []
            for column, sides in zip(layout.columns, layout.initial, strict=True):
                difference = column - column[own, None]
                not_above.append(packed(~((sides & 1 > 0) & (difference > limit))).T)
                below.append(packed((sides & 2 > 0) & (difference < -limit)).T)
            order = orders if len(orders) == 1 else orders[own]
            others = packed(limit >= 0).T
            return prune(np.stack(not_above), np.stack(below), others, order, layout.rigid)

        return np.concatenate(self._map_blocks(shorten_rows))

    def covers(self, confidence: Floats, types: Types) -> CoverMatrix:
        """Return the samples in the box of every sample."""
        return replace(super().covers(confidence, types), n_objects=len(confidence))

    def _map_blocks(self, work: Callable[[slice], Any]) -> list[Any]:
        """Return the results of a function for blocks of samples."""
        n = len(self.layout.points)
        height = max(1, BLOCK_PAIRS // n)
        blocks = [(low, min(low + height, n)) for low in range(0, n, height)]
        return map_threads(lambda low, high: work(slice(low, high)), blocks, self.n_jobs)

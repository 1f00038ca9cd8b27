"""A lower bound for problems too large for a tableau: deflected subgradients.

The multipliers climb along a mixture of the new and the old direction, fall back to the best ones after a
while without progress, and are rounded so that the bound they give is exact (see `bounds`).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from frri._util import Floats
from frri.cover._bound.exact import rounded
from frri.cover.budget import Exhausted, Work

GRID = 1024.0
"""Directions are multiples of its inverse: sums of their squares are exact then, too."""


@dataclass(frozen=True, eq=False)
class Relaxed:
    """A proved bound on the number of candidates, with the reduced costs and multipliers behind it."""

    bound: float
    reduced: Floats
    multipliers: Floats


def subgradient_bound(
    matrix: sparse.csr_array,
    upper: int,
    work: Work,
    iterations: int = 1200,
    start: Floats | None = None,
    step: float = 1.0,
) -> Relaxed:
    """Bound the number of candidates a cover needs.

    Parameters
    ----------
    matrix : sparse matrix, candidates x objects
    upper : int
        The size of a known cover.
    work : Work
    iterations : int
    start : ndarray of float64, optional
        Multipliers to begin with, from a similar problem.
    step : float
        How long steps are at first, of the way that the known cover suggests.
    """
    by_candidate = matrix.astype(np.float64)
    starts, objects = by_candidate.indptr[:-1], by_candidate.indices
    sizes = np.diff(by_candidate.indptr)
    n, m = by_candidate.shape
    if start is None:
        largest = np.zeros(m)
        np.maximum.at(largest, by_candidate.indices, np.repeat(sizes, sizes).astype(np.float64))
        start = 1.0 / np.maximum(largest, 1.0)
    y = rounded(start, n, 1.0, 0)
    best, best_y, best_reduced, best_slope = -1.0, y, np.ones(n), np.ones(m)
    direction = np.zeros(m)
    stalls = 0
    for _ in range(iterations):
        reduced = 1.0 - by_candidate @ y
        chosen = np.flatnonzero(reduced < 0.0)
        value = float(y.sum() + reduced[chosen].sum())
        ends = np.cumsum(sizes[chosen])
        places = np.repeat(starts[chosen] - ends + sizes[chosen], sizes[chosen])
        places += np.arange(len(places))
        slope = 1.0 - np.bincount(objects[places], minlength=m)
        slope[(y <= 0.0) & (slope < 0.0)] = 0.0  # multipliers stay nonnegative anyway
        stalls = 0 if value > best + 1e-4 * abs(best) else stalls + 1
        if value > best:
            best, best_y, best_reduced, best_slope = value, y, reduced, slope
        if best > upper - 1:
            break
        if stalls >= 30 or value < best - 3.0 * (upper - best):
            y, value, slope = best_y, best, best_slope
            stalls, step = 0, step * 0.7
            direction[:] = 0.0
        if step < 1e-3:
            break
        direction = np.floor((0.25 * slope + 0.75 * direction) * GRID) / GRID
        length = float((direction * direction).sum())
        if length == 0.0:
            break
        y = rounded(y + (step * (upper - value) / length) * direction, n, 1.0, 0)
        try:
            work.spend(4 * len(by_candidate.indices) + n + m)
        except Exhausted:  # what has been found holds; the next to ask for work will stop
            break
    return Relaxed(best, best_reduced, best_y)

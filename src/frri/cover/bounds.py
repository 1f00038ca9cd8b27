"""Lower bounds that hold exactly, whatever the source of the multipliers.

Any nonnegative multipliers `y` of the rows `A x >= b` bound the cost of a cover from below by
`b y + sum of reduced costs of the chosen + sum of negative reduced costs of the free candidates`.
The multipliers are rounded to multiples of a power of two so coarse that every sum below is exact
in float64: the bound is then a theorem and not an estimate, and the order of summation cannot
matter.
"""

import math

import numpy as np
from scipy import sparse

from frri._compile import inner_kernel
from frri._util import Floats
from frri.cover.budget import Exhausted, Work
from frri.cover.matrix import Bytes, CoverLists


@inner_kernel
def round_multipliers(
    multipliers: Floats, n_candidates: int, largest_cost: float, size: int
) -> Floats:
    """Return nonnegative multipliers on a grid so coarse that all sums of them are exact."""
    y = np.maximum(multipliers, 0.0)
    y[~np.isfinite(y)] = 0.0
    largest = y.max() if len(y) else 0.0
    reach = (largest * len(y) * (size + 2) + largest_cost + 1.0) * (n_candidates + 2)
    grid = 2.0 ** min(30, 51 - math.frexp(reach)[1])
    return np.floor(y * grid) / grid


@inner_kernel
def exact_bound(
    lists: CoverLists, multipliers: Floats, costs: Floats, state: Bytes, size: int
) -> tuple[float, Floats]:
    """Return a proven lower bound on the cost of covers, and its reduced costs.

    There is a multiplier for each object and, where the number of candidates `size` is given (else
    -1), one each for the upper and the lower limit on it. Costs are integers; `state` is 1 for
    chosen candidates, 0 for free and -1 for excluded ones.

    Examples
    --------
    >>> lists = CoverLists.of(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool))
    >>> free = np.zeros(3, dtype=np.int8)
    >>> float(exact_bound(lists, np.full(3, 0.5), np.ones(3), free, -1)[0])
    1.5
    """
    y = round_multipliers(multipliers, len(costs), costs.max(), max(size, 0))
    given = 0 if size < 0 else 2
    value = y[: len(y) - given].sum()
    sums = np.concatenate((np.zeros(1), np.cumsum(y[lists.objects])))
    reduced = costs - (sums[lists.objects_from[1:]] - sums[lists.objects_from[:-1]])
    if given:
        price = y[-1] - y[-2]
        value += size * price
        reduced -= price
    value += reduced[state == 1].sum()
    value += np.minimum(reduced[state == 0], 0.0).sum()
    return value, reduced


# Directions are multiples of its inverse, so that sums of their squares are exact, too.
GRID = 1024.0


def subgradient_bound(
    matrix: sparse.csr_array,
    upper: int,
    work: Work,
    iterations: int = 1200,
    start: Floats | None = None,
    step: float = 1.0,
) -> tuple[float, Floats, Floats]:
    """Bound the number of candidates of a cover from below, by subgradient ascent.

    `upper` is the size of a known cover, `start` multipliers of a similar problem, and `step` the
    length of the first steps, as a fraction of that which the known cover suggests. Return the
    bound, the reduced costs of the candidates and the multipliers of the objects.
    """
    by_candidate = matrix.astype(np.float64)
    starts, objects = by_candidate.indptr[:-1], by_candidate.indices
    sizes = np.diff(by_candidate.indptr)
    n, m = by_candidate.shape
    if start is None:
        largest = np.zeros(m)
        np.maximum.at(largest, by_candidate.indices, np.repeat(sizes, sizes).astype(np.float64))
        start = 1.0 / np.maximum(largest, 1.0)
    y = round_multipliers(start, n, 1.0, 0)
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
        y = round_multipliers(y + (step * (upper - value) / length) * direction, n, 1.0, 0)
        try:
            work.spend(4 * len(by_candidate.indices) + n + m)
        except Exhausted:  # the bound found so far holds
            break
    return best, best_reduced, best_y

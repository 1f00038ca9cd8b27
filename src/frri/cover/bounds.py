"""Lower bounds that hold exactly, whatever the multipliers come from.

Any nonnegative multipliers `y` of the rows `A x >= b` bound the cost of a cover from below by
`b y + sum of reduced costs of the chosen + sum of negative reduced costs of the free candidates`. The
multipliers are rounded to multiples of a power of two so coarse that every sum below is exact in float64:
the bound is then a theorem and not an estimate, and the order of summation cannot matter.
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def exact_bound(
    rows: Floats, multipliers: Floats, costs: Floats, state: NDArray[np.int8], size: int | None
) -> tuple[float, Floats]:
    """A proved lower bound and the reduced costs that go with it.

    Parameters
    ----------
    rows : ndarray of float64, shape (n_objects, n_candidates)
        Zeros and ones: who covers the object.
    multipliers : ndarray of float64, shape (n_objects,) or (n_objects + 2,)
        One per object and, where the number of candidates is given, one each for "at most" and "at
        least" so many.
    costs : ndarray of float64
        Whole numbers.
    state : ndarray of int8
        Per candidate: 1 chosen, 0 free, -1 excluded.
    size : int or None
        The number of candidates, if it is given.

    Examples
    --------
    >>> rows = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    >>> exact_bound(rows, np.full(3, 0.5), np.ones(3), np.zeros(3, dtype=np.int8), None)[0]
    1.5
    """
    y = rounded(multipliers, len(costs), float(costs.max(initial=0.0)), size or 0)
    positive = np.flatnonzero(y[: len(rows)])
    value = float(y[positive].sum())
    reduced = costs - (y[positive] @ rows[positive])
    if size is not None:
        price = float(y[-1]) - float(y[-2])
        value += size * price
        reduced -= price
    value += float(reduced[state == 1].sum())
    value += float(np.minimum(reduced[state == 0], 0.0).sum())
    return value, reduced


def rounded(multipliers: Floats, n_candidates: int, largest_cost: float, size: int) -> Floats:
    """Nonnegative multipliers on a grid so coarse that all sums made of them are exact."""
    y = np.maximum(multipliers, 0.0)
    y[~np.isfinite(y)] = 0.0
    reach = (float(y.sum()) * (size + 2) + largest_cost + 1.0) * (n_candidates + 2)
    grid = 2.0 ** min(30, 51 - math.ceil(math.log2(reach)))
    return np.floor(y * grid) / grid

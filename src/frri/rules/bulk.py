"""Large tables: the same scores as in plain numpy, from compiled kernels on all cores."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from frri.compiling import compiled, compiled_before, numba_installed
from frri.rules.matching import Matcher

# Objects x conditions from which a compiled kernel pays: first in a process, and once it is loaded.
COLD = 50_000_000
WARM = 500_000


def pays(matcher: Matcher, combination: str, matrix: NDArray[np.float64]) -> bool:
    """Whether the kernels can do it (numbers only, the best rule by the minimum) and are worth it."""
    work = len(matrix) * len(matcher.columns)
    if work < WARM or matcher.t_norm != "minimum" or combination != "best" or matcher.nominal:
        return False
    if not numba_installed() or not np.isfinite(matrix.sum()):
        return False
    from frri.kernels import prediction  # noqa: PLC0415 - not needed for small tables

    return work >= COLD or compiled_before(prediction)


def best_values(
    matcher: Matcher,
    matrix: NDArray[np.float64],
    rule_classes: NDArray[np.intp],
    n_classes: int,
    *,
    uncut: bool,
) -> NDArray[np.float64]:
    """Objects x classes: the best weight x degree, or uncut value, of the rules of each class."""
    from frri.kernels import prediction  # noqa: PLC0415 - not needed for small tables

    kernels = compiled(prediction)
    values = np.ascontiguousarray(matrix)
    best = np.full((len(values), n_classes), -np.inf if uncut else 0.0)
    conditions = (
        matcher.support_low,
        matcher.core_low,
        matcher.core_high,
        matcher.support_high,
        matcher.slope_low,
        matcher.slope_high,
    )

    def work(bounds: tuple[int, int]) -> None:
        kernels.best_values(
            values,
            *bounds,
            matcher.lows,
            matcher.highs,
            conditions,
            matcher.indptr,
            matcher.columns,
            matcher.weights,
            rule_classes,
            uncut,
            best,
        )

    threads = os.cpu_count() or 1
    step = max(prediction.BLOCK, -(-len(values) // (4 * threads)))
    ranges = [(start, min(start + step, len(values))) for start in range(0, len(values), step)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, ranges))
    return best

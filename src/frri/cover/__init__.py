"""Minimum set cover: the fewest candidates that cover every object, proven optimal.

Three objectives, one after the other: the fewest candidates; among those covers the smallest total
cost; among those the first in order. The answer is therefore a property of the problem: it does not
depend on the solver, the machine or whether kernels were compiled. When work or time runs out, or
at Ctrl-C, the best cover found so far is returned with the lower bound proven so far. Problems too
large for lists stay rows of words and are solved through their hard objects, with the same results.

The package is independent of rules.

Examples
--------
>>> covers = CoverMatrix.from_dense([[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 0], [1, 0, 0, 1]])
>>> cover = minimum_cover(covers, costs=[3, 3, 1, 2])
>>> cover.selected, cover.status, cover.cost
(array([2, 3]), 'optimal', 3)
"""

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from frri._util import Ints
from frri.cover.budget import Exhausted, Work
from frri.cover.matrix import CoverMatrix
from frri.cover.milp_cover import PartialCover, partial_cover
from frri.cover.reduce import to_sparse
from frri.cover.solve import Cover, Problem
from frri.cover.solve_large import LargeProblem

__all__ = [
    "DEFAULT_WORK_LIMIT",
    "Cover",
    "CoverMatrix",
    "PartialCover",
    "minimum_cover",
    "partial_cover",
]


# Units of work of about half a millisecond (compiled): half a minute of searching, two at most.
DEFAULT_WORK_LIMIT = 60_000
# Maximum number of pairs of candidate and object that are expanded into lists.
LARGEST_EXPANDED = 1 << 20
LARGEST_TOTAL = 2**31


def minimum_cover(
    covers: CoverMatrix,
    costs: ArrayLike | None = None,
    *,
    work_limit: int = DEFAULT_WORK_LIMIT,
    time_limit: float | None = None,
    optimality_gap: float = 0.0,
    tie_break: bool = True,
    solver: str = "branching",
    effort: int | None = None,
) -> Cover:
    """Choose the fewest candidates that cover every object any candidate covers.

    Parameters
    ----------
    covers : CoverMatrix
        The cover relation. Objects that no candidate covers are ignored.
    costs : array of nonnegative integers, optional
        Cost of each candidate; the second objective. By default all are equal.
    work_limit : int
        Limit on the work, in units of about half a millisecond; the same result on every machine.
    time_limit : float, optional
        Limit in seconds, on top of that.
    optimality_gap : float
        Relative optimality gap at which the search stops.
    tie_break : bool
        Whether to minimize the cost, too, and return the first of the optimal covers in order.
    solver : str, optional
        Ignored: SciPy's general solver gave the same answers. It goes in version 0.4.
    effort : int, optional
        Old name of `work_limit`; it goes in version 0.4.

    Returns
    -------
    Cover

    Examples
    --------
    >>> covers = CoverMatrix.from_dense([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> cover = minimum_cover(covers)
    >>> cover.selected, cover.lower_bound, cover.settled
    (array([0, 1]), 2, True)
    """
    if effort is not None:
        message = "effort is now called work_limit; the old name goes in version 0.4."
        warnings.warn(message, FutureWarning, stacklevel=2)
        work_limit = effort
    if solver != "branching":
        message = "solver is ignored, because settled answers are the same; it goes in version 0.4."
        warnings.warn(message, FutureWarning, stacklevel=2)
    prices = _check_costs(costs, len(covers))
    _check_limits(work_limit, time_limit, optimality_gap)
    work = Work(int(work_limit), time_limit, optimality_gap)
    problem: Problem | LargeProblem
    if np.bitwise_count(covers.bits).sum(dtype=np.int64) > LARGEST_EXPANDED:
        problem = LargeProblem(covers, prices, tie_break=tie_break)
    else:
        problem = Problem(to_sparse(covers), prices, tie_break=tie_break)
    with work.handle_interrupts():
        try:
            problem.run(work)
        except Exhausted:
            pass
        except KeyboardInterrupt:
            work.stopped_by = "interrupt"
    size, bound = len(problem.cover), problem.lower_bound
    proved = bound == size
    if work.stopped_by is None and not (problem.settled if tie_break else proved):
        enough = not proved and work.near_enough(size, bound)
        work.stopped_by = "gap" if enough else "effort"  # some components have a limit of their own
    return Cover.of(problem, prices, work)


def _check_costs(costs: ArrayLike | None, n: int) -> Ints:
    if costs is None:
        return np.zeros(n, dtype=np.int64)
    prices = np.asarray(costs, dtype=np.float64)
    if prices.shape != (n,):
        raise ValueError(
            f"costs must be one number per candidate ({n}), not of shape {prices.shape}."
        )
    if (prices != np.floor(prices)).any() or (prices < 0).any():
        raise ValueError("costs must be integers and not negative.")
    if prices.sum() > LARGEST_TOTAL:
        raise ValueError(f"costs must not add up to more than {LARGEST_TOTAL}.")
    return prices.astype(np.int64)


def _check_limits(work_limit: Any, time_limit: float | None, gap: float) -> None:
    if not isinstance(work_limit, Integral) or work_limit < 0:
        raise ValueError(f"work_limit must be an integer and not negative, not {work_limit!r}.")
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(
            f"time_limit must be a number of seconds and not negative, not {time_limit!r}."
        )
    if not 0 <= gap <= 1:
        raise ValueError(f"optimality_gap must be a fraction from 0 to 1, not {gap!r}.")

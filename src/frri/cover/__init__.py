"""Minimum set cover: the fewest candidates that cover every object, with a proof.

Three objectives, one after the other: the fewest candidates; among those covers the smallest total
cost; among those the first in order. The answer is therefore a property of the problem: it does not
depend on the solver, the machine or whether kernels were compiled. When work or time runs out, or
at Ctrl-C, the best cover found so far is returned with the bound that has been proved. Problems too
large to be written out stay rows of words and are searched through their hard objects; the promises
are the same.

Nothing here knows where candidates and objects come from.

Examples
--------
>>> covers = CoverMatrix.from_dense([[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 0], [1, 0, 0, 1]])
>>> cover = minimum_cover(covers, costs=[3, 3, 1, 2])
>>> cover.selected, cover.status, cover.cost
(array([2, 3]), 'optimal', 3)
"""

import operator
import warnings
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from frri._util import Ints
from frri.cover.budget import Exhausted, Work
from frri.cover.matrix import CoverMatrix
from frri.cover.milp_cover import PartialCover, multiple_cover, partial_cover
from frri.cover.reduce import to_sparse
from frri.cover.solve import Cover, CoverOutcome, Problem
from frri.cover.solve_large import LargeProblem

__all__ = [
    "DEFAULT_WORK_LIMIT",
    "Cover",
    "CoverMatrix",
    "PartialCover",
    "minimum_cover",
    "multiple_cover",
    "partial_cover",
]


DEFAULT_WORK_LIMIT = 60_000
"""Units of work of about half a millisecond (compiled): half a minute of searching, two at most."""

LARGEST_EXPANDED = 1 << 20
"""Pairs of candidate and object up to which a problem is written out; larger ones stay words."""

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
        Who covers whom. Objects covered by nobody are ignored.
    costs : array of nonnegative whole numbers, optional
        What each candidate costs; the second objective. All equal unless given.
    work_limit : int
        Limit on the work, in units of about half a millisecond; the same result on every machine.
    time_limit : float, optional
        Limit in seconds, on top of that.
    optimality_gap : float
        Relative optimality gap at which the search stops.
    tie_break : bool
        Whether to go on, once the number is proved minimal, to the smallest cost and the first in
        order.
    solver : "branching" or "highs"
        The search of this package, or SciPy's general solver for integer programs (slower; a
        second opinion). The answers agree wherever they are settled.
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
    prices = _checked_costs(costs, len(covers))
    work = Work(_checked_work(work_limit), _checked_time(time_limit), _checked_gap(optimality_gap))
    if solver not in ("branching", "highs"):
        raise ValueError(f"solver is 'branching' or 'highs', not {solver!r}.")
    pairs = int(np.bitwise_count(covers.bits).sum(dtype=np.int64))
    problem: Problem | LargeProblem
    if solver == "branching" and pairs > LARGEST_EXPANDED:
        problem = LargeProblem(covers, prices, tie_break=tie_break)
    else:
        problem = Problem(to_sparse(covers), prices, tie_break=tie_break)
    with work.listening():
        try:
            problem.run(work, solver)
        except Exhausted:
            pass
        except KeyboardInterrupt:
            work.stopped_by = "interrupt"
    return _packaged(problem.outcome(), prices, work, solver, tie_break=tie_break)


def _packaged(
    outcome: CoverOutcome, costs: Ints, work: Work, solver: str, *, tie_break: bool
) -> Cover:
    count_proved = outcome.lower_bound == len(outcome.selected)
    if work.stopped_by is None and not (outcome.settled if tie_break else count_proved):
        enough = not count_proved and work.near_enough(len(outcome.selected), outcome.lower_bound)
        work.stopped_by = "gap" if enough else "effort"  # large parts are taken only so far
    return Cover(
        selected=outcome.selected,
        status="optimal" if count_proved else "feasible",
        lower_bound=outcome.lower_bound,
        cost=int(costs[outcome.selected].sum()),
        cost_status="optimal" if outcome.cost_proved else "feasible",
        settled=outcome.settled,
        stopped_by=work.stopped_by,
        solver=solver,
        nodes=work.nodes,
        pivots=work.pivots,
        steps=work.steps,
        effort=work.units,
        seconds=work.close(),
    )


def _checked_costs(costs: ArrayLike | None, n: int) -> Ints:
    if costs is None:
        return np.zeros(n, dtype=np.int64)
    prices = np.asarray(costs, dtype=np.float64)
    if prices.shape != (n,):
        raise ValueError(
            f"costs must be one number per candidate ({n}), not of shape {prices.shape}."
        )
    if (prices != np.floor(prices)).any() or (prices < 0).any():
        raise ValueError("costs must be whole numbers and not negative.")
    if prices.sum() > LARGEST_TOTAL:
        raise ValueError(f"costs must not add up to more than {LARGEST_TOTAL}.")
    return prices.astype(np.int64)


def _checked_work(work_limit: SupportsIndex) -> int:
    try:
        units = operator.index(work_limit)
    except TypeError:
        units = -1
    if units < 0:
        raise ValueError(f"work_limit must be a whole number and not negative, not {work_limit!r}.")
    return units


def _checked_gap(gap: float) -> float:
    if not 0 <= gap <= 1:
        raise ValueError(f"optimality_gap must be a fraction from 0 to 1, not {gap!r}.")
    return gap


def _checked_time(seconds: float | None) -> float | None:
    if seconds is not None and not seconds >= 0:
        raise ValueError(
            f"time_limit must be a number of seconds and not negative, not {seconds!r}."
        )
    return seconds

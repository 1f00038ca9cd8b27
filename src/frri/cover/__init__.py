"""Minimum set cover: the fewest candidates that cover every object, with a proof.

Three objectives, one after the other: the fewest candidates; among those covers the smallest total cost;
among those the first in order. The answer is therefore a property of the problem: it does not depend on
the solver, the machine or whether kernels were compiled. When work or time runs out, or at Ctrl-C, the
best cover found so far is returned with the bound that has been proved.

Nothing here knows where candidates and objects come from.

Examples
--------
>>> covers = Covers.from_dense([[1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 1, 0], [1, 0, 0, 1]])
>>> cover = minimum_cover(covers, costs=[3, 3, 1, 2])
>>> cover.selected, cover.status, cover.cost
(array([2, 3]), 'optimal', 3)
"""

import operator
from dataclasses import dataclass
from typing import Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frri.cover.covers import Covers
from frri.cover.effort import Exhausted, Work
from frri.cover.greedy import Lists, greedy_cover
from frri.cover.highs import HighsPart
from frri.cover.parts import Part
from frri.cover.reduction import LARGEST_DENSE, components, forced, to_sparse

__all__ = ["DEFAULT_EFFORT", "Cover", "Covers", "minimum_cover"]

Ints = NDArray[np.int64]
Status = Literal["optimal", "feasible"]

DEFAULT_EFFORT = 60_000
"""Units of work, about half a millisecond each (compiled): half a minute of searching."""

LARGEST_TOTAL = 2**31


@dataclass(frozen=True)
class Cover:
    """A complete cover and what is proved about it.

    Attributes
    ----------
    selected : ndarray of int64
        The chosen candidates, ascending.
    status : "optimal" or "feasible"
        Optimal only if no cover has fewer candidates, proved.
    lower_bound : int
        Proved: every cover has at least so many candidates.
    cost : int
        Total cost of the chosen candidates.
    cost_status : "optimal" or "feasible"
        Optimal only if no cover of as few candidates costs less, proved.
    settled : bool
        Whether `selected` is the first in order of all covers optimal in number and cost, made of
        undominated candidates: the one answer every solver has to give.
    stopped_by : None, "effort", "time" or "interrupt"
        What ended the search before everything was proved.
    solver : str
    nodes, pivots, steps : int
        Work done: nodes of the search tree, simplex pivots, steps of local search.
    effort : int
        Work done, in the units of the limit.
    seconds : float
    """

    selected: Ints
    status: Status
    lower_bound: int
    cost: int
    cost_status: Status
    settled: bool
    stopped_by: str | None
    solver: str
    nodes: int
    pivots: int
    steps: int
    effort: int
    seconds: float

    def __len__(self) -> int:
        return len(self.selected)

    @property
    def gap(self) -> float:
        """The share of the candidates chosen that is not proved necessary."""
        n = len(self.selected)
        return 0.0 if n == 0 else (n - self.lower_bound) / n


def minimum_cover(
    covers: Covers,
    costs: ArrayLike | None = None,
    *,
    effort: int = DEFAULT_EFFORT,
    time_limit: float | None = None,
    tie_break: bool = True,
    solver: str = "branching",
) -> Cover:
    """Choose the fewest candidates that cover every object any candidate covers.

    Parameters
    ----------
    covers : Covers
        Who covers whom. Objects covered by nobody are ignored.
    costs : array of nonnegative whole numbers, optional
        What each candidate costs; the second objective. All equal unless given.
    effort : int
        Limit on the work, in units of about half a millisecond; the same result on every machine.
    time_limit : float, optional
        Limit in seconds, on top of that.
    tie_break : bool
        Whether to go on, once the number is proved minimal, to the smallest cost and the first in order.
    solver : "branching" or "highs"
        The search of this package, or SciPy's general solver for integer programmes (slower; a second
        opinion). The answers agree wherever they are settled.

    Returns
    -------
    Cover

    Examples
    --------
    >>> covers = Covers.from_dense([[True, True, False], [False, True, True], [True, False, True]])
    >>> cover = minimum_cover(covers)
    >>> cover.selected, cover.lower_bound, cover.settled
    (array([0, 1]), 2, True)
    """
    prices = _checked_costs(costs, len(covers))
    work = Work(_checked_effort(effort), _checked_time(time_limit))
    if solver not in ("branching", "highs"):
        raise ValueError(f"solver is 'branching' or 'highs', not {solver!r}.")
    problem = _Problem(covers, prices, tie_break=tie_break)
    with work.listening():
        try:
            if solver == "highs":
                problem.hand_over(work)
            else:
                problem.split(work)
                problem.search(work)
        except Exhausted:
            pass
        except KeyboardInterrupt:
            work.stopped_by = "interrupt"
    return problem.result(work, solver)


class _Problem:
    """Forced candidates, connected parts, and how far each of them has come."""

    def __init__(self, covers: Covers, costs: Ints, *, tie_break: bool) -> None:
        self.matrix = to_sparse(covers)
        self.prices = costs
        self.tie_break = tie_break
        # Without the second objective, dominance need not respect costs.
        self.costs = costs if tie_break else np.zeros_like(costs)
        self.coverable = np.bincount(self.matrix.indices, minlength=covers.n_objects) > 0
        self.forced = np.flatnonzero(forced(self.matrix))
        self.parts: list[Part | HighsPart] = []
        self.split_up = False

    def split(self, work: Work) -> None:
        """Divide what the forced candidates leave into connected parts."""
        done = self._covered_by(self.forced)
        matrix = self.matrix[:, np.flatnonzero(self.coverable & ~done)]
        objects_left = np.flatnonzero(self.coverable & ~done)
        for candidates, objects in components(matrix):
            work.look_at_the_clock()
            rows = self.matrix[candidates]
            columns = np.unique(rows.indices)
            whole = rows[:, columns]
            if whole.shape[0] * whole.shape[1] <= LARGEST_DENSE:
                whole = whole.toarray() > 0
            left = np.searchsorted(columns, objects_left[objects])
            costs = self.costs[candidates]
            self.parts.append(Part(candidates, whole, left, costs, tie_break=self.tie_break))
        self.split_up = True

    def hand_over(self, work: Work) -> None:
        """Leave everything to the general solver, as one part."""
        part = HighsPart(self.matrix, self.costs, work)
        self.parts, self.forced, self.split_up = [part], self.forced[:0], True
        part.run(tie_break=self.tie_break)

    def search(self, work: Work) -> None:
        """Take all parts through one objective before any goes on to the next."""
        stages = [(Part.minimise_count, 2 / 3)]
        if self.tie_break:
            stages += [(Part.minimise_cost, 2 / 3), (Part.settle, 1.0)]
        for stage, share in stages:
            parts = [part for part in self.parts if isinstance(part, Part)]
            for part in parts:
                work.allow(share if part is parts[-1] else share / 2)
                try:
                    stage(part, work)
                except Exhausted:
                    if work.stopped_by != "effort":
                        raise

    def result(self, work: Work, solver: str) -> Cover:
        """What is known, completed where the search was stopped before it had a cover."""
        chosen = [self.forced, *(part.cover for part in self.parts)]
        selected = np.sort(np.concatenate(chosen)).astype(np.int64)
        missing = self.coverable & ~self._covered_by(selected)
        if missing.any():  # stopped before every part had a cover
            more = greedy_cover(Lists.of(self.matrix), self.costs, missing)
            selected = np.sort(np.concatenate((selected, more)))
        bound = len(self.forced) + sum(len(p.taken) + p.lower_bound for p in self.parts)
        count_proved = bound == len(selected)
        judged = self.tie_break and count_proved and self.split_up
        cost_proved = judged and all(part.cost_proved for part in self.parts)
        settled = cost_proved and all(part.settled for part in self.parts)
        if work.stopped_by is None and not (settled if self.tie_break else count_proved):
            work.stopped_by = "effort"  # large parts are taken only so far
        return Cover(
            selected=selected,
            status="optimal" if count_proved else "feasible",
            lower_bound=bound,
            cost=int(self.prices[selected].sum()),
            cost_status="optimal" if cost_proved else "feasible",
            settled=settled,
            stopped_by=work.stopped_by,
            solver=solver,
            nodes=work.nodes,
            pivots=work.pivots,
            steps=work.steps,
            effort=work.units,
            seconds=work.close(),
        )

    def _covered_by(self, candidates: Ints) -> NDArray[np.bool_]:
        covered = np.zeros(self.matrix.shape[1], dtype=bool)
        covered[self.matrix[candidates].indices] = True
        return covered


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


def _checked_effort(effort: SupportsIndex) -> int:
    try:
        units = operator.index(effort)
    except TypeError:
        units = -1
    if units < 0:
        raise ValueError(f"effort must be a whole number and not negative, not {effort!r}.")
    return units


def _checked_time(seconds: float | None) -> float | None:
    if seconds is not None and not seconds >= 0:
        raise ValueError(
            f"time_limit must be a number of seconds and not negative, not {seconds!r}."
        )
    return seconds

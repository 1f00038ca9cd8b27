"""The cheapest counterfactual inside a cell: a box in which every membership is a straight line.

For the best rule by the minimum, another class is predicted where one of its rules reaches a
level `t` that no rule of the decided class exceeds, because one of its conditions fails to. Once
these conditions are chosen, that is a linear program in the coordinates and `t`; the search
branches over the choices.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from frri._util import Flags, Floats
from frri.explain.bounds import Box, DecisionBounds, Survey

# Differences of scores below this are ties; the tolerance of the solver is a tenth of it.
TIE = 1e-9


class Lines(NamedTuple):
    """A weighted degree as a minimum of lines; slopes of shape (n_lines, n_axes)."""

    slopes: Floats
    offsets: Floats

    def at(self, place: Floats) -> float:
        """Return the minimum of the lines at a place."""
        return float((self.slopes @ place + self.offsets).min())


class Cell:
    """The rules that can be decisive in a box without bends, as lines.

    A place has a coordinate per axis, from 0 at the end of the box that is nearest to the row, to 1
    at the other end: well scaled for all units. `costs` are those of the ways between the ends,
    `base` that of the nearest corner. `rivals` are the rules of other classes, with the difference
    by which each has to win (`TIE` where a tie is not enough), `defenders` those of the decided
    class.
    """

    def __init__(self, bounds: DecisionBounds, box: Box, survey: Survey, active: Flags) -> None:
        self.space, self.names = bounds.space, list(box.names)
        self.axes = [bounds.space.axes[j] for j in box.names]
        ends = np.array(box[:2])
        starts = np.array([axis.low if axis.flat else axis.start for axis in self.axes])
        # The box lies on one side of the row, along every axis.
        ends[:, self.names] = np.where(
            starts > ends[0, self.names], ends[::-1, self.names], ends[:, self.names]
        )
        self.near, self.far = ends[:, self.names]
        prices = [0.0 if axis.flat else axis.price for axis in self.axes]
        self.costs = np.abs(self.far - self.near) * prices
        self.base = bounds.space.cost(box)
        self.rivals: list[tuple[Lines, float]] = []
        self.defenders: list[Lines] = []
        arrays, classes = bounds.arrays, bounds.arrays.classes
        at_near, at_far = arrays.uncut(arrays.clipped(bounds.space.decode(ends)))
        for r in np.flatnonzero(bounds.relevant(survey)[0]).tolist():
            own = np.arange(arrays.indptr[r], arrays.indptr[r + 1])
            varying, fixed = own[active[own]], own[~active[own]]
            along = arrays.columns[varying][:, None] == self.names
            slopes = np.where(along, (at_far - at_near)[varying][:, None], 0.0)
            offsets = at_near[varying]
            if len(fixed):
                slopes = np.vstack([slopes, np.zeros(len(self.names))])
                offsets = np.append(offsets, survey.lower[0, fixed].min())
            lines = Lines(arrays.weights[r] * slopes, arrays.weights[r] * offsets)
            if classes[r] == bounds.decision:
                self.defenders.append(lines)
            else:
                self.rivals.append((lines, TIE if classes[r] > bounds.decision else 0.0))

    def solve(self, limit: float, max_programs: int) -> tuple[float, list[Floats], int]:
        """Return the least cost below `limit` (inf if none), places near it, and programs solved.

        After more than `max_programs` programs the cost is only a lower bound, without any place.
        """
        best, places, solved = inf, list[Floats](), 0
        for rival, margin in self.rivals:
            # Nodes: one line for every defender treated so far, which `t` must not fall below.
            stack: list[tuple[tuple[int, int], ...]] = [()]
            while stack:
                chosen = stack.pop()
                solved += 1
                if solved > max_programs:
                    return self.base, [], solved
                place = self._solve_program(rival, chosen, margin)
                if place is None or self._cost(place) >= min(best, limit):
                    continue
                level = rival.at(place)
                excesses = [defender.at(place) - level for defender in self.defenders]
                worst = int(np.argmax(excesses)) if excesses else -1
                if worst < 0 or excesses[worst] <= TIE / 5 - margin:
                    best = self._cost(place)
                    beyond = self._solve_program(rival, chosen, 2 * TIE)
                    places = [place] + ([] if beyond is None else [beyond])
                    continue
                if any(s == worst for s, _ in chosen):  # undecidable by rounding
                    return self.base, [], solved
                n_lines = len(self.defenders[worst].offsets)
                stack += [(*chosen, (worst, i)) for i in range(n_lines)]
        return best, places, solved

    def extend(self, places: list[Floats]) -> Floats:
        """Return places in full coordinates, and some slightly farther from the row."""
        way = self.far - self.near
        values = self.near + np.array(places) * way
        step = np.sign(way) * 1e-11 / [axis.price for axis in self.axes]
        beyond = np.nextafter(values, np.where(way == 0.0, values, np.copysign(inf, way)))
        points = np.repeat(self.space.start[None, :], 4 * len(places), axis=0)
        points[:, self.names] = np.clip(
            np.concatenate([values, beyond, values + step, values + 10 * step]),
            [axis.low for axis in self.axes],
            [axis.high for axis in self.axes],
        )
        return points

    def _cost(self, place: Floats) -> float:
        return self.base + float(self.costs @ place)

    def _solve_program(
        self, rival: Lines, chosen: tuple[tuple[int, int], ...], margin: float
    ) -> Floats | None:
        """Return the cheapest place where the rival holds and the chosen lines fail."""
        from scipy.optimize import linprog  # noqa: PLC0415 - only for rows that need it

        rows = [np.append(-slope, 1.0) for slope in rival.slopes]
        sides = rival.offsets.tolist()
        for s, i in chosen:
            rows.append(np.append(self.defenders[s].slopes[i], -1.0))
            sides.append(-self.defenders[s].offsets[i] - margin)
        result = linprog(
            np.append(self.costs, 0.0),
            A_ub=np.array(rows),
            b_ub=np.array(sides),
            bounds=[(0.0, 1.0)] * len(self.costs) + [(None, None)],
            options={"primal_feasibility_tolerance": TIE / 10},
        )
        return np.clip(result.x[:-1], 0.0, 1.0) if result.status == 0 else None

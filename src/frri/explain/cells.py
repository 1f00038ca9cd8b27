"""The cheapest counterfactual inside a cell: a box in which every membership is a straight line.

For the best rule by the minimum, another class is predicted where one of its rules reaches a
level `t` that no rule of the decided class exceeds, because one of its conditions fails to. Once
these conditions are chosen, that is a linear program in the coordinates and `t`; the search
branches over the choices.
"""

from math import inf, nextafter
from typing import Any, NamedTuple

import numpy as np

from frri._util import Flags, Floats
from frri.explain.bounds import Box, DecisionBounds, Survey

# Differences of scores below this are ties; the tolerance of the solver is a tenth of it.
TIE = 1e-9


class Lines(NamedTuple):
    """A weighted degree as a minimum of lines; slopes of shape (n_lines, n_axes)."""

    slopes: Floats
    offsets: Floats

    def at(self, point: Floats) -> float:
        """Return the minimum of the lines at a point."""
        return float((self.slopes @ point + self.offsets).min())


def is_cell(bounds: DecisionBounds, box: Box, covered: bool) -> bool:
    """Return whether the best rule by the minimum decides in the whole box, along numbers."""
    axes = bounds.space.axes
    return (
        covered
        and bounds.ruleset.semantics.is_max_min
        and all(axes[j].line == "numbers" or box.low[j] == box.high[j] for j in box.names)
    )


class Cell:
    """The rules that can be decisive in a box, as lines.

    Parameters
    ----------
    bounds : DecisionBounds
    box : Box
        No membership may bend inside it.
    survey : Survey
        The bounds of this box.
    active : ndarray of bool, shape (n_conditions,)
        Conditions that vary.

    Attributes
    ----------
    low, high, prices : ndarray of shape (n_axes,)
        The box, and the cost of a unit along each axis (negative where the row is above the box).
    base : float
        Cost of the cheapest corner of the box.
    rivals : list of (Lines, float)
        The rules of other classes, and the difference by which each of them has to win: `TIE`
        where a tie is not enough.
    defenders : list of Lines
        The rules of the decided class.
    """

    def __init__(self, bounds: DecisionBounds, box: Box, survey: Survey, active: Flags) -> None:
        self.bounds, self.box = bounds, box
        columns, axes = list(box.names), [bounds.space.axes[j] for j in box.names]
        self.low, self.high = box.low[columns], box.high[columns]
        self.prices = np.array(
            [
                0.0 if axis.flat else np.sign(end - axis.start) * axis.price
                for axis, end in zip(axes, self.high, strict=True)
            ]
        )
        self.base = bounds.space.cost(box)
        self.rivals: list[tuple[Lines, float]] = []
        self.defenders: list[Lines] = []
        matcher, classes = bounds.matcher, bounds.ruleset.arrays.classes
        corners = matcher.uncut(matcher.clipped(bounds.space.decode(np.array(box[:2]))))
        for r in np.flatnonzero(bounds.relevant(survey)[0]).tolist():
            lines = self._express_rule(r, survey, active, corners)
            if classes[r] == bounds.decision:
                self.defenders.append(lines)
            else:
                self.rivals.append((lines, TIE if classes[r] > bounds.decision else 0.0))

    def solve(self, limit: float, max_programs: int) -> tuple[float, list[Floats], int]:
        """Return the least cost below `limit` (inf if none), points near it, and programs solved.

        After more than `max_programs` programs the cost is only a lower bound, without any point.
        """
        best, points, solved = inf, list[Floats](), 0
        for rival, margin in self.rivals:
            # Nodes: one line for every defender treated so far, which `t` must not fall below.
            stack: list[tuple[tuple[int, int], ...]] = [()]
            while stack:
                chosen = stack.pop()
                solved += 1
                if solved > max_programs:
                    return self.base, [], solved
                found = self._solve_program(rival, chosen, margin)
                if found is None or found[0] >= min(best, limit):
                    continue
                cost, point = found
                level = rival.at(point)
                worst, excess = -1, TIE / 5 - margin
                for s, defender in enumerate(self.defenders):
                    if defender.at(point) - level > excess:
                        worst, excess = s, defender.at(point) - level
                if any(s == worst for s, _ in chosen):  # undecidable by rounding
                    return self.base, [], solved
                if worst >= 0:
                    n_lines = len(self.defenders[worst].offsets)
                    stack += [(*chosen, (worst, i)) for i in range(n_lines)]
                    continue
                best = cost
                beyond = self._solve_program(rival, chosen, 2 * TIE)
                points = [point] + ([] if beyond is None else [beyond[1]])
        return best, points, solved

    def extend(self, points: list[Floats]) -> Floats:
        """Return points of a border in full coordinates, and some slightly farther from the row."""
        space = self.bounds.space
        whole = np.repeat(space.start[None, :], 4 * len(points), axis=0)
        for a, j in enumerate(self.box.names):
            axis, price = space.axes[j], self.prices[a]
            step = 1e-11 / axis.price * float(np.sign(price))
            for p, point in enumerate(points):
                value, beyond = point[a], nextafter(point[a], inf if price > 0.0 else -inf)
                values = [value, beyond, value + step, value + 10 * step]
                if axis.line != "numbers":
                    values = [value] * 4
                whole[4 * p : 4 * p + 4, j] = np.clip(values, axis.low, axis.high)
        return whole

    def _solve_program(
        self, rival: Lines, chosen: tuple[tuple[int, int], ...], margin: float
    ) -> tuple[float, Floats] | None:
        """Find cost and place of the cheapest point where the rival holds and chosen lines fail."""
        from scipy.optimize import linprog  # noqa: PLC0415 - only for rows that need it

        # Coordinates from 0 to 1 over the box, then t: well scaled for all units.
        widths = self.high - self.low
        rows = [np.append(-slope * widths, 1.0) for slope in rival.slopes]
        sides = [offset + slope @ self.low for slope, offset in zip(*rival, strict=True)]
        for s, i in chosen:
            slope, offset = self.defenders[s].slopes[i], self.defenders[s].offsets[i]
            rows.append(np.append(slope * widths, -1.0))
            sides.append(-(offset + slope @ self.low) - margin)
        prices: Any = np.append(self.prices * widths, 0.0)
        result = linprog(
            prices,
            A_ub=np.array(rows),
            b_ub=np.array(sides),
            bounds=[(0.0, 1.0)] * len(widths) + [(None, None)],
            options={"primal_feasibility_tolerance": TIE / 10},
        )
        if result.status != 0:
            return None
        near = np.where(self.prices < 0.0, self.high, self.low)
        point = self.low + np.clip(result.x[:-1], 0.0, 1.0) * widths
        cost = self.base + float(self.prices @ (point - near))
        return cost, np.clip(point, self.low, self.high)

    def _express_rule(self, r: int, survey: Survey, active: Flags, corners: Floats) -> Lines:
        """Express the weighted degree of a rule as the minimum of lines."""
        matcher, names = self.bounds.matcher, list(self.box.names)
        slopes, offsets, constant = [], [], inf
        for k in range(matcher.indptr[r], matcher.indptr[r + 1]):
            if not active[k]:
                constant = min(constant, float(survey.lower[0, k]))
                continue
            a = names.index(int(matcher.columns[k]))
            slope = (corners[1, k] - corners[0, k]) / (self.high[a] - self.low[a])
            slopes.append(np.where(np.arange(len(names)) == a, slope, 0.0))
            offsets.append(corners[0, k] - slope * self.low[a])
        if constant < inf:
            slopes.append(np.zeros(len(names)))
            offsets.append(constant)
        return Lines(matcher.weights[r] * np.array(slopes), matcher.weights[r] * np.array(offsets))

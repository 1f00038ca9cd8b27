"""The cheapest counterfactual inside a cell: a box in which every membership is a straight line.

For the best rule by the minimum, another class is predicted where one of its rules reaches a
level `t` that no rule of the decided class exceeds, because one of its conditions fails to. Once
these conditions are chosen, that is a linear program in the coordinates and `t`; the search
branches over the choices.
"""

from dataclasses import dataclass
from math import inf, nextafter
from typing import Any, NamedTuple

import numpy as np

from frri._util import Flags, Floats
from frri.explain.counterfactual.bounds import DecisionBounds, Survey
from frri.explain.counterfactual.space import Box, Space

# Differences of scores below this are ties; the tolerance of the solver is a tenth of it.
TIE = 1e-9


class Lines(NamedTuple):
    """A weighted degree as a minimum of lines; slopes of shape (n_lines, n_axes)."""

    slopes: Floats
    offsets: Floats

    def at(self, point: Floats) -> float:
        """Return the minimum of the lines at a point."""
        return float((self.slopes @ point + self.offsets).min())


@dataclass(frozen=True, eq=False)
class Cell:
    """Rules as sets of lines over a box.

    Parameters
    ----------
    low, high, prices : ndarray of shape (n_axes,)
        The box, and the cost of a unit along each axis (negative where the row is above the box).
    base : float
        Cost of the cheapest corner of the box.
    rivals, defenders : list of Lines
        The rules of other classes and of the decided class.
    margins : list of float
        Differences by which each rival has to win: `TIE` where a tie is not enough.
    """

    low: Floats
    high: Floats
    prices: Floats
    base: float
    rivals: list[Lines]
    defenders: list[Lines]
    margins: list[float]


def is_cell(bounds: DecisionBounds, box: Box, covered: bool) -> bool:
    """Return whether the best rule by the minimum decides in the whole box, along numbers."""
    axes = bounds.space.axes
    return (
        covered
        and bounds.ruleset.semantics.is_max_min
        and all(axes[j].line == "numbers" or box.low[j] == box.high[j] for j in box.names)
    )


def make_cell(bounds: DecisionBounds, box: Box, survey: Survey, active: Flags) -> Cell:
    """Express the decisive rules in a box by lines, from its survey; no membership may bend."""
    columns = list(box.names)
    low, high = box.low[columns], box.high[columns]
    axes = [bounds.space.axes[j] for j in columns]
    signs = [
        0.0 if axis.flat else np.sign(end - axis.start)
        for axis, end in zip(axes, high, strict=True)
    ]
    cell = Cell(
        low,
        high,
        np.array([sign * axis.price for sign, axis in zip(signs, axes, strict=True)]),
        bounds.space.cost(box),
        rivals=[],
        defenders=[],
        margins=[],
    )
    classes = bounds.ruleset.arrays.classes
    for r in np.flatnonzero(bounds.relevant(survey)[0]).tolist():
        lines = _express_rule(bounds, r, box, survey, active)
        if classes[r] == bounds.decision:
            cell.defenders.append(lines)
        else:
            cell.rivals.append(lines)
            cell.margins.append(TIE if classes[r] > bounds.decision else 0.0)
    return cell


def extend_points(space: Space, points: list[Floats], prices: Floats, box: Box) -> Floats:
    """Return points of a border in full coordinates, with some slightly farther from the row."""
    whole = np.repeat(space.start[None, :], 4 * len(points), axis=0)
    for a, j in enumerate(box.names):
        axis = space.axes[j]
        direction = inf if prices[a] > 0.0 else -inf
        step = 1e-11 / axis.price * float(np.sign(prices[a]))
        for p, point in enumerate(points):
            value = point[a]
            values = [value, nextafter(value, direction), value + step, value + 10 * step]
            if axis.line != "numbers":
                values = [value] * 4
            whole[4 * p : 4 * p + 4, j] = np.clip(values, axis.low, axis.high)
    return whole


def solve_cell(cell: Cell, limit: float, max_programs: int) -> tuple[float, list[Floats], int]:
    """Return the least cost below `limit` (inf if none), points near it, and programs solved.

    After more than `max_programs` programs the cost is only a lower bound, without any point.
    """
    best, points, solved = inf, list[Floats](), 0
    for rival, margin in zip(cell.rivals, cell.margins, strict=True):
        # Nodes: one line for every defender treated so far, which `t` must not fall below.
        stack: list[tuple[tuple[int, int], ...]] = [()]
        while stack:
            chosen = stack.pop()
            solved += 1
            if solved > max_programs:
                return cell.base, [], solved
            found = _solve_program(cell, rival, chosen, margin)
            if found is None or found[0] >= min(best, limit):
                continue
            cost, point = found
            level = rival.at(point)
            worst, excess = -1, TIE / 5 - margin
            for s, defender in enumerate(cell.defenders):
                value = defender.at(point)
                if value - level > excess:
                    worst, excess = s, value - level
            if any(s == worst for s, _ in chosen):  # undecidable by rounding
                return cell.base, [], solved
            if worst >= 0:
                stack += [(*chosen, (worst, i)) for i in range(len(cell.defenders[worst].offsets))]
                continue
            best = cost
            beyond = _solve_program(cell, rival, chosen, 2 * TIE)
            points = [point] + ([] if beyond is None else [beyond[1]])
    return best, points, solved


def _solve_program(
    cell: Cell, rival: Lines, chosen: tuple[tuple[int, int], ...], margin: float
) -> tuple[float, Floats] | None:
    """Find cost and place of the cheapest point where the rival holds and chosen lines fail."""
    from scipy.optimize import linprog  # noqa: PLC0415 - only for rows that need it

    # Coordinates from 0 to 1 over the box, then t: well scaled for all units.
    widths = cell.high - cell.low
    rows = [np.append(-slope * widths, 1.0) for slope in rival.slopes]
    sides = [offset + slope @ cell.low for slope, offset in zip(*rival, strict=True)]
    for s, i in chosen:
        slope, offset = cell.defenders[s].slopes[i], cell.defenders[s].offsets[i]
        rows.append(np.append(slope * widths, -1.0))
        sides.append(-(offset + slope @ cell.low) - margin)
    prices: Any = np.append(cell.prices * widths, 0.0)
    result = linprog(
        prices,
        A_ub=np.array(rows),
        b_ub=np.array(sides),
        bounds=[(0.0, 1.0)] * len(widths) + [(None, None)],
        options={"primal_feasibility_tolerance": TIE / 10},
    )
    if result.status != 0:
        return None
    near = np.where(cell.prices < 0.0, cell.high, cell.low)
    point = cell.low + np.clip(result.x[:-1], 0.0, 1.0) * widths
    return cell.base + float(cell.prices @ (point - near)), np.clip(point, cell.low, cell.high)


def _express_rule(bounds: DecisionBounds, r: int, box: Box, survey: Survey, active: Flags) -> Lines:
    """Express the weighted degree of a rule in a cell as the minimum of lines."""
    matcher = bounds.matcher
    weight = matcher.weights[r]
    slopes, offsets = [], []
    constant = inf
    for k in range(matcher.indptr[r], matcher.indptr[r + 1]):
        if not active[k]:
            constant = min(constant, float(survey.lower[0, k]))
            continue
        j = int(matcher.columns[k])
        at_low, at_high = survey.at_low[0, k], survey.at_high[0, k]
        slope = (at_high - at_low) / (box.high[j] - box.low[j])
        slopes.append(np.where(np.array(box.names) == j, weight * slope, 0.0))
        offsets.append(weight * (at_low - slope * box.low[j]))
    if constant < inf:
        slopes.append(np.zeros(len(box.names)))
        offsets.append(weight * constant)
    return Lines(np.array(slopes), np.array(offsets))

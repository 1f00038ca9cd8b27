"""The cheapest way out inside a cell: a box in which every membership is a straight line.

For the best rule by the minimum, a class other than the decided one wins where one of its rules reaches a
level `t` that every rule of the decided class fails to exceed, each by one of its conditions. With these
conditions chosen, that is a linear program in the coordinates and `t`; the choices are branched over.
"""

from dataclasses import dataclass
from math import inf, nextafter
from typing import Any

import numpy as np

from frri._util import Flags, Floats
from frri.explain.counterfactual.bounds import DecisionBounds, Survey
from frri.explain.counterfactual.space import Space

Box = tuple[Floats, Floats]
Lines = tuple[Floats, Floats]

# Differences of scores below this are ties; the solver is ten times as strict.
HAIR = 1e-9


@dataclass(frozen=True, eq=False)
class Cell:
    """Rules as sets of lines over a box.

    Parameters
    ----------
    low, high, prices : ndarray, shape (n_axes,)
        The box, and the price of a unit along each axis (negative where the row lies above the box).
    base : float
        What the cheapest corner of the box costs.
    rivals, defenders : list of (slopes, offsets)
        Per rule the lines whose minimum is its weighted value; slopes of shape (n_lines, n_axes).
    margins : list of float
        By how much each rival has to win: `HAIR` where a tie is not enough.
    """

    low: Floats
    high: Floats
    prices: Floats
    base: float
    rivals: list[Lines]
    defenders: list[Lines]
    margins: list[float]


def cell_applies(bounds: DecisionBounds, box: Box, names: tuple[int, ...], covered: bool) -> bool:
    """Whether the best rule by the minimum decides in the whole box, along lines of numbers."""
    low, high = box
    axes = bounds.space.axes
    return (
        covered
        and bounds.ruleset.semantics.is_max_min
        and all(axes[j].line == "numbers" or low[j] == high[j] for j in names)
    )


def make_cell(
    bounds: DecisionBounds, box: Box, names: tuple[int, ...], survey: Survey, i: int, active: Flags
) -> Cell:
    """The rules that matter in box `i` of a survey as lines; no membership may bend inside it."""
    columns = list(names)
    low, high = box[0][columns], box[1][columns]
    axes = [bounds.space.axes[j] for j in names]
    signs = [
        0.0 if axis.flat else np.sign(end - axis.start)
        for axis, end in zip(axes, high, strict=True)
    ]
    nearest = bounds.space.nearest(*box, names)
    lines: tuple[list[Lines], list[Lines]] = [], []
    classes = bounds.ruleset.arrays.classes
    part, margins = survey.box(i), []
    for r in np.flatnonzero(bounds.relevant(part)[0]):
        own = classes[r] == bounds.decision
        lines[int(own)].append(_lines(bounds, int(r), (low, high), names, part, active))
        if not own:
            margins.append(HAIR if classes[r] > bounds.decision else 0.0)
    prices = np.array([sign * axis.price for sign, axis in zip(signs, axes, strict=True)])
    return Cell(low, high, prices, float(bounds.space.costs(nearest[None, :])[0]), *lines, margins)


def beyond(space: Space, points: list[Floats], prices: Floats, names: tuple[int, ...]) -> Floats:
    """Points of a border in full coordinates, and some a hair further away from the row."""
    whole = np.repeat(space.start[None, :], 4 * len(points), axis=0)
    for a, j in enumerate(names):
        axis = space.axes[j]
        way = inf if prices[a] > 0.0 else -inf
        step = 1e-11 / axis.price * float(np.sign(prices[a]))
        for p, point in enumerate(points):
            values = [point[a], nextafter(point[a], way), point[a] + step, point[a] + 10 * step]
            if axis.line != "numbers":
                values = [point[a]] * 4
            whole[4 * p : 4 * p + 4, j] = np.clip(values, axis.low, axis.high)
    return whole


def cheapest(cell: Cell, limit: float, most: int) -> tuple[float, list[Floats], int]:
    """The least cost below `limit` (infinite if none), points near it, and programs solved.

    After more than `most` programs the cost is a lower bound only, and no point is given.
    """
    best, points, solved = inf, list[Floats](), 0
    for (slopes, offsets), margin in zip(cell.rivals, cell.margins, strict=True):
        # Nodes: lines below which t must not fall, one for every defender dealt with so far.
        stack: list[tuple[tuple[int, int], ...]] = [()]
        while stack:
            chosen = stack.pop()
            solved += 1
            if solved > most:
                return cell.base, [], solved
            found = _program(cell, slopes, offsets, chosen, margin)
            if found is None or found[0] >= min(best, limit):
                continue
            cost, point, level = found
            worst, excess = -1, HAIR / 5 - margin
            for s, (own_slopes, own_offsets) in enumerate(cell.defenders):
                value = float((own_slopes @ point + own_offsets).min())
                if value - level > excess:
                    worst, excess = s, value - level
            if any(s == worst for s, _ in chosen):  # lost in rounding: no verdict
                return cell.base, [], solved
            if worst >= 0:
                stack += [(*chosen, (worst, i)) for i in range(len(cell.defenders[worst][1]))]
                continue
            best = cost
            beyond = _program(cell, slopes, offsets, chosen, 2 * HAIR)
            points = [point] + ([] if beyond is None else [beyond[1]])
    return best, points, solved


def _program(
    cell: Cell, slopes: Floats, offsets: Floats, chosen: tuple[tuple[int, int], ...], margin: float
) -> tuple[float, Floats, float] | None:
    """Cost, point and level of the cheapest point where the rival holds and the chosen lines fail."""
    from scipy.optimize import linprog  # noqa: PLC0415 - only for rows that need it

    n_axes = len(cell.low)
    # Coordinates from 0 to 1 over the box, then t: well scaled whatever the units.
    widths = cell.high - cell.low
    rows = [np.append(-slope * widths, 1.0) for slope in slopes]
    sides = [offset + slope @ cell.low for slope, offset in zip(slopes, offsets, strict=True)]
    for s, i in chosen:
        slope, offset = cell.defenders[s][0][i], cell.defenders[s][1][i]
        rows.append(np.append(slope * widths, -1.0))
        sides.append(-(offset + slope @ cell.low) - margin)
    prices: Any = np.append(cell.prices * widths, 0.0)
    bounds = [(0.0, 1.0)] * n_axes + [(None, None)]
    options = {"primal_feasibility_tolerance": HAIR / 10}
    above, limits = np.array(rows), np.array(sides)
    result = linprog(prices, A_ub=above, b_ub=limits, bounds=bounds, options=options)
    if result.status != 0:
        return None
    near = np.where(cell.prices < 0.0, cell.high, cell.low)
    point = cell.low + np.clip(result.x[:n_axes], 0.0, 1.0) * widths
    cost = cell.base + float(cell.prices @ (point - near))
    level = float((slopes @ point + offsets).min())
    return cost, np.clip(point, cell.low, cell.high), level


def _lines(
    bounds: DecisionBounds, r: int, box: Box, names: tuple[int, ...], survey: Survey, active: Flags
) -> Lines:
    """A rule's weighted value in a cell as the minimum of lines."""
    matcher, (low, high) = bounds.matcher, box
    weight = matcher.weights[r]
    slopes, offsets = [], []
    constant = inf
    for k in range(matcher.indptr[r], matcher.indptr[r + 1]):
        if not active[k]:
            constant = min(constant, float(survey.lower[0, k]))
            continue
        a = names.index(int(matcher.columns[k]))
        at_low, at_high = survey.at_low[0, k], survey.at_high[0, k]
        slope = (at_high - at_low) / (high[a] - low[a])
        slopes.append(np.where(np.arange(len(names)) == a, weight * slope, 0.0))
        offsets.append(weight * (at_low - slope * low[a]))
    if constant < inf:
        slopes.append(np.zeros(len(names)))
        offsets.append(weight * constant)
    return np.array(slopes), np.array(offsets)

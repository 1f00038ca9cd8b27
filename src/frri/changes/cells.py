"""The cheapest way out inside a cell: a box in which every membership is a straight line.

For the best rule by the minimum, a class other than the decided one wins where one of its rules reaches a
level `t` that every rule of the decided class fails to exceed, each by one of its conditions. With these
conditions chosen, that is a linear program in the coordinates and `t`; the choices are branched over.
"""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

# How far beyond the border a point is sought that is really on the other side.
HAIR = 1e-10


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
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    prices: NDArray[np.float64]
    base: float
    rivals: list[tuple[NDArray[np.float64], NDArray[np.float64]]]
    defenders: list[tuple[NDArray[np.float64], NDArray[np.float64]]]


def cheapest(cell: Cell, limit: float, most: int) -> tuple[float, list[NDArray[np.float64]], int]:
    """The least cost below `limit` (infinite if none), points near it, and programs solved.

    After more than `most` programs the cost is a lower bound only, and no point is given.
    """
    best, points, solved = inf, list[NDArray[np.float64]](), 0
    for slopes, offsets in cell.rivals:
        # Nodes: lines below which t must not fall, one for every defender dealt with so far.
        stack: list[tuple[tuple[int, int], ...]] = [()]
        while stack:
            chosen = stack.pop()
            solved += 1
            if solved > most:
                return cell.base, [], solved
            found = _program(cell, slopes, offsets, chosen, 0.0)
            if found is None or found[0] >= min(best, limit):
                continue
            cost, point, level = found
            worst, excess = -1, 1e-11
            for s, (own_slopes, own_offsets) in enumerate(cell.defenders):
                value = float((own_slopes @ point + own_offsets).min())
                if value - level > excess:
                    worst, excess = s, value - level
            if worst >= 0:
                stack += [chosen + ((worst, i),) for i in range(len(cell.defenders[worst][1]))]
                continue
            best = cost
            beyond = _program(cell, slopes, offsets, chosen, HAIR)
            points = [point] + ([] if beyond is None else [beyond[1]])
    return best, points, solved


def _program(
    cell: Cell,
    slopes: NDArray[np.float64],
    offsets: NDArray[np.float64],
    chosen: tuple[tuple[int, int], ...],
    margin: float,
) -> tuple[float, NDArray[np.float64], float] | None:
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
    result = linprog(prices, A_ub=np.array(rows), b_ub=np.array(sides), bounds=bounds)
    if result.status != 0:
        return None
    near = np.where(cell.prices < 0.0, cell.high, cell.low)
    point = cell.low + np.clip(result.x[:n_axes], 0.0, 1.0) * widths
    cost = cell.base + float(cell.prices @ (point - near))
    level = float((slopes @ point + offsets).min())
    return cost, np.clip(point, cell.low, cell.high), level

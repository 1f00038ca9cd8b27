"""A change that alters the decision, without a claim to be the smallest: for when effort is spent."""

from math import inf

import numpy as np

from frri._util import Floats, Positions
from frri.explain.counterfactual.bounds import DecisionBounds


def guess(bounds: DecisionBounds) -> Floats | None:
    """Satisfy a rule of another class, undo what is not needed, shorten the rest; the best such point."""
    space, matcher = bounds.space, bounds.matcher
    best: tuple[int, float] = (len(space.start) + 1, inf)
    found = None
    for r in _others(bounds):
        point = space.start.copy()
        for k in range(matcher.indptr[r], matcher.indptr[r + 1]):
            j = int(matcher.columns[k])
            if j in space.axes:
                point[j] = _inside(bounds, k, j, float(point[j]))
        if _alters(bounds, point):
            point = _shortened(bounds, _undone(bounds, point))
            key = _changed(bounds, point), float(space.costs(point[None, :])[0])
            if key < best:
                best, found = key, point
    return found


def _others(bounds: DecisionBounds) -> Positions:
    """The rules that may speak for another class: of ordered ones, and for numbers, any."""
    if bounds.ruleset.task != "classification":
        return np.arange(len(bounds.ruleset))
    return np.flatnonzero(bounds.ruleset.arrays.classes != bounds.decision)


def _alters(bounds: DecisionBounds, point: Floats) -> bool:
    return bool(bounds.alters(bounds.space.decode(point[None, :]))[0])


def _inside(bounds: DecisionBounds, k: int, j: int, value: float) -> float:
    """The coordinate nearest to a value where a condition fully holds."""
    space, matcher = bounds.space, bounds.matcher
    if k in space.held:
        return float(space.held[k][0].argmax())
    axis = space.axes[j]
    value = axis.low if np.isnan(value) else value
    value = min(max(value, matcher.core_low[k]), matcher.core_high[k])
    if axis.line == "steps":
        value = float(np.ceil(value) if value == matcher.core_low[k] else np.floor(value))
    return float(min(max(value, axis.low), axis.high))


def _undone(bounds: DecisionBounds, point: Floats) -> Floats:
    for j in bounds.space.axes:
        back = point.copy()
        back[j] = bounds.space.start[j]
        if _alters(bounds, back):
            point = back
    return point


def _shortened(bounds: DecisionBounds, point: Floats) -> Floats:
    """Each number as near to the row's own as the others allow, by halving."""
    start = bounds.space.start
    for j, axis in bounds.space.axes.items():
        if axis.line != "numbers" or axis.flat or point[j] == start[j]:
            continue
        near, far = float(start[j]), float(point[j])
        for _ in range(40):
            middle = point.copy()
            middle[j] = near + (far - near) / 2.0
            if _alters(bounds, middle):
                far = float(middle[j])
            else:
                near = float(middle[j])
        point = np.where(np.arange(len(point)) == j, far, point)
    return point


def _changed(bounds: DecisionBounds, point: Floats) -> int:
    start = bounds.space.start
    return int((~((point == start) | (np.isnan(point) & np.isnan(start)))).sum())

"""Where a row may move: an interval per attribute, and what moving costs.

Numbers and dates move within the training range, widened to the row's own value; ordered categories by
whole steps; a nominal attribute to any known category. Categories that no condition tells apart are one
place, and the row's own place is number 0. A value is never taken away: nothing becomes missing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from math import inf, isfinite, isnan, nextafter
from typing import Literal

import numpy as np

from frri._util import Flags, Floats
from frri.rules.matching import Matcher
from frri.rules.ruleset import RuleSet

Line = Literal["numbers", "steps", "places"]


@dataclass(frozen=True)
class Axis:
    """One attribute: the least and the greatest coordinate, the row's own, and the price of a unit."""

    line: Line
    low: float
    high: float
    start: float
    price: float  # of a unit of distance
    flat: bool  # any other value costs 1: there is no distance from a missing value or a category

    def apart(self) -> list[tuple[float, float]]:
        """The axis without the row's own value."""
        if isnan(self.start) or not self.low <= self.start <= self.high:
            return [(self.low, self.high)]
        below, above = nextafter(self.start, -inf), nextafter(self.start, inf)
        if self.line != "numbers":
            below, above = self.start - 1.0, self.start + 1.0
        sides = [(self.low, below), (above, self.high)]
        return [(low, high) for low, high in sides if low <= high]

    def cut(self, low: float, high: float, after: float) -> list[tuple[float, float]]:
        """An interval in two, the first one ending at `after`; no value lies between them."""
        if self.line == "numbers":
            return [(low, after), (nextafter(after, inf), high)]
        after = float(np.floor(after))
        return [(low, after), (after + 1.0, high)]

    def middle(self, low: float, high: float) -> float:
        """Where to halve an interval."""
        middle = low + (high - low) / 2.0
        if self.line == "numbers":
            return max(low, min(middle, nextafter(high, -inf)))
        return float(np.floor(middle))


class Space:
    """Coordinates around one row.

    Parameters
    ----------
    ruleset : RuleSet
    row : ndarray, shape (n_attributes,)
        Encoded by `frri.table.to_matrix`.
    changeable : collection of int
        The attributes that may move.
    """

    def __init__(self, ruleset: RuleSet, row: Floats, changeable: Collection[int]) -> None:
        matcher = ruleset.arrays.matcher
        self.row = row
        nominal = {j: a for j, a in enumerate(ruleset.attributes) if a.kind == "nominal"}
        self.codes = {j: _places(ruleset, row, j) for j in nominal}
        self.start = row.copy()
        self.start[list(nominal)] = 0.0
        used = set(matcher.columns.tolist())
        axes = {j: self._axis(ruleset, j) for j in sorted(set(changeable) & used)}
        self.axes = {j: axis for j, axis in axes.items() if axis.apart()}
        # Of each nominal condition: its uncut value in every place, and how many places before hold.
        self.held = {}
        outside = matcher.outside
        for k, allowed in matcher.nominal:
            holds = _holds(matcher, k, allowed, self.codes[int(matcher.columns[k])])
            values = np.where(holds, 1.0, outside[k])
            self.held[k] = values, np.concatenate(([0], np.cumsum(values == values.max())))

    def decode(self, points: Floats) -> Floats:
        """From coordinates to encoded values: places become codes of categories."""
        values = points.copy()
        for j, codes in self.codes.items():
            values[:, j] = codes[points[:, j].astype(np.intp)]
        return values

    def costs(self, points: Floats) -> Floats:
        """The sum of the changes, in shares of the training ranges."""
        total = np.zeros(len(points))
        for j, axis in self.axes.items():
            if axis.flat:
                same = np.isnan(points[:, j]) if isnan(axis.start) else points[:, j] == axis.start
                total += ~same
            else:
                total += np.abs(points[:, j] - axis.start) * axis.price
        return total

    def nearest(self, low: Floats, high: Floats, columns: tuple[int, ...]) -> Floats:
        """The point of a box that is nearest to the row."""
        point = self.start.copy()
        for j in columns:
            axis = self.axes[j]
            if axis.flat:
                point[j] = axis.middle(low[j], high[j])
            else:
                point[j] = min(max(axis.start, low[j]), high[j])
        return point

    def _axis(self, ruleset: RuleSet, j: int) -> Axis:
        attribute, start = ruleset.attributes[j], float(self.start[j])
        if j in self.codes:
            return Axis("places", 0.0, len(self.codes[j]) - 1.0, 0.0, 1.0, flat=True)
        low, high = attribute.low, attribute.high
        flat = isnan(start)
        if attribute.kind == "ordinal":
            flat = flat or start < 0.0  # a category never seen has no place in the order
            return Axis("steps", 0.0, high, start, 1.0 / attribute.width, flat)
        if not isfinite(low) or not isfinite(high):
            # Without a known range: a little beyond the outermost bounds of the conditions.
            bounds = _bounds(ruleset, j)
            low = low if isfinite(low) else min(bounds, default=0.0) - 1.0
            high = high if isfinite(high) else max(bounds, default=0.0) + 1.0
        if not flat:
            low, high = min(low, start), max(high, start)
        return Axis("numbers", low, max(low, high), start, 1.0 / attribute.width, flat)


def _bounds(ruleset: RuleSet, j: int) -> list[float]:
    """The finite bounds of all conditions on an attribute."""
    matcher = ruleset.arrays.matcher
    ends = (matcher.support_low, matcher.core_low, matcher.core_high, matcher.support_high)
    values = np.concatenate([end[matcher.columns == j] for end in ends])
    return [float(value) for value in values[np.isfinite(values)]]


def _places(ruleset: RuleSet, row: Floats, j: int) -> Floats:
    """The row's own code, then one code for every group of categories that conditions tell apart."""
    matcher = ruleset.arrays.matcher
    known = np.arange(len(ruleset.attributes[j].categories or ()), dtype=np.float64)
    codes = np.concatenate((row[j : j + 1], known))
    signatures = [
        _holds(matcher, k, allowed, codes)
        for k, allowed in matcher.nominal
        if matcher.columns[k] == j
    ]
    if not signatures:
        return codes[:1]
    _, first = np.unique(np.column_stack(signatures), axis=0, return_index=True)
    return np.asarray(codes[np.sort(first)])


def _holds(matcher: Matcher, k: int, allowed: Flags, codes: Floats) -> Flags:
    """Which codes the nominal condition number `k` allows."""
    codes = np.where(np.isnan(codes), matcher.typical[matcher.columns[k]], codes)
    found = allowed[np.nan_to_num(codes, nan=-1.0).astype(np.intp)]
    return np.where(np.isnan(codes), matcher.missing_holds, found)

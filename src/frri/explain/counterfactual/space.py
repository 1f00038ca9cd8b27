"""The space of possible changes of a row: an interval per feature, and the cost of moving.

Numbers and dates move within the training range, widened to the row's own value; ordered
categories move by integer steps; a nominal feature can take any known category. Categories that
no condition distinguishes share one place, and the row's own place has number 0. A change never
removes a value: nothing becomes missing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from math import inf, isfinite, isnan, nextafter
from typing import Literal, NamedTuple

import numpy as np

from frri._util import Floats
from frri.rules.ruleset import RuleSet


class Box(NamedTuple):
    """Intervals of coordinates; only those of the features `names` differ from the row."""

    low: Floats
    high: Floats
    names: tuple[int, ...]


@dataclass(frozen=True)
class Axis:
    """One feature: its lowest and highest coordinate, the row's own, and the cost of a unit."""

    line: Literal["numbers", "steps", "places"]
    low: float
    high: float
    start: float
    price: float  # of a unit of distance
    flat: bool  # any other value costs 1: a missing value or a category has no distance

    @property
    def contains_start(self) -> bool:
        """Whether the row's own value lies on the axis: neither missing nor unknown."""
        return self.low <= self.start <= self.high

    def sides(self) -> list[tuple[float, float]]:
        """Return the axis without the row's own value."""
        if not self.contains_start:
            return [(self.low, self.high)]
        below, above = nextafter(self.start, -inf), nextafter(self.start, inf)
        if self.line != "numbers":
            below, above = self.start - 1.0, self.start + 1.0
        sides = [(self.low, below), (above, self.high)]
        return [(low, high) for low, high in sides if low <= high]

    def cut(self, low: float, high: float, after: float) -> list[tuple[float, float]]:
        """Cut an interval in two, the first part ending at `after`; no value lies between them."""
        if self.line == "numbers":
            return [(low, after), (nextafter(after, inf), high)]
        after = float(np.floor(after))
        return [(low, after), (after + 1.0, high)]

    def middle(self, low: float, high: float) -> float:
        """Return the coordinate at which to halve an interval."""
        middle = low + (high - low) / 2.0
        if self.line == "numbers":
            return max(low, min(middle, nextafter(high, -inf)))
        return float(np.floor(middle))


class Space:
    """Coordinates around one row.

    Parameters
    ----------
    ruleset : RuleSet
    row : ndarray of shape (n_features,)
        Encoded by `frri.table.to_matrix`.
    changeable : collection of int
        Positions of the features that may change.

    Attributes
    ----------
    start : ndarray of shape (n_features,)
        Coordinates of the row.
    axes : dict of int to Axis
        The changeable features that conditions use.
    codes : dict of int to ndarray
        Codes of the categories at the places of each nominal feature.
    held : dict of int to (ndarray, ndarray)
        For each nominal condition, its uncut value at every place, and how many places before each
        have the highest one.
    """

    def __init__(self, ruleset: RuleSet, row: Floats, changeable: Collection[int]) -> None:
        self.start = row.copy()
        self.codes: dict[int, Floats] = {}
        self.held = {}
        matcher = ruleset.arrays.matcher
        sizes = {
            j: 1 + len(attribute.categories or ())
            for j, attribute in enumerate(ruleset.attributes)
            if attribute.kind == "nominal"
        }
        # Row 0 is the row itself, and the others have every category of every nominal feature.
        codes = np.repeat(row[None, :], max(sizes.values(), default=1), axis=0)
        for j, size in sizes.items():
            codes[1:size, j] = np.arange(size - 1)
        uncut = matcher.uncut(matcher.clipped(codes))
        for j, size in sizes.items():
            at = matcher.nominal_at
            conditions = at[matcher.columns[at] == j].tolist()
            places = np.zeros(1, dtype=np.intp)
            if conditions:
                _, first = np.unique(uncut[:size, conditions], axis=0, return_index=True)
                places = np.sort(first)
            self.start[j], self.codes[j] = 0.0, codes[places, j]
            for k in conditions:
                values = uncut[places, k]
                self.held[k] = values, np.concatenate(([0], np.cumsum(values == values.max())))
        used = set(matcher.columns.tolist())
        axes = {j: self._axis(ruleset, j) for j in sorted(set(changeable) & used)}
        self.axes = {j: axis for j, axis in axes.items() if axis.sides()}

    def decode(self, points: Floats) -> Floats:
        """Turn coordinates into encoded values: places become codes of categories."""
        values = points.copy()
        for j, codes in self.codes.items():
            values[:, j] = codes[points[:, j].astype(np.intp)]
        return values

    def costs(self, points: Floats) -> Floats:
        """Add up the changes, in fractions of the training ranges."""
        total = np.zeros(len(points))
        for j, axis in self.axes.items():
            if axis.flat:
                same = np.isnan(points[:, j]) if isnan(axis.start) else points[:, j] == axis.start
                total += ~same
            else:
                total += np.abs(points[:, j] - axis.start) * axis.price
        return total

    def box(self, names: Collection[int]) -> Box:
        """Return the box in which some features take all of their values."""
        low, high = self.start.copy(), self.start.copy()
        for j in names:
            low[j], high[j] = self.axes[j].low, self.axes[j].high
        return Box(low, high, tuple(names))

    def nearest(self, box: Box) -> Floats:
        """Return the point of a box that is nearest to the row."""
        point = self.start.copy()
        for j in box.names:
            axis, low, high = self.axes[j], box.low[j], box.high[j]
            point[j] = axis.middle(low, high) if axis.flat else min(max(axis.start, low), high)
        return point

    def cost(self, box: Box) -> float:
        """Return the cost of the nearest point of a box."""
        return float(self.costs(self.nearest(box)[None, :])[0])

    def _axis(self, ruleset: RuleSet, j: int) -> Axis:
        attribute, start = ruleset.attributes[j], float(self.start[j])
        if j in self.codes:
            return Axis("places", 0.0, len(self.codes[j]) - 1.0, 0.0, 1.0, flat=True)
        low, high, price, flat = attribute.low, attribute.high, 1.0 / attribute.width, isnan(start)
        if attribute.kind == "ordinal":
            # An unknown category has no place in the order.
            return Axis("steps", 0.0, high, start, price, flat or start < 0.0)
        if not isfinite(low) or not isfinite(high):
            # Without a known range: a little beyond the outermost bounds of the conditions.
            m = ruleset.arrays.matcher
            bounds = np.array([m.support_low, m.core_low, m.core_high, m.support_high])
            bounds = bounds[:, m.columns == j]
            bounds = bounds[np.isfinite(bounds)]
            low = low if isfinite(low) else min(bounds.tolist(), default=0.0) - 1.0
            high = high if isfinite(high) else max(bounds.tolist(), default=0.0) + 1.0
        if not flat:
            low, high = min(low, start), max(high, start)
        return Axis("numbers", low, max(low, high), start, price, flat)

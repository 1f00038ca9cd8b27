"""The search for a counterfactual explanation: the smallest change that alters a decision.

The smallest change affects as few features as possible and, among such changes, has the least sum
of distances, each as a fraction of its feature's training range (a change of category, and a
value in place of a missing one, cost 1).

Subsets of one feature, of two, of three span boxes of samples. A box in which the decision cannot
change (`frri.explain.bounds`) is dropped. Any other is cut where a membership
bends and then halved, the cheapest box first, until its nearest point alters the decision or
nothing cheaper is left.
"""

import heapq
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, count, product
from math import comb, floor, inf, log10

import numpy as np

from frri._util import Flags, Floats
from frri.explain.bounds import Box, DecisionBounds, Goal, Space, Survey, is_changed
from frri.explain.cells import Cell
from frri.rules.matching import RuleArrays
from frri.rules.ruleset import RuleSet
from frri.table import Attribute

# Differences of cost below this fraction of a training range are ignored.
TOLERANCE = 1e-9
# Maximum number of boxes examined together, and of memberships that they may take.
BATCH = 32
ELEMENTS = 1 << 20
# Maximum number of linear programs per cell.
PROGRAMS = 60
# Units of a rounded date: a day, an hour, a minute, a second, a microsecond.
TIMES = (1.0, 1 / 24, 1 / 1440, 1 / 86_400, 1 / 86_400e6)
# Rounding moves a number by at most this fraction of the training range.
COARSEST = 0.02


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """The result of a search: the changed row, encoded, or None, and its cost.

    `bound` is a lower bound on the cost of a change of equally many features. `proved` means that
    no change of fewer features exists and `cost` is the least up to `TOLERANCE`; without a row,
    that no change exists at all.
    """

    row: Floats | None
    cost: float
    bound: float
    proved: bool


def find_counterfactual(
    ruleset: RuleSet,
    row: Floats,
    changeable: Collection[int],
    effort: int = 10_000,
    goal: Goal | None = None,
) -> Counterfactual:
    """Search for the smallest change of some features that alters the decision.

    After `effort` boxes the search is a heuristic without a proof. The default goal is to leave the
    predicted class; regression needs one.

    Examples
    --------
    >>> from frri import NumericCondition, Rule
    >>> low = NumericCondition("a", core_high=2, support_high=2)
    >>> rules = RuleSet(
    ...     (Rule((low,), "low"), Rule((), "any", 0.5)), (Attribute("a", 0, 10),), ("any", "low"))
    >>> find_counterfactual(rules, np.array([7.0]), {0})
    Counterfactual(row=array([2.]), cost=0.5, bound=0.5, proved=True)
    """
    bounds = DecisionBounds(
        ruleset, Space(ruleset, row, changeable), goal or _leave_decision(ruleset, row)
    )
    return _BoxSearch(bounds, effort).run()


def round_change(
    ruleset: RuleSet, row: Floats, changed: Floats, goal: Goal | None = None
) -> Floats:
    """Round the changed values of a row away from the old ones while the goal stays reached."""
    goal = goal or _leave_decision(ruleset, row)
    result = changed.copy()
    for j in np.flatnonzero(is_changed(row, changed)):
        attribute = ruleset.attributes[j]
        if attribute.categories is not None:
            continue
        for value in _rounded_values(attribute, float(row[j]), float(changed[j])):
            candidate = result.copy()
            candidate[j] = value
            if goal.reached_by(ruleset, candidate[None, :])[0]:
                result = candidate
                break
    return result


def _leave_decision(ruleset: RuleSet, row: Floats) -> Goal:
    decision = int(ruleset.predict_index(row[None, :])[0])
    return Goal(decision, decision)


class _BoxSearch:
    """Branch and bound over boxes; `best` and `point` are the cheapest change so far."""

    def __init__(self, bounds: DecisionBounds, effort: int) -> None:
        self.bounds, self.space, self.effort = bounds, bounds.space, effort
        self.best = inf
        self.point: Floats | None = None
        self.unsolved = inf  # least cost of the boxes that are too small to cut
        self.bends = _find_bends(bounds.arrays)

    def run(self) -> Counterfactual:
        """Try one feature, two, three, until a change is found, excluded, or effort is spent."""
        names = sorted(self.space.axes)
        sizes = range(0) if self._is_settled(names) else range(1, len(names) + 1)
        for size in sizes:
            bound = 0.0
            if comb(len(names), size) <= self.effort:
                bound = self._search_subsets([*combinations(names, size)])
            if self.point is not None:
                bound = min(bound, self.best)
                return self._report(self.point, bound, proved=bound >= self.best - TOLERANCE)
            if bound < inf:
                return self._report(_guess_point(self.bounds), 0.0, proved=False)
        return self._report(None, inf, proved=True)

    def _report(self, point: Floats | None, bound: float, *, proved: bool) -> Counterfactual:
        if point is None:
            return Counterfactual(None, inf, bound, proved)
        row = self.space.decode(point[None, :])[0]
        return Counterfactual(row, float(self.space.costs(point[None, :])[0]), bound, proved)

    def _is_settled(self, names: list[int]) -> bool:
        """Return whether one survey shows that no change of the features alters the decision."""
        # Missing and unknown values lie on no axis: each either stays or changes.
        absent = [j for j in names if not self.space.axes[j].contains_start]
        if len(absent) > 6:
            return False
        changed = chain.from_iterable(combinations(absent, n) for n in range(len(absent) + 1))
        present = [j for j in names if j not in absent]
        boxes = [self.space.box(sorted([*present, *some])) for some in changed]
        return all(survey.sure.all() for _, survey in self._surveys(boxes))

    def _surveys(self, boxes: list[Box]) -> Iterator[tuple[list[Box], Survey]]:
        """Yield boxes in parts with their bounds."""
        step = max(1, ELEMENTS // max(1, len(self.bounds.arrays.columns)))
        for start in range(0, len(boxes), step):
            part = boxes[start : start + step]
            self.effort -= len(part)
            low, high = np.array([box.low for box in part]), np.array([box.high for box in part])
            yield part, self.bounds.survey(low, high)

    def _search_subsets(self, subsets: list[tuple[int, ...]]) -> float:
        """Search all changes of exactly these subsets; return a lower bound on the others."""
        order = count()
        heap: list[tuple[float, int, Box]] = []

        def push(boxes: Iterable[Box]) -> None:
            for box in boxes:
                cost = self.space.cost(box)
                if cost < self.best - TOLERANCE:
                    heapq.heappush(heap, (cost, next(order), box))

        for boxes, survey in self._surveys([self.space.box(names) for names in subsets]):
            for box, sure in zip(boxes, survey.sure, strict=True):
                if not sure:
                    push(self._remove_start(box.names))
        while heap and heap[0][0] < self.best - TOLERANCE:
            if self.effort <= 0:
                return heap[0][0]
            taken: list[Box] = []
            while heap and len(taken) < BATCH and heap[0][0] < self.best - TOLERANCE:
                taken.append(heapq.heappop(heap)[-1])
            push(self._branch(taken))
        return self.unsolved

    def _remove_start(self, names: tuple[int, ...]) -> Iterator[Box]:
        """Yield the boxes in which every one of the features differs from the row."""
        for sides in product(*(self.space.axes[j].sides() for j in names)):
            low, high = self.space.start.copy(), self.space.start.copy()
            low[list(names)], high[list(names)] = np.array(sides).T
            yield Box(low, high, names)

    def _branch(self, boxes: list[Box]) -> list[Box]:
        """Try the nearest points of boxes, drop the settled ones and cut the others."""
        altered = self._try(np.array([self.space.nearest(box) for box in boxes]))
        remaining = [box for box, solved in zip(boxes, altered, strict=True) if not solved]
        parts: list[Box] = []
        for some, survey in self._surveys(remaining):
            active = self.bounds.active(survey)
            for i, box in enumerate(some):
                if not survey.sure[i]:
                    parts += self._cut(box, survey.box(i), active[i])
        return parts

    def _try(self, points: Floats) -> Flags:
        """Return which points alter the decision, and keep the cheapest of them."""
        altered = self.bounds.alters(points)
        costs = np.where(altered, self.space.costs(points), inf)
        cheapest = int(costs.argmin())
        if costs[cheapest] < self.best:
            self.best, self.point = float(costs[cheapest]), points[cheapest].copy()
        return altered

    def _cut(self, box: Box, survey: Survey, active: Flags) -> list[Box]:
        """Cut a box at a bend of a membership or in the middle; return nothing if it is solved."""
        low, high, names = box
        columns, axes = self.bounds.arrays.columns, self.space.axes
        widths = {j: (high[j] - low[j]) * axes[j].price for j in names}
        lasts = {}
        for j in names:
            inside = self.bends[active & (columns == j)].ravel()
            inside = inside[(inside >= low[j]) & (inside < high[j])]
            if len(inside):
                middle = axes[j].middle(low[j], high[j])
                lasts[j] = float(inside[np.abs(inside - middle).argmin()])
        if not lasts:
            if len(names) > 1 and self._solve(box, survey, active):
                return []
            widths = {j: width * active[columns == j].any() for j, width in widths.items()}
            j = max(widths, key=lambda j: widths[j])
            # A single feature is followed down to neighbouring numbers.
            if widths[j] <= (0.0 if len(names) == 1 else TOLERANCE * 1e-3):
                if widths[j] > 0.0:
                    self.unsolved = min(self.unsolved, self.space.cost(box))
                return []
            lasts[j] = axes[j].middle(low[j], high[j])
        j = max(lasts, key=lambda j: widths[j])
        halves = []
        for part_low, part_high in axes[j].cut(low[j], high[j], lasts[j]):
            half = Box(low.copy(), high.copy(), names)
            half.low[j], half.high[j] = part_low, part_high
            halves.append(half)
        return halves

    def _solve(self, box: Box, survey: Survey, active: Flags) -> bool:
        """Return whether linear programs find the cheapest point of the box, or exclude any."""
        if not survey.covered[0] or not self.bounds.ruleset.semantics.is_max_min:
            return False
        if any(self.space.axes[j].whole and box.low[j] < box.high[j] for j in box.names):
            return False
        cell = Cell(self.bounds, box, survey, active)
        cost, places, programs = cell.solve(self.best - TOLERANCE, PROGRAMS)
        self.effort -= 10 * programs
        if places:
            self._try(cell.extend(places))
        return cost == inf or self.best <= cost + TOLERANCE


def _find_bends(arrays: RuleArrays) -> Floats:
    """Return conditions x 6: the last values before a membership bends or jumps, or NaN."""
    # A side without slope has one jump: its bound still belongs to the core.
    low_slope = arrays.support_low != arrays.core_low
    high_slope = arrays.support_high != arrays.core_high
    bends = np.column_stack(
        [
            np.where(low_slope, arrays.support_low, np.nan),
            np.nextafter(arrays.core_low, -inf),
            arrays.core_high,
            np.where(high_slope, np.nextafter(arrays.support_high, -inf), np.nan),
            arrays.lows[arrays.columns],
            arrays.highs[arrays.columns],
        ]
    )
    bends[arrays.nominal_at] = np.nan
    return np.where(np.isfinite(bends), bends, np.nan)


# ------------------------------------------------------------------ heuristic


def _guess_point(bounds: DecisionBounds) -> Floats | None:
    """Satisfy one rule of another class and shorten that change; return the best of them."""
    space, ruleset, arrays = bounds.space, bounds.ruleset, bounds.arrays
    found = []
    for r in range(len(ruleset)):
        if ruleset.task == "classification" and ruleset.arrays.classes[r] == bounds.decision:
            continue
        point = space.start.copy()
        for k in range(arrays.indptr[r], arrays.indptr[r + 1]):
            j = int(arrays.columns[k])
            if j in space.axes:
                point[j] = _satisfy_condition(bounds, k, j, float(point[j]))
        if bounds.alters(point[None, :])[0]:
            point = _shorten_point(bounds, point)
            changed = int(is_changed(space.start, point).sum())
            found.append((changed, float(space.costs(point[None, :])[0]), r, point))
    return min(found)[-1] if found else None


def _satisfy_condition(bounds: DecisionBounds, k: int, j: int, value: float) -> float:
    """Return the coordinate nearest to a value where a condition fully holds."""
    space, arrays = bounds.space, bounds.arrays
    if k in space.held:
        return float(space.held[k][0].argmax())
    axis = space.axes[j]
    value = axis.low if np.isnan(value) else value
    value = min(max(value, arrays.core_low[k]), arrays.core_high[k])
    if axis.whole:
        value = float(np.ceil(value) if value == arrays.core_low[k] else np.floor(value))
    return float(min(max(value, axis.low), axis.high))


def _shorten_point(bounds: DecisionBounds, point: Floats) -> Floats:
    """Undo every change that is not needed, then halve the distances of the numbers that are."""
    start = bounds.space.start
    for j in bounds.space.axes:
        far, point[j] = float(point[j]), start[j]
        if not bounds.alters(point[None, :])[0]:
            point[j] = far
    for j, axis in bounds.space.axes.items():
        near, far = float(start[j]), float(point[j])
        if axis.whole or axis.flat or near == far:
            continue
        for _ in range(40):
            point[j] = near + (far - near) / 2.0
            if bounds.alters(point[None, :])[0]:
                far = float(point[j])
            else:
                near = float(point[j])
        point[j] = far
    return point


# ------------------------------------------------------------------ rounding


def _rounded_values(attribute: Attribute, before: float, after: float) -> Iterator[float]:
    """Yield less and less rounded values beyond `after`, within the range, seen from `before`."""
    first = floor(log10(COARSEST * attribute.width))
    decimals = [10.0**exponent for exponent in range(first, max(first - 12, -300), -1)]
    for step in TIMES if attribute.kind == "date" else decimals:
        if step > COARSEST * attribute.width:
            continue
        # Beyond the border, or on it if rounding leads there.
        away = np.ceil if after > before else np.floor
        for rounding in (np.round,) if np.isnan(before) else (np.round, away):
            n_steps = rounding(after / step)
            # Steps of 1/10 by division: 7 / 10, not 7 * 0.1, is 0.7.
            value = float(n_steps * step if step >= 1 else n_steps / round(1 / step)) + 0.0
            if attribute.low <= value <= attribute.high and value != before:
                yield value

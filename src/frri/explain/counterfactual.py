"""The search for a counterfactual explanation: the smallest change that alters a decision.

The smallest change affects as few features as possible and, among such changes, has the least sum
of distances, each as a fraction of its feature's training range (a change of category, and a
value in place of a missing one, cost 1).

Subsets of one feature, of two, of three span boxes of samples. A box in which the decision cannot
change (`frri.explain.bounds`) is dropped. Any other is cut where a membership bends and then
halved, the cheapest box first, until its nearest point alters the decision or nothing cheaper is
left.

A *cell* is a box in which every membership is a straight line. There, for the best rule by the
minimum, another class is predicted where one of its rules reaches a level `t` that no rule of the
decided class exceeds, because one of its conditions fails to. Once these conditions are chosen,
that is a linear program in the coordinates and `t`; the search branches over the choices.
"""

import heapq
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, count, product
from math import comb, floor, inf, log10
from typing import NamedTuple

import numpy as np

from frri._util import Flags, Floats
from frri.explain.bounds import Box, DecisionBounds, Goal, Space, Survey, is_changed
from frri.rules.matching import RuleArrays
from frri.rules.ruleset import RuleSet
from frri.table import Attribute

# Differences of cost below this fraction of a training range are ignored.
TOLERANCE = 1e-9
# Differences of scores below this are ties; the tolerance of the solver is a tenth of it.
TIE = 1e-9
# Maximum number of boxes examined together, and of memberships that they may take.
BATCH = 32
ELEMENTS = 1 << 20
# Ratio of the costs of two classes up to which linear programs are exact to that.
STEEPEST = 1e4
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
    if goal is None:
        decided = int(ruleset.predict_index(row[None, :])[0])
        goal = Goal(decided, decided)
    bounds = DecisionBounds(ruleset, Space(ruleset, row, changeable), goal)
    return _BoxSearch(bounds, effort).run()


def round_change(ruleset: RuleSet, row: Floats, changed: Floats, goal: Goal) -> Floats:
    """Round the changed values of a row away from the old ones while the goal stays reached."""
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
        point, bound, proved = None, inf, True
        sizes = range(0) if self._is_settled(names) else range(1, len(names) + 1)
        for size in sizes:
            bound = 0.0
            if comb(len(names), size) <= self.effort:
                bound = self._search_subsets([*combinations(names, size)])
            if self.point is not None:
                point, bound = self.point, min(bound, self.best)
                proved = bound >= self.best - TOLERANCE
                break
            if bound < inf:
                point, bound, proved = _guess_point(self.bounds), 0.0, False
                break
        if point is None:
            return Counterfactual(None, inf, bound, proved)
        cost = float(self.space.costs(point[None, :])[0])
        return Counterfactual(self.space.decode(point[None, :])[0], cost, bound, proved)

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
            # A single feature is followed down to neighboring numbers.
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
        ruleset, axes = self.bounds.ruleset, self.space.axes
        costs = ruleset.score_factors
        is_linear = survey.covered[0] and ruleset.semantics.is_max_min
        is_linear = is_linear and costs.max() <= STEEPEST * costs.min()
        if not is_linear or any(axes[j].whole and box.low[j] < box.high[j] for j in box.names):
            return False
        cell = _Cell(self.bounds, box, survey, active)
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


# ------------------------------------------------------------------ cells
class _RuleLines(NamedTuple):
    """A weighted degree as a minimum of lines; slopes of shape (n_lines, n_axes)."""

    slopes: Floats
    offsets: Floats

    def at(self, place: Floats) -> float:
        """Return the minimum of the lines at a place."""
        return float((self.slopes @ place + self.offsets).min())


class _Cell:
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
        self.rivals: list[tuple[_RuleLines, float]] = []
        self.defenders: list[_RuleLines] = []
        arrays, classes = bounds.arrays, bounds.arrays.classes
        at_near, at_far = arrays.uncut(arrays.clipped(bounds.space.decode(ends)))
        factors = bounds.ruleset.score_factors
        strengths = arrays.weights * (factors / factors.min())[classes]
        for r in np.flatnonzero(bounds.relevant(survey)[0]).tolist():
            own = np.arange(arrays.indptr[r], arrays.indptr[r + 1])
            varying, fixed = own[active[own]], own[~active[own]]
            along = arrays.columns[varying][:, None] == self.names
            slopes = np.where(along, (at_far - at_near)[varying][:, None], 0.0)
            offsets = at_near[varying]
            if len(fixed):
                slopes = np.vstack([slopes, np.zeros(len(self.names))])
                offsets = np.append(offsets, survey.lower[0, fixed].min())
            lines = _RuleLines(strengths[r] * slopes, strengths[r] * offsets)
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
        self, rival: _RuleLines, chosen: tuple[tuple[int, int], ...], margin: float
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

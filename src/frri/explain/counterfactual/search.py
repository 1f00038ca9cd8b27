"""The smallest change of a row that alters a ruleset's decision.

Smallest means: as few attributes as possible, and among such changes the least sum of distances, each in
shares of its attribute's training range (a change of category, and a value for a missing one, cost 1).

Subsets of one attribute, of two, of three are boxes of objects. A box in which the decision cannot change
(`frri.explain.counterfactual.bounds`) is dropped, any other is cut where a membership bends and then halved, the cheapest
box first, until its nearest point alters the decision or nothing cheaper is left.
"""

import heapq
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from math import comb, inf

import numpy as np

from frri._util import Flags, Floats, Positions
from frri.explain.counterfactual.bounds import DecisionBounds, Goal, Survey, goal_or_other_class
from frri.explain.counterfactual.cells import beyond, cell_applies, cheapest, make_cell
from frri.explain.counterfactual.space import Space
from frri.rules.ruleset import RuleSet

# Differences of cost below this share of a training range do not count.
TOLERANCE = 1e-9
# Boxes looked at together, at most, and numbers that their memberships may take.
BATCH = 32
ELEMENTS = 1 << 20
# Linear programs per cell, at most.
PROGRAMS = 60

Box = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Found:
    """The outcome of a search.

    Parameters
    ----------
    row : ndarray or None
        The changed row, encoded; None if no change was found.
    cost : float
        Sum of the changes in shares of the training ranges.
    bound : float
        No change of equally many attributes costs less than this.
    proved : bool
        Whether there is none with fewer attributes and `cost` is the least up to `TOLERANCE`; without
        a row, whether there is no change at all.
    """

    row: Floats | None
    cost: float
    bound: float
    proved: bool


def smallest_change(
    ruleset: RuleSet,
    row: Floats,
    changeable: Collection[int],
    effort: int = 10_000,
    goal: Goal | None = None,
) -> Found:
    """Search for the smallest change of some attributes that alters the decision.

    Parameters
    ----------
    ruleset : RuleSet
    row : ndarray, shape (n_attributes,)
        Encoded by `frri.table.to_matrix`.
    changeable : collection of int
        The attributes that may change.
    effort : int
        How many boxes to look at before giving up on a proof.
    goal : range or NumberGoal, optional
        Of ordered classes, the positions of those to be left; by default the predicted one. In
        regression, the number to be reached.

    Returns
    -------
    Found

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet(
    ...     (Rule((NumericCondition("a", core_high=2, support_high=2),), "low"), Rule((), "any", 0.5)),
    ...     (Attribute("a", 0, 10),), ("any", "low"))
    >>> smallest_change(rules, np.array([7.0]), {0})
    Found(row=array([2.]), cost=0.5, bound=0.5, proved=True)
    """
    goal = goal_or_other_class(ruleset, row, goal)
    return _Search(ruleset, row, changeable, effort, goal).run()


@dataclass(eq=False)
class _Search:
    ruleset: RuleSet
    row: Floats
    changeable: Collection[int]
    effort: int
    goal: Goal
    best: float = inf
    point: Floats | None = None
    tiny: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.space = Space(self.ruleset, self.row, self.changeable)
        self.bounds = DecisionBounds(self.ruleset, self.space, self.goal)
        self.cuts = _cuts(self.ruleset)

    def run(self) -> Found:
        """One attribute, two, three, until a change is found, none is possible or effort is spent."""
        names = sorted(self.space.axes)
        if self._settled(names):
            return Found(None, inf, inf, proved=True)
        for size in range(1, len(names) + 1):
            if comb(len(names), size) > self.effort:
                return self._guess()
            left = self._level([*combinations(names, size)])
            if self.point is not None:
                bound = min(left, self.best)
                values = self.space.decode(self.point[None, :])[0]
                return Found(values, self.best, bound, bound >= self.best - TOLERANCE)
            if left < inf:
                return self._guess()
        return Found(None, inf, inf, proved=True)

    def _guess(self) -> Found:
        """Some change, if any comes to mind, without a proof."""
        point = guess(self.bounds)
        if point is None:
            return Found(None, inf, 0.0, proved=False)
        values = self.space.decode(point[None, :])[0]
        return Found(values, float(self.space.costs(point[None, :])[0]), 0.0, proved=False)

    def _settled(self, names: list[int]) -> bool:
        """Whether no change of these attributes alters the decision, at a glance."""
        # Values that are missing or unknown lie on no axis: they stay or go.
        apart = [j for j in names if not self._contains_start(j)]
        if len(apart) > 6:
            return False
        boxes = []
        for kept in product((False, True), repeat=len(apart)):
            fixed = {j for j, keep in zip(apart, kept, strict=True) if keep}
            boxes.append(self._box([j for j in names if j not in fixed]))
        return all(survey.sure.all() for _, survey in self._surveys(boxes))

    def _contains_start(self, j: int) -> bool:
        axis = self.space.axes[j]
        return axis.low <= axis.start <= axis.high

    def _box(self, names: Collection[int]) -> Box:
        low, high = self.space.start.copy(), self.space.start.copy()
        for j in names:
            low[j], high[j] = self.space.axes[j].low, self.space.axes[j].high
        return low, high

    def _surveys(self, boxes: list[Box]) -> Iterator[tuple[slice, Survey]]:
        """Bounds over boxes, a part at a time."""
        step = max(1, ELEMENTS // max(1, len(self.bounds.matcher.columns)))
        for start in range(0, len(boxes), step):
            part = slice(start, start + step)
            low = np.array([box[0] for box in boxes[part]])
            high = np.array([box[1] for box in boxes[part]])
            self.effort -= len(low)
            yield part, self.bounds.survey(low, high)

    # ------------------------------------------------------------------ one size of change

    def _level(self, subsets: list[tuple[int, ...]]) -> float:
        """Search all changes of exactly these subsets; what remains unexplored costs at least this."""
        heap: list[tuple[float, int, Box, tuple[int, ...]]] = []
        count = 0
        boxes = [self._box(names) for names in subsets]
        for part, survey in self._surveys(boxes):
            for names, sure in zip(subsets[part], survey.sure, strict=True):
                if sure:
                    continue
                for sides in product(*(self.space.axes[j].apart() for j in names)):
                    low, high = self.space.start.copy(), self.space.start.copy()
                    low[list(names)], high[list(names)] = np.array(sides).T
                    count += 1
                    heap.append((self._cost((low, high), names), count, (low, high), names))
        heapq.heapify(heap)
        while heap and heap[0][0] < self.best - TOLERANCE:
            if self.effort <= 0:
                return heap[0][0]
            taken: list[tuple[float, int, Box, tuple[int, ...]]] = []
            while heap and len(taken) < BATCH and heap[0][0] < self.best - TOLERANCE:
                taken.append(heapq.heappop(heap))
            for cost, box, names in self._look([(box, names) for _, _, box, names in taken]):
                count += 1
                heapq.heappush(heap, (cost, count, box, names))
        return min(self.tiny, default=inf)

    def _look(
        self, nodes: list[tuple[Box, tuple[int, ...]]]
    ) -> list[tuple[float, Box, tuple[int, ...]]]:
        """Try the nearest points of boxes, drop what is settled, cut the rest."""
        nearest = np.array([self.space.nearest(*box, names) for box, names in nodes])
        altered = self._try(nearest)
        open_nodes = [node for node, solved in zip(nodes, altered, strict=True) if not solved]
        new = []
        for part, survey in self._surveys([box for box, _ in open_nodes]):
            active = self.bounds.active(survey)
            for i, (box, names) in enumerate(open_nodes[part]):
                if not survey.sure[i]:
                    new += self._cut(box, names, survey, i, active[i])
        costs = [self._cost(box, names) for box, names in new]
        return [
            (cost, box, names)
            for cost, (box, names) in zip(costs, new, strict=True)
            if cost < self.best - TOLERANCE
        ]

    def _cost(self, box: Box, names: tuple[int, ...]) -> float:
        return float(self.space.costs(self.space.nearest(*box, names)[None, :])[0])

    def _try(self, points: Floats) -> Flags:
        """Which points alter the decision; the cheapest of them is kept."""
        altered = self.bounds.alters(self.space.decode(points))
        costs = np.where(altered, self.space.costs(points), inf)
        cheapest_one = int(costs.argmin())
        if costs[cheapest_one] < self.best:
            self.best, self.point = float(costs[cheapest_one]), points[cheapest_one].copy()
        return altered

    # ------------------------------------------------------------------ one box

    def _cut(
        self, box: Box, names: tuple[int, ...], survey: Survey, i: int, active: Flags
    ) -> list[tuple[Box, tuple[int, ...]]]:
        """Two smaller boxes: at a bend of a membership, in the middle, or none where a cell is solved."""
        low, high = box
        columns = self.bounds.matcher.columns
        chosen: tuple[float, int, float] | None = None
        for j in names:
            inside = self.cuts[active & (columns == j)].ravel()
            inside = inside[(inside >= low[j]) & (inside < high[j])]
            if len(inside):
                axis = self.space.axes[j]
                middle = axis.middle(low[j], high[j])
                after = float(inside[np.abs(inside - middle).argmin()])
                width = (high[j] - low[j]) * axis.price
                if chosen is None or width > chosen[0]:
                    chosen = width, j, after
        if chosen is None and len(names) > 1 and self._solved(box, names, survey, i, active):
            return []
        if chosen is None:
            widths = [
                (high[j] - low[j]) * self.space.axes[j].price * bool(active[columns == j].any())
                for j in names
            ]
            j = names[int(np.argmax(widths))]
            # A single attribute is followed down to neighbouring numbers.
            if max(widths) <= (0.0 if len(names) == 1 else TOLERANCE * 1e-3):
                if max(widths) > 0.0:
                    self.tiny.append(self._cost(box, names))
                return []
            chosen = max(widths), j, self.space.axes[j].middle(low[j], high[j])
        _, j, after = chosen
        halves = []
        for part_low, part_high in self.space.axes[j].cut(low[j], high[j], after):
            new_low, new_high = low.copy(), high.copy()
            new_low[j], new_high[j] = part_low, part_high
            halves.append(((new_low, new_high), names))
        return halves

    def _solved(
        self, box: Box, names: tuple[int, ...], survey: Survey, i: int, active: Flags
    ) -> bool:
        """Whether a linear program found the cheapest point of the box, or that there is none."""
        if not cell_applies(self.bounds, box, names, bool(survey.covered[i])):
            return False
        cell = make_cell(self.bounds, box, names, survey, i, active)
        cost, points, programs = cheapest(cell, self.best - TOLERANCE, PROGRAMS)
        self.effort -= 10 * programs
        if points:
            self._try(beyond(self.space, points, cell.prices, names))
        return cost == inf or self.best <= cost + TOLERANCE


def _cuts(ruleset: RuleSet) -> Floats:
    """Conditions x 6: the last values before a membership bends or jumps; NaN where it does not."""
    matcher = ruleset.arrays.matcher
    # A side without slope has one jump: its bound still belongs to the core.
    low_slope = matcher.support_low != matcher.core_low
    high_slope = matcher.support_high != matcher.core_high
    cuts = np.column_stack(
        [
            np.where(low_slope, matcher.support_low, np.nan),
            np.nextafter(matcher.core_low, -inf),
            matcher.core_high,
            np.where(high_slope, np.nextafter(matcher.support_high, -inf), np.nan),
            matcher.lows[matcher.columns],
            matcher.highs[matcher.columns],
        ]
    )
    for k, _ in matcher.nominal:
        cuts[k] = np.nan
    return np.where(np.isfinite(cuts), cuts, np.nan)


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

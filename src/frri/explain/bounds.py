"""Bounds on the decisions of a rule set over boxes of samples.

A box gives every feature an interval. Within it, the membership of a condition lies between its
values at the two ends, and reaches 1 if the interval meets the core. T-norms, weights, maxima and
sums preserve this order, so that scores have bounds too. Where the bounds of one class exceed
those of the others, that class is predicted in the whole box.

Numbers and dates move within the training range, widened to the row's own value; ordered
categories move by integer steps; a nominal feature can take any known category. Categories that
no condition distinguishes share one place, and the row's own place has number 0. A change never
removes a value: nothing becomes missing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite, isnan, nextafter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from frri._util import Flags, Floats
from frri.rules.inference import Decision, best_per_class, compute_scores, last_resort
from frri.rules.ruleset import RuleSet

# Sums of votes are tied if they differ by less than this fraction of what they add up.
HAIR = 1e-12

# Fallbacks turn values into probabilities, where differences of a few last digits can vanish.
ROUNDING = 1e-15


class Goal(NamedTuple):
    """Answers that a change must leave: positions of classes, or numbers, both ends included.

    Examples
    --------
    >>> Goal.at_least(20.0).reached([19.0, 20.0, 21.0]).tolist()
    [False, True, True]
    """

    low: float
    high: float

    @classmethod
    def at_least(cls, answer: float) -> "Goal":
        """Return the goal of an answer that is not lower."""
        return cls(-inf, nextafter(answer, -inf))

    @classmethod
    def at_most(cls, answer: float) -> "Goal":
        """Return the goal of an answer that is not higher."""
        return cls(nextafter(answer, inf), inf)

    def reached(self, answers: ArrayLike) -> Flags:
        """Return which answers reach the goal."""
        values = np.asarray(answers)
        return np.asarray((values < self.low) | (values > self.high))

    def reached_by(self, ruleset: RuleSet, matrix: Floats) -> Flags:
        """Return which encoded samples get an answer that reaches the goal."""
        decision = Decision(ruleset, matrix)
        return self.reached(decision.index if ruleset.classes else decision.answers)


class Box(NamedTuple):
    """Intervals of coordinates; only those of the features `names` differ from the row."""

    low: Floats
    high: Floats
    names: tuple[int, ...]


@dataclass(frozen=True)
class Axis:
    """One feature: its lowest and highest coordinate, the row's own, and the cost of a unit."""

    low: float
    high: float
    start: float
    price: float  # of a unit of distance
    flat: bool  # any other value costs 1: a missing value or a category has no distance
    whole: bool = False  # coordinates are integers: positions of categories

    @property
    def contains_start(self) -> bool:
        """Whether the row's own value lies on the axis: neither missing nor unknown."""
        return self.low <= self.start <= self.high

    def sides(self) -> list[tuple[float, float]]:
        """Return the axis without the row's own value."""
        if not self.contains_start:
            return [(self.low, self.high)]
        below = self.start - 1.0 if self.whole else nextafter(self.start, -inf)
        sides = [(self.low, below), (self._after(self.start), self.high)]
        return [(low, high) for low, high in sides if low <= high]

    def cut(self, low: float, high: float, last: float) -> list[tuple[float, float]]:
        """Cut an interval in two, the first part ending at `last`; no value lies between them."""
        last = float(np.floor(last)) if self.whole else last
        return [(low, last), (self._after(last), high)]

    def middle(self, low: float, high: float) -> float:
        """Return the coordinate at which to halve an interval."""
        middle = low + (high - low) / 2.0
        if self.whole:
            return float(np.floor(middle))
        return max(low, min(middle, nextafter(high, -inf)))

    def _after(self, value: float) -> float:
        return value + 1.0 if self.whole else nextafter(value, inf)


class Space:
    """Coordinates around one row: an interval per feature, and the cost of moving.

    `start` are the coordinates of the encoded row, `axes` the changeable features that conditions
    use. `codes` are the codes of the categories at the places of each nominal feature, and `held`
    for each nominal condition its uncut value at every place, and how many places before each have
    the highest one.
    """

    def __init__(self, ruleset: RuleSet, row: Floats, changeable: Collection[int]) -> None:
        self.start = row.copy()
        self.codes: dict[int, Floats] = {}
        self.held = {}
        arrays = ruleset.arrays
        sizes = {
            j: 1 + len(attribute.categories or ())
            for j, attribute in enumerate(ruleset.attributes)
            if attribute.kind == "nominal"
        }
        # Row 0 is the row itself, and the others have every category of every nominal feature.
        codes = np.repeat(row[None, :], max(sizes.values(), default=1), axis=0)
        for j, size in sizes.items():
            codes[1:size, j] = np.arange(size - 1)
        uncut = arrays.uncut(arrays.clipped(codes))
        for j, size in sizes.items():
            at = arrays.nominal_at
            conditions = at[arrays.columns[at] == j].tolist()
            places = np.zeros(1, dtype=np.intp)
            if conditions:
                _, first = np.unique(uncut[:size, conditions], axis=0, return_index=True)
                places = np.sort(first)
            self.start[j], self.codes[j] = 0.0, codes[places, j]
            for k in conditions:
                values = uncut[places, k]
                self.held[k] = values, np.concatenate(([0], np.cumsum(values == values.max())))
        used = set(arrays.columns.tolist())
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
            column = points[:, j]
            if axis.flat:
                total += is_changed(np.full(len(column), axis.start), column)
            else:
                total += np.abs(column - axis.start) * axis.price
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
            return Axis(0.0, len(self.codes[j]) - 1.0, 0.0, 1.0, flat=True, whole=True)
        price, flat = 1.0 / attribute.width, isnan(start)
        if attribute.kind == "ordinal":
            # An unknown category has no place in the order.
            return Axis(0.0, attribute.high, start, price, flat or start < 0.0, whole=True)
        low, high = value_range(ruleset, j)
        if not flat:
            low, high = min(low, start), max(high, start)
        return Axis(low, max(low, high), start, price, flat)


def value_range(ruleset: RuleSet, j: int) -> tuple[float, float]:
    """Return the training range of a feature; without one, a little beyond its conditions."""
    arrays, attribute = ruleset.arrays, ruleset.attributes[j]
    ends = [arrays.support_low, arrays.core_low, arrays.core_high, arrays.support_high]
    bounds = np.array(ends)[:, arrays.columns == j]
    known = bounds[np.isfinite(bounds)].tolist()
    low = attribute.low if isfinite(attribute.low) else min(known, default=0.0) - 1.0
    high = attribute.high if isfinite(attribute.high) else max(known, default=0.0) + 1.0
    return low, high


def is_changed(row: Floats, other: Floats) -> Flags:
    """Return which values of two rows differ; missing values are equal."""
    return np.asarray(~((row == other) | (np.isnan(row) & np.isnan(other))))


class Survey(NamedTuple):
    """Bounds over some boxes."""

    lower: Floats  # boxes x conditions: least uncut value anywhere in the box
    upper: Floats  # and greatest
    sure: Flags  # boxes: no sample reaches the goal
    covered: Flags  # boxes: some rule fires everywhere

    def box(self, i: int) -> "Survey":
        """Return the survey of one box."""
        return Survey._make(part[i : i + 1] for part in self)


class DecisionBounds:
    """Bounds on the scores of a rule set, and whether they keep the decision from a goal.

    Without an order of the classes, the goal to leave is the position of a single class.
    """

    def __init__(self, ruleset: RuleSet, space: Space, goal: Goal) -> None:
        self.ruleset, self.space, self.goal, self.arrays = ruleset, space, goal, ruleset.arrays

    @property
    def decision(self) -> int:
        """Position of the class to leave, where classes have no order."""
        return int(self.goal.low)

    def alters(self, points: Floats) -> Flags:
        """Return which points reach the goal."""
        return self.goal.reached_by(self.ruleset, self.space.decode(points))

    def survey(self, low: Floats, high: Floats) -> Survey:
        """Bound the decisions in boxes, given as rows of lower and upper coordinates."""
        lower, upper = self._bound_conditions(low, high)
        silent = np.zeros(len(low), dtype=bool)
        by_nearest = last_resort(self.ruleset) == "nearest" and not self.ruleset.costs
        if by_nearest and self.ruleset.semantics.is_max_min:
            # One formula, the best uncut value, decides inside and outside the supports.
            sure = self._fallback_sure(lower, upper)
        else:
            sure, silent = self._rules_sure(lower, upper)
            asked = np.flatnonzero(silent & sure)
            if len(asked):
                sure[asked] = self._fallback_sure(lower[asked], upper[asked])
        return Survey(lower, upper, sure, ~silent)

    def active(self, survey: Survey) -> Flags:
        """Return boxes x conditions: those that vary, of rules that can still be decisive."""
        return self.relevant(survey)[:, self.arrays.rule_of] & (survey.lower < survey.upper)

    def relevant(self, survey: Survey) -> Flags:
        """Return boxes x rules: those that can still be decisive."""
        arrays = self.arrays
        if not self.ruleset.semantics.is_max_min:
            return np.ones((len(survey.sure), len(self.ruleset)), dtype=bool)
        costs = self.ruleset.score_factors[arrays.classes]
        least, most = (costs * arrays.join_nearness(ends) for ends in survey[:2])
        own = self.arrays.classes == self.decision
        highest = np.where(own, least, -inf).max(axis=1, keepdims=True)
        rivals = ~own & (most >= highest - ROUNDING)
        threat = np.where(rivals, least, inf).min(axis=1, keepdims=True)
        known = (rivals | (own & (most >= threat - ROUNDING))) & (arrays.weights > 0.0)
        return np.asarray(known | ~survey.covered[:, None])

    def _bound_conditions(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the least and the greatest uncut value of each condition in boxes."""
        arrays = self.arrays
        low_values = arrays.clipped(self.space.decode(low))
        high_values = arrays.clipped(self.space.decode(high))
        at_low, at_high = arrays.uncut(low_values), arrays.uncut(high_values)
        lower, upper = np.minimum(at_low, at_high), np.maximum(at_low, at_high)
        columns = arrays.columns
        core = low_values[:, columns] <= arrays.core_high
        core &= high_values[:, columns] >= arrays.core_low
        for k, (values, held) in self.space.held.items():
            core[:, k] = False
            first, last = (end[:, columns[k]].astype(np.intp) for end in (low, high))
            count = held[last + 1] - held[first]
            lower[:, k] = np.where(count == last + 1 - first, values.max(), values.min())
            upper[:, k] = np.where(count > 0, values.max(), values.min())
        upper[core] = 1.0
        return lower, upper

    # ------------------------------------------------------------------ where rules fire
    def _rules_sure(self, lower: Floats, upper: Floats) -> tuple[Flags, Flags]:
        """Return where rules that fire cannot reach the goal, and where the fallback may decide."""
        low, high = (self.arrays.join(np.maximum(values, 0.0)) for values in (lower, upper))
        meaning, never = self.ruleset.semantics.meaning, np.zeros(len(low), dtype=bool)
        if meaning.task == "regression":
            return self._number_sure(low, high)
        if meaning.is_list:
            return self._first_sure(low, high)
        if meaning.task == "ordinal":
            return self._steps_sure(lower, upper, low, high), never
        if meaning.adds:
            return self._lead_sure(low, high), never
        least, most = (compute_scores(self.ruleset, degrees) for degrees in (low, high))
        return self._beats(least, most, 0.0) | ~_any_positive(most), ~_any_positive(least)

    def _number_sure(self, degree_low: Floats, degree_high: Floats) -> tuple[Flags, Flags]:
        """Return where the highest sum or mean falls short, and where no rule may fire."""
        weights, adds = self.arrays.weights, self.ruleset.semantics.meaning.adds
        # Seen from below: the goal is a number to be reached or exceeded.
        sign = 1.0 if self.goal.low == -inf else -1.0
        goal = nextafter(self.goal.high if sign > 0.0 else -self.goal.low, inf)
        numbers, base = sign * self.arrays.says[:, 0], sign * self.ruleset.base[0]
        amounts = (numbers if adds else numbers - goal) * weights
        most = _add(base - goal if adds else 0.0, amounts, degree_high, degree_low)
        sure = most < -HAIR * (abs(base) + abs(goal) + np.abs(amounts).sum())
        if adds:
            return sure, np.zeros(len(sure), dtype=bool)
        # A mean of numbers that all fall short does so too, however small their weights are.
        helping = numbers >= goal - HAIR * (abs(goal) + np.abs(numbers))
        short = ~_any_positive((degree_high * weights)[:, helping])
        return sure | short, ~_any_positive(degree_low * weights)

    def _first_sure(self, degree_low: Floats, degree_high: Floats) -> tuple[Flags, Flags]:
        """Return where every rule that can be the first predicts the class, and none may fire."""
        distributions = self.arrays.says * self.ruleset.score_factors
        speaks = _any_positive(distributions)
        fires = np.logical_or.accumulate(degree_low > 0.0, axis=1)
        before = np.column_stack([np.zeros(len(fires), dtype=bool), fires])
        possible = (degree_high > 0.0) & ~before[:, :-1]
        wrong = speaks & (distributions.argmax(axis=1) != self.decision)
        silent = ~before[:, -1] | possible[:, ~speaks].any(axis=1)
        return np.asarray(~possible[:, wrong].any(axis=1)), silent

    def _steps_sure(
        self, lower: Floats, upper: Floats, degree_low: Floats, degree_high: Floats
    ) -> Flags:
        """Return where all steps up to the first class to leave pass, and none after the last.

        The worst case for higher classes combines the lowest degrees of the rules for them with
        the highest degrees of the others.
        """
        rising, nearest = self.arrays.rising, last_resort(self.ruleset) == "nearest"
        near_low, near_high = map(self.arrays.join_nearness, (lower, upper))

        def steps(*, least: bool) -> Floats:
            worst = rising == least
            near = np.where(worst, near_low, near_high) if nearest else None
            return compute_scores(self.ruleset, np.where(worst, degree_low, degree_high), near)

        kept = np.flatnonzero(~self.goal.reached(np.arange(len(self.ruleset.classes))))
        passes = (steps(least=True)[:, 1 : kept[0] + 1] > 0.5).all(axis=1)
        return np.asarray(passes & (steps(least=False)[:, kept[-1] + 1 :] <= 0.5).all(axis=1))

    def _lead_sure(self, degree_low: Floats, degree_high: Floats) -> Flags:
        """Return where the class leads every other one in the worst case of each rule."""
        base, c = np.array(self.ruleset.base), self.decision
        votes = self.arrays.says * self.arrays.weights[:, None]
        lead = votes[:, [c]] - votes
        worst = _add(base[c] - base, lead, degree_low, degree_high)
        size = 1.0 + np.abs(base).max() + np.abs(votes).sum()
        # A lead on which no varying rule has an effect is the same everywhere, even if it is a tie.
        fixed = ~((degree_low < degree_high) @ (lead != 0.0))
        scores = compute_scores(self.ruleset, degree_low)
        earlier = np.arange(scores.shape[1]) < c
        wins = np.where(earlier, scores[:, [c]] > scores, scores[:, [c]] >= scores)
        return np.asarray(((worst > HAIR * size) | (fixed & wins)).all(axis=1))

    def _beats(self, least: Floats, most: Floats, nothing: float) -> Flags:
        """Return where the class has the highest score, if any score exceeds `nothing`."""
        own = least[:, self.decision, None]
        earlier = np.arange(least.shape[1]) < self.decision
        above = own > most + ROUNDING * (1.0 + np.abs(np.maximum(most, -1e300)))
        beaten = np.where(earlier, above, own >= most) | (most <= nothing)
        beaten[:, self.decision] = True
        return np.asarray(beaten.all(axis=1))

    # ------------------------------------------------------------------ where no rule fires
    def _fallback_sure(self, lower: Floats, upper: Floats) -> Flags:
        """Return where the fallback cannot reach the goal."""
        ruleset, kind = self.ruleset, last_resort(self.ruleset)
        default = int(np.argmax(ruleset.priors)) if ruleset.classes else ruleset.base[0]
        usual = not self.goal.reached(default)
        if kind in {"priors", "base"}:
            return np.full(len(lower), usual)
        values = self._fallback_values(kind, lower, upper)
        if not ruleset.classes:
            # Allow for rounding: nearness is computed again where it decides.
            highest = values[0].max(axis=1, keepdims=True)
            possible = values[1] >= highest - HAIR * (1.0 + np.abs(highest))
            reaches = self.goal.reached(ruleset.arrays.says[:, 0])
            return np.asarray(~possible[:, reaches].any(axis=1))
        nothing = -inf if kind == "nearest" else 0.0
        least, most = (best_per_class(self.arrays, part, nothing) for part in values)
        if kind == "nearest":
            return self._beats(least, most, nothing)
        least, most = least * ruleset.score_factors, most * ruleset.score_factors
        beats = self._beats(least, most, nothing)
        # Where no part of a rule holds, the class frequencies in training decide.
        return np.where(_any_positive(most), beats & (_any_positive(least) | usual), usual)

    def _fallback_values(self, kind: str, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Return boxes x rules: bounds on the value of each rule where none fires."""
        if kind == "nearest":
            return self.arrays.join_nearness(lower), self.arrays.join_nearness(upper)
        low, high = np.maximum(lower, 0.0), np.maximum(upper, 0.0)
        bound = self._bound_stretched if kind == "stretched" else _bound_partial
        spans = zip(pairwise(self.arrays.indptr), self.arrays.partial_weights, strict=True)
        bounds = [bound(low[:, a:b], high[:, a:b], weights) for (a, b), weights in spans]
        least, most = zip(*bounds, strict=True)
        return np.column_stack(least), np.column_stack(most)

    def _bound_stretched(self, low: Floats, high: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Bound a rule over all of its beginnings that may be the longest that holds."""
        n_boxes, length = low.shape
        least, most = np.full(n_boxes, inf), np.zeros(n_boxes)
        possible = np.ones(n_boxes, dtype=bool)
        for kept in range(length + 1):
            longest = possible if kept == length else possible & (low[:, kept] <= 0.0)
            worst = best = np.zeros(n_boxes)
            if 0 < kept < len(weights):
                worst = self.arrays.join_one(low[:, :kept]) * weights[kept]
                best = self.arrays.join_one(high[:, :kept]) * weights[kept]
            least = np.where(longest, np.minimum(least, worst), least)
            most = np.where(longest, np.maximum(most, best), most)
            if kept < length:
                possible = possible & (high[:, kept] > 0.0)
        return least, most


def _bound_partial(low: Floats, high: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Bound a rule over all subsets of its conditions that may be the ones that hold."""
    if len(weights) < 1 << low.shape[1]:
        return np.zeros(len(low)), np.zeros(len(low))
    bits, subsets = 1 << np.arange(low.shape[1]), np.arange(1 << low.shape[1])
    sure, may = (low > 0.0) @ bits, (high > 0.0) @ bits
    possible = (sure[:, None] & ~subsets == 0) & (subsets & ~may[:, None] == 0)
    values = np.where(subsets > 0, weights, 0.0)
    least = np.where(possible, values, inf).min(axis=1)
    return least, np.where(possible, values, -inf).max(axis=1)


def _add(start: Floats | float, amounts: Floats, gaining: Floats, losing: Floats) -> Floats:
    """Add positive amounts by one set of degrees and negative amounts by the other."""
    total = start + gaining @ np.maximum(amounts, 0.0) + losing @ np.minimum(amounts, 0.0)
    return np.asarray(total)


def _any_positive(values: Floats) -> Flags:
    return np.asarray((values > 0.0).any(axis=1))

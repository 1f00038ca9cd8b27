"""Chosen boxes after a last adjustment: every side has a core and a width of its own.

A choice can only take boxes as they are: all sides of one fade over the same distance, from values of one
object. Here sides move downhill by the mean log loss of the training objects, in which the best scores of
the classes become shares by a softmax, held back by a pull to where they were, the less the more objects
there are. Scores are those of prediction: the best rule of a class, and of a rule its worst side, so each
object moves one side of the best rule of each class. Then the rules weigh as much as they are precise.

What objects pull is counted in whole steps and weighted by whole numbers: sums are exact, so neither the
order of the rows nor repeated ones in the place of weights change a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from frri._reproducible import exp, log
from frri.induction import TOLERANCE
from frri.learners.compact._winner import NONE
from frri.rules import Condition, NominalCondition, NumericCondition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri._util import Flags, Floats, Ints, Positions
    from frri.learners.compact._pool import Pool
    from frri.table import Attribute

# By how much a score must lead to be e times as likely.
TEMPERATURE = 0.4
# How far sides are expected to move, in a table of one object; and how many steps there are, the first one
# this long. Logarithms of widths move twice as far.
SPREAD = 0.15
STEPS = 60
LENGTH = 0.01
# A side fades over at least this part of the range.
LEAST_WIDTH = 0.03
# Scores below this pull no more.
FLOOR = -1.0
# How finely pulls are counted: weights of 2^30 in all times 1 / (TEMPERATURE LEAST_WIDTH) stay exact.
PULL_STEPS = 1 << 14


@dataclass
class Boxes:
    """Rules whose sides have cores and widths of their own.

    Sides are kept by place: each rule has as many as the longest one, those that it lacks being closed
    (`there` is False). Values and cores are mirrored where a side is "at least", so that every side is
    "at most".

    Attributes
    ----------
    classes : array of shape (n_rules,)
    weights : array of shape (n_rules,)
    there : array of bool, shape (n_places, n_rules)
    attributes, signs, cores, widths : arrays of shape (n_places, n_rules)
        The column of each side, 1 or -1, where it begins to fade, and over which distance.
    rigid : list of (int, int, float)
        Rules, columns and codes of conditions on categories, which do not move.
    """

    classes: Positions
    weights: Floats
    there: Flags
    attributes: Positions
    signs: Floats
    cores: Floats
    widths: Floats
    rigid: list[tuple[int, int, float]]

    @classmethod
    def of(cls, pool: Pool, rules: list[int]) -> Boxes:
        """Rules of a pool as they are, or fading a little further where that is hardly at all."""
        sides: list[list[tuple[int, float]]] = []
        rigid = []
        for place, rule in enumerate(rules):
            sides.append([])
            for a in np.flatnonzero(pool.types[rule]).tolist():
                if pool.rigid[a]:
                    rigid.append((place, a, float(pool.values[pool.anchors[rule], a])))
                    continue
                kind = pool.types[rule, a]
                sides[-1] += [(a, sign) for side, sign in ((1, 1.0), (2, -1.0)) if kind & side]
        shape = (max(map(len, sides), default=0), len(rules))
        there = np.zeros(shape, dtype=np.bool_)
        attributes = np.zeros(shape, dtype=np.intp)
        signs, cores, widths = np.ones(shape), np.zeros(shape), np.ones(shape)
        for r, found in enumerate(sides):
            for k, (a, sign) in enumerate(found):
                there[k, r], attributes[k, r], signs[k, r] = True, a, sign
                cores[k, r] = sign * pool.values[pool.anchors[rules[r]], a]
                widths[k, r] = max(pool.reach[rules[r]], LEAST_WIDTH)
        return cls(
            pool.classes[rules],
            pool.precision[rules],
            there,
            attributes,
            signs,
            cores,
            widths,
            rigid,
        )

    @property
    def n_conditions(self) -> int:
        """How many attributes the rules use, rule by rule."""
        rules = np.nonzero(self.there)[1]
        return len(
            set(zip(rules.tolist(), self.attributes[self.there].tolist(), strict=True))
        ) + len(self.rigid)

    def conditions(self, rule: int, attributes: Sequence[Attribute]) -> tuple[Condition, ...]:
        """The conditions of a rule, in the units of the table."""
        found: dict[int, Condition] = {}
        for r, a, code in self.rigid:
            if r == rule:
                category = (attributes[a].categories or ())[int(code)]
                found[a] = NominalCondition(attributes[a].name, frozenset({category}))
        trapezoids: dict[int, list[float]] = {}
        for k in np.flatnonzero(self.there[:, rule]).tolist():
            a, sign = int(self.attributes[k, rule]), self.signs[k, rule]
            ends = sign * self.cores[k, rule], sign * (self.cores[k, rule] + self.widths[k, rule])
            core, end = (_in_units(float(one), attributes[a]) for one in ends)
            trapezoid = trapezoids.setdefault(a, [-np.inf, -np.inf, np.inf, np.inf])
            if sign > 0.0:
                trapezoid[2:] = core, end
            else:
                trapezoid[:2] = end, core
        for a, trapezoid in trapezoids.items():
            found[a] = NumericCondition(attributes[a].name, *trapezoid)
        return tuple(found[a] for a in sorted(found))

    def laid_out(self, values: Floats) -> tuple[list[Floats], Flags]:
        """What each side of each rule looks at, place by place; and which objects no rule can be near."""
        lost = np.zeros((len(self.classes), len(values)), dtype=np.bool_)
        for r, a, code in self.rigid:
            lost[r] |= values[:, a] != code
        seen = []
        for k, there in enumerate(self.there):
            looked_at = np.ascontiguousarray((self.signs[k] * values[:, self.attributes[k]]).T)
            looked_at[~there] = -np.inf
            gaps = np.isnan(looked_at)
            lost |= gaps
            looked_at[gaps] = -np.inf
            seen.append(looked_at)
        return seen, lost

    def scores(self, seen: list[Floats], lost: Flags) -> tuple[Floats, Ints]:
        """The score of each rule for every object, and the place of its worst side; -1 if none could move."""
        uncut, worst = np.ones(lost.shape), np.full(lost.shape, -1)
        for k, looked_at in enumerate(seen):
            degree = 1.0 - (looked_at - self.cores[k][:, None]) / self.widths[k][:, None]
            np.copyto(worst, k, where=degree < uncut)
            np.minimum(uncut, degree, out=uncut)
        found = self.weights[:, None] * uncut
        if lost.any():  # as far as can be, as in prediction
            outside = np.minimum(self.weights - 1.0, 0.0)[:, None]
            worst[lost & (outside < found)] = -1
            found = np.where(lost, np.minimum(found, outside), found)
        return found, worst

    def inside(self, values: Floats) -> Flags:
        """Which objects each rule covers: every side fails by less than its width."""
        seen, lost = self.laid_out(values)
        covered = ~lost
        for k, looked_at in enumerate(seen):
            covered &= looked_at - self.cores[k][:, None] < self.widths[k][:, None] - TOLERANCE
        return covered

    def move(self, pool: Pool, smallest: float) -> None:
        """Downhill, as the module's documentation says; sides that say nothing any more are dropped.

        A rule that would then cover less than the smallest share of its class stays as it was.
        """
        if not len(self.classes):
            return
        starts = self.cores.copy(), log(self.widths)
        places = self.cores, starts[1].copy()
        mean, size = np.zeros((2, *self.cores.shape)), np.zeros((2, *self.cores.shape))
        pairs, laid_out = self._pairs(), self.laid_out(pool.values)
        fading = [1.0, 1.0]
        for step in range(1, STEPS + 1) if self.cores.size else ():
            fading = [0.9 * fading[0], 0.99 * fading[1]]
            length = LENGTH * (1.0 - (step - 1) / STEPS)
            for i, pull in enumerate(self._pulls(pool, *laid_out)):
                slope = pull + (places[i] - starts[i]) / ((i + 1) * SPREAD) ** 2 / pool.count
                # Adam: a mean of slopes, divided by their usual size.
                mean[i] += 0.1 * (slope - mean[i])
                size[i] += 0.01 * (slope * slope - size[i])
                usual = np.sqrt(size[i] / (1.0 - fading[1])) + 1e-4
                places[i][:] -= (i + 1) * length * (mean[i] / (1.0 - fading[0])) / usual
            np.maximum(places[1], log(LEAST_WIDTH), out=places[1])
            self.widths[:] = exp(places[1])
            for low, high in pairs:
                over = -self.cores[low] - self.cores[high]
                if over > 0.0:  # the lower core has passed the upper one: they meet half-way
                    self.cores[high] += over / 2.0
                    self.cores[low] = -self.cores[high]
        own, _ = self._weighed(pool, self.inside(pool.values))
        small = own < smallest * pool.class_weights[self.classes]
        self.cores[:, small], self.widths[:, small] = (
            starts[0][:, small],
            exp(starts[1])[:, small],
        )
        self.there &= self.cores < np.where(self.signs > 0.0, 1.0, 0.0)
        self.weigh(pool)

    def weigh(self, objects: Pool) -> None:
        """Let every rule weigh as much as it is precise among some objects."""
        self.weights = objects.precision_of(*self._weighed(objects, self.inside(objects.values)))

    def _weighed(self, objects: Pool, covered: Flags) -> tuple[Floats, Floats]:
        """What the covered objects of the rules' own classes weigh, and the others."""
        mine = self.classes[:, None] == objects.objects
        return (covered & mine) @ objects.weights, (covered & ~mine) @ objects.weights

    def _pulls(self, pool: Pool, seen: list[Floats], lost: Flags) -> tuple[Floats, Floats]:
        """Slopes of the loss by cores and by logarithms of widths."""
        scores, worst = self.scores(seen, lost)
        objects = np.arange(scores.shape[1])
        best = np.full((pool.n_classes, len(objects)), NONE)
        rules = np.zeros(best.shape, dtype=np.intp)
        for c in np.unique(self.classes):
            mine = np.flatnonzero(self.classes == c)
            rules[c] = mine[scores[mine].argmax(axis=0)]
            best[c] = scores[rules[c], objects]
        raised = np.where(best > NONE, np.maximum(best, FLOOR), NONE)
        slopes = exp((raised - raised.max(axis=0)) / TEMPERATURE)
        slopes /= slopes.sum(axis=0)
        slopes[pool.objects, objects] -= 1.0
        # What moves: the worst sides of the best rules.
        worst = worst[rules, objects]
        moves = pool.weights * ((best >= FLOOR) & (worst >= 0))
        sides = np.maximum(worst, 0) * len(self.classes) + rules
        weights = self.weights[rules]
        slopes *= weights / TEMPERATURE
        found = []
        for part in (slopes / self.widths.ravel()[sides], slopes * (1.0 - best / weights)):
            steps = np.rint(part * PULL_STEPS) * moves
            total = np.bincount(sides.ravel(), steps.ravel(), self.cores.size)
            found.append(total.reshape(self.cores.shape) / (PULL_STEPS * pool.total))
        return found[0], found[1]

    def _pairs(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Places of the lower and the upper side of the same attribute."""
        found = []
        for k, r in zip(*np.nonzero(self.there), strict=True):
            if self.signs[k, r] < 0.0 and k:
                before = (int(k) - 1, int(r))
                if self.there[before] and self.attributes[before] == self.attributes[k, r]:
                    found.append(((int(k), int(r)), before))
        return found


def _in_units(value: float, attribute: Attribute) -> float:
    """A scaled value in the units of the table, order kept; not beyond the largest number."""
    largest = float(np.finfo(np.float64).max)
    half = attribute.low / 2.0 + value * (attribute.high / 2.0 - attribute.low / 2.0)
    return 2.0 * min(max(half, -largest / 2.0), largest / 2.0)

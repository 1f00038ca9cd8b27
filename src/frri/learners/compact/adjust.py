"""Fine-tuning of the bounds of selected boxes: every side gets its own core and width.

All sides of a candidate box have the same width and start at the values of one sample. Here the
sides move by gradient descent (Adam) on the mean log loss of the training samples plus a Gaussian
prior around their start. Class probabilities are the softmax of the best score of each class.
Scores are those of prediction: the best rule of a class, and the worst side of a rule, so each
sample moves one side of the best rule of each class. Afterwards the weight of each rule is its
precision.

Gradients of single samples are rounded to integer steps and weighted by integers. Their sums are
exact, so that neither the order of the samples nor repeated samples instead of weights change a
rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from frri._reproducible import exp, log
from frri.induction import TOLERANCE
from frri.learners.compact.select import NONE
from frri.rules import Condition, NominalCondition, NumericCondition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri._util import Flags, Floats, Ints, Positions
    from frri.learners.compact.candidates import CandidatePool
    from frri.table import Attribute

# Temperature of the softmax.
TEMPERATURE = 0.4
# Standard deviation of the prior of a core (twice that for the logarithm of a width), number of
# steps and length of the first step.
SPREAD = 0.15
STEPS = 60
LENGTH = 0.01
# Minimum width of a side, as a fraction of the range.
LEAST_WIDTH = 0.03
# Scores below this have no gradient.
FLOOR = -1.0
# Steps per unit of a gradient: sums with weights of 2^30 in total stay exact.
GRADIENT_STEPS = 1 << 14


@dataclass
class Boxes:
    """Rules in which every side has its own core and width.

    Each rule has as many slots for sides as the longest rule; `there` is False for unused slots.
    Values and cores of "at least" sides are negated, so that every side is an "at most" side.

    Attributes
    ----------
    classes : array of shape (n_rules,)
    weights : array of shape (n_rules,)
    there : array of bool, shape (n_places, n_rules)
    attributes, signs, cores, widths : arrays of shape (n_places, n_rules)
        Column of each side, its sign (1 or -1), the end of its core, and the width of its slope.
    rigid : list of (int, int, float)
        Rules, columns and codes of conditions on categories, which are not fine-tuned.
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
    def of(cls, pool: CandidatePool, rules: list[int]) -> Boxes:
        """Return rules of a pool as boxes, with at least the minimum width."""
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
        """Number of features used, summed over the rules."""
        rules = np.nonzero(self.there)[1]
        return len(
            set(zip(rules.tolist(), self.attributes[self.there].tolist(), strict=True))
        ) + len(self.rigid)

    def conditions(self, rule: int, attributes: Sequence[Attribute]) -> tuple[Condition, ...]:
        """Return the conditions of a rule in the units of the table."""
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

    def signed_values(self, values: Floats) -> tuple[list[Floats], Flags]:
        """Return the signed values for each slot, and which samples a rule cannot match."""
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
        """Return the score of each rule for every sample, and its worst slot (-1: none)."""
        uncut, worst = np.ones(lost.shape), np.full(lost.shape, -1)
        for k, looked_at in enumerate(seen):
            degree = 1.0 - (looked_at - self.cores[k][:, None]) / self.widths[k][:, None]
            np.copyto(worst, k, where=degree < uncut)
            np.minimum(uncut, degree, out=uncut)
        found = self.weights[:, None] * uncut
        if lost.any():  # the lowest degree, as in prediction
            outside = np.minimum(self.weights - 1.0, 0.0)[:, None]
            worst[lost & (outside < found)] = -1
            found = np.where(lost, np.minimum(found, outside), found)
        return found, worst

    def covers(self, values: Floats) -> Flags:
        """Return which samples each rule covers: every side fails by less than its width."""
        seen, lost = self.signed_values(values)
        covered = ~lost
        for k, looked_at in enumerate(seen):
            covered &= looked_at - self.cores[k][:, None] < self.widths[k][:, None] - TOLERANCE
        return covered

    def fine_tune(self, pool: CandidatePool, min_support: float) -> None:
        """Fine-tune the bounds, and drop sides that exclude no value of the training range.

        A rule that would cover less than the minimum fraction of its class keeps its bounds.
        """
        if not len(self.classes):
            return
        starts = self.cores.copy(), log(self.widths)
        places = self.cores, starts[1].copy()
        mean, size = np.zeros((2, *self.cores.shape)), np.zeros((2, *self.cores.shape))
        pairs, signed_values = self._opposite_sides(), self.signed_values(pool.values)
        fading = [1.0, 1.0]
        for step in range(1, STEPS + 1) if self.cores.size else ():
            fading = [0.9 * fading[0], 0.99 * fading[1]]
            length = LENGTH * (1.0 - (step - 1) / STEPS)
            for i, pull in enumerate(self._gradients(pool, *signed_values)):
                slope = pull + (places[i] - starts[i]) / ((i + 1) * SPREAD) ** 2 / pool.count
                # Adam: the running mean of gradients over the root of their running mean square.
                mean[i] += 0.1 * (slope - mean[i])
                size[i] += 0.01 * (slope * slope - size[i])
                usual = np.sqrt(size[i] / (1.0 - fading[1])) + 1e-4
                places[i][:] -= (i + 1) * length * (mean[i] / (1.0 - fading[0])) / usual
            np.maximum(places[1], log(LEAST_WIDTH), out=places[1])
            self.widths[:] = exp(places[1])
            for low, high in pairs:
                over = -self.cores[low] - self.cores[high]
                if over > 0.0:  # the cores have crossed: they meet half-way
                    self.cores[high] += over / 2.0
                    self.cores[low] = -self.cores[high]
        own, _ = self._covered_weight(pool)
        small = own < min_support * pool.class_weights[self.classes]
        self.cores[:, small], self.widths[:, small] = (
            starts[0][:, small],
            exp(starts[1])[:, small],
        )
        self.there &= self.cores < np.where(self.signs > 0.0, 1.0, 0.0)
        self.set_weights(pool)

    def set_weights(self, pool: CandidatePool) -> None:
        """Set the weight of every rule to its precision on the samples of a pool."""
        self.weights = pool.precision_of(*self._covered_weight(pool))

    def _covered_weight(self, pool: CandidatePool) -> tuple[Floats, Floats]:
        """Return the weight of covered samples of each rule's own class, and of other classes."""
        covered = self.covers(pool.values)
        mine = self.classes[:, None] == pool.objects
        return (covered & mine) @ pool.weights, (covered & ~mine) @ pool.weights

    def _gradients(
        self, pool: CandidatePool, seen: list[Floats], lost: Flags
    ) -> tuple[Floats, Floats]:
        """Return the gradients of the loss by cores and by logarithms of widths."""
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
        # Only the worst sides of the best rules move.
        worst = worst[rules, objects]
        moves = pool.weights * ((best >= FLOOR) & (worst >= 0))
        sides = np.maximum(worst, 0) * len(self.classes) + rules
        weights = self.weights[rules]
        slopes *= weights / TEMPERATURE
        found = []
        for part in (slopes / self.widths.ravel()[sides], slopes * (1.0 - best / weights)):
            steps = np.rint(part * GRADIENT_STEPS) * moves
            total = np.bincount(sides.ravel(), steps.ravel(), self.cores.size)
            found.append(total.reshape(self.cores.shape) / (GRADIENT_STEPS * pool.total))
        return found[0], found[1]

    def _opposite_sides(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Return the slots of the lower and the upper side of the same feature."""
        found = []
        for k, r in zip(*np.nonzero(self.there), strict=True):
            if self.signs[k, r] < 0.0 and k:
                before = (int(k) - 1, int(r))
                if self.there[before] and self.attributes[before] == self.attributes[k, r]:
                    found.append(((int(k), int(r)), before))
        return found


def _in_units(value: float, attribute: Attribute) -> float:
    """Return a scaled value in the units of the table, within the range of finite numbers."""
    largest = float(np.finfo(np.float64).max)
    half = attribute.low / 2.0 + value * (attribute.high / 2.0 - attribute.low / 2.0)
    return 2.0 * min(max(half, -largest / 2.0), largest / 2.0)

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

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from frri._reproducible import exp, log
from frri._util import Flags, Floats, Ints, Positions
from frri.induction import TOLERANCE
from frri.learners.compact.candidates import (
    NONE,
    BoxSamples,
    CandidateBoxes,
    objective_fraction,
)
from frri.rules import Condition, NominalCondition, NumericCondition
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
    """

    classes: Positions
    weights: Floats
    # By slot and rule: column of a side, its sign, the end of its core, and the width of its slope.
    there: Flags
    attributes: Positions
    signs: Floats
    cores: Floats
    widths: Floats
    # Rules, columns and codes of conditions on categories, which are not fine-tuned.
    rigid: list[tuple[int, int, float]]
    # By slot and rule: ends of core and support in the user's units, once they are rounded.
    rounded: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, samples: BoxSamples, rules: CandidateBoxes) -> "Boxes":
        """Return candidate rules as boxes, with at least the minimum width."""
        shape = (2 * len(samples.rigid), len(rules.classes))
        there = np.zeros(shape, dtype=np.bool_)
        attributes = np.zeros(shape, dtype=np.intp)
        signs, cores, widths = np.ones(shape), np.zeros(shape), np.ones(shape)
        rigid = []
        for r, (anchor, types) in enumerate(zip(rules.anchors, rules.types, strict=True)):
            k = 0
            for a in np.flatnonzero(types).tolist():
                value = samples.values[anchor, a]
                if samples.rigid[a]:
                    rigid.append((r, a, float(value)))
                    continue
                for sign in [one for side, one in ((1, 1.0), (2, -1.0)) if types[a] & side]:
                    there[k, r], attributes[k, r], signs[k, r] = True, a, sign
                    cores[k, r], widths[k, r] = sign * value, max(rules.reach[r], LEAST_WIDTH)
                    k += 1
        n_slots = int(there.sum(axis=0).max(initial=0))
        slots = (array[:n_slots] for array in (there, attributes, signs, cores, widths))
        known: Any = (rules.classes, rules.precision, *slots, rigid)
        return cls(*known)

    @property
    def n_conditions(self) -> int:
        """Number of features used, summed over the rules."""
        used = zip(np.nonzero(self.there)[1], self.attributes[self.there], strict=True)
        return len(set(used)) + len(self.rigid)

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
            core, end = self.rounded.get((k, rule)) or self._ends(k, rule, attributes[a])
            trapezoid = trapezoids.setdefault(a, [-np.inf, -np.inf, np.inf, np.inf])
            if core == end:  # a column of 0 and 1
                trapezoid[:] = [core] * 4
            elif sign > 0.0:
                trapezoid[2:] = core, end
            else:
                trapezoid[:2] = end, core
        for a, trapezoid in trapezoids.items():
            found[a] = NumericCondition(attributes[a].name, *trapezoid)
        return tuple(found[a] for a in sorted(found))

    def _ends(self, slot: int, rule: int, attribute: Attribute) -> tuple[float, float]:
        """Return the ends of the core and of the support of a side in the units of the table."""
        sign, core = self.signs[slot, rule], self.cores[slot, rule]
        ends = sign * core, sign * (core + self.widths[slot, rule])
        return _in_units(float(ends[0]), attribute), _in_units(float(ends[1]), attribute)

    def round_bounds(self, attributes: Sequence[Attribute], integers: Flags) -> None:
        """Round the ends of cores and supports to few digits, in columns of integers to integers.

        Cores end within the range. A side of a column of 0 and 1 tests for the value it holds for,
        or is dropped if it holds for the other value to more than one half.
        """
        for k, r in np.argwhere(self.there).tolist():
            a, sign = int(self.attributes[k, r]), float(self.signs[k, r])
            low, high = attributes[a].low, attributes[a].high
            core, end = self._ends(k, r, attributes[a])
            if not 0.0 < high - low < np.inf or not np.isfinite(end - core):
                continue
            if attributes[a].is_flag and integers[a]:
                self.there[k, r] = abs(float(sign > 0.0) - core) >= abs(end - core) / 2.0
                core = end = float(sign < 0.0)
                self.cores[k, r], self.widths[k, r] = sign * core, 0.5  # -1 for the other value
            else:
                exponent = Decimal(abs(end - core)).adjusted() - 1
                digits = -max(exponent, 0) if integers[a] else -exponent
                width = round(abs(end - core), digits) or 1.0
                core = min(max(round(core, digits), low), high)
                if k and sign < 0.0 and self.there[k - 1, r] and self.attributes[k - 1, r] == a:
                    core = min(core, self.rounded[k - 1, r][0])
                end = round(core + sign * width, digits)
                scaled = sign * (core - low) / (high - low), abs(end - core) / (high - low)
                self.cores[k, r], self.widths[k, r] = scaled
                self.there[k, r] = core != (high if sign > 0.0 else low)
            self.rounded[k, r] = core, end

    def worth_their_price(self, samples: BoxSamples, price: float) -> "list[int]":
        """Return the rules that stay when others are dropped, in order.

        A rule is dropped, the last one first, if the objective falls by no more than the price of
        its features, and its class has another rule.
        """
        features: list[set[int]] = [set() for _ in self.classes]
        for k, r in np.argwhere(self.there).tolist():
            features[r].add(int(self.attributes[k, r]))
        for r, a, _ in self.rigid:
            features[r].add(a)
        scores = self.scores(*self.signed_values(samples.values))[0]
        kept = [*range(len(self.classes))]
        for r in reversed(kept):
            others = [k for k in kept if k != r]
            if self.classes[r] in self.classes[others]:
                with_it, without = (
                    objective_fraction(samples, self.classes[some], scores[some])
                    for some in (kept, others)
                )
                if with_it - without <= price * len(features[r]):
                    kept = others
        return kept

    def take(self, rules: Sequence[int]) -> "Boxes":
        """Return some of the rules."""
        place = {r: k for k, r in enumerate(rules)}
        names = "classes", "weights", "there", "attributes", "signs", "cores", "widths"
        return Boxes(
            **{name: getattr(self, name)[..., rules] for name in names},
            rigid=[(place[r], a, code) for r, a, code in self.rigid if r in place],
            rounded={(k, place[r]): v for (k, r), v in self.rounded.items() if r in place},
        )

    def signed_values(self, values: Floats) -> tuple[list[Floats], Flags]:
        """Return the signed values for each slot, and which samples a rule cannot match."""
        lost = np.zeros((len(self.classes), len(values)), dtype=np.bool_)
        for r, a, code in self.rigid:
            lost[r] |= values[:, a] != code
        seen = []
        for k, there in enumerate(self.there):
            signed = np.ascontiguousarray((self.signs[k] * values[:, self.attributes[k]]).T)
            signed[~there] = -np.inf
            missing = np.isnan(signed)
            lost |= missing
            signed[missing] = -np.inf
            seen.append(signed)
        return seen, lost

    def scores(self, seen: list[Floats], lost: Flags) -> tuple[Floats, Ints]:
        """Return the score of each rule for every sample, and its worst slot (-1: none)."""
        uncut, worst = np.ones(lost.shape), np.full(lost.shape, -1)
        for k, signed in enumerate(seen):
            degree = 1.0 - (signed - self.cores[k][:, None]) / self.widths[k][:, None]
            np.copyto(worst, k, where=degree < uncut)
            np.minimum(uncut, degree, out=uncut)
        found = self.weights[:, None] * uncut
        if lost.any():  # the lowest degree, as in prediction
            outside = np.minimum(self.weights - 1.0, 0.0)[:, None]
            worst[lost & (outside < found)] = -1
            found = np.where(lost, np.minimum(found, outside), found)
        return found, worst

    def fine_tune(self, samples: BoxSamples, min_support: float) -> None:
        """Fine-tune the bounds, and drop sides that exclude no value of the training range.

        A rule that would cover less than the minimum fraction of its class keeps its bounds.
        """
        if not len(self.classes):
            return
        starts = self.cores.copy(), log(self.widths)
        places = self.cores, starts[1].copy()
        mean, size = np.zeros((2, 2, *self.cores.shape))
        pairs, signed_values = self._opposite_sides(), self.signed_values(samples.values)
        fading, least = [1.0, 1.0], log(LEAST_WIDTH)
        for step in range(1, STEPS + 1) if self.cores.size else ():
            fading = [0.9 * fading[0], 0.99 * fading[1]]
            length = LENGTH * (1.0 - (step - 1) / STEPS)
            for i, gradient in enumerate(self._gradients(samples, *signed_values)):
                slope = gradient + (places[i] - starts[i]) / ((i + 1) * SPREAD) ** 2 / samples.count
                # Adam: the running mean of gradients over the root of their running mean square.
                mean[i] += 0.1 * (slope - mean[i])
                size[i] += 0.01 * (slope * slope - size[i])
                usual = np.sqrt(size[i] / (1.0 - fading[1])) + 1e-4
                places[i][:] -= (i + 1) * length * (mean[i] / (1.0 - fading[0])) / usual
            np.maximum(places[1], least, out=places[1])
            self.widths[:] = exp(places[1])
            for low, high in pairs:
                over = -self.cores[low] - self.cores[high]
                if over > 0.0:  # the cores have crossed: they meet half-way
                    self.cores[high] += over / 2.0
                    self.cores[low] = -self.cores[high]
        own, _ = self._covered_weight(samples)
        small = own < min_support * samples.class_weights[self.classes]
        self.cores[:, small], self.widths[:, small] = starts[0][:, small], exp(starts[1])[:, small]
        self.there &= self.cores < np.where(self.signs > 0.0, 1.0, 0.0)
        self.set_weights(samples)

    def set_weights(self, samples: BoxSamples) -> None:
        """Set the weight of every rule to its precision on some samples."""
        self.weights = samples.precision(*self._covered_weight(samples))

    def _covered_weight(self, samples: BoxSamples) -> tuple[Floats, Floats]:
        """Return the weight of covered samples of each rule's own class, and of other classes.

        A rule covers a sample if every side fails by less than its width.
        """
        seen, lost = self.signed_values(samples.values)
        covered = ~lost
        for k, signed in enumerate(seen):
            covered &= signed - self.cores[k][:, None] < self.widths[k][:, None] - TOLERANCE
        return samples.covered_weight(covered, self.classes)

    def _gradients(
        self, samples: BoxSamples, seen: list[Floats], lost: Flags
    ) -> tuple[Floats, Floats]:
        """Return the gradients of the loss by cores and by logarithms of widths."""
        scores, worst = self.scores(seen, lost)
        rows = np.arange(scores.shape[1])
        best = np.full((samples.n_classes, len(rows)), NONE)
        rules = np.zeros(best.shape, dtype=np.intp)
        for c in np.unique(self.classes):
            mine = np.flatnonzero(self.classes == c)
            rules[c] = mine[scores[mine].argmax(axis=0)]
            best[c] = scores[rules[c], rows]
        raised = np.where(best > NONE, np.maximum(best, FLOOR), NONE)
        slopes = exp((raised - raised.max(axis=0)) / TEMPERATURE)
        slopes /= slopes.sum(axis=0)
        slopes[samples.classes, rows] -= 1.0
        # Only the worst sides of the best rules move.
        worst = worst[rules, rows]
        moves = samples.loss_weights * ((best >= FLOOR) & (worst >= 0))
        sides = np.maximum(worst, 0) * len(self.classes) + rules
        weights = self.weights[rules]
        slopes *= weights / TEMPERATURE
        found = []
        for part in (slopes / self.widths.ravel()[sides], slopes * (1.0 - best / weights)):
            steps = np.rint(part * GRADIENT_STEPS) * moves
            total = np.bincount(sides.ravel(), steps.ravel(), self.cores.size)
            found.append(total.reshape(self.cores.shape) / (GRADIENT_STEPS * samples.loss_total))
        return found[0], found[1]

    def _opposite_sides(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Return the slots of the lower and the upper side of the same feature."""
        same = self.there[1:] & self.there[:-1] & (self.attributes[1:] == self.attributes[:-1])
        return [((k + 1, r), (k, r)) for k, r in np.argwhere(same).tolist()]


def _in_units(value: float, attribute: Attribute) -> float:
    """Return a scaled value in the units of the table, within the range of finite numbers."""
    largest = float(np.finfo(np.float64).max)
    half = attribute.low / 2.0 + value * (attribute.high / 2.0 - attribute.low / 2.0)
    return 2.0 * min(max(half, -largest / 2.0), largest / 2.0)

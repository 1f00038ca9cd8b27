"""Candidate rules of Compact FRRI (boxes around samples) and the selection of a few of them.

Values are scaled to [0, 1]; columns of categories contain codes and are *rigid*: equal or not.
Weights are integers stored as floats, small enough that their sums are exact in any order. A
missing value (NaN) has distance 0 to every value, and satisfies no side.

Sets of samples are bit sets. The weights are split into a few bit sets with a number each, so that
the weight of a set is a sum of bit counts times these numbers.

Rules are added, swapped, removed and shortened one at a time, each time with the largest increase
of the objective. The objective is the sum over the samples of weight * (1 if correct + half the
margin, clipped to [-1, 1]), minus a small cost for every feature used.

The score of a rule for a sample is its precision times its unclipped degree, positive inside the
box and negative outside; a sample gets the class of its best score. The contribution of a sample is
an integer (`STEPS` if correct, up to half of that for the margin), as are weights, so that sums are
exact.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from frri._reproducible import log
from frri._util import Flags, Floats, Positions, Types, Words
from frri.cover.matrix import packed
from frri.induction import TOLERANCE, ConditionType
from frri.induction.numpy_backend import distances
from frri.pareto.best_subset import BestSubset, find_best_subsets

# Anchors x samples per block: few enough to stay in the cache.
BLOCK = 1 << 16
# More distinct weights than this are split into binary digits.
MAX_PLANES = 24
# Strength of the shrinkage of precisions towards 1 / n_classes, in mean sample weights
# (m-estimate).
PRIOR_SAMPLES = 2.0
# Steps per unit of the objective of a selection, and score of a class without rules.
STEPS = 1 << 20
NONE = -1e9


@dataclass(frozen=True, eq=False)
class BoxSamples:
    """Samples by which boxes are grown, selected and tuned.

    Weights are integers. All classes have the same total of `weights`, by which boxes are grown and
    compete; `loss_weights` are those of the objective. `count` is the sum of the sample weights
    that they are proportional to.
    """

    values: Floats
    classes: Positions
    n_classes: int
    weights: Floats
    loss_weights: Floats
    rigid: Flags
    count: float

    @cached_property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def loss_total(self) -> float:
        """Sum of the weights of the objective."""
        return float(self.loss_weights.sum())

    @cached_property
    def class_weights(self) -> Floats:
        """Sum of the weights of each class."""
        return np.asarray(np.bincount(self.classes, self.weights, self.n_classes), np.float64)

    @cached_property
    def own_sets(self) -> Words:
        """The set of samples of each class."""
        return packed(self.classes == np.arange(self.n_classes)[:, None])

    @cached_property
    def _planes(self) -> tuple[Words, Floats]:
        """Sets of samples and a number each, whose sums are the weights of the samples."""
        units = np.unique(self.weights)
        if len(units) <= MAX_PLANES:
            return packed(units[:, None] == self.weights), units
        digits = np.arange(int(self.weights.max()).bit_length())
        bits = (self.weights.astype(np.int64) >> digits[:, None]) & 1
        return packed(bits == 1), np.ldexp(1.0, digits)

    def sum_weights(self, sets: Words, own: Words) -> Floats:
        """Return the weight of sets of samples of each rule: of its own class, and of others.

        `sets` has the shape (n_rules, n_sets, n_words), the result (n_rules, n_sets, 2).
        """
        found = np.zeros((*sets.shape[:2], 2))
        for mask, unit in zip(*self._planes, strict=True):
            here = sets & mask
            inside, mine = (np.bitwise_count(one).sum(axis=2) for one in (here, here & own))
            found[..., 0] += unit * mine
            found[..., 1] += unit * (inside - mine)
        return found

    def covered_weight(self, covers: Flags, classes: Positions) -> tuple[Floats, Floats]:
        """Return the weight of the samples of its class that each rule covers, and of others."""
        found = self.sum_weights(packed(covers)[:, None], self.own_sets[classes, None])
        return found[:, 0, 0], found[:, 0, 1]

    def precision(self, own: Floats, other: Floats) -> Floats:
        """Return the precision of rules, from covered weights, as an m-estimate."""
        prior = PRIOR_SAMPLES * self.total / self.count
        return np.asarray((own + prior / self.n_classes) / (own + other + prior))


class CandidateBoxes(NamedTuple):
    """Boxes around samples, the anchors, that end at a distance of `reach` from them."""

    anchors: Positions
    reach: Floats
    # By rule and feature: 1 for "at most", 2 for "at least", 3 for both or for a category.
    types: Types
    classes: Positions
    precision: Floats
    # Covered weight of the own class minus that of other classes.
    balance: Floats
    # Precision times unclipped degree, by rule and sample.
    scores: Floats

    def take(self, rules: Sequence[int]) -> "CandidateBoxes":
        """Return some of the rules."""
        arrays: Any = (array[rules] for array in self)
        return CandidateBoxes(*arrays)

    def join(self, *others: "CandidateBoxes") -> "CandidateBoxes":
        """Return these rules followed by others."""
        arrays: Any = map(np.concatenate, zip(self, *others, strict=True))
        return CandidateBoxes(*arrays)


def build_candidates(
    samples: BoxSamples, anchors: Positions, reach: Floats, types: Types, min_support: float = 0.0
) -> CandidateBoxes:
    """Return the boxes that cover enough of their class, at least the best of each class."""
    scores = _scores(samples, anchors, reach, types, np.ones(len(anchors)))
    classes = samples.classes[anchors]
    own, other = samples.covered_weight(scores > (TOLERANCE / reach)[:, None], classes)
    kept = own >= min_support * samples.class_weights[classes]
    for c in range(samples.n_classes):
        mine = np.flatnonzero(classes == c)
        if len(mine) and not kept[mine].any():
            kept[mine[(own - other)[mine].argmax()]] = True
    anchors, reach, types = anchors[kept], reach[kept], types[kept]
    precision = samples.precision(own[kept], other[kept])
    if samples.rigid.any() or np.isnan(samples.values).any():
        # The score of a sample that a rule cannot match depends on the precision.
        scores = _scores(samples, anchors, reach, types, precision)
    else:
        scores = scores[kept] * precision[:, None]
    return CandidateBoxes(
        anchors, reach, types, classes[kept], precision, (own - other)[kept], scores
    )


def build_shorter(samples: BoxSamples, rule: CandidateBoxes) -> CandidateBoxes:
    """Return a single rule without one of its sides, for each side; it has at least one."""
    types = []
    for a in np.flatnonzero(rule.types[0]):
        for side in (3,) if samples.rigid[a] else (1, 2):
            if rule.types[0, a] & side:
                types.append(rule.types[0].copy())
                types[-1][a] &= ~side
    same = np.zeros(len(types), dtype=np.intp)
    return build_candidates(samples, rule.anchors[same], rule.reach[same], np.array(types))


def _scores(
    samples: BoxSamples, anchors: Positions, reach: Floats, types: Types, precision: Floats
) -> Floats:
    """Return the scores of boxes for all samples: see `CandidateBoxes`."""
    columns, rigid = np.ascontiguousarray(samples.values.T), samples.rigid
    gaps = np.flatnonzero(rigid | np.isnan(columns).any(axis=1)).tolist()
    outside = np.minimum(1.0 - 1.0 / precision, 0.0)
    found = np.zeros((len(anchors), len(samples.values)))
    step = max(1, BLOCK // max(1, len(samples.values)))
    for start in range(0, len(anchors), step):
        some = slice(start, start + step)
        centers, own = samples.values[anchors[some]], types[some]
        degrees = 1.0 - distances(centers, np.where(rigid, 0, own), columns) / reach[some, None]
        for a in gaps:
            apart = columns[a] - centers[:, a, None]
            lost = (own[:, a, None] > 0) & (apart != 0.0 if rigid[a] else np.isnan(apart))
            np.minimum(degrees, outside[some, None], out=degrees, where=lost)
        np.multiply(degrees, precision[some, None], out=found[some])
    return found


def box_radii(
    samples: BoxSamples, anchors: Positions, k: int, counts: Floats | None = None
) -> Floats:
    """Return the distance from each anchor to its k-th nearest sample of another class.

    If there are fewer than k, to the farthest; 1 if there is none. With `counts` (sample weights),
    the smallest distance within which samples of other classes have a total weight of at least k.

    Examples
    --------
    >>> values, classes = np.array([[0.0], [0.25], [1.0]]), np.array([0, 1, 1])
    >>> samples = BoxSamples(values, classes, 2, np.ones(3), np.ones(3), np.array([False]), 3.0)
    >>> box_radii(samples, np.arange(3), 2)
    array([1.  , 0.25, 1.  ])
    """
    values, classes, found = samples.values, samples.classes, np.ones(len(anchors))
    all_sides = np.full((1, values.shape[1]), ConditionType.SIMILAR, dtype=np.int8)
    for c in np.unique(classes[anchors]):
        own, others = np.flatnonzero(classes[anchors] == c), np.flatnonzero(classes != c)
        columns = np.ascontiguousarray(values[others].T)
        step = max(1, BLOCK // max(1, len(others)))
        for start in range(0, len(own) if len(others) else 0, step):
            places = own[start : start + step]
            distance = distances(values[anchors[places]], all_sides, columns, samples.rigid)
            if counts is None:
                last = min(k, len(others)) - 1
                distance.partition(last, axis=1)
                found[places] = distance[:, last]
                continue
            order = distance.argsort(axis=1, kind="stable")
            enough = counts[others][order].cumsum(axis=1) >= k
            enough[:, -1] = True
            rows = np.arange(len(order))
            found[places] = distance[rows, order[rows, enough.argmax(axis=1)]]
    return found


def grow_boxes(
    samples: BoxSamples, anchors: Positions, reach: Floats, max_impurity: float, max_sides: int
) -> Types:
    """Return the sides of boxes (see `CandidateBoxes`), added by FOIL gain until a box is pure."""
    values, rigid, (n, m) = samples.values, samples.rigid, samples.values.shape
    types = np.zeros((len(anchors), m), dtype=np.int8)
    columns = np.ascontiguousarray(values.T)
    step = max(1, BLOCK // max(1, n))
    for start in range(0, len(anchors), step):
        some, limits = anchors[start : start + step], reach[start : start + step, None] - TOLERANCE
        block, own = types[start : start + step], samples.own_sets[samples.classes[some], None]
        sides = np.empty((len(some), 2 * m, own.shape[2]), dtype=np.uint64)
        for a, x in enumerate(columns):
            apart = x - values[some, a, None]
            sides[:, 2 * a] = packed(apart == 0.0 if rigid[a] else apart < limits)
            sides[:, 2 * a + 1] = packed(apart > -limits)
        inside_sets = np.repeat(packed(np.ones((1, n), dtype=np.bool_)), len(some), axis=0)
        inside = samples.sum_weights(inside_sets[:, None], own)[:, 0]
        unused = np.ones((len(some), 2 * m), dtype=np.bool_)
        unused[:, 1::2] = ~rigid
        left = np.arange(len(some))
        for _ in range(max_sides):
            left = left[inside[left, 1] > max_impurity * inside[left, 0]]
            if not len(left):
                break
            cut = sides[left] & inside_sets[left, None]
            now = samples.sum_weights(cut, own[left])
            gain = np.where(unused[left], _gain(now, inside[left]), 0.0)
            best, rows = gain.argmax(axis=1), np.arange(len(left))
            better = gain[rows, best] > 0.0
            left, best, rows = left[better], best[better], rows[better]
            inside_sets[left], inside[left] = cut[rows, best], now[rows, best]
            kinds = np.where(rigid[best // 2], 3, 1 + best % 2)
            block[left, best // 2] |= kinds.astype(np.int8)
            unused[left, best] = False
    return types


def _gain(now: Floats, before: Floats) -> Floats:
    """Return the FOIL gain: own weight times the increase of the logarithm of the precision."""
    own, other = now[..., 0], now[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        base = log(before[:, 0] / (before[:, 0] + before[:, 1]))[:, None]
        return np.where(own > 0.0, own * (log(own / (own + other)) - base), 0.0)


class RuleSelection:
    """Rules selected from candidates, to which shortened rules are appended.

    A feature used by a rule costs `price` times the sum of weights.
    """

    def __init__(self, samples: BoxSamples, candidates: CandidateBoxes, price: float) -> None:
        self.samples, self.candidates = samples, candidates
        self.rules: list[int] = []
        self._price = price * STEPS * samples.loss_total

    def search(self, most: int) -> None:
        """Select at least one rule per class and at most `most` rules in total."""
        self.rules = self.best_of_each_class()
        self._add(most)
        self._swap()
        self._trim()
        self._add(most)

    def best_of_each_class(self) -> list[int]:
        """Return the rule of each class with the largest covered own minus other weight."""
        classes, balance = self.candidates.classes, self.candidates.balance
        groups = [np.flatnonzero(classes == c) for c in range(self.samples.n_classes)]
        return [int(mine[balance[mine].argmax()]) for mine in groups if len(mine)]

    def selected(self) -> CandidateBoxes:
        """Return the selected rules by class, those with the largest balance first."""
        classes, balance = self.candidates.classes, self.candidates.balance
        order = sorted(self.rules, key=lambda r: (classes[r], -balance[r], r))
        return self.candidates.take(order)

    def _add(self, most: int) -> None:
        """Add the rule with the largest objective while it increases."""
        while len(self.rules) < min(most, len(self.candidates.classes)):
            ahead = self._best_scores(self.rules)
            values = self._objectives(ahead, self.candidates)
            best = int(values.argmax())
            if not values[best] > objective(self.samples, *ahead):
                return
            self.rules.append(best)

    def _swap(self) -> None:
        """Replace each rule by the best candidate, or remove it if the objective does not fall."""
        classes, place = self.candidates.classes, 0
        while place < len(self.rules):
            rule = self.rules[place]
            others = [*self.rules[:place], *self.rules[place + 1 :]]
            ahead = self._best_scores(others)
            values = self._objectives(ahead, self.candidates)
            now, without = values[rule], objective(self.samples, *ahead)
            if classes[rule] not in classes[others]:  # the last one of its class
                without = -np.inf
                values = np.where(classes == classes[rule], values, -np.inf)
            best = int(values.argmax())
            if without >= now and without >= values[best]:
                self.rules.pop(place)
                continue
            if values[best] > now:
                self.rules[place] = best
            place += 1

    def _trim(self) -> None:
        """Remove sides of each rule, least harmful first, while the objective does not fall."""
        chosen, count = self.candidates.take(self.rules), len(self.candidates.classes)
        shortened: list[CandidateBoxes] = []
        for place in range(len(self.rules)):
            others = np.arange(len(self.rules)) != place
            ahead = best_scores(self.samples, chosen.classes[others], chosen.scores[others])
            rule = chosen.take([place])
            (value,) = self._objectives(ahead, rule)
            while rule.types.any():
                shorter = build_shorter(self.samples, rule)
                values = self._objectives(ahead, shorter)
                best = int(values.argmax())
                if values[best] < value:
                    break
                rule, value = shorter.take([best]), values[best]
                self.rules[place] = count + len(shortened)
                shortened.append(rule)
            chosen.scores[place] = rule.scores[0]
        self.candidates = self.candidates.join(*shortened)

    def _best_scores(self, rules: list[int]) -> tuple[Floats, Floats]:
        scores = (self.candidates.scores[r] for r in rules)
        return best_scores(self.samples, self.candidates.classes[rules], scores)

    def _objectives(self, ahead: tuple[Floats, Floats], rules: CandidateBoxes) -> Floats:
        """Return the objective with each of some rules added, minus the cost of its features."""
        own, other = ahead
        found = np.empty(len(rules.classes))
        step = max(1, BLOCK // max(1, rules.scores.shape[1]))
        for c in np.unique(rules.classes):
            # A rule raises the own scores of samples of its class, and the other scores of the
            # rest.
            mine = self.samples.classes == c
            raised, rest = np.where(mine, own, other), np.where(mine, other, own)
            signs = np.where(mine, STEPS / 2, -STEPS / 2)
            some = np.flatnonzero(rules.classes == c)
            for places in np.split(some, range(step, len(some), step)):
                margins = rules.scores[places]
                np.maximum(margins, raised, out=margins)
                margins -= rest
                margins *= signs
                found[places] = _objective(margins, self.samples.loss_weights)
        return np.asarray(found - self._price * np.count_nonzero(rules.types, axis=1))


def find_fewest_errors(
    samples: BoxSamples, candidates: CandidateBoxes, at_most: int, seconds: float
) -> BestSubset:
    """Return the selection of candidates with the fewest errors, with a proven bound."""
    scores = candidates.scores
    # Ranks of scores, above 0: outside their boxes rules compete by distance.
    places = np.unique(scores, return_inverse=True)[1].reshape(scores.shape) + 1.0
    known = places, candidates.classes, samples.classes, [at_most]
    limits: Any = {"weights": samples.loss_weights, "time_limit": seconds}
    return find_best_subsets(*known, **limits)[0]


def objective_fraction(samples: BoxSamples, classes: Positions, scores: Floats) -> float:
    """Return the objective of rules as a fraction of the sum of weights, without feature costs."""
    own, other = best_scores(samples, classes, scores)
    return objective(samples, own, other) / (STEPS * samples.loss_total)


def error_fraction(samples: BoxSamples, classes: Positions, scores: Floats) -> float:
    """Return the weighted error of rules; of equal scores the first class wins."""
    best = np.full((samples.n_classes, len(samples.classes)), NONE)
    for own, row in zip(classes, scores, strict=True):
        np.maximum(best[own], row, out=best[own])
    missed = best.argmax(axis=0) != samples.classes
    return float(samples.loss_weights[missed].sum() / samples.loss_total)


def best_scores(
    samples: BoxSamples, classes: Positions, scores: Iterable[Floats]
) -> tuple[Floats, Floats]:
    """Return the best score of rules of each sample's own class, and of rules of other classes."""
    own, other = np.full((2, len(samples.classes)), NONE)
    for one, row in zip(classes, scores, strict=True):
        mine = samples.classes == one
        np.maximum(own, row, out=own, where=mine)
        np.maximum(other, row, out=other, where=~mine)
    return own, other


def objective(samples: BoxSamples, own: Floats, other: Floats) -> float:
    """Return the objective of the best scores, in steps, without the cost of features."""
    return float(_objective((own - other) * (STEPS / 2), samples.loss_weights))


def _objective(margins: Floats, weights: Floats) -> Any:
    """Return the objective of margins given in half steps; overwrites them."""
    hits = (margins > 0.0) @ weights
    np.clip(margins, -STEPS / 2, STEPS / 2, out=margins)
    np.rint(margins, out=margins)
    return STEPS * hits + margins @ weights

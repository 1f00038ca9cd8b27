"""Candidate rules of Compact FRRI: boxes around samples that exclude samples of other classes.

Values are scaled to [0, 1]; columns of categories contain codes and are *rigid*: equal or not.
Weights are integers stored as floats, small enough that their sums are exact in any order. A
missing value (NaN) has distance 0 to every value, and satisfies no side.

Sets of samples are bit sets. The weights are split into a few bit sets with a number each, so that
the weight of a set is a sum of bit counts times these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._reproducible import log
from frri.cover.matrix import packed
from frri.induction import TOLERANCE, ConditionType
from frri.induction.numpy_backend import distances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri._util import Flags, Floats, Ints, Positions, Types, Words

# Anchors x samples per block: few enough to stay in the cache.
BLOCK = 1 << 16
# More distinct weights than this are split into binary digits.
MAX_PLANES = 24
# Strength of the shrinkage of precisions towards 1 / n_classes, in mean sample weights
# (m-estimate).
PRIOR_SAMPLES = 2.0


@dataclass(frozen=True, eq=False)
class BoxSamples:
    """Samples by which boxes are grown, selected and tuned.

    Weights are integers; `count` is the sum of the sample weights that they are proportional to.
    """

    values: Floats
    classes: Positions
    n_classes: int
    weights: Floats
    rigid: Flags
    count: float

    @cached_property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weights.sum())

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
        found: Floats = (own + prior / self.n_classes) / (own + other + prior)
        return found


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

    @property
    def used(self) -> Ints:
        """Number of features that each rule uses."""
        return np.asarray(np.count_nonzero(self.types, axis=1))

    def take(self, rules: Sequence[int]) -> CandidateBoxes:
        """Return some of the rules."""
        arrays: Any = (array[rules] for array in self)
        return CandidateBoxes(*arrays)

    def join(self, *others: CandidateBoxes) -> CandidateBoxes:
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
    gaps = rigid | np.isnan(columns).any(axis=1)
    outside = np.minimum(1.0 - 1.0 / precision, 0.0)
    found = np.zeros((len(anchors), len(samples.values)))
    step = max(1, BLOCK // max(1, len(samples.values)))
    for start in range(0, len(anchors), step):
        some = slice(start, start + step)
        worst = found[some]  # first the largest violation of a side
        lost = np.zeros(worst.shape if gaps.any() else 0, dtype=np.bool_)
        for r, a in np.argwhere(types[some]).tolist():
            apart = columns[a] - columns[a, anchors[start + r]]
            if gaps[a]:
                lost[r] |= apart != 0.0 if rigid[a] else np.isnan(apart)
            if rigid[a]:
                continue
            if types[start + r, a] == 3:
                np.abs(apart, out=apart)
            elif types[start + r, a] == 2:
                np.negative(apart, out=apart)
            np.fmax(worst[r], apart, out=worst[r])
        worst /= reach[some, None]
        np.subtract(1.0, worst, out=worst)
        if len(lost):
            np.minimum(worst, outside[some, None], out=worst, where=lost)
        worst *= precision[some, None]
    return found


def box_radii(
    samples: BoxSamples, anchors: Positions, k: int, counts: Floats | None = None
) -> Floats:
    """Return the distance from each anchor to its k-th nearest sample of another class.

    If there are fewer than k, to the farthest; 1 if there is none. With `counts` (sample weights),
    the smallest distance within which samples of other classes have a total weight of at least k.
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

"""Candidate rules of Compact FRRI: boxes around samples, with precision and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frri.cover.matrix import packed
from frri.induction import TOLERANCE
from frri.learners.compact.grow import BLOCK, sum_weights, weight_planes

if TYPE_CHECKING:
    from frri._util import Flags, Floats, Ints, Positions, Types

# Spare rows of the score matrix, for variants of rules.
SPARE_ROWS = 32
# Strength of the shrinkage of precisions towards 1 / n_classes, in mean sample weights
# (m-estimate).
PRIOR_SAMPLES = 2.0


class CandidatePool:
    """Candidate rules: anchors, radii, sides, precision, and scores for all samples.

    Parameters
    ----------
    values : array of shape (n_objects, n_attributes)
        Values scaled to [0, 1]; codes in rigid columns.
    objects : array of shape (n_objects,)
        Class of each sample.
    n_classes : int
    weights : array of shape (n_objects,)
        Integers, as floats.
    rigid : array of bool, shape (n_attributes,)
    count : float
        Sum of the sample weights.
    """

    def __init__(
        self,
        values: Floats,
        objects: Positions,
        n_classes: int,
        weights: Floats,
        rigid: Flags,
        count: float,
    ) -> None:
        self.values, self.objects, self.n_classes = values, objects, n_classes
        self.weights, self.rigid = weights, rigid
        self.count = count
        self.total = float(weights.sum())
        # Whether rules can be unmatchable for a sample; its score then depends on the precision.
        self.has_unreachable = bool(rigid.any() or np.isnan(values).any())
        self.class_weights = np.bincount(objects, weights, n_classes)
        self._own_sets = packed(objects == np.arange(n_classes)[:, None])
        self._planes = weight_planes(weights)
        self.anchors = np.empty(0, dtype=np.intp)
        self.reach = np.empty(0)
        self.types: Types = np.empty((0, values.shape[1]), dtype=np.int8)
        self.classes = np.empty(0, dtype=np.intp)
        self.precision = np.empty(0)
        self.balance = np.empty(0)
        self._scores = np.empty((0, len(values)))

    @property
    def scores(self) -> Floats:
        """Scores of each rule for every sample, of shape (n_rules, n_samples)."""
        return self._scores[: len(self)]

    def __len__(self) -> int:
        return len(self.anchors)

    @property
    def used(self) -> Ints:
        """Number of features that each rule uses."""
        return np.asarray(np.count_nonzero(self.types, axis=1))

    def add(
        self, anchors: Positions, reach: Floats, types: Types, *, min_support: float = 0.0
    ) -> None:
        """Add the rules that cover enough of their class, at least the best of each class."""
        scores = self._score(anchors, reach, types, np.ones(len(anchors)))
        own, other = self.covered_weight(anchors, scores > (TOLERANCE / reach)[:, None])
        classes = self.objects[anchors]
        kept = own >= min_support * self.class_weights[classes]
        for c in range(self.n_classes):
            mine = np.flatnonzero(classes == c)
            if len(mine) and not kept[mine].any():
                kept[mine[(own - other)[mine].argmax()]] = True
        anchors, reach, types = anchors[kept], reach[kept], types[kept]
        precision = self.precision_of(own[kept], other[kept])
        if self.has_unreachable:
            scores = self._score(anchors, reach, types, precision)
        else:
            scores = scores[kept] * precision[:, None]
        first = len(self)
        self.anchors = np.concatenate([self.anchors, anchors])
        self.reach = np.concatenate([self.reach, reach])
        self.types = np.concatenate([self.types, types])
        self.classes = np.concatenate([self.classes, classes[kept]])
        self.precision = np.concatenate([self.precision, precision])
        self.balance = np.concatenate([self.balance, (own - other)[kept]])
        if len(self._scores) < len(self):  # with spare rows for variants of rules
            grow_boxes = np.empty((len(self) + SPARE_ROWS, len(self.values)))
            grow_boxes[:first] = self._scores[:first]
            self._scores = grow_boxes
        self._scores[first : len(self)] = scores

    def best_of_each_class(self) -> list[int]:
        """Return the rule of each class with the largest covered own minus other weight."""
        found = []
        for c in range(self.n_classes):
            mine = np.flatnonzero(self.classes == c)
            if len(mine):
                found.append(int(mine[self.balance[mine].argmax()]))
        return found

    def variants(self, rule: int) -> list[Types]:
        """Return the sides of the rule without one of them, for each side."""
        found = []
        for a in np.flatnonzero(self.types[rule]):
            for side in (3,) if self.rigid[a] else (1, 2):
                if self.types[rule, a] & side:
                    shorter = self.types[rule].copy()
                    shorter[a] &= ~side
                    found.append(shorter)
        return found

    def extend(self, rule: int, variants: list[Types]) -> None:
        """Add rules around the same sample with other sides."""
        count = len(variants)
        anchors = np.full(count, self.anchors[rule])
        self.add(anchors, np.full(count, self.reach[rule]), np.array(variants, dtype=np.int8))

    def keep_only(self, first: int, rule: int | None) -> None:
        """Remove the rules from `first` on except one, or all of them."""
        if rule is not None:
            self._scores[first] = self._scores[rule]
        rows = [*range(first), *([] if rule is None else [rule])]
        for name in ("anchors", "reach", "types", "classes", "precision", "balance"):
            setattr(self, name, getattr(self, name)[rows])

    def covered_weight(self, anchors: Positions, covers: Flags) -> tuple[Floats, Floats]:
        """Return the weight of covered samples of each anchor's class, and of other classes."""
        own_sets = self._own_sets[self.objects[anchors], None]
        found = sum_weights(packed(covers)[:, None], own_sets, *self._planes)
        return found[:, 0, 0], found[:, 0, 1]

    def _score(self, anchors: Positions, reach: Floats, types: Types, precision: Floats) -> Floats:
        """Return the scores of rules for all samples: see `frri.learners.compact.select`."""
        columns, rigid = np.ascontiguousarray(self.values.T), self.rigid
        gaps = rigid | np.isnan(columns).any(axis=1)
        outside = np.minimum(1.0 - 1.0 / precision, 0.0)
        found = np.zeros((len(anchors), len(self.values)))
        step = max(1, BLOCK // max(1, len(self.values)))
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

    def precision_of(self, own: Floats, other: Floats) -> Floats:
        """Return the precision of rules as an m-estimate."""
        prior = PRIOR_SAMPLES * self.total / self.count
        found: Floats = (own + prior / self.n_classes) / (own + other + prior)
        return found

"""The rules to choose from: boxes around objects, opened where few enemies are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frri.cover.matrix import packed
from frri.induction import TOLERANCE
from frri.learners.compact._sides import BLOCK, planes, weights_of

if TYPE_CHECKING:
    from frri._util import Flags, Floats, Ints, Positions, Types

# Rules that there is room for beyond those of the pool.
ROOM = 32
# What a precision is drawn towards equal shares by, in mean weights of objects.
PRIOR_OBJECTS = 2.0


class Pool:
    """Rules around objects: anchors, how far they reach, sides, precision, and scores on all objects.

    Parameters
    ----------
    values : array of shape (n_objects, n_attributes)
        Scaled to [0, 1]; codes in rigid columns.
    objects : array of shape (n_objects,)
        The class of each object.
    n_classes : int
    weights : array of shape (n_objects,)
        Whole numbers.
    rigid : array of bool, shape (n_attributes,)
    count : float
        How many objects there are, a repeated one counted as often.
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
        # Whether a rule may have no way to be near an object, which then depends on its precision.
        self.somewhere_lost = bool(rigid.any() or np.isnan(values).any())
        self.class_weights = np.bincount(objects, weights, n_classes)
        self._own_sets = packed(objects == np.arange(n_classes)[:, None])
        self._planes = planes(weights)
        self.anchors = np.empty(0, dtype=np.intp)
        self.reach = np.empty(0)
        self.types: Types = np.empty((0, values.shape[1]), dtype=np.int8)
        self.classes = np.empty(0, dtype=np.intp)
        self.precision = np.empty(0)
        self.balance = np.empty(0)
        self._scores = np.empty((0, len(values)))

    @property
    def scores(self) -> Floats:
        """The score of each rule for every object, rules x objects."""
        return self._scores[: len(self)]

    def __len__(self) -> int:
        return len(self.anchors)

    @property
    def used(self) -> Ints:
        """How many attributes each rule uses."""
        return np.asarray(np.count_nonzero(self.types, axis=1))

    def add(
        self, anchors: Positions, reach: Floats, types: Types, *, smallest: float = 0.0
    ) -> None:
        """Rules that cover at least a share of their class, or are the best there is of it."""
        scores = self._scored(anchors, reach, types, np.ones(len(anchors)))
        own, other = self.weigh(anchors, scores > (TOLERANCE / reach)[:, None])
        classes = self.objects[anchors]
        kept = own >= smallest * self.class_weights[classes]
        for c in range(self.n_classes):
            mine = np.flatnonzero(classes == c)
            if len(mine) and not kept[mine].any():
                kept[mine[(own - other)[mine].argmax()]] = True
        anchors, reach, types = anchors[kept], reach[kept], types[kept]
        precision = self.precision_of(own[kept], other[kept])
        if self.somewhere_lost:
            scores = self._scored(anchors, reach, types, precision)
        else:
            scores = scores[kept] * precision[:, None]
        first = len(self)
        self.anchors = np.concatenate([self.anchors, anchors])
        self.reach = np.concatenate([self.reach, reach])
        self.types = np.concatenate([self.types, types])
        self.classes = np.concatenate([self.classes, classes[kept]])
        self.precision = np.concatenate([self.precision, precision])
        self.balance = np.concatenate([self.balance, (own - other)[kept]])
        if len(self._scores) < len(self):  # with room for variants of rules, which come and go
            grown = np.empty((len(self) + ROOM, len(self.values)))
            grown[:first] = self._scores[:first]
            self._scores = grown
        self._scores[first : len(self)] = scores

    def best_of_each_class(self) -> list[int]:
        """The rule of each class that covers most of its own beyond what it covers of others."""
        found = []
        for c in range(self.n_classes):
            mine = np.flatnonzero(self.classes == c)
            if len(mine):
                found.append(int(mine[self.balance[mine].argmax()]))
        return found

    def variants(self, rule: int) -> list[Types]:
        """The rule without one of its sides, for each of them."""
        found = []
        for a in np.flatnonzero(self.types[rule]):
            for side in (3,) if self.rigid[a] else (1, 2):
                if self.types[rule, a] & side:
                    shorter = self.types[rule].copy()
                    shorter[a] &= ~side
                    found.append(shorter)
        return found

    def extend(self, rule: int, variants: list[Types]) -> None:
        """Rules around the same object with other sides."""
        count = len(variants)
        anchors = np.full(count, self.anchors[rule])
        self.add(anchors, np.full(count, self.reach[rule]), np.array(variants, dtype=np.int8))

    def keep_only(self, first: int, rule: int | None) -> None:
        """Of the rules from `first` on one, or none."""
        if rule is not None:
            self._scores[first] = self._scores[rule]
        rows = [*range(first), *([] if rule is None else [rule])]
        for name in ("anchors", "reach", "types", "classes", "precision", "balance"):
            setattr(self, name, getattr(self, name)[rows])

    def weigh(self, anchors: Positions, covers: Flags) -> tuple[Floats, Floats]:
        """What the objects inside boxes weigh: those of the anchor's class, and the others."""
        own_sets = self._own_sets[self.objects[anchors], None]
        found = weights_of(packed(covers)[:, None], own_sets, *self._planes)
        return found[:, 0, 0], found[:, 0, 1]

    def _scored(self, anchors: Positions, reach: Floats, types: Types, precision: Floats) -> Floats:
        """What rules say of every object: see `frri.learners.compact._winner`."""
        columns, rigid = np.ascontiguousarray(self.values.T), self.rigid
        gaps = rigid | np.isnan(columns).any(axis=1)
        outside = np.minimum(1.0 - 1.0 / precision, 0.0)
        found = np.zeros((len(anchors), len(self.values)))
        step = max(1, BLOCK // max(1, len(self.values)))
        for start in range(0, len(anchors), step):
            some = slice(start, start + step)
            worst = found[some]  # by how much the worst side fails, first of all
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
        """Share of its own class inside, drawn a little towards equal shares (m-estimate)."""
        prior = PRIOR_OBJECTS * self.total / self.count
        found: Floats = (own + prior / self.n_classes) / (own + other + prior)
        return found

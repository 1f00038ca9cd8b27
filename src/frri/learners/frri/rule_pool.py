"""Rules of several bags in one pool: how far they may reach, whom they cover, what they say of unseen objects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from frri._util import map_threads
from frri.cover import CoverMatrix
from frri.cover.matrix import packed
from frri.induction import TOLERANCE, ConditionType
from frri.learners.boxes import lengths_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Positions, Types

# Pairs of rule and object that are looked at together, and objects at most: a column of them stays in the cache.
MOST_PAIRS, MOST_OBJECTS = 1 << 22, 8192


class Objects(NamedTuple):
    """Scaled objects: values, classes, and which attributes are equal or not (None where none is)."""

    values: Floats
    classes: Positions
    rigid: Flags | None


@dataclass(frozen=True, eq=False)
class RulePool:
    """Boxes around objects, from any number of bags.

    Parameters
    ----------
    points : ndarray of shape (n_rules, n_attributes)
        The scaled values of the object of each rule.
    types : ndarray of int8, shape (n_rules, n_attributes)
        Codes of `ConditionType`.
    radii : ndarray of shape (n_rules,)
        How far each box reaches: the confidence of its rule.
    classes : ndarray of int, shape (n_rules,)
    sources, bags : ndarray of int, shape (n_rules,)
        The row of the object, and the bag, that each rule comes from.
    """

    points: Floats
    types: Types
    radii: Floats
    classes: Positions
    sources: Ints
    bags: Ints

    def __len__(self) -> int:
        return len(self.radii)

    @property
    def lengths(self) -> Ints:
        """How many conditions each rule has."""
        return lengths_of(self.types)

    @classmethod
    def joined(cls, pools: Sequence[Self]) -> Self:
        """The rules of several pools, one after another."""
        names = ("points", "types", "radii", "classes", "sources", "bags")
        return cls(*(np.concatenate([getattr(pool, name) for pool in pools]) for name in names))

    def take(self, rules: NDArray[np.integer]) -> RulePool:
        """Some of the rules."""
        return RulePool(
            self.points[rules],
            self.types[rules],
            self.radii[rules],
            self.classes[rules],
            self.sources[rules],
            self.bags[rules],
        )

    def narrowed(self, least: Floats) -> RulePool:
        """The same rules, none of which reaches beyond its nearest enemy."""
        return replace(self, radii=np.minimum(self.radii, least))

    def distances(self, objects: Objects) -> Floats:
        """Rules x objects: by how much the worst condition fails; what is missing fails none.

        Examples
        --------
        >>> one = np.zeros(1, dtype=np.int64)
        >>> pool = RulePool(np.array([[0.5, 0.5]]), np.array([[1, 3]], np.int8), np.ones(1), one, one, one)
        >>> pool.distances(Objects(np.array([[0.2, 0.75], [1.0, np.nan]]), one, None))
        array([[0.25, 0.5 ]])
        """
        columns = np.ascontiguousarray(objects.values.T)
        rigid = [] if objects.rigid is None else objects.rigid.tolist()
        found = np.zeros((len(self), columns.shape[1]))
        for row, point, types in zip(found, self.points.tolist(), self.types, strict=True):
            for a in np.flatnonzero(types).tolist():
                apart = columns[a] - point[a]
                if rigid and rigid[a]:
                    apart = (np.abs(apart) > 0.0).astype(np.float64)
                elif types[a] == ConditionType.SIMILAR:
                    np.abs(apart, out=apart)
                elif types[a] == ConditionType.AT_LEAST:
                    np.negative(apart, out=apart)
                np.fmax(row, apart, out=row)
        return found


class Nearest(NamedTuple):
    """The nearest enemies of rules: distance and row of the first, distance of the second."""

    least: Floats
    row: Ints
    second: Floats

    def without(self, rows: Ints) -> Floats:
        """Rules x rows: the distance to the nearest enemy that is not this row."""
        return np.where(self.row[:, None] == rows, self.second[:, None], self.least[:, None])


def nearest_enemies(pool: RulePool, objects: Objects, n_jobs: int | None = None) -> Nearest:
    """The two nearest enemies of every rule under its own conditions; infinitely far if there is none."""

    def two(start: int, end: int) -> Nearest:
        part = _part(objects, start, end)
        distance = pool.distances(part)
        distance[pool.classes[:, None] == part.classes] = np.inf
        rules, row = np.arange(len(pool)), distance.argmin(axis=1)
        least = distance[rules, row]
        distance[rules, row] = np.inf
        return Nearest(least, start + row, distance.min(axis=1))

    least, second = np.full(len(pool), np.inf), np.full(len(pool), np.inf)
    row = np.full(len(pool), -1, dtype=np.int64)
    for found in map_threads(two, _blocks(len(pool), len(objects.classes)), n_jobs):
        nearer = found.least < least
        second = np.minimum(np.where(nearer, least, found.least), np.minimum(second, found.second))
        row = np.where(nearer, found.row, row)
        least = np.where(nearer, found.least, least)
    return Nearest(least, row, second)


def covered(pool: RulePool, objects: Objects, n_jobs: int | None = None) -> CoverMatrix:
    """Which objects each rule covers: those nearer than its radius, less the tolerance."""
    n = len(objects.classes)
    words = np.zeros((len(pool), -(-n // 64)), dtype=np.uint64)
    limits = (pool.radii - TOLERANCE)[:, None]

    def fill(start: int, end: int) -> None:
        inside = pool.distances(_part(objects, start, end)) < limits
        words[:, start // 64 : -(-end // 64)] = packed(inside)

    map_threads(fill, _blocks(len(pool), n), n_jobs)
    return CoverMatrix.from_words(words, n)


def unseen_votes(
    pool: RulePool,
    objects: Objects,
    unseen: Flags,
    nearest: Nearest | None,
    n_classes: int,
    n_jobs: int | None = None,
) -> tuple[Floats, Floats]:
    """What rules say of the objects that their bags have not seen.

    Parameters
    ----------
    pool, objects
    unseen : ndarray of bool, shape (n_estimators, n_objects)
    nearest : Nearest, optional
        With it the best rule of a class counts, narrowed by all objects but the one it is asked about;
        without, all rules of a class count together, as their bags made them.
    n_classes : int
    n_jobs : int, optional

    Returns
    -------
    scores, uncut : ndarrays of shape (n_objects, n_classes)
        What speaks for each class; and radius less distance of its rule for which this is largest, -inf
        where there is no rule to ask.
    """
    n = len(objects.classes)
    scores, uncut = np.zeros((n, n_classes)), np.full((n, n_classes), -np.inf)
    of_class = [np.flatnonzero(pool.classes == c) for c in range(n_classes)]

    def fill(start: int, end: int) -> None:
        radii = pool.radii[:, None]
        if nearest is not None:
            radii = np.minimum(radii, nearest.without(np.arange(start, end)))
        counts = radii - pool.distances(_part(objects, start, end))
        counts[~unseen[pool.bags, start:end]] = -np.inf
        for c, own in enumerate(of_class):
            if len(own):
                uncut[start:end, c] = counts[own].max(axis=0)
                positive = np.maximum(counts[own], 0.0)
                together = positive.sum(axis=0) if nearest is None else positive.max(axis=0)
                scores[start:end, c] = together

    map_threads(fill, _blocks(len(pool), n), n_jobs)
    return scores, uncut


def _part(objects: Objects, start: int, end: int) -> Objects:
    return Objects(objects.values[start:end], objects.classes[start:end], objects.rigid)


def _blocks(n_rules: int, n_objects: int) -> list[tuple[int, int]]:
    """Ranges of objects that begin at whole words of 64."""
    size = min(max(MOST_PAIRS // max(n_rules, 1), 64), MOST_OBJECTS) // 64 * 64
    return [(start, min(start + size, n_objects)) for start in range(0, n_objects, size)]

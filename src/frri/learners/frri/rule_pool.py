"""Rules from several bags in one pool: distances to samples, coverage, out-of-bag votes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from frri._util import map_threads
from frri.cover import CoverMatrix
from frri.cover.matrix import packed
from frri.induction import TOLERANCE
from frri.induction.numpy_backend import distances
from frri.learners.box_rules import scaled_values
from frri.learners.frri.pipeline import Candidates
from frri.rules.rule import label_array
from frri.table import to_matrix
from frri.table.checks import check_complete

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Positions, Types
    from frri.learners.training_table import TrainingTable

# Pairs of rule and sample that are computed together, and samples at most: a column of them stays
# in the cache.
MOST_PAIRS, MOST_SAMPLES = 1 << 17, 8192


class Samples(NamedTuple):
    """Scaled samples: values, classes, and nominal features (None without any)."""

    values: Floats
    classes: Positions
    rigid: Flags | None

    def take(self, start: int, end: int) -> Samples:
        """Return the samples from `start` to `end`."""
        return Samples(self.values[start:end], self.classes[start:end], self.rigid)


@dataclass(frozen=True, eq=False)
class RulePool:
    """Boxes around samples, from any number of bags.

    Parameters
    ----------
    points : ndarray of shape (n_rules, n_features)
        Scaled values of the sample of each rule.
    types : ndarray of int8, shape (n_rules, n_features)
        Codes of `ConditionType`.
    radii : ndarray of shape (n_rules,)
        Confidence of each rule: half the width of its box.
    classes : ndarray of int, shape (n_rules,)
    sources, bags : ndarray of int, shape (n_rules,)
        Row of the sample, and the bag, that each rule comes from.
    """

    points: Floats
    types: Types
    radii: Floats
    classes: Positions
    sources: Ints
    bags: Ints

    def __len__(self) -> int:
        return len(self.radii)

    @classmethod
    def concatenate(cls, pools: Sequence[Self]) -> Self:
        """Return the rules of several pools, one after another."""
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(pool, name) for pool in pools]) for name in names))

    def take(self, rules: NDArray[np.integer]) -> Self:
        """Return some of the rules."""
        return type(self)(*(getattr(self, field.name)[rules] for field in fields(self)))

    def narrow(self, distances: Floats) -> RulePool:
        """Return the same rules, with radii that do not exceed some distances."""
        return replace(self, radii=np.minimum(self.radii, distances))

    def distances(self, samples: Samples) -> Floats:
        """Return rules x samples: by how much the worst condition fails."""
        columns = np.ascontiguousarray(samples.values.T)
        return distances(self.points, self.types, columns, samples.rigid)

    def candidates(self, samples: Samples, n_jobs: int | None = None) -> Candidates:
        """Return the rules with the samples that they cover: those nearer than their radius."""
        n = len(samples.classes)
        words = np.zeros((len(self), -(-n // 64)), dtype=np.uint64)
        limits = (self.radii - TOLERANCE)[:, None]

        def fill(start: int, end: int) -> None:
            inside = self.distances(samples.take(start, end)) < limits
            words[:, start // 64 : -(-end // 64)] = packed(inside)

        map_threads(fill, _blocks(len(self), n), n_jobs)
        return Candidates(
            self.sources,
            self.types,
            self.radii,
            CoverMatrix.from_words(words, n),
            np.arange(n)[None],
            self.classes,
            np.bincount(samples.classes),
            {},
        )


class Nearest(NamedTuple):
    """Nearest samples of another class: distance and row of the first, distance of the second."""

    least: Floats
    row: Ints
    second: Floats

    def without(self, rows: Ints) -> Floats:
        """Return rules x rows: the distance to the nearest one that is not this row."""
        return np.where(self.row[:, None] == rows, self.second[:, None], self.least[:, None])


def nearest_of_other_classes(
    pool: RulePool, samples: Samples, n_jobs: int | None = None
) -> Nearest:
    """Return the two nearest samples of other classes of every rule, infinitely far without any."""

    def two(start: int, end: int) -> Nearest:
        part = samples.take(start, end)
        distance = pool.distances(part)
        distance[pool.classes[:, None] == part.classes] = np.inf
        rules, row = np.arange(len(pool)), distance.argmin(axis=1)
        least = distance[rules, row]
        distance[rules, row] = np.inf
        return Nearest(least, start + row, distance.min(axis=1))

    least, second = np.full(len(pool), np.inf), np.full(len(pool), np.inf)
    row = np.full(len(pool), -1, dtype=np.int64)
    for found in map_threads(two, _blocks(len(pool), len(samples.classes)), n_jobs):
        nearer = found.least < least
        second = np.minimum(np.where(nearer, least, found.least), np.minimum(second, found.second))
        row = np.where(nearer, found.row, row)
        least = np.where(nearer, found.least, least)
    return Nearest(least, row, second)


def nearest_in_batches(
    pool: RulePool,
    table: TrainingTable,
    batches: Iterable[tuple[Any, Any]],
    missing: str,
    n_jobs: int | None = None,
) -> tuple[Floats, int]:
    """Return the distance of every rule to other classes in some batches, and their sample count.

    Parameters
    ----------
    pool : RulePool
    table : TrainingTable
        Origin of the rules: its features, ranges and classes hold for the batches.
    batches : iterable of (table, labels)
    missing : {"typical", "similar", "error"}
    n_jobs : int, optional
    """
    least, count = np.full(len(pool), np.inf), 0
    labels = label_array(table.labels)
    ordered = np.array([attribute.kind == "ordinal" for attribute in table.attributes])
    imputed = np.array([attribute.typical_code for attribute in table.attributes])
    for X, y in batches:
        matrix = to_matrix(X, table.attributes)
        if missing == "error":
            check_complete(matrix, table.attributes)
        # As rules read values: an unseen ordered category is missing.
        matrix = np.where(ordered & (matrix < 0.0), np.nan, matrix)
        if missing == "typical":
            matrix = np.where(np.isnan(matrix), imputed, matrix)
        place = np.minimum(np.searchsorted(labels, y), len(labels) - 1)
        # A class that the table does not have differs from that of every rule.
        classes = np.where(labels[place] == np.asarray(y), place, -1)
        values, rigid = scaled_values(replace(table, values=matrix))
        found = nearest_of_other_classes(pool, Samples(values, classes, rigid), n_jobs)
        least, count = np.minimum(least, found.least), count + len(classes)
    return least, count


def out_of_bag_votes(
    pool: RulePool,
    samples: Samples,
    unseen: Flags,
    nearest: Nearest | None,
    n_jobs: int | None = None,
) -> tuple[Floats, Floats]:
    """Return class scores by the rules whose bags do not contain a sample.

    Parameters
    ----------
    pool, samples
    unseen : ndarray of bool, shape (n_bags, n_samples)
    nearest : Nearest, optional
        If given, the best rule of a class counts, narrowed by all samples but the one that it
        predicts; otherwise the degrees of all rules of a class are added.
    n_jobs : int, optional

    Returns
    -------
    scores, uncut : ndarrays of shape (n_samples, n_classes)
        Score of each class; and the largest radius less distance of its rules, -inf without a rule.
    """
    n, n_classes = len(samples.classes), int(samples.classes.max()) + 1
    scores, uncut = np.zeros((n, n_classes)), np.full((n, n_classes), -np.inf)
    of_class = [np.flatnonzero(pool.classes == c) for c in range(n_classes)]

    def fill(start: int, end: int) -> None:
        radii = pool.radii[:, None]
        if nearest is not None:
            radii = np.minimum(radii, nearest.without(np.arange(start, end)))
        counts = radii - pool.distances(samples.take(start, end))
        counts[~unseen[pool.bags, start:end]] = -np.inf
        for c, own in enumerate(of_class):
            if len(own):
                uncut[start:end, c] = counts[own].max(axis=0)
                positive = np.maximum(counts[own], 0.0)
                together = positive.sum(axis=0) if nearest is None else positive.max(axis=0)
                scores[start:end, c] = together

    map_threads(fill, _blocks(len(pool), n), n_jobs)
    return scores, uncut


def _blocks(n_rules: int, n_samples: int) -> list[tuple[int, int]]:
    """Return ranges of samples that begin at whole words of 64."""
    size = min(max(MOST_PAIRS // max(n_rules, 1), 64), MOST_SAMPLES) // 64 * 64
    return [(start, min(start + size, n_samples)) for start in range(0, n_samples, size)]

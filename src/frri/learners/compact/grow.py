"""Growth of boxes around samples: radii, and the sides that exclude samples of other classes.

Values are scaled to [0, 1]; columns of categories contain codes and are *rigid*: equal or not.
Weights are integers stored as floats, small enough that their sums are exact in any order. A
missing value (NaN) has distance 0 to every value, and satisfies no side.

Sets of samples are bit sets. `weight_planes` splits the weights into a few bit sets with a number
each, so that the weight of a set is a sum of bit counts times these numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frri._reproducible import log
from frri.cover.matrix import packed
from frri.induction import TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from frri._util import Flags, Floats, Positions, Types, Words

# Anchors x samples per block: few enough to stay in the cache.
BLOCK = 1 << 16
# More distinct weights than this are split into binary digits.
MAX_PLANES = 24


def box_radii(
    values: Floats,
    classes: Positions,
    rigid: Flags,
    anchors: Positions,
    k: int,
    counts: Floats | None = None,
) -> Floats:
    """Return the distance from each anchor to its k-th nearest sample of another class.

    If there are fewer than k, to the farthest; 1 if there is none. With `counts` (sample weights),
    the smallest distance within which samples of other classes have a total weight of at least k.

    Examples
    --------
    >>> values, classes = np.array([[0.0], [0.25], [1.0]]), np.array([0, 1, 1])
    >>> box_radii(values, classes, np.array([False]), np.arange(3), 2)
    array([1.  , 0.25, 1.  ])
    """
    found = np.ones(len(anchors))
    for places, others, distance in _other_class_distances(values, classes, rigid, anchors):
        if counts is None:
            last = min(k, len(others)) - 1
            distance.partition(last, axis=1)
            found[places] = distance[:, last]
        else:
            order = distance.argsort(axis=1, kind="stable")
            enough = counts[others][order].cumsum(axis=1) >= k
            enough[:, -1] = True
            rows = np.arange(len(order))
            found[places] = distance[rows, order[rows, enough.argmax(axis=1)]]
    return found


def _other_class_distances(
    values: Floats, classes: Positions, rigid: Flags, anchors: Positions
) -> Iterator[tuple[Positions, Positions, Floats]]:
    """Yield anchors of one class, the samples of other classes, and the distances between them."""
    for c in np.unique(classes[anchors]):
        own, others = np.flatnonzero(classes[anchors] == c), np.flatnonzero(classes != c)
        columns = np.ascontiguousarray(values[others].T)
        step = max(1, BLOCK // max(1, len(others)))
        for start in range(0, len(own) if len(others) else 0, step):
            places = own[start : start + step]
            distance, apart = np.zeros((2, len(places), len(others)))
            for a, x in enumerate(columns):
                np.subtract.outer(values[anchors[places], a], x, out=apart)
                np.abs(apart, out=apart)
                if rigid[a]:
                    apart[apart > 0.0] = 1.0
                np.fmax(distance, apart, out=distance)  # a missing value has distance 0
            yield places, others, distance


def grow_boxes(
    values: Floats,
    classes: Positions,
    weights: Floats,
    rigid: Flags,
    anchors: Positions,
    reach: Floats,
    max_impurity: float,
    max_sides: int,
) -> Types:
    """Return the sides of boxes, added by FOIL gain until a box is pure enough.

    Returns
    -------
    ndarray of int, shape (n_anchors, n_attributes)
        1 for "at most", 2 for "at least", 3 for both or for a category.
    """
    n, m = values.shape
    types = np.zeros((len(anchors), m), dtype=np.int8)
    columns = np.ascontiguousarray(values.T)
    own_sets, parts = (
        packed(classes == np.arange(classes.max() + 1)[:, None]),
        weight_planes(weights),
    )
    step = max(1, BLOCK // max(1, n))
    for start in range(0, len(anchors), step):
        some, limits = anchors[start : start + step], reach[start : start + step, None] - TOLERANCE
        block, own = types[start : start + step], own_sets[classes[some], None]
        sides = np.empty((len(some), 2 * m, own_sets.shape[1]), dtype=np.uint64)
        for a, x in enumerate(columns):
            apart = x - values[some, a, None]
            sides[:, 2 * a] = packed(apart == 0.0 if rigid[a] else apart < limits)
            sides[:, 2 * a + 1] = packed(apart > -limits)
        objects = np.repeat(packed(np.ones((1, n), dtype=np.bool_)), len(some), axis=0)
        inside = sum_weights(objects[:, None], own, *parts)[:, 0]
        unused = np.ones((len(some), 2 * m), dtype=np.bool_)
        unused[:, 1::2] = ~rigid
        left = np.arange(len(some))
        for _ in range(max_sides):
            left = left[inside[left, 1] > max_impurity * inside[left, 0]]
            if not len(left):
                break
            cut = sides[left] & objects[left, None]
            now = sum_weights(cut, own[left], *parts)
            gain = np.where(unused[left], _gain(now, inside[left]), 0.0)
            best, rows = gain.argmax(axis=1), np.arange(len(left))
            better = gain[rows, best] > 0.0
            left, best, rows = left[better], best[better], rows[better]
            objects[left], inside[left] = cut[rows, best], now[rows, best]
            kinds = np.where(rigid[best // 2], 3, 1 + best % 2)
            block[left, best // 2] |= kinds.astype(np.int8)
            unused[left, best] = False
    return types


def weight_planes(weights: Floats) -> tuple[Words, Floats]:
    """Return bit sets of samples and a number each, whose sums are the weights of the samples."""
    units = np.unique(weights)
    if len(units) <= MAX_PLANES:
        return packed(units[:, None] == weights), units
    digits = np.arange(int(weights.max()).bit_length())
    bits = (weights.astype(np.int64) >> digits[:, None]) & 1
    return packed(bits == 1), np.ldexp(1.0, digits)


def sum_weights(sets: Words, own: Words, masks: Words, units: Floats) -> Floats:
    """Return the weight of sets of samples: of the anchor's class, and of other classes.

    Parameters
    ----------
    sets : ndarray of shape (n_anchors, n_sets, n_words)
    own : ndarray of shape (n_anchors, 1, n_words)
    masks, units : ndarray
        Result of `weight_planes`.

    Returns
    -------
    ndarray of float, shape (n_anchors, n_sets, 2)
    """
    found = np.zeros((*sets.shape[:2], 2))
    for mask, unit in zip(masks, units, strict=True):
        here = sets & mask
        for k, part in enumerate((here & own, here & ~own)):
            found[..., k] += unit * np.bitwise_count(part).sum(axis=2)
    return found


def _gain(now: Floats, before: Floats) -> Floats:
    """Return the FOIL gain: own weight times the increase of the logarithm of the precision."""
    own, other = now[..., 0], now[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        base = log(before[:, 0] / (before[:, 0] + before[:, 1]))[:, None]
        return np.where(own > 0.0, own * (log(own / (own + other)) - base), 0.0)

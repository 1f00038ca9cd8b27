"""From the degrees of rules to the scores of classes.

Three ways of combining the rules that fire, and what to do where none does:

========== =======================================================================================
best       a class scores as much as its best rule (weight x degree); the highest score wins
sum        the rules of a class add up
first      rules are a list; the first one that holds decides
========== =======================================================================================

========== =======================================================================================
nearest    the rule that is nearest to covering the object, by the uncut value
stretched  each rule is cut before its first condition that fails and counts by what is left
partial    each rule counts by the weight of the subset of its conditions that hold
priors     the shares of the classes in training
========== =======================================================================================
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from frri.rules.matching import Matcher

Combination = Literal["best", "sum", "first"]
Fallback = Literal["nearest", "stretched", "partial", "priors"]


def class_scores(
    combination: Combination,
    degrees: NDArray[np.float64],
    weights: NDArray[np.float64],
    rule_classes: NDArray[np.intp],
    distributions: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Objects x classes; a row of zeros where no rule fires."""
    n_classes = distributions.shape[1]
    scores = np.zeros((len(degrees), n_classes))
    if not degrees.shape[1]:
        return scores
    if combination == "first":
        fires = degrees > 0.0
        rows = np.flatnonzero(fires.any(axis=1))
        scores[rows] = distributions[fires[rows].argmax(axis=1)]
        return scores
    weighted = degrees * weights
    for c in range(n_classes):
        own = weighted[:, rule_classes == c]
        if own.shape[1]:
            scores[:, c] = own.max(axis=1) if combination == "best" else _added(own)
    return scores


def fallback_values(
    fallback: Fallback,
    matcher: Matcher,
    block: NDArray[np.float64],
    *,
    rule_classes: NDArray[np.intp],
    partial_weights: "PartialWeights",
    priors: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Objects x classes, for objects that no rule covers; the largest value decides."""
    n_classes = len(priors)
    everything = np.broadcast_to(priors, (len(block), n_classes))
    if fallback == "priors":
        return everything
    if fallback == "nearest":
        return _best_per_class(matcher.nearness(block), rule_classes, n_classes, -np.inf)
    memberships = np.maximum(matcher.uncut(block), 0.0)
    part = _stretched if fallback == "stretched" else _satisfied
    weighted = part(matcher, memberships, partial_weights)
    values = _best_per_class(weighted, rule_classes, n_classes, 0.0)
    return np.where(values.max(axis=1, keepdims=True) > 0.0, values, everything)


def fallback_shares(fallback: Fallback, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fallback values as shares that sum to 1, in the same order.

    Nearness is mostly negative and becomes shares by the exponential function; 0 for minus infinity.
    """
    if fallback == "nearest":
        values = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def _added(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row sums from left to right, whatever the number of rows: numpy's own order depends on it."""
    return np.cumsum(values, axis=1)[:, -1]


class PartialWeights:
    """The weights of parts of rules, in one row after another.

    Parameters
    ----------
    parts : sequence of ndarray of float64
        For each rule the weights of its parts, or nothing; such a rule does not count.
    """

    def __init__(self, parts: Sequence[NDArray[np.float64]]) -> None:
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
        self._flat = np.concatenate(([0.0], *parts))
        self._counts = lengths > 0
        self._starts = np.where(self._counts, 1 + np.cumsum(lengths) - lengths, 0)

    def take(self, index: NDArray[np.int64]) -> NDArray[np.float64]:
        """Objects x rules: the weight of each rule's part of that index."""
        return self._flat[self._starts + self._counts * index]


def _stretched(
    matcher: Matcher, memberships: NDArray[np.float64], weights: PartialWeights
) -> NDArray[np.float64]:
    """Degree of the longest beginning of a rule that holds, times that beginning's weight."""
    starts, place = matcher.indptr[:-1], _places(matcher)
    lengths = np.diff(matcher.indptr)[matcher.rule_of]
    kept = np.minimum.reduceat(np.where(memberships > 0.0, lengths, place), starts, axis=1)
    degrees = matcher.join(np.where(place < kept[:, matcher.rule_of], memberships, 1.0))
    return np.where(kept > 0, degrees, 0.0) * weights.take(kept)


def _satisfied(
    matcher: Matcher, memberships: NDArray[np.float64], weights: PartialWeights
) -> NDArray[np.float64]:
    """Weight of the subset of conditions that hold; 0 where none does."""
    # Longer rules have no weights, so their bits do not matter.
    bits = np.int64(1) << np.minimum(_places(matcher), 62)
    subsets = np.add.reduceat(np.where(memberships > 0.0, bits, 0), matcher.indptr[:-1], axis=1)
    return np.where(subsets > 0, weights.take(subsets), 0.0)


def _places(matcher: Matcher) -> NDArray[np.int64]:
    """The place of every condition in its rule."""
    return np.arange(len(matcher.columns)) - matcher.indptr[matcher.rule_of]


def _best_per_class(
    values: NDArray[np.float64], rule_classes: NDArray[np.intp], n_classes: int, nothing: float
) -> NDArray[np.float64]:
    best = np.full((len(values), n_classes), nothing)
    for c in range(n_classes):
        own = values[:, rule_classes == c]
        if own.shape[1]:
            best[:, c] = own.max(axis=1)
    return best

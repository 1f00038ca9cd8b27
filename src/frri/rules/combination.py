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
    partial_weights: list[NDArray[np.float64]],
    priors: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Objects x classes, for objects that no rule covers; the largest value decides."""
    n_classes = len(priors)
    everything = np.broadcast_to(priors, (len(block), n_classes))
    if fallback == "priors":
        return everything
    if fallback == "nearest":
        return _best_per_class(matcher.nearness(block), rule_classes, n_classes, -np.inf)
    part = _stretched if fallback == "stretched" else _satisfied
    memberships = np.maximum(matcher.uncut(block), 0.0)
    weighted = np.column_stack(
        [
            part(
                memberships[:, matcher.indptr[r] : matcher.indptr[r + 1]],
                partial_weights[r],
                matcher,
            )
            for r in range(matcher.n_rules)
        ]
    )
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


def _stretched(
    memberships: NDArray[np.float64], weights: NDArray[np.float64], matcher: Matcher
) -> NDArray[np.float64]:
    """Degree of the longest beginning of a rule that holds, times that beginning's weight."""
    holding = np.logical_and.accumulate(memberships > 0.0, axis=1)
    kept = holding.sum(axis=1)
    degrees = matcher.join_one(np.where(holding, memberships, 1.0))
    return np.where(kept > 0, degrees, 0.0) * _take(weights, kept)


def _satisfied(
    memberships: NDArray[np.float64], weights: NDArray[np.float64], matcher: Matcher
) -> NDArray[np.float64]:
    """Weight of the subset of conditions that hold; 0 where none does."""
    del matcher
    bits = (memberships > 0.0) @ (1 << np.arange(memberships.shape[1]))
    return np.where(bits > 0, _take(weights, bits), 0.0)


def _take(weights: NDArray[np.float64], index: NDArray[np.intp]) -> NDArray[np.float64]:
    """Weights by index; a rule that has none does not count."""
    return weights[index] if len(weights) else np.zeros(len(index))


def _best_per_class(
    values: NDArray[np.float64], rule_classes: NDArray[np.intp], n_classes: int, nothing: float
) -> NDArray[np.float64]:
    best = np.full((len(values), n_classes), nothing)
    for c in range(n_classes):
        own = values[:, rule_classes == c]
        if own.shape[1]:
            best[:, c] = own.max(axis=1)
    return best

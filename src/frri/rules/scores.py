"""From the degrees of rules to scores: a function for every semantics.

This is the table of `frri.rules.semantics` in numpy. Sums run from left to right whatever the
number of samples, because exports must reproduce them.

Scores of ordered classes fall from class to class. None falls where rules "at least" a class, or
those that add, count more, and rules "at most" a class, or those that subtract, count less; in
floating point too. So if the former can only count more and the latter only less as a feature
grows, then no prediction falls as it grows.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from frri._util import Flags, Floats

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

# Larger exponents of e are near the end of floating point, and make no difference to a probability.
LARGEST_EXPONENT = 700.0
# The smallest floating-point number above one half.
ABOVE_HALF = 0.5 + 2.0**-53


def scores_of(ruleset: "RuleSet", degrees: Floats, near: Floats | None = None) -> Floats:
    """Return samples x classes from samples x rules; in regression one column.

    Parameters
    ----------
    ruleset : RuleSet
    degrees : ndarray of shape (n_samples, n_rules)
    near : ndarray of shape (n_samples, n_rules), optional
        Weighted uncut values, where "at-least-class" falls back on the nearest rules.
    """
    weighted = degrees * ruleset.arrays.weights
    name = ruleset.semantics.name
    if name == "first-match":
        return _first_match(ruleset, degrees)
    if name == "at-least-class":
        return _at_least_class(ruleset, weighted, near)
    return _SCORES[name](ruleset, weighted)


def best_per_class(ruleset: "RuleSet", values: Floats, nothing: float) -> Floats:
    """Return samples x classes: the largest value of the rules of each class."""
    best = np.full((len(values), len(ruleset.classes)), nothing)
    for c, own in ruleset.arrays.of_classes:
        values.take(own, axis=1).max(axis=1, out=best[:, c])
    return best


def _added_votes(ruleset: "RuleSet", weighted: Floats) -> Floats:
    scores = np.zeros((len(weighted), len(ruleset.classes)))
    for c, own in ruleset.arrays.of_classes:
        scores[:, c] = _sum_rows(weighted.take(own, axis=1))
    return scores


def _first_match(ruleset: "RuleSet", degrees: Floats) -> Floats:
    scores = np.zeros((len(degrees), len(ruleset.classes)))
    fires = degrees > 0.0
    rows = np.flatnonzero(fires.any(axis=1))
    if len(rows):
        scores[rows] = ruleset.arrays.says[fires[rows].argmax(axis=1)]
    return scores


def _added_to_base(ruleset: "RuleSet", weighted: Floats) -> Floats:
    says = ruleset.arrays.says
    columns = [
        _sum_rows(np.column_stack([np.full(len(weighted), start), weighted * says[:, c]]))
        for c, start in enumerate(ruleset.base)
    ]
    return np.column_stack(columns)


def _weighted_mean(ruleset: "RuleSet", weighted: Floats) -> Floats:
    if not weighted.shape[1]:
        return np.full((len(weighted), 1), ruleset.base[0])
    total = _sum_rows(weighted)
    with np.errstate(invalid="ignore"):
        mean = _sum_rows(weighted * ruleset.arrays.says[:, 0]) / total
    return np.where(total > 0.0, mean, ruleset.base[0])[:, None]


def _cumulative_logits(ruleset: "RuleSet", weighted: Floats) -> Floats:
    """Return the logistic function of each class's base plus the sum of what rules add; 1 first.

    It is above one half exactly where the sum is above 0. So a decision depends on the sign of the
    sum, and not on the last bit of an exponential function, which differs between machines.
    """
    added = weighted * ruleset.arrays.says[:, 0]
    sums = _sum_rows(np.column_stack([np.zeros(len(added)), added]))[:, None]
    odds = np.minimum(-(sums + np.array(ruleset.base)), LARGEST_EXPONENT)
    shares = 1.0 / (1.0 + np.exp(odds))
    shares = np.where(odds < 0.0, np.maximum(shares, ABOVE_HALF), np.minimum(shares, 0.5))
    return np.column_stack([np.ones(len(added)), shares])


def _at_least_class(ruleset: "RuleSet", weighted: Floats, near: Floats | None) -> Floats:
    """Return the fraction of votes about "at least class t" that are for it; 1 for the first class.

    A rule "at least k" votes for all classes up to k, a rule "at most k" against all above it; the
    strongest one counts. Where no rule votes, the nearest rules do by how far those of the other
    side are, or else the class priors.
    """
    pro, contra = _strongest(ruleset, weighted, 0.0)
    nobody = ~((pro > 0.0) | (contra > 0.0))
    pro, contra = _fill_by_priors(ruleset, pro, contra, nobody)
    if near is not None:
        nearest, opposed = _strongest(ruleset, near, -np.inf)
        asked = nobody & (np.maximum(nearest, opposed) > -np.inf)
        pro = np.where(asked, np.maximum(-opposed, 0.0), pro)
        contra = np.where(asked, np.maximum(-nearest, 0.0), contra)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # In this form rounding keeps the order of the thresholds.
        shares = np.where(pro > 0.0, 1.0 / (1.0 + contra / pro), 0.0)
    shares[:, 0] = 1.0
    return shares


def _strongest(ruleset: "RuleSet", votes: Floats, nothing: float) -> tuple[Floats, Floats]:
    """Return samples x classes: the largest vote for "at least" each class, and against it."""
    rising, k = ruleset.arrays.rising, ruleset.arrays.classes
    pro, contra = np.empty((2, len(votes), len(ruleset.classes)))
    for t in range(len(ruleset.classes)):
        pro[:, t] = votes[:, rising & (k >= t)].max(axis=1, initial=nothing)
        contra[:, t] = votes[:, ~rising & (k < t)].max(axis=1, initial=nothing)
    return pro, contra


def _fill_by_priors(
    ruleset: "RuleSet", pro: Floats, contra: Floats, nobody: Flags
) -> tuple[Floats, Floats]:
    """Fill in, where no rule votes, the priors of the classes that are left.

    These are neither below the highest "at least" nor above the lowest "at most". If none of them
    occurs in training, they have equal priors.
    """
    n_classes = len(ruleset.classes)
    thresholds = np.arange(n_classes)
    lowest = (pro[:, 1:] > 0.0).sum(axis=1)[:, None]
    highest = n_classes - 1 - (contra > 0.0).sum(axis=1)[:, None]
    before = np.concatenate(([0.0], np.cumsum(ruleset.class_counts)))
    possible = before[np.maximum(highest, lowest) + 1] - before[lowest] > 0.0
    for sums, some in ((before, possible), (np.arange(n_classes + 1.0), ~possible)):
        asked = nobody & some & (thresholds > 0)
        pro = np.where(asked, sums[highest + 1] - sums[thresholds], pro)
        contra = np.where(asked, sums[thresholds] - sums[lowest], contra)
    return pro, contra


def _sum_rows(values: Floats) -> Floats:
    """Return row sums from left to right; the order of numpy's own sums depends on the shape."""
    return np.cumsum(values, axis=1)[:, -1]


_SCORES: Mapping[str, Callable[["RuleSet", Floats], Floats]] = {
    "best-rule": lambda ruleset, weighted: best_per_class(ruleset, weighted, 0.0),
    "added-votes": _added_votes,
    "softmax-votes": _added_to_base,
    "cumulative-logits": _cumulative_logits,
    "weighted-mean": _weighted_mean,
    "added-contributions": _added_to_base,
}

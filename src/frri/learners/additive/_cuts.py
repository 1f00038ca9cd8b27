"""From one score to ordered classes: where to cut it, and how sure its distances from the cuts are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frri._reproducible import exp, log, total

if TYPE_CHECKING:
    from frri._util import Floats, Positions

# Scores that differ by less are the same: sums are rounded.
SAME = 1e-9
# Beyond all scores: a cut that no object, or every object, passes.
BEYOND = 1.0
# Costs that differ by less are equal, as shares of what all objects weigh.
TIE = 1e-12
# Slopes that are tried, times the usual one of a logistic distribution with the residuals' spread.
SLOPES = np.sqrt(np.sqrt(np.ldexp(1.0, np.arange(-8, 9))))
USUAL_SLOPE = np.pi / np.sqrt(3.0)
# No residuals are smaller than this, in classes.
LEAST_SPREAD = 0.1


def fitted_cuts(scores: Floats, classes: Positions, weights: Floats, n: int) -> Floats:
    """The cuts between `n` ordered classes by which answers are least wrong, in classes.

    The error of an answer counts the cuts on whose wrong side it is, so every cut can be chosen by
    itself; and as a higher class has fewer members, the first of its best cuts is never lower than that
    of a lower one. Cuts lie halfway between neighbouring scores.

    Parameters
    ----------
    scores : ndarray of shape (n_objects,)
    classes : ndarray of int, shape (n_objects,)
    weights : ndarray of shape (n_objects,)
    n : int
        How many classes there are.

    Returns
    -------
    ndarray of shape (n - 1,)
        Not falling. An object passes a cut if its score is above it.

    Examples
    --------
    >>> fitted_cuts(np.array([0.0, 1.0, 1.5, 3.0]), np.array([0, 1, 1, 2]), np.ones(4), 3)
    array([0.5 , 2.25])
    """
    order = scores.argsort(kind="stable")
    ranked = scores[order]
    starts = np.concatenate(([True], np.diff(ranked) > SAME))
    group = np.cumsum(starts) - 1
    low, high = ranked[starts], ranked[np.append(np.flatnonzero(starts)[1:] - 1, len(ranked) - 1)]
    places = np.concatenate(
        ([low[0] - BEYOND], high[:-1] + (low[1:] - high[:-1]) / 2.0, [high[-1] + BEYOND])
    )
    cuts = np.empty(n - 1)
    for t in range(1, n):
        # What a cut loses that moves past an object of at least this class, or wins past another.
        lost = np.where(classes[order] >= t, weights[order], -weights[order])
        cost = np.concatenate(([0.0], np.cumsum(np.bincount(group, lost, len(low)))))
        cuts[t - 1] = places[(cost <= cost.min() + TIE * total(weights)).argmax()]
    return np.maximum.accumulate(cuts)


def fitted_slope(scores: Floats, classes: Positions, weights: Floats, cuts: Floats) -> float:
    """How much log odds a unit of the score is worth: what makes the classes most probable.

    Parameters
    ----------
    scores, classes, weights
        As for `fitted_cuts`.
    cuts : ndarray of shape (n_classes - 1,)

    Returns
    -------
    float
    """
    spread = float(np.sqrt(total((classes - scores) ** 2 * weights) / total(weights)))
    best, found = np.inf, 1.0
    for slope in SLOPES * (USUAL_SLOPE / max(spread, LEAST_SPREAD)):
        passed = 1.0 / (1.0 + exp(np.minimum(slope * (cuts - scores[:, None]), 700.0)))
        ends = np.ones((len(scores), 1)), np.zeros((len(scores), 1))
        reached = np.concatenate((ends[0], passed, ends[1]), axis=1)
        rows = np.arange(len(scores))
        shares = reached[rows, classes] - reached[rows, classes + 1]
        loss = -float(total(weights * log(np.maximum(shares, 1e-300))))
        if loss < best - SAME * total(weights):
            best, found = loss, float(slope)
    return found

"""Weights of rules: the minimum of a convex loss, some of the weights bound to be at least 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frri._reproducible import solve, total

if TYPE_CHECKING:
    from collections.abc import Callable

    from frri._util import Flags, Floats

# A step that promises less than this, as a share of the loss, is the last one.
TOLERANCE = 1e-13
MOST_STEPS = 100
# How much of the promised decrease a step must keep, and how often it is halved until it does.
KEPT = 1e-4
HALVINGS = 40


def minimum(
    start: Floats,
    at_least_zero: Flags,
    loss: Callable[[Floats], float],
    derivatives: Callable[[Floats], tuple[Floats, Floats]],
) -> Floats:
    """Minimise a strictly convex function by Newton's method, projected on the bounds.

    Weights that lie on their bound and want to cross it rest for a step; the others take Newton's
    step, cut at the bounds and halved until the loss falls (Bertsekas 1982).

    Parameters
    ----------
    start : ndarray of float, shape (n_weights,)
    at_least_zero : ndarray of bool, shape (n_weights,)
        Which weights must not be negative.
    loss : callable
    derivatives : callable
        Gradient and matrix of second derivatives.

    Returns
    -------
    ndarray of float, shape (n_weights,)

    Examples
    --------
    >>> centre = np.array([1.0, -2.0])
    >>> minimum(
    ...     np.zeros(2),
    ...     np.array([True, True]),
    ...     lambda x: float(((x - centre) ** 2).sum()),
    ...     lambda x: (2.0 * (x - centre), 2.0 * np.eye(2)),
    ... )
    array([1., 0.])
    """
    lower = np.where(at_least_zero, 0.0, -np.inf)
    weights, now = start, loss(start)
    for _ in range(MOST_STEPS):
        gradient, curvature = derivatives(weights)
        free = np.flatnonzero((weights > lower) | (gradient < 0.0))
        step = np.zeros_like(weights)
        step[free] = -solve(curvature[np.ix_(free, free)], gradient[free])
        if -total(step * gradient) <= TOLERANCE * (1.0 + abs(now)):
            # So near the minimum a step squares the error, too small to be seen in the loss.
            return np.asarray(np.maximum(weights + step, lower))
        for _ in range(HALVINGS):
            trial = np.maximum(weights + step, lower)
            then = loss(trial)
            if then <= now + KEPT * total(gradient * (trial - weights)):
                break
            step = step / 2.0
        else:
            break
        weights, now = trial, then
    return weights

"""From scores to probabilities: normalization, and shrinkage towards the class priors."""

import numpy as np

from frri._util import Floats, Positions

# A number times this is the next one, or the one after that.
SLIGHTLY_MORE = 1.0 + 2.0**-52


def exponentials(values: Floats) -> Floats:
    """Return exp(value - largest of the row), 1 for the largest, though it be infinite."""
    top = values.max(axis=1, keepdims=True)
    if top.min() > -np.inf:
        return np.asarray(np.exp(values - top))
    return np.where(values == top, 1.0, np.exp(values - np.where(top > -np.inf, top, 0.0)))


def raise_to_first(shares: Floats, decided: Positions) -> Floats:
    """Raise, in place, probabilities of predicted classes that rounding left behind or level."""
    behind = np.flatnonzero(shares.argmax(axis=1) != decided)
    if len(behind):
        shares[behind, decided[behind]] = shares[behind].max(axis=1) * SLIGHTLY_MORE
    return shares


def shrink_to_priors(shares: Floats, decided: Positions, trust: float, sizes: Floats) -> Floats:
    """Mix probabilities with the class priors; the predicted class keeps the largest one.

    Classes that come out ahead of it are levelled with it: together they keep their sum, and each
    has the same.

    Parameters
    ----------
    shares : ndarray of shape (n_samples, n_classes)
        Probabilities by the rules.
    decided : ndarray of int, shape (n_samples,)
        The predicted class.
    trust : float
        The fraction that comes from the rules.
    sizes : ndarray of shape (n_classes,)
        Sizes of the classes in training.

    Examples
    --------
    >>> shares, decided = np.array([[0.0, 1.0, 0.0]]), np.array([1])
    >>> shrink_to_priors(shares, decided, 0.5, np.array([1.0, 1.0, 2.0])).tolist()
    [[0.125, 0.625, 0.25]]
    >>> shrink_to_priors(shares, decided, 0.0, np.array([1.0, 1.0, 2.0])).tolist()
    [[0.25, 0.375, 0.375]]
    """
    mixed: Floats = trust * shares + (1.0 - trust) * (sizes / sizes.sum())
    rows = np.arange(len(mixed))
    behind = np.flatnonzero(mixed[rows, decided] < mixed.max(axis=1, initial=0.0))
    if len(behind):
        part, own = mixed[behind], (np.arange(len(behind)), decided[behind])
        ahead = part.copy()
        ahead[own] = np.inf
        ahead = -np.sort(-ahead, axis=1)
        ahead[:, 0] = part[own]
        # The mean of the class and the largest others rises as long as the next one is above it.
        level = (np.cumsum(ahead, axis=1) / np.arange(1, ahead.shape[1] + 1)).max(axis=1)
        np.minimum(part, level[:, None], out=part)
        part[own] = level
        mixed[behind] = part
    return mixed

"""From shares that rules give to classes to probabilities: their mix with the class priors."""

import numpy as np

from frri._util import Floats, Positions


def shrink_to_priors(shares: Floats, decided: Positions, trust: float, sizes: Floats) -> Floats:
    """Return shares mixed with those of the classes in training; the class decided for stays in front.

    Classes that come out ahead of it are levelled with it: together they keep what they have, and
    each has the same.

    Parameters
    ----------
    shares : ndarray of shape (n_objects, n_classes)
        With sum 1 in each row.
    decided : ndarray of int, shape (n_objects,)
        The class decided for.
    trust : float
        The share that comes from the rules.
    sizes : ndarray of shape (n_classes,)
        Of the classes.

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

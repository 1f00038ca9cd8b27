"""Sums over the bins of columns: one pass over the objects, from which all thresholds follow."""

import numpy as np

from frri._compile import inner_kernel, kernel

# The sums of a bin: of g, h, m, of the same times the value, and of h times its square.
SUMS = 7


@inner_kernel
def binned(values, bins, n_bins, g, h, m):
    """Add up the bins of every column.

    Parameters
    ----------
    values : ndarray of float, shape (n_columns, n_objects)
        0 where missing.
    bins : ndarray of int, same shape
        The bin of each value.
    n_bins : int
    g, h, m : ndarray of float, shape (n_objects,)
        Gradients times degree, curvatures times squared degree, memberships.

    Returns
    -------
    ndarray of float, shape (n_columns, n_bins, 7)

    Examples
    --------
    >>> one = np.ones(2)
    >>> binned(np.array([[3.0, 5.0]]), np.array([[1, 1]]), 2, one, 2 * one, one)[0, 1].tolist()
    [2.0, 4.0, 2.0, 8.0, 16.0, 8.0, 68.0]
    """
    n_columns, n_objects = values.shape
    result = np.zeros((n_columns, n_bins, SUMS))
    for j in range(n_columns):
        sums = result[j]
        for i in range(n_objects):
            if m[i] > 0.0:
                z, s = values[j, i], sums[bins[j, i]]
                s[0] += g[i]
                s[1] += h[i]
                s[2] += m[i]
                s[3] += z * g[i]
                s[4] += z * h[i]
                s[5] += z * m[i]
                s[6] += z * z * h[i]
    return result


@kernel
def scan(values, bins, first, last, thresholds, g, h, m):
    """G, H and M for every threshold and side: see `frri.learners.additive._columns`.

    Parameters
    ----------
    values, bins, g, h, m
        As for `binned`.
    first, last : ndarray of int, shape (n_columns, n_thresholds)
        How many bins lie before the beginning and before the end of each ramp.
    thresholds : ndarray of float, same shape

    Returns
    -------
    ndarray of float, shape (3, n_columns, n_thresholds, 2)
    """
    n_columns, n_thresholds = thresholds.shape
    n_bins = 2 * n_thresholds + 2
    sums = binned(values, bins, n_bins, g, h, m)
    result = np.empty((3, n_columns, n_thresholds, 2))
    running = np.zeros((n_bins, SUMS))  # before each bin; the last one is of missing values
    for j in range(n_columns):
        for b in range(n_bins - 1):
            for k in range(SUMS):
                running[b + 1, k] = running[b, k] + sums[j, b, k]
        total = running[n_bins - 1]
        for t in range(n_thresholds):
            below, upto = running[first[j, t]], running[last[j, t]]
            for side in range(2):
                edge = thresholds[j, t] + (1.0 - 2.0 * side)
                half = 0.5 - side
                for k in range(3):
                    flank = below[k] if side == 0 else total[k] - upto[k]
                    ramp, tilted = upto[k] - below[k], upto[3 + k] - below[3 + k]
                    if k == 1:
                        bent = edge * (edge * ramp - 2.0 * tilted) + (upto[6] - below[6])
                        result[k, j, t, side] = flank + bent * 0.25
                    else:
                        result[k, j, t, side] = flank + (edge * ramp - tilted) * half
    return result

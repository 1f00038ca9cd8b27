"""Sums over the bins of columns: one pass over the objects, from which all thresholds follow."""

import numpy as np

from frri._twins import kernel

# The sums of a bin: of g, h, m, of the same times the value, and of h times its square.
SUMS = 7


@kernel
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

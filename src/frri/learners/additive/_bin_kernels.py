"""Sums over the bins of columns: one pass over samples, from which all thresholds follow.

The two forms, loops for the compiler and array operations, agree bit for bit: both add the terms of
a bin in the order of the samples.
"""

import numpy as np

from frri._compile import either

# Sums of a bin: of g, h and m, of the same times the value, and of h times its square.
SUMS = 7


def _binned_arrays(values, bins, n_bins, terms):
    """Add up the bins of every column, for some rules.

    Parameters
    ----------
    values : ndarray of float, shape (n_columns, n_samples)
        0 where missing.
    bins : ndarray of int, same shape
        Bin of each value.
    n_bins : int
    terms : ndarray of float, shape (3, n_rules, n_samples)
        Gradients times degree, curvatures times squared degree, memberships.

    Returns
    -------
    ndarray of float, shape (7, n_rules, n_columns, n_bins)

    Examples
    --------
    >>> terms = np.array([[[1.0, 1.0]], [[2.0, 2.0]], [[1.0, 1.0]]])
    >>> binned(np.array([[3.0, 5.0]]), np.array([[1, 1]]), 2, terms)[:, 0, 0, 1].tolist()
    [2.0, 4.0, 2.0, 8.0, 16.0, 8.0, 68.0]
    """
    n_columns, n_rules = len(values), terms.shape[1]
    keys = (bins + np.arange(n_columns)[:, None] * n_bins).ravel()
    result = np.empty((SUMS, n_rules, n_columns * n_bins))
    for r in range(n_rules):
        for k in range(3):
            own = terms[k, r]
            plain = np.broadcast_to(own, values.shape).ravel()
            result[k, r] = np.bincount(keys, plain, n_columns * n_bins)
            result[3 + k, r] = np.bincount(keys, (values * own).ravel(), n_columns * n_bins)
        squares = (values * values * terms[1, r]).ravel()
        result[6, r] = np.bincount(keys, squares, n_columns * n_bins)
    return result.reshape(SUMS, n_rules, n_columns, n_bins)


def _binned_loops(values, bins, n_bins, terms):
    n_columns, n_rules = len(values), terms.shape[1]
    result = np.zeros((SUMS, n_rules, n_columns, n_bins))
    sums = np.zeros((n_bins, SUMS))
    for r in range(n_rules):
        g, h, m = terms[0, r], terms[1, r], terms[2, r]
        for j in range(n_columns):
            sums[:, :] = 0.0
            for i in range(len(g)):
                if m[i] > 0.0:
                    z, s = values[j, i], sums[bins[j, i]]
                    s[0] += g[i]
                    s[1] += h[i]
                    s[2] += m[i]
                    s[3] += z * g[i]
                    s[4] += z * h[i]
                    s[5] += z * m[i]
                    s[6] += z * z * h[i]
            for b in range(n_bins):
                for k in range(SUMS):
                    result[k, r, j, b] = sums[b, k]
    return result


binned = either(interpreted=_binned_arrays, loops=_binned_loops)

"""Sums over a block of objects: of bins for the search of conditions, of products for the fit of weights.

Each kernel has two forms, loops for the compiler and array operations, which agree bit for bit: products
are taken and terms are added in the same order, that of the objects.
"""

import numpy as np

from frri._compile import either
from frri.learners.additive._bin_kernels import SUMS

# Objects whose gradients stay at hand while the columns are gone through.
TILE = 4_096


def _narrow_arrays(values, bins, missing, columns, sides, thresholds, start, rows, degree):
    """Find the objects that satisfy some tests at all, and to which degree.

    Parameters
    ----------
    values, bins : ndarray of shape (n_columns, n_objects)
    missing : int
        The bin of missing values.
    columns, sides, thresholds : ndarray of shape (n_tests,)
        Sides are 0 for "at most", 1 for "at least".
    start : ndarray of shape (n_objects,)
        What degrees are multiplied with.
    rows, degree : ndarray of shape (n_objects,)
        Get the objects and their degrees.

    Returns
    -------
    int
        How many there are.
    """
    mu = start
    for k, side, threshold in zip(columns, sides, thresholds, strict=True):
        inside = threshold - values[k]
        ramp = np.clip(0.5 + (inside if side == 0 else -inside) / 2.0, 0.0, 1.0)
        ramp[bins[k] == missing] = 0.0
        mu = mu * ramp
    found = np.flatnonzero(mu > 0.0)
    rows[: len(found)] = found
    degree[: len(found)] = mu[found]
    return len(found)


def _narrow_loops(values, bins, missing, columns, sides, thresholds, start, rows, degree):
    count = 0
    for i in range(len(start)):
        mu = start[i]
        for t in range(len(columns)):
            k = columns[t]
            inside = thresholds[t] - values[k, i]
            ramp = 0.5 + (inside if sides[t] == 0 else -inside) / 2.0
            if ramp <= 0.0 or bins[k, i] == missing:
                mu = 0.0
                break
            if ramp < 1.0:
                mu *= ramp
        if mu > 0.0:
            rows[count] = i
            degree[count] = mu
            count += 1
    return count


narrow = either(interpreted=_narrow_arrays, loops=_narrow_loops)


def _binned_arrays(values, bins, n_bins, rows, g, h, m):
    """The sums of `_bin_kernels.binned` over some objects, whose g, h and m stand one after another."""
    result = np.empty((len(values), n_bins, SUMS))
    for j in range(len(values)):
        z, b = values[j, rows], bins[j, rows]
        for k, terms in enumerate((g, h, m, z * g, z * h, z * m, z * z * h)):
            result[j, :, k] = np.bincount(b, terms, n_bins)
    return result


def _binned_loops(values, bins, n_bins, rows, g, h, m):
    result = np.zeros((len(values), n_bins, SUMS))
    for start in range(0, len(rows), TILE):
        end = min(start + TILE, len(rows))
        for j in range(len(values)):
            x, b, sums = values[j], bins[j], result[j]
            for c in range(start, end):
                i = rows[c]
                z, s = x[i], sums[b[i]]
                s[0] += g[c]
                s[1] += h[c]
                s[2] += m[c]
                s[3] += z * g[c]
                s[4] += z * h[c]
                s[5] += z * m[c]
                s[6] += z * z * h[c]
    return result


binned = either(interpreted=_binned_arrays, loops=_binned_loops)


def _scores_arrays(degrees, voices, weights, base):
    """The base of every score and what rules add to it.

    Parameters
    ----------
    degrees : ndarray of shape (n_objects, n_rules)
    voices : ndarray of int, shape (n_rules,)
        To which score a rule adds.
    weights : ndarray of shape (n_rules,)
    base : ndarray of shape (n_scores,)

    Returns
    -------
    ndarray of shape (n_scores, n_objects)
    """
    result = np.repeat(base, len(degrees)).reshape(len(base), len(degrees))
    for r, (voice, weight) in enumerate(zip(voices, weights, strict=True)):
        result[voice] += weight * degrees[:, r]
    return result


def _scores_loops(degrees, voices, weights, base):
    n, n_rules = degrees.shape
    result = np.empty((len(base), n))
    for i in range(n):
        for c in range(len(base)):
            result[c, i] = base[c]
        for r in range(n_rules):
            if degrees[i, r] > 0.0:
                result[voices[r], i] += weights[r] * degrees[i, r]
    return result


scores = either(interpreted=_scores_arrays, loops=_scores_loops)


def _derivatives_arrays(degrees, voices, errors, sizes, shares):
    """First and second derivatives of a loss by the weights of rules and, after them, by the bases.

    Parameters
    ----------
    degrees : ndarray of shape (n_objects, n_rules)
    voices : ndarray of int, shape (n_rules,)
    errors, sizes, shares : ndarray of shape (n_scores, n_objects)
        The derivative by score c is -errors[c], the second one by c and d is
        sizes[c] * ((c == d) - shares[d]).

    Returns
    -------
    ndarray of shape (n_weights,)
        First derivatives, with the sign turned.
    ndarray of shape (n_weights, n_weights)
        Second derivatives, up to the diagonal.
    """
    n_scores = len(errors)
    columns = [*degrees.T, *np.ones((n_scores, len(degrees)))]
    voice = [*voices, *range(n_scores)]
    first, second = np.zeros(len(columns)), np.zeros((len(columns), len(columns)))
    for r, c in enumerate(voice):
        first[r] = _added(columns[r] * errors[c])
        sized = columns[r] * sizes[c]
        for s in range(r + 1):
            other = float(voice[s] == c) - shares[voice[s]]
            second[r, s] = _added(sized * columns[s] * other)
    return first, second


def _added(terms):
    """A sum in the order of the terms."""
    return np.add.accumulate(terms)[-1]


def _derivatives_loops(degrees, voices, errors, sizes, shares):
    n, n_rules = degrees.shape
    n_scores = len(errors)
    first = np.zeros(n_rules + n_scores)
    second = np.zeros((n_rules + n_scores, n_rules + n_scores))
    rule = np.empty(n_rules + n_scores, dtype=np.int64)
    voice = np.empty(n_rules + n_scores, dtype=np.int64)
    degree = np.empty(n_rules + n_scores)
    for i in range(n):
        count = 0
        for r in range(n_rules):
            if degrees[i, r] > 0.0:
                rule[count], voice[count], degree[count] = r, voices[r], degrees[i, r]
                count += 1
        for c in range(n_scores):
            rule[count], voice[count], degree[count] = n_rules + c, c, 1.0
            count += 1
        for a in range(count):
            c, r = voice[a], rule[a]
            first[r] += degree[a] * errors[c, i]
            sized = degree[a] * sizes[c, i]
            for b in range(a + 1):
                d = voice[b]
                other = (1.0 if c == d else 0.0) - shares[d, i]
                second[r, rule[b]] += sized * degree[b] * other
    return first, second


derivatives = either(interpreted=_derivatives_arrays, loops=_derivatives_loops)

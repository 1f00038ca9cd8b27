"""Supports of greatest purity for the tests of a rule: how far each of them may reach out (FURIA).

Tests and columns are those of `_grow_kernels`; a test has a support beyond its value, NaN if it has
none. Both forms of a kernel add the same numbers in the same order.
"""

import numpy as np

from frri._compile import either, kernel
from frri.learners.ripper._grow_kernels import AT_MOST, EQUAL, satisfies

# Purities that differ by less are equal: sums of memberships are rounded.
TIE = 1e-12


@kernel
def beyond(column, order, comparison, value):
    """Return the samples with known values that fail a test `<=` or `>=`, the nearest first.

    Parameters
    ----------
    column : ndarray of float
    order : ndarray of int
        Sample numbers by ascending value.
    comparison, value
        The test.

    Examples
    --------
    >>> column = np.array([3.0, 1.0, np.nan, 2.0])
    >>> beyond(column, column.argsort(), 2, 3.0)  # 2: at least
    array([3, 1])
    """
    if comparison == EQUAL:
        return order[:0].copy()
    n_inside = np.sum(satisfies(column, comparison, value))
    n_known = len(column) - np.sum(np.isnan(column))
    if comparison == AT_MOST:
        return order[n_inside:n_known].copy()
    return order[: n_known - n_inside][::-1].copy()


# --- purest_support: the support of one test


def _purest_support_interpreted(column, value, outward, failed, positive, weights):
    """Find the support of greatest purity for a test, the widest of equal ones.

    Purity is the fraction of positives in the sum of the test's memberships, over the samples that
    fail no other test. Candidates are their values outside the test.

    Parameters
    ----------
    column : ndarray of float
    value : float
        Of the test.
    outward : ndarray of int
        The samples outside the test, the nearest first.
    failed : ndarray of int, shape (n_samples,)
        Number of tests of the rule that each sample fails.
    positive : ndarray of bool, shape (n_samples,)
    weights : ndarray of float, shape (n_samples,)

    Returns
    -------
    purity : float
        0 if there is no candidate.
    support : float
        NaN if there is no candidate.
    """
    outward = outward[failed[outward] == 1]
    if not len(outward):
        return 0.0, np.nan
    inside = failed == 0
    values, weight = column[outward], weights[outward]
    own = positive[outward] * weight
    new = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    # A sample at distance d has membership 1 - d / reach while it is within: sums of d are enough.
    distance = np.abs(values - value)
    reach = distance[new]
    before = np.zeros((4, len(outward) + 1))
    sums = [weight, weight * distance, own, own * distance]
    np.cumsum(sums, axis=1, out=before[:, 1:])
    within, lost, p_within, p_lost = before[:, new]
    total = weights[inside].sum() + within - lost / reach
    p_total = weights[inside & positive].sum() + p_within - p_lost / reach
    purity = np.divide(p_total, total, out=np.zeros(len(new)), where=total > 0.0)
    best = np.flatnonzero(purity >= purity.max() - TIE)[-1]
    return float(purity[best]), float(values[new[best]])


def _purest_support_loops(column, value, outward, failed, positive, weights):
    within, p_within = 0.0, 0.0
    for i in range(len(failed)):
        if failed[i] == 0:
            within += weights[i]
            p_within += weights[i] * positive[i]
    purities, ends = np.empty(len(outward)), np.empty(len(outward))
    n_ends, lost, p_lost, purest = 0, 0.0, 0.0, 0.0
    for k in range(len(outward)):
        if failed[outward[k]] != 1:
            continue
        end = column[outward[k]]
        distance = abs(end - value)
        if n_ends == 0 or end != ends[n_ends - 1]:
            total = within - lost / distance
            p_total = p_within - p_lost / distance
            purities[n_ends] = p_total / total if total > 0.0 else 0.0
            purest = max(purest, purities[n_ends])
            ends[n_ends] = end
            n_ends += 1
        weight = weights[outward[k]]
        within += weight
        lost += weight * distance
        if positive[outward[k]]:
            p_within += weight
            p_lost += weight * distance
    for k in range(n_ends - 1, -1, -1):
        if purities[k] >= purest - TIE:
            return purities[k], ends[k]
    return 0.0, np.nan


purest_support = either(interpreted=_purest_support_interpreted, loops=_purest_support_loops)


@kernel
def widened(values, order, positive, weights, tests):
    """Widen the tests of a rule, one at a time, where that makes the rule purer.

    In each round every test that is not settled yet proposes the support of greatest purity, given
    the others as they are; the purest proposal is adopted. This ends when the rule was purer
    before. Then every test that is still crisp reaches to the nearest value outside.

    Parameters
    ----------
    values : ndarray of float, shape (n_features, n_samples)
    order : ndarray of int, same shape
        Sample numbers of each feature by ascending value, missing ones last.
    positive : ndarray of bool, shape (n_samples,)
    weights : ndarray of float, shape (n_samples,)
        Weights of the samples.
    tests : ndarray of float, shape (n_tests, 3)

    Returns
    -------
    ndarray of float, shape (n_tests,)
        The supports.
    """
    n_tests, n_samples = len(tests), values.shape[1]
    outside = np.empty((n_tests, n_samples), dtype=order.dtype)
    n_outside = np.zeros(n_tests, dtype=np.int64)
    failed = np.zeros(n_samples, dtype=np.int32)  # number of tests that each sample fails
    for k in range(n_tests):
        column, comparison, value = int(tests[k, 0]), tests[k, 1], tests[k, 2]
        failed += ~satisfies(values[column], comparison, value)
        objects = beyond(values[column], order[column], comparison, value)
        n_outside[k] = len(objects)
        np.positive(objects, outside[k, : n_outside[k]])
    supports = np.full(n_tests, np.nan)
    purities, proposals = np.zeros(n_tests), np.full(n_tests, np.nan)
    settled = np.zeros(n_tests, dtype=np.bool_)
    purest = 0.0
    for _ in range(n_tests):
        for k in range(n_tests):
            if settled[k]:
                purities[k] = -1.0
            else:
                column, outward = values[int(tests[k, 0])], outside[k, : n_outside[k]]
                purities[k], proposals[k] = purest_support(
                    column, tests[k, 2], outward, failed, positive, weights
                )
        best = 0.0
        for purity in purities:
            best = max(best, purity)
        chosen = 0
        while purities[chosen] < best - TIE:
            chosen += 1
        settled[chosen] = True
        if purities[chosen] < purest - TIE:
            break  # the other tests have no better proposal, and nothing has changed for them
        if not np.isnan(proposals[chosen]):
            purest = purities[chosen]
            supports[chosen] = proposals[chosen]
            column, core, end = values[int(tests[chosen, 0])], tests[chosen, 2], supports[chosen]
            failed -= (column > min(core, end)) & (column < max(core, end))
    for k in range(n_tests):
        if np.isnan(supports[k]) and n_outside[k] > 0:
            supports[k] = values[int(tests[k, 0]), outside[k, 0]]
    return supports

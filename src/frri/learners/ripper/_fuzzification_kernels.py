"""How far the tests of a rule may reach out: supports of greatest purity, and degrees (FURIA).

Objects, tests and columns are those of `frri.learners.ripper._threshold_kernels`; a test has a support beyond its value,
NaN if it has none. Both forms of a kernel add the same numbers in the same order.
"""

import numpy as np

from frri._compile import either, kernel
from frri.learners.ripper._threshold_kernels import AT_MOST, EQUAL, satisfies

# Purities that differ by less are equal: sums of memberships are rounded.
TIE = 1e-12


@kernel
def beyond(column, order, comparison, value):
    """Objects with known values that fail a test, from the nearest one on; none for a test `=`.

    Parameters
    ----------
    column : ndarray of float
    order : ndarray of int
        Object numbers by ascending value.
    comparison, value
        The test.

    Examples
    --------
    >>> column = np.array([3.0, 1.0, np.nan, 2.0])
    >>> beyond(column, column.argsort(), thresholds.AT_LEAST, 3.0)
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
    """The support of greatest purity for a test, the widest of equal ones.

    Purity is the share of positives in the sum of the test's memberships, over the objects that fail no
    other test. Candidates are their values outside the test.

    Parameters
    ----------
    column : ndarray of float
    value : float
        Of the test.
    outward : ndarray of int
        The objects outside the test, from the nearest one on.
    failed : ndarray of int, shape (n_objects,)
        How many tests of the rule each object fails.
    positive : ndarray of bool, shape (n_objects,)
    weights : ndarray of float, shape (n_objects,)

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
    # An object at distance d has membership 1 - d / reach while it is within: sums of d are enough.
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

    In each round every test that is not settled yet proposes the support of greatest purity, given the
    others as they are; the purest proposal is adopted. This ends when the rule was purer before. Then
    every test that is still crisp reaches to the nearest value outside.

    Parameters
    ----------
    values : ndarray of float, shape (n_columns, n_objects)
    order : ndarray of int, same shape
        Object numbers of each column by ascending value, missing ones last.
    positive : ndarray of bool, shape (n_objects,)
    weights : ndarray of float, shape (n_objects,)
        What the objects count.
    tests : ndarray of float, shape (n_tests, 3)

    Returns
    -------
    ndarray of float, shape (n_tests,)
        The supports.
    """
    n_tests, n_objects = len(tests), values.shape[1]
    outside = np.empty((n_tests, n_objects), dtype=order.dtype)
    n_outside = np.zeros(n_tests, dtype=np.int64)
    failed = np.zeros(n_objects, dtype=np.int32)  # how many tests each object fails
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


# --- degrees: to which degree objects satisfy the beginnings of a rule


def _degrees_interpreted(values, tests, supports, product):
    """To which degree objects satisfy the first 0, 1, ..., all tests of a rule.

    Parameters
    ----------
    values : ndarray of float, shape (n_columns, n_objects)
    tests : ndarray of float, shape (n_tests, 3)
    supports : ndarray of float, shape (n_tests,)
    product : bool
        Whether memberships are multiplied, or the lowest counts.

    Returns
    -------
    ndarray of float, shape (n_tests + 1, n_objects)
    """
    degrees = np.ones((len(tests) + 1, values.shape[1]))
    for k, (column, comparison, value) in enumerate(tests):
        x, end = values[int(column)], supports[k]
        membership = satisfies(x, comparison, value).astype(np.float64)
        if not np.isnan(end):
            fading = (x > min(value, end)) & (x < max(value, end))
            membership[fading] = (end - x[fading]) / (end - value)
        (np.multiply if product else np.minimum)(degrees[k], membership, out=degrees[k + 1])
    return degrees


def _degrees_loops(values, tests, supports, product):
    n_objects = values.shape[1]
    degrees = np.ones((len(tests) + 1, n_objects))
    for k in range(len(tests)):
        column, end, value = values[int(tests[k, 0])], supports[k], tests[k, 2]
        holds = satisfies(column, tests[k, 1], value)
        for i in range(n_objects):
            membership = 1.0 if holds[i] else 0.0
            if min(value, end) < column[i] < max(value, end):
                membership = (end - column[i]) / (end - value)
            before = degrees[k, i]
            degrees[k + 1, i] = before * membership if product else min(before, membership)
    return degrees


degrees = either(interpreted=_degrees_interpreted, loops=_degrees_loops)

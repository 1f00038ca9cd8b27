"""Supports of the tests of a rule (FURIA).

Tests and columns are those of `_kernels`. Both forms of a kernel add the same numbers in the same
order.
"""

import numpy as np

from frri._compile import either, inner_kernel, kernel
from frri.learners.ripper._kernels import AT_MOST, EQUAL, flagged_weights, satisfies

# Purities that differ by less are equal: sums of memberships are rounded.
TIE = 1e-12


@kernel
def widen(columns, positive, tests):
    """Return the end of the support of each test of a rule, NaN for a test that stays crisp.

    In each round every test that is not settled yet proposes the support of greatest purity, given
    the others as they are; the purest proposal is adopted. This ends when the rule was purer
    before. Then every test that is still crisp reaches to the nearest value outside.
    """
    values = columns.values
    n_tests, n_samples = len(tests), values.shape[1]
    outside = np.empty((n_tests, n_samples), dtype=columns.order.dtype)
    n_outside = np.zeros(n_tests, dtype=np.int64)
    # Number of tests that each sample fails.
    failed = np.zeros(n_samples, dtype=np.int32)
    for k in range(n_tests):
        column, comparison, value = int(tests[k, 0]), tests[k, 1], tests[k, 2]
        failed += ~satisfies(values[column], comparison, value)
        rows = beyond(values[column], columns.order[column], comparison, value)
        n_outside[k] = len(rows)
        np.positive(rows, outside[k, : len(rows)])
    supports, proposals = np.full(n_tests, np.nan), np.full(n_tests, np.nan)
    purities, purest = np.zeros(n_tests), 0.0
    for _ in range(n_tests):
        total, own = flagged_weights(failed == 0, positive, columns.units)
        inside = total * columns.unit, own * columns.unit
        for k in range(n_tests):
            if purities[k] >= 0.0:
                column, rows = values[int(tests[k, 0])], outside[k, : n_outside[k]]
                known = rows, failed, positive, columns.weights
                purities[k], proposals[k] = purest_support(column, tests[k, 2], inside, *known)
        k = np.flatnonzero(purities >= purities.max() - TIE)[0]
        if purities[k] < purest - TIE:
            break  # the other tests have no better proposal, and nothing has changed for them
        if not np.isnan(proposals[k]):
            purest, supports[k] = purities[k], proposals[k]
            column, core, end = values[int(tests[k, 0])], tests[k, 2], supports[k]
            failed -= (column > min(core, end)) & (column < max(core, end))
        purities[k] = -1.0  # settled
    for k in range(n_tests):
        if np.isnan(supports[k]) and n_outside[k] > 0:
            supports[k] = values[int(tests[k, 0]), outside[k, 0]]
    return supports


@inner_kernel
def beyond(column, order, comparison, value):
    """Return the samples with known values that fail a test `<=` or `>=`, the nearest first."""
    if comparison == EQUAL:
        return order[:0].copy()
    n_inside = satisfies(column, comparison, value).sum()
    n_known = len(column) - np.isnan(column).sum()
    if comparison == AT_MOST:
        return order[n_inside:n_known].copy()
    return order[: n_known - n_inside][::-1].copy()


# --- purest_support: the support of one test
def _purest_support_interpreted(column, value, inside, outward, failed, positive, weights):
    """Return the greatest purity that a support gives a test, and the widest such support.

    Purity is the fraction of positives in the sum of the test's memberships, over the samples that
    fail no other test. Candidates are their values among the samples `outward` of the test, the
    nearest first; without any the result is 0 and NaN. `failed` is the number of tests of the rule
    that each sample fails, and `inside` the weight of all samples and of positives that fail none.
    """
    outward = outward[failed[outward] == 1]
    if not len(outward):
        return 0.0, np.nan
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
    total = inside[0] + within - lost / reach
    p_total = inside[1] + p_within - p_lost / reach
    purity = np.divide(p_total, total, out=np.zeros(len(new)), where=total > 0.0)
    best = np.flatnonzero(purity >= purity.max() - TIE)[-1]
    return float(purity[best]), float(values[new[best]])


def _purest_support_loops(column, value, inside, outward, failed, positive, weights):
    (within, p_within), lost, p_lost = inside, 0.0, 0.0
    purities, ends = np.empty((2, len(outward)))
    n_ends, purest = 0, 0.0
    for i in outward:
        if failed[i] != 1:
            continue
        distance = abs(column[i] - value)
        if n_ends == 0 or column[i] != ends[n_ends - 1]:
            total = within - lost / distance
            purity = (p_within - p_lost / distance) / total if total > 0.0 else 0.0
            purest = max(purest, purity)
            purities[n_ends], ends[n_ends] = purity, column[i]
            n_ends += 1
        own = weights[i] * positive[i]
        within += weights[i]
        lost += weights[i] * distance
        p_within += own
        p_lost += own * distance
    for k in range(n_ends - 1, -1, -1):
        if purities[k] >= purest - TIE:
            return purities[k], ends[k]
    return 0.0, np.nan


purest_support = either(interpreted=_purest_support_interpreted, loops=_purest_support_loops)

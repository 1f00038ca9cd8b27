"""From crisp rules to fuzzy ones: how far each test may reach out (Huehn and Huellermeier 2009)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from frri.fuzzy import T_NORMS
from frri.kernels.thresholds import AT_MOST, EQUAL
from frri.learners.sorted_columns import CrispTest, satisfies
from frri.rules import NumericCondition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frri.data import Attribute
    from frri.learners.growing import Tests
    from frri.learners.sorted_columns import SortedColumns
    from frri.rules import Condition

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


# Purities that differ by less are equal: sums of memberships are rounded.
TIE = 1e-12


@dataclass(frozen=True)
class FuzzyTest:
    """A test that fades between its value and the end of its support.

    Parameters
    ----------
    test : CrispTest
    support : float, optional
        Where it is over; None for a crisp one.

    Examples
    --------
    >>> FuzzyTest(CrispTest(0, AT_MOST, 2.0), support=4.0).membership(np.array([2.0, 3.0, 4.0, np.nan]))
    array([1. , 0.5, 0. , 0. ])
    """

    test: CrispTest
    support: float | None = None

    def membership(self, values: Floats) -> Floats:
        """To which degree values of the attribute satisfy the test; 0 for a missing one."""
        core, end = self.test.value, self.support
        result = satisfies(values, self.test).astype(np.float64)
        if end is not None:
            fading = (values > min(core, end)) & (values < max(core, end))
            result[fading] = (end - values[fading]) / (end - core)
        return result

    def condition(self, attribute: Attribute) -> Condition:
        """The test as a condition of the rule model."""
        name, core, end = attribute.name, self.test.value, self.support
        if end is None:
            return self.test.condition(attribute)
        if self.test.comparison == AT_MOST:
            return NumericCondition(name, core_high=core, support_high=end)
        return NumericCondition(name, support_low=end, core_low=core)


def fuzzify(columns: SortedColumns, positive: Flags, tests: Tests) -> tuple[FuzzyTest, ...]:
    """Widen the tests of a rule, one at a time, where that makes the rule purer.

    In each round every test that is not settled yet proposes the support of greatest purity, given the
    others as they are; the purest proposal is adopted. This ends when the rule was purer before. Then
    every test that is still crisp reaches to the nearest value outside.

    Parameters
    ----------
    columns : SortedColumns
    positive : ndarray of bool, shape (n_objects,)
        Which objects are of the rule's class.
    tests : tuple of CrispTest
    """
    widened = [FuzzyTest(test) for test in tests]
    reached = np.array([satisfies(columns.values[test.attribute], test) for test in tests])
    waiting = list(range(len(tests)))
    purest = 0.0
    while waiting:
        proposals = [
            purest_support(columns, np.logical_and.reduce(others), positive, tests[k])
            for k, others in ((k, np.delete(reached, k, axis=0)) for k in waiting)
        ]
        best = max(purity for purity, _ in proposals)
        first = next(i for i, (purity, _) in enumerate(proposals) if purity >= best - TIE)
        k, (purity, support) = waiting.pop(first), proposals[first]
        if purity < purest - TIE:
            break  # the other tests have no better proposal, and nothing has changed for them
        if support is not None:
            purest = purity
            widened[k] = FuzzyTest(tests[k], support)
            reached[k] = widened[k].membership(columns.values[tests[k].attribute]) > 0.0
    return tuple(
        replace(each, support=nearest_outside(columns, each.test)) if each.support is None else each
        for each in widened
    )


def purest_support(
    columns: SortedColumns, relevant: Flags, positive: Flags, test: CrispTest
) -> tuple[float, float | None]:
    """The support of greatest purity for a test, the widest of equal ones.

    Purity is the share of positives in the sum of the test's memberships over the relevant objects.
    Candidates are the values that relevant objects have outside the test.

    Returns
    -------
    purity : float
        0 if there is no candidate.
    support : float or None
    """
    if test.comparison == EQUAL:
        return 0.0, None
    core, outward = _core_and_outward(columns, test)
    core, outward = core[relevant[core]], outward[relevant[outward]]
    if not len(outward):
        return 0.0, None
    values, own = columns.values[test.attribute][outward], positive[outward]
    new = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    # An object at distance d has membership 1 - d / reach while it is within: sums of d are enough.
    distance = np.abs(values - test.value)
    reach = distance[new]
    before = np.zeros((3, len(outward) + 1))
    np.cumsum([distance, own, own * distance], axis=1, out=before[:, 1:])
    lost, p_within, p_lost = before[:, new]
    total = len(core) + new - lost / reach
    p_total = np.count_nonzero(positive[core]) + p_within - p_lost / reach
    purity = np.divide(p_total, total, out=np.zeros(len(new)), where=total > 0.0)
    best = np.flatnonzero(purity >= purity.max() - TIE)[-1]
    return float(purity[best]), float(values[new[best]])


def nearest_outside(columns: SortedColumns, test: CrispTest) -> float | None:
    """The nearest value in the table that fails a test, None if there is none."""
    if test.comparison == EQUAL:
        return None
    _, outward = _core_and_outward(columns, test)
    return float(columns.values[test.attribute][outward[0]]) if len(outward) else None


def certainties(
    columns: SortedColumns, positive: Flags, tests: tuple[FuzzyTest, ...], t_norm: str
) -> list[float]:
    """Certainty factors of a rule's first 0, 1, ..., all tests.

    The share of positives in the sum of memberships, with two virtual objects added that are positive
    as often as those of the table: a rule that covers little says little.
    """
    n_objects = columns.n_objects
    memberships = [each.membership(columns.values[each.test.attribute]) for each in tests]
    degrees = accumulate(memberships, T_NORMS[t_norm], initial=np.ones(n_objects))
    expected = 2.0 * np.count_nonzero(positive) / n_objects
    return [float((expected + degree[positive].sum()) / (2.0 + degree.sum())) for degree in degrees]


def stretched_weights(certainties: list[float]) -> tuple[float, ...]:
    """What the beginnings of a rule count for an object that no rule covers.

    Parameters
    ----------
    certainties : list of float
        Of the first 0, 1, ..., all m tests.

    Returns
    -------
    tuple of float
        The certainty of k tests times (k + 1) / (m + 2); 0 without any test.

    Examples
    --------
    >>> stretched_weights([0.5, 0.75, 1.0])
    (0.0, 0.375, 0.75)
    """
    m = len(certainties) - 1
    return tuple((k + 1) / (m + 2) * c if k else 0.0 for k, c in enumerate(certainties))


def _core_and_outward(
    columns: SortedColumns, test: CrispTest
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Objects that satisfy a test, and those with other known values from the nearest one on."""
    order, ascending = columns.order[test.attribute], columns.ascending[test.attribute]
    known = ascending.searchsorted(np.nan)
    if test.comparison == AT_MOST:
        end = ascending.searchsorted(test.value, side="right")
        return order[:end], order[end:known]
    start = ascending.searchsorted(test.value, side="left")
    return order[start:known], order[:start][::-1]

"""From crisp rules to fuzzy ones: how far each test may reach out (Huehn and Huellermeier 2009)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from frri.fuzzy import T_NORMS
from frri.kernels.thresholds import AT_MOST, EQUAL
from frri.learners.sorted_columns import Test, satisfies
from frri.rules import NumericCondition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frri.data import Attribute
    from frri.learners.growing import Tests
    from frri.learners.sorted_columns import SortedColumns
    from frri.rules import Condition

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class FuzzyTest:
    """A test that fades between its value and the end of its support.

    Parameters
    ----------
    test : Test
    support : float, optional
        Where it is over; None for a crisp one.

    Examples
    --------
    >>> FuzzyTest(Test(0, AT_MOST, 2.0), support=4.0).membership(np.array([2.0, 3.0, 4.0, np.nan]))
    array([1. , 0.5, 0. , 0. ])
    """

    test: Test
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
    others as they are. The purest proposal is adopted and its test settled. This ends when the rule was
    purer before; then every test that is still crisp reaches to the nearest value outside.

    Parameters
    ----------
    columns : SortedColumns
    positive : ndarray of bool, shape (n_objects,)
        Which objects are of the rule's class.
    tests : tuple of Test
    """
    widened = [FuzzyTest(test) for test in tests]
    reached = np.array([satisfies(columns.values[test.attribute], test) for test in tests])
    waiting = list(range(len(tests)))
    purest = 0.0
    while waiting:
        proposals = [
            purest_support(columns, np.delete(reached, k, axis=0).all(axis=0), positive, tests[k])
            for k in waiting
        ]
        first = max(range(len(waiting)), key=lambda i: proposals[i][0])
        purity, support = proposals[first]
        if support is None or purity < purest:
            break  # the other tests have no better proposal, and nothing has changed for them
        k, purest = waiting.pop(first), purity
        widened[k] = FuzzyTest(tests[k], support)
        reached[k] = widened[k].membership(columns.values[tests[k].attribute]) > 0.0
    return tuple(
        replace(each, support=nearest_outside(columns, each.test)) if each.support is None else each
        for each in widened
    )


def purest_support(
    columns: SortedColumns, relevant: Flags, positive: Flags, test: Test
) -> tuple[float, float | None]:
    """The support of greatest purity for a test, the widest of equal ones.

    Purity is the share of positives in the sum of the test's memberships over the relevant objects.
    Candidates are the values that relevant objects have outside the test.

    Returns
    -------
    purity : float
        -1 if there is no candidate.
    support : float or None
    """
    outward, own = _outward(columns, relevant, positive, test)
    n_core = np.count_nonzero(satisfies(outward, test))
    p_core = np.count_nonzero(own[:n_core])
    outside, own = outward[n_core:], own[n_core:]
    if not len(outside) or test.comparison == EQUAL:
        return -1.0, None
    new = np.flatnonzero(np.append(True, outside[1:] != outside[:-1]))
    # An object at distance d has membership 1 - d / reach while it is within: sums of d are enough.
    distance = np.abs(outside - test.value)
    reach = distance[new]
    total = n_core + new - _before(distance, new) / reach
    p_total = p_core + _before(own, new) - _before(np.where(own, distance, 0.0), new) / reach
    purity = np.divide(p_total, total, out=np.zeros(len(new)), where=total > 0.0)
    best = len(new) - 1 - int(purity[::-1].argmax())
    return float(purity[best]), float(outside[new[best]])


def nearest_outside(columns: SortedColumns, test: Test) -> float | None:
    """The nearest value in the table that fails a test, None if there is none."""
    everything = np.ones(columns.n_objects, dtype=np.bool_)
    outward, _ = _outward(columns, everything, everything, test)
    n_core = np.count_nonzero(satisfies(outward, test))
    beyond = n_core < len(outward) and test.comparison != EQUAL
    return float(outward[n_core]) if beyond else None


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


def _outward(
    columns: SortedColumns, relevant: Flags, positive: Flags, test: Test
) -> tuple[Floats, Flags]:
    """Known values of relevant objects from the test's core outward, and whether each is a positive."""
    j = test.attribute
    rows = columns.order[j]
    chosen = relevant[rows] & ~np.isnan(columns.ascending[j])
    values, own = columns.ascending[j][chosen], positive[rows[chosen]]
    return (values, own) if test.comparison == AT_MOST else (values[::-1], own[::-1])


def _before(amounts: NDArray[np.generic], positions: NDArray[np.intp]) -> Floats:
    """Sums of the amounts before each position."""
    sums = np.concatenate(([0.0], np.cumsum(amounts, dtype=np.float64)))
    return sums[positions]

"""From crisp rules to fuzzy ones: how far each test may reach out (Huehn and Huellermeier 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from frri.learners.ripper import _fuzzification_kernels as fuzzification
from frri.learners.ripper._sorted_columns import kernels_for
from frri.learners.ripper._threshold_kernels import AT_MOST
from frri.rules import NumericCondition

if TYPE_CHECKING:
    from frri._util import Flags, Floats
    from frri.learners.ripper._sorted_columns import CrispTest, SortedColumns
    from frri.rules import Condition
    from frri.table import Attribute


@dataclass(frozen=True, eq=False)
class FuzzyTests:
    """Tests that fade between their values and the ends of their supports.

    Parameters
    ----------
    tests : tuple of CrispTest
    supports : ndarray of float
        Where each is over; NaN for a crisp one.
    """

    tests: tuple[CrispTest, ...]
    supports: Floats

    @classmethod
    def of(
        cls, columns: SortedColumns, positive: Flags, tests: tuple[CrispTest, ...]
    ) -> FuzzyTests:
        """Widen the tests of a rule where that makes it purer: see `frri.learners.ripper._fuzzification_kernels.widened`.

        Parameters
        ----------
        columns : SortedColumns
        positive : ndarray of bool, shape (n_objects,)
            Which objects are of the rule's class.
        tests : tuple of CrispTest
        """
        kernels = kernels_for(fuzzification, columns.values.size)
        found = kernels.widened(
            columns.values, columns.order, positive, columns.weights, _matrix(tests)
        )
        return cls(tests, found)

    def degrees(self, columns: SortedColumns, t_norm: str) -> Floats:
        """To which degree objects satisfy the first 0, 1, ..., all tests: tests + 1 x objects."""
        kernels = kernels_for(fuzzification, columns.values.size)
        degrees: Floats = kernels.degrees(
            columns.values, _matrix(self.tests), self.supports, t_norm == "product"
        )
        return degrees

    def conditions(self, attributes: tuple[Attribute, ...]) -> tuple[Condition, ...]:
        """The tests as conditions of the rule model."""
        return tuple(
            _condition(test, end, attributes[test.attribute])
            for test, end in zip(self.tests, self.supports.tolist(), strict=True)
        )


def certainties(degrees: Floats, positive: Flags, weights: Floats) -> list[float]:
    """Certainty factors of a rule's first 0, 1, ..., all tests.

    The share of positives in the sum of degrees, with two virtual objects added that are positive as
    often as those of the table: a rule that covers little says little.

    Parameters
    ----------
    degrees : ndarray of float, shape (n_tests + 1, n_objects)
    positive : ndarray of bool, shape (n_objects,)
    weights : ndarray of float, shape (n_objects,)

    Examples
    --------
    >>> certainties(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([True, False]), np.ones(2))
    [0.5, 0.666...]
    """
    own = np.flatnonzero(positive)
    expected = 2.0 * weights[own].sum() / weights.sum()
    counted = degrees * weights
    factors = (expected + counted.take(own, axis=1).sum(axis=1)) / (2.0 + counted.sum(axis=1))
    result: list[float] = factors.tolist()
    return result


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


def _matrix(tests: tuple[CrispTest, ...]) -> Floats:
    return np.array(tests, dtype=np.float64).reshape(-1, 3)


def _condition(test: CrispTest, end: float, attribute: Attribute) -> Condition:
    if isnan(end):
        return test.condition(attribute)
    if test.comparison == AT_MOST:
        return NumericCondition(attribute.name, core_high=test.value, support_high=end)
    return NumericCondition(attribute.name, support_low=end, core_low=test.value)

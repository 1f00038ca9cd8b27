"""Sorted columns of objects that count for more or less than one.

The same questions as in `_sorted_columns`, answered by sums of weights instead of counts. Sums are those
of whole numbers, so that a rule is pure exactly if no negative is left in it. Array operations only: the
compiled loops are for objects that all count the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frri.learners.ripper import _description_length_kernels as description_length
from frri.learners.ripper import _threshold_kernels as thresholds
from frri.learners.ripper._threshold_kernels import AT_LEAST, AT_MOST, EQUAL, ONE
from frri.learners.ripper.grow import SortedColumns
from frri.learners.training import Weights, sums_by_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from frri._util import Flags, Floats
    from frri.learners.ripper.grow import Amounts, Integers, Tests
    from frri.learners.training import TrainingTable
    from frri.table import Attribute

# Binary logarithm of the most units: their sums are exact as floating-point numbers.
EXACT_UNITS = 52


def columns_of(table: TrainingTable) -> SortedColumns:
    """The sorted columns of a training table, weighted if its objects are."""
    if table.weights is None:
        return SortedColumns.of(table.values, table.attributes)
    units = Weights.of(table.weights, EXACT_UNITS)
    return WeightedColumns.weighted(table.values, table.attributes, units)


@dataclass(frozen=True, eq=False)
class WeightedColumns(SortedColumns):
    """Sorted columns, and what every object weighs."""

    units: Weights

    @classmethod
    def weighted(
        cls, table: Floats, attributes: Sequence[Attribute], units: Weights
    ) -> WeightedColumns:
        """Sort a table of shape (n_objects, n_attributes)."""
        plain = SortedColumns.of(table, attributes)
        return cls(
            plain.values,
            plain.order,
            plain.nominal,
            plain.n_tests,
            plain.logs,
            thresholds=thresholds,
            description_length=description_length,
            units=units,
        )

    @property
    def weights(self) -> Floats:
        """What each object weighs."""
        return np.asarray(self.units.worth(self.units.units), dtype=np.float64)

    def total(self, rows: Flags) -> float:
        """What the objects whose flag is set weigh together."""
        return float(self.units.worth(self.units.units[rows].sum()))

    def beginnings(self, tests: Tests, rows: Flags, positive: Flags) -> list[list[float]]:
        """What satisfies the first 0, 1, ..., all tests, objects and positives."""
        parts = [rows & self.covered(tests[:k]) for k in range(len(tests) + 1)]
        return [[self.total(part), self.total(part & positive)] for part in parts]

    def tally(self, first: Integers, rows: Flags, positive: Flags, n_rules: int) -> Amounts:
        """What each rule is the first to cover, objects and positives; in the end what none covers."""
        sums = [
            sums_by_key(first[some], self.units.units[some], n_rules + 1)
            for some in (rows, rows & positive)
        ]
        return np.asarray(self.units.worth(np.column_stack(sums)), dtype=np.float64)

    def list_length(
        self,
        problem: tuple[float, float, float],
        covers: Flags,
        rows: Flags,
        positive: Flags,
        later: Integers,
        bits: Floats,
        position: int,
    ) -> float:
        """Bits for the exceptions to a list in which a rule takes a place."""
        counts = self.tally(later, rows & ~covers, positive, len(bits))
        uncovered, missed = counts[-1].tolist()
        rest = slice(position + 1, -1)
        known = problem, problem[0] - uncovered, problem[1] - missed
        return float(self.description_length.settled(*known, counts[rest], bits[position + 1 :]))

    def grown(self, coded: NDArray[np.uint32], rows: Flags, min_weight: float) -> Tests:
        """Tests one after another, each of the greatest gain for the objects left, until these are pure."""
        coded = self.thresholds.restrict(coded, rows)
        tests: list[tuple[int, int, float]] = []
        while coded.shape[1]:
            found = self._best_test(coded)
            if found is None or self.total(self._positives(coded[found[0]][found[3]])) < min_weight:
                break
            column, comparison, value, inside = found
            tests.append((column, comparison, value))
            kept = np.zeros(self.n_objects, dtype=np.bool_)
            kept[coded[column][inside] >> ONE] = True
            coded = self.thresholds.restrict(coded, kept)
        return np.array(tests, dtype=np.float64).reshape(-1, 3)

    def _positives(self, codes: NDArray[np.uint32]) -> Flags:
        flags = np.zeros(self.n_objects, dtype=np.bool_)
        flags[codes[(codes & ONE) == 1] >> ONE] = True
        return flags

    def _best_test(self, coded: NDArray[np.uint32]) -> tuple[int, int, float, slice] | None:
        """The test of greatest gain above 0, and where the objects that satisfy it stand.

        Of equal ones the first counts, in the order of columns and values, `>=` before `<=`.
        """
        best, found = 0.0, None
        for j, codes in enumerate(coded):
            objects = codes >> ONE
            values = self.values[j][objects]
            known = len(values) - int(np.isnan(values).sum())
            units = self.units.units[objects]
            own = units * (codes & ONE)
            total, positives = units.sum(), own.sum()
            if not positives < total:
                return None  # pure
            if not known:
                continue
            last = np.flatnonzero(np.append(values[1:known] != values[: known - 1], True))
            first = np.append(0, last[:-1] + 1)
            ends = [np.append(0, np.cumsum(amounts)) for amounts in (own, units)]
            below, upto, everything = ([end[k] for end in ends] for k in (first, last + 1, known))
            base = self._log(positives) - self._log(total)
            if self.nominal[j]:
                gains = self._gains(upto[0] - below[0], upto[1] - below[1], base)[None]
            else:
                up = self._gains(everything[0] - below[0], everything[1] - below[1], base)
                gains = np.array([up, self._gains(upto[0], upto[1], base)])
            k, side = divmod(int(gains.T.argmax()), len(gains))
            if gains[side, k] > best:
                best, value = gains[side, k], float(values[last[k]])
                if self.nominal[j]:
                    found = j, EQUAL, value, slice(first[k], last[k] + 1)
                elif side:
                    found = j, AT_MOST, value, slice(0, last[k] + 1)
                else:
                    found = j, AT_LEAST, value, slice(first[k], known)
        return found

    def _gains(self, positives: Integers, objects: Integers, base: Floats) -> Floats:
        difference = self._log(positives) - self._log(objects)
        return np.asarray(self.units.worth(positives) * (difference - base))

    def _log(self, units: Any) -> Floats:
        return np.asarray(np.log2(self.units.worth(units) + 1.0))

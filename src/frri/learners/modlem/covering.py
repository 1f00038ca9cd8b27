"""Sequential covering of classes by conjunctions of elementary tests: the loop of LEM2 and MODLEM.

`frri.learners.modlem.bins` explains tests and bins. Weights are counted in integer units, so that
all sums are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri.learners.training_table import sums_by_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Positions
    from frri.learners.modlem.bins import BinnedTable, BinRange
    from frri.learners.training_table import Weights

# Entropies (times the number of samples) that differ by fewer bits are equal: the rest is rounding.
# With weights other than moderate integers, bits of a mean sample.
GRAIN = 2.0**-20
# Number of samples up to which their logarithms are looked up in a table.
LARGEST_TABLE = 1 << 24
# Below this fraction of the bins, the bins of some values are found by sorting instead of counting.
SPARSE = 1 / 8


class BinnedRule(NamedTuple):
    """A class, and the conditions of a rule for it, one for each feature that it uses."""

    own: int
    conditions: tuple[BinRange, ...]


def induce(
    table: BinnedTable, targets: Flags, weights: Weights, *, entropy: bool, most: int | None = None
) -> list[BinnedRule]:
    """Find rules class by class in order of creation, without redundant tests and rules.

    Parameters
    ----------
    table : BinnedTable
    targets : ndarray of bool, shape (n_classes, n_samples)
        Samples to cover with the rules of each class; all others are negative.
    weights : Weights
    entropy : bool
        If True, tests are chosen by conditional entropy, otherwise by the Laplace estimate.
    most : int, optional
        Maximum number of tests of a rule; it may then cover negative samples.
    """
    search = SplitSearch(table, weights, len(targets), entropy=entropy)
    return [
        BinnedRule(c, conditions)
        for c, positive in enumerate(targets)
        for conditions in _rules_of_class(search, positive, np.inf if most is None else most)
    ]


def _rules_of_class(
    search: SplitSearch, positive: Flags, most: float
) -> list[tuple[BinRange, ...]]:
    """Cover the positive samples rule by rule, and drop the rules that others make redundant."""
    table, negative = search.table, np.flatnonzero(~positive)
    left = positive.copy()
    counts = search.count_all(positive)
    rules: list[tuple[BinRange, ...]] = []
    covers: list[Positions] = []
    while left.any():
        tests = _grow(search, left, positive, counts, most)
        rule = _merged(_without_redundant(table, tests, negative))
        if not rule:
            break
        rules.append(rule)
        covered = table.covered(rule)
        covers.append(np.flatnonzero(covered & positive))
        new = np.flatnonzero(covered & left)
        search.remove(counts, new)
        left[new] = False
    times = np.zeros(len(positive), dtype=np.int64)
    for rows in covers:
        times[rows] += 1
    needed = []
    for rule, rows in zip(rules, covers, strict=True):
        if (times[rows] > 1).all():
            times[rows] -= 1
        else:
            needed.append(rule)
    return needed


def _grow(
    search: SplitSearch, left: Flags, positive: Flags, counts: Ints, most: float
) -> list[BinRange]:
    """Add tests as long as they improve the rule and it covers negative samples.

    `counts` are those of all negative samples and of the positive ones that are left to cover.
    """
    test = search.best(search.all_bins, counts)
    rows = np.flatnonzero(left | ~positive)
    tests: list[BinRange] = []
    while test is not None:
        tests.append(test)
        rows = rows[search.table.inside(rows, *test)]
        if len(tests) >= most or left[rows].all():
            break
        test = search.best(*search.count(rows, left[rows]))
    return tests


class SplitSearch:
    """Search for the best test for some samples, by counting them in every bin.

    Parameters
    ----------
    table : BinnedTable
    weights : Weights
    n_classes : int
    entropy : bool
    """

    def __init__(
        self, table: BinnedTable, weights: Weights, n_classes: int, *, entropy: bool
    ) -> None:
        self.table, self.units, self.unit = table, weights.units, weights.unit
        self.n_classes, self.entropy = n_classes, entropy
        self.weighted = bool((weights.units != 1).any())
        n_bins = len(table.upper)
        self.all_bins = np.arange(n_bins)
        self.feature = np.repeat(np.arange(len(table.end)), np.diff(table.end, prepend=-1))
        self.nominal = table.nominal[self.feature]
        self.ends = np.concatenate([table.first, table.end])
        # The bin of missing values is no test, nor is the last bin of a numeric feature: none is
        # above it.
        self.no_test = np.zeros(n_bins, dtype=np.bool_)
        self.no_test[table.end] = self.no_test[table.end[~table.nominal] - 1] = True
        total, grain = int(weights.units.sum()), GRAIN
        tabled = weights.unit == 1.0 and total <= LARGEST_TABLE
        if not tabled:
            grain *= total * weights.unit / len(weights.units)
        self.grains_per_bit = 1.0 / grain
        numbers = np.arange(total + 1 if entropy and tabled else 0, dtype=np.float64)
        self.logarithms = numbers * np.log2(np.maximum(numbers, 1.0))

    def count_all(self, positive: Flags) -> Ints:
        """Sum the weights of all negative and positive samples in every bin: 2 x n_bins."""
        return self._sums(self.table.bins, self.units, positive, len(self.all_bins))

    def remove(self, counts: Ints, rows: Positions) -> None:
        """Subtract positive samples from the counts of all bins."""
        np.subtract.at(counts[1], self.table.bins[rows], self.units[rows, None])

    def count(self, rows: Positions, positive: Flags) -> tuple[Ints, Ints]:
        """Return the bins of some samples, including the ends of all features, and their counts."""
        values, ends = self.table.bins[rows], self.ends
        if values.size < SPARSE * len(self.all_bins):
            bins, places = np.unique(np.append(values, ends), return_inverse=True)
            places = places[: values.size].reshape(values.shape)
            return bins, self._sums(places, self.units[rows], positive, len(bins))
        counts = self._sums(values, self.units[rows], positive, len(self.all_bins))
        occupied = np.asarray(counts.any(axis=0))
        occupied[ends] = True
        return np.flatnonzero(occupied), counts[:, occupied]

    def _sums(
        self, bins: NDArray[np.signedinteger[Any]], units: Ints, positive: Flags, n_bins: int
    ) -> Ints:
        """Sum the weights of negative and positive samples in bins numbered from 0."""
        keys = (bins + (positive * n_bins)[:, None]).ravel()
        if self.weighted:
            return sums_by_key(keys, np.repeat(units, bins.shape[1]), 2 * n_bins).reshape(2, -1)
        return np.bincount(keys, minlength=2 * n_bins).reshape(2, -1)

    def best(self, bins: Ints, counts: Ints) -> BinRange | None:
        """Return the test of the highest score; of equal ones the first with the most positives.

        Parameters
        ----------
        bins : ndarray of int
            In ascending order, with the first and the last bin of every feature; others may be left
            out if they have no samples, because the tests there equal those of the bin before.
        counts : ndarray of int, shape (2, n_bins)
            Weights of the negative and positive samples in these bins.

        Returns
        -------
        tuple or None
            None if no test improves the score of the samples as they are.
        """
        sums = np.zeros((2, len(bins) + 1), dtype=np.int64)
        np.cumsum(counts, axis=1, out=sums[:, 1:])
        firsts, ends = bins.searchsorted(self.table.first), bins.searchsorted(self.table.end)
        n, p = sums[:, ends[0] + 1].tolist()
        feature, nominal = self.feature[bins], self.nominal[bins]
        until = sums[:, 1:]
        in_below, in_above = until - sums[:, firsts][:, feature], sums[:, ends][:, feature] - until
        in_above[:, ends] = 0
        if self.table.nominal.any():
            in_below[:, nominal] = counts[:, nominal]
            in_above[:, nominal] = 0
        (n_below, p_below), (n_above, p_above) = in_below, in_above
        if self.entropy:
            worst = -float(np.rint(self._bits(p, n) * self.grains_per_bit))
            p_above = np.where(nominal, p - p_below, p_above)
            n_above = np.where(nominal, n - n_below, n_above)
            below = (p_below >= p_above) | nominal
            bits = self._bits(p_below, n_below) + self._bits(p_above, n_above)
            bits = bits + self._bits(p - p_below - p_above, n - n_below - n_above)
            idle = (p_below + n_below == 0) | (p_above + n_above == 0)
            idle |= np.where(below, p_below, p_above) == 0
            score = np.where(idle, worst, -np.rint(bits * self.grains_per_bit))
        else:
            worst = (p * self.unit + 1.0) / ((p + n) * self.unit + self.n_classes)
            score_below, score_above = (
                self._laplace(p_below, n_below),
                self._laplace(p_above, n_above),
            )
            below = score_below > score_above
            score = np.where(below, score_below, score_above)
        score[self.no_test[bins]] = -np.inf
        if not score.max() > worst:
            return None
        equal = np.flatnonzero(score == score.max())
        k = equal[np.where(below, p_below, p_above)[equal].argmax()]
        j, b = int(feature[k]), int(bins[k])
        if nominal[k]:
            return j, b, b + 1
        return (
            (j, int(self.table.first[j]), b + 1) if below[k] else (j, b + 1, int(self.table.end[j]))
        )

    def _laplace(self, p: Ints, n: Ints) -> Floats:
        estimate = (p * self.unit + 1.0) / ((p + n) * self.unit + self.n_classes)
        return np.asarray(np.where(p > 0, estimate, 0.0))

    def _bits(self, p: Any, n: Any) -> Floats:
        """Return the entropy of p positives and n negatives, times their sum."""
        return np.asarray(self._information(p + n) - (self._information(p) + self._information(n)))

    def _information(self, amount: Any) -> Floats:
        """Return weights times their binary logarithms."""
        if len(self.logarithms):
            return np.asarray(self.logarithms[amount])
        weight = amount * self.unit
        return np.asarray(weight * np.log2(np.where(amount > 0, weight, 1.0)))


def _without_redundant(
    table: BinnedTable, tests: list[BinRange], negative: Positions
) -> list[BinRange]:
    """Drop, from first to last, the tests without which a rule covers no negative sample either."""
    masks = [table.inside(negative, *test) for test in tests]
    later = [np.ones(len(negative), dtype=np.bool_)]
    for mask in masks[:0:-1]:
        later.append(later[-1] & mask)
    earlier, kept = later[0], []
    for test, mask, rest in zip(tests, masks, reversed(later), strict=False):
        if (earlier & rest).any():
            earlier = earlier & mask
            kept.append(test)
    return kept


def _merged(tests: list[BinRange]) -> tuple[BinRange, ...]:
    """Join the tests of each feature to one condition, in order of first use."""
    conditions: dict[int, BinRange] = {}
    for j, low, high in tests:
        _, other_low, other_high = conditions.get(j, (j, low, high))
        conditions[j] = j, max(low, other_low), min(high, other_high)
    return tuple(conditions.values())

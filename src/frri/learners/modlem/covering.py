"""Sequential covering of classes by conjunctions of elementary tests: the loop of LEM2 and MODLEM.

A small table (see `frri.learners.modlem.bins`) is searched with array operations here, so that it never
waits for a compiler; a large one in `frri.learners.modlem._sequential_covering_kernels` if numba is installed. Both find the same
rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from frri._compile import compiled, pays
from frri.learners.modlem import _sequential_covering_kernels as loops
from frri.learners.training import sums_by_key
from frri.learners.validation import LARGEST_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from frri._util import Flags, Floats, Ints, Positions
    from frri.learners.modlem._sequential_covering_kernels import Found
    from frri.learners.modlem._split_search_kernels import Criterion
    from frri.learners.modlem.bins import BinnedTable
    from frri.learners.training import Weights

    # An attribute, and the first and the end of the bins that satisfy the test.
    Test = tuple[int, int, int]

# Values (objects x attributes) from which it pays to compile the loops and, where an earlier process
# has left them compiled, to load them.
COMPILED_FROM = 100_000
LOADED_FROM = 20_000
# Entropies (times the objects) that differ by fewer bits are the same: what is left is rounding. With
# weights other than moderate whole numbers, bits of a mean object.
GRAIN = 2.0**-20
# Numbers of objects up to which their logarithms are looked up.
LARGEST_TABLE = 1 << 24


@dataclass(frozen=True, eq=False)
class BinnedRules:
    """Rules whose conditions are ranges of bins.

    Attributes
    ----------
    classes : array of shape (n_rules,)
        Ascending.
    start : array of shape (n_rules + 1,)
        Where the conditions of each rule start.
    conditions : array of shape (n_conditions, 3)
        Attribute, first and end of the bins.
    """

    classes: Ints
    start: Ints
    conditions: Ints

    def chosen(self, rules: Flags | Sequence[int]) -> BinnedRules:
        """Some of the rules."""
        lengths = np.diff(self.start)
        which = np.zeros(len(lengths), dtype=np.bool_)
        which[np.asarray(rules, dtype=None if len(rules) else np.intp)] = True
        return BinnedRules(
            self.classes[which],
            np.concatenate([[0], np.cumsum(lengths[which])]),
            self.conditions[np.repeat(which, lengths)],
        )


def induce(
    table: BinnedTable, targets: Flags, weights: Weights, *, entropy: bool, most: int | None = None
) -> BinnedRules:
    """Rules class by class in order of creation, without redundant tests and rules.

    Parameters
    ----------
    table : BinnedTable
    targets : array of shape (n_classes, n_objects)
        The objects to cover with the rules of each class; all others are negative.
    weights : Weights
    entropy : bool
        Whether tests are chosen by conditional entropy or by the Laplace estimate.
    most : int, optional
        The most tests of a rule; it may then cover others than positives.
    """
    most = LARGEST_COUNT if most is None else int(most)
    criterion = _criterion(len(targets), weights, entropy=entropy)
    if _compiled_pays(table):
        rules_of_class = compiled(loops).rules_of_class
        layout, codes = table.layout
        prepared = (table.bins, codes, layout, table.places)
        found = [
            rules_of_class(*prepared, positive, weights.units, criterion, most)
            for positive in targets
        ]
    else:
        found = [
            _rules_of_class(table, positive, weights.units, criterion, most) for positive in targets
        ]
    lengths = np.concatenate([np.diff(start) for start, _ in found])
    return BinnedRules(
        np.repeat(np.arange(len(targets)), [len(start) - 1 for start, _ in found]),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([conditions for _, conditions in found]),
    )


def subset_counts(table: BinnedTable, rules: BinnedRules, targets: Flags, weights: Weights) -> Ints:
    """Positives and all objects under every subset of each rule's conditions.

    Returns
    -------
    array of shape (n_subsets, 2)
        The subsets of each rule are numbered by their bits, bit i is condition i; one rule after
        another.
    """
    if not len(rules.classes):
        return np.zeros((0, 2), dtype=np.int64)
    if not _compiled_pays(table):
        return _subset_counts(table, rules, targets, weights.units)
    arrays = (rules.classes, rules.start, rules.conditions)
    counts: Ints = compiled(loops).subset_counts(
        table.bins, table.layout[0], table.places, targets, weights.units, *arrays
    )
    return counts


def coverage_counts(
    table: BinnedTable, rules: BinnedRules, classes: Positions, n_classes: int, weights: Weights
) -> tuple[Ints, Ints]:
    """Objects of each class under each rule, and those under no other rule."""
    if not _compiled_pays(table):
        return _coverage_counts(table, rules, classes, n_classes, weights.units)
    arrays = (rules.start, rules.conditions)
    counts: tuple[Ints, Ints] = compiled(loops).coverage_counts(
        table.bins, table.places, classes, n_classes, weights.units, *arrays
    )
    return counts


def covered(table: BinnedTable, conditions: Iterable[Test]) -> Flags:
    """Which objects satisfy all conditions."""
    holds = np.ones(len(table.bins), dtype=bool)
    for j, low, high in conditions:
        bins = table.bins[:, j]
        holds &= (bins >= low) & (bins < high)
    return holds


def _criterion(n_classes: int, weights: Weights, *, entropy: bool) -> Criterion:
    """What the search needs to know to compare tests."""
    total, grain = int(weights.units.sum()), GRAIN
    tabled = weights.unit == 1.0 and total <= LARGEST_TABLE
    if not tabled:
        grain *= total * weights.unit / len(weights.units)
    numbers = np.arange(total + 1 if entropy and tabled else 0, dtype=np.float64)
    table = numbers * np.log2(np.maximum(numbers, 1.0))
    return n_classes, entropy, weights.unit, 1.0 / grain, table


def _compiled_pays(table: BinnedTable) -> bool:
    return pays(loops, table.bins.size, compiled_from=COMPILED_FROM, loaded_from=LOADED_FROM)


# --- The search with array operations


def _rules_of_class(
    table: BinnedTable, positive: Flags, units: Ints, criterion: Criterion, most: int
) -> Found:
    """Rules that cover the positives one by one, without redundant tests and rules."""
    search = _Search(table, units, criterion)
    left = positive.copy()
    rules: list[Ints] = []
    covers: list[Flags] = []
    while left.any():
        tests = search.grow(left, positive, most)
        rule = _merged(_without_redundant(table, tests, positive))
        if not len(rule):
            break
        rules.append(rule)
        covers.append(covered(table, rule.tolist()) & positive)
        left &= ~covers[-1]
    times = _times(covers, len(units))
    final = [np.empty((0, 3), dtype=np.int64)]
    for rule, own in zip(rules, covers, strict=True):
        if (times[own] > 1).all():
            times -= own
        else:
            final.append(rule)
    start = np.cumsum([0, *map(len, final[1:])], dtype=np.int64)
    return start, np.concatenate(final)


class _Search:
    """The best test for some objects, by counting the objects in every bin."""

    def __init__(self, table: BinnedTable, units: Ints, criterion: Criterion) -> None:
        attribute_first, attribute_end, test_start, nominal = table.grid
        self.bins = table.bins
        self.keys = 2 * table.bins.astype(np.int64)
        self.n_bins = int(attribute_end[-1]) + 1
        self.units = units
        self.weighted = bool((units != 1).any())
        self.n_classes, self.entropy, self.unit, self.per_bit, self.table = criterion
        n_tests = np.diff(test_start)
        self.attribute = np.repeat(np.arange(len(n_tests)), n_tests)
        self.nominal = nominal[self.attribute]
        position = np.arange(test_start[-1]) - test_start[self.attribute]
        self.after = attribute_first[self.attribute] + position + 1
        self.first = np.where(self.nominal, self.after - 1, attribute_first[self.attribute])
        self.end = np.where(self.nominal, self.after, attribute_end[self.attribute])

    def grow(self, left: Flags, positive: Flags, most: int) -> list[Test]:
        """Add tests as long as they improve the rule and it covers others than positives."""
        tests: list[Test] = []
        rows = np.flatnonzero(left | ~positive)
        while True:
            test = self.best(rows, left[rows]) if len(tests) < most else None
            if test is None:
                return tests
            tests.append(test)
            j, low, high = test
            bins = self.bins[rows, j]
            rows = rows[(bins >= low) & (bins < high)]
            if left[rows].all():
                return tests

    def best(self, rows: Ints, left: Flags) -> Test | None:
        """The test with the highest score, of equal ones that with most positives, then the first."""
        in_below, in_above = self._counts(rows, left)
        (n_below, p_below), (n_above, p_above) = in_below.T, in_above.T
        p, n = self.units[rows[left]].sum(), self.units[rows[~left]].sum()
        if self.entropy:
            worst = -float(np.rint(self._bits(p, n) * self.per_bit))
            p_above = np.where(self.nominal, p - p_below, p_above)
            n_above = np.where(self.nominal, n - n_below, n_above)
            below = (p_below >= p_above) | self.nominal
            bits = self._bits(p_below, n_below) + self._bits(p_above, n_above)
            bits = bits + self._bits(p - p_below - p_above, n - n_below - n_above)
            score = -np.rint(bits * self.per_bit)
            idle = (p_below + n_below == 0) | (p_above + n_above == 0)
            idle |= np.where(below, p_below, p_above) == 0
            score = np.where(idle, worst, score)
        else:
            worst = (p * self.unit + 1.0) / ((p + n) * self.unit + self.n_classes)
            score_below, score_above = (
                self._laplace(p_below, n_below),
                self._laplace(p_above, n_above),
            )
            below = score_below > score_above
            score = np.where(below, score_below, score_above)
        if not len(score) or not score.max() > worst:
            return None
        equal = np.flatnonzero(score == score.max())
        number = equal[np.where(below, p_below, p_above)[equal].argmax()]
        ends = self.first[number], self.after[number], self.end[number]
        low, high = ends[:2] if below[number] else ends[1:]
        return int(self.attribute[number]), int(low), int(high)

    def _counts(self, rows: Ints, left: Flags) -> tuple[Ints, Ints]:
        """Others and positives, shape (n_tests, 2), in the parts below and above."""
        keys = (self.keys[rows] + left[:, None]).ravel()
        if self.weighted:
            units = np.repeat(self.units[rows], self.bins.shape[1])
            counts = sums_by_key(keys, units, 2 * self.n_bins)
        else:
            counts = np.bincount(keys, minlength=2 * self.n_bins)
        sums = np.zeros((self.n_bins + 1, 2), dtype=np.int64)
        np.cumsum(counts.reshape(-1, 2), axis=0, out=sums[1:])
        until = sums[self.after]
        return until - sums[self.first], sums[self.end] - until

    def _laplace(self, p: Ints, n: Ints) -> Floats:
        estimate = (p * self.unit + 1.0) / ((p + n) * self.unit + self.n_classes)
        return np.asarray(np.where(p > 0, estimate, 0.0))

    def _bits(self, p: Ints, n: Ints) -> Floats:
        """Entropy of p positives and n others, times their sum."""
        return np.asarray(self._information(p + n) - (self._information(p) + self._information(n)))

    def _information(self, amount: Ints) -> Floats:
        """Weights times their binary logarithms; from the table where there is one."""
        if len(self.table):
            return self.table[amount]
        weight = amount * self.unit
        return np.asarray(weight * np.log2(np.where(amount > 0, weight, 1.0)))


def _without_redundant(table: BinnedTable, tests: list[Test], positive: Flags) -> list[Test]:
    """The tests that are left after dropping, first to last, what the others do alone."""
    masks = [covered(table, [test]) for test in tests]
    kept = list(range(len(tests)))
    for i in range(len(tests)):
        others = [masks[k] for k in kept if k != i]
        if positive[np.logical_and.reduce(others) if others else slice(None)].all():
            kept.remove(i)
    return [tests[i] for i in kept]


def _merged(tests: list[Test]) -> Ints:
    """One condition for all tests of an attribute, in order of first use."""
    conditions: dict[int, Test] = {}
    for j, low, high in tests:
        _, other_low, other_high = conditions.get(j, (j, low, high))
        conditions[j] = j, max(low, other_low), min(high, other_high)
    return np.array([*conditions.values()], dtype=np.int64).reshape(-1, 3)


def _times(covers: list[Flags], n_objects: int) -> Ints:
    """How often each object is covered."""
    times = np.zeros(n_objects, dtype=np.int64)
    for own in covers:
        times += own
    return times


def _subset_counts(table: BinnedTable, rules: BinnedRules, targets: Flags, units: Ints) -> Ints:
    found = []
    for c, (start, end) in zip(rules.classes, pairwise(rules.start), strict=True):
        satisfied = np.zeros(len(units), dtype=np.int64)
        for bit, (j, low, high) in enumerate(rules.conditions[start:end].tolist()):
            bins = table.bins[:, j]
            satisfied |= ((bins >= low) & (bins < high)).astype(np.int64) << bit
        n_subsets = 1 << int(end - start)
        both = [sums_by_key(satisfied, own, n_subsets) for own in (units * targets[c], units)]
        counts = np.stack(both, axis=1)
        for bit in range(end - start):
            # Whoever satisfies more than a subset satisfies the subset.
            halves = counts.reshape(-1, 2, 1 << bit, 2)
            halves[:, 0] += halves[:, 1]
        found.append(counts)
    return np.concatenate(found)


def _coverage_counts(
    table: BinnedTable, rules: BinnedRules, classes: Positions, n_classes: int, units: Ints
) -> tuple[Ints, Ints]:
    covers = [covered(table, rules.conditions[a:b].tolist()) for a, b in pairwise(rules.start)]
    times = _times(covers, len(units))
    support = np.zeros((len(covers), n_classes), dtype=np.int64)
    alone = np.zeros(len(covers), dtype=np.int64)
    for r, own in enumerate(covers):
        support[r] = sums_by_key(classes[own], units[own], n_classes)
        alone[r] = units[own & (times == 1)].sum()
    return support, alone

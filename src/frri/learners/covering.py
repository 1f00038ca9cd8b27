"""Sequential covering of classes by conjunctions of elementary tests: the loop of LEM2 and MODLEM.

A small table (see `frri.learners.slots`) is searched with array operations here, so that it never
waits for a compiler; a large one in `frri.kernels.covering` if numba is installed. Both find the same
rules.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from frri.compiling import cached_on_disk, compiled, compiled_before, numba_installed
from frri.kernels import choosing
from frri.kernels import covering as loops
from frri.learners.slots import ElementaryTest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from frri.kernels.choosing import Flags, Floats, Grid, Integers, Slots
    from frri.kernels.covering import Found
    from frri.learners.slots import SlottedTable

# Values (objects x attributes) from which it pays to compile the loops and, where an earlier process
# has left them compiled, to load them.
COMPILED_FROM = 100_000
LOADED_FROM = 20_000


def cover(
    table: SlottedTable, positive: Flags, n_classes: int, *, entropy: bool
) -> list[list[ElementaryTest]]:
    """Rules for one class, in order of creation, without redundant tests and rules.

    Parameters
    ----------
    positive : array of shape (n_objects,)
        The objects to cover; all others are negative.
    n_classes : int
        For the Laplace estimate.
    entropy : bool
        Whether tests are chosen by conditional entropy or by the Laplace estimate.
    """
    counts = np.arange(len(table.slots) + 1 if entropy else 1, dtype=np.float64)
    weights = counts * np.log2(np.maximum(counts, 1.0))
    search = compiled(loops).cover_class if _compiled_pays(table) else _cover_class
    starts, numbers, below = search(table.slots, table.grid, positive, n_classes, entropy, weights)
    attribute_of = np.searchsorted(table.grid[2], numbers, side="right") - 1
    tests = [
        ElementaryTest(*test)
        for test in zip(
            attribute_of.tolist(), table.bounds[numbers].tolist(), below.tolist(), strict=True
        )
    ]
    return [tests[a:b] for a, b in pairwise(starts)]


def subset_counts(
    table: SlottedTable, rules: Sequence[Sequence[Sequence[ElementaryTest]]], positive: Flags
) -> Iterator[tuple[Integers, Integers]]:
    """Positives and all objects under every subset of each rule's conditions.

    Parameters
    ----------
    rules : sequence
        For each rule its conditions, for each condition its tests, all of one attribute.
    positive : array of shape (n_objects,)

    Yields
    ------
    tuple of two arrays
        Indexed by the bits of the subset: bit i is condition i.
    """
    start, ranges = table.conditions(rules)
    count = compiled(loops).subset_counts if _compiled_pays(table) else _subset_counts
    positives, objects = count(table.slots, table.n_slots, positive, start, ranges)
    ends = np.cumsum([0, *(1 << np.diff(start))])
    return ((positives[a:b], objects[a:b]) for a, b in pairwise(ends))


def coverage_counts(
    table: SlottedTable,
    rules: Sequence[Sequence[Sequence[ElementaryTest]]],
    classes: NDArray[np.intp],
    n_classes: int,
) -> tuple[Integers, Integers] | None:
    """Objects of each class under each rule and those under no other rule; None if that is slow.

    Parameters
    ----------
    rules : sequence
        For each rule its conditions, for each condition its tests, all of one attribute.
    classes : array of shape (n_objects,)
    n_classes : int
    """
    if not rules or not _compiled_pays(table):
        return None
    start, ranges = table.conditions(rules)
    kernel = compiled(loops).coverage_counts
    counts: tuple[Integers, Integers] = kernel(
        table.slots, table.n_slots, classes.astype(np.int64), n_classes, start, ranges
    )
    return counts


def counts(
    table: SlottedTable, conditions: Sequence[Sequence[ElementaryTest]], positive: Flags
) -> tuple[Integers, Integers]:
    """Positives and all objects under all conditions together, each an array of one number."""
    holds = np.ones(len(table.slots), dtype=bool)
    for j, low, high in table.conditions([conditions])[1]:
        holds &= (table.slots[:, j] >= low) & (table.slots[:, j] < high)
    return np.array([(holds & positive).sum()]), np.array([holds.sum()])


def _compiled_pays(table: SlottedTable) -> bool:
    if compiled_before(loops):
        return True
    limit = LOADED_FROM if cached_on_disk(loops) else COMPILED_FROM
    return table.slots.size >= limit and numba_installed()


# --- The search with array operations


def _cover_class(
    slots: Slots, grid: Grid, positive: Flags, n_classes: int, entropy: bool, weights: Floats
) -> Found:
    """Rules that cover the positives one by one, without redundant tests and rules.

    Parameters
    ----------
    slots : array of shape (n_objects, n_attributes)
    grid : tuple of arrays
    positive : array of shape (n_objects,)
    n_classes : int
    entropy : bool
        Whether tests are chosen by conditional entropy or by the Laplace estimate.
    weights : array
        k log2 k for every number k of objects; not used for the Laplace estimate.
    """
    search = _Search(slots, grid, n_classes, entropy, weights)
    covered = np.zeros(len(slots), dtype=bool)
    rules: list[list[tuple[int, bool]]] = []
    covers: list[Flags] = []
    while (positive & ~covered).any():
        tests = search.grow(positive & ~covered, positive)
        masks = [search.holds(test) for test in tests]
        kept = _without_redundant(masks, positive)
        if not kept:
            break
        rules.append([tests[i] for i in kept])
        covers.append(np.logical_and.reduce([masks[i] for i in kept]) & positive)
        covered |= covers[-1]
    counts = np.zeros(len(slots), dtype=np.int64)
    for own in covers:
        counts += own
    final = []
    for rule, own in zip(rules, covers, strict=True):
        if (counts[own] > 1).all():
            counts -= own
        else:
            final.append(rule)
    starts = np.cumsum([0, *map(len, final)], dtype=np.int64)
    chosen = [test for rule in final for test in rule]
    return (
        starts,
        np.array([number for number, _ in chosen], dtype=np.int64),
        np.array([below for _, below in chosen], dtype=bool),
    )


class _Search:
    """The best test for some objects, by counting the objects in every slot."""

    def __init__(
        self, slots: Slots, grid: Grid, n_classes: int, entropy: bool, weights: Floats
    ) -> None:
        attribute_first, attribute_end, test_start, nominal = grid
        self.slots = slots
        self.keys = 2 * slots.astype(np.int64)
        self.n_slots = int(attribute_end[-1]) + 1
        self.n_classes = n_classes
        self.entropy = entropy
        self.weights = weights
        n_tests = np.diff(test_start)
        self.attribute = np.repeat(np.arange(len(n_tests)), n_tests)
        self.nominal = nominal[self.attribute]
        position = np.arange(test_start[-1]) - test_start[self.attribute]
        self.after = attribute_first[self.attribute] + position + 1
        self.first = np.where(self.nominal, self.after - 1, attribute_first[self.attribute])
        self.end = np.where(self.nominal, self.after, attribute_end[self.attribute])

    def grow(self, uncovered: Flags, positive: Flags) -> list[tuple[int, bool]]:
        """Add tests as long as they improve the rule and it covers others than positives."""
        tests: list[tuple[int, bool]] = []
        rows = np.flatnonzero(uncovered | ~positive)
        while True:
            test = self.best(rows, uncovered[rows])
            if test is None:
                return tests
            tests.append(test)
            rows = rows[self.holds(test, rows)]
            if uncovered[rows].all():
                return tests

    def holds(self, test: tuple[int, bool], rows: Integers | slice = slice(None)) -> Flags:
        """Which objects satisfy a test."""
        number, below = test
        slot = self.slots[rows, self.attribute[number]]
        low, high = (
            (self.first[number], self.after[number])
            if below
            else (self.after[number], self.end[number])
        )
        return np.asarray((slot >= low) & (slot < high))

    def best(self, rows: Integers, uncovered: Flags) -> tuple[int, bool] | None:
        """The test with the highest score, of equal ones that with most positives, then the first."""
        in_below, in_above = self._counts(rows, uncovered)
        p_below, t_below = in_below[:, 1], in_below.sum(axis=1)
        p_above, t_above = in_above[:, 1], in_above.sum(axis=1)
        p, t = int(uncovered.sum()), len(rows)
        if self.entropy:
            worst = -float(np.rint(self._bits(np.array(p), np.array(t)) / choosing.GRAIN))
            p_above = np.where(self.nominal, p - p_below, p_above)
            t_above = np.where(self.nominal, t - t_below, t_above)
            below = (p_below >= p_above) | self.nominal
            bits = self._bits(p_below, t_below) + self._bits(p_above, t_above)
            bits = bits + self._bits(p - p_below - p_above, t - t_below - t_above)
            score = -np.rint(bits / choosing.GRAIN)
            idle = (t_below == 0) | (t_above == 0) | (np.where(below, p_below, p_above) == 0)
            score = np.where(idle, worst, score)
        else:
            worst = (p + 1.0) / (t + self.n_classes)
            score_below, score_above = (
                self._laplace(p_below, t_below),
                self._laplace(p_above, t_above),
            )
            below = score_below > score_above
            score = np.where(below, score_below, score_above)
        if not len(score) or not score.max() > worst:
            return None
        equal = np.flatnonzero(score == score.max())
        number = equal[np.where(below, p_below, p_above)[equal].argmax()]
        return int(number), bool(below[number])

    def _counts(self, rows: Integers, uncovered: Flags) -> tuple[Integers, Integers]:
        """Others and positives, shape (n_tests, 2), in the parts below and above."""
        keys = self.keys[rows] + uncovered[:, None]
        counts = np.bincount(keys.ravel(), minlength=2 * self.n_slots).reshape(-1, 2)
        sums = np.zeros((self.n_slots + 1, 2), dtype=np.int64)
        np.cumsum(counts, axis=0, out=sums[1:])
        until = sums[self.after]
        return until - sums[self.first], sums[self.end] - until

    def _laplace(self, p: Integers, t: Integers) -> Floats:
        return np.asarray(np.where(p > 0, (p + 1.0) / (t + self.n_classes), 0.0))

    def _bits(self, p: Integers, t: Integers) -> Floats:
        """Entropy of p positives among t objects, times t."""
        return np.asarray(self.weights[t] - (self.weights[p] + self.weights[t - p]))


def _without_redundant(masks: list[Flags], positive: Flags) -> list[int]:
    """Positions of the tests that are left after dropping, first to last, what the others do alone."""
    kept = list(range(len(masks)))
    for i in range(len(masks)):
        others = [masks[k] for k in kept if k != i]
        if positive[np.logical_and.reduce(others) if others else slice(None)].all():
            kept.remove(i)
    return kept


def _subset_counts(
    slots: Slots, n_slots: int, positive: Flags, condition_start: Integers, ranges: Integers
) -> tuple[Integers, Integers]:
    """Positives and all objects under every subset of the conditions of every rule."""
    del n_slots
    both: tuple[list[Integers], list[Integers]] = (
        [np.empty(0, dtype=np.int64)],
        [np.empty(0, dtype=np.int64)],
    )
    for start, end in pairwise(condition_start):
        satisfied = np.zeros(len(slots), dtype=np.int64)
        for bit, (j, low, high) in enumerate(ranges[start:end]):
            slot = slots[:, j]
            satisfied |= ((slot >= low) & (slot < high)).astype(np.int64) << bit
        for found, part in zip(both, (satisfied[positive], satisfied), strict=True):
            counts = np.bincount(part, minlength=1 << (end - start))
            for bit in range(end - start):
                # Whoever satisfies more than a subset satisfies the subset.
                halves = counts.reshape(-1, 2, 1 << bit)
                halves[:, 0] += halves[:, 1]
            found.append(counts)
    return np.concatenate(both[0]), np.concatenate(both[1])

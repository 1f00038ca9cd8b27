"""Sequential covering of one class by conjunctions of elementary tests, as loops for the compiler.

`frri.learners.covering` explains slots and tests and holds the same loop as array operations.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri.compiling import companion, kernel
from frri.kernels import choosing

Slots = NDArray[np.int32]
Rows = NDArray[np.int32]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Grid = choosing.Grid
# Where the tests of each rule start, the number of each test, whether it is the part below.
Found = tuple[Integers, Integers, Flags]

# The same kernels, compiled where this module is.
_choosing: Any = companion(choosing, of=__file__)
first_test, next_test, BLOCK = _choosing.first_test, _choosing.next_test, choosing.BLOCK


@kernel
def _slot_range(number: int, below: bool, grid: Grid) -> Any:
    """Attribute of a test and the range of slots that satisfy it."""
    attribute_first, attribute_end, test_start, nominal = grid
    j = np.searchsorted(test_start, number, side="right") - 1
    after = attribute_first[j] + number - test_start[j] + 1
    if nominal[j]:
        return j, after - 1, after
    if below:
        return j, attribute_first[j], after
    return j, after, attribute_end[j]


@kernel
def _rows_by_slot(slots: Slots, n_slots: int) -> tuple[Integers, Rows]:
    """Object numbers, attribute by attribute in the order of slots, and where each slot starts."""
    n, m = slots.shape
    starts = np.zeros(n_slots + 1, dtype=np.int64)
    for i in range(n):
        for j in range(m):
            starts[slots[i, j] + 1] += 1
    for s in range(n_slots):
        starts[s + 1] += starts[s]
    free = starts.copy()
    rows = np.empty(n * m, dtype=np.int32)
    for i in range(n):
        for j in range(m):
            s = slots[i, j]
            rows[free[s]] = i
            free[s] += 1
    return starts, rows


@kernel
def _narrowest(ranges: Integers, n_tests: int, without: int, starts: Integers) -> int:
    """Of some tests but one, the one that the fewest objects satisfy; -1 if there is no other."""
    chosen, fewest = -1, 0
    for k in range(n_tests):
        size = starts[ranges[k, 2]] - starts[ranges[k, 1]]
        if k != without and ranges[k, 0] >= 0 and (chosen < 0 or size < fewest):
            chosen, fewest = k, size
    return chosen


@kernel
def _merge(ranges: Integers, n_tests: int) -> None:
    """Give all tests of an attribute the range that they have in common."""
    for k in range(n_tests):
        for other in range(n_tests):
            if ranges[other, 0] == ranges[k, 0]:
                ranges[k, 1] = max(ranges[k, 1], ranges[other, 1])
                ranges[k, 2] = min(ranges[k, 2], ranges[other, 2])


@kernel
def _satisfies(row: int, slots: Slots, ranges: Integers, n_tests: int, without: int) -> bool:
    for k in range(n_tests):
        j = ranges[k, 0]
        if j >= 0 and k != without and not ranges[k, 1] <= slots[row, j] < ranges[k, 2]:
            return False
    return True


@kernel
def _drop_redundant(
    slots: Slots,
    starts: Integers,
    by_slot: Rows,
    positive: Flags,
    n_others: int,
    ranges: Integers,
    n_tests: int,
) -> int:
    """Mark (attribute -1) the tests that the remaining ones make superfluous; how many remain."""
    remaining = n_tests
    for i in range(n_tests):
        narrow = _narrowest(ranges, n_tests, i, starts)
        superfluous = n_others == 0
        if narrow >= 0:
            superfluous = True
            for position in range(starts[ranges[narrow, 1]], starts[ranges[narrow, 2]]):
                row = by_slot[position]
                if not positive[row] and _satisfies(row, slots, ranges, n_tests, i):
                    superfluous = False
                    break
        if superfluous:
            ranges[i, 0] = -1
            remaining -= 1
    return remaining


@kernel
def _longer(array: Integers) -> Integers:
    """The same array with twice the room."""
    result = np.empty(2 * len(array), dtype=np.int64)
    result[: len(array)] = array
    return result


@kernel
def _necessary(rule_covers: Integers, covers: Integers, n_objects: int) -> Flags:
    """Which rules remain after removing, first to last, those whose objects others cover as well."""
    counts = np.zeros(n_objects, dtype=np.int64)
    for row in covers[: rule_covers[-1]]:
        counts[row] += 1
    needed = np.zeros(len(rule_covers) - 1, dtype=np.bool_)
    for r in range(len(needed)):
        own = covers[rule_covers[r] : rule_covers[r + 1]]
        for row in own:
            if counts[row] == 1:
                needed[r] = True
        if not needed[r]:
            for row in own:
                counts[row] -= 1
    return needed


@kernel
def cover_class(
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
        k log2 k for every number k of objects up to `n_objects`; not used for the Laplace estimate.

    Returns
    -------
    tuple of arrays
        Where the tests of each rule start, the number of each test, whether it is the part below.
    """
    attribute_first, attribute_end = grid[0], grid[1]
    criterion = (n_classes, entropy, weights)
    n, m = slots.shape
    n_slots = attribute_end[-1] + 1
    starts, by_slot = _rows_by_slot(slots, n_slots)

    # Uncovered positives in every slot and block of slots, other objects up to every slot.
    block_start = np.zeros(m + 1, dtype=np.int64)
    for j in range(m):
        n_blocks = (attribute_end[j] - attribute_first[j] + BLOCK - 1) // BLOCK
        block_start[j + 1] = block_start[j] + n_blocks
    own = np.zeros(n_slots, dtype=np.int64)
    own_blocks = np.zeros(block_start[m] + 1, dtype=np.int64)
    bounds = np.full(block_start[m] + 1, np.inf)
    bounds[block_start[m]] = -np.inf
    others = np.zeros(n_slots + 1, dtype=np.int64)
    left = 0
    for i in range(n):
        left += positive[i]
        for j in range(m):
            s = slots[i, j]
            if not positive[i]:
                others[s + 1] += 1
                continue
            own[s] += 1
            if s < attribute_end[j]:
                own_blocks[block_start[j] + (s - attribute_first[j]) // BLOCK] += 1
    n_others = n - left
    others = np.cumsum(others)

    uncovered = positive.copy()
    at_hand = np.zeros(n, dtype=np.bool_)
    scratch = np.zeros(2 * n_slots, dtype=np.int32)
    numbers, sides = np.empty(16, dtype=np.int64), np.empty(16, dtype=np.int64)
    rule_tests, rule_covers = np.zeros(16, dtype=np.int64), np.zeros(16, dtype=np.int64)
    covers = np.empty(16, dtype=np.int64)
    ranges = np.empty((16, 3), dtype=np.int64)
    n_rules = 0
    while left > 0:
        # Grow. The tests of the rule at hand stand after those of the rules found.
        first_number = rule_tests[n_rules]
        n_tests = 0
        rows = np.empty(0, dtype=np.int32)
        while True:
            if n_tests == 0:
                everything = (left, left + n_others)
                number, below = first_test(
                    grid, own, own_blocks, others, bounds, everything, criterion
                )
            else:
                number, below = next_test(
                    slots,
                    starts,
                    by_slot,
                    rows,
                    at_hand,
                    uncovered,
                    ranges[:n_tests],
                    grid,
                    scratch,
                    criterion,
                )
            if number < 0:
                break
            j, low, high = _slot_range(number, below, grid)
            if n_tests == len(ranges):
                wider = np.empty((2 * n_tests, 3), dtype=np.int64)
                wider[:n_tests] = ranges
                ranges = wider
            ranges[n_tests] = j, low, high
            if first_number + n_tests == len(numbers):
                numbers, sides = _longer(numbers), _longer(sides)
            numbers[first_number + n_tests] = number
            sides[first_number + n_tests] = below
            if n_tests == 0:
                rows = by_slot[starts[low] : starts[high]].copy()
            n_kept, n_positive = 0, 0
            for row in rows:
                fits = low <= slots[row, j] < high and (uncovered[row] or not positive[row])
                at_hand[row] = fits
                if fits:
                    rows[n_kept] = row
                    n_kept += 1
                    n_positive += uncovered[row]
            rows = rows[:n_kept]
            n_tests += 1
            if n_kept == n_positive:
                break
        for row in rows:
            at_hand[row] = False
        if _drop_redundant(slots, starts, by_slot, positive, n_others, ranges, n_tests) == 0:
            break

        # Keep the tests that remain and take what the rule covers out of the counts.
        if n_rules + 2 > len(rule_tests):
            rule_tests, rule_covers = _longer(rule_tests), _longer(rule_covers)
        end = first_number
        for k in range(n_tests):
            if ranges[k, 0] >= 0:
                numbers[end], sides[end] = numbers[first_number + k], sides[first_number + k]
                end += 1
        rule_tests[n_rules + 1] = end
        n_covers = rule_covers[n_rules]
        _merge(ranges, n_tests)
        narrow = _narrowest(ranges, n_tests, -1, starts)
        for row in by_slot[starts[ranges[narrow, 1]] : starts[ranges[narrow, 2]]]:
            if not positive[row] or not _satisfies(row, slots, ranges, n_tests, -1):
                continue
            if n_covers == len(covers):
                covers = _longer(covers)
            covers[n_covers] = row
            n_covers += 1
            if uncovered[row]:
                uncovered[row] = False
                left -= 1
                for j in range(m):
                    s = slots[row, j]
                    own[s] -= 1
                    if s < attribute_end[j]:
                        own_blocks[block_start[j] + (s - attribute_first[j]) // BLOCK] -= 1
        rule_covers[n_rules + 1] = n_covers
        n_rules += 1

    needed = _necessary(rule_covers[: n_rules + 1], covers, n)
    final_starts = np.zeros(needed.sum() + 1, dtype=np.int64)
    final_tests = np.empty(rule_tests[n_rules], dtype=np.int64)
    final_below = np.empty(rule_tests[n_rules], dtype=np.bool_)
    r, end = 0, 0
    for rule in range(n_rules):
        if needed[rule]:
            for k in range(rule_tests[rule], rule_tests[rule + 1]):
                final_tests[end] = numbers[k]
                final_below[end] = sides[k] != 0
                end += 1
            r += 1
            final_starts[r] = end
    return final_starts, final_tests[:end], final_below[:end]


@kernel
def subset_counts(
    slots: Slots, n_slots: int, positive: Flags, condition_start: Integers, ranges: Integers
) -> tuple[Integers, Integers]:
    """Positives and all objects under every subset of the conditions of every rule.

    Parameters
    ----------
    slots : array of shape (n_objects, n_attributes)
    n_slots : int
    positive : array of shape (n_objects,)
    condition_start : array of shape (n_rules + 1,)
        Where the conditions of each rule start.
    ranges : array of shape (n_conditions, 3)
        Attribute, first slot and end of the slots of each condition.

    Returns
    -------
    tuple of arrays
        Two counts per rule and subset of its conditions, numbered by its bits, one rule after another.
    """
    starts, by_slot = _rows_by_slot(slots, n_slots)
    lengths = np.diff(condition_start)
    positives = np.zeros((1 << lengths).sum(), dtype=np.int64)
    objects = np.zeros(len(positives), dtype=np.int64)
    n_positive = positive.sum()
    origin = 0
    for r in range(len(lengths)):
        own = ranges[condition_start[r] : condition_start[r + 1]]
        n_subsets = 1 << len(own)
        p, t = positives[origin : origin + n_subsets], objects[origin : origin + n_subsets]
        origin += n_subsets
        p[0], t[0] = n_positive, len(slots)
        # Every object that satisfies anything is met once, under the first condition it satisfies.
        for k in range(len(own)):
            for row in by_slot[starts[own[k, 1]] : starts[own[k, 2]]]:
                satisfied = 0
                for other in range(len(own)):
                    if own[other, 1] <= slots[row, own[other, 0]] < own[other, 2]:
                        satisfied |= 1 << other
                if satisfied & ((1 << k) - 1):
                    continue
                p[satisfied] += positive[row]
                t[satisfied] += 1
                p[0] -= positive[row]
                t[0] -= 1
        # Whoever satisfies more than a subset satisfies the subset.
        for bit in range(len(own)):
            for subset in range(n_subsets):
                if not subset >> bit & 1:
                    p[subset] += p[subset | 1 << bit]
                    t[subset] += t[subset | 1 << bit]
    return positives, objects


@kernel
def coverage_counts(
    slots: Slots,
    n_slots: int,
    classes: Integers,
    n_classes: int,
    condition_start: Integers,
    ranges: Integers,
) -> tuple[Integers, Integers]:
    """Objects of each class under each rule, and how many of them are under no other rule."""
    starts, by_slot = _rows_by_slot(slots, n_slots)
    n_rules = len(condition_start) - 1
    support = np.zeros((n_rules, n_classes), dtype=np.int64)
    alone = np.zeros(n_rules, dtype=np.int64)
    times = np.zeros(len(slots), dtype=np.int64)
    for alone_now in (False, True):
        for r in range(n_rules):
            own = ranges[condition_start[r] : condition_start[r + 1]]
            narrow = _narrowest(own, len(own), -1, starts)
            for row in by_slot[starts[own[narrow, 1]] : starts[own[narrow, 2]]]:
                if not _satisfies(row, slots, own, len(own), -1):
                    continue
                if alone_now:
                    alone[r] += times[row] == 1
                else:
                    support[r, classes[row]] += 1
                    times[row] += 1
    return support, alone

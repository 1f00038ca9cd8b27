"""Sequential covering of one class by conjunctions of elementary tests, as loops for the compiler.

`frri.learners.modlem.bins` explains bins and tests, `frri.learners.modlem.covering` holds the same loop as array
operations. A condition is a row of three numbers: an attribute, and the first and the end of the bins
that satisfy it.
"""

from typing import Any

import numpy as np

from frri._compile import inner_kernel, kernel
from frri._util import Flags, Ints
from frri.learners.modlem._split_search_kernels import (
    END_BIN,
    FEW,
    FIRST_BIN,
    FIRST_TEST,
    GROUP,
    LAST_GROUP,
    NOMINAL,
    Bins,
    Codes,
    Criterion,
    Objects,
    Places,
    Rows,
    best_of_few,
    best_test,
)

# Where the conditions of each rule start, and the conditions.
Found = tuple[Ints, Ints]

# The same kernels, compiled where this module is.

# For all tests, as what is without this one. Not a literal, for which the compiler would do everything once more.
NO_TEST: Any = np.int64(-1)


@inner_kernel
def _bin_range(number: int, below: bool, layout: Ints) -> Any:
    """Attribute of a test and the range of bins that satisfy it."""
    j = len(layout) - 1
    while layout[j, FIRST_TEST] > number:
        j -= 1
    first, end = layout[j, FIRST_BIN], layout[j, END_BIN]
    after = first + number - layout[j, FIRST_TEST] + 1
    if layout[j, NOMINAL]:
        return j, after - 1, after
    if below:
        return j, first, after
    return j, after, end


@inner_kernel
def _longer(array: Ints) -> Ints:
    """The same array with twice the room."""
    result = np.empty((2 * len(array), *array.shape[1:]), dtype=np.int64)
    np.positive(array, result[: len(array)])
    return result


@inner_kernel
def _narrowest(conditions: Ints, without: int, starts: Ints) -> int:
    """Of some conditions but one, that which the fewest objects satisfy; -1 if there is no other."""
    chosen, fewest = -1, 0
    for k in range(len(conditions)):
        size = starts[conditions[k, 2]] - starts[conditions[k, 1]]
        if k != without and conditions[k, 0] >= 0 and (chosen < 0 or size < fewest):
            chosen, fewest = k, size
    return chosen


@inner_kernel
def _satisfies(row: int, bins: Bins, conditions: Ints, without: int) -> bool:
    for k in range(len(conditions)):
        j = conditions[k, 0]
        if j >= 0 and k != without and not conditions[k, 1] <= bins[row, j] < conditions[k, 2]:
            return False
    return True


@inner_kernel
def _drop_redundant(bins: Bins, places: Places, other: Flags, n_others: int, tests: Ints) -> None:
    """Mark (attribute -1), first to last, the tests that the remaining ones make superfluous."""
    starts, by_bin = places
    for i in range(len(tests)):
        narrow = _narrowest(tests, i, starts)
        superfluous = n_others == 0
        if narrow >= 0:
            superfluous = True
            for place in range(starts[tests[narrow, 1]], starts[tests[narrow, 2]]):
                row = by_bin[place]
                if other[row] and _satisfies(row, bins, tests, i):
                    superfluous = False
                    break
        if superfluous:
            tests[i, 0] = -1


@inner_kernel
def _merge(tests: Ints) -> int:
    """Join the tests of an attribute (-1: dropped) to one condition; how many there are then."""
    n_merged = 0
    for k in range(len(tests)):
        if tests[k, 0] < 0:
            continue
        place = 0
        while place < n_merged and tests[place, 0] != tests[k, 0]:
            place += 1
        if place == n_merged:
            np.positive(tests[k], tests[place])
            n_merged += 1
        else:
            tests[place, 1] = max(tests[place, 1], tests[k, 1])
            tests[place, 2] = min(tests[place, 2], tests[k, 2])
    return n_merged


@inner_kernel
def _necessary(rule_covers: Ints, covers: Ints, n_objects: int) -> Flags:
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


@inner_kernel
def _count(rows: Rows, codes: Codes, objects: Objects, counts: Ints) -> Any:
    """Sum up the weights of positives and others among some objects, in every bucket and in all."""
    other, weight, _ = objects
    counts[:] = 0
    p, n = 0, 0
    for i in rows:
        side, amount = int(other[i]), weight[i]
        n += amount * side
        p += amount * (1 - side)
        for j in range(codes.shape[1]):
            counts[side, codes[i, j]] += amount
    return p, n


@inner_kernel
def _grow(
    bins: Bins,
    codes: Codes,
    layout: Ints,
    places: Places,
    objects: Objects,
    criterion: Criterion,
    root: Any,
    scratch: Any,
    step: int,
    most: int,
) -> Any:
    """Add tests as long as they improve the rule and it covers others than positives.

    `root` holds counts, bounds and sums for all objects in play, `scratch` room for rows, counts and
    bounds of fewer. Returns the tests and the last step.
    """
    starts, by_bin = places
    other, _, at_hand = objects
    rows, fewer_counts, fewer_bounds, before = scratch
    counts, bounds, everything = root
    tests, n_tests = np.empty((8, 3), dtype=np.int64), 0
    keys = np.empty(1 << FEW, dtype=np.int64)
    since: Any = np.int64(0)
    n_before = 0
    while True:
        if n_tests > 0 and n_before <= 1 << FEW:
            number, below = best_of_few(bins, rows[:n_before], layout, objects, criterion, keys)
        else:
            if n_tests > 0:
                counts, bounds = fewer_counts, fewer_bounds
                bounds[:] = np.inf
                everything = _count(rows[:n_before], codes, objects, counts)
            number, below = best_test(
                layout, counts, bounds, before, everything, criterion, places, objects, since
            )
        if number < 0:
            break
        if n_tests == len(tests):
            tests = _longer(tests)
        j, low, high = _bin_range(number, below, layout)
        tests[n_tests, 0], tests[n_tests, 1], tests[n_tests, 2] = j, low, high
        n_tests += 1
        step += 1
        # Written in any case and overwritten by the next: a branch could not be predicted.
        n_rows, n_others = 0, 0
        if n_tests == 1:
            for place in range(starts[low], starts[high]):
                i = by_bin[place]
                kept = at_hand[i] >= 0
                at_hand[i] = step if kept else at_hand[i]
                rows[n_rows] = i
                n_rows += kept
                n_others += kept & other[i]
        else:
            for i in rows[:n_before]:
                kept = (low <= bins[i, j]) & (bins[i, j] < high)
                at_hand[i] = step if kept else at_hand[i]
                rows[n_rows] = i
                n_rows += kept
                n_others += kept & other[i]
        if n_others == 0 or n_tests == most:
            break
        since, n_before = step, n_rows
    return tests[:n_tests], step


@kernel
def rules_of_class(
    bins: Bins,
    codes: Codes,
    layout: Ints,
    places: Places,
    positive: Flags,
    weight: Ints,
    criterion: Criterion,
    most: int,
) -> Found:
    """Rules that cover the positives one by one, without redundant tests and rules.

    Parameters
    ----------
    bins, codes : arrays of shape (n_objects, n_attributes)
        The bin and the bucket of each value.
    layout : array of shape (n_attributes, 8)
    places : tuple of arrays
    positive : array of shape (n_objects,)
    weight : array of shape (n_objects,)
        In units.
    criterion : tuple
    most : int
        The most tests of a rule.

    Returns
    -------
    tuple of arrays
        Where the conditions of each rule start, and the conditions.
    """
    starts, by_bin = places
    n, m = bins.shape
    other = ~positive
    at_hand = np.zeros(n, dtype=np.int64)
    objects = (other, weight, at_hand)
    n_groups = layout[m - 1, LAST_GROUP] + 1
    counts = np.zeros((2, GROUP * n_groups), dtype=np.int64)
    bounds = np.full(n_groups, np.inf)
    before = np.empty((2, n_groups), dtype=np.int64)
    p_left, n_weight = _count(np.arange(n).astype(np.uint32), codes, objects, counts)
    scratch = (np.empty(n, dtype=np.uint32), np.empty_like(counts), np.empty_like(bounds), before)
    n_left, n_others = positive.sum(), other.sum()
    rule_start, rule_covers = np.zeros(16, dtype=np.int64), np.zeros(16, dtype=np.int64)
    conditions = np.empty((16, 3), dtype=np.int64)
    covers = np.empty(16, dtype=np.int64)
    step: Any = np.int64(0)  # not a literal: that would be compiled twice
    n_rules = 0
    while n_left > 0:
        if criterion[1]:
            bounds[:] = np.inf
        root = (counts, bounds, (p_left, n_weight))
        tests, step = _grow(
            bins, codes, layout, places, objects, criterion, root, scratch, step, most
        )
        _drop_redundant(bins, places, other, n_others, tests)
        rule = tests[: _merge(tests)]
        if len(rule) == 0:
            break

        # Keep the rule and take what it covers out of the counts.
        if n_rules + 2 > len(rule_start):
            rule_start, rule_covers = _longer(rule_start), _longer(rule_covers)
        start, n_covers = rule_start[n_rules], rule_covers[n_rules]
        while start + len(rule) > len(conditions):
            conditions = _longer(conditions)
        np.positive(rule, conditions[start : start + len(rule)])
        narrow = _narrowest(rule, NO_TEST, starts)
        for row in by_bin[starts[rule[narrow, 1]] : starts[rule[narrow, 2]]]:
            if other[row] or not _satisfies(row, bins, rule, NO_TEST):
                continue
            if n_covers == len(covers):
                covers = _longer(covers)
            covers[n_covers] = row
            n_covers += 1
            if at_hand[row] >= 0:
                at_hand[row] = -1
                n_left -= 1
                p_left -= weight[row]
                for j in range(m):
                    counts[0, codes[row, j]] -= weight[row]
        n_rules += 1
        rule_start[n_rules], rule_covers[n_rules] = start + len(rule), n_covers

    needed = _necessary(rule_covers[: n_rules + 1], covers, n)
    final_start, end = np.zeros(needed.sum() + 1, dtype=np.int64), 0
    n_rules = 0
    for r in range(len(needed)):
        if needed[r]:
            for k in range(rule_start[r], rule_start[r + 1]):
                np.positive(conditions[k], conditions[end])
                end += 1
            n_rules += 1
            final_start[n_rules] = end
    return final_start, conditions[:end]


@inner_kernel
def _sums_by_bin(bins: Bins, layout: Ints, rows: Rows, weight: Ints) -> Ints:
    """What some objects weigh in the bins of an attribute before each bin."""
    sums = np.zeros(layout[len(layout) - 1, END_BIN] + 1, dtype=np.int64)
    for i in rows:
        for j in range(len(layout)):
            sums[bins[i, j]] += weight[i]
    for j in range(len(layout)):
        before = 0
        for s in range(layout[j, FIRST_BIN], layout[j, END_BIN] + 1):
            here = sums[s]
            sums[s] = before
            before += here
    return sums


@inner_kernel
def _sort_by_size(rule: Ints, starts: Ints, result: Ints, order: Ints) -> None:
    """The conditions of a rule, the one that the fewest objects satisfy first, and their numbers."""
    for k in range(len(rule)):
        size, place = starts[rule[k, 2]] - starts[rule[k, 1]], k
        while place > 0 and starts[result[place - 1, 2]] - starts[result[place - 1, 1]] > size:
            np.positive(result[place - 1], result[place])
            order[place] = order[place - 1]
            place -= 1
        np.positive(rule[k], result[place])
        order[place] = k


@inner_kernel
def _count_subsets(
    bins: Bins,
    places: Places,
    positive: Flags,
    weight: Ints,
    rule: Ints,
    counts: Ints,
) -> None:
    """Count what satisfies every subset of two or more conditions, the narrowest of them first.

    A subset is counted among the objects of its narrowest condition.
    """
    starts, by_bin = places
    for narrow in range(len(rule) - 1):
        for i in by_bin[starts[rule[narrow, 1]] : starts[rule[narrow, 2]]]:
            satisfied = 1 << narrow
            for k in range(narrow + 1, len(rule)):
                own = bins[i, rule[k, 0]]
                satisfied |= ((rule[k, 1] <= own) & (own < rule[k, 2])) << k
            counts[satisfied, 1] += weight[i]
            counts[satisfied, 0] += weight[i] * positive[i]
    # Whoever satisfies more than a subset satisfies the subset.
    for k in range(1, len(rule)):
        narrower = (1 << k) - 1
        for subset in range(len(counts)):
            if subset & narrower and not subset >> k & 1:
                counts[subset, 0] += counts[subset | 1 << k, 0]
                counts[subset, 1] += counts[subset | 1 << k, 1]


@kernel
def subset_counts(
    bins: Bins,
    layout: Ints,
    places: Places,
    targets: Flags,
    weight: Ints,
    rule_class: Ints,
    rule_start: Ints,
    conditions: Ints,
) -> Any:
    """What satisfies every subset of the conditions of every rule.

    Parameters
    ----------
    bins : array of shape (n_objects, n_attributes)
    layout : array of shape (n_attributes, 8)
    places : tuple of arrays
    targets : array of shape (n_classes, n_objects)
        The positives of each class.
    weight : array of shape (n_objects,)
    rule_class : array of shape (n_rules,)
        Ascending.
    rule_start : array of shape (n_rules + 1,)
    conditions : array of shape (n_conditions, 3)

    Returns
    -------
    array of shape (n_subsets, 2)
        Positives and all objects per rule and subset of its conditions, numbered by its bits, one
        rule after another.
    """
    starts = places[0]
    everyone = np.arange(len(bins)).astype(np.uint32)
    sums = _sums_by_bin(bins, layout, everyone, weight)
    own_sums, own_weight, last = sums, 0, -1
    lengths = rule_start[1:] - rule_start[:-1]
    result = np.zeros(((1 << lengths).sum(), 2), dtype=np.int64)
    counts = np.empty((1 << lengths.max(), 2), dtype=np.int64)
    sorted_rule = np.empty((lengths.max(), 3), dtype=np.int64)
    orders = np.empty(lengths.max(), dtype=np.int64)
    total, origin = weight.sum(), 0
    for r in range(len(lengths)):
        positive = targets[rule_class[r]]
        if rule_class[r] != last:
            last = rule_class[r]
            own_sums = _sums_by_bin(bins, layout, everyone[positive], weight)
            own_weight = weight[positive].sum()
        length = lengths[r]
        rule, order = sorted_rule[:length], orders[:length]
        _sort_by_size(conditions[rule_start[r] : rule_start[r + 1]], starts, rule, order)
        low, high = rule[length - 1, 1], rule[length - 1, 2]
        found = counts[: 1 << length]
        found[:] = 0
        _count_subsets(bins, places, positive, weight, rule, found)
        found[0, 0], found[0, 1] = own_weight, total
        found[len(found) >> 1, 0] = own_sums[high] - own_sums[low]
        found[len(found) >> 1, 1] = sums[high] - sums[low]
        for subset in range(len(found)):
            number = origin
            for k in range(length):
                number += (subset >> k & 1) << order[k]
            result[number, 0], result[number, 1] = found[subset, 0], found[subset, 1]
        origin += len(found)
    return result


@kernel
def coverage_counts(
    bins: Bins,
    places: Places,
    classes: Ints,
    n_classes: int,
    weight: Ints,
    rule_start: Ints,
    conditions: Ints,
) -> Any:
    """What each rule covers of each class, and what of it no other rule covers."""
    starts, by_bin = places
    n_rules = len(rule_start) - 1
    support = np.zeros((n_rules, n_classes), dtype=np.int64)
    alone = np.zeros(n_rules, dtype=np.int64)
    times = np.zeros(len(bins), dtype=np.int64)
    for alone_now in (False, True):
        for r in range(n_rules):
            own = conditions[rule_start[r] : rule_start[r + 1]]
            narrow = _narrowest(own, NO_TEST, starts)
            for i in by_bin[starts[own[narrow, 1]] : starts[own[narrow, 2]]]:
                if not _satisfies(i, bins, own, NO_TEST):
                    continue
                if not alone_now:
                    support[r, classes[i]] += weight[i]
                    times[i] += 1
                elif times[i] == 1:
                    alone[r] += weight[i]
    return support, alone

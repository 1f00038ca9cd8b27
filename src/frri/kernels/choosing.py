"""The best elementary test for the objects at hand, as loops for the compiler.

`frri.learners.covering` explains slots and tests and holds the same search as array operations. The
loops look only at slots that can matter. Counts are integers and scores come from the same
operations in the same order, so both find the same tests.
"""

import numpy as np
from numpy.typing import NDArray

from frri.compiling import kernel

Slots = NDArray[np.int32]
Rows = NDArray[np.int32]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
# First slot, end of the slots of known values, number of the first test (m + 1), nominal or not.
Grid = tuple[Integers, Integers, Integers, Flags]
# Number of classes, entropy instead of Laplace, k log2 k for numbers of objects.
Criterion = tuple[int, bool, Floats]

# Entropies that differ by less than this many bits are the same: what is left is rounding.
GRAIN = 2.0**-20
# Tests that share one bound on their score.
BLOCK = 64


@kernel
def _bits(p: int, t: int, weights: Floats) -> float:
    """Entropy of p positives among t objects, times t."""
    return weights[t] - (weights[p] + weights[t - p])  # type: ignore[no-any-return]


@kernel
def _laplace(p: int, t: int, n_classes: int) -> float:
    return (p + 1.0) / (t + n_classes) if p > 0 else 0.0


@kernel
def _standard(p: int, t: int, criterion: Criterion) -> float:
    """The score that a test has to exceed: that of the objects at hand."""
    n_classes, entropy, weights = criterion
    return -np.rint(_bits(p, t, weights) / GRAIN) if entropy else (p + 1.0) / (t + n_classes)


@kernel
def _score(
    below: tuple[int, int],
    above: tuple[int, int],
    everything: tuple[int, int],
    is_nominal: bool,
    criterion: Criterion,
) -> tuple[float, bool, int]:
    """Score of a pair of tests, which of the two it is, and its positives.

    Counts are pairs of positives and objects.
    """
    n_classes, entropy, weights = criterion
    if not entropy:
        score_below = _laplace(below[0], below[1], n_classes)
        score_above = _laplace(above[0], above[1], n_classes)
        if score_below > score_above:
            return score_below, True, below[0]
        return score_above, False, above[0]
    p, t = everything
    p_below, t_below = below
    p_above, t_above = above
    if is_nominal:
        p_above, t_above = p - p_below, t - t_below
    taken = p_below if is_nominal else max(p_below, p_above)
    if t_below == 0 or t_above == 0 or taken == 0:
        return -np.inf, True, 0
    bits = _bits(p_below, t_below, weights) + _bits(p_above, t_above, weights)
    bits = bits + _bits(p - p_below - p_above, t - t_below - t_above, weights)
    return -np.rint(bits / GRAIN), taken == p_below, taken


# The best test so far: score, number (-1 for none), below, positives.
Best = tuple[float, int, bool, int]


@kernel
def _better(found: tuple[float, bool, int], number: int, best: Best) -> Best:
    """Higher score, then more positives, then the earlier test; no test is only exceeded."""
    score, below, positives = found
    if score < best[0] or (score == best[0] and (best[1] < 0 or positives < best[3])):
        return best
    if score == best[0] and positives == best[3] and number > best[1]:
        return best
    return score, number, below, positives


@kernel
def first_test(
    grid: Grid,
    own: Integers,
    own_blocks: Integers,
    others: Integers,
    bounds: Floats,
    everything: tuple[int, int],
    criterion: Criterion,
) -> tuple[int, bool]:
    """The best test for all objects but the covered positives; -1 if none improves.

    `own` counts the uncovered positives in every slot and `own_blocks` those in every block of slots,
    `others` counts all other objects up to every slot. A Laplace estimate can only fall as positives
    are taken away, so the best score that a block of tests had when last looked at bounds what it
    has now; blocks whose bound is below the best score are passed over.
    """
    attribute_first, attribute_end, test_start, nominal = grid
    best = (_standard(everything[0], everything[1], criterion), -1, True, 0)
    # The most promising block goes first, so that most others need no look.
    promising = np.argmax(bounds)
    for turn in range(2):
        block = -1
        for j in range(len(nominal)):
            first, end = attribute_first[j], attribute_end[j]
            n_tests = test_start[j + 1] - test_start[j]
            n_blocks = (end - first + BLOCK - 1) // BLOCK
            known_p = own_blocks[block + 1 : block + 1 + n_blocks].sum()
            known_t = known_p + others[end] - others[first]
            before = 0
            for k in range(n_blocks):
                block += 1
                p_below = before
                before += own_blocks[block]
                if (block == promising) != (turn == 0) or bounds[block] < best[0]:
                    continue
                highest = -np.inf
                for position in range(k * BLOCK, min((k + 1) * BLOCK, n_tests)):
                    slot = first + position
                    p_below += own[slot]
                    below = (p_below, p_below + others[slot + 1] - others[first])
                    above = (known_p - p_below, known_t - below[1])
                    if nominal[j]:
                        below = (own[slot], own[slot] + others[slot + 1] - others[slot])
                        above = (0, 0)
                    found = _score(below, above, everything, nominal[j], criterion)
                    highest = max(highest, found[0])
                    best = _better(found, test_start[j] + position, best)
                if not criterion[1]:
                    bounds[block] = highest
    return best[1], best[2]


@kernel
def next_test(
    slots: Slots,
    starts: Integers,
    by_slot: Rows,
    rows: Rows,
    at_hand: Flags,
    positive: Flags,
    ranges: Integers,
    grid: Grid,
    scratch: Rows,
    criterion: Criterion,
) -> tuple[int, bool]:
    """The best test for some objects (`rows`, flagged in `at_hand`); -1 if none improves.

    `ranges` are the tests of the rule so far. `scratch` holds two zeros for every slot.
    """
    attribute_first, attribute_end, test_start, _nominal = grid
    n, m = slots.shape
    p = 0
    for i in rows:
        p += positive[i]
    everything = (p, len(rows))
    best = (_standard(p, len(rows), criterion), -1, True, 0)
    # The attribute tested last is the most likely to give a score that cuts the others short.
    last = ranges[len(ranges) - 1, 0]
    for turn in range(m):
        j = last if turn == 0 else turn - (turn <= last)
        complete = starts[attribute_end[j]] == starts[attribute_end[j] + 1]
        if test_start[j] == test_start[j + 1]:
            continue
        if criterion[1] or grid[3][j] or not complete or 64 * len(rows) < n:
            best = _by_counting(
                slots, rows, positive, j, everything, grid, scratch, criterion, best
            )
            continue
        low, high = attribute_first[j], attribute_end[j]
        for k in range(len(ranges)):
            if ranges[k, 0] == j:
                low, high = max(low, ranges[k, 1]), min(high, ranges[k, 2])
        places = by_slot[starts[low] : starts[high]]
        best = _from_below(slots, places, at_hand, positive, j, everything, grid, criterion, best)
        best = _from_above(slots, places, at_hand, positive, j, everything, grid, criterion, best)
    return best[1], best[2]


@kernel
def _from_below(
    slots: Slots,
    places: Rows,
    at_hand: Flags,
    positive: Flags,
    j: int,
    everything: tuple[int, int],
    grid: Grid,
    criterion: Criterion,
    best: Best,
) -> Best:
    """Pairs whose part below is good, in ascending order.

    Ends as soon as the part below holds so many negatives that no further positives could help.
    """
    p, t = everything
    first, last_number = grid[0][j], grid[2][j + 1] - 1
    p_below, t_below, slot = 0, 0, -1
    for i in places:
        if not at_hand[i]:
            continue
        if slots[i, j] != slot:
            number = grid[2][j] + slot - first
            if slot >= 0 and _laplace(p_below, t_below, criterion[0]) >= best[0]:
                above = (p - p_below, t - t_below)
                found = _score((p_below, t_below), above, everything, False, criterion)
                best = _better(found, number, best)
            if _laplace(p, t_below - p_below + p, criterion[0]) < best[0] or number >= last_number:
                break
            slot = slots[i, j]
        p_below += positive[i]
        t_below += 1
    return best


@kernel
def _from_above(
    slots: Slots,
    places: Rows,
    at_hand: Flags,
    positive: Flags,
    j: int,
    everything: tuple[int, int],
    grid: Grid,
    criterion: Criterion,
    best: Best,
) -> Best:
    """Pairs whose part above is good, in descending order; of equal ones the lowest cut."""
    p, t = everything
    first, n_tests = grid[0][j], grid[2][j + 1] - grid[2][j]
    p_above, t_above, slot = 0, 0, -1
    for i in places[::-1]:
        if not at_hand[i]:
            continue
        if slots[i, j] != slot:
            slot = slots[i, j]
            if slot - first < n_tests and _laplace(p_above, t_above, criterion[0]) >= best[0]:
                below = (p - p_above, t - t_above)
                found = _score(below, (p_above, t_above), everything, False, criterion)
                best = _better(found, grid[2][j] + slot - first, best)
            if _laplace(p, t_above - p_above + p, criterion[0]) < best[0]:
                break
        p_above += positive[i]
        t_above += 1
    return best


@kernel
def _by_counting(
    slots: Slots,
    rows: Rows,
    positive: Flags,
    j: int,
    everything: tuple[int, int],
    grid: Grid,
    scratch: Rows,
    criterion: Criterion,
    best: Best,
) -> Best:
    """All tests of an attribute, from the objects at hand in every slot.

    Only cuts that follow a slot in use can be the best ones, apart from the first, which tells known
    values from missing ones.
    """
    first, end, n_tests = grid[0][j], grid[1][j], grid[2][j + 1] - grid[2][j]
    used = np.empty(len(rows), dtype=np.int32)
    known_p, known_t, n_used = 0, 0, 0
    for i in rows:
        s = slots[i, j]
        if s < end:
            known_p += positive[i]
            known_t += 1
            if scratch[2 * s + 1] == 0:
                used[n_used] = s
                n_used += 1
            scratch[2 * s] += positive[i]
            scratch[2 * s + 1] += 1
    # Sorting pays while few slots are in use; otherwise all of them are gone through.
    few = n_used * 32 < end - first
    if few:
        used[:n_used].sort()
    p_below, t_below = 0, 0
    for k in range(n_used + 1 if few else end - first):
        slot = first + k
        if few and k > 0:
            slot = used[k - 1]
        here = (scratch[2 * slot], scratch[2 * slot + 1])
        if slot - first >= n_tests or (here[1] == 0 and slot > first):
            continue
        if few and k == 0 and here[1] > 0:
            continue
        p_below += here[0]
        t_below += here[1]
        below, above = (p_below, t_below), (known_p - p_below, known_t - t_below)
        if grid[3][j]:
            below, above = (here[0] + 0, here[1] + 0), (0, 0)
        found = _score(below, above, everything, grid[3][j], criterion)
        best = _better(found, grid[2][j] + slot - first, best)
    for k in range(n_used):
        scratch[2 * used[k]] = 0
        scratch[2 * used[k] + 1] = 0
    return best

"""The best elementary test for the objects at hand, as loops for the compiler.

`frri.learners.modlem.bins` explains bins, tests, buckets and groups, `frri.learners.modlem.covering` holds the same
search as array operations. Here objects are counted by bucket. What is before and in a group of buckets
bounds the scores of the tests inside; only where the bound reaches the best score they are looked at
one by one. Weights are whole numbers of units and scores come from the same operations in the same
order, so both find the same tests.

What is called in the innermost loops takes numbers and single arrays: to unpack a tuple of arrays costs
more than a score.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._compile import inner_kernel
from frri._util import Flags, Floats, Ints

Bins = NDArray[np.int32]
# Objects and buckets: as indices, unsigned numbers need no check for being negative.
Rows = NDArray[np.uint32]
Codes = NDArray[np.uint32]
# Objects attribute by attribute in the order of bins, and where each bin starts.
Places = tuple[Ints, Rows]
# Whether an object is none of the positives, what it weighs, and the step it was last at hand.
Objects = tuple[Flags, Ints, Ints]
# Number of classes, entropy instead of Laplace, what a unit of weight is worth, how many grains make
# a bit of entropy, and k log2 k for whole numbers k (empty if units are fractions).
Criterion = tuple[int, bool, float, float, Floats]
# Positives and others, in units of weight.
Pair = tuple[int, int]
# The best test so far: score, number (-1 for none), below, positives.
Best = tuple[float, int, bool, int]

# What the layout of a table says about each attribute: its first bin and the end of those for known
# values, its first test and their number, whether it is nominal, its first group of buckets, the last
# one, which is for missing values, and the binary logarithm of how many bins a bucket holds.
FIRST_BIN, END_BIN, FIRST_TEST, N_TESTS, NOMINAL, FIRST_GROUP, LAST_GROUP, WIDTH = range(8)
# Buckets whose tests share one bound on their scores.
GROUP = 16
# Binary logarithm of how many objects are few.
FEW = 4


@inner_kernel
def _information(amount: int, unit: float, table: Floats) -> float:
    """A weight times its binary logarithm; from the table where there is one."""
    if len(table) > 0:
        return table[amount]  # type: ignore[no-any-return]
    return amount * unit * np.log2(amount * unit) if amount > 0 else 0.0


@inner_kernel
def _bits(p: int, n: int, unit: float, table: Floats) -> float:
    """Entropy of p positives and n others, times their sum."""
    both = _information(p, unit, table) + _information(n, unit, table)
    return _information(p + n, unit, table) - both


@inner_kernel
def _grains(
    below: Pair, whole: Pair, rest: float, unit: float, per_bit: float, table: Floats
) -> float:
    """Entropy, times the objects, after dividing the whole in two; the rest is a part of its own."""
    bits = _bits(below[0], below[1], unit, table)
    bits = bits + _bits(whole[0] - below[0], whole[1] - below[1], unit, table)
    return np.rint((bits + rest) * per_bit)  # type: ignore[no-any-return]


@inner_kernel
def _laplace(p: int, n: int, unit: float, n_classes: int) -> float:
    return (p * unit + 1.0) / ((p + n) * unit + n_classes) if p > 0 else 0.0


@inner_kernel
def _nothing(everything: Pair, criterion: Criterion) -> Best:
    """No test, with the score that a test has to exceed: that of the objects at hand."""
    n_classes, entropy, unit, per_bit, table = criterion
    p, n = everything
    score = (p * unit + 1.0) / ((p + n) * unit + n_classes)
    if entropy:
        score = -np.rint(_bits(p, n, unit, table) * per_bit)
    # Not literals: for these the compiler would do everything once more.
    best: Any = (score, np.int64(-1), np.bool_(True), np.int64(0))
    return best  # type: ignore[no-any-return]


@inner_kernel
def _laplace_score(
    below: Pair, whole: Pair, is_nominal: bool, unit: float, n_classes: int
) -> tuple[float, bool, int]:
    """Laplace estimate of a pair of tests, which of the two it is, and its positives."""
    p_above = whole[0] - below[0]
    score_below = _laplace(below[0], below[1], unit, n_classes)
    score_above = _laplace(p_above, whole[1] - below[1], unit, n_classes)
    if is_nominal or score_below > score_above:
        return score_below, True, below[0]
    return score_above, False, p_above


@inner_kernel
def _laplace_bound(
    low: Pair, high: Pair, whole: Pair, is_nominal: bool, unit: float, n_classes: int
) -> float:
    """An estimate that no test exceeds which has from `low` to `high` objects in the part below."""
    # At best all positives in between are on the side that is taken and all others opposite.
    below = _laplace(high[0], low[1], unit, n_classes)
    above = _laplace(whole[0] - low[0], whole[1] - high[1], unit, n_classes)
    return below if is_nominal else max(below, above)


@inner_kernel
def _entropy_score(
    below: Pair,
    whole: Pair,
    rest: float,
    is_nominal: bool,
    unit: float,
    per_bit: float,
    table: Floats,
) -> tuple[float, bool, int]:
    """Entropy of a pair of tests, negative, which of the two to take, and its positives."""
    p_above, n_above = whole[0] - below[0], whole[1] - below[1]
    taken = below[0] if is_nominal else max(below[0], p_above)
    grains = _grains(below, whole, rest, unit, per_bit, table)
    if below[0] + below[1] == 0 or p_above + n_above == 0 or taken == 0:
        grains = np.inf
    return -grains, taken == below[0], taken


@inner_kernel
def _entropy_bound(
    low: Pair, high: Pair, whole: Pair, rest: float, unit: float, per_bit: float, table: Floats
) -> float:
    """A score that no test exceeds which has from `low` to `high` objects in the part below."""
    # Entropy is concave, so its lowest value is in a corner; one grain for rounding.
    least = _grains(low, whole, rest, unit, per_bit, table)
    least = min(least, _grains(high, whole, rest, unit, per_bit, table))
    least = min(least, _grains((low[0], high[1]), whole, rest, unit, per_bit, table))
    least = min(least, _grains((high[0], low[1]), whole, rest, unit, per_bit, table))
    return 1.0 - least


@inner_kernel
def _better(found: tuple[float, bool, int], number: int, best: Best) -> Best:
    """Higher score, then more positives, then the earlier test; no test is only exceeded."""
    score, below, positives = found
    if score < best[0] or (score == best[0] and (best[1] < 0 or positives < best[3])):
        return best
    if score == best[0] and positives == best[3] and number > best[1]:
        return best
    return score, number, below, positives


@inner_kernel
def _whole(missing: int, is_nominal: bool, counts: Ints, everything: Pair) -> Pair:
    """What tests of an attribute divide: the objects with a known value, or all if it is nominal."""
    if is_nominal:
        return everything
    return everything[0] - counts[0, missing], everything[1] - counts[1, missing]


@inner_kernel
def _in_bins(
    j: int,
    bucket: int,
    layout: Ints,
    places: Places,
    objects: Objects,
    since: int,
    below: Pair,
    whole: Pair,
    rest: float,
    criterion: Criterion,
    best: Best,
) -> tuple[Best, float]:
    """Tests inside one bucket of an attribute; the best test then, and the highest score here."""
    n_classes, entropy, unit, per_bit, table = criterion
    starts, by_bin = places
    other, weight, at_hand = objects
    first, is_nominal, width = layout[j, FIRST_BIN], layout[j, NOMINAL] > 0, layout[j, WIDTH]
    highest = -np.inf
    for k in range(bucket << width, min((bucket + 1) << width, layout[j, N_TESTS])):
        p, n = 0, 0
        for place in range(starts[first + k], starts[first + k + 1]):
            i = by_bin[place]
            if at_hand[i] >= since:
                if other[i]:
                    n += weight[i]
                else:
                    p += weight[i]
        if p + n == 0 and k > 0:
            continue
        below = (p, n) if is_nominal else (below[0] + p, below[1] + n)
        if entropy:
            found = _entropy_score(below, whole, rest, is_nominal, unit, per_bit, table)
        else:
            found = _laplace_score(below, whole, is_nominal, unit, n_classes)
        highest = max(highest, found[0])
        best = _better(found, layout[j, FIRST_TEST] + k, best)
    return best, highest


@inner_kernel
def best_test(
    layout: Ints,
    counts: Ints,
    bounds: Floats,
    before: Ints,
    everything: Pair,
    criterion: Criterion,
    places: Places,
    objects: Objects,
    since: int,
) -> tuple[int, bool]:
    """The best test for the objects that are at hand since a step; -1 if none improves.

    `counts` are the positives and others of every bucket, `everything` those at hand; `before` is
    room for those before every group. `bounds` are scores that the tests of a group of buckets cannot
    exceed, as far as known; they are lowered here. A Laplace estimate can only fall as positives are
    taken away: for fewer positives and the same others the bounds stay valid.
    """
    n_classes, entropy, unit, per_bit, table = criterion
    positives, others = counts[0], counts[1]
    zero, rest = everything[0] * 0, 0.0
    promising, lead, highest = -1, 0, -np.inf
    for j in range(len(layout)):
        is_nominal, last = layout[j, NOMINAL] > 0, layout[j, LAST_GROUP]
        whole = _whole(last * GROUP, is_nominal, counts, everything)
        if entropy:
            rest = _bits(everything[0] - whole[0], everything[1] - whole[1], unit, table)
        low = (zero, zero)
        for group in range(layout[j, FIRST_GROUP], last):
            p, n = positives[group * GROUP], others[group * GROUP]
            for k in range(1, GROUP):
                p += positives[group * GROUP + k]
                n += others[group * GROUP + k]
            high = (low[0] + p, low[1] + n)
            if entropy:
                bound = _entropy_bound(low, high, whole, rest, unit, per_bit, table)
            else:
                bound = _laplace_bound(low, high, whole, is_nominal, unit, n_classes)
            bounds[group] = min(bounds[group], bound)
            if bounds[group] > highest:
                promising, lead, highest = group, j, bounds[group]
            before[0, group], before[1, group] = low
            if not is_nominal:
                low = high

    # The most promising group goes first, so that most others need no look.
    best = _nothing(everything, criterion)
    for turn in range(2):
        for j in range(lead if turn == 0 else 0, lead + 1 if turn == 0 else len(layout)):
            is_nominal, first, last = (
                layout[j, NOMINAL] > 0,
                layout[j, FIRST_GROUP],
                layout[j, LAST_GROUP],
            )
            whole = _whole(last * GROUP, is_nominal, counts, everything)
            if entropy:
                rest = _bits(everything[0] - whole[0], everything[1] - whole[1], unit, table)
            width, number, n_tests = layout[j, WIDTH], layout[j, FIRST_TEST], layout[j, N_TESTS]
            for group in range(first, last):
                if bounds[group] < best[0] or (group == promising) != (turn == 0):
                    continue
                highest = -np.inf
                low = (before[0, group], before[1, group])
                passed = (group - first) * GROUP
                for k in range(passed, min(passed + GROUP, ((n_tests - 1) >> width) + 1)):
                    p, n = positives[first * GROUP + k], others[first * GROUP + k]
                    if p + n == 0 and k > 0:
                        continue
                    high = (p, n) if is_nominal else (low[0] + p, low[1] + n)
                    if width > 0:
                        if entropy:
                            bound = _entropy_bound(low, high, whole, rest, unit, per_bit, table)
                        else:
                            bound = _laplace_bound(low, high, whole, is_nominal, unit, n_classes)
                        if bound >= best[0]:
                            best, bound = _in_bins(
                                j,
                                k,
                                layout,
                                places,
                                objects,
                                since,
                                low,
                                whole,
                                rest,
                                criterion,
                                best,
                            )
                        highest = max(highest, bound)
                    else:
                        if entropy:
                            found = _entropy_score(
                                high, whole, rest, is_nominal, unit, per_bit, table
                            )
                        else:
                            found = _laplace_score(high, whole, is_nominal, unit, n_classes)
                        highest = max(highest, found[0])
                        best = _better(found, number + k, best)
                    if not is_nominal:
                        low = high
                bounds[group] = highest
    return best[1], best[2]


@inner_kernel
def best_of_few(
    bins: Bins,
    rows: Rows,
    layout: Ints,
    objects: Objects,
    criterion: Criterion,
    keys: Ints,
) -> tuple[int, bool]:
    """The best test for at most `1 << FEW` objects; -1 if none improves. `keys` is room for as many.

    To sort them by bin, attribute by attribute, takes less time than to go through all buckets.
    """
    n_classes, entropy, unit, per_bit, table = criterion
    other, weight, _ = objects
    zero, rest = weight[0] * 0, 0.0
    p, n = zero, zero
    for i in rows:
        p += weight[i] * (not other[i])
        n += weight[i] * other[i]
    everything = (p, n)
    best = _nothing(everything, criterion)
    for j in range(len(layout)):
        is_nominal, first, end = layout[j, NOMINAL] > 0, layout[j, FIRST_BIN], layout[j, END_BIN]
        number, n_tests = layout[j, FIRST_TEST], layout[j, N_TESTS]
        p, n = zero, zero  # with a missing value
        for position in range(len(rows)):
            i = rows[position]
            own = bins[i, j]
            if own == end:
                p += weight[i] * (not other[i])
                n += weight[i] * other[i]
            key, place = (own << FEW) + position, position
            while place > 0 and keys[place - 1] > key:
                keys[place] = keys[place - 1]
                place -= 1
            keys[place] = key
        whole = everything if is_nominal else (everything[0] - p, everything[1] - n)
        if entropy:
            rest = _bits(everything[0] - whole[0], everything[1] - whole[1], unit, table)
        below, place, k = (zero, zero), 0, 0
        while k < n_tests:
            p, n = zero, zero
            while place < len(rows) and keys[place] >> FEW == first + k:
                i = rows[keys[place] & ((1 << FEW) - 1)]
                p += weight[i] * (not other[i])
                n += weight[i] * other[i]
                place += 1
            below = (p, n) if is_nominal else (below[0] + p, below[1] + n)
            if entropy:
                found = _entropy_score(below, whole, rest, is_nominal, unit, per_bit, table)
            else:
                found = _laplace_score(below, whole, is_nominal, unit, n_classes)
            best = _better(found, number + k, best)
            if place == len(rows):
                break
            k = (keys[place] >> FEW) - first
    return best[1], best[2]

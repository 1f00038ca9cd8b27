"""Row-weighting local search: good covers in microseconds a step, without any proof.

The weights of objects grow as long as these stay uncovered. Every step removes the candidate whose
loss weighs least and covers a random uncovered object by the allowed candidate of largest gain,
until the permitted number of candidates is reached again (Gao, Weise and Li, "An efficient local
search heuristic with row weighting for the unicost set covering problem", 2015). Whenever all
objects are covered, the cover is recorded and, unless the number of candidates is held, one
candidate less is permitted from then on.

Integers and an own random generator make runs reproducible on every machine.
"""

import sys
from typing import Any, NamedTuple

import numpy as np

from frri._compile import either, inner_kernel, kernel
from frri._util import Flags, Ints
from frri.cover.budget import Exhausted, Work
from frri.cover.matrix import CoverLists, shift

# Places of the numbers that a search keeps between two slices.
N_CHOSEN, N_UNCOVERED, PERMITTED, CLOCK, SEED, RECENT, BEST_COUNT, BEST_COST, COST, HELD, MOVES = (
    range(11)
)
# In covers of more than SAMPLED candidates, the one to remove is picked from a random sample.
SAMPLED, SAMPLE = 250, 60
# Steps between two checks of the limits, and the interpreted seconds of a step.
SLICE, STEP_SECONDS = 2500, 1e-4

# Not literals: each literal would compile a kernel once more.
ONE: Any = np.int64(1)
NOBODY: Any = np.int64(-1)
COSTLIER, CHEAPER = ONE, -ONE
HERE = sys.modules[__name__]


class Arrays(NamedTuple):
    """The state of a search, changed in place."""

    lists: CoverLists
    costs: Ints
    # Per object: its weight, the number of chosen candidates that cover it, the sum of their
    # indices (the coverer itself if there is one), and the last move of any of its coverers.
    weights: Ints
    times: Ints
    coverer_sum: Ints
    touched: Ints
    # Per candidate: gain outside the cover and minus loss inside, the last step and the last move
    # in which it left, and its place in `chosen`, -1 if it is outside.
    score: Ints
    stamp: Ints
    left: Ints
    place: Ints
    # The chosen candidates, the uncovered objects, and the place of each object among these.
    chosen: Ints
    uncovered: Ints
    where: Ints
    best: Ints  # the best cover so far
    numbers: Ints  # at `N_CHOSEN` and the other places


class LocalSearch:
    """A local search that can be continued.

    It starts from a complete cover. With `hold`, it looks for cheaper covers of that size instead
    of smaller ones. `weights` of the objects from an earlier search are changed in place.
    """

    def __init__(
        self,
        lists: CoverLists,
        costs: Ints,
        cover: Ints,
        *,
        hold: bool = False,
        weights: Ints | None = None,
    ) -> None:
        n, m = len(lists.objects_from) - 1, len(lists.coverers_from) - 1
        own = np.ones(m, dtype=np.int64) if weights is None else weights
        sums = np.concatenate(([0], np.cumsum(own[lists.objects])))
        numbers, best = np.zeros(11, dtype=np.int64), np.zeros(n, dtype=np.int64)
        numbers[[N_UNCOVERED, SEED, RECENT, HELD]] = m, 20_160_531, -1, hold
        numbers[[BEST_COUNT, BEST_COST]] = len(cover), costs[cover].sum()
        numbers[PERMITTED] = len(cover) if hold else len(cover) - 1
        best[: len(cover)] = cover
        times, coverer_sum, touched = np.zeros((3, m), dtype=np.int64)
        score = sums[lists.objects_from[1:]] - sums[lists.objects_from[:-1]]
        stamp, chosen = np.zeros((2, n), dtype=np.int64)
        left, place = np.full((2, n), -1, dtype=np.int64)
        uncovered, where = np.arange(m, dtype=np.int64), np.arange(m, dtype=np.int64)
        self.arrays = Arrays(
            *(lists, costs, own, times, coverer_sum, touched, score, stamp, left, place),
            *(chosen, uncovered, where, best, numbers),
        )

    def run(self, enough: int, work: Work, steps: int) -> None:
        """Take a number of steps, or fewer once the size (held: the cost) is `enough`."""
        lists, numbers = self.arrays.lists, self.arrays.numbers
        sizes, degree = np.diff(lists.objects_from), np.diff(lists.coverers_from)
        price = 3000 + 20 * int(sizes[self.cover()].mean()) + 60 * int(degree.mean())
        try:
            for start in range(0, steps, SLICE):
                if numbers[BEST_COST if numbers[HELD] else BEST_COUNT] <= enough:
                    break
                kernels = work.kernels(HERE, ahead=(steps - start) * STEP_SECONDS)
                now = min(SLICE, steps - start)
                kernels.search(self.arrays, now, enough)
                work.steps += now
                work.spend(now * price)
        except Exhausted:  # the cover found so far holds; the next slice of work will stop
            pass

    def cover(self) -> Ints:
        """Return the best cover so far, ascending."""
        return np.sort(self.arrays.best[: self.arrays.numbers[BEST_COUNT]])


@inner_kernel
def _may_return(candidate: int, arrays: Arrays) -> bool:
    """Return whether something has changed around a candidate since it left.

    This is configuration checking.
    """
    lists, left = arrays.lists, arrays.left[candidate]
    if left < 0:
        return True
    for k in range(lists.objects_from[candidate], lists.objects_from[candidate + 1]):
        if arrays.touched[lists.objects[k]] > left:
            return True
    return False


def _pick_interpreted(
    members: Ints, usable: Flags, but: int, score: Ints, price: Ints, sign: int, stamp: Ints
) -> int:
    able = members[usable[members] & (members != but)]
    if len(able) == 0:
        return -1
    merit = score[able]
    able = able[merit == merit.max()]
    if len(able) > 1:
        merit = sign * price[able]
        able = able[merit == merit.max()]
    if len(able) > 1:
        able = able[stamp[able] == stamp[able].min()]
    return int(able.min())


def _pick_loops(
    members: Ints, usable: Flags, but: int, score: Ints, price: Ints, sign: int, stamp: Ints
) -> int:
    best = -1
    for k in members:
        if not usable[k] or k == but:
            continue
        if best < 0 or score[k] > score[best]:
            best = k
        elif score[k] == score[best]:
            gain = sign * (price[k] - price[best])
            if gain > 0 or (
                gain == 0 and (stamp[k] < stamp[best] or (stamp[k] == stamp[best] and k < best))
            ):
                best = k
    return best


# Return the usable member of largest score, then price (times sign), then longest unmoved.
_pick = either(interpreted=_pick_interpreted, loops=_pick_loops, inner=True)


@inner_kernel
def _toggle(candidate: int, arrays: Arrays) -> None:
    """Add or remove a candidate; scores are gains outside the cover and minus losses inside."""
    lists, numbers, score, times = arrays.lists, arrays.numbers, arrays.score, arrays.times
    weights, coverer_sum, uncovered = arrays.weights, arrays.coverer_sum, arrays.uncovered
    chosen, place, where = arrays.chosen, arrays.place, arrays.where
    numbers[MOVES] += 1
    enters = place[candidate] < 0
    sign, own_times, own_sum = (1, 1, candidate) if enters else (-1, 0, 0)
    kept = -score[candidate]
    for k in range(lists.objects_from[candidate], lists.objects_from[candidate + 1]):
        i = lists.objects[k]
        members = lists.coverers[lists.coverers_from[i] : lists.coverers_from[i + 1]]
        arrays.touched[i] = numbers[MOVES]
        times[i] += sign
        coverer_sum[i] += sign * candidate
        n_others = times[i] - own_times
        if n_others == 0:
            shift(score, members, -sign * weights[i])
            numbers[N_UNCOVERED] -= sign
            if enters:
                last = uncovered[numbers[N_UNCOVERED]]
                uncovered[where[i]] = last
                where[last] = where[i]
            else:
                where[i] = numbers[N_UNCOVERED] - 1
                uncovered[where[i]] = i
        elif n_others == 1:
            score[coverer_sum[i] - own_sum] += sign * weights[i]
    score[candidate] = kept
    arrays.stamp[candidate] = numbers[CLOCK]
    numbers[COST] += sign * arrays.costs[candidate]
    if enters:
        chosen[numbers[N_CHOSEN]] = candidate
        place[candidate] = numbers[N_CHOSEN]
        numbers[N_CHOSEN] += 1
    else:
        arrays.left[candidate] = numbers[MOVES]
        numbers[N_CHOSEN] -= 1
        last = chosen[numbers[N_CHOSEN]]
        chosen[place[candidate]] = last
        place[last] = place[candidate]
        place[candidate] = -1


@kernel
def search(arrays: Arrays, steps: int, enough: int) -> None:  # noqa: C901, PLR0912 - one kernel
    """Take `steps` steps, or fewer once the size (with the size held: the cost) is `enough`."""
    lists, numbers, score, stamp = arrays.lists, arrays.numbers, arrays.score, arrays.stamp
    costs, chosen = arrays.costs, arrays.chosen
    usable = np.ones(len(costs), dtype=np.bool_)
    sample = np.empty(SAMPLE, dtype=np.int64)
    if numbers[CLOCK] == 0:
        for k in range(numbers[BEST_COUNT]):
            _toggle(arrays.best[k], arrays)
    end = numbers[CLOCK] + steps
    while numbers[CLOCK] < end:
        numbers[CLOCK] += 1
        removals = 1
        if numbers[N_UNCOVERED] == 0:
            size = numbers[N_CHOSEN]
            if size < numbers[BEST_COUNT] or (
                size == numbers[BEST_COUNT] and numbers[COST] < numbers[BEST_COST]
            ):
                numbers[BEST_COUNT] = size
                numbers[BEST_COST] = numbers[COST]
                np.positive(chosen[:size], arrays.best[:size])
            if (numbers[COST] if numbers[HELD] else size) <= enough:
                return
            numbers[PERMITTED] = size if numbers[HELD] else size - 1
            removals = 2
        for _ in range(min(removals, numbers[N_CHOSEN])):
            members = chosen[: numbers[N_CHOSEN]]
            if len(members) > SAMPLED:
                for k in range(SAMPLE):
                    numbers[SEED] = numbers[SEED] * 48271 % 2147483647
                    sample[k] = members[numbers[SEED] % len(members)]
                members = sample
            leaves = _pick(members, usable, numbers[RECENT], score, costs, COSTLIER, stamp)
            if leaves >= 0:
                _toggle(leaves, arrays)
        while numbers[N_CHOSEN] < numbers[PERMITTED] and numbers[N_UNCOVERED] > 0:
            numbers[SEED] = numbers[SEED] * 48271 % 2147483647
            i = arrays.uncovered[numbers[SEED] % numbers[N_UNCOVERED]]
            members = lists.coverers[lists.coverers_from[i] : lists.coverers_from[i + 1]]
            enters = _pick(members, usable, NOBODY, score, costs, CHEAPER, stamp)
            best = enters
            while enters >= 0 and not _may_return(enters, arrays):
                usable[enters] = False
                enters = _pick(members, usable, NOBODY, score, costs, CHEAPER, stamp)
            if enters != best:
                usable[members] = True
            if enters < 0:
                enters = best
            _toggle(enters, arrays)
            numbers[RECENT] = enters
        for k in range(numbers[N_UNCOVERED]):
            i = arrays.uncovered[k]
            arrays.weights[i] += 1
            shift(score, lists.coverers[lists.coverers_from[i] : lists.coverers_from[i + 1]], ONE)

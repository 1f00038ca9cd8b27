"""Row-weighting local search: good covers in microseconds a step, without any proof.

Objects that stay uncovered grow in weight. Every step takes out the candidate whose loss weighs least and
covers a random uncovered object by the allowed candidate of largest gain, until the permitted number of
candidates is reached again (Gao, Weise and Li, "An efficient local search heuristic with row weighting
for the unicost set covering problem", 2015). Whenever everything is covered, the cover is noted and,
unless the number of candidates is held, one candidate less is permitted from then on.

Whole numbers and a generator of its own make runs reproducible on every machine.
"""

from typing import Any

import numpy as np

from frri._compile import either, inner_kernel, kernel
from frri._util import Flags, Ints
from frri.cover.matrix import CoverLists, shift

N_CHOSEN, N_UNCOVERED, PERMITTED, CLOCK, SEED, RECENT, BEST_COUNT, BEST_COST, COST, HELD, MOVES = (
    range(11)
)
"""Where a search keeps its numbers between two slices."""

SAMPLED, SAMPLE = 250, 60
"""From covers of more than so many candidates the one to leave is picked from a random sample."""

# Not literals: for each of these the compiler would do everything once more.
ONE: Any = np.int64(1)
NOBODY: Any = np.int64(-1)
DEARER, CHEAPER = ONE, -ONE


class State:
    """Everything a slice of the search reads and writes, as arrays.

    Parameters
    ----------
    lists : CoverLists
    costs : ndarray of int64
    cover : ndarray of int64
        The complete cover to start from.
    hold : bool
        Look for cheaper covers of that size instead of smaller ones.
    weights : ndarray of int64, optional
        Of the objects, from an earlier search; 1 each if left out. They go on growing.
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
        self.lists = lists
        self.costs = costs
        self.weights = np.ones(m, dtype=np.int64) if weights is None else weights
        self.count = np.zeros(m, dtype=np.int64)
        self.who = np.zeros(m, dtype=np.int64)  # sum of the chosen coverers: the coverer if single
        sums = np.concatenate(([0], np.cumsum(self.weights[lists.objects])))
        self.score = sums[lists.objects_from[1:]] - sums[lists.objects_from[:-1]]
        self.stamp = np.zeros(n, dtype=np.int64)
        self.left = np.full(n, -1, dtype=np.int64)  # the move by which a candidate left
        self.touched = np.zeros(m, dtype=np.int64)  # the last move of a coverer of each object
        self.chosen = np.zeros(n, dtype=np.int64)  # a list, with the place of every candidate in it
        self.place = np.full(n, -1, dtype=np.int64)
        self.uncovered = np.arange(m, dtype=np.int64)
        self.where = np.arange(m, dtype=np.int64)
        self.numbers = np.zeros(11, dtype=np.int64)
        self.numbers[[N_UNCOVERED, SEED, RECENT]] = m, 20_160_531, -1
        self.numbers[BEST_COUNT] = len(cover)
        self.numbers[BEST_COST] = costs[cover].sum()
        self.numbers[PERMITTED] = len(cover) if hold else len(cover) - 1
        self.numbers[HELD] = hold
        self.noted = np.zeros(n, dtype=np.int64)
        self.noted[: len(cover)] = cover

    def arrays(self) -> tuple[Any, ...]:
        """The arguments of `search`, in its order."""
        return (
            self.lists.objects_from,
            self.lists.objects,
            self.lists.coverers_from,
            self.lists.coverers,
            self.costs,
            self.weights,
            self.count,
            self.who,
            self.score,
            self.stamp,
            self.left,
            self.touched,
            self.chosen,
            self.place,
            self.uncovered,
            self.where,
            self.noted,
            self.numbers,
        )

    @property
    def reached(self) -> int:
        """The size of the best cover or, with the size held, its cost."""
        return int(self.numbers[BEST_COST if self.numbers[HELD] else BEST_COUNT])

    def cover(self) -> Ints:
        """The best cover noted so far, ascending."""
        return np.sort(self.noted[: self.numbers[BEST_COUNT]])


@inner_kernel
def _may_return(
    candidate: int, objects_from: Ints, objects: Ints, left: Ints, touched: Ints
) -> bool:
    """Whether something has changed around a candidate since it left (configuration checking)."""
    if left[candidate] < 0:
        return True
    for k in range(objects_from[candidate], objects_from[candidate + 1]):
        if touched[objects[k]] > left[candidate]:
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


_pick = either(interpreted=_pick_interpreted, loops=_pick_loops, inner=True)
"""Of the usable members the one of largest score, then price (times sign), then longest unmoved."""


@inner_kernel
def _toggle(
    candidate: int,
    objects_from: Ints,
    objects: Ints,
    coverers_from: Ints,
    coverers: Ints,
    costs: Ints,
    weights: Ints,
    count: Ints,
    who: Ints,
    score: Ints,
    stamp: Ints,
    left: Ints,
    touched: Ints,
    chosen: Ints,
    place: Ints,
    uncovered: Ints,
    where: Ints,
    numbers: Ints,
) -> None:
    """Take a candidate in or out; scores are gains outside the cover and minus losses inside."""
    numbers[MOVES] += 1
    enters = place[candidate] < 0
    score[candidate] = -score[candidate]
    kept = score[candidate]
    for k in range(objects_from[candidate], objects_from[candidate + 1]):
        i = objects[k]
        members = coverers[coverers_from[i] : coverers_from[i + 1]]
        touched[i] = numbers[MOVES]
        if enters:
            if count[i] == 0:
                shift(score, members, -weights[i])
                numbers[N_UNCOVERED] -= 1
                last = uncovered[numbers[N_UNCOVERED]]
                uncovered[where[i]] = last
                where[last] = where[i]
            elif count[i] == 1:
                score[who[i]] += weights[i]
            count[i] += 1
            who[i] += candidate
        else:
            count[i] -= 1
            who[i] -= candidate
            if count[i] == 0:
                shift(score, members, weights[i])
                uncovered[numbers[N_UNCOVERED]] = i
                where[i] = numbers[N_UNCOVERED]
                numbers[N_UNCOVERED] += 1
            elif count[i] == 1:
                score[who[i]] -= weights[i]
    score[candidate] = kept
    stamp[candidate] = numbers[CLOCK]
    if enters:
        chosen[numbers[N_CHOSEN]] = candidate
        place[candidate] = numbers[N_CHOSEN]
        numbers[N_CHOSEN] += 1
        numbers[COST] += costs[candidate]
    else:
        left[candidate] = numbers[MOVES]
        numbers[N_CHOSEN] -= 1
        last = chosen[numbers[N_CHOSEN]]
        chosen[place[candidate]] = last
        place[last] = place[candidate]
        place[candidate] = -1
        numbers[COST] -= costs[candidate]


@kernel
def search(  # noqa: C901, PLR0912 - one loop, all in one kernel
    objects_from: Ints,
    objects: Ints,
    coverers_from: Ints,
    coverers: Ints,
    costs: Ints,
    weights: Ints,
    count: Ints,
    who: Ints,
    score: Ints,
    stamp: Ints,
    left: Ints,
    touched: Ints,
    chosen: Ints,
    place: Ints,
    uncovered: Ints,
    where: Ints,
    noted: Ints,
    numbers: Ints,
    steps: int,
    enough: int,
) -> None:
    """One slice of the search: `steps` steps, or fewer once the size (held: cost) is `enough`."""
    usable = np.ones(len(left), dtype=np.bool_)
    sample = np.empty(SAMPLE, dtype=np.int64)
    if numbers[CLOCK] == 0:
        for k in range(numbers[BEST_COUNT]):
            _toggle(
                noted[k], objects_from, objects, coverers_from, coverers, costs, weights, count, who,
                score, stamp, left, touched, chosen, place, uncovered, where, numbers,
            )  # fmt: skip
    end = numbers[CLOCK] + steps
    while numbers[CLOCK] < end:
        numbers[CLOCK] += 1
        takes_out = 1
        if numbers[N_UNCOVERED] == 0:
            size = numbers[N_CHOSEN]
            if size < numbers[BEST_COUNT] or (
                size == numbers[BEST_COUNT] and numbers[COST] < numbers[BEST_COST]
            ):
                numbers[BEST_COUNT] = size
                numbers[BEST_COST] = numbers[COST]
                np.positive(chosen[:size], noted[:size])
            if (numbers[COST] if numbers[HELD] else size) <= enough:
                return
            numbers[PERMITTED] = size if numbers[HELD] else size - 1
            takes_out = 2
        for _ in range(min(takes_out, numbers[N_CHOSEN])):
            members = chosen[: numbers[N_CHOSEN]]
            if len(members) > SAMPLED:
                for k in range(SAMPLE):
                    numbers[SEED] = numbers[SEED] * 48271 % 2147483647
                    sample[k] = members[numbers[SEED] % len(members)]
                members = sample
            leaves = _pick(members, usable, numbers[RECENT], score, costs, DEARER, stamp)
            if leaves >= 0:
                _toggle(
                    leaves, objects_from, objects, coverers_from, coverers, costs, weights, count, who,
                    score, stamp, left, touched, chosen, place, uncovered, where, numbers,
                )  # fmt: skip
        while numbers[N_CHOSEN] < numbers[PERMITTED] and numbers[N_UNCOVERED] > 0:
            numbers[SEED] = numbers[SEED] * 48271 % 2147483647
            i = uncovered[numbers[SEED] % numbers[N_UNCOVERED]]
            members = coverers[coverers_from[i] : coverers_from[i + 1]]
            enters = _pick(members, usable, NOBODY, score, costs, CHEAPER, stamp)
            best, ruled_out = enters, 0
            while enters >= 0 and not _may_return(enters, objects_from, objects, left, touched):
                usable[enters] = False
                ruled_out += 1
                enters = _pick(members, usable, NOBODY, score, costs, CHEAPER, stamp)
            if ruled_out:
                usable[members] = True
            if enters < 0:
                enters = best
            _toggle(
                enters, objects_from, objects, coverers_from, coverers, costs, weights, count, who,
                score, stamp, left, touched, chosen, place, uncovered, where, numbers,
            )  # fmt: skip
            numbers[RECENT] = enters
        for k in range(numbers[N_UNCOVERED]):
            i = uncovered[k]
            weights[i] += 1
            shift(score, coverers[coverers_from[i] : coverers_from[i + 1]], ONE)

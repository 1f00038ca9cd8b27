"""Every minimal rule of a sample, and a shortest one.

A rule of a sample is a set of sides of its box that keeps out all samples of other classes. Each of
these makes a *clause*: the sides beyond which it lies. A set of sides is a rule if it is a hitting
set: it has a side of every clause. It is a minimal one if none of its sides can go: then it is a
prime implicant of the sample's discernibility function, in terms of rough set theory. Shortening
(`frri.induction.induce`) finds one of them, which depends on the order of the features. All pairs
of samples are compared, so that this is for tables of thousands of samples.

Side 2a bounds feature `a` above, side 2a + 1 below. A rigid feature has both sides or none; its
first side stands for both.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from frri._util import Flags, Floats, Ints, Types
from frri.cover import minimum_cover
from frri.cover.matrix import CoverMatrix, packed
from frri.induction import TOLERANCE, ConditionType
from frri.induction.class_layout import ClassLayout

# Choices that are tried, in about a tenth of a second, before a general solver takes over.
MOST = 20_000


class MinimalRules(NamedTuple):
    """Result of `all_minimal`: many candidate rules per sample, and the samples they cover."""

    anchors: Ints  # sample of each candidate
    types: Types
    covers: CoverMatrix
    incomplete: Ints  # samples with more minimal rules


def shortest(
    values: ArrayLike,
    classes: ArrayLike,
    confidence: ArrayLike,
    *,
    initial: ArrayLike | None = None,
    rigid: ArrayLike | None = None,
) -> Types:
    """Return the condition types of a rule of every sample with the fewest conditions.

    Among these one with the fewest sides, and among those one fixed by the order of the features: a
    minimum set cover of the samples of other classes. Arguments are as for
    `frri.induction.induce`; a sample with a confidence below the tolerance uses no feature.

    Examples
    --------
    >>> values, classes = [[0.0, 0.2], [0.5, 0.0], [0.1, 1.0]], [0, 1, 1]
    >>> shortest(values, classes, [0.5, 0.5, 0.8])
    array([[1, 1],
           [2, 0],
           [0, 2]], dtype=int8)
    """
    boxes = _Boxes(ClassLayout(values, classes, initial, rigid), classes, confidence)
    types = np.zeros(boxes.layout.points.shape, dtype=np.int8)
    for u in np.flatnonzero(boxes.limits >= 0).tolist():
        clauses = boxes.clauses(u)
        sides = cheapest_choice(clauses)
        if sides is None:
            types[u] = _minimum_cover_types(clauses)
        else:
            for side in sides:
                types[u, side // 2] |= side % 2 + 1
    return boxes.declared(types)


def _minimum_cover_types(clauses: Flags) -> Types:
    """Return the types of a shortest rule, as a minimum cover of its clauses."""
    n_features = clauses.shape[1] // 2
    above, below = clauses[:, ::2].T, clauses[:, 1::2].T
    # Both sides at once are one condition; as two candidates they would be two.
    kept_out = np.stack((above, below, above | below), axis=1)
    covers = CoverMatrix.from_dense(kept_out.reshape(3 * n_features, len(clauses)))
    chosen = minimum_cover(covers, np.tile([1, 1, 2], n_features)).selected
    types = np.zeros(n_features, dtype=np.int8)
    types[chosen // 3] = chosen % 3 + 1
    return types


def all_minimal(
    values: ArrayLike,
    classes: ArrayLike,
    confidence: ArrayLike,
    types: ArrayLike,
    *,
    limit: int,
    initial: ArrayLike | None = None,
    rigid: ArrayLike | None = None,
) -> MinimalRules:
    """Return all minimal rules of every sample, up to a limit, and the samples they cover.

    If a sample has more rules than the limit, those that leave out few samples of its own class are
    searched first.

    Arguments are as for `frri.induction.induce`; `types` has a minimal rule of every sample, which
    is included whatever the limit. Candidates are ordered by sample, that of `types` first. Of
    candidates that cover the same samples only one with the fewest conditions is kept, and none
    that covers nothing. Bits are those of `frri.induction.induce`.

    Examples
    --------
    >>> values, classes = [[0.0, 0.0], [0.25, 0.5], [1.0, 1.0]], [0, 0, 1]
    >>> found = all_minimal(values, classes, [1.0, 0.75, 0.75], [[1, 0], [1, 0], [2, 0]], limit=10)
    >>> found.anchors, found.types.tolist()
    (array([0, 2]), [[1, 0], [2, 0]])
    """
    layout = ClassLayout(values, classes, initial, rigid)
    boxes = _Boxes(layout, classes, confidence)
    given = np.asarray(types, dtype=np.int8)
    # By first word and words covered: length, sample and sides of the shortest rule.
    kept: dict[tuple[int, bytes], tuple[int, int, Flags]] = {}
    incomplete = []
    for u in np.flatnonzero(boxes.limits > 0).tolist():
        clauses, inside = boxes.clauses(u), boxes.inside(u)
        preference = np.argsort(-inside.sum(axis=1), kind="stable")
        choices = list(islice(minimal_choices(clauses, preference), limit + 1))
        if len(choices) > limit:
            incomplete.append(u)
        own = boxes.sides(given[u])
        others = [choice for choice in choices[:limit] if set(choice) != set(np.flatnonzero(own))]
        rules = np.zeros((1 + len(others[: limit - 1]), clauses.shape[1]), dtype=np.bool_)
        rules[0] = own
        for rule, choice in zip(rules[1:], others, strict=False):
            rule[choice] = True
        first = layout.first_word[boxes.classes[u]]
        # The samples of the class that are inside all sides of each rule.
        everybody = packed(np.ones((1, inside.shape[1]), dtype=np.bool_))
        within = np.where(rules[:, :, None], packed(inside), everybody)
        for rule, words in zip(rules, np.bitwise_and.reduce(within, axis=1), strict=True):
            length = int((rule[::2] | rule[1::2]).sum())
            key = first, words.tobytes()
            if key not in kept or kept[key][0] > length:
                kept.pop(key, None)  # the new one comes last
                kept[key] = length, u, rule
    sides = np.array([rule for *_, rule in kept.values()], dtype=np.bool_)
    sides = sides.reshape(len(kept), 2 * len(layout.columns))
    found = boxes.declared(sides[:, ::2] + 2 * sides[:, 1::2].astype(np.int8))
    anchors = np.array([u for _, u, _ in kept.values()], dtype=np.int64)
    covers = _cover_matrix(list(kept), 64 * layout.first_word[-1])
    return MinimalRules(anchors, found, covers, np.array(incomplete, dtype=np.int64))


def _cover_matrix(keys: list[tuple[int, bytes]], n_bits: int) -> CoverMatrix:
    """Return the covers of candidates, each with its first word and the words from there on."""
    bits = np.frombuffer(b"".join(content for _, content in keys), dtype=np.uint64)
    lengths = [len(content) // 8 for _, content in keys]
    ends = np.cumsum([0, *lengths])
    starts = np.array([first for first, _ in keys], dtype=np.int64) - ends[:-1]
    places = (np.arange(len(bits)) + np.repeat(starts, lengths)).astype(np.int32)
    everything = np.full(n_bits // 64, ~np.uint64(0))
    return CoverMatrix(ends, places, bits, n_bits).within(everything)


class _Boxes:
    """The sides of every sample's box: which samples of other classes and its own are beyond."""

    def __init__(self, layout: ClassLayout, classes: ArrayLike, confidence: ArrayLike) -> None:
        self.layout = layout
        self.limits: Floats = np.asarray(confidence, dtype=np.float64) - TOLERANCE
        self.classes = np.asarray(classes)

    def clauses(self, u: int) -> Flags:
        """Return the sides beyond which each sample of another class lies, without supersets.

        Short clauses come first.
        """
        difference = self.layout.points - self.layout.points[self.layout.rows[u]]
        limit = self.limits[u]
        sides = self._by_side(difference > limit, difference < -limit)
        sides = np.delete(sides, self._own(u), axis=0)
        words = packed(sides)
        sizes = np.bitwise_count(words).sum(axis=1)
        left = np.lexsort((*words.T, sizes))
        kept = []
        while len(left):
            first = words[left[0]]
            kept.append(left[0])
            left = left[((words[left] & first) != first).any(axis=1)]
        return sides[kept]

    def inside(self, u: int) -> Flags:
        """Return sides x samples of its class, in the order of rows: who is not beyond a side."""
        difference = self.layout.points[self._own(u)] - self.layout.points[self.layout.rows[u]]
        limit = self.limits[u]
        return ~self._by_side(difference >= limit, difference <= -limit).T

    def sides(self, types: Types) -> Flags:
        """Return the sides of a rule."""
        (sides,) = self._by_side((types[None] & 1) > 0, (types[None] & 2) > 0)
        return np.asarray(sides)

    def declared(self, types: Types) -> Types:
        """Return types with both sides for rigid features."""
        return np.where(self.layout.rigid & (types > 0), np.int8(ConditionType.SIMILAR), types)

    def _own(self, u: int) -> slice:
        """Return the rows of its class."""
        code = self.classes[u]
        return slice(self.layout.first_row[code], self.layout.first_row[code + 1])

    def _by_side(self, above: Flags, below: Flags) -> Flags:
        """Return two tables of features as one of sides, as far as boxes may have them."""
        above &= (self.layout.initial & 1) > 0
        below &= (self.layout.initial & 2) > 0
        above |= below & self.layout.rigid
        below &= ~self.layout.rigid
        return np.stack((above, below), axis=2).reshape(len(above), 2 * above.shape[1])


# --- Hitting sets
def cheapest_choice(clauses: Flags, most: int = MOST) -> tuple[int, ...] | None:
    """Return sides that hit all clauses with the fewest features, and of these the fewest sides.

    The search takes the first clause not hit yet and tries its sides in turn, those that hit most
    clauses first; a side that was tried is not used by those tried after it. It leaves a choice
    that cannot become cheaper than the best one known.

    Clauses x sides state which sides hit each clause: at least one. Short clauses should come
    first. None is returned if the search tries more than `most` choices.

    Examples
    --------
    >>> cheapest_choice(np.array([[1, 0, 1, 0], [0, 1, 0, 1], [0, 1, 1, 0]], dtype=bool))
    (1, 0)
    """
    search = _CheapestSearch(clauses)
    best = search.greedy()
    waiting = [search.nothing]
    for _ in range(most):
        if not waiting:
            return best.sides
        choice = waiting.pop()
        if search.bound(choice, best.cost) >= best.cost:
            continue
        if choice.clauses:
            waiting += search.longer(choice)
        else:
            best = choice
    return None


class _Choice(NamedTuple):
    """Some sides, their cost, and what is left; sets are bits of integers."""

    clauses: int  # not hit yet
    features: int  # used
    cost: int
    sides: tuple[int, ...]
    tried: int  # sides that are not to be used


class _CheapestSearch:
    """The choices of sides that hit some clauses."""

    def __init__(self, clauses: Flags) -> None:
        n_clauses, n_sides = clauses.shape
        self.hit = _as_integers(clauses.T)
        self.nothing = _Choice((1 << n_clauses) - 1, 0, 0, (), 0)
        # A feature costs more than all sides together.
        self.price = n_sides + 1
        self.sides = [
            sorted(np.flatnonzero(clause).tolist(), key=lambda side: -self.hit[side].bit_count())
            for clause in clauses
        ]
        # The features of each clause, and the clauses that have any of them.
        either = clauses[:, ::2] | clauses[:, 1::2]
        self.features = _as_integers(either)
        self.related = _as_integers(either.astype(np.intp) @ either.T > 0)

    def greedy(self) -> _Choice:
        """Choose sides that hit most clauses one by one, in ties those of used features."""
        choice = self.nothing
        while choice.clauses:
            left, used = choice.clauses, choice.features
            gains = [
                ((hit & left).bit_count(), used >> (side >> 1) & 1)
                for side, hit in enumerate(self.hit)
            ]
            choice = self.with_side(choice, gains.index(max(gains)), 0)
        return choice

    def with_side(self, choice: _Choice, side: int, tried: int) -> _Choice:
        """Return a choice with one more side."""
        feature = 1 << (side >> 1)
        cost = choice.cost + (1 if choice.features & feature else 1 + self.price)
        left, features = choice.clauses & ~self.hit[side], choice.features | feature
        return _Choice(left, features, cost, (*choice.sides, side), tried)

    def bound(self, choice: _Choice, enough: int) -> int:
        """Return what a choice costs at least: clauses without a common feature need a side each.

        The sum ends as soon as it is `enough`.
        """
        left, least = choice.clauses, choice.cost
        while left and least < enough:
            clause = _lowest(left)
            least += 1 if self.features[clause] & choice.features else 1 + self.price
            left &= ~self.related[clause]
        return least

    def longer(self, choice: _Choice) -> list[_Choice]:
        """Return the choice with each side of its first clause not hit, the first one last."""
        tried, found = choice.tried, []
        for side in self.sides[_lowest(choice.clauses)]:
            if not tried >> side & 1:
                found.append(self.with_side(choice, side, tried))
                tried |= 1 << side
        return found[::-1]


def minimal_choices(clauses: Flags, preference: Ints) -> Iterator[list[int]]:
    """Yield all minimal choices of sides that hit all clauses (Murakami and Uno's MMCS).

    A choice is minimal if every side in it is *critical*: the only one chosen that hits some
    clause. The search takes the first clause not hit yet and tries its sides in turn; a side that
    was tried may be used again only by those tried after it, so that no choice is found twice. A
    choice in which some side has ceased to be critical cannot become minimal again.

    Sides are tried in the order of `preference`.

    Examples
    --------
    >>> clauses = np.array([[True, True, False], [False, True, True]])
    >>> list(minimal_choices(clauses, np.arange(3)))
    [[0, 2], [1]]
    """
    hit = _as_integers(clauses.T)
    sides = [[side for side in preference.tolist() if clause[side]] for clause in clauses]

    def search(left: int, free: int, chosen: list[int], critical: list[int]) -> Iterator[list[int]]:
        if not left:
            yield chosen
            return
        own = [side for side in sides[_lowest(left)] if free >> side & 1]
        for side in own:
            free &= ~(1 << side)
        for side in own:
            still = [some & ~hit[side] for some in critical]
            if all(still):
                still.append(left & hit[side])
                yield from search(left & ~hit[side], free, [*chosen, side], still)
            free |= 1 << side

    return search((1 << len(clauses)) - 1, (1 << clauses.shape[1]) - 1, [], [])


def _as_integers(rows: Flags) -> list[int]:
    """Return rows of flags as integers, flag `i` as bit `i`."""
    octets = np.packbits(rows, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in octets]


def _lowest(bits: int) -> int:
    """Return the position of the lowest bit set."""
    return (bits & -bits).bit_length() - 1

"""Every minimal rule of an object, a shortest one, and how much each attribute discerns.

A rule of an object is a set of sides of its box that keeps all enemies out. Each enemy makes a
*clause*: the sides beyond which it lies. A set of sides is a rule if it has a side of every clause, and
a minimal one if none of its sides can go: then it is a prime implicant of the object's discernibility
function, as rough set theory says. Shortening (`frri.induction.shorten`) finds one of them, which one
by the order of the attributes. All pairs of enemies are looked at, so this is for tables of thousands
of objects.

Sides have numbers: 2a bounds attribute `a` above, 2a + 1 below. A rigid attribute has both sides or
none; its first number stands for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frri._compile import compiled, pays
from frri.cover import minimum_cover
from frri.cover.matrix import CoverMatrix, packed
from frri.induction import TOLERANCE, ConditionType, hitting_set
from frri.induction.layout import ClassLayout
from frri.induction.numpy_backend import Ranking

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from frri._util import Flags, Floats, Ints, Types

# Objects x attributes from which it pays to compile the search and, where an earlier process has left
# it compiled, to load it.
COMPILED_FROM = 20_000
LOADED_FROM = 4_000


class MinimalRules(NamedTuple):
    """What `all_minimal` returns: many candidate rules per object, and what each of them covers."""

    anchors: Ints  # the object of each candidate
    types: Types
    covers: CoverMatrix
    incomplete: Ints  # the objects that have more minimal rules


def discerning_power(
    values: ArrayLike,
    classes: ArrayLike,
    confidence: ArrayLike,
    *,
    initial: ArrayLike | None = None,
) -> Ints:
    """How many enemies each attribute discerns from each object.

    Parameters
    ----------
    values, classes, confidence, initial : array-like
        As for `frri.induction.shorten`.

    Returns
    -------
    ndarray of int64, shape (n_objects, n_attributes)
        How many enemies fail the condition of that attribute, with all the sides that it may have, by
        more than the object's confidence, less the tolerance. An object with a confidence below the
        tolerance has no rule, and nothing discerns it.

    Examples
    --------
    >>> values, classes = [[0.0, 0.5], [0.25, 0.5], [1.0, 0.0], [1.0, 1.0]], [0, 0, 1, 1]
    >>> discerning_power(values, classes, [1.0, 0.75, 0.75, 0.75])
    array([[2, 0],
           [2, 0],
           [2, 0],
           [2, 0]])
    """
    layout = ClassLayout(values, classes, initial)
    limits = np.asarray(confidence, dtype=np.float64)[layout.samples] - TOLERANCE
    ranking = Ranking(layout.columns, layout.missing)
    n_attributes, n_rows = layout.columns.shape
    known = np.full((n_attributes, 1), n_rows)
    beyond = ranking.count(limits, inclusive=True)
    below = ranking.count(-limits, inclusive=False)
    if layout.missing is not None:
        known -= layout.missing.sum(axis=1, keepdims=True)  # the others rank last
        beyond = np.where(layout.missing, known, beyond)
    beyond = np.where(layout.initial[:, None] & 1, beyond, known)
    below = np.where(layout.initial[:, None] & 2, below, 0)
    power = np.empty((n_rows, n_attributes), dtype=np.int64)
    for start, end in zip(layout.first_row[:-1], layout.first_row[1:], strict=True):
        enemies = np.ones((n_attributes, n_rows + 1), dtype=np.int64)
        enemies[:, 0] = 0
        np.put_along_axis(enemies, 1 + ranking.ranks[:, start:end], 0, axis=1)
        np.cumsum(enemies, axis=1, out=enemies)
        above = np.take_along_axis(enemies, known, axis=1)
        above = above - np.take_along_axis(enemies, beyond[:, start:end], axis=1)
        power[start:end] = (above + np.take_along_axis(enemies, below[:, start:end], axis=1)).T
    power[limits < 0] = 0
    return layout.by_sample(power)


def shortest(
    values: ArrayLike,
    classes: ArrayLike,
    confidence: ArrayLike,
    *,
    initial: ArrayLike | None = None,
    rigid: ArrayLike | None = None,
) -> Types:
    """A rule of every object than which none has fewer conditions.

    Among these one with the fewest sides, and among those one fixed by the order of the attributes: a
    minimum set cover of the enemies for each object.

    Parameters
    ----------
    values, classes, confidence, initial, rigid : array-like
        As for `frri.induction.shorten`.

    Returns
    -------
    ndarray of int8, shape (n_objects, n_attributes)
        Codes of `ConditionType`. An object with a confidence below the tolerance uses no attribute.

    Examples
    --------
    >>> values, classes = [[0.0, 0.2], [0.5, 0.0], [0.1, 1.0]], [0, 1, 1]
    >>> shortest(values, classes, [0.5, 0.5, 0.8])
    array([[1, 1],
           [2, 0],
           [0, 2]], dtype=int8)
    """
    boxes = _Boxes(values, classes, confidence, initial, rigid)
    types = np.zeros(boxes.shape, dtype=np.int8)
    for u in np.flatnonzero(boxes.limits >= 0).tolist():
        clauses = boxes.clauses(u)
        sides = hitting_set.cheapest_choice(clauses)
        if sides is None:
            types[u] = _by_cover(clauses)
        else:
            for side in sides:
                types[u, side // 2] |= side % 2 + 1
    return boxes.declared(types)


def _by_cover(clauses: Flags) -> Types:
    """The types of a shortest rule, as a minimum cover of its clauses."""
    n_attributes = clauses.shape[1] // 2
    above, below = clauses[:, ::2].T, clauses[:, 1::2].T
    # Both sides at once are one condition; as two candidates they would be two.
    kept_out = np.stack((above, below, above | below), axis=1)
    covers = CoverMatrix.from_dense(kept_out.reshape(3 * n_attributes, len(clauses)))
    chosen = minimum_cover(covers, np.tile([1, 1, 2], n_attributes)).selected
    types = np.zeros(n_attributes, dtype=np.int8)
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
    """All minimal rules of every object, up to a limit, and what they cover.

    Where an object has more rules than the limit, those are looked for first that leave few objects of
    its own class out.

    Parameters
    ----------
    values, classes, confidence, initial, rigid : array-like
        As for `frri.induction.shorten`.
    types : array-like of int, shape (n_objects, n_attributes)
        A minimal rule of every object, as `shorten` or `shortest` gives it: there whatever the limit.
    limit : int
        The most rules of one object.

    Returns
    -------
    MinimalRules
        `anchors`, `types` and `covers` of the candidates, ordered by object, that of `types` first. Of
        candidates that cover the same objects only one with the fewest conditions is there, and none
        that covers nothing. Bits stand for objects as in `frri.induction.covers`.

    Examples
    --------
    >>> values, classes = [[0.0, 0.0], [0.25, 0.5], [1.0, 1.0]], [0, 0, 1]
    >>> found = all_minimal(values, classes, [1.0, 0.75, 0.75], [[1, 0], [1, 0], [2, 0]], limit=10)
    >>> found.anchors, found.types.tolist()
    (array([0, 2]), [[1, 0], [2, 0]])
    """
    boxes = _Boxes(values, classes, confidence, initial, rigid)
    given = np.asarray(types, dtype=np.int8)
    worth = pays(hitting_set, given.size, compiled_from=COMPILED_FROM, loaded_from=LOADED_FROM)
    search = compiled(hitting_set) if worth else hitting_set
    pool = _Pool(boxes)
    incomplete = []
    for u in np.flatnonzero(boxes.limits > 0).tolist():
        clauses, inside = boxes.clauses(u), boxes.inside(u)
        preference = np.argsort(-inside.sum(axis=1), kind="stable")
        choices, complete = search.minimal_choices(clauses, preference, limit)
        if not complete:
            incomplete.append(u)
        own = boxes.sides(given[u])
        others = choices[(choices != own).any(axis=1)][: limit - 1]
        pool.add(u, np.concatenate((own[None], others)), inside)
    anchors, sides, covers = pool.candidates()
    found = boxes.declared(sides[:, ::2] + 2 * sides[:, 1::2].astype(np.int8))
    return MinimalRules(anchors, found, covers, np.array(incomplete, dtype=np.int64))


class _Boxes:
    """The sides of every object's box: which enemies they keep out, and whom of its own class they keep."""

    def __init__(
        self,
        values: ArrayLike,
        classes: ArrayLike,
        confidence: ArrayLike,
        initial: ArrayLike | None,
        rigid: ArrayLike | None,
    ) -> None:
        self.layout = ClassLayout(values, classes, initial, rigid)
        self.shape = self.layout.points.shape
        self.limits: Floats = np.asarray(confidence, dtype=np.float64) - TOLERANCE
        self.classes = np.asarray(classes)

    def clauses(self, u: int) -> Flags:
        """For every enemy, the sides beyond which it lies; clauses with a part that is one are left out.

        Short ones come first.
        """
        start, end = self._own(u)
        difference = self.layout.points - self.layout.points[self.layout.rows[u]]
        limit = self.limits[u]
        sides = self._by_side(difference > limit, difference < -limit)
        sides = np.delete(sides, slice(start, end), axis=0)
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
        """Sides x objects of its class, in the order of rows: who is not beyond a side."""
        start, end = self._own(u)
        difference = self.layout.points[start:end] - self.layout.points[self.layout.rows[u]]
        limit = self.limits[u]
        return ~self._by_side(difference >= limit, difference <= -limit).T

    def sides(self, types: Types) -> Flags:
        """The sides of a rule."""
        (sides,) = self._by_side((types[None] & 1) > 0, (types[None] & 2) > 0)
        return np.asarray(sides)

    def declared(self, types: Types) -> Types:
        """Types as they are written: both sides for a rigid attribute."""
        return np.where(self.layout.rigid & (types > 0), np.int8(ConditionType.SIMILAR), types)

    def _own(self, u: int) -> tuple[int, int]:
        """Where the rows of its class begin and end."""
        code = self.classes[u]
        return self.layout.first_row[code], self.layout.first_row[code + 1]

    def _by_side(self, above: Flags, below: Flags) -> Flags:
        """Two tables of attributes as one of sides, as far as boxes may have them."""
        above &= (self.layout.initial & 1) > 0
        below &= (self.layout.initial & 2) > 0
        above |= below & self.layout.rigid
        below &= ~self.layout.rigid
        return np.stack((above, below), axis=2).reshape(len(above), 2 * above.shape[1])


class _Pool:
    """Candidates without those that cover the same as a shorter one, or as one before them."""

    def __init__(self, boxes: _Boxes) -> None:
        self.boxes = boxes
        # By first word and words covered: length, number, object and sides of a rule.
        self._rules: dict[tuple[int, bytes], tuple[int, int, int, Flags]] = {}
        self._n_seen = 0

    def add(self, u: int, rules: Flags, inside: Flags) -> None:
        """Rules of an object, given who is inside each side."""
        first = self.boxes.layout.first_word[self.boxes.classes[u]]
        everybody = packed(np.ones((1, inside.shape[1]), dtype=np.bool_))
        kept = np.where(rules[:, :, None], packed(inside), everybody)
        covered = np.bitwise_and.reduce(kept, axis=1)
        lengths = (rules[:, ::2] | rules[:, 1::2]).sum(axis=1).tolist()
        for rule, words, length in zip(rules, covered, lengths, strict=True):
            key = first, words.tobytes()
            if key not in self._rules or self._rules[key][0] > length:
                self._rules[key] = length, self._n_seen, u, rule
            self._n_seen += 1

    def candidates(self) -> tuple[Ints, Flags, CoverMatrix]:
        """Anchors, sides and covers, in the order in which they came."""
        layout = self.boxes.layout
        kept = sorted(self._rules.items(), key=lambda item: item[1][1])
        anchors = np.array([u for _, (_, _, u, _) in kept], dtype=np.int64)
        rules = np.zeros((len(kept), 2 * len(layout.columns)), dtype=np.bool_)
        indptr = np.zeros(len(kept) + 1, dtype=np.int64)
        places, bits = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.uint64)]
        for k, ((first, content), (*_, rule)) in enumerate(kept):
            some = np.frombuffer(content, dtype=np.uint64)
            filled = np.flatnonzero(some)
            rules[k], indptr[k + 1] = rule, indptr[k] + len(filled)
            places.append(filled + first)
            bits.append(some[filled])
        words = np.concatenate(places).astype(np.int32)
        covers = CoverMatrix(indptr, words, np.concatenate(bits), 64 * layout.first_word[-1])
        return anchors, rules, covers

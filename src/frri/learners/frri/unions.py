"""Candidate rules of ordered classes: a rule of every object on its side of every class but the lowest."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frri import induction
from frri.cover import CoverMatrix
from frri.induction import ConditionType
from frri.learners.boxes import lengths_of, scaled_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Positions, Types
    from frri.learners.training import TrainingTable


class UnionCandidates(NamedTuple):
    """Rules "at least" and "at most" a class, of all unions one after another.

    Attributes
    ----------
    anchors : ndarray of int, shape (n_candidates,)
        The object of each.
    rising : ndarray of bool, shape (n_candidates,)
        Whether it says "at least".
    bounds : ndarray of int, shape (n_candidates,)
        The position of the class that it names.
    unions : ndarray of int, shape (n_candidates,)
        The number of its union.
    sizes : ndarray of int, shape (n_unions,)
        How many objects each union has; equal ones count once.
    confidence : ndarray of float, shape (n_candidates,)
    types : ndarray of int8, shape (n_candidates, n_attributes)
    covers : CoverMatrix
    positions : ndarray of int, shape (n_classes - 1, n_objects)
        The bit of each object, on its side of each class but the lowest.
    seconds : float
    """

    anchors: Ints
    rising: Flags
    bounds: Ints
    unions: Ints
    sizes: Ints
    confidence: Floats
    types: Types
    covers: CoverMatrix
    positions: Ints
    seconds: float

    @property
    def lengths(self) -> Ints:
        """How many conditions each candidate has."""
        return lengths_of(self.types)


def union_candidates(
    table: TrainingTable, order: Positions, declared: NDArray[np.int8], n_jobs: int | None = None
) -> UnionCandidates:
    """The shortened rule of every object on its side of every class but the lowest.

    Objects of one class that are equal in everything are one object: repeating a row and giving it a
    weight are the same, and neither changes a rule.

    Parameters
    ----------
    table : TrainingTable
        Its classes from the lowest to the highest.
    order : ndarray of int
        In which attributes are tried: see `frri.induction.shorten`.
    declared : ndarray of int8, shape (n_attributes,)
        1 for a gain, -1 for a cost, otherwise 0.
    n_jobs : int, optional
    """
    start = perf_counter()
    whole, nominal = scaled_values(table)
    distinct, same = _distinct(whole, table.classes)
    values, classes = whole[distinct], table.classes[distinct]
    order = order[distinct] if order.ndim == 2 else order
    n, m = values.shape
    thresholds = range(1, len(table.labels))
    covers, types = [], [np.zeros((0, m), dtype=np.int8)]
    confidence, anchors = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
    positions = np.zeros((len(thresholds), n), dtype=np.int64)
    bounds, rising, unions = (np.zeros(0, dtype=np.int64) for _ in range(3))
    first_bit = 0
    for k in thresholds:
        upper = classes >= k
        for own, initial in _sides(upper, declared):
            found = induction.induce(
                values, upper.astype(np.intp), order, initial=initial, rigid=nominal, n_jobs=n_jobs
            )
            rows = np.flatnonzero(own)
            covers.append(found.covers.take(rows))
            positions[k - 1, rows] = first_bit + found.positions[rows]
            first_bit += -(-found.covers.n_objects // 64) * 64
            anchors.append(rows)
            types.append(found.types[rows])
            confidence.append(found.confidence[rows])
            rising = np.append(rising, upper[rows])
            bounds = np.append(bounds, k - 1 + upper[rows])
            unions = np.append(unions, 2 * (k - 1) + upper[rows])
    return UnionCandidates(
        anchors=distinct[np.concatenate(anchors)],
        rising=rising.astype(np.bool_),
        bounds=bounds,
        unions=unions,
        sizes=_sizes(classes, len(table.labels)),
        confidence=np.concatenate(confidence),
        types=np.concatenate(types),
        covers=CoverMatrix.beside(covers),
        positions=positions[:, same],
        seconds=perf_counter() - start,
    )


def _sides(upper: Flags, declared: NDArray[np.int8]) -> Iterator[tuple[Flags, Types | None]]:
    """Whose rules can be made at a time, and the type from which each attribute starts in them.

    Upward, a gain starts from "at least" and a cost from "at most", downward the other way round:
    distances are then taken in that direction alone. Without either, both sides are one question.
    """
    if not declared.any():
        yield np.ones(len(upper), dtype=np.bool_), None
        return
    gain, cost = ConditionType.AT_LEAST, ConditionType.AT_MOST
    for own, rise, fall in ((upper, gain, cost), (~upper, cost, gain)):
        initial = np.full(len(declared), ConditionType.SIMILAR, dtype=np.int8)
        initial[declared > 0], initial[declared < 0] = rise, fall
        yield own, initial


def _distinct(values: Floats, classes: Positions) -> tuple[Ints, Ints]:
    """The first of equal objects of a class, and for every object which of these it equals.

    They are sorted by their values, so that no tie is decided by the order of the rows.
    """
    # Values are from 0 on: this stands for those that are missing.
    rows = np.column_stack([np.where(np.isnan(values), -1.0, values), classes])
    _, first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, same.ravel()


def _sizes(classes: Positions, n_classes: int) -> Ints:
    """Of the downward and the upward union of each class but the lowest."""
    below = np.cumsum(np.bincount(classes, minlength=n_classes))[:-1]
    return np.column_stack([below, len(classes) - below]).ravel()

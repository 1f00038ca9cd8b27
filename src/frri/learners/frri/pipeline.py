"""The candidate rules among which FRRI chooses: one of each object, or all minimal ones."""

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from frri import induction
from frri._util import Flags, Floats, Ints, Positions, Types
from frri.cover import CoverMatrix
from frri.cover.memory_bounded import Peeled
from frri.induction import minimal

CANDIDATES = ("shortened", "all-minimal")


class CandidatePool(NamedTuple):
    """Rules of objects, and what each of them covers."""

    confidence: Floats  # of every object
    own_types: Types  # the shortened rule of every object
    anchors: Ints  # the object of each candidate
    types: Types  # the conditions of each candidate
    covers: CoverMatrix
    positions: Ints  # the bit of each object in `covers`
    seconds: dict[str, float]
    # The objects that have more minimal rules than are here.
    incomplete: Ints
    # CandidatePool chosen first where there is no room for `covers`, which are then of what those leave.
    peeled: Peeled | None = None

    def covered_by(self, candidates: Ints) -> CoverMatrix:
        """All that some candidates cover."""
        return (
            self.covers.take(candidates) if self.peeled is None else self.peeled.source(candidates)
        )

    def coverable(self) -> Flags:
        """Which objects any candidate covers; asked only where all covers are there."""
        return self.covers.union()[self.positions]


def candidate_rules(
    values: Floats,
    classes: Positions,
    order: Positions | None,
    limit: int | None,
    induce: Callable[..., induction.CandidateRules],
    **declared: Any,
) -> CandidatePool:
    """Confidences, rules and covers.

    Parameters
    ----------
    values, classes : ndarray
        As for `frri.induction.induce`.
    order : ndarray of int or None
        In which order conditions are opened; None for rules that are as short as can be.
    limit : int or None
        The most rules of one object if all minimal ones are wanted; None for one of each.
    induce : callable
        `frri.induction.induce`, or what does the same elsewhere.
    **declared
        `initial` and `rigid`, as for `frri.induction.shorten`.
    """
    found = _one_each(values, classes, order, induce, declared)
    if limit is None:
        nobody, everybody = np.zeros(0, dtype=np.int64), np.arange(len(values))
        return CandidatePool(
            found.confidence,
            found.types,
            everybody,
            found.types,
            found.covers,
            found.positions,
            found.seconds,
            nobody,
            found.peeled,
        )
    start = perf_counter()
    more = minimal.all_minimal(
        values, classes, found.confidence, found.types, limit=limit, **declared
    )
    seconds = found.seconds | {"all minimal rules": perf_counter() - start}
    own = found.confidence, found.types
    return CandidatePool(
        *own, more.anchors, more.types, more.covers, found.positions, seconds, more.incomplete
    )


def _one_each(
    values: Floats,
    classes: Positions,
    order: Positions | None,
    induce: Callable[..., induction.CandidateRules],
    declared: dict[str, Any],
) -> induction.CandidateRules:
    if order is not None:
        return induce(values, classes, order, **declared)
    return induce(
        values,
        classes,
        lambda confidence: minimal.shortest(values, classes, confidence, **declared),
        **declared,
    )

"""Bags: which objects and attributes each draws, and the rules that FRRI makes of it."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri.cover import minimum_cover
from frri.induction import induce
from frri.learners.boxes import lengths_of, scaled_values
from frri.learners.calibration import equal_rows, mixed
from frri.learners.frri.attribute_order import class_orders
from frri.learners.frri.pipeline import candidate_rules
from frri.learners.frri.rule_pool import RulePool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri._util import Flags, Positions, Types
    from frri.learners.frri.selection import Limits
    from frri.learners.training import TrainingTable


class Draws(NamedTuple):
    """Whom bags draw: of objects that differ the first of each, which one every object is, and who is in."""

    first: Positions
    copy_of: Positions
    drawn: Flags  # bags x different objects

    def rows(self, bag: int) -> Positions:
        """The objects of a bag, each once, in an order that does not depend on that of the table."""
        return np.asarray(self.first[self.drawn[bag]])

    @property
    def unseen(self) -> Flags:
        """Bags x objects: who has no equal in a bag."""
        return ~self.drawn[:, self.copy_of]


def drawn_objects(table: TrainingTable, share: Any, seeds: list[int]) -> Draws:
    """Whom each bag draws: a share or so many, of every class alike and one at least.

    Who is drawn depends on the values and the class of an object, and on the seed: equal objects are
    drawn together, so that nobody who has an equal in a bag counts as unseen, and neither the order of
    the rows nor a weight in the place of repetitions matters.
    """
    first, copy_of, keys = equal_rows(table)
    own = table.classes[first]
    sizes = np.bincount(own, minlength=len(table.labels))
    most = share * sizes / (len(first) if isinstance(share, Integral) else 1)
    count = np.clip(np.rint(most), 1, sizes)
    starts = np.cumsum(sizes) - sizes
    drawn = np.zeros((len(seeds), len(first)), dtype=np.bool_)
    for bag, seed in enumerate(seeds):
        order = np.lexsort((mixed(keys, seed), own))
        rank = np.arange(len(first)) - np.repeat(starts, sizes)
        drawn[bag, order] = rank < count[own[order]]
    return Draws(first, copy_of, drawn)


def draws_of_rows(table: TrainingTable, bags: Sequence[Positions]) -> Draws:
    """The rows of a table that each bag has drawn already; whoever equals one of them is drawn with it."""
    first, copy_of, _ = equal_rows(table)
    drawn = np.zeros((len(bags), len(first)), dtype=np.bool_)
    for own, rows in zip(drawn, bags, strict=True):
        own[copy_of[rows]] = True
    return Draws(first, copy_of, drawn)


def drawn_attributes(n_attributes: int, share: float, seed: int) -> Positions:
    """A share of the attributes, one at least, in their order."""
    count = max(1, round(share * n_attributes))
    return np.sort(np.random.default_rng(seed).permutation(n_attributes)[:count])


def rules_of_bag(
    table: TrainingTable,
    rows: Positions,
    used: Positions,
    bag: int,
    seed: int,
    *,
    order: str,
    initial: Types | None,
    limits: Limits,
) -> RulePool:
    """The rules that FRRI keeps of a bag, by the first cover that it finds.

    Parameters
    ----------
    table : TrainingTable
        The objects of the bag, all attributes.
    rows, used : ndarray of int
        Where the objects are in the whole table, and the attributes that the bag may use.
    bag, seed : int
    order : str
        In which order conditions are opened: a name of `frri.learners.frri.attribute_order`.
    initial : ndarray of int8, optional
        The types from which the attributes start.
    limits : Limits
        What candidates must keep.
    """
    scaled, nominal = scaled_values(table)
    part = replace(
        table,
        values=table.values[:, used],
        attributes=tuple(table.attributes[a] for a in used.tolist()),
    )
    values = scaled[:, used]
    start = None if initial is None else initial[used]
    found = candidate_rules(
        values,
        table.classes,
        class_orders(order, part, values, start, seed),
        None,
        induce,
        initial=start,
        rigid=None if nominal is None else nominal[used],
    )
    lengths = lengths_of(found.types)
    sizes = np.bincount(table.classes)[table.classes[found.anchors]]
    cover = minimum_cover(limits.allowed(found.covers, lengths, sizes), lengths, effort=0)
    anchors = found.anchors[cover.selected]
    types = np.zeros((len(anchors), scaled.shape[1]), dtype=np.int8)
    types[:, used] = found.types[cover.selected]
    return RulePool(
        points=scaled[anchors],
        types=types,
        radii=found.confidence[anchors],
        classes=table.classes[anchors],
        sources=rows[anchors].astype(np.int64),
        bags=np.full(len(anchors), bag, dtype=np.int64),
    )

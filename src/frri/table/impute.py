"""Typical values: what a missing value counts as where the meaning of rules says so."""

from dataclasses import replace

import numpy as np

from frri._util import Floats
from frri.table.attribute import Attribute
from frri.table.encode import EncodedTable


def impute_missing(table: EncodedTable, weights: Floats | None = None) -> EncodedTable:
    """A table to learn from, its attributes with their typical values, and no gaps.

    A row of weight 3 counts as three rows.

    Typical is the median of numbers and dates, the lower one of the two middle categories where they
    are ordered, and the commonest category, of equally common ones the first, where they are not. A
    column without any value has 0, or if it has no categories either nothing at all, and keeps its gaps.

    Examples
    --------
    >>> attributes = (Attribute("age", 20, 60), Attribute("sex", categories=("f", "m")))
    >>> table = EncodedTable(np.array([[20, 1], [np.nan, 1], [60, np.nan]]), attributes)
    >>> filled = impute_missing(table)
    >>> [attribute.typical for attribute in filled.attributes]
    [40.0, 'm']
    >>> filled.matrix[1:].tolist()
    [[40.0, 1.0], [60.0, 1.0]]
    """
    unknown = np.isnan(table.matrix)
    attributes = tuple(
        replace(
            attribute,
            typical=_typical(attribute, column[~gaps], None if weights is None else weights[~gaps]),
        )
        for attribute, column, gaps in zip(table.attributes, table.matrix.T, unknown.T, strict=True)
    )
    if not unknown.any():
        return EncodedTable(table.matrix, attributes)
    codes = np.array([attribute.typical_code for attribute in attributes])
    return EncodedTable(np.where(unknown, codes, table.matrix), attributes)


def _typical(attribute: Attribute, known: Floats, counts: Floats | None) -> float | str | None:
    if attribute.categories is None:
        return float(np.mean(_middles(known, counts))) if len(known) else 0.0
    named = known >= 0.0
    known, counts = known[named], None if counts is None else counts[named]
    if not len(known):
        return attribute.categories[0] if attribute.categories else None
    if attribute.kind == "ordinal":
        return attribute.categories[int(_middles(known, counts)[0])]
    return attribute.categories[int(np.bincount(known.astype(np.intp), counts).argmax())]


def _middles(known: Floats, counts: Floats | None) -> Floats:
    """The values up to which half of all lies, and beyond which: the same but for an even number."""
    if counts is None:
        ends = [(len(known) - 1) // 2, len(known) // 2]
        return np.partition(known, ends)[ends]
    order = known.argsort(kind="stable")
    upto = counts[order].cumsum()
    ends = [upto.searchsorted(upto[-1] / 2.0, side=side) for side in ("left", "right")]
    return known[order[ends]]

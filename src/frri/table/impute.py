"""Impute missing values: the median, or the most frequent category."""

from dataclasses import replace

import numpy as np

from frri._util import Floats
from frri.table.attribute import Attribute
from frri.table.encode import EncodedTable


def impute_missing(table: EncodedTable, weights: Floats | None = None) -> EncodedTable:
    """Impute the missing values of a training table, and store them in its attributes.

    The imputed value is the median of numbers and dates, the lower one of two middle values if all
    are integers or ordered categories, and the most frequent category, of equally frequent ones the
    first, where they are not ordered. A feature without any value has 0, or if it has no categories
    either nothing at all, and keeps its missing values. A sample of weight 3 counts as three
    samples.

    Examples
    --------
    >>> attributes = (Attribute("age", 20, 60.5), Attribute("sex", categories=("f", "m")))
    >>> table = EncodedTable(np.array([[20, 1], [np.nan, 1], [60.5, np.nan]]), attributes)
    >>> imputed = impute_missing(table)
    >>> [attribute.typical for attribute in imputed.attributes]
    [40.25, 'm']
    >>> imputed.matrix[1:].tolist()
    [[40.25, 1.0], [60.5, 1.0]]
    """
    missing = np.isnan(table.matrix)
    attributes = []
    for attribute, column, absent in zip(table.attributes, table.matrix.T, missing.T, strict=True):
        counts = None if weights is None else weights[~absent]
        attributes.append(replace(attribute, typical=_typical(attribute, column[~absent], counts)))
    matrix = table.matrix
    if missing.any():
        matrix = np.where(missing, [attribute.typical_code for attribute in attributes], matrix)
    return EncodedTable(matrix, tuple(attributes))


def _typical(attribute: Attribute, known: Floats, counts: Floats | None) -> float | str | None:
    if attribute.categories is None:
        if not len(known):
            return 0.0
        middles = _middles(known, counts)
        return float(middles[0] if (np.rint(known) == known).all() else np.mean(middles))
    named = known >= 0.0
    known, counts = known[named], None if counts is None else counts[named]
    if not len(known):
        return attribute.categories[0] if attribute.categories else None
    if attribute.kind == "ordinal":
        return attribute.categories[int(_middles(known, counts)[0])]
    return attribute.categories[int(np.bincount(known.astype(np.intp), counts).argmax())]


def _middles(known: Floats, counts: Floats | None) -> Floats:
    """Return the two middle values, which are equal unless the number of values is even."""
    if counts is None:
        ends = [(len(known) - 1) // 2, len(known) // 2]
        return np.partition(known, ends)[ends]
    order = known.argsort(kind="stable")
    upto = counts[order].cumsum()
    ends = [upto.searchsorted(upto[-1] / 2.0, side=side) for side in ("left", "right")]
    return known[order[ends]]

"""Whether floating point is fine enough for a column.

Tables are computed in double precision, which has 2^53 numbers between a power of two and the next. A
column of large numbers that lie close together, such as points in time counted in nanoseconds, has few
of them left for what tells its values apart.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri.table.attribute import Attribute

# So many steps of floating point must fit into a column's range for a bound to be put inside it: then
# none is off by more than a tenth of the tolerance that induction has.
LEAST_STEPS = 2**24

# Whole numbers up to this one are the same in floating point.
EXACT = 2**53


def check_resolution(attributes: Sequence[Attribute]) -> None:
    """Complain about the first attribute whose range is too small for its distance from 0.

    Examples
    --------
    >>> check_resolution([Attribute("a", 0, 1e-9), Attribute("b", 1e9, 1e9 + 1000)])
    >>> check_resolution([Attribute("time", 1.7e18, 1.7e18 + 1024)])
    Traceback (most recent call last):
        ...
    ValueError: Column 'time' spans only 1024 at values around 1.7e+18, too little for bounds in floating
    point: count its values from the smallest one, or drop it.
    """
    for attribute in attributes:
        if attribute.kind == "nominal":
            continue
        width = attribute.high - attribute.low
        step = np.spacing(max(abs(attribute.low), abs(attribute.high)))
        if 0.0 < width < LEAST_STEPS * step:
            raise ValueError(
                f"Column {attribute.name!r} spans only {width:g} at values around {attribute.high:g}, "
                "too little for bounds in floating point: "
                "count its values from the smallest one, or drop it."
            )


def check_whole_numbers(column: NDArray[Any], label: str) -> None:
    """Complain about whole numbers that floating point makes the same.

    Examples
    --------
    >>> check_whole_numbers(np.array([2**60, 2**60 + 1]), "Column 'id'")
    Traceback (most recent call last):
        ...
    ValueError: Column 'id' holds 1152921504606846976 and 1152921504606846977, which are the same in
    floating point: count its values from the smallest one, or drop it.
    """
    if column.dtype.kind not in "iu" or not len(column):
        return
    if column.min() >= -EXACT and column.max() <= EXACT:
        return
    values = np.unique(column)
    same = np.flatnonzero(np.diff(values.astype(np.float64)) == 0)
    if len(same):
        one, other = values[same[0] : same[0] + 2].tolist()
        raise ValueError(
            f"{label} holds {one} and {other}, which are the same in floating point: "
            "count its values from the smallest one, or drop it."
        )

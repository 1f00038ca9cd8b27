"""Check numbers and values of columns; errors name the column, the value and the remedy."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, join_names, short_repr
from frri.table.attribute import Attribute
from frri.table.columns import (
    column_names,
    find_columns,
    is_missing,
    is_number_type,
    plain_table,
    to_numbers,
)

# Beyond this the width of a range overflows; no measured quantity comes near it.
LARGEST = 1e300

# Minimum number of floating-point steps in the range of a column: then no bound inside it is off by
# more than a tenth of the tolerance of induction.
LEAST_STEPS = 2**24

# Integers up to this one are exact in floating point.
EXACT = 2**53

# Distinct strings of a column that may be many of its rows: more look like an identifier.
FEWEST_NAMES = 10


def check_numbers(table: Any, *, allow_missing: bool = False) -> None:
    """Raise a ValueError for the first value of a table that is not a finite, moderate number.

    Other errors of the table (its shape, its type) are left to the caller.
    """
    table = plain_table(table)
    names = column_names(table)
    if names is not None:
        columns = {repr(name): column for name, column in find_columns(table, names).items()}
    else:
        try:
            array = np.asarray(table)
        except ValueError:  # ragged: the caller's check explains
            return
        kind = array.dtype.kind
        if array.ndim != 2 or kind in "iub" or (kind == "f" and all_moderate(array)):
            return
        columns = {str(j): column for j, column in enumerate(array.T)}
    missing = {}
    for name, column in columns.items():
        try:
            values = to_numbers(column, f"Column {name}")
        except TypeError:
            return
        check_moderate(values, f"Column {name}")
        missing[name] = np.isnan(values)
    if not allow_missing:
        _refuse_missing(missing)


def check_complete(matrix: Floats, attributes: Sequence[Attribute]) -> None:
    """Raise a ValueError for missing values of an encoded table."""
    names = [repr(attribute.name) for attribute in attributes]
    _refuse_missing(dict(zip(names, np.isnan(matrix).T, strict=True)))


def _refuse_missing(missing: Mapping[str, Flags]) -> None:
    """Raise a ValueError for columns with missing values, given by their flags."""
    found = [
        f"column {name} ({flags.sum()} of {len(flags)} rows)"
        for name, flags in missing.items()
        if flags.any()
    ]
    if found:
        raise ValueError(
            f"Missing values (NaN) in {join_names(found)}: fill them in or drop these rows first."
        )


def check_moderate(values: Floats, label: str) -> None:
    """Raise a ValueError for a number that is infinite or too large to compute with."""
    if all_moderate(values):
        return
    huge = np.flatnonzero(np.abs(values) > LARGEST)
    if len(huge):
        value = values[huge[0]]
        what = "infinity" if np.isinf(value) else f"beyond {LARGEST:g}"
        raise ValueError(
            f"{label} holds {value:g} ({what}) in row {huge[0] + 1}; "
            "replace it by a finite number or drop the row."
        )


def check_weights(weights: Floats, label: str) -> None:
    """Raise a ValueError for weights of samples that are negative, infinite or all 0."""
    wrong = np.flatnonzero(~((weights >= 0.0) & (weights < np.inf)))
    if len(wrong):
        raise ValueError(
            f"{label} holds {weights[wrong[0]]:g} in row {wrong[0] + 1} "
            f"({len(wrong)} of {len(weights)} rows); weights must be 0 or more and finite."
        )
    if len(weights) and not weights.any():
        raise ValueError(f"{label} is zero in every row; give at least one row a weight above 0.")


def all_moderate(array: NDArray[Any]) -> bool:
    """Return whether no value is NaN, infinite or huge; NaN fails every comparison."""
    if array.size <= 1:  # fast for single samples
        return not array.size or bool(-LARGEST <= array.item() <= LARGEST)
    return float(array.max()) <= LARGEST and float(array.min()) >= -LARGEST


def check_resolution(attributes: Sequence[Attribute]) -> None:
    """Raise a ValueError for an attribute whose range is too small for its distance from 0."""
    for attribute in attributes:
        width = attribute.high - attribute.low
        step = np.spacing(max(abs(attribute.low), abs(attribute.high)))
        if attribute.kind != "nominal" and 0.0 < width < LEAST_STEPS * step:
            raise ValueError(
                f"Column {attribute.name!r} spans only {width:g} at values around "
                f"{attribute.high:g}, too little for bounds in floating point: count its values "
                "from the smallest one, or drop it."
            )


def check_whole_numbers(column: NDArray[Any], label: str) -> None:
    """Raise a ValueError for different integers of a column that are equal in floating point.

    Examples
    --------
    >>> check_whole_numbers(np.array([2**60, 2**60 + 1]), "Column 'id'")
    Traceback (most recent call last):
        ...
    ValueError: Column 'id' holds 1152921504606846976 and 1152921504606846977, which are the same in
    floating point: count its values from the smallest one, or drop it.
    """
    if column.dtype.kind == "O":
        whole = [v for v in column if isinstance(v, int) and not isinstance(v, bool)]
        column = np.array(whole, dtype=object)
    if column.dtype.kind not in "iuO" or not len(column):
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


# Types that hold several values.
_SEVERAL = (list, tuple, dict, set, frozenset, np.ndarray)


def check_categories(name: str, values: NDArray[np.object_]) -> None:
    """Raise a ValueError for lists and the like, or for a few strings among numbers.

    Examples
    --------
    >>> check_categories("age", np.array([31, 42, "4o"], dtype=object))
    Traceback (most recent call last):
        ...
    ValueError: Column 'age' holds '4o' in row 3 among numbers; correct or empty it, or turn ...
    """
    types = {type(value) for value in values}
    if any(issubclass(kind, _SEVERAL) for kind in types):
        row, value = next((r, v) for r, v in enumerate(values) if isinstance(v, _SEVERAL))
        raise ValueError(
            f"Column {name!r} holds {short_repr(value)} in row {row + 1}, which is several values; "
            "make a column of each."
        )
    numeric = {kind for kind in types if is_number_type(kind)}
    if numeric:
        fitting = np.array([type(value) in numeric for value in values])
        missing = np.array([is_missing(value) for value in values])
        strange = find_mistake(~missing, fitting)
        if strange is not None:
            raise ValueError(
                f"Column {name!r} holds {values[strange]!r} in row {strange + 1} among numbers; "
                "correct or empty it, or turn the column into strings if these are categories."
            )


def find_mistake(known: Flags, fitting: Flags) -> int | None:
    """Return the first known value that does not fit, if more than half of them do."""
    strange = np.flatnonzero(known & ~fitting)
    n_known = np.count_nonzero(known)
    return int(strange[0]) if 0 < len(strange) < n_known / 2 else None


def warn_about_columns(
    attributes: Sequence[Attribute], target: str, n_objects: int, stacklevel: int
) -> None:
    """Warn of columns whose rules do not generalize: the target and identifiers."""
    for attribute in attributes:
        n_categories = len(attribute.categories or ())
        if attribute.name == target:
            message = (
                f"The table still has the target {target!r} as a column; drop it from the table."
            )
        elif attribute.kind == "nominal" and n_categories > max(FEWEST_NAMES, n_objects / 2):
            message = (
                f"Column {attribute.name!r} has {n_categories} distinct strings in "
                f"{n_objects} rows: drop it if it is an identifier, convert it if it holds dates."
            )
        else:
            continue
        warnings.warn(message, UserWarning, stacklevel=stacklevel)

"""Check numbers, kinds and names of columns; errors name the column, the value and the remedy."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats, join_names, short_repr
from frri.table.attribute import Attribute
from frri.table.columns import (
    column_names,
    is_missing,
    is_number_type,
    number,
    plain_table,
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

# A column with more than this fraction of numbers is one of numbers with mistakes in it.
MOSTLY = 0.5


# ---------------------------------------------------------------------- numbers


def check_numbers(table: Any, *, allow_missing: bool = False) -> None:
    """Raise a ValueError for the first value of a table that is not a finite, moderate number.

    Other errors of the table (its shape, its type) are left to the caller.

    Examples
    --------
    >>> check_numbers([[1.0, 2.0], [3.0, float("inf")]])
    Traceback (most recent call last):
        ...
    ValueError: Column 1 holds inf (infinity) in row 2; replace it by a finite number or ...
    """
    labels = column_names(table)
    missing: list[tuple[str, int, int]] = []
    for j, column in enumerate(_columns(table)):
        name = repr(labels[j]) if labels is not None else str(j)
        values = to_numbers(column, f"Column {name}")
        if values is None:
            return
        absent = np.isnan(values)
        if absent.any() and not allow_missing:
            missing.append((name, int(absent.sum()), len(values)))
            continue
        check_moderate(values, f"Column {name}")
    _refuse_missing(missing)


def check_complete(matrix: Floats, attributes: Sequence[Attribute]) -> None:
    """Raise a ValueError for missing values of an encoded table.

    Examples
    --------
    >>> check_complete(np.array([[np.nan], [1.0]]), [Attribute("age")])
    Traceback (most recent call last):
        ...
    ValueError: Missing values (NaN) in column 'age' (1 of 2 rows): fill them in or drop ...
    """
    counts = np.isnan(matrix).sum(axis=0).tolist()
    _refuse_missing(
        [(repr(a.name), count, len(matrix)) for a, count in zip(attributes, counts, strict=True)]
    )


def _refuse_missing(counts: Sequence[tuple[str, int, int]]) -> None:
    """Raise a ValueError for columns, their numbers of missing values and of rows."""
    missing = [f"column {name} ({n} of {rows} rows)" for name, n, rows in counts if n]
    if missing:
        raise ValueError(
            f"Missing values (NaN) in {join_names(missing)}: fill them in or drop these rows first."
        )


def check_moderate(values: Floats, label: str) -> None:
    """Raise a ValueError for a number that is infinite or too large to compute with."""
    if not values.size or all_moderate(values):
        return
    huge = np.flatnonzero(np.abs(values) > LARGEST)
    if len(huge):
        value = values[huge[0]]
        what = "infinity" if np.isinf(value) else f"beyond {LARGEST:g}"
        raise ValueError(
            f"{label} holds {value:g} ({what}) in row {huge[0] + 1}; "
            "replace it by a finite number or drop the row."
        )


def all_moderate(array: NDArray[Any]) -> bool:
    """Return whether no value is NaN, infinite or huge; NaN fails every comparison."""
    if array.size == 1:  # fast for single samples
        return bool(-LARGEST <= array.item() <= LARGEST)
    return float(array.max()) <= LARGEST and float(array.min()) >= -LARGEST


def check_resolution(attributes: Sequence[Attribute]) -> None:
    """Raise a ValueError for the first attribute whose range is too small for its distance from 0.

    Examples
    --------
    >>> check_resolution([Attribute("a", 0, 1e-9), Attribute("b", 1e9, 1e9 + 1000)])
    >>> check_resolution([Attribute("time", 1.7e18, 1.7e18 + 1024)])
    Traceback (most recent call last):
        ...
    ValueError: Column 'time' spans only 1024 at values around 1.7e+18, too little for bounds in
    floating point: count its values from the smallest one, or drop it.
    """
    for attribute in attributes:
        if attribute.kind == "nominal":
            continue
        width = attribute.high - attribute.low
        step = np.spacing(max(abs(attribute.low), abs(attribute.high)))
        if 0.0 < width < LEAST_STEPS * step:
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


def to_numbers(column: Any, label: str) -> Floats | None:
    """Convert a column to floats, or raise a ValueError for a string that is not a number.

    The result is None if a value is neither a number nor a string.

    Examples
    --------
    >>> to_numbers(np.array(["1.5", None], dtype=object), "Column 'age'")
    array([1.5, nan])
    """
    array = np.asarray(column)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind in "Mm":
        raise ValueError(
            f"{label} holds dates or durations, which are not numbers; encode or drop this column."
        )
    if array.dtype.kind not in "OUS":
        return None
    values = np.empty(len(array))
    for row, value in enumerate(array):
        try:
            values[row] = number(value, label, row)
        except ValueError as error:
            if not isinstance(value, str | bytes):
                raise error from None
            raise ValueError(
                f"{label} holds {str(value)!r} in row {row + 1}, which is not a number; "
                "encode or drop this column."
            ) from None
        except TypeError:
            return None
    return values


def _columns(table: Any) -> Iterable[Any]:
    """Return the columns of a table that need a check; none if all is well or it is no table."""
    table = plain_table(table)
    if column_names(table) is not None:
        return (table[name] for name in table.columns)
    try:
        array = np.asarray(table)
    except ValueError:  # ragged: the caller's check explains
        return ()
    if array.ndim != 2 or array.dtype.kind in "iub":
        return ()
    if array.dtype.kind == "f" and (not array.size or all_moderate(array)):
        return ()
    return array.T


# ---------------------------------------------------------------------- kinds and names


def check_names(names: Sequence[str]) -> None:
    """Raise a ValueError for a table without columns, or with two of the same name.

    Examples
    --------
    >>> check_names(["a", "a"])
    Traceback (most recent call last):
        ...
    ValueError: The table has more than one column 'a'; rename one of them.
    """
    if not names:
        raise ValueError("The table has 0 features: give it at least one column.")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"The table has more than one column {name!r}; rename one of them.")
        seen.add(name)


# Types that hold several values.
_SEVERAL = (list, tuple, dict, set, frozenset, np.ndarray)


def check_single(name: str, values: NDArray[np.object_]) -> None:
    """Raise a ValueError for lists and the like instead of values.

    Examples
    --------
    >>> values = np.array([None, "red"], dtype=object)
    >>> values[0] = ["red", "blue"]
    >>> check_single("colours", values)
    Traceback (most recent call last):
        ...
    ValueError: Column 'colours' holds ['red', 'blue'] in row 1, which is several values; make ...
    """
    if not any(issubclass(kind, _SEVERAL) for kind in {type(value) for value in values}):
        return
    row, value = next((r, v) for r, v in enumerate(values) if isinstance(v, _SEVERAL))
    raise ValueError(
        f"Column {name!r} holds {short_repr(value)} in row {row + 1}, which is several values; "
        "make a column of each."
    )


def check_mixture(name: str, values: NDArray[np.object_], remedy: str) -> None:
    """Raise a ValueError for a column of numbers with other values among them.

    Parameters
    ----------
    name : str
    values : array of objects
    remedy : str
        How to declare that the values are categories.

    Examples
    --------
    >>> check_mixture("age", np.array([31, 42, "4o"], dtype=object), "turn all into texts")
    Traceback (most recent call last):
        ...
    ValueError: Column 'age' holds '4o' in row 3 among numbers; correct or empty it, or turn ...
    """
    numeric = {kind: is_number_type(kind) for kind in {type(value) for value in values}}
    if any(numeric.values()):
        fitting = [numeric[type(value)] for value in values]
        refuse_mixture(name, values, fitting, "numbers", remedy)


def refuse_mixture(
    name: str, values: NDArray[np.object_], fitting: Sequence[bool], kind: str, remedy: str
) -> None:
    """Raise a ValueError for a value that does not fit where most values do."""
    known = [row for row, value in enumerate(values) if not is_missing(value)]
    strange = [row for row in known if not fitting[row]]
    if strange and len(known) - len(strange) > MOSTLY * len(known):
        raise ValueError(
            f"Column {name!r} holds {values[strange[0]]!r} in row {strange[0] + 1} among {kind}; "
            f"correct or empty it, or {remedy}."
        )


def warn_about_columns(
    attributes: Sequence[Attribute], target: str, n_objects: int, stacklevel: int
) -> None:
    """Warn of columns whose rules do not generalize: the target and identifiers."""
    for attribute in attributes:
        n_categories = len(attribute.categories or ())
        if attribute.name == target:
            warnings.warn(
                f"The table still has the target {target!r} as a column; drop it from the table.",
                UserWarning,
                stacklevel=stacklevel,
            )
        elif attribute.kind == "nominal" and n_categories > max(FEWEST_NAMES, n_objects / 2):
            warnings.warn(
                f"Column {attribute.name!r} has {n_categories} different texts in "
                f"{n_objects} rows: drop it if it is an identifier, convert it if it holds dates.",
                UserWarning,
                stacklevel=stacklevel,
            )

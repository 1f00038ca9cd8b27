"""Tables: named, typed columns on the way in, one float64 matrix on the way through.

Numeric values stay as they are, nominal values become the position of their category (-1 for one never
seen in training) and missing values become NaN. Everything that computes works on that matrix; every
complaint about the data is made here, in one sentence that names the column, the value and the remedy.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri.table.attribute import Attribute
from frri.table.categories import category_codes
from frri.table.columns import (
    days_since_1970,
    is_missing,
    ordered_categories,
    plain_column,
    plain_table,
)

# Beyond this the width of a range overflows; no measured quantity comes near it.
LARGEST = 1e300


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table in the form that everything computes with: encoded once, passed on.

    Whatever takes a table takes it too, and does not look at the columns again.

    Attributes
    ----------
    matrix : ndarray of float64, shape (n_rows, n_attributes)
    attributes : tuple of Attribute
        What the columns of the matrix are.

    Examples
    --------
    >>> table = EncodedTable.of([[1, "red"]], [Attribute("a"), Attribute("b", categories=("red",))])
    >>> table.matrix, table.shape
    (array([[1., 0.]]), (1, 2))
    """

    matrix: NDArray[np.float64]
    attributes: tuple[Attribute, ...]

    @classmethod
    def of(cls, table: Any, attributes: Sequence[Attribute]) -> "EncodedTable":
        """Any table, by the attributes of a ruleset."""
        return cls(to_matrix(table, attributes), tuple(attributes))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.matrix), len(self.attributes)

    def __len__(self) -> int:
        return len(self.matrix)

    def take(self, rows: Any) -> "EncodedTable":
        """Some of the rows."""
        return EncodedTable(self.matrix[rows], self.attributes)


def column_names(table: Any) -> list[str] | None:
    """The column names of a data frame, None for a bare array."""
    columns = getattr(table, "column_names", None)  # of an Arrow table
    if not isinstance(columns, list):
        columns = getattr(table, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def describe_columns(matrix: NDArray[np.float64], names: Iterable[str]) -> tuple[Attribute, ...]:
    """Numeric attributes with the ranges found in a matrix; missing values (NaN) do not count.

    Examples
    --------
    >>> describe_columns(np.array([[1.0, 5.0], [3.0, 4.0]]), ["a", "b"])[0]
    Attribute(name='a', low=1.0, high=3.0, categories=None, kind='numeric')
    """
    lows, highs = _nan_range(matrix)
    return tuple(
        Attribute(str(name), float(low), float(high))
        for name, low, high in zip(names, lows, highs, strict=True)
    )


def describe_frame(frame: Any) -> tuple[Attribute, ...]:
    """The attributes of a data frame, by the types of its columns.

    Numbers are numeric and dates dates. Ordered categories (pandas, Arrow; `Enum` in polars) are
    ordinal. Other categories, truth values and texts are nominal.

    Examples
    --------
    >>> import pandas as pd
    >>> size = pd.Categorical(["S", "L"], categories=["S", "M", "L"], ordered=True)
    >>> table = pd.DataFrame({"a": [1, 3], "b": ["red", None], "size": size, "ok": [True, False]})
    >>> [attribute.kind for attribute in describe_frame(table)]
    ['numeric', 'nominal', 'ordinal', 'nominal']
    >>> describe_frame(table)[3].categories
    ('False', 'True')
    """
    frame = plain_table(frame)
    return tuple(_describe(str(name), frame[name]) for name in frame.columns)


def _describe(name: str, column: Any) -> Attribute:
    ordered = ordered_categories(column)
    if ordered is not None:
        return Attribute(name, categories=ordered, kind="ordinal")
    values = plain_column(column, name)
    if values.dtype.kind == "O":
        texts = {str(value) for value in values if not is_missing(value)}
        return Attribute(name, categories=tuple(sorted(texts)))
    kind = "date" if values.dtype.kind == "M" else "numeric"
    numbers = days_since_1970(values) if kind == "date" else values.astype(np.float64)
    known = numbers[~np.isnan(numbers)]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    return Attribute(name, float(low), float(high), kind=kind)


def to_matrix(table: Any, attributes: Sequence[Attribute]) -> NDArray[np.float64]:
    """The columns of a table that belong to the attributes, as one float64 matrix.

    Parameters
    ----------
    table : array-like, data frame or EncodedTable
        A data frame is read by column names (further columns are ignored), an array by position; what
        is encoded already for these attributes is passed through.
    attributes : sequence of Attribute

    Returns
    -------
    ndarray of float64, shape (n_rows, n_attributes)

    Examples
    --------
    >>> to_matrix([[1, "red"], [2, "green"]], [Attribute("a"), Attribute("b", categories=("red",))])
    array([[ 1.,  0.],
           [ 2., -1.]])
    """
    if isinstance(table, EncodedTable):
        return _passed_through(table, attributes)
    table = plain_table(table)
    names = column_names(table)
    if names is not None:
        places = {name: place for place, name in enumerate(names)}
        absent = [a.name for a in attributes if a.name not in places]
        if absent:
            raise ValueError(
                f"The table has no column {absent[0]!r}"
                + (f" (and {len(absent) - 1} more of the model's columns)" if absent[1:] else "")
                + f"; it has {_listing(names)}. Rename or add it."
            )
        twice = (
            [a.name for a in attributes if names.count(a.name) > 1]
            if len(places) < len(names)
            else []
        )
        if twice:
            raise ValueError(
                f"The table has more than one column {twice[0]!r}; rename one of them."
            )
        columns = [table[table.columns[places[a.name]]] for a in attributes]
        n_rows = len(table)
    else:
        array = np.asarray(table)
        if array.ndim != 2 or array.shape[1] != len(attributes):
            raise ValueError(
                f"Expected a table of {len(attributes)} columns ({_listing(a.name for a in attributes)}), "
                f"got an array of shape {array.shape}."
            )
        if array.dtype.kind in "fiub" and all(a.kind == "numeric" for a in attributes):
            return _numeric_matrix(array, attributes)
        columns = list(array.T)
        n_rows = len(array)
    matrix = np.empty((n_rows, len(attributes)))
    for j, (attribute, column) in enumerate(zip(attributes, columns, strict=True)):
        matrix[:, j] = _encode(column, attribute)
    return matrix


def check_numbers(
    table: Any, names: Sequence[str] | None = None, *, allow_missing: bool = False
) -> None:
    """Complain about the first value of a table that is not a finite, moderate number.

    Whatever else may be wrong with the table (its shape, its type) is left to the caller.

    Examples
    --------
    >>> check_numbers([[1.0, 2.0], [3.0, float("inf")]])
    Traceback (most recent call last):
        ...
    ValueError: Column 1 holds inf (infinity) in row 1; replace it by a finite number or drop the row.
    """
    columns = _columns(table)
    labels = names if names is not None else column_names(table)
    missing: list[str] = []
    for j, column in enumerate(columns):
        name = repr(labels[j]) if labels is not None else str(j)
        label = f"Column {name}"
        values = _numbers(column, label)
        if values is None:
            return
        absent = np.isnan(values)
        if absent.any() and not allow_missing:
            missing.append(f"column {name} ({int(absent.sum())} of {len(values)} rows)")
            continue
        _check_moderate(values, label)
    if missing:
        raise ValueError(
            f"Missing values (NaN) in {_listing(missing)}: fill them in or drop these rows first."
        )


def _check_moderate(values: NDArray[np.float64], label: str) -> None:
    huge = np.flatnonzero(np.abs(values) > LARGEST)
    if len(huge):
        value = values[huge[0]]
        what = "infinity" if np.isinf(value) else f"beyond {LARGEST:g}"
        raise ValueError(
            f"{label} holds {value:g} ({what}) in row {huge[0]}; "
            "replace it by a finite number or drop the row."
        )


def _columns(table: Any) -> Iterable[Any]:
    """The columns of a table that are worth a look; none if all is well or nothing can be said."""
    table = plain_table(table)
    if column_names(table) is not None:
        return (table[name] for name in table.columns)
    try:
        array = np.asarray(table)
    except ValueError:  # ragged: the caller's check explains
        return ()
    if array.ndim != 2 or array.dtype.kind in "iub":
        return ()
    if array.dtype.kind == "f" and (not array.size or _all_moderate(array)):
        return ()
    return array.T


def _all_moderate(array: NDArray[np.floating]) -> bool:
    """Whether no value is NaN, infinite or huge; NaN fails every comparison."""
    return float(array.max()) <= LARGEST and float(array.min()) >= -LARGEST


def _nan_range(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest known value of each column, 0 where all are missing."""
    unknown = np.isnan(matrix)
    lows = np.where(unknown, np.inf, matrix).min(axis=0)
    highs = np.where(unknown, -np.inf, matrix).max(axis=0)
    empty = unknown.all(axis=0)
    return np.where(empty, 0.0, lows), np.where(empty, 0.0, highs)


def _numbers(column: Any, label: str) -> NDArray[np.float64] | None:
    """A column as floats, or the complaint about the value that is not a number."""
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
        if is_missing(value):
            values[row] = np.nan
            continue
        try:
            values[row] = float(value)
        except ValueError:
            raise ValueError(
                f"{label} holds {str(value)!r} in row {row}, which is not a number; "
                "encode or drop this column."
            ) from None
        except TypeError:
            return None
    return values


def _passed_through(table: EncodedTable, attributes: Sequence[Attribute]) -> NDArray[np.float64]:
    """The matrix, if its columns are what is asked for; ranges do not matter, codes do."""
    wanted = [(a.name, a.kind, a.categories) for a in attributes]
    if table.attributes is not attributes and wanted != [
        (a.name, a.kind, a.categories) for a in table.attributes
    ]:
        raise ValueError(
            f"The table is encoded for other columns ({_listing(a.name for a in table.attributes)}); "
            "give the table itself."
        )
    return table.matrix


def _numeric_matrix(array: NDArray[Any], attributes: Sequence[Attribute]) -> NDArray[np.float64]:
    """Nothing but numbers: no column needs a look of its own unless there is something to see."""
    matrix = np.ascontiguousarray(array, dtype=np.float64)
    if matrix.size and not _all_moderate(matrix):
        for attribute, column in zip(attributes, matrix.T, strict=True):
            _check_moderate(column, f"Column {attribute.name!r}")
    return matrix


def _encode(column: Any, attribute: Attribute) -> NDArray[np.float64]:
    if attribute.kind == "date":
        try:
            return days_since_1970(column)
        except (ValueError, TypeError):
            raise ValueError(f"Column {attribute.name!r} does not hold dates.") from None
    if attribute.categories is None:
        values = _numbers(column, f"Column {attribute.name!r}")
        if values is None:
            raise ValueError(f"Column {attribute.name!r} does not hold numbers.")
        _check_moderate(values, f"Column {attribute.name!r}")
        return values
    coded = category_codes(plain_column(column, attribute.name), attribute.categories)
    if attribute.kind == "ordinal":
        coded[coded < 0.0] = np.nan  # it has no place in the order
    return coded


def _listing(items: Iterable[str], most: int = 8) -> str:
    names = list(items)
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown

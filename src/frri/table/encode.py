"""Tables: named, typed columns on the way in, one float64 matrix on the way through.

Numeric values stay as they are, nominal values become the position of their category (-1 for one never
seen in training) and missing values become NaN. Everything that computes works on that matrix.
"""

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats, join_names
from frri.table.attribute import Attribute
from frri.table.categories import category_codes, flags_as_numbers
from frri.table.checks import (
    all_moderate,
    check_mixture,
    check_moderate,
    check_single,
    check_whole_numbers,
    to_numbers,
)
from frri.table.columns import (
    Column,
    Records,
    column_names,
    days_since_1970,
    is_missing,
    plain_column,
    plain_table,
)


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

    matrix: Floats
    attributes: tuple[Attribute, ...]

    @classmethod
    def of(
        cls, table: Any, attributes: Sequence[Attribute], used: Collection[str] | None = None
    ) -> "EncodedTable":
        """Any table, by the attributes of a ruleset: see `to_matrix`."""
        return cls(to_matrix(table, attributes, used), tuple(attributes))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.matrix), len(self.attributes)

    def __len__(self) -> int:
        return len(self.matrix)

    def take(self, rows: Any) -> "EncodedTable":
        """Some of the rows."""
        return EncodedTable(self.matrix[rows], self.attributes)


def describe_columns(matrix: Floats, names: Iterable[str]) -> tuple[Attribute, ...]:
    """Numeric attributes with the ranges found in a matrix; missing values (NaN) do not count.

    Examples
    --------
    >>> describe_columns(np.array([[1.0, 5.0], [3.0, 4.0]]), ["a", "b"])[0]
    Attribute(name='a', low=1.0, high=3.0, categories=None, kind='numeric', typical=None)
    """
    lows, highs = _nan_range(matrix)
    return tuple(
        Attribute(str(name), float(low), float(high))
        for name, low, high in zip(names, lows, highs, strict=True)
    )


def encode_frame(frame: Any) -> EncodedTable:
    """A data frame to learn from: every column is looked at once, described and encoded.

    What kind an attribute is, the type of its column says: see `frri.table.columns.Column`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = encode_frame(pd.DataFrame({"a": [1, 3], "b": ["red", None]}))
    >>> [attribute.kind for attribute in table.attributes]
    ['numeric', 'nominal']
    >>> table.matrix
    array([[ 1.,  0.],
           [ 3., nan]])
    """
    frame = plain_table(frame)
    matrix = np.empty((len(frame), len(frame.columns)))
    attributes = []
    for j, name in enumerate(frame.columns):
        column = Column.of(frame[name], str(name))
        attribute, matrix[:, j] = _described(column)
        attributes.append(attribute)
    return EncodedTable(matrix, tuple(attributes))


def _described(column: Column) -> tuple[Attribute, Floats]:
    """What a column is in training, and its values as numbers."""
    if column.kind == "nominal":
        if not column.declared:
            check_single(column.name, column.values)
            remedy = "turn the whole column into texts if these are categories"
            check_mixture(column.name, column.values, remedy)
        texts = {str(value) for value in column.values if not is_missing(value)}
        attribute = Attribute(column.name, categories=tuple(sorted(texts)))
    elif column.kind == "ordinal":
        attribute = Attribute(column.name, categories=column.order, kind="ordinal")
    else:
        days = column.kind == "date"
        check_whole_numbers(column.values, f"Column {column.name!r}")
        numbers = days_since_1970(column.values) if days else column.values.astype(np.float64)
        check_moderate(numbers, f"Column {column.name!r}")
        low, high = _nan_range(numbers[:, None])
        return Attribute(column.name, float(low[0]), float(high[0]), kind=column.kind), numbers
    return attribute, _coded(column.values, attribute)


def to_matrix(
    table: Any, attributes: Sequence[Attribute], used: Collection[str] | None = None
) -> Floats:
    """The columns of a table that belong to the attributes, as one float64 matrix.

    Parameters
    ----------
    table : array-like, data frame, dict, list of dict or EncodedTable
        A data frame is read by column names (further columns are ignored), and so is a dictionary (one
        row, or columns) and a list of them (rows); an array is read by position; what
        is encoded already for these attributes is passed through.
    attributes : sequence of Attribute
    used : collection of str, optional
        The names of the attributes that are looked at, by default all. Columns of others are not read
        and need not be there; their values are missing.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_attributes)

    Examples
    --------
    >>> to_matrix([[1, "red"], [2, "green"]], [Attribute("a"), Attribute("b", categories=("red",))])
    array([[ 1.,  0.],
           [ 2., -1.]])
    >>> to_matrix({"a": 1}, [Attribute("a"), Attribute("b")], used=["a"])
    array([[ 1., nan]])
    """
    if isinstance(table, EncodedTable):
        return _passed_through(table, attributes)
    table = Records.of(plain_table(table))
    names = column_names(table)
    if names is not None:
        places = {name: place for place, name in enumerate(names)}
        wanted = [a for a in attributes if used is None or a.name in used]
        absent = [a.name for a in wanted if a.name not in places]
        if absent:
            raise ValueError(
                f"The table has no column {absent[0]!r}"
                + (f" (and {len(absent) - 1} more of the model's columns)" if absent[1:] else "")
                + f"; it has {join_names(names)}. Rename or add it."
            )
        twice = (
            [a.name for a in wanted if names.count(a.name) > 1] if len(places) < len(names) else []
        )
        if twice:
            raise ValueError(
                f"The table has more than one column {twice[0]!r}; rename one of them."
            )
        if len(table) == 1 and hasattr(table, "iloc"):
            given = _single_row(table, {a.name: places[a.name] for a in wanted})
        else:
            given = {a.name: table[table.columns[places[a.name]]] for a in wanted}
        columns = [
            given.get(a.name) if used is None or a.name in used else None for a in attributes
        ]
        return encode_columns(columns, attributes, len(table))
    array = np.asarray(table)
    if array.ndim != 2 or array.shape[1] != len(attributes):
        raise ValueError(
            f"Expected a table of {len(attributes)} columns ({join_names(a.name for a in attributes)}), "
            f"got an array of shape {array.shape}."
        )
    if array.dtype.kind in "fiub" and all(a.kind == "numeric" for a in attributes):
        return _numeric_matrix(array, attributes)
    columns = [
        column if used is None or attribute.name in used else None
        for attribute, column in zip(attributes, array.T, strict=True)
    ]
    return encode_columns(columns, attributes, len(array))


def _single_row(table: Any, places: Mapping[str, int]) -> dict[str, Any]:
    """The columns of one row of pandas', where a column costs as much as all else that is done for it."""
    row = table.to_numpy(dtype=object)[0]
    columns = {name: row[place : place + 1] for name, place in places.items()}
    for name, place in places.items():
        value = row[place]
        if isinstance(value, int):  # which stays whole, as its column would have it
            columns[name] = np.array([value])
        elif not isinstance(value, float | str):
            columns[name] = table[table.columns[place]]
    return columns


def encode_columns(
    columns: Sequence[Any], attributes: Sequence[Attribute], n_rows: int | None = None
) -> Floats:
    """Columns in the order of the attributes as one matrix; one that is None has missing values only.

    Rows are counted by the first column unless their number is given.

    Examples
    --------
    >>> encode_columns([[1, 2], ["red", None]], [Attribute("a"), Attribute("b", categories=("red",))])
    array([[ 1.,  0.],
           [ 2., nan]])
    """
    matrix = np.empty((len(columns[0]) if n_rows is None else n_rows, len(attributes)))
    for j, (attribute, column) in enumerate(zip(attributes, columns, strict=True)):
        matrix[:, j] = np.nan if column is None else _encode(column, attribute)
    return matrix


def check_order(
    table: Any, attributes: Sequence[Attribute], matrix: Floats, used: Collection[str] | None = None
) -> None:
    """Say which categories have no place in the order of their column, or refuse them.

    Parameters
    ----------
    table, attributes
        As given to `to_matrix`; what is encoded already does not tell.
    matrix : ndarray of float64
        What that made of them.
    used : collection of str, optional
        The names of the attributes that are looked at, whose values count as missing then, with a warning.
        By default they are refused.

    Examples
    --------
    >>> table, size = {"size": ["M", "XL"]}, Attribute("size", categories=("S", "M"), kind="ordinal")
    >>> check_order(table, [size], to_matrix(table, [size]))
    Traceback (most recent call last):
        ...
    ValueError: Column 'size' holds 'XL' in row 2 (1 of 2 rows), which has no place among S, M; replace it ...
    """
    if isinstance(table, EncodedTable):
        return
    for j, attribute in enumerate(attributes):
        looked_at = used is None or attribute.name in used
        gaps = np.isnan(matrix[:, j]) if attribute.kind == "ordinal" and looked_at else np.array([])
        if not gaps.any():
            continue
        frame = Records.of(plain_table(table))
        names = column_names(frame)
        if names is None:
            column = np.asarray(frame)[:, j]
        else:
            column = frame[frame.columns[names.index(attribute.name)]]
        values = plain_column(column, attribute.name)
        rows = [row for row in np.flatnonzero(gaps) if not is_missing(values[row])]
        if not rows:
            continue
        what = (
            f"Column {attribute.name!r} holds {str(values[rows[0]])!r} in row {rows[0] + 1} "
            f"({len(rows)} of {len(matrix)} rows), which has no place among "
            f"{join_names(attribute.categories or ())}"
        )
        if used is None:
            raise ValueError(f"{what}; replace it by one of these or drop these rows first.")
        warnings.warn(f"{what}; it counts as missing.", UserWarning, stacklevel=4)


def _nan_range(matrix: Floats) -> tuple[Floats, Floats]:
    """Smallest and largest known value of each column, 0 where all are missing."""
    unknown = np.isnan(matrix)
    lows = np.where(unknown, np.inf, matrix).min(axis=0, initial=np.inf)
    highs = np.where(unknown, -np.inf, matrix).max(axis=0, initial=-np.inf)
    empty = unknown.all(axis=0)
    return np.where(empty, 0.0, lows), np.where(empty, 0.0, highs)


def _passed_through(table: EncodedTable, attributes: Sequence[Attribute]) -> Floats:
    """The matrix, if its columns are what is asked for; ranges do not matter, codes do."""
    wanted = [(a.name, a.kind, a.categories) for a in attributes]
    if table.attributes is not attributes and wanted != [
        (a.name, a.kind, a.categories) for a in table.attributes
    ]:
        raise ValueError(
            f"The table is encoded for other columns ({join_names(a.name for a in table.attributes)}); "
            "give the table itself."
        )
    return table.matrix


def _numeric_matrix(array: NDArray[Any], attributes: Sequence[Attribute]) -> Floats:
    """Nothing but numbers: no column needs a look of its own unless there is something to see."""
    matrix = np.ascontiguousarray(array, dtype=np.float64)
    if matrix.size and not all_moderate(matrix):
        for attribute, column in zip(attributes, matrix.T, strict=True):
            check_moderate(column, f"Column {attribute.name!r}")
    return matrix


def _encode(column: Any, attribute: Attribute) -> Floats:
    if attribute.kind == "date":
        try:
            return days_since_1970(column)
        except (ValueError, TypeError):
            raise ValueError(f"Column {attribute.name!r} does not hold dates.") from None
    if attribute.categories is None:
        if attribute.is_flag:
            column = flags_as_numbers(plain_column(column, attribute.name))
        values = to_numbers(column, f"Column {attribute.name!r}")
        if values is None:
            raise ValueError(f"Column {attribute.name!r} does not hold numbers.")
        check_moderate(values, f"Column {attribute.name!r}")
        return values
    return _coded(plain_column(column, attribute.name), attribute)


def _coded(values: NDArray[Any], attribute: Attribute) -> Floats:
    coded = category_codes(values, attribute.categories or ())
    if attribute.kind == "ordinal":
        coded[coded < 0.0] = np.nan  # it has no place in the order
    return coded

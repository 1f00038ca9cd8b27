"""Encode tables: named, typed columns become one float64 matrix.

Numeric values stay as they are, nominal values become the position of their category (-1 for one
never seen in training) and missing values become NaN. Everything that computes works on that
matrix.
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
    """A table in the form that everything computes with; functions that take a table take it, too.

    Attributes
    ----------
    matrix : ndarray of float64, shape (n_samples, n_features)
    attributes : tuple of Attribute
        Descriptions of the columns of the matrix.

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
        """Encode any table by the attributes of a rule set: see `to_matrix`."""
        return cls(to_matrix(table, attributes, used), tuple(attributes))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return len(self.matrix), len(self.attributes)

    def __len__(self) -> int:
        return len(self.matrix)

    def take(self, rows: Any) -> "EncodedTable":
        """Return some of the samples."""
        return EncodedTable(self.matrix[rows], self.attributes)


# ------------------------------------------------------------------ training


def describe_columns(matrix: Floats, names: Iterable[str]) -> tuple[Attribute, ...]:
    """Return numeric attributes with the ranges of a matrix; missing values (NaN) are ignored.

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
    """Describe and encode the columns of a data frame to learn from.

    The kind of an attribute is that of the type of its column: see `frri.table.columns.Column`.

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
        attribute, matrix[:, j] = _describe(Column.of(frame[name], str(name)))
        attributes.append(attribute)
    return EncodedTable(matrix, tuple(attributes))


def _describe(column: Column) -> tuple[Attribute, Floats]:
    """Return the attribute of a training column, and its values as numbers."""
    name, values = column.name, column.values
    if column.kind == "nominal":
        if not column.declared:
            check_single(name, values)
            remedy = "turn the whole column into texts if these are categories"
            check_mixture(name, values, remedy)
        texts = {str(value) for value in values if not is_missing(value)}
        attribute = Attribute(name, categories=tuple(sorted(texts)))
        return attribute, _encode_categories(values, attribute)
    if column.kind == "ordinal":
        attribute = Attribute(name, categories=column.order, kind="ordinal")
        return attribute, _encode_categories(values, attribute)
    check_whole_numbers(values, f"Column {name!r}")
    days = column.kind == "date"
    numbers = days_since_1970(values) if days else values.astype(np.float64)
    check_moderate(numbers, f"Column {name!r}")
    low, high = _nan_range(numbers[:, None])
    return Attribute(name, float(low[0]), float(high[0]), kind=column.kind), numbers


def _nan_range(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and largest known value of each column, 0 where all are missing."""
    missing = np.isnan(matrix)
    lows = np.where(missing, np.inf, matrix).min(axis=0, initial=np.inf)
    highs = np.where(missing, -np.inf, matrix).max(axis=0, initial=-np.inf)
    empty = missing.all(axis=0)
    return np.where(empty, 0.0, lows), np.where(empty, 0.0, highs)


# ------------------------------------------------------------------ prediction


def to_matrix(
    table: Any, attributes: Sequence[Attribute], used: Collection[str] | None = None
) -> Floats:
    """Encode the columns of a table that belong to the attributes, as one float64 matrix.

    Parameters
    ----------
    table : array-like, data frame, dict, list of dict or EncodedTable
        A data frame is read by column names (further columns are ignored), and so is a dictionary
        (one sample, or columns) and a list of them (samples); an array is read by position; a table
        that is encoded already for these attributes is passed through.
    attributes : sequence of Attribute
    used : collection of str, optional
        Names of the attributes that are read, by default all. Columns of others need not exist;
        their values are missing.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_features)

    Examples
    --------
    >>> to_matrix([[1, "red"], [2, "green"]], [Attribute("a"), Attribute("b", categories=("red",))])
    array([[ 1.,  0.],
           [ 2., -1.]])
    >>> to_matrix({"a": 1}, [Attribute("a"), Attribute("b")], used=["a"])
    array([[ 1., nan]])
    """
    if isinstance(table, EncodedTable):
        return _pass_through(table, attributes)
    table = Records.of(plain_table(table))
    wanted = [a.name for a in attributes if used is None or a.name in used]
    names = column_names(table)
    if names is not None:
        places = {name: place for place, name in enumerate(names)}
        _check_columns(wanted, names, places)
        if len(table) == 1 and hasattr(table, "iloc"):
            given = _single_row(table, {name: places[name] for name in wanted})
        else:
            given = {name: table[table.columns[places[name]]] for name in wanted}
        return encode_columns([given.get(a.name) for a in attributes], attributes, len(table))
    array = np.asarray(table)
    if array.ndim != 2 or array.shape[1] != len(attributes):
        raise ValueError(
            f"Expected a table of {len(attributes)} columns "
            f"({join_names(a.name for a in attributes)}), got an array of shape {array.shape}."
        )
    if array.dtype.kind in "fiub" and all(a.kind == "numeric" for a in attributes):
        # Only a matrix with a wrong value needs a check of each column.
        matrix = np.ascontiguousarray(array, dtype=np.float64)
        if matrix.size and not all_moderate(matrix):
            for attribute, column in zip(attributes, matrix.T, strict=True):
                check_moderate(column, f"Column {attribute.name!r}")
        return matrix
    columns = [
        column if used is None or attribute.name in used else None
        for attribute, column in zip(attributes, array.T, strict=True)
    ]
    return encode_columns(columns, attributes, len(array))


def _pass_through(table: EncodedTable, attributes: Sequence[Attribute]) -> Floats:
    """Return the matrix, if its columns are those of the attributes; ranges may differ."""
    wanted = [(a.name, a.kind, a.categories) for a in attributes]
    if table.attributes is not attributes and wanted != [
        (a.name, a.kind, a.categories) for a in table.attributes
    ]:
        raise ValueError(
            "The table is encoded for other columns "
            f"({join_names(a.name for a in table.attributes)}); give the table itself."
        )
    return table.matrix


def _check_columns(wanted: Sequence[str], names: list[str], places: Mapping[str, int]) -> None:
    absent = [name for name in wanted if name not in places]
    if absent:
        more = f" (and {len(absent) - 1} more of the model's columns)" if absent[1:] else ""
        raise ValueError(
            f"The table has no column {absent[0]!r}{more}; it has {join_names(names)}. "
            "Rename or add it."
        )
    if len(places) < len(names):
        for name in wanted:
            if names.count(name) > 1:
                raise ValueError(
                    f"The table has more than one column {name!r}; rename one of them."
                )


def _single_row(table: Any, places: Mapping[str, int]) -> dict[str, Any]:
    """Return the columns of one row of pandas: taking each costs as much as everything else."""
    row = table.to_numpy(dtype=object)[0]
    columns = {name: row[place : place + 1] for name, place in places.items()}
    for name, place in places.items():
        value = row[place]
        if isinstance(value, int):  # which stays an integer, as in its column
            columns[name] = np.array([value])
        elif not isinstance(value, float | str):
            columns[name] = table[table.columns[place]]
    return columns


def encode_columns(
    columns: Sequence[Any], attributes: Sequence[Attribute], n_rows: int | None = None
) -> Floats:
    """Encode columns in the order of the attributes; one that is None has missing values only.

    The number of rows is that of the first column unless it is given.

    Examples
    --------
    >>> attributes = [Attribute("a"), Attribute("b", categories=("red",))]
    >>> encode_columns([[1, 2], ["red", None]], attributes)
    array([[ 1.,  0.],
           [ 2., nan]])
    """
    matrix = np.empty((len(columns[0]) if n_rows is None else n_rows, len(attributes)))
    for j, (attribute, column) in enumerate(zip(attributes, columns, strict=True)):
        matrix[:, j] = np.nan if column is None else _encode(column, attribute)
    return matrix


def _encode(column: Any, attribute: Attribute) -> Floats:
    label = f"Column {attribute.name!r}"
    if attribute.kind == "date":
        try:
            return days_since_1970(column)
        except (ValueError, TypeError):
            raise ValueError(f"{label} does not hold dates.") from None
    if attribute.categories is not None:
        return _encode_categories(plain_column(column, attribute.name), attribute)
    if attribute.is_flag:
        column = flags_as_numbers(plain_column(column, attribute.name))
    values = to_numbers(column, label)
    if values is None:
        raise ValueError(f"{label} does not hold numbers.")
    check_moderate(values, label)
    return values


def _encode_categories(values: NDArray[Any], attribute: Attribute) -> Floats:
    codes = category_codes(values, attribute.categories or ())
    if attribute.kind == "ordinal":
        codes[codes < 0.0] = np.nan  # it has no place in the order
    return codes


def check_order(
    table: Any, attributes: Sequence[Attribute], matrix: Floats, used: Collection[str] | None = None
) -> None:
    """Warn of categories without a place in the order of their column, or raise a ValueError.

    Parameters
    ----------
    table, attributes
        As given to `to_matrix`; a table that is encoded already is not checked.
    matrix : ndarray of float64
        The result of `to_matrix`.
    used : collection of str, optional
        Names of the attributes that are read, whose values count as missing then, with a warning.
        By default they are refused.

    Examples
    --------
    >>> size = Attribute("size", categories=("S", "M"), kind="ordinal")
    >>> check_order({"size": ["M", "XL"]}, [size], np.array([[1.0], [np.nan]]))
    Traceback (most recent call last):
        ...
    ValueError: Column 'size' holds 'XL' in row 2 (1 of 2 rows), which has no place among S, M; ...
    """
    if isinstance(table, EncodedTable):
        return
    for j, attribute in enumerate(attributes):
        if attribute.kind != "ordinal" or (used is not None and attribute.name not in used):
            continue
        missing = np.flatnonzero(np.isnan(matrix[:, j]))
        if not len(missing):
            continue
        frame = Records.of(plain_table(table))
        names = column_names(frame)
        if names is None:
            column = np.asarray(frame)[:, j]
        else:
            column = frame[frame.columns[names.index(attribute.name)]]
        values = plain_column(column, attribute.name)
        rows = [row for row in missing if not is_missing(values[row])]
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

"""Read columns of any table (numpy, pandas, polars, Arrow, dictionaries) as plain arrays."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats, find_name
from frri.table.attribute import FARTHEST_DATE

# Tables and columns of pandas, which is imported where a file is read.
if TYPE_CHECKING:
    import pandas as pd

    Frame, Column = pd.DataFrame, pd.Series[Any]
else:
    Frame = Column = Any

# Anything else numpy would take for a year, or for today.
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")


def plain_table(table: Any) -> Any:
    """Convert Arrow tables and lazy frames to data frames, masked or sparse arrays to full ones.

    Anything else stays as it is.

    Examples
    --------
    >>> plain_table(np.ma.array([[1, 2]], mask=[[False, True]]))
    array([[ 1., nan]])
    """
    if isinstance(table, np.ma.MaskedArray):
        values, mask = np.array(table.data), np.ma.getmaskarray(table)
        if mask.any():
            if values.dtype.kind not in "fM":
                values = values.astype(np.float64 if values.dtype.kind in "iu" else object)
            values[mask] = {"f": np.nan, "M": np.datetime64("NaT")}.get(values.dtype.kind)
        return values
    if type(table).__name__ == "LazyFrame" and hasattr(table, "collect"):
        return table.collect()
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        return table.toarray()
    if isinstance(getattr(table, "column_names", None), list) and hasattr(table, "to_pandas"):
        return table.to_pandas(date_as_object=False)
    return table


def column_names(table: Any) -> list[str] | None:
    """Return the column names of a data frame, None for a bare array."""
    columns = getattr(table, "column_names", None)  # of an Arrow table
    if not isinstance(columns, list):
        columns = getattr(table, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def find_columns(table: Any, wanted: Sequence[str]) -> dict[str, Any]:
    """Return columns of a data frame by name, or raise a ValueError."""
    names = column_names(table) or []
    places = {name: place for place, name in enumerate(names)}
    absent = [name for name in wanted if name not in places]
    if absent:
        find_name(absent[0], names, "The table")
    if len(places) < len(names):
        twice = next((name for name in wanted if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"The table has more than one column {twice!r}; rename one of them.")
    columns = list(table.columns)
    return {name: table[columns[places[name]]] for name in wanted}


class Records:
    """A minimal data frame: columns by name, and a number of rows."""

    def __init__(self, columns: Mapping[str, Sequence[Any]], n_rows: int) -> None:
        self.columns, self._columns, self._n_rows = list(columns), columns, n_rows

    def __getitem__(self, name: str) -> Sequence[Any]:
        return self._columns[name]

    def __len__(self) -> int:
        return self._n_rows


def read_records(table: Any) -> Any:
    """Convert a dictionary (one sample, or columns) or a list of them; return others unchanged.

    A key that some of the samples lack is missing there.
    """
    if isinstance(table, Mapping):
        columns = {str(name): values for name, values in table.items()}
        lengths = {len(values) if np.ndim(values) > 0 else None for values in columns.values()}
        if len(lengths) > 1:
            raise ValueError(
                "A dictionary holds either the values of one row or columns of the same length."
            )
        n_rows = next(iter(lengths), None)
        if n_rows is not None:
            return Records(columns, n_rows)
        table = [columns]
    if not (
        isinstance(table, list | tuple) and table and all(isinstance(r, Mapping) for r in table)
    ):
        return table
    rows = [{str(name): value for name, value in row.items()} for row in table]
    names = dict.fromkeys(name for row in rows for name in row)
    return Records({name: [row.get(name) for row in rows] for name in names}, len(rows))


def check_no_records(table: Any) -> None:
    """Raise a TypeError for dictionaries instead of a table to learn from."""
    first = table[0] if isinstance(table, list | tuple) and table else table
    # One type of sparse matrix is a dict.
    if isinstance(first, Mapping) and not hasattr(first, "tocsr"):
        raise TypeError(
            "A table to learn from is a data frame or an array, not dictionaries: "
            "pandas.DataFrame makes one of them."
        )


def kind_of(column: Any) -> str:
    """Return the kind of attribute that a column becomes.

    Numbers are numeric and dates dates; ordered categories (pandas, Arrow; `Enum` in polars) are
    ordinal; other categories, booleans and strings are nominal.

    Examples
    --------
    >>> kind_of(np.array(["2024-05-17"], dtype="datetime64[D]")), kind_of([1]), kind_of([True])
    ('date', 'numeric', 'nominal')
    """
    if ordered_categories(column) is not None:
        return "ordinal"
    return {"O": "nominal", "M": "date"}.get(plain_column(column).dtype.kind, "numeric")


def category_positions(column: Any) -> Any:
    """Return the positions of categories if the type of a column is categorical, else None."""
    if hasattr(getattr(column, "dtype", None), "categories"):
        return getattr(getattr(column, "cat", None), "codes", None)
    return None


def ordered_categories(column: Any) -> tuple[str, ...] | None:
    """Return the categories of a column from low to high, None if there are none or without order.

    Ordered are the categories of pandas that are declared so, and the fixed ones of polars
    (`Enum`), which are compared by their position.
    """
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "ordered", False) is True or type(dtype).__name__ == "Enum":
        return tuple(str(category) for category in dtype.categories)  # type: ignore[union-attr]
    return None


def plain_column(column: Any, label: str = "The column") -> NDArray[Any]:
    """Return the values of a column: numbers, dates (datetime64), or objects with their strings.

    Missing values are NaN among numbers, NaT among dates and recognized by `is_missing` elsewhere.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_column(pd.Series([1, 2], dtype="category"))
    array(['1', '2'], dtype=object)
    >>> plain_column([Decimal("1.5"), None])
    array([1.5, nan])
    >>> plain_column([date(2023, 1, 31), None]).astype("datetime64[D]")
    array(['2023-01-31',        'NaT'], dtype='datetime64[D]')
    """
    codes = category_positions(column)
    if codes is not None:
        texts = np.array([*map(str, column.dtype.categories), None], dtype=object)
        return np.asarray(texts[np.asarray(codes)])
    if isinstance(column, np.ma.MaskedArray):
        column = plain_table(column)
    array = np.asarray(column)
    if array.ndim != 1 and not isinstance(column, np.ndarray):
        array = np.asarray(column, dtype=object)
    if array.dtype.kind in "iufM":
        return array
    if array.dtype.kind in "mcV":
        raise ValueError(
            f"{label} holds values of the type {array.dtype}; turn them into numbers or strings."
        )
    values = array.astype("U").astype(object) if array.dtype.kind == "S" else array.astype(object)
    # Objects that are all numbers, or all dates, are converted.
    first = next((value for value in values if not is_missing(value)), None)
    if is_number_type(type(first)) and all(
        is_number_type(type(v)) or is_missing(v) for v in values
    ):
        return np.array([to_number(v, label, row) for row, v in enumerate(values)])
    if isinstance(first, date) and all(isinstance(v, date) or is_missing(v) for v in values):
        return np.array([_to_utc(v) for v in values], dtype="datetime64[us]")
    return values


def to_numbers(column: Any, label: str) -> Floats:
    """Convert a column to floats; strings are parsed.

    Raises
    ------
    ValueError
        If a string is not a number.
    TypeError
        If a value is neither a number nor a string.
    """
    array = np.asarray(column)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind in "Mm":
        raise ValueError(
            f"{label} holds dates or durations, which are not numbers; encode or drop this column."
        )
    if array.dtype.kind not in "OUS":
        raise TypeError(f"{label} does not hold numbers.")
    return np.array([to_number(value, label, row) for row, value in enumerate(array)], dtype=float)


def days_since_1970(values: Any) -> Floats:
    """Convert dates (numpy, datetime or ISO strings) to days, NaN where missing.

    Examples
    --------
    >>> days_since_1970(np.array(["1970-01-02", "1970-01-01T12"], dtype="datetime64[s]"))
    array([1. , 0.5])
    """
    array = plain_column(values)
    if array.dtype.kind == "f" and np.isnan(array).all():
        return array.astype(np.float64)
    if array.dtype.kind == "O":
        texts = ["NaT" if is_missing(v) else str(v) or "NaT" for v in array]
        if not all(text == "NaT" or _ISO_DATE.match(text) for text in texts):
            raise ValueError("Dates are written like 2024-05-17.")
        array = np.array(texts)
    elif array.dtype.kind != "M":
        raise ValueError("Numbers are not dates.")
    moments = array.astype("datetime64[us]")
    days = moments.astype(np.int64) / 86_400e6
    whole = array.astype("datetime64[D]").astype(np.int64)
    days = np.where(np.abs(whole) > FARTHEST_DATE, whole, days)  # too far for microseconds
    return np.where(np.isnat(moments), np.nan, days)


def is_number_type(kind: type) -> bool:
    """Return whether values of a type are numbers; booleans are none."""
    return issubclass(kind, Real | Decimal) and not issubclass(kind, bool | np.bool_)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT, pandas' NA or numpy's mask.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - NaN and NaT are unequal to themselves
    except TypeError:  # pandas' NA
        return True
    except ValueError:  # an array
        return False


def to_number(value: Any, label: str, row: int) -> float:
    """Convert a value to a float, NaN if it is missing, or raise a ValueError."""
    try:
        return np.nan if is_missing(value) else float(value)
    except OverflowError:
        raise ValueError(
            f"{label} holds {Decimal(int(value)):.0e} in row {row + 1}; "
            "replace it by a finite number or drop the row."
        ) from None
    except ValueError:
        raise ValueError(
            f"{label} holds {str(value)!r} in row {row + 1}, which is not a number; "
            "correct it, or drop the row or the column."
        ) from None


def _to_utc(value: Any) -> Any:
    """Convert a date or time; one in a time zone becomes UTC."""
    if is_missing(value):
        return np.datetime64("NaT")
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")

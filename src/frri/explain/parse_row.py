"""One row in any form, a mapping, a Series, a tuple, a record, a list or a table, and back."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from frri._util import Floats
from frri.table import Attribute, column_names, to_matrix
from frri.table.columns import plain_table


def parse_row(row: Any, attributes: Sequence[Attribute]) -> tuple[Floats, list[str]]:
    """Return the row as an encoded matrix, and its values as text.

    Examples
    --------
    >>> features = Attribute("age", 0, 99), Attribute("job", categories=("a",))
    >>> parse_row({"age": 31.0, "job": None}, features)
    (array([[31., nan]]), ['31', 'missing'])
    """
    names = [attribute.name for attribute in attributes]
    row = plain_table(row)
    columns = column_names(row)
    if columns is None:
        row = _make_table(row, names)
    matrix = to_matrix(row, attributes)
    if len(matrix) != 1:
        raise ValueError(f"One row is explained at a time, got {len(matrix)}.")
    if columns is None:
        values = list(np.asarray(row)[0])
    else:
        values = [np.asarray(row[row.columns[columns.index(name)]])[0] for name in names]
    shown = [
        str(value) if attribute.categories and code < 0 else format_value(attribute, code)
        for attribute, code, value in zip(attributes, matrix[0].tolist(), values, strict=True)
    ]
    return matrix, shown


def format_value(attribute: Attribute, value: float) -> str:
    """Format an encoded value for people."""
    return "missing" if np.isnan(value) else attribute.show(value)


def decode_value(attribute: Attribute, value: float) -> float | str | None:
    """Return an encoded value as a number, an ISO date, a category, or None if missing.

    Examples
    --------
    >>> decode_value(Attribute("day", 19000, 20000, kind="date"), 19358.5)
    '2023-01-01T12:00:00'
    """
    if np.isnan(value):
        return None
    if attribute.categories is not None:
        return attribute.show(value)
    if attribute.kind == "date":
        moment = np.datetime64(0, "us") + np.timedelta64(round(value * 86_400e6), "us")
        return str(moment).removesuffix(".000000").removesuffix("T00:00:00")
    return value


def _make_table(row: Any, names: list[str]) -> Any:
    """Make a table of one row from values by name or in order."""
    row = _to_python(row)
    given = _named_values(row)
    if given is not None:
        counts = Counter(name for name, _ in given)
        for name in names:
            if counts[name] != 1:
                number, remedy = "no value", "give None if it is missing"
                if counts[name]:
                    number, remedy = "more than one value", "rename the others"
                raise ValueError(f"The row has {number} for {name!r}; {remedy}.")
        row = [dict(given)[name] for name in names]
    try:
        is_scalar = isinstance(row, str | bytes | AbstractSet)
        items = [] if is_scalar else [_to_python(item) for item in row]
    except TypeError:
        items = []
    if not items and names:
        raise ValueError(
            "A row is a mapping from column names to values, a Series, a list of values or a table "
            f"of one row, got {row!r}."
        )
    if items and all(isinstance(item, list | tuple | np.ndarray) for item in items):
        return row  # a table of rows
    values = np.empty((1, len(items)), dtype=object)
    values[0] = items
    return values


def _named_values(row: Any) -> list[tuple[str, Any]] | None:
    """Return names and values of a mapping, Series, named tuple or record; None without names."""
    if isinstance(row, np.void) and row.dtype.names:
        return [(name, row[name]) for name in row.dtype.names]
    if hasattr(row, "_asdict"):
        row = row._asdict()
    if hasattr(row, "items"):  # also a pandas Series
        return [(str(name), value) for name, value in row.items()]
    if hasattr(row, "keys"):  # a row of a database
        return [(str(name), row[name]) for name in row.keys()]  # noqa: SIM118
    return None


def _to_python(value: Any) -> Any:
    """Turn a value of Arrow or numpy into one of Python."""
    if hasattr(value, "as_py"):
        return value.as_py()
    return value.item() if isinstance(value, np.number) else value

"""One row, given as a mapping, a Series, a tuple, a record, a list or a table of one row."""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from frri._util import Floats
from frri.table import Attribute, column_names, to_matrix
from frri.table.columns import plain_table


def one_row(row: Any, attributes: Sequence[Attribute]) -> tuple[Floats, list[str]]:
    """The row as a matrix, and its values for people.

    Examples
    --------
    >>> one_row({"age": 31.0, "job": None}, [Attribute("age", 0, 99), Attribute("job", categories=("a",))])
    (array([[31., nan]]), ['31', 'missing'])
    """
    names = [attribute.name for attribute in attributes]
    row = plain_table(row)
    if column_names(row) is None:
        row = _as_table(row, names)
    matrix = to_matrix(row, attributes)
    if len(matrix) != 1:
        raise ValueError(f"One row is explained at a time, got {len(matrix)}.")
    given = _given(row, names)
    shown = [
        str(original) if attribute.categories and value < 0 else shown_value(attribute, value)
        for attribute, value, original in zip(attributes, matrix[0].tolist(), given, strict=True)
    ]
    return matrix, shown


def shown_value(attribute: Attribute, value: float) -> str:
    """An encoded value for people.

    Examples
    --------
    >>> shown_value(Attribute("age", 0, 99), float("nan"))
    'missing'
    """
    return "missing" if np.isnan(value) else attribute.show(value)


def _as_table(row: Any, names: list[str]) -> Any:
    """A table of one row, from whatever has values by name or in order."""
    row = _plain(row)
    given = _named_values(row)
    if given is not None:
        counts = Counter(name for name, _ in given)
        for name in names:
            if not counts[name]:
                raise ValueError(f"The row has no value for {name!r}; give None if it is missing.")
            if counts[name] > 1:
                raise ValueError(
                    f"The row has more than one value for {name!r}; rename the others."
                )
        by_name = dict(given)
        row = [by_name[name] for name in names]
    try:
        items = [] if isinstance(row, str | bytes | AbstractSet) else [_plain(item) for item in row]
    except TypeError:
        items = []
    if not items and names:
        raise ValueError(
            "A row is a mapping from column names to values, a Series, a list of values or a table "
            f"of one row, got {row!r}."
        )
    if items and all(isinstance(item, list | tuple | np.ndarray) for item in items):
        return row  # of rows
    values = np.empty((1, len(items)), dtype=object)
    values[0] = items
    return values


def _named_values(row: Any) -> list[tuple[str, Any]] | None:
    """Names and values of a mapping, a Series, a named tuple or a record; None for mere values."""
    if isinstance(row, np.void) and row.dtype.names:
        return [(name, row[name]) for name in row.dtype.names]
    if hasattr(row, "_asdict"):
        row = row._asdict()
    if not isinstance(row, Mapping) and hasattr(row, "iloc"):  # a pandas Series
        return [(str(name), value) for name, value in zip(row.index, row, strict=True)]
    if isinstance(row, Mapping) or hasattr(row, "keys"):
        return [(str(name), row[name]) for name in row.keys()]  # noqa: SIM118 - of a database's row
    return None


def _plain(value: Any) -> Any:
    """A value of Arrow's or numpy's as one of Python's."""
    if hasattr(value, "as_py"):
        return value.as_py()
    return value.item() if isinstance(value, np.number) else value


def _given(row: Any, names: list[str]) -> list[Any]:
    """The values of a one-row table in the order of the attributes."""
    columns = column_names(row)
    if columns is None:
        return list(np.asarray(row)[0])
    return [np.asarray(row[row.columns[columns.index(name)]])[0] for name in names]

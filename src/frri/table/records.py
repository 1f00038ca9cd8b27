"""Rows as dictionaries, the form in which programs have single rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def check_no_records(table: Any) -> None:
    """Complain about dictionaries where a table to learn from is expected.

    Examples
    --------
    >>> check_no_records([{"age": 31}])
    Traceback (most recent call last):
        ...
    TypeError: A table to learn from is a data frame or an array, not dictionaries: pandas.DataFrame ...
    """
    first = table[0] if isinstance(table, list | tuple) and table else table
    if isinstance(first, Mapping) and not hasattr(
        first, "tocsr"
    ):  # a kind of sparse matrix is a dict
        raise TypeError(
            "A table to learn from is a data frame or an array, not dictionaries: pandas.DataFrame makes "
            "one of them."
        )


class Records:
    """The least of a data frame: names, columns by name, and a number of rows."""

    def __init__(self, columns: Mapping[str, Sequence[Any]], n_rows: int) -> None:
        self._columns, self._n_rows = columns, n_rows

    @classmethod
    def of(cls, table: Any) -> Any:
        """A dictionary (one row, or columns) or a list of them as a table; anything else as it is.

        A key that some of the rows lack is missing there.

        Examples
        --------
        >>> Records.of([{"age": 31, "job": "nurse"}, {"age": 28}])["job"]
        ['nurse', None]
        >>> Records.of({"age": 31})["age"], Records.of({"age": [31, 28]})["age"]
        ([31], [31, 28])
        """
        if isinstance(table, Mapping):
            return cls._of_mapping(table)
        if isinstance(table, list | tuple) and table and all(isinstance(r, Mapping) for r in table):
            names = dict.fromkeys(str(name) for row in table for name in row)
            rows = [{str(name): value for name, value in row.items()} for row in table]
            return cls({name: [row.get(name) for row in rows] for name in names}, len(rows))
        return table

    @classmethod
    def _of_mapping(cls, table: Mapping[Any, Any]) -> "Records":
        columns = {str(name): values for name, values in table.items()}
        listed = {name for name, values in columns.items() if np.ndim(values) > 0}
        if not listed:
            return cls({name: [value] for name, value in columns.items()}, 1)
        lengths = {len(columns[name]) for name in listed}
        if len(listed) < len(columns) or len(lengths) > 1:
            raise ValueError(
                "A dictionary holds either the values of one row or columns of the same length."
            )
        return cls(columns, lengths.pop())

    @property
    def columns(self) -> list[str]:
        """The names."""
        return list(self._columns)

    def __getitem__(self, name: str) -> Sequence[Any]:
        return self._columns[name]

    def __len__(self) -> int:
        return self._n_rows

"""Tables to learn from: classes and weights apart, all other columns of the kinds they are declared."""

from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from frri._util.names import find_name
from frri.readers.tables import read_table
from frri.table.checks import check_kinds
from frri.table.columns import kind_of
from frri.table.kinds import declare, texts

if TYPE_CHECKING:
    import pandas as pd


def read_training(
    source: str | PathLike[str],
    target: str,
    *,
    weights: str | None = None,
    nominal: Collection[str] = (),
    ordinal: Mapping[str, Sequence[str]] | None = None,
    ignore: Collection[str] = (),
) -> "tuple[pd.DataFrame, pd.Series[Any], Any]":
    r"""Read a table to learn from: see `read_table` for its cells and `split_training` for the rest.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("id,size,sold\n1,S,yes\n2,L,no\n3,S,yes\n")
    ...     file.flush()
    ...     X, y, _ = read_training(file.name, "sold", ordinal={"size": ["S", "L"]}, ignore=["id"])
    >>> X["size"].tolist(), y.tolist()
    (['S', 'L', 'S'], ['yes', 'no', 'yes'])
    """
    frame = read_table(source, dict.fromkeys((*nominal, *(ordinal or ())), ()))
    name = "standard input" if source == "-" else str(source)
    return split_training(
        frame, name, target, weights=weights, nominal=nominal, ordinal=ordinal, ignore=ignore
    )


def split_training(
    frame: "pd.DataFrame",
    name: str,
    target: str,
    *,
    weights: str | None = None,
    nominal: Collection[str] = (),
    ordinal: Mapping[str, Sequence[str]] | None = None,
    ignore: Collection[str] = (),
) -> "tuple[pd.DataFrame, pd.Series[Any], Any]":
    """Part a table into condition attributes, classes and weights, and complain about any of them.

    Parameters
    ----------
    frame : pandas.DataFrame
    name : str
        What to call the table in messages.
    target : str
        The column of the classes.
    weights : str, optional
        The column that says how much every row counts.
    nominal, ignore : collections of str
        Columns whose values have no order, and columns to leave out.
    ordinal : mapping, optional
        Columns and their values from low to high.

    Returns
    -------
    X : pandas.DataFrame
    y : pandas.Series
        Whole numbers, truth values or texts.
    weights : array or None

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1, 2, 3], "sold": ["yes", None, "no"]})
    >>> split_training(frame, "cars", "sold")
    Traceback (most recent call last):
        ...
    ValueError: The target 'sold' has no value in row 1 (1 of 3 rows); drop these rows.
    """
    apart = [column for column in (target, weights) if column is not None]
    for column in apart:
        find_name(column, frame.columns, name)
    y = _classes(frame[target])
    weighed = None if weights is None else _weights(frame[weights])
    conditions = frame.drop(columns=apart)
    X = declare(conditions, name, nominal=nominal, ordinal=ordinal, ignore=ignore)
    if X.columns.empty:
        raise ValueError(f"{name} has no column left to learn from.")
    check_kinds(X, declared=(*nominal, *(ordinal or ())))
    return X, y, weighed


def _classes(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The target as whole numbers, truth values or texts."""
    name = column.name
    absent = column.isna()
    if absent.any():
        row = int(absent.to_numpy().argmax())
        raise ValueError(
            f"The target {name!r} has no value in row {row} ({absent.sum()} of {len(column)} rows); "
            "drop these rows."
        )
    if kind_of(column) == "date":
        raise ValueError(f"The target {name!r} holds dates; a classifier needs classes.")
    different = column.nunique()
    if different == len(column) > 2:
        raise ValueError(
            f"The target {name!r} has another value in every row; a classifier needs classes."
        )
    return column if column.dtype.kind in "iufb" else texts(column).rename(name)


def _weights(column: "pd.Series[Any]") -> Any:
    if kind_of(column) != "numeric":
        raise ValueError(f"The weights {column.name!r} are not numbers; choose another column.")
    values = column.to_numpy(dtype=float)
    wrong = ~((values >= 0) & (values < float("inf")))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"The weights {column.name!r} hold {values[row]:g} in row {row}; "
            "they must be 0 or more and finite."
        )
    if not values.any():
        raise ValueError(
            f"The weights {column.name!r} are all 0; at least one row must weigh something."
        )
    return values

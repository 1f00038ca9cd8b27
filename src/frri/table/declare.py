"""Declare types of columns, and summarize the types of a table."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import find_name, import_pandas, join_names
from frri.table.attribute import KINDS, Attribute
from frri.table.encode import EncodedTable

if TYPE_CHECKING:
    import pandas as pd


def declare(
    frame: "pd.DataFrame",
    name: str,
    *,
    nominal: Collection[str] = (),
    ordinal: Mapping[str, Sequence[str]] | None = None,
    ignore: Collection[str] = (),
) -> "pd.DataFrame":
    """Convert columns to categories, ordered or not, and drop others.

    Parameters
    ----------
    frame : pandas.DataFrame
    name : str
        Name of the table in messages.
    nominal, ignore : collections of column names
    ordinal : mapping
        Column names and their values from low to high.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"id": [7, 8], "size": ["S", "L"]})
    >>> declare(table, "table", ordinal={"size": ["S", "M", "L"]}, ignore=["id"]).dtypes.tolist()
    [CategoricalDtype(categories=['S', 'M', 'L'], ordered=True, categories_dtype=object)]
    """
    pd = import_pandas()
    ordinal = ordinal or {}
    for column in (*nominal, *ordinal, *ignore):
        find_name(column, frame.columns, name)
    changed = {column: to_strings(frame[column]) for column in nominal}
    for column, values in ordinal.items():
        changed[column] = _ordered(to_strings(frame[column]), list(values), column, pd)
    return frame.assign(**changed).drop(columns=list(ignore))


def to_strings(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Convert the values of a column to strings, missing ones to None; integers have no decimals.

    Examples
    --------
    >>> import pandas as pd
    >>> to_strings(pd.Series([1.0, None, 2.5])).tolist()
    ['1', None, '2.5']
    """
    known = column.dropna()
    shown = {
        value: str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in known.unique()
    }
    return column.astype(object).map(shown).astype(object).where(column.notna(), None)


def summarize_table(table: EncodedTable) -> str:
    """Summarize the kinds of columns and the missing values; name columns that are not numeric.

    Examples
    --------
    >>> import pandas as pd
    >>> from frri.table import encode_frame
    >>> frame = pd.DataFrame({"age": [31, None], "sex": ["f", "m"], "ok": [True, True]})
    >>> print(summarize_table(encode_frame(frame)))
    2 rows, 3 columns: 1 numeric, 2 nominal; 1 missing value
      nominal: sex (2 values), ok (1 value)
    """
    columns = {kind: [a for a in table.attributes if a.kind == kind] for kind in KINDS}
    counts = ", ".join(f"{len(found)} {kind}" for kind, found in columns.items() if found)
    missing = int(np.isnan(table.matrix).sum())
    head = (
        f"{_number(len(table), 'row')}, {_number(len(table.attributes), 'column')}: {counts}; "
        f"{_number(missing, 'missing value') if missing else 'no missing values'}"
    )
    named = [
        f"  {kind}: {join_names(map(_described, columns[kind]))}"
        for kind in ("date", "ordinal", "nominal")
        if columns[kind]
    ]
    return "\n".join([head, *named])


def _described(attribute: Attribute) -> str:
    if attribute.kind == "ordinal":
        return f"{attribute.name} ({' < '.join(attribute.categories or ())})"
    if attribute.kind == "nominal":
        return f"{attribute.name} ({_number(len(attribute.categories or ()), 'value')})"
    return attribute.name


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _ordered(column: "pd.Series[Any]", values: list[str], name: str, pd: Any) -> "pd.Series[Any]":
    strange = column[column.notna() & ~column.isin(values)]
    if len(strange):
        raise ValueError(
            f"Column {name!r} holds {strange.iloc[0]!r} in row {strange.index[0] + 1}, "
            f"which is not in the order {' < '.join(values)}."
        )
    return pd.Series(pd.Categorical(column, categories=values, ordered=True), index=column.index)

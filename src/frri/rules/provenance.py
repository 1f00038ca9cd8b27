"""Provenance of a rule set: frozen plain JSON values."""

import re
import reprlib
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

import numpy as np

# Maximum depth of nesting, and maximum number of digits of integers.
DEEPEST = 16
MOST_DIGITS = 40
SURROGATE = re.compile("[\ud800-\udfff]")


class About(Mapping[str, Any]):
    """A copy of a mapping of JSON values: frozen all the way down, hashable.

    Lists become tuples. It equals any mapping of the same values.

    Parameters
    ----------
    content : mapping
        Keys are strings; values are strings, finite numbers, booleans, None, and lists and
        mappings of these.
    depth : int
        Maximum depth of nesting.

    Examples
    --------
    >>> about = About({"learner": "FRRI", "parameters": {"work_limit": 60000}})
    >>> about["parameters"]["work_limit"]
    60000
    >>> about.edited().edited()
    About({'learner': 'FRRI', 'parameters': {'work_limit': 60000}, 'edits': 2})
    """

    __slots__ = ("_content",)

    _content: dict[str, Any]

    def __init__(self, content: Mapping[str, Any], *, depth: int = DEEPEST) -> None:
        self._content = {_text(key): _frozen(value, depth) for key, value in content.items()}

    @classmethod
    def saved(cls, content: Mapping[str, Any]) -> "About":
        """Return the provenance in a model file of any version.

        Early versions listed edits by kind under "edited", or left the proof in place.

        Examples
        --------
        >>> edits = {"removed": 1, "changed": 2}
        >>> About.saved({"edited": edits, "selection": {"status": "optimal"}})
        About({'edits': 3})
        """
        return _with_edits(cls(content), 0)

    def edited(self) -> "About":
        """Return the same after one more edit, without proofs: they concerned other rules."""
        return _with_edits(self, 1)

    def plain(self) -> dict[str, Any]:
        """Return the same in dictionaries and lists, for JSON."""
        return dict(_thawed(self))

    def __getitem__(self, key: str) -> Any:
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self.plain() == _thawed(other)

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"About({self.plain()!r})"


def plain_scalar(value: Any) -> Any:
    """Return a scalar of numpy as one of Python, which can be saved; other values as they are.

    Examples
    --------
    >>> import numpy as np
    >>> plain_scalar(np.int64(1)), plain_scalar("yes")
    (1, 'yes')
    """
    return value.item() if isinstance(value, np.generic) else value


def _frozen(value: Any, depth: int) -> Any:
    value = plain_scalar(value)
    if isinstance(value, str):
        return _text(value)
    if value is None or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, int) and abs(value) < 10**MOST_DIGITS:
        return value
    if depth and isinstance(value, list | tuple):
        return tuple(_frozen(item, depth - 1) for item in value)
    if depth and isinstance(value, Mapping):
        return About(value, depth=depth - 1)
    raise _unfit(value)


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thawed(item) for key, item in value.items()}
    return [_thawed(item) for item in value] if isinstance(value, list | tuple) else value


def _text(value: Any) -> str:
    if not isinstance(value, str) or SURROGATE.search(value):
        raise _unfit(value)
    return str(value)


def _unfit(value: Any) -> ValueError:
    return ValueError(
        f"The description of a ruleset has {reprlib.repr(value)} where a plain JSON value of "
        "moderate depth belongs; turn it into a text."
    )


# What an edit invalidates, and the old name of the number of edits.
_PROOFS = {"selection", "intervals", "monotone", "frontier", "edited"}


def _with_edits(about: About, more: int) -> About:
    """Return the same after some more edits, without proofs if there are any edits at all."""
    known = about.get("edits", about.get("edited"))
    counts = known.values() if isinstance(known, Mapping) else (known,)
    edits = more + sum(count for count in counts if isinstance(count, int) and count > 0)
    kept = {key: value for key, value in about.items() if key not in _PROOFS}
    return About(kept | {"edits": edits}) if edits else about

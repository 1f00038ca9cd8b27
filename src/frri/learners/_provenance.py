"""Where rules come from: what a saved model says about the learner, its settings and its data."""

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from typing import Any

import numpy as np

from frri import __version__
from frri.table import Attribute

# Arrays with more values than this (an order of attributes for every row) are only described.
MOST_VALUES = 1_000


def provenance(
    learner: str, parameters: Mapping[str, Any], attributes: Sequence[Attribute], n_rows: int
) -> dict[str, Any]:
    """Learner, version, parameters, date, rows and columns, as plain JSON values.

    Parameters
    ----------
    learner : str
    parameters : mapping
        All parameters of the learner, as `get_params` gives them.
    attributes : sequence of Attribute
    n_rows : int
        How many rows the rules were learned from.

    Examples
    --------
    >>> about = provenance("FRRI", {"effort": 3}, [Attribute("age"), Attribute("size")], 150)
    >>> about["parameters"], about["rows"], about["columns"]
    ({'effort': 3}, 150, '...')
    """
    return {
        "learner": learner,
        "frri": __version__,
        "parameters": {name: _plain(value) for name, value in parameters.items()},
        "date": _now(),
        "rows": n_rows,
        "columns": column_digest(attributes),
    }


def column_digest(attributes: Sequence[Attribute]) -> str:
    """A short text that changes with the name, the kind or the order of any column.

    Examples
    --------
    >>> column_digest([Attribute("a")]) == column_digest([Attribute("a", 1, 2)])
    True
    >>> column_digest([Attribute("a")]) == column_digest([Attribute("a", kind="date")])
    False
    """
    columns = [[attribute.name, attribute.kind] for attribute in attributes]
    return sha256(json.dumps(columns).encode()).hexdigest()[:16]


def _now() -> str:
    """The moment in Greenwich, to the second; SOURCE_DATE_EPOCH sets it for files that must repeat."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.now(UTC) if given is None else datetime.fromtimestamp(int(given), UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"SOURCE_DATE_EPOCH must be a moderate number of seconds since 1970, got {given!r}."
        ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _plain(value: Any) -> Any:
    """A parameter as JSON values; what has no such form is described."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist() if value.size <= MOST_VALUES else f"array of shape {value.shape}"
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)] if len(value) <= MOST_VALUES else f"{len(value)} values"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if isfinite(value) else str(value)
    shown = value if isinstance(value, str) else type(value).__name__
    return shown.encode(errors="backslashreplace").decode()

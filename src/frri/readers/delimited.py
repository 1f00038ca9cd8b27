"""Separated values: separator, encoding and decimal mark are recognised, kinds are inferred."""

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from frri._util.optional import import_pandas
from frri.readers.encoding import decoded
from frri.readers.texts import MISSING, cleaned, converted, with_texts

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = ",;\t|"

# How a spreadsheet may announce its separator on a first line of its own.
_ANNOUNCED = re.compile(r"\s*sep=(.)\n")

_LONG_ROW = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


def read_delimited(
    content: bytes, name: str, texts: Mapping[str, Collection[str]] | None = None
) -> "pd.DataFrame":
    r"""A table from the bytes of a file of separated values.

    Parameters
    ----------
    content : bytes
    name : str
        What to call the file in messages.
    texts : mapping, optional
        Columns that hold texts even if they look like numbers, and their known values: these are never
        taken for missing.

    Examples
    --------
    >>> read_delimited(b"a\tb\n1\tx\n", "example")
       a  b
    0  1  x
    >>> read_delimited(b"code\n01\nNA\n", "example", texts={"code": ["01"]})
      code
    0   01
    1  NaN
    """
    known = texts or {}
    layout = _layout(decoded(content, name), name)
    frame = _parsed(layout, name, known)
    if len(layout.columns) > 1 and not layout.columns[-1] and frame.iloc[:, -1].isna().all():
        # A separator at the end of every line makes a column with neither name nor values.
        layout.columns.pop()
        frame = frame.iloc[:, :-1]
    frame.columns = layout.columns
    _check_names(layout.columns, name)
    if frame.empty:
        raise ValueError(f"{name} has column names but no rows.")
    if frame.iloc[:, -1].isna().any():
        _check_lengths(layout, name)
    commas = layout.separator != ","
    return with_texts(
        frame,
        lambda column, values: (
            cleaned(values, known[column])
            if column in known
            else converted(values, decimal_commas=commas)
        ),
    )


@dataclass
class _Layout:
    """A text of separated values and what its first lines tell."""

    text: str
    separator: str
    columns: list[str]


def _layout(text: str, name: str) -> _Layout:
    """The column names, by the separator that gives the most of them."""
    announced = _ANNOUNCED.match(text)
    if announced:
        text = text[announced.end() :]
    text = text.lstrip("\ufeff\n").rstrip("\x1a")
    candidates = announced[1] if announced else SEPARATORS
    rows = {separator: _first_row(text, separator, name) for separator in candidates}
    separator = max(candidates, key=lambda s: len(rows[s]))
    if len(rows[separator]) == 1 and _spaced(text):
        separator = " "
        rows[" "] = _first_row(text.lstrip(" "), " ", name)
    return _Layout(text, separator, [column.strip() for column in rows[separator]])


def _first_row(text: str, separator: str, name: str) -> list[str]:
    lines = io.StringIO(text)
    try:
        return next(csv.reader(lines, delimiter=separator, skipinitialspace=True))
    except (csv.Error, StopIteration):
        raise ValueError(f"{name} does not begin with a line of column names.") from None


def _spaced(text: str) -> bool:
    """Whether the first lines are all parted by spaces into equally many values, two or more."""
    counts = {len(line.split()) for line in text[:10_000].splitlines()[:20] if line.strip()}
    return len(counts) == 1 and counts.pop() > 1 and '"' not in text[:10_000]


def _parsed(layout: _Layout, name: str, texts: Mapping[str, Collection[str]]) -> "pd.DataFrame":
    pd = import_pandas()
    # Positions for names: blank and repeated ones are dealt with later.
    places = {column: place for place, column in enumerate(layout.columns)}
    kept = {place: texts[column] for column, place in places.items() if column in texts}
    try:
        frame = pd.read_csv(
            io.StringIO(layout.text),
            sep=r"\s+" if layout.separator == " " else layout.separator,
            header=0,
            names=range(len(layout.columns)),
            dtype=dict.fromkeys(kept, str),
            skipinitialspace=True,
            na_values=_missing(len(layout.columns), kept),
            keep_default_na=False,
            low_memory=False,
            # To the last bit: a database that reads the same file must find the same thresholds in it.
            float_precision="round_trip",
        )
    except (ValueError, OverflowError) as error:  # pandas' own errors are ValueErrors
        raise ValueError(f"{name}: {_reason(str(error))}.") from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise ValueError(  # noqa: TRY004 - of the file, not of a type
            f"{name}: the rows have more values than the {len(layout.columns)} names of the header."
        )
    return frame


def _missing(
    n_columns: int, texts: Mapping[int, Collection[str]]
) -> list[str] | dict[int, list[str]]:
    """The marks of missing values, for each column where one of them is a known value of one."""
    if not any(mark in known for known in texts.values() for mark in MISSING):
        return MISSING
    return {
        place: [mark for mark in MISSING if mark not in texts.get(place, ())]
        for place in range(n_columns)
    }


def _reason(complaint: str) -> str:
    """What the parser says, in the words of people."""
    long_row = _LONG_ROW.search(complaint)
    if long_row:
        wanted, line, found = long_row.groups()
        return f"line {line} has {found} values, the header {wanted} names"
    if "EOF inside string" in complaint:
        return "a quotation mark is opened and never closed"
    return complaint.strip().rstrip(".")


def _check_names(columns: list[str], name: str) -> None:
    if "" in columns:
        place = columns.index("") + 1
        raise ValueError(f"{name}: column {place} has no name; give every column one.")
    twice, count = Counter(columns).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{name} has more than one column {twice!r}; rename one of them.")


def _check_lengths(layout: _Layout, name: str) -> None:
    """Complain about rows that end early, which the parser fills up with missing values."""
    if layout.separator == " ":
        rows = ((i, line.split()) for i, line in enumerate(layout.text.splitlines(), start=1))
    else:
        reader = csv.reader(
            io.StringIO(layout.text), delimiter=layout.separator, skipinitialspace=True
        )
        rows = ((reader.line_num, row) for row in reader)
    try:
        for line, row in rows:
            if 0 < len(row) < len(layout.columns):
                raise ValueError(
                    f"{name}: line {line} has {len(row)} values, "
                    f"the header {len(layout.columns)} names."
                )
    except csv.Error as error:
        raise ValueError(f"{name}: {error}.") from None

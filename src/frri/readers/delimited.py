"""Separated values: separator, encoding and decimal mark are recognised, kinds are inferred."""

import codecs
import csv
import io
import re
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from frri._util import import_pandas, quote_name
from frri.readers.infer_types import (
    MISSING,
    clean_column,
    infer_classes,
    infer_column,
    map_string_columns,
)

if TYPE_CHECKING:
    import pandas as pd


SEPARATORS = ",;\t|"

# So many characters tell how a file is laid out.
SAMPLE = 10_000

# What programs call the column that numbers or names the rows, where they call it anything.
_NO_NAME = {"", "Unnamed: 0"}
_ROW_NAMES = _NO_NAME | {"rownames", "row.names", "row_names", "rowname"}

# How a spreadsheet may announce its separator on a first line of its own.
_ANNOUNCED = re.compile(r"\s*sep=(.)\n")

_NUMBER = re.compile(r"[-+]?[\d.,]*\d([eE][-+]?\d+)?%?")

_CODE = re.compile(r"0\d+")

_LONG_ROW = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


def read_delimited(
    content: bytes,
    name: str,
    texts: Mapping[str, Collection[str]] | None = None,
    *,
    missing: Collection[str] = (),
    date_format: str | None = None,
    classes: str | None = None,
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
    missing : collection of str
        Further marks of missing values.
    date_format, classes : str, optional
        See `frri.readers.read_table`.

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
    layout = find_layout(decode(content, name), name)
    as_written = known if classes is None else {classes: (), **known}
    frame = _parsed(layout, name, as_written, [*MISSING, *missing])
    if frame.empty:
        raise ValueError(f"{name} has column names but no rows.")
    if frame.iloc[:, -1].isna().any():
        _check_lengths(layout, name)
    _warn_about_codes(frame, layout)
    frame = _named(frame, layout.columns, name, set(known))
    commas = layout.separator != ","

    def changed(column: str, values: "pd.Series[Any]") -> "pd.Series[Any]":
        if column in known:
            return clean_column(values, known[column], missing)
        if column == classes:
            return infer_classes(values, decimal_commas=commas, missing=missing)
        return infer_column(values, decimal_commas=commas, missing=missing, date_format=date_format)

    return map_string_columns(frame, changed)


def _warn_about_codes(frame: "pd.DataFrame", layout: "Layout") -> None:
    """Postcodes and the like are written with digits and are no quantities; the first rows tell."""
    rows = [
        row
        for row in _first_rows(layout.text, layout.separator)[1:]
        if len(row) == len(layout.columns)
    ]
    for place, dtype in enumerate(frame.dtypes):
        code = next((row[place] for row in rows if _CODE.fullmatch(row[place])), None)
        if dtype.kind in "iu" and code is not None:
            column = layout.columns[place]
            warnings.warn(
                f"Column {column!r} holds {code!r}, as codes are written; it is taken as a number "
                f"(--nominal {quote_name(column)} takes it as a name).",
                UserWarning,
                stacklevel=3,
            )


@dataclass
class Layout:
    """A text of separated values and what its first lines tell."""

    text: str
    separator: str
    columns: list[str]


def find_layout(text: str, name: str) -> Layout:
    """The column names, by the separator that gives the most of them."""
    announced = _ANNOUNCED.match(text)
    if announced:
        text = text[announced.end() :]
    text = text.lstrip("\ufeff\n").rstrip("\x1a")
    text = _without_title(_without_comments(text), name)
    candidates = announced[1] if announced else SEPARATORS
    rows = {separator: _first_row(text, separator, name) for separator in candidates}
    separator = max(candidates, key=lambda s: len(rows[s]))
    if len(rows[separator]) == 1 and _spaced(text):
        separator = " "
        rows[" "] = _first_row(text.lstrip(" "), " ", name)
    columns = [column.strip() for column in rows[separator]]
    if _names_rows(_first_rows(text, separator), len(columns)):
        columns.insert(0, "")
    return Layout(text, separator, _distinct(columns, name))


def _without_comments(text: str) -> str:
    """Without the lines above the header that begin with # and have not as many values as the next."""
    while text.startswith("#"):
        comment, _, rest = text.partition("\n")
        following = next((line for line in rest.split("\n") if line and line[0] != "#"), "")
        separator = max(SEPARATORS, key=following.count)
        if not following or comment.count(separator) == following.count(separator):
            break
        text = rest.lstrip("\n")
    return text


def _without_title(text: str, name: str) -> str:
    """Without lines of one value above a table of several columns, with a note."""
    for separator in SEPARATORS:
        rows = _first_rows(text, separator)
        filled = [sum(map(bool, row)) for row in rows]
        start = next((i for i, cells in enumerate(filled) if cells > 1), 0)
        header, below = rows[start] if rows else [], [row for row in rows[start + 1 :] if row]
        # A single name above columns without names, or above numbers, is a header all the same.
        if not start or not all(header) or any(map(_NUMBER.fullmatch, header)):
            continue
        *above, line = text.split("\n", start + 1)[: start + 1]
        title = "\n".join(above)
        parted = any(above[0].count(s) == line.count(s) > 0 for s in SEPARATORS if s != separator)
        if (
            {len(row) for row in below} == {len(header)}
            and not parted
            and title.count('"') % 2 == 0
        ):
            warnings.warn(
                f"{name}: the table begins in line {start + 1}; what is written above is left out.",
                UserWarning,
                stacklevel=2,
            )
            return text[len(title) + 1 :]
    return text


def _first_rows(text: str, separator: str) -> list[list[str]]:
    """The values of the first lines."""
    lines = text[:SAMPLE].split("\n")
    if len(text) > SAMPLE:
        lines.pop()  # it is cut off
    try:
        bare = (line.strip(" ") for line in lines)
        rows = csv.reader(bare, delimiter=separator, skipinitialspace=True)
        return [[cell.strip() for cell in row if cell or separator != " "] for row in rows]
    except csv.Error:
        return []


def _names_rows(rows: list[list[str]], n_columns: int) -> bool:
    """Whether a header lacks one name, that of the first column, in which R names or counts the rows."""
    _, *below = [row for row in rows if row] or [[]]
    if {len(row) for row in below} != {n_columns + 1} or not any(row[-1] for row in below):
        return False
    first = [row[0] for row in below]
    counted = first == [str(i) for i in range(1, len(first) + 1)]
    return counted or not all(map(_NUMBER.fullmatch, first))


def _first_row(text: str, separator: str, name: str) -> list[str]:
    lines = io.StringIO(text)
    try:
        return next(csv.reader(lines, delimiter=separator, skipinitialspace=True))
    except (csv.Error, StopIteration):
        raise ValueError(f"{name} does not begin with a line of column names.") from None


def _spaced(text: str) -> bool:
    """Whether the first lines are all parted by spaces into equally many values, two or more."""
    rows = [row for row in _first_rows(text, " ")[:20] if row]
    counts = {len(row) for row in rows[1:] or rows}
    return len(counts) == 1 and len(rows[0]) > 1 and len(rows[0]) - counts.pop() in {0, -1}


def _distinct(columns: list[str], name: str) -> list[str]:
    """Column names of which repeated ones have got a number, as pandas does it."""
    found: list[str] = []
    for column in columns:
        new, count = column, 0
        while new and (new in found or (count and new in columns)):
            count += 1
            new = f"{column}.{count}"
        if count:
            warnings.warn(
                f"{name} has more than one column {column!r}; a later one is called {new!r}.",
                UserWarning,
                stacklevel=2,
            )
        found.append(new)
    return found


def _parsed(
    layout: Layout, name: str, texts: Mapping[str, Collection[str]], marks: list[str]
) -> "pd.DataFrame":
    pd = import_pandas()
    # Positions for names: blank ones are dealt with later.
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
            na_values=_missing(len(layout.columns), kept, marks),
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
    n_columns: int, texts: Mapping[int, Collection[str]], marks: list[str]
) -> list[str] | dict[int, list[str]]:
    """The marks of missing values, for each column where one of them is a known value of one."""
    if not any(mark in known for known in texts.values() for mark in marks):
        return marks
    return {
        place: [mark for mark in marks if mark not in texts.get(place, ())]
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


def _named(
    frame: "pd.DataFrame", columns: list[str], name: str, wanted: Collection[str]
) -> "pd.DataFrame":
    """The columns that have a name, or values; the index that pandas and R write only if it is wanted."""
    unnamed = [place for place, column in enumerate(columns) if not column]
    # Separators at the ends of lines make columns with neither name nor values.
    empty = [place for place in unnamed if frame.iloc[:, place].isna().all()]
    for place, column in enumerate(columns):
        if column not in _ROW_NAMES or not (place in empty or _is_index(frame.iloc[:, place])):
            break
        if place not in empty and column not in wanted:
            empty.append(place)
            called = f"is called {column!r}" if column not in _NO_NAME else "has no name"
            warnings.warn(
                f"{name}: the first column {called} and numbers or names the rows; it is left out.",
                UserWarning,
                stacklevel=2,
            )
    for place in unnamed:
        if place not in empty:
            raise ValueError(f"{name}: column {place + 1} has no name; give every column one.")
    kept = [place for place in range(len(columns)) if place not in empty]
    if not kept:
        raise ValueError(f"{name} does not begin with a line of column names.")
    frame = frame.iloc[:, kept] if empty else frame
    frame.columns = [columns[place] for place in kept]
    return frame


def _is_index(values: "pd.Series[Any]") -> bool:
    return bool(values.notna().all()) and (values.dtype.kind == "i" or values.is_unique)


def _check_lengths(layout: Layout, name: str) -> None:
    """Complain about rows that end early, which the parser fills up with missing values."""
    if layout.separator == " ":
        rows = ((i, line.split()) for i, line in enumerate(layout.text.splitlines(), start=1))
    else:
        reader = csv.reader(
            io.StringIO(layout.text), delimiter=layout.separator, skipinitialspace=True
        )
        rows = ((reader.line_num, row) for row in reader)
    try:
        next(rows)  # the header, which R makes one name short
        for line, row in rows:
            if 0 < len(row) < len(layout.columns):
                raise ValueError(
                    f"{name}: line {line} has {len(row)} values, "
                    f"the header {len(layout.columns)} names."
                )
    except csv.Error as error:
        raise ValueError(f"{name}: {error}.") from None


# What texts do not contain: control characters other than tabs, line breaks and the old end of file.
_CONTROL = re.compile("[\x00-\x08\x0e-\x19\x1b-\x1f]")


def decode(content: bytes, name: str) -> str:
    r"""The text of a file in UTF-8, in UTF-16 with its mark, or else in Windows' Western European.

    Lines end with a line feed, whatever they ended with in the file.

    Examples
    --------
    >>> decode("größe".encode("cp1252"), "example"), decode("größe".encode("utf-16"), "example")
    ('größe', 'größe')
    >>> decode(b"\x00\x01", "example")
    Traceback (most recent call last):
        ...
    ValueError: example is a binary file, not a table in text form.
    """
    text = _text(content)
    if text is None or _CONTROL.search(text):
        raise ValueError(f"{name} is a binary file, not a table in text form.")
    if not text.strip("\ufeff\x1a \t\v\f\r\n"):
        raise ValueError(f"{name} is empty.")
    # One line end: pandas' parser goes astray where a carriage return is followed by a space.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def is_wide(content: bytes) -> bool:
    """Whether a file says that it is in UTF-16, with two bytes or more for each character."""
    return content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _text(content: bytes) -> str | None:
    if is_wide(content):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            return None
    if b"\x00" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Five of the 256 bytes mean nothing there: they become the replacement character.
        return content.decode("cp1252", errors="replace")

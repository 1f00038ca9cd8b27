"""Read separated values: separator, encoding, decimal mark and types of columns are inferred."""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import NamedTuple

from frri._util import import_pandas, quote_name
from frri.readers.infer_types import NA_VALUES, ReadOptions, infer_columns, warn
from frri.table.columns import Frame

SEPARATORS = ",;\t|"

# About the number of cells from which the layout of a file is inferred.
SAMPLE = 2_000

# Names of a first column that numbers or names the rows, as programs write them.
_NO_NAME = {"", "Unnamed: 0"}
_ROW_NAMES = _NO_NAME | {"rownames", "row.names", "row_names", "rowname"}

# The line in which a spreadsheet program may state the separator.
_STATED = re.compile(r"\s*sep=(.)\n")

_NUMBER = re.compile(r"[-+]?[\d.,]*\d([eE][-+]?\d+)?%?")
_CODE = re.compile(r"0\d+")


def read_delimited(content: bytes, name: str, options: ReadOptions) -> Frame:
    r"""Read a table from the bytes of a file of separated values; messages call it by its name.

    Examples
    --------
    >>> read_delimited(b"a\tb\n1\tx\n", "example", ReadOptions())
       a  b
    0  1  x
    >>> read_delimited(b"code\n01\nNA\n", "example", ReadOptions({"code": ["01"]}))
      code
    0   01
    1  NaN
    """
    return read_layout(find_layout(decode(content, name), name), name, options)


def read_layout(layout: "Layout", name: str, options: ReadOptions) -> Frame:
    """Read a table whose layout is known."""
    rows = [row for row in _first_rows(layout.text, layout.separator)[1:] if row]
    n_columns = len(layout.columns)
    if rows and len(rows[0]) > n_columns:  # pandas would take the first column for an index
        _check_lengths(layout, name)
    frame = _parse(layout, name, options)
    if frame.iloc[:, -1].isna().any():
        _check_lengths(layout, name)
    _warn_about_codes(frame, layout.columns, [row for row in rows if len(row) == n_columns])
    frame = _set_names(frame, layout.columns, name, set(options.strings))
    return infer_columns(frame, options._replace(decimal_commas=layout.separator != ","))


# ------------------------------------------------------------------ encoding
# Control characters other than tabs, line breaks and the old end of file: texts have none.
_CONTROL = re.compile("[\x00-\x08\x0e-\x19\x1b-\x1f]")


def decode(content: bytes, name: str) -> str:
    r"""Decode UTF-8, UTF-16 with its mark, or else Windows' Western European.

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
    wide = is_utf16(content)
    try:
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        # Five of the 256 bytes have no meaning there: they become the replacement character.
        text = "\0" if wide else content.decode("cp1252", errors="replace")
    if _CONTROL.search(text):
        raise ValueError(f"{name} is a binary file, not a table in text form.")
    if not text.strip("\ufeff\x1a \t\v\f\r\n"):
        raise ValueError(f"{name} is empty.")
    # One line end: pandas' parser fails where a carriage return is followed by a space.
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\x1a")


def is_utf16(content: bytes) -> bool:
    """Return whether a file begins with a mark of UTF-16."""
    return content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


# ------------------------------------------------------------------ layout
class Layout(NamedTuple):
    """A text of separated values from its header on, its separator and its column names."""

    text: str
    separator: str
    columns: list[str]


def find_layout(text: str, name: str) -> Layout:
    """Return the layout by the separator that gives the most column names."""
    stated = _STATED.match(text)
    if stated:
        text = text[stated.end() :]
    text = _without_title(_without_comments(text.lstrip("\ufeff\n")), name)
    found = {one: _first_rows(text, one) for one in (stated[1] if stated else SEPARATORS)}
    separator = max(found, key=lambda one: len(found[one][0]) if found[one] else 0)
    rows = found[separator]
    if rows and len(rows[0]) == 1 and _is_spaced(spaced := _first_rows(text, " ")):
        separator, rows = " ", spaced
    if not rows or not rows[0]:
        raise ValueError(f"{name} does not begin with a line of column names.")
    columns = [""] * _has_row_names(rows) + rows[0]
    return Layout(text, separator, _distinct(columns, name))


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the last line of each row, and its values."""
    # One line at a time: a copy of a large text takes long.
    lines = (line[0] for line in re.finditer(r".*\n|.+", text))
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    for row in reader:
        cells = [cell.strip() for cell in row]
        spaced = separator == " " or cells == [""]
        yield reader.line_num, [cell for cell in cells if cell] if spaced else cells


def _first_rows(text: str, separator: str) -> list[list[str]]:
    """Return the values of the first rows."""
    found: list[list[str]] = []
    with suppress(csv.Error):
        for _, row in _rows(text, separator):
            found.append(row)
            if len(found) * (len(found[0]) + 1) > SAMPLE:
                break
    return found


def _without_comments(text: str) -> str:
    """Drop lines above the header that begin with # and have not as many values as the next one."""
    while text.startswith("#"):
        comment, _, rest = text.partition("\n")
        following = next((line for line in rest.split("\n") if line and line[0] != "#"), "")
        separator = max(SEPARATORS, key=following.count)
        if not following or comment.count(separator) == following.count(separator):
            break
        text = rest.lstrip("\n")
    return text


def _without_title(text: str, name: str) -> str:
    """Drop lines of one value above a table of several columns, with a note."""
    for separator in SEPARATORS:
        rows = _first_rows(text, separator)
        start = next((i for i, row in enumerate(rows) if sum(map(bool, row)) > 1), 0)
        # A single name above columns without names, or above numbers, is a header all the same.
        if not start or not all(rows[start]) or any(map(_NUMBER.fullmatch, rows[start])):
            continue
        *above, line = text.split("\n", start + 1)[: start + 1]
        title = "\n".join(above)
        split = any(above[0].count(s) == line.count(s) > 0 for s in SEPARATORS if s != separator)
        equal = {len(row) for row in rows[start + 1 :] if row} == {len(rows[start])}
        if equal and not split and title.count('"') % 2 == 0:
            warn(
                f"{name}: the table begins in line {start + 1}; what is written above is left out."
            )
            return text[len(title) + 1 :]
    return text


def _has_row_names(rows: list[list[str]]) -> bool:
    """Return whether a header lacks the name of the first column, where R names or counts rows."""
    header, *below = [row for row in rows if row] or [[]]
    if {len(row) for row in below} != {len(header) + 1} or not any(row[-1] for row in below):
        return False
    first = [row[0] for row in below]
    counted = first == [str(i) for i in range(1, len(first) + 1)]
    return counted or not all(map(_NUMBER.fullmatch, first))


def _is_spaced(rows: list[list[str]]) -> bool:
    """Return whether spaces separate the first lines into equally many values, two or more."""
    header, *below = [row for row in rows if row][:20] or [[]]
    counts = {len(row) for row in below or [header]}
    return len(header) > 1 and counts in ({len(header)}, {len(header) + 1})


def _distinct(columns: list[str], name: str) -> list[str]:
    """Append numbers to repeated column names, as pandas does."""
    found: list[str] = []
    for column in columns:
        new, count = column, 0
        while new and (new in found or (count and new in columns)):
            count += 1
            new = f"{column}.{count}"
        if count:
            warn(f"{name} has more than one column {column!r}; a later one is called {new!r}.")
        found.append(new)
    return found


# ------------------------------------------------------------------ cells
def _parse(layout: Layout, name: str, options: ReadOptions) -> Frame:
    """Parse the cells; columns are called by their positions."""
    pd = import_pandas()
    marks = [*NA_VALUES, *options.na_values]
    known = {place: options.known_values(column) for place, column in enumerate(layout.columns)}
    kept = {place for place, values in known.items() if values is not None}
    kept |= {place for place, column in enumerate(layout.columns) if column == options.classes}
    # To the last bit: a database that reads the same file must find the same thresholds.
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    exact = {"float_precision": "round_trip"} if version < (3, 1) else {}  # later always so
    try:
        return pd.read_csv(
            io.StringIO(layout.text),
            sep=r"\s+" if layout.separator == " " else layout.separator,
            header=0,
            names=range(len(layout.columns)),
            dtype=dict.fromkeys(kept, str),
            skipinitialspace=True,
            na_values={
                place: [mark for mark in marks if mark not in (values or ())]
                for place, values in known.items()
            },
            keep_default_na=False,
            low_memory=False,
            **exact,
        )
    except (ValueError, OverflowError) as error:  # pandas' own errors are ValueErrors
        reason = str(error).strip().rstrip(".")
        if "EOF inside string" in reason:
            reason = "a quotation mark is opened and never closed"
        else:
            _check_lengths(layout, name)
        raise ValueError(f"{name}: {reason}.") from None


def _check_lengths(layout: Layout, name: str) -> None:
    """Raise a ValueError for a row with more values than columns, or with fewer.

    The parser would fill a row that ends early with missing values.
    """
    wanted = len(layout.columns)
    rows = _rows(layout.text, layout.separator)
    try:
        next(rows)  # the header, which R makes one name short
        wrong = next(((line, len(row)) for line, row in rows if len(row) not in {0, wanted}), None)
    except csv.Error as error:
        raise ValueError(f"{name}: {error}.") from None
    if wrong is not None:
        raise ValueError(
            f"{name}: line {wrong[0]} has {wrong[1]} values, the header {wanted} names."
        )


def _warn_about_codes(frame: Frame, columns: list[str], rows: list[list[str]]) -> None:
    """Warn of postcodes and the like in the first rows, which are no quantities."""
    for place, (column, dtype) in enumerate(zip(columns, frame.dtypes, strict=True)):
        code = next((row[place] for row in rows if _CODE.fullmatch(row[place])), None)
        if dtype.kind in "iu" and code is not None:
            warn(
                f"Column {column!r} holds {code!r}, as codes are written; it is taken as a number "
                f"(--nominal {quote_name(column)} takes it as a name)."
            )


def _set_names(frame: Frame, columns: list[str], name: str, wanted: Collection[str]) -> Frame:
    """Name the columns; drop those without name and values, and an index that nobody wants."""
    unnamed = [place for place, column in enumerate(columns) if not column]
    # Separators at the ends of lines make columns with neither name nor values.
    empty = [place for place in unnamed if frame.iloc[:, place].isna().all()]
    for place, column in enumerate(columns):
        values = frame.iloc[:, place]
        index = values.notna().all() and (values.dtype.kind == "i" or values.is_unique)
        if column not in _ROW_NAMES or not (place in empty or index):
            break
        if place not in empty and column not in wanted:
            empty.append(place)
            called = f"is called {column!r}" if column not in _NO_NAME else "has no name"
            warn(
                f"{name}: the first column {called} and numbers or names the rows; it is left out."
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

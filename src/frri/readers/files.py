"""One function for all file formats; what comes out is a data frame of numbers, dates and texts."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from os import PathLike
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from frri._util import import_optional, import_pandas
from frri.readers.arff import read_arff
from frri.readers.delimited import decode, read_delimited
from frri.readers.infer_types import (
    check_date_format,
    clean_column,
    infer_classes,
    infer_column,
    map_string_columns,
    replace_na_values,
)

if TYPE_CHECKING:
    import pandas as pd


FORMATS = {
    ".csv": "delimited",
    ".tsv": "delimited",
    ".tab": "delimited",
    ".txt": "delimited",
    ".parquet": "parquet",
    ".feather": "parquet",
    ".arrow": "parquet",
    ".xlsx": "sheet",
    ".xls": "sheet",
    ".ods": "sheet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".arff": "keel",
    ".dat": "keel",
}

_KEEL_BEGINNING = re.compile(rb"(\xef\xbb\xbf)?(\s|%[^\n]*\n)*@relation", re.IGNORECASE)


def read_table(
    source: str | PathLike[str],
    texts: Mapping[str, Collection[str]] | None = None,
    *,
    missing: Collection[str] = (),
    date_format: str | None = None,
    classes: str | None = None,
) -> "pd.DataFrame":
    r"""Read a table from a file, in the format that its ending tells, or from standard input.

    Numbers become numbers, ISO dates dates, ``true`` and ``false`` truth values, everything else is
    text. Empty cells and ``?``, ``NA``, ``N/A``, ``NaN``, ``None``, ``null`` and ``<null>`` are missing
    values. What is done to a table beyond that is told in a warning: an index without a name is left
    out, repeated column names get a number.

    Parameters
    ----------
    source : path or "-"
        A file ending in .csv, .tsv, .txt (any usual separator), .xlsx, .xls or .ods (the first sheet),
        .json, .jsonl, .parquet, .feather, .arrow, .arff or .dat (KEEL), each possibly compressed (.gz, .bz2,
        .xz, .zst); ``-`` reads CSV, JSON, Parquet, ARFF or KEEL from standard input.
    texts : mapping, optional
        Columns that hold texts even if they look like numbers or dates, and their known values: these
        are never taken for missing. Columns that the file does not have are passed over.
    missing : collection of str
        Further marks of missing values, such as ``-999`` or ``unknown``.
    date_format : str, optional
        How dates are written in columns that it fits, such as ``%m/%d/%Y``.
    classes : str, optional
        A column whose different texts stay different: ``1`` and ``01`` are no numbers there.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("age;born;colour\n31;1994-05-17;red\n?;1990-01-02;green\n")
    ...     file.flush()
    ...     read_table(file.name)
        age       born colour
    0  31.0 1994-05-17    red
    1   NaN 1990-01-02  green
    """
    if date_format is not None:
        check_date_format(date_format)
    if str(source) == "-":
        content, name = sys.stdin.buffer.read(), "standard input"
        kind = _kind_of(content)
    else:
        path = Path(source)
        name = path.name
        packing = path.suffix.lower() if path.suffix.lower() in COMPRESSED else ""
        ending = Path(path.stem).suffix if packing else path.suffix
        kind = FORMATS.get(ending.lower(), "")
        content = _content(path)
        if not kind:
            raise ValueError(
                f"{name}: cannot tell the format from the ending {ending!r}; "
                f"expected one of {', '.join(FORMATS)}."
            )
        if packing:
            content = decompress(content, name, packing)
    if kind == "sheet":
        content, kind = read_sheet(content, name), "delimited"
    if kind == "json":
        frame = read_json(content, name, texts or {}, missing, date_format, classes)
        return replace_na_values(frame, missing)
    if kind == "delimited":
        return read_delimited(
            content, name, texts, missing=missing, date_format=date_format, classes=classes
        )
    if kind == "parquet":
        return replace_na_values(read_parquet(content, name), missing)
    return replace_na_values(_keel(content, name, texts or {}), missing)


def _kind_of(content: bytes) -> str:
    """The format of what comes without a name."""
    if content.startswith(b"PAR1"):
        return "parquet"
    if content.lstrip()[:1] in (b"{", b"["):
        return "json"
    return "keel" if _KEEL_BEGINNING.match(content) else "delimited"


def _content(path: Path) -> bytes:
    """The bytes of a file, or one sentence about why there are none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder, not a file.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{path} cannot be read: {reason}.") from None


def _keel(content: bytes, name: str, texts: Mapping[str, Collection[str]]) -> "pd.DataFrame":
    """What the file declares as nominal stays text, even where it looks like a number."""
    try:
        table = read_arff(decode(content, name) + "\n")
    except ValueError as error:
        sentence = str(error).rstrip(".")
        raise ValueError(
            f"{sentence}." if sentence.startswith(name) else f"{name}: {sentence}."
        ) from None
    frame = table.frame
    if frame.empty:
        raise ValueError(f"{name} has attributes but no rows.")
    return map_string_columns(
        frame,
        lambda column, values: (
            infer_column(values)
            if column in table.dates and column not in texts
            else clean_column(values, texts.get(column, ()))
        ),
    )


def _zstd(content: bytes) -> bytes:
    arrow = import_optional("pyarrow", "Reading .zst files", "tables")
    with arrow.input_stream(io.BytesIO(content), compression="zstd") as stream:
        unpacked: bytes = stream.read()
    return unpacked


_UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": _zstd,
}

COMPRESSED = tuple(_UNPACK)


def decompress(content: bytes, name: str, ending: str) -> bytes:
    """What a file holds that is compressed as its ending says.

    Examples
    --------
    >>> decompress(gzip.compress(b"a,b"), "x.csv.gz", ".gz")
    b'a,b'
    >>> decompress(b"a,b", "x.csv.gz", ".gz")
    Traceback (most recent call last):
        ...
    ValueError: x.csv.gz is not compressed as its ending '.gz' says, or damaged.
    """
    try:
        return _UNPACK[ending](content)
    except (OSError, EOFError, ValueError, lzma.LZMAError):
        raise ValueError(
            f"{name} is not compressed as its ending {ending!r} says, or damaged."
        ) from None


def read_sheet(content: bytes, name: str) -> bytes:
    """The first sheet of a workbook as separated values, for `read_delimited`.

    Examples
    --------
    >>> read_sheet(b"a,b", "x.xlsx")
    Traceback (most recent call last):
        ...
    ValueError: x.xlsx is not a spreadsheet, or a damaged one.
    """
    pd = import_pandas()
    calamine = import_optional("python_calamine", "Reading spreadsheets", "excel")
    try:
        sheet = pd.read_excel(
            io.BytesIO(content), header=None, dtype=object, engine="calamine", keep_default_na=False
        )
    except (ValueError, OSError, BadZipFile, calamine.CalamineError):
        raise ValueError(f"{name} is not a spreadsheet, or a damaged one.") from None
    if sheet.empty:
        raise ValueError(f"{name} is empty: its first sheet has no cells.")
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in sheet.itertuples(index=False))
    return lines.getvalue().encode()


def _cell(value: Any) -> str:
    """Whole numbers without decimals, dates without midnight."""
    if value is None or value != value:  # noqa: PLR0124
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).removesuffix(" 00:00:00")


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
    rows = _rows(_parsed(decode(content, name), name), name)
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
            return clean_column(values, texts[column], missing)
        if column == classes and all(isinstance(value, str) for value in values.dropna()):
            return infer_classes(values, missing=missing)
        return infer_column(values, missing=missing, date_format=date_format)

    return map_string_columns(frame, changed)


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


_UNSUITABLE = ("list", "struct", "map", "union", "binary", "time", "duration")


# The endings of Arrow's own files, which Feather ones are.
ARROW = (".feather", ".arrow")


def read_parquet(content: bytes, name: str) -> "pd.DataFrame":
    """A table from the bytes of a Parquet or Arrow file; its categories, dates and truth values stay such.

    Examples
    --------
    >>> read_parquet(b"a,b", "example.parquet")
    Traceback (most recent call last):
        ...
    ValueError: example.parquet is not a Parquet file, or a damaged one.
    """
    parquet = import_optional("pyarrow.parquet", "Reading Parquet", "tables")
    if not content:
        raise ValueError(f"{name} is empty.")
    try:
        if _is_arrow(name):
            table = import_optional("pyarrow.feather", "Reading Feather", "tables").read_table(
                io.BytesIO(content)
            )
        else:
            table = parquet.ParquetFile(io.BytesIO(content)).read()
    except (ValueError, OSError):  # pyarrow's own errors are of these types
        raise damaged_file(name) from None
    frame = arrow_frame(table, name)
    if frame.empty:
        raise ValueError(f"{name} has column names but no rows.")
    return frame


def damaged_file(name: str) -> ValueError:
    """The complaint about a file that is not what its name says."""
    kind = "Parquet"
    if _is_arrow(name):
        kind = "Feather" if ".feather" in name.lower() else "Arrow"
    return ValueError(f"{name} is not a {kind} file, or a damaged one.")


def _is_arrow(name: str) -> bool:
    return any(ending in ARROW for ending in PurePath(name.lower()).suffixes)


def arrow_frame(table: Any, name: str) -> "pd.DataFrame":
    """A table of pyarrow as a data frame, if its columns are of suitable types."""
    pd = import_pandas()
    twice, count = Counter(table.column_names).most_common(1)[0] if table.num_columns else ("", 0)
    if count > 1:
        raise ValueError(f"{name} has more than one column {twice!r}; rename one of them.")
    for field in table.schema:
        kind = str(field.type)
        bare = kind.removeprefix("large_").removeprefix("fixed_size_")
        if bare.startswith(_UNSUITABLE) and not bare.startswith("timestamp"):
            raise ValueError(
                f"{name}: column {field.name!r} holds values of the type {kind}; "
                "turn them into numbers or texts, or leave the column out."
            )
    frame = table.to_pandas(date_as_object=False)
    decimals = [field.name for field in table.schema if str(field.type).startswith("decimal")]
    frame = frame.astype(dict.fromkeys(decimals, float))
    if not isinstance(frame.index, pd.RangeIndex):
        # A named index is a column like any other; one without names only counts.
        unnamed = [level for level in frame.index.names if level is None]
        frame = frame.reset_index(drop=bool(unnamed))
    frame.columns = [str(column) for column in frame.columns]
    return frame

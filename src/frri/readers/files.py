"""Read a table from a file of any format: a data frame of numbers, dates, booleans and strings."""

import bz2
import csv
import functools
import gzip
import io
import json
import lzma
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from frri._util import import_optional, import_pandas, name_read_errors
from frri.readers.arff import read_arff
from frri.readers.delimited import decode, find_layout, is_utf16, read_delimited, read_layout
from frri.readers.infer_types import ReadOptions, check_date_format, infer_columns, replace_na
from frri.table.columns import Frame

# A function of the content of a file, its name and the options.
Reader = Callable[[bytes, str, ReadOptions], Frame]

# Bytes of a text that are read at a time; a file that is not larger is read as a whole.
STRETCH = 1 << 23
# Maximum size of what is read as a whole, decompressed; a cell of a spreadsheet takes 32 bytes.
MOST_BYTES, CELL_BYTES = 1 << 31, 32
# Maximum number of values, and of rows, of a typed file that are read at a time.
MOST_VALUES, MOST_ROWS = 1 << 20, 1 << 16

_ARFF_BEGINNING = re.compile(rb"(\xef\xbb\xbf)?(\s|%[^\n]*\n)*@relation", re.IGNORECASE)


def read_table(
    source: str | PathLike[str],
    strings: Mapping[str, Collection[str]] | None = None,
    *,
    na_values: Collection[str] = (),
    date_format: str | None = None,
    classes: str | None = None,
    typed: Collection[str] | None = None,
) -> Frame:
    r"""Read a table from a file, in the format of its ending, or from standard input.

    Numbers become numbers, ISO dates dates, ``true`` and ``false`` booleans, everything else
    strings. Empty cells and ``?``, ``NA``, ``N/A``, ``NaN``, ``None``, ``null`` and ``<null>`` are
    missing values. Further changes to a table are stated in a warning: an index without a name is
    left out, repeated column names get a number. A file is refused if it is larger than 2 GiB when
    it is decompressed.

    Parameters
    ----------
    source : path or "-"
        A file ending in .csv, .tsv, .txt (any usual separator), .xlsx, .xls or .ods (the first
        sheet), .json, .jsonl, .parquet, .arff or .dat (KEEL), each possibly compressed (.gz, .bz2,
        .xz, .zst); ``-`` reads CSV, JSON, Parquet, ARFF or KEEL from standard input.
    strings : mapping, optional
        Columns that hold strings even if they look like numbers or dates, and their known values:
        these are never taken for missing. Columns that the file does not have are ignored.
    na_values : collection of str
        Further marks of missing values, such as ``-999`` or ``unknown``.
    date_format : str, optional
        Format of dates in columns that it fits, such as ``%m/%d/%Y``.
    classes : str, optional
        A column whose different strings stay different: ``1`` and ``01`` are no numbers there.
    typed : collection of str, optional
        Columns whose types are inferred; all others hold strings. By default all columns.

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
    options = ReadOptions(strings or {}, na_values, date_format, classes, typed)
    if str(source) == "-":
        name, content = "standard input", _read_most(sys.stdin.buffer)
        read: Reader = _read_arff if _ARFF_BEGINNING.match(content) else read_delimited
        read = read_json if content.lstrip()[:1] in (b"{", b"[") else read
        read = read_parquet if content.startswith(b"PAR1") else read
    else:
        name = Path(source).name
        content, read = _read_file(Path(source))
    _check_size(len(content), name)
    frame = read(content, name, options)
    if frame.empty:
        raise ValueError(f"{name} has no rows.")
    return frame


def _read_file(path: Path) -> tuple[bytes, Reader]:
    """Return the content of a file, decompressed, and the function that reads its format."""
    packing = path.suffix.lower()
    ending = Path(path.stem).suffix if packing in _DECOMPRESS else path.suffix
    with name_read_errors(path), path.open("rb") as file:
        if ending.lower() not in FORMATS:
            raise ValueError(
                f"{path.name}: cannot tell the format from the ending {ending!r}; "
                f"expected one of {', '.join(FORMATS)}."
            )
        read = FORMATS[ending.lower()]
        if packing not in _DECOMPRESS:
            return _read_most(file), read
        try:
            with _DECOMPRESS[packing](file) as stream:
                return _read_most(stream), read
        except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error):
            raise ValueError(
                f"{path.name} is not compressed as its ending {packing!r} says, or damaged."
            ) from None


def _read_most(stream: Any) -> bytes:
    """Read a file, device or stream, hardly more than the maximum size of it."""
    content = io.BytesIO()
    while content.tell() <= MOST_BYTES and (piece := stream.read(STRETCH)):
        content.write(piece)
    return content.getvalue()


def _check_size(n_bytes: int, name: str) -> None:
    """Raise a ValueError for a table that is too large to be read as a whole."""
    if n_bytes > MOST_BYTES:
        raise ValueError(
            f"{name} holds more than {MOST_BYTES / 2**30:g} GiB decompressed, the maximum; "
            "delete what is not part of the table, or split it into several files."
        )


_DECOMPRESS: dict[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": lambda file: import_optional("pyarrow", "Reading .zst files", "tables").input_stream(
        file, compression="zstd"
    ),
}


# ------------------------------------------------------------------ ARFF, spreadsheets and JSON
def _read_arff(content: bytes, name: str, options: ReadOptions) -> Frame:
    """Read an ARFF or KEEL file; nominal attributes stay strings."""
    text = decode(content, name)
    try:
        table = read_arff(f"{text}\n")
    except ValueError as error:
        raise ValueError(f"{name}: {str(error).rstrip('.')}.") from None
    dates = [name for name in table.dates if options.known_values(name) is None]
    frame = infer_columns(table.frame, options._replace(typed=dates, na_values=()))
    return replace_na(frame, options.na_values)


def read_sheet(content: bytes, name: str, options: ReadOptions) -> Frame:
    """Read the first sheet of a workbook, converted to separated values."""
    pd = import_pandas()
    calamine = import_optional("python_calamine", "Reading spreadsheets", "excel")
    _check_sheet(content, name)
    try:
        sheet = pd.read_excel(
            io.BytesIO(content), header=None, dtype=object, engine="calamine", keep_default_na=False
        )
    except (ValueError, OSError, BadZipFile, calamine.CalamineError):
        raise ValueError(f"{name} is not a spreadsheet, or a damaged one.") from None
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    rows = sheet.itertuples(index=False)
    # Dates are without midnight; pandas has made integers of whole numbers.
    writer.writerows([str(value).removesuffix(" 00:00:00") for value in row] for row in rows)
    return read_delimited(lines.getvalue().encode(), name, options)


_SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^>]*?\br:id=\"([^\"]+)\"")
# A cell that is not empty, with the letters of its column and the number of its row.
_CELL = re.compile(rb"r=\"([A-Z]{1,3})(\d{1,7})\"[^>]*(?<!/)>")
_REPEATED = re.compile(rb"^[^>]*?number-(?:rows|columns)-repeated=\"(\d+)\"")


def _check_sheet(content: bytes, name: str) -> None:
    """Raise a ValueError for a workbook that is too large, before its cells are allocated."""
    if not content.startswith(b"PK"):  # .xls, whose sheets are small
        return
    try:
        with ZipFile(io.BytesIO(content)) as book:
            _check_size(sum(part.file_size for part in book.infolist()), name)
            if "content.xml" in book.namelist():
                size = _ods_size(book.read("content.xml"))
            else:
                size = _xlsx_size(book)
    except (BadZipFile, KeyError, TypeError, zlib.error):  # calamine decides what is damaged
        return
    _check_size(CELL_BYTES * size, name)


def _xlsx_size(book: ZipFile) -> int:
    """Return the number of cells of the rectangle that the first sheet of a workbook fills."""
    sheet: Any = _SHEET.search(book.read("xl/workbook.xml"))
    place = rb"<Relationship\s(?=[^>]*?\bId=\"%b\")[^>]*?\bTarget=\"(?:/xl/)?([^\"]+)"
    part: Any = re.search(place % re.escape(sheet[1]), book.read("xl/_rels/workbook.xml.rels"))
    columns, rows, content = set(), 0, book.read(f"xl/{part[1].decode()}")
    for cell in _CELL.finditer(content):
        columns.add(cell[1])
        rows = max(rows, int(cell[2]))
    letters = max(columns, key=lambda text: (len(text), text), default=b"")
    width = functools.reduce(lambda n, letter: 26 * n + letter - 64, letters, 0)
    # Cells need not state where they are.
    return max(rows * width, content.count(b"</c>") + content.count(b":c>"))


def _ods_size(content: bytes) -> int:
    """Return the number of cells of the rectangle that the first table of a document fills."""

    def repeated(tag: bytes) -> int:
        found = _REPEATED.match(tag)
        return int(found[1]) if found else 1

    height = width = n_rows = 0
    for part in content.partition(b"</table:table>")[0].split(b"<table:table-row")[1:]:
        row, *cells = part.split(b"<table:table-cell")
        n_rows += repeated(row)
        while cells and b"value-type=" not in cells[-1].partition(b">")[0]:
            cells.pop()
        if cells:
            height, width = n_rows, max(width, sum(map(repeated, cells)))
    return height * width


def read_json(content: bytes, name: str, options: ReadOptions) -> Frame:
    r"""Read a list of objects, an object of columns, or one object in every line.

    A key that an object lacks is a missing value.

    Examples
    --------
    >>> read_json(b'{"a": 1, "b": "x"}\n{"a": 2}\n', "x.jsonl", ReadOptions())
       a    b
    0  1    x
    1  2  NaN
    >>> read_json(b'{"a": {"0": 1, "1": 2}, "b": {"1": "x"}}', "x.json", ReadOptions())
       a    b
    0  1  NaN
    1  2    x
    """
    text = decode(content, name)
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        try:
            parsed = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            raise ValueError(f"{name} is not JSON.") from None
    if isinstance(parsed, dict):
        by_column = any(all(isinstance(v, kind) for v in parsed.values()) for kind in (list, dict))
        parsed = parsed if by_column else [parsed]
    elif not isinstance(parsed, list) or not all(isinstance(row, dict) for row in parsed):
        raise ValueError(f"{name} is neither a list of objects nor an object of lists.")
    try:
        frame = import_pandas().DataFrame(parsed)
    except ValueError:
        raise ValueError(f"{name}: the columns are of different lengths.") from None
    for key, values in frame.items():
        if any(isinstance(value, list | dict) for value in values):
            raise ValueError(
                f"{name}: column {key!r} holds lists or objects; "
                "turn them into numbers or strings, or leave the column out."
            )
    return replace_na(infer_columns(frame.reset_index(drop=True), options), options.na_values)


# ------------------------------------------------------------------ Parquet
# Names that pandas gives to the levels of an index without names.
_INDEX = re.compile(r"__index_level_\d+__")
_UNSUITABLE = ("list", "struct", "map", "union", "binary", "time", "duration")


def read_parquet(content: bytes, name: str, options: ReadOptions) -> Frame:
    """Read a Parquet file; its categories, dates and booleans stay such."""
    parquet = import_optional("pyarrow.parquet", "Reading Parquet", "tables")
    try:
        opened = parquet.ParquetFile(io.BytesIO(content))
        size = 8 * opened.metadata.num_rows * opened.metadata.num_columns
        table = opened.read() if size <= MOST_BYTES else None
    except (ValueError, OSError):  # pyarrow's own errors are of these types
        raise _damaged(name) from None
    _check_size(size, name)
    return replace_na(_arrow_frame(table, name), options.na_values)


def _damaged(name: str) -> ValueError:
    """Return the error about a file that is not what its name says."""
    return ValueError(f"{name} is not a Parquet file, or a damaged one.")


def _arrow_frame(table: Any, name: str) -> Frame:
    """Convert a table of pyarrow to a data frame, if its columns are of suitable types."""
    twice = [column for column, n in Counter(table.column_names).items() if n > 1]
    if twice:
        raise ValueError(f"{name} has more than one column {twice[0]!r}; rename one of them.")
    for field in table.schema:
        kind = str(field.type)
        bare = kind.removeprefix("large_").removeprefix("fixed_size_")
        if bare.startswith(_UNSUITABLE) and not bare.startswith("timestamp"):
            raise ValueError(
                f"{name}: column {field.name!r} holds values of the type {kind}; "
                "turn them into numbers or strings, or leave the column out."
            )
    # A named index is a column like any other; one without names only counts.
    unnamed = [column for column in table.column_names if _INDEX.fullmatch(column)]
    # What pandas has written about the columns may be damaged, and the types are known without it.
    table = table.drop_columns(unnamed).replace_schema_metadata()
    frame = table.to_pandas(date_as_object=False)
    decimals = [field.name for field in table.schema if str(field.type).startswith("decimal")]
    return frame.astype(dict.fromkeys(decimals, float))


# Functions that read the content of a file, by its ending.
FORMATS: dict[str, Reader] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), read_delimited),
    ".parquet": read_parquet,
    **dict.fromkeys((".xlsx", ".xls", ".ods"), read_sheet),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), read_json),
    **dict.fromkeys((".arff", ".dat"), _read_arff),
}


# ------------------------------------------------------------------ files in parts
class Batch(NamedTuple):
    """A part of a table, the number of rows before it, and the fraction of the file read."""

    frame: Frame
    start: int
    done: float


# Parts of a table and the fraction of the file that is read with each.
_Parts = Iterator[tuple[Any, float]]


def read_batches(
    source: str | PathLike[str],
    strings: Mapping[str, Collection[str]] | None = None,
    *,
    columns: Collection[str] | None = None,
    **options: Any,
) -> Iterator[Batch]:
    r"""Read the same rows as `read_table`, part by part where the file allows it.

    Separated values and Parquet allow it unless they are compressed as a whole; other files have
    one part. Types of columns of a text are inferred in each part, and must agree (see
    `frri.readers.training.join_tables`).

    Parameters
    ----------
    source, strings
        See `read_table`.
    columns : collection of str, optional
        The columns of a Parquet file that are read, if it has them all.
    **options
        See `read_table`.

    Yields
    ------
    Batch

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("a,b\n1,x\n2,y\n")
    ...     file.flush()
    ...     [(frame["a"].tolist(), start, done) for frame, start, done in read_batches(file.name)]
    [([1, 2], 0, 1.0)]
    """
    path = Path(source)
    read = FORMATS.get(path.suffix.lower()) if path.is_file() and path.name != "-" else None
    if read is read_parquet:
        parts = _parquet_batches(path, columns, options.get("na_values", ()))
    elif read is read_delimited and path.stat().st_size > STRETCH:
        parts = _text_batches(path, ReadOptions(strings or {}, **options))
    else:
        parts = iter([(read_table(source, strings, **options), 1.0)])
    start, names = 0, None
    with name_read_errors(path):
        for frame, done in parts:
            names = names or list(frame.columns)
            different = set(names).symmetric_difference(frame.columns)
            if different:
                name = min(different)
                raise ValueError(
                    f"{path.name} has {'no' if name in names else 'a'} column {name!r} from row "
                    f"{start + 1} on, unlike above; give all its parts the same columns."
                )
            yield Batch(frame, start, done)
            start += len(frame)
    if not start:
        raise ValueError(f"{path.name} has no rows.")


def _text_batches(path: Path, options: ReadOptions) -> _Parts:
    """Read stretches of rows, each below the header of the file."""
    size, rows, read = path.stat().st_size, 0, 0
    layout = None
    for stretch in _stretches(path):
        read += len(stretch)
        if not stretch.strip():
            continue
        if layout is None and is_utf16(stretch):  # a line end is not a byte
            yield read_delimited(path.read_bytes(), path.name, options), 1.0
            return
        text = decode(stretch, path.name)
        if layout is None:
            layout = find_layout(text, path.name)
        else:  # a header above further rows
            header = layout.separator.join(map(str, range(len(layout.columns))))
            layout = layout._replace(text=f"{header}\n{text}")
        try:
            frame = read_layout(layout, path.name, options)
        except ValueError as error:
            if not rows:
                raise
            raise ValueError(
                f"After row {rows} of {path.name}, lines and rows counted from there: {error}"
            ) from None
        rows += len(frame)
        yield frame, read / size


def _stretches(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, cut at line ends that are not within quotation marks."""
    with path.open("rb") as file:
        while piece := b"".join(file.readlines(STRETCH)):
            lines, quoted = [piece], piece.count(b'"') % 2 == 1
            while quoted and (line := file.readline()):
                lines.append(line)
                quoted ^= line.count(b'"') % 2 == 1
            yield b"".join(lines)


def _parquet_batches(
    path: Path, columns: Collection[str] | None, na_values: Collection[str]
) -> _Parts:
    """Read rows of a Parquet file."""
    arrow = import_optional("pyarrow", "Reading Parquet", "tables")
    parquet = import_optional("pyarrow.parquet", "Reading Parquet", "tables")
    try:
        # A buffer: pages are read one by one instead of a whole group of rows.
        file = parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
        names, n_rows = file.schema_arrow.names, file.metadata.num_rows
        chosen = None
        if columns and set(columns) <= set(names):
            chosen = [name for name in names if name in columns]
        most = max(1, min(MOST_ROWS, MOST_VALUES // max(len(chosen or names), 1)))
        done = 0
        for batch in file.iter_batches(most, columns=chosen):
            done += batch.num_rows
            part = _arrow_frame(arrow.Table.from_batches([batch]), path.name)
            yield replace_na(part, na_values), done / n_rows
    except (arrow.ArrowException, OSError):
        raise _damaged(path.name) from None

"""Read a table from a file of any format: a data frame of numbers, dates, booleans and strings."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from os import PathLike
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile

from frri._util import import_optional, import_pandas
from frri.readers.arff import read_arff
from frri.readers.delimited import Layout, decode, find_layout, is_utf16, read_delimited
from frri.readers.infer_types import (
    ReadOptions,
    check_date_format,
    infer_columns,
    replace_na_values,
)

if TYPE_CHECKING:
    import pandas as pd

FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "delimited"),
    **dict.fromkeys((".parquet", ".feather", ".arrow"), "parquet"),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "sheet"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".arff", ".dat"), "arff"),
}

# Endings of Arrow files, among them Feather.
ARROW = (".feather", ".arrow")


def read_table(
    source: str | PathLike[str],
    strings: Mapping[str, Collection[str]] | None = None,
    *,
    na_values: Collection[str] = (),
    date_format: str | None = None,
    classes: str | None = None,
) -> "pd.DataFrame":
    r"""Read a table from a file, in the format of its ending, or from standard input.

    Numbers become numbers, ISO dates dates, ``true`` and ``false`` booleans, everything else
    strings. Empty cells and ``?``, ``NA``, ``N/A``, ``NaN``, ``None``, ``null`` and ``<null>`` are
    missing values. Further changes to a table are stated in a warning: an index without a name is
    left out, repeated column names get a number.

    Parameters
    ----------
    source : path or "-"
        A file ending in .csv, .tsv, .txt (any usual separator), .xlsx, .xls or .ods (the first
        sheet), .json, .jsonl, .parquet, .feather, .arrow, .arff or .dat (KEEL), each possibly
        compressed (.gz, .bz2, .xz, .zst); ``-`` reads CSV, JSON, Parquet, ARFF or KEEL from
        standard input.
    strings : mapping, optional
        Columns that hold strings even if they look like numbers or dates, and their known values:
        these are never taken for missing. Columns that the file does not have are ignored.
    na_values : collection of str
        Further marks of missing values, such as ``-999`` or ``unknown``.
    date_format : str, optional
        Format of dates in columns that it fits, such as ``%m/%d/%Y``.
    classes : str, optional
        A column whose different strings stay different: ``1`` and ``01`` are no numbers there.

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
    options = ReadOptions(strings or {}, na_values, date_format, classes)
    content, name, kind = _open(source)
    if kind == "sheet":
        content, kind = read_sheet(content, name), "delimited"
    if kind == "delimited":
        return read_delimited(content, name, options)
    if kind == "json":
        frame = read_json(content, name, options)
    elif kind == "parquet":
        frame = read_parquet(content, name)
    else:
        frame = _read_arff(content, name, options)
    return replace_na_values(frame, na_values)


def _open(source: str | PathLike[str]) -> tuple[bytes, str, str]:
    """Return the content of a file or of standard input, its name and its format."""
    if str(source) == "-":
        content = sys.stdin.buffer.read()
        if content.startswith(b"PAR1"):
            kind = "parquet"
        elif content.lstrip()[:1] in (b"{", b"["):
            kind = "json"
        else:
            kind = "arff" if _ARFF_BEGINNING.match(content) else "delimited"
        return content, "standard input", kind
    path = Path(source)
    compressed = path.suffix.lower() in _DECOMPRESS
    ending = Path(path.stem).suffix if compressed else path.suffix
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder, not a file.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{path} cannot be read: {reason}.") from None
    if ending.lower() not in FORMATS:
        raise ValueError(
            f"{path.name}: cannot tell the format from the ending {ending!r}; "
            f"expected one of {', '.join(FORMATS)}."
        )
    if compressed:
        content = decompress(content, path.name)
    return content, path.name, FORMATS[ending.lower()]


_ARFF_BEGINNING = re.compile(rb"(\xef\xbb\xbf)?(\s|%[^\n]*\n)*@relation", re.IGNORECASE)


def _read_arff(content: bytes, name: str, options: ReadOptions) -> "pd.DataFrame":
    """Read an ARFF or KEEL file; nominal attributes stay strings."""
    try:
        table = read_arff(decode(content, name) + "\n")
    except ValueError as error:
        sentence = str(error).rstrip(".")
        raise ValueError(
            f"{sentence}." if sentence.startswith(name) else f"{name}: {sentence}."
        ) from None
    if table.frame.empty:
        raise ValueError(f"{name} has attributes but no rows.")
    return infer_columns(table.frame, options._replace(na_values=()), inferred=table.dates)


# ------------------------------------------------------------------ compressed files and
# spreadsheets


def _decompress_zstd(content: bytes) -> bytes:
    arrow = import_optional("pyarrow", "Reading .zst files", "tables")
    with arrow.input_stream(io.BytesIO(content), compression="zstd") as stream:
        decompressed: bytes = stream.read()
    return decompressed


_DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": _decompress_zstd,
}


def decompress(content: bytes, name: str) -> bytes:
    """Decompress the content of a file, in the format of its ending.

    Examples
    --------
    >>> decompress(gzip.compress(b"a,b"), "x.csv.gz")
    b'a,b'
    >>> decompress(b"a,b", "x.csv.gz")
    Traceback (most recent call last):
        ...
    ValueError: x.csv.gz is not compressed as its ending '.gz' says, or damaged.
    """
    ending = PurePath(name).suffix.lower()
    try:
        return _DECOMPRESS[ending](content)
    except (OSError, EOFError, ValueError, lzma.LZMAError):
        raise ValueError(
            f"{name} is not compressed as its ending {ending!r} says, or damaged."
        ) from None


def read_sheet(content: bytes, name: str) -> bytes:
    """Convert the first sheet of a workbook to separated values, for `read_delimited`.

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
    writer.writerows([_cell_text(value) for value in row] for row in sheet.itertuples(index=False))
    return lines.getvalue().encode()


def _cell_text(value: Any) -> str:
    """Return integers without decimals, dates without midnight."""
    if value is None or value != value:  # noqa: PLR0124
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).removesuffix(" 00:00:00")


# ------------------------------------------------------------------ JSON


def read_json(content: bytes, name: str, options: ReadOptions) -> "pd.DataFrame":
    r"""Read a list of objects, an object of columns, or one object in every line.

    A key that an object lacks is a missing value.

    Examples
    --------
    >>> read_json(b'{"a": 1, "b": "x"}\n{"a": 2}\n', "x.jsonl", ReadOptions())
       a     b
    0  1     x
    1  2  None
    >>> read_json(b'{"a": {"0": 1, "1": 2}, "b": {"1": "x"}}', "x.json", ReadOptions())
       a     b
    0  1  None
    1  2     x
    """
    rows = _json_rows(_parse_json(decode(content, name), name), name)
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = {key: [row.get(key) for row in rows] for key in keys}
    for key, values in columns.items():
        if any(isinstance(value, list | dict) for value in values):
            raise ValueError(
                f"{name}: column {key!r} holds lists or objects; "
                "turn them into numbers or texts, or leave the column out."
            )
    if not columns:
        raise ValueError(f"{name} has no rows.")
    return infer_columns(import_pandas().DataFrame(columns), options)


def _parse_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        raise ValueError(f"{name} is not JSON.") from None


def _json_rows(content: Any, name: str) -> list[dict[str, Any]]:
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


# ------------------------------------------------------------------ Parquet and Arrow

_UNSUITABLE = ("list", "struct", "map", "union", "binary", "time", "duration")


def read_parquet(content: bytes, name: str) -> "pd.DataFrame":
    """Read a Parquet or Arrow file; its categories, dates and booleans stay such.

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
        if is_arrow(name):
            feather = import_optional("pyarrow.feather", "Reading Feather", "tables")
            table = feather.read_table(io.BytesIO(content))
        else:
            table = parquet.ParquetFile(io.BytesIO(content)).read()
    except (ValueError, OSError):  # pyarrow's own errors are of these types
        raise damaged_file(name) from None
    frame = arrow_frame(table, name)
    if frame.empty:
        raise ValueError(f"{name} has column names but no rows.")
    return frame


def is_arrow(name: str) -> bool:
    """Return whether a file has the ending of an Arrow file."""
    return any(ending in ARROW for ending in PurePath(name.lower()).suffixes)


def damaged_file(name: str) -> ValueError:
    """Return the error about a file that is not what its name says."""
    kind = "Parquet"
    if is_arrow(name):
        kind = "Feather" if ".feather" in name.lower() else "Arrow"
    return ValueError(f"{name} is not a {kind} file, or a damaged one.")


def arrow_frame(table: Any, name: str) -> "pd.DataFrame":
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
                "turn them into numbers or texts, or leave the column out."
            )
    frame = table.to_pandas(date_as_object=False)
    decimals = [field.name for field in table.schema if str(field.type).startswith("decimal")]
    frame = frame.astype(dict.fromkeys(decimals, float))
    if not isinstance(frame.index, import_pandas().RangeIndex):
        # A named index is a column like any other; one without names only counts.
        frame = frame.reset_index(drop=None in frame.index.names)
    frame.columns = [str(column) for column in frame.columns]
    return frame


# ------------------------------------------------------------------ files in parts

# Bytes of a text that are read at a time; a file that is not larger is read as a whole.
STRETCH = 1 << 23
# Maximum number of values, and of rows, of a typed file that are read at a time.
MOST_VALUES, MOST_ROWS = 1 << 20, 1 << 16


class Batch(NamedTuple):
    """A part of a table, the number of rows before it, and the fraction of the file read."""

    frame: "pd.DataFrame"
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

    Separated values, Parquet and Arrow (Feather) allow it unless they are compressed as a whole;
    other files have one part. Types of columns of a text are inferred in each part, and must agree
    (see `join_tables`).

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
    kind = "" if str(source) == "-" else FORMATS.get(path.suffix.lower(), "")
    if kind == "parquet" and path.is_file():
        frames = _arrow_batches(path, columns, **options)
    elif kind == "delimited" and path.is_file() and path.stat().st_size > STRETCH:
        frames = _text_batches(path, ReadOptions(strings or {}, **options))
    else:
        frames = iter([(read_table(source, strings, **options), 1.0)])
    start, names = 0, None
    try:
        for frame, done in frames:
            names = names or list(frame.columns)
            if list(frame.columns) != names:
                lacking = [name for name in names if name not in frame.columns]
                more = [name for name in frame.columns if name not in names]
                what = (
                    f"no column {lacking[0]!r}" if lacking else f"a column {(more or ['?'])[0]!r}"
                )
                raise ValueError(
                    f"{path.name} has {what} from row {start + 1} on, unlike above; "
                    "give all its parts the same columns."
                )
            yield Batch(frame, start, done)
            start += len(frame)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not start:
        raise ValueError(f"{path.name} has column names but no rows.")


# ------------------------------------------------------------------ texts


def _text_batches(path: Path, options: ReadOptions) -> _Parts:
    """Read stretches of rows, each below the header of the file."""
    size, header, rows, read = path.stat().st_size, b"", 0, 0
    for stretch in _stretches(path):
        read += len(stretch)
        if not stretch.strip():
            continue
        if not header:
            if is_utf16(stretch):  # a line end is not a byte
                yield read_table(path, **options._asdict()), 1.0
                return
            frame = read_delimited(stretch, path.name, options)
            header = _header(find_layout(decode(stretch, path.name), path.name))
        else:
            try:
                frame = read_delimited(header + stretch, path.name, options)
            except ValueError as error:
                raise ValueError(
                    f"After row {rows} of {path.name}, lines and rows counted from there: {error}"
                ) from None
        rows += len(frame)
        yield frame, read / size


def _stretches(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file, cut at line ends that are not within quotation marks."""
    left = b""
    with path.open("rb") as file:
        while piece := file.read(STRETCH):
            left += piece
            cut = _last_line_end(left)
            if cut:
                yield left[:cut]
                left = left[cut:]
    if left:
        yield left


def _last_line_end(content: bytes) -> int:
    """Return the position after the last line end outside quotation marks; 0 if there is none."""
    end = content.rfind(b"\n") + 1
    odd = content.count(b'"', 0, end) % 2
    while end and odd:
        before = content.rfind(b"\n", 0, end - 1) + 1
        odd = (odd + content.count(b'"', before, end)) % 2
        end = before
    return end


def _header(layout: Layout) -> bytes:
    """Return a line that states the separator, and one of the names."""
    line = io.StringIO()
    csv.writer(line, delimiter=layout.separator, lineterminator="\n").writerow(layout.columns)
    return f"sep={layout.separator}\n{line.getvalue()}".encode()


# ------------------------------------------------------------------ typed files


def _arrow_batches(
    path: Path,
    columns: Collection[str] | None,
    *,
    na_values: Collection[str] = (),
    **options: Any,
) -> _Parts:
    """Read rows of a Parquet or Arrow file."""
    arrow = import_optional("pyarrow", "Reading Parquet", "tables")
    try:
        batches = _arrow(path) if path.suffix.lower() in ARROW else _parquet(path, columns)
    except (arrow.ArrowException, OSError):  # of an old kind, or none of these at all
        yield read_table(path, na_values=na_values, **options), 1.0
        return
    try:
        for batch, done in batches:
            if batch.num_rows:
                frame = arrow_frame(arrow.Table.from_batches([batch]), path.name)
                yield replace_na_values(frame, na_values), done
    except (arrow.ArrowException, OSError):
        raise damaged_file(path.name) from None


def _parquet(path: Path, columns: Collection[str] | None) -> _Parts:
    parquet = import_optional("pyarrow.parquet", "Reading Parquet", "tables")
    # A buffer: pages are read one by one instead of a whole group of rows.
    file = parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    chosen = names = file.schema_arrow.names
    if columns and set(columns) <= set(names):
        chosen = [name for name in names if name in columns]

    def parts() -> _Parts:
        done = 0
        for batch in file.iter_batches(
            _n_rows(len(chosen)), columns=None if chosen is names else chosen
        ):
            done += batch.num_rows
            yield batch, done / file.metadata.num_rows

    return parts()


def _arrow(path: Path) -> _Parts:
    """Read batches as the file has them, cut where they are large."""
    arrow = import_optional("pyarrow", "Reading Arrow", "tables")
    ipc = import_optional("pyarrow.ipc", "Reading Arrow", "tables")
    file = ipc.open_file(arrow.OSFile(str(path)))

    def parts() -> _Parts:
        for i in range(file.num_record_batches):
            batch = file.get_batch(i)
            rows = _n_rows(batch.num_columns)
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows), (i + 1) / file.num_record_batches

    return parts()


def _n_rows(n_columns: int) -> int:
    return max(1, min(MOST_ROWS, MOST_VALUES // max(n_columns, 1)))

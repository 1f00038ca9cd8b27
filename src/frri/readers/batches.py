"""Read tables in parts, for files larger than memory, and draw random samples of their rows."""

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._util import Flags, find_name, import_optional, import_pandas, quote_name
from frri.readers.delimited import Layout, decode, find_layout, is_utf16, read_delimited
from frri.readers.files import ARROW, FORMATS, arrow_frame, damaged_file, read_table
from frri.readers.infer_types import ReadOptions, replace_na_values
from frri.table.declare import to_strings

if TYPE_CHECKING:
    import pandas as pd

# Bytes of a text that are read at a time; a file that is not larger is read as a whole.
STRETCH = 1 << 23
# Maximum number of values, and of rows, of a typed file that are read at a time.
MOST_VALUES, MOST_ROWS = 1 << 20, 1 << 16
# Rows of every class in a sample, if there are that many.
LEAST = 5
# A column of more distinct values is not taken for classes.
MOST_CLASSES = 1_000


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


# ------------------------------------------------------------------ several parts

_KINDS = {"O": "texts", "M": "dates", "b": "truth values"}


def join_tables(frames: "Mapping[str, pd.DataFrame]", classes: str | None = None) -> "pd.DataFrame":
    """Concatenate the rows of several tables, if their columns are the same.

    The column of the classes becomes one of strings where its type differs.

    Examples
    --------
    >>> import pandas as pd
    >>> join_tables({"a": pd.DataFrame({"x": [1]}), "b": pd.DataFrame({"x": [2.5]})})["x"].tolist()
    [1.0, 2.5]
    >>> join_tables({"a.csv": pd.DataFrame({"x": [1]}), "b.csv": pd.DataFrame({"y": [2]})})
    Traceback (most recent call last):
        ...
    ValueError: b.csv has no column 'x', which a.csv has; give files with the same columns.
    """
    (first, whole), *others = frames.items()
    if not others:
        return whole
    parts = dict(frames)
    for name, frame in others:
        for lacking, having, columns in (
            (name, first, whole.columns.difference(frame.columns, sort=False)),
            (first, name, frame.columns.difference(whole.columns, sort=False)),
        ):
            if len(columns):
                raise ValueError(
                    f"{lacking} has no column {columns[0]!r}, which {having} has; "
                    "give files with the same columns."
                )
        for column in whole.columns:
            kinds = [_KINDS.get(values[column].dtype.kind, "numbers") for values in (whole, frame)]
            known = whole[column].notna().any() and frame[column].notna().any()
            if not known or kinds[0] == kinds[1]:
                continue
            if column != classes:
                raise ValueError(
                    f"Column {column!r} holds {kinds[0]} in {first} and {kinds[1]} in {name}; "
                    "write them in one way, or declare the column as nominal "
                    f"(--nominal {quote_name(column)})."
                )
            parts = {
                one: part.assign(**{column: to_strings(part[column])})
                for one, part in parts.items()
            }
    return import_pandas().concat(
        [part[whole.columns] for part in parts.values()], ignore_index=True
    )


class Sample:
    """A uniform random sample of rows, with some rows of every class in any case.

    Every row has a random key; the smallest keys win. Keys depend on the seed and on the number of
    the row alone, so that a sample is the same whatever parts a table comes in.

    Parameters
    ----------
    size : int
    seed : int
    target : str, optional
        The column of the classes, if there are any.

    Examples
    --------
    >>> import pandas as pd
    >>> sample = Sample(5, seed=0, target="y")
    >>> for start in (0, 40):
    ...     numbers = range(start, start + 40)
    ...     sample.offer(f"from {start} on", pd.DataFrame({"x": numbers, "y": 1}))
    >>> sample.n_rows, len(sample.frame())
    (80, 5)
    """

    def __init__(self, size: int, seed: int, target: str | None = None) -> None:
        self.size, self.target, self.n_rows = size, target, 0
        self._random = np.random.default_rng(seed)
        # Rows that may be in the sample, their keys, and the name of the first part.
        self._pool: Any = None
        self._keys = np.empty(0)
        self._first = ""

    def offer(self, name: str, frame: "pd.DataFrame") -> None:
        """Keep the rows of a part of the table that may be in the sample; messages use its name."""
        if self.target is not None:
            find_name(self.target, frame.columns, name)
        keys = self._random.random(len(frame))
        if self._pool is None:
            self._first = name
        else:
            frame = join_tables({self._first: self._pool, name: frame}, self.target)
        self.n_rows += len(keys)
        self._pool, self._keys = frame, np.concatenate([self._keys, keys])
        if len(frame) > 2 * self.size:
            bound = np.partition(self._keys, self.size)[self.size]
            self._take((self._keys < bound) | self._needed())

    def frame(self) -> "pd.DataFrame":
        """Return the sample in the order of the rows."""
        needed = self._needed()
        if needed.sum() > self.size:
            n_classes = self._pool[self.target].astype(str).nunique()
            raise ValueError(
                f"A sample of {self.size} rows is too small for the {n_classes} classes of "
                f"{self.target!r}; take {needed.sum()} rows or more."
            )
        others = np.sort(self._keys[~needed])
        left = self.size - int(needed.sum())
        if left < len(others):
            self._take(needed | (self._keys < others[left]))
        return self._pool.reset_index(drop=True)

    def _needed(self) -> Flags:
        """Return flags of the smallest keys of each class."""
        if self.target is not None:
            classes = self._pool[self.target].astype(str).to_numpy(dtype=object)
            labels, codes = np.unique(classes, return_inverse=True)
            if len(labels) <= MOST_CLASSES:
                order = np.lexsort((self._keys, codes))
                rank = np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
                needed = np.zeros(len(codes), dtype=bool)
                needed[order] = rank < LEAST
                return needed
            self.target = None
        return np.zeros(len(self._keys), dtype=bool)

    def _take(self, rows: Flags) -> None:
        self._pool, self._keys = self._pool[rows], self._keys[rows]

"""Tables in parts, for files larger than memory: CSV by stretches of its text, Parquet and Arrow by rows."""

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._util import Flags, Floats, Ints, find_name, import_optional
from frri.readers.delimited import Layout, decode, find_layout, is_wide, read_delimited
from frri.readers.files import ARROW, FORMATS, arrow_frame, damaged_file, read_table
from frri.readers.infer_types import replace_na_values

if TYPE_CHECKING:
    import pandas as pd


# So much of a text is read at a time; a file that is not larger is read as a whole.
STRETCH = 1 << 23
# Rows of a typed file that are read at a time: so many values, so many rows at most.
MOST_VALUES, MOST_ROWS = 1 << 20, 1 << 16


class Batch(NamedTuple):
    """A part of a table, the number of rows before it, and the share of the file that is read with it."""

    frame: "pd.DataFrame"
    start: int
    done: float


def read_batches(
    source: str | PathLike[str],
    texts: Mapping[str, Collection[str]] | None = None,
    *,
    columns: Collection[str] | None = None,
    **options: Any,
) -> Iterator[Batch]:
    r"""The same rows as `read_table` gives, part by part where the file allows it.

    Those are files of separated values, Parquet and Arrow (Feather), none of them compressed as a whole;
    of others there is one part. A text is read in stretches: what its columns hold is found out in each
    of them, and they must agree (see `frri.readers.training.join_tables`).

    Parameters
    ----------
    source, texts
        See `read_table`.
    columns : collection of str, optional
        Of a typed file only these are read, if it has them all.
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
    ...     [(batch.frame["a"].tolist(), batch.start, batch.done) for batch in read_batches(file.name)]
    [([1, 2], 0, 1.0)]
    """
    path = Path(source)
    kind = "" if str(source) == "-" else FORMATS.get(path.suffix.lower(), "")
    if kind == "parquet" and path.is_file():
        frames = _arrow_batches(path, columns, **options)
    elif kind == "delimited" and path.is_file() and path.stat().st_size > STRETCH:
        frames = _text_batches(path, texts, **options)
    else:
        frames = iter([(read_table(source, texts, **options), 1.0)])
    start, names = 0, None
    for frame, done in _readable(frames, path):
        names = names or list(frame.columns)
        if list(frame.columns) != names:
            lacking = [name for name in names if name not in frame.columns]
            more = [name for name in frame.columns if name not in names]
            what = f"no column {lacking[0]!r}" if lacking else f"a column {(more or ['?'])[0]!r}"
            raise ValueError(
                f"{path.name} has {what} from row {start + 1} on, unlike above; "
                "give all its parts the same columns."
            )
        yield Batch(frame, start, done)
        start += len(frame)
    if not start:
        raise ValueError(f"{path.name} has column names but no rows.")


def _readable(
    frames: "Iterator[tuple[pd.DataFrame, float]]", path: Path
) -> "Iterator[tuple[pd.DataFrame, float]]":
    """The same, or one sentence about why the file cannot be read on."""
    try:
        yield from frames
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from None


# ------------------------------------------------------------------ texts


def _text_batches(
    path: Path, texts: Mapping[str, Collection[str]] | None, **options: Any
) -> "Iterator[tuple[pd.DataFrame, float]]":
    """A header of its own for every stretch of rows."""
    size, header, rows, read = path.stat().st_size, b"", 0, 0
    for stretch in _stretches(path):
        read += len(stretch)
        if not stretch.strip():
            continue
        if not header:
            if is_wide(stretch):  # a line end is not a byte
                yield read_table(path, texts, **options), 1.0
                return
            frame = read_delimited(stretch, path.name, texts, **options)
            header = _header(find_layout(decode(stretch, path.name), path.name))
        else:
            try:
                frame = read_delimited(header + stretch, path.name, texts, **options)
            except ValueError as error:
                raise ValueError(
                    f"After row {rows} of {path.name}, lines and rows counted from there: {error}"
                ) from None
        rows += len(frame)
        yield frame, read / size


def _stretches(path: Path) -> Iterator[bytes]:
    """The bytes of a file, cut where a line ends that is not within quotation marks."""
    left = b""
    with path.open("rb") as file:
        while piece := file.read(STRETCH):
            left += piece
            cut = _cut(left)
            if cut:
                yield left[:cut]
                left = left[cut:]
    if left:
        yield left


def _cut(content: bytes) -> int:
    """After the last line end that is outside quotation marks; 0 if there is none."""
    end = content.rfind(b"\n") + 1
    odd = content.count(b'"', 0, end) % 2
    while end and odd:
        before = content.rfind(b"\n", 0, end - 1) + 1
        odd = (odd + content.count(b'"', before, end)) % 2
        end = before
    return end


def _header(layout: Layout) -> bytes:
    """A line that says the separator, and one of the names."""
    line = io.StringIO()
    csv.writer(line, delimiter=layout.separator, lineterminator="\n").writerow(layout.columns)
    return f"sep={layout.separator}\n{line.getvalue()}".encode()


# ------------------------------------------------------------------ typed files


def _arrow_batches(
    path: Path,
    columns: Collection[str] | None,
    *,
    missing: Collection[str] = (),
    **options: Any,
) -> "Iterator[tuple[pd.DataFrame, float]]":
    """Rows of a Parquet or Arrow file."""
    arrow = import_optional("pyarrow", "Reading Parquet", "tables")
    try:
        batches = (_arrow if path.suffix.lower() in ARROW else _parquet)(path, columns)
    except (arrow.ArrowException, OSError):  # of an old kind, or none of these at all
        yield read_table(path, missing=missing, **options), 1.0
        return
    try:
        for batch, done in batches:
            if batch.num_rows:
                frame = arrow_frame(arrow.Table.from_batches([batch]), path.name)
                yield replace_na_values(frame, missing), done
    except (arrow.ArrowException, OSError):
        raise damaged_file(path.name) from None


def _parquet(path: Path, columns: Collection[str] | None) -> Iterator[tuple[Any, float]]:
    parquet = import_optional("pyarrow.parquet", "Reading Parquet", "tables")
    # A buffer: pages are read one by one instead of a whole group of rows.
    file = parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    names = file.schema_arrow.names
    enough = columns is not None and columns and set(columns) <= set(names)
    chosen = [name for name in names if name in (columns or ())] if enough else names

    def parts() -> Iterator[tuple[Any, float]]:
        done = 0
        for batch in file.iter_batches(_rows(len(chosen)), columns=chosen if enough else None):
            done += batch.num_rows
            yield batch, done / file.metadata.num_rows

    return parts()


def _arrow(path: Path, _: Collection[str] | None) -> Iterator[tuple[Any, float]]:
    """Batches as the file has them, cut where they are large."""
    arrow = import_optional("pyarrow", "Reading Arrow", "tables")
    file = import_optional("pyarrow.ipc", "Reading Arrow", "tables").open_file(
        arrow.OSFile(str(path))
    )

    def parts() -> Iterator[tuple[Any, float]]:
        for i in range(file.num_record_batches):
            batch = file.get_batch(i)
            rows = _rows(batch.num_columns)
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows), (i + 1) / file.num_record_batches

    return parts()


def _rows(n_columns: int) -> int:
    return max(1, min(MOST_ROWS, MOST_VALUES // max(n_columns, 1)))


# Rows of every class that a sample has, if there are so many.
LEAST = 5
# A column of more values than these has no classes.
MOST_CLASSES = 1_000


class Sample:
    """So many of all rows, each as likely as any other, but some of every class in any case.

    Every row draws a lot; the smallest win. Lots depend on the seed and on the number of the row alone, so
    that a sample is the same whatever parts a table comes in.

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
    >>> sample.n_rows, sum(len(frame) for frame in sample.frames().values())
    (80, 5)
    """

    def __init__(self, size: int, seed: int, target: str | None = None) -> None:
        self.size, self.target, self.n_rows = size, target, 0
        self._random = np.random.default_rng(seed)
        self._parts: dict[str, tuple[pd.DataFrame, Floats, Ints]] = {}
        self._bound = np.inf
        # The number of each class, its smallest lots, and the largest of these.
        self._codes: dict[str, int] = {}
        self._least: list[Floats] = []
        self._worst = np.zeros(1)

    def offer(self, name: str, frame: "pd.DataFrame") -> None:
        """Take from a part of the table, under a name for messages, what may be in the sample."""
        lots = self._random.random(len(frame))
        classes = np.full(len(frame), -1)
        if self.target is not None:
            find_name(self.target, frame.columns, name)
            classes = self._classes(frame[self.target], lots)
        self.n_rows += len(frame)
        self._keep(name, frame, lots, classes)
        if sum(len(lots) for _, lots, _ in self._parts.values()) > 2 * self.size + self._n_needed:
            self._throw_out()

    def frames(self) -> "dict[str, pd.DataFrame]":
        """The sample, in the order of the rows, by the names of the parts."""
        if min(self.n_rows, self._n_needed) > self.size:
            raise ValueError(
                f"A sample of {self.size} rows is too small for the {len(self._codes)} classes of "
                f"{self.target!r}; take {self._n_needed} rows or more."
            )
        self._throw_out()
        lots = np.concatenate([lots for _, lots, _ in self._parts.values()])
        classes = np.concatenate([classes for _, _, classes in self._parts.values()])
        others = np.sort(lots[~self._needed(lots, classes)])
        left = self.size - (len(lots) - len(others))
        bound = others[left] if left < len(others) else np.inf
        found = {}
        for name, (frame, own, of_class) in self._parts.items():
            chosen = (own < bound) | self._needed(own, of_class)
            if chosen.any():
                found[name] = frame[chosen].reset_index(drop=True)
        return found

    @property
    def _n_needed(self) -> int:
        return sum(map(len, self._least))

    def _classes(self, column: "pd.Series[Any]", lots: Floats) -> Ints:
        """The numbers of the classes of rows; their smallest lots are noted."""
        labels, codes = np.unique(column.astype(str).to_numpy(dtype=object), return_inverse=True)
        known = [self._codes.setdefault(label, len(self._codes)) for label in labels]
        if len(self._codes) > MOST_CLASSES:
            self.target, self._least, self._worst = None, [], np.zeros(1)
            self._codes = {}
            return np.full(len(column), -1)
        self._least += [lots[:0]] * (len(self._codes) - len(self._least))
        for place, code in enumerate(known):
            own = np.concatenate([self._least[code], lots[codes == place]])
            self._least[code] = np.sort(own)[:LEAST]
        # The last entry is for rows of no class.
        self._worst = np.array([*(least[-1] for least in self._least), -1.0])
        return np.asarray(known, dtype=np.int64)[codes]

    def _needed(self, lots: Floats, classes: Ints) -> Flags:
        return np.asarray(
            (classes >= 0) & (lots <= self._worst[np.minimum(classes, len(self._worst) - 1)])
        )

    def _keep(self, name: str, frame: "pd.DataFrame", lots: Floats, classes: Ints) -> None:
        """The smallest lots of all, and of each class."""
        kept = np.flatnonzero((lots < self._bound) | self._needed(lots, classes))
        self._parts[name] = (frame.iloc[kept].reset_index(drop=True), lots[kept], classes[kept])

    def _throw_out(self) -> None:
        lots = np.concatenate([lots for _, lots, _ in self._parts.values()])
        if len(lots) > self.size:
            self._bound = float(np.partition(lots, self.size)[self.size])
        for name, part in list(self._parts.items()):
            self._keep(name, *part)

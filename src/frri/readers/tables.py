"""One function for all file formats; what comes out is a data frame of numbers, dates and texts."""

import re
import sys
from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from frri.readers import packed
from frri.readers.dates import check_format
from frri.readers.delimited import read_delimited
from frri.readers.encoding import decoded
from frri.readers.json import read_json
from frri.readers.keel import read_keel
from frri.readers.parquet import read_parquet
from frri.readers.sheets import sheet_text
from frri.readers.texts import cleaned, converted, with_texts, without_marks

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
        check_format(date_format)
    if str(source) == "-":
        content, name = sys.stdin.buffer.read(), "standard input"
        kind = _kind_of(content)
    else:
        path = Path(source)
        name = path.name
        packing = path.suffix.lower() if path.suffix.lower() in packed.ENDINGS else ""
        ending = Path(path.stem).suffix if packing else path.suffix
        kind = FORMATS.get(ending.lower(), "")
        content = _content(path)
        if not kind:
            raise ValueError(
                f"{name}: cannot tell the format from the ending {ending!r}; "
                f"expected one of {', '.join(FORMATS)}."
            )
        if packing:
            content = packed.unpacked(content, name, packing)
    if kind == "sheet":
        content, kind = sheet_text(content, name), "delimited"
    if kind == "json":
        frame = read_json(content, name, texts or {}, missing, date_format, classes)
        return without_marks(frame, missing)
    if kind == "delimited":
        return read_delimited(
            content, name, texts, missing=missing, date_format=date_format, classes=classes
        )
    if kind == "parquet":
        return without_marks(read_parquet(content, name), missing)
    return without_marks(_keel(content, name, texts or {}), missing)


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
        table = read_keel(decoded(content, name) + "\n")
    except ValueError as error:
        sentence = str(error).rstrip(".")
        raise ValueError(
            f"{sentence}." if sentence.startswith(name) else f"{name}: {sentence}."
        ) from None
    frame = table.frame
    if frame.empty:
        raise ValueError(f"{name} has attributes but no rows.")
    return with_texts(
        frame,
        lambda column, values: (
            converted(values)
            if column in table.dates and column not in texts
            else cleaned(values, texts.get(column, ()))
        ),
    )

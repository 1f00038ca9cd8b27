"""The results file: one JSON value per line, only ever added to, safe against being killed.

The first line says which settings and versions made the file. A line is written whole and brought to
disk before the next; if the process dies within a line, that torn line is ignored and cut off when the
run goes on. A file made under other settings is never touched.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from frri.compare.evaluation import Cell, Task

FORMAT = 1

Json = dict[str, Any]


class JournalError(ValueError):
    """A results file that cannot be read or gone on with."""


class Journal:
    """An open results file.

    Attributes
    ----------
    path : Path
    header : dict
        Format, settings and versions.
    definitions : dict
        What each data set and learner in the file is: a checksum or a description, by kind and name.
    cells : dict
        The finished cells, by task.
    """

    def __init__(self, path: Path, header: Json, file: BinaryIO | None = None) -> None:
        self.path = path
        self.header = header
        self.definitions: dict[tuple[str, str], str] = {}
        self.cells: dict[Task, Cell] = {}
        self._file = file

    def define(self, kind: str, name: str, definition: str) -> None:
        """Say what a name stands for; it must not have stood for something else before."""
        before = self.definitions.get((kind, name))
        if before is None:
            self._write({"define": kind, "name": name, "as": definition})
            self.definitions[kind, name] = definition
        elif before != definition:
            what = f"{before}, not {definition}" if kind == "learner" else "other values or folds"
            raise JournalError(
                f"{self.path} has results of the {kind} {name!r} with {what}: "
                "give it another name or choose another directory"
            )

    def append(self, cell: Cell) -> None:
        """Store a finished cell."""
        self._write(cell)
        self.cells[_task(cell)] = cell

    def _write(self, value: Json) -> None:
        assert self._file is not None  # noqa: S101 - only open journals are written to
        self._file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _take(self, line: Json) -> None:
        if "define" in line:
            self.definitions[line["define"], line["name"]] = line["as"]
        else:
            self.cells[_task(line)] = line


def read_journal(path: Path) -> Journal:
    """Read a results file, without the line that may be torn at its end.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Journal
    """
    if not path.is_file():
        raise JournalError(f"there are no results in {path.parent}: {path.name} is missing")
    lines, _ = _lines(path, path.read_bytes())
    if not lines:
        raise JournalError(f"{path} is empty")
    return _journal(path, lines)


@contextmanager
def open_journal(path: Path, settings: Mapping[str, Any], versions: Json) -> Iterator[Journal]:
    """Begin a results file, or go on with the one that is there.

    Parameters
    ----------
    path : Path
    settings : mapping
        What has to be the same for results to belong together.
    versions : dict
        The same for the versions of packages.

    Yields
    ------
    Journal

    Raises
    ------
    JournalError
        If the file that is there was made otherwise, is in use, or is no results file at all.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        _lock(file, path)
        file.seek(0)
        lines, whole = _lines(path, file.read())
        header = {"format": FORMAT, "settings": dict(settings), "versions": versions}
        if lines:
            journal = _journal(path, lines)
            _check_same(path, journal.header, header)
            journal._file = file  # noqa: SLF001
            file.truncate(whole)
        else:
            file.truncate(0)
            journal = Journal(path, header, file)
            journal._write(header)  # noqa: SLF001
        yield journal


def _lines(path: Path, content: bytes) -> tuple[list[Json], int]:
    """The values on the complete lines, and how many bytes those take."""
    whole = content.rfind(b"\n") + 1
    values = []
    for number, line in enumerate(content[:whole].splitlines(), start=1):
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise JournalError(f"{path}: line {number} is damaged; choose another directory")
        values.append(value)
    return values, whole


def _journal(path: Path, lines: list[Json]) -> Journal:
    header, *rest = lines
    if "format" not in header:
        raise JournalError(f"{path} is not a results file of this benchmark")
    if header["format"] != FORMAT:
        raise JournalError(
            f"{path} is written in format {header['format']}, this version reads {FORMAT}"
        )
    journal = Journal(path, header)
    for line in rest:
        journal._take(line)  # noqa: SLF001
    return journal


def _check_same(path: Path, there: Json, here: Json) -> None:
    for part in ("settings", "versions"):
        for key in {**there[part], **here[part]}:
            old, new = there[part].get(key), here[part].get(key)
            if old != new:
                raise JournalError(
                    f"{path} was made with {key} {_shown(old)}, this run has {_shown(new)}: "
                    "choose another directory, or repeat the run as it was"
                )


def _shown(value: Any) -> str:
    return "absent" if value is None else str(value)


def _task(cell: Cell) -> Task:
    return Task(cell["dataset"], cell["learner"], cell["fold"])


def _lock(file: BinaryIO, path: Path) -> None:
    """Two runs must not write to one file; the lock ends with the process, however it ends."""
    with suppress(ImportError):
        import fcntl  # noqa: PLC0415 - not on Windows

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise JournalError(f"{path} is being written by another run") from None

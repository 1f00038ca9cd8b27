"""The results file: one JSON object per line, only ever appended to.

The first line has the settings and versions of the run, the others define the datasets and learners
or hold one cell each. A line is complete on disk, with a checksum, before the next is written. If
the process dies within a line, the incomplete line is ignored, and cut off when the run continues.
A file of other settings, or with a line that does not match its checksum, is never changed.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

from frri.compare.evaluate import Cell, Task

FORMAT = 2

Json = dict[str, Any]


class JournalError(ValueError):
    """A results file that cannot be read or continued."""


class Journal:
    """An open results file.

    Attributes
    ----------
    path : Path
    header : dict
        Format, settings and versions.
    definitions : dict
        Checksum or description of each dataset and learner, by kind and name.
    cells : dict
        Finished cells, by task.
    """

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self.header: Json = {}
        self.definitions: dict[tuple[str, str], str] = {}
        self.cells: dict[Task, Cell] = {}
        self._file = file

    def define(self, kind: str, name: str, definition: str) -> None:
        """Store the definition of a name; raise an error if the file has another one."""
        before = self.definitions.get((kind, name))
        if before is None:
            self.append({"define": kind, "name": name, "as": definition})
        elif before != definition:
            what = f"{before}, not {definition}" if kind == "learner" else "other values or folds"
            raise JournalError(
                f"{self.path} has results of the {kind} {name!r} with {what}: "
                "give it another name or choose another directory"
            )

    def append(self, line: Json) -> None:
        """Store a finished cell, the header or a definition."""
        self._file.write(signed_line(line))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._take(line)

    def read(self, lines: list[bytes]) -> None:
        """Read complete lines."""
        for number, line in enumerate(lines, start=1):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                value = None
            if number == 1 and isinstance(value, dict):
                self._check_format(value)
            if not isinstance(value, dict) or line != signed_line(value).rstrip(b"\n"):
                remedy = "delete that line, or choose" if number > 1 else "choose"
                raise JournalError(
                    f"{self.path}: line {number} is damaged; {remedy} another directory"
                )
            del value["check"]
            self._take(value)
        for task in self.cells:
            for key in (("data set", task.dataset), ("learner", task.learner)):
                if key not in self.definitions:
                    kind, name = key
                    raise JournalError(
                        f"{self.path} has a result of the {kind} {name!r}, which no line defines; "
                        "choose another directory"
                    )

    def _check_format(self, header: Json) -> None:
        if "format" not in header:
            raise JournalError(f"{self.path} is not a results file of this benchmark")
        if header["format"] != FORMAT:
            shown = json.dumps(header["format"])[:40]
            raise JournalError(
                f"{self.path} is written in format {shown}, this version reads {FORMAT}"
            )

    def _take(self, value: Json) -> None:
        if "define" in value:
            self.definitions[value["define"], value["name"]] = value["as"]
        elif "format" in value:
            self.header = value
        else:
            self.cells[Task.of(value)] = value


def signed_line(value: Json) -> bytes:
    r"""Return a line of a results file: a JSON object with a checksum of all before it.

    Examples
    --------
    >>> signed_line({"fold": 1})
    b'{"fold": 1, "check": 4041129504}\n'
    """
    content = {key: part for key, part in value.items() if key != "check"}
    text = json.dumps(content, ensure_ascii=False).encode(errors="replace")
    return text[:-1] + b', "check": %d}\n' % crc32(text)


@contextmanager
def open_journal(path: Path, settings: Mapping[str, Any], versions: Json) -> Iterator[Journal]:
    """Begin a results file, or continue the existing one.

    Parameters
    ----------
    path : Path
    settings : mapping
        Settings that must be equal for results to belong together.
    versions : dict
        Versions of packages, likewise.

    Yields
    ------
    Journal

    Raises
    ------
    JournalError
        If the existing file has other settings, is in use, or is not a results file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        _lock(file, path)
        file.seek(0)
        content = file.read()
        whole = content.rfind(b"\n") + 1
        journal = Journal(path, file)
        journal.read(content[:whole].splitlines())
        header = {"format": FORMAT, "settings": dict(settings), "versions": versions}
        _check_same(path, journal.header or header, header)
        file.truncate(whole)
        if not journal.header:
            journal.append(header)
        yield journal


def _check_same(path: Path, there: Json, here: Json) -> None:
    for part in ("settings", "versions"):
        for key in {**there[part], **here[part]}:
            old, new = (_shorten(one[part].get(key)) for one in (there, here))
            if old != new:
                raise JournalError(
                    f"{path} was made with {key[:40]} {old}, this run has {new}: "
                    "choose another directory, or repeat the run as it was"
                )


def _shorten(value: Any) -> str:
    return "absent" if value is None else str(value)[:200]


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock the file against other runs; the lock ends with the process, however it ends."""
    with suppress(ImportError):
        import fcntl  # noqa: PLC0415 - not on Windows

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise JournalError(f"{path} is being written by another run") from None

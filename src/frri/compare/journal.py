"""The results file: one JSON value per line, only ever added to, safe against being killed.

The first line says which settings and versions made the file. A line is written whole and brought to
disk before the next; if the process dies within a line, that torn line is ignored and cut off when the
run goes on. A file made under other settings, or with a line that no run has written, is never touched.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from frri.compare.evaluate import FULL, Cell, Task

FORMAT = 1

KINDS = ("data set", "learner")
"""What names in a results file stand for."""

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
        self.cells[Task.of(cell)] = cell

    def _write(self, value: Json) -> None:
        assert self._file is not None  # noqa: S101 - only open journals are written to
        self._file.write(json.dumps(value, ensure_ascii=False).encode(errors="replace") + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _take(self, line: Json) -> None:
        """Take a line of the file; a `_DamageError` says why it cannot be one."""
        if "define" in line:
            kind, name, definition = (_check(line, key) for key in ("define", "name", "as"))
            if kind not in KINDS:
                raise _DamageError(f"it defines {kind!r}")
            if (kind, name) in self.definitions:
                raise _DamageError(f"it defines the {kind} {name!r} again")
            self.definitions[kind, name] = definition
            return
        _check_cell(line, self.header["settings"])
        task = Task.of(line)
        for kind, name in zip(KINDS, (task.dataset, task.learner), strict=True):
            if (kind, name) not in self.definitions:
                raise _DamageError(f"it has a result of the {kind} {name!r}, which no line defines")
        if task in self.cells:
            raise _DamageError(
                f"it has {task.learner!r} on {task.dataset!r}, fold {task.fold}, again"
            )
        self.cells[task] = line


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
        journal, whole = _read(path, file.read())
        header = {"format": FORMAT, "settings": dict(settings), "versions": versions}
        if journal is not None:
            _check_same(path, journal.header, header)
            journal._file = file  # noqa: SLF001
            file.truncate(whole)
        else:
            file.truncate(0)
            journal = Journal(path, header, file)
            journal._write(header)  # noqa: SLF001
        yield journal


def _read(path: Path, content: bytes) -> tuple[Journal | None, int]:
    """What is on the complete lines, and how many bytes those take."""
    whole = content.rfind(b"\n") + 1
    journal = None
    for number, line in enumerate(content[:whole].splitlines(), start=1):
        try:
            value = _parsed(line)
            if journal is None:
                journal = Journal(path, _checked_header(path, value))
            else:
                journal._take(value)  # noqa: SLF001
        except _DamageError as damage:
            remedy = "delete that line, or choose" if journal is not None else "choose"
            raise JournalError(
                f"{path}: line {number} is damaged: {damage}; {remedy} another directory"
            ) from None
    return journal, whole


def _parsed(line: bytes) -> Json:
    def once(pairs: list[tuple[str, Any]]) -> Json:
        if len(dict(pairs)) < len(pairs):
            raise ValueError
        return dict(pairs)

    try:
        value = json.loads(line, object_pairs_hook=once)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise _DamageError("it is no JSON object with keys of their own")
    return value


def _checked_header(path: Path, header: Json) -> Json:
    if "format" not in header:
        raise JournalError(f"{path} is not a results file of this benchmark")
    if header["format"] != FORMAT or isinstance(header["format"], bool):
        raise JournalError(
            f"{path} is written in format {json.dumps(header['format'])[:40]}, "
            f"this version reads {FORMAT}"
        )
    settings = _check(header, "settings", _each(dict, lambda v: _is_text(v) or _is_count(v)))
    for key, kind in (("folds", int), ("metrics", str)):
        if not isinstance(settings.get(key, kind()), kind):
            raise _DamageError(f"its {key!r} cannot be {settings[key]!r}")
    _check(header, "versions", _each(dict, _is_text))
    return header


def _check_same(path: Path, there: Json, here: Json) -> None:
    for part in ("settings", "versions"):
        for key in {**there[part], **here[part]}:
            old, new = there[part].get(key), here[part].get(key)
            if old != new:
                raise JournalError(
                    f"{path} was made with {key[:40]} {_shown(old)}, this run has {_shown(new)}: "
                    "choose another directory, or repeat the run as it was"
                )


def _shown(value: Any) -> str:
    return "absent" if value is None else str(value)[:200]


def _lock(file: BinaryIO, path: Path) -> None:
    """Two runs must not write to one file; the lock ends with the process, however it ends."""
    with suppress(ImportError):
        import fcntl  # noqa: PLC0415 - not on Windows

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise JournalError(f"{path} is being written by another run") from None


# What lines may hold


class _DamageError(ValueError):
    """Why a line is not one that a run has written."""


def _is_text(value: Any) -> bool:
    """A text that can be written, which half a surrogate pair cannot."""
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= 2**53


def _is_measure(value: Any) -> bool:
    return value is None or type(value) is float or _is_count(value)


def _is_recall(value: Any) -> bool:
    """So many recognised of so many, at least one."""
    counts = isinstance(value, list) and len(value) == 2 and all(map(_is_count, value))
    return counts and value[0] <= value[1] > 0


def _each(kind: type, good: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        if not isinstance(value, kind) or not isinstance(value, dict | list):
            return False
        if isinstance(value, dict):
            return all(map(_is_text, value)) and all(map(good, value.values()))
        return all(map(good, value))

    return check


_PARTS: dict[str, Callable[[Any], bool]] = {
    "dataset": _is_text,
    "learner": _is_text,
    "fold": lambda value: type(value) is int and value >= FULL,
    "failure": _is_text,
    "scores": _each(dict, _is_measure),
    "recalls": _each(dict, _is_recall),
    "cost": _each(dict, _is_measure),
    "selection": _each(dict, lambda value: _is_text(value) or _is_measure(value)),
    "lengths": _each(list, _is_count),
    "marks": _each(list, _is_count),
    "notes": _each(list, _is_text),
}


def _check_cell(cell: Json, settings: Mapping[str, Any]) -> None:
    """Complain about a cell that no run with these settings can have stored."""
    fold: Any = cell.get("fold")
    needed = {"dataset", "learner", "fold", "failure" if "failure" in cell else "scores"}
    if "failure" not in cell and fold != FULL:
        needed.add("recalls")
    for key, good in _PARTS.items():
        if key in cell or key in needed:
            _check(cell, key, good)
    if fold >= settings.get("folds", fold + 1):
        raise _DamageError(f"there are no {fold + 1} folds")
    measured, found = settings.get("metrics"), cell.get("scores")
    if measured is None or found is None:
        return
    if not all(n in measured for n in found) if fold == FULL else ", ".join(found) != measured:
        raise _DamageError(f"its 'scores' are not {measured[:200]}")


def _check(line: Json, key: str, good: Callable[[Any], bool] = _is_text) -> Any:
    """The value under a key, if it is a good one."""
    if key not in line:
        raise _DamageError(f"it has no {key!r}")
    if not good(line[key]):
        shown = json.dumps(line[key])
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise _DamageError(f"its {key!r} cannot be {shown}")
    return line[key]

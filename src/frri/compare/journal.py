"""The results of a run, and the file in which they are stored.

The file has one JSON object per line and is only ever appended to. The first line has the settings
and versions of the run, the others define the datasets and learners or hold one cell each. A line
is complete on disk, with a checksum, before the next is written. If the process dies within a line,
the incomplete line is ignored, and cut off when the run continues. A file of other settings, or
with a line that does not match its checksum, is never changed.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np

from frri._util import import_optional
from frri.compare.datasets import Dataset
from frri.compare.evaluate import FULL, Cell, Task
from frri.compare.stability import similarity
from frri.table.columns import Frame

FORMAT = 2
COSTS = ("fit_seconds", "predict_seconds")

Json = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Results:
    """The cells of a grid and summaries of them, as tables of datasets x learners.

    Attributes
    ----------
    data : mapping
        Datasets by name.
    learners : sequence of str
    cells : sequence of dict
        In the order dataset, learner, fold.
    settings, versions : mapping
        Settings and versions of the run.
    not_run : mapping
        Pairs of dataset and learner that do not fit together, with the reason.
    """

    data: Mapping[str, Dataset]
    learners: Sequence[str]
    cells: Sequence[Cell]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    not_run: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def means(self, name: str) -> Frame:
        """Return the mean of a metric or cost over the folds.

        Where a fold has failed there is nan. Folds to which the metric does not apply (such as the
        length of rules, if there is only a default) are left out.

        Examples
        --------
        >>> cells = [
        ...     {"dataset": "wine", "learner": "tree", "fold": i, "scores": {"rules": r}}
        ...     for i, r in enumerate([9.0, 10.0])
        ... ]
        >>> Results({"wine": None}, ["tree"], cells, {}, {}).means("rules")
              tree
        wine   9.5
        """

        def average(cells: Sequence[Cell]) -> float:
            kind = "cost" if name in COSTS else "scores"
            values = [cell.get(kind, {}).get(name) for cell in cells]
            known = [value for value in values if value is not None]
            return float(np.mean(known)) if known else np.nan

        return self.summarize(average)

    def stability(self) -> Frame:
        """Return the similarity of the conditions of the folds, from 0 to 1.

        Two folds share most samples, so it is higher than that of resamples: see
        `frri.compare.stability`.
        """

        def compare(cells: Sequence[Cell]) -> float:
            found = [frozenset(cell["marks"]) for cell in cells if "marks" in cell]
            return similarity(found) if len(found) > 1 else np.nan

        return self.summarize(compare)

    @property
    def failures(self) -> list[Cell]:
        """Cells that have failed."""
        return [cell for cell in self.cells if "failure" in cell]

    def frame(self) -> Frame:
        """Return one row per cell: scores, selection, costs, notes and failure."""
        rows: list[Json] = [
            {
                "dataset": cell["dataset"],
                "learner": cell["learner"],
                "fold": "all" if cell["fold"] == FULL else cell["fold"],
                **cell.get("scores", {}),
                "selection": cell.get("selection", {}).get("status"),
                "failure": cell.get("failure"),
                "notes": "; ".join(cell.get("notes", [])) or None,
                **{key: cell.get("cost", {}).get(key) for key in COSTS},
            }
            for cell in self.cells
        ]
        rows += [
            {"dataset": data, "learner": learner, "failure": reason}
            for (data, learner), reason in self.not_run.items()
        ]
        return import_optional("pandas", "A comparison", "bench").DataFrame(rows)

    def proved(self, learner: str) -> tuple[int, int]:
        """Return how many selections of a learner are proven smallest, and the number of all."""
        own = (cell for cell in self.cells if cell["learner"] == learner and "selection" in cell)
        found = [cell["selection"].get("status") for cell in own]
        return found.count("optimal"), len(found)

    def summarize(self, summary: Callable[[Sequence[Cell]], float], *, full: bool = False) -> Frame:
        """Return a summary of the cells of each dataset and learner; nan where one has failed.

        Parameters
        ----------
        summary : callable
            From the cells of all folds to a number.
        full : bool, default=False
            If True, summarize the models that were fitted on all samples instead of those of folds.
        """
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in self.cells:
            if (cell["fold"] == FULL) == full:
                groups.setdefault((cell["dataset"], cell["learner"]), []).append(cell)
        table = import_optional("pandas", "A comparison", "bench").DataFrame(
            np.nan, index=list(self.data), columns=list(self.learners), dtype=np.float64
        )
        for (data, learner), cells in groups.items():
            if not any("failure" in cell for cell in cells):
                table.loc[data, learner] = summary(cells)
        return table


# ------------------------------------------------------------------ the file
class JournalError(ValueError):
    """A results file that cannot be read or continued."""


class Journal:
    """An open results file, of which complete lines are read and to which lines are appended.

    Attributes
    ----------
    header : dict
        Format, settings and versions; empty if the file is new.
    definitions : dict
        Checksum of each dataset and description of each learner, by kind and name.
    cells : dict
        Finished cells by task. A cell whose dataset or learner is not defined before it is left
        out, so that it is run again.
    """

    def __init__(self, path: Path, file: BinaryIO, lines: Sequence[bytes]) -> None:
        self.path, self._file = path, file
        self.header: Json = {}
        self.definitions: dict[tuple[str, str], str] = {}
        self.cells: dict[Task, Cell] = {}
        for number, line in enumerate(lines, start=1):
            self._take(self._parse(line, number))

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

    def _parse(self, line: bytes, number: int) -> Json:
        """Return a line without its checksum; raise an error if it does not match."""
        value: Any = None
        with suppress(ValueError, RecursionError):
            value = json.loads(line)
        if number == 1 and isinstance(value, dict) and value.get("format") != FORMAT:
            shown = json.dumps(value.get("format"))[:40]
            written = f"is written in format {shown}, this version reads {FORMAT}"
            known = "format" in value
            raise JournalError(
                f"{self.path} {written if known else 'is not a results file of this benchmark'}"
            )
        if not isinstance(value, dict) or signed_line(value) != line + b"\n":
            remedy = "delete that line, or choose" if number > 1 else "choose"
            raise JournalError(f"{self.path}: line {number} is damaged; {remedy} another directory")
        return {key: part for key, part in value.items() if key != "check"}

    def _take(self, value: Json) -> None:
        if "define" in value:
            self.definitions[value["define"], value["name"]] = value["as"]
        elif "format" in value:
            self.header = value
        else:
            task = Task(value["dataset"], value["learner"], value["fold"])
            parts = {("data set", task.dataset), ("learner", task.learner)}
            if parts <= self.definitions.keys():
                self.cells[task] = value


def signed_line(value: Json) -> bytes:
    """Return a line of a results file: a JSON object with a checksum of all before it."""
    content = {key: part for key, part in value.items() if key != "check"}
    text = json.dumps(content, ensure_ascii=False).encode(errors="replace")
    return text[:-1] + b', "check": %d}\n' % crc32(text)


@contextmanager
def open_journal(path: Path, settings: Mapping[str, Any], versions: Json) -> Iterator[Journal]:
    """Begin a results file, or continue the existing one.

    Settings and versions must be equal for results to belong together: a JournalError is raised if
    the existing file has others, is in use, or is not a results file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        _lock(file, path)
        file.seek(0)
        content = file.read()
        whole = content.rfind(b"\n") + 1
        journal = Journal(path, file, content[:whole].splitlines())
        header: Json = {"format": FORMAT, "settings": dict(settings), "versions": versions}
        before, now = (
            {**one["settings"], **one["versions"]} for one in (journal.header or header, header)
        )
        for key in {**before, **now}:
            old, new = before.get(key, "absent"), now.get(key, "absent")
            if old != new:
                raise JournalError(
                    f"{path} was made with {key[:40]} {str(old)[:200]}, this run has {new}: "
                    "choose another directory, or repeat the run as it was"
                )
        file.truncate(whole)
        if not journal.header:
            journal.append(header)
        yield journal


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock the file against other runs; the lock ends with the process, however it ends."""
    with suppress(ImportError):
        import fcntl  # noqa: PLC0415 - not on Windows

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise JournalError(f"{path} is being written by another run") from None

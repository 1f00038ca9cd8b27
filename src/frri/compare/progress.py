"""How far a run is and how long it will take, on one line of stderr."""

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import TextIO

from frri.compare.evaluation import Task


class Progress:
    """A line that is rewritten on a terminal, and a line now and then elsewhere.

    The time left is estimated per learner, from its seconds per value in the tables done so far.

    Parameters
    ----------
    tasks : iterable of Task
        What is to be done.
    values : mapping
        The number of values (objects x attributes) of each data set.
    workers : int
    stream : text stream, default stderr
    show : bool, default=True
        False says nothing.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> task = Task("wine", "tree", 0)
    >>> progress = Progress([task], {"wine": 2314}, 1, stream)
    >>> progress.done(task, seconds=0.5, failed=False)
    >>> progress.close()
    >>> stream.getvalue().splitlines()[-1]
    '1 of 1 cells in 0:00'
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        values: Mapping[str, int],
        workers: int,
        stream: TextIO | None = None,
        *,
        show: bool = True,
    ) -> None:
        self._left = set(tasks)
        self._total = len(self._left)
        self._values = values
        self._workers = max(workers, 1)
        self._stream = stream or sys.stderr
        self._show = show
        self._rewrites = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._start = self._shown = monotonic()
        self._seconds: dict[str, float] = defaultdict(float)
        self._work: dict[str, float] = defaultdict(float)
        self._failures = 0
        self._latest = ""

    def done(self, task: Task, seconds: float, *, failed: bool) -> None:
        """A cell is finished."""
        self._left.discard(task)
        self._failures += failed
        self._seconds[task.learner] += seconds
        self._work[task.learner] += self._values[task.dataset]
        self._latest = f"{task.dataset}, {task.learner}"
        self.tick()

    def tick(self) -> None:
        """Show where things are, if it is time to."""
        now = monotonic()
        if now - self._shown < (0.1 if self._rewrites else 10.0):
            return
        self._shown = now
        self._write(self._line(now))

    def close(self) -> None:
        """The last word."""
        done = self._total - len(self._left)
        failures = f", {self._failures} failed" if self._failures else ""
        took = _clock(monotonic() - self._start)
        self._write(f"{done} of {self._total} cells in {took}{failures}", "\n")

    def seconds_left(self) -> float | None:
        """An estimate; None as long as nothing is known."""
        if not self._work:
            return None
        overall = sum(self._seconds.values()) / sum(self._work.values())
        total = 0.0
        for task in self._left:
            work = self._work.get(task.learner)
            rate = self._seconds[task.learner] / work if work else overall
            total += rate * self._values[task.dataset]
        return total / self._workers

    def _line(self, now: float) -> str:
        done = self._total - len(self._left)
        left = self.seconds_left()
        remaining = f", about {_clock(left)} left" if left is not None else ""
        failures = f", {self._failures} failed" if self._failures else ""
        share = 100 * done // max(self._total, 1)
        return (
            f"{done} of {self._total} cells ({share} %) in {_clock(now - self._start)}{remaining}"
            f"{failures} [{self._latest}]"
        )

    def _write(self, line: str, end: str = "") -> None:
        if not self._show:
            return
        # Back to the beginning of the line, and erase what an earlier, longer one left there.
        self._stream.write(f"\r\x1b[K{line}{end}" if self._rewrites else f"{line}\n")
        self._stream.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

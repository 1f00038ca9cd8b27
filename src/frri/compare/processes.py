"""Worker processes and the threads that look after them, one each."""

import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

import cloudpickle

from frri.compare.evaluation import Cell, Task
from frri.compare.grid import Grid
from frri.compare.metrics import all_metrics
from frri.compare.progress import Progress
from frri.compare.worker import receive, send


def in_processes(
    grid: Grid, todo: Sequence[Task], workers: int, time_limit: float, line: Progress | None
) -> Iterator[Cell]:
    """Do tasks in several processes.

    Parameters
    ----------
    grid : Grid
    todo : sequence of Task
    workers : int
    time_limit : float
        Seconds after which a task's process is ended and the task counts as failed.
    line : Progress, optional
        Told that time passes.

    Yields
    ------
    dict
        Finished cells in the order in which they come. After Ctrl-C those that are there already, then
        the interrupt goes on.
    """
    waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
    for task in todo:
        waiting.put(task)
    finished: queue.SimpleQueue[Cell | BaseException] = queue.SimpleQueue()
    interrupted: KeyboardInterrupt | None = None
    with _crew(grid, waiting, finished, workers, time_limit):
        for _ in todo:
            try:
                cell = _next(finished, line)
            except KeyboardInterrupt as signal:
                interrupted = signal
                break
            if isinstance(cell, BaseException):
                raise cell
            yield cell
    if interrupted is not None:
        while not finished.empty():
            cell = finished.get()
            if not isinstance(cell, BaseException):
                yield cell
        raise interrupted


def _next(
    finished: "queue.SimpleQueue[Cell | BaseException]", line: Progress | None
) -> Cell | BaseException:
    while True:
        try:
            return finished.get(timeout=0.2)
        except queue.Empty:
            if line is not None:
                line.tick()


@contextmanager
def _crew(
    grid: Grid,
    waiting: "queue.SimpleQueue[Task]",
    finished: "queue.SimpleQueue[Cell | BaseException]",
    workers: int,
    time_limit: float,
) -> Iterator[None]:
    shared = cloudpickle.dumps(
        {
            "learners": dict(grid.learners),
            "metrics": all_metrics(grid.metrics),
            "seed": grid.seed,
        }
    )
    crew = [_Overseer(grid, shared, waiting, finished, time_limit) for _ in range(workers)]
    for overseer in crew:
        overseer.start()
    try:
        yield
    finally:
        for overseer in crew:
            overseer.stop()


class _Overseer(threading.Thread):
    """Hands tasks to one process, and replaces it when it dies or takes too long."""

    def __init__(
        self,
        grid: Grid,
        shared: bytes,
        waiting: "queue.SimpleQueue[Task]",
        finished: "queue.SimpleQueue[Cell | BaseException]",
        time_limit: float,
    ) -> None:
        super().__init__(daemon=True)
        self._grid, self._shared = grid, shared
        self._waiting, self._finished = waiting, finished
        self._time_limit = time_limit
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._known: set[str] = set()
        self._stopped = False

    def run(self) -> None:
        try:
            while not self._stopped:
                try:
                    task = self._waiting.get_nowait()
                except queue.Empty:
                    break
                self._finished.put(self._do(task))
        except BaseException as error:  # noqa: BLE001 - raised again by the main thread
            if not self._stopped:
                self._finished.put(error)
        finally:
            self._end_process()

    def stop(self) -> None:
        self._stopped = True
        process = self._process
        if process is not None:
            process.kill()

    def _do(self, task: Task) -> Cell:
        process = self._process or self._start_process()
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._time_limit, end)
        timer.daemon = True
        timer.start()
        try:
            answer = self._ask(process, task)
        finally:
            timer.cancel()
        if answer is not None:
            cell: Cell = pickle.loads(answer)  # noqa: S301 - from our own process
            return cell
        process.wait()
        reason = (
            f"took longer than {self._time_limit:g} seconds"
            if late.is_set()
            else self._last_words()
        )
        self._end_process()
        return {
            "dataset": task.dataset,
            "learner": task.learner,
            "fold": task.fold,
            "failure": reason,
        }

    def _ask(self, process: "subprocess.Popen[bytes]", task: Task) -> bytes | None:
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        message: dict[str, Any] = {"task": task}
        if task.dataset not in self._known:
            message["data"] = self._grid.data[task.dataset], self._grid.folds[task.dataset]
            self._known.add(task.dataset)
        try:
            send(process.stdin, cloudpickle.dumps(message))
            return receive(process.stdout)
        except (BrokenPipeError, ValueError):
            return None

    def _start_process(self) -> "subprocess.Popen[bytes]":
        # One thread each: the processes are the parallelism, and sums come out the same everywhere.
        single = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(single, "1"), "PYTHONHASHSEED": "0"}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._known = set()
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", "frri.compare.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
        )
        if self._stopped:
            process.kill()
        assert process.stdin is not None  # noqa: S101
        assert process.stdout is not None  # noqa: S101
        with suppress(BrokenPipeError):
            send(process.stdin, pickle.dumps({"path": sys.path, "shared": self._shared}))
            receive(process.stdout)  # READY; if it never comes, the first task will find out
        return process

    def _last_words(self) -> str:
        assert self._process is not None  # noqa: S101
        assert self._errors is not None  # noqa: S101
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        said = f": {lines[-1][:200]}" if lines else ""
        return f"the process ended with code {self._process.returncode}{said}"

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, self._errors):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()

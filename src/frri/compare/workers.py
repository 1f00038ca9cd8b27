"""Cells in several processes: one that dies or takes too long is a failure, and the run goes on.

Learners and metrics reach the processes pickled by value, so they may be defined anywhere, also in a
notebook or in a script that does not ask for its name.
"""

import contextlib
import os
import pickle
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib._parallel_backends import LokyBackend
from joblib.parallel import get_active_backend

from frri._util import import_optional, n_threads
from frri.compare.evaluate import Cell, Task, one_line

if TYPE_CHECKING:
    from concurrent.futures import Future

    from frri.compare.run import Grid


# One thread each: the processes are the parallelism, and sums come out the same everywhere.
_SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
_ENVIRONMENT = {**dict.fromkeys(_SINGLE, "1"), "PYTHONHASHSEED": "0"}

# Seconds that processes are given to start before nothing is left to do.
STARTING = 5.0

_Finished = queue.SimpleQueue[tuple[Task, "Future[Cell]"]]


def in_processes(
    grid: "Grid", todo: Sequence[Task], workers: int, time_limit: float, tick: Callable[[], None]
) -> Iterator[Cell]:
    """Do tasks in several processes.

    Parameters
    ----------
    grid : "Grid"
    todo : sequence of Task
    workers : int
    time_limit : float
        Seconds after which a task's process is ended and the task counts as failed; 0 is no limit.
    tick : callable
        Called now and then while nothing comes.

    Yields
    ------
    dict
        Finished cells in the order in which they come. After Ctrl-C those that are there already, then
        the interrupt goes on.
    """
    while todo:
        lost = []
        for task, cell in _in_one_pool(grid, todo, workers, time_limit, tick):
            if cell is None:
                lost.append(task)
            else:
                yield cell
        if len(lost) == len(todo):
            raise OSError("No process can be started to work in; workers=0 runs all in this one.")
        todo = lost


def _in_one_pool(
    grid: "Grid", todo: Sequence[Task], workers: int, time_limit: float, tick: Callable[[], None]
) -> Iterator[tuple[Task, Cell | None]]:
    """Tasks and their cells; None for what a pool has lost, which ends with it."""
    finished: _Finished = queue.SimpleQueue()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as last_words:
        pool = _pool(grid, workers, last_words)
        try:
            for task in todo:
                future = pool.schedule(_do, (task,), timeout=time_limit)
                future.add_done_callback(lambda done, task=task: finished.put((task, done)))
            for _ in todo:
                yield _cell(*_next(finished, tick), time_limit, last_words)
            _let_all_begin(workers, last_words)
        except KeyboardInterrupt:
            while not finished.empty():
                yield _cell(*finished.get(), time_limit, last_words)
            raise
        finally:
            pool.stop()
            pool.join()


def _let_all_begin(workers: int, last_words: str) -> None:
    """A process that is still starting when its pool ends would complain on standard output."""
    end = time.monotonic() + STARTING
    while len(list(Path(last_words).iterdir())) < workers and time.monotonic() < end:
        time.sleep(0.02)


def _pool(grid: "Grid", workers: int, last_words: str) -> Any:
    from joblib.externals.loky.backend.context import LokyContext  # noqa: PLC0415 - slow
    from joblib.externals.loky.backend.process import LokyProcess  # noqa: PLC0415

    cloudpickle = import_optional("cloudpickle", "A comparison", "bench")
    pebble = import_optional("pebble", "A comparison", "bench")

    class Context(LokyContext):  # type: ignore[misc]
        """Processes that do not run the main script again."""

        @staticmethod
        def Process(*arguments: Any, **options: Any) -> Any:  # noqa: N802 - as multiprocessing has it
            return LokyProcess(*arguments, env=_ENVIRONMENT, **options)

    settings = (cloudpickle.dumps(grid), os.getpid(), last_words)
    return pebble.ProcessPool(workers, initializer=_begin, initargs=settings, context=Context())


def _next(finished: _Finished, tick: Callable[[], None]) -> "tuple[Task, Future[Cell]]":
    while True:
        try:
            return finished.get(timeout=0.2)
        except queue.Empty:
            tick()


def _cell(
    task: Task, done: "Future[Cell]", time_limit: float, last_words: str
) -> tuple[Task, Cell | None]:
    from pebble import ProcessExpired  # noqa: PLC0415 - optional

    try:
        return task, done.result()
    except TimeoutError:
        reason = f"took longer than {time_limit:g} seconds"
    except ProcessExpired as end:
        said = ""
        with contextlib.suppress(OSError):
            said = Path(last_words, str(end.pid)).read_text("utf-8", "replace").strip()
        last = f": {said.splitlines()[-1][:200]}" if said else ""
        reason = f"the process ended with code {end.exitcode}{last}"
    except BrokenProcessPool:
        return task, None
    return task, task.cell(failure=reason)


# In the processes

_pickled = b""


def _begin(pickled: bytes, parent: int, last_words: str) -> None:
    """Take what there is to do, and say nothing where others speak."""
    global _pickled  # noqa: PLW0603 - a process does the tasks of one grid
    _pickled = pickled
    words = os.open(Path(last_words, str(os.getpid())), os.O_CREAT | os.O_RDWR | os.O_APPEND)
    os.dup2(words, sys.stderr.fileno())
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """When the parent is gone, so is this process, in the midst of a fit."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


@cache
def _grid() -> "Grid":
    grid: Grid = pickle.loads(_pickled)  # noqa: S301 - from the parent process
    return grid


def _do(task: Task) -> Cell:
    os.ftruncate(sys.stderr.fileno(), 0)
    try:
        grid = _grid()
    except Exception as error:  # noqa: BLE001 - a learner that cannot be unpickled is a failure
        return task.cell(failure=one_line(error))
    return grid.do(task)


def chosen_jobs(workers: int | None) -> int | None:
    """How many tasks run at a time on the backend that `joblib.parallel_config` names.

    Parameters
    ----------
    workers : int, optional
        By default what the surrounding `parallel_config` says, or else all that the backend has.

    Returns
    -------
    int, optional
        As joblib counts them (-1 is all). None where no backend is chosen, or joblib's own default,
        whose place our processes take.

    Examples
    --------
    >>> chosen_jobs(None)
    >>> with parallel_config("threading"):
    ...     chosen_jobs(None)
    -1
    """
    backend, n_jobs = get_active_backend(prefer=None)
    # Inside a task of joblib the backend is one that joblib has chosen.
    if isinstance(backend, LokyBackend) or backend.nesting_level:
        return None
    if workers is not None:
        return workers
    return -1 if n_jobs is None else int(n_jobs)


def n_at_a_time(n_jobs: int) -> int:
    """How many tasks that is on the active backend, as far as it knows before it has begun."""
    try:
        return int(effective_n_jobs(n_jobs))
    except Exception:  # noqa: BLE001 - Ray does not
        return n_threads(n_jobs)


def on_backend(grid: "Grid", todo: Sequence[Task], n_jobs: int) -> Iterator[Cell]:
    """Do tasks on the active backend of joblib.

    Parameters
    ----------
    grid : "Grid"
    todo : sequence of Task
    n_jobs : int

    Yields
    ------
    dict
        Finished cells in the order in which they come; from backends that give nothing away before all
        is done (multiprocessing, Ray), in rounds of one task for each that can run.
    """
    parts = {name: Part(grid=replace(grid, data={name: data})) for name, data in grid.data.items()}
    calls = [delayed(_do_part)(parts[task.dataset], task) for task in todo]
    if get_active_backend(prefer=None)[0].supports_return_generator:
        yield from Parallel(n_jobs, return_as="generator_unordered", batch_size=1)(calls)
        return
    with Parallel(n_jobs, batch_size=1) as parallel:
        step = n_at_a_time(n_jobs)
        for start in range(0, len(calls), step):
            yield from parallel(calls[start : start + step])


class Part:
    """A grid with one data set, which threads share and others get as bytes.

    Learners and metrics are pickled by value, as for processes of our own, and unpickled by the task,
    so that what cannot be is a failure of its cell. Dask sends what says that it is large to each worker
    once.
    """

    def __init__(self, pickled: bytes | None = None, grid: "Grid | None" = None) -> None:
        if pickled is not None:
            self.pickled = pickled
        if grid is not None:
            self.grid = grid

    def __reduce__(self) -> tuple[Any, ...]:
        return Part, (self.pickled,)

    def __sizeof__(self) -> int:
        return len(self.pickled)

    @cached_property
    def pickled(self) -> bytes:
        """The grid, from where it is."""
        content: bytes = import_optional("cloudpickle", "A comparison", "bench").dumps(self.grid)
        return content

    @cached_property
    def grid(self) -> "Grid":
        """The grid, where it is sent to."""
        content: Grid = pickle.loads(self.pickled)  # noqa: S301 - from whoever started the run
        return content


def _do_part(part: Part, task: Task) -> Cell:
    try:
        grid = part.grid
    except Exception as error:  # noqa: BLE001 - a learner that cannot be unpickled is a failure
        return task.cell(failure=one_line(error))
    with parallel_config("sequential", n_jobs=1):  # the tasks are the parallelism
        return grid.do(task)

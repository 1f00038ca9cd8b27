"""Run the tasks of a comparison in processes of its own, or on a backend of joblib.

Own processes are the default: a task that takes too long, or that kills its process, is recorded as
a failure, and the run continues. `joblib.parallel_config` selects threads, a Dask cluster or Ray
instead, where a task cannot be ended. Grids are pickled by value, so that estimators and metrics
may be defined anywhere, also in a notebook or in a script without a main guard.
"""

import os
import pickle
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import BACKENDS, get_active_backend

from frri._util import import_optional, n_threads
from frri.compare.evaluate import Cell, RecordFailure, Task

if TYPE_CHECKING:
    from frri.compare.run import Grid

# One thread each: the processes are the parallelism, and sums have the same order everywhere.
_SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
_ENVIRONMENT = {**dict.fromkeys(_SINGLE, "1"), "PYTHONHASHSEED": "0"}

# Seconds to wait for a process that is still starting when all tasks are done.
STARTING = 5.0


def run_in_processes(
    grid: "Grid", todo: Sequence[Task], n_workers: int, time_limit: float
) -> Iterator[Cell]:
    """Evaluate tasks in several processes.

    Parameters
    ----------
    grid : Grid
    todo : sequence of Task
    n_workers : int
    time_limit : float
        Seconds after which the process of a task is ended and the task has failed; 0 is no limit.

    Yields
    ------
    dict
        Cells in the order in which they are finished.
    """
    pebble = import_optional("pebble", "A comparison", "bench")
    context = _process_context()
    started = context.Semaphore(0)
    pool = pebble.ProcessPool(
        n_workers, initializer=_begin, initargs=(os.getpid(), started), context=context
    )
    try:
        parts = _pickle_by_dataset(grid)
        futures = {
            pool.schedule(_evaluate, (parts[task.dataset], task), timeout=time_limit): task
            for task in todo
        }
        for future in as_completed(futures):
            task = futures[future]
            try:
                yield future.result()
            except TimeoutError:
                yield task.cell(failure=f"took longer than {time_limit:g} seconds")
            except pebble.ProcessExpired as end:
                yield task.cell(failure=f"the process ended with code {end.exitcode}")
        # A process that is still starting when its pool ends would write a traceback.
        for _ in range(n_workers):
            started.acquire(timeout=STARTING)
    finally:
        pool.stop()
        pool.join()


def backend_jobs(workers: int | None) -> int | None:
    """Return how many tasks run at a time on the backend that `joblib.parallel_config` selects.

    Parameters
    ----------
    workers : int, optional
        By default the number of the surrounding `parallel_config`, or else all that the backend
        has.

    Returns
    -------
    int, optional
        As joblib counts them (-1 is all). None if no backend is selected, or joblib's own default,
        which the processes of this module replace.

    Examples
    --------
    >>> backend_jobs(None)
    >>> with parallel_config("threading"):
    ...     backend_jobs(None)
    -1
    """
    backend, n_jobs = get_active_backend(prefer=None)
    # Inside a task of joblib, joblib has selected the backend.
    if isinstance(backend, BACKENDS["loky"]) or backend.nesting_level:
        return None
    if workers is not None:
        return workers
    return -1 if n_jobs is None else int(n_jobs)


def run_on_backend(grid: "Grid", todo: Sequence[Task], n_jobs: int) -> Iterator[Cell]:
    """Evaluate tasks on the active backend of joblib.

    Parameters
    ----------
    grid : Grid
    todo : sequence of Task
    n_jobs : int

    Yields
    ------
    dict
        Cells in the order in which they are finished. Backends that return all results at once
        (multiprocessing, Ray) get the tasks in rounds.
    """
    backend = get_active_backend(prefer=None)[0]
    parts: Mapping[str, Grid | bytes] = dict.fromkeys(grid.data, grid)
    if not getattr(backend, "supports_sharedmem", False):
        parts = _pickle_by_dataset(grid)
    calls = [delayed(_evaluate)(parts[task.dataset], task) for task in todo]
    if backend.supports_return_generator:
        yield from Parallel(n_jobs, return_as="generator_unordered", batch_size=1)(calls)
        return
    with Parallel(n_jobs, batch_size=1) as parallel:
        step = 2 * max(n_jobs, n_threads())
        for start in range(0, len(calls), step):
            yield from parallel(calls[start : start + step])


def _pickle_by_dataset(grid: "Grid") -> "Mapping[str, Grid | bytes]":
    """Return the grid of each dataset alone, as bytes that Dask sends to each worker once."""
    cloudpickle = import_optional("cloudpickle", "A comparison", "bench")
    return {
        name: cloudpickle.dumps(replace(grid, data={name: data}))
        for name, data in grid.data.items()
    }


def _evaluate(part: "Grid | bytes", task: Task) -> Cell:
    """Evaluate a task where it was sent to; an estimator that cannot be unpickled is a failure."""
    cell = task.cell()
    with RecordFailure(cell), parallel_config("sequential", n_jobs=1):
        grid = _unpickle(part) if isinstance(part, bytes) else part
        return grid.evaluate(task)
    return cell


@lru_cache(maxsize=2)
def _unpickle(pickled: bytes) -> "Grid":
    grid: Grid = pickle.loads(pickled)  # noqa: S301 - from the process that started the run
    return grid


def _process_context() -> Any:
    """Return a context of multiprocessing whose processes do not run the main script again."""
    from joblib.externals.loky.backend.context import LokyContext  # noqa: PLC0415 - slow
    from joblib.externals.loky.backend.process import LokyProcess  # noqa: PLC0415

    class Context(LokyContext):  # type: ignore[misc]
        @staticmethod
        def Process(*arguments: Any, **options: Any) -> Any:  # noqa: N802 - name of multiprocessing
            return LokyProcess(*arguments, env=_ENVIRONMENT, **options)

    return Context()


def _begin(parent: int, started: Any) -> None:
    """Discard the output of a new process, and end it when its parent ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    started.release()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)

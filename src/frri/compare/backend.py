"""Cells on a backend of joblib that the caller has chosen: threads, a Dask cluster, Ray.

Nothing there can end a task that takes too long, which is why processes of our own are the default.
"""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib._parallel_backends import LokyBackend
from joblib.parallel import get_active_backend

from frri._util import import_optional, n_threads
from frri.compare.evaluation import Cell, Task, one_line
from frri.compare.grid import Grid


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


def on_backend(grid: Grid, todo: Sequence[Task], n_jobs: int) -> Iterator[Cell]:
    """Do tasks on the active backend of joblib.

    Parameters
    ----------
    grid : Grid
    todo : sequence of Task
    n_jobs : int

    Yields
    ------
    dict
        Finished cells in the order in which they come; from backends that give nothing away before all
        is done (multiprocessing, Ray), in rounds of one task for each that can run.
    """
    parts = {name: Part(grid=replace(grid, data={name: data})) for name, data in grid.data.items()}
    calls = [delayed(_do)(parts[task.dataset], task) for task in todo]
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

    def __init__(self, pickled: bytes | None = None, grid: Grid | None = None) -> None:
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
    def grid(self) -> Grid:
        """The grid, where it is sent to."""
        content: Grid = pickle.loads(self.pickled)  # noqa: S301 - from whoever started the run
        return content


def _do(part: Part, task: Task) -> Cell:
    try:
        grid = part.grid
    except Exception as error:  # noqa: BLE001 - a learner that cannot be unpickled is a failure
        return task.cell(failure=one_line(error))
    with parallel_config("sequential", n_jobs=1):  # the tasks are the parallelism
        return grid.do(task)

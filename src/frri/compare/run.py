"""Cross-validation of estimators on datasets: parallel, stored at once, continued after a stop.

Tasks are run in processes of their own: one that takes too long, or that kills its process, is
recorded as a failure, and the run continues. Grids are pickled by value, so that estimators and
metrics may be defined anywhere, also in a notebook or in a script without a main guard.
"""

import os
import pickle
import platform
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.base import BaseEstimator

from frri import __version__
from frri._util import Positions, Progress, import_optional, n_threads
from frri.compare.datasets import Dataset, Source, dataset
from frri.compare.evaluate import (
    FULL,
    Cell,
    Metric,
    Task,
    describe_estimator,
    evaluate,
    find_obstacle,
    learner,
    record_failure,
    select_metrics,
)
from frri.compare.journal import Results, open_journal
from frri.selection import holdout

RESULTS_FILE = "results.jsonl"
TIME_LIMIT = 600.0

# One thread each: the processes are the parallelism, and sums have the same order everywhere.
_SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
_ENVIRONMENT = {**dict.fromkeys(_SINGLE, "1"), "PYTHONHASHSEED": "0"}

# Seconds to wait for a process that is still starting when all tasks are done.
STARTING = 5.0


def run(
    data: Iterable[Source],
    learners: Iterable[str] | Mapping[str, BaseEstimator],
    *,
    out: str | os.PathLike[str] | None = None,
    n_folds: int = 10,
    seed: int = 0,
    full: bool = False,
    metrics: Sequence[str] | None = None,
    **execution: Any,
) -> Results:
    """Compare estimators on datasets by cross-validation on identical folds.

    Parameters
    ----------
    data : iterable
        Anything that `frri.compare.dataset` accepts.
    learners : iterable of str, or mapping from name to estimator
        Names that `frri.compare.learner` accepts, or classifiers by name.
    out : path, optional
        Directory of the results file. A run that finds its own file there continues it. By default
        results are not stored.
    n_folds : int, default=10
    seed : int, default=0
        For the folds and for every `random_state`.
    full : bool, default=False
        If True, each estimator is fitted on all samples as well, for the size of its model there.
    metrics : sequence of str, optional
        By default all there are.
    **execution
        workers : int, optional
            Number of processes, by default the number of usable cores; 0 is this process, for
            debugging, without a time limit. The results do not depend on it.
        time_limit : float, default=600
            Seconds after which a cell is a failure; 0 is no limit.
        progress : bool, default=False
            If True, progress is written to stderr.

    Examples
    --------
    >>> results = run(["wine"], ["tree"], n_folds=3, workers=0)
    >>> results.means("accuracy").round(2)
             tree
    wine     0.9...
    """
    tables = [dataset(source) for source in data]
    if not isinstance(learners, Mapping):
        learners = {name: learner(name) for name in learners}
    grid = Grid({d.name: d for d in tables}, learners, n_folds, seed, full, select_metrics(metrics))
    with tempfile.TemporaryDirectory() as scratch:
        return run_grid(grid, Path(out or scratch), **execution)


@dataclass
class Grid:
    """Datasets and estimators by name, and the settings of `run`.

    Attributes
    ----------
    folds : dict
        Fold in which each sample is tested, by dataset.
    not_run : dict
        Pairs of dataset and estimator that do not fit together, with the reason.
    """

    data: Mapping[str, Dataset]
    learners: Mapping[str, BaseEstimator]
    n_folds: int = 10
    seed: int = 0
    full: bool = False
    metrics: tuple[Metric, ...] = field(default_factory=select_metrics)
    folds: dict[str, Positions] = field(init=False)
    not_run: dict[tuple[str, str], str] = field(init=False)

    def __post_init__(self) -> None:
        self.folds, self.not_run = {}, {}
        for name, data in self.data.items():
            self.folds[name] = assign_folds(data, self.n_folds, self.seed)
            for learner_name, estimator in self.learners.items():
                reason = find_obstacle(data, learner_name, estimator)
                if reason is not None:
                    self.not_run[name, learner_name] = reason

    def tasks(self) -> list[Task]:
        """Return all tasks, in the order in which they are begun."""
        folds = [*range(self.n_folds), *([FULL] if self.full else [])]
        pairs = [(d, name) for d in self.data for name in self.learners]
        return [Task(*pair, fold) for pair in pairs if pair not in self.not_run for fold in folds]

    def evaluate(self, task: Task) -> Cell:
        """Fit and evaluate one cell."""
        data, estimator = self.data[task.dataset], self.learners[task.learner]
        return evaluate(data, self.folds[task.dataset], estimator, task, self.metrics, self.seed)


def run_grid(
    grid: Grid,
    out: Path,
    workers: int | None = None,
    time_limit: float | None = None,
    *,
    progress: bool = False,
) -> Results:
    """Run the tasks of a grid that the results file lacks; each cell is stored when it is finished.

    `out` is the directory of the results file; the options are those of `run`.
    """
    names = ", ".join(metric.name for metric in grid.metrics)
    settings, versions = {"folds": grid.n_folds, "seed": grid.seed, "metrics": names}, _versions()
    with open_journal(out / RESULTS_FILE, settings, versions) as journal:
        for name, data in grid.data.items():
            journal.define("data set", name, data.fingerprint)
        for name, estimator in grid.learners.items():
            journal.define("learner", name, describe_estimator(estimator))
        todo = [task for task in grid.tasks() if task not in journal.cells]
        count = n_threads() if workers is None else workers
        cells: Iterable[Cell] = map(grid.evaluate, todo)
        if count and todo:
            limit = TIME_LIMIT if time_limit is None else time_limit
            cells = _run_in_processes(grid, todo, min(count, len(todo)), limit)
        n_failed = 0
        with Progress(f"{len(todo)} cells", closing=True) if progress else nullcontext() as line:
            for count, cell in enumerate(cells, start=1):
                journal.append(cell)
                n_failed += "failure" in cell
                if line is not None:
                    failed = f", {n_failed} failed" if n_failed else ""
                    line.what = f"{count} of {len(todo)} cells{failed}"
                    line.set_step(count / len(todo))
        stored = [journal.cells[task] for task in grid.tasks()]
    return Results(grid.data, list(grid.learners), stored, settings, versions, grid.not_run)


def _versions() -> dict[str, str]:
    """Return the versions on which results may depend."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    found = dict.fromkeys(packages, "not installed")
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return {"frri": __version__, "python": platform.python_version(), **found}


# ------------------------------------------------------------------ processes
def _run_in_processes(
    grid: Grid, todo: Sequence[Task], n_workers: int, time_limit: float
) -> Iterator[Cell]:
    """Evaluate tasks in several processes, which are ended after a time limit (0 is none)."""
    pebble = import_optional("pebble", "A comparison", "bench")
    dumps = import_optional("cloudpickle", "A comparison", "bench").dumps
    context = _process_context()
    started = context.Semaphore(0)
    pool = pebble.ProcessPool(
        n_workers, initializer=_begin, initargs=(os.getpid(), started), context=context
    )
    try:
        parts = {name: dumps(replace(grid, data={name: d})) for name, d in grid.data.items()}
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


def _evaluate(part: bytes, task: Task) -> Cell:
    """Evaluate a task in another process; an estimator that cannot be unpickled is a failure."""
    cell = task.cell()
    with record_failure(cell), parallel_config("sequential", n_jobs=1):
        grid: Grid = _unpickle(part)
        return grid.evaluate(task)
    return cell


# The bytes come from the process that started the run.
_unpickle = lru_cache(maxsize=2)(pickle.loads)


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

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(0)

    threading.Thread(target=end_with_parent, daemon=True).start()
    started.release()


# ------------------------------------------------------------------ folds
def assign_folds(data: Dataset, n_folds: int, seed: int) -> Positions:
    """Return the fold in which each sample is tested.

    Folds that come with the data are kept. Otherwise folds are stratified, at random by the seed; a
    class with fewer samples than folds is absent from some.

    Examples
    --------
    >>> from frri.compare import load
    >>> np.bincount(assign_folds(load("wine"), 10, seed=0)).tolist()
    [18, 18, 18, 18, 18, 18, 18, 18, 17, 17]
    """
    if data.folds is not None:
        found = int(data.folds.max()) + 1
        if found != n_folds:
            raise ValueError(f"{data.name} comes with {found} folds of its own, not {n_folds}")
        return data.folds
    counts = np.unique(data.y, return_counts=True)[1]
    if len(counts) < 2:
        raise ValueError(f"{data.name}: all samples have the same class, there is nothing to learn")
    if counts.max() < n_folds:
        raise ValueError(
            f"{data.name}: no class has {n_folds} members, so it cannot be divided into "
            f"{n_folds} folds; ask for {counts.max()} or fewer"
        )
    return holdout.assign_folds(data.y, n_folds, seed)


def describe_small_classes(data: Dataset, n_folds: int) -> str | None:
    """Return a sentence about the classes that have fewer samples than there are folds."""
    counts = Counter(sorted(data.y.tolist())).items()
    small = [f"class {c!r} has {n} member{'s' * (n > 1)}" for c, n in counts if n < n_folds]
    if not small:
        return None
    return (
        f"{data.name}: {', '.join(small)}, fewer than the {n_folds} folds; "
        "recalls are averaged over the classes present in a fold."
    )

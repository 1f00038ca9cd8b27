"""The grid of data sets, learners and folds: run in parallel, stored at once, resumed where it stopped."""

import os
import platform
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from sklearn.base import BaseEstimator

from frri import __version__
from frri._util import n_threads
from frri.compare import learners as registry
from frri.compare.backend import chosen_jobs, n_at_a_time, on_backend
from frri.compare.evaluation import Cell, Task
from frri.compare.grid import Grid
from frri.compare.journal import Journal, open_journal
from frri.compare.pool import in_processes
from frri.compare.progress import Progress
from frri.compare.results import Results
from frri.compare.sources import Source, dataset

RESULTS_FILE = "results.jsonl"
TIME_LIMIT = 600.0


def run(
    data: Iterable[Source],
    learners: Iterable[str] | Mapping[str, BaseEstimator],
    *,
    out: str | os.PathLike[str] | None = None,
    n_folds: int = 10,
    seed: int = 0,
    workers: int | None = None,
    time_limit: float | None = None,
    full: bool = False,
    metrics: Sequence[str] | None = None,
    progress: bool = False,
) -> Results:
    """Compare learners on data sets by cross-validation on identical folds.

    Parameters
    ----------
    data : iterable
        Anything `frri.compare.dataset` takes.
    learners : iterable of str, or mapping from name to estimator
        Names that `frri.compare.learner` knows, or classifiers under names of your own.
    out : path, optional
        The directory for the results file. A run that finds its own file there goes on where that one
        stopped. By default results are not kept.
    n_folds : int, default=10
    seed : int, default=0
    workers : int, optional
        Processes; by default as many as there are cores to use. 0 means this process, for debugging:
        no time limit then. Within a `joblib.parallel_config` that names another backend than joblib's
        own processes (threading, dask, ray), so many tasks at a time on that backend, by default all that
        it has; Dask takes all it has in any case. The numbers do not depend on it.
    time_limit : float, optional
        Seconds after which a cell counts as a failure; 0 is no limit, the default is 600. On a backend
        of joblib there is none, since nothing there can end a task, and a learner that ends its process
        ends the run.
    full : bool, default=False
        Fit each learner on all objects as well, for the paper's bookkeeping of rules.
    metrics : sequence of str, optional
        By default all there are.
    progress : bool, default=False
        Whether to show on stderr how far things are.

    Returns
    -------
    Results

    Examples
    --------
    >>> results = run(["wine"], ["tree"], n_folds=3, workers=0)
    >>> results.means("accuracy").round(2)
             tree
    wine     0.9...
    """
    tables = [dataset(source) for source in data]
    if isinstance(learners, Mapping):
        estimators = dict(learners)
    else:
        estimators = {name: registry.learner(name) for name in learners}
    grid = Grid({d.name: d for d in tables}, estimators, n_folds, seed, full, metrics)
    with tempfile.TemporaryDirectory() as scratch:
        return run_grid(grid, Path(out or scratch), workers, time_limit, progress=progress)


def run_grid(
    grid: Grid,
    out: Path,
    workers: int | None = None,
    time_limit: float | None = None,
    *,
    progress: bool = True,
) -> Results:
    """Run what is left of a grid; every finished cell is on disk before the next is taken up.

    Parameters
    ----------
    grid : Grid
    out : Path
    workers, time_limit, progress
        As in `run`.

    Returns
    -------
    Results
    """
    with open_journal(out / RESULTS_FILE, grid.settings(), versions()) as journal:
        for name, data in grid.data.items():
            journal.define("data set", name, data.fingerprint)
        for name, estimator in grid.learners.items():
            journal.define("learner", name, registry.definition(estimator))
        todo = [task for task in grid.tasks() if task not in journal.cells]
        if todo:
            _work_off(grid, journal, todo, workers, time_limit, progress)
        return Results.of(journal, grid)


def versions() -> dict[str, str]:
    """The versions on which numbers may depend."""
    found = {"frri": __version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "scikit-learn", "numba"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def _work_off(
    grid: Grid,
    journal: Journal,
    todo: Sequence[Task],
    workers: int | None,
    time_limit: float | None,
    show: bool,
) -> None:
    """Do the tasks, and store their cells as they come."""
    jobs = None if workers == 0 else chosen_jobs(workers)
    count = n_at_a_time(jobs) if jobs else n_threads() if workers is None else workers
    count = min(count, len(todo))
    values = {name: data.X.size for name, data in grid.data.items()}
    line = Progress(todo, values, count, show=show)
    cells: Iterable[Cell]
    if jobs:
        if time_limit:
            warnings.warn(
                f"time_limit={time_limit:g} is not kept: no backend of joblib can end a task; outside of "
                "joblib.parallel_config, a comparison has processes of its own, which can be ended.",
                stacklevel=4,
            )
        cells = on_backend(grid, todo, jobs)
    elif count:
        limit = TIME_LIMIT if time_limit is None else time_limit
        cells = in_processes(grid, todo, count, limit, line.tick)
    else:
        cells = map(grid.do, todo)
    try:
        for cell in cells:
            journal.append(cell)
            cost = cell.get("cost") or {}
            seconds = sum(cost.get(k, 0.0) for k in ("fit_seconds", "predict_seconds"))
            line.done(Task.of(cell), seconds, failed="failure" in cell)
    finally:
        line.close()

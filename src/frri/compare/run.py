"""Cross-validation of estimators on datasets: parallel, stored at once, continued after a stop."""

import os
import platform
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from frri import __version__
from frri._util import Positions, Progress, n_threads
from frri.compare.datasets import Dataset, Source, dataset
from frri.compare.evaluate import (
    FULL,
    Cell,
    Task,
    describe_estimator,
    evaluate,
    find_obstacle,
    learner,
)
from frri.compare.journal import Journal, open_journal
from frri.compare.metrics import Metric, select_metrics
from frri.compare.results import Results
from frri.compare.workers import backend_jobs, run_in_processes, run_on_backend

RESULTS_FILE = "results.jsonl"
TIME_LIMIT = 600.0


class Execution(TypedDict, total=False):
    """How a comparison is run; `run` describes the options."""

    workers: int | None
    time_limit: float | None
    progress: bool


def run(
    data: Iterable[Source],
    learners: Iterable[str] | Mapping[str, BaseEstimator],
    *,
    out: str | os.PathLike[str] | None = None,
    n_folds: int = 10,
    seed: int = 0,
    full: bool = False,
    metrics: Sequence[str] | None = None,
    **execution: Unpack[Execution],
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
            debugging, without a time limit. Within a `joblib.parallel_config` that selects another
            backend than joblib's own processes (threading, dask, ray), the number of tasks at a
            time on that backend, by default all that it has. The results do not depend on it.
        time_limit : float, optional
            Seconds after which a cell is a failure, 600 by default; 0 is no limit. A backend of
            joblib has none, since a task cannot be ended there, and an estimator that ends its
            process ends the run.
        progress : bool, default=False
            If True, progress is written to stderr.

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
    if not isinstance(learners, Mapping):
        learners = {name: learner(name) for name in learners}
    grid = Grid({d.name: d for d in tables}, learners, n_folds, seed, full, metrics)
    with tempfile.TemporaryDirectory() as scratch:
        return run_grid(grid, Path(out or scratch), **execution)


@dataclass
class Grid:
    """Datasets, estimators, folds, seed and metrics of a comparison.

    Attributes
    ----------
    data : dict
        Datasets by name.
    learners : dict
        Estimators by name.
    n_folds : int
    seed : int
    full : bool
        Whether each estimator is fitted on all samples as well.
    metric_names : sequence of str, optional
        By default all there are.
    not_run : dict
        Pairs of dataset and estimator that do not fit together, with the reason.
    """

    data: Mapping[str, Dataset]
    learners: Mapping[str, BaseEstimator]
    n_folds: int = 10
    seed: int = 0
    full: bool = False
    metric_names: Sequence[str] | None = None
    metrics: tuple[Metric, ...] = field(init=False)
    folds: dict[str, Positions] = field(init=False)
    not_run: dict[tuple[str, str], str] = field(init=False)

    def __post_init__(self) -> None:
        self.metrics = select_metrics(self.metric_names)
        self.folds = {
            name: assign_folds(data, self.n_folds, self.seed) for name, data in self.data.items()
        }
        self.not_run = {
            (d, name): reason
            for d, data in self.data.items()
            for name, estimator in self.learners.items()
            if (reason := find_obstacle(data, name, estimator)) is not None
        }

    def tasks(self) -> list[Task]:
        """Return all tasks, in the order in which they are begun."""
        folds = [*range(self.n_folds), *([FULL] if self.full else [])]
        pairs = [(d, name) for d in self.data for name in self.learners]
        return [Task(*pair, fold) for pair in pairs if pair not in self.not_run for fold in folds]

    def evaluate(self, task: Task) -> Cell:
        """Fit and evaluate one cell."""
        data, estimator = self.data[task.dataset], self.learners[task.learner]
        return evaluate(data, self.folds[task.dataset], estimator, task, self.metrics, self.seed)

    def settings(self) -> dict[str, Any]:
        """Return the settings that must be equal for results to belong together."""
        names = ", ".join(metric.name for metric in self.metrics)
        return {"folds": self.n_folds, "seed": self.seed, "metrics": names}


def run_grid(
    grid: Grid,
    out: Path,
    workers: int | None = None,
    time_limit: float | None = None,
    *,
    progress: bool = False,
) -> Results:
    """Run the tasks of a grid that the results file lacks; each cell is stored when it is finished.

    Parameters
    ----------
    grid : Grid
    out : Path
        Directory of the results file.
    workers, time_limit, progress
        As in `run`.

    Returns
    -------
    Results
    """
    with open_journal(out / RESULTS_FILE, grid.settings(), _versions()) as journal:
        for name, data in grid.data.items():
            journal.define("data set", name, data.fingerprint)
        for name, estimator in grid.learners.items():
            journal.define("learner", name, describe_estimator(estimator))
        todo = [task for task in grid.tasks() if task not in journal.cells]
        if todo:
            _run_tasks(grid, journal, todo, _cells(grid, todo, workers, time_limit), progress)
        cells = [journal.cells[task] for task in grid.tasks() if task in journal.cells]
        settings, versions = journal.header["settings"], journal.header["versions"]
    return Results(grid.data, list(grid.learners), cells, settings, versions, grid.not_run)


def _cells(
    grid: Grid, todo: Sequence[Task], workers: int | None, time_limit: float | None
) -> Iterable[Cell]:
    """Choose where the tasks are run."""
    if workers == 0:
        return map(grid.evaluate, todo)
    jobs = backend_jobs(workers)
    if jobs is None:
        count = min(n_threads() if workers is None else workers, len(todo))
        limit = TIME_LIMIT if time_limit is None else time_limit
        return run_in_processes(grid, todo, count, limit)
    if time_limit:
        warnings.warn(
            f"time_limit={time_limit:g} is not kept: no backend of joblib can end a task; outside "
            "of joblib.parallel_config, a comparison has processes of its own, which can be ended.",
            stacklevel=4,
        )
    return run_on_backend(grid, todo, jobs)


def _run_tasks(
    grid: Grid, journal: Journal, todo: Sequence[Task], cells: Iterable[Cell], show: bool
) -> None:
    """Store cells as they are finished, and report the progress."""
    total = sum(grid.data[task.dataset].X.size for task in todo)
    done = n_failed = 0
    with Progress(f"{len(todo)} cells", closing=True) if show else nullcontext() as line:
        for count, cell in enumerate(cells, start=1):
            journal.append(cell)
            done += grid.data[cell["dataset"]].X.size
            n_failed += "failure" in cell
            if line is not None:
                failed = f", {n_failed} failed" if n_failed else ""
                line.what = f"{count} of {len(todo)} cells{failed}"
                line.fraction = done / total


def _versions() -> dict[str, str]:
    """Return the versions on which results may depend."""
    found = {"frri": __version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "scikit-learn", "numba"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def assign_folds(data: Dataset, n_folds: int, seed: int) -> Positions:
    """Return the fold in which each sample is tested.

    Folds that come with the data are kept. Otherwise folds are stratified, at random by the seed; a
    class with fewer samples than folds is absent from some.

    Parameters
    ----------
    data : Dataset
    n_folds : int
    seed : int

    Returns
    -------
    array of int

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
        raise ValueError(f"{data.name}: all objects have the same class, there is nothing to learn")
    if counts.max() < n_folds:
        raise ValueError(
            f"{data.name}: no class has {n_folds} members, so it cannot be divided into "
            f"{n_folds} folds; ask for {counts.max()} or fewer"
        )
    folds = np.empty(len(data.y), dtype=np.intp)
    with warnings.catch_warnings():
        # `describe_small_classes` describes the small classes of which scikit-learn warns.
        warnings.simplefilter("ignore", UserWarning)
        split = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(data.X, data.y)
        for fold, (_, test) in enumerate(split):
            folds[test] = fold
    return folds


def describe_small_classes(data: Dataset, n_folds: int) -> str | None:
    """Return a sentence about the classes that have fewer samples than there are folds.

    Examples
    --------
    >>> from frri.compare import load
    >>> print(describe_small_classes(load("ecoli"), 10))
    ecoli: class 'imL' has 2 members, class 'imS' has 2, class 'omL' has 5, fewer than the 10 folds;
    recalls are averaged over the classes present in a fold.
    """
    classes, counts = np.unique(data.y, return_counts=True)
    small = [(c, n) for c, n in zip(classes, counts, strict=True) if n < n_folds]
    if not small:
        return None
    (first, n), *rest = small
    listing = [f"class {str(first)!r} has {n} member{'s' if n > 1 else ''}"]
    listing += [f"class {str(c)!r} has {m}" for c, m in rest]
    return (
        f"{data.name}: {', '.join(listing)}, fewer than the {n_folds} folds; "
        "recalls are averaged over the classes present in a fold."
    )

"""The grid of data sets, learners and folds: run in parallel, stored at once, resumed where it stopped."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from sklearn.model_selection import StratifiedKFold

from frri import __version__
from frri._util import n_threads
from frri.compare.datasets import Dataset, Source, dataset
from frri.compare.evaluate import FULL, Cell, Task, definition, evaluate, learner, obstacle
from frri.compare.journal import Journal, open_journal
from frri.compare.metrics import Metric, all_metrics
from frri.compare.results import Results
from frri.compare.workers import chosen_jobs, in_processes, n_at_a_time, on_backend

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from frri._util import Positions

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
        estimators = {name: learner(name) for name in learners}
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
            journal.define("learner", name, definition(estimator))
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


@dataclass
class Grid:
    """What to run.

    Attributes
    ----------
    data : dict
        The data sets by name.
    learners : dict
        The estimators by name.
    n_folds : int
    seed : int
        For the folds and for every learner's `random_state`.
    full : bool
        Whether each learner is fitted on all objects as well, for the size of its model there.
    metric_names : sequence of str, optional
        By default all there are.
    not_run : dict
        Pairs of data set and learner that do not go together, and why.
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
        self.metrics = all_metrics(self.metric_names)
        self.folds = {
            name: assign_folds(data, self.n_folds, self.seed) for name, data in self.data.items()
        }
        self.not_run = {
            (d, name): reason
            for d, data in self.data.items()
            for name, estimator in self.learners.items()
            if (reason := obstacle(data, name, estimator)) is not None
        }

    def tasks(self) -> list[Task]:
        """All cells, in the order in which they are begun."""
        folds = [*range(self.n_folds), *([FULL] if self.full else [])]
        pairs = [(d, name) for d in self.data for name in self.learners]
        return [Task(*pair, fold) for pair in pairs if pair not in self.not_run for fold in folds]

    def do(self, task: Task) -> Cell:
        """One cell."""
        data, estimator = self.data[task.dataset], self.learners[task.learner]
        return evaluate(data, self.folds[task.dataset], estimator, task, self.metrics, self.seed)

    def settings(self) -> dict[str, Any]:
        """What has to be the same for results to belong together."""
        names = ", ".join(metric.name for metric in self.metrics)
        return {"folds": self.n_folds, "seed": self.seed, "metrics": names}


def assign_folds(data: Dataset, n_folds: int, seed: int) -> Positions:
    """The fold in which each object is tested.

    Folds that come with the data are kept. Otherwise each fold gets about the same share of every
    class, at random by the seed; a class with fewer members than folds is absent from some.

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
        # What it warns of, small classes, is said by `small_classes` in the words of this experiment.
        warnings.simplefilter("ignore", UserWarning)
        split = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(data.X, data.y)
        for fold, (_, test) in enumerate(split):
            folds[test] = fold
    return folds


def small_classes(data: Dataset, n_folds: int) -> str | None:
    """One sentence if a class has fewer members than there are folds.

    Examples
    --------
    >>> from frri.compare import load
    >>> print(small_classes(load("ecoli"), 10))
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

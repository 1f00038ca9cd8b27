"""One cell of the experiment: a learner is fitted on all folds of a data set but one, and judged on it.

Everything in the result depends on data, learner, folds and seed only, except what stands under
``"cost"``: seconds, and the peak of memory while fitting. That peak is the growth of the process's
resident memory to its highest point during `fit`, as Linux counts it (`VmHWM`, reset before, after free
memory has been given back). It includes what a fit loads, such as compiled kernels at first use.
Elsewhere it is not measured.
"""

import ctypes
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from frri._util import Positions, find_name
from frri.compare.datasets import Dataset
from frri.compare.metrics import Metric, Outcome, size_of
from frri.compare.stability import marks_of
from frri.learners import registry
from frri.rules.measures import recall_counts

FULL = -1
"""Instead of the number of a fold: fitted on all objects, judged by its size only."""

Cell = dict[str, Any]


@dataclass(frozen=True, order=True)
class Task:
    """Which cell: the names of data set and learner, and the fold that is tested."""

    dataset: str
    learner: str
    fold: int

    @classmethod
    def of(cls, cell: Cell) -> "Task":
        """The task that a cell is the result of."""
        return cls(cell["dataset"], cell["learner"], cell["fold"])

    def cell(self, **content: Any) -> Cell:
        """What came of it.

        Examples
        --------
        >>> Task("wine", "tree", 0).cell(failure="too late")
        {'dataset': 'wine', 'learner': 'tree', 'fold': 0, 'failure': 'too late'}
        """
        return {"dataset": self.dataset, "learner": self.learner, "fold": self.fold, **content}


def evaluate(
    data: Dataset,
    folds: Positions,
    estimator: BaseEstimator,
    task: Task,
    metrics: Iterable[Metric],
    seed: int,
) -> Cell:
    """Fit and judge one learner on one fold.

    Parameters
    ----------
    data : Dataset
    folds : array of int
        The fold in which each object is tested.
    estimator : scikit-learn classifier
        Cloned, with every `random_state` set to the seed.
    task : Task
    metrics : iterable of Metric
    seed : int

    Returns
    -------
    dict
        Plain JSON values. If the learner raises an exception, it stands under ``"failure"`` and there
        is nothing else to tell.

    Examples
    --------
    >>> from frri.compare import learner, load, metric
    >>> from frri.compare.run import assign_folds
    >>> wine = load("wine")
    >>> folds = assign_folds(wine, 10, seed=0)
    >>> task = Task("wine", "tree", 0)
    >>> cell = evaluate(wine, folds, learner("tree"), task, [metric("accuracy")], seed=0)
    >>> cell["scores"], cell["recalls"]["1"]
    ({'accuracy': 0.888...}, [5, 6])
    """
    cell = task.cell()
    test = np.arange(0) if task.fold == FULL else np.flatnonzero(folds == task.fold)
    training = np.setdiff1d(np.arange(len(data.y)), test)
    with capture_warnings() as caught, RecordFailure(cell):
        cell |= _fit_and_measure(data, training, test, seeded(estimator, seed), metrics)
    notes = {one_line(warning) for warning in caught}
    if notes:
        cell["notes"] = sorted(notes)[:3]
    return cell


class RecordFailure:
    """Context manager that stores an exception under ``"failure"`` of a cell.

    Any exception of an estimator is a result of the comparison.

    Examples
    --------
    >>> cell = {}
    >>> with RecordFailure(cell):
    ...     raise ValueError("no rules")
    >>> cell
    {'failure': 'ValueError: no rules'}
    """

    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._cell["failure"] = one_line(error)
        return True


def one_line(error: BaseException | str) -> str:
    r"""An exception or warning in one line of moderate length.

    Examples
    --------
    >>> one_line(ValueError("too\nmany"))
    'ValueError: too many'
    """
    text = " ".join(str(error).split())
    if isinstance(error, BaseException) and not isinstance(error, Warning):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."


def _fit_and_measure(
    data: Dataset,
    training: Positions,
    test: Positions,
    model: BaseEstimator,
    metrics: Iterable[Metric],
) -> Cell:
    X, y = data.X.iloc[training], data.y[training]
    peak = _PeakMemory()
    start = perf_counter()
    model.fit(X, y)
    cost = {"fit_seconds": perf_counter() - start, "peak_memory_mb": peak.growth()}
    truth = data.y[test]
    predicted, probabilities = truth, None
    if len(test):
        new = data.X.iloc[test]
        start = perf_counter()
        predicted = np.asarray(model.predict(new)).astype(np.str_)
        cost["predict_seconds"] = perf_counter() - start
        if hasattr(model, "predict_proba"):
            probabilities = np.asarray(model.predict_proba(new))
    size = size_of(model)
    outcome = Outcome(model, truth, predicted, probabilities, size)
    cell: Cell = {
        "scores": {m.name: _number(m.function(outcome)) for m in metrics if m.of_model or len(test)}
    }
    if len(test):
        cell["recalls"] = {c: list(n) for c, n in recall_counts(truth, predicted).items()}
    if size is not None:
        cell["lengths"] = np.bincount(size.conditions).tolist()
    if hasattr(model, "ruleset_"):
        # Numbers for the marks, which are all that is needed to compare the rules of two folds.
        marks = (repr(mark).encode() for mark in marks_of(model.ruleset_, data.X))
        cell["marks"] = sorted(map(crc32, marks))
    selection = getattr(model, "selection_", None)
    if selection is not None:
        cell["selection"] = {k: selection[k] for k in ("status", "lower_bound") if k in selection}
    cell["cost"] = cost
    return cell


def _number(value: float | None) -> float | None:
    """Whatever kind of number a metric returns, as one that JSON knows."""
    return None if value is None else float(value)


class _PeakMemory:
    """The growth of this process's memory to its highest point, in megabytes."""

    def __init__(self) -> None:
        self._before: float | None = None
        try:
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            self._before = self._status("VmRSS")
        except (OSError, ValueError, AttributeError, TypeError):
            return

    def growth(self) -> float | None:
        if self._before is None:
            return None
        return round(max(self._status("VmHWM") - self._before, 0.0), 1)

    @staticmethod
    def _status(key: str) -> float:
        text = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        line = next(line for line in text.splitlines() if line.startswith(key + ":"))
        return int(line.split()[1]) / 1024


_lock = threading.Lock()
_said: dict[int, list[Warning]] = {}
_filters = ExitStack()


@contextmanager
def capture_warnings() -> Iterator[list[Warning]]:
    """The warnings of this thread, unshown; where no other thread is noting, those of all threads.

    `warnings.catch_warnings` is not for threads: who leaves it first ends it for all, and who leaves it
    last undoes it for ever. So the first to come enters it here, and the last to go leaves it. A learner
    that uses it itself, in threads, may still hide a warning of another.

    Examples
    --------
    >>> with capture_warnings() as said:
    ...     warnings.warn("too few objects")
    >>> said
    [UserWarning('too few objects')]
    """
    me = threading.get_ident()
    with _lock:
        if not _said:
            _filters.enter_context(warnings.catch_warnings())
            warnings.showwarning = _note
        warnings.simplefilter("always")
        outer = _said.get(me)
        said = _said[me] = []
    try:
        yield said
    finally:
        with _lock:
            if outer is None:
                del _said[me]
            else:
                _said[me] = outer
            if not _said:
                _filters.close()


def _note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    said = _said.get(threading.get_ident())
    if said is None and len(_said) == 1:
        (said,) = _said.values()
    if said is not None:
        said.append(message if isinstance(message, Warning) else category(message))


LEARNERS = tuple(registry.LEARNERS)
"""The names of the learners that come with the comparison."""

_added: dict[str, BaseEstimator] = {}


def learner(name: str) -> BaseEstimator:
    """A new estimator by its name.

    Parameters
    ----------
    name : str
        One of `LEARNERS`, a name given to `add_learner`, or the full name of a classifier class that
        needs no arguments, such as ``"sklearn.naive_bayes.GaussianNB"``.

    Examples
    --------
    >>> learner("tree")
    DecisionTreeClassifier()
    >>> learner("sklearn.naive_bayes.GaussianNB")
    GaussianNB()
    >>> learner("riper")
    Traceback (most recent call last):
        ...
    ValueError: The comparison has no learner 'riper'; did you mean 'ripper'?
    """
    if name in _added:
        return clone(_added[name])
    if "." in name:
        estimator = registry.Learner(name, name, name).make()
        if not is_classifier(estimator):
            raise ValueError(f"{name!r} is not a classifier")
        return estimator
    find_name(name, [*registry.LEARNERS, *_added], "The comparison", "learner")
    return registry.LEARNERS[name].make()


def add_learner(name: str, estimator: BaseEstimator) -> None:
    """Make a classifier available by name.

    Parameters
    ----------
    name : str
    estimator : scikit-learn classifier
        Cloned for every fold. Every parameter called `random_state` is set to the seed of the run.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> add_learner("stump", DecisionTreeClassifier(max_depth=1))
    >>> learner("stump")
    DecisionTreeClassifier(max_depth=1)
    """
    _added[name] = estimator


def label(name: str) -> str:
    """The name of a learner in tables and figures.

    Examples
    --------
    >>> label("modlem-entropy"), label("sklearn.naive_bayes.GaussianNB")
    ('MODLEM (entropy)', 'GaussianNB')
    """
    known = registry.LEARNERS.get(name)
    return name.rpartition(".")[2] if known is None else known.label


def obstacle(data: Dataset, name: str, estimator: BaseEstimator) -> str | None:
    """Why a learner of the registry cannot be run on a table; None if it can, or if it may try.

    Examples
    --------
    >>> import pandas as pd
    >>> from frri.compare import dataset
    >>> X = pd.DataFrame({"age": [31, None, 40], "sex": ["f", "m", "f"]})
    >>> patients = dataset((X, ["low", "high", "low"]), name="patients")
    >>> obstacle(patients, "tree", learner("tree"))
    "not run: decision tree takes numbers only, and 'sex' holds others"
    >>> ages = dataset((X[["age"]], ["low", "high", "low"]), name="ages")
    >>> obstacle(ages, "knn", learner("knn"))
    "not run: 5-nearest neighbours takes no missing values, and 'age' has some"
    >>> obstacle(patients, "frri", learner("frri"))
    """
    known = registry.LEARNERS.get(name)
    if known is None or definition(estimator) != definition(known.make()):
        return None
    if not known.nominal and data.not_numeric:
        columns = _listing(data.not_numeric, "holds", "hold")
        return f"not run: {known.label} takes numbers only, and {columns} others"
    if not known.missing and data.with_gaps:
        columns = _listing(data.with_gaps, "has", "have")
        return f"not run: {known.label} takes no missing values, and {columns} some"
    return None


def _listing(columns: list[str], one: str, several: str) -> str:
    if len(columns) == 1:
        return f"{columns[0]!r} {one}"
    shown = ", ".join(map(repr, columns[:3]))
    return f"{shown}{f' and {len(columns) - 3} more' if len(columns) > 3 else ''} {several}"


def seeded(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """A clone in which every `random_state`, also of nested estimators, is the seed.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> seeded(DecisionTreeClassifier(), 7)
    DecisionTreeClassifier(random_state=7)
    """
    fresh = clone(estimator)
    random = [p for p in fresh.get_params() if p.rpartition("__")[2] == "random_state"]
    return fresh.set_params(**dict.fromkeys(random, seed)) if random else fresh


def definition(estimator: BaseEstimator) -> str:
    """What a learner is, in one line that changes with any of its settings.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> definition(DecisionTreeClassifier(max_depth=1))
    'DecisionTreeClassifier(max_depth=1)'
    """
    shown: str = " ".join(estimator.__repr__(N_CHAR_MAX=10**6).split())
    return shown

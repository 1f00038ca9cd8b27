"""Estimators on a Dask cluster: tasks that survive their workers, Dask tables, the local model."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from typing import Any, ClassVar, Self, TypeVar
from weakref import WeakSet

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from frri._util import import_optional, short_repr

Result = TypeVar("Result")

# Attempts of a fit, after data were lost with the last worker that had them.
ATTEMPTS = 4
# Seconds to wait for a scheduler, and for the first worker of a cluster that starts them on demand.
PATIENCE = 30
# Bytes of a worker without a memory limit.
UNLIMITED = 1 << 62

# Attributes that a fitted model needs to predict.
FITTED = ("ruleset_", "classes_", "path_", "n_features_in_", "feature_names_in_")

Future = Any


@dataclass(kw_only=True, eq=False, repr=False)
class DaskEstimator:
    """A classifier whose `fit` uses a cluster; a base before its local class."""

    client: Any = None

    # The same estimator without a cluster.
    _local: ClassVar[type[Any]]
    # Parameters of the copies that learn from parts.
    _part_parameters: ClassVar[dict[str, Any]]
    _cluster: "Cluster | None" = field(init=False, default=None)  # while it learns
    _called: float = field(init=False)  # when `fit` was called
    _began: float | None = field(init=False)
    classes_: Any = field(init=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rules from a table and its class labels.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_samples, n_features)
            Partitions may be empty or lack classes.
        y : dask Series or Array, or array-like of shape (n_samples,)
        sample_weight : dask Series or Array, or array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._called = perf_counter()
        given = [X, y] if sample_weight is None else [X, y, sample_weight]
        with connect(self.client) as cluster:
            here = cluster.attempt(lambda: gather_tables(cluster, given))
            self._cluster = cluster
            try:
                super().fit(*here)  # type: ignore[misc]
            finally:
                self._cluster = None
        return self

    def _learn(self, table: Any) -> Any:
        """Learn from a checked table, again if workers die with their data."""
        learn = super()._learn  # type: ignore[misc]
        if self._cluster is None:
            return learn(table)
        self._began = self._called  # a time limit is one for all that `fit` does
        return self._cluster.attempt(lambda: learn(table))

    def predict(self, X: Any) -> Any:
        """Predict the class of each row, lazily for a Dask table.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_samples, n_features)
        """
        if not is_collection(X):
            return super().predict(X)  # type: ignore[misc]
        return map_partitions(X, self.local().predict, self.classes_.dtype, None)

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of every class, lazily for a Dask table.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_samples, n_features)
        """
        if not is_collection(X):
            return super().predict_proba(X)  # type: ignore[misc]
        n_classes = len(self.classes_)
        return map_partitions(X, self.local().predict_proba, np.dtype(np.float64), n_classes)

    def local(self) -> Any:
        """Return the same model without a cluster, light enough to be sent to every partition."""
        check_is_fitted(self)
        model = self._local(**self._settings())
        for name in FITTED:
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        return model

    def _for_part(self, rows: Any, labels: Any) -> Any:
        """Return a copy for the small tables of the calibration, which learns here."""
        one = self.local()._for_part(rows, labels)  # noqa: SLF001 - of the same estimator
        return one.set_params(**self._part_parameters)

    def _about(self, table: Any) -> dict[str, Any]:
        """Return the provenance without the client."""
        about: dict[str, Any] = super()._about(table)  # type: ignore[misc]
        del about["parameters"]["client"]
        return about

    def __sklearn_clone__(self) -> Self:
        """Return a copy with the same client: connections cannot be copied."""
        known = {name: clone(value, safe=False) for name, value in self._settings().items()}
        return type(self)(client=self.client, **known)

    def _settings(self) -> dict[str, Any]:
        """Return all parameters but the client."""
        given: dict[str, Any] = self.get_params()  # type: ignore[attr-defined]
        return {name: value for name, value in given.items() if name != "client"}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without a client, which cannot be saved."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return state | {"client": self.client if isinstance(self.client, str) else None}


class Cluster:
    """Tasks on the workers of a client, each named after its phase.

    A task that is lost with its worker is repeated elsewhere, with all that it needs. Data that
    were sent from here cannot be made there: `attempt` begins again if the last copy is gone.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.name = ""
        self._tasks: WeakSet[Any] = WeakSet()
        self._numbers = count()

    def attempt(self, work: Callable[[], Result]) -> Result:
        """Return the result of a function, which begins again if workers die with their data."""
        distributed = _import_distributed()
        phase = "all"
        for _ in range(ATTEMPTS):
            self.name = uuid.uuid4().hex[:8]
            try:
                with ExitStack() as stack:
                    stack.callback(self.cancel)  # if an error leaves tasks that nobody waits for
                    result = work()
                    stack.pop_all()
                    return result
            except (CancelledError, distributed.comm.CommClosedError):
                self._check_scheduler()
            except OSError:
                self._check_scheduler()
                raise
            except distributed.KilledWorker as error:
                phase = str(error.task).removeprefix("frri-").partition("-")[0]
                break
        raise RuntimeError(
            f"Workers died again and again while they did the same task ({phase}): they may need "
            "more memory, or fewer threads each."
        )

    def cancel(self) -> None:
        """Cancel all tasks; one that runs is not waited for."""
        tasks = [task for task in self._tasks if not task.cancelled()]
        if tasks and self.client.status == "running":
            with suppress(OSError):
                self.client.cancel(tasks, reason="the fit has ended")

    def send(self, data: Any) -> Future:
        """Send data to a worker, from which others fetch them when they need them.

        Copies for all workers at once would fail if one of them died meanwhile.
        """
        try:
            (sent,) = self.client.scatter([data], hash=False, timeout=PATIENCE)
        except TimeoutError:
            raise _no_workers(self.client) from None
        return self.track(sent)

    def submit(
        self, phase: str, work: Callable[..., Any], *known: Any, at: str | None = None
    ) -> Future:
        """Submit a task of a phase, to any worker or to the one at an address."""
        where = {} if at is None else {"workers": [at]}
        key = f"frri-{phase}-{self.name}-{next(self._numbers)}"
        return self.track(self.client.submit(work, *known, key=key, **where))

    def track(self, task: Future) -> Future:
        """Return a task that will be cancelled with the others."""
        self._tasks.add(task)
        return task

    def map(self, phase: str, work: Callable[..., Any], *known: Sequence[Any]) -> list[Future]:
        """Submit a task for each tuple of arguments."""
        return [self.submit(phase, work, *each) for each in zip(*known, strict=True)]

    def gather(self, futures: Any) -> Any:
        """Return the results of tasks, here."""
        return self.client.gather(futures)

    def room(self) -> int:
        """Return the memory of the smallest worker, in bytes."""
        limits = [worker["memory_limit"] for worker in self._workers().values()]
        return min((int(limit or UNLIMITED) for limit in limits), default=UNLIMITED)

    def threads(self) -> dict[str, int]:
        """Return the number of threads of each worker by address, after waiting for the first."""
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise _no_workers(self.client) from None
        return {address: int(worker["nthreads"]) for address, worker in self._workers().items()}

    def _workers(self) -> dict[str, dict[str, Any]]:
        return dict(self.client.scheduler_info(n_workers=-1)["workers"])

    def _check_scheduler(self) -> None:
        with suppress(OSError):
            if self.client.status == "running":
                self.client.ncores()  # it may be gone without being missed yet
                return
        raise _lost(self.client) from None


@contextmanager
def connect(client: Any) -> Iterator[Cluster]:
    """Connect to a client, the address of a scheduler, or the client in use (None)."""
    distributed = _import_distributed()
    with ExitStack() as stack:
        try:
            if client is None:
                client = distributed.get_client()
            elif isinstance(client, str):
                own = distributed.Client(client, timeout=PATIENCE, set_as_default=False)
                client = stack.enter_context(own)
        except (OSError, ValueError):
            if client is None:
                raise ValueError(
                    "There is no Dask client: start one with `distributed.Client()`, or give one, "
                    "or the address of a scheduler, as client=."
                ) from None
            raise ConnectionError(
                f"No scheduler answers at {client!r}: start one with `dask scheduler`, or give "
                "another address."
            ) from None
        if not isinstance(client, distributed.Client):
            raise TypeError(
                "client must be a distributed.Client, the address of a scheduler or None, "
                f"got {client!r}."
            )
        if client.asynchronous:
            raise ValueError("The client is asynchronous: give one made with asynchronous=False.")
        if client.status != "running":
            raise ConnectionError(
                f"The client of {_scheduler(client)} is {client.status}: start a new one."
            )
        try:
            client.submit(int, pure=False).result(timeout=PATIENCE)
        except TimeoutError:
            raise _no_workers(client) from None
        except (CancelledError, OSError):
            raise _lost(client) from None
        yield Cluster(client)


def _import_distributed() -> Any:
    return import_optional("distributed", "Learning on a cluster", "dask")


def _lost(client: Any) -> ConnectionError:
    return ConnectionError(
        f"The {_scheduler(client)} no longer answers: start it again, and a new client for it."
    )


def _no_workers(client: Any) -> ConnectionError:
    return ConnectionError(
        f"The {_scheduler(client)} has had no worker for {PATIENCE} seconds: start some with "
        "`dask worker`."
    )


def _scheduler(client: Any) -> str:
    address = getattr(getattr(client, "scheduler", None), "address", None)
    return f"scheduler at {address or 'an unknown address'}"


# --- Tables
def is_collection(table: Any) -> bool:
    """Return whether something is a table or a column of Dask."""
    return hasattr(table, "__dask_graph__")


def gather_tables(cluster: Cluster, tables: Sequence[Any]) -> list[Any]:
    """Return tables and columns in one piece; those of Dask are computed on the workers."""
    delayed = {i: delayed_parts(table) for i, table in enumerate(tables) if is_collection(table)}
    futures = cluster.client.compute([part for parts in delayed.values() for part in parts])
    futures = [cluster.track(future) for future in futures]
    found = list(tables)
    for i, parts in delayed.items():
        own, futures = futures[: len(parts)], futures[len(parts) :]
        dtypes = cluster.gather(cluster.map(f"dtypes{i}", length_and_dtypes, own))
        check_alike(dtypes)
        filled = [part for part, (length, _) in zip(own, dtypes, strict=True) if length]
        found[i] = concatenate(cluster.gather(filled or own[:1]))
    return found


def check_alike(dtypes: Sequence[tuple[int, dict[Any, str]]]) -> None:
    """Raise an error if partitions have different columns; empty ones are ignored.

    Examples
    --------
    >>> check_alike([(10, {"age": "int64"}), (0, {}), (9, {"age": "float64"})])
    Traceback (most recent call last):
        ...
    ValueError: The column 'age' is int64 in partition 0 and float64 in partition 2: read it ...
    """
    filled = [(i, columns) for i, (length, columns) in enumerate(dtypes) if length]
    for i, columns in filled[1:]:
        first, expected = filled[0]
        if list(columns) != list(expected):
            names = [", ".join(map(short_repr, some)) for some in (expected, columns)]
            raise ValueError(
                f"Partition {first} has the columns {names[0]} but partition {i} {names[1]}: give "
                "all partitions the same, in one order."
            )
        for name, dtype in columns.items():
            if dtype != expected[name]:
                what = "The target" if name is None else f"The column {short_repr(name)}"
                raise ValueError(
                    f"{what} is {expected[name]} in partition {first} and {dtype} in partition "
                    f"{i}: read it with one dtype."
                )


def map_partitions(
    table: Any, work: Callable[[Any], Any], dtype: Any, n_columns: int | None
) -> Any:
    """Apply a function from rows to one value each, or to `n_columns`, to every partition, lazily.

    Return a Dask series with the index of the table, or an array for a table that is one and where
    values have columns.
    """
    if hasattr(table, "map_partitions"):
        pandas = import_optional("pandas", "Predicting data frames", "tables")
        shape = 0 if n_columns is None else (0, n_columns)
        kind = pandas.Series if n_columns is None else pandas.DataFrame
        utils = import_optional("dask.dataframe.utils", "Predicting data frames", "dask")
        index = utils.make_meta(table).index
        meta = kind(np.zeros(shape, dtype=dtype), index=index)
        found = table.map_partitions(_work_like, work, meta, meta=meta)
        return found if n_columns is None else found.to_dask_array()
    whole, tail = table.rechunk({1: -1}), () if n_columns is None else (n_columns,)
    chunks = {"drop_axis": 1} if n_columns is None else {"chunks": (whole.chunks[0], tail)}
    return whole.map_blocks(_work_on, work, dtype, tail, dtype=dtype, **chunks)


def concatenate(pieces: Sequence[Any]) -> Any:
    """Return pieces of a table or a column as one."""
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    return import_optional("pandas", "Learning from data frames", "tables").concat(pieces)


def delayed_parts(table: Any) -> list[Any]:
    """Return the partitions of a table of Dask, each to be computed later."""
    if getattr(table, "ndim", 1) == 2 and hasattr(table, "rechunk"):
        table = table.rechunk({1: -1})
    parts = table.to_delayed()
    return list(parts.ravel() if isinstance(parts, np.ndarray) else parts)


# --- On the workers
def length_and_dtypes(part: Any) -> tuple[int, dict[Any, str]]:
    """Return the number of rows and the dtype of each column; of a single column under None."""
    if hasattr(part, "columns"):
        return len(part), {name: str(dtype) for name, dtype in part.dtypes.items()}
    if part.ndim == 2:
        return len(part), dict.fromkeys(map(str, range(part.shape[1])), str(part.dtype))
    return len(part), {None: str(part.dtype)}


def _work_on(part: Any, work: Callable[[Any], Any], dtype: Any, tail: tuple[int, ...]) -> Any:
    """Apply a function to a partition that may be empty."""
    return np.asarray(work(part), dtype=dtype) if len(part) else np.zeros((0, *tail), dtype=dtype)


def _work_like(part: Any, work: Callable[[Any], Any], meta: Any) -> Any:
    """Apply a function to a partition; return a series or frame like `meta`."""
    kind = meta.to_numpy()
    return type(meta)(_work_on(part, work, kind.dtype, kind.shape[1:]), index=part.index)

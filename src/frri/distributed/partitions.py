"""Dask tables: gathered in one piece to learn from, or processed partition by partition."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from frri._util import import_optional, short_repr
from frri.learners.frri.bagging import draw_bags, nearest_in_batches
from frri.learners.training_table import named_labels
from frri.rules.rule import label_array
from frri.rules.rule_statistics import statistics_from_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from frri._util import Floats, Ints, Positions
    from frri.distributed.cluster import Cluster
    from frri.learners.frri import FRRIBaggingClassifier
    from frri.learners.frri.bagging import RulePool
    from frri.learners.training_table import TrainingTable
    from frri.rules import RuleSet


def is_collection(table: Any) -> bool:
    """Return whether something is a table or a column of Dask."""
    return hasattr(table, "__dask_graph__")


def gather_tables(cluster: Cluster, tables: Sequence[Any]) -> list[Any]:
    """Return tables and columns in one piece; those of Dask are computed on the workers."""
    delayed = {i: _delayed(table) for i, table in enumerate(tables) if is_collection(table)}
    futures = cluster.client.compute([part for parts in delayed.values() for part in parts])
    futures = [cluster.track(future) for future in futures]
    found = list(tables)
    for i, parts in delayed.items():
        own, futures = futures[: len(parts)], futures[len(parts) :]
        dtypes = cluster.gather(cluster.map(f"dtypes{i}", _length_and_dtypes, own))
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


class Partitions:
    """A Dask table and its labels, processed partition by partition: none of them is kept.

    Parameters
    ----------
    cluster : Cluster
    X : dask DataFrame or Array
    y : dask Series or Array
    """

    def __init__(self, cluster: Cluster, X: Any, y: Any) -> None:
        if not is_collection(y):
            raise ValueError(
                "The table is one of Dask and the labels are not: give both so, in the same "
                "partitions."
            )
        self.cluster = cluster
        self.rows, self.labels = _delayed(X), _delayed(y)
        if len(self.rows) != len(self.labels):
            raise ValueError(
                f"The table has {len(self.rows)} partitions and the labels have "
                f"{len(self.labels)}: give both in the same ones."
            )

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lengths(self) -> list[int]:
        """Number of rows of each partition; an error if partitions do not fit together."""
        found = self.map("dtypes", Partition.dtypes)
        for k in (0, 1):
            check_alike([both[k] for both in found])
        for i, ((n_rows, _), (n_labels, _)) in enumerate(found):
            if n_rows != n_labels:
                raise ValueError(
                    f"Partition {i} of the table has {n_rows} rows and {n_labels} labels: "
                    "inconsistent numbers of samples."
                )
        return [n_rows for (n_rows, _), _ in found]

    def map(self, phase: str, method: Callable[..., Any], *known: Sequence[Any]) -> list[Any]:
        """Return the results of a method of `Partition` for every partition."""
        run = import_optional("dask", "Learning on a cluster", "dask").delayed(_run, pure=False)
        tasks = [
            run(method, *each, dask_key_name=f"frri-{phase}-{self.cluster.name}-{i}")
            for i, each in enumerate(zip(self.rows, self.labels, *known, strict=True))
        ]
        futures = [self.cluster.track(task) for task in self.cluster.client.compute(tasks)]
        found: list[Any] = self.cluster.gather(futures)
        return found


def map_partitions(
    table: Any, work: Callable[[Any], Any], dtype: Any, n_columns: int | None
) -> Any:
    """Apply a function to every partition, lazily.

    Parameters
    ----------
    table : dask DataFrame or Array
    work : callable
        From the rows of a partition to one value, or to several columns of numbers, each.
    dtype : dtype
        Of the values.
    n_columns : int or None
        None for one value per row.

    Returns
    -------
    dask Series, with the index of the table, or dask Array
        An array for a table that is one, and where values have columns.
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


def _delayed(table: Any) -> list[Any]:
    if getattr(table, "ndim", 1) == 2 and hasattr(table, "rechunk"):
        table = table.rechunk({1: -1})
    parts = table.to_delayed()
    return list(parts.ravel() if isinstance(parts, np.ndarray) else parts)


# --- On the workers


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows of a table, and their labels."""

    rows: Any
    labels: Any

    def __len__(self) -> int:
        return len(self.labels)

    def dtypes(self) -> tuple[Any, Any]:
        """Return lengths and dtypes of rows and labels."""
        return _length_and_dtypes(self.rows), _length_and_dtypes(self.labels)

    def draw(
        self, estimator: FRRIBaggingClassifier, fraction: Any, seeds: Sequence[int]
    ) -> tuple[Partition, Ints, list[Positions]]:
        """Draw bags: the rows in any of them, their positions, and which of them each bag has."""
        if not len(self) or not seeds:
            return self._take(np.arange(0)), np.arange(0), [np.arange(0) for _ in seeds]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the client warns about all that is drawn
            table = estimator._training_table(self.rows, self.labels)  # noqa: SLF001 - of its own
        bags = draw_bags(table, fraction, seeds)
        rows = [np.sort(bags.rows(bag)) for bag in range(len(seeds))]
        places = np.unique(np.concatenate(rows))
        return self._take(places), places, [np.searchsorted(places, some) for some in rows]

    def nearest(self, known: tuple[RulePool, TrainingTable, str]) -> Floats:
        """Return the distance of every rule to the nearest sample of another class."""
        pool, table, missing = known
        batches = [(self.rows, self.labels)] if len(self) else []
        return nearest_in_batches(pool, table, batches, missing, n_jobs=1)[0]

    def count(self, ruleset: RuleSet) -> CoverageCounts:
        """Count the samples that rules cover."""
        n_rules, n_classes = len(ruleset), len(ruleset.classes)
        if not len(self):
            return CoverageCounts(
                np.zeros((n_rules, n_classes)), np.zeros(n_rules), np.zeros(n_classes), 0
            )
        _, labels = named_labels(self.labels)
        known = ruleset.statistics(self.rows, labels)
        classes = label_array(ruleset.classes)
        return CoverageCounts(
            np.array([one.support for one in known], dtype=np.float64).reshape(n_rules, n_classes),
            np.array([one.alone for one in known], dtype=np.float64),
            np.array([(labels == label).sum() for label in classes], dtype=np.float64),
            int((~ruleset.covers(self.rows).any(axis=1)).sum()),
        )

    def _take(self, places: Ints) -> Partition:
        rows, labels = (getattr(all_, "iloc", all_)[places] for all_ in (self.rows, self.labels))
        return Partition(rows, labels)


class CoverageCounts(NamedTuple):
    """Samples of each class under each rule, under it alone, of each class, and under no rule."""

    support: Floats
    alone: Floats
    sizes: Floats
    n_uncovered: int

    @classmethod
    def sum(cls, counts: Sequence[Self]) -> Self:
        """Return the counts of several partitions together."""
        return cls(*(sum(parts[1:], start=parts[0]) for parts in zip(*counts, strict=True)))

    def add_to(self, ruleset: RuleSet) -> RuleSet:
        """Return the rules with these counts as statistics."""
        counts = (array.astype(np.int64) for array in self[:3])
        known = statistics_from_counts(ruleset.arrays.classes, *counts)
        rules = (replace(rule, statistics=one) for rule, one in zip(ruleset, known, strict=True))
        sizes = tuple(self.sizes.tolist())
        return replace(ruleset, rules=tuple(rules), class_counts=sizes)


def _run(method: Callable[..., Any], rows: Any, labels: Any, *known: Any) -> Any:
    return method(Partition(rows, labels), *known)


def _length_and_dtypes(part: Any) -> tuple[int, dict[Any, str]]:
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

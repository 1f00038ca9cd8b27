"""Dask collections: brought here in one piece to learn from, or asked partition by partition."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from frri._util import import_optional, short_repr
from frri.learners.frri.bagging import draw_bags
from frri.learners.frri.rule_pool import nearest_in_batches
from frri.learners.training import named_labels
from frri.rules.rule import label_array
from frri.rules.rule_statistics import statistics_from_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from frri._util import Floats, Ints, Positions
    from frri.distributed.cluster import Cluster
    from frri.learners.frri import FRRIBaggingClassifier
    from frri.learners.frri.rule_pool import RulePool
    from frri.learners.training import TrainingTable
    from frri.rules import RuleSet


def is_collection(table: Any) -> bool:
    """Whether something is a table or a column of Dask."""
    return hasattr(table, "__dask_graph__")


def brought_here(cluster: Cluster, tables: Sequence[Any]) -> list[Any]:
    """Tables and columns in one piece; those of Dask are made on the workers, at the same time."""
    parts = {i: _partitions(table) for i, table in enumerate(tables) if is_collection(table)}
    pieces = cluster.client.compute([part for some in parts.values() for part in some])
    pieces = [cluster.known(piece) for piece in pieces]
    found = list(tables)
    for i, some in parts.items():
        own, pieces = pieces[: len(some)], pieces[len(some) :]
        looks = cluster.gather(cluster.map(f"looks{i}", _look, own))
        check_alike(looks)
        filled = [piece for piece, look in zip(own, looks, strict=True) if look[0]] or own[:1]
        found[i] = in_one(cluster.gather(filled))
    return found


def check_alike(looks: Sequence[tuple[int, dict[Any, str]]]) -> None:
    """Complain about partitions whose columns differ; empty ones may look as they like.

    Examples
    --------
    >>> check_alike([(10, {"age": "int64"}), (0, {}), (9, {"age": "float64"})])
    Traceback (most recent call last):
        ...
    ValueError: The column 'age' is int64 in partition 0 and float64 in partition 2: read it with one dtype.
    """
    filled = [(i, columns) for i, (length, columns) in enumerate(looks) if length]
    for i, columns in filled[1:]:
        first, expected = filled[0]
        if list(columns) != list(expected):
            raise ValueError(
                f"Partition {first} has the columns {_listed(expected)} but partition {i} "
                f"{_listed(columns)}: give all partitions the same, in one order."
            )
        for name, kind in columns.items():
            if kind != expected[name]:
                what = "The target" if name is None else f"The column {short_repr(name)}"
                raise ValueError(
                    f"{what} is {expected[name]} in partition {first} and {kind} in partition {i}: "
                    "read it with one dtype."
                )


class Partitions:
    """A table of Dask and its labels, asked partition by partition: none of them is kept.

    Parameters
    ----------
    cluster : Cluster
    X : dask DataFrame or Array
    y : dask Series or Array
    """

    def __init__(self, cluster: Cluster, X: Any, y: Any) -> None:
        if not is_collection(y):
            raise ValueError(
                "The table is one of Dask and the labels are not: give both so, in the same partitions."
            )
        self.cluster = cluster
        self.rows, self.labels = _partitions(X), _partitions(y)
        if len(self.rows) != len(self.labels):
            raise ValueError(
                f"The table has {len(self.rows)} partitions and the labels have {len(self.labels)}: give both "
                "in the same ones."
            )

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lengths(self) -> list[int]:
        """How many rows each partition has; what does not fit together is complained about."""
        looks = self.asked("looks", _looks)
        for k in (0, 1):
            check_alike([look[k] for look in looks])
        for i, ((n_rows, _), (n_labels, _)) in enumerate(looks):
            if n_rows != n_labels:
                raise ValueError(
                    f"Partition {i} of the table has {n_rows} rows and {n_labels} labels: "
                    "inconsistent numbers of samples."
                )
        return [n_rows for (n_rows, _), _ in looks]

    def asked(self, phase: str, question: Callable[..., Any], *known: Sequence[Any]) -> list[Any]:
        """What every partition, a `Partition`, answers to a question."""
        ask = import_optional("dask", "Learning on a cluster", "dask").delayed(_asked, pure=False)
        tasks = [
            ask(question, *each, dask_key_name=f"frri-{phase}-{self.cluster.name}-{i}")
            for i, each in enumerate(zip(self.rows, self.labels, *known, strict=True))
        ]
        futures = [self.cluster.known(task) for task in self.cluster.client.compute(tasks)]
        answers: list[Any] = self.cluster.gather(futures)
        return answers


def mapped(table: Any, work: Callable[[Any], Any], dtype: Any, n_columns: int | None) -> Any:
    """What comes of the work on every partition, made when it is asked for.

    Parameters
    ----------
    table : dask DataFrame or Array
    work : callable
        From the rows of a partition to one answer, or to so many columns of numbers, each.
    dtype : dtype
        Of the answers.
    n_columns : int or None
        None for one answer per row.

    Returns
    -------
    dask Series, with the index of the table, or dask Array
        An array for a table that is one, and where answers have columns.
    """
    if hasattr(table, "map_partitions"):
        pandas = import_optional("pandas", "Predicting data frames", "tables")
        shape = 0 if n_columns is None else (0, n_columns)
        kind = pandas.Series if n_columns is None else pandas.DataFrame
        meta = kind(np.zeros(shape, dtype=dtype), index=table._meta.index)  # noqa: SLF001
        answers = table.map_partitions(_like, work, meta, meta=meta)
        return answers if n_columns is None else answers.to_dask_array()
    whole, tail = table.rechunk({1: -1}), () if n_columns is None else (n_columns,)
    chunks = {"drop_axis": 1} if n_columns is None else {"chunks": (whole.chunks[0], tail)}
    return whole.map_blocks(_rows_of, work, dtype, tail, dtype=dtype, **chunks)


# --- What a partition answers, on its worker


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows of a table, and their labels."""

    rows: Any
    labels: Any

    def __len__(self) -> int:
        return len(self.labels)

    def draw(
        self, learner: FRRIBaggingClassifier, share: Any, seeds: Sequence[int]
    ) -> tuple[Partition, Ints, list[Positions]]:
        """What bags draw: the rows drawn by any, where these stand, and which of them each bag draws."""
        if not len(self) or not seeds:
            return self._take(np.arange(0)), np.arange(0), [np.arange(0) for _ in seeds]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is said of all that is drawn
            table = learner._training_table(self.rows, self.labels)  # noqa: SLF001 - the two are one thing
        draws = draw_bags(table, share, seeds)
        rows = [np.sort(draws.rows(bag)) for bag in range(len(seeds))]
        places = np.unique(np.concatenate(rows))
        return self._take(places), places, [np.searchsorted(places, some) for some in rows]

    def nearest(self, pool: RulePool, table: TrainingTable, missing: str) -> Floats:
        """How far the nearest enemy of every rule is among these objects."""
        some = [(self.rows, self.labels)] if len(self) else []
        return nearest_in_batches(pool, table, some, missing, n_jobs=1)[0]

    def counted(self, ruleset: RuleSet) -> CoverageCounts:
        """What rules cover here."""
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
    """Objects of each class under each rule, under it alone, of each class, and under no rule."""

    support: Floats
    alone: Floats
    sizes: Floats
    n_uncovered: int

    def and_of(self, other: Self) -> CoverageCounts:
        """Those of two parts together."""
        return CoverageCounts(
            self.support + other.support,
            self.alone + other.alone,
            self.sizes + other.sizes,
            self.n_uncovered + other.n_uncovered,
        )

    def written_into(self, ruleset: RuleSet) -> RuleSet:
        """The rules with what they cover."""
        counts = (array.astype(np.int64) for array in self[:3])
        known = statistics_from_counts(ruleset.arrays.classes, *counts)
        rules = (replace(rule, statistics=one) for rule, one in zip(ruleset, known, strict=True))
        sizes = tuple(self.sizes.tolist())
        return replace(ruleset, rules=tuple(rules), class_counts=sizes)


def _partitions(table: Any) -> list[Any]:
    if getattr(table, "ndim", 1) == 2 and hasattr(table, "rechunk"):
        table = table.rechunk({1: -1})
    parts = table.to_delayed()
    return list(parts.ravel() if isinstance(parts, np.ndarray) else parts)


def in_one(pieces: Sequence[Any]) -> Any:
    """Pieces of a table or a column as one."""
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    return import_optional("pandas", "Learning from data frames", "tables").concat(pieces)


def _listed(columns: Any) -> str:
    return ", ".join(map(short_repr, columns))


# --- On the workers


def _look(part: Any) -> tuple[int, dict[Any, str]]:
    """How many rows a partition has, and the kind of each column; of a single column under None."""
    if hasattr(part, "columns"):
        return len(part), {name: str(kind) for name, kind in part.dtypes.items()}
    if part.ndim == 2:
        return len(part), dict.fromkeys(map(str, range(part.shape[1])), str(part.dtype))
    return len(part), {None: str(part.dtype)}


def _looks(part: Partition) -> tuple[Any, Any]:
    return _look(part.rows), _look(part.labels)


def _asked(question: Callable[..., Any], rows: Any, labels: Any, *known: Any) -> Any:
    return question(Partition(rows, labels), *known)


def _rows_of(part: Any, work: Callable[[Any], Any], dtype: Any, tail: tuple[int, ...]) -> Any:
    """The work on a partition that may be empty."""
    return np.asarray(work(part), dtype=dtype) if len(part) else np.zeros((0, *tail), dtype=dtype)


def _like(part: Any, work: Callable[[Any], Any], meta: Any) -> Any:
    """The work on a partition, as a series or frame like `meta`."""
    kind = meta.to_numpy()
    return type(meta)(_rows_of(part, work, kind.dtype, kind.shape[1:]), index=part.index)

"""Bagged FRRI on a Dask cluster: bags of partitions, rules checked against all of them."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats, Ints, Positions, import_optional
from frri.distributed.cluster import (
    Cluster,
    DaskEstimator,
    check_alike,
    concatenate,
    delayed_parts,
    is_collection,
    length_and_dtypes,
)
from frri.learners.frri.bagging import (
    FRRIBaggingClassifier,
    RulePool,
    bags_of_rows,
    draw_bags,
    nearest_in_batches,
)
from frri.learners.training_table import TrainingTable, named_labels
from frri.learners.validation import random_seeds
from frri.rules import RuleSet
from frri.rules.rule import label_array
from frri.rules.rule_statistics import statistics_from_counts

# Samples that all bags together may draw: they are gathered here.
MOST_DRAWN = 1_000_000


class DaskFRRIBaggingClassifier(DaskEstimator, FRRIBaggingClassifier):
    """`frri.FRRIBaggingClassifier` on a Dask cluster, for tables that no worker can hold.

    Partitions of a Dask table stay where they are. Each belongs to the group of one bag, or of
    several if there are more bags than partitions; a bag draws from its group only. The drawn
    samples are gathered and encoded here, and become rules on the workers. Every rule is narrowed
    until it covers no sample of another class in any partition; then the fewest are selected that
    cover all drawn samples, and their coverage is counted in all partitions. Partitions are read
    four times: keep them in the memory of the workers (`X.persist()`) if they fit.

    The result depends on the partitions and the seed, not on the workers. For other tables the
    rules are the same as without a cluster.

    Parameters
    ----------
    client : distributed.Client or str, optional
        Cluster, or the address of its scheduler; by default the client in use.
    **parameters
        Those of `frri.FRRIBaggingClassifier`. `max_samples` is the fraction of its group that a bag
        draws, or the number of samples; a million can be drawn in all.

    Attributes
    ----------
    selected_, uncovered_ : ndarray of int
        Rows counted through all partitions; uncovered are those drawn that no rule covers.
    selection_ : Bunch
        As of `frri.FRRIBaggingClassifier`; for a Dask table `n_further` counts all samples, and
        `n_uncovered` those that no rule covers.

    All attributes of `frri.FRRIBaggingClassifier`.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from frri.distributed import DaskFRRIBaggingClassifier
    >>> table = load_iris(as_frame=True).frame.sample(frac=1, random_state=0)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     parts = dd.from_pandas(table, npartitions=3, sort=False)
    ...     X, y = parts.drop(columns="target"), parts["target"]
    ...     clf = DaskFRRIBaggingClassifier(client=client, random_state=0).fit(X, y)
    >>> clf.ruleset_.class_counts, clf.oob_score_ > 0.9
    ((50.0, 50.0, 50.0), True)
    """

    _local = FRRIBaggingClassifier
    _parts: "Partitions | None" = None  # while it learns from some

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_batches: Any = None) -> Self:
        """Induce rules from bags of a table and its class labels.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_samples, n_features)
            Partitions may be empty or lack classes.
        y : dask Series or Array, or array-like of shape (n_samples,)
            In the same partitions.
        sample_weight, check_batches
            As of `frri.FRRIBaggingClassifier`, for a table that is not one of Dask.

        Returns
        -------
        self
        """
        self._check_parameters()
        with self._on_cluster() as cluster:
            if not is_collection(X):
                return FRRIBaggingClassifier.fit(self, X, y, sample_weight, check_batches)
            if sample_weight is not None or check_batches is not None:
                name = "check_batches" if sample_weight is None else "sample_weight"
                raise ValueError(f"{name} is not taken with a table of Dask: leave it out.")
            try:
                self._parts = Partitions(cluster, X, y)
                here = cluster.attempt(self._drawn_here)
                return FRRIBaggingClassifier.fit(self, *here)
            finally:
                self._parts = None

    def _drawn_here(self) -> tuple[Any, Any]:
        """Return the samples that bags draw in one table; remember what each bag draws."""
        parts = self._parts
        assert parts is not None  # noqa: S101 - only asked with partitions
        lengths = np.array(parts.lengths)
        n_groups = min(int(self.n_estimators), len(lengths))
        groups = np.arange(len(lengths)) % n_groups
        bags_of = [range(g, self.n_estimators, n_groups) for g in groups.tolist()]
        amounts: list[Any] = [self.max_samples] * len(lengths)
        if isinstance(self.max_samples, Integral):
            in_group = np.maximum(np.bincount(groups, lengths)[groups], 1)
            amounts = np.ceil(self.max_samples * lengths / in_group).astype(int).tolist()
        _check_amount(self.max_samples, lengths, amounts, [len(bags) for bags in bags_of])
        seeds = random_seeds(self.random_state, self.n_estimators)
        local = [FRRIBaggingClassifier(**self._settings())] * len(lengths)
        own = [[seeds[bag] for bag in bags] for bags in bags_of]
        drawn = parts.map("draws", _draw, local, amounts, own)
        begins = np.cumsum([0, *(len(places) for _, _, places, _ in drawn)])
        starts = (np.cumsum(lengths) - lengths).tolist()
        places = (part[2] for part in drawn)
        self._rows = np.concatenate([k + some for k, some in zip(starts, places, strict=True)])
        self._bags: list[list[Positions]] = [[] for _ in range(self.n_estimators)]
        for bags, begin, (*_, chosen) in zip(bags_of, begins, drawn, strict=False):
            for bag, some in zip(bags, chosen, strict=True):
                self._bags[bag].append(begin + some)
        filled = [part for part in drawn if len(part[2])] or drawn[:1]
        rows, labels, *_ = zip(*filled, strict=True)
        together = concatenate(rows), concatenate(labels)
        self._check_classes(np.asarray(together[1]))
        return together

    def _check_classes(self, labels: NDArray[Any]) -> None:
        bags = [labels[np.concatenate(bag)] for bag in self._bags]
        if len(np.unique(labels)) > 1 and all((bag == bag[:1]).all() for bag in bags):
            raise ValueError(
                "The partitions of every bag hold objects of one class only, so that no bag can "
                "tell classes apart: shuffle the rows, or take fewer bags."
            )

    def _learn(self, table: Any) -> None:
        super()._learn(table)
        if self._parts is not None:
            self.selected_ = self._rows[self.selected_]
            rules = (replace(rule, source=int(self._rows[rule.source])) for rule in self.ruleset_)
            self.ruleset_ = replace(self.ruleset_, rules=tuple(rules))
            self.uncovered_ = self._rows[self.uncovered_]
            self.selection_.n_uncovered = self._n_uncovered
            del self._rows, self._bags, self._n_uncovered

    def _draw(self, table: Any, seeds: list[int]) -> Any:
        if self._parts is None:
            return super()._draw(table, seeds)
        return bags_of_rows(table, [np.concatenate(bag) for bag in self._bags])

    def _map_bags(self, work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> list[Any]:
        cluster = self._cluster
        if cluster is None:
            return super()._map_bags(work, tasks)
        sent = [cluster.track(bag) for bag in cluster.client.scatter(list(tasks), hash=False)]
        found: list[Any] = cluster.gather(cluster.map("bags", _run, [work] * len(sent), sent))
        return found

    def _nearest_in_batches(self, pool: Any, table: Any) -> tuple[Any, int]:
        parts = self._parts
        if parts is None:
            return super()._nearest_in_batches(pool, table)
        # Workers need the columns of the table, not its rows.
        empty = replace(table, values=table.values[:0], classes=table.classes[:0], weights=None)
        known = parts.cluster.send((pool, empty, self.missing))
        found = parts.map("nearest", _nearest, [known] * len(parts.lengths))
        return np.minimum.reduce(found), sum(parts.lengths)

    def _with_statistics(self, ruleset: Any, table: Any) -> Any:
        parts = self._parts
        if parts is None:
            return super()._with_statistics(ruleset, table)
        known = [parts.cluster.send(ruleset)] * len(parts.lengths)
        counts = zip(*parts.map("counts", _count, known), strict=True)
        support, alone, sizes, self._n_uncovered = (sum(some[1:], some[0]) for some in counts)
        found = statistics_from_counts(ruleset.arrays.classes, support, alone, sizes)
        rules = (replace(rule, statistics=one) for rule, one in zip(ruleset, found, strict=True))
        return replace(ruleset, rules=tuple(rules), class_counts=tuple(map(float, sizes)))


class Partitions:
    """A Dask table and its labels, processed partition by partition: none of them is kept."""

    def __init__(self, cluster: Cluster, X: Any, y: Any) -> None:
        if not is_collection(y):
            raise ValueError(
                "The table is one of Dask and the labels are not: give both so, in the same "
                "partitions."
            )
        self.cluster = cluster
        self.rows, self.labels = delayed_parts(X), delayed_parts(y)
        if len(self.rows) != len(self.labels):
            raise ValueError(
                f"The table has {len(self.rows)} partitions and the labels have "
                f"{len(self.labels)}: give both in the same ones."
            )

    @cached_property
    def lengths(self) -> list[int]:
        """Number of rows of each partition; an error if partitions do not fit together."""
        found = self.map("dtypes", _describe)
        for of_one_kind in zip(*found, strict=True):
            check_alike(of_one_kind)
        for i, ((n_rows, _), (n_labels, _)) in enumerate(found):
            if n_rows != n_labels:
                raise ValueError(
                    f"Partition {i} of the table has {n_rows} rows and {n_labels} labels: "
                    "inconsistent numbers of samples."
                )
        return [n_rows for (n_rows, _), _ in found]

    def map(self, phase: str, work: Callable[..., Any], *known: Sequence[Any]) -> list[Any]:
        """Return the results of a function of rows and labels for every partition."""
        run = import_optional("dask", "Learning on a cluster", "dask").delayed(work, pure=False)
        tasks = [
            run(*each, dask_key_name=self.cluster.key(phase))
            for each in zip(self.rows, self.labels, *known, strict=True)
        ]
        futures = [self.cluster.track(task) for task in self.cluster.client.compute(tasks)]
        found: list[Any] = self.cluster.gather(futures)
        return found


def _check_amount(asked: Any, lengths: Ints, amounts: list[Any], n_bags: list[int]) -> None:
    """Raise an error for more samples than can be gathered here."""
    each = [
        k if isinstance(k, int) else k * n for k, n in zip(amounts, lengths.tolist(), strict=True)
    ]
    total = sum(min(n, k) * bags for n, k, bags in zip(lengths, each, n_bags, strict=True))
    if total > MOST_DRAWN:
        raise ValueError(
            f"With max_samples={asked} bags draw {total:,.0f} of {lengths.sum():,} objects, and no "
            f"more than {MOST_DRAWN:,} can be brought together: give the number of objects of a "
            "bag, such as 10000."
        )


# --- On the workers: functions of the rows of a partition and of their labels


def _run(work: Callable[..., Any], bag: tuple[Any, ...]) -> Any:
    """Return the rules of a bag."""
    return work(*bag)


def _describe(rows: Any, labels: Any) -> tuple[Any, Any]:
    return length_and_dtypes(rows), length_and_dtypes(labels)


def _draw(
    rows: Any, labels: Any, estimator: FRRIBaggingClassifier, fraction: Any, seeds: Sequence[int]
) -> tuple[Any, Any, Ints, list[Positions]]:
    """Draw bags: the rows in any of them, their positions, and which of them each bag has."""
    places, drawn = np.arange(0), [np.arange(0) for _ in seeds]
    if len(labels) and seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the client warns about all that is drawn
            table = estimator._training_table(rows, labels)  # noqa: SLF001 - of its own
        bags = draw_bags(table, fraction, seeds)
        drawn = [np.sort(bags.rows(bag)) for bag in range(len(seeds))]
        places = np.unique(np.concatenate(drawn))
    rows, labels = (getattr(all_, "iloc", all_)[places] for all_ in (rows, labels))
    return rows, labels, places, [np.searchsorted(places, some) for some in drawn]


def _nearest(rows: Any, labels: Any, known: tuple[RulePool, TrainingTable, str]) -> Floats:
    """Return the distance of every rule to the nearest sample of another class."""
    pool, table, missing = known
    batches = [(rows, labels)] if len(labels) else []
    return nearest_in_batches(pool, table, batches, missing, n_jobs=1)[0]


def _count(rows: Any, labels: Any, ruleset: RuleSet) -> tuple[Ints, Ints, Ints, int]:
    """Count samples of each class under each rule, under it alone, of each class, and uncovered."""
    n_rules, n_classes = len(ruleset), len(ruleset.classes)
    if not len(labels):
        shapes = (n_rules, n_classes), n_rules, n_classes
        support, alone, sizes = (np.zeros(shape, dtype=np.int64) for shape in shapes)
        return support, alone, sizes, 0
    labels = named_labels(labels)[1]
    known = ruleset.statistics(rows, labels)
    return (
        np.array([one.support for one in known], dtype=np.int64).reshape(n_rules, n_classes),
        np.array([one.alone for one in known], dtype=np.int64),
        np.array([(labels == label).sum() for label in label_array(ruleset.classes)]),
        int((~ruleset.covers(rows).any(axis=1)).sum()),
    )

"""Bagged FRRI on a Dask cluster: bags of partitions, rules checked against all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from frri.distributed.estimator import DaskEstimator
from frri.distributed.partitions import (
    CoverageCounts,
    Partition,
    Partitions,
    concatenate,
    is_collection,
)
from frri.learners.frri.bagging import FRRIBaggingClassifier, bags_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from frri._util import Ints, Positions

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
    ...     clf = DaskFRRIBaggingClassifier(client=client, form="ensemble", random_state=0)
    ...     clf = clf.fit(X, y)
    >>> clf.ruleset_.class_counts, clf.oob_score_ > 0.9
    ((50.0, 50.0, 50.0), True)
    """

    _local = FRRIBaggingClassifier
    _parts: Partitions | None = None  # while it learns from some

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_batches: Any = None) -> Self:
        """Induce rules from bags of a table and its class labels.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_objects, n_attributes)
            Partitions may be empty or lack classes.
        y : dask Series or Array, or array-like of shape (n_objects,)
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
        bags_of = [[bag for bag in range(self.n_estimators) if bag % n_groups == g] for g in groups]
        shares: list[Any] = [self.max_samples] * len(lengths)
        if isinstance(self.max_samples, Integral):
            in_group = np.bincount(groups, lengths)[groups]
            shares = (
                np.ceil(self.max_samples * lengths / np.maximum(in_group, 1)).astype(int).tolist()
            )
        _check_amount(self.max_samples, lengths, shares, bags_of)
        seeds = self._seeds()
        own = [[seeds[bag] for bag in bags] for bags in bags_of]
        local = FRRIBaggingClassifier(**self._settings())
        drawn = parts.map("draws", Partition.draw, [local] * len(own), shares, own)
        begins = np.cumsum([0, *(len(places) for _, places, _ in drawn)])
        starts = np.cumsum([0, *lengths])
        self._rows = np.concatenate(
            [start + places for start, (_, places, _) in zip(starts, drawn, strict=False)]
        )
        self._bags: list[list[Positions]] = [[] for _ in range(self.n_estimators)]
        for bags, begin, (_, _, chosen) in zip(bags_of, begins, drawn, strict=False):
            for bag, some in zip(bags, chosen, strict=True):
                self._bags[bag].append(begin + some)
        filled = [
            part for part, (low, high) in zip(drawn, pairwise(begins), strict=True) if low < high
        ]
        some = [part for part, *_ in filled or drawn[:1]]
        rows = concatenate([one.rows for one in some])
        labels = concatenate([one.labels for one in some])
        self._check_classes(np.asarray(labels))
        return rows, labels

    def _check_classes(self, labels: NDArray[Any]) -> None:
        bags = [labels[np.concatenate(bag)] for bag in self._bags]
        if len(np.unique(labels)) > 1 and all((bag == bag[:1]).all() for bag in bags):
            raise ValueError(
                "The partitions of every bag hold objects of one class only, so that no bag can "
                "tell classes apart: shuffle the rows, or take fewer bags."
            )

    def _learn(self, table: Any) -> None:
        if self._cluster is None:
            super()._learn(table)
            return
        learn = super()._learn
        self._cluster.attempt(lambda: learn(table))
        if self._parts is not None:
            self.selected_ = self._rows[self.selected_]
            rules = (replace(rule, source=int(self._rows[rule.source])) for rule in self.ruleset_)
            self.ruleset_ = replace(self.ruleset_, rules=tuple(rules))
            if self.form == "pooled":
                self.uncovered_ = self._rows[self.uncovered_]
                self.selection_.n_uncovered = self._counts.n_uncovered
            del self._rows, self._bags, self._counts

    def _draw(self, table: Any, seeds: list[int]) -> Any:
        if self._parts is None:
            return super()._draw(table, seeds)
        return bags_of_rows(table, [np.concatenate(bag) for bag in self._bags])

    def _map_bags(self, work: Callable[..., Any], bags: Iterable[tuple[Any, ...]]) -> list[Any]:
        cluster = self._cluster
        if cluster is None:
            return super()._map_bags(work, bags)
        sent = [cluster.track(bag) for bag in cluster.client.scatter(list(bags), hash=False)]
        made: list[Any] = cluster.gather(cluster.map("bags", _made, [work] * len(sent), sent))
        return made

    def _nearest_in_batches(self, pool: Any, table: Any) -> tuple[Any, int]:
        parts = self._parts
        if parts is None or self._cluster is None:
            return super()._nearest_in_batches(pool, table)
        # Workers need the columns of the table, not its rows.
        empty = replace(table, values=table.values[:0], classes=table.classes[:0], weights=None)
        known = self._cluster.send((pool, empty, self.missing))
        found = parts.map("nearest", Partition.nearest, [known] * len(parts))
        return np.minimum.reduce(found), sum(parts.lengths)

    def _with_statistics(self, ruleset: Any, table: Any) -> Any:
        if self._parts is None:
            return super()._with_statistics(ruleset, table)
        assert self._cluster is not None  # noqa: S101 - partitions are on one
        known = [self._cluster.send(ruleset)] * len(self._parts)
        self._counts = CoverageCounts.sum(self._parts.map("counts", Partition.count, known))
        return self._counts.add_to(ruleset)


def _check_amount(asked: Any, lengths: Ints, shares: list[Any], bags_of: list[list[int]]) -> None:
    """Raise an error for more samples than can be gathered here."""
    each = [
        s if isinstance(s, int) else s * n for s, n in zip(shares, lengths.tolist(), strict=True)
    ]
    total = sum(min(n, k) * len(bags) for n, k, bags in zip(lengths, each, bags_of, strict=True))
    if total > MOST_DRAWN:
        raise ValueError(
            f"With max_samples={asked} bags draw {total:,.0f} of {lengths.sum():,} objects, and no "
            f"more than {MOST_DRAWN:,} can be brought together: give the number of objects of a "
            "bag, such as 10000."
        )


def _made(work: Callable[..., Any], bag: tuple[Any, ...]) -> Any:
    """Return the rules of a bag, on a worker."""
    return work(*bag)

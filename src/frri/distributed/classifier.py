"""FRRI on a Dask cluster: blocks of objects on the workers, the same rules as on one machine."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from frri import induction
from frri._util.optional import optional
from frri.distributed._cluster import Cluster, connected
from frri.distributed._covers import RemoteCovers
from frri.distributed._tables import brought_here, is_collection, mapped
from frri.induction.blocks import Blocks
from frri.learners.frri import FRRIClassifier as LocalClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Tables of fewer objects are learned from here: sending them takes longer.
DIVIDED_FROM = induction.COMPILED_FROM


class FRRIClassifier(LocalClassifier):
    """`frri.FRRIClassifier` on a Dask cluster.

    The table is encoded here, as `frri.FRRIClassifier` does, and sent to every worker once. Workers find the
    confidences and rules of blocks of objects, and what these cover; the covers stay with them. The fewest
    rules are searched class by class, classes at the same time. A worker that dies costs time and nothing
    else: what it had is made again by others.

    Rules and certificate are those of one machine that has room for who covers whom, whatever the number of
    workers. Where no worker can hold the covers of all classes, each class has its share of the effort for
    itself. Where none can hold those of one class, blocks propose rules, the fewest of which are taken, and
    the bound is a weaker one: ``stopped_by="memory"``.

    A table of up to 10,000 objects is not worth sending. Orders that look at all pairs of objects
    ("dependency", "discerning", "shortest") and all minimal rules are found here.

    Parameters
    ----------
    client : distributed.Client or str, optional
        The cluster, or the address of its scheduler. None is the client that is in use.
    **parameters
        Those of `frri.FRRIClassifier`, with the same meaning; but `memory_limit` is of each worker, and None
        what the worker has.

    Attributes
    ----------
    traffic_ : Bunch
        Bytes: of the `table` that each worker was sent, of all `covers` on the workers, and of the `answers`
        (confidences and conditions) that came back; None for a table that was not sent.

    All attributes of `frri.FRRIClassifier`.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from frri.distributed import FRRIClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     clf = FRRIClassifier(client=client).fit(X, y)
    >>> clf.selection_.status, clf.selection_.n_rules
    ('optimal', 9)
    """

    traffic_: Bunch | None
    _cluster: Cluster | None = None  # while it learns

    def __init__(self, *, client: Any = None, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.client = client

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*LocalClassifier._get_param_names(), "client"])  # noqa: SLF001 - its own

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Induce rules from a table and its class labels.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_objects, n_attributes)
            Partitions may be empty or lack classes.
        y : dask Series or Array, or array-like of shape (n_objects,)
        sample_weight : dask Series or Array, or array-like of shape (n_objects,), optional

        Returns
        -------
        self
        """
        with connected(self.client) as cluster:
            self._cluster = cluster
            try:
                given = [X, y] if sample_weight is None else [X, y, sample_weight]
                here = cluster.attempt(lambda: brought_here(cluster, given))
                return super().fit(*here)
            finally:
                self._cluster = None

    def predict(self, X: Any) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        dask Series or Array, ndarray of shape (n_samples,)
            Of a dask table, made when it is asked for.
        """
        if not is_collection(X):
            return super().predict(X)
        return mapped(X, self.local().predict, self.classes_.dtype, None)

    def predict_proba(self, X: Any) -> Any:
        """Predict a share for every class, in the order of `classes_`; rows sum to 1.

        Parameters
        ----------
        X : dask DataFrame or Array, array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        dask Array, ndarray of shape (n_samples, n_classes)
            Of a dask table, made when it is asked for.
        """
        if not is_collection(X):
            return super().predict_proba(X)
        return mapped(X, self.local().predict_proba, np.dtype(np.float64), len(self.classes_))

    def local(self) -> LocalClassifier:
        """The same model without a cluster, light enough to be sent to every partition."""
        check_is_fitted(self)
        model = LocalClassifier(**self._settings())
        for name in ("ruleset_", "classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        return model

    def _learn(self, table: Any, start: float | None = None) -> None:
        start = perf_counter() if start is None else start
        self.traffic_ = None
        if self._cluster is None or len(table.values) <= DIVIDED_FROM:
            super()._learn(table, start)
            return
        optional("numba", "Learning on a cluster", "dask")
        learn = super()._learn
        self._cluster.attempt(lambda: learn(table, start))

    def _induce(
        self, values: ArrayLike, classes: ArrayLike, order: ArrayLike, **declared: Any
    ) -> induction.Candidates:
        cluster = self._cluster
        if cluster is None or len(np.asarray(classes)) <= DIVIDED_FROM:
            return super()._induce(values, classes, order, **declared)
        laps = [perf_counter()]
        table = Blocks(values, classes, **declared)
        sent = cluster.send(table)
        ranges, orders = table.ranges(), table.layout.orders(order)
        lows, highs = zip(*ranges, strict=True)
        tables = [sent] * len(ranges)
        by_block = [orders if len(orders) == 1 else orders[low:high] for low, high in ranges]
        near = cluster.map("confidences", Blocks.confidences, tables, lows, highs)
        opened = cluster.map("shortening", Blocks.shorten, tables, lows, highs, near, by_block)
        covered = cluster.map("covers", Blocks.covers, tables, lows, highs, near, opened)
        confidence = table.layout.by_object(np.concatenate(cluster.gather(near)))
        laps.append(perf_counter())
        types = table.layout.by_object(np.concatenate(cluster.gather(opened)))
        laps.append(perf_counter())
        n_bits = 64 * table.layout.first_word[-1]
        covers: Any = RemoteCovers(
            cluster, covered, ranges, table.objects, n_bits, self._room(cluster)
        )
        answers = confidence.nbytes + types.nbytes
        self.traffic_ = Bunch(table=table.nbytes, covers=covers.nbytes, answers=answers)
        laps.append(perf_counter())
        steps = ("confidences", "shortening", "covering")
        seconds = dict(zip(steps, np.diff(laps).tolist(), strict=True))
        return induction.Candidates(confidence, types, covers, table.layout.positions, seconds)

    def _room(self, cluster: Cluster) -> float:
        """What a worker may take, in bytes."""
        if self.memory_limit is None:
            return cluster.room()
        units = optional("dask.utils", "Learning on a cluster", "dask")
        return min(float(units.parse_bytes(self.memory_limit)), cluster.room())

    def _select(self, limits: Any, covers: Any, **known: Any) -> Any:
        if isinstance(covers, RemoteCovers):
            return covers.select(limits, **known)
        return super()._select(limits, covers, **known)

    def _for_part(self, rows: Any, labels: Any) -> Any:
        """Halves of a thousand objects are learned from here, whatever a worker may take."""
        model = self.local().set_params(memory_limit=None)
        return model._for_part(rows, labels)  # noqa: SLF001 - the two are one thing

    def _about(self, table: Any) -> dict[str, Any]:
        """What is known of the rules, wherever they were found."""
        about = super()._about(table)
        del about["parameters"]["client"]
        return about

    def __sklearn_clone__(self) -> Self:
        """A copy with the same client: connections cannot be copied."""
        known = {name: clone(value, safe=False) for name, value in self._settings().items()}
        return type(self)(client=self.client, **known)

    def _settings(self) -> dict[str, Any]:
        """All parameters but the client."""
        return {name: value for name, value in self.get_params().items() if name != "client"}

    def __getstate__(self) -> dict[str, Any]:
        """Without the client: whoever reads a saved model has another one, or needs none."""
        state: dict[str, Any] = super().__getstate__()
        return state | {"client": self.client if isinstance(self.client, str) else None}

"""FRRI on a Dask cluster: blocks of objects on the workers, the same rules as on one machine."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import Bunch

from frri import induction
from frri._util import import_optional
from frri.cover.memory_bounded import preselect
from frri.distributed.covers import RemoteCovers, RemoteRules
from frri.distributed.estimator import DaskEstimator
from frri.induction.bitmap_backend import BitmapBackend
from frri.induction.class_layout import ClassLayout
from frri.learners.frri import FRRIClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class DaskFRRIClassifier(DaskEstimator, FRRIClassifier):
    """`frri.FRRIClassifier` on a Dask cluster.

    The table is encoded here and sent to every worker once. Workers compute the confidences, rules
    and covers of blocks of samples; the covers stay with them. The fewest rules are searched class
    by class, several classes at a time. The work of a worker that dies is repeated by others.

    Rules and certificate are those of one machine, whatever the number of workers, except with a
    `memory_limit` beyond the memory of workers. If none can hold the covers of all classes, each
    class has its own fraction of the effort. If none can hold those of one class, blocks propose
    rules, the fewest of which are selected, with a weaker bound: ``stopped_by="memory"``.

    A table of up to 10,000 samples is not sent. Orders that compare all pairs of samples
    ("dependency", "discerning", "shortest") and all minimal rules are computed here.

    Parameters
    ----------
    client : distributed.Client or str, optional
        Cluster, or the address of its scheduler; by default the client in use.
    **parameters
        Those of `frri.FRRIClassifier`; without `memory_limit`, the memory of the smallest worker.

    Attributes
    ----------
    traffic_ : Bunch
        Bytes of the `table` sent to each worker, of all `covers` on the workers, and of the
        `answers` (confidences and conditions) sent back; None for a table that was not sent.

    All attributes of `frri.FRRIClassifier`.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from frri.distributed import DaskFRRIClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     clf = DaskFRRIClassifier(client=client).fit(X, y)
    >>> clf.selection_.status, clf.selection_.n_rules
    ('optimal', 9)
    """

    _local = FRRIClassifier

    traffic_: Bunch | None

    def _learn(self, table: Any) -> None:
        self.traffic_ = None
        if self._cluster is None or len(table.values) <= induction.DIVIDED_FROM:
            super()._learn(table)
            return
        import_optional("numba", "Learning on a cluster", "dask")
        learn = super()._learn
        self._cluster.attempt(lambda: learn(table))

    def _induce(
        self, values: ArrayLike, classes: ArrayLike, order: ArrayLike, **declared: Any
    ) -> induction.CandidateRules:
        cluster = self._cluster
        if cluster is None or callable(order) or len(np.asarray(classes)) <= induction.DIVIDED_FROM:
            return super()._induce(values, classes, order, **declared)
        n_samples, n_features = np.shape(values)
        cover_bytes = self._cover_bytes(n_samples, n_features, cluster.room())
        laps = [perf_counter()]
        layout = ClassLayout(values, classes, **declared)
        table = BitmapBackend(layout, n_jobs=1)
        sent = cluster.send(table)
        blocks, orders = table.blocks(), layout.orders(order)
        lows, highs = zip(*blocks, strict=True)
        tables = [sent] * len(blocks)
        by_block = [orders if len(orders) == 1 else orders[low:high] for low, high in blocks]
        near = cluster.map("confidences", BitmapBackend.nearest_rows, tables, lows, highs)
        kept = cluster.map("shortening", BitmapBackend.shorten_rows, tables, lows, near, by_block)
        rules = RemoteRules(cluster, sent, layout, blocks, near, kept)
        confidence = layout.by_sample(np.concatenate(cluster.gather(near)))
        laps.append(perf_counter())
        types = layout.by_sample(np.concatenate(cluster.gather(kept)))
        laps.append(perf_counter())
        preselected = None
        if cover_bytes is not None and n_samples > induction.DIVIDED_FROM:  # as on one machine
            costs = np.count_nonzero(types, axis=1)
            preselected = preselect(rules, layout.samples, costs, cover_bytes)
        covers: Any = rules.covers(None if preselected is None else preselected.left)
        answers = confidence.nbytes + types.nbytes
        self.traffic_ = Bunch(table=table.nbytes, covers=covers.nbytes, answers=answers)
        laps.append(perf_counter())
        steps = ("confidences", "shortening", "covering")
        seconds = dict(zip(steps, np.diff(laps).tolist(), strict=True))
        known = layout.positions, seconds, preselected
        return induction.CandidateRules(confidence, types, covers, *known)

    def _search(self, limits: Any, covers: Any, *known: Any) -> Any:
        if isinstance(covers, RemoteCovers):
            return covers.select(limits, *known)
        return super()._search(limits, covers, *known)

    def _for_part(self, rows: Any, labels: Any) -> Any:
        """Halves of a thousand objects are learned from here, whatever a worker may take."""
        model = self.local().set_params(memory_limit=None)
        return model._for_part(rows, labels)  # noqa: SLF001 - the two are one thing

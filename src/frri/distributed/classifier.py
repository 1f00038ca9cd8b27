"""FRRI on a Dask cluster: blocks of objects on the workers, the same rules as on one machine."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import Bunch

from frri import induction
from frri._util.optional import optional
from frri.distributed._covers import RemoteCovers
from frri.distributed._learner import OnCluster
from frri.induction.blocks import Blocks
from frri.learners.frri import FRRIClassifier as LocalClassifier

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from frri.distributed._cluster import Cluster

# Tables of fewer objects are learned from here: sending them takes longer.
DIVIDED_FROM = induction.COMPILED_FROM


class FRRIClassifier(OnCluster, LocalClassifier):
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
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     clf = FRRIClassifier(client=client).fit(X, y)
    >>> clf.selection_.status, clf.selection_.n_rules
    ('optimal', 9)
    """

    _local = LocalClassifier

    traffic_: Bunch | None

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
        if cluster is None or callable(order) or len(np.asarray(classes)) <= DIVIDED_FROM:
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

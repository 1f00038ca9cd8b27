"""FRRI and additive rules on a Dask cluster: blocks on the workers, the rules of one machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from frri import induction
from frri._util import Flags, Floats, Ints, Types, Words, import_optional
from frri.cover import Cover, CoverMatrix, PartialCover
from frri.cover.memory_bounded import Source
from frri.distributed.cluster import Cluster, DaskEstimator, Future
from frri.induction.bitmap_backend import BitmapBackend
from frri.induction.class_layout import ClassLayout
from frri.learners.additive.blocks import Block, SampleBlocks
from frri.learners.additive.classifier import AdditiveRulesClassifier
from frri.learners.frri import FRRIClassifier
from frri.learners.frri.pipeline import Limits

# Memory of a selection, in sizes of its covers: measured, and rounded up.
COPIES = 4


# --- FRRI
@dataclass(kw_only=True, eq=False, repr=False)
class DaskFRRIClassifier(DaskEstimator, FRRIClassifier):
    """`frri.FRRIClassifier` on a Dask cluster.

    The table is encoded here and sent to every worker once. Workers compute the confidences, rules
    and covers of blocks of samples: this time is divided by their number. One of them selects the
    rules. The work of a worker that dies is repeated by others. Rules and certificate are those of
    one machine with the memory of the smallest worker, whatever the number of workers.

    A table of up to 10,000 samples is not sent. Shortest and all minimal rules, which compare all
    pairs of samples, and the fits for `calibrate` are computed here. Randomness, refits and
    references are those of `frri.FRRIClassifier`.

    Parameters
    ----------
    client : distributed.Client or str, optional
        Cluster, or the address of its scheduler; by default the client in use.
    **parameters
        Those of `frri.FRRIClassifier`; `memory_limit` is at most the memory of the smallest worker.

    Attributes
    ----------
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
    # Halves of a thousand samples are learned from here, in any memory.
    _part_parameters: ClassVar[Any] = {"memory_limit": None}

    def _learn(self, table: Any) -> None:
        if self._cluster is not None and len(table.values) > induction.DIVIDED_FROM:
            import_optional("numba", "Learning on a cluster", "dask")
        super()._learn(table)

    def _induce(
        self, values: ArrayLike, classes: ArrayLike, order: ArrayLike, **declared: Any
    ) -> induction.CandidateRules:
        cluster = self._cluster
        n_samples, n_features = np.shape(values)
        if cluster is None or callable(order) or n_samples <= induction.DIVIDED_FROM:
            return super()._induce(values, classes, order, **declared)
        cover_bytes = self._cover_bytes(n_samples, n_features, cluster.room())
        if cover_bytes is not None:
            cover_bytes = min(cover_bytes, cluster.room() // COPIES)
        backend = RemoteBackend(cluster, ClassLayout(values, classes, **declared))
        return induction.take_steps(backend, order, cover_bytes)

    def _search(self, limits: Any, covers: Any, *known: Any) -> Any:
        if isinstance(covers, RemoteCovers):
            return covers.select(limits, *known)
        return super()._search(limits, covers, *known)


class RemoteBackend:
    """The steps of induction on the workers, block by block: covers are computed on demand.

    What is known of a block stays with the workers: its `BitmapBackend`, confidences and types.
    """

    def __init__(self, cluster: Cluster, layout: ClassLayout) -> None:
        self.cluster, self.layout = cluster, layout
        table = BitmapBackend(layout, n_jobs=1)
        self.lows, self.highs = zip(*table.blocks(), strict=True)
        self.tables = [cluster.send(table)] * len(self.lows)
        self.near: list[Future] = []
        self.kept: list[Future] = []

    def confidences(self) -> Floats:
        """Return the distance of every row to the nearest one of another class, at most 1."""
        known = self.tables, self.lows, self.highs
        self.near = self.cluster.map("confidences", BitmapBackend.nearest_rows, *known)
        return np.concatenate(self.cluster.gather(self.near))

    def shorten(self, confidence: Floats, orders: Ints) -> Types:  # noqa: ARG002 - they are there
        """Return the condition types of every row's rule, shortened in the orders of features."""
        own = zip(self.lows, self.highs, strict=True)
        by_block = [orders if len(orders) == 1 else orders[low:high] for low, high in own]
        known = self.tables, self.lows, self.near, by_block
        self.kept = self.cluster.map("shortening", BitmapBackend.shorten_rows, *known)
        return np.concatenate(self.cluster.gather(self.kept))

    def source(self, confidence: Floats, types: Types) -> Source:  # noqa: ARG002 - they are there
        """Return a function to what some samples' boxes cover, brought together on one worker."""
        return self._covers

    def _covers(self, candidates: Ints | None, wanted: Words | None = None) -> Any:
        """Return what some candidates cover here, what all (None) cover on one worker."""
        if candidates is None:
            parts = self._map("covers", wanted, [None] * len(self.lows))
            whole = self.cluster.submit("whole", _bring_together, parts, self.layout.rows)
            return RemoteCovers(self.cluster, whole)
        rows = self.layout.rows[candidates]
        order = np.argsort(rows, kind="stable")
        by_block = np.split(rows[order], np.searchsorted(rows[order], self.lows[1:]))
        parts = self._map("some", wanted, by_block)
        return CoverMatrix.below(self.cluster.gather(parts)).take(np.argsort(order, kind="stable"))

    def _map(self, phase: str, wanted: Words | None, rows: Sequence[Ints | None]) -> list[Future]:
        sent = [None if wanted is None else self.cluster.send(wanted)] * len(rows)
        known = self.tables, self.lows, self.near, self.kept, sent, rows
        return self.cluster.map(phase, _cover_block, *known)


class RemoteCovers:
    """A `frri.cover.CoverMatrix` on a worker; its methods run there and return their results."""

    def __init__(self, cluster: Cluster, matrix: Future) -> None:
        self.cluster, self.matrix = cluster, matrix

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(CoverMatrix, name)

        def ask(*known: Any) -> Any:
            return self.cluster.gather(self.cluster.submit(name, method, self.matrix, *known))

        return ask

    def only(self, kept: Flags) -> "RemoteCovers":
        """Return the same candidates, of which all but those kept cover nothing."""
        allowed = self.cluster.submit("allowed", CoverMatrix.only, self.matrix, kept)
        return RemoteCovers(self.cluster, allowed)

    def select(self, limits: Limits, *known: Any) -> Cover | PartialCover:
        """Return what `limits.select` finds there."""
        search = self.cluster.submit("selection", limits.select, self.matrix, *known)
        found: Cover | PartialCover = self.cluster.gather(search)
        return found


# --- FRRI on the workers
def _cover_block(
    table: BitmapBackend,
    low: int,
    confidence: Floats,
    types: Types,
    wanted: Words | None,
    rows: Ints | None,
) -> CoverMatrix:
    """Return what the rules of a block from row `low` on cover, or those of some of its rows."""
    rows = np.arange(low, low + len(confidence)) if rows is None else rows
    return table.cover_rows(rows, confidence[rows - low], types[rows - low], wanted)


def _bring_together(blocks: list[CoverMatrix], rows: Ints) -> CoverMatrix:
    """Return the covers of blocks as one, in the order of samples."""
    return CoverMatrix.below(blocks).take(rows)


# --- Additive rules
@dataclass(kw_only=True, eq=False, repr=False)
class DaskAdditiveRulesClassifier(DaskEstimator, AdditiveRulesClassifier):
    """`frri.AdditiveRulesClassifier` on a Dask cluster.

    The table is encoded here and sent once, in blocks of 16,384 samples, each to one worker. For
    every step of the fit of votes, the workers add up the gradients of their blocks, and the sums
    are added here in their order: the rules are to the last bit those of one machine. If data are
    lost with a worker, the fit begins again. A table of one block is not sent. Only the fit of
    votes, linear in the samples, is divided among the workers. Conditions are searched for here, in
    at most about 32,768 samples, and so are those of the refits (see `calibrate` and `max_rules`).
    There is no randomness. References: see `frri.AdditiveRulesClassifier`.

    Parameters
    ----------
    client : distributed.Client or str, optional
        Cluster, or the address of its scheduler; by default the client in use.
    **parameters
        Those of `frri.AdditiveRulesClassifier`.

    Attributes
    ----------
    All attributes of `frri.AdditiveRulesClassifier`.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from frri.distributed import DaskAdditiveRulesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     clf = DaskAdditiveRulesClassifier(client=client, max_rules=4).fit(X, y)
    >>> len(clf.ruleset_)
    3
    """

    _local = AdditiveRulesClassifier

    def _blocks(self, columns: Any, **arrays: Any) -> SampleBlocks:
        blocks = super()._blocks(columns, **arrays)
        if self._cluster is None or len(blocks.blocks) == 1:
            return blocks
        return RemoteBlocks(self._cluster, blocks.blocks)


class RemoteBlocks(SampleBlocks):
    """SampleBlocks on the workers of a cluster, asked worker by worker."""

    def __init__(self, cluster: Cluster, blocks: Sequence[Block]) -> None:
        super().__init__(())
        self.cluster, self.asked = cluster, 0
        slots = cluster.threads()
        ends = np.cumsum([0, *slots.values()]) * len(blocks) // sum(slots.values())
        # Answers come by worker, a few blocks each: a message for every block would take longer
        # than it.
        self.homes: list[tuple[str, Future]] = []
        for (address, n_threads), low, high in zip(slots.items(), ends, ends[1:], strict=False):
            if low < high:
                part = SampleBlocks(blocks[low:high], n_threads)
                sent = cluster.client.scatter(part, workers=[address], hash=False)
                self.homes.append((address, cluster.track(sent)))

    def _answers(self, question: str, arguments: tuple[Any, ...]) -> list[Floats]:
        self.asked += 1
        phase = f"{question}{self.asked}"
        tasks = [
            self.cluster.submit(phase, _answers, part, question, arguments, at=at)
            for at, part in self.homes
        ]
        return [answer for some in self.cluster.gather(tasks) for answer in some]


def _answers(part: SampleBlocks, question: str, arguments: tuple[Any, ...]) -> Floats:
    """Return the answers of blocks on their worker as one array, which is sent as it is."""
    return np.stack(part._answers(question, arguments))  # noqa: SLF001 - the two are one thing

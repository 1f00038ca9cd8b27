"""FRRI and additive rules on a Dask cluster: blocks on the workers, the rules of one machine."""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from frri import induction
from frri._util import Flags, Floats, Ints, Types, Words, import_optional
from frri.cover import Cover, CoverMatrix, PartialCover
from frri.cover.memory_bounded import preselect
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
        rules = RemoteRules(cluster, layout, list(zip(tables, lows, near, kept, strict=True)))
        confidence = layout.by_sample(np.concatenate(cluster.gather(near)))
        laps.append(perf_counter())
        types = layout.by_sample(np.concatenate(cluster.gather(kept)))
        laps.append(perf_counter())
        preselected = None
        if cover_bytes is not None:
            costs = np.count_nonzero(types, axis=1)
            least = min(cover_bytes, cluster.room() // COPIES)
            preselected = preselect(rules, layout.samples, costs, least)
        covers: Any = rules.covers(None if preselected is None else preselected.left)
        laps.append(perf_counter())
        seconds = dict(zip(induction.STEPS, np.diff(laps).tolist(), strict=True))
        known = layout.positions, seconds, preselected
        return induction.CandidateRules(confidence, types, covers, *known)

    def _search(self, limits: Any, covers: Any, *known: Any) -> Any:
        if isinstance(covers, RemoteCovers):
            return covers.select(limits, *known)
        return super()._search(limits, covers, *known)

    def _for_part(self, rows: Any, labels: Any) -> Any:
        """Return a copy that learns from halves of a thousand samples here, in any memory."""
        model = self.local().set_params(memory_limit=None)
        return model._for_part(rows, labels)  # noqa: SLF001 - the two are one thing


class RemoteRules:
    """Rules of all samples on the workers, block by block, whose covers are computed on demand.

    A block has the `BitmapBackend` on its workers, its first row, confidences and types.
    """

    def __init__(
        self, cluster: Cluster, layout: ClassLayout, blocks: Sequence[tuple[Any, ...]]
    ) -> None:
        self.cluster, self.layout, self.blocks = cluster, layout, blocks

    def __call__(self, candidates: Ints, wanted: Words | None = None) -> CoverMatrix:
        """Return what some candidates cover of all samples or of those wanted, here."""
        rows = self.layout.rows[candidates]
        order = np.argsort(rows, kind="stable")
        ends = np.searchsorted(rows[order], [low for _, low, *_ in self.blocks[1:]])
        by_block = np.split(rows[order], ends)
        parts = self._map("some", wanted, by_block)
        return CoverMatrix.below(self.cluster.gather(parts)).take(np.argsort(order, kind="stable"))

    def covers(self, wanted: Words | None = None) -> "RemoteCovers":
        """Return what all of them cover, brought together on one worker."""
        parts = self._map("covers", wanted, [None] * len(self.blocks))
        whole = self.cluster.submit("whole", _bring_together, parts, self.layout.rows)
        return RemoteCovers(self.cluster, whole)

    def _map(self, phase: str, wanted: Words | None, rows: Sequence[Ints | None]) -> list[Future]:
        sent = None if wanted is None else self.cluster.send(wanted)
        known = ((*block, sent, some) for block, some in zip(self.blocks, rows, strict=True))
        return self.cluster.map(phase, _cover_block, *zip(*known, strict=True))


class RemoteCovers:
    """A `frri.cover.CoverMatrix` on a worker; its methods run there."""

    def __init__(self, cluster: Cluster, matrix: Future) -> None:
        self.cluster, self.matrix = cluster, matrix

    def sizes(self) -> Ints:
        """Return how many samples each candidate covers."""
        return np.asarray(self._ask("sizes", CoverMatrix.sizes))

    def union(self) -> Flags:
        """Return which samples any candidate covers."""
        return np.asarray(self._ask("union", CoverMatrix.union))

    def take(self, candidates: Ints) -> CoverMatrix:
        """Return what some candidates cover, here."""
        found: CoverMatrix = self._ask("chosen", CoverMatrix.take, candidates)
        return found

    def only(self, kept: Flags) -> "RemoteCovers":
        """Return the same candidates, of which all but those kept cover nothing."""
        allowed = self.cluster.submit("allowed", CoverMatrix.only, self.matrix, kept)
        return RemoteCovers(self.cluster, allowed)

    def select(self, limits: Limits, *known: Any) -> Cover | PartialCover:
        """Return what `limits.select` finds there."""
        search = self.cluster.submit("selection", limits.select, self.matrix, *known)
        found: Cover | PartialCover = self.cluster.gather(search)
        return found

    def _ask(self, phase: str, method: Callable[..., Any], *known: Any) -> Any:
        return self.cluster.gather(self.cluster.submit(phase, method, self.matrix, *known))


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

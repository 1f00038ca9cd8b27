"""Additive rules on a Dask cluster: blocks of samples on workers, their sums added here."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from frri._util import Floats
from frri.distributed.cluster import Cluster, DaskEstimator, Future
from frri.learners.additive.blocks import Block, SampleBlocks
from frri.learners.additive.classifier import AdditiveRulesClassifier


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

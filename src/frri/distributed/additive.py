"""Additive rules on a Dask cluster: every block of objects on a worker, their sums added here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frri.distributed._learner import OnCluster
from frri.learners.additive.blocks import Blocks
from frri.learners.additive.classifier import AdditiveRulesClassifier as LocalClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from frri.distributed._cluster import Cluster
    from frri.learners.additive.blocks import Block


class AdditiveRulesClassifier(OnCluster, LocalClassifier):
    """`frri.AdditiveRulesClassifier` on a Dask cluster.

    The table is encoded here and sent once, in blocks of 65,536 objects, each to one worker. For every
    condition that is looked for and every step of the fit of votes, the workers add up gradients in the
    bins of their blocks, and the sums of the blocks are added here in their order: the rules are to the
    last bit those of one machine, whatever the number of workers. Data that are lost with a worker are
    sent again, and learning begins anew. A table of one block is not worth sending.

    Parameters
    ----------
    client : distributed.Client or str, optional
        The cluster, or the address of its scheduler. None is the client that is in use.
    **parameters
        Those of `frri.AdditiveRulesClassifier`, with the same meaning.

    Attributes
    ----------
    All attributes of `frri.AdditiveRulesClassifier`.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from frri.distributed import AdditiveRulesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     clf = AdditiveRulesClassifier(client=client, max_rules=4).fit(X, y)
    >>> len(clf.ruleset_)
    4
    """

    _local = LocalClassifier

    def _learn(self, table: Any) -> None:
        learn = super()._learn
        if self._cluster is None:
            learn(table)
        else:
            self._cluster.attempt(lambda: learn(table))

    def _blocks(self, columns: Any, objects: Mapping[str, Any]) -> Blocks:
        blocks = super()._blocks(columns, objects)
        return blocks if self._cluster is None else RemoteBlocks(self._cluster, blocks.blocks)


class RemoteBlocks(Blocks):
    """Blocks on the workers of a cluster.

    Parameters
    ----------
    cluster : Cluster
    blocks : sequence of Block
    """

    def __init__(self, cluster: Cluster, blocks: Sequence[Block]) -> None:
        sent = cluster.client.scatter(list(blocks), hash=False)
        super().__init__([cluster.known(block) for block in sent])
        self.cluster, self.asked = cluster, 0

    def _answers(self, question: str, arguments: tuple[Any, ...]) -> list[NDArray[np.float64]]:
        self.asked += 1
        each = [[known] * len(self.blocks) for known in (question, arguments)]
        tasks = self.cluster.map(f"{question}{self.asked}", _answer, self.blocks, *each)
        answers: list[NDArray[np.float64]] = self.cluster.gather(tasks)
        return answers


def _answer(block: Block, question: str, arguments: tuple[Any, ...]) -> NDArray[np.float64]:
    """What a block answers, on its worker."""
    found: NDArray[np.float64] = getattr(block, question)(*arguments)
    return found

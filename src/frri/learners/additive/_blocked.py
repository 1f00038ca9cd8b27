"""The search for rules and the fit of their weights where blocks of objects answer by their sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._reproducible import total
from frri.learners.additive._bin_kernels import SUMS
from frri.learners.additive._growing import Search, SoftRule
from frri.learners.additive._losses import BASE_PENALTY, Loss, Start
from frri.learners.additive._newton import minimum
from frri.learners.additive.blocks import Voted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from frri._util import Flags, Floats
    from frri.learners.additive._columns import SoftColumns, SoftTest
    from frri.learners.additive._growing import Found, Steps
    from frri.learners.additive.blocks import Blocks, Tests


class BlockPull(NamedTuple):
    """What one more rule is to do: see `Pull`, whose gradients the blocks know.

    Attributes
    ----------
    model : Voted
        The rules so far.
    voice : int
        To which score the rule adds.
    signed, allowed
        As of `Pull`.
    """

    model: Voted
    voice: int
    signed: bool = False
    allowed: Flags | None = None


class BlockSums(NamedTuple):
    """What every further condition would make of a rule, from what the blocks answered together."""

    columns: SoftColumns
    total: Floats
    bins: Floats
    nominal: Floats

    @classmethod
    def of(cls, columns: SoftColumns, answer: Floats) -> BlockSums:
        """From the answer to `Block.scan`."""
        n_columns = len(columns.ordered)
        ends = np.cumsum([3, n_columns * columns.n_bins * SUMS])
        own, bins, nominal = np.split(answer, ends)
        return cls(columns, own, bins.reshape(n_columns, columns.n_bins, SUMS, 1), nominal)

    def scan(self) -> Floats:
        """G, H and M for every threshold and side."""
        return self.columns.from_bins(self.bins)

    def categories(self, k: int) -> Floats:
        """G, H and M for every category of a nominal column."""
        start, end = (3 * self.columns.n_categories[:j].sum() for j in (k, k + 1))
        return self.nominal[start:end].reshape(3, 1, -1)


@dataclass(frozen=True, eq=False)
class BlockSearch(Search):
    """The search for the rule that lowers a loss most, over blocks.

    Parameters
    ----------
    blocks : Blocks
    """

    blocks: Blocks = field(kw_only=True)
    # What blocks were asked last for each voice, and by which aim.
    _last: dict[int, tuple[Tests, BlockPull, BlockSums]] = field(default_factory=dict, init=False)

    def stacked(self, rules: Sequence[SoftRule]) -> Any:
        """The tests of rules: blocks know the degrees."""
        return tuple(rule.tests for rule in rules)

    def covered(self, rule: SoftRule, voice: int) -> float:
        """What the objects that a rule with this voice is to cover weigh, times their degrees."""
        return float(self.blocks.added("covered", rule.tests, voice)[0])

    def counted(self, rules: Sequence[SoftRule], votes: Floats, n: int) -> tuple[Floats, Floats]:
        """What the objects of each of n classes that a rule covers weigh; and those of it alone."""
        model = Voted((0,) * len(rules), self.stacked(rules), tuple(votes.tolist()), (0.0,) * n)
        counts = self.blocks.added("counted", model)
        support, alone = np.split(counts, [len(rules) * n])
        return support.reshape(len(rules), n), alone

    def _rule(self, tests: Sequence[SoftTest], pull: Any) -> SoftRule:
        G, H, M = self._asked(tuple(tests), pull).total.tolist()
        return SoftRule(tuple(tests), None, self._gain(G, H, M, pull))

    def _narrowed(self, rule: SoftRule, test: SoftTest) -> Any:  # noqa: ARG002 - blocks know it
        return None

    def _answers(self, asked: Mapping[int, SoftRule], pulls: Sequence[Any]) -> Mapping[int, Found]:
        """To those whose sums are known; where none are, those of all are asked of the blocks together."""
        ready = [k for k, rule in asked.items() if self._knows(rule.tests, pulls[k])]
        if not ready:
            self._ask([(rule.tests, pulls[k]) for k, rule in asked.items()])
        # A rule without a gain was asked for its sums alone.
        longer = {k for k in ready if not np.isnan(asked[k].gain)}
        return {
            k: self._best_tests([asked[k]], [pulls[k]])[0] if k in longer else None for k in ready
        }

    def _weighed(self, tests: Sequence[SoftTest], pull: Any) -> Steps:
        if not self._knows(tuple(tests), pull):
            yield SoftRule(tuple(tests), None, np.nan)
        return self._rule(tests, pull)

    def _sums(self, rules: Sequence[SoftRule], pulls: Sequence[Any]) -> BlockSums:
        ((rule, pull),) = zip(rules, pulls, strict=True)
        return self._asked(rule.tests, pull)

    def _asked(self, tests: Tests, pull: BlockPull) -> BlockSums:
        """The sums for a rule; asked for once where it is weighed first and made longer next."""
        if not self._knows(tests, pull):
            self._ask([(tests, pull)])
        return self._last[pull.voice][2]

    def _knows(self, tests: Tests, pull: BlockPull) -> bool:
        last = self._last.get(pull.voice)
        return last is not None and last[0] == tests and last[1] is pull

    def _ask(self, questions: Sequence[tuple[Tests, BlockPull]]) -> None:
        """One round of all blocks: the sums for a rule of each aim, whose models are the same."""
        asked = tuple((pull.voice, tests) for tests, pull in questions)
        answer = self.blocks.added("scans", questions[0][1].model, asked)
        for (tests, pull), part in zip(questions, np.split(answer, len(asked)), strict=True):
            self._last[pull.voice] = tests, pull, BlockSums.of(self.columns, part)


class BlockFitted(NamedTuple):
    """Rules with their weights: see `Fitted`, whose scores the blocks know.

    Attributes
    ----------
    weights : ndarray of float, shape (n_rules,)
    base : ndarray of float, shape (n_scores,)
    model : Voted
        The same, for blocks.
    value : float
        The loss with the penalty of the weights.
    left : float
        In regression the mean square of what is left over.
    """

    weights: Floats
    base: Floats
    model: Voted
    value: float
    left: float = 0.0


@dataclass(frozen=True, eq=False)
class BlockSoftmaxLoss(Loss):
    """The loss of `SoftmaxLoss` over blocks.

    Parameters
    ----------
    blocks : Blocks
        Of `VotingBlock`.
    """

    blocks: Blocks

    def fitted(
        self, voices: Sequence[int], degrees: tuple[Tests, ...], times: Sequence[int], start: Start
    ) -> BlockFitted:
        """The votes that minimise the loss, from a guess; blocks know the degrees of rules."""
        n_rules, n_classes = len(voices), len(self.voices)
        penalties = np.append(
            self.penalty / np.asarray(times, dtype=np.float64), np.full(n_classes, BASE_PENALTY)
        )
        known: dict[bytes, tuple[float, Floats, Floats]] = {}

        def model(votes: Floats) -> Voted:
            listed = tuple(votes.tolist())
            return Voted(tuple(voices), degrees, listed[:n_rules], listed[n_rules:])

        def evaluated(votes: Floats) -> tuple[float, Floats, Floats]:
            if votes.tobytes() not in known:
                answer = self.blocks.added("evaluated", model(votes))
                value = answer[0] + total(penalties * (votes * votes)) / 2.0
                first, second = np.split(answer[1:], [len(votes)])
                curvature = whole(second, penalties)
                known[votes.tobytes()] = float(value), penalties * votes - first, curvature
            return known[votes.tobytes()]

        bound = np.repeat((True, False), (n_rules, n_classes))
        votes = minimum(
            np.concatenate(start), bound, lambda x: evaluated(x)[0], lambda x: evaluated(x)[1:]
        )
        return BlockFitted(votes[:n_rules], votes[n_rules:], model(votes), evaluated(votes)[0])

    def pull(self, fitted: BlockFitted, voice: int) -> BlockPull:
        """What one more rule with this voice is to do."""
        return BlockPull(fitted.model, voice, allowed=self.sides(voice))


@dataclass(frozen=True, eq=False)
class BlockSquaredLoss(Loss):
    """The loss of `SquaredLoss` over blocks.

    Parameters
    ----------
    blocks : Blocks
        Of `SummingBlock`.
    """

    blocks: Blocks

    def fitted(
        self, voices: Sequence[int], degrees: tuple[Tests, ...], times: Sequence[int], start: Start
    ) -> BlockFitted:
        """The contributions that minimise the loss together with the best constant: exact ridge."""
        voice, n_rules = np.asarray(voices, dtype=np.intp), len(voices)
        sign = np.where(voice < 0, -1.0, 1.0)
        answer = self.blocks.added("moments", degrees)
        squares, first, second = answer[0], answer[1 : n_rules + 2], answer[n_rules + 2 :]
        products = whole(second, np.zeros(n_rules + 1))
        weight, centre = products[-1, -1], first[-1] / products[-1, -1]
        means = products[:-1, -1] / weight
        covariance = products[:-1, :-1] - np.outer(means, means) * weight
        covariance *= np.outer(sign, sign)
        curvature = covariance + np.diag(self.penalty / np.asarray(times, dtype=np.float64))
        slope = sign * (first[:-1] - means * first[-1])
        rest = float(squares - centre * first[-1]) / 2.0

        def loss(sizes: Floats) -> float:
            return float(total(sizes * total(curvature * sizes) / 2.0 - slope * sizes)) + rest

        def derivatives(sizes: Floats) -> tuple[Floats, Floats]:
            return total(curvature * sizes) - slope, curvature

        sizes = minimum(sign * start.weights, voice != 0, loss, derivatives)
        left = 2.0 * rest + float(total(sizes * (total(covariance * sizes) - 2.0 * slope)))
        weights, base = sign * sizes, np.array([centre - total(sign * sizes * means)])
        spoken = tuple(weights.tolist()), tuple(base.tolist())
        model = Voted((0,) * n_rules, degrees, *spoken)
        return BlockFitted(weights, base, model, loss(sizes), max(left / weight, 0.0))

    def pull(self, fitted: BlockFitted, voice: int) -> BlockPull:
        """What one more rule with this voice is to do."""
        return BlockPull(fitted.model, voice, signed=voice == 0, allowed=self.sides(voice))

    def least_gain(self, fitted: BlockFitted) -> float:
        """What a rule must promise to be worth adding."""
        return self.worth * fitted.left


def whole(below: Floats, diagonal: Floats) -> Floats:
    """A symmetric matrix from its part up to the diagonal, to which something is added.

    Examples
    --------
    >>> whole(np.array([1.0, 0.0, 2.0, 3.0]), np.array([0.0, 1.0])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    lower = np.tril(below.reshape(len(diagonal), len(diagonal)))
    return np.asarray(lower + np.tril(lower, -1).T + np.diag(diagonal))

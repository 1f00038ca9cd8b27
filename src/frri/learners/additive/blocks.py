"""Blocks of samples that answer questions about rules by sums, and the losses of additive rules.

Blocks have a fixed number of samples and their answers are added in the order of the blocks. The
result does not depend on the number of threads or on the machines that hold the blocks. A block
computes its answers from its own columns and the model it is given; what it caches only saves time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from frri._compile import compiled, pays
from frri._reproducible import Slices, exp, log, product, total
from frri._util import Floats, Positions, map_threads
from frri.learners.additive import columns as bin_kernels
from frri.learners.additive.columns import SoftColumns, SoftTest

Tests = tuple[SoftTest, ...]
Key = TypeVar("Key")
Result = TypeVar("Result")

# Samples of a block.
BLOCK = 16_384
# Values of a table, times the number of scores, from which the compiled kernel pays: if it has to
# be compiled first, if an earlier process has compiled it, and if this process has it.
COMPILED_FROM = 150_000
LOADED_FROM = 20_000
USED_FROM = 10_000
# Degrees that a block keeps, and rules whose degrees it keeps at least.
KEPT_DEGREES = 1 << 19
KEPT_RULES = 32
# Scores are cut at this size before they become powers of e, so that sums stay finite.
LARGEST_SCORE = 300.0


class AdditiveModel(NamedTuple):
    """Rules and what they add to each score.

    There is one score in regression (the predicted number) and with two classes (the log odds of
    the second one), and one for each of more classes. `weights` has a tuple for each score: the
    weights of the rules, then the base.
    """

    rules: tuple[Tests, ...]
    weights: tuple[tuple[float, ...], ...]


def keep_last(compute: Callable[[Any, Key], Result]) -> Callable[[Any, Key], Result]:
    """Keep the last result of a method of a block, and the model or rules it was computed from."""

    @wraps(compute)
    def kept(block: Any, key: Key) -> Result:
        known = block._last.get(compute.__name__)  # noqa: SLF001 - the two are one thing
        if known is None or known[0] != key:
            known = block._last[compute.__name__] = key, compute(block, key)  # noqa: SLF001
        return known[1]  # type: ignore[no-any-return]

    return kept


@dataclass(eq=False)
class Block:
    """Some samples of a training table, with sample weights; a subclass has a loss."""

    columns: SoftColumns
    weights: Floats
    compile: bool
    _degrees: dict[Tests, Floats] = field(default_factory=dict, init=False)
    # The last results of computations, with what they were computed from.
    _last: dict[str, tuple[Any, Any]] = field(default_factory=dict, init=False)

    def scan(self, model: AdditiveModel, tests: Tests, scores: tuple[int, ...]) -> Floats:
        """Return the sums that decide about every further condition of a rule.

        These are the sums of the rule, then those of the bins of ordered columns, then G, H and M
        of the categories of every nominal column.
        """
        columns, lanes = self.columns, self._lanes(model, tests, scores)
        kernels = compiled(bin_kernels) if self.compile else bin_kernels
        bins = kernels.binned(columns.values, columns.bins, columns.n_bins, lanes)
        categories = [
            np.bincount(codes, lane, count + 1)[:count]
            for codes, count in zip(columns.codes, columns.n_categories.tolist(), strict=True)
            for lane in lanes
        ]
        return np.concatenate([total(lanes), bins.ravel(), *categories])

    def sums(self, model: AdditiveModel, tests: Tests, scores: tuple[int, ...]) -> Floats:
        """Return G of a rule for some scores, then H for the same scores, then M."""
        return np.asarray(total(self._lanes(model, tests, scores)))

    def _lanes(self, model: AdditiveModel, tests: Tests, scores: tuple[int, ...]) -> Floats:
        """Return the summands of G, H and M by sample."""
        gradients, curvatures = (part[list(scores)] for part in self._derivatives(model))
        degree = self._degree(tests)
        own = (self.weights * degree)[None]
        return np.concatenate([gradients * degree, curvatures * (degree * degree), own])

    def loss(self, model: AdditiveModel) -> Floats:
        """Return the loss."""
        raise NotImplementedError

    def gradient(self, model: AdditiveModel) -> Floats:
        """Return by score the negative gradient of the loss by the weights and the base."""
        return product(self._derivatives(model)[0], self._slices(model.rules))

    def curvature(self, model: AdditiveModel) -> Floats:
        """Return by score the second derivatives of the loss by the weights and the base.

        Those by the weights of two scores are left out.
        """
        degrees, slices = self._stack(model.rules), self._slices(model.rules)
        return np.array([product(degrees * own, slices) for own in self._derivatives(model)[1]])

    @keep_last
    def scores(self, model: AdditiveModel) -> Floats:
        """Return the scores of the samples, one row each."""
        votes, degrees = np.array(model.weights).T, self._stack(model.rules)
        found, term = np.zeros((2, len(model.weights), self.columns.n_samples))
        for weights, degree in zip(votes, degrees, strict=True):
            if weights.any():
                found += np.multiply(weights[:, None], degree, out=term)
        return found

    def _derivatives(self, model: AdditiveModel) -> tuple[Floats, Floats]:
        """Return the negative gradient and the curvature by score and sample."""
        raise NotImplementedError

    def _degree(self, tests: Tests) -> Floats:
        """Return the degree of a rule for every sample."""
        if not tests:
            return np.ones(self.columns.n_samples)
        if tests not in self._degrees:
            degree = self._degree(tests[:-1]) * self.columns.membership(tests[-1])
            if len(self._degrees) * len(degree) >= max(KEPT_DEGREES, KEPT_RULES * len(degree)):
                self._degrees.clear()
            self._degrees[tests] = degree
        return self._degrees[tests]

    @keep_last
    def _stack(self, rules: tuple[Tests, ...]) -> Floats:
        """Return the degrees of rules, and of one that always holds for the base."""
        return np.array([*map(self._degree, (*rules, ()))])

    @keep_last
    def _slices(self, rules: tuple[Tests, ...]) -> Slices:
        """Return the degrees of rules and the base, a row for each sample, for products."""
        return Slices.of(self._stack(rules).T)

    def __getstate__(self) -> dict[str, Any]:
        """Return the block without its caches."""
        return self.__dict__ | {"_degrees": {}, "_last": {}}


@dataclass(eq=False)
class VotingBlock(Block):
    """Samples with classes, for which rules vote: logarithmic loss of a softmax of scores."""

    classes: Positions = field(kw_only=True)
    loss_weights: Floats = field(kw_only=True)

    def loss(self, model: AdditiveModel) -> Floats:
        """Return the logarithmic loss."""
        scores, sums = self.scores(model), self._powers(model)[1]
        if len(scores) == 1:
            own = np.where(self.classes == 1, scores[0], 0.0)
        else:
            own = scores[self.classes, np.arange(len(self.classes))]
        return np.array([total(self.loss_weights * (log(sums) - own))])

    @keep_last
    def _powers(self, model: AdditiveModel) -> tuple[Floats, Floats]:
        """Return the exponentials of the scores and their sum, to which a first class adds 1."""
        powers = exp(np.clip(self.scores(model), -LARGEST_SCORE, LARGEST_SCORE))
        sums = powers.sum(axis=0)
        return powers, sums + 1.0 if len(powers) == 1 else sums

    @keep_last
    def _derivatives(self, model: AdditiveModel) -> tuple[Floats, Floats]:
        powers, sums = self._powers(model)
        probabilities, weights = powers / sums, self.loss_weights
        first = 1 if len(powers) == 1 else 0
        own = self.classes == np.arange(first, first + len(powers))[:, None]
        return weights * (own - probabilities), weights * (probabilities * (1.0 - probabilities))


@dataclass(eq=False)
class SummingBlock(Block):
    """Samples with numbers, to which rules contribute: half the squared error."""

    target: Floats = field(kw_only=True)

    def loss(self, model: AdditiveModel) -> Floats:
        """Return half the squared error."""
        residuals = self.target - self.scores(model)[0]
        return np.array([total(self.weights * residuals * residuals) / 2.0])

    def curvature(self, model: AdditiveModel) -> Floats:
        """Return the second derivatives, which depend on the rules only."""
        return self._curvature(model.rules)

    @keep_last
    def _curvature(self, rules: tuple[Tests, ...]) -> Floats:
        return product(self._stack(rules) * self.weights, self._slices(rules))[None]

    @keep_last
    def _derivatives(self, model: AdditiveModel) -> tuple[Floats, Floats]:
        residuals = self.target - self.scores(model)
        return self.weights * residuals, self.weights[None]


class SampleBlocks:
    """All samples of a table in blocks, in their order, asked in threads."""

    def __init__(self, blocks: Sequence[Block], n_jobs: int | None = None) -> None:
        self.blocks, self.n_jobs = blocks, n_jobs

    @classmethod
    def of(
        cls,
        kind: type[Block],
        columns: SoftColumns,
        n_jobs: int | None = None,
        n_scores: int = 1,
        **arrays: Any,
    ) -> "SampleBlocks":
        """Split a table into blocks; `arrays` are those that the kind of block has."""
        sizes = {"compiled_from": COMPILED_FROM, "loaded_from": LOADED_FROM}
        size = n_scores * columns.values.size
        is_compiled = pays(bin_kernels, size, used_from=USED_FROM, **sizes)
        starts = range(0, columns.n_samples, BLOCK)
        blocks = []
        for rows in (slice(start, start + BLOCK) for start in starts):
            own = {name: array[rows] for name, array in arrays.items()}
            blocks.append(kind(columns.part(rows), compile=is_compiled, **own))
        return cls(blocks, n_jobs)

    def added(self, question: str, *arguments: Any) -> Floats:
        """Return the sum of the answers of the blocks to a question, the name of their method."""
        first, *others = self._answers(question, arguments)
        for other in others:
            first = first + other
        return first

    def _answers(self, question: str, arguments: tuple[Any, ...]) -> list[Floats]:
        def answer(k: int, _: int = 0) -> Floats:
            return np.asarray(getattr(self.blocks[k], question)(*arguments))

        if len(self.blocks) == 1:
            return [answer(0)]
        return map_threads(answer, [(k, k + 1) for k in range(len(self.blocks))], self.n_jobs)

"""Blocks of samples that answer questions about rules by sums, and the losses of additive rules.

Blocks have a fixed number of samples and their answers are added in the order of the blocks. The
result does not depend on the number of threads or on the machines that hold the blocks. A block
computes its answers from its own columns and the model it is given; what it caches only saves time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from frri._compile import compiled, pays
from frri._reproducible import exp, log, product, total
from frri._util import Flags, Floats, Positions, map_threads
from frri.learners.additive import columns as bin_kernels
from frri.learners.additive.columns import SoftColumns, SoftTest

Tests = tuple[SoftTest, ...]
Result = TypeVar("Result")

# Samples of a block.
BLOCK = 16_384
# Values of a table from which the compiled kernel pays: if it has to be compiled first, if an
# earlier process has compiled it, and if this process has it.
COMPILED_FROM = 150_000
LOADED_FROM = 20_000
USED_FROM = 10_000
# Degrees that a block keeps, and rules whose degrees it keeps at least.
KEPT_DEGREES = 1 << 19
KEPT_RULES = 32
# Scores whose gradients a block keeps.
KEPT_GRADIENTS = 8


class AdditiveModel(NamedTuple):
    """Rules with their weights, and the scores without any rule.

    The voice of a rule is the score to which it adds: a class; in regression 0, or 1 and -1 for a
    rule that may only add or only subtract, whose weights have no sign.
    """

    voices: tuple[int, ...]
    rules: tuple[Tests, ...]
    weights: tuple[float, ...]
    base: tuple[float, ...]


@dataclass(eq=False)
class Block:
    """Some samples of a training table, with sample weights; a subclass has a loss."""

    columns: SoftColumns
    weights: Floats
    compile: bool
    _degrees: dict[Tests, Floats] = field(default_factory=dict, init=False)
    # The last results of computations, with what they were computed from.
    _last: dict[str, tuple[Any, Any]] = field(default_factory=dict, init=False)

    def scan(self, model: AdditiveModel, asked: tuple[tuple[int, Tests], ...]) -> Floats:
        """Return the sums that decide about every further condition of some voices and rules.

        These are G, H and M of the rules, then the sums of the bins of ordered columns, then G, H
        and M of the categories of every nominal column.
        """
        columns = self.columns
        terms = np.empty((3, len(asked), columns.n_samples))
        for r, (voice, tests) in enumerate(asked):
            gradient, curvature = self._gradient(model, voice)
            degree = self._degree(tests)
            np.multiply(gradient, degree, out=terms[0, r])
            np.multiply(degree, degree, out=terms[1, r])
            np.multiply(self.weights, degree, out=terms[2, r])
            terms[1, r] *= curvature
        kernels = compiled(bin_kernels) if self.compile else bin_kernels
        bins = kernels.binned(columns.values, columns.bins, columns.n_bins, terms)
        lanes = terms.reshape(-1, columns.n_samples)
        categories = [
            np.bincount(codes, lane, count + 1)[:count]
            for codes, count in zip(columns.codes, columns.n_categories.tolist(), strict=True)
            for lane in lanes
        ]
        return np.concatenate([total(terms).ravel(), bins.ravel(), *categories])

    def covered(self, tests: Tests, voice: int) -> Floats:
        """Return the weight of the samples that a rule should cover, times their degrees."""
        return np.array([total(self._own(voice) * (self.weights * self._degree(tests)))])

    def evaluate(self, model: AdditiveModel) -> Floats:
        """Return the loss, its negative gradient and its second derivatives, as one array.

        Derivatives are by the weights of the rules, then by the bases.
        """
        return self._evaluation(model)[0]

    def _evaluation(self, model: AdditiveModel) -> tuple[Floats, Floats]:
        return self._once("evaluation", model, lambda: self._new_evaluation(model))

    def _new_evaluation(self, model: AdditiveModel) -> tuple[Floats, Floats]:
        """Return the answer to `evaluate`, and what gradients are computed from."""
        raise NotImplementedError

    def _gradient(self, model: AdditiveModel, voice: int) -> tuple[Floats, Floats]:
        """Return the negative gradient and the curvature by a score, for every sample."""
        found: dict[int, tuple[Floats, Floats]] = self._once("gradients", model, dict)
        if voice not in found:
            if len(found) > KEPT_GRADIENTS:
                found.clear()
            found[voice] = self._new_gradient(self._evaluation(model)[1], voice)
        return found[voice]

    def _new_gradient(self, outputs: Floats, voice: int) -> tuple[Floats, Floats]:
        raise NotImplementedError

    def _own(self, voice: int) -> Flags:
        """Return which samples a rule with this voice should cover."""
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

    def _stack(self, model: AdditiveModel) -> Floats:
        """Return the degrees of rules, and of a rule that always holds for each base."""
        always = [np.ones(self.columns.n_samples)] * len(model.base)
        return self._once(
            "stack", model.rules, lambda: np.array([*map(self._degree, model.rules), *always])
        )

    def _once(self, name: str, key: Any, compute: Callable[[], Result]) -> Result:
        """Return the last result of a computation if it had the same key, or compute it."""
        if name not in self._last or self._last[name][0] != key:
            self._last[name] = key, compute()
        result: Result = self._last[name][1]
        return result

    def __getstate__(self) -> dict[str, Any]:
        """Return the block without its caches."""
        return self.__dict__ | {"_degrees": {}, "_last": {}}


@dataclass(eq=False)
class VotingBlock(Block):
    """Samples with classes, for which rules vote: logarithmic loss of a softmax of scores."""

    classes: Positions = field(kw_only=True)
    loss_weights: Floats = field(kw_only=True)

    def _new_evaluation(self, model: AdditiveModel) -> tuple[Floats, Floats]:
        n_classes, samples = len(model.base), np.arange(len(self.classes))
        degrees = self._stack(model)
        voices = np.array([*model.voices, *range(n_classes)], dtype=np.intp)
        F = np.zeros((n_classes, len(samples)))
        for c, vote, degree in zip(voices, (*model.weights, *model.base), degrees, strict=True):
            if vote != 0.0:
                F[c] += vote * degree
        top = F.max(axis=0)
        powers = exp(F - top)
        sums = powers.sum(axis=0)
        probabilities = powers / sums
        surprise = log(sums) + top - F[self.classes, samples]
        errors = -(self.loss_weights * probabilities)
        errors[self.classes, samples] += self.loss_weights
        value = total(self.loss_weights * surprise)
        second = vote_curvature(degrees, voices, self.loss_weights, probabilities)
        answer = np.concatenate([[value], total(degrees * errors[voices]), second.ravel()])
        return answer, probabilities

    def _new_gradient(self, outputs: Floats, voice: int) -> tuple[Floats, Floats]:
        P = outputs[voice]
        return self.loss_weights * (self._own(voice) - P), self.loss_weights * (P * (1.0 - P))

    def _own(self, voice: int) -> Flags:
        return np.asarray(self.classes == voice)


def vote_curvature(
    degrees: Floats, voices: Positions, weights: Floats, probabilities: Floats
) -> Floats:
    """Return the second derivatives of the logarithmic loss by the weights of rules.

    Degrees are by rule and sample, probabilities by class and sample.
    """
    right = np.concatenate((degrees, degrees * probabilities[voices]))
    both = product(degrees * (weights * probabilities)[voices], right.T)
    within, between = both[:, : len(voices)], both[:, len(voices) :]
    return np.where(voices == voices[:, None], within, 0.0) - between


@dataclass(eq=False)
class SummingBlock(Block):
    """Samples with numbers, to which rules contribute: half the squared error."""

    target: Floats = field(kw_only=True)

    def _new_evaluation(self, model: AdditiveModel) -> tuple[Floats, Floats]:
        signs = np.array([-1.0 if voice < 0 else 1.0 for voice in (*model.voices, 0)])
        degrees = self._stack(model) * signs[:, None]
        residuals = self.target.copy()
        for weight, degree in zip((*model.weights, *model.base), degrees, strict=True):
            residuals -= weight * degree
        second = self._once(
            "second",
            (model.rules, model.voices),
            lambda: product(degrees * self.weights, degrees.T).ravel(),
        )
        weighted = self.weights * residuals
        value = total(weighted * residuals) / 2.0
        return np.concatenate([[value], total(degrees * weighted), second]), residuals

    def _new_gradient(self, outputs: Floats, voice: int) -> tuple[Floats, Floats]:
        return self.weights * (-outputs if voice < 0 else outputs), self.weights

    def _own(self, voice: int) -> Flags:  # noqa: ARG002 - all
        return np.ones(len(self.target), dtype=np.bool_)


class SampleBlocks:
    """All samples of a table in blocks, in their order, asked in threads."""

    def __init__(self, blocks: Sequence[Block], n_jobs: int | None = None) -> None:
        self.blocks, self.n_jobs = blocks, n_jobs

    @classmethod
    def of(
        cls, kind: type[Block], columns: SoftColumns, n_jobs: int | None = None, **arrays: Any
    ) -> "SampleBlocks":
        """Split a table into blocks; `arrays` are those that the kind of block has."""
        sizes = {"compiled_from": COMPILED_FROM, "loaded_from": LOADED_FROM}
        is_compiled = pays(bin_kernels, columns.values.size, used_from=USED_FROM, **sizes)
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
            found: Floats = getattr(self.blocks[k], question)(*arguments)
            return found

        if len(self.blocks) == 1:
            return [answer(0)]
        return map_threads(answer, [(k, k + 1) for k in range(len(self.blocks))], self.n_jobs)

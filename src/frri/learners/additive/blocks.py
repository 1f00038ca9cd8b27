"""A large table in blocks of objects, each of which answers questions by a few sums.

Blocks have a fixed number of objects and their answers are added in the order of the blocks: what comes out
does not depend on who asks them, in how many threads, or where they are. A block answers from its own
columns and from what it is told of the rules so far; what it remembers only saves it from computing twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._compile import compiled, numba_installed
from frri._reproducible import exp, log, total
from frri._util import map_threads
from frri.learners.additive import _block_kernels, _columns
from frri.learners.additive._columns import ONE_OF
from frri.rules.matching import COVERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri._util import Flags, Floats, Positions
    from frri.learners.additive._columns import SoftColumns, SoftTest

    Tests = tuple[SoftTest, ...]

# Voices whose gradients a block remembers.
MANY_VOICES = 8


class Voted(NamedTuple):
    """Rules as blocks are told of them: the score to which each adds, its tests, its weight; the bases."""

    voices: tuple[int, ...]
    rules: tuple[Tests, ...]
    weights: tuple[float, ...]
    base: tuple[float, ...]


@dataclass(eq=False)
class Block:
    """Some objects of a training table.

    Parameters
    ----------
    columns : SoftColumns
        Of these objects.
    weights : ndarray of float, shape (n_objects,)
        What they count for in the membership of a rule.
    compile : bool
        Whether the kernels are to be compiled, where there is a compiler.
    """

    columns: SoftColumns
    weights: Floats
    compile: bool
    _rules: tuple[Tests, ...] = field(default=(), init=False)
    _degrees: Floats | None = field(default=None, init=False)
    _answers: tuple[Voted, Floats] | None = field(default=None, init=False)
    _pulled: tuple[Voted, dict[int, tuple[Floats, Floats]]] | None = field(default=None, init=False)

    def scans(self, model: Voted, asked: tuple[tuple[int, Tests], ...]) -> Floats:
        """The answers to `scan` for some voices and tests, one after another."""
        return np.concatenate([self.scan(model, voice, tests) for voice, tests in asked])

    def scan(self, model: Voted, voice: int, tests: Tests) -> Floats:
        """What every further condition would make of a rule.

        Parameters
        ----------
        model : Voted
            The rules so far.
        voice : int
            To which score the rule adds.
        tests : tuple of SoftTest
            Its conditions.

        Returns
        -------
        ndarray of float
            One after another: G, H and M of the rule; of every bin of the ordered columns the seven
            sums of `_bin_kernels`; of the categories of every nominal column G, H and M.
        """
        columns = self.columns
        gradient, curvature = self._pull(model, voice)
        rows, degree = self._narrowed(tests)
        g, m = gradient[rows] * degree, self.weights[rows] * degree
        h = curvature[rows] * (degree * degree)
        three = g, h, m
        bins = self._kernels.binned(columns.values, columns.bins, columns.n_bins, rows, *three)
        categories = [
            np.bincount(codes[rows], terms, count + 1)[:count]
            for codes, count in zip(columns.codes, columns.n_categories.tolist(), strict=True)
            for terms in three
        ]
        return np.concatenate([[total(terms) for terms in three], bins.ravel(), *categories])

    def covered(self, tests: Tests, voice: int) -> Floats:
        """What the objects that a rule with this voice is to cover weigh, times their degrees."""
        rows, degree = self._narrowed(tests)
        return np.array([total(self._own(voice)[rows] * (self.weights[rows] * degree))])

    def _narrowed(self, tests: Tests) -> tuple[Positions, Floats]:
        """The objects that satisfy all tests to some degree, and the degrees."""
        columns = self.columns
        start = np.ones(columns.n_objects)
        if not tests:
            return np.arange(columns.n_objects), start
        for test in tests:
            if test.side == ONE_OF:
                start *= columns.membership(test)
        soft = [test for test in tests if test.side != ONE_OF]
        places = columns.ordered.searchsorted([test.attribute for test in soft])
        thresholds = columns.thresholds[places, [test.which for test in soft]]
        sides = np.array([test.side for test in soft], dtype=np.intp)
        rows, degree = np.empty(len(start), dtype=np.intp), np.empty(len(start))
        layout = columns.values, columns.bins, columns.n_bins - 1
        count = self._kernels.narrow(*layout, places, sides, thresholds, start, rows, degree)
        return rows[:count], degree[:count]

    def _matrix(self, rules: tuple[Tests, ...]) -> Floats:
        """Degrees, objects x rules; those of rules known before are not computed again."""
        if self._degrees is None or rules != self._rules:
            degrees = np.zeros((self.columns.n_objects, len(rules)))
            known = {tests: r for r, tests in enumerate(self._rules)}
            for r, tests in enumerate(rules):
                if tests in known and self._degrees is not None:
                    degrees[:, r] = self._degrees[:, known[tests]]
                else:
                    rows, degree = self._narrowed(tests)
                    degrees[rows, r] = degree
            self._rules, self._degrees = rules, degrees
        return self._degrees

    def _scores(self, model: Voted) -> Floats:
        """The scores of the objects, scores x objects."""
        voices = np.array(model.voices, dtype=np.intp)
        weights, base = np.array(model.weights, dtype=np.float64), np.array(model.base)
        found: Floats = self._kernels.scores(self._matrix(model.rules), voices, weights, base)
        return found

    def _derivatives(
        self, model: Voted, errors: Floats, sizes: Floats, shares: Floats
    ) -> list[Floats]:
        voices = np.array(model.voices, dtype=np.intp)
        degrees = self._matrix(model.rules)
        first, second = self._kernels.derivatives(degrees, voices, errors, sizes, shares)
        return [first, second.ravel()]

    def _pull(self, model: Voted, voice: int) -> tuple[Floats, Floats]:
        """Gradient and curvature by a score, with the sign turned."""
        if self._pulled is None or self._pulled[0] != model or len(self._pulled[1]) > MANY_VOICES:
            self._pulled = model, {}
        known = self._pulled[1]
        if voice not in known:
            known[voice] = self._new_pull(model, voice)
        return known[voice]

    def _new_pull(self, model: Voted, voice: int) -> tuple[Floats, Floats]:
        raise NotImplementedError

    def _own(self, voice: int) -> Flags:
        """Which objects a rule with this voice is to cover."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        """Without what it remembers: that is computed again where it is sent."""
        forgotten = {"_rules": (), "_degrees": None, "_answers": None, "_pulled": None}
        return self.__dict__ | forgotten

    @property
    def _kernels(self) -> Any:
        wanted = self.compile and numba_installed()
        return compiled(_block_kernels) if wanted else _block_kernels


@dataclass(eq=False)
class VotingBlock(Block):
    """Objects of classes, for which rules vote.

    Parameters
    ----------
    classes : ndarray of int, shape (n_objects,)
    loss_weights : ndarray of float, shape (n_objects,)
        What objects count for in the loss.
    """

    classes: Positions = field(kw_only=True)
    loss_weights: Floats = field(kw_only=True)

    def evaluated(self, model: Voted) -> Floats:
        """The logarithmic loss, its first derivatives with the sign turned, its second derivatives."""
        F = self._scores(model)
        top = F.max(axis=0)
        powers = exp(F - top)
        sums = powers.sum(axis=0)
        objects = np.arange(len(self.classes))
        surprise = log(sums) + top - F[self.classes, objects]
        shares = powers / sums
        sizes = self.loss_weights * shares
        errors = -sizes
        errors[self.classes, objects] += self.loss_weights
        value = total(self.loss_weights * surprise)
        self._answers = model, shares
        return np.concatenate([[value], *self._derivatives(model, errors, sizes, shares)])

    def counted(self, model: Voted) -> Floats:
        """What the objects of each class that a rule covers weigh, rule by rule; then those of it alone."""
        covers = (self._matrix(model.rules) * np.array(model.weights) > COVERS).T
        alone = covers & (covers.sum(axis=0) == 1)
        n_classes = len(model.base)
        support = [np.bincount(self.classes, self.weights * c, n_classes) for c in covers]
        return np.concatenate([*support, [total(self.weights * c) for c in alone]])

    def _new_pull(self, model: Voted, voice: int) -> tuple[Floats, Floats]:
        if self._answers is None or self._answers[0] != model:
            self.evaluated(model)
        assert self._answers is not None  # noqa: S101 - just made
        P = self._answers[1][voice]
        return self.loss_weights * (self._own(voice) - P), self.loss_weights * (P * (1.0 - P))

    def _own(self, voice: int) -> Flags:
        return np.asarray(self.classes == voice)


@dataclass(eq=False)
class SummingBlock(Block):
    """Objects with numbers, to which rules add up.

    Parameters
    ----------
    target : ndarray of float, shape (n_objects,)
    """

    target: Floats = field(kw_only=True)

    def moments(self, rules: tuple[Tests, ...]) -> Floats:
        """Weighted sums of squared targets; of targets times degrees; of degrees times degrees.

        The degree 1, that of the base, is the last one.
        """
        model = Voted((0,) * len(rules), rules, (), ())
        weighted = self.weights * self.target
        one = np.zeros((1, len(self.target)))
        products = self._derivatives(model, weighted[None], self.weights[None], one)
        return np.concatenate([[total(weighted * self.target)], *products])

    def _new_pull(self, model: Voted, voice: int) -> tuple[Floats, Floats]:
        left = self.target - self._scores(model)[0]
        return self.weights * (-left if voice < 0 else left), self.weights

    def _own(self, voice: int) -> Flags:  # noqa: ARG002 - all
        return np.ones(len(self.target), dtype=np.bool_)


class Blocks:
    """All objects of a table in blocks, asked in threads.

    Parameters
    ----------
    blocks : sequence of Block
        In the order of the objects.
    n_jobs : int, optional
    """

    def __init__(self, blocks: Sequence[Block], n_jobs: int | None = None) -> None:
        self.blocks, self.n_jobs = blocks, n_jobs

    @classmethod
    def of(cls, kind: type[Block], columns: SoftColumns, **objects: Any) -> Blocks:
        """Lay out a table in blocks; `objects` are the arrays that the kind of block has."""
        size = _columns.BLOCK
        blocks = [
            kind(
                columns.part(start, start + size),
                compile=columns.is_compiled,
                **{name: array[start : start + size] for name, array in objects.items()},
            )
            for start in range(0, columns.n_objects, size)
        ]
        return cls(blocks, columns.n_jobs)

    def added(self, question: str, *arguments: Any) -> Floats:
        """The sum of what the blocks answer to a question: the name of their method."""
        found: Floats = sum(self._answers(question, arguments))  # type: ignore[assignment]
        return found

    def _answers(self, question: str, arguments: tuple[Any, ...]) -> list[Floats]:
        parts = [(k, k + 1) for k in range(len(self.blocks))]

        def answer(k: int, _: int) -> Floats:
            found: Floats = getattr(self.blocks[k], question)(*arguments)
            return found

        return map_threads(answer, parts, self.n_jobs)

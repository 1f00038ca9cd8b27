"""Losses of additive rules, and the weights that minimise them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frri._reproducible import solve, total
from frri.learners.additive.blocks import AdditiveModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from frri._util import Flags, Floats
    from frri.learners.additive.blocks import SampleBlocks, Tests

    Evaluation = tuple[float, Floats, Floats]

# Penalty of squared bases of classes, which are as good as free: it decides between equivalent
# ones.
BASE_PENALTY = 1e-3
# A step that promises a smaller decrease, relative to the loss, is the last one.
TOLERANCE = 1e-13
MOST_STEPS = 100
# Fraction of the promised decrease that a step must reach, and how often it is halved until it
# does.
SUFFICIENT = 1e-4
HALVINGS = 40


class Fitted(NamedTuple):
    """Rules with the weights that minimise a loss.

    Attributes
    ----------
    weights : ndarray of float, shape (n_rules,)
    base : ndarray of float, shape (n_scores,)
        Scores without any rule.
    model : AdditiveModel
        The same, for blocks.
    value : float
        Loss with the penalty of the weights.
    loss : float
        Loss without it.
    """

    weights: Floats
    base: Floats
    model: AdditiveModel
    value: float
    loss: float


class Gradient(NamedTuple):
    """What one more rule should follow: the gradient of a loss by one score.

    Attributes
    ----------
    model : AdditiveModel
        The rules so far.
    voice : int
        Score to which the rule adds.
    signed : bool
        Whether it may add with either sign; else only upwards.
    allowed : ndarray of bool, shape (n_attributes, 2), optional
        Sides of an attribute that it may use; all by default.
    """

    model: AdditiveModel
    voice: int
    signed: bool = False
    allowed: Flags | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class SoftmaxLoss:
    """Logarithmic loss of votes: the voice of a rule is its class, its weight at least 0.

    Parameters
    ----------
    blocks : SampleBlocks
    voices : tuple of int
        All voices, in the order in which equal gains are decided.
    penalty : float
        Penalty of squared weights.
    least : float
        Gain that a rule must promise; in regression in variances of the residuals.
    allowed : mapping of int to ndarray, or sequence, optional
        For each voice the sides of attributes that its rules may use.
    """

    blocks: SampleBlocks
    voices: tuple[int, ...]
    penalty: float
    least: float
    allowed: Mapping[int, Flags] | Sequence[Flags] | None = None

    @property
    def n_scores(self) -> int:
        """Number of scores."""
        return len(self.voices)

    @property
    def base_penalty(self) -> float:
        """Penalty of squared bases."""
        return BASE_PENALTY

    def is_signed(self, voice: int) -> bool:  # noqa: ARG002 - the same for all classes
        """Return whether rules with this voice may have weights of either sign."""
        return False

    def least_gain(self, fitted: Fitted) -> float:  # noqa: ARG002 - the same for every fit
        """Return the gain that a rule must promise to be added."""
        return self.least

    def gradient(self, fitted: Fitted, voice: int) -> Gradient:
        """Return what one more rule with this voice should follow."""
        allowed = None if self.allowed is None else self.allowed[voice]
        return Gradient(fitted.model, voice, self.is_signed(voice), allowed)

    def fit(
        self,
        voices: Sequence[int],
        rules: Sequence[Tests],
        times: Sequence[int],
        start: tuple[Floats, Floats] | None = None,
    ) -> Fitted:
        """Find the weights that minimise the loss with its penalty.

        Parameters
        ----------
        voices : sequence of int
        rules : sequence of tuple of SoftTest
        times : sequence of int
            How often each rule was added: its penalty is divided by it.
        start : tuple of ndarray, optional
            Weights and bases to start from.
        """
        n_rules = len(voices)
        signs = np.array([-1.0 if voice < 0 else 1.0 for voice in voices])
        penalties = np.append(
            self.penalty / np.asarray(times, dtype=np.float64),
            np.full(self.n_scores, self.base_penalty),
        )

        def model(x: Floats) -> AdditiveModel:
            listed = tuple(x.tolist())
            return AdditiveModel(tuple(voices), tuple(rules), listed[:n_rules], listed[n_rules:])

        def evaluate(x: Floats) -> Evaluation:
            answer = self.blocks.added("evaluate", model(x))
            first, second = np.split(answer[1:], [len(x)])
            penalty = total(penalties * (x * x)) / 2.0
            curvature = second.reshape(len(x), len(x)) + np.diag(penalties)
            return float(answer[0] + penalty), penalties * x - first, curvature

        if start is None:
            x = np.zeros(n_rules + self.n_scores)
        else:
            x = np.concatenate((signs * start[0], start[1]))
        bounded = np.array([*(not self.is_signed(v) for v in voices), *[False] * self.n_scores])
        x = minimize(x, bounded, evaluate)
        value = evaluate(x)[0]
        loss = value - float(total(penalties * (x * x))) / 2.0
        return Fitted(signs * x[:n_rules], x[n_rules:], model(x), value, loss)


@dataclass(frozen=True, eq=False, kw_only=True)
class SquaredLoss(SoftmaxLoss):
    """Half the squared error of a constant plus contributions.

    The voices are (0,) for contributions of either sign, (1, -1) for those that add or subtract.

    Parameters
    ----------
    weight : float
        Sum of the sample weights.
    """

    weight: float

    @property
    def n_scores(self) -> int:
        """Number of scores."""
        return 1

    @property
    def base_penalty(self) -> float:
        """Penalty of the squared base."""
        return 0.0

    def is_signed(self, voice: int) -> bool:
        """Return whether rules with this voice may have contributions of either sign."""
        return voice == 0

    def least_gain(self, fitted: Fitted) -> float:
        """Return the gain that a rule must promise to be added."""
        return self.least * 2.0 * fitted.loss / self.weight


def minimize(
    start: Floats, at_least_zero: Flags, evaluate: Callable[[Floats], Evaluation]
) -> Floats:
    """Minimise a strictly convex function by Newton's method, projected on the bounds.

    Weights that lie on their bound and would cross it rest for a step; the others take Newton's
    step, cut at the bounds and halved until the loss falls (Bertsekas 1982).

    Parameters
    ----------
    start : ndarray of float, shape (n_weights,)
    at_least_zero : ndarray of bool, shape (n_weights,)
        Weights that must not be negative.
    evaluate : callable
        Returns the value, the gradient and the matrix of second derivatives.

    Returns
    -------
    ndarray of float, shape (n_weights,)

    Examples
    --------
    >>> center = np.array([1.0, -2.0])
    >>> minimize(
    ...     np.zeros(2),
    ...     np.array([False, True]),
    ...     lambda x: (float(((x - center) ** 2).sum()), 2.0 * (x - center), 2.0 * np.eye(2)),
    ... )
    array([1., 0.])
    """
    lower = np.where(at_least_zero, 0.0, -np.inf)
    weights, (now, gradient, curvature) = start, evaluate(start)
    for _ in range(MOST_STEPS):
        free = np.flatnonzero((weights > lower) | (gradient < 0.0))
        step = np.zeros_like(weights)
        step[free] = -solve(curvature[np.ix_(free, free)], gradient[free])
        if -total(step * gradient) <= TOLERANCE * (1.0 + abs(now)):
            # So near the minimum a step squares the error, too small to be seen in the loss.
            return np.asarray(np.maximum(weights + step, lower))
        for _ in range(HALVINGS):
            trial = np.maximum(weights + step, lower)
            then = evaluate(trial)
            if then[0] <= now + SUFFICIENT * total(gradient * (trial - weights)):
                break
            step = step / 2.0
        else:
            break
        weights, (now, gradient, curvature) = trial, then
    return weights

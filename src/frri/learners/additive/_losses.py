"""What additive rules minimise: the loss of their votes, or of their sum, with penalised weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frri._reproducible import exp, log, product, total
from frri.learners.additive._growing import Pull
from frri.learners.additive._newton import minimum

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from frri._util import Flags, Floats, Positions

# Bases of classes are as good as free; this little decides among those that say the same.
BASE_PENALTY = 1e-3


class Start(NamedTuple):
    """A guess of weights and bases."""

    weights: Floats
    base: Floats


class Fitted(NamedTuple):
    """Rules with their weights.

    Attributes
    ----------
    weights : ndarray of float, shape (n_rules,)
    base : ndarray of float, shape (n_scores,)
        What the scores are without any rule.
    scores : ndarray of float, shape (n_scores, n_objects)
        Probabilities of the training objects; in regression the residuals.
    value : float
        The loss with the penalty of the weights.
    """

    weights: Floats
    base: Floats
    scores: Floats
    value: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Loss:
    """A convex loss of scores to which rules add.

    A rule adds to the score that its *voice* names. Degrees are what `Search.stacked` makes of rules,
    and a fit has `weights`, `base` and `value`, whatever else there is in it.

    Parameters
    ----------
    voices : tuple of int
        All voices, in the order in which equal gains are decided.
    penalty : float
        Of squared weights.
    worth : float
        What a rule must promise; of numbers in variances of what is left over.
    allowed : mapping of int to ndarray, or sequence, optional
        For each voice the sides of attributes that its rules may use.
    """

    voices: tuple[int, ...]
    penalty: float
    worth: float
    allowed: Mapping[int, Flags] | Sequence[Flags] | None = None

    @property
    def start(self) -> Start:
        """Where to begin, without any rule."""
        return Start(np.empty(0), np.zeros(len(self.voices)))

    def fitted(
        self, voices: Sequence[int], degrees: Any, times: Sequence[int], start: Start
    ) -> Any:
        """The weights that minimise the loss, from a guess."""
        raise NotImplementedError

    def pull(self, fitted: Any, voice: int) -> Any:
        """What one more rule with this voice is to do."""
        raise NotImplementedError

    def least_gain(self, fitted: Any) -> float:  # noqa: ARG002 - where it is the same whatever the fit
        """What a rule must promise to be worth adding."""
        return self.worth

    def sides(self, voice: int) -> Flags | None:
        """The sides of attributes that rules with this voice may use, where not all are allowed."""
        return None if self.allowed is None else self.allowed[voice]


@dataclass(frozen=True, eq=False)
class SoftmaxLoss(Loss):
    """Logarithmic loss of a softmax of votes: a rule's voice is its class, its weight at least 0.

    Parameters
    ----------
    classes : ndarray of int, shape (n_objects,)
    weights : ndarray of float, shape (n_objects,)
    """

    classes: Positions
    weights: Floats

    def fitted(
        self, voices: Sequence[int], degrees: Floats, times: Sequence[int], start: Start
    ) -> Fitted:
        """The votes that minimise the loss, from a guess."""
        n_classes, objects = len(self.voices), np.arange(len(self.classes))
        # The base of a class is the weight of a rule that always holds.
        voice = np.concatenate((voices, self.voices)).astype(np.intp)
        degrees = np.concatenate((degrees, np.ones((n_classes, len(objects)))))
        penalties = np.append(
            self.penalty / np.asarray(times, dtype=np.float64), np.full(n_classes, BASE_PENALTY)
        )
        probabilities = np.empty((n_classes, len(objects)))
        hits = (self.classes == voice[:, None]).astype(np.float64)

        same = voice == voice[:, None]

        def scores(votes: Floats) -> Floats:
            F = np.zeros((n_classes, len(objects)))
            for c, vote, degree in zip(voice.tolist(), votes.tolist(), degrees, strict=True):
                if vote != 0.0:
                    F[c] += vote * degree
            return F

        def loss(votes: Floats) -> float:
            F = scores(votes)
            top = F.max(axis=0)
            powers = exp(F - top)
            sums = powers.sum(axis=0)
            probabilities[:] = powers / sums
            surprise = log(sums) + top - F[self.classes, objects]
            penalty = total(penalties * (votes * votes))
            return float(total(self.weights * surprise) + penalty / 2.0)

        def derivatives(votes: Floats) -> tuple[Floats, Floats]:
            """Of the votes whose loss was asked last."""
            P = probabilities[voice]
            gradient = penalties * votes - total((hits - P) * degrees * self.weights)
            weighted = degrees * (self.weights * P)
            both = product(weighted, np.concatenate((degrees, degrees * P)).T)
            within, between = both[:, : len(voice)], both[:, len(voice) :]
            return gradient, np.where(same, within, 0.0) - between + np.diag(penalties)

        bound = np.repeat((True, False), (len(voices), n_classes))
        votes = minimum(np.concatenate(start), bound, loss, derivatives)
        value = loss(votes)
        return Fitted(votes[: len(voices)], votes[len(voices) :], probabilities, value)

    def pull(self, fitted: Fitted, voice: int) -> Pull:
        """Gradient and curvature by the score of a class."""
        P = fitted.scores[voice]
        return Pull(
            gradient=self.weights * ((self.classes == voice) - P),
            curvature=self.weights * (P * (1.0 - P)),
            allowed=self.sides(voice),
        )


@dataclass(frozen=True, eq=False)
class SquaredLoss(Loss):
    """Squared error of a constant plus the rules' contributions.

    The voices are (0,) for contributions of either sign, (1, -1) for those that are known to go up or down.

    Parameters
    ----------
    target : ndarray of float, shape (n_objects,)
    weights : ndarray of float, shape (n_objects,)
    """

    target: Floats
    weights: Floats

    def fitted(
        self, voices: Sequence[int], degrees: Floats, times: Sequence[int], start: Start
    ) -> Fitted:
        """The contributions that minimise the loss together with the best constant: exact ridge."""
        voice, share = np.asarray(voices, dtype=np.intp), self.weights / total(self.weights)
        sign = np.where(voice < 0, -1.0, 1.0)
        means = total(degrees * share)
        turned = (degrees - means[:, None]) * sign[:, None]
        mean = total(self.target * share)
        target = self.target - mean
        penalties = np.diag(self.penalty / np.asarray(times, dtype=np.float64))
        curvature = product(turned * self.weights, turned.T) + penalties
        slope = total(turned * self.weights * target)
        rest = float(total(self.weights * (target * target))) / 2.0

        def loss(sizes: Floats) -> float:
            return float(total(sizes * total(curvature * sizes) / 2.0 - slope * sizes)) + rest

        def derivatives(sizes: Floats) -> tuple[Floats, Floats]:
            return total(curvature * sizes) - slope, curvature

        sizes = minimum(sign * start.weights, voice != 0, loss, derivatives)
        left = target[None, :].copy()
        for size, degree in zip(sizes.tolist(), turned, strict=True):
            left -= size * degree
        base = np.array([mean - total(sign * sizes * means)])
        return Fitted(sign * sizes, base, left, loss(sizes))

    def pull(self, fitted: Fitted, voice: int) -> Pull:
        """What is left over, turned where a rule is to go down."""
        left = fitted.scores[0]
        return Pull(
            gradient=self.weights * (-left if voice < 0 else left),
            curvature=self.weights,
            signed=voice == 0,
            allowed=self.sides(voice),
        )

    def least_gain(self, fitted: Fitted) -> float:
        """What a rule must promise to be worth adding."""
        left = fitted.scores[0]
        return self.worth * float(total(self.weights * (left * left)) / total(self.weights))


def softmax(scores: Floats) -> Floats:
    """Scores of shape (n_classes, n_objects) as probabilities.

    Examples
    --------
    >>> softmax(np.array([[0.0, 2.0], [0.0, 2.0]]))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    powers = exp(scores - scores.max(axis=0))
    return np.asarray(powers / powers.sum(axis=0))

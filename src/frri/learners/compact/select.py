"""Selection of a few rules by how well they predict when the best rule alone decides.

Rules are added, swapped, removed and shortened one at a time, each time with the largest increase
of the objective. The objective is the sum over the samples of weight * (1 if correct + half the
margin, clipped to [-1, 1]), minus a small cost for every feature used.

The score of a rule for a sample is its precision times its unclipped degree, positive inside the
box and negative outside; a sample gets the class of its best score. The contribution of a sample is
an integer (`STEPS` if correct, up to half of that for the margin), as are weights, so that sums are
exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frri.learners.compact.candidates import BLOCK, build_shorter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frri._util import Floats, Positions
    from frri.learners.compact.candidates import BoxSamples, CandidateBoxes
    from frri.pareto.best_subset import BestSubset

# Steps per unit of the objective.
STEPS = 1 << 20
# Score of a class without rules.
NONE = -1e9


class RuleSelection:
    """Rules selected from candidates, to which shortened rules are appended.

    A feature used by a rule costs `price` times the sum of weights.
    """

    def __init__(self, samples: BoxSamples, candidates: CandidateBoxes, price: float) -> None:
        self.samples, self.candidates = samples, candidates
        self.rules: list[int] = []
        self._price = price * STEPS * samples.total

    def search(self, most: int) -> None:
        """Select at least one rule per class and at most `most` rules in total."""
        self.rules = self.best_of_each_class()
        self._add(most)
        self._swap()
        self._trim()
        self._add(most)

    def best_of_each_class(self) -> list[int]:
        """Return the rule of each class with the largest covered own minus other weight."""
        classes, balance = self.candidates.classes, self.candidates.balance
        groups = [np.flatnonzero(classes == c) for c in range(self.samples.n_classes)]
        return [int(mine[balance[mine].argmax()]) for mine in groups if len(mine)]

    def selected(self) -> CandidateBoxes:
        """Return the selected rules by class, those with the largest balance first."""
        classes, balance = self.candidates.classes, self.candidates.balance
        order = sorted(self.rules, key=lambda r: (classes[r], -balance[r], r))
        return self.candidates.take(order)

    def _add(self, most: int) -> None:
        """Add the rule with the largest objective while it increases."""
        while len(self.rules) < min(most, len(self.candidates.classes)):
            ahead = self._best_scores(self.rules)
            values = self._objectives(ahead, self.candidates)
            best = int(values.argmax())
            if not values[best] > self._objective(ahead):
                return
            self.rules.append(best)

    def _swap(self) -> None:
        """Replace each rule by the best candidate, or remove it if the objective does not fall."""
        classes, place = self.candidates.classes, 0
        while place < len(self.rules):
            rule = self.rules[place]
            others = [*self.rules[:place], *self.rules[place + 1 :]]
            ahead = self._best_scores(others)
            values = self._objectives(ahead, self.candidates)
            now, without = values[rule], self._objective(ahead)
            if classes[rule] not in classes[others]:  # the last one of its class
                without = -np.inf
                values = np.where(classes == classes[rule], values, -np.inf)
            best = int(values.argmax())
            if without >= now and without >= values[best]:
                self.rules.pop(place)
                continue
            if values[best] > now:
                self.rules[place] = best
            place += 1

    def _trim(self) -> None:
        """Remove sides of each rule, least harmful first, while the objective does not fall."""
        chosen, count = self.candidates.take(self.rules), len(self.candidates.classes)
        shortened: list[CandidateBoxes] = []
        for place in range(len(self.rules)):
            others = np.arange(len(self.rules)) != place
            ahead = best_scores(self.samples, chosen.classes[others], chosen.scores[others])
            rule = chosen.take([place])
            (value,) = self._objectives(ahead, rule)
            while rule.types.any():
                shorter = build_shorter(self.samples, rule)
                values = self._objectives(ahead, shorter)
                best = int(values.argmax())
                if values[best] < value:
                    break
                rule, value = shorter.take([best]), values[best]
                self.rules[place] = count + len(shortened)
                shortened.append(rule)
            chosen.scores[place] = rule.scores[0]
        self.candidates = self.candidates.join(*shortened)

    def _best_scores(self, rules: list[int]) -> tuple[Floats, Floats]:
        scores = (self.candidates.scores[r] for r in rules)
        return best_scores(self.samples, self.candidates.classes[rules], scores)

    def _objective(self, ahead: tuple[Floats, Floats]) -> float:
        """Return the objective in steps, without the cost of features."""
        return float(_objective((ahead[0] - ahead[1]) * (STEPS / 2), self.samples.weights))

    def _objectives(self, ahead: tuple[Floats, Floats], rules: CandidateBoxes) -> Floats:
        """Return the objective with each of some rules added, minus the cost of its features."""
        own, other = ahead
        found = np.empty(len(rules.classes))
        step = max(1, BLOCK // max(1, rules.scores.shape[1]))
        for c in np.unique(rules.classes):
            # A rule raises the own scores of samples of its class, and the other scores of the
            # rest.
            mine = self.samples.classes == c
            raised, rest = np.where(mine, own, other), np.where(mine, other, own)
            signs = np.where(mine, STEPS / 2, -STEPS / 2)
            some = np.flatnonzero(rules.classes == c)
            for places in np.split(some, range(step, len(some), step)):
                margins = rules.scores[places]
                np.maximum(margins, raised, out=margins)
                margins -= rest
                margins *= signs
                found[places] = _objective(margins, self.samples.weights)
        return found - self._price * rules.used


def find_fewest_errors(
    samples: BoxSamples, candidates: CandidateBoxes, at_most: int, seconds: float
) -> BestSubset:
    """Return the selection of candidates with the fewest errors, with a proven bound."""
    from frri.pareto.best_subset import find_best_subsets  # noqa: PLC0415 - slow to import

    scores = candidates.scores
    # Ranks of scores, above 0: outside their boxes rules compete by distance.
    places = np.unique(scores, return_inverse=True)[1].reshape(scores.shape) + 1.0
    (found,) = find_best_subsets(
        places,
        candidates.classes,
        samples.classes,
        [at_most],
        weights=samples.weights,
        time_limit=seconds,
    )
    return found


def objective_fraction(samples: BoxSamples, classes: Positions, scores: Floats) -> float:
    """Return the objective of rules as a fraction of the sum of weights, without feature costs."""
    own, other = best_scores(samples, classes, scores)
    steps = _objective((own - other) * (STEPS / 2), samples.weights)
    return float(steps) / (STEPS * samples.total)


def error_fraction(samples: BoxSamples, classes: Positions, scores: Floats) -> float:
    """Return the weighted error of rules; of equal scores the first class wins."""
    best = np.full((samples.n_classes, len(samples.classes)), NONE)
    for own, row in zip(classes, scores, strict=True):
        np.maximum(best[own], row, out=best[own])
    missed = best.argmax(axis=0) != samples.classes
    return float(samples.weights[missed].sum() / samples.total)


def best_scores(
    samples: BoxSamples, classes: Positions, scores: Iterable[Floats]
) -> tuple[Floats, Floats]:
    """Return the best score of rules of each sample's own class, and of rules of other classes."""
    own, other = np.full((2, len(samples.classes)), NONE)
    for one, row in zip(classes, scores, strict=True):
        mine = samples.classes == one
        np.maximum(own, row, out=own, where=mine)
        np.maximum(other, row, out=other, where=~mine)
    return own, other


def _objective(margins: Floats, weights: Floats) -> Any:
    """Return the objective of margins given in half steps; overwrites them."""
    hits = (margins > 0.0) @ weights
    np.clip(margins, -STEPS / 2, STEPS / 2, out=margins)
    np.rint(margins, out=margins)
    return STEPS * hits + margins @ weights

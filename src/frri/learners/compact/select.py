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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frri.learners.compact.grow import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frri._util import Floats, Positions
    from frri.learners.compact.candidates import CandidatePool
    from frri.pareto.best_subset import BestSubset

# Steps per unit of the objective.
STEPS = 1 << 20
# Score of a class without rules.
NONE = -1e9


@dataclass(eq=False)
class RuleSelection:
    """Rules selected from a pool of candidates.

    Parameters
    ----------
    pool : CandidatePool
        Candidates; shortened rules are appended to it.
    price : float
        Cost of a feature used by a rule, as a fraction of the sum of weights.
    """

    pool: CandidatePool
    price: float

    def __post_init__(self) -> None:
        self.rules: list[int] = []
        self._price = self.price * STEPS * self.pool.total

    def search(self, most: int) -> None:
        """Select at least one rule per class and at most `most` rules in total."""
        self.rules = self.pool.best_of_each_class()
        self._add(most)
        self._swap()
        self._trim()
        self._add(most)

    def find_fewest_errors(self, n_candidates: int, at_most: int, seconds: float) -> BestSubset:
        """Return the best selection of the first candidates, with a proven bound."""
        from frri.pareto.best_subset import find_best_subsets  # noqa: PLC0415 - slow to import

        pool, scores = self.pool, self.pool.scores[:n_candidates]
        # Ranks of scores, above 0: outside their boxes rules compete by distance.
        places = np.unique(scores, return_inverse=True)[1].reshape(scores.shape) + 1.0
        (found,) = find_best_subsets(
            places,
            pool.classes[:n_candidates],
            pool.objects,
            [at_most],
            weights=pool.weights,
            time_limit=seconds,
        )
        return found

    def _add(self, most: int) -> None:
        """Add the rule with the largest objective while it increases."""
        while len(self.rules) < min(most, len(self.pool)):
            ahead = self._best_scores()
            now = self._now(ahead)
            values = self._objectives(*ahead)
            best = int(values.argmax())
            if not values[best] > now:
                return
            self.rules.append(best)

    def _swap(self) -> None:
        """Replace each rule by the best candidate, or remove it if the objective does not fall."""
        place = 0
        while place < len(self.rules):
            rule = self.rules[place]
            ahead = self._best_scores(without=place)
            values = self._objectives(*ahead)
            now = values[rule]
            if self._last_of_class(rule):
                gone = -np.inf
                values = np.where(self.pool.classes == self.pool.classes[rule], values, -np.inf)
            else:
                gone = self._now(ahead)
            best = int(values.argmax())
            if gone >= now and gone >= values[best]:
                self.rules.pop(place)
                continue
            if values[best] > now:
                self.rules[place] = best
            place += 1

    def _trim(self) -> None:
        """Remove sides of each rule, least harmful first, while the objective does not fall."""
        for place in range(len(self.rules)):
            while (shorter := self._shorter(place)) is not None:
                self.rules[place] = shorter

    def _shorter(self, place: int) -> int | None:
        """Return the rule without its least useful side, added to the pool, or None."""
        rule = self.rules[place]
        variants = self.pool.variants(rule)
        if not variants:
            return None
        ahead = self._best_scores(without=place)
        first = len(self.pool)
        self.pool.extend(rule, variants)
        values = self._objectives(*ahead, np.array([rule, *range(first, len(self.pool))]))
        best = int(values[1:].argmax())
        kept = values[1 + best] >= values[0]
        self.pool.keep_only(first, first + best if kept else None)
        return first if kept else None

    def _now(self, ahead: tuple[Floats, Floats]) -> float:
        """Return the objective in steps, without the cost of features."""
        return float(_objective(ahead[0] - ahead[1], self.pool.weights))

    def _best_scores(self, without: int = -1) -> tuple[Floats, Floats]:
        """Return the best score of each sample's own class, and of the other classes."""
        rules = [rule for place, rule in enumerate(self.rules) if place != without]
        return _best_scores(
            self.pool, self.pool.classes[rules], (self.pool.scores[r] for r in rules)
        )

    def _objectives(self, own: Floats, other: Floats, rules: Positions | None = None) -> Floats:
        """Return the objective with each candidate added, minus the cost of its features."""
        pool = self.pool
        scores, classes = pool.scores, pool.classes
        used = pool.used
        if rules is not None:
            scores, classes, used = scores[rules], classes[rules], used[rules]
        found = np.empty(len(scores))
        step = max(1, BLOCK // max(1, scores.shape[1]))
        for c in np.unique(classes):
            # A rule raises the own scores of samples of its class, and the other scores of the
            # rest.
            mine = pool.objects == c
            raised, rest = np.where(mine, own, other), np.where(mine, other, own)
            ahead = np.where(mine, STEPS / 2, -STEPS / 2)
            some = np.flatnonzero(classes == c)
            for places in np.split(some, range(step, len(some), step)):
                margins = scores[places]
                np.maximum(margins, raised, out=margins)
                margins -= rest
                margins *= ahead
                found[places] = _objective_of_steps(margins, pool.weights)
        return found - self._price * used

    def _last_of_class(self, rule: int) -> bool:
        classes = self.pool.classes
        return bool((classes[self.rules] == classes[rule]).sum() == 1)


def objective_fraction(pool: CandidatePool, classes: Positions, scores: Floats) -> float:
    """Return the objective of rules as a fraction of the sum of weights, without feature costs."""
    own, other = _best_scores(pool, classes, scores)
    return float(_objective(own - other, pool.weights)) / (STEPS * pool.total)


def error_fraction(pool: CandidatePool, classes: Positions, scores: Floats) -> float:
    """Return the weighted error of rules; of equal scores the first class wins."""
    best = np.full((pool.n_classes, len(pool.objects)), NONE)
    for own, row in zip(classes, scores, strict=True):
        np.maximum(best[own], row, out=best[own])
    missed = best.argmax(axis=0) != pool.objects
    return float(pool.weights[missed].sum() / pool.total)


def _objective(margins: Floats, weights: Floats) -> Any:
    """Return the objective of margins, in steps."""
    return _objective_of_steps(margins * (STEPS / 2), weights)


def _objective_of_steps(margins: Floats, weights: Floats) -> Any:
    """Return the objective of margins given in half steps; overwrites them."""
    hits = (margins > 0.0) @ weights
    np.clip(margins, -STEPS / 2, STEPS / 2, out=margins)
    np.rint(margins, out=margins)
    return STEPS * hits + margins @ weights


def _best_scores(
    pool: CandidatePool, classes: Positions, scores: Iterable[Floats]
) -> tuple[Floats, Floats]:
    own = np.full(len(pool.objects), NONE)
    other = np.full(len(pool.objects), NONE)
    for one, row in zip(classes, scores, strict=True):
        mine = pool.objects == one
        np.maximum(own, row, out=own, where=mine)
        np.maximum(other, row, out=other, where=~mine)
    return own, other

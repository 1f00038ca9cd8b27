"""Few rules out of many, chosen by what they are worth when the best rule alone decides.

Rules are added, swapped, dropped and trimmed one at a time, each time the change that is worth most. What a
choice is worth: every object counts its weight times (1 for a hit + half its margin, cut to -1 and 1), and
every attribute used costs a little.

The score of a rule for an object is its precision times the uncut degree, above 0 inside the box and
below it outside; an object goes to the class of its best score. What an object is worth is a whole number
(`STEPS` for a hit, and up to half of that for the margin), and so are weights: sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frri.learners.compact._sides import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frri._util import Floats, Positions
    from frri.learners.compact._pool import Pool
    from frri.pareto.best_subset import WinnerChoice

# How finely what an object is worth is counted.
STEPS = 1 << 20
# The score of a class without rules.
NONE = -1e9


@dataclass(eq=False)
class Choice:
    """Rules chosen from a pool, and what they are worth.

    Parameters
    ----------
    pool : Pool
        Trimmed rules are added to it at the end.
    price : float
        What an attribute used costs, as a share of all weights.
    """

    pool: Pool
    price: float

    def __post_init__(self) -> None:
        self.rules: list[int] = []
        self._price = self.price * STEPS * self.pool.total

    def search(self, most: int) -> None:
        """At least one rule of each class, at most so many in all; added, then gone through once."""
        self.rules = self.pool.best_of_each_class()
        self._add(most)
        self._swap()
        self._trim()
        self._add(most)

    def most_hits(self, n_candidates: int, at_most: int, seconds: float) -> WinnerChoice:
        """Of the first rules of the pool the best few if only hits counted, and what is proved about it."""
        from frri.pareto.best_subset import fewest_errors  # noqa: PLC0415 - slow to import, and few ask for it

        pool, scores = self.pool, self.pool.scores[:n_candidates]
        # Scores in their order, above 0: outside their boxes rules compete by how near they are.
        places = np.unique(scores, return_inverse=True)[1].reshape(scores.shape) + 1.0
        (found,) = fewest_errors(
            places,
            pool.classes[:n_candidates],
            pool.objects,
            [at_most],
            weights=pool.weights,
            time_limit=seconds,
        )
        return found

    def _add(self, most: int) -> None:
        """The rule that is worth most, as long as that is more than nothing."""
        while len(self.rules) < min(most, len(self.pool)):
            ahead = self._ahead()
            now = self._now(ahead)
            values = self._worths(*ahead)
            best = int(values.argmax())
            if not values[best] > now:
                return
            self.rules.append(best)

    def _swap(self) -> None:
        """For each rule the best replacement, or none if nothing is lost without it."""
        place = 0
        while place < len(self.rules):
            rule = self.rules[place]
            ahead = self._ahead(without=place)
            values = self._worths(*ahead)
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
        """From each rule the side that harms least, as long as nothing is lost without it."""
        for place in range(len(self.rules)):
            while (shorter := self._shorter(place)) is not None:
                self.rules[place] = shorter

    def _shorter(self, place: int) -> int | None:
        """The rule with one side less, if that is worth no less; it joins the pool."""
        rule = self.rules[place]
        variants = self.pool.variants(rule)
        if not variants:
            return None
        ahead = self._ahead(without=place)
        first = len(self.pool)
        self.pool.extend(rule, variants)
        values = self._worths(*ahead, np.array([rule, *range(first, len(self.pool))]))
        best = int(values[1:].argmax())
        kept = values[1 + best] >= values[0]
        self.pool.keep_only(first, first + best if kept else None)
        return first if kept else None

    def _now(self, ahead: tuple[Floats, Floats]) -> float:
        """What the choice is worth, in steps."""
        return float(_worth(ahead[0] - ahead[1], self.pool.weights))

    def _ahead(self, without: int = -1) -> tuple[Floats, Floats]:
        """The best score of each object's own class, and of the others."""
        rules = [rule for place, rule in enumerate(self.rules) if place != without]
        return _ahead(self.pool, self.pool.classes[rules], (self.pool.scores[r] for r in rules))

    def _worths(self, own: Floats, other: Floats, rules: Positions | None = None) -> Floats:
        """What the choice would be worth with each of the rules, less what its attributes cost."""
        pool = self.pool
        scores, classes = pool.scores, pool.classes
        used = pool.used
        if rules is not None:
            scores, classes, used = scores[rules], classes[rules], used[rules]
        found = np.empty(len(scores))
        step = max(1, BLOCK // max(1, scores.shape[1]))
        for c in np.unique(classes):
            # A rule raises the own scores of the objects of its class, and the others' of the others.
            mine = pool.objects == c
            raised, rest = np.where(mine, own, other), np.where(mine, other, own)
            ahead = np.where(mine, STEPS / 2, -STEPS / 2)
            some = np.flatnonzero(classes == c)
            for places in np.split(some, range(step, len(some), step)):
                margins = scores[places]
                np.maximum(margins, raised, out=margins)
                margins -= rest
                margins *= ahead
                found[places] = _worth_of_steps(margins, pool.weights)
        return found - self._price * used

    def _last_of_class(self, rule: int) -> bool:
        classes = self.pool.classes
        return bool((classes[self.rules] == classes[rule]).sum() == 1)


def share_worth(pool: Pool, classes: Positions, scores: Floats) -> float:
    """What rules of these scores are worth, as a share of the weights, without what attributes cost."""
    own, other = _ahead(pool, classes, scores)
    return float(_worth(own - other, pool.weights)) / (STEPS * pool.total)


def share_wrong(pool: Pool, classes: Positions, scores: Floats) -> float:
    """The share of objects, by weight, that rules decide wrongly; of equal scores the first class."""
    best = np.full((pool.n_classes, len(pool.objects)), NONE)
    for own, row in zip(classes, scores, strict=True):
        np.maximum(best[own], row, out=best[own])
    missed = best.argmax(axis=0) != pool.objects
    return float(pool.weights[missed].sum() / pool.total)


def _worth(margins: Floats, weights: Floats) -> Any:
    """What objects are worth together whose own class is ahead by so much."""
    return _worth_of_steps(margins * (STEPS / 2), weights)


def _worth_of_steps(margins: Floats, weights: Floats) -> Any:
    """The same of margins in steps, which are used up."""
    hits = (margins > 0.0) @ weights
    np.clip(margins, -STEPS / 2, STEPS / 2, out=margins)
    np.rint(margins, out=margins)
    return STEPS * hits + margins @ weights


def _ahead(pool: Pool, classes: Positions, scores: Iterable[Floats]) -> tuple[Floats, Floats]:
    own = np.full(len(pool.objects), NONE)
    other = np.full(len(pool.objects), NONE)
    for one, row in zip(classes, scores, strict=True):
        mine = pool.objects == one
        np.maximum(own, row, out=own, where=mine)
        np.maximum(other, row, out=other, where=~mine)
    return own, other

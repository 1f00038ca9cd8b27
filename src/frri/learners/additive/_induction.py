"""Adding rules one at a time, all weights fitted anew after each, and going through them again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frri.learners.additive._growing import EQUAL
from frri.learners.additive._losses import Start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from frri.learners.additive._growing import Search, SoftRule
    from frri.learners.additive._losses import Fitted, Loss

# Rules of smaller weight than this say nothing.
SILENT = 1e-6
# How many additions there are at most for every rule allowed, those of rules that are there already counted.
AGAIN = 2


class Spoken(NamedTuple):
    """A rule, the score to which it adds, and how often it was added."""

    voice: int
    rule: SoftRule
    times: int = 1

    def same(self, other: Spoken) -> bool:
        """Whether two rules say the same."""
        return self.voice == other.voice and set(self.rule.tests) == set(other.rule.tests)


class Additive(NamedTuple):
    """Rules, their weights, and what they make of the training objects."""

    rules: tuple[Spoken, ...]
    fitted: Fitted


@dataclass(frozen=True, eq=False)
class Induction:
    """Stage-wise induction of rules for a loss.

    A rule that is added again is not a further rule: its weight gets cheaper, as if it were shared
    among so many equal rules.

    Parameters
    ----------
    search : Search
    loss : Loss
    max_rules : int
        Rules whose weight falls to 0 later count as well.
    refine : int
        How often the rules are gone through again.
    least : callable, optional
        What a rule of a voice must cover, degrees added up, to be added; by default nothing.
    again : int
        How many additions there are at most for every rule allowed.
    """

    search: Search
    loss: Loss
    max_rules: int
    refine: int = 0
    least: Callable[[int], float] = lambda _: 0.0
    again: int = AGAIN

    def run(self) -> Additive:
        """Rules that have a weight."""
        return next(runs([self]))

    def empty(self) -> Additive:
        """No rules."""
        return self._model((), self.loss.start)

    def finished(self, model: Additive) -> Additive:
        """The rules that have a weight, after they have been gone through again."""
        for _ in range(self.refine):
            model = self.extended(self._revised(model))
        heard = np.abs(model.fitted.weights) >= SILENT
        if heard.all():
            return model
        kept = tuple(spoken for spoken, loud in zip(model.rules, heard, strict=True) if loud)
        return self._model(kept, Start(model.fitted.weights[heard], model.fitted.base))

    def _model(self, rules: tuple[Spoken, ...], start: Start) -> Additive:
        """The rules with the weights that suit them best."""
        degrees = self.search.stacked([spoken.rule for spoken in rules])
        voices, times = [spoken.voice for spoken in rules], [spoken.times for spoken in rules]
        return Additive(rules, self.loss.fitted(voices, degrees, times, start))

    def extended(self, model: Additive) -> Additive:
        """Add the best rule of all voices, of equal ones the first, while it is worth it."""
        while len(model.rules) < self.max_rules and _additions(model) < self.again * self.max_rules:
            best_of_voices = self._best(model.fitted, self.loss.voices)
            found = [spoken for spoken in best_of_voices if self._covers_enough(spoken)]
            most = max((spoken.rule.gain for spoken in found), default=0.0)
            if most <= 0.0 or most < self.loss.least_gain(model.fitted):
                break
            best = next(s for s in found if s.rule.gain >= most * (1.0 - EQUAL))
            rules, weights = list(model.rules), model.fitted.weights
            old = next((k for k, spoken in enumerate(rules) if spoken.same(best)), None)
            if old is None:
                rules, weights = [*rules, best], np.append(weights, 0.0)
            else:
                rules[old] = rules[old]._replace(times=rules[old].times + 1)
            model = self._model(tuple(rules), Start(weights, model.fitted.base))
        return model

    def _best(self, fitted: Fitted, voices: tuple[int, ...]) -> list[Spoken]:
        """For each of some voices the best rule."""
        rules = self.search.best_rules([self.loss.pull(fitted, voice) for voice in voices])
        return [Spoken(voice, rule) for voice, rule in zip(voices, rules, strict=True)]

    def _covers_enough(self, spoken: Spoken) -> bool:
        least = self.least(spoken.voice)
        return not least or self.search.covered(spoken.rule, spoken.voice) >= least

    def _revised(self, model: Additive) -> Additive:
        """Keep, delete or replace each rule, oldest first, by the loss plus a price for every rule."""
        price = self.loss.least_gain(model.fitted)
        place = 0
        while place < len(model.rules):
            weights, base = model.fitted.weights, model.fitted.base
            before, after = model.rules[:place], model.rules[place + 1 :]
            shorter = self._model((*before, *after), Start(np.delete(weights, place), base))
            old = model.rules[place]
            new = self._best(shorter.fitted, (old.voice,))[0]._replace(times=old.times)
            known = any(spoken.same(new) for spoken in shorter.rules)
            changed = model
            if not known and self._covers_enough(new):
                changed = self._model((*before, new, *after), Start(weights, base))
            value = min(model.fitted.value, changed.fitted.value)
            if shorter.fitted.value <= value + price:
                model = shorter
                continue
            if changed.fitted.value < model.fitted.value * (1.0 - EQUAL):
                model = changed
            place += 1
        return model


def runs(inductions: Iterable[Induction]) -> Iterator[Additive]:
    """What each of several inductions finds, as if it were run alone.

    They differ only in the number of rules allowed, ascending, and in what a rule must promise,
    descending: what one has added is the beginning of the next.
    """
    model = None
    for induction in inductions:
        model = induction.extended(induction.empty() if model is None else model)
        yield induction.finished(model)


def _additions(model: Additive) -> int:
    return sum(spoken.times for spoken in model.rules)

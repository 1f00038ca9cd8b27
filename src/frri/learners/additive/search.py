"""Search for rules: one rule by its gain, then rule after rule with all weights fitted again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frri.learners.additive._bin_kernels import SUMS
from frri.learners.additive.columns import ONE_OF, SoftTest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from frri._util import Floats
    from frri.learners.additive.blocks import SampleBlocks, Tests
    from frri.learners.additive.columns import SoftColumns
    from frri.learners.additive.losses import Fitted, Gradient, SoftmaxLoss

    Steps = Generator[Tests, "Scanned", "Scanned"]

# Gains whose relative difference is smaller are equal: the first one counts.
EQUAL = 1e-9
# Factor by which a condition must raise the gain, and the membership that a rule must keep.
LEAST_FACTOR = 1.15
LEAST_MEMBERSHIP = 2.0
# How often the conditions of a rule are replaced in turn.
POLISHES = 2
# Smaller curvatures do not order categories.
FLAT = 1e-12
# Rules of smaller weight are dropped.
LEAST_WEIGHT = 1e-6
# Additions per rule allowed, those of rules that are there already counted.
ADDITIONS = 2


class Found(NamedTuple):
    """A condition and the gain of a rule that has it as well."""

    test: SoftTest
    gain: float


class Scanned(NamedTuple):
    """The gain of a rule, and its best further condition."""

    gain: float
    best: Found | None

    @property
    def worth_adding(self) -> bool:
        """Whether the condition raises the gain enough."""
        return self.best is not None and self.best.gain >= LEAST_FACTOR * self.gain


class SoftRule(NamedTuple):
    """Conditions and the gain they promise."""

    tests: Tests
    gain: float


@dataclass(frozen=True, eq=False)
class RuleSearch:
    """Search for the rule that lowers a loss most.

    Parameters
    ----------
    columns : SoftColumns
    blocks : SampleBlocks
    weight : float
        Sum of the sample weights.
    penalty : float
        Penalty of a squared weight of a rule: lambda.
    max_conditions : int
    centered : bool
        Whether a constant is fitted together with the rules, so that only the deviation of a rule
        from its mean counts.
    curved : bool
        Whether a side of an attribute may be bounded again, by another threshold: the product of
        two ramps is a curve.
    """

    columns: SoftColumns
    blocks: SampleBlocks
    weight: float
    penalty: float
    max_conditions: int
    centered: bool = False
    curved: bool = False

    def best_rules(self, gradients: Sequence[Gradient]) -> list[SoftRule]:
        """Grow and polish a rule for each gradient; all of them advance one step at a time."""
        found: dict[int, SoftRule] = {}
        searches = [self._grow() for _ in gradients]
        asked = {k: next(search) for k, search in enumerate(searches)}
        while asked:
            answers = self._scan(list(asked.values()), [gradients[k] for k in asked])
            for k, answer in zip(list(asked), answers, strict=True):
                try:
                    asked[k] = searches[k].send(answer)
                except StopIteration as end:
                    found[k] = end.value
                    del asked[k]
        return [found[k] for k in range(len(gradients))]

    def _grow(self) -> Generator[Tests, Scanned, SoftRule]:
        """Add the best condition while it is worth it, then replace conditions.

        Yields rules to be scanned and receives the answers.
        """
        known: dict[frozenset[SoftTest], Scanned] = {}
        scanned = yield from _scanned_once((), known)
        rule = SoftRule((), scanned.gain)
        while len(rule.tests) < self.max_conditions:
            scanned = yield from _scanned_once(rule.tests, known)
            if not scanned._replace(gain=rule.gain).worth_adding:
                break
            assert scanned.best is not None  # noqa: S101 - it is worth adding
            rule = SoftRule((*rule.tests, scanned.best.test), scanned.best.gain)
        for _ in range(POLISHES):
            before = rule.tests
            for test in before:
                others = tuple(other for other in rule.tests if other != test)
                scanned = yield from _scanned_once(others, known)
                if scanned.worth_adding and scanned.best is not None:
                    new, gain = scanned.best
                    replaced = tuple(new if other == test else other for other in rule.tests)
                    rule = SoftRule(replaced, gain)
                else:
                    rule = SoftRule(others, scanned.gain)
            if rule.tests == before:
                break
        return rule

    def _scan(self, rules: Sequence[Tests], gradients: Sequence[Gradient]) -> list[Scanned]:
        """Return the gain and the best further condition of each rule.

        Of equally good conditions that of the first attribute, value and side counts.
        """
        asked = tuple((g.voice, tests) for tests, g in zip(rules, gradients, strict=True))
        answer = self.blocks.added("scan", gradients[0].model, asked)
        n_rules, n_ordered = len(rules), len(self.columns.ordered)
        end = 3 * n_rules
        gains = self._gains(answer[:end].reshape(3, n_rules), gradients[0].signed, least=-np.inf)
        found: list[list[Found]] = [[] for _ in rules]
        start, end = end, end + SUMS * n_rules * n_ordered * self.columns.n_bins
        if n_ordered:
            sums = answer[start:end].reshape(SUMS, n_rules, n_ordered, self.columns.n_bins)
            self._find_ordered(rules, gradients, self.columns.from_bins(sums), found)
        nominal = zip(
            self.columns.nominal.tolist(), self.columns.n_categories.tolist(), strict=True
        )
        for attribute, count in nominal:
            start, end = end, end + 3 * n_rules * count
            some = answer[start:end].reshape(3, n_rules, count)
            for r, (candidates, tests) in enumerate(zip(found, rules, strict=True)):
                if all(test.attribute != attribute for test in tests):
                    best = self._best_categories(attribute, gradients[r], some[:, r])
                    candidates.extend(best)
        pairs = zip(gains.tolist(), found, strict=True)
        return [Scanned(gain, _first_best(candidates)) for gain, candidates in pairs]

    def _find_ordered(
        self,
        rules: Sequence[Tests],
        gradients: Sequence[Gradient],
        scanned: Floats,
        found: list[list[Found]],
    ) -> None:
        """Add the best threshold of all ordered attributes to what was found for each rule."""
        ordered = self.columns.ordered
        gains = self._gains(scanned, gradients[0].signed)
        for tests, gradient, own in zip(rules, gradients, gains, strict=True):
            for test in tests:
                if test.side != ONE_OF:
                    used = test.which if self.curved else slice(None)
                    own[ordered.searchsorted(test.attribute), used, test.side] = 0.0
            if gradient.allowed is not None:
                np.multiply(own, gradient.allowed[ordered][:, None, :], out=own)
        flat = gains.reshape(len(rules), -1)
        best = flat.max(axis=1)
        first = (flat >= (best * (1.0 - EQUAL))[:, None]).argmax(axis=1).tolist()
        for candidates, most, place, row in zip(found, best.tolist(), first, flat, strict=True):
            if most > 0.0:
                k, rest = divmod(place, 2 * self.columns.thresholds.shape[1])
                test = SoftTest(int(ordered[k]), rest % 2, rest // 2)
                candidates.append(Found(test, float(row[place])))

    def _best_categories(
        self, attribute: int, gradient: Gradient, three: Floats
    ) -> Iterator[Found]:
        """Yield the best set of categories of a nominal attribute, from their G, H and M.

        In the order of gradient by curvature the best set is a beginning, or an end where the rule
        may have a negative weight.
        """
        seen = np.flatnonzero(three[2])
        ratios = three[0, seen] / np.maximum(three[1, seen], FLAT)
        order = seen[np.argsort(-ratios, kind="stable")]
        for direction in (order, order[::-1]) if gradient.signed else (order,):
            gains = self._gains(three[:, direction[:-1]].cumsum(axis=1), gradient.signed)
            best = float(gains.max(initial=0.0))
            if best > 0.0:
                last = int((gains >= best * (1.0 - EQUAL)).argmax())
                chosen = tuple(sorted(direction[: last + 1].tolist()))
                yield Found(SoftTest(attribute, ONE_OF, categories=chosen), float(gains[last]))

    def _gains(self, three: Floats, signed: bool, least: float | None = None) -> Floats:
        """Return the decrease of the loss that rules promise, from G, H and M; 0 if not allowed."""
        G, H, M = three
        least = LEAST_MEMBERSHIP * (1.0 - EQUAL) if least is None else least
        if self.centered:
            H = H - M * M / self.weight
        fits = (least <= M) & (signed | (G > 0.0))
        return np.where(fits, G * G / (2.0 * (H + self.penalty)), 0.0)


def _scanned_once(tests: Tests, known: dict[frozenset[SoftTest], Scanned]) -> Steps:
    """Ask about a rule, unless that has been done."""
    key = frozenset(tests)
    if key not in known:
        known[key] = yield tests
    return known[key]


def _first_best(found: Sequence[Found]) -> Found | None:
    """Return the condition of greatest gain, of equal ones that of the first attribute."""
    if not found:
        return None
    best = max(one.gain for one in found) * (1.0 - EQUAL)
    return min((one for one in found if one.gain >= best), key=lambda one: one.test.attribute)


class AddedRule(NamedTuple):
    """A rule, the score to which it adds, and how often it was added."""

    voice: int
    rule: SoftRule
    times: int = 1

    def equals(self, other: AddedRule) -> bool:
        """Return whether two rules have the same conditions and voice."""
        return self.voice == other.voice and set(self.rule.tests) == set(other.rule.tests)


class AdditiveRules(NamedTuple):
    """Rules and their weights."""

    rules: tuple[AddedRule, ...]
    fitted: Fitted


@dataclass(frozen=True, eq=False)
class StagewiseInduction:
    """Add rules one at a time and fit all weights again after each.

    A rule that is added again is not a further rule: the penalty of its weight gets smaller, as if
    the weight were divided among several equal rules.

    Parameters
    ----------
    search : RuleSearch
    loss : SoftmaxLoss
    max_rules : int
        Maximum number of rules. Rules whose weight falls to 0 later count as well.
    refine : int
        How often the rules are revised in turn.
    least : callable, optional
        Weight that a rule of a voice must cover, times degrees; by default nothing.
    additions : int
        Maximum number of additions per rule allowed.
    """

    search: RuleSearch
    loss: SoftmaxLoss
    max_rules: int
    refine: int = 0
    least: Callable[[int], float] = lambda _: 0.0
    additions: int = ADDITIONS

    def run(self) -> AdditiveRules:
        """Return the rules that have a weight."""
        return next(run_all([self]))

    def empty(self) -> AdditiveRules:
        """Return a model without rules."""
        return AdditiveRules((), self.loss.fit((), (), ()))

    def finish(self, model: AdditiveRules) -> AdditiveRules:
        """Revise the rules and drop those without a weight."""
        for _ in range(self.refine):
            model = self.extend(self._revise(model))
        kept = np.abs(model.fitted.weights) >= LEAST_WEIGHT
        if kept.all():
            return model
        rules = tuple(rule for rule, heavy in zip(model.rules, kept, strict=True) if heavy)
        return self._fit(rules, model.fitted.weights[kept], model.fitted.base)

    def extend(self, model: AdditiveRules) -> AdditiveRules:
        """Add the best rule of all voices, of equal ones the first, while it is worth it."""
        while len(model.rules) < self.max_rules and self._may_add(model):
            found = [
                rule for rule in self._best(model, self.loss.voices) if self._covers_enough(rule)
            ]
            most = max((added.rule.gain for added in found), default=0.0)
            if most <= 0.0 or most < self.loss.least_gain(model.fitted):
                break
            best = next(added for added in found if added.rule.gain >= most * (1.0 - EQUAL))
            rules, weights = list(model.rules), model.fitted.weights
            old = next((k for k, rule in enumerate(rules) if rule.equals(best)), None)
            if old is None:
                rules, weights = [*rules, best], np.append(weights, 0.0)
            else:
                rules[old] = rules[old]._replace(times=rules[old].times + 1)
            model = self._fit(tuple(rules), weights, model.fitted.base)
        return model

    def _may_add(self, model: AdditiveRules) -> bool:
        return sum(added.times for added in model.rules) < self.additions * self.max_rules

    def _fit(self, rules: tuple[AddedRule, ...], weights: Floats, base: Floats) -> AdditiveRules:
        """Fit the weights of rules, from a guess."""
        voices, times = [added.voice for added in rules], [added.times for added in rules]
        tests = [added.rule.tests for added in rules]
        return AdditiveRules(rules, self.loss.fit(voices, tests, times, (weights, base)))

    def _best(self, model: AdditiveRules, voices: tuple[int, ...]) -> list[AddedRule]:
        """Return the best rule for each of some voices."""
        gradients = [self.loss.gradient(model.fitted, voice) for voice in voices]
        rules = self.search.best_rules(gradients)
        return [AddedRule(voice, rule) for voice, rule in zip(voices, rules, strict=True)]

    def _covers_enough(self, added: AddedRule) -> bool:
        least = self.least(added.voice)
        if not least:
            return True
        return bool(self.search.blocks.added("covered", added.rule.tests, added.voice)[0] >= least)

    def _revise(self, model: AdditiveRules) -> AdditiveRules:
        """Keep, delete or replace each rule, oldest first, by loss plus a price per rule."""
        price = self.loss.least_gain(model.fitted)
        place = 0
        while place < len(model.rules):
            weights, base = model.fitted.weights, model.fitted.base
            before, after = model.rules[:place], model.rules[place + 1 :]
            shorter = self._fit((*before, *after), np.delete(weights, place), base)
            old = model.rules[place]
            new = self._best(shorter, (old.voice,))[0]._replace(times=old.times)
            is_known = any(rule.equals(new) for rule in shorter.rules)
            changed = model
            if not is_known and self._covers_enough(new):
                changed = self._fit((*before, new, *after), weights, base)
            value = min(model.fitted.value, changed.fitted.value)
            if shorter.fitted.value <= value + price:
                model = shorter
                continue
            if changed.fitted.value < model.fitted.value * (1.0 - EQUAL):
                model = changed
            place += 1
        return model


def run_all(inductions: Iterable[StagewiseInduction]) -> Iterator[AdditiveRules]:
    """Yield what each of several inductions finds, as if it were run alone.

    They differ only in the number of rules allowed, ascending, and in the gain that a rule must
    promise, descending: the rules of one are the beginning of the next.
    """
    model = None
    for induction in inductions:
        model = induction.extend(induction.empty() if model is None else model)
        yield induction.finish(model)

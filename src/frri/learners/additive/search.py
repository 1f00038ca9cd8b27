"""Search for additive rules: rules are added one at a time, and all weights are fitted after each.

The gain of a rule is the decrease of the loss that a Newton step for its weight promises,
G^2 / (2 (H + lambda)); see `frri.learners.additive.columns` for G and H.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frri._reproducible import solve, total
from frri._util import Flags, Floats
from frri.learners.additive.blocks import AdditiveModel, SampleBlocks, Tests
from frri.learners.additive.columns import ONE_OF, SUMS, SoftColumns, SoftTest

Evaluation = tuple[float, Floats, Floats]
Candidate = tuple[float, SoftTest]

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
# Penalty of squared bases of classes: it decides between equivalent ones.
BASE_PENALTY = 1e-3
# A Newton step that promises a smaller decrease, relative to the loss, is the last one.
TOLERANCE = 1e-13
MAX_STEPS = 100
# Fraction of the promised decrease that a step must reach, and how often it is halved until it
# does.
SUFFICIENT = 1e-4
HALVINGS = 40


class FoundRule(NamedTuple):
    """The score to which a rule adds, its conditions, its gain, and how often it was added."""

    voice: int
    tests: Tests
    gain: float
    times: int = 1

    def equals(self, other: "FoundRule") -> bool:
        """Return whether two rules have the same conditions and voice."""
        return self.voice == other.voice and set(self.tests) == set(other.tests)


class FittedRules(NamedTuple):
    """Rules with the weights that minimize the loss, and the loss with and without the penalty."""

    rules: tuple[FoundRule, ...]
    weights: Floats
    base: Floats
    model: AdditiveModel
    penalized_loss: float
    loss: float


class Scanned(NamedTuple):
    """The gain of a rule, and the best gain with one more condition, and that condition."""

    gain: float
    best: float = 0.0
    test: SoftTest | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class StagewiseInduction:
    """Add rules one at a time and fit all weights again after each.

    A rule that is added again is not a further rule: the penalty of its weight gets smaller, as if
    the weight were divided among several equal rules.

    With the squared error a constant is fitted together with the rules, so that only the deviation
    of a rule from its mean counts, and a side of a feature may be bounded again by another
    threshold, because the product of two ramps is a curve.
    """

    columns: SoftColumns
    blocks: SampleBlocks
    # Scores to which rules may add, in the order in which equal gains are decided.
    voices: tuple[int, ...]
    # Penalty of a squared weight (lambda), and sum of the sample weights.
    penalty: float
    weight: float
    # Usual number of rules, and gain that a rule must promise, in regression in variances of the
    # residuals; less in proportion where more rules are allowed.
    usual: int
    least_gain: float
    max_conditions: int
    # How often the rules are revised in turn, and how often a rule may be added on average.
    refine: int = 0
    additions: int = 2
    # By voice: weight that a rule must cover, times degrees, and sides of features it may use.
    least_cover: Mapping[int, float] | None = None
    allowed: Mapping[int, Flags] | None = None
    # Whether weights may have either sign, and whether the loss is the squared error.
    signed: bool = False
    squared: bool = False

    def path(self, sizes: Sequence[int]) -> Iterator[FittedRules]:
        """Yield the rules for each of the ascending maximum sizes; each extends the one before."""
        n_scores = 1 if self.squared else len(self.voices)
        model = self.fit((), np.empty(0), np.zeros(n_scores))
        for most in sizes:
            model = self._extend(model, most)
            yield self._finish(model, most)

    def fit(self, rules: tuple[FoundRule, ...], weights: Floats, base: Floats) -> FittedRules:
        """Find the weights and bases that minimize the loss with its penalty, from a guess."""
        voices, tests = tuple(rule.voice for rule in rules), tuple(rule.tests for rule in rules)
        signs = np.array([-1.0 if voice < 0 else 1.0 for voice in voices])
        times = np.array([rule.times for rule in rules], dtype=np.float64)
        base_penalty = 0.0 if self.squared else BASE_PENALTY
        penalties = np.append(self.penalty / times, np.full(len(base), base_penalty))
        n_rules = len(rules)

        def model(x: Floats) -> AdditiveModel:
            listed = tuple(x.tolist())
            return AdditiveModel(voices, tests, listed[:n_rules], listed[n_rules:])

        def evaluate(x: Floats) -> Evaluation:
            answer = self.blocks.added("evaluate", model(x))
            first, second = np.split(answer[1:], [len(x)])
            penalty = total(penalties * (x * x)) / 2.0
            curvature = second.reshape(len(x), len(x)) + np.diag(penalties)
            return float(answer[0] + penalty), penalties * x - first, curvature

        start = np.concatenate((signs * weights, base))
        bounded = np.arange(len(start)) < (0 if self.signed else n_rules)
        x = minimize(start, bounded, evaluate)
        value = evaluate(x)[0]
        loss = value - float(total(penalties * (x * x))) / 2.0
        return FittedRules(rules, signs * x[:n_rules], x[n_rules:], model(x), value, loss)

    def _extend(self, model: FittedRules, most: int) -> FittedRules:
        """Add the best rule of all voices, of equal ones the first, while it is worth it."""
        while len(model.rules) < most:
            if sum(rule.times for rule in model.rules) >= self.additions * most:
                break
            found = [*filter(self._covers_enough, self.best_rules(model.model, self.voices))]
            gain = max((rule.gain for rule in found), default=0.0)
            if gain <= 0.0 or gain < self._price(model, most):
                break
            best = next(rule for rule in found if rule.gain >= gain * (1.0 - EQUAL))
            rules, weights = list(model.rules), model.weights
            old = next((k for k, rule in enumerate(rules) if rule.equals(best)), None)
            if old is None:
                rules, weights = [*rules, best], np.append(weights, 0.0)
            else:
                rules[old] = rules[old]._replace(times=rules[old].times + 1)
            model = self.fit(tuple(rules), weights, model.base)
        return model

    def _price(self, model: FittedRules, most: int) -> float:
        """Return the gain that a rule must promise to be added."""
        least = self.least_gain * min(1.0, self.usual / most)
        return least * 2.0 * model.loss / self.weight if self.squared else least

    def _covers_enough(self, rule: FoundRule) -> bool:
        if self.least_cover is None or not self.least_cover[rule.voice]:
            return True
        covered = self.blocks.added("covered", rule.tests, rule.voice)[0]
        return bool(covered >= self.least_cover[rule.voice])

    def _finish(self, model: FittedRules, most: int) -> FittedRules:
        """Revise the rules and drop those without a weight."""
        for _ in range(self.refine):
            model = self._extend(self._revise(model, most), most)
        kept = np.abs(model.weights) >= LEAST_WEIGHT
        if kept.all():
            return model
        rules = tuple(rule for rule, heavy in zip(model.rules, kept, strict=True) if heavy)
        return self.fit(rules, model.weights[kept], model.base)

    def _revise(self, model: FittedRules, most: int) -> FittedRules:
        """Keep, delete or replace each rule, oldest first, by loss plus a price per rule."""
        price = self._price(model, most)
        place = 0
        while place < len(model.rules):
            weights, base = model.weights, model.base
            before, old, after = (model.rules[:place], model.rules[place], model.rules[place + 1 :])
            shorter = self.fit((*before, *after), np.delete(weights, place), base)
            new = self.best_rules(shorter.model, (old.voice,))[0]._replace(times=old.times)
            is_known = any(rule.equals(new) for rule in shorter.rules)
            changed = model
            if not is_known and self._covers_enough(new):
                changed = self.fit((*before, new, *after), weights, base)
            if shorter.penalized_loss <= min(model.penalized_loss, changed.penalized_loss) + price:
                model = shorter
                continue
            if changed.penalized_loss < model.penalized_loss * (1.0 - EQUAL):
                model = changed
            place += 1
        return model

    def best_rules(self, model: AdditiveModel, voices: Sequence[int]) -> list[FoundRule]:
        """Grow and polish a rule for each voice; all of them advance one step at a time."""
        found: dict[int, FoundRule] = {}
        searches = {voice: self._grow(voice) for voice in voices}
        asked = {voice: next(search) for voice, search in searches.items()}
        while asked:
            for voice, answer in zip(list(asked), self._scan(model, asked), strict=True):
                try:
                    asked[voice] = searches[voice].send(answer)
                except StopIteration as end:
                    found[voice] = end.value
                    del asked[voice]
        return [found[voice] for voice in voices]

    def _grow(self, voice: int) -> Generator[Tests, Scanned, FoundRule]:
        """Add the best condition while it is worth it, then replace conditions.

        Yields rules to be scanned and receives the answers.
        """
        known: dict[frozenset[SoftTest], Scanned] = {}

        def scan(tests: Tests) -> Generator[Tests, Scanned, Scanned]:
            key = frozenset(tests)
            if key not in known:
                known[key] = yield tests
            return known[key]

        tests: Tests = ()
        gain = (yield from scan(tests)).gain
        while len(tests) < self.max_conditions:
            scanned = yield from scan(tests)
            if scanned.test is None or scanned.best < LEAST_FACTOR * gain:
                break
            tests, gain = (*tests, scanned.test), scanned.best
        for _ in range(POLISHES):
            before = tests
            for test in before:
                others = tuple(other for other in tests if other != test)
                scanned = yield from scan(others)
                new = scanned.test
                if new is None or scanned.best < LEAST_FACTOR * scanned.gain:
                    tests, gain = others, scanned.gain
                else:
                    tests = tuple(new if other == test else other for other in tests)
                    gain = scanned.best
            if tests == before:
                break
        return FoundRule(voice, tests, gain)

    def _scan(self, model: AdditiveModel, asked: Mapping[int, Tests]) -> list[Scanned]:
        """Return the gain and the best further condition of a rule of each voice.

        Of equally good conditions that of the first feature, threshold and side counts.
        """
        columns, n_rules, n_ordered = self.columns, len(asked), len(self.columns.ordered)
        answer = self.blocks.added("scan", model, tuple(asked.items()))
        parts = [3 * n_rules, SUMS * n_rules * n_ordered * columns.n_bins]
        parts += (3 * n_rules * columns.n_categories).tolist()
        whole, bins, *nominal = np.split(answer, np.cumsum(parts)[:-1])
        gains = self._gains(whole.reshape(3, n_rules), least=-np.inf)
        found: list[list[Candidate]] = [[] for _ in asked]
        if n_ordered:
            sums = bins.reshape(SUMS, n_rules, n_ordered, columns.n_bins)
            for candidates, best in zip(found, self._best_thresholds(asked, sums), strict=True):
                candidates.extend(best)
        for attribute, sums in zip(columns.nominal.tolist(), nominal, strict=True):
            own = sums.reshape(3, n_rules, -1).swapaxes(0, 1)
            for candidates, tests, three in zip(found, asked.values(), own, strict=True):
                if all(test.attribute != attribute for test in tests):
                    candidates.extend(self._best_categories(attribute, three))
        pairs = zip(gains.tolist(), found, strict=True)
        return [Scanned(gain, *_first_best(candidates)) for gain, candidates in pairs]

    def _best_thresholds(
        self, asked: Mapping[int, Tests], sums: Floats
    ) -> Iterator[list[Candidate]]:
        """Yield the best threshold of all ordered features for each rule, if there is one."""
        ordered = self.columns.ordered
        gains = self._gains(self.columns.from_bins(sums))
        for (voice, tests), own in zip(asked.items(), gains, strict=True):
            for test in tests:
                if test.side != ONE_OF:
                    used = test.which if self.squared else slice(None)
                    own[ordered.searchsorted(test.attribute), used, test.side] = 0.0
            if self.allowed is not None:
                np.multiply(own, self.allowed[voice][ordered][:, None, :], out=own)
            flat = own.ravel()
            best = flat.max()
            if best <= 0.0:
                yield []
                continue
            place = int((flat >= best * (1.0 - EQUAL)).argmax())
            k, which, side = np.unravel_index(place, own.shape)
            test = SoftTest(int(ordered[k]), int(side), int(which))
            yield [(float(flat[place]), test)]

    def _best_categories(self, attribute: int, three: Floats) -> Iterator[Candidate]:
        """Yield the best set of categories of a nominal feature, from their G, H and M.

        In the order of gradient by curvature the best set is a beginning, or an end where the rule
        may have a negative weight.
        """
        seen = np.flatnonzero(three[2])
        ratios = three[0, seen] / np.maximum(three[1, seen], FLAT)
        order = seen[np.argsort(-ratios, kind="stable")]
        for direction in (order, order[::-1]) if self.signed else (order,):
            gains = self._gains(three[:, direction[:-1]].cumsum(axis=1))
            best = float(gains.max(initial=0.0))
            if best > 0.0:
                last = int((gains >= best * (1.0 - EQUAL)).argmax())
                chosen = tuple(sorted(direction[: last + 1].tolist()))
                yield float(gains[last]), SoftTest(attribute, ONE_OF, categories=chosen)

    def _gains(self, three: Floats, least: float = LEAST_MEMBERSHIP * (1.0 - EQUAL)) -> Floats:
        """Return the decrease of the loss that rules promise, from G, H and M; 0 if not allowed."""
        G, H, M = three
        if self.squared:
            H = H - M * M / self.weight
        fits = (least <= M) & (self.signed | (G > 0.0))
        return np.where(fits, G * G / (2.0 * (H + self.penalty)), 0.0)


def _first_best(found: Sequence[Candidate]) -> tuple[float, SoftTest | None]:
    """Return the largest gain and its condition, of equal ones that of the first feature."""
    best = max((gain for gain, _ in found), default=0.0) * (1.0 - EQUAL)
    near = [one for one in found if one[0] >= best]
    return min(near, key=lambda one: one[1].attribute, default=(0.0, None))


def minimize(
    start: Floats, at_least_zero: Flags, evaluate: Callable[[Floats], Evaluation]
) -> Floats:
    """Minimize a strictly convex function by Newton's method, projected on the bounds.

    Weights that lie on their bound and would cross it rest for a step; the others take Newton's
    step, cut at the bounds and halved until the loss falls (Bertsekas 1982). `evaluate` returns the
    value, the gradient and the matrix of second derivatives.

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
    for _ in range(MAX_STEPS):
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

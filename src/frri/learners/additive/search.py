"""Search for additive rules: rules are added one at a time, and all weights are fitted after each.

The number of rules is cross-validated along the path: one path of rules without each fold.

The gain of a rule is the decrease of the loss that a Newton step for its weights promises, the sum
of G^2 / (2 (H + lambda)) over the scores; see `frri.learners.additive.columns` for G and H.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frri._compile import compiled
from frri._reproducible import log, snap, solve, total
from frri._util import Flags, Floats
from frri.learners.additive import columns as kernels
from frri.learners.additive.blocks import AdditiveModel, SampleBlocks, Tests
from frri.learners.additive.columns import ONE_OF, SoftColumns, SoftTest
from frri.learners.size_cv import Folds, SizePath

# Gains whose relative difference is smaller are equal: the first one counts. A price is paid by
# an equal gain.
EQUAL = 1e-9
# Factor by which a condition must raise the gain, and the membership that a rule must keep.
LEAST_FACTOR = 1.15
LEAST_MEMBERSHIP = 2.0 * (1.0 - EQUAL)
# How often the conditions of a rule are replaced in turn.
POLISHES = 2
# Scores at which the search for a rule looks: with more classes, those to which the best single
# condition matters most.
MAX_SCORES = 6
# Rules of smaller weight are dropped.
LEAST_WEIGHT = 1e-6
# Penalty of squared bases of classes: it decides between equivalent ones.
BASE_PENALTY = 1e-3
# Part of a Newton step that is taken if several scores are fitted at the same time, each as if the
# others were fixed: samples are between two classes (1/2 would be exact) or one and all others (1).
SEVERAL = 2.0 / 3.0
# A Newton step that promises a smaller decrease, relative to the loss, is the last one; while rules
# are added, the weights need not be exact. Steps treat all classes alike: equal gains stay equal.
TOLERANCE = 1e-9
PATH_TOLERANCE = 1e-4
MAX_STEPS = 100
# Steps for which the same second derivatives are used.
KEPT_CURVATURES = 10
# Fraction of the promised decrease that a step must reach, and how often it is halved until it
# does.
SUFFICIENT = 1e-4
HALVINGS = 40
# Paths end when this number of further rules has not improved the mean score of held-out samples.
PATIENCE = 10


class FoundRule(NamedTuple):
    """The sign that a rule must have (0: either), its conditions, its gain, and times added."""

    sign: int
    tests: Tests
    gain: float
    times: int = 1

    def equals(self, other: "FoundRule") -> bool:
        """Return whether two rules have the same sign and conditions."""
        return self.sign == other.sign and frozenset(self.tests) == frozenset(other.tests)


class FittedRules(NamedTuple):
    """Rules with the weights and bases that fit best.

    Weights have a row for each score, as in `AdditiveModel`.
    """

    rules: tuple[FoundRule, ...]
    weights: Floats

    @property
    def model(self) -> AdditiveModel:
        """What blocks of samples are asked about."""
        listed = tuple(map(tuple, self.weights.tolist()))
        return AdditiveModel(tuple(rule.tests for rule in self.rules), listed)


class Candidate(NamedTuple):
    """A condition that may be added: the gain by which it competes, and its gain."""

    worth: float
    gain: float
    test: SoftTest


# The gain of a rule, and the best condition that it may get.
Scanned = tuple[float, Candidate | None]


@dataclass(frozen=True, eq=False, kw_only=True)
class StagewiseInduction:
    """Add rules one at a time and fit all weights again after each.

    A rule that is added again is not a further rule: the penalty of its weight gets smaller, as if
    the weight were divided among several equal rules.

    With the squared error a constant is fitted together with the rules, so that only the deviation
    of a rule from its mean counts.
    """

    columns: SoftColumns
    blocks: SampleBlocks
    # Number of scores to which rules add.
    n_scores: int
    # Penalty of a squared weight (lambda), and sum of the sample weights.
    penalty: float
    weight: float
    # Gain that a rule must promise, in regression in variances of the residuals.
    least_gain: float
    max_conditions: int
    # Number of categories that a condition may list.
    max_categories: int = 8
    # How often rules may be added that are there already, in all.
    repeats: int = 40
    # Weight that a rule must cover, times degrees.
    least_cover: float = 0.0
    # Sides of features that rules with a positive and with a negative weight may use; weights have
    # either sign if None.
    allowed: Mapping[int, Flags] | None = None
    # Whether the loss is the squared error.
    squared: bool = False

    def path(self, most: int) -> Iterator[FittedRules]:
        """Yield the model without a rule, then with one more rule each time, up to a number.

        The path ends before that if no rule is worth its price. Rules without a weight stay.
        """
        model = self.fit((), np.zeros((self.n_scores, 1)))
        while True:
            model, new = self._next_rule(model)
            yield model
            if new is None or len(model.rules) >= most:
                return
            guess = np.insert(model.weights, -1, 0.0, axis=1)
            model = self.fit((*model.rules, new), guess, exact=False)

    def fit(
        self, rules: tuple[FoundRule, ...], weights: Floats, *, exact: bool = True
    ) -> FittedRules:
        """Find the weights and bases that minimize the loss with its penalty, from a guess.

        Newton's method with steps that are halved until the loss falls, and second derivatives that
        are computed only now and then. Several scores take a step at the same time, each as if the
        others were fixed.
        """
        penalties = self._penalties(rules)
        signs = np.array([rule.sign for rule in rules] + [0])
        bounds = np.where(signs > 0, 0.0, -np.inf), np.where(signs < 0, 0.0, np.inf)
        factor = 1.0 if self.n_scores == 1 else SEVERAL
        tolerance = TOLERANCE if exact else PATH_TOLERANCE
        curvatures: Any = ()
        model = FittedRules(rules, weights).model
        now = self.blocks.added("loss", model)[0] + _penalty(penalties, weights)
        for k in range(MAX_STEPS):
            answer = self.blocks.added("gradient", model)
            gradients = penalties * weights - answer.reshape(weights.shape)
            if k % KEPT_CURVATURES == 0:
                curvatures = self.blocks.added("curvature", model) + np.diag(penalties)
                unit = np.eye(len(penalties))
                inverses = None if signs.any() else [solve(one, unit) for one in curvatures]
            if inverses is None:
                step = _bounded_step(weights[0], gradients[0], curvatures[0], bounds)[None]
            else:
                pairs = zip(inverses, gradients, strict=True)
                step = -factor * np.array([total(inverse * own) for inverse, own in pairs])
            if -total((step * gradients).ravel()) <= tolerance * (1.0 + abs(now)):
                # So near the minimum a step is too small to be seen in the loss.
                weights = self._projected(weights + step, bounds)
                break
            for _ in range(HALVINGS):
                trial = self._projected(weights + step, bounds)
                model = FittedRules(rules, trial).model
                value = self.blocks.added("loss", model)[0] + _penalty(penalties, trial)
                if value <= now + SUFFICIENT * total((gradients * (trial - weights)).ravel()):
                    break
                step = step / 2.0
            else:
                break
            weights, now = trial, value
        return FittedRules(rules, weights)

    def _penalties(self, rules: Sequence[FoundRule]) -> Floats:
        """Return the penalties of the squared weights of rules, and of the base."""
        times = np.array([rule.times for rule in rules], dtype=np.float64)
        return np.append(self.penalty / times, 0.0 if self.squared else BASE_PENALTY)

    def _projected(self, weights: Floats, bounds: tuple[Floats, Floats]) -> Floats:
        """Return weights within their bounds; the votes of a rule for several classes sum to 0."""
        if self.n_scores == 1:
            return np.clip(weights, *bounds)
        return np.asarray(weights - weights.sum(axis=0) / self.n_scores)

    def merge_similar(self, model: FittedRules) -> FittedRules:
        """Replace two rules by one of them where the loss rises by less than the price of a rule.

        Such rules have conditions on the same sides of the same features, and vote for the same
        class. Each rule is compared with those before it. The rule that stays counts as often as
        both.
        """
        second = 1
        while second < len(model.rules):
            for first in range(second):
                if self._are_similar(model, first, second):
                    merged, loss = self._merged(model, first, second)
                    if loss < self._objective(model) + self._price(model) * (1.0 - EQUAL):
                        model, second = merged, second - 1
                        break
            second += 1
        return model

    def _are_similar(self, model: FittedRules, first: int, second: int) -> bool:
        """Return whether two rules have the same sides and vote for the same class."""
        pair = model.rules[first], model.rules[second]
        sides = [(rule.sign, sorted(test[:2] for test in rule.tests)) for rule in pair]
        votes = snap(model.weights[:, [first, second]])
        answers = votes.argmax(axis=0) if self.n_scores > 1 else votes[0] > 0.0
        return sides[0] == sides[1] and bool(answers[0] == answers[1])

    def _merged(self, model: FittedRules, first: int, second: int) -> tuple[FittedRules, float]:
        """Return the model with the better one of two rules, and its loss."""
        rules, weights = [*model.rules], model.weights.copy()
        weights[:, first] += weights[:, second]
        weights, times = np.delete(weights, second, axis=1), rules[first].times
        both = rules[first], rules.pop(second)
        found = []
        for rule in both:
            rules[first] = rule._replace(times=times + both[1].times)
            trial = self.fit(tuple(rules), weights, exact=False)
            found.append((trial, self._objective(trial)))
        return found[int(found[1][1] < found[0][1] * (1.0 - EQUAL))]

    def _objective(self, model: FittedRules) -> float:
        """Return the loss with the penalty of the weights."""
        loss = float(self.blocks.added("loss", model.model)[0])
        return loss + _penalty(self._penalties(model.rules), model.weights)

    def finish(self, model: FittedRules) -> FittedRules:
        """Return a model with exact weights, without the rules that have none."""
        model = self.fit(*model)
        kept = np.abs(model.weights[:, :-1]).max(axis=0, initial=0.0) >= LEAST_WEIGHT
        if kept.all():
            return model
        rules = tuple(rule for rule, heavy in zip(model.rules, kept, strict=True) if heavy)
        return self.fit(rules, model.weights[:, np.append(kept, True)])

    def _next_rule(self, model: FittedRules) -> tuple[FittedRules, FoundRule | None]:
        """Return the best rule that is not there yet, if it is worth it, and the model.

        While the best rule is there already, it is strengthened.
        """
        while True:
            signs = (0,) if self.allowed is None else (1, -1)
            found = [self.best_rule(model.model, sign) for sign in signs]
            if self.least_cover:
                sums = [self.blocks.added("sums", model.model, rule.tests, ()) for rule in found]
                pairs = zip(found, sums, strict=True)
                found = [rule for rule, (covered,) in pairs if covered >= self.least_cover]
            gain = max((rule.gain for rule in found), default=0.0)
            if gain <= 0.0 or gain < self._price(model) * (1.0 - EQUAL):
                return model, None
            best = next(rule for rule in found if rule.gain >= gain * (1.0 - EQUAL))
            rules = list(model.rules)
            old = next((k for k, rule in enumerate(rules) if rule.equals(best)), None)
            if old is None:
                return model, best
            if sum(rule.times - 1 for rule in rules) >= self.repeats:
                return model, None
            rules[old] = rules[old]._replace(times=rules[old].times + 1)
            model = self.fit(tuple(rules), model.weights, exact=False)

    def _price(self, model: FittedRules) -> float:
        """Return the gain that a rule must promise to be added."""
        if not self.squared:
            return self.least_gain
        variance = 2.0 * float(self.blocks.added("loss", model.model)[0]) / self.weight
        return self.least_gain * variance

    def best_rule(self, model: AdditiveModel, sign: int = 0) -> FoundRule:
        """Add the best condition while it is worth it, then replace conditions."""
        known: dict[frozenset[SoftTest], Scanned] = {}
        scores = self._main_scores(model)

        def scan(tests: Tests) -> Scanned:
            key = frozenset(tests)
            if key not in known:
                known[key] = self._scan(model, tests, sign, scores)
            return known[key]

        def addition(tests: Tests) -> Candidate | None:
            gain, best = scan(tests)
            return None if best is None or best.gain < LEAST_FACTOR * gain else best

        tests: Tests = ()
        gain = scan(tests)[0]
        while len(tests) < self.max_conditions and (new := addition(tests)):
            tests, gain = (*tests, new.test), new.gain
        for _ in range(POLISHES):
            before = tests
            for test in before:
                others = tuple(other for other in tests if other != test)
                new = addition(others)
                if new is None:
                    tests, gain = others, scan(others)[0]
                else:
                    tests = tuple(new.test if other == test else other for other in tests)
                    gain = new.gain
            if tests == before:
                break
        return FoundRule(sign, tests, gain)

    def _main_scores(self, model: AdditiveModel) -> tuple[int, ...]:
        """Return the scores at which the search for a rule looks."""
        scores = tuple(range(self.n_scores))
        if self.n_scores <= MAX_SCORES:
            return scores
        _, best = self._scan(model, (), 0, scores)
        tests = () if best is None else (best.test,)
        G, H = self.blocks.added("sums", model, tests, scores)[:-1].reshape(2, -1)
        gains = G * G / (H + self.penalty)
        return tuple(np.sort(np.argsort(-gains, kind="stable")[:MAX_SCORES]).tolist())

    def _scan(
        self, model: AdditiveModel, tests: Tests, sign: int, scores: tuple[int, ...]
    ) -> Scanned:
        """Return the gain of a rule and its best further condition.

        Of equally good conditions that of the first feature, threshold and side counts.
        """
        columns, n_ordered, n_lanes = self.columns, len(self.columns.ordered), 2 * len(scores) + 1
        answer = self.blocks.added("scan", model, tests, scores)
        parts = [n_lanes, (5 * len(scores) + 2) * n_ordered * columns.n_bins]
        parts += (n_lanes * columns.n_categories).tolist()
        whole, bins, *nominal = np.split(answer, np.cumsum(parts)[:-1])
        found: list[Candidate] = []
        if n_ordered:
            sums = bins.reshape(-1, n_ordered, columns.n_bins)
            found.extend(self._best_threshold(tests, sums, sign))
        for attribute, sums in zip(columns.nominal.tolist(), nominal, strict=True):
            if all(test.attribute != attribute for test in tests):
                found.extend(self._best_categories(attribute, sums.reshape(n_lanes, -1), sign))
        gain = float(self._gains(whole, sign, least=-np.inf))
        return gain, _first_best(found)

    def _best_threshold(self, tests: Tests, sums: Floats, sign: int) -> Iterator[Candidate]:
        """Yield the best threshold of all ordered features, if there is one."""
        columns, ordered = self.columns, self.columns.ordered
        if self.blocks.blocks[0].compile:
            ramps = columns.first, columns.last, columns.thresholds, columns.half_widths
            terms = self.penalty, self.weight if self.squared else np.inf, sign, LEAST_MEMBERSHIP
            gains = compiled(kernels).threshold_gains(sums, ramps, terms)
        else:
            gains = self._gains(columns.from_bins(sums), sign)
        for test in tests:
            if test.side != ONE_OF:
                k = ordered.searchsorted(test.attribute)
                gains[k, :, test.side] = 0.0
                gains[k, ~columns.may_join(test), 1 - test.side] = 0.0
        if self.allowed is not None:
            gains *= self.allowed[sign][ordered][:, None, :]
        flat = gains.ravel()
        best = flat.max()
        if best > 0.0:
            place = int((flat >= best * (1.0 - EQUAL)).argmax())
            k, which, side = np.unravel_index(place, gains.shape)
            gain, test = float(flat[place]), SoftTest(int(ordered[k]), int(side), int(which))
            yield Candidate(gain, gain, test)

    def _best_categories(self, attribute: int, lanes: Floats, sign: int) -> Iterator[Candidate]:
        """Yield the best set of categories of a nominal feature, from their G, H and M.

        In the order of gradient by curvature of a score, its best set is a beginning or an end. A
        set of s out of q categories is one of C(q, s), and the logarithm of this number is taken
        off its gain when it competes. A condition lists at most `max_categories`, allowed or
        excluded ones.
        """
        # A degree at the end of a slope may be above 0 by a rounding error.
        seen, n_categories = np.flatnonzero(lanes[-1] > EQUAL), lanes.shape[1]
        if len(seen) < 2:
            return
        lanes = lanes[:, seen]
        price, sizes = _log_choices(len(seen)), np.arange(1, len(seen))
        is_short = np.minimum(sizes, len(seen) - sizes) <= self.max_categories
        n_scores = len(lanes) // 2
        ratios = lanes[:n_scores] / (lanes[n_scores:-1] + self.penalty)
        for order in np.argsort(-ratios, axis=1, kind="stable"):
            for direction in (order, order[::-1]):
                gains = self._gains(lanes[:, direction[:-1]].cumsum(axis=1), sign)
                worths = np.where((gains > 0.0) & is_short, gains - price, 0.0)
                best = float(worths.max())
                if best > 0.0:
                    last = int((worths >= best * (1.0 - EQUAL)).argmax())
                    listed, others = seen[direction[: last + 1]], seen[direction[last + 1 :]]
                    if len(listed) > self.max_categories:  # all but the few others
                        listed = np.setdiff1d(np.arange(n_categories), others)
                    chosen = tuple(np.sort(listed).tolist())
                    test = SoftTest(attribute, ONE_OF, categories=chosen)
                    yield Candidate(float(worths[last]), float(gains[last]), test)

    def _gains(self, lanes: Floats, sign: int, least: float = LEAST_MEMBERSHIP) -> Floats:
        """Return the decrease of the loss that rules promise, from G and H by score, and M.

        It is 0 for rules that are not allowed.
        """
        n_scores = len(lanes) // 2
        G, H, M = lanes[:n_scores], lanes[n_scores:-1], lanes[-1]
        if self.squared:
            H = H - M * M / self.weight
        gains = G * G / (2.0 * (H + self.penalty))
        fits = least <= M
        if sign:
            fits = fits & (sign * G[0] > 0.0)
        return np.where(fits, gains.sum(axis=0), 0.0)


class PathsOfFolds:
    """Paths of rules, each learned without one fold, and their values for the held-out samples.

    All paths use the columns of the whole table (thresholds, widths and imputed values, which do
    not depend on the target); samples of the fold that is held out have weight 0.

    There is an induction for each fold, with its samples on this machine, and at most `most` rules.
    `value_of` returns the value (larger is better) of each sample from the scores of all; `weights`
    are those of the samples in the mean value.
    """

    def __init__(
        self,
        folds: Folds,
        inductions: Sequence[StagewiseInduction],
        most: int,
        value_of: Callable[[Floats], Floats],
        weights: Floats,
    ) -> None:
        self.folds, self.inductions = folds, inductions
        self.weights = folds.join_all(weights)
        self.models: list[list[FittedRules]] = []
        self.values: list[Floats] = []
        paths = [induction.path(most) for induction in inductions]
        models, means = [next(path) for path in paths], []
        for size in range(most + 1):
            self.models.append(models)
            self.values.append(folds.join([*map(value_of, self._scores_of_all(models))]))
            means.append(float(total(self.values[-1] * self.weights)))
            if size - int(np.argmax(means)) >= PATIENCE:
                break
            models = [next(path, model) for path, model in zip(paths, models, strict=True)]
            if all(a is b for a, b in zip(models, self.models[-1], strict=True)):
                break

    def choose(self, measure: str, fewest: int) -> SizePath:
        """Return the sizes and their scores, with the size that is chosen."""
        first = min(1, len(self.values) - 1)  # a model without rules is no choice
        sizes = range(first, len(self.values))
        return SizePath.of(sizes, self.values[first:], self.weights, measure, fewest)

    def scores(self, size: int) -> Floats:
        """Return the scores of the held-out samples by rules of a size."""
        models = self.models[min(size, len(self.models) - 1)]
        return np.asarray(self.folds.join(self._scores_of_all(models)))

    def _scores_of_all(self, models: Sequence[FittedRules]) -> list[Floats]:
        """Return the scores of all samples by the rules of each fold."""
        return [
            np.concatenate([b.scores(model.model) for b in induction.blocks.blocks], axis=1)
            for induction, model in zip(self.inductions, models, strict=True)
        ]


def _first_best(found: Sequence[Candidate]) -> Candidate | None:
    """Return the condition of the largest worth, of equal ones that of the first feature."""
    best = max((one.worth for one in found), default=0.0) * (1.0 - EQUAL)
    near = [one for one in found if one.worth >= best]
    return min(near, key=lambda one: one.test.attribute, default=None)


def _bounded_step(
    weights: Floats, gradient: Floats, curvature: Floats, bounds: tuple[Floats, Floats]
) -> Floats:
    """Return Newton's step of the weights that do not lie on a bound that they would cross.

    The step has to be cut at the bounds (Bertsekas 1982).
    """
    lower, upper = bounds
    free = np.flatnonzero(
        ((weights > lower) | (gradient < 0.0)) & ((weights < upper) | (gradient > 0.0))
    )
    step = np.zeros_like(weights)
    step[free] = -solve(curvature[np.ix_(free, free)], gradient[free])
    return step


def _penalty(penalties: Floats, weights: Floats) -> float:
    return float(total((penalties * (weights * weights)).ravel())) / 2.0


def _log_choices(n: int) -> Floats:
    """Return the logarithm of the number of subsets of n categories, by their size from 1 on."""
    logs = np.cumsum(log(np.arange(1.0, n + 1.0)))
    sizes = np.arange(1, n)
    return np.asarray(logs[n - 1] - logs[sizes - 1] - logs[n - sizes - 1])

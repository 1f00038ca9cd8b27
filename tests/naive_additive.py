"""Additive rules straight from their words: slow, obvious, the measure of the fast code.

A table is a list of columns with None where a value is missing; `nominal` says which columns hold the
numbers of categories. A test is a triple (attribute, "<=" or ">=" or "in", threshold or frozenset of
categories), a rule a list of tests. Everything is computed object by object and threshold by threshold.
"""

from itertools import pairwise
from math import exp, log, sqrt

import numpy as np

MOST_THRESHOLDS = 64
WORTH = 1.15
LEAST = 2.0
EQUAL = 1e-9


# --- columns


def known(column):
    return [x for x in column if x is not None]


def half_width(column, weights, width):
    """`width` times the population standard deviation of the known values."""
    pairs = [(x, w) for x, w in zip(column, weights, strict=True) if x is not None]
    low, high = min(known(column)), max(known(column))
    total = sum(w for _, w in pairs)
    mean = sum(w * (x - low) / (high - low) for x, w in pairs) / total
    variance = sum(w * ((x - low) / (high - low) - mean) ** 2 for x, w in pairs) / total
    return width * sqrt(variance) * (high - low)


def thresholds(column, weights):
    """Midpoints of neighbouring values; above 64, for i = 1..64 the one whose share is nearest i/65."""
    values = sorted(set(known(column)))
    middles = [a + (b - a) / 2 for a, b in pairwise(values)]
    if len(middles) <= MOST_THRESHOLDS:
        return middles
    below = [
        sum(w for x, w in zip(column, weights, strict=True) if x is not None and x <= value)
        for value in values[:-1]
    ]
    total = sum(w for x, w in zip(column, weights, strict=True) if x is not None)
    chosen = set()
    for i in range(1, MOST_THRESHOLDS + 1):
        wanted = i * total / (MOST_THRESHOLDS + 1)
        chosen.add(min(range(len(middles)), key=lambda k: abs(below[k] - wanted)))
    return [middles[k] for k in sorted(chosen)]


def membership(test, x, half):
    attribute, side, what = test
    if x[attribute] is None:
        return 0.0
    if side == "in":
        return 1.0 if x[attribute] in what else 0.0
    at_most = min(max(0.5 + (what - x[attribute]) / (2 * half[attribute]), 0.0), 1.0)
    return at_most if side == "<=" else 1.0 - at_most


# --- the search for one rule


class Search:
    def __init__(
        self, columns, nominal, weights, penalty, width, max_conditions, centred=False, curved=False
    ):
        self.columns, self.nominal, self.weights = columns, nominal, weights
        self.penalty, self.max_conditions = penalty, max_conditions
        self.centred, self.curved = centred, curved
        self.rows = list(zip(*columns, strict=True))
        varied = [len(set(known(column))) > 1 for column in columns]
        self.usable = [j for j, several in enumerate(varied) if several]
        ordered = [j for j in self.usable if not nominal[j]]
        self.half = {j: half_width(columns[j], weights, width) for j in ordered}
        self.thresholds = {j: thresholds(columns[j], weights) for j in ordered}

    def degree(self, rule):
        degrees = [1.0] * len(self.rows)
        for i, x in enumerate(self.rows):
            for test in rule:
                degrees[i] *= membership(test, x, self.half)
        return degrees

    def sums(self, degrees, pull):
        G = sum(g * mu for g, mu in zip(pull["g"], degrees, strict=True))
        H = sum(h * mu * mu for h, mu in zip(pull["h"], degrees, strict=True))
        M = sum(w * mu for w, mu in zip(self.weights, degrees, strict=True))
        if self.centred:
            H -= M * M / sum(self.weights)
        return G, H, M

    def gain(self, rule, pull):
        G, H, M = self.sums(self.degree(rule), pull)
        if (G <= 0 and not pull["signed"]) or (rule and M < LEAST * (1 - EQUAL)):
            return 0.0
        return G * G / (2 * (H + self.penalty))

    def tests(self, rule, pull):
        """Every test that may be added, in the order in which equal gains are decided."""
        used = {(attribute, side) for attribute, side, _ in rule}
        for j in self.usable:
            if self.nominal[j]:
                if (j, "in") not in used:
                    yield from self.sets(rule, j, pull)
                continue
            for t in self.thresholds[j]:
                for side in ("<=", ">="):
                    again = (j, side, t) in rule if self.curved else (j, side) in used
                    if not again and side in pull["sides"].get(j, ("<=", ">=")):
                        yield j, side, t

    def sets(self, rule, j, pull):
        """Beginnings of the categories in the order of their gradient by curvature, and ends if signed."""
        degrees = self.degree(rule)
        categories = sorted(
            {
                x[j]
                for x, mu, w in zip(self.rows, degrees, self.weights, strict=True)
                if x[j] is not None and w * mu > 0
            }
        )

        def ratio(category):
            own = [i for i, x in enumerate(self.rows) if x[j] == category]
            G = sum(pull["g"][i] * degrees[i] for i in own)
            H = sum(pull["h"][i] * degrees[i] ** 2 for i in own)
            return G / max(H, 1e-12)

        order = sorted(categories, key=lambda category: -ratio(category))
        for direction in (order, order[::-1]) if pull["signed"] else (order,):
            for k in range(1, len(direction)):
                yield j, "in", frozenset(direction[:k])

    def best_test(self, rule, pull):
        found = [(test, self.gain([*rule, test], pull)) for test in self.tests(rule, pull)]
        most = max((gain for _, gain in found), default=0.0)
        if most <= 0.0:
            return None
        return next((test, gain) for test, gain in found if gain >= most * (1 - EQUAL))

    def grown(self, pull):
        rule = []
        while len(rule) < self.max_conditions:
            found = self.best_test(rule, pull)
            if found is None or found[1] < WORTH * self.gain(rule, pull):
                break
            rule = [*rule, found[0]]
        return rule

    def polished(self, rule, pull):
        for _ in range(2):
            for test in rule:
                place = rule.index(test)
                rest = rule[:place] + rule[place + 1 :]
                found = self.best_test(rest, pull)
                if found is None or found[1] < WORTH * self.gain(rest, pull):
                    rule = rest
                else:
                    rule = [*rule[:place], found[0], *rule[place + 1 :]]
        return rule

    def best_rule(self, pull):
        return self.polished(self.grown(pull), pull)


# --- losses


def minimum(start, bounded, derivatives):
    """Newton's method on the weights that are not held at 0; held are those that would go below it."""
    x = np.array(start, dtype=float)
    held = set()
    while True:
        free = [k for k in range(len(x)) if k not in held]
        for k in held:
            x[k] = 0.0
        for _ in range(200):
            value, gradient, curvature = derivatives(x)
            if not free:
                break
            step = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
            share = 1.0
            while share > 1e-12:
                trial = x.copy()
                trial[free] -= share * step
                if derivatives(trial)[0] <= value:
                    break
                share /= 2
            moved = np.abs(trial - x).max()
            x = trial
            if moved < 1e-13:
                break
        below = [k for k in free if bounded[k] and x[k] < 0]
        if below:
            held.add(min(below, key=lambda k: x[k]))
            continue
        gradient = derivatives(x)[1]
        wanting = [k for k in held if gradient[k] < -1e-9]
        if not wanting:
            return x
        held.remove(min(wanting, key=lambda k: gradient[k]))


class Softmax:
    """Votes of at least 0 for classes, on a base for every class."""

    def __init__(self, classes, n_classes, weights, penalty, worth, sides=None):
        self.classes, self.voices, self.weights = classes, range(n_classes), weights
        self.penalty, self.worth = penalty, worth
        self.sides = sides or {}

    def scores(self, voices, degrees, votes, base):
        F = [list(base) for _ in self.classes]
        for voice, degree, vote in zip(voices, degrees, votes, strict=True):
            for i, mu in enumerate(degree):
                F[i][voice] += vote * mu
        return F

    def probabilities(self, F):
        powers = [[exp(f - max(row)) for f in row] for row in F]
        return [[power / sum(row) for power in row] for row in powers]

    def fitted(self, voices, degrees, times):
        K = len(self.voices)
        speakers = [*voices, *self.voices]
        A = np.array([*degrees, *([[1.0] * len(self.classes)] * K)])
        penalties = np.array([self.penalty / k for k in times] + [1e-3] * K)

        def derivatives(x):
            F = self.scores(voices, degrees, x[: len(voices)], x[len(voices) :])
            P = np.array(self.probabilities(F))
            value = sum(
                -w * log(max(p[c], 1e-300))
                for w, p, c in zip(self.weights, P, self.classes, strict=True)
            ) + sum(penalties * x * x / 2)
            gradient, curvature = penalties * x, np.diag(penalties)
            for r, c in enumerate(speakers):
                gradient[r] -= sum(
                    w * mu * ((y == c) - p[c])
                    for w, mu, y, p in zip(self.weights, A[r], self.classes, P, strict=True)
                )
                for s, d in enumerate(speakers):
                    curvature[r, s] += sum(
                        np.array(self.weights) * A[r] * A[s] * P[:, c] * ((c == d) - P[:, d])
                    )
            return value, gradient, curvature

        bounded = [True] * len(voices) + [False] * K
        x = minimum(np.zeros(len(speakers)), bounded, derivatives)
        weights, base = x[: len(voices)], x[len(voices) :]
        return {
            "weights": weights,
            "base": base,
            "P": self.probabilities(self.scores(voices, degrees, weights, base)),
            "value": derivatives(x)[0],
        }

    def pull(self, fitted, voice):
        P = [row[voice] for row in fitted["P"]]
        hits = [float(y == voice) for y in self.classes]
        return {
            "g": [w * (hit - p) for w, hit, p in zip(self.weights, hits, P, strict=True)],
            "h": [w * p * (1 - p) for w, p in zip(self.weights, P, strict=True)],
            "signed": False,
            "sides": self.sides.get(voice, {}),
        }

    def least_gain(self, _):
        return self.worth


class Squares:
    """Contributions on a base; of either sign, or up (1) and down (-1)."""

    def __init__(self, target, weights, penalty, worth, voices=(0,), sides=None):
        self.target, self.weights, self.penalty = target, weights, penalty
        self.worth, self.voices, self.sides = worth, voices, sides or {}

    def fitted(self, voices, degrees, times):
        signs = [-1.0 if voice < 0 else 1.0 for voice in voices]
        turned = [[s * mu for mu in degree] for s, degree in zip(signs, degrees, strict=True)]
        A = np.array([*turned, [1.0] * len(self.target)])
        y, w = np.array(self.target), np.array(self.weights)
        penalties = np.array([self.penalty / k for k in times] + [0.0])

        def derivatives(x):
            left = y - x @ A
            value = sum(w * left * left) / 2 + sum(penalties * x * x) / 2
            return value, penalties * x - A @ (w * left), (A * w) @ A.T + np.diag(penalties)

        x = minimum(np.zeros(len(A)), [voice != 0 for voice in voices] + [False], derivatives)
        return {
            "weights": np.array([s * v for s, v in zip(signs, x[:-1], strict=True)]),
            "base": x[-1:],
            "left": y - x @ A,
            "value": derivatives(x)[0],
        }

    def pull(self, fitted, voice):
        sign = -1.0 if voice < 0 else 1.0
        return {
            "g": [w * sign * r for w, r in zip(self.weights, fitted["left"], strict=True)],
            "h": list(self.weights),
            "signed": voice == 0,
            "sides": self.sides.get(voice, {}),
        }

    def least_gain(self, fitted):
        total = sum(w * r * r for w, r in zip(self.weights, fitted["left"], strict=True))
        return self.worth * total / sum(self.weights)


# --- rules one after another


def induce(search, loss, max_rules, refine=0, enough=None, again=2):
    """Triples (voice, rule, how often it was added), and the fit of those that have a weight.

    A rule added k times is like k equal rules: its weight v costs k times penalty / 2 (v / k)^2. All
    additions together are at most `again` times the number of rules allowed.
    """

    def fit(rules):
        degrees = [search.degree(rule) for _, rule, _ in rules]
        return loss.fitted([r[0] for r in rules], degrees, [r[2] for r in rules])

    def best(fitted, voice):
        pull = loss.pull(fitted, voice)
        rule = search.best_rule(pull)
        return voice, rule, search.gain(rule, pull)

    def place_of(voice, rule, rules):
        places = [k for k, r in enumerate(rules) if r[0] == voice and set(r[1]) == set(rule)]
        return places[0] if places else None

    def extended(rules):
        while len(rules) < max_rules and sum(times for _, _, times in rules) < again * max_rules:
            fitted = fit(rules)
            found = [best(fitted, voice) for voice in loss.voices]
            found = [f for f in found if enough is None or enough(f[0], f[1])]
            most = max((gain for _, _, gain in found), default=0.0)
            if most <= 0 or most < loss.least_gain(fitted):
                break
            voice, rule, _ = next(f for f in found if f[2] >= most * (1 - EQUAL))
            k = place_of(voice, rule, rules)
            if k is None:
                rules = [*rules, (voice, rule, 1)]
            else:
                rules = [*rules[:k], (voice, rules[k][1], rules[k][2] + 1), *rules[k + 1 :]]
        return rules

    def revised(rules):
        price, place = loss.least_gain(fit(rules)), 0
        while place < len(rules):
            voice, _, times = rules[place]
            without = rules[:place] + rules[place + 1 :]
            shorter = fit(without)
            _, new, _ = best(shorter, voice)
            replaced = [*rules[:place], (voice, new, times), *rules[place + 1 :]]
            refused = enough is not None and not enough(voice, new)
            if place_of(voice, new, without) is not None or refused:
                replaced = rules
            now, then = fit(rules)["value"], fit(replaced)["value"]
            if shorter["value"] <= min(now, then) + price:
                rules = without
                continue
            if then < now * (1 - EQUAL):
                rules = replaced
            place += 1
        return rules

    rules = extended([])
    for _ in range(refine):
        rules = extended(revised(rules))
    weights = fit(rules)["weights"]
    rules = [rule for rule, weight in zip(rules, weights, strict=True) if abs(weight) >= 1e-6]
    return rules, fit(rules)

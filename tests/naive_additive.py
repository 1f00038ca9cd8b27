"""Reference implementation of additive rules: slow, simple, and close to the definitions.

A table is a list of columns with None where a value is missing; `nominal` lists the columns with
codes of categories. A test is a triple (attribute, "<=" or ">=" or "in", bounds or frozenset of
categories), a rule a list of tests. Bounds are a pair: "<=" holds fully up to the first, ">=" from the
second on. Everything is computed object by object and threshold by threshold.
"""

from decimal import ROUND_HALF_EVEN, Decimal
from itertools import count, pairwise
from math import comb, floor, log, sqrt

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
    """Midpoints of neighboring values; above 64, for i = 1..64 the one whose fraction is nearest to i/65."""
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


def rounded(number, exponent):
    """The nearest multiple of a power of ten."""
    return float(Decimal(number).quantize(Decimal(1).scaleb(exponent), ROUND_HALF_EVEN))


def ramps(column, weights, usual):
    """Ends of every ramp by its bounds.

    A ramp reaches the usual half-width to both sides, or as far as there are values; its ends have two
    digits of its width, or are integers like all values. If no value is between the ends, it is crisp.
    """
    values, found = sorted(set(known(column))), {}
    integers = all(value == int(value) for value in values)
    for cut in thresholds(column, weights):
        half = min(usual, cut - values[0], values[-1] - cut)
        if half < 1e-4 * usual:
            continue
        exponent = Decimal(2 * half).adjusted() - 1
        exponent = max(exponent, 0) if integers else exponent
        low = max(values[0], rounded(cut - half, exponent))
        high = min(values[-1], rounded(cut + half, exponent))
        bounds, ends = (low, high), (low, high)
        if not any(low < value < high for value in values):
            below, above = max(v for v in values if v <= cut), min(v for v in values if v > cut)
            ends = below + (above - below) / 4, above - (above - below) / 4
            bounds = (floor(cut), floor(cut) + 1)
            if not integers:
                steps = (rounded(cut, -k) for k in count(-Decimal(above - below).adjusted() - 1))
                bounds = (next(x for x in steps if below < x < above),) * 2
        found.setdefault(tuple(map(float, bounds)), ends)
    return found


def membership(test, x, ramps):
    attribute, side, what = test
    if x[attribute] is None:
        return 0.0
    if side == "in":
        return 1.0 if x[attribute] in what else 0.0
    low, high = ramps[attribute][what]
    at_most = min(max((high - x[attribute]) / (high - low), 0.0), 1.0)
    return at_most if side == "<=" else 1.0 - at_most


# --- the search for one rule


def crosses(test, rule):
    """Whether a test of the other side exists such that no value satisfies both fully."""
    attribute, side, (low, high) = test
    others = [bounds for j, other, bounds in rule if j == attribute and other != side]
    return any(one[0] < high if side == ">=" else low < one[1] for one in others)


class Search:
    def __init__(self, columns, nominal, weights, penalty, width, max_conditions, centred=False):
        self.columns, self.nominal, self.weights = columns, nominal, weights
        self.penalty, self.max_conditions = penalty, max_conditions
        self.centred = centred
        self.rows = list(zip(*columns, strict=True))
        varied = [len(set(known(column))) > 1 for column in columns]
        self.usable = [j for j, several in enumerate(varied) if several]
        ordered = [j for j in self.usable if not nominal[j]]
        self.usual = {j: half_width(columns[j], weights, width) for j in ordered}
        self.ramps = {j: ramps(columns[j], weights, self.usual[j]) for j in ordered}

    def degree(self, rule):
        degrees = [1.0] * len(self.rows)
        for i, x in enumerate(self.rows):
            for test in rule:
                degrees[i] *= membership(test, x, self.ramps)
        return degrees

    def sums(self, degrees, lane):
        G = sum(g * mu for g, mu in zip(lane["g"], degrees, strict=True))
        H = sum(h * mu * mu for h, mu in zip(lane["h"], degrees, strict=True))
        M = sum(w * mu for w, mu in zip(self.weights, degrees, strict=True))
        if self.centred:
            H -= M * M / sum(self.weights)
        return G, H, M

    def gain(self, rule, pull):
        """Predicted gain of Newton steps for all scores; 0 for a sign or a membership that is not allowed."""
        gain = 0.0
        for lane in pull["lanes"]:
            G, H, M = self.sums(self.degree(rule), lane)
            if (
                pull["sign"] * G < 0
                or (pull["sign"] and G == 0)
                or (rule and M < LEAST * (1 - EQUAL))
            ):
                return 0.0
            gain += G * G / (2 * (H + self.penalty))
        return gain

    def tests(self, rule, pull):
        """Yield every test that may be added, with its price, in the order that breaks ties."""
        used = {(attribute, side) for attribute, side, _ in rule}
        for j in self.usable:
            if self.nominal[j]:
                if (j, "in") not in used:
                    yield from self.sets(rule, j, pull)
                continue
            for t in self.ramps[j]:
                for side in ("<=", ">="):
                    again = (j, side) in used or crosses((j, side, t), rule)
                    if not again and side in pull["sides"].get(j, ("<=", ">=")):
                        yield (j, side, t), 0.0

    def sets(self, rule, j, pull):
        """Beginnings and ends of the categories in the order of each score's gradient by curvature.

        The price of s out of q categories is the logarithm of the number of such sets.
        """
        degrees = self.degree(rule)
        categories = sorted(
            {
                x[j]
                for x, mu, w in zip(self.rows, degrees, self.weights, strict=True)
                if x[j] is not None and w * mu > EQUAL  # 0 but for rounding errors
            }
        )

        def ratio(category, lane):
            own = [i for i, x in enumerate(self.rows) if x[j] == category]
            G = sum(lane["g"][i] * degrees[i] for i in own)
            H = sum(lane["h"][i] * degrees[i] ** 2 for i in own)
            return G / (H + self.penalty)

        for lane in pull["lanes"]:
            ratios = {category: ratio(category, lane) for category in categories}
            order = sorted(categories, key=lambda category: -ratios[category])
            for direction in (order, order[::-1]):
                for k in range(1, len(direction)):
                    yield (j, "in", frozenset(direction[:k])), log(comb(len(direction), k))

    def best_test(self, rule, pull):
        """Return the test with the largest gain minus price, and its gain."""
        found = []
        for test, price in self.tests(rule, pull):
            gain = self.gain([*rule, test], pull)
            found.append((test, gain, gain - price if gain > 0 else 0.0))
        most = max((worth for _, _, worth in found), default=0.0)
        if most <= 0.0:
            return None
        return next((test, gain) for test, gain, worth in found if worth >= most * (1 - EQUAL))

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

    def main(self, pull):
        """Return the six scores with the largest gain of a single test (or of the base), of more than six."""
        if len(pull["lanes"]) <= 6:
            return pull
        best = self.best_test([], pull)
        rule = [] if best is None else [best[0]]
        gains = [self.gain(rule, pull | {"lanes": [lane]}) for lane in pull["lanes"]]
        chosen = sorted(range(len(gains)), key=lambda c: -gains[c])[:6]
        return pull | {"lanes": [pull["lanes"][c] for c in sorted(chosen)]}

    def best_rule(self, pull):
        return self.polished(self.grown(pull), pull)


# --- losses


def minimum(start, signs, derivatives):
    """Newton's method on the weights that are not fixed at 0; weights that would cross 0 are fixed."""
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
        crossed = [k for k in free if signs[k] * x[k] < 0]
        if crossed:
            held.add(max(crossed, key=lambda k: abs(x[k])))
            continue
        gradient = derivatives(x)[1]
        wanting = [k for k in held if signs[k] * gradient[k] < -1e-9]
        if not wanting:
            return x
        held.remove(max(wanting, key=lambda k: abs(gradient[k])))


class Softmax:
    """Votes for classes on a base: log odds of the second of two classes, or a score for each."""

    def __init__(self, classes, n_classes, weights, penalty, worth, sides=None):
        self.classes, self.weights, self.penalty, self.worth = classes, weights, penalty, worth
        self.n_classes, self.n_scores = n_classes, 1 if n_classes == 2 else n_classes
        self.sides = sides or {0: {}}

    def probabilities(self, A, x):
        """Samples x classes, from the weights by score; an absent score is 0."""
        scores = np.zeros((A.shape[1], self.n_classes))
        scores[:, self.n_classes - self.n_scores :] = (x.reshape(self.n_scores, -1) @ A).T
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def fitted(self, signs, degrees, times):
        A = np.array([*degrees, [1.0] * len(self.classes)])
        w, first = np.array(self.weights), self.n_classes - self.n_scores
        penalties = np.tile([*(self.penalty / k for k in times), 1e-3], self.n_scores)

        def derivatives(x):
            P = self.probabilities(A, x)
            value = sum(penalties * x * x / 2)
            for i, c in enumerate(self.classes):
                value -= w[i] * log(max(P[i, c], 1e-300))
            gradient, curvature = penalties * x, np.diag(penalties)
            for c in range(self.n_scores):
                own = slice(c * len(A), (c + 1) * len(A))
                hits = np.array([float(y == first + c) for y in self.classes])
                gradient[own] -= A @ (w * (hits - P[:, first + c]))
                for d in range(self.n_scores):
                    other = slice(d * len(A), (d + 1) * len(A))
                    h = w * P[:, first + c] * ((c == d) - P[:, first + d])
                    curvature[own, other] += (A * h) @ A.T
            return value, gradient, curvature

        x = minimum(np.zeros(len(penalties)), [*signs, 0] * self.n_scores, derivatives)
        P = self.probabilities(A, x)
        lanes = []
        for c in range(first, self.n_classes):
            hits = np.array([float(y == c) for y in self.classes])
            lanes.append({"g": w * (hits - P[:, c]), "h": w * P[:, c] * (1 - P[:, c])})
        return {"weights": x.reshape(self.n_scores, -1), "lanes": lanes, "value": derivatives(x)[0]}

    def least_gain(self, _):
        return self.worth


class Squares:
    """Contributions on a base; of either sign, or up (1) and down (-1)."""

    def __init__(self, target, weights, penalty, worth, sides=None):
        self.target, self.weights, self.penalty = target, weights, penalty
        self.worth, self.sides = worth, sides or {0: {}}

    def fitted(self, signs, degrees, times):
        A = np.array([*degrees, [1.0] * len(self.target)])
        y, w = np.array(self.target), np.array(self.weights)
        penalties = np.array([*(self.penalty / k for k in times), 0.0])

        def derivatives(x):
            left = y - x @ A
            value = sum(w * left * left) / 2 + sum(penalties * x * x) / 2
            return value, penalties * x - A @ (w * left), (A * w) @ A.T + np.diag(penalties)

        x = minimum(np.zeros(len(A)), [*signs, 0], derivatives)
        left = y - x @ A
        lanes = [{"g": w * left, "h": w}]
        return {"weights": x[None], "lanes": lanes, "left": left, "value": derivatives(x)[0]}

    def least_gain(self, fitted):
        total = sum(w * r * r for w, r in zip(self.weights, fitted["left"], strict=True))
        return self.worth * total / sum(self.weights)


# --- rules one after another


def induce(search, loss, max_rules, enough=None, repeats=40):
    """Triples (sign, rule, how often it was added), and the fit of those that have a weight.

    A rule added k times is like k equal rules: its weight v costs k times penalty / 2 (v / k)^2. Rules
    are added again at most `repeats` times in all.
    """

    def fit(rules):
        degrees = [search.degree(rule) for _, rule, _ in rules]
        return loss.fitted([r[0] for r in rules], degrees, [r[2] for r in rules])

    rules = []
    while True:
        fitted, found = fit(rules), []
        for sign, sides in loss.sides.items():
            pull = search.main({"lanes": fitted["lanes"], "sign": sign, "sides": sides})
            rule = search.best_rule(pull)
            if enough is None or enough(rule):
                found.append((sign, rule, search.gain(rule, pull)))
        most = max((gain for _, _, gain in found), default=0.0)
        if most <= 0 or most < loss.least_gain(fitted) * (1 - EQUAL):
            break
        sign, rule, _ = next(f for f in found if f[2] >= most * (1 - EQUAL))
        same = [k for k, r in enumerate(rules) if r[0] == sign and set(r[1]) == set(rule)]
        if same and sum(times - 1 for _, _, times in rules) >= repeats:
            break
        if not same and len(rules) == max_rules:
            break
        if same:
            k = same[0]
            rules = [*rules[:k], (sign, rules[k][1], rules[k][2] + 1), *rules[k + 1 :]]
        else:
            rules = [*rules, (sign, rule, 1)]
    rules = merge_similar(rules, fit, loss)
    weights = np.abs(fit(rules)["weights"][:, :-1]).max(axis=0, initial=0.0)
    rules = [rule for rule, weight in zip(rules, weights, strict=True) if weight >= 1e-6]
    return rules, fit(rules)


def merge_similar(rules, fit, loss):
    """Merge two rules with the same sides and prediction if that costs less than the minimum gain of a rule."""

    def answer(fitted, k):
        votes = fitted["weights"][:, k].round(9)
        return votes.argmax() if len(votes) > 1 else votes[0] > 0

    k = 1
    while k < len(rules):
        for j in range(k):
            fitted, (sign, one, s), (other, two, t) = fit(rules), rules[j], rules[k]
            sides = [sorted(test[:2] for test in rule) for rule in (one, two)]
            if sign != other or sides[0] != sides[1] or answer(fitted, j) != answer(fitted, k):
                continue
            without = rules[:k] + rules[k + 1 :]
            trials = [[*without[:j], (sign, rule, s + t), *without[j + 1 :]] for rule in (one, two)]
            values = [fit(trial)["value"] for trial in trials]
            best = int(values[1] < values[0] * (1 - EQUAL))
            if values[best] < fitted["value"] + loss.least_gain(fitted) * (1 - EQUAL):
                rules, k = trials[best], k - 1
                break
        k += 1
    return rules

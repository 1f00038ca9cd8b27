"""Reference implementation of Compact FRRI in plain loops: boxes, their sides, and the selection among them.

Values are scaled lists of lists, None where missing; ``rigid`` has the columns of categories; weights are
integers. A rule is (anchor, reach, sides), sides a frozenset of (column, side) with the sides "at
most", "at least" and "equal".
"""

from math import exp, inf, log, sqrt

TOLERANCE = 1e-6
STEPS = 2**20
# Fine-tuning of bounds.
TEMPERATURE, SPREAD, LENGTH, MOVES = 0.4, 0.15, 0.01, 60
LEAST_WIDTH, FLOOR, PULL_STEPS = 0.03, -1.0, 2**14


def difference(a, b, is_rigid):
    if a is None or b is None:
        return 0.0
    return float(a != b) if is_rigid else abs(a - b)


def reach(values, classes, rigid, u, k, radius):
    """A fraction of the distance to the k-th nearest sample of another class (the last of fewer, or 1)."""
    distances = sorted(
        max(
            (
                difference(x, y, a in rigid)
                for a, (x, y) in enumerate(zip(values[u], row, strict=True))
            ),
            default=0.0,
        )
        for row, c in zip(values, classes, strict=True)
        if c != classes[u]
    )
    return radius * (distances[min(k, len(distances)) - 1] if distances else 1.0)


def holds(value, anchor, side, limit):
    if value is None or anchor is None:
        return False
    if side == "equal":
        return value == anchor
    return (value - anchor if side == "at most" else anchor - value) < limit


def grown(values, classes, weights, rigid, u, far, max_impurity, most):
    """Add sides by FOIL's gain until samples of other classes weigh at most a fraction of the covered class."""
    sides, inside = [], list(range(len(values)))

    def weigh(rows):
        own = sum(weights[v] for v in rows if classes[v] == classes[u])
        return own, sum(weights[v] for v in rows) - own

    while len(sides) < most:
        own, other = weigh(inside)
        if other <= max_impurity * own:
            break
        best, chosen = 0.0, None
        for a in range(len(values[u])):
            for side in ("equal",) if a in rigid else ("at most", "at least"):
                if (a, side) in sides:
                    continue
                rows = [
                    v for v in inside if holds(values[v][a], values[u][a], side, far - TOLERANCE)
                ]
                own_1, other_1 = weigh(rows)
                if own_1 > 0:
                    gain = own_1 * (log(own_1 / (own_1 + other_1)) - log(own / (own + other)))
                    if gain > best:
                        best, chosen = gain, (a, side, rows)
        if chosen is None:
            break
        sides.append(chosen[:2])
        inside = chosen[2]
    return frozenset(sides)


def uncut(values, rule, v, outside):
    """1 at the anchor, 0 at the reach, negative outside; FLOOR where a category differs."""
    u, far, sides = rule
    worst = 1.0
    for a, side in sides:
        x, anchor = values[v][a], values[u][a]
        if x is None or anchor is None or (side == "equal" and x != anchor):
            degree = outside
        elif side == "equal":
            degree = 1.0
        else:
            degree = 1.0 - max(x - anchor if side == "at most" else anchor - x, 0.0) / far
        worst = min(worst, degree)
    return worst


def precision(values, classes, weights, rule):
    """(own + prior / classes) / (all + prior), the prior being two mean weights; and own - others."""
    inside = [v for v in range(len(values)) if uncut(values, rule, v, 0.0) > TOLERANCE / rule[1]]
    own = sum(weights[v] for v in inside if classes[v] == classes[rule[0]])
    total = sum(weights[v] for v in inside)
    prior = 2.0 * sum(weights) / len(values)
    return (own + prior / len(set(classes))) / (total + prior), own, total - own


class Selection:
    """Adds, swaps, trims and adds again, each time with the largest gain; the first of ties."""

    def __init__(self, values, classes, weights, losses, rules, smallest, price):
        self.values, self.classes, self.weights, self.losses = values, classes, weights, losses
        self.price = price * STEPS * sum(losses)
        known = [(rule, precision(values, classes, weights, rule)) for rule in rules]
        kept = []
        for c in sorted(set(classes)):
            size = sum(w for w, k in zip(weights, classes, strict=True) if k == c)
            own = [i for i, (rule, _) in enumerate(known) if classes[rule[0]] == c]
            large = [i for i in own if known[i][1][1] >= smallest * size]
            if not large and own:
                large = [max(own, key=lambda i: (known[i][1][1] - known[i][1][2], -i))]
            kept += large
        self.pool = [self.scored(known[i][0]) for i in sorted(kept)]

    def scored(self, rule):
        max_impurity, own, other = precision(self.values, self.classes, self.weights, rule)
        outside = min(1.0 - 1.0 / max_impurity, 0.0)
        scores = [
            max_impurity * uncut(self.values, rule, v, outside) for v in range(len(self.values))
        ]
        return rule, self.classes[rule[0]], scores, own - other

    def worth(self, chosen):
        total = 0.0
        for v, own_class in enumerate(self.classes):
            own = max((s[v] for _, c, s, _ in chosen if c == own_class), default=-1e9)
            other = max((s[v] for _, c, s, _ in chosen if c != own_class), default=-1e9)
            margin = min(max(own - other, -1.0), 1.0)
            total += self.losses[v] * ((STEPS if margin > 0 else 0) + round(margin * STEPS / 2))
        return total

    def cost(self, rule):
        return self.price * len({a for a, _ in rule[0][2]})

    def add(self, chosen, most):
        while len(chosen) < min(most, len(self.pool)):
            values = [self.worth([*chosen, rule]) - self.cost(rule) for rule in self.pool]
            best = values.index(max(values))
            if values[best] <= self.worth(chosen):
                break
            chosen.append(self.pool[best])

    def search(self, most):
        chosen = []
        for c in sorted(set(self.classes)):
            own = [rule for rule in self.pool if rule[1] == c]
            if own:
                chosen.append(max(own, key=lambda rule: rule[3]))
        self.add(chosen, most)
        place = 0
        while place < len(chosen):
            rule = chosen[place]
            others = chosen[:place] + chosen[place + 1 :]
            last = all(other[1] != rule[1] for other in others)
            now = self.worth([*others, rule]) - self.cost(rule)
            values = [
                self.worth([*others, one]) - self.cost(one)
                if not last or one[1] == rule[1]
                else -inf
                for one in self.pool
            ]
            gone = -inf if last else self.worth(others)
            best = values.index(max(values))
            if gone >= now and gone >= values[best]:
                chosen.pop(place)
                continue
            if values[best] > now:
                chosen[place] = self.pool[best]
            place += 1
        for place in range(len(chosen)):
            while True:
                u, far, sides = chosen[place][0]
                others = chosen[:place] + chosen[place + 1 :]
                order = sorted(sides, key=lambda s: (s[0], s[1] == "at least"))
                variants = [self.scored((u, far, sides - {side})) for side in order]
                if not variants:
                    break
                values = [self.worth([*others, one]) - self.cost(one) for one in variants]
                best = values.index(max(values))
                if values[best] < self.worth([*others, chosen[place]]) - self.cost(chosen[place]):
                    break
                chosen[place] = variants[best]
                self.pool.append(chosen[place])
        self.add(chosen, most)
        return chosen


class TunedRules:
    """Fine-tuned bounds of selected rules: [class, weight, {(column, side): [core, width] or code}]."""

    def __init__(self, values, classes, weights, losses, rules, smallest):
        self.values, self.classes, self.weights, self.losses = values, classes, weights, losses
        self.rules = []
        for rule in rules:
            u, far, sides = rule
            found = {
                (a, side): values[u][a]
                if side == "equal"
                else [values[u][a], max(far, LEAST_WIDTH)]
                for a, side in sorted(sides, key=lambda s: (s[0], s[1] == "at least"))
            }
            self.rules.append([classes[u], precision(values, classes, weights, rule)[0], found])
        # Tuned parameters: (rule, side, 0) is a core, (rule, side, 1) the logarithm of a width.
        self.numbers = [
            (r, side, i)
            for r, (_, _, sides) in enumerate(self.rules)
            for side in sides
            if side[1] != "equal"
            for i in (0, 1)
        ]
        self.start = {key: self.get(*key) for key in self.numbers}
        mean, size = dict.fromkeys(self.numbers, 0.0), dict.fromkeys(self.numbers, 0.0)
        for move in range(1, MOVES + 1):
            slopes = self.slopes()
            for key in self.numbers:
                scale = key[2] + 1
                away = self.get(*key) - self.start[key]
                slope = slopes[key] + away / (scale * SPREAD) ** 2 / len(values)
                mean[key] = 0.9 * mean[key] + 0.1 * slope
                size[key] = 0.99 * size[key] + 0.01 * slope**2
                usual = sqrt(size[key] / (1 - 0.99**move)) + 1e-4
                length = LENGTH * (1 - (move - 1) / MOVES) * scale
                self.set(*key, self.get(*key) - length * mean[key] / (1 - 0.9**move) / usual)
            self.meet()
        for r, (c, _, sides) in enumerate(self.rules):
            size = sum(w for w, k in zip(weights, classes, strict=True) if k == c)
            if self.covered(r)[0] < smallest * size:
                for q, side, i in self.numbers:
                    if q == r:
                        self.set(r, side, i, self.start[r, side, i])
            for a, side in list(sides):
                if (side == "at most" and sides[a, side][0] >= 1.0) or (
                    side == "at least" and sides[a, side][0] <= 0.0
                ):
                    del sides[a, side]
            self.rules[r][1] = self.precision(r)

    def get(self, r, side, i):
        core, width = self.rules[r][2][side]
        return log(width) if i else core

    def set(self, r, side, i, value):
        self.rules[r][2][side][i] = max(exp(value), LEAST_WIDTH) if i else value

    def meet(self):
        """Set cores of two sides of an attribute that have crossed each other to their mean."""
        for _, _, sides in self.rules:
            for a, side in sides:
                if side == "at least" and (a, "at most") in sides:
                    low, high = sides[a, side], sides[a, "at most"]
                    if low[0] > high[0]:
                        low[0] = high[0] = (low[0] + high[0]) / 2

    def fails(self, v, a, side, known):
        return (self.values[v][a] - known[0]) * (1 if side == "at most" else -1)

    def covered(self, r):
        """Return the weight of the covered objects of the rule's class, and of all covered objects."""
        own_class, _, sides = self.rules[r]
        own = total = 0.0
        for v, row in enumerate(self.values):
            if all(
                row[a] is not None
                and (
                    row[a] == known
                    if side == "equal"
                    else self.fails(v, a, side, known) < known[1] - TOLERANCE
                )
                for (a, side), known in sides.items()
            ):
                total += self.weights[v]
                own += self.weights[v] * (self.classes[v] == own_class)
        return own, total

    def precision(self, r):
        own, total = self.covered(r)
        prior = 2.0 * sum(self.weights) / len(self.values)
        return (own + prior / len(set(self.classes))) / (total + prior)

    def score(self, r, v):
        """Return the score of a rule for an object, and its worst side (None if no side can be tuned)."""
        _, weight, sides = self.rules[r]
        worst, place, lost = 1.0, None, False
        for (a, side), known in sides.items():
            if self.values[v][a] is None or side == "equal":
                lost |= self.values[v][a] != known
                continue
            degree = 1.0 - self.fails(v, a, side, known) / known[1]
            if degree < worst:
                worst, place = degree, (a, side)
        found, outside = weight * worst, min(weight - 1.0, 0.0)
        return (outside, None) if lost and outside < found else (found, place)

    def slopes(self):
        """Return the gradient of the mean log loss of the softmax of the best scores, by each tuned parameter."""
        found = dict.fromkeys(self.numbers, 0.0)
        for v, own_class in enumerate(self.classes):
            best = {}
            for r, (c, _, _) in enumerate(self.rules):
                score, place = self.score(r, v)
                if c not in best or score > best[c][0]:
                    best[c] = score, place, r
            parts = {c: exp(max(score, FLOOR) / TEMPERATURE) for c, (score, _, _) in best.items()}
            for c, (score, place, r) in best.items():
                if score < FLOOR or place is None:
                    continue
                weight = self.rules[r][1]
                slope = parts[c] / sum(parts.values()) - (c == own_class)
                pull = slope / TEMPERATURE * weight
                sign = 1 if place[1] == "at most" else -1
                by_core = sign * round(pull / self.rules[r][2][place][1] * PULL_STEPS)
                found[r, place, 0] += self.losses[v] * by_core
                by_width = round(pull * (1.0 - score / weight) * PULL_STEPS)
                found[r, place, 1] += self.losses[v] * by_width
        return {key: total / PULL_STEPS / sum(self.losses) for key, total in found.items()}


def worth_their_price(scores, sides, rule_classes, classes, losses, price):
    """Return the rules to keep. From the last on, a rule is removed if its loss is small and its class has others.

    Sides are pairs of a column and a side or category; the price is that of a column, as a fraction.
    """

    def worth(rules):
        total = 0.0
        for v, own_class in enumerate(classes):
            own = max((scores[r][v] for r in rules if rule_classes[r] == own_class), default=-1e9)
            other = max((scores[r][v] for r in rules if rule_classes[r] != own_class), default=-1e9)
            half = min(max((own - other) * (STEPS / 2), -STEPS / 2), STEPS / 2)
            total += losses[v] * ((STEPS if half > 0 else 0) + round(half))
        return total / (STEPS * sum(losses))

    kept = list(range(len(sides)))
    for r in reversed(range(len(sides))):
        others = [q for q in kept if q != r]
        same = [q for q in others if rule_classes[q] == rule_classes[r]]
        if same and worth(kept) - worth(others) <= price * len({a for a, _ in sides[r]}):
            kept = others
    return kept

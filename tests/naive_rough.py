"""Reference implementation of MODLEM and QuickRules: slow, simple, and close to the definitions.

Tables are lists of rows, classes are numbers from 0, missing values are NaN. ``nominal`` marks attributes
whose values are only equal or not; ``weights`` are those of the objects (1 by default).
A MODLEM rule is a dict from attributes to ``(low, high)`` for low <= x < high, or to the one value of a
nominal attribute; a QuickRules rule is the number of an object with the list of its attributes.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from math import inf, isnan, log2

# --- rough approximations


def same(row, other):
    """Whether two objects agree in every attribute; missing values agree with each other."""
    return all(x == y or (isnan(x) and isnan(y)) for x, y in zip(row, other, strict=True))


def approximation(rows, classes, c, kind):
    """Return the objects that belong certainly ("lower"), possibly ("upper") or actually ("none") to class c."""
    found = set()
    for i, row in enumerate(rows):
        block = {classes[k] for k, other in enumerate(rows) if same(row, other)}
        certainly, possibly = block == {c}, c in block
        if {"lower": certainly, "upper": possibly, "none": classes[i] == c}[kind]:
            found.add(i)
    return found


# --- elementary tests


def cut_points(column, classes):
    """Midpoints between neighbouring values, except between two pure values of the same class."""
    values = sorted({x for x in column if not isnan(x)})
    cuts = []
    for low, high in pairwise(values):
        around = {c for x, c in zip(column, classes, strict=True) if x in {low, high}}
        if len(around) > 1:
            middle = (low + high) / 2
            cuts.append(middle if middle > low else high)
    return cuts


def satisfied(row, test):
    a, comparison, bound = test
    x = row[a]
    if isnan(x):
        return False
    return {"<": x < bound, ">=": x >= bound, "=": x == bound}[comparison]


def covered(rows, tests):
    return {i for i, row in enumerate(rows) if all(satisfied(row, test) for test in tests)}


def test_pairs(rows, classes, nominal):
    """All elementary tests: pairs with both sides of a cut, singles for a nominal value."""
    pairs = []
    for a, is_nominal in enumerate(nominal):
        column = [row[a] for row in rows]
        if is_nominal:
            pairs += [((a, "=", v),) for v in sorted({x for x in column if not isnan(x)})]
        else:
            pairs += [((a, "<", b), (a, ">=", b)) for b in cut_points(column, classes)]
    return pairs


# --- MODLEM


EQUAL = defaultdict(lambda: 1)


def weigh(objects, weights):
    """Return the exact sum of the weights of some objects."""
    return Fraction(0) + sum(Fraction(weights[i]) for i in objects)


def laplace(p, t, n_classes):
    return (p + 1) / (t + n_classes) if p else Fraction(0)


def bits(p, t):
    """Entropy of p positives among t objects, times t."""
    return sum(-n * log2(n / t) for n in (p, t - p) if n)


def grains_per_bit(n_objects, weights):
    """Entropies are rounded to units of 2^-20 bits, so that rounding errors do not break ties.

    Unless weights are integers, these are bits of a mean object.
    """
    if all(weights[i] == int(weights[i]) for i in range(n_objects)):
        return 2.0**20
    return 2.0**20 * n_objects / float(weigh(range(n_objects), weights))


def best_test(rows, at_hand, positives, pairs, n_classes, criterion, weights):
    """The test to add to a rule, None if none improves it."""
    p, t = weigh(at_hand & positives, weights), weigh(at_hand, weights)
    grains = grains_per_bit(len(rows), weights)
    standard = (
        (p + 1) / (t + n_classes)
        if criterion == "laplace"
        else -round(bits(float(p), float(t)) * grains)
    )
    best = None
    for pair in pairs:
        sides = [{i for i in at_hand if satisfied(rows[i], test)} for test in pair]
        counts = [(weigh(side & positives, weights), weigh(side, weights)) for side in sides]
        if criterion == "laplace":
            scores = [laplace(*count, n_classes) for count in counts]
            side = 0 if len(pair) == 1 or scores[0] > scores[1] else 1
            score = scores[side]
        else:
            parts = [*sides, at_hand.difference(*sides)]
            if not parts[0] or not parts[1]:
                continue
            side = 0 if len(pair) == 1 or counts[0][0] >= counts[1][0] else 1
            if not counts[side][0]:
                continue
            left = [
                bits(float(weigh(part & positives, weights)), float(weigh(part, weights)))
                for part in parts
                if part
            ]
            score = -round(sum(left) * grains)
        if score > standard and (best is None or (score, counts[side][0]) > best[0]):
            best = (score, counts[side][0]), pair[side]
    return best and best[1]


def rules_of_class(rows, target, pairs, n_classes, criterion, weights=EQUAL, most=1000):
    """Rules (lists of tests) that cover the target, an approximation of a class."""
    everything = set(range(len(rows)))
    done, rules = set(), []
    while target - done:
        at_hand, tests = everything - done, []
        while len(tests) < most:
            test = best_test(rows, at_hand, target - done, pairs, n_classes, criterion, weights)
            if test is None:
                break
            tests.append(test)
            at_hand = {i for i in at_hand if satisfied(rows[i], test)}
            if at_hand <= target:
                break
        for test in list(tests):
            others = [other for other in tests if other is not test]
            if covered(rows, others) <= target:
                tests = others
        if not tests:
            break
        rules.append(tests)
        done |= covered(rows, tests) & target
    for rule in list(rules):
        others = [other for other in rules if other is not rule]
        if done <= set().union(*(covered(rows, other) for other in others)):
            rules = others
    return rules


def merged(tests):
    """A condition per attribute."""
    conditions = {}
    for a, comparison, bound in tests:
        if comparison == "=":
            conditions[a] = bound
            continue
        low, high = conditions.get(a, (-inf, inf))
        conditions[a] = (low, min(high, bound)) if comparison == "<" else (max(low, bound), high)
    return conditions


def holds(x, condition):
    if isnan(x):
        return False
    return condition[0] <= x < condition[1] if isinstance(condition, tuple) else x == condition


def modlem(rows, classes, n_classes, nominal, criterion="laplace", kind="lower", weights=EQUAL):
    """Rules of all classes: pairs of class and conditions."""
    pairs = test_pairs(rows, classes, nominal)
    return [
        (c, merged(tests))
        for c in range(n_classes)
        for tests in rules_of_class(
            rows, approximation(rows, classes, c, kind), pairs, n_classes, criterion, weights
        )
    ]


def m_estimate(rows, target, conditions, weights=EQUAL):
    """(p + 3 prior) / (t + 3) of some conditions."""
    under = {
        i for i, row in enumerate(rows) if all(holds(row[a], k) for a, k in conditions.items())
    }
    prior = weigh(target, weights) / weigh(range(len(rows)), weights)
    return float((weigh(under & target, weights) + 3 * prior) / (weigh(under, weights) + 3))


def modlem_scores(rules, rows, classes, n_classes, kind, new, weights=EQUAL):
    """Return the scores of the classes for a new object: by matching rules, else by partly matching ones."""
    targets = [approximation(rows, classes, c, kind) for c in range(n_classes)]
    for partial in (False, True):
        scores = [0.0] * n_classes
        for c, conditions in rules:
            part = {a: k for a, k in conditions.items() if holds(new[a], k)}
            if part == conditions or (partial and part):
                scores[c] = max(scores[c], m_estimate(rows, targets[c], part, weights))
        if any(scores):
            return scores
    members = [[i for i, k in enumerate(classes) if k == c] for c in range(n_classes)]
    return [float(weigh(own, weights) / weigh(range(len(rows)), weights)) for own in members]


# --- positive region, QuickReduct, QuickRules


def add_up(numbers):
    """Sum from first to last, without the compensated summation of newer Pythons."""
    result = 0.0
    for number in numbers:
        result += number
    return result


T_NORMS = {
    "minimum": min,
    "product": lambda a, b: a * b,
    "lukasiewicz": lambda a, b: max(min(a, b) - (1.0 - max(a, b)), 0.0),
    "hamacher": lambda a, b: (
        min(a, b) * (max(a, b) / (max(a, b) + min(a, b) * (1 - max(a, b)))) if a or b else 0.0
    ),
    "drastic": lambda a, b: min(a, b) if max(a, b) == 1 else 0.0,
    "nilpotent_minimum": lambda a, b: min(a, b) if min(a, b) > 1 - max(a, b) else 0.0,
}

# Rounded as in the originals of QuickRules; the difference is in the last bit.
ORIGINAL_T_NORMS = T_NORMS | {"lukasiewicz": lambda a, b: max(a + b - 1.0, 0.0)}


def widths(rows):
    return [max(column) - min(column) for column in zip(*rows, strict=True)]


def relation(rows, i, k, attributes, t_norm, nominal):
    """Similarity of two objects over a list of attributes."""
    result = None
    for a in attributes:
        x, y = rows[i][a], rows[k][a]
        degree = float(x == y) if nominal[a] else 1 - abs(x - y) / widths(rows)[a]
        result = degree if result is None else T_NORMS[t_norm](result, degree)
    return 1.0 if result is None else result


def positive_region(rows, classes, attributes, t_norm, nominal):
    """For each object one minus its similarity to the most similar object of another class."""
    return [
        1
        - max(
            (
                relation(rows, i, k, attributes, t_norm, nominal)
                for k in range(len(rows))
                if classes[k] != classes[i]
            ),
            default=0.0,
        )
        for i in range(len(rows))
    ]


def quickrules(rows, classes, t_norm, close, ties, nominal, most=1000):
    """Return the rules, and the attributes in the order in which they are added."""
    n = len(rows)
    usable = [a for a in range(len(rows[0])) if len({row[a] for row in rows}) > 1]
    full = positive_region(rows, classes, usable, t_norm, nominal)
    chosen, rules, best = [], [], -1.0
    cover = [0.0] * n

    def done(i):
        if close:
            return abs(cover[i] - full[i]) <= 1e-9 * max(cover[i], full[i])
        return cover[i] >= full[i]

    def contained(some, other):
        return add_up(map(min, some, other)) == add_up(some)

    while len(chosen) < min(len(usable), most):
        sums = {}
        for a in usable:
            if a in chosen:
                continue
            attributes = [*chosen, a]
            degrees = positive_region(rows, classes, attributes, t_norm, nominal)
            sums[a] = add_up(degrees)
            for i in range(n):
                if done(i) or degrees[i] < (1 - 1e-9) * full[i]:
                    continue
                row = [relation(rows, i, k, attributes, t_norm, nominal) for k in range(n)]
                if any(contained(row, other) for _, _, other in rules):
                    continue
                rules = [rule for rule in rules if not contained(rule[2], row)]
                rules.append((i, attributes, row))
                cover = list(map(max, cover, row))
        if max(sums.values()) < best:
            break
        best = max(sums.values())
        equal = [a for a in sums if sums[a] == best]
        chosen.append(equal[0] if ties == "first" else equal[-1])
        if best >= (1 - 1e-9) * add_up(full) or all(map(done, range(n))):
            break
    return [(i, attributes) for i, attributes, _ in rules], chosen


def quickreduct(rows, classes, t_norm, ties, nominal):
    """Attributes added until the positive region is that of all attributes."""
    usable = [a for a in range(len(rows[0])) if len({row[a] for row in rows}) > 1]
    full = add_up(positive_region(rows, classes, usable, t_norm, nominal))
    chosen, best = [], -1.0
    while len(chosen) < len(usable):
        sums = {
            a: add_up(positive_region(rows, classes, [*chosen, a], t_norm, nominal))
            for a in usable
            if a not in chosen
        }
        if max(sums.values()) < best:
            break
        best = max(sums.values())
        equal = [a for a in sums if sums[a] == best]
        chosen.append(equal[0] if ties == "first" else equal[-1])
        if best >= (1 - 1e-9) * full:
            break
    return chosen


def class_sums(rules, rows, classes, new, t_norm, cut):
    """Return the sums of the rules of each class for new objects; classes are in the order of their first rules.

    Similarities outside the training range are negative unless they are clipped at 0.
    """
    width = widths(rows)
    result = []
    for x in new:
        sums = dict.fromkeys((classes[i] for i, _ in rules), 0.0)
        for i, attributes in rules:
            degree = 1.0
            for a in sorted(attributes):
                similar = 1 - abs(x[a] - rows[i][a]) / width[a]
                similar = max(similar, 0.0) if cut else similar
                degree = ORIGINAL_T_NORMS[t_norm](degree, similar)
            sums[classes[i]] += degree
        result.append(sums)
    return result


def fraction_decisions(sums):
    """Decide by the fraction of each class in the total, as in the published experiment with QuickRules.

    Without clipping, the total may be negative, which reverses the order. The class of the first rule wins ties.
    """
    return [max(each, key=lambda c: each[c] / add_up(each.values())) for each in sums]


def sum_decisions(sums):
    """Decide by the sums, the first class of ties; None if no rule fires."""
    return [max(sorted(each), key=each.get) if any(each.values()) else None for each in sums]

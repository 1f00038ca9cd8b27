"""Reference implementation of merging rules: after every step, all pairs are compared again.

A rule is a dict: `class`, `weight`, and `if`, a dict from columns to (support_low, core_low, core_high,
support_high) or to a set of codes, -1 for an unseen one. Absent columns may have any value.
Rows are lists of numbers.
"""

from itertools import combinations
from math import inf

COVERS = 1e-6


def holds(bounds, x):
    """Return the degree to which a value satisfies a condition."""
    if isinstance(bounds, set):
        return float(x in bounds)
    low, core_low, core_high, high = bounds
    if core_low <= x <= core_high:
        return 1.0
    if low < x < core_low:
        return (x - low) / (core_low - low)
    if core_high < x < high:
        return (high - x) / (high - core_high)
    return 0.0


def covers(rule, row):
    degree = min((holds(bounds, row[a]) for a, bounds in rule["if"].items()), default=1.0)
    return rule["weight"] * degree > COVERS


def covered(rule, rows):
    return {i for i, row in enumerate(rows) if covers(rule, row)}


def hull(one, other, n_codes):
    """Return the narrowest conditions that hold wherever those of either rule do, without trivial ones."""
    conditions = {}
    for a in sorted(set(one["if"]) & set(other["if"])):
        p, q = one["if"][a], other["if"][a]
        if isinstance(p, set):
            if len((p | q) - {-1}) < n_codes[a]:
                conditions[a] = p | q
            continue
        bounds = min(p[0], q[0]), min(p[1], q[1]), max(p[2], q[2]), max(p[3], q[3])
        if (bounds[0], bounds[3]) != (-inf, inf):
            conditions[a] = bounds
    return conditions


def merges(rules, rows, classes, amounts, n_codes):
    """Return all steps: the numbers of the two merged rules, and the new rule."""
    everything = {i: dict(rule) for i, rule in enumerate(rules)}
    within = {i: covered(rule, rows) for i, rule in everything.items()}
    alive, steps = list(everything), []

    def weigh(objects):
        return sum(amounts[i] for i in objects)

    def other_classes(rule, objects):
        return {i for i in objects if classes[i] != rule["class"]}

    while True:
        best = None
        for i, j in combinations(alive, 2):
            one, other = everything[i], everything[j]
            conditions = hull(one, other, n_codes)
            if one["class"] != other["class"] or not conditions:
                continue
            made = {"if": conditions, "class": one["class"], "weight": 1.0}
            inside = covered(made, rows)
            new = other_classes(made, inside - within[i] - within[j])
            size = weigh(k for k, c in enumerate(classes) if c == made["class"]) or 1
            key = weigh(new) / size, -weigh(inside - other_classes(made, inside)), i, j
            if best is None or key < best[0]:
                best = key, made
        if best is None:
            return steps
        (_, _, i, j), made = best
        for a in list(made["if"]):
            without = made | {"if": {b: c for b, c in made["if"].items() if b != a}}
            more = covered(without, rows) - covered(made, rows)
            if without["if"] and not other_classes(made, more):
                made = without
        inside = covered(made, rows)
        total = weigh(inside)
        precision = weigh(inside - other_classes(made, inside)) / total if total else None
        chance = weigh(k for k, c in enumerate(classes) if c == made["class"]) / sum(amounts)
        pair = [everything[i], everything[j]]
        sizes = [weigh(within[i]), weigh(within[j])]
        if not sum(sizes):
            sizes = [1, 1]
        mean = sum(rule["weight"] * k for rule, k in zip(pair, sizes, strict=True)) / sum(sizes)
        if precision is None or (precision <= chance < 1):
            certainty = 0.0
        else:
            certainty = 1.0 if chance == 1 else (precision - chance) / (1 - chance)
        number = len(everything)
        everything[number] = {**made, "weight": mean * certainty}
        within[number] = inside
        alive = [k for k in alive if k not in (i, j)] + [number]
        steps.append(((i, j), everything[number], inside, precision))

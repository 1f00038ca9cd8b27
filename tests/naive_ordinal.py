"""Reference implementation of ordinal classification: slow, simple, and close to the definitions.

Classes are positions from 0, the lowest. A direction is 1 for a gain, -1 for a cost, 0 for neither.
"""

from itertools import combinations_with_replacement, pairwise
from math import inf, isnan

import numpy as np

import naive

# --- rules "at least" and "at most"


def distinct_rows(values, classes):
    """Return the distinct objects of a class, sorted by their values; missing values come first."""

    def key(row):
        return ([-1.0 if isnan(x) else x for x in values[row]], classes[row])

    rows = []
    for row in sorted(range(len(classes)), key=lambda row: (key(row), row)):
        if not rows or key(rows[-1]) != key(row):
            rows.append(row)
    return rows


def initial_kinds(directions, rising):
    """Lower bounds of gains and upper bounds of costs in rules "at least", the reverse in "at most"."""
    kinds = {1: "AT_LEAST", -1: "AT_MOST"} if rising else {1: "AT_MOST", -1: "AT_LEAST"}
    return [kinds.get(direction, "SIMILAR") for direction in directions]


def unions(values, classes, n_classes, directions, order, nominal=()):
    """Yield the candidates of the unions of every class but the lowest, on both sides, and the covering tables."""
    rows = distinct_rows(values, classes)
    points = [values[row] for row in rows]
    for k in range(1, n_classes):
        sides = [classes[row] >= k for row in rows]
        for rising in (False, True):
            own = [i for i, side in enumerate(sides) if side == rising]
            initial = initial_kinds(directions, rising)
            confidence = naive.confidences(points, sides, initial, nominal)
            rules = []
            for i in own:
                kinds = naive.shorten(points, sides, i, confidence[i], order, initial, nominal)
                covered = [
                    naive.covers(kinds, points[i], confidence[i], points[j], nominal) for j in own
                ]
                rules.append(
                    {
                        "anchor": rows[i],
                        "values": points[i],
                        "kinds": kinds,
                        "confidence": confidence[i],
                        "rising": rising,
                        "bound": k if rising else k - 1,
                        "covered": covered,
                    }
                )
            yield rules


def fit(values, classes, n_classes, directions, order, nominal=()):
    """Return the minimum number of rules for every union, then of conditions; the first of ties."""
    chosen = []
    for rules in unions(values, classes, n_classes, directions, order, nominal):
        table = np.array([rule["covered"] for rule in rules], dtype=bool).reshape(len(rules), -1)
        costs = [sum(kind != "UNUSED" for kind in rule["kinds"]) for rule in rules]
        chosen += [rules[r] for r in naive.minimum_cover(table, costs)]
    return chosen


def nearness(rules, v, nominal=()):
    """Return confidence minus distance of the best rule, negative if no rule covers the object."""
    return max(
        [
            rule["confidence"] - naive.distance(rule["kinds"], rule["values"], v, nominal)
            for rule in rules
        ],
        default=-inf,
    )


def margins(rules, n_classes, v, nominal=()):
    """Return the lead of the rules for "at least" a class, for each class but the lowest."""
    found = []
    for t in range(1, n_classes):
        pro = [rule for rule in rules if rule["rising"] and rule["bound"] >= t]
        contra = [rule for rule in rules if not rule["rising"] and rule["bound"] < t]
        found.append((nearness(pro, v, nominal), nearness(contra, v, nominal)))
    return found


# --- cuts of a score


def places(scores):
    """Return the midpoints between neighboring scores, and cuts beyond all scores."""
    values = sorted(set(scores))
    return [values[0] - 1, *(a + (b - a) / 2 for a, b in pairwise(values)), values[-1] + 1]


def error(scores, classes, weights, cuts):
    """Return the error of predictions, in classes."""
    return sum(
        weight * abs(sum(score > cut for cut in cuts) - c)
        for score, c, weight in zip(scores, classes, weights, strict=True)
    )


def best_cuts(scores, classes, weights, n_classes):
    """Return the first of all ascending choices with the minimum error."""
    choices = combinations_with_replacement(places(scores), n_classes - 1)
    return min(choices, key=lambda cuts: error(scores, classes, weights, cuts))

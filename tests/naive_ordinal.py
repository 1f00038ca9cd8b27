"""Ordered classes straight from their definitions: slow, obvious, the measure of the fast code.

Classes are positions from 0, the lowest. A direction is 1 for a gain, -1 for a cost, 0 for neither.
"""

from itertools import combinations_with_replacement, pairwise
from math import inf, isnan

import numpy as np

import naive

# --- rules "at least" and "at most"


def distinct_rows(values, classes):
    """Equal objects of a class once, sorted by their values; a missing one comes first."""

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
    """For every class but the lowest and both sides: the union's candidates, and who covers whom."""
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
    """The fewest rules for every union, then the fewest conditions, then the first."""
    chosen = []
    for rules in unions(values, classes, n_classes, directions, order, nominal):
        table = np.array([rule["covered"] for rule in rules], dtype=bool).reshape(len(rules), -1)
        costs = [sum(kind != "UNUSED" for kind in rule["kinds"]) for rule in rules]
        chosen += [rules[r] for r in naive.minimum_cover(table, costs)]
    return chosen


def nearness(rules, v, nominal=()):
    """Confidence less distance of the best rule, below 0 where none covers."""
    return max(
        [
            rule["confidence"] - naive.distance(rule["kinds"], rule["values"], v, nominal)
            for rule in rules
        ],
        default=-inf,
    )


def margins(rules, n_classes, v, nominal=()):
    """For each class but the lowest, by how much what speaks for "at least" it leads."""
    found = []
    for t in range(1, n_classes):
        pro = [rule for rule in rules if rule["rising"] and rule["bound"] >= t]
        contra = [rule for rule in rules if not rule["rising"] and rule["bound"] < t]
        found.append((nearness(pro, v, nominal), nearness(contra, v, nominal)))
    return found


# --- cuts of a score


def places(scores):
    """Halfway between neighbouring scores, and beyond all."""
    values = sorted(set(scores))
    return [values[0] - 1, *(a + (b - a) / 2 for a, b in pairwise(values)), values[-1] + 1]


def error(scores, classes, weights, cuts):
    """How wrong answers are, in classes."""
    return sum(
        weight * abs(sum(score > cut for cut in cuts) - c)
        for score, c, weight in zip(scores, classes, weights, strict=True)
    )


def best_cuts(scores, classes, weights, n_classes):
    """Of all ascending choices, the first that is least wrong."""
    choices = combinations_with_replacement(places(scores), n_classes - 1)
    return min(choices, key=lambda cuts: error(scores, classes, weights, cuts))

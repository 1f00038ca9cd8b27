"""Reference implementation of the pooled rules of several bags, based on that of FRRI.

A rule is (kinds, anchor, confidence, class, bag): its conditions, the scaled values of its object, its
half-width, its consequent, and its bag. `labels` are the classes of all objects.
"""

from math import inf

import numpy as np

import naive


def objects_of_other_classes(rule, labels, but=None):
    """Return the objects of other classes than that of the rule, possibly except one."""
    return [v for v in range(len(labels)) if labels[v] != rule[3] and v != but]


def narrowed(rule, values, labels, nominal=(), but=None):
    """Return the confidence of a rule, reduced until it covers no object of another class."""
    kinds, anchor, confidence = rule[:3]
    away = (
        naive.distance(kinds, anchor, values[v], nominal)
        for v in objects_of_other_classes(rule, labels, but)
    )
    return min(confidence, min(away, default=inf))


def pooled(rules, values, labels, nominal=()):
    """Return the confidence of every rule, the covering table, and the best of the smallest covers."""
    reach = [narrowed(rule, values, labels, nominal) for rule in rules]
    table = np.zeros((len(rules), len(values)), dtype=bool)
    for r, rule in enumerate(rules):
        table[r] = [naive.covers(rule[0], rule[1], reach[r], v, nominal) for v in values]
    costs = [sum(kind != "UNUSED" for kind in rule[0]) for rule in rules]
    return reach, table, naive.minimum_cover(table, costs)


def unseen(rules, values, labels, v, seen, n_classes, nominal=()):
    """Return the class that rules of bags without the object v predict, or None if there are no such bags.

    The best one decides, narrowed by all objects but v; where no rule covers v, the nearest one.
    """
    asked = [rule for rule in rules if not seen[rule[4]][v]]
    if not asked:
        return None
    counts = []
    for rule in asked:
        far = narrowed(rule, values, labels, nominal, but=v)
        counts.append(far - naive.distance(rule[0], rule[1], values[v], nominal))
    own = [
        [x for x, rule in zip(counts, asked, strict=True) if rule[3] == c] for c in range(n_classes)
    ]
    scores = [max([max(x, 0.0) for x in mine] or [0.0]) for mine in own]
    if max(scores) > 0:
        return scores.index(max(scores))
    near = [max(mine, default=-inf) for mine in own]
    return near.index(max(near))

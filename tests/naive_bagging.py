"""Rules of several bags pooled, straight from the definition; built on the slow version of FRRI.

A rule is (kinds, anchor, confidence, class, bag): its conditions, the scaled values of its object, how far
it reaches, what it says, and the bag that it comes from. `labels` are the classes of all objects.
"""

from math import inf

import numpy as np

import naive


def enemies(rule, labels, but=None):
    """The objects of other classes than the rule's, but one perhaps."""
    return [v for v in range(len(labels)) if labels[v] != rule[3] and v != but]


def narrowed(rule, values, labels, nominal=(), but=None):
    """The confidence of a rule, made smaller until no enemy is covered."""
    kinds, anchor, confidence = rule[:3]
    away = (naive.distance(kinds, anchor, values[v], nominal) for v in enemies(rule, labels, but))
    return min(confidence, min(away, default=inf))


def pooled(rules, values, labels, nominal=()):
    """The confidence of every rule, who covers whom, and the best of the smallest covers."""
    reach = [narrowed(rule, values, labels, nominal) for rule in rules]
    table = np.zeros((len(rules), len(values)), dtype=bool)
    for r, rule in enumerate(rules):
        table[r] = [naive.covers(rule[0], rule[1], reach[r], v, nominal) for v in values]
    costs = [sum(kind != "UNUSED" for kind in rule[0]) for rule in rules]
    return reach, table, naive.minimum_cover(table, costs)


def unseen(rules, values, labels, v, seen, n_classes, nominal=()):
    """The class that rules of bags without the object v give it, None if there are no such bags.

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

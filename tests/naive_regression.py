"""Reference implementation of induction for graded decisions: slow, simple, and close to the definitions.

`D(u, v) = max(0, 1 - |y(v) - y(u)| / tau)` is the degree to which the decision of v agrees with the rule of
u. Conditions, distances and kinds are those of `naive`.
"""

import itertools

import numpy as np

import naive
from naive import TOLERANCE, TRIED_IN_ORDER


def agreement(y, tau, u, v):
    """The degree to which the decision of v agrees with the rule of u."""
    return max(0.0, 1.0 - abs(float(y[v]) - float(y[u])) / tau)


def confidences(values, y, tau, initial=None, nominal=()):
    """c(u): the minimum of I(R(u, v), D(u, v)) with the Łukasiewicz implicator I(x, y) = min(1, 1 - x + y).

    Computed without rounding by subtractions from 1: the minimum of distance + D(u, v), and 1.
    """
    n, m = np.shape(values)
    first = ["SIMILAR"] * m if initial is None else initial
    return np.array(
        [
            min(
                1.0,
                *(
                    naive.distance(first, values[u], values[v], nominal) + agreement(y, tau, u, v)
                    for v in range(n)
                ),
            )
            for u in range(n)
        ]
    )


def kept_away(kinds, u, v, y, tau, confidence, values, nominal=()):
    """Whether the rule of u does not contradict v: some condition fails by c(u) - D(u, v)."""
    limit = confidence - TOLERANCE - agreement(y, tau, u, v)
    return limit < 0 or any(
        naive.fails_by(kind, values[u][a], values[v][a], nominal=a in nominal) > limit
        for a, kind in enumerate(kinds)
    )


def shorten(values, y, tau, u, confidence, order, initial=None, nominal=()):
    """RULE_PRUNE for one object: the first kind under which no object is contradicted."""
    kinds = ["SIMILAR"] * len(values[u]) if initial is None else list(initial)
    for a in order:
        free = kinds[a] == "SIMILAR" and a not in nominal
        for kind in TRIED_IN_ORDER if free else ("UNUSED", kinds[a]):
            kinds[a] = kind
            if all(
                kept_away(kinds, u, v, y, tau, confidence, values, nominal)
                for v in range(len(values))
            ):
                break
    return kinds


def fewest_rows(table, costs):
    """Return the minimum number of rows that cover every coverable column, and their minimum cost.

    All subsets are tried.
    """
    table = np.asarray(table, dtype=bool)
    wanted = table.any(axis=0)
    for size in range(len(table) + 1):
        found = [
            sum(costs[j] for j in rows)
            for rows in itertools.combinations(range(len(table)), size)
            if all(table[list(rows)].any(axis=0) >= wanted)
        ]
        if found:
            return size, min(found)
    raise AssertionError


def normalised_degrees(degrees, near):
    """Return the fraction of each rule in predictions: its normalized degree, or 1 for the nearest if none fires."""
    shares = []
    for counts, nearness in zip(degrees, near, strict=True):
        total = sum(counts)
        if total > 0:
            shares.append([count / total for count in counts])
        else:
            best = max(range(len(nearness)), key=lambda r: nearness[r])
            shares.append([float(r == best) for r in range(len(nearness))])
    return np.array(shares)

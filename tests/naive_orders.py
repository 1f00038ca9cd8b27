"""Reference implementation of attribute orders and minimal rules, by trying everything.

A rule of an object is a list of kinds, one for each attribute, as in `naive`; a kind is one of those that
the attribute may have.
"""

from collections import Counter
from itertools import product
from math import fsum, isnan, log

import naive

SIDES = {"UNUSED": 0, "AT_MOST": 1, "AT_LEAST": 1, "SIMILAR": 2}
WIDER = {
    "UNUSED": set(),
    "AT_MOST": {"UNUSED"},
    "AT_LEAST": {"UNUSED"},
    "SIMILAR": {"UNUSED", "AT_MOST", "AT_LEAST"},
}


def allowed_kinds(m, initial=None, nominal=()):
    """Return the kinds that a condition on each attribute may have."""
    kinds = []
    for a in range(m):
        start = "SIMILAR" if initial is None else initial[a]
        free = start == "SIMILAR" and a not in nominal
        kinds.append(list(naive.TRIED_IN_ORDER) if free else list(dict.fromkeys(["UNUSED", start])))
    return kinds


def rules(values, labels, u, confidence, initial=None, nominal=()):
    """Return all rules of an object: kinds that discern every object of another class."""
    return [
        kinds
        for kinds in product(*allowed_kinds(len(values[u]), initial, nominal))
        if all(
            naive.discerned(kinds, values[u], confidence, values[v], nominal)
            for v in naive.others(labels, u)
        )
    ]


def minimal_rules(values, labels, u, confidence, initial=None, nominal=()):
    """Return the set of rules of which no condition can be relaxed further."""
    found = set(rules(values, labels, u, confidence, initial, nominal))

    def opened(kinds):
        for a, kind in enumerate(kinds):
            for wider in WIDER[kind]:
                yield (*kinds[:a], wider, *kinds[a + 1 :])

    return {kinds for kinds in found if not found & set(opened(kinds))}


def length(kinds, nominal=()):
    """Return the number of conditions and the number of sides; a category has one."""
    sides = [min(SIDES[kind], 1) if a in nominal else SIDES[kind] for a, kind in enumerate(kinds)]
    return sum(side > 0 for side in sides), sum(sides)


def mutual_information(column, labels, *, nominal=False):
    """Return the mutual information of the deciles of a column, or its categories, and the classes, in nats."""
    known = [x for x in column if not isnan(x)]
    bins = []
    for x in column:
        if isnan(x):
            bins.append("missing")
        elif nominal:
            bins.append(x)
        else:
            bins.append(10 * sum(other < x for other in known) // len(known))
    n = len(labels)
    pairs, rows, columns = Counter(zip(bins, labels, strict=True)), Counter(bins), Counter(labels)
    return fsum(k / n * log(k * n / (rows[b] * columns[c])) for (b, c), k in pairs.items())

"""Reference implementation of fuzzy-rough rule induction: slow, simple, and close to the definitions.

Every function is a definition in a few plain lines, over scaled values in [0, 1]. No function reuses
results of another for speed. ``literal_induction`` at the end is the exception: it transcribes the
paper's pseudo-code with numpy over the objects, to compare speeds.

Names: ``u`` is the object that a rule is made from (its anchor), ``v`` any object; a rule is a list of
kinds, one per attribute, with its anchor and its confidence. "AT_MOST" is the paper's DOMINANT
(smaller than or similar), "AT_LEAST" its DOMINATED (greater than or similar).

Tables may be mixed: NaN is a missing value, ``nominal`` has the indices of attributes whose values can
only be equal or not (they are not scaled), and ``initial`` the kind from which each attribute starts.
"""

from collections import Counter
from itertools import combinations
from math import inf, isinf, isnan

import numpy as np

TOLERANCE = 1e-6
TRIED_IN_ORDER = ("UNUSED", "AT_MOST", "AT_LEAST", "SIMILAR")


# --- scaling


def scale(train, new=None, nominal=()):
    """Scale every column of `new` by the range of `train`: (x - low) / (high - low), cut to [0, 1].

    A column that is constant in `train` becomes 0. Where high - low is beyond the largest float,
    all three numbers are halved first. Missing values do not affect the range and stay missing,
    if the column is not constant. Nominal columns stay as they are.
    """
    train = np.asarray(train, dtype=float)
    new = train if new is None else np.asarray(new, dtype=float)
    scaled = np.zeros(new.shape)
    for a in range(train.shape[1]):
        if a in nominal:
            scaled[:, a] = new[:, a]
            continue
        known = [float(x) for x in train[:, a] if not isnan(x)]
        low, high = min(known, default=0.0), max(known, default=0.0)
        if low == high:
            continue
        for i in range(len(new)):
            x = float(new[i, a])
            if isnan(x):
                scaled[i, a] = x
                continue
            if isinf(high - low):
                ratio = (x / 2 - low / 2) / (high / 2 - low / 2)
            else:
                ratio = (x - low) / (high - low)
            scaled[i, a] = min(max(ratio, 0.0), 1.0)
    return scaled


# --- rules and degrees


def relation(kind, a_u, a_v):
    """Degree to which the value a(v) meets a condition of this kind on the anchor's value a(u)."""
    d = a_v - a_u
    if kind == "SIMILAR":
        return 1 - abs(d)
    if kind == "AT_MOST":
        return min(1 - d, 1)
    if kind == "AT_LEAST":
        return min(1 + d, 1)
    if kind == "UNUSED":
        return 1
    raise ValueError(kind)


def fails_by(kind, a_u, a_v, *, nominal=False):
    """1 - relation, computed without rounding by the subtraction from 1.

    A missing value on either side fails nothing. Nominal values are equal, or they fail by 1.
    """
    if isnan(a_u) or isnan(a_v):
        return 0.0
    if nominal:
        if kind not in ("SIMILAR", "UNUSED"):
            raise ValueError(kind)
        return 1.0 if kind == "SIMILAR" and a_u != a_v else 0.0
    d = a_v - a_u
    if kind == "SIMILAR":
        return abs(d)
    if kind == "AT_MOST":
        return max(d, 0.0)
    if kind == "AT_LEAST":
        return max(-d, 0.0)
    if kind == "UNUSED":
        return 0.0
    raise ValueError(kind)


def distance(kinds, u, v, nominal=()):
    """1 - matching degree: the largest failure over all attributes."""
    return max(
        (fails_by(kind, u[a], v[a], nominal=a in nominal) for a, kind in enumerate(kinds)),
        default=0.0,
    )


def confidences(values, labels, initial=None, nominal=()):
    """Lower approximation of the own class: Chebyshev distance to the nearest other-class object.

    1 for an object when there is no object of another class. Distances are those of the rule that
    shortening starts from.
    """
    n, m = np.shape(values)
    first = ["SIMILAR"] * m if initial is None else initial
    return np.array(
        [
            min(
                (distance(first, values[u], values[v], nominal) for v in others(labels, u)),
                default=1.0,
            )
            for u in range(n)
        ],
        dtype=float,
    )


def others(labels, u):
    """Return the indices of the objects whose class is not that of object number u."""
    return [v for v in range(len(labels)) if labels[v] != labels[u]]


def covering_degree(kinds, u, confidence, v, nominal=()):
    """Łukasiewicz t-norm of matching degree and confidence: max(0, confidence - distance)."""
    return max(0.0, confidence - distance(kinds, u, v, nominal))


def covers(kinds, u, confidence, v, nominal=()):
    """Whether the covering degree is positive: distance < confidence - tolerance.

    A distance is never negative, so a confidence of at most the tolerance covers nothing.
    """
    return bool(distance(kinds, u, v, nominal) < confidence - TOLERANCE)


def discerned(kinds, u, confidence, v, nominal=()):
    """Whether some attribute discerns v from u: it fails by more than confidence - tolerance.

    Shortening asks this. It is not quite the opposite of `covers`: an object whose distance is
    exactly confidence - tolerance is neither discerned nor covered.
    """
    return any(
        fails_by(kind, u[a], v[a], nominal=a in nominal) > confidence - TOLERANCE
        for a, kind in enumerate(kinds)
    )


# --- shortening


def shorten(values, labels, u_index, confidence, order, initial=None, nominal=()):
    """RULE_PRUNE for one object: `confidence` is that object's own, `order` a list of attributes.

    From all SIMILAR, give each attribute in turn the first kind of UNUSED, AT_MOST, AT_LEAST and
    SIMILAR under which every object of another class is still discerned. An attribute that is nominal
    or starts from another kind can only be UNUSED or what it was.
    """
    u = values[u_index]
    kinds = ["SIMILAR"] * len(u) if initial is None else list(initial)
    for a in order:
        free = kinds[a] == "SIMILAR" and a not in nominal
        for kind in TRIED_IN_ORDER if free else ("UNUSED", kinds[a]):
            kinds[a] = kind
            if all(
                discerned(kinds, u, confidence, values[v], nominal) for v in others(labels, u_index)
            ):
                break
    return kinds


def shorten_all(values, labels, confidence, orders, initial=None, nominal=()):
    """RULE_PRUNE for every object; `orders` is one permutation for all objects or one for each."""
    n = len(values)
    if np.ndim(orders) == 1:
        orders = [orders] * n
    return [
        shorten(values, labels, u, confidence[u], orders[u], initial, nominal) for u in range(n)
    ]


# --- selection


def covering_table(values, labels, confidence, kinds, nominal=()):
    """z[u, v]: whether the rule of object u covers object v, for all pairs of any classes."""
    n = len(labels)
    table = np.zeros((n, n), dtype=bool)
    for u in range(n):
        for v in range(n):
            table[u, v] = covers(kinds[u], values[u], confidence[u], values[v], nominal)
    return table


def dominated(table, costs, j):
    """Whether some other candidate covers all that j covers, costs no more, and goes before j.

    It goes before j if its cover or its cost differs, or, both being equal, if its index is lower.
    """
    return any(
        all(table[i] >= table[j])
        and costs[i] <= costs[j]
        and (any(table[i] != table[j]) or costs[i] != costs[j] or i < j)
        for i in range(len(table))
        if i != j
    )


def minimum_cover(table, costs):
    """Cover every coverable column with rows of `table`: the sorted indices of the best rows.

    Best: fewest rows, then smallest total cost, then lexicographically smallest sorted indices.
    Columns without a True are left out; empty and dominated rows are never used. All subsets of the
    remaining rows are tried by increasing size: for small tables only.
    """
    table = np.asarray(table, dtype=bool)
    coverable = table.any(axis=0)
    usable = [j for j in range(len(table)) if table[j].any() and not dominated(table, costs, j)]
    for size in range(len(usable) + 1):
        found = [
            subset
            for subset in combinations(usable, size)
            if all(table[list(subset)].any(axis=0) == coverable)
        ]
        if found:
            return list(min(found, key=lambda subset: (sum(costs[j] for j in subset), subset)))
    raise AssertionError("the usable rows together cover all that is coverable")


def partial_cover(table, prices, groups, at_most=None, left_out=None):
    """Return the maximum objective over all choices: covered objects minus prices.

    Every group with candidates that cover anything keeps one; `at_most` limits the candidates, though not
    below one for each group; `left_out` the objects of each group that are coverable and not covered.
    """
    useful = [j for j in range(len(table)) if any(table[j])]
    needed = {groups[j] for j in useful}
    best = None
    for size in range(len(useful) + 1):
        if at_most is not None and size > max(at_most, len(needed)):
            break
        for chosen in combinations(useful, size):
            if {groups[j] for j in chosen} != needed:
                continue
            covered = {v for j in chosen for v, inside in enumerate(table[j]) if inside}
            if left_out is not None:
                missed = Counter(
                    next(groups[j] for j in useful if table[j][v])
                    for v in range(len(table[0]))
                    if v not in covered and any(table[j][v] for j in useful)
                )
                if any(missed[g] > left_out[g] for g in needed):
                    continue
            worth = len(covered) - sum(prices[j] for j in chosen)
            best = worth if best is None else max(best, worth)
    return best


# --- inference


def predict_scores(kinds_list, anchors, confidences, rule_classes, n_classes, v, nominal=()):
    """Per class, the largest covering degree of its rules and the largest confidence - distance.

    A class without rules has score 0 and uncut value minus infinity.
    """
    scores, uncut = [0.0] * n_classes, [-inf] * n_classes
    for kinds, u, confidence, c in zip(kinds_list, anchors, confidences, rule_classes, strict=True):
        scores[c] = max(scores[c], covering_degree(kinds, u, confidence, v, nominal))
        uncut[c] = max(uncut[c], confidence - distance(kinds, u, v, nominal))
    return scores, uncut


def predict(kinds_list, anchors, confidences, rule_classes, n_classes, v, nominal=()):
    """Class of the highest score or, if all are 0, the highest uncut value; ties to the lowest."""
    rules = (kinds_list, anchors, confidences, rule_classes)
    scores, uncut = predict_scores(*rules, n_classes, v, nominal)
    decisive = scores if max(scores) > 0 else uncut
    return decisive.index(max(decisive))


# --- all together


def fit(X, y, order=None, initial=None, nominal=()):
    """Scale, shorten, select. `order`: one permutation of the attributes, one per object, or None.

    The first entries are about all objects, in the order of the rows of X; those from "selected" on
    are about the chosen rules: what `predict` takes.
    """
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    values = scale(X, nominal=nominal)
    confidence = confidences(values, labels, initial, nominal)
    orders = list(range(values.shape[1])) if order is None else order
    kinds = shorten_all(values, labels, confidence, orders, initial, nominal)
    table = covering_table(values, labels, confidence, kinds, nominal)
    costs = [sum(kind != "UNUSED" for kind in rule) for rule in kinds]
    selected = minimum_cover(table, costs)
    return {
        "classes": classes,
        "labels": labels,
        "scaled": values,
        "confidences": confidence,
        "kinds": kinds,
        "table": table,
        "costs": costs,
        "left_out": [v for v in range(len(labels)) if not table[:, v].any()],
        "selected": selected,
        "rule_kinds": [kinds[u] for u in selected],
        "rule_anchors": [values[u] for u in selected],
        "rule_confidences": [confidence[u] for u in selected],
        "rule_classes": [int(labels[u]) for u in selected],
        "n_classes": len(classes),
        "nominal": nominal,
    }


def predict_fitted(fitted, v):
    """`predict` for one scaled object with the rules of `fit`."""
    names = ("rule_kinds", "rule_anchors", "rule_confidences", "rule_classes", "n_classes")
    return predict(*(fitted[name] for name in names), v, fitted["nominal"])


# --- the pseudo-code, transcribed


def matching_set(columns, kinds, u):
    """M_r over all objects: the minimum over the attributes of the relation to the anchor."""
    matching = np.ones(columns.shape[1])
    for kind, column in zip(kinds, columns, strict=True):
        d = column - column[u]
        if kind == "SIMILAR":
            matching = np.minimum(matching, 1 - np.abs(d))
        elif kind == "AT_MOST":
            matching = np.minimum(matching, 1 - d)
        elif kind == "AT_LEAST":
            matching = np.minimum(matching, 1 + d)
    return matching  # starting from 1 does the min(., 1) of the one-sided relations


def covering_set(columns, kinds, u, confidence):
    """S_r over all objects, with the Łukasiewicz t-norm."""
    return np.maximum(0, matching_set(columns, kinds, u) + confidence - 1)


def literal_induction(values, labels):
    """Confidences, RULE_PRUNE and the covering table as in the paper's pseudo-code.

    Loops over objects, attributes and kinds; numpy over the objects. Every try computes the whole
    covering set again. Returns the confidences, the kinds (one list per object), the covering table.
    """
    columns = np.ascontiguousarray(np.transpose(values))
    labels = np.asarray(labels)
    m, n = columns.shape

    confidence = np.empty(n)
    for u in range(n):
        own_class = np.where(labels == labels[u], 1.0, 0.0)
        implied = np.minimum(1, 1 - matching_set(columns, ["SIMILAR"] * m, u) + own_class)
        confidence[u] = implied.min()

    rules = []
    for u in range(n):
        own_class = np.where(labels == labels[u], 1.0, 0.0)
        kinds = ["SIMILAR"] * m
        for a in range(m):
            for kind in TRIED_IN_ORDER:
                kinds[a] = kind
                covering = covering_set(columns, kinds, u, confidence[u])
                if np.all(covering < own_class + TOLERANCE):
                    break
        rules.append(kinds)

    table = np.empty((n, n), dtype=bool)
    for u in range(n):
        table[u] = covering_set(columns, rules[u], u, confidence[u]) > TOLERANCE

    return confidence, rules, table

"""What the prediction by one winning rule is worth, for every rule that might join, as loops and arrays.

The score of a rule for an object is its precision times the uncut degree, above 0 inside the box and
below it outside; an object goes to the class of its best score. What an object is worth is a whole number
(`STEPS` for a hit, and up to half of that for the margin), and so are weights: sums are exact.
"""

import numpy as np

from frri._twins import either

# How finely what an object is worth is counted.
STEPS = 1 << 20
# Rows x objects of a block of the array form.
BLOCK = 1 << 18
# The score of a class without rules.
NONE = -1e9


def _scores_arrays(values, rigid, anchor, reach, types, precision, found):
    """The score of one rule for every object."""
    outside = min(1.0 - 1.0 / precision, 0.0)
    uncut = np.ones(len(values))
    for a in np.flatnonzero(types):
        apart = values[:, a] - anchor[a]
        if rigid[a]:
            degree = np.where(apart == 0.0, 1.0, outside)
        else:
            failing = np.abs(apart) if types[a] == 3 else apart if types[a] == 1 else -apart
            degree = 1.0 - np.maximum(failing, 0.0) / reach
            degree[np.isnan(apart)] = outside
        np.minimum(uncut, degree, out=uncut)
    found[:] = precision * uncut


def _scores_loops(values, rigid, anchor, reach, types, precision, found):
    n, m = values.shape
    outside = min(1.0 - 1.0 / precision, 0.0)
    for v in range(n):
        uncut = 1.0
        for a in range(m):
            side = types[a]
            if side == 0:
                continue
            apart = values[v, a] - anchor[a]
            if np.isnan(apart) or (rigid[a] and apart != 0.0):
                degree = outside
            elif rigid[a]:
                degree = 1.0
            else:
                if side == 3:
                    apart = abs(apart)
                elif side == 2:
                    apart = -apart
                degree = 1.0 - max(apart, 0.0) / reach
            if degree < uncut:
                uncut = degree
        found[v] = precision * uncut


scores = either(interpreted=_scores_arrays, loops=_scores_loops)


def _worths_arrays(scores, classes_of_rules, classes, weights, own, other, found):
    """What all objects are worth together if one more rule joined, for each rule."""
    step = max(1, BLOCK // max(1, len(classes)))
    for start in range(0, len(scores), step):
        block = scores[start : start + step]
        mine = classes[None] == classes_of_rules[start : start + step, None]
        margin = np.where(mine, np.maximum(own, block), own) - np.where(
            mine, other, np.maximum(other, block)
        )
        found[start : start + step] = worth(margin) @ weights


def worth(margin):
    """What objects are worth whose own class is ahead by so much."""
    cut = np.clip(margin, -1.0, 1.0)
    return (cut > 0.0) * float(STEPS) + np.rint(cut * (STEPS / 2))


def _worths_loops(scores, classes_of_rules, classes, weights, own, other, found):
    for r in range(len(scores)):
        total = 0.0
        for v in range(len(classes)):
            if classes[v] == classes_of_rules[r]:
                margin = max(own[v], scores[r, v]) - other[v]
            else:
                margin = own[v] - max(other[v], scores[r, v])
            cut = min(max(margin, -1.0), 1.0)
            total += weights[v] * ((STEPS if cut > 0.0 else 0.0) + np.rint(cut * (STEPS / 2)))
        found[r] = total


worths = either(interpreted=_worths_arrays, loops=_worths_loops)

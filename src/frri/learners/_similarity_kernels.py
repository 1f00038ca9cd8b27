"""Similarity of samples to samples of other classes, for many sets of features at once.

Two values of a numeric feature are similar to the degree `1 - |x - y| / width`, those of a nominal
one if they are equal; a t-norm of `frri.fuzzy` joins the degrees in several features, in the order
given, in the arithmetic in which rules are matched.

Interpreted, relations are computed in blocks of samples; compiled, in loops that leave a pair of
samples as soon as it cannot change the result. Both do the same operations in the same order.
"""

import numpy as np

from frri import fuzzy
from frri._compile import either, inner_kernel, kernel
from frri._util import Flags, Floats, Ints

# Kernels take t-norms by their positions.
T_NORMS = tuple(fuzzy.T_NORMS)
_PRODUCT, _LUKASIEWICZ, _HAMACHER, _DRASTIC, _NILPOTENT = map(
    T_NORMS.index, ("product", "lukasiewicz", "hamacher", "drastic", "nilpotent_minimum")
)

# Joining may raise a degree by rounding, never by more than this.
_ROUNDING = 1e-9
# Elements of a block of a relation: about what the second-level cache holds.
_BLOCK = 1 << 15


# --- interpreted


def _uncut_join(a: Floats, b: Floats, t_norm: int) -> Floats:
    """Join degrees by a t-norm; that of Łukasiewicz is not cut at 0, which is done once later."""
    if t_norm == _LUKASIEWICZ:  # as in `frri.fuzzy`, in two arrays
        complement = np.maximum(a, b)
        np.subtract(1.0, complement, out=complement)
        joined = np.minimum(a, b)
        joined -= complement
        return joined
    return fuzzy.T_NORMS[T_NORMS[t_norm]](a, b)


def relation_rows(
    values: Floats, others: Floats, widths: Floats, nominal: Flags, attributes: Ints, t_norm: int
) -> Floats:
    """Return the relation between the rows of two tables over a set of features.

    Examples
    --------
    >>> values = np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 6.0]])
    >>> relation_rows(values[:1], values, np.array([4.0, 1.0]), np.array([False, True]), [0, 1], 0)
    array([[1.  , 0.75, 0.  ]])
    """
    result = np.ones((len(values), len(others)))
    for k, a in enumerate(attributes):
        degrees = _similarity(values[:, a, None], others[None, :, a], widths[a], bool(nominal[a]))
        result = _uncut_join(result, degrees, t_norm) if k else degrees
    return np.maximum(result, 0.0, out=result) if len(attributes) > 1 else result


def _similarity(x: Floats, y: Floats, width: float, is_nominal: bool) -> Floats:
    if is_nominal:
        return np.equal(x, y).astype(np.float64)
    difference = np.subtract(x, y)
    np.abs(difference, out=difference)
    difference /= width
    return np.subtract(1.0, difference, out=difference)


def _nearest_interpreted(
    values: Floats,
    classes: Ints,
    widths: Floats,
    nominal: Flags,
    chosen: Ints,
    candidates: Ints,
    t_norm: int,
) -> Floats:
    """Return the similarity of each sample to the most similar one of another class.

    A row of the result is for the chosen features together with one of the candidates; `t_norm` is
    a position in `T_NORMS`.
    """
    nearest = np.zeros((len(candidates), len(values)))
    for c in np.unique(classes):
        own, enemies = np.flatnonzero(classes == c), values[classes != c]
        if not len(enemies):
            continue
        height = max(1, _BLOCK // len(enemies))
        for start in range(0, len(own), height):
            block = own[start : start + height]
            rows = values[block]
            base = relation_rows(rows, enemies, widths, nominal, chosen, t_norm)
            for k, a in enumerate(candidates):
                degrees = _similarity(
                    rows[:, a, None], enemies[None, :, a], widths[a], bool(nominal[a])
                )
                joined = _uncut_join(base, degrees, t_norm) if len(chosen) else degrees
                nearest[k, block] = joined.max(axis=1)
            if len(chosen):
                nearest[:, block] = np.maximum(nearest[:, block], 0.0)
    return nearest


# --- compiled


@kernel
def _join(a: float, b: float, t_norm: int) -> float:
    smaller, larger = min(a, b), max(a, b)
    if t_norm == _LUKASIEWICZ:
        return max(smaller - (1.0 - larger), 0.0)
    if t_norm == _PRODUCT:
        return a * b
    if t_norm == _HAMACHER:
        return smaller * (larger / (larger + smaller * (1 - larger))) if larger > 0 else 0.0
    if (t_norm == _DRASTIC and larger < 1) or (t_norm == _NILPOTENT and smaller <= 1 - larger):
        return 0.0
    return smaller


@inner_kernel
def _degree(x: float, y: float, width: float, is_nominal: bool) -> float:
    if is_nominal:
        return 1.0 if x == y else 0.0
    return 1.0 - abs(x - y) / width


def _nearest_loops(
    values: Floats,
    classes: Ints,
    widths: Floats,
    nominal: Flags,
    chosen: Ints,
    candidates: Ints,
    t_norm: int,
) -> Floats:
    nearest = np.zeros((len(candidates), len(values)))
    best = np.empty(len(candidates))
    for i in range(len(values)):
        best[:] = 0.0
        # Degree that a pair must reach on the features chosen to matter for any candidate.
        least = 0.0
        for other in range(len(values)):
            if classes[other] == classes[i]:
                continue
            base = 1.0
            for k in range(len(chosen)):
                a = chosen[k]
                degree = _degree(values[i, a], values[other, a], widths[a], nominal[a])
                base = _join(base, degree, t_norm) if k > 0 else degree
                if base + _ROUNDING < least:
                    break
            if base + _ROUNDING < least:
                continue
            raised = False
            for k in range(len(candidates)):
                a = candidates[k]
                degree = _degree(values[i, a], values[other, a], widths[a], nominal[a])
                if len(chosen) > 0:
                    degree = _join(base, degree, t_norm)
                if degree > best[k]:
                    best[k] = degree
                    raised = True
            if raised:
                least = best.min()
        np.positive(best, nearest[:, i])
    return nearest


nearest_enemies = either(interpreted=_nearest_interpreted, loops=_nearest_loops)

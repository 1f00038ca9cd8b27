"""From a scaled table to candidate rules: confidences, shortened conditions, covered objects.

The three steps of FRRI before the selection of rules. Every object owns a box around itself that
no *enemy* (object of another class) enters; its half-width is the object's confidence. Shortening
opens sides of that box as long as it stays free of enemies; what the opened box then contains is
what the object's rule covers.

Attributes are numbers scaled to [0, 1], unless they are declared otherwise:

- A missing value (NaN) is similar to everything: it fails no condition, and a condition on it is
  failed by nobody, so that no rule uses what its own object misses.
- `initial` has the type from which each attribute starts in every rule. AT_MOST and AT_LEAST take
  the place of SIMILAR, in the confidences as well; UNUSED leaves the attribute out.
- `rigid` attributes are used as they start or not at all. A nominal attribute is a rigid column of
  category codes 0, 1, 2 and so on: since distances count up to 1, different categories fail by 1.

Decisions that agree by degrees, as numbers do, take the place of classes (`Graded`): a rule then keeps
its confidence, less the degree to which a decision agrees with its own, away from every object. Classes are
the special case in which decisions agree to 1 or 0; `docs/theory.md` has the proofs.

All three ask which objects lie beyond a side of a box, for every object and attribute. Objects are
therefore bits, grouped by class in words of 64, and the answers come as whole words. A small table
is worked in plain numpy (`frri.induction.numpy_backend`), so that it never waits for a compiler; a large one
in compiled kernels (`frri.induction._bitmap_kernels`) if numba is installed, and small ones as well
(`frri.induction._dense_kernels`) where that costs no wait. All give the same results to the last bit.
"""

from __future__ import annotations

import enum
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from frri._compile import cached_on_disk, compiled_before, numba_installed
from frri.induction import _bitmap_kernels as bitmap
from frri.induction import _dense_kernels as dense
from frri.induction.backends import Large, Path, Plain, Small, is_small, written_out
from frri.induction.fuzzy_decision import Graded as Graded
from frri.induction.fuzzy_decision import GradedTable
from frri.induction.layout import ClassLayout

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from frri._util import Floats, Ints, Types
    from frri.cover.matrix import CoverMatrix
    from frri.cover.memory_bounded import Peeled

# Shortening asks for failures above `confidence - TOLERANCE`, covering for distances below it.
TOLERANCE = 1e-6

# Tables of more objects than this are worth waiting for the compiler.
COMPILED_FROM = 10_000

# Pairs of objects x attributes that are worth loading what was compiled before.
LOADED_FROM = 50_000_000


class ConditionType(enum.IntEnum):
    """How a rule uses an attribute: a flag for each side of the anchor's value that is bounded.

    Examples
    --------
    >>> ConditionType.AT_MOST | ConditionType.AT_LEAST == ConditionType.SIMILAR
    True
    """

    UNUSED = 0
    AT_MOST = 1  # smaller than or similar: the paper's DOMINANT
    AT_LEAST = 2  # greater than or similar: the paper's DOMINATED
    SIMILAR = 3


class CandidateRules(NamedTuple):
    """What `induce` returns: one candidate rule per object, and what each of them covers."""

    confidence: Floats
    types: Types
    covers: CoverMatrix
    positions: Ints
    seconds: dict[str, float]  # per step
    # CandidateRules chosen first, where there is no room for what all cover: `covers` is then of the rest.
    peeled: Peeled | None = None


def confidences(
    values: ArrayLike,
    classes: ArrayLike | Graded,
    *,
    initial: ArrayLike | None = None,
    compiled: bool | None = None,
) -> Floats:
    """Membership of every object in the lower approximation of its own class.

    With the minimum t-norm over the attributes this is the Chebyshev distance to the nearest enemy,
    or 1 if that is less; of graded decisions, the least sum of distance and agreement.

    Parameters
    ----------
    values : array-like of float, shape (n_objects, n_attributes)
        Scaled to [0, 1], codes of nominal attributes excepted; NaN where missing.
    classes : array-like of int, shape (n_objects,), or Graded
        Class codes from 0, or decisions that agree by degrees.
    initial : array-like of int, shape (n_attributes,), optional
        Codes of `ConditionType`, SIMILAR throughout if left out.
    compiled : bool, optional
        Force or forbid the compiled kernels; left out, `use_compiled` decides.

    Returns
    -------
    ndarray of float64, shape (n_objects,)
        1 for every object if there is only one class.

    Examples
    --------
    >>> confidences([[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 0, 1])
    array([1.  , 0.75, 0.75])
    >>> confidences([[0, 0.5], [2, np.nan], [2, 0.0]], [0, 0, 1])  # the first attribute is nominal
    array([1., 0., 0.])
    """
    layout = _laid_out(values, classes, initial)
    return layout.by_object(_path(layout, "confidences", compiled).confidences())


def shorten(
    values: ArrayLike,
    classes: ArrayLike | Graded,
    confidence: ArrayLike,
    order: ArrayLike,
    *,
    initial: ArrayLike | None = None,
    rigid: ArrayLike | None = None,
    compiled: bool | None = None,
) -> Types:
    """Shortened conditions of every object's rule (RULE_PRUNE of the paper).

    Starting from SIMILAR throughout, each attribute in turn gets the first of UNUSED, AT_MOST,
    AT_LEAST and SIMILAR under which every enemy still fails some condition by more than
    `confidence - TOLERANCE`. An attribute that starts from another type gets UNUSED or that one, a
    rigid one UNUSED or SIMILAR.

    Parameters
    ----------
    values, classes : array-like
        As for `confidences`.
    confidence : array-like of float, shape (n_objects,)
        At most the distance to the nearest enemy, as `confidences` gives it.
    order : array-like of int, shape (n_attributes,) or (n_objects, n_attributes)
        The order in which attributes are tried; one for all objects or one for each.
    initial : array-like of int, shape (n_attributes,), optional
        As for `confidences`.
    rigid : array-like of bool, shape (n_attributes,), optional
        Which attributes are used as they start or not at all; none if left out.
    compiled : bool, optional
        As for `confidences`.

    Returns
    -------
    ndarray of int8, shape (n_objects, n_attributes)
        Codes of `ConditionType`. An object with a confidence below the tolerance uses no attribute.

    Examples
    --------
    >>> values, classes = [[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 0, 1]
    >>> shorten(values, classes, confidences(values, classes), [0, 1])
    array([[1, 0],
           [1, 0],
           [2, 0]], dtype=int8)
    """
    layout = _laid_out(values, classes, initial, rigid)
    limits = limits_of(np.asarray(confidence, dtype=np.float64)[layout.objects])
    orders = layout.orders(order)
    return layout.by_object(_path(layout, "shorten", compiled).shorten(limits, orders))


def covers(
    values: ArrayLike,
    classes: ArrayLike | Graded,
    confidence: ArrayLike,
    types: ArrayLike,
    *,
    compiled: bool | None = None,
) -> tuple[CoverMatrix, Ints]:
    """Which objects the rule of every object covers.

    A rule covers the objects whose distance to its anchor, under its conditions, is below
    `confidence - TOLERANCE`. All of them are of its own class, or agree with its decision to some degree.

    Parameters
    ----------
    values, classes, confidence : array-like
        As for `shorten`.
    types : array-like of int, shape (n_objects, n_attributes)
        Codes of `ConditionType`, as `shorten` gives them.
    compiled : bool, optional
        As for `confidences`.

    Returns
    -------
    covers : CoverMatrix
        Candidate `i` is the rule of object `i`. A void rule, whose confidence does not exceed the
        tolerance, covers nothing.
    positions : ndarray of int64, shape (n_objects,)
        The bit that stands for each object. Classes begin at multiples of 64; bits that stand for
        no object are covered by nobody.

    Examples
    --------
    >>> values, classes = [[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 0, 1]
    >>> confidence = confidences(values, classes)
    >>> types = shorten(values, classes, confidence, [0, 1])
    >>> covered, positions = covers(values, classes, confidence, types)
    >>> covered.to_dense()[:, positions]
    array([[ True,  True, False],
           [ True,  True, False],
           [False, False,  True]])
    """
    layout = _laid_out(values, classes)
    limits = limits_of(np.asarray(confidence, dtype=np.float64)[layout.objects])
    types_by_row = np.ascontiguousarray(np.asarray(types, dtype=np.int8)[layout.objects])
    return _path(layout, "covers", compiled).covered(limits, types_by_row), layout.positions


def induce(
    values: ArrayLike,
    classes: ArrayLike | Graded,
    order: ArrayLike | Callable[[Floats], Types],
    *,
    initial: ArrayLike | None = None,
    rigid: ArrayLike | None = None,
    compiled: bool | None = None,
    n_jobs: int | None = None,
    cover_bytes: int | None = None,
) -> CandidateRules:
    """All three steps, with what they have in common done once.

    Parameters
    ----------
    values, classes, order, initial, rigid : array-like
        As for `shorten`. In the place of an order there may be a function that makes the types of all
        objects from their confidences.
    compiled : bool, optional
        As for `confidences`.
    n_jobs : int, optional
        The number of threads for a large table (see `frri._util.n_threads`); without
        influence on the results.
    cover_bytes : int, optional
        Bytes that the covers of a large table may take. If they take more, some broad candidates are
        chosen first (see `frri.cover.memory_bounded`), and the covers are those of the objects that these leave.

    Returns
    -------
    CandidateRules
        `confidence`, `types`, `covers` and `positions`, as the single steps give them, the `seconds`
        that each took, and `peeled`, the candidates chosen first if there are any.

    Examples
    --------
    >>> found = induce([[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 0, 1], [0, 1])
    >>> found.confidence
    array([1.  , 0.75, 0.75])
    >>> found.covers.sizes()
    array([2, 2, 1])
    """
    laps = [perf_counter()]
    layout = _laid_out(values, classes, initial, rigid)
    path = _path(layout, "induce", compiled, n_jobs)
    confidence = path.confidences()
    laps.append(perf_counter())
    limits = limits_of(confidence)
    if callable(order):
        types = np.ascontiguousarray(order(layout.by_object(confidence))[layout.objects])
    else:
        types = path.shorten(limits, layout.orders(order))
    laps.append(perf_counter())
    covered, peeled = written_out(path, limits, types, layout.objects, cover_bytes)
    laps.append(perf_counter())
    lengths = (end - start for start, end in pairwise(laps))
    seconds = dict(zip(("confidences", "shortening", "covering"), lengths, strict=True))
    by_object = layout.by_object(confidence), layout.by_object(types)
    return CandidateRules(*by_object, covered, layout.positions, seconds, peeled)


def use_compiled(n_objects: int) -> bool:
    """Whether a table of this size is worth the wait for the compiler.

    Examples
    --------
    >>> use_compiled(100)
    False
    """
    return n_objects > COMPILED_FROM and numba_installed()


def _laid_out(
    values: ArrayLike,
    classes: ArrayLike | Graded,
    initial: ArrayLike | None = None,
    rigid: ArrayLike | None = None,
) -> ClassLayout | GradedTable:
    if isinstance(classes, Graded):
        return GradedTable(values, classes, initial, rigid)
    return ClassLayout(values, classes, initial, rigid)


_done_before: set[str] = set()


def _path(
    layout: ClassLayout | GradedTable, step: str, compiled: bool | None, n_jobs: int | None = None
) -> Path:
    """The way to do a step: compiled if that is worth the wait, or if there is none.

    There is none where the same step has been done before in this process, and next to none for small
    tables where the compiler is at hand and an earlier process has left its work.
    """
    if isinstance(layout, GradedTable):
        return layout.choose(compiled, n_jobs)
    small = is_small(layout)
    kind = "small" if small else "mutual" if layout.mutual else "with open sides"
    # What one kind of table has compiled is of no use to another.
    step = f"{step}, {kind}, {'rigid' if layout.rigid is not None else 'free'}"
    if compiled is None:
        n, m = layout.points.shape
        at_hand = small and compiled_before(bitmap) and cached_on_disk(dense)
        loaded = at_hand and m * n * n >= LOADED_FROM
        compiled = use_compiled(n) or step in _done_before or loaded
    if not compiled:
        return Plain(layout)
    _done_before.add(step)
    return Small(layout) if small else Large(layout, n_jobs)


def limits_of(confidence: Floats) -> Floats:
    """How far from the anchor of each row its box reaches."""
    return confidence - TOLERANCE

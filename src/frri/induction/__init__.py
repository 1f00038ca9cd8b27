"""From a scaled table to candidate rules: confidences, shortened conditions, covered samples.

These are the steps of FRRI before the selection of rules. Every sample has a box around itself
without samples of other classes; its half-width is the sample's confidence. Shortening drops sides
of that box as long as no sample of another class gets in; the samples in the resulting box are
those that the rule covers.

Features are numbers scaled to [0, 1], unless they are declared otherwise:

- A missing value (NaN) is similar to everything: it fails no condition, and a condition on it is
  failed by nobody, so that no rule uses a feature that its own sample misses.
- `initial` has the type from which each feature starts in every rule. AT_MOST and AT_LEAST take the
  place of SIMILAR, in the confidences as well; UNUSED leaves the feature out.
- `rigid` features are used as they start or not at all. A nominal feature is a rigid column of
  category codes 0, 1, 2 and so on: since distances are at most 1, different categories fail by 1.

Decisions that agree by degrees, as numbers do, take the place of classes (`Graded`): a rule then
keeps its confidence, less the degree to which a decision agrees with its own, away from every
sample. Classes are the special case in which decisions agree to 1 or 0; `docs/theory.md` has the
proofs.

`choose_backend` chooses between numpy and compiled kernels, which give the same results.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from frri._compile import pays
from frri._util import Floats, Ints, Types
from frri.cover.matrix import CoverMatrix
from frri.cover.memory_bounded import Preselection, preselect
from frri.induction import _bitmap_kernels
from frri.induction.bitmap_backend import BitmapBackend
from frri.induction.class_layout import TOLERANCE as TOLERANCE
from frri.induction.class_layout import ClassLayout
from frri.induction.class_layout import ConditionType as ConditionType
from frri.induction.numpy_backend import FuzzyBackend, NumpyBackend
from frri.induction.numpy_backend import Graded as Graded

# Pairs of samples x features that are worth compiling kernels, loading those that an earlier
# process has compiled, and using those that are loaded.
COMPILED_FROM, LOADED_FROM, USED_FROM = 4e9, 1e9, 2e7

# Steps of `induce`.
STEPS = ("confidences", "shortening", "covering")

# Tables of more samples may be too large for what all candidates cover.
DIVIDED_FROM = 10_000


class CandidateRules(NamedTuple):
    """Result of `induce`: one candidate rule per sample, and the samples that each covers."""

    confidence: Floats
    types: Types
    covers: CoverMatrix
    positions: Ints  # bit of each sample: classes begin at multiples of 64, other bits are unused
    seconds: dict[str, float]  # per step
    # Candidates selected in advance where memory is short: `covers` is then of the other samples.
    preselected: Preselection | None = None


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
    """Find the confidence of every sample, its shortened rule, and the samples that it covers.

    The confidence of a sample is its membership in the lower approximation of its own class. With
    the minimum t-norm over the features this is the Chebyshev distance to the nearest sample of
    another class, at most 1; for graded decisions, the minimum of distance + agreement.

    Shortening (RULE_PRUNE of the paper) starts from SIMILAR throughout. Each feature in turn gets
    the first of UNUSED, AT_MOST, AT_LEAST and SIMILAR under which every sample of another class
    still fails some condition by more than `confidence - TOLERANCE`. A feature that starts from
    another type gets UNUSED or that one, a rigid one UNUSED or SIMILAR. A sample with a confidence
    below the tolerance uses no feature.

    A rule covers the samples whose distance to its own one, under its conditions, is below
    `confidence - TOLERANCE`. All of them are of its own class, or agree with its decision to some
    degree. A rule whose confidence does not exceed the tolerance covers nothing.

    Parameters
    ----------
    values : array-like of float, shape (n_samples, n_features)
        Scaled to [0, 1], codes of nominal features excepted; NaN where missing.
    classes : array-like of int, shape (n_samples,), or Graded
        Class codes from 0, or decisions that agree by degrees.
    order : array-like of int, shape (n_features,) or (n_samples, n_features), or callable
        Order in which features are tried; one for all samples or one for each. Or a function from
        the confidences of all samples to their types.
    initial : array-like of int, shape (n_features,), optional
        Codes of `ConditionType`; SIMILAR for all features by default.
    rigid : array-like of bool, shape (n_features,), optional
        Features that are used as they start or not at all; none by default.
    compiled : bool, optional
        Force or forbid compiled kernels, which graded decisions do not have; by default they are
        used where they pay.
    n_jobs : int, optional
        Number of threads for a large table (see `frri._util.n_threads`), without influence on the
        results.
    cover_bytes : int, optional
        Bytes that the covers of a large table may take. If they take more, some broad candidates
        are selected in advance (see `frri.cover.memory_bounded`), and the covers are those of the
        samples that these leave.

    Examples
    --------
    >>> found = induce([[0.0, 0.5], [0.25, 0.5], [1.0, 0.0]], [0, 0, 1], [0, 1])
    >>> found.confidence
    array([1.  , 0.75, 0.75])
    >>> found.covers.sizes()
    array([2, 2, 1])
    """
    backend = choose_backend(values, classes, initial, rigid, compiled=compiled, n_jobs=n_jobs)
    return take_steps(backend, order, cover_bytes)


def take_steps(
    backend: Any, order: ArrayLike | Callable[[Floats], Types], cover_bytes: int | None
) -> CandidateRules:
    """Return the candidate rules that a backend finds; the other arguments are as for `induce`."""
    layout, laps = backend.layout, [perf_counter()]
    confidence = backend.confidences()
    laps.append(perf_counter())
    if callable(order):
        types = layout.by_row(order(layout.by_sample(confidence)))
    else:
        types = backend.shorten(confidence, layout.orders(order))
    laps.append(perf_counter())
    source, preselected = backend.source(confidence, types), None
    if cover_bytes is not None and len(confidence) > DIVIDED_FROM:
        costs = np.count_nonzero(types, axis=1)[layout.rows]
        preselected = preselect(source, layout.samples, costs, cover_bytes)
    covers = source(None, None if preselected is None else preselected.left)
    laps.append(perf_counter())
    seconds = dict(zip(STEPS, np.diff(laps).tolist(), strict=True))
    by_sample = layout.by_sample(confidence), layout.by_sample(types)
    return CandidateRules(*by_sample, covers, layout.positions, seconds, preselected)


def choose_backend(
    values: ArrayLike,
    classes: ArrayLike | Graded,
    initial: ArrayLike | None = None,
    rigid: ArrayLike | None = None,
    *,
    compiled: bool | None = None,
    n_jobs: int | None = None,
) -> NumpyBackend | BitmapBackend:
    """Return a table with the steps of induction on it, in numpy or in compiled kernels."""
    if isinstance(classes, Graded):
        one_class = np.zeros(np.shape(classes.numbers), dtype=np.intp)
        return FuzzyBackend(ClassLayout(values, one_class, initial, rigid), classes, n_jobs)
    layout = ClassLayout(values, classes, initial, rigid)
    if compiled is None:
        n, m = layout.points.shape
        limits = {"compiled_from": COMPILED_FROM, "loaded_from": LOADED_FROM}
        compiled = pays(_bitmap_kernels, m * n * n, used_from=USED_FROM, **limits)
    return BitmapBackend(layout, n_jobs) if compiled else NumpyBackend(layout)

"""The choice of a backend for the steps of induction, and covers in limited memory.

Small tables are processed in numpy, so that they never wait for a compiler, large ones in compiled
kernels. Results are the same to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from frri._compile import pays
from frri.cover import memory_bounded
from frri.induction import _bitmap_kernels
from frri.induction.bitmap_backend import BitmapBackend
from frri.induction.fuzzy_decision import FuzzyBackend, Graded
from frri.induction.layout import ClassLayout
from frri.induction.numpy_backend import NumpyBackend

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from frri._util import Floats, Ints, Types, Words
    from frri.cover.matrix import CoverMatrix
    from frri.cover.memory_bounded import Preselection

# Pairs of samples x features that are worth compiling kernels, loading those that an earlier
# process has compiled, and using those that are loaded.
COMPILED_FROM, LOADED_FROM, USED_FROM = 4e9, 1e9, 2e7

# Tables of more samples may be too large for what all candidates cover.
DIVIDED_FROM = 10_000


Backend = NumpyBackend | BitmapBackend | FuzzyBackend


def choose_backend(
    values: ArrayLike,
    classes: ArrayLike | Graded,
    initial: ArrayLike | None = None,
    rigid: ArrayLike | None = None,
    *,
    compiled: bool | None = None,
    n_jobs: int | None = None,
) -> Backend:
    """Return a table with the steps of induction on it.

    Parameters
    ----------
    values, classes, initial, rigid : array-like
        As for `frri.induction.shorten`.
    compiled : bool, optional
        Force or forbid compiled kernels; by default they are used where they pay.
    n_jobs : int, optional
        Number of threads of compiled kernels.
    """
    if isinstance(classes, Graded):
        return FuzzyBackend(values, classes, initial, rigid, compiled, n_jobs)
    layout = ClassLayout(values, classes, initial, rigid)
    if compiled is None:
        n, m = layout.points.shape
        compiled = pays(
            _bitmap_kernels,
            m * n * n,
            compiled_from=COMPILED_FROM,
            loaded_from=LOADED_FROM,
            used_from=USED_FROM,
        )
    return BitmapBackend(layout, n_jobs) if compiled else NumpyBackend(layout)


def covers_in_memory(
    backend: Backend, confidence: Floats, types: Types, cover_bytes: int | None
) -> tuple[CoverMatrix, Preselection | None]:
    """Return what all candidates cover, or of the samples that a few selected in advance leave.

    The second happens if the covers of a large table take more bytes: see
    `frri.cover.memory_bounded`.
    """
    few = len(confidence) <= DIVIDED_FROM
    if cover_bytes is None or few or isinstance(backend, FuzzyBackend):
        return backend.covers(confidence, types), None
    layout = backend.layout
    if isinstance(backend, BitmapBackend):
        bitmap = backend

        def source(candidates: Ints, wanted: Words | None = None) -> CoverMatrix:
            rows = layout.rows[candidates]
            return bitmap.cover_rows(rows, confidence[rows], types[rows], wanted)

    else:
        whole = backend.covers(confidence, types)

        def source(candidates: Ints, wanted: Words | None = None) -> CoverMatrix:
            some = whole.take(candidates)
            return some if wanted is None else some.within(wanted)

    costs = np.count_nonzero(types, axis=1)[layout.rows]
    return memory_bounded.build_covers(source, layout.samples, costs, cover_bytes)

"""Large tables: the same results as in plain numpy, from compiled kernels on all cores."""

import numpy as np

from frri import _compile
from frri._compile import compiled, numba_installed
from frri._util import Floats, Positions, map_threads, n_threads
from frri.rules.matching import Matcher
from frri.rules.semantics import Semantics, Support

# Objects x conditions from which a compiled kernel pays: first in a process, and once it is loaded.
COLD = 50_000_000
WARM = 500_000

# Objects from which a table of who is under which rules pays, and its size: 64 rules x columns.
MANY = 2_000
LARGEST = 1_000


SUPPORTED = Support(
    "Compiled prediction",
    "plain numpy does it",
    names=frozenset({"best-rule"}),
    t_norms=frozenset({"minimum"}),
    fallbacks=frozenset({"nearest"}),
)


def pays(semantics: Semantics, matcher: Matcher, matrix: Floats) -> bool:
    """Whether the kernels can do it (the best or nearest rule) for finite values and are worth it."""
    work = len(matrix) * len(matcher.columns)
    if work < WARM or not matrix.shape[1] or not numba_installed():
        return False
    if not (matcher.weights > 0.0).all() or not SUPPORTED.accepts(semantics):
        return False
    from frri.rules import _predict_kernels as prediction  # noqa: PLC0415 - not needed for small tables

    return _compile.pays(prediction, work, compiled_from=COLD, loaded_from=COLD, used_from=WARM)


def decide(
    matcher: Matcher,
    matrix: Floats,
    rule_classes: Positions,
    n_classes: int,
    *,
    with_scores: bool,
    n_jobs: int | None = None,
) -> tuple[Positions, Floats]:
    """The position of each object's class, and objects x classes scores if they are wanted."""
    from frri.rules import _predict_kernels as prediction  # noqa: PLC0415 - not needed for small tables

    kernels = compiled(prediction)
    values = np.ascontiguousarray(matrix)
    decided = np.empty(len(values), dtype=np.intp)
    scores = np.empty((len(values) if with_scores else 0, n_classes))
    conditions = (
        matcher.support_low,
        matcher.core_low,
        matcher.core_high,
        matcher.support_high,
        matcher.slope_low,
        matcher.slope_high,
    )
    # Which codes nominal conditions allow, and what all of them make of missing values.
    sets = (matcher.allowed, matcher.code_0)
    gaps = (matcher.missing_holds, matcher.outside, matcher.always)
    rules = (conditions, sets, gaps, matcher.indptr, matcher.columns, matcher.weights, rule_classes)

    n_columns = values.shape[1]
    sure = np.empty((0, 0), np.uint64), np.empty((0, n_classes), np.uint64)
    if not with_scores and len(values) >= MANY and _crowded(matcher, n_columns):
        sure = kernels.sure_tables(n_columns, n_classes, rules)

    def work(start: int, end: int) -> None:
        kernels.best_values(
            values, start, end, matcher.lows, matcher.highs, rules, sure, n_classes, decided, scores
        )

    step = max(prediction.BLOCK, -(-len(values) // (4 * n_threads(n_jobs))))
    parts = [(start, min(start + step, len(values))) for start in range(0, len(values), step)]
    work(0, 0)  # compiles what is not yet compiled in this thread, where Ctrl-C ends it
    map_threads(work, parts, n_jobs)
    return decided, scores


def _crowded(matcher: Matcher, n_columns: int) -> bool:
    """Whether rules look at a tenth of the columns and more, and are not too many for a table of cells."""
    words = -(-matcher.n_rules // 64)
    return words * n_columns <= LARGEST and 10 * len(matcher.columns) >= n_columns * matcher.n_rules

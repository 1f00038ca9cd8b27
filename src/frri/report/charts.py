"""Data of the charts of the page: histograms and levels of numbers."""

from typing import Any

import numpy as np

from frri._util import Floats, Positions
from frri.rules import RuleSet
from frri.table import Attribute

N_BINS = 24
# As many classes have a color of their own; the others share one.
N_COLORS = 7
# Beyond this many bars nobody can tell categories apart; rarer ones would make a table wide.
MOST_CATEGORIES = 60
# Levels from low to high: each has a color, like a class.
N_LEVELS = 5
# Fractions of the largest contribution below which one is neutral, and above which it is strong.
SMALL, STRONG = 0.05, 1 / 3


def colored_classes(counts: Floats) -> list[int]:
    """Return the classes with a color of their own: all, or the largest ones, in their order."""
    return sorted(np.argsort(-counts, kind="stable")[:N_COLORS].tolist())


def histogram(
    attribute: Attribute, column: Floats, series: Positions, n_series: int
) -> dict[str, Any] | None:
    """Count encoded values per bin and series; None where there is nothing to draw.

    Values outside the training range count in the outermost bins.
    """
    known = np.isfinite(column)
    low, high, n_bins = attribute.low, attribute.high, N_BINS
    if attribute.categories is not None:
        known &= column >= 0
        n_bins = len(attribute.categories)
        low, high = -0.5, n_bins - 0.5
        if n_bins > MOST_CATEGORIES:
            return None
    values, series = column[known], series[known]
    if not (np.isfinite(low) and np.isfinite(high)) and len(values):
        low, high = float(values.min()), float(values.max())
    if not len(values) or not 0 < high - low < np.inf:
        return None
    bins = ((np.clip(values, low, high) - low) / (high - low) * n_bins).astype(np.intp)
    cells = series * n_bins + np.minimum(bins, n_bins - 1)
    counts = np.bincount(cells, minlength=n_series * n_bins).reshape(n_series, n_bins)
    return {"low": float(low), "high": float(high), "counts": counts.tolist()}


def number_scale(ruleset: RuleSet, numbers: Floats | None) -> dict[str, Any]:
    """Return the range of numbers, and the edges between their levels.

    A fifth of the numbers is on each level; without any, those that the rules can predict count.
    `said` are the edges between levels of the numbers of rules: the same ones, or edges around 0
    for contributions.
    """
    adds, said = ruleset.semantics.meaning.adds, ruleset.arrays.says[:, 0]
    if adds:
        said = said * ruleset.arrays.weights
    if numbers is None:
        reached = [said[said < 0].sum(), 0.0, said[said > 0].sum()]
        numbers = said if len(said) and not adds else ruleset.base[0] + np.array(reached)
    edges = np.quantile(numbers, np.arange(1, N_LEVELS) / N_LEVELS).tolist()
    largest = float(np.abs(said).max(initial=0.0)) or 1.0
    around = [-STRONG * largest, -SMALL * largest, SMALL * largest, STRONG * largest]
    return {
        "low": float(numbers.min()),
        "high": float(numbers.max()),
        "edges": edges,
        "said": around if adds else edges,
    }


def find_levels(numbers: Floats, edges: list[float]) -> Positions:
    """Return the level of each number, from 0."""
    return np.searchsorted(edges, numbers, side="right")

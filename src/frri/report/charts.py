"""Distributions of the values of a feature by class, and levels of numbers in place of classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from frri._util import Floats, Positions
from frri.rules import RuleSet
from frri.table import Attribute

N_BINS = 24
# As many classes have a colour of their own; the others share one.
N_COLORS = 7
# Beyond this many bars nobody can tell categories apart.
MOST_CATEGORIES = 60


def colored_classes(counts: Floats) -> list[int]:
    """Return the classes with a color of their own: all, or the largest ones, in their order.

    Examples
    --------
    >>> colored_classes(np.array([5.0, 1.0, 9.0]))
    [0, 1, 2]
    >>> colored_classes(np.arange(10.0))
    [3, 4, 5, 6, 7, 8, 9]
    """
    if len(counts) <= N_COLORS:
        return list(range(len(counts)))
    return sorted(np.argsort(-counts, kind="stable")[:N_COLORS].tolist())


def histogram(
    attribute: Attribute, column: Floats, series: Positions, n_series: int
) -> dict[str, Any] | None:
    """Count samples per bin and series; None where there is nothing to draw.

    Parameters
    ----------
    attribute : Attribute
    column : ndarray of float64
        Encoded values; those outside the training range count in the outermost bins.
    series : ndarray of int
        Which series each row belongs to.
    n_series : int

    Examples
    --------
    >>> colour = Attribute("colour", categories=("blue", "red"))
    >>> histogram(colour, np.array([0.0, 1.0, 1.0, -1.0]), np.array([0, 0, 1, 1]), 2)
    {'low': -0.5, 'high': 1.5, 'counts': [[1, 1], [0, 1]]}
    """
    known = ~np.isnan(column)
    values, series = column[known], series[known]
    if attribute.categories is not None:
        seen = values >= 0
        values, series = values[seen], series[seen]
        low, high, n_bins = -0.5, len(attribute.categories) - 0.5, len(attribute.categories)
        if not 0 < n_bins <= MOST_CATEGORIES:
            return None
    else:
        values, series = values[np.isfinite(values)], series[np.isfinite(values)]
        low, high, n_bins = attribute.low, attribute.high, N_BINS
        if not (np.isfinite(low) and np.isfinite(high)) and len(values):
            low, high = float(values.min()), float(values.max())
    if not len(values) or not 0 < high - low < np.inf:
        return None
    bins = ((np.clip(values, low, high) - low) / (high - low) * n_bins).astype(np.intp)
    cells = series * n_bins + np.minimum(bins, n_bins - 1)
    counts = np.bincount(cells, minlength=n_series * n_bins).reshape(n_series, n_bins)
    return {"low": float(low), "high": float(high), "counts": counts.tolist()}


# Levels from low to high: each has a color, like a class.
N_LEVELS = 5
# Fractions of the largest contribution below which one is neutral, and above which it is strong.
SMALL, STRONG = 0.05, 1 / 3


def number_scale(ruleset: RuleSet, numbers: Floats | None) -> dict[str, Any]:
    """Return the range of numbers, and the edges between their levels.

    Parameters
    ----------
    ruleset : RuleSet
        A regression model.
    numbers : ndarray of float64 or None
        True numbers of samples, or else those predicted; a fifth of them is on each level. Without
        any, the numbers that the rules can predict.

    Returns
    -------
    dict
        `low`, `high`, `edges` between levels of numbers, and `said`, the edges between levels of
        the numbers of rules: the same ones, or edges around 0 for contributions.

    Examples
    --------
    >>> from frri import Rule
    >>> said = Rule((), 3.0), Rule((), -1.0)
    >>> rules = RuleSet(said, (), semantics="added-contributions", base=(10,))
    >>> number_scale(rules, np.arange(11.0))["edges"]
    [2.0, 4.0, 6.0, 8.0]
    >>> found = number_scale(rules, None)
    >>> found["low"], found["high"], [round(edge, 2) for edge in found["said"]]
    (9.0, 13.0, [-1.0, -0.15, 0.15, 1.0])
    """
    adds = ruleset.semantics.meaning.adds
    said = ruleset.arrays.says[:, 0]
    base = float(ruleset.base[0]) if ruleset.base else 0.0
    if adds:
        said = said * ruleset.arrays.weights
    if numbers is None:
        reached = base + np.array([said[said < 0].sum(), 0.0, said[said > 0].sum()])
        numbers = reached if adds or not len(said) else said
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
    """Return the level of each number, from 0.

    Examples
    --------
    >>> find_levels(np.array([1.0, 2.0, 9.0]), [2.0, 4.0, 6.0, 8.0])
    array([0, 1, 4])
    """
    return np.searchsorted(edges, numbers, side="right")


# Categories beyond these are rare, and would make the table wide.
MOST_CATEGORIES = 60
# Entries of a component whose relative difference is smaller are equal.
SAME = 1e-6


def project_on_plane(matrix: Floats, attributes: Sequence[Attribute]) -> Floats | None:
    """Return the first two principal components, each scaled to 0 to 1; None without two of them.

    Numbers, dates and ordinal categories are fractions of their range, nominal ones are 1 in the
    column of their category and 0 elsewhere; a missing value is the mean. The sign of a component
    is the one in which its largest entry,
    or the first of several equal ones, is positive.

    Parameters
    ----------
    matrix : ndarray of float64
        Encoded rows.
    attributes : sequence of Attribute

    Returns
    -------
    ndarray of float64, shape (n_rows, 2), or None

    Examples
    --------
    >>> ages = Attribute("age", 0, 10), Attribute("height", 0, 2)
    >>> rows = np.array([[0.0, 1.0], [10.0, 1.0], [5.0, 1.2]])
    >>> project_on_plane(rows, ages).round(2).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]]
    """
    columns = [_numbers(matrix[:, j], attribute) for j, attribute in enumerate(attributes)]
    table = np.column_stack(columns) if columns else np.empty((len(matrix), 0))
    centred = table - table.mean(axis=0) if len(table) else table
    if min(centred.shape) < 2:
        return None
    _, spread, directions = np.linalg.svd(centred, full_matrices=False)
    if spread[1] <= 1e-9 * max(spread[0], 1e-300):
        return None
    main = directions[:2]
    sizes = np.abs(main)
    # Entries that are equal but for rounding: the first one counts.
    largest = (sizes >= (1.0 - SAME) * sizes.max(axis=1, keepdims=True)).argmax(axis=1)
    main = main * np.sign(main[np.arange(2), largest])[:, None]
    places = centred @ main.T
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - low) / (high - low))


def _numbers(column: Floats, attribute: Attribute) -> Floats:
    """One column in shares of its range, or one of 0 and 1 for each category; gaps are means."""
    if attribute.kind == "nominal":
        n = min(len(attribute.categories or ()), MOST_CATEGORIES)
        return np.asarray(column[:, None] == np.arange(n), dtype=np.float64)
    known = np.isfinite(column)
    if not known.any():
        return np.zeros((len(column), 1))
    low, high = column[known].min(), column[known].max()
    width = max(high - low, 1e-300) if attribute.width <= 0 else attribute.width
    shares = np.where(known, (np.where(known, column, low) - low) / width, np.nan)
    return np.where(known, shares, np.nanmean(shares))[:, None]

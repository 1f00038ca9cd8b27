"""The first two principal components of a table: a map on which near samples are similar."""

from collections.abc import Sequence

import numpy as np

from frri._util import Floats
from frri.table import Attribute

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

"""Check targets, tell classes from numbers, and bin numbers into classes."""

import re
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats
from frri.table.columns import is_missing, to_numbers

# More distinct integers than this are ages, counts or prices rather than classes.
MOST_NUMBERED_CLASSES = 20

# Sums of the contributions of rules to a target must stay within the limits of a rule set.
LARGEST_TARGET = 1e99

# Options of the command line for a target that is a number.
NUMBER_REMEDY = "frri fit --task regression predicts the number, --bins 3 makes 3 classes of it"


class ManyClassesWarning(UserWarning):
    """The number of integer classes is so large that the target may be one of a regression."""


def check_labels(y: Any) -> None:
    """Raise a ValueError for classes that are missing, or dates."""
    labels = np.asarray(y) if y is not None else np.empty(0)
    if labels.dtype.kind in "mM":
        raise ValueError(
            "The target holds dates or times: turn them into strings to use them as classes."
        )
    if labels.dtype.kind == "O" and labels.ndim == 1:
        absent = [row for row, label in enumerate(labels) if is_missing(label)]
        if absent:
            raise ValueError(
                f"The target has no value (NaN) in row {absent[0] + 1} "
                f"({len(absent)} of {len(labels)} rows); drop these rows."
            )


def check_quantities(y: NDArray[Any], target: str) -> Floats:
    """Return the target as finite numbers, or raise a ValueError for the first value that is none.

    Examples
    --------
    >>> check_quantities(np.array(["1.5", "many"], dtype=object), "price")
    Traceback (most recent call last):
        ...
    ValueError: The target 'price' holds 'many' in row 2, which is not a number; correct it, ...
    """
    try:
        numbers = np.array(to_numbers(y, f"The target {target!r}"))
    except TypeError:
        raise ValueError(f"The target {target!r} does not hold numbers.") from None
    huge = np.flatnonzero(~(np.abs(numbers) <= LARGEST_TARGET))
    if len(huge):
        raise ValueError(
            f"The target {target!r} holds {numbers[huge[0]]:g} in row {huge[0] + 1}; correct the "
            f"row or drop it, or divide the target until it is below {LARGEST_TARGET:g}."
        )
    return numbers


def check_classes(y: NDArray[Any]) -> None:
    """Raise a ValueError for quantities instead of classes."""
    if y.dtype.kind == "f" and len(y) and not np.all(y == np.floor(y)):
        example = y[np.flatnonzero(y != np.floor(y))[0]]
        raise ValueError(
            f"The target holds quantities such as {example:g}: Unknown label type 'continuous'. "
            "A classifier needs classes; bin the target into a few labels first."
        )


def looks_like_number(y: NDArray[Any]) -> bool:
    """Return whether a target is a quantity, or has too many distinct integers for classes.

    Examples
    --------
    >>> [looks_like_number(y) for y in (np.arange(10), np.arange(80), np.array([0.5]))]
    [False, True, True]
    """
    if y.dtype.kind not in "iuf":
        return False
    return bool((y != np.floor(y)).any()) or len(np.unique(y)) > MOST_NUMBERED_CLASSES


def warn_about_numbers(y: NDArray[Any], target: str, stacklevel: int) -> None:
    """Warn if classes are integers that look like a target of a regression."""
    if looks_like_number(y):
        warnings.warn(
            f"The target {target!r} has {len(np.unique(y))} different integers, each taken "
            "for a class, but looks like a number to predict: bin it into a few classes, turn it "
            "into strings if these are names, or take AdditiveRulesRegressor.",
            ManyClassesWarning,
            stacklevel=stacklevel + 1,
        )


def check_not_number(y: NDArray[Any], target: str) -> None:
    """Raise a ValueError for a target that looks like a number to predict."""
    if looks_like_number(y):
        raise ValueError(
            f"The target {target!r} looks like a number to predict ({len(np.unique(y))} different "
            f"numbers, such as {y[0]:g}): use --task regression to predict it, --bins 3 to make 3 "
            "classes of it, or --task classification if each is a class."
        )


def bin_target(y: Any, bins: int, target: str) -> NDArray[np.object_]:
    """Bin numbers into classes of about the same size; None where they are missing.

    Parameters
    ----------
    y : array-like of numbers
    bins : int
        Number of classes; there are fewer where many values are the same.
    target : str
        Name of the target in messages.

    Examples
    --------
    >>> bin_target([1, 2, 3, 4, 5, 6], 3, "age").tolist()
    ['under 3', 'under 3', '3 to under 5', '3 to under 5', '5 and over', '5 and over']
    """
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"The target {target!r} holds other things than numbers; leave --bins out."
        ) from None
    known = values[np.isfinite(values)]
    if not known.size:
        raise ValueError(f"The target {target!r} has no numbers; choose another column.")
    inner = np.quantile(known, np.arange(1, bins) / bins, method="higher")
    edges = [edge for edge in np.unique(inner).tolist() if edge > known.min()]
    if not edges:
        raise ValueError(
            f"The target {target!r} cannot be cut into {bins} classes, because too many rows "
            f"hold {known.min():g}; use another number of --bins."
        )
    names = np.array([*_bin_names(edges), None], dtype=object)
    places = np.searchsorted(edges, values, side="right")
    return names[np.where(np.isnan(values), len(names) - 1, places)]


def bin_edges(classes: Sequence[str]) -> list[float] | None:
    """Return the edges of the bins of `bin_target` from the names of classes; None for others.

    Examples
    --------
    >>> bin_edges(["3 to under 5", "5 and over", "under 3"]), bin_edges(["no", "under 3"])
    ([3.0, 5.0], None)
    """
    found = [_BIN.fullmatch(name) for name in classes]
    try:
        edges = sorted({float(text) for one in found if one for text in one.groups() if text})
    except ValueError:
        return None
    return edges if edges and sorted(_bin_names(edges)) == sorted(classes) else None


def bin_of(value: float, edges: Sequence[float]) -> str:
    """Return the class of a number, by the result of `bin_edges`."""
    return _bin_names(edges)[bisect_right(edges, value)]


_BIN = re.compile(r"under (\S+)|(\S+) to under (\S+)|(\S+) and over")


def _bin_names(edges: Sequence[float]) -> list[str]:
    shown = [f"{edge:.12g}" for edge in edges]
    middle = [f"{low} to under {high}" for low, high in pairwise(shown)]
    return [f"under {shown[0]}", *middle, f"{shown[-1]} and over"]

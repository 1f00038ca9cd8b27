"""What is wrong with a table: all complaints about numbers, kinds and names of columns.

Each is one sentence that names the column, the value and the remedy.
"""

import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats, import_optional, join_names, quote_name, short_repr
from frri.table.attribute import Attribute
from frri.table.columns import (
    column_names,
    is_missing,
    is_number_type,
    kind_of,
    number,
    plain_table,
)

if TYPE_CHECKING:
    import pandas as pd

# Beyond this the width of a range overflows; no measured quantity comes near it.
LARGEST = 1e300

# So many steps of floating point must fit into a column's range for a bound to be put inside it: then
# none is off by more than a tenth of the tolerance that induction has.
LEAST_STEPS = 2**24

# Whole numbers up to this one are the same in floating point.
EXACT = 2**53

# A column of a file with more different texts than this, or than half of its rows if these are more than
# a few, is taken for names of things.
MOST_CATEGORIES, FEWEST_NAMES = 1000, 10

# Some texts among numbers are no mistake if the values of a column come so often each.
REPEATED = 5

# Unless more than this share of it are numbers, or dates.
MOST_FITTING = 0.9

# A column of which more than this share are numbers is taken for one of numbers with mistakes in it.
MOSTLY = 0.5


# ---------------------------------------------------------------------- numbers


def check_numbers(table: Any, *, allow_missing: bool = False) -> None:
    """Complain about the first value of a table that is not a finite, moderate number.

    Whatever else may be wrong with the table (its shape, its type) is left to the caller.

    Examples
    --------
    >>> check_numbers([[1.0, 2.0], [3.0, float("inf")]])
    Traceback (most recent call last):
        ...
    ValueError: Column 1 holds inf (infinity) in row 2; replace it by a finite number or drop the row.
    """
    labels = column_names(table)
    missing: list[tuple[str, int, int]] = []
    for j, column in enumerate(_columns(table)):
        name = repr(labels[j]) if labels is not None else str(j)
        values = to_numbers(column, f"Column {name}")
        if values is None:
            return
        absent = np.isnan(values)
        if absent.any() and not allow_missing:
            missing.append((name, int(absent.sum()), len(values)))
            continue
        check_moderate(values, f"Column {name}")
    _refuse_missing(missing)


def check_complete(matrix: Floats, attributes: Sequence[Attribute]) -> None:
    """Complain about missing values of an encoded table.

    Examples
    --------
    >>> check_complete(np.array([[np.nan], [1.0]]), [Attribute("age")])
    Traceback (most recent call last):
        ...
    ValueError: Missing values (NaN) in column 'age' (1 of 2 rows): fill them in or drop these rows first.
    """
    counts = np.isnan(matrix).sum(axis=0).tolist()
    _refuse_missing(
        [(repr(a.name), count, len(matrix)) for a, count in zip(attributes, counts, strict=True)]
    )


def _refuse_missing(counts: Sequence[tuple[str, int, int]]) -> None:
    """Names of columns, their missing values and their rows."""
    missing = [f"column {name} ({n} of {rows} rows)" for name, n, rows in counts if n]
    if missing:
        raise ValueError(
            f"Missing values (NaN) in {join_names(missing)}: fill them in or drop these rows first."
        )


def check_moderate(values: Floats, label: str) -> None:
    """Complain about a number that is infinite or too large to compute with."""
    if not values.size or all_moderate(values):
        return
    huge = np.flatnonzero(np.abs(values) > LARGEST)
    if len(huge):
        value = values[huge[0]]
        what = "infinity" if np.isinf(value) else f"beyond {LARGEST:g}"
        raise ValueError(
            f"{label} holds {value:g} ({what}) in row {huge[0] + 1}; "
            "replace it by a finite number or drop the row."
        )


def all_moderate(array: NDArray[Any]) -> bool:
    """Whether no value is NaN, infinite or huge; NaN fails every comparison."""
    if array.size == 1:  # single rows come one after another
        return bool(-LARGEST <= array.item() <= LARGEST)
    return float(array.max()) <= LARGEST and float(array.min()) >= -LARGEST


def check_resolution(attributes: Sequence[Attribute]) -> None:
    """Complain about the first attribute whose range is too small for its distance from 0.

    Examples
    --------
    >>> check_resolution([Attribute("a", 0, 1e-9), Attribute("b", 1e9, 1e9 + 1000)])
    >>> check_resolution([Attribute("time", 1.7e18, 1.7e18 + 1024)])
    Traceback (most recent call last):
        ...
    ValueError: Column 'time' spans only 1024 at values around 1.7e+18, too little for bounds in floating
    point: count its values from the smallest one, or drop it.
    """
    for attribute in attributes:
        if attribute.kind == "nominal":
            continue
        width = attribute.high - attribute.low
        step = np.spacing(max(abs(attribute.low), abs(attribute.high)))
        if 0.0 < width < LEAST_STEPS * step:
            raise ValueError(
                f"Column {attribute.name!r} spans only {width:g} at values around {attribute.high:g}, "
                "too little for bounds in floating point: "
                "count its values from the smallest one, or drop it."
            )


def check_whole_numbers(column: NDArray[Any], label: str) -> None:
    """Complain about different whole numbers of a column that are one in floating point.

    Examples
    --------
    >>> check_whole_numbers(np.array([2**60, 2**60 + 1]), "Column 'id'")
    Traceback (most recent call last):
        ...
    ValueError: Column 'id' holds 1152921504606846976 and 1152921504606846977, which are the same in
    floating point: count its values from the smallest one, or drop it.
    """
    if column.dtype.kind not in "iu" or not len(column):
        return
    if column.min() >= -EXACT and column.max() <= EXACT:
        return
    values = np.unique(column)
    same = np.flatnonzero(np.diff(values.astype(np.float64)) == 0)
    if len(same):
        one, other = values[same[0] : same[0] + 2].tolist()
        raise ValueError(
            f"{label} holds {one} and {other}, which are the same in floating point: "
            "count its values from the smallest one, or drop it."
        )


def to_numbers(column: Any, label: str) -> Floats | None:
    """A column as floats, or the complaint about the value that is not a number.

    None where a value is neither a number nor a text.

    Examples
    --------
    >>> to_numbers(np.array(["1.5", None], dtype=object), "Column 'age'")
    array([1.5, nan])
    """
    array = np.asarray(column)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind in "Mm":
        raise ValueError(
            f"{label} holds dates or durations, which are not numbers; encode or drop this column."
        )
    if array.dtype.kind not in "OUS":
        return None
    values = np.empty(len(array))
    for row, value in enumerate(array):
        try:
            values[row] = number(value, label, row)
        except ValueError as error:
            if not isinstance(value, str | bytes):
                raise error from None
            raise ValueError(
                f"{label} holds {str(value)!r} in row {row + 1}, which is not a number; "
                "encode or drop this column."
            ) from None
        except TypeError:
            return None
    return values


def _columns(table: Any) -> Iterable[Any]:
    """The columns of a table that are worth a look; none if all is well or nothing can be said."""
    table = plain_table(table)
    if column_names(table) is not None:
        return (table[name] for name in table.columns)
    try:
        array = np.asarray(table)
    except ValueError:  # ragged: the caller's check explains
        return ()
    if array.ndim != 2 or array.dtype.kind in "iub":
        return ()
    if array.dtype.kind == "f" and (not array.size or all_moderate(array)):
        return ()
    return array.T


# ---------------------------------------------------------------------- kinds and names


def check_names(names: Sequence[str]) -> None:
    """Complain about a table without columns, and about two of the same name.

    Examples
    --------
    >>> check_names(["a", "a"])
    Traceback (most recent call last):
        ...
    ValueError: The table has more than one column 'a'; rename one of them.
    """
    if not names:
        raise ValueError("The table has 0 features: give it at least one column.")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"The table has more than one column {name!r}; rename one of them.")
        seen.add(name)


# What holds values of its own.
_SEVERAL = (list, tuple, dict, set, frozenset, np.ndarray)


def check_single(name: str, values: NDArray[np.object_]) -> None:
    """Complain about lists and the like in the place of values: no two of them would be alike.

    Examples
    --------
    >>> values = np.array([None, "red"], dtype=object)
    >>> values[0] = ["red", "blue"]
    >>> check_single("colours", values)
    Traceback (most recent call last):
        ...
    ValueError: Column 'colours' holds ['red', 'blue'] in row 1, which is several values; make a column of each.
    """
    if not any(issubclass(kind, _SEVERAL) for kind in {type(value) for value in values}):
        return
    row, value = next((r, v) for r, v in enumerate(values) if isinstance(v, _SEVERAL))
    raise ValueError(
        f"Column {name!r} holds {short_repr(value)} in row {row + 1}, which is several values; "
        "make a column of each."
    )


def check_mixture(name: str, values: NDArray[np.object_], remedy: str) -> None:
    """Complain about a column of numbers with others among them: neither kind would be meant.

    Parameters
    ----------
    name : str
    values : array of objects
    remedy : str
        How to say that the values are categories.

    Examples
    --------
    >>> check_mixture("age", np.array([31, 42, "4o"], dtype=object), "turn all into texts")
    Traceback (most recent call last):
        ...
    ValueError: Column 'age' holds '4o' in row 3 among numbers; correct or empty it, or turn all into ...
    """
    numeric = {kind: is_number_type(kind) for kind in {type(value) for value in values}}
    if any(numeric.values()):
        fitting = [numeric[type(value)] for value in values]
        _check_mixture(name, values, fitting, "numbers", remedy)


def _check_mixture(
    name: str, values: NDArray[np.object_], fitting: Sequence[bool], kind: str, remedy: str
) -> None:
    known = [row for row, value in enumerate(values) if not is_missing(value)]
    strange = [row for row in known if not fitting[row]]
    if strange and len(known) - len(strange) > MOSTLY * len(known):
        raise ValueError(
            f"Column {name!r} holds {values[strange[0]]!r} in row {strange[0] + 1} among {kind}; "
            f"correct or empty it, or {remedy}."
        )


def looks_like_identifier(column: "pd.Series[Any]") -> bool:
    """Whether a column of texts has so many different ones that they are names sooner than categories.

    Numbers or dates with a few mistakes among them are none.

    Examples
    --------
    >>> import pandas as pd
    >>> looks_like_identifier(pd.Series([f"no. {i}" for i in range(50)])), looks_like_identifier(pd.Series(["a", "b"] * 25))
    (True, False)
    """
    different, known = column.nunique(), int(column.notna().sum())
    if different <= MOST_CATEGORIES and different <= max(FEWEST_NAMES, known / 2):
        return False
    readings = _readings(column).values()
    return kind_of(column) == "nominal" and all(r.sum() <= MOST_FITTING * known for r in readings)


def check_kinds(frame: "pd.DataFrame", *, declared: Collection[str] = ()) -> None:
    """Complain about columns of a file whose kind the user had better decide.

    Parameters
    ----------
    frame : pandas.DataFrame
        As it was read from a file, where numbers with mistakes among them are texts.
    declared : collection of str
        Columns that the user has spoken about.

    Examples
    --------
    >>> import pandas as pd
    >>> check_kinds(pd.DataFrame({"age": ["31", "42", "33", "28", "19", "4o"]}))
    Traceback (most recent call last):
        ...
    ValueError: Column 'age' holds '4o' in row 6 among numbers; correct or empty it, or declare the column as nominal (--nominal age).
    """
    for column in frame.columns:
        if column in declared or frame[column].dtype.kind != "O":
            continue
        values = frame[column].to_numpy(dtype=object)
        different, known = frame[column].nunique(), int(frame[column].notna().sum())
        try:
            for kind, fitting in _readings(frame[column]).items():
                remedy = f"declare the column as nominal (--nominal {quote_name(column)})"
                _check_mixture(column, values, fitting.tolist(), kind, remedy)
        except ValueError as error:
            # Some values that come again and again are categories, whatever they are called.
            if different > FEWEST_NAMES or known < REPEATED * different:
                raise
            mixture = str(error).partition(";")[0]
            warnings.warn(f"{mixture}; the column is taken as nominal.", UserWarning, stacklevel=3)


def _readings(column: "pd.Series[Any]") -> dict[str, Any]:
    """Which texts are numbers, and which are dates."""
    pd = import_optional("pandas", "Reading tables", "tables")
    texts = column.astype(str)
    return {
        "numbers": pd.to_numeric(texts, errors="coerce").notna(),
        "dates": pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True).notna(),
    }


def warn_about_columns(
    attributes: Sequence[Attribute], target: str, n_objects: int, stacklevel: int
) -> None:
    """Say which columns make rules that tell nothing about new objects."""
    for attribute in attributes:
        n_categories = len(attribute.categories or ())
        if attribute.name == target:
            warnings.warn(
                f"The table still has the target {target!r} as a column; drop it from the table.",
                UserWarning,
                stacklevel=stacklevel,
            )
        elif attribute.kind == "nominal" and n_categories > max(FEWEST_NAMES, n_objects / 2):
            warnings.warn(
                f"Column {attribute.name!r} has {n_categories} different texts in "
                f"{n_objects} rows: drop it if it is an identifier, convert it if it holds dates.",
                UserWarning,
                stacklevel=stacklevel,
            )

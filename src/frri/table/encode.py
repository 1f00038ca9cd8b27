"""Encode tables: named, typed columns become one float64 matrix.

Numeric values stay as they are, nominal values become the position of their category (-1 for one
never seen in training) and missing values become NaN. Everything that computes works on that
matrix.

A value is the category that is written like it, as Python writes it. Beyond that, two things are
the same however they are written:

- an integer with and without `.0`: 1, 1.0, "1" and "1.0" are one category, unless there are two;
- a boolean. Where each category is another boolean (true and false, yes and no, t and f, 1 and 0),
  true, yes and 1 (1.0) are one value in any spelling, and so are false, no and 0 (0.0). Among other
  categories, as in yes, no and unknown, only a boolean of the table, True or False, is the one
  category of that meaning: databases and readers convert strings like yes and no to booleans.

Nothing else is guessed: "01" is not 1. The evaluators of `frri.export` repeat this.
"""

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats, join_names
from frri.table import checks
from frri.table.attribute import KINDS, Attribute
from frri.table.columns import (
    category_positions,
    column_names,
    days_since_1970,
    find_columns,
    is_missing,
    ordered_categories,
    plain_column,
    plain_table,
    read_records,
    to_numbers,
)


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table in the form that everything computes with; functions that take a table take it, too.

    Attributes
    ----------
    matrix : ndarray of float64, shape (n_samples, n_features)
    attributes : tuple of Attribute
        Descriptions of the columns of the matrix.

    Examples
    --------
    >>> table = EncodedTable(np.array([[1.0, 0.0]]), (Attribute("a"), Attribute("b", 0, 1)))
    >>> table.shape, len(table)
    ((1, 2), 1)
    """

    matrix: Floats
    attributes: tuple[Attribute, ...]

    @classmethod
    def of(
        cls, table: Any, attributes: Sequence[Attribute], used: Collection[str] | None = None
    ) -> "EncodedTable":
        """Encode any table by the attributes of a rule set: see `to_matrix`."""
        return cls(to_matrix(table, attributes, used), tuple(attributes))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and features."""
        return len(self.matrix), len(self.attributes)

    def __len__(self) -> int:
        return len(self.matrix)

    def take(self, rows: Any) -> "EncodedTable":
        """Return some of the samples."""
        return EncodedTable(self.matrix[rows], self.attributes)


def describe_columns(matrix: Floats, names: Iterable[str]) -> tuple[Attribute, ...]:
    """Return numeric attributes with the ranges of a matrix; missing values (NaN) are ignored.

    Examples
    --------
    >>> describe_columns(np.array([[1.0, 5.0], [3.0, 4.0]]), ["a", "b"])[0]
    Attribute(name='a', low=1.0, high=3.0, categories=None, kind='numeric', typical=None)
    """
    return tuple(
        Attribute(str(name), *_range(column)) for name, column in zip(names, matrix.T, strict=True)
    )


def encode_frame(frame: Any) -> EncodedTable:
    """Describe and encode the columns of a data frame to learn from.

    The kind of an attribute is that of the type of its column: see `frri.table.columns.kind_of`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = encode_frame(pd.DataFrame({"a": [1, 3], "b": ["red", None]}))
    >>> [attribute.kind for attribute in table.attributes]
    ['numeric', 'nominal']
    >>> table.matrix
    array([[ 1.,  0.],
           [ 3., nan]])
    """
    frame = plain_table(frame)
    columns = find_columns(frame, column_names(frame) or [])
    if not columns:
        raise ValueError("The table has 0 features: give it at least one column.")
    matrix = np.empty((len(frame), len(columns)))
    attributes = []
    for j, (name, column) in enumerate(columns.items()):
        attribute, matrix[:, j] = _describe(column, name)
        attributes.append(attribute)
    return EncodedTable(matrix, tuple(attributes))


def _describe(column: Any, name: str) -> tuple[Attribute, Floats]:
    """Return the attribute of a training column, and its values as numbers."""
    label = f"Column {name!r}"
    values, order = plain_column(column, label), ordered_categories(column)
    if order is not None:
        attribute = Attribute(name, categories=order, kind="ordinal")
        return attribute, _encode_categories(values, attribute)
    if values.dtype.kind == "O":
        if category_positions(column) is None:
            checks.check_categories(name, values)
        texts = {str(value) for value in values if not is_missing(value)}
        attribute = Attribute(name, categories=tuple(sorted(texts)))
        return attribute, _encode_categories(values, attribute)
    far = values.dtype.kind == "f" and bool((np.abs(values) > checks.EXACT).any())
    checks.check_whole_numbers(np.asarray(column) if far else values, label)
    kind = "date" if values.dtype.kind == "M" else "numeric"
    numbers = days_since_1970(values) if kind == "date" else values.astype(np.float64)
    checks.check_moderate(numbers, label)
    return Attribute(name, *_range(numbers), kind=kind), numbers


def _range(column: Floats) -> tuple[float, float]:
    """Return the smallest and largest known value, 0 if all are missing."""
    known = column[~np.isnan(column)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def summarize_table(table: EncodedTable) -> str:
    """Summarize the kinds of columns and the missing values; name columns that are not numeric."""

    def number(count: int, noun: str) -> str:
        return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

    def describe(attribute: Attribute) -> str:
        categories = attribute.categories or ()
        more = {
            "ordinal": f": {' < '.join(categories)}",
            "nominal": f": {number(len(categories), 'value')}",
        }
        return attribute.name + more.get(attribute.kind, "")

    columns = {kind: [a for a in table.attributes if a.kind == kind] for kind in KINDS}
    counts = ", ".join(
        f"{len(found)} {kind}"
        + (f" ({join_names(map(describe, found))})" if kind != "numeric" else "")
        for kind, found in columns.items()
        if found
    )
    missing = int(np.isnan(table.matrix).sum())
    return (
        f"{number(len(table), 'row')}, {number(len(table.attributes), 'column')}: {counts}; "
        f"{number(missing, 'missing value') if missing else 'no missing values'}"
    )


def to_matrix(
    table: Any, attributes: Sequence[Attribute], used: Collection[str] | None = None
) -> Floats:
    """Encode the columns of a table that belong to the attributes, as one float64 matrix.

    Parameters
    ----------
    table : array-like, data frame, dict, list of dict or EncodedTable
        A data frame is read by column names (further columns are ignored), and so is a dictionary
        (one sample, or columns) and a list of them (samples); an array is read by position; a table
        that is encoded already for these attributes is passed through.
    attributes : sequence of Attribute
    used : collection of str, optional
        Names of the attributes that are read, by default all. Columns of others need not exist;
        their values are missing.

    Returns
    -------
    ndarray of float64, shape (n_samples, n_features)

    Examples
    --------
    >>> to_matrix([[1, "red"], [2, "green"]], [Attribute("a"), Attribute("b", categories=("red",))])
    array([[ 1.,  0.],
           [ 2., -1.]])
    >>> to_matrix({"a": 1}, [Attribute("a"), Attribute("b")], used=["a"])
    array([[ 1., nan]])
    """
    if isinstance(table, EncodedTable):
        return _pass_through(table, attributes)
    table = read_records(plain_table(table))
    wanted = [a.name for a in attributes if used is None or a.name in used]
    if column_names(table) is not None:
        found = find_columns(table, wanted)
        return encode_columns([found.get(a.name) for a in attributes], attributes, len(table))
    array = np.asarray(table)
    if array.ndim != 2 or array.shape[1] != len(attributes):
        raise ValueError(
            f"Expected a table of {len(attributes)} columns "
            f"({join_names(a.name for a in attributes)}), got an array of shape {array.shape}."
        )
    if array.dtype.kind in "fiub" and all(a.kind == "numeric" for a in attributes):
        matrix = np.ascontiguousarray(array, dtype=np.float64)
        if not checks.all_moderate(matrix):
            for attribute, column in zip(attributes, matrix.T, strict=True):
                checks.check_moderate(column, f"Column {attribute.name!r}")
        return matrix
    columns = zip(attributes, array.T, strict=True)
    given = [column if used is None or a.name in used else None for a, column in columns]
    return encode_columns(given, attributes, len(array))


def _pass_through(table: EncodedTable, attributes: Sequence[Attribute]) -> Floats:
    """Return the matrix, if its columns are those of the attributes; ranges may differ."""
    wanted, given = (
        [(a.name, a.kind, a.categories) for a in columns]
        for columns in (attributes, table.attributes)
    )
    if wanted != given:
        raise ValueError(
            "The table is encoded for other columns "
            f"({join_names(a.name for a in table.attributes)}); give the table itself."
        )
    return table.matrix


def encode_columns(
    columns: Sequence[Any], attributes: Sequence[Attribute], n_rows: int | None = None
) -> Floats:
    """Encode columns in the order of the attributes; one that is None has missing values only.

    The number of rows is that of the first column unless it is given.
    """
    matrix = np.empty((len(columns[0]) if n_rows is None else n_rows, len(attributes)))
    for j, (attribute, column) in enumerate(zip(attributes, columns, strict=True)):
        matrix[:, j] = np.nan if column is None else _encode(column, attribute)
    return matrix


def _encode(column: Any, attribute: Attribute) -> Floats:
    label = f"Column {attribute.name!r}"
    if attribute.kind == "date":
        try:
            return days_since_1970(column)
        except (ValueError, TypeError):
            raise ValueError(f"{label} does not hold dates.") from None
    if attribute.categories is not None:
        return _encode_categories(plain_column(column, label), attribute)
    given = plain_table(column) if isinstance(column, np.ma.MaskedArray) else column
    # numpy looks for other interfaces of a pandas column first, which takes longer than the rest.
    values = given.__array__() if hasattr(given, "__array__") else np.asarray(given)
    try:
        values = to_numbers(flags_as_numbers(values) if attribute.is_flag else values, label)
    except TypeError:
        raise ValueError(f"{label} does not hold numbers.") from None
    checks.check_moderate(values, label)
    return values


def _encode_categories(values: NDArray[Any], attribute: Attribute) -> Floats:
    codes = category_codes(values, attribute.categories or ())
    if attribute.kind == "ordinal":
        codes[codes < 0.0] = np.nan  # it has no place in the order
    return codes


def check_order(
    table: Any, attributes: Sequence[Attribute], matrix: Floats, used: Collection[str] | None = None
) -> None:
    """Warn of categories without a place in the order of their column, or raise a ValueError.

    Parameters
    ----------
    table, attributes
        As given to `to_matrix`; a table that is encoded already is not checked.
    matrix : ndarray of float64
        The result of `to_matrix`.
    used : collection of str, optional
        Names of the attributes that are read, whose values count as missing then, with a warning.
        By default they are refused.
    """
    for j, attribute in enumerate(attributes):
        unread = isinstance(table, EncodedTable) or (
            used is not None and attribute.name not in used
        )
        if attribute.kind != "ordinal" or unread or not np.isnan(matrix[:, j]).any():
            continue
        frame = read_records(plain_table(table))
        if column_names(frame) is None:
            column = np.asarray(frame)[:, j]
        else:
            column = find_columns(frame, [attribute.name])[attribute.name]
        values = plain_column(column)
        rows = [
            row for row in np.flatnonzero(np.isnan(matrix[:, j])) if not is_missing(values[row])
        ]
        if rows:
            what = (
                f"Column {attribute.name!r} holds {str(values[rows[0]])!r} in row {rows[0] + 1} "
                f"({len(rows)} of {len(matrix)} rows), which has no place among "
                f"{join_names(attribute.categories or ())}"
            )
            if used is None:
                raise ValueError(f"{what}; replace it by one of these or drop these rows first.")
            warnings.warn(f"{what}; it counts as missing.", UserWarning, stacklevel=4)


# Strings that are booleans, in lower case.
TRUTH = {
    **dict.fromkeys(("true", "yes", "1", "1.0"), True),
    **dict.fromkeys(("false", "no", "0", "0.0", "-0.0"), False),
}
# Words that are written for 1 and 0.
FLAGS = {word: float(value) for word, value in TRUTH.items() if word.isalpha()}
_WHOLE = re.compile(r"(-?[1-9][0-9]*|0)(\.0)?")


def flags_as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Replace words for true and false in a column by 1 and 0."""
    if values.dtype.kind not in "OU":
        return values
    numbers = [FLAGS.get(v.strip().lower(), v) if isinstance(v, str) else v for v in values]
    return np.array(numbers, dtype=object)


def category_codes(values: NDArray[Any], categories: Sequence[str]) -> Floats:
    """Return the positions of values among categories, NaN for missing values, -1 for unknown ones.

    Examples
    --------
    >>> values = np.array([3, "3.0", "red", "blue", None], dtype=object)
    >>> category_codes(values, ["3", "red"])
    array([ 0.,  0.,  1., -1., nan])
    """
    codes, fold = _lookup(tuple(categories))

    def code(value: Any) -> float:
        if not isinstance(value, str):
            if is_missing(value):
                return np.nan
            value = str(value)
        return codes.get(fold(value), -1.0)

    return np.fromiter(map(code, values.astype(object)), dtype=np.float64, count=len(values))


@lru_cache(maxsize=1024)
def _lookup(categories: tuple[str, ...]) -> tuple[dict[str, float], Callable[[str], str]]:
    """Return the positions of categories by their texts; cached for single samples."""
    texts = category_texts(categories).items()
    places = {category: float(place) for place, category in enumerate(categories)}
    return {text: places[category] for text, category in texts}, folding(categories)


def category_texts(categories: Sequence[str]) -> dict[str, str]:
    """Return every text that means a category, after `folding`.

    Examples
    --------
    >>> category_texts(["3", "red"])
    {'3': '3', 'red': 'red', '3.0': '3'}
    >>> category_texts(["3", "3.0"])
    {'3': '3', '3.0': '3.0'}
    >>> category_texts(["no"])
    {'no': 'no', 'false': 'no', '0': 'no', '0.0': 'no', '-0.0': 'no'}
    >>> category_texts(["no", "unknown"])
    {'no': 'no', 'unknown': 'unknown', 'False': 'no'}
    """
    booleans = _booleans(categories)
    if len(booleans) == len(categories):
        own = {category.lower(): category for category in categories}
        return own | {text: booleans[value] for text, value in TRUTH.items() if value in booleans}
    texts = {category: category for category in categories}
    for category in categories:
        number = _WHOLE.fullmatch(category)
        if number:
            whole = number[1]
            for text in (whole, f"{whole}.0", *(["-0.0"] if whole == "0" else [])):
                texts.setdefault(text, category)
    for value, category in booleans.items():
        texts.setdefault(str(value), category)
    return texts


def folding(categories: Sequence[str]) -> Callable[[str], str]:
    """Return the function that is applied to texts before look-up: booleans have many spellings."""
    return str.lower if len(_booleans(categories)) == len(categories) else str


def _booleans(categories: Sequence[str]) -> dict[bool, str]:
    """Return the category of each boolean that exactly one category means."""
    words = TRUTH | {"t": True, "f": False}  # a single letter may be anything but a category
    found = [(words[c.lower()], c) for c in categories if c.lower() in words]
    values = [value for value, _ in found]
    return {value: category for value, category in found if values.count(value) == 1}


def category_spellings(categories: Sequence[str]) -> dict[str, str]:
    """Return every text that means a category, for engines that compare texts as they are.

    Words of booleans are spelled in lower case, upper case and with a capital.

    Examples
    --------
    >>> list(category_spellings(["no"]))[:6], category_spellings(["red"])
    (['no', 'NO', 'No', 'false', 'FALSE', 'False'], {'red': 'red'})
    """
    texts = category_texts(categories)
    if folding(categories) is str:
        return texts
    forms = (str, str.upper, str.title)
    return {form(text): category for text, category in texts.items() for form in forms}

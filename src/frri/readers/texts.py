"""Columns of texts: missing values, and the dates and decimal commas that stand behind some."""

import re
import warnings
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from frri._util import import_pandas, quote_name
from frri.readers.dates import formats_of
from frri.readers.quantities import plain_numbers
from frri.table.targets import MOST_NUMBERED_CLASSES

if TYPE_CHECKING:
    import pandas as pd

MISSING = [
    *("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>"),
    *("NaN", "nan", "NaT", "None", "null", "NULL", "<null>"),
]

_TIME = r"[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?"
_ISO_DATE = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}({_TIME}(Z|[+-]\d{{2}}:?\d{{2}})?)?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,?\d+([eE][-+]?\d+)?")
_NUMBER_LIKE = re.compile(r"^\W*([A-Z]{3}\s*)?(\d|inf)", re.IGNORECASE)
_TRUTH = {"true": "True", "false": "False"}


def with_texts(
    frame: "pd.DataFrame", change: "Callable[[str, pd.Series[Any]], pd.Series[Any]]"
) -> "pd.DataFrame":
    """A table whose columns of texts went through a function of name and values.

    Examples
    --------
    >>> import pandas as pd
    >>> with_texts(pd.DataFrame({"a": [1], "b": ["x "]}), lambda _, values: values.str.strip())
       a  b
    0  1  x
    """
    if all(dtype.kind != "O" for dtype in frame.dtypes):
        return frame
    pd = import_pandas()
    # One new table: putting thousands of columns into an old one takes far longer.
    return pd.DataFrame(
        {
            name: change(name, values) if values.dtype.kind == "O" else values
            for name, values in frame.items()
        }
    )


def cleaned(
    column: "pd.Series[Any]", known: Collection[str], missing: Collection[str] = ()
) -> "pd.Series[Any]":
    """The texts of a column, each through `clean_text`.

    Examples
    --------
    >>> import pandas as pd
    >>> cleaned(pd.Series(["red ", "? ", "NA"]), known=["NA", "red"]).tolist()
    ['red', None, 'NA']
    """
    changes = {
        value: clean_text(value, known, missing)
        for value in column.unique()
        if isinstance(value, str)
    }
    if all(old == new for old, new in changes.items()):
        return column
    return column.map(lambda value: changes.get(value, value)).astype(object)


def clean_text(text: str, known: Collection[str] = (), missing: Collection[str] = ()) -> str | None:
    """A text without spaces around it, None for a mark of a missing value; known values stay.

    Where truth values are known, they are recognised in any spelling.

    Examples
    --------
    >>> clean_text(" red "), clean_text("NA"), clean_text("NA", ["NA"]), clean_text("true", ["True"])
    ('red', None, 'NA', 'True')
    """
    if text in known:
        return text
    bare = text.strip()
    if bare in known:
        return bare
    if bare in MISSING or bare in missing:
        return None
    truth = bool(known) and set(known) <= set(_TRUTH.values())
    return _TRUTH.get(bare.lower(), bare) if truth else bare


def class_values(
    column: "pd.Series[Any]", *, decimal_commas: bool = False, missing: Collection[str] = ()
) -> "pd.Series[Any]":
    """A column of classes as `converted`, but as texts where numbers would not tell them apart.

    A few percentages or amounts of money are names of classes too; many are a number to predict.

    Examples
    --------
    >>> import pandas as pd
    >>> class_values(pd.Series(["1", "01"])).tolist(), class_values(pd.Series(["1", "2.0"])).tolist()
    (['1', '01'], [1.0, 2.0])
    >>> class_values(pd.Series(["10%", "20%"])).tolist(), class_values(pd.Series(["true"])).tolist()
    (['10%', '20%'], [True])
    """
    written = cleaned(column, (), missing)
    texts = [text for text in written.unique() if isinstance(text, str)]
    if texts and all(text.lower() in _TRUTH for text in texts):
        truth = {text: text.lower() == "true" for text in texts}
        values = written.map(truth)
        return values if values.isna().any() else values.astype(bool)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = converted(column, decimal_commas=decimal_commas, missing=missing)
    if values.dtype.kind in "iuf":
        plain = {re.sub(r"^\+|\.0*$", "", text) for text in texts}
        few = len(texts) <= MOST_NUMBERED_CLASSES
        if values.nunique() < len(plain) or (caught and few):
            return written
    for one in caught:
        warnings.warn(str(one.message), UserWarning, stacklevel=2)
    return values


def converted(
    column: "pd.Series[Any]",
    *,
    decimal_commas: bool = False,
    missing: Collection[str] = (),
    date_format: str | None = None,
) -> "pd.Series[Any]":
    """A column of ISO dates as dates, one of numbers as numbers, any other as cleaned texts.

    Examples
    --------
    >>> import pandas as pd
    >>> converted(pd.Series(["2023-01-31", None])).dtype
    dtype('<M8[ns]')
    >>> converted(pd.Series(["1,5", "2"]), decimal_commas=True).tolist()
    [1.5, 2.0]
    """
    pd = import_pandas()
    column = cleaned(column, (), missing)
    known = column.dropna()
    if known.empty:
        return column.astype(float)
    if not all(isinstance(value, str) for value in known):
        return column
    iso = all(_ISO_DATE.fullmatch(value) for value in known)
    formats = [] if iso else formats_of(known, date_format)
    if len(formats) > 1:
        warnings.warn(
            f"Column {column.name!r} holds dates such as {known.iloc[0]!r}, of which day and month cannot "
            f"be told apart: they stay texts; type --date-format {' or '.join(map(quote_name, formats))}.",
            UserWarning,
            stacklevel=2,
        )
    if iso or len(formats) == 1:
        return _dates(column, pd) if iso else pd.to_datetime(column, format=formats[0])
    if decimal_commas and all(_DECIMAL_COMMA.fullmatch(value) for value in known):
        column = column.str.replace(",", ".")
    elif not _NUMBER_LIKE.search(known.iloc[0]):
        return column
    numbers = exact_numbers(column)
    if numbers.isna().sum() == column.isna().sum():
        return numbers
    return _dressed(column, known, decimal_commas=decimal_commas)


def _dressed(
    column: "pd.Series[Any]", known: "pd.Series[Any]", *, decimal_commas: bool
) -> "pd.Series[Any]":
    """Percentages and the like as numbers, with a note; any other texts as they are."""
    found = plain_numbers(known.unique(), decimal_commas=decimal_commas)
    if found is None:
        return column
    what, values = found
    example = known.iloc[0]
    warnings.warn(
        f"Column {column.name!r} holds {what}: {example!r} is read as {values[example]:g}.",
        UserWarning,
        stacklevel=2,
    )
    return column.map(values).astype(float)


def without_marks(frame: "pd.DataFrame", missing: Collection[str]) -> "pd.DataFrame":
    """A table without the values, numbers or texts, that are marks of missing ones.

    Examples
    --------
    >>> import pandas as pd
    >>> without_marks(pd.DataFrame({"a": [1, -999], "b": ["x", "unknown"]}), ["-999", "unknown"])
         a     b
    0  1.0     x
    1  NaN  None
    """
    if not missing:
        return frame
    marks = import_pandas().Series(list(missing), dtype=object)
    numbers = exact_numbers(marks).dropna()
    return frame.assign(
        **{
            name: values.mask(values.isin(numbers))
            if values.dtype.kind in "iuf"
            else values.where(~values.isin(marks), None)
            for name, values in frame.items()
            if values.dtype.kind in "iufO"
        }
    )


def exact_numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Texts as numbers, to the last bit; NaN for what is none.

    Examples
    --------
    >>> import pandas as pd
    >>> exact_numbers(pd.Series(["41.885953316400901", "x"])).tolist()
    [41.8859533164009, nan]
    """
    numbers = import_pandas().to_numeric(column, errors="coerce")
    if numbers.dtype.kind == "f":
        # pandas may be off by the last digit, Python is not.
        known = numbers.notna()
        numbers[known] = column[known].astype(float)
    return numbers


def _dates(column: "pd.Series[Any]", pd: Any) -> "pd.Series[Any]":
    """Moments in a time zone become those of Greenwich; days that do not exist stay texts."""
    zoned = bool(column.dropna().str.contains(r"(?:Z|:\d{2}[+-][\d:]+)$").any())
    try:
        moments = pd.to_datetime(column, format="ISO8601", utc=zoned)
    except ValueError:
        return column
    return moments.dt.tz_localize(None) if zoned else moments

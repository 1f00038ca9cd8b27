"""Columns of texts: missing values, and the dates and decimal commas that stand behind some."""

import re
import warnings
from collections.abc import Callable, Collection, Iterable
from time import strftime, strptime
from typing import TYPE_CHECKING, Any

from frri._util import import_pandas, quote_name
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


def map_string_columns(
    frame: "pd.DataFrame", change: "Callable[[str, pd.Series[Any]], pd.Series[Any]]"
) -> "pd.DataFrame":
    """A table whose columns of texts went through a function of name and values.

    Examples
    --------
    >>> import pandas as pd
    >>> map_string_columns(pd.DataFrame({"a": [1], "b": ["x "]}), lambda _, values: values.str.strip())
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


def clean_column(
    column: "pd.Series[Any]", known: Collection[str], missing: Collection[str] = ()
) -> "pd.Series[Any]":
    """The texts of a column, each through `clean_text`.

    Examples
    --------
    >>> import pandas as pd
    >>> clean_column(pd.Series(["red ", "? ", "NA"]), known=["NA", "red"]).tolist()
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


def infer_classes(
    column: "pd.Series[Any]", *, decimal_commas: bool = False, missing: Collection[str] = ()
) -> "pd.Series[Any]":
    """A column of classes as `infer_column`, but as texts where numbers would not tell them apart.

    A few percentages or amounts of money are names of classes too; many are a number to predict.

    Examples
    --------
    >>> import pandas as pd
    >>> infer_classes(pd.Series(["1", "01"])).tolist(), infer_classes(pd.Series(["1", "2.0"])).tolist()
    (['1', '01'], [1.0, 2.0])
    >>> infer_classes(pd.Series(["10%", "20%"])).tolist(), infer_classes(pd.Series(["true"])).tolist()
    (['10%', '20%'], [True])
    """
    written = clean_column(column, (), missing)
    texts = [text for text in written.unique() if isinstance(text, str)]
    if texts and all(text.lower() in _TRUTH for text in texts):
        truth = {text: text.lower() == "true" for text in texts}
        values = written.map(truth)
        return values if values.isna().any() else values.astype(bool)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = infer_column(column, decimal_commas=decimal_commas, missing=missing)
    if values.dtype.kind in "iuf":
        plain = {re.sub(r"^\+|\.0*$", "", text) for text in texts}
        few = len(texts) <= MOST_NUMBERED_CLASSES
        if values.nunique() < len(plain) or (caught and few):
            return written
    for one in caught:
        warnings.warn(str(one.message), UserWarning, stacklevel=2)
    return values


def infer_column(
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
    >>> infer_column(pd.Series(["2023-01-31", None])).dtype
    dtype('<M8[ns]')
    >>> infer_column(pd.Series(["1,5", "2"]), decimal_commas=True).tolist()
    [1.5, 2.0]
    """
    pd = import_pandas()
    column = clean_column(column, (), missing)
    known = column.dropna()
    if known.empty:
        return column.astype(float)
    if not all(isinstance(value, str) for value in known):
        return column
    iso = all(_ISO_DATE.fullmatch(value) for value in known)
    formats = [] if iso else find_date_formats(known, date_format)
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
    numbers = parse_numbers(column)
    if numbers.isna().sum() == column.isna().sum():
        return numbers
    return _dressed(column, known, decimal_commas=decimal_commas)


def _dressed(
    column: "pd.Series[Any]", known: "pd.Series[Any]", *, decimal_commas: bool
) -> "pd.Series[Any]":
    """Percentages and the like as numbers, with a note; any other texts as they are."""
    found = parse_quantities(known.unique(), decimal_commas=decimal_commas)
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


def replace_na_values(frame: "pd.DataFrame", missing: Collection[str]) -> "pd.DataFrame":
    """A table without the values, numbers or texts, that are marks of missing ones.

    Examples
    --------
    >>> import pandas as pd
    >>> replace_na_values(pd.DataFrame({"a": [1, -999], "b": ["x", "unknown"]}), ["-999", "unknown"])
         a     b
    0  1.0     x
    1  NaN  None
    """
    if not missing:
        return frame
    marks = import_pandas().Series(list(missing), dtype=object)
    numbers = parse_numbers(marks).dropna()
    return frame.assign(
        **{
            name: values.mask(values.isin(numbers))
            if values.dtype.kind in "iuf"
            else values.where(~values.isin(marks), None)
            for name, values in frame.items()
            if values.dtype.kind in "iufO"
        }
    )


def parse_numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Texts as numbers, to the last bit; NaN for what is none.

    Examples
    --------
    >>> import pandas as pd
    >>> parse_numbers(pd.Series(["41.885953316400901", "x"])).tolist()
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


_UNIT = r"%|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR"
_DRESSED = re.compile(
    rf"(?P<sign>[-+]?)\s*(?P<before>{_UNIT})?\s*(?P<digits>[-+]?[\d.,'\u00a0]*\d)\s*(?P<after>{_UNIT})?"
)
_COMMA_THOUSANDS = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d*)(\.\d+)?")
_COMMA_DECIMALS = re.compile(r"[-+]?(\d{1,3}([.'\u00a0]\d{3})+|\d*)(,\d+)?")
_TIME_OF_DAY = re.compile(
    r"(?P<h>\d{1,2}):(?P<m>[0-5]\d)(:(?P<s>[0-5]\d(\.\d+)?))?\s*(?P<half>[ap]m)?", re.IGNORECASE
)


def parse_quantities(
    texts: Iterable[str], *, decimal_commas: bool = False
) -> tuple[str, dict[str, float]] | None:
    """What texts are that are all percentages, money, numbers with thousands or times of day.

    Parameters
    ----------
    texts : iterable of str
        The different values of a column.
    decimal_commas : bool
        Whether a comma is rather a decimal mark than one of thousands, where it may be both.

    Returns
    -------
    (str, dict) or None
        What they are called, and their numbers; None if they are nothing of the kind.

    Examples
    --------
    >>> parse_quantities(["45%", "7.5 %"])
    ('percentages', {'45%': 45.0, '7.5 %': 7.5})
    >>> parse_quantities(["$1,200", "-$3"])
    ('money', {'$1,200': 1200.0, '-$3': -3.0})
    >>> parse_quantities(["1.200,50 EUR", "3 EUR"])
    ('money', {'1.200,50 EUR': 1200.5, '3 EUR': 3.0})
    >>> parse_quantities(["8:30", "2:15 pm"])
    ('times of day, as hours', {'8:30': 8.5, '2:15 pm': 14.25})
    >>> parse_quantities(["1,5", "2"])
    """
    values = list(texts)
    return _times(values) or _amounts(values, decimal_commas=decimal_commas)


def _times(values: list[str]) -> tuple[str, dict[str, float]] | None:
    hours = {}
    for value in values:
        found = _TIME_OF_DAY.fullmatch(value)
        if found is None or int(found["h"]) > (12 if found["half"] else 23):
            return None
        hour = int(found["h"])
        if found["half"]:
            hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
        hours[value] = hour + int(found["m"]) / 60 + float(found["s"] or 0) / 3600
    return "times of day, as hours", hours


def _amounts(values: list[str], *, decimal_commas: bool) -> tuple[str, dict[str, float]] | None:
    digits, units = {}, set()
    for value in values:
        found = _DRESSED.fullmatch(value)
        if found is None or (found["before"] and found["after"]):
            return None
        digits[value] = found["sign"] + found["digits"]
        units.add(found["before"] or found["after"] or "")
    # Money without its sign is still money; a number without a percent sign may be a share.
    if "%" in units:
        if len(units) > 1:
            return None
        what = "percentages"
    elif units - {""}:
        if len(units - {""}) > 1:
            return None
        what = "money"
    else:
        what = "numbers with marks of thousands"
    styles = [(_COMMA_THOUSANDS, ",", "."), (_COMMA_DECIMALS, ".'\u00a0", ",")]
    for style, thousands, point in reversed(styles) if decimal_commas else styles:
        if all(style.fullmatch(text) for text in digits.values()):
            drop = str.maketrans(dict.fromkeys(thousands, "") | {point: "."})
            numbers = {value: text.translate(drop) for value, text in digits.items()}
            if what.startswith("numbers") and all(
                len(numbers[value]) == len(text) for value, text in digits.items()
            ):
                return None  # nothing but decimal marks
            return what, {value: float(text) for value, text in numbers.items()}
    return None


_FORMATS = ("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
_DATE_LIKE = re.compile(
    r"(\d{1,2}([./-])\d{1,2}\2\d{4}|\d{4}/\d{1,2}/\d{1,2})( \d{1,2}:\d{2}(:\d{2})?)?"
)


def find_date_formats(texts: "pd.Series[Any]", asked: str | None = None) -> list[str]:
    """The formats that fit all values: none if they are no dates, several if it cannot be told.

    The one that is asked for comes before all others.

    Examples
    --------
    >>> import pandas as pd
    >>> find_date_formats(pd.Series(["31.12.2024", "1.2.2025"])), find_date_formats(pd.Series(["12/31/2024"]))
    (['%d.%m.%Y'], ['%m/%d/%Y'])
    >>> find_date_formats(pd.Series(["03/04/2024"]))
    ['%d/%m/%Y', '%m/%d/%Y']
    >>> find_date_formats(pd.Series(["03/04/2024"]), "%m/%d/%Y")
    ['%m/%d/%Y']
    """
    pd = import_pandas()
    values = texts.drop_duplicates()
    if asked and pd.to_datetime(values, format=asked, errors="coerce").notna().all():
        return [asked]
    if not len(values) or not all(_DATE_LIKE.fullmatch(value) for value in values):
        return []
    candidates = [date + time for date in _FORMATS for time in _TIMES]
    return [
        candidate
        for candidate in candidates
        if pd.to_datetime(values, format=candidate, errors="coerce").notna().all()
    ]


def check_date_format(date_format: str) -> None:
    """Complain about a format that no date can have.

    Examples
    --------
    >>> check_date_format("%d.%m.%Y")
    >>> check_date_format("dd.mm.yyyy")
    Traceback (most recent call last):
        ...
    ValueError: --date-format is written like %d.%m.%Y, with %d, %m and %Y for day, month and year; got ...
    """
    try:
        parts = set(re.findall(r"%[a-zA-Z]", date_format))
        strptime(strftime(date_format), date_format)
    except ValueError:
        parts = set()
    if not parts & {"%Y", "%y"}:
        raise ValueError(
            "--date-format is written like %d.%m.%Y, with %d, %m and %Y for day, month and year; "
            f"got {date_format!r}."
        )

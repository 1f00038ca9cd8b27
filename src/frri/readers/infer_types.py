"""Infer the types of columns of strings, declare them, and check them."""

import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from time import strftime, strptime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from frri._util import find_name, import_pandas, quote_name
from frri.table.checks import FEWEST_NAMES, refuse_mixture
from frri.table.columns import kind_of
from frri.table.targets import MOST_NUMBERED_CLASSES

if TYPE_CHECKING:
    import pandas as pd

NA_VALUES = [
    *("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>"),
    *("NaN", "nan", "NaT", "None", "null", "NULL", "<null>"),
]

_TIME = r"[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?"
_ISO_DATE = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}({_TIME}(Z|[+-]\d{{2}}:?\d{{2}})?)?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,?\d+([eE][-+]?\d+)?")
_NUMBER_LIKE = re.compile(r"^\W*([A-Z]{3}\s*)?(\d|inf)", re.IGNORECASE)
_BOOLEANS = {"true": "True", "false": "False"}


class ReadOptions(NamedTuple):
    """How cells of a file are read.

    Attributes
    ----------
    strings : mapping
        Columns that hold strings even if they look like numbers or dates, and their known values,
        which are never taken for missing.
    na_values : collection of str
        Further marks of missing values.
    date_format : str, optional
        Format of dates, such as ``%m/%d/%Y``, in columns that it fits.
    classes : str, optional
        A column whose different strings stay different: ``1`` and ``01`` are no numbers there.
    """

    strings: Mapping[str, Collection[str]] = MappingProxyType({})
    na_values: Collection[str] = ()
    date_format: str | None = None
    classes: str | None = None


DEFAULTS = ReadOptions()


def infer_columns(
    frame: "pd.DataFrame",
    options: ReadOptions,
    *,
    decimal_commas: bool = False,
    inferred: Collection[str] | None = None,
) -> "pd.DataFrame":
    """Infer the types of the columns of strings, by default of all but those declared as strings.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [1], "b": ["x "], "c": ["3"], "d": ["3"]})
    >>> infer_columns(table, ReadOptions({"d": ()})).dtypes.map(str).tolist()
    ['int64', 'object', 'int64', 'object']
    """

    def infer(name: str, values: "pd.Series[Any]") -> "pd.Series[Any]":
        if values.dtype.kind != "O":
            return values
        if name in options.strings:
            return clean_column(values, options.strings[name], options.na_values)
        if inferred is not None and name not in inferred:
            return clean_column(values, (), options.na_values)
        if name == options.classes and all(isinstance(value, str) for value in values.dropna()):
            return infer_classes(values, options, decimal_commas=decimal_commas)
        return infer_column(values, options, decimal_commas=decimal_commas)

    if all(dtype.kind != "O" for dtype in frame.dtypes):
        return frame
    # One new table: assigning thousands of columns to an old one takes far longer.
    return import_pandas().DataFrame({name: infer(name, values) for name, values in frame.items()})


def clean_column(
    column: "pd.Series[Any]", known: Collection[str], na_values: Collection[str] = ()
) -> "pd.Series[Any]":
    """Apply `clean_text` to the strings of a column.

    Examples
    --------
    >>> import pandas as pd
    >>> clean_column(pd.Series(["red ", "? ", "NA"]), known=["NA", "red"]).tolist()
    ['red', None, 'NA']
    """
    changes = {
        value: clean_text(value, known, na_values)
        for value in column.unique()
        if isinstance(value, str)
    }
    if all(old == new for old, new in changes.items()):
        return column
    return column.map(lambda value: changes.get(value, value)).astype(object)


def clean_text(
    text: str, known: Collection[str] = (), na_values: Collection[str] = ()
) -> str | None:
    """Strip a string, or return None for a mark of a missing value; known values stay.

    Where booleans are known, they are recognized in any spelling.

    Examples
    --------
    >>> clean_text(" red "), clean_text("NA"), clean_text("NA", ["NA"])
    ('red', None, 'NA')
    >>> clean_text("true", ["True"])
    'True'
    """
    bare = text.strip()
    if text in known or bare in known:
        return text if text in known else bare
    if bare in NA_VALUES or bare in na_values:
        return None
    boolean = bool(known) and set(known) <= set(_BOOLEANS.values())
    return _BOOLEANS.get(bare.lower(), bare) if boolean else bare


def infer_classes(
    column: "pd.Series[Any]", options: ReadOptions, *, decimal_commas: bool = False
) -> "pd.Series[Any]":
    """Infer the type of a column of classes; strings stay where numbers would merge some of them.

    A few percentages or amounts of money are names of classes, too; many are a target of a
    regression.

    Examples
    --------
    >>> import pandas as pd
    >>> [infer_classes(pd.Series(y), ReadOptions()).tolist() for y in (["1", "01"], ["1", "2.0"])]
    [['1', '01'], [1.0, 2.0]]
    >>> [infer_classes(pd.Series(y), ReadOptions()).tolist() for y in (["10%", "20%"], ["true"])]
    [['10%', '20%'], [True]]
    """
    written = clean_column(column, (), options.na_values)
    texts = [text for text in written.unique() if isinstance(text, str)]
    if texts and all(text.lower() in _BOOLEANS for text in texts):
        values = written.map({text: text.lower() == "true" for text in texts})
        return values if values.isna().any() else values.astype(bool)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        numbers_only = options._replace(date_format=None)
        values = infer_column(column, numbers_only, decimal_commas=decimal_commas)
    if values.dtype.kind in "iuf":
        plain = {re.sub(r"^\+|\.0*$", "", text) for text in texts}
        few = len(texts) <= MOST_NUMBERED_CLASSES
        if values.nunique() < len(plain) or (caught and few):
            return written
    for one in caught:
        warnings.warn(str(one.message), UserWarning, stacklevel=2)
    return values


def infer_column(
    column: "pd.Series[Any]", options: ReadOptions, *, decimal_commas: bool = False
) -> "pd.Series[Any]":
    """Convert a column of dates to dates, one of numbers to numbers; strip any other strings.

    Examples
    --------
    >>> import pandas as pd
    >>> infer_column(pd.Series(["2023-01-31", None]), ReadOptions()).dtype
    dtype('<M8[ns]')
    >>> infer_column(pd.Series(["1,5", "2"]), ReadOptions(), decimal_commas=True).tolist()
    [1.5, 2.0]
    """
    column = clean_column(column, (), options.na_values)
    known = column.dropna()
    if known.empty or not all(isinstance(value, str) for value in known):
        return column.astype(float) if known.empty else column
    if all(_ISO_DATE.fullmatch(value) for value in known):
        return _parse_iso_dates(column)
    formats = find_date_formats(known, options.date_format)
    if len(formats) == 1:
        return import_pandas().to_datetime(column, format=formats[0])
    if formats:
        _warn(
            f"Column {column.name!r} holds dates such as {known.iloc[0]!r}, of which day and month "
            "cannot be told apart: they stay texts; type --date-format "
            f"{' or '.join(map(quote_name, formats))}."
        )
    if decimal_commas and all(_DECIMAL_COMMA.fullmatch(value) for value in known):
        column = column.str.replace(",", ".")
    elif not _NUMBER_LIKE.search(known.iloc[0]):
        return column
    return _to_numbers(column, known, decimal_commas=decimal_commas)


def _to_numbers(
    column: "pd.Series[Any]", known: "pd.Series[Any]", *, decimal_commas: bool
) -> "pd.Series[Any]":
    """Convert numbers, percentages and the like; any other strings stay."""
    numbers = parse_numbers(column)
    if numbers.isna().sum() == column.isna().sum():
        return numbers
    found = parse_quantities(known.unique(), decimal_commas=decimal_commas)
    if found is None:
        return column
    what, values = found
    example = known.iloc[0]
    _warn(f"Column {column.name!r} holds {what}: {example!r} is read as {values[example]:g}.")
    return column.map(values).astype(float)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=3)


def replace_na_values(frame: "pd.DataFrame", na_values: Collection[str]) -> "pd.DataFrame":
    """Replace the numbers and strings that are marks of missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [1, -999], "b": ["x", "unknown"]})
    >>> replace_na_values(table, ["-999", "unknown"])
         a     b
    0  1.0     x
    1  NaN  None
    """
    if not na_values:
        return frame
    marks = import_pandas().Series(list(na_values), dtype=object)
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


# ------------------------------------------------------------------ numbers


def parse_numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Convert strings to numbers, to the last bit; NaN for other strings.

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


_UNIT = r"%|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR"
_AMOUNT = re.compile(
    rf"(?P<sign>[-+]?)\s*(?P<before>{_UNIT})?\s*"
    rf"(?P<digits>[-+]?[\d.,'\u00a0]*\d)\s*(?P<after>{_UNIT})?"
)
_COMMA_THOUSANDS = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d*)(\.\d+)?")
_COMMA_DECIMALS = re.compile(r"[-+]?(\d{1,3}([.'\u00a0]\d{3})+|\d*)(,\d+)?")
_TIME_OF_DAY = re.compile(
    r"(?P<h>\d{1,2}):(?P<m>[0-5]\d)(:(?P<s>[0-5]\d(\.\d+)?))?\s*(?P<half>[ap]m)?", re.IGNORECASE
)


def parse_quantities(
    texts: Iterable[str], *, decimal_commas: bool = False
) -> tuple[str, dict[str, float]] | None:
    """Parse strings that are all percentages, money, numbers with thousands or times of day.

    Parameters
    ----------
    texts : iterable of str
        Distinct values of a column.
    decimal_commas : bool
        Whether a comma that may be both is a decimal mark rather than a mark of thousands.

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
    return _parse_times(values) or _parse_amounts(values, decimal_commas=decimal_commas)


def _parse_times(values: list[str]) -> tuple[str, dict[str, float]] | None:
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


def _parse_amounts(
    values: list[str], *, decimal_commas: bool
) -> tuple[str, dict[str, float]] | None:
    digits, units = {}, set()
    for value in values:
        found = _AMOUNT.fullmatch(value)
        if found is None or (found["before"] and found["after"]):
            return None
        digits[value] = found["sign"] + found["digits"]
        units.add(found["before"] or found["after"] or "")
    # Money without its sign is still money; a number without a percent sign may be a fraction.
    if len(units - {""}) > 1 or units == {"%", ""}:
        return None
    unit = max(units, default="")
    what = {"%": "percentages", "": "numbers with marks of thousands"}.get(unit, "money")
    styles = [(_COMMA_THOUSANDS, ",", "."), (_COMMA_DECIMALS, ".'\u00a0", ",")]
    for style, thousands, point in reversed(styles) if decimal_commas else styles:
        if all(style.fullmatch(text) for text in digits.values()):
            drop = str.maketrans(dict.fromkeys(thousands, "") | {point: "."})
            numbers = {value: text.translate(drop) for value, text in digits.items()}
            if not unit and all(len(numbers[v]) == len(text) for v, text in digits.items()):
                return None  # nothing but decimal marks
            return what, {value: float(text) for value, text in numbers.items()}
    return None


# ------------------------------------------------------------------ dates

_DATES = ("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_DATE_FORMATS = [date + time for date in _DATES for time in ("", " %H:%M", " %H:%M:%S")]
_DATE_LIKE = re.compile(
    r"(\d{1,2}([./-])\d{1,2}\2\d{4}|\d{4}/\d{1,2}/\d{1,2})( \d{1,2}:\d{2}(:\d{2})?)?"
)


def find_date_formats(texts: "pd.Series[Any]", asked: str | None = None) -> list[str]:
    """Return the formats that fit all values: several if day and month cannot be told apart.

    The one that is asked for comes before all others.

    Examples
    --------
    >>> import pandas as pd
    >>> find_date_formats(pd.Series(["31.12.2024", "1.2.2025"]))
    ['%d.%m.%Y']
    >>> find_date_formats(pd.Series(["03/04/2024"]))
    ['%d/%m/%Y', '%m/%d/%Y']
    >>> find_date_formats(pd.Series(["03/04/2024"]), "%m/%d/%Y")
    ['%m/%d/%Y']
    """
    values = texts.drop_duplicates()

    def fits(candidate: str) -> bool:
        parsed = import_pandas().to_datetime(values, format=candidate, errors="coerce")
        return bool(parsed.notna().all())

    if asked and fits(asked):
        return [asked]
    if not all(_DATE_LIKE.fullmatch(value) for value in values):
        return []
    return [candidate for candidate in _DATE_FORMATS if fits(candidate)]


def check_date_format(date_format: str) -> None:
    """Raise a ValueError for a format that no date can have.

    Examples
    --------
    >>> check_date_format("%d.%m.%Y")
    >>> check_date_format("dd.mm.yyyy")
    Traceback (most recent call last):
        ...
    ValueError: --date-format is written like %d.%m.%Y, with %d, %m and %Y for day, month and ...
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


def _parse_iso_dates(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Parse ISO dates; times in a time zone become UTC, days that do not exist stay strings."""
    zoned = bool(column.dropna().str.contains(r"(?:Z|:\d{2}[+-][\d:]+)$").any())
    try:
        moments = import_pandas().to_datetime(column, format="ISO8601", utc=zoned)
    except ValueError:
        return column
    return moments.dt.tz_localize(None) if zoned else moments


# ------------------------------------------------------------------ declared types


def declare(
    frame: "pd.DataFrame",
    name: str,
    *,
    nominal: Collection[str] = (),
    ordinal: Mapping[str, Sequence[str]] | None = None,
    ignore: Collection[str] = (),
) -> "pd.DataFrame":
    """Convert columns to categories, ordered or not, and drop others.

    Parameters
    ----------
    frame : pandas.DataFrame
    name : str
        Name of the table in messages.
    nominal, ignore : collections of column names
    ordinal : mapping
        Column names and their values from low to high.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"id": [7, 8], "size": ["S", "L"]})
    >>> declare(table, "table", ordinal={"size": ["S", "M", "L"]}, ignore=["id"]).dtypes.tolist()
    [CategoricalDtype(categories=['S', 'M', 'L'], ordered=True, categories_dtype=object)]
    """
    pd = import_pandas()
    ordinal = ordinal or {}
    for column in (*nominal, *ordinal, *ignore):
        find_name(column, frame.columns, name)
    changed = {column: to_strings(frame[column]) for column in nominal}
    for column, values in ordinal.items():
        changed[column] = _ordered(to_strings(frame[column]), list(values), column, pd)
    return frame.assign(**changed).drop(columns=list(ignore))


def to_strings(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Convert the values of a column to strings, missing ones to None; integers have no decimals.

    Examples
    --------
    >>> import pandas as pd
    >>> to_strings(pd.Series([1.0, None, 2.5])).tolist()
    ['1', None, '2.5']
    """
    known = column.dropna()
    shown = {
        value: str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in known.unique()
    }
    return column.astype(object).map(shown).astype(object).where(column.notna(), None)


def _ordered(column: "pd.Series[Any]", values: list[str], name: str, pd: Any) -> "pd.Series[Any]":
    strange = column[column.notna() & ~column.isin(values)]
    if len(strange):
        raise ValueError(
            f"Column {name!r} holds {strange.iloc[0]!r} in row {strange.index[0] + 1}, "
            f"which is not in the order {' < '.join(values)}."
        )
    return pd.Series(pd.Categorical(column, categories=values, ordered=True), index=column.index)


# A column with more distinct strings than this, or than half of its rows, looks like an identifier.
MOST_CATEGORIES = 1000
# Strings among numbers are no mistake if each value of a column occurs this often on average.
REPEATED = 5
# An identifier has at most this fraction of numbers, or dates.
MOST_FITTING = 0.9


def looks_like_identifier(column: "pd.Series[Any]") -> bool:
    """Return whether a column has so many distinct strings that they are names of things.

    Numbers or dates with a few mistakes among them are no names.

    Examples
    --------
    >>> import pandas as pd
    >>> looks_like_identifier(pd.Series([f"no. {i}" for i in range(50)]))
    True
    >>> looks_like_identifier(pd.Series(["a", "b"] * 25))
    False
    """
    different, known = column.nunique(), int(column.notna().sum())
    if different <= MOST_CATEGORIES and different <= max(FEWEST_NAMES, known / 2):
        return False
    readings = _readings(column).values()
    return kind_of(column) == "nominal" and all(r.sum() <= MOST_FITTING * known for r in readings)


def check_kinds(frame: "pd.DataFrame", *, declared: Collection[str] = ()) -> None:
    """Raise a ValueError for columns of a file whose kind the user has to declare.

    Parameters
    ----------
    frame : pandas.DataFrame
        As it was read from a file, where numbers with mistakes among them are strings.
    declared : collection of str
        Columns that the user has declared.

    Examples
    --------
    >>> import pandas as pd
    >>> check_kinds(pd.DataFrame({"age": ["31", "42", "33", "28", "19", "4o"]}))
    Traceback (most recent call last):
        ...
    ValueError: Column 'age' holds '4o' in row 6 among numbers; correct or empty it, or declare ...
    """
    for column in frame.columns:
        if column in declared or frame[column].dtype.kind != "O":
            continue
        values = frame[column].to_numpy(dtype=object)
        different, known = frame[column].nunique(), int(frame[column].notna().sum())
        try:
            for kind, fitting in _readings(frame[column]).items():
                remedy = f"declare the column as nominal (--nominal {quote_name(column)})"
                refuse_mixture(column, values, fitting.tolist(), kind, remedy)
        except ValueError as error:
            # A few values that are repeated often are categories, whatever they are called.
            if different > FEWEST_NAMES or known < REPEATED * different:
                raise
            mixture = str(error).partition(";")[0]
            warnings.warn(f"{mixture}; the column is taken as nominal.", UserWarning, stacklevel=3)


def _readings(column: "pd.Series[Any]") -> dict[str, Any]:
    """Return flags of the strings that are numbers, and of those that are dates."""
    pd = import_pandas()
    texts = column.astype(str)
    return {
        "numbers": pd.to_numeric(texts, errors="coerce").notna(),
        "dates": pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True).notna(),
    }

"""Infer the types of columns of strings, declare them, and check them."""

import re
import warnings
from collections.abc import Collection, Mapping
from datetime import datetime
from time import strftime, strptime
from types import MappingProxyType
from typing import NamedTuple

from frri._util import Flags, import_pandas, quote_name
from frri.table.checks import EXACT, FEWEST_NAMES, find_mistake
from frri.table.columns import Column, Frame, category_positions, kind_of, plain_column
from frri.table.targets import MOST_NUMBERED_CLASSES

NA_VALUES = [
    *("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>"),
    *("NaN", "nan", "NaT", "None", "null", "NULL", "<null>"),
]

_TIME = r"[ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?"
_ISO_DATE = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}({_TIME}(Z|[+-]\d{{2}}:?\d{{2}})?)?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,?\d+([eE][-+]?\d+)?")
_NUMBER_LIKE = re.compile(r"^\W*([A-Z]{3}\s*)?(\d|inf)", re.IGNORECASE)
_BOOLEANS = {"true": True, "false": False}

# A column with more distinct strings than this, or than half of its rows, looks like an identifier.
MOST_CATEGORIES = 1000
# Strings among numbers are categories if each value of a column occurs this often on average.
REPEATED = 5
# Words among numbers that a note lists.
MOST_MARKS = 8
# An identifier has at most this fraction of numbers, or dates.
MOST_FITTING = 0.9


class ReadOptions(NamedTuple):
    """How cells of a file are read.

    Attributes
    ----------
    strings, na_values, date_format, classes, typed
        See `frri.readers.read_table`.
    decimal_commas : bool
        If True, a comma in a number is a decimal mark.
    """

    strings: Mapping[str, Collection[str]] = MappingProxyType({})
    na_values: Collection[str] = ()
    date_format: str | None = None
    classes: str | None = None
    typed: Collection[str] | None = None
    decimal_commas: bool = False

    def known_values(self, name: str) -> Collection[str] | None:
        """Return the known values of a column of strings, None if its type is inferred."""
        if name in self.strings:
            return self.strings[name]
        return None if self.typed is None or name in self.typed else ()


def warn(message: str) -> None:
    """Warn of something that is unusual in a table."""
    warnings.warn(message, UserWarning, stacklevel=4)


# ------------------------------------------------------------------ inferred types
def infer_columns(frame: Frame, options: ReadOptions) -> Frame:
    """Infer the types of the columns of strings, except of those declared as strings."""
    if all(dtype.kind != "O" for dtype in frame.dtypes):
        return frame
    # One new table: assigning thousands of columns to an old one takes far longer.
    return import_pandas().DataFrame({name: infer_column(c, options) for name, c in frame.items()})


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
    if known and bare.lower() in _BOOLEANS and set(known) <= {"True", "False"}:
        return bare.capitalize()
    return bare


def infer_column(column: Column, options: ReadOptions) -> Column:
    """Convert a column of dates to dates, one of numbers to numbers; any other strings stay.

    So do strings of a column that is declared as such, stripped and without marks of missing
    values. Classes stay strings where numbers would merge some of them. A few percentages or
    amounts of money are names of classes, too; many are a target of a regression.

    Examples
    --------
    >>> import pandas as pd
    >>> infer_column(pd.Series(["2023-01-31", None]), ReadOptions()).dtype.kind
    'M'
    >>> infer_column(pd.Series(["1,5", "2"]), ReadOptions(decimal_commas=True)).tolist()
    [1.5, 2.0]
    >>> labels = ["1", "01"], ["1", "2.0"], ["10%", "20%"], ["true", "true"]
    >>> options = ReadOptions(classes="y")
    >>> [infer_column(pd.Series(y, name="y"), options).tolist() for y in labels]
    [['1', '01'], [1.0, 2.0], ['10%', '20%'], [True, True]]
    """
    if column.dtype.kind != "O":
        return column
    declared = options.known_values(str(column.name))
    strings = [value for value in column.unique() if isinstance(value, str)]
    changes = {text: clean_text(text, declared or (), options.na_values) for text in strings}
    if any(old != new for old, new in changes.items()):
        column = column.astype(object).map(lambda value: changes.get(value, value)).astype(object)
    if declared is not None:
        return column
    known = column.dropna()
    if known.empty or not all(isinstance(value, str) for value in known):
        numeric = known.empty or kind_of(known) == "numeric"
        return _keep_distinct(column, column.astype(float)) if numeric else column
    texts = known.unique().tolist()
    if options.classes is None or column.name != options.classes:
        values, note = _parse(column, texts, options)
    elif all(text.lower() in _BOOLEANS for text in texts):
        values = column.map({text: _BOOLEANS[text.lower()] for text in texts})
        return values if values.isna().any() else values.astype(bool)
    else:
        values, note = _parse(column, texts, options._replace(date_format=None))
        different = {re.sub(r"^\+|\.0*$", "", text) for text in texts}
        names = bool(note) and len(texts) <= MOST_NUMBERED_CLASSES
        if values.dtype.kind in "iuf" and (names or values.nunique() < len(different)):
            return column
    if note:
        warn(f"Column {column.name!r} holds {note}")
    return values


def _parse(column: Column, texts: list[str], options: ReadOptions) -> tuple[Column, str]:
    """Convert dates, numbers, percentages and the like; return a note about what was guessed."""
    formats = find_date_formats(texts, options.date_format)
    if len(formats) == 1:
        dates = parse_dates(column, formats[0])
        far = column[(dates.dt.year < EARLIEST_YEAR) | (dates.dt.year > LATEST_YEAR)]
        return dates, "" if far.empty else (
            f"{far.iloc[0]!r} among dates; if it marks a missing value, type --na-values "
            f"{quote_name(far.iloc[0])}."
        )
    if formats:
        return column, (
            f"dates such as {texts[0]!r}, of which day and month are ambiguous: they stay "
            f"strings; type --date-format {' or '.join(map(quote_name, formats))}."
        )
    if options.decimal_commas and all(map(_DECIMAL_COMMA.fullmatch, texts)):
        return parse_numbers(column.str.replace(",", ".")), ""
    numbers = parse_numbers(column) if _NUMBER_LIKE.search(texts[0]) else column
    if numbers is column or numbers.isna().sum() == column.isna().sum():
        return numbers, ""
    what, values = parse_quantities(texts, decimal_commas=options.decimal_commas) or ("", {})
    if not what:
        return column, ""
    note = f"{what}: {texts[0]!r} is read as {values[texts[0]]:g}."
    return column.map(values).astype(float), note


def replace_na(frame: Frame, na_values: Collection[str]) -> Frame:
    """Replace the numbers and strings that are marks of missing values."""
    if not na_values:
        return frame
    marks = import_pandas().Series(list(na_values), dtype=object)
    numbers = parse_numbers(marks).dropna()
    changed = {
        name: values.mask(values.isin(marks if values.dtype.kind == "O" else numbers))
        for name, values in frame.items()
        if values.dtype.kind in "iufO"
    }
    return frame.assign(**changed)


# ------------------------------------------------------------------ numbers
def parse_numbers(column: Column) -> Column:
    """Convert strings to numbers, to the last bit; NaN for other strings."""
    numbers = import_pandas().to_numeric(column, errors="coerce")
    if numbers.dtype.kind == "f":
        # pandas may be off by the last digit, Python is not.
        known = numbers.notna()
        numbers[known] = column[known].astype(float)
        return _keep_distinct(column, numbers)
    return numbers


def _keep_distinct(column: Column, numbers: Column) -> Column:
    """Return floats, or Python's integers where some would be equal in floating point."""
    far = column[numbers.abs() > EXACT].astype(str)
    integers = far[far.str.fullmatch(r"[-+]?\d{1,308}")].astype(object).map(int)
    if integers.nunique() > integers.astype(float).nunique():
        numbers = numbers.astype(object)
        numbers[integers.index] = integers
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
    texts: list[str], *, decimal_commas: bool = False
) -> tuple[str, dict[str, float]] | None:
    """Parse distinct strings that are all percentages, money, long numbers or times of day.

    Returns what they are called, and their numbers. With `decimal_commas`, a comma that may be both
    is a decimal mark rather than a mark of thousands.

    Examples
    --------
    >>> parse_quantities(["45%", "7.5 %"])
    ('percentages', {'45%': 45.0, '7.5 %': 7.5})
    >>> parse_quantities(["1.200,50 EUR", "3 EUR"])
    ('money', {'1.200,50 EUR': 1200.5, '3 EUR': 3.0})
    >>> parse_quantities(["8:30", "2:15 pm"])
    ('times of day, as hours', {'8:30': 8.5, '2:15 pm': 14.25})
    >>> parse_quantities(["1,5", "2"])
    """
    return _parse_times(texts) or _parse_amounts(texts, decimal_commas)


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


def _parse_amounts(values: list[str], decimal_commas: bool) -> tuple[str, dict[str, float]] | None:
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
# Dates outside these years may mark missing values.
EARLIEST_YEAR, LATEST_YEAR = 1000, 2999
_ISO = "ISO8601"
_DATES = ("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_DATE_FORMATS = [date + time for date in _DATES for time in ("", " %H:%M", " %H:%M:%S")]
_DATE_LIKE = re.compile(
    r"(\d{1,2}([./-])\d{1,2}\2\d{4}|\d{4}/\d{1,2}/\d{1,2})( \d{1,2}:\d{2}(:\d{2})?)?"
)


def find_date_formats(texts: list[str], asked: str | None = None) -> list[str]:
    """Return the formats that fit all values: several if day and month cannot be told apart.

    The one that is asked for comes before all others.
    """
    column = import_pandas().Series(texts, dtype=object)

    def fits(candidate: str) -> bool:
        try:
            parse_dates(column, candidate)
        except (ValueError, OverflowError):
            return False
        return True

    if all(map(_ISO_DATE.fullmatch, texts)):
        return [_ISO] if fits(_ISO) else []
    if asked and fits(asked):
        return [asked]
    like_dates = all(map(_DATE_LIKE.fullmatch, texts))
    return [candidate for candidate in _DATE_FORMATS if like_dates and fits(candidate)]


def parse_dates(column: Column, date_format: str) -> Column:
    """Convert strings to dates; times in a time zone become UTC.

    Examples
    --------
    >>> import pandas as pd
    >>> parse_dates(pd.Series(["31.12.9999", None]), "%d.%m.%Y").dt.year.tolist()
    [9999.0, nan]
    """
    pd = import_pandas()
    try:
        dates = pd.to_datetime(column, format=date_format, utc=True)
    except pd.errors.OutOfBoundsDatetime:  # nanoseconds of pandas 2 reach from 1677 to 2262
        texts = column.dropna()
        if date_format == _ISO:
            dates = texts.astype(object).map(datetime.fromisoformat)
        else:
            dates = [datetime.strptime(text, date_format) for text in texts]  # noqa: DTZ007
        known = pd.Series(plain_column(list(dates)), texts.index)
        return known.reindex(column.index).rename(column.name)
    return dates.dt.tz_localize(None).dt.as_unit("us")


def check_date_format(date_format: str) -> None:
    """Raise a ValueError for a format that no date can have."""
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


# ------------------------------------------------------------------ strings
def to_strings(column: Column) -> Column:
    """Convert values to strings, integers without decimals and missing values to None."""
    shown = {
        value: str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in column.dropna().unique()
    }
    return column.astype(object).map(shown).astype(object).where(column.notna(), None)


# ------------------------------------------------------------------ checks
def looks_like_identifier(column: Column) -> bool:
    """Return whether most strings of a column are distinct, as in identifiers.

    Numbers or dates with a few mistakes among them are no names.
    """
    if column.dtype.kind != "O" or category_positions(column) is not None:
        return False
    different, known = column.nunique(), column.count()
    if different <= MOST_CATEGORIES and different <= max(FEWEST_NAMES, known / 2):
        return False
    readings = _readings(column).values()
    return kind_of(column) == "nominal" and all(r.sum() <= MOST_FITTING * known for r in readings)


def resolve_words(
    frame: Frame,
    *,
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    strict: bool = False,
) -> Frame:
    """Decide about columns of numbers with words among them, with a note about each.

    A few values that are repeated often are categories; otherwise words are missing values. Words
    among dates raise a ValueError.

    Parameters
    ----------
    frame : pandas.DataFrame
        As it was read from a file, where numbers with words among them are strings.
    nominal, numeric : collection of str
        Columns that the user has declared.
    strict : bool, default=False
        If True, raise a ValueError for words among numbers or dates.

    Examples
    --------
    >>> import pandas as pd
    >>> resolve_words(pd.DataFrame({"age": ["31", "42", "4o"]}), numeric=["age"])["age"].tolist()
    [31.0, 42.0, nan]
    >>> resolve_words(pd.DataFrame({"age": ["31", "42", "4o"]}), strict=True)
    Traceback (most recent call last):
        ...
    ValueError: Column 'age' holds '4o' in row 3 among numbers; correct or empty it, or declare ...
    """
    changed = {}
    for name, column in frame.items():
        if name in nominal or column.dtype.kind != "O":
            continue
        different, shown = column.nunique(), quote_name(str(name))
        for kind, fitting in _readings(column).items():
            if name in numeric and kind == "numbers":
                changed[name] = parse_numbers(column)
                if changed[name].isna().all() and column.notna().any():
                    first = column.dropna().iloc[0]
                    raise ValueError(
                        f"Column {name!r} contains strings such as {first!r}, not numbers; "
                        f"leave out --numeric {shown}."
                    )
                break
            row = find_mistake(column.notna().to_numpy(), fitting)
            if row is None:
                continue
            words = column[column.notna() & ~fitting]
            note = f"Column {name!r} holds {words.iloc[0]!r} in row {row + 1} among {kind}"
            is_few = different <= FEWEST_NAMES and column.count() >= REPEATED * different
            if strict or (kind == "dates" and not is_few):
                raise ValueError(
                    f"{note}; correct or empty it, or declare the column as nominal "
                    f"(--nominal {shown})."
                )
            if is_few:
                option = f" (--numeric {shown} takes it as numbers)" if kind == "numbers" else ""
                note += f"; the column is taken as nominal{option}."
            else:
                changed[name] = parse_numbers(column)
                marks = quote_name(",".join(map(str, words.unique()[:MOST_MARKS])))
                note += (
                    f"; words count as missing ({len(words)} of {len(column)} rows): confirm it by "
                    f"--na-values {marks}, also to frri predict, or keep them by --nominal {shown}."
                )
            warn(note)
            break
    return frame.assign(**changed)


def _readings(column: Column) -> dict[str, Flags]:
    """Return flags of the strings that are numbers, and of those that are dates."""
    pd = import_pandas()
    texts = column.astype(str)
    dates = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
    numbers = pd.to_numeric(texts, errors="coerce")
    return {"numbers": numbers.notna().to_numpy(), "dates": dates.notna().to_numpy()}

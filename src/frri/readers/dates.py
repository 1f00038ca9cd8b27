"""Dates as people write them: recognised where one reading alone fits all values of a column."""

import re
from time import strftime, strptime
from typing import TYPE_CHECKING, Any

from frri._util import import_pandas

if TYPE_CHECKING:
    import pandas as pd

_FORMATS = ("%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
_DATE_LIKE = re.compile(
    r"(\d{1,2}([./-])\d{1,2}\2\d{4}|\d{4}/\d{1,2}/\d{1,2})( \d{1,2}:\d{2}(:\d{2})?)?"
)


def formats_of(texts: "pd.Series[Any]", asked: str | None = None) -> list[str]:
    """The formats that fit all values: none if they are no dates, several if it cannot be told.

    The one that is asked for comes before all others.

    Examples
    --------
    >>> import pandas as pd
    >>> formats_of(pd.Series(["31.12.2024", "1.2.2025"])), formats_of(pd.Series(["12/31/2024"]))
    (['%d.%m.%Y'], ['%m/%d/%Y'])
    >>> formats_of(pd.Series(["03/04/2024"]))
    ['%d/%m/%Y', '%m/%d/%Y']
    >>> formats_of(pd.Series(["03/04/2024"]), "%m/%d/%Y")
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


def check_format(date_format: str) -> None:
    """Complain about a format that no date can have.

    Examples
    --------
    >>> check_format("%d.%m.%Y")
    >>> check_format("dd.mm.yyyy")
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

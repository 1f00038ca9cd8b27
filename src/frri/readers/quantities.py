"""Numbers in the dress of everyday life: percent, money, thousands, times of day."""

import re
from collections.abc import Iterable

_UNIT = r"%|[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR"
_DRESSED = re.compile(
    rf"(?P<sign>[-+]?)\s*(?P<before>{_UNIT})?\s*(?P<digits>[-+]?[\d.,'\u00a0]*\d)\s*(?P<after>{_UNIT})?"
)
_COMMA_THOUSANDS = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d*)(\.\d+)?")
_COMMA_DECIMALS = re.compile(r"[-+]?(\d{1,3}([.'\u00a0]\d{3})+|\d*)(,\d+)?")
_TIME = re.compile(
    r"(?P<h>\d{1,2}):(?P<m>[0-5]\d)(:(?P<s>[0-5]\d(\.\d+)?))?\s*(?P<half>[ap]m)?", re.IGNORECASE
)


def plain_numbers(
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
    >>> plain_numbers(["45%", "7.5 %"])
    ('percentages', {'45%': 45.0, '7.5 %': 7.5})
    >>> plain_numbers(["$1,200", "-$3"])
    ('money', {'$1,200': 1200.0, '-$3': -3.0})
    >>> plain_numbers(["1.200,50 EUR", "3 EUR"])
    ('money', {'1.200,50 EUR': 1200.5, '3 EUR': 3.0})
    >>> plain_numbers(["8:30", "2:15 pm"])
    ('times of day, as hours', {'8:30': 8.5, '2:15 pm': 14.25})
    >>> plain_numbers(["1,5", "2"])
    """
    values = list(texts)
    return _times(values) or _amounts(values, decimal_commas=decimal_commas)


def _times(values: list[str]) -> tuple[str, dict[str, float]] | None:
    hours = {}
    for value in values:
        found = _TIME.fullmatch(value)
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

"""One feature of a training table: its name, kind, range or categories, and texts of values."""

from dataclasses import dataclass
from math import floor, isfinite, log10

import numpy as np

KINDS = ("numeric", "date", "ordinal", "nominal")
# In days from 1970: about the limit of numpy, in microseconds, and of JavaScript.
FARTHEST_DATE = 1e8
# Decimal places of a shown number below the order of magnitude of its range.
DIGITS = 3


@dataclass(frozen=True)
class Attribute:
    """A feature of the training table: its name, its kind and its range or categories.

    Numbers, dates and ordered categories have an order, so conditions on them are bounds; values of
    a nominal attribute can only be equal or not. Dates are computed as days since 1970-01-01,
    ordered categories as their position.

    Parameters
    ----------
    name : str
    low, high : float
        Range of the training values, where they have an order.
    categories : tuple of str, optional
        Values of a nominal attribute, or those of an ordinal one from low to high.
    kind : {"numeric", "date", "ordinal", "nominal"}, optional
        By default nominal with categories and numeric without.
    typical : float or str, optional
        Imputed value of a missing one, where the semantics of a rule set imputes: a number, for
        dates in days, or a category.

    Examples
    --------
    >>> Attribute("glucose", 44, 199).kind
    'numeric'
    >>> Attribute("colour", categories=("blue", "red")).kind
    'nominal'
    >>> Attribute("size", categories=("small", "large"), kind="ordinal").high
    1.0
    """

    name: str
    low: float = -np.inf
    high: float = np.inf
    categories: tuple[str, ...] | None = None
    kind: str = ""
    typical: float | str | None = None

    def __post_init__(self) -> None:
        if not self.kind:
            kind = "numeric" if self.categories is None else "nominal"
            object.__setattr__(self, "kind", kind)
        problem = self._problem()
        if problem:
            raise ValueError(f"Attribute {self.name!r}{problem}.")
        if self.kind == "ordinal":
            object.__setattr__(self, "low", 0.0)
            object.__setattr__(self, "high", len(self.categories or ()) - 1.0)

    def _problem(self) -> str:
        """Return what is wrong, as the end of a sentence that begins with the name."""
        if self.kind not in KINDS:
            return f" is of unknown kind {self.kind!r}"
        if (self.categories is not None) != (self.kind in {"ordinal", "nominal"}):
            return f": categories do not go with kind {self.kind!r}"
        if self.kind == "ordinal" and not self.categories:
            return " is ordinal and has no categories; list them or leave it out"
        number = None if isinstance(self.typical, str) else self.typical
        ends = (self.low, self.high, number or 0.0)
        farthest = max((abs(end) for end in ends if isfinite(end)), default=0.0)
        if self.kind == "date" and farthest > FARTHEST_DATE:
            days = f"{farthest:g} days from 1970; they may be {FARTHEST_DATE:g} days away"
            return f" holds dates up to {days}"
        if self.categories is not None:
            valid, remedy = self.typical in self.categories, ", which is none of its categories"
        else:
            valid = number is not None and isfinite(number) and self.low <= number <= self.high
            remedy = f"; give a finite number from {self.low:g} to {self.high:g}"
        valid = valid or self.typical is None
        return "" if valid else f" has the typical value {self.typical!r}{remedy}"

    @property
    def typical_code(self) -> float:
        """Encoded typical value, NaN if there is none.

        Examples
        --------
        >>> Attribute("colour", categories=("blue", "red"), typical="red").typical_code
        1.0
        """
        if self.typical is None:
            return np.nan
        if self.categories is not None:
            return float(self.categories.index(str(self.typical)))
        return float(self.typical)

    @property
    def is_flag(self) -> bool:
        """Whether the range is 0 to 1, so that true, yes, false and no are values, too."""
        return self.kind == "numeric" and self.low == 0.0 and self.high == 1.0

    @property
    def width(self) -> float:
        """Length of the training range, 1 if it is 0 or infinite."""
        width = self.high - self.low
        return width if 0 < width < np.inf else 1.0

    def show(self, value: float) -> str:
        """Return a value of this attribute as text: rounded, as a date, or the category.

        Examples
        --------
        >>> Attribute("glucose", 44, 199).show(105.000001)
        '105'
        >>> Attribute("day", 19340, 19360, kind="date").show(19358.5)
        '2023-01-01 12:00:00'
        """
        if self.categories is not None:
            return _category_text(value, self.categories)
        text = _date_text if self.kind == "date" else number_text
        return text(value, self.width)


def number_text(value: float, width: float) -> str:
    """Return a number to three more places than its range has, without trailing zeros.

    Examples
    --------
    >>> number_text(187.0, 92), number_text(0.123456789, 1), number_text(1e9 + 0.25, 2)
    ('187', '0.123', '1000000000.25')
    """
    decimals = DIGITS - floor(log10(width))
    if decimals > 12 or abs(value) >= 1e15:
        return f"{value:.6g}"
    rounded = round(value, decimals) + 0.0
    shown = f"{rounded:.{max(decimals, 0)}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _date_text(days: float, width: float) -> str:
    """Return a day, with the time of day where the range is only some weeks."""
    moment = np.datetime64(0, "s") + np.timedelta64(round(days * 86_400), "s")
    day, time = str(moment).split("T")
    return day if time == "00:00:00" or width > 60 else f"{day} {time}"


def _category_text(value: float, categories: tuple[str, ...]) -> str:
    if value == int(value) and 0 <= value < len(categories):
        return categories[int(value)]
    below = min(max(int(np.floor(value)), -1), len(categories) - 1)
    if below < 0:
        return f"below {categories[0]}"
    if below == len(categories) - 1:
        return f"above {categories[-1]}"
    return f"between {categories[below]} and {categories[below + 1]}"

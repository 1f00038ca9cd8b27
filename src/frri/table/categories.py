"""Recognize categories: True in one table is true, 1, 1.0 or yes in another.

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
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats
from frri.table.columns import is_missing

# Strings that are booleans, in lower case.
TRUTH = {
    **dict.fromkeys(("true", "yes", "1", "1.0"), True),
    **dict.fromkeys(("false", "no", "0", "0.0", "-0.0"), False),
}
# Words that are written for 1 and 0.
FLAGS = {word: float(value) for word, value in TRUTH.items() if word.isalpha()}
_WHOLE = re.compile(r"(-?[1-9][0-9]*|0)(\.0)?")


def flags_as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Replace words for true and false in a column by 1 and 0.

    Examples
    --------
    >>> flags_as_numbers(np.array(["Yes", "0", "no", None], dtype=object))
    array([1.0, '0', 0.0, None], dtype=object)
    >>> flags_as_numbers(np.array([0.0, 1.0]))
    array([0., 1.])
    """
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
    texts, fold = _lookup(tuple(categories))

    def code(value: Any) -> float:
        if not isinstance(value, str):
            if is_missing(value):
                return np.nan
            value = str(value)
        return texts.get(fold(value), -1.0)

    return np.fromiter(map(code, values.astype(object)), dtype=np.float64, count=len(values))


@lru_cache(maxsize=1024)
def _lookup(categories: tuple[str, ...]) -> tuple[dict[str, float], Callable[[str], str]]:
    """Return the positions of categories by their texts; cached for single samples."""
    positions = {category: float(code) for code, category in enumerate(categories)}
    texts = {text: positions[category] for text, category in category_texts(categories).items()}
    return texts, folding(categories)


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
    """Return the function that is applied to texts before look-up: booleans have many spellings.

    Examples
    --------
    >>> folding(["no", "yes"])("YES"), folding(["True", "maybe"])("TRUE")
    ('yes', 'TRUE')
    """
    return str.lower if len(_booleans(categories)) == len(categories) else str


def _booleans(categories: Sequence[str]) -> dict[bool, str]:
    """Return the category of each boolean that exactly one category means."""
    words = TRUTH | {"t": True, "f": False}  # a single letter may be anything but a category
    found = [(words[c.lower()], c) for c in categories if c.lower() in words]
    values = [value for value, _ in found]
    return {value: category for value, category in found if values.count(value) == 1}

"""Which category a value is: what is True in one table is true, 1, 1.0 or yes in another.

A value is the category that is written like it, as Python writes it. Beyond that, two things are the same
however they are written:

- a whole number with and without `.0`: 1, 1.0, "1" and "1.0" are one category, unless there are two;
- a truth value. Where each category is another truth value (true and false, yes and no, t and f, 1 and 0),
  true, yes and 1 (1.0) are one value in any spelling, and so are false, no and 0 (0.0). Among other
  categories, as in yes, no and unknown, only what a table holds as a truth value, True or False, is the one
  category that says so: databases and readers make truth values of texts like yes and no.

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

# What stands for a truth value, in lower case.
TRUTH = {
    "true": True,
    "yes": True,
    "1": True,
    "1.0": True,
    "false": False,
    "no": False,
    "0": False,
    "0.0": False,
    "-0.0": False,
}
# What is one as a category; elsewhere a single letter may be anything.
_LETTERS = {"t": True, "f": False}
_WHOLE = re.compile(r"(-?[1-9][0-9]*|0)(\.0)?")


# Words that are written for 1 and 0.
FLAGS = {word: float(value) for word, value in TRUTH.items() if word.isalpha()}


def flags_as_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """A column with 1 and 0 in the place of words that say so; its other values stay.

    Examples
    --------
    >>> flags_as_numbers(np.array(["Yes", "0", "no", None], dtype=object))
    array([1.0, '0', 0.0, None], dtype=object)
    >>> flags_as_numbers(np.array([0.0, 1.0]))
    array([0., 1.])
    """
    if values.dtype.kind not in "OU":
        return values
    said = [FLAGS.get(v.strip().lower(), v) if isinstance(v, str) else v for v in values]
    return np.array(said, dtype=object)


def category_codes(values: NDArray[Any], categories: Sequence[str]) -> Floats:
    """The positions of values among categories, NaN for missing values, -1 for none of them.

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
    """The positions of categories by their texts; single rows ask for them again and again."""
    positions = {category: float(code) for code, category in enumerate(categories)}
    texts = {text: positions[category] for text, category in category_texts(categories).items()}
    return texts, folding(categories)


def category_texts(categories: Sequence[str]) -> dict[str, str]:
    """Every text that stands for a category, once it went through `folding`.

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
    truth = _truth_values(categories)
    if len(truth) == len(categories):
        own = {category.lower(): category for category in categories}
        return own | {text: truth[value] for text, value in TRUTH.items() if value in truth}
    texts = {category: category for category in categories}
    for category in categories:
        number = _WHOLE.fullmatch(category)
        if number:
            whole = number[1]
            for text in (whole, f"{whole}.0", *(["-0.0"] if whole == "0" else [])):
                texts.setdefault(text, category)
    for value, category in truth.items():
        texts.setdefault(str(value), category)
    return texts


def folding(categories: Sequence[str]) -> Callable[[str], str]:
    """What a value's text goes through before it is looked up: truth values have many spellings.

    Examples
    --------
    >>> folding(["no", "yes"])("YES"), folding(["True", "maybe"])("TRUE")
    ('yes', 'TRUE')
    """
    return str.lower if len(_truth_values(categories)) == len(categories) else str


def _truth_values(categories: Sequence[str]) -> dict[bool, str]:
    """The category of each truth value that one category, and no other, stands for."""
    words = TRUTH | _LETTERS
    spoken = [(words[c.lower()], c) for c in categories if c.lower() in words]
    values = [value for value, _ in spoken]
    return {value: category for value, category in spoken if values.count(value) == 1}

"""Which category a value is: what is True in one table is true, 1 or 1.0 in another.

A value is the category that is written like it, as Python writes it. Beyond that, two things are the same
however they are written:

- a whole number with and without `.0`: 1, 1.0, "1" and "1.0" are one category, unless there are two;
- a truth value, in a column whose only categories are True and False: true and false in any spelling, and
  1 and 0 (1.0 and 0.0).

Nothing else is guessed: "01" is not 1, and "yes" is not True. The evaluators of `frri.export` repeat this.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri.table.columns import is_missing

# What stands for the truth values, in lower case.
TRUTH = {
    "true": "True",
    "1": "True",
    "1.0": "True",
    "false": "False",
    "0": "False",
    "0.0": "False",
    "-0.0": "False",
}
_WHOLE = re.compile(r"(-?[1-9][0-9]*|0)(\.0)?")


def category_codes(values: NDArray[Any], categories: Sequence[str]) -> NDArray[np.float64]:
    """The positions of values among categories, NaN for missing values, -1 for none of them.

    Examples
    --------
    >>> values = np.array([3, "3.0", "red", "blue", None], dtype=object)
    >>> category_codes(values, ["3", "red"])
    array([ 0.,  0.,  1., -1., nan])
    """
    positions = {category: float(code) for code, category in enumerate(categories)}
    texts = {text: positions[category] for text, category in category_texts(categories).items()}
    fold = folding(categories)

    def code(value: Any) -> float:
        if not isinstance(value, str):
            if is_missing(value):
                return np.nan
            value = str(value)
        return texts.get(fold(value), -1.0)

    return np.fromiter(map(code, values.astype(object)), dtype=np.float64, count=len(values))


def category_texts(categories: Sequence[str]) -> dict[str, str]:
    """Every text that stands for a category, once it went through `folding`.

    Examples
    --------
    >>> category_texts(["3", "red"])
    {'3': '3', 'red': 'red', '3.0': '3'}
    >>> category_texts(["3", "3.0"])
    {'3': '3', '3.0': '3.0'}
    >>> category_texts(["False"])
    {'false': 'False', '0': 'False', '0.0': 'False', '-0.0': 'False'}
    """
    if _are_truth_values(categories):
        return {text: category for text, category in TRUTH.items() if category in categories}
    texts = {category: category for category in categories}
    for category in categories:
        number = _WHOLE.fullmatch(category)
        if number:
            whole = number[1]
            for text in (whole, f"{whole}.0", *(["-0.0"] if whole == "0" else [])):
                texts.setdefault(text, category)
    return texts


def folding(categories: Sequence[str]) -> Callable[[str], str]:
    """What a value's text goes through before it is looked up: truth values have many spellings.

    Examples
    --------
    >>> folding(["False", "True"])("TRUE"), folding(["True", "maybe"])("TRUE")
    ('true', 'TRUE')
    """
    return str.lower if _are_truth_values(categories) else str


def _are_truth_values(categories: Sequence[str]) -> bool:
    return set(categories) <= {"False", "True"}

"""The order of classes that a command line or a table gives."""

from collections.abc import Sequence
from typing import Any

from frri._util import join_names
from frri.table.columns import ordered_categories


def given_order(text: str | None, task: str) -> list[str] | None:
    """The classes that --order lists, divided by < or by commas.

    Examples
    --------
    >>> given_order("poor<fair<good", "ordinal")
    ['poor', 'fair', 'good']
    >>> given_order("poor<fair", "classification")
    Traceback (most recent call last):
        ...
    ValueError: --order is for classes that have an order; add --task ordinal.
    """
    if text is None:
        return None
    if task != "ordinal":
        raise ValueError("--order is for classes that have an order; add --task ordinal.")
    labels = [part.strip() for part in text.split("<" if "<" in text else ",")]
    if "" in labels or len(set(labels)) < len(labels):
        raise ValueError(f"--order needs LOW<...<HIGH, every class once, got {text!r}.")
    return labels


def order_of(y: Any, given: Sequence[str] | None, target: str) -> list[Any]:
    """All classes of a column, the lowest first.

    Examples
    --------
    >>> import pandas as pd
    >>> order_of(pd.Series([3, 1, 2, 1]), None, "stars")
    [1, 2, 3]
    >>> order_of(pd.Series(["good", "poor"]), None, "rating")
    Traceback (most recent call last):
        ...
    ValueError: The classes of 'rating' are texts: say their order, such as --order 'good<poor', from the lowest.
    """
    labels = sorted(set(y.dropna().tolist()), key=lambda label: (str(type(label)), label))
    order = given or ordered_categories(y)
    if order is None:
        if any(isinstance(label, str) for label in labels):
            example = "<".join(map(str, labels))
            raise ValueError(
                f"The classes of {target!r} are texts: say their order, such as --order {example!r}, "
                "from the lowest."
            )
        return labels
    texts = {str(label): label for label in labels}
    lacking = [text for text in texts if text not in order]
    if lacking:
        raise ValueError(
            f"--order lacks {join_names(map(repr, lacking))} of the column {target!r}; add it in its place."
        )
    return [texts[text] for text in order if text in texts]

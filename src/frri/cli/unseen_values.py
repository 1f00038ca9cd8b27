"""What a table holds that rules look at and training has not had, counted over all its parts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Floats, join_names
from frri.rules import RuleSet
from frri.table import Attribute

if TYPE_CHECKING:
    import pandas as pd

# Different categories that are remembered of a column: more are as good as countless.
MOST_CATEGORIES = 10_000


@dataclass
class _Column:
    """What is known so far about a column."""

    known: int = 0
    held: set[str] = field(default_factory=set)
    alike: bool = False
    strange: int = 0
    # In the order in which they came.
    different: dict[str, None] = field(default_factory=dict)


class UnseenValues:
    """Never-seen categories and other types, in the columns that rules use.

    Parameters
    ----------
    ruleset : RuleSet
    """

    def __init__(self, ruleset: RuleSet) -> None:
        self.ruleset, self.rows = ruleset, 0
        self.columns = {name: _Column() for name in ruleset.used_attributes}

    def look(self, frame: "pd.DataFrame", matrix: Floats) -> None:
        """Look at a part of the table, and at what its values were taken for."""
        self.rows += len(frame)
        for attribute, values in zip(self.ruleset.attributes, matrix.T, strict=True):
            found = self.columns.get(attribute.name)
            if found is None:
                continue
            column = frame[attribute.name]
            known = column.dropna().unique()
            found.known += int(column.count())
            if len(known):
                found.held.add(_held(column, known))
            if attribute.categories is None:
                continue
            found.alike |= bool({str(value) for value in known} & set(attribute.categories))
            strange = column.notna().to_numpy() & ~(values >= 0)
            found.strange += int(strange.sum())
            for value in column[strange].astype(str).unique():
                if len(found.different) < MOST_CATEGORIES:
                    found.different[value] = None

    def notes(self) -> Iterator[str]:
        """A sentence for each column that there is something to say about."""
        for attribute in self.ruleset.attributes:
            found = self.columns.get(attribute.name)
            if found is None:
                continue
            rows = f"of {self.rows} rows"
            held, had = _changed(found, attribute)
            parts = (
                [f"holds {held} in {found.known} {rows} where training had {had}"] if held else []
            )
            if found.strange:
                count = len(found.different)
                what = "category" if count == 1 else "categories"
                least = "at least " if count == MOST_CATEGORIES else ""
                counted = (
                    "these count as missing"
                    if attribute.kind == "ordinal"
                    else "no condition on it holds there"
                )
                parts.append(
                    f"holds {least}{count} {what} never seen in training "
                    f"({join_names(found.different, 3)}) in {found.strange} {rows}: {counted}"
                )
            if parts:
                yield f"column {attribute.name!r} {', and '.join(parts)}."


def _held(column: "pd.Series[Any]", known: Any) -> str:
    """What a column holds, if it is no text."""
    if all(isinstance(value, bool | np.bool_) for value in known):
        return "truth values"
    return {"i": "numbers", "u": "numbers", "f": "numbers", "M": "dates"}.get(column.dtype.kind, "")


def _changed(found: _Column, attribute: Attribute) -> tuple[str, str]:
    """What a column holds and had in training, if these are of different types."""
    held = next(iter(found.held)) if len(found.held) == 1 else ""
    if attribute.categories is None:
        return (held, "numbers") if held == "truth values" else ("", "")
    return ("" if found.alike else held), join_names(attribute.categories)

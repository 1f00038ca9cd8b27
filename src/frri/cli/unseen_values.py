"""Count the values of a table that training did not have, in the columns that rules use."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Floats, join_names
from frri.cli.console import one_line, say
from frri.rules import RuleSet
from frri.table import Attribute

if TYPE_CHECKING:
    import pandas as pd

# Maximum number of distinct categories of a column that are stored.
MOST_CATEGORIES = 10_000


@dataclass
class _Counts:
    """What is known so far about a column."""

    known: int = 0
    types: set[str] = field(default_factory=set)
    any_seen: bool = False
    unseen: int = 0
    # Distinct unseen values, in the order of their first occurrence.
    distinct: dict[str, None] = field(default_factory=dict)


class UnseenValues:
    """Unseen categories and changed types, counted over all parts of a table.

    Parameters
    ----------
    ruleset : RuleSet
    """

    def __init__(self, ruleset: RuleSet) -> None:
        self.rows = 0
        used = set(ruleset.used_attributes)
        self._columns = [
            (j, attribute, _Counts())
            for j, attribute in enumerate(ruleset.attributes)
            if attribute.name in used
        ]

    def count(self, frame: "pd.DataFrame", matrix: Floats) -> None:
        """Count the values of a part of the table, which is encoded in the matrix."""
        self.rows += len(frame)
        for j, attribute, counts in self._columns:
            column = frame[attribute.name]
            known = column.dropna().unique()
            counts.known += int(column.count())
            if len(known):
                counts.types.add(_type_of(column, known))
            if attribute.categories is None:
                continue
            counts.any_seen |= bool({str(value) for value in known} & set(attribute.categories))
            unseen = column.notna().to_numpy() & ~(matrix[:, j] >= 0)
            counts.unseen += int(unseen.sum())
            for value in column[unseen].astype(str).unique():
                if len(counts.distinct) < MOST_CATEGORIES:
                    counts.distinct[value] = None

    def say_notes(self) -> None:
        """Print a sentence for each column with unseen categories or another type."""
        for _, attribute, counts in self._columns:
            parts = []
            rows = f"of {self.rows} rows"
            held, had = _changed_type(counts, attribute)
            if held:
                parts.append(f"holds {held} in {counts.known} {rows} where training had {had}")
            if counts.unseen:
                n = len(counts.distinct)
                what = "category" if n == 1 else "categories"
                least = "at least " if n == MOST_CATEGORIES else ""
                effect = "no condition on it holds there"
                if attribute.kind == "ordinal":
                    effect = "these count as missing"
                parts.append(
                    f"holds {least}{n} {what} never seen in training "
                    f"({join_names(counts.distinct, 3)}) in {counts.unseen} {rows}: {effect}"
                )
            if parts:
                say(one_line(f"note: column {attribute.name!r} {', and '.join(parts)}."))


def _type_of(column: "pd.Series[Any]", known: Any) -> str:
    """Return what a column holds, an empty string for strings."""
    if all(isinstance(value, bool | np.bool_) for value in known):
        return "truth values"
    return {"i": "numbers", "u": "numbers", "f": "numbers", "M": "dates"}.get(column.dtype.kind, "")


def _changed_type(counts: _Counts, attribute: Attribute) -> tuple[str, str]:
    """Return what a column holds and had in training, if these are of different types."""
    held = next(iter(counts.types)) if len(counts.types) == 1 else ""
    if attribute.categories is None:
        return (held, "numbers") if held == "truth values" else ("", "")
    return ("" if counts.any_seen else held), join_names(attribute.categories)

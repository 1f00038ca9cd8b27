"""Training tables: checked values, classes or numbers, and weights; what every learner starts from."""

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from frri._util import Floats, Positions
from frri.rules import Label
from frri.rules.rule import given_labels, label_array
from frri.table import Attribute, EncodedTable, column_names
from frri.table.columns import plain_table


class CheckedTable:
    """What tables to learn from have in common."""

    values: Floats
    attributes: tuple[Attribute, ...]
    # What every object weighs; None if all weigh the same.
    weights: Floats | None

    @property
    def encoded(self) -> EncodedTable:
        """The rows, for whoever takes a table."""
        return EncodedTable(self.values, self.attributes)

    @property
    def all_weights(self) -> Floats:
        """What every object weighs: 1, if nothing was said."""
        return np.ones(len(self.values)) if self.weights is None else self.weights


@dataclass(frozen=True, eq=False)
class TrainingTable(CheckedTable):
    """A checked training table: what every learner starts from."""

    values: Floats
    classes: Positions
    labels: tuple[Label, ...]
    attributes: tuple[Attribute, ...]
    target: str
    weights: Floats | None = None

    def take(self, rows: Positions) -> "TrainingTable":
        """Some of the objects, with the classes that are present among them."""
        present, classes = np.unique(self.classes[rows], return_inverse=True)
        return replace(
            self,
            values=self.values[rows],
            classes=classes.astype(np.intp),
            labels=tuple(self.labels[c] for c in present),
            weights=None if self.weights is None else self.weights[rows],
        )

    @property
    def class_counts(self) -> tuple[float, ...]:
        """Size of each class, or what it weighs."""
        sizes = np.bincount(self.classes, self.weights, len(self.labels))
        return tuple(sizes.astype(float).tolist())


@dataclass(frozen=True, eq=False)
class NumberTable(CheckedTable):
    """A checked training table with a number for every object."""

    values: Floats
    numbers: Floats
    attributes: tuple[Attribute, ...]
    target: str
    weights: Floats | None = None

    def take(self, rows: Positions) -> "NumberTable":
        """Some of the objects."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, values=self.values[rows], numbers=self.numbers[rows], weights=weights)


Table = TypeVar("Table", TrainingTable, NumberTable)


def named_labels(y: Any, name: str = "class") -> tuple[str, Any]:
    """The target's name, and its values as an array; a table of one column is that column."""
    if y is None:
        return name, None
    y = only_column(y)
    return str(getattr(y, "name", None) or name), given_labels(y)


def only_column(y: Any) -> Any:
    """A table of one column as that column."""
    y = plain_table(y)
    return y[y.columns[0]] if len(column_names(y) or ()) == 1 else y


def plain_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Classes of one type: objects that are all numbers, or all truth values, become such."""
    if y.dtype.kind != "O":
        return y
    if all(isinstance(label, str) for label in y):
        return np.array([str(label) for label in y], dtype=object)
    labels = [label.item() if isinstance(label, np.generic) else label for label in y]
    kinds = {type(label): label for label in labels}
    if kinds.keys() == {int, float}:
        return np.array(labels, dtype=np.float64)
    if len(kinds) > 1:
        first, second, *_ = kinds.values()
        raise ValueError(
            f"The target holds {first!r} and {second!r}, which are of different types; "
            "turn all classes into texts."
        )
    plain = label_array(labels)
    if not kinds.keys() <= {bool, int, float} or plain.dtype.kind == "O":
        raise ValueError(
            f"The target holds {labels[0]!r}; turn the classes into texts or moderate whole numbers."
        )
    return plain

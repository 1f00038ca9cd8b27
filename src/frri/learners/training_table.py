"""Training tables: checked values, labels and weights of samples, and boxes around samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from math import frexp, inf, ldexp, nextafter
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, Ints, Positions, Types, Words, short_repr
from frri.fuzzy import Scaling
from frri.induction import ConditionType
from frri.rules import Condition, Label, NominalCondition, NumericCondition, Rule
from frri.rules.rule import as_labels, label_array
from frri.table import Attribute, EncodedTable, column_names
from frri.table.checks import check_weights
from frri.table.columns import is_missing, plain_table, to_numbers

# From here on not every integer is a floating-point number.
LARGEST_INTEGER = 2.0**52
# Golden section of 64 bits, by which keys of samples are spread.
SPREAD = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """A checked training table, with a class for every sample or, in regression, a number."""

    values: Floats
    # Class of each sample, and all classes; in regression 0, and none.
    classes: Positions
    labels: tuple[Label, ...]
    attributes: tuple[Attribute, ...]
    target: str
    # Weights of the samples; None if all are 1.
    weights: Floats | None = None
    # Targets of a regression.
    numbers: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def encoded(self) -> EncodedTable:
        """Return the samples as a table."""
        return EncodedTable(self.values, self.attributes)

    @property
    def all_weights(self) -> Floats:
        """Return the weights of the samples, 1 by default."""
        return np.ones(len(self.values)) if self.weights is None else self.weights

    @property
    def class_counts(self) -> tuple[float, ...]:
        """Return the size of each class, or its weight."""
        n_classes = len(self.labels)
        sizes = np.bincount(self.classes, self.weights, n_classes)[:n_classes]
        return tuple(sizes.astype(float).tolist())

    @cached_property
    def integer_columns(self) -> Flags:
        """Return which features have only integers, apart from missing values."""
        return np.array([*map(are_integers, self.values.T)], dtype=np.bool_)

    @cached_property
    def equal_rows(self) -> tuple[Positions, Positions, Words]:
        """Return the first of each set of equal samples, the set of each sample, a key of each set.

        Equal samples have the same values and target. Sets come in the order of their keys, which
        depend on values and target only.
        """
        known = np.where(np.isnan(self.values), np.inf, self.values + 0.0)  # -0 equals 0
        keys, factor = np.zeros(len(known), dtype=np.uint64), np.uint64(SPREAD)
        for column in (*known.T, *([] if self.labels else [self.numbers])):
            keys = (keys ^ np.ascontiguousarray(column).view(np.uint64)) * factor
            keys ^= keys >> np.uint64(29)
        keys ^= (self.classes.astype(np.uint64) + np.uint64(1)) * factor
        distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return first, inverse, distinct

    def take(self, rows: Positions) -> Self:
        """Return some of the samples, with the classes that are present among them."""
        present, classes = np.unique(self.classes[rows], return_inverse=True)
        return replace(
            self,
            values=self.values[rows],
            classes=classes.astype(np.intp),
            labels=tuple(self.labels[c] for c in present) if self.labels else (),
            weights=None if self.weights is None else self.weights[rows],
            numbers=self.numbers if self.labels else self.numbers[rows],
        )


def box_rule(
    table: TrainingTable,
    u: int,
    types: Types,
    radius: float,
    consequent: Label | float,
    **known: Any,
) -> Rule:
    """Return the rule of a box around a sample; its degree falls with the distance.

    Conditions on numeric features are trapezoids, 1 at the sample and 0 where the rule stops
    covering; those on nominal features are the category of the sample.
    """
    conditions: list[Condition] = []
    # Plain numbers, which are compared with an enumeration much faster than those of numpy.
    for attribute, value, kind in zip(
        table.attributes, table.values[u].tolist(), types.tolist(), strict=True
    ):
        if kind == ConditionType.UNUSED:
            continue
        if attribute.kind == "nominal":
            category = (attribute.categories or ())[int(value)]
            conditions.append(NominalCondition(attribute.name, frozenset({category})))
            continue
        reach = float(radius) * (attribute.high - attribute.low)
        below, above = kind != ConditionType.AT_MOST, kind != ConditionType.AT_LEAST
        low = (value - reach, value) if below else (-inf, -inf)
        high = (value, value + reach) if above else (inf, inf)
        conditions.append(NumericCondition(attribute.name, *low, *high))
    return Rule(tuple(conditions), consequent, float(radius), source=int(u), **known)


def scaled_values(table: TrainingTable) -> tuple[Floats, Flags]:
    """Return the values, numeric features scaled to [0, 1], and which features are nominal."""
    nominal = np.array([attribute.kind == "nominal" for attribute in table.attributes])
    low = np.array([attribute.low for attribute in table.attributes])
    high = np.array([attribute.high for attribute in table.attributes])
    low[nominal] = high[nominal] = 0.0
    values = Scaling(low, high).transform(table.values)
    values[:, nominal] = table.values[:, nominal]
    return values, nominal


def named_labels(y: Any, name: str = "class") -> tuple[str, Any]:
    """Return the name of the target and its values; a table of one column is that column."""
    if y is None:
        return name, None
    y = only_column(y)
    return str(getattr(y, "name", None) or name), as_labels(y)


def only_column(y: Any) -> Any:
    """Return the only column of a table; anything else is returned as it is."""
    y = plain_table(y)
    return y[y.columns[0]] if len(column_names(y) or ()) == 1 else y


def plain_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return classes of one type: objects that are all numbers, or all booleans, become such."""
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
            "turn all classes into strings."
        )
    plain = label_array(labels)
    if not kinds.keys() <= {bool, int, float} or plain.dtype.kind == "O":
        raise ValueError(
            f"The target holds {labels[0]!r}; turn the classes into strings or moderate integers."
        )
    return plain


# Binary logarithm of the most units that all weights together may have: sums then fit in 64 bits.
MOST_UNITS = 62


class Weights(NamedTuple):
    """Weights of samples as integer multiples of a unit: sums are exact in any order.

    Attributes
    ----------
    units : ndarray of int, shape (n_samples,)
    unit : float
        A power of 2; 1 if all weights are integers.
    """

    units: Ints
    unit: float = 1.0

    @classmethod
    def of(cls, weights: Floats, most_units: int = MOST_UNITS) -> Self:
        """Round weights above 0 to units; none needs more than 2^-62 of their sum.

        With fewer units than 2^53, sums stay exact as floating-point numbers, too.
        """
        total = float(weights.sum())
        if total < 2.0**most_units and (weights == np.floor(weights)).all():
            return cls(weights.astype(np.int64))
        unit = max(ldexp(1.0, frexp(total)[1] - most_units), nextafter(0.0, 1.0))
        return cls(np.maximum(np.rint(weights / unit), 1.0).astype(np.int64), unit)

    def worth(self, units: Any) -> Any:
        """Return units as weights, integers if all weights are."""
        return units if self.unit == 1.0 else units * self.unit


def sums_by_key(keys: Any, units: Ints, n_keys: int) -> Ints:
    """Sum the units of the samples with each key."""
    sums = np.zeros(n_keys, dtype=np.int64)
    np.add.at(sums, keys, units)
    return sums


def positive_weight_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Floats]:
    """Return the rows and labels of positive weight, and their weights.

    Rows of weight 0 are left out before anything else is checked.
    """
    X = _indexable(X)
    weights = _checked(sample_weight, len(X))
    kept = np.flatnonzero(weights)
    if len(kept) < len(weights):
        X, y = take_rows(X, kept), None if y is None else take_rows(y, kept)
    return X, y, weights[kept]


def take_rows(table: Any, rows: Positions) -> Any:
    """Return some rows of a table of any form."""
    table = _indexable(table)
    if isinstance(table, list | tuple):
        return [table[row] for row in rows]
    if isinstance(table, EncodedTable) or hasattr(table, "to_pylist"):  # a column of Arrow
        return table.take(rows)
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def _indexable(table: Any) -> Any:
    table = plain_table(table)
    return table if hasattr(table, "__len__") else np.asarray(table)


def with_weights(
    table_of: Callable[[Any, Any], TrainingTable], X: Any, y: Any, sample_weight: Any
) -> tuple[TrainingTable, Floats | None]:
    """Return a training table without samples of weight 0, and the weights, if given."""
    if sample_weight is None:
        return table_of(X, y), None
    *weighted, weights = positive_weight_rows(X, y, sample_weight)
    try:
        return table_of(*weighted), weights
    except ValueError:  # the same complaint, with rows numbered as in the table that was given
        table_of(X, y)
        raise


def check_class_weight(class_weight: Any, names: Sequence[str] = ("balanced",)) -> None:
    """Raise an error for a `class_weight` that is neither a mapping nor one of the names."""
    named = isinstance(class_weight, str) and class_weight in names
    if not (named or class_weight is None or isinstance(class_weight, Mapping)):
        known = ", ".join(f'"{name}"' for name in names)
        raise ValueError(
            f"class_weight must be {known}, None or a mapping of classes, "
            f"got {short_repr(class_weight)}."
        )


def are_integers(column: Floats) -> bool:
    """Return whether the values of a column, apart from missing ones, are integers.

    Examples
    --------
    >>> are_integers(np.array([1.0, np.nan, 3.0])), are_integers(np.array([1.0, 2.5]))
    (True, False)
    """
    known = column[~np.isnan(column)]
    return bool((np.abs(known) < LARGEST_INTEGER).all() and (np.rint(known) == known).all())


def class_factors(class_weight: Any, labels: Sequence[Any], sizes: Floats, target: str) -> Floats:
    """Return the factor of each class by which sample weights are multiplied.

    "balanced" gives every class of the given sizes the same total weight, and an empty one the
    factor 0; a class that a mapping lacks has the factor 1.

    Examples
    --------
    >>> class_factors("balanced", ["no", "yes"], np.array([30.0, 10.0]), "risk").round(3)
    array([0.667, 2.   ])
    """
    if class_weight is None:
        return np.ones(len(sizes))
    if isinstance(class_weight, str):
        divisors = np.where(sizes > 0.0, sizes, np.inf)
        return np.asarray(sizes.sum() / (np.count_nonzero(sizes) * divisors))
    strange = [label for label in class_weight if label not in labels]
    if strange:
        raise ValueError(
            f"class_weight names the class {strange[0]!r}, which {target!r} does not "
            f"have; its classes are {', '.join(map(repr, labels[:8]))}."
        )
    given: dict[Any, Any] = {label: class_weight.get(label, 1.0) for label in labels}
    for label, factor in given.items():
        number = isinstance(factor, Real | Decimal)
        if not (number and 0.0 < factor < np.inf):
            raise ValueError(
                f"class_weight of {label!r} is {short_repr(factor)}; "
                "give it a finite number above 0."
            )
    return np.array(list(given.values()), dtype=np.float64)


def _checked(sample_weight: Any, n_rows: int) -> Floats:
    array = np.asarray(plain_table(sample_weight))
    if array.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has the shape {array.shape}, but the table has {n_rows} rows; "
            "give one weight per row."
        )
    for row, value in enumerate(() if array.dtype.kind in "biuf" else array.tolist()):
        if not isinstance(value, Real | Decimal) and not is_missing(value):
            raise ValueError(
                f"sample_weight holds {value!r} in row {row + 1}, which is not a number; "
                "give one number per row."
            )
    weights = to_numbers(array, "sample_weight")
    check_weights(weights, "sample_weight")
    with np.errstate(over="ignore"):
        if weights.sum() == np.inf:
            raise ValueError(
                "The sum of sample_weight is infinite; divide all weights by the largest."
            )
    return weights

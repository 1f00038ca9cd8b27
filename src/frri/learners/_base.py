"""What all learners share: from any table to a matrix of numbers, from a ruleset to predictions."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from frri import table as data
from frri.learners._provenance import provenance
from frri.rules import Label, RuleSet
from frri.rules.rule import given_labels, label_array
from frri.table import Attribute
from frri.table.columns import is_missing, plain_table


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """A checked training table: what every learner starts from."""

    values: NDArray[np.float64]
    classes: NDArray[np.intp]
    labels: tuple[Label, ...]
    attributes: tuple[Attribute, ...]
    target: str

    @property
    def class_counts(self) -> tuple[float, ...]:
        """Size of each class."""
        return tuple(np.bincount(self.classes, minlength=len(self.labels)).astype(float).tolist())


class RuleClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the learners: `fit` ends in `ruleset_`, which does the rest."""

    # What a learner can take; the checks, the messages and the tags follow from it.
    _takes_nominal = False
    _takes_missing = False
    # Why it takes no sample weights, to be said where it is given some.
    _no_weights = ""

    # Threads for prediction: a parameter of learners that have it.
    n_jobs: int | None = None

    classes_: NDArray[Any]
    ruleset_: RuleSet

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        matrix = self._new_values(X)
        return self.classes_[self.ruleset_.predict_index(matrix, n_jobs=self.n_jobs)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict a share for every class, in the order of `classes_`; rows sum to 1.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        matrix = self._new_values(X)
        return self.ruleset_.probabilities(matrix, n_jobs=self.n_jobs)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_missing()
        return tags

    def _refuse(self, arguments: Mapping[str, Any]) -> None:
        """Complain about arguments of `fit` that would otherwise be ignored."""
        for name in arguments:
            if name == "sample_weight":
                raise TypeError(
                    f"{self._name()} takes no sample_weight: {self._no_weights}; "
                    "MODLEMClassifier takes weights."
                )
            raise TypeError(f"fit() got an unexpected keyword argument {name!r}.")

    def _name(self) -> str:
        return type(self).__name__.removesuffix("Classifier")

    def _about(self, table: TrainingTable) -> dict[str, Any]:
        """What the rules learned from a table say about themselves."""
        return provenance(self._name(), self.get_params(), table.attributes, len(table.values))

    def _training_table(self, X: Any, y: Any) -> TrainingTable:
        """Check the training data and remember the columns."""
        target, y = _named_labels(y)
        _check_labels_are_there(y)
        X = plain_table(X)
        names = data.column_names(X)
        _check_names(names)
        attributes = data.describe_frame(X) if names and self._takes_nominal else ()
        if any(attribute.kind != "numeric" for attribute in attributes):
            _check_kinds(X, attributes)
            validate_data(self, X, y, skip_check_array=True)
            values = self._mixed_values(X, attributes)
            if not len(values):
                raise ValueError("The table has 0 samples: give it at least one row.")
            y = column_or_1d(y, warn=True)
            assert_all_finite(y, input_name="y")
            if len(y) != len(values):
                raise ValueError(f"The table has {len(values)} rows but there are {len(y)} labels.")
        else:
            data.check_numbers(X, allow_missing=self._allows_missing())
            values, y = validate_data(
                self, X, y, dtype=np.float64, ensure_all_finite=self._finite_or_nan()
            )
            attributes = data.describe_columns(
                values, names or self._default_names(values.shape[1])
            )
        y = plain_labels(y)
        _check_target(y)
        _warn_about_columns(attributes, target, len(y))
        self.classes_, codes = np.unique(y, return_inverse=True)
        labels = tuple(self.classes_.tolist())
        return TrainingTable(values, codes.astype(np.intp), labels, attributes, target)

    def _new_values(self, X: Any) -> NDArray[np.float64]:
        """Check new data against the training columns and encode them."""
        check_is_fitted(self)
        X = plain_table(X)
        attributes = self.ruleset_.attributes
        if any(attribute.kind != "numeric" for attribute in attributes):
            validate_data(self, X, skip_check_array=True, reset=False)
            return self._mixed_values(X, attributes)
        data.check_numbers(X, allow_missing=self._allows_missing())
        matrix: NDArray[np.float64] = validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite=self._finite_or_nan()
        )
        return matrix

    def _mixed_values(self, X: Any, attributes: Sequence[Attribute]) -> NDArray[np.float64]:
        """Columns of several kinds as one matrix."""
        allowed = self._allows_missing()
        if data.column_names(X) is not None:
            numeric = {a.name for a in attributes if a.kind == "numeric"}
            data.check_numbers(_select(X, numeric), allow_missing=allowed)
        values = data.to_matrix(X, attributes)
        if not allowed:
            _check_complete(values, attributes)
        return values

    def _allows_missing(self) -> bool:
        """Whether missing values are taken, for learners where parameters have a say in it."""
        return self._takes_missing

    def _finite_or_nan(self) -> bool | str:
        return "allow-nan" if self._allows_missing() else True

    @staticmethod
    def _default_names(n_columns: int) -> list[str]:
        return [f"x{j}" for j in range(n_columns)]


def _warn_about_columns(attributes: Sequence[Attribute], target: str, n_objects: int) -> None:
    """Say which columns make rules that tell nothing about new objects."""
    for attribute in attributes:
        many = attribute.kind == "nominal" and len(attribute.categories or ()) > max(
            10, n_objects / 2
        )
        if attribute.name == target:
            warnings.warn(
                f"The table still has the target {target!r} as a column; drop it from the table.",
                UserWarning,
                stacklevel=4,
            )
        elif many:
            warnings.warn(
                f"Column {attribute.name!r} has {len(attribute.categories or ())} different texts in "
                f"{n_objects} rows: drop it if it is an identifier, convert it if it holds dates.",
                UserWarning,
                stacklevel=4,
            )


def _named_labels(y: Any) -> tuple[str, Any]:
    """The target's name, and its values as an array; a table of one column is that column."""
    if y is None:
        return "class", None
    y = plain_table(y)
    columns = data.column_names(y)
    if columns is not None and len(columns) == 1:
        y = y[y.columns[0]]
    return str(getattr(y, "name", None) or "class"), given_labels(y)


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


def _check_labels_are_there(y: Any) -> None:
    """Texts may be missing among texts, where scikit-learn would not say so."""
    labels = np.asarray(y) if y is not None else np.empty(0)
    if labels.dtype.kind in "mM":
        raise ValueError(
            "The target holds dates or times: turn them into texts to use them as classes."
        )
    if labels.dtype.kind == "O" and labels.ndim == 1:
        absent = [row for row, label in enumerate(labels) if is_missing(label)]
        if absent:
            raise ValueError(
                f"The target has no value (NaN) in row {absent[0]} "
                f"({len(absent)} of {len(labels)} rows); drop these rows."
            )


def _check_target(y: NDArray[Any]) -> None:
    """Classes, not quantities."""
    if y.dtype.kind == "f" and len(y) and not np.all(y == np.floor(y)):
        example = y[np.flatnonzero(y != np.floor(y))[0]]
        raise ValueError(
            f"The target holds quantities such as {example:g}: Unknown label type 'continuous'. "
            "A classifier needs classes; bin the target into a few labels first."
        )
    check_classification_targets(y)


def _check_names(names: list[str] | None) -> None:
    if names == []:
        raise ValueError("The table has 0 features: give it at least one column.")
    seen: set[str] = set()
    for name in names or ():
        if name in seen:
            raise ValueError(f"The table has more than one column {name!r}; rename one of them.")
        seen.add(name)


def _check_kinds(frame: Any, attributes: Sequence[Attribute]) -> None:
    """Complain about a column of numbers with a few others: neither kind would be meant."""
    for label, attribute in zip(frame.columns, attributes, strict=True):
        if attribute.kind != "nominal":
            continue
        column = frame[label]
        array = np.asarray(column)
        declared = getattr(getattr(column, "cat", None), "codes", None) is not None
        if declared or array.dtype.kind != "O":
            continue
        others = [
            row
            for row, value in enumerate(array)
            if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Decimal)
        ]
        strangers = [row for row in others if not is_missing(array[row])]
        if strangers and len(array) - len(others) > len(strangers):
            row = strangers[0]
            raise ValueError(
                f"Column {attribute.name!r} holds {array[row]!r} in row {row} among numbers; "
                "correct or empty it, or turn the whole column into texts if these are categories."
            )


def _check_complete(values: NDArray[np.float64], attributes: Sequence[Attribute]) -> None:
    counts = np.isnan(values).sum(axis=0)
    for attribute, count in zip(attributes, counts, strict=True):
        if count:
            raise ValueError(
                f"Missing values in column {attribute.name!r} ({count} of {len(values)} rows): "
                "fill them in or drop these rows first."
            )


def _select(frame: Any, names: set[str]) -> Any:
    """Some columns of a data frame, whatever its columns are called by type."""
    chosen = [column for column in frame.columns if str(column) in names]
    return frame[chosen]

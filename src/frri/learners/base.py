"""What all learners share: from any table to a matrix of numbers, from a ruleset to predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from frri import data
from frri.data import Attribute
from frri.rules import Label, RuleSet


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
        return self.classes_[self.ruleset_.predict_index(matrix)]

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
        return self.ruleset_.probabilities(matrix)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_missing
        return tags

    def _training_table(self, X: Any, y: Any) -> TrainingTable:
        """Check the training data and remember the columns."""
        target = str(getattr(y, "name", None) or "class")
        names = data.column_names(X)
        attributes = data.describe_frame(X) if names and self._takes_nominal else ()
        if any(attribute.kind != "numeric" for attribute in attributes):
            _check_names(names)
            validate_data(self, X, skip_check_array=True)
            numeric = [a.name for a in attributes if a.kind == "numeric"]
            data.check_numbers(_select(X, numeric), numeric, allow_missing=self._takes_missing)
            values = data.to_matrix(X, attributes)
            y = column_or_1d(y, warn=True)
            if len(y) != len(values):
                raise ValueError(f"The table has {len(values)} rows but there are {len(y)} labels.")
        else:
            _check_names(names)
            data.check_numbers(X, allow_missing=self._takes_missing)
            values, y = validate_data(
                self, X, y, dtype=np.float64, ensure_all_finite=self._finite_or_nan()
            )
            attributes = data.describe_columns(
                values, names or self._default_names(values.shape[1])
            )
        _check_target(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        labels = tuple(self.classes_.tolist())
        return TrainingTable(values, codes.astype(np.intp), labels, attributes, target)

    def _new_values(self, X: Any) -> NDArray[np.float64]:
        """Check new data against the training columns and encode them."""
        check_is_fitted(self)
        attributes = self.ruleset_.attributes
        if any(attribute.kind != "numeric" for attribute in attributes):
            validate_data(self, X, skip_check_array=True, reset=False)
            return data.to_matrix(X, attributes)
        data.check_numbers(
            X,
            [a.name for a in attributes] if data.column_names(X) else None,
            allow_missing=self._takes_missing,
        )
        matrix: NDArray[np.float64] = validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite=self._finite_or_nan()
        )
        return matrix

    def _finite_or_nan(self) -> bool | str:
        return "allow-nan" if self._takes_missing else True

    @staticmethod
    def _default_names(n_columns: int) -> list[str]:
        return [f"x{j}" for j in range(n_columns)]


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
    twice = [name for name in names or () if (names or []).count(name) > 1]
    if twice:
        raise ValueError(f"The table has more than one column {twice[0]!r}; rename one of them.")


def _select(frame: Any, names: list[str]) -> Any:
    """Some columns of a data frame, whatever its columns are called by type."""
    chosen = [column for column in frame.columns if str(column) in names]
    return frame[chosen]

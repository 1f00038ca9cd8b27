"""Base of the regressors: checked tables, predictions and conformal intervals."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import RegressorMixin

from frri._reproducible import total
from frri._util import Flags, Floats
from frri.learners.base import RuleLearner
from frri.learners.training_table import (
    NumberTable,
    named_labels,
    positive_weight_rows,
    with_weights,
)
from frri.learners.validation import check_share
from frri.rules.conformal import half_widths
from frri.table import EncodedTable, column_names
from frri.table.checks import warn_about_columns
from frri.table.columns import plain_table
from frri.table.targets import check_labels, check_quantities

# Decides which rows are held back to measure errors on.
SEED = 0


class RuleRegressor(RegressorMixin, RuleLearner):  # type: ignore[misc]
    """Base of the regressors."""

    # The share of the rows that errors are measured on: a parameter of all of them.
    calibration_fraction: float = 0.0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rules from a table and its numbers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples; a sample of weight 0 is left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        return self._fit_numbers(X, y, sample_weight)

    def predict(self, X: Any) -> Floats:
        """Predict the number of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        table = EncodedTable(self._new_values(X), self.ruleset_.attributes)
        return np.asarray(self.ruleset_.predict(table, n_jobs=self.n_jobs))

    def predict_interval(self, X: Any, level: float = 0.9) -> Floats:
        """Predict an interval for each sample; `calibration_fraction` must be above 0.

        By split conformal prediction: of new rows like those of the training table, at least the
        share
        `level` has its number within its interval, on average over such tables.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        level : {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}, default=0.9

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        table = EncodedTable(self._new_values(X), self.ruleset_.attributes)
        return self.ruleset_.predict_interval(table, level)

    def _learn_numbers(self, table: NumberTable) -> None:
        """Everything between a checked table and `ruleset_`."""
        raise NotImplementedError

    def _fit_numbers(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn from all rows, or from those that errors are not measured on."""
        check_share("calibration_fraction", self.calibration_fraction)
        if self.calibration_fraction <= 0.0:
            self._learn_numbers(self._checked_table(X, y, sample_weight))
            return self
        # What is wrong is said about the whole table, and what is known of it is the target alone.
        whole = self._checked_table(X, y, sample_weight)
        if sample_weight is not None:
            X = positive_weight_rows(X, None, sample_weight)[0]
        n = len(whole.numbers)
        held = round(self.calibration_fraction * n)
        if not 0 < held < n:
            raise ValueError(
                f"calibration_fraction={self.calibration_fraction:g} leaves no rows to learn from, "
                f"or none to measure errors on, of n_samples = {n}; use another share or more rows."
            )
        asked = np.random.default_rng(SEED).permutation(n) < held
        table = self._number_table(_some(X, ~asked), whole.numbers[~asked])
        weights = None if whole.weights is None else whole.weights[~asked]
        self._learn_numbers(self._weighed(replace(table, target=whole.target), weights))
        errors = whole.numbers[asked] - self.predict(_some(X, asked))
        about = {**self.ruleset_.about, "intervals": half_widths(errors)}
        self.ruleset_ = replace(self.ruleset_, about=about)
        return self

    def _checked_table(self, X: Any, y: Any, sample_weight: Any) -> NumberTable:
        """Return the training table without samples of weight 0."""
        return self._weighed(*with_weights(self._number_table, X, y, sample_weight))

    def _number_table(self, X: Any, y: Any) -> NumberTable:
        """Check the training data, encode them and remember the columns."""
        target, y = named_labels(y, "target")
        check_labels(y)
        table, y = self._encoded(X, y)
        numbers = check_quantities(y, target)
        warn_about_columns(table.attributes, target, len(numbers), stacklevel=7)
        return NumberTable(table.matrix, numbers, table.attributes, target)


def _some(X: Any, rows: Flags) -> Any:
    """Return some rows of a table of any form."""
    X = plain_table(X)
    if column_names(X) is None and not isinstance(X, EncodedTable) and not issparse(X):
        X = np.asarray(X)
    return positive_weight_rows(X, None, rows.astype(np.float64))[0]


def standardised(numbers: Floats, weights: Floats) -> tuple[float, float, Floats]:
    """Mean and standard deviation of numbers, and the numbers in terms of them."""
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        return low, 1.0, np.zeros(len(numbers))
    shares = (numbers - low) / (high - low)
    weight = total(weights)
    mean = float(total(shares * weights) / weight)
    spread = float(np.sqrt(total((shares - mean) ** 2 * weights) / weight))
    return low + mean * (high - low), spread * (high - low), (shares - mean) / spread

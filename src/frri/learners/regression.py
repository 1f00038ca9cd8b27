"""Base of the regressors, with conformal intervals."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from frri._reproducible import total
from frri._util import Floats
from frri.learners import training_table as tables
from frri.learners.base import RuleLearner
from frri.learners.training_table import TrainingTable
from frri.learners.validation import check_share
from frri.rules.conformal import half_widths
from frri.table import EncodedTable
from frri.table.checks import warn_about_columns
from frri.table.targets import check_labels, check_quantities

# Random seed of the samples that errors are measured on.
SEED = 0


class RuleRegressor(RegressorMixin, RuleLearner):  # type: ignore[misc]
    """Base of the regressors, with conformal intervals."""

    # Fraction of the samples that errors are measured on: a parameter of all of them.
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
        check_share("calibration_fraction", self.calibration_fraction)
        whole = self._weighed(*tables.with_weights(self._number_table, X, y, sample_weight))
        if self.calibration_fraction <= 0.0:
            return self._learn_with_statistics(whole)
        if sample_weight is not None:
            X = tables.positive_weight_rows(X, None, sample_weight)[0]
        n = len(whole.numbers)
        held = round(self.calibration_fraction * n)
        if not 0 < held < n:
            raise ValueError(
                f"calibration_fraction={self.calibration_fraction:g} leaves no rows to learn from, "
                f"or none to measure errors on, of n_samples = {n}; use another share or more rows."
            )
        # The rules know nothing of the samples held out but the name of the target.
        drawn = np.random.default_rng(SEED).permutation(n) < held
        out, kept = np.flatnonzero(drawn), np.flatnonzero(~drawn)
        table = self._number_table(tables.take_rows(X, kept), whole.numbers[kept])
        weights = None if whole.weights is None else whole.weights[kept]
        self._learn_with_statistics(self._weighed(replace(table, target=whole.target), weights))
        errors = whole.numbers[out] - self.predict(tables.take_rows(X, out))
        about = {**self.ruleset_.about, "intervals": half_widths(errors)}
        self.ruleset_ = replace(self.ruleset_, about=about)
        return self

    def predict_interval(self, X: Any, level: float = 0.9) -> Floats:
        """Predict an interval for each sample; `calibration_fraction` must be above 0.

        By split conformal prediction: of new samples like those of the training table, at least the
        fraction `level` has its number within its interval, on average over such tables.

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

    def _learn_with_statistics(self, table: TrainingTable) -> Self:
        self._learn(table)
        known = table.encoded, table.numbers, table.weights
        self.ruleset_ = self.ruleset_.with_statistics(*known)
        return self

    def _number_table(self, X: Any, y: Any) -> TrainingTable:
        """Check the training data, encode them and remember the columns."""
        target, y = tables.named_labels(y, "target")
        check_labels(y)
        table, y = self._encoded(X, y)
        numbers = check_quantities(y, target)
        warn_about_columns(table.attributes, target, len(numbers), stacklevel=5)
        one_class = np.zeros(len(numbers), dtype=np.intp)
        known = table.attributes, target
        return TrainingTable(table.matrix, one_class, (), *known, numbers=numbers)


def standardised(numbers: Floats, weights: Floats) -> tuple[float, float, Floats]:
    """Return mean and standard deviation of numbers, and the numbers in terms of them."""
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        return low, 1.0, np.zeros(len(numbers))
    shares = (numbers - low) / (high - low)
    weight = total(weights)
    mean = float(total(shares * weights) / weight)
    spread = float(np.sqrt(total((shares - mean) ** 2 * weights) / weight))
    return low + mean * (high - low), spread * (high - low), (shares - mean) / spread

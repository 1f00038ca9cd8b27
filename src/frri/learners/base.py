"""Base classes of the estimators: from a table to training data, from a rule set to predictions."""

import json
import os
import warnings
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from frri import __version__
from frri._reproducible import snap, total
from frri._util import Floats, Positions, Progress, check_n_jobs, join_names, short_repr
from frri.learners import training_table as tables
from frri.learners import validation
from frri.learners.calibration import Calibration, calibration_of
from frri.learners.size_cv import SizePath
from frri.learners.training_table import TrainingTable
from frri.rules import Label, Rule, RuleSet
from frri.rules.conformal import half_widths
from frri.rules.contributions import feature_importances
from frri.rules.rule import label_array
from frri.rules.ruleset import decision_costs
from frri.rules.semantics import CLASS_RULES
from frri.table import EncodedTable, column_names, to_matrix
from frri.table.checks import check_complete, check_numbers, check_whole_numbers, warn_about_columns
from frri.table.columns import check_no_records, is_missing, ordered_categories, plain_table
from frri.table.encode import check_order, describe_columns, encode_columns, encode_frame
from frri.table.impute import impute_missing
from frri.table.targets import check_classes, check_labels, check_quantities, warn_about_numbers

# Parameters that leave rules out.
LIMITS = {"max_rules": None, "max_conditions": None, "min_support": 0.0, "min_new_coverage": 0.0}
# Arrays with more values than this (an order of features for every sample) are only described.
MOST_VALUES = 1_000
# Random seed of the samples that a regressor measures its errors on.
SEED = 0


@dataclass(kw_only=True, eq=False, repr=False)
class RuleLearner(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators: `fit` ends in `ruleset_`, which predicts.

    Estimators are dataclasses, so that a parameter is declared once: constructors are made from the
    fields.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__doc__:  # none with python -OO
            cls.__doc__ = validation.expand_shared(cls.__doc__)

    # Parameters of all estimators.
    missing: str = "typical"
    n_jobs: int | None = None
    verbose: int = 0

    # Name of the algorithm, if it is not that of the class.
    _algorithm: ClassVar[str] = ""
    # Treatments of missing values to choose from.
    _missing_choices: ClassVar[tuple[str, ...]] = ("typical", "fails", "error")

    ruleset_: RuleSet = field(init=False)
    # The numbers of rules that were cross-validated, if any.
    path_: SizePath | None = field(init=False, default=None)

    @property
    def feature_importances_(self) -> Floats:
        """Return the importance of each feature in the rules: see `frri.rules.contributions`."""
        check_is_fitted(self)
        return feature_importances(self.ruleset_)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Show the rules in a notebook, or scikit-learn's diagram before `fit`."""
        if hasattr(self, "ruleset_"):
            return {"text/plain": repr(self), "text/html": self.ruleset_._repr_html_()}
        return dict(super()._repr_mimebundle_(**options))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_missing()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        """Raise an error for the first parameter that is not valid."""
        check_n_jobs(self.n_jobs)
        validation.check_choice("missing", self.missing, self._missing_choices)

    def _step(self, what: str) -> AbstractContextManager[Any]:
        """Return a context that prints a step of `fit` and its seconds if `verbose` is set."""
        level = int(self.verbose) if self.verbose is True else self.verbose
        validation.check_count("verbose", level)
        if not self.verbose:
            return nullcontext()
        return Progress(f"{self._name()}: {what}", closing=True)

    def _name(self) -> str:
        own = type(self).__name__.removesuffix("Classifier").removesuffix("Regressor")
        return self._algorithm or own

    def _about(self, table: TrainingTable) -> dict[str, Any]:
        """Return the provenance of rules from a table, as JSON values."""
        # The digest changes with the name, the kind or the order of any column.
        columns = [[attribute.name, attribute.kind] for attribute in table.attributes]
        known = {
            "learner": self._name(),
            "frri": __version__,
            "parameters": {
                name: _plain(value)
                for name, value in self.get_params().items()
                if not (isinstance(value, str) and value == "deprecated")
            },
            "date": _now(),
            "rows": len(table.values),
            "columns": sha256(json.dumps(columns).encode()).hexdigest()[:16],
        }
        return known if self.path_ is None else known | {"path": asdict(self.path_)}

    def _encoded(self, X: Any, y: Any) -> tuple[EncodedTable, NDArray[Any]]:
        """Check and encode a training table of any form, and its labels."""
        check_no_records(X)
        X = plain_table(X)
        if column_names(X) is None and not isinstance(X, EncodedTable):
            X = self._plain_numbers(X)
            for j, column in enumerate(X.T if isinstance(X, np.ndarray) and X.ndim == 2 else ()):
                check_whole_numbers(column, f"Column {j}")
            values, y = validate_data(self, X, y, **self._number_options())
            made_up = [f"x{j}" for j in range(values.shape[1])]
            return EncodedTable(values, describe_columns(values, made_up)), y
        table = X if isinstance(X, EncodedTable) else encode_frame(X)
        validate_data(self, X, y, skip_check_array=True)
        if isinstance(X, EncodedTable):
            self.feature_names_in_ = np.array([a.name for a in X.attributes], dtype=object)
        if not len(table):
            raise ValueError("The table has 0 samples: give it at least one row.")
        if not self._allows_missing():
            check_complete(table.matrix, table.attributes)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        if len(y) != len(table):
            raise ValueError(
                f"The table has {len(table)} rows but there are {len(y)} labels: "
                "inconsistent numbers of samples."
            )
        return table, y

    def _weighed(self, table: TrainingTable, weights: Floats | None) -> TrainingTable:
        """Return a table with weights, its missing values imputed if they are to be."""
        if self.missing == "typical":
            filled = impute_missing(table.encoded, weights)
            table = replace(table, values=filled.matrix, attributes=filled.attributes)
        return replace(table, weights=weights)

    def _learn(self, table: TrainingTable) -> Calibration | None:
        """Find `ruleset_` from a checked table, and its calibration if that comes with it."""
        raise NotImplementedError

    def _made(self, table: TrainingTable, rules: Iterable[Rule], **meaning: Any) -> RuleSet:
        """Return a rule set for a training table; `meaning` has further fields of `RuleSet`."""
        known: dict[str, Any] = {
            "attributes": table.attributes,
            "classes": table.labels,
            "target": table.target,
            "missing": "fails" if self.missing == "error" else self.missing,
            "class_counts": table.class_counts,
            "about": self._about(table),
        }
        return RuleSet(rules=tuple(rules), **known | meaning)

    def _new_values(self, X: Any) -> Floats:
        """Check new data against the training columns and encode them."""
        check_is_fitted(self)
        attributes = self.ruleset_.attributes
        X = plain_table(X)
        names, encoded = column_names(X), isinstance(X, EncodedTable)
        numeric = all(attribute.kind == "numeric" for attribute in attributes)
        if names is None and numeric and not encoded:
            X = self._plain_numbers(X)
            return np.asarray(validate_data(self, X, reset=False, **self._number_options()))
        if encoded or {attribute.name for attribute in attributes} <= set(names or ()):
            # An error in a column is raised before one about its place.
            matrix = to_matrix(X, attributes)
            if not encoded and list(X.columns) != list(getattr(self, "feature_names_in_", ())):
                validate_data(self, X, skip_check_array=True, reset=False)
        else:
            validate_data(self, X, skip_check_array=True, reset=False)
            if names is None:
                matrix = to_matrix(X, attributes)
            else:
                matrix = encode_columns([X[name] for name in X.columns], attributes)
        used = self.ruleset_.used_attributes if self._allows_missing() else None
        check_order(X, attributes, matrix, used)
        if not self._allows_missing():
            check_complete(matrix, attributes)
        return matrix

    def _plain_numbers(self, X: Any) -> Any:
        """Check a table without names, and replace every kind of missing value in it by NaN.

        scikit-learn does not know all kinds of missing values; ragged lists are left to its checks.
        """
        if isinstance(X, np.ndarray | list | tuple):
            with suppress(ValueError):  # ragged
                array = np.asarray(X)
                X = array if array.ndim == 2 else X
                if array.dtype.kind == "O" and array.ndim == 2:
                    marks = np.frompyfunc(is_missing, 1, 1)(array).astype(bool)
                    X = np.where(marks, np.nan, array)
        check_numbers(X, allow_missing=self._allows_missing())
        return X

    def _number_options(self) -> dict[str, Any]:
        finite = "allow-nan" if self._allows_missing() else True
        return {"dtype": np.float64, "ensure_all_finite": finite}

    def _allows_missing(self) -> bool:
        """Return whether missing values are allowed."""
        return self.missing != "error"


class AnyRuleClassifier(ClassifierMixin, RuleLearner):  # type: ignore[misc]
    """Base of the classifiers, for classes with an order or without."""

    # Weights of classes: a parameter of some estimators.
    class_weight: Any = None
    # Whether they multiply the sample weights; otherwise the estimator uses them in another way.
    _class_weight_of_objects = True

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rules from a table and its class labels.

        Calibration may need two more fits, on halves of the table: see `calibrate`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type; the name of a series becomes the name of the target.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples; a sample of weight 0 is left out.

        Returns
        -------
        self
        """
        self._check_parameters()
        class_weight = self.class_weight if self._class_weight_of_objects else None
        table = self._training_table(X, y, sample_weight, class_weight)
        return self._calibrate(table, self._learn(table))

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

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of every class, in the order of `classes_`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        matrix = self._new_values(X)
        return self.ruleset_.probabilities(matrix, n_jobs=self.n_jobs)

    def decision_function(self, X: Any) -> Floats:
        """Return the probability of each class, or with two classes how far the second leads.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) with two classes
            The class predicted is the one with the largest number; with two classes the second one
            if the number is above 0.
        """
        shares = self.predict_proba(X)
        return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares

    def _training_table(
        self, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None
    ) -> TrainingTable:
        """Check the training data and weights, encode them and remember the columns."""
        tables.check_class_weight(class_weight)
        table, weights = tables.with_weights(self._checked_table, X, y, sample_weight)
        if class_weight is not None:
            weights = table.all_weights if weights is None else weights
            sizes = np.bincount(table.classes, weights, len(table.labels)).astype(np.float64)
            factors = tables.class_factors(class_weight, table.labels, sizes, table.target)
            weights = weights * factors[table.classes]
        return self._weighed(table, weights)

    def _checked_table(self, X: Any, y: Any) -> TrainingTable:
        target, y = tables.named_labels(y)
        check_labels(y)
        table, y = self._encoded(X, y)
        y = tables.plain_labels(y)
        check_classes(y)
        check_classification_targets(y)
        warn_about_columns(table.attributes, target, len(y), stacklevel=6)
        warn_about_numbers(y, target, stacklevel=6)
        self.classes_, codes = np.unique(y, return_inverse=True)
        labels = tuple(self.classes_.tolist())
        return TrainingTable(table.matrix, codes.astype(np.intp), labels, table.attributes, target)

    def _with_statistics(self, ruleset: RuleSet, table: TrainingTable) -> RuleSet:
        """Return the rules with their statistics."""
        labels = label_array(table.labels)[table.classes]
        return ruleset.with_statistics(table.encoded, labels, table.weights)

    def _calibrate(self, table: TrainingTable, known: Calibration | None) -> Self:  # noqa: ARG002
        """Return the estimator as it is: ordinal rules are not calibrated."""
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class RuleClassifier(AnyRuleClassifier):
    """Base of the classifiers for classes without an order, which may differ in their costs."""

    decision: str | Mapping[Any, float] = "accuracy"
    # Whether probabilities are calibrated: a parameter of some estimators.
    calibrate = True
    # Parameters of the copies that learn from parts, to calibrate.
    _of_parts: ClassVar[dict[str, Any]] = {}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        validation.check_boolean("calibrate", self.calibrate)

    def _training_table(
        self, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None
    ) -> TrainingTable:
        table = super()._training_table(X, y, sample_weight, class_weight)
        decision_costs(self.decision, table.labels, table.class_counts)  # an error comes early
        return table

    def _for_part(self, rows: Positions, labels: Collection[Label]) -> Self:  # noqa: ARG002
        """Return an unfitted copy for some of the samples and classes."""
        size = {} if self.path_ is None else {"max_rules": self.path_.chosen}
        one: Self = clone(self).set_params(verbose=0, **size, **self._of_parts)
        if isinstance(one.class_weight, Mapping):
            one.class_weight = {c: w for c, w in one.class_weight.items() if c in labels}
        return one

    def _calibrate(self, table: TrainingTable, known: Calibration | None = None) -> Self:
        """Calibrate the probabilities for equal costs, then apply those of `decision`.

        Classes without a rule are warned about.
        """
        _warn_of_silence(self.ruleset_, self.get_params(deep=False))
        if known is None:
            with self._step("calibration"):
                known = calibration_of(self, table)
        changes: dict[str, Any] = {"trust": known.trust}
        if self.ruleset_.semantics.meaning.link == "softmax":
            changes["base"] = tuple(snap(known.scale * np.array(self.ruleset_.base)).tolist())
            changes["rules"] = tuple(scaled_rule(rule, known.scale) for rule in self.ruleset_)
        self.ruleset_ = replace(self.ruleset_, **changes).with_decision(self.decision)
        return self


class OrderedRuleClassifier(AnyRuleClassifier):
    """Base of the ordinal classifiers, which predict medians."""

    # The classes from the lowest to the highest: a parameter of all of them.
    class_order: Any = None

    def decision_function(self, X: Any) -> Floats:
        """Return how far each class is from being too high or too low.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) with two classes
            The smaller of two probabilities, of "at least this class" and of "at most this class":
            the class predicted has the largest. With two classes, above 0 for the second.
        """
        table = EncodedTable(self._new_values(X), self.ruleset_.attributes)
        reached = self.ruleset_.scores(table, n_jobs=self.n_jobs)
        if reached.shape[1] == 2:
            return 2.0 * reached[:, 1] - 1.0
        missed = np.column_stack([reached[:, 1:], np.zeros(len(reached))])
        return np.minimum(reached, 1.0 - missed)

    def _training_table(
        self, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None
    ) -> TrainingTable:
        """Return the checked training table, with its classes from the lowest to the highest."""
        declared = self.class_order
        if declared is None:
            declared = ordered_categories(tables.only_column(y))
        table = super()._training_table(X, y, sample_weight, class_weight)
        if declared is None:
            if len(table.labels) > 2 and isinstance(table.labels[0], str):
                alphabet = " < ".join(map(repr, table.labels))
                warnings.warn(
                    f"The classes of {table.target!r} are strings and are ordered "
                    f"alphabetically: {alphabet}; give class_order if they have another one.",
                    UserWarning,
                    stacklevel=3,
                )
            return table
        order = ordered_positions(declared, table.labels, table.target)
        self.classes_ = self.classes_[order]
        labels = tuple(table.labels[c] for c in order)
        return replace(table, labels=labels, classes=np.argsort(order)[table.classes])


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
        validation.check_share("calibration_fraction", self.calibration_fraction)
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


def ordered_positions(order: Any, labels: tuple[Label, ...], target: str) -> list[int]:
    """Return the positions of classes in a declared order, the lowest class first.

    A class may be given by its text; classes that do not occur are ignored.

    Examples
    --------
    >>> ordered_positions(["bad", "fair", "good"], ("bad", "good"), "quality")
    [0, 1]
    """
    if isinstance(order, str) or not np.iterable(order):
        raise ValueError(
            "class_order must list the classes from the lowest to the highest, "
            f"got {short_repr(order)}."
        )
    given = [str(label) for label in order]
    twice = next((text for place, text in enumerate(given) if text in given[:place]), None)
    if twice is not None:
        raise ValueError(f"class_order has {twice!r} twice; name every class once.")
    texts = [str(label) for label in labels]
    for label, text in zip(labels, texts, strict=True):
        if text not in given:
            raise ValueError(
                f"class_order lacks {label!r}, a class of {target!r}; add it in its place."
            )
    return [texts.index(text) for text in given if text in texts]


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


def _warn_of_silence(ruleset: RuleSet, parameters: Mapping[str, Any]) -> None:
    """Warn about classes without a rule, and about more rules than `max_rules`.

    Rules that vote may do without a rule for some classes.
    """
    votes, n_classes = ruleset.semantics.name not in CLASS_RULES, len(ruleset.classes)
    most = parameters.get("max_rules")
    if isinstance(most, Integral) and most < min(n_classes, len(ruleset)) and not votes:
        warnings.warn(
            f"max_rules is {most}, but there is at least one rule for each of the "
            f"{n_classes} classes.",
            UserWarning,
            stacklevel=4,
        )
    if votes and (len(ruleset) or n_classes < 2):
        return
    heard = {rule.consequent for rule in ruleset}
    silent = [c for c, label in enumerate(ruleset.classes) if label not in heard]
    if not silent:
        return
    if votes:
        reason = "no condition tells them apart well enough to be worth a rule"
    elif n_classes == 1:
        reason = "all rows have this class, so that there is nothing to tell apart"
    else:
        rows, all_rows = sum(ruleset.class_counts[c] for c in silent), sum(ruleset.class_counts)
        too_few = "is too little" if rows == 1 else "are too few"
        alike = f"{too_few}, or too much like rows of other classes, to make one"
        reason = f"{rows:g} of {all_rows:g} rows {alike}"
    limits = [
        f"{name}={parameters[name]}"
        for name, default in LIMITS.items()
        if parameters.get(name, default) != default
    ]
    within = f" with {' and '.join(limits)}" if limits else ""
    names = join_names(repr(ruleset.classes[c]) for c in silent)
    message = f"There is no rule for {names}: {reason}{within}."
    warnings.warn(message, UserWarning, stacklevel=4)


def scaled_rule(rule: Rule, factor: float) -> Rule:
    """Return a rule whose votes are multiplied, and rounded as at the end of a fit."""
    if rule.votes is None:
        return replace(rule, weight=float(snap(factor * rule.weight)))
    return replace(rule, votes=tuple(snap(factor * np.array(rule.votes)).tolist()))


def _now() -> str:
    """Return the time in UTC, to the second; SOURCE_DATE_EPOCH sets it for reproducible files."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.now(UTC) if given is None else datetime.fromtimestamp(int(given), UTC)
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"SOURCE_DATE_EPOCH must be a moderate number of seconds since 1970, got {given!r}."
        ) from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _plain(value: Any) -> Any:
    """Return a parameter as JSON values; what has no such form is described."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist() if value.size <= MOST_VALUES else f"array of shape {value.shape}"
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)] if len(value) <= MOST_VALUES else f"{len(value)} values"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if isfinite(value) else str(value)
    shown = value if isinstance(value, str) else type(value).__name__
    return shown.encode(errors="backslashreplace").decode()

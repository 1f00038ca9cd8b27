"""Bases of the classifiers, for classes with an order or without."""

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets

from frri._reproducible import snap
from frri._util import Floats, Positions, join_names, short_repr
from frri.learners import training_table as tables
from frri.learners.base import RuleLearner
from frri.learners.calibration import Calibration, calibration_of
from frri.learners.training_table import TrainingTable
from frri.learners.validation import check_boolean
from frri.rules import Label, Rule, RuleSet
from frri.rules.rule import label_array
from frri.rules.ruleset import decision_costs
from frri.rules.semantics import CLASS_RULES
from frri.table import EncodedTable
from frri.table.checks import warn_about_columns
from frri.table.columns import ordered_categories
from frri.table.targets import check_classes, check_labels, warn_about_numbers

# Parameters that leave rules out.
LIMITS = {"max_rules": None, "max_conditions": None, "min_support": 0.0, "min_new_coverage": 0.0}


class AnyRuleClassifier(ClassifierMixin, RuleLearner):  # type: ignore[misc]
    """Base of the classifiers, for classes with an order or without."""

    # Weights of classes: a parameter of some estimators.
    class_weight: Any = None
    # Whether they multiply the sample weights; otherwise the estimator uses them in another way.
    _class_weight_of_objects = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rules from a table and its class labels.

        Calibration and the choice of a size may need further fits: see the class description.

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
    _part_parameters: ClassVar[dict[str, Any]] = {}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_boolean("calibrate", self.calibrate)

    def _training_table(
        self, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None
    ) -> TrainingTable:
        table = super()._training_table(X, y, sample_weight, class_weight)
        decision_costs(self.decision, table.labels, table.class_counts)  # an error comes early
        return table

    def _for_part(self, rows: Positions, labels: Collection[Label]) -> Self:  # noqa: ARG002
        """Return an unfitted copy for some of the samples and classes."""
        size = {} if self.path_ is None else {"max_rules": self.path_.chosen}
        one: Self = clone(self).set_params(verbose=0, **size, **self._part_parameters)
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

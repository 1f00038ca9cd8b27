"""FRRI for regression: rules keep away from samples the more, the less their targets agree."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from frri import induction
from frri._reproducible import product, snap, solve, total
from frri._util import Floats, Ints
from frri.cover import CoverMatrix
from frri.induction import ConditionType, Graded
from frri.learners.frri.classifier import NotEnoughMemoryError, free_memory, show_bytes
from frri.learners.frri.pipeline import Candidates, FRRILearner, attribute_orders, initial_types
from frri.learners.regression import RuleRegressor, standardised
from frri.learners.training_table import TrainingTable, scaled_values
from frri.learners.validation import check_range
from frri.rules import RuleSet
from frri.rules.contributions import compute_mean_fractions

# Penalty of a squared consequent, in standard deviations of the target.
PENALTY = 1.0

# Range of `tau`, in standard deviations.
LEAST_TAU, MOST_TAU = 1e-6, 1e6


@dataclass(kw_only=True, eq=False, repr=False)
class FRRIRegressor(FRRILearner, RuleRegressor):
    """Fuzzy-rough rule induction for regression, with a proven minimum number of rules.

    Every training sample starts as a rule "similar to this sample in every feature, so its target
    is similar". The target of another sample agrees to the degree D = max(0, 1 - |dy| / tau): fully
    if it is the same, not at all from `tau` standard deviations on. The confidence c of the rule is
    the minimum of distance + D over all samples, so that it covers (to the degree c - distance)
    only samples that agree with it at least as much. Sides of its box are dropped as long as that
    holds, and a minimum-size set of rules that covers every sample is selected, proven optimal; of
    several such sets, the one that covers most. If D is 1 or 0, this is `FRRIClassifier`.

    The prediction is the mean of the consequents of the rules that cover a sample, weighted by
    their degrees, or the consequent of the nearest rule. Ridge regression fits the consequents.

    Features and missing values are treated as by `FRRIClassifier`; see there for references. All
    pairs of samples are compared in every feature: time and memory grow quadratically with the
    samples, time linearly with the features, which suits thousands of samples. `fit` fits once.
    Only ``attribute_order="random"`` and `calibration_fraction` (fixed seed) are random.

    Parameters
    ----------
    tau : float, default=1.5
        Difference from which targets do not agree at all, in standard deviations. A smaller one
        means more rules, each of which is about fewer samples.
    attribute_order : {"given", "random"} or array-like of int, default="given"
        Order in which features are dropped from a rule: see `FRRIClassifier`.
    conditions, missing, max_conditions
        See `FRRIClassifier`.
    max_rules : int, optional
        Maximum number of rules: those that cover the most samples, proven optimal.
    min_support : float, default=0.0
        Fraction of all samples that a rule must cover.
    {calibration_fraction}
    work_limit, time_limit, random_state
        See `FRRIClassifier`.
    {n_jobs, verbose}

    Attributes
    ----------
    ruleset_ : RuleSet
        Selected rules with the semantics "weighted-mean", in the order of the targets of the
        samples that they come from.
    confidence_, selected_
        As in `FRRIClassifier`.
    uncovered_ : ndarray of int
        Samples that no selected rule covers: another one has (nearly) the same values and a target
        that does not agree at all, or a limit on the rules leaves them out.
    selection_ : Bunch
        Certificate, as in `FRRIClassifier`, with `breadth_status` in the place of
        `conditions_status`: whether no others as few cover more.
    {n_features_in_, feature_names_in_}

    See Also
    --------
    frri.AdditiveRulesRegressor : Fewer rules that are more accurate, but have to be added up.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> reg = FRRIRegressor(calibration_fraction=0.25).fit(X[["bmi", "bp", "s5"]], y)
    >>> reg.selection_.status, len(reg.ruleset_) < 20
    ('optimal', True)
    >>> reg.score(X[["bmi", "bp", "s5"]], y) > 0.3
    True
    >>> low, high = reg.predict_interval(X.loc[:0, ["bmi", "bp", "s5"]], level=0.9)[0]
    >>> bool(low < y[0] < high)
    True
    """

    _algorithm = "FRRI for numbers"

    confidence_: Floats = field(init=False)

    tau: float = 1.5
    conditions: Any = None
    calibration_fraction: float = 0.0

    def _learn(self, table: TrainingTable) -> None:
        check_pairs(len(table.values))
        super()._learn(table)

    def _candidates(self, table: TrainingTable) -> Candidates:
        order = attribute_orders(self.attribute_order, table.values.shape, self.random_state)
        initial = initial_types(self.conditions, table.attributes)
        values, nominal = scaled_values(table)
        scaled = standardised(table.numbers, table.all_weights)[2]
        decisions = Graded(scaled, float(self.tau))
        found = induction.induce(
            values, decisions, order, initial=initial, rigid=nominal, n_jobs=self.n_jobs
        )
        self.confidence_ = found.confidence
        # Of rules with equal conditions and confidence the first one is kept, in an order that does
        # not depend on that of the samples.
        centers = np.where(found.types != ConditionType.UNUSED, values, 0.0)
        rules = np.column_stack([found.confidence, found.types, centers])
        kept = np.unique(rules, axis=0, return_index=True)[1].astype(np.int64)
        boxes = kept, found.types[kept], found.confidence[kept], found.covers.take(kept)
        one_group = np.zeros(len(kept), dtype=np.int64), np.array([len(values)])
        return Candidates(*boxes, found.positions[None], *one_group, found.seconds)

    def _costs(self, found: Candidates, covers: CoverMatrix) -> Ints:  # noqa: ARG002
        """Return the number of samples left out: of the fewest rules, those that cover most."""
        return covers.n_objects - covers.sizes()

    def _package(
        self,
        table: TrainingTable,
        found: Candidates,
        selected: Ints,
        covers: CoverMatrix,  # noqa: ARG002
    ) -> None:
        if "conditions_status" in self.selection_:
            self.selection_.breadth_status = self.selection_.pop("conditions_status")
        middle, unit, scaled = standardised(table.numbers, table.all_weights)
        anchors = found.anchors[selected]
        order = np.lexsort((anchors, scaled[anchors]))
        self.selected_, chosen = anchors[order], selected[order]

        def package(numbers: Floats, base: float, about: dict[str, Any]) -> RuleSet:
            rules = found.rules(table, chosen, numbers.tolist())
            meaning: dict[str, Any] = {"semantics": "weighted-mean", "base": (float(base),)}
            return self._build_ruleset(table, rules, about=about, **meaning)

        drawn = package(scaled[self.selected_], 0.0, {})
        fractions = compute_mean_fractions(drawn, table.values)
        # Ridge regression: the consequents whose weighted means come nearest to the target.
        heavy, penalty = fractions * table.all_weights[:, None], PENALTY * np.eye(len(chosen))
        squares = product(heavy.T, fractions) + penalty
        numbers = snap(solve(squares, total(heavy.T * scaled)))
        about = self._about(table) | {"selection": self._certificate()}
        self.ruleset_ = package(middle + unit * numbers, middle, about)

    def _check_parameters(self) -> None:
        allowed = f"a number of standard deviations from {LEAST_TAU:g} to {MOST_TAU:g}"
        check_range("tau", self.tau, LEAST_TAU, MOST_TAU, allowed)
        super()._check_parameters()

    def _reason_uncovered(self, table: TrainingTable) -> str:  # noqa: ARG002
        return (
            "are covered by no rule, because an object with the same or nearly the same values, as "
            "far as they are known and conditions on them allowed, has a number "
            f"{self.tau:g} standard deviations away or more"
        )


def check_pairs(n_samples: int) -> None:
    """Raise an error if two bits for every pair of samples take more memory than is free.

    Examples
    --------
    >>> check_pairs(1000)
    >>> check_pairs(100_000_000)
    Traceback (most recent call last):
        ...
    frri.learners.frri.classifier.NotEnoughMemoryError: FRRI for regression compares all pairs ...
    """
    needed, available = n_samples * n_samples // 4, free_memory()
    if available is not None and needed > available:
        raise NotEnoughMemoryError(
            f"FRRI for regression compares all pairs of samples, which takes about "
            f"{show_bytes(needed)} for {n_samples:,} samples, but there are only "
            f"{show_bytes(available)} free: fit a sample of the rows, or take "
            "AdditiveRulesRegressor."
        )

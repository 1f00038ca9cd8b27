"""FRRI for numbers: rules keep away from other rows the more, the less their numbers agree."""

import warnings
from numbers import Real
from time import perf_counter
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import Bunch

from frri import induction
from frri._util import Floats, Ints, Types, short_repr
from frri.cover import DEFAULT_EFFORT, CoverMatrix, multiple_cover
from frri.induction import ConditionType, Graded
from frri.learners.base_regressor import RuleRegressor, standardised
from frri.learners.boxes import box_rule, lengths_of, scaled_values
from frri.learners.frri.attribute_order import attribute_orders, initial_types
from frri.learners.frri.base import FRRILearner, first_rows
from frri.learners.frri.memory import check_pairs
from frri.learners.training import NumberTable
from frri.learners.validation import check_choice, check_count
from frri.rules import RuleSet
from frri.rules.contributions import compute_mean_fractions
from frri.table.checks import check_resolution

# Penalty of a squared consequent, in standard deviations of the target.
PENALTY = 1.0

# Standard deviations that are still a number of them.
LEAST_TAU, MOST_TAU = 1e-6, 1e6


class FRRIRegressor(FRRILearner, RuleRegressor):
    """Fuzzy-rough rule induction for numbers, with a provably minimal number of rules.

    Every training object starts as a rule "similar to this object in every attribute, so its number is
    like this object's". The number of another object agrees with it to the degree D = max(0, 1 - |dy| /
    tau): fully where it is the same, not at all where it is `tau` standard deviations away or more. The
    confidence c of the rule is the least of distance + D over all objects, so that it covers (to the degree
    c - distance) only objects that agree with it at least as much. Sides of its box are opened as long
    as that stays so, and the fewest rules are chosen that cover every object, with a proof; of the fewest,
    those that cover most, because their numbers come from more objects. With classes in the place of
    numbers, D is 1 or 0 and this is `FRRIClassifier`.

    The prediction is the mean of the numbers of the rules that cover an object, weighted by how far they
    do; where none does, it is the number of the nearest one. The numbers are fitted to all objects by ridge
    regression on these shares, or are those of the objects that the rules come from.

    Numbers, categories and missing values of attributes are treated as by `FRRIClassifier`. All pairs of
    objects are looked at, so that twice the rows take four times as long: this is for thousands of rows.

    Parameters
    ----------
    tau : float, default=1.5
        How many standard deviations apart numbers do not agree at all. A smaller one means more rules,
        each of which is about fewer objects.
    times_covered : int, default=1
        How many rules must cover each object, as far as so many do: more rules, whose mean is better.
    consequents : {"ridge", "own"}, default="ridge"
        Whether the numbers of the rules are fitted or those of their own objects.
    attribute_order : {"given", "random"} or array-like of int, default="given"
        The order in which a rule's conditions are opened: see `FRRIClassifier`.
    conditions : mapping, optional
        Which conditions a rule may set, by column: see `FRRIClassifier`.
    missing : {"typical", "similar", "error"}, default="typical"
        Whether missing values count as typical ones, are similar to everything, or are refused.
    max_rules : int, optional
        The most rules there may be: those that cover most objects, with a proof.
    max_conditions : int, optional
        The most conditions that a rule may have; others are no candidates.
    min_support : float, default=0.0
        The share of all objects that a rule must cover to be a candidate.
    calibration : float, default=0.0
        The share of the rows, drawn once and for all, that no rules are learned from: errors there make
        `predict_interval` hold its level.
    effort : int, default=DEFAULT_EFFORT
        How much work the exact selection may take: see `FRRIClassifier`.
    time_limit : float, optional
        A limit in seconds for learning the rules, on top.
    random_state : int, RandomState or None, default=None
        Decides the order with ``attribute_order="random"``; otherwise without influence.
    n_jobs : int, optional
        Threads for large tables and for prediction; all cores by default.
    verbose : int, default=0
        Whether each step of learning is told on standard error, with the seconds it takes.

    Attributes
    ----------
    ruleset_ : RuleSet
        The chosen rules, with the semantics "weighted-mean", in the order of the numbers of the objects
        that they come from.
    confidence_ : ndarray of shape (n_objects,)
        Confidence of the rule of every object.
    selected_ : ndarray of int
        The objects whose rules were chosen, in the order of the rules.
    uncovered_ : ndarray of int
        Objects that no chosen rule covers: another one has (nearly) the same values and a number that does
        not agree at all, or a limit on the rules leaves them out.
    selection_ : Bunch
        The certificate: `status` ("optimal" when what `claim` says is proved), `claim`, `n_rules`,
        `n_conditions`, `lower_bound`, `gap` and `breadth_status`, whether no others as few cover more (with
        `max_rules`: `n_covered`, `worth` and `bound`), `stopped_by`, `seconds` per step, and `solver`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the table had column names.

    See Also
    --------
    frri.AdditiveRulesRegressor : Fewer rules that are more accurate, but have to be added up.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> reg = FRRIRegressor(calibration=0.25).fit(X[["bmi", "bp", "s5"]], y)
    >>> reg.selection_.status, len(reg.ruleset_) < 20
    ('optimal', True)
    >>> reg.score(X[["bmi", "bp", "s5"]], y) > 0.3
    True
    >>> low, high = reg.predict_interval(X.loc[:0, ["bmi", "bp", "s5"]], level=0.9)[0]
    >>> bool(low < y[0] < high)
    True
    """

    confidence_: Floats
    selected_: Ints
    uncovered_: Ints

    def __init__(
        self,
        *,
        tau: float = 1.5,
        times_covered: int = 1,
        consequents: Literal["ridge", "own"] = "ridge",
        attribute_order: Any = "given",
        conditions: Any = None,
        missing: str = "typical",
        max_rules: int | None = None,
        max_conditions: int | None = None,
        min_support: float = 0.0,
        calibration: float = 0.0,
        effort: int = DEFAULT_EFFORT,
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.tau = tau
        self.times_covered = times_covered
        self.consequents = consequents
        self.attribute_order = attribute_order
        self.conditions = conditions
        self.missing = missing
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.calibration = calibration
        self.effort = effort
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Induce rules from a table and its numbers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_objects, n_attributes)
        y : array-like of shape (n_objects,)
        sample_weight : array-like of shape (n_objects,), optional
            How many objects each object counts for in the standard deviation of the numbers and in their
            fit; an object of weight 0 is not there. Whether it is covered does not depend on it.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._fit_numbers(X, y, sample_weight)
        self._warn_about_results()
        return self

    def _learn_numbers(self, table: NumberTable) -> None:
        start = perf_counter()
        check_resolution(table.attributes)
        check_pairs(len(table.values))
        order = attribute_orders(self.attribute_order, table.values.shape, self.random_state)
        initial = initial_types(self.conditions or {}, table.attributes)
        values, nominal = scaled_values(table)
        weights = table.all_weights
        middle, unit, scaled = standardised(table.numbers, weights)
        with self._step("candidate rules"):
            decisions = Graded(scaled, float(self.tau))
            found = induction.induce(
                values, decisions, order, initial=initial, rigid=nominal, n_jobs=self.n_jobs
            )
        lengths = lengths_of(found.types)
        left = self._time_left(perf_counter() - start)
        candidates = _different(values, found.confidence, found.types)
        everyone = np.full(len(values), len(values))
        covers = self._limits().allowed(found.covers, lengths, everyone).take(candidates)
        with self._step("the fewest of them"):
            chosen = candidates[self._select(covers, left)]
        self.confidence_, self._hopeless = found.confidence, ~found.covers.union()
        self.uncovered_ = np.flatnonzero(~found.covers.take(chosen).union())
        self.selection_.update(
            n_rules=len(chosen),
            n_conditions=int(lengths[chosen].sum()),
            seconds=found.seconds | {"selection": self.selection_.seconds},
        )

        self.selected_ = chosen[np.lexsort((chosen, scaled[chosen]))]
        numbers = scaled[self.selected_]
        if self.consequents == "ridge":
            shares = compute_mean_fractions(
                self._package(table, found.types, numbers, 0.0, {}), table.values
            )
            numbers = _ridge(shares, scaled, weights)
        self.ruleset_ = self._package(
            table,
            found.types,
            middle + unit * numbers,
            middle,
            self._about(table) | {"selection": self._certificate()},
        )

    def _select(self, covers: CoverMatrix, time_limit: float | None) -> Ints:
        """The candidates chosen, and in `selection_` what is proved about them.

        Of the fewest, those that cover most: a number fitted to many objects is a better one.
        """
        limits, times = self._limits(), int(self.times_covered)
        narrowness = covers.n_objects - covers.sizes()
        one_class = np.zeros(len(covers), dtype=np.intp)
        search: dict[str, Any] = {"effort": self.effort, "time_limit": time_limit}
        if times == 1:
            everyone = np.array([covers.n_objects])
            cover = limits.select(covers, narrowness, one_class, everyone, **search)
        else:
            cover = multiple_cover(covers, times, narrowness, **search)
        claim = limits.claim if times == 1 else f"the fewest that cover every object {times} times"
        known = limits.certificate(cover, covers.n_objects)
        if "conditions_status" in known:
            known["breadth_status"] = known.pop("conditions_status")
        self.selection_ = Bunch(**known, claim=claim, seconds=cover.seconds)
        return cover.selected

    def _package(
        self,
        table: NumberTable,
        types: Types,
        numbers: Floats,
        base: float,
        about: dict[str, Any],
    ) -> RuleSet:
        """The rules of the selected objects in the table's names and units."""
        rules = tuple(
            box_rule(table, u, types[u], self.confidence_[u], float(number))
            for u, number in zip(self.selected_.tolist(), numbers, strict=True)
        )
        return RuleSet(
            rules=rules,
            attributes=table.attributes,
            target=table.target,
            semantics="weighted-mean",
            base=(float(base),),
            about=about,
            **self._meaning(),
        )

    def _check_parameters(self) -> None:
        tau: Any = self.tau
        number = isinstance(tau, Real) and not isinstance(tau, bool)
        if not (number and LEAST_TAU <= tau <= MOST_TAU):
            raise ValueError(
                f"tau must be a number of standard deviations from {LEAST_TAU:g} to {MOST_TAU:g}, "
                f"got {short_repr(tau)}."
            )
        check_count("times_covered", self.times_covered, 1)
        check_choice("consequents", self.consequents, ("ridge", "own"))
        super()._check_parameters()
        if self.times_covered > 1 and self.max_rules is not None:
            raise ValueError("times_covered and max_rules contradict each other: give one of them.")

    def _warn_about_results(self) -> None:
        hopeless = np.flatnonzero(self._hopeless)
        if len(hopeless):
            warnings.warn(
                f"{len(hopeless)} of {len(self._hopeless)} objects are covered by no rule, because an object "
                "with the same or nearly the same values, as far as they are known and conditions on them "
                f"allowed, has a number {self.tau:g} standard deviations away or more: rows {first_rows(hopeless)}.",
                UserWarning,
                stacklevel=3,
            )
        self._warn_if_unproved()

    def _name(self) -> str:
        return "FRRI for numbers"


def _different(values: Floats, confidence: Floats, types: Types) -> Ints:
    """The objects of different candidates, in an order that does not depend on that of the objects.

    Of those with equal conditions and confidence the first one: the others would add nothing.
    """
    anchors = np.where(types != ConditionType.UNUSED, values, 0.0)
    rules = np.column_stack([confidence, types, anchors])
    return np.unique(rules, axis=0, return_index=True)[1].astype(np.int64)


def _ridge(shares: Floats, target: Floats, weights: Floats) -> Floats:
    """The numbers whose means by these shares come nearest to the target, drawn towards 0."""
    heavy = shares * weights[:, None]
    penalty = PENALTY * np.eye(shares.shape[1])
    return np.asarray(np.linalg.solve(heavy.T @ shares + penalty, heavy.T @ target))

"""The steps of FRRI that all its estimators share: candidate rules, selection, certificate.

Every sample becomes a candidate rule that keeps away from samples with another decision. Estimators
differ in the decision: classes, numbers that agree by degrees, or the side of every class in an
order.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import fsum, inf, log
from numbers import Integral
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from frri._util import Flags, Floats, Ints, Positions, Types, did_you_mean, join_names, short_repr
from frri.cover import DEFAULT_WORK_LIMIT, Cover, CoverMatrix, minimum_cover
from frri.cover.memory_bounded import Preselection, join_covers
from frri.cover.milp_cover import PartialCover, partial_cover
from frri.induction import CandidateRules, ConditionType, minimal_rules
from frri.learners import validation
from frri.learners.base import RuleLearner
from frri.learners.rule_limits import check_limits
from frri.learners.training_table import TrainingTable, box_rule
from frri.rules import Rule, RuleSet
from frri.table import Attribute
from frri.table.checks import check_resolution

# More steps than any search takes in a year.
LARGEST_WORK_LIMIT = 10**18

# More rules than this fraction of the samples, of that many at least, are too many.
MANY_RULES, ENOUGH_SAMPLES = 1 / 3, 50


class Candidates(NamedTuple):
    """Candidate rules and the samples that each of them covers."""

    anchors: Ints  # sample in the center of each rule
    types: Types  # rules x features: codes of `frri.induction.ConditionType`
    confidence: Floats
    covers: CoverMatrix
    positions: Ints  # decisions x samples: bit of each sample in `covers`
    groups: Ints  # class or union of each rule
    sizes: Ints  # samples of each group
    seconds: dict[str, float]  # per step
    # Candidates selected in advance where memory is short: `covers` is then of the other samples.
    preselected: Preselection | None = None

    @property
    def lengths(self) -> Ints:
        """Number of conditions of each candidate."""
        return np.asarray(np.count_nonzero(self.types, axis=1))

    def is_covered(self, covers: CoverMatrix) -> Flags:
        """Return which samples are covered for all decisions."""
        return np.asarray(covers.union()[self.positions].all(axis=0))

    def rules(
        self, table: Any, chosen: Ints, consequents: Iterable[Any], **known: Iterable[Any]
    ) -> Iterator[Rule]:
        """Yield some candidates as rules, with consequents and other properties of each."""
        for r, consequent, *properties in zip(chosen, consequents, *known.values(), strict=True):
            box = self.anchors[r], self.types[r], self.confidence[r]
            more = dict(zip(known, properties, strict=True))
            yield box_rule(table, *box, consequent, **more)


@dataclass(kw_only=True, eq=False, repr=False)
class FRRILearner(RuleLearner):
    """Base of the estimators that select the fewest of the rules around samples."""

    # Parameters of all of them.
    attribute_order: Any = "given"
    max_rules: int | None = None
    max_conditions: int | None = None
    min_support: float = 0.0
    work_limit: int = DEFAULT_WORK_LIMIT
    time_limit: float | None = None
    random_state: Any = None

    # A parameter of some.
    conditions: Any = field(init=False, default=None)

    selection_: Bunch = field(init=False)
    selected_: Ints = field(init=False)
    uncovered_: Ints = field(init=False)

    _algorithm = "FRRI"
    _missing_choices = ("typical", "similar", "error")
    # Set that fractions in limits refer to.
    _fractions_of = "class"
    # Whether other estimators need fewer rules, if there are many.
    _warns_of_many_rules = False
    # When `fit` was called.
    _began: float | None = field(init=False, default=None)

    def _learn(self, table: Any) -> None:
        """Find candidates, select the fewest and package them as rules."""
        check_resolution(table.attributes)
        with self._step("candidate rules"):
            found = self._candidates(table)
        selected, covers = self._select(found)
        self._package(table, found, selected, covers)
        self._warn_about_results(table)

    def _candidates(self, table: Any) -> Candidates:
        """Return the candidate rules of a table."""
        raise NotImplementedError

    def _package(self, table: Any, found: Candidates, selected: Ints, covers: CoverMatrix) -> None:
        """Set the fitted attributes from the selected candidates."""
        raise NotImplementedError

    def _reason_uncovered(self, table: Any) -> str:
        """Return why no rule covers some samples."""
        raise NotImplementedError

    def _select(self, found: Candidates, **known: Any) -> tuple[Ints, CoverMatrix]:
        """Return the selected candidates and what they cover; set the certificate."""
        limits = self._limits()
        left = self.time_limit
        if left is not None and self._began is not None:
            left = max(0.0, left - (perf_counter() - self._began))
        search = {"work_limit": self._work_limit(), "time_limit": left}
        covers = limits.allow(found)
        with self._step("the fewest of them"):
            costs = self._costs(found, covers)
            cover = self._search(limits, covers, costs, found.groups, found.sizes, search)
            if found.preselected is not None and isinstance(cover, Cover):
                cover = join_covers(found.preselected, cover, found.lengths)
        size = {
            "claim": limits.claim,
            "n_rules": len(cover.selected),
            "n_conditions": int(found.lengths[cover.selected].sum()),
            "seconds": found.seconds | {"selection": cover.seconds},
        }
        self.selection_ = Bunch(**limits.certificate(cover, int(found.sizes.sum())) | size | known)
        covers_of = found.preselected.source if found.preselected else found.covers.take
        covered = covers_of(cover.selected)
        self.uncovered_ = np.flatnonzero(~found.is_covered(covered))
        # If limits leave nothing out, the uncovered samples are those that no candidate covers.
        self._uncoverable = self.uncovered_
        if not limits.all_candidates:
            self._uncoverable = np.flatnonzero(~found.is_covered(found.covers))
        return cover.selected, covered

    def _costs(self, found: Candidates, covers: CoverMatrix) -> Ints:  # noqa: ARG002
        """Return the costs that decide between selections of equally many rules."""
        return found.lengths

    def _search(self, limits: "Limits", covers: Any, *known: Any) -> Cover | PartialCover:
        return limits.select(covers, *known)

    def _limits(self) -> "Limits":
        """Return the limits among the parameters."""
        known = {name: getattr(self, name) for name in Limits._fields[:-1] if hasattr(self, name)}
        return Limits(**known, of=self._fractions_of)

    def _work_limit(self) -> int:
        """Return the limit of work, under its name of 0.1 if that is used."""
        old: Any = getattr(self, "effort", "deprecated")
        limit: int = self.work_limit if old == "deprecated" else old
        return limit

    def _check_parameters(self) -> None:
        self._began = perf_counter()  # the first step of `fit`
        super()._check_parameters()
        if getattr(self, "effort", "deprecated") != "deprecated":
            message = "The parameter effort is now called work_limit and will be removed in 0.4."
            warnings.warn(message, FutureWarning, stacklevel=4)
            validation.check_count("effort", self._work_limit(), most=LARGEST_WORK_LIMIT)
        validation.check_count("work_limit", self._work_limit(), most=LARGEST_WORK_LIMIT)
        limit = 0.0 if self.time_limit is None else self.time_limit
        validation.check_range("time_limit", limit, 0, inf, "a number of seconds, 0 or more")
        validation.random_numbers(self.random_state)
        self._limits().check()
        if self.conditions is not None and not isinstance(self.conditions, Mapping):
            raise ValueError(
                "conditions must be a mapping from columns to 'any', 'at most', 'at least' or "
                f"'never', got {short_repr(self.conditions)}."
            )

    def _build_ruleset(
        self, table: TrainingTable, rules: Iterable[Rule], **meaning: Any
    ) -> RuleSet:
        """Return rules that read values as in training, clipped to the range of each feature."""
        missing = "typical" if self.missing == "typical" else "similar"
        return super()._build_ruleset(table, rules, clip=True, missing=missing, **meaning)

    def _certificate(self) -> dict[str, Any]:
        """Return the certificate for the model file, which does not depend on time."""
        return {key: value for key, value in self.selection_.items() if key != "seconds"}

    def _warn_about_results(self, table: Any) -> None:
        """Warn about a single class, uncoverable samples and limits that were reached."""
        if len(getattr(table, "labels", ())) == 1:
            self._warn(f"All samples have the class {table.labels[0]!r}: the only rule is empty.")
        if len(self._uncoverable):
            rows = join_names((str(row + 1) for row in self._uncoverable), 10)
            count = f"{len(self._uncoverable)} of {len(table.values)} samples"
            self._warn(f"{count} {self._reason_uncovered(table)}: rows {rows}.")
        n_rules, n_samples = self.selection_.n_rules, len(table.values)
        many = n_samples >= ENOUGH_SAMPLES and n_rules > MANY_RULES * n_samples
        if self._warns_of_many_rules and many:
            self._warn(
                f"{self._name()} needs {n_rules} rules for {n_samples} samples, because "
                "classes overlap; CompactFRRIClassifier, RIPPERClassifier or "
                "AdditiveRulesClassifier needs fewer and may predict better."
            )
        if self.selection_.status != "optimal" and self.selection_.stopped_by != "gap":
            self._warn(describe_unproved(self.selection_))

    def _warn(self, message: str) -> None:
        warnings.warn(message, UserWarning, stacklevel=5)


# --- Candidates
def class_candidates(found: CandidateRules, classes: Positions) -> Candidates:
    """Return the rule of every sample for its class."""
    boxes = np.arange(len(classes)), found.types, found.confidence, found.covers
    groups = classes, np.bincount(classes)
    return Candidates(*boxes, found.positions[None], *groups, found.seconds, found.preselected)


# --- Limits on the selected rules
# Rounding error of a fraction of a class.
ROUNDING = 1e-9


class Limits(NamedTuple):
    """Limits on the selected rules; without any, the fewest rules that cover all samples.

    All but the last are parameters of the estimators; `of` names the set that fractions refer to.
    """

    min_new_coverage: float = 0.0
    coverage: float = 1.0
    max_rules: int | None = None
    max_conditions: int | None = None
    min_support: float = 0.0
    optimality_gap: float = 0.0
    of: str = "class"

    @property
    def is_complete(self) -> bool:
        """Whether every sample that can be covered must be."""
        return self.max_rules is None and self.min_new_coverage <= 0 and self.coverage >= 1

    @property
    def all_candidates(self) -> bool:
        """Whether all samples are to be covered, by any candidates."""
        return self.is_complete and self.max_conditions is None and self.min_support <= 0

    @property
    def claim(self) -> str:
        """Statement that an optimal selection proves.

        Examples
        --------
        >>> Limits().claim, Limits(coverage=0.9).claim
        ('the fewest', 'the fewest that cover 90% of each class')
        """
        if self.is_complete:
            return "the fewest"
        if self.coverage < 1:
            return f"the fewest that cover {self.coverage:.0%} of each {self.of}"
        if self.min_new_coverage > 0:
            return (
                f"the best of which each newly covers {self.min_new_coverage:.0%} of its {self.of}"
            )
        return "those that cover most"

    def check(self) -> None:
        """Raise an error for limits that are invalid, alone or together."""
        check_limits(self.max_rules, self.max_conditions, self.min_support)
        validation.check_share("min_new_coverage", self.min_new_coverage)
        validation.check_share("coverage", self.coverage)
        if self.coverage < 1 and (self.max_rules is not None or self.min_new_coverage > 0):
            other = "min_new_coverage" if self.max_rules is None else "max_rules"
            raise ValueError(f"coverage and {other} contradict each other: give one of them.")

    def allow(self, found: Candidates) -> CoverMatrix:
        """Return the covers of the candidates; those too long or too narrow cover nothing."""
        if self.max_conditions is None and self.min_support <= 0:
            return found.covers
        least = self.min_support * found.sizes[found.groups]
        kept = found.covers.sizes() >= least - ROUNDING
        if self.max_conditions is not None:
            kept &= found.lengths <= self.max_conditions
        return found.covers.only(kept)

    def select(
        self, covers: CoverMatrix, costs: Ints, groups: Ints, sizes: Ints, search: dict[str, Any]
    ) -> Cover | PartialCover:
        """Select the fewest rules that cover everything, or the best ones under the limits.

        Candidates have a cost, which decides among equally many, and cover samples of one group.
        `search` are the limits of the search, on its work and its time.
        """
        if self.is_complete:
            return minimum_cover(covers, costs, optimality_gap=self.optimality_gap, **search)
        prices = np.ceil(self.min_new_coverage * sizes - ROUNDING)[groups]
        left_out = None
        if self.coverage < 1:
            coverable = [covers.only(groups == g).union().sum() for g in range(len(sizes))]
            left_out = np.maximum(coverable - np.ceil(self.coverage * sizes - ROUNDING), 0)
            prices = np.full(len(groups), sizes.sum() + 1)
        search |= {"at_most": self.max_rules, "left_out": left_out}
        return partial_cover(covers, prices, groups, costs=costs, **search)

    def certificate(self, cover: Cover | PartialCover, n_samples: int) -> dict[str, Any]:
        """Return what is proved about the selected rules."""
        known: dict[str, Any] = {"status": cover.status, "stopped_by": cover.stopped_by}
        if isinstance(cover, Cover):
            return known | {
                "lower_bound": cover.lower_bound,
                "gap": cover.gap,
                "conditions_status": cover.cost_status,
                "solver": cover.solver,
            }
        known |= {"n_covered": cover.n_covered, "solver": "highs"}
        if self.coverage >= 1:
            return known | {"worth": cover.worth, "bound": cover.bound}
        # The price of a rule is one more than the number of samples.
        n_rules = len(cover)
        bound = min(max(-(cover.bound // (n_samples + 1)), 0), n_rules)
        if bound == n_rules:
            known |= {"status": "optimal", "stopped_by": None}
        gap = (n_rules - bound) / n_rules if n_rules else 0.0
        return known | {"lower_bound": bound, "gap": gap}


STOPPED_BY = {
    "effort": "its limit of work; a larger `work_limit` may prove it",
    "time": "`time_limit`",
    "interrupt": "an interrupt",
    "gap": "`optimality_gap`",
    "memory": "the memory that candidates may take; a larger `memory_limit` may need fewer rules",
}


def describe_unproved(selection: Mapping[str, Any]) -> str:
    """Return two sentences about a selection that is not proven optimal."""
    known = "at least {lower_bound} are needed (gap {gap:.1%})."
    if "worth" in selection:
        known = "they are worth {worth}, at most {bound} is possible."
    return (
        f"The {selection['n_rules']} rules are the best found, not proven optimal: "
        f"{known.format(**selection)} "
        f"The search was stopped by {STOPPED_BY[selection['stopped_by']]}."
    )


# --- Orders of features
# Values of `conditions`, and the type from which a feature then starts.
RESTRICTIONS = {
    "any": ConditionType.SIMILAR,
    "at most": ConditionType.AT_MOST,
    "at least": ConditionType.AT_LEAST,
    "never": ConditionType.UNUSED,
}


def initial_types(conditions: Mapping[Any, Any] | None, attributes: Sequence[Attribute]) -> Types:
    """Return the initial type of each feature: SIMILAR unless a condition restricts it."""
    positions = {attribute.name: j for j, attribute in enumerate(attributes)}
    initial = np.full(len(attributes), ConditionType.SIMILAR, dtype=np.int8)
    for key, restriction in (conditions or {}).items():
        j = _position(key, positions)
        place = f"conditions[{short_repr(key)}]"
        if not isinstance(restriction, str) or restriction not in RESTRICTIONS:
            raise ValueError(
                f"{place} must be 'any', 'at most', 'at least' or 'never', "
                f"got {short_repr(restriction)}."
            )
        if attributes[j].kind == "nominal" and restriction in {"at most", "at least"}:
            raise ValueError(
                f"{place} must be 'any' or 'never', got {restriction!r}: "
                "the categories of this column have no order."
            )
        initial[j] = RESTRICTIONS[restriction]
    return initial


def _position(key: Any, positions: Mapping[str, int]) -> int:
    """Return the column that a key of `conditions` names."""
    if str(key) in positions:
        return positions[str(key)]
    if isinstance(key, Integral) and str(key).isdecimal() and int(key) < len(positions):
        return int(key)
    raise ValueError(
        f"conditions names {short_repr(key)}, but the table has no such column; "
        f"{did_you_mean(short_repr(key), positions)}"
    )


# Named orders: all estimators have the first two, classifiers the others.
PLAIN_ORDERS = ("given", "random")
NAMED_ORDERS = (*PLAIN_ORDERS, "mutual-information", "shortest")

# Bins of equal size that numbers are cut into for their mutual information.
N_BINS = 10


def attribute_orders(
    order: Any, shape: tuple[int, ...], random_state: Any, names: Sequence[str] = PLAIN_ORDERS
) -> Positions:
    """Return the permutation, or one per sample, of a parameter."""
    if not isinstance(order, str):
        return _given_orders(order, shape)
    validation.check_choice("attribute_order", order, names, ", a permutation or one per object")
    if order == "random":
        return np.asarray(validation.random_numbers(random_state).permutation(shape[1]))
    return np.arange(shape[1])


def class_orders(
    order: Any, table: TrainingTable, values: Floats, random_state: Any, **declared: Any
) -> Positions | Callable[[Floats], Types]:
    """Return the order for classes, which may rank features, or a search for the shortest rules.

    The first feature is dropped first: the least informative about the classes. Values are scaled;
    `declared` are the types that features start from and which of them are rigid.
    """
    if not isinstance(order, str) or order not in NAMED_ORDERS[len(PLAIN_ORDERS) :]:
        return attribute_orders(order, values.shape, random_state, NAMED_ORDERS)
    if order == "shortest":
        return partial(minimal_rules.shortest, values, table.classes, **declared)
    # Equal rows count once, so that a sample of weight 2 is the same as two samples.
    once, *_ = table.equal_rows
    information = [
        mutual_information(column, table.classes[once], nominal=attribute.kind == "nominal")
        for column, attribute in zip(values[once].T, table.attributes, strict=True)
    ]
    return np.argsort(information, kind="stable")


def mutual_information(column: Floats, classes: Positions, *, nominal: bool = False) -> float:
    """Return the mutual information of a feature and the classes, in nats.

    Numbers are cut into ten bins by the number of smaller values, so that equal values stay
    together; missing values are one more bin.

    Examples
    --------
    >>> mutual_information(np.array([0.1, 0.2, 0.8, 0.9]), np.array([0, 0, 1, 1]))
    0.6931...
    >>> mutual_information(np.array([0.1, 0.2, 0.1, 0.2]), np.array([0, 0, 1, 1]))
    0.0
    """
    known = ~np.isnan(column)
    bins = np.full(len(column), -1, dtype=np.int64)
    smaller = np.searchsorted(np.sort(column[known]), column[known])
    bins[known] = column[known] if nominal else N_BINS * smaller // max(known.sum(), 1)
    _, codes = np.unique(bins, return_inverse=True)
    n_classes = int(classes.max()) + 1
    counts = np.bincount(codes * n_classes + classes).tolist()
    of_bin, of_class = np.bincount(codes).tolist(), np.bincount(classes).tolist()
    n = len(column)
    # Added exactly, so that the order of the bins does not matter.
    return fsum(
        k / n * log(k * n / (of_bin[i // n_classes] * of_class[i % n_classes]))
        for i, k in enumerate(counts)
        if k
    )


def _given_orders(order: Any, shape: tuple[int, ...]) -> Positions:
    """Check a permutation, or one for each sample."""
    n_samples, n_features = shape
    try:
        array = np.asarray(order)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.shape not in {(n_features,), (n_samples, n_features)}:
        raise ValueError(
            f"attribute_order must have shape ({n_features},) or ({n_samples}, {n_features}), "
            f"got {short_repr(array.shape)}."
        )
    rows, is_integer = np.atleast_2d(array), array.dtype.kind in "iu"
    valid = is_integer and (np.sort(rows, axis=1) == np.arange(n_features)).all(axis=1)
    if not np.all(valid):
        raise ValueError(
            f"attribute_order must be a permutation of 0 to {n_features - 1}, "
            f"got {short_repr(rows[np.argmin(valid)].tolist())}."
        )
    return array.astype(np.intp)

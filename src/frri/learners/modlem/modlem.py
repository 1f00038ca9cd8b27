"""MODLEM: crisp rules from rough approximations of the classes (Stefanowski 1998)."""

from __future__ import annotations

from math import inf, isinf, nextafter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from frri.learners.modlem.bins import BinnedTable
from frri.learners.modlem.covering import induce
from frri.learners.rule_limits import LimitedRuleClassifier
from frri.learners.training_table import Weights, sums_by_key
from frri.learners.validation import check_choice
from frri.rules import NominalCondition, NumericCondition, Rule, RuleSet
from frri.rules.rule import LONGEST_PARTIAL
from frri.rules.rule_statistics import statistics_from_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frri._util import Flags, Floats, Ints, Positions
    from frri.learners.modlem.bins import BinRange
    from frri.learners.modlem.covering import BinnedRule
    from frri.learners.training_table import TrainingTable
    from frri.rules import Condition, RuleStatistics

# Number of samples that the prior of a class counts for in the m-estimate.
PRIOR_SAMPLES = 3.0


class MODLEMClassifier(LimitedRuleClassifier):
    """MODLEM, crisp rules that cover rough approximations of the classes.

    Samples with the same values but of different classes make a class a rough set. Each class is
    approximated and then covered rule by rule: a rule starts empty and gains the test that is best
    for the samples at hand until it covers samples of the class only. Tests that the others make
    redundant are dropped, then rules whose samples are all covered by others. Numeric features
    are cut halfway between neighboring values where the class changes (`a < cut`, `a >= cut`; both
    sides make one condition `[low, high)`), nominal ones (columns of text in a data frame) are
    tested for one value; on nominal tables this is the covering of LEM2. A test of a missing value
    fails.

    A sample is given the class of the matching rule with the highest m-estimate. If no rule
    matches, every rule counts with the m-estimate of the part of its conditions that the sample
    satisfies.

    A sample of weight 3 counts as three equal ones; fractions are allowed.

    Parameters
    ----------
    criterion : {"laplace", "entropy"}, default="laplace"
        Score of a test: the Laplace estimate of the class among the samples that
        satisfy it (many short rules), or the entropy of the class after dividing the samples by it
        (fewer, longer rules).
    approximation : {"lower", "upper", "none"}, default="lower"
        Samples that the rules of a class have to cover: those that certainly belong to it (no
        sample of another class has the same values), those that possibly belong to it (a sample of
        the class has the same values), or simply its samples.
    {max_rules}
    {max_conditions}
    {min_support}
    {missing}
    {calibrate}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        The rules, class by class. A rule's weight is its m-estimate `(p + 3 q) / (t + 3)` for p of
        t covered samples in the approximation of its class, which makes up a fraction q of all
        samples. With sample weights these are weights, as are its statistics and the sizes of the
        classes.
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    J. Stefanowski, "The rough set based rule induction technique for classification problems",
    Proceedings of EUFIT, 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> modlem = MODLEMClassifier().fit(X, y)
    >>> print(str(modlem.ruleset_)[:43])
    IF petal length (cm) < 2.45 THEN target = 0
    >>> modlem.predict(X[:2])
    array([0, 0])
    """

    def __init__(
        self,
        *,
        criterion: Literal["laplace", "entropy"] = "laplace",
        approximation: Literal["lower", "upper", "none"] = "lower",
        max_rules: int | None = None,
        max_conditions: int | None = None,
        min_support: float = 0.0,
        missing: str = "typical",
        calibrate: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.approximation = approximation
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.missing = missing
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, table: TrainingTable) -> None:
        weights = Weights.of(table.all_weights)
        binned = BinnedTable.of(table.values, table.classes, table.attributes)
        targets = approximations(binned.ranks, table.classes, len(table.labels), self.approximation)
        with self._step("rules that cover the classes"):
            found = induce(
                binned,
                targets,
                weights,
                entropy=self.criterion == "entropy",
                most=self.max_conditions,
            )
        sizes = sums_by_key(table.classes, weights.units, len(table.labels))
        class_counts = weights.worth(sizes).astype(float)

        def made(some: Sequence[BinnedRule]) -> RuleSet:
            statistics = _statistics(some, binned, table.classes, weights, class_counts)
            estimates = (_m_estimates(rule, binned, targets[rule.own], weights) for rule in some)
            rules = (
                _rule(table, binned, *known)
                for known in zip(some, statistics, estimates, strict=True)
            )
            meaning: dict[str, Any] = {"combination": "best", "fallback": "partial"}
            return self._made(table, rules, class_counts=tuple(class_counts.tolist()), **meaning)

        self.ruleset_ = self._within_limits(found, made, table)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("criterion", self.criterion, ("laplace", "entropy"))
        check_choice("approximation", self.approximation, ("lower", "upper", "none"))


def _rule(
    table: TrainingTable,
    binned: BinnedTable,
    rule: BinnedRule,
    statistics: RuleStatistics,
    estimates: tuple[float, ...],
) -> Rule:
    """Return a rule with what is known about it, in the names and units of the table."""
    return Rule(
        tuple(_condition(table, binned, condition) for condition in rule.conditions),
        table.labels[rule.own],
        estimates[-1],
        statistics=statistics,
        partial_weights=estimates if len(estimates) == 1 << len(rule.conditions) else (),
    )


def _condition(table: TrainingTable, binned: BinnedTable, condition: BinRange) -> Condition:
    j, first, _ = condition
    attribute = table.attributes[j]
    if attribute.kind == "nominal":
        category = (attribute.categories or ())[first - int(binned.first[j])]
        return NominalCondition(attribute.name, frozenset({category}))
    low, high = binned.interval(condition)
    core_high = high if isinf(high) else nextafter(high, -inf)
    return NumericCondition(attribute.name, low, low, core_high, high)


def _statistics(
    rules: Sequence[BinnedRule],
    binned: BinnedTable,
    classes: Positions,
    weights: Weights,
    class_counts: Floats,
) -> tuple[RuleStatistics, ...]:
    """Return the statistics of rules, by the samples that each of them covers."""
    units = weights.units
    times = np.zeros(len(units), dtype=np.int64)
    for rule in rules:
        times += binned.covered(rule.conditions)
    support = np.zeros((len(rules), len(class_counts)), dtype=np.int64)
    alone = np.zeros(len(rules), dtype=np.int64)
    for r, rule in enumerate(rules):
        rows = np.flatnonzero(binned.covered(rule.conditions))
        support[r] = sums_by_key(classes[rows], units[rows], len(class_counts))
        alone[r] = units[rows[times[rows] == 1]].sum()
    own = np.array([rule.own for rule in rules], dtype=np.intp)
    return statistics_from_counts(own, weights.worth(support), weights.worth(alone), class_counts)


def _m_estimates(
    rule: BinnedRule, binned: BinnedTable, positive: Flags, weights: Weights
) -> tuple[float, ...]:
    """Return the m-estimates of all subsets of a rule's conditions; of a long rule the whole only.

    The subsets are numbered by their bits, of which bit i stands for condition i.
    """
    units = weights.units
    parts: list[tuple[BinRange, ...]] = [(condition,) for condition in rule.conditions]
    if len(parts) > LONGEST_PARTIAL:
        parts = [rule.conditions]
    satisfied = np.zeros(len(units), dtype=np.int64)
    for bit, part in enumerate(parts):
        satisfied |= binned.covered(part).astype(np.int64) << bit
    counts = [sums_by_key(satisfied, own, 1 << len(parts)) for own in (units * positive, units)]
    for bit in range(len(parts)):
        # A sample that satisfies more than a subset satisfies the subset.
        for count in counts:
            halves = count.reshape(-1, 2, 1 << bit)
            halves[:, 0] += halves[:, 1]
    p, t = (weights.worth(count) for count in counts)
    prior = (positive * units).sum() / units.sum()
    estimates = (p + PRIOR_SAMPLES * prior) / (t + PRIOR_SAMPLES)
    return (
        tuple(estimates.tolist()) if len(parts) == len(rule.conditions) else (estimates[1].item(),)
    )


def approximations(ranks: Ints, classes: Positions, n_classes: int, kind: str) -> Flags:
    """Return which samples belong to the approximation of which class: n_classes x n_samples.

    Parameters
    ----------
    ranks : array of shape (n_features, n_samples)
        Distinct values of each feature, numbered from 0.
    classes : array of shape (n_samples,)
    n_classes : int
    kind : {"lower", "upper", "none"}

    Examples
    --------
    >>> ranks, classes = np.array([[0, 0, 1]]), np.array([0, 1, 1])
    >>> approximations(ranks, classes, 2, "lower")
    array([[False, False, False],
           [False, False,  True]])
    >>> approximations(ranks, classes, 2, "upper")
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    members: Flags = classes == np.arange(n_classes)[:, None]
    if kind == "none":
        return members
    block, n_blocks = _blocks(ranks)
    if n_blocks == len(classes):
        return members
    present = np.array([np.bincount(block[own], minlength=n_blocks) > 0 for own in members])
    if kind == "upper":
        return np.asarray(present[:, block])
    return np.asarray(members & (present.sum(axis=0) == 1)[block])


def _blocks(ranks: Ints) -> tuple[Ints, int]:
    """Assign the same number to samples with the same ranks in all features."""
    n_samples = ranks.shape[1]
    block, n_blocks = np.zeros(n_samples, dtype=np.int64), 1
    for rank, n_ranks in zip(ranks, (ranks.max(axis=1) + 1).tolist(), strict=True):
        if n_blocks * n_ranks > 2**62:
            block, n_blocks = _numbered(block)
            if n_blocks == n_samples:
                return block, n_blocks
        block, n_blocks = block * n_ranks + rank, n_blocks * n_ranks
    return _numbered(block)


def _numbered(block: Ints) -> tuple[Ints, int]:
    different, numbers = np.unique(block, return_inverse=True)
    return numbers, len(different)

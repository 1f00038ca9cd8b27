"""MODLEM: crisp rules from rough approximations of the classes (Stefanowski 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf, nextafter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from frri.learners.rule_limits import LimitedRuleClassifier
from frri.learners.training_table import Weights, sums_by_key
from frri.learners.validation import check_choice
from frri.rules import NominalCondition, NumericCondition, Rule, RuleSet
from frri.rules.rule import LONGEST_PARTIAL
from frri.rules.rule_statistics import statistics_from_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from frri._util import Flags, Floats, Ints, Positions
    from frri.learners.training_table import TrainingTable
    from frri.rules import Condition, RuleStatistics
    from frri.table import Attribute

    # A feature, the first bin that satisfies the condition, and the end of these bins.
    BinRange = tuple[int, int, int]


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


# Entropies (times the number of samples) that differ by fewer bits are equal: the rest is rounding.
# With weights other than moderate integers, bits of a mean sample.
GRAIN = 2.0**-20
# Number of samples up to which their logarithms are looked up in a table.
LARGEST_TABLE = 1 << 24
# Below this fraction of the bins, the bins of some values are found by sorting instead of counting.
SPARSE = 1 / 8


class BinnedRule(NamedTuple):
    """A class, and the conditions of a rule for it, one for each feature that it uses."""

    own: int
    conditions: tuple[BinRange, ...]


def induce(
    table: BinnedTable, targets: Flags, weights: Weights, *, entropy: bool, most: int | None = None
) -> list[BinnedRule]:
    """Find rules class by class in order of creation, without redundant tests and rules.

    Parameters
    ----------
    table : BinnedTable
    targets : ndarray of bool, shape (n_classes, n_samples)
        Samples to cover with the rules of each class; all others are negative.
    weights : Weights
    entropy : bool
        If True, tests are chosen by conditional entropy, otherwise by the Laplace estimate.
    most : int, optional
        Maximum number of tests of a rule; it may then cover negative samples.
    """
    search = SplitSearch(table, weights, len(targets), entropy=entropy)
    return [
        BinnedRule(c, conditions)
        for c, positive in enumerate(targets)
        for conditions in _rules_of_class(search, positive, np.inf if most is None else most)
    ]


def _rules_of_class(
    search: SplitSearch, positive: Flags, most: float
) -> list[tuple[BinRange, ...]]:
    """Cover the positive samples rule by rule, and drop the rules that others make redundant."""
    table, negative = search.table, np.flatnonzero(~positive)
    left = positive.copy()
    counts = search.count_all(positive)
    rules: list[tuple[BinRange, ...]] = []
    covers: list[Positions] = []
    while left.any():
        tests = _grow(search, left, positive, counts, most)
        rule = _merged(_without_redundant(table, tests, negative))
        if not rule:
            break
        rules.append(rule)
        covered = table.covered(rule)
        covers.append(np.flatnonzero(covered & positive))
        new = np.flatnonzero(covered & left)
        search.remove(counts, new)
        left[new] = False
    times = np.zeros(len(positive), dtype=np.int64)
    for rows in covers:
        times[rows] += 1
    needed = []
    for rule, rows in zip(rules, covers, strict=True):
        if (times[rows] > 1).all():
            times[rows] -= 1
        else:
            needed.append(rule)
    return needed


def _grow(
    search: SplitSearch, left: Flags, positive: Flags, counts: Ints, most: float
) -> list[BinRange]:
    """Add tests as long as they improve the rule and it covers negative samples.

    `counts` are those of all negative samples and of the positive ones that are left to cover.
    """
    test = search.best(search.all_bins, counts)
    rows = np.flatnonzero(left | ~positive)
    tests: list[BinRange] = []
    while test is not None:
        tests.append(test)
        rows = rows[search.table.inside(rows, *test)]
        if len(tests) >= most or left[rows].all():
            break
        test = search.best(*search.count(rows, left[rows]))
    return tests


class SplitSearch:
    """Search for the best test for some samples, by counting them in every bin.

    Parameters
    ----------
    table : BinnedTable
    weights : Weights
    n_classes : int
    entropy : bool
    """

    def __init__(
        self, table: BinnedTable, weights: Weights, n_classes: int, *, entropy: bool
    ) -> None:
        self.table, self.units, self.unit = table, weights.units, weights.unit
        self.n_classes, self.entropy = n_classes, entropy
        self.weighted = bool((weights.units != 1).any())
        n_bins = len(table.upper)
        self.all_bins = np.arange(n_bins)
        self.feature = np.repeat(np.arange(len(table.end)), np.diff(table.end, prepend=-1))
        self.nominal = table.nominal[self.feature]
        self.ends = np.concatenate([table.first, table.end])
        # The bin of missing values is no test, nor is the last bin of a numeric feature: none is
        # above it.
        self.no_test = np.zeros(n_bins, dtype=np.bool_)
        self.no_test[table.end] = self.no_test[table.end[~table.nominal] - 1] = True
        total, grain = int(weights.units.sum()), GRAIN
        tabled = weights.unit == 1.0 and total <= LARGEST_TABLE
        if not tabled:
            grain *= total * weights.unit / len(weights.units)
        self.grains_per_bit = 1.0 / grain
        numbers = np.arange(total + 1 if entropy and tabled else 0, dtype=np.float64)
        self.logarithms = numbers * np.log2(np.maximum(numbers, 1.0))

    def count_all(self, positive: Flags) -> Ints:
        """Sum the weights of all negative and positive samples in every bin: 2 x n_bins."""
        return self._sums(self.table.bins, self.units, positive, len(self.all_bins))

    def remove(self, counts: Ints, rows: Positions) -> None:
        """Subtract positive samples from the counts of all bins."""
        np.subtract.at(counts[1], self.table.bins[rows], self.units[rows, None])

    def count(self, rows: Positions, positive: Flags) -> tuple[Ints, Ints]:
        """Return the bins of some samples, including the ends of all features, and their counts."""
        values, ends = self.table.bins[rows], self.ends
        if values.size < SPARSE * len(self.all_bins):
            bins, places = np.unique(np.append(values, ends), return_inverse=True)
            places = places[: values.size].reshape(values.shape)
            return bins, self._sums(places, self.units[rows], positive, len(bins))
        counts = self._sums(values, self.units[rows], positive, len(self.all_bins))
        occupied = np.asarray(counts.any(axis=0))
        occupied[ends] = True
        return np.flatnonzero(occupied), counts[:, occupied]

    def _sums(
        self, bins: NDArray[np.signedinteger[Any]], units: Ints, positive: Flags, n_bins: int
    ) -> Ints:
        """Sum the weights of negative and positive samples in bins numbered from 0."""
        keys = (bins + (positive * n_bins)[:, None]).ravel()
        if self.weighted:
            return sums_by_key(keys, np.repeat(units, bins.shape[1]), 2 * n_bins).reshape(2, -1)
        return np.bincount(keys, minlength=2 * n_bins).reshape(2, -1)

    def best(self, bins: Ints, counts: Ints) -> BinRange | None:
        """Return the test of the highest score; of equal ones the first with the most positives.

        Parameters
        ----------
        bins : ndarray of int
            In ascending order, with the first and the last bin of every feature; others may be left
            out if they have no samples, because the tests there equal those of the bin before.
        counts : ndarray of int, shape (2, n_bins)
            Weights of the negative and positive samples in these bins.

        Returns
        -------
        tuple or None
            None if no test improves the score of the samples as they are.
        """
        sums = np.zeros((2, len(bins) + 1), dtype=np.int64)
        np.cumsum(counts, axis=1, out=sums[:, 1:])
        firsts, ends = bins.searchsorted(self.table.first), bins.searchsorted(self.table.end)
        n, p = sums[:, ends[0] + 1].tolist()
        feature, nominal = self.feature[bins], self.nominal[bins]
        until = sums[:, 1:]
        in_below, in_above = until - sums[:, firsts][:, feature], sums[:, ends][:, feature] - until
        in_above[:, ends] = 0
        if self.table.nominal.any():
            in_below[:, nominal] = counts[:, nominal]
            in_above[:, nominal] = 0
        (n_below, p_below), (n_above, p_above) = in_below, in_above
        if self.entropy:
            worst = -float(np.rint(self._bits(p, n) * self.grains_per_bit))
            p_above = np.where(nominal, p - p_below, p_above)
            n_above = np.where(nominal, n - n_below, n_above)
            below = (p_below >= p_above) | nominal
            bits = self._bits(p_below, n_below) + self._bits(p_above, n_above)
            bits = bits + self._bits(p - p_below - p_above, n - n_below - n_above)
            idle = (p_below + n_below == 0) | (p_above + n_above == 0)
            idle |= np.where(below, p_below, p_above) == 0
            score = np.where(idle, worst, -np.rint(bits * self.grains_per_bit))
        else:
            worst = (p * self.unit + 1.0) / ((p + n) * self.unit + self.n_classes)
            score_below, score_above = (
                self._laplace(p_below, n_below),
                self._laplace(p_above, n_above),
            )
            below = score_below > score_above
            score = np.where(below, score_below, score_above)
        score[self.no_test[bins]] = -np.inf
        if not score.max() > worst:
            return None
        equal = np.flatnonzero(score == score.max())
        k = equal[np.where(below, p_below, p_above)[equal].argmax()]
        j, b = int(feature[k]), int(bins[k])
        if nominal[k]:
            return j, b, b + 1
        return (
            (j, int(self.table.first[j]), b + 1) if below[k] else (j, b + 1, int(self.table.end[j]))
        )

    def _laplace(self, p: Ints, n: Ints) -> Floats:
        estimate = (p * self.unit + 1.0) / ((p + n) * self.unit + self.n_classes)
        return np.asarray(np.where(p > 0, estimate, 0.0))

    def _bits(self, p: Any, n: Any) -> Floats:
        """Return the entropy of p positives and n negatives, times their sum."""
        return np.asarray(self._information(p + n) - (self._information(p) + self._information(n)))

    def _information(self, amount: Any) -> Floats:
        """Return weights times their binary logarithms."""
        if len(self.logarithms):
            return np.asarray(self.logarithms[amount])
        weight = amount * self.unit
        return np.asarray(weight * np.log2(np.where(amount > 0, weight, 1.0)))


def _without_redundant(
    table: BinnedTable, tests: list[BinRange], negative: Positions
) -> list[BinRange]:
    """Drop, from first to last, the tests without which a rule covers no negative sample either."""
    masks = [table.inside(negative, *test) for test in tests]
    later = [np.ones(len(negative), dtype=np.bool_)]
    for mask in masks[:0:-1]:
        later.append(later[-1] & mask)
    earlier, kept = later[0], []
    for test, mask, rest in zip(tests, masks, reversed(later), strict=False):
        if (earlier & rest).any():
            earlier = earlier & mask
            kept.append(test)
    return kept


def _merged(tests: list[BinRange]) -> tuple[BinRange, ...]:
    """Join the tests of each feature to one condition, in order of first use."""
    conditions: dict[int, BinRange] = {}
    for j, low, high in tests:
        _, other_low, other_high = conditions.get(j, (j, low, high))
        conditions[j] = j, max(low, other_low), min(high, other_high)
    return tuple(conditions.values())


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """A table with its values replaced by bins.

    Attributes
    ----------
    bins : ndarray of int, shape (n_samples, n_features)
    first, end : ndarray of int, shape (n_features,)
        First bin of each feature, and the bin of its missing values, which comes after all others.
    nominal : ndarray of bool, shape (n_features,)
    upper : ndarray of float, shape (n_bins,)
        Cut above each bin; infinite where there is none.
    ranks : ndarray of int, shape (n_features, n_samples)
        Distinct values of each feature numbered in ascending order, missing values last.
    """

    bins: NDArray[np.int32]
    first: Ints
    end: Ints
    nominal: Flags
    upper: Floats
    ranks: Ints

    @classmethod
    def of(cls, values: Floats, classes: Positions, attributes: Sequence[Attribute]) -> BinnedTable:
        """Find the cuts of every feature and put every value in its bin.

        A cut is the midpoint between neighboring values, unless all samples with either value are
        of one class.

        Examples
        --------
        >>> from frri.table import Attribute
        >>> values = np.array([[1.0], [2.0], [np.nan], [4.0], [4.0]])
        >>> table = BinnedTable.of(values, np.array([0, 0, 1, 0, 1]), [Attribute("a")])
        >>> table.upper
        array([ 3., inf, inf])
        >>> table.bins.T
        array([[0, 0, 2, 1, 1]], dtype=int32)
        """
        nominal = np.array([attribute.kind == "nominal" for attribute in attributes])
        categories = np.array([len(attribute.categories or ()) for attribute in attributes])
        order, group, starts, value = _equal_values(values)
        feature = starts // len(values)
        cut = _class_changes(classes[order].ravel(), starts, feature) & ~np.isnan(value)
        cut &= ~nominal[feature]

        # The bin of a value: the number of cuts passed within the feature, or the category.
        n_cuts = np.bincount(feature[cut], minlength=len(nominal))
        n_bins = np.where(nominal, categories, n_cuts + 1)
        end = np.cumsum(n_bins + 1) - 1
        first = end - n_bins
        passed = np.cumsum(cut) - (np.cumsum(n_cuts) - n_cuts)[feature]
        inside = np.where(nominal[feature], value, passed)
        number = np.where(np.isnan(value), end[feature], first[feature] + inside).astype(np.int32)

        above = np.flatnonzero(cut)
        upper = np.full(end[-1] + 1, np.inf)
        upper[number[above] - 1] = _midpoints(value[above - 1], value[above])
        ranks = group - group.min(axis=1, keepdims=True)
        return cls(np.ascontiguousarray(number[group].T), first, end, nominal, upper, ranks)

    def covered(self, conditions: Iterable[BinRange]) -> Flags:
        """Return which samples satisfy all conditions."""
        holds = np.ones(len(self.bins), dtype=np.bool_)
        for j, low, high in conditions:
            holds &= self.inside(slice(None), j, low, high)
        return holds

    def inside(self, rows: Positions | slice, j: int, low: int, high: int) -> Flags:
        """Return which of some samples satisfy a condition."""
        bins = self.bins[rows, j]
        return np.asarray((bins >= low) & (bins < high))

    def interval(self, condition: BinRange) -> tuple[float, float]:
        """Return the lower and upper bound of a condition on a numeric feature.

        Examples
        --------
        >>> from frri.table import Attribute
        >>> values = np.array([[1.0], [2.0], [3.0]])
        >>> table = BinnedTable.of(values, np.array([0, 1, 0]), [Attribute("a")])
        >>> table.interval((0, 0, 1)), table.interval((0, 1, 2))
        ((-inf, 1.5), (1.5, 2.5))
        """
        j, low, high = condition
        lower = float(self.upper[low - 1]) if low > self.first[j] else -np.inf
        return lower, float(self.upper[high - 1])


def _equal_values(values: Floats) -> tuple[Ints, Ints, Ints, Floats]:
    """Sort the samples by every feature (missing values last) and group equal values.

    Returns
    -------
    order, group : ndarray of int, shape (n_features, n_samples)
        Samples in ascending order, and the group of every sample.
    starts, value : ndarray of shape (n_groups,)
        Where a group starts in the order, all features one after another, and its value.
    """
    columns = np.ascontiguousarray(values.T)
    order = columns.argsort(axis=1)
    places = (order + np.arange(0, columns.size, len(values))[:, None]).ravel()
    ascending = columns.ravel()[places].reshape(columns.shape)
    new = np.ones(columns.shape, dtype=bool)
    known = ~np.isnan(ascending[:, :-1])
    np.logical_and(ascending[:, 1:] != ascending[:, :-1], known, out=new[:, 1:])
    group = np.empty(columns.size, dtype=np.int64)
    group[places] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    return order, group.reshape(columns.shape), starts, ascending.ravel()[starts]


def _class_changes(labels: Ints, starts: Ints, feature: Ints) -> Flags:
    """Return which groups of equal values differ in class from the group before."""
    lowest, highest = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    differs = (lowest[:-1] != highest[1:]) | (highest[:-1] != lowest[1:])
    return np.append(False, differs & (feature[1:] == feature[:-1]))


def _midpoints(low: Floats, high: Floats) -> Floats:
    middle = (low + high) / 2
    # There is no number between two neighboring ones: the upper one then serves as the cut.
    return np.where(middle > low, middle, high)

"""MODLEM: crisp rules from rough approximations of the classes (Stefanowski 1998)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isinf, nextafter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frri._reproducible import log2
from frri._util import Flags, Floats, Ints, Positions
from frri.learners.rule_limits import LimitedRuleClassifier
from frri.learners.training_table import TrainingTable, Weights, sums_by_key
from frri.learners.validation import check_choice
from frri.rules import Condition, NominalCondition, NumericCondition, Rule
from frri.rules.rule import LONGEST_PARTIAL
from frri.table import Attribute

# A feature, the first bin that satisfies the condition, and the end of these bins.
BinRange = tuple[int, int, int]

# Number of samples that the prior of a class counts for in the m-estimate.
PRIOR_SAMPLES = 3.0
# Entropies (times the number of samples) that differ by fewer bits are equal: the rest is rounding.
# With weights other than moderate integers, bits of a mean sample.
GRAIN = 2.0**-20


@dataclass(kw_only=True, eq=False, repr=False)
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

    A sample of weight 3 counts as three equal ones; fractions are allowed. There is no randomness.
    Time grows up to quadratically with the number of samples, because the rules do too.

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
    {max_rules, max_conditions, min_support, missing, calibrate, decision, n_jobs, verbose}

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        The rules, class by class. A rule's weight is its m-estimate `(p + 3 q) / (t + 3)` for p of
        t covered samples in the approximation of its class, which makes up a fraction q of all
        samples. With sample weights these are weights, as are its statistics and the sizes of the
        classes.
    {n_features_in_, feature_names_in_}

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

    criterion: Literal["laplace", "entropy"] = "laplace"
    approximation: Literal["lower", "upper", "none"] = "lower"

    def _learn(self, table: TrainingTable) -> None:
        weights = Weights.of(table.all_weights)
        binned = BinnedTable.of(table.values, table.classes, table.attributes)
        targets = approximations(table.values, table.classes, len(table.labels), self.approximation)
        search = SplitSearch(
            binned, weights, len(table.labels), entropy=self.criterion == "entropy"
        )
        with self._step("rules that cover the classes"):
            found = induce(search, targets, self.max_conditions)
        rules = []
        for own, ranges in found:
            estimates = _m_estimates(ranges, binned, targets[own], weights)
            parts = estimates if len(estimates) == 1 << len(ranges) else ()
            conditions = tuple(_condition(table, binned, each) for each in ranges)
            known = conditions, table.labels[own], estimates[-1]
            covered = np.flatnonzero(binned.covered(ranges))
            rules.append((Rule(*known, partial_weights=parts), covered))
        made = partial(self._measured, table, combination="best", fallback="partial")
        self.ruleset_ = self._within_limits(rules, made, table)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("criterion", self.criterion, ("laplace", "entropy"))
        check_choice("approximation", self.approximation, ("lower", "upper", "none"))


def approximations(values: Floats, classes: Positions, n_classes: int, kind: str) -> Flags:
    """Return which samples belong to the approximation of which class: n_classes x n_samples.

    Samples with the same values in all features, or missing values in the same ones, are equal.

    Examples
    --------
    >>> values, classes = np.array([[5.0], [5.0], [7.0]]), np.array([0, 1, 1])
    >>> approximations(values, classes, 2, "lower")
    array([[False, False, False],
           [False, False,  True]])
    >>> approximations(values, classes, 2, "upper")
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    members: Flags = classes == np.arange(n_classes)[:, None]
    if kind == "none":
        return members
    known = np.where(np.isnan(values), np.inf, values)
    blocks, block = np.unique(known, axis=0, return_inverse=True)
    block = block.ravel()
    present = np.array([np.bincount(block[own], minlength=len(blocks)) > 0 for own in members])
    if kind == "upper":
        return np.asarray(present[:, block])
    return np.asarray(members & (present.sum(axis=0) == 1)[block])


# --- bins
class BinnedTable(NamedTuple):
    """A table with its values replaced by bins, between the cuts of its elementary tests.

    Elementary tests are `a < cut` and `a >= cut` for numeric features and `a = value` for nominal
    ones. The cuts of a numeric feature divide its values into bins in ascending order, every
    category of a nominal feature is a bin of its own, and each feature ends with a bin for missing
    values, which satisfy no test. The bins of all features are numbered consecutively. Bin b of a
    numeric feature represents the tests "at most bin b" (below) and "above bin b", bin b of a
    nominal feature the test "in bin b". A conjunction of tests of one feature is a range of bins.

    Attributes
    ----------
    bins : ndarray of int, shape (n_samples, n_features)
    first, end : ndarray of int, shape (n_features,)
        First bin of each feature, and the bin of its missing values, which comes after all others.
    nominal : ndarray of bool, shape (n_features,)
    upper : ndarray of float, shape (n_bins,)
        Cut above each bin; infinite where there is none.
    """

    bins: NDArray[np.int32]
    first: Ints
    end: Ints
    nominal: Flags
    upper: Floats

    @classmethod
    def of(
        cls, values: Floats, classes: Positions, attributes: Sequence[Attribute]
    ) -> "BinnedTable":
        """Find the cuts of every feature and put every value in its bin.

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
        bins = np.empty(values.shape, dtype=np.int32)
        first, end, upper = [], [], np.empty(0)
        for j, attribute in enumerate(attributes):
            known = ~np.isnan(values[:, j])
            inside, cuts, n_bins = values[known, j], np.empty(0), len(attribute.categories or ())
            if not nominal[j]:
                cuts, inside = _cuts(inside, classes[known])
                n_bins = len(cuts) + 1
            first.append(len(upper))
            end.append(len(upper) + n_bins)
            bins[known, j] = first[j] + inside
            bins[~known, j] = end[j]
            upper = np.concatenate([upper, cuts, np.full(n_bins + 1 - len(cuts), np.inf)])
        return cls(bins, np.array(first), np.array(end), nominal, upper)

    def covered(self, conditions: Iterable[BinRange]) -> Flags:
        """Return which samples satisfy all conditions."""
        holds = np.ones(len(self.bins), dtype=np.bool_)
        for condition in conditions:
            holds &= self.inside(slice(None), *condition)
        return holds

    def inside(self, rows: Positions | slice, j: int, low: int, high: int) -> Flags:
        """Return which of some samples satisfy a condition."""
        bins = self.bins[rows, j]
        return np.asarray((bins >= low) & (bins < high))

    def interval(self, condition: BinRange) -> tuple[float, float]:
        """Return the lower and upper bound of a condition on a numeric feature."""
        j, low, high = condition
        lower = float(self.upper[low - 1]) if low > self.first[j] else -np.inf
        return lower, float(self.upper[high - 1])


def _cuts(column: Floats, classes: Positions) -> tuple[Floats, Ints]:
    """Return the cuts between known values of a feature, and the number of cuts up to each value.

    A cut is the midpoint between neighboring values, unless all samples with either value are of
    one class.
    """
    distinct, group = np.unique(column, return_inverse=True)
    if not len(distinct):
        return distinct, group
    by_value = group.argsort(kind="stable")
    starts = np.searchsorted(group[by_value], np.arange(len(distinct)))
    lowest = np.minimum.reduceat(classes[by_value], starts)
    highest = np.maximum.reduceat(classes[by_value], starts)
    differs = (lowest[:-1] != highest[1:]) | (highest[:-1] != lowest[1:])
    low, high = distinct[:-1][differs], distinct[1:][differs]
    middle = (low + high) / 2
    # There is no number between two neighboring ones: the upper one then serves as the cut.
    return np.where(middle > low, middle, high), np.append(0, differs.cumsum())[group]


# --- sequential covering, the loop of LEM2 and MODLEM
# A class, and the conditions of a rule for it, one for each feature that it uses.
BinnedRule = tuple[int, tuple[BinRange, ...]]


def induce(search: "SplitSearch", targets: Flags, most: int | None = None) -> list[BinnedRule]:
    """Find rules class by class in order of creation, without redundant tests and rules.

    `targets` (n_classes x n_samples) are the samples to cover with the rules of each class; all
    others are negative. A rule of at most `most` tests may cover negative samples.
    """
    return [
        (c, conditions)
        for c, positive in enumerate(targets)
        for conditions in _rules_of_class(search, positive, np.inf if most is None else most)
    ]


def _rules_of_class(
    search: "SplitSearch", positive: Flags, most: float
) -> Iterator[tuple[BinRange, ...]]:
    """Cover the positive samples rule by rule, and drop the rules that others make redundant."""
    table, negative = search.table, np.flatnonzero(~positive)
    left, counts = positive.copy(), search.count_all(positive)
    times = np.zeros(len(positive), dtype=np.int64)
    found: list[tuple[tuple[BinRange, ...], Positions]] = []
    while left.any():
        tests = _grow(search, left, positive, counts, most)
        rule = _merged(_without_redundant(table, tests, negative))
        if not rule:
            break
        covered = np.flatnonzero(table.covered(rule) & positive)
        found.append((rule, covered))
        times[covered] += 1
        new = covered[left[covered]]
        search.remove(counts, new)
        left[new] = False
    for rule, covered in found:
        if (times[covered] > 1).all():
            times[covered] -= 1
        else:
            yield rule


def _grow(
    search: "SplitSearch", left: Flags, positive: Flags, counts: Ints, most: float
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


class SplitSearch:
    """Search for the best test for some samples, by counting them in every bin.

    Weights are counted in integer units, so that all sums are exact. Tests are chosen by
    conditional entropy if `entropy` is set, otherwise by the Laplace estimate.
    """

    def __init__(
        self, table: BinnedTable, weights: Weights, n_classes: int, *, entropy: bool
    ) -> None:
        self.table, self.units, self.unit = table, weights.units, weights.unit
        self.n_classes, self.entropy = n_classes, entropy
        n_bins = len(table.upper)
        self.all_bins = np.arange(n_bins)
        self.feature = np.repeat(np.arange(len(table.end)), np.diff(table.end, prepend=-1))
        self.nominal = table.nominal[self.feature]
        self.ends = np.concatenate([table.first, table.end])
        # The bin of missing values is no test, nor is the last bin of a numeric feature: none is
        # above it.
        self.no_test = np.zeros(n_bins, dtype=np.bool_)
        self.no_test[table.end] = self.no_test[table.end[~table.nominal] - 1] = True
        mean = weights.units.sum() * weights.unit / len(weights.units)
        self.grains_per_bit = 1.0 / (GRAIN if weights.unit == 1.0 else GRAIN * mean)

    def count_all(self, positive: Flags, rows: Positions | slice = slice(None)) -> Ints:
        """Sum the weights of the negative and positive ones of some samples in every bin."""
        bins, n_bins = self.table.bins[rows], len(self.all_bins)
        keys = (bins + (positive * n_bins)[:, None]).ravel()
        units = np.repeat(self.units[rows], bins.shape[1])
        return sums_by_key(keys, units, 2 * n_bins).reshape(2, -1)

    def remove(self, counts: Ints, rows: Positions) -> None:
        """Subtract positive samples from the counts of all bins."""
        np.subtract.at(counts[1], self.table.bins[rows], self.units[rows, None])

    def count(self, rows: Positions, positive: Flags) -> tuple[Ints, Ints]:
        """Return the bins of some samples, including the ends of all features, and their counts."""
        counts = self.count_all(positive, rows)
        occupied = np.asarray(counts.any(axis=0))
        occupied[self.ends] = True
        return np.flatnonzero(occupied), counts[:, occupied]

    def best(self, bins: Ints, counts: Ints) -> BinRange | None:
        """Return the test of the highest score; of equal ones the first with the most positives.

        `counts` are the weights of the negative and positive samples in the bins. These are in
        ascending order, with the first and the last of every feature; others may be left out if
        they have no samples, because the tests there equal those of the bin before. The result is
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
            score, score_above = self._laplace(p_below, n_below), self._laplace(p_above, n_above)
            below = score > score_above
            score = np.where(below, score, score_above)
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
        weight = amount * self.unit
        return np.asarray(weight * log2(np.where(amount > 0, weight, 1.0)))


# --- rules of the rule model
def _condition(table: TrainingTable, binned: BinnedTable, condition: BinRange) -> Condition:
    j, first, _ = condition
    attribute = table.attributes[j]
    if attribute.kind == "nominal":
        category = (attribute.categories or ())[first - int(binned.first[j])]
        return NominalCondition(attribute.name, frozenset({category}))
    low, high = binned.interval(condition)
    if table.integer_columns[j]:
        # Bounds are halfway between values: at least the next integer, at most the one before.
        low, high = np.ceil(low).item(), np.ceil(high).item() - 1.0
        if attribute.is_flag:
            low, high = max(low, attribute.low), min(high, attribute.high)
        return NumericCondition(attribute.name, low, low, high, high)
    core_high = high if isinf(high) else nextafter(high, -inf)
    return NumericCondition(attribute.name, low, low, core_high, high)


def _m_estimates(
    ranges: tuple[BinRange, ...], binned: BinnedTable, positive: Flags, weights: Weights
) -> tuple[float, ...]:
    """Return the m-estimates of all subsets of a rule's conditions; of a long rule the whole only.

    The subsets are numbered by their bits, of which bit i stands for condition i.
    """
    units = weights.units
    parts: list[tuple[BinRange, ...]] = [(condition,) for condition in ranges]
    if len(parts) > LONGEST_PARTIAL:
        parts = [ranges]
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
    return tuple(estimates.tolist()) if len(parts) == len(ranges) else (estimates[1].item(),)

"""Statistics of single rules in a labelled table: support, precision, lift, mean, drift."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._reproducible import total
from frri._util import Flags, Floats, Positions, import_optional
from frri.rules.measures import wilson
from frri.rules.rule import RuleStatistics, as_labels
from frri.rules.semantics import COUNTABLE
from frri.table.columns import Frame
from frri.table.targets import check_quantities

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet


def rule_statistics(
    ruleset: "RuleSet", matrix: Floats, labels: Any, weights: Any = None
) -> tuple[RuleStatistics, ...]:
    """Compute the statistics of all rules for encoded (and clipped) values."""
    amounts = np.ones(len(matrix), np.int64) if weights is None else np.asarray(weights, float)
    if ruleset.task == "regression":
        numbers = check_quantities(as_labels(labels, len(matrix)), ruleset.target)
        return _number_statistics(ruleset, matrix, numbers, amounts)
    classes = class_positions(ruleset, labels, len(matrix))
    arrays, n_classes = ruleset.arrays, len(ruleset.classes)
    support = np.zeros((len(ruleset), n_classes), dtype=amounts.dtype)
    alone = np.zeros(len(ruleset), dtype=amounts.dtype)
    for block in arrays.blocks(len(matrix)):
        covers = arrays.covers(matrix[block])
        counted = covers * amounts[block, None]
        for c in range(n_classes):
            support[:, c] += counted[classes[block] == c].sum(axis=0)
        alone += counted[covers.sum(axis=1) == 1].sum(axis=0)
    if ruleset.semantics.name not in COUNTABLE:
        counts = zip(support.tolist(), alone.tolist(), strict=True)
        return tuple(RuleStatistics(tuple(by_class), None, None, one) for by_class, one in counts)
    sizes = np.bincount(classes, weights, n_classes)
    return statistics_from_counts(arrays.holds_for, support, alone, sizes)


def _number_statistics(
    ruleset: "RuleSet", matrix: Floats, numbers: Floats, amounts: NDArray[Any]
) -> tuple[RuleStatistics, ...]:
    """Compute the statistics of rules for numbers; sums are those of differences from the mean."""
    arrays, weight = ruleset.arrays, total(amounts)
    center = float(total(numbers * amounts) / weight) if weight else 0.0
    sums = np.zeros((4, len(ruleset)))
    for block in arrays.blocks(len(matrix)):
        covers, off = arrays.covers(matrix[block]), numbers[block] - center
        counted = (covers * amounts[block, None]).T
        for k, factor in enumerate((1, covers.sum(axis=1) == 1, off, off**2)):
            sums[k] += total(counted * factor)
    counts = sums[:2].astype(amounts.dtype).T.tolist()
    first, second = sums[2:] / np.where(sums[0] > 0.0, sums[0], 1.0)
    means, deviations = center + first, np.sqrt(np.maximum(second - first * first, 0.0))
    found = []
    for (n, alone), mean, off in zip(counts, means.tolist(), deviations.tolist(), strict=True):
        moments = {"mean": mean, "deviation": off} if n else {}
        found.append(RuleStatistics((n,), None, None, alone, **moments, total=weight.item()))
    return tuple(found)


def statistics_from_counts(
    own: Positions | Flags, support: NDArray[Any], alone: NDArray[Any], class_sizes: NDArray[Any]
) -> tuple[RuleStatistics, ...]:
    """Compute the statistics of rules from numbers of covered samples, or their weights.

    `own` holds the class of each rule, or flags of the classes of which its consequent is true;
    `support` the covered samples of each class, `alone` those that no other rule covers.
    """
    holds = own if own.ndim == 2 else own[:, None] == np.arange(len(class_sizes))
    shares = (holds @ class_sizes / (class_sizes.sum() or 1)).tolist()
    found = []
    for r, (counts, single) in enumerate(zip(support.tolist(), alone.tolist(), strict=True)):
        covered, hits = sum(counts), sum(compress(counts, holds[r]))
        precision = hits / covered if covered else None
        lift = hits / covered / shares[r] if covered and shares[r] else None
        found.append(RuleStatistics(tuple(counts), precision, lift, single))
    return tuple(found)


def class_positions(ruleset: "RuleSet", labels: Any, n_rows: int) -> Positions:
    """Return labels as positions in the classes of a rule set."""
    position = {label: c for c, label in enumerate(ruleset.classes)}
    try:
        return np.array([position[y] for y in as_labels(labels, n_rows).tolist()], dtype=np.intp)
    except KeyError as error:
        known = ", ".join(map(repr, ruleset.classes))
        raise ValueError(f"Label {error.args[0]!r} is none of the classes {known}.") from None


@dataclass(frozen=True)
class RuleQuality:
    """One rule on one table.

    Parameters
    ----------
    rule : int
        Its position in the rule set.
    covered : float
        Samples it covers.
    correct : float or None
        Those of its own class among them; None if it is not true or false of a class.
    alone : float
        Samples that no other rule covers.
    coverage : float
        Fraction of all samples that it covers.
    precision, low, high : float or None
        Fraction of the covered samples that are of its class, with Wilson's confidence interval.
    lift : float or None
        Precision divided by the proportion of the class in the table.
    mean, deviation : float or None
        Mean and standard deviation of the target among the covered samples, in regression; of the
        positions of classes where rules add to log odds of ordinal classes.
    """

    rule: int
    covered: float
    correct: float | None
    alone: float
    coverage: float
    precision: float | None
    low: float | None
    high: float | None
    lift: float | None
    mean: float | None = None
    deviation: float | None = None


def quality(
    ruleset: "RuleSet", X: Any = None, y: Any = None, *, confidence: float = 0.95
) -> tuple[RuleQuality, ...]:
    """Measure coverage, precision with a confidence interval, lift, or mean target of every rule.

    Parameters
    ----------
    ruleset : RuleSet
    X, y : table and labels, optional
        By default the statistics from training that the rules carry are used.
    confidence : float
        Level of the intervals.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
    >>> first = quality(rules, [[1], [2], [3], [2]], [0, 0, 1, 1])[0]
    >>> first.covered, round(first.low, 2), round(first.high, 2)
    (3, 0.21, 0.94)
    """
    known = [rule.statistics for rule in ruleset] if X is None else ruleset.statistics(X, y)
    countable = ruleset.semantics.name in COUNTABLE
    result = []
    for r, found in enumerate(known):
        if found is None:
            raise ValueError(f"Rule {r} has no statistics from training; give a labelled table.")
        n, correct = found.covered, None
        if countable:
            correct = sum(compress(found.support, ruleset.arrays.holds_for[r]))
        low, high = wilson(correct, n, confidence) if n and correct is not None else (None, None)
        size = _table_size(ruleset, found) if X is None else float(len(y))
        counts = n, correct, found.alone, n / size if size else 0.0
        moments = (None, None) if countable else _moments(found)
        result.append(RuleQuality(r, *counts, found.precision, low, high, found.lift, *moments))
    return tuple(result)


def _table_size(ruleset: "RuleSet", known: RuleStatistics | None) -> float:
    """Return the size of the table that statistics from training were computed on."""
    return sum(ruleset.class_counts) or getattr(known, "total", None) or 0.0


def _moments(known: RuleStatistics) -> tuple[float | None, float | None]:
    """Return the mean and the standard deviation of numbers, or of the positions of classes."""
    if known.total is not None or not known.covered:
        return known.mean, known.deviation
    places = np.arange(len(known.support))
    mean = float(np.average(places, weights=known.support))
    return mean, sqrt(float(np.average((places - mean) ** 2, weights=known.support)))


@dataclass(frozen=True)
class Overlap:
    """Two rules, the samples that both cover, and their Jaccard index."""

    first: int
    second: int
    both: int
    jaccard: float
    agree: bool


def overlap(ruleset: "RuleSet", X: Any) -> tuple[Overlap, ...]:
    """Return all pairs of rules that cover a sample in common, the most similar first.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = [Rule((NumericCondition.below("a", b),), 0) for b in (3, 4)]
    >>> overlap(RuleSet(tuple(rules), (Attribute("a"),), (0, 1)), [[1], [2], [3]])
    (Overlap(first=0, second=1, both=2, jaccard=0.666..., agree=True),)
    """
    covers = ruleset.covers(X).astype(np.float64)
    both = (covers.T @ covers).round().astype(np.int64)
    said = [(rule.consequent, rule.relation) for rule in ruleset]
    pairs = []
    for i, j in np.argwhere(np.triu(both, 1)).tolist():
        shared = int(both[i, j])
        jaccard = float(shared / (both[i, i] + both[j, j] - shared))
        pairs.append(Overlap(i, j, shared, jaccard, said[i] == said[j]))
    return tuple(sorted(pairs, key=lambda pair: -pair.jaccard))


def to_frame(rows: tuple[Any, ...]) -> Frame:
    """Return any of these results as a data frame, a row for each (needs pandas)."""
    pd = import_optional("pandas", "A table of statistics", "tables")
    return pd.DataFrame([asdict(row) for row in rows])


@dataclass(frozen=True)
class RuleDrift:
    """One rule in training and on new data.

    Parameters
    ----------
    rule : int
    coverage, new_coverage : float
        Fraction of the samples covered.
    precision, new_precision : float or None
    fires_less, errs_more : bool
        Whether its coverage, or its precision, is lower than chance explains.
    p_fires_less, p_errs_more : float
        One-sided p-values of Fisher's exact test.
    mean, new_mean : float or None
        Mean of the target among the covered samples, as in `RuleQuality`.
    mean_differs : bool
        Whether the means differ by more than chance explains.
    p_mean_differs : float
        Two-sided p-value of Welch's t-test.
    """

    rule: int
    coverage: float
    new_coverage: float
    precision: float | None
    new_precision: float | None
    fires_less: bool
    errs_more: bool
    p_fires_less: float
    p_errs_more: float
    mean: float | None = None
    new_mean: float | None = None
    mean_differs: bool = False
    p_mean_differs: float = 1.0


def drift(
    ruleset: "RuleSet", X: Any, y: Any = None, *, level: float = 0.05
) -> tuple[RuleDrift, ...]:
    """Compare each rule on new data with its statistics from training.

    A flag is raised where Fisher's exact test (one-sided) gives less than `level` divided by the
    number of tests (Bonferroni): the probability of any false alarm is at most `level`. In
    regression, and where rules add to log odds of ordinal classes, Welch's t-test of the mean
    target takes the place of the test of the precision.

    Parameters
    ----------
    ruleset : RuleSet
        Its rules must carry statistics, which estimators and `RuleSet.with_statistics` compute.
    X : table
    y : labels or numbers, optional
        Without them only the coverage is compared.
    level : float

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1),
    ...     class_counts=(50, 50)).with_statistics([[i % 6] for i in range(100)], [0, 1] * 50)
    >>> drift(rules, [[5]] * 50)[0].fires_less
    True
    """
    new: Sequence[RuleQuality | None] = [None] * len(ruleset)
    if y is None:
        covers = ruleset.covers(X)
        n_new, covered = len(covers), covers.sum(axis=0).tolist()
    else:
        new = quality(ruleset, X, y)
        n_new, covered = len(y), [int(one.covered) for one in new if one is not None]
    limit = level / max(1, len(ruleset) * (1 if y is None else 2))
    result = []
    for rule, old, n, now in zip(ruleset, quality(ruleset), covered, new, strict=True):
        # Training may have been weighted; the tests count samples.
        before, size = round(old.covered), round(_table_size(ruleset, rule.statistics))
        p_fires, p_errs, p_mean = fisher_less(n, n_new, before, size), 1.0, 1.0
        if now is not None and old.correct is not None and now.correct is not None:
            p_errs = fisher_less(int(now.correct), n, round(old.correct), before)
        elif now is not None:
            p_mean = welch(old, now)
        new_precision, new_mean = (getattr(now, key, None) for key in ("precision", "mean"))
        known = old.rule, old.coverage, n / n_new if n_new else 0.0, old.precision, new_precision
        tests = p_fires < limit, p_errs < limit, p_fires, p_errs
        result.append(RuleDrift(*known, *tests, old.mean, new_mean, p_mean < limit, p_mean))
    return tuple(result)


def is_training_table(
    ruleset: "RuleSet", X: Any, y: Any, found: Sequence[RuleStatistics] | None = None
) -> bool:
    """Return whether a labelled table appears to be the one that rules were learned from.

    It is if each class has as many samples, and each rule covers as many samples of each class; in
    regression, if the mean of these is the same. Two different tables rarely agree in all of that.
    False where the rules carry no statistics.

    Parameters
    ----------
    ruleset : RuleSet
    X, y : table and labels
    found : sequence of RuleStatistics, optional
        Statistics of the rules in this table, where they are known already.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> X, y = [[i] for i in range(9)], [0, 1, 0, 0, 1, 1, 1, 0, 1]
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 4),), 0),), (Attribute("a"),), (0, 1),
    ...     class_counts=(4, 5)).with_statistics(X, y)
    >>> is_training_table(rules, X, y), is_training_table(rules, X[:-1], y[:-1])
    (True, False)
    """
    known = [rule.statistics for rule in ruleset if rule.statistics is not None]
    if not known or len(known) < len(ruleset):
        return False
    sizes = Counter(as_labels(y).tolist()) if ruleset.classes else Counter()
    if tuple(float(sizes[label]) for label in ruleset.classes) != ruleset.class_counts:
        return False
    found = ruleset.statistics(X, y) if found is None else found

    def facts(one: RuleStatistics) -> tuple[Any, ...]:
        return one.support, one.mean, one.total

    return list(map(facts, found)) == list(map(facts, known))


def fisher_less(hits: int, trials: int, other_hits: int, other_trials: int) -> float:
    """Return the p-value of Fisher's exact test that hits are fewer than in another sample."""
    from scipy.stats import hypergeom  # noqa: PLC0415 - prediction needs numpy alone

    total = trials + other_trials
    return float(hypergeom.cdf(hits, total, hits + other_hits, trials)) if total else 1.0


def welch(one: RuleQuality, other: RuleQuality) -> float:
    """Return the p-value of Welch's t-test (two-sided) that the means of the target are equal."""
    from scipy.stats import ttest_ind_from_stats  # noqa: PLC0415 - prediction needs numpy alone

    moments: list[float] = []
    for found in (one, other):
        if found.mean is None or found.deviation is None or found.covered < 2:
            return 1.0
        corrected = found.deviation * sqrt(found.covered / (found.covered - 1))
        moments += [found.mean, corrected, found.covered]
    if not one.deviation and not other.deviation:
        return float(one.mean == other.mean)
    return float(ttest_ind_from_stats(*moments, equal_var=False).pvalue)

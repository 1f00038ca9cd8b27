"""How good rules are on a table, how they overlap, which attributes matter, what has drifted."""

from collections import Counter
from dataclasses import asdict, dataclass
from math import exp, inf, lgamma, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from frri.rules.rule import label_array
from frri.rules.ruleset import RuleSet
from frri.table import to_matrix

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RuleQuality:
    """One rule on one table.

    Parameters
    ----------
    rule : int
        Its position in the ruleset.
    covered, correct, alone : float
        Rows it covers, those of its own class among them, and those that no other rule covers.
    coverage : float
        Share of all rows that it covers.
    precision, low, high : float or None
        Share of the covered rows that are of its class, with its confidence interval (Wilson).
    lift : float or None
        Precision divided by the share of the class in the table.
    """

    rule: int
    covered: float
    correct: float
    alone: float
    coverage: float
    precision: float | None
    low: float | None
    high: float | None
    lift: float | None


def quality(
    ruleset: RuleSet, X: Any = None, y: Any = None, *, confidence: float = 0.95
) -> tuple[RuleQuality, ...]:
    """Coverage, precision with a confidence interval and lift of every rule.

    Parameters
    ----------
    ruleset : RuleSet
    X, y : table and labels, optional
        By default the statistics from training that the rules carry are used.
    confidence : float
        Of the intervals.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
    >>> first = quality(rules, [[1], [2], [3], [2]], [0, 0, 1, 1])[0]
    >>> first.covered, round(first.low, 2), round(first.high, 2)
    (3, 0.21, 0.94)
    """
    if X is None:
        known = [rule.statistics for rule in ruleset]
        total = sum(ruleset.class_counts)
    else:
        known = list(ruleset.statistics(X, y))
        total = float(len(y))
    result = []
    for r, (rule, found) in enumerate(zip(ruleset, known, strict=True)):
        if found is None:
            raise ValueError(
                f"Rule {r} has no statistics from training; give a table and its labels."
            )
        correct = found.support[ruleset.classes.index(rule.consequent)]
        low, high = wilson(correct, found.covered, confidence)
        result.append(
            RuleQuality(
                rule=r,
                covered=found.covered,
                correct=correct,
                alone=found.alone,
                coverage=found.covered / total if total else 0.0,
                precision=found.precision,
                low=low if found.covered else None,
                high=high if found.covered else None,
                lift=found.lift,
            )
        )
    return tuple(result)


def wilson(hits: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's confidence interval for a share; 0 to 1 without trials.

    Examples
    --------
    >>> low, high = wilson(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    """
    if trials <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = hits / trials
    centre = share + z * z / (2 * trials)
    spread = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


@dataclass(frozen=True)
class Overlap:
    """Two rules and the rows that both cover; `jaccard` is their share of the rows that either does."""

    first: int
    second: int
    both: int
    jaccard: float
    agree: bool


def overlap(ruleset: RuleSet, X: Any) -> tuple[Overlap, ...]:
    """All pairs of rules that cover a row in common, the most similar first.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = [Rule((NumericCondition.below("a", b),), 0) for b in (3, 4)]
    >>> overlap(RuleSet(tuple(rules), (Attribute("a"),), (0, 1)), [[1], [2], [3]])
    (Overlap(first=0, second=1, both=2, jaccard=0.666..., agree=True),)
    """
    covers = ruleset.covers(X).astype(np.float64)
    both = (covers.T @ covers).round().astype(np.int64)
    own = np.diag(both)
    pairs = [
        Overlap(
            int(i),
            int(j),
            int(both[i, j]),
            float(both[i, j] / (own[i] + own[j] - both[i, j])),
            ruleset[i].consequent == ruleset[j].consequent,
        )
        for i, j in zip(*np.nonzero(np.triu(both, 1)), strict=True)
    ]
    return tuple(sorted(pairs, key=lambda pair: -pair.jaccard))


@dataclass(frozen=True)
class AttributeImportance:
    """One attribute: how many rules use it, and how much accuracy goes without it.

    `drop` is the mean loss of accuracy when the attribute's values are shuffled among the rows, `spread`
    its standard deviation over the repetitions.
    """

    attribute: str
    rules: int
    drop: float
    spread: float


def importance(
    ruleset: RuleSet, X: Any, y: Any, *, repeats: int = 5, seed: int = 0
) -> tuple[AttributeImportance, ...]:
    """The attributes by what the accuracy loses when their values are shuffled, the greatest loss first.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> low, high = NumericCondition.below("a", 3), NumericCondition("a", 3, 3)
    >>> rules = RuleSet((Rule((low,), 0), Rule((high,), 1)), (Attribute("a"), Attribute("b")), (0, 1))
    >>> found = importance(rules, [[i, 0] for i in range(6)], [0, 0, 0, 1, 1, 1])
    >>> found[0].attribute, found[0].drop > 0, found[1].drop
    ('a', True, 0.0)
    """
    matrix, labels = to_matrix(X, ruleset.attributes), np.asarray(y)
    classes = label_array(ruleset.classes)
    generator = np.random.default_rng(seed)
    whole = (classes[ruleset.predict_index(matrix)] == labels).mean()
    result = []
    for j, attribute in enumerate(ruleset.attributes):
        users = sum(attribute.name in rule.attributes for rule in ruleset)
        drops = np.zeros(repeats)
        for repeat in range(repeats if users else 0):
            shuffled = matrix.copy()
            shuffled[:, j] = generator.permutation(matrix[:, j])
            drops[repeat] = whole - (classes[ruleset.predict_index(shuffled)] == labels).mean()
        result.append(
            AttributeImportance(attribute.name, users, float(drops.mean()), float(drops.std()))
        )
    return tuple(sorted(result, key=lambda one: -one.drop))


@dataclass(frozen=True)
class RuleDrift:
    """One rule in training and on new data.

    Parameters
    ----------
    rule : int
    coverage, new_coverage : float
        Share of the rows covered.
    precision, new_precision : float or None
    fires_less, errs_more : bool
        Whether it covers a smaller share, or is right less often where it does, than chance explains.
    p_fires_less, p_errs_more : float
        One-sided probabilities of Fisher's exact test.
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


def drift(ruleset: RuleSet, X: Any, y: Any = None, *, level: float = 0.05) -> tuple[RuleDrift, ...]:
    """Each rule on new data against its statistics from training.

    A flag is raised where Fisher's exact test (one-sided) gives less than `level` divided by the number
    of tests made (Bonferroni): over all rules, a false alarm is raised with probability `level` at most.

    Parameters
    ----------
    ruleset : RuleSet
        Its rules must carry statistics (learners write them; `RuleSet.with_statistics` does too).
    X : table
    y : labels, optional
        Without them only the firing is compared.
    level : float

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1),
    ...     class_counts=(50, 50)).with_statistics([[i % 6] for i in range(100)], [0, 1] * 50)
    >>> drift(rules, [[5]] * 50)[0].fires_less
    True
    """
    before = quality(ruleset)
    total = round(sum(ruleset.class_counts))
    if y is None:
        covers = ruleset.covers(X)
        n_new, covered = len(covers), covers.sum(axis=0)
        correct = np.zeros(len(ruleset), dtype=np.int64)
    else:
        after = quality(ruleset, X, y)
        n_new, covered = len(y), np.array([rule.covered for rule in after], dtype=np.int64)
        correct = np.array([rule.correct for rule in after], dtype=np.int64)
    limit = level / max(1, len(ruleset) * (1 if y is None else 2))
    result = []
    for old, n, hits in zip(before, covered.tolist(), correct.tolist(), strict=True):
        # Training may have been weighted; the test counts objects.
        before_n, before_hits = round(old.covered), round(old.correct)
        p_fires = fewer(n, n_new, before_n, total)
        p_errs = fewer(hits, n, before_hits, before_n) if y is not None else 1.0
        precision = hits / n if n and y is not None else None
        result.append(
            RuleDrift(
                old.rule,
                old.coverage,
                n / n_new if n_new else 0.0,
                old.precision,
                precision,
                p_fires < limit,
                p_errs < limit,
                p_fires,
                p_errs,
            )
        )
    return tuple(result)


def seen_in_training(ruleset: RuleSet, X: Any, y: Any) -> bool:
    """Whether a labelled table is, by all that rules remember, the one that they were learned from.

    Then each class has as many rows, and each rule covers as many rows of each class. Two different
    tables rarely agree in all of that. False where the rules carry no statistics.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> X, y = [[i] for i in range(9)], [0, 1, 0, 0, 1, 1, 1, 0, 1]
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 4),), 0),), (Attribute("a"),), (0, 1),
    ...     class_counts=(4, 5)).with_statistics(X, y)
    >>> seen_in_training(rules, X, y), seen_in_training(rules, X[:-1], y[:-1])
    (True, False)
    """
    known = [rule.statistics.support for rule in ruleset if rule.statistics is not None]
    if not known or len(known) < len(ruleset):
        return False
    sizes = Counter(np.asarray(y).tolist())
    if tuple(float(sizes[label]) for label in ruleset.classes) != ruleset.class_counts:
        return False
    return [found.support for found in ruleset.statistics(X, y)] == known


def fewer(hits: int, trials: int, other_hits: int, other_trials: int) -> float:
    """Fisher's exact test: the probability of so few hits, given both samples together.

    Examples
    --------
    >>> round(fewer(1, 10, 9, 10), 6)
    0.000547
    """
    total_hits, total = hits + other_hits, trials + other_trials
    misses = total - total_hits
    first = max(0, trials - misses)
    whole = _log_choose(total, trials)
    terms = [
        _log_choose(total_hits, k) + _log_choose(misses, trials - k) - whole
        for k in range(first, hits + 1)
    ]
    return min(1.0, sum(exp(term) for term in terms))


def to_frame(rows: tuple[Any, ...]) -> "pd.DataFrame":
    """Any of these results as a table, a row for each (needs pandas)."""
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ImportError:
        raise ImportError("A table of statistics needs pandas: pip install pandas.") from None
    return pd.DataFrame([asdict(row) for row in rows])


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) if 0 <= k <= n else -inf

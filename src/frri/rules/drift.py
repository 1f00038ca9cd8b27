"""Drift: rules on new data against their statistics from training."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, lgamma
from typing import Any

from frri.rules.rule import RuleStatistics, as_labels
from frri.rules.rule_statistics import quality
from frri.rules.ruleset import RuleSet


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
    """Compare each rule on new data with its statistics from training.

    A flag is raised where Fisher's exact test (one-sided) gives less than `level` divided by the
    number of tests (Bonferroni): the probability of any false alarm is at most `level`.

    Parameters
    ----------
    ruleset : RuleSet
        Its rules must carry statistics, which estimators and `RuleSet.with_statistics` compute.
    X : table
    y : labels, optional
        Without them only the coverage is compared.
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
        n_new, counts = len(covers), [(n, 0) for n in covers.sum(axis=0).tolist()]
    else:
        n_new = len(y)
        counts = [(int(rule.covered), int(rule.correct)) for rule in quality(ruleset, X, y)]
    limit = level / max(1, len(ruleset) * (1 if y is None else 2))
    result = []
    for old, (n, hits) in zip(before, counts, strict=True):
        # Training may have been weighted; the test counts samples.
        before_n, before_hits = round(old.covered), round(old.correct)
        p_fires = fisher_less(n, n_new, before_n, total)
        p_errs = fisher_less(hits, n, before_hits, before_n) if y is not None else 1.0
        precision = hits / n if n and y is not None else None
        coverage = n / n_new if n_new else 0.0
        flags = p_fires < limit, p_errs < limit
        known = old.rule, old.coverage, coverage, old.precision, precision
        result.append(RuleDrift(*known, *flags, p_fires, p_errs))
    return tuple(result)


def is_training_table(
    ruleset: RuleSet, X: Any, y: Any, found: Sequence[RuleStatistics] | None = None
) -> bool:
    """Return whether a labelled table appears to be the one that rules were learned from.

    It is if each class has as many samples, and each rule covers as many samples of each class. Two
    different tables rarely agree in all of that. False where the rules carry no statistics.

    Parameters
    ----------
    ruleset : RuleSet
    X, y : table and labels
    found : sequence of RuleStatistics, optional
        Statistics of the rules in this table, where they are known already.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> X, y = [[i] for i in range(9)], [0, 1, 0, 0, 1, 1, 1, 0, 1]
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 4),), 0),), (Attribute("a"),), (0, 1),
    ...     class_counts=(4, 5)).with_statistics(X, y)
    >>> is_training_table(rules, X, y), is_training_table(rules, X[:-1], y[:-1])
    (True, False)
    """
    known = [rule.statistics.support for rule in ruleset if rule.statistics is not None]
    if not known or len(known) < len(ruleset):
        return False
    sizes = Counter(as_labels(y).tolist())
    if tuple(float(sizes[label]) for label in ruleset.classes) != ruleset.class_counts:
        return False
    found = ruleset.statistics(X, y) if found is None else found
    return [one.support for one in found] == known


def fisher_less(hits: int, trials: int, other_hits: int, other_trials: int) -> float:
    """Return the p-value of Fisher's exact test that a hit is less likely than in another sample.

    Examples
    --------
    >>> round(fisher_less(1, 10, 9, 10), 6)
    0.000547
    """
    total_hits, total = hits + other_hits, trials + other_trials
    misses = total - total_hits
    whole = _log_choose(total, trials)
    terms = (
        _log_choose(total_hits, k) + _log_choose(misses, trials - k) - whole
        for k in range(max(0, trials - misses), hits + 1)
    )
    return min(1.0, sum(exp(term) for term in terms))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) if 0 <= k <= n else -inf

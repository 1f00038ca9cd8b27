"""Limits on the number and the support of rules that were found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from frri._util import Flags, Ints, Positions
from frri.learners.classification import RuleClassifier
from frri.learners.training_table import TrainingTable, Weights, sums_by_key
from frri.learners.validation import check_count, check_share
from frri.rules import Rule, RuleSet
from frri.rules.matching import COVERS
from frri.rules.rule_statistics import statistics_from_counts

RulePart = TypeVar("RulePart")
# A rule and the samples that it covers.
MeasuredRule = tuple[Rule, Positions]

# Degrees are rounded to steps, so that sums are exact in any order.
STEPS = 2.0**40


@dataclass(kw_only=True, eq=False, repr=False)
class LimitedRuleClassifier(RuleClassifier):
    """Base of the classifiers that find all their rules first and keep those within limits."""

    max_rules: int | None = None
    max_conditions: int | None = None
    min_support: float = 0.0
    calibrate: bool = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_limits(self.max_rules, self.max_conditions, self.min_support)

    def _within_limits(
        self,
        parts: Sequence[RulePart],
        made: Callable[[Sequence[RulePart]], RuleSet],
        table: TrainingTable,
    ) -> RuleSet:
        """Return the rules that `made` makes of parts, one for each, within the limits.

        The statistics of a rule may depend on the others, so that rules are made again.
        """
        whole = made(parts)
        kept = kept_rules(whole, table, self.max_rules, self.min_support)
        return whole if len(kept) == len(parts) else made([parts[r] for r in kept])

    def _measured(
        self, table: TrainingTable, found: Sequence[MeasuredRule], **meaning: Any
    ) -> RuleSet:
        """Return rules with statistics, given the samples that each covers."""
        weights, n_classes = Weights.of(table.all_weights), len(table.labels)
        times = np.zeros(len(table.classes), dtype=np.int64)
        for _, rows in found:
            times[rows] += 1
        support, alone = np.zeros((len(found), n_classes), np.int64), np.zeros(len(found), np.int64)
        for r, (_, rows) in enumerate(found):
            support[r] = sums_by_key(table.classes[rows], weights.units[rows], n_classes)
            alone[r] = weights.units[rows[times[rows] == 1]].sum()
        own = np.array([table.labels.index(rule.consequent) for rule, _ in found], dtype=np.intp)
        counts = weights.worth(support), weights.worth(alone), np.array(table.class_counts)
        known = statistics_from_counts(own, *counts)
        rules = (replace(rule, statistics=one) for (rule, _), one in zip(found, known, strict=True))
        return self._build_ruleset(table, rules, **meaning)


def check_limits(max_rules: Any, max_conditions: Any, min_support: Any) -> None:
    """Raise an error for limits that are not valid."""
    for name, value in (("max_rules", max_rules), ("max_conditions", max_conditions)):
        if value is not None:
            check_count(name, value, 1)
    check_share("min_support", min_support)


def kept_rules(
    ruleset: RuleSet, table: TrainingTable, max_rules: int | None, min_support: float
) -> list[int]:
    """Return the rules that remain, in order; the default rule of a list always remains.

    Rules that cover less than a fraction of their class are removed first, then one rule after
    another, each time the one without which the rest classify the largest weight of training
    samples correctly. A sample that no rule covers counts as wrong. Of equally dispensable rules
    the one that covers least of its class is removed, of these the last.
    """
    everything = list(range(len(ruleset)))
    if not everything or (min_support <= 0.0 and len(everything) <= (max_rules or np.inf)):
        return everything
    is_list = ruleset.semantics.meaning.is_list
    fixed = {everything[-1]} if is_list and not ruleset[-1].conditions else set()
    degrees = ruleset.decide(table.encoded).degrees
    units = Weights.of(table.all_weights).units
    own, counts = ruleset.arrays.classes, degrees * ruleset.arrays.weights
    covers = (counts > COVERS) & (table.classes[:, None] == own)
    support = units @ covers
    sizes = np.array([units[table.classes == c].sum() for c in range(len(table.labels))])
    kept = [r for r in everything if support[r] >= min_support * sizes[own[r]] or r in fixed]
    if max_rules is None or len(kept) <= max_rules:
        return kept
    # The first rule of a list that holds has the highest rank.
    ranks = np.arange(len(ruleset), 0, -1)
    amounts = (degrees > 0.0) * ranks if is_list else np.rint(counts * STEPS)
    adds = ruleset.semantics.meaning.combination == "sum"
    choice = _Elimination(amounts.astype(np.int64), own, table.classes, units, kept, adds)
    while len(choice.kept) > max(max_rules, len(fixed)):
        lost = choice.lost(fixed)
        choice.remove(min(lost, key=lambda r: (lost[r], support[r], -r)))
    return choice.kept


@dataclass
class _Elimination:
    """Rules that are left, and the class scores of samples by them.

    `amounts` are the contributions of rules (columns) to the scores of samples (rows). If `adds` is
    set, the rules of a class are added; otherwise the best one counts.
    """

    amounts: Ints
    own: Positions
    classes: Positions
    units: Ints
    kept: list[int]
    adds: bool

    def __post_init__(self) -> None:
        amounts, own, classes = self.amounts, self.own, self.classes
        self.rows = [np.flatnonzero(column) for column in amounts.T]
        self.scores = np.zeros((len(amounts), int(max(own.max(), classes.max())) + 1), np.int64)
        everyone = np.arange(len(amounts))
        for c in range(self.scores.shape[1]):
            self.scores[:, c] = self._score(everyone, [r for r in self.kept if own[r] == c])
        self._lost: dict[int, int] = {}

    def lost(self, fixed: set[int]) -> dict[int, int]:
        """Return the weight of correct samples that the removal of each rule would lose."""
        for r in self.kept:
            if r not in self._lost and r not in fixed:
                rows = self.rows[r]
                now, then = (self._right(rows, s) for s in (self.scores[rows], self._without(r)))
                self._lost[r] = int(self.units[rows] @ (now.astype(np.int64) - then))
        return self._lost

    def remove(self, rule: int) -> None:
        """Remove a rule; the losses of rules that cover the same samples are computed again."""
        rows = self.rows[rule]
        self.scores[rows] = self._without(rule)
        self.kept.remove(rule)
        touched = np.count_nonzero(self.amounts[rows], axis=0)
        self._lost = {r: amount for r, amount in self._lost.items() if not touched[r] and r != rule}

    def _without(self, rule: int) -> Ints:
        """Return the scores without a rule of the samples that it covers."""
        rows, c = self.rows[rule], self.own[rule]
        scores = self.scores[rows].copy()
        if self.adds:
            scores[:, c] -= self.amounts[rows, rule]
        else:
            scores[:, c] = self._score(
                rows, [r for r in self.kept if self.own[r] == c and r != rule]
            )
        return scores

    def _score(self, rows: Positions, rules: list[int]) -> Ints:
        amounts = self.amounts[rows][:, rules]
        found = amounts.sum(axis=1) if self.adds else amounts.max(axis=1, initial=0)
        return np.asarray(found)

    def _right(self, rows: Positions, scores: Ints) -> Flags:
        """Return whose class has the highest score, of equal ones the first, above 0."""
        right = scores.argmax(axis=1) == self.classes[rows]
        return np.asarray(right & (scores.max(axis=1, initial=0) > 0))

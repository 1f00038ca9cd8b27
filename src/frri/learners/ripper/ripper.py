"""RIPPER: an ordered list of crisp rules with a default (Cohen 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from frri.learners.ripper._kernels import SortedColumns
from frri.learners.ripper.class_rules import (
    NO_TESTS,
    ClassProblem,
    CrispRule,
    GrownRuleClassifier,
    without_redundant,
)
from frri.learners.validation import check_boolean, random_numbers
from frri.rules import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from frri._util import Flags, Floats
    from frri.learners.training_table import TrainingTable


@dataclass(kw_only=True, eq=False, repr=False)
class RIPPERClassifier(GrownRuleClassifier):
    """RIPPER, a decision list of few and short rules.

    Classes are taken from the rarest to the most frequent, which gets the default rule at the end.
    For each class rules are added one by one: a random part of the samples serves to grow a rule by
    information gain, the rest to prune it. The list ends when its description length has grown too
    much. The list is then improved: each rule is compared with a new one and with an extension
    of itself, positives left over get further rules, and rules that do not shorten the description
    are deleted. The first rule that holds decides.

    Numeric features are compared with values seen in training (`<=` or `>=`), nominal ones
    (columns of text in a data frame) are tested for one value. A test of a missing value fails.

    Samples are drawn one by one to grow and to prune rules. Weights count in every sum, but a
    sample of weight 3 need not give the same rules as three equal samples.

    Parameters
    ----------
    {folds}
    {min_weight}
    optimizations : int, default=2
        Number of passes over the rules of each class to improve them; 0 gives IREP*.
    prune : bool, default=True
        If True, rules are pruned. If False, they are grown on all samples and not improved.
    max_rules : int, optional
        Maximum number of rules, including the default rule, which always stays. Rules are removed
        one at a time, each time the one whose removal reduces training accuracy least.
    {max_conditions}
    {min_support}
    {class_weight}
    {missing}
    random_state : int, RandomState or None, default=None
        Random seed of the division of samples and of the order of equally frequent classes.
    {calibrate}
    {n_jobs}
    {verbose}

    Attributes
    ----------
    {classes_}
    ruleset_ : RuleSet
        The rules in order, the default rule (without conditions) last. A rule concludes the class
        most frequent among the training samples that it decides; its weight is the fraction of that
        class among them.
    {n_features_in_}
    {feature_names_in_}

    References
    ----------
    W. W. Cohen, "Fast Effective Rule Induction", Proceedings of ICML, 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ripper = RIPPERClassifier(random_state=0).fit(X, y)
    >>> print(ripper.ruleset_)
    IF petal width (cm) >= 1.7 THEN target = 2   [confidence 0.96, covers 48 of 150, precision 0.96]
    IF petal length (cm) >= 5 THEN target = 2   [confidence 0.80, covers 46 of 150, precision 0.96]
    IF petal length (cm) >= 3 THEN target = 1   [confidence 1.00, covers 100 of 150, precision 0.50]
    OTHERWISE target = 0   [confidence 1.00, covers 150 of 150, precision 0.33]
    >>> ripper.predict(X[:2])
    array([0, 0])
    """

    prune: bool = True

    def _learn(self, table: TrainingTable) -> None:
        crisp = self._decision_list(table)

        def made(some: Sequence[CrispRule]) -> RuleSet:
            rules = _rules(some, table)
            found = self._made(table, rules, combination="first", fallback="priors")
            return self._with_statistics(found, table)

        self.ruleset_ = self._within_limits(crisp, made, table)

    def _decision_list(self, table: TrainingTable) -> list[CrispRule]:
        """Find the rules of all classes but the most frequent, and the default rule."""
        columns, random = SortedColumns.of(table), random_numbers(self.random_state)
        counts = np.array(table.class_counts)
        shuffled = random.permutation(len(counts))
        ascending = shuffled[counts[shuffled].argsort(kind="stable")]
        everything = np.ones(len(table.values), dtype=np.bool_)
        left, rules = everything, []
        for k, own in enumerate(ascending[:-1]):
            false_share = counts[own] / counts[ascending[k:]].sum()
            problem = ClassProblem(self, columns, own, left, false_share, random)
            with self._step(f"rules for {table.labels[own]!r}"):
                found = problem.rules(self.optimizations if self.prune else 0)
            for rule in found:
                left = left & ~rule.covers
            rules += found
        return [*rules, CrispRule(NO_TESTS, everything, 0.0)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_boolean("prune", self.prune)


def _rules(crisp: Sequence[CrispRule], table: TrainingTable) -> Iterator[Rule]:
    """Yield each rule with the proportions of the classes among the samples that it decides."""
    distributions = _distributions([rule.covers for rule in crisp], table)
    own = distributions.argmax(axis=1).tolist()
    for rule, c, shares in zip(crisp, own, distributions.tolist(), strict=True):
        yield Rule(
            conditions=tuple(
                test.condition(table.attributes[test.column])
                for test in without_redundant(rule.tests)
            ),
            consequent=table.labels[c],
            weight=shares[c],
            distribution=tuple(shares),
        )


def _distributions(covers: list[Flags], table: TrainingTable) -> Floats:
    """Return the fractions of classes among the samples that each rule is the first to cover."""
    left = np.ones(len(table.classes), dtype=np.bool_)
    counts = np.empty((len(covers), len(table.labels)))
    for r, covered in enumerate(covers):
        decided = left & covered
        left = left & ~covered
        # A rule with nothing left to decide, such as a default that is never needed, has the
        # distribution of all samples.
        rows = decided if decided.any() else np.ones_like(decided)
        counts[r] = np.bincount(table.classes[rows], table.all_weights[rows], len(table.labels))
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))

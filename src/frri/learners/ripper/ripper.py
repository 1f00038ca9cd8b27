"""RIPPER: an ordered list of crisp rules with a default (Cohen 1995)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from frri.learners.ripper.class_rules import ClassProblem, CrispRule, Strategy
from frri.learners.ripper.grow import NO_TESTS, SortedColumns, without_redundant
from frri.learners.rule_limits import LimitedRuleClassifier
from frri.learners.validation import check_amount, check_boolean, check_count, random_numbers
from frri.rules import Rule, RuleSet
from frri.rules.rule_statistics import statistics_from_covers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from frri._util import Flags, Floats
    from frri.learners.training import TrainingTable

# Rules change in the first few passes only; more than this is a mistake.
MOST_OPTIMIZATIONS = 10_000


class RIPPERClassifier(LimitedRuleClassifier):
    """RIPPER, a decision list of few and short rules.

    Classes are taken from the rarest to the most frequent, which gets the default rule at the end. For
    each class rules are added one by one: a random part of the objects serves to grow a rule by
    information gain, the rest to prune it. The list ends when its description length has grown too
    much. Then it is gone through again: each rule is compared with a new one and with an extension of
    itself, positives left over get further rules, and rules that do not shorten the description are
    deleted. The first rule that holds decides.

    Numeric attributes are compared with values seen in training (`<=` or `>=`), nominal ones (columns
    of text in a data frame) are tested for one value. A test of a missing value fails.

    Objects are drawn one by one to grow rules and to prune them, so that an object of weight 3, which counts
    so much in all that is counted, need not give the rules of three equal ones.

    Parameters
    ----------
    folds : int, default=3
        One object in so many is set apart for pruning.
    min_weight : float, default=2
        A test that fewer objects of the class (or less weight) satisfy is not added to a rule.
    optimizations : int, default=2
        How often each class's rules are gone through again; 0 gives IREP*.
    prune : bool, default=True
        Whether rules are pruned. If not, they are grown on all objects and there is nothing to choose
        from when they are gone through again, so they are not.
    max_rules : int, optional
        The most rules there may be, the default rule, which always stays, among them. Of those found, the one goes, again and again, that the accuracy
        in training misses least.
    max_conditions : int, optional
        The most tests that a rule may get; two of one attribute in one direction make one condition.
    min_support : float, default=0.0
        The share of its class that a rule must cover to be kept.
    class_weight : "balanced", None or mapping, default=None
        How much the objects of a class count, times their sample weights: all classes together the
        same, every object the same, or as the mapping of classes says (1 for a class that it lacks).
    missing : {"typical", "fails", "error"}, default="typical"
        Whether a missing value counts as the typical one of its column (the median, or the commonest
        category), satisfies no condition, or is refused, in training and in prediction.
    random_state : int, RandomState or None, default=None
        For the random division of objects and the order of equally frequent classes.
    n_jobs : int, optional
        How many threads predict: so many, all cores (-1), all but one (-2), and so on. None is all
        cores, or one where several models are fitted at a time by joblib. Learning takes one thread,
        and results are the same in any case.
    verbose : int, default=0
        Whether each step of learning is told on standard error, with the seconds it takes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    ruleset_ : RuleSet
        The rules in order, the default rule (without conditions) last. A rule concludes the class most
        frequent among the training objects it decides; its weight is that class's share among them.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if the table has names for its columns.

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

    def __init__(
        self,
        *,
        folds: int = 3,
        min_weight: float = 2,
        optimizations: int = 2,
        prune: bool = True,
        max_rules: int | None = None,
        max_conditions: int | None = None,
        min_support: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        missing: str = "typical",
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.folds = folds
        self.min_weight = min_weight
        self.optimizations = optimizations
        self.prune = prune
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.min_support = min_support
        self.random_state = random_state
        self.missing = missing
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, table: TrainingTable) -> None:
        crisp = self._decision_list(table)

        def made(some: Sequence[CrispRule]) -> RuleSet:
            return self._made(table, _rules(some, table), combination="first", fallback="priors")

        self.ruleset_ = self._within_limits(crisp, made, table)

    def _decision_list(self, table: TrainingTable) -> list[CrispRule]:
        """Find the rules of all classes but the most frequent, and the default rule."""
        columns, random = SortedColumns.of(table), random_numbers(self.random_state)
        strategy = Strategy(
            folds=self.folds,
            min_weight=self.min_weight,
            optimizations=self.optimizations if self.prune else 0,
            prune_building=bool(self.prune),
            keep_hopeless=False,
            max_conditions=self.max_conditions,
        )
        counts = np.array(table.class_counts)
        shuffled = random.permutation(len(counts))
        ascending = shuffled[counts[shuffled].argsort(kind="stable")]
        left = np.ones(columns.n_samples, dtype=np.bool_)
        rules: list[CrispRule] = []
        for k, own in enumerate(ascending[:-1]):
            false_share = counts[own] / counts[ascending[k:]].sum()
            problem = ClassProblem(columns, table.classes, own, left, false_share, strategy, random)
            with self._step(f"rules for {table.labels[own]!r}"):
                found = problem.rules()
            for rule in found:
                left = left & ~rule.covers
            rules += found
        everything = np.ones(columns.n_samples, dtype=np.bool_)
        return [*rules, CrispRule(NO_TESTS, everything, 0.0)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_boolean("prune", self.prune)
        check_growing(self)


def check_growing(estimator: Any) -> None:
    """Check the parameters that RIPPER and FURIA have in common."""
    check_count("folds", estimator.folds, least=2)
    check_count("optimizations", estimator.optimizations, most=MOST_OPTIMIZATIONS)
    check_amount("min_weight", estimator.min_weight)


def _rules(crisp: Sequence[CrispRule], table: TrainingTable) -> Iterator[Rule]:
    """Each rule with what it covers, and with the classes of the objects which it is first to cover."""
    covers = [rule.covers for rule in crisp]
    shares = _shares(covers, table)
    own = shares.argmax(axis=1).tolist()
    statistics = statistics_from_covers(
        own, covers, table.classes, len(table.labels), table.weights
    )
    for rule, c, share, known in zip(crisp, own, shares.tolist(), statistics, strict=True):
        yield Rule(
            conditions=tuple(
                test.condition(table.attributes[test.attribute])
                for test in without_redundant(rule.tests)
            ),
            consequent=table.labels[c],
            weight=share[c],
            statistics=known,
            distribution=tuple(share),
        )


def _shares(covers: list[Flags], table: TrainingTable) -> Floats:
    """Rules x classes: shares of the classes among the objects which a rule is the first to cover."""
    left = np.ones(len(table.classes), dtype=np.bool_)
    counts = np.empty((len(covers), len(table.labels)))
    for r, covered in enumerate(covers):
        decided = left & covered
        left = left & ~covered
        # A rule with nothing left to decide, such as a default that is never needed, speaks for all.
        rows = decided if decided.any() else np.ones_like(decided)
        weights = None if table.weights is None else table.weights[rows]
        counts[r] = np.bincount(table.classes[rows], weights, len(table.labels))
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares

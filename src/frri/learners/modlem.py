"""MODLEM: crisp rules from rough approximations of the classes (Stefanowski 1998)."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from math import inf, nextafter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from frri.learners import covering
from frri.learners.base import RuleClassifier
from frri.learners.slots import SlottedTable
from frri.rules import NominalCondition, NumericCondition, Rule, RuleSet
from frri.rules.statistics import statistics_of_counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from frri.data import Attribute
    from frri.learners.base import TrainingTable
    from frri.learners.slots import ElementaryTest
    from frri.rules import Condition

    # The conditions of a rule: for each the tests of one attribute.
    Conditions = list[list[ElementaryTest]]

# How many objects the prior share of a class counts for in the m-estimate.
PRIOR_OBJECTS = 3.0
# Longer rules do not take part in partial matching: 2^k subsets of conditions are too many.
LONGEST_PARTIAL = 16


class MODLEMClassifier(RuleClassifier):
    """MODLEM, crisp rules that cover rough approximations of the classes.

    Objects with the same values but of different classes make a class a rough set. Each class is
    approximated and then covered rule by rule: a rule starts empty and gains the test that is best for
    the objects at hand until it covers objects of the class only. Tests that the others make
    superfluous are dropped, then rules whose objects are all covered by others. Numeric attributes are
    cut halfway between neighbouring values where the class changes (`a < cut`, `a >= cut`; both sides
    make one condition `[low, high)`), nominal ones (columns of text in a data frame) are tested for
    one value; on nominal tables this is the covering of LEM2. A test of a missing value fails.

    An object is given the class of the matching rule with the highest m-estimate. If no rule matches,
    every rule counts with the m-estimate of the part of its conditions that the object satisfies.

    Parameters
    ----------
    criterion : {"laplace", "entropy"}, default="laplace"
        What makes a test the best one: the Laplace estimate of the class among the objects that
        satisfy it (many short rules), or the entropy of the class after dividing the objects by it
        (fewer, longer rules).
    approximation : {"lower", "upper", "none"}, default="lower"
        What the rules of a class have to cover: the objects that certainly belong to it (no object of
        another class has the same values), those that possibly belong to it (an object of the class
        has the same values), or simply its objects.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    ruleset_ : RuleSet
        The rules, class by class. A rule's weight is its m-estimate `(p + 3 q) / (t + 3)` for p of t
        covered objects in the approximation of its class, which makes up a share q of all objects.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only if the table has names for its columns.

    References
    ----------
    J. Stefanowski, "The rough set based rule induction technique for classification problems",
    Proceedings of EUFIT, 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> modlem = MODLEMClassifier().fit(X, y)
    >>> print(str(modlem.ruleset_).splitlines()[0])
    IF petal length (cm) < 2.45 THEN target = 0   [confidence 0.96, covers 50 of 150, precision 1.00]
    >>> modlem.predict(X[:2])
    array([0, 0])
    """

    _takes_nominal = True
    _takes_missing = True

    def __init__(
        self,
        *,
        criterion: Literal["laplace", "entropy"] = "laplace",
        approximation: Literal["lower", "upper", "none"] = "lower",
    ) -> None:
        self.criterion = criterion
        self.approximation = approximation

    def fit(self, X: Any, y: Any) -> MODLEMClassifier:
        """Learn the rules.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        MODLEMClassifier
            Itself.
        """
        self._check_parameters()
        table = self._training_table(X, y)
        slotted = SlottedTable.of(table.values, table.classes, table.attributes)
        n_classes = len(table.labels)
        targets = approximations(table.values, table.classes, n_classes, self.approximation)
        entropy = self.criterion == "entropy"
        tested = [
            [
                _by_attribute(tests)
                for tests in covering.cover(slotted, positive, n_classes, entropy=entropy)
            ]
            for positive in targets
        ]
        ruleset = RuleSet(
            rules=tuple(_rules(table, slotted, targets, tested)),
            attributes=table.attributes,
            classes=table.labels,
            target=table.target,
            combination="best",
            fallback="partial",
            class_counts=table.class_counts,
            about={
                "learner": "MODLEM",
                "parameters": {"criterion": self.criterion, "approximation": self.approximation},
            },
        )
        counts = covering.coverage_counts(
            slotted, [*chain.from_iterable(tested)], table.classes, n_classes
        )
        if counts is None:
            self.ruleset_ = ruleset.with_statistics(X, self.classes_[table.classes])
        else:
            sizes = np.array(table.class_counts, dtype=np.int64)
            found = statistics_of_counts(ruleset, *counts, sizes)
            rules = (replace(r, statistics=s) for r, s in zip(ruleset, found, strict=True))
            self.ruleset_ = replace(ruleset, rules=tuple(rules))
        return self

    def _check_parameters(self) -> None:
        for name, allowed in (
            ("criterion", ("laplace", "entropy")),
            ("approximation", ("lower", "upper", "none")),
        ):
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}.")


def _rules(
    table: TrainingTable,
    slotted: SlottedTable,
    targets: NDArray[np.bool_],
    tested: list[list[Conditions]],
) -> Iterator[Rule]:
    """The rules of all classes, with the m-estimates of all their parts."""
    for label, positive, rules in zip(table.labels, targets, tested, strict=True):
        prior = positive.sum() / len(positive)
        # Of a rule that is too long for partial matching only the whole is asked for.
        short = [rule if len(rule) <= LONGEST_PARTIAL else [] for rule in rules]
        for rule, counts in zip(
            rules, covering.subset_counts(slotted, short, positive), strict=True
        ):
            conditions = tuple(_condition(tests, table.attributes) for tests in rule)
            long = len(rule) > LONGEST_PARTIAL
            p, t = covering.counts(slotted, rule, positive) if long else counts
            weights = (p + PRIOR_OBJECTS * prior) / (t + PRIOR_OBJECTS)
            partial = () if long else tuple(weights.tolist())
            yield Rule(conditions, label, float(weights[-1]), partial_weights=partial)


def approximations(
    values: NDArray[np.float64], classes: NDArray[np.intp], n_classes: int, kind: str
) -> NDArray[np.bool_]:
    """Which objects belong to the approximation of which class, shape (n_classes, n_objects).

    Missing values count as equal to each other.

    Examples
    --------
    >>> values, classes = np.array([[1.0], [1.0], [2.0]]), np.array([0, 1, 1])
    >>> approximations(values, classes, 2, "lower")
    array([[False, False, False],
           [False, False,  True]])
    >>> approximations(values, classes, 2, "upper")
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    members: NDArray[np.bool_] = classes == np.arange(n_classes)[:, None]
    if kind == "none":
        return members
    group = np.zeros(len(values), dtype=np.int64)
    for column in values.T:
        _, rank = np.unique(column, return_inverse=True)
        _, group = np.unique(group * (rank.max() + 1) + rank, return_inverse=True)
    n_groups = group.max() + 1
    present = np.array([np.bincount(group[own], minlength=n_groups) > 0 for own in members])
    if kind == "upper":
        return np.asarray(present[:, group])
    return np.asarray(members & (present.sum(axis=0) == 1)[group])


def _by_attribute(tests: Iterable[ElementaryTest]) -> list[list[ElementaryTest]]:
    """The tests grouped by attribute, in order of first use."""
    groups: dict[int, list[ElementaryTest]] = {}
    for test in tests:
        groups.setdefault(test.attribute, []).append(test)
    return list(groups.values())


def _condition(tests: list[ElementaryTest], attributes: tuple[Attribute, ...]) -> Condition:
    """One condition for all tests of one attribute."""
    attribute = attributes[tests[0].attribute]
    if attribute.kind == "nominal":
        assert attribute.categories is not None  # noqa: S101
        return NominalCondition(
            attribute.name, frozenset({attribute.categories[int(tests[0].bound)]})
        )
    low = max((test.bound for test in tests if not test.below), default=-inf)
    high = min((test.bound for test in tests if test.below), default=inf)
    core_high = high if high == inf else nextafter(high, -inf)
    return NumericCondition(attribute.name, low, low, core_high, high)

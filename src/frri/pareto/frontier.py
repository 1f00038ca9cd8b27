"""How few errors so many rules of a pool can make, with a proof: from one rule to a handful.

A *pool* is any number of rules that say a class, of one learner or of several. In a labelled table each of
them counts its precision there, drawn a little towards chance (Laplace: one more object of its own class, and
one of every other), times the degree to which it holds. The best of the chosen rules decides about an
object. Where none of them covers it, the commonest class does. So a choice is a ruleset of the semantics
"best-rule" with the fallback "priors", and its errors are those that its own prediction makes.
"""

import operator
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import import_optional
from frri.rules.condition import NumericCondition, is_strict
from frri.rules.rule import Label, Rule
from frri.rules.rule_statistics import class_positions
from frri.rules.ruleset import RuleSet
from frri.rules.semantics import CLASS_RULES, Semantics, Support

if TYPE_CHECKING:
    import pandas as pd

SUPPORTED = Support(
    "A pool of rules",
    "it takes rules that say or vote for a class",
    CLASS_RULES | {"softmax-votes"},
)


@dataclass(frozen=True)
class FrontierPoint:
    """The best ruleset found of at most so many rules, and what is proved about it.

    Parameters
    ----------
    at_most : int
        How many rules there may be; the ruleset may have fewer, where more do not help.
    ruleset : RuleSet
    errors : int
        Objects of the table that it decides wrongly.
    bound : int
        Proved: no ruleset of at most so many rules of the pool makes fewer errors.
    n_pool : int
        How many rules the pool has.
    """

    at_most: int
    ruleset: RuleSet
    errors: int
    bound: int
    n_pool: int

    @property
    def proved(self) -> bool:
        """Whether nothing better can be had."""
        return self.errors == self.bound

    @property
    def certificate(self) -> str:
        """What is proved, as a sentence."""
        several = self.at_most > 1
        known = (
            f"{f'No {self.at_most}' if several else 'None'} of these {self.n_pool:,} rules "
            f"{'make' if several else 'makes'} fewer than {self.bound:,} errors"
        )
        if self.bound == 0 < self.errors:
            return (
                f"{self.at_most} of these {self.n_pool:,} rules: nothing is proved, there was no time; "
                f"these {len(self.ruleset)} make {self.errors:,} errors."
            )
        if not self.proved:
            return f"{known}; these {len(self.ruleset)} make {self.errors:,}."
        if len(self.ruleset) == 1:
            return f"{known}; this one makes no more."
        return f"{known}; {f'these {len(self.ruleset)}' if self.ruleset.rules else 'no rules at all'} make no more."


@dataclass(frozen=True)
class Frontier:
    """What `frontier` returns: the fewest errors for each number of rules.

    Parameters
    ----------
    pool : RuleSet
        The rules there were to choose from, with what they count.
    default : label
        The class of objects that none of the chosen rules covers.
    n_objects : int
    points : tuple of FrontierPoint
        One for each size, ascending.
    """

    pool: RuleSet
    default: Label
    n_objects: int
    points: tuple[FrontierPoint, ...]

    def __getitem__(self, at_most: int) -> FrontierPoint:
        """The point of a size."""
        for point in self.points:
            if point.at_most == at_most:
                return point
        sizes = ", ".join(str(point.at_most) for point in self.points)
        raise KeyError(f"There is no point for {at_most} rules; there are {sizes}.")

    def cheapest(self, price: float) -> tuple[FrontierPoint, float]:
        """The point with the least errors + price x rules, and what that cannot be below.

        Parameters
        ----------
        price : float
            How many errors a rule must save to be worth it.

        Returns
        -------
        point : FrontierPoint
        bound : float
            Proved for all rulesets of at most as many rules as the largest size.
        """
        if not price >= 0:
            raise ValueError(f"price must be a number of errors and not negative, got {price!r}.")
        costs = [point.errors + price * len(point.ruleset) for point in self.points]
        # More rules than the size before, and at least the errors that are proved for this one.
        before = [0, *(point.at_most for point in self.points)]
        least = [
            point.bound + price * (fewer + 1)
            for point, fewer in zip(self.points, before, strict=False)
        ]
        nothing = sum(self.pool.class_counts) - max(self.pool.class_counts)
        return self.points[int(np.argmin(costs))], min(*least, nothing)

    def to_dict(self) -> dict[str, Any]:
        """What is known of each size, for JSON."""
        return {
            "target": self.pool.target,
            "pool": len(self.pool),
            "objects": self.n_objects,
            "default": self.default,
            "points": [
                {
                    "at_most": point.at_most,
                    "rules": len(point.ruleset),
                    "errors": point.errors,
                    "bound": point.bound,
                    "proved": point.proved,
                    "certificate": point.certificate,
                }
                for point in self.points
            ],
        }

    def to_frame(self) -> "pd.DataFrame":
        """A row for each size, as a pandas data frame."""
        pandas = import_optional("pandas", "A table of sizes", "tables")
        points = pandas.DataFrame(self.to_dict()["points"])
        return points.drop(columns="certificate")

    def __str__(self) -> str:
        first = (
            f"{len(self.pool):,} rules, {self.n_objects:,} objects; "
            f"what no rule covers is {self.pool.target} = {self.default}."
        )
        return "\n".join([first, *(point.certificate for point in self.points)])


def frontier(
    pool: RuleSet | Iterable[RuleSet],
    X: Any,
    y: Any,
    *,
    sizes: Iterable[int] = (1, 2, 3, 4, 5, 6),
    time_limit: float | None = 60.0,
) -> Frontier:
    """Choose from a pool of rules those that make the fewest errors, for each number of rules.

    Parameters
    ----------
    pool : RuleSet or iterable of RuleSet
        The rules of learners for the same table; equal rules are taken once. `tree_rules` makes them of
        trees. Rulesets must agree in the names of attributes, in classes, and in the t-norm where
        conditions fade; what becomes of missing values and of values outside the range is as in the
        first one.
    X, y : table and labels
        The objects to be decided rightly, usually those that the rules were learned from.
    sizes : iterable of int
        How many rules there may be.
    time_limit : float, optional
        Limit in seconds for the proofs, shared among the sizes; None takes the time that it takes. What
        is not proved in time is told by the bound, which depends on the machine then.

    Returns
    -------
    Frontier

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from frri import RIPPERClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> pool = [RIPPERClassifier(random_state=seed).fit(X, y).ruleset_ for seed in range(5)]
    >>> print(frontier(pool, X, y, sizes=[1, 2, 3]))
    11 rules, 150 objects; what no rule covers is target = 0.
    None of these 11 rules makes fewer than 50 errors; this one makes no more.
    No 2 of these 11 rules make fewer than 6 errors; these 2 make no more.
    No 3 of these 11 rules make fewer than 3 errors; these 3 make no more.
    """
    limits = sorted({operator.index(size) for size in sizes})
    if not limits or limits[0] < 1:
        raise ValueError(f"sizes must be numbers of rules from 1 on, got {limits}.")
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(f"time_limit must be a number of seconds, got {time_limit!r}.")
    from frri.pareto.best_subset import fewest_errors  # noqa: PLC0415 - scipy is not needed for prediction

    rules = _weighted(_joined([pool] if isinstance(pool, RuleSet) else list(pool)), X, y)
    classes = class_positions(rules, y, len(y))
    counted = (rules.degrees(X) * rules.arrays.weights).T
    default, said = int(np.argmax(rules.class_counts)), rules.arrays.classes
    found = fewest_errors(counted, said, classes, limits, default=default, time_limit=time_limit)
    points = []
    for choice in found:
        chosen = replace(rules, rules=tuple(rules[r] for r in choice.selected.tolist()))
        point = FrontierPoint(choice.at_most, chosen, choice.errors, choice.bound, len(rules))
        told = dict(rules.about) | {"frontier": point.certificate}
        points.append(replace(point, ruleset=replace(chosen, about=told)))
    return Frontier(rules, rules.classes[default], len(classes), tuple(points))


def _joined(pools: list[RuleSet]) -> RuleSet:
    """All rules that differ, in the order in which they come, as a ruleset of which the best decides."""
    if not pools:
        raise ValueError("The pool is empty; give at least one ruleset.")
    first = pools[0]
    rules: dict[tuple[Any, ...], Rule] = {}
    for one in pools:
        SUPPORTED.require(one.semantics)
        for what, mine, other in (
            ("attributes", _names(first), _names(one)),
            ("classes", first.classes, one.classes),
        ):
            if mine != other:
                raise ValueError(
                    f"The rulesets of a pool must have the same {what}, got {mine} and {other}."
                )
        for rule in one:
            rules.setdefault(
                (rule.conditions, rule.consequent), Rule(rule.conditions, rule.consequent)
            )
    # Without slopes, all t-norms are the same.
    t_norms = list(dict.fromkeys(one.t_norm for one in pools if not _is_crisp(one)))
    if len(t_norms) > 1:
        raise ValueError(
            "The rulesets of a pool must join conditions in the same way, got the t-norms "
            f"{' and '.join(t_norms)}."
        )
    (t_norm,) = t_norms or [first.t_norm]
    settings = Semantics("best-rule", t_norm, "priors", first.clip, first.missing)
    return RuleSet(
        tuple(rules.values()), first.attributes, first.classes, first.target, semantics=settings
    )


def _weighted(pool: RuleSet, X: Any, y: Any) -> RuleSet:
    """The rules with their precision in a table, and the sizes of its classes."""
    n_classes = len(pool.classes)
    rules = []
    for rule, known in zip(pool, pool.statistics(X, y), strict=True):
        own = known.support[pool.classes.index(rule.consequent)]
        weight = (own + 1.0) / (known.covered + n_classes)
        rules.append(replace(rule, weight=weight, statistics=known))
    sizes = np.bincount(class_positions(pool, y, len(y)), minlength=n_classes)
    return replace(pool, rules=tuple(rules), class_counts=tuple(sizes.astype(float).tolist()))


def _is_crisp(ruleset: RuleSet) -> bool:
    """Whether every condition holds fully or not at all."""
    return all(
        core == support or is_strict(core, support)
        for rule in ruleset
        for c in rule.conditions
        if isinstance(c, NumericCondition)
        for core, support in ((c.core_low, c.support_low), (c.core_high, c.support_high))
    )


def _names(ruleset: RuleSet) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in ruleset.attributes)

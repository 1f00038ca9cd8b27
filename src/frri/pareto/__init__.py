"""The trade-off between the number of rules and the errors, with a proof for each size.

A *pool* is any number of rules that predict a class, of one estimator or of several. The weight of
each rule is its precision in a labelled table with Laplace smoothing (one more sample of its own
class, and one of every other). The chosen rule with the highest weight times degree decides about
a sample, and the majority class decides where no chosen rule covers it. So a choice is a rule set
with the semantics "best-rule" and the fallback "priors", and its errors are those of its own
predictions.
"""

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf, nextafter
from typing import Any

import numpy as np

from frri._util import import_optional
from frri.rules.condition import NumericCondition
from frri.rules.rule import Label, Rule
from frri.rules.rule_statistics import class_positions
from frri.rules.ruleset import RuleSet
from frri.rules.semantics import CLASS_RULES, Semantics
from frri.table import column_names, describe_columns
from frri.table.columns import Frame

SUPPORTED = CLASS_RULES | {"softmax-votes"}


@dataclass(frozen=True)
class FrontierPoint:
    """The best rule set found of a maximum size, and the proven bound on its errors.

    Parameters
    ----------
    at_most : int
        Maximum number of rules; the rule set may have fewer, where more do not help.
    ruleset : RuleSet
    errors : int
        Number of samples that it misclassifies.
    bound : int
        Proven lower bound on the errors of all rule sets of at most that size from the pool.
    n_pool : int
        Number of rules in the pool.
    """

    at_most: int
    ruleset: RuleSet
    errors: int
    bound: int
    n_pool: int

    @property
    def proved(self) -> bool:
        """Whether the rule set is proven optimal."""
        return self.errors == self.bound

    @property
    def certificate(self) -> str:
        """The proof as a sentence."""
        proof = f"proven lower bound {self.bound:,}"
        if self.proved:
            proof = "proven minimum"
        elif self.bound == 0:
            proof = "no lower bound within the time limit"
        rules = "1 rule" if self.at_most == 1 else f"{self.at_most} rules"
        errors = "1 error" if self.errors == 1 else f"{self.errors:,} errors"
        fewer = f" with {len(self.ruleset)}" if len(self.ruleset) < self.at_most else ""
        return f"At most {rules} of {self.n_pool:,}: {errors}{fewer} ({proof})."


@dataclass(frozen=True)
class Frontier:
    """The fewest errors for each number of rules, as `frontier` returns them.

    Parameters
    ----------
    pool : RuleSet
        The rules to choose from, with their weights.
    default : label
        Class of samples that none of the chosen rules covers.
    n_objects : int
    points : tuple of FrontierPoint
        One for each size, ascending.
    """

    pool: RuleSet
    default: Label
    n_objects: int
    points: tuple[FrontierPoint, ...]

    def __getitem__(self, at_most: int) -> FrontierPoint:
        """Return the point of a size."""
        points = {point.at_most: point for point in self.points}
        if at_most not in points:
            sizes = ", ".join(map(str, points))
            raise KeyError(f"There is no point for {at_most} rules; there are {sizes}.")
        return points[at_most]

    def to_dict(self) -> dict[str, Any]:
        """Return the results for each size, for JSON."""
        return {
            "target": self.pool.target,
            "pool": len(self.pool),
            "objects": self.n_objects,
            "default": self.default,
            "points": [
                {"at_most": point.at_most, "rules": len(point.ruleset)}
                | {key: getattr(point, key) for key in ("errors", "bound", "proved", "certificate")}
                for point in self.points
            ],
        }

    def to_frame(self) -> Frame:
        """Return a row for each size, as a pandas data frame."""
        pandas = import_optional("pandas", "A table of sizes", "tables")
        return pandas.DataFrame(self.to_dict()["points"]).drop(columns="certificate")

    def __str__(self) -> str:
        first = (
            f"Pool of {len(self.pool):,} rules, {self.n_objects:,} samples; "
            f"default class: {self.pool.target} = {self.default}."
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
        Rules of estimators for the same table; equal rules are taken once. `tree_rules` extracts
        them from trees. The rule sets must agree in the names of features, in classes, and in the
        t-norm where conditions are fuzzy; the treatment of missing values and of values outside
        the range is that of the first one. Costs of misclassification are left out: all errors
        count the same.
    X, y : table and labels
        Samples to classify, usually those that the rules were learned from.
    sizes : iterable of int
        Maximum numbers of rules.
    time_limit : float, optional
        Limit in seconds for the proofs, shared among the sizes; None for no limit. Bounds that are
        not proven optimal in time depend on the machine.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from frri import RIPPERClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> pool = [RIPPERClassifier(random_state=seed).fit(X, y).ruleset_ for seed in range(5)]
    >>> print(frontier(pool, X, y, sizes=[1, 2, 3]))
    Pool of 11 rules, 150 samples; default class: target = 0.
    At most 1 rule of 11: 50 errors (proven minimum).
    At most 2 rules of 11: 6 errors (proven minimum).
    At most 3 rules of 11: 3 errors (proven minimum).
    """
    limits = sorted({operator.index(size) for size in sizes})
    if not limits or limits[0] < 1:
        raise ValueError(f"sizes must be numbers of rules from 1 on, got {limits}.")
    if time_limit is not None and not time_limit >= 0:
        raise ValueError(f"time_limit must be a number of seconds, got {time_limit!r}.")
    from frri.pareto.best_subset import find_best_subsets  # noqa: PLC0415 - scipy is slow to import

    rules = _weigh_rules(_join_pools([pool] if isinstance(pool, RuleSet) else list(pool)), X, y)
    classes = class_positions(rules, y, len(y))
    scores = (rules.degrees(X) * rules.arrays.weights).T
    default = int(np.argmax(rules.class_counts))
    points = []
    for subset in find_best_subsets(
        scores, rules.arrays.classes, classes, limits, default=default, time_limit=time_limit
    ):
        chosen = replace(rules, rules=tuple(rules[r] for r in subset.selected.tolist()))
        point = FrontierPoint(subset.at_most, chosen, subset.errors, subset.bound, len(rules))
        about = dict(rules.about) | {"frontier": point.certificate}
        points.append(replace(point, ruleset=replace(chosen, about=about)))
    return Frontier(rules, rules.classes[default], len(classes), tuple(points))


def _join_pools(pools: list[RuleSet]) -> RuleSet:
    """Return all distinct rules in their order, as a rule set of which the best rule decides."""
    if not pools:
        raise ValueError("The pool is empty; give at least one ruleset.")
    first = pools[0]
    rules: dict[tuple[Any, ...], Rule] = {}
    for one in pools:
        remedy = "it takes rules that say or vote for a class"
        one.semantics.require(SUPPORTED, "A pool of rules", remedy)
        for what, mine, other in (
            ("attributes", *(tuple(a.name for a in pool.attributes) for pool in (first, one))),
            ("classes", first.classes, one.classes),
        ):
            if mine != other:
                raise ValueError(
                    f"The rule sets of a pool must have the same {what}, got {mine} and {other}."
                )
        for rule in one:
            key = rule.conditions, rule.consequent
            rules.setdefault(key, Rule(*key))
    # Without slopes, all t-norms are equal.
    slopes = [(p, s) for p in pools for r in p for c in r.conditions for s in c.sides]
    t_norms = list(dict.fromkeys(one.t_norm for one, side in slopes if not side.is_crisp))
    if len(t_norms) > 1:
        raise ValueError(
            "The rule sets of a pool must join conditions in the same way, got the t-norms "
            f"{' and '.join(t_norms)}."
        )
    (t_norm,) = t_norms or [first.t_norm]
    settings = Semantics("best-rule", t_norm, "priors", first.clip, first.missing)
    return RuleSet(
        tuple(rules.values()), first.attributes, first.classes, first.target, semantics=settings
    )


def _weigh_rules(pool: RuleSet, X: Any, y: Any) -> RuleSet:
    """Return the rules with their precision in a table as weights, and its class counts."""
    n_classes = len(pool.classes)
    rules = []
    for rule, known in zip(pool, pool.statistics(X, y), strict=True):
        own = known.support[pool.classes.index(rule.consequent)]
        weight = (own + 1.0) / (known.covered + n_classes)
        rules.append(replace(rule, weight=weight, statistics=known))
    sizes = np.bincount(class_positions(pool, y, len(y)), minlength=n_classes)
    return replace(pool, rules=tuple(rules), class_counts=tuple(sizes.astype(float).tolist()))


def tree_rules(model: Any, X: Any, y: Any) -> RuleSet:
    """Return a rule for every leaf of a scikit-learn tree or forest, each once.

    A rule predicts the majority class of its leaf. The rules are candidates for `frontier`,
    where the best one decides; only those of a single tree decide as it does. A tree rounds values
    to single precision before it compares them and a rule does not, so a value that is nearly a
    threshold may be on the other side of it.

    Parameters
    ----------
    model : fitted DecisionTreeClassifier, RandomForestClassifier or ExtraTreesClassifier
    X, y : table of numbers and labels
        Those that it was fitted to, for names, ranges and statistics.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[["petal width (cm)"]], y)
    >>> print(tree_rules(tree, X[["petal width (cm)"]], y))
    IF petal width (cm) <= 0.8 THEN target = 0   [weight 1.00, covers 50 of 150, precision 1.00]
    IF petal width (cm) > 0.8 THEN target = 1   [weight 1.00, covers 100 of 150, precision 0.50]
    """
    trees = find_trees(model)
    if not trees:
        raise ValueError(
            f"{type(model).__name__} has no leaves; give a fitted tree or forest of scikit-learn."
        )
    matrix = np.asarray(X, dtype=np.float64)
    names = column_names(X) or [f"x{j}" for j in range(matrix.shape[1])]
    classes = np.asarray(model.classes_).tolist()
    rules = {
        Rule(conditions, classes[own]): None
        for tree in trees
        for conditions, own in _leaves(tree, names)
    }
    found = RuleSet(
        tuple(rules),
        describe_columns(matrix, names),
        tuple(classes),
        str(getattr(y, "name", None) or "class"),
        fallback="priors",
        class_counts=tuple(float((np.asarray(y) == label).sum()) for label in classes),
    )
    return found.with_statistics(X, y)


def find_trees(model: Any) -> list[Any]:
    """Return the trees of a fitted tree or forest of scikit-learn; none of other models."""
    found = [model] if hasattr(model, "tree_") else np.ravel(getattr(model, "estimators_", []))
    return [one.tree_ for one in found] if all(hasattr(one, "tree_") for one in found) else []


def paths_to_leaves(tree: Any) -> Iterator[tuple[int, tuple[tuple[int, bool], ...]]]:
    """Yield each leaf, with the nodes on the way to it and whether that goes on to the right."""
    waiting: list[tuple[int, tuple[tuple[int, bool], ...]]] = [(0, ())]
    while waiting:
        node, path = waiting.pop()
        if tree.children_left[node] < 0:
            yield node, path
        else:
            waiting.append((int(tree.children_right[node]), (*path, (node, True))))
            waiting.append((int(tree.children_left[node]), (*path, (node, False))))


def _leaves(tree: Any, names: list[str]) -> Iterator[tuple[tuple[NumericCondition, ...], int]]:
    """Yield the conditions on the way to each leaf, one for a feature, and its majority class."""
    for leaf, path in paths_to_leaves(tree):
        bounds: dict[int, tuple[float, float]] = {}
        for node, is_right in path:
            j, cut = int(tree.feature[node]), float(tree.threshold[node])
            low, high = bounds.get(j, (-inf, inf))
            bounds[j] = (max(low, cut), high) if is_right else (low, min(high, cut))
        conditions = [
            NumericCondition(names[j], low, low if low == -inf else nextafter(low, inf), high, high)
            for j, (low, high) in sorted(bounds.items())
        ]
        yield tuple(conditions), int(tree.value[leaf].argmax())

"""How large a model is: its rules, and what stands in them, counted in three ways.

Learners count differently. FRRI has one condition per attribute, open on one side or bounded on both.
RIPPER and FURIA bound an attribute on one side per condition, and may come back to it. So a rule's
length is given in conditions as the learner writes them, in attributes used, and in one-sided bounds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from frri.rules import NumericCondition, Rule, RuleSet


@dataclass(frozen=True)
class Size:
    """The size of a model of rules.

    Attributes
    ----------
    conditions, attributes, bounds : tuple of int
        One number per rule; a default rule without conditions has 0.

    Examples
    --------
    >>> size = Size(conditions=(2, 1, 0), attributes=(1, 1, 0), bounds=(2, 2, 0))
    >>> size.rules, size.mean("conditions")
    (3, 1.5)
    """

    conditions: tuple[int, ...]
    attributes: tuple[int, ...]
    bounds: tuple[int, ...]

    @property
    def rules(self) -> int:
        """How many rules there are, with a default rule."""
        return len(self.conditions)

    def mean(self, unit: str) -> float | None:
        """Mean length of the rules that have conditions; None if there are none."""
        lengths = [n for n in getattr(self, unit) if n]
        return float(np.mean(lengths)) if lengths else None


def size_of(model: Any) -> Size | None:
    """The size of a fitted model; None if it does not consist of rules.

    A decision tree has a rule per leaf, a forest the rules of all its trees; the last step of a
    pipeline counts for the whole.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(*load_iris(return_X_y=True))
    >>> size_of(tree)
    Size(conditions=(1, 2, 2), attributes=(1, 1, 1), bounds=(1, 2, 2))
    """
    steps = getattr(model, "steps", None)
    if steps:
        return size_of(steps[-1][1])
    ruleset = getattr(model, "ruleset_", None)
    if isinstance(ruleset, RuleSet):
        return _joined(_of_rule(rule) for rule in ruleset)
    if hasattr(model, "tree_"):
        return _joined(_leaves(model.tree_))
    members = getattr(model, "estimators_", None)
    if members is not None and all(hasattr(m, "tree_") for m in np.ravel(members)):
        return _joined(leaf for m in np.ravel(members) for leaf in _leaves(m.tree_))
    return None


def _of_rule(rule: Rule) -> tuple[int, int, int]:
    attributes = {condition.attribute for condition in rule.conditions}
    bounds = sum(_bounds(condition) for condition in rule.conditions)
    return len(rule.conditions), len(attributes), bounds


def _bounds(condition: Any) -> int:
    if not isinstance(condition, NumericCondition):
        return 1
    return (condition.core_low > -inf) + (condition.core_high < inf)


def _leaves(tree: Any) -> list[tuple[int, int, int]]:
    """Depth, distinct attributes and depth again of every leaf."""
    found = []
    stack: list[tuple[int, Sequence[int]]] = [(0, ())]
    while stack:
        node, path = stack.pop()
        if tree.children_left[node] < 0:
            found.append((len(path), len(set(path)), len(path)))
            continue
        path = (*path, int(tree.feature[node]))
        stack += [(tree.children_right[node], path), (tree.children_left[node], path)]
    return found


def _joined(rules: Iterable[tuple[int, int, int]]) -> Size:
    conditions, attributes, bounds = tuple(zip(*rules, strict=True)) or ((), (), ())
    return Size(conditions, attributes, bounds)

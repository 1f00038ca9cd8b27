"""Similar rules merged bottom-up into more general ones: a tree that can be cut at any height.

Two rules of one class become their *hull*: on each attribute that both look at, the narrowest
condition that holds wherever either does. At each step, of all rules not merged yet, those two are
merged whose hull covers the fewest enemies (objects of other classes, in a labelled table) that
neither of them covered, for the size of their class; of equal pairs that which covers most objects
of its class, then the first. The hull loses, in the order of the attributes, every condition that
no longer discerns: without it no more enemies are covered. Rules that have no attribute in common
are not merged.

A merged rule counts what its two count on average, by what they cover, times the share of the way
from chance to certainty at which its precision stands: 1 for a precision of 1, 0 for one that is
no better than the share of the class. It has no partial weights, so where no rule holds it has no
say with the fallbacks "stretched" and "partial". In a decision list it stands where the first of
its rules stood.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Flags, Floats, Positions
from frri.rules import rule_statistics, text
from frri.rules.condition import Condition, NominalCondition, NumericCondition
from frri.rules.matching import Matcher
from frri.rules.provenance import About
from frri.rules.rule import Label, Rule
from frri.rules.semantics import CLASS_RULES, Semantics, Support
from frri.table import Attribute, to_matrix

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

SUPPORTED = Support(
    "A hierarchy of rules",
    "it takes rules that say a class, so give the learner another max_rules instead",
    CLASS_RULES,
)


@dataclass(frozen=True)
class RuleNode:
    """A rule of the tree: one of the ruleset, or a more general one made of two.

    Parameters
    ----------
    rule : Rule
    support : tuple of float
        How many objects of each class it covers, or what they weigh.
    precision : float or None
        The share of these that are of its own class; None if it covers nothing.
    rules : tuple of int
        The positions of the rules of the ruleset that it stands for.
    children : tuple of RuleNode
        The two that it was made of; none for a rule of the ruleset.
    step : int
        In which step it was made, from 1; 0 for a rule of the ruleset.
    """

    rule: Rule
    support: tuple[float, ...]
    precision: float | None
    rules: tuple[int, ...]
    children: tuple["RuleNode", ...] = ()
    step: int = 0

    @property
    def covered(self) -> float:
        """Return how many objects it covers in all, or what they weigh."""
        return sum(self.support)


@dataclass(frozen=True)
class Hierarchy:
    """What `RuleSet.hierarchy` returns: a tree for each group of rules that have something in common.

    Parameters
    ----------
    ruleset : RuleSet
        The rules at the bottom.
    roots : tuple of RuleNode
        The most general rules, in the order of the rules that they stand for.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> bounds = [(1, 2), (3, 4), (8, 9)]
    >>> rules = [Rule((NumericCondition("a", low, low, high, high),), "x") for low, high in bounds]
    >>> rules = RuleSet(tuple(rules), (Attribute("a", 0, 9),), ("x", "y"))
    >>> tree = rules.hierarchy([[1], [2], [3], [4], [6], [8]], ["x", "x", "x", "x", "y", "x"])
    >>> print(tree)
    IF 1 <= a <= 9 THEN class = x   [covers 6, precision 0.83, 3 rules]
    |-- IF 1 <= a <= 4 THEN class = x   [covers 4, precision 1.00, 2 rules]
    |   |-- 1  IF 1 <= a <= 2 THEN class = x   [covers 2, precision 1.00]
    |   `-- 2  IF 3 <= a <= 4 THEN class = x   [covers 2, precision 1.00]
    `-- 3  IF 8 <= a <= 9 THEN class = x   [covers 1, precision 1.00]
    >>> print(tree.cut(min_precision=0.9))
    IF 1 <= a <= 4 THEN class = x   [confidence 1.00, covers 4 of 2, precision 1.00]
    IF 8 <= a <= 9 THEN class = x   [confidence 1.00, covers 1 of 2, precision 1.00]
    """

    ruleset: "RuleSet"
    roots: tuple[RuleNode, ...]
    _table: "_Table" = field(repr=False, compare=False)

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the fewest and the most rules that a cut can have."""
        return len(self.roots), len(self.ruleset)

    def nodes(self) -> Iterator[RuleNode]:
        """Return all nodes, every one before what is below it."""
        waiting = list(reversed(self.roots))
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    def cut(self, max_rules: int | None = None, *, min_precision: float | None = None) -> "RuleSet":
        """Return a smaller ruleset that predicts by itself.

        Parameters
        ----------
        max_rules : int, optional
            How many rules there may be: the first steps of merging are done until there are so
            many.
        min_precision : float, optional
            The precision that a more general rule must have: the most general rules that have it,
            and of the others what is below.

        Returns
        -------
        RuleSet
            In the order of the rules that they stand for, with their statistics in the table that
            the tree was made on.
        """
        if (max_rules is None) == (min_precision is None):
            raise ValueError("Give either max_rules or min_precision to cut a hierarchy.")
        fewest, most = self.sizes
        if max_rules is not None and max_rules < fewest:
            raise ValueError(
                f"max_rules must be {fewest} or more, got {max_rules}: the most general rules of this "
                "hierarchy have nothing in common."
            )
        last = most if max_rules is None else most - max_rules

        def stays(node: RuleNode) -> bool:
            if not node.children:
                return True
            if min_precision is not None:
                return node.precision is not None and node.precision >= min_precision
            return node.step <= last

        kept, waiting = [], list(reversed(self.roots))
        while waiting:
            node = waiting.pop()
            if stays(node):
                kept.append(node)
            else:
                waiting += reversed(node.children)
        kept.sort(key=lambda node: node.rules)
        return self._table.with_statistics(self.ruleset, [node.rule for node in kept])

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values: the target, its classes, the sizes of cuts and the roots.

        A node has its `text`, what a saved ruleset has of a rule (`if`, `then`, `weight`, ...),
        `support` by class, `covered`, `precision`, the `step` that made it, the `rules` it stands
        for (positions from 0) and its `children`.
        """
        nodes = list(self.nodes())
        rules = replace(self.ruleset, rules=tuple(node.rule for node in nodes)).to_dict()["rules"]
        made: dict[int, dict[str, Any]] = {}
        for node, rule in zip(reversed(nodes), reversed(rules), strict=True):
            made[id(node)] = {
                "text": self._sentence(node),
                **rule,
                "support": list(node.support),
                "covered": node.covered,
                "precision": node.precision,
                "step": node.step,
                "rules": list(node.rules),
                "children": [made.pop(id(child)) for child in node.children],
            }
        return {
            "target": self.ruleset.target,
            "classes": list(self.ruleset.classes),
            "sizes": list(self.sizes),
            "roots": [made[id(root)] for root in self.roots],
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, depth: int | None = None) -> str:
        """Return the tree as lines; what is deeper than `depth` is only counted.

        Numbers before rules are those of the ruleset, from 1.
        """
        lines = []
        waiting = [(root, 0, "", "") for root in reversed(self.roots)]
        while waiting:
            node, level, branch, margin = waiting.pop()
            lines.append(f"{branch}{self._line(node)}")
            if depth is not None and level >= depth:
                continue
            for child in reversed(node.children):
                ends = child is node.children[-1]
                shape, below = ("`-- ", "    ") if ends else ("|-- ", "|   ")
                waiting.append((child, level + 1, margin + shape, margin + below))
        return "\n".join(lines)

    def _line(self, node: RuleNode) -> str:
        facts = [f"covers {text.amount(node.covered)}"]
        if node.precision is not None:
            facts.append(f"precision {text.share(node.precision)}")
        if node.children:
            facts.append(f"{len(node.rules)} rules")
        number = "" if node.children else f"{node.rules[0] + 1}  "
        return f"{number}{self._sentence(node)}   [{', '.join(facts)}]"

    def _sentence(self, node: RuleNode) -> str:
        return text.rule_sentence(self.ruleset, node.rule)


def hierarchy(ruleset: "RuleSet", X: Any, y: Any, sample_weight: Any = None) -> Hierarchy:
    """Merge the rules of each class bottom-up: see `RuleSet.hierarchy`."""
    SUPPORTED.require(ruleset.semantics)
    table = _Table.of(ruleset, X, y, sample_weight)
    covers = list(table.covers(ruleset.rules))
    nodes = [
        table.node(rule, own, (r,))
        for r, (rule, own) in enumerate(zip(ruleset, covers, strict=True))
    ]
    alive = dict(enumerate(nodes))
    queue: list[tuple[float, float, int, int]] = []

    def offer(new: int, others: Iterable[int]) -> None:
        """Queue what a node would make with others, that with the fewest new enemies first."""
        rule = nodes[new].rule
        hulls = {
            other: hull(nodes[other].rule, rule, ruleset.attributes)
            for other in others
            if nodes[other].rule.consequent == rule.consequent
        }
        hulls = {other: conditions for other, conditions in hulls.items() if conditions}
        made = table.covers([Rule(conditions, rule.consequent) for conditions in hulls.values()])
        own = table.labels.index(rule.consequent)
        size = table.sizes[own] or 1
        for other, covered in zip(hulls, made, strict=True):
            gained = table.support(covered & ~covers[new] & ~covers[other])
            friends = table.support(covered)[own]
            pair = min(other, new), max(other, new)
            heapq.heappush(queue, ((sum(gained) - gained[own]) / size, -friends, *pair))

    for r in range(len(nodes)):
        offer(r, range(r))
    while queue:
        *_, first, second = heapq.heappop(queue)
        if first not in alive or second not in alive:
            continue
        new, step = len(nodes), len(nodes) - len(ruleset) + 1
        rule, covered = table.merged(alive[first], alive[second])
        children = tuple(sorted((alive.pop(first), alive.pop(second)), key=lambda n: n.rules))
        below = tuple(sorted((*children[0].rules, *children[1].rules)))
        nodes.append(table.node(rule, covered, below, children, step))
        covers.append(covered)
        offer(new, alive)
        alive[new] = nodes[new]
    roots = sorted(alive.values(), key=lambda node: node.rules)
    return Hierarchy(ruleset, tuple(roots), table)


@dataclass(frozen=True, eq=False)
class _Table:
    """The labelled rows on which rules are measured, and what the rules mean."""

    semantics: Semantics
    attributes: tuple[Attribute, ...]
    labels: tuple[Label, ...]
    matrix: Floats
    classes: Positions
    weights: Floats | None

    @classmethod
    def of(cls, ruleset: "RuleSet", X: Any, y: Any, sample_weight: Any) -> "_Table":
        table = to_matrix(X, ruleset.attributes, ruleset.used_attributes)
        matrix = ruleset.arrays.matcher.clipped(table)
        classes = rule_statistics.class_positions(ruleset, y, len(matrix))
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        known = ruleset.semantics, ruleset.attributes, ruleset.classes
        return cls(*known, matrix, classes, weights)

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """Return of the classes, or what they weigh."""
        return self.support(np.ones(len(self.classes), dtype=np.bool_))

    def covers(self, rules: Sequence[Rule]) -> Flags:
        """Return rules x rows."""
        matcher = Matcher(rules, self.attributes, self.semantics)
        covers = np.zeros((len(rules), len(self.matrix)), dtype=np.bool_)
        for block in matcher.blocks(len(self.matrix)):
            covers[:, block] = matcher.covers(self.matrix[block]).T
        return covers

    def support(self, covered: Flags) -> tuple[float, ...]:
        """Return how many of some rows are of each class, or what they weigh."""
        weights = None if self.weights is None else self.weights[covered]
        counts = np.bincount(self.classes[covered], weights, len(self.labels))
        return tuple(counts.tolist())

    def node(
        self,
        rule: Rule,
        covered: Flags,
        below: tuple[int, ...],
        children: tuple[RuleNode, ...] = (),
        step: int = 0,
    ) -> RuleNode:
        """Return a rule with what it covers; a merged one learns what it counts and the shares of the classes."""
        support = self.support(covered)
        own, total = self.labels.index(rule.consequent), sum(support)
        precision = support[own] / total if total else None
        if children:
            shares = None
            if any(child.rule.distribution is not None for child in children) and total:
                shares = tuple(amount / total for amount in support)
            certainty = _certainty(precision, self.sizes[own] / sum(self.sizes))
            rule = replace(rule, weight=_mean_weight(children) * certainty, distribution=shares)
        return RuleNode(rule, support, precision, below, children, step)

    def merged(self, first: RuleNode, second: RuleNode) -> tuple[Rule, Flags]:
        """Return the hull of two rules without the conditions that no longer discern, and what it covers."""
        consequent = first.rule.consequent
        enemies = self.classes != self.labels.index(consequent)
        conditions = hull(first.rule, second.rule, self.attributes)
        (covered,) = self.covers([Rule(conditions, consequent)])
        k = 0
        while k < len(conditions) > 1:
            without = (*conditions[:k], *conditions[k + 1 :])
            (more,) = self.covers([Rule(without, consequent)])
            if (more & ~covered & enemies).any():
                k += 1
            else:
                conditions, covered = without, more
        return Rule(conditions, consequent), covered

    def with_statistics(self, ruleset: "RuleSet", rules: Sequence[Rule]) -> "RuleSet":
        """Return some rules instead of those of a ruleset, with what they cover; no longer proved the fewest."""
        own = [self.labels.index(rule.consequent) for rule in rules]
        found = rule_statistics.statistics_from_covers(
            own, list(self.covers(rules)), self.classes, len(self.labels), self.weights
        )
        known = (replace(rule, statistics=s) for rule, s in zip(rules, found, strict=True))
        return replace(ruleset, rules=tuple(known), about=About(ruleset.about).edited())


def _mean_weight(children: Sequence[RuleNode]) -> float:
    """Return what two rules count on average, by what they cover."""
    total = sum(child.covered for child in children)
    if not total:
        return sum(child.rule.weight for child in children) / len(children)
    return sum(child.rule.weight * child.covered for child in children) / total


def _certainty(precision: float | None, chance: float) -> float:
    """Return where a precision stands between chance and certainty, from 0 to 1.

    Examples
    --------
    >>> _certainty(0.75, 0.5), _certainty(0.25, 0.5), _certainty(1.0, 1.0)
    (0.5, 0.0, 1.0)
    """
    if precision is None or precision <= chance < 1.0:
        return 0.0
    return (precision - chance) / (1.0 - chance) if chance < 1.0 else 1.0


def hull(
    first: Rule, second: Rule, attributes: Sequence[Attribute]
) -> tuple[NumericCondition | NominalCondition, ...]:
    """Return the narrowest conditions, one for each attribute, that hold wherever those of either rule do.

    Attributes that only one of the rules looks at have none, nor have those where nothing is left
    out.

    Examples
    --------
    >>> low, high = NumericCondition("a", 0, 1, 2, 3), NumericCondition("a", 1, 2, 4, 6)
    >>> only = NumericCondition("b", 5, 5)
    >>> hull(Rule((low, only), 0), Rule((high,), 0), (Attribute("a"), Attribute("b")))
    (NumericCondition(attribute='a', support_low=0, core_low=1, core_high=4, support_high=6),)
    """
    shared = set(first.attributes) & set(second.attributes)
    joined = (
        _nominal(first, second, attribute)
        if attribute.kind == "nominal"
        else _numeric(first, second, attribute)
        for attribute in attributes
        if attribute.name in shared
    )
    return tuple(condition for condition in joined if condition is not None)


def _numeric(first: Rule, second: Rule, attribute: Attribute) -> NumericCondition | None:
    sides = []
    for rule in (first, second):
        own = [c for c in _conditions(rule, attribute) if isinstance(c, NumericCondition)]
        below = max(c.support_low for c in own), max(c.core_low for c in own)
        above = min(c.core_high for c in own), min(c.support_high for c in own)
        sides.append((*below, *above))
    (low_1, core_1, top_1, high_1), (low_2, core_2, top_2, high_2) = sides
    # Several conditions of one rule on an attribute may leave nothing in which all of them hold
    # fully.
    core_low, core_high = sorted((min(core_1, core_2), max(top_1, top_2)))
    low, high = min(low_1, low_2, core_low), max(high_1, high_2, core_high)
    if (low, high) == (-inf, inf):
        return None
    return NumericCondition(attribute.name, low, core_low, core_high, high)


def _nominal(first: Rule, second: Rule, attribute: Attribute) -> NominalCondition | None:
    values: set[str] = set()
    for rule in (first, second):
        own = [c.values for c in _conditions(rule, attribute) if isinstance(c, NominalCondition)]
        values |= own[0].intersection(*own[1:]) or own[0]
    if values >= set(attribute.categories or ()):
        return None
    return NominalCondition(attribute.name, frozenset(values))


def _conditions(rule: Rule, attribute: Attribute) -> list[Condition]:
    return [c for c in rule.conditions if c.attribute == attribute.name]

"""A hierarchy of rules: similar rules merged bottom-up into more general ones.

Two rules of one class become their *hull*: on each feature that both use, the narrowest condition
that holds wherever either does. At each step, of all rules not merged yet, those two are merged
whose hull covers the fewest additional samples of other classes, divided by the size of their
class; of equal pairs the one which covers most samples of its class, then the first. The hull
loses, in the order of the features, every condition whose removal covers no more samples of other
classes. Rules that have no feature in common are not merged.

The weight of a merged rule is the mean weight of its two, by what they cover, times (precision -
p) / (1 - p), where p is the proportion of its class; 0 if that is negative. It has no partial
weights, so it does not count in the fallbacks "stretched" and "partial". In a decision list it
takes the place of the first of its rules.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Flags
from frri.rules import rule_statistics, text
from frri.rules.condition import NominalCondition, NumericCondition
from frri.rules.matching import RuleArrays
from frri.rules.rule import Rule
from frri.rules.semantics import CLASS_RULES, Support
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
    """A rule of the tree: one of the rule set, or a more general one made of two.

    Parameters
    ----------
    rule : Rule
    support : tuple of float
        Number of samples of each class it covers, or their weight.
    precision : float or None
        Fraction of these that are of its own class; None if it covers nothing.
    rules : tuple of int
        Positions of the rules of the rule set that it replaces.
    children : tuple of RuleNode
        The two that it was made of; none for a rule of the rule set.
    step : int
        The step that made it, from 1; 0 for a rule of the rule set.
    """

    rule: Rule
    support: tuple[float, ...]
    precision: float | None
    rules: tuple[int, ...]
    children: tuple["RuleNode", ...] = ()
    step: int = 0

    @property
    def covered(self) -> float:
        """The number of samples it covers, or their weight."""
        return sum(self.support)


@dataclass(frozen=True)
class Hierarchy:
    """A tree for each group of rules that use common features; made by `RuleSet.hierarchy`.

    Parameters
    ----------
    ruleset : RuleSet
        The rules at the bottom.
    roots : tuple of RuleNode
        The most general rules, in the order of the rules that they replace.

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
    _table: "_LabelledTable" = field(repr=False, compare=False)

    @property
    def sizes(self) -> tuple[int, int]:
        """The fewest and the most rules that a cut can have."""
        return len(self.roots), len(self.ruleset)

    def nodes(self, descend: Callable[[RuleNode], bool] = bool) -> Iterator[RuleNode]:
        """Yield all nodes, each before those below it; only below those where `descend` is true."""
        waiting = list(reversed(self.roots))
        while waiting:
            node = waiting.pop()
            yield node
            if descend(node):
                waiting += reversed(node.children)

    def cut(self, max_rules: int | None = None, *, min_precision: float | None = None) -> "RuleSet":
        """Return a smaller rule set that predicts on its own.

        Parameters
        ----------
        max_rules : int, optional
            Maximum number of rules: the first steps of merging are done until it is reached.
        min_precision : float, optional
            Minimum precision of a merged rule: the most general rules that have it are taken, and
            of the others those below.

        Returns
        -------
        RuleSet
            In the order of the rules that they replace, with their statistics in the table that the
            tree was made on.
        """
        if (max_rules is None) == (min_precision is None):
            raise ValueError("Give either max_rules or min_precision to cut a hierarchy.")
        fewest, most = self.sizes
        if max_rules is not None and max_rules < fewest:
            raise ValueError(
                f"max_rules must be {fewest} or more, got {max_rules}: the most general rules of "
                "this hierarchy have nothing in common."
            )
        last = most if max_rules is None else most - max_rules

        def goes(node: RuleNode) -> bool:
            if min_precision is None or not node.children:
                return bool(node.children) and node.step > last
            return node.precision is None or node.precision < min_precision

        kept = [node for node in self.nodes(goes) if not goes(node)]
        kept.sort(key=lambda node: node.rules)
        return self._table.with_statistics(self.ruleset, [node.rule for node in kept])

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values: the target, its classes, the sizes of cuts and the roots.

        A node has its `text`, the keys of a rule in a model file (`if`, `then`, `weight`, ...),
        `support` by class, `covered`, `precision`, the `step` that made it, the positions of the
        `rules` that it replaces (from 0) and its `children`.
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
        """Return the tree as lines, down to a depth; numbers are those of the rules, from 1."""
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
        return text.rule_text(self.ruleset, node.rule, brackets=False)


def hierarchy(ruleset: "RuleSet", X: Any, y: Any, sample_weight: Any = None) -> Hierarchy:
    """Merge the rules of each class bottom-up: see `RuleSet.hierarchy`."""
    SUPPORTED.require(ruleset.semantics)
    table = _LabelledTable(ruleset, X, y, sample_weight)
    covers = list(table.covers(ruleset.rules))
    nodes = [table.node(rule, covers[r], (r,)) for r, rule in enumerate(ruleset)]
    alive = dict(enumerate(nodes))
    queue: list[tuple[float, float, int, int]] = []

    def offer(new: int, others: Iterable[int]) -> None:
        """Queue the hulls of a node with others, the fewest samples of other classes first."""
        rule = nodes[new].rule
        hulls = {
            other: hull(nodes[other].rule, rule, ruleset.attributes)
            for other in others
            if nodes[other].rule.consequent == rule.consequent
        }
        hulls = {other: conditions for other, conditions in hulls.items() if conditions}
        made = table.covers([Rule(conditions, rule.consequent) for conditions in hulls.values()])
        own = table.position(rule)
        for other, covered in zip(hulls, made, strict=True):
            gained = table.support(covered & ~covers[new] & ~covers[other])
            cost = (sum(gained) - gained[own]) / (table.sizes[own] or 1)
            pair = min(other, new), max(other, new)
            heapq.heappush(queue, (cost, -table.support(covered)[own], *pair))

    for r in range(len(nodes)):
        offer(r, range(r))
    while queue:
        *_, first, second = heapq.heappop(queue)
        if first not in alive or second not in alive:
            continue
        rule, covered = table.merge(alive[first], alive[second])
        children = tuple(sorted((alive.pop(first), alive.pop(second)), key=lambda n: n.rules))
        below = tuple(sorted(children[0].rules + children[1].rules))
        new, step = len(nodes), len(nodes) - len(ruleset) + 1
        nodes.append(table.node(rule, covered, below, children, step))
        covers.append(covered)
        offer(new, alive)
        alive[new] = nodes[new]
    roots = sorted(alive.values(), key=lambda node: node.rules)
    return Hierarchy(ruleset, tuple(roots), table)


class _LabelledTable:
    """The labelled samples on which rules are measured."""

    def __init__(self, ruleset: "RuleSet", X: Any, y: Any, sample_weight: Any) -> None:
        self.semantics, self.attributes = ruleset.semantics, ruleset.attributes
        self.labels = ruleset.classes
        table = to_matrix(X, ruleset.attributes, ruleset.used_attributes)
        self.matrix = ruleset.arrays.clipped(table)
        self.classes = rule_statistics.class_positions(ruleset, y, len(self.matrix))
        weighted = sample_weight is not None
        self.weights = np.asarray(sample_weight, dtype=np.float64) if weighted else None
        self.sizes = self.support(np.ones(len(self.classes), dtype=np.bool_))

    def position(self, rule: Rule) -> int:
        """Return the position of a rule's class."""
        return self.labels.index(rule.consequent)

    def covers(self, rules: Sequence[Rule]) -> Flags:
        """Return rules x samples."""
        matcher = RuleArrays(rules, self.attributes, self.semantics)
        covers = np.zeros((len(rules), len(self.matrix)), dtype=np.bool_)
        for block in matcher.blocks(len(self.matrix)):
            covers[:, block] = matcher.covers(self.matrix[block]).T
        return covers

    def support(self, covered: Flags) -> tuple[float, ...]:
        """Return the number of some samples of each class, or their weight."""
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
        """Return a rule with what it covers; a merged one gets its weight and distribution."""
        support = self.support(covered)
        own, total = self.position(rule), sum(support)
        precision = support[own] / total if total else None
        if children:
            shares = None
            if any(child.rule.distribution is not None for child in children) and total:
                shares = tuple(amount / total for amount in support)
            certainty = _certainty(precision, self.sizes[own] / sum(self.sizes))
            rule = replace(rule, weight=_mean_weight(children) * certainty, distribution=shares)
        return RuleNode(rule, support, precision, below, children, step)

    def merge(self, first: RuleNode, second: RuleNode) -> tuple[Rule, Flags]:
        """Return the hull of two rules without needless conditions, and what it covers."""
        consequent = first.rule.consequent
        others = self.classes != self.position(first.rule)
        conditions = hull(first.rule, second.rule, self.attributes)
        (covered,) = self.covers([Rule(conditions, consequent)])
        k = 0
        while k < len(conditions) > 1:
            without = (*conditions[:k], *conditions[k + 1 :])
            (more,) = self.covers([Rule(without, consequent)])
            if (more & ~covered & others).any():
                k += 1
            else:
                conditions, covered = without, more
        return Rule(conditions, consequent), covered

    def with_statistics(self, ruleset: "RuleSet", rules: Sequence[Rule]) -> "RuleSet":
        """Return a rule set with other rules and their statistics; no longer proven optimal."""
        found = rule_statistics.statistics_from_covers(
            [self.position(rule) for rule in rules],
            list(self.covers(rules)),
            self.classes,
            len(self.labels),
            self.weights,
        )
        known = (replace(rule, statistics=s) for rule, s in zip(rules, found, strict=True))
        return replace(ruleset, rules=tuple(known), about=ruleset.about.edited())


def _mean_weight(children: Sequence[RuleNode]) -> float:
    """Return the mean weight of two rules, by what they cover."""
    total = sum(child.covered for child in children)
    if not total:
        return sum(child.rule.weight for child in children) / len(children)
    return sum(child.rule.weight * child.covered for child in children) / total


def _certainty(precision: float | None, chance: float) -> float:
    """Return where a precision lies between chance and certainty, from 0 to 1.

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
    """Return the narrowest conditions, one per feature, that hold wherever those of either rule do.

    Features that only one of the rules uses have none, nor have those where nothing is excluded.

    Examples
    --------
    >>> low, high = NumericCondition("a", 0, 1, 2, 3), NumericCondition("a", 1, 2, 4, 6)
    >>> only = NumericCondition("b", 5, 5)
    >>> hull(Rule((low, only), 0), Rule((high,), 0), (Attribute("a"), Attribute("b")))
    (NumericCondition(attribute='a', support_low=0, core_low=1, core_high=4, support_high=6),)
    """
    shared = set(first.attributes) & set(second.attributes)
    joined = []
    for attribute in attributes:
        if attribute.name in shared:
            own = [
                [c for c in r.conditions if c.attribute == attribute.name] for r in (first, second)
            ]
            join = _join_values if attribute.kind == "nominal" else _join_intervals
            joined.append(join(own, attribute))
    return tuple(condition for condition in joined if condition is not None)


def _join_intervals(own: list[list[Any]], attribute: Attribute) -> NumericCondition | None:
    """Return the interval around those in which all conditions of a rule hold, for two rules."""
    low = min(max(c.support_low for c in conditions) for conditions in own)
    core_low = min(max(c.core_low for c in conditions) for conditions in own)
    core_high = max(min(c.core_high for c in conditions) for conditions in own)
    high = max(min(c.support_high for c in conditions) for conditions in own)
    # Several conditions of one rule on a feature may leave nothing in which all hold fully.
    core_low, core_high = sorted((core_low, core_high))
    low, high = min(low, core_low), max(high, core_high)
    if (low, high) == (-inf, inf):
        return None
    return NumericCondition(attribute.name, low, core_low, core_high, high)


def _join_values(own: list[list[Any]], attribute: Attribute) -> NominalCondition | None:
    """Return the union of the values that all conditions of a rule allow, for two rules."""
    values: set[str] = set()
    for conditions in own:
        allowed = [c.values for c in conditions]
        values |= allowed[0].intersection(*allowed[1:]) or allowed[0]
    if values >= set(attribute.categories or ()):
        return None
    return NominalCondition(attribute.name, frozenset(values))

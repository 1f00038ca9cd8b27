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
from typing import Any

import numpy as np

from frri._util import Flags
from frri.rules import text
from frri.rules.condition import Condition, NominalCondition, NumericCondition
from frri.rules.json_format import About
from frri.rules.matching import RuleArrays
from frri.rules.rule import Rule
from frri.rules.rule_statistics import class_positions
from frri.rules.ruleset import RuleSet
from frri.rules.semantics import CLASS_RULES
from frri.table import Attribute, EncodedTable


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
    children: "tuple[RuleNode, ...]" = ()
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
    IF 1 <= a <= 4 THEN class = x   [weight 1.00, covers 4 of 2, precision 1.00]
    IF 8 <= a <= 9 THEN class = x   [weight 1.00, covers 1 of 2, precision 1.00]
    """

    ruleset: RuleSet
    roots: tuple[RuleNode, ...]
    # Table, labels and weights of the samples.
    _samples: tuple[EncodedTable, Any, Any] = field(repr=False, compare=False)

    @property
    def sizes(self) -> tuple[int, int]:
        """The fewest and the most rules that a cut can have."""
        return len(self.roots), len(self.ruleset)

    def nodes(self, descend: Callable[[RuleNode], bool] = bool) -> Iterator[RuleNode]:
        """Yield all nodes, each before those below it; only below those where `descend` is true."""
        return (node for node, _ in self._walk(descend))

    def _walk(self, descend: Callable[[RuleNode], bool]) -> Iterator[tuple[RuleNode, str]]:
        """Yield nodes, and what is drawn before each: four characters for every level."""
        waiting = [(root, "", "") for root in reversed(self.roots)]
        while waiting:
            node, branch, margin = waiting.pop()
            yield node, branch
            for child in reversed(node.children if descend(node) else ()):
                ends = child is node.children[-1]
                shape, below = ("`-- ", "    ") if ends else ("|-- ", "|   ")
                waiting.append((child, margin + shape, margin + below))

    def cut(self, max_rules: int | None = None, *, min_precision: float | None = None) -> RuleSet:
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
            reason = "the most general rules of this hierarchy have nothing in common"
            raise ValueError(f"max_rules must be {fewest} or more, got {max_rules}: {reason}.")

        def goes(node: RuleNode) -> bool:
            if max_rules is not None:
                return bool(node.children) and node.step > most - max_rules
            vague = node.precision is None or node.precision < (min_precision or 0.0)
            return bool(node.children) and vague

        kept = sorted((n for n in self.nodes(goes) if not goes(n)), key=lambda node: node.rules)
        rules, about = tuple(node.rule for node in kept), About(self.ruleset.about).edited()
        return replace(self.ruleset, rules=rules, about=about).with_statistics(*self._samples)

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
        shown = self._walk(bool)
        wide = inf if depth is None else 4 * depth
        return "\n".join(branch + self._line(node) for node, branch in shown if len(branch) <= wide)

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


def hierarchy(ruleset: RuleSet, X: Any, y: Any, sample_weight: Any = None) -> Hierarchy:
    """Merge the rules of each class bottom-up: see `RuleSet.hierarchy`."""
    check_mergeable(ruleset)
    samples = EncodedTable.of(X, ruleset.attributes, ruleset.used_attributes), y, sample_weight
    measure = _Measure(ruleset, *samples)
    covers = list(measure.covers(ruleset.rules))
    nodes = [measure.node(rule, covers[r], (r,)) for r, rule in enumerate(ruleset)]
    alive = dict(enumerate(nodes))
    queue: list[tuple[float, float, int, int]] = []

    def offer(new: int, others: Iterable[int]) -> None:
        """Queue the hulls of a node with others, the fewest samples of other classes first."""
        rule = nodes[new].rule
        own = measure.position(rule)
        same = [other for other in others if nodes[other].rule.consequent == rule.consequent]
        hulls = [(other, hull(nodes[other].rule, rule, ruleset.attributes)) for other in same]
        hulls = [(other, conditions) for other, conditions in hulls if conditions]
        made = measure.covers([Rule(conditions, rule.consequent) for _, conditions in hulls])
        for (other, _), covered in zip(hulls, made, strict=True):
            gained = measure.support(covered & ~covers[new] & ~covers[other])
            cost = (sum(gained) - gained[own]) / (measure.sizes[own] or 1)
            pair = min(other, new), max(other, new)
            heapq.heappush(queue, (cost, -measure.support(covered)[own], *pair))

    for r in range(len(nodes)):
        offer(r, range(r))
    while queue:
        *_, first, second = heapq.heappop(queue)
        if first in alive and second in alive:
            rule, covered = measure.merge(alive[first], alive[second])
            children = sorted((alive.pop(first), alive.pop(second)), key=lambda node: node.rules)
            below = tuple(sorted(children[0].rules + children[1].rules))
            new, step = len(nodes), len(nodes) - len(ruleset) + 1
            nodes.append(measure.node(rule, covered, below, tuple(children), step))
            covers.append(covered)
            offer(new, alive)
            alive[new] = nodes[new]
    roots = sorted(alive.values(), key=lambda node: node.rules)
    return Hierarchy(ruleset, tuple(roots), samples)


def check_mergeable(ruleset: RuleSet) -> None:
    """Raise a ValueError if rules have a semantics by which they cannot be merged."""
    remedy = "it takes rules that say a class, so give the learner another max_rules instead"
    ruleset.semantics.require(CLASS_RULES, "A hierarchy of rules", remedy)


class _Measure:
    """The labelled samples on which rules are measured."""

    def __init__(self, ruleset: RuleSet, table: EncodedTable, y: Any, weights: Any) -> None:
        self.ruleset, self.matrix = ruleset, ruleset.arrays.clipped(table.matrix)
        self.classes = class_positions(ruleset, y, len(self.matrix))
        self.weights = None if weights is None else np.asarray(weights, dtype=np.float64)
        self.sizes = self.support(np.ones(len(self.classes), dtype=np.bool_))

    def position(self, rule: Rule) -> int:
        """Return the position of a rule's class."""
        return self.ruleset.classes.index(rule.consequent)

    def covers(self, rules: Sequence[Rule]) -> Flags:
        """Return rules x samples."""
        arrays = RuleArrays(rules, self.ruleset.attributes, self.ruleset.semantics)
        covers = np.zeros((len(rules), len(self.matrix)), dtype=np.bool_)
        for block in arrays.blocks(len(self.matrix)):
            covers[:, block] = arrays.covers(self.matrix[block]).T
        return covers

    def support(self, covered: Flags) -> tuple[float, ...]:
        """Return the number of some samples of each class, or their weight."""
        weights = None if self.weights is None else self.weights[covered]
        counts = np.bincount(self.classes[covered], weights, len(self.ruleset.classes))
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
            amounts = [child.covered for child in children]
            amounts = amounts if sum(amounts) else [1.0] * len(amounts)
            parts = zip(children, amounts, strict=True)
            mean = sum(child.rule.weight * amount for child, amount in parts) / sum(amounts)
            # Where the precision lies between chance and certainty.
            chance = self.sizes[own] / sum(self.sizes)
            beyond = (precision or 0.0) - chance
            certainty = max(beyond, 0.0) / (1.0 - chance) if chance < 1.0 else float(bool(total))
            rule = replace(rule, weight=mean * certainty, distribution=shares)
        return RuleNode(rule, support, precision, below, children, step)

    def merge(self, first: RuleNode, second: RuleNode) -> tuple[Rule, Flags]:
        """Return the hull of two rules without needless conditions, and what it covers."""
        consequent = first.rule.consequent
        others = self.classes != self.position(first.rule)
        conditions = hull(first.rule, second.rule, self.ruleset.attributes)
        (covered,) = self.covers([Rule(conditions, consequent)])
        for condition in conditions:
            without = tuple(one for one in conditions if one is not condition)
            if without:
                (more,) = self.covers([Rule(without, consequent)])
                if not (more & ~covered & others).any():
                    conditions, covered = without, more
        return Rule(conditions, consequent), covered


def hull(first: Rule, second: Rule, attributes: Sequence[Attribute]) -> tuple[Condition, ...]:
    """Return the narrowest conditions, one per feature, that hold wherever those of either rule do.

    Features that only one of the rules uses have none, nor have those where nothing is excluded.
    """
    shared = set(first.attributes) & set(second.attributes)
    joined = []
    for attribute in attributes:
        if attribute.name in shared:
            of_rules = first.conditions, second.conditions
            own = [[c for c in some if c.attribute == attribute.name] for some in of_rules]
            join = _join_values if attribute.kind == "nominal" else _join_intervals
            joined.append(join(own, attribute))
    return tuple(condition for condition in joined if condition is not None)


def _join_intervals(own: list[list[Any]], attribute: Attribute) -> Condition | None:
    """Return the interval around those in which all conditions of a rule hold, for two rules."""
    ends = [list(zip(*(c.trapezoid for c in conditions), strict=True)) for conditions in own]
    low, core_low = (min(max(sides[k]) for sides in ends) for k in (0, 1))
    core_high, high = (max(min(sides[k]) for sides in ends) for k in (2, 3))
    # Several conditions of one rule on a feature may leave nothing in which all hold fully.
    core_low, core_high = sorted((core_low, core_high))
    low, high = min(low, core_low), max(high, core_high)
    if (low, high) == (-inf, inf):
        return None
    return NumericCondition(attribute.name, low, core_low, core_high, high)


def _join_values(own: list[list[Any]], attribute: Attribute) -> Condition | None:
    """Return the union of the values that all conditions of a rule allow, for two rules.

    None among the values is a category never seen.
    """
    categories = frozenset(attribute.categories or ())
    known = categories.union({None}, *(c.values for conditions in own for c in conditions))
    allowed = [[frozenset(filter(c.allows, known)) for c in conditions] for conditions in own]
    values = frozenset().union(*(frozenset.intersection(*sets) or sets[0] for sets in allowed))
    if values >= categories:
        return None
    unseen = None in values
    return NominalCondition(attribute.name, known - values if unseen else values, excludes=unseen)

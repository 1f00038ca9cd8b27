"""Edit rules by hand: every method returns a new rule set and records the origin of the rule.

A rule that is changed loses what was measured or learned for its old form: its statistics, and
with other conditions or another class also its distribution, its votes and its partial weights
(without them it does not count in the fallbacks "stretched" and "partial"). Other rules keep their
statistics, in which `alone` then describes the old rule set; `RuleSet.with_statistics` renews them
all. `about` counts the edits and loses the proof of optimality, which concerned other rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from frri.rules.condition import Condition
from frri.rules.measures import accuracy, balanced_accuracy
from frri.rules.provenance import About
from frri.rules.rule import Label, Rule, as_labels
from frri.rules.rule_statistics import coverage
from frri.table import EncodedTable

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet


class EditableRules:
    """The methods of `RuleSet` that return an edited copy.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
    >>> print(rules.with_changed_rule(0, weight=0.5).with_rule(Rule((), 1, 0.1)))
    IF a < 3 THEN class = 0   [confidence 0.50]
    ALWAYS class = 1   [confidence 0.10]
    """

    rules: tuple[Rule, ...]
    about: Mapping[str, Any]

    def without_rule(self, index: int) -> "RuleSet":
        """Return all rules but one."""
        self._rule(index)
        return self._edited(self.rules[:index] + self.rules[index + 1 :])

    def with_rule(self, rule: Rule, position: int | None = None) -> "RuleSet":
        """Add a rule at the end or before another one; its origin becomes "written"."""
        n = len(self.rules)
        position = n if position is None else position
        if not 0 <= position <= n:
            raise IndexError(f"A new rule goes to a position from 0 to {n}, got {position}.")
        written = replace(rule, origin="written")
        return self._edited((*self.rules[:position], written, *self.rules[position:]))

    def with_changed_rule(
        self,
        index: int,
        *,
        conditions: tuple[Condition, ...] | None = None,
        consequent: Label | None = None,
        weight: float | None = None,
    ) -> "RuleSet":
        """Change the conditions, consequent or weight of a rule; its origin becomes "edited"."""
        old = self._rule(index)
        new = replace(
            old,
            conditions=old.conditions if conditions is None else tuple(conditions),
            consequent=old.consequent if consequent is None else consequent,
            weight=old.weight if weight is None else float(weight),
        )
        if new == old:
            return self  # type: ignore[return-value]
        if (new.conditions, new.consequent) != (old.conditions, old.consequent):
            new = replace(new, distribution=None, partial_weights=(), votes=None)
        origin = "edited" if old.origin == "learned" else old.origin
        new = replace(new, statistics=None, origin=origin)
        return self._edited((*self.rules[:index], new, *self.rules[index + 1 :]))

    def with_condition(
        self, index: int, condition: Condition, replacing: int | None = None
    ) -> "RuleSet":
        """Add a condition to a rule, or put it in the place of condition number `replacing`."""
        conditions = self._rule(index).conditions
        at = len(conditions) if replacing is None else self._check_condition(index, replacing)
        changed = (*conditions[:at], condition, *conditions[at + 1 :])
        return self.with_changed_rule(index, conditions=changed)

    def without_condition(self, index: int, position: int) -> "RuleSet":
        """Remove condition number `position` from a rule."""
        conditions, at = self._rule(index).conditions, self._check_condition(index, position)
        return self.with_changed_rule(index, conditions=conditions[:at] + conditions[at + 1 :])

    def _edited(self, rules: tuple[Rule, ...]) -> "RuleSet":
        about = About(self.about).edited()
        return replace(self, rules=rules, about=about)  # type: ignore[type-var,return-value]

    def _rule(self, index: int) -> Rule:
        if not 0 <= index < len(self.rules):
            raise IndexError(
                f"There is no rule {index}; the ruleset has {len(self.rules)}, from 0."
            )
        return self.rules[index]

    def _check_condition(self, index: int, position: int) -> int:
        n = len(self._rule(index).conditions)
        if not 0 <= position < n:
            raise IndexError(f"Rule {index} has no condition {position}; it has {n}, from 0.")
        return position


@dataclass(frozen=True)
class EditEffect:
    """The effect of an edit on a labelled table; pairs are (before, after).

    Parameters
    ----------
    accuracy, balanced_accuracy : tuple of float
    coverage : tuple of float
        Fraction of the samples that some rule covers.
    changed : tuple of int
        The rows whose prediction changed.
    corrected, broken : int
        Numbers of these that were wrong and are correct now, and the other way round.
    """

    accuracy: tuple[float, float]
    balanced_accuracy: tuple[float, float]
    coverage: tuple[float, float]
    changed: tuple[int, ...]
    corrected: int
    broken: int

    def __str__(self) -> str:
        measures = ("accuracy", "balanced_accuracy", "coverage")
        pairs = [(name.replace("_", " "), *getattr(self, name)) for name in measures]
        lines = [f"{name} {before:.3f} -> {after:.3f}" for name, before, after in pairs]
        rows = f"{len(self.changed)} prediction{'' if len(self.changed) == 1 else 's'} changed"
        return "\n".join([*lines, f"{rows}: {self.corrected} corrected, {self.broken} broken"])


def compare(before: "RuleSet", after: "RuleSet", X: Any, y: Any) -> EditEffect:
    """Compare two rule sets on the same labelled table.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
    >>> better = rules.with_rule(Rule((NumericCondition("a", 3, 3),), 1))
    >>> print(compare(rules, better, [[1], [2], [3], [4]], [0, 0, 1, 1]))
    accuracy 0.500 -> 1.000
    balanced accuracy 0.500 -> 1.000
    coverage 0.500 -> 1.000
    2 predictions changed: 2 corrected, 0 broken
    """
    labels = as_labels(y)
    tables = EncodedTable.of(X, before.attributes), EncodedTable.of(X, after.attributes)
    old, new = before.predict(tables[0]), after.predict(tables[1])
    if labels.shape != old.shape or not len(labels):
        raise ValueError(
            f"Expected {len(old)} labels, one per row and at least one, got {len(labels)}."
        )
    right = old == labels, new == labels
    return EditEffect(
        accuracy=(accuracy(labels, old), accuracy(labels, new)),
        balanced_accuracy=(balanced_accuracy(labels, old), balanced_accuracy(labels, new)),
        coverage=(coverage(before.covers(tables[0])), coverage(after.covers(tables[1]))),
        changed=tuple(np.flatnonzero(old != new).tolist()),
        corrected=int((~right[0] & right[1]).sum()),
        broken=int((right[0] & ~right[1]).sum()),
    )

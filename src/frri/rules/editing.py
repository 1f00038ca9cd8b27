"""Rules changed by hand: every verb returns a new ruleset and says on the rule where it came from.

A rule that is changed loses what was measured or learned for its old form: its statistics, and
with other conditions or another class its shares of a decision list, its votes and the weights of
its parts (without these it does not count where no rule fires and `fallback` is "stretched" or
"partial"). Other rules keep their statistics, where `alone` then still speaks of the old ruleset;
`RuleSet.with_statistics` renews them all. `about` counts the edits and loses the proof that the
rules are the fewest: it was about other rules.
"""

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


def without_rule(ruleset: "RuleSet", index: int) -> "RuleSet":
    """Return all rules but one."""
    index = _position(ruleset, index)
    return _edited(ruleset, ruleset.rules[:index] + ruleset.rules[index + 1 :])


def with_rule(ruleset: "RuleSet", rule: Rule, position: int | None = None) -> "RuleSet":
    """Return one more rule, at the end or before another one; its origin becomes "written"."""
    n = len(ruleset)
    position = n if position is None else position
    if not 0 <= position <= n:
        raise IndexError(f"A new rule goes to a position from 0 to {n}, got {position}.")
    written = replace(rule, origin="written")
    return _edited(ruleset, (*ruleset.rules[:position], written, *ruleset.rules[position:]))


def with_changed_rule(
    ruleset: "RuleSet",
    index: int,
    *,
    conditions: tuple[Condition, ...] | None = None,
    consequent: Label | None = None,
    weight: float | None = None,
) -> "RuleSet":
    """Return one rule with other conditions, another class or another weight; its origin becomes "edited"."""
    index = _position(ruleset, index)
    old = ruleset[index]
    new = replace(
        old,
        conditions=old.conditions if conditions is None else tuple(conditions),
        consequent=old.consequent if consequent is None else consequent,
        weight=old.weight if weight is None else float(weight),
    )
    if new == old:
        return ruleset
    if (new.conditions, new.consequent) != (old.conditions, old.consequent):
        new = replace(new, distribution=None, partial_weights=(), votes=None)
    if old.origin == "learned":
        new = replace(new, origin="edited")
    new = replace(new, statistics=None)
    return _edited(ruleset, (*ruleset.rules[:index], new, *ruleset.rules[index + 1 :]))


def with_condition(
    ruleset: "RuleSet", index: int, condition: Condition, replacing: int | None = None
) -> "RuleSet":
    """Return one more condition for a rule, or another one in the place of condition number `replacing`."""
    conditions = ruleset[_position(ruleset, index)].conditions
    if replacing is None:
        return with_changed_rule(ruleset, index, conditions=(*conditions, condition))
    replacing = _condition_position(ruleset, index, replacing)
    changed = (*conditions[:replacing], condition, *conditions[replacing + 1 :])
    return with_changed_rule(ruleset, index, conditions=changed)


def without_condition(ruleset: "RuleSet", index: int, position: int) -> "RuleSet":
    """Return a rule without its condition number `position`."""
    position = _condition_position(ruleset, index, position)
    conditions = ruleset[index].conditions
    kept = conditions[:position] + conditions[position + 1 :]
    return with_changed_rule(ruleset, index, conditions=kept)


@dataclass(frozen=True)
class EditEffect:
    """What an edit does on a labelled table; pairs are (before, after).

    Parameters
    ----------
    accuracy, balanced_accuracy : tuple of float
    coverage : tuple of float
        Share of the rows that some rule covers.
    changed : tuple of int
        The rows whose prediction changed.
    corrected, broken : int
        How many of these were wrong and are right now, and the other way round.
    """

    accuracy: tuple[float, float]
    balanced_accuracy: tuple[float, float]
    coverage: tuple[float, float]
    changed: tuple[int, ...]
    corrected: int
    broken: int

    def __str__(self) -> str:
        lines = [
            f"{name} {before:.3f} -> {after:.3f}"
            for name, (before, after) in (
                ("accuracy", self.accuracy),
                ("balanced accuracy", self.balanced_accuracy),
                ("coverage", self.coverage),
            )
        ]
        rows = f"{len(self.changed)} prediction{'' if len(self.changed) == 1 else 's'} changed"
        return "\n".join([*lines, f"{rows}: {self.corrected} corrected, {self.broken} broken"])


def compare(before: "RuleSet", after: "RuleSet", X: Any, y: Any) -> EditEffect:
    """Return two rulesets on the same labelled table.

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


def _edited(ruleset: "RuleSet", rules: tuple[Rule, ...]) -> "RuleSet":
    return replace(ruleset, rules=rules, about=About(ruleset.about).edited())


def _position(ruleset: "RuleSet", index: int) -> int:
    if not 0 <= index < len(ruleset):
        raise IndexError(f"There is no rule {index}; the ruleset has {len(ruleset)}, from 0.")
    return index


def _condition_position(ruleset: "RuleSet", index: int, position: int) -> int:
    n = len(ruleset[_position(ruleset, index)].conditions)
    if not 0 <= position < n:
        raise IndexError(f"Rule {index} has no condition {position}; it has {n}, from 0.")
    return position

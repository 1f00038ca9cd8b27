"""Validation of rule sets, with one sentence about the first constraint that is violated."""

from collections.abc import Mapping
from itertools import pairwise
from math import inf, isfinite
from typing import TYPE_CHECKING

from frri.rules.condition import Condition, NumericCondition
from frri.rules.rule import LONGEST_PARTIAL, Label, Rule
from frri.rules.semantics import Semantics
from frri.table import FARTHEST_DATE, LARGEST

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

# Sums of weights must stay finite, and so must what they divide and what they are multiplied with.
HEAVIEST = 1e9
LIGHTEST = 1e-300
LARGEST_SAID = 1e100


def check_ruleset(ruleset: "RuleSet") -> None:
    """Return names, classes, base and rules."""
    kinds = {attribute.name: attribute.kind for attribute in ruleset.attributes}
    if len(kinds) < len(ruleset.attributes):
        raise ValueError("Two attributes have the same name; rename one of them.")
    _check_classes(ruleset)
    n_base, base = base_length(ruleset.semantics, len(ruleset.classes)), ruleset.base
    if len(base) != n_base or not all(abs(value) <= LARGEST_SAID for value in base):
        raise ValueError(
            f"The base of {ruleset.semantics.name} must be {n_base} numbers from "
            f"{-LARGEST_SAID:g} to {LARGEST_SAID:g}, got {base}."
        )
    if ruleset.task == "ordinal" and any(a < b for a, b in pairwise(base)):
        raise ValueError(f"The base of {ruleset.semantics.name} must not rise, got {base}.")
    trust, link = ruleset.trust, ruleset.semantics.meaning.link
    if not 0.0 <= trust <= 1.0 or (trust < 1.0 and link not in {"shares", "softmax"}):
        most = "from 0 to 1" if link in {"shares", "softmax"} else f"1 in {ruleset.semantics.name}"
        raise ValueError(f"The trust in the rules must be {most}, got {trust}.")
    labels = set(ruleset.classes)
    for r, rule in enumerate(ruleset.rules):
        name = f"Rule {r + 1}"
        _check_conclusion(name, rule, ruleset.semantics, labels)
        _check_amounts(name, rule, len(labels))
        _check_parts(name, rule, ruleset.semantics.fallback)
        for condition in rule.conditions:
            _check_condition(name, condition, kinds)


def base_length(semantics: Semantics, n_classes: int) -> int:
    """Return the number of scores in the base of a semantics."""
    if "base" not in semantics.meaning.fallbacks:
        return 0
    numbers = {"regression": 1, "ordinal": max(n_classes - 1, 0)}
    return numbers.get(semantics.meaning.task, n_classes)


def _check_classes(ruleset: "RuleSet") -> None:
    classes, counts = ruleset.classes, ruleset.class_counts
    if ruleset.task == "regression":
        if classes or counts:
            raise ValueError(
                f"A ruleset that predicts numbers must have no classes, got {classes or counts}."
            )
        return
    if not classes or len(set(classes)) < len(classes):
        raise ValueError(f"The classes must be distinct and at least one, got {classes!r}.")
    if len(counts) != len(classes) or min(counts) < 0 or not 0 < sum(counts) < inf:
        raise ValueError("There must be one count of 0 or more per class, not all 0.")


def _check_conclusion(name: str, rule: Rule, semantics: Semantics, labels: set[Label]) -> None:
    """Check that the consequent of a rule fits the semantics."""
    says, meaning = semantics.meaning.says, semantics.name
    if says == "number":
        number = rule.consequent
        if isinstance(number, str | bool) or not abs(number) <= LARGEST_SAID:
            raise ValueError(
                f"{name} concludes {number!r}; in {meaning} it must be a number from "
                f"{-LARGEST_SAID:g} to {LARGEST_SAID:g}."
            )
    elif rule.consequent not in labels:
        raise ValueError(f"{name} concludes {rule.consequent!r}, which is not a class.")
    wanted = {"at least", "at most"} if says == "bound" else {"is"}
    if rule.relation not in wanted:
        raise ValueError(
            f"{name} has the relation {rule.relation!r}; in {meaning} it must be "
            f"{' or '.join(map(repr, sorted(wanted)))}."
        )
    if rule.votes is not None and says != "votes":
        raise ValueError(f"{name} has votes, which have no meaning in {meaning}; remove them.")


def _check_amounts(name: str, rule: Rule, n_classes: int) -> None:
    if rule.weight != 0.0 and not LIGHTEST <= rule.weight <= HEAVIEST:
        raise ValueError(
            f"{name} has weight {rule.weight}; it must be 0, or from {LIGHTEST:g} to {HEAVIEST:g}."
        )
    if rule.origin not in {"learned", "edited", "written"}:
        raise ValueError(f"{name} has the unknown origin {rule.origin!r}.")
    shares, votes = rule.distribution, rule.votes
    if shares is not None and len(shares) != n_classes:
        raise ValueError(f"{name} must have one share per class in its distribution.")
    for what, amounts in (
        ("shares of 0 or more in its distribution", shares),
        ("partial weights of 0 or more", rule.partial_weights),
    ):
        if amounts and not (min(amounts) >= 0.0 and sum(amounts) <= LARGEST):
            raise ValueError(f"{name} must have {what}, {LARGEST:g} at most in all.")
    if votes is not None and not (
        len(votes) == n_classes and all(abs(vote) <= LARGEST_SAID for vote in votes)
    ):
        raise ValueError(
            f"{name} must have one vote per class, from {-LARGEST_SAID:g} to {LARGEST_SAID:g}."
        )


def _check_parts(name: str, rule: Rule, fallback: str) -> None:
    """Check that partial weights are of all beginnings or subsets of the conditions, or none."""
    n_conditions, n_weights = len(rule.conditions), len(rule.partial_weights)
    allowed = {0, 1 << n_conditions} if n_conditions <= LONGEST_PARTIAL else {0}
    if fallback != "partial":
        allowed |= {n_conditions + 1}
    if n_weights not in allowed:
        raise ValueError(
            f"{name} has {n_conditions} conditions with {n_weights} partial weights; there must be "
            f"{' or '.join(map(str, sorted(allowed)))}."
        )


def _check_condition(name: str, condition: Condition, kinds: Mapping[str, str]) -> None:
    if condition.attribute not in kinds:
        raise ValueError(f"{name} uses {condition.attribute!r}, which is not an attribute.")
    kind = kinds[condition.attribute]
    numeric = isinstance(condition, NumericCondition)
    if numeric == (kind == "nominal"):
        raise ValueError(
            f"{name} has a condition on {condition.attribute!r} that does not fit a {kind} "
            "attribute."
        )
    if kind != "date":
        return
    ends = condition.trapezoid if isinstance(condition, NumericCondition) else ()
    farthest = max((abs(end) for end in ends if isfinite(end)), default=0.0)
    if farthest > FARTHEST_DATE:
        raise ValueError(
            f"{name} has a condition on {condition.attribute!r} beyond all dates, {farthest:g} "
            f"days from 1970; they may be {FARTHEST_DATE:g} days away."
        )

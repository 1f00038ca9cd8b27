"""Validation of rule sets, with one sentence about the first constraint that is violated."""

from collections.abc import Iterator
from itertools import chain, pairwise
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
_RANGE = f"from {-LARGEST_SAID:g} to {LARGEST_SAID:g}"


def check_ruleset(ruleset: "RuleSet") -> None:
    """Raise a ValueError about the first constraint that is violated."""
    labels = set(ruleset.classes)
    kinds = {attribute.name: attribute.kind for attribute in ruleset.attributes}
    of_rules = (
        f"Rule {r} {problem}"
        for r, rule in enumerate(ruleset.rules, 1)
        for problem in chain(
            _semantics_problems(rule, ruleset.semantics, labels),
            _amount_problems(rule, len(labels)),
            *(_condition_problems(c, kinds.get(c.attribute)) for c in rule.conditions),
        )
    )
    problem = next(chain(_ruleset_problems(ruleset), of_rules), None)
    if problem is not None:
        raise ValueError(problem)


def base_length(semantics: Semantics, n_classes: int) -> int:
    """Return the number of scores in the base of a semantics."""
    if "base" not in semantics.meaning.fallbacks:
        return 0
    numbers = {"regression": 1, "ordinal": max(n_classes - 1, 0)}
    return numbers.get(semantics.meaning.task, n_classes)


def _ruleset_problems(ruleset: "RuleSet") -> Iterator[str]:
    semantics, classes, counts = ruleset.semantics, ruleset.classes, ruleset.class_counts
    if len({attribute.name for attribute in ruleset.attributes}) < len(ruleset.attributes):
        yield "Two attributes have the same name; rename one of them."
    if ruleset.task == "regression":
        if classes or counts:
            yield f"A ruleset that predicts numbers must have no classes, got {classes or counts}."
    elif not classes or len(set(classes)) < len(classes):
        yield f"The classes must be distinct and at least one, got {classes!r}."
    elif len(counts) != len(classes) or min(counts) < 0 or not 0 < sum(counts) < inf:
        yield "There must be one count of 0 or more per class, not all 0."
    n_base, base = base_length(semantics, len(classes)), ruleset.base
    if len(base) != n_base or not all(abs(value) <= LARGEST_SAID for value in base):
        yield f"The base of {semantics.name} must be {n_base} numbers {_RANGE}, got {base}."
    if ruleset.task == "ordinal" and any(a < b for a, b in pairwise(base)):
        yield f"The base of {semantics.name} must not rise, got {base}."
    shrinks = semantics.meaning.link in {"shares", "softmax"}
    if not 0.0 <= ruleset.trust <= 1.0 or (ruleset.trust < 1.0 and not shrinks):
        most = "from 0 to 1" if shrinks else f"1 in {semantics.name}"
        yield f"The trust in the rules must be {most}, got {ruleset.trust}."


def _semantics_problems(rule: Rule, semantics: Semantics, labels: set[Label]) -> Iterator[str]:
    """Yield what does not fit the semantics: number, relation, votes, number of partial weights."""
    says, said = semantics.meaning.says, rule.consequent
    if says == "number" and (isinstance(said, str | bool) or not abs(said) <= LARGEST_SAID):
        yield f"concludes {said!r}; in {semantics.name} it must be a number {_RANGE}."
    if says != "number" and said not in labels:
        yield f"concludes {said!r}, which is not a class."
    wanted = ["at least", "at most"] if says == "bound" else ["is"]
    if rule.relation not in wanted:
        known = " or ".join(map(repr, wanted))
        yield f"has the relation {rule.relation!r}; in {semantics.name} it must be {known}."
    if rule.votes is not None and says != "votes":
        yield f"has votes, which have no meaning in {semantics.name}; remove them."
    n_conditions, n_weights = len(rule.conditions), len(rule.partial_weights)
    allowed = {0, 1 << n_conditions} if n_conditions <= LONGEST_PARTIAL else {0}
    if semantics.fallback != "partial":
        allowed |= {n_conditions + 1}
    if n_weights not in allowed:
        numbers = " or ".join(map(str, sorted(allowed)))
        weights = f"{n_conditions} conditions with {n_weights} partial weights"
        yield f"has {weights}; there must be {numbers}."


def _amount_problems(rule: Rule, n_classes: int) -> Iterator[str]:
    """Yield what is wrong with the numbers of a rule."""
    if rule.weight != 0.0 and not LIGHTEST <= rule.weight <= HEAVIEST:
        yield f"has weight {rule.weight}; it must be 0, or from {LIGHTEST:g} to {HEAVIEST:g}."
    if rule.origin not in {"learned", "edited", "written"}:
        yield f"has the unknown origin {rule.origin!r}."
    shares, votes = rule.distribution, rule.votes
    if shares is not None and len(shares) != n_classes:
        yield "must have one share per class in its distribution."
    for what, amounts in (
        ("shares of 0 or more in its distribution", shares),
        ("partial weights of 0 or more", rule.partial_weights),
    ):
        if amounts and not (min(amounts) >= 0.0 and sum(amounts) <= LARGEST):
            yield f"must have {what}, {LARGEST:g} at most in all."
    fits = votes is None or len(votes) == n_classes
    if not fits or not all(abs(vote) <= LARGEST_SAID for vote in votes or ()):
        yield f"must have one vote per class, {_RANGE}."


def _condition_problems(condition: Condition, kind: str | None) -> Iterator[str]:
    where = f"has a condition on {condition.attribute!r}"
    if kind is None:
        yield f"uses {condition.attribute!r}, which is not an attribute."
    if isinstance(condition, NumericCondition) == (kind == "nominal"):
        yield f"{where} that does not fit a {kind} attribute."
    ends = condition.trapezoid if isinstance(condition, NumericCondition) else ()
    farthest = max((abs(end) for end in ends if isfinite(end)), default=0.0)
    if kind == "date" and farthest > FARTHEST_DATE:
        yield (
            f"{where} beyond all dates, {farthest:g} days from 1970; they may be "
            f"{FARTHEST_DATE:g} days away."
        )

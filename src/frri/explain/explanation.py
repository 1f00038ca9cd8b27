"""Explanations of one decision: plain immutable objects, sentences and tables."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from html import escape
from itertools import groupby
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from frri._util import Floats, import_optional
from frri.explain.bounds import Goal, is_changed
from frri.explain.counterfactual import Counterfactual, find_counterfactual, round_change
from frri.explain.matches import ConditionMatch, Rival, RowDecision, RuleMatch, Step
from frri.explain.parse_row import decode_value, format_value, parse_row
from frri.rules import Label, RuleSet
from frri.table.columns import Frame

FALLBACKS = {
    "nearest": "the nearest rule decides",
    "stretched": "the rules cut before their first failing condition decide",
    "partial": "the parts of rules that hold decide",
    "priors": "the class with the highest prior is predicted",
    "base": "the base is predicted",
}


@dataclass(frozen=True)
class AttributeChange:
    """A new value for one feature; `border` is the value of the least change, before rounding."""

    attribute: str
    before: float | str | None
    after: float | str | None
    border: float | str | None


@dataclass(frozen=True)
class Change:
    """A counterfactual explanation: the smallest change found.

    Parameters
    ----------
    decision : label
        Prediction after the change.
    changes : tuple of AttributeChange
    cost : float
        Sum of the changes (up to the borders) in fractions of the training ranges.
    bound : float
        Lower bound on the cost of a change of equally many features.
    proved : bool
        Whether no smaller change exists: none of fewer features, none with a cost lower by more
        than 1e-9; differences of scores below 1e-9 are ties.
    deciding : RuleMatch or None
        The rule that decides, or contributes most, after it; None where the class frequencies do.
    fallback : str or None
        The fallback that decides after it if no rule fires then; None if rules fire.
    """

    decision: Label
    changes: tuple[AttributeChange, ...]
    cost: float
    bound: float
    proved: bool
    deciding: RuleMatch | None
    fallback: str | None


@dataclass(frozen=True, repr=False)
class Explanation:
    """The reasons for a predicted class or number; made by `explain`, printed as sentences.

    Parameters
    ----------
    target : str
    decision : label or number
    classes : tuple of labels
        Empty in regression.
    scores : tuple of float
        Score of each class, all 0 where no rule fires; in regression the predicted number.
    shares : tuple of float
        The probabilities of the classes.
    fallback : str or None
        The fallback that decided where no rule fires; None if rules fire.
    deciding : RuleMatch or None
        The rule that decided, or contributed most; None where the class frequencies decided.
    firing : tuple of RuleMatch
        The rules that fire, the largest contributions (for or against) first; those of a list in
        its order.
    rivals : tuple of Rival
        The other classes, the highest score first; empty where classes are ordered and have
        `steps`.
    change : Change or None
        The smallest change that alters the decision; None if none was found.
    unalterable : bool
        Whether it is proved that no change of the changeable features alters the decision.
    unchangeable : tuple of str
        The features that had to stay.
    base : float or None
        Where rules add to a base: the value without any rule. It and the contributions of
        `firing` add up to the predicted number, or to the lead of the predicted class over the
        first of `rivals` (over 0 where there is no other class); in ordinal models, to the log
        odds of "at least the predicted class" (of the second class, where that is the first).
    steps : tuple of Step
        Every ordered class but the first.
    goal : str
        The result that `change` has to reach, such as "at least good"; empty if any other
        decision will do.
    calibrated : bool
        Whether `shares` are calibrated; the sentences of a decision by one rule state them then.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> low = Rule((NumericCondition.below("a", 3),), "low", 0.9)
    >>> rules = RuleSet((low, Rule((), "any", 0.5)), (Attribute("a", 0, 9),), ("any", "low"))
    >>> explanation = rules.explain([1])
    >>> explanation.decision, explanation.scores, len(explanation.firing)
    ('low', (0.5, 0.9), 2)
    >>> explanation.change.decision, explanation.change.changes[0].after
    ('any', 3.0)
    """

    target: str
    decision: Label
    classes: tuple[Label, ...]
    scores: tuple[float, ...]
    shares: tuple[float, ...]
    fallback: str | None
    deciding: RuleMatch | None
    firing: tuple[RuleMatch, ...]
    rivals: tuple[Rival, ...]
    change: Change | None
    unalterable: bool
    unchangeable: tuple[str, ...]
    base: float | None = None
    steps: tuple[Step, ...] = ()
    goal: str = ""
    calibrated: bool = False

    def __str__(self) -> str:
        if self.base is not None:
            lines = [_write_waterfall(self, self.base)]
        elif self.steps:
            lines = [_write_steps(self)]
        elif not self.classes and self.firing:
            lines = [_write_mean(self)]
        else:
            lines = [_write_decision(self)]
        for rival in self.rivals:
            needs = "; ".join(f"{_write_value(o)}, needed {o.needed}" for o in rival.obstacles)
            aim = f"; to {rival.aim}: {needs}" if needs else ""
            lines.append(f"For {rival.label!r}, {rival.reason}{aim}.")
        effect = f"leads to {self.goal}" if self.goal else "alters the decision"
        if self.change is not None:
            lines.append(_write_change(self, self.change, effect))
        elif self.unalterable:
            fixed = ", ".join(self.unchangeable)
            besides = f" besides {fixed}" if fixed else ""
            lines.append(f"No change of any attribute{besides} within its range {effect}.")
        elif self.goal.endswith(" already"):
            lines.append(f"It is {self.goal}.")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the sentences as paragraphs, and contributions as a table; names are escaped."""
        parts = []
        for listed, lines in groupby(str(self).split("\n"), lambda line: line.startswith("  ")):
            cells = [[escape(cell) for cell in line.strip().split("  ", listed)] for line in lines]
            form = "<tr>{}</tr>" if listed else "<p>{}</p>"
            cell = '<td style="text-align:left">{}</td>' if listed else "{}"
            rows = "".join(form.format("".join(map(cell.format, row))) for row in cells)
            parts.append(f"<table><tbody>{rows}</tbody></table>" if listed else rows)
        return "".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain JSON values."""
        return asdict(self)

    def to_frame(self) -> Frame:
        """Return a row per condition of the rules that fire, decide (also later) or rival.

        It needs pandas.
        """
        pd = import_optional("pandas", "A table of an explanation", "tables")
        named: list[tuple[int, str, RuleMatch | None]] = [
            *((2, "best of its class", rival.rule) for rival in self.rivals),
            *((1, "fires", rule) for rule in self.firing),
            (0, "decides", self.deciding),
        ]
        # The last role of a rule replaces the others.
        roles = {rule.index: (rank, role, rule) for rank, role, rule in named if rule is not None}
        order = sorted(roles.values(), key=lambda one: (one[0], -one[2].contribution))
        if self.change is not None and self.change.deciding is not None:
            order.append((3, "decides after the change", self.change.deciding))
        columns = ["role", "rule", "class", "degree", "weight", "contribution"]
        columns += ["condition", "value", "membership", "weakest"]
        rows, always = [], ConditionMatch("", "always", "", 1.0)
        for _, role, rule in order:
            head = role, rule.index + 1, rule.consequent
            amounts = rule.degree, rule.weight, rule.contribution
            for c in rule.conditions or (always,):
                is_weakest = c is rule.weakest
                rows.append((*head, *amounts, c.condition, c.value, c.membership, is_weakest))
        return pd.DataFrame(rows, columns=columns)


def explain(
    ruleset: RuleSet,
    row: Any,
    *,
    unchangeable: str | Collection[str] = (),
    at_least: Label | None = None,
    at_most: Label | None = None,
    effort: int = 10_000,
) -> Explanation:
    """Explain the prediction of a rule set for one row.

    Parameters
    ----------
    ruleset : RuleSet
    row : mapping, Series, named tuple, table of one row, or sequence in the order of the features
    unchangeable : str or collection of str
        Names of the features that the smallest change must not affect.
    at_least, at_most : label, optional
        Goal of the smallest change, one of the two, in ordinal models and in regression. By
        default any other class, and no change in regression.
    effort : int
        Maximum work of the search for the smallest change, in boxes of samples examined; 0 skips
        the search.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rules = RuleSet(
    ...     (
    ...         Rule((NumericCondition("glucose", core_high=105, support_high=191),), "no", 0.9),
    ...         Rule((NumericCondition("glucose", 100, 180),), "yes", 0.8),
    ...     ),
    ...     (Attribute("glucose", 44, 199),), ("no", "yes"), target="diabetes",
    ... )
    >>> print(explain(rules, {"glucose": 170}))
    Predicted diabetes = yes because rule 2 holds to 0.88 and scores 0.70:
    glucose >= 180 (partly from 100) holds to 0.88 (glucose = 170).
    For 'no', rule 1 scores 0.22; to score as much as rule 2 does now (0.70):
    glucose = 170, needed at most 124.1.
    The smallest change that alters the decision: 'no' by rule 1 if glucose were 146 instead of 170.

    At 124.1 rule 1 would score 0.70. At 146 it scores less, but by then rule 2 scores even less.

    Where rules add to a base, their contributions are listed from the largest to the smallest:

    >>> old = Rule((NumericCondition("age", core_low=60, support_low=60),), -30.0)
    >>> large = Rule((NumericCondition("rooms", 2, 6),), 80.0)
    >>> ages = Attribute("age", 0, 150), Attribute("rooms", 1, 9)
    >>> prices = RuleSet(
    ...     (old, large), ages, (), "price", semantics="added-contributions", base=(200,))
    >>> print(explain(prices, {"age": 75, "rooms": 5}))
    Predicted price = 230:
        +200  base
         +60  rule 2, which holds to 0.75: rooms >= 6 (partly from 2) (rooms = 5)
         -30  rule 1: age >= 60 (age = 75)

    A weighted mean is listed by the percentages of the rules:

    >>> means = RuleSet((Rule((), 100.0, 0.5), large), ages, (), "price", semantics="weighted-mean")
    >>> print(explain(means, {"age": 75, "rooms": 5}))
    Predicted price = 88, the weighted mean of 2 rules:
        60%  80  rule 2, which holds to 0.75: rooms >= 6 (partly from 2) (rooms = 5)
        40%  100  rule 1: always

    In regression, the search is for the smallest change that reaches a goal:

    >>> print(str(explain(prices, {"age": 75, "rooms": 5}, at_least=240)).splitlines()[-1])
    The smallest change that leads to at least 240: 240 if rooms were 5.5 instead of 5.
    """
    matrix, shown = parse_row(row, ruleset.attributes)
    filled = ruleset.arrays.filled(matrix)
    for j in np.flatnonzero(np.isnan(matrix[0]) & ~np.isnan(filled[0])):
        shown[j] = f"missing: counted as {ruleset.attributes[j].show(filled[0, j])}"
    decision = RowDecision(ruleset, matrix, shown)
    names = [attribute.name for attribute in ruleset.attributes]
    goal, goal_text = _parse_goal(ruleset, at_least, at_most, decision.decided)
    fixed = {unchangeable} if isinstance(unchangeable, str) else set(unchangeable)
    if fixed and goal is None:
        raise ValueError(
            f"The rules for {ruleset.target!r} predict numbers, and for these a smallest change "
            "needs a goal; give at_least or at_most, or leave unchangeable out."
        )
    for name in sorted(fixed - set(names)):
        raise ValueError(
            f"unchangeable names {name!r}, which is not an attribute: {', '.join(names)}."
        )
    changeable = [j for j, name in enumerate(names) if name not in fixed]
    reached = goal is not None and bool(goal.reached_by(ruleset, matrix)[0])
    change, unalterable = None, goal is not None and not reached and not changeable
    if goal is not None and not reached and changeable and effort > 0:
        found = find_counterfactual(ruleset, matrix[0], changeable, effort, goal)
        unalterable = found.row is None and found.proved
        if found.row is not None:
            change = _describe_change(ruleset, matrix[0], shown, found, goal)
    return Explanation(
        target=ruleset.target,
        decision=decision.answer,
        classes=ruleset.classes,
        scores=tuple(decision.scores.tolist()),
        shares=tuple(decision.shares.tolist()),
        fallback=decision.fallback,
        deciding=decision.deciding(),
        firing=decision.firing(),
        rivals=decision.rivals(),
        change=change,
        unalterable=unalterable,
        unchangeable=tuple(name for name in names if name in fixed),
        base=decision.base,
        steps=decision.steps(),
        goal=f"{goal_text} already" if reached else goal_text,
        calibrated=ruleset.trust < 1.0,
    )


def _parse_goal(
    ruleset: RuleSet, at_least: Label | None, at_most: Label | None, decided: int
) -> tuple[Goal | None, str]:
    """Return the goal of a change, by default another class than the decided one, and its text."""
    if at_least is not None and at_most is not None:
        raise ValueError("at_least and at_most are two goals; give one of them.")
    side, make_goal, label = "at least", Goal.at_least, at_least
    if at_least is None:
        side, make_goal, label = "at most", Goal.at_most, at_most
    if label is None:
        return Goal(decided, decided) if ruleset.classes else None, ""
    option = side.replace(" ", "_")
    if ruleset.task == "regression":
        number: Any = label
        if isinstance(number, bool) or not isinstance(number, Real) or not isfinite(number):
            raise ValueError(f"{option} must be a number, got {label!r}.")
        return make_goal(float(number)), f"{side} {number:.12g}"
    if ruleset.task != "ordinal":
        raise ValueError(
            f"The classes of {ruleset.target!r} have no order; leave at_least and at_most out."
        )
    if label not in ruleset.classes:
        known = ", ".join(map(repr, ruleset.classes))
        raise ValueError(f"{option} must be one of {known}, got {label!r}.")
    return make_goal(ruleset.classes.index(label)), f"{side} {label}"


def _describe_change(
    ruleset: RuleSet, row: Floats, shown: list[str], found: Counterfactual, goal: Goal
) -> Change:
    """Describe a counterfactual in the units of the table, rounded as far as the goal allows."""
    assert found.row is not None  # noqa: S101 - only what was found is described
    rounded = round_change(ruleset, row, found.row, goal)
    changes, shown = [], list(shown)
    for j in np.flatnonzero(is_changed(row, rounded)).tolist():
        attribute = ruleset.attributes[j]
        unseen = attribute.categories is not None and row[j] < 0
        before = shown[j] if unseen else decode_value(attribute, float(row[j]))
        after, border = (decode_value(attribute, float(new[j])) for new in (rounded, found.row))
        changes.append(AttributeChange(attribute.name, before, after, border))
        shown[j] = format_value(attribute, float(rounded[j]))
    decision = RowDecision(ruleset, rounded[None, :], shown)
    return Change(
        decision=decision.answer,
        changes=tuple(changes),
        cost=found.cost,
        bound=found.bound,
        proved=found.proved,
        deciding=decision.deciding(),
        fallback=decision.fallback,
    )


def _write_decision(explanation: Explanation) -> str:
    """Write the prediction, and how far the deciding rule holds or what decides in its place."""
    answer = explanation.decision if explanation.classes else f"{explanation.decision:.6g}"
    head = f"Predicted {explanation.target} = {answer}"
    if explanation.calibrated:
        head += f" with probability {max(explanation.shares):.2f}"
    rule = explanation.deciding
    if explanation.fallback is not None:
        head += f" although no rule fires: {FALLBACKS[explanation.fallback]}"
        if rule is None or explanation.fallback in {"priors", "base"}:
            return f"{head}."
        weakest = rule.weakest
        fails = f" (it lacks {weakest.condition}; {_write_value(weakest)})" if weakest else ""
        return f"{head}, here rule {rule.index + 1}{fails}."
    if rule is None:
        return f"{head}."
    alone = f"{head} because no rule with conditions holds: rule {rule.index + 1} has none."
    score = f" and scores {rule.contribution:.2f}" if rule.contribution != rule.degree else ""
    head += f" because rule {rule.index + 1} holds to {rule.degree:.2f}{score}"
    more = len([r for r in explanation.firing if r.consequent == rule.consequent]) - 1
    if more > 0:
        head += f", with {more} more rule{'s' if more > 1 else ''} for it"
    if rule.weakest is None:
        return alone if len(explanation.firing) == 1 else f"{head}; it has no conditions."
    if rule.weakest.membership >= 1.0:
        last = {c.attribute: c for c in rule.conditions}
        reasons = ", ".join(_write_value(c) for c in last.values())
        return f"{head}: all of its conditions hold fully ({reasons})."
    return (
        f"{head}: {rule.weakest.condition} holds to {rule.weakest.membership:.2f}"
        f" ({_write_value(rule.weakest)})"
        + (", the weakest of its conditions." if len(rule.conditions) > 1 else ".")
    )


def _write_waterfall(explanation: Explanation, base: float) -> str:
    """Write the base and the contribution of each rule to the number or the lead of the class."""
    form = "+.2f"
    head = f"Predicted {explanation.target} = {explanation.decision}"
    if explanation.steps:
        position = explanation.classes.index(explanation.decision)
        step = explanation.steps[max(position - 1, 0)]
        head = f"{_write_steps(explanation)}\nLog odds of at least {step.label}"
    elif explanation.classes:
        head += f" with probability {max(explanation.shares):.2f}"
        total = base + sum(rule.contribution for rule in explanation.firing)
        for second in explanation.rivals[:1]:
            head += f", by {total:.2f} more votes than for {second.label!r}"
    else:
        form = "+.6g"
        head = f"Predicted {explanation.target} = {explanation.decision:.6g}"
    parts = [(f"{base:{form}}", "base")]
    parts += [(f"{rule.contribution:{form}}", _write_rule(rule)) for rule in explanation.firing]
    width = max(len(amount) for amount, _ in parts) + 4
    return "\n".join([f"{head}:", *(f"{amount:>{width}}  {words}" for amount, words in parts)])


def _write_steps(explanation: Explanation) -> str:
    """Write the step that leads to the predicted class, and the one that would lead beyond it."""
    position = explanation.classes.index(explanation.decision)
    around = explanation.steps[max(position - 1, 0) : position + 1]
    steps = "; ".join(f"at least {s.label} has {s.share:.2f}, {s.why}" for s in around)
    return f"Predicted {explanation.target} = {explanation.decision}: {steps}."


def _write_mean(explanation: Explanation) -> str:
    """Write the percentage and the number of each rule in a weighted mean."""
    n_rules = len(explanation.firing)
    what = "by one rule" if n_rules == 1 else f"the weighted mean of {n_rules} rules"
    lines = [f"Predicted {explanation.target} = {explanation.decision:.6g}, {what}:"]
    for rule in explanation.firing:
        percentage = f"{rule.contribution:.0%}"
        lines.append(f"{percentage:>7}  {rule.consequent:.6g}  {_write_rule(rule)}")
    return "\n".join(lines)


def _write_rule(rule: RuleMatch) -> str:
    degree = "" if rule.degree >= 1.0 else f", which holds to {rule.degree:.2f}"
    conditions = [f"{c.condition} ({_write_value(c)})" for c in rule.conditions]
    return f"rule {rule.index + 1}{degree}: {', '.join(conditions) or 'always'}"


def _write_value(match: Any) -> str:
    """Write the name and value of a condition's feature, or of an obstacle's."""
    verb = "is" if match.value.startswith("missing: counted as ") else "="
    return f"{match.attribute} {verb} {match.value}"


def _write_change(explanation: Explanation, change: Change, effect: str) -> str:
    answer = repr(change.decision) if explanation.classes else f"{change.decision:.6g}"
    parts = []
    for c in change.changes:
        before = f"{c.before:.6g}" if isinstance(c.before, float) else _write_full(c.before)
        parts.append(f"{c.attribute} were {_write_full(c.after)} instead of {before}")
    condition = " and ".join(parts)
    head = f"The smallest change that {effect}"
    if not change.proved:
        head = f"A change that {effect} (there may be a smaller one)"
    rule = "" if change.deciding is None else f"rule {change.deciding.index + 1}"
    if change.fallback in {None, "base"}:
        by = f" by {rule}" if rule else ""
        return f"{head}: {answer}{by} if {condition}."
    here = f", here {rule}" if rule and change.fallback != "priors" else ""
    fallback = FALLBACKS[change.fallback]
    return f"{head}: {answer} if {condition}; no rule fires then and {fallback}{here}."


def _write_full(value: float | str | None) -> str:
    """Write a value so that entering it again gives the same decision."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return value

"""What is known about one decision, as plain immutable objects."""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Floats
from frri.explain import text
from frri.explain.counterfactual import smallest_change
from frri.explain.counterfactual.bounds import Goal, NumberGoal, alters
from frri.explain.counterfactual.rounding import python_value, round_change
from frri.explain.matches import Rival, RowMatches, RuleMatch, Step
from frri.explain.parse_row import one_row, shown_value
from frri.rules import Label, RuleSet

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class AttributeChange:
    """A new value for one attribute; `border` is the least change that does it, before rounding."""

    attribute: str
    before: float | str | None
    after: float | str | None
    border: float | str | None


@dataclass(frozen=True)
class Change:
    """The smallest change found.

    Parameters
    ----------
    decision : label
        What is predicted after it.
    changes : tuple of AttributeChange
    cost : float
        Sum of the changes (up to the borders) in shares of the training ranges.
    bound : float
        No change of equally many attributes costs less.
    proved : bool
        Whether no smaller change exists: none of fewer attributes, none with a cost lower by more
        than 1e-9; differences of scores below 1e-9 count as ties.
    deciding : RuleMatch or None
        The rule that decides, or counts most, after it; None where the shares of the classes do.
    fallback : str or None
        What decides after it if no rule fires then; None if rules fire.
    """

    decision: Label
    changes: tuple[AttributeChange, ...]
    cost: float
    bound: float
    proved: bool
    deciding: RuleMatch | None
    fallback: str | None


@dataclass(frozen=True)
class Explanation:
    """Why this decision, or this number; made by `explain`, printed as a few sentences.

    Parameters
    ----------
    target : str
    decision : label or number
    classes : tuple of labels
        None in regression.
    scores : tuple of float
        Of each class, all 0 where no rule fires; in regression the number predicted.
    shares : tuple of float
        The probabilities of the classes.
    fallback : str or None
        What decided where no rule fires; None if rules fire.
    deciding : RuleMatch or None
        The rule that decided, or counted most; None where the shares of the classes decided.
    firing : tuple of RuleMatch
        The rules that fire, those that count most (for or against) first, of a list in its order.
    rivals : tuple of Rival
        The other classes, the highest share first; none where classes are ordered and have `steps`.
    change : Change or None
        The smallest change that alters the decision; None if none was found.
    unalterable : bool
        Whether it is proved that no change of the changeable attributes alters the decision.
    unchangeable : tuple of str
        The attributes that had to stay.
    base : float or None
        Where rules add to a base: what is there before any of them counts. It and the contributions of
        `firing` add up to the number predicted, or to the lead of the class decided for over the
        first of `rivals` (over 0 where there is no other class); of ordered classes, to the log odds of
        "at least the class decided for" (of the second one, where that is the first).
    steps : tuple of Step
        Of ordered classes, each but the first.
    goal : str
        What `change` is to bring about, such as "at least good"; nothing where any other decision will
        do.
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

    def __str__(self) -> str:
        return text.sentences(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    def to_frame(self) -> "pd.DataFrame":
        """One row per condition of the rules that fire, decide (also after the change) or rival.

        It needs pandas.
        """
        return text.frame(self)


def explain(
    ruleset: RuleSet,
    row: Any,
    *,
    unchangeable: str | Collection[str] = (),
    at_least: Label | None = None,
    at_most: Label | None = None,
    effort: int = 10_000,
) -> Explanation:
    """Explain the decision of a ruleset about one row, or the number that it predicts.

    Parameters
    ----------
    ruleset : RuleSet
    row : mapping, Series, named tuple, table of one row, or sequence in the order of the attributes
    unchangeable : str or collection of str
        The attribute, or those, that the smallest change must leave alone.
    at_least, at_most : label, optional
        Where classes are ordered, or numbers predicted: what the smallest change is to bring about, one of
        the two; by default any other decision, and no change of numbers.
    effort : int
        How much work the search for the smallest change may do, in boxes of objects looked at; 0
        leaves it out.

    Returns
    -------
    Explanation

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
    Predicted diabetes = yes because rule 2 holds to 0.88 and counts 0.70: glucose >= 180 (fades, ends at 100) holds to 0.88 (glucose = 170).
    For 'no', rule 1 counts 0.22; to count as much as rule 2 does now (0.70): glucose = 170, needed at most 124.1.
    The smallest change that alters the decision: 'no' by rule 1 if glucose were 146 instead of 170.

    At 124.1 rule 1 would count 0.70. At 146 it counts less, but by then rule 2 counts even less than that.

    Where rules add to a base, their contributions are listed from the largest to the smallest:

    >>> old = Rule((NumericCondition("age", core_low=60, support_low=60),), -30.0)
    >>> large = Rule((NumericCondition("rooms", 2, 6),), 80.0)
    >>> ages = Attribute("age", 0, 150), Attribute("rooms", 1, 9)
    >>> prices = RuleSet((old, large), ages, (), "price", semantics="added-contributions", base=(200,))
    >>> print(explain(prices, {"age": 75, "rooms": 5}))
    Predicted price = 230:
        +200  base
         +60  rule 2, which holds to 0.75: rooms >= 6 (fades, ends at 2) (rooms = 5)
         -30  rule 1: age >= 60 (age = 75)

    A weighted mean is listed by the shares that rules have in it:

    >>> means = RuleSet((Rule((), 100.0, 0.5), large), ages, (), "price", semantics="weighted-mean")
    >>> print(explain(means, {"age": 75, "rooms": 5}))
    Predicted price = 88, the mean of what 2 rules say:
        60%  80  rule 2, which holds to 0.75: rooms >= 6 (fades, ends at 2) (rooms = 5)
        40%  100  rule 1: always

    Of numbers, the smallest change is searched that reaches a goal:

    >>> print(str(explain(prices, {"age": 75, "rooms": 5}, at_least=240)).splitlines()[-1])
    The smallest change that leads to at least 240: 240 if rooms were 5.5 instead of 5.
    """
    matrix, shown = one_row(row, ruleset.attributes)
    filled = ruleset.arrays.matcher.filled(matrix)
    for j in np.flatnonzero(np.isnan(matrix[0]) & ~np.isnan(filled[0])):
        shown[j] = f"missing: counted as {ruleset.attributes[j].show(filled[0, j])}"
    facts = RowMatches(ruleset, matrix, shown)
    names = [attribute.name for attribute in ruleset.attributes]
    words, goal = _read_goal(ruleset, at_least, at_most)
    if unchangeable and not ruleset.classes and goal is None:
        raise ValueError(
            f"The rules for {ruleset.target!r} predict numbers, and for these a smallest change needs a goal; "
            "give at_least or at_most, or leave unchangeable out."
        )
    fixed = {unchangeable} if isinstance(unchangeable, str) else set(unchangeable)
    for name in sorted(fixed):
        if name not in names:
            raise ValueError(
                f"unchangeable names {name!r}, which is not an attribute: {', '.join(names)}."
            )
    movable = [j for j, name in enumerate(names) if name not in fixed]
    reached = goal is not None and bool(alters(ruleset, matrix, goal)[0])
    searched = (bool(ruleset.classes) or goal is not None) and not reached
    change, unalterable = None, searched and not movable
    if searched and effort > 0 and movable:
        change, unalterable = _change(ruleset, matrix[0], shown, movable, effort, goal)
    return Explanation(
        target=ruleset.target,
        decision=facts.answer,
        classes=ruleset.classes,
        scores=tuple(facts.scores.tolist()),
        shares=tuple(facts.shares.tolist()),
        fallback=facts.fallback if facts.silent else None,
        deciding=facts.deciding(),
        firing=facts.firing(),
        rivals=facts.rivals(),
        change=change,
        unalterable=unalterable,
        unchangeable=tuple(name for name in names if name in fixed),
        base=facts.base,
        steps=facts.steps(),
        goal=f"{words} already" if reached else words,
    )


def _read_goal(
    ruleset: RuleSet, at_least: Label | None, at_most: Label | None
) -> tuple[str, Goal | None]:
    """What a change is to bring about, in words, and the positions of the classes to be left by it."""
    goals = {"at least": at_least, "at most": at_most}
    given = {side: label for side, label in goals.items() if label is not None}
    if not given:
        return "", None
    if len(given) > 1:
        raise ValueError("at_least and at_most are two goals; give one of them.")
    ((side, label),) = given.items()
    if ruleset.task == "regression":
        number: Any = label
        if isinstance(number, bool) or not isinstance(number, Real) or not isfinite(number):
            raise ValueError(f"{side.replace(' ', '_')} must be a number, got {label!r}.")
        return f"{side} {number:.12g}", NumberGoal(float(number), at_least=side == "at least")
    if ruleset.task != "ordinal":
        raise ValueError(
            f"The classes of {ruleset.target!r} have no order; leave at_least and at_most out."
        )
    if label not in ruleset.classes:
        known = ", ".join(map(repr, ruleset.classes))
        raise ValueError(f"{side.replace(' ', '_')} must be one of {known}, got {label!r}.")
    c = ruleset.classes.index(label)
    return f"{side} {label}", range(c) if side == "at least" else range(c + 1, len(ruleset.classes))


def _change(
    ruleset: RuleSet,
    row: Floats,
    shown: list[str],
    movable: list[int],
    effort: int,
    goal: Goal | None,
) -> tuple[Change | None, bool]:
    """The smallest change in the user's units, or whether there is proof of none."""
    found = smallest_change(ruleset, row, movable, effort, goal)
    if found.row is None:
        return None, found.proved
    rounded = round_change(ruleset, row, found.row, goal)
    changes = []
    then = list(shown)
    for j, attribute in enumerate(ruleset.attributes):
        if rounded[j] != row[j] and not (np.isnan(rounded[j]) and np.isnan(row[j])):
            unseen = attribute.categories is not None and row[j] < 0
            before = shown[j] if unseen else python_value(attribute, float(row[j]))
            after = python_value(attribute, float(rounded[j]))
            border = python_value(attribute, float(found.row[j]))
            changes.append(AttributeChange(attribute.name, before, after, border))
            then[j] = shown_value(attribute, float(rounded[j]))
    facts = RowMatches(ruleset, rounded[None, :], then)
    change = Change(
        decision=facts.answer,
        changes=tuple(changes),
        cost=found.cost,
        bound=found.bound,
        proved=found.proved,
        deciding=facts.deciding(),
        fallback=facts.fallback if facts.silent else None,
    )
    return change, False

"""What is known about one decision, as plain immutable objects."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from frri.explain import text
from frri.rules import Label

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ConditionMatch:
    """One condition and the row: its text, the row's value, how far it holds."""

    attribute: str
    condition: str
    value: str
    membership: float


@dataclass(frozen=True)
class RuleMatch:
    """One rule and the row.

    Parameters
    ----------
    index : int
        Its position in the ruleset.
    consequent : label
    degree, weight : float
        How far its conditions hold together, and what a full match counts.
    contribution : float
        What it adds to its class: weight times degree, in a list 1 for the rule that decides; in a
        weighted mean its share. Where
        rules add to a base: what it adds to the number predicted, or to the lead of the class decided
        for over the next one (see `Explanation.base`).
    conditions : tuple of ConditionMatch
    """

    index: int
    consequent: Label
    degree: float
    weight: float
    contribution: float
    conditions: tuple[ConditionMatch, ...]

    @property
    def weakest(self) -> ConditionMatch | None:
        """The condition that holds least; None for a rule without conditions."""
        return min(self.conditions, key=lambda c: c.membership, default=None)


@dataclass(frozen=True)
class Obstacle:
    """A condition that holds too little: the row's value, and the value needed (see `Rival.aim`)."""

    attribute: str
    value: str
    needed: str


@dataclass(frozen=True)
class Rival:
    """Another class: its best rule for the row, and what keeps that rule from winning.

    Parameters
    ----------
    label : label
    score : float
    rule : RuleMatch or None
        Its best rule; None if no rule speaks for it.
    reason : str
        How that rule stands.
    aim : str
        What the values of `obstacles` are needed for: to fire, to hold fully, or to count as much as
        the rule that decided does now. They look at this rule alone. A smaller change may do, because
        the rule that decided may count less after it, or because another rule takes over: see `Change`.
    obstacles : tuple of Obstacle
        Empty where no value of a single attribute stands in the way.
    """

    label: Label
    score: float
    rule: RuleMatch | None
    reason: str
    aim: str = ""
    obstacles: tuple[Obstacle, ...] = ()


@dataclass(frozen=True)
class Step:
    """A class of several ordered ones: how probable it is to be at least this one, and why."""

    label: Label
    share: float
    why: str


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

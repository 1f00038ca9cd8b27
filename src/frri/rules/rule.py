"""One rule: conditions, consequent, weight, and its statistics in the training data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from frri._util import one_line
from frri.rules import text
from frri.rules.condition import Condition, NumericCondition
from frri.rules.semantics import Semantics
from frri.table import FARTHEST_DATE, LARGEST, Attribute

Label = str | int | float | bool

# Longer rules do not take part in partial matching: 2^k subsets of conditions are too many.
LONGEST_PARTIAL = 16
# Sums of weights must stay finite, and so must what they divide and what they are multiplied with.
HEAVIEST = 1e9
LIGHTEST = 1e-300
LARGEST_SAID = 1e100
SAID = f"from {-LARGEST_SAID:g} to {LARGEST_SAID:g}"


def label_array(labels: Sequence[Label]) -> NDArray[Any]:
    """Return labels as an array that keeps their types."""
    kinds = {type(label) for label in labels}
    if kinds == {int}:
        for dtype in (np.int64, np.uint64):
            with suppress(OverflowError):
                return np.array(labels, dtype=dtype)
    elif len(kinds) <= 1 and not _ends_in_null(labels):
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def as_labels(labels: Any, n_samples: int | None = None) -> NDArray[Any]:
    """Return labels in any form as an array; strings keep null characters at their end."""
    array = np.asarray(labels)
    if n_samples is not None and array.shape != (n_samples,):
        raise ValueError(f"Expected {n_samples} labels, one per row, got the shape {array.shape}.")
    listed = array.dtype.kind == "U" and array.ndim == 1 and not isinstance(labels, np.ndarray)
    return label_array(list(labels)) if listed and _ends_in_null(labels) else array


def _ends_in_null(labels: Iterable[Label]) -> bool:
    """Return whether a string ends in a null character, which numpy would drop."""
    return any(isinstance(label, str) and label.endswith("\0") for label in labels)


@dataclass(frozen=True)
class RuleStatistics:
    """What a rule covers in a labelled table: numbers of samples, or their weights.

    Parameters
    ----------
    support : tuple of float
        Covered samples of each class, in the order of `RuleSet.classes`; in regression one number.
    precision : float or None
        Fraction of the covered samples that are of its class; None if it covers nothing, or is not
        true or false of a class.
    lift : float or None
        Precision divided by the proportion of the class in the table; None if undefined.
    alone : float
        Samples that no other rule covers.
    mean, deviation : float, optional
        In regression: mean and standard deviation of the target among the covered samples.
    total : float, optional
        In regression: all samples of the table.

    See Also
    --------
    RuleSet.statistics : Computes them for every rule of a rule set.

    Examples
    --------
    >>> seen = RuleStatistics(support=(6, 2), precision=0.75, lift=1.5, alone=4)
    >>> seen.covered, seen.share_alone
    (8, 0.5)
    """

    support: tuple[float, ...]
    precision: float | None
    lift: float | None
    alone: float
    mean: float | None = None
    deviation: float | None = None
    total: float | None = None

    @property
    def covered(self) -> float:
        """Number of samples it covers, or their weight."""
        return sum(self.support)

    @property
    def share_alone(self) -> float:
        """Fraction of the covered samples that no other rule covers; 0 if it covers nothing."""
        return self.alone / self.covered if self.covered else 0.0


@dataclass(frozen=True)
class Rule:
    """IF all conditions THEN consequent.

    Immutable and hashable. Printed, it is a sentence, in which a rule of a `RuleSet` shows dates
    and ordered categories as such; printed by its `RuleSet`, it also names the target.

    Parameters
    ----------
    conditions : tuple of Condition
        Empty for a rule that always holds.
    consequent : label or number
        The predicted class, or in regression the number.
    weight : float, default=1.0
        What a full match counts.
    origin : {"learned", "edited", "written"}, default="learned"
        Whether an estimator made it, or a person changed or wrote it.
    source : int, optional
        The training sample it was made from, if any.
    statistics : RuleStatistics, optional
        Its statistics in the training data.
    distribution : tuple of float, optional
        Proportions of the classes among the training samples that it decides in a decision list.
    partial_weights : tuple of float, optional
        Weights of parts of the rule, for samples that no rule covers (see `RuleSet.fallback`):
        of its first 0, 1, 2, ... conditions, or of every subset of them, numbered by its bits.
    votes : tuple of float, optional
        Votes for each class in "softmax-votes", times the weight; by default 1 for the consequent.
    relation : {"is", "at least", "at most"}
        Whether the consequent is a class or a bound; bounds are for ordinal classes.

    See Also
    --------
    RuleSet : Rules and all that is needed to apply them.

    Examples
    --------
    >>> from frri.rules import NumericCondition
    >>> rule = Rule((NumericCondition("age", core_high=30, support_high=41.5),), "no", 0.9)
    >>> print(rule)
    IF age <= 30 (partly to 41.5) THEN no   [weight 0.90]
    >>> rule.attributes
    ('age',)
    """

    conditions: tuple[Condition, ...]
    consequent: Label
    weight: float = 1.0
    origin: Literal["learned", "edited", "written"] = "learned"
    source: int | None = None
    statistics: RuleStatistics | None = None
    distribution: tuple[float, ...] | None = None
    partial_weights: tuple[float, ...] = ()
    votes: tuple[float, ...] | None = None
    relation: Literal["is", "at least", "at most"] = "is"

    def __post_init__(self) -> None:
        object.__setattr__(self, "consequent", plain_scalar(self.consequent))
        for name in ("conditions", "partial_weights", "distribution", "votes"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes it uses, each once, in order of first use."""
        return tuple(dict.fromkeys(condition.attribute for condition in self.conditions))

    @property
    def units(self) -> Mapping[str, Attribute]:
        """Attributes whose values are shown otherwise than encoded; known within a rule set."""
        known: Mapping[str, Attribute] = self.__dict__.get("_units", {})
        return known

    def __str__(self) -> str:
        return one_line(text.rule_text(None, self))


def attach_units(rule: Rule, attributes: Mapping[str, Attribute]) -> Rule:
    """Return a rule whose sentence shows values as these attributes do."""
    units = {name: attributes[name] for name in rule.attributes if name in attributes}
    if rule.units == units:
        return rule
    same = replace(rule)
    object.__setattr__(same, "_units", units)
    return same


def plain_scalar(value: Any) -> Any:
    """Return a scalar of numpy as one of Python, which can be saved; other values as they are."""
    return value.item() if isinstance(value, np.generic) else value


def find_problems(
    rule: Rule, semantics: Semantics, classes: Sequence[Label], kinds: Mapping[str, str]
) -> Iterator[str]:
    """Yield what is wrong with a rule, given the classes and the kind of each feature."""
    yield from _find_semantics_problems(rule, semantics, classes)
    yield from _find_amount_problems(rule, len(classes))
    for condition in rule.conditions:
        yield from _find_condition_problems(condition, kinds.get(condition.attribute))


def _find_semantics_problems(
    rule: Rule, semantics: Semantics, classes: Sequence[Label]
) -> Iterator[str]:
    says, said, name = semantics.meaning.says, rule.consequent, semantics.name
    if says == "number" and (isinstance(said, str | bool) or not abs(said) <= LARGEST_SAID):
        yield f"concludes {said!r}; in {name} it must be a number {SAID}."
    if says != "number" and said not in classes:
        yield f"concludes {said!r}, which is not a class."
    relations = ["at least", "at most"] if says == "bound" else ["is"]
    if rule.relation not in relations:
        known = " or ".join(map(repr, relations))
        yield f"has the relation {rule.relation!r}; in {name} it must be {known}."
    if rule.votes is not None and says != "votes":
        yield f"has votes, which have no meaning in {name}; remove them."
    n, n_weights = len(rule.conditions), len(rule.partial_weights)
    allowed = {0, 1 << n} if n <= LONGEST_PARTIAL else {0}
    if semantics.fallback != "partial":
        allowed |= {n + 1}
    if n_weights not in allowed:
        numbers = " or ".join(map(str, sorted(allowed)))
        yield f"has {n} conditions with {n_weights} partial weights; there must be {numbers}."


def _find_amount_problems(rule: Rule, n_classes: int) -> Iterator[str]:
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
        yield f"must have one vote per class, {SAID}."


def _find_condition_problems(condition: Condition, kind: str | None) -> Iterator[str]:
    where = f"has a condition on {condition.attribute!r}"
    if kind is None:
        yield f"uses {condition.attribute!r}, which is not an attribute."
    if isinstance(condition, NumericCondition) == (kind == "nominal"):
        yield f"{where} that does not fit a {kind} attribute."
    if kind == "date":
        ends = (abs(end) for side in condition.sides for end in (side.core, side.support))
        farthest = max(ends, default=0.0)
        if farthest > FARTHEST_DATE:
            limit = f"they may be {FARTHEST_DATE:g} days away"
            yield f"{where} beyond all dates, {farthest:g} days from 1970; {limit}."

"""Semantics: how the degrees of rules become a prediction.

A semantics is a name and four settings. The name determines the task, how rules are combined, and
which rule decides. The *strength* of a rule is its weight times the degree to which its conditions
hold:

==================== ============== ============================================= ======== =========
name                 task           score                                         link     decides
==================== ============== ============================================= ======== =========
best-rule            classification greatest strength of the rules of a class     shares   strongest
added-votes          classification sum of the strengths of the rules of a class  shares   strongest
first-match          classification proportion of a class in the first rule that  shares   first
                                    holds
softmax-votes        classification base of a class + sum of strength x vote      softmax  none
at-least-class       ordinal        fraction of the votes for and against "at     steps    none
                                    least this class" that are for it
cumulative-logits    ordinal        logistic function of the base of a class +    steps    none
                                    sum of strength x number; 1 for the first
weighted-mean        regression     mean of the numbers, weighted by strength     none     none
added-contributions  regression     base + sum of strength x number               none     none
==================== ============== ============================================= ======== =========

*Links* turn scores into probabilities: `shares` divides them by their sum, `softmax` does so with
their exponentials, and `steps` takes the differences of neighboring classes. The class with the
highest score is predicted, of equal ones the first. By `steps` it is the last class that has, like
all before it, a score above one half: the median of the probabilities.

By the first two links, probabilities are shrunk towards the class priors: the *trust* of the rule
set is the fraction that comes from the rules. Classes that are then ahead of the predicted one are
levelled with it, and by `steps` those that are ahead of the median: see
`frri.rules.inference`.

*Costs* of misclassifying the samples of each class change the decisions of classifiers, which have
the first two links. By `shares`, the score of a class is multiplied by its cost before scores are
compared, and so are the values of the fallbacks `stretched`, `partial` and `priors`; `nearest` is
not changed. By `softmax`, the base of a class contains the natural logarithm of its
cost, rounded to a multiple of 2**-40. Probabilities are shrunk towards class priors times costs.
They are those of a population in which every class has its cost as weight, so that the predicted
class has the largest one.

The settings:

t_norm
    joins the conditions of a rule; a name of `frri.fuzzy.T_NORMS`.
fallback
    decides where no rule fires. `nearest`: the rule with the greatest uncut value (see
    `frri.rules.matching`). `stretched`: each rule is cut before its first condition that fails,
    and has the partial weight of what is left. `partial`: each rule has the partial weight of the
    subset of its conditions that hold. `priors`: the class priors, in "at-least-class" among the
    classes that no rule excludes. `base`: the base of the rule set. Where no part of any rule
    holds, `stretched` and `partial` use the priors; where no rule has a weight, `nearest` uses
    these or the base. In "at-least-class" the fallback is used class by class: where no rule that
    fires is for or against "at least this class", the nearest ones are, by how far those of the
    other side are.
clip
    moves values outside the training range to its nearest end.
missing
    treats missing values. `typical`: as the imputed value of the feature, if it has one. `fails`:
    no condition holds. `similar` (called `holds` in version 1 of the format): every condition
    holds.

This is the only list. Prediction, explanations, reports and exports know all of it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from frri.fuzzy import T_NORMS

Fallback = Literal["nearest", "stretched", "partial", "priors", "base"]
Missing = Literal["typical", "fails", "similar"]


@dataclass(frozen=True)
class Meaning:
    """A row of the table above.

    Parameters
    ----------
    task : {"classification", "ordinal", "regression"}
    says : {"class", "votes", "bound", "number"}
        Consequent of a rule: a class, votes for classes, "at least" or "at most" a class, a number.
    combination : {"best", "sum", "first", "thresholds", "mean"}
        How rules are combined.
    link : {"shares", "softmax", "steps"} or None
        From scores to probabilities; None where there are none.
    decides : {"strongest", "first"} or None
        Which rule decides.
    fallbacks : tuple of str
        The fallbacks that it can have, the default first.
    """

    task: Literal["classification", "ordinal", "regression"]
    says: Literal["class", "votes", "bound", "number"]
    combination: Literal["best", "sum", "first", "thresholds", "mean"]
    link: Literal["shares", "softmax", "steps"] | None
    decides: Literal["strongest", "first"] | None
    fallbacks: tuple[Fallback, ...]

    @property
    def is_list(self) -> bool:
        """Whether a rule applies only where those before it fail."""
        return self.decides == "first"

    @property
    def adds(self) -> bool:
        """Whether rules add to a base."""
        return self.combination == "sum" and "base" in self.fallbacks

    def base_length(self, n_classes: int) -> int:
        """Return the number of scores in the base: one per class, or per step between them."""
        if "base" not in self.fallbacks:
            return 0
        return {"regression": 1, "ordinal": max(n_classes - 1, 0)}.get(self.task, n_classes)


_RULES: tuple[Fallback, ...] = ("nearest", "stretched", "partial", "priors")
_PRIORS: tuple[Fallback, ...] = ("priors", "nearest")

# Every semantics by name.
MEANINGS: Mapping[str, Meaning] = MappingProxyType(
    {
        "best-rule": Meaning("classification", "class", "best", "shares", "strongest", _RULES),
        "added-votes": Meaning("classification", "class", "sum", "shares", "strongest", _RULES),
        "first-match": Meaning("classification", "class", "first", "shares", "first", _RULES),
        "softmax-votes": Meaning("classification", "votes", "sum", "softmax", None, ("base",)),
        "at-least-class": Meaning("ordinal", "bound", "thresholds", "steps", None, _PRIORS),
        "cumulative-logits": Meaning("ordinal", "number", "sum", "steps", None, ("base",)),
        "weighted-mean": Meaning("regression", "number", "mean", None, None, ("nearest", "base")),
        "added-contributions": Meaning("regression", "number", "sum", None, None, ("base",)),
    }
)

# The names that `RuleSet(combination=...)` stands for.
SHORTHANDS: Mapping[str, str] = MappingProxyType(
    {"best": "best-rule", "sum": "added-votes", "first": "first-match"}
)


@dataclass(frozen=True)
class Semantics:
    """A name and its settings, which every `RuleSet` has.

    Parameters
    ----------
    name : str
        One of `MEANINGS`; the module's documentation has the table.
    t_norm : str
        How the conditions of a rule are joined; a name of `frri.fuzzy.T_NORMS`.
    fallback : str
        What decides where no rule fires; the default depends on the name.
    clip : bool
        Whether values outside the training range count as its nearest end.
    missing : {"typical", "fails", "similar"}
        What a missing value counts as.

    Examples
    --------
    >>> Semantics()
    Semantics(name='best-rule', t_norm='minimum', fallback='nearest', clip=False, missing='fails')
    >>> Semantics("softmax-votes").fallback, Semantics("weighted-mean").meaning.task
    ('base', 'regression')
    """

    name: str = "best-rule"
    t_norm: str = "minimum"
    fallback: str = ""
    clip: bool = False
    missing: str = "fails"

    def __post_init__(self) -> None:
        _check("semantics", self.name, tuple(MEANINGS))
        if not self.fallback:
            object.__setattr__(self, "fallback", self.meaning.fallbacks[0])
        _check("t_norm", self.t_norm, tuple(T_NORMS))
        _check("fallback", self.fallback, self.meaning.fallbacks, f" for {self.name}")
        if self.missing == "holds":
            object.__setattr__(self, "missing", "similar")
        _check("missing", self.missing, get_args(Missing))

    @property
    def meaning(self) -> Meaning:
        """What the name stands for."""
        return MEANINGS[self.name]

    def require(self, names: Collection[str], what: str, remedy: str) -> None:
        """Raise a ValueError if it is none of those that something can express."""
        if self.name not in names:
            problem = f"cannot express the semantics {self.name!r} yet"
            raise ValueError(f"{what} {problem}; {remedy}.")

    @property
    def is_max_min(self) -> bool:
        """Whether a score is a maximum of weighted minima, and so piecewise linear."""
        return (self.name, self.t_norm) == ("best-rule", "minimum")


# The semantics whose rules say a class.
CLASS_RULES = frozenset(SHORTHANDS.values())
# Those whose rules are true or false of a class, so that what they cover has a precision.
COUNTABLE = CLASS_RULES | {"softmax-votes", "at-least-class"}


def _check(what: str, value: str, allowed: tuple[str, ...], where: str = "") -> None:
    if value not in allowed:
        raise ValueError(f"{what} must be one of {', '.join(allowed)}{where}, got {value!r}.")

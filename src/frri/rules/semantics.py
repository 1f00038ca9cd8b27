"""What a ruleset means: how the degrees of its rules become an answer.

A semantics is a name and four settings. The name says what is predicted, how rules come together,
and which rule decides. A rule *counts* its weight times the degree to which its conditions hold:

==================== ============== ============================================= ======== =========
name                 task           score                                         link     decides
==================== ============== ============================================= ======== =========
best-rule            classification of a class: what its best rule counts         shares   strongest
added-votes          classification of a class: what its rules count together     shares   strongest
first-match          classification of a class: its share in the first rule that  shares   first
                                    holds
softmax-votes        classification of a class: its base, and for each rule what  softmax  none
                                    it counts times its vote for the class
at-least-class       ordinal        of a class: how much of what speaks for or    steps    none
                                    against "at least this class" speaks for it
cumulative-logits    ordinal        of a class: the logistic function of its base  steps    none
                                    and for each rule what it counts times its
                                    number; 1 for the first class
weighted-mean        regression     mean of the rules' numbers, each weighted by  none     none
                                    what its rule counts
added-contributions  regression     the base, and for each rule what it counts    none     none
                                    times its number
==================== ============== ============================================= ======== =========

*Links* lead from scores to probabilities: `shares` divides them by their sum, `softmax` their
exponentials, and `steps` takes the differences of neighbouring classes. The answer is the class
with the highest score, of equal ones the first. By `steps` it is the last class that has, like all
before it, a score above one half: the median of the probabilities, the lower class where two are
in balance.

By the first two links, a share of each probability that is the ruleset's *trust* comes from the
rules, and the rest from the sizes of the classes in training. Classes that then come out ahead of
the one decided for are levelled with it, and by `steps` those that are ahead of the median: see
`frri.rules.probabilities`.

The rule that *decides* is the strongest one (of the class decided for, of equal ones the first),
the first one that holds, or none where all rules have their part in it.

The settings:

t_norm
    joins the conditions of a rule; a name of `frri.fuzzy.T_NORMS`.
fallback
    what decides where no rule fires. `nearest`: the rule that is nearest to covering the object,
    by the uncut value of `frri.rules.matching`. `stretched`: each rule is cut before its first
    condition that fails and counts by what is left. `partial`: each rule counts by the weight of
    the subset of its conditions that hold. `priors`: the shares of the classes in training, in
    "at-least-class" among the classes that no rule rules out. `base`: the base of the ruleset.
    `stretched` and `partial` leave it to the priors where no part of any rule holds, `nearest` to
    these or the base where no rule has weight. In "at-least-class" this is asked class by class:
    about "at least this class" the nearest rules for and against it speak where none that fires
    does, each with a share by how far the other one is.
clip
    whether values outside the training range count as its nearest end.
missing
    what a missing value counts as. `typical`: the typical value of its attribute, where that has
    one. `fails`: no condition holds for it; so it is too where there is no typical value.
    `similar`: every condition holds for it. Older files and programs call the last one `holds`.

This is the only list. Whatever applies rules (an *engine*) says by a `Support` which part of it it
can do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from frri.fuzzy import T_NORMS

Task = Literal["classification", "ordinal", "regression"]
Combination = Literal["best", "sum", "first", "thresholds", "mean"]
Fallback = Literal["nearest", "stretched", "partial", "priors", "base"]
Missing = Literal["typical", "fails", "similar"]


@dataclass(frozen=True)
class Meaning:
    """What the name of a semantics stands for: a row of the table above.

    Parameters
    ----------
    task : {"classification", "ordinal", "regression"}
    says : {"class", "votes", "bound", "number"}
        What a rule says: a class, votes for classes, "at least" or "at most" a class, a number.
    combination : {"best", "sum", "first", "thresholds", "mean"}
        How what rules count comes together.
    link : {"shares", "softmax", "steps"} or None
        From scores to probabilities; None where there are none.
    decides : {"strongest", "first"} or None
        Which rule decides.
    fallbacks : tuple of str
        The fallbacks that it can have, the usual one first.
    """

    task: Task
    says: Literal["class", "votes", "bound", "number"]
    combination: Combination
    link: Literal["shares", "softmax", "steps"] | None
    decides: Literal["strongest", "first"] | None
    fallbacks: tuple[Fallback, ...]

    @property
    def is_list(self) -> bool:
        """Whether a rule is asked only where those before it fail."""
        return self.decides == "first"

    @property
    def adds(self) -> bool:
        """Whether rules add to a base: then their weight is part of what they say."""
        return self.combination == "sum" and "base" in self.fallbacks


_RULES_OR_PRIORS: tuple[Fallback, ...] = ("nearest", "stretched", "partial", "priors")

MEANINGS: Mapping[str, Meaning] = MappingProxyType(
    {
        "best-rule": Meaning(
            "classification", "class", "best", "shares", "strongest", _RULES_OR_PRIORS
        ),
        "added-votes": Meaning(
            "classification", "class", "sum", "shares", "strongest", _RULES_OR_PRIORS
        ),
        "first-match": Meaning(
            "classification", "class", "first", "shares", "first", _RULES_OR_PRIORS
        ),
        "softmax-votes": Meaning("classification", "votes", "sum", "softmax", None, ("base",)),
        "at-least-class": Meaning(
            "ordinal", "bound", "thresholds", "steps", None, ("priors", "nearest")
        ),
        "cumulative-logits": Meaning("ordinal", "number", "sum", "steps", None, ("base",)),
        "weighted-mean": Meaning("regression", "number", "mean", None, None, ("nearest", "base")),
        "added-contributions": Meaning("regression", "number", "sum", None, None, ("base",)),
    }
)
"""Every semantics by name."""

SHORTHANDS: Mapping[str, str] = MappingProxyType(
    {"best": "best-rule", "sum": "added-votes", "first": "first-match"}
)
"""The names that `RuleSet(combination=...)` stands for."""


@dataclass(frozen=True)
class Semantics:
    """A name and its settings, which every `RuleSet` carries.

    Parameters
    ----------
    name : str
        One of `MEANINGS`; the module's documentation has the table.
    t_norm : str
        How the conditions of a rule are joined; a name of `frri.fuzzy.T_NORMS`.
    fallback : str
        What decides where no rule fires; by default what is usual for the name.
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

    @property
    def is_max_min(self) -> bool:
        """Whether a score is a maximum of weighted minima, and so piecewise linear."""
        return (self.name, self.t_norm) == ("best-rule", "minimum")


@dataclass(frozen=True)
class Support:
    """What an engine can do, and what to do about the rest.

    Parameters
    ----------
    engine : str
        Its name at the beginning of a sentence.
    remedy : str
        What to do instead, as the end of a sentence.
    names, t_norms, fallbacks, missing : frozenset of str
        What it can do; by default everything, of what there is now and later.

    Examples
    --------
    >>> export = Support("The export", "save it as JSON instead", names=frozenset({"best-rule"}))
    >>> export.accepts(Semantics("best-rule", t_norm="product"))
    True
    >>> export.require(Semantics("weighted-mean"))
    Traceback (most recent call last):
    ValueError: The export cannot express the semantics 'weighted-mean' yet; save it as JSON
    instead.
    """

    engine: str
    remedy: str
    names: frozenset[str] = frozenset(MEANINGS)
    t_norms: frozenset[str] = frozenset(T_NORMS)
    fallbacks: frozenset[str] = frozenset(get_args(Fallback))
    missing: frozenset[str] = frozenset(get_args(Missing))

    def accepts(self, semantics: Semantics) -> bool:
        """Return whether the engine can do all of it."""
        return self._lacks(semantics) is None

    def require(self, semantics: Semantics) -> None:
        """Refuse what the engine cannot do, in one sentence."""
        lacking = self._lacks(semantics)
        if lacking is not None:
            raise ValueError(f"{self.engine} cannot express {lacking} yet; {self.remedy}.")

    def _lacks(self, semantics: Semantics) -> str | None:
        for what, value, known in (
            ("the semantics", semantics.name, self.names),
            ("the t-norm", semantics.t_norm, self.t_norms),
            ("the fallback", semantics.fallback, self.fallbacks),
            ("missing values treated as", semantics.missing, self.missing),
        ):
            if value not in known:
                return f"{what} {value!r}"
        return None


CLASS_RULES = frozenset(SHORTHANDS.values())
"""The semantics whose rules say a class."""

CLASSIFICATION = frozenset(
    name for name, meaning in MEANINGS.items() if meaning.task == "classification"
)
"""The semantics that decide between classes without an order."""

ORDINAL = frozenset(name for name, meaning in MEANINGS.items() if meaning.task == "ordinal")
"""The semantics that decide between ordered classes."""

ADDITIVE = frozenset(name for name, meaning in MEANINGS.items() if meaning.adds)
"""The semantics whose rules add to a base."""


def _check(what: str, value: str, allowed: tuple[str, ...], where: str = "") -> None:
    if value not in allowed:
        raise ValueError(f"{what} must be one of {', '.join(allowed)}{where}, got {value!r}.")

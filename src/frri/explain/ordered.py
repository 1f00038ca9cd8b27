"""What rules say about one row where classes are ordered: class by class, is it at least this one."""

from typing import TYPE_CHECKING

import numpy as np

from frri.explain.explanation import Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from frri._util import Floats
    from frri.explain.matches import Facts


def steps(facts: "Facts") -> tuple[Step, ...]:
    """For each class but the first: how probable it is to be at least this one, and why."""
    why = _why_by_rules if facts.meaning.says == "bound" else _why_by_sum
    classes = facts.ruleset.classes
    return tuple(
        Step(classes[t], float(facts.scores[t]), why(facts, t)) for t in range(1, len(classes))
    )


def odds(facts: "Facts") -> "tuple[float, Floats]":
    """Log odds of "at least the class decided for", or the second where that is the first.

    They are the base and what each rule adds.
    """
    base = facts.ruleset.base
    start = base[max(facts.decided, 1) - 1] if base else 0.0
    return float(start), facts.weighted * facts.ruleset.arrays.says[:, 0]


def _why_by_sum(facts: "Facts", t: int) -> str:
    total = float(facts.contributions.sum())
    return f"log odds of {facts.ruleset.base[t - 1] + total:+.2f}"


def _why_by_rules(facts: "Facts", t: int) -> str:
    """The strongest rules for and against a class, or who speaks where none of these fires."""
    pro, contra = (_best(facts, t, side, facts.weighted) for side in (True, False))
    if max(_value(pro), _value(contra)) > 0.0:
        first, second = sorted((pro, contra), key=_value, reverse=True)
        against = f" against {_said(facts, second, _counts)}" if _value(second) > 0.0 else ""
        return f"by {_said(facts, first, _counts)}{against}"
    near = [_best(facts, t, side, facts.near) for side in (True, False)]
    near = sorted((one for one in near if _value(one) > -np.inf), key=_value, reverse=True)
    if facts.ruleset.fallback == "nearest" and near:
        said = ", before ".join(_said(facts, one, _away) for one in near)
        return f"about which no rule speaks; the nearest is {said}"
    return "about which no rule speaks; the sizes of the classes that are left decide"


_Found = tuple[int, float] | None


def _best(facts: "Facts", t: int, rising: bool, votes: "Floats") -> _Found:
    """The first of the strongest rules for, or against, "at least class t"."""
    k, side = facts.ruleset.arrays.classes, facts.ruleset.arrays.rising
    own = np.flatnonzero(side & (k >= t) if rising else ~side & (k < t))
    if not len(own):
        return None
    best = int(own[votes[own].argmax()])
    return best, float(votes[best])


def _value(found: _Found) -> float:
    return -np.inf if found is None else found[1]


def _said(facts: "Facts", found: _Found, amount: "Callable[[float], str]") -> str:
    assert found is not None  # noqa: S101 - who is nobody says nothing
    rule = facts.ruleset[found[0]]
    return f"rule {found[0] + 1} ({rule.relation} {rule.consequent}, {amount(found[1])})"


def _counts(value: float) -> str:
    return f"counts {value:.2f}"


def _away(value: float) -> str:
    return f"{max(-value, 0.0):.2f} away"

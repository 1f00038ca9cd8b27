"""The sentence that the page opens with: how large the model is, how good, and beside what."""

from collections.abc import Callable, Mapping
from math import floor
from typing import Any

from frri.table import Attribute

# Fewer rules are named where they lose no more accuracy than this.
LOSS = 0.01


def opening(known: Mapping[str, Any]) -> str:
    r"""What a person should know first.

    Parameters
    ----------
    known : mapping
        What `frri.report.facts` returned.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> from frri.report import facts
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), "x"),), (Attribute("a", 0, 9),), ("x", "y"))
    >>> opening(facts(rules))
    '1 rule.'
    >>> opening(facts(rules, [[1], [2], [4]], ["x", "x", "y"])).replace("\u00a0", " ")
    '1 rule, right on 67 % of 3 given rows (95 % interval 21 to 94); always answering x: 67 %.'
    """
    overview, measured, data = known["overview"], known["performance"], known["data"]
    said = counted(overview["n_rules"], "rule")
    if measured is None:
        return f"{said}."
    if known["numbers"] is not None:
        return f"{said}, {_off_by(known)}."
    low, high = (round(100 * end) for end in measured["interval"])
    whose = {True: "training", False: "new"}.get(overview["is_training"], "given")
    rows = f"{data['n_rows']:,} {whose} row{'' if data['n_rows'] == 1 else 's'}"
    commonest, share = measured["always"]
    label = known["model"]["classes"][commonest]
    parts = [
        f"{said}, right on {percent(measured['accuracy'])} of {rows} (95 % interval {low} to {high})",
        f"always answering {label}: {percent(share)}",
        *_fewer(known),
    ]
    warning = " Rows not seen in training will be decided less well." if whose == "training" else ""
    # A number and its sign stay on one line.
    return f"{'; '.join(parts)}.{warning}".replace(" %", "\u00a0%")


def _off_by(known: Mapping[str, Any]) -> str:
    """How far off numbers are, beside always answering their mean."""
    measured = known["performance"]
    show = number_shower(known)
    return (
        f"off by {show(measured['mae'])} on average on {counted(measured['rows'], 'given row')} "
        f"(R2 {measured['r2']:.2f}); always answering the mean {show(measured['mean'])}: "
        f"off by {show(measured['mean_mae'])}"
    )


def number_shower(known: Mapping[str, Any]) -> Callable[[float], str]:
    """How numbers that are predicted are written: to three more places than their range.

    Examples
    --------
    >>> number_shower({"numbers": {"low": 25.0, "high": 346.0}})(152.1334841)
    '152.1'
    """
    return Attribute("number", known["numbers"]["low"], known["numbers"]["high"]).show


def _fewer(known: Mapping[str, Any]) -> list[str]:
    """The fewest rules that are about as right as all of them, if they are fewer."""
    curve = known["curve"] or []
    enough = [point for point in curve[:-1] if point["accuracy"] >= curve[-1]["accuracy"] - LOSS]
    if not enough or not enough[0]["n_rules"]:
        return []
    found = enough[0]
    n = found["n_rules"]
    is_list = known["model"]["semantics"]["name"] == "first-match"
    which = "first" if is_list else "broadest"
    named = f"the {which} rule" if n == 1 else f"the {n:,} {which} rules"
    return [f"{named} alone: {percent(found['accuracy'])}"]


def percent(share: float) -> str:
    """A share for people; halves go up, as in the views of the page.

    Examples
    --------
    >>> percent(0.678), percent(0.945), percent(0.0321), percent(0.0)
    ('68 %', '95 %', '3.2 %', '0 %')
    """
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 else f"{floor(100 * share + 0.5)} %"


def counted(count: int, noun: str, nouns: str = "") -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "class", "classes"), counted(1200, "rule")
    ('1 class', '1,200 rules')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"

"""The sentence that the page opens with: how large the model is, how good, and beside what."""

from collections.abc import Callable, Mapping
from math import floor
from typing import Any

from frri.table import Attribute

# Fewer rules are named where they lose no more accuracy than this.
LOSS = 0.01
# Of more classes, only the one recognised least and the one recognised most are named.
MOST_CLASSES = 4


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
    '1 rule; how good it is can be told with rows whose class is known.'
    >>> opening(facts(rules, [[1], [2], [4]], ["x", "x", "y"])).replace("\u00a0", " ")
    '1 rule, right on 67 % of 3 given rows (95 % interval 21 to 94); always answering x: 67 %.'
    """
    overview, measured, data = known["overview"], known["performance"], known["data"]
    said = counted(overview["n_rules"], "rule")
    if measured is None:
        is_one = overview["n_rules"] == 1
        good = "how good it is" if is_one else "how good they are"
        what = "class" if known["numbers"] is None else "number"
        return f"{said}; {good} can be told with rows whose {what} is known."
    if known["numbers"] is not None:
        parts = [f"{said}, {_off_by(known)}", *_fewer(known)]
        return f"{'; '.join(parts)}.{_if_seen(known, 'predicted')}"
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
    # A number and its sign stay on one line.
    return f"{'; '.join(parts)}.{_if_seen(known, 'decided')}".replace(" %", "\u00a0%")


def _if_seen(known: Mapping[str, Any], verb: str) -> str:
    """What the rows cannot tell, where rules were learned from them or may have been."""
    overview = known["overview"]
    if overview["is_training"]:
        return f" Rows not seen in training will be {verb} less well."
    if overview["is_training"] is None and overview["n_training"] is not None:
        return f" If the rules were learned from these rows, others will be {verb} less well."
    return ""


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
    """The fewest rules that are about as right as all of them, if they are no more than half of them."""
    curve = known["curve"] or []
    if known["numbers"] is None:
        enough = [one for one in curve[:-1] if one["accuracy"] >= curve[-1]["accuracy"] - LOSS]
    else:
        enough = [one for one in curve[:-1] if one["mae"] <= curve[-1]["mae"] * (1 + LOSS)]
    if not enough or not 0 < 2 * enough[0]["n_rules"] <= known["overview"]["n_rules"]:
        return []
    found = enough[0]
    n = found["n_rules"]
    is_list = known["model"]["semantics"]["name"] == "first-match"
    which = "first" if is_list else "broadest"
    named = f"the {which} rule" if n == 1 else f"the {n:,} {which} rules"
    if known["numbers"] is not None:
        return [f"{named} alone: {number_shower(known)(found['mae'])}"]
    return [f"{named} alone: {percent(found['accuracy'])}"]


def recognised(known: Mapping[str, Any]) -> str:
    """Of each class the share that is decided rightly; of many classes the least and the most.

    Examples
    --------
    >>> cells = [[0, 0, 3], [0, 1, 1], [1, 1, 1]]
    >>> recognised({"model": {"classes": ["no", "yes"]}, "performance": {"confusion": cells}})
    'of no: 75 %, of yes: 100 %'
    """
    rows: dict[int, int] = {}
    hits: dict[int, int] = {}
    for truth, decided, count in known["performance"]["confusion"]:
        rows[truth] = rows.get(truth, 0) + count
        hits[truth] = hits.get(truth, 0) + (count if truth == decided else 0)
    shares = [(c, hits[c] / rows[c]) for c in sorted(rows)]
    if len(shares) > MOST_CLASSES:
        by_share = sorted(shares, key=lambda one: one[1])
        shares = [by_share[0], by_share[-1]]
    labels = known["model"]["classes"]
    joint = " to " if len(rows) > MOST_CLASSES else ", "
    return joint.join(f"of {labels[c]}: {percent(share)}" for c, share in shares)


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

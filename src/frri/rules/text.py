"""Rules as sentences, as a table and for notebooks. Numbers are rounded only here."""

from collections import defaultdict
from collections.abc import Callable
from html import escape
from math import inf
from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional

import numpy as np

from frri._util import one_line
from frri.rules.condition import Condition, NominalCondition, join_ranges, sides_of
from frri.rules.semantics import COUNTABLE
from frri.table import Attribute

if TYPE_CHECKING:
    from frri.rules.rule import Label, Rule
    from frri.rules.ruleset import RuleSet

# Largest and smallest votes that are shown, if there are more than both together.
SHOWN_VOTES = 3
# Words for where a slope ends, by its side, and those for an end that is not within the range.
UP_TO, BEYOND = {"low": "from", "high": "to"}, {"low": "below", "high": "above"}
_RIGHT_TO_LEFT = frozenset({"R", "AL"})


def ruleset_lines(ruleset: "RuleSet") -> list[str]:
    """Return one line per rule, then one for the base and one for the costs.

    Line breaks and terminal codes in names become spaces.
    """
    lines = [*(rule_text(ruleset, rule) for rule in ruleset), base_text(ruleset)]
    return [one_line(line) for line in (*lines, decision_text(ruleset)) if line]


def decision_text(ruleset: "RuleSet") -> str:
    """Return the costs of misclassification as a phrase; nothing where there are none."""
    pairs = zip(ruleset.classes, ruleset.costs, strict=False)
    parts = [f"{label}{'' if c else ' costs'} {cost:.6g}" for c, (label, cost) in enumerate(pairs)]
    return f"Decision: misclassifying {', '.join(parts)}" if parts else ""


def base_text(ruleset: "RuleSet") -> str:
    """Return the base as a phrase; nothing where rules do not add to a base."""
    if not ruleset.semantics.meaning.adds:
        return ""
    if ruleset.task == "regression":
        return f"BASE {ruleset.target} {_short(ruleset.base[0])}"
    ordinal = ruleset.task == "ordinal"
    labels = [f"at least {isolate(c)}" for c in ruleset.classes[1:]]
    labels = labels if ordinal else [*map(isolate, ruleset.classes)]
    amounts = zip(labels, ruleset.base, strict=True)
    listed = ", ".join(f"{c}: {amount:+.2f}" for c, amount in amounts)
    return f"BASE {ruleset.target} {'' if ordinal else '= '}{listed}"


def rule_text(
    ruleset: "RuleSet | None",
    rule: "Rule",
    word: Callable[[str], str] = str,
    phrase: Callable[[str], str] = str,
    *,
    brackets: bool = True,
) -> str:
    """Return the whole rule as a sentence, with its weight and statistics in brackets.

    Without a rule set, the target is unknown, and units are those that the rule has. A terminal may
    style IF, AND and THEN by `word`, and what is between by `phrase`.
    """
    phrases = [phrase(text) for text in condition_texts(ruleset, rule)]
    joined = f" {word('AND')} ".join(phrases)
    is_list = ruleset is not None and ruleset.semantics.meaning.is_list
    head = word("OTHERWISE" if is_list else "ALWAYS")
    if phrases:
        head = f"{word('IF')} {joined} {word('THEN')}"
    facts = _bracketed(ruleset, rule) if brackets else ""
    return f"{head} {phrase(conclusion_text(ruleset, rule))}{facts}"


def isolate(name: Any) -> str:
    """Return a name; one with right-to-left letters is kept from reversing what follows it."""
    text = str(name)
    turns = not _RIGHT_TO_LEFT.isdisjoint(map(bidirectional, text))
    return f"\u2068{text}\u2069" if turns else text


def conclusion_text(ruleset: "RuleSet | None", rule: "Rule") -> str:
    """Return the consequent of a rule as a phrase."""
    said = _consequent(ruleset, rule)
    return said.removeprefix("= ") if ruleset is None else f"{isolate(ruleset.target)} {said}"


def _consequent(ruleset: "RuleSet | None", rule: "Rule") -> str:
    if rule.votes is not None:
        return _votes_text(ruleset, rule, rule.votes)
    if ruleset is not None and ruleset.semantics.meaning.adds:
        if ruleset.semantics.meaning.says == "number":
            number = rule.weight * float(rule.consequent)
            return f"{number:+.2f}" if ruleset.classes else _signed(number)
        return f"= {isolate(rule.consequent)}: {rule.weight:+.2f}"
    numbers = ruleset is not None and ruleset.task == "regression"
    said = _short(float(rule.consequent)) if numbers else isolate(rule.consequent)
    return f"{'=' if rule.relation == 'is' else rule.relation} {said}"


def _votes_text(ruleset: "RuleSet | None", rule: "Rule", votes: tuple[float, ...]) -> str:
    """Return the votes of a rule for classes, the largest first; of many classes, both ends."""
    amounts = [rule.weight * vote for vote in votes]
    if ruleset is None:
        return "by votes " + ", ".join(f"{vote:+.3g}" for vote in amounts)
    order = sorted(range(len(amounts)), key=lambda c: -amounts[c])
    shown = [f"{isolate(ruleset.classes[c])}: {amounts[c]:+.2f}" for c in order]
    if len(shown) > 2 * SHOWN_VOTES:
        shown[SHOWN_VOTES:-SHOWN_VOTES] = ["..."]
    return f"= {', '.join(shown)}"


def _bracketed(ruleset: "RuleSet | None", rule: "Rule") -> str:
    """Return the weight and statistics of a rule in brackets; nothing where there are none."""
    adds = ruleset is not None and ruleset.semantics.meaning.adds
    known = [] if adds else [f"weight {share(rule.weight)}"]
    found = rule.statistics
    if found is not None:
        total = found.total if ruleset is None else sum(ruleset.class_counts) or found.total
        known.append(f"covers {amount(found.covered)}{f' of {amount(total)}' if total else ''}")
        if found.precision is not None:
            known.append(f"precision {share(found.precision)}")
        elif found.mean is not None and found.deviation is not None:
            known.append(f"mean {_short(found.mean)}, SD {_short(found.deviation)}")
        elif ruleset is not None and ruleset.task == "ordinal" and found.covered:
            middle = np.searchsorted(np.cumsum(found.support), found.covered / 2.0)
            known.append(f"median {ruleset.classes[middle]}")
    return f"   [{', '.join(known)}]" if known else ""


def condition_texts(ruleset: "RuleSet | None", rule: "Rule") -> list[str]:
    """Return each condition of a rule as a phrase; two bounds of one feature are one range."""
    attributes = dict(rule.units)
    if ruleset is not None:
        attributes = {attribute.name: attribute for attribute in ruleset.attributes}
    clip = ruleset is not None and ruleset.clip
    phrases: dict[Condition, str] = {}
    shown = defaultdict[str, list[Condition]](list)
    for condition in join_ranges(rule.conditions):
        attribute = attributes.get(condition.attribute)
        same = shown[condition.attribute]
        other = next((one for one in same if sides_of(one, condition)), None)
        text = crossing_text(other, condition, attribute) if other is not None else ""
        if other is not None and text:
            phrases[other] = text
        else:
            phrases[condition] = condition_text(condition, attribute, clip)
            same.append(condition)
    return [*phrases.values()]


def crossing_text(one: Condition, other: Condition, attribute: Attribute | None) -> str:
    """Return a lower and an upper bound whose slopes cross as one phrase; nothing for other pairs.

    They hold fully nowhere: the phrase states where they hold most.

    Examples
    --------
    >>> from frri import NumericCondition
    >>> at_least = NumericCondition("dose", support_low=-2, core_low=0)
    >>> at_most = NumericCondition("dose", core_high=-1.5, support_high=1)
    >>> crossing_text(at_most, at_least, None)
    'dose about -0.5 (partly from -2 to 1)'
    """
    sides = sides_of(one, other)
    if not sides or (attribute is not None and attribute.kind == "ordinal"):
        return ""
    low, high = sides
    start, end = low.support, high.support
    if start >= end:
        return ""
    top = min(max((start + end) / 2.0, high.core), low.core)
    show = _number if attribute is None else attribute.show
    return f"{isolate(one.attribute)} about {show(top)} (partly from {show(start)} to {show(end)})"


def condition_text(
    condition: Condition, attribute: Attribute | None = None, clip: bool = False
) -> str:
    """Return where a condition fully holds, and where it ends, in the units of the feature.

    Without an attribute, dates and ordered categories are shown as the numbers that encode them.

    Examples
    --------
    >>> from frri import NumericCondition
    >>> age = Attribute("age", 0, 100)
    >>> condition_text(NumericCondition("age", 20, 30, 40, 55.5), age)
    '30 <= age <= 40 (partly from 20 to 55.5)'
    >>> condition_text(NumericCondition.below("age", 30), age)
    'age < 30'
    >>> condition_text(NumericCondition("age", 1 / 3, 1000000))
    'age >= 1000000 (partly from 0.333333)'
    >>> condition_text(NominalCondition("colour", frozenset({"red", "blue"}), excludes=True))
    'colour not in {blue, red}'

    There is nothing between two ordered categories, so each is shown by itself:

    >>> size = Attribute("size", categories=("S", "M", "L"), kind="ordinal")
    >>> condition_text(NumericCondition("size", -1, 1), size)
    'size >= M (S to 0.50)'
    """
    name = isolate(condition.attribute)
    if isinstance(condition, NominalCondition):
        values, sign, word = list(map(isolate, sorted(condition.values))), "=", "in"
        if condition.excludes:
            sign, word = "!=", "not in"
        one = f"{name} {sign} {values[0]}"
        return one if len(values) == 1 else f"{name} {word} {{{', '.join(values)}}}"
    if attribute is not None and attribute.kind == "ordinal":
        return _ordinal_text(condition, attribute)
    show = _number if attribute is None else attribute.show
    # Clipped values never get past the range: an end beyond it is never reached.
    least, most = (attribute.low, attribute.high) if clip and attribute else (-inf, inf)
    slopes, between = [], " "
    sides = condition.sides
    for side in sides:
        reached = least <= side.support <= most
        if not side.is_crisp:
            slopes.append(
                f"{UP_TO[side.end]} {show(side.support)}" if reached else BEYOND[side.end]
            )
            between = between if reached else " and "
    if len(sides) == 2:
        low, high = sides
        at_least = f"{show(low.bound)} {low.sign.replace('>', '<')}"
        phrase = f"{at_least} {name} {high.sign} {show(high.bound)}"
        phrase = f"{name} = {show(low.core)}" if low.core == high.core else phrase
    else:
        shown = [f"{name} {side.sign} {show(side.bound)}" for side in sides]
        phrase = "".join(shown) or f"{name} is anything"
    return f"{phrase} (partly {between.join(slopes)})" if slopes else phrase


def _ordinal_text(condition: Condition, attribute: Attribute) -> str:
    """Return the categories for which a condition holds, and those for which it holds partly."""
    name, categories = isolate(attribute.name), [isolate(c) for c in attribute.categories or ()]
    degrees = condition.membership(np.arange(len(categories))).tolist()
    held = [k for k, degree in enumerate(degrees) if degree >= 1.0]
    partly = [f"{categories[k]} to {share(d)}" for k, d in enumerate(degrees) if 0.0 < d < 1.0]
    if not held:
        return f"{name} is {' or '.join(partly)}" if partly else f"{name} is nothing known"
    first, last = categories[held[0]], categories[held[-1]]
    if len(held) == len(categories):
        phrase = f"{name} is anything"
    elif first == last:
        phrase = f"{name} = {first}"
    elif held[-1] == len(categories) - 1:
        phrase = f"{name} >= {first}"
    else:
        phrase = f"{name} <= {last}" if held[0] == 0 else f"{first} <= {name} <= {last}"
    return f"{phrase} ({', '.join(partly)})" if partly else phrase


def _rounding(digits: int, whole_from: float, sign: str = "") -> Callable[[float], str]:
    """Return a function that writes a number with some significant digits, or its integer part."""

    def write(value: float) -> str:
        whole = whole_from <= abs(value) < 1e15
        return f"{value:{sign}.0f}" if whole else f"{value:{sign}.{digits}g}"

    return write


# Numbers of unknown range, those of consequents and statistics, and contributions.
_number, _short, _signed = _rounding(6, 1e5), _rounding(4, 1e4), _rounding(3, 1e3, "+")


def amount(value: float) -> str:
    """Return a number of samples, or their weight with three digits, as a string."""
    return f"{value:.0f}" if value >= 100.0 or value == round(value) else f"{value:.3g}"


def share(value: float) -> str:
    """Return a fraction to two decimals, small ones to two significant digits."""
    return f"{value:.2f}" if value >= 0.095 or value == 0 else f"{value:.2g}"


# ---------------------------------------------------------------- tables
def rule_columns(ruleset: "RuleSet") -> "dict[str, Callable[[Rule], Any]]":
    """Return the columns of a table of rules; statistics if any rule has some."""
    meaning = ruleset.semantics.meaning

    def consequent(rule: "Rule") -> "Label":
        plain = rule.relation == "is" and rule.votes is None
        return rule.consequent if plain else _consequent(ruleset, rule)

    columns: dict[str, Callable[[Rule], Any]] = {
        "if": lambda rule: " AND ".join(condition_texts(ruleset, rule))
    }
    if meaning.adds and meaning.says == "number":
        columns["contribution"] = lambda rule: rule.weight * float(rule.consequent)
    else:
        columns["then"] = consequent
        columns["vote" if meaning.adds else "weight"] = lambda rule: rule.weight
    columns["conditions"] = lambda rule: len(rule.conditions)
    if any(rule.statistics is not None for rule in ruleset):
        columns["covers"] = _statistic("covered")
        ratios = ("precision", "lift") if ruleset.semantics.name in COUNTABLE else ()
        ratios = ("mean", "deviation") if ruleset.task == "regression" else ratios
        columns |= {name: _statistic(name) for name in (*ratios, "alone")}
    return columns


def _statistic(name: str) -> "Callable[[Rule], Any]":
    return lambda rule: getattr(rule.statistics, name, None)


def cell_text(title: str, value: Any) -> str:
    """Return a cell of such a table as a string."""
    if value is None:
        return ""
    return _CELLS.get(title, share)(value) if isinstance(value, float) else str(value)


_CELLS: dict[str, Callable[[float], str]] = {
    "then": "{:.6g}".format,
    "vote": "{:+.2f}".format,
    "contribution": _signed,
    "covers": amount,
    "alone": amount,
    "mean": _short,
    "deviation": _short,
}


def ruleset_html(ruleset: "RuleSet") -> str:
    """Return a plain table for notebooks; every name is escaped."""
    columns = rule_columns(ruleset)
    head = "".join(f"<th>{title}</th>" for title in columns)
    cell = '<td style="text-align:left">{}</td>'.format
    rows = [[cell(escape(cell_text(t, of(r)))) for t, of in columns.items()] for r in ruleset]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    number = f"{len(ruleset)} {'rule' if len(ruleset) == 1 else 'rules'}"
    return (
        f"<p>{number} for <b>{escape(ruleset.target)}</b></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        + (f"<p>{escape(decision_text(ruleset))}</p>" if ruleset.costs else "")
    )

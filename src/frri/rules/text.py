"""Rules for people: a sentence, a table, a notebook view. Numbers are rounded here and nowhere else."""

from html import escape
from math import inf
from typing import TYPE_CHECKING, Any

from frri._util.optional import optional
from frri.rules.condition import Condition, NominalCondition, NumericCondition, is_strict
from frri.table import Attribute

if TYPE_CHECKING:
    import pandas as pd

    from frri.rules.rule import Label, Rule
    from frri.rules.ruleset import RuleSet


_SIGNS = {"is": "=", "at least": ">=", "at most": "<="}


def ruleset_text(ruleset: "RuleSet") -> str:
    """One line per rule, and a last one for what is there before any rule counts."""
    base = base_text(ruleset)
    return "\n".join([*(rule_text(ruleset, rule) for rule in ruleset), *([base] if base else [])])


def base_text(ruleset: "RuleSet") -> str:
    """What is there before any rule counts, as a phrase; nothing where rules do not add to a base.

    Examples
    --------
    >>> from frri import RuleSet
    >>> base_text(RuleSet((), (), ("low", "high"), "risk", semantics="softmax-votes", base=(0.5, 0)))
    'BASE risk low +0.50, high +0.00'
    """
    if not _adds(ruleset):
        return ""
    if ruleset.task == "regression":
        said = f"{ruleset.base[0]:.6g}"
    else:
        scores = zip(ruleset.classes, ruleset.base, strict=True)
        said = ", ".join(f"{label} {score:+.2f}" for label, score in scores)
    return f"BASE {ruleset.target} {said}"


def rule_text(ruleset: "RuleSet", rule: "Rule") -> str:
    """The whole rule as a sentence, with what is known about it in brackets."""
    always = "OTHERWISE" if ruleset.combination == "first" else "ALWAYS"
    said = conclusion_text(ruleset, rule)
    return _sentence(condition_texts(ruleset, rule), said, facts(ruleset, rule), always)


def conclusion_text(ruleset: "RuleSet", rule: "Rule") -> str:
    """What a rule says, as a phrase.

    Examples
    --------
    >>> from frri import Rule, RuleSet
    >>> bound = Rule((), "medium", relation="at least")
    >>> rules = RuleSet((bound,), (), ("low", "medium", "high"), "risk", semantics="at-least-class")
    >>> conclusion_text(rules, bound)
    'risk >= medium'
    >>> vote = Rule((), "high", 1.5)
    >>> conclusion_text(RuleSet((vote,), (), ("low", "high"), "risk", semantics="softmax-votes"), vote)
    'risk high +1.50'
    """
    return f"{ruleset.target} {_said(ruleset, rule)}"


def _said(ruleset: "RuleSet | None", rule: "Rule") -> str:
    if rule.votes is not None:
        names = [f"{label} " for label in ruleset.classes] if ruleset else [""] * len(rule.votes)
        votes = zip(names, rule.votes, strict=True)
        return "by votes " + ", ".join(f"{name}{vote:+.3g}" for name, vote in votes)
    if _adds(ruleset):
        assert ruleset is not None  # noqa: S101 - or it would not be known
        if ruleset.task == "regression":
            return f"{rule.weight * float(rule.consequent):+.6g}"
        return f"{rule.consequent} {rule.weight:+.2f}"
    numbers = ruleset is not None and ruleset.task == "regression"
    said = f"{rule.consequent:.6g}" if numbers else str(rule.consequent)
    return f"{_SIGNS[rule.relation]} {said}"


def _adds(ruleset: "RuleSet | None") -> bool:
    """Whether rules add to a base: then their weight is part of what they say."""
    return (
        ruleset is not None
        and ruleset.semantics.fallback == "base"
        and (ruleset.combination == "sum")
    )


def conclusion(ruleset: "RuleSet", rule: "Rule") -> "Label":
    """What a rule says, for a table: the class or number itself where it says just that."""
    return rule.consequent if rule.relation == "is" and rule.votes is None else _said(ruleset, rule)


def conclusion_shown(said: "Label") -> str:
    """What a rule says, in a table for people: a number is no share of anything.

    Examples
    --------
    >>> conclusion_shown(-1234.5678), conclusion_shown("yes")
    ('-1234.57', 'yes')
    """
    return f"{said:.6g}" if isinstance(said, float) else str(said)


def lone_rule_text(rule: "Rule") -> str:
    """The same of a rule outside a ruleset: no attribute says how to show its values."""
    phrases = [condition_text(condition) for condition in rule.conditions]
    return _sentence(phrases, _said(None, rule).removeprefix("= "), facts(None, rule), "ALWAYS")


def _sentence(phrases: list[str], conclusion: str, known: list[str], always: str) -> str:
    head = f"IF {' AND '.join(phrases)} THEN" if phrases else always
    return f"{head} {conclusion}{bracketed(known)}"


def bracketed(known: list[str]) -> str:
    """What is known about a rule, after its sentence; nothing where nothing is."""
    return f"   [{', '.join(known)}]" if known else ""


def condition_texts(ruleset: "RuleSet", rule: "Rule") -> list[str]:
    """Each condition of a rule as a phrase."""
    attributes = {attribute.name: attribute for attribute in ruleset.attributes}
    return [condition_text(c, attributes[c.attribute], ruleset.clip) for c in rule.conditions]


def condition_text(
    condition: Condition, attribute: Attribute | None = None, clip: bool = False
) -> str:
    """Where the condition fully holds, and where it ends, in the attribute's units.

    Without an attribute, dates and ordered categories are the numbers they are computed as.

    Examples
    --------
    >>> age = Attribute("age", 0, 100)
    >>> condition_text(NumericCondition("age", 20, 30, 40, 55.5), age)
    '30 <= age <= 40 (fades, ends at 20 and 55.5)'
    >>> condition_text(NumericCondition.below("age", 30), age)
    'age < 30'
    >>> condition_text(NumericCondition("age", 1 / 3, 1000000))
    'age >= 1000000 (fades, ends at 0.333333)'
    """
    name = condition.attribute
    if isinstance(condition, NominalCondition):
        values = sorted(condition.values)
        return f"{name} = {values[0]}" if len(values) == 1 else f"{name} in {{{', '.join(values)}}}"
    assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds of conditions
    c, show = condition, _number if attribute is None else attribute.show
    strict_low, strict_high = (
        is_strict(c.core_low, c.support_low),
        is_strict(c.core_high, c.support_high),
    )
    # An open side has no value that could be shown: categories and dates end somewhere.
    low = high = ""
    if c.core_low > -inf:
        low = f"{show(c.support_low)} <" if strict_low else f"{show(c.core_low)} <="
    if c.core_high < inf:
        high = f"< {show(c.support_high)}" if strict_high else f"<= {show(c.core_high)}"
    if c.core_low == c.core_high:
        phrase = f"{name} = {show(c.core_low)}"
    elif not low:
        phrase = f"{name} {high}" if high else f"{name} is anything"
    elif not high:
        phrase = (
            f"{name} > {show(c.support_low)}" if strict_low else f"{name} >= {show(c.core_low)}"
        )
    else:
        phrase = f"{low} {name} {high}"
    slopes = [
        (support, not clip or attribute is None or attribute.low <= support <= attribute.high)
        for core, support, strict in (
            (c.core_low, c.support_low, strict_low),
            (c.core_high, c.support_high, strict_high),
        )
        if core != support and not strict
    ]
    if not slopes:
        return phrase
    # Clipped values never get past the range: an end beyond it is never reached.
    ends = " and ".join(show(support) for support, reached in slopes if reached)
    return f"{phrase} (fades, ends at {ends})" if ends else f"{phrase} (fades)"


def facts(ruleset: "RuleSet | None", rule: "Rule") -> list[str]:
    """What is known about a rule, in a few words each."""
    said = _adds(ruleset) and rule.votes is None
    known = [] if said else [f"confidence {share_text(rule.weight)}"]
    if rule.statistics is not None:
        total = "" if ruleset is None else f" of {_amount(sum(ruleset.class_counts))}"
        known.append(f"covers {_amount(rule.statistics.covered)}{total}")
        if rule.statistics.precision is not None:
            known.append(f"precision {share_text(rule.statistics.precision)}")
    return known


def _number(value: float) -> str:
    """A number of unknown range: six significant digits, or all of its whole part."""
    return f"{value:.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:.6g}"


def _amount(value: float) -> str:
    """A number of objects, or what they weigh."""
    return f"{value:.0f}" if value == round(value) else f"{value:.10g}"


def share_text(value: float) -> str:
    """A share to two decimals, small ones to two significant digits."""
    return f"{value:.2f}" if value >= 0.095 or value == 0 else f"{value:.2g}"


def ruleset_frame(ruleset: "RuleSet") -> "pd.DataFrame":
    """One row per rule."""
    pd = optional("pandas", "A table of rules", "tables")
    return pd.DataFrame(_rows(ruleset))


def ruleset_html(ruleset: "RuleSet") -> str:
    """A plain table for notebooks; every name is escaped."""
    rows = [row | {"then": conclusion_shown(row["then"])} for row in _rows(ruleset)]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left">{_cell(row.get(c))}</td>' for c in columns)
        + "</tr>"
        for row in rows
    )
    return (
        f"<p>{len(ruleset)} {'rule' if len(ruleset) == 1 else 'rules'} for <b>{escape(ruleset.target)}</b></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _rows(ruleset: "RuleSet") -> list[dict[str, Any]]:
    rows = []
    for rule in ruleset:
        known = rule.statistics
        row: dict[str, Any] = {
            "if": " AND ".join(condition_texts(ruleset, rule)),
            "then": conclusion(ruleset, rule),
            "confidence": rule.weight,
            "conditions": len(rule.conditions),
        }
        if known is not None:
            row |= {
                "covers": known.covered,
                "precision": known.precision,
                "lift": known.lift,
                "alone": known.alone,
            }
        rows.append(row)
    return rows


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return escape(share_text(value) if isinstance(value, float) else str(value))

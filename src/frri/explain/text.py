"""Explanations for people: sentences and a table."""

from typing import TYPE_CHECKING, Any

from frri._util import import_optional

if TYPE_CHECKING:
    import pandas as pd

    from frri.explain.explanation import Change, Explanation
    from frri.explain.matches import Rival, RuleMatch

FALLBACKS = {
    "nearest": "the nearest rule decides",
    "stretched": "the rules cut before their first failing condition decide",
    "partial": "the parts of rules that hold decide",
    "priors": "the most frequent class in training is predicted",
    "base": "the base is predicted",
}


def sentences(explanation: "Explanation") -> str:
    """The decision and its reason, each other class, and the smallest change; a line each."""
    head = _decision if explanation.base is None else _waterfall
    if explanation.base is None and explanation.steps:
        head = _ordered
    elif explanation.base is None and not explanation.classes and explanation.firing:
        head = _mean
    lines = [head(explanation)]
    lines += [_rival(rival) for rival in explanation.rivals]
    if explanation.change is not None:
        lines.append(_change(explanation.change, explanation))
    elif explanation.unalterable:
        stay = ", ".join(explanation.unchangeable)
        besides = f" besides {stay}" if stay else ""
        effect = f"leads to {explanation.goal}" if explanation.goal else "alters the decision"
        lines.append(f"No change of any attribute{besides} within its range {effect}.")
    elif explanation.goal.endswith(" already"):
        lines.append(f"It is {explanation.goal}.")
    return "\n".join(lines)


def frame(explanation: "Explanation") -> "pd.DataFrame":
    """One row per condition of the rules that fire, decide (also after the change) or rival."""
    pd = import_optional("pandas", "A table of an explanation", "tables")
    roles: dict[int, tuple[str, RuleMatch]] = {}
    for rival in explanation.rivals:
        if rival.rule is not None:
            roles[rival.rule.index] = "best of its class", rival.rule
    for rule in explanation.firing:
        roles[rule.index] = "fires", rule
    if explanation.deciding is not None:
        roles[explanation.deciding.index] = "decides", explanation.deciding
    order = {"decides": 0, "fires": 1, "best of its class": 2}
    ranked = sorted(roles.values(), key=lambda pair: (order[pair[0]], -pair[1].contribution))
    if explanation.change is not None and explanation.change.deciding is not None:
        ranked.append(("decides after the change", explanation.change.deciding))
    rows = [row for role, rule in ranked for row in _rows(role, rule)]
    columns = ["role", "rule", "class", "degree", "weight", "contribution"]
    columns += ["condition", "value", "membership", "weakest"]
    return pd.DataFrame(rows, columns=columns)


def _rows(role: str, rule: "RuleMatch") -> list[dict[str, Any]]:
    head = {
        "role": role,
        "rule": rule.index + 1,
        "class": rule.consequent,
        "degree": rule.degree,
        "weight": rule.weight,
        "contribution": rule.contribution,
    }
    if not rule.conditions:
        return [head | {"condition": "always", "value": "", "membership": 1.0, "weakest": False}]
    return [
        head
        | {
            "condition": c.condition,
            "value": c.value,
            "membership": c.membership,
            "weakest": c is rule.weakest,
        }
        for c in rule.conditions
    ]


def _decision(explanation: "Explanation") -> str:
    said = explanation.decision if explanation.classes else f"{explanation.decision:.6g}"
    head = f"Predicted {explanation.target} = {said}"
    rule = explanation.deciding
    if explanation.fallback is not None:
        head += f" although no rule fires: {FALLBACKS[explanation.fallback]}"
        if rule is None or explanation.fallback in {"priors", "base"}:
            return f"{head}."
        weakest = rule.weakest
        fails = f" (it lacks {weakest.condition}; {_value(weakest)})" if weakest else ""
        return f"{head}, here rule {rule.index + 1}{fails}."
    if rule is None:
        return f"{head}."
    counts = f" and counts {rule.contribution:.2f}" if rule.contribution != rule.degree else ""
    head += f" because rule {rule.index + 1} holds to {rule.degree:.2f}{counts}"
    also = len([r for r in explanation.firing if r.consequent == rule.consequent]) - 1
    if also > 0:
        head += f", with {also} more rule{'s' if also > 1 else ''} for it"
    if rule.weakest is None:
        return f"{head}; it has no conditions."
    if rule.weakest.membership >= 1.0:
        reasons = ", ".join(_value(c) for c in _distinct(rule))
        return f"{head}: all of its conditions hold fully ({reasons})."
    return (
        f"{head}: {rule.weakest.condition} holds to {rule.weakest.membership:.2f}"
        f" ({_value(rule.weakest)})"
        + (", the weakest of its conditions." if len(rule.conditions) > 1 else ".")
    )


def _waterfall(explanation: "Explanation") -> str:
    """What the base and each rule add to the number, or to the lead over the next class."""
    assert explanation.base is not None  # noqa: S101 - or there is nothing to add to
    said, form = explanation.decision, "+.2f"
    if explanation.steps:
        told = explanation.steps[max(explanation.classes.index(said) - 1, 0)]
        head = f"{_ordered(explanation)}\nLog odds of at least {told.label}"
    elif explanation.classes:
        share = max(explanation.shares)
        head = f"Predicted {explanation.target} = {said} with probability {share:.2f}"
        total = explanation.base + sum(rule.contribution for rule in explanation.firing)
        for second in explanation.rivals[:1]:
            head += f", by {total:.2f} more votes than for {second.label!r}"
    else:
        form = "+.6g"
        head = f"Predicted {explanation.target} = {said:.6g}"
    parts = [(explanation.base, "base")]
    parts += [(rule.contribution, _part(rule)) for rule in explanation.firing]
    shown = [(f"{amount:{form}}", words) for amount, words in parts]
    width = max(len(amount) for amount, _ in shown) + 4
    return "\n".join([f"{head}:", *(f"{amount:>{width}}  {words}" for amount, words in shown)])


def _ordered(explanation: "Explanation") -> str:
    """The step that leads to the class decided for, and the one that would lead beyond it."""
    c = explanation.classes.index(explanation.decision)
    around = explanation.steps[max(c - 1, 0) : c + 1]
    steps = "; ".join(f"at least {s.label} has {s.share:.2f}, {s.why}" for s in around)
    return f"Predicted {explanation.target} = {explanation.decision}: {steps}."


def _mean(explanation: "Explanation") -> str:
    """The share of each rule in a weighted mean, and what it says."""
    said, rules = f"{explanation.decision:.6g}", len(explanation.firing)
    what = "as one rule says" if rules == 1 else f"the mean of what {rules} rules say"
    head = f"Predicted {explanation.target} = {said}, {what}:"
    shares = [(f"{rule.contribution:.0%}", rule) for rule in explanation.firing]
    return "\n".join(
        [head, *(f"{share:>7}  {rule.consequent:.6g}  {_part(rule)}" for share, rule in shares)]
    )


def _part(rule: "RuleMatch") -> str:
    degree = "" if rule.degree >= 1.0 else f", which holds to {rule.degree:.2f}"
    conditions = ", ".join(f"{c.condition} ({_value(c)})" for c in rule.conditions) or "always"
    return f"rule {rule.index + 1}{degree}: {conditions}"


def _distinct(rule: "RuleMatch") -> list[Any]:
    return list({c.attribute: c for c in rule.conditions}.values())


def _value(matched: Any) -> str:
    verb = "is" if matched.value.startswith("missing: counted as ") else "="
    return f"{matched.attribute} {verb} {matched.value}"


def _rival(rival: "Rival") -> str:
    needs = "; ".join(f"{_value(o)}, needed {o.needed}" for o in rival.obstacles)
    return f"For {rival.label!r}, {rival.reason}" + (
        f"; to {rival.aim}: {needs}." if needs else "."
    )


def _change(change: "Change", explanation: "Explanation") -> str:
    goal, said = explanation.goal, repr(change.decision)
    if not explanation.classes:
        said = f"{change.decision:.6g}"
    parts = " and ".join(
        f"{c.attribute} were {_text(c.after)} instead of {_short(c.before)}" for c in change.changes
    )
    effect = f"leads to {goal}" if goal else "alters the decision"
    head = f"The smallest change that {effect}"
    if not change.proved:
        head = f"A change that {effect} (there may be a smaller one)"
    rule = "" if change.deciding is None else f"rule {change.deciding.index + 1}"
    if change.fallback in {None, "base"}:
        by = f" by {rule}" if rule else ""
        return f"{head}: {said}{by} if {parts}."
    here = f", here {rule}" if rule and change.fallback != "priors" else ""
    silent = f"no rule fires then and {FALLBACKS[change.fallback]}{here}"
    return f"{head}: {said} if {parts}; {silent}."


def _text(value: float | str | None) -> str:
    """A value in full: typed in again, it gives the same decision."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return value


def _short(value: float | str | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else _text(value)

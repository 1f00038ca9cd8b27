"""Explanations as sentences and as a table."""

from typing import TYPE_CHECKING, Any

from frri._util import import_optional

if TYPE_CHECKING:
    import pandas as pd

    from frri.explain.explanation import Change, Explanation
    from frri.explain.matches import RuleMatch

FALLBACKS = {
    "nearest": "the nearest rule decides",
    "stretched": "the rules cut before their first failing condition decide",
    "partial": "the parts of rules that hold decide",
    "priors": "the most frequent class in training is predicted",
    "base": "the base is predicted",
}


def write_sentences(explanation: "Explanation") -> str:
    """Write a line for the decision, for each other class, and for the smallest change."""
    if explanation.base is not None:
        lines = [_write_waterfall(explanation, explanation.base)]
    elif explanation.steps:
        lines = [_write_steps(explanation)]
    elif not explanation.classes and explanation.firing:
        lines = [_write_mean(explanation)]
    else:
        lines = [_write_decision(explanation)]
    for rival in explanation.rivals:
        needs = "; ".join(f"{_write_value(o)}, needed {o.needed}" for o in rival.obstacles)
        aim = f"; to {rival.aim}: {needs}" if needs else ""
        lines.append(f"For {rival.label!r}, {rival.reason}{aim}.")
    effect = f"leads to {explanation.goal}" if explanation.goal else "alters the decision"
    if explanation.change is not None:
        lines.append(_write_change(explanation, explanation.change, effect))
    elif explanation.unalterable:
        fixed = ", ".join(explanation.unchangeable)
        besides = f" besides {fixed}" if fixed else ""
        lines.append(f"No change of any attribute{besides} within its range {effect}.")
    elif explanation.goal.endswith(" already"):
        lines.append(f"It is {explanation.goal}.")
    return "\n".join(lines)


def make_frame(explanation: "Explanation") -> "pd.DataFrame":
    """Make a row per condition of the rules that fire, decide (also after the change) or rival."""
    pd = import_optional("pandas", "A table of an explanation", "tables")
    roles: dict[int, tuple[str, RuleMatch]] = {}
    for rival in explanation.rivals:
        if rival.rule is not None:
            roles[rival.rule.index] = "best of its class", rival.rule
    for rule in explanation.firing:
        roles[rule.index] = "fires", rule
    if explanation.deciding is not None:
        roles[explanation.deciding.index] = "decides", explanation.deciding
    order = ["decides", "fires", "best of its class"]
    ranked = sorted(roles.values(), key=lambda pair: (order.index(pair[0]), -pair[1].contribution))
    if explanation.change is not None and explanation.change.deciding is not None:
        ranked.append(("decides after the change", explanation.change.deciding))
    columns = ["role", "rule", "class", "degree", "weight", "contribution"]
    columns += ["condition", "value", "membership", "weakest"]
    rows = []
    for role, rule in ranked:
        head = (role, rule.index + 1, rule.consequent, rule.degree, rule.weight, rule.contribution)
        rows += [
            (*head, c.condition, c.value, c.membership, c is rule.weakest) for c in rule.conditions
        ]
        if not rule.conditions:
            rows.append((*head, "always", "", 1.0, False))
    return pd.DataFrame(rows, columns=columns)


def _write_decision(explanation: "Explanation") -> str:
    """Write the prediction, and how far the deciding rule holds or what decides in its place."""
    answer = explanation.decision if explanation.classes else f"{explanation.decision:.6g}"
    head = f"Predicted {explanation.target} = {answer}"
    rule = explanation.deciding
    if explanation.fallback is not None:
        head += f" although no rule fires: {FALLBACKS[explanation.fallback]}"
        if rule is None or explanation.fallback in {"priors", "base"}:
            return f"{head}."
        weakest = rule.weakest
        fails = f" (it lacks {weakest.condition}; {_write_value(weakest)})" if weakest else ""
        return f"{head}, here rule {rule.index + 1}{fails}."
    if rule is None:
        return f"{head}."
    counts = f" and counts {rule.contribution:.2f}" if rule.contribution != rule.degree else ""
    head += f" because rule {rule.index + 1} holds to {rule.degree:.2f}{counts}"
    more = len([r for r in explanation.firing if r.consequent == rule.consequent]) - 1
    if more > 0:
        head += f", with {more} more rule{'s' if more > 1 else ''} for it"
    if rule.weakest is None:
        return f"{head}; it has no conditions."
    if rule.weakest.membership >= 1.0:
        last = {c.attribute: c for c in rule.conditions}
        reasons = ", ".join(_write_value(c) for c in last.values())
        return f"{head}: all of its conditions hold fully ({reasons})."
    return (
        f"{head}: {rule.weakest.condition} holds to {rule.weakest.membership:.2f}"
        f" ({_write_value(rule.weakest)})"
        + (", the weakest of its conditions." if len(rule.conditions) > 1 else ".")
    )


def _write_waterfall(explanation: "Explanation", base: float) -> str:
    """Write the base and the contribution of each rule to the number or the lead of the class."""
    form = "+.2f"
    head = f"Predicted {explanation.target} = {explanation.decision}"
    if explanation.steps:
        position = explanation.classes.index(explanation.decision)
        step = explanation.steps[max(position - 1, 0)]
        head = f"{_write_steps(explanation)}\nLog odds of at least {step.label}"
    elif explanation.classes:
        head += f" with probability {max(explanation.shares):.2f}"
        total = base + sum(rule.contribution for rule in explanation.firing)
        for second in explanation.rivals[:1]:
            head += f", by {total:.2f} more votes than for {second.label!r}"
    else:
        form = "+.6g"
        head = f"Predicted {explanation.target} = {explanation.decision:.6g}"
    parts = [(f"{base:{form}}", "base")]
    parts += [(f"{rule.contribution:{form}}", _write_rule(rule)) for rule in explanation.firing]
    width = max(len(amount) for amount, _ in parts) + 4
    return "\n".join([f"{head}:", *(f"{amount:>{width}}  {words}" for amount, words in parts)])


def _write_steps(explanation: "Explanation") -> str:
    """Write the step that leads to the predicted class, and the one that would lead beyond it."""
    position = explanation.classes.index(explanation.decision)
    around = explanation.steps[max(position - 1, 0) : position + 1]
    steps = "; ".join(f"at least {s.label} has {s.share:.2f}, {s.why}" for s in around)
    return f"Predicted {explanation.target} = {explanation.decision}: {steps}."


def _write_mean(explanation: "Explanation") -> str:
    """Write the percentage and the number of each rule in a weighted mean."""
    n_rules = len(explanation.firing)
    what = "as one rule says" if n_rules == 1 else f"the mean of what {n_rules} rules say"
    lines = [f"Predicted {explanation.target} = {explanation.decision:.6g}, {what}:"]
    for rule in explanation.firing:
        percentage = f"{rule.contribution:.0%}"
        lines.append(f"{percentage:>7}  {rule.consequent:.6g}  {_write_rule(rule)}")
    return "\n".join(lines)


def _write_rule(rule: "RuleMatch") -> str:
    degree = "" if rule.degree >= 1.0 else f", which holds to {rule.degree:.2f}"
    conditions = [f"{c.condition} ({_write_value(c)})" for c in rule.conditions]
    return f"rule {rule.index + 1}{degree}: {', '.join(conditions) or 'always'}"


def _write_value(match: Any) -> str:
    """Write the name and value of a condition's feature, or of an obstacle's."""
    verb = "is" if match.value.startswith("missing: counted as ") else "="
    return f"{match.attribute} {verb} {match.value}"


def _write_change(explanation: "Explanation", change: "Change", effect: str) -> str:
    answer = repr(change.decision) if explanation.classes else f"{change.decision:.6g}"
    parts = " and ".join(
        f"{c.attribute} were {_write_full(c.after)} instead of {_write_short(c.before)}"
        for c in change.changes
    )
    head = f"The smallest change that {effect}"
    if not change.proved:
        head = f"A change that {effect} (there may be a smaller one)"
    rule = "" if change.deciding is None else f"rule {change.deciding.index + 1}"
    if change.fallback in {None, "base"}:
        by = f" by {rule}" if rule else ""
        return f"{head}: {answer}{by} if {parts}."
    here = f", here {rule}" if rule and change.fallback != "priors" else ""
    fallback = FALLBACKS[change.fallback]
    return f"{head}: {answer} if {parts}; no rule fires then and {fallback}{here}."


def _write_full(value: float | str | None) -> str:
    """Write a value so that entering it again gives the same decision."""
    if value is None:
        return "missing"
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return value


def _write_short(value: float | str | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else _write_full(value)

"""Reference evaluation of saved rule sets: the definitions in plain loops.

It reads the JSON of format version 2 and imports nothing from the library. Each function implements a line of
the table of `frri.rules.semantics`.
"""

import math
from datetime import UTC, datetime

# ---------------------------------------------------------------- rows


def encoded(model, row):
    """Return each value as a number (days, positions of categories), None if it is missing."""
    values = {}
    for attribute in model["attributes"]:
        name, value = attribute["name"], row[attribute["name"]]
        low, high = attribute.get("low"), attribute.get("high")
        if attribute["kind"] == "nominal":
            if value is not None and value not in attribute["categories"]:
                value = "never seen"
        elif attribute["kind"] == "ordinal":
            order = attribute["categories"]
            value = order.index(value) if value in order else None
            low, high = 0, len(order) - 1
        elif attribute["kind"] == "date" and value is not None:
            moment = datetime.fromisoformat(value).replace(tzinfo=UTC)
            value = moment.timestamp() / 86400
        if value is None and model["semantics"]["missing"] == "typical":
            value = attribute.get("typical")
            if value is not None and attribute["kind"] == "ordinal":
                value = order.index(value)
        if value is not None and model["semantics"]["clip"] and attribute["kind"] != "nominal":
            value = value if low is None else max(value, low)
            value = value if high is None else min(value, high)
        values[name] = value
    return values


# ---------------------------------------------------------------- one rule


def uncut(model, rule, condition, value):
    """1 in the core, falling outside it, below 0 beyond the support."""
    nowhere_near = min(1 - 1 / rule["weight"], 0) if rule["weight"] > 0 else 0
    if value is None:
        return 1 if model["semantics"]["missing"] == "similar" else nowhere_near
    if "values" in condition:
        # An exclusion holds for all values but these, also for unseen ones.
        holds = (value in condition["values"]) != condition.get("excludes", False)
        return 1 if holds else nowhere_near
    support_low, core_low, core_high, support_high = condition["trapezoid"]
    if core_low is not None and value < core_low:
        return (value - support_low) / slope(model, condition, core_low, support_low)
    if core_high is not None and value > core_high:
        return (support_high - value) / slope(model, condition, core_high, support_high)
    return 1


def slope(model, condition, core, support):
    """Return the width over which the membership falls from 1 to 0; on a crisp side, the range of the attribute."""
    if core != support and math.nextafter(core, support) != support:
        return abs(core - support)
    [attribute] = [a for a in model["attributes"] if a["name"] == condition["attribute"]]
    if attribute["kind"] == "ordinal":
        width = len(attribute["categories"]) - 1
    elif attribute["low"] is None or attribute["high"] is None:
        width = 0
    else:
        width = attribute["high"] - attribute["low"]
    return width if width > 0 else 1


def joined(t_norm, a, b):
    if t_norm == "minimum":
        return min(a, b)
    if t_norm == "product":
        return a * b
    if t_norm == "lukasiewicz":
        return max(a + b - 1, 0)
    if t_norm == "hamacher":
        return a * b / (a + b - a * b) if a + b > 0 else 0
    if t_norm == "drastic":
        return min(a, b) if max(a, b) == 1 else 0
    assert t_norm == "nilpotent_minimum"
    return min(a, b) if a + b > 1 else 0


def memberships(model, rule, values):
    return [max(uncut(model, rule, c, values[c["attribute"]]), 0) for c in rule["if"]]


def degree(model, held):
    result = 1
    for membership in held:
        result = joined(model["semantics"]["t_norm"], result, membership)
    return result


def counts(model, values):
    """Return the vote of each rule: its weight times its degree."""
    rules = model["rules"]
    return [rule["weight"] * degree(model, memberships(model, rule, values)) for rule in rules]


# ---------------------------------------------------------------- fallbacks


def fallback_votes(model, values):
    """Return the votes of rules that do not fire; None if the fallback does not use rules."""
    kind, rules = model["semantics"]["fallback"], model["rules"]
    votes = []
    for rule in rules:
        if kind == "nearest":
            worst = min([uncut(model, rule, c, values[c["attribute"]]) for c in rule["if"]] or [1])
            votes.append(rule["weight"] * worst if rule["weight"] > 0 else -math.inf)
            continue
        held = memberships(model, rule, values)
        weights = rule.get("partial_weights", [])
        if kind == "stretched":
            kept = 0
            while kept < len(held) and held[kept] > 0:
                kept += 1
            counted = degree(model, held[:kept]) * weights[kept] if kept and weights else 0
        elif kind == "partial":
            subset = sum(2**k for k in range(len(held)) if held[k] > 0)
            counted = weights[subset] if subset and weights else 0
        else:
            return None
        votes.append(counted)
    if kind == "nearest":
        return votes if any(rule["weight"] > 0 for rule in rules) else None
    return votes if any(vote > 0 for vote in votes) else None


# ---------------------------------------------------------------- scores and answers


def of_class(model, label):
    return [r for r, rule in enumerate(model["rules"]) if rule["then"] == label]


def strongest(rules, votes):
    """Return the first of the largest votes."""
    return next((r for r in rules if votes[r] == max(votes[s] for s in rules)), None)


def normalize(values):
    return [value / sum(values) for value in values]


def exponentials(values):
    return [math.exp(value - max(values)) for value in values]


def first_of_largest(values):
    return values.index(max(values))


def multiply_costs(model, amounts):
    """Return values of classes times the costs of misclassifying them."""
    costs = model.get("costs") or [1] * len(amounts)
    return [amount * cost for amount, cost in zip(amounts, costs, strict=True)]


def result(answer, scores, probabilities, deciding):
    return {
        "answer": answer,
        "scores": [float(score) for score in scores],
        "probabilities": probabilities,
        "deciding": deciding,
    }


def about_classes(model, values, scores, deciding_for):
    """Return the result of normalized scores, or of the fallback if all are 0."""
    classes, scores = model["classes"], multiply_costs(model, scores)
    if max(scores) > 0:
        decided = first_of_largest(scores)
        return result(classes[decided], scores, normalize(scores), deciding_for(classes[decided]))
    votes = fallback_votes(model, values)
    if votes is None:
        sizes = multiply_costs(model, model["class_counts"])
        return result(classes[first_of_largest(sizes)], scores, normalize(sizes), None)
    nearest = model["semantics"]["fallback"] == "nearest"
    best = [
        max([votes[r] for r in of_class(model, label)], default=-math.inf if nearest else 0)
        for label in classes
    ]
    best = best if nearest else multiply_costs(model, best)
    label = classes[first_of_largest(best)]
    probabilities = normalize(exponentials(best) if nearest else best)
    return result(label, scores, probabilities, strongest(of_class(model, label), votes))


def best_rule(model, values):
    counted = counts(model, values)
    scores = [max([counted[r] for r in of_class(model, c)], default=0) for c in model["classes"]]
    return about_classes(
        model, values, scores, lambda label: strongest(of_class(model, label), counted)
    )


def added_votes(model, values):
    counted = counts(model, values)
    scores = [sum(counted[r] for r in of_class(model, c)) for c in model["classes"]]
    return about_classes(
        model, values, scores, lambda label: strongest(of_class(model, label), counted)
    )


def first_match(model, values):
    scores, first = [0] * len(model["classes"]), None
    for r, rule in enumerate(model["rules"]):
        if degree(model, memberships(model, rule, values)) > 0:
            alone = [int(label == rule["then"]) for label in model["classes"]]
            scores, first = rule.get("distribution") or alone, r
            break
    return about_classes(model, values, scores, lambda _: first)


def softmax_votes(model, values):
    counted, scores = counts(model, values), []
    for c, label in enumerate(model["classes"]):
        score = model["base"][c]
        for rule, count in zip(model["rules"], counted, strict=True):
            vote = rule["votes"][c] if "votes" in rule else int(rule["then"] == label)
            score += count * vote
        scores.append(score)
    label = model["classes"][first_of_largest(scores)]
    return result(label, scores, normalize(exponentials(scores)), None)


def at_least_class(model, values):
    """Decide for every class from the second on whether the row is at least of this class."""
    classes, counted = model["classes"], counts(model, values)
    fired = [
        (rule, count) for rule, count in zip(model["rules"], counted, strict=True) if count > 0
    ]
    position = classes.index
    at_least = [position(rule["then"]) for rule, _ in fired if rule["relation"] == "at least"]
    at_most = [position(rule["then"]) for rule, _ in fired if rule["relation"] == "at most"]
    left = range(max(at_least, default=0), min(at_most, default=len(classes) - 1) + 1)
    sizes = [model["class_counts"][c] if c in left else 0 for c in range(len(classes))]
    if not sum(sizes):
        sizes = [int(c in left) for c in range(len(classes))]
    near = fallback_votes(model, values) or [-math.inf] * len(model["rules"])
    passed = [1.0]
    for threshold in range(1, len(classes)):
        speaks_for, speaks_against = [], []
        for r, rule in enumerate(model["rules"]):
            if rule["relation"] == "at least" and position(rule["then"]) >= threshold:
                speaks_for.append(r)
            if rule["relation"] == "at most" and position(rule["then"]) < threshold:
                speaks_against.append(r)
        pro = max([counted[r] for r in speaks_for], default=0)
        contra = max([counted[r] for r in speaks_against], default=0)
        if pro == contra == 0:
            far_pro = max(-max([near[r] for r in speaks_for], default=-math.inf), 0)
            far_contra = max(-max([near[r] for r in speaks_against], default=-math.inf), 0)
            if far_pro < math.inf and far_contra < math.inf:
                passed.append(far_contra / (far_pro + far_contra) if far_contra > 0 else 0.0)
                continue
            if far_pro < math.inf or far_contra < math.inf:
                passed.append(float(far_pro < math.inf and far_contra > 0))
                continue
            pro, contra = sum(sizes[threshold:]), sum(sizes[:threshold])
        passed.append(pro / (pro + contra))
    return by_steps(classes, passed)


def by_steps(classes, passed):
    """Return prediction and probabilities from the probabilities of being at least each class."""
    answer = classes[sum(share > 0.5 for share in passed[1:])]
    probabilities = [a - b for a, b in zip(passed, [*passed[1:], 0], strict=True)]
    return result(answer, passed, probabilities, None)


def cumulative_logits(model, values):
    """Decide by one sum for all classes; each but the first has its own base."""
    total = 0
    for rule, count in zip(model["rules"], counts(model, values), strict=True):
        total += count * rule["then"]
    passed = [1.0]
    for base in model.get("base", []):
        odds = base + total
        passed.append(1 / (1 + math.exp(-odds)) if odds > -700 else 0.0)
    return by_steps(model["classes"], passed)


def weighted_mean(model, values):
    counted = counts(model, values)
    if sum(counted) > 0:
        total = sum(count * r["then"] for count, r in zip(counted, model["rules"], strict=True))
        answer, deciding = total / sum(counted), None
    else:
        votes = fallback_votes(model, values)
        deciding = None if votes is None else strongest(range(len(votes)), votes)
        answer = model["base"][0] if votes is None else model["rules"][deciding]["then"]
    return result(answer, [answer], None, deciding)


def added_contributions(model, values):
    answer = model["base"][0]
    for rule, count in zip(model["rules"], counts(model, values), strict=True):
        answer += count * rule["then"]
    return result(answer, [answer], None, None)


SEMANTICS = {
    "best-rule": best_rule,
    "added-votes": added_votes,
    "first-match": first_match,
    "softmax-votes": softmax_votes,
    "at-least-class": at_least_class,
    "cumulative-logits": cumulative_logits,
    "weighted-mean": weighted_mean,
    "added-contributions": added_contributions,
}


def decide(model, row):
    """Return prediction, scores, probabilities (None in regression), and position of the deciding rule, or None."""
    found = SEMANTICS[model["semantics"]["name"]](model, encoded(model, row))
    ordered = model["task"] == "ordinal"
    return found | {"probabilities": shrink(model, found)} if "trust" in model or ordered else found


def shrink(model, found):
    """Shrink probabilities towards class priors; classes ahead of the predicted one are leveled with it."""
    trust, sizes = model.get("trust", 1), normalize(multiply_costs(model, model["class_counts"]))
    mixed = [
        trust * by_rules + (1 - trust) * by_size
        for by_rules, by_size in zip(found["probabilities"], sizes, strict=True)
    ]
    level, joined = 0, [model["classes"].index(found["answer"])]
    while True:
        level = sum(mixed[c] for c in joined) / len(joined)
        others = [c for c in range(len(mixed)) if c not in joined and mixed[c] > level]
        if not others:
            return [level if c in joined else share for c, share in enumerate(mixed)]
        joined.append(max(others, key=lambda c: mixed[c]))

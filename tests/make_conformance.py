"""Write `tests/conformance.json`: small rule sets of every semantics, and the reference results for some rows.

Every engine must return these results. A new semantics or setting needs a reference implementation and rule sets
here; then `python tests/make_conformance.py` writes the table again.

Values are sums of few powers of two, so that rounding neither hides nor creates ties.
"""

import json
from itertools import product
from math import inf, log, nextafter
from pathlib import Path

from naive_semantics import decide

PATH = Path(__file__).with_name("conformance.json")

ATTRIBUTES = [
    {"name": "x", "kind": "numeric", "low": 0.0, "high": 8.0, "typical": 2.5},
    {"name": "y", "kind": "numeric", "low": -4.0, "high": 4.0},
    {"name": "colour", "kind": "nominal", "categories": ["blue", "green", "red"], "typical": "red"},
    {
        "name": "size",
        "kind": "ordinal",
        "categories": ["small", "medium", "large"],
        "typical": "large",
    },
    # 2020-01-01 to 2020-01-17, median 2020-01-10 at noon
    {"name": "day", "kind": "date", "low": 18262.0, "high": 18278.0, "typical": 18271.5},
]
USUAL = {"x": 3.0, "y": 0.0, "colour": "red", "size": "medium", "day": "2020-01-09"}
ROWS = [
    USUAL,
    USUAL | {"x": 1.0},
    USUAL | {"x": 5.0, "y": 1.0},
    USUAL | {"x": 7.0, "colour": "blue"},
    USUAL | {"x": 9.5, "y": -6.0},
    USUAL | {"x": -2.0, "size": "large"},
    USUAL | {"y": 3.0, "day": "2020-01-16T12:00:00"},
    USUAL | {"colour": "violet", "size": "huge"},
    USUAL | {"x": None, "colour": None},
    dict.fromkeys(USUAL),
    USUAL | {"y": None, "size": None, "day": None},
    USUAL | {"x": 2.0, "y": 2.0, "size": "small", "day": "2019-12-30"},
    USUAL | {"x": 4.0, "y": -1.0, "colour": "green", "day": "2020-01-02"},
]


def numeric(name, *trapezoid):
    return {"attribute": name, "trapezoid": list(trapezoid)}


def nominal(*values, **more):
    return {"attribute": "colour", "values": list(values), **more}


def rule(conditions, then, weight=1.0, **more):
    return {"if": conditions, "then": then, "weight": weight, **more}


LOW_X = numeric("x", None, None, 2.0, 4.0)
HIGH_X = numeric("x", 4.0, 6.0, None, None)
MIDDLE_X = numeric("x", 1.0, 2.0, 3.0, 5.0)
LOW_Y = numeric("y", None, None, -1.0, 1.0)
HIGH_Y = numeric("y", 0.0, 2.0, None, None)
CRISP = numeric("x", 2.0, 2.0, 5.0, 5.0)
STRICT = numeric("x", 1.0, nextafter(1.0, inf), nextafter(3.0, -inf), 3.0)
LARGE = numeric("size", 0.0, 2.0, None, None)
LATE = numeric("day", 18266.0, 18274.0, None, None)
NOT_BLUE = nominal("blue", excludes=True)
NOT_BLUE_OR_RED = nominal("blue", "red", excludes=True)

CLASS_RULES = [
    rule([LOW_X, nominal("red")], "a", 0.75, partial_weights=[0.5, 0.25, 0.125, 0.75]),
    rule([HIGH_X, LOW_Y], "b", partial_weights=[0.25, 0.5, 0.375, 1.0]),
    rule([MIDDLE_X, LARGE, LATE], "c", 0.5, partial_weights=[k / 16 for k in range(8)]),
    rule([HIGH_Y], "b", 0.25, distribution=[0.25, 0.5, 0.25]),
    rule([LATE, nominal("blue", "green")], "a", 0.5),
]
NUMBER_RULES = [
    rule([LOW_X, nominal("red")], 4.0, 0.75),
    rule([HIGH_X, LOW_Y], -2.5),
    rule([MIDDLE_X, LARGE, LATE], 16, 0.5),
    rule([HIGH_Y], 1.0, 0.25),
]
BOUND_RULES = [
    rule([LOW_X], "b", 0.75, relation="at least"),
    rule([HIGH_X, LOW_Y], "b", relation="at most"),
    rule([MIDDLE_X, nominal("red", "blue")], "c", 0.5, relation="at least"),
    rule([HIGH_Y], "a", 0.25, relation="at most"),
    rule([LATE], "c", 0.5, relation="at most"),
]
VOTE_RULES = [
    rule([LOW_X, nominal("red")], "a", 0.75, votes=[1.0, -0.5, 0.0]),
    rule([HIGH_X, LOW_Y], "b", votes=[-1.0, 2.0, 0.25]),
    rule([MIDDLE_X, LARGE], "c", 0.5),
    rule([HIGH_Y], "c", 2.0, votes=[-0.25, -0.25, 0.5]),
]


def excluding(rules):
    """Return the rules with an exclusion in place of the last condition of each."""
    exclusions = NOT_BLUE, NOT_BLUE_OR_RED
    return [one | {"if": [*one["if"][:-1], exclusions[k % 2]]} for k, one in enumerate(rules)]


def model(rules, name, *, classes=("a", "b", "c"), counts=(3.0, 5.0, 2.0), base=None, **settings):
    numbers = name in {"weighted-mean", "added-contributions"}
    ordered = name in {"at-least-class", "cumulative-logits"}
    task = "regression" if numbers else "ordinal" if ordered else "classification"
    usual = {"t_norm": "minimum", "clip": False, "missing": "fails"}
    content = {
        "format": "frri-ruleset",
        "version": 2,
        "task": task,
        "target": "answer",
        "classes": [] if numbers else list(classes),
        "class_counts": [] if numbers else list(counts),
        "attributes": ATTRIBUTES,
        "semantics": {"name": name} | usual | settings,
        "rules": rules,
    }
    return content if base is None else content | {"base": base}


def rulesets():
    """Yield titles and models."""
    names = ("best-rule", "added-votes", "first-match")
    fallbacks = ("nearest", "stretched", "partial", "priors")
    t_norms = ("minimum", "product", "lukasiewicz", "hamacher", "drastic", "nilpotent_minimum")
    clip_and_missing = tuple(product((False, True), ("fails", "similar", "typical")))
    sets = [(name, CLASS_RULES, None) for name in names]
    for i, ((name, rules, _), fallback) in enumerate(product(sets, fallbacks)):
        settings = dict(zip(("clip", "missing"), clip_and_missing[i % 6], strict=True))
        yield f"{name}, {fallback}", model(rules, name, fallback=fallback, **settings)
    for i, t_norm in enumerate(t_norms[1:]):
        settings = {"t_norm": t_norm, "fallback": fallbacks[i % 2]}
        yield f"{names[i % 2]} by {t_norm}", model(CLASS_RULES, names[i % 2], **settings)
        yield (
            f"added-contributions by {t_norm}",
            model(NUMBER_RULES, "added-contributions", base=[0.5], t_norm=t_norm, fallback="base"),
        )
    others = [
        ("softmax-votes", "base", VOTE_RULES, [0.25, 0.25, 0.0]),
        ("at-least-class", "priors", BOUND_RULES, None),
        ("at-least-class", "nearest", BOUND_RULES, None),
        ("cumulative-logits", "base", NUMBER_RULES, [1.5, -0.5]),
        ("weighted-mean", "nearest", NUMBER_RULES, [1.5]),
        ("weighted-mean", "base", NUMBER_RULES, [1.5]),
        ("added-contributions", "base", NUMBER_RULES, [1.5]),
    ]
    for (name, fallback, rules, base), (clip, missing) in product(others, clip_and_missing):
        title = f"{name}, {fallback}, {'' if clip else 'not '}clipped, missing {missing}"
        settings = {"fallback": fallback, "clip": clip, "missing": missing}
        yield title, model(rules, name, base=base, **settings)

    ties = [rule([CRISP], "b", 0.5), rule([LOW_X], "a", 0.5), rule([MIDDLE_X], "a", 0.5)]
    mirror = [rule([numeric("x", 2.0, 4.0, 4.0, 6.0)], label) for label in ("b", "c", "a", "c")]
    weightless = [
        rule([LOW_X], "a", 0.0, partial_weights=[0.0, 0.5]),
        rule([HIGH_X], "c", 0.0, partial_weights=[0.0, 0.0]),
    ]
    zeros = rule([HIGH_X], "a", distribution=[0.0, 0.0, 0.0])
    for name, fallback in product(names, fallbacks):
        settings = {"fallback": fallback, "clip": fallback == "partial"}
        yield f"no rules: {name}, {fallback}", model([], name, **settings)
        yield f"no weight: {name}, {fallback}", model(weightless, name, **settings)
        yield f"ties: {name}, {fallback}", model(ties, name, **settings)
        mixed = [*weightless, *mirror, zeros]
        yield f"weight or none: {name}, {fallback}", model(mixed, name, **settings)
    for name in names:
        always = [rule([STRICT], "c", 0.5), rule([], "b", 0.25), rule([LARGE], "a", 2.0)]
        yield f"no conditions, strict bounds: {name}", model(always, name, fallback="priors")
        only_b = [rule([LOW_X], "b", 0.5), rule([HIGH_X, nominal("blue")], "b", 0.25)]
        yield f"classes without rules: {name}", model(only_b, name, fallback="nearest")
    for t_norm in ("minimum", "product"):
        numbers_only = [rule([LOW_X], "a", 0.75), rule([HIGH_X, LOW_Y], "b"), rule([STRICT], "c")]
        for missing in ("fails", "typical"):
            settings = {"t_norm": t_norm, "fallback": "nearest", "missing": missing}
            yield (
                f"numbers only by {t_norm}, missing {missing}",
                model(numbers_only, "best-rule", **settings),
            )
    equal = {"counts": (2.0, 2.0, 2.0)}
    yield "equal classes", model([], "best-rule", fallback="priors", **equal)
    labels = {"classes": (10, 2, 7)}
    whole = [rule([HIGH_X], 2, 0.5), rule([LOW_X], 10, 0.5)]
    yield "whole numbers as classes", model(whole, "best-rule", fallback="nearest", **labels)

    one_sided = [one for one in BOUND_RULES if one["relation"] == "at least"]
    unseen = {"counts": (3.0, 0.0, 0.0), "fallback": "priors"}
    level = [
        rule([LOW_X], "c", 0.5, relation="at least"),
        rule([CRISP], "a", 0.5, relation="at most"),
    ]
    weightless_bound = [
        rule([HIGH_X], "c", 0.0, relation="at least"),
        rule([LOW_Y], "b", 0.5, relation="at least"),
    ]
    for title, rules, more in (
        ("no rules", [], {"fallback": "priors"}),
        ("at least only", one_sided, {"fallback": "priors"}),
        ("classes never seen", one_sided, unseen),
        ("two in balance", level, {"fallback": "priors"}),
        ("no weight", [rule([], "c", 0.0, relation="at least")], {"fallback": "priors"}),
        ("nearest of none", [], {"fallback": "nearest"}),
        ("nearest of at least only", one_sided, {"fallback": "nearest"}),
        ("nearest of two in balance", level, {"fallback": "nearest"}),
        ("nearest without weight", weightless_bound, {"fallback": "nearest"}),
        (
            "nearest by lukasiewicz",
            [one | {"if": [*one["if"], LARGE]} for one in BOUND_RULES],
            {"fallback": "nearest", "t_norm": "lukasiewicz"},
        ),
    ):
        yield f"at-least-class: {title}", model(rules, "at-least-class", **more)
    for title, rules, more in (
        ("no rules", [], {"base": [0.0, -0.25]}),
        ("one class", [], {"base": [], "classes": ("a",), "counts": (3.0,)}),
        ("no weight", [rule([LOW_X], 3.0, 0.0)], {"base": [0.5, 0.5]}),
        ("in balance", [rule([CRISP], -0.5), rule([LOW_X], 0.25)], {"base": [0.5, 0.25]}),
        ("beyond all odds", [rule([LOW_X], 1e4), rule([HIGH_X], -1e4)], {"base": [0.0, 0.0]}),
        ("by product", NUMBER_RULES, {"base": [1.5, -0.5], "t_norm": "product"}),
    ):
        yield (
            f"cumulative-logits: {title}",
            model(rules, "cumulative-logits", fallback="base", **more),
        )
    for name, trust in zip((*names, "softmax-votes"), (0.75, 0.5, 0.0, 0.25), strict=True):
        votes = name == "softmax-votes"
        more = {"base": [0.25, 0.25, 0.0], "fallback": "base"} if votes else {"fallback": "nearest"}
        rules = VOTE_RULES if votes else CLASS_RULES
        yield f"{name}, trusted by {trust}", model(rules, name, **more) | {"trust": trust}
    costs = [0.5, 0.75, 4.0]
    logs = [round(log(cost) * 2**40) / 2**40 for cost in costs]
    for i, (name, fallback) in enumerate(product(names, fallbacks)):
        more = {"costs": costs} | ({"trust": 0.5} if i % 2 else {})
        settings = {"fallback": fallback, "t_norm": t_norms[i % 2 * i % 6], "clip": i % 3 == 0}
        yield f"costs: {name}, {fallback}", model(CLASS_RULES, name, **settings) | more
        ties_of_costs = {"costs": [2.0, 1.0, 1.25], "trust": 0.25}
        few = [*weightless, *ties]
        yield f"costs and ties: {name}, {fallback}", model(few, name, **settings) | ties_of_costs
    for trust in (1.0, 0.25):
        based = model(VOTE_RULES, "softmax-votes", base=logs, fallback="base")
        yield f"costs: softmax-votes, trusted by {trust}", based | {"costs": costs, "trust": trust}
    rules = excluding(CLASS_RULES)
    for i, (name, fallback) in enumerate(product(names, fallbacks)):
        settings = dict(zip(("clip", "missing"), clip_and_missing[i % 6], strict=True))
        yield f"exclusions: {name}, {fallback}", model(rules, name, fallback=fallback, **settings)
    for name, fallback, rules, base in (("best-rule", "nearest", CLASS_RULES, None), *others):
        for missing in ("fails", "similar", "typical"):
            settings = {"fallback": fallback, "base": base, "missing": missing}
            title = f"exclusions: {name}, {fallback}, missing {missing}"
            yield title, model(excluding(rules), name, **settings)
    none = [rule([LOW_X], 3.0, 0.0)]
    for name, fallback in (
        ("weighted-mean", "nearest"),
        ("weighted-mean", "base"),
        ("added-contributions", "base"),
    ):
        for title, rules in (("no rules", []), ("no weight", none), ("always", [rule([], 2.5)])):
            yield f"{name}, {fallback}: {title}", model(rules, name, base=[-1.0], fallback=fallback)
    level_votes = [rule([LOW_X], "c", 0.5), rule([CRISP], "b", 0.5, votes=[0.0, 1.0, 0.0])]
    for title, rules, base in (
        ("no rules", [], [0.0, 0.0, 0.0]),
        ("ties", level_votes, [0.5, 0.0, 0.0]),
        ("no weight", [rule([], "c", 0.0)], [0.0, 0.5, 0.5]),
    ):
        settings = {"base": base, "fallback": "base"}
        yield f"softmax-votes: {title}", model(rules, "softmax-votes", **settings)


def written():
    """Return the table as JSON with one result per line; all rule sets have the same attributes and rows."""

    def lines(values, indent):
        return (",\n" + indent).join(json.dumps(value) for value in values)

    entries = []
    for title, content in rulesets():
        answers = lines([decide(content, row) for row in ROWS], "   ")
        own = {key: value for key, value in content.items() if key != "attributes"}
        head = f'{{"title": {json.dumps(title)},\n  "model": {json.dumps(own)}'
        entries.append(f'{head},\n  "answers": [\n   {answers}]}}')
    attributes, rows = lines(ATTRIBUTES, "  "), lines(ROWS, "  ")
    shared = f'"attributes": [\n  {attributes}],\n"rows": [\n  {rows}]'
    return f'{{{shared},\n"rulesets": [\n ' + ",\n ".join(entries) + "\n]}\n"


if __name__ == "__main__":
    PATH.write_text(written(), encoding="utf-8")

"""Random models and rows with all features of rules, for comparisons of engines."""

from dataclasses import replace

import numpy as np
import pandas as pd

from frri import Attribute, NominalCondition, NumericCondition, Rule, RuleSet

ATTRIBUTES = (
    Attribute("a", 0.0, 10.0, typical=4.5),
    Attribute("b", -1.0, 1.0),
    Attribute("colour", categories=("blue", "green", "red"), typical="green"),
    Attribute("size", categories=("s", "m", "l", "xl"), kind="ordinal", typical="l"),
    Attribute("day", 19000.0, 20000.0, kind="date", typical=19200.5),
)


def random_condition(random):
    attribute = ATTRIBUTES[random.integers(len(ATTRIBUTES))]
    if attribute.kind == "nominal":
        values = random.choice(attribute.categories, random.integers(1, 3), replace=False)
        excludes = bool(random.integers(2))
        return NominalCondition(attribute.name, frozenset(values.tolist()), excludes=excludes)
    bounds = np.sort(attribute.low + attribute.width * random.uniform(-0.1, 1.1, 4)).tolist()
    kind = random.integers(5)
    if kind == 0:
        return NumericCondition(attribute.name, *bounds)
    if kind == 1:
        return NumericCondition(attribute.name, core_high=bounds[1], support_high=bounds[2])
    if kind == 2:
        return NumericCondition(attribute.name, bounds[1], bounds[2])
    if kind == 3:
        return NumericCondition.below(attribute.name, bounds[2])
    return NumericCondition(attribute.name, bounds[0], bounds[0], bounds[3], bounds[3])


def random_ruleset(random, combination, fallback, t_norm):
    classes = ("x", "y", "z")
    rules = []
    for _ in range(12):
        conditions = tuple(random_condition(random) for _ in range(random.integers(1, 5)))
        n_parts = 2 ** len(conditions) if fallback == "partial" else len(conditions) + 1
        rules.append(
            Rule(
                conditions,
                str(random.choice(classes)),
                float(random.uniform(0.1, 1.5)),
                distribution=tuple(random.dirichlet([1, 1, 1]).tolist())
                if random.random() < 0.5
                else None,
                partial_weights=tuple(random.random(n_parts).tolist()),
            )
        )
    return RuleSet(
        tuple(rules),
        ATTRIBUTES,
        classes,
        t_norm=t_norm,
        combination=combination,
        fallback=fallback,
        clip=bool(random.integers(2)),
        missing=str(random.choice(["typical", "fails", "similar"])),
        class_counts=(3.0, 5.0, 2.0),
    )


def random_ordered_ruleset(random, kind, fallback, t_norm):
    """Return rules for "at least" and "at most" a class ("bounds"), or rules that move a score ("moves")."""
    plain = random_ruleset(random, "best", "nearest", t_norm)
    bounds = kind == "bounds"
    rules = tuple(
        Rule(
            rule.conditions,
            rule.consequent if bounds else float(random.normal()),
            rule.weight,
            relation=str(random.choice(["at least", "at most"])) if bounds else "is",
        )
        for rule in plain
    )
    return RuleSet(
        rules,
        plain.attributes,
        plain.classes,
        semantics="at-least-class" if bounds else "cumulative-logits",
        t_norm=t_norm,
        fallback=fallback,
        clip=bool(random.integers(2)),
        missing=plain.semantics.missing,
        class_counts=plain.class_counts,
        base=() if bounds else (0.5, -0.5),
    )


def random_rows(random, n):
    rows = pd.DataFrame(
        {
            "a": random.uniform(-3, 13, n),
            "b": random.uniform(-2, 2, n).round(1),
            "colour": random.choice(["blue", "green", "red", "never seen"], n),
            "size": random.choice(["s", "m", "l", "xl"], n),
            "day": np.datetime64("2021-11-01")
            + random.integers(0, 1200, n).astype("timedelta64[D]"),
        }
    ).astype({"colour": object, "size": object})
    for name in rows:
        rows.loc[random.random(n) < 0.05, name] = None
    return rows


def for_browser(rows):
    """Return rows as JSON values in the order of the columns; dates in days since 1970."""
    columns = []
    for name in rows:
        column = rows[name]
        if column.dtype.kind == "M":
            column = (column - pd.Timestamp(0)) / pd.Timedelta(days=1)
        columns.append([None if pd.isna(value) else value for value in column.tolist()])
    return [list(row) for row in zip(*columns, strict=True)]


def random_models(random):
    """Yield a model of every semantics, with different t-norms, fallbacks, costs and shrinkage."""
    yield random_ruleset(random, "best", "nearest", "minimum")
    yield random_ruleset(random, "sum", "partial", "product").with_decision({"y": 3})
    yield random_ruleset(random, "first", "stretched", "lukasiewicz")
    yield random_ordered_ruleset(random, "bounds", "nearest", "drastic")
    yield random_ordered_ruleset(random, "moves", "base", "nilpotent_minimum")
    plain = random_ruleset(random, "best", "priors", "hamacher")
    votes = [tuple(random.normal(size=3).tolist()) for _ in plain]
    rules = tuple(replace(rule, votes=v) for rule, v in zip(plain, votes, strict=True))
    settings = {"t_norm": "hamacher", "clip": plain.clip, "missing": plain.missing}
    head = plain.attributes, plain.classes, "class"
    shrunk = {"base": (0.1, 0.2, -0.3), "trust": 0.7, "class_counts": plain.class_counts}
    yield RuleSet(rules, *head, **settings, **shrunk, semantics="softmax-votes")
    changes = {"distribution": None, "partial_weights": ()}
    numbers = [replace(rule, consequent=float(random.normal()), **changes) for rule in plain]
    head = plain.attributes, (), "number"
    yield RuleSet(tuple(numbers), *head, **settings, semantics="weighted-mean", base=(1.5,))
    yield RuleSet(tuple(numbers), *head, **settings, semantics="added-contributions", base=(2.5,))

"""Rulesets as JSON: versioned, complete, readable, checked on the way in."""

import json
import os
import tempfile
from collections.abc import Mapping
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frri.data import Attribute
from frri.rules.condition import Condition, NominalCondition, NumericCondition
from frri.rules.rule import Rule, RuleStatistics

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

FORMAT = "frri-ruleset"
VERSION = 1


def to_dict(ruleset: "RuleSet") -> dict[str, Any]:
    """The ruleset in plain JSON values; open bounds become null, absent facts are left out."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "target": ruleset.target,
        "classes": list(ruleset.classes),
        "class_counts": list(ruleset.class_counts),
        "attributes": [_attribute_to_dict(attribute) for attribute in ruleset.attributes],
        "t_norm": ruleset.t_norm,
        "combination": ruleset.combination,
        "fallback": ruleset.fallback,
        "clip": ruleset.clip,
        "missing": ruleset.missing,
        "rules": [_rule_to_dict(rule) for rule in ruleset],
        "about": dict(ruleset.about),
    }


def from_dict(content: Mapping[str, Any]) -> "RuleSet":
    """The ruleset that `to_dict` described."""
    from frri.rules.ruleset import RuleSet  # noqa: PLC0415 - ruleset imports this module

    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise ValueError('This is not a saved ruleset: it lacks "format": "frri-ruleset".')
    if content.get("version") != VERSION:
        raise ValueError(
            f"This ruleset has format version {content.get('version')!r}, this frri reads version "
            f"{VERSION}; install the frri that wrote it or save it again."
        )
    try:
        return RuleSet(
            rules=tuple(_rule_from_dict(rule) for rule in content["rules"]),
            attributes=tuple(
                _attribute_from_dict(attribute) for attribute in content["attributes"]
            ),
            classes=tuple(_label(label) for label in content["classes"]),
            target=_text(content["target"]),
            t_norm=_text(content["t_norm"]),
            combination=content["combination"],
            fallback=content["fallback"],
            clip=bool(content["clip"]),
            missing=content["missing"],
            class_counts=tuple(_number(count) for count in content["class_counts"]),
            about=dict(content.get("about", {})),
        )
    except KeyError as error:
        raise ValueError(f"The saved ruleset lacks {error.args[0]!r}.") from None
    except (TypeError, AttributeError) as error:
        raise ValueError(f"The saved ruleset is malformed: {error}.") from None


def to_json(ruleset: "RuleSet") -> str:
    """The JSON text of a ruleset."""
    return json.dumps(to_dict(ruleset), indent=1, ensure_ascii=False, allow_nan=False)


def from_json(content: str) -> "RuleSet":
    """The ruleset of a JSON text."""
    try:
        parsed = json.loads(content)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"This is not JSON: {error}.") from None
    return from_dict(parsed)


def save(ruleset: "RuleSet", path: str | os.PathLike[str]) -> None:
    """Write to a neighbouring file first and rename: an earlier file survives any failure."""
    content = to_json(ruleset)
    target = Path(path)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content + "\n")
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> "RuleSet":
    """Read a file written by `save`."""
    try:
        return from_json(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file.") from None


def _attribute_to_dict(attribute: Attribute) -> dict[str, Any]:
    content: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind}
    if attribute.categories is not None:
        return content | {"categories": list(attribute.categories)}
    return content | {"low": _bound(attribute.low), "high": _bound(attribute.high)}


def _attribute_from_dict(content: Mapping[str, Any]) -> Attribute:
    name, kind = _text(content["name"]), content["kind"]
    if "categories" in content:
        categories = tuple(_text(category) for category in content["categories"])
        return Attribute(name, categories=categories, kind=kind)
    low, high = _unbound(content["low"], -inf), _unbound(content["high"], inf)
    return Attribute(name, low, high, kind=kind)


def _rule_to_dict(rule: Rule) -> dict[str, Any]:
    content: dict[str, Any] = {
        "if": [_condition_to_dict(condition) for condition in rule.conditions],
        "then": rule.consequent,
        "weight": rule.weight,
    }
    if rule.origin != "learned":
        content["origin"] = rule.origin
    if rule.source is not None:
        content["source"] = rule.source
    if rule.statistics is not None:
        content["statistics"] = {
            "support": list(rule.statistics.support),
            "precision": rule.statistics.precision,
            "lift": rule.statistics.lift,
            "alone": rule.statistics.alone,
        }
    if rule.distribution is not None:
        content["distribution"] = list(rule.distribution)
    if rule.partial_weights:
        content["partial_weights"] = list(rule.partial_weights)
    return content


def _rule_from_dict(content: Mapping[str, Any]) -> Rule:
    known = content.get("statistics")
    shares = content.get("distribution")
    return Rule(
        conditions=tuple(_condition_from_dict(condition) for condition in content["if"]),
        consequent=_label(content["then"]),
        weight=_number(content["weight"]),
        origin=content.get("origin", "learned"),
        source=None if content.get("source") is None else _count(content["source"]),
        statistics=None
        if known is None
        else RuleStatistics(
            support=tuple(_count(count) for count in known["support"]),
            precision=None if known["precision"] is None else _number(known["precision"]),
            lift=None if known["lift"] is None else _number(known["lift"]),
            alone=_count(known["alone"]),
        ),
        distribution=None if shares is None else tuple(_number(share) for share in shares),
        partial_weights=tuple(_number(weight) for weight in content.get("partial_weights", ())),
    )


def _condition_to_dict(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, NominalCondition):
        return {"attribute": condition.attribute, "values": sorted(condition.values)}
    assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds of conditions
    bounds = [_bound(bound) for bound in condition.trapezoid]
    return {"attribute": condition.attribute, "trapezoid": bounds}


def _condition_from_dict(content: Mapping[str, Any]) -> Condition:
    attribute = _text(content["attribute"])
    if "values" in content:
        return NominalCondition(attribute, frozenset(_text(value) for value in content["values"]))
    bounds = content["trapezoid"]
    if not isinstance(bounds, list) or len(bounds) != 4:
        raise ValueError(f"The condition on {attribute!r} must have four bounds, got {bounds!r}.")
    opened = zip(bounds, (-inf, -inf, inf, inf), strict=True)
    return NumericCondition(attribute, *(_unbound(bound, open_end) for bound, open_end in opened))


def _bound(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _unbound(value: Any, open_end: float) -> float:
    return open_end if value is None else _number(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"The saved ruleset has {value!r} where a number belongs.")
    return float(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"The saved ruleset has {value!r} where a count belongs.")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"The saved ruleset has {value!r} where a text belongs.")  # noqa: TRY004 - it is a value error for users
    return value


def _label(value: Any) -> str | int | float | bool:
    if not isinstance(value, str | int | float):
        raise ValueError(f"The saved ruleset has {value!r} where a class label belongs.")  # noqa: TRY004
    return value

"""Rulesets as JSON: versioned, complete, readable, checked on the way in.

The format is published as a JSON Schema, `ruleset.schema.json` beside this file. Reading checks the same
things by hand, with a sentence about the first that does not fit, and more than a schema can say:
whatever a file contains, reading it ends soon, in a ruleset or in a ValueError.
"""

import json
import os
import reprlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from math import inf, isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from frri._util import depth_and_size, read_text, write_atomically
from frri.rules.condition import Condition, NominalCondition, NumericCondition
from frri.rules.provenance import DEEPEST, MOST_DIGITS, SURROGATE, About
from frri.rules.rule import Rule, RuleStatistics
from frri.rules.semantics import SHORTHANDS, Semantics
from frri.table import KINDS, Attribute

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

FORMAT = "frri-ruleset"
VERSION = 2

# Bounds on what a file may hold; models made from data stay far below them.
LARGEST_FILE = 256 * 2**20
MOST_PARTS = 2**22
LARGEST_NUMBER = 1e305
LARGEST_COUNT = 2**63
LARGEST_LABEL = 2**64


def to_dict(ruleset: "RuleSet") -> dict[str, Any]:
    """The ruleset in plain JSON values; open bounds become null, absent facts are left out."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "task": ruleset.task,
        "target": ruleset.target,
        "classes": list(ruleset.classes),
        "class_counts": list(ruleset.class_counts),
        "attributes": [_attribute_to_dict(attribute) for attribute in ruleset.attributes],
        "semantics": asdict(ruleset.semantics),
        **({"base": list(ruleset.base)} if ruleset.base else {}),
        **({"trust": ruleset.trust} if ruleset.trust < 1.0 else {}),
        "rules": [_rule_to_dict(rule) for rule in ruleset],
        "about": About(ruleset.about).plain(),
    }


def from_dict(content: Mapping[str, Any]) -> "RuleSet":
    """The ruleset that `to_dict` described."""
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise ValueError('This is not a saved ruleset: it lacks "format": "frri-ruleset".')
    version = content.get("version")
    if isinstance(version, bool) or version not in (1, VERSION):
        raise ValueError(
            f"This ruleset has format version {_shown(version)}, this frri reads versions 1 and "
            f"{VERSION}; install the frri that wrote it or save it again."
        )
    try:
        return _ruleset_from_dict(_from_version_1(content) if version == 1 else content)
    except ValueError as error:
        # Names and labels are the file's, and may be of any length.
        raise ValueError(str(error)[:500]) from None


def schema(version: int = VERSION) -> dict[str, Any]:
    """The JSON Schema of a version of the format (draft 2020-12).

    Examples
    --------
    >>> schema()["$id"], schema(1)["$id"]
    ('urn:frri:ruleset:2', 'urn:frri:ruleset:1')
    """
    name = "ruleset.schema.json" if version == VERSION else f"ruleset.v{version}.schema.json"
    path = Path(__file__).with_name(name)
    return dict(json.loads(path.read_text(encoding="utf-8")))


def to_json(ruleset: "RuleSet") -> str:
    """The JSON text of a ruleset."""
    return json.dumps(to_dict(ruleset), indent=1, ensure_ascii=False, allow_nan=False)


def from_json(content: str) -> "RuleSet":
    """The ruleset of a JSON text."""
    # A ruleset itself is shallower than its description may be.
    depth, size = depth_and_size(content, DEEPEST + 2)
    if depth > DEEPEST + 2 or size > MOST_PARTS:
        what = (
            "nested too deeply"
            if depth > DEEPEST + 2
            else f"made of more than {MOST_PARTS:,} parts"
        )
        raise ValueError(f"This is not a saved ruleset: it is {what}.")
    try:
        parsed = json.loads(
            content,
            object_pairs_hook=_without_duplicates,
            parse_constant=_number,  # of a name, such as NaN: refused
            parse_int=_integer,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"This is not JSON: {error}.") from None
    return from_dict(parsed)


def save(ruleset: "RuleSet", path: str | os.PathLike[str]) -> None:
    """Write to a neighbouring file first and rename: an earlier file survives any failure."""
    write_atomically(path, to_json(ruleset) + "\n")


def load(path: str | os.PathLike[str]) -> "RuleSet":
    """Read a file written by `save`."""
    with Path(path).open("rb") as file:
        return read(file, str(path))


def read(file: IO[bytes], name: str) -> "RuleSet":
    """The ruleset of an open file or stream; complaints begin with its name."""
    content = read_text(file, name, LARGEST_FILE)
    try:
        return from_json(content)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _attribute_to_dict(attribute: Attribute) -> dict[str, Any]:
    content: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind}
    if attribute.categories is not None:
        content["categories"] = list(attribute.categories)
    else:
        content |= {"low": _bound(attribute.low), "high": _bound(attribute.high)}
    return content if attribute.typical is None else content | {"typical": attribute.typical}


def _from_version_1(content: Mapping[str, Any]) -> dict[str, Any]:
    """A ruleset of version 1, which had classes only and the settings side by side, as version 2."""
    settings = ("t_norm", "fallback", "clip", "missing")
    _check_keys(content, "the ruleset", (*_PARTS, *settings, "combination"), _ABOUT)
    name = SHORTHANDS.get(_text(content["combination"]))
    if name is None:
        known = ", ".join(SHORTHANDS)
        raise ValueError(
            f"combination must be one of {known}, got {_shown(content['combination'])}."
        )
    for where, key, later in (
        ("an attribute", "attributes", {"typical"}),
        ("a rule", "rules", {"votes", "relation"}),
    ):
        for part in _list(content[key]):
            for found in sorted(later & set(_object(part, where))):
                raise ValueError(
                    f"The saved ruleset has {found!r} in {where}, which version 1 of the format "
                    "does not have; give it the version 2."
                )
    if content["missing"] not in _MISSING_1:
        raise ValueError(
            f"missing must be one of {', '.join(_MISSING_1)} in version 1 of the format, "
            f"got {_shown(content['missing'])}."
        )
    kept = {key: content[key] for key in (*_PARTS, *_ABOUT) if key in content}
    chosen = {key: content[key] for key in settings}
    return kept | {"task": "classification", "semantics": {"name": name} | chosen}


def _ruleset_from_dict(content: Mapping[str, Any]) -> "RuleSet":
    from frri.rules.ruleset import RuleSet  # noqa: PLC0415 - ruleset imports this module

    _check_keys(content, "the ruleset", (*_PARTS, "task", "semantics"), ("base", "trust", *_ABOUT))
    semantics = _semantics_from_dict(content["semantics"])
    if content["task"] != semantics.meaning.task:
        raise ValueError(
            f"The saved ruleset has the task {_shown(content['task'])}, but {semantics.name!r} is "
            f"for {semantics.meaning.task}."
        )
    rules = tuple(_rule_from_dict(rule) for rule in _list(content["rules"]))
    ruleset = RuleSet(
        rules=rules,
        attributes=tuple(_attribute_from_dict(a) for a in _list(content["attributes"])),
        classes=tuple(_label(label) for label in _list(content["classes"])),
        target=_text(content["target"]),
        semantics=semantics,
        base=_numbers(content.get("base", [])),
        trust=_number(content.get("trust", 1.0)),
        class_counts=_numbers(content["class_counts"]),
        about=About.saved(_object(content.get("about", {}), "a description")),
    )
    known = [rule.statistics.support for rule in ruleset if rule.statistics is not None]
    if any(len(counts) != len(ruleset.classes) for counts in [content["class_counts"], *known]):
        raise ValueError("The saved ruleset must have one count per class.")
    return ruleset


def _semantics_from_dict(content: Any) -> Semantics:
    content = _object(content, "a semantics")
    _check_keys(content, "the semantics", ("name", "t_norm", "fallback", "clip", "missing"))
    return Semantics(
        name=_text(content["name"]),
        t_norm=_text(content["t_norm"]),
        fallback=_text(content["fallback"]),
        clip=_truth(content["clip"]),
        missing=_text(content["missing"]),
    )


def _attribute_from_dict(content: Any) -> Attribute:
    content = _object(content, "an attribute")
    found = ("categories",) if "categories" in content else ("low", "high")
    _check_keys(content, "an attribute", ("name", "kind", *found), ("typical",))
    name, kind = _text(content["name"]), _text(content["kind"])
    if kind not in KINDS:
        raise ValueError(f"Attribute {_shown(name)} is of unknown kind {_shown(kind)}.")
    if "categories" in content:
        categories = tuple(_text(category) for category in _list(content["categories"]))
        if len(set(categories)) < len(categories):
            raise ValueError(f"Attribute {_shown(name)} has a category twice.")
        usual = _text(content["typical"]) if "typical" in content else None
        return Attribute(name, categories=categories, kind=kind, typical=usual)
    low, high = _unbound(content["low"], -inf), _unbound(content["high"], inf)
    if low > high:
        raise ValueError(f"Attribute {_shown(name)} ranges from {low} down to {high}.")
    typical = _number(content["typical"]) if "typical" in content else None
    return Attribute(name, low, high, kind=kind, typical=typical)


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
    if rule.votes is not None:
        content["votes"] = list(rule.votes)
    if rule.relation != "is":
        content["relation"] = rule.relation
    return content


def _rule_from_dict(content: Any) -> Rule:
    content = _object(content, "a rule")
    _check_keys(content, "a rule", ("if", "then", "weight"), _OF_RULES)
    conditions = tuple(_condition_from_dict(condition) for condition in _list(content["if"]))
    known = content.get("statistics")
    return Rule(
        conditions=conditions,
        consequent=_label(content["then"]),
        weight=_number(content["weight"]),
        origin=_word(content.get("origin", "learned")),
        source=_optional(content.get("source"), _count),
        statistics=None if known is None else _statistics_from_dict(known),
        distribution=_optional(content.get("distribution"), _numbers),
        partial_weights=_numbers(content.get("partial_weights", [])),
        votes=_optional(content.get("votes"), _numbers),
        relation=_word(content.get("relation", "is")),
    )


def _statistics_from_dict(content: Any) -> RuleStatistics:
    content = _object(content, "statistics")
    _check_keys(content, "statistics", ("support", "precision", "lift", "alone"))
    return RuleStatistics(
        support=tuple(_amount(amount) for amount in _list(content["support"])),
        precision=_optional(content["precision"], _number),
        lift=_optional(content["lift"], _number),
        alone=_amount(content["alone"]),
    )


def _condition_to_dict(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, NominalCondition):
        return {"attribute": condition.attribute, "values": sorted(condition.values)}
    assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds of conditions
    bounds = [_bound(bound) for bound in condition.trapezoid]
    return {"attribute": condition.attribute, "trapezoid": bounds}


def _condition_from_dict(content: Any) -> Condition:
    content = _object(content, "a condition")
    found = "values" if "values" in content else "trapezoid"
    _check_keys(content, "a condition", ("attribute", found))
    attribute = _text(content["attribute"])
    if "values" in content:
        return NominalCondition(attribute, frozenset(_text(v) for v in _list(content["values"])))
    bounds = _list(content["trapezoid"])
    if len(bounds) != 4:
        raise ValueError(
            f"The condition on {_shown(attribute)} must have four bounds, got {_shown(bounds)}."
        )
    opened = zip(bounds, (-inf, -inf, inf, inf), strict=True)
    return NumericCondition(attribute, *(_unbound(bound, open_end) for bound, open_end in opened))


# ---------------------------------------------------------------- values, and what may be wrong with them

_Value = TypeVar("_Value")
_PARTS = ("rules", "attributes", "classes", "class_counts", "target")
_ABOUT = ("format", "version", "about", "$schema")
_MISSING_1 = ("fails", "holds")
_LEARNED = ("origin", "source", "statistics", "distribution", "partial_weights")
_OF_RULES = (*_LEARNED, "votes", "relation")


def _check_keys(
    content: Mapping[str, Any],
    where: str,
    required: tuple[str, ...],
    optional: tuple[str, ...] = (),
) -> None:
    for key in required:
        if key not in content:
            raise ValueError(f"The saved ruleset lacks {key!r} in {where}.")
    for key in content:
        if key not in required and key not in optional:
            raise ValueError(
                f"The saved ruleset has {_shown(key)} in {where}, which is not part of the format."
            )


def _bound(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _unbound(value: Any, open_end: float) -> float:
    return open_end if value is None else _number(value)


def _optional(value: Any, read: Callable[[Any], _Value]) -> _Value | None:
    return None if value is None else read(value)


def _number(value: Any) -> float:
    # Comparisons of integers with floats are exact, so that none is too long for this.
    fits = isinstance(value, int | float) and -LARGEST_NUMBER <= value <= LARGEST_NUMBER
    if isinstance(value, bool) or not fits:
        raise _misplaced(value, "a number")
    return float(value)


def _numbers(value: Any) -> tuple[float, ...]:
    return tuple(_number(item) for item in _list(value))


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < LARGEST_COUNT:
        raise _misplaced(value, "a count")
    return value


def _amount(value: Any) -> float:
    """A count, or a sum of weights; whole numbers stay whole."""
    if isinstance(value, float) and 0.0 <= value <= LARGEST_NUMBER:
        return value
    return _count(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _misplaced(value, "true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or SURROGATE.search(value):
        raise _misplaced(value, "a text")
    return value


def _word(value: Any) -> Any:
    """A text that the ruleset itself compares with those it knows."""
    return _text(value)


def _label(value: Any) -> str | int | float | bool:
    if isinstance(value, str):
        return _text(value)
    moderate = isinstance(value, int) and -LARGEST_COUNT <= value < LARGEST_LABEL
    if not moderate and not (isinstance(value, float) and isfinite(value)):
        raise _misplaced(value, "a class label")
    return value  # type: ignore[no-any-return]


def _list(value: Any) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _misplaced(value, "a list")
    return value


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _misplaced(value, what)
    return value


def _misplaced(value: Any, wanted: str) -> ValueError:
    return ValueError(f"The saved ruleset has {_shown(value)} where {wanted} belongs.")


def _shown(value: Any) -> str:
    """A value in a few characters, whatever it is."""
    return reprlib.repr(value)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"The saved ruleset has {_shown(twice)} twice in one object.")
    return content


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"The saved ruleset has a number of {len(digits)} digits.")
    return int(digits)

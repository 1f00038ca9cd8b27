"""The JSON format of rule sets: versioned, complete, readable, and checked when it is read.

The format is published as a JSON Schema, `ruleset.schema.json` beside this file. Reading checks the
same constraints, and more than a schema can express, with one sentence about the first that is
violated: whatever a file contains, reading it ends soon, in a rule set or in a ValueError.

`About` holds the provenance of a rule set as frozen JSON values.
"""

import json
import os
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from math import inf, isfinite
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

from frri._util import depth_and_size, read_text, write_atomically
from frri.rules.condition import Condition, NominalCondition, NumericCondition
from frri.rules.rule import Rule, RuleStatistics, plain_scalar
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
# Maximum depth of nesting, and maximum number of digits of integers.
DEEPEST = 16
MOST_DIGITS = 40
SURROGATE = re.compile("[\ud800-\udfff]")


class About(Mapping[str, Any]):
    """A copy of a mapping of JSON values: frozen all the way down, hashable.

    Lists become tuples. It equals any mapping of the same values.

    Parameters
    ----------
    content : mapping
        Keys are strings; values are strings, finite numbers, booleans, None, and lists and
        mappings of these.
    depth : int
        Maximum depth of nesting.

    Examples
    --------
    >>> about = About({"learner": "FRRI", "parameters": {"work_limit": 60000}})
    >>> about["parameters"]["work_limit"]
    60000
    >>> about.edited().edited()
    About({'learner': 'FRRI', 'parameters': {'work_limit': 60000}, 'edits': 2})
    """

    __slots__ = ("_content",)

    def __init__(self, content: Mapping[str, Any], *, depth: int = DEEPEST) -> None:
        for key in content:
            if not _is_text(key):
                raise _unfit(key)
        self._content = {str(key): _freeze(value, depth) for key, value in content.items()}

    def edited(self, edits: int = 1) -> "About":
        """Return the same after some more edits, without proofs: they concerned other rules.

        Early versions listed edits by kind under "edited", or left the proof in place.

        Examples
        --------
        >>> kinds = {"removed": 1, "changed": 2}
        >>> About({"edited": kinds, "selection": {"status": "optimal"}}).edited(0)
        About({'edits': 3})
        """
        known = self.get("edits", self.get("edited"))
        counts = known.values() if isinstance(known, Mapping) else (known,)
        edits += sum(count for count in counts if isinstance(count, int) and count > 0)
        kept = {key: value for key, value in self.items() if key not in _PROOFS}
        return About(kept | {"edits": edits}) if edits else self

    def plain(self) -> dict[str, Any]:
        """Return the same in dictionaries and lists, for JSON."""
        return dict(_thaw(self))

    def __getitem__(self, key: str) -> Any:
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self.plain() == _thaw(other)

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"About({self.plain()!r})"


# What an edit invalidates, and the old name of the number of edits.
_PROOFS = {"selection", "intervals", "monotone", "frontier", "edited"}


def _freeze(value: Any, depth: int) -> Any:
    value = plain_scalar(value)
    if depth and isinstance(value, Mapping):
        return About(value, depth=depth - 1)
    if depth and isinstance(value, list | tuple):
        return tuple(_freeze(item, depth - 1) for item in value)
    if value is None or _is_text(value):
        return value
    limit = inf if isinstance(value, float) else 10**MOST_DIGITS
    if isinstance(value, int | float) and abs(value) < limit:
        return value
    raise _unfit(value)


def _unfit(value: Any) -> ValueError:
    return ValueError(
        f"The description of a ruleset has {reprlib.repr(value)} where a plain JSON value of "
        "moderate depth belongs; turn it into a text."
    )


def _thaw(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thaw(item) for key, item in value.items()}
    return [_thaw(item) for item in value] if isinstance(value, list | tuple) else value


# ---------------------------------------------------------------- files


def save(ruleset: "RuleSet", path: str | os.PathLike[str]) -> None:
    """Write a rule set to a temporary file and rename it: an earlier file survives failures."""
    write_atomically(path, to_json(ruleset) + "\n")


def load(path: str | os.PathLike[str]) -> "RuleSet":
    """Read a file written by `save`."""
    with Path(path).open("rb") as file:
        return read(file, str(path))


def read(file: IO[bytes], name: str) -> "RuleSet":
    """Read a rule set from an open file or stream; error messages begin with its name."""
    content = read_text(file, name, LARGEST_FILE)
    try:
        return from_json(content)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def to_json(ruleset: "RuleSet") -> str:
    """Return a rule set as a JSON string."""
    return json.dumps(to_dict(ruleset), indent=1, ensure_ascii=False, allow_nan=False)


def from_json(content: str) -> "RuleSet":
    """Return the rule set of a JSON string."""
    # A ruleset itself is shallower than its description may be.
    depth, size = depth_and_size(content, DEEPEST + 2)
    if depth > DEEPEST + 2 or size > MOST_PARTS:
        too_deep = depth > DEEPEST + 2
        what = "nested too deeply" if too_deep else f"made of more than {MOST_PARTS:,} parts"
        raise ValueError(f"This is not a saved ruleset: it is {what}.")
    try:
        parsed = json.loads(
            content,
            object_pairs_hook=_without_duplicates,
            parse_constant=_number,  # of a name, such as NaN: refused
            parse_int=_parse_int,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"This is not JSON: {error}.") from None
    return from_dict(parsed)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"The saved ruleset has {reprlib.repr(twice)} twice in one object.")
    return content


def _parse_int(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"The saved ruleset has a number of {len(digits)} digits.")
    return int(digits)


def schema(version: int = VERSION) -> dict[str, Any]:
    """Return the JSON Schema of a version of the format (draft 2020-12).

    Examples
    --------
    >>> schema()["$id"], schema(1)["$id"]
    ('urn:frri:ruleset:2', 'urn:frri:ruleset:1')
    """
    name = "ruleset.schema.json" if version == VERSION else f"ruleset.v{version}.schema.json"
    path = Path(__file__).with_name(name)
    return dict(json.loads(path.read_text(encoding="utf-8")))


# ---------------------------------------------------------------- writing


def to_dict(ruleset: "RuleSet") -> dict[str, Any]:
    """Return a rule set as plain JSON values.

    Open bounds become null. What a rule does not have is left out.
    """
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


def _attribute_to_dict(attribute: Attribute) -> dict[str, Any]:
    content: dict[str, Any] = {"name": attribute.name, "kind": attribute.kind}
    if attribute.categories is not None:
        content["categories"] = list(attribute.categories)
    else:
        content |= {"low": _finite(attribute.low), "high": _finite(attribute.high)}
    return content if attribute.typical is None else content | {"typical": attribute.typical}


def _rule_to_dict(rule: Rule) -> dict[str, Any]:
    content = {
        "if": [_condition_to_dict(condition) for condition in rule.conditions],
        "then": rule.consequent,
        "weight": rule.weight,
    }
    for field in fields(rule):
        value = getattr(rule, field.name)
        if field.name in _RULE and value != field.default:
            content[field.name] = _thaw(asdict(value) if field.name == "statistics" else value)
    return content


def _condition_to_dict(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, NominalCondition):
        return {"attribute": condition.attribute, "values": sorted(condition.values)}
    assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds of conditions
    bounds = [_finite(bound) for bound in condition.trapezoid]
    return {"attribute": condition.attribute, "trapezoid": bounds}


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None


# ---------------------------------------------------------------- reading values

Reader = Callable[[Any], Any]


def _reader(wanted: str, fits: Callable[[Any], bool], make: Reader = lambda value: value) -> Reader:
    """Return the function that reads one kind of value, or refuses it by what was wanted."""

    def read_value(value: Any) -> Any:
        if not fits(value):
            shown = reprlib.repr(value)
            raise ValueError(f"The saved ruleset has {shown} where {wanted} belongs.")
        return make(value)

    return read_value


def _each(reader: Reader) -> Reader:
    """Return the function that reads a list of some kind of value."""
    is_list = lambda value: isinstance(value, list | tuple)  # noqa: E731
    return _reader("a list", is_list, lambda values: tuple([reader(value) for value in values]))


def _or(default: float | None, reader: Reader) -> Reader:
    """Return the function that reads a value, or null for a default."""
    return lambda value: default if value is None else reader(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not SURROGATE.search(value)


def _is_count(value: Any, low: int = 0, high: int = LARGEST_COUNT) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value < high


def _is_number(value: Any) -> bool:
    # Comparisons of integers with floats are exact, so that none is too long for this.
    fits = isinstance(value, int | float) and -LARGEST_NUMBER <= value <= LARGEST_NUMBER
    return fits and not isinstance(value, bool)


def _is_label(value: Any) -> bool:
    whole = isinstance(value, bool) or _is_count(value, -LARGEST_COUNT, LARGEST_LABEL)
    return whole or _is_text(value) or (isinstance(value, float) and isfinite(value))


def _is_amount(value: Any) -> bool:
    return _is_number(value) and value >= 0.0 if isinstance(value, float) else _is_count(value)


_any = _reader("anything", lambda _: True)
_truth = _reader("true or false", lambda value: isinstance(value, bool))
_text, _texts = _reader("a text", _is_text), _each(_reader("a text", _is_text))
_number, _count = _reader("a number", _is_number, float), _reader("a count", _is_count)
_label, _amount = _reader("a class label", _is_label), _reader("a count", _is_amount)
_low, _high, _numbers = _or(-inf, _number), _or(inf, _number), _each(_number)
_bounds = _each(_or(None, _number))
_saved_about = _reader(
    "a description",
    lambda value: isinstance(value, Mapping),
    lambda value: About(value).edited(0),
)


# ---------------------------------------------------------------- reading objects


def from_dict(content: Mapping[str, Any]) -> "RuleSet":
    """Return the rule set that `to_dict` wrote; a ValueError names what does not fit."""
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise ValueError('This is not a saved ruleset: it lacks "format": "frri-ruleset".')
    version = content.get("version")
    if isinstance(version, bool) or version not in (1, VERSION):
        raise ValueError(
            f"This ruleset has format version {reprlib.repr(version)}, this frri reads versions 1 "
            f"and {VERSION}; install the frri that wrote it or save it again."
        )
    try:
        return _read_ruleset(_from_version_1(content) if version == 1 else content)
    except ValueError as error:
        # Names and labels are the file's, and may be of any length.
        raise ValueError(str(error)[:500]) from None


def _read_object(
    content: Any,
    where: str,
    required: Mapping[str, Reader],
    optional: Mapping[str, Reader] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the checked values of an object, which has all of some keys and may have others."""
    _reader(where.replace("the ", "a "), lambda value: isinstance(value, Mapping))(content)
    for key in required:
        if key not in content:
            raise ValueError(f"The saved ruleset lacks {key!r} in {where}.")
    readers = {**required, **optional}
    for key in content:
        if key not in readers:
            shown = reprlib.repr(key)
            raise ValueError(
                f"The saved ruleset has {shown} in {where}, which is not part of the format."
            )
    return {key: reader(content[key]) for key, reader in readers.items() if key in content}


def _read_ruleset(content: Mapping[str, Any]) -> "RuleSet":
    from frri.rules.ruleset import RuleSet  # noqa: PLC0415 - ruleset imports this module

    required = {**_PARTS, "task": _any, "semantics": _read_semantics}
    optional = {"base": _numbers, "trust": _number, **_ABOUT}
    found = _read_object(content, "the ruleset", required, optional)
    task, semantics = found.pop("task"), found["semantics"]
    if task != semantics.meaning.task:
        raise ValueError(
            f"The saved ruleset has the task {reprlib.repr(task)}, but {semantics.name!r} is "
            f"for {semantics.meaning.task}."
        )
    ruleset = RuleSet(**{key: value for key, value in found.items() if key not in _NOT_KEPT})
    known = [rule.statistics.support for rule in ruleset if rule.statistics is not None]
    if any(len(counts) != len(ruleset.classes) for counts in [content["class_counts"], *known]):
        raise ValueError("The saved ruleset must have one count per class.")
    return ruleset


def _from_version_1(content: Mapping[str, Any]) -> dict[str, Any]:
    """Convert version 1, which had classes only and the settings side by side, to version 2."""
    settings = ("t_norm", "fallback", "clip", "missing")
    required = dict.fromkeys((*_PARTS, *settings, "combination"), _any)
    _read_object(content, "the ruleset", required, _ABOUT)
    name = SHORTHANDS.get(_text(content["combination"]))
    for what, allowed in (("combination", SHORTHANDS), ("missing", ("fails", "holds"))):
        if content[what] not in allowed:
            raise ValueError(
                f"{what} must be one of {', '.join(allowed)} in version 1 of the format, "
                f"got {reprlib.repr(content[what])}."
            )
    later = {
        "attributes": ("an attribute", {"typical"}),
        "rules": ("a rule", {"votes", "relation"}),
    }
    for key, (where, added) in later.items():
        for part in _each(_any)(content[key]):
            for found in sorted(added & set(part if isinstance(part, Mapping) else ())):
                raise ValueError(
                    f"The saved ruleset has {found!r} in {where}, which version 1 of the format "
                    "does not have; give it the version 2."
                )
    kept = {key: content[key] for key in (*_PARTS, *_ABOUT) if key in content}
    chosen = {key: content[key] for key in settings}
    return kept | {"task": "classification", "semantics": {"name": name} | chosen}


def _read_semantics(content: Any) -> Semantics:
    texts = dict.fromkeys(("name", "t_norm", "fallback", "missing"), _text)
    return Semantics(**_read_object(content, "the semantics", texts | {"clip": _truth}))


def _read_attribute(content: Any) -> Attribute:
    nominal = isinstance(content, Mapping) and "categories" in content
    required = {"name": _text, "kind": _text}
    required |= {"categories": _texts} if nominal else {"low": _low, "high": _high}
    optional = {"typical": _text if nominal else _number}
    found = _read_object(content, "an attribute", required, optional)
    name, kind, categories = found["name"], found["kind"], found.get("categories", ())
    if kind not in KINDS:
        raise ValueError(f"Attribute {name!r} is of unknown kind {kind!r}.")
    if len(set(categories)) < len(categories):
        raise ValueError(f"Attribute {name!r} has a category twice.")
    if not nominal and found["low"] > found["high"]:
        raise ValueError(f"Attribute {name!r} ranges from {found['low']} down to {found['high']}.")
    return Attribute(**found)


def _read_rule(content: Any) -> Rule:
    required = {"if": _each(_read_condition), "then": _label, "weight": _number}
    found = _read_object(content, "a rule", required, _RULE)
    return Rule(found.pop("if"), found.pop("then"), **found)


def _read_statistics(content: Any) -> RuleStatistics:
    required = {"support": _each(_amount), "alone": _amount}
    required |= dict.fromkeys(("precision", "lift"), _or(None, _number))
    return RuleStatistics(**_read_object(content, "statistics", required))


def _read_condition(content: Any) -> Condition:
    nominal = isinstance(content, Mapping) and "values" in content
    required = {"attribute": _text} | ({"values": _texts} if nominal else {"trapezoid": _bounds})
    name, values = _read_object(content, "a condition", required).values()
    if nominal:
        return NominalCondition(name, frozenset(values))
    if len(values) != 4:
        raise ValueError(f"The condition on {name!r} must have four bounds, got {len(values)}.")
    ends = zip(values, (-inf, -inf, inf, inf), strict=True)
    return NumericCondition(name, *(end if value is None else value for value, end in ends))


# Readers by key: of a rule, what it need not have; of a rule set, what every version has.
_RULE: Mapping[str, Reader] = {
    "origin": _text,
    "source": _or(None, _count),
    "statistics": _or(None, _read_statistics),
    "distribution": _or(None, _numbers),
    "partial_weights": _numbers,
    "votes": _or(None, _numbers),
    "relation": _text,
}
_PARTS: Mapping[str, Reader] = {
    "rules": _each(_read_rule),
    "attributes": _each(_read_attribute),
    "classes": _each(_label),
    "class_counts": _numbers,
    "target": _text,
}
_NOT_KEPT = ("format", "version", "$schema")
_ABOUT: Mapping[str, Reader] = {"about": _saved_about, **dict.fromkeys(_NOT_KEPT, _any)}

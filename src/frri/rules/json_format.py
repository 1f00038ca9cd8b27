"""The JSON format of rule sets: versioned, complete, readable, and checked when it is read.

The format is published as a JSON Schema, `ruleset.schema.json` beside this file. Reading checks the
same constraints, and more than a schema can express, with one sentence about the first that is
violated: whatever a file contains, reading it ends soon, in a rule set or in a ValueError.
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
from typing import IO, TYPE_CHECKING, Any, NoReturn

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


def from_dict(content: Mapping[str, Any]) -> "RuleSet":
    """Return the rule set that `to_dict` wrote; a ValueError names what does not fit."""
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
    """Return the JSON Schema of a version of the format (draft 2020-12).

    Examples
    --------
    >>> schema()["$id"], schema(1)["$id"]
    ('urn:frri:ruleset:2', 'urn:frri:ruleset:1')
    """
    name = "ruleset.schema.json" if version == VERSION else f"ruleset.v{version}.schema.json"
    path = Path(__file__).with_name(name)
    return dict(json.loads(path.read_text(encoding="utf-8")))


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
            parse_int=_integer,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"This is not JSON: {error}.") from None
    return from_dict(parsed)


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


# ---------------------------------------------------------------- writing


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
    optional = {field.name: field.default for field in fields(rule) if field.name in _RULE}
    given = {name: getattr(rule, name) for name in optional}
    return content | {k: _plain(v) for k, v in given.items() if v != optional[k]}


def _condition_to_dict(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, NominalCondition):
        return {"attribute": condition.attribute, "values": sorted(condition.values)}
    assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds of conditions
    bounds = [_finite(bound) for bound in condition.trapezoid]
    return {"attribute": condition.attribute, "trapezoid": bounds}


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _plain(value: Any) -> Any:
    if isinstance(value, RuleStatistics):
        return {name: _plain(part) for name, part in asdict(value).items()}
    return list(value) if isinstance(value, tuple) else value


# ---------------------------------------------------------------- reading


def _from_version_1(content: Mapping[str, Any]) -> dict[str, Any]:
    """Convert version 1, which had classes only and the settings side by side, to version 2."""
    settings = ("t_norm", "fallback", "clip", "missing")
    required = dict.fromkeys((*_PARTS, *settings, "combination"), _keep)
    _read(content, "the ruleset", required, _ABOUT)
    name = SHORTHANDS.get(_text(content["combination"]))
    for what, allowed in (("combination", SHORTHANDS), ("missing", ("fails", "holds"))):
        if content[what] not in allowed:
            raise ValueError(
                f"{what} must be one of {', '.join(allowed)} in version 1 of the format, "
                f"got {_shown(content[what])}."
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
    kept = {key: content[key] for key in (*_PARTS, *_ABOUT) if key in content}
    chosen = {key: content[key] for key in settings}
    return kept | {"task": "classification", "semantics": {"name": name} | chosen}


def _ruleset_from_dict(content: Mapping[str, Any]) -> "RuleSet":
    from frri.rules.ruleset import RuleSet  # noqa: PLC0415 - ruleset imports this module

    required = {**_PARTS, "task": _keep, "semantics": _read_semantics}
    found = _read(content, "the ruleset", required, {"base": _numbers, "trust": _number, **_ABOUT})
    task, semantics = found.pop("task"), found["semantics"]
    if task != semantics.meaning.task:
        raise ValueError(
            f"The saved ruleset has the task {_shown(task)}, but {semantics.name!r} is "
            f"for {semantics.meaning.task}."
        )
    ruleset = RuleSet(**{key: value for key, value in found.items() if key not in _NOT_KEPT})
    known = [rule.statistics.support for rule in ruleset if rule.statistics is not None]
    if any(len(counts) != len(ruleset.classes) for counts in [content["class_counts"], *known]):
        raise ValueError("The saved ruleset must have one count per class.")
    return ruleset


def _read_semantics(content: Any) -> Semantics:
    names = ("name", "t_norm", "fallback", "missing")
    required = {"clip": _truth} | dict.fromkeys(names, _text)
    return Semantics(**_read(content, "the semantics", required))


def _read_attribute(content: Any) -> Attribute:
    nominal = "categories" in _object(content, "an attribute")
    required: dict[str, Reader] = {"name": _text, "kind": _text}
    required |= {"categories": _texts} if nominal else {"low": _low, "high": _high}
    found = _read(content, "an attribute", required, {"typical": _text if nominal else _number})
    name, kind, categories = _shown(found["name"]), found["kind"], found.get("categories", ())
    if kind not in KINDS:
        raise ValueError(f"Attribute {name} is of unknown kind {_shown(kind)}.")
    if len(set(categories)) < len(categories):
        raise ValueError(f"Attribute {name} has a category twice.")
    if not nominal and found["low"] > found["high"]:
        raise ValueError(f"Attribute {name} ranges from {found['low']} down to {found['high']}.")
    return Attribute(**found)


def _read_rule(content: Any) -> Rule:
    required = {"if": _conditions, "then": _label, "weight": _number}
    found = _read(content, "a rule", required, _RULE)
    return Rule(found.pop("if"), found.pop("then"), **found)


def _read_statistics(content: Any) -> RuleStatistics:
    amounts = {"support": _each(_amount), "alone": _amount}
    required = amounts | {"precision": _optional, "lift": _optional}
    return RuleStatistics(**_read(content, "statistics", required))


def _read_condition(content: Any) -> Condition:
    nominal = "values" in _object(content, "a condition")
    required: dict[str, Reader] = {"attribute": _text}
    required |= {"values": _texts} if nominal else {"trapezoid": _list}
    found = _read(content, "a condition", required)
    if nominal:
        return NominalCondition(found["attribute"], frozenset(found["values"]))
    bounds = found["trapezoid"]
    if len(bounds) != 4:
        where = f"The condition on {_shown(found['attribute'])}"
        raise ValueError(f"{where} must have four bounds, got {_shown(bounds)}.")
    readers = zip((_low, _low, _high, _high), bounds, strict=True)
    return NumericCondition(found["attribute"], *(read(bound) for read, bound in readers))


Reader = Callable[[Any], Any]


def _read(
    content: Any,
    where: str,
    required: Mapping[str, Reader],
    optional: Mapping[str, Reader] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the checked values of an object, which has all of some keys and may have others."""
    _object(content, where.replace("the ", "a "))
    for key in required:
        if key not in content:
            raise ValueError(f"The saved ruleset lacks {key!r} in {where}.")
    readers = {**required, **optional}
    for key in content:
        if key not in readers:
            raise ValueError(
                f"The saved ruleset has {_shown(key)} in {where}, which is not part of the format."
            )
    return {key: read(content[key]) for key, read in readers.items() if key in content}


# ---------------------------------------------------------------- values


def _each(read: Reader) -> Reader:
    """Return the reader of a list whose items another reader reads."""
    return lambda values: tuple([read(value) for value in _list(values)])


def _or(default: float | None, read: Reader) -> Reader:
    """Return a reader of values that may be null, which stands for a default."""
    return lambda value: default if value is None else read(value)


def _keep(value: Any) -> Any:
    return value


def _number(value: Any) -> float:
    # Comparisons of integers with floats are exact, so that none is too long for this.
    fits = isinstance(value, int | float) and -LARGEST_NUMBER <= value <= LARGEST_NUMBER
    return float(value) if fits and not isinstance(value, bool) else _refuse(value, "a number")


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < LARGEST_COUNT:
        _refuse(value, "a count")
    return value


def _amount(value: Any) -> float:
    """Return a count or a sum of weights; integers stay integers."""
    fits = isinstance(value, float) and 0.0 <= value <= LARGEST_NUMBER
    return value if fits else _count(value)


def _truth(value: Any) -> bool:
    return value if isinstance(value, bool) else _refuse(value, "true or false")


def _text(value: Any) -> str:
    if not isinstance(value, str) or SURROGATE.search(value):
        _refuse(value, "a text")
    return value


def _label(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    fits = isinstance(value, int) and -LARGEST_COUNT <= value < LARGEST_LABEL
    fits = fits or (isinstance(value, float) and isfinite(value))
    return value if fits else _refuse(value, "a class label")


def _list(value: Any) -> list[Any] | tuple[Any, ...]:
    return value if isinstance(value, list | tuple) else _refuse(value, "a list")


def _object(value: Any, what: str) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else _refuse(value, what)


def _refuse(value: Any, wanted: str) -> NoReturn:
    raise ValueError(f"The saved ruleset has {_shown(value)} where {wanted} belongs.")


def _shown(value: Any) -> str:
    """Return a value in a few characters, whatever it is."""
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


_numbers, _texts, _conditions = _each(_number), _each(_text), _each(_read_condition)
_low, _high, _optional = _or(-inf, _number), _or(inf, _number), _or(None, _number)

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
_ABOUT: Mapping[str, Reader] = {
    "about": lambda content: About.saved(_object(content, "a description")),
    **dict.fromkeys(_NOT_KEPT, _keep),
}


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

    _content: dict[str, Any]

    def __init__(self, content: Mapping[str, Any], *, depth: int = DEEPEST) -> None:
        self._content = {_plain_text(key): _frozen(value, depth) for key, value in content.items()}

    @classmethod
    def saved(cls, content: Mapping[str, Any]) -> "About":
        """Return the provenance in a model file of any version.

        Early versions listed edits by kind under "edited", or left the proof in place.

        Examples
        --------
        >>> edits = {"removed": 1, "changed": 2}
        >>> About.saved({"edited": edits, "selection": {"status": "optimal"}})
        About({'edits': 3})
        """
        return _with_edits(cls(content), 0)

    def edited(self) -> "About":
        """Return the same after one more edit, without proofs: they concerned other rules."""
        return _with_edits(self, 1)

    def plain(self) -> dict[str, Any]:
        """Return the same in dictionaries and lists, for JSON."""
        return dict(_thawed(self))

    def __getitem__(self, key: str) -> Any:
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self.plain() == _thawed(other)

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"About({self.plain()!r})"


def _frozen(value: Any, depth: int) -> Any:
    value = plain_scalar(value)
    if isinstance(value, str):
        return _plain_text(value)
    if value is None or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, int) and abs(value) < 10**MOST_DIGITS:
        return value
    if depth and isinstance(value, list | tuple):
        return tuple(_frozen(item, depth - 1) for item in value)
    if depth and isinstance(value, Mapping):
        return About(value, depth=depth - 1)
    raise _unfit(value)


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thawed(item) for key, item in value.items()}
    return [_thawed(item) for item in value] if isinstance(value, list | tuple) else value


def _plain_text(value: Any) -> str:
    if not isinstance(value, str) or SURROGATE.search(value):
        raise _unfit(value)
    return str(value)


def _unfit(value: Any) -> ValueError:
    return ValueError(
        f"The description of a ruleset has {reprlib.repr(value)} where a plain JSON value of "
        "moderate depth belongs; turn it into a text."
    )


# What an edit invalidates, and the old name of the number of edits.
_PROOFS = {"selection", "intervals", "monotone", "frontier", "edited"}


def _with_edits(about: About, more: int) -> About:
    """Return the same after some more edits, without proofs if there are any edits at all."""
    known = about.get("edits", about.get("edited"))
    counts = known.values() if isinstance(known, Mapping) else (known,)
    edits = more + sum(count for count in counts if isinstance(count, int) and count > 0)
    kept = {key: value for key, value in about.items() if key not in _PROOFS}
    return About(kept | {"edits": edits}) if edits else about

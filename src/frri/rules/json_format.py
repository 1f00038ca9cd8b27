"""The JSON format of rule sets: versioned, complete, readable, and checked when it is read.

The format is published as a JSON Schema, `ruleset.schema.json` beside this file. Reading checks the
same constraints, and more than a schema can express, with one sentence about the first that is
violated: whatever a file contains, reading it ends soon, in a rule set or in a ValueError.

`About` holds the provenance of a rule set as frozen JSON values.
"""

import json
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from functools import cache
from math import inf, isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from frri._util import read_text
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
# Statistics of a rule that are null where they are undefined; others are left out.
_RATIOS = ("precision", "lift")
# The ends of messages about unknown keys, by version.
_UNKNOWN = {1: "version 1 of the format does not have", 2: "is not part of the format"}


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
_PROOFS = {"selection", "intervals", "monotone", "frontier", "evaluation", "edited"}


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
        f"The description of a rule set has {reprlib.repr(value)} where a plain JSON value of "
        "moderate depth belongs; turn it into a text."
    )


def _thaw(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thaw(item) for key, item in value.items()}
    return [_thaw(item) for item in value] if isinstance(value, list | tuple) else value


# ---------------------------------------------------------------- files
def read(file: IO[bytes], name: str) -> "RuleSet":
    """Read a rule set from an open file or stream; error messages begin with its name."""
    content = read_text(file, name, LARGEST_FILE)
    try:
        return from_json(content)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def from_json(content: str) -> "RuleSet":
    """Return the rule set of a JSON string."""
    if content.count("[") + content.count("{") > MOST_PARTS:
        raise ValueError(f"This is not a saved rule set: it has more than {MOST_PARTS:,} parts.")
    try:
        parsed = json.loads(
            content,
            object_pairs_hook=_without_duplicates,
            parse_constant=lambda name: _parse(name, {"type": "number"}, VERSION),  # NaN
            parse_int=_parse_int,
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"This is not JSON: {error}.") from None
    except RecursionError:
        raise ValueError("This is not a saved rule set: it is nested too deeply.") from None
    return from_dict(parsed)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"The saved rule set has {reprlib.repr(twice)} twice in one object.")
    return content


def _parse_int(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"The saved rule set has a number of {len(digits)} digits.")
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


_schema = cache(schema)


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
        **({"costs": list(ruleset.costs)} if ruleset.costs else {}),
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
    content: dict[str, Any] = {
        "if": [_condition_to_dict(condition) for condition in rule.conditions],
        "then": rule.consequent,
        "weight": rule.weight,
    }
    for field in fields(rule)[3:]:
        value = getattr(rule, field.name)
        if value == field.default:
            continue
        if field.name == "statistics":
            pairs = asdict(value).items()
            value = {key: own for key, own in pairs if own is not None or key in _RATIOS}
        content[field.name] = _thaw(value)
    return content


def _condition_to_dict(condition: Any) -> dict[str, Any]:
    if isinstance(condition, NumericCondition):
        bounds = [_finite(bound) for bound in condition.trapezoid]
        return {"attribute": condition.attribute, "trapezoid": bounds}
    content = {"attribute": condition.attribute, "values": sorted(condition.values)}
    return content | {"excludes": True} if condition.excludes else content


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None


# ---------------------------------------------------------------- reading
def from_dict(content: Mapping[str, Any]) -> "RuleSet":
    """Return the rule set that `to_dict` wrote; a ValueError names what does not fit."""
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise ValueError('This is not a saved rule set: it lacks "format": "frri-ruleset".')
    version = content.get("version")
    if isinstance(version, bool) or version not in (1, VERSION):
        raise ValueError(
            f"This rule set has format version {reprlib.repr(version)}, this frri reads versions 1 "
            f"and {VERSION}; install the frri that wrote it or save it again."
        )
    try:
        parsed = _parse(content, _schema(version), version, "ruleset")
        return _read_ruleset(_from_version_1(parsed) if version == 1 else parsed)
    except ValueError as error:
        # Names and labels are the file's, and may be of any length.
        raise ValueError(str(error)[:500]) from None


def _parse(value: Any, form: Mapping[str, Any], version: int, name: str = "") -> Any:
    """Return a value, checked by the JSON Schema, with tuples for lists and floats for numbers.

    Types and keys are checked here; constructors check the rest.
    """
    if "$ref" in form:
        name = form["$ref"].rpartition("/")[2]
        form = _schema(version)["$defs"][name]
    if "oneOf" in form:
        form, other = form["oneOf"]
        if value is None and other["type"] == "null":
            return None
        fits_other = _is_object(value) and other.get("required", [""])[-1] in value
        return _parse(value, other if fits_other else form, version, name)
    kind = name if name in _VALUES else form.get("type", "string" if "enum" in form else "any")
    wanted, fits = _VALUES[kind]
    if not fits(value):
        wanted = wanted.replace("the ", "a ")
        raise ValueError(f"The saved rule set has {reprlib.repr(value)} where {wanted} belongs.")
    if kind == "array":
        return tuple([_parse(item, form["items"], version) for item in value])
    if "properties" not in form:
        return float(value) if kind == "number" else value
    lacking = [key for key in form.get("required", ()) if key not in value]
    if lacking:
        raise ValueError(f"The saved rule set lacks {lacking[0]!r} in {wanted}.")
    found = {}
    for key, item in value.items():
        if key not in form["properties"]:
            unknown = f"{reprlib.repr(key)} in {wanted}, which {_UNKNOWN[version]}"
            raise ValueError(f"The saved rule set has {unknown}.")
        found[key] = _parse(item, form["properties"][key], version)
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not SURROGATE.search(value)


def _is_whole(value: Any, low: int = 0, high: int = LARGEST_COUNT) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value < high


def _is_number(value: Any) -> bool:
    # Comparisons of integers with floats are exact, so that none is too long for this.
    fits = isinstance(value, int | float) and -LARGEST_NUMBER <= value <= LARGEST_NUMBER
    return fits and not isinstance(value, bool)


def _is_amount(value: Any) -> bool:
    return _is_number(value) and value >= 0.0 if isinstance(value, float) else _is_whole(value)


def _is_label(value: Any) -> bool:
    whole = isinstance(value, bool) or _is_whole(value, -LARGEST_COUNT, LARGEST_LABEL)
    return whole or _is_text(value) or (isinstance(value, float) and isfinite(value))


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


# What messages call a value, and its test, by the type or the definition in the schema.
_VALUES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "any": ("anything", lambda _: True),
    "string": ("a text", _is_text),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "number": ("a number", _is_number),
    "integer": ("a count", _is_whole),
    "amount": ("a count", _is_amount),
    "label": ("a class label", _is_label),
    "array": ("a list", lambda value: isinstance(value, list | tuple)),
    "object": ("a description", _is_object),
    "ruleset": ("the rule set", _is_object),
    "semantics": ("the semantics", _is_object),
    "attribute": ("an attribute", _is_object),
    "rule": ("a rule", _is_object),
    "condition": ("a condition", _is_object),
    "statistics": ("statistics", _is_object),
}


def _from_version_1(content: Mapping[str, Any]) -> dict[str, Any]:
    """Convert version 1, which had classes only and the settings side by side, to version 2."""
    for what in ("combination", "missing"):
        allowed = _schema(1)["properties"][what]["enum"]
        if content[what] not in allowed:
            known = ", ".join(allowed)
            raise ValueError(f"{what} must be one of {known} in version 1, got {content[what]!r}.")
    settings = {key: content[key] for key in ("t_norm", "fallback", "clip", "missing")}
    semantics = {"name": SHORTHANDS[content["combination"]], **settings}
    return {**content, "task": "classification", "semantics": semantics}


def _read_ruleset(content: Mapping[str, Any]) -> "RuleSet":
    from frri.rules.ruleset import RuleSet  # noqa: PLC0415 - ruleset imports this module

    task, semantics = content["task"], Semantics(**content["semantics"])
    if task != semantics.meaning.task:
        problem = f"{semantics.name!r} is for {semantics.meaning.task}"
        raise ValueError(f"The saved rule set has the task {task!r}, but {problem}.")
    ruleset = RuleSet(
        tuple(map(_read_rule, content["rules"])),
        tuple(map(_read_attribute, content["attributes"])),
        content["classes"],
        content["target"],
        class_counts=content["class_counts"],
        about=About(content.get("about", {})).edited(0),
        semantics=semantics,
        base=content.get("base", ()),
        trust=content.get("trust", 1.0),
        costs=content.get("costs", ()),
    )
    known = [rule.statistics.support for rule in ruleset if rule.statistics is not None]
    n_classes = len(ruleset.classes)
    sizes = {len(support) for support in known} - {n_classes or 1}
    if len(content["class_counts"]) != n_classes or sizes:
        raise ValueError("The saved rule set must have one count per class.")
    return ruleset


def _read_attribute(content: Mapping[str, Any]) -> Attribute:
    name, kind, categories = content["name"], content["kind"], content.get("categories")
    if kind not in KINDS:
        raise ValueError(f"Attribute {name!r} is of unknown kind {kind!r}.")
    if categories is not None:
        if len(set(categories)) < len(categories):
            raise ValueError(f"Attribute {name!r} has a category twice.")
        return Attribute(**content)
    low, high = _fill_open((content["low"], content["high"]), (-inf, inf))
    if low > high:
        raise ValueError(f"Attribute {name!r} ranges from {low} down to {high}.")
    return Attribute(**{**content, "low": low, "high": high})


def _read_rule(content: Mapping[str, Any]) -> Rule:
    found = {key: value for key, value in content.items() if value is not None}
    conditions = tuple(map(_read_condition, found.pop("if")))
    if "statistics" in found:
        found["statistics"] = RuleStatistics(**found["statistics"])
    return Rule(conditions, found.pop("then"), **found)


def _read_condition(content: Mapping[str, Any]) -> Condition:
    name = content["attribute"]
    if "values" in content:
        excludes = content.get("excludes", False)
        return NominalCondition(name, frozenset(content["values"]), excludes=excludes)
    bounds = content["trapezoid"]
    if len(bounds) != 4:
        raise ValueError(f"The condition on {name!r} must have four bounds, got {len(bounds)}.")
    return NumericCondition(name, *_fill_open(bounds, (-inf, -inf, inf, inf)))


def _fill_open(bounds: Iterable[float | None], ends: Iterable[float]) -> list[float]:
    """Return bounds with infinite ends in the place of null."""
    return [e if bound is None else bound for bound, e in zip(bounds, ends, strict=True)]

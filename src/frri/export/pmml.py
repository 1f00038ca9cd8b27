"""Crisp rules as PMML 4.4, an exchange format of data mining: a RuleSetModel.

The standard knows rules that hold or do not, picks the first that holds, and predicts one fixed class where
none does. Rulesets that mean exactly this are written, all others are refused with the reason:

- a list (`first`) is written as it stands, of `best` rules the heaviest come first, which is the same;
  sums of votes are left out, because programs that read PMML settle their ties in different ways;
- every condition must be crisp; ordered categories become sets, so that slopes between them do not matter;
- where no rule fires, the most frequent class must be predicted (`priors`), unless one always fires.

A missing value makes a condition unknown, and the rule does not fire: `missing="fails"`. Where conditions on
missing values hold, the predicates say so. Dates are numbers, days since 1970-01-01: programs that read PMML
differ in the types of dates that they understand, and in what they make of the time of day.
"""

import re
from collections.abc import Iterable, Sequence
from math import inf, isinf
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from frri.rules.condition import Condition, NominalCondition, NumericCondition, is_strict
from frri.rules.rule import Label, Rule
from frri.rules.ruleset import RuleSet
from frri.table import Attribute
from frri.table.categories import TRUTH, category_texts, folding

_INSTEAD = "export to SQL, Python or JavaScript instead"
# What XML cannot hold, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What needs no quotes in a list of texts.
_BARE = re.compile(r"[\w.+-]+")


def to_pmml(ruleset: RuleSet) -> str:
    """A PMML 4.4 document, for crisp rulesets with one class where no rule fires: RIPPER's, for example.

    It predicts what `ruleset.predict` predicts and names the rule that fired, counted from 1, in the
    output field `rule`. Dates are given to it as days since 1970-01-01, truth values as texts.

    Examples
    --------
    >>> from frri import Attribute
    >>> rules = RuleSet(
    ...     (Rule((NumericCondition.below("age", 30),), "no"), Rule((), "yes")),
    ...     (Attribute("age"),), ("no", "yes"), combination="first",
    ... )
    >>> document = to_pmml(rules)
    >>> print(document[document.index("<SimpleRule") : document.index("</SimpleRule>")])
    <SimpleRule id="1" score="no" confidence="1.0">
            <SimplePredicate field="age" operator="lessThan" value="30.0" />
    """
    _check(ruleset)
    root = Element("PMML", {"xmlns": "http://www.dmg.org/PMML-4_4", "version": "4.4"})
    header = SubElement(root, "Header", {"description": f"Rules for {ruleset.target}"})
    SubElement(header, "Application", {"name": "frri"})
    _data_dictionary(root, ruleset)
    model = SubElement(root, "RuleSetModel", {"functionName": "classification"})
    _mining_schema(model, ruleset)
    _output(model, ruleset)
    _rules(model, ruleset)
    _check_writable(root)
    indent(root)
    return f'<?xml version="1.0"?>\n{tostring(root, encoding="unicode")}\n'


# ---------------------------------------------------------------- what the standard can express


def _check(ruleset: RuleSet) -> None:
    """One sentence about the first thing that PMML cannot say."""
    names = [attribute.name for attribute in ruleset.attributes]
    if "" in names or not ruleset.target:
        raise ValueError("PMML needs a name for every column and for the target.")
    if ruleset.target in names:
        raise ValueError(
            f"The target and a column are both named {ruleset.target!r}, which PMML does not allow; "
            "rename one of them."
        )
    if ruleset.combination == "sum":
        raise ValueError(
            "Programs that read PMML settle ties between sums of votes in different ways, and this "
            f"ruleset adds up its rules; {_INSTEAD}."
        )
    attributes = {attribute.name: attribute for attribute in ruleset.attributes}
    for number, rule in enumerate(ruleset, start=1):
        for condition in rule.conditions:
            if not _is_crisp(condition, attributes[condition.attribute]):
                raise ValueError(
                    f"PMML knows only conditions that hold or not, and rule {number} fades on "
                    f"{condition.attribute!r}; {_INSTEAD}."
                )
    last_word = ruleset._last_word  # noqa: SLF001 - what decides where no rule fires
    if last_word != "priors" and not _always_decides(ruleset):
        raise ValueError(
            "PMML predicts one fixed class where no rule fires, and this ruleset goes by its rules "
            f"there (fallback {last_word!r}); {_INSTEAD}."
        )


def _is_crisp(condition: Condition, attribute: Attribute) -> bool:
    if isinstance(condition, NominalCondition):
        return True
    assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds of conditions
    if attribute.categories is not None:
        held = condition.membership(np.arange(len(attribute.categories)))
        return bool(np.isin(held, (0.0, 1.0)).all())
    return all(
        core == support or is_strict(core, support)
        for core, support in (
            (condition.core_low, condition.support_low),
            (condition.core_high, condition.support_high),
        )
    )


def _always_decides(ruleset: RuleSet) -> bool:
    """Whether some rule decides about every row."""
    always = [rule for rule in ruleset if not rule.conditions]
    if ruleset.combination == "best":
        return any(rule.weight > 0.0 for rule in always)
    return bool(always) and all(max(_shares(rule)) > 0.0 for rule in ruleset)


def _shares(rule: Rule) -> tuple[float, ...]:
    return rule.distribution or (1.0,)


def _check_writable(root: Element) -> None:
    for element in root.iter():
        for text in (*element.attrib.values(), element.text or ""):
            found = _UNWRITABLE.search(text)
            if found:
                raise ValueError(
                    f"XML cannot hold the character {found[0]!r} of {text!r}; rename it without."
                )


# ---------------------------------------------------------------- fields


def _data_dictionary(root: Element, ruleset: RuleSet) -> None:
    dictionary = SubElement(root, "DataDictionary")
    for attribute in ruleset.attributes:
        field = SubElement(dictionary, "DataField", {"name": attribute.name})
        if attribute.categories is None:
            field.attrib |= {"optype": "continuous", "dataType": "double"}
            if attribute.kind == "date":
                field.set("displayName", f"{attribute.name} (days since 1970-01-01)")
            continue
        field.attrib |= {"optype": "categorical", "dataType": "string"}
        if attribute.kind == "nominal" and ruleset.missing == "holds":
            continue  # some programs take a value that is not declared for a missing one
        for text in _texts(attribute, attribute.categories):
            SubElement(field, "Value", {"value": text})
    kind = _class_type(ruleset.classes)
    options = {"name": ruleset.target, "optype": "categorical", "dataType": kind}
    target = SubElement(dictionary, "DataField", options)
    for label in ruleset.classes:
        SubElement(target, "Value", {"value": _label(label)})
    if len({_label(label) for label in ruleset.classes}) < len(ruleset.classes):
        raise ValueError(
            f"PMML cannot tell the classes {ruleset.classes!r} apart; make them all texts."
        )


def _mining_schema(model: Element, ruleset: RuleSet) -> None:
    schema = SubElement(model, "MiningSchema")
    for attribute in ruleset.attributes:
        field = SubElement(schema, "MiningField", {"name": attribute.name})
        if attribute.categories is not None:
            # A category never seen fits no condition; among ordered ones it has no place at all.
            unseen = "asMissing" if attribute.kind == "ordinal" else "asIs"
            field.set("invalidValueTreatment", unseen)
        elif ruleset.clip and not (isinf(attribute.low) and isinf(attribute.high)):
            field.set("outliers", "asExtremeValues")
            for name, end in (("lowValue", attribute.low), ("highValue", attribute.high)):
                if not isinf(end):
                    field.set(name, _number(end))
    SubElement(schema, "MiningField", {"name": ruleset.target, "usageType": "target"})


def _output(model: Element, ruleset: RuleSet) -> None:
    """The prediction and the number of the rule that fired."""
    output = SubElement(model, "Output")
    known = {ruleset.target, *(attribute.name for attribute in ruleset.attributes)}
    for name, feature, kind in (
        ("prediction", "predictedValue", _class_type(ruleset.classes)),
        ("rule", "entityId", "string"),
    ):
        unique = name
        while unique in known:
            unique += "_"
        options = {"name": unique, "optype": "categorical", "dataType": kind, "feature": feature}
        SubElement(output, "OutputField", options)


def _class_type(classes: Sequence[Label]) -> str:
    kinds = {type(label) for label in classes}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int} and all(-(2**31) <= label < 2**31 for label in classes):  # type: ignore[operator]
        return "integer"
    return "double" if kinds == {float} else "string"


def _label(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _number(value: float) -> str:
    """A number that is read back to the last bit."""
    return repr(float(value))


def _texts(attribute: Attribute, values: Iterable[str]) -> list[str]:
    """Every way to write some of the categories."""
    categories, wanted = attribute.categories or (), set(values)
    texts = [text for text, category in category_texts(categories).items() if category in wanted]
    if folding(categories) is str.lower:
        words = [text for text in texts if TRUTH[text].lower() == text]
        texts += [spelled for word in words for spelled in (word.capitalize(), word.upper())]
    return texts


# ---------------------------------------------------------------- rules


def _rules(model: Element, ruleset: RuleSet) -> None:
    counts = np.array(ruleset.class_counts)
    shares = counts / counts.sum()
    default = int(shares.argmax())
    options = {
        "defaultScore": _label(ruleset.classes[default]),
        "defaultConfidence": _number(shares[default]),
    }
    rules = SubElement(model, "RuleSet", options)
    SubElement(rules, "RuleSelectionMethod", {"criterion": "firstHit"})
    attributes = {attribute.name: attribute for attribute in ruleset.attributes}
    for r in _order(ruleset):
        rule = ruleset[r]
        decided = rule.consequent
        if ruleset.combination == "first" and rule.distribution is not None:
            top = max(rule.distribution)
            decided = ruleset.classes[rule.distribution.index(top) if top > 0.0 else default]
        options = {"id": str(r + 1), "score": _label(decided), "confidence": _number(rule.weight)}
        written = SubElement(rules, "SimpleRule", options)
        predicates = [
            predicate
            for condition in rule.conditions
            for predicate in _condition(
                condition, attributes[condition.attribute], holds=ruleset.missing == "holds"
            )
        ]
        written.append(_joined("and", predicates))


def _order(ruleset: RuleSet) -> list[int]:
    """The rules in the order in which the first that fires decides."""
    if ruleset.combination == "first":
        return list(range(len(ruleset)))
    weighty = [r for r, rule in enumerate(ruleset) if rule.weight > 0.0]
    place = {label: c for c, label in enumerate(ruleset.classes)}
    return sorted(weighty, key=lambda r: (-ruleset[r].weight, place[ruleset[r].consequent]))


def _condition(condition: Condition, attribute: Attribute, *, holds: bool) -> list[Element]:
    """Predicates that are all true where a condition holds."""
    tests = _tests(condition, attribute)
    if not holds:
        return tests or [_test(attribute.name, "isNotMissing")]
    if not tests:
        return []
    return [_joined("or", [_test(attribute.name, "isMissing"), _joined("and", tests)])]


def _tests(condition: Condition, attribute: Attribute) -> list[Element]:
    """Bounds, or membership of a set; none where every value will do."""
    if isinstance(condition, NominalCondition):
        return [_is_in(attribute, condition.values & set(attribute.categories or ()))]
    assert isinstance(condition, NumericCondition)  # noqa: S101 - there are two kinds of conditions
    if attribute.categories is not None:
        held = condition.membership(np.arange(len(attribute.categories)))
        return [
            _is_in(attribute, [c for c, h in zip(attribute.categories, held, strict=True) if h])
        ]
    tests = []
    for core, support, words in (
        (condition.core_low, condition.support_low, ("greaterOrEqual", "greaterThan")),
        (condition.core_high, condition.support_high, ("lessOrEqual", "lessThan")),
    ):
        if abs(core) < inf:
            strict = core != support
            tests.append(_test(attribute.name, words[strict], _number(support)))
    return tests


def _is_in(attribute: Attribute, values: Iterable[str]) -> Element:
    texts = _texts(attribute, values)
    if len(texts) < 2 or not all(_BARE.fullmatch(text) for text in texts):
        # A list would need quotes here, which not every program reads alike.
        return _joined("or", [_test(attribute.name, "equal", text) for text in texts], "False")
    options = {"field": attribute.name, "booleanOperator": "isIn"}
    found = Element("SimpleSetPredicate", options)
    array = SubElement(found, "Array", {"type": "string", "n": str(len(texts))})
    array.text = " ".join(texts)
    return found


def _test(name: str, operator: str, value: str | None = None) -> Element:
    test = Element("SimplePredicate", {"field": name, "operator": operator})
    if value is not None:
        test.set("value", value)
    return test


def _joined(operator: str, predicates: list[Element], nothing: str = "True") -> Element:
    if len(predicates) == 1:
        return predicates[0]
    if not predicates:
        return Element(nothing)
    joined = Element("CompoundPredicate", {"booleanOperator": operator})
    joined.extend(predicates)
    return joined

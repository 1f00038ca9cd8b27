"""Rules applied to one row by the standard library alone: part of each exported Python module.

The order of operations is that of `frri.rules`, so that the decisions are the same to the last bit.
This file is copied into every exported module: it imports nothing from this package and runs with
Python 3.8. `evaluator.js` is the same in JavaScript.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from functools import reduce
from typing import Any, Mapping, Sequence  # noqa: UP035 - for Python 3.8

_DATE = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})"
    r"(?:[T ]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]{1,6}))?)?)?)?)?)?"
)
_DAY = 86400000000  # in microseconds
_WHOLE = re.compile(r"(-?[1-9][0-9]*|0)(\.0)?")
_TRUE, _FALSE = ("true", "yes", "1", "1.0"), ("false", "no", "0", "0.0", "-0.0")
_FIRST_DAY = dt.date(1970, 1, 1).toordinal()
_NAMES = {"best": "best-rule", "sum": "added-votes", "first": "first-match"}
_CLASS_RULES = tuple(_NAMES.values())
_ORDERED = ("at-least-class", "cumulative-logits")
_NUMBERS = ("weighted-mean", "added-contributions", "cumulative-logits")
_SEMANTICS = (*_CLASS_RULES, "softmax-votes", *_ORDERED, *_NUMBERS)


class Evaluator:
    """Evaluate a saved rule set for single rows.

    Parameters
    ----------
    model : dict
        Result of `RuleSet.to_dict` or content of a saved rule set. It is not checked:
        `RuleSet.load` checks models.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet(
    ...     rules=(Rule((NumericCondition.below("age", 30),), "no", 0.9),),
    ...     attributes=(Attribute("age", 20, 60),),
    ...     classes=("no", "yes"),
    ... )
    >>> evaluator = Evaluator(rules.to_dict())
    >>> evaluator.predict({"age": 25})
    'no'
    >>> evaluator.explain({"age": 25})
    {'prediction': 'no', 'rule': 1, 'score': 0.9, 'fired': [1]}
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        self.classes: list[Any] = list(model["classes"])
        self.attributes: list[Mapping[str, Any]] = list(model["attributes"])
        # In version 1 of the format the settings stand side by side.
        meaning = model.get("semantics", model)
        self._name = meaning["name"] if meaning is not model else _NAMES[model["combination"]]
        if self._name not in _SEMANTICS:
            raise ValueError(
                f"This evaluator does not know {self._name!r}; export the rules again."
            )
        self._fallback = meaning["fallback"]
        self._missing_holds = meaning["missing"] in ("similar", "holds")  # the old name
        self._join = _T_NORMS[meaning["t_norm"]]
        self._base = model.get("base", [])
        self._counts = list(model["class_counts"])
        self._shrinkage = model.get("trust", 1.0)
        self._codes = [
            {category: float(code) for code, category in enumerate(attribute.get("categories", ()))}
            for attribute in self.attributes
        ]
        self._texts = [_category_texts(codes) for codes in self._codes]
        ranges = [_range(attribute) for attribute in self.attributes]
        self._clip = ranges if meaning["clip"] else [(-math.inf, math.inf)] * len(ranges)
        self._imputed = [math.nan] * len(ranges)
        if meaning["missing"] == "typical":
            usual = [attribute.get("typical") for attribute in self.attributes]
            self._imputed = [self._encode(value, j) for j, value in enumerate(usual)]
        columns = {attribute["name"]: j for j, attribute in enumerate(self.attributes)}
        self._used = {condition["attribute"] for rule in model["rules"] for condition in rule["if"]}
        self._rules = [
            {
                "weight": rule["weight"],
                "class": 0 if self._name in _NUMBERS else self.classes.index(rule["then"]),
                "says": self._consequent(rule),
                "rising": rule.get("relation") == "at least",
                "partial": rule.get("partial_weights", ()) if rule["if"] else (),
                "outside": min(1.0 - 1.0 / rule["weight"], 0.0) if rule["weight"] > 0.0 else 0.0,
                "conditions": [
                    self._condition(condition, columns[condition["attribute"]], ranges)
                    for condition in rule["if"]
                ],
            }
            for rule in model["rules"]
        ]

    def predict(self, row: Mapping[str, Any] | Sequence[Any]) -> Any:
        """Return the predicted class or number."""
        return self.explain(row)["prediction"]

    def explain(self, row: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
        """Return prediction, deciding rule (from 1), score of its class and all fired rules.

        Where no rule fires the score is 0, and the rule is the one that the fallback uses, if any.
        Where rules are added up, no single one decides; a predicted number is its own score.
        """
        values = self.encode(row)
        degrees = self._degrees(values)
        fired = [r + 1 for r, degree in enumerate(degrees) if degree > 0.0]
        scores = self._scores(values, degrees)
        if not self.classes:
            prediction, rule, score = scores[0], self._nearest(values, degrees), scores[0]
        else:
            decided, rule, _ = self._decide(values, degrees, scores)
            prediction, score = self.classes[decided], scores[decided]
            if self._name in _CLASS_RULES and not max(scores) > 0.0:
                score = 0.0
        return {
            "prediction": prediction,
            "rule": None if rule is None else rule + 1,
            "score": score,
            "fired": fired,
        }

    def scores(self, row: Mapping[str, Any] | Sequence[Any]) -> list[float]:
        """Return the score of each class (all 0 where no rule fires), or the predicted number."""
        values = self.encode(row)
        return self._scores(values, self._degrees(values))

    def probabilities(self, row: Mapping[str, Any] | Sequence[Any]) -> list[float]:
        """Return the class probabilities, shrunk towards the priors."""
        if not self.classes:
            raise ValueError("These rules predict numbers and know no classes; use predict.")
        values = self.encode(row)
        degrees = self._degrees(values)
        decided, _, shares = self._decide(values, degrees, self._scores(values, degrees))
        shares = _normalize(shares)
        if self._shrinkage < 1.0 or self._name in _ORDERED:
            sizes = _normalize(self._counts)
            trust = self._shrinkage
            shares = [trust * s + (1.0 - trust) * n for s, n in zip(shares, sizes)]  # noqa: B905
            # Classes with a higher probability than the decided one are leveled with it.
            own = level = shares[decided]
            ahead = sorted((share for share in shares if share > own), reverse=True)
            for k in range(1, len(ahead) + 1):
                level = max(level, (own + sum(ahead[:k])) / (k + 1))
            shares = [level if c == decided else min(s, level) for c, s in enumerate(shares)]
        top = max(shares)
        if shares.index(top) != decided:  # rounding made it level with another one
            shares[decided] = top * (1.0 + 2.0**-52)
        return shares

    def degrees(self, row: Mapping[str, Any] | Sequence[Any]) -> list[float]:
        """Return the degree of each rule."""
        return self._degrees(self.encode(row))

    def encode(self, row: Mapping[str, Any] | Sequence[Any]) -> list[float]:
        """Return the values of a row as numbers: dates in days since 1970, categories by position.

        A row is a mapping from column names, of which those that rules use are read, or a sequence
        in the order of the attributes. None and NaN are missing. An unseen category is missing if
        the categories are ordered, otherwise it is -1. A missing value is imputed if the model
        imputes, otherwise NaN.
        """
        if isinstance(row, Mapping):
            names = [attribute["name"] for attribute in self.attributes]
            for name in names:
                if name in self._used and name not in row:
                    raise ValueError(f"The row has no column {name!r}.")
            row = [row[name] if name in self._used else None for name in names]
        elif len(row) != len(self.attributes):
            raise ValueError(f"Expected {len(self.attributes)} values, got {len(row)}.")
        values = [self._encode(value, j) for j, value in enumerate(row)]
        pairs = zip(values, self._imputed)  # noqa: B905
        return [imputed if math.isnan(x) else x for x, imputed in pairs]

    def _encode(self, value: Any, column: int) -> float:
        attribute = self.attributes[column]
        if value is None or (value != value) is not False:  # noqa: PLR0124 - NaN
            return math.nan
        if attribute["kind"] == "date":
            number = _days(value, attribute["name"])
        elif "categories" in attribute:
            texts, truth = self._texts[column]
            code = texts.get(str(value).lower() if truth else str(value))
            if code is None and attribute["kind"] == "ordinal":
                return math.nan  # it has no place in the order
            number = -1.0 if code is None else code
        else:
            try:
                number = float(_read_boolean(value, attribute))
            except (TypeError, ValueError):
                raise ValueError(
                    f"Column {attribute['name']!r} holds {value!r}, which is not a number."
                ) from None
        low, high = self._clip[column]
        return min(max(number, low), high) if number == number else math.nan  # noqa: PLR0124

    def _condition(
        self, condition: Mapping[str, Any], column: int, ranges: list[tuple[float, float]]
    ) -> tuple[Any, ...]:
        """Return column, allowed codes (None for a trapezoid), trapezoid and slopes."""
        if "values" in condition:
            codes = self._codes[column]
            return column, {codes[value] for value in condition["values"] if value in codes}
        opened = (-math.inf, -math.inf, math.inf, math.inf)
        support_low, core_low, core_high, support_high = (
            end if bound is None else bound
            for bound, end in zip(condition["trapezoid"], opened)  # noqa: B905
        )
        low, high = ranges[column]
        width = high - low if 0.0 < high - low < math.inf else 1.0
        slopes = _slope(core_low, support_low, width), _slope(core_high, support_high, width)
        return (column, None, support_low, core_low, core_high, support_high, *slopes)

    def _unclipped(self, rule: Mapping[str, Any], values: list[float]) -> list[float]:
        """Return per condition 1 in the core, falling outside, negative beyond the support."""
        return [
            self._unclipped_one(c, values[c[0]], rule["outside"]) for c in rule["conditions"]
        ] or [1.0]

    def _unclipped_one(self, condition: tuple[Any, ...], x: float, outside: float) -> float:
        if x != x:  # noqa: PLR0124 - NaN
            return 1.0 if self._missing_holds else outside
        if condition[1] is not None:
            return 1.0 if x in condition[1] else outside
        _, _, support_low, core_low, core_high, support_high, slope_low, slope_high = condition
        if x < core_low:
            return float((x - support_low) / slope_low)
        if x > core_high:
            return float((support_high - x) / slope_high)
        return 1.0

    def _memberships(self, rule: Mapping[str, Any], values: list[float]) -> list[float]:
        return [max(value, 0.0) for value in self._unclipped(rule, values)]

    def _degrees(self, values: list[float]) -> list[float]:
        return [reduce(self._join, self._memberships(rule, values)) for rule in self._rules]

    def _consequent(self, rule: Mapping[str, Any]) -> list[float]:
        """Return votes or probabilities of all classes, 1 for its own by default; or the number."""
        if self._name in _NUMBERS:
            return [rule["then"]]
        given = rule.get("votes" if self._name == "softmax-votes" else "distribution")
        own = self.classes.index(rule["then"])
        return given or [float(c == own) for c in range(len(self.classes))]

    def _scores(self, values: list[float], degrees: list[float]) -> list[float]:
        counted = self._votes(degrees)
        if self._name in _ORDERED:
            bounds = self._name == "at-least-class"
            return self._at_least(values, counted) if bounds else self._logistic(counted)
        if self._name == "weighted-mean":
            total = _add(0.0, counted)
            if total > 0.0:
                return [_add(0.0, self._weighted(counted, 0)) / total]
            nearest = self._nearest(values, degrees)
            return list(self._base if nearest is None else self._rules[nearest]["says"])
        if self._base:
            return [_add(base, self._weighted(counted, c)) for c, base in enumerate(self._base)]
        scores = [0.0] * len(self.classes)
        for rule, degree, count in zip(self._rules, degrees, counted):  # noqa: B905
            c = rule["class"]
            if self._name == "best-rule":
                scores[c] = max(scores[c], count)
            elif self._name == "added-votes":
                scores[c] += count
            elif degree > 0.0:
                return list(rule["says"])
        return scores

    def _votes(self, degrees: list[float]) -> list[float]:
        """Return weight times degree of each rule."""
        return [rule["weight"] * d for rule, d in zip(self._rules, degrees)]  # noqa: B905

    def _weighted(self, counted: list[float], c: int) -> list[float]:
        return [count * rule["says"][c] for rule, count in zip(self._rules, counted)]  # noqa: B905

    def _at_least(self, values: list[float], counted: list[float]) -> list[float]:
        """Return for each class the fraction of the votes for "at least this class"."""
        n = len(self.classes)
        pro, contra = self._sides(counted, 0.0)
        lowest = sum(value > 0.0 for value in pro[1:])
        highest = n - 1 - sum(value > 0.0 for value in contra)
        before = [0.0]
        for count in self._counts:
            before.append(before[-1] + count)
        if not before[max(lowest, highest) + 1] - before[lowest] > 0.0:
            before = [float(c) for c in range(n + 1)]
        votes = self._fallback_votes(values) or [-math.inf] * len(self._rules)
        near, opposed = self._sides(votes, -math.inf)
        # Thresholds without a vote are decided by the nearest rules, or by the priors.
        for t in range(lowest + 1, highest + 1):
            if max(near[t], opposed[t]) > -math.inf:
                pro[t], contra[t] = max(-opposed[t], 0.0), max(-near[t], 0.0)
            else:
                pro[t] = before[highest + 1] - before[t]
                contra[t] = before[t] - before[lowest]
        pairs = zip(pro, contra)  # noqa: B905
        shares = [1.0 / (1.0 + c / p) if p > 0.0 else 0.0 for p, c in pairs]
        return [1.0, *shares[1:]]

    def _logistic(self, counted: list[float]) -> list[float]:
        """Return the logistic functions of one sum with a base for each class but the first."""
        total = _add(0.0, self._weighted(counted, 0))
        odds = [min(-(total + base), 700.0) for base in self._base]
        shares = [1.0 / (1.0 + math.exp(value)) for value in odds]
        # Above one half exactly where the sum is positive: the sign decides, not the bits of exp.
        half, more = 0.5, 0.5 + 2.0**-53
        pairs = zip(odds, shares)  # noqa: B905
        return [1.0, *(max(s, more) if value < 0.0 else min(s, half) for value, s in pairs)]

    def _sides(self, votes: list[float], nothing: float) -> tuple[list[float], list[float]]:
        """Return the largest vote for "at least" each class, and the largest against it."""
        n = len(self.classes)
        pro, contra = [nothing] * n, [nothing] * n
        for rule, vote in zip(self._rules, votes):  # noqa: B905
            for t in range(n):
                if rule["rising"] and rule["class"] >= t:
                    pro[t] = max(pro[t], vote)
                if not rule["rising"] and rule["class"] < t:
                    contra[t] = max(contra[t], vote)
        return pro, contra

    def _decide(
        self, values: list[float], degrees: list[float], scores: list[float]
    ) -> tuple[int, int | None, list[float]]:
        """Return class, deciding rule and unscaled probabilities."""
        if self._name in _ORDERED:
            decided = sum(score > 0.5 for score in scores[1:])
            after = [*scores[1:], 0.0]
            return decided, None, [a - b for a, b in zip(scores, after)]  # noqa: B905
        if self._name == "softmax-votes":
            return scores.index(max(scores)), None, _exponentials(scores)
        if max(scores) > 0.0:
            decided = scores.index(max(scores))
            if self._name == "first-match":
                return decided, next(r for r, d in enumerate(degrees) if d > 0.0), scores
            return decided, self._strongest(decided, self._votes(degrees)), scores
        votes = self._fallback_votes(values)
        shares = self._counts if votes is None else self._best(votes)
        decided = shares.index(max(shares))
        if votes is not None and self._fallback == "nearest":
            shares = _exponentials(shares)
        return decided, None if votes is None else self._strongest(decided, votes), list(shares)

    def _nearest(self, values: list[float], degrees: list[float]) -> int | None:
        """Return the rule that predicts a number where none fires."""
        if max(self._votes(degrees), default=0.0) > 0.0 or self._fallback != "nearest":
            return None
        votes = self._fallback_votes(values)
        return None if votes is None else votes.index(max(votes))

    def _fallback_votes(self, values: list[float]) -> list[float] | None:
        """Return the vote of each rule where none fires; None where the priors decide."""
        if self._fallback in ("priors", "base") or not self._rules:
            return None
        if self._fallback == "nearest":
            near = [self._nearness(rule, values) for rule in self._rules]
            return near if any(rule["weight"] > 0.0 for rule in self._rules) else None
        part = self._prefix_degree if self._fallback == "stretched" else self._subset_weight
        votes = [part(rule, self._memberships(rule, values)) for rule in self._rules]
        return votes if max(votes) > 0.0 else None

    def _nearness(self, rule: Mapping[str, Any], values: list[float]) -> float:
        """Return weight times the lowest value; a rule without weight is never near."""
        weight = float(rule["weight"])
        return weight * min(self._unclipped(rule, values)) if weight > 0.0 else -math.inf

    def _prefix_degree(self, rule: Mapping[str, Any], memberships: list[float]) -> float:
        """Return the degree of the longest prefix of a rule that holds, times its weight."""
        kept = next((k for k, m in enumerate(memberships) if not m > 0.0), len(memberships))
        if kept == 0 or kept >= len(rule["partial"]):
            return 0.0
        return float(reduce(self._join, memberships[:kept]) * rule["partial"][kept])

    def _subset_weight(self, rule: Mapping[str, Any], memberships: list[float]) -> float:
        """Return the weight of the subset of conditions that hold; 0 where none does."""
        subset = sum(1 << k for k, m in enumerate(memberships) if m > 0.0)
        return float(rule["partial"][subset]) if 0 < subset < len(rule["partial"]) else 0.0

    def _best(self, votes: list[float]) -> list[float]:
        """Return the best vote of each class; one without rules is never chosen."""
        best = [-math.inf if self._fallback == "nearest" else 0.0] * len(self.classes)
        for rule, vote in zip(self._rules, votes):  # noqa: B905
            best[rule["class"]] = max(best[rule["class"]], vote)
        return best

    def _strongest(self, decided: int, votes: list[float]) -> int | None:
        own = [r for r, rule in enumerate(self._rules) if rule["class"] == decided]
        return max(own, key=lambda r: votes[r]) if own else None


def _add(start: float, numbers: list[float]) -> float:
    """Add from left to right: `sum` rounds differently in newer versions of Python."""
    return reduce(lambda total, number: total + number, numbers, start)


def _normalize(amounts: list[float]) -> list[float]:
    total = sum(amounts)
    return [amount / total for amount in amounts]


def _exponentials(values: list[float]) -> list[float]:
    """Return exponentials relative to the largest value, which may be infinite."""
    top = max(values)
    return [1.0 if value == top else math.exp(value - top) for value in values]


def _minimum(a: float, b: float) -> float:
    return min(a, b)


def _product(a: float, b: float) -> float:
    return a * b


def _lukasiewicz(a: float, b: float) -> float:
    return max(min(a, b) - (1.0 - max(a, b)), 0.0)


def _hamacher(a: float, b: float) -> float:
    smaller, larger = min(a, b), max(a, b)
    return smaller * (larger / (larger + smaller * (1.0 - larger))) if larger > 0.0 else 0.0


def _drastic(a: float, b: float) -> float:
    return min(a, b) if max(a, b) == 1.0 else 0.0


def _nilpotent_minimum(a: float, b: float) -> float:
    return min(a, b) if min(a, b) > 1.0 - max(a, b) else 0.0


_T_NORMS = {
    "minimum": _minimum,
    "product": _product,
    "lukasiewicz": _lukasiewicz,
    "hamacher": _hamacher,
    "drastic": _drastic,
    "nilpotent_minimum": _nilpotent_minimum,
}


def _range(attribute: Mapping[str, Any]) -> tuple[float, float]:
    """Return the training range; infinite where there is none."""
    if "categories" in attribute:
        ordered = attribute["kind"] == "ordinal" and attribute["categories"]
        return (0.0, len(attribute["categories"]) - 1.0) if ordered else (-math.inf, math.inf)
    low, high = attribute["low"], attribute["high"]
    return -math.inf if low is None else low, math.inf if high is None else high


def _read_boolean(value: Any, attribute: Mapping[str, Any]) -> Any:
    """Return 1 and 0 for words of booleans, where numbers lie from 0 to 1; others unchanged."""
    word = value.strip().lower() if isinstance(value, str) and _range(attribute) == (0, 1) else ""
    if not word.isalpha():
        return value
    return 1 if word in _TRUE else 0 if word in _FALSE else value


def _category_texts(codes: Mapping[str, float]) -> tuple[dict[str, float], bool]:
    """Return the codes of strings, and whether these are booleans: then in lower case."""
    texts, truth = dict(codes), {}
    for name, words, letter in (("True", _TRUE, "t"), ("False", _FALSE, "f")):
        said = [c for c in codes if c.lower() in (*words, letter)]
        if len(said) == 1:
            truth[name] = said[0], words
    if len(truth) == len(codes):
        texts = {category.lower(): code for category, code in codes.items()}
        texts.update((text, codes[own]) for own, words in truth.values() for text in words)
        return texts, True
    for category, code in codes.items():
        number = _WHOLE.fullmatch(category)
        if number:
            whole = number.group(1)
            for text in (whole, f"{whole}.0", *(["-0.0"] if whole == "0" else [])):
                texts.setdefault(text, code)
    for name, (own, _) in truth.items():
        texts.setdefault(name, codes[own])
    return texts, False


def _slope(core: float, support: float, width: float) -> float:
    """Return the width of a slope, of a side without slope the range of the attribute."""
    if math.isinf(core) or math.isinf(support):
        return width
    middle = core + (support - core) / 2.0
    return width if middle in (core, support) else abs(core - support)


def _days(value: Any, name: str) -> float:
    """Return days since 1970-01-01 of a date, a datetime, an ISO string, or a number of days."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.timezone.utc).replace(tzinfo=None)  # noqa: UP017
    if isinstance(value, dt.date):
        value = value.isoformat()
    if isinstance(value, (int, float)):
        return float(value)
    if value in ("", "NaT"):
        return math.nan
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"Column {name!r} holds {value!r}, which is not a date.")
    year, month, day, hour, minute, second = (
        int(part or default)
        for part, default in zip(found.groups(), (0, 1, 1, 0, 0, 0))  # noqa: B905
    )
    try:
        days = dt.date(year, month, day).toordinal() - _FIRST_DAY
        dt.time(hour, minute, second)
    except ValueError as error:
        raise ValueError(f"Column {name!r} holds {value!r}: {error}.") from None
    seconds = (hour * 60 + minute) * 60 + second
    micros = days * _DAY + seconds * 1000000 + int((found.group(7) or "").ljust(6, "0"))
    return float(micros) / _DAY

"""Rules applied to one row by the standard library alone: part of each exported Python module.

The order of operations is that of `frri.rules`, so that the decisions are the same to the last bit.
This file is copied into every exported module: it imports nothing from this package and runs with
Python 3.8. `evaluator.js` is the same in JavaScript, for saved rule sets.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import reduce
from math import exp, inf, isnan, nan
from typing import Any, Callable, Mapping, Sequence  # noqa: UP035 - for Python 3.8

_DATE = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})"
    r"(?:[T ]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]{1,6}))?)?)?)?)?)?"
)
_UTC = dt.timezone.utc  # noqa: UP017 - for Python 3.8
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=_UTC)
_FLAGS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_CLASS_RULES = ("best-rule", "added-votes", "first-match")
_ORDERED = ("at-least-class", "cumulative-logits")
_SEMANTICS = (*_CLASS_RULES, *_ORDERED, "softmax-votes", "weighted-mean", "added-contributions")


class Evaluator:
    """Evaluate rules for single rows.

    Parameters
    ----------
    model : dict
        Result of `frri.export.modules.evaluator_model`.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> from frri.export.modules import evaluator_model
    >>> rules = RuleSet(
    ...     rules=(Rule((NumericCondition.below("age", 30),), "no", 0.9),),
    ...     attributes=(Attribute("age", 20, 60),),
    ...     classes=("no", "yes"),
    ... )
    >>> evaluator = Evaluator(evaluator_model(rules))
    >>> evaluator.predict({"age": 25})
    'no'
    >>> evaluator.explain({"age": 25})
    {'prediction': 'no', 'rule': 1, 'score': 0.9, 'fired': [1]}
    """

    def __init__(self, model: Mapping[str, Any]) -> None:
        self._name: str = model["semantics"]
        if self._name not in _SEMANTICS:
            raise ValueError(
                f"This evaluator does not know {self._name!r}; export the rules again."
            )
        self._classes: list[Any] = model["classes"]
        self._priors: list[float] = model["priors"]
        self._costs: list[float] = model["costs"]
        self._base: list[float] = model["base"]
        self._shrinkage: float = model["trust"]
        self._fallback: str = model["fallback"]
        self._missing_holds: bool = model["missing_holds"]
        self._join = _T_NORMS[model["t_norm"]]
        self._attributes: list[Mapping[str, Any]] = model["attributes"]
        self._rules: list[Mapping[str, Any]] = model["rules"]

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
        scores = self._scores(values, degrees)
        decided, rule, _ = self._decide(values, degrees, scores)
        return {
            "prediction": self._classes[decided] if self._classes else scores[0],
            "rule": None if rule is None else rule + 1,
            "score": scores[decided],
            "fired": [r + 1 for r, degree in enumerate(degrees) if degree > 0.0],
        }

    def scores(self, row: Mapping[str, Any] | Sequence[Any]) -> list[float]:
        """Return the score of each class (all 0 where no rule fires), or the predicted number."""
        values = self.encode(row)
        return self._scores(values, self._degrees(values))

    def probabilities(self, row: Mapping[str, Any] | Sequence[Any]) -> list[float]:
        """Return the class probabilities, shrunk towards the priors."""
        if not self._classes:
            raise ValueError("These rules predict numbers and know no classes; use predict.")
        values = self.encode(row)
        degrees = self._degrees(values)
        decided, _, shares = self._decide(values, degrees, self._scores(values, degrees))
        shares = _normalize(shares)
        if self._shrinkage < 1.0 or self._name in _ORDERED:
            sizes = _normalize(self._priors)
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
            for attribute in self._attributes:
                if attribute["used"] and attribute["name"] not in row:
                    raise ValueError(f"The row has no column {attribute['name']!r}.")
            row = [row[a["name"]] if a["used"] else None for a in self._attributes]
        elif len(row) != len(self._attributes):
            raise ValueError(f"Expected {len(self._attributes)} values, got {len(row)}.")
        return [_encode(value, a) for value, a in zip(row, self._attributes)]  # noqa: B905

    # ---------------------------------------------------------------- degrees

    def _uncut(self, rule: Mapping[str, Any], values: list[float]) -> list[float]:
        """Return per condition 1 in the core, falling outside, negative beyond the support."""
        found = []
        for column, *shape in rule["conditions"]:
            x = values[column]
            if isnan(x):
                found.append(1.0 if self._missing_holds else rule["outside"])
            elif len(shape) == 1:
                found.append(1.0 if x in shape[0] else rule["outside"])
            else:
                support_low, core_low, core_high, support_high, slope_low, slope_high = shape
                low = (x - support_low) / slope_low if x < core_low else 1.0
                high = (support_high - x) / slope_high if x > core_high else 1.0
                found.append(min(low, high))
        return found or [1.0]

    def _memberships(self, rule: Mapping[str, Any], values: list[float]) -> list[float]:
        return [max(value, 0.0) for value in self._uncut(rule, values)]

    def _degrees(self, values: list[float]) -> list[float]:
        return [reduce(self._join, self._memberships(rule, values)) for rule in self._rules]

    # ---------------------------------------------------------------- scores

    def _scores(self, values: list[float], degrees: list[float]) -> list[float]:
        votes = self._votes(degrees)
        if self._name == "at-least-class":
            return self._at_least(values, votes)
        if self._name == "cumulative-logits":
            return self._logistic(_add(0.0, self._weighted(votes, 0)))
        if self._name == "weighted-mean":
            total = _add(0.0, votes)
            if total > 0.0:
                return [_add(0.0, self._weighted(votes, 0)) / total]
            near = self._fallback_votes(values)
            return self._base if near is None else self._rules[near.index(max(near))]["says"]
        if self._base:
            return [_add(base, self._weighted(votes, c)) for c, base in enumerate(self._base)]
        return self._times_costs(self._class_scores(degrees, votes))

    def _class_scores(self, degrees: list[float], votes: list[float]) -> list[float]:
        if self._name == "best-rule":
            return self._best(votes, 0.0)
        scores = [0.0] * len(self._classes)
        for rule, degree, vote in zip(self._rules, degrees, votes):  # noqa: B905
            if self._name == "added-votes":
                scores[rule["class"]] += vote
            elif degree > 0.0:
                return list(rule["says"])
        return scores

    def _times_costs(self, scores: list[float]) -> list[float]:
        return [score * cost for score, cost in zip(scores, self._costs)]  # noqa: B905

    def _votes(self, degrees: list[float]) -> list[float]:
        """Return weight times degree of each rule."""
        return [rule["weight"] * d for rule, d in zip(self._rules, degrees)]  # noqa: B905

    def _weighted(self, votes: list[float], c: int) -> list[float]:
        return [vote * rule["says"][c] for rule, vote in zip(self._rules, votes)]  # noqa: B905

    def _best(self, votes: list[float], nothing: float) -> list[float]:
        """Return the largest vote of each class."""
        best = [nothing] * len(self._classes)
        for rule, vote in zip(self._rules, votes):  # noqa: B905
            best[rule["class"]] = max(best[rule["class"]], vote)
        return best

    def _at_least(self, values: list[float], votes: list[float]) -> list[float]:
        """Return for each class the fraction of the votes for "at least this class"."""
        n = len(self._classes)
        pro, contra = self._sides(votes, 0.0)
        lowest = sum(value > 0.0 for value in pro[1:])
        highest = n - 1 - sum(value > 0.0 for value in contra)
        before = [0.0]
        for size in self._priors:
            before.append(before[-1] + size)
        if not before[max(lowest, highest) + 1] - before[lowest] > 0.0:
            before = [float(c) for c in range(n + 1)]
        near, opposed = self._sides(self._fallback_votes(values) or [-inf] * len(votes), -inf)
        # Thresholds without a vote are decided by the nearest rules, or by the priors.
        for t in range(lowest + 1, highest + 1):
            if max(near[t], opposed[t]) > -inf:
                pro[t], contra[t] = max(-opposed[t], 0.0), max(-near[t], 0.0)
            else:
                pro[t] = before[highest + 1] - before[t]
                contra[t] = before[t] - before[lowest]
        pairs = zip(pro, contra)  # noqa: B905
        shares = [1.0 / (1.0 + c / p) if p > 0.0 else 0.0 for p, c in pairs]
        return [1.0, *shares[1:]]

    def _sides(self, votes: list[float], nothing: float) -> tuple[list[float], list[float]]:
        """Return the largest vote for "at least" each class, and the largest against it."""
        n = len(self._classes)
        pro, contra = [nothing] * n, [nothing] * n
        for rule, vote in zip(self._rules, votes):  # noqa: B905
            for t in range(n):
                if rule["rising"] and rule["class"] >= t:
                    pro[t] = max(pro[t], vote)
                if not rule["rising"] and rule["class"] < t:
                    contra[t] = max(contra[t], vote)
        return pro, contra

    def _logistic(self, total: float) -> list[float]:
        """Return the logistic functions of one sum with a base for each class but the first."""
        scores = [1.0]
        for base in self._base:
            odds = min(-(total + base), 700.0)
            share = 1.0 / (1.0 + exp(odds))
            # Above one half exactly where the sum is positive: the sign decides, not exp's bits.
            scores.append(max(share, 0.5 + 2.0**-53) if odds < 0.0 else min(share, 0.5))
        return scores

    # ---------------------------------------------------------------- decisions

    def _decide(
        self, values: list[float], degrees: list[float], scores: list[float]
    ) -> tuple[int, int | None, list[float]]:
        """Return class (0 for a number), deciding rule and unscaled probabilities."""
        if self._name in _ORDERED:
            after = [*scores[1:], 0.0]
            steps = [a - b for a, b in zip(scores, after)]  # noqa: B905
            return sum(score > 0.5 for score in scores[1:]), None, steps
        decided, votes = scores.index(max(scores)), self._votes(degrees)
        if self._name == "softmax-votes":
            return decided, None, _exponentials(scores)
        if not self._classes:
            near = None if max(votes, default=0.0) > 0.0 else self._fallback_votes(values)
            return 0, None if near is None else near.index(max(near)), scores
        if max(scores) > 0.0:
            if self._name == "first-match":
                return decided, next(r for r, d in enumerate(degrees) if d > 0.0), scores
            return decided, self._strongest(decided, votes), scores
        return self._decide_uncovered(values)

    def _decide_uncovered(self, values: list[float]) -> tuple[int, int | None, list[float]]:
        near = self._fallback_votes(values)
        if near is None:
            return self._priors.index(max(self._priors)), None, self._priors
        if self._fallback == "nearest":
            best = self._best(near, -inf)
            shares = _exponentials(best)
        else:
            best = shares = self._times_costs(self._best(near, 0.0))
        decided = best.index(max(best))
        return decided, self._strongest(decided, near), shares

    def _strongest(self, decided: int, votes: list[float]) -> int | None:
        own = [r for r, rule in enumerate(self._rules) if rule["class"] == decided]
        return max(own, key=lambda r: votes[r]) if own else None

    def _fallback_votes(self, values: list[float]) -> list[float] | None:
        """Return the vote of each rule where none fires; None where the priors or base decide."""
        if self._fallback in ("priors", "base"):
            return None
        if self._fallback == "nearest":
            return [self._nearness(rule, values) for rule in self._rules]
        part = self._prefix_degree if self._fallback == "stretched" else _subset_weight
        votes = [part(rule, self._memberships(rule, values)) for rule in self._rules]
        return votes if max(votes) > 0.0 else None

    def _nearness(self, rule: Mapping[str, Any], values: list[float]) -> float:
        """Return weight times the lowest value; a rule without weight is never near."""
        weight = float(rule["weight"])
        return weight * min(self._uncut(rule, values)) if weight > 0.0 else -inf

    def _prefix_degree(self, rule: Mapping[str, Any], memberships: list[float]) -> float:
        """Return the degree of the longest prefix of a rule that holds, times its weight."""
        kept = next((k for k, m in enumerate(memberships) if not m > 0.0), len(memberships))
        if kept == 0 or kept >= len(rule["partial"]):
            return 0.0
        return float(reduce(self._join, memberships[:kept]) * rule["partial"][kept])


def _subset_weight(rule: Mapping[str, Any], memberships: list[float]) -> float:
    """Return the weight of the subset of conditions that hold; 0 where none does."""
    subset = sum(1 << k for k, m in enumerate(memberships) if m > 0.0)
    return float(rule["partial"][subset]) if 0 < subset < len(rule["partial"]) else 0.0


def _add(start: float, numbers: list[float]) -> float:
    """Add from left to right: `sum` rounds differently in newer versions of Python."""
    return reduce(lambda total, number: total + number, numbers, start)


def _normalize(amounts: list[float]) -> list[float]:
    total = sum(amounts)
    return [amount / total for amount in amounts]


def _exponentials(values: list[float]) -> list[float]:
    """Return exponentials relative to the largest value, which may be infinite."""
    top = max(values)
    return [1.0 if value == top else exp(value - top) for value in values]


def _lukasiewicz(a: float, b: float) -> float:
    return max(min(a, b) - (1.0 - max(a, b)), 0.0)


def _hamacher(a: float, b: float) -> float:
    smaller, larger = min(a, b), max(a, b)
    return smaller * (larger / (larger + smaller * (1.0 - larger))) if larger > 0.0 else 0.0


_T_NORMS: dict[str, Callable[[float, float], float]] = {
    "minimum": min,
    "product": lambda a, b: a * b,
    "lukasiewicz": _lukasiewicz,
    "hamacher": _hamacher,
    "drastic": lambda a, b: min(a, b) if max(a, b) == 1.0 else 0.0,
    "nilpotent_minimum": lambda a, b: min(a, b) if min(a, b) > 1.0 - max(a, b) else 0.0,
}


def _encode(value: Any, attribute: Mapping[str, Any]) -> float:
    """Return a value as a number within the range, NaN where it is missing."""
    number = nan
    # NaN of any library differs from itself; the comparison may give a boolean of numpy or pandas.
    if value is not None and str(value != value) == "False":  # noqa: PLR0124
        if attribute["kind"] == "date":
            number = _days(value, attribute["name"])
        elif attribute["codes"] is not None:
            text = str(value).lower() if attribute["lower"] else str(value)
            # An unseen category has no place in an order.
            number = attribute["codes"].get(text, nan if attribute["kind"] == "ordinal" else -1.0)
        else:
            number = _number(value, attribute)
    if isnan(number):
        return float(attribute["imputed"])
    return float(min(max(number, attribute["low"]), attribute["high"]))


def _number(value: Any, attribute: Mapping[str, Any]) -> float:
    """Return a number; words of booleans are 1 and 0 where training had these."""
    if isinstance(value, str) and attribute["is_flag"]:
        value = _FLAGS.get(value.strip().lower(), value)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"Column {attribute['name']!r} holds {value!r}, which is not a number."
        ) from None


def _days(value: Any, name: str) -> float:
    """Return days since 1970-01-01 of a date, a datetime, an ISO string, or a number of days."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(_UTC).replace(tzinfo=None)
    if isinstance(value, dt.date):
        value = value.isoformat()
    if isinstance(value, (int, float)):
        return float(value)
    if value in ("", "NaT"):
        return nan
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"Column {name!r} holds {value!r}, which is not a date.")
    parts = zip(found.groups(), (0, 1, 1, 0, 0, 0, 0))  # noqa: B905
    year, month, day, hour, minute, second, _ = (int(part or default) for part, default in parts)
    micros = int((found.group(7) or "").ljust(6, "0"))
    try:
        moment = dt.datetime(year, month, day, hour, minute, second, micros, _UTC)
    except ValueError as error:
        raise ValueError(f"Column {name!r} holds {value!r}: {error}.") from None
    return float((moment - _EPOCH) // dt.timedelta(microseconds=1)) / 86400e6

"""Everything that the page shows, as plain JSON values: a model and its behavior on a table.

Columns of numbers are short strings that the page decodes exactly. Such a column is a dict: `type`
of the numbers in `data` (base64, little-endian). With `values` they are positions in that list,
where null stands for NaN. With `places` they are integers, to be added to `least` and divided by
that power of ten.
"""

import base64
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frri import __version__
from frri._util import Floats, Positions
from frri.explain.explanation import FALLBACKS
from frri.rules import Rule, RuleSet, RuleStatistics, measures
from frri.rules.contributions import permutation_importance
from frri.rules.inference import Decision
from frri.rules.json_format import About
from frri.rules.rule import as_labels
from frri.rules.rule_statistics import class_positions, is_training_table
from frri.rules.semantics import COUNTABLE
from frri.rules.text import condition_texts
from frri.table import Attribute, EncodedTable, to_matrix
from frri.table.columns import column_names, plain_table, read_records
from frri.table.targets import check_quantities

# Rows embedded in a page, at most, and the characters of all facts together.
MAX_ROWS = 5_000
MAX_CHARACTERS = 1_550_000
# Rows that are embedded however large the model is.
MIN_ROWS = 50
# Characters of a row besides its values: class, decision, rule.
PER_ROW = 8
# Characters of the name of a row.
LONGEST_NAME = 60
# Rows and repetitions that are enough to rank features, and the limit of rows x rules x features.
ENOUGH_ROWS = 1_000
REPEATS = 3
EFFORT = 3_000_000
N_BINS = 24
# As many classes have a color of their own; the others share one.
N_COLORS = 7
# Beyond this many bars nobody can tell categories apart; rarer ones would make a table wide.
MOST_CATEGORIES = 60
# Levels from low to high: each has a color, like a class.
N_LEVELS = 5
# How the rules of each semantics answer together.
HOW = {
    "best-rule": "The rule that covers a row best decides, by degree times weight.",
    "added-votes": "The rules that hold add up, class by class; the largest sum decides.",
    "first-match": "Rules are a list; the first one that holds decides.",
    "softmax-votes": "Rules add votes for classes to a base; the largest sum decides, and the "
    "exponentials of the sums are in proportion to the probabilities.",
    "at-least-class": "Rules predict at least or at most a class; the strongest for and against "
    "each class decide between them.",
    "cumulative-logits": "Rules move the answer up or down the order of the classes.",
    "weighted-mean": "The mean of the numbers of the rules that hold, weighted by degree x weight.",
    "added-contributions": "Rules add their numbers, times the degree to which they hold, to a "
    "base.",
}
MISSING = {
    "typical": "counts as the typical one of its column",
    "fails": "satisfies no condition",
    "similar": "satisfies any condition",
}
COSTS = " Scores and frequencies of classes are multiplied by the costs."
# Fractions of the largest contribution below which one is neutral, and above which it is strong.
SMALL, STRONG = 0.05, 1 / 3


def facts(
    ruleset: RuleSet,
    X: Any = None,
    y: Any = None,
    *,
    max_rows: int = MAX_ROWS,
    names: Any = None,
    seed: int = 0,
    stability: Any = None,
    fixed: Collection[str] = (),
) -> dict[str, Any]:
    """Describe a model, the coverage of its rules and the quality of its decisions.

    Parameters
    ----------
    ruleset : RuleSet
    X : array-like or data frame, optional
        Samples to show the rules on. Statistics are of all of them; when there are more than
        `max_rows` (or wide ones), a random subset is embedded.
    y : array-like, optional
        Their classes, or their numbers.
    max_rows, names, stability, fixed
        See `frri.report.write_report`.
    seed : int, default=0
        Random seed of the subset and of the permutation importance.

    Returns
    -------
    dict
        Plain JSON values: `model` (as `RuleSet.to_dict`), `overview`, `attributes`, `rules` and,
        with data, `data` and `performance`; these are None where unknown, and so are `path` (the
        sizes tried in cross-validation) and `stability`. In regression, `numbers` has the range of
        the numbers, and their levels take the place of classes.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule
    >>> rule = Rule((NumericCondition.below("a", 3),), 0)
    >>> rules = RuleSet((rule,), (Attribute("a", 0, 9),), (0, 1))
    >>> found = facts(rules, [[1], [2], [4]], [0, 1, 1])
    >>> found["rules"][0]["support"], found["rules"][0]["precision"]
    ([1, 1], 0.5)
    >>> found["performance"]["accuracy"], found["data"]["sampled"]
    (0.3333333333333333, False)
    """
    if X is None and y is not None:
        raise ValueError("There are labels but no rows: give X as well.")
    unknown = sorted(set(fixed) - {attribute.name for attribute in ruleset.attributes})
    if unknown:
        raise ValueError(f"fixed has {unknown[0]!r}, which is no column of the model.")
    table = None if X is None else _Table(ruleset, X, y)
    # Classes with a color of their own: all, or the largest ones, in their order.
    largest = np.argsort(-np.array(ruleset.class_counts), kind="stable")[:N_COLORS]
    colored, numbers = sorted(largest.tolist()), None
    if ruleset.task == "regression":
        colored = list(range(N_LEVELS))
        numbers = number_scale(ruleset, None) if table is None else table.scale
    result: dict[str, Any] = {
        "frri": __version__,
        "model": ruleset.to_dict(),
        "coloured": colored,
        "numbers": numbers,
        "overview": _overview(ruleset, table),
        "attributes": _attributes(ruleset, table, colored),
        "rules": [_statistics(rule.statistics) for rule in ruleset],
        **dict.fromkeys(("data", "performance")),
        "fixed": list(fixed),
        "fallbacks": FALLBACKS,
        "path": _size_path(ruleset.about),
        "stability": _stability(ruleset, stability),
    }
    if table is not None:
        given = None if names is None else [str(name)[:LONGEST_NAME] for name in names]
        if given is not None and len(given) != len(table):
            raise ValueError(f"Expected {len(table)} names, one per row, got {len(given)}.")
        room = MAX_CHARACTERS - len(json.dumps(result)) - len(str(ruleset))
        if given is not None:
            room -= len(json.dumps(given)) * min(max_rows, len(table)) // len(table)
        sample = _sample(table, max_rows, room, seed)
        _add_data(result, table, sample, seed)
        result["data"]["names"] = None if given is None else [given[i] for i in sample]
    for known, rule in zip(result["rules"], ruleset, strict=True):
        known["words"] = _phrases(ruleset, rule)
    return result


class _Table:
    """Checked, encoded samples with their classes, or with their numbers, and what rules predict.

    Features that no rule uses need not be `present`. In regression `classes` are the levels of the
    true numbers, and there are `answers` and the `scale` of both.
    """

    def __init__(self, ruleset: RuleSet, X: Any, y: Any) -> None:
        names = column_names(read_records(plain_table(X)))
        every = [attribute.name for attribute in ruleset.attributes]
        self.ruleset, self.present = ruleset, frozenset(every if names is None else names)
        columns = self.present.union(ruleset.used_attributes)
        self.matrix = to_matrix(X, ruleset.attributes, columns)
        if not len(self.matrix):
            raise ValueError("The table has no rows; give one with rows, or none at all.")
        self.decision = Decision(ruleset, self.matrix)
        self.labels = None if y is None else as_labels(y, len(self))
        self.classes: Positions | None = None
        if ruleset.task == "regression":
            self.answers = self.decision.answers
            if self.labels is not None:
                self.labels = check_quantities(self.labels, ruleset.target)
            self.scale = number_scale(ruleset, self.answers if y is None else self.labels)
            if self.labels is not None:
                self.classes = np.searchsorted(self.scale["edges"], self.labels, side="right")
        elif y is not None:
            self.classes = class_positions(ruleset, y, len(self))
        if y is not None:
            self.statistics = ruleset.statistics(self.rows(slice(None)), y)

    def __len__(self) -> int:
        return len(self.matrix)

    def rows(self, chosen: Positions | slice) -> EncodedTable:
        """Return some of the samples."""
        return EncodedTable(self.matrix[chosen], self.ruleset.attributes)


# ------------------------------------------------------------------ without samples
def _overview(ruleset: RuleSet, table: _Table | None) -> dict[str, Any]:
    """Return provenance, size and proof; whether samples are those of the training, if known."""
    about = About(ruleset.about).plain()
    learner, version = about.pop("learner", None), about.pop("frri", None)
    n_training = about.get("rows")
    if ruleset.task != "regression":
        # Rules that were written by hand have a count of 1 for every class.
        n_training = None if set(ruleset.class_counts) <= {1} else sum(ruleset.class_counts)
    for elsewhere in ("rows", "columns", "log", "intervals", "path", "evaluation", "selection"):
        about.pop(elsewhere, None)
    is_training, known = None, [rule.statistics for rule in ruleset]
    if table is not None and table.labels is not None and known and None not in known:
        is_training = is_training_table(ruleset, table.matrix, table.labels, table.statistics)
    ends = "its ends" if ruleset.clip else "they are"
    traits = [
        ["Conditions joined by", ruleset.t_norm.replace("_", " ")],
        ["Values beyond the training range", f"count as {ends}"],
        ["A missing value", MISSING[ruleset.semantics.missing]],
        *([] if version is None else [["Made with", f"frri {version}"]]),
    ]
    return {
        "learner": None if learner is None else str(learner),
        "traits": traits,
        "settings": _flat(about),
        "n_training": n_training if isinstance(n_training, (int, float)) else None,
        "n_rules": len(ruleset),
        "n_conditions": sum(len(rule.conditions) for rule in ruleset),
        "is_training": is_training,
        "evaluation": measures.evaluation_of(ruleset),
        "how": f"{HOW[ruleset.semantics.name]} Where no rule fires, {FALLBACKS[ruleset.fallback]}."
        + COSTS * bool(ruleset.costs),
    }


def _flat(settings: Mapping[str, Any], prefix: str = "") -> list[list[str]]:
    """Return nested settings as pairs of strings; those that were not set are left out."""
    pairs = []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            # The key under which estimators keep their parameters is not worth showing.
            inner = prefix if key in {"parameters", "settings"} else f"{prefix}{key} "
            pairs.extend(_flat(value, inner))
        elif value is not None:
            pairs.append([f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value)])
    return pairs


def _attributes(ruleset: RuleSet, table: _Table | None, colored: list[int]) -> list[dict[str, Any]]:
    """Return the number of rules that use each feature, and the distribution of its values."""
    used = Counter(name for rule in ruleset for name in rule.attributes)
    described = [
        {"name": a.name, "n_rules": used[a.name]}
        | dict.fromkeys(("missing", "importance", "histogram"))
        for a in ruleset.attributes
    ]
    if table is None:
        return described
    n_series, series = 1, np.zeros(len(table), dtype=np.intp)
    if table.classes is not None:
        n_series = len(colored) + (len(colored) < len(ruleset.classes))
        series_of = np.full(max(len(ruleset.classes), n_series), n_series - 1)
        series_of[colored] = np.arange(len(colored))
        series = series_of[table.classes]
    for attribute, facts_of, column in zip(
        ruleset.attributes, described, table.matrix.T, strict=True
    ):
        if attribute.name in table.present:
            facts_of["missing"] = int(np.isnan(column).sum())
            facts_of["histogram"] = histogram(attribute, column, series, n_series)
    return described


def _phrases(ruleset: RuleSet, rule: Rule) -> list[list[Any]]:
    """Return the conditions of a rule as phrases, each with the positions of its conditions."""
    found: list[list[Any]] = []
    for name in rule.attributes:
        places = [k for k, one in enumerate(rule.conditions) if one.attribute == name]
        own = tuple(rule.conditions[k] for k in places)
        texts = condition_texts(ruleset, replace(rule, conditions=own, partial_weights=()))
        if len(texts) == len(places):
            found += [[text, [k]] for text, k in zip(texts, places, strict=True)]
        else:
            found.append([" and ".join(texts), places])
    return found


def _statistics(known: RuleStatistics | None) -> dict[str, Any]:
    keys = ("covered", "support", "precision", "lift", "alone")
    found: dict[str, Any] = {key: getattr(known, key, None) for key in keys}
    # In regression, samples have no classes.
    has_classes = known is not None and known.total is None
    return found | {"support": list(found["support"]) if has_classes else None}


def _size_path(about: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the sizes tried in cross-validation if a model has them; a file may hold anything."""
    try:
        path = dict(about["path"])
        found = {key: list(path[key]) for key in ("sizes", "scores", "errors")}
        valid = all(isfinite(number) for column in found.values() for number in column)
        valid &= len(set(map(len, found.values()))) == 1 and path["chosen"] in found["sizes"]
        path = {**found, "chosen": path["chosen"], "measure": str(path.get("measure", "score"))}
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return path if valid else None


def _stability(ruleset: RuleSet, stability: Any) -> dict[str, Any] | None:
    """Return for each rule the fraction of the resamples in which it was found again."""
    if stability is None:
        return None
    if len(stability.returns) != len(ruleset) or stability.ruleset != ruleset:
        raise ValueError(
            f"stability must have been measured for these {len(ruleset)} rules; "
            "call frri.compare.stability with ruleset=RULES."
        )
    return {
        "returns": list(stability.returns),
        "similarity": stability.similarity,
        "n_resamples": stability.n_resamples,
    }


# ------------------------------------------------------------------ with samples
def _sample(table: _Table, max_rows: int, room: int, seed: int) -> Positions:
    """Return the samples to embed, ascending: as many as allowed and as fit."""
    if max_rows < 1:
        raise ValueError(f"max_rows must be 1 or more, got {max_rows}.")
    random = np.random.default_rng(seed)
    n_rows = min(len(table), max_rows)
    chosen = np.sort(random.choice(len(table), n_rows, replace=False))
    encoded = [encode_numbers(column) for column in table.matrix[chosen].T]
    needed = n_rows * PER_ROW + len(json.dumps(encoded))
    if needed > room:
        n_rows = min(n_rows, max(MIN_ROWS, int(n_rows * max(room, 0) / needed)))
        chosen = np.sort(random.choice(chosen, n_rows, replace=False))
    return chosen


def _add_data(result: dict[str, Any], table: _Table, sample: Positions, seed: int) -> None:
    """Add all facts that need samples."""
    ruleset, matrix, decision = table.ruleset, table.matrix[sample], table.decision
    # The rule that decides, -1 where none does; None where rules add up.
    deciding = None
    if ruleset.semantics.meaning.decides is not None:
        deciding = np.where(decision.silent, -1, decision.deciding)
    sampled = len(sample) < len(table)
    result["data"] = {
        "n_rows": len(table),
        "n_embedded": len(sample),
        "sampled": sampled,
        "rows": encode_codes(sample) if sampled else None,
        "columns": [encode_numbers(column) for column in matrix.T],
        "classes": None if table.classes is None else encode_codes(table.classes[sample]),
        # Rules from 1; 0 is none.
        "deciding": None if deciding is None else encode_codes(deciding[sample] + 1),
    }
    correct = None
    if not ruleset.classes:
        truth, answers = table.labels, table.answers
        levels = np.searchsorted(table.scale["edges"], answers[sample], side="right")
        result["data"] |= {
            "truth": None if truth is None else encode_numbers(truth[sample]),
            "answers": encode_numbers(answers[sample]),
            "decided": encode_codes(levels),
        }
        if truth is not None:
            result["performance"] = measures.measure_regression(truth, answers)
    else:
        sizes = None
        if table.classes is not None:
            correct = decision.index == table.classes
            result["performance"] = _performance(table, table.classes)
            sizes = np.bincount(table.classes, minlength=len(ruleset.classes)).tolist()
        decided = encode_codes(decision.index[sample])
        result["data"] |= {"class_counts": sizes, "decided": decided}
    result["rules"] = _rules(table, sample)
    if deciding is not None:
        for r, known in enumerate(result["rules"]):
            own = deciding == r
            hits = None if correct is None else int(correct[own].sum())
            known["decides"] = {"rows": int(own.sum()), "right": hits}
    if table.labels is None:
        return
    shuffled = np.random.default_rng(seed).permutation(sample)
    affordable = EFFORT // max(len(ruleset) * len(ruleset.used_attributes), 1)
    chosen = shuffled[: min(ENOUGH_ROWS, max(affordable, 100))]
    rows, labels = table.rows(chosen), table.labels[chosen]
    lost = permutation_importance(ruleset, rows, labels, repeats=REPEATS, seed=seed)
    drops = {one.attribute: one.drop for one in lost}
    for attribute in result["attributes"]:
        attribute["importance"] = drops[attribute["name"]]


def _rules(table: _Table, sample: Positions) -> list[dict[str, Any]]:
    """Return statistics of each rule, on all samples or without classes on the embedded ones."""
    if table.labels is not None and table.ruleset.semantics.name in COUNTABLE:
        return [_statistics(known) | {"n_rows": len(table)} for known in table.statistics]
    covers = table.ruleset.covers(table.rows(sample))
    once = covers.sum(axis=1) == 1
    return [
        _statistics(None)
        | {"covered": int(cover.sum()), "alone": int((cover & once).sum()), "n_rows": len(covers)}
        for cover in covers.T
    ]


def _performance(table: _Table, classes: Positions) -> dict[str, Any]:
    """Return the quality of decisions, and of the majority class of training or of the samples."""
    counts, decided = table.ruleset.class_counts, table.decision.index
    majority = int(np.argmax(counts)) if len(set(counts)) > 1 else measures.majority(classes)[0]
    return {
        "accuracy": measures.accuracy(classes, decided),
        "balanced_accuracy": measures.balanced_accuracy(classes, decided),
        "confusion": measures.confusion(classes, decided),
        "interval": list(measures.wilson(int((decided == classes).sum()), len(classes))),
        "always": [majority, float((classes == majority).mean())],
    }


# ------------------------------------------------------------------ charts
def histogram(
    attribute: Attribute, column: Floats, series: Positions, n_series: int
) -> dict[str, Any] | None:
    """Count encoded values per bin and series; None where there is nothing to draw.

    Values outside the training range count in the outermost bins.
    """
    known = np.isfinite(column)
    low, high, n_bins = attribute.low, attribute.high, N_BINS
    if attribute.categories is not None:
        known &= column >= 0
        n_bins = len(attribute.categories)
        low, high = -0.5, n_bins - 0.5
        if n_bins > MOST_CATEGORIES:
            return None
    values, series = column[known], series[known]
    if not (np.isfinite(low) and np.isfinite(high)) and len(values):
        low, high = float(values.min()), float(values.max())
    if not len(values) or not 0 < high - low < np.inf:
        return None
    bins = ((np.clip(values, low, high) - low) / (high - low) * n_bins).astype(np.intp)
    cells = series * n_bins + np.minimum(bins, n_bins - 1)
    counts = np.bincount(cells, minlength=n_series * n_bins).reshape(n_series, n_bins)
    return {"low": float(low), "high": float(high), "counts": counts.tolist()}


def number_scale(ruleset: RuleSet, numbers: Floats | None) -> dict[str, Any]:
    """Return the range of numbers, and the edges between their levels.

    A fifth of the numbers is on each level; without any, those that the rules can predict count.
    `said` are the edges between levels of the numbers of rules: the same ones, or edges around 0
    for contributions.
    """
    adds, said = ruleset.semantics.meaning.adds, ruleset.arrays.says[:, 0]
    if adds:
        said = said * ruleset.arrays.weights
    if numbers is None:
        reached = [said[said < 0].sum(), 0.0, said[said > 0].sum()]
        numbers = said if len(said) and not adds else ruleset.base[0] + np.array(reached)
    edges = np.quantile(numbers, np.arange(1, N_LEVELS) / N_LEVELS).tolist()
    largest = float(np.abs(said).max(initial=0.0)) or 1.0
    around = [-STRONG * largest, -SMALL * largest, SMALL * largest, STRONG * largest]
    return {
        "low": float(numbers.min()),
        "high": float(numbers.max()),
        "edges": edges,
        "said": around if adds else edges,
    }


# ------------------------------------------------------------------ columns of numbers
Encoded = dict[str, Any]


def encode_numbers(column: Floats) -> Encoded:
    """Encode floats, NaN where missing, in the shortest of four exact ways.

    These are doubles, singles, integers of decimal places, and positions in a list of values.

    Examples
    --------
    >>> encode_numbers(np.array([0.1, 0.1, 7.0, np.nan, 7.0]))
    {'type': 'u1', 'data': 'AAABAgE=', 'values': [0.1, 7.0, None]}
    """
    with np.errstate(over="ignore"):
        single = column.astype(np.float32)
    exact = np.array_equal(single.astype(np.float64), column, equal_nan=True)
    plain = _encode_decimals(column) or _encode(column, "f4" if exact else "f8")
    values, codes = np.unique(column, return_inverse=True)
    if len(values) > 1 << 16 or np.isinf(values).any():
        return plain
    listed = encode_codes(codes) | {"values": [None if np.isnan(v) else float(v) for v in values]}
    return min((listed, plain), key=lambda encoded: len(json.dumps(encoded)))


def encode_codes(codes: NDArray[np.integer]) -> Encoded:
    """Encode integers from 0 upwards, in as few bytes each as they need."""
    largest = int(codes.max(initial=0))
    return _encode(codes, "u1" if largest < 1 << 8 else "u2" if largest < 1 << 16 else "u4")


def _encode_decimals(column: Floats) -> Encoded | None:
    """Encode numbers of at most four decimal places, as most measurements are; None for others."""
    negative_zero = np.signbit(column[column == 0]).any()
    if not len(column) or not (np.abs(column) <= 1e9).all() or negative_zero:
        return None
    for places in range(5):
        scaled = np.round(column * 10.0**places)
        least = int(scaled.min())
        # The quotient of two exact numbers is rounded correctly: it equals the decimals as read.
        if np.array_equal(scaled / 10.0**places, column):
            if scaled.max() - least >= 1 << 32:
                return None
            codes = encode_codes((scaled - least).astype(np.int64))
            return codes | {"least": least, "places": places}
    return None


def _encode(values: NDArray[Any], kind: str) -> Encoded:
    data = base64.b64encode(values.astype(f"<{kind}").tobytes()).decode("ascii")
    return {"type": kind, "data": data}

"""How well rules decide, each of them and all together, in a labelled table.

Everybody who shows such a figure takes it from here: learners, command line, page and comparison. What a
rule covers is counted in `frri.rules.statistics`.
"""

from dataclasses import asdict, dataclass
from itertools import compress
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from frri._util import Flags, Floats, Positions, import_optional
from frri.rules.rule import given_labels
from frri.table import EncodedTable, to_matrix
from frri.table.targets import check_quantities

if TYPE_CHECKING:
    import pandas as pd

    from frri.rules.ruleset import RuleSet


def accuracy(truth: NDArray[Any], decided: NDArray[Any]) -> float:
    """Share of the rows that are decided as they are.

    Examples
    --------
    >>> accuracy(np.array(["a", "a", "b", "b"]), np.array(["a", "a", "b", "a"]))
    0.75
    """
    return float((truth == decided).mean())


def score(ruleset: "RuleSet", X: Any, y: Any, weights: Any = None) -> float:
    """Accuracy on a labelled table, or R squared where numbers are predicted: see `RuleSet.score`."""
    answers, truth = ruleset.predict(X), given_labels(y)
    if truth.shape != answers.shape:
        raise ValueError(
            f"Expected {len(answers)} labels, one per row, got the shape {truth.shape}."
        )
    if ruleset.task != "regression":
        return float(np.average(truth == answers, weights=weights))
    numbers = check_quantities(truth, ruleset.target)
    wrong = np.average((numbers - answers) ** 2, weights=weights)
    spread = np.average((numbers - np.average(numbers, weights=weights)) ** 2, weights=weights)
    # As in scikit-learn: numbers that are all the same are predicted exactly, or not at all.
    return float(1.0 - wrong / spread) if spread > 0.0 else float(not wrong > 0.0)


def balanced_accuracy(
    truth: NDArray[Any], decided: NDArray[Any], weights: Floats | None = None
) -> float:
    """Mean recall of the classes that occur; rows may weigh more or less.

    Examples
    --------
    >>> balanced_accuracy(np.array(["a", "a", "b"]), np.array(["a", "b", "b"]))
    0.75
    """
    counts = recall_counts(truth, decided, weights).values()
    return float(np.mean([hits / members for hits, members in counts if members]))


def recall_counts(
    truth: NDArray[Any], decided: NDArray[Any], weights: Floats | None = None
) -> dict[Any, tuple[float, float]]:
    """For every class that occurs: how many of its rows were recognised, and how many there are.

    Examples
    --------
    >>> recall_counts(np.array(["a", "a", "b"]), np.array(["a", "b", "b"]))
    {'a': (1, 2), 'b': (1, 1)}
    """
    present, codes = np.unique(truth, return_inverse=True)
    right = truth == decided
    members = np.bincount(codes, weights, len(present))
    hits = np.bincount(codes[right], None if weights is None else weights[right], len(present))
    counts = zip(hits.tolist(), members.tolist(), strict=True)
    return dict(zip(present.tolist(), counts, strict=True))


def confusion(classes: Positions, decided: Positions) -> list[list[int]]:
    """How often each class was taken for each: [true, decided, rows] where that is not 0.

    Parameters
    ----------
    classes, decided : ndarray of int
        Positions of the true and of the decided classes.

    Examples
    --------
    >>> confusion(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
    [[0, 0, 1], [0, 1, 1], [1, 1, 2]]
    """
    pairs, counts = np.unique(np.column_stack([classes, decided]), axis=0, return_counts=True)
    cells: list[list[int]] = np.column_stack([pairs, counts]).tolist()
    return cells


def coverage(covers: Flags) -> float:
    """Share of the rows that any rule covers, by a matrix of rows x rules.

    Examples
    --------
    >>> coverage(np.array([[True, False], [False, False]]))
    0.5
    """
    return float(covers.any(axis=1).mean())


@dataclass(frozen=True)
class RuleQuality:
    """One rule on one table.

    Parameters
    ----------
    rule : int
        Its position in the ruleset.
    covered, correct, alone : float
        Rows it covers, those of its own class among them, and those that no other rule covers.
    coverage : float
        Share of all rows that it covers.
    precision, low, high : float or None
        Share of the covered rows that are of its class, with its confidence interval (Wilson).
    lift : float or None
        Precision divided by the share of the class in the table.
    """

    rule: int
    covered: float
    correct: float
    alone: float
    coverage: float
    precision: float | None
    low: float | None
    high: float | None
    lift: float | None


def quality(
    ruleset: "RuleSet", X: Any = None, y: Any = None, *, confidence: float = 0.95
) -> tuple[RuleQuality, ...]:
    """Coverage, precision with a confidence interval and lift of every rule.

    Parameters
    ----------
    ruleset : RuleSet
    X, y : table and labels, optional
        By default the statistics from training that the rules carry are used.
    confidence : float
        Of the intervals.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = RuleSet((Rule((NumericCondition.below("a", 3),), 0),), (Attribute("a"),), (0, 1))
    >>> first = quality(rules, [[1], [2], [3], [2]], [0, 0, 1, 1])[0]
    >>> first.covered, round(first.low, 2), round(first.high, 2)
    (3, 0.21, 0.94)
    """
    if X is None:
        known = [rule.statistics for rule in ruleset]
        total = sum(ruleset.class_counts)
    else:
        known = list(ruleset.statistics(X, y))
        total = float(len(y))
    result = []
    for r, (holds, found) in enumerate(zip(ruleset.arrays.holds_for, known, strict=True)):
        if found is None:
            raise ValueError(
                f"Rule {r} has no statistics from training; give a table and its labels."
            )
        correct = sum(compress(found.support, holds))
        low, high = wilson(correct, found.covered, confidence)
        result.append(
            RuleQuality(
                rule=r,
                covered=found.covered,
                correct=correct,
                alone=found.alone,
                coverage=found.covered / total if total else 0.0,
                precision=found.precision,
                low=low if found.covered else None,
                high=high if found.covered else None,
                lift=found.lift,
            )
        )
    return tuple(result)


def wilson(hits: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's confidence interval for a share; 0 to 1 without trials.

    Examples
    --------
    >>> low, high = wilson(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    """
    if trials <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = hits / trials
    centre = share + z * z / (2 * trials)
    spread = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


@dataclass(frozen=True)
class Overlap:
    """Two rules and the rows that both cover; `jaccard` is their share of the rows that either does."""

    first: int
    second: int
    both: int
    jaccard: float
    agree: bool


def overlap(ruleset: "RuleSet", X: Any) -> tuple[Overlap, ...]:
    """All pairs of rules that cover a row in common, the most similar first.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = [Rule((NumericCondition.below("a", b),), 0) for b in (3, 4)]
    >>> overlap(RuleSet(tuple(rules), (Attribute("a"),), (0, 1)), [[1], [2], [3]])
    (Overlap(first=0, second=1, both=2, jaccard=0.666..., agree=True),)
    """
    covers = ruleset.covers(X).astype(np.float64)
    both = (covers.T @ covers).round().astype(np.int64)
    own = np.diag(both)
    pairs = [
        Overlap(
            int(i),
            int(j),
            int(both[i, j]),
            float(both[i, j] / (own[i] + own[j] - both[i, j])),
            (ruleset[i].consequent, ruleset[i].relation)
            == (ruleset[j].consequent, ruleset[j].relation),
        )
        for i, j in zip(*np.nonzero(np.triu(both, 1)), strict=True)
    ]
    return tuple(sorted(pairs, key=lambda pair: -pair.jaccard))


@dataclass(frozen=True)
class AttributeImportance:
    """One attribute: how many rules use it, and how much accuracy (or R squared) goes without it.

    `drop` is the mean loss when the attribute's values are shuffled among the rows, `spread`
    its standard deviation over the repetitions.
    """

    attribute: str
    rules: int
    drop: float
    spread: float


def importance(
    ruleset: "RuleSet", X: Any, y: Any, *, repeats: int = 5, seed: int = 0
) -> tuple[AttributeImportance, ...]:
    """The attributes by what the accuracy loses when their values are shuffled, the greatest loss first.

    Where numbers are predicted it is R squared that loses: nothing, if these are all the same.

    Parameters
    ----------
    ruleset : RuleSet
    X, y : table and labels, or numbers
    repeats : int
        How often the values of each attribute are shuffled.
    seed : int

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> low, high = NumericCondition.below("a", 3), NumericCondition("a", 3, 3)
    >>> rules = RuleSet((Rule((low,), 0), Rule((high,), 1)), (Attribute("a"), Attribute("b")), (0, 1))
    >>> found = importance(rules, [[i, 0] for i in range(6)], [0, 0, 0, 1, 1, 1])
    >>> found[0].attribute, found[0].drop > 0, found[1].drop
    ('a', True, 0.0)
    """
    matrix = to_matrix(X, ruleset.attributes, ruleset.used_attributes)
    truth = given_labels(y)
    if not isinstance(repeats, int) or repeats < 1:
        raise ValueError(f"repeats must be a whole number from 1 on, not {repeats!r}.")
    if not len(matrix):
        raise ValueError("There are no rows whose values could be shuffled.")
    if ruleset.task != "regression" and not set(ruleset.classes).intersection(truth.tolist()):
        raise ValueError(
            f"None of the labels, such as {truth.tolist()[0]!r}, is one of the model's classes, such as "
            f"{ruleset.classes[0]!r}."
        )

    def scored(rows: Floats) -> float:
        return score(ruleset, EncodedTable(rows, ruleset.attributes), truth)

    generator = np.random.default_rng(seed)
    whole, result = scored(matrix), []
    varies = ruleset.task != "regression" or bool((truth != truth[:1]).any())
    for j, attribute in enumerate(ruleset.attributes):
        users = sum(attribute.name in rule.attributes for rule in ruleset)
        drops = np.zeros(repeats)
        for repeat in range(repeats if users and varies else 0):
            shuffled = matrix.copy()
            shuffled[:, j] = generator.permutation(matrix[:, j])
            drops[repeat] = whole - scored(shuffled)
        result.append(
            AttributeImportance(attribute.name, users, float(drops.mean()), float(drops.std()))
        )
    return tuple(sorted(result, key=lambda one: -one.drop))


def to_frame(rows: tuple[Any, ...]) -> "pd.DataFrame":
    """Any of these results as a table, a row for each (needs pandas)."""
    pd = import_optional("pandas", "A table of statistics", "tables")
    return pd.DataFrame([asdict(row) for row in rows])

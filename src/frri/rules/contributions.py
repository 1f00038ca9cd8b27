"""Which rule carries an answer that rules make together: the one with the largest part in it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frri._util import Floats, Positions
from frri.rules.inference import Decision
from frri.rules.measures import score
from frri.rules.rule import as_labels
from frri.table import EncodedTable, to_matrix

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

# Objects x rules that are looked at together.
BLOCK = 1 << 20


def find_largest_contributor(ruleset: "RuleSet", matrix: Floats) -> Positions | None:
    """The position of the rule that carries the answer about each object; -1 where none does.

    A rule carries an answer if no other has a larger part in it, of equal ones the first. The part of a
    vote is what it adds to the lead of the class decided for over the next one, and must be positive.
    The part of a number that is added to a base is its size, up or down; in a mean it is its share. Of
    rules that say "at least" and "at most" a class those have a part that keep the answer from being lower
    or from being higher: what they count.

    Parameters
    ----------
    ruleset : RuleSet
    matrix : ndarray of float64, shape (n_objects, n_attributes)
        Encoded objects.

    Returns
    -------
    ndarray of int, shape (n_objects,), or None
        None where a single rule decides (see `Decision.deciding`).

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> low, high = NumericCondition.below("a", 5), NumericCondition("a", 3, 3)
    >>> rules = RuleSet((Rule((low,), "no", 2.0), Rule((high,), "yes", 3.0)), (Attribute("a", 0, 9),),
    ...                 ("no", "yes"), semantics="softmax-votes", base=(0.0, -4.0))
    >>> find_largest_contributor(rules, np.array([[1.0], [4.0], [8.0]]))
    array([ 0,  0, -1])
    """
    if ruleset.semantics.name not in _PARTS:
        return None
    found = np.full(len(matrix), -1, dtype=np.intp)
    if not len(ruleset):
        return found
    step = max(BLOCK // len(ruleset), 1)
    for start in range(0, len(matrix), step):
        block = EncodedTable(matrix[start : start + step], ruleset.attributes)
        parts = _PARTS[ruleset.semantics.name](ruleset.decide(block))
        found[start : start + step] = np.where((parts > 0.0).any(axis=1), parts.argmax(axis=1), -1)
    return found


def _counted(decision: Decision) -> Floats:
    """Objects x rules: weight times degree."""
    return np.asarray(decision.degrees * decision.ruleset.arrays.weights)


def _to_the_lead(decision: Decision) -> Floats:
    says, own = decision.ruleset.arrays.says, decision.index
    lead = says[:, own].T
    if says.shape[1] > 1:
        others = decision.scores.copy()
        others[np.arange(len(own)), own] = -np.inf
        lead = lead - says[:, others.argmax(axis=1)].T
    return np.asarray(_counted(decision) * lead)


def _sizes(decision: Decision) -> Floats:
    return np.abs(_counted(decision) * decision.ruleset.arrays.says[:, 0])


def _of_the_bounds(decision: Decision) -> Floats:
    ruleset, own = decision.ruleset, decision.index[:, None]
    rising, bound = ruleset.arrays.rising, ruleset.arrays.classes
    # Below the lowest class and above the highest there is nothing to be kept from.
    up = rising & (bound >= own) & (own > 0)
    down = ~rising & (bound <= own) & (own < len(ruleset.classes) - 1)
    return np.asarray(np.where(up | down, _counted(decision), 0.0))


_PARTS = {
    "at-least-class": _of_the_bounds,
    "softmax-votes": _to_the_lead,
    "cumulative-logits": _sizes,
    "added-contributions": _sizes,
    "weighted-mean": _counted,
}


def compute_mean_fractions(ruleset: "RuleSet", matrix: Floats) -> Floats:
    """Objects x rules: the share of each rule's number in what is predicted, with sum 1 in each row.

    Where no rule fires, all of it is the nearest rule's; where there is none to go by, rows are 0.

    Parameters
    ----------
    ruleset : RuleSet
        With the semantics "weighted-mean".
    matrix : ndarray of shape (n_objects, n_attributes)
        Encoded by `frri.table.to_matrix`.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> rules = (Rule((NumericCondition("a", core_high=2, support_high=6),), 10.0, 1.0),
    ...          Rule((NumericCondition("a", 0, 4),), 30.0, 0.5))
    >>> ruleset = RuleSet(rules, (Attribute("a", 0, 9),), semantics="weighted-mean")
    >>> compute_mean_fractions(ruleset, np.array([[4.0], [1.0], [9.0]])).round(2).tolist()
    [[0.5, 0.5], [0.89, 0.11], [0.0, 1.0]]
    """
    matcher = ruleset.arrays.matcher
    counts = Decision(ruleset, matrix).degrees * matcher.weights
    total = counts.sum(axis=1)
    shares = counts / np.where(total > 0.0, total, 1.0)[:, None]
    silent = np.flatnonzero(~(total > 0.0))
    if len(silent) and (matcher.weights > 0.0).any() and ruleset.fallback == "nearest":
        near = matcher.nearness(matcher.clipped(matrix[silent]))
        shares[silent, near.argmax(axis=1)] = 1.0
    return np.asarray(shares)


def feature_importances(ruleset: "RuleSet") -> Floats:
    """The share of each attribute in what the rules say; without data, and without any chance in it.

    A rule counts for its weight times what it covered in training, or, where it adds a number, for the
    size of that number. It divides this evenly among the attributes that it uses.

    Parameters
    ----------
    ruleset : RuleSet

    Returns
    -------
    ndarray of shape (n_attributes,)
        Sums to 1; all 0 if no rule that counts has a condition.

    Examples
    --------
    >>> from frri import Attribute, NumericCondition, Rule, RuleSet
    >>> a, b = (NumericCondition.below(name, 3) for name in "ab")
    >>> rules = (Rule((a,), 0, 0.5), Rule((a, b), 1))
    >>> feature_importances(RuleSet(rules, (Attribute("a"), Attribute("b")), (0, 1))).round(2)
    array([0.67, 0.33])
    """
    place = {attribute.name: j for j, attribute in enumerate(ruleset.attributes)}
    meaning = ruleset.semantics.meaning
    adds = meaning.adds and meaning.says == "number"
    shares = np.zeros(len(place))
    for rule in ruleset:
        covered = 1.0 if rule.statistics is None else rule.statistics.covered
        size = abs(float(rule.consequent)) if adds else 1.0
        for name in rule.attributes:
            shares[place[name]] += rule.weight * covered * size / len(rule.attributes)
    total = shares.sum()
    return np.asarray(shares / total) if total > 0.0 else shares


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


def permutation_importance(
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
    >>> found = permutation_importance(rules, [[i, 0] for i in range(6)], [0, 0, 0, 1, 1, 1])
    >>> found[0].attribute, found[0].drop > 0, found[1].drop
    ('a', True, 0.0)
    """
    matrix = to_matrix(X, ruleset.attributes, ruleset.used_attributes)
    truth = as_labels(y)
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

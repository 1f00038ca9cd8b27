"""Which rule carries an answer that rules make together: the one with the largest part in it."""

from typing import TYPE_CHECKING

import numpy as np

from frri._util import Floats, Positions
from frri.rules.inference import Decision
from frri.table import EncodedTable

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet

# Objects x rules that are looked at together.
BLOCK = 1 << 20


def carrying_rules(ruleset: "RuleSet", matrix: Floats) -> Positions | None:
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
    >>> carrying_rules(rules, np.array([[1.0], [4.0], [8.0]]))
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

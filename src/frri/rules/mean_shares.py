"""What share each rule has in a weighted mean."""

from typing import TYPE_CHECKING

import numpy as np

from frri._util import Floats
from frri.rules.inference import Decision

if TYPE_CHECKING:
    from frri.rules.ruleset import RuleSet


def mean_shares(ruleset: "RuleSet", matrix: Floats) -> Floats:
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
    >>> mean_shares(ruleset, np.array([[4.0], [1.0], [9.0]])).round(2).tolist()
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

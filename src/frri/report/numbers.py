"""Numbers that rules predict, for the page: levels from low to high as colours."""

from typing import Any

import numpy as np

from frri._util import Floats, Positions
from frri.rules import RuleSet

# Levels from low to high: each is a colour, as a class is.
N_LEVELS = 5
# Contributions below this share of the largest one count as neither up nor down; beyond the other, as strong.
SMALL, STRONG = 0.05, 1 / 3


def number_scale(ruleset: RuleSet, numbers: Floats | None) -> dict[str, Any]:
    """Where numbers begin and end, and where one level ends and the next begins.

    Parameters
    ----------
    ruleset : RuleSet
        Of rules that predict numbers.
    numbers : ndarray of float64 or None
        The true numbers of rows, or else those predicted; a fifth of them is on each level. Without any,
        what the rules can say stands for them.

    Returns
    -------
    dict
        `low`, `high`, `edges` between levels of numbers, and `said`, those between levels of what rules say:
        the same for numbers, and around 0 for contributions.

    Examples
    --------
    >>> from frri import Rule
    >>> rules = RuleSet((Rule((), 3.0), Rule((), -1.0)), (), semantics="added-contributions", base=(10,))
    >>> number_scale(rules, np.arange(11.0))["edges"]
    [2.0, 4.0, 6.0, 8.0]
    >>> found = number_scale(rules, None)
    >>> found["low"], found["high"], [round(edge, 2) for edge in found["said"]]
    (9.0, 13.0, [-1.0, -0.15, 0.15, 1.0])
    """
    adds = ruleset.semantics.meaning.adds
    said = ruleset.arrays.says[:, 0]
    base = float(ruleset.base[0]) if ruleset.base else 0.0
    if adds:
        said = said * ruleset.arrays.weights
    if numbers is None:
        reached = base + np.array([said[said < 0].sum(), 0.0, said[said > 0].sum()])
        numbers = reached if adds or not len(said) else said
    edges = np.quantile(numbers, np.arange(1, N_LEVELS) / N_LEVELS).tolist()
    largest = float(np.abs(said).max(initial=0.0)) or 1.0
    around = [-STRONG * largest, -SMALL * largest, SMALL * largest, STRONG * largest]
    return {
        "low": float(numbers.min()),
        "high": float(numbers.max()),
        "edges": edges,
        "said": around if adds else edges,
    }


def levels_of(numbers: Floats, edges: list[float]) -> Positions:
    """The level of each number, from 0.

    Examples
    --------
    >>> levels_of(np.array([1.0, 2.0, 9.0]), [2.0, 4.0, 6.0, 8.0])
    array([0, 1, 4])
    """
    return np.searchsorted(edges, numbers, side="right")
